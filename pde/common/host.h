/* host.h - a room of adi2d.h and adi3d.h, read once for each model and precision: marches on the host, with workers
   that share each problem or take problems of their own.
   MIT licence, see LICENSE. */

#define fd_p_host_merge FD_OF(p_host_merge)
#define fd_p_host_prepare FD_OF(p_host_prepare)
#define fd_p_host_spread FD_OF(p_host_spread)
#define fd_p_host_clear FD_OF(p_host_clear)
#define fd_p_host_begin FD_OF(p_host_begin)
#define fd_p_host_date FD_OF(p_host_date)
#define fd_p_host_record FD_OF(p_host_record)
#define fd_p_host_lost FD_OF(p_host_lost)
#define fd_p_host_end FD_OF(p_host_end)
#define fd_p_host_march FD_OF(p_host_march)
#define fd_p_host_problem FD_OF(p_host_problem)
#define fd_p_host_room FD_OF(p_host_room)
#define fd_p_host_apart FD_OF(p_host_apart)
#define fd_host_bytes FD_OF(host_bytes)
#define fd_host_problems FD_OF(host_problems)
#define fd_host_worker FD_OF(host_worker)
#define fd_host FD_OF(host)

/* ---- before the march -------------------------------------------------------------------------------------------- */

/* Merges a worker's findings into those of all workers. */
TB_HOST void fd_p_host_merge(const fd_p_findings *own, fd_p_findings *found)
{
    for (int f = 0; f < FD_P_FAULTS; f++)
        if (own->fault[f] < found->fault[f]) found->fault[f] = own->fault[f];
    if (own->given > found->given) found->given = own->given;
    if (own->longest > found->longest) found->longest = own->longest;
    if (own->greatest > found->greatest) found->greatest = own->greatest;
    found->not_dominant += own->not_dominant, found->sources += own->sources, found->too_long += own->too_long;
}

/* Prepares the problem. In the phases that visit all points, each worker does its part and keeps its own findings. */
TB_HOST void fd_p_host_prepare(const fd_p_host *h)
{
    fd_p_findings *found = h->t.found;
    fd_p_tables own = h->t;
    own.found = &h->findings[h->worker];
    for (int phase = 0; phase < (int)fd_p_phases; phase++) {
        if (phase == 4 || phase == 5) {
            *own.found = *found;
            fd_p_prepare(h->batch, &own, phase, h->worker, h->workers);
            fd_p_host_meet(h);
            for (int w = 0; w < h->workers && h->worker == 0; w++) fd_p_host_merge(&h->findings[w], found);
        } else if (h->worker == 0)
            fd_p_prepare(h->batch, &h->t, phase, 0, 1);
        fd_p_host_meet(h);
    }
}

/* Fills the tables that the loops along x read. */
TB_HOST void fd_p_host_spread(const fd_p_host *h)
{
    memset(h->spread, 0, 6 * h->pitch * sizeof(tb_real));
    for (int i = 0; i < h->n[0]; i++) {
        const fd_cell cell = h->t.cell[0][i];
        const tb_real number[6] = {cell.below,         cell.above, cell.h, cell.w, cell.below * (1 - cell.w),
                                   cell.above * cell.w};
        for (int q = 0; q < 6; q++) h->spread[(size_t)q * h->pitch + (size_t)i] = number[q];
    }
}

/* Clears a worker's part of a grid and of the 128 bytes before and after it. */
TB_HOST void fd_p_host_clear(const fd_p_host *h, tb_real *grid)
{
    const size_t line = 128 / sizeof(tb_real), parts = (h->plane * (size_t)h->n[2] + 2 * line) * sizeof(tb_real) / 64;
    const int from = fd_p_host_share(h, (int)parts, h->worker), to = fd_p_host_share(h, (int)parts, h->worker + 1);
    memset((unsigned char *)(grid - line) + (size_t)from * 64, 0, (size_t)(to - from) * 64);
}

/* Copies the final values to u, where the elements around them become 0. Sets the grids z, extra and d to 0, too. The
   final values may be stored in d, so d is cleared after all of them have been copied. */
TB_HOST void fd_p_host_begin(const fd_p_host *h)
{
    const int *n = h->n, from = fd_p_host_share(h, n[1] * n[2], h->worker);
    const size_t line = 128 / sizeof(tb_real), row = (size_t)n[0];
    if (h->worker == 0) fd_p_host_spread(h);
    fd_p_host_clear(h, h->u);
    if (h->z) fd_p_host_clear(h, h->z);
    if (h->extra) fd_p_host_clear(h, h->extra);
    fd_p_host_meet(h);
    for (int at = from; at < fd_p_host_share(h, n[1] * n[2], h->worker + 1); at++)
        memcpy(h->u + (size_t)(at / n[1]) * h->plane + (size_t)(at % n[1]) * h->pitch, h->t.final + (size_t)at * row,
               row * sizeof(tb_real));
    fd_p_host_meet(h);
    fd_p_host_clear(h, h->d);
    memset(h->transposed, 0, row * FD_P_HOST_LANES * sizeof(tb_real));
    memset(h->slopes - line / 2, 0, (8 * h->wide + line / 2) * sizeof(tb_real));
    fd_p_host_meet(h);
}

