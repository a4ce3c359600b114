/* test_pivoted_host.c - the pivoted solver of trid.h in plain C11, in both precisions.
   MIT licence, see LICENSE.

   The file includes itself once for each precision, as trid.h does. Arrays are allocated as long as the header says and
   no longer, so that the address sanitizer sees any overrun. */
#ifndef REAL
#include "trid.h"
#include "trid/pivoted.h"

#include "check.h"
#include "pivoted_cases.h"

#include <float.h>

enum { SEED = 20240815, SEEDS = 2, SIDES = 8, ROWS = 512 };

/* Returns one of the 20 matrices. Each is made once for both precisions, since those with given singular values take
   most of the time. */
static case_system the_20(int number, int seed)
{
    static case_system made[20][SEEDS];
    case_system *m = &made[number - 1][seed];
    if (!m->a) *m = pivoted_matrix(number, ROWS, SEED + (unsigned long long)seed);
    case_system copy = case_new(ROWS);
    memcpy(copy.a, m->a, 4 * ROWS * sizeof *copy.a);
    return copy;
}

/* Returns whether the short run leaves this case out: it solves each matrix with every other number of rows a lane. */
static int left_out(int number, int k)
{
    return check_short() && (k + number) % 2;
}

/* A zero that the compiler does not see, for NaN and inf. */
static volatile double zero = 0;

#define REAL float
#define F(stem) stem##_f32
#define ROUNDOFF (FLT_EPSILON / 2)
#define IS_FLOAT 1
#define SPREAD 15
#include "test_pivoted_host.c"
#undef REAL
#undef F
#undef ROUNDOFF
#undef IS_FLOAT
#undef SPREAD

#define REAL double
#define F(stem) stem##_f64
#define ROUNDOFF (DBL_EPSILON / 2)
#define IS_FLOAT 0
#define SPREAD 150
#include "test_pivoted_host.c"

int main(void)
{
    printf("seed %d\n", SEED);
    test_all_f32();
    test_all_f64();
    if (check_short())
        check_skip(2, "the 20 matrices of a second seed, and half of the rows a lane: SHORT_TESTS is set");
    return check_report();
}

#else /* REAL: the tests, in this precision */

/* ---- all solvers by one function --------------------------------------------------------------------------------- */

static REAL *F(copy)(const double *from, int count)
{
    REAL *to = case_memory((size_t)count * sizeof *to);
    for (int i = 0; i < count; i++) to[i] = (REAL)from[i];
    return to;
}

/* Solves into an array x and then into d itself; the two must agree to the last bit. The array c ends before c[n-1], so
   that the sanitizer sees whoever reads that; a[0] is NaN. */
static int F(solve)(int K, case_system s, double *x)
{
    size_t bytes = (size_t)s.n * sizeof(REAL);
    REAL *a = F(copy)(s.a, s.n), *b = F(copy)(s.b, s.n), *c = F(copy)(s.c, s.n > 0 ? s.n - 1 : 0);
    REAL *d = F(copy)(s.d, s.n), *apart = case_memory(bytes);
    REAL *work = case_memory(F(trid_host_pivoted_len)(s.n, K) * sizeof *work);
    int status = F(trid_host_pivoted)(s.n, K, a, b, c, d, apart, work);
    int status_aliased = F(trid_host_pivoted)(s.n, K, a, b, c, d, d, work);
    CHECK(status == status_aliased, "n %d K %d: status %d, but %d with x = d", s.n, K, status, status_aliased);
    if (status == 0) CHECK(memcmp(apart, d, bytes) == 0, "n %d K %d: x differs where it is d", s.n, K);
    for (int j = 0; j < s.n; j++) x[j] = status ? NAN : (double)apart[j];
    free(a), free(b), free(c), free(d), free(apart), free(work);
    return status;
}

