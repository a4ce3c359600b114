/* test_fd_host.c - pde/fd.h on the host: formulas exact where they must be, orders under refinement, refusals,
   schedules, schemes, and two prices against closed forms.
   MIT licence, see LICENSE.

   Arrays are as long as the header says and no longer, so that the address sanitizer sees any overrun. */
#include "pde/fd.h"

#include "check.h"

#include "fd_cases.h"

#include <float.h>

enum { SEED = 20250207 };

/* Returns NaN or an infinity, made by arithmetic that no compiler folds. */
static double bad_number(int which)
{
    volatile double zero = 0;
    return which == 0 ? zero / zero : which == 1 ? 1 / zero : -1 / zero;
}

/* Makes n increasing points from about -1 to 1. Neighbouring spacings differ by a factor of up to 8. */
static double *random_grid(case_random *random, int n)
{
    double *x = case_numbers(n), sum = 0;
    for (int i = 0; i < n; i++) x[i] = sum, sum += case_between(random, 0.25, 2) / n;
    for (int i = 0; i < n; i++) x[i] -= 0.6 * sum;
    return x;
}

static double order_of(double coarse, double fine)
{
    return log(coarse / fine) / log(2.0);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Checks, on random grids and in one precision, that all formulas that should be exact are exact to rounding, those of
   faces too. A quadratic has values of about 1 and slopes of about 2. The rounding error of a slope is that of two
   values divided by a spacing; that of a second derivative is twice as much, divided by a spacing once more. */
#define DEFINE_EXACT(NAME, Real, F, roundoff)                                                                          \
    static void NAME(case_random *random)                                                                              \
    {                                                                                                                  \
        const double tiny = roundoff;                                                                                  \
        for (int trial = 0; trial < 200; trial++) {                                                                    \
            int n = 4 + case_below(random, 30), face[2] = {case_below(random, 4), case_below(random, 4)};              \
            double *x = random_grid(random, n), q[3], least = 2;                                                       \
            F(fd_cell) *cell = (F(fd_cell) *)case_memory((size_t)n * sizeof *cell);                                    \
            Real *u = (Real *)case_memory((size_t)n * sizeof *u), far_of[2];                                           \
            for (int k = 0; k < 3; k++) q[k] = case_between(random, -1, 1);                                            \
            for (int j = 0; j < n; j++) u[j] = (Real)(q[0] + x[j] * (q[1] + x[j] * q[2]));                             \
            for (int j = 1; j < n; j++) least = fmin(least, x[j] - x[j - 1]);                                          \
            CHECK(F(fd_cells)(n, x, face, cell, far_of) == FD_OK, "cells");                                            \
            double slope_error = 16 * tiny / least, bend_error = 2 * slope_error / least;                              \
            for (int j = 0; j < n; j++) {                                                                              \
                double slope = q[1] + 2 * q[2] * x[j];                                                                 \
                int at_face = j == 0 ? 1 : j == n - 1 ? 2 : 0, kind = at_face ? face[at_face - 1] : -1;                \
                double mu = at_face == 1   ? case_between(random, 0, 2)                                                \
                            : at_face == 2 ? case_between(random, -2, 0)                                               \
                                           : case_between(random, -2, 2);                                              \
                double dd = case_between(random, 0, 1), want = mu * slope + 2 * dd * q[2], scale = fabs(mu) + 1;       \
                Real below = j > 0 ? u[j - 1] : 0, above = j < n - 1 ? u[j + 1] : 0;                                   \
                F(fd_row) row = F(fd_lane_row)(cell[j], FD_CENTRAL, (Real)mu, (Real)dd);                               \
                double got = (double)F(fd_lane_apply)(row, below, u[j], above);                                        \
                double first = (double)F(fd_lane_first)(cell[j], below, u[j], above);                                  \
                double second = (double)F(fd_lane_second)(cell[j], below, u[j], above);                                \
                double step = j > 0 ? x[j] - x[j - 1] : x[1] - x[0],                                                   \
                       linear = j > 0 ? slope - q[2] * step : slope + q[2] * step;                                     \
                double want_first = !at_face || kind == FD_LINEAR ? (at_face ? linear : slope) : 0;                    \
                if (kind != FD_DEGENERATE)                                                                             \
                    check_near(first, want_first, slope_error, "first derivative, face %d, point %d", kind, j);        \
                if (!at_face) check_near(second, 2 * q[2], bend_error, "second derivative, point %d of %d", j, n);     \
                if (kind == FD_LINEAR) want = mu * linear;                                                             \
                if (kind == FD_VALUE) want = 0;                                                                        \
                if (kind == FD_SLOPE) got += (double)F(fd_lane_source)(cell[j], (Real)mu, (Real)dd, (Real)slope);      \
                if (kind == FD_DEGENERATE) {                                                                           \
                    int one = at_face == 1 ? 1 : n - 2, two = at_face == 1 ? 2 : n - 3;                                \
                    got += mu * (double)far_of[at_face - 1] * ((double)u[two] - (double)u[one]);                       \
                    want = mu * slope;                                                                                 \
                }                                                                                                      \
                if (kind == FD_LINEAR || kind == FD_VALUE || !at_face)                                                 \
                    CHECK(at_face == 0 || (at_face == 1 ? row.below == 0 : row.above == 0), "a coupling outwards");    \
                check_near(got, want, 2 * scale * (slope_error + bend_error), "A u, face %d, point %d of %d", kind, j, \
                           n);                                                                                         \
            }                                                                                                          \
            free(u);                                                                                                   \
            free(cell);                                                                                                \
            free(x);                                                                                                   \
        }                                                                                                              \
        for (int trial = 0; trial < 200; trial++) {                                                                    \
            double *x = random_grid(random, 4), *y = random_grid(random, 5), q[6];                                     \
            F(fd_cell) along_x[4], along_y[5];                                                                         \
            Real far_of[2], u[9];                                                                                      \
            int face[2] = {FD_LINEAR, FD_LINEAR}, i = 1 + case_below(random, 2), j = 1 + case_below(random, 3);        \
            F(fd_cells)(4, x, face, along_x, far_of);                                                                  \
            F(fd_cells)(5, y, face, along_y, far_of);                                                                  \
            for (int k = 0; k < 6; k++) q[k] = case_between(random, -1, 1);                                            \
            for (int m = 0; m < 9; m++) {                                                                              \
                double s = x[i - 1 + m % 3], t = y[j - 1 + m / 3];                                                     \
                u[m] = (Real)((q[0] + s * (q[1] + s * q[2])) * (q[3] + t * (q[4] + t * q[5])));                        \
            }                                                                                                          \
            check_near((double)F(fd_lane_mixed)(along_x[i], along_y[j], u),                                            \
                       (q[1] + 2 * q[2] * x[i]) * (q[4] + 2 * q[5] * y[j]), 6000 * tiny, "mixed derivative");          \
            free(y);                                                                                                   \
            free(x);                                                                                                   \
        }                                                                                                              \
    }
#define NAME_F32(stem) stem##_f32
#define NAME_F64(stem) stem##_f64
DEFINE_EXACT(exact_f32, float, NAME_F32, (FLT_EPSILON / 2))
DEFINE_EXACT(exact_f64, double, NAME_F64, (DBL_EPSILON / 2))

static void test_exact(void)
{
    case_random random = {SEED};
    exact_f32(&random);
    exact_f64(&random);
}

static void test_cells_refused(void)
{
    double x[5] = {0, 1, 2, 3, 4}, far_of[2];
    float far_f32[2];
    int face[2] = {FD_LINEAR, FD_DEGENERATE}, wrong[2] = {FD_LINEAR, 4}, negative[2] = {-1, FD_LINEAR};
    fd_cell_f64 cell[5];
    fd_cell_f32 cell_f32[5];
    CHECK(fd_cells_f64(5, x, face, cell, far_of) == FD_OK, "good");
    CHECK(fd_cells_f64(3, x, face, cell, far_of) == FD_BAD_SIZE, "3 points");
    CHECK(fd_cells_f64(-1, x, face, cell, far_of) == FD_BAD_SIZE, "-1 points");
    CHECK(fd_cells_f64(5, NULL, face, cell, far_of) == FD_BAD_ARGUMENT, "no coordinates");
    CHECK(fd_cells_f64(5, x, NULL, cell, far_of) == FD_BAD_ARGUMENT, "no faces");
    CHECK(fd_cells_f64(5, x, face, NULL, far_of) == FD_BAD_ARGUMENT, "no room");
    CHECK(fd_cells_f64(5, x, face, cell, NULL) == FD_BAD_ARGUMENT, "no room for far");
    CHECK(fd_cells_f64(5, x, wrong, cell, far_of) == FD_BAD_FACE, "unknown face");
    CHECK(fd_cells_f64(5, x, negative, cell, far_of) == FD_BAD_FACE, "unknown face");
    for (int i = 0; i < 5; i++) {
        double kept = x[i];
        for (int b = 0; b < 3; b++) {
            x[i] = bad_number(b);
            CHECK(fd_grid_check(5, x) == 1 + i, "point %d is bad", i);
        }
        x[i] = i > 0 ? x[i - 1] : 1;
        CHECK(fd_cells_f64(5, x, face, cell, far_of) == (i > 0 ? 1 + i : 2), "point %d is the one before", i);
        x[i] = kept;
    }
    /* So close that the reciprocal overflows in float but not in double: the cells on both sides. */
    double close[5] = {-2, -1, 0, 1e-39, 1};
    CHECK(fd_cells_f64(5, close, face, cell, far_of) == FD_OK, "close points in double precision");
    CHECK(fd_cells_f32(5, close, face, cell_f32, far_f32) == 3, "close points in single precision");
    CHECK(sizeof(fd_cell_f32) == 16, "a cell of 16 bytes");
}

static void test_orders(void)
{
    for (int f = 0; f < CASE_FORMULAS; f++) {
        double order = order_of(case_formula_error(f, 160), case_formula_error(f, 320));
        check_near(order, case_formula_order[f], 0.15, "order of the %s", case_formula_name[f]);
    }
    /* All faces and fittings, from diffusion alone to drift that exceeds it on coarse grids. Upwinding is central where
       no cell needs it. */
    for (int kind = 0; kind < FD_P_FACES; kind++)
        for (int fitting = FD_CENTRAL; fitting <= FD_FITTED; fitting++)
            for (int p = 0; p < 3; p++) {
                double diffusion = pow(10, -p), coarse = case_line_error(320, fitting, kind, 1, diffusion);
                double order = order_of(coarse, case_line_error(640, fitting, kind, 1, diffusion));
                if (fitting == FD_UPWIND && p == 2) continue; /* between first and second order */
                check_near(order, 2, 0.15, "order with face %d, fitting %d, diffusion %g", kind, fitting, diffusion);
                CHECK(coarse < 4e-3, "error with face %d, fitting %d, diffusion %g", kind, fitting, diffusion);
            }
    /* Without diffusion, upwinding is of first order. */
    double order =
        order_of(case_line_error(320, FD_UPWIND, FD_LINEAR, 1, 0), case_line_error(640, FD_UPWIND, FD_LINEAR, 1, 0));
    check_near(order, 1, 0.1, "order of upwinding alone");
    /* Fitting is no better where drift exceeds diffusion in all but a few cells. */
    order = order_of(case_line_error(80, FD_FITTED, FD_LINEAR, 1, 1e-4),
                     case_line_error(160, FD_FITTED, FD_LINEAR, 1, 1e-4));
    check_near(order, 1, 0.1, "order of fitting where drift wins");
}

/* Checks that couplings are never negative, matrices dominant and straight lines exact, whatever drift and
   diffusion. `least` is the least positive number. */
#define DEFINE_FITTING(NAME, Real, F, roundoff, least)                                                                 \
    static void NAME(case_random *random)                                                                              \
    {                                                                                                                  \
        int refused = 0;                                                                                               \
        for (int trial = 0; trial < 20000; trial++) {                                                                  \
            int face[2] = {FD_LINEAR, FD_LINEAR}, fitting = FD_UPWIND + trial % 2;                                     \
            double x[4] = {0, 1, 0, 0};                                                                                \
            F(fd_cell) cell[4];                                                                                        \
            Real far_of[2], a, b, c;                                                                                   \
            x[2] = 1 + pow(10, case_between(random, -3, 3)), x[3] = x[2] + 1;                                          \
            Real drift = (Real)((case_below(random, 2) ? 1 : -1) * pow(10, case_between(random, -8, 4)));              \
            Real diffusion = (Real)pow(10, case_between(random, -12, 4));                                              \
            if (case_below(random, 10) == 0) diffusion = 0;                                                            \
            if (case_below(random, 10) == 0) drift = 0;                                                                \
            F(fd_cells)(4, x, face, cell, far_of);                                                                     \
            F(fd_row) row = F(fd_lane_row)(cell[1], fitting, drift, diffusion);                                        \
            F(fd_row) central = F(fd_lane_row)(cell[1], FD_CENTRAL, drift, diffusion);                                 \
            CHECK(row.below >= 0 && row.above >= 0, "couplings %g %g, drift %g, diffusion %g", (double)row.below,      \
                  (double)row.above, (double)drift, (double)diffusion);                                                \
            double line = (double)row.above * (x[2] - x[1]) - (double)row.below * (x[1] - x[0]);                       \
            double size = (double)row.above * (x[2] - x[1]) + (double)row.below * (x[1] - x[0]);                       \
            check_near(line, (double)drift, 4 * (roundoff) * (size + fabs((double)drift)), "a straight line");         \
            CHECK(F(fd_lane_matrix)(row, (Real)0.1 / (1 + row.below + row.above), 0, &a, &b, &c), "not dominant");     \
            refused += !F(fd_lane_matrix)(central, (Real)1e4, 0, &a, &b, &c);                                          \
            if (fitting == FD_UPWIND && central.below >= 0 && central.above >= 0)                                      \
                CHECK(row.below == central.below && row.above == central.above, "upwind where it need not be");        \
            if (fitting == FD_UPWIND && (central.below < 0 || central.above < 0))                                      \
                CHECK((row.below == 0 || row.above == 0), "more diffusion than upwinding needs");                      \
            /* Exact for exp(-drift x / diffusion), as far as that is one; a coupling is rounded like drift over  \
               spacing. */    \
            double p = (double)drift / (double)diffusion;                                                              \
            if (fitting == FD_FITTED && diffusion > 0 && fabs(p) * x[2] < 30) {                                        \
                double up = expm1(-p * (x[2] - 1)), down = expm1(p), mu = fabs((double)drift);                         \
                double got = (double)row.above * up + (double)row.below * down;                                        \
                double scale =                                                                                         \
                    ((double)row.above + mu / (x[2] - 1)) * fabs(up) + ((double)row.below + mu) * fabs(down);          \
                check_near(got, 0, 20 * (roundoff)*scale, "exponential, drift %g, diffusion %g, spacing %g",           \
                           (double)drift, (double)diffusion, x[2] - 1);                                                \
            }                                                                                                          \
        }                                                                                                              \
        CHECK(refused > 2000, "central differences dominant in all but %d of 20000 rows", refused);                    \
        F(fd_cell) cell = {1, 1, 1, (Real)0.5};                                                                        \
        for (int fitting = FD_CENTRAL; fitting <= FD_FITTED; fitting++)                                                \
            for (int k = 0; k < 6; k++) {                                                                              \
                Real nan = (Real)bad_number(0), drift = (Real)(k / 2 - 1), diffusion = (Real)(k / 4);                  \
                F(fd_row) row = F(fd_lane_row)(cell, fitting, k % 2 ? nan : drift, k % 2 ? diffusion : nan);           \
                CHECK(!(trid_finite_f64((double)row.above) && trid_finite_f64((double)row.below)),                     \
                      "fitting %d hides NaN, %d", fitting, k);                                                         \
            }                                                                                                          \
        /* Numbers of which a product may be rounded to 0. */                                                          \
        for (int k = 0; k < 6 * 6 * 4; k++) {                                                                          \
            Real small[6] = {0, least, 2 * least, 9 * least, 100 * least, 1}, spacing = (Real)(k % 2 ? 0.01 : 100);    \
            Real diffusion = small[k / 4 % 6], drift = small[k / 24] * (Real)(k / 2 % 2 ? -1 : 1);                     \
            cell.below = 1 / spacing, cell.above = 1 / (Real)7;                                                        \
            cell.h = 2 / (spacing + 7), cell.w = spacing / (spacing + 7);                                              \
            F(fd_row) row = F(fd_lane_row)(cell, FD_FITTED, drift, diffusion);                                         \
            CHECK(row.below >= 0 && row.above >= 0, "small numbers: couplings %g %g, drift %g, diffusion %g",          \
                  (double)row.below, (double)row.above, (double)drift, (double)diffusion);                             \
        }                                                                                                              \
    }
DEFINE_FITTING(fitting_f32, float, NAME_F32, (FLT_EPSILON / 2), 1e-45f)
DEFINE_FITTING(fitting_f64, double, NAME_F64, (DBL_EPSILON / 2), 5e-324)

static void test_fitting(void)
{
    case_random random = {SEED + 1};
    fitting_f32(&random);
    fitting_f64(&random);
}

/* Checks the elimination of a face's third unknown: the solution is that of the four rows solved by hand. */
static void test_face_three(void)
{
    case_random random = {SEED + 2};
    int eliminated = 0;
    for (int trial = 0; trial < 2000; trial++) {
        int n = 4 + case_below(&random, 5), face[2] = {FD_DEGENERATE, FD_DEGENERATE};
        double *x = random_grid(&random, n), *work = case_numbers(6ll * n), far_of[2],
               size = case_between(&random, 0, 3);
        double *a = work, *b = work + n, *c = work + 2 * n, *d = work + 3 * n, *u = work + 4 * n;
        fd_cell_f64 *cell = (fd_cell_f64 *)case_memory((size_t)n * sizeof *cell);
        CHECK(fd_cells_f64(n, x, face, cell, far_of) == FD_OK, "cells");
        for (int j = 0; j < n; j++) {
            double mu = j == 0 ? 1 : j == n - 1 ? -1 : case_between(&random, -1, 1);
            fd_lane_matrix_f64(fd_lane_row_f64(cell[j], FD_UPWIND, mu, 0.2 * (j > 0 && j < n - 1)), size, 0.1, &a[j],
                               &b[j], &c[j]);
            d[j] = case_between(&random, -1, 1);
        }
        double b0 = b[0], c0 = c[0], d0 = d[0], an = a[n - 1], bn = b[n - 1], dn = d[n - 1];
        double third = size * far_of[0], last = -size * far_of[1];
        double m = fd_lane_face_three_f64(third, &b[0], &c[0], a[1], b[1], c[1]);
        double k = fd_lane_face_three_f64(last, &b[n - 1], &a[n - 1], c[n - 2], b[n - 2], a[n - 2]);
        d[0] -= m * d[1];
        d[n - 1] -= k * d[n - 2];
        CHECK(b[0] > fabs(c[0]) && b[n - 1] > fabs(a[n - 1]), "a face that is not dominant");
        CHECK(trid_host_thomas_f64(n, a, b, c, d, u, work + 5 * n) == 0, "solvable");
        if (m == 0) third = 0; /* leaves the row as it was */
        if (k == 0) last = 0;
        eliminated += (m != 0) + (k != 0);
        check_near(b0 * u[0] + (c0 + third) * u[1] - third * u[2], d0, 1e-11, "first row, m = %g", m);
        check_near(bn * u[n - 1] + (an + last) * u[n - 2] - last * u[n - 3], dn, 1e-11, "last row, m = %g", k);
        free(cell);
        free(work);
        free(x);
    }
    CHECK(eliminated > 3000, "eliminated %d of 4000", eliminated);
    double b = 1.5, c = -0.5;
    CHECK(fd_lane_face_three_f64(-0.3, &b, &c, -1, 2, 0) == 0 && b == 1.5 && c == -0.5, "nothing to eliminate with");
    CHECK(fd_lane_face_three_f64(-0.3, &b, &c, -1, 2, 1) == 0 && b == 1.5 && c == -0.5, "a coupling of the wrong sign");
}

/* Checks a drift that points outward: its row is not dominant, but is dominant if the coupling is lagged. */
static void test_lag(void)
{
    double x[4] = {0, 1, 2, 3}, far_of[2], a, b, c;
    int face[2] = {FD_LINEAR, FD_LINEAR};
    fd_cell_f64 cell[4];
    fd_cells_f64(4, x, face, cell, far_of);
    for (int j = 0; j < 4; j += 3) {
        fd_row_f64 row = fd_lane_row_f64(cell[j], FD_CENTRAL, j ? 2 : -2, 0.1);
        CHECK(!fd_lane_matrix_f64(row, 1, 0.1, &a, &b, &c), "face %d is dominant", j);
        CHECK(fd_lane_matrix_f64(fd_lane_lag_f64(row), 1, 0.1, &a, &b, &c) && a == 0 && c == 0 && b == 1.1,
              "face %d lagged: %g %g %g", j, a, b, c);
        row = fd_lane_row_f64(cell[j], FD_CENTRAL, j ? -2 : 2, 0.1);
        CHECK(fd_lane_matrix_f64(row, 1, 0.1, &a, &b, &c) && b == 3.1 && a + c == -2, "face %d inwards", j);
    }
    /* The test of dominance is the comparison that its comment states, for either side and any signs. */
    case_random random = {SEED + 8};
    int dominant = 0;
    for (int trial = 0; trial < 2000; trial++) {
        fd_row_f64 row = {case_between(&random, -1, 1), case_between(&random, -1, 1)};
        int verdict = fd_lane_matrix_f64(row, 1, 0, &a, &b, &c);
        CHECK(verdict == (b > fabs(a) + fabs(c)), "row %g %g: %d", row.below, row.above, verdict);
        CHECK(a == -row.below && c == -row.above && b == 1 + (row.below + row.above), "the matrix's row");
        dominant += verdict;
    }
    CHECK(dominant > 200 && dominant < 1800, "%d of 2000 rows dominant", dominant);
    /* Lagged couplings act on the old values: of first order in time, where the whole matrix is of second. */
    check_near(order_of(case_outwards(160, 1), case_outwards(320, 1)), 1, 0.1, "order with lagged faces");
    check_near(order_of(case_outwards(160, 0), case_outwards(320, 0)), 2, 0.1, "order with the whole matrix");
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

static void test_axis(void)
{
    case_random random = {SEED + 3};
    int refused = 0, tried = 4000;
    for (int trial = 0; trial < tried; trial++) {
        fd_axis axis = {0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        axis.low = case_between(&random, -100, 100);
        double range = pow(10, case_between(&random, -3, 3));
        axis.high = axis.low + range;
        axis.points = 20 + case_below(&random, 300);
        axis.places = case_below(&random, 4);
        for (int k = 0; k < axis.places; k++) {
            /* One place in each part of the axis, or at its ends. */
            double part = range / axis.places;
            axis.place[k] = axis.low + part * (k + case_between(&random, 0.1, 0.9));
            axis.width[k] = case_below(&random, 4) ? range * pow(10, case_between(&random, -4, 0)) : 0;
            axis.align[k] = case_below(&random, 3);
            if (axis.align[k] == FD_ON_NODE && k == 0 && case_below(&random, 3) == 0) axis.place[k] = axis.low;
        }
        double *x = case_numbers(axis.points), scale = fabs(axis.low) + range;
        int status = fd_axis_points(&axis, x);
        if (status) {
            refused++;
            CHECK(status == FD_PLACES_SHARE || status == FD_PLACE_SQUEEZED, "status %d", status);
            free(x);
            continue;
        }
        CHECK(x[0] == axis.low && x[axis.points - 1] == axis.high, "ends");
        for (int k = 0; k < axis.places; k++) {
            int found = 0, i = 0;
            while (x[i] < axis.place[k]) i++;
            if (axis.align[k] == FD_ON_NODE) found = x[i] == axis.place[k];
            if (axis.align[k] == FD_MIDWAY) {
                found = fabs((x[i] - axis.place[k]) - (axis.place[k] - x[i - 1])) <= 4 * DBL_EPSILON * scale;
                /* The points lie where a smooth map puts them. */
                double ratio = (x[i + 1] - x[i]) / (x[i] - x[i - 1]),
                       before = (x[i - 1] - x[i - 2]) / (x[i] - x[i - 1]);
                CHECK(ratio > 0.2 && ratio < 5 && before > 0.2 && before < 5, "spacings %g and %g times the middle one",
                      before, ratio);
            }
            CHECK(found || axis.align[k] == FD_ANYWHERE, "place %d of %d, alignment %d", k, axis.places, axis.align[k]);
        }
        free(x);
    }
    /* Two places within a few spacings of each other cannot both be points. */
    CHECK(refused < tried / 20, "%d of %d axes refused", refused, tried);

    /* A uniform axis, to within rounding. */
    double x[101];
    fd_axis axis = {-1, 3, 101, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    CHECK(fd_axis_points(&axis, x) == FD_OK, "uniform");
    for (int i = 0; i < 101; i++) check_near(x[i], -1 + 0.04 * i, 1e-15, "uniform point %d", i);
    /* One place: the sinh of the textbooks. */
    fd_axis one = {0, 8, 101, 1, {1, 0, 0}, {0.2, 0, 0}, {FD_ANYWHERE, 0, 0}};
    CHECK(fd_axis_points(&one, x) == FD_OK, "one place");
    for (int i = 0; i < 101; i++) {
        double from = asinh(-1 / 0.2), to = asinh(7 / 0.2);
        check_near(x[i], 1 + 0.2 * sinh(from + (to - from) * i / 100), 1e-14, "point %d", i);
    }
    /* Two places: the sum of two asinh grows by equal amounts. */
    fd_axis two = {0, 8, 101, 2, {1, 5, 0}, {0.2, 0.01, 0}, {FD_ANYWHERE, FD_ANYWHERE, 0}};
    CHECK(fd_axis_points(&two, x) == FD_OK, "two places");
    double from = asinh(-1 / 0.2) + asinh(-5 / 0.01), to = asinh(7 / 0.2) + asinh(3 / 0.01);
    for (int i = 0; i < 101; i++)
        check_near((asinh((x[i] - 1) / 0.2) + asinh((x[i] - 5) / 0.01) - from) / (to - from), i / 100.0, 1e-12,
                   "point %d of two places", i);
}

static void test_axis_refused(void)
{
    double x[100];
    fd_map map;
    const fd_axis good = {0, 8, 100, 2, {1, 5, 0}, {0.2, 0.1, 0}, {FD_MIDWAY, FD_ON_NODE, 0}};
    fd_axis a = good;
    CHECK(fd_axis_points(&a, x) == FD_OK, "good");
    CHECK(fd_axis_points(NULL, x) == FD_BAD_ARGUMENT && fd_axis_points(&a, NULL) == FD_BAD_ARGUMENT, "null");
    CHECK(fd_axis_map(NULL, &map) == FD_BAD_ARGUMENT && fd_axis_map(&a, NULL) == FD_BAD_ARGUMENT, "null");
    a.align[1] = 3;
    CHECK(fd_axis_points(&a, x) == FD_BAD_ALIGNMENT, "alignment");
    a = good, a.points = 3;
    CHECK(fd_axis_points(&a, x) == FD_BAD_SIZE, "3 points");
    a = good, a.places = 4;
    CHECK(fd_axis_points(&a, x) == FD_BAD_SIZE, "4 places");
    a = good, a.places = -1;
    CHECK(fd_axis_points(&a, x) == FD_BAD_SIZE, "-1 places");
    for (int b = 0; b < 3; b++)
        for (int n = 0; n < 6; n++) {
            a = good;
            double *number[6] = {&a.low, &a.high, &a.place[0], &a.place[1], &a.width[0], &a.width[1]};
            *number[n] = bad_number(b);
            CHECK(fd_axis_points(&a, x) == FD_BAD_NUMBER, "number %d", n);
        }
    a = good, a.high = 0;
    CHECK(fd_axis_points(&a, x) == FD_BAD_NUMBER, "no length");
    a = good, a.width[1] = -0.1;
    CHECK(fd_axis_points(&a, x) == FD_BAD_NUMBER, "a negative width");
    a = good, a.width[1] = 1e-12;
    CHECK(fd_axis_points(&a, x) == FD_BAD_NUMBER, "a width too small");
    a = good, a.place[1] = 1;
    CHECK(fd_axis_points(&a, x) == FD_PLACE_ORDER, "places out of order");
    a = good, a.place[1] = 8.5;
    CHECK(fd_axis_points(&a, x) == FD_PLACE_OUTSIDE, "a place outside");
    a = good, a.place[0] = 0;
    CHECK(fd_axis_points(&a, x) == FD_PLACE_AT_END, "midway at an end");
    a = good, a.points = 4, a.places = 1, a.place[0] = 0.01, a.width[0] = 0;
    CHECK(fd_axis_points(&a, x) == FD_PLACE_SQUEEZED, "midway beside an end");
    a = good, a.align[0] = FD_ON_NODE, a.place[0] = 0;
    CHECK(fd_axis_points(&a, x) == FD_OK, "an end on a node");
    a = good, a.place[0] = 5 - 1e-9;
    CHECK(fd_axis_points(&a, x) == FD_PLACES_SHARE, "two places as good as one");
    a = good, a.low = 1e9, a.high = 1e9 + 8, a.place[0] += 1e9, a.place[1] += 1e9, a.width[0] = 2e-8;
    int status = fd_axis_points(&a, x);
    CHECK(status > 0 && status <= 100, "points that rounding makes one: %d", status);
}

/* ---- final values ------------------------------------------------------------------------------------------------ */

/* Returns a polynomial of degree 7 between kinks at -0.3 and 0.4, and another one beyond each kink; calls[0] counts
   calls. */
static double pieces(const double *x, const void *context)
{
    double t = *x, sum = 0;
    ++*(int *)(size_t)context;
    CHECK(t != -0.3 && t != 0.4, "called at a kink");
    if (t < -0.3) return 2 + t * t * t;
    if (t > 0.4) return -1;
    for (int k = 7; k >= 0; k--) sum = sum * t + 1;
    return sum;
}

static double pieces_integral(double low, double high)
{
    double sum = 0, edge[4] = {low, fmin(fmax(-0.3, low), high), fmin(fmax(0.4, low), high), high};
    sum += 2 * (edge[1] - edge[0]) + (pow(edge[1], 4) - pow(edge[0], 4)) / 4;
    for (int k = 1; k <= 8; k++) sum += (pow(edge[2], k) - pow(edge[1], k)) / k;
    return sum - (edge[3] - edge[2]);
}

static long counted_calls;

static double counted(const double *x, const void *strike)
{
    counted_calls++;
    return case_payoff_call(x, strike);
}

static double basket(const double *x, const void *strike)
{
    return fmax(x[0] + x[1] + x[2] - *(const double *)strike, 0);
}

static double corner(const double *x, const void *strike)
{
    return x[0] + x[1] + x[2] > *(const double *)strike;
}

static double smooth(const double *x, const void *none)
{
    (void)none;
    return exp(x[0] + 0.5 * x[1] - x[2]);
}

static double not_a_number(const double *x, const void *none)
{
    (void)none;
    return x[0] > 0.25 ? bad_number(0) : 1;
}

/* Returns the volume that the simplex x + y + ... < s cuts out of the unit cube, or the integral of s - x - y - ...
   over it. */
static double simplex(int dims, double s, int power)
{
    double sum = 0, sign = 1, choose = 1, factorial = 1;
    for (int k = 1; k <= dims + power; k++) factorial *= k;
    for (int k = 0; k <= dims && k < s; k++) {
        sum += sign * choose * pow(s - k, dims + power);
        choose *= (double)(dims - k) / (k + 1);
        sign = -sign;
    }
    return sum / factorial;
}

static void test_averages(void)
{
    case_random random = {SEED + 4};
    const double kink[4] = {-5, -0.3, 0.4, 9};
    for (int trial = 0; trial < 300; trial++) {
        double low = case_between(&random, -1, 0.8), high = low + case_between(&random, 1e-3, 1);
        int calls = 0;
        check_near(fd_average_told(low, high, 4, kink, pieces, &calls), pieces_integral(low, high) / (high - low),
                   1e-13, "pieces from %g to %g", low, high);
        CHECK(calls <= 12, "%d calls", calls);
    }
    int calls = 0;
    double at = 0.7;
    check_near(fd_average_told(at, at, 4, kink, pieces, &calls), -1, 0, "a cell of no extent");

    for (int trial = 0; trial < 300; trial++) {
        double low[3], high[3], strike = case_between(&random, 0, 1);
        int found;
        low[0] = case_between(&random, -0.2, 0.8), high[0] = low[0] + case_between(&random, 0.01, 1);
        double in = fmin(fmax(strike, low[0]), high[0]), width = high[0] - low[0];
        double got = fd_average(1, low, high, case_payoff_call, &strike, 1e-9, 30, &found);
        check_near(
            got, ((high[0] - strike) * (high[0] - strike) - (in - strike) * (in - strike)) / 2 / width * (in < high[0]),
            1e-8, "call");
        int inside = strike > low[0] && strike < high[0];
        double edge = fmin(strike - low[0], high[0] - strike) / width;
        CHECK(found == inside || edge < 1e-3, "a kink at %g of %g .. %g: %d", strike, low[0], high[0], found);
        got = fd_average(1, low, high, case_payoff_digital, &strike, 1e-9, 30, &found);
        check_near(got, (high[0] - in) / width, 1e-8, "digital");
        CHECK(found == inside, "a jump at %g of %g .. %g: %d", strike, low[0], high[0], found);
        for (int d = 1; d < 3; d++) low[d] = 0, high[d] = 0;
        low[0] = 0, high[0] = 1;
        for (int dims = 1; dims <= (trial < 4 ? 3 : 2); dims++) {
            double s = strike * dims, tolerance = dims == 3 ? 1e-4 : 1e-6;
            high[dims - 1] = 1;
            got = fd_average(dims, low, high, basket, &s, tolerance, 20, &found);
            check_near(got, dims / 2.0 - s + simplex(dims, s, 1), 8 * tolerance * dims, "basket in %d dimensions",
                       dims);
            CHECK(found || strike < 1e-2 || strike > 0.99, "the kink of a basket in %d dimensions", dims);
            if (dims == 3) continue;
            got = fd_average(dims, low, high, corner, &s, tolerance, 20, &found);
            check_near(got, 1 - simplex(dims, s, 0), 8 * tolerance * dims, "jump in %d dimensions", dims);
        }
    }
    double low[3] = {0, 0, 0}, high[3] = {0.2, 0.2, 0.2};
    int found;
    double want = expm1(0.2) / 0.2 * expm1(0.1) / 0.1 * -expm1(-0.2) / 0.2;
    check_near(fd_average(3, low, high, smooth, NULL, 1e-9, 20, &found), want, 1e-12, "a smooth function");
    CHECK(!found, "something found in a smooth function");
    /* For kinks at a few places the two rules agree by accident: these must not be taken for smooth functions. */
    for (int i = 1; i < 20000; i++) {
        double strike = i / 20000.0, none = 0, one = 1, want_here = (1 - strike) * (1 - strike) / 2;
        check_near(fd_average(1, &none, &one, case_payoff_call, &strike, 1e-5, 30, NULL), want_here,
                   2.5e-5 * (1 - strike), "a kink at %g", strike);
    }
    /* Smooth functions are averaged by the better of the two rules, however large the tolerance. */
    double side[3] = {2, 0, 0};
    check_near(fd_average(1, low, side, smooth, NULL, 1e-2, 30, NULL), expm1(2) / 2, 1e-8, "a smooth function");
    /* Eleven calls if nothing is found. A kink takes a limited number, unless the user removes both limits. */
    double strike = 0.3;
    counted_calls = 0;
    fd_average(1, low, high, counted, &strike, 1e-9, 30, NULL);
    CHECK(counted_calls == 11, "%ld calls for a straight line", counted_calls);
    strike = 0.0701;
    for (int k = 0; k < 3; k++) {
        counted_calls = 0;
        fd_average(1, low, high, counted, &strike, k == 0 ? 1e-9 : k == 1 ? 0 : -1, k == 2 ? 1000 : 30, NULL);
        CHECK(counted_calls > 100 && counted_calls < 1500, "%ld calls for a kink, %d", counted_calls, k);
    }
    counted_calls = 0;
    fd_average(1, low, high, counted, &strike, 1e-9, -3, NULL);
    CHECK(counted_calls == 11, "%ld calls with a level below none", counted_calls);
    high[1] = high[2] = 0;
    check_near(fd_average(3, low, high, smooth, NULL, 1e-9, 20, NULL), expm1(0.2) / 0.2, 1e-12,
               "no extent in two axes");
    high[0] = 1;
    CHECK(!trid_finite_f64(fd_average(1, low, high, not_a_number, NULL, 1e-9, 30, &found)), "NaN hidden");
    CHECK(!trid_finite_f64(fd_average(4, low, high, smooth, NULL, 1e-9, 30, &found)), "four dimensions");
}

static void test_final_values(void)
{
    double x[6] = {0, 1, 2.5, 3.5, 4, 6}, strike = 2.75, two[3] = {0, 1, 2};
    const double *const grid[2] = {x, two};
    const int points[2] = {6, 3};
    /* The cell of 2.5 is 1.75 .. 3: an eighth of it is up to 0.25 in the money. */
    const double want[6] = {0, 0, 0.25 * 0.25 / 2 / 1.25, 0.75, 1.25, 3.25};
    for (int i = 0; i < 6; i++) {
        check_near(fd_final_value(1, grid, points, &i, case_payoff_call, &strike, 1e-9, 30), want[i], i == 2 ? 1e-9 : 0,
                   "point %d", i);
        int at[2] = {i, 1 + i % 2};
        check_near(fd_final_value(2, grid, points, at, case_payoff_call, &strike, 1e-9, 30), want[i], i == 2 ? 1e-9 : 0,
                   "point %d, 1", i);
    }
    /* Kinks near the faces: the faces keep their values. */
    strike = 0.2;
    int first = 0, last = 5;
    check_near(fd_final_value(1, grid, points, &first, case_payoff_call, &strike, 1e-9, 30), 0, 0, "first point");
    strike = 5.9;
    check_near(fd_final_value(1, grid, points, &last, case_payoff_call, &strike, 1e-9, 30), 6 - 5.9, 0, "last point");
}

/* ---- values at a point ------------------------------------------------------------------------------------------- */

static void test_interpolation(void)
{
    case_random random = {SEED + 5};
    for (int trial = 0; trial < 500; trial++) {
        int n = 4 + case_below(&random, 20);
        double *x = random_grid(&random, n), *u = case_numbers(n), q[4];
        float *v = (float *)case_memory((size_t)n * sizeof *v);
        for (int k = 0; k < 4; k++) q[k] = case_between(&random, -1, 1);
        for (int j = 0; j < n; j++) u[j] = q[0] + x[j] * (q[1] + x[j] * (q[2] + x[j] * q[3])), v[j] = (float)u[j];
        double at = case_between(&random, x[0], x[n - 1]);
        if (trial % 5 == 0) at = x[case_below(&random, n)];
        fd_weights w = {0};
        CHECK(fd_interpolate(n, x, at, &w) == FD_OK, "status");
        CHECK(w.first >= 0 && w.first + 3 < n, "first %d of %d", w.first, n);
        CHECK(at >= x[w.first + (w.first > 0)] && at <= x[w.first + (w.first + 4 < n ? 2 : 3)], "not around");
        const double *weight[3] = {w.value, w.slope, w.curvature};
        const double want[3] = {q[0] + at * (q[1] + at * (q[2] + at * q[3])), q[1] + at * (2 * q[2] + 3 * at * q[3]),
                                2 * q[2] + 6 * at * q[3]};
        long long stride = 1;
        double scale = 1;
        for (int k = 0; k < 3; k++, scale *= 40 * n) {
            check_near(fd_lane_value_f64(1, &weight[k], u + w.first, &stride), want[k], 2e-15 * scale, "cubic, %d", k);
            check_near(fd_lane_value_f32(1, &weight[k], v + w.first, &stride), want[k], 1e-6 * scale, "cubic, %d", k);
        }
        if (trial % 5 == 0) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += (w.value[k] == 1) + 10 * (w.value[k] != 0 && w.value[k] != 1);
            CHECK(sum == 1, "on a node the value is not the node's");
        }
        free(v);
        free(u);
        free(x);
    }
    /* Three dimensions, with strides that are not in order. */
    double x[4] = {0, 1, 3, 4}, u[64];
    fd_weights w[3] = {{0}};
    const double at[3] = {0.5, 2, 3.3};
    for (int d = 0; d < 3; d++) CHECK(fd_interpolate(4, x, at[d], &w[d]) == FD_OK && w[d].first == 0, "axis %d", d);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) u[4 * i + 16 * j + k] = x[i] * x[i] * (1 + x[j] * x[j] * x[j]) * (2 - x[k]);
    const double *weight[3] = {w[0].slope, w[1].curvature, w[2].value};
    const long long stride[3] = {4, 16, 1};
    check_near(fd_lane_value_f64(3, weight, u, stride), 2 * 0.5 * 6 * 2 * (2 - 3.3), 1e-11, "three dimensions");

    CHECK(fd_interpolate(4, x, -1e-9, &w[0]) == FD_OUTSIDE && fd_interpolate(4, x, 4.1, &w[0]) == FD_OUTSIDE,
          "outside");
    for (int b = 0; b < 3; b++) CHECK(fd_interpolate(4, x, bad_number(b), &w[0]) == FD_OUTSIDE, "no number");
    CHECK(fd_interpolate(3, x, 1, &w[0]) == FD_BAD_SIZE, "3 points");
    CHECK(fd_interpolate(4, NULL, 1, &w[0]) == FD_BAD_ARGUMENT && fd_interpolate(4, x, 1, NULL) == FD_BAD_ARGUMENT,
          "null");
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void test_schedule(void)
{
    case_random random = {SEED + 6};
    for (int trial = 0; trial < 3000; trial++) {
        fd_times t = {0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL};
        double date[5];
        int kink[5], count = 0, again = 0;
        t.maturity = case_between(&random, 0.01, 30);
        t.steps = 1 + case_below(&random, 200);
        t.grading = case_below(&random, 3), t.ratio = pow(10, case_between(&random, -1, 2));
        t.kind = case_below(&random, 3), t.theta = case_between(&random, 0.01, 1);
        t.halves = case_below(&random, 7);
        t.dates = case_below(&random, 6);
        for (int i = 0; i < t.dates; i++) {
            date[i] = t.maturity * (i + case_between(&random, 0, 0.9)) / t.dates;
            if (i == 0 && case_below(&random, 2)) date[i] = 0;
            kink[i] = case_below(&random, 2);
        }
        t.date = t.dates ? date : NULL;
        t.kink = trial % 3 ? kink : NULL;
        CHECK(fd_schedule(&t, 0, NULL, &count) == FD_OK && count >= t.steps, "count");
        fd_step *step = (fd_step *)case_memory((size_t)count * sizeof *step);
        CHECK(fd_schedule(&t, count - 1, step, &again) == FD_NO_ROOM && again == count, "too little room");
        CHECK(fd_schedule(&t, count, step, &again) == FD_OK && again == count, "status");
        double sum = 0;
        int due = t.dates - 1, halves = t.halves;
        for (int k = 0; k < count; k++) {
            CHECK(step[k].from == (k > 0 ? step[k - 1].to : t.maturity), "step %d does not follow", k);
            CHECK(step[k].from > step[k].to, "step %d goes nowhere", k);
            sum += step[k].from - step[k].to;
            if (halves > 0) {
                CHECK(step[k].kind == FD_BACKWARD_EULER && step[k].theta == 1, "step %d is no Rannacher step", k);
                halves--;
            } else {
                double theta = t.kind == FD_EXPLICIT ? 0 : t.kind == FD_BACKWARD_EULER ? 1 : t.theta;
                CHECK(step[k].kind == t.kind && step[k].theta == theta, "step %d is of kind %d", k, step[k].kind);
            }
            if (due >= 0 && step[k].to <= date[due]) {
                CHECK(step[k].to == date[due] && step[k].date == due, "date %d not hit", due);
                halves = !t.kink || kink[due] ? t.halves : 0;
                due--;
            } else
                CHECK(step[k].date == -1, "a date where there is none");
        }
        CHECK(step[count - 1].to == 0 && due < 0, "the end, %d dates left", due + 1);
        check_near(sum, t.maturity, 1e-13 * t.maturity, "sum of the steps");
        free(step);
    }
    /* The lengths of half steps and graded steps. */
    fd_step step[16];
    int count;
    const double half_way[1] = {0.5};
    fd_times t = {1, 4, FD_EQUAL, 1, FD_THETA, 0.5, 3, 1, half_way, NULL};
    int status = fd_schedule(&t, 16, step, &count);
    CHECK(status == FD_OK && count == 8, "status %d, %d steps", status, count);
    const double to[8] = {0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0};
    const int euler[8] = {1, 1, 1, 0, 1, 1, 1, 0};
    for (int k = 0; k < 8; k++)
        CHECK(step[k].to == to[k] && (step[k].kind == FD_BACKWARD_EULER) == euler[k], "step %d to %g", k, step[k].to);
    t.halves = 0, t.dates = 0, t.grading = FD_QUADRATIC;
    fd_schedule(&t, 16, step, &count);
    for (int k = 0; k < 4; k++) check_near(step[k].to, 1 - (k + 1) * (k + 1) / 16.0, 1e-15, "squares");
    t.grading = FD_GEOMETRIC, t.ratio = 8;
    fd_schedule(&t, 16, step, &count);
    for (int k = 1; k < 4; k++)
        check_near((step[k].from - step[k].to) / (step[k - 1].from - step[k - 1].to), 2, 1e-13, "ratio at step %d", k);
    CHECK(count == 4 && step[3].to == 0, "geometric steps");
}

static void test_schedule_refused(void)
{
    const double date[2] = {0.25, 0.5};
    const fd_times good = {1, 4, FD_EQUAL, 1, FD_THETA, 0.5, 4, 2, date, NULL};
    fd_step step[32];
    fd_times t = good;
    int count;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_OK, "good");
    CHECK(fd_schedule(NULL, 32, step, &count) == FD_BAD_ARGUMENT && fd_schedule(&t, 32, step, NULL) == FD_BAD_ARGUMENT,
          "null");
    t.date = NULL;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_ARGUMENT, "no dates");
    t = good, t.grading = 3;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_GRADING, "grading");
    t = good, t.kind = -1;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_KIND, "kind");
    t = good, t.steps = 0;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_STEPS, "no steps");
    t = good, t.halves = -1;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_SIZE, "halves");
    t = good, t.dates = -1;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_SIZE, "dates");
    for (int b = 0; b < 3; b++) {
        t = good, t.maturity = bad_number(b);
        CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_NUMBER, "maturity");
        t = good, t.grading = FD_GEOMETRIC, t.ratio = bad_number(b);
        CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_NUMBER, "ratio");
        t = good, t.theta = bad_number(b);
        CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_THETA, "theta");
        for (int i = 0; i < 2; i++) {
            double wrong[2] = {0.25, 0.5};
            wrong[i] = bad_number(b);
            t = good, t.date = wrong;
            CHECK(fd_schedule(&t, 32, step, &count) == 1 + i, "date %d", i);
        }
    }
    t = good, t.theta = 1.5;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_THETA, "theta over 1");
    t = good, t.theta = 0, t.halves = 0;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_OK && step[count - 1].theta == 0.5, "theta left 0");
    t = fd_times_of(&t, FD_MODIFIED_CRAIG_SNEYD, 3, 1);
    CHECK(t.theta == fd_scheme_theta(FD_MODIFIED_CRAIG_SNEYD, 3, 1) && t.dates == 2, "the scheme's theta");
    CHECK(fd_times_of(&good, FD_MODIFIED_CRAIG_SNEYD, 3, 1).theta == 0.5, "a theta of its own");
    t = good, t.maturity = 0;
    CHECK(fd_schedule(&t, 32, step, &count) == FD_BAD_NUMBER, "no maturity");
    const double wrong[3][2] = {{-0.1, 0.5}, {0.25, 0.25}, {0.25, 1}};
    for (int i = 0; i < 3; i++) {
        t = good, t.date = wrong[i];
        CHECK(fd_schedule(&t, 32, step, &count) == (i == 0 ? 1 : 2), "dates %d", i);
    }
    /* A first step of 1e-16 of the maturity. */
    t = good, t.dates = 0, t.grading = FD_QUADRATIC, t.steps = 100000000;
    CHECK(fd_schedule(&t, 0, NULL, &count) == FD_BAD_SIZE, "steps that rounding makes none");
}

