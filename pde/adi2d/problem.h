/* problem.h - a room of adi2d.h, read once a model and precision: problems are prepared for their marches: tables,
   checks of what the model declares, and the kernel that does it.
   MIT licence, see LICENSE. */

#define adi2d_p_tables ADI2D_OF(p_tables)
#define adi2d_p_lay_out ADI2D_OF(p_lay_out)
#define adi2d_p_terms ADI2D_OF(p_terms)
#define adi2d_p_terms_beyond ADI2D_OF(p_terms_beyond)
#define adi2d_p_too_few ADI2D_OF(p_too_few)
#define adi2d_p_untrue ADI2D_OF(p_untrue)
#define adi2d_p_checked_step ADI2D_OF(p_checked_step)
#define adi2d_p_untrue_at ADI2D_OF(p_untrue_at)
#define adi2d_p_row ADI2D_OF(p_row)
#define adi2d_p_product ADI2D_OF(p_product)
#define adi2d_p_step_data_of ADI2D_OF(p_step_data_of)
#define adi2d_p_continues ADI2D_OF(p_continues)
#define adi2d_p_too_fast ADI2D_OF(p_too_fast)
#define adi2d_p_fill_nan ADI2D_OF(p_fill_nan)
#define adi2d_p_points_status ADI2D_OF(p_points_status)
#define adi2d_p_axis_numbers ADI2D_OF(p_axis_numbers)
#define adi2d_p_step_numbers ADI2D_OF(p_step_numbers)
#define adi2d_p_given_values ADI2D_OF(p_given_values)
#define adi2d_p_not_dominant_rows ADI2D_OF(p_not_dominant_rows)
#define adi2d_p_untrue_points ADI2D_OF(p_untrue_points)
#define adi2d_p_numbers_status ADI2D_OF(p_numbers_status)
#define adi2d_p_begin ADI2D_OF(p_begin)
#define adi2d_p_place_points ADI2D_OF(p_place_points)
#define adi2d_p_find_products ADI2D_OF(p_find_products)
#define adi2d_p_kind_status ADI2D_OF(p_kind_status)
#define adi2d_p_prepare ADI2D_OF(p_prepare)
#define adi2d_p_at_face ADI2D_OF(p_at_face)
#define adi2d_p_launch ADI2D_OF(p_launch)
#define adi2d_p_prepare_block ADI2D_OF(p_prepare_block)
#define adi2d_p_refuse ADI2D_OF(p_refuse)
#define adi2d_p_prepare_kernel ADI2D_OF(p_prepare_kernel)

/* Where the tables of a prepared problem are in memory. */
typedef struct {
    adi2d_p_plan *plan;
    double *x[2]; /* coordinates */
    fd_step *step;
    fd_cell *cell[2];
    tb_real *far_of[2]; /* fd_cells' */
    tb_real *number[2]; /* number q of point i at [q * padded[axis] + i] */
    int padded[2];
    tb_real *time;      /* number q of step k, at its start (e = 0) or end (1), at [(2 k + e) * numbers + q] */
    adi2d_p_step_data *step_data; /* of each step */
    tb_real *final;     /* the final values, point (i, j) at i + points[0] * j */
} adi2d_p_tables;

/* Assigns memory to the tables, from its start; with null, only counts. Returns the bytes used. */
TB_HD size_t adi2d_p_lay_out(const adi2d_batch *batch, unsigned char *memory, adi2d_p_tables *tables)
{
    size_t used = 0, steps = (size_t)batch->steps;
    adi2d_p_tables t;
    int numbers[2] = {ADI2D_P_OF_X, ADI2D_P_OF_Y};
    t.plan = (adi2d_p_plan *)fd_p_at(memory, used);
    used += fd_p_round(sizeof(adi2d_p_plan));
    t.step = (fd_step *)fd_p_at(memory, used);
    used += fd_p_round(steps * sizeof(fd_step));
    t.step_data = (adi2d_p_step_data *)fd_p_at(memory, used);
    used += fd_p_round(steps * sizeof(adi2d_p_step_data));
    t.time = (tb_real *)fd_p_at(memory, used);
    used += fd_p_round(steps * 2 * ADI2D_P_OF_T * sizeof(tb_real));
    for (int d = 0; d < 2; d++) {
        size_t points = (size_t)batch->points[d];
        t.padded[d] = fd_p_padded(batch->points[d]);
        t.x[d] = (double *)fd_p_at(memory, used);
        used += fd_p_round(points * sizeof(double));
        t.cell[d] = (fd_cell *)fd_p_at(memory, used);
        used += fd_p_round(points * sizeof(fd_cell));
        t.far_of[d] = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round(2 * sizeof(tb_real));
        t.number[d] = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round((size_t)t.padded[d] * (size_t)numbers[d] * sizeof(tb_real));
    }
    t.final = (tb_real *)fd_p_at(memory, used);
    used += fd_p_round((size_t)batch->points[0] * (size_t)batch->points[1] * sizeof(tb_real));
    if (tables) *tables = t;
    return used;
}