/* Returns the error of LAPACK's algorithm in this precision, for the system whose solution is y. */
static double F(error_of_gtsv)(case_system s, const case_wide *y)
{
    REAL *x = case_memory((size_t)s.n * sizeof *x), *work = case_memory(3 * (size_t)s.n * sizeof *work);
    double *wide = case_memory((size_t)s.n * sizeof *wide);
    int status = F(pivoted_gtsv)(s, x, work);
    for (int j = 0; j < s.n; j++) wide[j] = (double)x[j];
    double error = status ? INFINITY : pivoted_error(s.n, wide, y);
    free(x), free(work), free(wide);
    return error;
}

/* Returns the error to be expected of a stable method. Such a method solves a system whose coefficients differ from the
   given ones by roundoffs. Which system that is depends on chance, and with a condition number of 1e15 so does the
   error: that of one LAPACK run may be ten times too small. So this is the root mean square over the system and
   neighbours of it, some of whose coefficients are changed by a unit in the last place. */
static double F(error_expected)(case_random *random, case_system s, const case_wide *y)
{
    enum { NEIGHBOURS = 7 };
    double error = F(error_of_gtsv)(s, y), squares = error * error;
    case_system near = case_new(s.n);
    memcpy(near.d, s.d, (size_t)s.n * sizeof *s.d);
    for (int i = 0; i < NEIGHBOURS; i++) {
        for (int j = 0; j < s.n; j++) {
            near.a[j] = s.a[j] * (1 + 2 * ROUNDOFF * (case_below(random, 3) - 1));
            near.b[j] = s.b[j] * (1 + 2 * ROUNDOFF * (case_below(random, 3) - 1));
            near.c[j] = s.c[j] * (1 + 2 * ROUNDOFF * (case_below(random, 3) - 1));
        }
        error = F(error_of_gtsv)(near, y);
        squares += error * error;
    }
    case_free(near);
    return squares >= 0 ? sqrt(squares / (1 + NEIGHBOURS)) : INFINITY;
}

static case_wide *F(solution)(case_system s)
{
    case_wide *y = case_memory((size_t)s.n * sizeof *y), *work = case_memory(3 * (size_t)s.n * sizeof *work);
    CHECK(pivoted_gtsv_wide(s, y, work) == 0, "n %d: the reference calls the matrix singular", s.n);
    free(work);
    return y;
}

/* Returns the residual allowed: the backward error of elimination with multipliers of at most 1, and a few more
   roundings for each level of the tree. */
static double F(residual_allowed)(int n)
{
    return (8 + log2(n + 1.0)) * ROUNDOFF;
}

static void F(check_residual)(case_system s, const double *x, const char *what, int K)
{
    long double residual = case_residual(s, x);
    CHECK(residual <= F(residual_allowed)(s.n), "%s n %d K %d: residual %Lg", what, s.n, K, residual);
}

/* ---- what must be solved ----------------------------------------------------------------------------------------- */

/* Tests the 20 matrices. Errors may be ten times those expected of LAPACK's algorithm, in the mean of the logarithms
   over some matrices and right-hand sides. An error of a few roundoffs is never wrong, and where LAPACK's algorithm
   leaves no correct digit there is nothing to compare. */
