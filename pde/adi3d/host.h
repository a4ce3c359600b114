/* host.h - a room of adi3d.h, read once a model and precision: marches on the host, by workers and in batches.
   MIT licence, see LICENSE. */

#define adi3d_p_host_not_dominant ADI3D_OF(p_host_not_dominant)
#define adi3d_p_host_untrue ADI3D_OF(p_host_untrue)
#define adi3d_p_host_date ADI3D_OF(p_host_date)
#define adi3d_p_host_values ADI3D_OF(p_host_values)
#define adi3d_p_host_lost ADI3D_OF(p_host_lost)
#define adi3d_p_host_first_untrue ADI3D_OF(p_host_first_untrue)
#define adi3d_p_host_too_fast ADI3D_OF(p_host_too_fast)
#define adi3d_p_host_look ADI3D_OF(p_host_look)
#define adi3d_p_host_begin ADI3D_OF(p_host_begin)
#define adi3d_p_host_march ADI3D_OF(p_host_march)
#define adi3d_host_bytes ADI3D_OF(host_bytes)
#define adi3d_host_worker ADI3D_OF(host_worker)
#define adi3d_host ADI3D_OF(host)
#define adi3d_p_host_largest ADI3D_OF(p_host_largest)
#define adi3d_p_host_spread ADI3D_OF(p_host_spread)
#define adi3d_p_host_batched ADI3D_OF(p_host_batched)
#define adi3d_host_batch_bytes ADI3D_OF(host_batch_bytes)
#define adi3d_host_batch ADI3D_OF(host_batch)

/* Returns how many rows of the points of row (j, k) are not dominant in a step, vectorised. */
FD_P_FLAT int adi3d_p_host_not_dominant(const adi3d_p_host *h, int j, int k, const adi3d_p_step *step)
{
    const tb_real *FD_P_RESTRICT numbers = h->t.number[0], *FD_P_RESTRICT spread = h->spread, size = step->data.size;
    const fd_cell cell_y = h->t.cell[1][j], cell_z = h->t.cell[2][k];
    const int n = h->t.n[0];
    const size_t padded = (size_t)h->t.padded[0], pitch = h->pitch;
    tb_real y[adi3d_p_most], z[adi3d_p_most], now[adi3d_p_most];
    int not_dominant = 0;
    adi3d_p_take(&h->t, 1, j, y), adi3d_p_take(&h->t, 2, k, z);
    for (int q = 0; q < adi3d_p_numbers(3); q++) now[q] = step->time[1][q];
    for (int i = 0; i < n; i++) {
        const fd_cell cell = adi3d_p_host_cell(spread, pitch, (size_t)i);
        tb_real x[adi3d_p_most];
        adi3d_p_host_take(0, numbers, padded, (size_t)i, x);
        const adi3d_terms terms = adi3d_p_terms(x, y, z, now);
        not_dominant += adi3d_p_not_dominant_along(0, cell, terms, size) +
                        adi3d_p_not_dominant_along(1, cell_y, terms, size) +
                        adi3d_p_not_dominant_along(2, cell_z, terms, size);
    }
    return not_dominant;
}

/* Returns what adi3d_p_untrue_at finds at all points of row (j, k), vectorised. */
FD_P_FLAT int adi3d_p_host_untrue(const adi3d_p_host *h, int j, int k, const adi3d_p_step *step)
{
    const tb_real *FD_P_RESTRICT numbers = h->t.number[0];
    const int from = adi3d_p_given(h->problem, 0, 0), to = h->t.n[0] - adi3d_p_given(h->problem, 0, h->t.n[0] - 1);
    const size_t padded = (size_t)h->t.padded[0];
    tb_real y[adi3d_p_room], z[adi3d_p_room], first[3][adi3d_p_room];
    tb_real start[adi3d_p_room], end[adi3d_p_room];
    const int changes = !fd_p_same(adi3d_p_numbers(3), &step->time[0][0], &step->time[1][0]);
    int untrue = adi3d_p_few(&h->t, (j + k) % h->t.n[0], j, k, step->time[1]);
    if (adi3d_p_given(h->problem, 1, j) || adi3d_p_given(h->problem, 2, k)) return untrue;
    adi3d_p_take(&h->t, 1, j, y), adi3d_p_take(&h->t, 2, k, z);
    for (int d = 0; d < 3; d++) adi3d_p_take(&h->t, d, 0, first[d]);
    for (int q = 0; q < adi3d_p_numbers(3); q++) start[q] = step->time[0][q], end[q] = step->time[1][q];
    for (int i = from; i < to; i++) {
        tb_real x[adi3d_p_room];
        adi3d_p_host_take(0, numbers, padded, (size_t)i, x);
        untrue |= adi3d_p_untrue(x, y, z, first, start, end, changes);
    }
    /* Points on faces; other rows touch a face only at their two ends. */
    const int *n = h->t.n, within = j == 0 || j == n[1] - 1 || k == 0 || k == n[2] - 1;
    for (int i = 0; i < n[0]; i += within ? 1 : n[0] - 1) untrue |= adi3d_p_untrue_at(h->problem, &h->t, i, j, k, step);
    return untrue;
}

