/* bs1d_greeks.cu - a kernel of your own that ends in bs1d_warp_greeks: digital calls, with delta, gamma and theta.
   MIT licence, see LICENSE. */
#define BS1D_NO_LAUNCHES /* the kernels of the ladder are not needed here */
#include "bs1d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>

/* Prices options that pay 1 above the strike at maturity, a warp each, with 256 points, 8 a lane: fully implicit steps,
   then the Greeks at the option's spot. */
__global__ void digital(int options, const bs1d_option_f32 *option, bs1d_result_f32 *result)
{
    __shared__ float shared[4][4]; /* four words for each of the four warps of a block */
    int mine = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, first = 8 * (int)(threadIdx.x % 32);
    if (mine >= options) return;
    bs1d_option_f32 o = option[mine];
    double dt = (double)o.maturity / o.steps, ds = (double)o.top / 255;
    bs1d_model model = {0.5 * o.volatility * o.volatility * dt, 0.5 * ((double)o.rate - o.dividend) * dt, o.rate * dt,
                        256, 0};
    float a[8], b[8], c[8], u[8], f[TRID_WARP_FACTOR_LEN(8)];
    for (int i = 0; i < 8; i++) {
        double ra, rb, rc, over = (first + i) - o.strike / ds + 0.5; /* the share of the cell that pays */
        bs1d_lane_matrix(model, 1, first + i, &ra, &rb, &rc);        /* the steps are short: no term is omitted */
        a[i] = (float)ra, b[i] = (float)rb, c[i] = (float)rc;
        u[i] = over > 1 ? 1 : over < 0 ? 0 : (float)over;
    }
    int pcr_steps;
    trid_warp_factor(8, 32, 256, a, b, c, f, &pcr_steps);
    bs1d_warp_implicit3_f32(8, 32, o.steps, 0, 1, pcr_steps, f, u);
    bs1d_warp_greeks_f32(8, 32, 256, o, u, result + mine, shared[threadIdx.x / 32]);
}

/* Returns the sum of the relative errors of a result. The closed forms are the discounted N(d2) and its derivatives. */
static double error_of(bs1d_option_f32 o, bs1d_result_f32 r)
{
    double root = o.volatility * sqrt(o.maturity), carry = o.rate - o.dividend;
    double d2 = (log(o.spot / o.strike) + carry * o.maturity) / root - root / 2, d1 = d2 + root;
    double discount = exp(-o.rate * o.maturity), density = discount * exp(-d2 * d2 / 2) / sqrt(8 * atan(1.0));
    double price = discount * 0.5 * erfc(-d2 / sqrt(2.0)), delta = density / (o.spot * root);
    double gamma = -density * d1 / (o.spot * o.spot * root * root);
    double theta =
        o.rate * price - carry * o.spot * delta - 0.5 * o.volatility * o.volatility * o.spot * o.spot * gamma;
    return fabs(r.price / price - 1) + fabs(r.delta / delta - 1) + fabs(r.gamma / gamma - 1) +
           fabs(r.theta / theta - 1);
}

int main(void)
{
    enum { OPTIONS = 5 };
    bs1d_option_f32 option[OPTIONS], *device_option;
    bs1d_result_f32 result[OPTIONS], *device_result;
    for (int i = 0; i < OPTIONS; i++) {
        bs1d_option_f32 o = {90, 80.0f + 10 * i, 0.05f, 0, 0.25f, 1, 300, 800, BS1D_CALL};
        option[i] = o;
    }
    check(cudaMalloc((void **)&device_option, sizeof option));
    check(cudaMalloc((void **)&device_result, sizeof result));
    check(cudaMemcpy(device_option, option, sizeof option, cudaMemcpyHostToDevice));
    digital<<<(OPTIONS + 3) / 4, 128>>>(OPTIONS, device_option, device_result);
    check(cudaGetLastError());
    check(cudaMemcpy(result, device_result, sizeof result, cudaMemcpyDeviceToHost));
    check(cudaFree(device_option));
    check(cudaFree(device_result));

    int wrong = 0;
    for (int i = 0; i < OPTIONS; i++) {
        bs1d_result_f32 r = result[i];
        double error = error_of(option[i], r);
        printf("strike %3.0f: price %.4f, delta %.5f, gamma %.2e, theta %.4f; relative errors add up to %.1e\n",
               (double)option[i].strike, (double)r.price, (double)r.delta, (double)r.gamma, (double)r.theta, error);
        wrong += r.status != BS1D_OK || !(error <= 0.02);
    }
    return wrong != 0;
}
