/* simt.h - runs CUDA kernels on the host, thread by thread, and reports what a GPU would leave undefined.
   MIT licence, see LICENSE.

   A test source test_x.cu is compiled by nvcc, unchanged, for a GPU, and for the host by one of

       g++ -std=c++17 -O1 -x c++ -include tests/simt.h test_x.cu -o test_x
       ... -g -fsanitize=address,undefined
       g++ -std=c++17 -O1 -fsanitize=thread -x c++ -include tests/simt.h -c test_x.cu -o test_x.o
       g++ test_x.o -o test_x               (WITHOUT -fsanitize=thread: the watched build, SIMT_WATCHED is 1)

   In the watched build gcc announces every memory access of the program to the functions that the thread sanitizer's
   library would define. Here this header defines them, and watches the accesses to shared and to global memory.

   One translation unit a program. A kernel's threads are coroutines: each runs until it waits at a collective or
   exits, blocks run one after another, and a launch returns when all is done.

   SUPPLIED
   Words      __global__ __device__ __host__ __constant__ __shared__ __forceinline__ __noinline__ __launch_bounds__
              __align__ __grid_constant__
   Threads    threadIdx blockIdx blockDim gridDim warpSize simt_lane_id()
   Types      dim3, float2/3/4, double2, int2/3/4, uint2/3/4, longlong2, ulonglong2, and make_* of each
   Barriers   __syncthreads __syncthreads_and __syncthreads_or __syncthreads_count __syncwarp
              __threadfence __threadfence_block, simt_barrier(id, count)   what barrier.sync does
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
              cudaStreamCreate[WithFlags] cudaStreamCreateWithPriority cudaStreamSynchronize cudaStreamDestroy
              cudaStreamWaitEvent cudaDeviceGetStreamPriorityRange cudaEventCreate[WithFlags] cudaEventRecord
              cudaEventSynchronize cudaEventQuery cudaEventElapsedTime cudaEventDestroy
   Own        simt_permute(seed)   run warps and lanes in a fresh random order between exchanges, so that a missing
                                   barrier shows as a wrong result; 0 restores order. SIMT_SEED=n in the environment
                                   does so from the start.
              simt_capability(major, minor)   of the device; 9.0 unless told. Before 9.0 there are no clusters.
              simt_multiprocessors(count)   of the device; 4 unless told
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
   them; global memory that cudaMalloc has not given; in a launch that began early, before simt_grid_wait, global memory
   written, or read that a launch may still be writing: one since the last launch that did not begin early.
   Accesses through simt_cluster_map to another block are not watched, nor are writes of a block to global memory that
   another one of its cluster has read.
   (Its static bytes count from the start of the section .noinit, where nm -n tells the arrays' names.)
   A fault is printed, abandons its launch, and is the last error, cudaErrorLaunchFailure. A program that ends with a
   fault that nobody took exits with status 70.

   LIMITS. Needs gcc 11 and Linux (ELF). A function that declares a __shared__ array must not be inline, nor a template,
   unless it is static as well; the assembler warns about .noinit, and the program stops at its start, otherwise.
   Launch bounds are enforced on x86-64 alone, and static shared memory by the watched build alone, which counts the
   arrays that a launch touches. A thread that spins until another one writes, hangs. The watch sees no memcpy that
   remains a call, no structure that goes from shared memory straight into a call or comes from one (s[i] = f(x) with an
   f that is not inlined looks as if s[i] were never written; make_* and __ldg and its kin are inlined), remembers the
   last of several atomics on one word, takes a barrier of some of the threads for one of all, and of global memory sees
   accesses of four bytes and more. */
#ifndef SIMT_H
#define SIMT_H

/* Every header comes before the macros below, which would otherwise rewrite words in it. */
#include <chrono>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <elf.h>
#include <link.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined __x86_64__ && !defined SIMT_UCONTEXT
#define SIMT_UCONTEXT
#endif
#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define SIMT_EMULATOR 1
#ifdef __SANITIZE_THREAD__
#define SIMT_WATCHED 1
#else
#define SIMT_WATCHED 0
#endif

/* The emulator's own accesses are not the program's, so they are not announced to the watch. */
#define SIMT_OWN inline __attribute__((no_sanitize("thread")))
/* What returns a structure is inlined always, since gcc announces no store of a call's result to memory. */
#define SIMT_INLINED inline __attribute__((always_inline))
#define SIMT_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- CUDA's words ---------------------------------------------------------------------------------------------- */

#define __global__ __attribute__((unused))
#define __device__ __attribute__((unused))
#define __constant__ __attribute__((unused))
#define __host__
#define __forceinline__ SIMT_INLINED
#define __noinline__ /* empty, because libstdc++ writes __attribute__((__noinline__)) */
#if defined __x86_64__ && !defined __clang__
/* As many instructions of one byte that do nothing before the function as it may have threads, with their beginning
   noted in a section: of gcc's attributes that the program can read the one that takes a template's arguments. */
#define SIMT_BOUND(threads, ...) __attribute__((patchable_function_entry((threads) + 0, (threads) + 0)))
#define __launch_bounds__(...) SIMT_BOUND(__VA_ARGS__, 0)
#else
#define __launch_bounds__(...)
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

/* Blocks run one after another, so a static serves as the block's. "noinit" puts it into the section .noinit, which so
   is the whole of shared memory (the attribute "section" would be lost in templates, and stop the address sanitizer
   from guarding the array's ends). "used" keeps the compiler from concluding that an array which it sees no writes to
   is still zero. */
#define __shared__ static __attribute__((noinit, used))

/* ---- types ----------------------------------------------------------------------------------------------------- */

#define SIMT_VECTOR2(name, type, bytes)                                  \
    struct __attribute__((aligned(bytes))) name {                        \
        type x, y;                                                       \
    };                                                                   \
    SIMT_INLINED name make_##name(type x, type y) { return name{x, y}; }
#define SIMT_VECTOR3(name, type)                                         \
    struct name {                                                        \
        type x, y, z;                                                    \
    };                                                                   \
    SIMT_INLINED name make_##name(type x, type y, type z) { return name{x, y, z}; }
#define SIMT_VECTOR4(name, type, bytes)                                  \
    struct __attribute__((aligned(bytes))) name {                        \
        type x, y, z, w;                                                 \
    };                                                                   \
    SIMT_INLINED name make_##name(type x, type y, type z, type w) { return name{x, y, z, w}; }

SIMT_VECTOR2(float2, float, 8)
SIMT_VECTOR2(double2, double, 16)
SIMT_VECTOR2(int2, int, 8)
SIMT_VECTOR2(uint2, unsigned, 8)
SIMT_VECTOR2(longlong2, long long, 16)
SIMT_VECTOR2(ulonglong2, unsigned long long, 16)
SIMT_VECTOR3(float3, float)
SIMT_VECTOR3(int3, int)
SIMT_VECTOR3(uint3, unsigned)
SIMT_VECTOR4(float4, float, 16)
SIMT_VECTOR4(int4, int, 16)
SIMT_VECTOR4(uint4, unsigned, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorInvalidClusterSize = 912,
    cudaErrorLaunchFailure = 719
};

struct simt_stream;
struct simt_event;
typedef simt_stream *cudaStream_t;
typedef simt_event *cudaEvent_t;

/* ---- the machine ----------------------------------------------------------------------------------------------- */

enum {
    SIMT_LANES = 32,
    SIMT_MAX_THREADS = 1024,
    SIMT_MAX_WARPS = SIMT_MAX_THREADS / SIMT_LANES,
    SIMT_BARRIERS = 16,
    SIMT_MAX_CLUSTER = 16,
    SIMT_DEFAULT_SHARED = 48 * 1024,
    SIMT_MAX_SHARED = 227 * 1024,
    SIMT_STACK_BYTES = 256 * 1024,
    SIMT_GUARD_BYTES = 4096,
    SIMT_POISON = 0xff, /* as floats of any size: NaN */
    SIMT_EXIT_STATUS = 70
};

constexpr int warpSize = SIMT_LANES;

/* What a thread waits at. Shuffles of 4 and of 8 bytes are different operations. */
enum simt_operation : unsigned char {
    SIMT_NOTHING,
    SIMT_SHUFFLE,
    SIMT_SHUFFLE_UP,
    SIMT_SHUFFLE_DOWN,
    SIMT_SHUFFLE_XOR,
    SIMT_SHUFFLE_8,
    SIMT_SHUFFLE_UP_8,
    SIMT_SHUFFLE_DOWN_8,
    SIMT_SHUFFLE_XOR_8,
    SIMT_ANY,
    SIMT_ALL,
    SIMT_BALLOT,
    SIMT_SYNCWARP,
    SIMT_CLUSTER_SYNC,
    SIMT_BOX,
    SIMT_BARRIER, /* those of the block from here on */
    SIMT_BARRIER_AND,
    SIMT_BARRIER_OR,
    SIMT_BARRIER_COUNT,
    SIMT_BARRIER_NAMED
};

SIMT_OWN const char *simt_operation_name(simt_operation operation)
{
    static const char *const names[] = {
        "nothing", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__shfl_sync of 8 bytes",
        "__shfl_up_sync of 8 bytes", "__shfl_down_sync of 8 bytes", "__shfl_xor_sync of 8 bytes", "__any_sync",
        "__all_sync", "__ballot_sync", "__syncwarp", "barrier.cluster", "a box", "__syncthreads",
        "__syncthreads_and", "__syncthreads_or",
        "__syncthreads_count", "barrier.sync"};
    return names[operation];
}

/* A suspended flow of control. */
struct simt_context {
#ifdef SIMT_UCONTEXT
    ucontext_t registers;
#else
    void *stack_pointer; /* the saved registers lie there */
#endif
    void *fake_stack; /* the address sanitizer's */
};

/* An asynchronous copy under way; group counts the thread's commits before it. */
struct simt_copy {
    void *to;
    const void *from;
    int bytes, group;
};

struct simt_thread {
    simt_context context;
    uint3 index;
    std::vector<simt_copy> copies;
    int commits;
    bool has_waited; /* for the launch ahead */
    int cluster_syncs; /* barriers of the cluster that it has passed */
    std::vector<uint32_t> awaited; /* of each box: how often it has been full, as far as the thread has waited */
};

/* The sets of lanes have bit i for lane i; the arrays hold what each lane brought to the collective that it waits at,
   and what it takes away. Results are kept apart, since a lane may be at its next collective before another one of
   this exchange has run again. */
struct simt_warp {
    unsigned lanes, exited, ready, waiting;
    simt_operation operation[SIMT_LANES];
    unsigned mask[SIMT_LANES];
    unsigned char barrier[SIMT_LANES];
    int source[SIMT_LANES];
    uint64_t value[SIMT_LANES], result[SIMT_LANES];
};

/* A barrier of the block, of which __syncthreads is number 0 with all threads. Sets of warps have bit i for warp i. */
struct simt_meeting {
    simt_operation operation; /* that its first thread came with */
    int count, arrived;       /* threads, of which the last warp counts whole; those waiting */
    uint32_t members;         /* the warps that it was last opened by, none at first */
};

/* 16 bytes on their way to offset `to` of shared memory. */
struct simt_message {
    size_t to;
    unsigned char bytes[16];
};

/* A box of a block, at this offset of its shared memory. */
struct simt_box {
    size_t offset;
    int opened;         /* barriers of the cluster that its opener had passed */
    bool is_expecting;
    int expected, came; /* bytes */
    uint32_t full;      /* times */
    std::vector<simt_message> messages;
};

/* A block; those of a cluster run in turn, each until it can no more. What it has in shared memory, when it does not
   run, is in the image. */
struct simt_block {
    simt_thread threads[SIMT_MAX_THREADS];
    simt_warp warps[SIMT_MAX_WARPS];
    simt_meeting barriers[SIMT_BARRIERS];
    uint3 index;
    int live; /* threads that have not yet exited */
    std::vector<simt_box> boxes;
    unsigned char *image;
    struct simt_watch_block_state *watch;
};

struct simt_machine {
    simt_thread *threads; /* of the running block */
    simt_warp *warps;
    simt_meeting *barriers;
    simt_context scheduler;
    int current;                    /* the running thread's number in its block, -1 on the host */
    int rank;                       /* the running block's in its cluster */
    int cluster_size, cluster_syncing; /* blocks; threads that wait at its barrier */
    dim3 cluster;
    simt_block *blocks[SIMT_MAX_CLUSTER];
    int thread_count;               /* of a block at its start */
    int major, minor;               /* compute capability */
    int processors;
    bool abandoned;                 /* by a fault */
    bool is_early;                  /* the launch may have begun before the one ahead has ended */
    char *stacks;
    const void *host_stack;         /* the scheduler's stack, for the address sanitizer */
    size_t host_stack_bytes;
    void (*body)(const void *);     /* runs the kernel with its arguments, which lie at body_data */
    const void *body_data;
    unsigned char *shared;          /* all of shared memory, static and dynamic */
    size_t shared_range;
    size_t shared_bytes;            /* dynamic ones of this launch */
    size_t shared_limit;            /* static and dynamic ones together */
    uint64_t random;                /* 0: run in order */
    cudaError_t last_error;
    long fault_count, faults_untaken;
    char fault_text[400];
};

inline simt_machine simt = {};
SIMT_OWN simt_block &simt_this_block(void) { return *simt.blocks[simt.rank]; }
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

/* Dynamic shared memory lies in the section .noinit as well, so that one range holds all of it. */
__shared__ __align__(1024) unsigned char simt_dynamic_shared[SIMT_MAX_SHARED];
#define SIMT_DYNAMIC_SHARED(name) unsigned char *const name = simt_dynamic_shared

