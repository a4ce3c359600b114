/* adi3d_heston_hw.cu - a call under Heston's variance and a stochastic short rate (Hull and White's, here Vasicek's),
   whose price is known where the rate is independent; with the coordinates price x, variance y and short rate z
       V_t + z x V_x + kappa (mean - y) V_y + speed (level - z) V_z + y x^2 / 2 V_xx + sigma^2 y / 2 V_yy
           + spread^2 / 2 V_zz + rho sigma y x V_xy = z V.
   MIT licence, see LICENSE.

       adi3d_heston_hw [points along x]

   The same file on a GPU and without one:
       nvcc -std=c++17 -O3 -I. -o adi3d_heston_hw examples/adi3d_heston_hw.cu
       gcc -std=c11 -O3 -march=native -fopenmp -I. -x c -o adi3d_heston_hw examples/adi3d_heston_hw.cu -lm */
#include "pde/adi3d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double strike, kappa, mean, sigma, rho, speed, level, spread;
} heston_hw_parameters;

enum {
    heston_hw_numbers_of_x = 1,
    heston_hw_numbers_of_y = 3,
    heston_hw_numbers_of_z = 2,
    heston_hw_numbers_of_t = 2,
    heston_hw_mixed = 1, /* of x and y alone */
    heston_hw_changes = 0,
    heston_hw_fitting = FD_CENTRAL
};

ADI3D_HD void heston_hw_of_x(const heston_hw_parameters *p, double x, double *number)
{
    (void)p;
    number[0] = x;
}
ADI3D_HD void heston_hw_of_y(const heston_hw_parameters *p, double y, double *number)
{
    number[0] = p->kappa * (p->mean - y);
    number[1] = sqrt(y / 2);
    number[2] = p->sigma * sqrt(y / 2);
}
ADI3D_HD void heston_hw_of_z(const heston_hw_parameters *p, double z, double *number)
{
    number[0] = z, number[1] = p->speed * (p->level - z);
}
ADI3D_HD void heston_hw_of_t(const heston_hw_parameters *p, double t, double *number)
{
    (void)t;
    number[0] = 2 * p->rho, number[1] = p->spread / sqrt(2.0);
}
ADI3D_TERMS(heston_hw, terms->drift[0] = x[0] * z[0]; terms->drift[1] = y[0]; terms->drift[2] = z[1];
            terms->volatility[0] = x[0] * y[1]; terms->volatility[1] = y[2]; terms->volatility[2] = t[1];
            terms->beta[0] = t[0]; terms->kill = z[0];)

ADI3D_HD double heston_hw_payoff(const double *at, const void *parameters)
{
    double gain = at[0] - ((const heston_hw_parameters *)parameters)->strike;
    return gain < 0 ? 0 : gain;
}

#define ADI3D_INDEPENDENT 4 /* the rate feels itself alone: one matrix for all lines along it */
#define ADI3D_MODEL heston_hw
#include "pde/adi3d.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 96;
#ifdef SIMT_EMULATOR
    if (argc < 2) n = 12, puts("under the emulator, which is slow: 12 points of the price instead of 96");
#endif
    const double strike = 100, variance = 0.04, rate = 0.03, known = 9.6614579601; /* tests/model/heston_hw.py */
    const heston_hw_parameters parameters = {strike, 2, 0.04, 0.3, -0.6, 1, 0.05, 0.02};
    const fd_axis price = {0, 6 * strike, n, 1, {strike}, {0.2 * strike}, {FD_MIDWAY}};
    const fd_axis around = {0, 1, n > 8 ? n / 2 : 4, 1, {variance}, {0.1}, {FD_ON_NODE}};
    const fd_axis rates = {-0.15, 0.25, n > 16 ? n / 4 : 4, 1, {rate}, {0.05}, {FD_ON_NODE}};
    const fd_times times = {1, 40, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    adi3d_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.axis[0] = price, problem.axis[1] = around, problem.axis[2] = rates;
    problem.spot[0] = strike, problem.spot[1] = variance, problem.spot[2] = rate;
    problem.face[1][0] = FD_DEGENERATE; /* without variance the equation itself holds, elsewhere FD_LINEAR */
    problem.times = times, problem.scheme = FD_HUNDSDORFER_VERWER;
    problem.finals = FD_TOLD, problem.kinks = 1, problem.kink[0] = strike;

    adi3d_values values;
    adi3d_result result;
    memset(&result, 0, sizeof result);
    result.values = &values;
    const size_t bytes = heston_hw_bytes_f64(&problem);
    void *memory = adi3d_allocate(bytes);
    const int what = heston_hw_solve_f64(&problem, &parameters, memory, bytes, &result);
    adi3d_free(memory);
    if (what) return fprintf(stderr, "%s\n", fd_status_string(what)), 1;
    const double error = values.value / known - 1;
    printf("call %.6f, known %.6f, relative error %.1e\n", values.value, known, error);
    printf("by price %.6f, by variance %.6f, by rate %.6f, by price and rate %.6f\n", values.dx, values.dy, values.dz,
           values.dxz);
    return n >= 64 && !(fabs(error) < 1e-3);
}
