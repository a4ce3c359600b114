/* prepare.h - a room of the solvers in pde/, read once a model and precision: problems are prepared for their march:
   tables of the axes and the steps, final values, checks of what the model says.
   MIT licence, see LICENSE. */

#define fd_p_tables FD_OF(p_tables)
#define fd_p_lay_out FD_OF(p_lay_out)
#define fd_p_take FD_OF(p_take)
#define fd_p_terms_at FD_OF(p_terms_at)
#define fd_p_time_of FD_OF(p_time_of)
#define fd_p_intervals FD_OF(p_intervals)
#define fd_p_step_at FD_OF(p_step_at)
#define fd_p_begin FD_OF(p_begin)
#define fd_p_place_points FD_OF(p_place_points)
#define fd_p_check_points FD_OF(p_check_points)
#define fd_p_points_status FD_OF(p_points_status)
#define fd_p_outside FD_OF(p_outside)
#define fd_p_axis_numbers FD_OF(p_axis_numbers)
#define fd_p_step_numbers FD_OF(p_step_numbers)
#define fd_p_count FD_OF(p_count)
#define fd_p_index FD_OF(p_index)
#define fd_p_given FD_OF(p_given)
#define fd_p_final_values FD_OF(p_final_values)
#define fd_p_too_fast_at FD_OF(p_too_fast_at)
#define fd_p_is_given FD_OF(p_is_given)
#define fd_p_not_dominant FD_OF(p_not_dominant)
#define fd_p_ill_posed FD_OF(p_ill_posed)
#define fd_p_differ_along FD_OF(p_differ_along)
#define fd_p_broken_at FD_OF(p_broken_at)
#define fd_p_false_at FD_OF(p_false_at)
#define fd_p_looked_at FD_OF(p_looked_at)
#define fd_p_check_terms FD_OF(p_check_terms)
#define fd_p_terms_status FD_OF(p_terms_status)
#define fd_p_numbers_status FD_OF(p_numbers_status)
#define fd_p_prepare FD_OF(p_prepare)

/* Where the tables of a problem are in memory. */
typedef struct {
    fd_p_findings *found;
    const fd_problem *problem;
    const fd_model_parameters *parameters;
    double *x[3]; /* coordinates */
    fd_cell *cell[3];
    tb_real *far_of[3];    /* fd_cells' */
    tb_real *number[3];    /* number q of point i at [q room[axis] + i] */
    int room[3];           /* the batch's points, padded: numbers beyond the last point are the last's */
    fd_interval *interval; /* between the dates */
    tb_real *time;         /* number q of step k, at its start (e = 0) or end (1), at [(2 k + e) numbers + q] */
    tb_real *final;        /* the final values, point (i, j, k) at i + points[0] (j + points[1] k) */
} fd_p_tables;

/* Assigns memory to the tables, from its start; with null, only counts. Returns the bytes used. */
TB_HD size_t fd_p_lay_out(const fd_batch *batch, unsigned char *memory, fd_p_tables *tables)
{
    size_t used = 0, steps = (size_t)batch->steps, all = 1;
    fd_p_tables t;
    t.problem = 0, t.parameters = 0;
    t.found = (fd_p_findings *)fd_p_at(memory, used);
    used += fd_p_round(sizeof(fd_p_findings));
    t.interval = (fd_interval *)fd_p_at(memory, used);
    used += fd_p_round((size_t)(batch->dates + 1) * sizeof(fd_interval));
    t.time = (tb_real *)fd_p_at(memory, used);
    used += fd_p_round((steps * 2 * (size_t)fd_p_numbers(3) + 1) * sizeof(tb_real));
    for (int d = 0; d < FD_FACTORS; d++) {
        const size_t points = (size_t)batch->points[d];
        t.room[d] = fd_p_padded(batch->points[d]), all *= points;
        t.x[d] = (double *)fd_p_at(memory, used);
        used += fd_p_round(points * sizeof(double));
        t.cell[d] = (fd_cell *)fd_p_at(memory, used);
        used += fd_p_round(points * sizeof(fd_cell));
        t.far_of[d] = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round(2 * sizeof(tb_real));
        t.number[d] = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round((size_t)t.room[d] * (size_t)fd_p_numbers(d) * sizeof(tb_real));
    }
    t.final = (tb_real *)fd_p_at(memory, used);
    used += fd_p_round(all * sizeof(tb_real));
    if (tables) *tables = t;
    return used;
}

