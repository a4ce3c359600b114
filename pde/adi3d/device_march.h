/* device_march.h - a room of adi3d.h, read once for each model and precision: prepares and marches problems in a GPU's
   memory. MIT licence, see LICENSE. */

#define adi3d_device_bytes FD_OF(device_bytes)
#define adi3d_device FD_OF(device)

/* ---- work that is done once per march or once per date ----------------------------------------------------------- */

/* A block's threads, in preparation and in kernels with a block for each row of the grid. */
enum { adi3d_p_device_threads = 128 };

/* Runs a phase of fd_p_prepare. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads)
    adi3d_p_device_prepare(const __grid_constant__ fd_batch batch, const __grid_constant__ fd_p_tables t, int phase)
{
    fd_p_prepare(&batch, &t, phase, (int)(blockIdx.x * blockDim.x + threadIdx.x), (int)(gridDim.x * blockDim.x));
}

/* Records that a number is not finite at point (i, j, k). `when` is 1 + 2 step for the terms of a step, 2 + 2 step for
   the values after it. */
TB_D void adi3d_p_device_note(const adi3d_p_device &h, int when, int i, int j, int k)
{
    atomicMin(&h.march->lost, (unsigned long long)when << 32 | (unsigned long long)(i + h.n[0] * (j + h.n[1] * k)));
}

/* Merges the largest magnitude of a block's threads into that of all blocks. */
TB_D void adi3d_p_device_most(int *all, int mine)
{
    __shared__ int most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    fd_p_most(&most, mine);
    __syncthreads();
    if (threadIdx.x == 0) fd_p_most(all, most);
}

/* Sets the values to the final values or, with `pack`, copies the values without gaps into d. */
template <int pack>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads) adi3d_p_device_copy(const __grid_constant__ adi3d_p_device h)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    for (int i = (int)threadIdx.x; i < h.n[0]; i += (int)blockDim.x) {
        const int index[3] = {i, j, k}, packed = fd_p_grid_index(h, index);
        tb_real *u = &h.u[fd_p_grid_at(h, i, j, k)];
        if (pack)
            h.d[packed] = *u;
        else
            *u = h.t.final[packed];
    }
}

/* Finds the first point with a number that is not finite: among the terms if `when` is odd, among the values if it is
   even. With `last`, also finds the largest magnitude. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads)
    adi3d_p_device_look(const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step, int when,
                        int last)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    int largest = 0;
    for (int i = (int)threadIdx.x; i < h.n[0]; i += (int)blockDim.x) {
        const int index[3] = {i, j, k};
        int good = 1;
        for (int end = 0; end < 2 && when % 2; end++)
            good &= fd_p_terms_finite(fd_p_terms_here(&h.t, index, step.time[end]));
        const tb_real value = h.u[fd_p_grid_at(h, i, j, k)];
        if (when % 2 == 0) good = trid_finite(value);
        if (!good) adi3d_p_device_note(h, when, i, j, k);
        largest = fd_p_larger(largest, (double)value);
    }
    if (last) adi3d_p_device_most(&h.march->largest, largest);
}

/* Applies the events at a date to the values before it, which are in d. A change may raise found->given. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads)
    adi3d_p_device_date(const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y, first = fd_p_grid_at(h, 0, j, k);
    const long long stride[3] = {1, fd_p_grid_at(h, 0, 1, 0), fd_p_grid_at(h, 0, 0, 1)};
    const fd_date *event = fd_p_event(h.t.problem, step.data.date);
    int given = 0;
    for (int i = (int)threadIdx.x; i < h.n[0]; i += (int)blockDim.x) {
        const int index[3] = {i, j, k};
        const tb_real value = fd_p_shifted_to(&h.t, event, index, &h.d[first + i], stride);
        tb_real none = 0;
        h.u[first + i] = fd_p_changed(&h.t, step.data.date, step.to, index, value, h.t.final[fd_p_grid_index(h, index)],
                                      h.extra ? &h.extra[first + i] : &none, &given);
    }
    adi3d_p_device_most(&h.t.found->given, given);
}

/* Computes value and derivatives at each spot, with a block of 64 threads per spot, and stores them for `time`. */
template <int unused>
TRID_KERNEL void __launch_bounds__(64) adi3d_p_device_values(const __grid_constant__ adi3d_p_device h, int time)
{
    __shared__ tb_real around[64];
    const int m = (int)threadIdx.x, spot = (int)blockIdx.x;
    const fd_weights *at = h.t.around + 3 * spot;
    const long long stride[3] = {1, 4, 16};
    around[m] = h.u[fd_p_grid_at(h, at[0].first + m % 4, at[1].first + m / 4 % 4, at[2].first + m / 16)];
    __syncthreads();
    if (m == 0) h.values[time * (int)gridDim.x + spot] = fd_p_values_of(at, around, stride);
}

