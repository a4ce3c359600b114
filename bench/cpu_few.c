/* cpu_few.c - cpu_avx.h on few systems and many, short and long, against a plain loop and LAPACK's gtsv.
   MIT licence, see LICENSE.

       cpu_few [--csv FILE]

   Runs the best instruction set. The plain loop is the Thomas algorithm as one writes it first: it solves contiguous
   systems one after another, and interleaved systems up to 256 at a time, in a loop that the compiler vectorises. The
   systems are divided among the threads. gtsv, which pivots, is that of liblapack.so.3 if the machine has it; it runs
   on one thread and works on a copy of each system. Arrays begin on cache lines.

   Prints nanoseconds a row of the plain loop, the speeds of cpu_avx_thomas and cpu_avx_hybrid relative to it, and that
   of cpu_avx_thomas relative to gtsv. These are medians of 5 repeats, in each of which all methods run one after
   another. Batches of more than 400,000 rows get 3 repeats, and gtsv runs only in the first. Each timed run follows an
   untimed run of the same method, so that the caches hold what that method leaves there, not what another one left. The
   file includes itself for each precision. */
#ifndef REAL
#define _DEFAULT_SOURCE
#include "../cpu_avx.h"
#include "orders.h"

#include <dlfcn.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { PLAIN, THOMAS, HYBRID, LAPACK, METHODS };
enum { TURNS = 5, ROWS_A_RUN = 400000, MOST_ELEMENTS = 1 << 25, SIDE_BY_SIDE = 256 };

/* Tells gcc that the arrays of the loop do not overlap; clang needs no hint. */
#if defined __GNUC__ && !defined __clang__
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

static void *take(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) fprintf(stderr, "cpu_few: out of memory\n"), exit(1);
    return p;
}

static void must(int status)
{
    if (status) fprintf(stderr, "cpu_few: %s\n", cpu_avx_status_string(status)), exit(1);
}

static void *lapack; /* null if the machine has none */

#define REAL float
#define F(stem) stem##_f32
#define GTSV "sgtsv_"
#ifdef __FP_FAST_FMAF
#define MADD fmaf
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif
#include "cpu_few.c"
#undef REAL
#undef F
#undef GTSV
#undef MADD

#define REAL double
#define F(stem) stem##_f64
#define GTSV "dgtsv_"
#ifdef __FP_FAST_FMA
#define MADD fma
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif
#include "cpu_few.c"

/* Systems in planes of 64, like the lines along y of a grid. Fewer than 64 leave one element of each row unused. */
static cpu_avx_lines planes(long long n, long long systems)
{
    const long long side = systems < 64 ? systems : 64, pitch = systems < 64 ? side + 1 : side;
    const cpu_avx_lines lines = {n, pitch, side, 1, (systems + side - 1) / side, pitch * n};
    return lines;
}

/* Groups with an element between them: contiguous and interleaved systems that can be cut, and short rows. */
static const struct {
    const char *layout;
    cpu_avx_lines lines;
} grouped[] = {{"contiguous_groups", {2500, 1, 2, 2500, 16, 2 * 2500 + 1}},
               {"contiguous_groups", {20000, 1, 4, 20000, 16, 4 * 20000 + 1}},
               {"interleaved_groups", {1000, 3, 3, 1, 300, 3 * 1000 + 1}},
               {"interleaved_groups", {1000, 7, 7, 1, 300, 7 * 1000 + 1}},
               {"interleaved_groups", {1000, 12, 12, 1, 300, 12 * 1000 + 1}},
               {"interleaved_groups", {20000, 5, 5, 1, 16, 5 * 20000 + 1}},
               {"interleaved_groups", {100000, 64, 64, 1, 4, 64 * 100000 + 1}}};

int main(int argc, char **argv)
{
    static const int rows[] = {32, 100, 137, 1000, 10000, 100000, 1000000, 10000000};
    static const int systems[] = {1, 2, 4, 16, 1000, 65536};
    lapack = dlopen("liblapack.so.3", RTLD_NOW);
    orders_begin(argc, argv, "cpu_few",
                 lapack ? "speed as multiples of a plain loop's with as many threads, and of LAPACK's gtsv with one"
                        : "speed as multiples of a plain loop's with as many threads; no liblapack.so.3 here");
    orders_line("precision,isa,layout,rows,systems,threads,plain_ns_a_row,thomas_speedup,hybrid_speedup,of_gtsv\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
            const long long n = rows[i], s = systems[k];
            const cpu_avx_lines lines[] = {cpu_avx_lines_contiguous(n, s), cpu_avx_lines_interleaved(n, s),
                                           planes(n, s)};
            static const char *const layout[] = {"contiguous", "interleaved", "planes"};
            for (int l = 0; l < (s == 1 ? 1 : 3) && n * s <= MOST_ELEMENTS; l++)
                for (int threads = 1; threads <= 2; threads++) {
                    measure_f32(layout[l], &lines[l], threads);
                    measure_f64(layout[l], &lines[l], threads);
                }
        }
    for (size_t i = 0; i < sizeof grouped / sizeof *grouped; i++)
        for (int threads = 1; threads <= 2; threads++) {
            measure_f32(grouped[i].layout, &grouped[i].lines, threads);
            measure_f64(grouped[i].layout, &grouped[i].lines, threads);
        }
    return orders_close();
}

