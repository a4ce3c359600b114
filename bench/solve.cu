/* solve.cu - a batch of contiguous systems with distinct a, b, c, d, x: the kit's load paths and layouts, and cuSPARSE.
   MIT licence, see LICENSE.

   There are 524288 systems of 256 rows; the kernels learn these sizes at run time, as a user's would. A solve reads
   four arrays and writes one; the limit is the speed of a device-to-device copy in the same run (bench.h). A copy
   writes half of its bytes, a solve a fifth, and reading is a little faster than writing, so a solve can exceed 100 %.
   The column residual is the largest of all rows, computed on the device. The rows drop_in and drop_in_plain are the
   kernels of those examples. */
#include "../examples/cuda_check.h" /* before the namespaces, which both use it */
#include "../transpose.h"
#include "../trid.h"
#include "bench.h"
#include "sparse.h"

namespace drop_in
{
#include "../examples/drop_in.cu"
}
namespace drop_in_plain
{
#include "../examples/drop_in_plain.cu"
}

/* The load paths. FETCHED: all arrays are loaded before the first is transposed. MIXED: loads vectors, and stores
   through shared memory. */
enum { SHARED, FETCHED, MIXED, SHFL, VEC, STREAM };
enum { WARPS = 4, N = 256, RUNS = 9 };

template <typename T>
struct Arrays {
    T *a, *b, *c, *d, *x;
};

__device__ static double entry(size_t i, unsigned k)
{
    unsigned long long z = (i * 8 + k + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

/* Fills the arrays. Corner entries are 0, as cuSPARSE requires. */
template <typename T>
__global__ void fill(size_t rows, Arrays<T> s)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < rows; i += (size_t)gridDim.x * blockDim.x) {
        s.a[i] = i % N == 0 ? (T)0 : (T)entry(i, 0);
        s.c[i] = i % N == N - 1 ? (T)0 : (T)entry(i, 1);
        s.b[i] = (T)(2.5 + entry(i, 2) / 4);
        s.d[i] = (T)entry(i, 3);
    }
}

/* Finds the largest |A x - d| over |A| |x| + |d| of all rows, as bits: those of positive doubles are ordered as
   integers, with NaN above all. */
template <typename T>
__global__ void residuals(size_t rows, Arrays<T> s, unsigned long long *largest)
{
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < rows; i += (size_t)gridDim.x * blockDim.x) {
        double l = i % N == 0 ? 0 : (double)s.a[i] * (double)s.x[i - 1], m = (double)s.b[i] * (double)s.x[i];
        double r = i % N == N - 1 ? 0 : (double)s.c[i] * (double)s.x[i + 1], d = (double)s.d[i];
        unsigned long long bits =
            (unsigned long long)__double_as_longlong(fabs(l + m + r - d) / (fabs(l) + fabs(m) + fabs(r) + fabs(d)));
        bits &= ~(1ull << 63);
        mine = bits > mine ? bits : mine;
    }
    atomicMax(largest, mine);
}

/* If a system takes a whole warp, a warp without a system returns. Otherwise all lanes stay, and those without a system
   pass n = 0. */
template <typename T, int K, int W, int PATH>
__global__ void __launch_bounds__(32 * WARPS) solve(int rows, size_t systems, Arrays<T> s)
{
    const int LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    __shared__ T buffer[PATH <= MIXED ? WARPS * LEN : 1];
    T a[K], b[K], c[K], d[K], *mine = buffer + (PATH <= MIXED ? (int)threadIdx.x / 32 * LEN : 0);
    T *u[4] = {a, b, c, d};
    size_t system = (blockIdx.x * (size_t)(32 * WARPS) + threadIdx.x) / W, at = system * rows;
    if (W == 32 && system >= systems) return;
    const T *from[4] = {s.a + at, s.b + at, s.c + at, s.d + at}, fill[4] = {0, 1, 0, 0};
    int n = W == 32 || system < systems ? rows : 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (PATH == SHARED) transpose_load(K, W, n, from[k], fill[k], u[k], mine);
        if (PATH == FETCHED) transpose_load_striped(K, W, n, from[k], fill[k], u[k]);
        if (PATH == SHFL) transpose_load_striped_shfl(K, W, n, from[k], fill[k], u[k]);
        if (PATH == MIXED || PATH >= VEC) transpose_load_vec(K, W, n, from[k], fill[k], u[k], PATH == STREAM);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (PATH == FETCHED) transpose_to_blocked(K, u[k], mine);
        if (PATH == SHFL) transpose_exchange_shfl(K, W, u[k]);
    }
    trid_warp_hybrid(K, W, n, a, b, c, d);
    if (PATH <= MIXED) transpose_store(K, W, n, d, s.x + at, mine);
    if (PATH == SHFL) transpose_store_shfl(K, W, n, d, s.x + at);
    if (PATH >= VEC) transpose_store_vec(K, W, n, d, s.x + at, PATH == STREAM);
}

