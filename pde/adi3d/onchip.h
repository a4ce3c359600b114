/* onchip.h - a room of adi3d.h, read once a model and precision: batches are prepared and marched on chip.
   MIT licence, see LICENSE. */

#define adi3d_onchip_blocks FD_OF(onchip_blocks)
#define adi3d_onchip_bytes FD_OF(onchip_bytes)
#define adi3d_onchip FD_OF(onchip)

/* ---- preparation ------------------------------------------------------------------------------------------------- */

/* A prepared problem, in device memory, and what its march needs there. */
typedef struct {
    fd_p_tables t;
    fd_p_step *step;  /* each step of the march */
    tb_real *extra, *of; /* grids without gaps: exercise's multiplier, the base of a second stage */
} adi3d_p_ready;

/* What the kernels of a launch know. */
typedef struct {
    fd_batch batch;
    const fd_model_parameters *parameters;
    unsigned char *memory;
    size_t bytes; /* of a problem */
} adi3d_p_batch;

/* Lays out a problem's device memory; if memory is null, only counts. Returns bytes. */
TB_HD size_t adi3d_p_ready_lay_out(const fd_batch *batch, unsigned char *memory, adi3d_p_ready *ready)
{
    adi3d_p_ready r;
    size_t used = fd_p_lay_out(batch, memory, &r.t);
    const size_t grid = fd_p_round((size_t)fd_p_count(batch->points) * sizeof(tb_real));
    r.step = (fd_p_step *)fd_p_at(memory, used), used += fd_p_round((size_t)batch->steps * sizeof *r.step);
    r.extra = (tb_real *)fd_p_at(memory, used), used += grid;
    r.of = (tb_real *)fd_p_at(memory, used), used += grid;
    if (ready) *ready = r;
    return used;
}

/* Returns problem `which` of a launch, as it is in device memory. */
TB_D adi3d_p_ready adi3d_p_ready_of(const adi3d_p_batch &launch, int which)
{
    adi3d_p_ready r;
    adi3d_p_ready_lay_out(&launch.batch, launch.memory + (size_t)which * launch.bytes, &r);
    r.t.problem = &launch.batch.problem[which], r.t.parameters = &launch.parameters[which];
    return r;
}

enum { adi3d_p_ready_threads = 256 };

/* Prepares the problems, a block each. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_ready_threads) adi3d_p_ready_kernel(
    const __grid_constant__ adi3d_p_batch launch)
{
    const int which = (int)blockIdx.x, thread = trid_block_thread();
    const adi3d_p_ready r = adi3d_p_ready_of(launch, which);
    TB_LOOP
    for (int phase = 0; phase < FD_P_PHASES; phase++) {
        fd_p_prepare(&launch.batch, &r.t, phase, thread, adi3d_p_ready_threads);
        __syncthreads();
    }
    if (r.t.found->status.what) return;
    for (int k = thread; k < r.t.found->steps; k += adi3d_p_ready_threads) {
        const fd_step step = fd_p_step_at(&r.t, k);
        r.step[k] = fd_p_step_of(r.t.problem, r.t.parameters, &step);
    }
    fd_p_coordinates(&launch.batch, &r.t, which, thread, adi3d_p_ready_threads);
}

/* ---- the march --------------------------------------------------------------------------------------------------- */

/* Writes the results of a time, 0 or 1 + a date: a block its planes of the grid, the first one the values at spots. */
FD_P_CALLED_D void adi3d_p_chip_record(const adi3d_p_chip &h, unsigned char *memory, int time)
{
    const fd_batch *batch = &h.batch;
    const size_t at = (size_t)h.which * (size_t)(1 + batch->dates) + (size_t)time;
    const int m0 = batch->points[0], m1 = batch->points[1], threads = trid_block_threads();
    const long long stride[3] = {1, 4, 16};
    for (int s = trid_block_thread(); s < batch->spots && h.rank == 0; s += threads) {
        const fd_weights *of = h.t.around + 3 * s;
        tb_real around[64];
        for (int m = 0; m < 64; m++)
            around[m] =
                adi3d_p_chip_value(h, h.u, of[0].first + m % 4, of[1].first + m / 4 % 4, of[2].first + m / 16);
        batch->values[at * (size_t)batch->spots + (size_t)s] = fd_p_values_of(of, around, stride);
    }
    if (!batch->grid) return;
    tb_real *grid = (tb_real *)batch->grid + at * (size_t)fd_p_count(batch->points);
    const int last = h.rank == h.size - 1, to = last ? batch->points[2] : h.first + h.planes;
    for (int e = m0 * m1 * h.first + trid_block_thread(); e < m0 * m1 * to; e += threads) {
        const int i = e % m0, j = e / m0 % m1, k = e / m0 / m1, own = i + h.pitch * j + h.plane * (k - h.first);
        const int is_there = i < h.n[0] && j < h.n[1] && k < h.first + h.planes;
        grid[e] = is_there ? ((const tb_real *)(memory + h.u))[own] : fd_p_nan();
    }
}

