/* host.h - a room of fd1d.h, read once for each model and precision: marches on the host. A worker interleaves
   fd1d_lanes problems, so that the compiler vectorises across them.
   MIT licence, see LICENSE. */

#define fd1d_lanes FD_OF(p_1d_lanes)
#define fd1d_p_host FD_OF(p_1d_host)
#define fd1d_p_host_lay_out FD_OF(p_1d_host_lay_out)
#define fd1d_p_host_rows FD_OF(p_1d_host_rows)
#define fd1d_p_host_right FD_OF(p_1d_host_right)
#define fd1d_p_host_factor FD_OF(p_1d_host_factor)
#define fd1d_p_host_solve FD_OF(p_1d_host_solve)
#define fd1d_p_host_given FD_OF(p_1d_host_given)
#define fd1d_p_weights FD_OF(p_1d_weights)
#define fd1d_p_host_weights FD_OF(p_1d_host_weights)
#define fd1d_p_host_first FD_OF(p_1d_host_first)
#define fd1d_p_host_second FD_OF(p_1d_host_second)
#define fd1d_p_host_add FD_OF(p_1d_host_add)
#define fd1d_p_host_step FD_OF(p_1d_host_step)
#define fd1d_p_host_between FD_OF(p_1d_host_between)
#define fd1d_p_host_lost FD_OF(p_1d_host_lost)
#define fd1d_p_host_begin FD_OF(p_1d_host_begin)
#define fd1d_p_host_march FD_OF(p_1d_host_march)
#define fd1d_p_host_end FD_OF(p_1d_host_end)
#define fd1d_p_host_problems FD_OF(p_1d_host_problems)
#define fd1d_host_bytes FD_OF(host_bytes)
#define fd1d_host FD_OF(host)

enum { fd1d_lanes = 64 / (int)sizeof(tb_real) }; /* interleaved problems: 64 bytes of values for each point */

/* A worker's memory: the tables of its problems, and arrays in which point i of problem b is at
   [i fd1d_lanes + b]. fd1d_lanes zeros precede the first point, and as many follow the last. */
typedef struct {
    const fd_batch *batch;
    fd1d_tables h[fd1d_lanes];
    int which[fd1d_lanes];             /* the number of problem b in the batch; -1: none */
    int live[fd1d_lanes];              /* whether problem b is marched */
    int failed[fd1d_lanes];            /* whether its first march has failed */
    const fd1d_step *step[fd1d_lanes]; /* the current segment of problem b; null: none */
    int n, steps;                      /* the most points and steps of any problem that is marched */
    int given[fd1d_lanes];             /* the largest magnitude that the march is given */
    fd_status status[fd1d_lanes];
    tb_real *u, *z, *right, *more, *rest, *multiplier; /* see fd1d_p_host_first; z: a first stage's values; multiplier:
                                                          that of exercise, times dt */
    tb_real *row[2][4];                                /* [end][..]: a step's below, above, kill and source at its start
                                                          (0) and its end (1) */
    tb_real *a, *pivot, *upper;                        /* the factored matrix: a, reciprocals of pivots, factors of
                                                          back substitution */
} fd1d_p_host;

/* Assigns memory to a worker's tables and arrays; with null, only counts bytes. Returns the bytes used. */
TB_HOST size_t fd1d_p_host_lay_out(const fd_batch *batch, unsigned char *memory, fd1d_p_host *host)
{
    enum { arrays = 17 };
    size_t used = fd_p_round(sizeof(fd1d_p_host)), each = fd1d_p_lay_out(batch, 1, batch->points[0], NULL, NULL);
    const size_t array = fd_p_round((size_t)(batch->points[0] + 2) * (size_t)fd1d_lanes * sizeof(tb_real));
    if (host) {
        tb_real **const at[arrays] = {
            &host->u,         &host->z,         &host->right,     &host->more,      &host->rest,      &host->multiplier,
            &host->row[0][0], &host->row[0][1], &host->row[0][2], &host->row[0][3], &host->row[1][0], &host->row[1][1],
            &host->row[1][2], &host->row[1][3], &host->a,         &host->pivot,     &host->upper};
        for (int b = 0; b < fd1d_lanes; b++)
            fd1d_p_lay_out(batch, 1, batch->points[0], memory + used + (size_t)b * each, &host->h[b]);
        for (int q = 0; q < arrays; q++)
            *at[q] = (tb_real *)(memory + used + fd1d_lanes * each + (size_t)q * array) + fd1d_lanes;
        memset(memory + used + fd1d_lanes * each, 0, arrays * array);
        host->batch = batch;
    }
    return used + fd1d_lanes * each + arrays * array;
}

