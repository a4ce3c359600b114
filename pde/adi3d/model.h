/* model.h - a room of adi3d.h, read once a model and precision: what host and device share of a march. Tables of the
   axes, time steps, terms and rows, checks of what the model declares, results.
   MIT licence, see LICENSE. */

#define adi3d_terms TB_OF(adi3d_terms)
#define adi3d_p_face ADI3D_OF(p_face)
#define adi3d_model_parameters ADI3D_MODEL_OF(parameters)
#define adi3d_model_face ADI3D_MODEL_OF(face)
#define adi3d_p_change ADI3D_OF(p_change)
#define adi3d_model_change ADI3D_MODEL_OF(change)
#define adi3d_p_times ADI3D_OF(p_times)
#define adi3d_model_mixed ADI3D_MODEL_OF(mixed)
#define adi3d_p_numbers ADI3D_OF(p_numbers)
#define adi3d_model_numbers_of_x ADI3D_MODEL_OF(numbers_of_x)
#define adi3d_model_numbers_of_y ADI3D_MODEL_OF(numbers_of_y)
#define adi3d_model_numbers_of_z ADI3D_MODEL_OF(numbers_of_z)
#define adi3d_model_numbers_of_t ADI3D_MODEL_OF(numbers_of_t)
#define adi3d_p_numbers_at ADI3D_OF(p_numbers_at)
#define adi3d_model_of_x ADI3D_MODEL_OF(of_x)
#define adi3d_model_of_y ADI3D_MODEL_OF(of_y)
#define adi3d_model_of_z ADI3D_MODEL_OF(of_z)
#define adi3d_model_of_t ADI3D_MODEL_OF(of_t)
#define adi3d_p_independent_axes ADI3D_OF(p_independent_axes)
#define adi3d_p_most ADI3D_OF(p_most)
#define adi3d_p_room ADI3D_OF(p_room)
#define adi3d_p_tables ADI3D_OF(p_tables)
#define adi3d_p_step ADI3D_OF(p_step)
#define adi3d_p_axis_lay_out ADI3D_OF(p_axis_lay_out)
#define adi3d_p_axis_bytes ADI3D_OF(p_axis_bytes)
#define adi3d_p_axis ADI3D_OF(p_axis)
#define adi3d_p_step_of ADI3D_OF(p_step_of)
#define adi3d_model_changes ADI3D_MODEL_OF(changes)
#define adi3d_p_final ADI3D_OF(p_final)
#define adi3d_model_payoff ADI3D_MODEL_OF(payoff)
#define adi3d_p_take ADI3D_OF(p_take)
#define adi3d_p_terms ADI3D_OF(p_terms)
#define adi3d_model_terms ADI3D_OF(terms)
#define adi3d_p_terms_at ADI3D_OF(p_terms_at)
#define adi3d_p_finite ADI3D_OF(p_finite)
#define adi3d_p_row ADI3D_OF(p_row)
#define adi3d_model_fitting ADI3D_MODEL_OF(fitting)
#define adi3d_p_matrix ADI3D_OF(p_matrix)
#define adi3d_p_along ADI3D_OF(p_along)
#define adi3d_p_first ADI3D_OF(p_first)
#define adi3d_p_mix ADI3D_OF(p_mix)
#define adi3d_p_own ADI3D_OF(p_own)
#define adi3d_p_apply ADI3D_OF(p_apply)
#define adi3d_p_adds ADI3D_OF(p_adds)
#define adi3d_p_at_face ADI3D_OF(p_at_face)
#define adi3d_p_face_row ADI3D_OF(p_face_row)
#define adi3d_p_not_dominant_along ADI3D_OF(p_not_dominant_along)
#define adi3d_p_not_dominant ADI3D_OF(p_not_dominant)
#define adi3d_p_terms_beyond ADI3D_OF(p_terms_beyond)
#define adi3d_p_few ADI3D_OF(p_few)
#define adi3d_p_differs ADI3D_OF(p_differs)
#define adi3d_p_untrue ADI3D_OF(p_untrue)
#define adi3d_p_untrue_at ADI3D_OF(p_untrue_at)
#define adi3d_p_too_fast ADI3D_OF(p_too_fast)
#define adi3d_p_values ADI3D_OF(p_values)
#define adi3d_p_largest_given ADI3D_OF(p_largest_given)
#define adi3d_p_coordinates ADI3D_OF(p_coordinates)
#define adi3d_p_fail ADI3D_OF(p_fail)
#define adi3d_p_fail_in ADI3D_OF(p_fail_in)

