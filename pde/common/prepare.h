/* prepare.h - a room of the solvers in pde/, read once for each model and precision: prepares problems for their march:
   tables of the axes and the steps, final values, checks of the model.
   MIT licence, see LICENSE. */

#define fd_p_tables FD_OF(p_tables)
#define fd_p_lay_out FD_OF(p_lay_out)
#define fd_p_take FD_OF(p_take)
#define fd_p_terms_here FD_OF(p_terms_here)
#define fd_p_terms_at FD_OF(p_terms_at)
#define fd_p_time_of FD_OF(p_time_of)
#define fd_p_intervals FD_OF(p_intervals)
#define fd_p_step_at FD_OF(p_step_at)
#define fd_p_begin FD_OF(p_begin)
#define fd_p_place_points FD_OF(p_place_points)
#define fd_p_check_points FD_OF(p_check_points)
#define fd_p_outside FD_OF(p_outside)
#define fd_p_axis_numbers FD_OF(p_axis_numbers)
#define fd_p_step_numbers FD_OF(p_step_numbers)
#define fd_p_count FD_OF(p_count)
#define fd_p_index FD_OF(p_index)
#define fd_p_status_at FD_OF(p_status_at)
#define fd_p_given FD_OF(p_given)
#define fd_p_line_length FD_OF(p_line_length)
#define fd_p_lanes FD_OF(p_lanes)
#define fd_p_final_values FD_OF(p_final_values)
#define fd_p_several_mixed FD_OF(p_several_mixed)
#define fd_p_too_fast FD_OF(p_too_fast)
#define fd_p_not_dominant FD_OF(p_not_dominant)
#define fd_p_ill_posed FD_OF(p_ill_posed)
#define fd_p_differ_along FD_OF(p_differ_along)
#define fd_p_not_degenerate FD_OF(p_not_degenerate)
#define fd_p_broken FD_OF(p_broken)
#define fd_p_looks FD_OF(p_looks)
#define fd_p_look FD_OF(p_look)
#define fd_p_look_along FD_OF(p_look_along)
#define fd_p_count_rows FD_OF(p_count_rows)
#define fd_p_looked_at FD_OF(p_looked_at)
#define fd_p_check_terms FD_OF(p_check_terms)
#define fd_p_terms_status FD_OF(p_terms_status)
#define fd_p_fault FD_OF(p_fault)
#define fd_p_sum_up FD_OF(p_sum_up)
#define fd_p_phases FD_OF(p_phases)
#define fd_p_prepare FD_OF(p_prepare)

/* The tables of a problem in memory. */
typedef struct {
    fd_p_findings *found;
    const fd_problem *problem;
    const fd_model_parameters *parameters;
    double *x[3]; /* coordinates */
    fd_cell *cell[3];
    tb_real *far_of[3];    /* as fd_cells leaves it */
    tb_real *number[3];    /* number q of point i at [q room[axis] + i] */
    int room[3];           /* the batch's points, padded; beyond the last point, that point's numbers repeat */
    fd_interval *interval; /* the intervals between the dates, in the order of the march */
    tb_real *time;         /* number q of step k, for its start (e = 0) or end (1), at [(2 k + e) numbers + q] */
#if FD_FACTORS > 1
    fd_p_step *step; /* the data of each step; null if they are computed when the step is due */
#endif
    fd_weights *around;    /* interpolation weights, for spot s along axis d at [factors s + d] */
    tb_real *final;        /* the final values, point (i, j, k) at i + points[0] (j + points[1] k) */
} fd_p_tables;

/* Lays out the tables from the start of memory, without the steps and the final values unless `whole` is set; if memory
   is null, only counts. Returns the bytes. */
