/* cpu_timing.c - the ladders of cpu_avx.h on the model problems of the paper (Giles et al. 2014): time, speed and
   accuracy of each rung.
   MIT licence, see LICENSE.

       cpu_timing [f32|f64] [--isa NAME] [--threads N] [--options N] [--steps N] [--size N] [--runs N]
                  [--full | --quick] [--csv [FILE]] [--gpu1 FILE --gpu3 FILE]

   By default each rung runs in both precisions, on the best instruction set and on AVX2, with one thread and with all.
   --csv prints CSV in place of the tables; --csv FILE prints the tables and writes CSV to FILE.

   Table 3: a call with S = K = 100, r = 0.05, sigma = 0.2, T = 1 on 256 points up to 200. The paper marches 2048
   options for 50000 explicit or 2500 implicit steps. This program marches 64 options for about 15 ms, unless --options,
   --steps or --full says otherwise, and one column scales the time to the paper's size. thomas_plain is the comparator
   of the implicit rungs: the Thomas algorithm in every step, one option at a time, in plain C with divisions.

   Table 4: a call on the geometric average of three assets on 256^3 points (--size). The paper takes 500 explicit or
   100 implicit steps; this program times two explicit steps or one implicit step. Each row solve_ solves the systems
   along an axis of that grid: thomas with distinct a, b, c, d, x; hybrid likewise, each system across lanes; factored
   in place, with one matrix for all. Table 5 compares the best rungs with those in the results of bs1d_timing and
   bs3d_timing on a GPU (--gpu1, --gpu3).

   Each row gives medians of 7 runs (--runs) after a warm-up. Runs alternate with a loop of multiply-adds (same
   instruction set, same threads), and for table 4 with a copy of 256 MiB past the caches (with NEON through them).
   Percentages are medians of ratios of neighbouring runs, since the speed of a machine drifts. GFlop/s count the same
   operations per point and step for each rung, however many it needs. In table 3 an explicit rung counts 6, an implicit
   rung 20 in single and 17 in double precision, as the paper's table 3 implies; in table 4 an explicit rung counts 53,
   an implicit rung 125. GB/s count two arrays a step for an explicit rung of table 4 and five for an implicit one, five
   for a batch of distinct systems and two for a batch with a single matrix. The value at the strike comes from an
   untimed march of one option over all steps. In table 4 this march takes fewer, longer steps on 64^3 points, or with
   --full all steps on the whole grid. The error is the distance from the exact solution of the discrete equations, or
   in table 4 from the closed form. For a batch of systems it is the largest error. The program fails if a rung is less
   accurate than expected.

   A row is disturbed if its median exceeds its least time by more than a quarter, or if its multiply-adds or copies ran
   at less than three quarters of the best speed so far. It is measured again, up to three times. If it is still
   disturbed, it is marked "!": something else was running, and the row means little. With --quick sizes are smaller,
   runs are fewer, rows are not measured again, and the figures mean little. */
#ifndef REAL
#if defined __linux__
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif
#define BS1D_NO_LAUNCHES
#define BS3D_NO_LAUNCHES
#include "bs1d.h"
#include "bs3d.h"
#include "cpu_avx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#define PARALLEL(clauses) _Pragma(#clauses)
#else
#define PARALLEL(clauses)
#endif

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

enum {
    POINTS = 256,
    ALL_OPTIONS = 2048, /* the paper's, as are all the steps below */
    EXPLICIT_STEPS = 50000,
    IMPLICIT_STEPS = 2500,
    GRID_EXPLICIT_STEPS = 500,
    GRID_IMPLICIT_STEPS = 100,
    VALUE_POINTS = 64, /* along an axis, in the march that gives the value */
    REACH = 16,        /* points on each side of a composed step */
    MOST_RUNS = 99,
    MOST_THREADS = 1024,
    MOST_POINTS = 1024
};
static const double maturity_3 = 0.05, closed_form = 1.56532867895354424;

/* ---- what is timed ----------------------------------------------------------------------------------------------- */

/* Arguments of a call; arrays are of the job's precision. */
typedef struct {
    int isa, is_double, threads, steps;
    int options, composed;            /* one factor: steps in one composed step, 0 if composing does not pay */
    const void *a, *b, *c, *d, *band; /* rows of a matrix, composed rows */
    const void *grid, *factor[3];     /* three factors */
    cpu_avx_lines lines;              /* a batch of systems */
    void *u, *v, *work;
} job;

enum kind { OPTIONS_MARCH, GRID_MARCH, BATCH };

/* A rung. A batch has systems along axis `direction`, and distinct matrices or one for all. passes: arrays read and
   written in a step or by a batch. within: the largest error allowed in each precision; a march on the grid has the
   bound of bs3d_timing instead. */
typedef struct {
    const char *name;
    enum kind kind;
    int implicit, direction, distinct, passes;
    int (*run[2])(const job *);
    double within[2];
} rung;

