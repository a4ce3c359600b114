/* test_bs1d_host.c - the host reference of bs1d.h in both precisions: against known answers, an independent program in
   long double, and what theory says of the model.
   MIT licence, see LICENSE.

   Run from the repository root, or with KNOWN_ANSWERS naming the file. Arrays are as long as the header says and no
   longer, so that the address sanitizer sees any overrun. */
#include "bs1d.h"

#include "check.h"

#include "bs1d_cases.h"

#include <float.h>

#ifndef KNOWN_ANSWERS
#define KNOWN_ANSWERS "tests/known/bs1d.txt"
#endif

enum { SEED = 20240911, MOST_CASES = 100, MOST_POINTS = 1024, CALL = BS1D_CALL, PUT = BS1D_PUT };
enum { AMERICAN = BS1D_AMERICAN, AVERAGED = BS1D_AVERAGED, CN = BS1D_CRANK_NICOLSON, INCREMENT = BS1D_INCREMENT };
enum { GIVEN = BS1D_GIVEN };

/* ---- both precisions under one roof ------------------------------------------------------------------------------ */

/* Runs a batch; grid, of options rows, may be null. Returns what the function returns. */
#define DEFINE_RUN(NAME, R, I, SUFFIX)                                                                                 \
    static int NAME(int is_implicit, int options, int points, const case_option *from, case_result *to, int *status,   \
                    double *grid)                                                                                      \
    {                                                                                                                  \
        size_t count = options > 0 ? (size_t)options : 0, cells = points > 0 ? count * (size_t)points : 0;             \
        bs1d_option_##SUFFIX *option = case_memory(count * sizeof *option);                                            \
        bs1d_result_##SUFFIX *result = case_memory(count * sizeof *result);                                            \
        R *values = grid ? case_memory(cells * sizeof *values) : NULL;                                                 \
        R *work = case_memory((points > 0 ? (size_t)BS1D_HOST_LEN(points) : 0) * sizeof *work);                        \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const case_option *o = &from[i];                                                                           \
            bs1d_option_##SUFFIX made = {(R)o->spot,     (R)o->strike, (R)o->rate,  (R)o->dividend, (R)o->volatility,  \
                                         (R)o->maturity, (R)o->top,    (I)o->steps, (I)o->flags};                      \
            option[i] = made;                                                                                          \
        }                                                                                                              \
        memset(result, 0x5a, count * sizeof *result);                                                                  \
        for (size_t i = 0; grid && i < cells; i++)                                                                     \
            values[i] = (R)(from[i / (size_t)points].flags & GIVEN ? grid[i] : 0);                                     \
        int answer = (is_implicit ? bs1d_host_implicit_##SUFFIX                                                        \
                                  : bs1d_host_explicit_##SUFFIX)(options, points, option, result, values, work);       \
        for (size_t i = 0; i < count; i++) {                                                                           \
            case_result r = {result[i].price, result[i].delta, result[i].gamma, result[i].theta};                      \
            to[i] = r;                                                                                                 \
            status[i] = (int)result[i].status;                                                                         \
        }                                                                                                              \
        for (size_t i = 0; grid && i < cells; i++) grid[i] = values[i];                                                \
        free(work);                                                                                                    \
        free(values);                                                                                                  \
        free(result);                                                                                                  \
        free(option);                                                                                                  \
        return answer;                                                                                                 \
    }
DEFINE_RUN(run_f32, float, int, f32)
DEFINE_RUN(run_f64, double, long long, f64)

typedef int run_function(int, int, int, const case_option *, case_result *, int *, double *);
static run_function *const run_of[2] = {run_f32, run_f64};
static const char *const precision_name[2] = {"f32", "f64"}, *const method_name[2] = {"explicit", "implicit"};
static const double roundoff_of[2] = {FLT_EPSILON / 2, DBL_EPSILON / 2};

/* Prices one valid option in double precision. */
static case_result price(int is_implicit, int points, case_option o, double *grid)
{
    case_result result = {NAN, NAN, NAN, NAN};
    int status = 1, answer = run_f64(is_implicit, 1, points, &o, &result, &status, grid);
    CHECK(answer == 0 && status == BS1D_OK, "%s: returned %d, status %d", method_name[is_implicit], answer, status);
    return result;
}

/* ---- known answers ----------------------------------------------------------------------------------------------- */

static void test_known_answers(void)
{
    static case_known known[MOST_CASES];
    double exact[2], own[2];
    const char *path = getenv("KNOWN_ANSWERS") ? getenv("KNOWN_ANSWERS") : KNOWN_ANSWERS;
    int count = case_read(path, MOST_CASES, known, exact, own);
    CHECK(count > 30 && count <= MOST_CASES, "%d known answers", count);
    for (int i = 0; i < 2; i++) {
        CHECK(exact[i] == case_exact(i), "the exact answer of the %s march is %.17g", method_name[i], exact[i]);
        check_near(own[i], exact[i], 1e-11, "the model's own %s answer", method_name[i]);
    }
    for (int i = 0; i < count && i < MOST_CASES; i++) {
        case_known k = known[i];
        char what[60];
        snprintf(what, sizeof what, "known %s", method_name[k.is_implicit]);
        /* The file was computed in double precision, so its errors count as well. The reference that the other tests
           use must agree with the file too. */
        double tolerance = 2 * case_tolerance(k.is_implicit, 0, k.points, k.option, roundoff_of[1]);
        case_check(case_march(k.is_implicit, k.points, k.option, NULL), k.want, tolerance, k.points, k.option,
                   "known answer, second opinion");
        case_check(price(k.is_implicit, k.points, k.option, NULL), k.want, tolerance, k.points, k.option, what);
    }
}

