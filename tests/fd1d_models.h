/* fd1d_models.h - one-factor models for tests and measurements of pde/fd1d.h, with closed forms or known answers.
   MIT licence, see LICENSE. */
#ifndef FD1D_MODELS_H
#define FD1D_MODELS_H

#include "../pde/fd1d.h"

/* ---- Black and Scholes: what bs1d.h prices ----------------------------------------------------------------------- */

typedef struct {
    double strike, rate, dividend, volatility, barrier;
    int put;
    double coupon; /* paid continuously: a source */
} stock_parameters;

FD_NUMBERS(stock, x, drift, diffusion)
FD_HD void stock_of_x(const stock_parameters *p, double at, stock_x_f64 *x)
{
    x->drift = (p->rate - p->dividend) * at;
    x->diffusion = p->volatility * p->volatility * at * at / 2;
}
FD_NO_NUMBERS(stock, t)
FD_TERMS(1, stock, terms->drift[0] = x->drift; terms->diffusion[0] = x->diffusion; terms->kill = (real)p->rate;
         terms->source = (real)p->coupon;)
enum { stock_fitting = FD_CENTRAL };
/* Returns whether a price is at the barrier or beyond it, which knocks the option out. */
FD_HD int stock_is_out(const stock_parameters *p, double at)
{
    return p->barrier > 0 && at >= p->barrier;
}
FD_HD double stock_payoff(const stock_parameters *p, const double *at)
{
    const double gain = p->put ? p->strike - at[0] : at[0] - p->strike;
    return gain < 0 || stock_is_out(p, at[0]) ? 0 : gain;
}
FD_HD double stock_change(const stock_parameters *p, int date, const double *at, double value)
{
    (void)date;
    return stock_is_out(p, at[0]) ? 0 : value;
}
#define FD_MODEL_CHANGE
#define FD_MODEL stock
#include "../pde/fd1d.h"

/* ---- a local volatility: 0.15 + 0.1 exp(-2 t) (100 / x)^0.5 ------------------------------------------------------ */

typedef struct {
    double strike, rate, dividend;
} surface_parameters;

FD_NUMBERS(surface, x, drift, root)
FD_HD void surface_of_x(const surface_parameters *p, double at, surface_x_f64 *x)
{
    x->drift = (p->rate - p->dividend) * at;
    x->root = at > 0 ? sqrt(100 / at) : 0;
}
FD_NUMBERS(surface, t, share)
FD_HD void surface_of_t(const surface_parameters *p, double at, surface_t_f64 *t)
{
    (void)p;
    t->share = 0.1 * exp(-2 * at);
}
FD_TERMS(1, surface, const real volatility = (real)0.15 + t->share * x->root; terms->drift[0] = x->drift;
         terms->diffusion[0] = volatility * volatility * x->at * x->at / 2; terms->kill = (real)p->rate;)
enum { surface_fitting = FD_CENTRAL };
FD_HD double surface_payoff(const surface_parameters *p, const double *at)
{
    return at[0] > p->strike ? at[0] - p->strike : 0;
}
#define FD_MODEL surface
#include "../pde/fd1d.h"

#endif
