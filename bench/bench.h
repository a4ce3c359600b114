/* bench.h - what the benchmarks share: times, limits, and the head of a results file.
   MIT licence, see LICENSE.

       Bench bench = bench_open(argc, argv);                      --csv FILE: also write the rows there
       double copy = bench_copy_speed(bench);                     bytes read and written a second
       double s = bench_seconds(9, [&] { kernel<<<g, b>>>(p); }); median of 9, warmed up
       Bench_pace pace = bench_pace_open();
       double t = bench_seconds_after(pace, 9, 1, reset, f);      the same while the machine keeps its pace; reset is
                                                                  called before each run */
#ifndef BENCH_H
#define BENCH_H

#include <algorithm>
#include <cstddef>
#include <math.h>
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

/* Prints a line to the terminal and to the results file. */
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

/* Reads the arguments: --csv FILE, and `word`, an option that the program may have; *said becomes true if it is
   given. Prints the head of the results. */
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

static inline double bench_median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/* Calls f once. Returns the seconds that the work takes that f enqueues. */
template <typename Work>
static double bench_once(Work f)
{
    cudaEvent_t start, stop;
    float ms;
    BENCH_OK(cudaEventCreate(&start));
    BENCH_OK(cudaEventCreate(&stop));
    BENCH_OK(cudaEventRecord(start));
    f();
    BENCH_OK(cudaEventRecord(stop));
    BENCH_OK(cudaEventSynchronize(stop));
    BENCH_OK(cudaGetLastError());
    BENCH_OK(cudaEventElapsedTime(&ms, start, stop));
    BENCH_OK(cudaEventDestroy(start));
    BENCH_OK(cudaEventDestroy(stop));
    return 1e-3 * ms;
}

/* Returns the seconds that the work enqueued by f takes: the median of some runs after a warm-up of at least 20 ms,
   since a GPU is slower for about 15 ms after a pause (an allocation, a check on the host). */
template <typename Work>
static double bench_seconds(int runs, Work f)
{
    std::vector<double> seconds;
    double warm = bench_once(f);
    while (warm < 0.02) warm += bench_once(f);
    for (int i = 0; i < runs; i++) seconds.push_back(bench_once(f));
    return bench_median(seconds);
}

/* Two measurements tell whether the machine runs at its usual speed. The time of a chain of multiply-adds in one warp,
   each of which needs the one before, depends on the clock of the multiprocessors; that of a copy, on the memory's. */
struct Bench_pace {
    char *memory;
    size_t bytes;
    std::vector<double> chain, copy; /* seconds, the median of each measurement so far */
    double rested;                   /* seconds that repeated measurements have taken so far */
    double slow_chain, slow_copy;    /* the last measurement's time over the usual one, if slow; else 0 */
};

template <int TURNS>
__global__ void bench_chain(float *x)
{
    float y = *x;
    for (int i = 0; i < TURNS; i++) y = fmaf(y, 0.5f, 1.0f);
    *x = y;
}

static inline Bench_pace bench_pace_open(void)
{
    Bench_pace pace = {NULL, (size_t)1 << 27, {}, {}, 0, 0, 0};
    BENCH_OK(cudaMalloc(&pace.memory, 2 * pace.bytes));
    BENCH_OK(cudaMemset(pace.memory, 1, 2 * pace.bytes));
    return pace;
}
static inline void bench_pace_close(Bench_pace &pace)
{
    BENCH_OK(cudaFree(pace.memory));
}

/* Returns the seconds that the work enqueued by f takes: the median of `runs` runs after a warm-up of 20 ms, or of
   fewer if together they would take longer than `most` seconds. Before each run come the chain, the copy, and `reset`,
   which restores what f overwrites; if `reset` is null, f itself runs instead, so that the caches are as one run leaves
   them to the next. All of these are enqueued together with the run, so that the host's share of the time is hidden. A
   run is not counted if its own or the next run's chain or copy took 10 % longer than their medians in this
   measurement, unless that excludes all runs. The measurement counts as slow if the median of the chain or of the copy
   is more than 1.25 times the usual one; a smaller excess may come from what a copy finds in the cache. A slow
   measurement is repeated after a rest, up to six times, and for no more than 15 s in a program. */
