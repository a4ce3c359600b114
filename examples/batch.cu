/* batch.cu - many systems in contiguous arrays, one warp each, at the speed of memory.
   MIT licence, see LICENSE.

       batch [n [systems]]         n <= 256 rows a system, default 256 and 524288

   Prints time, bandwidth and residual in both precisions. A solve must read a, b, c, d and write x: five arrays.
   Their bytes per second are compared with those that a device-to-device copy of 4 GiB reads and writes in the same
   run. A copy writes half of its bytes and a solve a fifth. Reading is a little faster than writing, so a solve can
   exceed 100 %.
   Without a GPU the host's hybrid solves the batch, by default of 2048 systems. Exits with 1 if a residual is too
   large. */
#include "transpose.h"
#include "trid.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

enum { K = 8, W = 32, WARPS = 4, RUNS = 9 };

/* Returns a number in [-1, 1], as if drawn at random, for element i of array k. */
__host__ __device__ static double entry(size_t i, int k)
{
    unsigned long long z = (i * 8 + (unsigned)k + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

template <typename Real>
static __global__ void fill(size_t rows, Real *a, Real *b, Real *c, Real *d, Real *x)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < rows; i += (size_t)gridDim.x * blockDim.x) {
        a[i] = (Real)entry(i, 0);
        c[i] = (Real)entry(i, 1);
        b[i] = (Real)(2.5 + entry(i, 2) / 4);
        d[i] = (Real)entry(i, 3);
        x[i] = (Real)0 / (Real)0; /* so that an element that is never written shows */
    }
}

/* Each warp solves one system. */
template <typename Real>
static __global__ void __launch_bounds__(32 * WARPS)
    solve(int n, size_t systems, const Real *a, const Real *b, const Real *c, const Real *d, Real *x)
{
    size_t system = blockIdx.x * (size_t)WARPS + threadIdx.x / 32, at = system * n;
    if (system >= systems) return;
    const int LENGTH = sizeof(Real) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    __shared__ Real buffer[WARPS][LENGTH];
    Real ra[K], rb[K], rc[K], rd[K], *mine = buffer[threadIdx.x / 32];
    transpose_load_striped(K, W, n, a + at, (Real)0, ra); /* all loads start before the first transpose */
    transpose_load_striped(K, W, n, b + at, (Real)1, rb);
    transpose_load_striped(K, W, n, c + at, (Real)0, rc);
    transpose_load_striped(K, W, n, d + at, (Real)0, rd);
    transpose_to_blocked(K, ra, mine);
    transpose_to_blocked(K, rb, mine);
    transpose_to_blocked(K, rc, mine);
    transpose_to_blocked(K, rd, mine);
    trid_warp_hybrid(K, W, n, ra, rb, rc, rd);
    transpose_store(K, W, n, rd, x + at, mine);
}

/* Returns the largest residual of at most 1000 systems across the batch; NaN if an element is NaN. */
template <typename Real>
static double largest_residual(int n, size_t systems, Real *const device[5])
{
    Real *host = (Real *)malloc(5 * sizeof(Real) * (size_t)n);
    if (!host) fprintf(stderr, "out of memory\n"), exit(1);
    double largest = 0;
    size_t samples = systems < 1000 ? systems : 1000;
    for (size_t s = 0; s < samples; s++) {
        size_t system = samples > 1 ? (systems - 1) * s / (samples - 1) : 0;
        for (int k = 0; k < 5; k++)
            check(cudaMemcpy(host + (size_t)k * n, device[k] + system * n, sizeof(Real) * (size_t)n,
                             cudaMemcpyDeviceToHost));
        double r = trid_host_residual(n, host, host + n, host + 2 * n, host + 3 * n, host + 4 * n);
        if (!(r <= largest)) largest = r;
        if (largest != largest) break;
    }
    free(host);
    return largest;
}

static int ascending(const void *p, const void *q)
{
    return (*(const float *)p > *(const float *)q) - (*(const float *)p < *(const float *)q);
}

/* Returns the milliseconds between two events. */
static float elapsed(cudaEvent_t start, cudaEvent_t stop)
{
    float ms;
    check(cudaEventSynchronize(stop));
    check(cudaGetLastError());
    check(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}

/* Prints the machine, the compiler and the date, as in all results. */
static void heading(void)
{
#ifdef __CUDACC__
    char date[32];
    time_t now = time(NULL);
    cudaDeviceProp device;
    int driver;
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaDriverGetVersion(&driver));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# %s, CUDA driver %d.%d, nvcc %d.%d.%d, %s, %s\n", device.name, driver / 1000, driver % 100 / 10,
           __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, BENCH_FLAGS, date);
#endif
}

/* Returns the GB/s, read and written, of a copy of 4 GiB, or of less if memory does not hold two of them. */
static double copy_speed(void)
{
    cudaEvent_t start, stop;
    float ms[RUNS];
    void *from = NULL;
    size_t bytes = (size_t)1 << 32;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    while (cudaMalloc(&from, 2 * bytes) != cudaSuccess && bytes >> 24) cudaGetLastError(), bytes /= 2;
    check(cudaMemset(from, 1, 2 * bytes));
    float warm = 0; /* ms; after a pause a GPU runs slower for about 15 ms, so the first runs do not count */
    for (int run = -1; run < RUNS; run += warm >= 20) {
        check(cudaEventRecord(start, 0));
        check(cudaMemcpyAsync((char *)from + bytes, from, bytes, cudaMemcpyDeviceToDevice, 0));
        check(cudaEventRecord(stop, 0));
        float copied = elapsed(start, stop);
        warm += copied;
        if (run >= 0) ms[run] = copied;
    }
    check(cudaFree(from));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    qsort(ms, RUNS, sizeof *ms, ascending);
    double speed = 2e-6 * (double)bytes / ms[RUNS / 2];
    printf("# device-to-device copy of %.3g GiB: %.0f GB/s\n", (double)bytes / (1 << 30), speed);
    return speed;
}

