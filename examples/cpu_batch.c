/* cpu_batch.c - a batch of tridiagonal systems on the CPU, in plain C with cpu_avx.h.
   MIT licence, see LICENSE.

       cp -r cpu_avx.h cpu_avx examples/cpu_batch.c somewhere && cd somewhere
       gcc -std=c11 -O2 -fopenmp -o cpu_batch cpu_batch.c && ./cpu_batch

   No flag names an instruction set: the program uses the best that the processor has. */
#include "cpu_avx.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { N = 200, SYSTEMS = 1000, COUNT = N * SYSTEMS };
    float *a = malloc(5 * COUNT * sizeof *a), *b = a + COUNT, *c = b + COUNT, *d = c + COUNT, *x = d + COUNT;
    int threads = 4;
    if (!a) return 1;
    for (int i = 0; i < COUNT; i++) {
        a[i] = c[i] = -1;
        b[i] = 3;
        d[i] = 1; /* so x is 1, except near the ends of a system */
    }

    /* Row j of system s lies at [j + s * N] of each array. For [j * SYSTEMS + s], call cpu_avx_lines_interleaved. */
    cpu_avx_lines lines = cpu_avx_lines_contiguous(N, SYSTEMS);
    void *work = malloc(cpu_avx_thomas_bytes_f32(&lines, threads));
    int status = cpu_avx_thomas_f32(cpu_avx_best(), &lines, a, b, c, d, x, work, threads);
    if (status != CPU_AVX_OK) {
        printf("%d: %s\n", status, cpu_avx_status_string(status));
        return 1;
    }

    printf("%s: x[%d] of the last system = %.7f\n", cpu_avx_name(cpu_avx_best()), N / 2, (double)x[COUNT - N / 2]);

    /* System 7 now needs pivoting, as its first pivot is 0. The status names it; the other systems are solved. */
    b[7 * N] = 0;
    status = cpu_avx_thomas_f32(cpu_avx_best(), &lines, a, b, c, d, x, work, threads);
    printf("status %d: %s\n", status, cpu_avx_status_string(status));
    free(work);
    free(a);
    return status == 1 + 7 ? 0 : 1;
}
