/* adi2d_heston.cu - calls in Heston's model, with as many parameter sets as a calibration needs, in one batch. The
   first call's price is known. The model is heston_model.h.
   MIT licence, see LICENSE.

       nvcc -arch=native -I.. -o adi2d_heston adi2d_heston.cu && ./adi2d_heston [sets] */
#include "heston_model.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRICES = 192, VARIANCES = 64, STEPS = 64, HALVES = 4 };

/* Returns a set's value, one of ten from `from` to `to`; `each` successive sets share one. */
static double one_of(int set, int each, double from, double to)
{
    return from + (to - from) * (set / each % 10) / 9;
}

static fd_problem call(const double *spot, double variance, double strike, double maturity)
{
    fd_problem p;
    memset(&p, 0, sizeof p);
    const fd_axis price = {0, 3 * strike, PRICES, 1, {strike}, {strike / 10}, {FD_MIDWAY}};
    const fd_axis around = {0, 0.5, VARIANCES, 1, {variance}, {0.2}, {FD_ON_NODE}};
    const fd_times times = {maturity, STEPS, FD_EQUAL, 1, FD_THETA, 0, HALVES, 0, NULL, NULL};
    p.axis[0] = price, p.axis[1] = around;
    p.face[1][0] = FD_DEGENERATE; /* the equation itself holds where the variance is 0; FD_LINEAR elsewhere */
    p.times = times, p.scheme = FD_HUNDSDORFER_VERWER, p.finals = FD_AVERAGED_X;
    p.spot = spot;
    return p;
}

int main(int argc, char **argv)
{
    int sets = argc > 1 ? atoi(argv[1]) : 1000, runs = argc > 1 ? 1 : 2;
#ifdef SIMT_EMULATOR
    if (argc < 2) sets = runs = 1, puts("under the emulator, which is slow: 1 set instead of 1000");
#endif
    const double exact = 8.894869360054; /* of the first set, by the characteristic function */
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) return puts("no GPU"), 3;
    if (sets < 1) return fprintf(stderr, "usage: adi2d_heston [sets]\n"), 2;

    const size_t n = (size_t)sets;
    const double spot[2] = {100, 0.04}; /* of all sets */
    double *spot_there;
    check(cudaMalloc((void **)&spot_there, sizeof spot));
    check(cudaMemcpy(spot_there, spot, sizeof spot, cudaMemcpyHostToDevice));
    fd_problem *problem = (fd_problem *)malloc(n * sizeof *problem), *problem_there;
    heston_parameters *parameters = (heston_parameters *)malloc(n * sizeof *parameters), *parameters_there;
    fd_values *values = (fd_values *)malloc(n * sizeof *values);
    fd_status *status = (fd_status *)malloc(n * sizeof *status);
    for (int k = 0; k < sets; k++) {
        heston_parameters set = {
            100, one_of(k, 1, 1.5, 3), 0.04, one_of(k, 10, 0.3, 0.6), one_of(k, 100, -0.9, 0), 0.025, 0, 0};
        parameters[k] = set;
        problem[k] = call(spot_there, spot[1], 100, 1);
    }

    fd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.problems = sets, batch.points[0] = PRICES, batch.points[1] = VARIANCES, batch.steps = STEPS + HALVES;
    batch.spots = 1;
    void *work;
    float ms;
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    check(cudaMalloc((void **)&problem_there, n * sizeof *problem));
    check(cudaMalloc((void **)&parameters_there, n * sizeof *parameters));
    check(cudaMalloc((void **)&batch.values, n * sizeof *values));
    check(cudaMalloc((void **)&batch.status, n * sizeof *status));
    batch.problem = problem_there;
    const size_t bytes = heston_onchip_bytes_f32(&batch);
    check(cudaMalloc(&work, bytes));
    for (int run = 0; run < runs; run++) { /* the first run warms up */
        check(cudaEventRecord(start, 0));
        check(cudaMemcpyAsync(problem_there, problem, n * sizeof *problem, cudaMemcpyHostToDevice, 0));
        check(cudaMemcpyAsync(parameters_there, parameters, n * sizeof *parameters, cudaMemcpyHostToDevice, 0));
        const int refused = heston_onchip_f32(&batch, parameters_there, work, bytes, 0);
        if (refused) return fprintf(stderr, "%s\n", adi2d_status_string(refused)), 1;
        check(cudaMemcpyAsync(values, batch.values, n * sizeof *values, cudaMemcpyDeviceToHost, 0));
        check(cudaMemcpyAsync(status, batch.status, n * sizeof *status, cudaMemcpyDeviceToHost, 0));
        check(cudaEventRecord(stop, 0));
        check(cudaEventSynchronize(stop));
    }
    check(cudaEventElapsedTime(&ms, start, stop));
    for (int k = 0; k < sets; k++)
        if (status[k].what) return fprintf(stderr, "set %d: %s\n", k, adi2d_status_string(status[k].what)), 1;
    const double error = fabs(values[0].value / exact - 1);
    printf("price %.6f (exact %.6f, off by %.1e), delta %.4f, gamma %.5f, vega %.4f\n", values[0].value, exact, error,
           values[0].first[0], values[0].second[0], values[0].first[1]);
    printf("%d parameter sets in %.3f ms: %.0f problems a second\n", sets, (double)ms, 1e3 * sets / (double)ms);
    return !(error < 1e-4);
}