/* Returns the terms at point (i, j) with the numbers of a time. A model may read more numbers than it declares: there
   is room after those of x and y, and other tables follow those of time. */
TB_HD adi2d_terms adi2d_p_terms(const adi2d_p_tables *t, int i, int j, const tb_real *time)
{
    adi2d_terms terms = {{0, 0}, {0, 0}, 0, 0};
    tb_real x[ADI2D_P_OF_X + FD_P_ROOM], y[ADI2D_P_OF_Y + FD_P_ROOM];
    TB_UNROLL
    for (int q = 0; q < ADI2D_P_OF_X; q++) x[q] = t->number[0][q * t->padded[0] + i];
    TB_UNROLL
    for (int q = 0; q < ADI2D_P_OF_Y; q++) y[q] = t->number[1][q * t->padded[1] + j];
    adi2d_model_terms(x, y, time, &terms);
    return terms;
}

/* Returns the same where numbers that are not declared are 1, or 2 if their bit is set in twos: 0 for those of x, 1 for
   y, 3 for time. */
TB_HD adi2d_terms adi2d_p_terms_beyond(const adi2d_p_tables *t, int i, int j, const tb_real *time, int twos)
{
    adi2d_terms terms = {{0, 0}, {0, 0}, 0, 0};
    tb_real x[ADI2D_P_OF_X + FD_P_ROOM], y[ADI2D_P_OF_Y + FD_P_ROOM];
    tb_real now[ADI2D_P_OF_T + FD_P_ROOM];
    for (int q = 0; q < FD_P_ROOM; q++) {
        x[ADI2D_P_OF_X + q] = (tb_real)(1 + (twos & 1));
        y[ADI2D_P_OF_Y + q] = (tb_real)(1 + (twos >> 1 & 1));
        now[ADI2D_P_OF_T + q] = (tb_real)(1 + (twos >> 3 & 1));
    }
    for (int q = 0; q < ADI2D_P_OF_X; q++) x[q] = t->number[0][q * t->padded[0] + i];
    for (int q = 0; q < ADI2D_P_OF_Y; q++) y[q] = t->number[1][q * t->padded[1] + j];
    for (int q = 0; q < ADI2D_P_OF_T; q++) now[q] = time[q];
    adi2d_model_terms(x, y, now, &terms);
    return terms;
}

/* Returns of what the terms read more numbers than are declared: FD_P_FEW's bits. */
TB_HD int adi2d_p_too_few(const adi2d_p_tables *t, int i, int j, const tb_real *time)
{
    enum { numbers = sizeof(adi2d_terms) / sizeof(tb_real), all = 1 + 2 + 8 };
    tb_real ones[numbers], twos[numbers];
    int few = 0;
    adi2d_terms terms = adi2d_p_terms_beyond(t, i, j, time, 0);
    memcpy(ones, &terms, sizeof ones);
    for (int which = all; which > 0; which = which == all ? 8 : which / 2) {
        terms = adi2d_p_terms_beyond(t, i, j, time, which);
        memcpy(twos, &terms, sizeof twos);
        const int same = fd_p_same(numbers, ones, twos);
        if (which == all && same) return 0;
        if (which != all && !same) few |= FD_P_FEW * which;
    }
    return few;
}

/* Returns which of the model's declarations are false in step k at points from, from + stride .. to - 1 of row j, and
   whether the problem is ill-posed there, as a sum of pde/fd.h's. Points whose values are given are not checked. */
