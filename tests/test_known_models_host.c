/* test_known_models_host.c - models of two and three factors on the host against answers from outside: SABR, the
   exchange of two assets and an American option on their spread, Heston with a barrier and with early exercise, calls
   on the best of three assets, Heston with a rate of Cox, Ingersoll and Ross.
   Grids and steps are those on which these models were first tried. Tolerances are the errors seen then, or two
   standard errors where the answer comes from Monte Carlo. MIT licence, see LICENSE. */
#include "../pde/adi2d.h"
#include "../pde/adi3d.h"
#include "../examples/heston_model.h"
#include "check.h"
#include "known_solver.h"

#include <string.h>

/* ---- SABR: dF = a F^beta dW, da = nu a dZ; x is the forward F, y its volatility a -------------------------------- */

typedef struct {
    double strike, beta, nu, rho;
} sabr_parameters;

FD_NUMBERS(sabr, x, power, diffusion)
FD_HD void sabr_of_x(const sabr_parameters *p, double at, sabr_x_f64 *x)
{
    x->power = pow(at, p->beta), x->diffusion = x->power * x->power / 2;
}
FD_NO_NUMBERS(sabr, y)
FD_NO_NUMBERS(sabr, t)
FD_TERMS(2, sabr, const real nu = (real)p->nu, square = y->at * y->at; terms->diffusion[0] = x->diffusion * square;
         terms->diffusion[1] = nu * nu / 2 * square; terms->mixed[0] = (real)p->rho * nu * x->power * square;)
