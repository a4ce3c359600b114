/* fd1d_cev.cu - 10000 American puts in the CEV model on a GPU, a warp for each put. Their volatilities and elasticities
   form a grid, as in a calibration. The model is cev_model.h. fd1d_host.c prices calls and puts with it on a CPU.
   MIT licence, see LICENSE.

   In this folder:

       nvcc -std=c++17 -O3 -arch=native -I.. -o fd1d_cev fd1d_cev.cu && ./fd1d_cev

   Prints the time of the batch and the prices at two corners of that grid. Exits with 0 if single precision agrees with
   the host's double precision to within 0.001. */
#include "cev_model.h"
#include "cuda_check.h"

#include <stdio.h>
#include <string.h>
#include <vector>

#ifdef SIMT_EMULATOR
enum { SIDE = 3 }; /* the emulator is slow */
#else
enum { SIDE = 100 };
#endif
enum { POINTS = 256, STEPS = 100, HALVES = 4, PROBLEMS = SIDE * SIDE };

/* Copies an array to the device. */
template <typename T>
static T *on_device(const std::vector<T> &host)
{
    T *device;
    check(cudaMalloc(&device, host.size() * sizeof(T)));
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void free_all(std::initializer_list<const void *> arrays)
{
    for (const void *array : arrays) check(cudaFree((void *)array));
}

int main(void)
{
    const std::vector<double> spot(1, 100);
    std::vector<cev_parameters> parameters(PROBLEMS);
    std::vector<fd_problem> problem(PROBLEMS);
    std::vector<fd_status> status(PROBLEMS);
    std::vector<fd_values> values(PROBLEMS), host(PROBLEMS);
    for (int p = 0; p < PROBLEMS; p++) {
        const double beta = 0.3 + 0.6 * (p % SIDE) / (SIDE - 1), level = 0.1 + 0.3 * (p / SIDE) / (SIDE - 1);
        parameters[p] = {0.05, level * pow(100, 1 - beta), beta, 100, 1}; /* level: the volatility at 100 */
        memset(&problem[p], 0, sizeof problem[p]);
        problem[p].axis[0] = {0, 500, POINTS, 1, {100}, {20}, {FD_MIDWAY}};
        problem[p].times = {1, STEPS, FD_EQUAL, 1, FD_THETA, 0, HALVES, 0, NULL, NULL};
        problem[p].exercise = FD_AMERICAN;
        problem[p].spot = spot.data();
    }
    fd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.problems = PROBLEMS, batch.points[0] = POINTS, batch.steps = STEPS + HALVES, batch.spots = 1;
    batch.problem = problem.data(), batch.status = status.data(), batch.values = host.data();
    std::vector<double> memory(cev_host_bytes_f64(&batch, 1) / sizeof(double) + 1);
    int what = cev_host_f64(&batch, parameters.data(), 1, memory.data(), memory.size() * sizeof(double));

    /* The same on the device: all pointers, including those in the problems, point to device memory. */
    const double *const device_spot = on_device(spot);
    for (fd_problem &one : problem) one.spot = device_spot;
    batch.problem = on_device(problem), batch.status = on_device(status), batch.values = on_device(values);
    const cev_parameters *const device_parameters = on_device(parameters);
    const size_t bytes = cev_device_bytes_f32(&batch);
    void *device_memory;
    check(cudaMalloc(&device_memory, bytes));
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    for (int run = 0; run < 2 && !what; run++) { /* the first loads the kernels */
        check(cudaEventRecord(start));
        what = cev_device_f32(&batch, device_parameters, device_memory, bytes, 0);
        check(cudaEventRecord(stop));
    }
    check(cudaMemcpy(values.data(), batch.values, PROBLEMS * sizeof values[0], cudaMemcpyDeviceToHost));
    check(cudaMemcpy(status.data(), batch.status, PROBLEMS * sizeof status[0], cudaMemcpyDeviceToHost));
    float ms;
    check(cudaEventElapsedTime(&ms, start, stop));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    free_all({device_spot, batch.problem, batch.status, batch.values, device_parameters, device_memory});

    double worst = 0;
    for (int p = 0; p < PROBLEMS && !what; p++) {
        const double error = fabs(values[p].value - host[p].value);
        what = status[p].what;
        worst = !(error <= worst) ? error : worst;
    }
    if (what) return fprintf(stderr, "%s\n", fd_status_string(what)), 1;
    printf("%d American puts, %d points, %d steps: %.2f ms\n", PROBLEMS, POINTS, STEPS + HALVES / 2, ms);
    printf("prices from %.4f (volatility 0.1) to %.4f (0.4), off the host's by %.1e at most\n", values[0].value,
           values[PROBLEMS - 1].value, worst);
    return !(worst < 1e-3);
}
