/* bs1d_cases.h - valid and invalid options, known answers and an independent march for the tests of bs1d.h.
   MIT licence, see LICENSE.

   Everything is in double. The reference marches in long double, with the formulas of the model written out once more,
   so that it shares only the names of the flags and statuses with the header. Include bs1d.h and check.h first.
   C11, C++17 and CUDA. */
#ifndef BS1D_CASES_H
#define BS1D_CASES_H

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double spot, strike, rate, dividend, volatility, maturity, top;
    int steps, flags;
} case_option;

typedef struct {
    double price, delta, gamma, theta;
} case_result;

CASE_FUNCTION void *case_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* The model problem of the ladder, and its exact discrete answers (113-bit arithmetic, two independent programs) at the
   strike: the mean of points 127 and 128 of 256. */
CASE_FUNCTION case_option case_model(int is_implicit)
{
    case_option o = {100, 100, 0.05, 0, 0.2, 1, 200, is_implicit ? 2500 : 50000, 0};
    return o;
}

CASE_FUNCTION double case_exact(int is_implicit)
{
    return is_implicit ? 10.4515302206847423548 : 10.4519706236429348623;
}

/* Rounds all numbers of an option to float, so that both precisions get the very same option. */
CASE_FUNCTION case_option case_rounded(case_option o)
{
    o.spot = (float)o.spot;
    o.strike = (float)o.strike;
    o.rate = (float)o.rate;
    o.dividend = (float)o.dividend;
    o.volatility = (float)o.volatility;
    o.maturity = (float)o.maturity;
    o.top = (float)o.top;
    return o;
}

/* Returns 2 lambda_max + rate dt: an explicit march is stable up to 1, if also 2 gamma^2 <= lambda. */
CASE_FUNCTION double case_stiffness(int points, case_option o)
{
    double j = points - 1, dt = o.maturity / o.steps;
    return o.volatility * o.volatility * dt * j * j + o.rate * dt;
}

/* Makes a random option. For an explicit march the maturity is what stable steps can reach; an implicit matrix is
   dominant in its last row, with a margin. The spot lies well inside a cell: at a point the cubic changes, and rounding
   would choose between two. */
CASE_FUNCTION case_option case_option_of(case_random *random, int is_implicit, int points, int steps, int flags)
{
    case_option o;
    double j = points - 1, dt, scale = exp(case_between(random, -2, 6));
    o.steps = steps;
    o.flags = flags;
    o.top = scale * case_between(random, 1.5, 3);
    o.strike = scale;
    o.rate = case_between(random, -0.01, 0.08);
    o.dividend = case_between(random, 0, 0.06);
    o.volatility = case_between(random, 0.05, 0.4);
    if (is_implicit) {
        /* 2 lambda_max of 0.05 to 150, and 2 |drift| dt j of at most 0.7 where 1 + rate dt is allowed. */
        dt = exp(case_between(random, -3, 5)) / (o.volatility * o.volatility * j * j);
        if (2 * fabs(o.rate - o.dividend) * dt * j > 0.7) dt = 0.7 / (2 * fabs(o.rate - o.dividend) * j);
    } else {
        double drift = o.rate - o.dividend, advective = 0.98 * o.volatility * o.volatility / (drift * drift);
        dt = case_between(random, 0.05, 0.98) / (o.volatility * o.volatility * j * j + fabs(o.rate));
        if (dt > advective) dt = advective;
    }
    o.maturity = dt * steps;
    {
        double dS = o.top / j, near_strike = o.strike * case_between(random, 0.9, 1.1);
        o.spot = dS * (floor(near_strike / dS) + case_between(random, 0.1, 0.9));
    }
    return case_rounded(o);
}

/* Makes an option whose drift is too large for the last row of the matrix: 2 gamma is 0.55 to 3, in Crank-Nicolson's
   half of the row too. */
CASE_FUNCTION case_option case_lagged(case_random *random, int points, int steps, int flags)
{
    case_option o = case_option_of(random, 1, points, steps, flags);
    double j = points - 1, gamma = case_between(random, 0.55, 3) * (flags & BS1D_CRANK_NICOLSON ? 2 : 1) / 2;
    o.volatility = case_between(random, 0.2, 0.4);
    o.rate = case_between(random, 0.03, 0.08);
    o.dividend = 0;
    o.maturity = 2 * gamma / (o.rate * j) * steps;
    return case_rounded(o);
}

/* Makes an option whose drift exceeds its diffusion below the strike, with steps for which the implicit matrix is
   dominant or, with upwinding, the explicit march stable. */
