/* ends.cu - partitions of lines that cross processors: the times of trid/batch.h's launches for their interface
   unknowns on a slab, with lines along z, beside solves of whole lines, which need no such launches.
   MIT licence, see LICENSE.

       ends [--csv FILE]

   `arrays` says how many times a launch reads or writes an array of the slab; a copy does so twice. pct_of_copy is the
   speed as a share of a copy's. */
#include "../trid/batch.h"
#include "bench.h"

static void done(int status)
{
    if (status) fprintf(stderr, "%s\n", trid_batch_status_string(status)), exit(1);
}

template <class T>
__global__ void fill(long long n, T *a, T *b, T *c, T *d)
{
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        a[i] = (T)-1, b[i] = (T)(2.6 + (i % 7) * 0.01), c[i] = (T)-1.1, d[i] = (T)(1 + (i % 11) * 0.1);
}

/* The options of a call: flags alone. */
struct asked {
    trid_batch_options options;
    asked(int flags) : options() { options.flags = flags; }
    operator const trid_batch_options *() const { return &options; }
};

static int reduce(trid_lines l, int f, const float *a, const float *b, const float *c, const float *d, long long s,
                  float *x, float *y, float *z)
{
    return trid_batch_interface_reduce_f32(l, a, b, c, d, s, x, y, z, asked(f), 0);
}
static int reduce(trid_lines l, int f, const double *a, const double *b, const double *c, const double *d, long long s,
                  double *x, double *y, double *z)
{
    return trid_batch_interface_reduce_f64(l, a, b, c, d, s, x, y, z, asked(f), 0);
}
static int expand(trid_lines l, int f, const float *a, const float *b, const float *c, const float *d, long long s,
                  const float *e, float *x)
{
    return trid_batch_interface_expand_f32<1024, 1, TRID_BATCH_ONLY_INTERLEAVED>(l, a, b, c, d, s, e, x, asked(f), 0);
}
static int expand(trid_lines l, int f, const double *a, const double *b, const double *c, const double *d, long long s,
                  const double *e, double *x)
{
    return trid_batch_interface_expand_f64<1024, 1, TRID_BATCH_ONLY_INTERLEAVED>(l, a, b, c, d, s, e, x, asked(f), 0);
}
static int weigh(trid_lines l, int f, const float *u, const float *v, const float *d, int r, int s, long long m,
                 float *e)
{
    return trid_batch_interface_weigh_f32(l, u, v, d, r, s, m, e, asked(f), 0);
}
static int weigh(trid_lines l, int f, const double *u, const double *v, const double *d, int r, int s, long long m,
                 double *e)
{
    return trid_batch_interface_weigh_f64(l, u, v, d, r, s, m, e, asked(f), 0);
}
static int plain(trid_lines l, int shared, const float *a, const float *b, const float *c, const float *d, float *x)
{
    enum { O = TRID_BATCH_ONLY_INTERLEAVED };
    return shared ? trid_batch_shared_f32<1024, 1, O>(l, a, b, c, d, x, 0, 0)
                  : trid_batch_solve_f32<1024, 1, O>(l, a, b, c, d, x, 0, 0);
}
static int plain(trid_lines l, int shared, const double *a, const double *b, const double *c, const double *d,
                 double *x)
{
    enum { O = TRID_BATCH_ONLY_INTERLEAVED };
    return shared ? trid_batch_shared_f64<1024, 1, O>(l, a, b, c, d, x, 0, 0)
                  : trid_batch_solve_f64<1024, 1, O>(l, a, b, c, d, x, 0, 0);
}

template <class T>
static void run(const Bench &bench, const char *name, int nx, int ny, int nz)
{
    const trid_lines lines = trid_lines_axis(nx, ny, nz, 2);
    const long long N = (long long)nx * ny, all = N * nz;
    const double bytes = (double)all * sizeof(T);
    T *a, *b, *c, *d, *x, *ea, *ec, *ed, *u, *v;
    T **big[] = {&a, &b, &c, &d, &x}, **small[] = {&ea, &ec, &ed};
    for (T **p : big) BENCH_OK(cudaMalloc((void **)p, (size_t)bytes));
    for (T **p : small) BENCH_OK(cudaMalloc((void **)p, (size_t)(2 * N) * sizeof(T)));
    BENCH_OK(cudaMalloc((void **)&u, (size_t)nz * sizeof(T)));
    BENCH_OK(cudaMalloc((void **)&v, (size_t)nz * sizeof(T)));
    fill<<<1024, 256>>>(all, a, b, c, d);
    std::vector<T> ha((size_t)nz, (T)-1), hb((size_t)nz, (T)2.6), hc((size_t)nz, (T)-1.1), hu((size_t)nz),
        hv((size_t)nz);
    T pa[2], pc[2];
    int reach[2];
    done(trid_host_interface_factor(nz, 0, ha.data(), hb.data(), hc.data(), hu.data(), hv.data(), pa, pc, reach));
    BENCH_OK(cudaMemcpy(u, hu.data(), hu.size() * sizeof(T), cudaMemcpyHostToDevice));
    BENCH_OK(cudaMemcpy(v, hv.data(), hv.size() * sizeof(T), cudaMemcpyHostToDevice));
    auto median = [](auto call) { return 1e3 * bench_seconds(9, call); };
    const double copy = median([&] { BENCH_OK(cudaMemcpyAsync(x, d, (size_t)bytes, cudaMemcpyDeviceToDevice, 0)); });
    auto say = [&](const char *what, double arrays, double ms) {
        const double share = arrays / ms / (2 / copy);
        bench_line(bench, "%s,%d,%d,%d,%s,%.4f,%.2f,%.1f\n", name, nx, ny, nz, what, ms, arrays, 100 * share);
    };
    const int S = TRID_BATCH_SHARED;
    const double few = (double)(reach[0] + reach[1]) / nz;
    say("copy", 2, copy);
    say("reduce", 4, median([&] { done(reduce(lines, 0, a, b, c, d, N, ea, ec, ed)); }));
    say("reduce shared", 1, median([&] { done(reduce(lines, S, a, b, c, d, N, ea, ec, ed)); }));
    say("weigh shared", 1, median([&] { done(weigh(lines, S, u, v, d, nz, nz, N, ed)); }));
    say("weigh shared reach", few < 1 ? few : 1,
        median([&] { done(weigh(lines, S, u, v, d, reach[0], reach[1], N, ed)); }));
    say("weigh own", 3, median([&] { done(weigh(lines, 0, b, c, d, nz, nz, N, ed)); }));
    say("expand", 5, median([&] { done(expand(lines, 0, a, b, c, d, N, ed, x)); }));
    say("expand shared", 2, median([&] { done(expand(lines, S, a, b, c, d, N, ed, x)); }));
    say("solve", 5, median([&] { done(plain(lines, 0, a, b, c, d, x)); }));
    say("solve shared", 2, median([&] { done(plain(lines, S, a, b, c, d, x)); }));
    for (T **p : big) BENCH_OK(cudaFree(*p));
    for (T **p : small) BENCH_OK(cudaFree(*p));
    BENCH_OK(cudaFree(u));
    BENCH_OK(cudaFree(v));
}

int main(int argc, char **argv)
{
    Bench bench = bench_open(argc, argv);
    bench_line(bench, "precision,nx,ny,nz,launch,ms,arrays,pct_of_copy\n");
    run<float>(bench, "f32", 512, 512, 256);
    run<double>(bench, "f64", 512, 512, 256);
    run<float>(bench, "f32", 512, 512, 512);
    run<double>(bench, "f64", 512, 512, 128);
    return 0;
}
