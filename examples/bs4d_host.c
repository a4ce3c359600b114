/* bs4d_host.c - four-factor Black-Scholes by ADI on the CPU, composed of cpu_avx.h's solves along four axes.
   MIT licence, see LICENSE.

       bs4d_host [f32|f64] [--size N | --size NX NY NZ NW] [--steps N] [--csv FILE]

       gcc -std=c11 -O3 -march=native -fopenmp -I. -o bs4d_host examples/bs4d_host.c -lm

   The problem: a call on the geometric average of four assets, whose closed form is known (bs4d_problem.h). Each thread
   takes slabs of the fourth axis. For each slab it computes the right-hand side v with all six cross terms, and solves
   the systems along the first three axes while the slab is in cache. Then it solves the systems along the fourth axis,
   a plane of them at a time, and adds the solution to u. So a step makes 6 passes: it reads u twice and writes it once,
   and reads v once and writes it twice. pct_of_limit compares it with reading and writing u once, at the speed of a
   copy by as many threads. The file includes itself for each precision. */
#ifndef REAL
#include "cpu_avx.h"
#include "bs4d_report.h"

#ifdef _OPENMP
#include <omp.h>
#define PARALLEL _Pragma("omp parallel for num_threads(threads) schedule(static, 1)")
#else
#define PARALLEL
#endif

/* Elements before u and after it: at each end of a line in x a neighbour is read that has weight 0. One element would
   do; 16 keep the alignment of u. */
enum { MARGIN = 16 };

/* The distances to a point's two neighbours along an axis; 0 where there is none. */
typedef struct {
    ptrdiff_t up, down;
} bs4d_way;

static bs4d_way bs4d_way_at(int points, int i, ptrdiff_t pitch)
{
    bs4d_way way = {i < points - 1 ? pitch : 0, i > 0 ? -pitch : 0};
    return way;
}

#ifndef BS4D_NO_MAIN
static double seconds(void)
{
#ifdef _OPENMP
    return omp_get_wtime();
#else
    return (double)clock() / CLOCKS_PER_SEC;
#endif
}

/* Returns the bytes that a copy of an array reads and writes in a second. Each thread copies a part. */
static double copy_speed(size_t bytes, int threads)
{
    char *from = (char *)calloc(2, bytes);
    double least = INFINITY;
    if (!from) fprintf(stderr, "bs4d_host: out of memory\n"), exit(1);
    for (int run = 0; run < 2 * BS4D_RUNS; run++) {
        const double start = seconds();
        PARALLEL
        for (int i = 0; i < threads; i++) {
            size_t begin = bytes / (size_t)threads * (size_t)i, some = bytes / (size_t)threads;
            memcpy(from + bytes + begin, from + begin, some);
        }
        least = fmin(least, seconds() - start);
    }
    free(from);
    return 2 * (double)bytes / least;
}

#endif

#define REAL float
#define F(stem) stem##_f32
#include "bs4d_host.c"
#define REAL double
#define F(stem) stem##_f64
#include "bs4d_host.c"

#ifndef BS4D_NO_MAIN
int main(int argc, char **argv)
{
    bs4d_command command = {{64, 64, 64, 64}, 20, {1, 1}, NULL};
    bs4d_read(argc, argv, &command);
    const bs4d_problem o = bs4d_problem_of(command.points, command.steps);
    int threads = 1, bad = 0;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    char machine[300] = "unknown processor", line[200];
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            line[strcspn(line, "\n")] = 0;
            snprintf(machine, sizeof machine, "%s, %s, %d threads, gcc %s", strchr(line, ':') + 2,
                     cpu_avx_name(cpu_avx_best()), threads, __VERSION__);
        }
    if (info) fclose(info);
    const double copy = copy_speed(bs4d_elements(o.points) * sizeof(double), threads);
    bs4d_heading(command.csv, machine, copy);
    if (command.wanted[0]) bad |= bs4d_time_f32(&o, command.csv, copy, threads);
    if (command.wanted[1]) bad |= bs4d_time_f64(&o, command.csv, copy, threads);
    if (command.csv && fclose(command.csv)) return perror("--csv"), 1;
    return bad;
}
#endif