SIMT_OWN unsigned simt_lane_id(void) { return (unsigned)simt.current % SIMT_LANES; }
SIMT_OWN simt_warp &simt_this_warp(void) { return simt.warps[simt.current / SIMT_LANES]; }
SIMT_OWN int simt_first_lane(unsigned lanes) { return __builtin_ctz(lanes); }

/* ---- coroutines ------------------------------------------------------------------------------------------------ */

/* Neighbouring stacks begin on different cache lines: with a plain power of two between them all the threads' hottest
   lines would compete for the same few places in the cache. The guard page below each also moves the next one. */
SIMT_OWN char *simt_stack_bottom(int thread)
{
    size_t number = (size_t)simt.rank * SIMT_MAX_THREADS + (size_t)thread;
    return simt.stacks + number * (SIMT_STACK_BYTES + SIMT_GUARD_BYTES) + SIMT_GUARD_BYTES;
}

SIMT_OWN size_t simt_stack_bytes(int thread) { return SIMT_STACK_BYTES - (size_t)(thread % 8) * 512; }

SIMT_OWN void simt_map_stacks(void)
{
    size_t bytes = (size_t)SIMT_MAX_CLUSTER * SIMT_MAX_THREADS * (SIMT_STACK_BYTES + SIMT_GUARD_BYTES);
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("simt: stacks");
        exit(SIMT_EXIT_STATUS);
    }
    simt.stacks = (char *)memory;
}

/* Of the running block. */
SIMT_OWN void simt_guard_stacks(void)
{
    for (int thread = 0; thread < SIMT_MAX_THREADS; thread++)
        mprotect(simt_stack_bottom(thread) - SIMT_GUARD_BYTES, SIMT_GUARD_BYTES, PROT_NONE);
}

#ifdef SIMT_UCONTEXT

SIMT_OWN void simt_prepare(simt_context *context, char *stack, size_t bytes, void (*entry)(void))
{
    getcontext(&context->registers);
    context->registers.uc_stack.ss_sp = stack;
    context->registers.uc_stack.ss_size = bytes;
    context->registers.uc_link = nullptr;
    makecontext(&context->registers, entry, 0);
}

SIMT_OWN void simt_switch(simt_context *from, simt_context *to) { swapcontext(&from->registers, &to->registers); }

#else

/* What the System V calling convention has a callee preserve: six registers and the two floating-point control words.
   noipa: the compiler must not conclude from the body that any other register survives. */
__attribute__((naked, noipa)) inline void simt_swap_stacks(void **, void *)
{
    __asm__ volatile("pushq %rbp\n\t"
                     "pushq %rbx\n\t"
                     "pushq %r12\n\t"
                     "pushq %r13\n\t"
                     "pushq %r14\n\t"
                     "pushq %r15\n\t"
                     "subq $8, %rsp\n\t"
                     "stmxcsr (%rsp)\n\t"
                     "fnstcw 4(%rsp)\n\t"
                     "movq %rsp, (%rdi)\n\t"
                     "movq %rsi, %rsp\n\t"
                     "ldmxcsr (%rsp)\n\t"
                     "fldcw 4(%rsp)\n\t"
                     "addq $8, %rsp\n\t"
                     "popq %r15\n\t"
                     "popq %r14\n\t"
                     "popq %r13\n\t"
                     "popq %r12\n\t"
                     "popq %rbx\n\t"
                     "popq %rbp\n\t"
                     "ret");
}

struct simt_saved {
    uint32_t mxcsr;
    uint16_t x87_control, unused;
    uint64_t registers[6];
    void (*return_to)(void);
    void *end_of_stack; /* entry's own return address: 0 ends a debugger's walk */
};

