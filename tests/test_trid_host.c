/* test_trid_host.c - trid.h in plain C11: host and lane scope, in both precisions.
   MIT licence, see LICENSE.

   Run from the repository root, or with KNOWN_ANSWERS in the environment naming the file with the known answers.
   The file includes itself once for each precision, as trid.h does. Arrays are allocated as long as the header says and
   no longer, so that the address sanitizer sees any overrun. */
#ifndef REAL
#include "trid.h"
#include "trid/slabs.h"

#include "check.h"
#include "trid_cases.h"

#include <float.h>
#include <limits.h>

#ifndef KNOWN_ANSWERS
#define KNOWN_ANSWERS "tests/known/trid.txt"
#endif

enum { SEED = 20240607 };

/* The ways to solve a system in host or lane scope. */
enum method {
    THOMAS,
    PCR,
    HYBRID,
    REFINED,     /* trid_host_hybrid_refined */
    LANE_THOMAS, /* strided */
    FACTORED,    /* trid_lane_factor and trid_lane_solve */
    FACTORED_STRIDED,
    FACTORED_IN_PLACE,
    SECTIONS, /* trid_lane_reduce, _link, _pcr_step and _expand put together by hand */
    ENDS,     /* trid_host_interface_reduce and _expand_ends, reduced systems by trid_host_thomas */
    WEIGHED,  /* the same with trid_host_interface_factor and _weigh_ends */
    METHODS
};

static const char *const method_name[METHODS] = {"thomas",      "pcr",      "hybrid",           "refined",
                                                 "lane_thomas", "factored", "factored strided", "factored in place",
                                                 "sections",    "ends",     "weighed ends"};

static int depends_on_rows_per_lane(int method)
{
    return method == HYBRID || method == REFINED || method >= SECTIONS;
}

/* Returns whether a method eliminates in the order of Thomas, and so stops at the very same row. */
static int eliminates_in_order(int method)
{
    return method != PCR && !depends_on_rows_per_lane(method);
}

/* A number that is recognised where nobody should have written. */
static const double untouched = -12345.0;

/* Returns the error allowed. In dominant systems, backward errors of elimination without pivoting are a few roundoffs,
   and PCR adds some in each of log2 n steps; the error of the solution may be `condition` times as large. */
static double tolerance(int n, double condition, double roundoff)
{
    return (4 + log2(n + 1.0)) * condition * roundoff;
}

#define REAL float
#define F(stem) stem##_f32
#define ROUNDOFF (FLT_EPSILON / 2)
#define IS_FLOAT 1
#define SMALLEST FLT_MIN
#define LARGEST FLT_MAX
#include "test_trid_host.c"
#undef REAL
#undef F
#undef ROUNDOFF
#undef IS_FLOAT
#undef SMALLEST
#undef LARGEST

#define REAL double
#define F(stem) stem##_f64
#define ROUNDOFF (DBL_EPSILON / 2)
#define IS_FLOAT 0
#define SMALLEST DBL_MIN
#define LARGEST DBL_MAX
#include "test_trid_host.c"

static void test_status_strings(void)
{
    CHECK(TRID_OK == 0 && TRID_BAD_ARGUMENT == -1, "the names of the values");
    CHECK(strcmp(trid_status_string(0), "solved") == 0, "status 0 is \"%s\"", trid_status_string(0));
    CHECK(strstr(trid_status_string(3), "pivot") != NULL, "status 3 is \"%s\"", trid_status_string(3));
    CHECK(strstr(trid_status_string(-1), "argument") != NULL, "status -1 is \"%s\"", trid_status_string(-1));
}

static void test_finite(void)
{
    const double finite[] = {0, -1, FLT_MAX, -FLT_MIN}, not_finite[] = {INFINITY, -INFINITY, NAN, -NAN};
    for (int i = 0; i < 4; i++) {
        CHECK(trid_finite_f32((float)finite[i]) && trid_finite_f64(finite[i]), "%g is finite", finite[i]);
        CHECK(!trid_finite_f32((float)not_finite[i]) && !trid_finite_f64(not_finite[i]), "%g is not", not_finite[i]);
    }
    CHECK(trid_finite_f64(DBL_MAX), "the largest number is finite");
}

int main(void)
{
    printf("seed %d\n", SEED);
    test_status_strings();
    test_finite();
    test_all_f32();
    test_all_f64();
    if (check_short())
        check_skip(3,
                   "four of five random systems of more than 70 rows; of those of more than 33 most rows a lane; two "
                   "of three that are hardly dominant: SHORT_TESTS is set");
    return check_report();
}

#else /* REAL: the tests, in this precision */

/* ---- a system in this precision, and all solvers by one function ------------------------------------------------ */

/* Copies `count` elements to elements that are stride apart, with NaN in between. */
static REAL *F(copy)(const double *from, int count, int stride)
{
    size_t length = count > 0 ? (size_t)(count - 1) * (size_t)stride + 1 : 0;
    REAL *to = case_memory(length * sizeof *to);
    for (size_t i = 0; i < length; i++) to[i] = i % (size_t)stride ? (REAL)NAN : (REAL)from[i / (size_t)stride];
    return to;
}

static REAL *F(fresh)(size_t count)
{
    REAL *memory = case_memory(count * sizeof *memory);
    for (size_t i = 0; i < count; i++) memory[i] = (REAL)untouched;
    return memory;
}

typedef struct {
    int n, stride;
    REAL *a, *b, *c, *d;
} F(arrays);

/* Makes the arrays of a system. The array c ends before c[n-1], so that the sanitizer sees whoever reads that; a[0] is
   NaN. */
static F(arrays) F(arrays_of)(case_system s, int stride)
{
    F(arrays)
    all = {s.n,
           stride,
           F(copy)(s.a, s.n, stride),
           F(copy)(s.b, s.n, stride),
           F(copy)(s.c, s.n - 1, stride),
           F(copy)(s.d, s.n, stride)};
    return all;
}

static void F(free_arrays)(F(arrays) all)
{
    free(all.a);
    free(all.b);
    free(all.c);
    free(all.d);
}

