/* american_lsmc_host.c - American options by least-squares Monte Carlo, in plain C: the reference of american_lsmc.cu.
   MIT licence, see LICENSE.

   Paths of the Black-Scholes model are drawn from counters, so each number depends only on the seed, the pass, the path
   and the date. Backwards from maturity, at each date, the later cash flow of each path is regressed on a polynomial in
   x = S/K - 1 over the paths in the money. Where exercise pays more than the polynomial predicts for waiting, the
   payoff replaces the cash flow (Longstaff and Schwartz 2001). The program prices the paper's example of eight paths,
   and four puts whose values are known. It fails if a price is off. docs/american_lsmc.md explains the method. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOST_MAX_DEGREE = 4, HOST_MAX_COEFFICIENTS = HOST_MAX_DEGREE + 1 };

typedef struct {
    double spot, strike, rate, dividend, volatility, maturity; /* years */
    int put;
} host_option;

typedef struct {
    double price, error; /* the mean over the paths, and its standard error */
} host_result;

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/* Turns a counter of four words and a key of two into four random words: Philox 4x32-10 (Salmon et al. 2011). */
static void host_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    for (int i = 0; i < 4; i++) out[i] = counter[i];
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xd2511f53 * out[0], q = (uint64_t)0xcd9e8d57 * out[2];
        uint32_t first = (uint32_t)(q >> 32) ^ out[1] ^ k0, third = (uint32_t)(p >> 32) ^ out[3] ^ k1;
        out[0] = first;
        out[1] = (uint32_t)q;
        out[2] = third;
        out[3] = (uint32_t)p;
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
}

/* Returns a uniform number in (0, 1) with 52 bits; neither end occurs, so its logarithm is finite. */
static double host_uniform(uint32_t high, uint32_t low)
{
    return ((double)(((uint64_t)high << 32 | low) >> 12) + 0.5) * 0x1p-52;
}

/* Returns the normal variate of a path and date, by Box and Muller: an even date and the next share a pair. */
static double host_normal(uint64_t seed, uint32_t pass, uint32_t path, uint32_t date)
{
    uint32_t counter[4] = {path, date / 2, pass, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, word[4];
    host_philox(counter, key, word);
    double radius = sqrt(-2 * log(host_uniform(word[0], word[1])));
    double angle = 6.283185307179586 * host_uniform(word[2], word[3]);
    return date % 2 ? radius * sin(angle) : radius * cos(angle);
}

/* Draws Brownian paths on the dates 1 .. dates; w[(date-1) * paths + path] receives them in units of the root of the
   time between two dates. They are drawn backwards, each date given the next one (a Brownian bridge to 0), so a kernel
   that marches backwards can draw them on the way and store none. pass is 0 for the paths of the regressions, 1 for
   those of the second pass. */
static void host_paths(uint64_t seed, uint32_t pass, int paths, int dates, double *w)
{
    for (int path = 0; path < paths; path++) {
        double at = sqrt((double)dates) * host_normal(seed, pass, (uint32_t)path, (uint32_t)dates);
        w[(size_t)(dates - 1) * paths + path] = at;
        for (int date = dates - 1; date >= 1; date--) {
            double share = date / (date + 1.0);
            at = share * at + sqrt(share) * host_normal(seed, pass, (uint32_t)path, (uint32_t)date);
            w[(size_t)(date - 1) * paths + path] = at;
        }
    }
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

/* Returns x = S/K - 1 on a date where the Brownian path is at w. */
static double host_position(const host_option *o, int dates, int date, double w)
{
    double dt = o->maturity / dates, drift = (o->rate - o->dividend - 0.5 * o->volatility * o->volatility) * dt;
    return o->spot / o->strike * exp(drift * date + o->volatility * sqrt(dt) * w) - 1;
}

/* Returns the payoff of exercise, in units of the strike; above 0 in the money. */
static double host_payoff(const host_option *o, double x)
{
    double gain = o->put ? -x : x;
    return gain < 0 ? 0 : gain;
}

static void host_swap(double *p, double *q)
{
    double old = *p;
    *p = *q;
    *q = old;
}

/* Computes the coefficients c[0 .. degree] of the least-squares polynomial from sums over n points: moment[k] = sum x^k
   for k up to 2*degree, right[k] = sum x^k y. Scales the normal equations to a diagonal of ones, and eliminates with
   the largest pivot on the diagonal. A pivot below 1e-12 belongs to a power that the points cannot distinguish from
   the others; that power gets a coefficient of 0. */
static void host_fit(int degree, const double *moment, const double *right, double *c)
{
    double a[HOST_MAX_COEFFICIENTS][HOST_MAX_COEFFICIENTS], b[HOST_MAX_COEFFICIENTS], scale[HOST_MAX_COEFFICIENTS];
    int n = degree + 1, power[HOST_MAX_COEFFICIENTS], rank = 0;
    for (int i = 0; i < n; i++) scale[i] = moment[2 * i] > 0 ? 1 / sqrt(moment[2 * i]) : 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[i][j] = i == j ? 1 : moment[i + j] * scale[i] * scale[j];
        b[i] = right[i] * scale[i];
        power[i] = i;
    }
    for (; rank < n; rank++) {
        int pivot = rank;
        for (int i = rank + 1; i < n; i++) pivot = a[i][i] > a[pivot][pivot] ? i : pivot;
        if (!(a[pivot][pivot] > 1e-12)) break;
        for (int i = 0; i < n; i++) host_swap(&a[rank][i], &a[pivot][i]);
        for (int i = 0; i < n; i++) host_swap(&a[i][rank], &a[i][pivot]);
        host_swap(&b[rank], &b[pivot]);
        int old = power[rank];
        power[rank] = power[pivot];
        power[pivot] = old;
        for (int i = rank + 1; i < n; i++) {
            double factor = a[i][rank] / a[rank][rank];
            for (int j = rank + 1; j < n; j++) a[i][j] -= factor * a[rank][j];
            b[i] -= factor * b[rank];
        }
    }
    for (int i = 0; i < n; i++) c[i] = 0;
    for (int i = rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < rank; j++) b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
        c[power[i]] = b[i] * scale[power[i]];
    }
}