TB_HD int adi2d_p_untrue(const adi2d_problem *problem, const adi2d_p_tables *t, int j, int k, int from, int to,
                         int stride)
{
    const int *points = t->plan->points, last = j == points[1] - 1;
    const tb_real *time = t->time + (2 * k + 1) * ADI2D_P_OF_T;
    const int changes = !fd_p_same(ADI2D_P_OF_T, t->time, time);
    int untrue = 0;
    if ((j == 0 || last) && problem->face[1][last] == FD_VALUE) return 0;
    if (from == 0 && problem->face[0][0] == FD_VALUE) from += stride;
    if (to == points[0] && problem->face[0][1] == FD_VALUE) to--;
    for (int i = from; i < to; i += stride) {
        const adi2d_terms here = adi2d_p_terms(t, i, j, time);
        const int at[2] = {i, j};
        untrue |= fd_p_ill_posed_in_two(here.diffusion, here.mixed) ? FD_P_ILL_POSED : 0;
        untrue |= fd_p_outward(2, problem->face, t->x, at, points, here.drift, problem->times.maturity);
        if (!adi2d_model_mixed) untrue |= here.mixed < 0 || here.mixed > 0 ? FD_P_MIXED : 0;
        if (!adi2d_model_y_changes && changes)
            untrue |= adi2d_p_y_differs(here, adi2d_p_terms(t, i, j, t->time)) ? FD_P_CHANGES : 0;
        if (ADI2D_P_INDEPENDENT)
            untrue |= adi2d_p_y_differs(here, adi2d_p_terms(t, 0, j, t->time)) ? FD_P_NOT_INDEPENDENT << 1 : 0;
    }
    return untrue;
}

/* Returns the step in which row j is checked: the first, the last, or one of its own, which finds what changes in
   between; of row 0, which is a face, the middle one. -1: none, because the numbers of time are those of the first. */
TB_HD int adi2d_p_checked_step(const adi2d_p_tables *t, int j, int look)
{
    const int steps = t->plan->steps, k = look == 0 ? 0 : look == 1 ? steps - 1 : (j + steps / 2) % steps;
    const tb_real *first = t->time + ADI2D_P_OF_T, *time = t->time + (2 * k + 1) * ADI2D_P_OF_T;
    return look == 0 || !fd_p_same(ADI2D_P_OF_T, first, time) ? k : -1;
}

/* Returns the first false declaration at a point as a status. */
TB_HD fd_status adi2d_p_untrue_at(const adi2d_problem *problem, const adi2d_p_tables *t, int i, int j)
{
    int k = 0, untrue = adi2d_p_too_few(t, i, j, t->time);
    for (int look = 0; look < 3 && !untrue; look++) {
        k = adi2d_p_checked_step(t, j, look);
        if (k >= 0) untrue = adi2d_p_untrue(problem, t, j, k, i, i + 1, 1);
    }
    return fd_p_untrue(untrue, i, j, -1, k);
}

/* Returns the row of A along an axis, without kill. */
TB_HD fd_row adi2d_p_row(int axis, fd_cell cell, adi2d_terms terms)
{
    return fd_lane_row(cell, adi2d_model_fitting, terms.drift[axis], terms.diffusion[axis]);
}

/* Returns whether a step can be made as a product of factors. With theta 1/2 and no mixed term, Douglas' scheme is
       (1 - dt A_1 / 2) (1 - dt A_2 / 2) u' = (1 + dt A_1 / 2) (1 + dt A_2 / 2) u,
   and (1 + M) / (1 - M) = 2 / (1 - M) - 1. So, from z = (1 + dt A_2 / 2) u,
       s = z / (1 - dt A_1 / 2),  y = 2 s - z,  u' = y / (1 - dt A_2 / 2),  z' = 2 u' - y = (1 + dt A_2 / 2) u'
   is a step that forms no differences, and z' is what the next one begins with if its length and A_2 are the same. */
TB_HD int adi2d_p_product(const adi2d_problem *problem, const fd_step *step, int time_independent, int not_dominant)
{
    for (int f = 0; f < 4; f++)
        if (problem->face[f / 2][f % 2] != FD_LINEAR) return 0;
    return !adi2d_model_mixed && time_independent && !not_dominant && problem->exercise == FD_EUROPEAN &&
           problem->scheme == FD_DOUGLAS && step->kind == FD_THETA && step->theta > 0.5 - 1e-15 &&
           step->theta < 0.5 + 1e-15;
}

/* Computes the step data of step k; product, open and close follow in later phases. */
TB_HD void adi2d_p_step_data_of(const adi2d_problem *problem, const adi2d_p_tables *t, int k)
{
    adi2d_p_step_data *data = &t->step_data[k];
    const tb_real *time = t->time + 2 * k * ADI2D_P_OF_T;
    if (fd_step_data_of(problem->scheme, &t->step[k], &data->of)) return;
    data->of.time_independent = fd_p_same(ADI2D_P_OF_T, time, time + ADI2D_P_OF_T);
}

