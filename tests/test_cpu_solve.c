/* test_cpu_solve.c - the tridiagonal solvers of cpu_avx.h: every instruction set, both precisions.
   MIT licence, see LICENSE.

   Solutions are known. They are small integers, and coefficients are multiples of 1/8, so that the right-hand sides are
   exact. The arrays hold exactly what the lines need, between guard words, at all alignments. What lies between the
   systems, a[0] and c[n-1] are NaN, and the gaps of x must stay as they were. The file includes itself once for each
   precision. */
#ifndef REAL
#define _DEFAULT_SOURCE
#define CPU_AVX_STREAM_BYTES 2048 /* stores past the caches even for small arrays */
static int thread_rows = 1;       /* and threads even for few rows */
#define CPU_AVX_THREAD_ROWS thread_rows
#include "cpu_cases.h"
#include "random.h"
#include "trid.h"

#include <float.h>

enum { SEED = 20240703, LAYOUTS = 7 };
enum method { THOMAS, IN_PLACE, SOLVE, SOLVE_IN_PLACE, HYBRID, HYBRID_IN_PLACE };
static const char *const method_name[] = {"thomas",         "thomas in place", "solve",
                                          "solve in place", "hybrid",          "hybrid in place"};

/* Returns the error allowed. In dominant systems, backward errors of elimination without pivoting are a few roundoffs;
   the reciprocals add as many, and each step of parallel cyclic reduction some more. Scaled to a unit diagonal, the
   matrices have norms of at most 5/3 and inverses of at most 3, hence condition number 5; solutions are at most 5. */
static double tolerance(double n, double roundoff)
{
    return (8 + 2 * log2(n + 1.0)) * 5 * 5 * roundoff;
}

static int faulty_pivot; /* the way in which the next system loses its solution */

#define REAL float
#define F(stem) stem##_f32
#define ROUNDOFF (FLT_EPSILON / 2)
#define SMALLEST FLT_TRUE_MIN
#include "test_cpu_solve.c"
#undef REAL
#undef F
#undef ROUNDOFF
#undef SMALLEST

#define REAL double
#define F(stem) stem##_f64
#define ROUNDOFF (DBL_EPSILON / 2)
#define SMALLEST DBL_TRUE_MIN
#include "test_cpu_solve.c"

/* Checks that the functions that return lines describe each element of an array once, and only those that they
   should. */
static void test_lines(void)
{
    const cpu_avx_lines all[] = {cpu_avx_lines_contiguous(3, 20), cpu_avx_lines_interleaved(5, 12),
                                 cpu_avx_lines_axis(3, 4, 5, 0), cpu_avx_lines_axis(3, 4, 5, 1),
                                 cpu_avx_lines_axis(3, 4, 5, 2)};
    for (int which = 0; which < 5; which++) {
        cpu_avx_lines l = all[which];
        int seen[60] = {0}, wrong = l.n * l.systems * l.groups != 60;
        for (long long i = 0; i < 60 && !wrong; i++) {
            long long j = i % l.n, s = i / l.n % l.systems, g = i / l.n / l.systems;
            long long at = j * l.step + s * l.stride + g * l.jump, x = at % 3, y = at / 3 % 4, z = at / 12;
            long long row = which == 0 || which == 2 ? x : which == 1 ? at / 12 : which == 3 ? y : z;
            wrong = at < 0 || at >= 60 || seen[at]++ || row != j;
        }
        CHECK(!wrong, "lines %d", which);
    }
    cpu_avx_lines none = cpu_avx_lines_axis(3, 4, 5, 3);
    CHECK(none.n < 0, "axis 3 is taken");
    CHECK(cpu_avx_lines_axis(-3, -4, 5, 2).n < 0 && cpu_avx_lines_axis(3, -4, -5, 0).n < 0, "negative sizes are taken");
    for (int which = 0; which < 9; which++) {
        const int axis = which / 3, empty = which % 3;
        none = cpu_avx_lines_axis(3 * (empty != 0), 4 * (empty != 1), 5 * (empty != 2), axis);
        CHECK(none.n == 0 || none.systems == 0, "axis %d of no points", axis);
    }
}

int main(void)
{
    printf("seed %d\n", SEED);
    test_lines();
    cpu_skips();
    test_all_f32();
    test_all_f64();
    return check_report();
}

#else /* REAL: the tests, in this precision */

/* Contiguous systems, each with its own matrix, or all with the first one's. */
typedef struct {
    long long n, systems;
    REAL *a, *b, *c, *d, *x;
} F(batch);

static F(batch) F(new_batch)(case_random *random, long long n, long long systems, int one)
{
    F(batch) s = {n, systems, 0, 0, 0, 0, 0};
    size_t count = (size_t)(n * systems);
    s.a = (REAL *)malloc((5 * count + 1) * sizeof(REAL));
    s.b = s.a + count;
    s.c = s.b + count;
    s.d = s.c + count;
    s.x = s.d + count;
    for (size_t i = 0; i < count; i++) {
        size_t j = i % (size_t)n;
        s.a[i] = one && i >= (size_t)n ? s.a[j] : (REAL)(case_below(random, 17) - 8) / 8;
        s.c[i] = one && i >= (size_t)n ? s.c[j] : (REAL)(case_below(random, 17) - 8) / 8;
        s.b[i] = (REAL)(1 + case_below(random, 17) / 8.0 + fabs((double)s.a[i]) + fabs((double)s.c[i]));
        if (case_below(random, 2)) s.b[i] = -s.b[i];
        if (one && i >= (size_t)n) s.b[i] = s.b[j];
        s.x[i] = (REAL)(case_below(random, 11) - 5);
    }
    for (size_t i = 0; i < count; i++) {
        size_t j = i % (size_t)n;
        s.d[i] = s.b[i] * s.x[i];
        if (j > 0) s.d[i] += s.a[i] * s.x[i - 1];
        if (j + 1 < (size_t)n) s.d[i] += s.c[i] * s.x[i + 1];
    }
    for (size_t i = 0; i < count; i += (size_t)n) s.a[i] = s.c[i + (size_t)n - 1] = (REAL)NAN;
    return s;
}

#include "cpu_residual.h"

static size_t F(place)(const cpu_avx_lines *lines, long long system, long long j)
{
    long long s = system % lines->systems, g = system / lines->systems;
    return (size_t)(j * lines->step + s * lines->stride + g * lines->jump);
}

/* Copies an array to the layout of the lines, with NaN in the gaps. */
static guarded F(spread)(const cpu_avx_lines *lines, const F(batch) * s, const REAL *from, size_t offset)
{
    size_t count = s->n && s->systems ? F(place)(lines, lines->systems - 1, s->n - 1) + 1 : 0;
    if (count && lines->groups > 1) count = F(place)(lines, s->systems - 1, s->n - 1) + 1;
    guarded g = guard(count * sizeof(REAL), offset * sizeof(REAL));
    for (long long i = 0; from && i < s->systems; i++)
        for (long long j = 0; j < s->n; j++) ((REAL *)g.at)[F(place)(lines, i, j)] = from[i * s->n + j];
    return g;
}