/* Returns the value of waiting that the polynomial predicts, in units of the strike. */
static double host_continuation(int degree, const double *c, double x)
{
    double value = c[degree];
    for (int k = degree - 1; k >= 0; k--) value = value * x + c[k];
    return value;
}

/* Returns the price and its standard error, as money, from the sums of the cash flows, and of their squares, over the
   paths; the cash flows are in units of the strike. */
static host_result host_finish(const host_option *o, int paths, double sum, double squares)
{
    double mean = sum / paths, variance = fmax(squares / paths - mean * mean, 0);
    host_result result = {o->strike * mean, o->strike * sqrt(variance / fmax(paths - 1, 1))};
    return result;
}

/* Returns the price by least-squares Monte Carlo on the given paths. Today is not an exercise date; the caller compares
   the price with the payoff of immediate exercise. Nothing is exercised on a date with fewer than `least` paths in the
   money. Pass degree + 2 or more: with fewer paths the polynomial would know the future of each.
   c     degree + 1 coefficients for each date but the last, from c[(date-1) * (degree+1)]; the first is INFINITY if
         nothing is exercised on the date
   cash  one for each path */
static host_result host_price(const host_option *o, int paths, int dates, int degree, int least, const double *w,
                              double *c, double *cash)
{
    double discount = exp(-o->rate * o->maturity / dates), sum = 0, squares = 0;
    for (int p = 0; p < paths; p++)
        cash[p] = host_payoff(o, host_position(o, dates, dates, w[(size_t)(dates - 1) * paths + p]));
    for (int date = dates - 1; date >= 1; date--) {
        const double *row = w + (size_t)(date - 1) * paths;
        double *fitted = c + (date - 1) * (degree + 1), moment[2 * HOST_MAX_DEGREE + 1] = {0};
        double right[HOST_MAX_COEFFICIENTS] = {0};
        for (int p = 0; p < paths; p++) {
            double x = host_position(o, dates, date, row[p]), power = 1;
            cash[p] *= discount;
            if (!(host_payoff(o, x) > 0)) continue;
            for (int k = 0; k <= 2 * degree; k++, power *= x) {
                moment[k] += power;
                if (k <= degree) right[k] += power * cash[p];
            }
        }
        if (moment[0] >= least)
            host_fit(degree, moment, right, fitted);
        else
            for (int k = 0; k <= degree; k++) fitted[k] = k ? 0 : INFINITY;
        for (int p = 0; p < paths; p++) {
            double x = host_position(o, dates, date, row[p]), pays = host_payoff(o, x);
            if (pays > 0 && pays > host_continuation(degree, fitted, x)) cash[p] = pays;
        }
    }
    for (int p = 0; p < paths; p++) {
        cash[p] *= discount;
        sum += cash[p];
        squares += cash[p] * cash[p];
    }
    return host_finish(o, paths, sum, squares);
}

/* Returns the price of the second pass, which exercises by the coefficients on fresh paths. No strategy earns more than
   the option is worth, so the mean is a lower bound. */
