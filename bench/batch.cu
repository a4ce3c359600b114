/* batch.cu - trid_batch.h and cuSPARSE on the same arrays.
   MIT licence, see LICENSE.

       batch [--csv FILE] [--quick] [--tune] [--only TEXT]

   2^27 elements an array (--quick: 2^24), so that nothing is found in the cache that an earlier run left there. A solve
   moves five arrays; the limit is the speed of a device-to-device copy in the same run. The largest error is that of
   a sample of the systems against pivoted elimination in double precision, relative to the largest element of x.
   ratio_to_cusparse is the time of the best cuSPARSE routine for the layout over the time of this one. --tune times
   other shapes of the kernels too; --only runs the operations and layouts whose name contains the text. */
#include "../trid_batch.h"
#include "bench.h"

#include <cusparse.h>
#include <functional>
#include <string>

#define SPARSE_OK(call)                                                                                                \
    do {                                                                                                               \
        cusparseStatus_t sparse_status = (call);                                                                       \
        if (sparse_status != CUSPARSE_STATUS_SUCCESS) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cusparseGetErrorString(sparse_status));      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static Bench bench;
static double copy_speed;
static const char *only;
static int runs = 9;

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

__host__ __device__ static double entry(size_t i, unsigned k)
{
    unsigned long long z = (i * 8 + k + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

template <typename T>
struct Arrays {
    T *a, *b, *c, *d, *x, *work[4]; /* cuSPARSE overwrites what it reads: there it works on copies */
};

/* Corner entries are 0, as cuSPARSE wants them. Where an array is dense, element i is row i / step % n. */
template <typename T>
__global__ void fill(size_t count, size_t n, size_t step, Arrays<T> s)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        size_t row = i / step % n;
        s.a[i] = row == 0 ? (T)0 : (T)entry(i, 0);
        s.c[i] = row == n - 1 ? (T)0 : (T)entry(i, 1);
        s.b[i] = (T)(2.5 + entry(i, 2) / 4);
        s.d[i] = (T)entry(i, 3);
    }
}

/* Pivoted elimination, as gtsv of LAPACK. */
static void eliminate(size_t n, const std::vector<double> *m, std::vector<double> &x)
{
    std::vector<double> p(n), q(n), s(n), y(n);
    double r0 = m[1][0], r1 = n > 1 ? m[2][0] : 0, r2 = 0, rd = m[3][0];
    for (size_t j = 0; j + 1 < n; j++) {
        double t0 = m[0][j + 1], t1 = m[1][j + 1], t2 = j + 2 < n ? m[2][j + 1] : 0, td = m[3][j + 1];
        if (fabs(t0) > fabs(r0)) std::swap(r0, t0), std::swap(r1, t1), std::swap(r2, t2), std::swap(rd, td);
        p[j] = r0, q[j] = r1, s[j] = r2, y[j] = rd;
        double f = t0 / r0;
        r0 = t1 - f * r1, r1 = t2 - f * r2, r2 = 0, rd = td - f * rd;
    }
    p[n - 1] = r0, y[n - 1] = rd;
    x.resize(n);
    for (size_t j = n; j-- > 0;)
        x[j] = (y[j] - (j + 1 < n ? q[j] * x[j + 1] : 0) - (j + 2 < n ? s[j] * x[j + 2] : 0)) / p[j];
}

template <typename T>
static std::vector<double> line(const trid_lines &l, const T *array, long long index)
{
    std::vector<T> packed((size_t)l.n);
    std::vector<double> result((size_t)l.n);
    const T *from = array + index / l.systems * l.jump + index % l.systems * l.stride;
    BENCH_OK(cudaMemcpy2D(packed.data(), sizeof(T), from, (size_t)l.step * sizeof(T), sizeof(T), (size_t)l.n,
                          cudaMemcpyDeviceToHost));
    for (size_t j = 0; j < packed.size(); j++) result[j] = (double)packed[j];
    return result;
}