/* Returns whether the next step, of a march of products, begins with what step k leaves. */
TB_HD int adi2d_p_continues(const adi2d_p_tables *t, int k)
{
    if (k < 0 || k + 1 >= t->plan->steps || t->step[k].date >= 0) return 0;
    if (!t->step_data[k].product || !t->step_data[k + 1].product || !adi2d_p_as_long(&t->step[k], &t->step[k + 1]))
        return 0;
    return !adi2d_model_y_changes ||
           fd_p_same(ADI2D_P_OF_T, t->time + 2 * k * ADI2D_P_OF_T, t->time + 2 * (k + 1) * ADI2D_P_OF_T);
}

/* Returns fd_p_too_fast of point (i, j) with these terms, for the explicit steps of a march. */
TB_HD int adi2d_p_too_fast(const adi2d_problem *problem, const adi2d_p_tables *t, int i, int j, adi2d_terms terms)
{
    const int index[2] = {i, j};
    fd_p_rate rate = {0, 0};
    if (!(t->plan->longest > 0)) return 0;
    for (int d = 0; d < 2; d++) {
        const int at_face = index[d] == 0 || index[d] == t->plan->points[d] - 1;
        fd_p_rate_add(adi2d_p_row(d, t->cell[d][index[d]], terms), at_face, adi2d_model_mixed, problem->times.maturity,
                      &rate);
    }
    return fd_p_too_fast(t->plan->longest, rate, (double)terms.kill);
}

/* Fills all results of problem `which` of a batch with NaN, by so many threads. */
TB_HD void adi2d_p_fill_nan(const adi2d_batch *batch, int which, int thread, int threads)
{
    const tb_real nan = fd_p_nan();
    const double n = (double)nan;
    const adi2d_values none = {n, n, n, n, n, n};
    const size_t all = (size_t)batch->points[0] * (size_t)batch->points[1];
    adi2d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    for (int date = thread; date <= batch->dates; date += threads) values[date] = none;
    for (size_t at = (size_t)thread; at < all && batch->grid; at += (size_t)threads)
        ((tb_real *)batch->grid)[(size_t)which * all + at] = nan;
    for (int d = 0; d < 2; d++)
        for (int i = thread; i < batch->points[d] && batch->coordinates[d]; i += threads)
            batch->coordinates[d][(size_t)which * (size_t)batch->points[d] + (size_t)i] = n;
}

/* Sets the status to the first of what is wrong with points and steps. */
TB_HD void adi2d_p_points_status(const adi2d_problem *problem, const adi2d_p_tables *t)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    for (int d = 0; d < 2 && !plan->status.what; d++) {
        int fault = plan->fault[ADI2D_P_POINTS + d];
        if (plan->wrong[d])
            plan->status = adi2d_p_status(FD_BAD_AXIS, plan->wrong[d], d, -1, -1, -1);
        else if (fault != FD_P_NONE)
            plan->status = adi2d_p_status(FD_BAD_AXIS, 1 + fault, d, -1, -1, -1);
    }
    if (!plan->status.what && plan->wrong[2])
        plan->status = plan->wrong[2] == FD_NO_ROOM ? adi2d_p_status(FD_TOO_MANY_STEPS, plan->steps, -1, -1, -1, -1)
                                                    : adi2d_p_status(FD_BAD_TIMES, plan->wrong[2], -1, -1, -1, -1);
    for (int d = 0; d < 2 && !plan->status.what; d++)
        if (fd_interpolate(plan->points[d], x[d], problem->spot[d], &plan->at[d]))
            plan->status = adi2d_p_status(FD_BAD_SPOT, 0, d, -1, -1, -1);
}

