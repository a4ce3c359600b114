/* simt.h - runs CUDA kernels on the host, thread by thread, and reports what a GPU would leave undefined.
   MIT licence, see LICENSE.

   A test source test_x.cu is compiled by nvcc, unchanged, for a GPU, and for the host by one of

       g++ -std=c++17 -O1 -x c++ -include tests/simt/simt.h test_x.cu -o test_x
       ... -g -fsanitize=address,undefined
       g++ -std=c++17 -O1 -fsanitize=thread -x c++ -include tests/simt/simt.h -c test_x.cu -o test_x.o
       g++ test_x.o -o test_x               (WITHOUT -fsanitize=thread: the watched build, SIMT_WATCHED is 1)

   (or by the script run beside this file, with launches as CUDA spells them: README.md). In the watched build gcc
   announces every memory access of the program to the functions that the thread sanitizer's library would define. Here
   this header defines them, and watches the accesses to shared and to global memory. gcc takes vectors apart before, so
   that a misaligned one is seen only with -Og or -fno-tree-sra. With -O1 -fno-tree-sra gcc announces no structure that
   is stored as a whole, and whoever reads a part of it is told that nobody wrote it.

   One translation unit a program or library. A kernel's threads are coroutines: each runs until it waits at a
   collective or exits, blocks run one after another, and a launch returns when all is done.

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
              and its wait_group n do: the bytes arrive at the wait, as late as is allowed, and until then the
              destination holds NaN
   Launch     SIMT_LAUNCH(kernel, grid, block, shared_bytes, stream)(arguments...), cudaFuncSetAttribute
              SIMT_LAUNCH_EARLY(...)(...)   the same for a launch that may begin before the one ahead of it has ended,
              whose threads say with simt_grid_wait() when they need its results; simt_grid_launch_dependents()
              SIMT_DYNAMIC_SHARED(name);  a declaration inside a kernel, gives unsigned char *name
   Clusters    SIMT_LAUNCH_CLUSTER(kernel, grid, cluster, block, shared_bytes, stream)(arguments...)
              simt_clusters(kernel, size, block, shared_bytes)   how many there are at the same time
              simt_cluster_rank() simt_cluster_size() simt_cluster_sync()   barrier.cluster.arrive and .wait
              simt_cluster_open(box) simt_cluster_expect(box, bytes) simt_cluster_send(to, rank, box, 16 bytes)
              simt_cluster_await(box, odd)   mbarrier.init, .arrive.expect_tx, st.async and mbarrier.try_wait.parity:
              what is sent arrives when the box is full, as late as is allowed, and until then its place holds NaN
              simt_cluster_map(place, rank)   where another block has it: mapa
   Runtime    cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMemcpy[Async] cudaMemset[Async] cudaMemGetInfo
              cudaDeviceSynchronize cudaGetLastError cudaPeekAtLastError cudaGetErrorString cudaGetErrorName
              cudaGetDeviceCount cudaGetDevice cudaSetDevice cudaGetDeviceProperties cudaDeviceGetAttribute
              cudaMemcpyPeerAsync cudaDeviceCanAccessPeer cudaDeviceEnablePeerAccess   of the one device there is
              cudaStreamCreate[WithFlags] cudaStreamCreateWithPriority cudaStreamSynchronize cudaStreamDestroy
              cudaStreamWaitEvent cudaDeviceGetStreamPriorityRange cudaEventCreate[WithFlags] cudaEventRecord
              cudaEventSynchronize cudaEventQuery cudaEventElapsedTime cudaEventDestroy
   Own        simt_permute(seed)   run warps and lanes in a fresh random order between exchanges, so that a missing
                                   barrier shows as a wrong result; 0 restores order. SIMT_SEED=n in the environment
                                   does so from the start.
              simt_capability(major, minor)   of the device; 9.0 unless told. Before 9.0 there are no clusters.
              simt_multiprocessors(count)   of the device; 4 unless told
              simt_shared_memory(bytes)   that a block may ask for; 227 KiB unless told
              simt_faults()        how many launches were abandoned; simt_fault_text() says why, of the last
              simt_take_fault()    the same text, or NULL if there was no fault since the last call

              SIMT_RECIPROCAL(x)     if SIMT_PERTURBED is defined: a reciprocal as inexact as the device's fast one

   FAULTS, in every build: a shuffle from a lane outside the mask, or of a bad width; a mask without its caller, or
   with a lane that has exited or is beyond the block (stricter than CUDA, which forgives the latter two); lanes that
   meet with different operations or masks; a barrier that some threads never reach; a deadlock; a barrier of another
   count, or with other threads, than before (the latter stricter than CUDA); an asynchronous copy that is misaligned or
   not from global to shared memory; in a cluster, a box that was not opened, or not before a barrier of the cluster, is
   expected to fill twice at once, gets more than is expected or never enough; what is sent to a block that has ended,
   or that ends before it came; shared memory mapped to a block that has ended, is none, or has not come to a barrier.
   In the watched build also: shared memory read before it was written, or beyond what the launch asked for, or with an
   asynchronous copy under way to it, or what another block sends, or without waiting for that (each thread that reads
   it must, stricter than CUDA), or more of it than a kernel may have; races on shared memory and on global memory
   (what cudaMalloc gave): accesses of two threads, one a write, with no __syncthreads or __syncwarp of both between
   them; global memory that cudaMalloc has not given; an access of 2, 4, 8 or 16 bytes of either memory that is not
   aligned to as many (stricter than CUDA for a structure of 16 bytes whose members are shorter); in a launch that began
   early, before simt_grid_wait, global memory written, or read that a launch may still be writing: one since the last
   launch that did not begin early.
   Accesses through simt_cluster_map to another block are not watched, nor are writes of a block to global memory that
   another one of its cluster has read.
   (Its static bytes count from the start of the section .noinit, where nm -n tells the arrays' names.)
   A fault is printed, abandons its launch, and is the last error, cudaErrorLaunchFailure. A program that ends with a
   fault that nobody took exits with status 70.

   LIMITS. Needs gcc 11 and Linux (ELF). A function that declares a __shared__ array must not be inline, nor a template,
   unless it is static as well; the assembler warns about .noinit, and the program stops at its start, otherwise.
   Launch bounds are enforced on x86-64 alone, and static shared memory by the watched build alone, which counts the
   arrays that a launch touches. A thread that spins until another one writes, hangs, unless that one is of its block
   and it sleeps (__nanosleep). The watch sees no memcpy that remains a call, no structure that goes from shared memory
   straight into a call or comes from one (s[i] = f(x) with an f that is not inlined looks as if s[i] were never
   written; make_* and __ldg and its kin are inlined), remembers the last of several atomics on one word, takes a
   barrier of some of the threads for one of all, and of global memory sees accesses of four bytes and more. */
#ifndef SIMT_H
#define SIMT_H

/* Each room includes those that it builds on. */
#include "words.h"         /* CUDA's words, and all headers of the system */
#include "types.h"         /* vectors, dim3, errors, handles */
#include "machine.h"       /* threads, warps, blocks, and what they wait at */
#include "coroutines.h"    /* each thread has a stack of its own */
#include "faults.h"        /* recorded, printed, taken */
#include "settings.h"      /* the device's capability, the order of turns */
#include "startup.h"       /* finds shared memory before main */
#include "global_memory.h" /* what cudaMalloc gives out */
#include "watch.h"         /* every access, in the watched build: watch_shared.h, watch_global.h */
#include "warp.h"          /* shuffles, votes, __syncwarp */
#include "block.h"         /* barriers */
#include "copies.h"        /* asynchronous copies, early launches */
#include "clusters.h"      /* blocks that send to each other */
#include "standstill.h"    /* nobody can proceed: why? */
#include "launch.h"        /* runs a launch, block after block */
#include "functions.h"     /* device functions that need no other thread */
#include "runtime.h"       /* cudaMalloc and the like */
#include "hooks.h"         /* what gcc calls in the watched build */

#endif