static host_result host_lower(const host_option *o, int paths, int dates, int degree, const double *w, const double *c)
{
    double discount = exp(-o->rate * o->maturity / dates), sum = 0, squares = 0;
    for (int p = 0; p < paths; p++) {
        double cash = host_payoff(o, host_position(o, dates, dates, w[(size_t)(dates - 1) * paths + p]));
        for (int date = dates - 1; date >= 1; date--) {
            double x = host_position(o, dates, date, w[(size_t)(date - 1) * paths + p]), pays = host_payoff(o, x);
            cash *= discount;
            if (pays > 0 && pays > host_continuation(degree, c + (date - 1) * (degree + 1), x)) cash = pays;
        }
        cash *= discount;
        sum += cash;
        squares += cash * cash;
    }
    return host_finish(o, paths, sum, squares);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

#ifndef LSMC_NO_MAIN

int main(void)
{
    enum { FEW_PATHS = 8, FEW_DATES = 3, PATHS = 1 << 15, DATES = 50, DEGREE = 3 };
    /* The paper's paths, on three dates. With a spot and a volatility of 1, log S less its drift is a Brownian path. */
    static const double s[FEW_DATES][FEW_PATHS] = {{1.09, 1.16, 1.22, 0.93, 1.11, 0.76, 0.92, 0.88},
                                                   {1.08, 1.26, 1.07, 0.97, 1.56, 0.77, 0.84, 1.22},
                                                   {1.34, 1.54, 1.03, 0.92, 1.52, 0.90, 1.01, 1.34}};
    const host_option example = {1, 1.1, 0.06, 0, 1, 3, 1};
    double small[FEW_DATES * FEW_PATHS], cash[FEW_PATHS], fitted[FEW_DATES * HOST_MAX_COEFFICIENTS];
    for (int i = 0; i < FEW_DATES * FEW_PATHS; i++)
        small[i] = log(s[i / FEW_PATHS][i % FEW_PATHS]) - (0.06 - 0.5) * (i / FEW_PATHS + 1);
    host_result american = host_price(&example, FEW_PATHS, FEW_DATES, 2, 4, small, fitted, cash);
    /* No date has FEW_PATHS + 1 paths in the money, so nothing is exercised before maturity. */
    host_result european = host_price(&example, FEW_PATHS, FEW_DATES, 2, FEW_PATHS + 1, small, fitted, cash);
    printf("eight paths: American %.12f, European %.12f\n\n", american.price, european.price);
    int bad = !(fabs(american.price - 0.114434330045) < 1e-12) + !(fabs(european.price - 0.056380739270) < 1e-12);

    static const struct {
        host_option option;
        double exact; /* with exercise on 50 dates a year */
    } known[] = {{{36, 40, 0.06, 0, 0.2, 1, 1}, 4.477811},
                 {{36, 40, 0.06, 0, 0.4, 2, 1}, 8.506783},
                 {{40, 40, 0.06, 0, 0.2, 1, 1}, 2.314068},
                 {{44, 40, 0.06, 0, 0.4, 2, 1}, 5.641236}};
    double *w = (double *)malloc(sizeof *w * 2 * DATES * PATHS), *all = (double *)malloc(sizeof *all * PATHS);
    double *c = (double *)malloc(sizeof *c * 2 * DATES * (DEGREE + 1));
    if (!w || !all || !c) return fprintf(stderr, "no memory\n"), 1;
    printf("%d paths, degree %d\nspot  volatility  years     price  std error  second pass  std error     exact\n",
           PATHS, DEGREE);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const host_option *o = &known[i].option;
        int dates = (int)(DATES * o->maturity);
        host_paths(1, 0, PATHS, dates, w);
        host_result first = host_price(o, PATHS, dates, DEGREE, DEGREE + 2, w, c, all);
        host_paths(1, 1, PATHS, dates, w);
        host_result second = host_lower(o, PATHS, dates, DEGREE, w, c);
        printf("%4g  %10g  %5g  %8.5f  %9.5f  %11.5f  %9.5f  %8.5f\n", o->spot, o->volatility, o->maturity, first.price,
               first.error, second.price, second.error, known[i].exact);
        /* The method costs up to 0.3 %; sampling may cost three standard errors. */
        bad += !(first.price > 0.997 * known[i].exact - 3 * first.error) +
               !(first.price < known[i].exact + 3 * first.error);
        bad += !(second.price < known[i].exact + 3 * second.error);
    }
    free(w);
    free(all);
    free(c);
    return bad ? 1 : 0;
}

#endif
