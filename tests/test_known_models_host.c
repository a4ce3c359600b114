/* test_known_models_host.c - pde/adi2d.h and pde/adi3d.h on the host against answers from outside: Margrabe's formula;
   from the literature, American puts under Heston's model, and calls on the best of two and three assets that may be
   exercised at nine dates.
   MIT licence, see LICENSE. */
#include "../examples/heston_model.h"
#include "adi3d_assets.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* ---- two assets -------------------------------------------------------------------------------------------------- */

enum { EXCHANGE, BEST };

typedef struct {
    double volatility[2], correlation, rate, dividend, strike;
    int payoff;
} pair_parameters;

FD_NUMBERS(pair, x, volatility)
FD_NUMBERS(pair, y, volatility)
FD_NO_NUMBERS(pair, t)
FD_HD void pair_of_x(const pair_parameters *p, double at, pair_x_f64 *x)
{
    x->volatility = p->volatility[0] * at;
}
FD_HD void pair_of_y(const pair_parameters *p, double at, pair_y_f64 *y)
{
    y->volatility = p->volatility[1] * at;
}
FD_TERMS(2, pair, const real drift = (real)(p->rate - p->dividend); terms->drift[0] = drift * x->at;
         terms->drift[1] = drift * y->at; terms->diffusion[0] = x->volatility * x->volatility / 2;
         terms->diffusion[1] = y->volatility * y->volatility / 2;
         terms->mixed[0] = (real)p->correlation * x->volatility * y->volatility; terms->kill = (real)p->rate;)
