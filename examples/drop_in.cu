/* drop_in.cu - a batch of systems, a warp each, at the speed of memory: the kernel of docs/guide.md.
   MIT licence, see LICENSE.

       cp trid.h transpose.h drop_in.cu cuda_check.h somewhere && cd somewhere
       nvcc -o drop_in drop_in.cu && ./drop_in

   Solves 1000 systems of 200 rows, one of which has no solution. Prints the status of that system and the largest
   residual of the others. Exits with 0 if all is well, 3 without a GPU. bench/solve.cu measures the kernel. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda_check.h"

#include "transpose.h"
#include "trid.h"

/* A warp solves a system of n <= 256 rows, four systems a block; lane l of the warp holds rows 8l .. 8l+7. */
__global__ void __launch_bounds__(128)
    solve(int n, int systems, const float *a, const float *b, const float *c, const float *d, float *x, int *status)
{
    int system = 4 * (int)blockIdx.x + (int)threadIdx.x / 32;
    if (system >= systems) return;
    size_t at = (size_t)n * system;
    float ra[8], rb[8], rc[8], rd[8];
    transpose_load_vec(8, 32, n, a + at, 0, ra, 0);
    transpose_load_vec(8, 32, n, b + at, 1, rb, 0);
    transpose_load_vec(8, 32, n, c + at, 0, rc, 0);
    transpose_load_vec(8, 32, n, d + at, 0, rd, 0);
    int seen = trid_warp_hybrid(8, 32, n, ra, rb, rc, rd);
    transpose_store_vec(8, 32, n, rd, x + at, 0);

    int failed = trid_warp_status(32, seen); /* 0; 1 + the row where the failure began; -1 if n > 256 */
    if (threadIdx.x % 32 == 0) status[system] = failed;
}

int main(void)
{
    const int n = 200, systems = 1000, bad_system = 123, bad_row = 57;
    const size_t rows = (size_t)n * systems, bytes = rows * sizeof(float);
    float *a = (float *)malloc(5 * bytes), *b = a + rows, *c = b + rows, *d = c + rows, *x = d + rows, *device;
    int *status = (int *)malloc(systems * sizeof *status), *device_status;
    for (size_t i = 0; i < rows; i++) {
        a[i] = c[i] = -1.0f;
        b[i] = 2.5f;
        d[i] = (float)(i % 17);
    }
    size_t zeros = (size_t)n * bad_system + bad_row;
    a[zeros] = b[zeros] = c[zeros] = 0;

    check(cudaMalloc((void **)&device, 5 * bytes));
    check(cudaMalloc((void **)&device_status, systems * sizeof *status));
    check(cudaMemcpy(device, a, 4 * bytes, cudaMemcpyHostToDevice));
    float *da = device, *db = da + rows, *dc = db + rows, *dd = dc + rows, *dx = dd + rows;
    solve<<<(systems + 3) / 4, 128>>>(n, systems, da, db, dc, dd, dx, device_status);
    check(cudaGetLastError());
    check(cudaMemcpy(x, dx, bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(status, device_status, systems * sizeof *status, cudaMemcpyDeviceToHost));

    double worst = 0;
    int unexpected = 0;
    for (int i = 0; i < systems; i++) {
        size_t at = (size_t)n * i;
        double r = trid_host_residual_f32(n, a + at, b + at, c + at, d + at, x + at);
        if (status[i]) printf("system %d, row %d: %s\n", i, status[i] - 1, trid_status_string(status[i]));
        if (!status[i] && !(r <= worst)) worst = r;
        unexpected += status[i] != (i == bad_system ? 1 + bad_row : 0);
    }
    printf("%d systems of %d rows, largest residual of those that were solved %.2g\n", systems, n, worst);
    check(cudaFree(device));
    check(cudaFree(device_status));
    free(a);
    free(status);
    return worst < 1e-6 && !unexpected ? 0 : 1;
}