/* The largest error of a sample; NaN if an element is. added: x was 0 before, and was added to `added` times. */
template <typename T>
static double largest_error(const trid_lines &l, const Arrays<T> &s, const T *x, int shared, double added)
{
    long long systems = l.systems * l.groups, samples = std::min(systems, 48ll);
    double largest = 0;
    for (long long k = 0; k < samples; k++) {
        long long index = samples > 1 ? (long long)((double)(systems - 1) * (double)k / (double)(samples - 1)) : 0;
        std::vector<double> m[4], want, got = line(l, x, index);
        trid_lines matrix = shared ? trid_lines_contiguous(l.n, 1) : l;
        m[0] = line(matrix, s.a, shared ? 0 : index), m[1] = line(matrix, s.b, shared ? 0 : index);
        m[2] = line(matrix, s.c, shared ? 0 : index), m[3] = line(l, s.d, index);
        eliminate((size_t)l.n, m, want);
        double error = 0, size = 0;
        for (size_t j = 0; j < want.size(); j++) {
            double e = fabs(got[j] - added * want[j]);
            size = std::max(size, added * fabs(want[j]));
            if (!(e <= error)) error = e;
        }
        if (!(error / size <= largest)) largest = error / size;
    }
    return largest;
}

/* ---- rows of the table ------------------------------------------------------------------------------------------- */

template <typename T>
static void report(const char *operation, const trid_lines &l, const char *layout, double seconds, double arrays,
                   double peer, double error)
{
    double bytes = arrays * (double)(l.n * l.systems * l.groups) * sizeof(T), rate = bytes / seconds;
    char ratio[32] = "";
    if (peer > 0) snprintf(ratio, sizeof ratio, "%.2f", peer / seconds);
    bench_line(bench, "%s,%lld,%lld,%s,%s,%.4f,%.0f,%.1f,%s,%.2e\n", operation, l.n, l.systems * l.groups, layout,
               sizeof(T) == 4 ? "f32" : "f64", 1e3 * seconds, 1e-9 * rate, 100 * rate / copy_speed, ratio, error);
    fflush(stdout);
}

static void launched(int status)
{
    if (status == TRID_BATCH_OK) return;
    fprintf(stderr, "launch: %s\n", trid_batch_status_string(status));
    exit(1);
}

/* Median seconds of what f enqueues, once the clocks have settled: after 50 ms of it. */
static double timed(const std::function<void()> &f)
{
    for (clock_t start = clock(); (double)(clock() - start) < 0.05 * CLOCKS_PER_SEC;) {
        f();
        BENCH_OK(cudaDeviceSynchronize());
    }
    return bench_seconds(runs, f);
}

static int solve(trid_lines l, int flags, const Arrays<float> &s, float *x, const trid_batch_report *r)
{
    return trid_batch_solve_f32(l, flags, s.a, s.b, s.c, s.d, x, r, 0);
}
static int solve(trid_lines l, int flags, const Arrays<double> &s, double *x, const trid_batch_report *r)
{
    return trid_batch_solve_f64(l, flags, s.a, s.b, s.c, s.d, x, r, 0);
}

static int shared(trid_lines l, const Arrays<float> &s, float *x)
{
    return trid_batch_shared_f32(l, 0, s.a, s.b, s.c, s.d, x, 0, 0);
}
static int shared(trid_lines l, const Arrays<double> &s, double *x)
{
    return trid_batch_shared_f64(l, 0, s.a, s.b, s.c, s.d, x, 0, 0);
}
static int checked(trid_lines l, int flags, const Arrays<float> &s, float *x, const trid_batch_report *r)
{
    return trid_batch_checked_f32(l, flags, s.a, s.b, s.c, s.d, x, r, 0);
}
static int checked(trid_lines l, int flags, const Arrays<double> &s, double *x, const trid_batch_report *r)
{
    return trid_batch_checked_f64(l, flags, s.a, s.b, s.c, s.d, x, r, 0);
}

#ifdef TRID_BLOCK_PIVOTED_LEN
static int pivoted(trid_lines l, const Arrays<float> &s, float *x)
{
    return trid_batch_pivoted_f32(l, 0, s.a, s.b, s.c, s.d, x, 0, 0);
}
static int pivoted(trid_lines l, const Arrays<double> &s, double *x)
{
    return trid_batch_pivoted_f64(l, 0, s.a, s.b, s.c, s.d, x, 0, 0);
}
#endif

