/* host.h - a room of adi3d.h, read once a model and precision: marches on the host, by workers together and one each.
   MIT licence, see LICENSE. */

#define adi3d_p_host_merge FD_OF(p_3d_host_merge)
#define adi3d_p_host_prepare FD_OF(p_3d_host_prepare)
#define adi3d_p_host_spread FD_OF(p_3d_host_spread)
#define adi3d_p_host_begin FD_OF(p_3d_host_begin)
#define adi3d_p_host_date FD_OF(p_3d_host_date)
#define adi3d_p_host_record FD_OF(p_3d_host_record)
#define adi3d_p_host_lost FD_OF(p_3d_host_lost)
#define adi3d_p_host_end FD_OF(p_3d_host_end)
#define adi3d_p_host_march FD_OF(p_3d_host_march)
#define adi3d_p_host_problem FD_OF(p_3d_host_problem)
#define adi3d_p_host_room FD_OF(p_3d_host_room)
#define adi3d_p_host_apart FD_OF(p_3d_host_apart)
#define adi3d_host_bytes FD_OF(host_bytes)
#define adi3d_p_host_check FD_OF(p_3d_host_check)
#define adi3d_host_worker FD_OF(host_worker)
#define adi3d_host FD_OF(host)

/* ---- before the march -------------------------------------------------------------------------------------------- */

/* Merges what a worker has found out into what all have. */
TB_HOST void adi3d_p_host_merge(const fd_p_findings *own, fd_p_findings *found)
{
    for (int f = 0; f < FD_P_FAULTS; f++)
        if (own->fault[f] < found->fault[f]) found->fault[f] = own->fault[f];
    if (own->given > found->given) found->given = own->given;
    if (own->longest > found->longest) found->longest = own->longest;
    found->not_dominant += own->not_dominant, found->sources += own->sources;
}

/* Prepares the problem. In the phases that look at all points the workers do their parts, each with findings of its
   own. */
TB_HOST void adi3d_p_host_prepare(const adi3d_p_host *h)
{
    fd_p_findings *found = h->t.found;
    fd_p_tables own = h->t;
    own.found = &h->findings[h->worker];
    for (int phase = 0; phase < FD_P_PHASES; phase++) {
        if (phase == 4 || phase == 5) {
            *own.found = *found;
            fd_p_prepare(h->batch, &own, phase, h->worker, h->workers);
            adi3d_p_meet(h);
            for (int w = 0; w < h->workers && h->worker == 0; w++) adi3d_p_host_merge(&h->findings[w], found);
        } else if (h->worker == 0)
            fd_p_prepare(h->batch, &h->t, phase, 0, 1);
        adi3d_p_meet(h);
    }
}

/* Fills the tables that the loops along x read. */
TB_HOST void adi3d_p_host_spread(const adi3d_p_host *h)
{
    memset(h->spread, 0, 6 * h->pitch * sizeof(tb_real));
    memset(h->zeros, 0, ADI3D_P_LANES * sizeof(tb_real));
    for (int i = 0; i < h->n[0]; i++) {
        const fd_cell cell = h->t.cell[0][i];
        const tb_real number[6] = {cell.below, cell.above,  cell.h, cell.w, cell.below * (1 - cell.w),
                                   cell.above * cell.w};
        for (int q = 0; q < 6; q++) h->spread[(size_t)q * h->pitch + (size_t)i] = number[q];
    }
}

/* Sets a worker's planes to the final values, and what surrounds them to 0. The final values may be where differences
   will be, so these are cleared when all have been copied. */
TB_HOST void adi3d_p_host_begin(const adi3d_p_host *h)
{
    const int *n = h->n, from = adi3d_p_share(h, n[2], h->worker), to = adi3d_p_share(h, n[2], h->worker + 1);
    const size_t line = 128 / sizeof(tb_real), row = (size_t)n[0];
    tb_real *const grid[4] = {h->u, h->z, h->extra, h->d};
    if (h->worker == 0) adi3d_p_host_spread(h);
    for (int g = 0; g < 4; g++) {
        if (g == 3) adi3d_p_meet(h);
        if (!grid[g]) continue;
        if (h->worker == 0) memset(grid[g] - line, 0, line * sizeof(tb_real));
        for (int k = from; k < to; k++)
            memset(grid[g] + (size_t)k * h->plane, 0, (h->plane + (k == n[2] - 1 ? line : 0)) * sizeof(tb_real));
        for (int at = from * n[1]; at < to * n[1] && g == 0; at++)
            memcpy(h->u + (size_t)(at / n[1]) * h->plane + (size_t)(at % n[1]) * h->pitch,
                   h->t.final + (size_t)at * row, row * sizeof(tb_real));
    }
    memset(h->transposed, 0, (size_t)n[0] * ADI3D_P_LANES * sizeof(tb_real));
    memset(h->slopes - line / 2, 0, (8 * h->wide + line / 2) * sizeof(tb_real));
    adi3d_p_meet(h);
}

