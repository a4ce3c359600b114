/* onchip.h - a room of adi3d.h, read once a model and precision: marches of batches on chip.
   MIT licence, see LICENSE. */

#define adi3d_p_chip_values ADI3D_OF(p_chip_values)
#define adi3d_p_chip_date ADI3D_OF(p_chip_date)
#define adi3d_p_chip_lost ADI3D_OF(p_chip_lost)
#define adi3d_p_chip_ended ADI3D_OF(p_chip_ended)
#define adi3d_p_chip_march ADI3D_OF(p_chip_march)
#define adi3d_p_chip_begin ADI3D_OF(p_chip_begin)
#define adi3d_p_chip_kernel ADI3D_OF(p_chip_kernel)
#define adi3d_p_chosen ADI3D_OF(p_chosen)
#define adi3d_p_choose ADI3D_OF(p_choose)
#define adi3d_p_chosen_for ADI3D_OF(p_chosen_for)
#define adi3d_p_onchip ADI3D_OF(p_onchip)
#define adi3d_p_refuse ADI3D_OF(p_refuse)
#define adi3d_onchip_blocks ADI3D_OF(onchip_blocks)
#define adi3d_onchip_bytes ADI3D_OF(onchip_bytes)
#define adi3d_onchip ADI3D_OF(onchip)

/* Computes value and derivatives at the spot, by one thread of the cluster. */
ADI3D_P_RARE void adi3d_p_chip_values(const adi3d_p_chip &h, adi3d_values *values)
{
    const fd_weights *at = h.t.at;
    if (h.rank > 0 || trid_block_thread() > 0) return;
    tb_real around[64];
    for (int m = 0; m < 64; m++)
        around[m] = adi3d_p_chip_value(h, h.u, at[0].first + m % 4, at[1].first + m / 4 % 4, at[2].first + m / 16);
    *values = adi3d_p_values(at, around);
}

/* Applies the event of a date to the block's rows, a warp a row, which it reads before it writes any of it. */
ADI3D_P_RARE void adi3d_p_chip_date(adi3d_p_chip &h, unsigned char *memory, int date)
{
    enum { of_lane = (ADI3D_MOST_ON_CHIP + 31) / 32 };
    int added = 0;
    const fd_date event = h.problem.at_date[date];
    const int n0 = h.t.n[0], n1 = h.t.n[1], lane = trid_block_thread() % 32;
    for (int r = trid_block_thread() / 32; r < n1 * h.planes; r += trid_block_threads() / 32) {
        tb_real *row = (tb_real *)(memory + h.u) + h.pitch * r, after[of_lane];
        const int at = n0 * (r + n1 * h.first);
        for (int m = 0, i = lane; m < of_lane; m++, i += 32)
            after[m] =
                i < n0 ? adi3d_p_device_event(h, date, &event, row, at + i, i, r % n1, h.first + r / n1, &added) : 0;
        __syncwarp();
        for (int m = 0, i = lane; m < of_lane && i < n0; m++, i += 32) row[i] = after[m];
    }
    if (added) fd_p_most(&h.given, added);
}

/* Returns the first point of the grid whose value is not finite; with terms, whose terms are not, at the step's start
   or end. Leaves in *largest the thread's largest magnitude. */
ADI3D_P_RARE int adi3d_p_chip_lost(const adi3d_p_chip &h, unsigned char *memory, int terms, int *least, int *largest)
{
    const adi3d_p_step &step = *(const adi3d_p_step *)(memory + h.step);
    const int n0 = h.t.n[0], n1 = h.t.n[1], first = n0 * n1 * h.first;
    int lost = FD_P_NONE, most = 0;
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes && lost == FD_P_NONE; at += trid_block_threads()) {
        const tb_real value = ((const tb_real *)(memory + h.u))[adi3d_p_chip_at(h, at)];
        int good = 1;
        for (int end = 0; end < 2 && terms; end++)
            good &=
                adi3d_p_finite(adi3d_p_terms_at(&h.t, at % n0, at / n0 % n1, h.first + at / n0 / n1, step.time[end]));
        if (!terms) good = trid_finite(value);
        if (!good) lost = first + at;
        most = fd_p_larger(most, (double)value);
    }
    *largest = most;
    return fd_p_chip_least(h.size, lost, least);
}

