/* latency.cu - how long a call of trid/batch.h keeps the host busy, with and without the device's data from
   trid_device_query, and how long the launch of an empty kernel does.
   MIT licence, see LICENSE.

       latency [--csv FILE]

   Prints the shortest mean of 15 runs in microseconds. A run has 200 calls, which the device's queue can hold. */
#include "../trid/batch.h"
#include "bench.h"

#include <chrono>

static __global__ void empty() {}

template <class call>
static double microseconds(const call &f)
{
    enum { RUNS = 15, CALLS = 200 };
    double least = 1e9;
    for (int run = 0; run < RUNS; run++) {
        const auto from = std::chrono::steady_clock::now();
        for (int i = 0; i < CALLS; i++) f();
        const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - from;
        BENCH_OK(cudaDeviceSynchronize());
        least = std::min(least, passed.count() / CALLS);
    }
    return least;
}

int main(int argc, char **argv)
{
    enum { most = 1024, systems = 32, array = most * systems };
    const Bench bench = bench_open(argc, argv);
    float *a;
    trid_device known;
    trid_batch_options options = {};
    BENCH_OK(cudaMalloc((void **)&a, 5 * array * sizeof *a));
    BENCH_OK(cudaMemset(a, 0, 5 * array * sizeof *a));
    if (trid_device_query(&known)) return fprintf(stderr, "latency: cannot query the device\n"), 1;
    options.device = &known;
    float *b = a + array, *c = b + array, *d = c + array, *x = d + array;
    bench_line(bench, "layout,n,us,us_known_device,us_empty_kernel\n");
    for (int interleaved = 0; interleaved < 2; interleaved++)
        for (long long n : {64, 256, 1024}) {
            const trid_lines l = interleaved ? trid_lines_interleaved(n, systems) : trid_lines_contiguous(n, systems);
            auto solve = [&](const trid_batch_options *with) {
                if (trid_batch_solve_f32(l, a, b, c, d, x, with, 0)) fprintf(stderr, "latency: refused\n"), exit(1);
            };
            bench_line(bench, "%s,%lld,%.2f,%.2f,%.2f\n", interleaved ? "interleaved" : "contiguous", n,
                       microseconds([&] { solve(NULL); }), microseconds([&] { solve(&options); }),
                       microseconds([] { empty<<<1, 32>>>(); }));
        }
    BENCH_OK(cudaFree(a));
    return 0;
}