#else /* REAL: the precision at hand */

/* Solves one contiguous or strided system from element `at` on. */
static void F(plain_system)(const cpu_avx_lines *lines, ptrdiff_t at, const REAL *a, const REAL *b, const REAL *c,
                            const REAL *d, REAL *x, REAL *work)
{
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step;
    REAL r = 1 / b[at], above_c = work[0] = c[at] * r, above_x = x[at] = d[at] * r;
    for (ptrdiff_t j = 1; j < n; j++) {
        at += step;
        r = 1 / MADD(-a[at], above_c, b[at]);
        work[j] = above_c = c[at] * r;
        x[at] = above_x = MADD(-a[at], above_x, d[at]) * r;
    }
    for (ptrdiff_t j = n - 2; j >= 0; j--) {
        at -= step;
        x[at] = above_x = MADD(-work[j], above_x, x[at]);
    }
}

/* Solves `count` interleaved systems together, from element `at` on. */
static void F(plain_rows)(const cpu_avx_lines *lines, ptrdiff_t at, int count, const REAL *a, const REAL *b,
                          const REAL *c, const REAL *d, REAL *x, REAL *work)
{
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step;
    REAL above_c[SIDE_BY_SIDE] = {0}, above_x[SIDE_BY_SIDE] = {0};
    for (ptrdiff_t j = 0; j < n; j++, at += step) {
        REAL *row = work + j * count, *to = x + at;
        const REAL *aj = a + at, *bj = b + at, *cj = c + at, *dj = d + at;
        INDEPENDENT
        for (int s = 0; s < count; s++) {
            const REAL below = j ? aj[s] : 0, r = 1 / MADD(-below, above_c[s], bj[s]);
            row[s] = above_c[s] = cj[s] * r;
            to[s] = above_x[s] = MADD(-below, above_x[s], dj[s]) * r;
        }
    }
    for (ptrdiff_t j = n - 2; j >= 0; j--) {
        const REAL *row = work + j * count;
        REAL *to = x + at + (j - n) * step;
        INDEPENDENT
        for (int s = 0; s < count; s++) to[s] = above_x[s] = MADD(-row[s], above_x[s], to[s]);
    }
}

/* Solves a batch by the plain loop. */
static void F(plain)(const cpu_avx_lines *lines, const REAL *a, const REAL *b, const REAL *c, const REAL *d, REAL *x,
                     REAL *work, int threads)
{
    const int many = lines->systems < SIDE_BY_SIDE ? (int)lines->systems : SIDE_BY_SIDE;
    const int side = lines->stride != 1 ? 1 : many;
    const ptrdiff_t in_group = (ptrdiff_t)(lines->systems + side - 1) / side, room = (ptrdiff_t)lines->n * side;
    (void)threads, (void)room;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
#endif
    for (ptrdiff_t t = 0; t < in_group * (ptrdiff_t)lines->groups; t++) {
        const ptrdiff_t first = t % in_group * side, left = (ptrdiff_t)lines->systems - first;
        const ptrdiff_t at = t / in_group * (ptrdiff_t)lines->jump + first * (ptrdiff_t)lines->stride;
#ifdef _OPENMP
        REAL *mine = work + omp_get_thread_num() * room;
#else
        REAL *mine = work;
#endif
        if (side == 1)
            F(plain_system)(lines, at, a, b, c, d, x, mine);
        else
            F(plain_rows)(lines, at, (int)(left < side ? left : side), a, b, c, d, x, mine);
    }
}

typedef void F(gtsv)(const int *, const int *, REAL *, REAL *, REAL *, REAL *, const int *, int *);

/* Solves all systems by gtsv, each in a copy. */
static void F(by_gtsv)(F(gtsv) * solve, const cpu_avx_lines *lines, const REAL *a, const REAL *b, const REAL *c,
                       const REAL *d, REAL *x, REAL *copy)
{
    const int n = (int)lines->n, one = 1;
    const ptrdiff_t step = (ptrdiff_t)lines->step;
    REAL *low = copy, *middle = low + n, *high = middle + n, *right = high + n;
    for (ptrdiff_t s = 0; s < lines->systems * lines->groups; s++) {
        const ptrdiff_t at = s / (ptrdiff_t)lines->systems * (ptrdiff_t)lines->jump +
                             s % (ptrdiff_t)lines->systems * (ptrdiff_t)lines->stride;
        int failed;
        for (ptrdiff_t j = 0; j < n; j++) {
            if (j > 0) low[j - 1] = a[at + j * step];
            middle[j] = b[at + j * step], high[j] = c[at + j * step], right[j] = d[at + j * step];
        }
        solve(&n, &one, low, middle, high, right, &n, &failed);
        if (failed) fprintf(stderr, "cpu_few: gtsv failed\n"), exit(1);
        for (ptrdiff_t j = 0; j < n; j++) x[at + j * step] = right[j];
    }
}