/* Applies the event of a date to a worker's rows. A change may raise *given, the largest magnitude given. */
TB_HOST void adi3d_p_host_date(const adi3d_p_host *h, int date, const fd_date *event, int *given)
{
    const int *n = h->t.n, w = h->worker;
    const double *x = h->t.x[0];
    tb_real none = 0;
    for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1]; j++) {
            const size_t row = (size_t)k * h->plane + (size_t)j * h->pitch;
            tb_real *u = h->u + row;
            if (event->what & FD_SHIFT) {
                memcpy(h->rows, u, (size_t)n[0] * sizeof(tb_real));
                for (int i = 0; i < n[0]; i++) {
                    fd_weights from;
                    double sum = 0;
                    if (fd_interpolate(n[0], x, fd_shifted(event, x[i], x[0], x[n[0] - 1]), &from)) continue;
                    for (int m = 0; m < 4; m++) sum += from.value[m] * (double)h->rows[from.first + m];
                    u[i] = (tb_real)sum;
                }
            }
            for (int i = 0; i < n[0]; i++) {
                const double at[3] = {x[i], h->t.x[1][j], h->t.x[2][k]};
                if (event->what & FD_CHANGE_VALUES) {
                    const double before = (double)u[i];
                    u[i] = (tb_real)adi3d_p_change(h->parameters, date, at, before);
                    *given = fd_p_larger(*given, fd_p_added(before, (double)u[i]));
                }
                u[i] = fd_lane_at_date(event->what, h->problem->exercise, h->final ? h->final[row + (size_t)i] : 0,
                                       u[i], h->extra ? &h->extra[row + (size_t)i] : &none);
            }
        }
}

/* Returns the values at the spot. */
TB_HOST adi3d_values adi3d_p_host_values(const adi3d_p_host *h)
{
    const fd_weights *at = h->shared->at;
    tb_real around[64];
    for (int m = 0; m < 64; m++)
        around[m] = adi3d_p_host_row(h, h->u, at[1].first + m / 4 % 4, at[2].first + m / 16)[at[0].first + m % 4];
    return adi3d_p_values(at, around);
}

/* Returns the first point whose value is not finite; with a step, whose terms are not, at its start or end. Leaves in
   *largest the worker's largest magnitude. */
TB_HOST int adi3d_p_host_lost(const adi3d_p_host *h, const adi3d_p_step *step, int *largest)
{
    const int *n = h->t.n, w = h->worker;
    int lost = FD_P_NONE;
    *largest = 0;
    for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1) && lost == FD_P_NONE; k++)
        for (int j = 0; j < n[1]; j++) {
            const tb_real *u = adi3d_p_host_row(h, h->u, j, k);
            for (int i = 0; i < n[0]; i++) {
                int good = step ? adi3d_p_finite(adi3d_p_terms_at(&h->t, i, j, k, step->time[0])) &&
                                      adi3d_p_finite(adi3d_p_terms_at(&h->t, i, j, k, step->time[1]))
                                : trid_finite(u[i]);
                if (!good) fd_p_least(&lost, i + n[0] * (j + n[1] * k));
                *largest = fd_p_larger(*largest, (double)u[i]);
            }
        }
    return adi3d_p_together(h, lost, 0);
}