/* Applies the event of a date to the block's rows, a warp a row, which it reads before it writes any of it. */
FD_P_CALLED_D void adi3d_p_chip_date(adi3d_p_chip &h, unsigned char *memory)
{
    enum { of_lane = (ADI3D_MOST_ON_CHIP + 31) / 32 };
    const fd_p_step &step = *(const fd_p_step *)(memory + h.step);
    const fd_date *event = fd_p_event(&h.problem, step.data.date);
    const int n0 = h.n[0], n1 = h.n[1], lane = trid_block_thread() % 32;
    int added = 0;
    for (int r = trid_block_thread() / 32; r < n1 * h.planes; r += trid_block_threads() / 32) {
        tb_real *row = (tb_real *)(memory + h.u) + h.pitch * r, after[of_lane], none = 0;
        for (int m = 0, i = lane; m < of_lane && i < n0; m++, i += 32) {
            const int index[3] = {i, r % n1, h.first + r / n1}, at = i + n0 * (r + n1 * h.first);
            const tb_real value = event->what & FD_SHIFT ? fd_p_shifted_to(event, n0, h.t.x[0], i, row) : row[i];
            after[m] = fd_p_changed(&h.t, step.data.date, step.to, index, value, h.t.final[at],
                                    h.extra ? &h.extra[at] : &none, &added);
        }
        __syncwarp();
        for (int m = 0, i = lane; m < of_lane && i < n0; m++, i += 32) row[i] = after[m];
    }
    if (added) fd_p_most(&h.given, added);
}

/* Returns the first point of the grid whose value is not finite; with terms, whose terms are not, at the step's start
   or end. Leaves in *largest the thread's largest magnitude. */
FD_P_CALLED_D int adi3d_p_chip_lost(const adi3d_p_chip &h, unsigned char *memory, int terms, int *least, int *largest)
{
    const fd_p_step &step = *(const fd_p_step *)(memory + h.step);
    const int n0 = h.n[0], n1 = h.n[1], first = n0 * n1 * h.first;
    int lost = FD_P_NONE, most = 0;
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes && lost == FD_P_NONE; at += trid_block_threads()) {
        const int index[3] = {at % n0, at / n0 % n1, h.first + at / n0 / n1};
        const tb_real value = ((const tb_real *)(memory + h.u))[adi3d_p_chip_at(h, at)];
        int good = terms ? 1 : trid_finite(value);
        for (int end = 0; end < 2 && terms; end++)
            good &= fd_p_terms_finite(fd_p_terms_here(&h.t, index, step.time[end]));
        if (!good) lost = first + at;
        most = fd_p_larger(most, (double)value);
    }
    *largest = most;
    return fd_p_chip_least(h.size, lost, least);
}

/* Returns the status of a march that ended, by the magnitudes of all threads. */
FD_P_CALLED_D fd_status adi3d_p_chip_ended(const adi3d_p_chip &h, int largest, int *least)
{
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    const int given = -fd_p_chip_least(h.size, -h.given, least);
    fd_p_grown(&status, given, -fd_p_chip_least(h.size, -largest, least));
    return status;
}

