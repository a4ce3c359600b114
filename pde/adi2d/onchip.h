/* onchip.h - a room of adi2d.h, read once a model and precision: the march on chip: what happens between
   steps, the march, its kernel, the choice of its shape, the launch.
   MIT licence, see LICENSE. */

#define adi2d_onchip_bytes FD_OF(onchip_bytes)
#define adi2d_onchip FD_OF(onchip)

/* Returns point `at` of the block's rows, counted along them. */
TB_D tb_real *adi2d_p_chip_point(const adi2d_p_chip *h, unsigned char *memory, int at)
{
    return adi2d_p_array(memory, h->u) + at / h->n[0] * h->pitch + adi2d_p_swizzle(at % h->n[0]);
}

/* Applies early exercise to the block's rows after a step. */
FD_P_CALLED_D void adi2d_p_chip_exercise(const adi2d_p_chip *h, unsigned char *memory)
{
    const adi2d_p_step_data *data = adi2d_p_chip_data(h, memory);
    const int kind = h->t.problem->exercise, n = h->n[0];
    for (int at = trid_block_thread(); at < h->rows * n; at += trid_block_threads()) {
        const int index[2] = {at % n, h->first + at / n};
        const tb_real pays = fd_p_pays(&h->t, index, data->to, h->final[at]);
        tb_real *u = adi2d_p_chip_point(h, memory, at), more = kind == FD_AMERICAN ? h->multiplier[at] : 0;
        *u = fd_lane_exercise(kind, data->of.dt, pays, *u, &more);
        if (kind == FD_AMERICAN) h->multiplier[at] = more;
    }
}

/* Writes the results of a time, 0 or 1 + a date: the grid's rows by their blocks, values by the first block. */
FD_P_CALLED_D void adi2d_p_chip_record(const adi2d_p_chip *h, unsigned char *memory, int time)
{
    const fd_batch *batch = &h->batch;
    const size_t at = (size_t)h->which * (size_t)(1 + batch->dates) + (size_t)time;
    const int row = batch->points[0], threads = trid_block_threads();
    const long long stride[2] = {1, 4};
    for (int s = trid_block_thread(); s < batch->spots && h->rank == 0; s += threads) {
        const fd_weights *of = h->t.around + 2 * s;
        tb_real around[16];
        for (int k = 0; k < 16; k++)
            around[k] = adi2d_p_value_of(h, memory, h->u, of[0].first + k % 4, of[1].first + k / 4);
        batch->values[at * (size_t)batch->spots + (size_t)s] = fd_p_values_of(of, around, stride);
    }
    if (!batch->grid) return;
    tb_real *grid = (tb_real *)batch->grid + at * (size_t)row * (size_t)batch->points[1];
    const int left = batch->points[1] - h->first, rows = left < h->each ? left : h->each;
    for (int k = trid_block_thread(); k < rows * row; k += threads) {
        const int i = k % row, j = k / row;
        grid[(size_t)(h->first + j) * (size_t)row + (size_t)i] =
            i < h->n[0] && j < h->rows ? *adi2d_p_chip_point(h, memory, i + j * h->n[0]) : fd_p_nan();
    }
}

/* Shifts the values of the block's rows at a date, along x. */
FD_P_CALLED_D void adi2d_p_chip_shift(const adi2d_p_chip *h, unsigned char *memory, const fd_date *event)
{
    enum { most = 512 / 32 }; /* points of a thread */
    const double *x = h->t.x[0];
    const int n = h->n[0], threads = trid_block_threads();
    for (int row = 0; row < h->rows; row++) {
        /* All of a row is read before any of it is written. */
        tb_real *u = adi2d_p_array(memory, h->u) + row * h->pitch, shifted[most];
        for (int m = 0; m < most && m * threads < n; m++) {
            const int i = trid_block_thread() + m * threads;
            fd_weights from;
            shifted[m] = 0;
            if (i >= n || fd_interpolate(n, x, fd_shifted(event, x[i], x[0], x[n - 1]), &from)) continue;
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += from.value[k] * (double)u[adi2d_p_swizzle(from.first + k)];
            shifted[m] = (tb_real)sum;
        }
        __syncthreads();
        for (int m = 0; m < most && m * threads < n; m++) {
            const int i = trid_block_thread() + m * threads;
            if (i < n) u[adi2d_p_swizzle(i)] = shifted[m];
        }
        __syncthreads();
    }
}

/* Applies the events at the date that ends step k to the block's rows, and after a barrier of all threads makes the
   record. */
