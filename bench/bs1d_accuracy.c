/* bs1d_accuracy.c - how the choice of top, points, steps and payoff affects accuracy: worst errors over random options.
   MIT licence, see LICENSE.

       bs1d_accuracy [--csv FILE]

   Compares the host reference in double precision with the Black-Scholes formula, and American puts with a much finer
   march. All settings except the one that is varied are so fine that they add no error. Errors are those of the price,
   in units of strike * volatility * sqrt(maturity), which is 2.5 times the value of an option at the money. Nothing is
   timed, so every machine writes the same file. */
#include "bs1d.h"

#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS = 200, MOST_POINTS = 8192 };

static double work[BS1D_HOST_LEN(MOST_POINTS)];
static FILE *csv;
static unsigned long long state;

static double between(double low, double high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 11) / 9007199254740992.0;
}

static double formula(bs1d_option_f64 o)
{
    double root = o.volatility * sqrt(o.maturity), sign = o.flags & BS1D_PUT ? -1 : 1;
    double d1 = (log(o.spot / o.strike) + (o.rate - o.dividend) * o.maturity) / root + root / 2;
    return sign * (o.spot * exp(-o.dividend * o.maturity) * 0.5 * erfc(-sign * d1 / sqrt(2.0)) -
                   o.strike * exp(-o.rate * o.maturity) * 0.5 * erfc(-sign * (d1 - root) / sqrt(2.0)));
}

/* The choices that are varied: the top, as exp(reach spread) times the larger of strike and spot; the spacing, in
   spreads of the strike; the number of steps; and flags. */
typedef struct {
    double reach, spacing;
    int steps, flags;
} choice;

static double price(bs1d_option_f64 o, choice c)
{
    bs1d_result_f64 r;
    double spread = o.volatility * sqrt(o.maturity), high = o.spot > o.strike ? o.spot : o.strike;
    int points = (int)ceil(high * exp(c.reach * spread) / (c.spacing * spread * o.strike)) + 1;
    if (points > MOST_POINTS) points = MOST_POINTS;
    o.top = (points - 1) * c.spacing * spread * o.strike;
    o.steps = c.steps;
    o.flags |= c.flags;
    int status = bs1d_host_implicit_f64(1, points, &o, &r, NULL, work);
    if (!status) status = (int)r.status;
    if (status != BS1D_OK) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);
    return r.price;
}

/* Prints the worst error of a choice against the prices of choice `fine` or, if that is null, against the formula. */
static void row(const char *varied, double setting, const char *option, choice c, const choice *fine)
{
    double worst = 0;
    state = 2024;
    for (int i = 0; i < OPTIONS; i++) {
        bs1d_option_f64 o = {100, 0, 0, 0, 0, 0, 0, 1, i % 2 || c.flags & BS1D_AMERICAN ? BS1D_PUT : BS1D_CALL};
        o.strike = 100 * exp(between(-0.4, 0.4));
        o.rate = between(0, 0.08);
        o.dividend = between(0, 0.04);
        o.volatility = between(0.15, 0.6);
        o.maturity = between(0.1, 1.5);
        double want = fine ? price(o, *fine) : formula(o);
        double error = fabs(price(o, c) - want) / (o.strike * o.volatility * sqrt(o.maturity));
        if (!(error <= worst)) worst = error;
    }
    printf("%-10s %8g  %-30s %.1e\n", varied, setting, option, worst);
    if (csv) fprintf(csv, "%s,%g,%s,%.1e\n", varied, setting, option, worst);
}

int main(int count, char **arguments)
{
    static const double spacings[] = {1, 0.5, 0.25, 0.125, 0.0625}, reaches[] = {0.5, 1, 1.5, 2, 2.5, 3};
    static const int steps[] = {5, 10, 25, 50, 100, 200};
    const int cn = BS1D_CRANK_NICOLSON, averaged = BS1D_AVERAGED;
    if (count == 3 && !strcmp(arguments[1], "--csv")) {
        csv = fopen(arguments[2], "w");
        if (!csv) return perror(arguments[2]), 1;
    } else if (count != 1) {
        fprintf(stderr, "usage: bs1d_accuracy [--csv FILE]\n");
        return 2;
    }
    printf("worst error of %d options, as a share of strike * volatility * sqrt(maturity)\n", OPTIONS);
    if (csv)
        fprintf(csv,
                "# bench/bs1d_accuracy.c: worst error of %d options, as a share of strike * volatility * "
                "sqrt(maturity)\nvaried,setting,option,worst_error\n",
                OPTIONS);
    for (int i = 0; i < 5; i++) {
        choice c = {3, spacings[i], 400, cn | averaged}, plain = {3, spacings[i], 400, cn};
        row("spacing", spacings[i], "European averaged", c, NULL);
        row("spacing", spacings[i], "European plain", plain, NULL);
    }
    for (int i = 0; i < 6; i++) {
        choice c = {3, 0.02, steps[i], cn | averaged}, euler = {3, 0.02, steps[i], averaged};
        choice american = {3, 0.05, steps[i], cn | averaged | BS1D_AMERICAN}, fine = american;
        fine.steps = 1600;
        row("steps", steps[i], "European Crank-Nicolson", c, NULL);
        row("steps", steps[i], "European implicit Euler", euler, NULL);
        row("steps", steps[i], "American Crank-Nicolson", american, &fine);
    }
    for (int i = 0; i < 6; i++) {
        choice c = {reaches[i], 0.05, 400, cn | averaged};
        row("top", reaches[i], "European averaged", c, NULL);
    }
    return csv && fclose(csv) != 0;
}