#else /* REAL: the precision at hand */

/* What a step needs of axis m: the weights of L at each point, and the factorisation of A_m (bs4d_problem.h). */
typedef struct {
    REAL down[BS4D_MOST_POINTS], up[BS4D_MOST_POINTS], index[BS4D_MOST_POINTS];
    REAL factor[CPU_AVX_FACTOR_LEN(BS4D_MOST_POINTS)];
} F(bs4d_axis);

static int F(bs4d_axis_of)(const bs4d_step *s, int m, F(bs4d_axis) * axis)
{
    REAL a[BS4D_MOST_POINTS], b[BS4D_MOST_POINTS], c[BS4D_MOST_POINTS];
    for (int i = 0; i < s->points[m]; i++) {
        double down, up, index;
        bs4d_weights(s->points[m], s->variance[m], s->drift[m], i, &down, &up, &index);
        axis->down[i] = (REAL)down, axis->up[i] = (REAL)up, axis->index[i] = (REAL)index;
        a[i] = (REAL)-down, b[i] = (REAL)(1 + down + up + (m == 0 ? s->discount : 0)), c[i] = (REAL)-up;
    }
    return F(cpu_avx_factor)(s->points[m], a, b, c, axis->factor);
}

typedef struct {
    bs4d_step step;
    F(bs4d_axis) axis[BS4D_AXES];
} F(bs4d_plan);

static REAL F(bs4d_corners)(const REAL *u, bs4d_way m, bs4d_way n)
{
    return u[m.up + n.up] + u[m.down + n.down] - u[m.up + n.down] - u[m.down + n.up];
}

/* Computes v = L u on a line in x, at points j of y, k of z and l of w; u and v point to its first element. The cross
   terms with x share one difference in x: that of the slopes along the other axes. */
static void F(bs4d_line)(const F(bs4d_plan) * plan, int j, int k, int l, const REAL *u, REAL *CPU_AVX_P_RESTRICT v)
{
    const F(bs4d_axis) *axis = plan->axis;
    const int *n = plan->step.points, nx = n[0];
    const bs4d_way y = bs4d_way_at(n[1], j, nx), z = bs4d_way_at(n[2], k, (ptrdiff_t)nx * n[1]),
                   w = bs4d_way_at(n[3], l, (ptrdiff_t)nx * n[1] * n[2]);
    const REAL yd = axis[1].down[j], yu = axis[1].up[j], zd = axis[2].down[k], zu = axis[2].up[k];
    const REAL wd = axis[3].down[l], wu = axis[3].up[l], discount = (REAL)plan->step.discount;
    const REAL yi = axis[1].index[j], zi = axis[2].index[k], wi = axis[3].index[l];
    REAL t[BS4D_PAIRS], slopes[BS4D_MOST_POINTS + 2] = {0}, *slope = slopes + 1;
    for (int pair = 0; pair < BS4D_PAIRS; pair++) t[pair] = (REAL)plan->step.cross[pair];
    const REAL xy = t[0] * yi, xz = t[1] * zi, xw = t[2] * wi, yz = t[3] * yi * zi, yw = t[4] * yi * wi,
               zw = t[5] * zi * wi;
    for (int x = 0; x < nx; x++) {
        const REAL *c = u + x;
        slope[x] = xy * (c[y.up] - c[y.down]) + xz * (c[z.up] - c[z.down]) + xw * (c[w.up] - c[w.down]);
    }
    for (int x = 0; x < nx; x++) {
        const REAL *c = u + x;
        v[x] = axis[0].up[x] * (c[1] - c[0]) - axis[0].down[x] * (c[0] - c[-1]) + yu * (c[y.up] - c[0]) -
               yd * (c[0] - c[y.down]) + zu * (c[z.up] - c[0]) - zd * (c[0] - c[z.down]) + wu * (c[w.up] - c[0]) -
               wd * (c[0] - c[w.down]) + axis[0].index[x] * (slope[x + 1] - slope[x - 1]) +
               yz * F(bs4d_corners)(c, y, z) + yw * F(bs4d_corners)(c, y, w) + zw * F(bs4d_corners)(c, z, w) -
               discount * c[0];
    }
}

