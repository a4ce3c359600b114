/* test_bs3d_host.c - the model, the checks, the lane functions and the host reference of bs3d.h in both precisions:
   against known answers, the equation itself, the one-factor march, and what theory says.
   MIT licence, see LICENSE.

   Run from the repository root, or with KNOWN_ANSWERS naming the file. Arrays are as long as the header says and no
   longer, so that the address sanitizer sees any overrun, and hold NaN where nobody has written. */
#include "bs1d.h"
#include "bs3d.h"

#include "check.h"

#include "bs3d_cases.h"

#include <float.h>

#ifndef KNOWN_ANSWERS
#define KNOWN_ANSWERS "tests/known/bs3d.txt"
#endif

enum { SEED = 20240921, MOST_CASES = 100, MOST_CELLS = 24 * 24 * 24 };

static const char *const precision_name[2] = {"f32", "f64"}, *const method_name[2] = {"explicit", "implicit"};
static const double roundoff_of[2] = {FLT_EPSILON / 2, DBL_EPSILON / 2};

static void *memory(size_t bytes)
{
    void *m = malloc(bytes ? bytes : 1);
    if (!m) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    memset(m, 0xff, bytes); /* NaN in either precision */
    return m;
}

/* ---- both precisions under one roof ------------------------------------------------------------------------------ */

/* run: marches on the host, from `start` with BS3D_GIVEN (else null); result and grid may be null.
   apply: computes v = L u, or u + L u, by bs3d_lane_stencil.
   planes: computes the same by bs3d_lane_plane, in patches of C times P points that march through the planes. Elements
   that may be any finite numbers are random here; those that must not be read are NaN. */