/* Copies the numbers of point i of an axis from its table. */
TB_HD void fd_p_take(const fd_p_tables *t, int axis, int i, fd_numbers *own)
{
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(axis); q++) own->number[q] = t->number[axis][q * t->room[axis] + i];
}

/* Returns the terms at the point with these indices, and a time. */
FD_P_CALLED fd_terms fd_p_terms_at(const fd_p_tables *t, const int *index, const tb_real *time)
{
    fd_numbers own[FD_FACTORS];
    for (int d = 0; d < FD_FACTORS; d++) fd_p_take(t, d, index[d], &own[d]);
    return fd_p_terms(t->parameters, own, time);
}

/* Returns step k of the march. */
FD_P_CALLED fd_step fd_p_step_at(const fd_p_tables *t, int k)
{
    const fd_interval *v = t->interval;
    while (k >= v->first + v->whole + v->halved) v++;
    return fd_step_in(&t->found->times, v, k);
}

/* Returns the numbers of time at the start (end 0) or the end (1) of step k. */
TB_HD const tb_real *fd_p_time_of(const fd_p_tables *t, int k, int end)
{
    return t->time + (2 * k + end) * fd_p_numbers(3);
}

/* Finds the intervals between the dates. Returns what is wrong with them, FD_NO_ROOM if there are too many steps. */
TB_HD int fd_p_intervals(const fd_batch *batch, const fd_p_tables *t)
{
    fd_p_findings *found = t->found;
    found->times = fd_times_of(&t->problem->times, t->problem->scheme, FD_FACTORS, FD_MODEL_MIXED != 0);
    const int wrong = fd_p_check_times(&found->times);
    if (wrong) return wrong;
    fd_interval v = fd_no_interval(&found->times);
    long long taken = 0;
    for (int i = 0; i <= found->times.dates && v.lower > 0; i++)
        t->interval[i] = v = fd_next_interval(&found->times, &v, &taken);
    const long long steps = v.first + v.whole + v.halved;
    if (steps > FD_P_MOST) return FD_BAD_SIZE;
    found->steps = (int)steps;
    return found->steps > batch->steps ? FD_NO_ROOM : FD_OK;
}

/* Checks the problem's own numbers, and finds the maps of its axes and the intervals of its march. */
TB_HD void fd_p_begin(const fd_batch *batch, const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    const fd_problem *problem = t->problem;
    if (thread == 0) {
        found->status = fd_p_check(FD_FACTORS, batch, problem);
        const int date = found->status.what ? -1 : fd_p_no_change(problem);
        if (date >= 0) found->status = fd_status_of(FD_BAD_EVENT, 1 + date, -1, -1, -1, -1, -1);
        found->steps = 0, found->not_dominant = 0, found->given = 0, found->longest = 0, found->sources = 0;
        for (int f = 0; f < FD_P_FAULTS; f++) found->fault[f] = FD_P_NONE;
        found->wrong[3] = found->status.what ? FD_OK : fd_p_intervals(batch, t);
    }
    for (int d = 0; d < FD_FACTORS; d++)
        if (thread == (d + 1) * 32 % threads) {
            found->points[d] = problem->axis[d].points;
            found->wrong[d] = problem->points[d] ? FD_OK : fd_axis_map(&problem->axis[d], &found->map[d]);
        }
}

/* Computes the points of the axes. */
TB_HD void fd_p_place_points(const fd_p_tables *t, int thread, int threads)
{
    const fd_p_findings *found = t->found;
    for (int d = 0; d < FD_FACTORS; d++)
        for (int i = thread; i < found->points[d] && !found->wrong[d]; i += threads)
            t->x[d][i] = t->problem->points[d] ? t->problem->points[d][i] : fd_map_point(&found->map[d], i);
}

/* Finds points that are not finite or not in order. */
TB_HD void fd_p_check_points(const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    for (int d = 0; d < FD_FACTORS; d++)
        for (int i = thread; i < found->points[d] && !found->wrong[d]; i += threads)
            if (!trid_finite_f64(t->x[d][i]) || (i > 0 && !(t->x[d][i] > t->x[d][i - 1])))
                fd_p_least(&found->fault[FD_P_AT_POINTS + d], i);
}