/* Returns what is given at a face. */
TB_HD double adi3d_p_face(const adi3d_model_parameters *parameters, int axis, int side, const double *at, double t)
{
#ifdef ADI3D_FACE
    return adi3d_model_face(parameters, axis, side, at, t);
#else
    (void)parameters, (void)axis, (void)side, (void)at, (void)t;
    return 0;
#endif
}

/* Returns what a value becomes at a date. */
TB_HD double adi3d_p_change(const adi3d_model_parameters *parameters, int date, const double *at, double value)
{
#ifdef ADI3D_CHANGE
    return adi3d_model_change(parameters, date, at, value);
#else
    (void)parameters, (void)date, (void)at;
    return value;
#endif
}

/* Returns the times of the march. */
TB_HD fd_times adi3d_p_times(const adi3d_problem *problem)
{
    return fd_times_of(&problem->times, problem->scheme, 3, (int)adi3d_model_mixed != 0);
}

/* Returns how many numbers a point of an axis has; axis 3 is time. */
TB_HD int adi3d_p_numbers(int axis)
{
    return axis == 0   ? (int)adi3d_model_numbers_of_x
           : axis == 1 ? (int)adi3d_model_numbers_of_y
           : axis == 2 ? (int)adi3d_model_numbers_of_z
                       : (int)adi3d_model_numbers_of_t;
}

/* Calls the model for these numbers, in double precision. */
TB_HD void adi3d_p_numbers_at(const adi3d_model_parameters *parameters, int axis, double at, double *number)
{
    if (axis == 0) adi3d_model_of_x(parameters, at, number);
    if (axis == 1) adi3d_model_of_y(parameters, at, number);
    if (axis == 2) adi3d_model_of_z(parameters, at, number);
    if (axis == 3) adi3d_model_of_t(parameters, at, number);
}

enum {
#ifdef ADI3D_INDEPENDENT
    adi3d_p_independent_axes = ADI3D_INDEPENDENT,
#else
    adi3d_p_independent_axes = 0,
#endif
    adi3d_p_most = 1 + (int)adi3d_model_numbers_of_x + (int)adi3d_model_numbers_of_y + (int)adi3d_model_numbers_of_z +
                   (int)adi3d_model_numbers_of_t, /* of any axis or of time, and one */
    adi3d_p_room = (int)adi3d_p_most + FD_P_ROOM
};

/* The tables of the axes. Those of one axis are contiguous (adi3d_p_axis_bytes), so that the host makes them in its
   memory and copies them to a device's. Numbers beyond the last point, up to padded, are those of the last. */
typedef struct {
    int n[3], padded[3];
    double *x[3]; /* coordinates */
    fd_cell *cell[3];
    tb_real *far_of[3]; /* fd_cells' */
    tb_real *number[3]; /* number q of point i at [q * padded + i] */
    fd_weights at[3];   /* of the spot */
} adi3d_p_tables;

/* A time step: its data, and the numbers of its start (0) and end (1). It is small, and passed by value. */
typedef struct {
    fd_step_data data;
    tb_real time[2][adi3d_model_numbers_of_t + 1];
    double from, to;
    int changes; /* whether anything along the axes, coefficients or given slopes, differs from its start to its end */
} adi3d_p_step;

/* Lays out an axis' tables in memory; if that is null, only counts. Returns bytes. */
TB_HD size_t adi3d_p_axis_lay_out(int axis, int points, unsigned char *memory, adi3d_p_tables *tables)
{
    const size_t n = (size_t)points, padded = (size_t)adi3d_p_padded(points);
    size_t used = 0, place[4];
    place[0] = used, used += fd_p_round(n * sizeof(double));
    place[1] = used, used += fd_p_round(n * sizeof(fd_cell));
    place[2] = used, used += fd_p_round(2 * sizeof(tb_real));
    place[3] = used, used += fd_p_round(padded * (size_t)adi3d_p_numbers(axis) * sizeof(tb_real));
    if (memory) {
        tables->n[axis] = points, tables->padded[axis] = (int)padded;
        tables->x[axis] = (double *)(memory + place[0]);
        tables->cell[axis] = (fd_cell *)(memory + place[1]);
        tables->far_of[axis] = (tb_real *)(memory + place[2]);
        tables->number[axis] = (tb_real *)(memory + place[3]);
    }
    return used;
}

