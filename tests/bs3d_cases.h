/* bs3d_cases.h - valid and invalid problems, known answers and an independent interpolation for the tests of bs3d.h.
   MIT licence, see LICENSE.

   A grid here is in double and without padding: value (i, j, k) is at [i + nx (j + ny k)]. Include bs3d.h and check.h
   first.
   C11, C++17 and CUDA. */
#ifndef BS3D_CASES_H
#define BS3D_CASES_H

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems ---------------------------------------------------------------------------------------------------- */

enum { CASE_CORRELATIONS = 8 };

/* The axes of the three pairs. */
static const int case_first[3] = {0, 0, 1}, case_second[3] = {1, 2, 2};

/* Returns correlations for every form of the cross differences: on one diagonal (equal ones, and just stable), on both,
   on neither; with four corners; and without one of the pairs. */
CASE_FUNCTION const double *case_correlation(int kind)
{
    static const double of[CASE_CORRELATIONS][3] = {{0.5, 0.5, 0.5},    {0.3, 0.1, 0.6}, {0.4, -0.3, 0.2},
                                                    {-0.3, -0.4, -0.2}, {0.9, 0.9, 0.9}, {0.9, -0.7, -0.6},
                                                    {0, 0, 0},          {0, 0.45, -0.55}};
    return of[kind];
}

/* Makes the model problem of the ladder, with n points on each axis and `steps` steps. (On 256 points the ladder takes
   500 explicit steps.) */
CASE_FUNCTION bs3d_problem case_model(int n, int steps, int payoff)
{
    bs3d_problem o;
    for (int axis = 0; axis < 3; axis++) {
        o.spot[axis] = 100;
        o.top[axis] = 200;
        o.volatility[axis] = 0.2;
        o.dividend[axis] = 0;
        o.correlation[axis] = 0.5;
        o.points[axis] = n;
    }
    o.strike = 100;
    o.rate = 0.05;
    o.maturity = 0.05;
    o.steps = steps;
    o.payoff = payoff;
    o.flags = 0;
    return o;
}

/* Returns the exact price of the model problem, by a closed form for each payoff of three assets. */
CASE_FUNCTION double case_exact(int payoff)
{
    return payoff == BS3D_GEOMETRIC ? 1.56532867895354424
           : payoff == BS3D_MAXIMUM ? 3.47029169846602
                                    : 0.628160781402127;
}

/* Makes a random problem in which no two axes share a number. The spots lie near the strike. The time step comes close
   to the limit of an explicit march, which is found by trial; in an implicit march lambda is at most 10, and the last
   rows are dominant, with a margin. */
CASE_FUNCTION bs3d_problem case_problem_of(case_random *random, int implicit, int nx, int ny, int nz, int steps,
                                           int payoff, int correlation)
{
    bs3d_problem o;
    double dt, stiffness = 0, drift = 0;
    o.points[0] = nx;
    o.points[1] = ny;
    o.points[2] = nz;
    o.strike = exp(case_between(random, -1, 5));
    o.rate = case_between(random, -0.01, 0.08);
    for (int axis = 0; axis < 3; axis++) {
        double n = o.points[axis] - 1, lambda;
        o.top[axis] = o.strike * case_between(random, 1.6, 2.8);
        o.spot[axis] = o.strike * case_between(random, 0.7, 1.4);
        o.volatility[axis] = case_between(random, 0.1, 0.4);
        o.dividend[axis] = case_between(random, 0, 0.06);
        o.correlation[axis] = case_correlation(correlation)[axis];
        lambda = 0.5 * o.volatility[axis] * o.volatility[axis] * n * n;
        stiffness = implicit ? fmax(stiffness, lambda) : stiffness + lambda;
        drift = fmax(drift, fabs(o.rate - o.dividend[axis]) * n);
    }
    dt = implicit ? exp(case_between(random, -3, 2.3)) / stiffness : case_between(random, 0.3, 0.6) / stiffness;
    if (implicit && dt * drift > 0.4) dt = 0.4 / drift;
    o.steps = steps;
    o.payoff = payoff;
    o.flags = case_below(random, 2);
    o.maturity = dt * steps;
    while (bs3d_check(&o, implicit) == BS3D_UNSTABLE) o.maturity *= 0.9;
    CHECK(bs3d_check(&o, implicit) == BS3D_OK, "a case of %dx%dx%d is not valid: %s", nx, ny, nz,
          bs3d_status_string(bs3d_check(&o, implicit)));
    return o;
}

