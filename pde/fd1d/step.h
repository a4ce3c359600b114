/* step.h - a room of fd1d.h, read once for each model and precision: the data of rows, time steps and faces; runs
   of equal steps.
   MIT licence, see LICENSE.

   F(u) is A u + source. A step of one stage takes u to u + delta, with
       (1 - size A') delta = g,  g = dt F(u) + size (F'(u) - F(u)),  size = theta dt,
   where primes mark what is taken at the step's end. In a run, all steps have the same A, source and dt, so
   g = dt F(u). The next step's right-hand side is then dt F(u + delta) = g + dt A delta = g + (delta - g) / theta. No
   differences of u are formed, so single precision loses no digits. But rounding errors of g grow from step to step, so
   a run has at most fd1d_p_longest_run steps. fd1d_p_run_crank says what is special about theta = 1/2. */

#define fd1d_p_steady FD_OF(p_1d_steady)
#define fd1d_row FD_OF(p_1d_row)
#define fd1d_face FD_OF(p_1d_face)
#define fd1d_step FD_OF(p_1d_step)
#define fd1d_tables FD_OF(p_1d_tables)
#define fd1d_p_lay_out FD_OF(p_1d_lay_out)
#define fd1d_p_place FD_OF(p_1d_place)
#define fd1d_p_row_of FD_OF(p_1d_row_of)
#define fd1d_p_row_at FD_OF(p_1d_row_at)
#define fd1d_p_right FD_OF(p_1d_right)
#define fd1d_p_face_of FD_OF(p_1d_face_of)
#define fd1d_p_segments_of FD_OF(p_1d_segments_of)
#define fd1d_p_segment FD_OF(p_1d_segment)
#define fd1d_p_step_of FD_OF(p_1d_step_of)
#define fd1d_p_make_steps FD_OF(p_1d_make_steps)
#define fd1d_p_place_rows FD_OF(p_1d_place_rows)
#define fd1d_p_prepare FD_OF(p_1d_prepare)
#define fd1d_p_when FD_OF(p_1d_when)
#define fd1d_p_happen FD_OF(p_1d_happen)
#define fd1d_p_record FD_OF(p_1d_record)
#define fd1d_p_terms_lost FD_OF(p_1d_terms_lost)

enum { fd1d_p_steady = (int)fd_p_numbers_t == 0 }; /* the terms do not depend on time */

/* A row of A without kill, then kill and source: in single precision 16 bytes, which a thread reads in one access. */
typedef struct FD_P_ALIGN {
    fd_row of;
    tb_real kill, source;
} fd1d_row;

/* A face's data in a step. */
typedef struct {
    tb_real near_by, middle; /* its row of the matrix: coefficients of its neighbour and of itself */
    tb_real times;           /* the multiple of its neighbour's right-hand side that is subtracted from its own */
    tb_real third[2];        /* in F at the step's start and end, the factor of u2 - u1, where u1 is the value at the
                                face's neighbour and u2 that at the point beyond it */
    tb_real add[2];          /* in F at the step's start and end, the term of a given slope */
    tb_real given;           /* the value given at the step's end, if there is one */
    int is_given, lags;      /* lags: the matrix omits couplings, which act on the old values */
} fd1d_face;

/* The data of a segment: equal steps without events between them. */
typedef struct {
    fd_step_data of;         /* of.date is the date at the end of the segment's last step */
    tb_real inverse;         /* 1 / theta, for a run; 0 if theta is 0 */
    fd1d_face face[2];       /* at the first and the last point */
    int first, count;        /* the index of the first step, and the number of steps */
    int changes;             /* whether F at a step's end may differ from F at its start */
    int runs;                /* whether its steps can be taken in runs */
    int gives, adds, thirds; /* whether any face is FD_VALUE; FD_SLOPE; FD_DEGENERATE */
} fd1d_step;