template <typename Real>
static int on_gpu(const char *name, int n, size_t systems, double copy)
{
    size_t rows = systems * (size_t)n, bytes = rows * sizeof(Real);
    Real *array[5];
    for (int k = 0; k < 5; k++) check(cudaMalloc((void **)&array[k], bytes ? bytes : 1));
    fill<Real><<<1024, 256>>>(rows, array[0], array[1], array[2], array[3], array[4]);
    check(cudaGetLastError());

    cudaEvent_t start, stop;
    float solves[RUNS];
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    float warm = 0; /* as in copy_speed */
    for (int run = -1; run < RUNS; run += warm >= 20) {
        unsigned blocks = (unsigned)((systems + WARPS - 1) / WARPS);
        check(cudaEventRecord(start, 0));
        solve<Real><<<blocks, 32 * WARPS>>>(n, systems, array[0], array[1], array[2], array[3], array[4]);
        check(cudaEventRecord(stop, 0));
        float solved = elapsed(start, stop);
        warm += solved;
        if (run >= 0) solves[run] = solved;
    }
    qsort(solves, RUNS, sizeof *solves, ascending);
    double ms = solves[RUNS / 2], rate = 5.0 * (double)bytes / (1e6 * ms);
    double r = largest_residual(n, systems, array);
    printf("%s  %zu systems of %d rows: %.3f ms, %.0f GB/s, %.1f %% of the copy, residual %.1e\n", name, systems, n, ms,
           rate, 100 * rate / copy, r);
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    for (int k = 0; k < 5; k++) check(cudaFree(array[k]));
    return r < (sizeof(Real) == 4 ? 1e-6 : 1e-15) ? 0 : 1;
}

template <typename Real>
static int on_host(const char *name, int n, size_t systems)
{
    size_t rows = systems * (size_t)n;
    Real *a = (Real *)malloc((5 * rows + trid_host_hybrid_len(n, K)) * sizeof(Real));
    Real *b = a + rows, *c = b + rows, *d = c + rows, *x = d + rows, *work = x + rows;
    if (!a) {
        fprintf(stderr, "%zu systems do not fit into memory\n", systems);
        return 1;
    }
    for (size_t i = 0; i < rows; i++) {
        a[i] = (Real)entry(i, 0);
        c[i] = (Real)entry(i, 1);
        b[i] = (Real)(2.5 + entry(i, 2) / 4);
        d[i] = (Real)entry(i, 3);
    }
    float ms[RUNS];
    for (int run = 0; run < RUNS; run++) {
        clock_t start = clock();
        for (size_t at = 0; at < rows; at += (size_t)n)
            trid_host_hybrid(n, K, a + at, b + at, c + at, d + at, x + at, work);
        ms[run] = (float)(1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
    }
    qsort(ms, RUNS, sizeof *ms, ascending);
    double median = ms[RUNS / 2], largest = 0;
    for (size_t at = 0; at < rows; at += (size_t)n) {
        double r = trid_host_residual(n, a + at, b + at, c + at, d + at, x + at);
        if (!(r <= largest)) largest = r;
    }
    printf("%s  %zu systems of %d rows on one core of the host: %.3f ms, %.2f GB/s, residual %.1e\n", name, systems, n,
           median, median > 0 ? 5e-6 * (double)(rows * sizeof(Real)) / median : 0, largest);
    free(a);
    return largest < (sizeof(Real) == 4 ? 1e-6 : 1e-15) ? 0 : 1;
}

/* Returns the argument if it is a number from 1 to most, else 0. */
static long long number(const char *argument, long long most)
{
    char *end;
    long long x = strtoll(argument, &end, 10);
    return end != argument && !*end && x >= 1 && x <= most ? x : 0;
}

int main(int argc, char **argv)
{
    const long long most = 100000000;
    int n = argc > 1 ? (int)number(argv[1], K * W) : K * W, devices = 0;
    long long systems = argc > 2 ? number(argv[2], most) : 0;
    if (n == 0 || (argc > 2 && systems == 0) || argc > 3) {
        fprintf(stderr, "usage: batch [rows a system, 1 to %d [systems, 1 to %lld]]\n", K * W, most);
        return 2;
    }
#ifndef SIMT_EMULATOR /* the emulator's times are not worth printing */
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
#endif
    if (devices == 0) {
        puts("no GPU: the host's hybrid instead");
        size_t batch = systems ? (size_t)systems : 2048;
        int wrong = on_host<float>("f32", n, batch);
        return on_host<double>("f64", n, batch) || wrong;
    }
    size_t batch = systems ? (size_t)systems : 524288;
    heading();
    double copy = copy_speed();
    int wrong = on_gpu<float>("f32", n, batch, copy);
    return on_gpu<double>("f64", n, batch, copy) || wrong;
}