/* Makes a problem with implicit steps so long that the last rows of the matrices are not dominant with their drift. */
CASE_FUNCTION bs3d_problem case_long_steps(case_random *random, int nx, int ny, int nz, int steps, int payoff,
                                           int correlation)
{
    bs3d_problem o = case_problem_of(random, 1, nx, ny, nz, steps, payoff, correlation);
    double dt = o.maturity / steps;
    for (int axis = 0; axis < 3; axis++) { /* gamma from 0.3 to 0.45 and lambda up to 10, on the last point */
        double n = o.points[axis] - 1;
        o.volatility[axis] = sqrt(2 * case_between(random, 1, 10) / dt) / n;
        o.dividend[axis] = o.rate - 2 * case_between(random, 0.3, 0.45) / (dt * n);
    }
    CHECK(bs3d_check(&o, 1) == BS3D_OK, "long steps on %dx%dx%d: %s", nx, ny, nz,
          bs3d_status_string(bs3d_check(&o, 1)));
    return o;
}

/* Makes a problem whose drift exceeds diffusion at many points; implicit steps would be refused without upwinding. */
CASE_FUNCTION bs3d_problem case_upwind(case_random *random, int implicit, int nx, int ny, int nz, int steps, int payoff,
                                       int correlation)
{
    bs3d_problem o = case_problem_of(random, implicit, nx, ny, nz, steps, payoff, correlation);
    double stiffness = 0;
    o.flags |= BS3D_UPWIND;
    for (int axis = 0; axis < 3; axis++) {
        double n = o.points[axis] - 1;
        o.volatility[axis] = case_between(random, 0.01, 0.05);
        o.dividend[axis] = o.rate + case_between(random, 0.05, 0.15) * (case_below(random, 2) ? 1 : -1);
        stiffness += fmax(0.5 * pow(o.volatility[axis] * n, 2), 0.5 * fabs(o.rate - o.dividend[axis]) * n);
    }
    o.maturity = steps * (implicit ? 10 : 0.4) / stiffness;
    while (bs3d_check(&o, implicit) == BS3D_UNSTABLE) o.maturity *= 0.9;
    CHECK(bs3d_check(&o, implicit) == BS3D_OK, "upwinding on %dx%dx%d: %s", nx, ny, nz,
          bs3d_status_string(bs3d_check(&o, implicit)));
    return o;
}

CASE_FUNCTION size_t case_cells(const bs3d_problem *o)
{
    return (size_t)o->points[0] * (size_t)o->points[1] * (size_t)o->points[2];
}

/* Returns the start values of the known answers with BS3D_GIVEN. */
CASE_FUNCTION double case_start(int i, int j, int k)
{
    return (7 * i + 3 * j + 5 * k) % 11 - 5;
}

/* Copies a grid from one array to another, each with its own distance between rows. */
#define CASE_COPY(o, to, to_pitch, from, from_pitch, type)                                                             \
    do {                                                                                                               \
        size_t case_rows = (size_t)(o)->points[1] * (size_t)(o)->points[2];                                            \
        for (size_t case_row = 0; case_row < case_rows; case_row++)                                                    \
            for (size_t case_i = 0; case_i < (size_t)(o)->points[0]; case_i++)                                         \
                (to)[case_i + (size_t)(to_pitch)*case_row] = (type)(from)[case_i + (size_t)(from_pitch)*case_row];     \
    } while (0)

/* ---- problems that must be refused ------------------------------------------------------------------------------- */

enum {
    CASE_NUMBERS = 18,
    CASE_SIZES = 14,
    CASE_NOT_FINITE = 3 * CASE_NUMBERS,
    CASE_NOT_POSITIVE = 16,
    CASE_SPOTS = 6,
    CASE_OTHERS = 24,
    CASE_BAD_KINDS = CASE_SIZES + CASE_NOT_FINITE + CASE_NOT_POSITIVE + CASE_SPOTS + CASE_OTHERS
};