SIMT_OWN void simt_prepare(simt_context *context, char *stack, size_t bytes, void (*entry)(void))
{
    simt_saved *saved = (simt_saved *)(stack + bytes) - 1;
    *saved = simt_saved{};
    __asm__ volatile("stmxcsr %0" : "=m"(saved->mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(saved->x87_control));
    saved->return_to = entry;
    context->stack_pointer = saved;
}

SIMT_OWN void simt_switch(simt_context *from, simt_context *to)
{
    simt_swap_stacks(&from->stack_pointer, to->stack_pointer);
}

#endif

/* The address sanitizer has to know which stack is in use. */
#ifdef __SANITIZE_ADDRESS__
SIMT_OWN void simt_announce_switch(void **fake_stack, const void *bottom, size_t bytes)
{
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
SIMT_OWN void simt_announce_arrival(void *fake_stack, const void **old_bottom, size_t *old_bytes)
{
    __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_bytes);
}
SIMT_OWN void simt_unpoison(const void *memory, size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
SIMT_OWN void simt_poison(const void *memory, size_t bytes) { __asan_poison_memory_region(memory, bytes); }
#else
SIMT_OWN void simt_announce_switch(void **, const void *, size_t) {}
SIMT_OWN void simt_announce_arrival(void *, const void **, size_t *) {}
SIMT_OWN void simt_unpoison(const void *, size_t) {}
SIMT_OWN void simt_poison(const void *, size_t) {}
#endif

/* From the scheduler to a thread, until that waits or exits. */
SIMT_OWN void simt_resume(int thread)
{
    simt_thread &next = simt.threads[thread];
    simt.current = thread;
    threadIdx = next.index;
    simt_announce_switch(&simt.scheduler.fake_stack, simt_stack_bottom(thread), simt_stack_bytes(thread));
    simt_switch(&simt.scheduler, &next.context);
    simt_announce_arrival(simt.scheduler.fake_stack, nullptr, nullptr);
    simt.current = -1;
}

/* From a thread to the scheduler. */
SIMT_OWN void simt_suspend(void)
{
    simt_context &mine = simt.threads[simt.current].context;
    simt_announce_switch(&mine.fake_stack, simt.host_stack, simt.host_stack_bytes);
    simt_switch(&mine, &simt.scheduler);
    simt_announce_arrival(mine.fake_stack, &simt.host_stack, &simt.host_stack_bytes);
}

SIMT_OWN void simt_thread_ends(void);

/* Where every thread begins. It never returns: its stack ends here. So the address sanitizer must not mark its frame,
   nor one that is inlined into it: the marks would be there when the next block's thread begins on the same stack. */
__attribute__((no_sanitize("address", "thread"))) inline void simt_thread_main(void)
{
    simt_announce_arrival(nullptr, &simt.host_stack, &simt.host_stack_bytes);
    simt.body(simt.body_data);
    simt_this_warp().exited |= 1u << simt_lane_id();
    simt_this_block().live--;
    simt_thread_ends();
    simt_announce_switch(nullptr, simt.host_stack, simt.host_stack_bytes);
    simt_switch(&simt.threads[simt.current].context, &simt.scheduler);
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

/* Records "WHAT, block (..) thread (..)" and abandons the launch; in a thread it does not return. */
SIMT_PRINTF(2, 3) SIMT_OWN void simt_fault(int thread, const char *format, ...)
{
    char what[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    uint3 index = simt.threads[thread].index;
    snprintf(simt.fault_text, sizeof simt.fault_text, "%s, block (%u,%u,%u) thread (%u,%u,%u)", what, blockIdx.x,
             blockIdx.y, blockIdx.z, index.x, index.y, index.z);
    fprintf(stderr, "simt: %s\n", simt.fault_text);
    simt.abandoned = true;
    simt.last_error = cudaErrorLaunchFailure;
    simt.fault_count++;
    simt.faults_untaken++;
    if (simt.current >= 0)
        simt_suspend();
}

SIMT_OWN long simt_faults(void) { return simt.fault_count; }
SIMT_OWN const char *simt_fault_text(void) { return simt.fault_text; }

SIMT_OWN const char *simt_take_fault(void)
{
    const char *text = simt.faults_untaken ? simt.fault_text : nullptr;
    simt.faults_untaken = 0;
    return text;
}

SIMT_OWN void simt_at_exit(void)
{
    if (simt.faults_untaken == 0)
        return;
    fprintf(stderr, "simt: exit status %d, because of a fault that nobody took\n", (int)SIMT_EXIT_STATUS);
    fflush(nullptr);
    _exit(SIMT_EXIT_STATUS);
}

/* ---- random order, and what happens before main ------------------------------------------------------------------ */

SIMT_OWN void simt_capability(int major, int minor)
{
    simt.major = major;
    simt.minor = minor;
}

/* 10 * major + minor, which is also what kernels are taken to be compiled for. */
SIMT_OWN int simt_version(void) { return 10 * simt.major + simt.minor; }

/* How many multiprocessors the device has; 4 unless told. */
SIMT_OWN void simt_multiprocessors(int count) { simt.processors = count; }

SIMT_OWN void simt_permute(uint64_t seed) { simt.random = seed * 0x9e3779b97f4a7c15u; }

/* A number below n (xorshift64). */
SIMT_OWN unsigned simt_random_below(unsigned n)
{
    simt.random ^= simt.random << 13;
    simt.random ^= simt.random >> 7;
    simt.random ^= simt.random << 17;
    return (unsigned)((simt.random >> 32) * n >> 32);
}

/* The first n of order: 0 to n-1, shuffled if so asked. */
SIMT_OWN void simt_order(unsigned char *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = (unsigned char)i;
    for (int i = n - 1; simt.random && i > 0; i--)
        std::swap(order[i], order[simt_random_below((unsigned)i + 1)]);
}

/* Where in memory this program's sections begin to count. */
SIMT_OWN uintptr_t simt_load_address(void)
{
    uintptr_t address = 0;
    dl_iterate_phdr(
        [](dl_phdr_info *program, size_t, void *result) {
            *(uintptr_t *)result = program->dlpi_addr;
            return 1; /* the first is the program itself */
        },
        &address);
    return address;
}

SIMT_OWN bool simt_read_at(FILE *file, size_t offset, void *to, size_t bytes)
{
    return fseek(file, (long)offset, SEEK_SET) == 0 && fread(to, 1, bytes, file) == bytes;
}

/* An array in static shared memory. */
struct simt_array {
    size_t offset, bytes;
    uint32_t launch; /* the last that touched it */
};
inline std::vector<simt_array> simt_arrays;

/* The arrays in the section of that number, from the symbols of the program if it has any. */
SIMT_OWN bool simt_find_arrays(FILE *file, const ElfW(Shdr) &table, size_t section, uintptr_t section_address)
{
    std::vector<ElfW(Sym)> symbols(table.sh_size / sizeof(ElfW(Sym)));
    if (!simt_read_at(file, table.sh_offset, symbols.data(), symbols.size() * sizeof symbols[0]))
        return false;
    for (const ElfW(Sym) &symbol : symbols)
        if (symbol.st_shndx == section && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size)
            simt_arrays.push_back(simt_array{symbol.st_value - section_address, symbol.st_size, 0});
    return true;
}

/* Finds the section .noinit by the program's own section headers, as the linker offers no symbols for it. */
SIMT_OWN bool simt_find_shared(FILE *file)
{
    size_t shared = 0, number = 0;
    ElfW(Ehdr) header;
    if (!simt_read_at(file, 0, &header, sizeof header))
        return false;
    std::vector<ElfW(Shdr)> sections(header.e_shnum);
    if (!simt_read_at(file, header.e_shoff, sections.data(), sections.size() * sizeof sections[0]))
        return false;
    std::vector<char> names(sections[header.e_shstrndx].sh_size);
    if (!simt_read_at(file, sections[header.e_shstrndx].sh_offset, names.data(), names.size()))
        return false;
    for (const ElfW(Shdr) &section : sections) {
        const char *name = &names[section.sh_name];
        if (strcmp(name, ".noinit") == 0) {
            simt.shared = (unsigned char *)(simt_load_address() + section.sh_addr);
            simt.shared_range = section.sh_size;
            shared = number;
        } else if (strncmp(name, ".noinit.", 8) == 0) {
            fprintf(stderr, "simt: %s: its function has to be static\n", name + 8);
            return false;
        }
        number++;
    }
    for (const ElfW(Shdr) &section : sections)
        if (SIMT_WATCHED && section.sh_type == SHT_SYMTAB &&
            !simt_find_arrays(file, section, shared, sections[shared].sh_addr))
            return false;
    return simt.shared != nullptr;
}

struct simt_startup {
    SIMT_OWN simt_startup()
    {
        FILE *program = fopen("/proc/self/exe", "rb");
        if (!program || !simt_find_shared(program)) {
            fprintf(stderr, "simt: cannot set up shared memory from the program's section .noinit\n");
            exit(SIMT_EXIT_STATUS);
        }
        fclose(program);
        simt.current = -1;
        simt.major = 9;
        simt.processors = 4;
        if (const char *seed = getenv("SIMT_SEED"))
            simt_permute(strtoull(seed, nullptr, 0));
        atexit(simt_at_exit);
    }
};
inline simt_startup simt_started;

/* ---- the device's memory --------------------------------------------------------------------------------------- */

#if SIMT_WATCHED

/* What cudaMalloc gives out is one stretch of addresses, so that the watch knows by its address what is global memory.
   It is handed out from the bottom up in whole pages with one more between them, and from the bottom again when all of
   it has been given back. */
struct simt_arena {
    unsigned char *bottom;
    size_t used;
    uint16_t *bytes_in_page; /* that were asked for */
    std::map<void *, size_t> pages;
};
inline simt_arena simt_global;
enum : size_t { SIMT_ARENA_BYTES = (size_t)1 << 36, SIMT_PAGE = 4096 };

SIMT_OWN void *simt_reserve(size_t bytes, const char *what)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror(what);
        exit(SIMT_EXIT_STATUS);
    }
    return memory; /* only the pages in use take memory */
}

SIMT_OWN void *simt_take_global(size_t bytes)
{
    size_t pages = (bytes + SIMT_PAGE - 1) / SIMT_PAGE, first = simt_global.used / SIMT_PAGE;
    if (!simt_global.bottom) {
        simt_global.bottom = (unsigned char *)simt_reserve(SIMT_ARENA_BYTES, "simt: global memory");
        simt_global.bytes_in_page =
            (uint16_t *)simt_reserve(SIMT_ARENA_BYTES / SIMT_PAGE * sizeof(uint16_t), "simt: global memory");
    }
    if ((pages + 1) * SIMT_PAGE > SIMT_ARENA_BYTES - simt_global.used)
        return nullptr;
    void *memory = simt_global.bottom + simt_global.used;
    simt_global.used += (pages + 1) * SIMT_PAGE;
    simt_global.pages[memory] = pages;
    for (size_t page = 0; page < pages; page++)
        simt_global.bytes_in_page[first + page] =
            (uint16_t)(page + 1 < pages ? SIMT_PAGE : bytes - page * SIMT_PAGE);
    return memory;
}

SIMT_OWN void simt_give_global(void *memory)
{
    auto piece = simt_global.pages.find(memory);
    if (piece == simt_global.pages.end()) {
        free(memory); /* of cudaMallocHost */
        return;
    }
    size_t first = (size_t)((unsigned char *)memory - simt_global.bottom) / SIMT_PAGE;
    memset(simt_global.bytes_in_page + first, 0, piece->second * sizeof(uint16_t));
    madvise(memory, piece->second * SIMT_PAGE, MADV_DONTNEED);
    simt_global.pages.erase(piece);
    if (simt_global.pages.empty())
        simt_global.used = 0;
}

#else

/* Of exactly the size asked for, so that the address sanitizer sees the first byte beyond it. */
SIMT_OWN void *simt_take_global(size_t bytes)
{
    void *memory = nullptr;
    return posix_memalign(&memory, 256, bytes) == 0 ? memory : nullptr;
}
SIMT_OWN void simt_give_global(void *memory) { free(memory); }

#endif

/* ---- the watch on memory --------------------------------------------------------------------------------------- */

enum { SIMT_READ = 1, SIMT_WRITE = 2, SIMT_ATOMIC = 4 };
enum { SIMT_SENT = -1 }; /* the writer that is another block */

#if SIMT_WATCHED

/* Two accesses are ordered if a __syncthreads lies between them, which is to say if their epochs differ, or, within a
   warp, by a chain of __syncwarp. For the latter each lane has a clock, which a __syncwarp advances, and remembers of
   each other lane up to which clock it is ordered after it (a vector clock).

   Of every byte of shared memory this much is known. The readers are those since the last write, in one epoch. The
   lanes of one warp are kept one by one; of the readers in other warps one is enough, as whoever writes next is in
   another warp than at least one of the two. */
struct simt_cell {
    uint32_t write_epoch, write_clock;
    uint32_t read_epoch, read_lanes;
    int16_t writer, read_warp, other_reader;
    bool write_was_atomic;
    uint16_t box; /* that the last write came with, for the write_clock-th time, if the writer is SIMT_SENT */
    uint32_t copy_epoch; /* when an asynchronous copy to here was begun, 0 if there is none under way */
    uint32_t read_clock[SIMT_LANES];
};

/* Of every word of four bytes of global memory: its last write, and of the readers since then the first of this launch
   and, in one epoch, the first and the last. That may miss a race that three readers of one warp hide, and finds no
   false one. Other blocks of the launch are ordered by nothing; what happened in earlier launches does not count. */
struct simt_word_cell {
    uint32_t write_epoch, write_clock;
    uint32_t first_read; /* an epoch */
    uint32_t read_epoch, read_clock[2];
    uint32_t write_block, read_block; /* the writer's, the first reader's */
    int16_t writer, reader[2];
    bool write_was_atomic, reads_were_atomic, other_block_read;
};

struct simt_watch_state {
    uint32_t last_epoch;   /* of any block */
    uint32_t epoch;        /* of the running block; a new one with every __syncthreads, and with every block */
    uint32_t block_epoch;  /* that in which this block began */
    uint32_t block;        /* its number */
    uint32_t launch_epoch; /* and this launch */
    uint32_t settled_epoch; /* and the last launch that did not begin early: what was written before is there for all */
    uint32_t launch;       /* its number */
    size_t static_bytes;   /* of the arrays that it has touched */
    uint16_t *array_at;    /* at this byte of shared memory: 1 + its number, 0 if there is none */
    simt_cell *cells;      /* of the running block */
    simt_word_cell *words;
    uint32_t (*clock)[SIMT_LANES][SIMT_LANES]; /* of it too: [warp][who knows][of whom] */
};
inline simt_watch_state simt_watch;

/* What of it is a block's own. */
struct simt_watch_block_state {
    uint32_t epoch, block_epoch, block;
    simt_cell *cells;
    uint32_t clock[SIMT_MAX_WARPS][SIMT_LANES][SIMT_LANES];
};

SIMT_OWN void simt_watch_start(void)
{
    simt_watch.words = (simt_word_cell *)simt_reserve(SIMT_ARENA_BYTES / 4 * sizeof(simt_word_cell), "simt: watch");
    simt_watch.array_at = (uint16_t *)simt_reserve(simt.shared_range * sizeof(uint16_t), "simt: watch");
    for (size_t i = 0; i < simt_arrays.size(); i++)
        for (size_t byte = 0; byte < simt_arrays[i].bytes; byte++)
            if (simt.shared + simt_arrays[i].offset != simt_dynamic_shared)
                simt_watch.array_at[simt_arrays[i].offset + byte] = (uint16_t)(i + 1);
}

SIMT_OWN simt_watch_block_state *simt_watch_new_block(void)
{
    simt_watch_block_state *block = new simt_watch_block_state();
    block->cells = (simt_cell *)simt_reserve(simt.shared_range * sizeof(simt_cell), "simt: watch");
    for (auto &warp : block->clock)
        for (int lane = 0; lane < SIMT_LANES; lane++)
            warp[lane][lane] = 1;
    return block;
}

/* The running block is another one. */
SIMT_OWN void simt_watch_leave(simt_watch_block_state *block)
{
    block->epoch = simt_watch.epoch;
    block->block_epoch = simt_watch.block_epoch;
    block->block = simt_watch.block;
}
SIMT_OWN void simt_watch_enter(simt_watch_block_state *block)
{
    simt_watch.epoch = block->epoch;
    simt_watch.block_epoch = block->block_epoch;
    simt_watch.block = block->block;
    simt_watch.cells = block->cells;
    simt_watch.clock = block->clock;
}

SIMT_OWN void simt_watch_barrier(void) { simt_watch.epoch = ++simt_watch.last_epoch; }

SIMT_OWN void simt_watch_launch(void)
{
    if (!simt_watch.words)
        simt_watch_start();
    simt_watch.launch_epoch = simt_watch.last_epoch + 1;
    if (!simt.is_early)
        simt_watch.settled_epoch = simt_watch.launch_epoch;
    simt_watch.launch++;
    simt_watch.static_bytes = 0;
}

SIMT_OWN void simt_watch_block(void)
{
    simt_watch.block_epoch = simt_watch.epoch = ++simt_watch.last_epoch;
    simt_watch.block = simt_watch.last_epoch; /* as good a number as any */
}

/* Each lane of the mask now comes after all that any of them came after, and begins a new stretch of its own. */
SIMT_OWN void simt_watch_syncwarp(int warp, unsigned mask)
{
    auto &clock = simt_watch.clock[warp];
    uint32_t joined[SIMT_LANES] = {};
    for (int lane = 0; lane < SIMT_LANES; lane++)
        for (int of = 0; (mask >> lane & 1) && of < SIMT_LANES; of++)
            joined[of] = clock[lane][of] > joined[of] ? clock[lane][of] : joined[of];
    for (int lane = 0; lane < SIMT_LANES; lane++) {
        if (mask >> lane & 1) {
            memcpy(clock[lane], joined, sizeof joined);
            clock[lane][lane]++;
        }
    }
}

/* Does the running thread come after what thread did at that clock of its, in this epoch? */
SIMT_OWN bool simt_is_after(int thread, uint32_t clock)
{
    if (thread == simt.current)
        return true;
    int warp = thread / SIMT_LANES;
    return warp == simt.current / SIMT_LANES &&
           simt_watch.clock[warp][simt_lane_id()][thread % SIMT_LANES] >= clock;
}

/* Where a byte lies, for people. */
struct simt_place {
    char text[64];
};

SIMT_OWN simt_place simt_place_of(size_t offset)
{
    simt_place place;
    size_t dynamic = (size_t)(simt_dynamic_shared - simt.shared);
    bool is_dynamic = offset >= dynamic && offset < dynamic + SIMT_MAX_SHARED;
    snprintf(place.text, sizeof place.text, "byte %zu of %s shared memory", is_dynamic ? offset - dynamic : offset,
             is_dynamic ? "dynamic" : "static");
    return place;
}

SIMT_OWN void simt_race(size_t offset, const char *earlier, int thread, int kind)
{
    uint3 a = simt.threads[thread].index, b = threadIdx;
    simt_fault(simt.current, "race on shared memory, %s: %s by thread (%u,%u,%u), %s by thread (%u,%u,%u)",
               simt_place_of(offset).text, earlier, a.x, a.y, a.z, kind & SIMT_WRITE ? "write" : "read", b.x, b.y, b.z);
}

SIMT_OWN void simt_note_read(simt_cell &cell)
{
    int warp = simt.current / SIMT_LANES, lane = simt.current % SIMT_LANES;
    if (cell.read_epoch != simt_watch.epoch) {
        cell.read_epoch = simt_watch.epoch;
        cell.read_warp = (int16_t)warp;
        cell.read_lanes = 0;
        cell.other_reader = -1;
    }
    if (cell.read_warp == warp) {
        cell.read_lanes |= 1u << lane;
        cell.read_clock[lane] = simt_watch.clock[warp][lane][lane];
    } else {
        cell.other_reader = (int16_t)simt.current;
    }
}

SIMT_OWN void simt_note_write(simt_cell &cell, int kind)
{
    int warp = simt.current / SIMT_LANES, lane = simt.current % SIMT_LANES;
    cell.write_epoch = simt_watch.epoch;
    cell.write_clock = simt_watch.clock[warp][lane][lane];
    cell.writer = (int16_t)simt.current;
    cell.write_was_atomic = kind & SIMT_ATOMIC;
    cell.read_epoch = 0;
}

/* A reader of this byte that the running thread, about to write, does not come after; -1 if there is none. */
SIMT_OWN int simt_unordered_reader(const simt_cell &cell)
{
    if (cell.read_epoch != simt_watch.epoch)
        return -1;
    for (unsigned lanes = cell.read_lanes; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes), thread = cell.read_warp * SIMT_LANES + lane;
        if (!simt_is_after(thread, cell.read_clock[lane]))
            return thread;
    }
    return cell.other_reader;
}

/* What came with a box is there for those who have waited for it. */
SIMT_OWN bool simt_has_awaited(const simt_cell &cell)
{
    const std::vector<uint32_t> &awaited = simt.threads[simt.current].awaited;
    return cell.box < awaited.size() && awaited[cell.box] >= cell.write_clock;
}

SIMT_OWN void simt_watch_byte(size_t offset, int kind)
{
    simt_cell &cell = simt_watch.cells[offset];
    if (cell.copy_epoch >= simt_watch.block_epoch)
        simt_fault(simt.current, "%s of shared memory with a copy under way, %s",
                   kind & SIMT_WRITE ? "write" : "read", simt_place_of(offset).text);
    if ((kind & SIMT_READ) && cell.write_epoch < simt_watch.block_epoch)
        simt_fault(simt.current, "shared memory read before it was written, %s", simt_place_of(offset).text);
    if (cell.writer == SIMT_SENT && cell.write_epoch >= simt_watch.block_epoch) {
        if (!simt_has_awaited(cell))
            simt_fault(simt.current, "%s of what another block sent without waiting for it, %s",
                       kind & SIMT_WRITE ? "write" : "read", simt_place_of(offset).text);
    } else if (cell.write_epoch == simt_watch.epoch && !(cell.write_was_atomic && (kind & SIMT_ATOMIC)) &&
               !simt_is_after(cell.writer, cell.write_clock))
        simt_race(offset, "write", cell.writer, kind);
    if (!(kind & SIMT_WRITE)) {
        simt_note_read(cell);
        return;
    }
    int reader = simt_unordered_reader(cell);
    if (reader >= 0)
        simt_race(offset, "read", reader, kind);
    simt_note_write(cell, kind);
}

/* The arrays that a kernel uses are those that it touches, as far as can be seen; they, and they with the launch's own
   bytes, must not be more than there are. */
SIMT_OWN void simt_watch_arrays(size_t offset)
{
    uint16_t number = simt_watch.array_at[offset];
    if (number == 0 || simt_arrays[number - 1u].launch == simt_watch.launch)
        return;
    simt_arrays[number - 1u].launch = simt_watch.launch;
    simt_watch.static_bytes += simt_arrays[number - 1u].bytes;
    if (simt_watch.static_bytes > SIMT_DEFAULT_SHARED)
        simt_fault(simt.current, "%zu bytes of static shared memory in one kernel", simt_watch.static_bytes);
    if (simt_watch.static_bytes + simt.shared_bytes > simt.shared_limit)
        simt_fault(simt.current, "%zu bytes of static shared memory with %zu of dynamic, more than %zu together",
                   simt_watch.static_bytes, simt.shared_bytes, simt.shared_limit);
}

/* An asynchronous copy to there begins, or has arrived. */
SIMT_OWN void simt_watch_copy(const void *to, size_t bytes, bool begins)
{
    size_t offset = (uintptr_t)to - (uintptr_t)simt.shared;
    for (size_t i = 0; i < bytes; i++)
        simt_watch.cells[offset + i].copy_epoch = begins ? simt_watch.epoch : 0;
}

/* 16 bytes are on their way to that place of a block of the cluster, or have come with this box. */
SIMT_OWN void simt_watch_message(simt_watch_block_state *block, size_t offset, bool begins, size_t box, uint32_t full)
{
    for (size_t i = 0; i < 16; i++) {
        simt_cell &cell = block->cells[offset + i];
        cell.copy_epoch = begins ? simt_watch.last_epoch : 0;
        cell.writer = SIMT_SENT;
        cell.write_epoch = simt_watch.last_epoch;
        cell.write_clock = full;
        cell.box = (uint16_t)box;
        cell.write_was_atomic = false;
        cell.read_epoch = 0;
    }
}

/* ---- global memory */

SIMT_OWN void simt_global_race(const char *earlier, int thread, int kind)
{
    uint3 a = simt.threads[thread < 0 ? 0 : thread].index;
    char who[64];
    if (thread < 0)
        snprintf(who, sizeof who, "another block");
    else
        snprintf(who, sizeof who, "thread (%u,%u,%u)", a.x, a.y, a.z);
    simt_fault(simt.current, "race on global memory: %s by %s, %s by thread (%u,%u,%u)", earlier, who,
               kind & SIMT_WRITE ? "write" : "read", threadIdx.x, threadIdx.y, threadIdx.z);
}

/* Who reads, as far as it matters to who writes later: a block, or a cluster of blocks, which messages order that this
   does not follow. */
SIMT_OWN uint32_t simt_watch_reader(void)
{
    uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    return simt.cluster_size > 1 ? block / (uint32_t)simt.cluster_size : simt_watch.block;
}

SIMT_OWN void simt_note_word_read(simt_word_cell &cell, uint32_t clock, bool is_atomic)
{
    if (cell.first_read < simt_watch.launch_epoch)
        cell.first_read = simt_watch.epoch, cell.reads_were_atomic = true, cell.other_block_read = false,
        cell.read_block = simt_watch_reader();
    cell.other_block_read |= cell.read_block != simt_watch_reader();
    if (cell.read_epoch != simt_watch.epoch)
        cell.read_epoch = simt_watch.epoch, cell.reader[0] = (int16_t)simt.current, cell.read_clock[0] = clock;
    cell.reader[1] = (int16_t)simt.current, cell.read_clock[1] = clock;
    cell.reads_were_atomic &= is_atomic;
}

SIMT_OWN void simt_watch_word(simt_word_cell &cell, int kind)
{
    bool is_atomic = kind & SIMT_ATOMIC;
    uint32_t clock = simt_watch.clock[simt.current / SIMT_LANES][simt_lane_id()][simt_lane_id()];
    if (cell.write_epoch >= simt_watch.launch_epoch && !(cell.write_was_atomic && is_atomic)) {
        if (cell.write_block != simt_watch.block)
            simt_global_race("write", -1, kind);
        if (cell.write_epoch == simt_watch.epoch && !simt_is_after(cell.writer, cell.write_clock))
            simt_global_race("write", cell.writer, kind);
    }
    if (!(kind & SIMT_WRITE)) {
        simt_note_word_read(cell, clock, is_atomic);
        return;
    }
    if (cell.first_read >= simt_watch.launch_epoch && !(cell.reads_were_atomic && is_atomic)) {
        if (cell.read_block != simt_watch_reader() || cell.other_block_read)
            simt_global_race("read", -1, kind);
        for (int i = 0; i < 2 && cell.read_epoch == simt_watch.epoch; i++)
            if (!simt_is_after(cell.reader[i], cell.read_clock[i]))
                simt_global_race("read", cell.reader[i], kind);
    }
    cell.write_epoch = simt_watch.epoch;
    cell.write_block = simt_watch.block;
    cell.write_clock = clock;
    cell.writer = (int16_t)simt.current;
    cell.write_was_atomic = is_atomic;
    cell.first_read = cell.read_epoch = 0;
}

/* Less than four bytes are not watched, as neighbours in one word may well be two threads'. */
SIMT_OWN void simt_watch_global(size_t offset, size_t bytes, int kind)
{
    size_t first = offset / SIMT_PAGE, last = (offset + bytes - 1) / SIMT_PAGE;
    if (offset % SIMT_PAGE >= simt_global.bytes_in_page[first] ||
        (offset + bytes - 1) % SIMT_PAGE >= simt_global.bytes_in_page[last])
        simt_fault(simt.current, "%s of global memory that cudaMalloc has not given",
                   kind & SIMT_WRITE ? "write" : "read");
    for (size_t word = offset / 4; word < (offset + bytes) / 4; word++) {
        if (simt.is_early && !simt.threads[simt.current].has_waited &&
            (kind & SIMT_WRITE || simt_watch.words[word].write_epoch >= simt_watch.settled_epoch))
            simt_fault(simt.current, "%s of global memory before simt_grid_wait in a launch that began early",
                       kind & SIMT_WRITE ? "write" : "read");
        simt_watch_word(simt_watch.words[word], kind);
    }
}

/* ---- all memory */

/* What is written to another block's shared memory, by simt_cluster_map, is there for that block's reads. */
SIMT_OWN void simt_watch_mapped(const volatile void *address, size_t bytes)
{
    for (int rank = 0; rank < simt.cluster_size; rank++) {
        size_t offset = (uintptr_t)address - (uintptr_t)simt.blocks[rank]->image;
        simt_watch_block_state *block = simt.blocks[rank]->watch;
        for (size_t i = 0; rank != simt.rank && offset < simt.shared_range && i < bytes; i++)
            block->cells[offset + i].write_epoch = block->block_epoch, block->cells[offset + i].writer = 0;
    }
}

/* An access of the program. Those to a thread's own stack, nearly all, go no further than the first lines. */
SIMT_OWN void simt_watch_access(const volatile void *address, size_t bytes, int kind)
{
    size_t offset = (uintptr_t)address - (uintptr_t)simt.shared;
    size_t global = (uintptr_t)address - (uintptr_t)simt_global.bottom;
    if (simt.current < 0)
        return;
    if (global < SIMT_ARENA_BYTES && simt_global.bottom)
        simt_watch_global(global, bytes, kind);
    if (offset >= simt.shared_range) {
        if (simt.cluster_size > 1 && (kind & SIMT_WRITE))
            simt_watch_mapped(address, bytes);
        return;
    }
    size_t in_dynamic = (uintptr_t)address - (uintptr_t)simt_dynamic_shared;
    if (in_dynamic < SIMT_MAX_SHARED && in_dynamic + bytes > simt.shared_bytes)
        simt_fault(simt.current, "access to %s, of which the launch asked for %zu", simt_place_of(offset).text,
                   simt.shared_bytes);
    simt_watch_arrays(offset);
    for (size_t i = 0; i < bytes; i++)
        simt_watch_byte(offset + i, kind);
}

#else

SIMT_OWN simt_watch_block_state *simt_watch_new_block(void) { return nullptr; }
SIMT_OWN void simt_watch_leave(simt_watch_block_state *) {}
SIMT_OWN void simt_watch_enter(simt_watch_block_state *) {}
SIMT_OWN void simt_watch_message(simt_watch_block_state *, size_t, bool, size_t, uint32_t) {}
SIMT_OWN void simt_watch_barrier(void) {}
SIMT_OWN void simt_watch_launch(void) {}
SIMT_OWN void simt_watch_block(void) {}
SIMT_OWN void simt_watch_copy(const void *, size_t, bool) {}
SIMT_OWN void simt_watch_syncwarp(int, unsigned) {}
SIMT_OWN void simt_watch_access(const volatile void *, size_t, int) {}

#endif

/* ---- collectives: lanes of a warp ------------------------------------------------------------------------------ */

/* A mask has to name its caller, and only lanes that can still arrive. */
SIMT_OWN void simt_check_mask(simt_operation operation, unsigned mask)
{
    const simt_warp &warp = simt_this_warp();
    const char *name = simt_operation_name(operation);
    if (!(mask >> simt_lane_id() & 1))
        simt_fault(simt.current, "%s by lane %u, which is not in its own mask 0x%08x", name, simt_lane_id(), mask);
    if (mask & ~warp.lanes)
        simt_fault(simt.current, "%s with mask 0x%08x, which names lane %d beyond the block", name, mask,
                   simt_first_lane(mask & ~warp.lanes));
    if (mask & warp.exited)
        simt_fault(simt.current, "%s with mask 0x%08x, which names lane %d, which has exited", name, mask,
                   simt_first_lane(mask & warp.exited));
}

/* Do all lanes of the mask wait at this very operation? */
SIMT_OWN bool simt_all_agree(const simt_warp &warp, simt_operation operation, unsigned mask)
{
    if (mask & ~warp.waiting)
        return false;
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes);
        if (warp.operation[lane] != operation || warp.mask[lane] != mask)
            return false;
    }
    return true;
}

