/* bs1d_dividend.cu - a march from maturity to the day of a dividend and on to today, with bs1d_suggest and BS1D_GIVEN.
   MIT licence, see LICENSE. */
#include "bs1d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the Black-Scholes price of a put. */
static double put(double s, double k, double r, double v, double t)
{
    double root = v * sqrt(t), d1 = (log(s / k) + r * t) / root + root / 2;
    return k * exp(-r * t) * 0.5 * erfc((d1 - root) / sqrt(2.0)) - s * 0.5 * erfc(d1 / sqrt(2.0));
}

int main(void)
{
    enum { OPTIONS = 3 };
    const double when = 0.25, share = 0.03, tolerance = 1e-2; /* 3 % is paid out after a quarter of a year */
    bs1d_option_f64 option[OPTIONS], *device_option;
    bs1d_result_f64 result[OPTIONS], *device_result;
    int points = 0, status = BS1D_OK;
    for (int i = 0; i < OPTIONS; i++) {
        bs1d_option_f64 o = {100, 90.0 + 10 * i, 0.04, 0, 0.3, 1, 0, 0, BS1D_PUT};
        int wants;
        status = bs1d_suggest_f64(tolerance, &o, &wants);
        if (status) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);
        if (wants > points) points = wants; /* the same for all options of a batch */
        o.maturity -= when;
        option[i] = o;
    }
    size_t cells = (size_t)OPTIONS * points;
    double *grid = (double *)malloc(2 * cells * sizeof *grid), *device_grid;
    if (!grid) return 1;
    check(cudaMalloc((void **)&device_option, sizeof option));
    check(cudaMalloc((void **)&device_result, sizeof result));
    check(cudaMalloc((void **)&device_grid, cells * sizeof *grid));
    check(cudaMemcpy(device_option, option, sizeof option, cudaMemcpyHostToDevice));
    status = bs1d_implicit4_f64(OPTIONS, points, device_option, device_result, device_grid, 0);
    if (status) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);
    check(cudaMemcpy(grid, device_grid, cells * sizeof *grid, cudaMemcpyDeviceToHost));

    /* The option has the same value at S on the evening before as at S (1 - share) on the morning after. */
    for (int i = 0; i < OPTIONS; i++) {
        for (int j = 0; j < points; j++) {
            double x = j * (1 - share), weight[4], unused[4], *before = grid + cells + (size_t)i * points + j;
            int first = (int)x < 1 ? 0 : (int)x - 1;
            if (first > points - 4) first = points - 4;
            bs1d_lane_cubic(x - first, weight, unused, unused);
            *before = 0;
            for (int q = 0; q < 4; q++) *before += weight[q] * grid[(size_t)i * points + first + q];
        }
        option[i].maturity = when;
        option[i].flags |= BS1D_GIVEN;
    }
    check(cudaMemcpy(device_option, option, sizeof option, cudaMemcpyHostToDevice));
    check(cudaMemcpy(device_grid, grid + cells, cells * sizeof *grid, cudaMemcpyHostToDevice));
    status = bs1d_implicit4_f64(OPTIONS, points, device_option, device_result, device_grid, 0);
    if (status) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);
    check(cudaMemcpy(result, device_result, sizeof result, cudaMemcpyDeviceToHost));
    check(cudaFree(device_option));
    check(cudaFree(device_result));
    check(cudaFree(device_grid));
    free(grid);

    int wrong = 0;
    printf("%d points, two marches of %d steps\n", points, (int)option[0].steps);
    for (int i = 0; i < OPTIONS; i++) {
        bs1d_option_f64 o = option[i];
        double exact = put(o.spot * (1 - share), o.strike, o.rate, o.volatility, 1);
        printf("strike %3.0f: %.4f, closed form %.4f\n", o.strike, result[i].price, exact);
        wrong += result[i].status != BS1D_OK || !(fabs(result[i].price - exact) <= tolerance);
    }
    return wrong != 0;
}