/* Computes the model's numbers of the axes, and the cells. */
TB_HD void adi2d_p_axis_numbers(const adi2d_problem *problem, const adi2d_model_parameters *parameters,
                                const adi2d_p_tables *t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    double number[ADI2D_P_OF_X + ADI2D_P_OF_Y + FD_P_ROOM];
    for (int d = 0; d < 2; d++) {
        int numbers = d ? ADI2D_P_OF_Y : ADI2D_P_OF_X, points = plan->points[d];
        fd_p_blank(numbers, number);
        for (int i = thread; i < t->padded[d]; i += threads) {
            int last = i < points ? i : points - 1;
            if (d == 0)
                adi2d_model_of_x(parameters, x[0][last], number);
            else
                adi2d_model_of_y(parameters, x[1][last], number);
            for (int q = 0; q < numbers; q++) {
                t->number[d][q * t->padded[d] + i] = (tb_real)number[q];
                if (!trid_finite((tb_real)number[q])) fd_p_least(&plan->fault[ADI2D_P_NUMBERS + d], last);
            }
            if (i < points && fd_cell_at(points, x[d], problem->face[d], i, &t->cell[d][i], t->far_of[d]))
                fd_p_least(&plan->fault[ADI2D_P_POINTS + d], i);
        }
        if (fd_p_written_beyond(numbers, number)) fd_p_least(&plan->fault[ADI2D_P_MORE + d], 0);
    }
}

/* Computes the model's numbers of the steps, and the step data. */
TB_HD void adi2d_p_step_numbers(const adi2d_problem *problem, const adi2d_model_parameters *parameters,
                                const adi2d_p_tables *t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    double number[ADI2D_P_OF_T + FD_P_ROOM];
    fd_p_blank(ADI2D_P_OF_T, number);
    for (int k = thread; k < plan->steps; k += threads) {
        for (int e = 0; e < 2; e++) {
            /* The same time is one call: the compiler might round two calls differently. */
            if (e == 0 || problem->coefficients == FD_BOTH_ENDS)
                adi2d_model_of_t(parameters, fd_coefficient_time(problem->coefficients, &t->step[k], e), number);
            for (int q = 0; q < ADI2D_P_OF_T; q++) {
                t->time[(2 * k + e) * ADI2D_P_OF_T + q] = (tb_real)number[q];
                if (!trid_finite((tb_real)number[q])) fd_p_least(&plan->fault[ADI2D_P_TIME], k);
            }
        }
        adi2d_p_step_data_of(problem, t, k);
    }
    if (fd_p_written_beyond(ADI2D_P_OF_T, number)) fd_p_least(&plan->fault[ADI2D_P_MORE + 2], 0);
}

/* Computes the final values, and finds the largest magnitude that the march is given. */
TB_HD void adi2d_p_given_values(const adi2d_problem *problem, const adi2d_model_parameters *parameters,
                                const adi2d_p_tables *t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    const int lanes = threads < 32 ? 1 : 32; /* that take neighbouring points of a line */
    int given = 0;
    for (int j = thread / lanes; j < plan->points[1]; j += threads / lanes)
        for (int i = thread % lanes; i < plan->points[0]; i += lanes) {
            const int at = i + plan->points[0] * j;
            double value = adi2d_p_final(problem, parameters, x, plan->points, i, j);
            t->final[at] = (tb_real)value, given = fd_p_larger(given, value);
            if (!trid_finite((tb_real)value)) fd_p_least(&plan->fault[ADI2D_P_FINAL], at);
        }
    for (int f = 0; f < 4; f++) {
        const int d = f / 2, kind = problem->face[d][f % 2];
        const double length = kind == FD_SLOPE ? x[d][plan->points[d] - 1] - x[d][0] : 1;
        for (int i = thread; i < plan->points[1 - d] && (kind == FD_VALUE || kind == FD_SLOPE); i += threads)
            given = fd_p_larger(given, length * adi2d_p_face(parameters, d, f % 2, x[1 - d][i], 0));
    }
    fd_p_most(&plan->given, given);
}

/* Counts the rows of the first and the last step that are not diagonally dominant, and finds points that are too fast
   for explicit steps. */
TB_HD void adi2d_p_not_dominant_rows(const adi2d_problem *problem, const adi2d_p_tables *t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const int lanes = threads < 32 ? 1 : 32; /* that take neighbouring points of a line */
    int not_dominant = 0;
    for (int end = 0; end < 2; end++) {
        const int k = end ? plan->steps - 1 : 0;
        const tb_real *time = t->time + (2 * k + 1) * ADI2D_P_OF_T, size = t->step_data[k].of.size;
        for (int j = thread / lanes; j < plan->points[1]; j += threads / lanes)
            for (int i = thread % lanes; i < plan->points[0]; i += lanes) {
                const int index[2] = {i, j};
                const adi2d_terms terms = adi2d_p_terms(t, i, j, time);
                const int too_fast = adi2d_p_too_fast(problem, t, i, j, terms);
                if (too_fast) fd_p_least(&plan->fault[ADI2D_P_FAST], too_fast);
                for (int d = 0; d < 2; d++) {
                    const int first = index[d] == 0, at_face = first || index[d] == plan->points[d] - 1;
                    tb_real a, b, c;
                    if (at_face && problem->face[d][!first] == FD_VALUE) continue;
                    /* A row without couplings of the wrong sign is dominant, whatever rounding says. */
                    if (!adi2d_p_matrix(adi2d_p_row(d, t->cell[d][index[d]], terms), 0, size, terms.kill, &a, &b, &c))
                        not_dominant += !(a <= 0 && c <= 0 && 1 + size * terms.kill / 2 > 0);
                }
            }
    }
    if (not_dominant) fd_p_add(&plan->not_dominant, not_dominant);
}

