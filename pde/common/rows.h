/* rows.h - a room of the solvers in pde/, read once for each model and precision: rows of the matrices, terms of
   faces, and events between steps.
   MIT licence, see LICENSE. */

#define fd_p_matrix FD_OF(p_matrix)
#define fd_p_along_axis FD_OF(p_along_axis)
#define fd_p_edge FD_OF(p_edge)
#define fd_p_edge_given FD_OF(p_edge_given)
#define fd_p_edge_adds FD_OF(p_edge_adds)
#define fd_p_edge_row FD_OF(p_edge_row)
#define fd_p_pays FD_OF(p_pays)
#define fd_p_shift_of FD_OF(p_shift_of)
#define fd_p_interpolated FD_OF(p_interpolated)
#define fd_p_shifted_to FD_OF(p_shifted_to)
#define fd_p_changed FD_OF(p_changed)

/* In this room each axis takes an equal share of kill and source. */

/* Computes the row of 1 - size A along an axis; at a face it omits couplings that would prevent dominance. Returns
   whether the row was dominant with all couplings. */
TB_HD int fd_p_matrix(int axis, int at_face, fd_cell cell, fd_terms terms, tb_real size, tb_real *a, tb_real *b,
                      tb_real *c)
{
    return fd_lane_matrix_at(fd_p_row(axis, cell, terms), at_face, size, terms.kill / FD_FACTORS, a, b, c);
}

/* Returns F along an axis at a point, without the faces' terms, from the values below, at and above the point. */
TB_HD tb_real fd_p_along_axis(int axis, fd_cell cell, fd_terms terms, tb_real low, tb_real here, tb_real high)
{
    return fd_lane_apply(fd_p_row(axis, cell, terms), low, here, high) - terms.kill / FD_FACTORS * here +
           terms.source / FD_FACTORS;
}

/* A point of a face, the face's kind, and a time (`when`) with its numbers. */
typedef struct {
    int axis, side, kind, index[3];
    const tb_real *time;
    double when;
} fd_p_edge;

/* Returns the value or slope given at a point of a face; 0 if the face gives neither. */
TB_HD tb_real fd_p_edge_given(const fd_p_tables *t, const fd_p_edge *e)
{
    double at[FD_FACTORS];
    if (e->kind != FD_VALUE && e->kind != FD_SLOPE) return 0;
    for (int d = 0; d < FD_FACTORS; d++) at[d] = t->x[d][e->index[d]];
    return (tb_real)fd_p_face(t->parameters, e->axis, e->side, at, e->when);
}

/* Returns the term that a face adds to F along its axis: an FD_SLOPE face that of the slope `given`, an FD_DEGENERATE
   face that of the third point. `next` and `third` are the values at the face's neighbour and at the point beyond. */
TB_HD tb_real fd_p_edge_adds(const fd_p_tables *t, const fd_p_edge *e, tb_real given, tb_real next, tb_real third)
{
    const int axis = e->axis;
    const fd_terms terms = fd_p_terms_here(t, e->index, e->time);
    if (e->kind == FD_SLOPE)
        return fd_lane_source(t->cell[axis][e->index[axis]], terms.drift[axis], terms.diffusion[axis], given);
    return terms.drift[axis] * t->far_of[axis][e->side] * (third - next);
}

/* Computes the boundary row at a point of a face, and updates its right-hand side, *right. near_by is the neighbour's
   right-hand side; the solution is the difference from w.
   Leaves   row: a, b, c, where a of an axis's first point and c of its last have no meaning; *right
   Returns  whether the row with all couplings would not be dominant, or its third point was omitted */