SIMT_OWN unsigned simt_lanes_that_vote(const simt_warp &warp, unsigned mask)
{
    unsigned votes = 0;
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes);
        votes |= (unsigned)(warp.value[lane] != 0) << lane;
    }
    return votes;
}

/* All have arrived: work out what each takes away, and let them go. */
SIMT_OWN void simt_exchange(simt_warp &warp, simt_operation operation, unsigned mask)
{
    if (operation <= SIMT_SHUFFLE_XOR_8) {
        for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
            int lane = simt_first_lane(lanes);
            warp.result[lane] = warp.value[warp.source[lane]];
        }
    } else if (operation == SIMT_SYNCWARP) {
        simt_watch_syncwarp(simt.current / SIMT_LANES, mask);
    } else {
        unsigned votes = simt_lanes_that_vote(warp, mask);
        uint64_t result = operation == SIMT_BALLOT ? votes : operation == SIMT_ANY ? votes != 0 : votes == mask;
        for (unsigned lanes = mask; lanes; lanes &= lanes - 1)
            warp.result[simt_first_lane(lanes)] = result;
    }
    warp.waiting &= ~mask;
    warp.ready |= mask;
}

/* On the host there is nobody to meet. */
SIMT_OWN void simt_require_kernel(simt_operation operation)
{
    if (simt.current >= 0)
        return;
    fprintf(stderr, "simt: %s outside a kernel\n",
            operation == SIMT_NOTHING ? "a device function" : simt_operation_name(operation));
    exit(SIMT_EXIT_STATUS);
}

SIMT_OWN uint64_t simt_meet(simt_operation operation, unsigned mask, uint64_t value, int source)
{
    simt_warp &warp = simt_this_warp();
    unsigned lane = simt_lane_id();
    warp.operation[lane] = operation;
    warp.mask[lane] = mask;
    warp.value[lane] = value;
    warp.source[lane] = source;
    warp.waiting |= 1u << lane;
    if (simt_all_agree(warp, operation, mask))
        simt_exchange(warp, operation, mask);
    simt_suspend();
    return warp.result[lane];
}

SIMT_OWN uint64_t simt_vote(simt_operation operation, unsigned mask, uint64_t value)
{
    simt_require_kernel(operation);
    simt_check_mask(operation, mask);
    return simt_meet(operation, mask, value, 0);
}

/* Which lane a shuffle reads: a group of width lanes begins at first; who would reach past it reads itself. As in the
   hardware, only the low five bits of the argument count. */
SIMT_OWN int simt_shuffle_source(int kind, int lane, int argument, int width)
{
    int first = lane & -width, last = first + width - 1;
    argument &= SIMT_LANES - 1;
    switch (kind) {
    case SIMT_SHUFFLE_UP:
        return lane - argument >= first ? lane - argument : lane;
    case SIMT_SHUFFLE_DOWN:
        return lane + argument <= last ? lane + argument : lane;
    case SIMT_SHUFFLE_XOR:
        return (lane ^ argument) <= last ? lane ^ argument : lane;
    default:
        return first + (argument & (width - 1));
    }
}

SIMT_OWN uint64_t simt_shuffle(int kind, bool is_8_bytes, unsigned mask, uint64_t value, int argument, int width)
{
    simt_operation operation = (simt_operation)(is_8_bytes ? kind + SIMT_SHUFFLE_8 - SIMT_SHUFFLE : kind);
    simt_require_kernel(operation);
    if (width < 1 || width > SIMT_LANES || (width & (width - 1)))
        simt_fault(simt.current, "shuffle of width %d, which is not a power of two from 1 to 32", width);
    simt_check_mask(operation, mask);
    int source = simt_shuffle_source(kind, (int)simt_lane_id(), argument, width);
    const simt_warp &warp = simt_this_warp();
    if (!(warp.lanes >> source & 1))
        simt_fault(simt.current, "shuffle reads lane %d, which is beyond the block", source);
    if (!(mask >> source & 1))
        simt_fault(simt.current, "shuffle reads lane %d, which is outside mask 0x%08x%s", source, mask,
                   warp.exited >> source & 1 ? " and has exited" : "");
    return simt_meet(operation, mask, value, source);
}

#define SIMT_SHUFFLES_OF(type)                                                                                  \
    SIMT_SHUFFLE_OF(type, __shfl_sync, SIMT_SHUFFLE, int)                                                       \
    SIMT_SHUFFLE_OF(type, __shfl_up_sync, SIMT_SHUFFLE_UP, unsigned)                                            \
    SIMT_SHUFFLE_OF(type, __shfl_down_sync, SIMT_SHUFFLE_DOWN, unsigned)                                        \
    SIMT_SHUFFLE_OF(type, __shfl_xor_sync, SIMT_SHUFFLE_XOR, int)