/* Sets the status to the first of what is wrong with points and steps. */
TB_HD void fd_p_points_status(const fd_p_tables *t)
{
    fd_p_findings *found = t->found;
    int wrong = 0, axis = 0;
    for (int d = FD_FACTORS - 1; d >= 0; d--) {
        const int fault = found->fault[FD_P_AT_POINTS + d];
        if (found->wrong[d] || fault != FD_P_NONE) wrong = found->wrong[d] ? found->wrong[d] : 1 + fault, axis = d;
    }
    if (wrong)
        found->status = fd_status_of(FD_BAD_AXIS, wrong, axis, -1, -1, -1, -1);
    else if (found->wrong[3] == FD_NO_ROOM)
        found->status = fd_status_of(FD_TOO_MANY_STEPS, found->steps, -1, -1, -1, -1, -1);
    else if (found->wrong[3])
        found->status = fd_status_of(FD_BAD_TIMES, found->wrong[3], -1, -1, -1, -1, -1);
}

/* Returns the first axis in which a spot is outside the grid, or -1. */
TB_HD int fd_p_outside(const fd_p_tables *t, int spot)
{
    for (int d = 0; d < FD_FACTORS; d++) {
        const double at = t->problem->spot[spot * FD_FACTORS + d];
        if (!(at >= t->x[d][0] && at <= t->x[d][t->found->points[d] - 1])) return d;
    }
    return -1;
}

/* Computes the model's numbers of the axes, and the cells; finds spots that are outside. */
TB_HD void fd_p_axis_numbers(const fd_batch *batch, const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    double number[fd_p_most_numbers];
    for (int d = 0; d < FD_FACTORS; d++) {
        const int points = found->points[d];
        for (int i = thread; i < t->room[d]; i += threads) {
            const int at = i < points ? i : points - 1;
            fd_p_numbers_at(t->parameters, d, t->x[d][at], number);
            for (int q = 0; q < fd_p_numbers(d); q++) {
                t->number[d][q * t->room[d] + i] = (tb_real)number[q];
                if (!trid_finite((tb_real)number[q])) fd_p_least(&found->fault[FD_P_AT_NUMBERS + d], at);
            }
            if (i < points && fd_cell_at(points, t->x[d], t->problem->face[d], i, &t->cell[d][i], t->far_of[d]))
                fd_p_least(&found->fault[FD_P_AT_POINTS + d], i);
        }
    }
    for (int s = thread; s < batch->spots; s += threads)
        if (fd_p_outside(t, s) >= 0) fd_p_least(&found->fault[FD_P_AT_SPOT], s);
}

/* Computes the model's numbers of the steps, and finds the longest explicit one. */
TB_HD void fd_p_step_numbers(const fd_p_tables *t, int thread, int threads)
{
    double number[fd_p_most_numbers] = {0};
    const int needed = fd_p_numbers(3) > 0 || t->problem->times.kind == FD_EXPLICIT;
    for (int k = thread; k < t->found->steps && needed; k += threads) {
        const fd_step step = fd_p_step_at(t, k);
        if (step.kind == FD_EXPLICIT) fd_p_most(&t->found->longest, fd_p_larger(0, step.from - step.to));
        for (int end = 0; end < 2; end++) {
            const int coefficients = t->problem->coefficients;
            /* One call for one time: the compiler might round two calls differently. */
            if (end == 0 || coefficients == FD_BOTH_ENDS)
                fd_p_numbers_at(t->parameters, 3, fd_coefficient_time(coefficients, &step, end), number);
            for (int q = 0; q < fd_p_numbers(3); q++) {
                t->time[(2 * k + end) * fd_p_numbers(3) + q] = (tb_real)number[q];
                if (!trid_finite((tb_real)number[q])) fd_p_least(&t->found->fault[FD_P_AT_TIME], k);
            }
        }
    }
}

/* Returns how many points the grid has. */
TB_HD int fd_p_count(const int *points)
{
    int count = 1;
    for (int d = 0; d < FD_FACTORS; d++) count *= points[d];
    return count;
}

/* Computes the indices of a point of the grid; those of axes that the model lacks are -1, as in a status. */
TB_HD void fd_p_index(const int *points, int at, int *index)
{
    for (int d = 0; d < 3; d++) {
        index[d] = d < FD_FACTORS ? at % points[d] : -1;
        if (d < FD_FACTORS) at /= points[d];
    }
}

