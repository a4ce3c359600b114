/* onchip.h - a room of adi2d.h, read once for each model and precision: a step on chip; its kernel, shapes and launch.
   MIT licence, see LICENSE. */

#define adi2d_onchip_bytes FD_OF(onchip_bytes)
#define adi2d_onchip FD_OF(onchip)

/* Takes a step. `products` is set if all steps are products of factors. *factored is the theta dt for which the matrix
   along y was factored last, or 0. */
template <int per_lane, int products>
TB_D void adi2d_p_chip_make(const adi2d_p_chip *h, unsigned char *memory, tb_real *factored)
{
    const fd_p_step *step = &fd_p_chip_step(*h, memory);
    TB_LOOP
    for (int s = 0; s < step->data.stages && !products; s++) {
        if (s > 0) fd_p_chip_sync(h->size);
        adi2d_p_chip_x(per_lane, h, memory, s);
        fd_p_chip_sync(h->size);
        adi2d_p_chip_y(per_lane, h, memory, s);
    }
    if (products) {
        const tb_real size = step->data.size;
        if (step->open) {
            adi2d_p_chip_open(per_lane, h, memory);
            fd_p_chip_sync(h->size);
        }
        if (adi2d_p_independent && !fd_p_same_size(size, *factored)) {
            *factored = size;
            adi2d_p_chip_factor(per_lane, h, memory);
        }
        adi2d_p_chip_product_x(per_lane, h, memory);
        fd_p_chip_sync(h->size);
        adi2d_p_chip_product_y(per_lane, h, memory);
    }
    fd_p_chip_sync(h->size);
}

/* Loads the tables. Beyond the last point, cells are 0 and the numbers of the last point are repeated. */
TB_D void adi2d_p_chip_tables(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    for (int d = 0; d < 2; d++) {
        const int numbers = fd_p_numbers(d), room = per_lane * (d ? h->parts : h->width);
        for (int i = trid_block_thread(); i < room; i += trid_block_threads()) {
            const int last = i < h->n[d] ? i : h->n[d] - 1;
            const fd_cell none = {0, 0, 0, 0};
            ((fd_cell *)(memory + h->cell[d]))[i + i / per_lane] = i < h->n[d] ? h->t.cell[d][i] : none;
            for (int q = 0; q < numbers && (d || i < h->pitch); q++)
                adi2d_p_array(memory, h->number[d])[d ? q * room + i : q * h->pitch + fd_p_swizzle(i)] =
                    h->t.number[d][q * h->t.room[d] + last];
        }
    }
    __syncthreads();
}

/* Does a block's part of its cluster's problem. `memory` is dynamic shared memory; h and `least` point to static shared
   memory. */
template <int per_lane, int products>
TB_D void adi2d_p_chip_problem(const fd_p_launch &launch, unsigned char *memory, adi2d_p_chip *h, int *least)
{
    const int size = trid_cluster_size(), which = (int)blockIdx.x / size, threads = trid_block_threads();
    for (int q = trid_block_thread(); q < (int)(sizeof *h / sizeof(int)); q += threads) ((int *)h)[q] = 0;
    __syncthreads(); /* all of h is cleared, because threads copy all of it (products.h) */
    if (trid_block_thread() == 0) {
        fd_p_chip_begin(launch, fd_p_ready_of(launch, which), which, memory, launch.each, h);
        adi2d_p_chip_lay_out(per_lane, &launch, threads, h);
        h->width = launch.width, h->parts = launch.parts, h->pitch = launch.pitch;
        h->share = (h->n[0] + size - 1) / size;
    }
    __syncthreads();
    if (!h->t.found->status.what) adi2d_p_chip_tables(per_lane, h, memory);
    fd_p_chip_problem(*h, memory, [&](int watched) {
        tb_real factored = 0;
        for (int at = trid_block_thread(); at < h->cell[0] / (int)sizeof(tb_real); at += threads)
            adi2d_p_array(memory, h->u)[at] = 0; /* all arrays, including the padding beyond the ends of lines */
        __syncthreads();
        return fd_p_chip_march(*h, memory, watched, least,
                               [&] { adi2d_p_chip_make<per_lane, products>(h, memory, &factored); });
    });
}

#if TB_LAUNCHES

template <int per_lane, int threads, int resident, int products>
TRID_KERNEL void __launch_bounds__(threads, resident) adi2d_p_onchip_kernel(const __grid_constant__ fd_p_launch launch)
{
    TRID_DYNAMIC_SHARED(memory);
    __shared__ adi2d_p_chip chip;
    __shared__ int least;
    adi2d_p_chip_problem<per_lane, products>(launch, memory, &chip, &least);
}