#define SIMT_SHUFFLE_OF(type, name, kind, argument_type)                                                        \
    SIMT_OWN type name(unsigned mask, type value, argument_type argument, int width = SIMT_LANES)               \
    {                                                                                                           \
        uint64_t bits = 0;                                                                                      \
        memcpy(&bits, &value, sizeof value);                                                                    \
        bits = simt_shuffle(kind, sizeof value == 8, mask, bits, (int)argument, width);                         \
        memcpy(&value, &bits, sizeof value);                                                                    \
        return value;                                                                                           \
    }
SIMT_SHUFFLES_OF(int)
SIMT_SHUFFLES_OF(unsigned)
SIMT_SHUFFLES_OF(long)
SIMT_SHUFFLES_OF(unsigned long)
SIMT_SHUFFLES_OF(long long)
SIMT_SHUFFLES_OF(unsigned long long)
SIMT_SHUFFLES_OF(float)
SIMT_SHUFFLES_OF(double)

SIMT_OWN int __any_sync(unsigned mask, int predicate) { return (int)simt_vote(SIMT_ANY, mask, predicate != 0); }
SIMT_OWN int __all_sync(unsigned mask, int predicate) { return (int)simt_vote(SIMT_ALL, mask, predicate != 0); }
SIMT_OWN unsigned __ballot_sync(unsigned mask, int predicate)
{
    return (unsigned)simt_vote(SIMT_BALLOT, mask, predicate != 0);
}
SIMT_OWN void __syncwarp(unsigned mask = 0xffffffffu) { simt_vote(SIMT_SYNCWARP, mask, 0); }

/* ---- collectives: the whole block ------------------------------------------------------------------------------ */

SIMT_OWN int simt_warp_count(void) { return (simt.thread_count + SIMT_LANES - 1) / SIMT_LANES; }

SIMT_OWN uint64_t simt_barrier_result(simt_operation operation)
{
    uint64_t votes = 0;
    for (int thread = 0; thread < simt.thread_count; thread++)
        votes += simt.warps[thread / SIMT_LANES].value[thread % SIMT_LANES];
    switch (operation) {
    case SIMT_BARRIER_AND:
        return votes == (uint64_t)simt.thread_count;
    case SIMT_BARRIER_OR:
        return votes != 0;
    default:
        return votes;
    }
}

/* The lanes of a warp that wait at this barrier. */
SIMT_OWN unsigned simt_lanes_at(const simt_warp &warp, int id)
{
    unsigned at = 0;
    for (unsigned lanes = warp.waiting; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes);
        at |= (unsigned)(warp.operation[lane] >= SIMT_BARRIER && warp.barrier[lane] == id) << lane;
    }
    return at;
}

/* The warps all of whose lanes wait at this barrier: only then a warp has arrived. */
SIMT_OWN uint32_t simt_warps_at(int id)
{
    uint32_t at = 0;
    for (int w = 0; w < simt_warp_count(); w++)
        at |= (uint32_t)(simt_lanes_at(simt.warps[w], id) == simt.warps[w].lanes) << w;
    return at;
}

SIMT_OWN void simt_open_barrier(int id, uint32_t members)
{
    simt_meeting &barrier = simt.barriers[id];
    uint64_t result = barrier.operation == SIMT_BARRIER_NAMED ? 0 : simt_barrier_result(barrier.operation);
    for (int w = 0; w < simt_warp_count(); w++) {
        simt_warp &warp = simt.warps[w];
        if (!(members >> w & 1))
            continue;
        for (uint64_t &taken : warp.result)
            taken = result;
        warp.waiting = 0;
        warp.ready = warp.lanes;
        barrier.arrived -= __builtin_popcount(warp.lanes);
    }
    barrier.members = members;
    simt_watch_barrier();
}

/* The first to arrive decides for how many threads the barrier is, and with which of the four kinds of vote. */
SIMT_OWN int simt_meet_block(simt_operation operation, int id, int count, bool vote)
{
    simt_meeting &barrier = simt.barriers[id];
    simt_warp &warp = simt_this_warp();
    unsigned lane = simt_lane_id();
    uint32_t mine = 1u << simt.current / SIMT_LANES;
    if (barrier.arrived == 0)
        barrier.operation = operation, barrier.count = count;
    if (barrier.operation != operation)
        simt_fault(simt.current, "threads meet with different operations: %s and %s",
                   simt_operation_name(barrier.operation), simt_operation_name(operation));
    if (barrier.count != count)
        simt_fault(simt.current, "threads meet at barrier %d with different counts: %d and %d", id, barrier.count,
                   count);
    if (barrier.members && !(barrier.members & mine))
        simt_fault(simt.current, "barrier %d of %d threads is met by others than before", id, count);
    warp.operation[lane] = operation;
    warp.mask[lane] = 0;
    warp.barrier[lane] = (unsigned char)id;
    warp.value[lane] = vote;
    warp.waiting |= 1u << lane;
    barrier.arrived++;
    if (simt_lanes_at(warp, id) == warp.lanes) {
        uint32_t members = simt_warps_at(id);
        if (__builtin_popcount(members) * SIMT_LANES == count)
            simt_open_barrier(id, members);
    }
    simt_suspend();
    return (int)warp.result[lane];
}

SIMT_OWN int simt_meet_all(simt_operation operation, bool vote)
{
    simt_require_kernel(operation);
    return simt_meet_block(operation, 0, simt_warp_count() * SIMT_LANES, vote);
}

SIMT_OWN void __syncthreads(void) { simt_meet_all(SIMT_BARRIER, false); }
SIMT_OWN int __syncthreads_and(int predicate) { return simt_meet_all(SIMT_BARRIER_AND, predicate != 0); }
SIMT_OWN int __syncthreads_or(int predicate) { return simt_meet_all(SIMT_BARRIER_OR, predicate != 0); }
SIMT_OWN int __syncthreads_count(int predicate) { return simt_meet_all(SIMT_BARRIER_COUNT, predicate != 0); }

/* barrier.sync id, count: a meeting of whole warps, count threads together, wherever in the text each of them is. */
SIMT_OWN void simt_barrier(int id, int count)
{
    simt_require_kernel(SIMT_BARRIER_NAMED);
    if (id < 0 || id >= SIMT_BARRIERS)
        simt_fault(simt.current, "barrier %d, of %d", id, (int)SIMT_BARRIERS);
    if (count < SIMT_LANES || count % SIMT_LANES || count > simt_warp_count() * SIMT_LANES)
        simt_fault(simt.current, "barrier %d of %d threads, which are no warps of a block of %d", id, count,
                   simt.thread_count);
    simt_meet_block(id == 0 && count == simt_warp_count() * SIMT_LANES ? SIMT_BARRIER : SIMT_BARRIER_NAMED, id, count,
                    false);
}

/* Threads take turns, so memory is always up to date. A fence orders no access of another thread. */
SIMT_OWN void __threadfence(void) {}
SIMT_OWN void __threadfence_block(void) {}

/* ---- asynchronous copies, early launches ----------------------------------------------------------------------- */

SIMT_OWN bool simt_is_shared(const void *address)
{
    return (uintptr_t)address - (uintptr_t)simt.shared < simt.shared_range;
}

/* cp.async. The memory that is read is looked at here as well, so that the address sanitizer names the right line; what
   is there now must not matter to anyone, so it goes. */
SIMT_OWN void simt_copy_async(void *to, const void *from, int bytes)
{
    char seen[16];
    simt_require_kernel(SIMT_NOTHING);
    if (bytes != 4 && bytes != 8 && bytes != 16)
        simt_fault(simt.current, "asynchronous copy of %d bytes", bytes);
    if (((uintptr_t)to | (uintptr_t)from) % (unsigned)bytes)
        simt_fault(simt.current, "asynchronous copy of %d bytes to or from an address that is not aligned to as many",
                   bytes);
    if (!simt_is_shared(to) || simt_is_shared(from))
        simt_fault(simt.current, "asynchronous copy that is not from global to shared memory");
    simt_watch_access(from, (size_t)bytes, SIMT_READ);
    simt_watch_access(to, (size_t)bytes, SIMT_WRITE);
    simt_watch_copy(to, (size_t)bytes, true);
    memcpy(seen, from, (size_t)bytes);
    __asm__ volatile("" : : "r"(seen) : "memory");
    memset(to, SIMT_POISON, (size_t)bytes);
    simt_thread &thread = simt.threads[simt.current];
    thread.copies.push_back(simt_copy{to, from, bytes, thread.commits});
}

/* cp.async.commit_group */
SIMT_OWN void simt_copy_commit(void)
{
    simt_require_kernel(SIMT_NOTHING);
    simt.threads[simt.current].commits++;
}

/* cp.async.wait_group n: the copies of all groups but the last n are there now, and what they read was read now. A copy
   that was not committed belongs to no group. */
SIMT_OWN void simt_copy_await(int n)
{
    simt_require_kernel(SIMT_NOTHING);
    simt_thread &thread = simt.threads[simt.current];
    size_t left = 0;
    for (const simt_copy &copy : thread.copies) {
        if (copy.group >= thread.commits - n) {
            thread.copies[left++] = copy;
            continue;
        }
        memcpy(copy.to, copy.from, (size_t)copy.bytes);
        simt_watch_copy(copy.to, (size_t)copy.bytes, false);
        simt_watch_access(copy.to, (size_t)copy.bytes, SIMT_WRITE);
    }
    thread.copies.resize(left);
}

/* griddepcontrol.wait, and griddepcontrol.launch_dependents. Launches run one after another, so what is left is to see
   that nobody needs that: the watch looks at what is touched before the wait. */
SIMT_OWN void simt_grid_wait(void)
{
    simt_require_kernel(SIMT_NOTHING);
    simt.threads[simt.current].has_waited = true;
}
SIMT_OWN void simt_grid_launch_dependents(void) { simt_require_kernel(SIMT_NOTHING); }

/* ---- clusters -------------------------------------------------------------------------------------------------- */

/* A loop over volatile words, as the address sanitizer must not see what lies between the arrays. */
__attribute__((no_sanitize("address", "thread"))) inline void simt_copy_bytes(unsigned char *to,
                                                                              const unsigned char *from, size_t bytes)
{
    size_t i = 0;
    for (; i < bytes && (uintptr_t)(to + i) % 8; i++)
        ((volatile unsigned char *)to)[i] = from[i];
    for (; i + 8 <= bytes; i += 8) {
        uint64_t word;
        __builtin_memcpy(&word, from + i, 8);
        *(volatile uint64_t *)(to + i) = word;
    }
    for (; i < bytes; i++)
        ((volatile unsigned char *)to)[i] = from[i];
}

SIMT_OWN void simt_swap_image(unsigned char *image, bool leaves)
{
    size_t dynamic = (size_t)(simt_dynamic_shared - simt.shared);
    const size_t from[2] = {0, dynamic + SIMT_MAX_SHARED}, end[2] = {dynamic + simt.shared_bytes, simt.shared_range};
    for (int i = 0; i < 2; i++) {
        if (leaves)
            simt_copy_bytes(image + from[i], simt.shared + from[i], end[i] - from[i]);
        else
            simt_copy_bytes(simt.shared + from[i], image + from[i], end[i] - from[i]);
    }
}

/* Now the block of that rank runs. */
SIMT_OWN void simt_enter_block(int rank)
{
    if (rank == simt.rank && simt.threads)
        return;
    if (simt.threads && simt.cluster_size > 1) {
        simt_swap_image(simt_this_block().image, true);
        simt_watch_leave(simt_this_block().watch);
    }
    simt.rank = rank;
    if (!simt.blocks[rank]) {
        simt.blocks[rank] = new simt_block();
        simt.blocks[rank]->image = (unsigned char *)malloc(simt.shared_range);
        simt.blocks[rank]->watch = simt_watch_new_block();
        simt_guard_stacks();
    }
    simt_block &block = simt_this_block();
    if (simt.cluster_size > 1)
        simt_swap_image(block.image, false);
    simt.threads = block.threads;
    simt.warps = block.warps;
    simt.barriers = block.barriers;
    blockIdx = block.index;
    simt_watch_enter(block.watch);
}

SIMT_OWN int simt_cluster_rank(void)
{
    simt_require_kernel(SIMT_NOTHING);
    return simt.rank;
}
SIMT_OWN int simt_cluster_size(void)
{
    simt_require_kernel(SIMT_NOTHING);
    return simt.cluster_size;
}

/* The same place in the shared memory of another block, which does not run as long as this one does. */
SIMT_OWN void *simt_cluster_map(void *place, int rank)
{
    simt_require_kernel(SIMT_NOTHING);
    if (rank < 0 || rank >= simt.cluster_size)
        simt_fault(simt.current, "shared memory of block %d of a cluster of %d", rank, simt.cluster_size);
    if (!simt_is_shared(place))
        simt_fault(simt.current, "what is mapped to another block is not shared memory");
    if (rank == simt.rank)
        return place;
    if (simt.threads[simt.current].cluster_syncs == 0)
        simt_fault(simt.current, "shared memory of block %d of the cluster before a barrier of the cluster", rank);
    if (simt.blocks[rank]->live == 0)
        simt_fault(simt.current, "shared memory of block %d of the cluster, which has ended", rank);
    return simt.blocks[rank]->image + ((uintptr_t)place - (uintptr_t)simt.shared);
}

SIMT_OWN void simt_release(simt_warp &warp, unsigned lanes)
{
    warp.waiting &= ~lanes;
    warp.ready |= lanes;
}

