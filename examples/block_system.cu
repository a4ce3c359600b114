/* block_system.cu - one long system across a block, and its status, which says where a failure began.
   MIT licence, see LICENSE.

   Here a block of 640 threads holds up to 5120 rows, and each of four systems has 5000. Each thread's status is
   what that thread saw. The smallest positive one is 1 + the row where the failure began. */
#include "trid.h"
#include "cuda_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { K = 8, THREADS = 640 };

/* Block i solves system i of n <= K * THREADS rows. Thread t holds rows K t .. K t + K-1. */
__global__ void __launch_bounds__(THREADS)
    solve(int n, const double *a, const double *b, const double *c, const double *d, double *x, int *status)
{
    __shared__ double shared[TRID_BLOCK_HYBRID_LEN];
    __shared__ int least;
    double ra[K], rb[K], rc[K], rd[K];
    int first = K * (int)threadIdx.x;
    size_t at = (size_t)n * blockIdx.x + first;
    for (int j = 0; j < K; j++)
        if (first + j < n) ra[j] = a[at + j], rb[j] = b[at + j], rc[j] = c[at + j], rd[j] = d[at + j];

    if (threadIdx.x == 0) least = INT_MAX;
    int mine = trid_block_hybrid(K, n, ra, rb, rc, rd, shared); /* contains a barrier */
    if (mine != 0) atomicMin(&least, mine);
    __syncthreads();
    if (threadIdx.x == 0) status[blockIdx.x] = least == INT_MAX ? TRID_OK : least;

    for (int j = 0; j < K; j++)
        if (first + j < n) x[at + j] = rd[j];
}

int main(void)
{
    enum { N = 5000, SYSTEMS = 4, SICK = 2, SICK_ROW = 3210 };
    const size_t rows = (size_t)N * SYSTEMS, bytes = rows * sizeof(double);
    double *host = (double *)malloc(5 * bytes), *device;
    double *a = host, *b = a + rows, *c = b + rows, *d = c + rows, *x = d + rows;
    int *device_status, status[SYSTEMS];
    if (!host) return fprintf(stderr, "out of memory\n"), 1;
    for (size_t i = 0; i < rows; i++) {
        a[i] = c[i] = -1;
        b[i] = 2.5;
        d[i] = (double)(i % 17);
    }
    a[N * SICK + SICK_ROW] = b[N * SICK + SICK_ROW] = c[N * SICK + SICK_ROW] = 0; /* a row that says 0 = d */
    check(cudaMalloc((void **)&device, 5 * bytes));
    check(cudaMalloc((void **)&device_status, sizeof status));
    check(cudaMemcpy(device, host, 4 * bytes, cudaMemcpyHostToDevice));
    double *on[5];
    for (int k = 0; k < 5; k++) on[k] = device + (size_t)k * rows;
    solve<<<SYSTEMS, THREADS>>>(N, on[0], on[1], on[2], on[3], on[4], device_status);
    check(cudaGetLastError());
    check(cudaMemcpy(x, on[4], bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(status, device_status, sizeof status, cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    check(cudaFree(device_status));

    int wrong = 0;
    for (int i = 0; i < SYSTEMS; i++) {
        size_t at = (size_t)N * i;
        if (status[i] > 0)
            printf("system %d: row %d: %s\n", i, status[i] - 1, trid_status_string(status[i]));
        else
            printf("system %d: %s, residual %.2g\n", i, trid_status_string(status[i]),
                   trid_host_residual_f64(N, a + at, b + at, c + at, d + at, x + at));
        if (i == SICK)
            wrong += status[i] != 1 + SICK_ROW;
        else
            wrong += status[i] != 0 || !(trid_host_residual_f64(N, a + at, b + at, c + at, d + at, x + at) < 1e-15);
    }
    free(host);
    return wrong != 0;
}
