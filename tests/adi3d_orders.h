/* adi3d_orders.h - errors of pde/adi3d.h's marches under refinement, for the tests and for the tables in the documents.
   MIT licence, see LICENSE. */
#ifndef ADI3D_ORDERS_H
#define ADI3D_ORDERS_H

#include "../pde/adi3d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- powers: three correlated lognormal prices whose coefficients grow with 1 + t, final value (x y z)^a --------- */

typedef struct {
    double power, sigma[3], drift[3], rho[3], kill, maturity; /* rho: of 12, 13, 23 */
    int slopes;                                               /* whether faces are given slopes, not values */
} powers_parameters;

/* Returns the exact value: the product of powers is an eigenfunction of the operator, and grows at its eigenvalue times
   1 + t. */
FD_HD double powers_exact(const powers_parameters *p, const double *at, double t)
{
    const double a = p->power;
    double rate = -p->kill;
    for (int d = 0; d < 3; d++) rate += a * (p->drift[d] + p->sigma[d] * p->sigma[d] / 2 * (a - 1));
    rate += (p->rho[0] * p->sigma[0] * p->sigma[1] + p->rho[1] * p->sigma[0] * p->sigma[2] +
             p->rho[2] * p->sigma[1] * p->sigma[2]) *
            a * a;
    return pow(at[0] * at[1] * at[2], a) * exp(rate * (p->maturity - t) * (1 + (p->maturity + t) / 2));
}

FD_NUMBERS(powers, x, drift, diffusion, volatility)
FD_NUMBERS(powers, y, drift, diffusion, volatility)
FD_NUMBERS(powers, z, drift, diffusion, volatility)
FD_HD void powers_of_x(const powers_parameters *p, double at, powers_x_f64 *n)
{
    n->drift = p->drift[0] * at, n->volatility = p->sigma[0] * at, n->diffusion = n->volatility * n->volatility / 2;
}
FD_HD void powers_of_y(const powers_parameters *p, double at, powers_y_f64 *n)
{
    n->drift = p->drift[1] * at, n->volatility = p->sigma[1] * at, n->diffusion = n->volatility * n->volatility / 2;
}
FD_HD void powers_of_z(const powers_parameters *p, double at, powers_z_f64 *n)
{
    n->drift = p->drift[2] * at, n->volatility = p->sigma[2] * at, n->diffusion = n->volatility * n->volatility / 2;
}
FD_NUMBERS(powers, t, growth, mixed[3], kill)
FD_HD void powers_of_t(const powers_parameters *p, double at, powers_t_f64 *t)
{
    t->growth = 1 + at, t->kill = p->kill * (1 + at);
    for (int d = 0; d < 3; d++) t->mixed[d] = p->rho[d] * (1 + at);
}
FD_TERMS(3, powers, terms->drift[0] = t->growth * x->drift; terms->drift[1] = t->growth * y->drift;
         terms->drift[2] = t->growth * z->drift; terms->diffusion[0] = t->growth * x->diffusion;
         terms->diffusion[1] = t->growth * y->diffusion; terms->diffusion[2] = t->growth * z->diffusion;
         terms->mixed[0] = t->mixed[0] * y->volatility * x->volatility;
         terms->mixed[1] = t->mixed[1] * z->volatility * x->volatility;
         terms->mixed[2] = t->mixed[2] * z->volatility * y->volatility; terms->kill = t->kill;)
enum { powers_fitting = FD_CENTRAL };
FD_HD double powers_payoff(const powers_parameters *p, const double *at)
{
    return powers_exact(p, at, p->maturity);
}
FD_HD double powers_face(const powers_parameters *p, int axis, int side, const double *at, double t)
{
    (void)side;
    return powers_exact(p, at, t) * (p->slopes ? p->power / at[axis] : 1);
}
#define FD_MODEL_FACE
#define FD_MODEL_MIXED 7
#define FD_MODEL powers
#include "../pde/adi3d.h"

static inline void *orders_memory(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) fprintf(stderr, "out of memory\n"), exit(2);
    return p;
}

/* Returns the largest error on a grid of n points an axis, of (x y z)^power, relative to the largest value; NaN if the
   march fails. Axes are crowded around 1; all faces are given their values, or their slopes. rho 0: no mixed terms. */
static inline double orders_powers(int n, int steps, int scheme, int coefficients, int halves, double power, double rho,
                                   int slopes)
{
    const fd_axis axis = {0.5, 2, n, 1, {1, 0, 0}, {0.25, 0, 0}, {FD_ANYWHERE, 0, 0}};
    const powers_parameters p = {power, {0.4, 0.3, 0.35}, {0.05, -0.02, 0.03}, {0.7 * rho, -0.5 * rho, rho}, 0.03, 1,
                                 slopes};
    const fd_times times = {1,      steps, FD_EQUAL, 1,   FD_THETA, fd_scheme_theta(scheme, 3, rho > 0),
                            halves, 0,     NULL,     NULL};
    fd_problem problem;
    fd_values values;
    const double spot[3] = {1, 1, 1};
    memset(&problem, 0, sizeof problem);
    problem.spot = spot;
    for (int d = 0; d < 3; d++) {
        problem.axis[d] = axis;
        problem.face[d][0] = problem.face[d][1] = slopes ? FD_SLOPE : FD_VALUE;
    }
    problem.times = times, problem.scheme = scheme, problem.coefficients = coefficients;
    double *grid = (double *)orders_memory((size_t)(n * n * n) * sizeof *grid), x[ADI3D_MOST], worst = 0;
    fd_status status;
    const fd_batch batch = {1, {n, n, n}, steps + halves, 0, 1, &problem, &status, &values, grid, {NULL}, 0};
    const size_t bytes = powers_host_bytes_f64(&batch, 1);
    void *memory = orders_memory(bytes);
    int failed = powers_host_f64(&batch, &p, 1, memory, bytes) || status.what || fd_axis_points(&axis, x);
    for (int at = 0; at < n * n * n && !failed; at++) {
        const double place[3] = {x[at % n], x[at / n % n], x[at / n / n]};
        double off = fabs(grid[at] - powers_exact(&p, place, 0));
        if (!(off <= worst)) worst = off;
    }
    const double corner[3] = {2, 2, 2}, largest = powers_exact(&p, corner, 0);
    free(memory), free(grid);
    return failed ? sqrt(-1.0) : worst / largest;
}

#endif
