/* bench.h - what the benchmarks share: times, limits, and the head of a results file.
   MIT licence, see LICENSE.

       Bench bench = bench_open(argc, argv);                      --csv FILE: also write the rows there
       double copy = bench_copy_speed(bench);                     bytes read and written a second
       double s = bench_seconds(9, [&] { kernel<<<g, b>>>(p); }); median of 9, warmed up */
#ifndef BENCH_H
#define BENCH_H

#include <algorithm>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

#define BENCH_OK(call)                                                                                                 \
    do {                                                                                                               \
        cudaError_t bench_error = (call);                                                                              \
        if (bench_error != cudaSuccess) {                                                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(bench_error));            \
            exit(bench_error == cudaErrorNoDevice || bench_error == cudaErrorInsufficientDriver ? 3 : 1);              \
        }                                                                                                              \
    } while (0)

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown"
#endif

struct Bench {
    FILE *csv; /* null: rows go to the terminal alone */
};

/* A line to the terminal and to the results file. */
static inline void bench_line(const Bench &bench, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    if (!bench.csv) return;
    va_start(args, format);
    vfprintf(bench.csv, format, args);
    va_end(args);
}

/* --csv FILE, and one more word that the program may know: was it said? */
static inline Bench bench_open(int argc, char **argv, const char *word = NULL, bool *said = NULL)
{
    Bench bench = {NULL};
    for (int i = 1; i < argc; i++) {
        if (word && !strcmp(argv[i], word)) {
            *said = true;
        } else if (!strcmp(argv[i], "--csv") && i + 1 < argc) {
            if (!(bench.csv = fopen(argv[++i], "w"))) perror(argv[i]), exit(2);
        } else {
            fprintf(stderr, "usage: %s [--csv FILE]%s%s%s\n", argv[0], word ? " [" : "", word ? word : "",
                    word ? "]" : "");
            exit(2);
        }
    }
    cudaDeviceProp device;
    int driver, runtime;
    BENCH_OK(cudaGetDeviceProperties(&device, 0));
    BENCH_OK(cudaDriverGetVersion(&driver));
    BENCH_OK(cudaRuntimeGetVersion(&runtime));
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    bench_line(bench, "# %s, CUDA driver %d.%d, runtime %d.%d, nvcc %d.%d.%d %s, %s\n", device.name, driver / 1000,
               driver % 100 / 10, runtime / 1000, runtime % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__,
               __CUDACC_VER_BUILD__, BENCH_FLAGS, date);
    return bench;
}

/* Seconds that the work enqueued by f takes: the median of some runs after a warm-up of at least 20 ms, since a GPU that
   comes from a pause (an allocation, a check on the host) runs slower for about 15. */
template <typename Work>
static double bench_seconds(int runs, Work f)
{
    cudaEvent_t start, stop;
    BENCH_OK(cudaEventCreate(&start));
    BENCH_OK(cudaEventCreate(&stop));
    std::vector<double> seconds;
    double warm = 0;
    for (int i = -1; i < runs; i += warm >= 0.02) {
        float ms;
        BENCH_OK(cudaEventRecord(start));
        f();
        BENCH_OK(cudaEventRecord(stop));
        BENCH_OK(cudaEventSynchronize(stop));
        BENCH_OK(cudaGetLastError());
        BENCH_OK(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 0) seconds.push_back(1e-3 * ms);
        warm += 1e-3 * ms;
    }
    BENCH_OK(cudaEventDestroy(start));
    BENCH_OK(cudaEventDestroy(stop));
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

/* What every share of a copy is a share of, here and in the examples that measure: bytes read and written a second by a
   device-to-device cudaMemcpyAsync of 4 GiB, or of half as much and so on where there is no room for two of them; the
   median of 9 after a warm-up. A smaller copy is slower: of 512 MiB by 2.5 % on an H200. */
static inline double bench_copy_speed(const Bench &bench)
{
    char *from = NULL;
    size_t bytes = (size_t)1 << 32;
    while (cudaMalloc(&from, 2 * bytes) != cudaSuccess && bytes >> 24) cudaGetLastError(), bytes /= 2;
    BENCH_OK(cudaMemset(from, 1, 2 * bytes));
    double s =
        bench_seconds(9, [&] { BENCH_OK(cudaMemcpyAsync(from + bytes, from, bytes, cudaMemcpyDeviceToDevice)); });
    BENCH_OK(cudaFree(from));
    double speed = 2.0 * (double)bytes / s;
    bench_line(bench, "# device-to-device copy of %.3g GiB: %.0f GB/s\n", (double)bytes / (1 << 30), 1e-9 * speed);
    return speed;
}

#endif