FD_P_CALLED_D void adi2d_p_chip_date(adi2d_p_chip *h, unsigned char *memory, int k)
{
    const int date = h->steps[k].of.date;
    const double time = h->steps[k].to;
    const fd_date *event = &h->t.problem->at_date[date];
    const int n = h->n[0], american = h->t.problem->exercise == FD_AMERICAN;
    int added = 0;
    if (event->what & FD_SHIFT) adi2d_p_chip_shift(h, memory, event);
    for (int at = trid_block_thread(); at < h->rows * n; at += trid_block_threads()) {
        tb_real *u = adi2d_p_chip_point(h, memory, at), more = american ? h->multiplier[at] : 0;
        const int index[2] = {at % n, h->first + at / n};
        *u = fd_p_changed(&h->t, date, time, index, *u, h->final[at], &more, &added);
        if (american) h->multiplier[at] = more;
    }
    if (added) fd_p_most(&h->given, added);
    fd_p_chip_sync(h->size);
    if (event->what & FD_RECORD) adi2d_p_chip_record(h, memory, 1 + date);
}

/* Returns the first of the cluster's points that is not finite, and in *largest the largest magnitude of this thread's.
   */
FD_P_CALLED_D int adi2d_p_chip_lost(const adi2d_p_chip *h, unsigned char *memory, int *least, int *largest)
{
    int lost = FD_P_NONE, most = 0;
    for (int at = trid_block_thread(); at < h->rows * h->n[0] && lost == FD_P_NONE; at += trid_block_threads()) {
        const tb_real value = *adi2d_p_chip_point(h, memory, at);
        most = fd_p_larger(most, (double)value);
        if (!trid_finite(value)) lost = at + h->first * h->n[0];
    }
    *largest = most;
    return fd_p_chip_least(h->size, lost, least);
}

/* Returns the status of a march that has ended, with its growth, by the magnitudes of all threads. */
FD_P_CALLED_D fd_status adi2d_p_chip_ended(const adi2d_p_chip *h, unsigned char *memory, int *least)
{
    const int n = h->n[0];
    int largest, lost = adi2d_p_chip_lost(h, memory, least, &largest);
    if (lost != FD_P_NONE) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost % n, lost / n, -1, h->t.found->steps - 1);
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    const int given = -fd_p_chip_least(h->size, -h->given, least);
    fd_p_grown(&status, given, -fd_p_chip_least(h->size, -largest, least));
    return status;
}

/* Returns the first point at which the model's terms are not finite, at the step's start or end. */
FD_P_CALLED_D int adi2d_p_chip_nan(const adi2d_p_chip *h, unsigned char *memory, int *least)
{
    int lost = FD_P_NONE;
    for (int at = trid_block_thread(); at < h->rows * h->n[0] && lost == FD_P_NONE; at += trid_block_threads())
        for (int e = 0; e < 2; e++) {
            const int index[2] = {at % h->n[0], h->first + at / h->n[0]};
            if (!fd_p_terms_finite(fd_p_terms_here(&h->t, index, adi2d_p_chip_time(h, memory, e))))
                lost = at + h->first * h->n[0];
        }
    return fd_p_chip_least(h->size, lost, least);
}

/* Loads the step data of step k and the numbers of its times. */
TB_D void adi2d_p_chip_step_data(const adi2d_p_chip *h, unsigned char *memory, int k)
{
    const int *from = (const int *)&h->steps[k], words = (int)(sizeof(adi2d_p_step_data) / sizeof(int));
    int *to = (int *)(memory + h->step_data);
    for (int q = trid_block_thread(); q < words; q += trid_block_threads()) to[q] = from[q];
    for (int q = trid_block_thread(); q < 2 * fd_p_numbers(3); q += trid_block_threads())
        adi2d_p_array(memory, h->now)[q] = fd_p_time_of(&h->t, k, 0)[q];
    __syncthreads();
}