/* Checks the model problem at full size: at the strike, and over the grid, where the upper end is worst. */
static void test_model_problem(void)
{
    static double grid[256], want[256];
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        case_march(is_implicit, 256, case_model(is_implicit), want);
        check_near((want[127] + want[128]) / 2, case_exact(is_implicit), 1e-13, "second opinion on the model problem");
        for (int precision = 0; precision < 2; precision++)
            for (int increment = 0; increment <= is_implicit; increment++) {
                case_option o = case_model(is_implicit);
                case_result result;
                int status;
                const char *method = method_name[is_implicit], *name = precision_name[precision];
                double at_strike = precision ? 1e-11 : is_implicit ? 2e-5 : 2.5e-4, worst;
                o.flags = increment ? INCREMENT : 0;
                run_of[precision](is_implicit, 1, 256, &o, &result, &status, grid);
                CHECK(status == BS1D_OK, "%s %s: status %d", method, name, status);
                check_near((grid[127] + grid[128]) / 2, case_exact(is_implicit), at_strike,
                           "%s %s: model problem, flags %d", method, name, o.flags);
                worst = case_distance(256, grid, want);
                CHECK(worst <= (precision ? 1e-10 : 1e-2), "%s %s: model problem, flags %d, the grid is off by %.3g",
                      method, name, o.flags, worst);
                printf("model problem %s %s flags %d: strike off by %.2g, grid by %.2g\n", method, name, o.flags,
                       (grid[127] + grid[128]) / 2 - case_exact(is_implicit), worst);
            }
    }
}

/* ---- batches of options that differ in everything ---------------------------------------------------------------- */

static void test_batches(void)
{
    enum { OPTIONS = 12 };
    static const int points_of[] = {4, 5, 7, 64, 65, 100, 256, 257, 511, 1024};
    static const int steps_of[] = {1, 2, 3, 7, 10, 29, 50, 64, 101};
    static double grid[OPTIONS * MOST_POINTS], want_grid[MOST_POINTS];
    case_random random = {SEED};
    for (int p = 0; p < (int)(sizeof points_of / sizeof points_of[0]); p++)
        for (int is_implicit = 0; is_implicit < 2; is_implicit++)
            for (int precision = 0; precision < 2; precision++) {
                int points = points_of[p], status[OPTIONS];
                case_option option[OPTIONS];
                case_result result[OPTIONS];
                for (int i = 0; i < OPTIONS; i++) {
                    int flags = case_below(&random, is_implicit ? 64 : 8), steps = steps_of[case_below(&random, 9)];
                    if (!is_implicit && case_below(&random, 4) == 0) flags |= BS1D_UPWIND;
                    option[i] = is_implicit && i % 4 == 3 ? case_lagged(&random, points, steps, flags)
                                : i % 4 == 2              ? case_drifting(&random, is_implicit, points, steps, flags)
                                                          : case_option_of(&random, is_implicit, points, steps, flags);
                }
                int answer = run_of[precision](is_implicit, OPTIONS, points, option, result, status, grid);
                CHECK(answer == 0, "returned %d", answer);
                for (int i = 0; i < OPTIONS; i++) {
                    char what[60];
                    double tolerance = case_tolerance(is_implicit, 0, points, option[i], roundoff_of[precision]);
                    case_result want = case_march(is_implicit, points, option[i], want_grid);
                    double worst = case_distance(points, grid + i * points, want_grid);
                    snprintf(what, sizeof what, "%s %s, option %d of a batch", method_name[is_implicit],
                             precision_name[precision], i);
                    CHECK(status[i] == BS1D_OK, "%s: status %d", what, status[i]);
                    case_check(result[i], want, tolerance, points, option[i], what);
                    CHECK(worst <= tolerance, "%s, %d points %d steps flags %d: the grid is off by %.3g > %.3g", what,
                          points, option[i].steps, option[i].flags, worst, tolerance);
                }
            }
}

/* Spoils options in every way, between valid ones, whose results must not change. */
static void test_bad_options(void)
{
    enum { POINTS = 64, OPTIONS = 2 * CASE_BAD_KINDS + 1 };
    static double grid[OPTIONS * POINTS], alone_grid[POINTS];
    static const double largest[2] = {FLT_MAX, DBL_MAX};
    for (int is_implicit = 0; is_implicit < 2; is_implicit++)
        for (int precision = 0; precision < 2; precision++) {
            case_random random = {SEED + 1};
            case_option option[OPTIONS];
            case_result result[OPTIONS], alone;
            int status[OPTIONS], want[OPTIONS], alone_status;
            const char *what[OPTIONS];
            for (int i = 0; i < OPTIONS; i++) {
                option[i] =
                    case_option_of(&random, is_implicit, POINTS, 5 + i % 3, case_below(&random, is_implicit ? 32 : 8));
                want[i] = BS1D_OK;
                what[i] = "a good one";
                if (i % 2) want[i] = case_spoil(i / 2, is_implicit, POINTS, largest[precision], &option[i], &what[i]);
            }
            int answer = run_of[precision](is_implicit, OPTIONS, POINTS, option, result, status, grid);
            CHECK(answer == 0, "returned %d", answer);
            for (int i = 0; i < OPTIONS; i++) {
                const double *row = grid + i * POINTS;
                int same = 1;
                if (i % 2) {
                    CHECK(want[i] ? status[i] == want[i] : status[i] != BS1D_OK, "%s %s: status of %s is %d, not %d",
                          method_name[is_implicit], precision_name[precision], what[i], status[i], want[i]);
                    for (int j = 0; j < POINTS; j++) same &= row[j] != row[j];
                    CHECK(isnan(result[i].price) && isnan(result[i].delta) && isnan(result[i].gamma) &&
                              isnan(result[i].theta) && same,
                          "%s %s: %s leaves numbers", method_name[is_implicit], precision_name[precision], what[i]);
                } else {
                    run_of[precision](is_implicit, 1, POINTS, &option[i], &alone, &alone_status, alone_grid);
                    CHECK(status[i] == BS1D_OK && !memcmp(&result[i], &alone, sizeof alone) &&
                              !memcmp(row, alone_grid, sizeof alone_grid),
                          "%s %s: option %d has noticed its neighbours", method_name[is_implicit],
                          precision_name[precision], i);
                }
            }
        }
}