/* Returns the bytes of an axis' tables. */
TB_HD size_t adi3d_p_axis_bytes(int axis, int points)
{
    return adi3d_p_axis_lay_out(axis, points, NULL, NULL);
}

/* Fills the tables of an axis, which have been laid out. Returns what is FD_OK, FD_BAD_AXIS, FD_BAD_SPOT, FD_MODEL_NAN
   or FD_TOO_FEW_NUMBERS, of the axis. */
TB_HD fd_status adi3d_p_axis(const adi3d_problem *problem, const adi3d_model_parameters *parameters, int axis,
                             adi3d_p_tables *t)
{
    const int n = t->n[axis], padded = t->padded[axis], numbers = adi3d_p_numbers(axis);
    double *x = t->x[axis], number[adi3d_p_room];
    int wrong = problem->points[axis] ? FD_OK : fd_axis_points(&problem->axis[axis], x);
    for (int i = 0; i < n && problem->points[axis]; i++) x[i] = problem->points[axis][i];
    if (!wrong) wrong = fd_cells(n, x, problem->face[axis], t->cell[axis], t->far_of[axis]);
    if (wrong) return fd_status_of(FD_BAD_AXIS, wrong, axis, -1, -1, -1, -1);
    if (fd_interpolate(n, x, problem->spot[axis], &t->at[axis]))
        return fd_status_of(FD_BAD_SPOT, 0, axis, -1, -1, -1, -1);
    fd_p_blank(numbers, number);
    for (int i = 0; i < padded; i++) {
        const int last = i < n ? i : n - 1;
        adi3d_p_numbers_at(parameters, axis, x[last], number);
        for (int q = 0; q < numbers; q++) {
            t->number[axis][q * padded + i] = (tb_real)number[q];
            if (!trid_finite((tb_real)number[q]))
                return fd_status_of(FD_MODEL_NAN, 0, axis, axis == 0 ? last : -1, axis == 1 ? last : -1,
                                    axis == 2 ? last : -1, -1);
        }
    }
    const int beyond = fd_p_written_beyond(numbers, number);
    return fd_status_of(beyond ? FD_TOO_FEW_NUMBERS : FD_OK, 0, beyond ? axis : -1, -1, -1, -1, -1);
}

/* Makes the data of step k. Returns what is FD_OK, or FD_MODEL_NAN or FD_TOO_FEW_NUMBERS in step k. */
TB_HD fd_status adi3d_p_step_of(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                                const fd_step *step, int k, adi3d_p_step *s)
{
    double number[adi3d_p_room];
    fd_p_blank(adi3d_p_numbers(3), number);
    fd_step_data_of(problem->scheme, step, &s->data);
    s->from = step->from, s->to = step->to;
    for (int end = 0; end < 2; end++) {
        /* One call for one time: the compiler might round two calls differently. */
        if (end == 0 || problem->coefficients == FD_BOTH_ENDS)
            adi3d_p_numbers_at(parameters, 3, fd_coefficient_time(problem->coefficients, step, end), number);
        s->time[end][adi3d_model_numbers_of_t] = 0;
        for (int q = 0; q < adi3d_p_numbers(3); q++) {
            s->time[end][q] = (tb_real)number[q];
            if (!trid_finite(s->time[end][q])) return fd_status_of(FD_MODEL_NAN, 0, -1, -1, -1, -1, k);
        }
    }
    if (fd_p_written_beyond(adi3d_p_numbers(3), number)) return fd_status_of(FD_TOO_FEW_NUMBERS, 0, -1, -1, -1, -1, k);
    s->data.time_independent =
        adi3d_model_changes == 0 || fd_p_same(adi3d_p_numbers(3), &s->time[0][0], &s->time[1][0]);
    s->changes = !s->data.time_independent || adi3d_p_slopes(problem);
    return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
}

/* Returns the final value at point (i, j, k). */
TB_HD double adi3d_p_final(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                           const adi3d_p_tables *t, int i, int j, int k)
{
    const double *x[3] = {t->x[0], t->x[1], t->x[2]};
    const int index[3] = {i, j, k};
    return fd_final_as(problem->finals, problem->kinks, problem->kink, 3, x, t->n, index, adi3d_model_payoff,
                       parameters);
}