/* ---- cuSPARSE ---------------------------------------------------------------------------------------------------- */

static cusparseHandle_t handle;

#define SPARSE_TYPED(T, X)                                                                                             \
    static void strided_bytes(int n, const Arrays<T> &s, int batch, size_t *bytes)                                     \
    {                                                                                                                  \
        SPARSE_OK(cusparse##X##gtsv2StridedBatch_bufferSizeExt(handle, n, s.a, s.b, s.c, s.x, batch, n, bytes));       \
    }                                                                                                                  \
    static void strided(int n, const Arrays<T> &s, int batch, void *buffer)                                            \
    {                                                                                                                  \
        SPARSE_OK(cusparse##X##gtsv2StridedBatch(handle, n, s.a, s.b, s.c, s.x, batch, n, buffer));                    \
    }                                                                                                                  \
    static void interleaved_bytes(int algo, int n, const Arrays<T> &s, int batch, size_t *bytes)                       \
    {                                                                                                                  \
        SPARSE_OK(cusparse##X##gtsvInterleavedBatch_bufferSizeExt(handle, algo, n, s.work[0], s.work[1], s.work[2],    \
                                                                  s.x, batch, bytes));                                 \
    }                                                                                                                  \
    static void interleaved(int algo, int n, T *a, T *b, T *c, T *x, int batch, void *buffer)                          \
    {                                                                                                                  \
        SPARSE_OK(cusparse##X##gtsvInterleavedBatch(handle, algo, n, a, b, c, x, batch, buffer));                      \
    }
SPARSE_TYPED(float, S)
SPARSE_TYPED(double, D)

/* Seconds of what f does after reset has put back what it overwrites. */
static double seconds_after(const std::function<void()> &reset, const std::function<void()> &f)
{
    cudaEvent_t start, stop;
    BENCH_OK(cudaEventCreate(&start));
    BENCH_OK(cudaEventCreate(&stop));
    std::vector<double> seconds;
    for (int i = -1; i < runs; i++) {
        float ms;
        reset();
        BENCH_OK(cudaEventRecord(start));
        f();
        BENCH_OK(cudaEventRecord(stop));
        BENCH_OK(cudaEventSynchronize(stop));
        BENCH_OK(cudaGetLastError());
        BENCH_OK(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 0) seconds.push_back(1e-3 * ms);
    }
    BENCH_OK(cudaEventDestroy(start));
    BENCH_OK(cudaEventDestroy(stop));
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

template <typename T>
static void copy_to(T *to, const T *from, size_t count)
{
    BENCH_OK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToDevice));
}

/* The best of cuSPARSE's routines for the layout, in seconds; 0 if it has none. */
template <typename T>
static double peers(const trid_lines &l, const char *layout, const Arrays<T> &s)
{
    size_t count = (size_t)(l.n * l.systems * l.groups), bytes;
    double best = 0;
    void *buffer;
    if (l.step == 1) {
        strided_bytes((int)l.n, s, (int)l.systems, &bytes);
        if (cudaMalloc(&buffer, bytes) != cudaSuccess) return cudaGetLastError(), 0;
        double t =
            seconds_after([&] { copy_to(s.x, s.d, count); }, [&] { strided((int)l.n, s, (int)l.systems, buffer); });
        report<T>("cusparse_gtsv2StridedBatch", l, layout, t, 5, t, largest_error(l, s, s.x, 0, 1));
        BENCH_OK(cudaFree(buffer));
        return t;
    }
    /* Lines along y are one interleaved batch a plane. */
    for (int algo = 0; algo < 3; algo++) {
        interleaved_bytes(algo, (int)l.n, s, (int)l.systems, &bytes);
        if (cudaMalloc(&buffer, bytes) != cudaSuccess) return cudaGetLastError(), best;
        const T *from[4] = {s.a, s.b, s.c, s.d};
        T *to[4] = {s.work[0], s.work[1], s.work[2], s.x};
        double t = seconds_after(
            [&] {
                for (int k = 0; k < 4; k++) copy_to(to[k], from[k], count);
            },
            [&] {
                for (long long g = 0; g < l.groups; g++)
                    interleaved(algo, (int)l.n, to[0] + g * l.jump, to[1] + g * l.jump, to[2] + g * l.jump,
                                to[3] + g * l.jump, (int)l.systems, buffer);
            });
        char name[64];
        snprintf(name, sizeof name, "cusparse_gtsvInterleavedBatch_%d", algo);
        report<T>(name, l, layout, t, 5, t, largest_error(l, s, s.x, 0, 1));
        BENCH_OK(cudaFree(buffer));
        best = best == 0 || t < best ? t : best;
    }
    return best;
}

/* ---- the kit ----------------------------------------------------------------------------------------------------- */

static int wanted(const char *operation, const char *layout)
{
    return !only || strstr(operation, only) || strstr(layout, only);
}

template <typename T>
static void prepare(const trid_lines &l, const Arrays<T> &s)
{
    size_t count = (size_t)(l.n * l.systems * l.groups);
    fill<<<1024, 256>>>(count, (size_t)l.n, (size_t)l.step, s);
    BENCH_OK(cudaMemset(s.x, 0xff, count * sizeof(T)));
}

template <typename T>
static void measure(const trid_lines &l, const char *layout, const Arrays<T> &s, int with_peers, int operations)
{
    if (!wanted("solve", layout)) return;
    prepare(l, s);
    double peer = with_peers ? peers(l, layout, s) : 0;
    size_t count = (size_t)(l.n * l.systems * l.groups);
    BENCH_OK(cudaMemset(s.x, 0xff, count * sizeof(T)));
    double t = timed([&] { launched(solve(l, 0, s, s.x, 0)); });
    report<T>("solve", l, layout, t, 5, peer, largest_error(l, s, s.x, 0, 1));
#ifdef TRID_BLOCK_PIVOTED_LEN
    if (l.step == 1 && with_peers) {
        BENCH_OK(cudaMemset(s.x, 0xff, count * sizeof(T)));
        t = timed([&] { launched(pivoted(l, s, s.x)); });
        report<T>("solve_pivoted", l, layout, t, 5, peer, largest_error(l, s, s.x, 0, 1));
    }
#endif
    if (!operations) return;
    int *status;
    unsigned long long *failed;
    BENCH_OK(cudaMalloc(&status, (size_t)(l.systems * l.groups) * sizeof *status));
    BENCH_OK(cudaMalloc(&failed, 2 * sizeof *failed));
    trid_batch_report told = {status, 0, 0, failed};
    t = timed([&] { launched(solve(l, 0, s, s.x, &told)); });
    report<T>("solve_with_status", l, layout, t, 5, peer, largest_error(l, s, s.x, 0, 1));
    t = timed([&] { launched(checked(l, 0, s, s.x, &told)); });
    report<T>("solve_checked", l, layout, t, 5, peer, largest_error(l, s, s.x, 0, 1));
    t = timed([&] { launched(checked(l, TRID_BATCH_REFINED, s, s.x, &told)); });
    report<T>("solve_refined", l, layout, t, 5, peer, largest_error(l, s, s.x, 0, 1));
    BENCH_OK(cudaFree(status));
    BENCH_OK(cudaFree(failed));
    BENCH_OK(cudaMemset(s.x, 0, count * sizeof(T)));
    t = bench_seconds(runs, [&] { launched(solve(l, TRID_BATCH_ADD, s, s.x, 0)); });
    report<T>("solve_and_add", l, layout, t, 6, peer, largest_error(l, s, s.x, 0, runs + 1));
    Arrays<T> in_place = s;
    in_place.d = s.x;
    copy_to(s.x, s.d, count);
    launched(solve(l, 0, in_place, s.x, 0));
    double error = largest_error(l, s, s.x, 0, 1);
    t = timed([&] { launched(solve(l, 0, in_place, s.x, 0)); });
    report<T>("solve_in_place", l, layout, t, 5, peer, error);
    t = timed([&] { launched(shared(l, s, s.x)); });
    report<T>("solve_shared_matrix", l, layout, t, 2, 0, largest_error(l, s, s.x, 1, 1));
}

/* Microseconds of a launch of a small batch, one after another, and of an empty kernel of its grid. */
static __global__ void empty_kernel() {}

template <typename T>
static void measure_launch(const Arrays<T> &s)
{
    enum { TIMES = 200, N = 128 };
    if (!wanted("launch", "contiguous")) return;
    for (long long systems : {1ll, 10ll, 100ll, 1000ll}) {
        trid_lines l = trid_lines_contiguous(N, systems);
        prepare(l, s);
        unsigned blocks = (unsigned)((systems + 15) / 16);
        double t = timed([&] {
            for (int i = 0; i < TIMES; i++) launched(solve(l, 0, s, s.x, 0));
        });
        double none = timed([&] {
            for (int i = 0; i < TIMES; i++) empty_kernel<<<blocks, 128>>>();
        });
        report<T>("launch", l, "contiguous", t / TIMES, 5, 0, largest_error(l, s, s.x, 0, 1));
        report<T>("launch_empty_kernel", l, "contiguous", none / TIMES, 5, 0, 0);
    }
}

/* Other shapes for lines side by side: K rows a thread, L systems and S sections a block, R rows asked for at a time,
   AHEAD bytes around them brought into the second-level cache. */
template <typename T, int K, int L, int S, int R, int AHEAD>
static void tune_lines(const trid_lines &l, const char *layout, const Arrays<T> &s)
{
    char name[64];
    snprintf(name, sizeof name, "tune_K%d_L%d_S%d_R%d_A%d", K, L, S, R, AHEAD);
    trid_p_batch_plan plan;
    launched(trid_p_batch_begin(l, 0, 0, 0, &plan));
    trid_p_batch_arrays<T> rows = {s.a, s.b, s.c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    BENCH_OK(cudaMemset(s.x, 0xff, (size_t)(l.n * l.systems * l.groups) * sizeof(T)));
    double t = bench_seconds(runs, [&] {
        launched(trid_p_batch_launch_lines_of<T, K, L, S, R, AHEAD, 0>(plan, rows, (const T *)s.d, s.x, 0));
    });
    report<T>(name, l, layout, t, 5, 0, largest_error(l, s, s.x, 0, 1));
    cudaFuncAttributes of;
    int blocks, bytes = 4 * K * L * S * (int)sizeof(T);
    void (*kernel)(trid_p_batch_plan, trid_p_batch_arrays<T>, const T *, T *) =
        trid_p_batch_lines<T, K, L, S, R, AHEAD, 0, trid_p_batch_arrays<T>>;
    BENCH_OK(cudaFuncGetAttributes(&of, kernel));
    BENCH_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, L * S, (size_t)bytes));
    bench_line(bench, "# %s: %d registers, %zu + %d bytes shared, %d blocks of %d threads a multiprocessor\n", name,
               of.numRegs, of.sharedSizeBytes, bytes, blocks, L * S);
}

