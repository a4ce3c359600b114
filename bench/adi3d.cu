/* adi3d.cu - the time of a step of pde/adi3d.h on a GPU: three assets, several schemes, both precisions. Beside it
   stands bs3d.h's second implicit rung, whose volatilities, correlations and rate are always constant.
   MIT licence, see LICENSE.

   The time of a step is the difference between two marches, one of which is 80 steps longer, divided by 80. `passes`
   counts how often a step reads or writes an array of the grid (docs/adi3d.md), and pct_of_copy is the speed of these
   passes as a share of a copy's in the same run. host_ms_per_step is the time of the same step by the host engine on
   one core of the machine, in the same run (the median of HOST_STEPS steps), and times_host is the ratio of the two
   times. Compile with -Xcompiler -O3,-march=native, or the host is slow. */
#include "adi3d_assets.h"
#include "../bs3d.h"
#include "bench.h"

enum { POINTS = 256, SHORT = 20, MORE = 80, HOST_STEPS = 5 };

static fd_problem problem_of(int scheme, int steps)
{
    static const double spot[3] = {100, 100, 100};
    fd_problem q = {};
    q.axis[0] = q.axis[1] = q.axis[2] = {0, 300, POINTS, 0, {0}, {0}, {0}};
    q.times = {1, steps, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(scheme, 3, 1), 0, 0, NULL, NULL};
    q.scheme = scheme, q.spot = spot;
    return q;
}

static void line_of(const Bench &bench, const char *name, int is_double, int passes, double ms, double copy,
                    double value, double host_ms)
{
    const double bytes = (double)passes * (is_double ? 8 : 4) * POINTS * POINTS * POINTS;
    bench_line(bench, "%s,%s,%d,%d,%.4f,%.1f,%.1f,%.6f,", name, is_double ? "f64" : "f32", POINTS, passes, ms,
               1e-6 * bytes / ms, 1e5 * bytes / ms / copy, value);
    if (host_ms > 0)
        bench_line(bench, "%.2f,%.0f\n", host_ms, host_ms / ms);
    else
        bench_line(bench, ",\n");
}

/* Records the time at which each step of a march on the host ended. */
static void mark(int step, int steps, void *context)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (step < steps) ((double *)context)[step - 1] = 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Returns the milliseconds of a step on one core. The first step is left out, because the march is prepared before it,
   and the last, because results are written after it. */
static double host_step(int scheme, int is_double, const assets_parameters *p)
{
    fd_problem q = problem_of(scheme, HOST_STEPS + 2);
    double done[HOST_STEPS + 2], ms[HOST_STEPS];
    fd_status status;
    fd_values values;
    const fd_batch b = {1, {POINTS, POINTS, POINTS}, q.times.steps, 0, 1, &q, &status, &values, NULL, {NULL}, 0};
    const size_t bytes = is_double ? assets_host_bytes_f64(&b, 1) : assets_host_bytes_f32(&b, 1);
    void *memory = malloc(bytes);
    q.progress = mark, q.context = done;
    if (!memory || (is_double ? assets_host_f64 : assets_host_f32)(&b, p, 1, memory, bytes) || status.what)
        fprintf(stderr, "host: no result\n"), exit(1);
    free(memory);
    for (int k = 0; k < HOST_STEPS; k++) ms[k] = done[k + 1] - done[k];
    std::sort(ms, ms + HOST_STEPS);
    return ms[HOST_STEPS / 2];
}

typedef int march(const fd_batch *, const assets_parameters *, void *, size_t, cudaStream_t);

static void time_scheme(const Bench &bench, const char *name, int scheme, int passes, int is_double, double copy)
{
    const assets_parameters p = {0.03, 0.3, 0.4, 100};
    march *const solve[2] = {assets_device_f32, assets_device_f64};
    double seconds[2];
    fd_status status;
    fd_values values;
    for (int longer = 0; longer < 2; longer++) {
        const fd_problem q = problem_of(scheme, SHORT + longer * MORE);
        const fd_batch b = {1, {POINTS, POINTS, POINTS}, q.times.steps, 0, 1, &q, &status, &values, NULL, {NULL}, 0};
        const size_t bytes = is_double ? assets_device_bytes_f64(&b) : assets_device_bytes_f32(&b);
        void *memory = NULL;
        BENCH_OK(cudaMalloc(&memory, bytes));
        seconds[longer] = bench_seconds(9, [&] {
            if (solve[is_double](&b, &p, memory, bytes, 0) || status.what)
                fprintf(stderr, "%s: %s\n", name, fd_status_string(status.what)), exit(1);
        });
        BENCH_OK(cudaFree(memory));
    }
    line_of(bench, name, is_double, passes, 1e3 * (seconds[1] - seconds[0]) / MORE, copy, values.value,
            host_step(scheme, is_double, &p));
}

static void time_bs3d(const Bench &bench, int is_double, double copy)
{
    double seconds[2];
    bs3d_result *result;
    BENCH_OK(cudaMallocHost(&result, sizeof *result));
    for (int longer = 0; longer < 2; longer++) {
        bs3d_problem o;
        memset(&o, 0, sizeof o);
        for (int d = 0; d < 3; d++) {
            o.points[d] = POINTS, o.top[d] = 300, o.spot[d] = 100, o.volatility[d] = 0.3, o.correlation[d] = 0.4;
        }
        o.strike = 100, o.rate = 0.03, o.maturity = 1, o.payoff = BS3D_ARITHMETIC, o.steps = SHORT + longer * MORE;
        void *work = NULL;
        BENCH_OK(cudaMalloc(&work, is_double ? bs3d_work_bytes_f64(&o) : bs3d_work_bytes_f32(&o)));
        seconds[longer] = bench_seconds(9, [&] {
            const int status =
                is_double ? bs3d_implicit2_f64(&o, work, result, 0) : bs3d_implicit2_f32(&o, work, result, 0);
            if (status) fprintf(stderr, "implicit2: %s\n", bs3d_status_string(status)), exit(1);
        });
        BENCH_OK(cudaFree(work));
    }
    line_of(bench, "bs3d_implicit2", is_double, 5, 1e3 * (seconds[1] - seconds[0]) / MORE, copy, result->price, 0);
    BENCH_OK(cudaFreeHost(result));
}

int main(int argc, char **argv)
{
    Bench bench = bench_open(argc, argv);
    const double copy = bench_copy_speed(bench);
    bench_line(bench,
               "engine,precision,n,passes,ms_per_step,gbytes_per_s,pct_of_copy,value,host_ms_per_step,times_host\n");
    for (int is_double = 0; is_double < 2; is_double++) {
        time_scheme(bench, "adi3d_douglas", FD_DOUGLAS, 5, is_double, copy);
        time_scheme(bench, "adi3d_hundsdorfer_verwer", FD_HUNDSDORFER_VERWER, 13, is_double, copy);
        time_scheme(bench, "adi3d_craig_sneyd", FD_CRAIG_SNEYD, 13, is_double, copy);
        time_bs3d(bench, is_double, copy);
    }
    return 0;
}