/* Marches the problem, as adi2d_p_host_march; products, a literal, says that all steps are products. */
TB_D fd_status adi2d_p_chip_march(int per_lane, int products, adi2d_p_chip *h, unsigned char *memory, int watched,
                                  int *least)
{
    const int steps = h->t.found->steps, n = h->n[0], american = h->t.problem->exercise == FD_AMERICAN;
    tb_real factored = 0; /* the size for which the matrix along y is factored */
    for (int at = trid_block_thread(); at < h->cell[0] / (int)sizeof(tb_real); at += trid_block_threads())
        adi2d_p_array(memory, h->u)[at] = 0; /* all arrays, and what is beyond the ends of lines */
    __syncthreads();
    for (int at = trid_block_thread(); at < h->rows * n; at += trid_block_threads()) {
        *adi2d_p_chip_point(h, memory, at) = h->final[at];
        if (american) h->multiplier[at] = 0;
    }
    fd_p_chip_sync(h->size);
    TB_LOOP
    for (int k = 0; k < steps; k++) {
        const adi2d_p_step_data *data = adi2d_p_chip_data(h, memory);
        adi2d_p_chip_step_data(h, memory, k);
        const int date = data->of.date; /* the next step's may be written before all threads are done with this one's */
        if (watched) {
            int lost = adi2d_p_chip_nan(h, memory, least);
            if (lost != FD_P_NONE) return fd_status_of(FD_MODEL_NAN, 0, -1, lost % n, lost / n, -1, k);
        }
        if (products) {
            if (data->open) {
                adi2d_p_chip_open(per_lane, h, memory);
                fd_p_chip_sync(h->size);
            }
            if (adi2d_p_independent && (data->of.size < factored || data->of.size > factored)) {
                factored = data->of.size;
                adi2d_p_chip_factor(per_lane, h, memory);
            }
            adi2d_p_chip_product_x(per_lane, h, memory);
            fd_p_chip_sync(h->size);
            adi2d_p_chip_product_y(per_lane, h, memory);
        } else {
            TB_LOOP
            for (int s = 0; s < data->of.stages; s++) {
                if (s > 0) fd_p_chip_sync(h->size);
                adi2d_p_chip_x(per_lane, h, memory, s);
                fd_p_chip_sync(h->size);
                adi2d_p_chip_y(per_lane, h, memory, s);
            }
        }
        fd_p_chip_sync(h->size);
        if (h->t.problem->exercise != FD_EUROPEAN) {
            adi2d_p_chip_exercise(h, memory);
            fd_p_chip_sync(h->size);
        }
        if (fd_p_event(h->t.problem, date)) {
            adi2d_p_chip_date(h, memory, k);
            fd_p_chip_sync(h->size);
        }
        if (watched) {
            int unused, lost = adi2d_p_chip_lost(h, memory, least, &unused);
            if (lost != FD_P_NONE) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost % n, lost / n, -1, k);
        }
    }
    return adi2d_p_chip_ended(h, memory, least);
}

/* Loads the tables; beyond the last point, cells are 0 and numbers those of the last. */
TB_D void adi2d_p_chip_tables(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    for (int d = 0; d < 2; d++) {
        const int numbers = fd_p_numbers(d), room = per_lane * (d ? h->parts : h->width);
        for (int i = trid_block_thread(); i < room; i += trid_block_threads()) {
            const int last = i < h->n[d] ? i : h->n[d] - 1;
            const fd_cell none = {0, 0, 0, 0};
            ((fd_cell *)(memory + h->cell[d]))[i + i / per_lane] = i < h->n[d] ? h->t.cell[d][i] : none;
            for (int q = 0; q < numbers && (d || i < h->pitch); q++)
                adi2d_p_array(memory, h->number[d])[d ? q * room + i : q * h->pitch + adi2d_p_swizzle(i)] =
                    h->t.number[d][q * h->t.room[d] + last];
        }
    }
    __syncthreads();
}

/* Does a block's part of its cluster's problem. memory is dynamic shared memory; h and least are other shared memory.
   */