/* A problem's tables. The row, cell and numbers of a point are at its position fd1d_p_place. */
typedef struct {
    fd_p_tables t;
    int per_lane, lanes; /* points of a lane, lanes of a group; on the host, 1 and batch.points[0] */
    fd1d_row *row;       /* for a time-independent model */
    fd_cell *cell;       /* for a time-dependent model */
    tb_real *number;     /* likewise; number q of a point is q * per_lane * lanes elements beyond its position */
    fd1d_step *step;     /* the segments */
    tb_real *value, *multiplier, *rest; /* values before a date's events, and at time 0; exercise multiplier times dt;
                                           values after the events */
} fd1d_tables;

/* Assigns memory to the tables; with null, only counts bytes. Returns the bytes used. */
TB_HD size_t fd1d_p_lay_out(const fd_batch *batch, int per_lane, int lanes, unsigned char *memory, fd1d_tables *tables)
{
    const size_t points = (size_t)batch->points[0], places = (size_t)per_lane * (size_t)lanes;
    const size_t steps = (size_t)batch->steps, changing = fd1d_p_steady ? 0 : places;
    fd1d_tables h;
    size_t used = fd_p_lay_out(batch, 1, memory, &h.t);
    h.per_lane = per_lane, h.lanes = lanes;
    h.row = (fd1d_row *)fd_p_next(memory, &used, (places - changing) * sizeof(fd1d_row));
    h.cell = (fd_cell *)fd_p_next(memory, &used, changing * sizeof(fd_cell));
    h.number = (tb_real *)fd_p_next(memory, &used, changing * (size_t)fd_p_numbers(0) * sizeof(tb_real));
    h.step = (fd1d_step *)fd_p_next(memory, &used, steps * sizeof(fd1d_step));
    h.value = (tb_real *)fd_p_next(memory, &used, points * sizeof(tb_real));
    h.multiplier = (tb_real *)fd_p_next(memory, &used, points * sizeof(tb_real));
    h.rest = (tb_real *)fd_p_next(memory, &used, points * sizeof(tb_real));
    if (tables) *tables = h;
    return used;
}

/* Returns a point's position in tables that a group of lanes reads: neighbouring lanes read neighbouring elements. */
TB_HD int fd1d_p_place(int per_lane, int lanes, int point)
{
    return point % per_lane * lanes + point / per_lane;
}

/* Returns the row of a point, from its cell and terms. Beyond the last point all its numbers are 0, so that the matrix
   has an identity row there. */
TB_HD fd1d_row fd1d_p_row_of(int inside, fd_cell cell, fd_terms terms)
{
    fd1d_row row = {fd_p_row(0, cell, terms), terms.kill, terms.source};
    if (!inside) row.of.below = row.of.above = row.kill = row.source = 0;
    return row;
}

/* Returns the row of point i at the given time. */
TB_HD fd1d_row fd1d_p_row_at(const fd_p_tables *t, int points, int i, const tb_real *time)
{
    const int last = i < points ? i : points - 1;
    return fd1d_p_row_of(i < points, t->cell[0][last], fd_p_terms_at(t, &last, time));
}

/* Returns F at a point, from the values below, at and above it, without the faces' terms. */
TB_HD tb_real fd1d_p_right(fd1d_row row, tb_real low, tb_real here, tb_real high)
{
    return fd_lane_apply(row.of, low, here, high) - row.kill * here + row.source;
}

/* Computes a face's data in step k, which is *step. */
FD_P_CALLED fd1d_face fd1d_p_face_of(const fd_p_tables *t, const fd_step *step, int k, int side, tb_real size)
{
    const int kind = t->problem->face[0][side];
    fd1d_face face = {0, 1, 0, {0, 0}, {0, 0}, 0, kind == FD_VALUE, 0};
    tb_real row[3], right = 0, *adds = kind == FD_SLOPE ? face.add : face.third;
    fd_p_edge edge = {0, side, kind, {side ? t->found->points[0] - 1 : 0, 0, 0}, NULL, 0};
    for (int end = 0; end < 2; end++) {
        edge.time = fd_p_time_of(t, k, end), edge.when = end ? step->to : step->from;
        if (fd_p_adds(kind)) adds[end] = fd_p_edge_adds(t, &edge, fd_p_edge_given(t, &edge), 0, 1);
    }
    face.lags = fd_p_edge_row(t, &edge, size, 1, 0, row, &right);
    face.near_by = row[side ? 0 : 2], face.middle = row[1];
    if (kind == FD_VALUE) face.given = right;
    if (kind == FD_DEGENERATE) face.times = -right;
    return face;
}