/* Stores the rows at the start and the end of step k in the arrays; those of a time-independent model only once. */
TB_HOST void fd1d_p_host_rows(fd1d_p_host *w, int k)
{
    for (int b = 0; b < fd1d_lanes; b++) {
        const fd1d_tables *h = &w->h[b];
        if (!w->live[b] || k >= h->t.found->steps || (k > 0 && fd1d_p_steady)) continue;
        for (int end = 0; end < 2; end++)
            for (int i = 0; i < h->t.found->points[0]; i++) {
                const fd1d_row row = fd1d_p_steady
                                         ? h->row[i]
                                         : fd1d_p_row_at(&h->t, h->t.found->points[0], i, fd_p_time_of(&h->t, k, end));
                const int at = i * fd1d_lanes + b;
                w->row[end][0][at] = row.of.below, w->row[end][1][at] = row.of.above;
                w->row[end][2][at] = row.kill, w->row[end][3][at] = row.source;
            }
    }
}

/* Computes F(v) at the start (end 0) or the end (1) of a step. */
FD_P_FLAT void fd1d_p_host_right(const fd1d_p_host *w, int end, const tb_real *FD_P_RESTRICT v,
                                 tb_real *FD_P_RESTRICT f)
{
    const tb_real *FD_P_RESTRICT below = w->row[end][0], *FD_P_RESTRICT above = w->row[end][1];
    const tb_real *FD_P_RESTRICT kill = w->row[end][2], *FD_P_RESTRICT source = w->row[end][3];
    const int all = w->n * fd1d_lanes;
    for (int at = 0; at < all; at++) {
        const fd1d_row row = {{below[at], above[at]}, kill[at], source[at]};
        f[at] = fd1d_p_right(row, v[at - fd1d_lanes], v[at], v[at + fd1d_lanes]);
    }
    for (int b = 0; b < fd1d_lanes; b++)
        for (int side = 0; side < 2 && w->step[b]; side++) {
            const fd1d_face *face = &w->step[b]->face[side];
            const int in = side ? -fd1d_lanes : fd1d_lanes,
                      at = side ? (w->h[b].t.found->points[0] - 1) * fd1d_lanes + b : b;
            f[at] += face->third[end] * (v[at + 2 * in] - v[at + in]) + face->add[end];
        }
}

/* Factors the matrices of the current step. */
TB_HOST void fd1d_p_host_factor(const fd1d_p_host *w)
{
    tb_real before[fd1d_lanes] = {0};
    for (int i = 0; i < w->n; i++)
        for (int b = 0; b < fd1d_lanes; b++) {
            const int at = i * fd1d_lanes + b, points = w->live[b] ? w->h[b].t.found->points[0] : 0;
            const fd1d_step *step = w->step[b];
            const fd_row row = {w->row[1][0][at], w->row[1][1][at]};
            tb_real mine, middle, c;
            fd_lane_matrix(row, step ? step->of.size : 0, w->row[1][2][at], &mine, &middle, &c);
            if (step && i == 0) mine = 0, middle = step->face[0].middle, c = step->face[0].near_by;
            if (step && i == points - 1) mine = step->face[1].near_by, middle = step->face[1].middle, c = 0;
            w->a[at] = mine, w->pivot[at] = 1 / (middle - mine * before[b]);
            before[b] = w->upper[at] = c * w->pivot[at];
        }
}