/* ---- between steps ----------------------------------------------------------------------------------------------- */

/* Applies the events at a date, except FD_RECORD, to a worker's rows: copies the old values to d, then computes the
   new ones. A change of values may raise *given, the largest magnitude among the numbers that the march is given. */
TB_HOST void fd_p_host_date(const fd_p_host *h, const fd_p_step *step, int *given)
{
    const int *n = h->n, date = step->data.date, first = fd_p_host_share(h, n[1] * n[2], h->worker);
    const int to = fd_p_host_share(h, n[1] * n[2], h->worker + 1);
    const fd_date *event = fd_p_event(h->t.problem, date);
    const long long stride[3] = {1, (long long)h->pitch, (long long)h->plane};
    for (int line = first; line < to; line++) {
        const size_t row = (size_t)(line / n[1]) * h->plane + (size_t)(line % n[1]) * h->pitch;
        memcpy(h->d + row, h->u + row, (size_t)n[0] * sizeof(tb_real));
    }
    fd_p_host_meet(h);
    for (int line = first; line < to; line++) {
        const int j = line % n[1], k = line / n[1];
        const size_t row = (size_t)k * h->plane + (size_t)j * h->pitch;
        const tb_real *final = h->t.final + (size_t)line * (size_t)n[0];
        tb_real none = 0;
        for (int i = 0; i < n[0]; i++) {
            const int index[3] = {i, j, k};
            const tb_real value = fd_p_shifted_to(&h->t, event, index, &h->d[row + (size_t)i], stride);
            h->u[row + (size_t)i] = fd_p_changed(&h->t, date, step->to, index, value, final[i],
                                                 h->extra ? &h->extra[row + (size_t)i] : &none, given);
        }
    }
    fd_p_host_meet(h);
}

/* Writes a worker's part of the results at `time`, which is 1 + a date. */
TB_HOST void fd_p_host_record(const fd_p_host *h, int time)
{
    const long long stride[3] = {1, (long long)h->pitch, (long long)h->plane};
    fd_p_record(h->batch, &h->t, h->which, time, h->u, stride, h->worker, h->workers);
    fd_p_host_meet(h);
}

/* Returns the first point whose value is not finite. If step is not null, returns instead the first point whose terms
   are not finite at the step's start or end. Each worker stops after its first line with such a point, and leaves in
   *largest the largest magnitude of the values that it has read. */
TB_HOST int fd_p_host_lost(const fd_p_host *h, const fd_p_step *step, int *largest)
{
    const int *n = h->n, to = fd_p_host_share(h, n[1] * n[2], h->worker + 1);
    int lost = FD_P_NONE;
    *largest = 0;
    for (int line = fd_p_host_share(h, n[1] * n[2], h->worker); line < to && lost == FD_P_NONE; line++) {
        const tb_real *u = fd_p_host_row(h, h->u, line % n[1], line / n[1]);
        for (int i = 0; i < n[0]; i++) {
            const int index[3] = {i, line % n[1], line / n[1]};
            const int good = step ? fd_p_terms_finite(fd_p_terms_at(&h->t, index, step->time[0])) &&
                                        fd_p_terms_finite(fd_p_terms_at(&h->t, index, step->time[1]))
                                  : trid_finite(u[i]);
            if (!good) fd_p_least(&lost, i + n[0] * line);
            *largest = fd_p_larger(*largest, (double)u[i]);
        }
    }
    return fd_p_host_least(h, lost);
}

/* ---- marches ----------------------------------------------------------------------------------------------------- */

/* Returns the status of a march that has ended, the same for all workers. */
TB_HOST fd_status fd_p_host_end(const fd_p_host *h, int given)
{
    int largest;
    const int lost = fd_p_host_lost(h, NULL, &largest);
    given = -fd_p_host_least(h, -given), largest = -fd_p_host_least(h, -largest);
    if (lost != FD_P_NONE) return fd_p_status_at(FD_NOT_SOLVED, h->n, lost, h->t.found->steps - 1);
    fd_status status = fd_p_status(FD_OK, 0);
    fd_p_grown(&status, given, largest);
    return status;
}

