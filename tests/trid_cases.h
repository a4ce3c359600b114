/* trid_cases.h - systems and references for the tests of trid.h.
   MIT licence, see LICENSE.

   Everything is in double; entries are rounded to float where a test in single precision needs them exact. The
   reference solver shares nothing with the code under test: it is Gaussian elimination with row exchanges, in long
   double. C11, C++17 and CUDA. */
#ifndef TRID_CASES_H
#define TRID_CASES_H

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- systems ---------------------------------------------------------------------------------------------------- */

/* a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j = 0 .. n-1. The corners a[0] and c[n-1] are NaN: nobody may read
   them. */
typedef struct {
    int n;
    double *a, *b, *c, *d;
} case_system;

CASE_FUNCTION void *case_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

CASE_FUNCTION case_system case_new(int n)
{
    size_t rows = (size_t)n;
    case_system s;
    s.n = n;
    s.a = (double *)case_memory(4 * rows * sizeof(double));
    s.b = s.a + rows;
    s.c = s.b + rows;
    s.d = s.c + rows;
    for (size_t i = 0; i < 4 * rows; i++) s.a[i] = 0;
    return s;
}

CASE_FUNCTION void case_free(case_system s)
{
    free(s.a);
}

CASE_FUNCTION void case_close_corners(case_system s)
{
    if (s.n > 0) s.a[0] = s.c[s.n - 1] = NAN;
}

CASE_FUNCTION void case_round_to_float(case_system s)
{
    for (int i = 0; i < 4 * s.n; i++) s.a[i] = (float)s.a[i];
}

/* Makes a system in which every |b| is at least dominance > 1 times |a| + |c|; the sign and scale of each row are
   random. Rounding to float does not change the dominance noticeably. */
CASE_FUNCTION case_system case_dominant(case_random *random, int n, double dominance, int to_float)
{
    case_system s = case_new(n);
    for (int j = 0; j < n; j++) {
        double scale = ldexp(case_below(random, 2) ? 1 : -1, case_below(random, 9) - 4);
        double a = case_between(random, -1, 1), c = case_between(random, -1, 1);
        s.a[j] = scale * a;
        s.b[j] = scale * (dominance * (fabs(a) + fabs(c)) + case_between(random, 1e-3, 0.5));
        s.c[j] = scale * c;
        s.d[j] = case_between(random, -1, 1);
    }
    if (to_float) case_round_to_float(s);
    case_close_corners(s);
    return s;
}

/* Returns a bound on the condition number. With unit diagonal |a| + |c| <= 1/dominance, so the inverse has norm at most
   dominance / (dominance - 1), and the matrix at most 1 + 1/dominance. */
CASE_FUNCTION double case_condition(double dominance)
{
    return (dominance + 1) / (dominance - 1);
}

/* Makes a system of -x[j-1] + (2 + excess) x[j] - x[j+1]. It is barely dominant, so that unknowns as far as
   1 / sqrt(excess) rows apart depend on each other, and in no step are couplings too small to matter. The inverse has
   norm at most 1 / excess, so the condition number is at most (4 + excess) / excess. */
CASE_FUNCTION case_system case_far_reaching(case_random *random, int n, double excess, int to_float)
{
    case_system s = case_new(n);
    for (int j = 0; j < n; j++) {
        s.a[j] = s.c[j] = -1;
        s.b[j] = 2 + excess;
        s.d[j] = case_between(random, -1, 1);
    }
    if (to_float) case_round_to_float(s);
    case_close_corners(s);
    return s;
}

/* Makes the matrix of one fully implicit step of the one-factor Black-Scholes equation on 0 .. 200 with n points,
   r = 0.05, sigma = 0.2 and 2500 steps to T = 1, with couplings multiplied by stretch; d is a call's payoff. */
