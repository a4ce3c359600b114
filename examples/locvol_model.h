/* locvol_model.h - the local volatility model of the benchmark, for pde/adi2d.h: x is the forward rate, y the logarithm
   of its volatility; diffusion_x = exp(2 (beta log x + y - nu^2 t / 2)) / 2, a product of three factors.
   MIT licence, see LICENSE. */
#ifndef LOCVOL_MODEL_H
#define LOCVOL_MODEL_H

#include "pde/adi2d.h"

typedef struct {
    double strike, beta, nu;
} locvol_parameters;

enum {
    locvol_numbers_of_x = 1,
    locvol_numbers_of_y = 1,
    locvol_numbers_of_t = 2,
    locvol_mixed = 0,
    locvol_y_changes = 0,
    locvol_fitting = FD_CENTRAL
};

ADI2D_HD void locvol_of_x(const locvol_parameters *p, double x, double *number)
{
    number[0] = exp(2 * p->beta * log(x)) / 2;
}

ADI2D_HD void locvol_of_y(const locvol_parameters *p, double y, double *number)
{
    (void)p;
    number[0] = exp(2 * y);
}

ADI2D_HD void locvol_of_t(const locvol_parameters *p, double t, double *number)
{
    number[0] = exp(-p->nu * p->nu * t);
    number[1] = p->nu * p->nu / 2;
}

ADI2D_TERMS(locvol, terms->diffusion[0] = x[0] * (y[0] * t[0]); terms->diffusion[1] = t[1];)

ADI2D_HD double locvol_payoff(const double *at, const void *p)
{
    double gain = at[0] - ((const locvol_parameters *)p)->strike;
    return gain < 0 ? 0 : gain;
}

#define ADI2D_Y_INDEPENDENT
#define ADI2D_MODEL locvol
#include "pde/adi2d.h"

#endif