/* Runs a method on the batch and compares the results, except those of systems marked in `faulty`. */
static void F(check_lines)(int isa, int method, const cpu_avx_lines *lines, const F(batch) * s, size_t offset,
                           int threads, const char *faulty, int want)
{
    const int in_place = method % 2, across = method >= HYBRID;
    int one = method == SOLVE || method == SOLVE_IN_PLACE;
    char what[200];
    snprintf(what, sizeof what, "%s %s_f%d {%lld, %lld, %lld, %lld, %lld, %lld} at %d, %d threads", cpu_avx_name(isa),
             method_name[method], 8 * (int)sizeof(REAL), lines->n, lines->step, lines->systems, lines->stride,
             lines->groups, lines->jump, (int)offset, threads);
    guarded d = F(spread)(lines, s, s->d, offset), x = F(spread)(lines, s, 0, in_place ? 0 : offset / 2 * 2), f, work;
    int status, raised;
    if (one) {
        f = guard((size_t)CPU_AVX_FACTOR_LEN(s->n) * sizeof(REAL), offset * sizeof(REAL));
        work = guard(F(cpu_avx_solve_bytes)(lines, threads), offset);
        if (s->systems) CHECK(F(cpu_avx_factor)(s->n, s->a, s->b, s->c, (REAL *)f.at) == 0, "%s: factor", what);
        feclearexcept(FE_ALL_EXCEPT);
        status = F(cpu_avx_solve)(isa, lines, (REAL *)f.at, (REAL *)d.at, (REAL *)(in_place ? d.at : x.at), work.at,
                                  threads);
        raised = fetestexcept(CPU_RAISED_BY_BAD);
        unguard(&f, "f of %s", what);
    } else {
        guarded a = F(spread)(lines, s, s->a, offset), b = F(spread)(lines, s, s->b, offset);
        guarded c = F(spread)(lines, s, s->c, offset);
        REAL *to = (REAL *)(in_place ? d.at : x.at);
        work =
            guard(across ? F(cpu_avx_hybrid_bytes)(lines, threads) : F(cpu_avx_thomas_bytes)(lines, threads), offset);
        feclearexcept(FE_ALL_EXCEPT);
        status = (across ? F(cpu_avx_hybrid) : F(cpu_avx_thomas))(isa, lines, (REAL *)a.at, (REAL *)b.at, (REAL *)c.at,
                                                                  (REAL *)d.at, to, work.at, threads);
        raised = fetestexcept(CPU_RAISED_BY_BAD);
        unguard(&a, "a of %s", what);
        unguard(&b, "b of %s", what);
        unguard(&c, "c of %s", what);
    }
    CHECK(want || !raised, "%s: raises exceptions %x", what, (unsigned)raised);
    CHECK(status == want, "%s: status %d, not %d", what, status, want);
    const REAL *got = (const REAL *)(in_place ? d.at : x.at);
    size_t count = (in_place ? d.bytes : x.bytes) / sizeof(REAL), written = 0;
    double error = 0;
    for (long long i = 0; i < s->systems; i++) {
        for (long long j = 0; j < s->n; j++) {
            double e = fabs((double)got[F(place)(lines, i, j)] - (double)s->x[i * s->n + j]);
            if (faulty && faulty[i]) continue;
            if (!(e <= error)) error = e;
        }
    }
    for (size_t i = 0; i < count; i++) {
        unsigned char byte[sizeof(REAL)];
        size_t k = 0;
        memcpy(byte, got + i, sizeof byte);
        while (k < sizeof byte && byte[k] == 0xff) k++;
        written += k < sizeof byte;
    }
    check_near(error, 0, tolerance((double)s->n, ROUNDOFF), "%s: x", what);
    if (!faulty) CHECK(written == (size_t)(s->n * s->systems), "%s: %d elements written", what, (int)written);
    unguard(&d, "d of %s", what);
    unguard(&x, "x of %s", what);
    unguard(&work, "work of %s", what);
}

/* Returns one of the layouts of a batch; paddings vary from call to call. */
static cpu_avx_lines F(layout)(int which, long long n, long long systems)
{
    long long padded = (systems + 31) / 16 * 16, row = (n + 31) / 16 * 16;
    cpu_avx_lines side = {n, systems, systems, 1, 1, 0};            /* interleaved, without gaps */
    cpu_avx_lines side_padded = {n, padded, systems, 1, 1, 0};      /* rows of whole cache lines, with gaps */
    cpu_avx_lines rows = {n, 1, systems, n, 1, 0};                  /* contiguous */
    cpu_avx_lines rows_padded = {n, 1, systems, row, 1, 0};         /* from whole cache line to whole cache line */
    cpu_avx_lines rows_odd = {n, 1, systems, n + 3, 1, 0};          /* at changing offsets in cache lines */
    cpu_avx_lines apart = {n, 2 * systems + 1, systems, 2, 1, 0};   /* neither step nor stride is 1 */
    cpu_avx_lines alone = {n, systems, systems > 0, 7, systems, 1}; /* groups of one system */
    return which == 0   ? side
           : which == 1 ? side_padded
           : which == 2 ? rows
           : which == 3 ? rows_padded
           : which == 4 ? rows_odd
           : which == 5 ? apart
                        : alone;
}

static void F(test_size)(case_random *random, long long n, long long systems, int turn)
{
    for (int one = 0; one < 2; one++) {
        F(batch) s = F(new_batch)(random, n, systems, one);
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
            if (cpu_left_out(isa)) {
                turn += 3;
                continue;
            }
            for (int k = 0; k < 3; k++, turn++) {
                cpu_avx_lines lines = F(layout)(k == 0   ? turn % 2
                                                : k == 1 ? 2 + turn / 2 % 3
                                                         : turn % LAYOUTS,
                                                n, systems);
                if (lines.groups == 1) lines.groups = turn / 2 % 2; /* 0 means one group too */
                size_t offset = turn / 3 % 4 == 0 ? (size_t)(turn % 16) : 0;
                int method = (one ? SOLVE : THOMAS) + (turn / 4 % 3 == 2);
                F(check_lines)(isa, method, &lines, &s, offset, 1 + turn / 5 % 3, 0, 0);
            }
            cpu_avx_lines any = F(layout)(turn % LAYOUTS, n, systems);
            if (any.groups == 1) any.groups = turn % 2;
            if (!one) F(check_lines)(isa, HYBRID, &any, &s, (size_t)(turn % 3), 1 + turn % 2, 0, 0);
        }
        free(s.a);
    }
}

static void F(test_sizes)(void)
{
    static const int long_n[] = {255, 256, 257, 1040, 2000}, short_n[] = {1, 2, 5, 16, 33};
    static const int batches[] = {1, 3, 8, 16, 17, 32, 33};
    case_random random = {SEED};
    for (int n = 1; n <= 130; n++) F(test_size)(&random, n, batches[n % 7], n);
    for (int i = 0; i < 5; i++)
        for (int systems = 0; systems <= 65; systems++) F(test_size)(&random, short_n[i], systems, i + systems);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) F(test_size)(&random, long_n[i], k ? 35 : 4, i + k);
    F(test_size)(&random, 3, 1111, 0);  /* many tiles, and wide ones */
    F(test_size)(&random, 16, 1100, 0); /* all of the store */
    F(test_size)(&random, 32, 1024, 1);
    F(test_size)(&random, 20, 600, 1);
    F(test_size)(&random, 70, 96, 2);
    F(batch) s = F(new_batch)(&random, (1 << 17) / (int)sizeof(REAL), 7, 1); /* so long that no vectors are used */
    const cpu_avx_lines lines = F(layout)(4, s.n, s.systems);
    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa))
        if (!cpu_left_out(isa)) F(check_lines)(isa, SOLVE_IN_PLACE, &lines, &s, 1, 1, 0, 0);
    free(s.a);
}