/* ---- a problem --------------------------------------------------------------------------------------------------- */

/* The host's data about a problem that a device solves. */
typedef struct {
    const fd_batch *batch;
    int which, watched; /* watched: look in each step for numbers that are not finite */
    adi3d_p_queue queue;
    adi3d_p_device h;
    fd_p_findings found; /* as prepared; times.date and times.kink are in host memory */
} adi3d_p_device_work;

/* Launches a kernel with a block for each row of the grid. */
template <class... parameters>
static inline void adi3d_p_launch_rows(adi3d_p_device_work *w, void (*kernel)(parameters...),
                                       typename trid_same<parameters>::type... arguments)
{
    const dim3 rows((unsigned)w->h.n[1], (unsigned)w->h.n[2]);
    adi3d_p_launch(&w->queue, kernel, rows, dim3(adi3d_p_device_threads), 0, arguments...);
}

/* Copy bytes to the device and from it. Pageable source memory has been read by the time the call returns. */
TB_HOST void adi3d_p_put(adi3d_p_queue *on, void *to, const void *from, size_t bytes)
{
    if (on->error == cudaSuccess && bytes > 0)
        on->error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, on->stream);
}
TB_HOST void adi3d_p_get(adi3d_p_queue *on, void *to, const void *from, size_t bytes)
{
    if (on->error == cudaSuccess && bytes > 0)
        on->error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, on->stream);
}

/* Copies bytes within the device's memory. */
TB_HOST void adi3d_p_copy(adi3d_p_queue *on, void *to, const void *from, size_t bytes)
{
    if (on->error == cudaSuccess) on->error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on->stream);
}

/* Sets bytes in device memory to a value; does nothing if the pointer is null. */
TB_HOST void adi3d_p_set(adi3d_p_queue *on, void *bytes, int value, size_t count)
{
    if (on->error == cudaSuccess && bytes) on->error = cudaMemsetAsync(bytes, value, count, on->stream);
}

/* Waits for the stream. */
TB_HOST void adi3d_p_wait(adi3d_p_queue *on)
{
    if (on->error == cudaSuccess) on->error = cudaStreamSynchronize(on->stream);
}

/* Copies the problem, its arrays and its parameters to the device. */
TB_HOST void adi3d_p_device_copy_problem(adi3d_p_device_work *w, const fd_problem *problem,
                                         const fd_model_parameters *parameters, const adi3d_p_copies *to)
{
    adi3d_p_queue *on = &w->queue;
    const size_t dates = problem->times.dates > 0 ? (size_t)problem->times.dates : 0;
    fd_problem own = *problem;
    for (int d = 0; d < 3; d++) {
        if (!problem->points[d]) continue;
        own.points[d] = to->points[d];
        adi3d_p_put(on, to->points[d], problem->points[d], (size_t)problem->axis[d].points * sizeof(double));
    }
    own.times.date = problem->times.date ? to->date : NULL, own.times.kink = problem->times.kink ? to->kink : NULL;
    own.at_date = problem->at_date ? to->at_date : NULL, own.spot = to->spot;
    if (own.times.date) adi3d_p_put(on, to->date, problem->times.date, dates * sizeof(double));
    if (own.times.kink) adi3d_p_put(on, to->kink, problem->times.kink, dates * sizeof(int));
    if (own.at_date) adi3d_p_put(on, to->at_date, problem->at_date, dates * sizeof(fd_date));
    adi3d_p_put(on, to->spot, problem->spot, (size_t)w->batch->spots * 3 * sizeof(double));
    adi3d_p_put(on, to->problem, &own, sizeof own);
    adi3d_p_put(on, to->parameters, parameters, sizeof *parameters);
}