/* The options of the command line; 0 where one is not given. */
static int wanted[2] = {1, 1}, isa_given = -1, threads_given, options_given, steps_given, size = 256, runs = 7, full,
           quick;

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* Allocates whole cache lines, in large pages where the system gives them on request. */
static void *take(size_t bytes)
{
    size_t rounded = (bytes + 64) / 64 * 64, page = (size_t)1 << 21;
    void *p = rounded < page ? aligned_alloc(64, rounded) : aligned_alloc(page, (rounded + page - 1) / page * page);
    if (!p) stop("cpu_timing", "out of memory");
#ifdef MADV_HUGEPAGE
    if (rounded >= page) madvise(p, rounded, MADV_HUGEPAGE);
#endif
    return p;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the limits: multiply-adds and a copy ------------------------------------------------------------------------ */

/* A loop over CHAINS sums, enough to hide latency and few enough for 16 registers. Returns the operations. */
enum { CHAINS = 14, PLAIN_LINKS = 16 };
#define FMA_LOOP(set, precision, real)                                                                                 \
    CPU_AVX_TARGET_##set static double fma_loop_##set##_##precision(long links, void *out)                             \
    {                                                                                                                  \
        cpu_avx_vec_##set##_##precision x[CHAINS], half = cpu_avx_set_##set##_##precision((real)0.5),                  \
                                                   one = cpu_avx_set_##set##_##precision(1);                           \
        for (int c = 0; c < CHAINS; c++) x[c] = cpu_avx_set_##set##_##precision((real)c);                              \
        for (long i = 0; i < links; i++)                                                                               \
            for (int c = 0; c < CHAINS; c++) x[c] = cpu_avx_fma_##set##_##precision(x[c], half, one);                  \
        for (int c = 1; c < CHAINS; c++) x[0] = x[0] + x[c];                                                           \
        cpu_avx_store_##set##_##precision((real *)out, x[0]);                                                          \
        return 2.0 * CHAINS * cpu_avx_lanes_##set##_##precision * (double)links;                                       \
    }
/* The same loop, vectorised by the compiler. */
#define PLAIN_LOOP(precision, real)                                                                                    \
    static double fma_loop_plain_##precision(long links, void *out)                                                    \
    {                                                                                                                  \
        enum { N = 1024 / sizeof(real) };                                                                              \
        real x[N];                                                                                                     \
        for (int i = 0; i < N; i++) x[i] = (real)i;                                                                    \
        for (long l = 0; l < links; l += PLAIN_LINKS) {                                                                \
            for (int i = 0; i < N; i++) {                                                                              \
                real sum = x[i];                                                                                       \
                for (int k = 0; k < PLAIN_LINKS; k++) sum = sum * (real)0.5 + 1;                                       \
                x[i] = sum;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        for (int i = 1; i < N; i++) x[0] += x[i];                                                                      \
        *(real *)out = x[0];                                                                                           \
        return 2.0 * N * (double)((links + PLAIN_LINKS - 1) / PLAIN_LINKS * PLAIN_LINKS);                              \
    }
/* A copy; and a loop with the memory accesses of a solve: it reads four arrays, here the quarters of `from`, and writes
   a fifth past the caches. */
#define COPY_LOOP(set)                                                                                                 \
    CPU_AVX_TARGET_##set static void copy_loop_##set(const double *from, double *to, size_t n)                         \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i += cpu_avx_lanes_##set##_f64)                                                      \
            cpu_avx_stream_##set##_f64(to + i, cpu_avx_load_##set##_f64(from + i));                                    \
    }                                                                                                                  \
    CPU_AVX_TARGET_##set static void four_loop_##set(const double *from, double *to, size_t n)                         \
    {                                                                                                                  \
        for (size_t i = 0; i < n / 4; i += cpu_avx_lanes_##set##_f64) {                                                \
            cpu_avx_vec_##set##_f64 x = cpu_avx_load_##set##_f64(from + i);                                            \
            for (size_t k = 1; k < 4; k++) x = x + cpu_avx_load_##set##_f64(from + k * (n / 4) + i);                   \
            cpu_avx_stream_##set##_f64(to + i, x);                                                                     \
        }                                                                                                              \
    }
PLAIN_LOOP(f32, float)
PLAIN_LOOP(f64, double)
static void copy_loop_plain(const double *from, double *to, size_t n)
{
    memcpy(to, from, n * sizeof *to); /* memcpy stores arrays of this size past the caches */
}
static void four_loop_plain(const double *from, double *to, size_t n)
{
    for (size_t i = 0; i < n / 4; i++) to[i] = from[i] + from[n / 4 + i] + from[n / 2 + i] + from[3 * (n / 4) + i];
}
#if CPU_AVX_X86
FMA_LOOP(avx, f32, float)
FMA_LOOP(avx, f64, double)
FMA_LOOP(avx2, f32, float)
FMA_LOOP(avx2, f64, double)
FMA_LOOP(avx512, f32, float)
FMA_LOOP(avx512, f64, double)
COPY_LOOP(avx)
COPY_LOOP(avx2)
COPY_LOOP(avx512)
#elif CPU_AVX_ARM
FMA_LOOP(neon, f32, float)
FMA_LOOP(neon, f64, double)
COPY_LOOP(neon)
#endif

static double (*const fma_loops[CPU_AVX_ISAS][2])(long, void *) = {
    {fma_loop_plain_f32, fma_loop_plain_f64},
#if CPU_AVX_X86
    {fma_loop_avx_f32, fma_loop_avx_f64},
    {fma_loop_avx2_f32, fma_loop_avx2_f64},
    {fma_loop_avx512_f32, fma_loop_avx512_f64},
#elif CPU_AVX_ARM
    [CPU_AVX_NEON] = {fma_loop_neon_f32, fma_loop_neon_f64},
#endif
};
static void (*const memory_loops[CPU_AVX_ISAS][2])(const double *, double *, size_t) = {
    {copy_loop_plain, four_loop_plain},
#if CPU_AVX_X86
    {copy_loop_avx, four_loop_avx},
    {copy_loop_avx2, four_loop_avx2},
    {copy_loop_avx512, four_loop_avx512},
#elif CPU_AVX_ARM
    [CPU_AVX_NEON] = {copy_loop_neon, four_loop_neon},
#endif
};

static volatile double consumed;
static double best_peak[CPU_AVX_ISAS][2][2]; /* the best so far, by set, precision, and one thread or several */

/* Returns the operations a second. */
static double measured_peak(int isa, int is_double, int threads)
{
    long links = (quick ? 20000L : 200000L) / (isa == CPU_AVX_PLAIN ? 8 : 1); /* the plain loop has more sums */
    double operations = 0, sum = 0, start = now();
    PARALLEL(omp parallel for num_threads(threads) reduction(+ : operations, sum))
    for (int thread = 0; thread < threads; thread++) {
        double out[8] = {0};
        operations += fma_loops[isa][is_double](links, out);
        sum += out[0];
    }
    double seconds = now() - start;
    consumed = sum;
    double *seen = &best_peak[isa][is_double][threads > 1], speed = operations / seconds;
    if (*seen < speed) *seen = speed;
    return speed;
}

static double best_copy[CPU_AVX_ISAS][2]; /* likewise */

/* Returns the bytes that a copy, or a loop from four arrays to one, reads and writes in a second. */
static double measured_memory(int isa, int four, int threads)
{
    static double *from, *to;
    const size_t part = ((quick ? (size_t)1 << 24 : (size_t)1 << 28) / sizeof *from / (size_t)threads + 31) / 32 * 32;
    const size_t n = part * (size_t)threads;
    static size_t taken;
    if (taken < n) { /* parts are rounded up, so n can grow */
        free(from), free(to);
        from = (double *)take(n * sizeof *from), to = (double *)take(n * sizeof *to);
        for (size_t i = 0; i < n; i++) from[i] = to[i] = (double)i;
        taken = n;
    }
    double start = now();
    PARALLEL(omp parallel for num_threads(threads))
    for (int thread = 0; thread < threads; thread++)
        memory_loops[isa][four](from + part * (size_t)thread, to + part * (size_t)thread, part);
    double seconds = now() - start;
    consumed = to[n / 2];
    double speed = (four ? 1.25 : 2.0) * (double)(n * sizeof *from) / seconds;
    if (!four) best_copy[isa][threads > 1] = fmax(best_copy[isa][threads > 1], speed);
    return speed;
}

/* ---- the model problems ------------------------------------------------------------------------------------------ */

static bs1d_model one_factor_model(int implicit)
{
    const double rate = 0.05, volatility = 0.2, dt = 1.0 / (implicit ? IMPLICIT_STEPS : EXPLICIT_STEPS);
    bs1d_model model;
    memset(&model, 0, sizeof model); /* fields that are not named keep their defaults */
    model.variance = 0.5 * volatility * volatility * dt;
    model.drift = 0.5 * rate * dt;
    model.discount = rate * dt;
    model.points = POINTS;
    return model;
}

/* Makes a problem that marches the paper's maturity in `steps` steps. On more than 256 points the explicit steps
   shrink with the square of the spacing, so that they are stable, and the maturity shrinks with them. */
static bs3d_problem three_factor_problem(int implicit, int points, int steps)
{
    bs3d_problem problem = {
        {100, 100, 100}, {200, 200, 200}, {0.2, 0.2, 0.2}, {0, 0, 0}, {0.5, 0.5, 0.5}, 100, 0.05, maturity_3,
        {0, 0, 0},       steps,           BS3D_GEOMETRIC,  0};
    if (!implicit && points > 256) problem.maturity *= pow(255.0 / (points - 1), 2);
    for (int axis = 0; axis < 3; axis++) problem.points[axis] = points;
    return problem;
}

#define REAL float
#define F(stem) stem##_f32
#include "cpu_timing.c"
#undef REAL
#undef F
#define REAL double
#define F(stem) stem##_f64
#include "cpu_timing.c"

#define EITHER(j, stem, arguments) ((j)->is_double ? stem##_f64 arguments : stem##_f32 arguments)
#define BOTH(stem)                                                                                                     \
    {                                                                                                                  \
        stem##_f32, stem##_f64                                                                                         \
    }

static const rung comparator = {"thomas_plain", OPTIONS_MARCH, 1, 0, 0, 0, BOTH(thomas_plain), {2.5e-4, 1e-11}};
static const rung ladder_1[] = {
    {"explicit1", OPTIONS_MARCH, 0, 0, 0, 0, BOTH(explicit1), {2.5e-4, 1e-11}},
    {"explicit2", OPTIONS_MARCH, 0, 0, 0, 0, BOTH(explicit2), {2.5e-4, 1e-11}},
    {"explicit3", OPTIONS_MARCH, 0, 0, 0, 0, BOTH(explicit3), {2.5e-4, 1e-11}},
    {"explicit4", OPTIONS_MARCH, 0, 0, 0, 0, BOTH(explicit4), {2.5e-4, 1e-11}},
    {"implicit1", OPTIONS_MARCH, 1, 0, 0, 0, BOTH(implicit1), {2.5e-4, 1e-11}},
    {"implicit2", OPTIONS_MARCH, 1, 0, 0, 0, BOTH(implicit2), {2.5e-4, 1e-11}},
    {"implicit3", OPTIONS_MARCH, 1, 0, 0, 0, BOTH(implicit3), {2.5e-4, 1e-11}},
};
/* The solution of a batch is all ones; rounding errors are a few ulp. */
static const rung ladder_3[] = {
    {"grid_explicit1", GRID_MARCH, 0, 0, 0, 2, BOTH(grid_explicit1), {0, 0}},
    {"grid_explicit2", GRID_MARCH, 0, 0, 0, 2, BOTH(grid_explicit2), {0, 0}},
    {"grid_implicit1", GRID_MARCH, 1, 0, 0, 5, BOTH(grid_implicit1), {0, 0}},
    {"grid_implicit2", GRID_MARCH, 1, 0, 0, 5, BOTH(grid_implicit2), {0, 0}},
    {"solve_x_thomas", BATCH, 1, 0, 1, 5, BOTH(thomas), {1e-5, 1e-13}},
    {"solve_x_hybrid", BATCH, 1, 0, 1, 5, BOTH(hybrid), {1e-5, 1e-13}},
    {"solve_y_thomas", BATCH, 1, 1, 1, 5, BOTH(thomas), {1e-5, 1e-13}},
    {"solve_z_thomas", BATCH, 1, 2, 1, 5, BOTH(thomas), {1e-5, 1e-13}},
    {"solve_x_factored", BATCH, 1, 0, 0, 2, BOTH(solve), {1e-5, 1e-13}},
    {"solve_y_factored", BATCH, 1, 1, 0, 2, BOTH(solve), {1e-5, 1e-13}},
    {"solve_z_factored", BATCH, 1, 2, 0, 2, BOTH(solve), {1e-5, 1e-13}},
};

/* ---- output ------------------------------------------------------------------------------------------------------ */

static FILE *csv;          /* the file for CSV, or null */
static int table = 1, bad; /* whether the rows are printed as a table; how many miss their accuracy */

/* The medians of a row, and its least time. */
typedef struct {
    double ms, least, flops, of_peak, bytes, of_copy, of_four, times; /* speed over the comparator's */
    int disturbed;
} timing;

static int rows_disturbed, rows_done, rows_planned;
static double started;

/* The best times of each kind, scaled to the paper's sizes: one or three factors, explicit or implicit, single or
   double precision. */
static double best[2][2][2], best_on_gpu[2][2][2];

static void keep_best(double *kept, double ms)
{
    if (ms > 0 && (*kept == 0 || ms < *kept)) *kept = ms;
}

static void heading(void)
{
    char date[32], line[200], machine[256] = "unknown processor";
    int family = 0, model = 0;
    time_t seconds = time(NULL);
    FILE *info = fopen("/proc/cpuinfo", "r");
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&seconds));
    while (info && fgets(line, sizeof line, info)) { /* family and model come first; other models share the name */
        char *colon = strchr(line, ':');
        sscanf(line, "cpu family : %d", &family), sscanf(line, "model : %d", &model);
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(machine, sizeof machine, "%s, family %d model %d", colon + 2, family, model);
        break;
    }
    if (info) fclose(info);
    FILE *const to[2] = {table ? stdout : NULL, csv};
    for (int i = 0; i < 2; i++) {
        if (!to[i]) continue;
#ifdef __clang__
        fprintf(to[i], "# %s, %s, %s, %s\n", machine, __VERSION__, BENCH_FLAGS, date);
#else
        fprintf(to[i], "# %s, gcc %s, %s, %s\n", machine, __VERSION__, BENCH_FLAGS, date);
#endif
        if (!full) fprintf(to[i], "# values of the three-factor rungs are those on %d^3 points\n", VALUE_POINTS);
    }
    if (csv)
        fprintf(csv, "kernel,precision,isa,threads,size,steps,ms_median,ms_min,gflops,pct_of_peak,gbytes_per_s,"
                     "pct_of_copy,pct_of_four_to_one,value_at_strike,abs_error\n");
}