CASE_FUNCTION case_option case_drifting(case_random *random, int is_implicit, int points, int steps, int flags)
{
    case_option o = case_option_of(random, is_implicit, points, steps, flags);
    double j = points - 1, dt;
    o.volatility = case_between(random, 0.01, 0.03);
    o.rate = case_between(random, 0.04, 0.08);
    o.dividend = case_between(random, 0, 1) < 0.5 ? 0 : 0.12;
    dt = fmax(fabs(o.rate - o.dividend) * j, is_implicit ? 0 : o.volatility * o.volatility * j * j) + o.rate;
    dt = case_between(random, 0.1, 0.9) / dt;
    if (!is_implicit) o.flags |= BS1D_UPWIND;
    o.maturity = dt * steps;
    return case_rounded(o);
}

/* ---- options that must be refused -------------------------------------------------------------------------------- */

enum { CASE_BAD_KINDS = 39 };

/* Spoils a valid option in one of CASE_BAD_KINDS ways, `kind`. Returns the status that must be reported; 0: any but OK.
   largest is the largest number of the precision. */
CASE_FUNCTION int case_spoil(int kind, int is_implicit, int points, double largest, case_option *o, const char **what)
{
    static const int positive_fields[] = {1, 4, 5, 6};
    double *field[] = {&o->spot, &o->strike, &o->rate, &o->dividend, &o->volatility, &o->maturity, &o->top};
    static const char *const name[] = {"spot", "strike", "rate", "dividend", "volatility", "maturity", "top"};
    static const double not_positive[] = {0, -0.5};
    static const char *const other[] = {"steps 0",        "steps -7",
                                        "flag 128",       "flags -1",
                                        "flag 2^20",      "spot < 0",
                                        "spot > top",     "too long a step or a drift that no diffusion damps",
                                        "2^28 + 1 steps", "a volatility whose square overflows"};
    if (kind < 21) {
        *field[kind / 3] = kind % 3 == 0 ? NAN : kind % 3 == 1 ? INFINITY : -INFINITY;
        *what = name[kind / 3];
        return BS1D_BAD_NUMBER;
    }
    if (kind < 29) {
        int which = positive_fields[(kind - 21) / 2];
        *field[which] = not_positive[(kind - 21) % 2];
        *what = name[which];
        return BS1D_BAD_NUMBER;
    }
    *what = other[kind - 29];
    if (kind == 29) o->steps = 0;
    if (kind == 30) o->steps = -7;
    if (kind < 31) return BS1D_BAD_SIZE;
    if (kind == 31) o->flags |= 128;
    if (kind == 32) o->flags = -1;
    if (kind == 33) o->flags |= 1 << 20;
    if (kind < 34) return BS1D_BAD_NUMBER;
    if (kind == 34) o->spot = -0.01 * o->top;
    if (kind == 35) o->spot = 1.01 * o->top;
    if (kind < 36) return BS1D_BAD_SPOT;
    if (kind == 37) {
        o->steps = (1 << 28) + 1;
        return BS1D_BAD_SIZE;
    }
    if (kind == 38) {
        o->volatility = 2 * sqrt(largest);
        return 0;
    }
    /* Three times beyond the limit of an explicit step; or rows whose drift is many times their diffusion, with steps
       twice too long even for a Crank-Nicolson matrix. */
    o->flags &= ~BS1D_UPWIND;
    if (!is_implicit) {
        o->maturity *= 3 / case_stiffness(points, *o);
        return BS1D_UNSTABLE;
    }
    o->rate = o->flags & BS1D_PUT ? 0 : 0.1; /* drift of either sign; the last row refuses only one of them */
    o->dividend = 0.1 - o->rate;
    o->volatility = 0.01;
    o->maturity = 4.0 * o->steps / (0.1 * (points - 1));
    return BS1D_NOT_DOMINANT;
}

/* ---- tolerances -------------------------------------------------------------------------------------------------- */

/* Returns how far a value may be off after the steps of a march. Each step rounds its coefficients once and its sum
   three times at the size of the largest value, and no step amplifies earlier errors. In the implicit march the rounded
   numbers are as large as a row of the matrix, 1 + 4 lambda, times a value. In increment form they are that row times a
   difference of neighbours on the right-hand side, and that row times the increments that are solved for, which add up
   to the change of the value: the spread of the price at the strike, and the two yields. */
