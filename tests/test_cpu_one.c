/* test_cpu_one.c - the one-factor ladder of cpu_avx.h: every rung, precision and instruction set against plain loops in
   double precision, and against the exact answers of the model problem.
   MIT licence, see LICENSE. */
#define _DEFAULT_SOURCE
#include "cpu_cases.h"

#define BS1D_NO_LAUNCHES
#include "bs1d.h"
#include "bs1d_cases.h"

#include <float.h>

enum { SEED = 20241107, MOST_OPTIONS = 66, MOST_N = 2000, MOST_H = 32 };
enum { EXPLICIT1, EXPLICIT2, EXPLICIT3, EXPLICIT4, IMPLICIT1, IMPLICIT2, IMPLICIT3, RUNGS };
static const char *const rung_name[RUNGS] = {"explicit1", "explicit2", "explicit3", "explicit4",
                                             "implicit1", "implicit2", "implicit3"};
static const char *const precision_name[2] = {"f32", "f64"};
static const double roundoff_of[2] = {FLT_EPSILON / 2, DBL_EPSILON / 2};

/* ---- both precisions under one roof ------------------------------------------------------------------------------ */

/* A batch in double precision, whose numbers are exact in float too, so that both precisions march the same batch. */
typedef struct {
    int options, n, steps, H, threads;
    double *a, *b, *c, *u, *band;
    double scale[MOST_OPTIONS]; /* the factor by which the rounding errors of a step grow */
} batch;

/* Marches from b->u to result. The arrays begin at some distance from a cache line, between guards; work has exactly
   the bytes that the header asks for. */
#define DEFINE_RUN(NAME, R, SUFFIX)                                                                                    \
    static guarded NAME##_guard(const double *from, size_t count, size_t offset)                                       \
    {                                                                                                                  \
        guarded g = guard(count * sizeof(R), offset);                                                                  \
        for (size_t i = 0; i < count; i++) ((R *)g.at)[i] = (R)from[i];                                                \
        return g;                                                                                                      \
    }                                                                                                                  \
    static int NAME(int rung, int isa, const batch *m, double *result, size_t offset)                                  \
    {                                                                                                                  \
        size_t count = (size_t)m->options * (size_t)m->n, width = rung == EXPLICIT4 ? 2 * (size_t)m->H + 1 : 1;        \
        guarded a = NAME##_guard(rung == EXPLICIT4 ? m->band : m->a, count * width, offset);                           \
        guarded b = NAME##_guard(m->b, count, (offset + sizeof(R)) % 64);                                              \
        guarded c = NAME##_guard(m->c, count, (offset + 3 * sizeof(R)) % 64);                                          \
        guarded u = NAME##_guard(m->u, count, (offset + 5 * sizeof(R)) % 64);                                          \
        guarded work =                                                                                                 \
            guard(rung >= IMPLICIT1 ? cpu_avx_implicit_bytes_##SUFFIX(m->n, m->threads)                                \
                                    : cpu_avx_explicit_bytes_##SUFFIX(m->n, rung == EXPLICIT4 ? m->H : 0, m->threads), \
                  (offset + 7) % 64);                                                                                  \
        int status = 0, raised;                                                                                        \
        feclearexcept(CPU_RAISED_BY_BAD);                                                                              \
        if (rung == EXPLICIT4)                                                                                         \
            status = cpu_avx_explicit4_##SUFFIX(isa, m->options, m->n, m->H, m->steps, (const R *)a.at, (R *)u.at,     \
                                                work.at, m->threads);                                                  \
        else                                                                                                           \
            status = (rung == EXPLICIT1   ? cpu_avx_explicit1_##SUFFIX                                                 \
                      : rung == EXPLICIT2 ? cpu_avx_explicit2_##SUFFIX                                                 \
                      : rung == EXPLICIT3 ? cpu_avx_explicit3_##SUFFIX                                                 \
                      : rung == IMPLICIT1 ? cpu_avx_implicit1_##SUFFIX                                                 \
                      : rung == IMPLICIT2 ? cpu_avx_implicit2_##SUFFIX                                                 \
                                          : cpu_avx_implicit3_##SUFFIX)(                                               \
                isa, m->options, m->n, m->steps, (const R *)a.at, (const R *)b.at, (const R *)c.at, (R *)u.at,         \
                work.at, m->threads);                                                                                  \
        raised = fetestexcept(CPU_RAISED_BY_BAD);                                                                      \
        CHECK(status || !raised, "%s %s, n %d, %d options: raises exceptions %x", rung_name[rung], cpu_avx_name(isa),  \
              m->n, m->options, (unsigned)raised);                                                                     \
        for (size_t i = 0; i < count; i++) result[i] = (double)((R *)u.at)[i];                                         \
        unguard(&a, "a of %s", rung_name[rung]);                                                                       \
        unguard(&b, "b of %s", rung_name[rung]);                                                                       \
        unguard(&c, "c of %s", rung_name[rung]);                                                                       \
        unguard(&u, "u of %s %s, n %d", rung_name[rung], cpu_avx_name(isa), m->n);                                     \
        unguard(&work, "work of %s %s, n %d", rung_name[rung], cpu_avx_name(isa), m->n);                               \
        return status;                                                                                                 \
    }