static const char *const legend_3 =
    "Table 3, one factor: a call on 256 points. \"paper's s\" is the time in seconds, at the speed of the row,\n"
    "for the paper's 2048 options and 50000 explicit or 2500 implicit steps. GFlop/s count the operations\n"
    "of the plain rung, whatever a rung computes, and \"% of peak\" compares with a loop of multiply-adds by\n"
    "the same threads. So a rung that saves work, as explicit4 does by composing steps, can exceed 100 %.\n"
    "\"x plain\": how many times as fast as thomas_plain.\n";
static const char *const legend_4 =
    "Table 4, three factors: a call on three assets, and batches of tridiagonal systems in each direction\n"
    "of the grid. \"paper's s\" is for 256^3 points and 500 explicit or 100 implicit steps. GB/s count two\n"
    "arrays for an explicit step, five for an implicit one, five or two for a batch, and \"% of copy\" compares\n"
    "with a copy by the same threads with non-temporal stores, measured before and after each run. What stays\n"
    "in the caches, or takes two steps in one sweep, can exceed 100 %. \"% of 4:1\" compares with a loop that\n"
    "reads four arrays and writes one, as a batch of distinct systems does.\n";

static void table_heading(const char *legend)
{
    if (table) printf("\n%s", legend);
}

static void group_heading(int isa, int is_double)
{
    if (!table) return;
    printf("\n%s precision, %s; row %d of %d", is_double ? "Double" : "Single", cpu_avx_name(isa), 1 + rows_done,
           rows_planned);
    if (rows_done > 0) {
        double left = (now() - started) / rows_done * (rows_planned - rows_done);
        printf(", about %.0f s to go", left);
    }
    printf("\n%-17s prec isa    threads   size  steps  median ms   least ms %10s %8s %10s %7s %10s %8s %8s  %-18s %s\n",
           "kernel", "paper's s", "GFlop/s", "% of peak", "GB/s", "% of copy", "% of 4:1", "x plain", "value at strike",
           "error");
    fflush(stdout);
}

/* Writes one number of a row, or an empty string for 0. */
static void text(char *to, const char *format, double x)
{
    if (x > 0)
        snprintf(to, 32, format, x);
    else
        *to = 0;
}