/* Finds points at which something that the model declares is false. */
TB_HD void adi2d_p_untrue_points(const adi2d_problem *problem, const adi2d_p_tables *t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const int lanes = threads < 32 ? 1 : 32; /* that take neighbouring points of a line */
    for (int j = thread / lanes; j < plan->points[1]; j += threads / lanes) {
        const int n = plan->points[0], from = thread % lanes, few = j % n; /* too few numbers show at any point */
        if (few % lanes == from && adi2d_p_too_few(t, few, j, t->time))
            fd_p_least(&plan->fault[ADI2D_P_UNTRUE], few + n * j);
        for (int look = 0; look < 3; look++) {
            const int k = adi2d_p_checked_step(t, j, look);
            if (k < 0 || !adi2d_p_untrue(problem, t, j, k, from, n, lanes)) continue;
            for (int i = from; i < n; i += lanes)
                if (adi2d_p_untrue(problem, t, j, k, i, i + 1, 1)) fd_p_least(&plan->fault[ADI2D_P_UNTRUE], i + n * j);
        }
    }
}

/* Sets the status to the first of what is wrong with the model's numbers. */
TB_HD void adi2d_p_numbers_status(const adi2d_problem *problem, const adi2d_p_tables *t)
{
    adi2d_p_plan *plan = t->plan;
    const int *fault = plan->fault, none = FD_P_NONE, points = plan->points[0];
    int what = FD_BAD_AXIS, axis = 0;
    for (int d = 1; d >= 0; d--)
        if (fault[ADI2D_P_POINTS + d] != none) axis = d;
    plan->status =
        fault[ADI2D_P_POINTS + axis] != none ? adi2d_p_status(what, 1 + fault[ADI2D_P_POINTS + axis], axis, -1, -1, -1)
        : fault[ADI2D_P_NUMBERS] != none     ? adi2d_p_status(FD_MODEL_NAN, 0, 0, fault[ADI2D_P_NUMBERS], -1, -1)
        : fault[ADI2D_P_NUMBERS + 1] != none ? adi2d_p_status(FD_MODEL_NAN, 0, 1, -1, fault[ADI2D_P_NUMBERS + 1], -1)
        : fault[ADI2D_P_MORE] != none        ? adi2d_p_status(FD_TOO_FEW_NUMBERS, 0, 0, -1, -1, -1)
        : fault[ADI2D_P_MORE + 1] != none    ? adi2d_p_status(FD_TOO_FEW_NUMBERS, 0, 1, -1, -1, -1)
        : fault[ADI2D_P_MORE + 2] != none    ? adi2d_p_status(FD_TOO_FEW_NUMBERS, 0, -1, -1, -1, 0)
        : fault[ADI2D_P_TIME] != none        ? adi2d_p_status(FD_MODEL_NAN, 0, -1, -1, -1, fault[ADI2D_P_TIME])
        : fault[ADI2D_P_FINAL] != none
            ? adi2d_p_status(FD_FINAL_NAN, 0, -1, fault[ADI2D_P_FINAL] % points, fault[ADI2D_P_FINAL] / points, -1)
            : adi2d_p_status(FD_OK, 0, -1, -1, -1, -1);
    if (!plan->status.what && fault[ADI2D_P_UNTRUE] != none)
        plan->status = adi2d_p_untrue_at(problem, t, fault[ADI2D_P_UNTRUE] % points, fault[ADI2D_P_UNTRUE] / points);
    if (!plan->status.what && fault[ADI2D_P_FAST] != none)
        plan->status = adi2d_p_status(FD_UNSTABLE, fd_p_enough(&problem->times, fault[ADI2D_P_FAST]), -1, -1, -1, -1);
}

