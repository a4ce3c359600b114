/* step.h - a room of adi3d.h, read once a model and precision: what host and device share: a time step as numbers, F at
   a point.
   MIT licence, see LICENSE. */

#define adi3d_p_step FD_OF(p_3d_step)
#define adi3d_p_step_of FD_OF(p_3d_step_of)
#define adi3d_p_first FD_OF(p_3d_first)
#define adi3d_p_mix FD_OF(p_3d_mix)
#define adi3d_p_own FD_OF(p_3d_own)
#define adi3d_p_apply FD_OF(p_3d_apply)

/* A time step: its data, and the numbers of time at its start (0) and end (1). It is small, and passed by value. */
typedef struct {
    fd_step_data data;
    tb_real time[2][(int)fd_p_numbers_t + 1];
    double from, to;
    int changes; /* whether anything along the axes, coefficients or given slopes, differs from its start to its end */
} adi3d_p_step;

/* Returns a step of a problem's march as numbers. */
TB_HD adi3d_p_step adi3d_p_step_of(const fd_problem *problem, const fd_model_parameters *parameters,
                                   const fd_step *step)
{
    const int numbers = fd_p_numbers(3);
    double number[fd_p_most_numbers] = {0};
    adi3d_p_step s;
    fd_step_data_of(problem->scheme, step, &s.data);
    s.from = step->from, s.to = step->to;
    for (int end = 0; end < 2; end++) {
        /* One call for one time: the compiler might round two calls differently. */
        if (end == 0 || problem->coefficients == FD_BOTH_ENDS)
            fd_p_numbers_at(parameters, 3, fd_coefficient_time(problem->coefficients, step, end), number);
        for (int q = 0; q <= numbers; q++) s.time[end][q] = q < numbers ? (tb_real)number[q] : 0;
    }
    s.data.time_independent = fd_p_same(numbers, s.time[0], s.time[1]);
    s.changes = !s.data.time_independent || adi3d_p_slopes(problem);
    return s;
}

/* Returns the first derivative as fd_lane_first does, from the factors of the two differences, which are the same for a
   whole cell. */
TB_HD tb_real adi3d_p_first(tb_real down, tb_real up, tb_real low, tb_real here, tb_real high)
{
    return down * (here - low) + up * (high - here);
}

/* Returns the mixed terms, F_0, from the mixed derivatives xy, xz, yz. */
TB_HD tb_real adi3d_p_mix(const fd_terms *terms, const tb_real *cross)
{
    tb_real sum = 0;
    if (FD_MODEL_MIXED & 1) sum += terms->mixed[0] * cross[0];
    if (FD_MODEL_MIXED & 2) sum += terms->mixed[1] * cross[1];
    if (FD_MODEL_MIXED & 4) sum += terms->mixed[2] * cross[2];
    return sum;
}

/* Returns F_1 + F_2 + F_3 at a point, from its cells, its terms, the value there and its neighbours along the axes,
   without what faces add. */
TB_HD tb_real adi3d_p_own(const fd_cell *cell, const fd_terms *terms, tb_real here, const tb_real *low,
                          const tb_real *high)
{
    const fd_row x = fd_p_row(0, cell[0], *terms), y = fd_p_row(1, cell[1], *terms), z = fd_p_row(2, cell[2], *terms);
    return fd_lane_apply(x, low[0], here, high[0]) + fd_lane_apply(y, low[1], here, high[1]) +
           fd_lane_apply(z, low[2], here, high[2]) - terms->kill * here + terms->source;
}

/* Returns mixed F_0 + own (F_1 + F_2 + F_3) at a point, without what faces add. The value at (i, j, k) of -1 .. 1
   around it is v[13 + i + 3 j + 9 k]; the eight corners are not read. adi3d_p_host_mixed and the march along x in
   device_x.h compute the mixed terms of many points at once.
   Cost     19 values; some 50 operations for the mixed terms and 25 for the others */
TB_HD tb_real adi3d_p_apply(const fd_cell *cell, const fd_terms *terms, tb_real mixed, tb_real own, const tb_real *v)
{
    const tb_real before[3] = {v[12], v[10], v[4]}, after[3] = {v[14], v[16], v[22]};
    const tb_real sum = own * adi3d_p_own(cell, terms, v[13], before, after);
    tb_real down[3], up[3], cross[3] = {0, 0, 0};
    if (!FD_MODEL_MIXED) return sum;
    TB_UNROLL
    for (int d = 0; d < 3; d++) down[d] = cell[d].below * (1 - cell[d].w), up[d] = cell[d].above * cell[d].w;
    /* Differences of slopes along x and y, which are those of the middle of each plane and row. */
    if (FD_MODEL_MIXED & 4) {
        tb_real low = adi3d_p_first(down[1], up[1], v[1], v[4], v[7]);
        tb_real here = adi3d_p_first(down[1], up[1], v[10], v[13], v[16]);
        tb_real high = adi3d_p_first(down[1], up[1], v[19], v[22], v[25]);
        cross[2] = adi3d_p_first(down[2], up[2], low, here, high);
    }
    tb_real here = adi3d_p_first(down[0], up[0], v[12], v[13], v[14]);
    if (FD_MODEL_MIXED & 2) {
        tb_real low = adi3d_p_first(down[0], up[0], v[3], v[4], v[5]);
        tb_real high = adi3d_p_first(down[0], up[0], v[21], v[22], v[23]);
        cross[1] = adi3d_p_first(down[2], up[2], low, here, high);
    }
    if (FD_MODEL_MIXED & 1) {
        tb_real low = adi3d_p_first(down[0], up[0], v[9], v[10], v[11]);
        tb_real high = adi3d_p_first(down[0], up[0], v[15], v[16], v[17]);
        cross[0] = adi3d_p_first(down[1], up[1], low, here, high);
    }
    return sum + mixed * adi3d_p_mix(terms, cross);
}