/* ---- schemes ----------------------------------------------------------------------------------------------------- */

static void test_schemes(void)
{
    static const char *const name[4] = {"Douglas", "Craig-Sneyd", "Modified Craig-Sneyd", "Hundsdorfer-Verwer"};
    for (int which = FD_DOUGLAS; which <= FD_HUNDSDORFER_VERWER; which++) {
        fd_scheme scheme;
        /* Every base is consistent. */
        CHECK(fd_scheme_of(which, 0.3, &scheme) == FD_OK, "%s", name[which]);
        for (int s = 0; s < scheme.stages; s++) {
            check_near(scheme.stage[s].mixed[0] + scheme.stage[s].mixed[1], 1, 0, "%s: mixed", name[which]);
            check_near(scheme.stage[s].own[0] + scheme.stage[s].own[1], 1, 1e-15, "%s: own", name[which]);
        }
        for (int dims = 2; dims <= 3; dims++)
            for (int mixed = 0; mixed < 2; mixed++) {
                double theta = fd_scheme_theta(which, dims, mixed), stiffness;
                int steps = dims == 2 ? 160 : 80, expected = which == FD_DOUGLAS && mixed ? 1 : 2;
                CHECK(fd_scheme_of(which, theta, &scheme) == FD_OK, "theta %g", theta);
                case_split s = case_split_of(dims, dims == 2 ? 8 : 5, mixed);
                double coarse = case_march(&s, &scheme, steps, 0, &stiffness),
                       fine = case_march(&s, &scheme, 2 * steps, 0, NULL);
                check_near(case_march(&s, &scheme, steps, 1, NULL), coarse, 1e-11, "%s in differences", name[which]);
                CHECK(stiffness > 5, "stiffness %g", stiffness);
                check_near(order_of(coarse, fine), expected, 0.3, "%s in %d dimensions, mixed %d", name[which], dims,
                           mixed);
                case_split_free(&s);
                /* Stable with this theta: at most 1, except for rounding in differences of 1e6 or so. */
                double worst = case_worst_amplification(&scheme, dims, mixed);
                CHECK(worst <= 1 + 1e-9, "%s in %d dimensions, mixed %d: amplification %.12f", name[which], dims, mixed,
                      worst);
                /* Unstable with less, where mixed terms decide theta. */
                fd_scheme_of(which, 0.9 * theta, &scheme);
                worst = case_worst_amplification(&scheme, dims, mixed);
                CHECK(!mixed || worst > 1.1, "%s in %d dimensions is stable with theta %g", name[which], dims,
                      0.9 * theta);
            }
    }
    fd_scheme scheme;
    /* With drifts of any size, all schemes are stable in two factors, one of them with a larger theta. In three factors
       they are stable as long as steps are short, but not if steps are twice as long. */
    for (int which = FD_DOUGLAS; which <= FD_HUNDSDORFER_VERWER; which++) {
        double worst, theta;
        CHECK(fd_scheme_theta_drift(which, 2, 1, HUGE_VAL, &theta) == FD_OK, "%s: two factors", name[which]);
        fd_scheme_of(which, theta, &scheme);
        worst = case_worst_with_drifts(&scheme, 2, HUGE_VAL);
        CHECK(worst <= 1 + 1e-9, "%s with two factors and drifts: amplification %.12f", name[which], worst);
        const double most = which == FD_MODIFIED_CRAIG_SNEYD ? 0.3 : 0.5;
        CHECK(fd_scheme_theta_drift(which, 3, 1, most, &theta) == FD_OK, "%s: three factors", name[which]);
        fd_scheme_of(which, theta, &scheme);
        worst = case_worst_with_drifts(&scheme, 3, most);
        CHECK(worst <= 1.00025, "%s with three factors and drifts: amplification %.12f", name[which], worst);
        CHECK(fd_scheme_theta_drift(which, 3, 1, 2 * most, &theta) == FD_GREW, "%s: steps too long", name[which]);
        worst = case_worst_with_drifts(&scheme, 3, 2 * most);
        CHECK(worst > 1.05, "%s with three factors and larger drifts: amplification %.12f", name[which], worst);
        CHECK(fd_scheme_theta_drift(which, 3, 1, 0, &theta) == FD_OK && theta == fd_scheme_theta(which, 3, 1),
              "%s: no drifts", name[which]);
        CHECK(fd_scheme_theta_drift(which, 3, 1, bad_number(0), &theta) == FD_BAD_NUMBER, "%s: NaN", name[which]);
    }
    double theta;
    CHECK(fd_scheme_theta_drift(4, 3, 1, 0, &theta) == FD_BAD_ARGUMENT &&
              fd_scheme_theta_drift(0, 3, 1, 0, NULL) == FD_BAD_ARGUMENT,
          "an unknown scheme, a null pointer");
    fd_scheme_of(FD_HUNDSDORFER_VERWER, fd_scheme_theta(FD_HUNDSDORFER_VERWER, 2, 1), &scheme);
    CHECK(case_worst_with_drifts(&scheme, 2, HUGE_VAL) > 1.5, "the least theta with drifts");
    CHECK(fd_scheme_of(FD_DOUGLAS, 0.5, NULL) == FD_BAD_ARGUMENT, "null");
    CHECK(fd_scheme_of(-1, 0.5, &scheme) == FD_BAD_SCHEME && fd_scheme_of(4, 0.5, &scheme) == FD_BAD_SCHEME, "unknown");
    CHECK(fd_scheme_of(0, -0.1, &scheme) == FD_BAD_THETA && fd_scheme_of(0, 1.1, &scheme) == FD_BAD_THETA, "theta");
    for (int b = 0; b < 3; b++) CHECK(fd_scheme_of(0, bad_number(b), &scheme) == FD_BAD_THETA, "theta");
    /* With theta 1/2 Modified Craig-Sneyd is Craig-Sneyd. Without mixed terms, Craig-Sneyd's second stage is Douglas,
       with any theta. */
    fd_scheme a, b;
    fd_scheme_of(FD_CRAIG_SNEYD, 0.5, &a);
    fd_scheme_of(FD_MODIFIED_CRAIG_SNEYD, 0.5, &b);
    CHECK(a.stage[1].own[0] == b.stage[1].own[0] && a.stage[1].own[1] == b.stage[1].own[1], "theta 1/2");
    const double z[3] = {0, -3, -0.4};
    fd_scheme_of(FD_DOUGLAS, 0.7, &a);
    fd_scheme_of(FD_CRAIG_SNEYD, 0.7, &b);
    check_near(case_amplification(&a, 2, z), case_amplification(&b, 2, z), 1e-15, "no mixed terms");
}

