/* cev_model.h - constant elasticity of variance, for pde/fd1d.h: dS = rate S dt + sigma S^beta dW.
   MIT licence, see LICENSE.

       V_t + rate x V_x + sigma^2 x^(2 beta) / 2 V_xx = rate V */
#ifndef CEV_MODEL_H
#define CEV_MODEL_H

#include "pde/fd1d.h"

typedef struct {
    double rate, sigma, beta, strike;
    int put;
} cev_parameters;

/* The expensive terms are computed once for each point of x; nothing depends on time. */
FD_NUMBERS(cev, x, diffusion)
FD_HD void cev_of_x(const cev_parameters *p, double at, cev_x_f64 *x)
{
    const double volatility = p->sigma * pow(at, p->beta);
    x->diffusion = volatility * volatility / 2;
}
FD_NO_NUMBERS(cev, t)

FD_TERMS(1, cev, terms->drift[0] = (real)p->rate * x->at; terms->diffusion[0] = x->diffusion;
         terms->kill = (real)p->rate;)

enum { cev_fitting = FD_CENTRAL };

FD_HD double cev_payoff(const cev_parameters *p, const double *at)
{
    const double gain = p->put ? p->strike - at[0] : at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}

#define FD_MODEL cev
#include "pde/fd1d.h"

#endif
