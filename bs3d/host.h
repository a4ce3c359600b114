/* host.h - a room of bs3d.h: the reference on the host. MIT licence, see LICENSE. */

/* Returns how many bytes `work` must have in the host functions; 0 for a null pointer or points outside 4 .. 1024. */
TB_HOST size_t bs3d_host_bytes(const bs3d_problem *o)
{
    if (!o || !bs3d_p_sized(o, 1)) return 0;
    return (2 * bs3d_p_cells(o->points) + 9 * 1024) * sizeof(tb_real);
}

/* Sets u to the payoff or, if `later` is set, to the larger of u and the payoff. */
TB_HOST void bs3d_p_host_payoff(const bs3d_problem *o, int later, tb_real *u)
{
    size_t at = 0;
    for (int k = 0; k < o->points[2]; k++)
        for (int j = 0; j < o->points[1]; j++)
            for (int i = 0; i < bs3d_pitch(o->points[0]); i++, at++) {
                tb_real payoff = i < o->points[0] ? (tb_real)bs3d_p_payoff_at(o, i, j, k) : 0;
                if (!later || u[at] < payoff) u[at] = payoff;
            }
}

/* Computes v = L u or, if `identity` is set, u + L u. */
TB_HOST void bs3d_p_host_apply(const bs3d_model *m, int identity, const tb_real *u, tb_real *v)
{
    const int nx = m->points[0], ny = m->points[1], nz = m->points[2], form = bs3d_p_form(m);
    const long long pitch = bs3d_pitch(nx), plane = pitch * ny;
    const bs3d_pairs pairs = bs3d_lane_pairs(m, identity);
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int k = 0; k < nz; k++) {
        bs3d_row z = bs3d_lane_row(m, 2, k);
        for (int j = 0; j < ny; j++) {
            bs3d_row y = bs3d_lane_row(m, 1, j);
            for (int i = 0; i < nx; i++) {
                long long at = i + pitch * j + plane * k;
                v[at] = bs3d_lane_stencil(form, &pairs, bs3d_lane_row(m, 0, i), y, z, u + at, i < nx - 1, -(i > 0),
                                          j < ny - 1 ? pitch : 0, j > 0 ? -pitch : 0, k < nz - 1 ? plane : 0,
                                          k > 0 ? -plane : 0);
            }
        }
    }
}

/* Solves the systems along an axis, in v, with the factors from bs3d_p_host_factor. */
TB_HOST void bs3d_p_host_lines(const bs3d_model *m, int axis, const tb_real *factors, tb_real *v)
{
    const long long pitch = bs3d_pitch(m->points[0]), step[3] = {1, pitch, pitch * m->points[1]};
    const int across = axis == 0, along = axis == 2 ? 1 : 2, points = m->points[axis];
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int b = 0; b < m->points[along]; b++) {
        tb_real line[1024];
        for (int a = 0; a < m->points[across]; a++) {
            tb_real *first = v + b * step[along] + a * step[across];
            for (int i = 0; i < points; i++) line[i] = first[i * step[axis]];
            trid_lane_solve(points, factors, factors + 1024, factors + 2048, line, line, 1);
            for (int i = 0; i < points; i++) first[i * step[axis]] = line[i];
        }
    }
}

/* Factors an axis's matrix for trid_lane_solve. Returns 0, or 1 + the row of a bad pivot. */
TB_HOST int bs3d_p_host_factor(const bs3d_model *m, int axis, tb_real *factors)
{
    tb_real *l = factors, *r = factors + 1024, *q = factors + 2048;
    for (int i = 0; i < m->points[axis]; i++) {
        double row[3];
        bs1d_lane_matrix(bs3d_axis_of(m, axis), 1, i, row, row + 1, row + 2);
        for (int n = 0; n < 3; n++) factors[1024 * n + i] = (tb_real)row[n];
    }
    return trid_lane_factor(m->points[axis], l, r, q, l, r, q, 1);
}

/* Takes all steps in u. The memory behind u holds a second array and, for implicit steps, the factors. Returns BS3D_OK
   or BS3D_NOT_DOMINANT. */
TB_HOST int bs3d_p_host_steps(const bs3d_problem *o, int implicit, tb_real *u)
{
    const bs3d_model m = bs3d_model_of(o);
    const long long pitch = bs3d_pitch(m.points[0]), rows = (long long)m.points[1] * m.points[2];
    tb_real *v = u + bs3d_p_cells(m.points), *factors = v + bs3d_p_cells(m.points);
    for (int axis = 0; axis < 3 && implicit; axis++)
        if (bs3d_p_host_factor(&m, axis, factors + axis * 3 * 1024)) return BS3D_NOT_DOMINANT;
    if (o->payoff != BS3D_GIVEN) bs3d_p_host_payoff(o, 0, u);
    for (int s = 0; s < o->steps; s++) {
        bs3d_p_host_apply(&m, !implicit, u, v);
        for (int axis = 0; axis < 3 && implicit; axis++) bs3d_p_host_lines(&m, axis, factors + axis * 3 * 1024, v);
        for (long long row = 0; row < rows; row++)
            for (long long at = pitch * row; at < pitch * row + m.points[0]; at++)
                u[at] = implicit ? u[at] + v[at] : v[at];
        if (o->flags & BS3D_AMERICAN) bs3d_p_host_payoff(o, 1, u);
    }
    return BS3D_OK;
}

/* Checks a problem, marches, and computes the result. Returns the status. */
TB_HOST int bs3d_p_host_march(const bs3d_problem *o, int implicit, tb_real *u, bs3d_result *result)
{
    tb_real v[64];
    int status = bs3d_check(o, implicit);
    if (!status && !u) status = BS3D_BAD_ARGUMENT;
    if (!status) status = bs3d_p_host_steps(o, implicit, u);
    if (!result) return status;
    if (status) {
        memset(result, 0xff, sizeof *result); /* every number is NaN */
        result->status = status;
        return status;
    }
    const long long pitch = bs3d_pitch(o->points[0]);
    for (int n = 0; n < 64; n++) v[n] = u[bs3d_p_around(o, n, pitch, pitch * o->points[1])];
    *result = bs3d_lane_greeks(o, v);
    return BS3D_OK;
}

/* Marches on the host in explicit steps: the reference for the explicit rungs.
   Needs    work of bs3d_host_bytes; result may be null
   Leaves   the values at time 0 at the start of work, in rows of bs3d_pitch elements. With BS3D_GIVEN the march starts
            from the values there. A call that is refused leaves its status in the result, and NaN for all numbers
   Returns  as bs3d_check, or BS3D_BAD_ARGUMENT if work is null; result->status may also be BS3D_NOT_FINITE */
TB_HOST int bs3d_host_explicit(const bs3d_problem *o, void *work, bs3d_result *result)
{
    return bs3d_p_host_march(o, 0, (tb_real *)work, result);
}

/* Marches on the host with the ADI factorisation A_x A_y A_z (u' - u) = L u: the reference for the implicit rungs;
   otherwise as bs3d_host_explicit. */
TB_HOST int bs3d_host_implicit(const bs3d_problem *o, void *work, bs3d_result *result)
{
    return bs3d_p_host_march(o, 1, (tb_real *)work, result);
}