/* Returns how many segments an interval has. Each step is a segment if the terms, the values and slopes given at
   faces, or the lengths of steps may change from step to step. Otherwise the half steps of backward Euler are one
   segment, and the whole steps another. If a half step with the march's own theta lies between them, it is also a
   segment. */
TB_HD int fd1d_p_segments_of(const fd_p_tables *t, const fd_interval *v)
{
    const fd_times *times = &t->found->times;
#ifdef FD_MODEL_FACE
    const int steady = 0;
#else
    const int steady = fd1d_p_steady;
#endif
    if (!steady || (v->kink && times->grading != FD_EQUAL)) return v->whole + v->halved;
    const int odd = 2 * v->halved > times->halves;
    return v->halved > 0 ? (v->whole > v->halved) + 1 + odd : 1;
}

/* Sets the first step and the number of steps of a segment, given by its index in the interval. */
TB_HD void fd1d_p_segment(const fd_p_tables *t, const fd_interval *v, int segment, fd1d_step *step)
{
    const int all = v->whole + v->halved, segments = fd1d_p_segments_of(t, v), halves = t->found->times.halves;
    int first = segment, count = 1;
    if (segments < all) {
        const int euler = halves < 2 * v->halved ? halves : 2 * v->halved;
        const int start[4] = {0, v->halved ? euler : all, 2 * v->halved > euler ? euler + 1 : all, all};
        first = start[segment], count = start[segment + 1] - first;
    }
    step->first = (int)v->first + first, step->count = count;
}

/* Computes the data of a segment. Returns whether its first step is longer than the rounding errors of its ends. */
TB_HD int fd1d_p_step_of(const fd_p_tables *t, fd1d_step *to)
{
    const int k = to->first;
    const fd_step begun = fd_p_step_at(t, k);
    fd1d_step step = *to;
    fd_step_data_of(t->problem->scheme, &begun, &step.of);
    step.of.date = fd_p_step_at(t, k + step.count - 1).date;
    /* Without a mixed term the second stage of Craig-Sneyd repeats the first. */
    const tb_real *again = step.of.base[1];
    if (!step.of.about && !(again[3] > 0 || again[3] < 0)) step.of.stages = 1;
    step.of.time_independent = fd_p_same(fd_p_numbers(3), fd_p_time_of(t, k, 0), fd_p_time_of(t, k, 1));
    step.inverse = begun.theta > 0 ? (tb_real)(1 / begun.theta) : 0;
    step.changes = !step.of.time_independent, step.gives = step.adds = step.thirds = 0;
    step.runs = step.of.size > 0 && step.of.stages == 1 && t->problem->exercise == FD_EUROPEAN;
    for (int side = 0; side < 2; side++) {
        const fd1d_face face = step.face[side] = fd1d_p_face_of(t, &begun, k, side, step.of.size);
        step.changes |= !(face.add[0] <= face.add[1] && face.add[0] >= face.add[1]); /* or it is NaN */
        step.gives |= face.is_given, step.adds |= t->problem->face[0][side] == FD_SLOPE;
        step.thirds |= t->problem->face[0][side] == FD_DEGENERATE;
        step.runs &= !face.lags;
    }
    step.runs &= !step.changes;
    *to = step;
    return begun.from - begun.to > 5e-16 * begun.from;
}