/* Checks the problem's own numbers, makes its steps, and finds the maps of its axes. */
TB_HD void adi2d_p_begin(const adi2d_batch *batch, const adi2d_problem *problem, const adi2d_p_tables *t, int thread,
                         int threads)
{
    adi2d_p_plan *plan = t->plan;
    if (thread == 0) {
        plan->status = adi2d_p_check(batch, problem);
        plan->points[0] = problem->axis[0].points, plan->points[1] = problem->axis[1].points;
        plan->steps = 0, plan->not_dominant = 0, plan->given = 0;
        for (int f = 0; f < ADI2D_P_FAULTS; f++) plan->fault[f] = FD_P_NONE;
        const fd_times times = fd_times_of(&problem->times, problem->scheme, 2, adi2d_model_mixed);
        plan->wrong[2] = fd_schedule(&times, batch->steps, t->step, &plan->steps);
        plan->longest = plan->wrong[2] ? 0 : fd_p_longest(plan->steps, t->step);
    }
    for (int d = 0; d < 2; d++)
        if (thread == (d + 1) * 32 % threads)
            plan->wrong[d] = problem->points[d] ? FD_OK : fd_axis_map(&problem->axis[d], &plan->map[d]);
}

/* Computes the points of the axes. */
TB_HD void adi2d_p_place_points(const adi2d_problem *problem, const adi2d_p_tables *t, int thread, int threads)
{
    const adi2d_p_plan *plan = t->plan;
    if (plan->wrong[0] || plan->wrong[1] || plan->wrong[2]) return;
    for (int d = 0; d < 2; d++)
        for (int i = thread; i < plan->points[d]; i += threads)
            t->x[d][i] = problem->points[d] ? problem->points[d][i] : fd_map_point(&plan->map[d], i);
}

/* Decides which steps are products, and finds steps that batch.kind does not allow. */
TB_HD void adi2d_p_find_products(const adi2d_batch *batch, const adi2d_problem *problem, const adi2d_p_tables *t,
                                 int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    for (int k = thread; k < plan->steps; k += threads) {
        t->step_data[k].product =
            adi2d_p_product(problem, &t->step[k], t->step_data[k].of.time_independent, plan->not_dominant);
        if ((batch->kind == ADI2D_PRODUCTS && !t->step_data[k].product) ||
            (batch->kind == ADI2D_ONE_STAGE && t->step_data[k].of.stages > 1))
            fd_p_least(&plan->fault[ADI2D_P_KIND], k);
    }
}

/* Sets the status to the first step that batch.kind does not allow. */
TB_HD void adi2d_p_kind_status(const adi2d_batch *batch, const adi2d_p_tables *t)
{
    adi2d_p_plan *plan = t->plan;
    const int step = plan->fault[ADI2D_P_KIND];
    if (step != FD_P_NONE)
        plan->status =
            adi2d_p_status(batch->kind == ADI2D_PRODUCTS ? ADI2D_NO_PRODUCT : ADI2D_TWO_STAGED, 0, -1, -1, -1, step);
    plan->status.not_dominant = plan->not_dominant;
}

/* Prepares a problem, in phases: all threads do one, then a barrier, then the next. A phase does nothing if one before
   found something wrong (plan->status). */
TB_HD void adi2d_p_prepare(const adi2d_batch *batch, const adi2d_problem *problem,
                           const adi2d_model_parameters *parameters, const adi2d_p_tables *t, int phase, int thread,
                           int threads)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    if (phase == 0) {
        adi2d_p_begin(batch, problem, t, thread, threads);
        return;
    }
    if ((phase == 3 || phase == 6 || phase == 9) && thread > 0) return; /* one thread sums up */
    if (plan->status.what) return;
    if (phase == 1) adi2d_p_place_points(problem, t, thread, threads);
    if (phase == 2) {
        if (plan->wrong[0] || plan->wrong[1] || plan->wrong[2]) return;
        for (int d = 0; d < 2; d++)
            for (int i = thread; i < plan->points[d]; i += threads)
                if (!trid_finite_f64(x[d][i]) || (i > 0 && !(x[d][i] > x[d][i - 1])))
                    fd_p_least(&plan->fault[ADI2D_P_POINTS + d], i);
    }
    if (phase == 3) adi2d_p_points_status(problem, t);
    if (phase == 4) {
        adi2d_p_axis_numbers(problem, parameters, t, thread, threads);
        adi2d_p_step_numbers(problem, parameters, t, thread, threads);
        adi2d_p_given_values(problem, parameters, t, thread, threads);
    }
    if (phase == 5) {
        adi2d_p_not_dominant_rows(problem, t, thread, threads);
        adi2d_p_untrue_points(problem, t, thread, threads);
    }
    if (phase == 6) adi2d_p_numbers_status(problem, t);
    if (phase == 7) adi2d_p_find_products(batch, problem, t, thread, threads);
    if (phase == 8)
        for (int k = thread; k < plan->steps; k += threads) {
            t->step_data[k].open = !adi2d_p_continues(t, k - 1);
            t->step_data[k].close = !adi2d_p_continues(t, k);
        }
    if (phase == 9) adi2d_p_kind_status(batch, t);
    if (phase == 10) {
        for (int d = 0; d < 2; d++) {
            const size_t which = (size_t)(problem - batch->problem), points = (size_t)batch->points[d];
            for (int i = thread; i < batch->points[d] && batch->coordinates[d]; i += threads)
                batch->coordinates[d][which * points + (size_t)i] = i < plan->points[d] ? x[d][i] : (double)fd_p_nan();
        }
    }
}

