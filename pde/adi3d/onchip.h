/* onchip.h - a room of adi3d.h, read once for each model and precision: the kernel that solves a problem on chip, its
   shapes and launch.
   MIT licence, see LICENSE. */

#define adi3d_onchip_blocks FD_OF(onchip_blocks)
#define adi3d_onchip_bytes FD_OF(onchip_bytes)
#define adi3d_onchip FD_OF(onchip)

/* Fills in a block's data and its tables. */
TB_D void adi3d_p_chip_begin(const fd_p_launch &launch, const fd_p_ready &ready, int which, unsigned char *memory,
                             adi3d_p_chip &h)
{
    const int thread = trid_block_thread(), threads = trid_block_threads(), size = trid_cluster_size();
    if (thread == 0) {
        const int none[3] = {1, 1, 1}, *n = ready.t.found->status.what ? none : ready.t.found->points;
        adi3d_p_chip_lay_out(n, size, &h);
        fd_p_chip_begin(launch, ready, which, memory, h.each * n[1], &h);
        h.first = h.row_first / h.n[1], h.planes = h.rows / h.n[1];
        for (int d = 0; d < 3; d++) {
            h.t.cell[d] = (fd_cell *)(memory + h.cell[d]);
            h.t.number[d] = (tb_real *)(memory + h.number[d]), h.t.room[d] = h.n[d];
        }
    }
    fd_p_chip_sync(size); /* all blocks have begun */
    if (ready.t.found->status.what) return;
    for (int d = 0; d < 3; d++)
        for (int i = thread; i < h.n[d]; i += threads) {
            h.t.cell[d][i] = ready.t.cell[d][i];
            for (int q = 0; q < fd_p_numbers(d); q++)
                h.t.number[d][q * h.n[d] + i] = ready.t.number[d][q * ready.t.room[d] + i];
        }
    for (int k = thread; k < h.n[2]; k += threads)
        ((trid_cluster_place *)(memory + h.places))[k] =
            trid_cluster_map(memory, k / h.each) + k % h.each * h.plane * (int)sizeof(tb_real);
    __syncthreads();
}

