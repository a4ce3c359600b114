/* device_march.h - a room of adi3d.h, read once a model and precision: marches on a GPU.
   MIT licence, see LICENSE. */

#define adi3d_p_device_note ADI3D_OF(p_device_note)
#define adi3d_p_device_most ADI3D_OF(p_device_most)
#define adi3d_p_device_threads ADI3D_OF(p_device_threads)
#define adi3d_p_device_begin ADI3D_OF(p_device_begin)
#define adi3d_p_device_look ADI3D_OF(p_device_look)
#define adi3d_p_device_count ADI3D_OF(p_device_count)
#define adi3d_p_device_event ADI3D_OF(p_device_event)
#define adi3d_p_device_date ADI3D_OF(p_device_date)
#define adi3d_p_device_values ADI3D_OF(p_device_values)
#define adi3d_p_device_pack ADI3D_OF(p_device_pack)
#define adi3d_p_device_step ADI3D_OF(p_device_step)
#define adi3d_p_device_tables ADI3D_OF(p_device_tables)
#define adi3d_p_device_march ADI3D_OF(p_device_march)
#define adi3d_p_device_results ADI3D_OF(p_device_results)
#define adi3d_device_bytes ADI3D_OF(device_bytes)
#define adi3d_device ADI3D_OF(device)

/* ---- what happens once a march or once a date -------------------------------------------------------------------- */

/* Notes what is not finite at point (i, j, k), at a time of the march: 0 the final values, 1 + 2 step the terms of a
   step, 2 + 2 step the values after it. */