/* Spoils a valid problem in one of CASE_BAD_KINDS ways, `kind`. Returns the status that must be reported. */
CASE_FUNCTION int case_spoil(int kind, int implicit, bs3d_problem *o, const char **what)
{
    double *number[CASE_NUMBERS] = {&o->strike, &o->maturity, &o->rate};
    static const char *const name[] = {"top", "volatility", "dividend", "correlation", "spot"};
    static const int wrong_points[] = {3, 0, -7, 1025};
    static const double wrong_correlation[][3] = {
        {1, 0, 0},  {0, 1, 0},       {0, 0, 1},        {-1, 0, 0},         {0, -1, 0},
        {0, 0, -1}, {0.9, 0.9, 0.1}, {0.9, -0.9, 0.5}, {-0.6, -0.6, -0.6}, {-1.5, 1.5, -1.5}};
    for (int m = 0; m < 3; m++) {
        double *of[] = {&o->top[m], &o->volatility[m], &o->dividend[m], &o->correlation[m], &o->spot[m]};
        for (int f = 0; f < 5; f++) number[3 + 3 * f + m] = of[f];
    }
    if (kind < CASE_SIZES) {
        *what = kind < 12 ? "points" : "steps";
        if (kind < 12) o->points[kind % 3] = wrong_points[kind / 3];
        if (kind >= 12) o->steps = kind == 12 ? 0 : -5;
        return BS3D_BAD_SIZE;
    }
    kind -= CASE_SIZES;
    if (kind < CASE_NOT_FINITE) {
        int which = kind / 3;
        *number[which] = kind % 3 == 0 ? NAN : kind % 3 == 1 ? INFINITY : -INFINITY;
        *what = which < 3 ? "not finite: strike, maturity or rate" : name[which / 3 - 1];
        return BS3D_BAD_NUMBER;
    }
    kind -= CASE_NOT_FINITE;
    if (kind < CASE_NOT_POSITIVE) {
        int which = kind / 2;
        if (which > 1) which++; /* the rate may be negative */
        *number[which] = kind % 2 ? -0.5 : 0;
        *what = which < 3 ? "not positive: strike or maturity" : name[which / 3 - 1];
        return BS3D_BAD_NUMBER;
    }
    kind -= CASE_NOT_POSITIVE;
    if (kind < CASE_SPOTS) {
        o->spot[kind / 2] = kind % 2 ? 1.0001 * o->top[kind / 2] : -0.0001 * o->top[kind / 2];
        *what = "a spot beyond the grid";
        return BS3D_BAD_SPOT;
    }
    kind -= CASE_SPOTS;
    if (kind < 10) {
        memcpy(o->correlation, wrong_correlation[kind], sizeof o->correlation);
        *what = "a correlation matrix that is not one";
        return BS3D_BAD_CORRELATION;
    }
    kind -= 10;
    if (kind < 2) {
        o->payoff = kind ? BS3D_GIVEN + 1 : 0;
        *what = kind ? "a payoff that does not exist" : "no payoff";
        return BS3D_BAD_ARGUMENT;
    }
    kind -= 2;
    if (kind < 2) {
        if (kind == 0) o->payoff = BS3D_GIVEN, o->flags = BS3D_AMERICAN;
        if (kind == 1) o->flags = 64;
        *what = kind ? "a flag that does not exist" : "a given payoff that may be exercised";
        return kind ? BS3D_BAD_NUMBER : BS3D_BAD_ARGUMENT;
    }
    if (kind < 6) {
        if (kind == 2) o->volatility[1] = 1e200;  /* its square is infinite */
        if (kind == 3) o->volatility[2] = 1e-170; /* its square is zero */
        if (kind == 4) o->rate = 1e300;
        if (kind == 5) o->maturity = 5e-324, o->steps = 3;
        *what = "a number that overflows or vanishes on the way";
        return BS3D_BAD_NUMBER;
    }
    if (kind == 6) {
        o->maturity *= 1e9;
        o->dividend[1] = o->rate - 0.5;
        *what = "much too long a step";
        return implicit ? BS3D_NOT_DOMINANT : BS3D_UNSTABLE;
    }
    if (!implicit) o->maturity /= 4; /* diffusion is then far from its limit, whatever the correlations */
    double dt = o->maturity / o->steps;
    if (kind < 9) { /* explicit: each axis has the most drift that it may have alone; implicit: rows before the last */
        for (int m = 0; m < 3; m++) {
            double n = o->points[m] - 2, sigma = o->volatility[m], sign = kind == 8 && m == 1 ? -1 : 1;
            if (!implicit) {
                o->correlation[m] = kind == 8 ? 0.9 : 0;
                o->dividend[m] = o->rate + (kind == 8 ? 0.4 : 0.8) * sign * sigma / sqrt(dt);
            } else if (m == kind - 6) {
                o->dividend[m] = o->rate + 1.2 / (n * dt) + 1.2 * sigma * sigma * n;
            }
        }
        *what = implicit ? "a drift off the last row" : "three drifts that are too much together";
        return implicit ? BS3D_NOT_DOMINANT : BS3D_UNSTABLE;
    }
    kind -= 9;
    *what = "a drift without diffusion";
    if (implicit) { /* in the other direction, in the row before the last */
        double n = o->points[kind] - 2, sigma = o->volatility[kind];
        o->dividend[kind] = o->rate - 1.2 / (n * dt) - 1.2 * sigma * sigma * n;
        return BS3D_NOT_DOMINANT;
    }
    o->dividend[kind] = o->rate - 1.5 * o->volatility[kind] / sqrt(dt);
    return BS3D_UNSTABLE;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Returns the largest difference between two grids, NaN if there is one. Leaves the largest magnitude of the second in
   *largest, unless that is null. */
CASE_FUNCTION double case_distance(size_t cells, const double *got, const double *want, double *largest)
{
    double worst = 0, most = 0;
    for (size_t i = 0; i < cells; i++) {
        double error = fabs(got[i] - want[i]);
        if (!(error <= worst)) worst = error;
        if (worst != worst) break;
        if (fabs(want[i]) > most) most = fabs(want[i]);
    }
    if (largest) *largest = most;
    return worst;
}

/* Compares two results. They may differ by the effect of an error of tolerance in each of the 64 values: the absolute
   weights of the cubic add up to at most 1.7 on each axis, those of its derivatives to 6.7 and 12. */
CASE_FUNCTION void case_check(bs3d_result got, bs3d_result want, double tolerance, const bs3d_problem *o,
                              const char *what)
{
    double ds[3], theta = 5 * fabs(o->rate);
    for (int m = 0; m < 3; m++) ds[m] = o->top[m] / (o->points[m] - 1);
    CHECK(got.status == want.status, "%s: status %d, not %d", what, got.status, want.status);
    check_near(got.price, want.price, 5 * tolerance, "%s: price, %dx%dx%d", what, o->points[0], o->points[1],
               o->points[2]);
    for (int m = 0; m < 3; m++) {
        int a = case_first[m], b = case_second[m];
        check_near(got.delta[m], want.delta[m], 19 * tolerance / ds[m], "%s: delta %d, %dx%dx%d", what, m + 1,
                   o->points[0], o->points[1], o->points[2]);
        check_near(got.gamma[m], want.gamma[m], 35 * tolerance / (ds[m] * ds[m]), "%s: gamma %d, %dx%dx%d", what, m + 1,
                   o->points[0], o->points[1], o->points[2]);
        check_near(got.cross[m], want.cross[m], 75 * tolerance / (ds[a] * ds[b]), "%s: cross %d %d, %dx%dx%d", what,
                   a + 1, b + 1, o->points[0], o->points[1], o->points[2]);
        /* times the coefficients of the equation */
        theta += 19 * fabs(o->rate - o->dividend[m]) * o->spot[m] / ds[m] +
                 35 * pow(o->volatility[m] * o->spot[m] / ds[m], 2) / 2 +
                 75 * fabs(o->correlation[m]) * o->volatility[a] * o->volatility[b] * o->spot[a] * o->spot[b] /
                     (ds[a] * ds[b]);
    }
    check_near(got.theta, want.theta, theta * tolerance, "%s: theta, %dx%dx%d", what, o->points[0], o->points[1],
               o->points[2]);
}

/* Computes the value and two derivatives at x of the cubic through (0, v[0]) .. (3, v[3 stride]), by Newton's divided
   differences. */
CASE_FUNCTION void case_cubic(const long double *v, int stride, long double x, long double *to)
{
    long double d[4] = {v[0], v[stride], v[2 * stride], v[3 * stride]};
    for (int order = 1; order < 4; order++)
        for (int i = 3; i >= order; i--) d[i] = (d[i] - d[i - 1]) / order;
    to[0] = d[0] + x * (d[1] + (x - 1) * (d[2] + (x - 2) * d[3]));
    to[1] = d[1] + d[2] * (2 * x - 1) + d[3] * (3 * x * x - 6 * x + 2);
    to[2] = 2 * d[2] + d[3] * (6 * x - 6);
}

/* Returns the derivative with respect to time that the equation gives from the others. */
CASE_FUNCTION double case_theta(const bs3d_problem *o, const bs3d_result *r)
{
    double theta = o->rate * r->price;
    for (int m = 0; m < 3; m++) {
        int a = case_first[m], b = case_second[m];
        theta -= (o->rate - o->dividend[m]) * o->spot[m] * r->delta[m] +
                 pow(o->volatility[m] * o->spot[m], 2) / 2 * r->gamma[m] +
                 o->correlation[m] * o->volatility[a] * o->volatility[b] * o->spot[a] * o->spot[b] * r->cross[m];
    }
    return theta;
}

/* Returns whether the option is exercised at all corners of the spot's cell, where the grid then has the payoff, to
   rounding. */
CASE_FUNCTION int case_exercised(const bs3d_problem *o, const double *grid)
{
    if (!(o->flags & BS3D_AMERICAN)) return 0;
    for (int corner = 0; corner < 8; corner++) {
        size_t at[3];
        double s[3], payoff;
        for (int m = 0; m < 3; m++) {
            double ds = o->top[m] / (o->points[m] - 1), cell = fmin(floor(o->spot[m] / ds), o->points[m] - 2);
            at[m] = (size_t)cell + (size_t)(corner >> m & 1);
            s[m] = ds * (double)at[m];
        }
        payoff = o->payoff == BS3D_ASSET        ? s[0]
                 : o->payoff == BS3D_GEOMETRIC  ? cbrt(s[0] * s[1] * s[2])
                 : o->payoff == BS3D_ARITHMETIC ? s[0] / 3 + s[1] / 3 + s[2] / 3
                 : o->payoff == BS3D_MAXIMUM    ? fmax(s[0], fmax(s[1], s[2]))
                                                : fmin(s[0], fmin(s[1], s[2]));
        payoff = o->flags & BS3D_PUT ? o->strike - payoff : payoff - o->strike;
        if (payoff <= 0) return 0;
        if (grid[at[0] + (size_t)o->points[0] * (at[1] + (size_t)o->points[1] * at[2])] > payoff * (1 + 1e-6)) return 0;
    }
    return 1;
}

/* Computes price and Greeks at the spot by cubics, axis by axis, each through four points around the spot or at the end
   of the axis. */
CASE_FUNCTION bs3d_result case_greeks(const bs3d_problem *o, const double *grid)
{
    int first[3], all_finite = 1;
    long double x[3], ds[3], values[64], lines[16][3], plane[4][3][3], at[3][3][3];
    for (int m = 0; m < 3; m++) {
        ds[m] = (long double)o->top[m] / (o->points[m] - 1);
        first[m] = (int)floorl(o->spot[m] / ds[m]) - 1;
        if (first[m] > o->points[m] - 4) first[m] = o->points[m] - 4;
        if (first[m] < 0) first[m] = 0;
        x[m] = o->spot[m] / ds[m] - first[m];
    }
    for (int n = 0; n < 64; n++)
        values[n] = grid[(size_t)(first[0] + n % 4) +
                         (size_t)o->points[0] *
                             ((size_t)(first[1] + n / 4 % 4) + (size_t)o->points[1] * (size_t)(first[2] + n / 16))];
    for (int row = 0; row < 16; row++) case_cubic(values + 4 * row, 1, x[0], lines[row]);
    for (int z = 0; z < 4; z++)
        for (int a = 0; a < 3; a++) case_cubic(&lines[4 * z][a], 3, x[1], plane[z][a]);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) case_cubic(&plane[0][a][b], 9, x[2], at[a][b]);
    bs3d_result r;
    r.price = (double)at[0][0][0];
    for (int m = 0; m < 3; m++) {
        int order[3] = {0, 0, 0};
        order[m] = 1;
        r.delta[m] = (double)(at[order[0]][order[1]][order[2]] / ds[m]);
        order[m] = 2;
        r.gamma[m] = (double)(at[order[0]][order[1]][order[2]] / (ds[m] * ds[m]));
        order[m] = 0;
        order[case_first[m]] = order[case_second[m]] = 1;
        r.cross[m] = (double)(at[order[0]][order[1]][order[2]] / (ds[case_first[m]] * ds[case_second[m]]));
        all_finite = all_finite && isfinite(r.delta[m]) && isfinite(r.gamma[m]) && isfinite(r.cross[m]);
    }
    r.theta = case_exercised(o, grid) ? 0 : case_theta(o, &r);
    r.status = all_finite && isfinite(r.price) ? BS3D_OK : BS3D_NOT_FINITE;
    return r;
}