TB_HD size_t fd_p_lay_out(const fd_batch *batch, int whole, unsigned char *memory, fd_p_tables *tables)
{
    size_t used = 0, steps = (size_t)batch->steps, grid = sizeof(tb_real);
    fd_p_tables t;
    memset(&t, 0, sizeof t);
    t.found = (fd_p_findings *)fd_p_next(memory, &used, sizeof(fd_p_findings));
    t.interval = (fd_interval *)fd_p_next(memory, &used, (size_t)(batch->dates + 1) * sizeof(fd_interval));
    t.time = (tb_real *)fd_p_next(memory, &used, (steps * 2 * (size_t)fd_p_numbers(3) + 1) * sizeof(tb_real));
    for (int d = 0; d < FD_FACTORS; d++) {
        const size_t points = (size_t)batch->points[d];
        grid *= points;
        t.room[d] = fd_p_padded_to(FD_FACTORS > 2 ? (int)FD_P_MOST_LANES : (int)FD_P_LANES, batch->points[d]);
        t.x[d] = (double *)fd_p_next(memory, &used, points * sizeof(double));
        t.cell[d] = (fd_cell *)fd_p_next(memory, &used, points * sizeof(fd_cell));
        t.far_of[d] = (tb_real *)fd_p_next(memory, &used, 2 * sizeof(tb_real));
        t.number[d] =
            (tb_real *)fd_p_next(memory, &used, (size_t)t.room[d] * (size_t)fd_p_numbers(d) * sizeof(tb_real));
    }
    t.around = (fd_weights *)fd_p_next(memory, &used, (size_t)batch->spots * FD_FACTORS * sizeof(fd_weights));
#if FD_FACTORS > 1
    if (whole) t.step = (fd_p_step *)fd_p_next(memory, &used, steps * sizeof(fd_p_step));
#endif
    if (whole) t.final = (tb_real *)fd_p_next(memory, &used, grid);
    if (tables) *tables = t;
    return used;
}

/* Copies the numbers of point i of an axis from its table. */
TB_HD void fd_p_take(const fd_p_tables *t, int axis, int i, fd_numbers *own)
{
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(axis); q++) own->number[q] = t->number[axis][q * t->room[axis] + i];
}

/* Return the terms at the point with these indices and at a time. The first function is inlined, the second called. */
TB_HD fd_terms fd_p_terms_here(const fd_p_tables *t, const int *index, const tb_real *time)
{
    fd_numbers own[FD_FACTORS];
    for (int d = 0; d < FD_FACTORS; d++) fd_p_take(t, d, index[d], &own[d]);
    return fd_p_terms(t->parameters, own, time);
}
FD_P_CALLED fd_terms fd_p_terms_at(const fd_p_tables *t, const int *index, const tb_real *time)
{
    return fd_p_terms_here(t, index, time);
}

/* Returns step k of the march. */
FD_P_CALLED fd_step fd_p_step_at(const fd_p_tables *t, int k)
{
    const fd_interval *v = t->interval;
    while (k >= v->first + v->whole + v->halved) v++;
    return fd_step_in(&t->found->times, v, k);
}

/* Returns the numbers of time for the start (end 0) or the end (1) of step k (fd_p_numbers_of_step). */
TB_HD const tb_real *fd_p_time_of(const fd_p_tables *t, int k, int end)
{
    return t->time + (2 * k + end) * fd_p_numbers(3);
}

/* Finds the intervals between the dates. Returns a status: FD_NO_ROOM if there are more steps than batch->steps. */
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
    /* Numbers of time have indices of type int (fd_p_time_of). */
    if (steps > FD_P_MOST || 2 * steps * fd_p_numbers(3) > FD_P_NONE) return FD_BAD_SIZE;
    found->steps = (int)steps;
    return found->steps > batch->steps ? FD_NO_ROOM : FD_OK;
}

/* Checks the problem's sizes and choices, and finds the maps of its axes and the intervals of its march. */
TB_HD void fd_p_begin(const fd_batch *batch, const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    const fd_problem *problem = t->problem;
    if (thread == 0) {
        found->status = fd_p_check(FD_FACTORS, batch, problem);
        const int date = found->status.what ? -1 : fd_p_no_change(problem);
        if (date >= 0) found->status = fd_p_status(FD_BAD_EVENT, 1 + date);
        found->steps = 0, found->not_dominant = 0, found->given = 0, found->longest = 0, found->sources = 0;
        found->greatest = 0, found->too_long = 0;
        for (int f = FD_FACTORS; f < FD_P_FAULTS; f++) found->fault[f] = FD_P_NONE;
        const int wrong = found->status.what ? FD_OK : fd_p_intervals(batch, t);
        if (wrong) found->fault[FD_P_AT_TIMES] = wrong;
    }
    for (int d = 0; d < FD_FACTORS; d++)
        if (thread == (d + 1) * 32 % threads) {
            const int wrong = problem->points[d] ? FD_OK : fd_axis_map(&problem->axis[d], &found->map[d]);
            found->points[d] = problem->axis[d].points;
            found->fault[FD_P_AT_POINTS + d] = wrong ? wrong - 1 : FD_P_NONE;
        }
}