/* Chooses the clusters for a batch as fd_p_choose does, and completes the arguments of the launch. */
template <int per_lane, int threads, int resident, int products>
static inline fd_p_chosen adi2d_p_choose(fd_p_launch *launch, int asked)
{
    const auto kernel = adi2d_p_onchip_kernel<per_lane, threads, resident, products>;
    const int *points = launch->batch.points, unit = 128 / (int)sizeof(tb_real);
    launch->arrays = products ? 1 : launch->batch.kind == ADI2D_ONE_STAGE ? 2 : 3;
    launch->pitch = (points[0] + unit - 1) / unit * unit;
    launch->width = launch->parts = 1;
    while (launch->width * per_lane < points[0]) launch->width *= 2;
    while (launch->parts * per_lane < points[1]) launch->parts *= 2;
    if (launch->width > 32 || launch->parts > 32) return {kernel, 1, threads, 0};
    auto each_of = [&](int blocks) { return ((points[1] + blocks - 1) / blocks + per_lane - 1) / per_lane * per_lane; };
    auto shape = [&](int blocks, int, int *pays) {
        adi2d_p_chip chip;
        fd_p_launch trial = *launch;
        trial.each = each_of(blocks);
        /* Enough threads to solve all lines at once, if a block can have that many. */
        const int share = (points[0] + blocks - 1) / blocks;
        int block_threads = 32;
        while (block_threads < threads &&
               (block_threads < launch->parts * share || block_threads < launch->width * trial.each))
            block_threads *= 2;
        adi2d_p_chip_lay_out(per_lane, &trial, block_threads, &chip);
        /* Beyond four blocks, barriers cost more than the additional blocks save. */
        if (blocks > 4 || trial.each * blocks > points[1]) *pays = 0;
        return fd_p_chosen{kernel, blocks, block_threads, (size_t)chip.bytes};
    };
    const fd_p_chosen best = fd_p_choose(kernel, &launch->batch, 1024, asked, shape);
    launch->each = each_of(best.size);
    return best;
}

/* Chooses the kernel for a batch. On an H200, sixteen rows a thread are fastest for products, and for stages in single
   precision unless small grids leave too few threads. In all other cases eight are fastest, but serve only axes of up
   to 256 points. The number of problems affects the size of the clusters, but neither the kernel nor the bits of a
   result. */
template <int = 0>
static inline fd_p_chosen adi2d_p_kernel_of(fd_p_launch *launch)
{
    enum { threads = TB_BYTES == 4 ? 512 : 256 };
    const fd_batch *batch = &launch->batch;
    const int *points = batch->points;
    if (batch->kind == ADI2D_PRODUCTS) return adi2d_p_choose<16, threads, 1, 1>(launch, 0);
    if (points[0] <= 256 && points[1] <= 256 && (TB_BYTES == 8 || points[0] * points[1] <= 16384))
        return adi2d_p_choose<8, 512, 1, 0>(launch, 0);
    return adi2d_p_choose<16, threads, 1, 0>(launch, 0);
}

/* Returns how many bytes of device memory MODEL_onchip needs on the current device; 0 if adi2d_check refuses the
   batch's sizes or kind. The batch's pointers may still be null. */
template <int = 0>
static inline size_t adi2d_onchip_bytes(const fd_batch *batch)
{
    if (fd_p_sizes(2, batch)) return 0;
    fd_p_launch launch = fd_p_launch_of(batch, NULL, NULL, 0);
    return adi2d_p_kernel_of(&launch).bytes == 0 ? adi2d_rung_bytes(batch) : fd_p_ready_bytes(batch);
}

/* Solves the problems of a batch, each by the block or the cluster of blocks that holds its grid, with all steps in one
   kernel. If no cluster holds the grids, solves as MODEL_coalesced does.
   Needs    in device memory: all that the batch and its problems point to, parameters (one per problem), and memory of
            MODEL_onchip_bytes, aligned to 128 bytes
   Leaves   status, values, grids and coordinates, in stream order; NaN for a problem that fails; if the call is
            refused, FD_BAD_ARGUMENT in each status and, if the batch's sizes are valid, NaN elsewhere
   Returns  FD_OK; as adi2d_check; FD_BAD_ARGUMENT for a null pointer or misaligned memory; FD_NO_ROOM for too little
            memory; FD_LAUNCH_FAILED
   Shared   for each problem one array of the grid with ADI2D_PRODUCTS, two with ADI2D_ONE_STAGE, otherwise three; and
            tables of the axes in each block
   Cost     two launches on chip; no transfer */
template <int = 0>
static inline int adi2d_onchip(const fd_batch *batch, const fd_model_parameters *parameters, void *memory, size_t bytes,
                               cudaStream_t stream)
{
    const int wrong = fd_p_device_call(batch, parameters, memory, bytes, fd_p_ready_bytes(batch), stream);
    if (wrong || batch->problems == 0) return wrong;
    fd_p_launch launch = fd_p_launch_of(batch, parameters, memory, fd_p_ready_lay_out(batch, NULL, NULL));
    const fd_p_chosen chosen = adi2d_p_kernel_of(&launch);
    if (chosen.bytes == 0) return adi2d_coalesced(batch, parameters, memory, bytes, stream);
    return fd_p_ready_and_march<512>(launch, chosen, stream) == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED;
}

#endif /* TB_LAUNCHES */