/* Does a worker's part of a march. If h->watched is set, searches the terms before each step, and the values after it,
   for the first number that is not finite. Returns the status, the same for all workers. */
TB_HOST fd_status fd_p_host_march(const fd_p_host *h)
{
    const fd_problem *problem = h->t.problem;
    const int steps = h->t.found->steps, watched = h->watched;
    int given = h->t.found->given, largest, lost;
    fd_p_host_begin(h);
    for (int k = 0; k < steps; k++) {
        const fd_p_step *step = &h->t.step[k];
        const fd_date *event = fd_p_event(problem, step->data.date);
        if (watched && (lost = fd_p_host_lost(h, step, &largest)) != FD_P_NONE)
            return fd_p_status_at(FD_MODEL_NAN, h->n, lost, k);
#if FD_FACTORS == 2
        if (step->product)
            adi2d_p_host_product(h, step);
        else
#endif
            fd_p_host_step(h, step);
        if (event && event->what != FD_RECORD) fd_p_host_date(h, step, &given);
        if (event && (event->what & FD_RECORD)) fd_p_host_record(h, 1 + step->data.date);
        if (watched && (lost = fd_p_host_lost(h, NULL, &largest)) != FD_P_NONE)
            return fd_p_status_at(FD_NOT_SOLVED, h->n, lost, k);
        if (problem->progress && h->worker == 0 && !watched) problem->progress(k + 1, steps, problem->context);
    }
    return fd_p_host_end(h, given);
}

/* Does a worker's part of problem `which`. A march that ends in a value that is not finite is repeated with h->watched
   set, so that its status names the step. All ways to solve a problem of two or three factors on the host call this
   function, and give the same bits. */
FD_P_ONE_COPY void fd_p_host_problem(fd_p_host *h, const fd_model_parameters *parameters, int which)
{
    const fd_batch *batch = h->batch;
    tb_real *const extra = h->extra;
    h->which = which, h->t.problem = &batch->problem[which], h->t.parameters = &parameters[which];
    fd_p_host_prepare(h);
    fd_status status = h->t.found->status;
    for (h->watched = 0; h->watched < 2 && !h->t.found->status.what; h->watched++) {
        fd_p_host_shape(h->t.found->points, h);
        h->extra = h->t.problem->exercise == FD_AMERICAN ? extra : NULL;
        if (h->watched) fd_p_host_prepare(h); /* the final values may have been overwritten */
        status = fd_p_host_march(h);
        if (!status.what || status.what == FD_GREW) break;
    }
    h->extra = extra;
    const long long stride[3] = {1, (long long)h->pitch, (long long)h->plane};
    if (!status.what) fd_p_coordinates(batch, &h->t, which, h->worker, h->workers);
    fd_p_end(batch, &h->t, which, status, h->u, stride, h->worker, h->workers);
    fd_p_host_meet(h);
}

/* Returns the bytes for `workers` workers that share each problem or, if `apart` is set, take problems of their own; 0
   if the batch's sizes are refused or there are no workers. */
TB_HOST size_t fd_p_host_room(const fd_batch *batch, int workers, int apart)
{
    if (workers < 1 || fd_p_sizes(FD_FACTORS, batch)) return 0;
    return apart ? (size_t)workers * fd_p_host_lay_out(batch, 0, 1, NULL, NULL)
                 : fd_p_host_lay_out(batch, 0, workers, NULL, NULL);
}

/* Returns whether MODEL_host's workers take problems of their own. They do if there are at least as many problems as
   workers, or if waiting for each other would cost more than sharing saves. */
TB_HOST int fd_p_host_apart(const fd_batch *batch, int workers)
{
    if (workers < 2 || fd_p_sizes(FD_FACTORS, batch)) return 0;
    const int worth = FD_FACTORS > 2 || fd_p_count(batch->points) / workers >= FD_P_WORTH_SHARING;
    return batch->problems >= workers || !worth;
}

/* Returns the bytes of memory for all workers together; 0 if the batch's sizes are refused or there are no workers. The
   batch's pointers may still be null. With three factors, if batch->problem is not null, only grids that the problems
   need are counted. */
TB_HOST size_t fd_host_bytes(const fd_batch *batch, int workers)
{
    return fd_p_host_room(batch, workers, fd_p_host_apart(batch, workers));
}