static int F(solve_factored)(F(arrays) s, int in_place, REAL *x)
{
    size_t length = s.n > 0 ? (size_t)(s.n - 1) * (size_t)s.stride + 1 : 0;
    REAL *l = in_place ? s.a : F(fresh)(length), *r = in_place ? s.b : F(fresh)(length);
    REAL *q = in_place ? s.c : F(fresh)(length);
    int status = F(trid_lane_factor)(s.n, s.a, s.b, s.c, l, r, q, s.stride);
    if (!status && s.n > 0 && !in_place) {
        REAL last = q[(s.n - 1) * s.stride];
        CHECK(l[0] == (REAL)untouched && last == (REAL)untouched, "factor wrote a corner, n %d", s.n);
    }
    if (!status) F(trid_lane_solve)(s.n, l, r, q, s.d, x, s.stride);
    if (!in_place) {
        free(l);
        free(r);
        free(q);
    }
    return status;
}

/* Makes one PCR step after another over m rows with unit diagonal, in the slow and obvious way. */
static int F(pcr_by_hand)(int m, REAL *a, REAL *c, REAL *d)
{
    size_t bytes = (size_t)m * sizeof *a;
    REAL *old_a = case_memory(bytes), *old_c = case_memory(bytes), *old_d = case_memory(bytes);
    int status = 0;
    for (int s = 1; s < m; s *= 2) {
        memcpy(old_a, a, bytes);
        memcpy(old_c, c, bytes);
        memcpy(old_d, d, bytes);
        for (int j = 0; j < m; j++) {
            int up = j - s, down = j + s;
            int bad = F(trid_lane_pcr_step)(&a[j], &c[j], &d[j], up < 0 ? 0 : old_a[up], up < 0 ? 0 : old_c[up],
                                            up < 0 ? 0 : old_d[up], down < m ? old_a[down] : 0,
                                            down < m ? old_c[down] : 0, down < m ? old_d[down] : 0);
            if (bad && !status) status = 1 + j;
        }
    }
    free(old_a);
    free(old_c);
    free(old_d);
    return status;
}

/* Solves by partitions of K rows, the last one padded with identity rows, as lanes do. */
static int F(solve_sections)(F(arrays) s, int K, REAL *x)
{
    int sections = s.n > 0 ? (s.n - 1) / K + 1 : 0, rows = sections * K, status = 0;
    REAL *a = F(fresh)((size_t)rows), *b = F(fresh)((size_t)rows), *c = F(fresh)((size_t)rows);
    REAL *d = F(fresh)((size_t)rows), *la = F(fresh)((size_t)sections), *lc = F(fresh)((size_t)sections);
    REAL *ld = F(fresh)((size_t)sections);
    for (int j = 0; j < rows; j++) {
        a[j] = j > 0 && j < s.n ? s.a[j] : 0;
        b[j] = j < s.n ? s.b[j] : 1;
        c[j] = j < s.n - 1 ? s.c[j] : 0;
        d[j] = j < s.n ? s.d[j] : 0;
    }
    for (int i = 0; i < sections; i++) {
        int first = i * K, bad = F(trid_lane_reduce)(K, a + first, b + first, c + first, d + first);
        if (bad && !status) status = first + bad;
    }
    for (int i = 0; i < sections; i++) {
        int last = i * K + K - 1, next = last + 1 < rows ? last + 1 : -1;
        la[i] = a[last], lc[i] = c[last], ld[i] = d[last];
        if (K == 1) continue;
        int bad = F(trid_lane_link)(&la[i], &lc[i], &ld[i], next < 0 ? 0 : a[next], next < 0 ? 0 : c[next],
                                    next < 0 ? 0 : d[next]);
        if (bad && !status) status = 1 + last;
    }
    int bad = F(pcr_by_hand)(sections, la, lc, ld);
    if (bad && !status) status = bad * K < s.n ? bad * K : s.n;
    for (int i = 0; i < sections; i++)
        F(trid_lane_expand)(K, a + i * K, c + i * K, d + i * K, i > 0 ? ld[i - 1] : 0, ld[i]);
    for (int j = 0; j < s.n; j++) x[j] = d[j];
    free(a), free(b), free(c), free(d), free(la), free(lc), free(ld);
    return status;
}

/* Solves by partitions of K rows (at least two); the last one has the remaining rows. */
static int F(solve_ends)(F(arrays) s, int K, int weighed, REAL *x)
{
    const int rows = K < 2 ? 2 : K, sections = s.n / rows > 1 ? s.n / rows : 1, m = 2 * sections;
    if (s.n < 2) return F(solve_factored)(s, 0, x); /* a system of one row does not have two ends */
    REAL *a = F(fresh)((size_t)m), *b = F(fresh)((size_t)m), *c = F(fresh)((size_t)m), *d = F(fresh)((size_t)m);
    REAL *ends = F(fresh)((size_t)m), *u = F(fresh)((size_t)s.n), *v = F(fresh)((size_t)s.n);
    int status = 0;
    for (int i = 0; i < sections; i++) {
        const int at = i * rows, last = i == sections - 1, n = last ? s.n - at : rows, e = 2 * i;
        const int flags = (i == 0 ? TRID_PARTITION_FIRST : 0) | (last ? TRID_PARTITION_LAST : 0);
        int reach[2] = {n, n}, bad; /* a call that is refused leaves reach alone */
        if (weighed) {
            bad = F(trid_host_interface_factor)(n, flags, s.a + at, s.b + at, s.c + at, u, v, a + e, c + e, reach);
            const int near = reach[0] < n && reach[1] < n;
            F(trid_host_interface_weigh)(n, u, v, s.d + at, near ? reach[0] : n, near ? reach[1] : n, d + e);
        } else {
            bad = F(trid_host_interface_reduce)(n, flags, s.a + at, s.b + at, s.c + at, s.d + at, a + e, c + e, d + e);
        }
        if (bad && !status) status = at + bad;
        b[e] = b[e + 1] = 1;
    }
    int bad = F(trid_host_thomas)(m, a, b, c, d, ends, u);
    if (bad && !status) { /* the first or the last row of a partition */
        const int i = (bad - 1) / 2, at = i * rows;
        status = bad % 2 ? at + 1 : i == sections - 1 ? s.n : at + rows;
    }
    for (int i = 0; i < sections; i++) {
        const int at = i * rows, n = i == sections - 1 ? s.n - at : rows;
        bad = F(trid_host_interface_expand)(n, s.a + at, s.b + at, s.c + at, s.d + at, ends + 2 * i, x + at, v);
        if (bad && !status) status = at + bad;
    }
    free(a), free(b), free(c), free(d), free(ends), free(u), free(v);
    return status;
}