#define DEFINE_PRECISION(R, SUFFIX)                                                                                    \
    static int run_##SUFFIX(int implicit, const bs3d_problem *o, const double *start, bs3d_result *result,             \
                            double *grid)                                                                              \
    {                                                                                                                  \
        R *work = memory(bs3d_host_bytes_##SUFFIX(o));                                                                 \
        if (start) CASE_COPY(o, work, bs3d_pitch_##SUFFIX(o->points[0]), start, o->points[0], R);                      \
        int status = (implicit ? bs3d_host_implicit_##SUFFIX : bs3d_host_explicit_##SUFFIX)(o, work, result);          \
        if (grid) CASE_COPY(o, grid, o->points[0], work, bs3d_pitch_##SUFFIX(o->points[0]), double);                   \
        free(work);                                                                                                    \
        return status;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static void apply_##SUFFIX(const bs3d_model *m, int identity, const double *from, double *to)                      \
    {                                                                                                                  \
        const int nx = m->points[0], ny = m->points[1], nz = m->points[2];                                             \
        bs3d_pairs_##SUFFIX pairs = bs3d_lane_pairs_##SUFFIX(m, identity);                                             \
        R *u = memory((size_t)nx * (size_t)ny * (size_t)nz * sizeof *u);                                               \
        for (int n = 0; n < nx * ny * nz; n++) u[n] = (R)from[n];                                                      \
        for (int n = 0; n < nx * ny * nz; n++) {                                                                       \
            int i = n % nx, j = n / nx % ny, k = n / nx / ny;                                                          \
            bs3d_row_##SUFFIX x = bs3d_lane_row_##SUFFIX(m, 0, i), y = bs3d_lane_row_##SUFFIX(m, 1, j);                \
            bs3d_row_##SUFFIX z = bs3d_lane_row_##SUFFIX(m, 2, k);                                                     \
            to[n] = bs3d_lane_stencil_##SUFFIX(bs3d_p_form(m), &pairs, x, y, z, u + n, i<nx - 1, i> 0 ? -1 : 0,        \
                                               j < ny - 1 ? nx : 0, j > 0 ? -nx : 0, k < nz - 1 ? nx * ny : 0,         \
                                               k > 0 ? -nx * ny : 0);                                                  \
        }                                                                                                              \
        free(u);                                                                                                       \
    }                                                                                                                  \
                                                                                                                       \
    static void planes_##SUFFIX(int form, int C, int P, const bs3d_model *m, int identity, case_random *random,        \
                                const double *u, double *v)                                                            \
    {                                                                                                                  \
        const int nx = m->points[0], ny = m->points[1], nz = m->points[2];                                             \
        bs3d_pairs_##SUFFIX pairs = bs3d_lane_pairs_##SUFFIX(m, identity);                                             \
        for (int j = 0; j < ny; j += P)                                                                                \
            for (int i = 0; i < nx; i += C) {                                                                          \
                R now[16] = {0}, next[16] = {0}, out[16], patch[40];                                                   \
                bs3d_row_##SUFFIX x[8], y[2], z[3];                                                                    \
                for (int c = 0; c < C; c++) x[c] = bs3d_lane_row_##SUFFIX(m, 0, i + c);                                \
                for (int p = 0; p < P; p++) y[p] = bs3d_lane_row_##SUFFIX(m, 1, j + p);                                \
                for (int k = 0; k <= nz; k++) {                                                                        \
                    for (int d = 0; d < 3; d++) z[d] = bs3d_lane_row_##SUFFIX(m, 2, k - 1 + d);                        \
                    for (int p = -1; p <= P; p++)                                                                      \
                        for (int c = -1; c <= C; c++) {                                                                \
                            int a = i + c, b = j + p, inside = a >= 0 && a < nx && b >= 0 && b < ny && k < nz;         \
                            int unread = form == BS3D_POSITIVE && ((c < 0 && p == P) || (c == C && p < 0));            \
                            patch[(p + 1) * (C + 2) + c + 1] = (R)(unread   ? NAN                                      \
                                                                   : inside ? u[a + nx * (b + ny * k)]                 \
                                                                            : case_between(random, -9, 9));            \
                        }                                                                                              \
                    bs3d_lane_plane_##SUFFIX(form, C, P, &pairs, x, y, z, patch, now, next, out);                      \
                    for (int p = 0; p < P && j + p < ny; p++)                                                          \
                        for (int c = 0; k > 0 && c < C && i + c < nx; c++)                                             \
                            v[i + c + nx * (j + p + ny * (k - 1))] = out[p * C + c];                                   \
                }                                                                                                      \
            }                                                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    static bs3d_result greeks_##SUFFIX(const bs3d_problem *o, const double *v)                                         \
    {                                                                                                                  \
        R values[64];                                                                                                  \
        for (int n = 0; n < 64; n++) values[n] = (R)v[n];                                                              \
        return bs3d_lane_greeks_##SUFFIX(o, values);                                                                   \
    }
DEFINE_PRECISION(float, f32)
DEFINE_PRECISION(double, f64)

typedef int run_function(int, const bs3d_problem *, const double *, bs3d_result *, double *);
typedef void apply_function(const bs3d_model *, int, const double *, double *);
typedef void planes_function(int, int, int, const bs3d_model *, int, case_random *, const double *, double *);
typedef bs3d_result greeks_function(const bs3d_problem *, const double *);
static run_function *const run_of[2] = {run_f32, run_f64};
static apply_function *const apply_of[2] = {apply_f32, apply_f64};
static planes_function *const planes_of[2] = {planes_f32, planes_f64};
static greeks_function *const greeks_of[2] = {greeks_f32, greeks_f64};

static double grid_a[MOST_CELLS], grid_b[MOST_CELLS], grid_c[MOST_CELLS];

/* Marches a problem, which must succeed. */
static bs3d_result price(int precision, int implicit, const bs3d_problem *o, const double *start, double *grid)
{
    bs3d_result result = {0};
    int status = run_of[precision](implicit, o, start, &result, grid);
    CHECK(status == BS3D_OK && result.status == BS3D_OK, "%s %s: returned %d, status %d", method_name[implicit],
          precision_name[precision], status, result.status);
    return result;
}

static void fill(case_random *random, size_t cells, double *u)
{
    for (size_t n = 0; n < cells; n++) u[n] = (float)case_between(random, -1, 1); /* the same for both precisions */
}

/* ---- what can be wrong with a problem ---------------------------------------------------------------------------- */

static void test_status_strings(void)
{
    static const int statuses[] = {BS3D_NOT_FINITE,   BS3D_OK,           BS3D_BAD_ARGUMENT,    BS3D_BAD_SIZE,
                                   BS3D_BAD_NUMBER,   BS3D_BAD_SPOT,     BS3D_BAD_CORRELATION, BS3D_UNSTABLE,
                                   BS3D_NOT_DOMINANT, BS3D_LAUNCH_FAILED};
    for (int i = 0; i < 10; i++) {
        CHECK(statuses[i] == 1 - i, "status %d is %d", 1 - i, statuses[i]);
        CHECK(strlen(bs3d_status_string(1 - i)) > 1, "status %d has no string", 1 - i);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(bs3d_status_string(1 - i), bs3d_status_string(1 - k)), "statuses %d and %d read alike", 1 - i,
                  1 - k);
    }
    CHECK(!strcmp(bs3d_status_string(12345), bs3d_status_string(-99)), "statuses that do not exist have names");
    static const char *const sizes[] = {"points", "steps", "slabs", "halo", "partitions"};
    for (int i = 0; i < 5; i++)
        CHECK(strstr(bs3d_status_string(BS3D_BAD_SIZE), sizes[i]) != NULL, "a bad size does not name %s", sizes[i]);
    CHECK(strstr(bs3d_status_string(BS3D_BAD_ARGUMENT), "slab") != NULL, "a bad argument does not name slabs");
}

/* Checks a result that failed: it has the status, and no number that could be taken for a price. */
static void check_refused(bs3d_result got, int want, const char *what)
{
    int numbers = !isnan(got.price) + !isnan(got.theta);
    for (int m = 0; m < 3; m++) numbers += !isnan(got.delta[m]) + !isnan(got.gamma[m]) + !isnan(got.cross[m]);
    CHECK(got.status == want && numbers == 0, "%s: status %d, not %d, and %d numbers", what, got.status, want, numbers);
}

/* Checks that bs3d_check and the march report the same status, and that work is not touched. */
static void expect_status(int want, int implicit, const bs3d_problem *o, const char *what)
{
    static unsigned char work[64], untouched[64];
    bs3d_result result;
    int status = bs3d_check(o, implicit);
    CHECK(status == want, "%s, %s: status %d, not %d", what, method_name[implicit], status, want);
    memset(untouched, 0x5a, sizeof untouched);
    memset(work, 0x5a, sizeof work);
    memset(&result, 0, sizeof result);
    status = implicit ? bs3d_host_implicit_f32(o, work, &result) : bs3d_host_explicit_f32(o, work, &result);
    CHECK(status == want, "%s, %s f32: status %d, not %d", what, method_name[implicit], status, want);
    check_refused(result, want, what);
    memset(&result, 0, sizeof result);
    status = implicit ? bs3d_host_implicit_f64(o, work, &result) : bs3d_host_explicit_f64(o, work, &result);
    CHECK(status == want, "%s, %s f64: status %d, not %d", what, method_name[implicit], status, want);
    check_refused(result, want, what);
    CHECK(!memcmp(work, untouched, sizeof work), "%s, %s: has been written to", what, method_name[implicit]);
}

static void test_checks(void)
{
    case_random random = {SEED};
    for (int implicit = 0; implicit < 2; implicit++) {
        for (int kind = 0; kind < CASE_BAD_KINDS; kind++) {
            bs3d_problem o = case_problem_of(&random, implicit, 7, 8, 9, 1 + kind % 5, 1 + kind % 6, kind % 8);
            const char *what = "";
            int want = case_spoil(kind, implicit, &o, &what);
            expect_status(want, implicit, &o, what);
        }
        expect_status(BS3D_BAD_ARGUMENT, implicit, NULL, "no problem");
        bs3d_problem o = case_problem_of(&random, implicit, 7, 8, 9, 3, BS3D_MAXIMUM, 0);
        bs3d_result result = {0};
        CHECK((implicit ? bs3d_host_implicit_f32 : bs3d_host_explicit_f32)(&o, NULL, NULL) == BS3D_BAD_ARGUMENT,
              "no work and no result, f32");
        CHECK((implicit ? bs3d_host_implicit_f64 : bs3d_host_explicit_f64)(&o, NULL, &result) == BS3D_BAD_ARGUMENT,
              "no work, f64");
        check_refused(result, BS3D_BAD_ARGUMENT, "no work");
        /* The extreme values that are valid. */
        for (int m = 0; m < 3; m++) o.spot[m] = m % 2 ? 0 : o.top[m];
        CHECK(bs3d_check(&o, implicit) == BS3D_OK, "spots at the ends");
        for (int m = 0; m < 3; m++) {
            bs3d_problem long_one = case_problem_of(&random, implicit, m == 0 ? 1024 : 4, m == 1 ? 1024 : 4,
                                                    m == 2 ? 1024 : 4, 2, BS3D_MINIMUM, 2);
            CHECK(bs3d_check(&long_one, implicit) == BS3D_OK, "1024 points on axis %d", m + 1);
        }
    }
}

/* Checks that sizes are those of two grids and the factors of three lines, or 0 for an impossible grid, and that rows
   begin at multiples of 128 bytes. */
static void test_sizes(void)
{
    case_random random = {SEED + 1};
    bs3d_problem o = case_problem_of(&random, 0, 33, 5, 6, 1, BS3D_ASSET, 0);
    CHECK(bs3d_host_bytes_f32(&o) >= 2 * 64 * 5 * 6 * 4 && bs3d_host_bytes_f64(&o) >= 2 * 48 * 5 * 6 * 8,
          "%zu and %zu bytes", bs3d_host_bytes_f32(&o), bs3d_host_bytes_f64(&o));
    CHECK(bs3d_host_bytes_f32(NULL) == 0 && bs3d_host_bytes_f64(NULL) == 0, "bytes for no problem");
    for (int m = 0; m < 3; m++)
        for (int high = 0; high < 2; high++) {
            bs3d_problem bad = o;
            bad.points[m] = high ? 1025 : 3;
            CHECK(bs3d_host_bytes_f32(&bad) == 0 && bs3d_host_bytes_f64(&bad) == 0, "bytes for %d points",
                  bad.points[m]);
        }
    for (int nx = 4; nx <= 1024; nx++) {
        int f32 = bs3d_pitch_f32(nx), f64 = bs3d_pitch_f64(nx);
        CHECK(f32 >= nx && f32 < nx + 32 && f32 % 32 == 0, "pitch of %d floats is %d", nx, f32);
        CHECK(f64 >= nx && f64 < nx + 16 && f64 % 16 == 0, "pitch of %d doubles is %d", nx, f64);
    }
}

/* ---- the equation ------------------------------------------------------------------------------------------------ */

/* Checks which form of cross differences a correlation gets. */
static void test_forms(void)
{
    case_random random = {SEED + 2};
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++) {
        bs3d_problem o = case_problem_of(&random, 1, 9, 8, 7, 3, BS3D_ASSET, kind);
        bs3d_model m = bs3d_model_of(&o);
        int four_corners = kind == 4 || kind == 5, both_diagonals = kind == 2 || kind == 3 || kind == 7;
        double dt = o.maturity / 3;
        for (int p = 0; p < 3; p++) {
            /* applied to S1 S2, each form gives rho sigma sigma dt S1 S2 */
            double rho = o.correlation[p], t = rho * o.volatility[case_first[p]] * o.volatility[case_second[p]] * dt;
            check_near(m.plus[p], four_corners ? t / 4 : fmax(t, 0) / 2, 1e-15 * fabs(t), "plus, correlations %d",
                       kind);
            check_near(m.minus[p], four_corners ? -t / 4 : fmax(-t, 0) / 2, 1e-15 * fabs(t), "minus, correlations %d",
                       kind);
        }
        CHECK(bs3d_p_form(&m) == (four_corners || both_diagonals ? BS3D_GENERAL : BS3D_POSITIVE),
              "form %d of correlations %d", bs3d_p_form(&m), kind);
    }
    /* Equal correlations change form just above 1/2; so do absolute values, if one sign is negative. */
    for (int step = -1; step <= 1; step++)
        for (int sign = -1; sign <= 1; sign += 2) {
            bs3d_problem o = case_model(8, 10, BS3D_ASSET);
            for (int p = 0; p < 3; p++) o.correlation[p] = 0.5 + step * 1e-9;
            o.correlation[1] *= sign;
            o.correlation[2] *= sign;
            bs3d_model m = bs3d_model_of(&o);
            CHECK((m.minus[0] != 0) == (step > 0), "rho %.10g: the form is wrong", o.correlation[0]);
        }
}

/* Returns dt times the operator of the equation, applied to the polynomial
       sum over a, b, c = 0, 1 of f[a + 2 b + 4 c] S1^a S2^b S3^c, plus the sum of square[m] S_m^2,
   at a point of the grid. At the last points of an axis it does what the difference quotients do: it omits second
   derivatives, and takes first derivatives by the quotient from below. Leaves the sum of the absolute terms in
   *size. */
static long double equation(const bs3d_problem *o, const double f[8], const double square[3], const int at[3],
                            long double *value, long double *size)
{
    long double s[3], h[3], dt = (long double)o->maturity / o->steps, sum = 0, terms;
    int last[3];
    for (int m = 0; m < 3; m++) {
        h[m] = (long double)o->top[m] / (o->points[m] - 1);
        s[m] = h[m] * at[m];
        last[m] = at[m] == o->points[m] - 1;
    }
    *value = *size = 0;
    for (int n = 0; n < 8; n++) {
        long double product = f[n];
        for (int m = 0; m < 3; m++) product *= n >> m & 1 ? s[m] : 1;
        *value += product;
        sum -= o->rate * product;
        *size += fabsl(product);
        for (int m = 0; m < 3; m++) /* S d/dS of S is S again */
            if (n >> m & 1) sum += (o->rate - o->dividend[m]) * product;
        for (int p = 0; p < 3; p++) {
            int a = case_first[p], b = case_second[p];
            if ((n >> a & 1) && (n >> b & 1) && !last[a] && !last[b])
                sum += o->correlation[p] * o->volatility[a] * o->volatility[b] * product;
        }
    }
    for (int m = 0; m < 3; m++) {
        terms = square[m] * s[m] * s[m];
        *value += terms;
        *size += fabsl(terms) + fabsl(square[m] * s[m] * h[m]);
        sum -= o->rate * terms;
        sum += (o->rate - o->dividend[m]) * square[m] * s[m] * (last[m] ? 2 * s[m] - h[m] : 2 * s[m]);
        if (!last[m]) sum += o->volatility[m] * o->volatility[m] * terms;
    }
    return dt * sum;
}

/* Checks that the differences, of second order, are exact for such polynomials at every point. The weights of a stencil
   add up to a few units, so the rounding error is some roundoffs of the values around the point. */
static void test_equation(void)
{
    case_random random = {SEED + 3};
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++)
        for (int precision = 0; precision < 2; precision++) {
            bs3d_problem o = case_problem_of(&random, 0, 7 + kind % 2, 6, 9, 4, BS3D_GIVEN, kind);
            bs3d_model m = bs3d_model_of(&o);
            size_t cells = case_cells(&o);
            for (int round = 0; round < 13; round++) { /* each part of the polynomial alone, then all */
                double f[8] = {0}, square[3] = {0};
                double scale = 0, change_error = 0, sum_error = 0, host_error = 0;
                for (int n = 0; n < 11; n++)
                    if (n == round || round > 10) *(n < 8 ? &f[n] : &square[n - 8]) = case_between(&random, -1, 1);
                for (int pass = 0; pass < 2; pass++) {
                    for (size_t n = 0; n < cells; n++) {
                        int at[3] = {(int)n % o.points[0], (int)n / o.points[0] % o.points[1],
                                     (int)n / o.points[0] / o.points[1]};
                        long double value, size, change = equation(&o, f, square, at, &value, &size);
                        if (!pass) {
                            grid_a[n] = (double)value;
                            scale = fmax(scale, (double)size);
                        } else {
                            change_error = fmax(change_error, fabs((double)(grid_b[n] - change)));
                            sum_error = fmax(sum_error, fabs((double)(grid_c[n] - value - change)));
                        }
                    }
                    apply_of[precision](&m, 0, grid_a, grid_b);
                    apply_of[precision](&m, 1, grid_a, grid_c);
                }
                CHECK(change_error <= 24 * roundoff_of[precision] * scale,
                      "L, %s, correlations %d, term %d: off by %.3g of %.3g", precision_name[precision], kind, round,
                      change_error, scale);
                CHECK(sum_error <= 24 * roundoff_of[precision] * scale,
                      "u + L u, %s, correlations %d, term %d: off by %.3g of %.3g", precision_name[precision], kind,
                      round, sum_error, scale);
                /* A step of the host's march computes the same. */
                o.steps = 1;
                o.maturity /= 4;
                price(precision, 0, &o, grid_a, grid_b);
                host_error = case_distance(cells, grid_b, grid_c, NULL);
                CHECK(host_error <= 4 * roundoff_of[precision] * scale, "a step of the host, %s: off by %.3g of %.3g",
                      precision_name[precision], host_error, scale);
                o.steps = 4;
                o.maturity *= 4;
            }
        }
}

/* Compares bs3d_lane_plane with bs3d_lane_stencil on random data, in both forms where both apply. */
static void test_planes(void)
{
    static const int patches[][2] = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {2, 2}, {4, 2}, {8, 2}};
    case_random random = {SEED + 4};
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++)
        for (int n = 0; n < 8; n++)
            for (int precision = 0; precision < 2; precision++) {
                bs3d_problem o = case_problem_of(&random, 0, 4 + case_below(&random, 14), 4 + case_below(&random, 3),
                                                 4 + case_below(&random, 4), 1, BS3D_GIVEN, kind);
                bs3d_model m = bs3d_model_of(&o);
                size_t cells = case_cells(&o);
                fill(&random, cells, grid_a);
                for (int identity = 0; identity < 2; identity++) {
                    apply_of[precision](&m, identity, grid_a, grid_b);
                    for (int form = bs3d_p_form(&m); form <= BS3D_GENERAL; form++) {
                        double worst;
                        memset(grid_c, 0xff, sizeof grid_c);
                        planes_of[precision](form, patches[n][0], patches[n][1], &m, identity, &random, grid_a, grid_c);
                        worst = case_distance(cells, grid_c, grid_b, NULL);
                        CHECK(worst <= 32 * roundoff_of[precision], /* of weights that add up to some units */
                              "patches of %dx%d, %s, correlations %d, form %d: off by %.3g", patches[n][0],
                              patches[n][1], precision_name[precision], kind, form, worst);
                    }
                }
            }
}