/* Returns the status of a march that ended, by the magnitudes of all threads. */
ADI3D_P_RARE fd_status adi3d_p_chip_ended(const adi3d_p_chip &h, int not_dominant, int largest, int *least)
{
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    const int given = -fd_p_chip_least(h.size, -h.given, least);
    fd_p_grown(&status, given, -fd_p_chip_least(h.size, -largest, least));
    status.not_dominant = not_dominant;
    return status;
}

/* Marches the problem. With `watched`, looks for what is not finite before and after each step, not only at the end. */
template <int half>
TB_D fd_status adi3d_p_chip_march(adi3d_p_chip &h, unsigned char *memory, const adi3d_p_ready &ready, int watched,
                                  int *least, adi3d_values *values)
{
    const int n0 = h.t.n[0], n1 = h.t.n[1], first = n0 * n1 * h.first, steps = ready.plan->steps;
    int lost = FD_P_NONE, what = FD_NOT_SOLVED, largest = 0, k;
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes; at += trid_block_threads()) {
        ((tb_real *)(memory + h.u))[adi3d_p_chip_at(h, at)] = h.final[first + at];
        if (h.extra) h.extra[first + at] = 0;
    }
    fd_p_chip_sync(h.size);
    TB_LOOP
    for (k = 0; k < steps; k++) {
        if (k == ready.plan->bad) return fd_status_of(FD_MODEL_NAN, 0, -1, -1, -1, -1, k);
        adi3d_p_chip_fetch_step(h, memory, &ready.data[k]);
        if (watched && (lost = adi3d_p_chip_lost(h, memory, 1, least, &largest)) != FD_P_NONE) {
            what = FD_MODEL_NAN;
            break;
        }
        const int date = ((const adi3d_p_step *)(memory + h.step))->data.date;
        const fd_date *event = adi3d_p_event(&h.problem, date);
        adi3d_p_chip_step<half>(h, memory);
        if (event) {
            if (event->what != FD_RECORD) {
                adi3d_p_chip_date(h, memory, date);
                fd_p_chip_sync(h.size);
            }
            if (event->what & FD_RECORD) {
                adi3d_p_chip_values(h, &values[1 + date]);
                fd_p_chip_sync(h.size);
            }
        }
        if ((watched || k == steps - 1) && (lost = adi3d_p_chip_lost(h, memory, 0, least, &largest)) != FD_P_NONE)
            break;
    }
    if (lost == FD_P_NONE) return adi3d_p_chip_ended(h, ready.plan->not_dominant, largest, least);
    return fd_status_of(what, 0, -1, lost % n0, lost / n0 % n1, lost / n0 / n1, k);
}

