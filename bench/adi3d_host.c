/* adi3d_host.c - a step of pde/adi3d.h on the host beside one of cpu_avx.h's second implicit rung, which takes the same
   equation as arrays instead of a model: Douglas' scheme, three lognormal prices, three mixed terms.
   MIT licence, see LICENSE.

       adi3d_host [--csv FILE] [--quick]

   The two alternate, STEPS steps each, on one and on two threads. The figures are medians; pct_of_rung, the model's
   speed relative to the rung's, is the median of the ratios of neighbouring runs. The rung's cross terms read two
   corners of a plane, the model's four. */
#ifndef REAL
#include "../cpu_avx.h"
#include "../tests/adi3d_assets.h"
#include "orders.h"

enum { STEPS = 3, TURNS = 9, MOST = 256 };
static const double TOP = 400, MATURITY = 0.05;

/* The times at which the first step of a march and the last but one ended. */
typedef struct {
    double first, last;
} marks;

static void mark(int step, int steps, void *context)
{
    marks *m = (marks *)context;
    if (step < steps) *(step == 1 ? &m->first : &m->last) = orders_seconds();
}

static void *memory_of(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!memory) fprintf(stderr, "no memory\n"), exit(1);
    return memory;
}

static void tell(const char *precision, int n, int threads, double *rung, double *model, double *share)
{
    char row[120];
    snprintf(row, sizeof row, "%s,%d,%d,%.3g,%.3g,%.0f\n", precision, n, threads, orders_median(rung, TURNS),
             orders_median(model, TURNS), orders_median(share, TURNS));
    orders_line(row);
}

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define REAL float
#define F(stem) JOIN(stem, _f32)
#include "adi3d_host.c"
#undef REAL
#undef F
#define REAL double
#define F(stem) JOIN(stem, _f64)
#include "adi3d_host.c"

int main(int argc, char **argv)
{
    int quick = 0;
    orders_out[0] = stdout;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick")) {
            quick = 1;
        } else if (!strcmp(argv[i], "--csv") && i + 1 < argc) {
            if (!(orders_out[1] = fopen(argv[++i], "w"))) return perror(argv[i]), 2;
        } else {
            return fprintf(stderr, "usage: adi3d_host [--csv FILE] [--quick]\n"), 2;
        }
    }
    char head[512], date[32];
    const time_t today = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&today));
    snprintf(head, sizeof head, "# %s, gcc %s %s, %s\nprecision,n,threads,rung_ms,model_ms,pct_of_rung\n",
             cpu_avx_name(cpu_avx_best()), __VERSION__, BENCH_FLAGS, date);
    orders_line(head);
    for (int n = 64; n <= (quick ? 64 : MOST); n *= 2)
        for (int threads = 1; threads <= 2; threads++) compare_f32(n, threads), compare_f64(n, threads);
    return orders_close();
}
#else /* REAL: the body, in one precision */

/* Sets up the equation of compare for cpu_avx.h: volatilities of 0.2, a rate of 0.05, correlations of 1/2. Factors the
   matrix of each axis once. */
static F(cpu_avx_grid) F(grid_of)(int n, double dt, REAL *numbers, REAL *const *factors)
{
    F(cpu_avx_grid) g;
    memset(&g, 0, sizeof g);
    g.nx = g.ny = g.nz = n, g.pitch = n, g.same = (REAL)(-0.05 * dt);
    for (int d = 0; d < 3; d++) {
        REAL *down = numbers + 3 * d * n, *up = down + n, *weight = up + n, a[MOST], b[MOST], c[MOST];
        for (int i = 0; i < n; i++) {
            const int inner = i > 0 && i < n - 1;
            const double h = TOP / (n - 1), s = i * h, drift = 0.05 * s / (2 * h) * dt, diffusion = 0.02 * i * i * dt;
            down[i] = (REAL)(inner ? diffusion - drift : 0), up[i] = (REAL)(inner ? diffusion + drift : 0);
            weight[i] = (REAL)(inner ? 0.1 * i * sqrt(dt) : 0);
            a[i] = -down[i], c[i] = -up[i], b[i] = 1 + down[i] + up[i];
        }
        if (F(cpu_avx_factor)(n, a, b, c, factors[d])) fprintf(stderr, "no factors\n"), exit(1);
        g.down[d] = down, g.up[d] = up, g.weight[d] = weight, g.plus[d] = (REAL)0.5;
    }
    return g;
}

static void F(compare)(int n, int threads)
{
    const size_t points = (size_t)n * (size_t)n * (size_t)n;
    const assets_parameters parameters = {{0.2, 0.2, 0.2}, {0.05, 0.05, 0.05}, {0.5, 0.5, 0.5}, 100, 0.05,
                                          {0, 0, 0},       ASSETS_GEOMETRIC};
    const fd_times times = {MATURITY, STEPS + 2, FD_EQUAL, 1, FD_THETA, 1, 0, 0, NULL, NULL};
    marks at;
    const fd_axis axis = {0, TOP, n, 0, {0}, {0}, {0}};
    const double spot[3] = {100, 100, 100};
    fd_problem problem;
    fd_values values;
    fd_status status;
    memset(&problem, 0, sizeof problem);
    for (int d = 0; d < 3; d++) problem.axis[d] = axis;
    problem.times = times, problem.scheme = FD_DOUGLAS, problem.coefficients = FD_NEW_END, problem.spot = spot;
    problem.progress = mark, problem.context = &at;
    const fd_batch batch = {1, {n, n, n}, STEPS + 2, 0, 1, &problem, &status, &values, NULL, {NULL}, 0};
    const size_t bytes = F(assets_host_bytes)(&batch, threads);

    REAL *numbers = (REAL *)memory_of(9 * (size_t)n * sizeof(REAL)), *factors[3];
    for (int d = 0; d < 3; d++) factors[d] = (REAL *)memory_of(CPU_AVX_FACTOR_LEN(n) * sizeof(REAL));
    F(cpu_avx_grid) g = F(grid_of)(n, MATURITY / (STEPS + 2), numbers, factors);
    REAL *u = (REAL *)memory_of(points * sizeof(REAL)), *v = (REAL *)memory_of(points * sizeof(REAL));
    void *work = memory_of(F(cpu_avx_grid_bytes)(&g, threads)), *memory = memory_of(bytes);
    for (size_t k = 0; k < points; k++) u[k] = 1 + (REAL)(k % 7) / 100, v[k] = 0;

    double rung[TURNS], model[TURNS], share[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        const double start = orders_seconds();
        int wrong = F(cpu_avx_grid_implicit2)(cpu_avx_best(), &g, STEPS, factors[0], factors[1], factors[2], u, v, work,
                                              threads);
        rung[turn] = 1e3 * (orders_seconds() - start) / STEPS;
        if (!wrong) wrong = F(assets_host)(&batch, &parameters, threads, memory, bytes);
        if (wrong || status.what) fprintf(stderr, "status %d, %d\n", wrong, status.what), exit(1);
        model[turn] = 1e3 * (at.last - at.first) / STEPS;
        share[turn] = 100 * rung[turn] / model[turn];
    }
    tell(sizeof(REAL) == 4 ? "f32" : "f64", n, threads, rung, model, share);
    free(numbers), free(factors[0]), free(factors[1]), free(factors[2]), free(u), free(v), free(work), free(memory);
}
#endif