DEFINE_RUN(run_f32, float, f32)
DEFINE_RUN(run_f64, double, f64)

typedef int run_function(int, int, const batch *, double *, size_t);
static run_function *const run_of[2] = {run_f32, run_f64};

/* ---- batches and what must come out ------------------------------------------------------------------------------ */

static batch batch_new(int options, int n, int steps, int H)
{
    size_t count = (size_t)options * (size_t)n;
    batch m = {options, n, steps, H, 1, NULL, NULL, NULL, NULL, NULL, {0}};
    m.a = (double *)case_memory((4 + 2 * (size_t)H + 1) * count * sizeof(double));
    m.b = m.a + count, m.c = m.b + count, m.u = m.c + count, m.band = m.u + count;
    return m;
}

static double as_float(double x)
{
    return (float)x;
}

/* Makes stable explicit steps for different options. What must not be read is NaN. */
static void fill_explicit(case_random *random, batch *m)
{
    const size_t n = (size_t)m->n, width = 2 * (size_t)m->H + 1;
    for (size_t i = 0; i < (size_t)m->options * n; i++) {
        size_t j = i % n;
        m->a[i] = j > 0 ? as_float(case_between(random, 0, 0.25)) : NAN;
        m->c[i] = j < n - 1 ? as_float(case_between(random, 0, 0.25)) : NAN;
        m->b[i] = as_float(-(j > 0 ? m->a[i] : 0) - (j < n - 1 ? m->c[i] : 0) - case_between(random, 0, 0.1));
        m->u[i] = as_float(case_between(random, -1, 1));
        for (size_t k = 0; k < width; k++) {
            int there = j + k >= (size_t)m->H && j + k < n + (size_t)m->H;
            m->band[i * width + k] = there ? as_float(case_between(random, -1, 1) / (double)width) : NAN;
        }
    }
}

/* Makes dominant matrices with norm `scale`, whose inverses have norm at most 1. Every third option has weak couplings,
   and every third such strong ones that the first and last unknown depend on each other. */
static void fill_implicit(case_random *random, batch *m)
{
    const size_t n = (size_t)m->n;
    for (size_t i = 0; i < (size_t)m->options * n; i++) {
        size_t j = i % n;
        int kind = (int)(i / n % 3);
        double coupling = kind == 0 ? 0.1 : kind == 1 ? 1.5 : 1e4;
        m->a[i] = j > 0 ? as_float(-coupling * case_between(random, 0.9, 1)) : NAN;
        m->c[i] = j < n - 1 ? as_float(-coupling * case_between(random, 0.9, 1)) : NAN;
        m->b[i] = as_float(1.001 - 1.000001 * ((j > 0 ? m->a[i] : 0) + (j < n - 1 ? m->c[i] : 0)));
        m->u[i] = as_float(case_between(random, -1, 1));
        m->scale[i / n] = 4 * coupling + 1;
    }
}