/* Fills in what a block knows, and its tables. */
TB_D void adi3d_p_chip_begin(const adi3d_p_batch &launch, const adi3d_p_ready &ready, int which, unsigned char *memory,
                             adi3d_p_chip &h)
{
    const int thread = trid_block_thread(), threads = trid_block_threads();
    if (thread == 0) {
        h.t = ready.t;
        h.problem = launch.batch.problem[which], h.parameters = &launch.parameters[which], h.memory = memory;
        adi3d_p_chip_lay_out(h.t.n, trid_cluster_size(), &h);
        h.rank = trid_cluster_rank(), h.first = h.rank * h.each, h.given = ready.plan->given;
        h.planes = h.t.n[2] - h.first < h.each ? h.t.n[2] - h.first : h.each;
        if (h.planes < 0) h.planes = 0;
        h.final = ready.final, h.of = ready.of, h.extra = h.problem.exercise == FD_AMERICAN ? ready.extra : NULL;
        h.adds = 0;
        for (int d = 0; d < 3; d++) {
            h.adds |= adi3d_p_adds(&h.problem, d, 0) | adi3d_p_adds(&h.problem, d, 1);
            h.t.at[d] = ready.plan->at[d], h.t.padded[d] = h.t.n[d];
            h.t.cell[d] = (fd_cell *)(memory + h.cell[d]), h.t.number[d] = (tb_real *)(memory + h.number[d]);
        }
    }
    __syncthreads();
    for (int d = 0; d < 3; d++)
        for (int i = thread; i < h.t.n[d]; i += threads) {
            h.t.cell[d][i] = ready.t.cell[d][i];
            for (int q = 0; q < adi3d_p_numbers(d); q++)
                h.t.number[d][q * h.t.n[d] + i] = ready.t.number[d][q * ready.t.padded[d] + i];
        }
    for (int k = thread; k < h.t.n[2]; k += threads)
        ((trid_cluster_place *)(memory + h.places))[k] =
            trid_cluster_map(memory, k / h.each) + k % h.each * h.plane * (int)sizeof(tb_real);
    __syncthreads();
}

/* Does a block's part in its problem: all steps. */
template <int half, int most_threads>
TRID_KERNEL void __launch_bounds__(most_threads) adi3d_p_chip_kernel(const __grid_constant__ adi3d_p_batch launch)
{
    TRID_DYNAMIC_SHARED(memory);
    __shared__ adi3d_p_chip h;
    __shared__ int least;
    const adi3d_batch *batch = &launch.batch;
    const int which = (int)blockIdx.x / trid_cluster_size(), thread = trid_block_thread(),
              threads = trid_block_threads();
    const adi3d_p_ready ready = adi3d_p_ready_of(launch, which);
    const int n0 = ready.t.n[0], n1 = ready.t.n[1], rank = trid_cluster_rank();
    adi3d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    fd_status status = ready.plan->status;
    if (trid_cluster_size() > 1) trid_cluster_sync(); /* all have begun */
    if (!status.what) {
        adi3d_p_chip_begin(launch, ready, which, memory, h);
        TB_LOOP
        for (int watched = 0; watched < 2; watched++) {
            status = adi3d_p_chip_march<half>(h, memory, ready, watched, &least, values);
            if (!status.what) break;
            fd_p_chip_sync(h.size);
        }
    }
    if (status.what) {
        if (rank == 0) adi3d_p_fail_in(batch, which, thread, threads);
    } else {
        const size_t m0 = (size_t)batch->points[0], m1 = (size_t)batch->points[1];
        tb_real *grid = (tb_real *)batch->grid;
        if (grid) grid += (size_t)which * m0 * m1 * (size_t)batch->points[2];
        adi3d_p_chip_values(h, &values[0]);
        for (int at = thread; at < n0 * n1 * h.planes && grid; at += threads)
            grid[(size_t)(at % n0) + m0 * ((size_t)(at / n0 % n1) + m1 * (size_t)(h.first + at / n0 / n1))] =
                ((const tb_real *)(memory + h.u))[adi3d_p_chip_at(h, at)];
    }
    if (rank == 0 && thread == 0) batch->status[which] = status;
    if (trid_cluster_size() > 1) trid_cluster_sync(); /* no block may end while another reads its memory */
}

/* A kernel, and how it is launched: bytes of shared memory, 0 if there is none for a batch. */
typedef struct {
    void (*kernel)(adi3d_p_batch);
    int size, threads, bytes;
} adi3d_p_chosen;

/* Chooses how a batch is launched: by the smallest cluster whose blocks hold it; by larger ones as long as all problems
   run at once and its blocks have four planes; or by one of the size asked for. Results do not depend on it, to the
   bit. */