/* Checks that the spot may lie at either end of the grid, and that without a grid the results are the same. */
static void test_ends_and_no_grid(void)
{
    static double grid[3 * 100];
    for (int is_implicit = 0; is_implicit < 2; is_implicit++)
        for (int precision = 0; precision < 2; precision++) {
            case_random random = {SEED + 2};
            case_option option[3];
            case_result with[3], without[3];
            int status[3];
            for (int i = 0; i < 3; i++) option[i] = case_option_of(&random, is_implicit, 100, 20, i % 2);
            option[0].spot = 0;
            option[1].spot = option[1].top;
            run_of[precision](is_implicit, 3, 100, option, with, status, grid);
            CHECK(status[0] == BS1D_OK && status[1] == BS1D_OK, "spots at the ends: %d %d", status[0], status[1]);
            double ulps = 8 * roundoff_of[precision]; /* at the end the cubic is one value, and three times nearly 0 */
            check_near(with[0].price, grid[0], ulps * option[0].top, "price at 0");
            check_near(with[1].price, grid[199], ulps * option[1].top, "price at the top");
            run_of[precision](is_implicit, 3, 100, option, without, status, NULL);
            CHECK(!memcmp(with, without, sizeof with), "the results depend on whether the grid is asked for");
        }
}

static void test_arguments(void)
{
    for (int is_implicit = 0; is_implicit < 2; is_implicit++)
        for (int precision = 0; precision < 2; precision++) {
            case_option option = case_model(is_implicit);
            case_result result;
            int status;
            option.steps = 40;
            CHECK(run_of[precision](is_implicit, 0, 64, &option, &result, &status, NULL) == 0, "no options");
            CHECK(run_of[precision](is_implicit, -1, 64, &option, &result, &status, NULL) == BS1D_BAD_ARGUMENT,
                  "-1 options");
            CHECK(run_of[precision](is_implicit, 1, 3, &option, &result, &status, NULL) == BS1D_BAD_SIZE, "3 points");
            CHECK(status == BS1D_BAD_SIZE && isnan(result.price) && isnan(result.theta),
                  "3 points: status %d, price %g, theta %g", status, result.price, result.theta);
            CHECK(run_of[precision](is_implicit, 1, 4, &option, &result, &status, NULL) == 0, "4 points");
        }
}

static void test_status_strings(void)
{
    static const int statuses[] = {BS1D_OK,         BS1D_BAD_ARGUMENT, BS1D_BAD_SIZE,
                                   BS1D_BAD_NUMBER, BS1D_BAD_SPOT,     BS1D_BAD_CORRELATION,
                                   BS1D_UNSTABLE,   BS1D_NOT_DOMINANT, BS1D_LAUNCH_FAILED};
    for (int i = -8; i <= 2; i++) {
        if (i <= 0) CHECK(statuses[-i] == i, "status %d is %d", i, statuses[-i]);
        CHECK(bs1d_status_string(i) && strlen(bs1d_status_string(i)) > 1, "status %d has no string", i);
        for (int k = -9; k < i; k++)
            CHECK(strcmp(bs1d_status_string(i), bs1d_status_string(k)), "statuses %d and %d read alike", i, k);
    }
    CHECK(BS1D_NOT_FINITE == 1 && BS1D_OSCILLATES == 2, "%d %d", BS1D_NOT_FINITE, BS1D_OSCILLATES);
    CHECK(bs1d_status_string(12345) != NULL, "a status that does not exist has no string at all");
}

/* ---- what theory says -------------------------------------------------------------------------------------------- */

/* Checks put-call parity. A call less a put is a straight line. The discrete model has no error in space for it, and
   each step turns it into another straight line by known factors, so prices agree to within rounding. */
static void test_parity(void)
{
    case_random random = {SEED + 3};
    for (int is_implicit = 0; is_implicit < 2; is_implicit++)
        for (int i = 0; i < 12; i++) {
            int flags = (i & 1 ? AVERAGED : 0) | (is_implicit && i & 2 ? CN : 0), points = i % 3 ? 300 : 64;
            case_option o = case_option_of(&random, is_implicit, points, i & 4 ? 40 : 30, flags);
            case_option put = o;
            put.flags |= PUT;
            case_result c = price(is_implicit, points, o, NULL), p = price(is_implicit, points, put, NULL);
            double dt = o.maturity / o.steps, factor[2], rate[2] = {o.dividend, o.rate}, dS = o.top / (points - 1);
            for (int k = 0; k < 2; k++) {
                double h = rate[k] * dt;
                factor[k] = !is_implicit ? pow(1 - h, o.steps)
                            : flags & CN ? pow((1 - h / 2) / (1 + h / 2), o.steps - 2) / pow(1 + h / 2, 4)
                                         : pow(1 + h, -o.steps);
            }
            double tolerance = case_tolerance(is_implicit, 0, points, o, roundoff_of[1]);
            check_near(c.price - p.price, o.spot * factor[0] - o.strike * factor[1], 4 * tolerance,
                       "%s parity, flags %d", method_name[is_implicit], flags);
            check_near(c.delta - p.delta, factor[0], 8 * tolerance / dS, "%s parity of delta, flags %d",
                       method_name[is_implicit], flags);
            check_near(c.gamma, p.gamma, 16 * tolerance / (dS * dS), "%s parity of gamma, flags %d",
                       method_name[is_implicit], flags);
        }
}

/* Makes an option whose strike lies in the middle of a cell on every grid of an even number of points, so that errors
   fall smoothly. The spot is moved to the middle of its cell, too. */
static case_option smooth_case(double spot, int points, int steps, int flags, double maturity)
{
    case_option o = {0, 100, 0.05, 0.02, 0.2, maturity, 200, steps, flags};
    double dS = o.top / (points - 1);
    o.spot = dS * (floor(spot / dS) + 0.5);
    return o;
}

static double relative_error(double got, double want)
{
    return fabs(got - want) / fabs(want);
}

/* Compares with Black and Scholes. With 400 points and many steps, the error in space dominates; it is of the order of
   (dS / (volatility strike))^2 = 6e-4 of the value, times a number below one. */
