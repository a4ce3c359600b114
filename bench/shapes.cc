/* shapes.cc - times of trid/batch.h's launches for contiguous systems, over n; shapes.sh compares shapes with it.
   MIT licence, see LICENSE.

       shapes [--csv FILE]

   shapes.sh defines SHAPES_REAL, float or double. Arrays have 2^26 elements. The number of systems is a multiple of 32,
   so that no tile lacks one. */
#include "bench.h"
#include "trid/batch.h"

typedef SHAPES_REAL real;
enum { MOST = TRID_BATCH_MAX_N, ONLY = TRID_BATCH_ONLY_CONTIGUOUS, SIDES = 4 };
static const long long ELEMENTS = 1ll << 26;
static real *a, *b, *c, *d, *x;

/* Times a launch; `gap` elements lie between two systems. */
template <class launch>
static void measure(const Bench &bench, const char *operation, long long gap, const launch &f)
{
    for (long long n = 1; n <= 1024; n += n < 32 ? 1 : n < 128 ? 8 : 32) {
        const trid_lines lines = {n, 1, ELEMENTS / (n + gap) / 32 * 32, n + gap, 1, 0};
        const double seconds = bench_seconds(7, [&] {
            if (f(lines)) fprintf(stderr, "shapes: %s refuses n = %lld\n", operation, n), exit(1);
        });
        bench_line(bench, "%s,%lld,%.4f\n", operation, n, 1e3 * seconds);
    }
}

int main(int argc, char **argv)
{
    const Bench bench = bench_open(argc, argv);
    real **arrays[5] = {&a, &b, &c, &d, &x};
    for (int k = 0; k < 5; k++) {
        const size_t bytes = (k < 3 ? 1 : SIDES) * ELEMENTS * sizeof(real);
        BENCH_OK(cudaMalloc((void **)arrays[k], bytes));
        BENCH_OK(cudaMemset(*arrays[k], k == 1 ? 0x3f : 0, bytes)); /* b is not zero */
    }
    trid_batch_options factored = {}, add = {};
    factored.flags = TRID_BATCH_FACTORED, add.flags = TRID_BATCH_ADD;
    const auto solve = [](const trid_lines &l) { return trid_batch_solve<MOST, 1, ONLY>(l, a, b, c, d, x, NULL, 0); };
    bench_line(bench, "operation,n,ms\n");
    measure(bench, "solve", 0, solve);
    measure(bench, "solve_strided", 1, solve);
    measure(bench, "solve_and_add", 0,
            [&](trid_lines l) { return trid_batch_solve<MOST, 1, ONLY>(l, a, b, c, d, x, &add, 0); });
    measure(bench, "shared", 0,
            [](trid_lines l) { return trid_batch_shared<MOST, 1, ONLY>(l, a, b, c, d, x, NULL, 0); });
    measure(bench, "checked", 0,
            [](trid_lines l) { return trid_batch_checked<MOST, 1, ONLY>(l, a, b, c, d, x, NULL, 0); });
    measure(bench, "refined", 0,
            [](trid_lines l) { return trid_batch_refined<MOST, 1, ONLY>(l, a, b, c, d, x, NULL, 0); });
    measure(bench, "pivoted", 0,
            [](trid_lines l) { return trid_batch_pivoted<MOST, 1, ONLY>(l, a, b, c, d, x, NULL, 0); });
    measure(bench, "several_1", 0,
            [](trid_lines l) { return trid_batch_several<MOST, 1, ONLY>(l, 1, ELEMENTS, a, b, c, d, x, NULL, 0); });
    measure(bench, "factored_4", 0, [&](trid_lines l) {
        return trid_batch_several<MOST, 1, ONLY>(l, SIDES, ELEMENTS, a, b, c, d, x, &factored, 0);
    });
    for (real **array : arrays) BENCH_OK(cudaFree(*array));
    return 0;
}