template <typename T>
static void report(const Bench &bench, const char *name, size_t systems, Arrays<T> s, double copy, double seconds)
{
    unsigned long long *largest, bits;
    double residual;
    BENCH_OK(cudaMalloc(&largest, sizeof *largest));
    BENCH_OK(cudaMemset(largest, 0, sizeof *largest));
    residuals<<<1024, 256>>>(systems * N, s, largest);
    BENCH_OK(cudaMemcpy(&bits, largest, sizeof bits, cudaMemcpyDeviceToHost));
    memcpy(&residual, &bits, sizeof residual);
    BENCH_OK(cudaFree(largest));
    double rate = 5.0 * (double)(systems * N * sizeof(T)) / seconds;
    bench_line(bench, "%s,%s,%d,%zu,%.4f,%.0f,%.1f,%.2e\n", name, sizeof(T) == 4 ? "f32" : "f64", N, systems,
               1e3 * seconds, 1e-9 * rate, 100 * rate / copy, residual);
}

template <typename T, int K, int W, int PATH>
static void measure(const Bench &bench, const char *name, size_t systems, Arrays<T> s, double copy)
{
    BENCH_OK(cudaMemset(s.x, 0xff, systems * N * sizeof(T)));
    unsigned blocks = (unsigned)((systems * W + 32 * WARPS - 1) / (32 * WARPS));
    double seconds = bench_seconds(RUNS, [&] { solve<T, K, W, PATH><<<blocks, 32 * WARPS>>>(N, systems, s); });
    report(bench, name, systems, s, copy, seconds);
}

static void measure_examples(const Bench &bench, size_t systems, Arrays<float> s, double copy)
{
    int *status;
    BENCH_OK(cudaMalloc(&status, systems * sizeof *status));
    BENCH_OK(cudaMemset(s.x, 0xff, systems * N * sizeof(float)));
    unsigned blocks = (unsigned)((systems + 3) / 4); /* of four warps, with a system each */
    double seconds =
        bench_seconds(RUNS, [&] { drop_in::solve<<<blocks, 128>>>(N, (int)systems, s.a, s.b, s.c, s.d, s.x, status); });
    report(bench, "drop_in", systems, s, copy, seconds);
    BENCH_OK(cudaFree(status));
    BENCH_OK(cudaMemset(s.x, 0xff, systems * N * sizeof(float)));
    seconds = bench_seconds(RUNS, [&] { drop_in_plain::solve<<<(unsigned)systems, 32>>>(N, s.a, s.b, s.c, s.d, s.x); });
    report(bench, "drop_in_plain", systems, s, copy, seconds);
}
static void measure_examples(const Bench &, size_t, Arrays<double>, double) {} /* they are in single precision */

/* Measures cuSPARSE, which solves in place: x is set to d before each run. */
template <typename T>
static void measure_cusparse(const Bench &bench, Bench_pace &pace, size_t systems, Arrays<T> s, double copy)
{
    cusparseHandle_t handle;
    void *buffer;
    SPARSE_OK(cusparseCreate(&handle));
    BENCH_OK(cudaMalloc(&buffer, sparse_strided_bytes(handle, N, s.a, s.b, s.c, s.x, (int)systems)));
    auto reset = [&] { BENCH_OK(cudaMemcpyAsync(s.x, s.d, systems * N * sizeof(T), cudaMemcpyDeviceToDevice)); };
    double seconds = bench_seconds_after(pace, RUNS, 1, reset,
                                         [&] { sparse_strided(handle, N, s.a, s.b, s.c, s.x, (int)systems, buffer); });
    report(bench, "cusparse_gtsv2StridedBatch", systems, s, copy, seconds);
    BENCH_OK(cudaFree(buffer));
    SPARSE_OK(cusparseDestroy(handle));
}

template <typename T>
static void measure_all(const Bench &bench, Bench_pace &pace, size_t systems, double copy)
{
    Arrays<T> s;
    T **arrays[] = {&s.a, &s.b, &s.c, &s.d, &s.x};
    for (T **p : arrays) BENCH_OK(cudaMalloc(p, systems * N * sizeof(T)));
    fill<<<1024, 256>>>(systems * N, s);
    measure_examples(bench, systems, s, copy);
    measure<T, 8, 32, SHARED>(bench, "K8_W32_shared", systems, s, copy);
    measure<T, 8, 32, FETCHED>(bench, "K8_W32_fetch_turn", systems, s, copy);
    measure<T, 8, 32, MIXED>(bench, "K8_W32_vec_in_shared_out", systems, s, copy);
    measure<T, 8, 32, SHFL>(bench, "K8_W32_shfl", systems, s, copy);
    measure<T, 8, 32, VEC>(bench, "K8_W32_vec", systems, s, copy);
    measure<T, 8, 32, STREAM>(bench, "K8_W32_vec_stream", systems, s, copy);
    measure<T, 16, 16, SHARED>(bench, "K16_W16_shared", systems, s, copy);
    measure<T, 16, 16, FETCHED>(bench, "K16_W16_fetch_turn", systems, s, copy);
    measure<T, 16, 16, STREAM>(bench, "K16_W16_vec_stream", systems, s, copy);
    measure_cusparse(bench, pace, systems, s, copy);
    for (T **p : arrays) BENCH_OK(cudaFree(*p));
}

int main(int argc, char **argv)
{
    Bench bench = bench_open(argc, argv);
    const size_t systems = 524288;
    double copy = bench_copy_speed(bench);
    bench_line(bench, "kernel,precision,n,systems,ms_median,gbytes_per_s,pct_of_copy,residual\n");
    Bench_pace pace = bench_pace_open();
    measure_all<float>(bench, pace, systems, copy);
    measure_all<double>(bench, pace, systems, copy);
    bench_pace_close(pace);
    return 0;
}
