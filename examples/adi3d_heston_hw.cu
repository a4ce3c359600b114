/* adi3d_heston_hw.cu - a call under Heston's variance and a stochastic short rate: Vasicek's, which is Hull and
   White's with a constant level. The call's price is known because the rate is uncorrelated with price and variance.
   With price x, variance y and rate z the equation is
       V_t + z x V_x + kappa (mean - y) V_y + speed (level - z) V_z + y x^2 / 2 V_xx + sigma^2 y / 2 V_yy
           + spread^2 / 2 V_zz + rho sigma y x V_xy = z V.
   MIT licence, see LICENSE.

       adi3d_heston_hw [points along x]

   The same file compiles for a GPU and for a CPU:
       nvcc -std=c++17 -O3 -I. -o adi3d_heston_hw examples/adi3d_heston_hw.cu
       gcc -std=c11 -O3 -march=native -fopenmp -I. -x c -o adi3d_heston_hw examples/adi3d_heston_hw.cu -lm */
#include "pde/adi3d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double strike, kappa, mean, sigma, rho, speed, level, spread;
} heston_hw_parameters;

FD_NUMBERS(heston_hw, x, half_square, correlated)
FD_HD void heston_hw_of_x(const heston_hw_parameters *p, double at, heston_hw_x_f64 *x)
{
    x->half_square = at * at / 2;
    x->correlated = p->rho * p->sigma * at;
}

FD_NUMBERS(heston_hw, y, drift, diffusion)
FD_HD void heston_hw_of_y(const heston_hw_parameters *p, double at, heston_hw_y_f64 *y)
{
    y->drift = p->kappa * (p->mean - at);
    y->diffusion = p->sigma * p->sigma * at / 2;
}

FD_NUMBERS(heston_hw, z, drift, diffusion)
FD_HD void heston_hw_of_z(const heston_hw_parameters *p, double at, heston_hw_z_f64 *z)
{
    z->drift = p->speed * (p->level - at);
    z->diffusion = p->spread * p->spread / 2;
}

FD_NO_NUMBERS(heston_hw, t)

FD_TERMS(3, heston_hw, terms->drift[0] = z->at * x->at; terms->drift[1] = y->drift; terms->drift[2] = z->drift;
         terms->diffusion[0] = x->half_square * y->at; terms->diffusion[1] = y->diffusion;
         terms->diffusion[2] = z->diffusion; terms->mixed[0] = x->correlated * y->at; terms->kill = z->at;)

enum { heston_hw_fitting = FD_CENTRAL };

FD_HD double heston_hw_payoff(const heston_hw_parameters *p, const double *at)
{
    double gain = at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}

#define FD_MODEL_MIXED 1       /* of x and y alone */
#define FD_MODEL_INDEPENDENT 4 /* the rate is independent of the other axes: one matrix for all its lines */
#define FD_MODEL heston_hw
#include "pde/adi3d.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 96;
#ifdef SIMT_EMULATOR
    if (argc < 2) n = 12, puts("under the emulator, which is slow: 12 points along x instead of 96");
#endif
    const double strike = 100, variance = 0.04, rate = 0.03, known = 9.6614579601; /* tests/model/heston_hw.py */
    const heston_hw_parameters parameters = {strike, 2, 0.04, 0.3, -0.6, 1, 0.05, 0.02};
    const fd_axis price = {0, 6 * strike, n, 1, {strike}, {0.2 * strike}, {FD_MIDWAY}};
    const fd_axis around = {0, 1, n > 8 ? n / 2 : 4, 1, {variance}, {0.1}, {FD_ON_NODE}};
    const fd_axis rates = {-0.15, 0.25, n > 16 ? n / 4 : 4, 1, {rate}, {0.05}, {FD_ON_NODE}};
    const fd_times times = {1, 40, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    const double spot[3] = {strike, variance, rate};
    fd_problem problem;
    fd_values values;
    fd_status status;
    memset(&problem, 0, sizeof problem);
    problem.axis[0] = price, problem.axis[1] = around, problem.axis[2] = rates;
    problem.face[1][0] = FD_DEGENERATE; /* the equation itself holds where the variance is 0; FD_LINEAR elsewhere */
    problem.times = times, problem.scheme = FD_HUNDSDORFER_VERWER, problem.spot = spot;
    problem.finals = FD_TOLD, problem.kinks = 1, problem.kink[0] = strike;
    fd_batch batch;
    memset(&batch, 0, sizeof batch);
    for (int d = 0; d < 3; d++) batch.points[d] = problem.axis[d].points;
    batch.problems = 1, batch.steps = times.steps + times.halves, batch.spots = 1;
    batch.problem = &problem, batch.status = &status, batch.values = &values;

    const size_t bytes = heston_hw_bytes_f64(&batch);
    void *memory = adi3d_allocate(bytes);
    int what = memory || !bytes ? heston_hw_solve_f64(&batch, &parameters, memory, bytes) : FD_NO_ROOM;
    adi3d_free(memory);
    if (!what) what = status.what; /* the function returned no error; was the problem solved? */
    if (what) return fprintf(stderr, "%s\n", fd_status_string(what)), 1;
    const double error = values.value / known - 1;
    printf("call %.6f, known %.6f, relative error %.1e\n", values.value, known, error);
    printf("derivatives with respect to price %.6f, variance %.6f, rate %.6f, price and rate %.6f\n", values.first[0],
           values.first[1], values.first[2], values.mixed[1]);
    return n >= 64 && !(fabs(error) < 1e-3);
}