static void row(const rung *r, const job *j, int points, timing t, double as_in_paper, double value, double error,
                double within)
{
    char flops[32], peak[32], bytes[32], copy[32], four[32], times[32], papers[32], values[32] = "", errors[32] = "";
    const char *precision = j->is_double ? "f64" : "f32", *isa = r == &comparator ? "plain" : cpu_avx_name(j->isa);
    text(flops, "%.5g", 1e-9 * t.flops), text(peak, "%.2f", t.of_peak);
    text(bytes, "%.4g", 1e-9 * t.bytes), text(copy, "%.1f", t.of_copy), text(four, "%.1f", t.of_four);
    text(times, "%.1f", t.times), text(papers, "%.4g", 1e-3 * as_in_paper);
    if (value > 0) snprintf(values, sizeof values, table && !csv ? "%.15g" : "%.17g", value);
    if (error >= 0) snprintf(errors, sizeof errors, "%.3e", error);
    if (csv)
        fprintf(csv, "%s,%s,%s,%d,%d,%d,%.6g,%.6g,%s,%s,%s,%s,%s,%s,%s\n", r->name, precision, isa, j->threads, points,
                j->steps, t.ms, t.least, flops, peak, bytes, copy, four, values, errors);
    if (table)
        printf("%-17s %s  %-6s %7d %6d %6d %10.4f %10.4f %10s %8s %10s %7s %10s %8s %8s  %-18.18s %s%s\n", r->name,
               precision, isa, j->threads, points, j->steps, t.ms, t.least, papers, flops, peak, bytes, copy, four,
               times, values, errors, t.disturbed ? " !" : "");
    rows_done++;
    rows_disturbed += t.disturbed;
    fflush(stdout);
    if (csv) fflush(csv);
    if (error >= 0 && !(error <= within)) {
        fprintf(stderr, "%s %s %s: off by %.3g, more than %.3g\n", r->name, precision, isa, error, within);
        bad++;
    }
}

/* ---- timing ------------------------------------------------------------------------------------------------------ */

static int ascending(const void *p, const void *q)
{
    return (*(const double *)p > *(const double *)q) - (*(const double *)p < *(const double *)q);
}
static double median(double *x)
{
    qsort(x, (size_t)runs, sizeof *x, ascending);
    return x[runs / 2];
}

/* Returns the seconds that a call takes. One-factor marches begin with the payoff; setting it is not timed. */
static double seconds_of(const rung *r, const job *j)
{
    if (r->kind == OPTIONS_MARCH) EITHER(j, start_options, (j));
    double start = now();
    int status = r->run[j->is_double](j);
    double seconds = now() - start;
    if (status) stop(r->name, cpu_avx_status_string(status));
    return seconds;
}

/* Times a call of this many operations and bytes, in turn with the loops that measure the limits. */
static timing measure_once(const rung *r, const job *j, double operations, double bytes)
{
    double seconds[MOST_RUNS], of_peak[MOST_RUNS], of_copy[MOST_RUNS], of_four[MOST_RUNS], times[MOST_RUNS];
    double peaks[MOST_RUNS], copies[MOST_RUNS];
    const int isa = r == &comparator ? CPU_AVX_PLAIN : j->isa;
    const int compared = r->kind == OPTIONS_MARCH && r->implicit && r != &comparator;
    job other = *j;
    other.steps = j->steps / 16 + 1; /* the comparator is slow, and a time per step is enough */
    const int distinct = r->kind == BATCH && r->distinct;
    timing t = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int run = -1; run < runs; run++) { /* the first run warms up */
        double peak = measured_peak(isa, j->is_double, j->threads);
        double copy = bytes > 0 ? measured_memory(isa, 0, j->threads) : 1;
        double four = distinct ? measured_memory(isa, 1, j->threads) : 1;
        double s = seconds_of(r, j), plain = compared ? seconds_of(&comparator, &other) : 0;
        /* Of the copies before and after, the faster one counts: a disturbed copy would make the rung look better. */
        if (bytes > 0) copy = fmax(copy, measured_memory(isa, 0, j->threads));
        if (distinct) four = fmax(four, measured_memory(isa, 1, j->threads));
        if (run < 0) continue;
        seconds[run] = s;
        peaks[run] = peak;
        of_peak[run] = 100 * operations / s / peak;
        of_copy[run] = 100 * bytes / s / copy;
        of_four[run] = distinct ? 100 * bytes / s / four : 0;
        copies[run] = copy;
        times[run] = plain / other.steps / (s / j->steps);
    }
    t.ms = 1e3 * median(seconds);
    t.least = 1e3 * seconds[0];
    t.flops = operations / (1e-3 * t.ms);
    t.of_peak = median(of_peak);
    t.bytes = bytes / (1e-3 * t.ms);
    t.of_copy = median(of_copy);
    t.of_four = median(of_four);
    t.times = median(times);
    /* Several threads should reach at least the speed of one. */
    const double *seen = best_peak[isa][j->is_double];
    double expected = j->threads > 1 ? fmax(seen[0], seen[1]) : seen[0];
    t.disturbed = t.ms > 1.25 * t.least || median(peaks) < 0.75 * expected;
    if (bytes > 0 && median(copies) < 0.75 * best_copy[isa][j->threads > 1]) t.disturbed = 1;
    return t;
}

/* Times a call. As long as the row is disturbed, times it again, up to three times. */
static timing measure(const rung *r, const job *j, double operations, double bytes)
{
    timing t = measure_once(r, j, operations, bytes);
    for (int again = 0; t.disturbed && again < 3 && !quick; again++) t = measure_once(r, j, operations, bytes);
    return t;
}

/* ---- table 3 ----------------------------------------------------------------------------------------------------- */

/* Returns how many steps to time: as many as --steps or --full says, or else about 15 ms of them (1 ms with --quick),
   in whole composed steps. */
static int moderate_steps(const rung *r, job *j)
{
    int all = r->implicit ? IMPLICIT_STEPS : EXPLICIT_STEPS, least = all / 250, unit = j->composed ? j->composed : 1;
    double wanted_seconds = quick ? 0.001 : 0.015, most;
    if (steps_given) return steps_given;
    if (full) return all;
    least = (least + unit - 1) / unit * unit;
    j->steps = least;
    double shortest = seconds_of(r, j);
    for (int run = 0; run < 3; run++) shortest = fmin(shortest, seconds_of(r, j));
    most = least * wanted_seconds / shortest;
    if (most >= all) return all / unit * unit;
    return most <= least ? least : (int)most / unit * unit;
}

/* Returns the value after all steps of the paper. */
static double one_factor_value(const rung *r, int isa, int is_double)
{
    job j;
    memset(&j, 0, sizeof j);
    j.isa = isa, j.is_double = is_double, j.threads = 1, j.options = 1;
    j.steps = r->implicit ? IMPLICIT_STEPS : EXPLICIT_STEPS;
    EITHER(&j, make_options, (&j, r->implicit));
    seconds_of(r, &j);
    double value = EITHER(&j, value_at_strike, (&j));
    EITHER(&j, free_options, (&j));
    return value;
}