static void test_black_scholes(void)
{
    for (int put = 0; put < 2; put++)
        for (int averaged = 0; averaged < 2; averaged++) {
            int flags = (put ? PUT : 0) | (averaged ? AVERAGED : 0);
            case_option explicit_case = smooth_case(104, 400, 8000, flags, 1);
            case_option implicit_case = smooth_case(104, 400, 2000, flags | CN, 1);
            case_result want = case_black_scholes(explicit_case);
            case_result got[2] = {price(0, 400, explicit_case, NULL), price(1, 400, implicit_case, NULL)};
            for (int i = 0; i < 2; i++) {
                double worst =
                    fmax(fmax(relative_error(got[i].price, want.price), relative_error(got[i].delta, want.delta)),
                         fmax(relative_error(got[i].gamma, want.gamma), relative_error(got[i].theta, want.theta)));
                CHECK(worst <= 6e-4, "%s, flags %d: Black-Scholes is missed by %.3g", method_name[i], flags, worst);
            }
        }
}

/* Checks that Crank-Nicolson with a Rannacher start is of second order: twice the points and steps, a quarter of the
   error. */
static void test_second_order(void)
{
    double before[2] = {0, 0};
    for (int points = 128; points <= 1024; points *= 2) {
        case_option o = smooth_case(100, points, points / 4, CN, 1);
        case_result got = price(1, points, o, NULL), want = case_black_scholes(o);
        double error[2] = {got.price - want.price, got.gamma - want.gamma};
        printf("%d points, %d steps: price off by %.3g, gamma by %.3g\n", points, o.steps, error[0], error[1]);
        for (int k = 0; k < 2; k++) {
            double ratio = before[k] / error[k];
            CHECK(points == 128 || (ratio > 3.7 && ratio < 4.3), "%d points: the error of %s fell by %.3g", points,
                  k ? "gamma" : "price", ratio);
            before[k] = error[k];
        }
    }
}

/* Checks averaged payoffs. If the payoff is taken at the points, the error depends on where in its cell the strike
   lies, and may even change its sign; averaged over cells it does not. So while the strike crosses a cell, results of
   averaged payoffs vary much less, and gamma's worst error is no larger than that of the plain payoff, which is worst
   with the strike in the middle. */
static void test_averaged_payoff(void)
{
    double spread[2][2];
    for (int averaged = 0; averaged < 2; averaged++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k <= 20; k++) {
            case_option o = smooth_case(100, 256, 400, CN | (averaged ? AVERAGED : 0), 0.25);
            o.strike = o.top / 255 * (127 + k / 20.0);
            case_result got = price(1, 256, o, NULL), want = case_black_scholes(o);
            double error[2] = {got.price - want.price, (got.gamma - want.gamma) / want.gamma};
            for (int i = 0; i < 2; i++) {
                low[i] = fmin(low[i], error[i]);
                high[i] = fmax(high[i], error[i]);
            }
        }
        for (int i = 0; i < 2; i++) spread[averaged][i] = high[i] - low[i];
        printf("%s payoff, strike across a cell: price off by %.2g to %.2g, gamma by %.2g to %.2g of itself\n",
               averaged ? "averaged" : "plain", low[0], high[0], low[1], high[1]);
    }
    for (int i = 0; i < 2; i++)
        CHECK(spread[1][i] < spread[0][i] / 10, "the error of %s varies by %.3g averaged and by %.3g plain",
              i ? "gamma" : "price", spread[1][i], spread[0][i]);
}

/* Checks the American put of the literature, S = K = 100, by each kind of step. Backward Euler is of first order, so it
   needs more steps. */
static void test_american_put(void)
{
    static const struct {
        int is_implicit, steps, flags;
    } way[] = {{0, 13200, 0}, {1, 1600, 0}, {1, 1600, INCREMENT}, {1, 200, CN}, {1, 200, CN | INCREMENT}};
    for (int i = 0; i < 5; i++) {
        case_option o = {100, 100, 0.05, 0, 0.2, 1, 200, way[i].steps, PUT | AMERICAN | way[i].flags};
        double value = price(way[i].is_implicit, 512, o, NULL).price;
        check_near(value, 6.0903705909601, 2e-3, "%s American put, flags %d", method_name[way[i].is_implicit], o.flags);
    }
}

/* Checks theta, which follows from price, delta and gamma by the PDE, so a few steps suffice: with 100 Crank-Nicolson
   steps a difference in time was off by 1.1e-2, but this theta is off by 1.1e-4. Where it pays to exercise now, the
   value does not change with time. */
static void test_theta(void)
{
    case_option o = {100, 100, 0.05, 0, 0.2, 1, 200, 100, CN},
                put = {60, 100, 0.05, 0, 0.2, 1, 200, 400, PUT | AMERICAN};
    check_near(price(1, 256, o, NULL).theta, case_black_scholes(o).theta, 1.5e-3, "theta after 100 steps");
    o.flags |= AVERAGED;
    check_near(price(1, 512, o, NULL).theta, case_black_scholes(o).theta, 4e-4, "theta of 512 points, averaged");
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        put.steps = is_implicit ? 400 : 4000;
        case_result r = price(is_implicit, 256, put, NULL);
        CHECK(r.theta == 0, "%s: theta of a put that is exercised is %g", method_name[is_implicit], r.theta);
        check_near(r.price, 40, 1e-12, "%s: price of a put that is exercised", method_name[is_implicit]);
        put.flags &= ~AMERICAN;
        r = price(is_implicit, 256, put, NULL);
        CHECK(r.theta > 1, "%s: theta of a put that cannot be exercised is %g", method_name[is_implicit], r.theta);
        put.flags |= AMERICAN;
    }
}

/* Checks a few long steps on fine grids, where the drift is too large for the last row: such options, once refused, are
   priced as well as the steps allow. 2 gamma of the last row is 1.3 to 10 here. A drift that exceeds the diffusion
   elsewhere is still refused. */