/* Copies the numbers of point i of an axis from its table. */
TB_HD void adi3d_p_take(const adi3d_p_tables *t, int axis, int i, tb_real *number)
{
    TB_UNROLL
    for (int q = 0; q < adi3d_p_numbers(axis); q++) number[q] = t->number[axis][q * t->padded[axis] + i];
}

/* Returns the terms from the numbers of a point and a time. */
TB_HD adi3d_terms adi3d_p_terms(const tb_real *x, const tb_real *y, const tb_real *z, const tb_real *time)
{
    adi3d_terms terms = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0};
    adi3d_model_terms(x, y, z, time, &terms);
    return terms;
}

/* Returns the terms at point (i, j, k) from the tables, where speed does not matter. */
TB_HD adi3d_terms adi3d_p_terms_at(const adi3d_p_tables *t, int i, int j, int k, const tb_real *time)
{
    tb_real x[adi3d_p_most], y[adi3d_p_most], z[adi3d_p_most];
    adi3d_p_take(t, 0, i, x), adi3d_p_take(t, 1, j, y), adi3d_p_take(t, 2, k, z);
    return adi3d_p_terms(x, y, z, time);
}

/* Returns whether all terms are finite. */
TB_HD int adi3d_p_finite(adi3d_terms terms)
{
    /* A sixteenth of each, so that a sum of finite numbers is finite. */
    double sum = (double)terms.kill / 16;
    for (int d = 0; d < 3; d++)
        sum += (double)terms.drift[d] / 16 + (double)terms.volatility[d] / 16 + (double)terms.beta[d] / 16;
    return trid_finite_f64(sum);
}

/* Returns the row of A along an axis, without kill. */
TB_HD fd_row adi3d_p_row(int axis, fd_cell cell, adi3d_terms terms)
{
    return fd_lane_row(cell, adi3d_model_fitting, terms.drift[axis], terms.volatility[axis] * terms.volatility[axis]);
}

/* Computes the row of 1 - size A along an axis, with a third of the kill; at a face without the couplings that would
   keep it from being dominant. Returns whether it was dominant without that. */
TB_HD int adi3d_p_matrix(int axis, int at_face, fd_cell cell, adi3d_terms terms, tb_real size, tb_real *a, tb_real *b,
                         tb_real *c)
{
    return fd_lane_matrix_at(adi3d_p_row(axis, cell, terms), at_face, size, terms.kill / 3, a, b, c);
}

/* Returns A u along an axis from the three values there, with a third of the kill and without the contributions of
   faces. */
TB_HD tb_real adi3d_p_along(int axis, fd_cell cell, adi3d_terms terms, tb_real low, tb_real here, tb_real high)
{
    return fd_lane_apply(adi3d_p_row(axis, cell, terms), low, here, high) - terms.kill / 3 * here;
}

/* Returns the first derivative as fd_lane_first does, from the factors of the two differences, which are the same for a
   whole cell. */
TB_HD tb_real adi3d_p_first(tb_real down, tb_real up, tb_real low, tb_real here, tb_real high)
{
    return down * (here - low) + up * (high - here);
}

/* Returns the mixed terms, F_0, from the mixed derivatives xy, xz, yz. */
TB_HD tb_real adi3d_p_mix(const adi3d_terms *terms, const tb_real *cross)
{
    const tb_real *s = terms->volatility;
    tb_real sum = 0;
    if ((int)adi3d_model_mixed & 1) sum += terms->beta[0] * s[0] * s[1] * cross[0];
    if ((int)adi3d_model_mixed & 2) sum += terms->beta[1] * s[0] * s[2] * cross[1];
    if ((int)adi3d_model_mixed & 4) sum += terms->beta[2] * s[1] * s[2] * cross[2];
    return sum;
}

/* Returns F_1 + F_2 + F_3 at a point, from its cells, its terms, the value there and its neighbours along the axes,
   without the contributions of faces. */
TB_HD tb_real adi3d_p_own(const fd_cell *cell, const adi3d_terms *terms, tb_real here, const tb_real *low,
                          const tb_real *high)
{
    const fd_row x = adi3d_p_row(0, cell[0], *terms), y = adi3d_p_row(1, cell[1], *terms);
    const fd_row z = adi3d_p_row(2, cell[2], *terms);
    return fd_lane_apply(x, low[0], here, high[0]) + fd_lane_apply(y, low[1], here, high[1]) +
           fd_lane_apply(z, low[2], here, high[2]) - terms->kill * here;
}

