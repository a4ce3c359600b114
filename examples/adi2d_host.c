/* adi2d_host.c - a call in Heston's model on a CPU, in plain C. The model is heston_model.h. adi2d_heston.cu prices
   many calls on a GPU.
   MIT licence, see LICENSE.

   In this folder:

       gcc -std=c11 -O3 -fopenmp -I.. -o adi2d_host adi2d_host.c -lm && ./adi2d_host [workers]

   Prints the price beside the exact one, and its Greeks; vega is the derivative with respect to the variance. Exits
   with 0 if the relative error of the price is below 1e-4. */
#include "heston_model.h"

#include <stdio.h>
#include <stdlib.h>

enum { PRICES = 192, VARIANCES = 64, STEPS = 64, HALVES = 4 };

int main(int argc, char **argv)
{
    const int workers = argc > 1 ? atoi(argv[1]) : 1;
    const double strike = 100, variance = 0.04, exact = 8.894869360054; /* by the characteristic function */
    const heston_parameters parameters = {strike, 1.5, 0.04, 0.3, -0.9, 0.025, 0, 0};
    const fd_axis price = {0, 3 * strike, PRICES, 1, {strike}, {strike / 10}, {FD_MIDWAY}};
    const fd_axis variances = {0, 0.5, VARIANCES, 1, {variance}, {0.2}, {FD_ON_NODE}};
    const fd_times times = {1, STEPS, FD_EQUAL, 1, FD_THETA, 0, HALVES, 0, NULL, NULL};
    const double spot[2] = {100, variance};
    fd_problem problem;
    fd_values values;
    fd_status status;
    memset(&problem, 0, sizeof problem);
    problem.axis[0] = price, problem.axis[1] = variances, problem.times = times;
    problem.face[1][0] = FD_DEGENERATE; /* the equation itself holds where the variance is 0; FD_LINEAR elsewhere */
    problem.scheme = FD_HUNDSDORFER_VERWER, problem.finals = FD_AVERAGED_X;
    problem.spot = spot;
    fd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.problems = 1, batch.points[0] = PRICES, batch.points[1] = VARIANCES, batch.steps = STEPS + HALVES;
    batch.spots = 1, batch.problem = &problem, batch.status = &status, batch.values = &values;

    size_t bytes = heston_host_bytes_f64(&batch, workers);
    void *memory = malloc(bytes);
    int what = heston_host_f64(&batch, &parameters, workers, memory, bytes);
    if (!what) what = status.what; /* the function returned no error; was the problem solved? */
    free(memory);
    if (what) return fprintf(stderr, "%s\n", adi2d_status_string(what)), 1;

    const double error = fabs(values.value / exact - 1);
    printf("price %.6f (exact %.6f, off by %.1e), delta %.4f, gamma %.5f, vega %.4f\n", values.value, exact, error,
           values.first[0], values.second[0], values.first[1]);
    return !(error < 1e-4);
}