enum { sabr_fitting = FD_CENTRAL };
FD_HD double sabr_payoff(const sabr_parameters *p, const double *at)
{
    const double gain = at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL_MIXED 1
#define FD_MODEL sabr
#include "../pde/adi2d.h"

/* ---- the spread of two assets: max(x - y - strike, 0) ------------------------------------------------------------ */

typedef struct {
    double volatility[2], correlation, rate, dividend[2], strike;
} spread_parameters;

FD_NO_NUMBERS(spread, x)
FD_NO_NUMBERS(spread, y)
FD_NO_NUMBERS(spread, t)
FD_TERMS(2, spread, const real a = (real)p->volatility[0] * x->at, b = (real)p->volatility[1] * y->at;
         terms->drift[0] = (real)(p->rate - p->dividend[0]) * x->at;
         terms->drift[1] = (real)(p->rate - p->dividend[1]) * y->at; terms->diffusion[0] = a * a / 2;
         terms->diffusion[1] = b * b / 2; terms->mixed[0] = (real)p->correlation * a * b; terms->kill = (real)p->rate;)
enum { spread_fitting = FD_CENTRAL };
FD_HD double spread_payoff(const spread_parameters *p, const double *at)
{
    const double gain = at[0] - at[1] - p->strike;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL_MIXED 1
#define FD_MODEL_INDEPENDENT 3
#define FD_MODEL spread
#include "../pde/adi2d.h"

/* ---- a call on the best of three assets -------------------------------------------------------------------------- */

typedef struct {
    double volatility, correlation[3], rate, dividend, strike; /* correlation: of x and y, x and z, y and z */
} best_parameters;

FD_NO_NUMBERS(best, x)
FD_NO_NUMBERS(best, y)
FD_NO_NUMBERS(best, z)
FD_NO_NUMBERS(best, t)
FD_TERMS(
    3, best, const real at[3] = {x->at, y->at, z->at}, square = (real)(p->volatility * p->volatility);
    for (int d = 0; d < 3; d++) {
        terms->drift[d] = (real)(p->rate - p->dividend) * at[d];
        terms->diffusion[d] = square / 2 * at[d] * at[d];
        terms->mixed[d] = (real)p->correlation[d] * square * at[d > 1] * at[d > 0 ? 2 : 1];
    } terms->kill = (real)p->rate;)
enum { best_fitting = FD_CENTRAL };
FD_HD double best_payoff(const best_parameters *p, const double *at)
{
    const double first = at[0] > at[1] ? at[0] : at[1], gain = (first > at[2] ? first : at[2]) - p->strike;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL_MIXED (1 + 2 + 4)
#define FD_MODEL_INDEPENDENT (1 + 2 + 4)
#define FD_MODEL best
#include "../pde/adi3d.h"

/* ---- a call on a price x with Heston's variance y and the rate z of Cox, Ingersoll and Ross ---------------------- */

typedef struct {
    double strike, speed[2], mean[2], sigma[2], correlation[3]; /* of the variance and of the rate */
} hcir_parameters;

FD_NO_NUMBERS(hcir, x)
FD_NUMBERS(hcir, y, root)
FD_HD void hcir_of_y(const hcir_parameters *p, double at, hcir_y_f64 *y)
{
    (void)p, y->root = sqrt(at);
}
FD_NUMBERS(hcir, z, root)
FD_HD void hcir_of_z(const hcir_parameters *p, double at, hcir_z_f64 *z)
{
    (void)p, z->root = sqrt(at);
}
FD_NO_NUMBERS(hcir, t)
FD_TERMS(3, hcir, const real a = y->root * x->at, b = (real)p->sigma[0] * y->root, c = (real)p->sigma[1] * z->root;
         terms->drift[0] = z->at * x->at; terms->drift[1] = (real)p->speed[0] * ((real)p->mean[0] - y->at);
         terms->drift[2] = (real)p->speed[1] * ((real)p->mean[1] - z->at); terms->diffusion[0] = a * a / 2;
         terms->diffusion[1] = b * b / 2; terms->diffusion[2] = c * c / 2;
         terms->mixed[0] = (real)p->correlation[0] * a * b; terms->mixed[1] = (real)p->correlation[1] * a * c;
         terms->mixed[2] = (real)p->correlation[2] * b * c; terms->kill = z->at;)
enum { hcir_fitting = FD_CENTRAL };
FD_HD double hcir_payoff(const hcir_parameters *p, const double *at)
{
    const double gain = at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL_MIXED (1 + 2 + 4)
#define FD_MODEL_INDEPENDENT 4
#define FD_MODEL hcir
#include "../pde/adi3d.h"

/* ---- problems ---------------------------------------------------------------------------------------------------- */

enum { HALVES = 4, SPOTS = 10, DATES = 9, SIZES = 3, VALUES = 101 };

/* A batch of one problem, and its results: values[s] is that of spot s at time 0. */
typedef struct {
    fd_batch batch;
    fd_problem problem;
    fd_status status;
    fd_values values[(1 + DATES) * SPOTS];
} known_case;

/* Makes a problem with the Hundsdorfer-Verwer scheme. */
static void known_begin(known_case *k, int factors, const fd_axis *axis, double maturity, int steps, int spots,
                        const double *spot)
{
    memset(k, 0, sizeof *k);
    const fd_times times = {maturity, steps, FD_EQUAL, 1, FD_THETA, 0, HALVES, 0, NULL, NULL};
    for (int d = 0; d < factors; d++) k->problem.axis[d] = axis[d], k->batch.points[d] = axis[d].points;
    k->problem.times = times, k->problem.scheme = FD_HUNDSDORFER_VERWER, k->problem.finals = FD_AVERAGED_X;
    k->problem.spot = spot, k->batch.spots = spots;
    k->batch.problems = 1, k->batch.steps = steps + HALVES;
    k->batch.problem = &k->problem, k->batch.status = &k->status, k->batch.values = k->values;
}

KNOWN_SOLVER(sabr)
KNOWN_SOLVER(spread)
KNOWN_SOLVER(heston)
KNOWN_SOLVER(best)
KNOWN_SOLVER(hcir)

static int known_checked; /* how many values have been checked */

/* Checks a value at time 0. With SHOW_ERRORS in the environment, prints its error. */
static void known_near(const known_case *k, int spot, double want, double tolerance, const char *what)
{
    const int *n = k->batch.points;
    const double got = k->values[spot].value;
    known_checked++;
    if (getenv("SHOW_ERRORS"))
        printf("%-36s %3d %3d %3d points %3d steps spot %d: %.7f off by %+.2e of %.1e, not dominant %d\n", what, n[0],
               n[1], n[2], k->problem.times.steps, spot, got, got - want, tolerance, k->status.not_dominant);
    check_near(got, want, tolerance, "%s, %d points along x, spot %d", what, n[0], spot);
}

/* Returns how many of `sizes` grids, each finer than the one before, there is time to solve. */
static int known_sizes(int sizes)
{
#ifdef __SANITIZE_ADDRESS__ /* under the sanitizer the finest grid takes minutes */
    sizes--;
#endif
    return check_short() ? 1 : sizes;
}

/* Checks two-year calls, whose forward is absorbed at 0, against Monte Carlo, whose errors are below the tolerances.
   For beta 0.7: 400 Euler steps, with the same paths at constant volatility as control variate, whose calls are known
   by the noncentral chi-squared distribution (standard errors 9e-7, 9e-7, 1.3e-6). For beta 1: the mean of Black's
   formula given the path of the volatility (4.4e-4, 2.7e-4, 1.8e-4). */
static void sabr(void)
{
    static const struct {
        sabr_parameters p;
        double spot[2], high[2], width[2], want, tolerance[SIZES];
    } call[] = {
        {{0.04, 0.7, 0.5, -0.4}, {0.05, 0.1}, {1, 1.5}, {0.02, 0.05}, 0.0131472, {2e-6, 2e-6, 2e-6}},
        {{0.05, 0.7, 0.5, -0.4}, {0.05, 0.1}, {1, 1.5}, {0.02, 0.05}, 0.0069436, {2e-6, 2e-6, 2e-6}},
        {{0.07, 0.7, 0.5, -0.4}, {0.05, 0.1}, {1, 1.5}, {0.02, 0.05}, 0.0013458, {3e-6, 3e-6, 3e-6}},
        {{80, 1, 0.5, -0.4}, {100, 0.25}, {2000, 4}, {20, 0.12}, 26.03547, {2.9e-3, 9e-4, 9e-4}},
        {{100, 1, 0.5, -0.4}, {100, 0.25}, {2000, 4}, {20, 0.12}, 14.00822, {2.7e-3, 6e-4, 6e-4}},
        {{130, 1, 0.5, -0.4}, {100, 0.25}, {2000, 4}, {20, 0.12}, 4.62690, {1.3e-3, 4e-4, 4e-4}},
    };
    for (int size = 0; size < known_sizes(SIZES); size++)
        for (int c = 0; c < 6; c++) {
            const fd_axis axis[2] = {
                {0, call[c].high[0], 100 << size, 1, {call[c].p.strike}, {call[c].width[0]}, {FD_MIDWAY}},
                {0, call[c].high[1], 50 << size, 1, {call[c].spot[1]}, {call[c].width[1]}, {FD_ON_NODE}}};
            known_case k;
            known_begin(&k, 2, axis, 2, 32 << size, 1, call[c].spot);
            k.problem.face[0][0] = FD_VALUE;
            value_of_sabr(&k, &call[c].p);
            known_near(&k, 0, call[c].want, call[c].tolerance[size], c < 3 ? "SABR, beta 0.7" : "SABR, beta 1");
        }
}

/* Checks a one-year option to exchange two assets against Margrabe's formula. */
static void exchange(void)
{
    static const double spot[2] = {100, 100};
    static const double tolerance[2][SIZES] = {{1.4e-3, 2.8e-4, 7e-5}, {6.8e-3, 1.6e-3, 4e-4}};
    const spread_parameters p = {{0.3, 0.2}, 0.5, 0.05, {0.03, 0.02}, 0};
    const double s = sqrt(0.3 * 0.3 + 0.2 * 0.2 - 2 * 0.5 * 0.3 * 0.2), d = (0.02 - 0.03) / s + s / 2;
    const double want = 50 * (exp(-0.03) * erfc(-d / sqrt(2.0)) - exp(-0.02) * erfc((s - d) / sqrt(2.0)));
    for (int finals = FD_AVERAGED_X; finals <= (check_short() ? FD_AVERAGED_X : FD_AVERAGED); finals++)
        for (int size = 0; size < known_sizes(SIZES); size++) {
            const fd_axis one = {0, 500, 64 << size, 1, {100}, {30}, {FD_ON_NODE}}, axis[2] = {one, one};
            known_case k;
            known_begin(&k, 2, axis, 1, 32 << size, 1, spot);
            k.problem.finals = finals;
            value_of_spread(&k, &p);
            known_near(&k, 0, want, tolerance[finals - FD_AVERAGED_X][size],
                       finals == FD_AVERAGED ? "Margrabe, averaged along both" : "Margrabe");
        }
}

/* Checks the option when one of the assets pays a tenth of its price at half time: Margrabe's formula for what is left
   of the price. */
static void exchange_after_dividend(void)
{
    static const double date[1] = {0.5};
    const spread_parameters p = {{0.3, 0.2}, 0.5, 0.05, {0.03, 0.02}, 0};
    const double s = sqrt(0.3 * 0.3 + 0.2 * 0.2 - 2 * 0.5 * 0.3 * 0.2), d = (0.02 - 0.03) / s + s / 2;
    const double want = 50 * (exp(-0.03) * erfc(-d / sqrt(2.0)) - exp(-0.02) * erfc((s - d) / sqrt(2.0)));
    for (int payer = 0; payer < 2; payer++) {
        const fd_date pays = {payer ? FD_SHIFT_Y : FD_SHIFT, 0, 0.1};
        const double spot[2] = {payer ? 100 : 100 / 0.9, payer ? 100 / 0.9 : 100};
        const fd_axis one = {0, 500, 128, 1, {100}, {30}, {FD_ON_NODE}}, axis[2] = {one, one};
        known_case k;
        known_begin(&k, 2, axis, 1, 64, 1, spot);
        k.problem.times.dates = k.batch.dates = 1, k.problem.times.date = date, k.problem.at_date = &pays;
        k.batch.steps += HALVES;
        value_of_spread(&k, &p);
        known_near(&k, 0, want, 1e-3, payer ? "Margrabe, y pays a dividend" : "Margrabe, x pays a dividend");
    }
}

/* Checks an American option on the spread. The tree of Boyle, Evnine and Gibbs gives 9.70469 with 400 steps and 9.70717
   with 800: 9.7096 by extrapolation, to 2e-4. */
static void american_spread(void)
{
    static const double spot[2] = {100, 90};
    static const double tolerance[2][SIZES] = {{3.9e-3, 1.5e-3, 5.4e-4}, {7.3e-3, 2.2e-3, 7.2e-4}};
    const spread_parameters p = {{0.3, 0.2}, 0.5, 0.05, {0.1, 0.02}, 5};
    for (int finals = FD_AVERAGED_X; finals <= (check_short() ? FD_AVERAGED_X : FD_AVERAGED); finals++)
        for (int size = 0; size < known_sizes(SIZES); size++) {
            const fd_axis one = {0, 500, 64 << size, 1, {100}, {30}, {FD_ON_NODE}}, axis[2] = {one, one};
            known_case k;
            known_begin(&k, 2, axis, 1, 32 << size, 1, spot);
            k.problem.finals = finals, k.problem.exercise = FD_AMERICAN;
            value_of_spread(&k, &p);
            known_near(&k, 0, 9.7096, tolerance[finals - FD_AVERAGED_X][size],
                       finals == FD_AVERAGED ? "American spread, averaged along both" : "American spread");
        }
}

/* Checks a one-year call that is knocked out when the price falls to 90, against QuantLib 1.44, FdHestonBarrierEngine,
   400 steps on 600 by 300 points; with half of these QuantLib gives 1.2e-4 less. */
static void heston_barrier(void)
{
    static const double spot[2][2] = {{100, 0.04}, {95, 0.04}}, want[2] = {7.12706, 3.41251};
    static const double tolerance[2][SIZES] = {{6.8e-4, 2.1e-4, 3e-5}, {4.1e-4, 1.3e-4, 1e-5}};
    const heston_parameters p = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0, 0};
    for (int size = 0; size < known_sizes(SIZES); size++) {
        const fd_axis axis[2] = {{90, 300, 100 << size, 1, {100}, {10}, {FD_MIDWAY}},
                                 {0, 1, 50 << size, 1, {0.04}, {0.1}, {FD_ON_NODE}}};
        known_case k;
        known_begin(&k, 2, axis, 1, 50 << size, 2, spot[0]);
        k.problem.face[0][0] = FD_VALUE, k.problem.face[1][0] = FD_DEGENERATE;
        value_of_heston(&k, &p);
        for (int s = 0; s < 2; s++) known_near(&k, s, want[s], tolerance[s][size], "Heston with a barrier");
    }
}

/* Checks American puts of a quarter of a year, at prices 8 .. 12 and two variances, against Ikonen and Toivanen,
   Operator splitting methods for pricing American options under stochastic volatility (2008). */
static void heston_american(void)
{
    static const double want[SPOTS] = {2.00000, 1.10763, 0.52004, 0.21368, 0.08205,
                                       2.07837, 1.33364, 0.79598, 0.44828, 0.24281};
    static const double tolerance[SIZES] = {3.8e-4, 1.2e-4, 4e-5};
    const heston_parameters p = {10, 5, 0.16, 0.9, 0.1, 0.1, 0, 1};
    double spot[2 * SPOTS];
    for (int s = 0; s < SPOTS; s++) spot[2 * s] = 8 + s % 5, spot[2 * s + 1] = s < 5 ? 0.0625 : 0.25;
    for (int size = 0; size < known_sizes(SIZES); size++) {
        const fd_axis axis[2] = {{0, 40, 128 << size, 1, {10}, {2}, {FD_MIDWAY}},
                                 {0, 3, 64 << size, 1, {0.16}, {0.2}, {FD_ANYWHERE}}};
        known_case k;
        known_begin(&k, 2, axis, 0.25, 32 << size, SPOTS, spot);
        k.problem.face[1][0] = FD_DEGENERATE, k.problem.exercise = FD_AMERICAN;
        value_of_heston(&k, &p);
        for (int s = 0; s < SPOTS; s++) known_near(&k, s, want[s], tolerance[size], "American Heston");
    }
}

/* ---- three factors ----------------------------------------------------------------------------------------------- */

static const double best_spot[3][3] = {{90, 90, 90}, {100, 100, 100}, {110, 110, 110}};

/* Makes a three-year call. */
static void best_begin(known_case *k, int points, int spots, const double *spot)
{
    const fd_axis one = {0, 800, points, 1, {100}, {30}, {FD_MIDWAY}}, axis[3] = {one, one, one};
    known_begin(k, 3, axis, 3, 36, spots, spot);
}

/* Checks calls on three independent assets. European: against Johnson's formula, by SciPy's multivariate normal
   distribution. Bermudan with nine dates: against transition densities integrated by the trapezoidal rule on 260^3 log
   prices, to 1e-3. American: against a binomial tree with 180 and 270 steps, extrapolated, to 1e-3. */
static void best_exercised(void)
{
    static const struct {
        const char *name;
        int exercise, dates, first, spots;
        double want[3], tolerance[SIZES][3];
    } kind[] = {
        {"European on the best",
         FD_EUROPEAN,
         0,
         0,
         3,
         {9.538028, 15.680723, 23.128359},
         {{0.089, 0.076, 0.063}, {0.042, 0.036, 0.03}, {0.025, 0.021, 0.018}}},
        {"Bermudan on the best",
         FD_EUROPEAN,
         DATES,
         0,
         3,
         {11.280, 18.690, 27.567},
         {{0.148, 0.142, 0.132}, {0.087, 0.087, 0.085}, {0.064, 0.067, 0.068}}},
        {"American on the best", FD_AMERICAN, 0, 1, 1, {19.104}, {{0.111}, {0.046}, {0.022}}},
    };
    const best_parameters p = {0.2, {0, 0, 0}, 0.05, 0.1, 100};
    double date[DATES];
    fd_date event[DATES];
    for (int i = 0; i < DATES; i++) {
        const fd_date exercised = {FD_EXERCISE, 0, 0};
        date[i] = 3.0 * i / DATES, event[i] = exercised;
    }
    for (int size = 0; size < known_sizes(SIZES); size++)
        for (int c = check_short() ? 1 : 0; c < 3; c++) {
            known_case k;
            best_begin(&k, 32 + 16 * size, kind[c].spots, best_spot[kind[c].first]);
            k.problem.exercise = kind[c].exercise;
            k.problem.times.dates = k.batch.dates = kind[c].dates, k.problem.times.date = date;
            k.problem.at_date = event, k.batch.steps += kind[c].dates * HALVES;
            value_of_best(&k, &p);
            for (int s = 0; s < kind[c].spots; s++)
                known_near(&k, s, kind[c].want[s], kind[c].tolerance[size][s], kind[c].name);
        }
}

/* Checks European calls on correlated assets, in the same way. */
static void best_correlated(void)
{
    static const double correlation[2][3] = {{0.9, 0.8, 0.7}, {-0.45, -0.45, -0.45}};
    static const double want[2] = {10.0239994, 17.4371785}, tolerance[2][2] = {{0.041, 0.011}, {0.053, 0.015}};
    for (int c = 0; c < 2; c++)
        for (int size = 0; size < known_sizes(2); size++) {
            best_parameters p = {0.2, {0, 0, 0}, 0.05, 0.1, 100};
            memcpy(p.correlation, correlation[c], sizeof p.correlation);
            known_case k;
            best_begin(&k, 32 << size, 1, best_spot[1]);
            value_of_best(&k, &p);
            known_near(&k, 0, want[c], tolerance[c][size],
                       c ? "the best, correlation -0.45" : "the best, correlation 0.7 to 0.9");
        }
}

/* Checks two-year calls. With an independent rate: against the characteristic function. With a correlated rate: against
   the difference found by Monte Carlo, 0.25534 with a standard error of 3.6e-4. */
static void heston_cir(void)
{
    static const double spot[3] = {100, 0.04, 0.03}, want[2] = {14.3120865, 14.5674};
    static const double tolerance[2][2][2] = {{{0.023, 0.02}, {0.011, 0.0078}}, {{0.027, 0.023}, {0.011, 0.007}}};
    static const int points[2] = {40, 64};
    const hcir_parameters parameters[2] = {
        {100, {2, 0.5}, {0.04, 0.04}, {0.3, 0.1}, {-0.6, 0, 0}},
        {100, {2, 0.5}, {0.04, 0.04}, {0.3, 0.1}, {-0.6, 0.4, -0.3}},
    };
    for (int c = 0; c < 2; c++)
        for (int size = 0; size < known_sizes(2); size++)
            for (int finer = 0; finer < (check_short() ? 1 : 2); finer++) {
                const int n = points[size];
                const fd_axis axis[3] = {{0, 800, n, 1, {100}, {20}, {FD_MIDWAY}},
                                         {0, 1, n / 2, 1, {0.04}, {0.1}, {FD_ON_NODE}},
                                         {0, 0.5, n / 2, 1, {0.03}, {0.05}, {FD_ON_NODE}}};
                known_case k;
                known_begin(&k, 3, axis, 2, 20 << finer, 1, spot);
                k.problem.face[1][0] = k.problem.face[2][0] = FD_DEGENERATE;
                k.problem.finals = FD_TOLD, k.problem.kinks = 1, k.problem.kink[0] = 100;
                value_of_hcir(&k, &parameters[c]);
                known_near(&k, 0, want[c], tolerance[c][size][finer], c ? "Heston-CIR, correlated" : "Heston-CIR");
            }
}

int main(void)
{
    sabr();
    exchange();
    exchange_after_dividend();
    american_spread();
    heston_barrier();
    heston_american();
    best_exercised();
    if (!check_short()) best_correlated();
    heston_cir();
    const int left = VALUES - known_checked;
    CHECK(left >= 0 && (known_sizes(SIZES) < SIZES || left == 0), "%d values were checked", known_checked);
    if (left > 0)
        check_skip(left, check_short()
                             ? "finer grids, shorter steps, averages along both axes, European calls on the best"
                             : "the finest grids, under the address sanitizer");
    return check_report();
}