/* All threads of the cluster that have not exited wait at its barrier, as CUDA has it. */
SIMT_OWN void simt_open_cluster_barrier(void)
{
    int live = 0, rank = simt.rank;
    for (int r = 0; r < simt.cluster_size; r++)
        live += simt.blocks[r]->live;
    if (live == 0 || simt.cluster_syncing < live)
        return;
    simt.cluster_syncing = 0;
    for (int r = 0; r < simt.cluster_size; r++) {
        for (int w = 0; w < (simt.thread_count + SIMT_LANES - 1) / SIMT_LANES; w++) {
            simt_warp &warp = simt.blocks[r]->warps[w];
            for (unsigned lanes = warp.waiting; lanes; lanes &= lanes - 1) {
                int lane = simt_first_lane(lanes);
                simt.blocks[r]->threads[w * SIMT_LANES + lane].cluster_syncs++;
                simt_release(warp, 1u << lane);
            }
        }
        simt_watch_leave(simt.blocks[simt.rank]->watch);
        simt.rank = r;
        simt_watch_enter(simt.blocks[r]->watch);
        simt_watch_barrier();
    }
    simt_watch_leave(simt.blocks[simt.rank]->watch);
    simt.rank = rank;
    simt_watch_enter(simt.blocks[rank]->watch);
}

/* The running thread waits at something that has no lanes to name. */
SIMT_OWN void simt_wait_at(simt_operation operation)
{
    simt_warp &warp = simt_this_warp();
    unsigned lane = simt_lane_id();
    warp.operation[lane] = operation;
    warp.mask[lane] = 0;
    warp.waiting |= 1u << lane;
}

SIMT_OWN void simt_cluster_sync(void)
{
    simt_require_kernel(SIMT_CLUSTER_SYNC);
    simt_wait_at(SIMT_CLUSTER_SYNC);
    simt.cluster_syncing++;
    simt_open_cluster_barrier();
    simt_suspend();
}

/* A block's box that is at this place of shared memory; null if it is none. */
SIMT_OWN simt_box *simt_box_at(int rank, const void *place)
{
    for (simt_box &box : simt.blocks[rank]->boxes)
        if (box.offset == (uintptr_t)place - (uintptr_t)simt.shared)
            return &box;
    return nullptr;
}

SIMT_OWN void simt_cluster_open(unsigned long long *place)
{
    simt_require_kernel(SIMT_NOTHING);
    if (!simt_is_shared(place))
        simt_fault(simt.current, "a box that is not in shared memory");
    if (simt_box_at(simt.rank, place))
        simt_fault(simt.current, "a box that has been opened before");
    simt_watch_access(place, 8, SIMT_WRITE);
    simt_box box = {};
    box.offset = (uintptr_t)place - (uintptr_t)simt.shared;
    box.opened = simt.threads[simt.current].cluster_syncs;
    simt_this_block().boxes.push_back(box);
}

/* Is the box full? Then what was sent comes, and those go on who wait for it; the others look again. */
SIMT_OWN void simt_fill_box(int rank, simt_box &box)
{
    if (!box.is_expecting || box.came < box.expected)
        return;
    if (box.came > box.expected)
        simt_fault(simt.current, "a box of block %d in its cluster gets %d bytes and expects %d", rank, box.came,
                   box.expected);
    simt_block &block = *simt.blocks[rank];
    box.full++;
    box.is_expecting = false;
    box.came = 0;
    for (const simt_message &message : box.messages) {
        simt_copy_bytes((rank == simt.rank ? simt.shared : block.image) + message.to, message.bytes, 16);
        simt_watch_message(block.watch, message.to, false, (size_t)(&box - block.boxes.data()), box.full);
    }
    box.messages.clear();
    for (int w = 0; w < simt_warp_count(); w++)
        for (unsigned lanes = block.warps[w].waiting; lanes; lanes &= lanes - 1)
            if (block.warps[w].operation[simt_first_lane(lanes)] == SIMT_BOX)
                simt_release(block.warps[w], lanes & -lanes);
}

SIMT_OWN void simt_cluster_expect(unsigned long long *place, int bytes)
{
    simt_require_kernel(SIMT_NOTHING);
    simt_box *box = simt_box_at(simt.rank, place);
    if (!box)
        simt_fault(simt.current, "a box that was not opened expects something");
    if (box->is_expecting)
        simt_fault(simt.current, "a box expects the next bytes before it is full");
    if (bytes < 16 || bytes >= 1 << 20 || bytes % 16)
        simt_fault(simt.current, "a box expects %d bytes", bytes);
    box->is_expecting = true;
    box->expected = bytes;
    simt_fill_box(simt.rank, *box);
}

SIMT_OWN void simt_cluster_send(void *to, int rank, unsigned long long *place, const void *bytes)
{
    simt_require_kernel(SIMT_NOTHING);
    if (rank < 0 || rank >= simt.cluster_size)
        simt_fault(simt.current, "something sent to block %d of a cluster of %d", rank, simt.cluster_size);
    simt_block &block = *simt.blocks[rank];
    simt_box *box = simt_box_at(rank, place);
    if (!simt_is_shared(to) || (uintptr_t)to % 16)
        simt_fault(simt.current, "something sent to what is not 16 bytes of shared memory, aligned to as many");
    if (block.live == 0)
        simt_fault(simt.current, "something sent to block %d of the cluster, which has ended", rank);
    if (!box)
        simt_fault(simt.current, "something sent to block %d of the cluster for a box that is not open", rank);
    if (simt.threads[simt.current].cluster_syncs <= box->opened)
        simt_fault(simt.current, "something sent to block %d of the cluster with no barrier since its box was opened",
                   rank);
    simt_message message;
    message.to = (uintptr_t)to - (uintptr_t)simt.shared;
    memcpy(message.bytes, bytes, 16);
    unsigned char poison[16];
    memset(poison, SIMT_POISON, 16);
    simt_copy_bytes((rank == simt.rank ? simt.shared : block.image) + message.to, poison, 16);
    simt_watch_message(block.watch, message.to, true, 0, 0);
    box->messages.push_back(message);
    box->came += 16;
    simt_fill_box(rank, *box);
}

/* As try_wait.parity: a box that was never full has been full for an even time. */
SIMT_OWN void simt_cluster_await(unsigned long long *place, int odd)
{
    simt_require_kernel(SIMT_BOX);
    simt_box *box = simt_box_at(simt.rank, place);
    if (!box)
        simt_fault(simt.current, "waiting for a box that was not opened");
    if (odd != 0 && odd != 1)
        simt_fault(simt.current, "waiting for a box to be full an even or odd time, which %d is neither", odd);
    while ((int)(box->full & 1) == odd) {
        simt_wait_at(SIMT_BOX);
        simt_suspend();
        box = simt_box_at(simt.rank, place);
    }
    size_t number = (size_t)(box - simt_this_block().boxes.data());
    std::vector<uint32_t> &awaited = simt.threads[simt.current].awaited;
    if (awaited.size() <= number)
        awaited.resize(number + 1);
    awaited[number] = box->full;
}

/* A thread exits: those at the cluster's barrier may have waited for it alone, and nothing may come for a block that
   has ended. */
SIMT_OWN void simt_thread_ends(void)
{
    if (simt_this_block().live == 0)
        for (simt_box &box : simt_this_block().boxes)
            if (!box.messages.empty())
                simt_fault(simt.current, "block %d of the cluster ends with %d bytes on their way to it", simt.rank,
                           box.came);
    simt_open_cluster_barrier();
}

/* ---- nobody can proceed: why? ---------------------------------------------------------------------------------- */

SIMT_OWN bool simt_is_at_barrier(const simt_warp &warp, int lane)
{
    return (warp.waiting >> lane & 1) && warp.operation[lane] >= SIMT_BARRIER;
}

/* A lane waits for one that has exited since, or for one that waits for it, at something else. */
SIMT_OWN bool simt_explain_lane(int thread)
{
    const simt_warp &warp = simt.warps[thread / SIMT_LANES];
    int lane = thread % SIMT_LANES;
    simt_operation operation = warp.operation[lane];
    const char *name = simt_operation_name(operation);
    unsigned mask = warp.mask[lane];
    if (operation == SIMT_BOX) {
        for (const simt_box &box : simt_this_block().boxes)
            if (box.is_expecting || box.came) {
                simt_fault(thread, "a box is never full: %d bytes came, %d are expected", box.came,
                           box.is_expecting ? box.expected : 0);
                return true;
            }
        simt_fault(thread, "a box is never full: nothing came, and nothing is expected");
        return true;
    }
    if (mask & warp.exited) {
        simt_fault(thread, "%s with mask 0x%08x waits for lane %d, which has exited", name, mask,
                   simt_first_lane(mask & warp.exited));
        return true;
    }
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        int other = simt_first_lane(lanes);
        if (!(warp.mask[other] >> lane & 1))
            continue;
        if (warp.operation[other] != operation) {
            simt_fault(thread, "lanes meet with different operations: lane %d at %s, lane %d at %s", lane, name, other,
                       simt_operation_name(warp.operation[other]));
            return true;
        }
        if (warp.mask[other] != mask) {
            simt_fault(thread, "lanes meet at %s with different masks: lane %d with 0x%08x, lane %d with 0x%08x", name,
                       lane, mask, other, warp.mask[other]);
            return true;
        }
    }
    return false;
}

SIMT_OWN int simt_barrier_of(int thread) { return simt.warps[thread / SIMT_LANES].barrier[thread % SIMT_LANES]; }

/* One thread waits at the barrier, and this other one does not, or waits too, where more are wanted. */
SIMT_OWN void simt_explain_barrier(int waiting, int missing)
{
    const simt_warp &warp = simt.warps[missing / SIMT_LANES];
    int lane = missing % SIMT_LANES;
    uint3 index = simt.threads[missing].index;
    bool has_exited = warp.exited >> lane & 1;
    const simt_meeting &barrier = simt.barriers[simt_barrier_of(waiting)];
    int expected = barrier.count < simt.thread_count ? barrier.count : simt.thread_count;
    simt_fault(waiting, "barrier not reached by all: %d of %d threads wait at %s, thread (%u,%u,%u) %s%s",
               barrier.arrived, expected, simt_operation_name(barrier.operation), index.x, index.y, index.z,
               has_exited ? "has exited" : "waits at ",
               has_exited ? "" : simt_operation_name(warp.operation[lane]));
}

/* No two lanes contradict each other: each waits for a lane that waits for yet another one. */
SIMT_OWN void simt_explain_deadlock(int thread)
{
    const simt_warp &warp = simt.warps[thread / SIMT_LANES];
    int lane = thread % SIMT_LANES, other = lane;
    for (unsigned lanes = warp.mask[lane]; lanes; lanes &= lanes - 1)
        if (warp.mask[simt_first_lane(lanes)] != warp.mask[lane])
            other = simt_first_lane(lanes);
    simt_fault(thread, "deadlock: lane %d waits at %s with mask 0x%08x, lane %d waits at %s with mask 0x%08x", lane,
               simt_operation_name(warp.operation[lane]), warp.mask[lane], other,
               simt_operation_name(warp.operation[other]), warp.mask[other]);
}

/* A thread waits at the cluster's barrier, which all of its threads would have opened. */
SIMT_OWN bool simt_explain_cluster_sync(int thread)
{
    if (simt.warps[thread / SIMT_LANES].operation[thread % SIMT_LANES] != SIMT_CLUSTER_SYNC)
        return false;
    simt_fault(thread, "barrier of the cluster not reached by all");
    return true;
}

SIMT_OWN void simt_explain_block(void)
{
    int at_barrier = -1, at_another = -1, elsewhere = -1, in_warp = -1;
    for (int thread = 0; thread < simt.thread_count; thread++) {
        const simt_warp &warp = simt.warps[thread / SIMT_LANES];
        bool waits = warp.waiting >> thread % SIMT_LANES & 1;
        bool is_at_barrier = simt_is_at_barrier(warp, thread % SIMT_LANES);
        if (waits && !is_at_barrier && simt_explain_lane(thread))
            return;
        if (is_at_barrier && at_barrier < 0)
            at_barrier = thread;
        else if (is_at_barrier && simt_barrier_of(thread) != simt_barrier_of(at_barrier))
            at_another = at_another < 0 ? thread : at_another;
        else if (!is_at_barrier)
            elsewhere = elsewhere < 0 ? thread : elsewhere;
        if (waits && !is_at_barrier)
            in_warp = in_warp < 0 ? thread : in_warp;
    }
    if (at_barrier >= 0)
        simt_explain_barrier(at_barrier, elsewhere >= 0 ? elsewhere : at_another >= 0 ? at_another : at_barrier);
    else if (simt_explain_cluster_sync(in_warp))
        return;
    else
        simt_explain_deadlock(in_warp);
}

/* Some block of the cluster waits at something else than the cluster's barrier, or there would be no standstill. */
SIMT_OWN void simt_explain_standstill(void)
{
    int stuck = -1;
    for (int r = 0; r < simt.cluster_size; r++)
        for (int thread = 0; thread < simt.thread_count; thread++) {
            const simt_warp &warp = simt.blocks[r]->warps[thread / SIMT_LANES];
            int lane = thread % SIMT_LANES;
            if ((warp.waiting >> lane & 1) && warp.operation[lane] != SIMT_CLUSTER_SYNC && stuck < 0)
                stuck = r;
        }
    simt_enter_block(stuck < 0 ? 0 : stuck);
    simt_explain_block();
}

/* ---- running a launch ------------------------------------------------------------------------------------------ */