/* The three ways to bring more into the cache, and the rows at a time. */
template <typename T, int K, int L, int S>
static void tune_ahead(const trid_lines &l, const char *layout, const Arrays<T> &s)
{
    tune_lines<T, K, L, S, K, 0>(l, layout, s);
    tune_lines<T, K, L, S, 4, 0>(l, layout, s);
    tune_lines<T, K, L, S, 4, 128>(l, layout, s);
    tune_lines<T, K, L, S, 4, 256>(l, layout, s);
}

template <typename T>
static void tune_one(const trid_lines &l, const char *layout, const Arrays<T> &s)
{
    if (!wanted("tune", layout)) return;
    prepare(l, s);
    const int F = sizeof(T) == 4 ? 2 : 1; /* a row of 128 bytes is 16 F lines */
    if (l.n <= 32) {
        tune_ahead<T, 16, 32 * F, 2>(l, layout, s);
        tune_lines<T, 16, 64 * F, 2, 4, 0>(l, layout, s);
        tune_lines<T, 8, 32 * F, 4, 4, 0>(l, layout, s);
    } else if (l.n <= 64) {
        tune_ahead<T, 16, 32, 4>(l, layout, s);
        if (sizeof(T) == 4) tune_ahead<T, 16, 32 * F, 4>(l, layout, s);
        tune_lines<T, 8, 32, 8, 4, 256>(l, layout, s);
    } else if (l.n <= 128) {
        tune_ahead<T, 16, 16 * F, 8>(l, layout, s);
        tune_ahead<T, 16, 32 * F, 8>(l, layout, s);
        tune_lines<T, 8, 16 * F, 16, 4, 256>(l, layout, s);
    } else if (l.n <= 256) {
        tune_ahead<T, 16, 16 * F, 16>(l, layout, s);
        tune_lines<T, 16, 16 * F, 16, 2, 256>(l, layout, s);
        tune_lines<T, 16, 16 * F, 16, 8, 256>(l, layout, s);
        tune_lines<T, 16, 8 * F, 16, 4, 256>(l, layout, s);
        tune_lines<T, 8, 8 * F, 32, 4, 256>(l, layout, s);
    } else if (l.n <= 512) {
        tune_ahead<T, 16, 8 * F, 32>(l, layout, s);
        tune_lines<T, 16, 8 * F, 32, 2, 128>(l, layout, s);
    } else {
        tune_ahead<T, 16, 4 * F, 64>(l, layout, s);
    }
}