static void F(test_the_20)(void)
{
    static const int rows_per_lane[] = {1, 2, 3, 4, 5, 8, 11, 16, 31, 32};
    enum { KS = sizeof rows_per_lane / sizeof *rows_per_lane };
    const double least = 4 * ROUNDOFF;
    case_random random = {SEED}, nearby = {SEED + 1};
    double *x = case_memory(ROWS * sizeof *x);
    for (int number = 1; number <= 20; number++) {
        const int seeds = check_short() ? 1 : SEEDS;
        double lapack = 0, pivoted[KS] = {0};
        for (int seed = 0; seed < seeds; seed++) {
            case_system s = the_20(number, seed);
            if (IS_FLOAT) case_round_to_float(s);
            for (int side = 0; side < SIDES; side++) {
                case_wide *y = F(solution)(s);
                double expected = F(error_expected)(&nearby, s, y);
                lapack += log(fmax(expected, least)) / (seeds * SIDES);
                for (int k = 0; k < KS; k++) {
                    if (left_out(number, k)) continue;
                    int status = F(solve)(rows_per_lane[k], s, x);
                    double error = pivoted_error(ROWS, x, y);
                    /* Singular to this precision: a pivot may happen to round to 0, and nothing is left to compare. */
                    if (status > 0 && expected > 0.1) continue;
                    CHECK(status == 0, "matrix %d K %d: status %d", number, rows_per_lane[k], status);
                    F(check_residual)(s, x, pivoted_name[number - 1], rows_per_lane[k]);
                    if (number == 16 && !IS_FLOAT)
                        CHECK(error <= 1e-12, "matrix 16 K %d: error %g", rows_per_lane[k], error);
                    pivoted[k] += log(error <= least ? least : error) / (seeds * SIDES);
                }
                free(y);
                pivoted_renew(&random, s);
                if (IS_FLOAT) case_round_to_float(s);
            }
            case_free(s);
        }
        for (int k = 0; k < KS; k++)
            CHECK(left_out(number, k) || lapack > log(0.1) || pivoted[k] <= log(10.0) + lapack,
                  "matrix %d (%s) K %d: error %g, LAPACK's %g", number, pivoted_name[number - 1], rows_per_lane[k],
                  exp(pivoted[k]), exp(lapack));
    }
    free(x);
}

/* Kinds of matrices with random entries of random sign: plain, without a diagonal, with rows or columns scaled by
   powers of ten. */
enum F(kind) { F(PLAIN), F(NO_DIAGONAL), F(ROWS_SCALED), F(COLUMNS_SCALED), F(KINDS) };

static case_system F(random_system)(case_random *random, int n, int kind)
{
    case_system s = case_new(n);
    if (n < 1) return s;
    double *x = case_memory((size_t)n * sizeof *x);
    for (int j = 0; j < n; j++) {
        s.a[j] = case_between(random, -1, 1);
        s.b[j] = kind == F(NO_DIAGONAL) ? 0 : case_between(random, -1, 1);
        s.c[j] = case_between(random, -1, 1);
        x[j] = case_between(random, 1, 2) * (case_below(random, 2) ? 1 : -1);
    }
    for (int j = 0; j < n; j++) {
        double power = pow(10, case_below(random, 2 * SPREAD + 1) - SPREAD);
        if (kind == F(ROWS_SCALED)) s.a[j] *= power, s.b[j] *= power, s.c[j] *= power;
        if (kind == F(COLUMNS_SCALED)) {
            s.b[j] *= power;
            x[j] /= power;
            if (j > 0) s.c[j - 1] *= power;
            if (j + 1 < n) s.a[j + 1] *= power;
        }
    }
    if (IS_FLOAT) case_round_to_float(s);
    pivoted_right_hand_side(s, x);
    if (IS_FLOAT) case_round_to_float(s);
    free(x);
    return s;
}

/* Returns the largest error of an unknown relative to itself, but at least a few roundoffs; NaN if any x is NaN. */
static double F(worst_unknown)(int n, const double *x, const case_wide *y)
{
    double error = 4 * ROUNDOFF;
    for (int j = 0; j < n; j++) {
        double e = fabs((double)(x[j] / y[j] - 1));
        if (!(e <= error)) error = e;
    }
    return error;
}

/* Tests every n and every K. If columns are scaled, unknowns differ in size, so the error is taken of each unknown:
   LAPACK's algorithm does not depend on such a scaling. Again the means of the logarithms are compared, here over all
   n. */
