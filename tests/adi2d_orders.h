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
    double power[2], sigma[2], drift[2], rho, kill, maturity;
    int slopes; /* whether faces are given slopes, not values */
} powers_parameters;

/* Returns the exact value: x^a y^b is an eigenfunction of the operator, and grows at its eigenvalue times 1 + t. */
FD_HD double powers_exact(const powers_parameters *p, double x, double y, double t)
{
    double rate = p->rho * p->sigma[0] * p->sigma[1] * p->power[0] * p->power[1] - p->kill;
    for (int d = 0; d < 2; d++) rate += p->power[d] * (p->drift[d] + p->sigma[d] * p->sigma[d] / 2 * (p->power[d] - 1));
    return pow(x, p->power[0]) * pow(y, p->power[1]) * exp(rate * (p->maturity - t) * (1 + (p->maturity + t) / 2));
}

FD_NUMBERS(powers, x, drift, volatility, diffusion)
FD_HD void powers_of_x(const powers_parameters *p, double at, powers_x_f64 *x)
{
    x->drift = p->drift[0] * at, x->volatility = p->sigma[0] * at;
    x->diffusion = p->sigma[0] * p->sigma[0] * at * at / 2;
}
FD_NUMBERS(powers, y, drift, correlated, diffusion)
FD_HD void powers_of_y(const powers_parameters *p, double at, powers_y_f64 *y)
{
    y->drift = p->drift[1] * at, y->correlated = p->rho * p->sigma[1] * at;
    y->diffusion = p->sigma[1] * p->sigma[1] * at * at / 2;
}
FD_NUMBERS(powers, t, growth, kill)
FD_HD void powers_of_t(const powers_parameters *p, double at, powers_t_f64 *t)
{
    t->growth = 1 + at, t->kill = p->kill * (1 + at);
}
FD_TERMS(2, powers, terms->drift[0] = t->growth * x->drift; terms->drift[1] = t->growth * y->drift;
         terms->mixed[0] = t->growth * x->volatility * y->correlated; terms->diffusion[0] = t->growth * x->diffusion;
         terms->diffusion[1] = t->growth * y->diffusion; terms->kill = t->kill;)
enum { powers_fitting = FD_CENTRAL };

FD_HD double powers_payoff(const powers_parameters *p, const double *at)
{
    return powers_exact(p, at[0], at[1], p->maturity);
}
FD_HD double powers_face(const powers_parameters *p, int axis, int side, const double *at, double t)
{
    const double value = powers_exact(p, at[0], at[1], t);
    (void)side;
    return p->slopes ? value * p->power[axis] / at[axis] : value;
}
#define FD_MODEL_FACE
#define FD_MODEL_MIXED 1
#define FD_MODEL powers
#include "../pde/adi2d.h"

static inline void *orders_memory(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) fprintf(stderr, "out of memory\n"), exit(2);
    return p;
}

/* Returns the largest error on a grid of n by n points, of x^power y^power, relative to the largest value; NaN if the
   march fails. The axes are crowded around 1, with four points to a cell of elsewhere; all four faces are given their
   values, or their slopes. */
static inline double orders_powers(int n, int steps, int scheme, int coefficients, int halves, double power, double rho,
                                   int slopes)
{
    const fd_axis axis = {0.5, 2, n, 1, {1, 0, 0}, {0.25, 0, 0}, {FD_ANYWHERE, 0, 0}};
    powers_parameters p = {{power, power}, {0.4, 0.3}, {0.05, -0.02}, rho, 0.03, 1, slopes};
    const double spot[2] = {1, 1};
    fd_problem problem;
    memset(&problem, 0, sizeof problem);
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(scheme, 2, 1), halves, 0, NULL, NULL};
    for (int d = 0; d < 2; d++) {
        problem.axis[d] = axis;
        problem.face[d][0] = problem.face[d][1] = slopes ? FD_SLOPE : FD_VALUE;
    }
    problem.times = times, problem.scheme = scheme, problem.coefficients = coefficients, problem.spot = spot;
    fd_status status;
    fd_values values;
    double *grid = (double *)orders_memory((size_t)(n * n) * sizeof *grid), *x = (double *)orders_memory((size_t)n * 8);
    const fd_batch batch = {1,       {n, n}, steps + halves, 0,               1, &problem, &status,
                            &values, grid,   {NULL},         ADI2D_TWO_STAGES};
    const size_t bytes = powers_host_bytes_f64(&batch, 1);
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