TB_HD int fd_p_edge_row(const fd_p_tables *t, const fd_p_edge *e, tb_real size, tb_real near_by, tb_real w,
                        tb_real *row, tb_real *right)
{
    const int axis = e->axis, side = e->side, at = e->index[axis], next = at + (side ? -1 : 1);
    if (e->kind == FD_VALUE) {
        row[0] = row[2] = 0, row[1] = 1;
        *right = fd_p_edge_given(t, e) - w;
        return 0;
    }
    const fd_terms terms = fd_p_terms_here(t, e->index, e->time);
    const int lags = !fd_p_matrix(axis, 1, t->cell[axis][at], terms, size, &row[0], &row[1], &row[2]);
    if (e->kind != FD_DEGENERATE) return lags;
    int beside[3];
    tb_real other[3];
    for (int d = 0; d < 3; d++) beside[d] = d == axis ? next : e->index[d];
    fd_p_matrix(axis, 0, t->cell[axis][next], fd_p_terms_here(t, beside, e->time), size, &other[0], &other[1],
                &other[2]);
    const tb_real third = size * terms.drift[axis] * t->far_of[axis][side];
    const tb_real m =
        fd_lane_face_three(third, &row[1], &row[side ? 0 : 2], other[side ? 2 : 0], other[1], other[side ? 0 : 2]);
    *right -= near_by * m;
    return lags | ((third < 0 || third > 0) && !(m < 0));
}

/* Returns the payoff of exercise at a point at time `when`; `final` is the final value there. */
TB_HD tb_real fd_p_pays(const fd_p_tables *t, const int *index, double when, tb_real final)
{
    double at[FD_FACTORS];
    for (int d = 0; d < FD_FACTORS; d++) at[d] = t->x[d][index[d]];
    return fd_p_exercise(t->parameters, at, when, final);
}

/* Finds the four points of a line from which a date's shift interpolates the value at a point.
   Returns  the line's axis; -1 if the value stays */
TB_HD int fd_p_shift_of(const fd_p_tables *t, const fd_date *event, const int *index, fd_weights *from)
{
    const int axis = fd_p_shift_axis(event);
    if (axis < 0) return -1;
    const int n = t->found->points[axis];
    const double *x = t->x[axis];
    return fd_interpolate(n, x, fd_shifted(event, x[index[axis]], x[0], x[n - 1]), from) ? -1 : axis;
}

/* Returns the value at a point after a shift, from the value there and those of the four points. It is formed from
   differences: where all these values are equal, the result equals them to the bit, so rounding moves no value off its
   payoff. */
TB_HD tb_real fd_p_interpolated(const fd_weights *from, tb_real here, const tb_real *four)
{
    double sum = (double)here;
    for (int m = 0; m < 4; m++) sum += from->value[m] * ((double)four[m] - (double)here);
    return (tb_real)sum;
}

/* Returns the value at a point after a date's shift. `here` is the point's element in the grid of values before the
   shift, and stride[d] is the distance to the next point along axis d. */
TB_HD tb_real fd_p_shifted_to(const fd_p_tables *t, const fd_date *event, const int *index, const tb_real *here,
                              const long long *stride)
{
    fd_weights from;
    const int axis = fd_p_shift_of(t, event, index, &from);
    tb_real four[4];
    for (int m = 0; m < 4 && axis >= 0; m++) four[m] = here[(from.first + m - index[axis]) * stride[axis]];
    return axis < 0 ? *here : fd_p_interpolated(&from, *here, four);
}

/* Returns the value at a point after a date, from the value after the date's shift. Raises *given to the amount that
   the date's change adds, if that is larger (fd_p_larger). */
FD_P_CALLED tb_real fd_p_changed(const fd_p_tables *t, int date, double when, const int *index, tb_real value,
                                 tb_real final, tb_real *multiplier, int *given)
{
    const fd_date *event = fd_p_event(t->problem, date);
    double at[FD_FACTORS];
    for (int d = 0; d < FD_FACTORS; d++) at[d] = t->x[d][index[d]];
    if (event->what & FD_CHANGE_VALUES) {
        const double before = (double)value, after = fd_p_change(t->parameters, date, at, before);
        value = (tb_real)after, *given = fd_p_larger(*given, fd_p_added(before, after));
    }
    return fd_lane_at_date(event->what, t->problem->exercise, fd_p_exercise(t->parameters, at, when, final), value,
                           multiplier);
}