static int F(dispatch)(enum method method, int K, F(arrays) s, REAL *x)
{
    size_t n = (size_t)s.n, length = n > 0 ? (n - 1) * (size_t)s.stride + 1 : 0;
    size_t work_length = method == PCR       ? 8 * n
                         : method == HYBRID  ? F(trid_host_hybrid_len)(s.n, K)
                         : method == REFINED ? F(trid_host_hybrid_refined_len)(s.n, K)
                                             : length;
    REAL *work = F(fresh)(work_length);
    int status = -2;
    if (method == THOMAS) status = F(trid_host_thomas)(s.n, s.a, s.b, s.c, s.d, x, work);
    if (method == PCR) status = F(trid_host_pcr)(s.n, s.a, s.b, s.c, s.d, x, work);
    if (method == HYBRID) status = F(trid_host_hybrid)(s.n, K, s.a, s.b, s.c, s.d, x, work);
    if (method == REFINED) status = F(trid_host_hybrid_refined)(s.n, K, s.a, s.b, s.c, s.d, x, work);
    if (method == LANE_THOMAS) status = F(trid_lane_thomas)(s.n, s.a, s.b, s.c, s.d, x, work, s.stride);
    if (method == FACTORED || method == FACTORED_STRIDED) status = F(solve_factored)(s, 0, x);
    if (method == FACTORED_IN_PLACE) status = F(solve_factored)(s, 1, x);
    if (method == SECTIONS) status = F(solve_sections)(s, K, x);
    if (method == ENDS || method == WEIGHED) status = F(solve_ends)(s, K, method == WEIGHED, x);
    free(work);
    return status;
}

/* Solves s into x (n elements), and again into d itself; the two must agree to the last bit. Nothing around x or
   between its elements may be touched. */
static int F(solve)(enum method method, int K, case_system system, double *x)
{
    enum { GUARD = 2 };
    int stride = method == LANE_THOMAS || method == FACTORED_STRIDED ? 3 : 1;
    size_t length = system.n > 0 ? (size_t)(system.n - 1) * (size_t)stride + 1 : 0;

    F(arrays) apart = F(arrays_of)(system, stride), aliased = F(arrays_of)(system, stride);
    REAL *guarded = F(fresh)(length + 2 * GUARD);
    int status = F(dispatch)(method, K, apart, guarded + GUARD);
    int status_aliased = F(dispatch)(method, K, aliased, aliased.d);
    CHECK(status == status_aliased, "%s: status %d, but %d with x = d", method_name[method], status, status_aliased);

    int stray = 0, differ = 0;
    for (size_t i = 0; i < length + 2 * GUARD; i++) {
        int inside = i >= GUARD && i < GUARD + length && (i - GUARD) % (size_t)stride == 0;
        if (!inside && guarded[i] != (REAL)untouched) stray++;
    }
    for (int j = 0; j < system.n; j++) {
        REAL value = guarded[GUARD + j * stride];
        x[j] = (double)value;
        if (!status && memcmp(&value, &aliased.d[j * stride], sizeof value) != 0) differ++;
    }
    CHECK(stray == 0, "%s n %d: wrote outside x %d times", method_name[method], system.n, stray);
    CHECK(differ == 0, "%s n %d K %d: %d rows differ with x = d", method_name[method], system.n, K, differ);
    free(guarded);
    F(free_arrays)(apart);
    F(free_arrays)(aliased);
    return status;
}

/* ---- solutions -------------------------------------------------------------------------------------------------- */

/* Compares the residual of the header with that of an independent formula. Both are normalised, so the tolerance does
   not contain the condition number. */
static void F(check_residual)(case_system s, const double *x, const char *name)
{
    F(arrays) all = F(arrays_of)(s, 1);
    REAL *rounded = F(copy)(x, s.n, 1);
    long double independent = case_residual(s, x);
    double from_header = F(trid_host_residual)(s.n, all.a, all.b, all.c, all.d, rounded);
    double allowed = tolerance(s.n, 1, ROUNDOFF);
    CHECK(independent <= allowed, "%s n %d: residual %Lg > %g", name, s.n, independent, allowed);
    /* The header sums in double, so the two differ by a few of its roundoffs, relative to the same maximum. */
    check_near(from_header, (double)independent, 4 * DBL_EPSILON, "%s n %d: residual by the header", name, s.n);
    free(rounded);
    F(free_arrays)(all);
}

static void F(check_solution)(enum method method, int K, case_system s, const long double *want, double condition)
{
    double *x = case_memory((size_t)s.n * sizeof *x);
    int status = F(solve)(method, K, s, x);
    double allowed = tolerance(s.n, condition, ROUNDOFF);
    long double error = case_error(s.n, x, want);
    CHECK(status == 0, "%s n %d K %d: status %d", method_name[method], s.n, K, status);
    CHECK(error <= allowed, "%s n %d K %d: error %Lg > %g", method_name[method], s.n, K, error, allowed);
    F(check_residual)(s, x, method_name[method]);
    free(x);
}

static void F(check_every_method)(case_system s, const long double *want, double condition)
{
    static const int rows_per_lane[] = {1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 100000};
    for (int method = 0; method < METHODS; method++) {
        int count = depends_on_rows_per_lane(method) ? (int)(sizeof rows_per_lane / sizeof *rows_per_lane) : 1;
        for (int i = 0; i < count; i++) {
            const int others = s.n > 70 ? 6 : s.n > 33 ? 3 : 1;
            if (check_short() && count > 1 && (i + s.n + method) % others) continue;
            F(check_solution)((enum method)method, rows_per_lane[i], s, want, condition);
        }
    }
}

static void F(test_random_systems)(void)
{
    static const int larger[] = {511, 512, 513, 1000, 1024, 4096, 10007};
    const double dominance = 1.25;
    case_random random = {SEED};
    for (int i = 0; i <= 300 + (int)(sizeof larger / sizeof *larger); i++) {
        int n = i <= 300 ? i : larger[i - 301];
        if (check_short() && n > 70 && i % 5 != IS_FLOAT && n != 255 && n != 256 && n != 257) continue;
        case_system s = case_dominant(&random, n, dominance, IS_FLOAT);
        long double *want = case_memory((size_t)n * sizeof *want);
        CHECK(case_reference(s, want), "n %d: the reference calls a dominant matrix singular", n);
        F(check_every_method)(s, want, case_condition(dominance));
        free(want);
        case_free(s);
    }
}

static int F(read_row)(FILE *file, case_system s, int j, long double *want)
{
    char word[4][64], solution[64];
    if (fscanf(file, " %63s %63s %63s %63s %63s", word[0], word[1], word[2], word[3], solution) != 5) return 0;
    s.a[j] = strtod(word[0], NULL);
    s.b[j] = strtod(word[1], NULL);
    s.c[j] = strtod(word[2], NULL);
    s.d[j] = strtod(word[3], NULL);
    want[j] = strtold(solution, NULL);
    return 1;
}