/* Checks that an invalid scheme leaves a step that does nothing, whatever was there before. */
static void test_step_data(void)
{
    const fd_step step = {1, 0.75, 0.5, FD_THETA, 3};
    fd_step_data_f64 data;
    CHECK(fd_step_data_of_f64(FD_HUNDSDORFER_VERWER, &step, &data) == FD_OK && data.stages == 2 && data.about == 1,
          "two stages");
    check_near(data.size, 0.125, 0, "theta dt");
    check_near(data.base[1][3], 0.125, 0, "dt / 2");
    for (int wrong = 0; wrong < 2; wrong++) {
        fd_step bad = step;
        if (wrong) bad.theta = 1.5;
        memset(&data, -1, sizeof data);
        CHECK(fd_step_data_of_f64(wrong ? FD_DOUGLAS : 4, &bad, &data) == (wrong ? FD_BAD_THETA : FD_BAD_SCHEME),
              "refused");
        CHECK(data.stages == 0 && data.size == 0 && data.time_independent == 0, "no stages");
        for (int f = 0; f < 8; f++) CHECK(data.base[f / 4][f % 4] == 0, "factor %d", f);
    }
}

/* Checks that one matrix serves steps of one length, whatever the rounding of their times, but no others. */
static void test_same_size(void)
{
    enum { STEPS = 63 };
    fd_step step[STEPS];
    fd_step_data_f64 first, data;
    fd_step_data_f32 first_f32, data_f32;
    fd_times times = {5, STEPS, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, NULL, NULL};
    int count, rounded = 0;
    for (int graded = 0; graded < 2; graded++) {
        times.grading = graded ? FD_GEOMETRIC : FD_EQUAL, times.ratio = 1.0001;
        CHECK(fd_schedule(&times, STEPS, step, &count) == FD_OK && count == STEPS, "steps");
        fd_step_data_of_f64(FD_DOUGLAS, &step[0], &first), fd_step_data_of_f32(FD_DOUGLAS, &step[0], &first_f32);
        for (int k = 1; k < STEPS; k++) {
            fd_step_data_of_f64(FD_DOUGLAS, &step[k], &data), fd_step_data_of_f32(FD_DOUGLAS, &step[k], &data_f32);
            rounded += !graded && data.size != first.size;
            CHECK(fd_p_same_size_f64(data.size, first.size) == !graded, "step %d, grading %d", k, times.grading);
            CHECK(fd_p_same_size_f32(data_f32.size, first_f32.size) == !graded, "step %d, grading %d, single", k,
                  times.grading);
        }
    }
    CHECK(rounded > 0, "all sizes are equal to the bit, which tests nothing");
    CHECK(fd_p_same_size_f64(0, 0) && !fd_p_same_size_f64(1, 0) && !fd_p_same_size_f64(0, 1), "explicit steps");
}

