/* machine.h - what the emulated device consists of: threads, warps, blocks, and what they wait at. */
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
    size_t shared_most;             /* bytes of shared memory that a block may ask for */
    bool abandoned;                 /* by a fault */
    bool slept;                     /* did a lane of the warp that has its turn sleep? */
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

SIMT_STATE simt_machine simt = {};
SIMT_OWN simt_block &simt_this_block(void) { return *simt.blocks[simt.rank]; }
SIMT_STATE uint3 threadIdx, blockIdx;
SIMT_STATE dim3 blockDim, gridDim;

/* Dynamic shared memory lies in the section .noinit as well, so that one range holds all of it. */
__shared__ __align__(1024) unsigned char simt_dynamic_shared[SIMT_MAX_SHARED];
#define SIMT_DYNAMIC_SHARED(name) unsigned char *const name = simt_dynamic_shared

/* What launches.awk makes of extern __shared__ T name[]: T *const name = this. */
struct simt_dynamic_shared_as {
    template <class T> SIMT_OWN operator T *() const { return (T *)simt_dynamic_shared; }
};

SIMT_OWN unsigned simt_lane_id(void) { return (unsigned)simt.current % SIMT_LANES; }
SIMT_OWN simt_warp &simt_this_warp(void) { return simt.warps[simt.current / SIMT_LANES]; }
SIMT_OWN int simt_first_lane(unsigned lanes) { return __builtin_ctz(lanes); }

#endif