enum { pair_fitting = FD_CENTRAL };
FD_HD double pair_payoff(const pair_parameters *p, const double *at)
{
    const double best = at[0] > at[1] ? at[0] : at[1];
    const double gain = p->payoff == EXCHANGE ? at[0] - at[1] : best - p->strike;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL_MIXED 1
#define FD_MODEL pair
#include "../pde/adi2d.h"

/* ---- solves ------------------------------------------------------------------------------------------------------ */

/* Returns the value at the problem's spot on its grid of `points`, by two workers. */
#define VALUE_OF(model, factors)                                                                                       \
    static double value_of_##model(fd_problem *problem, const model##_parameters *p, const int *points)                \
    {                                                                                                                  \
        fd_status status;                                                                                              \
        fd_values values[1 + DATES];                                                                                   \
        fd_batch batch;                                                                                                \
        memset(&batch, 0, sizeof batch);                                                                               \
        batch.problems = batch.spots = 1, batch.steps = 2000, batch.dates = DATES, batch.problem = problem;            \
        batch.status = &status, batch.values = values;                                                                 \
        for (int d = 0; d < factors; d++) batch.points[d] = problem->axis[d].points = points[d];                       \
        const size_t bytes = model##_host_bytes_f64(&batch, 2);                                                        \
        void *memory = malloc(bytes);                                                                                  \
        const int wrong = model##_host_f64(&batch, p, 2, memory, bytes);                                               \
        CHECK(!wrong && !status.what, #model ": %s", fd_status_string(wrong ? wrong : status.what));                   \
        free(memory);                                                                                                  \
        return values[0].value;                                                                                        \
    }
enum { DATES = 9 };
VALUE_OF(pair, 2)
VALUE_OF(heston, 2)
VALUE_OF(assets, 3)

/* Makes a problem on axes from 0 to `high`, crowded around `place`. */
static void begin(int factors, double high, double place, double maturity, int steps, const double *spot,
                  fd_problem *problem)
{
    const fd_times times = {maturity, steps, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    memset(problem, 0, sizeof *problem);
    for (int d = 0; d < factors; d++) {
        const fd_axis axis = {0, high, 4, 1, {place}, {0.3 * place}, {FD_MIDWAY}};
        problem->axis[d] = axis;
    }
    problem->times = times, problem->scheme = FD_HUNDSDORFER_VERWER, problem->finals = FD_AVERAGED_X;
    problem->spot = spot;
}

static double normal(double x)
{
    return erfc(-x / sqrt(2.0)) / 2;
}

/* The right to exchange one asset for another has Margrabe's price. */
static void exchange(void)
{
    static const double spots[3][2] = {{100, 100}, {90, 110}, {110, 100}};
    const pair_parameters p = {{0.2, 0.3}, 0.5, 0.05, 0.02, 0, EXCHANGE};
    const int points[2] = {check_short() ? 65 : 129, check_short() ? 65 : 129};
    const double sigma = sqrt(0.04 + 0.09 - 2 * 0.5 * 0.2 * 0.3);
    for (int k = 0; k < 3; k++) {
        const double one = spots[k][0], two = spots[k][1], d = log(one / two) / sigma + sigma / 2;
        const double known = exp(-0.02) * (one * normal(d) - two * normal(d - sigma));
        fd_problem problem;
        begin(2, 500, 100, 1, 50, spots[k], &problem);
        check_near(value_of_pair(&problem, &p, points), known, check_short() ? 0.05 : 0.015, "exchange, %g for %g", one,
                   two);
    }
}

/* A call on the best of n assets, volatilities 20 %, dividends 10 %, rate 5 %, strike 100, three years, that may be
   exercised at nine dates, one every third of a year: for two assets a binomial tree's 13.902, for three 18.69, both as
   Andersen and Broadie 2004 have them (table 2). */
static void best_of(int factors, double known, int points, int steps, double tolerance)
{
    static const double spot[3] = {100, 100, 100};
    const double third = 1.0 / 3;
    double date[DATES];
    fd_date at_date[DATES];
    fd_problem problem;
    memset(at_date, 0, sizeof at_date);
    for (int k = 0; k < DATES; k++) date[k] = k * third, at_date[k].what = FD_EXERCISE;
    begin(factors, 700, 100, 3, steps, spot, &problem);
    problem.times.dates = DATES, problem.times.date = date, problem.at_date = at_date;
    const int n[3] = {points, points, points};
    const pair_parameters two = {{0.2, 0.2}, 0, 0.05, 0.1, 100, BEST};
    const assets_parameters three = {{0.2, 0.2, 0.2}, {-0.05, -0.05, -0.05}, {0, 0, 0}, 100, 0.05, {0, 0, 0},
                                     ASSETS_MAXIMUM};
    const double value = factors == 2 ? value_of_pair(&problem, &two, n) : value_of_assets(&problem, &three, n);
    check_near(value, known, tolerance, "the best of %d assets", factors);
}

/* American puts under Heston's model, kappa 5, mean 0.16, sigma 0.9, rho 0.1, rate 10 %, strike 10, a quarter of a
   year: the values of Clarke and Parrott 1999, Zvan, Forsyth and Vetzal 1998, and Ikonen and Toivanen 2008 agree to a
   few units of the last place. */
static void american_heston(void)
{
    static const double price[5] = {8, 9, 10, 11, 12};
    static const double known[2][5] = {{2.0000, 1.1076, 0.5200, 0.2137, 0.0820},
                                       {2.0784, 1.3336, 0.7960, 0.4483, 0.2428}};
    const heston_parameters p = {10, 5, 0.16, 0.9, 0.1, 0.1, 0, 1};
    const int points[2] = {check_short() ? 81 : 161, check_short() ? 41 : 81};
    for (int k = 0; k < 10; k++) {
        const double spot[2] = {price[k % 5], k / 5 ? 0.25 : 0.0625};
        const fd_axis variance = {0, 2, 4, 1, {0.16}, {0.2}, {FD_ON_NODE}};
        fd_problem problem;
        begin(2, 40, 10, 0.25, 64, spot, &problem);
        problem.axis[1] = variance, problem.face[1][0] = FD_DEGENERATE, problem.exercise = FD_AMERICAN;
        check_near(value_of_heston(&problem, &p, points), known[k / 5][k % 5], check_short() ? 4e-3 : 1e-3,
                   "American put at %g, variance %g", spot[0], spot[1]);
    }
}

int main(void)
{
    exchange();
    american_heston();
    best_of(2, 13.902, check_short() ? 65 : 161, check_short() ? 36 : 90, check_short() ? 0.06 : 0.012);
    if (check_short())
        check_skip(1, "the best of three assets: SHORT_TESTS is set");
    else
        best_of(3, 18.69, 97, 72, 0.03);
    return check_report();
}