/* ---- all together ------------------------------------------------------------------------------------------------ */

static void test_call(void)
{
    const double spot[3] = {80, 100, 123.4}, strike = 100;
    fd_axis rough = case_price_axis(150, strike, 0, FD_MIDWAY), dense = case_price_axis(300, strike, 0, FD_MIDWAY);
    for (int k = 0; k < 3; k++) {
        double want[3], coarse[3], fine[3];
        case_call(spot[k], strike, 0.05, 0.2, 1, want);
        CHECK(case_price(&rough, case_payoff_call, strike, 1, 50, spot[k], coarse) == FD_OK, "status");
        CHECK(case_price(&dense, case_payoff_call, strike, 1, 100, spot[k], fine) == FD_OK, "status");
        /* Second order in space and time; the measured errors are at most half of these. */
        const double tolerance[3] = {1e-3, 1e-4, 1e-5};
        for (int g = 0; g < 3; g++) check_near(fine[g], want[g], tolerance[g], "greek %d at %g", g, spot[k]);
        check_near(order_of(fabs(coarse[0] - want[0]), fabs(fine[0] - want[0])), 2, 0.25, "order at %g", spot[k]);
    }
}

/* Checks a jump anywhere between points. If it is averaged, the error is of second order; otherwise of first, and
   proportional to the distance of the jump from the middle of its cell. */