/* Marches a block's part of its problem through all steps. */
template <int half, int most_threads>
TRID_KERNEL void __launch_bounds__(most_threads) adi3d_p_chip_kernel(const __grid_constant__ fd_p_launch launch)
{
    TRID_DYNAMIC_SHARED(memory);
    __shared__ adi3d_p_chip h;
    __shared__ int least;
    const int which = (int)blockIdx.x / trid_cluster_size();
    adi3d_p_chip_begin(launch, fd_p_ready_of(launch, which), which, memory, h);
    fd_p_chip_problem(h, memory, [&](int watched) {
        return fd_p_chip_march(h, memory, watched, &least, [&] { adi3d_p_chip_step<half>(h, memory); });
    });
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Chooses the clusters for a batch as fd_p_choose does. Results are the same to the bit, whatever the choice. */
template <int half, int most_threads>
static inline fd_p_chosen adi3d_p_choose(const fd_batch *batch, int asked)
{
    const auto kernel = adi3d_p_chip_kernel<half, most_threads>;
    const int *n = batch->points;
    auto shape = [&](int size, int most, int *pays) {
        adi3d_p_chip chip;
        const int bytes = adi3d_p_chip_lay_out(n, size, &chip);
        /* The fewest threads that solve all lines in the fewest rounds. Blocks that share a multiprocessor divide
           most_threads among themselves; a block's number is then rounded up to whole warps. */
        const int row = n[1] > n[0] ? n[1] : n[0], lines = row * chip.each > chip.share ? row * chip.each : chip.share;
        const int lanes = (2 * lines + 31) / 32 * 32;
        int resident = most / (bytes + 2048);
        resident = resident > most_threads / 128 ? most_threads / 128 : resident;
        resident = resident < 1 ? 1 : resident;
        const int limit = most_threads / resident, rounds = (lanes + limit - 1) / limit;
        const int threads = ((lanes + rounds - 1) / rounds + 31) / 32 * 32;
        if (size > 8 || n[2] < 4 * size) *pays = 0;
        return fd_p_chosen{kernel, size, threads, (size_t)bytes};
    };
    return fd_p_choose(kernel, batch, sizeof(adi3d_p_chip) + 64, asked, shape);
}

/* Chooses the kernel that serves a batch, and its launch. */
template <int unused>
static inline fd_p_chosen adi3d_p_chosen_for(const fd_batch *batch)
{
    /* As many threads as registers allow if each holds the eliminated rows of half a line. */
    enum {
        most = ADI3D_MOST_ON_CHIP,
        few = sizeof(tb_real) == 4 ? 512 : 256,
        fewer = sizeof(tb_real) == 4 ? 384 : 256
    };
    const fd_p_chosen none = {NULL, 0, 0, 0};
    int longest = 0;
    for (int d = 0; d < 3; d++) longest = batch->points[d] > longest ? batch->points[d] : longest;
    if (longest <= 32) return adi3d_p_choose<16, few>(batch, 0);
    if (longest <= most) return adi3d_p_choose<most / 2, fewer>(batch, 0);
    return none;
}

/* Returns how many blocks each problem of a batch takes on the current device: 1, 2, 4, 8 or 16; 0 if its grids do not
   fit, or if adi3d_check refuses the batch's sizes. */
template <int unused = 0>
static inline int adi3d_onchip_blocks(const fd_batch *batch)
{
    if (fd_p_sizes(3, batch)) return 0;
    const fd_p_chosen chosen = adi3d_p_chosen_for<unused>(batch);
    return chosen.bytes > 0 ? chosen.size : 0;
}

/* Returns the bytes of device memory that MODEL_onchip needs, or 0 for a batch whose sizes are refused. The batch's
   pointers may still be null. */
template <int unused = 0>
static inline size_t adi3d_onchip_bytes(const fd_batch *batch)
{
    return fd_p_ready_bytes(batch);
}

/* Solves the problems of a batch, each by the block or the cluster of blocks that holds its grid, with all steps in one
   kernel.
   Needs    in device memory: all that the batch and its problems point to, parameters (one per problem), and memory of
            MODEL_onchip_bytes, aligned to 128 bytes
   Leaves   status, values, grids and coordinates, in stream order; NaN for a problem that fails; if the call is
            refused, FD_BAD_ARGUMENT in each status and, if the batch's sizes are valid, NaN elsewhere
   Returns  FD_OK; as adi3d_check; FD_BAD_ARGUMENT for a null pointer or misaligned memory; FD_NO_ROOM for grids that no
            cluster of the current device holds (MODEL_onchip_blocks), or for less memory than MODEL_onchip_bytes;
            FD_LAUNCH_FAILED
   Cost     two launches, no transfer; per problem two arrays of the grid's size in shared memory, and three in device
            memory. A march of one stage without exercise or dates reads only one of these three: the final values */
template <int unused = 0>
static inline int adi3d_onchip(const fd_batch *batch, const fd_model_parameters *parameters, void *memory, size_t bytes,
                               cudaStream_t stream)
{
    const int wrong = fd_p_device_call(batch, parameters, memory, bytes, fd_p_ready_bytes(batch), stream);
    if (wrong || batch->problems == 0) return wrong;
    const fd_p_chosen chosen = adi3d_p_chosen_for<unused>(batch);
    if (chosen.bytes == 0) {
        fd_p_refuse(batch, stream);
        return FD_NO_ROOM;
    }
    const fd_p_launch launch = fd_p_launch_of(batch, parameters, memory, fd_p_ready_lay_out(batch, NULL, NULL));
    return fd_p_ready_and_march<256>(launch, chosen, stream) == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED;
}