/* A batch, its arrays, and the memory and settings of the methods. */
typedef struct {
    cpu_avx_lines lines;
    REAL *a, *b, *c, *d, *x, *own;
    void *work;
    F(gtsv) * solve;
    int threads;
} F(batch);

static void F(solve_by)(int method, const F(batch) * p)
{
    const int isa = cpu_avx_best();
    if (method == PLAIN) F(plain)(&p->lines, p->a, p->b, p->c, p->d, p->x, p->own, p->threads);
    if (method == THOMAS) must(F(cpu_avx_thomas)(isa, &p->lines, p->a, p->b, p->c, p->d, p->x, p->work, p->threads));
    if (method == HYBRID) must(F(cpu_avx_hybrid)(isa, &p->lines, p->a, p->b, p->c, p->d, p->x, p->work, p->threads));
    if (method == LAPACK) F(by_gtsv)(p->solve, &p->lines, p->a, p->b, p->c, p->d, p->x, p->own);
}

/* Times all methods on a batch, and writes its line. */
static void F(time_all)(const char *layout, const F(batch) * p)
{
    const size_t systems = (size_t)(p->lines.systems * p->lines.groups), rows = (size_t)p->lines.n * systems;
    const int again = (int)(ROWS_A_RUN / rows) + 1, turns = again > 1 ? TURNS : 3;
    const int turns_of_lapack = !p->solve ? 0 : again > 1 ? TURNS : 1;
    double plain[TURNS], thomas[TURNS], hybrid[TURNS], gtsv[TURNS];
    for (int turn = 0; turn < turns; turn++) {
        double took[METHODS] = {0};
        for (int method = 0; method < (turn < turns_of_lapack ? METHODS : LAPACK); method++) {
            F(solve_by)(method, p);
            const double start = orders_seconds();
            for (int k = 0; k < again; k++) F(solve_by)(method, p);
            took[method] = orders_seconds() - start;
        }
        plain[turn] = took[PLAIN] * 1e9 / again / (double)rows;
        thomas[turn] = took[PLAIN] / took[THOMAS];
        hybrid[turn] = took[PLAIN] / took[HYBRID];
        gtsv[turn] = took[LAPACK] / took[THOMAS];
    }
    char row[200], of_gtsv[20] = "";
    if (turns_of_lapack) snprintf(of_gtsv, sizeof of_gtsv, "%.2f", orders_median(gtsv, turns_of_lapack));
    snprintf(row, sizeof row, "f%d,%s,%s,%lld,%lld,%d,%.2f,%.2f,%.2f,%s\n", 8 * (int)sizeof(REAL),
             cpu_avx_name(cpu_avx_best()), layout, p->lines.n, (long long)systems, p->threads,
             orders_median(plain, turns), orders_median(thomas, turns), orders_median(hybrid, turns), of_gtsv);
    orders_line(row);
}

static void F(measure)(const char *layout, const cpu_avx_lines *lines, int threads)
{
    const size_t count = (size_t)((lines->n - 1) * lines->step + (lines->systems - 1) * lines->stride +
                                  (lines->groups - 1) * lines->jump + 1);
    const size_t thomas_bytes = F(cpu_avx_thomas_bytes)(lines, threads);
    const size_t hybrid_bytes = F(cpu_avx_hybrid_bytes)(lines, threads);
    const size_t apart = (count * sizeof(REAL) / 64 + 3) * 64 / sizeof(REAL); /* not in the same sets of a cache */
    const size_t side = lines->systems < SIDE_BY_SIDE ? (size_t)lines->systems : SIDE_BY_SIDE;
    const size_t copies = 4; /* for gtsv: a, b, c and d of one system */
    void *room = take(5 * apart * sizeof(REAL) + 64);
    void *symbol = lapack ? dlsym(lapack, GTSV) : NULL;
    F(batch) p = {*lines, (REAL *)cpu_avx_p_align(room), NULL, NULL, NULL, NULL, NULL, NULL, NULL, threads};
    p.b = p.a + apart, p.c = p.b + apart, p.d = p.c + apart, p.x = p.d + apart;
    p.own = (REAL *)take((size_t)lines->n * (side > copies ? side : copies) * (size_t)threads * sizeof *p.own);
    p.work = take(thomas_bytes > hybrid_bytes ? thomas_bytes : hybrid_bytes);
    memcpy(&p.solve, &symbol, sizeof symbol);
    for (size_t i = 0; i < count; i++)
        p.a[i] = (REAL)-0.4, p.b[i] = 1, p.c[i] = (REAL)-0.3, p.d[i] = (REAL)(i % 7), p.x[i] = 0;
    F(time_all)(layout, &p);
    free(room), free(p.own), free(p.work);
}
#endif
