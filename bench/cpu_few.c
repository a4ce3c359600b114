/* cpu_few.c - cpu_avx.h on few systems against a plain loop: the Thomas algorithm as one writes it, a system after the
   other.
   MIT licence, see LICENSE.

       cpu_few [--csv FILE]

   One thread, the best instruction set, processor time. Nanoseconds a row of the plain loop, and how many times as fast
   cpu_avx_thomas and cpu_avx_hybrid are: medians of 15 turns, in each of which all three run one after another. The
   plain loop has multiply-adds where the compiler's flags allow them. The file includes itself for each precision. */
#ifndef REAL
#include "../cpu_avx.h"
#include "orders.h"

enum { TURNS = 15, ROWS_A_RUN = 500000 };

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static int upwards(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, TURNS, sizeof *values, upwards);
    return values[TURNS / 2];
}

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

#define REAL float
#define F(stem) stem##_f32
#ifdef __FP_FAST_FMAF
#define MADD fmaf
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif
#include "cpu_few.c"
#undef REAL
#undef F
#undef MADD

#define REAL double
#define F(stem) stem##_f64
#ifdef __FP_FAST_FMA
#define MADD fma
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif
#include "cpu_few.c"

int main(int argc, char **argv)
{
    static const int rows[] = {20, 100, 1000, 100000}, systems[] = {1, 2, 4, 16};
    orders_begin(argc, argv, "cpu_few", "speed of one thread as multiples of a plain loop's");
    orders_line("precision,isa,layout,rows,systems,plain_ns_a_row,thomas_speedup,hybrid_speedup\n");
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            const cpu_avx_lines contiguous = cpu_avx_lines_contiguous(rows[i], systems[k]);
            const cpu_avx_lines interleaved = cpu_avx_lines_interleaved(rows[i], systems[k]);
            measure_f32("contiguous", &contiguous);
            measure_f64("contiguous", &contiguous);
            if (systems[k] == 1) continue;
            measure_f32("interleaved", &interleaved);
            measure_f64("interleaved", &interleaved);
        }
    return orders_close();
}

#else /* REAL: the precision at hand */

static void F(plain)(const cpu_avx_lines *lines, const REAL *a, const REAL *b, const REAL *c, const REAL *d, REAL *x,
                     REAL *work)
{
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step;
    for (ptrdiff_t s = 0; s < lines->systems; s++) {
        ptrdiff_t at = s * (ptrdiff_t)lines->stride;
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
}

static void F(measure)(const char *layout, const cpu_avx_lines *lines)
{
    const int isa = cpu_avx_best();
    const size_t count = (size_t)(lines->n * lines->systems);
    const size_t thomas_bytes = F(cpu_avx_thomas_bytes)(lines, 1), hybrid_bytes = F(cpu_avx_hybrid_bytes)(lines, 1);
    REAL *a = (REAL *)take(5 * count * sizeof *a), *b = a + count, *c = b + count, *d = c + count, *x = d + count;
    REAL *plain_work = (REAL *)take((size_t)lines->n * sizeof *plain_work);
    void *work = take(thomas_bytes > hybrid_bytes ? thomas_bytes : hybrid_bytes);
    double plain[TURNS], thomas[TURNS], hybrid[TURNS];
    for (size_t i = 0; i < count; i++) a[i] = (REAL)-0.4, b[i] = 1, c[i] = (REAL)-0.3, d[i] = (REAL)(i % 7);
    const int again = (int)(ROWS_A_RUN / count) + 1;
    for (int turn = -1; turn < TURNS; turn++) {
        const double start = seconds();
        for (int k = 0; k < again; k++) F(plain)(lines, a, b, c, d, x, plain_work);
        const double from_thomas = seconds();
        for (int k = 0; k < again; k++) must(F(cpu_avx_thomas)(isa, lines, a, b, c, d, x, work, 1));
        const double from_hybrid = seconds();
        for (int k = 0; k < again; k++) must(F(cpu_avx_hybrid)(isa, lines, a, b, c, d, x, work, 1));
        const double end = seconds();
        if (turn < 0) continue;
        plain[turn] = (from_thomas - start) * 1e9 / again / (double)count;
        thomas[turn] = (from_thomas - start) / (from_hybrid - from_thomas);
        hybrid[turn] = (from_thomas - start) / (end - from_hybrid);
    }
    char row[160];
    snprintf(row, sizeof row, "f%d,%s,%s,%lld,%lld,%.1f,%.2f,%.2f\n", 8 * (int)sizeof(REAL), cpu_avx_name(isa), layout,
             lines->n, lines->systems, median(plain), median(thomas), median(hybrid));
    orders_line(row);
    free(a), free(plain_work), free(work);
}
#endif