/* Solves the factored systems, in place. */
FD_P_FLAT void fd1d_p_host_solve(const fd1d_p_host *w, tb_real *FD_P_RESTRICT y)
{
    const tb_real *FD_P_RESTRICT a = w->a, *FD_P_RESTRICT pivot = w->pivot, *FD_P_RESTRICT upper = w->upper;
    tb_real before[fd1d_lanes] = {0};
    for (int i = 0; i < w->n; i++)
        for (int b = 0; b < fd1d_lanes; b++)
            before[b] = y[i * fd1d_lanes + b] =
                (y[i * fd1d_lanes + b] - a[i * fd1d_lanes + b] * before[b]) * pivot[i * fd1d_lanes + b];
    for (int b = 0; b < fd1d_lanes; b++) before[b] = 0;
    for (int i = w->n - 1; i >= 0; i--)
        for (int b = 0; b < fd1d_lanes; b++) before[b] = y[i * fd1d_lanes + b] -= upper[i * fd1d_lanes + b] * before[b];
}

/* Sets the right-hand sides at faces whose value is given; the solution is the difference from `from`. At FD_DEGENERATE
   faces, does to the right-hand side what the elimination of the third point did to the matrix. */
TB_HOST void fd1d_p_host_given(const fd1d_p_host *w, const tb_real *from, tb_real *right)
{
    for (int b = 0; b < fd1d_lanes; b++)
        for (int side = 0; side < 2 && w->step[b]; side++) {
            const fd1d_face *face = &w->step[b]->face[side];
            const int at = side ? (w->h[b].t.found->points[0] - 1) * fd1d_lanes + b : b;
            if (face->is_given) right[at] = face->given - from[at];
            if (face->times < 0) right[at] -= face->times * right[at + (side ? -fd1d_lanes : fd1d_lanes)];
        }
}

/* The numbers of a step for each problem. For problems that have ended they are 0, so that values do not change. If F
   overflows in such a problem, its product with 0 is NaN, and the problem is marched again on its own. */
typedef struct {
    tb_real own[fd1d_lanes], size[fd1d_lanes], scale[fd1d_lanes];        /* scale: this dt over the previous one */
    tb_real again[2][fd1d_lanes], about[fd1d_lanes], second[fd1d_lanes]; /* second: 1 if there are two stages */
    int twice, changes, factors; /* whether any problem has two stages, has changes (fd1d_step), needs new factors */
} fd1d_p_weights;

/* Computes the numbers of step k. */
TB_HOST void fd1d_p_host_weights(fd1d_p_host *w, int k, fd1d_p_weights *of)
{
    memset(of, 0, sizeof *of);
    for (int b = 0; b < fd1d_lanes; b++) {
        const int steps = w->live[b] ? w->h[b].t.found->steps : -1;
        of->factors |= k == steps; /* it has ended, and its matrix becomes the identity */
        if (k >= steps) w->step[b] = NULL;
        if (k >= steps) continue;
        of->scale[b] = 1;
        if (!w->step[b] || k == w->step[b]->first + w->step[b]->count) {
            const fd1d_step *next = w->step[b] ? w->step[b] + 1 : w->h[b].step;
            of->scale[b] = w->step[b] ? next->of.dt / w->step[b]->of.dt : 0;
            w->step[b] = next, of->factors = 1;
        }
        const fd1d_step *step = w->step[b];
        of->own[b] = step->of.base[0][1], of->size[b] = step->of.size;
        of->again[0][b] = step->of.base[1][1], of->again[1][b] = step->of.base[1][3];
        of->second[b] = (tb_real)(step->of.stages > 1), of->about[b] = (tb_real)(step->of.stages > 1 && step->of.about);
        of->twice |= step->of.stages > 1, of->changes |= step->changes;
    }
}

/* Computes the right-hand sides of the first stage in w->right, and in w->rest the part of the second stage's
   right-hand sides that does not depend on the first stage's result. On entry w->right holds F at the step's start and,
   if anything changes, w->more holds F at the step's end. */