static void test_long_steps(void)
{
    static const struct {
        int steps, flags;
        double tolerance; /* of a price of 13.27 (call), 3.75 (put), 4.82 (American put) */
    } way[] = {{10, 0, 0.13}, {40, 0, 0.033}, {10, CN, 1.2e-2}, {40, CN, 1e-3}};
    double american[2]; /* with many steps on a fine grid */
    for (int put = 0; put < 2; put++) {
        case_option fine = {100, 100, 0.1, 0, 0.2, 1, 400, 3200, CN | AVERAGED | AMERICAN | (put ? PUT : 0)};
        american[put] = price(1, 1000, fine, NULL).price;
    }
    for (int points = 512; points <= 1024; points *= 2)
        for (int i = 0; i < 4; i++)
            for (int put = 0; put < 2; put++) {
                case_option o = {
                    100, 100, 0.1, 0, 0.2, 1, 400, way[i].steps, way[i].flags | AVERAGED | (put ? PUT : 0)};
                bs1d_model m = {o.volatility * o.volatility / (2 * o.steps), o.rate / (2 * o.steps), o.rate / o.steps,
                                points, 0};
                double a, b, c, left_out = bs1d_lane_matrix(m, o.flags & CN ? 0.5 : 1, points - 1, &a, &b, &c);
                check_near(left_out, o.rate / o.steps * (points - 1) * (o.flags & CN ? 0.5 : 1), 1e-12, "left out");
                double got = price(1, points, o, NULL).price, want = case_black_scholes(o).price;
                check_near(got, want, way[i].tolerance, "%d points, %d steps, flags %d", points, o.steps, o.flags);
                o.flags |= AMERICAN;
                got = price(1, points, o, NULL).price;
                check_near(got, american[put], put && i > 1 ? 4e-2 : way[i].tolerance,
                           "American, %d points, %d steps, flags %d", points, o.steps, o.flags);
            }
    bs1d_model m = {5e-5, 0.1, 0.2, 512, 0}; /* 1 percent, 20 percent, a step of a year */
    int dominant = 1;
    for (int j = 0; j < 512; j++) dominant &= bs1d_lane_dominant(m, 1, j);
    CHECK(!dominant, "rows of drift alone count as dominant");
    m.upwind = 1;
    for (int j = 0; j < 512; j++) CHECK(bs1d_lane_dominant(m, 1, j), "upwinded row %d is not dominant", j);
}

/* Checks upwinding. With a volatility of 2 percent on 128 points, central differences oscillate, and a put at the money
   comes out negative. bs1d_check foresees this, and upwinding avoids it: all values are positive, decreasing in the
   spot and convex. */
static void test_upwind(void)
{
    static double grid[128];
    case_option o = {100, 100, 0.05, 0, 0.02, 1, 200, 1000, PUT};
    bs1d_option_f64 packed = {100, 100, 0.05, 0, 0.02, 1, 200, 1000, PUT};
    double central = price(1, 128, o, NULL).price;
    CHECK(central < -0.02, "the put is worth %g: this test needs an oscillation", central);
    CHECK(bs1d_check_f64(&packed, 128, 1) == BS1D_OSCILLATES, "nothing was said of it");
    packed.rate = 0, packed.dividend = 0.05; /* the same drift downwards */
    CHECK(bs1d_check_f64(&packed, 128, 1) == BS1D_OSCILLATES, "nothing was said of a dividend above the rate");
    packed.rate = 0.05, packed.dividend = 0;
    packed.flags = o.flags |= BS1D_UPWIND;
    CHECK(bs1d_check_f64(&packed, 128, 1) == BS1D_OK, "upwinded, it counts as oscillating");
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        case_result r = price(is_implicit, 128, o, grid);
        CHECK(r.price > 0 && r.delta <= 0 && r.gamma >= 0, "%s: price %g, delta %g, gamma %g", method_name[is_implicit],
              r.price, r.delta, r.gamma);
        for (int j = 1; j < 127; j++)
            CHECK(grid[j] >= 0 && grid[j] <= grid[j - 1] + 1e-12 && grid[j + 1] - 2 * grid[j] + grid[j - 1] >= -1e-11,
                  "%s: the grid is not what a put looks like at %d", method_name[is_implicit], j);
    }
    /* Where diffusion is large enough already, nothing changes. */
    case_option plenty = smooth_case(100, 128, 100, CN, 1), same = plenty;
    plenty.dividend = same.dividend = plenty.rate - 1e-6;
    same.flags |= BS1D_UPWIND;
    case_result with = price(1, 128, same, NULL), without = price(1, 128, plenty, NULL);
    CHECK(!memcmp(&with, &without, sizeof with), "upwinding changed what it need not");
}

/* Checks that a march in two parts, the second from the values that the first left, equals the whole march, and that
   the payoff given as start values acts as the payoff. */
static void test_given(void)
{
    static double grid[3][200];
    for (int is_implicit = 0; is_implicit < 2; is_implicit++)
        for (int precision = 0; precision < 2; precision++) {
            case_random random = {SEED + 4};
            case_option option[3], part[3];
            case_result whole[3], parts[3];
            int status[3];
            for (int i = 0; i < 3; i++) part[i] = option[i] = case_option_of(&random, is_implicit, 200, 40, i % 2);
            run_of[precision](is_implicit, 3, 200, option, whole, status, grid[0]);
            for (int k = 0; k < 2; k++) {
                for (int i = 0; i < 3; i++) {
                    part[i].steps = k ? 30 : 10;
                    part[i].maturity = (double)part[i].steps / 40 * option[i].maturity;
                    part[i].flags |= k ? BS1D_GIVEN : 0;
                }
                run_of[precision](is_implicit, 3, 200, part, parts, status, grid[0]);
            }
            for (int i = 0; i < 3; i++) {
                double tolerance = 4 * case_tolerance(is_implicit, 0, 200, option[i], roundoff_of[precision]);
                CHECK(status[i] == BS1D_OK, "status %d", status[i]);
                check_near(parts[i].price, whole[i].price, tolerance, "%s: a march in two parts",
                           method_name[is_implicit]);
            }
            run_of[precision](is_implicit, 3, 200, part, parts, status, NULL);
            CHECK(status[0] == BS1D_BAD_ARGUMENT && isnan(parts[0].price), "given without a grid: status %d",
                  status[0]);
        }
    /* Early exercise pays what flags and strike say, whatever values are given: an American put that starts from zeros
       is worth its exercise. */
    case_option o = {60, 100, 0.05, 0, 0.2, 1, 200, 400, PUT | AMERICAN | BS1D_GIVEN};
    memset(grid, 0, sizeof grid);
    check_near(price(1, 200, o, grid[0]).price, 40, 1e-12, "an American put of nothing else");
    /* Exercise does not hide NaN either. */
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        case_option one = {60, 100, 0.05, 0, 0.2, 0.01, 200, 2, PUT | AMERICAN | BS1D_GIVEN};
        case_result result;
        int status;
        memset(grid, 0, sizeof grid);
        grid[0][60] = NAN;
        run_f64(is_implicit, 1, 200, &one, &result, &status, grid[0]);
        CHECK(isnan(grid[0][60]), "%s: early exercise makes %g of a NaN", method_name[is_implicit], grid[0][60]);
    }
}

