/* step.h - a room of adi2d.h and adi3d.h, read once for each model and precision: the numbers of a time step, F at a
   point.
   MIT licence, see LICENSE. */

#define fd_p_step FD_OF(p_step)
#define fd_p_step_of FD_OF(p_step_of)
#define fd_p_first FD_OF(p_first)
#define fd_p_mix FD_OF(p_mix)
#define fd_p_own FD_OF(p_own)

/* A time step: its data, and the numbers of time for its start (0) and end (1). */
typedef struct {
    fd_step_data data;
    tb_real time[2][(int)fd_p_numbers_t + 1];
    double from, to;
    int changes; /* whether coefficients or given slopes along any axis may differ between its start and its end */
#if FD_FACTORS == 2
    int product;     /* whether it can be taken as a product of factors (adi2d_p_find_products) */
    int open, close; /* for a product: whether it begins with u, not with the z' (adi2d/step.h) of the step before it;
                        whether it leaves u, not z' (adi2d_p_join_products) */
#endif
} fd_p_step;

/* Returns a step of a problem's march with its numbers. */
TB_HD fd_p_step fd_p_step_of(const fd_problem *problem, const fd_model_parameters *parameters, const fd_step *step)
{
    const int numbers = fd_p_numbers(3);
    fd_p_step s;
    fd_step_data_of(problem->scheme, step, &s.data);
    s.from = step->from, s.to = step->to;
    s.time[0][numbers] = s.time[1][numbers] = 0; /* the array's last element, beyond the numbers of time */
    fd_p_numbers_of_step(problem, parameters, step, numbers + 1, s.time[0]);
    s.data.time_independent = fd_p_same(numbers, s.time[0], s.time[1]);
    s.changes = !s.data.time_independent;
    for (int f = 0; f < 2 * FD_FACTORS; f++) s.changes |= problem->face[f / 2][f % 2] == FD_SLOPE;
#if FD_FACTORS == 2
    s.product = s.open = s.close = 0; /* until adi2d/step.h sets them */
#endif
    return s;
}

/* Returns the first derivative as fd_lane_first does, but from the weights of the two differences: `down` is
   below * (1 - w) of the cell, and `up` is above * w. */
TB_HD tb_real fd_p_first(tb_real down, tb_real up, tb_real low, tb_real here, tb_real high)
{
    return down * (here - low) + up * (high - here);
}

/* Returns the mixed terms, F_0, from the mixed derivatives xy, xz, yz. */
TB_HD tb_real fd_p_mix(const fd_terms *terms, const tb_real *cross)
{
    tb_real sum = 0;
    if (FD_MODEL_MIXED & 1) sum += terms->mixed[0] * cross[0];
    if (FD_MODEL_MIXED & 2) sum += terms->mixed[1] * cross[1];
    if (FD_MODEL_MIXED & 4) sum += terms->mixed[2] * cross[2];
    return sum;
}

/* Returns F_1 + F_2 (+ F_3) at a point, without the faces' terms, from the point's cells and terms, the value there and
   the values of its neighbours along the axes. */
TB_HD tb_real fd_p_own(const fd_cell *cell, const fd_terms *terms, tb_real here, const tb_real *low,
                       const tb_real *high)
{
    const fd_row x = fd_p_row(0, cell[0], *terms), y = fd_p_row(1, cell[1], *terms);
    tb_real sum = fd_lane_apply(x, low[0], here, high[0]) + fd_lane_apply(y, low[1], here, high[1]);
    if (FD_FACTORS > 2) sum += fd_lane_apply(fd_p_row(2, cell[2], *terms), low[2], here, high[2]);
    return sum - terms->kill * here + terms->source;
}