/* ---- between steps ----------------------------------------------------------------------------------------------- */

/* Applies the event of a date to a worker's rows. A change may raise *given, the largest magnitude given. */
TB_HOST void adi3d_p_host_date(const adi3d_p_host *h, const adi3d_p_step *step, int *given)
{
    const int *n = h->n, date = step->data.date;
    const fd_date *event = fd_p_event(h->t.problem, date);
    for (int k = adi3d_p_share(h, n[2], h->worker); k < adi3d_p_share(h, n[2], h->worker + 1); k++)
        for (int j = 0; j < n[1]; j++) {
            const size_t row = (size_t)k * h->plane + (size_t)j * h->pitch;
            const tb_real *final = h->t.final + ((size_t)k * (size_t)n[1] + (size_t)j) * (size_t)n[0];
            tb_real *u = h->u + row, none = 0;
            memcpy(h->rows, u, (size_t)n[0] * sizeof(tb_real));
            for (int i = 0; i < n[0]; i++) {
                const int index[3] = {i, j, k};
                if (event->what & FD_SHIFT) u[i] = fd_p_shifted_to(event, n[0], h->t.x[0], i, h->rows);
                u[i] = fd_p_changed(&h->t, date, step->to, index, u[i], final[i],
                                    h->extra ? &h->extra[row + (size_t)i] : &none, given);
            }
        }
    adi3d_p_meet(h);
}

/* Writes the results of a time, 0 or 1 + a date: a worker its planes, the first one the values at spots. */
TB_HOST void adi3d_p_host_record(const adi3d_p_host *h, int time)
{
    const fd_batch *batch = h->batch;
    const size_t at = (size_t)h->which * (size_t)(1 + batch->dates) + (size_t)time;
    const size_t row = (size_t)batch->points[0], all = adi3d_p_points(batch->points);
    const long long stride[3] = {1, (long long)h->pitch, (long long)h->plane};
    for (int s = 0; s < batch->spots && h->worker == 0; s++)
        batch->values[at * (size_t)batch->spots + (size_t)s] = fd_p_values_at(&h->t, s, h->u, stride);
    const int most = batch->points[2], from = adi3d_p_share(h, most, h->worker);
    for (int k = from; k < adi3d_p_share(h, most, h->worker + 1) && batch->grid; k++)
        for (int j = 0; j < batch->points[1]; j++) {
            const int points = j < h->n[1] && k < h->n[2] ? h->n[0] : 0;
            tb_real *to = (tb_real *)batch->grid + at * all + ((size_t)k * (size_t)batch->points[1] + (size_t)j) * row;
            if (points > 0) memcpy(to, adi3d_p_host_row(h, h->u, j, k), (size_t)points * sizeof(tb_real));
            for (size_t i = (size_t)points; i < row; i++) to[i] = fd_p_nan();
        }
    adi3d_p_meet(h);
}

/* Returns the first point whose value is not finite; with a step, whose terms are not, at its start or end. Leaves in
   *largest the worker's largest magnitude. */
TB_HOST int adi3d_p_host_lost(const adi3d_p_host *h, const adi3d_p_step *step, int *largest)
{
    const int *n = h->n;
    int lost = FD_P_NONE;
    *largest = 0;
    for (int k = adi3d_p_share(h, n[2], h->worker); k < adi3d_p_share(h, n[2], h->worker + 1) && lost == FD_P_NONE; k++)
        for (int j = 0; j < n[1]; j++) {
            const tb_real *u = adi3d_p_host_row(h, h->u, j, k);
            for (int i = 0; i < n[0]; i++) {
                const int index[3] = {i, j, k};
                int good = step ? fd_p_terms_finite(fd_p_terms_at(&h->t, index, step->time[0])) &&
                                      fd_p_terms_finite(fd_p_terms_at(&h->t, index, step->time[1]))
                                : trid_finite(u[i]);
                if (!good) fd_p_least(&lost, i + n[0] * (j + n[1] * k));
                *largest = fd_p_larger(*largest, (double)u[i]);
            }
        }
    return adi3d_p_together(h, lost, 0);
}

