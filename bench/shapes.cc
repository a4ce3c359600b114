/* shapes.cc - times of trid/batch.h's launches for contiguous systems, over n; shapes.sh compares shapes with it.
   MIT licence, see LICENSE.

   nvcc defines SHAPES_REAL, float or double. One line a time: operation, n, milliseconds; the median of seven launches
   over 2^26 elements an array. */
#include "trid/batch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef SHAPES_REAL real;
static const long long ELEMENTS = 1ll << 26, SIDES = 4;
static real *a, *b, *c, *d, *x;

static void check(cudaError_t error)
{
    if (error != cudaSuccess) fprintf(stderr, "shapes: %s\n", cudaGetErrorString(error)), exit(1);
}

template <class launch>
static void time(const char *operation, long long gap, const launch &f)
{
    cudaEvent_t from, to;
    check(cudaEventCreate(&from));
    check(cudaEventCreate(&to));
    for (long long n = 1; n <= 1024; n += n < 32 ? 1 : n < 128 ? 8 : 32) {
        /* whole tiles, so that full ones count */
        const trid_lines lines = {n, 1, ELEMENTS / (n + gap) / 32 * 32, n + gap, 1, 0};
        std::vector<float> ms(7);
        for (float &one : ms) {
            check(cudaEventRecord(from));
            if (f(lines)) fprintf(stderr, "shapes: %s refuses n = %lld\n", operation, n), exit(1);
            check(cudaEventRecord(to));
            check(cudaEventSynchronize(to));
            check(cudaEventElapsedTime(&one, from, to));
        }
        std::sort(ms.begin(), ms.end());
        printf("%s,%lld,%.4f\n", operation, n, ms[3]);
    }
}

int main(void)
{
    enum { most = TRID_BATCH_MAX_N, only = TRID_BATCH_ONLY_CONTIGUOUS };
    real **arrays[5] = {&a, &b, &c, &d, &x};
    for (int k = 0; k < 5; k++) {
        const size_t bytes = (k < 3 ? 1 : SIDES) * ELEMENTS * sizeof(real);
        check(cudaMalloc((void **)arrays[k], bytes));
        check(cudaMemset(*arrays[k], k == 1 ? 0x3f : 0, bytes)); /* b is no zero */
    }
    trid_batch_options factored = {}, add = {};
    factored.flags = TRID_BATCH_FACTORED, add.flags = TRID_BATCH_ADD;
    time("solve", 0, [](trid_lines l) { return trid_batch_solve<most, 1, only>(l, a, b, c, d, x, NULL, 0); });
    time("solve_and_add", 0, [&](trid_lines l) { return trid_batch_solve<most, 1, only>(l, a, b, c, d, x, &add, 0); });
    time("solve_strided", 1, [](trid_lines l) { return trid_batch_solve<most, 1, only>(l, a, b, c, d, x, NULL, 0); });
    time("shared", 0, [](trid_lines l) { return trid_batch_shared<most, 1, only>(l, a, b, c, d, x, NULL, 0); });
    time("checked", 0, [](trid_lines l) { return trid_batch_checked<most, 1, only>(l, a, b, c, d, x, NULL, 0); });
    time("refined", 0, [](trid_lines l) { return trid_batch_refined<most, 1, only>(l, a, b, c, d, x, NULL, 0); });
    time("pivoted", 0, [](trid_lines l) { return trid_batch_pivoted<most, 1, only>(l, a, b, c, d, x, NULL, 0); });
    time("several_1", 0,
         [](trid_lines l) { return trid_batch_several<most, 1, only>(l, 1, ELEMENTS, a, b, c, d, x, NULL, 0); });
    time("factored_4", 0, [&](trid_lines l) {
        return trid_batch_several<most, 1, only>(l, SIDES, ELEMENTS, a, b, c, d, x, &factored, 0);
    });
    return 0;
}
