/* adi3d_assets.h - three correlated lognormal prices and calls on their average: the model of pde/adi3d.h's benchmarks.
   MIT licence, see LICENSE. */
#ifndef BENCH_ADI3D_ASSETS_H
#define BENCH_ADI3D_ASSETS_H

#include "../pde/adi3d.h"

typedef struct {
    double rate, volatility, correlation, strike;
} assets_parameters;

enum {
    assets_numbers_of_x = 2,
    assets_numbers_of_y = 2,
    assets_numbers_of_z = 2,
    assets_numbers_of_t = 2,
    assets_mixed = 7,
    assets_changes = 0,
    assets_fitting = FD_CENTRAL
};
ADI3D_HD void assets_of_x(const assets_parameters *p, double x, double *number)
{
    number[0] = p->rate * x, number[1] = p->volatility * x * 0.70710678118654752;
}
ADI3D_HD void assets_of_y(const assets_parameters *p, double y, double *number)
{
    assets_of_x(p, y, number);
}
ADI3D_HD void assets_of_z(const assets_parameters *p, double z, double *number)
{
    assets_of_x(p, z, number);
}
ADI3D_HD void assets_of_t(const assets_parameters *p, double t, double *number)
{
    (void)t;
    number[0] = 2 * p->correlation, number[1] = p->rate;
}
ADI3D_TERMS(assets, terms->drift[0] = x[0]; terms->drift[1] = y[0]; terms->drift[2] = z[0]; terms->volatility[0] = x[1];
            terms->volatility[1] = y[1]; terms->volatility[2] = z[1];
            terms->beta[0] = terms->beta[1] = terms->beta[2] = t[0]; terms->kill = t[1];)
ADI3D_HD double assets_payoff(const double *at, const void *context)
{
    const double over = (at[0] + at[1] + at[2]) / 3 - ((const assets_parameters *)context)->strike;
    return over < 0 ? 0 : over;
}
#define ADI3D_INDEPENDENT 7
#define ADI3D_MODEL assets
#include "../pde/adi3d.h"

#endif