/* Returns the first point of a step at which a declaration does not hold, or FD_P_NONE: the same for all workers. */
TB_HOST int adi3d_p_host_first_untrue(const adi3d_p_host *h, const adi3d_p_step *step)
{
    const int *n = h->t.n, w = h->worker;
    int lost = FD_P_NONE;
    for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1] && lost == FD_P_NONE; j++) {
            if (!adi3d_p_host_untrue(h, j, k, step)) continue;
            for (int i = n[0] - 1; i >= 0; i--)
                if (adi3d_p_untrue_at(h->problem, &h->t, i, j, k, step)) lost = i + n[0] * (j + n[1] * k);
        }
    return adi3d_p_together(h, lost, 0);
}

/* Returns the least of adi3d_p_too_fast over all points, in a step: the same for all workers. */
TB_HOST int adi3d_p_host_too_fast(const adi3d_p_host *h, double longest, const adi3d_p_step *step)
{
    const int *n = h->t.n, w = h->worker;
    int least = 0;
    for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                fd_p_least(&least, adi3d_p_too_fast(h->problem, &h->t, longest, i, j, k, step));
    return adi3d_p_together(h, least, 0);
}

/* Checks all points in the first and the last step. Returns what is FD_OK, which declaration does not hold, or
   FD_UNSTABLE; not_dominant counts the worker's rows that are not. The march refuses steps whose numbers are not
   finite. */
TB_HOST fd_status adi3d_p_host_look(const adi3d_p_host *h, int steps)
{
    const int *n = h->t.n, w = h->worker;
    const fd_times times = adi3d_p_times(h->problem);
    const double longest = adi3d_p_longest_step(&times);
    int not_dominant = 0, too_fast = 0;
    for (int end = 0; end < 2; end++) {
        const int number = end ? steps - 1 : 0;
        fd_step one = {0, 0, 0, FD_THETA, -1}; /* written below; compilers may not see it */
        adi3d_p_step step;
        fd_schedule_part(&times, number, 1, &one, &steps);
        if (adi3d_p_step_of(h->problem, h->parameters, &one, number, &step).what) continue;
        const int lost = adi3d_p_host_first_untrue(h, &step);
        if (lost != FD_P_NONE) {
            const int i = lost % n[0], j = lost / n[0] % n[1], k = lost / n[0] / n[1];
            return fd_p_untrue(adi3d_p_untrue_at(h->problem, &h->t, i, j, k, &step), i, j, k, number);
        }
        for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1); k++)
            for (int j = 0; j < n[1]; j++) not_dominant += adi3d_p_host_not_dominant(h, j, k, &step);
        if (longest > 0) {
            const int least = adi3d_p_host_too_fast(h, longest, &step);
            if (least < too_fast) too_fast = least;
        }
    }
    if (too_fast < 0) return fd_status_of(FD_UNSTABLE, fd_p_enough(&times, too_fast), -1, -1, -1, -1, -1);
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    status.not_dominant = not_dominant;
    return status;
}

/* Sets a worker's planes to the final values, and what surrounds them to 0. Leaves in *given the largest magnitude that
   its points are given. */
TB_HOST fd_status adi3d_p_host_begin(const adi3d_p_host *h, int *given)
{
    const int *n = h->t.n, w = h->worker;
    const size_t line = 128 / sizeof(tb_real);
    tb_real *const grid[5] = {h->u, h->d, h->z, h->extra, h->final};
    int lost = FD_P_NONE;
    for (int g = 0; g < 5; g++) {
        if (!grid[g]) continue;
        if (w == 0) memset(grid[g] - line, 0, line * sizeof(tb_real));
        for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1); k++)
            memset(grid[g] + (size_t)k * h->plane, 0, (h->plane + (k == n[2] - 1 ? line : 0)) * sizeof(tb_real));
    }
    for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                const size_t at = (size_t)k * h->plane + (size_t)j * h->pitch + (size_t)i;
                h->u[at] = (tb_real)adi3d_p_final(h->problem, h->parameters, &h->t, i, j, k);
                if (h->final) h->final[at] = h->u[at];
                if (!trid_finite(h->u[at])) fd_p_least(&lost, i + n[0] * (j + n[1] * k));
                *given = adi3d_p_largest_given(h->problem, h->parameters, &h->t, i, j, k, h->u[at], *given);
            }
    memset(h->transposed, 0, (size_t)adi3d_p_longest(h->problem) * ADI3D_P_LANES * sizeof(tb_real));
    memset(h->slopes - line / 2, 0, (8 * h->wide + line / 2) * sizeof(tb_real));
    lost = adi3d_p_together(h, lost, 0);
    return lost == FD_P_NONE ? fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1) : adi3d_p_lost(h, FD_FINAL_NAN, lost, -1);
}