static void F(test_random)(void)
{
    case_random random = {SEED};
    double lapack = 0, pivoted[33] = {0}, x[70], of_lapack[70];
    REAL rounded[70], work[3 * 70];
    for (int n = 1; n <= 70; n++) {
        for (int kind = 0; kind < F(KINDS); kind++) {
            if (kind == F(NO_DIAGONAL) && n % 2) continue; /* singular */
            case_system s = F(random_system)(&random, n, kind);
            case_wide *y = F(solution)(s);
            F(pivoted_gtsv)(s, rounded, work);
            for (int j = 0; j < n; j++) of_lapack[j] = (double)rounded[j];
            if (kind == F(COLUMNS_SCALED)) lapack += log(F(worst_unknown)(n, of_lapack, y)) / 70;
            for (int K = 1; K <= 32; K++) {
                int status = F(solve)(K, s, x);
                CHECK(status == 0, "kind %d n %d K %d: status %d", kind, n, K, status);
                F(check_residual)(s, x, "random", K);
                if (kind == F(COLUMNS_SCALED)) pivoted[K] += log(F(worst_unknown)(n, x, y)) / 70;
            }
            free(y);
            case_free(s);
        }
    }
    for (int K = 1; K <= 32; K++)
        CHECK(pivoted[K] <= log(10.0) + lapack, "columns scaled, K %d: error %g, LAPACK's %g", K, exp(pivoted[K]),
              exp(lapack));
}

/* Tests the matrix -1 2 -1 with x[j] = j + 1: d is 0 except the last, n + 1. The condition number is about n^2 / 2. */
static void F(test_second_difference)(void)
{
    static const int sizes[] = {1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 1024, 4001};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        int n = sizes[i];
        case_system s = case_new(n);
        double *x = case_memory((size_t)n * sizeof *x);
        for (int j = 0; j < n; j++) {
            s.a[j] = s.c[j] = -1;
            s.b[j] = 2;
        }
        s.d[n - 1] = n + 1;
        case_close_corners(s);
        for (int K = 1; K <= 32; K++) {
            double error = 0;
            int status = F(solve)(K, s, x);
            CHECK(status == 0, "-1 2 -1 n %d K %d: status %d", n, K, status);
            for (int j = 0; j < n; j++)
                if (!(fabs(x[j] / (j + 1) - 1) <= error)) error = fabs(x[j] / (j + 1) - 1);
            CHECK(error <= (4 + 0.5 * (double)n * n) * ROUNDOFF, "-1 2 -1 n %d K %d: error %g", n, K, error);
            F(check_residual)(s, x, "-1 2 -1", K);
        }
        free(x);
        case_free(s);
    }
}

/* Returns the exact determinant for entries -1, 0, 1 and n <= 40: it cannot exceed the 41st Fibonacci number. */
static long long F(determinant)(case_system s)
{
    long long before = 0, now = 1;
    for (int j = 0; j < s.n; j++) {
        long long next = (long long)s.b[j] * now;
        if (j > 0) next -= (long long)(s.a[j] * s.c[j - 1]) * before;
        before = now;
        now = next;
    }
    return now;
}

/* Tests random entries -1, 0, 1: in most matrices some leading part is singular, and zero pivots are everywhere. */
static void F(test_signs)(void)
{
    case_random random = {SEED + 1};
    int singular = 0, regular = 0, missed = 0;
    for (int i = 0; i < 20000; i++) {
        int n = 1 + case_below(&random, 40), K = 1 + case_below(&random, 32);
        case_system s = case_new(n);
        double x[40], want[40];
        for (int j = 0; j < n; j++) {
            s.a[j] = case_below(&random, 5) % 3 - 1;
            s.b[j] = case_below(&random, 3) - 1;
            s.c[j] = case_below(&random, 5) % 3 - 1;
            want[j] = case_below(&random, 201) - 100;
        }
        long long determinant = F(determinant)(s);
        pivoted_right_hand_side(s, want);
        int status = F(solve)(K, s, x);
        if (determinant) {
            regular++;
            CHECK(status == 0, "signs n %d K %d: status %d", n, K, status);
            if (status == 0) F(check_residual)(s, x, "signs", K);
        } else {
            singular++;
            CHECK(status == 0 || status == 1, "signs n %d K %d: status %d", n, K, status);
            missed += status == 0;
        }
        case_free(s);
    }
    CHECK(regular > 2000 && singular > 2000, "signs: %d regular, %d singular", regular, singular);
    /* A multiplier of 1/3 is rounded, so numbers that should cancel may leave a roundoff. */
    CHECK(missed < singular / 100, "signs: of %d singular ones %d passed", singular, missed);
}