/* Returns mixed F_0 + own (F_1 + F_2 + F_3) at a point, without the contributions of faces. The value at (i, j, k) of
   -1 .. 1 around it is v[13 + i + 3 j + 9 k]; the eight corners are not read. adi3d_p_host_mixed and the sweep along x
   in device_x.h compute the mixed terms of many points at once.
   Cost     19 values; some 50 operations for the mixed terms and 25 for the others */
TB_HD tb_real adi3d_p_apply(const fd_cell *cell, const adi3d_terms *terms, tb_real mixed, tb_real own, const tb_real *v)
{
    const tb_real before[3] = {v[12], v[10], v[4]}, after[3] = {v[14], v[16], v[22]};
    const tb_real sum = own * adi3d_p_own(cell, terms, v[13], before, after);
    tb_real down[3], up[3], cross[3] = {0, 0, 0};
    if (adi3d_model_mixed == 0) return sum;
    TB_UNROLL
    for (int d = 0; d < 3; d++) down[d] = cell[d].below * (1 - cell[d].w), up[d] = cell[d].above * cell[d].w;
    /* Differences of slopes along x and y, which are those of the middle of each plane and row. */
    if ((int)adi3d_model_mixed & 4) {
        tb_real low = adi3d_p_first(down[1], up[1], v[1], v[4], v[7]);
        tb_real here = adi3d_p_first(down[1], up[1], v[10], v[13], v[16]);
        tb_real high = adi3d_p_first(down[1], up[1], v[19], v[22], v[25]);
        cross[2] = adi3d_p_first(down[2], up[2], low, here, high);
    }
    tb_real here = adi3d_p_first(down[0], up[0], v[12], v[13], v[14]);
    if ((int)adi3d_model_mixed & 2) {
        tb_real low = adi3d_p_first(down[0], up[0], v[3], v[4], v[5]);
        tb_real high = adi3d_p_first(down[0], up[0], v[21], v[22], v[23]);
        cross[1] = adi3d_p_first(down[2], up[2], low, here, high);
    }
    if ((int)adi3d_model_mixed & 1) {
        tb_real low = adi3d_p_first(down[0], up[0], v[9], v[10], v[11]);
        tb_real high = adi3d_p_first(down[0], up[0], v[15], v[16], v[17]);
        cross[0] = adi3d_p_first(down[1], up[1], low, here, high);
    }
    return sum + mixed * adi3d_p_mix(terms, cross);
}

/* Returns whether a face contributes to F. */
TB_HD int adi3d_p_adds(const adi3d_problem *problem, int axis, int side)
{
    const int kind = problem->face[axis][side];
    return kind == FD_SLOPE || kind == FD_DEGENERATE;
}

/* Returns what a face contributes to F along its axis at point (i, j, k) of it: a slope given at time `when`, or the
   face's third point. next and third are the values of its neighbour and one further in; `time` has the numbers of the
   coefficients' time. */
TB_HD tb_real adi3d_p_at_face(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                              const adi3d_p_tables *t, int axis, int side, int i, int j, int k, const tb_real *time,
                              double when, tb_real next, tb_real third)
{
    const int kind = problem->face[axis][side];
    if (kind != FD_SLOPE && kind != FD_DEGENERATE) return 0;
    const adi3d_terms terms = adi3d_p_terms_at(t, i, j, k, time);
    if (kind == FD_DEGENERATE) return terms.drift[axis] * t->far_of[axis][side] * (third - next);
    const double at[3] = {t->x[0][i], t->x[1][j], t->x[2][k]};
    const tb_real slope = (tb_real)adi3d_p_face(parameters, axis, side, at, when);
    return fd_lane_source(t->cell[axis][side ? t->n[axis] - 1 : 0], terms.drift[axis],
                          terms.volatility[axis] * terms.volatility[axis], slope);
}

/* Computes the boundary row of a face and its right-hand side, at a point of it with these terms. `neighbour` are the
   terms of the next point of the line, whose right-hand side is near_by. The solution is the difference from w; `when`
   is the end of the step. row: a, b, c; a of the first face and c of the last have no meaning. */
