/* heat_equation.cu - one matrix, many right-hand sides: implicit time steps of the heat equation.
   MIT licence, see LICENSE.

   u' = D u'' on 0 < x < 1, u = 0 at both ends, by backward Euler: (I - dt D A) u_new = u_old, where A is the second
   difference. The matrix stays the same, so it is factored once, in registers, and each step only solves. A warp holds
   a rod of 256 points, and every rod has a diffusivity D of its own. */
#include "trid.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { K = 8, W = 32, N = K * W };

/* Marches u in place. ratio is D dt / h^2 of each rod; status receives 0 or 1 + the row of a failure. */
__global__ void march(int time_steps, const double *ratio, double *u, int *status)
{
    double a[K], b[K], c[K], f[TRID_WARP_FACTOR_LEN(K)], v[K], r = ratio[blockIdx.x];
    double *mine = u + (size_t)N * blockIdx.x + K * threadIdx.x;
    for (int j = 0; j < K; j++) {
        a[j] = c[j] = -r; /* a of the first row and c of the last are not read */
        b[j] = 1 + 2 * r;
        v[j] = mine[j];
    }
    int pcr_steps, said = trid_warp_factor(K, W, N, a, b, c, f, &pcr_steps);
    for (int i = 0; i < time_steps; i++) trid_warp_solve(K, W, N, pcr_steps, f, v);
    for (int j = 0; j < K; j++) mine[j] = v[j];

    int failed = trid_warp_status(W, said);
    if (threadIdx.x == 0) status[blockIdx.x] = failed;
}

int main(void)
{
    enum { RODS = 8, STEPS = 100, SICK = 5 };
    const double pi = 3.14159265358979323846, h = 1.0 / (N + 1), dt = 1e-4;
    static double u[RODS * N], ratio[RODS];
    double *device, *device_ratio;
    int *device_status, status[RODS];
    for (int i = 0; i < RODS; i++) {
        ratio[i] = i == SICK ? NAN : (1 + i) * dt / (h * h);
        for (int j = 0; j < N; j++) u[N * i + j] = sin(pi * (j + 1) * h);
    }
    check(cudaMalloc((void **)&device, sizeof u));
    check(cudaMalloc((void **)&device_ratio, sizeof ratio));
    check(cudaMalloc((void **)&device_status, sizeof status));
    check(cudaMemcpy(device, u, sizeof u, cudaMemcpyHostToDevice));
    check(cudaMemcpy(device_ratio, ratio, sizeof ratio, cudaMemcpyHostToDevice));
    march<<<RODS, W>>>(STEPS, device_ratio, device, device_status);
    check(cudaGetLastError());
    check(cudaMemcpy(u, device, sizeof u, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(status, device_status, sizeof status, cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    check(cudaFree(device_ratio));
    check(cudaFree(device_status));

    /* The sine is an eigenvector of A, and decays by the same factor in each step. */
    int wrong = 0;
    for (int i = 0; i < RODS; i++) {
        if (status[i] != 0) {
            printf("rod %d: row %d: %s\n", i, status[i] - 1, trid_status_string(status[i]));
            wrong += i != SICK || status[i] != 1;
            continue;
        }
        double s = sin(pi * h / 2), decay = pow(1 + 4 * ratio[i] * s * s, -STEPS), error = 0;
        for (int j = 0; j < N; j++) {
            double e = fabs(u[N * i + j] - decay * sin(pi * (j + 1) * h));
            if (!(e <= error)) error = e;
        }
        printf("rod %d: decays to %.6f, error %.1e\n", i, decay, error);
        wrong += i == SICK || !(error <= 1e-11);
    }
    return wrong != 0;
}