/* Solves lines along the axes of a grid, which are groups. */
static void F(test_groups)(void)
{
    case_random random = {SEED + 1};
    static const int sizes[][3] = {{1, 1, 1}, {5, 4, 3}, {16, 7, 5}, {33, 18, 4}, {64, 6, 9}, {300, 5, 2}, {17, 33, 3}};
    for (int i = 0; i < 7; i++) {
        long long nx = sizes[i][0], ny = sizes[i][1], nz = sizes[i][2];
        for (int padding = 0; padding < 2; padding++) {
            /* With padding, rows are whole cache lines, but some planes have an element more: those cannot be stored
               past the caches. */
            long long pitch = padding ? (nx + 31) / 16 * 16 : nx, plane = pitch * (ny + 2 * padding) + i % 2 * padding;
            cpu_avx_lines along[3] = {
                {nx, 1, ny, pitch, nz, plane}, {ny, pitch, nx, 1, nz, plane}, {nz, plane, nx, 1, ny, pitch}};
            for (int axis = 0; axis < 3; axis++)
                for (int one = 0; one < 2; one++) {
                    F(batch) s = F(new_batch)(&random, along[axis].n, along[axis].systems * along[axis].groups, one);
                    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
                        if (cpu_left_out(isa)) continue;
                        F(check_lines)(isa, one ? SOLVE : THOMAS, &along[axis], &s, (size_t)(i % 3), 1 + i % 3, 0, 0);
                        F(check_lines)(isa, one ? SOLVE_IN_PLACE : IN_PLACE, &along[axis], &s, 0, 2, 0, 0);
                        if (!one) F(check_lines)(isa, HYBRID, &along[axis], &s, 0, 2, 0, 0);
                    }
                    free(s.a);
                }
        }
    }
}

/* Spoils row j of system `at`, which then has no solution. */
static void F(spoil)(F(batch) * s, long long at, long long j)
{
    REAL *a = s->a + at * s->n, *b = s->b + at * s->n, *c = s->c + at * s->n;
    switch (faulty_pivot++ % 5) {
    case 0:
        b[j] = (REAL)NAN;
        break;
    case 1:
        b[j] = (REAL)INFINITY;
        break;
    case 2: /* a zero, which no row above changes */
        for (long long i = 0; i < s->n; i++) b[i] = i == j ? 0 : 3, a[i] = i == j ? 2 : 0, c[i] = 0;
        break;
    case 3: /* so small that its reciprocal is infinite */
        for (long long i = 0; i < s->n; i++) b[i] = i == j ? SMALLEST : 3, a[i] = c[i] = 0;
        break;
    default: /* [2 2; 2 2], whose second row has the pivot 0 if the reciprocal is exact; else simply a zero */
        for (long long i = 0; i < s->n; i++) b[i] = 2, a[i] = c[i] = 0;
        if (s->n == 1 || sizeof(REAL) == 4)
            b[j] = 0;
        else
            c[j > 0 ? j - 1 : 0] = a[j > 0 ? j : 1] = 2;
    }
}

/* Spoils one or two systems, the first in this row, or anywhere if `row` is negative. Marks them, and returns the
   status that is due to all marked systems. */
static int F(spoil_two)(case_random *random, F(batch) * s, char *faulty, long long row)
{
    const int first = case_below(random, (int)s->systems), second = case_below(random, (int)s->systems);
    int status = 1;
    F(spoil)(s, first, row < 0 ? case_below(random, (int)s->n) : row);
    if (second != first) F(spoil)(s, second, case_below(random, (int)s->n));
    faulty[first] = faulty[second] = 1;
    while (!faulty[status - 1]) status++;
    return status;
}

static void F(test_singular)(void)
{
    case_random random = {SEED + 2};
    static const int n[] = {1, 2, 3, 16, 31, 50};
    for (int i = 0; i < 6; i++)
        for (int systems = 1; systems <= 65; systems += i == 0 ? 1 : 9)
            for (int kind = 0; kind < 4; kind++) {
                F(batch) s = F(new_batch)(&random, n[i], systems, 0);
                char *faulty = (char *)calloc((size_t)systems, 1);
                int first = case_below(&random, systems), second = case_below(&random, systems);
                F(spoil)(&s, first, case_below(&random, n[i]));
                if (second != first && kind % 2) F(spoil)(&s, second, case_below(&random, n[i]));
                faulty[first] = 1;
                if (kind % 2) faulty[second] = 1;
                int want = 1 + (kind % 2 && second < first ? second : first);
                for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
                    if (cpu_left_out(isa)) continue;
                    for (int which = 0; which < LAYOUTS; which++) {
                        cpu_avx_lines lines = F(layout)(which, n[i], systems);
                        F(check_lines)(isa, which % 2 ? IN_PLACE : THOMAS, &lines, &s, 0, 1 + kind, faulty, want);
                    }
                    cpu_avx_lines rows = F(layout)(2, n[i], systems);
                    F(check_lines)(isa, HYBRID, &rows, &s, 0, 1 + kind, faulty, want);
                }
                free(faulty);
                free(s.a);
            }
    /* a tile of many vectors */
    F(batch) s = F(new_batch)(&random, 6, 1200, 0);
    char faulty[1200] = {0};
    faulty[777] = faulty[1199] = 1;
    F(spoil)(&s, 777, 5);
    F(spoil)(&s, 1199, 0);
    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
        cpu_avx_lines lines = F(layout)(0, 6, 1200);
        F(check_lines)(isa, THOMAS, &lines, &s, 0, 1, faulty, 778);
        F(check_lines)(isa, THOMAS, &lines, &s, 0, 3, faulty, 778);
    }
    free(s.a);
}

/* Tests systems that are cut into partitions: the shortest possible, a row more and less, with tails of all lengths, in
   one tile or more; some with one or two systems that fail, in a partition, a separator or the tail. */
static void F(test_cut)(void)
{
    const int least = 64 * 128 / (int)sizeof(REAL);
    const int sizes[] = {least - 1,     least,         least + 1,     least + 17,
                         2 * least - 1, 3 * least + 5, 9 * least / 2, (1 << 17) / (int)sizeof(REAL) + 333};
    static const int batches[] = {1, 2, 16}; /* 16 make a tile in double precision, which two threads share */
    case_random random = {SEED + 8};
    int turn = 0;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            const int n = sizes[i], systems = batches[k];
            F(batch) s = F(new_batch)(&random, n, systems, 0);
            char *faulty = (char *)calloc((size_t)systems, 1);
            for (int failing = 0; failing < 3; failing++) {
                int want = 0;
                if (failing) {
                    const int rows = n / (128 / (int)sizeof(REAL));
                    const int separator = (1 + case_below(&random, n / rows)) * rows - 1;
                    want = F(spoil_two)(&random, &s, faulty, failing == 1 ? separator : n - 1);
                }
                for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa), turn++) {
                    if (cpu_left_out(isa)) continue;
                    const cpu_avx_lines lines = F(layout)(2 + turn % 3, n, systems);
                    F(check_lines)
                    (isa, turn / 2 % 2 ? THOMAS : IN_PLACE, &lines, &s, (size_t)(turn / 4 % 3), 1 + turn % 3,
                     failing ? faulty : 0, want);
                }
            }
            free(faulty);
            free(s.a);
        }
}

/* Tests interleaved systems that are cut: with rows on cache lines and off them, of a part of a vector and of several,
   in cache and from memory, for more threads than partitions too; some with one or two systems that fail, in a
   partition, a separator or the last row. Rows of any length must be measured. */
