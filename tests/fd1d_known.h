/* fd1d_known.h - models of pde/fd1d.h whose answers are known from outside (tests/known/fd1d.txt): CEV, short rates,
   and exercise values that grow.
   MIT licence, see LICENSE. */
#ifndef FD1D_KNOWN_H
#define FD1D_KNOWN_H

#include "fd1d_models.h"

/* ---- constant elasticity of variance: dS = (rate - dividend) S dt + sigma S^beta dW ------------------------------ */

typedef struct {
    double rate, dividend, sigma, beta, strike, maturity;
    int put;
} cev_parameters;

FD_NUMBERS(cev, x, diffusion)
FD_HD void cev_of_x(const cev_parameters *p, double at, cev_x_f64 *x)
{
    const double volatility = p->sigma * pow(at, p->beta);
    x->diffusion = volatility * volatility / 2;
}
FD_NO_NUMBERS(cev, t)
FD_TERMS(1, cev, terms->drift[0] = (real)(p->rate - p->dividend) * x->at; terms->diffusion[0] = x->diffusion;
         terms->kill = (real)p->rate;)
enum { cev_fitting = FD_CENTRAL };
FD_HD double cev_payoff(const cev_parameters *p, const double *at)
{
    const double gain = p->put ? p->strike - at[0] : at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}
/* Returns a put's value at price 0, where the price is absorbed: the discounted strike. */
FD_HD double cev_face(const cev_parameters *p, int axis, int side, const double *at, double t)
{
    (void)axis, (void)at;
    return p->put && side == 0 ? p->strike * exp(-p->rate * (p->maturity - t)) : 0;
}
#define FD_MODEL_FACE
#define FD_MODEL cev
#include "../pde/fd1d.h"

/* ---- short rates: Vasicek (root 0) and Cox, Ingersoll and Ross (root 1) ------------------------------------------ */

typedef struct {
    double kappa, mean, sigma, coupon, strike;
    int root, put;
} rate_parameters;

FD_NO_NUMBERS(rate, x)
FD_NO_NUMBERS(rate, t)
FD_TERMS(1, rate, const real sigma = (real)p->sigma; terms->drift[0] = (real)p->kappa * ((real)p->mean - x->at);
         terms->diffusion[0] = sigma * sigma / 2 * (p->root ? x->at : 1); terms->kill = x->at;
         terms->source = (real)p->coupon;)
enum { rate_fitting = FD_CENTRAL };
/* Returns a bond's last payment. */
FD_HD double rate_payoff(const rate_parameters *p, const double *at)
{
    (void)p, (void)at;
    return 1;
}
/* Returns the value at the expiry of an option on the bond: what the option pays. */
FD_HD double rate_change(const rate_parameters *p, int date, const double *at, double value)
{
    (void)date, (void)at;
    const double gain = p->put ? p->strike - value : value - p->strike;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL_CHANGE
#define FD_MODEL rate
#include "../pde/fd1d.h"

/* ---- an American put whose strike grows: strike exp(growth t) ---------------------------------------------------- */

typedef struct {
    double strike, growth, rate, volatility, maturity;
} growing_parameters;

FD_NO_NUMBERS(growing, x)
FD_NO_NUMBERS(growing, t)
FD_TERMS(1, growing, terms->drift[0] = (real)p->rate * x->at;
         terms->diffusion[0] = (real)(p->volatility * p->volatility / 2) * x->at * x->at; terms->kill = (real)p->rate;)
enum { growing_fitting = FD_CENTRAL };
FD_HD double growing_exercise(const growing_parameters *p, const double *at, double t)
{
    const double gain = p->strike * exp(p->growth * t) - at[0];
    return gain < 0 ? 0 : gain;
}
FD_HD double growing_payoff(const growing_parameters *p, const double *at)
{
    return growing_exercise(p, at, p->maturity);
}
#define FD_MODEL_EXERCISE
#define FD_MODEL growing
#include "../pde/fd1d.h"

#endif