/* Does a worker's part of a march. Returns its status, the same for all. */
TB_HOST fd_status adi3d_p_host_march(const adi3d_p_host *h, adi3d_result *result)
{
    enum { at_once = 32 }; /* steps made at a time */
    const adi3d_problem *problem = h->problem;
    fd_step some[at_once];
    adi3d_p_step step;
    int steps = 0, given = 0, largest, lost;
    fd_status status = adi3d_p_host_begin(h, &given);
    const fd_times times = adi3d_p_times(problem);
    fd_schedule_part(&times, 0, 0, NULL, &steps);
    if (!status.what) status = adi3d_p_host_look(h, steps);
    const int not_dominant = status.not_dominant;
    for (int k = 0; k < steps && !status.what; k++) {
        if (k % at_once == 0) fd_schedule_part(&times, k, at_once, some, &steps);
        status = adi3d_p_step_of(problem, h->parameters, &some[k % at_once], k, &step);
        if (status.what) break;
        if (problem->watched && (lost = adi3d_p_host_lost(h, &step, &largest)) != FD_P_NONE)
            return adi3d_p_lost(h, FD_MODEL_NAN, lost, k);
        adi3d_p_host_step(h, &step);
        const fd_date *event = adi3d_p_event(problem, step.data.date);
        if (event && event->what != FD_RECORD) {
            adi3d_p_host_date(h, step.data.date, event, &given);
            adi3d_p_meet(h);
        }
        if (event && (event->what & FD_RECORD) && h->worker == 0)
            result->values[1 + step.data.date] = adi3d_p_host_values(h);
        if (problem->watched && (lost = adi3d_p_host_lost(h, NULL, &largest)) != FD_P_NONE)
            return adi3d_p_lost(h, FD_NOT_SOLVED, lost, k);
        if (problem->progress && h->worker == 0) problem->progress(k + 1, steps, problem->context);
    }
    if (status.what) return status;
    lost = adi3d_p_host_lost(h, NULL, &largest);
    given = -adi3d_p_together(h, -given, 0), largest = -adi3d_p_together(h, -largest, 0);
    if (lost == FD_P_NONE)
        fd_p_grown(&status, given, largest);
    else
        status = adi3d_p_lost(h, FD_NOT_SOLVED, lost, steps - 1);
    status.not_dominant = adi3d_p_together(h, not_dominant, 1);
    return status;
}

/* Returns the bytes of memory that the host's workers need together, or 0 for a problem that adi3d_check refuses, or no
   workers. */
TB_HOST size_t adi3d_host_bytes(const adi3d_problem *problem, int workers)
{
    if (workers < 1 || adi3d_check(problem).what) return 0;
    return adi3d_p_host_lay_out(problem, 0, workers, NULL, NULL);
}

/* Does one worker's part in solving a problem.
   Needs    all workers 0 .. workers - 1 in this function at the same time, each in a thread of its own, with the same
            arguments except worker; meet(context), which returns when all have called it (null for one worker); memory
            of host_bytes, aligned as malloc does
   Leaves   the result, when all have returned: also of a call that is refused, unless result is null
   Returns  result->status.what: FD_BAD_ARGUMENT for a null pointer or memory off alignment; FD_NO_ROOM: less
            memory than host_bytes, or none;
            FD_BAD_SIZE: an impossible worker
   Cost     a stage reads the values, writes and reads the differences, and reads and writes the values: five passes
            over memory; a second stage one more */