static void F(test_cut_rows)(void)
{
    static const int sizes[] = {8193, 12345}, batches[] = {7, 33}, asked[] = {1, 2, 3, 64};
    const cpu_avx_lines wide = cpu_avx_lines_interleaved(9000, 1 << 24);
    case_random random = {SEED + 10};
    int turn = 0;
    CHECK(F(cpu_avx_thomas_bytes)(&wide, 2) > 0, "bytes of %lld systems", wide.systems);
    for (int i = 0; i < 12; i++) {
        const int n = sizes[i % 2], systems = batches[i / 2 % 2], failing = i / 4;
        const int threads = asked[(i + i / 2 + i / 4) % 4];
        const cpu_avx_lines lines = F(layout)((i + turn) % 2, n, systems);
        const cpu_avx_p_cut cut = cpu_avx_p_cut_of(&lines, threads, (int)sizeof(REAL));
        F(batch) s = F(new_batch)(&random, n, systems, 0);
        char *faulty = (char *)calloc((size_t)systems, 1);
        int want = 0;
        CHECK(cut.count > 3 || threads == 1, "%d rows are not cut", n);
        if (failing == 1)
            want = F(spoil_two)(&random, &s, faulty,
                                cut.count ? (1 + case_below(&random, (int)cut.count)) * cut.rows - 1 : -1);
        else if (failing == 2)
            want = F(spoil_two)(&random, &s, faulty, n - 1);
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa), turn++) {
            if (cpu_left_out(isa)) continue;
            F(check_lines)
            (isa, turn / 2 % 2 ? THOMAS : IN_PLACE, &lines, &s, (size_t)(turn / 4 % 3), threads, failing ? faulty : 0,
             want);
        }
        free(faulty);
        free(s.a);
    }
}

/* Tests two to six interleaved systems, which are cut so that a lane holds a partition of all of them: just too short,
   just long enough, with tails and in several tiles, for more threads than tiles too; some with one or two systems that
   fail, in a separator, the last row or anywhere. Systems with gaps between their rows are not cut. */
static void F(test_cut_few)(void)
{
    static const int sizes[] = {8192, 8193, 12345, 40961}, asked[] = {2, 1, 3, 64};
    case_random random = {SEED + 14};
    int turn = 0;
    for (int systems = 2; systems <= 6; systems++)
        for (int i = 0; i < 4; i++, turn++) {
            const int n = sizes[i], threads = asked[turn % 4], failing = (turn + turn / 4) % 4;
            const cpu_avx_lines lines = F(layout)(turn % 7 == 6, n, systems);
            const cpu_avx_p_cut cut = cpu_avx_p_cut_of(&lines, threads, (int)sizeof(REAL));
            const int alone = threads == 1 && systems == 4;
            const int is_cut = n > 8192 && lines.step == systems && !alone;
            F(batch) s = F(new_batch)(&random, n, systems, 0);
            char faulty[6] = {0};
            int want = 0;
            CHECK(is_cut ? cut.count > 1 && cut.per_lane == systems : !cut.count, "%d x %d, %d threads: %d partitions",
                  n, systems, threads, (int)cut.count);
            if (failing == 1)
                want = F(spoil_two)(&random, &s, faulty,
                                    cut.count ? (1 + case_below(&random, (int)cut.count)) * (int)cut.rows - 1 : -1);
            else if (failing > 1)
                want = F(spoil_two)(&random, &s, faulty, failing == 2 ? n - 1 : -1);
            for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
                if (cpu_left_out(isa)) continue;
                F(check_lines)
                (isa, (turn + isa) % 2 ? THOMAS : IN_PLACE, &lines, &s, (size_t)(turn % 3), threads,
                 failing ? faulty : 0, want);
            }
            free(s.a);
        }
}

/* Tests groups of interleaved systems whose rows are shorter than one or two vectors, so that masked vectors reach into
   the next row: in cache, and in arrays that count as lying in memory (CPU_AVX_P_FAR_BYTES). */
static void F(test_short_rows)(void)
{
    static const int systems[] = {3, 7, 13};
    case_random random = {SEED + 16};
    for (int i = 0; i < 3; i++)
        for (int far_away = 0; far_away < 2; far_away++) {
            const long long n = far_away ? 1000 : 37, row = systems[i], jump = row * n + i;
            const long long groups = far_away ? CPU_AVX_P_FAR_BYTES / (n * row * (long long)sizeof(REAL)) + 1 : 5;
            const cpu_avx_lines lines = {n, row, row, 1, groups, jump};
            F(batch) s = F(new_batch)(&random, n, row * groups, 0);
            for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
                if (cpu_left_out(isa)) continue;
                F(check_lines)(isa, THOMAS, &lines, &s, (size_t)i, 1 + i % 2, 0, 0);
                F(check_lines)(isa, IN_PLACE, &lines, &s, 0, 1, 0, 0);
            }
            free(s.a);
        }
}

/* Tests groups of systems that can be cut, which are solved one group after another: contiguous systems, a few
   interleaved ones and more; some with one or two that fail. The work is then that of one group, unless a group is too
   small for the threads. */
static void F(test_cut_groups)(void)
{
    const cpu_avx_lines groups[] = {{2100, 1, 3, 2100, 5, 3 * 2100 + 7},
                                    {2500, 1, 2, 2503, 4, 2 * 2503 + 64},
                                    {8193, 2, 2, 1, 3, 2 * 8193 + 1},
                                    {65537, 3, 3, 1, 2, 3 * 65537 + 2},
                                    {65537, 7, 7, 1, 2, 7 * 65537 + 3}};
    case_random random = {SEED + 15};
    for (int i = 0; i < 5; i++)
        for (int failing = 0; failing < 2; failing++) {
            cpu_avx_lines lines = groups[i], one = lines;
            const int systems = (int)(lines.systems * lines.groups), threads = 1 + (i + failing) % 3;
            F(batch) s = F(new_batch)(&random, lines.n, systems, 0);
            char faulty[16] = {0};
            const int want = failing ? F(spoil_two)(&random, &s, faulty, -1) : 0;
            one.groups = 1;
            CHECK(F(cpu_avx_thomas_bytes)(&lines, threads) == F(cpu_avx_thomas_bytes)(&one, threads), "groups %d", i);
            CHECK(F(cpu_avx_thomas_bytes)(&lines, 1000) > F(cpu_avx_thomas_bytes)(&one, 1), "small groups %d", i);
            for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
                if (cpu_left_out(isa)) continue;
                F(check_lines)
                (isa, (i + isa) % 2 ? THOMAS : IN_PLACE, &lines, &s, (size_t)(i % 3), threads, failing ? faulty : 0,
                 want);
            }
            free(s.a);
        }
}

/* Tests the same with couplings that reach a few rows, then more and more, constant or shared out at random: the
   residual is that of elimination, whether or not systems can be cut. The last kind has blocks of weak and of strong
   dominance. One system is contiguous, three and seven are interleaved; their rows differ by factors. */
static void F(test_weak_cut)(void)
{
    enum { N = 60000, KINDS = 13, SEVEN = 7 };
    case_random random = {SEED + 9};
    double largest = 0;
    REAL *a = (REAL *)malloc(5 * (size_t)N * sizeof(REAL)), *b = a + N, *c = b + N, *d = c + N, *x = d + N;
    REAL *all[5];
    for (int k = 0; k < 5; k++) all[k] = (REAL *)malloc((size_t)N * SEVEN * sizeof(REAL));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int j = 0; j < N; j++) {
            const double share = kind % 2 ? case_between(&random, 0, 1) : 0.5;
            a[j] = (REAL)-share, c[j] = (REAL)(share - 1), d[j] = (REAL)case_between(&random, -1, 1);
            b[j] = (REAL)(1 + (kind == KINDS - 1 ? 2 * (j / 700 % 2) : pow(10, -kind / 2)) + 2 * ROUNDOFF);
        }
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
            if (cpu_left_out(isa)) continue;
            for (int systems = 1; systems <= SEVEN; systems = 2 * systems + 1) {
                const cpu_avx_lines lines = cpu_avx_lines_interleaved(N, systems);
                const int threads = kind / 2 % 3 == 2 ? 64 : 1 + kind / 2 % 3, of = kind % systems;
                void *work = malloc(F(cpu_avx_thomas_bytes)(&lines, threads));
                for (int i = 0; i < N * systems; i++) {
                    const REAL factor = (REAL)(1 << i % systems); /* exact, so that all systems have x of the first */
                    const int j = i / systems;
                    all[0][i] = factor * a[j], all[1][i] = factor * b[j], all[2][i] = factor * c[j];
                    all[3][i] = factor * d[j];
                }
                CHECK(F(cpu_avx_thomas)(isa, &lines, all[0], all[1], all[2], all[3], all[4], work, threads) == 0, "%s",
                      cpu_avx_name(isa));
                for (int j = 0; j < N; j++) x[j] = all[4][j * systems + of];
                const double residual = F(residual_of)(N, a, b, c, d, x);
                check_near(residual, 0, 10, "%s: residual, %d systems of %d rows, kind %d", cpu_avx_name(isa), systems,
                           N, kind);
                if (residual > largest) largest = residual;
                free(work);
            }
        }
    }
    printf("f%d, %d rows: largest residual %.1f roundoffs\n", 8 * (int)sizeof(REAL), N, largest);
    for (int k = 0; k < 5; k++) free(all[k]);
    free(a);
}