/* Checks that bs1d_check returns the status that the march reports. */
static void test_check(void)
{
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        case_random random = {SEED + 5};
        for (int i = 0; i < 3 * CASE_BAD_KINDS; i++) {
            static double work[BS1D_HOST_LEN(100)];
            const char *what = "a good one";
            case_option o = case_option_of(&random, is_implicit, 100, 5, i % 4 ? 0 : PUT);
            if (i % 3) case_spoil(i / 3, is_implicit, 100, DBL_MAX, &o, &what);
            bs1d_option_f64 p = {o.spot,     o.strike, o.rate,  o.dividend, o.volatility,
                                 o.maturity, o.top,    o.steps, o.flags};
            bs1d_result_f64 r;
            (is_implicit ? bs1d_host_implicit_f64 : bs1d_host_explicit_f64)(1, 100, &p, &r, NULL, work);
            int says = bs1d_check_f64(&p, 100, is_implicit);
            CHECK(says == (int)r.status || (says == BS1D_OSCILLATES && r.status == BS1D_OK),
                  "%s: check says %d, not %d", what, says, (int)r.status);
        }
    }
    bs1d_option_f64 o = {100, 100, 0.05, 0, 0.2, 1, 200, 50000, 0};
    CHECK(bs1d_check_f64(NULL, 100, 1) == BS1D_BAD_ARGUMENT && bs1d_check_f64(&o, 3, 1) == BS1D_BAD_SIZE &&
              bs1d_check_f64(&o, 1025, 0) == BS1D_BAD_SIZE && bs1d_check_f64(&o, 256, 0) == BS1D_OK,
          "arguments of check");
    for (int i = 0; i < 4; i++) {
        bs1d_option_f32 f = {100, 100, 0.05f, i == 3 ? 0.9f : 0,       i > 1 ? 0.02f : 0.2f,
                             1,   200, 1,     i == 2 ? BS1D_UPWIND : 0};
        o.volatility = i > 1 ? 0.02 : 0.2;
        o.dividend = i == 3 ? 0.9 : 0;
        o.flags = f.flags;
        o.steps = bs1d_fewest_steps_f64(&o, 256);
        f.steps = bs1d_fewest_steps_f32(&f, 256);
        CHECK(o.steps > 1 && f.steps > 1 && bs1d_check_f64(&o, 256, 0) >= 0 && bs1d_check_f32(&f, 256, 0) >= 0,
              "%d, %d steps are not stable", (int)o.steps, f.steps);
        o.steps--, f.steps--;
        CHECK(bs1d_check_f64(&o, 256, 0) == BS1D_UNSTABLE && bs1d_check_f32(&f, 256, 0) == BS1D_UNSTABLE,
              "%d, %d steps are stable", (int)o.steps, f.steps);
    }
    o.top = -1;
    CHECK(bs1d_fewest_steps_f64(&o, 256) == 0 && bs1d_fewest_steps_f64(NULL, 256) == 0, "steps for what is bad");
}

/* Checks that options price to the tolerance with the points and steps that bs1d_suggest fills in: options of all
   kinds, and every tolerance that 1024 points can reach. */
