/* cpu_residual.c - the residuals that cpu_avx_hybrid leaves if matrices are only just dominant.
   MIT licence, see LICENSE.

       cpu_residual [--csv FILE]

   Prints the largest residual, |Ax - d| over |A||x| + |d|, in roundoffs, of 20000 random systems for each number K
   of rows a lane; from K = 2048 on, of 1000 systems. The instruction sets of the processor take turns. The couplings
   of a row are divided between a and c at random, so that rows differ as much as they can; every other long system
   has equal rows instead, whose roundings add up; its dominance exceeds 1 by up to a fifth more, at random. Beside
   it stand the header's bound and the largest residual of cpu_avx_thomas. The file includes itself for each
   precision. */
#ifndef REAL
#include "../cpu_avx.h"
#include "orders.h"

#include "../tests/random.h"

#include <float.h>

enum { SYSTEMS = 20000, LONG = 2048, LONG_SYSTEMS = 1000, MOST_LANES = 32, MOST_ROWS_A_LANE = 8192, SEED = 20251123 };

#define REAL float
#define F(stem) stem##_f32
#define ROUNDOFF (FLT_EPSILON / 2)
#include "cpu_residual.c"
#undef REAL
#undef F
#undef ROUNDOFF

#define REAL double
#define F(stem) stem##_f64
#define ROUNDOFF (DBL_EPSILON / 2)
#include "cpu_residual.c"

int main(int argc, char **argv)
{
    static const double excess[] = {1e-1, 1e-2, 1e-3, 1e-5, 1e-7};
    static const int rows_a_lane[] = {1, 2, 4, 8, 16, LONG, MOST_ROWS_A_LANE};
    orders_begin(argc, argv, "cpu_residual", "largest residuals, roundoffs");
    orders_line("precision,excess,K,hybrid,bound,thomas\n");
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 7; k++) { /* in single precision rounding would hide the least excess */
            if (excess[i] > 1e-6) measure_f32(excess[i], rows_a_lane[k]);
            measure_f64(excess[i], rows_a_lane[k]);
        }
    return orders_close();
}

#else /* REAL: the precision at hand */

#include "../tests/cpu_residual.h"

static void F(measure)(double excess, int K)
{
    enum { MOST_ROWS = MOST_LANES * MOST_ROWS_A_LANE };
    static REAL a[MOST_ROWS], b[MOST_ROWS], c[MOST_ROWS], d[MOST_ROWS], x[MOST_ROWS];
    case_random random = {SEED};
    double hybrid = 0, thomas = 0;
    for (int system = 0; system < (K < LONG ? SYSTEMS : LONG_SYSTEMS); system++) {
        const int equal = K >= LONG && system / CPU_AVX_ISAS % 2;
        int isa = system % CPU_AVX_ISAS;
        while (!cpu_avx_has(isa)) isa = (isa + 1) % CPU_AVX_ISAS;
        const int W = F(cpu_avx_width)(isa), lanes = K < 2 * W ? W : 2 * W; /* from 2W rows a lane on, halved */
        const int n = lanes * K;
        const double more = equal ? 1 + case_between(&random, 0, 0.2) : 1;
        for (int j = 0; j < n; j++) {
            const double share = equal ? 0.5 : case_between(&random, 0, 1);
            a[j] = (REAL)-share, c[j] = (REAL)(share - 1), d[j] = (REAL)(equal ? 1 : case_between(&random, -1, 1));
            b[j] = (REAL)((1 + more * excess) * ((j > 0 ? share : 0) + (j < n - 1 ? 1 - share : 0)) + 2 * ROUNDOFF);
        }
        const cpu_avx_lines lines = cpu_avx_lines_contiguous(n, 1);
        void *work = malloc(F(cpu_avx_thomas_bytes)(&lines, 1) + F(cpu_avx_hybrid_bytes)(&lines, 1));
        if (!work || F(cpu_avx_thomas)(isa, &lines, a, b, c, d, x, work, 1)) exit(1);
        thomas = fmax(thomas, F(residual_of)(n, a, b, c, d, x));
        if (F(cpu_avx_hybrid)(isa, &lines, a, b, c, d, x, work, 1)) exit(1);
        hybrid = fmax(hybrid, F(residual_of)(n, a, b, c, d, x));
        free(work);
    }
    char row[120];
    snprintf(row, sizeof row, "f%d,%g,%d,%.3g,%.3g,%.1f\n", 8 * (int)sizeof(REAL), excess, K, hybrid,
             F(hybrid_bound)(K, excess), thomas);
    orders_line(row);
}
#endif