/* Compares with the known solution. growth, from the model, is the factor by which relative errors in the entries grow
   in the solution. Rounding entries to float is such an error too. */
static void F(check_known)(case_system s, const long double *want, const char *solvers, double growth)
{
    if (IS_FLOAT) case_round_to_float(s);
    if (strcmp(solvers, "all") == 0) {
        F(check_every_method)(s, want, growth);
        return;
    }
    for (int method = 0; method < METHODS; method++)
        if (eliminates_in_order(method)) F(check_solution)((enum method)method, 1, s, want, growth);
}

static void F(test_known_answers)(void)
{
    const char *path = getenv("KNOWN_ANSWERS") ? getenv("KNOWN_ANSWERS") : KNOWN_ANSWERS;
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL, "cannot open %s", path)) return;
    char line[256], name[64], solvers[16];
    int n, systems = 0;
    double growth;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "system %63s %d %15s %lf", name, &n, solvers, &growth) != 4) continue;
        case_system s = case_new(n);
        long double *want = case_memory((size_t)n * sizeof *want);
        int complete = 1;
        for (int j = 0; j < n; j++) complete = complete && F(read_row)(file, s, j, want);
        if (CHECK(complete, "%s: %s breaks off", path, name)) F(check_known)(s, want, solvers, growth);
        systems++;
        free(want);
        case_free(s);
    }
    fclose(file);
    CHECK(systems >= 8, "%s holds %d systems", path, systems);
}

/* Tests an open end: with up = (-1, 0, 0) the coupling up stays as it is while the coupling down moves on, and vice
   versa. All numbers are powers of two or small multiples of them, so the results are exact. */
static void F(test_open_ends)(void)
{
    REAL a = 3, c = (REAL)0.5, d = 7;
    int bad = F(trid_lane_pcr_step)(&a, &c, &d, -1, 0, 0, 1, 4, 2); /* pivot 1 - 3*0 - 0.5*1 = 0.5 */
    CHECK(!bad && a == 6 && c == -4 && d == 12, "open above: %g %g %g", (double)a, (double)c, (double)d);
    a = (REAL)0.5, c = 3, d = 7;
    bad = F(trid_lane_pcr_step)(&a, &c, &d, 4, 1, 2, 0, -1, 0);
    CHECK(!bad && a == -4 && c == 6 && d == 12, "open below: %g %g %g", (double)a, (double)c, (double)d);
    a = 3, c = 5, d = 7;
    bad = F(trid_lane_pcr_step)(&a, &c, &d, -1, 0, 0, 0, -1, 0);
    CHECK(!bad && a == 3 && c == 5 && d == 7, "open on both sides: %g %g %g", (double)a, (double)c, (double)d);
}

/* ---- matrices that are only just dominant ------------------------------------------------------------------------ */

/* Returns the largest residual, in roundoffs, of some random systems with about 7000 rows in all. */
static double F(worst_residual)(enum method method, int K, int kind, double excess, int most_rows)
{
    case_random random = {SEED + 2};
    double worst = 0;
    for (int i = 0; i < 14000 / most_rows; i++) {
        case_system s = case_weak(&random, 3 + case_below(&random, most_rows - 2), kind, excess, IS_FLOAT);
        double *x = case_memory((size_t)s.n * sizeof *x);
        int status = F(solve)(method, K, s, x);
        CHECK(status == 0, "%s K %d, %s, 1 + %g: status %d", method_name[method], K, case_kind_name[kind], excess,
              status);
        worst = (double)case_larger(worst, case_residual(s, x) / ROUNDOFF);
        free(x);
        case_free(s);
    }
    return worst;
}

/* Tests residuals where dominance is weak. They obey the law of docs/hybrid.md, which is at most ten times too large
   where couplings are rough. Thomas at any dominance, and one step of refinement as long as the law squared is small
   against 1 / roundoff, leave the residual of rounding x to working precision: half a roundoff for each of three terms
   and their sum, and some more for the operations. */
static void F(test_weak_dominance)(void)
{
    static const int rows_per_lane[] = {1, 2, 4, 8, 16, 32};
    const double excess[] = {1e-3, 1e-5, 1e-7};
    const double few = 4;
    for (int e = 0; e < 3; e++) {
        for (int kind = 0; kind < CASE_KINDS; kind++) {
            for (int k = 0; k < 6; k++) {
                if (check_short() && (e + kind + k) % 3) continue;
                int K = rows_per_lane[k];
                double law = case_law(K, excess[e]), got = F(worst_residual)(HYBRID, K, kind, excess[e], 150);
                CHECK(got <= law, "%s 1 + %g, K %d: %g roundoffs, the law allows %g", case_kind_name[kind], excess[e],
                      K, got, law);
                if (kind == CASE_ROUGH && K <= 4)
                    CHECK(got >= law / 10, "1 + %g, K %d: %g roundoffs, the law says %g", excess[e], K, got, law);
                if (law * law * ROUNDOFF > 0.01) continue;
                got = F(worst_residual)(REFINED, K, kind, excess[e], 150);
                CHECK(got <= few, "%s 1 + %g, K %d refined: %g roundoffs", case_kind_name[kind], excess[e], K, got);
            }
            for (int method = 0; method < METHODS; method++) {
                if (!eliminates_in_order((enum method)method)) continue;
                if (check_short() && (e + kind + method) % 3) continue;
                double got = F(worst_residual)((enum method)method, 1, kind, excess[e], 150);
                CHECK(got <= few, "%s 1 + %g, %s: %g roundoffs", case_kind_name[kind], excess[e], method_name[method],
                      got);
            }
        }
    }
}

/* Tests that with a shorter last partition the residual obeys the law for rows_per_lane. The law for the partition's
   own two rows would allow 8843 roundoffs, where 16 rows a lane allow 53. */