FD_P_FLAT void fd1d_p_host_first(const fd1d_p_host *w, const fd1d_p_weights *of)
{
    const tb_real *FD_P_RESTRICT u = w->u, *FD_P_RESTRICT more = w->more;
    tb_real *FD_P_RESTRICT right = w->right, *FD_P_RESTRICT rest = w->rest, *FD_P_RESTRICT multiplier = w->multiplier;
    for (int i = 0; i < w->n; i++)
        for (int b = 0; b < fd1d_lanes; b++) {
            const int at = i * fd1d_lanes + b;
            const tb_real f = right[at], change = of->changes ? of->size[b] * (more[at] - f) : 0;
            const tb_real extra = multiplier[at] *= of->scale[b];
            rest[at] = of->again[0][b] * f + of->about[b] * u[at] + (1 - of->about[b]) * change + extra;
            right[at] = of->own[b] * f + change + extra;
        }
}

/* Computes the right-hand sides of the second stage in w->right, which holds F(z) on entry. Leaves in w->more the
   values to which the stage's solution, a difference, must be added. */
FD_P_FLAT void fd1d_p_host_second(const fd1d_p_host *w, const fd1d_p_weights *of)
{
    const tb_real *FD_P_RESTRICT u = w->u, *FD_P_RESTRICT z = w->z, *FD_P_RESTRICT rest = w->rest;
    tb_real *FD_P_RESTRICT right = w->right, *FD_P_RESTRICT from = w->more;
    for (int i = 0; i < w->n; i++)
        for (int b = 0; b < fd1d_lanes; b++) {
            const int at = i * fd1d_lanes + b;
            from[at] = of->about[b] > 0 ? z[at] : u[at];
            right[at] = of->again[1][b] * right[at] + rest[at] - of->about[b] * z[at];
        }
}

/* Computes `to` = `from` + `delta`. Problems of one stage, for which second[b] is 0, receive z instead, unless `second`
   is null. */
FD_P_FLAT void fd1d_p_host_add(const fd1d_p_host *w, const tb_real *FD_P_RESTRICT from,
                               const tb_real *FD_P_RESTRICT delta, const tb_real *second, tb_real *FD_P_RESTRICT to)
{
    for (int i = 0; i < w->n; i++)
        for (int b = 0; b < fd1d_lanes; b++) {
            const int at = i * fd1d_lanes + b;
            to[at] = second && !(second[b] > 0) ? w->z[at] : from[at] + delta[at];
        }
}

/* Takes step k of all problems, in u. */
TB_HOST void fd1d_p_host_step(fd1d_p_host *w, int k)
{
    fd1d_p_weights of;
    fd1d_p_host_weights(w, k, &of);
    fd1d_p_host_rows(w, k);
    if (of.factors) fd1d_p_host_factor(w);
    fd1d_p_host_right(w, 0, w->u, w->right);
    if (of.changes) fd1d_p_host_right(w, 1, w->u, w->more);
    fd1d_p_host_first(w, &of);
    fd1d_p_host_given(w, w->u, w->right);
    fd1d_p_host_solve(w, w->right);
    fd1d_p_host_add(w, w->u, w->right, NULL, w->z);
    if (of.twice) {
        fd1d_p_host_right(w, 1, w->z, w->right);
        fd1d_p_host_second(w, &of);
        fd1d_p_host_given(w, w->more, w->right);
        fd1d_p_host_solve(w, w->right);
        fd1d_p_host_add(w, w->more, w->right, of.second, w->u);
    } else {
        tb_real *u = w->u;
        w->u = w->z, w->z = u;
    }
}