/* Solves a system whose rows are weak in one half, which forbids cutting it, and strong in the other, for several
   threads where OpenMP grants one, which then takes all parts: inside a parallel region. */
static void F(test_weak_half)(void)
{
    enum { N = 131072 };
    REAL *a = (REAL *)malloc(5 * (size_t)N * sizeof(REAL)), *b = a + N, *c = b + N, *d = c + N, *x = d + N;
    const cpu_avx_lines lines = cpu_avx_lines_contiguous(N, 1);
    for (int half = 0; half < 2; half++) {
        for (int j = 0; j < N; j++)
            a[j] = c[j] = -1, d[j] = 1, b[j] = (REAL)(j / (N / 2) == half ? 2 + 16 * ROUNDOFF : 4);
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
            if (cpu_left_out(isa)) continue;
            for (int threads = 1; threads <= 4; threads++) {
                void *work = malloc(F(cpu_avx_thomas_bytes)(&lines, threads));
                int status = -1;
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
#pragma omp single
#endif
                status = F(cpu_avx_thomas)(isa, &lines, a, b, c, d, x, work, threads);
                CHECK(status == 0, "%s: status %d", cpu_avx_name(isa), status);
                check_near(F(residual_of)(N, a, b, c, d, x), 0, 10, "%s: residual, %d threads asked, half %d weak",
                           cpu_avx_name(isa), threads, half);
                free(work);
            }
        }
    }
    free(a);
}

/* Solves fewer systems than the threads asked, of so few rows that fewer threads work, each on two systems at a time.
   Threads that overwrote each other's rows did so in one call of seven. */
static void F(test_few_at_work)(void)
{
    enum { N = 500, S = 3, THREADS = 6 };
    const int calls = check_short() ? 200 : 1000;
    case_random random = {SEED + 12};
    REAL *a = (REAL *)malloc(5 * (size_t)N * S * sizeof(REAL)), *b = a + N * S, *c = b + N * S, *d = c + N * S;
    REAL *x = d + N * S;
    const cpu_avx_lines lines = cpu_avx_lines_contiguous(N, S);
    void *work = malloc(F(cpu_avx_thomas_bytes)(&lines, THREADS));
    for (int i = 0; i < N * S; i++)
        a[i] = c[i] = -1, b[i] = (REAL)case_between(&random, 2.5, 4), d[i] = (REAL)case_between(&random, -1, 1);
    thread_rows = 1024;
    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
        int wrong = 0;
        for (int call = 0; call < calls; call++) {
            wrong += F(cpu_avx_thomas)(isa, &lines, a, b, c, d, x, work, THREADS) != 0;
            for (int s = 0; s < S; s++)
                wrong += !(F(residual_of)(N, a + s * N, b + s * N, c + s * N, d + s * N, x + s * N) <= 10);
        }
        CHECK(wrong == 0, "%s: %d wrong systems in %d calls", cpu_avx_name(isa), wrong, calls);
    }
    thread_rows = 1;
    free(work);
    free(a);
}

/* Tests systems whose length suits the hybrid for one width of vectors or another, or just does not; alone, in pairs
   and in halves, and in more tiles than are in flight; some with one or two systems that fail. */
static void F(test_across)(void)
{
    static const int sizes[] = {8,   15,  16,  31,  32,  33,  48,  64,  96,  112, 128,
                                192, 255, 256, 257, 400, 512, 520, 528, 544, 768};
    static const int batches[] = {1, 2, 3, 35, 70};
    case_random random = {SEED + 6};
    int turn = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 5; k++) {
            const int n = sizes[i], systems = batches[k];
            F(batch) s = F(new_batch)(&random, n, systems, 0);
            char *faulty = (char *)calloc((size_t)systems, 1);
            for (int failing = 0; failing < 2; failing++) {
                int want = 0;
                if (failing) {
                    want = F(spoil_two)(&random, &s, faulty, -1);
                }
                for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa), turn++) {
                    if (cpu_left_out(isa)) continue;
                    const cpu_avx_lines lines = F(layout)(2 + turn % 3, n, systems);
                    F(check_lines)(isa, HYBRID, &lines, &s, 0, 1 + turn % 3, failing ? faulty : 0, want);
                    F(check_lines)
                    (isa, HYBRID_IN_PLACE, &lines, &s, (size_t)(turn / 2 % 3), 1 + turn / 4 % 2, failing ? faulty : 0,
                     want);
                }
            }
            free(faulty);
            free(s.a);
        }
}

static void F(test_factor)(void)
{
    case_random random = {SEED + 3};
    REAL f[CPU_AVX_FACTOR_LEN(9)];
    F(batch) s = F(new_batch)(&random, 9, 1, 0);
    CHECK(F(cpu_avx_factor)(9, s.a, s.b, s.c, f) == CPU_AVX_OK, "factor");
    CHECK(F(cpu_avx_factor)(0, 0, 0, 0, 0) == CPU_AVX_OK, "factor of nothing");
    CHECK(F(cpu_avx_factor)(-1, s.a, s.b, s.c, f) == CPU_AVX_BAD_ARGUMENT, "factor of n < 0");
    CHECK(F(cpu_avx_factor)(9, 0, s.b, s.c, f) == CPU_AVX_BAD_ARGUMENT, "factor without a");
    CHECK(F(cpu_avx_factor)(9, s.a, s.b, s.c, 0) == CPU_AVX_BAD_ARGUMENT, "factor without f");
    for (int j = 0; j < 9; j++) {
        REAL b = s.b[j];
        s.b[j] = (REAL)NAN;
        CHECK(F(cpu_avx_factor)(9, s.a, s.b, s.c, f) == 1 + j, "factor, NaN in row %d", j);
        s.b[j] = (REAL)INFINITY;
        CHECK(F(cpu_avx_factor)(9, s.a, s.b, s.c, f) == 1 + j, "factor, infinity in row %d", j);
        s.b[j] = SMALLEST;
        s.a[j] = 0;
        CHECK(F(cpu_avx_factor)(9, s.a, s.b, s.c, f) == 1 + j, "factor, infinite reciprocal in row %d", j);
        s.b[j] = b;
    }
    s.b[0] = 0;
    CHECK(F(cpu_avx_factor)(9, s.a, s.b, s.c, f) == 1, "factor, zero in row 0");
    free(s.a);
}

/* Returns whether two elements of random lines coincide that have the same row, system or group. */
static int F(elements_coincide)(const cpu_avx_lines *l)
{
    const long long all = l->n * l->systems * l->groups;
    for (long long p = 0; p < all; p++)
        for (long long q = 0; q < p; q++) {
            const long long j = p % l->n - q % l->n, s = p / l->n % l->systems - q / l->n % l->systems;
            const long long g = p / l->n / l->systems - q / l->n / l->systems;
            if ((j == 0 || s == 0 || g == 0) && j * l->step + s * l->stride + g * l->jump == 0) return 1;
        }
    return 0;
}

