/* test_lsmc_host.c - the plain C reference of least-squares Monte Carlo.
   MIT licence, see LICENSE.

   Known answers: for Philox, those of the Random123 distribution; the example of eight paths from Longstaff and
   Schwartz (2001), with more digits from its normal equations in rational arithmetic; Bermudan prices by quadrature
   from date to date; Black and Scholes' formula. Where chance enters, the tolerance is four standard errors, which
   chance exceeds once in 15000 times. */
#define LSMC_NO_MAIN
#include "../examples/american_lsmc_host.c"

#include "check.h"

#include <string.h>

enum { SEED = 20011 };

static void generator(void)
{
    static const uint32_t known[3][3][4] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                                            {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                                             {0xffffffff, 0xffffffff},
                                             {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                                            {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                                             {0xa4093822, 0x299f31d0},
                                             {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (int i = 0; i < 3; i++) {
        uint32_t word[4];
        host_philox(known[i][0], known[i][1], word);
        for (int k = 0; k < 4; k++) CHECK(word[k] == known[i][2][k], "Philox %d, word %d: %08x", i, k, word[k]);
    }
    CHECK(host_uniform(0, 0) > 0, "the least uniform is 0");
    CHECK(host_uniform(0xffffffff, 0xffffffff) < 1, "the largest uniform is 1");
    check_near(host_uniform(0x80000000, 0), 0.5, 0x1p-52, "the uniform in the middle");
    for (uint32_t path = 0; path < 50; path++) { /* the pair of normals is a point on a circle, at an angle */
        const uint32_t counter[4] = {path, 3, 1, 0}, key[2] = {5, 6};
        const double even = host_normal(((uint64_t)6 << 32) + 5, 1, path, 6);
        const double odd = host_normal(((uint64_t)6 << 32) + 5, 1, path, 7);
        uint32_t word[4];
        host_philox(counter, key, word);
        check_near(exp(-(even * even + odd * odd) / 2), host_uniform(word[0], word[1]), 1e-14, "radius, path %u", path);
        double turns = atan2(odd, even) / 6.283185307179586;
        check_near(turns < 0 ? turns + 1 : turns, host_uniform(word[2], word[3]), 1e-14, "angle, path %u", path);
    }
    check_near(host_uniform(0, 0x1000), 1.5 * 0x1p-52, 0, "the second uniform");
}

/* Checks moments of the paths: at date i the variance is i, of dates i < j the covariance is i; the kurtosis is 3. */
static void distribution(void)
{
    enum { PATHS = 1 << 16, DATES = 5 };
    static double w[PATHS * DATES];
    const double root = sqrt(PATHS);
    for (uint32_t pass = 0; pass < 2; pass++) {
        host_paths(SEED, pass, PATHS, DATES, w);
        for (int i = 0; i < DATES; i++) {
            double mean = 0, fourth = 0, variance = i + 1;
            for (int p = 0; p < PATHS; p++) {
                double x = w[i * PATHS + p];
                mean += x / PATHS;
                fourth += x * x * x * x / PATHS;
            }
            check_near(mean, 0, 4 * sqrt(variance) / root, "mean at date %d", i + 1);
            check_near(fourth, 3 * variance * variance, 4 * sqrt(96.0) * variance * variance / root,
                       "fourth moment at date %d", i + 1);
            for (int j = i; j < DATES; j++) {
                double covariance = 0, spread = sqrt((i + 1.0) * (j + 1.0) + (i + 1.0) * (i + 1.0));
                for (int p = 0; p < PATHS; p++) covariance += w[i * PATHS + p] * w[j * PATHS + p] / PATHS;
                check_near(covariance, i + 1, 4 * spread / root, "covariance of dates %d and %d", i + 1, j + 1);
            }
        }
    }
    host_paths(SEED, 0, 3, 4, w);
    host_paths(SEED, 0, 7, 4, w + 100);
    for (int i = 0; i < 12; i++)
        CHECK(w[i] == w[100 + i / 3 * 7 + i % 3], "path %d depends on how many there are", i % 3);
    host_paths(SEED + 1, 0, 3, 4, w + 100);
    CHECK(w[0] != w[100], "another seed, the same path");
    host_paths(SEED + ((uint64_t)1 << 40), 0, 3, 4, w + 100);
    CHECK(w[0] != w[100], "the seed's upper word does not count");
    host_paths(SEED, 1, 3, 4, w + 100);
    CHECK(w[0] != w[100], "another pass, the same path");
}

/* Converts coefficients in x = S/K - 1 to coefficients in S. */
static void in_spot(const double *c, double strike, double *out)
{
    out[0] = strike * (c[0] - c[1] + c[2]);
    out[1] = c[1] - 2 * c[2];
    out[2] = c[2] / strike;
}

static void eight_paths(void)
{
    enum { PATHS = 8, DATES = 3 };
    static const double s[DATES][PATHS] = {{1.09, 1.16, 1.22, 0.93, 1.11, 0.76, 0.92, 0.88},
                                           {1.08, 1.26, 1.07, 0.97, 1.56, 0.77, 0.84, 1.22},
                                           {1.34, 1.54, 1.03, 0.92, 1.52, 0.90, 1.01, 1.34}};
    static const double known[2][3] = {{2.0375123424, -3.3354434031, 1.3564565881},
                                       {-1.0699876553, 2.9834106259, -1.8135761829}};
    const host_option option = {1, 1.1, 0.06, 0, 1, 3, 1};
    double w[PATHS * DATES], c[2 * 3], cash[PATHS], spot[3];
    for (int i = 0; i < PATHS * DATES; i++) w[i] = log(s[i / PATHS][i % PATHS]) + 0.44 * (i / PATHS + 1);
    host_result american = host_price(&option, PATHS, DATES, 2, 4, w, c, cash);
    check_near(american.price, 0.114434330045, 1e-12, "eight paths, American");
    for (int date = 1; date <= 2; date++) {
        in_spot(c + 3 * (date - 1), 1.1, spot);
        /* As known, to 10 decimals; the matrix is ill-conditioned only in S. */
        for (int k = 0; k < 3; k++) check_near(spot[k], known[date - 1][k], 1e-10, "regression at %d, S^%d", date, k);
    }
    /* The paper's stopping rule: paths 4, 6, 7, 8 at once, path 3 at the end, the others never. */
    static const double flow[PATHS] = {0, 0, 0.07, 0.17, 0, 0.34, 0.18, 0.22};
    static const int when[PATHS] = {1, 1, 3, 1, 1, 1, 1, 1};
    for (int p = 0; p < PATHS; p++)
        check_near(1.1 * cash[p], flow[p] * exp(-0.06 * when[p]), 1e-15, "eight paths, cash of %d", p + 1);
    host_result european = host_price(&option, PATHS, DATES, 2, PATHS + 1, w, c, cash);
    check_near(european.price, 0.056380739270, 1e-12, "eight paths, European");
    for (int i = 0; i < 6; i++) CHECK(i % 3 ? c[i] == 0 : c[i] == INFINITY, "coefficient %d without exercise", i);
    /* Five paths are in the money on both dates: enough if the least is five, not if it is six. */
    check_near(host_price(&option, PATHS, DATES, 2, 5, w, c, cash).price, american.price, 0, "least of 5");
    check_near(host_price(&option, PATHS, DATES, 2, 6, w, c, cash).price, european.price, 0, "least of 6");
}

/* Fits by Gram-Schmidt, applied twice, in long double: another way to the same least-squares polynomial. */
static void by_orthogonality(int n, int degree, const double *x, const double *y, double *fitted)
{
    enum { MOST = 64 };
    long double q[HOST_MAX_COEFFICIENTS][MOST], rest[MOST];
    for (int i = 0; i < n; i++) rest[i] = y[i];
    for (int k = 0; k <= degree; k++) {
        long double norm = 0;
        for (int i = 0; i < n; i++) q[k][i] = k ? q[k - 1][i] * x[i] : 1; /* spans the same as x^k */
        for (int twice = 0; twice < 2; twice++) {
            for (int j = 0; j < k; j++) {
                long double dot = 0;
                for (int i = 0; i < n; i++) dot += q[j][i] * q[k][i];
                for (int i = 0; i < n; i++) q[k][i] -= dot * q[j][i];
            }
        }
        for (int i = 0; i < n; i++) norm += q[k][i] * q[k][i];
        for (int i = 0; i < n; i++) q[k][i] /= sqrtl(norm);
        long double dot = 0;
        for (int i = 0; i < n; i++) dot += q[k][i] * rest[i];
        for (int i = 0; i < n; i++) rest[i] -= dot * q[k][i];
    }
    for (int i = 0; i < n; i++) fitted[i] = (double)(y[i] - rest[i]);
}

static void fit_points(int n, int degree, const double *x, const double *y, double *c)
{
    double moment[2 * HOST_MAX_DEGREE + 1] = {0}, right[HOST_MAX_COEFFICIENTS] = {0};
    for (int i = 0; i < n; i++) {
        double power = 1;
        for (int k = 0; k <= 2 * degree; k++, power *= x[i]) {
            moment[k] += power;
            if (k <= degree) right[k] += power * y[i];
        }
    }
    host_fit(degree, moment, right, c);
}

static void regression(void)
{
    enum { N = 40 };
    double x[N], y[N], c[HOST_MAX_COEFFICIENTS], fitted[N];
    for (int degree = 2; degree <= HOST_MAX_DEGREE; degree++) {
        for (int trial = 0; trial < 20; trial++) {
            for (int i = 0; i < N; i++) {
                x[i] = -0.5 * host_uniform((uint32_t)(trial * N + i) * 2654435761u, 0);
                y[i] = -x[i] + 0.1 * host_normal(SEED, 7, (uint32_t)(trial * N + i), 0);
            }
            fit_points(N, degree, x, y, c);
            by_orthogonality(N, degree, x, y, fitted);
            /* The scaled matrix of powers on an interval from 0 is Hilbert's; at degree 4 its condition number is
               5e5. */
            for (int i = 0; i < N; i++)
                check_near(host_continuation(degree, c, x[i]), fitted[i], 1e-11, "fit of degree %d at %d", degree, i);
        }
        /* Points at only one place, or two, do not tell powers apart. The fit is the mean at each. */
        for (int i = 0; i < N; i++) x[i] = -0.25, y[i] = i;
        fit_points(N, degree, x, y, c);
        check_near(host_continuation(degree, c, -0.25), (N - 1) / 2.0, 1e-12 * N, "one place, degree %d", degree);
        for (int i = 0; i < N; i++) x[i] = i % 2 ? -0.125 : -0.5, y[i] = i;
        fit_points(N, degree, x, y, c);
        check_near(host_continuation(degree, c, -0.5), N / 2.0 - 1, 1e-12 * N, "two places, degree %d", degree);
        check_near(host_continuation(degree, c, -0.125), N / 2.0, 1e-12 * N, "two places, degree %d", degree);
    }
}

static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double black_scholes(const host_option *o)
{
    double root = o->volatility * sqrt(o->maturity), sign = o->put ? -1 : 1;
    double d = (log(o->spot / o->strike) + (o->rate - o->dividend) * o->maturity) / root + root / 2;
    return sign * (o->spot * exp(-o->dividend * o->maturity) * normal_below(sign * d) -
                   o->strike * exp(-o->rate * o->maturity) * normal_below(sign * (d - root)));
}

static void prices(void)
{
    enum { PATHS = 1 << 14, DATES = 100, DEGREE = 3 };
    static const struct {
        host_option option;
        double exact;
    } known[] = {{{36, 40, 0.06, 0, 0.2, 1, 1}, 4.477811},
                 {{36, 40, 0.06, 0, 0.4, 2, 1}, 8.506783},
                 {{40, 40, 0.06, 0, 0.2, 1, 1}, 2.314068},
                 {{44, 40, 0.06, 0, 0.4, 2, 1}, 5.641236},
                 {{40, 36, 0, 0.06, 0.2, 1, 0}, 4.477811} /* the first one with the roles of S and K exchanged */};
    static double w[PATHS * DATES], cash[PATHS], c[DATES * (DEGREE + 1)];
    const int paths = check_short() ? PATHS / 4 : PATHS;
    for (int i = 0; i < 5; i++) {
        const host_option *o = &known[i].option;
        int dates = (int)(50 * o->maturity);
        double exact = known[i].exact;
        host_paths(SEED, 0, paths, dates, w);
        host_result first = host_price(o, paths, dates, DEGREE, DEGREE + 2, w, c, cash);
        /* Four standard errors, and on the lower side also what a polynomial of degree 3 loses. The standard deviation
           of these options' cash flows is 0.6 to 1.4 times their mean. */
        CHECK(first.price > 0.997 * exact - 4 * first.error, "price %d: %.6f", i, first.price);
        CHECK(first.price < exact + 4 * first.error, "price %d: %.6f", i, first.price);
        CHECK(first.error > 0.5 * exact / sqrt(paths) && first.error < 1.5 * exact / sqrt(paths), "error %d: %.6f", i,
              first.error);
        /* The same rule on the same paths gives the same price. */
        host_result again = host_lower(o, paths, dates, DEGREE, w, c);
        check_near(again.price, first.price, 1e-12 * exact, "second pass on the first one's paths, %d", i);
        check_near(again.error, first.error, 1e-12 * exact, "second pass on the first one's paths, %d", i);
        host_paths(SEED, 1, paths, dates, w);
        host_result second = host_lower(o, paths, dates, DEGREE, w, c);
        CHECK(second.price < exact + 4 * second.error, "second pass %d: %.6f", i, second.price);
        CHECK(second.price > 0.99 * exact - 4 * second.error, "second pass %d: %.6f", i, second.price);
        host_result european = host_price(o, paths, dates, DEGREE, paths + 1, w, c, cash);
        check_near(european.price, black_scholes(o), 4 * european.error, "European %d", i);
    }
    /* A call without dividends is worth more alive: early exercise loses, but with a good polynomial it loses
       little. */
    const host_option call = {40, 40, 0.06, 0, 0.2, 1, 0};
    host_paths(SEED, 0, paths, 50, w);
    host_result american = host_price(&call, paths, 50, DEGREE, DEGREE + 2, w, c, cash);
    check_near(american.price, black_scholes(&call), 0.01 * american.price + 4 * american.error, "call");
    if (check_short()) check_skip(1, "three of four paths of the prices: SHORT_TESTS is set");
}

/* Checks options without volatility, where all paths are the same. A waiting put loses interest on the strike, so it is
   exercised on the first date; a waiting call earns it, and is never exercised. */
static void certain(void)
{
    enum { PATHS = 100, DATES = 8 };
    double w[PATHS * DATES], cash[PATHS], c[DATES * HOST_MAX_COEFFICIENTS];
    for (int degree = 2; degree <= HOST_MAX_DEGREE; degree++) {
        const host_option put = {36, 40, 0.06, 0, 0, 1, 1}, call = {44, 40, 0.06, 0, 0, 1, 0};
        host_paths(SEED, 0, PATHS, DATES, w);
        check_near(host_price(&put, PATHS, DATES, degree, degree + 2, w, c, cash).price, 40 * exp(-0.06 / DATES) - 36,
                   1e-12, "certain put, degree %d", degree);
        check_near(host_price(&call, PATHS, DATES, degree, degree + 2, w, c, cash).price, 44 - 40 * exp(-0.06), 1e-12,
                   "certain call, degree %d", degree);
    }
}

int main(void)
{
    generator();
    distribution();
    eight_paths();
    regression();
    prices();
    certain();
    return check_report();
}