template <int half, int most_threads>
static inline adi3d_p_chosen adi3d_p_choose(const adi3d_batch *batch, int asked)
{
    adi3d_p_chosen best = {adi3d_p_chip_kernel<half, most_threads>, 1, most_threads, 0};
    const int most = adi3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int processors = adi3d_p_attribute(cudaDevAttrMultiProcessorCount), *n = batch->points;
    if (trid_allow_shared(best.kernel) != cudaSuccess) return best;
    for (int size = 1; size <= 16; size *= 2) {
        adi3d_p_chip chip;
        const int bytes = adi3d_p_chip_lay_out(n, size, &chip);
        if (bytes + (int)sizeof chip + 64 > most || (asked && size != asked)) continue;
        if (best.bytes > 0 && (size > 8 || (long long)size * batch->problems > processors || n[2] < 4 * size)) break;
        /* As many lanes as the lines need in the fewest rounds; fewer where several blocks share a processor. */
        const int row = n[1] > n[0] ? n[1] : n[0], lines = row * chip.each > chip.share ? row * chip.each : chip.share;
        const int lanes = (2 * lines + 31) / 32 * 32;
        int resident = most / (bytes + 2048);
        resident = resident > most_threads / 128 ? most_threads / 128 : resident;
        resident = resident < 1 ? 1 : resident;
        const int limit = most_threads / resident, rounds = (lanes + limit - 1) / limit;
        const int threads = ((lanes + rounds - 1) / rounds + 31) / 32 * 32;
        if (size > 1 && trid_clusters(best.kernel, size, dim3((unsigned)threads), (size_t)bytes) < 1) break;
        best.size = size, best.threads = threads, best.bytes = bytes;
    }
    return best;
}

/* Chooses the kernel that serves a batch, and how it is launched. */
template <int unused>
static inline adi3d_p_chosen adi3d_p_chosen_for(const adi3d_batch *batch)
{
    /* As many threads as have registers for half a line of pivots and differences each. */
    enum {
        most = ADI3D_MOST_ON_CHIP,
        few = sizeof(tb_real) == 4 ? 512 : 256,
        fewer = sizeof(tb_real) == 4 ? 384 : 256
    };
    const adi3d_p_chosen none = {NULL, 0, 0, 0};
    int longest = 0;
    for (int d = 0; d < 3; d++) longest = batch->points[d] > longest ? batch->points[d] : longest;
    if (longest <= 32) return adi3d_p_choose<16, few>(batch, 0);
    if (longest <= most) return adi3d_p_choose<most / 2, fewer>(batch, 0);
    return none;
}

/* Launches the kernels that make the problems ready and march them. */
template <int unused>
static inline cudaError_t adi3d_p_onchip(const adi3d_p_batch &launch, adi3d_p_chosen chosen, cudaStream_t stream)
{
    const unsigned problems = (unsigned)launch.batch.problems;
    const cudaError_t error =
        trid_launch(adi3d_p_ready_kernel<unused>, dim3(problems), dim3(adi3d_p_ready_threads), 0, stream, launch);
    if (error != cudaSuccess) return error;
    const dim3 blocks(problems * (unsigned)chosen.size), threads((unsigned)chosen.threads);
    return chosen.size > 1
               ? trid_launch_cluster(chosen.kernel, blocks, chosen.size, threads, (size_t)chosen.bytes, stream, launch)
               : trid_launch(chosen.kernel, blocks, threads, (size_t)chosen.bytes, stream, launch);
}

/* Writes the results of a call that is refused, if the batch says where and how much: all bits set, which is
   FD_BAD_ARGUMENT as a status, and NaN elsewhere. Returns what is wrong. */
