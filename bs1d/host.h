/* host.h - a room of bs1d.h: the reference, one option after another on the host. MIT licence, see LICENSE. */

#if TB_HOST_SCOPE

#ifndef TB_BODY

#ifndef __cplusplus
#define bs1d_p_host_start TB_OF(bs1d_p_host_start)
#define bs1d_p_host_steps_explicit TB_OF(bs1d_p_host_steps_explicit)
#define bs1d_p_host_steps_implicit TB_OF(bs1d_p_host_steps_implicit)
#define bs1d_p_host_finish TB_OF(bs1d_p_host_finish)
#define bs1d_p_host TB_OF(bs1d_p_host)
#define bs1d_host_explicit TB_OF(bs1d_host_explicit)
#define bs1d_host_implicit TB_OF(bs1d_host_implicit)
#else
#define bs1d_host_explicit_f32 tb_f32::bs1d_host_explicit
#define bs1d_host_explicit_f64 tb_f64::bs1d_host_explicit
#define bs1d_host_implicit_f32 tb_f32::bs1d_host_implicit
#define bs1d_host_implicit_f64 tb_f64::bs1d_host_implicit
#endif

#define TB_BODY "../bs1d/host.h"
#include "../trid/twice.h"

#else /* TB_BODY: C over tb_real */

/* Computes the values at maturity, and the floor that early exercise sets. */
TB_HOST void bs1d_p_host_start(int points, bs1d_option o, const tb_real *grid, tb_real *u, tb_real *floor)
{
    double ds = (double)o.top / (points - 1);
    for (int j = 0; j < points; j++) {
        u[j] =
            o.flags & BS1D_GIVEN ? grid[j] : (tb_real)bs1d_lane_payoff((int)o.flags, (double)o.strike, ds, points, j);
        floor[j] = o.flags & BS1D_AMERICAN
                       ? (tb_real)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, j)
                       : bs1d_p_lowest();
    }
}

/* Takes all explicit steps; leaves today's values in work. */
TB_HOST void bs1d_p_host_steps_explicit(int points, bs1d_option o, bs1d_model m, const tb_real *grid, tb_real *work)
{
    tb_real *u = work, *before = u + points, *floor = before + points, *a = floor + points, *b = a + points;
    tb_real *c = b + points;
    bs1d_p_host_start(points, o, grid, u, floor);
    for (int j = 0; j < points; j++) {
        double ra, rb, rc;
        bs1d_lane_row(m, j, &ra, &rb, &rc);
        a[j] = (tb_real)ra;
        b[j] = (tb_real)rb;
        c[j] = (tb_real)rc;
    }
    for (bs1d_int s = 0; s < o.steps; s++) {
        memcpy(before, u, (size_t)points * sizeof *u);
        for (int j = 0; j < points; j++) {
            tb_real left = j > 0 ? before[j - 1] : 0, right = j < points - 1 ? before[j + 1] : 0;
            u[j] = bs1d_p_max(before[j] + a[j] * left + b[j] * before[j] + c[j] * right, floor[j]);
        }
    }
}

/* Takes all implicit steps in increments, as implicit2: with M = I - size A, M y = size A u (Crank-Nicolson: A u),
   u' = u + y. Where the last row of M omits its drift, A keeps it. Leaves today's values in work. */