/* Checks that rows beyond the grid have no weights. */
static void test_rows(void)
{
    case_random random = {SEED + 14};
    bs3d_problem o = case_problem_of(&random, 0, 9, 7, 8, 1, BS3D_GIVEN, 0);
    bs3d_model m = bs3d_model_of(&o);
    for (int axis = 0; axis < 3; axis++)
        for (int n = 0; n < 4; n++) {
            int i = n < 2 ? -1 - n : o.points[axis] + n - 2;
            bs3d_row_f32 f32 = bs3d_lane_row_f32(&m, axis, i);
            bs3d_row_f64 f64 = bs3d_lane_row_f64(&m, axis, i);
            CHECK(f32.down == 0 && f32.up == 0 && f32.weight == 0 && f64.down == 0 && f64.up == 0 && f64.weight == 0,
                  "row %d of axis %d", i, axis + 1);
        }
}

static void test_payoffs(void)
{
    case_random random = {SEED + 5};
    for (int n = 0; n < 100; n++) {
        double s[3], inner[BS3D_GIVEN], strike = case_between(&random, 50, 150);
        for (int m = 0; m < 3; m++) s[m] = case_between(&random, 0, 200);
        inner[BS3D_ASSET] = s[0];
        inner[BS3D_GEOMETRIC] = exp((log(s[0]) + log(s[1]) + log(s[2])) / 3);
        CHECK(isnan(bs3d_lane_payoff(BS3D_ASSET, 0, NAN, s[0], s[1], s[2])), "the payoff of a strike that is NaN");
        inner[BS3D_MAXIMUM] = fmax(s[0], fmax(s[1], s[2]));
        inner[BS3D_MINIMUM] = fmin(s[0], fmin(s[1], s[2]));
        inner[BS3D_ARITHMETIC] = s[0] / 3 + s[1] / 3 + s[2] / 3;
        for (int payoff = BS3D_ASSET; payoff < BS3D_GIVEN; payoff++)
            for (int put = 0; put < 2; put++)
                check_near(bs3d_lane_payoff(payoff, put, strike, s[0], s[1], s[2]),
                           fmax(put ? strike - inner[payoff] : inner[payoff] - strike, 0), 1e-12, "payoff %d, put %d",
                           payoff, put);
    }
    CHECK(bs3d_lane_payoff(BS3D_GEOMETRIC, 0, 1, 0, 5, 5) == 0, "the geometric mean with a zero");
}

