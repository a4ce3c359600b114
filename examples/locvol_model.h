/* locvol_model.h - the local volatility model of the benchmark, for pde/adi2d.h: x is the forward rate, y the logarithm
   of its volatility; diffusion_x = exp(2 (beta log x + y - nu^2 t / 2)) / 2 is a product of functions of x, y and t.
   MIT licence, see LICENSE. */
#ifndef LOCVOL_MODEL_H
#define LOCVOL_MODEL_H

#include "pde/adi2d.h"

typedef struct {
    double strike, beta, nu;
} locvol_parameters;

FD_NUMBERS(locvol, x, power)
FD_HD void locvol_of_x(const locvol_parameters *p, double at, locvol_x_f64 *x)
{
    x->power = exp(2 * p->beta * log(at)) / 2;
}

FD_NUMBERS(locvol, y, square)
FD_HD void locvol_of_y(const locvol_parameters *p, double at, locvol_y_f64 *y)
{
    (void)p;
    y->square = exp(2 * at);
}

FD_NUMBERS(locvol, t, decay, half_variance)
FD_HD void locvol_of_t(const locvol_parameters *p, double at, locvol_t_f64 *t)
{
    t->decay = exp(-p->nu * p->nu * at);
    t->half_variance = p->nu * p->nu / 2;
}

FD_TERMS(2, locvol, terms->diffusion[0] = x->power * (y->square * t->decay); terms->diffusion[1] = t->half_variance;)

enum { locvol_fitting = FD_CENTRAL };

FD_HD double locvol_payoff(const locvol_parameters *p, const double *at)
{
    double gain = at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}

#define FD_MODEL_STEADY 2
#define FD_MODEL_INDEPENDENT 2
#define FD_MODEL locvol
#include "pde/adi2d.h"

#endif
