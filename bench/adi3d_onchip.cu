/* adi3d_onchip.cu - batches of small grids of pde/adi3d.h, marched on chip: calls on the average of three assets, with
   various strikes and volatilities, in 50 steps of Hundsdorfer and Verwer's scheme and of others.
   MIT licence, see LICENSE.

   `off` is the largest difference between the first problem's grid and the host engine's, relative to the largest
   value. `blocks` are the blocks of a cluster in a launch of many problems, blocks_alone those in a launch of one. */
#include "adi3d_assets.h"
#include "bench.h"

enum { STEPS = 50 };

static fd_problem problem_of(int points, int scheme)
{
    static const double spot[3] = {100, 100, 100};
    fd_problem q = {};
    q.axis[0] = q.axis[1] = q.axis[2] = {0, 300, points, 1, {100}, {30}, {FD_ANYWHERE}};
    q.times = {1, STEPS, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(scheme, 3, 1), 0, 0, NULL, NULL};
    q.scheme = scheme, q.spot = spot;
    return q;
}

static assets_parameters parameters_of(int which)
{
    const assets_parameters p = {0.03, 0.2 + 0.01 * (which % 16), 0.4, 90.0 + which % 21};
    return p;
}

template <class T>
static T *to_device(const std::vector<T> &from)
{
    void *p = NULL;
    BENCH_OK(cudaMalloc(&p, from.size() * sizeof(T)));
    BENCH_OK(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return (T *)p;
}

template <class R>
static void time_batch(const Bench &bench, int points, int scheme, const char *name, size_t bytes_of(const fd_batch *),
                       int blocks_of(const fd_batch *),
                       int onchip(const fd_batch *, const assets_parameters *, void *, size_t, cudaStream_t),
                       size_t host_bytes(const fd_batch *, int),
                       int host(const fd_batch *, const assets_parameters *, int, void *, size_t))
{
    /* 2 or 8 for each of an H200's 132 multiprocessors. */
    const int all = points * points * points, problems = points > 32 ? 264 : 1056;
    const fd_problem q = problem_of(points, scheme);
    fd_problem there = q;
    there.spot = to_device(std::vector<double>(q.spot, q.spot + 3));
    std::vector<fd_problem> problem((size_t)problems, there);
    std::vector<assets_parameters> parameters;
    for (int k = 0; k < problems; k++) parameters.push_back(parameters_of(k));
    std::vector<fd_status> status((size_t)problems, fd_status_of(-99, 0, 0, 0, 0, 0, 0));
    std::vector<fd_values> values((size_t)problems);
    std::vector<R> grid((size_t)all), want((size_t)all);
    fd_batch b;
    memset(&b, 0, sizeof b);
    b.problems = problems, b.steps = STEPS, b.spots = 1;
    for (int d = 0; d < 3; d++) b.points[d] = points;
    b.problem = to_device(problem), b.status = to_device(status), b.values = to_device(values);
    assets_parameters *p = to_device(parameters);
    const size_t bytes = bytes_of(&b);
    void *memory = NULL;
    BENCH_OK(cudaMalloc(&memory, bytes));
    const int blocks = blocks_of(&b);
    double seconds = 0;
    if (blocks > 0)
        seconds = bench_seconds(3, [&] {
            if (onchip(&b, p, memory, bytes, 0)) fprintf(stderr, "%d points: not launched\n", points), exit(1);
        });
    BENCH_OK(cudaMemcpy(status.data(), b.status, status.size() * sizeof(fd_status), cudaMemcpyDeviceToHost));
    BENCH_OK(cudaMemcpy(values.data(), b.values, values.size() * sizeof(fd_values), cudaMemcpyDeviceToHost));
    int failed = 0;
    for (int k = 0; k < problems; k++) failed += status[(size_t)k].what != FD_OK;
    /* The first problem alone, with its grid: a launch of one takes larger clusters. */
    fd_batch alone = b;
    double off = 0, most = 0, one = 0;
    alone.problems = 1, alone.grid = to_device(grid);
    const int larger = blocks_of(&alone);
    if (blocks > 0) one = bench_seconds(3, [&] { onchip(&alone, p, memory, bytes, 0); });
    BENCH_OK(cudaMemcpy(grid.data(), alone.grid, grid.size() * sizeof(R), cudaMemcpyDeviceToHost));
    fd_values value;
    const fd_batch by_host = {1, {points, points, points}, STEPS, 0, 1, &q, &status[0], &value, want.data(), {NULL}, 0};
    std::vector<unsigned char> work(host_bytes(&by_host, 1));
    if (host(&by_host, &parameters[0], 1, work.data(), work.size()) || status[0].what)
        fprintf(stderr, "host\n"), exit(1);
    for (int at = 0; at < all; at++) {
        const double error = fabs((double)grid[(size_t)at] - (double)want[(size_t)at]);
        off = error <= off ? off : error, most = fmax(most, fabs((double)want[(size_t)at]));
    }
    bench_line(bench, "%s,%s,%d,%d,%d,%d,%.3f,%.0f,%.4f,%d,%.3f,%.1e,%d,%.6f,%.6f\n", name,
               sizeof(R) == 4 ? "f32" : "f64", points, STEPS, blocks, problems, 1e3 * seconds,
               seconds > 0 ? problems / seconds : 0, seconds > 0 ? 1e-9 * problems / seconds * STEPS * all : 0, larger,
               1e3 * one, off / most, failed, values[0].value, value.value);
    for (void *m :
         {(void *)b.problem, (void *)b.status, (void *)b.values, (void *)p, (void *)there.spot, memory, alone.grid})
        BENCH_OK(cudaFree(m));
}

#define TIME(precision, real, points, scheme, name)                                                                    \
    time_batch<real>(bench, points, scheme, name, assets_onchip_bytes_##precision, assets_onchip_blocks_##precision,   \
                     assets_onchip_##precision, assets_host_bytes_##precision, assets_host_##precision)

int main(int argc, char **argv)
{
    Bench bench = bench_open(argc, argv);
    bench_line(bench,
               "scheme,precision,n,steps,blocks,problems,ms,problems_per_s,gpoints_per_s,blocks_alone,ms_alone,off,"
               "failed,value,value_by_host\n");
    for (int points = 16; points <= 48; points += 8) {
        TIME(f32, float, points, FD_HUNDSDORFER_VERWER, "hundsdorfer_verwer");
        TIME(f64, double, points, FD_HUNDSDORFER_VERWER, "hundsdorfer_verwer");
    }
    TIME(f32, float, 32, FD_DOUGLAS, "douglas");
    TIME(f64, double, 32, FD_DOUGLAS, "douglas");
    TIME(f32, float, 32, FD_CRAIG_SNEYD, "craig_sneyd");
    TIME(f64, double, 32, FD_CRAIG_SNEYD, "craig_sneyd");
    return 0;
}