TB_D void adi3d_p_device_note(const adi3d_p_device &h, int when, int i, int j, int k)
{
    atomicMin(h.lost, (unsigned long long)when << 32 | (unsigned long long)(i + h.t.n[0] * (j + h.t.n[1] * k)));
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

enum { adi3d_p_device_threads = 128 }; /* of the following kernels, a block a row */

/* Sets the final values. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads) adi3d_p_device_begin(
    const __grid_constant__ adi3d_p_device h)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    int given = 0;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        const int at = adi3d_p_device_at(h, i, j, k);
        const tb_real value = (tb_real)adi3d_p_final(&h.problem, h.parameters, &h.t, i, j, k);
        h.u[at] = value;
        if (h.final) h.final[at] = value;
        if (!trid_finite(value)) adi3d_p_device_note(h, 0, i, j, k);
        given = adi3d_p_largest_given(&h.problem, h.parameters, &h.t, i, j, k, value, given);
    }
    adi3d_p_device_most(h.given, given);
}

/* Finds the first point whose terms (when is odd) or value is not finite, and the largest value in the last step. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads) adi3d_p_device_look(
    const __grid_constant__ adi3d_p_device h, const __grid_constant__ adi3d_p_step step, int when, int last)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    int largest = 0;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        int good = 1;
        for (int end = 0; end < 2 && when % 2; end++)
            good &= adi3d_p_finite(adi3d_p_terms_at(&h.t, i, j, k, step.time[end]));
        const tb_real value = h.u[adi3d_p_device_at(h, i, j, k)];
        if (when % 2 == 0) good = trid_finite(value);
        if (!good) adi3d_p_device_note(h, when, i, j, k);
        largest = fd_p_larger(largest, (double)value);
    }
    if (last) adi3d_p_device_most(h.largest, largest);
}

/* Counts the rows that are not dominant in the first or in the last step (end), and finds where a declaration does not
   hold. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads) adi3d_p_device_count(
    const __grid_constant__ adi3d_p_device h, const __grid_constant__ adi3d_p_step step, int end)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    int not_dominant = 0;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        not_dominant += adi3d_p_not_dominant(&h.t, i, j, k, &step);
        const unsigned long long untrue = (unsigned)adi3d_p_untrue_at(&h.problem, &h.t, i, j, k, &step);
        const unsigned long long at = (unsigned)(i + h.t.n[0] * (j + h.t.n[1] * k));
        if (untrue) atomicMin(h.untrue, (unsigned long long)end << 62 | at << 32 | untrue);
        const int too_fast = adi3d_p_too_fast(&h.problem, &h.t, h.longest, i, j, k, &step);
        if (too_fast) atomicMin(h.too_fast, too_fast);
    }
    if (not_dominant > 0) atomicAdd(h.not_dominant, not_dominant);
}

/* Returns what point (i, j, k), which is element `at` of final values and multiplier, has after the event of a date,
   from a row of old values. A change may raise *given, the largest magnitude given. */
template <class grid_type>
TB_D tb_real adi3d_p_device_event(const grid_type &h, int date, const fd_date *event, const tb_real *row, int at, int i,
                                  int j, int k, int *given)
{
    const int n = h.t.n[0];
    const double *x = h.t.x[0], place[3] = {x[i], h.t.x[1][j], h.t.x[2][k]};
    tb_real value = row[i], none = 0;
    fd_weights from;
    if ((event->what & FD_SHIFT) && !fd_interpolate(n, x, fd_shifted(event, x[i], x[0], x[n - 1]), &from)) {
        double sum = 0;
        for (int m = 0; m < 4; m++) sum += from.value[m] * (double)row[from.first + m];
        value = (tb_real)sum;
    }
    if (event->what & FD_CHANGE_VALUES) {
        const double before = (double)value;
        value = (tb_real)adi3d_p_change(h.parameters, date, place, before);
        *given = fd_p_larger(*given, fd_p_added(before, (double)value));
    }
    return fd_lane_at_date(event->what, h.problem.exercise, h.final ? h.final[at] : 0, value,
                           h.extra ? &h.extra[at] : &none);
}

/* Applies the event of a date. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads) adi3d_p_device_date(
    const __grid_constant__ adi3d_p_device h, int date, const __grid_constant__ fd_date event)
{
    __shared__ tb_real row[ADI3D_MOST];
    const int j = (int)blockIdx.x, k = (int)blockIdx.y, n = h.t.n[0], first = adi3d_p_device_at(h, 0, j, k);
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) row[i] = h.u[first + i];
    __syncthreads();
    int given = 0;
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        h.u[first + i] = adi3d_p_device_event(h, date, &event, row, first + i, i, j, k, &given);
    adi3d_p_device_most(h.given, given);
}

/* Computes value and derivatives at the spot, to values[which]. A block of 64 threads. */
template <int unused>
TRID_KERNEL void adi3d_p_device_values(const __grid_constant__ adi3d_p_device h, int which)
{
    __shared__ tb_real around[64];
    const int m = (int)threadIdx.x;
    around[m] =
        h.u[adi3d_p_device_at(h, h.t.at[0].first + m % 4, h.t.at[1].first + m / 4 % 4, h.t.at[2].first + m / 16)];
    __syncthreads();
    if (m == 0) h.values[which] = adi3d_p_values(h.t.at, around);
}

/* Packs the grid as a result has it, into d. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_device_threads) adi3d_p_device_pack(const __grid_constant__ adi3d_p_device h)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y, n = h.t.n[0];
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        h.d[i + n * (j + h.t.n[1] * k)] = h.u[adi3d_p_device_at(h, i, j, k)];
}

/* ---- a march ----------------------------------------------------------------------------------------------------- */

/* Launches a step and the event at its end. */
template <int unused>
static inline void adi3d_p_device_step(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                       const adi3d_p_step &step)
{
    const dim3 rows((unsigned)h.t.n[1], (unsigned)h.t.n[2]), threads(adi3d_p_device_threads);
    const int date = step.data.date;
    for (int s = 0; s < step.data.stages; s++) {
        adi3d_p_device_x<unused>(error, stream, h, step, s);
        if (step.changes && !(s && step.data.about)) {
            adi3d_p_device_yz<1, 1>(error, stream, h, step, s);
            adi3d_p_device_yz<2, 1>(error, stream, h, step, s);
        } else {
            adi3d_p_device_yz<1, 0>(error, stream, h, step, s);
            adi3d_p_device_yz<2, 0>(error, stream, h, step, s);
        }
    }
    const fd_date *event = adi3d_p_event(&h.problem, date);
    if (event && event->what != FD_RECORD)
        adi3d_p_launch(error, stream, adi3d_p_device_date<unused>, rows, threads, 0, h, date, *event);
    if (event && (event->what & FD_RECORD))
        adi3d_p_launch(error, stream, adi3d_p_device_values<unused>, dim3(1), dim3(64), 0, h, 1 + date);
}

/* Makes the tables here, an axis at a time, and copies them and the parameters to the device. Copies from pageable
   memory have left it when the call returns. */
template <int unused>
static inline fd_status adi3d_p_device_tables(cudaError_t *error, cudaStream_t stream, const adi3d_problem *problem,
                                              const adi3d_model_parameters *parameters, adi3d_p_device *h,
                                              const adi3d_result *result)
{
    enum { most = 1024 * (sizeof(double) + sizeof(fd_cell) + adi3d_p_most * sizeof(tb_real)) + 1024 };
    FD_P_ALIGN unsigned char made[most];
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    adi3d_p_tables t;
    for (int d = 0; d < 3 && !status.what; d++) {
        const size_t bytes = adi3d_p_axis_lay_out(d, problem->axis[d].points, made, &t);
        status = adi3d_p_axis(problem, parameters, d, &t);
        h->t.at[d] = t.at[d];
        if (result->coordinates[d]) memcpy(result->coordinates[d], t.x[d], (size_t)t.n[d] * sizeof(double));
        if (*error == cudaSuccess)
            *error = cudaMemcpyAsync((void *)h->t.x[d], made, bytes, cudaMemcpyHostToDevice, stream);
    }
    if (*error == cudaSuccess)
        *error = cudaMemcpyAsync((void *)h->parameters, parameters, sizeof *parameters, cudaMemcpyHostToDevice, stream);
    return status;
}

/* Launches all of a march except its results, in order on the stream. */
template <int unused>
static inline fd_status adi3d_p_device_march(cudaError_t *error, cudaStream_t stream, const adi3d_problem *problem,
                                             const adi3d_model_parameters *parameters, adi3d_p_device &h)
{
    enum { at_once = 32 }; /* steps are made so many at a time, and progress waits after as many */
    const dim3 rows((unsigned)h.t.n[1], (unsigned)h.t.n[2]), threads(adi3d_p_device_threads);
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    fd_step some[at_once];
    adi3d_p_step step, before = {}; /* before the first step there is none, and its numbers do not count */
    int steps = 0;
    tb_real *const grid[4] = {h.u, h.d, h.z, h.extra};
    const fd_times times = adi3d_p_times(problem);
    fd_schedule_part(&times, 0, 0, NULL, &steps);
    h.longest = adi3d_p_longest_step(&times);
    for (int g = 0; g < 4; g++)
        if (grid[g] && *error == cudaSuccess)
            *error = cudaMemsetAsync(grid[g], 0, (size_t)h.elements * sizeof(tb_real), stream);
    if (*error == cudaSuccess) *error = cudaMemsetAsync(h.lost, 255, sizeof *h.lost + sizeof *h.untrue, stream);
    if (*error == cudaSuccess)
        *error =
            cudaMemsetAsync(h.not_dominant, 0, 4 * sizeof *h.not_dominant, stream); /* given, largest, too_fast too */
    adi3d_p_launch(error, stream, adi3d_p_device_begin<unused>, rows, threads, 0, h);
    for (int end = 0; end < 2; end++) { /* the loop below refuses a step whose numbers are not finite */
        const int k = end ? steps - 1 : 0;
        fd_schedule_part(&times, k, 1, some, &steps);
        if (!adi3d_p_step_of(problem, parameters, some, k, &step).what)
            adi3d_p_launch(error, stream, adi3d_p_device_count<unused>, rows, threads, 0, h, step, end);
    }
    for (int k = 0; k < steps && *error == cudaSuccess; k++) {
        if (k % at_once == 0) fd_schedule_part(&times, k, at_once, some, &steps);
        status = adi3d_p_step_of(problem, parameters, &some[k % at_once], k, &step);
        if (status.what) break;
        h.fresh = k == 0 || step.data.size != before.data.size ||
                  !fd_p_same(adi3d_p_numbers(3), &before.time[1][0], &step.time[1][0]);
        before = step;
        if (problem->watched)
            adi3d_p_launch(error, stream, adi3d_p_device_look<unused>, rows, threads, 0, h, step, 1 + 2 * k, 0);
        adi3d_p_device_step<unused>(error, stream, h, step);
        if (problem->watched || k == steps - 1)
            adi3d_p_launch(error, stream, adi3d_p_device_look<unused>, rows, threads, 0, h, step, 2 + 2 * k,
                           k == steps - 1);
        if (!problem->progress) continue;
        if (k % at_once == at_once - 1 && *error == cudaSuccess) *error = cudaStreamSynchronize(stream);
        problem->progress(k + 1, steps, problem->context);
    }
    adi3d_p_launch(error, stream, adi3d_p_device_values<unused>, dim3(1), dim3(64), 0, h, 0);
    return status;
}

/* Waits for a march that has been launched. Returns its status, and fetches its results. */
template <int unused>
static inline fd_status adi3d_p_device_results(cudaError_t *error, cudaStream_t stream, const adi3d_problem *problem,
                                               fd_status status, const adi3d_p_device &h, const adi3d_result *result)
{
    unsigned long long found[2] = {~0ull, ~0ull};
    int counted[4] = {0, 0, 0, 0}; /* rows that are not dominant, magnitudes given and left, too_fast */
    if (*error == cudaSuccess) *error = cudaMemcpyAsync(found, h.lost, sizeof found, cudaMemcpyDeviceToHost, stream);
    if (*error == cudaSuccess)
        *error = cudaMemcpyAsync(counted, h.not_dominant, sizeof counted, cudaMemcpyDeviceToHost, stream);
    if (*error == cudaSuccess) *error = cudaStreamSynchronize(stream);
    const unsigned long long lost = found[0], untrue = found[1];
    const int too_fast = counted[3];
    /* Only final values come before the declarations. */
    if (*error == cudaSuccess && untrue != ~0ull && lost >> 32 > 0) {
        const int at = (int)(untrue >> 32 & 0x3fffffff), *n = h.t.n;
        int steps = 1;
        fd_schedule_part(&problem->times, 0, 0, NULL, &steps);
        status = fd_p_untrue((int)(untrue & 0xffffffffu), at % n[0], at / n[0] % n[1], at / n[0] / n[1],
                             untrue >> 62 ? steps - 1 : 0);
    } else if (*error == cudaSuccess && too_fast < 0 && lost >> 32 > 0) {
        const fd_times times = adi3d_p_times(problem);
        status = fd_status_of(FD_UNSTABLE, fd_p_enough(&times, too_fast), -1, -1, -1, -1, -1);
    } else if (*error == cudaSuccess && lost != ~0ull) {
        const int when = (int)(lost >> 32), at = (int)(lost & 0xffffffffu), *n = h.t.n;
        const int what = when == 0 ? FD_FINAL_NAN : when % 2 ? FD_MODEL_NAN : FD_NOT_SOLVED;
        /* A step that could not be made comes after all that was checked. */
        status = fd_status_of(what, 0, -1, at % n[0], at / n[0] % n[1], at / n[0] / n[1], (when + 1) / 2 - 1);
    }
    if (status.what || *error != cudaSuccess) return status;
    status.not_dominant = counted[0];
    fd_p_grown(&status, counted[1], counted[2]);
    if (status.what) return status;
    for (int date = -1; date < problem->times.dates && *error == cudaSuccess; date++) {
        const fd_date *event = adi3d_p_event(problem, date);
        if (date < 0 || (event && (event->what & FD_RECORD)))
            *error = cudaMemcpyAsync(&result->values[1 + date], &h.values[1 + date], sizeof *h.values,
                                     cudaMemcpyDeviceToHost, stream);
    }
    if (result->grid) {
        const dim3 rows((unsigned)h.t.n[1], (unsigned)h.t.n[2]), threads(adi3d_p_device_threads);
        adi3d_p_launch(error, stream, adi3d_p_device_pack<unused>, rows, threads, 0, h);
        if (*error == cudaSuccess)
            *error = cudaMemcpyAsync(result->grid, h.d, adi3d_p_points(problem) * sizeof(tb_real),
                                     cudaMemcpyDeviceToHost, stream);
    }
    if (*error == cudaSuccess) *error = cudaStreamSynchronize(stream);
    return status;
}

/* Returns the bytes of device memory that MODEL_device needs, or 0 for a problem that adi3d_check refuses. */
template <int unused = 0>
static inline size_t adi3d_device_bytes(const adi3d_problem *problem)
{
    return adi3d_check(problem).what ? 0 : adi3d_p_device_lay_out(problem, NULL, NULL);
}

/* Solves a problem on the current device.
   Needs    pointers to the host's memory in problem, parameters and result; device memory of device_bytes, aligned as
            cudaMalloc does. Parameters are copied as they are: pointers in them, if payoff, faces and changes follow
            them, are to device memory, or to memory that both have
   Leaves   the result, also of a call that is refused: the call waits for the stream at its end. What runs on the host
            (numbers of axes and steps) is called before. With progress the call also waits every 32 steps; it is told
            at most so many ahead.
   Returns  result->status.what: as host_worker, or FD_LAUNCH_FAILED, detail the cudaError_t
   Cost     three launches a stage. A step of Douglas' scheme reads and writes an array of the grid 7 times, one of two
            stages 15 times; American exercise 4 times more a stage (docs/adi3d.md). Some 100 KiB of stack */
template <int unused = 0>
static inline int adi3d_device(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                               cudaStream_t stream, void *memory, size_t bytes, adi3d_result *result)
{
    if (!result) return FD_BAD_ARGUMENT;
    fd_status status = adi3d_check(problem);
    const size_t needed = adi3d_device_bytes<unused>(problem);
    if (!status.what && (!result->values || !parameters)) status.what = FD_BAD_ARGUMENT;
    if (!status.what && (!memory || bytes < needed)) status.what = FD_NO_ROOM;
    if (!status.what) {
        adi3d_p_device h;
        cudaError_t error = cudaSuccess;
        adi3d_p_device_lay_out(problem, (unsigned char *)memory, &h);
        h.processors = adi3d_p_attribute(cudaDevAttrMultiProcessorCount);
        h.shared = adi3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
        status = adi3d_p_device_tables<unused>(&error, stream, problem, parameters, &h, result);
        if (!status.what) {
            status = adi3d_p_device_march<unused>(&error, stream, problem, parameters, h);
            status = adi3d_p_device_results<unused>(&error, stream, problem, status, h, result);
        }
        if (error != cudaSuccess) status = fd_status_of(FD_LAUNCH_FAILED, (int)error, -1, -1, -1, -1, -1);
    }
    result->status = status;
    if (status.what && problem) adi3d_p_fail(problem, result);
    return status.what;
}
