/* machine.h - the parts of the emulated device: threads, warps, blocks, and what they wait at. */
#ifndef SIMT_MACHINE_H
#define SIMT_MACHINE_H

#include "types.h"

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
    SIMT_BARRIER, /* from here on: barriers of the block */
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

/* An asynchronous copy under way; `group` is the number of the thread's commits before it. */
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
    bool has_waited; /* for the launch ahead of this one */
    int cluster_syncs; /* how many barriers of the cluster it has passed */
    std::vector<uint32_t> awaited; /* for each box: how often it had been full when the thread last waited for it */
};

/* A warp. Sets of lanes have bit i for lane i. The arrays hold what each lane brought to the collective at which it
   waits, and what it takes away. Results have an array of their own, because a lane may be at its next collective
   before another lane of this exchange has run again. */
struct simt_warp {
    unsigned lanes, exited, ready, waiting;
    simt_operation operation[SIMT_LANES];
    unsigned mask[SIMT_LANES];
    unsigned char barrier[SIMT_LANES];
    int source[SIMT_LANES];
    uint64_t value[SIMT_LANES], result[SIMT_LANES];
};

/* A barrier of the block. __syncthreads is barrier 0 with all threads. Sets of warps have bit i for warp i. */
struct simt_meeting {
    simt_operation operation; /* of the first thread that arrived */
    int count, arrived;       /* how many threads it is for, the last warp counted in full; how many wait */
    uint32_t members;         /* the warps that opened it last; none at first */
};

/* 16 bytes on their way to offset `to` of shared memory. */
struct simt_message {
    size_t to;
    unsigned char bytes[16];
};

/* A box (mbarrier) of a block, at this offset in its shared memory. */
struct simt_box {
    size_t offset;
    int opened;         /* how many barriers of the cluster its opener had passed */
    bool is_expecting;
    int expected, came; /* bytes */
    uint32_t full;      /* how often it has been full */
    std::vector<simt_message> messages;
};

/* A block. Those of a cluster take turns, each until it can go no further. While a block does not run, `image` holds
   its shared memory. */
struct simt_block {
    simt_thread threads[SIMT_MAX_THREADS];
    simt_warp warps[SIMT_MAX_WARPS];
    simt_meeting barriers[SIMT_BARRIERS];
    uint3 index;
    int live; /* how many threads have not yet exited */
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
    int rank;                       /* of the running block in its cluster */
    int cluster_size, cluster_syncing; /* how many blocks; how many threads wait at its barrier */
    dim3 cluster;
    simt_block *blocks[SIMT_MAX_CLUSTER];
    int thread_count;               /* of a block at its start */
    int major, minor;               /* compute capability */
    int processors;
    size_t shared_most;             /* bytes of shared memory that a block may ask for */
    bool abandoned;                 /* by a fault */
    bool slept;                     /* whether a lane slept in its warp's turn */
    bool is_early;                  /* whether the launch may begin before the one ahead has ended */
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

SIMT_STATE simt_machine simt = {};
SIMT_OWN simt_block &simt_this_block(void) { return *simt.blocks[simt.rank]; }
SIMT_STATE uint3 threadIdx, blockIdx;
SIMT_STATE dim3 blockDim, gridDim;

/* Dynamic shared memory lies in the section .noinit too, so that one range holds all shared memory. */
__shared__ __align__(1024) unsigned char simt_dynamic_shared[SIMT_MAX_SHARED];
#define SIMT_DYNAMIC_SHARED(name) unsigned char *const name = simt_dynamic_shared

/* launches.awk turns `extern __shared__ T name[]` into `T *const name` = an object of this type. */
struct simt_dynamic_shared_as {
    template <class T> SIMT_OWN operator T *() const { return (T *)simt_dynamic_shared; }
};

SIMT_OWN unsigned simt_lane_id(void) { return (unsigned)simt.current % SIMT_LANES; }
SIMT_OWN simt_warp &simt_this_warp(void) { return simt.warps[simt.current / SIMT_LANES]; }
SIMT_OWN int simt_first_lane(unsigned lanes) { return __builtin_ctz(lanes); }

#endif