/* Returns the larger of `most` and the magnitude of what a point is given at time 0 by faces on which it lies: a value,
   or a slope times the length of the axis. */
TB_HD int fd_p_given(const fd_p_tables *t, const int *index, const double *at, int most)
{
    for (int d = 0; d < FD_FACTORS; d++) {
        const int n = t->found->points[d], last = index[d] == n - 1, kind = t->problem->face[d][last];
        if ((index[d] > 0 && !last) || (kind != FD_VALUE && kind != FD_SLOPE)) continue;
        const double length = kind == FD_SLOPE ? t->x[d][n - 1] - t->x[d][0] : 1;
        most = fd_p_larger(most, length * fd_p_face(t->parameters, d, last, at, 0));
    }
    return most;
}

/* Computes the final values, and finds the largest magnitude that the march is given. */
TB_HD void fd_p_final_values(const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    const double *x[3];
    int most = 0, index[3];
    for (int d = 0; d < FD_FACTORS; d++) x[d] = t->x[d];
    for (int at = thread; at < fd_p_count(found->points); at += threads) {
        double place[3];
        fd_p_index(found->points, at, index);
        for (int d = 0; d < FD_FACTORS; d++) place[d] = x[d][index[d]];
        const double value = fd_p_final(t->problem, t->parameters, x, found->points, index);
        t->final[at] = (tb_real)value;
        most = fd_p_given(t, index, place, fd_p_larger(most, value));
        if (!trid_finite((tb_real)value)) fd_p_least(&found->fault[FD_P_AT_FINAL], at);
    }
    fd_p_most(&found->given, most);
}

/* Returns fd_p_too_fast of a point with these terms, for the explicit steps of the march. */
TB_HD int fd_p_too_fast_at(const fd_p_tables *t, const int *index, fd_terms terms)
{
    fd_p_rate rate = {0, 0};
    if (t->found->longest == 0) return 0;
    for (int d = 0; d < FD_FACTORS; d++) {
        const int at_face = index[d] == 0 || index[d] == t->found->points[d] - 1;
        fd_p_rate_add(fd_p_row(d, t->cell[d][index[d]], terms), at_face, FD_MODEL_MIXED,
                      0.5 * FD_FACTORS * t->problem->times.maturity, &rate);
    }
    if (FD_MODEL_MIXED & (FD_MODEL_MIXED - 1)) rate.couplings *= 1.125; /* several pairs (docs/fd.md) */
    return fd_p_too_fast(fd_p_size_of(t->found->longest), rate, (double)terms.kill);
}

/* Returns whether the value at a point of the grid is given, by a face on which it lies. */
TB_HD int fd_p_is_given(const fd_p_tables *t, const int *index)
{
    for (int d = 0; d < FD_FACTORS; d++) {
        const int last = index[d] == t->found->points[d] - 1;
        if ((index[d] == 0 || last) && t->problem->face[d][last] == FD_VALUE) return 1;
    }
    return 0;
}

/* Returns how many rows of a point are not diagonally dominant in a step of this size. A row without couplings of the
   wrong sign is, whatever rounding says. */
TB_HD int fd_p_not_dominant(const fd_p_tables *t, const int *index, fd_terms terms, tb_real size)
{
    const tb_real kill = terms.kill / FD_FACTORS;
    int count = 0;
    for (int d = 0; d < FD_FACTORS; d++) {
        tb_real a, b, c;
        const int dominant = fd_lane_matrix(fd_p_row(d, t->cell[d][index[d]], terms), size, kill, &a, &b, &c);
        count += !dominant & !((a <= 0) & (c <= 0) & (1 + size * kill > 0));
    }
    return count;
}

/* Returns whether the terms at a point are ill-posed: a diffusion is negative, or mixed terms are too large for the
   diffusions. */