/* Returns the bytes of work for a thread, enough for the lines along any axis. */
static size_t F(bs4d_work_bytes)(void)
{
    const cpu_avx_lines most = cpu_avx_lines_interleaved(BS4D_MOST_POINTS, BS4D_MOST_POINTS);
    return F(cpu_avx_solve_bytes)(&most, 1);
}

/* Marches u, which has a margin on both sides, from the payoff to the values. v has as many elements as u without
   its margins. work holds bs4d_work_bytes for each thread. Returns 0 or a status of cpu_avx.h. */
static int F(bs4d_march)(const bs4d_problem *o, REAL *u, REAL *v, char *work, int threads)
{
    const int *n = o->points, isa = cpu_avx_best();
    const ptrdiff_t row = n[0], plane = row * n[1], slab = plane * n[2];
    const cpu_avx_lines along[] = {{n[0], 1, n[1] * n[2], row, 1, 0},
                                   {n[1], row, row, 1, n[2], plane},
                                   {n[2], plane, plane, 1, 1, 0},
                                   {n[3], slab, plane, 1, 1, 0}};
    F(bs4d_plan) plan = {bs4d_step_of(o), {{{0}, {0}, {0}, {0}}}};
    int status = 0;
    for (int m = 0; m < BS4D_AXES; m++) status |= F(bs4d_axis_of)(&plan.step, m, &plan.axis[m]);
    for (int step = 0; step < o->steps && !status; step++) {
        PARALLEL
        for (int t = 0; t < threads; t++)
            for (int l = n[3] * t / threads; l < n[3] * (t + 1) / threads; l++) {
                for (int k = 0; k < n[2]; k++)
                    for (int j = 0; j < n[1]; j++) {
                        const ptrdiff_t at = j * row + k * plane + l * slab;
                        F(bs4d_line)(&plan, j, k, l, u + at, v + at);
                    }
                REAL *part = v + l * slab;
                char *own = work + t * F(bs4d_work_bytes)();
                for (int m = 0; m < 3; m++) F(cpu_avx_solve)(isa, &along[m], plan.axis[m].factor, part, part, own, 1);
            }
        PARALLEL
        for (int t = 0; t < threads; t++)
            for (int k = n[2] * t / threads; k < n[2] * (t + 1) / threads; k++) {
                REAL *from = v + k * plane, *to = u + k * plane;
                F(cpu_avx_solve)(isa, &along[3], plan.axis[3].factor, from, from, work + t * F(bs4d_work_bytes)(), 1);
                for (int l = 0; l < n[3]; l++)
                    for (ptrdiff_t i = 0; i < plane; i++) to[l * slab + i] += from[l * slab + i];
            }
    }
    return status;
}

#ifndef BS4D_NO_MAIN
/* Times the march and compares its value with the closed form. Returns 0, or 1 if the value is off. */
static int F(bs4d_time)(const bs4d_problem *o, FILE *csv, double copy, int threads)
{
    const size_t elements = bs4d_elements(o->points);
    REAL *u = (REAL *)calloc(elements + 2 * MARGIN, sizeof *u), *v = (REAL *)malloc(elements * sizeof *v);
    char *work = (char *)malloc((size_t)threads * F(bs4d_work_bytes)());
    double ms[BS4D_RUNS];
    if (!u || !v || !work) fprintf(stderr, "bs4d_host: out of memory\n"), exit(1);
    for (int run = 0; run < BS4D_RUNS; run++) {
        for (size_t i = 0; i < elements; i++) u[MARGIN + i] = (REAL)bs4d_payoff(o, i);
        const double start = seconds();
        const int status = F(bs4d_march)(o, u + MARGIN, v, work, threads);
        ms[run] = 1e3 * (seconds() - start);
        if (status) fprintf(stderr, "bs4d_host: %s\n", cpu_avx_status_string(status)), exit(1);
    }
    const double value = (double)u[MARGIN + bs4d_middle(o->points)];
    free(u), free(v), free(work);
    return bs4d_row_of(csv, "bs4d_host", (int)sizeof(REAL), o, ms, copy, value);
}
#endif

#undef REAL
#undef F
#endif