CASE_FUNCTION case_system case_black_scholes(int n, double stretch, int to_float)
{
    const double rate = 0.05, volatility = 0.2, step = 1.0 / 2500;
    double spacing = 200.0 / (n - 1);
    case_system s = case_new(n);
    for (int j = 0; j < n; j++) {
        double lambda = 0.5 * volatility * volatility * step * j * j, gamma = 0.5 * rate * step * j;
        int last = j == n - 1;
        s.a[j] = stretch * (last ? 2 * gamma : -(lambda - gamma));
        s.b[j] = 1 + stretch * (rate * step + (last ? -2 * gamma : 2 * lambda));
        s.c[j] = stretch * (last ? 0 : -(lambda + gamma));
        s.d[j] = fmax(j * spacing - 100, 0);
    }
    if (to_float) case_round_to_float(s);
    case_close_corners(s);
    return s;
}

/* Matrices of dominance 1 + excess, where excess may be 0, all with negative couplings, so that errors do not cancel:
   CONSTANT   -x[j-1] + 2 (1 + excess) x[j] - x[j+1]
   DRIFT      the couplings shared out unequally, in all rows alike
   SMOOTH     symmetric, the couplings 1 + sin(j/20)/2: a diffusion in a smooth medium
   MEDIUM     symmetric, each coupling a random number up to 1: a diffusion in a rough medium
   ROUGH      the couplings of each row shared out at random */
enum { CASE_CONSTANT, CASE_DRIFT, CASE_SMOOTH, CASE_MEDIUM, CASE_ROUGH, CASE_KINDS };
#ifdef __GNUC__
__attribute__((unused))
#endif
static const char *const case_kind_name[CASE_KINDS] = {"constant", "drift", "smooth", "medium", "rough"};

CASE_FUNCTION case_system case_weak(case_random *random, int n, int kind, double excess, int to_float)
{
    case_system s = case_new(n);
    double share = case_between(random, 0, 1), up = case_between(random, 0, 1);
    for (int j = 0; j < n; j++) {
        double down = case_between(random, 0, 1), a = 1, c = 1;
        if (kind == CASE_DRIFT) a = share, c = 1 - share;
        if (kind == CASE_SMOOTH) a = 1 + sin(j / 20.0) / 2, c = 1 + sin((j + 1) / 20.0) / 2;
        if (kind == CASE_MEDIUM) a = up, c = down;
        if (kind == CASE_ROUGH) a = down, c = 1 - down;
        if (to_float) a = (float)a, c = (float)c;
        s.a[j] = -a;
        s.c[j] = -c;
        s.b[j] = (1 + excess) * (a + c);
        s.d[j] = case_between(random, -1, 1);
        up = down;
    }
    if (to_float) case_round_to_float(s);
    case_close_corners(s);
    return s;
}

/* Makes identity rows, except rows `at` and at + 1, which are [1 1; 1 1]: singular, which shows where the two rows
   meet. */
CASE_FUNCTION case_system case_singular_pair(int n, int at)
{
    case_system s = case_new(n);
    for (int j = 0; j < n; j++) s.b[j] = s.d[j] = 1;
    s.c[at] = s.a[at + 1] = 1;
    case_close_corners(s);
    return s;
}

/* ---- references ------------------------------------------------------------------------------------------------- */

/* Solves by Gaussian elimination with row exchanges: the current row starts in column j and has three entries, the last
   of which an exchange fills in. Leaves the solution in x; returns 0 if the matrix is singular. */
CASE_REFERENCE int case_reference(case_system s, long double *x)
{
    int n = s.n;
    long double(*rows)[4] = (long double(*)[4])case_memory((size_t)n * sizeof *rows);
    int regular = 1;
    for (int j = 0; j < n; j++) {
        /* row j, from column j-1 on */
        long double below[4] = {j > 0 ? s.a[j] : 0, s.b[j], j < n - 1 ? s.c[j] : 0, s.d[j]};
        if (j > 0) {
            long double *above = rows[j - 1];
            if (fabsl(below[0]) > fabsl(above[0])) {
                for (int k = 0; k < 4; k++) {
                    long double swap = above[k];
                    above[k] = below[k];
                    below[k] = swap;
                }
            }
            long double factor = above[0] != 0 ? below[0] / above[0] : 0;
            if (above[0] == 0) regular = 0;
            for (int k = 1; k < 4; k++) below[k] -= factor * above[k];
        }
        rows[j][0] = below[1];
        rows[j][1] = below[2];
        rows[j][2] = 0;
        rows[j][3] = below[3];
    }
    for (int j = n - 1; j >= 0; j--) {
        long double rest = rows[j][3];
        if (j + 1 < n) rest -= rows[j][1] * x[j + 1];
        if (j + 2 < n) rest -= rows[j][2] * x[j + 2];
        if (rows[j][0] == 0) regular = 0;
        x[j] = rest / rows[j][0];
    }
    free(rows);
    return regular;
}

