/* cpu_long.c - cpu_avx_thomas on few long systems, as a share of what memory allows on as many threads.
   MIT licence, see LICENSE.

       cpu_long [--csv FILE]

   A solve reads four arrays and writes one. What memory allows is the speed of a loop that reads and writes the same
   arrays in the order of memory. It runs twice, writing past the caches and through them, and the faster run counts.
   Arrays begin on cache lines, and on large pages if the system grants them. Prints nanoseconds a row, gigabytes a
   second and shares: medians of 15 repeats, in each of which the solve and the loops run one after another, each after
   an untimed run of its own. A batch that fits in the last-level cache is compared with the loop in that cache. The
   file includes itself for each precision. */
#ifndef REAL
#define _DEFAULT_SOURCE
#include "../cpu_avx.h"
#include "orders.h"

#if defined __linux__
#include <sys/mman.h>
#endif

enum { TURNS = 15, MOST_ROWS = 1 << 25, ARRAYS = 5 };

/* 16 bytes, whatever they hold. */
typedef uint64_t piece __attribute__((vector_size(16)));

/* Returns memory that begins on a large page. */
static void *take(size_t bytes)
{
    const size_t page = (size_t)1 << 21, whole = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, whole);
    if (!p) fprintf(stderr, "cpu_long: out of memory\n"), exit(1);
#ifdef MADV_HUGEPAGE
    madvise(p, whole, MADV_HUGEPAGE);
#endif
    return p;
}

/* Reads four arrays of `bytes` bytes and writes the fifth, past the caches if `stream`. */
static void four_to_one(void *const *arrays, size_t bytes, int stream, int threads)
{
    const piece *a = (const piece *)arrays[0], *b = (const piece *)arrays[1], *c = (const piece *)arrays[2];
    const piece *d = (const piece *)arrays[3];
    piece *x = (piece *)arrays[4];
    const ptrdiff_t pieces = (ptrdiff_t)(bytes / sizeof(piece));
    (void)threads;
#if CPU_AVX_X86
    if (stream) {
        CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static))
        for (ptrdiff_t i = 0; i < pieces; i++) _mm_stream_si128((__m128i *)x + i, (__m128i)(a[i] ^ b[i] ^ c[i] ^ d[i]));
        return;
    }
#endif
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static))
    for (ptrdiff_t i = 0; i < pieces; i++) x[i] = a[i] ^ b[i] ^ c[i] ^ d[i];
}

/* Returns the seconds that the loop takes; `stream` as in four_to_one. */
static double loop_time(void *const *arrays, size_t bytes, int stream, int threads)
{
    four_to_one(arrays, bytes, stream, threads);
    const double start = orders_seconds();
    four_to_one(arrays, bytes, stream, threads);
    return orders_seconds() - start;
}

#define REAL float
#define F(stem) stem##_f32
#include "cpu_long.c"
#undef REAL
#undef F

#define REAL double
#define F(stem) stem##_f64
#include "cpu_long.c"

int main(int argc, char **argv)
{
    static const int rows[] = {100000, 1000000, 10000000}, systems[] = {1, 2, 4, 16};
    orders_begin(argc, argv, "cpu_long", "speed as a share of what memory allows on as many threads");
    orders_line("precision,isa,layout,rows,systems,threads,ns_a_row,gbytes_per_s,share_of_memory\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof systems / sizeof *systems; k++)
            for (int interleaved = 0; interleaved < (systems[k] == 1 ? 1 : 2); interleaved++)
                for (int threads = 1; threads <= 2 && (long long)rows[i] * systems[k] <= MOST_ROWS; threads++) {
                    const cpu_avx_lines lines = interleaved ? cpu_avx_lines_interleaved(rows[i], systems[k])
                                                            : cpu_avx_lines_contiguous(rows[i], systems[k]);
                    measure_f32(&lines, threads);
                    measure_f64(&lines, threads);
                }
    return orders_close();
}

#else /* REAL: the precision at hand */

static double F(solve_time)(const cpu_avx_lines *lines, REAL *const *array, void *work, int threads)
{
    double start = 0;
    for (int run = 0; run < 2; run++) {
        start = orders_seconds();
        const int status =
            F(cpu_avx_thomas)(cpu_avx_best(), lines, array[0], array[1], array[2], array[3], array[4], work, threads);
        if (status) fprintf(stderr, "cpu_long: %s\n", cpu_avx_status_string(status)), exit(1);
    }
    return orders_seconds() - start;
}

static void F(measure)(const cpu_avx_lines *lines, int threads)
{
    const size_t count = (size_t)(lines->n * lines->systems), bytes = count * sizeof(REAL);
    double took[TURNS], share[TURNS];
    void *memory[ARRAYS], *work = take(F(cpu_avx_thomas_bytes)(lines, threads));
    REAL *array[ARRAYS];
    for (int k = 0; k < ARRAYS; k++) memory[k] = take(bytes), array[k] = (REAL *)memory[k];
    for (size_t i = 0; i < count; i++)
        array[0][i] = (REAL)-0.4, array[1][i] = 1, array[2][i] = (REAL)-0.3, array[3][i] = (REAL)(i % 7),
        array[4][i] = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        const double past = loop_time(memory, bytes, 1, threads), through = loop_time(memory, bytes, 0, threads);
        took[turn] = F(solve_time)(lines, array, work, threads);
        share[turn] = (past < through ? past : through) / took[turn];
    }
    char row[160];
    const double seconds_of_solve = orders_median(took, TURNS);
    snprintf(row, sizeof row, "f%d,%s,%s,%lld,%lld,%d,%.3f,%.1f,%.2f\n", 8 * (int)sizeof(REAL),
             cpu_avx_name(cpu_avx_best()), lines->step == 1 ? "contiguous" : "interleaved", lines->n, lines->systems,
             threads, 1e9 * seconds_of_solve / (double)count, ARRAYS * 1e-9 * (double)bytes / seconds_of_solve,
             orders_median(share, TURNS));
    orders_line(row);
    for (int k = 0; k < ARRAYS; k++) free(memory[k]);
    free(work);
}
#endif