/* Applies early exercise to problem b after step k and, if the step ends at a date, the events at that date. */
TB_HOST void fd1d_p_host_between(fd1d_p_host *w, int k, int b)
{
    const fd1d_tables *h = &w->h[b];
    const int date = k == w->step[b]->first + w->step[b]->count - 1 ? w->step[b]->of.date : -1;
    const fd_date *event = fd_p_event(h->t.problem, date);
    if (h->t.problem->exercise == FD_EUROPEAN && !event) return;
    const int n = h->t.found->points[0], kind = h->t.problem->exercise;
    const double when = fd1d_p_when(&h->t, k);
    for (int i = 0; i < n; i++) {
        tb_real *u = &w->u[i * fd1d_lanes + b], *extra = &w->multiplier[i * fd1d_lanes + b];
        if (kind != FD_EUROPEAN) *u = fd_lane_exercise(kind, 1, fd_p_pays(&h->t, &i, when, h->t.final[i]), *u, extra);
        h->multiplier[i] = *extra, h->value[i] = *u;
    }
    if (!event) return;
    w->given[b] = fd1d_p_happen(h, date, k, 0, 1, w->given[b]);
    if (event->what & FD_RECORD) fd1d_p_record(w->batch, h, w->which[b], 1 + date, h->rest, 0, 1);
    for (int i = 0; i < n; i++)
        w->u[i * fd1d_lanes + b] = h->rest[i], w->multiplier[i * fd1d_lanes + b] = h->multiplier[i];
}

/* Returns the first point of problem b whose value is not finite, or FD_P_NONE. Leaves the largest magnitude of the
   values before it in *largest. */
TB_HOST int fd1d_p_host_lost(const fd1d_p_host *w, int b, int *largest)
{
    *largest = 0;
    for (int i = 0; i < w->h[b].t.found->points[0]; i++) {
        const tb_real value = w->u[i * fd1d_lanes + b];
        if (!trid_finite(value)) return i;
        *largest = fd_p_larger(*largest, (double)value);
    }
    return FD_P_NONE;
}

/* Starts a march from the final values: of all problems that were prepared without a fault or, if `only` is not -1, of
   problem `only` alone. */
TB_HOST void fd1d_p_host_begin(fd1d_p_host *w, int only)
{
    const size_t points = (size_t)w->batch->points[0];
    memset(w->u - fd1d_lanes, 0, (points + 2) * fd1d_lanes * sizeof(tb_real));
    memset(w->z - fd1d_lanes, 0, (points + 2) * fd1d_lanes * sizeof(tb_real));
    memset(w->multiplier, 0, points * fd1d_lanes * sizeof(tb_real));
    memset(w->step, 0, sizeof w->step);
    w->n = w->steps = 0;
    for (int b = 0; b < fd1d_lanes; b++) {
        const fd_p_findings *found = w->h[b].t.found;
        w->live[b] = w->which[b] >= 0 && !found->status.what && (only < 0 || only == b);
        if (!w->live[b]) continue;
        w->given[b] = found->given;
        if (found->points[0] > w->n) w->n = found->points[0];
        if (found->steps > w->steps) w->steps = found->steps;
        for (int i = 0; i < found->points[0]; i++) w->u[i * fd1d_lanes + b] = w->h[b].t.final[i];
    }
}

/* Marches all prepared problems or, if `only` is not -1, problem `only` alone. The march of a single problem ends
   at the first number that is not finite: it searches the model's terms before each step, and the values after it. */
TB_HOST void fd1d_p_host_march(fd1d_p_host *w, int only)
{
    int unused;
    fd1d_p_host_begin(w, only);
    for (int k = 0; k < w->steps; k++) {
        int what = FD_MODEL_NAN, lost = only < 0 ? FD_P_NONE : fd1d_p_terms_lost(&w->h[only].t, k, 0, 1);
        if (lost == FD_P_NONE) {
            fd1d_p_host_step(w, k);
            for (int b = 0; b < fd1d_lanes; b++)
                if (w->live[b] && k < w->h[b].t.found->steps) fd1d_p_host_between(w, k, b);
            what = FD_NOT_SOLVED, lost = only < 0 ? FD_P_NONE : fd1d_p_host_lost(w, only, &unused);
        }
        if (lost == FD_P_NONE) continue;
        w->status[only] = fd_p_status_at(what, &w->n, lost, k);
        return;
    }
}

/* Ends problem b: writes its status and its results. If the march failed without a status that says where, sets
   w->failed[b] instead. */