TB_HD void adi3d_p_face_row(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                            const adi3d_p_tables *t, int axis, int side, const double *at, double when, tb_real size,
                            adi3d_terms terms, adi3d_terms neighbour, tb_real near_by, tb_real w, tb_real *row,
                            tb_real *right)
{
    const int kind = problem->face[axis][side], last = t->n[axis] - 1;
    if (kind == FD_VALUE) {
        row[0] = row[2] = 0, row[1] = 1;
        *right = (tb_real)adi3d_p_face(parameters, axis, side, at, when) - w;
        return;
    }
    adi3d_p_matrix(axis, 1, t->cell[axis][side ? last : 0], terms, size, &row[0], &row[1], &row[2]);
    if (kind == FD_DEGENERATE) {
        tb_real next[3];
        adi3d_p_matrix(axis, 0, t->cell[axis][side ? last - 1 : 1], neighbour, size, &next[0], &next[1], &next[2]);
        const tb_real third = size * terms.drift[axis] * t->far_of[axis][side];
        *right -= near_by * fd_lane_face_three(third, &row[1], &row[side ? 0 : 2], next[side ? 2 : 0], next[1],
                                               next[side ? 0 : 2]);
    }
}

/* Returns whether the row along an axis with these terms is not diagonally dominant. A row without couplings of the
   wrong sign is, whatever rounding says. */
TB_HD int adi3d_p_not_dominant_along(int axis, fd_cell cell, adi3d_terms terms, tb_real size)
{
    tb_real a, b, c;
    const int dominant = adi3d_p_matrix(axis, 0, cell, terms, size, &a, &b, &c);
    return !dominant & !((a <= 0) & (c <= 0) & (1 + size * terms.kill / 3 > 0));
}

/* Returns how many of the three rows of a point are not dominant in a step. A face whose value is given has no
   couplings in its cell, so none is found there. */
TB_HD int adi3d_p_not_dominant(const adi3d_p_tables *t, int i, int j, int k, const adi3d_p_step *step)
{
    const int index[3] = {i, j, k};
    const adi3d_terms terms = adi3d_p_terms_at(t, i, j, k, step->time[1]);
    int not_dominant = 0;
    for (int d = 0; d < 3; d++)
        not_dominant += adi3d_p_not_dominant_along(d, t->cell[d][index[d]], terms, step->data.size);
    return not_dominant;
}

/* Returns the terms at point (i, j, k) and a time, with undeclared numbers set to 1, or to 2 for the axes, and for time
   (bit 3), whose bits are in twos. */
TB_HD adi3d_terms adi3d_p_terms_beyond(const adi3d_p_tables *t, int i, int j, int k, const tb_real *time, int twos)
{
    const int index[3] = {i, j, k};
    tb_real number[4][adi3d_p_room];
    for (int d = 0; d < 4; d++) {
        const int declared = adi3d_p_numbers(d);
        for (int q = 0; q < FD_P_ROOM; q++) number[d][declared + q] = (tb_real)(1 + (twos >> d & 1));
        for (int q = 0; q < declared; q++) number[d][q] = d < 3 ? t->number[d][q * t->padded[d] + index[d]] : time[q];
    }
    return adi3d_p_terms(number[0], number[1], number[2], number[3]);
}

/* Returns of which axes, or of time, the terms read more numbers than are declared: FD_P_FEW and its multiples. */
TB_HD int adi3d_p_few(const adi3d_p_tables *t, int i, int j, int k, const tb_real *time)
{
    enum { numbers = sizeof(adi3d_terms) / sizeof(tb_real), all = 15 };
    tb_real ones[numbers], twos[numbers];
    int few = 0;
    adi3d_terms terms = adi3d_p_terms_beyond(t, i, j, k, time, 0);
    memcpy(ones, &terms, sizeof ones);
    for (int which = all; which > 0; which = which == all ? 8 : which / 2) {
        terms = adi3d_p_terms_beyond(t, i, j, k, time, which);
        memcpy(twos, &terms, sizeof twos);
        const int same = fd_p_same(numbers, ones, twos);
        if (which == all && same) return 0;
        if (which != all && !same) few |= FD_P_FEW * which;
    }
    return few;
}

/* Returns whether the terms along an axis, or the kill, differ. */
TB_HD int adi3d_p_differs(int axis, adi3d_terms one, adi3d_terms other)
{
    return fd_p_differ(one.drift[axis], other.drift[axis]) | fd_p_differ(one.volatility[axis], other.volatility[axis]) |
           fd_p_differ(one.kill, other.kill);
}