/* Returns the larger of two numbers that are not negative. NaN counts as larger than any number, so that the largest of
   many hides none. */
CASE_REFERENCE long double case_larger(long double x, long double y)
{
    return x > y || isnan(x) ? x : y;
}

/* Returns the largest residual, in unit roundoffs, that the hybrid with K rows a lane leaves with random matrices of
   dominance 1 + excess, by the fit of docs/hybrid.md. */
CASE_FUNCTION double case_law(int K, double excess)
{
    return 4 + 1 / (2 * pow(K, 2.5) * excess);
}

/* Returns the largest |A x - d| over the largest |A| |x| + |d|, 0 for n = 0. */
CASE_REFERENCE long double case_residual(case_system s, const double *x)
{
    long double error = 0, size = 0;
    for (int j = 0; j < s.n; j++) {
        long double terms[4] = {(long double)s.b[j] * x[j], -(long double)s.d[j], 0, 0};
        if (j > 0) terms[2] = (long double)s.a[j] * x[j - 1];
        if (j + 1 < s.n) terms[3] = (long double)s.c[j] * x[j + 1];
        long double sum = 0, magnitude = 0;
        for (int k = 0; k < 4; k++) {
            sum += terms[k];
            magnitude += fabsl(terms[k]);
        }
        error = case_larger(error, fabsl(sum));
        size = case_larger(size, magnitude);
    }
    return size > 0 ? error / size : error;
}

/* Returns the largest |x - reference| over the largest |reference|, NaN if any x is NaN. */
CASE_REFERENCE long double case_error(int n, const double *x, const long double *reference)
{
    long double error = 0, size = 0;
    for (int j = 0; j < n; j++) {
        error = case_larger(error, fabsl(x[j] - reference[j]));
        if (fabsl(reference[j]) > size) size = fabsl(reference[j]);
    }
    return size > 0 ? error / size : error;
}

/* Returns how strongly x[row] depends on x[row - distance] and x[row + distance] (the larger of the two), with unit
   diagonal, once the unknowns between are eliminated: solves the rows between with one end 1 and the other 0. */
CASE_FUNCTION long double case_coupling(case_system s, int row, int distance)
{
    int first = row - distance + 1 > 0 ? row - distance + 1 : 0;
    int beyond = row + distance < s.n ? row + distance : s.n;
    case_system between = {beyond - first, s.a + first, s.b + first, s.c + first, 0};
    double *d = between.d = (double *)case_memory((size_t)between.n * sizeof *d);
    long double *x = (long double *)case_memory((size_t)between.n * sizeof *x), largest = 0;
    for (int end = 0; end < 2; end++) {
        if (end == 0 ? row - distance < 0 : row + distance >= s.n) continue;
        for (int j = 0; j < between.n; j++) d[j] = 0;
        d[end == 0 ? 0 : between.n - 1] = end == 0 ? s.a[first] : s.c[beyond - 1];
        case_reference(between, x);
        largest = fmaxl(largest, fabsl(x[row - first]));
    }
    free(x);
    free(d);
    return largest;
}

/* Returns how many steps of PCR over lanes of K rows it takes until no coupling exceeds the roundoff; lanes is a power
   of 2. */
CASE_FUNCTION int case_steps(case_system s, int K, int lanes, long double roundoff)
{
    int steps = 0;
    for (int distance = K; distance < K * lanes; distance *= 2, steps++) {
        int negligible = 1;
        for (int row = K - 1; row < s.n; row += K) negligible &= case_coupling(s, row, distance) <= roundoff;
        if (negligible) break;
    }
    return steps;
}

#endif