static void test_suggest(void)
{
    static double work[BS1D_HOST_LEN(1024)];
    static float work_f32[BS1D_HOST_LEN(1024)];
    case_random random = {SEED + 6};
    int refused = 0, tried = 0;
    double cells = 0;
    for (int i = 0; i < 1000; i++) {
        double tolerance = pow(10, -1 - i % 3), spot = exp(case_between(&random, -2, 6)), strike;
        case_option o = {spot, 0, 0, 0, 0, 0, 0, 1, i & 1};
        strike = o.strike = spot * exp(case_between(&random, -0.7, 0.7));
        tolerance *= strike / 100;
        o.rate = case_between(&random, -0.02, 0.12);
        o.dividend = case_between(&random, 0, 0.1);
        o.volatility = exp(case_between(&random, log(0.05), 0));
        o.maturity = exp(case_between(&random, log(0.02), log(4.0)));
        o = case_rounded(o);
        if (check_short() && i >= 40 && i % 5) continue;
        bs1d_option_f64 p = {o.spot, o.strike, o.rate, o.dividend, o.volatility, o.maturity, 0, 0, o.flags};
        bs1d_result_f64 r = {0, 0, 0, 0, 0};
        int points = 0, status = bs1d_suggest_f64(tolerance, &p, &points), plain = i < 100 && tolerance > 1e-4 * strike;
        CHECK(status == BS1D_OK || status == BS1D_BAD_TOLERANCE, "suggest: status %d", status);
        CHECK(points >= 64 && points <= 1024 && bs1d_check_f64(&p, points, 1) >= 0, "suggest: %d points", points);
        refused += status != BS1D_OK, tried++;
        cells += (double)points * (double)p.steps;
        if (status) continue;
        bs1d_host_implicit_f64(1, points, &p, &r, NULL, work);
        check_near(r.price, case_black_scholes(o).price, tolerance,
                   "suggested: strike %g of spot %g, volatility %g, "
                   "maturity %g, rate %g, dividend %g, top %g, %d points, %d steps",
                   o.strike, spot, o.volatility, o.maturity, o.rate, o.dividend, p.top, points, (int)p.steps);
        if (i % 10 == 0) { /* more points, which a batch may need, are as good; so is single precision */
            bs1d_host_implicit_f64(1, points < 512 ? 2 * points : 1024, &p, &r, NULL, work);
            check_near(r.price, case_black_scholes(o).price, tolerance, "suggested, with more points");
            bs1d_option_f32 q = {(float)o.spot,
                                 (float)o.strike,
                                 (float)o.rate,
                                 (float)o.dividend,
                                 (float)o.volatility,
                                 (float)o.maturity,
                                 0,
                                 0,
                                 o.flags};
            bs1d_result_f32 s;
            if (bs1d_suggest_f32(tolerance, &q, &points) == BS1D_OK) {
                bs1d_host_implicit_f32(1, points, &q, &s, NULL, work_f32);
                check_near(s.price, case_black_scholes(o).price, tolerance, "suggested in single precision");
            }
        }
        if (plain) { /* an American put, against a march with about four times the points and 16 times the steps */
            bs1d_option_f64 fine;
            bs1d_result_f64 t;
            p.flags = PUT | AMERICAN;
            if (bs1d_suggest_f64(tolerance, &p, &points)) continue;
            fine = p;
            fine.steps *= 16;
            bs1d_host_implicit_f64(1, points, &p, &r, NULL, work);
            bs1d_host_implicit_f64(1, points < 256 ? 4 * points : 1024, &fine, &t, NULL, work);
            check_near(r.price, t.price, tolerance, "suggested, American");
        }
    }
    /* No suggestion costs much more than it must: checks the sum of points times steps, and how many are refused. */
    CHECK(refused < tried / 20, "%d of %d refused", refused, tried);
    CHECK(cells < 30000.0 * tried, "%.0f points times steps an option", cells / tried);
    if (check_short()) check_skip(1, "four of five suggestions: SHORT_TESTS is set");
    bs1d_option_f64 o = {100, 100, 0.05, 0, 0.2, 1, 0, 0, 0};
    int points;
    CHECK(bs1d_suggest_f64(1e-9, &o, &points) == BS1D_BAD_TOLERANCE && points == 1024, "a tolerance of 1e-9");
    CHECK(bs1d_suggest_f64(1e-320, &o, &points) == BS1D_BAD_TOLERANCE && points == 1024, "a tolerance of 1e-320");
    /* Drift that outweighs diffusion over many points needs more steps than the tolerance: the matrix must stay
       dominant. */
    const bs1d_option_f64 drifting[] = {{105.9, 100, 0.1071, 0.0774, 0.00651, 7.3, 0, 0, 0},
                                        {63.8, 100, -0.084, 0.1271, 0.01824, 1.02, 0, 0, BS1D_PUT},
                                        {82, 100, 0.2625, 0.0037, 0.02109, 1.18, 0, 0, BS1D_PUT}};
    for (int i = 0; i < 3; i++) {
        bs1d_option_f64 p = drifting[i];
        bs1d_result_f64 r = {0, 0, 0, 0, 0};
        case_option exact = {p.spot, p.strike, p.rate, p.dividend, p.volatility, p.maturity, 0, 1, (int)p.flags};
        CHECK(bs1d_suggest_f64(3, &p, &points) == BS1D_OK, "drift %d, a tolerance of 3", i);
        bs1d_host_implicit_f64(1, points, &p, &r, NULL, work);
        CHECK(r.status == BS1D_OK, "drift %d, %d points, %d steps: status %d", i, points, (int)p.steps, (int)r.status);
        check_near(r.price, case_black_scholes(exact).price, 3, "drift %d", i);
    }
    CHECK(isnan(bs1d_lane_payoff(BS1D_PUT, NAN, 1, 64, 10)), "the payoff of a strike that is NaN");
    CHECK(bs1d_suggest_f64(1e-4, &o, &points) == BS1D_OK && points < 512, "a tolerance of 1e-4: %d points", points);
    CHECK(strcmp(bs1d_status_string(BS1D_BAD_TOLERANCE), bs1d_status_string(-1000)), "the words of a bad tolerance");
    CHECK(bs1d_suggest_f64(0, &o, &points) == BS1D_BAD_NUMBER &&
              bs1d_suggest_f64(NAN, &o, &points) == BS1D_BAD_NUMBER &&
              bs1d_suggest_f64(1e-3, NULL, &points) == BS1D_BAD_ARGUMENT &&
              bs1d_suggest_f64(1e-3, &o, NULL) == BS1D_BAD_ARGUMENT,
          "arguments of suggest");
    o.volatility = -1;
    CHECK(bs1d_suggest_f64(1e-3, &o, &points) == BS1D_BAD_NUMBER, "suggest for a negative volatility");
}

/* Checks composed steps. In the row that bs1d_lane_composed follows, and in others of a grid of 200 points, what falls
   outside the stencil is at most a unit roundoff, as a march in long double shows; one more step would lose more in
   the first. The coefficients are those of that march to half a unit in the last place, except the diagonal, which
   makes the rounded row sum to what it should: a constant is then marched exactly, to the rounding of the diagonal,
   where the rounding of the other coefficients would add up to several units. */