/* ---- what cannot be solved --------------------------------------------------------------------------------------- */

static void F(check_refused)(case_system s, const char *what, int at)
{
    double x[64];
    for (int K = 1; K <= 32; K++) {
        int status = F(solve)(K, s, x);
        CHECK(status == 1, "%s %d n %d K %d: status %d", what, at, s.n, K, status);
    }
}

static void F(test_refusals)(void)
{
    case_random random = {SEED + 2};
    for (int n = 1; n <= 40; n += n < 12 ? 1 : 7) {
        for (int at = 0; at < n; at++) {
            case_system s = F(random_system)(&random, n, F(PLAIN));
            double *entry[3] = {s.a + at, s.b + at, s.c + at};
            for (int k = 0; k < 3; k++) {
                double kept = *entry[k];
                if ((k == 0 && at == 0) || (k == 2 && at == n - 1)) continue;
                *entry[k] = 0 / zero;
                F(check_refused)(s, "NaN in row", at);
                *entry[k] = 1 / zero;
                F(check_refused)(s, "inf in row", at);
                *entry[k] = kept;
            }
            double x[64], kept_d = s.d[at];
            s.d[at] = 0 / zero;
            CHECK(F(solve)(1 + at % 32, s, x) == 0, "NaN in d of row %d n %d is refused", at, n);
            CHECK(x[at] != x[at], "NaN in d of row %d n %d is lost", at, n);
            s.d[at] = kept_d;
            s.a[at] = s.b[at] = s.c[at] = 0;
            case_close_corners(s);
            F(check_refused)(s, "zero row", at);
            case_free(s);

            s = F(random_system)(&random, n, F(PLAIN));
            s.b[at] = 0;
            if (at > 0) s.c[at - 1] = 0;
            if (at + 1 < n) s.a[at + 1] = 0;
            F(check_refused)(s, "zero column", at);
            case_free(s);
            if (at + 1 < n) {
                s = case_singular_pair(n, at);
                F(check_refused)(s, "two equal rows", at);
                case_free(s);
            }
        }
        if (n % 2) {
            case_system s = F(random_system)(&random, n, F(NO_DIAGONAL));
            F(check_refused)(s, "odd n without diagonal", n);
            case_free(s);
        }
    }
    REAL one = 1, x = 5, work[32];
    CHECK(F(trid_host_pivoted)(0, 4, NULL, NULL, NULL, NULL, NULL, NULL) == 0, "n = 0 is refused");
    CHECK(F(trid_host_pivoted)(-1, 4, &one, &one, &one, &one, &x, work) == TRID_BAD_ARGUMENT, "n = -1 is taken");
    CHECK(F(trid_host_pivoted)(1, 0, &one, &one, &one, &one, &x, work) == TRID_BAD_ARGUMENT, "0 rows a lane are taken");
    CHECK(F(trid_host_pivoted)(1, 33, &one, &one, &one, &one, &x, work) == TRID_BAD_ARGUMENT,
          "33 rows a lane are taken");
    CHECK(x == 5, "what was refused wrote x");
    CHECK(F(trid_host_pivoted_len)(0, 4) == 0 && F(trid_host_pivoted_len)(9, 0) == 0, "work for nothing");
}

static void F(test_all)(void)
{
    F(test_the_20)();
    F(test_random)();
    F(test_second_difference)();
    F(test_signs)();
    F(test_refusals)();
}

#endif