static void want_explicit(const batch *m, double *u)
{
    const int n = m->n;
    double before[MOST_N];
    memcpy(u, m->u, (size_t)m->options * (size_t)n * sizeof *u);
    for (int i = 0; i < m->options; i++) {
        size_t at = (size_t)i * (size_t)n;
        for (int s = 0; s < m->steps; s++) {
            memcpy(before, u + at, (size_t)n * sizeof *u);
            for (int j = 0; j < n; j++) {
                double change = m->b[at + (size_t)j] * before[j];
                if (j > 0) change += m->a[at + (size_t)j] * before[j - 1];
                if (j < n - 1) change += m->c[at + (size_t)j] * before[j + 1];
                u[at + (size_t)j] += change;
            }
        }
    }
}

static void want_composed(const batch *m, double *u)
{
    const int n = m->n, width = 2 * m->H + 1;
    double before[MOST_N];
    memcpy(u, m->u, (size_t)m->options * (size_t)n * sizeof *u);
    for (int i = 0; i < m->options; i++) {
        size_t at = (size_t)i * (size_t)n;
        for (int s = 0; s < m->steps; s++) {
            memcpy(before, u + at, (size_t)n * sizeof *u);
            for (int j = 0; j < n; j++)
                for (int k = 0; k < width; k++)
                    if (j - m->H + k >= 0 && j - m->H + k < n)
                        u[at + (size_t)j] +=
                            m->band[(at + (size_t)j) * (size_t)width + (size_t)k] * before[j - m->H + k];
        }
    }
}

/* Computes the answers by trid.h's reference. Returns 1 + the first option that it cannot solve. */
static int want_implicit(const batch *m, double *u)
{
    double work[MOST_N];
    int status = 0;
    memcpy(u, m->u, (size_t)m->options * (size_t)m->n * sizeof *u);
    for (int i = 0; i < m->options; i++) {
        size_t at = (size_t)i * (size_t)m->n;
        int bad = 0;
        for (int s = 0; s < m->steps && !bad; s++)
            bad = trid_host_thomas_f64(m->n, m->a + at, m->b + at, m->c + at, u + at, u + at, work);
        if (bad && !status) status = 1 + i;
    }
    return status;
}

/* Returns the rounding error that a march may make. An explicit step makes three multiply-adds of sums below 2, and
   their errors do not grow later, since no step enlarges the largest value. A composed step makes 2H+2 additions, and
   values and errors grow by a factor below 2 a sweep (the magnitudes in a row sum to less than 1). In an implicit step,
   elimination of a dominant matrix is backward stable with a constant below 20 (a fast reciprocal included), and errors
   grow by the norm of M. */
static double tolerance_of(int rung, int precision, const batch *m, int option)
{
    double steps = m->steps, unit = roundoff_of[precision];
    if (rung >= IMPLICIT1) return 20 * steps * unit * m->scale[option];
    if (rung == EXPLICIT4) return steps * (2 * m->H + 4) * unit * pow(1.7, steps);
    return 8 * steps * unit;
}