static void time_options(const rung *r, int isa, int is_double, int threads, double value)
{
    static const double implicit_operations[2] = {20, 17}, exact[2] = {10.4519706236429348623, 10.4515302206847423548};
    job j;
    memset(&j, 0, sizeof j);
    j.isa = isa, j.is_double = is_double, j.threads = threads;
    j.options = options_given ? options_given : full ? ALL_OPTIONS : quick ? 16 * threads : 64;
    EITHER(&j, make_options, (&j, r->implicit));
    if (r->run[0] != explicit4_f32) j.composed = 0;
    j.steps = moderate_steps(r, &j);
    double operations = (double)j.options * POINTS * j.steps * (r->implicit ? implicit_operations[is_double] : 6);
    timing t = measure(r, &j, operations, 0);
    double papers = (double)ALL_OPTIONS / j.options * (r->implicit ? IMPLICIT_STEPS : EXPLICIT_STEPS) / j.steps * t.ms;
    keep_best(&best[0][r->implicit][is_double], papers);
    row(r, &j, POINTS, t, papers, value, fabs(value - exact[r->implicit]), r->within[is_double]);
    EITHER(&j, free_options, (&j));
}

/* ---- table 4 ----------------------------------------------------------------------------------------------------- */

/* Returns the price after all steps; on the coarse grid fewer steps are as stable. */
static double three_factor_value(const rung *r, int isa, int is_double, int threads)
{
    int points = full ? size : VALUE_POINTS, steps = r->implicit ? GRID_IMPLICIT_STEPS : GRID_EXPLICIT_STEPS;
    if (!full) steps = r->implicit ? 20 : (int)ceil(steps * pow((points - 1.0) / 255, 2));
    bs3d_problem problem = three_factor_problem(r->implicit, points, steps);
    job j;
    memset(&j, 0, sizeof j);
    j.isa = isa, j.is_double = is_double, j.threads = threads, j.steps = steps;
    size_t n = (size_t)points * (size_t)points * (size_t)points * (is_double ? 8 : 4);
    j.u = take(n), j.v = take(n);
    EITHER(&j, make_grid, (&j, &problem, r->implicit));
    EITHER(&j, start_grid, (&j, &problem));
    seconds_of(r, &j);
    double value = EITHER(&j, price, (&j, &problem));
    EITHER(&j, free_grid, (&j));
    free(j.u), free(j.v);
    return value;
}

static void time_grid(const rung *r, int isa, int is_double, int threads, double value, void *const *arrays)
{
    int all = r->implicit ? GRID_IMPLICIT_STEPS : GRID_EXPLICIT_STEPS;
    bs3d_problem problem = three_factor_problem(r->implicit, size, all);
    job j;
    memset(&j, 0, sizeof j);
    j.isa = isa, j.is_double = is_double, j.threads = threads;
    j.steps = steps_given ? steps_given : full ? all : r->implicit ? 1 : 2;
    j.u = arrays[0], j.v = arrays[1];
    EITHER(&j, make_grid, (&j, &problem, r->implicit));
    EITHER(&j, start_grid, (&j, &problem));
    double points = pow(size, 3), part = pow(256.0 / size, 3);
    timing t =
        measure(r, &j, points * j.steps * (r->implicit ? 125 : 53), points * j.steps * r->passes * (is_double ? 8 : 4));
    keep_best(&best[1][r->implicit][is_double], t.ms * all / j.steps * part);
    int model = !full || size == 256;
    double bound = closed_form * (r->implicit ? 0.0036 : 0.0006) + (is_double ? 0 : 1e-4);
    row(r, &j, size, t, t.ms * all / j.steps * part, value, model ? fabs(value - closed_form) : -1,
        (full ? 1 : 16) * bound); /* the spacing is 255/63 of the paper's, so the error is 16 times as large */
    EITHER(&j, free_grid, (&j));
}

static void time_batch(const rung *r, int isa, int is_double, int threads, void *const *arrays)
{
    const long long n = size;
    const cpu_avx_lines lines[3] = {{n, 1, n * n, n, 1, 0}, {n, n, n, 1, n, n * n}, {n, n * n, n * n, 1, 1, 0}};
    job j;
    memset(&j, 0, sizeof j);
    j.isa = isa, j.is_double = is_double, j.threads = threads, j.steps = 1;
    j.lines = lines[r->direction];
    EITHER(&j, make_batch, (&j, r->distinct, arrays));
    double points = pow(size, 3);
    timing t = measure(r, &j, 0, points * r->passes * (is_double ? 8 : 4));
    row(r, &j, size, t, 0, 0, EITHER(&j, largest_error, (&j)), r->within[is_double]);
    EITHER(&j, free_batch, (&j));
}

/* ---- table 5 ----------------------------------------------------------------------------------------------------- */

/* Reads the best times in a results file of bs1d_timing (2048 options) or bs3d_timing (256^3 points). */
static void read_gpu_results(const char *file, int factors)
{
    char line[512], name[64], precision[8];
    int size_or_options;
    double ms;
    FILE *f = file ? fopen(file, "r") : NULL;
    if (file && !f) stop(file, "cannot be read");
    while (f && fgets(line, sizeof line, f)) {
        const char *format = factors == 1 ? "%63[^,],%7[^,],%d,256,%*d,%lf" : "%63[^,],%7[^,],%d,256,256,%*d,%lf";
        if (sscanf(line, format, name, precision, &size_or_options, &ms) != 4) continue;
        if (size_or_options != (factors == 1 ? ALL_OPTIONS : 256)) continue;
        int implicit = !strncmp(name, "implicit", 8);
        if (implicit || !strncmp(name, "explicit", 8))
            keep_best(&best_on_gpu[factors == 3][implicit][!strcmp(precision, "f64")], ms);
    }
    if (f) fclose(f);
}

