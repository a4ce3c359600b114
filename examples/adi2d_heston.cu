/* adi2d_heston.cu - calls in Heston's model, with as many parameter sets as a calibration needs, in one batch. The
   first call's price is known. The model is heston_model.h.
   MIT licence, see LICENSE.

       nvcc -arch=native -I.. -o adi2d_heston adi2d_heston.cu && ./adi2d_heston [sets]

   Prints the first call's price, and the time of all calls with transfers: of 1000 sets after a warm-up, or of `sets`
   without one. Exits with 0 if the price is right. */
#include "heston_model.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

enum { PRICES = 192, VARIANCES = 64, STEPS = 64, HALVES = 4 };

/* The calls, a set of parameters each, and their results. */
struct calls {
    std::vector<fd_problem> problem;
    std::vector<heston_parameters> parameters;
    std::vector<fd_values> values;
    std::vector<fd_status> status;
};

/* Returns a set's value of a parameter: one of ten from `from` to `to`. It changes after every `each` sets. */
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

template <typename T>
static T *device_array(const std::vector<T> &host)
{
    T *device;
    check(cudaMalloc((void **)&device, host.size() * sizeof(T)));
    return device;
}
template <typename T>
static void copy(T *to, const T *from, const std::vector<T> &host, cudaMemcpyKind kind)
{
    check(cudaMemcpyAsync(to, from, host.size() * sizeof(T), kind, 0));
}

/* Prices all calls. Returns the milliseconds of the last run, with transfers. */
static float price(calls *all, int runs)
{
    fd_problem *const problem = device_array(all->problem);
    heston_parameters *const parameters = device_array(all->parameters);
    fd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.problems = (int)all->problem.size();
    batch.points[0] = PRICES, batch.points[1] = VARIANCES, batch.steps = STEPS + HALVES, batch.spots = 1;
    batch.problem = problem, batch.values = device_array(all->values), batch.status = device_array(all->status);
    const size_t bytes = heston_onchip_bytes_f32(&batch);
    void *work;
    float ms;
    cudaEvent_t start, stop;
    check(cudaMalloc(&work, bytes));
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    for (int run = 0; run < runs; run++) {
        check(cudaEventRecord(start, 0));
        copy(problem, all->problem.data(), all->problem, cudaMemcpyHostToDevice);
        copy(parameters, all->parameters.data(), all->parameters, cudaMemcpyHostToDevice);
        const int refused = heston_onchip_f32(&batch, parameters, work, bytes, 0);
        if (refused) fprintf(stderr, "%s\n", adi2d_status_string(refused)), exit(1);
        copy(all->values.data(), batch.values, all->values, cudaMemcpyDeviceToHost);
        copy(all->status.data(), batch.status, all->status, cudaMemcpyDeviceToHost);
        check(cudaEventRecord(stop, 0));
        check(cudaEventSynchronize(stop));
    }
    check(cudaEventElapsedTime(&ms, start, stop));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    void *const arrays[] = {problem, parameters, batch.values, batch.status, work};
    for (void *array : arrays) check(cudaFree(array));
    return ms;
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

    const double spot[2] = {100, 0.04}; /* of all sets */
    double *spot_there;
    check(cudaMalloc((void **)&spot_there, sizeof spot));
    check(cudaMemcpy(spot_there, spot, sizeof spot, cudaMemcpyHostToDevice));
    calls all;
    all.values.resize((size_t)sets), all.status.resize((size_t)sets);
    for (int k = 0; k < sets; k++) {
        heston_parameters set = {
            100, one_of(k, 1, 1.5, 3), 0.04, one_of(k, 10, 0.3, 0.6), one_of(k, 100, -0.9, 0), 0.025, 0, 0};
        all.parameters.push_back(set);
        all.problem.push_back(call(spot_there, spot[1], 100, 1));
    }
    const float ms = price(&all, runs);
    check(cudaFree(spot_there));
    for (int k = 0; k < sets; k++) {
        const int what = all.status[(size_t)k].what;
        if (what) return fprintf(stderr, "set %d: %s\n", k, adi2d_status_string(what)), 1;
    }
    const fd_values &first = all.values[0];
    const double error = fabs(first.value / exact - 1);
    printf("price %.6f (exact %.6f, off by %.1e), delta %.4f, gamma %.5f, vega %.4f\n", first.value, exact, error,
           first.first[0], first.second[0], first.first[1]);
    printf("%d parameter %s in %.3f ms: %.0f problems a second\n", sets, sets == 1 ? "set" : "sets", (double)ms,
           1e3 * sets / (double)ms);
    return !(error < 1e-4);
}