/* Solves problems `from` .. `to` - 1 of the batch, in the calling thread.
   Needs    parameters of each problem of the batch; memory of MODEL_host_bytes for one worker, which no other
            thread uses, aligned as by malloc; 0 <= `from`, `to` <= batch->problems
   Leaves   the status, values, grid and coordinates of these problems; NaN for a problem that fails. If the call is
            refused, each of these problems receives the call's status and, if the sizes of results are valid, NaN
   Returns  FD_OK, even if problems have failed; a status of fd_batch_check; FD_BAD_ARGUMENT for a null pointer or
            misaligned memory; FD_NO_ROOM if memory is less than MODEL_host_bytes; FD_BAD_SIZE for a range outside the
            batch, in which case no problem is touched
   Cost     a stage reads the values, writes and reads the differences, and reads and writes the values: five passes
            over memory, six in a second stage. Exercise adds more (docs/adi3d.md); a product of factors takes fewer */
TB_HOST int fd_host_problems(const fd_batch *batch, const fd_model_parameters *parameters, int from, int to,
                             void *memory, size_t bytes)
{
    if (!batch) return FD_BAD_ARGUMENT;
    if (from < 0 || to > batch->problems) return FD_BAD_SIZE;
    const int wrong = fd_p_host_call(batch, parameters, to - from, 1, memory, bytes, fd_p_host_room(batch, 1, 0));
    if (wrong) return fd_p_host_refuse(batch, from, to, wrong);
    fd_p_host h;
    fd_p_host_lay_out(batch, 0, 1, (unsigned char *)memory, &h);
    for (int which = from; which < to; which++) fd_p_host_problem(&h, parameters, which);
    return FD_OK;
}

/* Does one worker's part of a batch. All workers share each problem, one problem after another.
   Needs    a thread for each worker 0 .. workers - 1; all threads call this function at the same time, with the same
            arguments except worker; meet(context), which returns once all workers have called it (null for one
            worker); parameters of each problem; memory of MODEL_host_bytes for all workers, aligned as by malloc
   Leaves   as MODEL_host_problems, once all workers have returned
   Returns  as MODEL_host_problems; FD_BAD_SIZE for a worker outside 0 .. workers - 1 */
TB_HOST int fd_host_worker(const fd_batch *batch, const fd_model_parameters *parameters, int worker, int workers,
                           void *memory, size_t bytes, void (*meet)(void *context), void *context)
{
    const int problems = batch ? batch->problems : 0, first = worker <= 0 || worker >= workers;
    const size_t need = fd_p_host_room(batch, workers, 0);
    int wrong = fd_p_host_call(batch, parameters, problems, workers, memory, bytes, need);
    if (!wrong && (worker < 0 || worker >= workers)) wrong = FD_BAD_SIZE;
    if (!wrong && workers > 1 && !meet) wrong = FD_BAD_ARGUMENT;
    if (wrong) return first ? fd_p_host_refuse(batch, 0, problems, wrong) : wrong;
    fd_p_host h;
    fd_p_host_lay_out(batch, worker, workers, (unsigned char *)memory, &h);
    h.meet = meet, h.context = context;
    for (int which = 0; which < problems; which++) fd_p_host_problem(&h, parameters, which);
    return FD_OK;
}

/* Solves the problems of a batch with `workers` threads of OpenMP if the program is compiled with OpenMP, otherwise in
   the calling thread. Each thread takes problems of its own if there are at least as many problems as threads or if,
   with two factors, a grid has fewer than FD_P_WORTH_SHARING points per thread. Otherwise all threads share each
   problem. Either way the results are the same to the bit.
   Needs    parameters of each problem; memory of MODEL_host_bytes, aligned as by malloc
   Leaves   as MODEL_host_problems
   Returns  as MODEL_host_problems; FD_BAD_SIZE for workers < 1 */
TB_HOST int fd_host(const fd_batch *batch, const fd_model_parameters *parameters, int workers, void *memory,
                    size_t bytes)
{
    const int apart = fd_p_host_apart(batch, workers), problems = batch ? batch->problems : 0;
    const size_t need = fd_p_host_room(batch, workers, apart);
    const int wrong = fd_p_host_call(batch, parameters, problems, workers, memory, bytes, need);
    if (wrong) return fd_p_host_refuse(batch, 0, problems, wrong);
#ifdef _OPENMP
    const size_t each = apart ? fd_p_host_room(batch, 1, 0) : 0;
#pragma omp parallel num_threads(workers)
    if (apart) {
        fd_p_host h;
        fd_p_host_lay_out(batch, 0, 1, (unsigned char *)memory + each * (size_t)omp_get_thread_num(), &h);
#pragma omp for schedule(dynamic, 1)
        for (int which = 0; which < problems; which++) fd_p_host_problem(&h, parameters, which);
    } else
        fd_host_worker(batch, parameters, omp_get_thread_num(), omp_get_num_threads(), memory, bytes, fd_p_barrier,
                       NULL);
    return FD_OK;
#else
    return fd_host_worker(batch, parameters, 0, 1, memory, bytes, NULL, NULL);
#endif
}