TB_HOST int adi3d_host_worker(const adi3d_problem *problem, const adi3d_model_parameters *parameters, int worker,
                              int workers, void *memory, size_t bytes, void (*meet)(void *context), void *context,
                              adi3d_result *result)
{
    if (!result) return FD_BAD_ARGUMENT;
    fd_status status = adi3d_check(problem);
    if (!status.what && (!result->values || !parameters || (workers > 1 && !meet))) status.what = FD_BAD_ARGUMENT;
    if (!status.what && (workers < 1 || worker < 0 || worker >= workers)) status.what = FD_BAD_SIZE;
    if (!status.what && (!memory || bytes < adi3d_host_bytes(problem, workers))) status.what = FD_NO_ROOM;
    if (!status.what && fd_p_misaligned(memory)) status.what = FD_BAD_ARGUMENT;
    if (!status.what) {
        adi3d_p_host host, *h = &host;
        adi3d_p_host_lay_out(problem, worker, workers, (unsigned char *)memory, h);
        h->parameters = parameters, h->meet = meet, h->context = context;
        if (worker == 0) {
            for (int d = 0; d < 3 && !status.what; d++) status = adi3d_p_axis(problem, parameters, d, &h->t);
            memset(h->spread, 0, 6 * h->pitch * sizeof(tb_real));
            for (int i = 0; i < h->t.n[0] && !status.what; i++) {
                const fd_cell cell = h->t.cell[0][i];
                const tb_real number[6] = {cell.below,         cell.above, cell.h, cell.w, cell.below * (1 - cell.w),
                                           cell.above * cell.w};
                for (int q = 0; q < 6; q++) h->spread[(size_t)q * h->pitch + (size_t)i] = number[q];
            }
            memset(h->zeros, 0, ADI3D_P_LANES * sizeof(tb_real));
            memcpy(h->shared->at, h->t.at, sizeof h->t.at);
            h->shared->status = status;
        }
        adi3d_p_meet(h);
        status = h->shared->status;
        if (!status.what) status = adi3d_p_host_march(h, result);
        if (!status.what && worker == 0) {
            result->values[0] = adi3d_p_host_values(h);
            adi3d_p_coordinates(&h->t, h->t.n, result->coordinates, 0, 1);
        }
        const int *n = h->t.n;
        for (int k = adi3d_p_share(h, n[2], worker); k < adi3d_p_share(h, n[2], worker + 1); k++)
            for (int j = 0; j < n[1] && result->grid && !status.what; j++)
                memcpy((tb_real *)result->grid + (size_t)n[0] * ((size_t)j + (size_t)n[1] * (size_t)k),
                       adi3d_p_host_row(h, h->u, j, k), (size_t)n[0] * sizeof(tb_real));
    }
    if (worker <= 0 || worker >= workers) {
        result->status = status;
        if (status.what && problem) adi3d_p_fail(problem, result);
    }
    return status.what;
}

/* Solves a problem by `workers` threads of OpenMP, where the program is compiled with it, else by the calling one.
   Needs    memory of host_bytes, aligned as malloc does
   Leaves   the result
   Returns  as host_worker */
TB_HOST int adi3d_host(const adi3d_problem *problem, const adi3d_model_parameters *parameters, int workers,
                       void *memory, size_t bytes, adi3d_result *result)
{
    int what = FD_OK;
#ifdef _OPENMP
    if (workers < 1) return adi3d_host_worker(problem, parameters, 0, 0, memory, bytes, NULL, NULL, result);
#pragma omp parallel num_threads(workers)
    {
        int mine = adi3d_host_worker(problem, parameters, omp_get_thread_num(), omp_get_num_threads(), memory, bytes,
                                     adi3d_p_barrier, NULL, result);
        if (omp_get_thread_num() == 0) what = mine;
    }
#else
    what = adi3d_host_worker(problem, parameters, 0, workers < 1 ? 0 : 1, memory, bytes, NULL, NULL, result);
#endif
    return what;
}

/* Returns a problem that needs as much of a worker's memory as any of the batch. */
TB_HOST adi3d_problem adi3d_p_host_largest(const adi3d_batch *batch)
{
    adi3d_problem problem;
    memset(&problem, 0, sizeof problem);
    for (int d = 0; d < 3; d++) problem.axis[d].points = batch->points[d];
    problem.scheme = FD_HUNDSDORFER_VERWER, problem.exercise = FD_AMERICAN;
    return problem;
}

/* Moves a problem's grid, which is contiguous, to the places that the grid of a problem with batch->points has, from
   the last row on, so that none is overwritten before it is read. */
TB_HOST void adi3d_p_host_spread(const adi3d_batch *batch, const adi3d_problem *problem, tb_real *grid)
{
    const size_t n0 = (size_t)problem->axis[0].points, n1 = (size_t)problem->axis[1].points;
    const size_t m0 = (size_t)batch->points[0], m1 = (size_t)batch->points[1];
    for (int k = problem->axis[2].points - 1; k >= 0; k--)
        for (int j = problem->axis[1].points - 1; j >= 0; j--)
            memmove(grid + m0 * ((size_t)j + m1 * (size_t)k), grid + n0 * ((size_t)j + n1 * (size_t)k),
                    n0 * sizeof(tb_real));
}

