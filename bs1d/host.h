/* host.h - a room of bs1d.h: the reference, one option after another on the host. MIT licence, see LICENSE. */

#if TB_HOST_SCOPE

#ifndef TB_BODY

#ifndef __cplusplus
#define bs1d_p_host_steps_explicit TB_OF(bs1d_p_host_steps_explicit)
#define bs1d_p_host_steps_implicit TB_OF(bs1d_p_host_steps_implicit)
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

/* Takes all explicit steps of option i; leaves today's values at the beginning of `work`. */
TB_HOST void bs1d_p_host_steps_explicit(bs1d_p_batch batch, int i, bs1d_model m, tb_real *work)
{
    const int points = batch.points;
    const bs1d_option o = batch.option[i];
    tb_real *u = work, *before = u + points, *floor = before + points, *a = floor + points, *b = a + points;
    tb_real *c = b + points;
    bs1d_p_start(points, i, 0, batch, o, u);
    bs1d_p_floor(points, 0, points, o, floor);
    bs1d_p_rows(points, m, 0, a, b, c);
    for (bs1d_int s = 0; s < o.steps; s++) {
        memcpy(before, u, (size_t)points * sizeof *u);
        for (int j = 0; j < points; j++) {
            tb_real left = j > 0 ? before[j - 1] : 0, right = j < points - 1 ? before[j + 1] : 0;
            u[j] = bs1d_p_max(before[j] + a[j] * left + b[j] * before[j] + c[j] * right, floor[j]);
        }
    }
}

/* Takes all implicit steps of option i in increments, as implicit2 does: with M = I - size A it solves M y = size A u
   (Crank-Nicolson: A u); then u' = u + y. Where the last row of M omits its drift, A keeps it. American options also
   have a multiplier. Leaves today's values at the beginning of `work`.
   Returns  BS1D_OK or BS1D_NOT_DOMINANT */
TB_HOST int bs1d_p_host_steps_implicit(bs1d_p_batch batch, int i, bs1d_model m, tb_real *work)
{
    const int points = batch.points;
    const bs1d_option o = batch.option[i];
    tb_real *u = work, *floor = u + points, *y = floor + points, *multiplier = y + points;
    tb_real *l = multiplier + points, *r = l + points, *q = r + points;
    bs1d_p_plan plan = bs1d_p_plan_of((int)o.flags, (int)o.steps);
    bs1d_p_start(points, i, 0, batch, o, u);
    bs1d_p_floor(points, 0, points, o, floor);
    for (int j = 0; j < points; j++) multiplier[j] = 0;
    if (!bs1d_p_implicit_rows(points, m, plan.size, 0, l, r, q) || trid_lane_factor(points, l, r, q, l, r, q, 1))
        return BS1D_NOT_DOMINANT;
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

/* Prices one option after another. */
TB_HOST int bs1d_p_host(int is_implicit, bs1d_p_batch batch, tb_real *work)
{
    if (batch.options < 0 || (batch.options > 0 && !batch.result)) return BS1D_BAD_ARGUMENT;
    int refused = batch.points < 4 ? BS1D_BAD_SIZE : BS1D_OK;
    if (batch.options > 0 && (!batch.option || !work)) refused = BS1D_BAD_ARGUMENT;
    for (int i = 0; refused && i < batch.options; i++) bs1d_p_fail(refused, batch.result + i);
    if (refused) return refused;
    for (int i = 0; i < batch.options; i++) {
        const bs1d_option o = batch.option[i];
        const size_t row = (size_t)i * (size_t)batch.points;
        bs1d_model m;
        int status = bs1d_p_model(o, batch.points, &m);
        if (!status && (o.flags & BS1D_GIVEN) && !batch.grid) status = BS1D_BAD_ARGUMENT;
        if (!status && !is_implicit && !bs1d_p_stable(m)) status = BS1D_UNSTABLE;
        if (!status && is_implicit)
            status = bs1d_p_host_steps_implicit(batch, i, m, work);
        else if (!status)
            bs1d_p_host_steps_explicit(batch, i, m, work);
        if (status)
            bs1d_p_fail(status, batch.result + i);
        else
            bs1d_p_greeks(batch.points, o, work + bs1d_p_first(o, batch.points), batch.result + i);
        for (int j = 0; batch.grid && j < batch.points; j++)
            batch.grid[row + (size_t)j] = status ? bs1d_p_nan() : work[j];
    }
    return BS1D_OK;
}

/* Prices the batch on the host by explicit steps: the reference for the explicit rungs.
   Needs    points >= 4; work of BS1D_HOST_LEN(points) elements; grid as for bs1d_explicit1
   Returns  BS1D_OK; BS1D_BAD_ARGUMENT: options < 0, or option, result or work null; BS1D_BAD_SIZE: fewer than 4 points.
            A call that is refused writes its status, and NaN for all numbers, to the results, if there are any.
            Failures of single options are reported as by bs1d_explicit1 */
TB_HOST int bs1d_host_explicit(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                               tb_real *work)
{
    const bs1d_p_batch batch = {options, points, option, result, grid};
    return bs1d_p_host(0, batch, work);
}

/* Prices the batch on the host by implicit steps: the reference for the implicit rungs; otherwise as
   bs1d_host_explicit. */
TB_HOST int bs1d_host_implicit(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                               tb_real *work)
{
    const bs1d_p_batch batch = {options, points, option, result, grid};
    return bs1d_p_host(1, batch, work);
}

#endif /* TB_BODY */

#endif /* TB_HOST_SCOPE */
