/* cpu_patterns.c - the limit that memory sets cpu_avx.h on batches of distinct systems: reads four arrays, and writes
   one past the caches, in the order of a solve but without its arithmetic.
   MIT licence, see LICENSE.

       cpu_patterns [--csv FILE]

   Takes 256^3 numbers in single precision, systems along each axis, and one and two threads. Each repeat times three
   loops over the arrays: a linear loop, from the first element to the last; the pattern, in the order of
   cpu_avx_thomas, with rows as long as those of its tiles; and cpu_avx_thomas itself. Prints speeds as shares of the
   linear loop's: medians of ratios.

   Along x the pattern is that of AVX-512: it prefetches a tile of 32 rows in the order of memory, while it reads the
   tile before from the second-level cache, one cache line of each row after another. Other lines show patterns with
   longer rows, whose store would exceed a core's own cache, and cpu_avx_hybrid, whose pattern is the linear loop. The
   file includes itself for every instruction set. */
#ifndef CPU_AVX_SET
#if defined __linux__
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif
#include "../cpu_avx.h"
#include "orders.h"

enum { POINTS = 256, TURNS = 15 };
/* In numbers of eight bytes: a cache line, the distance of prefetching, a row along x, a plane, an array. */
enum { LINE = 8, AHEAD = 1536 / 8, ROW = POINTS / 2, PLANE = ROW * POINTS, ALL = PLANE * POINTS };

/* The order of accesses. A tile is read while the tile before is written, in `steps` steps of `some` numbers; the
   numbers of a step lie in `pieces` pieces. Numbers are prefetched AHEAD numbers before they are read. If `whole_tile`,
   the next tile is prefetched instead, from its first number to its last. */
typedef struct {
    const char *axis, *method;
    int whole_tile;
    size_t some, steps, read_step, read_piece_step, tile_step;
    size_t pieces, piece_step, write_first, write_step;
} order;

#define CPU_AVX_PRECISION f64
#define CPU_AVX_SET plain
#include "cpu_patterns.c"
#if CPU_AVX_X86
#define CPU_AVX_SET avx
#include "cpu_patterns.c"
#define CPU_AVX_SET avx2
#include "cpu_patterns.c"
#define CPU_AVX_SET avx512
#include "cpu_patterns.c"
#elif CPU_AVX_ARM
#define CPU_AVX_SET neon
#include "cpu_patterns.c"
#endif

/* Returns zeroed memory, in large pages if the system grants them. */
static double *take(size_t numbers)
{
    const size_t page = (size_t)1 << 21, bytes = (numbers * sizeof(double) + page - 1) / page * page;
    double *p = (double *)aligned_alloc(page, bytes);
    if (!p) fprintf(stderr, "cpu_patterns: out of memory\n"), exit(1);
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    memset(p, 0, bytes);
    return p;
}

/* Times a pattern; each thread takes its part of the tiles. */
static double time_of(const order *o, const double *const *from, double *to, int threads)
{
    const size_t tiles = ALL / (o->some * o->steps);
    const int isa = cpu_avx_best();
    const double start = orders_seconds();
    CPU_AVX_P_OMP(omp parallel for num_threads(threads))
    for (int t = 0; t < threads; t++) {
        const size_t first = tiles * (size_t)t / (size_t)threads, last = tiles * (size_t)(t + 1) / (size_t)threads;
        CPU_AVX_PICK(isa, , pattern, f64, (o, from, to, first, last));
    }
    return orders_seconds() - start;
}

static double solve_time(const order *o, float *const *a, void *work, int threads)
{
    const cpu_avx_lines lines = cpu_avx_lines_axis(POINTS, POINTS, POINTS, o->axis[0] - 'x');
    const double start = orders_seconds();
    if ((o->method[0] == 'h' ? cpu_avx_hybrid_f32 : cpu_avx_thomas_f32)(cpu_avx_best(), &lines, a[0], a[1], a[2], a[3],
                                                                        a[4], work, threads))
        fprintf(stderr, "cpu_patterns: not solved\n"), exit(1);
    return orders_seconds() - start;
}