/* Prepares the problem, whose arrays are on the device, and fetches the findings. */
template <int unused>
static inline void adi3d_p_device_ready(adi3d_p_device_work *w)
{
    const dim3 threads(adi3d_p_device_threads);
    /* Cleared because the fetch includes findings that no phase sets. */
    adi3d_p_set(&w->queue, w->h.t.found, 0, sizeof w->found);
    for (int phase = 0; phase < FD_P_PHASES; phase++) {
        const int blocks = phase == 4 || phase == 5 ? 8 * w->h.processors : 1;
        adi3d_p_launch(&w->queue, adi3d_p_device_prepare<unused>, dim3((unsigned)blocks), threads, 0, *w->batch, w->h.t,
                       phase);
    }
    adi3d_p_get(&w->queue, &w->found, w->h.t.found, sizeof w->found);
    adi3d_p_wait(&w->queue);
    w->found.times.date = w->h.problem.times.date, w->found.times.kink = w->h.problem.times.kink;
}

/* Moves the values of a grid, stored without gaps, to their positions in a batch with up to `most` points. The last
   value moves first, so that none is overwritten before it is read. Fills all other positions with NaN. */
TB_HOST void adi3d_p_device_unpack(const int *most, const int *n, tb_real *grid)
{
    for (size_t at = (size_t)fd_p_count(most); at-- > 0;) {
        const size_t m0 = (size_t)most[0], m1 = (size_t)most[1];
        const size_t i = at % m0, j = at / m0 % m1, k = at / m0 / m1;
        const int is_there = i < (size_t)n[0] && j < (size_t)n[1] && k < (size_t)n[2];
        grid[at] = is_there ? grid[i + (size_t)n[0] * (j + (size_t)n[1] * k)] : fd_p_nan();
    }
}

/* Records a time, 0 (today) or 1 + a date: the values at the spots, which stay on the device for now, and the grid. */
template <int unused>
static inline void adi3d_p_device_record(adi3d_p_device_work *w, int time)
{
    const fd_batch *batch = w->batch;
    const adi3d_p_device &h = w->h;
    const size_t at = (size_t)w->which * (size_t)(1 + batch->dates) + (size_t)time;
    const dim3 spots((unsigned)batch->spots);
    if (batch->spots > 0) adi3d_p_launch(&w->queue, adi3d_p_device_values<unused>, spots, dim3(64), 0, h, time);
    if (!batch->grid) return;
    tb_real *grid = (tb_real *)batch->grid + at * (size_t)fd_p_count(batch->points);
    adi3d_p_launch_rows(w, adi3d_p_device_copy<1>, h);
    adi3d_p_get(&w->queue, grid, h.d, (size_t)fd_p_count(h.n) * sizeof(tb_real));
    adi3d_p_wait(&w->queue);
    if ((size_t)fd_p_count(h.n) < (size_t)fd_p_count(batch->points)) adi3d_p_device_unpack(batch->points, h.n, grid);
}

/* Launches a step and the events at its end. */
template <int unused>
static inline void adi3d_p_device_step(adi3d_p_device_work *w, const fd_p_step &step)
{
    adi3d_p_device h = w->h;
    /* If the first stage is taken in sweeps, a second one must still compute the factors for solves along each axis. */
    for (int s = 0; s < step.data.stages; s++) h.fresh &= adi3d_p_device_stage<unused>(&w->queue, h, step, s);
    const fd_date *event = fd_p_event(&h.problem, step.data.date);
    if (event && event->what != FD_RECORD) {
        adi3d_p_copy(&w->queue, h.d, h.u, (size_t)h.elements * sizeof(tb_real));
        adi3d_p_launch_rows(w, adi3d_p_device_date<unused>, h, step);
    }
    if (event && (event->what & FD_RECORD)) adi3d_p_device_record<unused>(w, 1 + step.data.date);
}

/* Launches the work before the first step. The final values may be stored where the differences will be. */
template <int unused>
static inline void adi3d_p_device_start(adi3d_p_device_work *w)
{
    const adi3d_p_device &h = w->h;
    adi3d_p_queue *on = &w->queue;
    const size_t grid = (size_t)h.elements * sizeof(tb_real);
    adi3d_p_set(on, h.u, 0, grid), adi3d_p_set(on, h.z, 0, grid), adi3d_p_set(on, h.extra, 0, grid);
    adi3d_p_launch_rows(w, adi3d_p_device_copy<0>, h);
    adi3d_p_set(on, h.d, 0, grid), adi3d_p_set(on, h.march, 0, sizeof *h.march);
    adi3d_p_set(on, &h.march->lost, 255, sizeof h.march->lost);
}