template <int unused>
static inline fd_status adi3d_p_refuse(const adi3d_batch *batch, int wrong, cudaStream_t stream)
{
    const fd_status status = fd_status_of(wrong, 0, -1, -1, -1, -1, -1);
    if (adi3d_p_sizes(batch) || batch->problems == 0) return status;
    size_t bytes[6] = {sizeof(fd_status), (size_t)(1 + batch->dates) * sizeof(adi3d_values), sizeof(tb_real)};
    void *const at[6] = {batch->status,         batch->values,         batch->grid,
                         batch->coordinates[0], batch->coordinates[1], batch->coordinates[2]};
    for (int d = 0; d < 3; d++)
        bytes[2] *= (size_t)batch->points[d], bytes[3 + d] = (size_t)batch->points[d] * sizeof(double);
    for (int k = 0; k < 6; k++)
        if (at[k] && cudaMemsetAsync(at[k], 255, (size_t)batch->problems * bytes[k], stream) != cudaSuccess)
            cudaGetLastError(); /* a pointer that is not the device's: clears the error for later calls */
    return status;
}

/* Returns how many blocks of the current device each problem of a batch takes, 1, 2, 4, 8 or 16; 0 if they do not fit,
   or for a batch that adi3d_batch_check refuses for more than its pointers. */
template <int unused = 0>
static inline int adi3d_onchip_blocks(const adi3d_batch *batch)
{
    if (adi3d_p_sizes(batch)) return 0;
    const adi3d_p_chosen chosen = adi3d_p_chosen_for<unused>(batch);
    return chosen.bytes > 0 ? chosen.size : 0;
}

/* Returns the bytes of device memory that MODEL_onchip needs, or 0 for a batch that is refused. The batch's pointers
   may still be null. */
template <int unused = 0>
static inline size_t adi3d_onchip_bytes(const adi3d_batch *batch)
{
    return adi3d_p_sizes(batch) ? 0 : (size_t)batch->problems * adi3d_p_ready_lay_out(batch, batch->points, NULL, NULL);
}

/* Solves the problems of a batch, each by the block or the cluster of blocks that holds its grid, all steps in one
   kernel.
   Needs    a batch whose pointers, and those in its problems, are to the device's memory, as are parameters (of each
            problem) and memory (of onchip_bytes, aligned to 128)
   Leaves   status, values, grids and coordinates, in the order of the stream; NaN for a problem that fails; where the
            call is refused, FD_BAD_ARGUMENT in each, and NaN
   Returns  what is FD_OK; as adi3d_batch_check; FD_NO_ROOM: grids that no cluster of the current device holds
            (MODEL_onchip_blocks), less memory, or none; or FD_LAUNCH_FAILED, detail the cudaError_t
   Cost     two launches, no transfer; two arrays of shared memory a problem, three of device memory, which a march of
            one stage does not touch without exercise */
template <int unused = 0>
static inline fd_status adi3d_onchip(const adi3d_batch *batch, const adi3d_model_parameters *parameters,
                                     cudaStream_t stream, void *memory, size_t bytes)
{
    int wrong = adi3d_batch_check(batch);
    if (!wrong && batch->problems == 0) return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    if (!wrong && !parameters) wrong = FD_BAD_ARGUMENT;
    if (!wrong && (!memory || bytes < adi3d_onchip_bytes<unused>(batch))) wrong = FD_NO_ROOM;
    if (wrong) return adi3d_p_refuse<unused>(batch, wrong, stream);
    const adi3d_p_chosen chosen = adi3d_p_chosen_for<unused>(batch);
    if (chosen.bytes == 0) return adi3d_p_refuse<unused>(batch, FD_NO_ROOM, stream);
    adi3d_p_batch launch;
    launch.batch = *batch, launch.parameters = parameters, launch.memory = (unsigned char *)memory;
    launch.bytes = adi3d_p_ready_lay_out(batch, batch->points, NULL, NULL);
    const cudaError_t error = adi3d_p_onchip<unused>(launch, chosen, stream);
    return fd_status_of(error == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED, (int)error, -1, -1, -1, -1, -1);
}
