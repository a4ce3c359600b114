/* long.cu - trid/batch.h: long contiguous systems, of which each row is read once where couplings decay.
   MIT licence, see LICENSE.

       long [--csv FILE]

   Five arrays of 2^27 numbers each (f64: 2^26), or somewhat less where systems do not fill them. Matrices are
   random (off-diagonals -1 .. -0.9, diagonal 2.2 .. 3.2), or have rows -1, b, -1 with the b that the column `matrix`
   gives; right-hand sides are -1 .. 1. The residuals are in unit roundoffs: that of the worst row,
   |Ax - d| / (|A||x| + |d|), and the largest |Ax - d| over the largest |A||x| + |d|. */
#include "../trid/batch.h"
#include "bench.h"

static const size_t BYTES = (size_t)1 << 29; /* of an array */
static Bench bench;
static double copy_speed;

static __device__ double uniform(size_t i, unsigned k)
{
    unsigned long long z = (i * 8 + k + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)(z >> 11) * 0x1p-53;
}

template <class T>
struct Arrays {
    T *a, *b, *c, *d, *x;
};

template <class T>
__global__ void fill(size_t all, double diagonal, Arrays<T> s)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += (size_t)gridDim.x * blockDim.x) {
        s.a[i] = (T)(diagonal > 0 ? -1 : -1 + 0.1 * uniform(i, 0));
        s.c[i] = (T)(diagonal > 0 ? -1 : -1 + 0.1 * uniform(i, 1));
        s.b[i] = (T)(diagonal > 0 ? diagonal : 2.2 + uniform(i, 2));
        s.d[i] = (T)(2 * uniform(i, 3) - 1);
    }
}

/* Finds the largest |Ax - d| / (|A||x| + |d|), |Ax - d| and |A||x| + |d| of all rows, as bits, because atomicMax takes
   integers. */
template <class T>
__global__ void residuals(size_t all, size_t n, Arrays<T> s, unsigned long long *worst)
{
    double row = 0, error = 0, size = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += (size_t)gridDim.x * blockDim.x) {
        double up = i % n > 0 ? (double)s.a[i] * s.x[i - 1] : 0, own = (double)s.b[i] * s.x[i];
        double down = i % n < n - 1 ? (double)s.c[i] * s.x[i + 1] : 0;
        double e = fabs(up + own + down - s.d[i]), z = fabs(up) + fabs(own) + fabs(down) + fabs((double)s.d[i]);
        if (!(e < INFINITY && z < INFINITY)) e = INFINITY, z = 1;
        row = fmax(row, e / z), error = fmax(error, e), size = fmax(size, z);
    }
    atomicMax(&worst[0], (unsigned long long)__double_as_longlong(row));
    atomicMax(&worst[1], (unsigned long long)__double_as_longlong(error));
    atomicMax(&worst[2], (unsigned long long)__double_as_longlong(size));
}

/* 2049: kernels for shorter systems are not compiled. */
#define LAUNCH(T, suffix)                                                                                              \
    static int solve(const trid_lines &l, const Arrays<T> &s, const trid_batch_options &o)                             \
    {                                                                                                                  \
        return trid_batch_solve_##suffix<TRID_BATCH_MAX_N, 2049, TRID_BATCH_ONLY_CONTIGUOUS>(l, s.a, s.b, s.c, s.d,    \
                                                                                             s.x, &o, 0);              \
    }
LAUNCH(float, f32)
LAUNCH(double, f64)

/* diagonal: 0 for random matrices */
template <class T>
static void measure(const char *operation, const Arrays<T> &s, long long n, double diagonal, int flags)
{
    const long long systems = (long long)(BYTES / sizeof(T)) / n;
    const trid_lines l = trid_lines_contiguous(n, systems);
    const size_t all = (size_t)(n * systems);
    const double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    double worst[3];
    unsigned long long *device_worst;
    trid_batch_options o = {};
    trid_device device;
    if (trid_device_query(&device) == TRID_BATCH_OK) o.device = &device;
    o.flags = flags, o.scratch_bytes = trid_batch_scratch(l, flags, sizeof(T));
    BENCH_OK(cudaMalloc(&o.scratch, (size_t)o.scratch_bytes));
    BENCH_OK(cudaMalloc(&device_worst, sizeof worst));
    BENCH_OK(cudaMemset(device_worst, 0, sizeof worst));
    fill<<<1056, 256>>>(all, diagonal, s);
    auto call = [&] {
        if (solve(l, s, o)) fprintf(stderr, "long: refused\n"), exit(1);
    };
    const double seconds = bench_seconds(9, call);
    residuals<<<1056, 256>>>(all, (size_t)n, s, device_worst);
    BENCH_OK(cudaMemcpy(worst, device_worst, sizeof worst, cudaMemcpyDeviceToHost));
    const double rate = (flags & TRID_BATCH_ADD ? 6 : 5) * (double)all * sizeof(T) / seconds;
    char matrix[32] = "random", residual[64] = ",";
    if (diagonal > 0) snprintf(matrix, sizeof matrix, "%g", diagonal);
    if (!flags) snprintf(residual, sizeof residual, "%.3g,%.3g", worst[0] / unit, worst[1] / worst[2] / unit);
    bench_line(bench, "%s,%lld,%lld,%s,%s,%.4f,%.0f,%.1f,%s\n", operation, n, systems, matrix,
               sizeof(T) == 4 ? "f32" : "f64", 1e3 * seconds, 1e-9 * rate, 100 * rate / copy_speed, residual);
    BENCH_OK(cudaFree(o.scratch));
    BENCH_OK(cudaFree(device_worst));
}

template <class T>
static void measure_all(char *memory)
{
    T *of[5];
    for (int k = 0; k < 5; k++) of[k] = (T *)(memory + (size_t)k * (BYTES + 4096));
    const Arrays<T> s = {of[0], of[1], of[2], of[3], of[4]};
    for (long long n : {4097ll, 5000ll, 8192ll, 1ll << 14, 65537ll, 1ll << 17, 1ll << 20, (1ll << 20) + 1, 1ll << 26})
        for (double diagonal : {0., 2.01, 2.0001, 2.})
            if (diagonal == 0 || diagonal == 2 || n >= 1 << 20) measure("solve", s, n, diagonal, 0);
    measure("solve_and_add", s, 1 << 20, 0, TRID_BATCH_ADD);
    measure("solve_transposed", s, 1 << 20, 0, TRID_BATCH_TRANSPOSED);
}

int main(int argc, char **argv)
{
    char *memory;
    bench = bench_open(argc, argv);
    BENCH_OK(cudaMalloc((void **)&memory, 5 * (BYTES + 4096)));
    copy_speed = bench_copy_speed(bench);
    bench_line(bench, "operation,n,batch,matrix,precision,ms,gbytes_per_s,pct_of_copy,residual_row,residual\n");
    measure_all<float>(memory);
    measure_all<double>(memory);
    BENCH_OK(cudaFree(memory));
    if (bench.csv && fclose(bench.csv)) return perror("csv"), 2;
    return 0;
}