/* Checks the terms at a point in a step: which declarations of the model do not hold there (FD_MIXED_UNDECLARED and its
   like), and whether the problem is ill-posed (FD_ILL_POSED). Returns a sum of pde/fd.h's bits for these. first has the
   numbers of the axes' first points; changes says whether those of time change. */
TB_HD int adi3d_p_untrue(const tb_real *x, const tb_real *y, const tb_real *z, tb_real (*first)[adi3d_p_room],
                         const tb_real *start, const tb_real *end, int changes)
{
    const adi3d_terms here = adi3d_p_terms(x, y, z, end);
    int untrue = 0, differs = 0, diffuses[3];
    tb_real rho[3];
    for (int d = 0; d < 3; d++) diffuses[d] = (here.volatility[d] < 0) | (here.volatility[d] > 0);
    for (int p = 0; p < 3; p++) {
        rho[p] = diffuses[p == 2] & diffuses[1 + (p > 0)] ? here.beta[p] / 2 : 0; /* 12, 13, 23 */
        if (!((int)adi3d_model_mixed >> p & 1)) untrue |= ((rho[p] < 0) | (rho[p] > 0)) * (FD_P_MIXED << p);
    }
    untrue |= fd_p_ill_posed_in_three(rho) * FD_P_ILL_POSED;
    if (adi3d_model_changes == 0 && changes) {
        const adi3d_terms before = adi3d_p_terms(x, y, z, start);
        for (int d = 0; d < 3; d++)
            differs |= adi3d_p_differs(d, here, before) | fd_p_differ(here.beta[d], before.beta[d]);
        untrue |= differs * FD_P_CHANGES;
    }
    for (int d = 0; d < 3; d++) {
        if (!((int)adi3d_p_independent_axes >> d & 1)) continue;
        const adi3d_terms line =
            adi3d_p_terms(d == 0 ? x : first[0], d == 1 ? y : first[1], d == 2 ? z : first[2], end);
        untrue |= adi3d_p_differs(d, here, line) * (FD_P_NOT_INDEPENDENT << d);
    }
    return untrue;
}

/* Returns the same at point (i, j, k), with FD_P_OUTWARD, and at one point of each row whether the terms read more
   numbers than are declared. Points whose values are given are checked for nothing else. */
TB_HD int adi3d_p_untrue_at(const adi3d_problem *problem, const adi3d_p_tables *t, int i, int j, int k,
                            const adi3d_p_step *step)
{
    const int index[3] = {i, j, k};
    tb_real number[3][adi3d_p_room], first[3][adi3d_p_room];
    tb_real start[adi3d_p_room], end[adi3d_p_room];
    const int few = i == (j + k) % t->n[0] ? adi3d_p_few(t, i, j, k, step->time[1]) : 0;
    const int changes = !fd_p_same(adi3d_p_numbers(3), &step->time[0][0], &step->time[1][0]);
    for (int d = 0; d < 3; d++) {
        if (adi3d_p_given(problem, d, index[d])) return few;
        adi3d_p_take(t, d, index[d], number[d]), adi3d_p_take(t, d, 0, first[d]);
    }
    for (int q = 0; q < adi3d_p_numbers(3); q++) start[q] = step->time[0][q], end[q] = step->time[1][q];
    const adi3d_terms terms = adi3d_p_terms(number[0], number[1], number[2], end);
    return few | adi3d_p_untrue(number[0], number[1], number[2], first, start, end, changes) |
           fd_p_outward(3, problem->face, t->x, index, t->n, terms.drift, problem->times.maturity);
}

/* Returns whether the longest explicit step is too long for a point, as fd_p_too_fast does. With more than one mixed
   term the fastest wave exceeds those along the axes, by a factor of 9/8 at most. */
TB_HD int adi3d_p_too_fast(const adi3d_problem *problem, const adi3d_p_tables *t, double longest, int i, int j, int k,
                           const adi3d_p_step *step)
{
    const int index[3] = {i, j, k}, mixed = adi3d_model_mixed;
    fd_p_rate rate = {0, 0};
    if (!(longest > 0)) return 0;
    const adi3d_terms terms = adi3d_p_terms_at(t, i, j, k, step->time[1]);
    for (int d = 0; d < 3; d++) {
        const int at_face = index[d] == 0 || index[d] == t->n[d] - 1;
        fd_p_rate_add(adi3d_p_row(d, t->cell[d][index[d]], terms), at_face, mixed, 1.5 * problem->times.maturity,
                      &rate);
    }
    if (mixed & (mixed - 1)) rate.couplings *= 1.125;
    return fd_p_too_fast(longest, rate, (double)terms.kill);
}

