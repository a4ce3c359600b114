/* heston_model.h - Heston's model, for pde/adi2d.h: x is the price, y its variance.
   MIT licence, see LICENSE.

       V_t + r x V_x + kappa (mean - y) V_y + y x^2 / 2 V_xx + sigma^2 y / 2 V_yy + rho sigma x y V_xy = r V */
#ifndef HESTON_MODEL_H
#define HESTON_MODEL_H

#include "pde/adi2d.h"

typedef struct {
    double strike, kappa, mean, sigma, rho, rate, dividend;
    int put;
} heston_parameters;

enum {
    heston_numbers_of_x = 3,
    heston_numbers_of_y = 3,
    heston_numbers_of_t = 1,
    heston_mixed = 1,
    heston_y_changes = 0,
    heston_fitting = FD_CENTRAL
};

ADI2D_HD void heston_of_x(const heston_parameters *p, double x, double *number)
{
    number[0] = (p->rate - p->dividend) * x;
    number[1] = x * x / 2;
    number[2] = p->rho * p->sigma * x;
}

ADI2D_HD void heston_of_y(const heston_parameters *p, double y, double *number)
{
    number[0] = p->kappa * (p->mean - y);
    number[1] = p->sigma * p->sigma * y / 2;
    number[2] = y;
}

ADI2D_HD void heston_of_t(const heston_parameters *p, double t, double *number)
{
    (void)t;
    number[0] = p->rate;
}

ADI2D_TERMS(heston, terms->drift[0] = x[0]; terms->drift[1] = y[0]; terms->diffusion[0] = x[1] * y[2];
            terms->diffusion[1] = y[1]; terms->mixed = x[2] * y[2]; terms->kill = t[0];)

ADI2D_HD double heston_payoff(const double *at, const void *parameters)
{
    const heston_parameters *p = (const heston_parameters *)parameters;
    double gain = p->put ? p->strike - at[0] : at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}

#define ADI2D_MODEL heston
#include "pde/adi2d.h"

#endif