TB_HOST int bs1d_p_host_steps_implicit(int points, bs1d_option o, bs1d_model m, const tb_real *grid, tb_real *work)
{
    tb_real *u = work, *floor = u + points, *y = floor + points, *multiplier = y + points;
    tb_real *l = multiplier + points, *r = l + points, *q = r + points;
    bs1d_p_plan plan = bs1d_p_plan_of((int)o.flags, (int)o.steps);
    bs1d_p_host_start(points, o, grid, u, floor);
    for (int j = 0; j < points; j++) {
        double a, b, c;
        bs1d_lane_matrix(m, plan.size, j, &a, &b, &c);
        l[j] = (tb_real)a;
        r[j] = (tb_real)b;
        q[j] = (tb_real)c;
        multiplier[j] = 0;
        if (!bs1d_lane_dominant(m, plan.size, j)) return BS1D_NOT_DOMINANT;
    }
    if (trid_lane_factor(points, l, r, q, l, r, q, 1)) return BS1D_NOT_DOMINANT;
    for (int s = 0; s < plan.implicit + plan.crank; s++) {
        double size = s >= plan.implicit ? 1 : plan.size; /* for A on the right-hand side */
        for (int j = 0; j < points; j++) {
            double a, b, c;
            bs1d_lane_row(m, j, &a, &b, &c);
            tb_real below = j > 0 ? u[j] - u[j - 1] : u[j], above = j < points - 1 ? u[j + 1] - u[j] : -u[j];
            if (s == plan.implicit && s > 0) multiplier[j] *= (tb_real)(1 / plan.size);
            y[j] = (tb_real)(size * c) * above - (tb_real)(size * a) * below - (tb_real)(size * m.discount) * u[j] +
                   multiplier[j];
        }
        trid_lane_solve(points, l, r, q, y, y, 1);
        for (int j = 0; j < points; j++) {
            tb_real free = u[j] + y[j] - multiplier[j];
            u[j] = bs1d_p_max(free, floor[j]);
            multiplier[j] = u[j] - free;
        }
    }
    return BS1D_OK;
}

/* Writes result and grid of an option that has been priced, or that has failed. */
TB_HOST void bs1d_p_host_finish(int status, int points, bs1d_option o, const tb_real *u, bs1d_result *result,
                                tb_real *grid)
{
    if (status)
        bs1d_p_fail(status, result);
    else
        bs1d_p_greeks(points, o, u + bs1d_p_first(o, points), result);
    for (int j = 0; grid && j < points; j++) grid[j] = status ? bs1d_p_nan() : u[j];
}

/* Prices one option after another. */
TB_HOST int bs1d_p_host(int is_implicit, int options, int points, const bs1d_option *option, bs1d_result *result,
                        tb_real *grid, tb_real *work)
{
    if (options < 0 || (options > 0 && !result)) return BS1D_BAD_ARGUMENT;
    int refused = options > 0 && (!option || !work) ? BS1D_BAD_ARGUMENT : points < 4 ? BS1D_BAD_SIZE : BS1D_OK;
    for (int i = 0; refused && i < options; i++) bs1d_p_fail(refused, result + i);
    if (refused) return refused;
    for (int i = 0; i < options; i++) {
        bs1d_model m;
        tb_real *row = grid ? grid + (size_t)i * (size_t)points : 0;
        int status = bs1d_p_model(option[i], points, &m);
        if (!status && (option[i].flags & BS1D_GIVEN) && !grid) status = BS1D_BAD_ARGUMENT;
        if (!status && !is_implicit && !bs1d_p_stable(m)) status = BS1D_UNSTABLE;
        if (!status && is_implicit)
            status = bs1d_p_host_steps_implicit(points, option[i], m, row, work);
        else if (!status)
            bs1d_p_host_steps_explicit(points, option[i], m, row, work);
        bs1d_p_host_finish(status, points, option[i], work, result + i, row);
    }
    return BS1D_OK;
}

/* Prices the batch on the host by explicit steps: the reference for the explicit rungs.
   Needs    points >= 4; work of BS1D_HOST_LEN(points) elements; grid null, or options * points elements, which hold the
            start values of the options with BS1D_GIVEN
   Returns  BS1D_OK, BS1D_BAD_ARGUMENT or BS1D_BAD_SIZE; failures of single options are in their results' status. A call
            that is refused fails every option: each result holds that status, and NaN for all numbers */
TB_HOST int bs1d_host_explicit(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                               tb_real *work)
{
    return bs1d_p_host(0, options, points, option, result, grid, work);
}

/* Prices the batch on the host by implicit steps: the reference for the implicit rungs; otherwise as
   bs1d_host_explicit. */
TB_HOST int bs1d_host_implicit(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                               tb_real *work)
{
    return bs1d_p_host(1, options, points, option, result, grid, work);
}

#endif /* TB_BODY */

#endif /* TB_HOST_SCOPE */