/* ---- known answers ----------------------------------------------------------------------------------------------- */

static double exact[2][BS3D_GIVEN]; /* closed forms of the model problem, see case_read */

static void test_known_answers(void)
{
    static case_known known[MOST_CASES];
    const char *path = getenv("KNOWN_ANSWERS") ? getenv("KNOWN_ANSWERS") : KNOWN_ANSWERS;
    int count = case_read(path, MOST_CASES, known, exact), seen[2] = {0, 0};
    for (int payoff = BS3D_GEOMETRIC; payoff <= BS3D_MINIMUM; payoff++)
        check_near(case_exact(payoff), exact[0][payoff], 1e-13, "closed form of payoff %d", payoff);
    CHECK(count <= MOST_CASES, "%d known answers", count);
    for (int n = 0; n < count && n < MOST_CASES; n++)
        for (int precision = 0; precision < 2; precision++) {
            const bs3d_problem *o = &known[n].problem;
            size_t cells = case_cells(o);
            double largest = 0, tolerance;
            char what[60];
            snprintf(what, sizeof what, "known answer %d, %s %s", n + 1, method_name[known[n].implicit],
                     precision_name[precision]);
            for (size_t c = 0; c < cells; c++)
                grid_a[c] = case_start((int)c % o->points[0], (int)c / o->points[0] % o->points[1],
                                       (int)c / o->points[0] / o->points[1]);
            bs3d_result got = price(precision, known[n].implicit, o, o->payoff == BS3D_GIVEN ? grid_a : NULL, grid_b);
            case_distance(cells, grid_b, grid_b, &largest);
            tolerance = largest * (precision ? 1e-14 : 1e-5);
            case_check(got, known[n].want, tolerance, o, what);
            /* the weights of the moment are 12 on average */
            check_near(case_moment(o, grid_b), known[n].moment, 12 * (double)cells * tolerance, "%s: moment", what);
            seen[known[n].implicit]++;
        }
    CHECK(seen[0] >= 20 && seen[1] >= 20, "%d and %d known answers", seen[0], seen[1]);
}

/* Checks the interpolation alone: it is exact for products of cubics wherever the spot lies. */
static void test_greeks(void)
{
    case_random random = {SEED + 6};
    static const double places[] = {0, 0.3, 0.999, 1.5, 3.25, 4.7, 5.001, 6};
    for (int round = 0; round < 48; round++)
        for (int precision = 0; precision < 2; precision++) {
            double f[3][4], v[64], ds[3], largest = 0;
            long double value[3][3];
            bs3d_problem o = case_problem_of(&random, 1, 7, 7, 7, 1, BS3D_ASSET, 0);
            for (int m = 0; m < 3; m++) {
                double place = places[(round * (m == 0 ? 1 : m == 1 ? 3 : 5) + round / 8) % 8];
                int first = (int)place - 1 > 3 ? 3 : (int)place < 1 ? 0 : (int)place - 1;
                ds[m] = (float)case_between(&random, 0.5, 2);
                o.top[m] = 6 * ds[m];
                o.spot[m] = place == 6 ? o.top[m] : place * ds[m];
                for (int n = 0; n < 4; n++) f[m][n] = case_between(&random, -1, 1);
                for (int d = 0; d < 3; d++) {
                    long double x = o.spot[m], power[4];
                    for (int n = 0; n < 4; n++) power[n] = n < d ? 0 : powl(x, n - d);
                    value[m][d] = 0;
                    for (int n = d; n < 4; n++)
                        value[m][d] += f[m][n] * power[n] * (d == 0 ? 1 : d == 1 ? n : n * (n - 1));
                }
                /* the polynomial of this axis at its four points, for all 64 values */
                for (int n = 0; n < 64; n++) {
                    double x = (first + (m == 0 ? n % 4 : m == 1 ? n / 4 % 4 : n / 16)) * ds[m];
                    v[n] = (m == 0 ? 1 : v[n]) * (f[m][0] + x * (f[m][1] + x * (f[m][2] + x * f[m][3])));
                    if (m == 2) largest = fmax(largest, fabs(v[n]));
                }
            }
            bs3d_result want = {0}, got = greeks_of[precision](&o, v);
            want.price = (double)(value[0][0] * value[1][0] * value[2][0]);
            for (int m = 0; m < 3; m++) {
                int a = (m + 1) % 3, b = (m + 2) % 3, p = case_first[m], q = case_second[m];
                want.delta[m] = (double)(value[m][1] * value[a][0] * value[b][0]);
                want.gamma[m] = (double)(value[m][2] * value[a][0] * value[b][0]);
                want.cross[m] = (double)(value[p][1] * value[q][1] * value[3 - p - q][0]);
            }
            want.theta = case_theta(&o, &want);
            case_check(got, want, 16 * roundoff_of[precision] * largest, &o, "a product of cubics");
        }
    /* NaN is reported wherever it lies: between the points no weight is zero. */
    bs3d_problem o = case_problem_of(&random, 1, 7, 7, 7, 1, BS3D_ASSET, 0);
    for (int n = 0; n < 64; n += 7)
        for (int infinite = 0; infinite < 2; infinite++)
            for (int precision = 0; precision < 2; precision++) {
                double v[64] = {0};
                v[n] = infinite ? INFINITY : NAN;
                CHECK(greeks_of[precision](&o, v).status == BS3D_NOT_FINITE, "value %d is not finite", n);
            }
    /* So is a second derivative that overflows on too fine a grid, where everything else is finite. */
    for (int m = 0; m < 3; m++) {
        double v[64] = {0};
        bs3d_problem fine = o;
        fine.top[m] *= 1e-160;
        fine.spot[m] *= 1e-160;
        v[21] = 1;
        bs3d_result got = greeks_of[1](&fine, v);
        CHECK(got.status == BS3D_NOT_FINITE && isfinite(got.delta[m]), "an infinite second derivative on axis %d",
              m + 1);
    }
}