/* Runs a rung on each instruction set and compares with `want`, except options that `skip` marks. */
static void compare(int rung, int precision, const batch *m, const double *want, int want_status, const char *skip,
                    size_t offset)
{
    double *got = (double *)case_memory((size_t)m->options * (size_t)m->n * sizeof *got);
    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
        if (cpu_left_out(isa)) continue;
        int status = run_of[precision](rung, isa, m, got, offset);
        CHECK(status == want_status, "%s %s %s n %d options %d threads %d: status %d, not %d", rung_name[rung],
              precision_name[precision], cpu_avx_name(isa), m->n, m->options, m->threads, status, want_status);
        for (int i = 0; i < m->options; i++) {
            double worst = 0, tolerance = tolerance_of(rung, precision, m, i);
            if (skip && skip[i]) continue;
            for (size_t j = (size_t)i * (size_t)m->n; j < ((size_t)i + 1) * (size_t)m->n; j++)
                if (!(fabs(got[j] - want[j]) <= worst)) worst = fabs(got[j] - want[j]);
            CHECK(worst <= tolerance, "%s %s %s n %d H %d steps %d threads %d, option %d of %d: off by %.3g > %.3g",
                  rung_name[rung], precision_name[precision], cpu_avx_name(isa), m->n, m->H, m->steps, m->threads, i,
                  m->options, worst, tolerance);
        }
    }
    free(got);
}

/* Compares all rungs on random options, in batches of this shape. */
static void test_shape(case_random *random, int options, int n, int steps, int H, int threads)
{
    batch m = batch_new(options, n, steps, H);
    double *want = (double *)case_memory((size_t)options * (size_t)n * sizeof *want);
    m.threads = threads;
    for (int precision = 0; precision < 2; precision++) {
        size_t offset = (size_t)case_below(random, 16) * (precision ? 8 : 4);
        if (check_short() && precision != (options + n + steps) % 2) continue;
        fill_explicit(random, &m);
        want_explicit(&m, want);
        for (int rung = EXPLICIT1; rung <= EXPLICIT3; rung++) compare(rung, precision, &m, want, 0, NULL, offset % 64);
        want_composed(&m, want);
        compare(EXPLICIT4, precision, &m, want, 0, NULL, offset % 64);
        fill_implicit(random, &m);
        want_implicit(&m, want);
        for (int rung = IMPLICIT1; rung < RUNGS; rung++) compare(rung, precision, &m, want, 0, NULL, offset % 64);
    }
    free(want);
    free(m.a);
}

static void test_shapes(void)
{
    static const int steps_of[] = {0, 1, 2, 3, 7}, large[] = {255, 256, 257, 1040, 2000};
    case_random random = {SEED};
    for (int n = 1; n <= 130; n++) {
        int options = 1 + case_below(&random, 5), H = 1 + case_below(&random, n % 4 ? 9 : MOST_H);
        test_shape(&random, options, n, steps_of[n % 5], H, 1 + n % 3);
    }
    for (int i = 0; i < 5; i++)
        for (int s = 1; s < 5; s++)
            if (!check_short() || (i + s) % 2) test_shape(&random, 3, large[i], steps_of[s], 1 + (3 * s + i) % 9, s);
    for (int options = 0; options < MOST_OPTIONS; options++)
        test_shape(&random, options, 3 + options % 37, steps_of[1 + options % 4], 1 + options % 8, 1 + options % 5);
    for (int H = 1; H <= MOST_H; H++) test_shape(&random, 2, 1 + 17 * (H % 7), 2, H, 1);
    test_shape(&random, 3, 0, 1, 1, 1);
    if (check_short())
        check_skip(1, "each shape in the other precision, and every other large one: SHORT_TESTS is set");
}

/* ---- what cannot be solved --------------------------------------------------------------------------------------- */

/* Checks that if some options meet a pivot that is 0, infinite or NaN, the first is reported, and the others are
   right. */