/* ---- known answers ----------------------------------------------------------------------------------------------- */

typedef struct {
    int implicit;
    bs3d_problem problem;
    bs3d_result want;
    double moment; /* the sum of all values u(i, j, k), each times 1 + case_start(i, k, j)^2 */
} case_known;

/* Reads up to `room` cases of the file; returns how many there are. Leaves the closed forms for each payoff in exact[0]
   for maturity 0.05 and in exact[1] for 0.6. */
CASE_FUNCTION int case_read(const char *path, int room, case_known *known, double exact[2][BS3D_GIVEN])
{
    FILE *file = fopen(path, "r");
    char line[2000], method[20];
    int count = 0;
    if (!file) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < 2 * BS3D_GIVEN; i++) exact[i / BS3D_GIVEN][i % BS3D_GIVEN] = NAN;
    while (fgets(line, (int)sizeof line, file)) {
        case_known c;
        bs3d_problem *o = &c.problem;
        int at, step, payoff, fine = 1;
        double value, maturity;
        if (line[0] == '#') continue;
        if (sscanf(line, "exact %d %lf %lf", &payoff, &maturity, &value) == 3 && payoff > 0 && payoff < BS3D_GIVEN) {
            exact[maturity > 0.1][payoff] = value;
            continue;
        }
        fine = sscanf(line, "case %19s %d %d %d %d %d %d%n", method, &o->payoff, &o->flags, &o->steps, &o->points[0],
                      &o->points[1], &o->points[2], &at) == 7;
        c.implicit = fine && strcmp(method, "implicit") == 0;
        double *group[] = {o->spot, o->top, o->volatility, o->dividend, o->correlation};
        double *single[] = {&o->strike, &o->rate, &o->maturity, &c.want.price};
        double *derivative[] = {c.want.delta, c.want.gamma, c.want.cross};
        for (int n = 0; fine && n < 30; n++) {
            double *to = n < 15   ? &group[n / 3][n % 3]
                         : n < 19 ? single[n - 15]
                         : n < 28 ? &derivative[(n - 19) / 3][(n - 19) % 3]
                         : n < 29 ? &c.want.theta
                                  : &c.moment;
            fine = sscanf(line + at, "%lf%n", to, &step) == 1;
            at += fine ? step : 0;
        }
        c.want.status = BS3D_OK;
        if (!fine) {
            fprintf(stderr, "%s: cannot read: %s", path, line);
            exit(1);
        }
        if (count < room) known[count] = c;
        count++;
    }
    fclose(file);
    return count;
}

CASE_FUNCTION double case_moment(const bs3d_problem *o, const double *grid)
{
    double sum = 0;
    size_t at = 0;
    for (int k = 0; k < o->points[2]; k++)
        for (int j = 0; j < o->points[1]; j++)
            for (int i = 0; i < o->points[0]; i++) {
                double weight = case_start(i, k, j);
                sum += (1 + weight * weight) * grid[at++];
            }
    return sum;
}

#endif
