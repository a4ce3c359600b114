/* bs1d_own_payoff.cu - a kernel of your own from bs1d.h's warp functions: a digital call with a knock-out barrier.
   MIT licence, see LICENSE. */
#define BS1D_NO_LAUNCHES /* the kernels of the ladder are not needed here */
#include "bs1d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>

/* Prices options that pay 1 above the strike at maturity and become worthless when the asset touches the barrier. The
   grid ends at the barrier; the last row of the matrix is an identity row and keeps the value there at 0. Each option
   has a warp and 256 points, 8 a lane. */
__global__ void knock_out(int options, int steps, double rate, double volatility, double maturity, double barrier,
                          const float *strike, float *price)
{
    int option = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, first = 8 * (int)(threadIdx.x % 32);
    if (option >= options) return;
    double dt = maturity / steps, ds = barrier / 255;
    bs1d_model model = {0.5 * volatility * volatility * dt, 0.5 * rate * dt, rate * dt, 256, 0};
    float a[8], b[8], c[8], u[8], f[TRID_WARP_FACTOR_LEN(8)];
    for (int i = 0; i < 8; i++) {
        double ra, rb, rc, s = (first + i) * ds;
        bs1d_lane_row(model, first + i, &ra, &rb, &rc);
        int end = first + i == 255;
        a[i] = end ? 0 : (float)-ra, b[i] = end ? 1 : (float)(1 - rb), c[i] = end ? 0 : (float)-rc;
        double over = (s - strike[option]) / ds + 0.5; /* the share of the cell that pays */
        u[i] = end ? 0 : over > 1 ? 1 : over < 0 ? 0 : (float)over;
    }
    int pcr_steps;
    trid_warp_factor(8, 32, 256, a, b, c, f, &pcr_steps);
    bs1d_warp_implicit3_f32(8, 32, steps, 0, 1, pcr_steps, f, u);
    for (int i = 0; i < 8; i++)
        if (first + i == 128) price[option] = u[i]; /* at the middle of the grid */
}

/* Returns the normal distribution function. */
static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Returns the price of a call that pays 1 above strike k and is knocked out at h > k. */
static double closed_form(double s, double k, double h, double r, double v, double t)
{
    double w = v * sqrt(t), m = r - 0.5 * v * v, image = pow(h / s, 2 * m / (v * v));
    double plain = normal((log(s / k) + m * t) / w) - normal((log(s / h) + m * t) / w);
    double mirrored = normal((log(h * h / (s * k)) + m * t) / w) - normal((log(h / s) + m * t) / w);
    return exp(-r * t) * (plain - image * mirrored);
}

int main(void)
{
    enum { OPTIONS = 5, STEPS = 1000 };
    const double rate = 0.05, volatility = 0.2, maturity = 1, barrier = 150;
    float strike[OPTIONS] = {60, 70, 80, 90, 100}, price[OPTIONS], *device;
    check(cudaMalloc((void **)&device, sizeof strike + sizeof price));
    check(cudaMemcpy(device, strike, sizeof strike, cudaMemcpyHostToDevice));
    knock_out<<<(OPTIONS + 3) / 4, 128>>>(OPTIONS, STEPS, rate, volatility, maturity, barrier, device,
                                          device + OPTIONS);
    check(cudaGetLastError());
    check(cudaMemcpy(price, device + OPTIONS, sizeof price, cudaMemcpyDeviceToHost));
    check(cudaFree(device));

    int wrong = 0;
    for (int i = 0; i < OPTIONS; i++) {
        double exact = closed_form(128 * barrier / 255, strike[i], barrier, rate, volatility, maturity);
        printf("strike %3.0f: %.5f, closed form %.5f\n", (double)strike[i], (double)price[i], exact);
        wrong += !(fabs((double)price[i] - exact) <= 1e-3);
    }
    return wrong != 0;
}