template <typename Reset, typename Work>
static double bench_seconds_after(Bench_pace &pace, int runs, double most, Reset reset, Work f)
{
    cudaEvent_t event[5];
    for (cudaEvent_t &e : event) BENCH_OK(cudaEventCreate(&e));
    std::vector<double> all, chain, copy, counted;
    struct timespec rest = {0, 50000000}, from, to;
    for (int tries = 0;; tries++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        all.clear(), chain.clear(), copy.clear();
        double warm = 0, spent = 0;
        while ((int)all.size() < runs && (spent < most || all.empty())) {
            float part[4]; /* chain, copy, reset, f: ms */
            BENCH_OK(cudaEventRecord(event[0]));
            bench_chain<50000><<<1, 32>>>((float *)pace.memory);
            BENCH_OK(cudaEventRecord(event[1]));
            BENCH_OK(cudaMemcpyAsync(pace.memory + pace.bytes, pace.memory, pace.bytes, cudaMemcpyDeviceToDevice));
            BENCH_OK(cudaEventRecord(event[2]));
            reset();
            BENCH_OK(cudaEventRecord(event[3]));
            f();
            BENCH_OK(cudaEventRecord(event[4]));
            BENCH_OK(cudaEventSynchronize(event[4]));
            BENCH_OK(cudaGetLastError());
            for (int k = 0; k < 4; k++) BENCH_OK(cudaEventElapsedTime(&part[k], event[k], event[k + 1]));
            if (warm >= 0.02) {
                chain.push_back(1e-3 * part[0]), copy.push_back(1e-3 * part[1]), all.push_back(1e-3 * part[3]);
                spent += 1e-3 * (part[2] + part[3]);
            }
            for (float ms : part) warm += 1e-3 * ms;
        }
        double much_chain = pace.chain.empty() ? 1 : bench_median(chain) / bench_median(pace.chain);
        double much_copy = pace.copy.empty() ? 1 : bench_median(copy) / bench_median(pace.copy);
        bool slow = much_chain > 1.25 || much_copy > 1.25;
        pace.slow_chain = slow ? much_chain : 0, pace.slow_copy = slow ? much_copy : 0;
        if (!slow || tries == 6 || pace.rested > 15) break;
        nanosleep(&rest, NULL);
        clock_gettime(CLOCK_MONOTONIC, &to);
        pace.rested += (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    }
    for (cudaEvent_t &e : event) BENCH_OK(cudaEventDestroy(e));
    double usual_chain = bench_median(chain), usual_copy = bench_median(copy);
    for (size_t k = 0; k < all.size(); k++) {
        bool steady = true;
        for (size_t at = k; at < k + 2 && at < all.size(); at++)
            if (chain[at] > 1.1 * usual_chain || copy[at] > 1.1 * usual_copy) steady = false;
        if (steady) counted.push_back(all[k]);
    }
    pace.chain.push_back(usual_chain), pace.copy.push_back(usual_copy);
    return bench_median(counted.empty() ? all : counted);
}
template <typename Work>
static double bench_seconds_after(Bench_pace &pace, int runs, double most, std::nullptr_t, Work f)
{
    return bench_seconds_after(pace, runs, most, f, f);
}

/* Returns the speed to which every pct_of_copy refers, here and in the examples that measure: the bytes that a
   device-to-device cudaMemcpyAsync of 4 GiB reads and writes per second, the median of 9 after a warm-up. If memory has
   no room for two arrays of that size, they are halved until it has. A smaller copy is slower: one of 512 MiB by 2.5 %
   on an H200. */
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
