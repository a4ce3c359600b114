/* ready.h - a room of adi2d.h and adi3d.h, read once for each model and precision: prepares problems in device memory
   for adi2d/rungs.h and for kernels that hold each grid in the shared memory of a block or of a cluster's blocks.
   MIT licence, see LICENSE. */

/* A prepared problem in device memory, with the other data of its march. */
typedef struct {
    fd_p_tables t;
    tb_real *extra, *of; /* grids: the exercise multiplier; the values after a date and, for three factors, the
                            right-hand side of a second stage */
} fd_p_ready;

/* The arguments of a launch. */
typedef struct {
    fd_batch batch;
    const fd_model_parameters *parameters;
    unsigned char *memory;
    size_t bytes;                  /* the bytes of memory of each problem */
    int width, parts, each, pitch; /* for two factors: see adi2d/chip.h */
    int arrays;                    /* for two factors: the number of arrays of the grid */
} fd_p_launch;

/* Lays out a problem's device memory; if memory is null, only counts. Returns the bytes. */
TB_HD size_t fd_p_ready_lay_out(const fd_batch *batch, unsigned char *memory, fd_p_ready *ready)
{
    fd_p_ready r;
    size_t used = fd_p_lay_out(batch, 1, memory, &r.t);
    const size_t grid = (size_t)fd_p_count(batch->points) * sizeof(tb_real);
    r.extra = (tb_real *)fd_p_next(memory, &used, grid);
    r.of = (tb_real *)fd_p_next(memory, &used, FD_FACTORS > 2 || batch->dates > 0 ? grid : 0);
    if (ready) *ready = r;
    return used;
}

/* Returns problem `which` of a launch, with its arrays in device memory. */
TB_D fd_p_ready fd_p_ready_of(const fd_p_launch &launch, int which)
{
    fd_p_ready r;
    fd_p_ready_lay_out(&launch.batch, launch.memory + (size_t)which * launch.bytes, &r);
    r.t.problem = &launch.batch.problem[which], r.t.parameters = &launch.parameters[which];
    return r;
}

#if TB_LAUNCHES

/* Prepares the problems, one per block. The launch bounds let two blocks of more than 256 threads share a
   multiprocessor. */
template <int threads, int blocks = (threads > 256 ? 2 : 0)>
TRID_KERNEL void __launch_bounds__(threads, blocks) fd_p_ready_kernel(const __grid_constant__ fd_p_launch launch)
{
    const int which = (int)blockIdx.x, thread = trid_block_thread();
    const fd_p_ready r = fd_p_ready_of(launch, which);
    TB_LOOP
    for (int phase = 0; phase < (int)fd_p_phases; phase++) {
        fd_p_prepare(&launch.batch, &r.t, phase, thread, threads);
        __syncthreads();
    }
    if (!r.t.found->status.what) fd_p_coordinates(&launch.batch, &r.t, which, thread, threads);
}

/* A kernel and the shape of its launch. `bytes` is the dynamic shared memory of a block; 0 if no kernel serves a
   batch. */
typedef struct {
    void (*kernel)(fd_p_launch);
    int size, threads; /* blocks of a cluster, threads of a block */
    size_t bytes;
} fd_p_chosen;

/* Chooses the size of a batch's clusters: the size asked for or, if that is 0, the smallest whose blocks hold a grid. A
   larger size replaces it if all problems still run at once and the blocks have enough work. shape(blocks, most, &pays)
   returns the kernel and its shape for clusters of `blocks` blocks that have up to `most` bytes of shared memory each,
   and clears `pays` if the blocks would have too little work. `fixed` bytes of a block's shared memory are static. */
template <class shape_type>
static inline fd_p_chosen fd_p_choose(void (*kernel)(fd_p_launch), const fd_batch *batch, size_t fixed, int asked,
                                      shape_type shape)
{
    fd_p_chosen best = {kernel, 1, 0, 0};
    const int most = trid_device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int processors = trid_device_attribute(cudaDevAttrMultiProcessorCount);
    if (trid_allow_shared(kernel) != cudaSuccess) return best;
    for (int blocks = 1; blocks <= 16; blocks *= 2) {
        int pays = (long long)blocks * batch->problems <= processors;
        const fd_p_chosen one = shape(blocks, most, &pays);
        if (one.bytes + fixed > (size_t)most || (asked && blocks != asked)) continue;
        if (best.bytes > 0 && !pays) break;
        if (blocks > 1 && trid_clusters(kernel, blocks, dim3((unsigned)one.threads), one.bytes) < 1) break;
        best = one;
    }
    return best;
}

/* Returns the bytes of device memory that all problems of a batch need; 0 for a batch whose sizes are refused. */
static inline size_t fd_p_ready_bytes(const fd_batch *batch)
{
    return fd_p_sizes(FD_FACTORS, batch) ? 0 : (size_t)batch->problems * fd_p_ready_lay_out(batch, NULL, NULL);
}