static void test_bad_pivots(void)
{
    enum { N = 41 };
    case_random random = {SEED + 1};
    for (int round = 0; round < 12; round++) {
        const int options = 1 + 7 * round % 40;
        batch m = batch_new(options, N, 2, 0);
        double *want = (double *)case_memory((size_t)options * N * sizeof *want);
        char spoilt[MOST_OPTIONS] = {0};
        int first = options;
        fill_implicit(&random, &m);
        for (int k = 0; k <= round % 3; k++) {
            int i = case_below(&random, options), j = k == 0 ? 0 : case_below(&random, N), at = i * N + j;
            spoilt[i] = 1;
            if (j > 0) m.a[at] = 0; /* so that the pivot is b, whatever the rounding in the rows above */
            m.b[at] = round % 4 == 0 ? NAN : round % 4 == 1 ? INFINITY : 0;
            if (i < first) first = i;
        }
        m.threads = 1 + round % 4;
        CHECK(want_implicit(&m, want) == 1 + first, "the reference has not met the bad pivot");
        for (int precision = 0; precision < 2; precision++)
            for (int rung = IMPLICIT1; rung < RUNGS; rung++) compare(rung, precision, &m, want, 1 + first, spoilt, 8);
        /* Without steps nobody meets a pivot. */
        m.steps = 0;
        for (int rung = IMPLICIT1; rung < RUNGS; rung++) compare(rung, 1, &m, m.u, 0, NULL, 8);
        free(want);
        free(m.a);
    }
}