TB_HOST void fd1d_p_host_end(fd1d_p_host *w, int b)
{
    const fd1d_tables *h = &w->h[b];
    const long long stride = 1;
    int largest = 0;
    w->failed[b] = !w->status[b].what && fd1d_p_host_lost(w, b, &largest) != FD_P_NONE;
    if (w->failed[b]) return;
    if (!w->status[b].what) fd_p_grown(&w->status[b], w->given[b], largest);
    for (int i = 0; i < h->t.found->points[0] && !w->status[b].what; i++) h->value[i] = w->u[i * fd1d_lanes + b];
    fd_p_end(w->batch, &h->t, w->which[b], w->status[b], h->value, &stride, 0, 1);
}

/* Solves fd1d_lanes problems of the batch, or as many as there are, from `first` on. A problem whose values are not
   finite at the end is marched again on its own. */
TB_HOST void fd1d_p_host_problems(const fd_batch *batch, const fd_model_parameters *parameters, int first, void *memory)
{
    fd1d_p_host *w = (fd1d_p_host *)memory;
    fd1d_p_host_lay_out(batch, (unsigned char *)memory, w);
    for (int b = 0; b < fd1d_lanes; b++) {
        const int which = w->which[b] = first + b < batch->problems ? first + b : -1;
        if (which < 0) continue;
        w->h[b].t.problem = &batch->problem[which], w->h[b].t.parameters = &parameters[which];
        for (int phase = 0; phase < (int)fd_p_phases; phase++) fd1d_p_prepare(batch, &w->h[b], which, phase, 0, 1);
        w->status[b] = w->h[b].t.found->status;
    }
    fd1d_p_host_march(w, -1);
    for (int b = 0; b < fd1d_lanes && w->which[b] >= 0; b++) fd1d_p_host_end(w, b);
    for (int b = 0; b < fd1d_lanes && w->which[b] >= 0; b++)
        if (w->failed[b]) {
            fd1d_p_host_march(w, b);
            fd1d_p_host_end(w, b);
        }
}

/* Returns how many bytes of memory the host's workers need; 0 if there are no workers, or the sizes of the batch are
   refused. The batch's pointers may still be null. */
TB_HOST size_t fd1d_host_bytes(const fd_batch *batch, int workers)
{
    if (workers < 1 || fd_p_sizes(FD_FACTORS, batch)) return 0;
    return (size_t)workers * fd1d_p_host_lay_out(batch, NULL, NULL);
}

/* Solves all problems of the batch: with `workers` threads of OpenMP if the program is compiled with OpenMP, otherwise
   in the calling thread.
   Needs    parameters of each problem; memory of MODEL_host_bytes, aligned as by malloc
   Leaves   the status, values, grid and coordinates of each problem. A problem may fail although the call succeeds
   Returns  FD_OK; for a refused call, a status of fd_batch_check, FD_BAD_SIZE for workers < 1, FD_BAD_ARGUMENT for a
            null pointer or misaligned memory, or FD_NO_ROOM: each problem then holds that status and, if the sizes of
            its results are valid, NaN
   Cost     with a time-independent model, European exercise and given slopes that do not change, a step of one stage
            takes five loops over the points, each vectorised across problems */
TB_HOST int fd1d_host(const fd_batch *batch, const fd_model_parameters *parameters, int workers, void *memory,
                      size_t bytes)
{
    const int problems = batch ? batch->problems : 0;
    const size_t need = fd1d_host_bytes(batch, workers);
    const int wrong = fd_p_host_call(batch, parameters, problems, workers, memory, bytes, need);
    if (wrong) return fd_p_host_refuse(batch, 0, problems, wrong);
#ifdef _OPENMP
    const size_t each = fd1d_host_bytes(batch, 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
    for (int first = 0; first < problems; first += fd1d_lanes)
        fd1d_p_host_problems(batch, parameters, first, (unsigned char *)memory + each * (size_t)omp_get_thread_num());
#else
    for (int first = 0; first < problems; first += fd1d_lanes) fd1d_p_host_problems(batch, parameters, first, memory);
#endif
    return FD_OK;
}
