/* adi3d_assets.h - three correlated lognormal prices and calls on their average: the model of pde/adi3d.h's benchmarks.
   MIT licence, see LICENSE. */
#ifndef BENCH_ADI3D_ASSETS_H
#define BENCH_ADI3D_ASSETS_H

#include "../pde/adi3d.h"

typedef struct {
    double rate, volatility, correlation, strike;
} assets_parameters;

FD_NUMBERS(assets, x, diffusion)
FD_HD void assets_of_x(const assets_parameters *p, double at, assets_x_f64 *x)
{
    x->diffusion = p->volatility * p->volatility * at * at / 2;
}
FD_NUMBERS(assets, y, diffusion)
FD_HD void assets_of_y(const assets_parameters *p, double at, assets_y_f64 *y)
{
    y->diffusion = p->volatility * p->volatility * at * at / 2;
}
FD_NUMBERS(assets, z, diffusion)
FD_HD void assets_of_z(const assets_parameters *p, double at, assets_z_f64 *z)
{
    z->diffusion = p->volatility * p->volatility * at * at / 2;
}
FD_NUMBERS(assets, t, rate, mixed)
FD_HD void assets_of_t(const assets_parameters *p, double at, assets_t_f64 *t)
{
    (void)at;
    t->rate = p->rate, t->mixed = p->correlation * p->volatility * p->volatility;
}
FD_TERMS(3, assets, terms->drift[0] = t->rate * x->at; terms->drift[1] = t->rate * y->at;
         terms->drift[2] = t->rate * z->at; terms->diffusion[0] = x->diffusion; terms->diffusion[1] = y->diffusion;
         terms->diffusion[2] = z->diffusion; terms->mixed[0] = t->mixed * y->at * x->at;
         terms->mixed[1] = t->mixed * z->at * x->at; terms->mixed[2] = t->mixed * z->at * y->at; terms->kill = t->rate;)
enum { assets_fitting = FD_CENTRAL };

FD_HD double assets_payoff(const assets_parameters *p, const double *at)
{
    const double over = (at[0] + at[1] + at[2]) / 3 - p->strike;
    return over < 0 ? 0 : over;
}
#define FD_MODEL_MIXED 7
#define FD_MODEL_STEADY 7
#define FD_MODEL_INDEPENDENT 7
#define FD_MODEL assets
#include "../pde/adi3d.h"

#endif