#define DEFINE_ARGUMENTS(NAME, R, SUFFIX)                                                                              \
    static void NAME(void)                                                                                             \
    {                                                                                                                  \
        typedef int rung(int, int, int, int, const R *, const R *, const R *, R *, void *, int);                       \
        static rung *const rungs[] = {cpu_avx_explicit1_##SUFFIX, cpu_avx_explicit2_##SUFFIX,                          \
                                      cpu_avx_explicit3_##SUFFIX, cpu_avx_implicit1_##SUFFIX,                          \
                                      cpu_avx_implicit2_##SUFFIX, cpu_avx_implicit3_##SUFFIX};                         \
        R x[4] = {1, 1, 1, 1};                                                                                         \
        const int bad = CPU_AVX_BAD_ARGUMENT, isa = cpu_avx_best();                                                    \
        for (int i = 0; i < 6; i++) {                                                                                  \
            CHECK(rungs[i](isa, -1, 4, 1, x, x, x, x, x, 1) == bad, "rung %d: -1 options", i);                         \
            CHECK(rungs[i](isa, 1, -1, 1, x, x, x, x, x, 1) == bad, "rung %d: -1 rows", i);                            \
            CHECK(rungs[i](isa, 1, 4, -1, x, x, x, x, x, 1) == bad, "rung %d: -1 steps", i);                           \
            CHECK(rungs[i](isa, 1, 4, 1, x, x, x, x, x, 0) == bad, "rung %d: no thread", i);                           \
            CHECK(rungs[i](isa, 1, 4, 1, NULL, x, x, x, x, 1) == bad, "rung %d: no a", i);                             \
            CHECK(rungs[i](isa, 1, 4, 1, x, NULL, x, x, x, 1) == bad, "rung %d: no b", i);                             \
            CHECK(rungs[i](isa, 1, 4, 1, x, x, NULL, x, x, 1) == bad, "rung %d: no c", i);                             \
            CHECK(rungs[i](isa, 1, 4, 1, x, x, x, NULL, x, 1) == bad, "rung %d: no u", i);                             \
            CHECK(rungs[i](isa, 1, 4, 1, x, x, x, x, NULL, 1) == bad, "rung %d: no work", i);                          \
            CHECK(rungs[i](CPU_AVX_ISAS, 1, 4, 1, x, x, x, x, x, 1) == CPU_AVX_BAD_ISA, "rung %d: isa %d", i,          \
                  CPU_AVX_ISAS);                                                                                       \
            CHECK(rungs[i](-1, 1, 4, 1, x, x, x, x, x, 1) == CPU_AVX_BAD_ISA, "rung %d: isa -1", i);                   \
            CHECK(rungs[i](isa, 0, 4, 1, NULL, NULL, NULL, NULL, NULL, 1) == 0, "rung %d: an empty batch", i);         \
        }                                                                                                              \
        CHECK(cpu_avx_explicit4_##SUFFIX(isa, 1, 1, 0, 1, x, x, x, 1) == bad, "H 0");                                  \
        CHECK(cpu_avx_explicit4_##SUFFIX(isa, 1, 1, 33, 1, x, x, x, 1) == bad, "H 33");                                \
        CHECK(cpu_avx_explicit4_##SUFFIX(isa, 1, 1, 1, -1, x, x, x, 1) == bad, "-1 sweeps");                           \
        CHECK(cpu_avx_explicit4_##SUFFIX(isa, 1, 1, 1, 1, NULL, x, x, 1) == bad, "no band");                           \
        CHECK(cpu_avx_explicit4_##SUFFIX(isa, 1, 1, 1, 1, x, NULL, x, 1) == bad, "no u");                              \
        CHECK(cpu_avx_explicit4_##SUFFIX(isa, 1, 1, 1, 1, x, x, NULL, 1) == bad, "no work");                           \
        CHECK(cpu_avx_explicit4_##SUFFIX(99, 1, 1, 1, 1, x, x, x, 1) == CPU_AVX_BAD_ISA, "isa 99");                    \
        CHECK(x[0] == 1 && x[3] == 1, "a refused call wrote");                                                         \
    }
DEFINE_ARGUMENTS(arguments_f32, float, f32)
DEFINE_ARGUMENTS(arguments_f64, double, f64)

/* ---- the model problem ------------------------------------------------------------------------------------------- */

/* Computes rows of (I + A)^m - I within H points of the diagonal. The diagonal is such that the rounded row sums to
   what it should. */
static void compose(bs1d_model model, int H, int m, int precision, double *band)
{
    const int n = model.points, width = 2 * H + 1;
    double sum = 0;
    for (int s = 0; s < m; s++) sum -= model.discount * (1 + sum);
    for (int j = 0; j < n; j++) {
        double w[2 * MOST_H + 1] = {0}, next[2 * MOST_H + 3], diagonal = sum;
        w[H] = 1;
        for (int s = 0; s < m; s++) {
            memset(next, 0, sizeof next);
            for (int k = 0; k < width; k++) {
                double a, b, c;
                bs1d_lane_row(model, j + k - H, &a, &b, &c);
                next[k] += w[k] * a, next[k + 1] += w[k] * (1 + b), next[k + 2] += w[k] * c;
            }
            memcpy(w, next + 1, (size_t)width * sizeof *w);
        }
        for (int k = 0; k < width; k++) {
            double rounded = precision ? w[k] : as_float(w[k]);
            band[j * width + k] = rounded;
            if (k != H) diagonal -= rounded;
        }
        band[j * width + H] = diagonal;
    }
}

/* Makes two options, the second worth twice the first. */
static batch model_batch(int is_implicit, int H)
{
    case_option o = case_model(is_implicit);
    double dt = o.maturity / o.steps, ds = o.top / 255;
    bs1d_model model = {0.5 * o.volatility * o.volatility * dt, 0.5 * o.rate * dt, o.rate * dt, 256, 0};
    batch m = batch_new(2, 256, o.steps, H);
    for (int i = 0; i < 512; i++) {
        int j = i % 256;
        bs1d_lane_row(model, j, &m.a[i], &m.b[i], &m.c[i]);
        if (is_implicit) m.a[i] = -m.a[i], m.b[i] = 1 - m.b[i], m.c[i] = -m.c[i];
        m.u[i] = (1 + i / 256) * bs1d_lane_payoff(0, o.strike, ds, 256, j);
    }
    return m;
}

/* Compares with the exact answer: in double precision to 1e-11. In single precision the value near 10 is rounded in
   each step, and the coefficients once; the reciprocal of AVX, which is an ulp off, adds another rounding to each. */
static void check_model(int rung, int precision, int isa, const double *u)
{
    int is_implicit = rung >= IMPLICIT1;
    double tolerance = precision ? 1e-11 : isa == CPU_AVX_AVX && rung == IMPLICIT2 ? 2.5e-4 : 6e-5;
    for (int i = 0; i < 2; i++) {
        double at_strike = (u[256 * i + 127] + u[256 * i + 128]) / 2 / (1 + i);
        check_near(at_strike, case_exact(is_implicit), tolerance, "model problem, %s %s %s, option %d", rung_name[rung],
                   precision_name[precision], cpu_avx_name(isa), i);
    }
}

static void test_model_problem(void)
{
    static const int composed_of[2] = {31, 8}; /* steps in a band of 17 diagonals: nothing that matters is cut off */
    static double u[512];
    batch m[2] = {model_batch(0, 8), model_batch(1, 0)};
    for (int precision = 0; precision < 2; precision++) {
        case_option o = case_model(0);
        double dt = o.maturity / o.steps;
        bs1d_model model = {0.5 * o.volatility * o.volatility * dt, 0.5 * o.rate * dt, o.rate * dt, 256, 0};
        compose(model, 8, composed_of[precision], precision, m[0].band);
        memcpy(m[0].band + 256 * 17, m[0].band, 256 * 17 * sizeof *m[0].band);
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
            for (int rung = 0; rung < RUNGS; rung++) {
                batch now = m[rung >= IMPLICIT1];
                /* explicit3 marches W options even if there are two, which takes long under the sanitizers. */
                if (rung == EXPLICIT3 && cpu_next(isa) >= 0) continue;
                if (rung == EXPLICIT4) now.steps = o.steps / composed_of[precision];
                CHECK(run_of[precision](rung, isa, &now, u, 0) == 0, "%s on the model problem", rung_name[rung]);
                if (rung == EXPLICIT4 && o.steps % composed_of[precision]) {
                    now.u = u;
                    now.steps = o.steps % composed_of[precision];
                    run_of[precision](EXPLICIT2, isa, &now, u, 0);
                }
                check_model(rung, precision, isa, u);
            }
        }
    }
    free(m[0].a);
    free(m[1].a);
}

/* ---- the processor's mode ---------------------------------------------------------------------------------------- */

/* Checks that a march leaves the control register as it was, whatever that was, and that meanwhile subnormal numbers
   count as 0, except in plain C. */
#if CPU_AVX_X86 || CPU_AVX_ARM
/* Bits that flush results, that flush operands (on Arm one bit for both), and that round down; and raised exceptions,
   which stay raised. */
#if CPU_AVX_X86
enum { MODE_RESULTS = 0x8000, MODE_OPERANDS = 0x40, MODE_DOWN = 0x2000, MODE_RAISED = 0x3f };
enum { MODE_OVERFLOWED = 0x8, MODE_INEXACT = 0x20 };
#else /* Arm has the exceptions in another register */
enum { MODE_RESULTS = 0x1000000, MODE_OPERANDS = MODE_RESULTS, MODE_DOWN = 0x800000, MODE_RAISED = 0 };
enum { MODE_OVERFLOWED = 0, MODE_INEXACT = 0 };
#endif

static unsigned mode_now(void)
{
#if CPU_AVX_X86
    unsigned mode;
    __asm__ volatile("stmxcsr %0" : "=m"(mode));
#else
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
#endif
    return (unsigned)mode;
}
static void mode_set(unsigned mode)
{
#if CPU_AVX_X86
    __asm__ volatile("ldmxcsr %0" ::"m"(mode));
#else
    __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)mode));
#endif
}
/* Returns whether a mode stays as it is set. Valgrind keeps only the rounding, and LLVM's OpenMP runtime clears raised
   exceptions at the end of a parallel region of one thread. */
static int mode_stays(unsigned mode)
{
    const unsigned usual = mode_now();
    int stays = 0;
    mode_set(mode);
    CPU_AVX_P_OMP(omp parallel for num_threads(1))
    for (int i = 0; i < 1; i++) stays = 1;
    stays = stays && mode_now() == mode;
    mode_set(usual);
    return stays;
}

/* Makes three options. Numbers of two are so small that they count as 0, though a step makes them a million times as
   large; one of their rows may be bad. The numbers of the third are 1/3, which only the march rounds. */
static batch mode_batch(int implicit, int bad)
{
    enum { N = 20, H = 2, WIDTH = 2 * H + 1 };
    const double third = as_float(1.0 / 3), larger = as_float(implicit ? 1e-6 : 1e6);
    batch m = batch_new(3, N, 1, H);
    for (int i = 0; i < 3 * N; i++) {
        const int rounded = i >= 2 * N;
        m.a[i] = m.c[i] = 0, m.u[i] = rounded ? third : as_float(1e-40);
        m.b[i] = !rounded ? larger : implicit ? 3 : third;
        for (int k = 0; k < WIDTH; k++) m.band[i * WIDTH + k] = k != H ? 0 : rounded ? third : 1e6;
    }
    if (bad) m.b[N] = 0;
    return m;
}

static void test_mode(void)
{
    static const unsigned more[] = {0, MODE_RESULTS, MODE_OPERANDS, MODE_RESULTS | MODE_OPERANDS, MODE_DOWN};
    const unsigned usual = mode_now() & ~(unsigned)MODE_RAISED;
    const int flushes = mode_stays(usual | MODE_RESULTS | MODE_OPERANDS);
    const unsigned raises = mode_stays(usual | MODE_OVERFLOWED) ? MODE_OVERFLOWED | MODE_INEXACT : 0;
    int stays[5];
    if (!raises) check_skip(1, "exceptions that stay raised: the mode has none here, or OpenMP clears them");
    for (int k = 0; k < 5; k++) {
        stays[k] = mode_stays(usual | more[k]);
        if (!stays[k]) check_skip(1, "the processor's mode %x, which does not stay here", usual | more[k]);
    }
    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa))
        for (int rung = 0; rung < RUNGS; rung++)
            for (int k = 0; k < 5; k++)
                for (int bad = 0; bad < (stays[k] ? 1 + (rung >= IMPLICIT1) : 0); bad++) {
                    batch m = mode_batch(rung >= IMPLICIT1, bad);
                    double got[60];
                    float tiny = 0;
                    mode_set(usual | more[k] | (raises & MODE_OVERFLOWED));
                    int status = run_of[0](rung, isa, &m, got, 0);
                    const unsigned after = mode_now();
                    mode_set(usual);
                    CHECK(((after ^ (usual | more[k])) & ~(unsigned)MODE_RAISED) == 0, "%s %s: mode %x becomes %x",
                          rung_name[rung], cpu_avx_name(isa), usual | more[k], after);
                    CHECK((after & raises) == raises, "%s %s: of what was raised before or is now, %x is left",
                          rung_name[rung], cpu_avx_name(isa), after & MODE_RAISED);
                    CHECK(status == 2 * bad, "%s %s: status %d", rung_name[rung], cpu_avx_name(isa), status);
                    for (int i = 0; i < 20; i++) tiny = fmaxf(tiny, (float)fabs(got[i]));
                    CHECK(isa == CPU_AVX_PLAIN || tiny == 0 || !flushes, "%s %s: 1e-40 becomes %g", rung_name[rung],
                          cpu_avx_name(isa), (double)tiny);
                    free(m.a);
                }
}
#else
static void test_mode(void)
{
    check_skip(1, "the mode of the processor: neither x86 nor 64-bit Arm");
}
#endif

int main(void)
{
    printf("seed %d\n", SEED);
    test_mode();
    cpu_skips();
    test_shapes();
    test_bad_pivots();
    arguments_f32();
    arguments_f64();
    test_model_problem();
    return check_report();
}