TB_HD int fd_p_ill_posed(const fd_terms *terms)
{
    tb_real rho[3] = {0, 0, 0}; /* of the pairs 12, 13 and 23 */
    int ill = 0;
    for (int d = 0; d < FD_FACTORS; d++) ill |= terms->diffusion[d] < 0;
    for (int pair = 0; pair < FD_FACTORS * (FD_FACTORS - 1) / 2; pair++) {
        const tb_real diffusion[2] = {terms->diffusion[pair == 2], terms->diffusion[pair ? 2 : 1]};
        const double product = (double)diffusion[0] * (double)diffusion[1];
        ill |= fd_p_ill_posed_in_two(diffusion, terms->mixed[pair]);
        if (product > 0) rho[pair] = (tb_real)((double)terms->mixed[pair] / (2 * sqrt(product)));
    }
    return ill | (FD_FACTORS > 2 && fd_p_ill_posed_in_three(rho));
}

/* Returns whether the terms along an axis, or kill, differ. */
TB_HD int fd_p_differ_along(int axis, const fd_terms *one, const fd_terms *other)
{
    return fd_p_differ(one->drift[axis], other->drift[axis]) |
           fd_p_differ(one->diffusion[axis], other->diffusion[axis]) | fd_p_differ(one->kill, other->kill);
}

/* Returns which promises the terms at a point break at a time, as a sum of fd/march.h's. */
TB_HD int fd_p_broken_at(const fd_p_tables *t, const int *index, const fd_terms *terms, const tb_real *time)
{
    int wrong = 0;
    for (int pair = 0; pair < 3; pair++)
        if (!(FD_MODEL_MIXED >> pair & 1) && (terms->mixed[pair] < 0 || terms->mixed[pair] > 0))
            wrong |= FD_P_MIXED << pair;
    for (int d = 0; d < FD_FACTORS; d++) {
        if ((FD_MODEL_STEADY >> d & 1) && !fd_p_same(fd_p_numbers(3), t->time, time)) {
            const fd_terms first = fd_p_terms_at(t, index, t->time);
            wrong |= fd_p_differ_along(d, terms, &first) ? FD_P_CHANGES : 0;
        }
        if (FD_MODEL_INDEPENDENT >> d & 1) {
            const int at[3] = {d == 0 ? index[0] : 0, d == 1 ? index[1] : 0, d == 2 ? index[2] : 0};
            const fd_terms other = fd_p_terms_at(t, at, time);
            wrong |= fd_p_differ_along(d, terms, &other) ? FD_P_NOT_INDEPENDENT << d : 0;
        }
    }
    return wrong;
}

/* Returns what is false about the terms at a point and a time, as a sum of fd/march.h's. A point whose value is given
   is not checked. */
TB_HD int fd_p_false_at(const fd_p_tables *t, const int *index, const fd_terms *terms, const tb_real *time)
{
    if (fd_p_is_given(t, index)) return 0;
    return fd_p_broken_at(t, index, terms, time) | (fd_p_ill_posed(terms) ? FD_P_ILL_POSED : 0) |
           fd_p_outward(FD_FACTORS, t->problem->face, t->x, index, t->found->points, terms->drift,
                        t->problem->times.maturity);
}

/* Returns the step of a point's look 0, 1 or 2 at the terms: the first, the last, and one of its own, which finds what
   happens in between. -1: none, because terms do not depend on time. */
TB_HD int fd_p_looked_at(const fd_p_tables *t, int at, int look)
{
    const int steps = t->found->steps;
    if (look == 2 && fd_p_numbers(3) == 0) return -1;
    return look == 0 ? 0 : look == 1 ? steps - 1 : (at + steps / 2) % steps;
}

/* Checks the terms at all points, in the steps of fd_p_looked_at. Counts the rows of the first and the last that are
   not dominant, and points that have a source. */
TB_HD void fd_p_check_terms(const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    int not_dominant = 0, sources = 0, index[3];
    tb_real size[2];
    for (int look = 0; look < 2; look++) {
        const fd_step step = fd_p_step_at(t, look ? found->steps - 1 : 0);
        size[look] = (tb_real)(step.theta * (step.from - step.to));
    }
    for (int at = thread; at < fd_p_count(found->points); at += threads)
        for (int look = 0; look < 3; look++) {
            const int k = fd_p_looked_at(t, at, look);
            if (k < 0) break;
            const tb_real *time = fd_p_time_of(t, k, 1);
            fd_p_index(found->points, at, index);
            const fd_terms terms = fd_p_terms_at(t, index, time);
            const int too_fast = look < 2 ? fd_p_too_fast_at(t, index, terms) : 0;
            if (look < 2) not_dominant += fd_p_not_dominant(t, index, terms, size[look]);
            if (too_fast) fd_p_least(&found->fault[FD_P_AT_FAST], too_fast);
            if (!fd_p_terms_finite(terms) || fd_p_false_at(t, index, &terms, time))
                fd_p_least(&found->fault[FD_P_AT_TERMS], at);
            sources += terms.source < 0 || terms.source > 0;
        }
    if (not_dominant) fd_p_add(&found->not_dominant, not_dominant);
    if (sources) fd_p_add(&found->sources, sources > 0);
}