static void F(test_short_sections)(void)
{
    enum { K = 16 };
    const double excess = 1e-5, law = case_law(K, excess), few = 4;
    case_random random = {SEED + 3};
    for (int m = 1; m < K; m++) {
        double hybrid = 0, refined = 0, x[3 * K];
        for (int i = 0; i < 100; i++) {
            case_system s = case_weak(&random, 2 * K + m, CASE_ROUGH, excess, IS_FLOAT);
            s.b[0] = -(1 + excess) * s.c[0]; /* no more dominant than the others */
            s.b[s.n - 1] = -(1 + excess) * s.a[s.n - 1];
            if (IS_FLOAT) case_round_to_float(s);
            CHECK(F(solve)(HYBRID, K, s, x) == 0, "n mod K = %d", m);
            hybrid = (double)case_larger(hybrid, case_residual(s, x) / ROUNDOFF);
            CHECK(F(solve)(REFINED, K, s, x) == 0, "n mod K = %d, refined", m);
            refined = (double)case_larger(refined, case_residual(s, x) / ROUNDOFF);
            case_free(s);
        }
        CHECK(hybrid <= law && refined <= few, "n mod K = %d: %g roundoffs, refined %g", m, hybrid, refined);
    }
}

/* Tests matrices with equal rows: their errors are equal too, and cancel in the residual at any dominance, even at
   1. */
static void F(test_constant_matrices)(void)
{
    const double excess[] = {1e-3, 1e-5, 1e-7, 0};
    for (int e = 0; e < 4; e++) {
        for (int most_rows = 60; most_rows <= 6000; most_rows *= 10) {
            double one = F(worst_residual)(PCR, 1, CASE_CONSTANT, excess[e], most_rows);
            double two = F(worst_residual)(HYBRID, 2, CASE_CONSTANT, excess[e], most_rows);
            double eight = F(worst_residual)(HYBRID, 8, CASE_CONSTANT, excess[e], most_rows);
            double refined = F(worst_residual)(REFINED, 1, CASE_CONSTANT, excess[e], most_rows);
            CHECK(one <= 40 && two <= 40 && eight <= 4 && refined <= 4, "1 + %g, %d rows: %g, %g, %g, refined %g",
                  excess[e], most_rows, one, two, eight, refined);
        }
    }
}

/* Tests a matrix whose first rows lose their diagonal to rounding: pivots that are tiny but not zero pass, and the
   residual and the dominance show it. */
static void F(test_tiny_pivots_pass)(void)
{
    float a[] = {0, 1, 1, 1}, b[] = {2, 0.5000001f, 2, 2}, c[] = {1, 1, 1, 0}, d[] = {1, 1, 1, 1}, x[4], work[4];
    int status = trid_host_thomas_f32(4, a, b, c, d, x, work);
    double residual = trid_host_residual_f32(4, a, b, c, d, x), dominance = trid_host_dominance_f32(4, a, b, c);
    CHECK(status == 0, "a tiny pivot gives status %d", status);
    check_near(residual, 0.083, 0.001, "a tiny pivot's residual");
    check_near(dominance, 0.25, 1e-6, "a tiny pivot's dominance");

    double sa[] = {0, 0.3}, sb[] = {0.1, 0.9}, sc[] = {0.3, 0}, sd[] = {1, 1}, sx[2], swork[2];
    status = trid_host_thomas_f64(2, sa, sb, sc, sd, sx, swork);
    CHECK(status == 0 && fabs(sx[0]) > 1e15, "singular but for rounding: status %d, x %g", status, sx[0]);
    dominance = trid_host_dominance_f64(2, sa, sb, sc);
    CHECK(dominance < 1, "singular, and of dominance %g", dominance);
}