CASE_FUNCTION double case_tolerance(int is_implicit, int increment, int points, case_option o, double roundoff)
{
    double largest = fmax(o.strike, o.top - o.strike), row = is_implicit ? 2 * case_stiffness(points, o) : 0, change;
    if (!increment) return (8 + 4 * o.steps * (1 + row)) * roundoff * largest;
    change = (o.volatility * sqrt(o.maturity) + fabs(o.rate) * o.maturity) * o.strike +
             fabs(o.dividend) * o.maturity * o.top;
    return ((8 + 4 * o.steps) * largest + row * (2.0 * o.steps * o.top / (points - 1) + 2 * change)) * roundoff;
}

/* Compares two results. The Greeks divide errors of values by the mesh width and its square, and the weights of the
   cubic add up to 4 or so; theta follows from the others by the PDE. */
CASE_FUNCTION void case_check(case_result got, case_result want, double tolerance, int points, case_option o,
                              const char *what)
{
    double dS = o.top / (points - 1), x = o.spot / dS;
    check_near(got.price, want.price, 2 * tolerance, "%s: price, %d points %d steps flags %d", what, points, o.steps,
               o.flags);
    check_near(got.delta, want.delta, 4 * tolerance / dS, "%s: delta, %d points %d steps flags %d", what, points,
               o.steps, o.flags);
    check_near(got.gamma, want.gamma, 8 * tolerance / (dS * dS), "%s: gamma, %d points %d steps flags %d", what, points,
               o.steps, o.flags);
    check_near(got.theta, want.theta,
               tolerance *
                   (2 * fabs(o.rate) + 4 * fabs(o.rate - o.dividend) * x + 4 * o.volatility * o.volatility * x * x),
               "%s: theta, %d points %d steps flags %d", what, points, o.steps, o.flags);
}

/* Returns the largest difference between two rows of values; NaN if there is one. */
CASE_FUNCTION double case_distance(int points, const double *got, const double *want)
{
    double worst = 0;
    for (int j = 0; j < points; j++) {
        double error = fabs(got[j] - want[j]);
        if (!(error <= worst)) worst = error;
        if (worst != worst) break;
    }
    return worst;
}

/* ---- known answers ----------------------------------------------------------------------------------------------- */

typedef struct {
    int is_implicit, points;
    case_option option;
    case_result want;
} case_known;

/* Reads up to `room` cases of the file; returns how many there are. Leaves the two exact answers in exact[0] and
   exact[1], and in own[] what the program that wrote the file computed by its own march. */
CASE_FUNCTION int case_read(const char *path, int room, case_known *known, double exact[2], double own[2])
{
    FILE *file = fopen(path, "r");
    char line[1000], method[20];
    int count = 0;
    if (!file) {
        perror(path);
        exit(1);
    }
    exact[0] = exact[1] = own[0] = own[1] = NAN;
    while (fgets(line, (int)sizeof line, file)) {
        case_known k;
        case_option *o = &k.option;
        double e, m;
        if (sscanf(line, "case %19s %d %d %d %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", method, &o->flags, &k.points,
                   &o->steps, &o->spot, &o->strike, &o->rate, &o->dividend, &o->volatility, &o->maturity, &o->top,
                   &k.want.price, &k.want.delta, &k.want.gamma, &k.want.theta) == 15) {
            k.is_implicit = strcmp(method, "implicit") == 0;
            if (count < room) known[count] = k;
            count++;
        } else if (sscanf(line, "exact %19s %lf %lf", method, &e, &m) == 3) {
            exact[strcmp(method, "implicit") == 0] = e;
            own[strcmp(method, "implicit") == 0] = m;
        } else if (line[0] != '#') {
            fprintf(stderr, "%s: cannot read: %s", path, line);
            exit(1);
        }
    }
    fclose(file);
    return count;
}

/* ---- an independent march ---------------------------------------------------------------------------------------- */

CASE_REFERENCE long double case_gain(long double s, const case_option *o)
{
    long double gain = o->flags & BS1D_PUT ? o->strike - s : s - o->strike;
    return gain > 0 ? gain : 0;
}

/* Returns the payoff's mean over a cell, by its integral: in long double it is exact to the last bit of a double. */
CASE_REFERENCE long double case_payoff(int j, int points, long double dS, const case_option *o)
{
    long double s = j * dS, low = s - dS / 2, high = s + dS / 2;
    if (!(o->flags & BS1D_AVERAGED) || j == 0 || j == points - 1 || low >= o->strike || high <= o->strike)
        return case_gain(s, o);
    long double part = o->flags & BS1D_PUT ? o->strike - low : high - o->strike;
    return part * part / (2 * dS);
}