/* Launches a march and its records, in order on the stream. */
template <int unused>
static inline void adi3d_p_device_march(adi3d_p_device_work *w, const fd_model_parameters *parameters)
{
    enum { at_once = 32 }; /* steps whose data are computed together; with progress, the host waits after them */
    const fd_problem *problem = &w->h.problem;
    fd_step some[at_once];
    fd_p_step step, factored = {}; /* the last step in which factors were computed; ignored in the first step */
    int steps = w->found.steps;
    adi3d_p_device_start<unused>(w);
    for (int k = 0; k < steps && w->queue.error == cudaSuccess; k++) {
        if (k % at_once == 0) fd_schedule_part(&w->found.times, k, at_once, some, &steps);
        const int last = k == steps - 1;
        step = fd_p_step_of(problem, parameters, &some[k % at_once]);
        /* A step of one stage that is taken in sweeps makes no factors for solves along z, which a second stage
           needs. So factors are computed again if the number of stages changes. */
        w->h.fresh = k == 0 || step.changes != factored.changes ||
                     !fd_p_same_size(step.data.size, factored.data.size) || step.data.stages != factored.data.stages ||
                     !fd_p_same(fd_p_numbers(3), factored.time[1], step.time[1]);
        if (w->h.fresh) factored = step;
        if (w->watched) adi3d_p_launch_rows(w, adi3d_p_device_look<unused>, w->h, step, 1 + 2 * k, 0);
        adi3d_p_device_step<unused>(w, step);
        if (w->watched || last) adi3d_p_launch_rows(w, adi3d_p_device_look<unused>, w->h, step, 2 + 2 * k, last);
        if (!problem->progress || w->watched) continue;
        if (k % at_once == at_once - 1) adi3d_p_wait(&w->queue);
        problem->progress(k + 1, steps, problem->context);
    }
    adi3d_p_device_record<unused>(w, 0);
}

/* Waits for a march. Returns its status. */
TB_HOST fd_status adi3d_p_device_end(adi3d_p_device_work *w)
{
    fd_status status = fd_p_status(FD_OK, 0);
    adi3d_p_found march = {~0ull, 0, {0, 0, 0}};
    int given = 0;
    adi3d_p_get(&w->queue, &march, w->h.march, sizeof march);
    adi3d_p_get(&w->queue, &given, &w->h.t.found->given, sizeof given);
    adi3d_p_wait(&w->queue);
    if (w->queue.error != cudaSuccess) return status;
    const int when = (int)(march.lost >> 32), what = when % 2 ? FD_MODEL_NAN : FD_NOT_SOLVED;
    if (march.lost != ~0ull) return fd_p_status_at(what, w->h.n, (int)(march.lost & 0xffffffffu), (when + 1) / 2 - 1);
    fd_p_grown(&status, given, march.largest);
    return status;
}

/* Fetches the values at all recorded times, and the coordinates. */
TB_HOST void adi3d_p_device_results(adi3d_p_device_work *w)
{
    const fd_batch *batch = w->batch;
    const size_t spots = (size_t)batch->spots, which = (size_t)w->which, times = (size_t)(1 + batch->dates);
    for (int date = -1; date < w->h.problem.times.dates; date++) {
        const fd_date *event = fd_p_event(&w->h.problem, date);
        if (date >= 0 && !(event && (event->what & FD_RECORD))) continue;
        adi3d_p_get(&w->queue, batch->values + (which * times + (size_t)(1 + date)) * spots,
                    w->h.values + (size_t)(1 + date) * spots, spots * sizeof(fd_values));
    }
    for (int d = 0; d < 3; d++) {
        double *to = batch->coordinates[d];
        if (!to) continue;
        to += which * (size_t)batch->points[d];
        for (int i = w->h.n[d]; i < batch->points[d]; i++) to[i] = fd_p_nan_f64();
        adi3d_p_get(&w->queue, to, w->h.t.x[d], (size_t)w->h.n[d] * sizeof(double));
    }
}

/* Solves problem `which`, and writes its results. A march that ends in a number that is not finite is repeated with
   `watched` set, so that its status names the step. */
