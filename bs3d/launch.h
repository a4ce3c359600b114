/* launch.h - a room of bs3d.h: the plan of a launch, barriers and sizes, for both precisions.
   MIT licence, see LICENSE. */

enum {
    BS3D_P_PAD = 4,            /* columns on each side of a tile in shared memory; at most two are used */
    BS3D_P_RING_SLOTS = 4,     /* slots of a bs3d_p_ring */
    BS3D_P_MOST_PREFETCH = 3,  /* planes that implicit2's downward sweep prefetches, if shared memory allows */
    BS3D_P_PREFETCH = 3,       /* planes that implicit3 prefetches */
    BS3D_P_PLANE_WEIGHTS = 12, /* room for the numbers that a sweep keeps for a plane */
    BS3D_P_MARGIN = 4,         /* rows before and after those in use; beyond the grid they are zeros */
    BS3D_P_ROW_TABLE = 1096,   /* rows in the table of an axis: 1024, halos of 32 on each side, margins */
    BS3D_P_PARTITIONS = 8,     /* the most partitions of a z system in one slab */
    /* Offsets in the tables: rows of the axes, factors of their matrices, numbers of PCR or scan steps in x and y. */
    BS3D_P_Z_FACTORS = 12 * BS3D_P_ROW_TABLE, /* twice: for elimination upward and, in implicit3, downward */
    BS3D_P_REDUCED = 8 * BS3D_P_ROW_TABLE,    /* within them: the factors of the reduced system */
    BS3D_P_Z_SIZE = BS3D_P_REDUCED + 8 * BS3D_P_MOST_REDUCED,
    BS3D_P_X_FACTORS = BS3D_P_Z_FACTORS + 2 * BS3D_P_Z_SIZE,
    BS3D_P_Y_FACTORS = BS3D_P_X_FACTORS + 2 * 32 * (3 * 32 + TRID_WARP_LU_PRECOMPUTED_LEN + 1),
    BS3D_P_STEPS = BS3D_P_Y_FACTORS + 32 * TRID_INTERLEAVED_FACTOR_LEN(32),
    BS3D_P_TABLES = BS3D_P_STEPS + 32 /* elements */
};

/* A kernel's data about the grid and its launch. */
typedef struct {
    bs3d_model model;
    long long plane; /* elements from one plane to the next */
    int pitch;       /* elements from one row to the next */
    int partitions;  /* of the third axis */
    int tile;        /* columns of a block */
    int prefetch;    /* planes that the downward sweep prefetches */
} bs3d_p_plan;

/* Finds the planes of partition n of a launch; without a span, the launch visits all planes. Returns the partition's
   number. */
TB_HD int bs3d_p_span_of(const bs3d_p_plan *plan, const bs3d_p_span *span, int n, int *from, int *to)
{
    if (!span) {
        bs3d_p_partition(plan->model.points[2], plan->partitions, n, from, to);
        return n;
    }
    int beyond = n >= span->jump, partition = span->first + n + (beyond ? span->over : 0);
    int move = span->from + (beyond ? span->apart : 0);
    bs3d_p_partition(span->planes, span->partitions, partition, from, to);
    *from = *from + move > span->low ? *from + move : span->low;
    *to = *to + move < span->high ? *to + move : span->high;
    return partition;
}

/* Waits for the preceding kernel to end. A kernel that may begin early (trid_launch_with) must call this before it
   reads what the preceding one writes, or writes what that one accesses. A kernel compiled for a compute capability
   below 9.0 cannot wait, and does not begin early (trid_compiled_for). */
TB_D void bs3d_p_grid_wait(void)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#elif defined SIMT_EMULATOR
    simt_grid_wait();
#endif
}

/* Lets the next kernel begin once each block has called this function or ended, if that kernel was launched to begin
   early (trid_launch_with). */
TB_D void bs3d_p_launch_dependents(void)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#elif defined SIMT_EMULATOR
    simt_grid_launch_dependents();
#endif
}

/* A barrier for all threads of the block, split in two. After bs3d_p_barrier_wait all threads see what any thread wrote
   before its bs3d_p_barrier_arrive; work between the two calls delays no other thread. The barrier is an mbarrier in
   shared memory. All threads must meet once (at a __syncthreads, say) between its initialisation and the first arrival.
   In code for compute capabilities below 8.0, and under the emulator, all threads meet in bs3d_p_barrier_arrive. */
TB_D void bs3d_p_barrier_init(unsigned long long *barrier, int threads)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    if (trid_block_thread() == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
                     "r"(threads)
                     : "memory");
#else
    (void)barrier, (void)threads;
#endif
}

TB_D void bs3d_p_barrier_arrive(unsigned long long *barrier)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.shared.b64 state, [%0];\n\t}" ::"r"(
                     (unsigned)__cvta_generic_to_shared(barrier))
                 : "memory");
#else
    (void)barrier;
    __syncthreads();
#endif
}

/* Waits until all threads have arrived. `odd` says whether they have passed the barrier an odd number of times
   before. */
TB_D void bs3d_p_barrier_wait(unsigned long long *barrier, int odd)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    int passed = 0;
    while (!passed)
        asm volatile("{\n\t.reg .pred passed;\n\t"
#if __CUDA_ARCH__ >= 900
                     "mbarrier.try_wait.parity.shared.b64 passed, [%1], %2;\n\t"
#else
                     "mbarrier.test_wait.parity.shared.b64 passed, [%1], %2;\n\t"
#endif
                     "selp.b32 %0, 1, 0, passed;\n\t}"
                     : "=r"(passed)
                     : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(odd)
                     : "memory");
#else
    (void)barrier, (void)odd;
#endif
}

/* Returns the start of dynamic shared memory, held in a register: otherwise the compiler computes it for each
   access. */
TB_D unsigned char *bs3d_p_in_register(unsigned char *memory)
{
#ifdef __CUDA_ARCH__
    unsigned begin = (unsigned)__cvta_generic_to_shared(memory);
    asm volatile("" : "+r"(begin));
    memory = (unsigned char *)__cvta_shared_to_generic(begin);
#endif
    return memory;
}

/* Makes the compiler keep the branch that calls this function. Without the call the compiler would compute a rarely
   taken branch each time, and select between the results. */
TB_D void bs3d_p_as_branch(void)
{
#ifdef __CUDA_ARCH__
    asm volatile("");
#endif
}

/* Returns trid_best_pieces of nz planes, on a device whose multiprocessors hold `held` blocks each; at most `most`. */
TB_HOST int bs3d_p_best_partitions(int nz, long long blocks, int held, int more, int most)
{
    const int best = trid_best_pieces(nz, blocks, held * trid_device_attribute(cudaDevAttrMultiProcessorCount), more);
    return best < most ? best : most;
}

/* Returns how many points each lane holds if 32 lanes or threads share a line of n points. */
TB_HD constexpr int bs3d_p_per_lane(int n)
{
    return n <= 256 ? 8 : n <= 512 ? 16 : 32;
}

extern "C++" {
/* Chooses from three kernels, for 8, 16 and 32 points per lane, the one for lines of n points. */
template <class kernel>
static kernel bs3d_p_of_length(int n, kernel of_8, kernel of_16, kernel of_32)
{
    return bs3d_p_per_lane(n) == 8 ? of_8 : bs3d_p_per_lane(n) == 16 ? of_16 : of_32;
}
}