/* Computes the data of all segments, and counts the segments. */
TB_HD void fd1d_p_make_steps(const fd1d_tables *h, int thread, int threads)
{
    const fd_p_tables *t = &h->t;
    int before = 0, steps = 0; /* segments and steps of the intervals so far */
    for (const fd_interval *v = t->interval; steps < t->found->steps; v++) {
        const int segments = fd1d_p_segments_of(t, v);
        for (int s = (thread + threads - before % threads) % threads; s < segments; s += threads) {
            fd1d_step *step = &h->step[before + s];
            fd1d_p_segment(t, v, s, step);
            if (!fd1d_p_step_of(t, step)) fd_p_least(&t->found->fault[FD_P_AT_STEP], step->first);
        }
        before += segments, steps += v->whole + v->halved;
    }
    if (thread == 0) t->found->segments = before;
}

/* Stores the rows of all points at their positions or, if rows change, the data from which they are computed. */
TB_HD void fd1d_p_place_rows(const fd1d_tables *h, int thread, int threads)
{
    const fd_p_tables *t = &h->t;
    const int n = t->found->points[0], places = h->per_lane * h->lanes;
    for (int i = thread; i < places; i += threads) {
        const int at = fd1d_p_place(h->per_lane, h->lanes, i);
        const fd_cell none = {0, 0, 0, 0};
        if (fd1d_p_steady) {
            h->row[at] = fd1d_p_row_at(t, n, i, t->time);
            continue;
        }
        h->cell[at] = i < n ? t->cell[0][i] : none;
        for (int q = 0; q < fd_p_numbers(0); q++)
            h->number[q * places + at] = t->number[0][q * t->room[0] + (i < n ? i : n - 1)];
    }
}

/* Does a phase of the preparation of problem `which`, as fd_p_prepare does. */
TB_HD void fd1d_p_prepare(const fd_batch *batch, const fd1d_tables *h, int which, int phase, int thread, int threads)
{
    fd_p_prepare(batch, &h->t, phase, thread, threads);
    if (phase != FD_P_PHASES || h->t.found->status.what) return;
    fd1d_p_make_steps(h, thread, threads);
    fd1d_p_place_rows(h, thread, threads);
    fd_p_coordinates(batch, &h->t, which, thread, threads);
}

/* Returns the time of exercise after step k. Only MODEL_exercise reads it; NaN if the model has none. */
TB_HD double fd1d_p_when(const fd_p_tables *t, int k)
{
#ifdef FD_MODEL_EXERCISE
    return fd_p_step_at(t, k).to;
#else
    (void)t, (void)k;
    return fd_p_nan_f64();
#endif
}

/* Applies the events at a date, the end of step k, with `threads` threads: reads h->value, writes h->rest, and
   changes h->multiplier in place. Returns fd_p_larger of `given` and the amounts that a change adds at this thread's
   points. */
TB_HD int fd1d_p_happen(const fd1d_tables *h, int date, int k, int thread, int threads, int given)
{
    const fd_p_tables *t = &h->t;
    const fd_date *event = fd_p_event(t->problem, date);
    const double when = fd1d_p_when(t, k);
    const long long stride = 1;
    for (int i = thread; i < t->found->points[0]; i += threads) {
        const tb_real value = fd_p_shifted_to(t, event, &i, &h->value[i], &stride);
        h->rest[i] = fd_p_changed(t, date, when, &i, value, t->final[i], &h->multiplier[i], &given);
    }
    return given;
}

/* Writes the results of problem `which` at a time, 0 (today) or 1 + a date, from the values u. */
TB_HD void fd1d_p_record(const fd_batch *batch, const fd1d_tables *h, int which, int time, const tb_real *u, int thread,
                         int threads)
{
    const long long stride = 1;
    fd_p_record(batch, &h->t, which, time, u, &stride, thread, threads);
}

/* Returns the first of a thread's points at which the terms are not finite at the start or the end of step k. */
FD_P_CALLED int fd1d_p_terms_lost(const fd_p_tables *t, int k, int thread, int threads)
{
    for (int i = thread; i < t->found->points[0]; i += threads)
        for (int end = 0; end < 2; end++)
            if (!fd_p_terms_finite(fd_p_terms_at(t, &i, fd_p_time_of(t, k, end)))) return i;
    return FD_P_NONE;
}