/* Returns value and derivatives at the spot, from the 4 x 4 x 4 values around it, x first, then y; the first one is at
   (at[0].first, at[1].first, at[2].first). */
TB_HD adi3d_values adi3d_p_values(const fd_weights *at, const tb_real *around)
{
    /* The order of the derivative along each axis. */
    const int order[10][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                              {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    const long long stride[3] = {1, 4, 16};
    double sum[10];
    for (int m = 0; m < 10; m++) {
        const double *weight[3];
        for (int d = 0; d < 3; d++)
            weight[d] = order[m][d] == 0 ? at[d].value : order[m][d] == 1 ? at[d].slope : at[d].curvature;
        sum[m] = fd_lane_value(3, weight, around, stride);
    }
    adi3d_values values = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7], sum[8], sum[9]};
    return values;
}

/* Returns the larger of `most` and the magnitude of what point (i, j, k) is given: its final value, and at a face the
   value given at time 0, or the slope times the length of the axis. */
TB_HD int adi3d_p_largest_given(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                                const adi3d_p_tables *t, int i, int j, int k, tb_real value, int most)
{
    const int index[3] = {i, j, k};
    const double at[3] = {t->x[0][i], t->x[1][j], t->x[2][k]};
    for (int d = 0; d < 3; d++) {
        const int last = index[d] == t->n[d] - 1, kind = problem->face[d][last];
        if ((index[d] > 0 && !last) || (kind != FD_VALUE && kind != FD_SLOPE)) continue;
        const double length = kind == FD_SLOPE ? t->x[d][t->n[d] - 1] - t->x[d][0] : 1;
        most = fd_p_larger(most, length * adi3d_p_face(parameters, d, last, at, 0));
    }
    return fd_p_larger(most, (double)value);
}

/* Copies the axes' points to `coordinates`, by so many threads: room[d] numbers, NaN beyond the last point. */
TB_HD void adi3d_p_coordinates(const adi3d_p_tables *t, const int *room, double *const *coordinates, int thread,
                               int threads)
{
    for (int d = 0; d < 3; d++)
        for (int i = thread; i < room[d] && coordinates[d]; i += threads)
            coordinates[d][i] = i < t->n[d] ? t->x[d][i] : (double)fd_p_nan();
}

/* Writes NaN where the results of a problem would be. Where its sizes are impossible, grid and coordinates stay. */
TB_HD void adi3d_p_fail(const adi3d_problem *problem, const adi3d_result *result)
{
    const tb_real nan = fd_p_nan();
    const double n = (double)nan;
    const adi3d_values none = {n, n, n, n, n, n, n, n, n, n};
    const int dates = problem->times.dates > 0 && problem->times.dates <= FD_P_MOST ? problem->times.dates : 0;
    int sized = 1;
    for (int d = 0; d < 3; d++) sized &= problem->axis[d].points >= 4 && problem->axis[d].points <= ADI3D_MOST;
    for (int date = 0; date <= dates && result->values; date++) result->values[date] = none;
    for (size_t at = 0; at < adi3d_p_points(problem) && result->grid && sized; at++)
        ((tb_real *)result->grid)[at] = nan;
    for (int d = 0; d < 3 && sized; d++)
        for (int i = 0; i < problem->axis[d].points && result->coordinates[d]; i++) result->coordinates[d][i] = n;
}

/* Writes NaN where the results of problem `which` of a batch would be, by so many threads. */
TB_HD void adi3d_p_fail_in(const adi3d_batch *batch, int which, int thread, int threads)
{
    const tb_real nan = fd_p_nan();
    const double n = (double)nan;
    const adi3d_values none = {n, n, n, n, n, n, n, n, n, n};
    const int all = batch->points[0] * batch->points[1] * batch->points[2];
    adi3d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    for (int date = thread; date <= batch->dates; date += threads) values[date] = none;
    for (int at = thread; at < all && batch->grid; at += threads)
        ((tb_real *)batch->grid)[(size_t)which * (size_t)all + (size_t)at] = nan;
    for (int d = 0; d < 3; d++)
        for (int i = thread; i < batch->points[d] && batch->coordinates[d]; i += threads)
            batch->coordinates[d][(size_t)which * (size_t)batch->points[d] + (size_t)i] = n;
}