/* Checks that a march reports what its grid gives, wherever the spot lies. */
static void test_results(void)
{
    case_random random = {SEED + 7};
    for (int round = 0; round < 40; round++) {
        int implicit = round % 2, precision = round / 2 % 2;
        double largest;
        bs3d_problem o = case_problem_of(&random, implicit, 4 + case_below(&random, 16), 4 + case_below(&random, 8),
                                         4 + case_below(&random, 7), 2, BS3D_GIVEN, round % CASE_CORRELATIONS);
        for (int m = 0; m < 3; m++) o.spot[m] = o.top[m] * case_between(&random, 0, 1);
        fill(&random, case_cells(&o), grid_a);
        bs3d_result got = price(precision, implicit, &o, grid_a, grid_b);
        case_distance(case_cells(&o), grid_b, grid_b, &largest);
        case_check(got, case_greeks(&o, grid_b), 16 * roundoff_of[1] * largest, &o, "the result of a march");
        CHECK(run_of[precision](implicit, &o, grid_a, NULL, grid_c) == BS3D_OK &&
                  !memcmp(grid_b, grid_c, case_cells(&o) * sizeof *grid_b),
              "the grid depends on whether a result is asked for");
    }
}

/* ---- the other factors' marches ---------------------------------------------------------------------------------- */

/* Checks that the price of a payoff on the first asset depends on that asset alone: along x the marches are those of
   one factor. */
static void test_one_factor(void)
{
    case_random random = {SEED + 8};
    for (int round = 0; round < 2 * 2 * CASE_CORRELATIONS; round++) {
        int implicit = round % 2, precision = 1 - round / 2 % 2, nx = round % 3 ? 23 : 8, ny = 5 + round % 4, nz = 6;
        bs3d_problem o = case_problem_of(&random, implicit, nx, ny, nz, 40, BS3D_ASSET, round / 4);
        bs1d_option_f64 option = {o.spot[0],  o.strike, o.rate,  o.dividend[0], o.volatility[0],
                                  o.maturity, o.top[0], o.steps, o.flags};
        bs1d_result_f64 result;
        double line[1024], *work = memory((size_t)BS1D_HOST_LEN(nx) * sizeof *work), worst = 0;
        (implicit ? bs1d_host_implicit_f64 : bs1d_host_explicit_f64)(1, nx, &option, &result, line, work);
        CHECK(result.status == BS1D_OK, "the one-factor march: status %d", (int)result.status);
        bs3d_result got = price(precision, implicit, &o, NULL, grid_a);
        for (int n = 0; n < nx * ny * nz; n++) {
            double error = fabs(grid_a[n] - line[n % nx]);
            if (!(error <= worst)) worst = error;
        }
        /* 40 steps, some roundoffs of weights up to 10 each */
        double tolerance = 40 * 40 * roundoff_of[precision] * o.top[0];
        CHECK(worst <= tolerance, "%s %s, correlations %d: one factor is off by %.3g > %.3g", method_name[implicit],
              precision_name[precision], round / 4, worst, tolerance);
        bs3d_result want = {0};
        want.price = result.price;
        want.delta[0] = result.delta;
        want.gamma[0] = result.gamma;
        want.theta = case_theta(&o, &want);
        case_check(got, want, tolerance, &o, "one factor");
        free(work);
    }
}

/* Checks that the order of the assets does not matter: in an explicit march, and in an implicit one without discount.
   The first matrix contains the discount; without it the three matrices commute. */
static void test_relabelled(void)
{
    static const int order[5][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    case_random random = {SEED + 9};
    for (int round = 0; round < 5 * CASE_CORRELATIONS; round++)
        for (int implicit = 0; implicit < 2; implicit++) {
            const int *to = order[round % 5];
            bs3d_problem o = case_problem_of(&random, implicit, 9, 7, 11, 4, BS3D_GEOMETRIC + round % 3, round / 5);
            bs3d_problem other = o;
            if (implicit && to[0] != 0) o.rate = other.rate = 0;
            /* asset m of the other problem is asset to[m] of this one */
            for (int m = 0; m < 3; m++) {
                int a = to[case_first[m]], b = to[case_second[m]];
                other.spot[m] = o.spot[to[m]];
                other.top[m] = o.top[to[m]];
                other.volatility[m] = o.volatility[to[m]];
                other.dividend[m] = o.dividend[to[m]];
                other.points[m] = o.points[to[m]];
                other.correlation[m] = o.correlation[a + b - 1]; /* pairs 01, 02, 12 */
            }
            bs3d_result want = price(1, implicit, &o, NULL, grid_a), got = price(1, implicit, &other, NULL, grid_b);
            double worst = 0, tolerance = 4 * 60 * roundoff_of[1] * 3 * o.strike;
            for (size_t n = 0; n < case_cells(&o); n++) {
                int at[3] = {(int)n % 9, (int)n / 9 % 7, (int)n / 63};
                int there = at[to[0]] + other.points[0] * (at[to[1]] + other.points[1] * at[to[2]]);
                double error = fabs(grid_a[n] - grid_b[there]);
                if (!(error <= worst)) worst = error;
            }
            CHECK(worst <= tolerance, "%s, correlations %d, order %d%d%d: off by %.3g > %.3g", method_name[implicit],
                  round / 5, to[0], to[1], to[2], worst, tolerance);
            bs3d_result turned = want;
            for (int m = 0; m < 3; m++) {
                turned.delta[m] = want.delta[to[m]];
                turned.gamma[m] = want.gamma[to[m]];
                turned.cross[m] = want.cross[to[case_first[m]] + to[case_second[m]] - 1];
            }
            case_check(got, turned, tolerance, &other, "the assets in another order");
        }
}

/* Checks put-call parity: a call less a put is a straight line, and each step turns it into another by known
   factors. */
static void test_parity(void)
{
    case_random random = {SEED + 10};
    for (int round = 0; round < 16; round++) {
        int implicit = round % 2, precision = round / 2 % 2;
        bs3d_problem o = case_problem_of(&random, implicit, 12, 8, 9, 25, BS3D_ASSET, round / 2), put = o;
        double dt = o.maturity / o.steps, dividends, interest;
        o.flags = 0;
        put.flags = 1;
        bs3d_result c = price(precision, implicit, &o, NULL, grid_a),
                    p = price(precision, implicit, &put, NULL, grid_b);
        dividends = implicit ? pow(1 + o.dividend[0] * dt, -o.steps) : pow(1 - o.dividend[0] * dt, o.steps);
        interest = implicit ? pow(1 + o.rate * dt, -o.steps) : pow(1 - o.rate * dt, o.steps);
        bs3d_result got = c, want = {0};
        got.price = c.price - p.price;
        got.theta = c.theta - p.theta;
        for (int m = 0; m < 3; m++) {
            got.delta[m] = c.delta[m] - p.delta[m];
            got.gamma[m] = c.gamma[m] - p.gamma[m];
            got.cross[m] = c.cross[m] - p.cross[m];
        }
        want.price = o.spot[0] * dividends - o.strike * interest;
        want.delta[0] = dividends;
        want.theta = case_theta(&o, &want);
        case_check(got, want, 25 * 40 * roundoff_of[precision] * o.top[0], &o, "call less put");
    }
}

/* ---- stability --------------------------------------------------------------------------------------------------- */

/* Returns the fewest steps that are not refused, by bisection. */
static int fewest_steps(bs3d_problem o, int enough)
{
    int low = 0, high = enough;
    while (high - low > 1) {
        o.steps = (low + high) / 2;
        if (bs3d_check(&o, 0) == BS3D_OK)
            high = o.steps;
        else
            low = o.steps;
    }
    return high;
}

/* Checks the limit of explicit steps. A random start decays with any number of steps that the header allows. With
   little more than half of the fewest it explodes, so the header is not too careful either: it takes the limit of a
   periodic problem with the weights of the farthest point, which on these grids is 1.5 to 1.66 times too strict (1.15
   times with 90 points). There is no drift, since with drift a product of assets may grow in time by itself. */
static void test_stability(void)
{
    case_random random = {SEED + 11};
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++)
        for (int round = 0; round < 2; round++) {
            bs3d_problem o = case_problem_of(&random, 0, 14, 12 + 4 * round, 13, 500, BS3D_GIVEN, kind);
            double largest;
            if (check_short() && round != kind % 2) continue;
            o.rate = 0.03;
            for (int m = 0; m < 3; m++) o.dividend[m] = o.rate;
            o.steps = fewest_steps(o, 100000);
            CHECK(bs3d_check(&o, 0) == BS3D_OK && o.steps > 100, "%d steps", o.steps);
            fill(&random, case_cells(&o), grid_a);
            price(1, 0, &o, grid_a, grid_b);
            case_distance(case_cells(&o), grid_b, grid_b, &largest);
            CHECK(largest <= 1, "correlations %d: %d steps at the limit let 1 grow to %.3g", kind, o.steps, largest);
            o.steps--;
            CHECK(bs3d_check(&o, 0) == BS3D_UNSTABLE, "%d steps are as good as one more", o.steps);
            o.steps = (int)(0.55 * o.steps);
            bs3d_model m = bs3d_model_of(&o);
            for (int step = 0; step < 200; step++) {
                apply_f64(&m, 1, grid_a, grid_b);
                memcpy(grid_a, grid_b, sizeof grid_a);
            }
            case_distance(case_cells(&o), grid_a, grid_a, &largest);
            CHECK(largest > 1e3, "correlations %d: %d steps are refused, but 1 becomes %.3g", kind, o.steps, largest);
        }
}