/* Lines whose elements coincide, and x in place of a matrix, are refused; no others are. */
static void F(test_overlaps)(void)
{
    case_random random = {SEED + 11};
    REAL p[64] = {0}, x[64];
    unsigned char work[4096];
    const int has = cpu_avx_best();
    const cpu_avx_lines good = {3, 4, 4, 1, 1, 0}, reported = {75, 1, 60000, 1, 1, 0};
    int refused = 0;
    for (int i = 0; i < 3000; i++) {
        cpu_avx_lines l;
        l.n = 1 + case_below(&random, 5), l.step = case_below(&random, 27) - 13;
        l.systems = 1 + case_below(&random, 5), l.stride = case_below(&random, 27) - 13;
        l.groups = 1 + case_below(&random, 3), l.jump = case_below(&random, 81) - 40;
        const int due = F(elements_coincide)(&l), said = F(cpu_avx_thomas_bytes)(&l, 1) == 0;
        CHECK(due == said, "%lld rows %lld apart, %lld systems %lld apart, %lld groups %lld apart: %d", l.n, l.step,
              l.systems, l.stride, l.groups, l.jump, said);
        refused += said;
    }
    CHECK(refused > 300 && refused < 2700, "%d of 3000 lines refused", refused);
    CHECK(F(cpu_avx_thomas)(has, &reported, p, p, p, p, x, work, 1) == CPU_AVX_BAD_ARGUMENT, "rows that overlap");
    for (int i = 0; i < 4; i++) p[i] = 1;
    for (int i = 0; i < 3; i++) {
        CHECK(F(cpu_avx_thomas)(has, &good, i == 0 ? x : p, i == 1 ? x : p, i == 2 ? x : p, p, x, work, 1) ==
                  CPU_AVX_BAD_ARGUMENT,
              "x is a, b or c: %d", i);
        CHECK(F(cpu_avx_hybrid)(has, &good, i == 0 ? x : p, i == 1 ? x : p, i == 2 ? x : p, p, x, work, 1) ==
                  CPU_AVX_BAD_ARGUMENT,
              "hybrid, x is a, b or c: %d", i);
    }
    CHECK(F(cpu_avx_solve)(has, &good, x, p, x, work, 1) == CPU_AVX_BAD_ARGUMENT, "solve, x is f");
}

static void F(test_arguments)(void)
{
    REAL p[64] = {0};
    unsigned char work[4096];
    int has = cpu_avx_best();
    cpu_avx_lines lines = {1, 1, 4, 1, 1, 0}, none = {0, 1, 4, 1, 1, 0}, bad;
    for (int i = 0; i < 4; i++) p[i] = 1;
    CHECK(F(cpu_avx_thomas)(has, 0, p, p, p, p, p, work, 1) == CPU_AVX_BAD_ARGUMENT, "no lines");
    for (int i = 0; i < 3; i++) {
        bad = lines;
        *(i == 0 ? &bad.n : i == 1 ? &bad.systems : &bad.groups) = -1;
        CHECK(F(cpu_avx_thomas)(has, &bad, p, p, p, p, p, work, 1) == CPU_AVX_BAD_ARGUMENT, "negative count %d", i);
        CHECK(F(cpu_avx_solve)(has, &bad, p, p, p, work, 1) == CPU_AVX_BAD_ARGUMENT, "solve, negative count %d", i);
        CHECK(F(cpu_avx_hybrid)(has, &bad, p, p, p, p, p, work, 1) == CPU_AVX_BAD_ARGUMENT, "hybrid, negative count %d",
              i);
    }
    CHECK(F(cpu_avx_thomas)(has, &none, 0, 0, 0, 0, 0, 0, 1) == CPU_AVX_OK, "n = 0");
    none = lines, none.systems = 0;
    CHECK(F(cpu_avx_thomas)(has, &none, 0, 0, 0, 0, 0, 0, 1) == CPU_AVX_OK, "no systems");
    CHECK(F(cpu_avx_solve)(has, &none, 0, 0, 0, 0, 1) == CPU_AVX_OK, "solve, no systems");
    CHECK(F(cpu_avx_thomas)(has, &lines, p, p, p, p, p, work, 0) == CPU_AVX_BAD_ARGUMENT, "no threads");
    CHECK(F(cpu_avx_solve)(has, &lines, p, p, p, work, 0) == CPU_AVX_BAD_ARGUMENT, "solve, no threads");
    CHECK(F(cpu_avx_hybrid)(has, &lines, p, p, p, p, p, work, 0) == CPU_AVX_BAD_ARGUMENT, "hybrid, no threads");
    for (int i = 0; i < 6; i++) {
        CHECK(F(cpu_avx_thomas)(has, &lines, i == 0 ? 0 : p, i == 1 ? 0 : p, i == 2 ? 0 : p, i == 3 ? 0 : p,
                                i == 4 ? 0 : p, i == 5 ? 0 : work, 1) == CPU_AVX_BAD_ARGUMENT,
              "null pointer %d", i);
        CHECK(F(cpu_avx_hybrid)(has, &lines, i == 0 ? 0 : p, i == 1 ? 0 : p, i == 2 ? 0 : p, i == 3 ? 0 : p,
                                i == 4 ? 0 : p, i == 5 ? 0 : work, 1) == CPU_AVX_BAD_ARGUMENT,
              "hybrid, null pointer %d", i);
        if (i < 4)
            CHECK(F(cpu_avx_solve)(has, &lines, i == 0 ? 0 : p, i == 1 ? 0 : p, i == 2 ? 0 : p, i == 3 ? 0 : work, 1) ==
                      CPU_AVX_BAD_ARGUMENT,
                  "solve, null pointer %d", i);
    }
    none = lines, none.n = 0;
    CHECK(F(cpu_avx_hybrid)(has, &none, 0, 0, 0, 0, 0, 0, 1) == CPU_AVX_OK, "hybrid, n = 0");
    for (int isa = -1; isa <= CPU_AVX_ISAS; isa++) {
        if (cpu_avx_has(isa)) continue;
        CHECK(F(cpu_avx_thomas)(isa, &lines, p, p, p, p, p, work, 1) == CPU_AVX_BAD_ISA, "set %d", isa);
        CHECK(F(cpu_avx_solve)(isa, &lines, p, p, p, work, 1) == CPU_AVX_BAD_ISA, "solve, set %d", isa);
        CHECK(F(cpu_avx_hybrid)(isa, &lines, p, p, p, p, p, work, 1) == CPU_AVX_BAD_ISA, "hybrid, set %d", isa);
    }
}

/* Checks that work is in proportion to the systems in flight: a number for each row of each system, and at most two
   systems a thread, or four that share cache lines. */