TB_D void adi2d_p_chip_problem(int per_lane, int products, const adi2d_p_launch *launch, unsigned char *memory,
                               adi2d_p_chip *h, int *least)
{
    const fd_batch *batch = &launch->batch;
    const int size = trid_cluster_size(), which = (int)blockIdx.x / size;
    if (trid_block_thread() == 0) {
        adi2d_p_chip_lay_out(per_lane, launch, trid_block_threads(), h);
        unsigned char *scratch = launch->memory + (size_t)which * launch->bytes;
        const size_t used = adi2d_p_lay_out(batch, scratch, &h->t, &h->steps);
        h->rank = trid_cluster_rank(), h->size = size, h->given = h->t.found->given;
        h->batch = *batch, h->which = which;
        h->t.problem = &batch->problem[which], h->t.parameters = &launch->parameters[which];
        h->n[0] = h->t.found->points[0], h->n[1] = h->t.found->points[1];
        h->width = launch->width, h->parts = launch->parts, h->each = launch->each, h->pitch = launch->pitch;
        h->first = h->rank * h->each, h->share = (h->n[0] + size - 1) / size;
        h->rows = h->n[1] - h->first < h->each ? h->n[1] - h->first : h->each;
        if (h->rows < 0) h->rows = 0;
        h->final = h->t.final + (size_t)h->first * (size_t)h->n[0];
        h->multiplier = (tb_real *)(scratch + used) + (size_t)h->first * (size_t)h->n[0];
    }
    __syncthreads();
    fd_status status = h->t.found->status;
    if (!status.what) {
        adi2d_p_chip_tables(per_lane, h, memory);
        TB_LOOP
        for (int watched = 0; watched < 2; watched++) {
            status = adi2d_p_chip_march(per_lane, products, h, memory, watched, least);
            if (!status.what) break;
            fd_p_chip_sync(h->size);
        }
        status.not_dominant = h->t.found->not_dominant;
    }
    if (!status.what)
        adi2d_p_chip_record(h, memory, 0);
    else if (h->rank == 0)
        fd_p_fill_nan(batch, which, trid_block_thread(), trid_block_threads());
    if (h->rank == 0 && trid_block_thread() == 0) batch->status[which] = status;
    fd_p_chip_sync(h->size); /* no block ends while another reads what it holds */
}

#if TB_LAUNCHES

template <int per_lane, int threads, int resident, int products>
TRID_KERNEL void __launch_bounds__(threads, resident) adi2d_p_onchip_kernel(adi2d_p_launch launch)
{
    TRID_DYNAMIC_SHARED(adi2d_p_memory);
    __shared__ adi2d_p_chip chip;
    __shared__ int least;
    adi2d_p_chip_problem(per_lane, products, &launch, adi2d_p_memory, &chip, &least);
}

/* A kernel and its shape: the size of its clusters, threads of a block, bytes of shared memory; 0 if none fits. */
typedef struct {
    void (*kernel)(adi2d_p_launch);
    int size, threads;
    size_t bytes;
} adi2d_p_chosen;

/* Chooses how a batch is launched: in the smallest clusters whose blocks hold its grids, in larger ones if those would
   leave the device idle, or in clusters of the size asked for. */
template <int per_lane, int threads, int resident, int products>
static inline adi2d_p_chosen adi2d_p_choose(adi2d_p_launch *launch, int asked)
{
    const adi2d_p_chosen none = {NULL, 1, threads, 0};
    adi2d_p_chosen best = none;
    const int most = trid_device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int processors = trid_device_attribute(cudaDevAttrMultiProcessorCount);
    void (*kernel)(adi2d_p_launch) = adi2d_p_onchip_kernel<per_lane, threads, resident, products>;
    if (trid_allow_shared(kernel) != cudaSuccess || most == 0 || processors == 0) return none;
    const int *points = launch->batch.points, unit = 128 / (int)sizeof(tb_real);
    launch->arrays = products ? 1 : launch->batch.kind == ADI2D_ONE_STAGE ? 2 : 3;
    launch->pitch = (points[0] + unit - 1) / unit * unit;
    launch->width = launch->parts = 1;
    while (launch->width * per_lane < points[0]) launch->width *= 2;
    while (launch->parts * per_lane < points[1]) launch->parts *= 2;
    if (launch->width > 32 || launch->parts > 32) return none;
    for (int blocks = 1; blocks <= 16; blocks *= 2) {
        adi2d_p_chip chip;
        adi2d_p_launch trial = *launch;
        trial.each = ((points[1] + blocks - 1) / blocks + per_lane - 1) / per_lane * per_lane;
        /* Threads for all lines at once, if a block may have that many. */
        const int share = (points[0] + blocks - 1) / blocks;
        int block_threads = 32;
        while (block_threads < threads &&
               (block_threads < launch->parts * share || block_threads < launch->width * trial.each))
            block_threads *= 2;
        adi2d_p_chip_lay_out(per_lane, &trial, block_threads, &chip);
        const size_t need = (size_t)chip.bytes;
        if (need + 1024 > (size_t)most || (asked && blocks != asked)) continue;
        /* Larger than needed only if all problems then run at once, and all blocks have work; and only up to four,
           beyond which barriers cost more than more blocks save. */
        if (best.bytes > 0 &&
            (blocks > 4 || blocks * launch->batch.problems > processors || trial.each * blocks > points[1]))
            break;
        if (blocks > 1 && trid_clusters(kernel, blocks, dim3((unsigned)block_threads), need) < 1) break;
        const adi2d_p_chosen chosen = {kernel, blocks, block_threads, need};
        best = chosen, launch->each = trial.each;
    }
    return best;
}