/* Returns what L takes from a Fourier mode in a step, with the weights of point i of the three axes everywhere. */
static double damping(const bs3d_problem *o, const double i[3], const double mode[3])
{
    const double *rho = o->correlation;
    double dt = o->maturity / o->steps, sum = o->rate * dt;
    int seven = 1 - rho[0] * rho[0] - rho[1] * rho[1] - rho[2] * rho[2] >= 2 * fabs(rho[0] * rho[1] * rho[2]);
    for (int m = 0; m < 3; m++) {
        double diffusion = o->volatility[m] * o->volatility[m] * i[m] * i[m];
        if (o->flags & BS3D_UPWIND) diffusion = fmax(diffusion, fabs(o->rate - o->dividend[m]) * i[m]);
        sum += diffusion * dt * (1 - cos(mode[m]));
    }
    for (int p = 0; p < 3; p++) {
        int m = case_first[p], n = case_second[p], side = rho[p] < 0 ? -1 : 1;
        double a = mode[m], b = mode[n], w = rho[p] * o->volatility[m] * o->volatility[n] * i[m] * i[n] * dt;
        sum += seven ? side * w * (cos(a) + cos(b) - 1 - cos(a + side * b)) : w * sin(a) * sin(b);
    }
    return sum;
}

/* Returns the largest such damping over all modes and points, by random trials and then by ever smaller steps
   uphill. */
static double largest_damping(const bs3d_problem *o, case_random *random)
{
    double most = 0;
    for (int corner = 1; corner < 8; corner++) {
        double i[3];
        for (int m = 0; m < 3; m++) i[m] = corner >> m & 1 ? o->points[m] - 1 : 0;
        for (int start = 0; start < 20; start++) {
            double at[3], here, width = 1;
            for (int m = 0; m < 3; m++) at[m] = case_between(random, -3.2, 3.2);
            here = damping(o, i, at);
            while (width > 1e-4) {
                double before = here;
                for (int way = 0; way < 6; way++) {
                    double there, old = at[way / 2];
                    at[way / 2] += way % 2 ? width : -width;
                    there = damping(o, i, at);
                    if (there > here)
                        here = there;
                    else
                        at[way / 2] = old;
                }
                if (here == before) width /= 2;
            }
            most = fmax(most, here);
        }
    }
    return most;
}

/* Checks a slab's reach: what passes through so many of a neighbour's partitions is below the roundoff, and through one
   fewer it is not. The factor of 1000 allows for the header's partitions, each solved by itself, where this test solves
   one line. */
static void test_reach(void)
{
    enum { PLANES = 128, SLABS = 2, SECTIONS = 4, SECTION = PLANES / SLABS / SECTIONS };
    case_random random = {SEED + 20};
    int cuts = 0;
    for (int turn = 0; turn < 12; turn++) {
        bs3d_problem o = case_problem_of(&random, 1, 8, 8, PLANES, 4, BS3D_MINIMUM, 0);
        bs3d_model m = bs3d_model_of(&o);
        double left[PLANES], through[SECTIONS + 1] = {1};
        /* In the upper slab x[k] = left[k] x[k - 1], from the top downwards. */
        for (int k = PLANES - 1; k >= PLANES / SLABS; k--) {
            double a, b, c;
            bs1d_lane_matrix(bs3d_axis_of(&m, 2), 1, k, &a, &b, &c);
            left[k] = -a / (b + (k < PLANES - 1 ? c * left[k + 1] : 0));
        }
        for (int s = 0; s < SECTIONS; s++) {
            through[s + 1] = through[s];
            for (int k = 0; k < SECTION; k++) through[s + 1] *= fabs(left[PLANES / SLABS + s * SECTION + k]);
        }
        for (int is_double = 0; is_double < 2; is_double++) {
            const double roundoff = is_double ? 1.1e-16 : 6e-8;
            bs3d_slab cut;
            if (!CHECK(bs3d_slab_cut(&o, 1, is_double, SLABS, 0, 1, SECTIONS, &cut) == BS3D_OK, "a cut")) continue;
            if (!cut.reach) continue;
            cuts++;
            CHECK(through[cut.reach] < 1000 * roundoff && (cut.reach == 1 || through[cut.reach - 1] > roundoff / 1000),
                  "through %d sections %.2g is seen, through one less %.2g", cut.reach, through[cut.reach],
                  through[cut.reach - 1]);
        }
    }
    CHECK(cuts > 4, "only %d cuts", cuts);
}