/* Returns what a face adds to F along its axis: what a given slope adds, or the face's third point; next and third are
   the values of the face's neighbours. */
TB_HD tb_real adi2d_p_at_face(const adi2d_problem *problem, const adi2d_p_tables *t, int axis, int side, int i, int j,
                              const tb_real *time, tb_real given, tb_real next, tb_real third)
{
    int kind = problem->face[axis][side];
    if (kind != FD_SLOPE && kind != FD_DEGENERATE) return 0;
    adi2d_terms terms = adi2d_p_terms(t, i, j, time);
    if (kind == FD_SLOPE)
        return fd_lane_source(t->cell[axis][axis ? j : i], terms.drift[axis], terms.diffusion[axis], given);
    return terms.drift[axis] * t->far_of[axis][side] * (third - next);
}

#if TB_DEVICE_SCOPES

/* What a launch is told. */
typedef struct {
    adi2d_batch batch;
    const adi2d_model_parameters *parameters;
    unsigned char *memory;
    size_t bytes;                          /* of a problem */
    int width, parts, each, pitch, arrays; /* pitch: elements between rows; arrays of the grid */
} adi2d_p_launch;

/* Prepares a problem, by a block. */
TB_D void adi2d_p_prepare_block(const adi2d_p_launch *launch)
{
    adi2d_p_tables t;
    const int which = (int)blockIdx.x;
    adi2d_p_lay_out(&launch->batch, launch->memory + (size_t)which * launch->bytes, &t);
    TB_LOOP
    for (int phase = 0; phase < ADI2D_P_PHASES; phase++) {
        adi2d_p_prepare(&launch->batch, &launch->batch.problem[which], &launch->parameters[which], &t, phase,
                        trid_block_thread(), trid_block_threads());
        __syncthreads();
    }
}

#endif /* TB_DEVICE_SCOPES */

#if TB_LAUNCHES

/* Fills the results of a call that is refused, if the batch says where and how many: with bits that are all set, which
   is FD_BAD_ARGUMENT as a status, and NaN elsewhere. Returns cudaErrorInvalidValue. */
template <int = 0>
static inline cudaError_t adi2d_p_refuse(const adi2d_batch *batch, cudaStream_t stream)
{
    if (adi2d_p_sizes(batch) || batch->problems == 0) return cudaErrorInvalidValue;
    const size_t problems = (size_t)batch->problems, n0 = (size_t)batch->points[0], n1 = (size_t)batch->points[1];
    void *const at[5] = {batch->status, batch->values, batch->grid, batch->coordinates[0], batch->coordinates[1]};
    const size_t bytes[5] = {sizeof(fd_status), (size_t)(1 + batch->dates) * sizeof(adi2d_values),
                             n0 * n1 * sizeof(tb_real), n0 * sizeof(double), n1 * sizeof(double)};
    for (int k = 0; k < 5; k++)
        if (at[k] && cudaMemsetAsync(at[k], 255, problems * bytes[k], stream) != cudaSuccess)
            cudaGetLastError(); /* the pointer is not the device's: no later call is to see the error */
    return cudaErrorInvalidValue;
}

template <int threads>
TRID_KERNEL void __launch_bounds__(threads) adi2d_p_prepare_kernel(adi2d_p_launch launch)
{
    adi2d_p_prepare_block(&launch);
}

#endif /* TB_LAUNCHES */