/* Solves problem `which` of a batch in the calling thread. */
TB_HOST void adi3d_p_host_batched(const adi3d_batch *batch, const adi3d_model_parameters *parameters, int which,
                                  void *memory, size_t bytes)
{
    const size_t all = (size_t)batch->points[0] * (size_t)batch->points[1] * (size_t)batch->points[2];
    adi3d_problem problem = batch->problem[which];
    adi3d_result result;
    result.values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    result.grid = batch->grid ? (tb_real *)batch->grid + (size_t)which * all : NULL;
    for (int d = 0; d < 3; d++) {
        double *const to = batch->coordinates[d], nan = (double)fd_p_nan();
        result.coordinates[d] = to ? to + (size_t)which * (size_t)batch->points[d] : NULL;
        for (int i = 0; i < batch->points[d] && to; i++) result.coordinates[d][i] = nan;
    }
    result.status = adi3d_p_check_in(batch, &problem);
    problem.progress = NULL;
    const int refused = result.status.what;
    for (int watched = 0; watched < 2 && !refused; watched++) {
        problem.watched = watched;
        if (!adi3d_host_worker(&problem, &parameters[which], 0, 1, memory, bytes, NULL, NULL, &result)) break;
    }
    batch->status[which] = result.status;
    if (result.status.what)
        adi3d_p_fail_in(batch, which, 0, 1);
    else if (batch->grid)
        adi3d_p_host_spread(batch, &problem, (tb_real *)result.grid);
}

/* Returns the bytes of memory that MODEL_host_batch needs for so many workers, or 0 for a batch that adi3d_batch_check
   refuses, or no workers. The batch's pointers may still be null. */
TB_HOST size_t adi3d_host_batch_bytes(const adi3d_batch *batch, int workers)
{
    if (workers < 1 || adi3d_p_sizes(batch)) return 0;
    const adi3d_problem largest = adi3d_p_host_largest(batch);
    return (size_t)workers * adi3d_p_host_lay_out(&largest, 0, 1, NULL, NULL);
}

/* Solves the problems of a batch, each by one worker: `workers` threads of OpenMP, where the program is compiled with
   it, else the calling one.
   Needs    parameters of each problem; memory of host_batch_bytes, aligned as malloc does; pointers to the host's
            memory
   Leaves   status, values, grids and coordinates; NaN for a problem that fails; where the call is refused, its status
            in each, and NaN
   Returns  FD_OK; as adi3d_batch_check; FD_BAD_SIZE for workers < 1; FD_NO_ROOM: less memory, or none; FD_BAD_ARGUMENT
            for memory off alignment */
TB_HOST int adi3d_host_batch(const adi3d_batch *batch, const adi3d_model_parameters *parameters, int workers,
                             void *memory, size_t bytes)
{
    int wrong = adi3d_batch_check(batch);
    if (!wrong && workers < 1) wrong = FD_BAD_SIZE;
    if (!wrong && batch->problems > 0 && !parameters) wrong = FD_BAD_ARGUMENT;
    if (!wrong && batch->problems > 0 && (!memory || bytes < adi3d_host_batch_bytes(batch, workers)))
        wrong = FD_NO_ROOM;
    if (!wrong && fd_p_misaligned(memory)) wrong = FD_BAD_ARGUMENT;
    for (int which = 0; wrong && batch && which < batch->problems; which++) {
        if (batch->status) batch->status[which] = fd_status_of(wrong, 0, -1, -1, -1, -1, -1);
        if (batch->values && !adi3d_p_sizes(batch)) adi3d_p_fail_in(batch, which, 0, 1);
    }
    if (wrong) return wrong;
    const size_t each = adi3d_host_batch_bytes(batch, 1);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
    for (int which = 0; which < batch->problems; which++)
        adi3d_p_host_batched(batch, parameters, which, (unsigned char *)memory + each * (size_t)omp_get_thread_num(),
                             each);
#else
    for (int which = 0; which < batch->problems; which++) adi3d_p_host_batched(batch, parameters, which, memory, each);
#endif
    return FD_OK;
}