/* Chooses the kernel that serves a batch. As measured on an H200 (docs/adi2d.md), sixteen rows a thread are best for
   products, and for stages in single precision unless grids are so small that there are too few threads; otherwise
   eight. The choice depends on the grids' sizes alone, so that the bits of a result do not depend on the number of
   problems. */
template <int = 0>
static inline adi2d_p_chosen adi2d_p_kernel_of(adi2d_p_launch *launch)
{
    enum { threads = TB_BYTES == 4 ? 512 : 256 };
    const fd_batch *batch = &launch->batch;
    const int *points = batch->points;
    if (batch->kind == ADI2D_PRODUCTS) return adi2d_p_choose<16, threads, 1, 1>(launch, 0);
    if (points[0] <= 256 && points[1] <= 256 && (TB_BYTES == 8 || points[0] * points[1] <= 16384))
        return adi2d_p_choose<8, 512, 1, 0>(launch, 0);
    return adi2d_p_choose<16, threads, 1, 0>(launch, 0);
}

/* Prepares the problems, and marches them. */
template <int = 0>
static inline cudaError_t adi2d_p_onchip(const adi2d_p_launch *launch, adi2d_p_chosen chosen, cudaStream_t stream)
{
    const unsigned problems = (unsigned)launch->batch.problems, threads = (unsigned)chosen.threads;
    if (problems == 0) return cudaSuccess;
    void (*prepare)(adi2d_p_launch) = adi2d_p_prepare_kernel<512>;
    cudaError_t error = trid_launch(prepare, dim3(problems), dim3(512), 0, stream, *launch);
    if (error != cudaSuccess) return error;
    const dim3 blocks(problems * (unsigned)chosen.size);
    return chosen.size > 1
               ? trid_launch_cluster(chosen.kernel, blocks, chosen.size, dim3(threads), chosen.bytes, stream, *launch)
               : trid_launch(chosen.kernel, blocks, dim3(threads), chosen.bytes, stream, *launch);
}

/* Returns the bytes of device memory of one problem on chip. */
TB_HD size_t adi2d_p_onchip_bytes(const fd_batch *batch)
{
    size_t grid = (size_t)batch->points[0] * (size_t)batch->points[1] * sizeof(tb_real);
    return adi2d_p_lay_out(batch, NULL, NULL, NULL) + fd_p_round(grid);
}

/* Returns how many bytes of device memory MODEL_onchip needs on the current device; 0 if adi2d_check refuses the batch,
   whose pointers may still be null. */
template <int = 0>
static inline size_t adi2d_onchip_bytes(const fd_batch *batch)
{
    if (fd_p_sizes(2, batch)) return 0;
    adi2d_p_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.batch = *batch;
    if (adi2d_p_kernel_of(&launch).bytes == 0) return adi2d_rung_bytes(batch);
    return adi2d_p_onchip_bytes(batch) * (size_t)batch->problems;
}

/* Solves the problems of a batch, each by the block or the cluster of blocks that holds its grid, all steps in one
   kernel. If none holds the grids, solves as MODEL_coalesced.
   Needs    pointers of the batch and of its problems, parameters (of each problem) and memory (of MODEL_onchip_bytes,
            aligned to 128) in device memory
   Leaves   status and values, the grid's values and coordinates, when the stream has executed the launches
   Returns  cudaSuccess, the error of a launch, or cudaErrorInvalidValue, with FD_BAD_ARGUMENT and NaN in the results,
            if adi2d_check refuses the batch or a pointer is null
   Shared   for each problem one array of the grid with ADI2D_PRODUCTS, two with ADI2D_ONE_STAGE, otherwise three
   Cost     two launches, no transfer */
template <int = 0>
static inline cudaError_t adi2d_onchip(const fd_batch *batch, const fd_model_parameters *parameters, void *memory,
                                       cudaStream_t stream)
{
    if (adi2d_p_refused(batch, parameters, memory, stream)) return cudaErrorInvalidValue;
    adi2d_p_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.batch = *batch, launch.parameters = parameters, launch.memory = (unsigned char *)memory;
    launch.bytes = adi2d_p_onchip_bytes(batch);
    const adi2d_p_chosen chosen = adi2d_p_kernel_of(&launch);
    return chosen.bytes > 0 ? adi2d_p_onchip(&launch, chosen, stream)
                            : adi2d_coalesced(batch, parameters, memory, stream);
}

#endif /* TB_LAUNCHES */