int main(int argc, char **argv)
{
    const order linear = {"", "", 0, ROW, 1, ROW, 0, ROW, 1, 0, 0, 0};
    const order orders[] = {
        {"x", "thomas", 1, 32 * LINE, ROW / LINE, LINE, ROW, 32 * ROW, 32, ROW, ROW - LINE, LINE},
        {"x", "hybrid", 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
        {"y", "thomas", 0, ROW, POINTS, ROW, 0, PLANE, 1, 0, PLANE - ROW, ROW},
        {"z", "thomas", 0, 256, POINTS, PLANE, 0, 256, 1, 0, ALL - PLANE, PLANE},
        {"z", "", 0, 1024, POINTS, PLANE, 0, 1024, 1, 0, ALL - PLANE, PLANE},
        {"z", "", 0, 2048, POINTS, PLANE, 0, 2048, 1, 0, ALL - PLANE, PLANE},
    };
    const cpu_avx_lines x = cpu_avx_lines_axis(POINTS, POINTS, POINTS, 0);
    double *array[5],
        *work = take((cpu_avx_thomas_bytes_f32(&x, 2) + cpu_avx_hybrid_bytes_f32(&x, 2)) / sizeof *work + 1);
    float *numbers[5];
    orders_begin(argc, argv, "cpu_patterns", "four arrays to one, in per cent of a linear loop");
    orders_line("axis,method,bytes_of_a_row,threads,pattern_pct_of_linear,solve_pct_of_linear\n");
    for (int k = 0; k < 5; k++) array[k] = take(ALL), numbers[k] = (float *)array[k];
    for (size_t i = 0; i < 2 * (size_t)ALL; i++)
        numbers[0][i] = numbers[2][i] = -0.25f, numbers[1][i] = 1.5f, numbers[3][i] = 1;
    const double *from[] = {array[0], array[1], array[2], array[3]};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (int threads = 1; threads <= 2; threads++) {
            const order *o = &orders[k];
            const int is_solve = o->method[0] != 0, is_pattern = o->steps > 0;
            double pattern[TURNS], solve[TURNS];
            char row[120], share[2][20] = {"", ""}, bytes[20] = "";
            for (int turn = -1; turn < TURNS; turn++) {
                const double limit = time_of(&linear, from, array[4], threads);
                const double alone = is_pattern ? time_of(o, from, array[4], threads) : 1;
                const double all = is_solve ? solve_time(o, numbers, work, threads) : 1;
                if (turn >= 0) pattern[turn] = limit / alone, solve[turn] = limit / all;
            }
            if (is_pattern) {
                snprintf(share[0], sizeof share[0], "%.0f", 100 * orders_median(pattern, TURNS));
                snprintf(bytes, sizeof bytes, "%d", (int)(o->some / o->pieces * sizeof(double)));
            }
            if (is_solve) snprintf(share[1], sizeof share[1], "%.0f", 100 * orders_median(solve, TURNS));
            snprintf(row, sizeof row, "%s,%s,%s,%d,%s,%s\n", o->axis, o->method, bytes, threads, share[0], share[1]);
            orders_line(row);
        }
    for (int k = 0; k < 5; k++) free(array[k]);
    free(work);
    return orders_close();
}

#else /* CPU_AVX_SET: tiles first .. last-1 in the order o */

CPU_AVX_HERE static void CPU_AVX_OWN(pattern)(const order *o, const double *const *from, double *to, size_t first,
                                              size_t last)
{
    enum { W = CPU_AVX(lanes) };
    const size_t piece = o->some / o->pieces;
    CPU_AVX(vec) sum[4], all;
    for (int k = 0; k < 4; k++) sum[k] = CPU_AVX(set)(0);
    for (size_t t = first; t <= last; t++)
        for (size_t j = 0; j < o->steps; j++) {
            const size_t in = t * o->tile_step + j * o->read_step;
            double *out = t > first ? to + (t - 1) * o->tile_step + o->write_first - j * o->write_step : NULL;
            for (size_t i = 0; i < o->some; i += LINE) {
                const size_t far = i + AHEAD, there = o->pieces > 1 ? i / piece * o->read_piece_step : i;
                const size_t next = o->whole_tile   ? (t + 1) * o->tile_step + j * o->some + i
                                    : far < o->some ? in + far
                                                    : in + o->read_step + far - o->some;
                const size_t soon = next < ALL ? next : in;
                for (int k = 0; k < 4 && t < last; k++) {
                    __builtin_prefetch(from[k] + soon, 0, 3);
                    for (int l = 0; l < LINE; l += W) sum[k] = sum[k] + CPU_AVX(load)(from[k] + in + there + l);
                }
                all = sum[0] + sum[1] + (sum[2] + sum[3]);
                for (int l = 0; l < LINE && out; l += W)
                    CPU_AVX(stream)(out + i / piece * o->piece_step + i % piece + l, all);
            }
        }
}
#undef CPU_AVX_SET
#endif