static void F(test_work)(void)
{
    const long long n = 10 * 1000 * 1000;
    const size_t row = (size_t)n * sizeof(REAL);
    const cpu_avx_lines one = cpu_avx_lines_contiguous(n, 1), six = cpu_avx_lines_interleaved(n, 6);
    const cpu_avx_lines many = cpu_avx_lines_contiguous(n, 1000);
    const cpu_avx_lines none = cpu_avx_lines_contiguous(0, 1), bad = cpu_avx_lines_axis(1, 1, 1, 3);
    cpu_avx_lines left_out = six;
    left_out.groups = 0;
    CHECK(F(cpu_avx_thomas_bytes)(&left_out, 8) == F(cpu_avx_thomas_bytes)(&six, 8) &&
              F(cpu_avx_hybrid_bytes)(&left_out, 8) == F(cpu_avx_hybrid_bytes)(&six, 8),
          "work for no groups");
    CHECK(F(cpu_avx_thomas_bytes)(&one, 8) <= row + 64, "work for one system, 8 threads");
    CHECK(F(cpu_avx_thomas_bytes)(&six, 1) <= 4 * row + 64, "work for six systems, four at a time");
    CHECK(F(cpu_avx_thomas_bytes)(&six, 8) <= 4 * row + 64, "work for six systems in the same cache lines");
    CHECK(F(cpu_avx_thomas_bytes)(&many, 2) <= 2 * (2 * row + 64), "work for long contiguous systems");
    CHECK(F(cpu_avx_solve_bytes)(&one, 8) <= row + 64, "work for one system, factored");
    CHECK(F(cpu_avx_hybrid_bytes)(&one, 8) == F(cpu_avx_hybrid_bytes)(&one, 1), "work for one system across lanes");
    CHECK(F(cpu_avx_thomas_bytes)(&none, 1) == 0 && F(cpu_avx_hybrid_bytes)(&none, 1) == 0, "no rows need no work");
    CHECK(F(cpu_avx_thomas_bytes)(&bad, 1) == 0 && F(cpu_avx_hybrid_bytes)(&bad, 1) == 0, "work for no lines");
    CHECK(F(cpu_avx_thomas_bytes)(&one, 0) == 0 && F(cpu_avx_hybrid_bytes)(&one, 0) == 0, "work for no threads");
}

/* Checks that the work of the largest of several calls serves all of them, for interleaved systems: more rows, systems
   or threads never need less. */
static void F(test_work_grows)(void)
{
    static const int threads[] = {1, 2, 3, 8, 64}, systems[] = {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 100, 10000};
    enum { WORKERS = 5, WIDTHS = 13, STEP = 20000 };
    size_t least[WORKERS][WIDTHS] = {{0}}; /* what fewer rows need */
    for (long long n = 1; n <= 8192; n += n < 600 || n > 8000 ? 1 : 37)
        for (int t = 0; t < WORKERS; t++)
            for (int s = 0; s < WIDTHS; s++) {
                const cpu_avx_lines lines = {n, STEP, systems[s], 1, 1, 0};
                const size_t bytes = F(cpu_avx_thomas_bytes)(&lines, threads[t]);
                const int grows = bytes >= least[t][s] && (t == 0 || bytes >= least[t - 1][s]) &&
                                  (s == 0 || bytes >= least[t][s - 1]) &&
                                  bytes >= F(cpu_avx_solve_bytes)(&lines, threads[t]);
                if (!grows) CHECK(0, "%lld rows, %d systems, %d threads", n, systems[s], threads[t]);
                least[t][s] = bytes;
            }
    CHECK(least[0][0] > 0, "work that grows");
}

/* Compares with trid.h in double precision, and checks the residual, for systems in which rows far apart depend on each
   other. */
static void F(test_reference_of)(int n, int systems)
{
    case_random random = {SEED + 4};
    F(batch) s = F(new_batch)(&random, n, systems, 0);
    double *reference = (double *)malloc(6 * (size_t)n * sizeof(double));
    double *a = reference, *b = a + n, *c = b + n, *d = c + n, *x = d + n, *space = x + n;
    REAL *got = (REAL *)malloc((size_t)n * (size_t)systems * sizeof(REAL));
    for (int i = 0; i < n * systems; i++) {
        s.a[i] = s.c[i] = -1;
        s.b[i] = (REAL)2.0625;
        s.d[i] = (REAL)case_between(&random, -1, 1);
    }
    for (int k = 0; k < systems; k++) {
        for (int j = 0; j < n; j++)
            a[j] = (double)s.a[k * n + j], b[j] = (double)s.b[k * n + j], c[j] = (double)s.c[k * n + j],
            d[j] = (double)s.d[k * n + j];
        CHECK(trid_host_thomas_f64(n, a, b, c, d, x, space) == 0, "reference");
        for (int j = 0; j < n; j++) s.x[k * n + j] = (REAL)x[j];
    }
    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
        cpu_avx_lines lines = cpu_avx_lines_contiguous(n, systems);
        void *work = malloc(F(cpu_avx_thomas_bytes)(&lines, 2) + F(cpu_avx_hybrid_bytes)(&lines, 2));
        for (int hybrid = 0; hybrid < 2; hybrid++) {
            int status = hybrid ? F(cpu_avx_hybrid)(isa, &lines, s.a, s.b, s.c, s.d, got, work, 2)
                                : F(cpu_avx_thomas)(isa, &lines, s.a, s.b, s.c, s.d, got, work, 2);
            CHECK(status == 0, "%s: status %d", cpu_avx_name(isa), status);
            for (int k = 0; k < systems; k++) {
                const int at = k * n;
                double residual = F(trid_host_residual)(n, s.a + at, s.b + at, s.c + at, s.d + at, got + at);
                check_near(residual, 0, 16 * ROUNDOFF, "%s: residual, n = %d", cpu_avx_name(isa), n);
                for (int j = 0; j < n; j++) /* norm at most 1/0.0625, condition 65 */
                    check_near((double)got[at + j], (double)s.x[at + j], 16 * 65 * 5 * ROUNDOFF, "%s: row %d of %d",
                               cpu_avx_name(isa), j, n);
            }
        }
        free(work);
    }
    free(got);
    free(reference);
    free(s.a);
}
static void F(test_reference)(void)
{
    F(test_reference_of)(200, 37);
    F(test_reference_of)(256, 9); /* by the hybrid too: partitions coupled in every PCR step, or only in the last */
    F(test_reference_of)(512, 5);
}

/* Checks that the hybrid omits a step of PCR only if it changes less than rounding does. The lanes' partitions end with
   rows 7, 15, 23 and so on, or 3, 7, 11. A chain of rows couples only two of them, with couplings of all sizes. */
static void F(test_weak_sections)(void)
{
    enum { N = 64, FIRST = 15, LAST = 23, STRENGTHS = 100 };
    double wide[4][N], want[2 * N], space[N];
    REAL a[2 * N], b[2 * N], c[2 * N], d[2 * N], got[2 * N];
    for (int k = 0; k < STRENGTHS; k++) {
        const REAL coupling = (REAL)(-0.48 * exp2(-k / 32.0));
        for (int i = 0; i < 2 * N; i++) {
            const int j = i % N;
            a[i] = i == j && j > FIRST && j <= LAST ? coupling : 0;
            c[i] = i == j && j >= FIRST && j < LAST ? coupling : 0;
            b[i] = d[i] = 1;
            wide[0][j] = (double)a[i], wide[1][j] = (double)b[i], wide[2][j] = (double)c[i], wide[3][j] = (double)d[i];
            if (j == N - 1)
                CHECK(trid_host_thomas_f64(N, wide[0], wide[1], wide[2], wide[3], want + i - j, space) == 0,
                      "reference");
        }
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa))
            for (int systems = 1; systems <= 2; systems++) { /* a system in two halves, and a pair of systems */
                const cpu_avx_lines lines = cpu_avx_lines_contiguous(N, systems);
                void *work = malloc(F(cpu_avx_hybrid_bytes)(&lines, 1));
                CHECK(F(cpu_avx_hybrid)(isa, &lines, a, b, c, d, got, work, 1) == 0, "%s", cpu_avx_name(isa));
                double error = 0, largest = 0;
                for (int i = 0; i < N * systems; i++) {
                    const double e = fabs((double)got[i] - want[i]);
                    if (!(e <= error)) error = e;
                    largest = fmax(largest, want[i]);
                }
                check_near(error / largest, 0, 8 * ROUNDOFF, "%s: %d systems, sections coupled by %g",
                           cpu_avx_name(isa), systems, (double)coupling);
                free(work);
            }
    }
}