/* ---- marches ----------------------------------------------------------------------------------------------------- */

/* Returns the status of a march that has come to its end: the same for all workers. */
TB_HOST fd_status adi3d_p_host_end(const adi3d_p_host *h, int given)
{
    int largest;
    const int lost = adi3d_p_host_lost(h, NULL, &largest);
    given = -adi3d_p_together(h, -given, 0), largest = -adi3d_p_together(h, -largest, 0);
    if (lost != FD_P_NONE) return adi3d_p_lost(FD_NOT_SOLVED, h->n, lost, h->t.found->steps - 1);
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    fd_p_grown(&status, given, largest);
    return status;
}

/* Does a worker's part of a march. With `watched` it looks in each step for the first number that is not finite, terms
   before values. Returns its status, the same for all workers. */
TB_HOST fd_status adi3d_p_host_march(const adi3d_p_host *h, int watched)
{
    const fd_problem *problem = h->t.problem;
    const int steps = h->t.found->steps;
    int given = h->t.found->given, largest, lost;
    adi3d_p_host_begin(h);
    for (int k = 0; k < steps; k++) {
        const fd_step made = fd_p_step_at(&h->t, k);
        const adi3d_p_step step = adi3d_p_step_of(problem, h->t.parameters, &made);
        const fd_date *event = fd_p_event(problem, step.data.date);
        if (watched && (lost = adi3d_p_host_lost(h, &step, &largest)) != FD_P_NONE)
            return adi3d_p_lost(FD_MODEL_NAN, h->n, lost, k);
        adi3d_p_host_step(h, &step);
        if (event && event->what != FD_RECORD) adi3d_p_host_date(h, &step, &given);
        if (event && (event->what & FD_RECORD)) adi3d_p_host_record(h, 1 + step.data.date);
        if (watched && (lost = adi3d_p_host_lost(h, NULL, &largest)) != FD_P_NONE)
            return adi3d_p_lost(FD_NOT_SOLVED, h->n, lost, k);
        if (problem->progress && h->worker == 0 && !watched) problem->progress(k + 1, steps, problem->context);
    }
    return adi3d_p_host_end(h, given);
}

/* Does a worker's part of problem `which`, of which all have laid out the memory. A march that fails is made a second
   time, watched, so that its status names the step. */
TB_HOST void adi3d_p_host_problem(adi3d_p_host *h, const fd_model_parameters *parameters, int which)
{
    const fd_batch *batch = h->batch;
    tb_real *const extra = h->extra;
    h->which = which, h->t.problem = &batch->problem[which], h->t.parameters = &parameters[which];
    adi3d_p_host_prepare(h);
    fd_status status = h->t.found->status;
    for (int watched = 0; watched < 2 && !h->t.found->status.what; watched++) {
        adi3d_p_host_shape(h->t.found->points, h);
        h->extra = h->t.problem->exercise == FD_AMERICAN ? extra : NULL;
        if (watched) adi3d_p_host_prepare(h); /* the final values may be gone */
        status = adi3d_p_host_march(h, watched);
        status.not_dominant = h->t.found->not_dominant;
        if (!status.what) adi3d_p_host_record(h, 0);
        if (!status.what || status.what == FD_GREW) break;
    }
    h->extra = extra;
    if (h->worker == 0) {
        batch->status[which] = status;
        if (!status.what) fd_p_coordinates(batch, &h->t, which, 0, 1);
        if (status.what) fd_p_fill_nan(batch, which, 0, 1);
    }
    adi3d_p_meet(h);
}

/* Returns the bytes that so many workers need who share each problem, or who have problems of their own. */
TB_HOST size_t adi3d_p_host_room(const fd_batch *batch, int workers, int apart)
{
    return apart ? (size_t)workers * adi3d_p_host_lay_out(batch, 0, 1, NULL, NULL)
                 : adi3d_p_host_lay_out(batch, 0, workers, NULL, NULL);
}

/* Returns whether MODEL_host's workers have problems of their own. */
TB_HOST int adi3d_p_host_apart(const fd_batch *batch, int workers)
{
    return workers > 1 && batch->problems >= workers;
}

