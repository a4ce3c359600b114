/* adi3d_assets.h - three correlated lognormal prices as a model of pde/adi3d.h, and what is known of options on them:
   for tests on the host and on the device.
   MIT licence, see LICENSE. */
#ifndef ADI3D_ASSETS_H
#define ADI3D_ASSETS_H

#include "../pde/adi3d.h"

#include <string.h>

enum { ASSETS_GEOMETRIC, ASSETS_MAXIMUM, ASSETS_MINIMUM, ASSETS_GEOMETRIC_PUT };

typedef struct {
    double volatility[3], drift[3], correlation[3]; /* correlation: of x and y, x and z, y and z */
    double strike, kill, top[3];                    /* top: nothing is random there or beyond; 0: nowhere so */
    int payoff;
} assets_parameters;

enum {
    assets_numbers_of_x = 2,
    assets_numbers_of_y = 2,
    assets_numbers_of_z = 2,
    assets_numbers_of_t = 4,
    assets_mixed = 7,
    assets_changes = 0,
    assets_fitting = FD_CENTRAL
};

TB_HD void assets_numbers_along(const assets_parameters *p, int axis, double x, double *number)
{
    number[0] = p->drift[axis] * x;
    number[1] = p->top[axis] > 0 && x >= p->top[axis] ? 0 : p->volatility[axis] * x / sqrt(2.0);
}
ADI3D_HD void assets_of_x(const assets_parameters *p, double x, double *number)
{
    assets_numbers_along(p, 0, x, number);
}
ADI3D_HD void assets_of_y(const assets_parameters *p, double y, double *number)
{
    assets_numbers_along(p, 1, y, number);
}
ADI3D_HD void assets_of_z(const assets_parameters *p, double z, double *number)
{
    assets_numbers_along(p, 2, z, number);
}
ADI3D_HD void assets_of_t(const assets_parameters *p, double t, double *number)
{
    (void)t;
    for (int d = 0; d < 3; d++) number[d] = 2 * p->correlation[d];
    number[3] = p->kill;
}
ADI3D_TERMS(assets, terms->drift[0] = x[0]; terms->drift[1] = y[0]; terms->drift[2] = z[0]; terms->volatility[0] = x[1];
            terms->volatility[1] = y[1]; terms->volatility[2] = z[1]; terms->beta[0] = t[0]; terms->beta[1] = t[1];
            terms->beta[2] = t[2]; terms->kill = t[3];)

ADI3D_HD double assets_payoff(const double *at, const void *context)
{
    const assets_parameters *p = (const assets_parameters *)context;
    double most = at[0] > at[1] ? at[0] : at[1], least = at[0] < at[1] ? at[0] : at[1], gain;
    most = most > at[2] ? most : at[2], least = least < at[2] ? least : at[2];
    gain = (p->payoff == ASSETS_MAXIMUM   ? most
            : p->payoff == ASSETS_MINIMUM ? least
                                          : cbrt(at[0] * at[1] * at[2])) -
           p->strike;
    if (p->payoff == ASSETS_GEOMETRIC_PUT) gain = -gain;
    return gain < 0 ? 0 : gain;
}
#define ADI3D_MODEL assets
#include "../pde/adi3d.h"

/* What is known for a year, all prices and the strike 100, rate 5 %, volatilities 20 %, correlations 1/2: the average
   by Black and Scholes, Stulz's and Johnson's formulas for the others, the American put by a tree for the average. */
static const double assets_known[4] = {8.65440288858252, 18.7854613912412, 3.58162887384228, 4.895690040638};

/* That problem on n points an axis, in so many steps of Hundsdorfer's and Verwer's scheme. */
static inline void assets_problem(int n, int steps, int payoff, assets_parameters *p, adi3d_problem *q)
{
    const fd_times times = {1, steps, FD_EQUAL, 1,   FD_THETA, fd_scheme_theta(FD_HUNDSDORFER_VERWER, 3, 1),
                            4, 0,     NULL,     NULL};
    const assets_parameters parameters = {{0.2, 0.2, 0.2}, {0.05, 0.05, 0.05}, {0.5, 0.5, 0.5}, 100, 0.05, {0, 0, 0},
                                          payoff};
    memset(q, 0, sizeof *q);
    for (int d = 0; d < 3; d++) {
        const fd_axis axis = {0, 400, n, 1, {100, 0, 0}, {30, 0, 0}, {FD_MIDWAY, 0, 0}};
        q->axis[d] = axis, q->spot[d] = 100;
    }
    q->times = times, q->scheme = FD_HUNDSDORFER_VERWER, q->coefficients = FD_NEW_END, q->finals = FD_AVERAGED_X;
    q->exercise = payoff == ASSETS_GEOMETRIC_PUT ? FD_AMERICAN : FD_EUROPEAN;
    *p = parameters;
}

#endif