/* Checks how many explicit steps are needed: as many as damp no mode by more than 2. */
static void test_limits(void)
{
    case_random random = {SEED + 13};
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++)
        for (int round = 0; round < 4; round++) {
            bs3d_problem o = case_problem_of(&random, 0, 300, 4 + 90 * round, 400 - 99 * round, 5000, BS3D_ASSET, kind);
            if (round % 2) o.flags |= BS3D_UPWIND, o.volatility[round / 2] = 0.01;
            double needed = 5000 * largest_damping(&o, &random) / 2;
            int fewest = fewest_steps(o, 20000);
            CHECK(fewest >= (1 - 1e-6) * needed && fewest <= needed + 1, "correlations %d: at least %d steps, not %.6g",
                  kind, fewest, needed);
        }
    /* Without correlation the limit has a closed form. It contains the rate, so the dividends equal the rate here. */
    bs3d_problem o = case_model(40, 1, BS3D_ASSET);
    o.maturity = 1;
    o.rate = 5;
    double needed = o.rate / 2;
    for (int m = 0; m < 3; m++) {
        o.dividend[m] = o.rate;
        o.correlation[m] = 0;
        o.volatility[m] = 0.1 + 0.1 * m;
        o.points[m] = 40 + 10 * m;
        needed += o.volatility[m] * o.volatility[m] * (39 + 10 * m) * (39 + 10 * m);
    }
    CHECK(fewest_steps(o, 10000) == (int)ceil(needed), "%d steps, not %.6g", fewest_steps(o, 10000), needed);

    /* Drift needs diffusion: sum of (rate - dividend)^2 dt / sigma^2 <= 1. Just within this limit, 1 stays 1. */
    bs3d_problem drifting = case_model(16, 200, BS3D_GIVEN);
    drifting.maturity = 200 * 0.1 / (0.04 * 15 * 15);
    drifting.rate = 0.03;
    for (int m = 0; m < 3; m++) {
        drifting.correlation[m] = 0;
        drifting.dividend[m] = 0.03 + 0.57 * 0.2 / sqrt(drifting.maturity / 200);
    }
    fill(&random, case_cells(&drifting), grid_a);
    price(1, 0, &drifting, grid_a, grid_b);
    case_distance(case_cells(&drifting), grid_b, grid_b, &needed);
    CHECK(needed <= 1.1, "just enough diffusion for the drift: 1 grows to %.3g", needed);

    static const int promised[][2] = {{96, 71}, {192, 284}, {256, 500}};
    for (int n = 0; n < 3; n++) {
        o = case_model(promised[n][0], promised[n][1], BS3D_ASSET);
        CHECK(bs3d_check(&o, 0) == BS3D_OK, "%d points, %d steps: refused", promised[n][0], promised[n][1]);
        o.steps = 2;
        CHECK(bs3d_check(&o, 1) == BS3D_OK, "%d points, 2 implicit steps: refused", promised[n][0]);
    }

    /* The last row keeps its drift while it is dominant with it: 1 - 4 gamma > 0, of the first axis, which has the
       discount, 1 + rate dt - 4 gamma. Nothing is refused on that account. */
    for (int m = 0; m < 3; m++)
        for (int percent = 98; percent <= 112; percent += 7) {
            o = case_model(11, 1, BS3D_ASSET);
            o.maturity = 1;
            o.rate = 0.1;
            for (int n = 0; n < 3; n++) o.dividend[n] = n == m ? 0.1 - 0.01 * percent / 20 : 0.1;
            bs3d_model model = bs3d_model_of(&o);
            CHECK(bs3d_check(&o, 1) == BS3D_OK && bs3d_p_plain(&model) == (percent < (m ? 100 : 110)),
                  "4 gamma of %d %% on axis %d: status %d, plain %d", percent, m + 1, bs3d_check(&o, 1),
                  bs3d_p_plain(&model));
        }
}

/* Checks problems that used to be refused because of the last row: 1024 points and few steps. Compares price and theta
   with the closed form; the error is of first order in time, and falls with the length of steps. */
static void test_few_steps(void)
{
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        bs3d_problem o = case_model(4, fine ? 40 : 20, BS3D_ASSET);
        o.points[0] = 1024;
        o.maturity = 1;
        bs3d_model m = bs3d_model_of(&o);
        CHECK(!bs3d_p_plain(&m), "%d steps: the last row is as it was", o.steps);
        bs3d_result r = price(1, 1, &o, NULL, NULL);
        error[fine] = r.price - 10.450583572185565;
        check_near(r.theta, -6.414027546438197, fine ? 0.12 : 0.24, "%d steps: theta", o.steps);
        check_near(price(0, 1, &o, NULL, NULL).price, r.price, 2e-3, "%d steps, f32", o.steps);
    }
    printf("1024 points, 20 and 40 steps: errors %.4g and %.4g\n", error[0], error[1]);
    CHECK(fabs(error[0]) < 0.1 && error[0] / error[1] > 1.9 && error[0] / error[1] < 2.1,
          "20 and 40 steps: errors %.4g and %.4g", error[0], error[1]);
}

/* Checks upwinding. Where drift exceeds diffusion, central differences give values below the least start value, and
   upwind ones do not; where drift nowhere exceeds diffusion, both are the same. */
static void test_upwind(void)
{
    case_random random = {SEED + 14};
    for (int implicit = 0; implicit < 2; implicit++) {
        double least[2] = {0, 0};
        for (int upwind = !implicit; upwind < 2; upwind++) { /* an explicit march would be refused */
            bs3d_problem o = case_model(10, 40, BS3D_MAXIMUM);
            o.maturity = 0.4;
            o.strike = 90;
            o.rate = 0.2;
            o.flags = BS3D_PUT | (upwind ? BS3D_UPWIND : BS3D_CALL);
            for (int m = 0; m < 3; m++) {
                o.volatility[m] = 0.02;
                o.correlation[m] = 0;
            }
            price(1, implicit, &o, NULL, grid_a);
            for (size_t n = 0; n < case_cells(&o); n++) least[upwind] = fmin(least[upwind], grid_a[n]);
        }
        CHECK(!implicit || least[0] < -1e-3, "without upwinding no less than %.3g", least[0]);
        CHECK(least[1] >= -1e-12, "%s: with upwinding %.3g", method_name[implicit], least[1]);
        bs3d_problem o = case_problem_of(&random, implicit, 9, 8, 7, 3, BS3D_MAXIMUM, 2), other = o;
        for (int m = 0; m < 3; m++) o.dividend[m] = other.dividend[m] = o.rate + 0.005;
        other.flags |= BS3D_UPWIND;
        double plain = price(1, implicit, &o, NULL, NULL).price, same = price(1, implicit, &other, NULL, NULL).price;
        CHECK(plain == same, "%s: upwinding without need: %.17g, not %.17g", method_name[implicit], same, plain);
    }
}

/* ---- exercise ---------------------------------------------------------------------------------------------------- */

/* Checks that an American put on the first asset is that of one factor: to within rounding in explicit marches, to the
   order of the time step in implicit ones (bs1d.h splits the operator, bs3d.h projects). */
static void test_american_one_factor(void)
{
    for (int implicit = 0; implicit < 2; implicit++) {
        bs3d_problem o = case_model(4, 400, BS3D_ASSET);
        o.points[0] = 81;
        o.maturity = 0.5;
        o.rate = 0.08;
        o.flags = BS3D_PUT | BS3D_AMERICAN;
        bs1d_option_f64 option = {o.spot[0],  o.strike, o.rate,  o.dividend[0], o.volatility[0],
                                  o.maturity, o.top[0], o.steps, o.flags};
        bs1d_result_f64 result;
        double line[1024], *work = memory((size_t)BS1D_HOST_LEN(81) * sizeof *work), worst = 0;
        (implicit ? bs1d_host_implicit_f64 : bs1d_host_explicit_f64)(1, 81, &option, &result, line, work);
        free(work);
        bs3d_result got = price(1, implicit, &o, NULL, grid_a), european;
        for (int n = 0; n < 81 * 16; n++) worst = fmax(worst, fabs(grid_a[n] - line[n % 81]));
        CHECK(worst <= (implicit ? 0.005 : 1e-10), "%s: the American put is off by %.3g", method_name[implicit], worst);
        o.flags = BS3D_PUT;
        european = price(1, implicit, &o, NULL, NULL);
        CHECK(got.price > european.price + 0.1, "%s: an early exercise is worth %.3g", method_name[implicit],
              got.price - european.price);
    }
}

/* Checks that an American option is worth no less than its exercise and no less than the European one, and that for a
   call on an asset without dividends both are worth the same. Theta is 0 where exercise is best, that is, where the
   price is the payoff. */