static void table_5(void)
{
    printf("\nTable 5: the best rungs at the paper's sizes, in milliseconds, and how many times faster the GPU is\n"
           "                GPU f32 ms   GPU f64 ms   CPU f32 ms   CPU f64 ms  times f32  times f64\n");
    for (int kind = 0; kind < 4; kind++) {
        const double *gpu = best_on_gpu[kind / 2][kind % 2], *cpu = best[kind / 2][kind % 2];
        printf("%dF %s", kind / 2 ? 3 : 1, kind % 2 ? "implicit" : "explicit");
        for (int i = 0; i < 4; i++) printf(" %12.4g", i < 2 ? gpu[i] : cpu[i - 2]);
        for (int i = 0; i < 2; i++) printf(" %10.4g", gpu[i] > 0 ? cpu[i] / gpu[i] : 0);
        printf("\n");
    }
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* Prints the usage. argument: the one that was not understood, or null if one is missing. Returns main's status. */
static int usage(const char *argument)
{
    fprintf(stderr, "cpu_timing: %s%s\n",
            argument ? "not understood, or not available here: " : "something is missing at the end",
            argument ? argument : "");
    fprintf(stderr,
            "usage: cpu_timing [f32|f64] [--isa plain|avx|avx2|avx512|neon] [--threads N] [--options N] [--steps N]\n"
            "                  [--size N] [--runs N] [--full | --quick] [--csv [FILE]] [--gpu1 FILE --gpu3 FILE]\n");
    return 2;
}

/* Returns the argument if it is a positive number, else 0. */
static int number(const char *argument)
{
    char *end = NULL;
    long n = argument ? strtol(argument, &end, 10) : 0;
    return end && !*end && n > 0 && n < 1000000 ? (int)n : 0;
}

static int isa_of(const char *name)
{
    for (int isa = 0; isa < CPU_AVX_ISAS; isa++)
        if (name && !strcmp(name, cpu_avx_name(isa)) && cpu_avx_has(isa)) return isa;
    return -1;
}

/* Calls f for each set, precision and number of threads. */
static void for_each(const int *isas, const int *threads, void (*f)(int isa, int is_double, const int *threads))
{
    for (int is_double = 0; is_double < 2; is_double++)
        for (int i = 0; i < 2; i++)
            if (wanted[is_double] && isas[i] >= 0) f(isas[i], is_double, threads);
}

static void time_rung(const rung *r, int isa, int is_double, const int *threads)
{
    double value = one_factor_value(r, isa, is_double);
    for (int k = 0; k < 2 && threads[k]; k++) time_options(r, isa, is_double, threads[k], value);
}

static void table_3(int isa, int is_double, const int *threads)
{
    static int compared[2]; /* the comparator belongs to no instruction set: it is timed once in each precision */
    group_heading(isa, is_double);
    if (!compared[is_double]) time_rung(&comparator, isa, is_double, threads);
    compared[is_double] = 1;
    for (size_t i = 0; i < sizeof ladder_1 / sizeof ladder_1[0]; i++) time_rung(&ladder_1[i], isa, is_double, threads);
}

static void table_4(int isa, int is_double, const int *threads)
{
    void *arrays[5];
    group_heading(isa, is_double);
    size_t bytes = (size_t)size * (size_t)size * (size_t)size * (is_double ? 8 : 4);
    for (int i = 0; i < 5; i++) arrays[i] = take(bytes);
    for (size_t i = 0; i < sizeof ladder_3 / sizeof ladder_3[0]; i++) {
        const rung *r = &ladder_3[i];
        int most = threads[1] ? threads[1] : threads[0];
        double value = r->kind == GRID_MARCH ? three_factor_value(r, isa, is_double, most) : 0;
        for (int k = 0; k < 2 && threads[k]; k++) {
            if (r->kind == GRID_MARCH)
                time_grid(r, isa, is_double, threads[k], value, arrays);
            else
                time_batch(r, isa, is_double, threads[k], arrays);
        }
    }
    for (int i = 0; i < 5; i++) free(arrays[i]);
}

/* Takes a second or two to print how fast the machine seems to be, and whether it is busy. */
static void announce_speed(int isa, const int *threads)
{
    enum { TRIES = 15 };
    const int tries = quick ? 3 : TRIES;
    double single[2] = {0, 0};
    int steady = 1;
    for (int k = 0; k < 2 && threads[k]; k++) {
        double speed[2][TRIES], copy = 0;
        for (int i = -1; i < tries; i++) { /* the first run warms up */
            double pair[2] = {measured_peak(isa, 0, threads[k]), measured_peak(isa, 1, threads[k])};
            if (i >= 0) speed[0][i] = pair[0], speed[1][i] = pair[1];
        }
        for (int i = 0; i < 3; i++) copy = fmax(copy, measured_memory(isa, 0, threads[k]));
        for (int i = 0; i < 2; i++) {
            qsort(speed[i], (size_t)tries, sizeof speed[i][0], ascending);
            steady = steady && speed[i][tries / 2] > 0.8 * speed[i][tries - 1];
        }
        single[k] = speed[0][tries / 2];
        printf(
            "%s, %d thread%s: multiply-adds at %.4g GFlop/s in single, %.4g in double precision; copy at %.3g GB/s\n",
            cpu_avx_name(isa), threads[k], threads[k] > 1 ? "s" : "", 1e-9 * single[k], 1e-9 * speed[1][tries / 2],
            1e-9 * copy);
        fflush(stdout);
    }
    if (!steady)
        printf("Warning: the speed of multiply-adds varies by more than a fifth: is something else running?\n");
    if (single[1] > 0 && single[1] < 0.7 * threads[1] * single[0])
        printf("Warning: %d threads are only %.2g times as fast as one: something else is running, or they share\n"
               "cores.\n",
               threads[1], single[1] / single[0]);
}

/* Prints what will be done and how long it takes, and what will not be done and why. */
static void announce(const int *isas, const int *threads, int with_table_5)
{
    const int rungs = (int)(sizeof ladder_1 / sizeof ladder_1[0] + sizeof ladder_3 / sizeof ladder_3[0]);
    const int precisions = wanted[0] + wanted[1], sets = isas[1] < 0 ? 1 : 2, ways = threads[1] ? 2 : 1;
    rows_planned = precisions * ways * (1 + sets * rungs);
    started = now();
    if (!table) return;
    printf("Tables 3%s of the paper, %d rows: ", with_table_5 ? ", 4 and 5" : " and 4", rows_planned);
    if (full || options_given || steps_given || size > 256 || runs > 7)
        printf("at these sizes it may take hours.\n");
    else
        printf("about %.0f s.\n", quick ? 3.0 : 10 + 0.9 * rows_planned);
    if (!with_table_5) printf("Skipped: table 5, the CPU against a GPU, which needs --gpu1 and --gpu3.\n");
    for (int isa = 0; isa < CPU_AVX_ISAS; isa++)
        if (!cpu_avx_has(isa)) printf("Skipped: %s, which this processor does not have.\n", cpu_avx_name(isa));
    if (!threads[1] && !threads_given) printf("Skipped: rows of several threads: one processor, or no OpenMP.\n");
    fflush(stdout);
    announce_speed(isas[0], threads);
}

static void conclude(void)
{
    if (!table) return;
    printf("\n%d rows in %.0f s.", rows_done, now() - started);
    if (rows_disturbed)
        printf(" Warning: %d of them, marked \"!\", were disturbed: their runs differ by more than a quarter, or the\n"
               "multiply-adds or copies beside them were slower by as much. On a quiet machine there are few or none.",
               rows_disturbed);
    printf("\n");
}

int main(int argc, char **argv)
{
    const char *file = NULL, *gpu[2] = {NULL, NULL};
    int isas[2] = {cpu_avx_best(), CPU_AVX_AVX2}, threads[2] = {1, 0};
    for (int i = 1; i < argc; i++) { /* argv ends with a null pointer, which is not a number */
        int *numbers[] = {&threads_given, &options_given, &steps_given, &size, &runs}, known = 0;
        static const char *const names[] = {"--threads", "--options", "--steps", "--size", "--runs"};
        for (int k = 0; k < 5; k++)
            if (!strcmp(argv[i], names[k])) known = 1 + k;
        if (known) {
            if (!(*numbers[known - 1] = number(argv[++i]))) return usage(argv[i]);
        } else if (!strcmp(argv[i], "f32") || !strcmp(argv[i], "f64")) {
            wanted[argv[i][1] == '3'] = 0;
        } else if (!strcmp(argv[i], "--isa")) {
            if ((isa_given = isa_of(argv[++i])) < 0) return usage(argv[i]);
        } else if (!strcmp(argv[i], "--full")) {
            full = 1;
        } else if (!strcmp(argv[i], "--quick")) {
            quick = 1, size = 32, runs = 3;
        } else if (!strncmp(argv[i], "--gpu", 5) && (argv[i][5] == '1' || argv[i][5] == '3') && !argv[i][6]) {
            if (i + 1 == argc) return usage(NULL);
            gpu[argv[i][5] == '3'] = argv[i + 1], i++;
        } else if (!strcmp(argv[i], "--csv")) {
            if (i + 1 < argc && strncmp(argv[i + 1], "--", 2) && strcmp(argv[i + 1], "f32") &&
                strcmp(argv[i + 1], "f64"))
                file = argv[++i];
            else
                table = 0;
        } else {
            return usage(argv[i]);
        }
    }
    if (size < 4 || size > MOST_POINTS) return fprintf(stderr, "--size must be 4 to %d\n", MOST_POINTS), 2;
    if (runs > MOST_RUNS) return fprintf(stderr, "--runs must be 1 to %d\n", MOST_RUNS), 2;
    if (threads_given > MOST_THREADS) return fprintf(stderr, "--threads must be 1 to %d\n", MOST_THREADS), 2;
    if (!(wanted[0] || wanted[1])) wanted[0] = wanted[1] = 1;
    csv = table ? NULL : stdout;
    if (file && !(csv = fopen(file, "w"))) return perror(file), 2;
    if (isa_given >= 0) isas[0] = isa_given, isas[1] = -1;
    if (isas[0] == isas[1] || !cpu_avx_has(CPU_AVX_AVX2)) isas[1] = -1;
#ifdef _OPENMP
    if (omp_get_max_threads() > 1) threads[1] = omp_get_max_threads();
#endif
    if (threads_given) threads[0] = threads_given, threads[1] = 0;
    read_gpu_results(gpu[0], 1);
    read_gpu_results(gpu[1], 3);

    heading();
    announce(isas, threads, gpu[0] || gpu[1]);
    table_heading(legend_3);
    for_each(isas, threads, table_3);
    table_heading(legend_4);
    for_each(isas, threads, table_4);
    if (table && (gpu[0] || gpu[1])) table_5();
    conclude();
    if (file && fclose(csv)) return perror(file), 1;
    return bad ? 1 : 0;
}

#else /* REAL: the body, in one precision */

/* ---- one factor -------------------------------------------------------------------------------------------------- */

#define OPTIONS_RUNG(stem)                                                                                             \
    static int F(stem)(const job *j)                                                                                   \
    {                                                                                                                  \
        return F(cpu_avx_##stem)(j->isa, j->options, POINTS, j->steps, (const REAL *)j->a, (const REAL *)j->b,         \
                                 (const REAL *)j->c, (REAL *)j->u, j->work, j->threads);                               \
    }
OPTIONS_RUNG(explicit1)
OPTIONS_RUNG(explicit2)
OPTIONS_RUNG(explicit3)
OPTIONS_RUNG(implicit1)
OPTIONS_RUNG(implicit2)
OPTIONS_RUNG(implicit3)
#undef OPTIONS_RUNG

/* Marches composed steps, and the remaining steps with explicit2. */
static int F(explicit4)(const job *j)
{
    job rest = *j;
    int status = CPU_AVX_OK;
    if (j->composed) {
        rest.steps = j->steps % j->composed;
        status = F(cpu_avx_explicit4)(j->isa, j->options, POINTS, REACH, j->steps / j->composed, (const REAL *)j->band,
                                      (REAL *)j->u, j->work, j->threads);
    }
    return status || !rest.steps ? status : F(explicit2)(&rest);
}

/* The Thomas algorithm as one writes it: one option after another, a division a row. */
static int F(thomas_plain)(const job *j)
{
    PARALLEL(omp parallel for num_threads(j->threads))
    for (int option = 0; option < j->options; option++) {
        const size_t at = (size_t)option * POINTS;
        const REAL *a = (const REAL *)j->a + at, *b = (const REAL *)j->b + at, *c = (const REAL *)j->c + at;
        REAL *u = (REAL *)j->u + at, q[POINTS];
        for (int step = 0; step < j->steps; step++) {
            q[0] = c[0] / b[0];
            u[0] = u[0] / b[0];
            for (int i = 1; i < POINTS; i++) {
                REAL r = 1 / (b[i] - a[i] * q[i - 1]);
                q[i] = c[i] * r;
                u[i] = (u[i] - a[i] * u[i - 1]) * r;
            }
            for (int i = POINTS - 2; i >= 0; i--) u[i] -= q[i] * u[i + 1];
        }
    }
    return CPU_AVX_OK;
}

/* Makes the same matrices for each option: A and the rows of composed steps, or I - A. */
static void F(make_options)(job *j, int implicit)
{
    const size_t n = (size_t)j->options * POINTS, width = 2 * REACH + 1;
    const bs1d_model m = one_factor_model(implicit);
    REAL *a = (REAL *)take(n * sizeof *a), *b = (REAL *)take(n * sizeof *b), *c = (REAL *)take(n * sizeof *c);
    REAL *band = (REAL *)take(n * width * sizeof *band);
    for (int row = 0; row < POINTS; row++) {
        double ra, rb, rc;
        bs1d_lane_row(m, row, &ra, &rb, &rc);
        for (size_t at = (size_t)row; at < n; at += POINTS) {
            a[at] = (REAL)(implicit ? -ra : ra);
            b[at] = (REAL)(implicit ? 1 - rb : rb);
            c[at] = (REAL)(implicit ? -rc : rc);
        }
    }
    if (!implicit) {
        F(bs1d_lane_sweeps)(REACH, F(bs1d_lane_composed)(m, REACH), EXPLICIT_STEPS, &j->composed);
        for (int row = 0; row < POINTS && j->composed; row++)
            F(bs1d_lane_compose)(1, REACH, m, row, j->composed, band + (size_t)row * width);
        for (size_t at = POINTS; at < n; at += POINTS) memcpy(band + at * width, band, POINTS * width * sizeof *band);
    }
    size_t work[2] = {F(cpu_avx_explicit_bytes)(POINTS, 0, j->threads),
                      F(cpu_avx_explicit_bytes)(POINTS, REACH, j->threads)};
    if (implicit) work[0] = work[1] = F(cpu_avx_implicit_bytes)(POINTS, j->threads);
    j->a = a, j->b = b, j->c = c, j->band = band;
    j->u = take(n * sizeof(REAL));
    j->work = take(work[0] > work[1] ? work[0] : work[1]);
}

static void F(start_options)(const job *j)
{
    for (int option = 0; option < j->options; option++)
        for (int row = 0; row < POINTS; row++)
            ((REAL *)j->u)[(size_t)option * POINTS + (size_t)row] =
                (REAL)bs1d_lane_payoff(BS1D_CALL, 100, 200.0 / (POINTS - 1), POINTS, row);
}

static double F(value_at_strike)(const job *j)
{
    const REAL *u = (const REAL *)j->u;
    return ((double)u[POINTS / 2 - 1] + (double)u[POINTS / 2]) / 2;
}

static void F(free_options)(const job *j)
{
    free((void *)j->a), free((void *)j->b), free((void *)j->c), free((void *)j->band), free(j->u), free(j->work);
}

/* ---- three factors ----------------------------------------------------------------------------------------------- */

typedef struct {
    F(cpu_avx_grid) grid;
    REAL row[3][3][MOST_POINTS], factor[3][CPU_AVX_FACTOR_LEN(MOST_POINTS)];
} F(operator_3);

static int F(grid_explicit1)(const job *j)
{
    return F(cpu_avx_grid_explicit1)(j->isa, (const F(cpu_avx_grid) *)j->grid, j->steps, (REAL *)j->u, (REAL *)j->v,
                                     j->work, j->threads);
}
static int F(grid_explicit2)(const job *j)
{
    return F(cpu_avx_grid_explicit2)(j->isa, (const F(cpu_avx_grid) *)j->grid, j->steps, (REAL *)j->u, (REAL *)j->v,
                                     j->work, j->threads);
}
#define IMPLICIT_RUNG(stem)                                                                                            \
    static int F(stem)(const job *j)                                                                                   \
    {                                                                                                                  \
        return F(cpu_avx_##stem)(j->isa, (const F(cpu_avx_grid) *)j->grid, j->steps, (const REAL *)j->factor[0],       \
                                 (const REAL *)j->factor[1], (const REAL *)j->factor[2], (REAL *)j->u, (REAL *)j->v,   \
                                 j->work, j->threads);                                                                 \
    }
IMPLICIT_RUNG(grid_implicit1)
IMPLICIT_RUNG(grid_implicit2)
#undef IMPLICIT_RUNG

/* Makes the operator of a problem, and for implicit steps the factors of I - L on each axis. */
static void F(make_grid)(job *j, const bs3d_problem *o, int implicit)
{
    const bs3d_model m = bs3d_model_of(o);
    const F(bs3d_pairs) pairs = F(bs3d_lane_pairs)(&m, !implicit);
    F(operator_3) *l = (F(operator_3) *)take(sizeof *l);
    int wrong = bs3d_check(o, implicit);
    if (wrong) stop("problem", bs3d_status_string(wrong));
    l->grid.nx = o->points[0], l->grid.ny = o->points[1], l->grid.nz = o->points[2], l->grid.pitch = o->points[0];
    l->grid.same = pairs.same;
    for (int axis = 0; axis < 3; axis++) {
        REAL a[MOST_POINTS], b[MOST_POINTS], c[MOST_POINTS];
        for (int i = 0; i < o->points[axis]; i++) {
            const F(bs3d_row) r = F(bs3d_lane_row)(&m, axis, i);
            double down, centre, up;
            bs3d_lane_axis(&m, axis, i, &down, &centre, &up);
            if (axis == 0) centre -= m.discount;
            l->row[axis][0][i] = r.down, l->row[axis][1][i] = r.up, l->row[axis][2][i] = r.weight;
            a[i] = (REAL)-down, b[i] = (REAL)(1 - centre), c[i] = (REAL)-up;
        }
        if (F(cpu_avx_factor)(o->points[axis], a, b, c, l->factor[axis])) stop("problem", "bad pivot");
        l->grid.plus[axis] = pairs.plus[axis], l->grid.minus[axis] = pairs.minus[axis];
        l->grid.down[axis] = l->row[axis][0], l->grid.up[axis] = l->row[axis][1],
        l->grid.weight[axis] = l->row[axis][2];
        j->factor[axis] = l->factor[axis];
    }
    j->grid = l;
    j->work = take(F(cpu_avx_grid_bytes)(&l->grid, j->threads));
}

static void F(start_grid)(const job *j, const bs3d_problem *o)
{
    const int n = o->points[0];
    const double step = o->top[0] / (n - 1);
    PARALLEL(omp parallel for num_threads(j->threads))
    for (int k = 0; k < n; k++)
        for (int row = 0; row < n; row++)
            for (int i = 0; i < n; i++) {
                size_t at = (size_t)i + (size_t)n * ((size_t)row + (size_t)n * (size_t)k);
                ((REAL *)j->u)[at] = (REAL)bs3d_lane_payoff(o->payoff, 0, o->strike, i * step, row * step, k * step);
                ((REAL *)j->v)[at] = 0;
            }
}

/* Interpolates from the 64 points around the spot. */
static double F(price)(const job *j, const bs3d_problem *o)
{
    const int n = o->points[0], first = (int)(o->spot[0] / (o->top[0] / (n - 1))) - 1;
    REAL around[64];
    for (int i = 0; i < 64; i++) {
        size_t x = (size_t)(first + i % 4), y = (size_t)(first + i / 4 % 4), z = (size_t)(first + i / 16);
        around[i] = ((const REAL *)j->u)[x + (size_t)n * (y + (size_t)n * z)];
    }
    bs3d_result result = F(bs3d_lane_greeks)(o, around);
    if (result.status) stop("price", bs3d_status_string(result.status));
    return result.price;
}

static void F(free_grid)(const job *j)
{
    free((void *)j->grid), free(j->work);
}

/* ---- batches of systems ------------------------------------------------------------------------------------------ */

static int F(thomas)(const job *j)
{
    return F(cpu_avx_thomas)(j->isa, &j->lines, (const REAL *)j->a, (const REAL *)j->b, (const REAL *)j->c,
                             (const REAL *)j->d, (REAL *)j->u, j->work, j->threads);
}
static int F(hybrid)(const job *j)
{
    return F(cpu_avx_hybrid)(j->isa, &j->lines, (const REAL *)j->a, (const REAL *)j->b, (const REAL *)j->c,
                             (const REAL *)j->d, (REAL *)j->u, j->work, j->threads);
}
static int F(solve)(const job *j)
{
    return F(cpu_avx_solve)(j->isa, &j->lines, (const REAL *)j->factor[0], (const REAL *)j->u, (REAL *)j->u, j->work,
                            j->threads);
}

/* Makes systems whose solution is all ones. If one matrix serves all, its rows sum to 1: the right-hand side is
   then all ones too, and the solve in place can be repeated. */
static void F(make_batch)(job *j, int distinct, void *const *arrays)
{
    const long long n = j->lines.n, points = n * n * n;
    REAL *a = (REAL *)arrays[0], *b = (REAL *)arrays[1], *c = (REAL *)arrays[2], *d = (REAL *)arrays[3];
    REAL *x = (REAL *)arrays[4];
    size_t work = F(cpu_avx_solve_bytes)(&j->lines, j->threads);
    if (distinct) {
        PARALLEL(omp parallel for num_threads(j->threads))
        for (long long at = 0; at < points; at++) {
            long long i = at / j->lines.step % n;
            a[at] = (REAL)(-0.2 - 0.05 * (double)(at % 3));
            c[at] = (REAL)(-0.25 - 0.05 * (double)(at % 2));
            b[at] = (REAL)(1.125 + 0.25 * (double)(at % 5));
            d[at] = b[at] + (i > 0 ? a[at] : 0) + (i < n - 1 ? c[at] : 0);
            x[at] = 0;
        }
        const size_t thomas = F(cpu_avx_thomas_bytes)(&j->lines, j->threads);
        const size_t hybrid = F(cpu_avx_hybrid_bytes)(&j->lines, j->threads);
        work = thomas > hybrid ? thomas : hybrid;
    } else {
        REAL *factor = (REAL *)take(CPU_AVX_FACTOR_LEN((size_t)n) * sizeof *factor);
        for (long long i = 0; i < n; i++) {
            a[i] = (REAL)-0.25, c[i] = (REAL)-0.5;
            b[i] = 1 - (i > 0 ? a[i] : 0) - (i < n - 1 ? c[i] : 0);
        }
        if (F(cpu_avx_factor)(n, a, b, c, factor)) stop("batch", "bad pivot");
        for (long long at = 0; at < points; at++) x[at] = 1;
        j->factor[0] = factor;
    }
    j->a = a, j->b = b, j->c = c, j->d = d, j->u = x;
    j->work = take(work);
}

static double F(largest_error)(const job *j)
{
    const long long points = j->lines.n * j->lines.n * j->lines.n;
    double largest = 0;
    for (long long at = 0; at < points; at++) {
        double error = fabs((double)((const REAL *)j->u)[at] - 1);
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

static void F(free_batch)(const job *j)
{
    free((void *)j->factor[0]), free(j->work);
}
#endif
