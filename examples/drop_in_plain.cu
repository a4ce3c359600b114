/* drop_in_plain.cu - one warp per system in the fewest lines, with trid.h alone; examples/drop_in.cu is the fast one.
   MIT licence, see LICENSE.

       cp trid.h drop_in_plain.cu cuda_check.h somewhere && cd somewhere
       nvcc -o drop_in_plain drop_in_plain.cu && ./drop_in_plain

   Each lane reads its eight rows one after another, so the lanes' accesses lie 32 bytes apart. The kernel does not
   check for failures. bench/solve.cu measures it. Exits with 0 if all is well, 3 without a GPU. */
#include "trid.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>

/* Block i solves system i of n <= 256 rows; lane l of its one warp holds rows 8l .. 8l+7. */
__global__ void solve(int n, const float *a, const float *b, const float *c, const float *d, float *x)
{
    float ra[8], rb[8], rc[8], rd[8];
    int first = 8 * (int)threadIdx.x;
    size_t at = (size_t)n * blockIdx.x + first;
    for (int j = 0; j < 8; j++)
        if (first + j < n) ra[j] = a[at + j], rb[j] = b[at + j], rc[j] = c[at + j], rd[j] = d[at + j];
    trid_warp_hybrid(8, 32, n, ra, rb, rc, rd);
    for (int j = 0; j < 8; j++)
        if (first + j < n) x[at + j] = rd[j];
}

int main(void)
{
    const int n = 200, systems = 1000;
    const size_t rows = (size_t)n * systems, bytes = rows * sizeof(float);
    float *host = (float *)malloc(5 * bytes), *device;
    if (!host) return 1;
    float *a = host, *b = a + rows, *c = b + rows, *d = c + rows, *x = d + rows;
    for (size_t i = 0; i < rows; i++) {
        a[i] = c[i] = -1.0f;
        b[i] = 2.5f;
        d[i] = (float)(i % 17);
    }
    check(cudaMalloc((void **)&device, 5 * bytes));
    check(cudaMemcpy(device, host, 4 * bytes, cudaMemcpyHostToDevice));
    solve<<<systems, 32>>>(n, device, device + rows, device + 2 * rows, device + 3 * rows, device + 4 * rows);
    check(cudaGetLastError());
    check(cudaMemcpy(x, device + 4 * rows, bytes, cudaMemcpyDeviceToHost));

    double worst = 0;
    for (int i = 0; i < systems; i++) {
        size_t at = (size_t)n * i;
        double r = trid_host_residual_f32(n, a + at, b + at, c + at, d + at, x + at);
        if (!(r <= worst)) worst = r;
    }
    printf("%d systems of %d rows, largest residual %.2g\n", systems, n, worst);
    check(cudaFree(device));
    free(host);
    return worst < 1e-6 ? 0 : 1;
}