/* One turn for each lane of the warp that can run. */
SIMT_OWN void simt_run_warp(int number)
{
    simt_warp &warp = simt.warps[number];
    unsigned todo = warp.ready;
    unsigned char order[SIMT_LANES];
    simt_order(order, SIMT_LANES);
    warp.ready = 0;
    for (int i = 0; i < SIMT_LANES && !simt.abandoned; i++)
        if (todo >> order[i] & 1)
            simt_resume(number * SIMT_LANES + order[i]);
}

/* In order, a warp runs until all of it waits for other warps. In random order another warp may come in between.
   Did anybody run? */
SIMT_OWN bool simt_run_block(void)
{
    unsigned char order[SIMT_MAX_WARPS];
    bool somebody_ran = false;
    while (simt_this_block().live && !simt.abandoned) {
        bool nobody_ran = true;
        simt_order(order, simt_warp_count());
        for (int i = 0; i < simt_warp_count(); i++) {
            while (simt.warps[order[i]].ready && !simt.abandoned) {
                nobody_ran = false;
                simt_run_warp(order[i]);
                if (simt.random && simt_random_below(2))
                    break;
            }
        }
        if (nobody_ran)
            break;
        somebody_ran = true;
    }
    return somebody_ran;
}

/* The blocks of a cluster, each until it can no more. */
SIMT_OWN void simt_run_cluster(void)
{
    unsigned char order[SIMT_MAX_CLUSTER];
    int live = 1;
    while (live && !simt.abandoned) {
        bool nobody_ran = true;
        simt_order(order, simt.cluster_size);
        for (int i = 0; i < simt.cluster_size && !simt.abandoned; i++) {
            simt_enter_block(order[i]);
            nobody_ran = !simt_run_block() && nobody_ran;
        }
        live = 0;
        for (int r = 0; r < simt.cluster_size; r++)
            live += simt.blocks[r]->live;
        if (live && nobody_ran && !simt.abandoned)
            simt_explain_standstill();
    }
}

/* A memset that the address sanitizer does not see, as the space that it keeps between arrays is overwritten too. */
__attribute__((no_sanitize("address", "thread"))) inline void simt_fill(unsigned char *from, unsigned char *end)
{
#ifdef __SANITIZE_ADDRESS__
    for (volatile unsigned char *byte = from; byte < end; byte++)
        *byte = SIMT_POISON;
#else
    memset(from, SIMT_POISON, (size_t)(end - from));
#endif
}

/* A block must not find what the one before it left. */
SIMT_OWN void simt_fill_shared(void)
{
    simt_fill(simt.shared, simt_dynamic_shared + simt.shared_bytes);
    simt_fill(simt_dynamic_shared + SIMT_MAX_SHARED, simt.shared + simt.shared_range);
}

SIMT_OWN void simt_prepare_block(unsigned x, unsigned y, unsigned z)
{
    blockIdx = simt_this_block().index = uint3{x, y, z};
    simt_this_block().live = simt.thread_count;
    simt_this_block().boxes.clear();
    for (simt_meeting &barrier : simt_this_block().barriers)
        barrier = simt_meeting{};
    for (int w = 0; w < simt_warp_count(); w++) {
        int lanes = simt.thread_count - w * SIMT_LANES;
        simt_warp &warp = simt.warps[w];
        warp.lanes = lanes >= SIMT_LANES ? 0xffffffffu : (1u << lanes) - 1;
        warp.ready = warp.lanes;
        warp.exited = warp.waiting = 0;
    }
    for (int thread = 0; thread < simt.thread_count; thread++) {
        simt.threads[thread].copies.clear();
        simt.threads[thread].commits = 0;
        simt.threads[thread].has_waited = false;
        simt.threads[thread].cluster_syncs = 0;
        simt.threads[thread].awaited.clear();
        /* simt_thread_main does not return, and so leaves its frame with the address sanitizer's marks. */
        simt_unpoison(simt_stack_bottom(thread) + simt_stack_bytes(thread) - 256, 256);
        simt_prepare(&simt.threads[thread].context, simt_stack_bottom(thread), simt_stack_bytes(thread),
                     simt_thread_main);
    }
    simt_fill_shared();
    simt_watch_block();
}

/* The frames on the stacks of an abandoned launch never return, and so leave the address sanitizer's marks behind. */
SIMT_OWN void simt_clean_stacks(void)
{
    for (int thread = 0; thread < simt.thread_count; thread++)
        simt_unpoison(simt_stack_bottom(thread), simt_stack_bytes(thread));
}

/* The cluster whose first block is x, y, z. */
SIMT_OWN void simt_prepare_cluster(unsigned x, unsigned y, unsigned z)
{
    simt.cluster_syncing = 0;
    for (int r = 0; r < simt.cluster_size; r++) {
        unsigned rank = (unsigned)r, thread = 0, row = rank / simt.cluster.x;
        simt_enter_block(r);
        for (unsigned k = 0; k < blockDim.z; k++)
            for (unsigned j = 0; j < blockDim.y; j++)
                for (unsigned i = 0; i < blockDim.x; i++)
                    simt.threads[thread++].index = uint3{i, j, k};
        simt_prepare_block(x + rank % simt.cluster.x, y + row % simt.cluster.y, z + row / simt.cluster.y);
    }
}

SIMT_OWN void simt_run_grid(void)
{
    for (unsigned z = 0; z < gridDim.z; z += simt.cluster.z)
        for (unsigned y = 0; y < gridDim.y; y += simt.cluster.y)
            for (unsigned x = 0; x < gridDim.x && !simt.abandoned; x += simt.cluster.x) {
                simt_prepare_cluster(x, y, z);
                simt_run_cluster();
            }
    for (int r = 0; r < simt.cluster_size && simt.abandoned; r++) {
        simt_enter_block(r);
        simt_clean_stacks();
    }
}

SIMT_OWN cudaError_t simt_set_error(cudaError_t error)
{
    if (error != cudaSuccess)
        simt.last_error = error;
    return error;
}

SIMT_OWN std::map<const void *, int> &simt_shared_limits(void)
{
    static std::map<const void *, int> limits;
    return limits;
}

/* The most threads that a kernel may have by its __launch_bounds__: so many instructions before it do nothing. */
#if defined __x86_64__ && !defined __clang__
extern "C" __attribute__((weak)) unsigned char *__start___patchable_function_entries[];
extern "C" __attribute__((weak)) unsigned char *__stop___patchable_function_entries[];

SIMT_OWN uint64_t simt_bound(const void *kernel)
{
    const unsigned char *code = (const unsigned char *)kernel;
    for (unsigned char **entry = __start___patchable_function_entries; entry < __stop___patchable_function_entries;
         entry++) {
        const unsigned char *byte = *entry;
        if (byte >= code || code - byte > SIMT_MAX_THREADS)
            continue;
        while (byte < code && *byte == 0x90)
            byte++;
        if (byte == code)
            return (uint64_t)(code - *entry);
    }
    return SIMT_MAX_THREADS;
}
#else
SIMT_OWN uint64_t simt_bound(const void *) { return SIMT_MAX_THREADS; }
#endif

SIMT_OWN cudaError_t simt_check_launch(const void *kernel, dim3 grid, dim3 cluster, dim3 block, size_t shared_bytes)
{
    uint64_t threads = (uint64_t)block.x * block.y * block.z; /* no overflow once each is known to be small */
    bool block_fits = block.x <= SIMT_MAX_THREADS && block.y <= SIMT_MAX_THREADS && block.z <= 64 && threads >= 1 &&
                      threads <= simt_bound(kernel);
    bool grid_fits = grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && grid.x <= 0x7fffffffu && grid.y <= 0xffffu &&
                     grid.z <= 0xffffu;
    auto limit = simt_shared_limits().find(kernel);
    size_t allowed = limit == simt_shared_limits().end() ? (size_t)SIMT_DEFAULT_SHARED : (size_t)limit->second;
    if (!block_fits || !grid_fits)
        return cudaErrorInvalidConfiguration;
    uint64_t blocks = (uint64_t)cluster.x * cluster.y * cluster.z;
    if (cluster.x < 1 || cluster.y < 1 || cluster.z < 1 || cluster.x > SIMT_MAX_CLUSTER ||
        cluster.y > SIMT_MAX_CLUSTER || cluster.z > SIMT_MAX_CLUSTER || blocks > SIMT_MAX_CLUSTER ||
        (blocks > 1 && simt.major < 9))
        return cudaErrorInvalidClusterSize;
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
        return cudaErrorInvalidValue;
    simt.shared_limit = limit == simt_shared_limits().end() ? (size_t)SIMT_DEFAULT_SHARED : (size_t)SIMT_MAX_SHARED;
    return shared_bytes > allowed ? cudaErrorInvalidValue : cudaSuccess;
}

/* Returns what is wrong with the launch's configuration; a fault of the kernel's is the last error alone, as on a GPU,
   where it comes later. */
SIMT_OWN cudaError_t simt_run(const void *kernel, dim3 grid, dim3 cluster, dim3 block, size_t shared_bytes,
                              bool is_early)
{
    cudaError_t error = simt_set_error(simt_check_launch(kernel, grid, cluster, block, shared_bytes));
    if (error != cudaSuccess)
        return error;
    if (!simt.stacks)
        simt_map_stacks();
    gridDim = grid;
    blockDim = block;
    simt.cluster = cluster;
    simt.cluster_size = (int)(cluster.x * cluster.y * cluster.z);
    simt.rank = 0;
    simt.threads = nullptr;
    simt.thread_count = (int)(block.x * block.y * block.z);
    simt.shared_bytes = shared_bytes;
    simt.abandoned = false;
    simt.is_early = is_early;
    simt_poison(simt_dynamic_shared + shared_bytes, SIMT_MAX_SHARED - shared_bytes);
    simt_watch_launch();
    simt_run_grid();
    simt_unpoison(simt_dynamic_shared, SIMT_MAX_SHARED);
    return cudaSuccess;
}

/* What stands between SIMT_LAUNCH(...) and its arguments, which convert as those of any call do. */
template <class... Parameters> struct simt_launcher {
    void (*kernel)(Parameters...);
    dim3 grid, cluster, block;
    size_t shared_bytes;
    bool is_early;

    SIMT_OWN cudaError_t operator()(Parameters... arguments) const
    {
        auto call = [&]() { kernel(arguments...); };
        simt.body = [](const void *data) { (*(const decltype(call) *)data)(); };
        simt.body_data = &call;
        return simt_run((const void *)kernel, grid, cluster, block, shared_bytes, is_early);
    }
};

template <class... Parameters>
SIMT_OWN simt_launcher<Parameters...> simt_launch(void (*kernel)(Parameters...), dim3 grid, dim3 cluster, dim3 block,
                                                  size_t shared_bytes, cudaStream_t, bool is_early)
{
    return simt_launcher<Parameters...>{kernel, grid, cluster, block, shared_bytes, is_early};
}
#define SIMT_LAUNCH(kernel, grid, block, shared_bytes, stream) \
    simt_launch(kernel, grid, 1, block, shared_bytes, stream, false)
#define SIMT_LAUNCH_EARLY(kernel, grid, block, shared_bytes, stream) \
    simt_launch(kernel, grid, 1, block, shared_bytes, stream, true)
#define SIMT_LAUNCH_CLUSTER(kernel, grid, cluster, block, shared_bytes, stream) \
    simt_launch(kernel, grid, cluster, block, shared_bytes, stream, false)

/* Of a device with two places for each block of the largest clusters. */
template <class... Parameters>
SIMT_OWN int simt_clusters(void (*kernel)(Parameters...), int size, dim3 block, size_t shared_bytes)
{
    cudaError_t error = simt_check_launch((const void *)kernel, (unsigned)size, (unsigned)size, block, shared_bytes);
    return error == cudaSuccess ? 2 : 0;
}

/* ---- device functions that need no other thread ---------------------------------------------------------------- */

SIMT_OWN int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_OWN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_OWN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SIMT_OWN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
SIMT_OWN int __ffs(int x) { return __builtin_ffs(x); }
SIMT_OWN int __ffsll(long long x) { return __builtin_ffsll(x); }

template <class To, class From> SIMT_OWN To simt_same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits need the same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
SIMT_OWN unsigned __float_as_uint(float x) { return simt_same_bits<unsigned>(x); }
SIMT_OWN float __uint_as_float(unsigned x) { return simt_same_bits<float>(x); }
SIMT_OWN int __float_as_int(float x) { return simt_same_bits<int>(x); }
SIMT_OWN float __int_as_float(int x) { return simt_same_bits<float>(x); }
SIMT_OWN long long __double_as_longlong(double x) { return simt_same_bits<long long>(x); }
SIMT_OWN double __longlong_as_double(long long x) { return simt_same_bits<double>(x); }

SIMT_OWN float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
SIMT_OWN double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
SIMT_OWN float __frcp_rn(float x) { return 1.0f / x; }
SIMT_OWN double __drcp_rn(double x) { return 1.0 / x; }

/* With SIMT_PERTURBED a header takes this for the device's fast reciprocal: up to one unit in the last place off, by an
   amount that depends on the bits of x alone; exact for powers of two, and with the device's answers at the ends of the
   range (docs/reciprocal.md). On the host it is 1/x, as there. */
#ifdef SIMT_PERTURBED
#define SIMT_RECIPROCAL(x) simt_reciprocal(x)
#endif

/* From -0.5 to 0.5, the same for the same bits; 0 for those of a power of two, of which so many are the fraction. */
SIMT_OWN double simt_noise(uint64_t bits, int fraction)
{
    if (bits << (64 - fraction) == 0)
        return 0;
    bits = (bits ^ bits >> 31) * 0x7fb5d329728ea185u;
    bits = (bits ^ bits >> 27) * 0x81dadef4bc2dd44du;
    return (double)(bits >> 11) / 9007199254740992.0 - 0.5;
}

