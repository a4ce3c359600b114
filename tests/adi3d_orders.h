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
    int slopes;                                               /* faces are given slopes, not values */
} powers_parameters;

enum {
    powers_numbers_of_x = 2,
    powers_numbers_of_y = 2,
    powers_numbers_of_z = 2,
    powers_numbers_of_t = 6,
    powers_mixed = 7,
    powers_changes = 1,
    powers_fitting = FD_CENTRAL
};

/* The product of powers grows at the rate of the operator, which it is an eigenfunction of, times 1 + t. */
ADI3D_HD double powers_exact(const powers_parameters *p, const double *at, double t)
{
    const double a = p->power;
    double rate = -p->kill;
    for (int d = 0; d < 3; d++) rate += a * (p->drift[d] + p->sigma[d] * p->sigma[d] / 2 * (a - 1));
    rate += (p->rho[0] * p->sigma[0] * p->sigma[1] + p->rho[1] * p->sigma[0] * p->sigma[2] +
             p->rho[2] * p->sigma[1] * p->sigma[2]) *
            a * a;
    return pow(at[0] * at[1] * at[2], a) * exp(rate * (p->maturity - t) * (1 + (p->maturity + t) / 2));
}

TB_HD void powers_numbers_along(const powers_parameters *p, int axis, double x, double *number)
{
    number[0] = p->drift[axis] * x, number[1] = p->sigma[axis] * x / sqrt(2.0);
}
ADI3D_HD void powers_of_x(const powers_parameters *p, double x, double *number)
{
    powers_numbers_along(p, 0, x, number);
}
ADI3D_HD void powers_of_y(const powers_parameters *p, double y, double *number)
{
    powers_numbers_along(p, 1, y, number);
}
ADI3D_HD void powers_of_z(const powers_parameters *p, double z, double *number)
{
    powers_numbers_along(p, 2, z, number);
}
ADI3D_HD void powers_of_t(const powers_parameters *p, double t, double *number)
{
    number[0] = 1 + t, number[1] = sqrt(1 + t), number[2] = p->kill * (1 + t);
    for (int d = 0; d < 3; d++) number[3 + d] = 2 * p->rho[d];
}
ADI3D_TERMS(powers, terms->drift[0] = t[0] * x[0]; terms->drift[1] = t[0] * y[0]; terms->drift[2] = t[0] * z[0];
            terms->volatility[0] = t[1] * x[1]; terms->volatility[1] = t[1] * y[1]; terms->volatility[2] = t[1] * z[1];
            terms->beta[0] = t[3]; terms->beta[1] = t[4]; terms->beta[2] = t[5]; terms->kill = t[2];)

ADI3D_HD double powers_payoff(const double *at, const void *context)
{
    const powers_parameters *p = (const powers_parameters *)context;
    return powers_exact(p, at, p->maturity);
}
ADI3D_HD double powers_face(const powers_parameters *p, int axis, int side, const double *at, double t)
{
    (void)side;
    return powers_exact(p, at, t) * (p->slopes ? p->power / at[axis] : 1);
}
#define ADI3D_FACE
#define ADI3D_MODEL powers
#include "../pde/adi3d.h"

static inline void *orders_memory(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) fprintf(stderr, "out of memory\n"), exit(2);
    return p;
}

/* The largest error on a grid of n points an axis, of (x y z)^power, relative to the largest value; NaN where the march
   fails. Axes are crowded around 1; all faces are given their values, or their slopes. rho 0: no mixed terms. */
static inline double orders_powers(int n, int steps, int scheme, int coefficients, int halves, double power, double rho,
                                   int slopes)
{
    const fd_axis axis = {0.5, 2, n, 1, {1, 0, 0}, {0.25, 0, 0}, {FD_ANYWHERE, 0, 0}};
    const powers_parameters p = {power, {0.4, 0.3, 0.35}, {0.05, -0.02, 0.03}, {0.7 * rho, -0.5 * rho, rho}, 0.03, 1,
                                 slopes};
    const fd_times times = {1,      steps, FD_EQUAL, 1,   FD_THETA, fd_scheme_theta(scheme, 3, rho > 0),
                            halves, 0,     NULL,     NULL};
    adi3d_problem problem;
    adi3d_values values;
    memset(&problem, 0, sizeof problem);
    for (int d = 0; d < 3; d++) {
        problem.axis[d] = axis, problem.spot[d] = 1;
        problem.face[d][0] = problem.face[d][1] = slopes ? FD_SLOPE : FD_VALUE;
    }
    problem.times = times, problem.scheme = scheme, problem.coefficients = coefficients;
    double *grid = (double *)orders_memory((size_t)(n * n * n) * sizeof *grid), x[ADI3D_MOST], worst = 0;
    adi3d_result result = {fd_status_of(0, 0, 0, 0, 0, 0, 0), &values, grid, {NULL, NULL, NULL}};
    const size_t bytes = powers_host_bytes_f64(&problem, 1);
    void *memory = orders_memory(bytes);
    int failed = powers_host_f64(&problem, &p, 1, memory, bytes, &result) || fd_axis_points(&axis, x);
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