/* Tests rows of very different scales, where dividing a coupling by another row's pivot would underflow. */
static void F(test_scales_of_rows)(void)
{
    const double small = IS_FLOAT ? 1e-20 : 1e-150, large = IS_FLOAT ? 1e30 : 1e250;
    double a[] = {NAN, 0, large, small, NAN}, b[] = {3 * small, large, 3 * large, 3 * small};
    double c[] = {small, 0, large, NAN}, d[] = {4 * small, large, 5 * large, 4 * small}, x[4];
    case_system s = {4, a, b, c, d};
    for (int method = 0; method < METHODS; method++) {
        for (int K = 1; K <= (depends_on_rows_per_lane(method) ? 4 : 1); K++) {
            int status = F(solve)((enum method)method, K, s, x);
            CHECK(status == 0, "%s K %d: status %d for rows of different scales", method_name[method], K, status);
            for (int j = 0; j < 4; j++)
                check_near(x[j], 1, 8 * ROUNDOFF, "%s K %d: row %d of different scales", method_name[method], K, j);
        }
    }
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

/* Puts a pivot into row `at` and returns the status of the method. */
static int F(status_with_pivot)(enum method method, int K, int n, int at, double pivot)
{
    case_system s = case_new(n);
    double *x = case_memory((size_t)n * sizeof *x);
    for (int j = 0; j < n; j++) s.a[j] = s.c[j] = 0.25, s.b[j] = s.d[j] = 1;
    s.b[at] = pivot;
    s.a[at] = s.c[at] = 0; /* uncoupled, so that no order of elimination avoids the pivot */
    case_close_corners(s);
    int status = F(solve)(method, K, s, x);
    free(x);
    case_free(s);
    return status;
}

static void F(test_bad_pivots)(void)
{
    /* The last two are so small that their reciprocals are infinite. */
    const double bad[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, SMALLEST / 64, -SMALLEST / 64};
    static const int sizes[] = {1, 2, 3, 9, 40}, rows_per_lane[] = {1, 2, 3, 8, 100};
    for (int method = 0; method < METHODS; method++) {
        for (int k = 0; k < (depends_on_rows_per_lane(method) ? 5 : 1); k++) {
            for (int i = 0; i < 5; i++) {
                int n = sizes[i], K = rows_per_lane[k], places[] = {0, n / 2, n - 1};
                for (int p = 0; p < 3; p++) {
                    for (int v = 0; v < (int)(sizeof bad / sizeof *bad); v++) {
                        int status = F(status_with_pivot)((enum method)method, K, n, places[p], bad[v]);
                        int right = eliminates_in_order(method) ? status == 1 + places[p] : status >= 1 && status <= n;
                        CHECK(right, "%s n %d K %d: pivot %g in row %d gives status %d", method_name[method], n, K,
                              bad[v], places[p], status);
                    }
                }
            }
        }
    }
}

/* Checks that the one test of the reciprocal agrees with all four (both numbers are finite and not zero), for every
   exponent, and for the reciprocals that the device makes of 0, subnormal, huge and infinite pivots
   (docs/reciprocal.md). */
static void F(test_verdict_on_pivots)(void)
{
    const int lowest = IS_FLOAT ? -149 : -1074, highest = IS_FLOAT ? 128 : 1024;
    const double mantissa[] = {1, 1.25, 1.9999998, -1, -1.5};
    const REAL inf = (REAL)INFINITY, nan = (REAL)NAN;
    for (int e = lowest; e <= highest; e++) {
        for (int m = 0; m < 5; m++) {
            REAL pivot = (REAL)ldexp(mantissa[m], e), r = F(trid_rcp)(pivot);
            int good = isfinite(pivot) && isfinite(r) && pivot != 0 && r != 0;
            CHECK(F(trid_bad_pivot)(r) == !good, "pivot %g with the reciprocal %g", (double)pivot, (double)r);
        }
    }
    const REAL bad[] = {0, -(REAL)0, inf, -inf, nan, -nan};
    for (int i = 0; i < 6; i++) {
        CHECK(F(trid_bad_pivot)(bad[i]), "the reciprocal %g passes", (double)bad[i]);
        CHECK(F(trid_bad_pivot)(F(trid_rcp)(bad[i])), "the pivot %g passes", (double)bad[i]);
    }
}

/* Checks that on the host small and large pivots are good if they have a reciprocal, even a subnormal one. */
static void F(test_extreme_pivots)(void)
{
    const double good[] = {SMALLEST, -SMALLEST / 2, LARGEST, -LARGEST};
    for (int method = 0; method < METHODS; method++) {
        for (int v = 0; v < 4; v++) {
            int status = F(status_with_pivot)((enum method)method, 1, 1, 0, good[v]);
            CHECK(status == 0, "%s: pivot %g gives status %d", method_name[method], good[v], status);
        }
    }
}

/* Checks that Thomas reports the first bad row, and does not touch the rows from there on. */
static void F(test_thomas_stops)(void)
{
    REAL a[5] = {(REAL)NAN, 1, 1, 0, 1}, b[5] = {1, 2, 2, 0, 0}, c[5] = {1, 1, 1, 1, (REAL)NAN};
    REAL d[5] = {1, 1, 1, 1, 1}, *x = F(fresh)(5), *work = F(fresh)(5);
    int status = F(trid_lane_thomas)(5, a, b, c, d, x, work, 1);
    CHECK(status == 4, "status %d for a zero in row 3", status);
    CHECK(x[3] == (REAL)untouched && x[4] == (REAL)untouched, "thomas wrote x beyond the bad row");
    CHECK(work[3] == (REAL)untouched && work[4] == (REAL)untouched, "thomas wrote work beyond the bad row");
    free(x);
    free(work);
}

/* Tests a pivot that becomes zero only by elimination: [1 1; 1 1] anywhere among identity rows. */
static void F(test_singular_pairs)(void)
{
    enum { N = 12 };
    double x[N];
    for (int at = 0; at + 1 < N; at++) {
        case_system s = case_singular_pair(N, at);
        for (int method = 0; method < METHODS; method++) {
            for (int K = 1; K <= (depends_on_rows_per_lane(method) ? N + 1 : 1); K++) {
                int status = F(solve)((enum method)method, K, s, x);
                int right = eliminates_in_order(method) ? status == at + 2 : status == at + 1 || status == at + 2;
                CHECK(right, "%s K %d: rows %d and %d are equal, status %d", method_name[method], K, at, at + 1,
                      status);
            }
        }
        case_free(s);
    }
}

/* Checks that trid_lane_reduce goes on after a bad pivot but reports that row, not one that it spoils later. */
static void F(test_reduce_reports_row)(void)
{
    for (int at = 0; at < 6; at++) {
        REAL a[6], b[6], c[6], d[6];
        for (int j = 0; j < 6; j++) a[j] = c[j] = (REAL)0.25, b[j] = d[j] = 1;
        a[at] = b[at] = c[at] = 0;
        int status = F(trid_lane_reduce)(6, a, b, c, d);
        CHECK(status == 1 + at, "zero row %d: status %d", at, status);
    }
}

/* Tests partitions of three rows, the last one shorter. Reduced, they leave x[5] + x[6] = -x[2] and x[5] + x[6] = 1,
   and where they meet row 5 has the pivot 1 - 1 * 1 = 0. All numbers are exact in binary. */
static void F(test_short_section_fails)(void)
{
    double a[] = {NAN, 0, 0, 1, 0.5, 1, 0.5, 1}, b[] = {1, 1, 1, 1, 1, 2, 1, 2};
    double c[] = {0, 0, -0.5, 1, 0.5, 1, 1, NAN}, d[] = {1, 1, 1, 1, 1, 1, 1, 1}, x[8];
    case_system s = {8, a, b, c, d};
    int status = F(solve)(HYBRID, 3, s, x);
    CHECK(status == 6, "zero pivot of row 5, which meets the last section: status %d", status);
}

/* Tests that the order of elimination matters: 1 - a[2] c[1] - c[2] a[3] = 0 stops PCR in row 2, but in the order of
   Thomas no pivot is zero. */
static void F(test_order_matters)(void)
{
    double a[] = {NAN, -1, 0.5, 0.5}, b[] = {1, 1, 1, 1}, c[] = {1, 1, 1, NAN}, d[] = {1, 2, -1, 4}, x[4];
    case_system s = {4, a, b, c, d};
    for (int method = 0; method < METHODS; method++) {
        int status = F(solve)((enum method)method, 1, s, x);
        CHECK(status == (eliminates_in_order(method) || method > SECTIONS ? 0 : 3), "%s: status %d",
              method_name[method], status);
    }
}

static void F(test_arguments)(void)
{
    REAL one[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, x[1] = {0};
    CHECK(F(trid_host_thomas)(-1, 0, 0, 0, 0, 0, 0) == -1, "thomas, n = -1");
    CHECK(F(trid_host_pcr)(-1, 0, 0, 0, 0, 0, 0) == -1, "pcr, n = -1");
    CHECK(F(trid_host_hybrid)(-1, 4, 0, 0, 0, 0, 0, 0) == -1, "hybrid, n = -1");
    CHECK(F(trid_host_hybrid)(1, 0, one, one, one, one, x, one) == -1, "hybrid, rows_per_lane = 0");
    CHECK(F(trid_host_hybrid)(0, 0, 0, 0, 0, 0, 0, 0) == -1, "hybrid, n = 0 and rows_per_lane = 0");
    CHECK(F(trid_host_hybrid)(1, -3, one, one, one, one, x, one) == -1, "hybrid, rows_per_lane = -3");
    CHECK(F(trid_host_hybrid)((1 << 29) + 1, (1 << 30) + 1, 0, 0, 0, 0, 0, 0) == -1, "hybrid, partitions too long");
    CHECK(F(trid_lane_thomas)(-1, 0, 0, 0, 0, 0, 0, 1) == -1, "lane_thomas, n = -1");
    CHECK(F(trid_lane_factor)(-1, 0, 0, 0, 0, 0, 0, 1) == -1, "lane_factor, n = -1");
    CHECK(F(trid_host_hybrid_refined)(-1, 4, 0, 0, 0, 0, 0, 0) == -1, "refined, n = -1");
    CHECK(F(trid_host_hybrid_refined)(1, 0, one, one, one, one, x, one) == -1, "refined, rows_per_lane = 0");
    CHECK(F(trid_host_hybrid_refined)(0, 0, 0, 0, 0, 0, 0, 0) == -1, "refined, n = 0 and rows_per_lane = 0");
    CHECK(F(trid_host_hybrid_refined)(0, 4, 0, 0, 0, 0, 0, 0) == 0, "refined, n = 0");
    CHECK(F(trid_host_thomas)(INT_MIN, 0, 0, 0, 0, 0, 0) == -1, "thomas, the least n");
    CHECK(F(trid_host_hybrid_refined)(INT_MIN, 4, 0, 0, 0, 0, 0, 0) == -1, "refined, the least n");
    CHECK(F(trid_host_thomas)(0, 0, 0, 0, 0, 0, 0) == 0, "thomas, n = 0");
    CHECK(F(trid_host_pcr)(0, 0, 0, 0, 0, 0, 0) == 0, "pcr, n = 0");
    CHECK(F(trid_host_hybrid)(0, 4, 0, 0, 0, 0, 0, 0) == 0, "hybrid, n = 0");
    CHECK(F(trid_lane_thomas)(0, 0, 0, 0, 0, 0, 0, 1) == 0, "lane_thomas, n = 0");
    CHECK(F(trid_lane_factor)(0, 0, 0, 0, 0, 0, 0, 1) == 0, "lane_factor, n = 0");
    F(trid_lane_solve)(0, 0, 0, 0, 0, 0, 1);
}

static void F(test_work_lengths)(void)
{
    const struct {
        int n, K;
        size_t length;
    } cases[] = {{0, 4, 0},  {-3, 4, 0}, {5, 0, 0},  {5, -1, 0},  {1, 1, 10},
                 {8, 1, 80}, {8, 8, 38}, {9, 8, 48}, {16, 8, 76}, {17, 100, 74}};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        size_t length = F(trid_host_hybrid_len)(cases[i].n, cases[i].K);
        CHECK(length == cases[i].length, "hybrid_len(%d, %d) is %zu", cases[i].n, cases[i].K, length);
        size_t refined = F(trid_host_hybrid_refined_len)(cases[i].n, cases[i].K);
        size_t more = length > 0 ? 2 * (size_t)cases[i].n : 0;
        CHECK(refined == length + more, "hybrid_refined_len(%d, %d) is %zu", cases[i].n, cases[i].K, refined);
    }
    size_t largest = F(trid_host_hybrid_len)(2147483647, 1); /* must not overflow an int on the way */
    CHECK(largest == (size_t)10 * 2147483647u, "hybrid_len of the largest n is %zu", largest);
    largest = F(trid_host_hybrid_refined_len)(2147483647, 1);
    CHECK(largest == (size_t)12 * 2147483647u, "hybrid_refined_len of the largest n is %zu", largest);
}

/* Checks that NaN or infinity in d is not a failure, and shows in x. */
static void F(test_bad_right_hand_sides)(void)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    static const int sizes[] = {1, 2, 5, 33};
    case_random random = {SEED + 1};
    for (int i = 0; i < 4; i++) {
        for (int place = 0; place < sizes[i]; place += sizes[i] / 3 + 1) {
            for (int v = 0; v < 3; v++) {
                case_system s = case_dominant(&random, sizes[i], 2, IS_FLOAT);
                s.d[place] = bad[v];
                for (int method = 0; method < METHODS; method++) {
                    double x[33];
                    int status = F(solve)((enum method)method, 4, s, x), finite = 1;
                    for (int j = 0; j < s.n; j++) finite = finite && isfinite(x[j]);
                    CHECK(status == 0, "%s: %g in d gives status %d", method_name[method], bad[v], status);
                    CHECK(!finite, "%s n %d: %g in d[%d] has vanished", method_name[method], s.n, bad[v], place);
                }
                case_free(s);
            }
        }
    }
}