/* Returns the diffusion of point j in a step of length k; with upwinding it is at least the drift. */
CASE_REFERENCE long double case_lambda(const case_option *o, long double k, int j)
{
    long double lambda = (long double)o->volatility * o->volatility * k * j * j / 2;
    long double gamma = fabsl(((long double)o->rate - o->dividend) * k * j / 2);
    return o->flags & BS1D_UPWIND && lambda < gamma ? gamma : lambda;
}

/* Computes u := (I - weight A)^-1 ((I + (1 - weight) A) u + held), where A is that of a step of length k, by Gaussian
   elimination. If the last row would not be dominant, the drift's part of weight A moves to the right-hand side, where
   it acts on the old values. */
CASE_REFERENCE void case_implicit_step(int points, const case_option *o, long double k, long double weight,
                                       long double *u, const long double *held, long double *work)
{
    long double *above = work, *right = work + points, drift = (long double)o->rate - o->dividend, below = 0;
    for (int j = 0; j < points; j++) {
        int last = j == points - 1;
        long double lambda = case_lambda(o, k, j), gamma = drift * k * j / 2;
        long double a = last ? -2 * gamma : lambda - gamma;
        long double b = (last ? 2 * gamma : -2 * lambda) - o->rate * k;
        long double c = last ? 0 : lambda + gamma, old = u[j];
        long double r = u[j] + held[j] + (1 - weight) * (b * u[j] + a * below + (last ? 0 : c * u[j + 1]));
        long double pivot = 1 - weight * b;
        if (last && fabsl(pivot) <= fabsl(weight * a)) {
            r += weight * 2 * gamma * (u[j] - below);
            pivot = 1 + weight * o->rate * k;
            a = 0;
        }
        if (j > 0) {
            pivot += weight * a * above[j - 1];
            r += weight * a * right[j - 1];
        }
        above[j] = -weight * c / pivot;
        right[j] = r / pivot;
        below = old;
    }
    u[points - 1] = right[points - 1];
    for (int j = points - 2; j >= 0; j--) u[j] = right[j] - above[j] * u[j + 1];
}

/* Computes price, delta and gamma by the cubic through the four points around the spot, in Newton's divided
   differences, and theta by the PDE. A value counts as exercised if it differs from the payoff by at most `exercised`
   times the payoff. If rounded is not null, leaves there, in roundoffs, how far a careful evaluation may be off: the
   values and the spot's position on the grid each carry some roundoffs, and differences of values are divided by the
   mesh width. */
CASE_FUNCTION case_result case_interpolate(int points, case_option o, const long double *u, double exercised,
                                           case_result *rounded)
{
    case_result result;
    long double dS = (long double)o.top / (points - 1), x = o.spot / dS, place = x + 1, d[4], e[4], size = 0;
    int first = (int)floorl(x) - 1;
    if (first > points - 4) first = points - 4;
    if (first < 0) first = 0;
    x -= first;
    for (int i = 0; i < 4; i++) {
        d[i] = u[first + i];
        if (fabsl(d[i]) > size) size = fabsl(d[i]);
    }
    for (int i = 0; i < 3; i++) e[i] = fabsl(u[first + i + 1] - u[first + i]);
    e[3] = fabsl(u[first + 3] - 3 * u[first + 2] + 3 * u[first + 1] - u[first]);
    for (int order = 1; order < 4; order++)
        for (int i = 3; i >= order; i--) d[i] = (d[i] - d[i - 1]) / order;
    result.price = (double)(d[0] + x * (d[1] + (x - 1) * (d[2] + (x - 2) * d[3])));
    result.delta = (double)((d[1] + d[2] * (2 * x - 1) + d[3] * (3 * x * x - 6 * x + 2)) / dS);
    result.gamma = (double)((2 * d[2] + d[3] * (6 * x - 6)) / (dS * dS));
    result.theta = o.rate * result.price - (o.rate - o.dividend) * o.spot * result.delta -
                   o.volatility * o.volatility * o.spot * o.spot * result.gamma / 2;
    {
        /* theta is 0 if at both ends of the spot's cell the option is worth what exercise pays */
        int cell = (int)floorl(o.spot / dS) < points - 1 ? (int)floorl(o.spot / dS) : points - 2, held = 1;
        for (int j = cell; j < cell + 2; j++) {
            long double gain = case_gain(j * dS, &o),
                        slack = gain > 0 && exercised > 0 ? exercised * gain + 1e-15 * o.strike : 0;
            held = held && fabsl(u[j] - gain) <= slack;
        }
        if (o.flags & BS1D_AMERICAN && held) result.theta = 0;
    }
    if (rounded) {
        long double slope = e[0] + e[1] + e[2], bend = fabsl(e[1] - e[0]) + fabsl(e[2] - e[1]) + e[3];
        rounded->price = (double)(8 * size + 4 * place * slope);
        rounded->delta = (double)((16 * size + 8 * place * bend) / dS);
        rounded->gamma = (double)((32 * size + 8 * place * e[3]) / (dS * dS));
        rounded->theta = fabs(o.rate) * rounded->price + fabs(o.rate - o.dividend) * o.spot * rounded->delta +
                         o.volatility * o.volatility * o.spot * o.spot * rounded->gamma;
    }
    return result;
}