/* Returns what is wrong with the terms at a point, in the first step that is checked. */
TB_HD fd_status fd_p_terms_status(const fd_p_tables *t, int at)
{
    int index[3];
    fd_p_index(t->found->points, at, index);
    for (int look = 0; look < 3; look++) {
        const int k = fd_p_looked_at(t, at, look);
        if (k < 0) break;
        const fd_terms terms = fd_p_terms_at(t, index, fd_p_time_of(t, k, 1));
        const int wrong = fd_p_false_at(t, index, &terms, fd_p_time_of(t, k, 1));
        if (!fd_p_terms_finite(terms)) return fd_status_of(FD_MODEL_NAN, 0, -1, index[0], index[1], index[2], k);
        if (wrong) return fd_p_untrue(wrong, index[0], index[1], index[2], k);
    }
    return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
}

/* Sets the status to the first of what is wrong with numbers, final values and terms. */
TB_HD void fd_p_numbers_status(const fd_p_tables *t)
{
    fd_p_findings *found = t->found;
    const int *fault = found->fault, none = FD_P_NONE;
    int index[3];
    for (int d = 0; d < FD_FACTORS && !found->status.what; d++) {
        const int at = fault[FD_P_AT_NUMBERS + d];
        if (fault[FD_P_AT_POINTS + d] != none)
            found->status = fd_status_of(FD_BAD_AXIS, 1 + fault[FD_P_AT_POINTS + d], d, -1, -1, -1, -1);
        else if (at != none)
            found->status = fd_status_of(FD_MODEL_NAN, 0, d, d == 0 ? at : -1, d == 1 ? at : -1, d == 2 ? at : -1, -1);
    }
    if (found->status.what) return;
    fd_p_index(found->points, fault[FD_P_AT_FINAL], index);
    if (fault[FD_P_AT_SPOT] != none)
        found->status = fd_status_of(FD_BAD_SPOT, fault[FD_P_AT_SPOT], fd_p_outside(t, fault[FD_P_AT_SPOT]), -1, -1, -1, -1);
    else if (fault[FD_P_AT_TIME] != none)
        found->status = fd_status_of(FD_MODEL_NAN, 0, -1, -1, -1, -1, fault[FD_P_AT_TIME]);
    else if (fault[FD_P_AT_FINAL] != none)
        found->status = fd_status_of(FD_FINAL_NAN, 0, -1, index[0], index[1], index[2], -1);
    else if (fault[FD_P_AT_TERMS] != none)
        found->status = fd_p_terms_status(t, fault[FD_P_AT_TERMS]);
    else if (fault[FD_P_AT_FAST] != none)
        found->status =
            fd_status_of(FD_UNSTABLE, fd_p_enough(&t->problem->times, fault[FD_P_AT_FAST]), -1, -1, -1, -1, -1);
    found->status.not_dominant = found->not_dominant;
}

/* Prepares a problem, in phases: all threads do one, then a barrier, then the next. A phase does nothing if one before
   found something wrong (found->status). */
TB_HD void fd_p_prepare(const fd_batch *batch, const fd_p_tables *t, int phase, int thread, int threads)
{
    if (phase == 0) fd_p_begin(batch, t, thread, threads);
    if (phase == 0 || ((phase == 3 || phase == 6) && thread > 0)) return; /* one thread sums up */
    if (t->found->status.what) return;
    if (phase == 1) fd_p_place_points(t, thread, threads);
    if (phase == 2) fd_p_check_points(t, thread, threads);
    if (phase == 3) fd_p_points_status(t);
    if (phase == 4) {
        fd_p_axis_numbers(batch, t, thread, threads);
        fd_p_step_numbers(t, thread, threads);
        fd_p_final_values(t, thread, threads);
    }
    if (phase == 5) fd_p_check_terms(t, thread, threads);
    if (phase == 6) fd_p_numbers_status(t);
}