/* ---- residual and dominance, worked by hand --------------------------------------------------------------------- */

static void F(test_residual_values)(void)
{
    REAL nan = (REAL)NAN;
    REAL a[3] = {nan, 1, 2}, b[3] = {2, 4, -4}, c[3] = {1, -1, nan}, d[3] = {3, 2, -3}, x[3] = {1, 1, 1};
    /* A x - d = 0, 2, 1; |A||x| + |d| = 6, 8, 9 */
    check_near(F(trid_host_residual)(3, a, b, c, d, x), 2.0 / 9, 1e-15, "residual of three rows");
    check_near(F(trid_host_residual)(0, 0, 0, 0, 0, 0), 0, 0, "residual of none");
    x[0] = -1; /* -3 + ... : A x - d = -4, 0, 1; sizes 6, 8, 9 */
    check_near(F(trid_host_residual)(3, a, b, c, d, x), 4.0 / 9, 1e-15, "negative residual");
    REAL one = 1, zero = 0, big = (REAL)LARGEST, small = (REAL)SMALLEST;
    check_near(F(trid_host_residual)(1, &nan, &zero, &nan, &zero, &one), 0, 0, "residual of zeros");
    check_near(F(trid_host_residual)(1, &nan, &one, &nan, &one, &zero), 1, 0, "residual of x = 0");
    check_near(F(trid_host_residual)(1, &nan, &small, &nan, &small, &zero), 1, 0, "residual of tiny numbers");
    {
        double huge[2] = {1e308, 1}, five[2] = {1, 5}, none[2] = {0, 0}, inf[2] = {0, HUGE_VAL};
        CHECK(trid_host_residual_f64(2, none, huge, none, huge, five) > 1, "a sum that overflows is no small residual");
        double ratio = trid_host_dominance_f64(2, inf, inf, none);
        CHECK(!(ratio > 1), "inf / inf is not dominant: %g", ratio);
    }
    if (IS_FLOAT) check_near(F(trid_host_residual)(1, &nan, &big, &nan, &zero, &big), 1, 0, "residual of huge numbers");
    CHECK(isnan(F(trid_host_residual)(1, &nan, &nan, &nan, &one, &one)), "residual with NaN in b");

    for (int place = 0; place < 3; place++) {
        REAL *arrays[5] = {a, b, c, d, x};
        for (int i = 0; i < 5; i++) {
            if ((i == 0 && place == 0) || (i == 2 && place == 2)) continue; /* a[0] and c[n-1] are not used */
            REAL kept = arrays[i][place];
            arrays[i][place] = nan;
            CHECK(isnan(F(trid_host_residual)(3, a, b, c, d, x)), "residual with NaN in array %d row %d", i, place);
            arrays[i][place] = kept;
        }
    }
}

