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
    double strike, kill, top[3];                    /* top: at and beyond it volatility is 0; 0: there is no top */
    int payoff;
} assets_parameters;

FD_NUMBERS(assets, x, drift, diffusion, volatility)
FD_NUMBERS(assets, y, drift, diffusion, volatility)
FD_NUMBERS(assets, z, drift, diffusion, volatility)
FD_HD void assets_of_x(const assets_parameters *p, double at, assets_x_f64 *n)
{
    n->drift = p->drift[0] * at;
    n->volatility = p->top[0] > 0 && at >= p->top[0] ? 0 : p->volatility[0] * at;
    n->diffusion = n->volatility * n->volatility / 2;
}
FD_HD void assets_of_y(const assets_parameters *p, double at, assets_y_f64 *n)
{
    n->drift = p->drift[1] * at;
    n->volatility = p->top[1] > 0 && at >= p->top[1] ? 0 : p->volatility[1] * at;
    n->diffusion = n->volatility * n->volatility / 2;
}
FD_HD void assets_of_z(const assets_parameters *p, double at, assets_z_f64 *n)
{
    n->drift = p->drift[2] * at;
    n->volatility = p->top[2] > 0 && at >= p->top[2] ? 0 : p->volatility[2] * at;
    n->diffusion = n->volatility * n->volatility / 2;
}
FD_NUMBERS(assets, t, mixed[3], kill)
FD_HD void assets_of_t(const assets_parameters *p, double at, assets_t_f64 *t)
{
    (void)at;
    for (int d = 0; d < 3; d++) t->mixed[d] = p->correlation[d];
    t->kill = p->kill;
}
FD_TERMS(3, assets, terms->drift[0] = x->drift; terms->drift[1] = y->drift; terms->drift[2] = z->drift;
         terms->diffusion[0] = x->diffusion; terms->diffusion[1] = y->diffusion; terms->diffusion[2] = z->diffusion;
         terms->mixed[0] = t->mixed[0] * y->volatility * x->volatility;
         terms->mixed[1] = t->mixed[1] * z->volatility * x->volatility;
         terms->mixed[2] = t->mixed[2] * z->volatility * y->volatility; terms->kill = t->kill;)
enum { assets_fitting = FD_CENTRAL };
FD_HD double assets_payoff(const assets_parameters *p, const double *at)
{
    double most = at[0] > at[1] ? at[0] : at[1], least = at[0] < at[1] ? at[0] : at[1], gain;
    most = most > at[2] ? most : at[2], least = least < at[2] ? least : at[2];
    gain = (p->payoff == ASSETS_MAXIMUM   ? most
            : p->payoff == ASSETS_MINIMUM ? least
                                          : cbrt(at[0] * at[1] * at[2])) -
           p->strike;
    if (p->payoff == ASSETS_GEOMETRIC_PUT) gain = -gain;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL_MIXED 7
#define FD_MODEL_STEADY 7
#define FD_MODEL assets
#include "../pde/adi3d.h"

/* Known prices for a maturity of a year, all spots and the strike 100, rate 5 %, volatilities 20 %, correlations 1/2:
   the average by Black and Scholes, the others by the formulas of Stulz and of Johnson, the American put by a tree for
   the average. */
static const double assets_known[4] = {8.65440288858252, 18.7854613912412, 3.58162887384228, 4.895690040638};

/* Makes that problem on n points an axis, in `steps` steps of the Hundsdorfer-Verwer scheme. */
static inline void assets_problem(int n, int steps, int payoff, assets_parameters *p, fd_problem *q)
{
    const fd_times times = {1, steps, FD_EQUAL, 1,   FD_THETA, fd_scheme_theta(FD_HUNDSDORFER_VERWER, 3, 1),
                            4, 0,     NULL,     NULL};
    const assets_parameters parameters = {{0.2, 0.2, 0.2}, {0.05, 0.05, 0.05}, {0.5, 0.5, 0.5}, 100, 0.05, {0, 0, 0},
                                          payoff};
    static const double spot[3] = {100, 100, 100};
    memset(q, 0, sizeof *q);
    q->spot = spot;
    for (int d = 0; d < 3; d++) {
        const fd_axis axis = {0, 400, n, 1, {100, 0, 0}, {30, 0, 0}, {FD_MIDWAY, 0, 0}};
        q->axis[d] = axis;
    }
    q->times = times, q->scheme = FD_HUNDSDORFER_VERWER, q->coefficients = FD_NEW_END, q->finals = FD_AVERAGED_X;
    q->exercise = payoff == ASSETS_GEOMETRIC_PUT ? FD_AMERICAN : FD_EUROPEAN;
    *p = parameters;
}

#endif