/* Marches the problem. With `watched`, looks for what is not finite before and after each step, not only at the end. */
template <int half>
TB_D fd_status adi3d_p_chip_march(adi3d_p_chip &h, unsigned char *memory, int watched, int *least)
{
    const int n0 = h.n[0], n1 = h.n[1], first = n0 * n1 * h.first, steps = h.t.found->steps;
    int lost = FD_P_NONE, largest = 0;
    if (trid_block_thread() == 0) h.given = h.t.found->given;
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes; at += trid_block_threads()) {
        ((tb_real *)(memory + h.u))[adi3d_p_chip_at(h, at)] = h.t.final[first + at];
        if (h.extra) h.extra[first + at] = 0;
    }
    fd_p_chip_sync(h.size);
    TB_LOOP
    for (int k = 0; k < steps; k++) {
        adi3d_p_chip_fetch_step(h, memory, k);
        if (watched && (lost = adi3d_p_chip_lost(h, memory, 1, least, &largest)) != FD_P_NONE)
            return fd_p_status_at(FD_MODEL_NAN, h.n, lost, k);
        const int date = ((const fd_p_step *)(memory + h.step))->data.date;
        const fd_date *event = fd_p_event(&h.problem, date);
        adi3d_p_chip_step<half>(h, memory);
        if (event && event->what != FD_RECORD) {
            adi3d_p_chip_date(h, memory);
            fd_p_chip_sync(h.size);
        }
        if (event && (event->what & FD_RECORD)) {
            adi3d_p_chip_record(h, memory, 1 + date);
            fd_p_chip_sync(h.size);
        }
        if ((watched || k == steps - 1) && (lost = adi3d_p_chip_lost(h, memory, 0, least, &largest)) != FD_P_NONE)
            return fd_p_status_at(FD_NOT_SOLVED, h.n, lost, k);
    }
    return adi3d_p_chip_ended(h, largest, least);
}