static void F(test_lane_residual_values)(void)
{
    REAL nan = (REAL)NAN;
    REAL a[3] = {nan, 1, 2}, b[3] = {2, 4, -4}, c[3] = {1, -1, nan}, d[3] = {3, 2, -3}, x[3] = {1, 1, 1}, r[3];
    REAL error, size;
    /* d - A x = 0, -2, -1; |A||x| + |d| = 6, 8, 9 */
    F(trid_lane_residual)(3, 0, 3, a, b, c, d, x, nan, nan, r, &error, &size);
    CHECK(r[0] == 0 && r[1] == -2 && r[2] == -1, "residual %g %g %g", (double)r[0], (double)r[1], (double)r[2]);
    CHECK(error == 2 && size == 9, "error %g, size %g", (double)error, (double)size);
    /* The same rows in the middle of a system: left = 10, right = 100. */
    a[0] = 5, c[2] = 7;
    F(trid_lane_residual)(3, 3, 9, a, b, c, d, x, 10, 100, r, &error, &size);
    CHECK(r[0] == -50 && r[1] == -2 && r[2] == -701, "inside: %g %g %g", (double)r[0], (double)r[1], (double)r[2]);
    CHECK(error == 701 && size == 709, "inside: error %g, size %g", (double)error, (double)size);
    /* Its second row is the last: c[1] and all of the third row are not read. */
    c[1] = a[2] = b[2] = c[2] = d[2] = x[2] = nan;
    F(trid_lane_residual)(3, 3, 5, a, b, c, d, x, 10, nan, d, &error, &size);
    CHECK(d[0] == -50 && d[1] == -3 && d[2] == 0, "at the end: %g %g %g", (double)d[0], (double)d[1], (double)d[2]);
    CHECK(error == 50 && size == 56, "at the end: error %g, size %g", (double)error, (double)size);
    F(trid_lane_residual)(3, 6, 5, a, b, c, d, x, nan, nan, d, &error, &size);
    CHECK(error == 0 && size == 0 && d[0] == 0 && d[2] == 0, "beyond the end: error %g, size %g", (double)error,
          (double)size);

    REAL inf = (REAL)INFINITY;
    CHECK(F(trid_larger)(-3, 2) == 3 && F(trid_larger)(2, -3) == 3 && F(trid_larger)(0, 0) == 0,
          "the larger of 2 and 3");
    CHECK(F(trid_larger)(-inf, 2) == inf && F(trid_larger)(2, inf) == inf, "the larger of 2 and inf");
    CHECK(isnan(F(trid_larger)(nan, inf)) && isnan(F(trid_larger)(inf, -nan)) && isnan(F(trid_larger)(nan, 0)),
          "NaN is larger than inf");
}

static void F(test_dominance_values)(void)
{
    REAL nan = (REAL)NAN;
    REAL a[3] = {nan, 1, -2}, b[3] = {-6, 4, 5}, c[3] = {2, -1, nan}; /* 6/2, 4/2, 5/2 */
    check_near(F(trid_host_dominance)(3, a, b, c), 2, 0, "dominance of three rows");
    b[0] = 1;
    check_near(F(trid_host_dominance)(3, a, b, c), 0.5, 0, "dominance in the first row");
    b[0] = -6, b[2] = (REAL)0.5;
    check_near(F(trid_host_dominance)(3, a, b, c), 0.25, 0, "dominance in the last row");
    CHECK(F(trid_host_dominance)(0, 0, 0, 0) == HUGE_VAL, "dominance of none");
    REAL one = 1, zero = 0;
    CHECK(F(trid_host_dominance)(1, &nan, &one, &nan) == HUGE_VAL, "dominance of a diagonal matrix");
    CHECK(F(trid_host_dominance)(1, &nan, &zero, &nan) == 0, "dominance of a zero row");
    REAL za[2] = {nan, 0}, zb[2] = {0, 1}, zc[2] = {0, nan}, wide[2] = {(REAL)LARGEST, (REAL)LARGEST};
    CHECK(F(trid_host_dominance)(2, za, zb, zc) == 0, "dominance with a zero row among others");
    zc[0] = 1;
    check_near(F(trid_host_dominance)(2, za, wide, zc), LARGEST, 0, "dominance of huge pivots");
    zc[0] = (REAL)SMALLEST;
    check_near(F(trid_host_dominance)(2, za, zb, zc), 0, 0, "dominance, tiny coupling of a zero row");
    zb[0] = 1;
    check_near(F(trid_host_dominance)(2, za, zb, zc), 1 / (double)SMALLEST, 0, "dominance of tiny couplings");
    for (int place = 0; place < 3; place++) {
        REAL *arrays[3] = {a, b, c};
        for (int i = 0; i < 3; i++) {
            if ((i == 0 && place == 0) || (i == 2 && place == 2)) continue;
            REAL kept = arrays[i][place];
            arrays[i][place] = nan;
            CHECK(isnan(F(trid_host_dominance)(3, a, b, c)), "dominance with NaN in array %d row %d", i, place);
            arrays[i][place] = kept;
        }
    }
}

static void F(test_all)(void)
{
    F(test_known_answers)();
    F(test_random_systems)();
    F(test_open_ends)();
    F(test_bad_pivots)();
    F(test_verdict_on_pivots)();
    F(test_extreme_pivots)();
    F(test_thomas_stops)();
    F(test_singular_pairs)();
    F(test_reduce_reports_row)();
    F(test_short_section_fails)();
    F(test_order_matters)();
    F(test_arguments)();
    F(test_work_lengths)();
    F(test_bad_right_hand_sides)();
    F(test_weak_dominance)();
    F(test_short_sections)();
    F(test_constant_matrices)();
    F(test_tiny_pivots_pass)();
    F(test_scales_of_rows)();
    F(test_residual_values)();
    F(test_lane_residual_values)();
    F(test_dominance_values)();
}

#endif