template <typename T>
static void measure_all(size_t elements, int tune)
{
    Arrays<T> s;
    T **arrays[] = {&s.a, &s.b, &s.c, &s.d, &s.x, &s.work[0], &s.work[1], &s.work[2], &s.work[3]};
    for (T **p : arrays) BENCH_OK(cudaMalloc(p, elements * sizeof(T)));
    long long all = (long long)elements;
    for (long long n : {32ll, 64ll, 128ll, 256ll, 512ll, 1024ll})
        measure(trid_lines_contiguous(n, all / n), "contiguous", s, 1, n == 256);
    for (long long n : {32ll, 64ll, 128ll, 256ll, 512ll, 1024ll})
        measure(trid_lines_interleaved(n, all / n), "interleaved", s, 1, n == 256);
    long long edge = 1;
    while (8 * edge * edge * edge <= all) edge *= 2;
    edge = std::min(edge, 256ll);
    measure(trid_lines_axis(edge, edge, all / edge / edge, 1), "y", s, 1, 0);
    measure(trid_lines_axis(all / edge / edge, edge, edge, 2), "z", s, 1, 0);
    for (unsigned k = 0; k < 40; k++) { /* any n from 3 to 1024, as many short ones as long ones */
        long long n = (long long)(3 * pow(1025 / 3.0, (k + 0.5 + 0.49 * entry(k, 7)) / 40));
        measure(trid_lines_contiguous(n, all / n), "contiguous_any", s, 0, 0);
    }
    measure_launch(s);
    if (tune) {
        for (long long n : {32ll, 64ll, 128ll, 256ll, 512ll, 1024ll})
            tune_one(trid_lines_interleaved(n, all / n), "interleaved", s);
        tune_one(trid_lines_axis(edge, edge, all / edge / edge, 1), "y", s);
    }
    for (T **p : arrays) BENCH_OK(cudaFree(*p));
}

int main(int argc, char **argv)
{
    size_t elements = (size_t)1 << 27;
    int tune = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick")) elements = (size_t)1 << 24, runs = 5;
        if (!strcmp(argv[i], "--tune")) tune = 1;
        if (!strcmp(argv[i], "--only") && i + 1 < argc) only = argv[i + 1];
    }
    bench = bench_open(argc, argv);
    SPARSE_OK(cusparseCreate(&handle));
    copy_speed = bench_copy_speed(bench);
    bench_line(bench, "operation,n,batch,layout,precision,ms,gbytes_per_s,pct_of_copy,ratio_to_cusparse,max_error\n");
    measure_all<float>(elements, tune);
    measure_all<double>(elements, tune);
    SPARSE_OK(cusparseDestroy(handle));
    return 0;
}