/* Fills in what a block knows, and its tables. */
TB_D void adi3d_p_chip_begin(const adi3d_p_batch &launch, const adi3d_p_ready &ready, int which, unsigned char *memory,
                             adi3d_p_chip &h)
{
    const int thread = trid_block_thread(), threads = trid_block_threads();
    if (thread == 0) {
        h.t = ready.t, h.problem = *ready.t.problem, h.memory = memory, h.batch = launch.batch, h.which = which;
        for (int d = 0; d < 3; d++) h.n[d] = ready.t.found->points[d];
        adi3d_p_chip_lay_out(h.n, trid_cluster_size(), &h);
        h.rank = trid_cluster_rank(), h.first = h.rank * h.each;
        h.planes = h.n[2] - h.first < h.each ? h.n[2] - h.first : h.each;
        if (h.planes < 0) h.planes = 0, h.first = h.n[2];
        h.steps = ready.step, h.of = ready.of, h.extra = h.problem.exercise == FD_AMERICAN ? ready.extra : NULL;
        h.adds = 0;
        for (int d = 0; d < 3; d++) {
            h.adds |= fd_p_adds(h.problem.face[d][0]) | fd_p_adds(h.problem.face[d][1]);
            h.t.cell[d] = (fd_cell *)(memory + h.cell[d]);
            h.t.number[d] = (tb_real *)(memory + h.number[d]), h.t.room[d] = h.n[d];
        }
    }
    __syncthreads();
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

/* Does a block's part in its problem: all steps. */
template <int half, int most_threads>
TRID_KERNEL void __launch_bounds__(most_threads) adi3d_p_chip_kernel(const __grid_constant__ adi3d_p_batch launch)
{
    TRID_DYNAMIC_SHARED(memory);
    __shared__ adi3d_p_chip h;
    __shared__ int least;
    const int size = trid_cluster_size(), which = (int)blockIdx.x / size;
    const adi3d_p_ready ready = adi3d_p_ready_of(launch, which);
    fd_status status = ready.t.found->status;
    if (size > 1) trid_cluster_sync(); /* all have begun */
    if (!status.what) {
        adi3d_p_chip_begin(launch, ready, which, memory, h);
        TB_LOOP
        for (int watched = 0; watched < 2; watched++) {
            status = adi3d_p_chip_march<half>(h, memory, watched, &least);
            if (!status.what) break;
            fd_p_chip_sync(size);
        }
        status.not_dominant = h.t.found->not_dominant;
    }
    if (!status.what)
        adi3d_p_chip_record(h, memory, 0);
    else if (trid_cluster_rank() == 0)
        fd_p_fill_nan(&launch.batch, which, trid_block_thread(), trid_block_threads());
    if (trid_cluster_rank() == 0 && trid_block_thread() == 0) launch.batch.status[which] = status;
    if (size > 1) trid_cluster_sync(); /* no block may end while another reads its memory */
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* A kernel, and how it is launched: bytes of shared memory, 0 if there is none for a batch. */
typedef struct {
    void (*kernel)(adi3d_p_batch);
    int size, threads, bytes;
} adi3d_p_chosen;

/* Chooses how a batch is launched: by the smallest cluster whose blocks hold it; by larger ones as long as all problems
   run at once and its blocks have four planes; or by one of the size asked for. Results do not depend on it, to the
   bit. */
template <int half, int most_threads>
static inline adi3d_p_chosen adi3d_p_choose(const fd_batch *batch, int asked)
{
    adi3d_p_chosen best = {adi3d_p_chip_kernel<half, most_threads>, 1, most_threads, 0};
    const int most = trid_device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int processors = trid_device_attribute(cudaDevAttrMultiProcessorCount), *n = batch->points;
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
static inline adi3d_p_chosen adi3d_p_chosen_for(const fd_batch *batch)
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

/* Returns how many blocks of the current device each problem of a batch takes, 1, 2, 4, 8 or 16; 0 if they do not fit,
   or for a batch that adi3d_check refuses for more than its pointers. */
template <int unused = 0>
static inline int adi3d_onchip_blocks(const fd_batch *batch)
{
    if (fd_p_sizes(3, batch)) return 0;
    const adi3d_p_chosen chosen = adi3d_p_chosen_for<unused>(batch);
    return chosen.bytes > 0 ? chosen.size : 0;
}

/* Returns the bytes of device memory that MODEL_onchip needs, or 0 for a batch that is refused. The batch's pointers
   may still be null. */
template <int unused = 0>
static inline size_t adi3d_onchip_bytes(const fd_batch *batch)
{
    return fd_p_sizes(3, batch) ? 0 : (size_t)batch->problems * adi3d_p_ready_lay_out(batch, NULL, NULL);
}

/* Solves the problems of a batch, each by the block or the cluster of blocks that holds its grid, all steps in one
   kernel.
   Needs    a batch whose pointers, and those in its problems, are to the device's memory, as are parameters (of each
            problem) and memory (of onchip_bytes, aligned to 128)
   Leaves   status, values, grids and coordinates, in the order of the stream; NaN for a problem that fails; if the call
            is refused, FD_BAD_ARGUMENT in each, and NaN
   Returns  FD_OK; as adi3d_check; FD_BAD_ARGUMENT for a null pointer or memory off alignment; FD_NO_ROOM: grids that no
            cluster of the current device holds (MODEL_onchip_blocks), or less memory; FD_LAUNCH_FAILED
   Cost     two launches, no transfer; two arrays of shared memory a problem, three of device memory, which a march of
            one stage does not touch without exercise */
template <int unused = 0>
static inline int adi3d_onchip(const fd_batch *batch, const fd_model_parameters *parameters, void *memory, size_t bytes,
                               cudaStream_t stream)
{
    int wrong = adi3d_check(batch);
    if (!wrong && batch->problems == 0) return FD_OK;
    if (!wrong && (!parameters || !memory || (size_t)memory % 128 != 0)) wrong = FD_BAD_ARGUMENT;
    if (!wrong && bytes < adi3d_onchip_bytes<unused>(batch)) wrong = FD_NO_ROOM;
    const adi3d_p_chosen none = {NULL, 0, 0, 0}, chosen = wrong ? none : adi3d_p_chosen_for<unused>(batch);
    if (!wrong && chosen.bytes == 0) wrong = FD_NO_ROOM;
    if (wrong) {
        fd_p_refuse(batch, stream);
        return wrong;
    }
    adi3d_p_batch launch;
    launch.batch = *batch, launch.parameters = parameters, launch.memory = (unsigned char *)memory;
    launch.bytes = adi3d_p_ready_lay_out(batch, NULL, NULL);
    return adi3d_p_onchip<unused>(launch, chosen, stream) == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED;
}
