/* solve.c - a program in C that solves tridiagonal systems on the GPU.
   MIT licence, see LICENSE.

   nvcc compiles the kernels from one file, library.cu. That takes minutes, since the file contains all of them.
   library.cu can also become a shared library. In the kit's folder:

       gcc -std=c11 -I. -I/usr/local/cuda/include -c examples/from_c/solve.c
       nvcc -O3 -arch=native -I. -o solve solve.o examples/from_c/library.cu && ./solve */
#include "trid/batch.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100, SYSTEMS = 1000, ROWS = N * SYSTEMS };

int main(void)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return puts("no GPU"), 3;
    double *host = malloc(5 * ROWS * sizeof *host), residual = 0, *a;
    if (!host) return puts("no memory"), 1;
    for (int i = 0; i < ROWS; i++) {
        host[i] = host[2 * ROWS + i] = -1;
        host[ROWS + i] = 2.5;
        host[3 * ROWS + i] = i % 7;
    }
    if (cudaMalloc((void **)&a, 5 * ROWS * sizeof *a) != cudaSuccess) return puts("no memory"), 1;
    double *b = a + ROWS, *c = b + ROWS, *d = c + ROWS, *x = d + ROWS;
    if (cudaMemcpy(a, host, 4 * ROWS * sizeof *a, cudaMemcpyHostToDevice) != cudaSuccess) return puts("failed"), 1;
    int status = trid_batch_solve_f64(trid_lines_contiguous(N, SYSTEMS), a, b, c, d, x, NULL, 0);
    if (status) return puts(trid_batch_status_string(status)), 1;
    if (cudaMemcpy(host, a, 5 * ROWS * sizeof *a, cudaMemcpyDeviceToHost) != cudaSuccess) return puts("failed"), 1;
    for (int s = 0; s < SYSTEMS; s++) {
        const double *row = host + s * N;
        double r = trid_host_residual_f64(N, row, row + ROWS, row + 2 * ROWS, row + 3 * ROWS, row + 4 * ROWS);
        if (!(r <= residual)) residual = r;
    }
    cudaFree(a);
    free(host);
    printf("%d systems of %d rows, residual %.1e\n", SYSTEMS, N, residual);
    return residual < 1e-14 ? 0 : 1;
}
