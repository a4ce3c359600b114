/* heston_model.h - Heston's model, for pde/adi2d.h: x is the price, y its variance.
   MIT licence, see LICENSE.

       V_t + (r - q) x V_x + kappa (mean - y) V_y + x^2 y / 2 V_xx + sigma^2 y / 2 V_yy + rho sigma x y V_xy = r V */
#ifndef HESTON_MODEL_H
#define HESTON_MODEL_H

#include "pde/adi2d.h"

typedef struct {
    double strike, kappa, mean, sigma, rho, rate, dividend;
    int put;
} heston_parameters;

FD_NUMBERS(heston, x, drift, half_square, correlated)
FD_HD void heston_of_x(const heston_parameters *p, double at, heston_x_f64 *x)
{
    x->drift = (p->rate - p->dividend) * at;
    x->half_square = at * at / 2;
    x->correlated = p->rho * p->sigma * at;
}

FD_NUMBERS(heston, y, drift, diffusion)
FD_HD void heston_of_y(const heston_parameters *p, double at, heston_y_f64 *y)
{
    y->drift = p->kappa * (p->mean - at);
    y->diffusion = p->sigma * p->sigma * at / 2;
}

/* A rate that changes with time would be computed here, and the promise FD_MODEL_STEADY below would be removed. */
FD_NUMBERS(heston, t, rate)
FD_HD void heston_of_t(const heston_parameters *p, double at, heston_t_f64 *t)
{
    (void)at;
    t->rate = p->rate;
}

FD_TERMS(2, heston, terms->drift[0] = x->drift; terms->drift[1] = y->drift;
         terms->diffusion[0] = x->half_square * y->at; terms->diffusion[1] = y->diffusion;
         terms->mixed[0] = x->correlated * y->at; terms->kill = t->rate;)

enum { heston_fitting = FD_CENTRAL };

FD_HD double heston_payoff(const heston_parameters *p, const double *at)
{
    double gain = p->put ? p->strike - at[0] : at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}

#define FD_MODEL_MIXED 1
#define FD_MODEL_STEADY 2 /* nothing along y depends on time, nor does the rate */
#define FD_MODEL heston
#include "pde/adi2d.h"

#endif