/* Marches one valid option. Returns its results, and leaves the final values in grid unless it is null. With BS1D_GIVEN
   it starts from the values in grid. */
CASE_REFERENCE case_result case_march(int is_implicit, int points, case_option o, double *grid)
{
    size_t n = (size_t)points;
    long double *u = (long double *)case_memory(7 * n * sizeof *u), *payoff = u + n, *before = u + 2 * n;
    long double *held = u + 3 * n, *free_u = u + 4 * n, *work = u + 5 * n;
    long double dS = (long double)o.top / (points - 1), dt = (long double)o.maturity / o.steps, k = dt;
    long double drift = (long double)o.rate - o.dividend;
    int rannacher = is_implicit && (o.flags & BS1D_CRANK_NICOLSON), american = o.flags & BS1D_AMERICAN;
    for (int j = 0; j < points; j++) {
        u[j] = o.flags & BS1D_GIVEN ? grid[j] : case_payoff(j, points, dS, &o);
        payoff[j] = case_gain(j * dS, &o); /* exercise pays the payoff itself, not its average over a cell */
        held[j] = 0;                       /* the multiplier of the early exercise, for a full step */
    }
    for (int step = 0; step < o.steps + rannacher * (o.steps < 2 ? o.steps : 2); step++) {
        int half = rannacher && step < 4;
        k = half ? dt / 2 : dt;
        for (int j = 0; j < points; j++) before[j] = u[j];
        if (is_implicit) {
            long double weight = rannacher && !half ? 0.5L : 1, share = half ? 0.5L : 1;
            for (int j = 0; j < points; j++) free_u[j] = share * held[j];
            memcpy(held, free_u, n * sizeof *held);
            case_implicit_step(points, &o, k, weight, u, held, work);
            for (int j = 0; american && j < points; j++) {
                long double value = u[j] - held[j] > payoff[j] ? u[j] - held[j] : payoff[j];
                held[j] = (held[j] + value - u[j]) / share;
                u[j] = value;
            }
        } else {
            for (int j = 0; j < points; j++) {
                long double lambda = case_lambda(&o, dt, j), gamma = drift * dt * j / 2;
                if (j == points - 1)
                    u[j] += 2 * gamma * (before[j] - before[j - 1]) - o.rate * dt * before[j];
                else if (j > 0)
                    u[j] += lambda * (before[j + 1] - 2 * before[j] + before[j - 1]) +
                            gamma * (before[j + 1] - before[j - 1]) - o.rate * dt * before[j];
                else
                    u[j] -= o.rate * dt * before[j];
                if (american && u[j] < payoff[j]) u[j] = payoff[j];
            }
        }
    }

    case_result result = case_interpolate(points, o, u, 0, NULL);
    for (int j = 0; grid && j < points; j++) grid[j] = (double)u[j];
    free(u);
    return result;
}

/* Computes price, delta, gamma and theta (per year) by Black and Scholes' formula. */
CASE_FUNCTION case_result case_black_scholes(case_option o)
{
    double root = o.volatility * sqrt(o.maturity), sign = o.flags & BS1D_PUT ? -1 : 1;
    double d1 = (log(o.spot / o.strike) + (o.rate - o.dividend) * o.maturity) / root + root / 2, d2 = d1 - root;
    double s = o.spot * exp(-o.dividend * o.maturity), k = o.strike * exp(-o.rate * o.maturity);
    double n1 = erfc(-sign * d1 / sqrt(2.0)) / 2, n2 = erfc(-sign * d2 / sqrt(2.0)) / 2;
    double density = exp(-d1 * d1 / 2) / sqrt(8 * atan(1.0));
    case_result r;
    r.price = sign * (s * n1 - k * n2);
    r.delta = sign * s * n1 / o.spot;
    r.gamma = s * density / (o.spot * o.spot * root);
    r.theta = -s * density * o.volatility / (2 * sqrt(o.maturity)) + sign * (o.dividend * s * n1 - o.rate * k * n2);
    return r;
}

#endif