/* Returns the arguments of a batch's launches, with `bytes` bytes of memory for each problem. */
static inline fd_p_launch fd_p_launch_of(const fd_batch *batch, const fd_model_parameters *parameters, void *memory,
                                         size_t bytes)
{
    fd_p_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.batch = *batch, launch.parameters = parameters, launch.memory = (unsigned char *)memory;
    launch.bytes = bytes;
    return launch;
}

/* Launches the kernel that prepares the problems, in blocks of `threads` threads, and the kernel that marches them. */
template <int threads>
static inline cudaError_t fd_p_ready_and_march(const fd_p_launch &launch, fd_p_chosen chosen, cudaStream_t stream)
{
    const unsigned problems = (unsigned)launch.batch.problems;
    if (problems == 0) return cudaSuccess;
    const cudaError_t error = trid_launch(fd_p_ready_kernel<threads>, dim3(problems), dim3(threads), 0, stream, launch);
    if (error != cudaSuccess) return error;
    const dim3 blocks(problems * (unsigned)chosen.size), block((unsigned)chosen.threads);
    return chosen.size > 1
               ? trid_launch_cluster(chosen.kernel, blocks, chosen.size, block, chosen.bytes, stream, launch)
               : trid_launch(chosen.kernel, blocks, block, chosen.bytes, stream, launch);
}

#endif

/* ---- the data of a block ----------------------------------------------------------------------------------------- */

/* A block's data about its problem, in shared memory. The grid's rows along x are numbered along y and then z; block r
   of the cluster holds rows_each of them, from row r * rows_each on, as far as they exist. An array is given by its
   offset in bytes in dynamic shared memory, so that the compiler knows that it lies there. */
struct fd_p_chip : fd_p_field {
    enum { on_chip = 1 };
    fd_batch batch;                 /* a copy: other threads cannot use the address of a kernel's parameter */
    unsigned char *memory;          /* dynamic shared memory */
    tb_real *extra, *of;            /* as in fd_p_ready; extra is null unless exercise needs it */
    int which;                      /* the number of the problem in the batch */
    int rank, size;                 /* the block's rank in its cluster, and the number of the cluster's blocks */
    int rows_each, row_first, rows; /* the rows of each block; the first row and the number of rows of this block */
    int pitch;                      /* elements from row to row */
    int given;                      /* the largest magnitude in what the march is given, as far as the block knows */
    int u, step;                    /* offsets of the values and of the step */
};

/* Fills in the data that adi2d.h and adi3d.h share, except for pitch, given and the offsets. One thread calls it. */
TB_D void fd_p_chip_begin(const fd_p_launch &launch, const fd_p_ready &ready, int which, unsigned char *memory,
                          int rows_each, fd_p_chip *h)
{
    const int none[3] = {1, 1, 1};
    fd_p_measure(ready.t.problem, ready.t.found->status.what ? none : ready.t.found->points, h);
    h->t = ready.t, h->batch = launch.batch, h->which = which, h->memory = memory;
    h->extra = ready.t.problem->exercise == FD_AMERICAN ? ready.extra : NULL, h->of = ready.of;
    h->rank = trid_cluster_rank(), h->size = trid_cluster_size(), h->rows_each = rows_each;
    const int all = h->n[1] * h->n[2], first = h->rank * rows_each;
    h->row_first = first < all ? first : all;
    h->rows = all - h->row_first < rows_each ? all - h->row_first : rows_each;
}

/* Returns the slot of point i in a row of a grid on chip. With three factors, where the pitch is odd, this is i. */
TB_HD int fd_p_chip_slot(int i)
{
    return FD_FACTORS == 2 ? fd_p_swizzle(i) : i;
}

/* Returns where an array holds the block's point number `at`, counted along rows. */
TB_D int fd_p_chip_at(const fd_p_chip &h, int at)
{
    return fd_p_chip_slot(at % h.n[0]) + at / h.n[0] * h.pitch;
}

/* Return the address of point i of a row in an array, whichever block holds it, and the value there. */
TB_D trid_cluster_place fd_p_chip_place(const fd_p_chip &h, unsigned char *memory, int array, int i, int row)
{
    const int owner = row / h.rows_each, at = (row - owner * h.rows_each) * h.pitch + fd_p_chip_slot(i);
    return trid_cluster_map(memory + array, owner) + at * (int)sizeof(tb_real);
}
TB_D tb_real fd_p_chip_value(const fd_p_chip &h, unsigned char *memory, int array, int i, int row)
{
    return trid_cluster_load(fd_p_chip_place(h, memory, array, i, row));
}

/* Returns the current step. */
TB_D const fd_p_step &fd_p_chip_step(const fd_p_chip &h, unsigned char *memory)
{
    return *(const fd_p_step *)(memory + h.step);
}
