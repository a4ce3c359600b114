/* bs4d_problem.h - four-factor Black-Scholes on a grid, for bs4d.cu and bs4d_host.c.
   MIT licence, see LICENSE.

   A call on a product of powers of four assets, S_1^p_1 .. S_4^p_4, such as their geometric average or one asset. Axis
   m has a multiple of four points, S_m = i spot / (points / 2), so that the spot is a point. With a step's numbers

       lambda_m = sigma_m^2 dt i_m^2 / 2,  gamma_m = r dt i_m / 2,  t_mn = rho_mn sigma_m sigma_n dt i_m i_n / 4

   central differences give the operator

       L u = sum over m of (lambda_m + gamma_m) (u[+m] - u) - (lambda_m - gamma_m) (u - u[-m])
           + sum over m < n of t_mn (u[+m+n] + u[-m-n] - u[+m-n] - u[-m+n])  -  r dt u,

   with bs3d.h's faces: the last point of an axis has no second difference and no cross difference. A step is Douglas'
   scheme, A_1 A_2 A_3 A_4 (u' - u) = L u, where A_m = I - L_m and L_m is the part of L along axis m, with the
   discount in L_1. The scheme is fully implicit. With four factors it damps every mode, whatever the correlations
   (docs/bs3d.md). */
#ifndef BS4D_PROBLEM_H
#define BS4D_PROBLEM_H

#include <math.h>
#include <stddef.h>

#ifdef __CUDACC__
#define BS4D_HD static inline __host__ __device__
#else
#define BS4D_HD static inline
#endif

enum { BS4D_AXES = 4, BS4D_PAIRS = 6, BS4D_MOST_POINTS = 128 };

typedef struct {
    double spot, strike, rate, maturity, volatility[BS4D_AXES], power[BS4D_AXES];
    double correlation[BS4D_PAIRS]; /* of assets 1 and 2, 1 and 3, 1 and 4, 2 and 3, 2 and 4, 3 and 4 */
    int points[BS4D_AXES], steps;
} bs4d_problem;

/* The numbers of one time step. lambda of an axis is variance i^2, its gamma is drift i, and t of a pair is
   cross i_m i_n. */
typedef struct {
    double variance[BS4D_AXES], drift[BS4D_AXES], cross[BS4D_PAIRS], discount;
    int points[BS4D_AXES];
} bs4d_step;

/* The model problem: equal assets, every correlation 1/2, a call at the money on the geometric average. */
BS4D_HD bs4d_problem bs4d_problem_of(const int *points, int steps)
{
    bs4d_problem o = {100,
                      100,
                      0.05,
                      1,
                      {0.2, 0.2, 0.2, 0.2},
                      {0.25, 0.25, 0.25, 0.25},
                      {0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
                      {points[0], points[1], points[2], points[3]},
                      steps};
    return o;
}

BS4D_HD bs4d_step bs4d_step_of(const bs4d_problem *o)
{
    const double dt = o->maturity / o->steps, *s = o->volatility;
    bs4d_step step;
    for (int m = 0, pair = 0; m < BS4D_AXES; m++) {
        step.variance[m] = s[m] * s[m] * dt / 2;
        step.drift[m] = o->rate * dt / 2;
        step.points[m] = o->points[m];
        for (int n = m + 1; n < BS4D_AXES; n++, pair++) step.cross[pair] = o->correlation[pair] * s[m] * s[n] * dt / 4;
    }
    step.discount = o->rate * dt;
    return step;
}

/* Says what is wrong with a problem, or returns null. The last row of I - L_m holds 1 - 2 gamma and 2 gamma, and is
   diagonally dominant if gamma is below 1/4. */
BS4D_HD const char *bs4d_wrong(const bs4d_problem *o)
{
    if (o->steps < 1) return "steps must be at least 1";
    for (int m = 0; m < BS4D_AXES; m++) {
        if (o->points[m] < 4 || o->points[m] > BS4D_MOST_POINTS || o->points[m] % 4)
            return "an axis must have a multiple of 4 points, 128 at most";
        if (!(2 * fabs(o->rate) * o->maturity * (o->points[m] - 1) < o->steps))
            return "steps are too long for the drift";
    }
    return NULL;
}

/* Computes the weights of L at point i of an axis: down is that of -(u - u[-m]), up that of u[+m] - u, and index is the
   factor i of t. At the first point all three are 0; at the last, up and index are 0. In C the function is in double
   precision, in C++ a template. */
#ifdef __cplusplus
template <class T>
#else
#define T double
#endif
BS4D_HD void bs4d_weights(int points, T variance, T drift, int i, T *down, T *up, T *index)
{
    T lambda = variance * (T)(i * i), gamma = drift * (T)i;
    int last = i == points - 1;
    *down = last ? -2 * gamma : lambda - gamma;
    *up = last ? 0 : lambda + gamma;
    *index = last ? 0 : (T)i;
}
#undef T

BS4D_HD size_t bs4d_elements(const int *points)
{
    return (size_t)points[0] * (size_t)points[1] * (size_t)points[2] * (size_t)points[3];
}

/* Returns the index of the spot's element. */
BS4D_HD size_t bs4d_middle(const int *points)
{
    size_t at = 0;
    for (int m = BS4D_AXES - 1; m >= 0; m--) at = at * (size_t)points[m] + (size_t)points[m] / 2;
    return at;
}

BS4D_HD double bs4d_payoff(const bs4d_problem *o, size_t element)
{
    double product = 1;
    for (int m = 0; m < BS4D_AXES; m++) {
        size_t n = (size_t)o->points[m], i = element % n;
        product *= pow(2 * o->spot * (double)i / (double)n, o->power[m]); /* 0^0 is 1 */
        element /= n;
    }
    double gain = product - o->strike;
    return gain < 0 ? 0 : gain;
}

/* Returns the exact value. The product is lognormal, so Black and Scholes' formula holds for its forward, with the
   variance of its logarithm. */
BS4D_HD double bs4d_closed_form(const bs4d_problem *o)
{
    const double *s = o->volatility, *p = o->power, t = o->maturity;
    double variance = 0, forward = 1;
    for (int m = 0, pair = 0; m < BS4D_AXES; m++) {
        variance += p[m] * p[m] * s[m] * s[m] * t;
        forward *= pow(o->spot * exp((o->rate - s[m] * s[m] / 2) * t), p[m]);
        for (int n = m + 1; n < BS4D_AXES; n++, pair++)
            variance += 2 * p[m] * p[n] * o->correlation[pair] * s[m] * s[n] * t;
    }
    forward *= exp(variance / 2);
    const double root = sqrt(variance), d = log(forward / o->strike) / root + root / 2;
    return exp(-o->rate * t) * (forward * erfc(-d / sqrt(2.0)) - o->strike * erfc((root - d) / sqrt(2.0))) / 2;
}

#endif