/* Returns the least dominance of the rows. */
static double F(dominance_of)(int n, const REAL *a, const REAL *b, const REAL *c)
{
    double least = INFINITY;
    for (int j = 0; j < n; j++) {
        const double beside = (j > 0 ? fabs((double)a[j]) : 0) + (j < n - 1 ? fabs((double)c[j]) : 0);
        least = fmin(least, fabs((double)b[j]) / beside);
    }
    return least;
}

/* Checks the residuals that the header promises where dominance is weak, with couplings shared out at random, the worst
   case for parallel cyclic reduction, and with few rows a lane, from the fewest possible on. */
static void F(test_residuals)(void)
{
    enum { MOST = 160, CASES = 40 };
    static const int sizes[] = {3, 8, 16, 32, 40, 64, MOST};
    case_random random = {SEED + 7};
    REAL a[MOST], b[MOST], c[MOST], d[MOST], x[2][MOST];
    for (int i = 0; i < 7 * CASES; i++) {
        const int n = sizes[i % 7];
        const double excess = pow(10, -1 - i / 7 % 5);
        for (int j = 0; j < n; j++) {
            const double share = case_between(&random, 0, 1);
            a[j] = (REAL)-share, c[j] = (REAL)(share - 1), d[j] = (REAL)case_between(&random, -1, 1);
            b[j] = (REAL)((1 + excess) * ((j > 0 ? share : 0) + (j < n - 1 ? 1 - share : 0)) + 2 * ROUNDOFF);
        }
        const double weak = F(dominance_of)(n, a, b, c) - 1;
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
            const int W = F(cpu_avx_width)(isa), K = n >= 2 * W * W ? (n - 1) / (2 * W) + 1 : (n - 1) / W + 1;
            const cpu_avx_lines lines = cpu_avx_lines_contiguous(n, 1);
            void *work = malloc(F(cpu_avx_thomas_bytes)(&lines, 1) + F(cpu_avx_hybrid_bytes)(&lines, 1));
            CHECK(F(cpu_avx_thomas)(isa, &lines, a, b, c, d, x[0], work, 1) == 0, "thomas, n = %d", n);
            CHECK(F(cpu_avx_hybrid)(isa, &lines, a, b, c, d, x[1], work, 1) == 0, "hybrid, n = %d", n);
            check_near(F(residual_of)(n, a, b, c, d, x[0]), 0, 6, "%s: residual of thomas, n = %d, dominance 1 + %g",
                       cpu_avx_name(isa), n, weak);
            check_near(F(residual_of)(n, a, b, c, d, x[1]), 0, F(hybrid_bound)(K, weak),
                       "%s: residual of hybrid, n = %d, dominance 1 + %g", cpu_avx_name(isa), n, weak);
            free(work);
        }
    }
}

/* Checks the same promise of cpu_avx_hybrid for lanes of 2048 rows and more, in which roundings add up: systems with
   equal rows, and with couplings shared out at random. */
static void F(test_long_residuals)(void)
{
    enum { N = 65536 };
    case_random random = {SEED + 17};
    REAL *a = (REAL *)malloc(5 * (size_t)N * sizeof(REAL)), *b = a + N, *c = b + N, *d = c + N, *x = d + N;
    const cpu_avx_lines lines = cpu_avx_lines_contiguous(N, 1);
    void *work = malloc(F(cpu_avx_hybrid_bytes)(&lines, 1));
    for (int i = 0; i < 12; i++) {
        const double excess = pow(10, -4 - i / 4) * case_between(&random, 1, 10);
        for (int j = 0; j < N; j++) {
            const double share = i % 2 ? case_between(&random, 0, 1) : 0.5;
            a[j] = (REAL)-share, c[j] = (REAL)(share - 1), b[j] = (REAL)(1 + excess + 2 * ROUNDOFF);
            d[j] = (REAL)(i % 2 ? case_between(&random, -1, 1) : 1);
        }
        const double weak = F(dominance_of)(N, a, b, c) - 1;
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
            const int lanes = 2 * F(cpu_avx_width)(isa);
            CHECK(F(cpu_avx_hybrid)(isa, &lines, a, b, c, d, x, work, 1) == 0, "hybrid, %d rows", N);
            check_near(F(residual_of)(N, a, b, c, d, x), 0, F(hybrid_bound)(N / lanes, weak),
                       "%s: residual of hybrid, %d rows, dominance 1 + %g", cpu_avx_name(isa), N, weak);
        }
    }
    free(work), free(a);
}

/* Tests rows, systems and tiles that are further apart than 32 bits can count, in arrays most of whose pages nobody
   touches. */
static void F(test_far)(void)
{
    enum { N = 3, SYSTEMS = 40 };
    const long long row = (1LL << 31) + 7, pitch = (1LL << 28) + 9, elements = SYSTEMS * pitch;
    const cpu_avx_lines layouts[] = {{N, row, 2, 5, 1, 0},
                                     {N, row, 1, 3, 2, 3 * row + 1},
                                     {N, 1, SYSTEMS, pitch, 1, 0},
                                     {N, 2, SYSTEMS, pitch, 1, 0}};
    case_random random = {SEED + 5};
    F(batch) s = F(new_batch)(&random, N, SYSTEMS, 0);
    const REAL *from[5] = {s.a, s.b, s.c, s.d, NULL};
    REAL *far[5];
    int open = 0;
    for (; open < 5; open++) {
        far[open] = (REAL *)mmap(NULL, (size_t)elements * sizeof(REAL), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (far[open] == (REAL *)MAP_FAILED) break;
    }
    if (open < 5) check_skip(1, "offsets beyond 32 bits: no room for %lld elements five times", elements);
    for (int layout = 0; layout < 4 && open == 5; layout++) {
        const cpu_avx_lines lines = layouts[layout];
        const int count = (int)(lines.systems * lines.groups) * N;
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < count; i++) far[k][F(place)(&lines, i / N, i % N)] = from[k][i];
        for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa))
            for (int hybrid = 0; hybrid < 2; hybrid++) {
                void *work = malloc(F(cpu_avx_thomas_bytes)(&lines, 1) + F(cpu_avx_hybrid_bytes)(&lines, 1));
                for (int i = 0; i < count; i++) far[4][F(place)(&lines, i / N, i % N)] = 77;
                int status = (hybrid ? F(cpu_avx_hybrid) : F(cpu_avx_thomas))(isa, &lines, far[0], far[1], far[2],
                                                                              far[3], far[4], work, 1);
                CHECK(status == 0, "%s: far apart: status %d", cpu_avx_name(isa), status);
                for (int i = 0; i < count; i++)
                    check_near((double)far[4][F(place)(&lines, i / N, i % N)], (double)s.x[i], tolerance(N, ROUNDOFF),
                               "%s: far apart, layout %d, element %d", cpu_avx_name(isa), layout, i);
                free(work);
            }
    }
    while (open > 0) munmap(far[--open], (size_t)elements * sizeof(REAL));
    free(s.a);
}

static void F(test_all)(void)
{
    F(test_far)();
    F(test_factor)();
    F(test_arguments)();
    F(test_overlaps)();
    F(test_work)();
    F(test_work_grows)();
    F(test_sizes)();
    F(test_cut)();
    F(test_cut_rows)();
    F(test_cut_few)();
    F(test_short_rows)();
    F(test_cut_groups)();
    F(test_weak_cut)();
    F(test_weak_half)();
    F(test_few_at_work)();
    F(test_groups)();
    F(test_singular)();
    F(test_across)();
    F(test_reference)();
    F(test_weak_sections)();
    F(test_residuals)();
    F(test_long_residuals)();
}
#endif