/* Computes or copies the points of the axes; those of an axis that was refused are arbitrary. */
TB_HD void fd_p_place_points(const fd_p_tables *t, int thread, int threads)
{
    const fd_p_findings *found = t->found;
    for (int d = 0; d < FD_FACTORS; d++) {
        const int made = found->fault[FD_P_AT_POINTS + d] == FD_P_NONE;
        const double *points = t->problem->points[d];
        for (int i = thread; i < found->points[d]; i += threads)
            t->x[d][i] = !made ? i : points ? points[i] : fd_map_point(&found->map[d], i);
    }
}

/* Finds points that are not finite or not in order. */
TB_HD void fd_p_check_points(const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    for (int d = 0; d < FD_FACTORS; d++)
        for (int i = thread; i < found->points[d]; i += threads)
            if (!trid_finite_f64(t->x[d][i]) || (i > 0 && !(t->x[d][i] > t->x[d][i - 1])))
                fd_p_least(&found->fault[FD_P_AT_POINTS + d], i);
}

/* Returns the first axis along which a spot is outside the grid, or -1. */
TB_HD int fd_p_outside(const fd_p_tables *t, int spot)
{
    for (int d = 0; d < FD_FACTORS; d++) {
        const double at = t->problem->spot[spot * FD_FACTORS + d];
        if (!trid_finite_f64(at) || at < t->x[d][0] || at > t->x[d][t->found->points[d] - 1]) return d;
    }
    return -1;
}

/* Computes the model's numbers of the axes, the cells, and the interpolation weights of spots. Finds numbers that are
   not finite, points that are too close, and spots outside the grid. */
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
    for (int s = thread; s < batch->spots; s += threads) {
        const double *spot = t->problem->spot + s * FD_FACTORS;
        for (int d = 0; d < FD_FACTORS; d++)
            fd_interpolate(found->points[d], t->x[d], spot[d], &t->around[s * FD_FACTORS + d]);
        if (fd_p_outside(t, s) >= 0) fd_p_least(&found->fault[FD_P_AT_SPOT], s);
    }
}

/* Computes the model's numbers at the times of the steps, and the steps if t->step is not null. Finds numbers that are
   not finite and the longest explicit step; with several factors, steps that are too short; with two, the largest theta
   dt. */
