/* adi2d_orders.h - errors of pde/adi2d.h's marches under refinement, for the tests and for the tables in the documents.
   MIT licence, see LICENSE. */
#ifndef ADI2D_ORDERS_H
#define ADI2D_ORDERS_H

#include "../pde/adi2d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- powers: two correlated lognormal prices whose coefficients grow with 1 + t, final value x^a y^b ------------- */

typedef struct {
    double power[2], sigma[2], drift[2], rho, kill, maturity, low, high;
    int slopes; /* faces are given slopes, not values */
} powers_parameters;

enum {
    powers_numbers_of_x = 3,
    powers_numbers_of_y = 3,
    powers_numbers_of_t = 2,
    powers_mixed = 1,
    powers_y_changes = 1,
    powers_fitting = FD_CENTRAL
};

/* x^a y^b grows at the rate of the operator, which it is an eigenfunction of, times 1 + t. */
ADI2D_HD double powers_exact(const powers_parameters *p, double x, double y, double t)
{
    double rate = p->rho * p->sigma[0] * p->sigma[1] * p->power[0] * p->power[1] - p->kill;
    for (int d = 0; d < 2; d++) rate += p->power[d] * (p->drift[d] + p->sigma[d] * p->sigma[d] / 2 * (p->power[d] - 1));
    return pow(x, p->power[0]) * pow(y, p->power[1]) * exp(rate * (p->maturity - t) * (1 + (p->maturity + t) / 2));
}

ADI2D_HD void powers_of_x(const powers_parameters *p, double x, double *number)
{
    number[0] = p->drift[0] * x, number[1] = p->sigma[0] * x, number[2] = p->sigma[0] * p->sigma[0] * x * x / 2;
}
ADI2D_HD void powers_of_y(const powers_parameters *p, double y, double *number)
{
    number[0] = p->drift[1] * y, number[1] = p->rho * p->sigma[1] * y;
    number[2] = p->sigma[1] * p->sigma[1] * y * y / 2;
}
ADI2D_HD void powers_of_t(const powers_parameters *p, double t, double *number)
{
    number[0] = 1 + t, number[1] = p->kill * (1 + t);
}
ADI2D_TERMS(powers, terms->drift[0] = t[0] * x[0]; terms->drift[1] = t[0] * y[0]; terms->mixed = t[0] * x[1] * y[1];
            terms->diffusion[0] = t[0] * x[2]; terms->diffusion[1] = t[0] * y[2]; terms->kill = t[1];)

ADI2D_HD double powers_payoff(const double *at, const void *context)
{
    const powers_parameters *p = (const powers_parameters *)context;
    return powers_exact(p, at[0], at[1], p->maturity);
}
ADI2D_HD double powers_face(const powers_parameters *p, int axis, int side, double other, double t)
{
    double here = side ? p->high : p->low;
    double value = axis ? powers_exact(p, other, here, t) : powers_exact(p, here, other, t);
    return p->slopes ? value * p->power[axis] / here : value;
}
#define ADI2D_FACE
#define ADI2D_MODEL powers
#include "../pde/adi2d.h"

static inline void *orders_memory(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) fprintf(stderr, "out of memory\n"), exit(2);
    return p;
}

/* The largest error on a grid of n by n points, of x^power y^power, relative to the largest value; NaN where the march
   fails. The axis is crowded around 1, four points a cell more than elsewhere; all four faces are given their values,
   or their slopes. */
static inline double orders_powers(int n, int steps, int scheme, int coefficients, int halves, double power, double rho,
                                   int slopes)
{
    const fd_axis axis = {0.5, 2, n, 1, {1, 0, 0}, {0.25, 0, 0}, {FD_ANYWHERE, 0, 0}};
    powers_parameters p = {{power, power}, {0.4, 0.3}, {0.05, -0.02}, rho, 0.03, 1, 0.5, 2, slopes};
    adi2d_problem problem;
    memset(&problem, 0, sizeof problem);
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(scheme, 2, 1), halves, 0, NULL, NULL};
    for (int d = 0; d < 2; d++) {
        problem.axis[d] = axis, problem.spot[d] = 1;
        problem.face[d][0] = problem.face[d][1] = slopes ? FD_SLOPE : FD_VALUE;
    }
    problem.times = times, problem.scheme = scheme, problem.coefficients = coefficients;
    fd_status status;
    adi2d_values values;
    double *grid = (double *)orders_memory((size_t)(n * n) * sizeof *grid), *x = (double *)orders_memory((size_t)n * 8);
    adi2d_batch batch = {1,       {n, n}, steps + halves,   0,           &problem, &status,
                         &values, grid,   ADI2D_TWO_STAGES, {NULL, NULL}};
    const size_t bytes = powers_host_bytes_f64(&batch);
    void *work = orders_memory(bytes);
    double worst = 0;
    int failed = powers_host_f64(&batch, &p, 1, work, bytes) || status.what || fd_axis_points(&axis, x);
    for (int at = 0; at < n * n && !failed; at++) {
        double off = fabs(grid[at] - powers_exact(&p, x[at % n], x[at / n], 0));
        if (!(off <= worst)) worst = off;
    }
    double largest = powers_exact(&p, 2, 2, 0);
    free(work), free(x), free(grid);
    return failed ? sqrt(-1.0) : worst / largest;
}

#endif