/* Returns the bytes of memory that so many workers need together, or 0 for a batch that adi3d_check refuses, or no
   workers. The batch's pointers may still be null: with its problems known, what none of them needs is not counted. */
TB_HOST size_t adi3d_host_bytes(const fd_batch *batch, int workers)
{
    if (workers < 1 || adi3d_p_sizes(batch)) return 0;
    return adi3d_p_host_room(batch, workers, adi3d_p_host_apart(batch, workers));
}

/* Checks a call. */
TB_HOST int adi3d_p_host_check(const fd_batch *batch, const fd_model_parameters *parameters, int workers, int apart,
                               const void *memory, size_t bytes)
{
    const int wrong = adi3d_check(batch);
    if (wrong || workers < 1) return wrong ? wrong : FD_BAD_SIZE;
    if (batch->problems == 0) return FD_OK;
    if (!parameters || !memory || fd_p_misaligned(memory)) return FD_BAD_ARGUMENT;
    return bytes < adi3d_p_host_room(batch, workers, apart) ? FD_NO_ROOM : FD_OK;
}

/* Does one worker's part in solving the problems of a batch, which all workers share, one after another.
   Needs    all workers 0 .. workers - 1 in this function at the same time, each in a thread of its own, with the same
            arguments except worker; meet(context), which returns when all have called it (null for one worker);
            parameters of each problem; memory of host_bytes, aligned as malloc does
   Leaves   status, values, grids and coordinates, when all have returned; NaN for a problem that fails; if the call is
            refused, its status in each, and NaN
   Returns  FD_OK; as adi3d_check; FD_BAD_ARGUMENT for a null pointer or memory off alignment; FD_NO_ROOM: less memory
            than host_bytes; FD_BAD_SIZE: an impossible worker
   Cost     a stage reads the values, writes and reads the differences, and reads and writes the values: five passes
            over memory; a second stage one more */
TB_HOST int adi3d_host_worker(const fd_batch *batch, const fd_model_parameters *parameters, int worker, int workers,
                              void *memory, size_t bytes, void (*meet)(void *context), void *context)
{
    const int problems = batch ? batch->problems : 0, first = worker <= 0 || worker >= workers;
    int wrong = adi3d_p_host_check(batch, parameters, workers, 0, memory, bytes);
    if (!wrong && (worker < 0 || worker >= workers)) wrong = FD_BAD_SIZE;
    if (!wrong && workers > 1 && !meet) wrong = FD_BAD_ARGUMENT;
    if (wrong) return first ? fd_p_host_refuse(batch, 0, problems, wrong) : wrong;
    adi3d_p_host h;
    adi3d_p_host_lay_out(batch, worker, workers, (unsigned char *)memory, &h);
    h.meet = meet, h.context = context;
    for (int which = 0; which < batch->problems; which++) adi3d_p_host_problem(&h, parameters, which);
    return FD_OK;
}

/* Solves the problems of a batch by `workers` threads of OpenMP, where the program is compiled with it, else by the
   calling one: each takes problems of its own where there are that many, else all share each problem. The results do
   not depend on it, to the bit.
   Needs    parameters of each problem; memory of host_bytes, aligned as malloc does
   Leaves   as host_worker
   Returns  as host_worker */
TB_HOST int adi3d_host(const fd_batch *batch, const fd_model_parameters *parameters, int workers, void *memory,
                       size_t bytes)
{
    const int apart = batch && adi3d_p_host_apart(batch, workers);
    const int wrong = adi3d_p_host_check(batch, parameters, workers, apart, memory, bytes);
    if (wrong) return fd_p_host_refuse(batch, 0, batch ? batch->problems : 0, wrong);
#ifdef _OPENMP
    if (apart) {
        const size_t each = adi3d_p_host_room(batch, 1, 0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
        for (int which = 0; which < batch->problems; which++) {
            adi3d_p_host h;
            adi3d_p_host_lay_out(batch, 0, 1, (unsigned char *)memory + each * (size_t)omp_get_thread_num(), &h);
            adi3d_p_host_problem(&h, parameters, which);
        }
        return FD_OK;
    }
#pragma omp parallel num_threads(workers)
    adi3d_host_worker(batch, parameters, omp_get_thread_num(), omp_get_num_threads(), memory, bytes, adi3d_p_barrier,
                      NULL);
    return FD_OK;
#else
    return adi3d_host_worker(batch, parameters, 0, 1, memory, bytes, NULL, NULL);
#endif
}