static void test_composed(void)
{
    enum { POINTS = 200 };
    static long double row[POINTS], next[POINTS];
    static const double lambda_max[] = {0.49, 0.2, 0.05, 0.026, 0.004};
    double uncorrected = 0;
    for (int i = 0; i < 5; i++)
        for (int precision = 0; precision < 2; precision++)
            for (int H = precision ? 5 : 8; H >= 2; H -= 3) {
                double j = POINTS - 1, roundoff = roundoff_of[precision];
                bs1d_model m = {lambda_max[i] / (j * j), 0.3 * lambda_max[i] / (j * j), 0, POINTS, 0};
                m.discount = 0.6 * m.drift;
                int most = precision ? bs1d_lane_composed_f64(m, H) : bs1d_lane_composed_f32(m, H);
                int at[] = {POINTS - 2 - H, POINTS - 1, POINTS - 2, POINTS / 2, 1, 0};
                CHECK(most >= H, "%d steps in a stencil of %d", most, H);
                for (int k = 0; k < 6; k++)
                    for (int steps = most; steps <= most + (k == 0); steps++) {
                        /* (I + A)^steps, this row, in full */
                        memset(row, 0, sizeof row);
                        row[at[k]] = 1;
                        for (int s = 0; s < steps; s++) {
                            memset(next, 0, sizeof next);
                            for (int q = 0; q < POINTS; q++) {
                                double a, b, c;
                                bs1d_lane_row(m, q, &a, &b, &c);
                                if (q > 0) next[q - 1] += row[q] * a;
                                next[q] += row[q] * (1 + (long double)b);
                                if (q < POINTS - 1) next[q + 1] += row[q] * c;
                            }
                            memcpy(row, next, sizeof row);
                        }
                        long double dropped = 0, sum = 0, want = powl(1 - (long double)m.discount, steps) - 1;
                        for (int q = 0; q < POINTS; q++)
                            if (q < at[k] - H || q > at[k] + H) dropped += fabsl(row[q]);
                        if (steps > most) {
                            CHECK(dropped > roundoff / 4 || most == 256, "%d steps fit %d points to each side, not %d",
                                  steps, H, most);
                            continue;
                        }
                        CHECK(dropped <= (most > H ? roundoff : 1e-18), "lambda %g, %d points: %Lg is lost in row %d",
                              lambda_max[i], H, dropped, at[k]);
                        float f32[17];
                        double f64[17], diagonal, plain = 0;
                        if (precision)
                            bs1d_lane_compose_f64(1, H, m, at[k], steps, f64);
                        else
                            bs1d_lane_compose_f32(1, H, m, at[k], steps, f32);
                        for (int q = 0; q <= 2 * H; q++) {
                            int p = at[k] - H + q;
                            double got = precision ? f64[q] : (double)f32[q];
                            long double exact = p < 0 || p >= POINTS ? 0 : row[p] - (q == H);
                            sum += got;
                            plain += q == H ? (precision ? (double)exact : (double)(float)exact) : got;
                            if (q != H)
                                check_near(got, (double)exact,
                                           roundoff * fabs(got) + (precision ? 4e-16 : 0) + 1.1 * roundoff * (most > H),
                                           "coefficient %d of row %d", q - H, at[k]);
                        }
                        diagonal = precision ? f64[H] : (double)f32[H];
                        check_near((double)(sum - want), 0, 1.01 * roundoff * fabs(diagonal) + (precision ? 2e-16 : 0),
                                   "row %d sums to another than the discount, %d steps of lambda %g", at[k], steps,
                                   lambda_max[i]);
                        if (!precision) uncorrected = fmax(uncorrected, fabs(plain - (double)want) / fabs(diagonal));
                    }
            }
    CHECK(uncorrected > 1.2 * roundoff_of[0], "rounding alone is off by %.3g: this test cannot see the correction",
          uncorrected);
}

/* Checks that numbers at the ends of the range, and a drift that no diffusion damps, give a status, and never a number
   that could be taken for a price. */
static void test_overflow(void)
{
    static double work[BS1D_HOST_LEN(1024)];
    static float work_f32[BS1D_HOST_LEN(64)];
    bs1d_result_f64 r;
    bs1d_option_f64 drifting = {100, 100, 0.2, 0, 0.01, 10, 400, 1050, 0},
                    tiny = {0, 5e-324, 0.05, 0, 0.2, 1, 5e-324, 30, 0};
    bs1d_option_f64 instant = {100, 100, 0.05, 0, 0.2, 5e-324, 200, 4, 0};
    bs1d_option_f64 large = {1e160, 1e160, 0.05, 0, 0.2, 1, 4e160, 300, BS1D_AVERAGED};
    bs1d_option_f64 small = {1e-170, 1e-170, 0.05, 0, 0.2, 1, 4e-170, 300, 0};
    bs1d_host_explicit_f64(1, 1024, &drifting, &r, NULL, work);
    CHECK(r.status == BS1D_UNSTABLE && r.price != r.price, "drift without diffusion: status %d", (int)r.status);
    bs1d_host_implicit_f64(1, 64, &tiny, &r, NULL, work);
    CHECK(r.status == BS1D_BAD_NUMBER && r.price != r.price, "subnormal top: status %d", (int)r.status);
    bs1d_host_implicit_f64(1, 64, &instant, &r, NULL, work);
    CHECK(r.status == BS1D_BAD_NUMBER, "time step of zero: status %d", (int)r.status);
    bs1d_host_implicit_f64(1, 64, &large, &r, NULL, work);
    CHECK(r.status == BS1D_OK && r.price > 0 && r.price < 1e160, "large numbers: status %d", (int)r.status);
    bs1d_host_implicit_f64(1, 64, &small, &r, NULL, work);
    CHECK(r.status == BS1D_OK && r.gamma > 1e167, "small numbers: status %d, gamma %g", (int)r.status, r.gamma);

    bs1d_result_f32 s;
    bs1d_option_f32 steep = {100, 100, 3e38f, 3e38f, 0.2f, 1e3f, 400, 1, 0};
    bs1d_host_implicit_f32(1, 64, &steep, &s, NULL, work_f32);
    CHECK(s.status == BS1D_BAD_NUMBER, "overflow in single precision: status %d", s.status);
}

int main(void)
{
    printf("seed %d\n", SEED);
    test_status_strings();
    test_arguments();
    test_known_answers();
    test_model_problem();
    test_batches();
    test_bad_options();
    test_ends_and_no_grid();
    test_parity();
    test_black_scholes();
    test_second_order();
    test_averaged_payoff();
    test_theta();
    test_long_steps();
    test_upwind();
    test_given();
    test_check();
    test_suggest();
    test_composed();
    test_overflow();
    test_american_put();
    return check_report();
}
