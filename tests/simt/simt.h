/* simt.h - runs CUDA kernels on the host, thread by thread, and reports what a GPU would leave undefined.
   MIT licence, see LICENSE.

   nvcc compiles a test source test_x.cu, unchanged, for a GPU. For the host g++ compiles it, in one of these ways:

       g++ -std=c++17 -O1 -x c++ -include tests/simt/simt.h test_x.cu -o test_x
       ... -g -fsanitize=address,undefined
       g++ -std=c++17 -O1 -fsanitize=thread -x c++ -include tests/simt/simt.h -c test_x.cu -o test_x.o
       g++ test_x.o -o test_x               (WITHOUT -fsanitize=thread: the watched build, SIMT_WATCHED is 1)

   The script `run` beside this file does the same, and translates launches as CUDA spells them (README.md). In the
   watched build gcc calls a function at each access of the program to memory. The thread sanitizer's library would
   define these functions. Here this header defines them, and watches the accesses to shared and global memory. gcc
   first splits vectors into their members, so a misaligned vector is seen only with -Og or -fno-tree-sra. With -O1
   -fno-tree-sra gcc does not announce the store of a whole structure, so a later read of a part of it is reported as a
   read of what was never written.

   A program or library has one translation unit. A kernel's threads are coroutines: each runs until it waits at a
   collective or exits. Blocks run one after another, and a launch returns when all of them are done.

   SUPPLIED
   Words      __global__ __device__ __host__ __constant__ __shared__ __forceinline__ __noinline__ __launch_bounds__
              __align__ __grid_constant__
   Threads    threadIdx blockIdx blockDim gridDim warpSize simt_lane_id()
   Types      dim3, float2/3/4, double2, int2/3/4, uint2/3/4, longlong2, ulonglong2, and make_* of each
   Barriers   __syncthreads __syncthreads_and __syncthreads_or __syncthreads_count __syncwarp
              __threadfence __threadfence_block, simt_barrier(id, count)   what barrier.sync does
              __nanosleep   lets the block's other warps run
   Warps      __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __any_sync __all_sync __ballot_sync
   Bits       __popc __popcll __clz __clzll __ffs __ffsll, __float_as_uint __uint_as_float __float_as_int
              __int_as_float __double_as_longlong __longlong_as_double
   Numbers    __fmaf_rn __fma_rn __frcp_rn __drcp_rn, min and max of two arguments of one type
   Memory     __ldg __ldcs __ldcg __stcs __stcg __stwt, atomicAdd atomicMax atomicMin atomicExch atomicCAS
              simt_copy_async(to, from, bytes) simt_copy_commit() simt_copy_await(n)   what cp.async, its commit_group
              and its wait_group n do: the bytes arrive at the wait, as late as is allowed; until then the
              destination holds NaN
   Launch     SIMT_LAUNCH(kernel, grid, block, shared_bytes, stream)(arguments...), cudaFuncSetAttribute
              SIMT_LAUNCH_EARLY(...)(...)   the same for a launch that may begin before the one ahead of it has ended,
              whose threads say with simt_grid_wait() when they need its results; simt_grid_launch_dependents()
              SIMT_DYNAMIC_SHARED(name);  a declaration inside a kernel, gives unsigned char *name
   Clusters    SIMT_LAUNCH_CLUSTER(kernel, grid, cluster, block, shared_bytes, stream)(arguments...)
              simt_clusters(kernel, size, block, shared_bytes)   how many clusters run at the same time
              simt_cluster_rank() simt_cluster_size() simt_cluster_sync()   barrier.cluster.arrive and .wait
              simt_cluster_open(box) simt_cluster_expect(box, bytes) simt_cluster_send(to, rank, box, 16 bytes)
              simt_cluster_await(box, odd)   mbarrier.init, .arrive.expect_tx, st.async and mbarrier.try_wait.parity:
              a message arrives when the box is full, as late as is allowed; until then its place holds NaN
              simt_cluster_map(place, rank)   the address of the same place in another block: mapa
   Runtime    cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMemcpy[Async] cudaMemset[Async] cudaMemGetInfo
              cudaDeviceSynchronize cudaGetLastError cudaPeekAtLastError cudaGetErrorString cudaGetErrorName
              cudaGetDeviceCount cudaGetDevice cudaSetDevice cudaGetDeviceProperties cudaDeviceGetAttribute
              cudaMemcpyPeerAsync cudaDeviceCanAccessPeer cudaDeviceEnablePeerAccess   for the only device
              cudaStreamCreate[WithFlags] cudaStreamCreateWithPriority cudaStreamSynchronize cudaStreamDestroy
              cudaStreamWaitEvent cudaDeviceGetStreamPriorityRange cudaEventCreate[WithFlags] cudaEventRecord
              cudaEventSynchronize cudaEventQuery cudaEventElapsedTime cudaEventDestroy
   Own        simt_permute(seed)   runs warps and lanes in a new random order between exchanges, so that a missing
                                   barrier shows as a wrong result; 0 restores the order. SIMT_SEED=n in the
                                   environment does so from the start.
              simt_capability(major, minor)   of the device; 9.0 unless told. Before 9.0 there are no clusters.
              simt_multiprocessors(count)   of the device; 4 unless told
              simt_shared_memory(bytes)   that a block may ask for; 227 KiB unless told
              simt_faults()        how many launches were abandoned; simt_fault_text() says why the last one was
              simt_take_fault()    the same text, or NULL if there was no fault since the last call

              SIMT_RECIPROCAL(x)     if SIMT_PERTURBED is defined: a reciprocal as inexact as the device's fast one

   FAULTS, in every build:
     warps and blocks: a shuffle from a lane outside the mask, or of a bad width; a mask without its caller, or with a
                       lane that has exited or is beyond the block (stricter than CUDA, which forgives the latter two);
                       lanes that meet with different operations or masks; a barrier that some threads never reach; a
                       deadlock; a barrier with another count, or with other threads, than before (the latter stricter
                       than CUDA)
     copies:           an asynchronous copy that is misaligned or not from global to shared memory
     clusters:         a box that was not opened, or not before a barrier of the cluster; a box that expects the next
                       bytes before it is full, gets more bytes than it expects, or is never full; a message to a block
                       that has ended, or that ends before the message arrives; a mapping of what is not shared memory,
                       to a block that has ended or does not exist, or before a barrier of the cluster
   In the watched build also:
     shared memory:    a read before a write; an access beyond what the launch asked for, or between static arrays; an
                       access to the destination of an asynchronous copy that is under way, or to that of a message
                       without waiting for it (each thread that reads it must wait, stricter than CUDA); more static
                       arrays than a kernel may have
     global memory:    an access to what cudaMalloc has not given; in a launch that began early, before simt_grid_wait,
                       a write, or a read of what a launch may still be writing: any since the last one that did not
                       begin early
     both:             races: accesses of two threads, one of them a write, with no __syncthreads or __syncwarp of both
                       between them; an access of 2, 4, 8 or 16 bytes that is not aligned to as many (stricter than CUDA
                       for a structure of 16 bytes whose members are shorter)
   Accesses through simt_cluster_map to another block are not watched. Nor are writes of a block to global memory that
   another block of its cluster has read. Faults count the bytes of static shared memory from the start of the section
   .noinit; nm -n lists the arrays there.
   A fault is printed, abandons its launch, and becomes the last error, cudaErrorLaunchFailure. A program that ends with
   a fault that it has not taken (simt_take_fault) exits with status 70.

   LIMITS. Needs gcc 11 or newer, and Linux (ELF). A function that declares a __shared__ array and is inline or a
   template must be static too; otherwise the assembler warns about .noinit, and the program stops at its start. Launch
   bounds are enforced on x86-64 only. The size of static shared memory is checked in the watched build only, which
   counts the arrays that a launch touches. A thread that spins until another thread writes hangs, unless both are in
   one block and it sleeps in between (__nanosleep). The watch does not see a memcpy that remains a call, nor a
   structure that goes from shared memory straight into a call or comes from one: s[i] = f(x), with an f that is not
   inlined, looks as if s[i] were never written (make_*, __ldg and the like are inlined). Of several atomics on one word
   it remembers the last. It takes a barrier of some of the threads for one of all. Of global memory it sees accesses of
   four bytes and more. */
#ifndef SIMT_H
#define SIMT_H

/* Each room includes those that it builds on. */
#include "words.h"         /* CUDA's words, and all headers of the system */
#include "types.h"         /* vectors, dim3, errors, handles */
#include "machine.h"       /* threads, warps, blocks, and what they wait at */
#include "coroutines.h"    /* each thread has a stack of its own */
#include "faults.h"        /* recorded, printed, taken */
#include "settings.h"      /* the device's capability, the order in which threads run */
#include "startup.h"       /* finds shared memory before main */
#include "global_memory.h" /* what cudaMalloc gives out */
#include "watch.h"         /* every access, in the watched build: watch_shared.h, watch_global.h */
#include "warp.h"          /* shuffles, votes, __syncwarp */
#include "block.h"         /* barriers */
#include "copies.h"        /* asynchronous copies, early launches */
#include "clusters.h"      /* blocks that send to each other */
#include "standstill.h"    /* why no thread can proceed */
#include "launch.h"        /* runs a launch, block after block */
#include "functions.h"     /* device functions that need no other thread */
#include "runtime.h"       /* cudaMalloc and the like */
#include "hooks.h"         /* what gcc calls in the watched build */

#endif