template <int unused>
static inline void adi3d_p_device_problem(adi3d_p_device_work *w, const fd_model_parameters *parameters,
                                          const adi3d_p_copies *copies)
{
    const fd_batch *batch = w->batch;
    const int *n = w->found.points, line = 128 / (int)sizeof(tb_real);
    tb_real *const extra = w->h.extra;
    w->h.problem = batch->problem[w->which], w->h.t.problem = copies->problem, w->h.t.parameters = copies->parameters;
    fd_status status = fd_p_check(3, batch, &w->h.problem);
    const int refused = status.what;
    if (!refused) adi3d_p_device_copy_problem(w, &w->h.problem, parameters, copies);
    for (w->watched = 0; w->watched < 2 && !refused && w->queue.error == cudaSuccess; w->watched++) {
        adi3d_p_device_ready<unused>(w);
        status = w->found.status;
        if (status.what || w->queue.error != cudaSuccess) break;
        fd_p_measure(&w->h.problem, n, &w->h);
        w->h.pitch = (n[0] + line - 1) / line * line, w->h.plane = w->h.pitch * n[1];
        w->h.elements = w->h.plane * n[2];
        w->h.extra = w->h.problem.exercise == FD_AMERICAN ? extra : NULL;
        adi3d_p_device_march<unused>(w, parameters);
        status = adi3d_p_device_end(w);
        status.not_dominant = w->found.not_dominant;
        if (!status.what || status.what == FD_GREW) break;
    }
    w->h.extra = extra;
    if (!status.what) adi3d_p_device_results(w);
    adi3d_p_wait(&w->queue);
    if (w->queue.error != cudaSuccess) status = fd_p_status(FD_LAUNCH_FAILED, (int)w->queue.error);
    batch->status[w->which] = status;
    if (status.what) fd_p_fill_nan(batch, w->which, 0, 1);
}

/* Returns the bytes of device memory that MODEL_device needs, or 0 for a batch whose sizes adi3d_check refuses. The
   batch's pointers may still be null; if its problems are known, memory that none of them needs is not counted. */
template <int unused = 0>
static inline size_t adi3d_device_bytes(const fd_batch *batch)
{
    return fd_p_sizes(3, batch) ? 0 : adi3d_p_device_lay_out(batch, NULL, NULL, NULL);
}

/* Solves the problems of a batch on the current device, one after another, with grids in device memory.
   Needs    the data of the batch and its problems, and parameters (one per problem), in host memory; device memory of
            MODEL_device_bytes, aligned as by cudaMalloc. Parameters are copied unchanged: pointers in them must point
            to device memory or, if MODEL_of_t follows them, to memory that host and device share
   Leaves   status, values, grids and coordinates: the call waits for the stream. NaN for a problem that fails; if the
            call is refused, the call's status in each problem and, if the batch's sizes are valid, NaN elsewhere
   Returns  FD_OK; as adi3d_check; FD_BAD_ARGUMENT for a null pointer; FD_NO_ROOM for less memory than
            MODEL_device_bytes; FD_LAUNCH_FAILED, with the cudaError_t in the problems' status.detail
   Cost     three launches per stage, and one per axis whose factors change. If nothing changes within a step, a step
            of Douglas' scheme reads or writes an array of the grid 7 times, a step of two stages 15 times. Both counts
            fall by 2 if the only or first stage can be taken in sweeps (adi3d_p_device_stage); American exercise adds 4
            in the last stage and 1 in an earlier one (docs/adi3d.md). The host waits for each problem's preparation,
            for each grid that is recorded, for the end of the march and for the results; with problem.progress also
            after every 32 steps */
template <int unused = 0>
static inline int adi3d_device(const fd_batch *batch, const fd_model_parameters *parameters, void *memory, size_t bytes,
                               cudaStream_t stream)
{
    int wrong = adi3d_check(batch);
    if (!wrong && batch->problems == 0) return FD_OK;
    if (!wrong && (!parameters || !memory)) wrong = FD_BAD_ARGUMENT;
    if (!wrong && bytes < adi3d_device_bytes<unused>(batch)) wrong = FD_NO_ROOM;
    if (wrong) return fd_p_host_refuse(batch, 0, batch ? batch->problems : 0, wrong);
    adi3d_p_device_work w;
    adi3d_p_copies copies;
    memset(&w, 0, sizeof w);
    w.batch = batch, w.queue.stream = stream, w.queue.error = cudaSuccess;
    adi3d_p_device_lay_out(batch, (unsigned char *)memory, &w.h, &copies);
    w.h.processors = trid_device_attribute(cudaDevAttrMultiProcessorCount);
    w.h.shared = trid_device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    for (w.which = 0; w.which < batch->problems; w.which++)
        adi3d_p_device_problem<unused>(&w, &parameters[w.which], &copies);
    return w.queue.error == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED;
}
