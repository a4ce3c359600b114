/* bs1d_timing.cu - the ladder of bs1d.h on the paper's model problem: time, speed and accuracy of each rung.
   MIT licence, see LICENSE.

       bs1d_timing [--csv [FILE]]

   The problem: a call with S = K = 100, r = 0.05, sigma = 0.2, T = 1 on 256 points up to 200, in 50000 explicit or 2500
   implicit steps, in batches of 2048 and of 16896. Times are medians of 9 runs after a warm-up. The answer is the mean
   of the values at the two points beside the strike, and its error the distance from the exact solution of the discrete
   equations (computed in 113-bit arithmetic). GFlop/s count 6 operations per point and step for explicit rungs, even if
   one needs fewer, and the operations of the paper's kernels for implicit rungs. The peak is that of a loop of fused
   multiply-adds in the same run. Without a GPU the host reference prices a few options. --csv prints CSV; --csv FILE
   prints a table and writes CSV to FILE. The program fails if a rung is less accurate than expected. A row is marked
   "!" if its median exceeds its least time by a tenth: something else was running. */
#include "bs1d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

enum { POINTS = 256, EXPLICIT_STEPS = 50000, IMPLICIT_STEPS = 2500, RUNS = 9, HOST_OPTIONS = 2 };
enum { CHAINS = 8, LINKS = 32, PEAK_LOOPS = 512, PEAK_THREADS = 256 };

/* ---- one name for both precisions -------------------------------------------------------------------------------- */

/* The structs of a precision. */
template <typename Real>
struct Types;
template <>
struct Types<float> {
    typedef bs1d_option_f32 Option;
    typedef bs1d_result_f32 Result;
};
template <>
struct Types<double> {
    typedef bs1d_option_f64 Option;
    typedef bs1d_result_f64 Result;
};

template <typename Real>
using Launch = int(int, int, const typename Types<Real>::Option *, typename Types<Real>::Result *, Real *,
                   cudaStream_t);
template <typename Real>
using March = int(int, int, const typename Types<Real>::Option *, typename Types<Real>::Result *, Real *, Real *);

/* ops: floating-point operations for 8 points in one step, in single and in double precision; an FMA counts two.
   within: the largest error allowed in single precision. */
struct Rung {
    const char *name;
    Launch<float> *f32;
    Launch<double> *f64;
    int implicit, flags, ops[2];
    double within;
};

static const Rung ladder[] = {
    {"explicit1", bs1d_explicit1_f32, bs1d_explicit1_f64, 0, 0, {48, 48}, 2.5e-4},
    {"explicit2", bs1d_explicit2_f32, bs1d_explicit2_f64, 0, 0, {48, 48}, 2.5e-4},
    {"explicit3", bs1d_explicit3_f32, bs1d_explicit3_f64, 0, 0, {48, 48}, 2.5e-4},
    {"implicit1", bs1d_implicit1_f32, bs1d_implicit1_f64, 1, 0, {220, 311}, 8e-4},
    {"implicit2", bs1d_implicit2_f32, bs1d_implicit2_f64, 1, 0, {276, 367}, 2e-5},
    {"implicit3", bs1d_implicit3_f32, bs1d_implicit3_f64, 1, 0, {91, 91}, 8e-4},
    {"implicit4", bs1d_implicit4_f32, bs1d_implicit4_f64, 1, 0, {91, 91}, 8e-4},
    {"implicit4_increment", bs1d_implicit4_f32, bs1d_implicit4_f64, 1, BS1D_INCREMENT, {91, 91}, 2e-5},
};

static Launch<float> *launch_of(const Rung &rung, float)
{
    return rung.f32;
}
static Launch<double> *launch_of(const Rung &rung, double)
{
    return rung.f64;
}