static void test_jump(void)
{
    double worst = 0;
    for (int k = 0; k < 6; k++) {
        double strike = 100, want, greek[3], error[2][2], root = 0.2;
        fd_axis axis = case_price_axis(200, strike, 1, FD_ANYWHERE);
        axis.low = 0.31 * k, axis.high += 0.31 * k;
        want = exp(-0.05) * case_normal((log(96 / strike) + 0.03) / root);
        for (int averaged = 0; averaged < 2; averaged++)
            for (int twice = 0; twice < 2; twice++) {
                axis.points = twice ? 399 : 200;
                int status = case_price(&axis, case_payoff_digital, strike, averaged, 100, 96, greek);
                CHECK(status == FD_OK, "status %d", status);
                error[averaged][twice] = fabs(greek[0] - want);
            }
        CHECK(error[1][0] < 3e-4 && error[1][1] < 1e-4, "averaged: %g, %g", error[1][0], error[1][1]);
        worst = fmax(worst, error[0][1]);
    }
    CHECK(worst > 3e-3, "sampled: %g", worst);
}

static void test_heston(void)
{
    double greek[3];
    for (int which = FD_DOUGLAS; which <= FD_HUNDSDORFER_VERWER; which++) {
        int large = which == FD_HUNDSDORFER_VERWER && !check_short();
        int status = case_heston_call(&case_heston_known, large ? 256 : 100, large ? 128 : 50, large ? 60 : 40, which,
                                      FD_CENTRAL, greek);
        CHECK(status == FD_OK, "scheme %d: status %d", which, status);
        check_near(greek[0], case_heston_price, case_heston_price * (large ? 1e-4 : 1e-3), "Heston call, scheme %d",
                   which);
    }
    printf("Heston call by Hundsdorfer-Verwer: %.6f, off by %.1e\n", greek[0], greek[0] / case_heston_price - 1);
    if (check_short()) check_skip(1, "Heston's call on 256 x 128 points: SHORT_TESTS is set");
}

static void test_strings(void)
{
    const char *unknown = fd_status_string(-1000);
    for (int s = FD_BAD_EVENT; s < 2; s++) {
        const int told = strcmp(fd_status_string(s), unknown) != 0;
        CHECK(told || s == -4 || s == -15 || (s < FD_NOT_DEGENERATE && s > FD_PLACE_OUTSIDE), "string of %d", s);
        for (int t = s + 1; t <= 2 && told; t++)
            CHECK((strcmp(fd_status_string(s), fd_status_string(t)) == 0) == (s == 1), "strings of %d and %d", s, t);
    }
}

int main(void)
{
    printf("seed %d\n", SEED);
    test_exact();
    test_cells_refused();
    test_orders();
    test_fitting();
    test_face_three();
    test_lag();
    test_axis();
    test_axis_refused();
    test_averages();
    test_final_values();
    test_interpolation();
    test_schedule();
    test_schedule_refused();
    test_schemes();
    test_step_data();
    test_same_size();
    test_call();
    test_jump();
    test_heston();
    test_strings();
    return check_report();
}