/* float: zero and subnormal numbers give infinity, more than 1/FLT_MIN gives zero. */
SIMT_OWN float simt_reciprocal(float x)
{
    const float smallest = 0x1p-126f;
    float y = 1.0f / x;
    if (simt.current < 0)
        return y;
    if (fabsf(x) < smallest)
        return copysignf(INFINITY, x);
    if (fabsf(y) < smallest)
        return copysignf(0.0f, x);
    double unit = (double)nextafterf(fabsf(y), INFINITY) - (double)fabsf(y);
    return (float)(1.0 / (double)x + simt_noise(simt_same_bits<unsigned>(x), 23) * unit);
}

/* double: what steps of Newton's method make of those answers. Zero, infinite and subnormal x give NaN. */
SIMT_OWN double simt_reciprocal(double x)
{
    const double smallest = 0x1p-1022;
    double y = 1.0 / x;
    if (simt.current < 0)
        return y;
    if (fabs(x) < smallest || isinf(x))
        return NAN;
    if (fabs(x) >= 0x1p1022)
        return copysign(0.0, x);
    long double unit = (long double)nextafter(fabs(y), INFINITY) - (long double)fabs(y);
    return (double)(1.0L / (long double)x + simt_noise(simt_same_bits<uint64_t>(x), 52) * unit);
}
#define SIMT_MIN_MAX(type)                                   \
    SIMT_OWN type min(type a, type b) { return b < a ? b : a; } \
    SIMT_OWN type max(type a, type b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
SIMT_OWN float min(float a, float b) { return fminf(a, b); }
SIMT_OWN float max(float a, float b) { return fmaxf(a, b); }
SIMT_OWN double min(double a, double b) { return fmin(a, b); }
SIMT_OWN double max(double a, double b) { return fmax(a, b); }

/* Hints to the caches; the accesses are the program's own, hence watched. */
template <class T> SIMT_INLINED T __ldg(const T *from) { return *from; }
template <class T> SIMT_INLINED T __ldcs(const T *from) { return *from; }
template <class T> SIMT_INLINED T __ldcg(const T *from) { return *from; }
template <class T> SIMT_INLINED void __stcs(T *to, T value) { *to = value; }
template <class T> SIMT_INLINED void __stcg(T *to, T value) { *to = value; }
template <class T> SIMT_INLINED void __stwt(T *to, T value) { *to = value; }

/* No thread is interrupted, so plain reads and writes are atomic. The value's type takes no part in the deduction: it
   converts to that of the word, as with CUDA's overloads. */
template <class T> struct simt_word {
    typedef T type;
};
template <class T> using simt_value = typename simt_word<T>::type;

template <class T> SIMT_OWN T simt_replace(T *word, T value)
{
    T old = *word;
    *word = value;
    return old;
}

template <class T> SIMT_OWN T atomicAdd(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC);
    if constexpr (std::is_same<T, int>::value) /* wraps */
        return simt_replace(word, (int)((unsigned)*word + (unsigned)value));
    else
        return simt_replace(word, *word + value);
}
template <class T> SIMT_OWN T atomicMax(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC);
    return simt_replace(word, *word < value ? value : *word);
}
template <class T> SIMT_OWN T atomicMin(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC);
    return simt_replace(word, value < *word ? value : *word);
}
template <class T> SIMT_OWN T atomicExch(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_WRITE | SIMT_ATOMIC);
    return simt_replace(word, value);
}
template <class T> SIMT_OWN T atomicCAS(T *word, simt_value<T> expected, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC);
    return simt_replace(word, *word == expected ? value : *word);
}

/* ---- the runtime's calls --------------------------------------------------------------------------------------- */

SIMT_OWN const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidMemcpyDirection: return "cudaErrorInvalidMemcpyDirection";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorInvalidClusterSize: return "cudaErrorInvalidClusterSize";
    }
    return "unrecognized error code";
}

SIMT_OWN const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidMemcpyDirection: return "invalid copy direction for memcpy";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorInvalidClusterSize: return "Invalid cluster size";
    }
    return "unrecognized error code";
}

SIMT_OWN cudaError_t cudaPeekAtLastError(void) { return simt.last_error; }

SIMT_OWN cudaError_t cudaGetLastError(void)
{
    cudaError_t error = simt.last_error;
    simt.last_error = cudaSuccess;
    return error;
}

/* Calls that wait for the device report a kernel's failure, but not a launch that was refused. */
SIMT_OWN cudaError_t cudaDeviceSynchronize(void)
{
    return simt.last_error == cudaErrorLaunchFailure ? cudaErrorLaunchFailure : cudaSuccess;
}

SIMT_OWN size_t simt_physical_bytes(int pages) { return (size_t)sysconf(pages) * (size_t)sysconf(_SC_PAGESIZE); }

/* Full of NaN. */
template <class T> SIMT_OWN cudaError_t simt_allocate(T **pointer, size_t bytes, void *(*take)(size_t))
{
    if (!pointer)
        return simt_set_error(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    void *memory = bytes > simt_physical_bytes(_SC_PHYS_PAGES) ? nullptr : take(bytes);
    if (!memory)
        return simt_set_error(cudaErrorMemoryAllocation);
    *pointer = (T *)memset(memory, SIMT_POISON, bytes);
    return cudaSuccess;
}
template <class T> SIMT_OWN cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return simt_allocate(pointer, bytes, simt_take_global);
}
template <class T> SIMT_OWN cudaError_t cudaMallocHost(T **pointer, size_t bytes)
{
    return simt_allocate(pointer, bytes, malloc);
}

SIMT_OWN cudaError_t cudaFree(void *pointer)
{
    simt_give_global(pointer);
    return cudaDeviceSynchronize();
}
SIMT_OWN cudaError_t cudaFreeHost(void *pointer) { return cudaFree(pointer); }

SIMT_OWN cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = simt_physical_bytes(_SC_AVPHYS_PAGES);
    *total_bytes = simt_physical_bytes(_SC_PHYS_PAGES);
    return cudaSuccess;
}

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

SIMT_OWN cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return simt_set_error(cudaErrorInvalidMemcpyDirection);
    if (bytes && (!to || !from))
        return simt_set_error(cudaErrorInvalidValue);
    if (bytes)
        memcpy(to, from, bytes);
    return cudaDeviceSynchronize();
}
SIMT_OWN cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                     cudaStream_t = nullptr)
{
    return cudaMemcpy(to, from, bytes, kind);
}

SIMT_OWN cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    if (bytes && !memory)
        return simt_set_error(cudaErrorInvalidValue);
    if (bytes)
        memset(memory, value, bytes);
    return cudaDeviceSynchronize();
}
SIMT_OWN cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t = nullptr)
{
    return cudaMemset(memory, value, bytes);
}

/* Device: one, with the limits of compute capability 9.0. */
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
    int maxThreadsDim[3], maxGridSize[3];
    int regsPerBlock, l2CacheSize;
};

SIMT_OWN cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (device != 0)
        return simt_set_error(cudaErrorInvalidDevice);
    *properties = cudaDeviceProp{"SIMT emulator", simt_physical_bytes(_SC_PHYS_PAGES), SIMT_DEFAULT_SHARED,
                                 SIMT_MAX_SHARED, SIMT_MAX_SHARED + 1024, simt.major, simt.minor, simt.processors,
                                 SIMT_LANES, SIMT_MAX_THREADS, 2048,
                                 {SIMT_MAX_THREADS, SIMT_MAX_THREADS, 64}, {0x7fffffff, 0xffff, 0xffff},
                                 65536, 1 << 20};
    return cudaSuccess;
}

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

SIMT_OWN cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)properties.sharedMemPerBlock; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = properties.warpSize; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)properties.sharedMemPerBlockOptin; return cudaSuccess;
    }
    return simt_set_error(cudaErrorInvalidValue);
}

SIMT_OWN cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : simt_set_error(cudaErrorInvalidDevice);
}

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

template <class Kernel>
SIMT_OWN cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > SIMT_MAX_SHARED)
        return simt_set_error(cudaErrorInvalidValue);
    simt_shared_limits()[(const void *)kernel] = value;
    return cudaSuccess;
}

/* Streams and events: all work is done by the time that a call returns, so there is little to keep. */
struct simt_stream {
    unsigned flags;
};
struct simt_event {
    std::chrono::steady_clock::time_point time;
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventDisableTiming = 2 };

SIMT_OWN cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new simt_stream{flags};
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
SIMT_OWN cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}
SIMT_OWN cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
SIMT_OWN cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    delete stream;
    return cudaSuccess;
}

SIMT_OWN cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new simt_event{};
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr)
{
    if (!event)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    event->time = std::chrono::steady_clock::now();
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
SIMT_OWN cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
SIMT_OWN cudaError_t cudaEventQuery(cudaEvent_t) { return cudaDeviceSynchronize(); }
SIMT_OWN cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned = 0)
{
    return event ? cudaSuccess : simt_set_error(cudaErrorInvalidResourceHandle);
}
SIMT_OWN cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    if (!start || !end)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

/* ---- what gcc calls under -fsanitize=thread -------------------------------------------------------------------- */

#if SIMT_WATCHED

#define SIMT_HOOK extern "C" inline __attribute__((used, no_sanitize("thread")))

#define SIMT_ACCESS_HOOKS(bytes)                                                                            \
    SIMT_HOOK void __tsan_read##bytes(void *address) { simt_watch_access(address, bytes, SIMT_READ); }      \
    SIMT_HOOK void __tsan_write##bytes(void *address) { simt_watch_access(address, bytes, SIMT_WRITE); }
#define SIMT_UNALIGNED_HOOKS(bytes)                                                                                 \
    SIMT_HOOK void __tsan_unaligned_read##bytes(void *address) { simt_watch_access(address, bytes, SIMT_READ); }    \
    SIMT_HOOK void __tsan_unaligned_write##bytes(void *address) { simt_watch_access(address, bytes, SIMT_WRITE); }

SIMT_ACCESS_HOOKS(1)
SIMT_ACCESS_HOOKS(2)
SIMT_ACCESS_HOOKS(4)
SIMT_ACCESS_HOOKS(8)
SIMT_ACCESS_HOOKS(16)
SIMT_UNALIGNED_HOOKS(2)
SIMT_UNALIGNED_HOOKS(4)
SIMT_UNALIGNED_HOOKS(8)
SIMT_UNALIGNED_HOOKS(16)
SIMT_HOOK void __tsan_read_range(void *address, size_t bytes) { simt_watch_access(address, bytes, SIMT_READ); }
SIMT_HOOK void __tsan_write_range(void *address, size_t bytes) { simt_watch_access(address, bytes, SIMT_WRITE); }

SIMT_HOOK void __tsan_init(void) {}
SIMT_HOOK void __tsan_func_entry(void *) {}
SIMT_HOOK void __tsan_func_exit(void *) {}
SIMT_HOOK void __tsan_vptr_update(void *, void *) {}
SIMT_HOOK void __tsan_vptr_read(void *) {}
SIMT_HOOK void __tsan_atomic_thread_fence(int) {}
SIMT_HOOK void __tsan_atomic_signal_fence(int) {}

/* Atomics of C++ become calls as a whole, so these have to do the work. Host code has them (the guards of static
   variables, shared_ptr); device code has CUDA's. */
#define SIMT_ATOMIC_FETCH(bits, type, operation)                                                                    \
    SIMT_HOOK type __tsan_atomic##bits##_fetch_##operation(volatile void *word, type value, int)                    \
    {                                                                                                               \
        return __atomic_fetch_##operation((volatile type *)word, value, __ATOMIC_SEQ_CST);                          \
    }
#define SIMT_ATOMIC_COMPARE(bits, type, strength, is_weak)                                                          \
    SIMT_HOOK bool __tsan_atomic##bits##_compare_exchange_##strength(volatile void *word, void *expected,           \
                                                                     type desired, int, int)                        \
    {                                                                                                               \
        return __atomic_compare_exchange_n((volatile type *)word, (type *)expected, desired, is_weak,               \
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                     \
    }
#define SIMT_ATOMIC_HOOKS(bits, type)                                                                               \
    SIMT_HOOK type __tsan_atomic##bits##_load(const volatile void *word, int)                                       \
    {                                                                                                               \
        return __atomic_load_n((const volatile type *)word, __ATOMIC_SEQ_CST);                                      \
    }                                                                                                               \
    SIMT_HOOK void __tsan_atomic##bits##_store(volatile void *word, type value, int)                                \
    {                                                                                                               \
        __atomic_store_n((volatile type *)word, value, __ATOMIC_SEQ_CST);                                           \
    }                                                                                                               \
    SIMT_HOOK type __tsan_atomic##bits##_exchange(volatile void *word, type value, int)                             \
    {                                                                                                               \
        return __atomic_exchange_n((volatile type *)word, value, __ATOMIC_SEQ_CST);                                 \
    }                                                                                                               \
    SIMT_ATOMIC_FETCH(bits, type, add)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, sub)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, and)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, or)                                                                               \
    SIMT_ATOMIC_FETCH(bits, type, xor)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, nand)                                                                             \
    SIMT_ATOMIC_COMPARE(bits, type, strong, false)                                                                  \
    SIMT_ATOMIC_COMPARE(bits, type, weak, true)

SIMT_ATOMIC_HOOKS(8, unsigned char)
SIMT_ATOMIC_HOOKS(16, unsigned short)
SIMT_ATOMIC_HOOKS(32, unsigned int)
SIMT_ATOMIC_HOOKS(64, unsigned long)

#endif

#endif