template <typename Real>
static typename Types<Real>::Option model_problem(int implicit, int flags)
{
    typename Types<Real>::Option option = {
        100, 100, (Real)0.05, 0, (Real)0.2, 1, 200, implicit ? IMPLICIT_STEPS : EXPLICIT_STEPS, BS1D_CALL | flags};
    return option;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static FILE *csv;          /* the file for CSV, or null */
static int table = 1;      /* whether the rows are printed as a table */
static int bad, disturbed; /* the number of rows that are inaccurate, and that are marked "!" */

/* peak 0: none was measured */
static void heading(const char *machine, const double peak[2])
{
    if (table && peak[0] > 0)
        printf("Table 1, one factor: 2048 and 16896 calls on %d points, %d explicit or %d implicit steps. %d rows\n"
               "take 10 s on an H200. GFlop/s count the operations of the paper's kernels, whatever a rung computes,\n"
               "and %% of peak compares with a loop of multiply-adds. So a rung that saves work, as explicit3 does by\n"
               "composing steps, can exceed 100 %%.\n",
               POINTS, EXPLICIT_STEPS, IMPLICIT_STEPS, 4 * (int)(sizeof ladder / sizeof ladder[0]));
    else if (table)
        printf("Table 1, one factor, without a GPU: the host reference marches %d calls on %d points, %d explicit\n"
               "or %d implicit steps, 4 rows in a few seconds. Skipped: all rungs, which are kernels.\n",
               HOST_OPTIONS, POINTS, EXPLICIT_STEPS, IMPLICIT_STEPS);
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    FILE *const to[2] = {table ? stdout : NULL, csv};
    for (int i = 0; i < 2; i++) {
        if (!to[i]) continue;
        fprintf(to[i], "# %s, %s, %s\n", machine, BENCH_FLAGS, date);
        if (peak[0] > 0) fprintf(to[i], "# FMA peak: %.1f GFlop/s in f32, %.1f in f64\n", peak[0], peak[1]);
    }
    if (csv)
        fprintf(csv, "kernel,precision,options,points,steps,ms_median,ms_min,gflops,pct_of_peak,value_at_strike,"
                     "abs_error\n");
    if (table)
        printf("%-20s prec options  steps  median ms     least ms   GFlop/s  %% of peak  value at strike     error\n",
               "kernel");
    fflush(stdout);
}

/* peak 0: none was measured */
static void row(const char *name, int is_double, int implicit, int options, int ops, double within, double ms,
                double least, double peak, double value)
{
    int steps = implicit ? IMPLICIT_STEPS : EXPLICIT_STEPS;
    double gflops = 1e-6 * options * (POINTS / 8.0) * steps * ops / ms;
    double error = fabs(value - (implicit ? 10.4515302206847423548 : 10.4519706236429348623));
    char percent[16] = "";
    if (peak > 0) snprintf(percent, sizeof percent, "%.2f", 100 * gflops / peak);
    if (csv)
        fprintf(csv, "%s,%s,%d,%d,%d,%.6g,%.6g,%.6g,%s,%.17g,%.3e\n", name, is_double ? "f64" : "f32", options, POINTS,
                steps, ms, least, gflops, percent, value, error);
    int unsteady = ms > 1.1 * least;
    disturbed += unsteady;
    if (table)
        printf("%-20s %s  %7d  %5d  %9.4f    %9.4f %9.1f %10s  %-18.14g %.1e%s\n", name, is_double ? "f64" : "f32",
               options, steps, ms, least, gflops, percent, value, error, unsteady ? " !" : "");
    fflush(stdout);
    if (!(error <= within)) {
        fprintf(stderr, "%s %s: off by %.3g, more than %.3g\n", name, is_double ? "f64" : "f32", error, within);
        bad++;
    }
}

template <typename T>
static int ascending(const void *p, const void *q)
{
    return (*(const T *)p > *(const T *)q) - (*(const T *)p < *(const T *)q);
}

/* ---- on a GPU ---------------------------------------------------------------------------------------------------- */

/* Computes enough chains of multiply-adds to hide their latency; the two inner loops unroll. Two of the three operands
   are the same register, so that no bank of the register file is read twice. */
template <typename Real>
__global__ void __launch_bounds__(PEAK_THREADS) fma_loop(int loops, Real scale, Real *out)
{
    Real x[CHAINS], a = scale * (Real)(threadIdx.x + 1), sum = 0;
    for (int c = 0; c < CHAINS; c++) x[c] = (Real)(c + 1);
    for (int i = 0; i < loops; i++) {
        for (int k = 0; k < LINKS; k++) {
            for (int c = 0; c < CHAINS; c++) x[c] = fma(x[c], a, x[c]);
        }
    }
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    out[blockIdx.x * PEAK_THREADS + threadIdx.x] = sum;
}

/* Returns the milliseconds between two events. */
static float elapsed(cudaEvent_t start, cudaEvent_t stop)
{
    float ms;
    check(cudaEventSynchronize(stop));
    check(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}

/* Returns the best GFlop/s of the loop. */
template <typename Real>
static double measured_peak(int processors)
{
    int blocks = processors * (2048 / PEAK_THREADS) * 4; /* four times what full multiprocessors hold */
    float best = INFINITY;
    Real *out;
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    check(cudaMalloc((void **)&out, (size_t)blocks * PEAK_THREADS * sizeof(Real)));
    for (int run = -1; run < RUNS; run++) {
        check(cudaEventRecord(start));
        fma_loop<Real><<<blocks, PEAK_THREADS>>>(PEAK_LOOPS, (Real)1e-9, out);
        check(cudaEventRecord(stop));
        check(cudaGetLastError());
        float ms = elapsed(start, stop);
        if (run >= 0 && ms < best) best = ms;
    }
    check(cudaFree(out));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    return 2e-6 * CHAINS * LINKS * PEAK_LOOPS * PEAK_THREADS * blocks / best;
}

template <typename Real>
static void time_rung(const Rung &rung, int options, double peak)
{
    typedef typename Types<Real>::Option Option;
    typedef typename Types<Real>::Result Result;
    const int is_double = sizeof(Real) == 8;
    const std::vector<Option> host_option((size_t)options, model_problem<Real>(rung.implicit, rung.flags));
    Option *option;
    Result *result, first;
    Real *grid, beside[2];
    float ms[RUNS];
    check(cudaMalloc((void **)&option, (size_t)options * sizeof(Option)));
    check(cudaMalloc((void **)&result, (size_t)options * sizeof(Result)));
    check(cudaMalloc((void **)&grid, (size_t)options * POINTS * sizeof(Real)));
    check(cudaMemcpy(option, host_option.data(), (size_t)options * sizeof(Option), cudaMemcpyHostToDevice));

    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    /* The first runs warm up, since a GPU is slower for about 15 ms after a pause. Only they write the grid. */
    float warm = 0;
    for (int run = -1; run < RUNS; run += warm >= 20) {
        check(cudaEventRecord(start));
        int status = launch_of(rung, (Real)0)(options, POINTS, option, result, run < 0 ? grid : NULL, 0);
        check(cudaEventRecord(stop));
        if (status) fprintf(stderr, "%s: %s\n", rung.name, bs1d_status_string(status)), exit(1);
        float time = elapsed(start, stop);
        warm += time;
        if (run >= 0) ms[run] = time;
    }
    qsort(ms, RUNS, sizeof ms[0], ascending<float>);
    check(cudaMemcpy(&first, result, sizeof first, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(beside, grid + POINTS / 2 - 1, sizeof beside, cudaMemcpyDeviceToHost));
    if (first.status) fprintf(stderr, "%s: %s\n", rung.name, bs1d_status_string((int)first.status)), exit(1);
    row(rung.name, is_double, rung.implicit, options, rung.ops[is_double], is_double ? 1e-11 : rung.within,
        ms[RUNS / 2], ms[0], peak, ((double)beside[0] + (double)beside[1]) / 2);
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    check(cudaFree(option));
    check(cudaFree(result));
    check(cudaFree(grid));
}

static void on_gpu(void)
{
    static const int batches[] = {2048, 16896};
    char machine[400] = "";
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
#ifdef __CUDACC__
    int driver;
    check(cudaDriverGetVersion(&driver));
    snprintf(machine, sizeof machine, "%s, CUDA driver %d.%d, nvcc %d.%d.%d", device.name, driver / 1000,
             driver % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
#endif
    double peak[2] = {measured_peak<float>(device.multiProcessorCount),
                      measured_peak<double>(device.multiProcessorCount)};
    heading(machine, peak);
    for (int b = 0; b < 2; b++) {
        for (const Rung &rung : ladder) time_rung<float>(rung, batches[b], peak[0]);
        for (const Rung &rung : ladder) time_rung<double>(rung, batches[b], peak[1]);
    }
}

/* ---- on the host ------------------------------------------------------------------------------------------------- */

template <typename Real>
static void time_host(const char *name, March<Real> *march, int implicit)
{
    const int is_double = sizeof(Real) == 8;
    typename Types<Real>::Option option[HOST_OPTIONS];
    typename Types<Real>::Result result[HOST_OPTIONS];
    std::vector<Real> grid(HOST_OPTIONS * POINTS), work(BS1D_HOST_LEN(POINTS));
    double ms[RUNS];
    for (int i = 0; i < HOST_OPTIONS; i++) option[i] = model_problem<Real>(implicit, 0);
    for (int run = -1; run < RUNS; run++) {
        clock_t start = clock();
        int status = march(HOST_OPTIONS, POINTS, option, result, grid.data(), work.data());
        if (status || result[0].status) fprintf(stderr, "%s: status %d\n", name, status), exit(1);
        if (run >= 0) ms[run] = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    qsort(ms, RUNS, sizeof ms[0], ascending<double>);
    /* The host's implicit march factors once and takes the increment form. Its operations count as implicit3's. */
    row(name, is_double, implicit, HOST_OPTIONS, implicit ? 91 : 48,
        is_double  ? 1e-11
        : implicit ? 2e-5
                   : 2.5e-4,
        ms[RUNS / 2], ms[0], 0, ((double)grid[POINTS / 2 - 1] + (double)grid[POINTS / 2]) / 2);
}

static void on_host(void)
{
    static const double no_peak[2] = {0, 0};
    char machine[400] = "no GPU, so the host reference on one core", line[200];
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(machine, sizeof machine, "no GPU, so the host reference on one core:%s", colon + 1);
        break;
    }
    if (info) fclose(info);
    heading(machine, no_peak);
    time_host<float>("host_explicit", bs1d_host_explicit_f32, 0);
    time_host<float>("host_implicit", bs1d_host_implicit_f32, 1);
    time_host<double>("host_explicit", bs1d_host_explicit_f64, 0);
    time_host<double>("host_implicit", bs1d_host_implicit_f64, 1);
}

int main(int argc, char **argv)
{
    int devices = 0;
    if (argc > 3 || (argc > 1 && strcmp(argv[1], "--csv"))) {
        fprintf(stderr, "usage: bs1d_timing [--csv [FILE]]\n");
        return 2;
    }
    if (argc == 2) csv = stdout, table = 0;
    if (argc == 3 && !(csv = fopen(argv[2], "w"))) {
        perror(argv[2]);
        return 2;
    }
#ifndef SIMT_EMULATOR /* the emulator's times are not worth printing */
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
#endif
    if (devices)
        on_gpu();
    else
        on_host();
    if (table && disturbed)
        printf("Warning: %d row%s marked \"!\": runs differ by more than a tenth, so something else was running.\n",
               disturbed, disturbed == 1 ? "" : "s");
    if (csv && csv != stdout && fclose(csv)) {
        perror(argv[2]);
        return 1;
    }
    return bad ? 1 : 0;
}