static void test_american_bounds(void)
{
    case_random random = {SEED + 15};
    for (int round = 0; round < 20; round++)
        for (int implicit = 0; implicit < 2; implicit++) {
            int payoff = 1 + round % BS3D_ARITHMETIC;
            bs3d_problem o = case_problem_of(&random, implicit, 11, 9, 10, 6, payoff, round % CASE_CORRELATIONS);
            o.rate = 0.05;
            for (int m = 0; m < 3; m++) o.dividend[m] = round % 2 ? 0.03 : 0.07;
            if (bs3d_check(&o, implicit)) continue;
            double ds[3], below = 0, least = 0;
            price(1, implicit, &o, NULL, grid_b);
            o.flags |= BS3D_AMERICAN;
            bs3d_result r = price(1, implicit, &o, NULL, grid_a);
            for (int m = 0; m < 3; m++) ds[m] = o.top[m] / (o.points[m] - 1);
            for (int n = 0; n < 11 * 9 * 10; n++) {
                double pays =
                    bs3d_lane_payoff(payoff, o.flags, o.strike, n % 11 * ds[0], n / 11 % 9 * ds[1], n / 99 * ds[2]);
                below = fmin(below, grid_a[n] - pays);
                least = fmin(least, grid_a[n] - grid_b[n]);
            }
            /* if the compiler contracts, the payoff may round differently here and in the header */
            double roundoffs = 4 * DBL_EPSILON * (o.strike + fmax(o.top[0], fmax(o.top[1], o.top[2])));
            CHECK(below >= -roundoffs, "%s, payoff %d: below exercise by %.3g", method_name[implicit], payoff, below);
            /* a projected step is monotone as far as the step is: not quite in the far corner, nor across diagonals */
            CHECK(least >= -0.02 * o.strike, "%s, payoff %d: below the European by %.3g", method_name[implicit], payoff,
                  least);
            check_near(r.price, case_greeks(&o, grid_a).price, 1e-10 * o.strike, "%s, American", method_name[implicit]);
        }
    bs3d_problem call = case_model(4, 50, BS3D_ASSET);
    call.points[0] = 65;
    call.maturity = 0.5;
    double european = price(1, 1, &call, NULL, NULL).price;
    call.flags = BS3D_AMERICAN;
    check_near(price(1, 1, &call, NULL, NULL).price, european, 1e-6, "a call that nobody exercises");
    call.flags = BS3D_PUT | BS3D_AMERICAN;
    call.spot[0] = 40;
    for (int precision = 0; precision < 2; precision++) {
        bs3d_result deep = price(precision, 1, &call, NULL, NULL);
        check_near(deep.price, 60, precision ? 1e-10 : 1e-4, "a put to be exercised now, %s",
                   precision_name[precision]);
        CHECK(deep.theta == 0, "a put to be exercised now: theta %.3g", deep.theta);
    }
    /* The payoff is a hundred times the strike, so its rounding in single precision exceeds 1e-6 of the strike. */
    call.flags = BS3D_AMERICAN;
    call.spot[0] = 100;
    call.dividend[0] = 0.2;
    for (int n = 0; n < 8; n++) {
        call.strike = 1 + 0.03 * n;
        bs3d_result deep = price(0, 1, &call, NULL, NULL);
        CHECK(deep.theta == 0, "a call with strike %g, to be exercised now: theta %.3g", call.strike, deep.theta);
    }
}

/* Checks that theta is, to second order, the difference in price that one step more or less makes, from a smooth start
   and for all correlations; and for a call on one asset, that it is the closed form's. */
static void test_theta(void)
{
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++) {
        bs3d_problem o = case_model(16, 20, BS3D_GIVEN);
        double dt = 0.002, prices[3];
        bs3d_result r = {0};
        for (int m = 0; m < 3; m++) {
            o.correlation[m] = case_correlation(kind)[m];
            o.dividend[m] = 0.01 * m;
        }
        for (int n = 0; n < 16 * 16 * 16; n++) {
            double x = n % 16 / 7.5 - 1, y = n / 16 % 16 / 7.5 - 1, z = n / 256 / 7.5 - 1;
            grid_a[n] = exp(-x * x - 0.5 * y * y + x * y - z * z * z + 0.5 * x * z);
        }
        for (int more = -1; more <= 1; more++) {
            o.steps = 20 + more;
            o.maturity = dt * o.steps;
            bs3d_result at = price(1, 0, &o, grid_a, NULL);
            prices[more + 1] = at.price;
            if (more == 0) r = at;
        }
        double difference = (prices[0] - prices[2]) / (2 * dt);
        check_near(r.theta, difference, 0.003, "correlations %d: theta", kind);
        CHECK(fabs(difference) > 0.01, "correlations %d: a theta of %.3g shows nothing", kind, difference);
    }
    bs3d_problem o = case_model(4, 700, BS3D_ASSET);
    o.points[0] = 121;
    o.maturity = 1;
    o.top[0] = 240;
    for (int p = 0; p < 3; p++) o.correlation[p] = 0;
    check_near(price(1, 0, &o, NULL, NULL).theta, -6.414027546438197, 1e-2, "theta of a call");
}

/* Checks that long implicit steps only damp, whatever the start. */
static void test_long_implicit_steps(void)
{
    case_random random = {SEED + 12};
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++) {
        bs3d_problem o = case_problem_of(&random, 1, 12, 16, 14, 100, BS3D_GIVEN, kind);
        double largest;
        o.rate = 0.03;
        for (int m = 0; m < 3; m++) o.dividend[m] = o.rate; /* no drift, which would limit the step */
        o.maturity = 1000;                                  /* variances of hundreds in 10 years a step */
        fill(&random, case_cells(&o), grid_a);
        price(1, 1, &o, grid_a, grid_b);
        case_distance(case_cells(&o), grid_b, grid_b, &largest);
        CHECK(largest <= 2, "correlations %d: 1 grows to %.3g", kind, largest);
    }
}

/* ---- at the strike ----------------------------------------------------------------------------------------------- */

/* Compares with an independent program on 96 points in 71 steps. Checks that the error against the closed form falls by
   about four when the spacing is halved: from 28 to 56 points for a maturity of 0.6, which spreads the assets over as
   many points as a maturity of 0.05 does from 96 to 192. */
static void test_strike(void)
{
    static const double independent[] = {0, 0, 1.56101079, 3.42523872, 0.64006098};
    for (int payoff = BS3D_GEOMETRIC; payoff <= BS3D_MINIMUM; payoff++) {
        bs3d_problem o = case_model(96, 71, payoff);
        double error[2];
        check_near(price(1, 0, &o, NULL, NULL).price, independent[payoff], 1e-8, "payoff %d, 96 points, 71 steps",
                   payoff);
        for (int fine = 0; fine < 2; fine++) {
            o = fine ? case_model(56, 284, payoff) : case_model(28, 71, payoff);
            o.maturity = 0.6;
            error[fine] = price(1, 0, &o, NULL, NULL).price - exact[1][payoff];
        }
        printf("payoff %d: errors %.3g and %.3g, a factor of %.3g\n", payoff, error[0], error[1], error[0] / error[1]);
        CHECK(error[0] / error[1] > 3 && error[0] / error[1] < 4.5, "payoff %d: the error fell by %.3g", payoff,
              error[0] / error[1]);
    }
}

int main(void)
{
    printf("seed %d\n", SEED);
    test_status_strings();
    test_checks();
    test_sizes();
    test_forms();
    test_equation();
    test_planes();
    test_rows();
    test_payoffs();
    test_known_answers();
    test_greeks();
    test_results();
    test_one_factor();
    test_relabelled();
    test_parity();
    test_stability();
    test_limits();
    test_reach();
    test_few_steps();
    test_upwind();
    test_american_one_factor();
    test_american_bounds();
    test_theta();
    test_long_implicit_steps();
    if (check_short())
        check_skip(2, "96 points, and every other grid of the limit of stability: SHORT_TESTS is set");
    else
        test_strike();
    return check_report();
}
