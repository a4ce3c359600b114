/* bs3d_own_kernel.cu - a kernel of your own from bs3d.h's lane functions: an American put on the geometric average.
   MIT licence, see LICENSE.

   The geometric average of three lognormal prices is itself lognormal, so bs1d.h knows the answer. */
#define BS1D_NO_LAUNCHES /* the kernels of the ladders are not needed here */
#define BS3D_NO_LAUNCHES
#include "bs1d.h"
#include "bs3d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__device__ int clamped(int i, int points)
{
    return i < 0 ? 0 : i < points ? i : points - 1;
}

/* Takes a step: v is u + L u, or the payoff of exercise if that is more. Each thread marches along a column through
   all planes. */
__global__ void american_step(bs3d_model model, long long pitch, const float *payoff, const float *u, float *v)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int nx = model.points[0], ny = model.points[1], nz = model.points[2];
    if (i >= nx || j >= ny) return;
    long long at = i + pitch * j, plane = pitch * ny;
    bs3d_pairs_f32 pairs = bs3d_lane_pairs_f32(&model, 1);
    bs3d_row_f32 x = bs3d_lane_row_f32(&model, 0, i), y = bs3d_lane_row_f32(&model, 1, j), z[3];
    float patch[9], now = 0, next = 0, out;
    for (int k = 0; k <= nz; k++) { /* the last iteration only stores plane nz-1 */
        for (int n = 0; n < 3; n++) z[n] = bs3d_lane_row_f32(&model, 2, k - 1 + n);
        for (int n = 0; n < 9; n++) { /* beyond the grid any number will do */
            int a = clamped(i + n % 3 - 1, nx), b = clamped(j + n / 3 - 1, ny);
            patch[n] = u[a + pitch * b + plane * clamped(k, nz)];
        }
        bs3d_lane_plane_f32(BS3D_GENERAL, 1, 1, &pairs, &x, &y, z, patch, &now, &next, &out);
        if (k > 0) v[at + plane * (k - 1)] = fmaxf(out, payoff[at + plane * (k - 1)]);
    }
}

/* Prices the put on one asset that moves like the average; all volatilities and all correlations are equal. */
static double on_one_asset(const bs3d_problem *o, int american)
{
    static double work[BS1D_HOST_LEN(1024)];
    double v = o->volatility[0], average = v * sqrt((1 + 2 * o->correlation[0]) / 3);
    double dividend = 0.5 * (v * v - average * average); /* gives both the same drift */
    bs1d_option_f64 option = {o->spot[0],     o->strike, o->rate,
                              dividend,       average,   o->maturity,
                              3 * o->spot[0], 1000,      BS1D_PUT | (american ? BS1D_AMERICAN : 0)};
    bs1d_result_f64 result;
    if (bs1d_host_implicit_f64(1, 1024, &option, &result, NULL, work)) exit(1);
    return result.price;
}

int main(void)
{
    enum { N = 40, STEPS = 200 };
    const bs3d_problem o = {{100, 100, 100}, /* spots */
                            {250, 250, 250}, /* tops of the grid */
                            {0.3, 0.3, 0.3}, /* volatilities */
                            {0, 0, 0},       /* dividend yields */
                            {0.5, 0.5, 0.5}, /* correlations */
                            100,             /* strike */
                            0.1,             /* rate */
                            0.5,             /* maturity */
                            {N, N, N},       /* points */
                            STEPS,
                            BS3D_GEOMETRIC,
                            BS3D_PUT};
    int status = bs3d_check(&o, 0);
    if (status) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);
    const int pitch = bs3d_pitch_f32(N);
    const size_t bytes = (size_t)pitch * N * N * sizeof(float);
    float *host = (float *)calloc(1, bytes), *device[3], around[64]; /* the payoff, and two arrays that alternate */
    if (!host) fprintf(stderr, "out of memory\n"), exit(1);
    double ds = o.top[0] / (N - 1);
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                host[i + pitch * (j + N * k)] =
                    (float)bs3d_lane_payoff(o.payoff, o.flags, o.strike, i * ds, j * ds, k * ds);
    for (int n = 0; n < 3; n++) {
        check(cudaMalloc((void **)&device[n], bytes));
        check(cudaMemcpy(device[n], host, bytes, cudaMemcpyHostToDevice));
    }
    for (int s = 0; s < STEPS; s++) {
        const dim3 block(32, 4), grid((N + 31) / 32, (N + 3) / 4);
        american_step<<<grid, block>>>(bs3d_model_of(&o), pitch, device[0], device[1 + s % 2], device[2 - s % 2]);
        check(cudaGetLastError());
    }
    check(cudaMemcpy(host, device[1 + STEPS % 2], bytes, cudaMemcpyDeviceToHost));
    for (int n = 0; n < 3; n++) check(cudaFree(device[n]));

    int first = (int)(o.spot[0] / ds) - 1; /* the first of the four points around the spot on each axis */
    for (int n = 0; n < 64; n++) around[n] = host[first + n % 4 + pitch * (first + n / 4 % 4 + N * (first + n / 16))];
    free(host);
    bs3d_result r = bs3d_lane_greeks_f32(&o, around);
    double exact = on_one_asset(&o, 1);
    printf("American %.4f, as one asset %.4f (European %.4f); deltas %.4f %.4f %.4f\n", r.price, exact,
           on_one_asset(&o, 0), r.delta[0], r.delta[1], r.delta[2]);
    return !(fabs(r.price - exact) <= 0.01 * exact); /* the error of the coarse grid */
}