TB_HD void fd_p_step_numbers(const fd_p_tables *t, int thread, int threads)
{
    const int numbers = fd_p_numbers(3);
    const int needed = numbers > 0 || t->problem->times.kind == FD_EXPLICIT || FD_FACTORS > 1;
    int greatest = 0;
    for (int k = thread; k < t->found->steps && needed; k += threads) {
        const fd_step step = fd_p_step_at(t, k);
#if FD_FACTORS > 1
        if (t->step) t->step[k] = fd_p_step_of(t->problem, t->parameters, &step);
#endif
        if (FD_FACTORS > 1 && !(step.to < step.from)) fd_p_least(&t->found->fault[FD_P_AT_STEP], k);
        if (step.kind == FD_EXPLICIT) fd_p_most(&t->found->longest, fd_p_larger(0, step.from - step.to));
        if (FD_FACTORS == 2) greatest = fd_p_larger(greatest, step.theta * (step.from - step.to));
        fd_p_numbers_of_step(t->problem, t->parameters, &step, numbers, &t->time[2 * k * numbers]);
        for (int q = 0; q < 2 * numbers; q++)
            if (!trid_finite(t->time[2 * k * numbers + q])) fd_p_least(&t->found->fault[FD_P_AT_TIME], k);
    }
    if (FD_FACTORS == 2) fd_p_most(&t->found->greatest, greatest);
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

/* Returns the status for point number `at` of a grid. */
TB_HD fd_status fd_p_status_at(int what, const int *points, int at, int step)
{
    int index[3];
    fd_p_index(points, at, index);
    return fd_status_of(what, 0, -1, index[0], index[1], index[2], step);
}

/* Returns `most` or, if it is larger, the greatest magnitude that a face at a point prescribes at time 0: that of a
   value, or of a slope times the length of the axis. */
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

/* Returns the length of the lines by which threads share the grid: a row along x or, with one factor, 1. */
TB_HD int fd_p_line_length(const fd_p_tables *t)
{
    return FD_FACTORS == 1 ? 1 : t->found->points[0];
}

/* Returns how many threads share a line. It is 1 with one factor, and also on the host, where workers then rarely write
   to the same cache line. Otherwise it is 8, since a thread that takes several points reads their common data once; or,
   if there are too few lines for all threads, 16 or 32. If the number of threads is a multiple of 32, they are taken
   for a device's. */
TB_HD int fd_p_lanes(int lines, int threads)
{
    const int alone = FD_FACTORS == 1 || threads % 32;
    return alone ? 1 : lines * 8 >= threads ? 8 : lines * 16 >= threads ? 16 : 32;
}

/* Computes the final values, and finds the largest magnitude of these and of what faces are given (fd_p_given). */
TB_HD void fd_p_final_values(const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    const double *x[3];
    const int length = fd_p_line_length(t), lines = fd_p_count(found->points) / length;
    const int lanes = fd_p_lanes(lines, threads);
    int most = 0, gives = 0, index[3]; /* gives: whether any face is given values or slopes */
    double place[3];
    for (int d = 0; d < FD_FACTORS; d++) x[d] = t->x[d];
    for (int f = 0; f < 2 * FD_FACTORS; f++) {
        const int kind = t->problem->face[f / 2][f % 2];
        gives |= kind == FD_VALUE || kind == FD_SLOPE;
    }
    for (int line = thread / lanes; line < lines; line += threads / lanes) {
        fd_p_index(found->points, line * length, index);
        for (int d = 0; d < FD_FACTORS; d++) place[d] = x[d][index[d]];
        for (int i = thread % lanes; i < length; i += lanes) {
            if (FD_FACTORS > 1) index[0] = i, place[0] = x[0][i];
            const double value = fd_p_final(t->problem, t->parameters, x, found->points, index);
            t->final[line * length + i] = (tb_real)value;
            most = fd_p_larger(most, value);
            if (gives) most = fd_p_given(t, index, place, most);
            if (!trid_finite((tb_real)value)) fd_p_least(&found->fault[FD_P_AT_FINAL], line * length + i);
        }
    }
    fd_p_most(&found->given, most);
}

enum { fd_p_several_mixed = (FD_MODEL_MIXED & (FD_MODEL_MIXED - 1)) != 0 }; /* several pairs have mixed terms */

/* Returns 0 if the longest explicit step of the march is short enough at a point with these terms. Otherwise returns
   minus the 1 / dt that the point needs, stored as by fd_p_larger, so that the fastest point has the least number.
   Couplings bound dt so that the fastest wave does not overshoot. Drifts bound it too: in each step, the phase of a
   wave along an axis turns by at most |above - below| dt. This makes the wave grow unless couplings damp it, and mixed
   terms may undo that damping. Growth by a factor of e until time 0 is allowed. */
TB_HD int fd_p_too_fast(const fd_p_tables *t, const int *index, fd_terms terms)
{
    const double undamped = 0.5 * FD_FACTORS * t->problem->times.maturity;
    double couplings = 0, drifts = 0;
    for (int d = 0; d < FD_FACTORS; d++) {
        const fd_row row = fd_p_row(d, t->cell[d][index[d]], terms);
        const double below = (double)row.below, above = (double)row.above, turn = above - below;
        const double damped = fabs(below + above);
        couplings += fabs(below) + fabs(above);
        if (index[d] == 0 || index[d] == t->found->points[d] - 1) continue;
        drifts += turn * turn * (FD_MODEL_MIXED || damped * undamped <= 1 ? undamped : 1 / damped);
    }
    if (fd_p_several_mixed) couplings *= 1.125; /* docs/fd.md */
    const double fastest = fd_p_max(couplings + fd_p_max((double)terms.kill, 0) / 2, drifts);
    return fd_p_size_of(t->found->longest) * fastest > 1 ? -fd_p_larger(0, fastest * (1 + 1e-6)) : 0;
}

/* Returns how many of a point's rows, one along each axis, are not diagonally dominant in a step whose theta dt is
   `size`. A row without couplings of the wrong sign counts as dominant, regardless of rounding, if 1 + size kill > 0,
   where kill is terms.kill divided by the number of factors. */
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

/* Returns whether the terms at a point are ill-posed. They are if a diffusion is negative; if mixed^2 exceeds
   4 diffusion_i diffusion_j for a declared pair; or if several pairs are declared, and the matrix of correlations is
   not positive semidefinite. The last two tests allow for rounding. The matrix's determinant is multiplied
   by 4 diffusion_1 diffusion_2 diffusion_3, so that no square root keeps compilers from vectorising; if that product is
   0, the tests of the pairs suffice. */
TB_HD int fd_p_ill_posed(fd_terms terms)
{
    const double slack = sizeof(tb_real) == 4 ? 1.5e-5 : 2.8e-14, least = sizeof(tb_real) == 4 ? 1.2e-38 : 2.3e-308;
    double size[3] = {0, 0, 0}, cross[3] = {0, 0, 0}, determinant = 0; /* cross: of the pairs 12, 13 and 23 */
    int ill = 0;
    for (int d = 0; d < FD_FACTORS; d++) ill |= terms.diffusion[d] < 0, size[d] = (double)terms.diffusion[d];
    for (int pair = 0; pair < 3; pair++) {
        if (!(FD_MODEL_MIXED >> pair & 1)) continue;
        const double mixed = cross[pair] = (double)terms.mixed[pair];
        ill |= mixed * mixed > 4 * (1 + slack) * (size[pair == 2] + least) * (size[pair ? 2 : 1] + least);
        determinant -= mixed * mixed * size[2 - pair];
    }
    if (!fd_p_several_mixed) return ill;
    const double all = 4 * size[0] * size[1] * size[2];
    determinant += all + cross[0] * cross[1] * cross[2];
    return ill | ((all > 0) & (determinant < -slack * all));
}

/* Returns what is wrong with the terms at a point of FD_DEGENERATE faces, as a sum of fd/march.h's constants. A drift
   is wrong if it points out of the grid and would cross more than the cell next to the face by maturity. Errors grow by
   a factor of e^1.5 for each cell that it crosses, so a smaller drift does little harm. A diffusion, which the face
   omits, is wrong if it exceeds a hundredth of that at the next point. */
TB_HD int fd_p_not_degenerate(const fd_p_tables *t, const int *at, const tb_real *time)
{
    const fd_terms terms = fd_p_terms_at(t, at, time);
    int wrong = 0;
    for (int d = 0; d < FD_FACTORS; d++) {
        const int last = at[d] == t->found->points[d] - 1;
        if ((at[d] > 0 && !last) || t->problem->face[d][last] != FD_DEGENERATE) continue;
        int beside[3] = {at[0], at[1], at[2]};
        beside[d] = last ? at[d] - 1 : 1;
        const double cell = fabs(t->x[d][at[d]] - t->x[d][beside[d]]);
        if ((double)terms.drift[d] * t->problem->times.maturity * (last ? 1 : -1) > cell) wrong |= FD_P_OUTWARD << d;
        const double inner = fabs((double)fd_p_terms_at(t, beside, time).diffusion[d]);
        if ((double)terms.diffusion[d] > inner / 100) wrong |= FD_P_DIFFUSES << d;
    }
    return wrong;
}

/* Returns whether two sets of terms differ in drift or diffusion along an axis, or in kill. */
TB_HD int fd_p_differ_along(int axis, fd_terms one, fd_terms other)
{
    return fd_p_differ(one.drift[axis], other.drift[axis]) | fd_p_differ(one.diffusion[axis], other.diffusion[axis]) |
           fd_p_differ(one.kill, other.kill);
}

/* Returns which promises the terms at a point break at a time, as a sum of fd/march.h's constants. `changes` says
   whether the time's numbers differ from those at the first step's start; `first` holds the numbers of the axes' first
   points. */
TB_HD int fd_p_broken(const fd_p_tables *t, const fd_numbers *own, const fd_numbers *first, fd_terms terms,
                      const tb_real *time, int changes)
{
    int wrong = 0;
    for (int pair = 0; pair < 3; pair++)
        if (!(FD_MODEL_MIXED >> pair & 1))
            wrong |= ((terms.mixed[pair] < 0) | (terms.mixed[pair] > 0)) * (FD_P_MIXED << pair);
    for (int d = 0; d < FD_FACTORS; d++) {
        if ((FD_MODEL_STEADY >> d & 1) && changes)
            wrong |= fd_p_differ_along(d, terms, fd_p_terms(t->parameters, own, t->time)) * FD_P_CHANGES;
        if (FD_MODEL_INDEPENDENT >> d & 1) {
            fd_numbers other[FD_FACTORS];
            for (int e = 0; e < FD_FACTORS; e++) other[e] = e == d ? own[e] : first[e];
            wrong |= fd_p_differ_along(d, terms, fd_p_terms(t->parameters, other, time)) * (FD_P_NOT_INDEPENDENT << d);
        }
    }
    return wrong;
}

/* Findings about the points of a line. */
typedef struct {
    int wrong, not_finite, sources; /* wrong: a sum of fd/march.h's constants */
} fd_p_looks;

/* Does fd_p_look's checks at points of a line, except those that concern FD_DEGENERATE faces (fd_p_not_degenerate). For
   d > 0, own[d] holds the line's numbers of axis d. The other arguments are those of fd_p_look and fd_p_broken. If
   `changes` is a literal, compilers vectorise the loop. */
TB_HD fd_p_looks fd_p_look_along(const fd_p_tables *t, fd_numbers *own, const fd_numbers *first, const tb_real *time,
                                 int changes, int from, int to, int stride)
{
    fd_p_looks looks = {0, 0, 0};
    for (int i = from; i < to; i += stride) {
        fd_p_take(t, 0, i, &own[0]);
        const fd_terms terms = fd_p_terms(t->parameters, own, time);
        looks.wrong |= fd_p_broken(t, own, first, terms, time, changes) | fd_p_ill_posed(terms) * FD_P_ILL_POSED;
        looks.not_finite |= !fd_p_terms_finite(terms);
        looks.sources |= (terms.source < 0) | (terms.source > 0);
    }
    return looks;
}

/* Checks the terms at the points `from`, `from + stride`, .. below `to` of the line along x with these indices, at the
   end of step k, and looks for sources. Points whose value is given are left out. */
TB_HD fd_p_looks fd_p_look(const fd_p_tables *t, const int *index, int k, int from, int to, int stride)
{
    const int *points = t->found->points;
    const int (*face)[2] = t->problem->face;
    const tb_real *time = fd_p_time_of(t, k, 1);
    const int changes = !fd_p_same(fd_p_numbers(3), t->time, time);
    fd_p_looks looks = {0, 0, 0};
    fd_numbers own[FD_FACTORS], first[FD_FACTORS];
    int degenerate = 0; /* whether the line lies along an FD_DEGENERATE face */
    const int ends = face[0][0] == FD_DEGENERATE || face[0][1] == FD_DEGENERATE;
    for (int d = 0; d < FD_FACTORS; d++) fd_p_take(t, d, 0, &first[d]);
    for (int d = 1; d < FD_FACTORS; d++) {
        const int last = index[d] == points[d] - 1, at_face = index[d] == 0 || last;
        if (at_face && face[d][last] == FD_VALUE) return looks;
        degenerate |= at_face && face[d][last] == FD_DEGENERATE;
        fd_p_take(t, d, index[d], &own[d]);
    }
    if (from == 0 && face[0][0] == FD_VALUE) from += stride;
    if (to == points[0] && face[0][1] == FD_VALUE) to--;
    looks = changes ? fd_p_look_along(t, own, first, time, 1, from, to, stride)
                    : fd_p_look_along(t, own, first, time, 0, from, to, stride);
    for (int i = from; i < to && (degenerate || ends); i += stride) {
        if (!degenerate && i > 0 && i < points[0] - 1) continue;
        const int at[3] = {i, index[1], index[2]};
        looks.wrong |= fd_p_not_degenerate(t, at, time);
    }
    return looks;
}

/* Returns how many rows at the points of fd_p_look, including points whose value is given, are not diagonally dominant
   with the coefficients at the end of step k and with theta dt `size`. Finds points that are too fast for explicit
   steps. */
TB_HD int fd_p_count_rows(const fd_p_tables *t, const int *index, int k, tb_real size, int from, int to, int stride)
{
    const tb_real *time = fd_p_time_of(t, k, 1);
    int at[3] = {0, index[1], index[2]}, count = 0;
    fd_numbers own[FD_FACTORS];
    for (int d = 1; d < FD_FACTORS; d++) fd_p_take(t, d, index[d], &own[d]);
    for (int i = from; i < to; i += stride) {
        at[0] = i;
        fd_p_take(t, 0, i, &own[0]);
        count += fd_p_not_dominant(t, at, fd_p_terms(t->parameters, own, time), size);
    }
    for (int i = from; i < to && t->found->longest != 0; i += stride) {
        at[0] = i;
        const int too_fast = fd_p_too_fast(t, at, fd_p_terms_at(t, at, time));
        if (too_fast) fd_p_least(&t->found->fault[FD_P_AT_FAST], too_fast);
    }
    return count;
}

/* Returns the step in which look 0, 1 or 2 checks a line: the first step, the last, or one chosen for the line, to find
   changes in between. With one factor each point is a line. Returns -1, for no step, if look is not 0 and the step's
   numbers of time equal the first step's. */
TB_HD int fd_p_looked_at(const fd_p_tables *t, int line, int look)
{
    const int steps = t->found->steps, k = look == 0 ? 0 : look == 1 ? steps - 1 : (line + steps / 2) % steps;
    return look == 0 || !fd_p_same(fd_p_numbers(3), fd_p_time_of(t, 0, 1), fd_p_time_of(t, k, 1)) ? k : -1;
}

/* Checks the terms at all points whose value is not given, in the steps of fd_p_looked_at, and finds out whether any of
   these points has a source. Counts the rows of the first and the last step, at all points, that are not dominant. If
   both steps are equal, rows are computed once and counted twice. With two factors, if neither step has the march's
   largest theta dt, also counts, in too_long, the rows that are not dominant with that theta dt. A row that is dominant
   with a theta dt is so with any smaller one and the same coefficients. */
TB_HD void fd_p_check_terms(const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    const int length = fd_p_line_length(t), lines = fd_p_count(found->points) / length;
    const int lanes = fd_p_lanes(lines, threads), last = found->steps - 1;
    const fd_step ends[2] = {fd_p_step_at(t, 0), fd_p_step_at(t, last)};
    tb_real size[2]; /* theta dt of these steps */
    for (int e = 0; e < 2; e++) size[e] = (tb_real)(ends[e].theta * (ends[e].from - ends[e].to));
    const int alike =
        fd_p_same_size(size[0], size[1]) && fd_p_same(fd_p_numbers(3), fd_p_time_of(t, 0, 1), fd_p_time_of(t, last, 1));
    const int longer = found->greatest > fd_p_larger(fd_p_larger(0, (double)size[0]), (double)size[1]);
    const tb_real greatest = (tb_real)(fd_p_size_of(found->greatest) * (1 + 1e-6)); /* it has been rounded */
    int not_dominant = 0, too_long = 0, sources = 0, index[3];
    for (int line = thread / lanes; line < lines; line += threads / lanes) {
        fd_p_index(found->points, line * length, index);
        const int from = index[0] + thread % lanes, to = index[0] + length;
        for (int look = 0; look < 3; look++) {
            const int k = fd_p_looked_at(t, line, look);
            if (look < 2 - alike)
                not_dominant += (1 + alike) * fd_p_count_rows(t, index, look ? last : 0, size[look], from, to, lanes);
            if (look < 2 - alike && FD_FACTORS == 2 && longer)
                too_long += fd_p_count_rows(t, index, look ? last : 0, greatest, from, to, lanes);
            if (k < 0) continue;
            const fd_p_looks looks = fd_p_look(t, index, k, from, to, lanes);
            sources |= looks.sources;
            for (int i = from; i < to && (looks.wrong || looks.not_finite); i += lanes) {
                const fd_p_looks own = fd_p_look(t, index, k, i, i + 1, 1);
                if (own.wrong || own.not_finite) fd_p_least(&found->fault[FD_P_AT_TERMS], line * length - index[0] + i);
            }
        }
    }
    if (not_dominant) fd_p_add(&found->not_dominant, not_dominant);
    if (too_long) fd_p_add(&found->too_long, too_long);
    if (sources) fd_p_add(&found->sources, 1);
}

/* Returns the status of the terms at a point, in the first of the steps of fd_p_looked_at (look 0, 1, 2) in which they
   are wrong or not finite. */
TB_HD fd_status fd_p_terms_status(const fd_p_tables *t, int at)
{
    int index[3];
    fd_p_index(t->found->points, at, index);
    for (int look = 0; look < 3; look++) {
        const int k = fd_p_looked_at(t, at / fd_p_line_length(t), look);
        if (k < 0) continue;
        const fd_p_looks looks = fd_p_look(t, index, k, index[0], index[0] + 1, 1);
        if (looks.not_finite) return fd_p_status_at(FD_MODEL_NAN, t->found->points, at, k);
        if (looks.wrong) return fd_p_untrue(looks.wrong, index[0], index[1], index[2], k);
    }
    return fd_p_status(FD_OK, 0);
}

/* Returns the status of fault f. */
FD_P_CALLED fd_status fd_p_fault(const fd_batch *batch, const fd_p_tables *t, int f)
{
    const int at = t->found->fault[f], no_step = at == FD_NO_ROOM, axis = f - FD_P_AT_NUMBERS;
    if (f < FD_P_AT_TIMES) return fd_status_of(FD_BAD_AXIS, 1 + at, f - FD_P_AT_POINTS, -1, -1, -1, -1);
    if (f == FD_P_AT_TIMES)
        return fd_p_status(no_step ? FD_TOO_MANY_STEPS : FD_BAD_TIMES, no_step ? t->found->steps : at);
    if (f < FD_P_AT_SPOT)
        return fd_status_of(FD_MODEL_NAN, 0, axis, axis == 0 ? at : -1, axis == 1 ? at : -1, axis == 2 ? at : -1, -1);
    if (f == FD_P_AT_SPOT) return fd_status_of(FD_BAD_SPOT, at, fd_p_outside(t, at), -1, -1, -1, -1);
    if (f == FD_P_AT_TIME) return fd_status_of(FD_MODEL_NAN, 0, -1, -1, -1, -1, at);
    if (f == FD_P_AT_FINAL) return fd_p_status_at(FD_FINAL_NAN, t->found->points, at, -1);
    if (f == FD_P_AT_TERMS) return fd_p_terms_status(t, at);
    if (f == FD_P_AT_FAST) return fd_p_status(FD_UNSTABLE, fd_p_enough(&t->problem->times, at));
#if FD_FACTORS == 2
    const int excluded = batch->kind == ADI2D_PRODUCTS ? ADI2D_NO_PRODUCT : ADI2D_TWO_STAGED;
    if (f == FD_P_AT_KIND) return fd_status_of(excluded, 0, -1, -1, -1, -1, at);
#endif
    (void)batch;
    return fd_p_status(FD_BAD_TIMES, FD_BAD_SIZE); /* FD_P_AT_STEP */
}

/* Sets the status to the first fault, if there is one. */
TB_HD void fd_p_sum_up(const fd_batch *batch, const fd_p_tables *t)
{
    fd_p_findings *found = t->found;
    int f = 0;
    while (f < FD_P_FAULTS && found->fault[f] == FD_P_NONE) f++;
    if (f < FD_P_FAULTS) found->status = fd_p_fault(batch, t, f);
    found->status.not_dominant = found->not_dominant;
}

#if FD_FACTORS == 2
#include "../adi2d/step.h" /* which steps are products of factors */
#endif
enum { fd_p_phases = (int)FD_P_PHASES + (FD_FACTORS == 1 ? 2 : FD_FACTORS == 2 ? 3 : 0) };

/* Does one phase of the preparation of a problem. All threads do a phase, pass a barrier, and do the next. A phase does
   nothing if an earlier one has set found->status to an error. Models with one factor have a phase of their own before
   the last (fd1d_p_prepare). */
TB_HD void fd_p_prepare(const fd_batch *batch, const fd_p_tables *t, int phase, int thread, int threads)
{
    const int sums_up = phase == 3 || phase == 6 || phase == (int)fd_p_phases - 1;
    if (phase == 0) fd_p_begin(batch, t, thread, threads);
    if (phase == 0 || (sums_up && thread > 0)) return; /* one thread sums up, and may write the status */
    if (t->found->status.what) return;
    if (phase == 1) fd_p_place_points(t, thread, threads);
    if (phase == 2) fd_p_check_points(t, thread, threads);
    if (phase == 4) {
        fd_p_axis_numbers(batch, t, thread, threads);
        fd_p_step_numbers(t, thread, threads);
        fd_p_final_values(t, thread, threads);
    }
    if (phase == 5) fd_p_check_terms(t, thread, threads);
#if FD_FACTORS == 2
    if (phase == 7) adi2d_p_find_products(batch, t, thread, threads);
    if (phase == 8) adi2d_p_join_products(t, thread, threads);
#endif
    if (sums_up) fd_p_sum_up(batch, t);
}
