/* adi2d_host.c - a step of pde/adi2d.h and of pde/adi3d.h on one thread of the host: Heston's model, European and
   American, and a model of three lognormal prices, by schemes of one stage and of two.
   MIT licence, see LICENSE.

       adi2d_host [--csv FILE]

   The time of a step is that of a march, preparation included, divided by its steps: the median of 9 marches, in
   processor time, after one to warm up. To compare two states of the kit, compile this file with the headers of each,
   run the programs in turn, and use bench/compare.sh. */
#define _GNU_SOURCE /* clock_gettime, aligned_alloc */
#include "../examples/heston_model.h"
#include "adi3d_assets.h"
#include "orders.h"

enum { STEPS = 50, TURNS = 9 };
static const int schemes[] = {FD_DOUGLAS, FD_CRAIG_SNEYD, FD_HUNDSDORFER_VERWER};
static const char *const names[] = {"douglas", "craig_sneyd", "hundsdorfer_verwer"};
static FILE *file;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Solves a batch of one problem again and again; ms receives the milliseconds of a step, one number for each march. */
#define TIME_MS(model, suffix, batch, parameters)                                                                      \
    do {                                                                                                               \
        const size_t bytes = model##_host_bytes##suffix(batch, 1);                                                     \
        void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);                                              \
        for (int t = 0; t <= TURNS; t++) {                                                                             \
            const double start = now();                                                                                \
            const int wrong = memory ? model##_host##suffix(batch, parameters, 1, memory, bytes) : FD_NO_ROOM;         \
            if (wrong || (batch)->status->what) fprintf(stderr, "not solved\n"), exit(1);                              \
            if (t > 0) ms[t - 1] = (now() - start) / STEPS;                                                            \
        }                                                                                                              \
        free(memory);                                                                                                  \
    } while (0)

static void tell(const char *model, int scheme, int american, int is_double, const int *points, double *ms)
{
    const double middle = orders_median(ms, TURNS);
    for (int k = 0; k < 2; k++)
        if (k ? file : stdout)
            fprintf(k ? file : stdout, "%s,%s,%s,%s,%d,%d,%d,%.4g\n", model, names[scheme],
                    american ? "American" : "European", is_double ? "f64" : "f32", points[0], points[1], points[2],
                    middle);
}

/* A batch of one problem, with its input and its results. */
typedef struct {
    fd_problem problem;
    fd_status status;
    fd_values values;
    fd_batch batch;
} one_problem;

/* Sets up equal steps of a scheme on these points. The caller sets axes and faces. */
static void set_up(one_problem *one, int scheme, const int *points, const double *spot)
{
    const fd_times times = {1, STEPS, FD_EQUAL, 1, FD_THETA, 0, 0, 0, NULL, NULL};
    memset(one, 0, sizeof *one);
    one->problem.times = times, one->problem.scheme = schemes[scheme], one->problem.spot = spot;
    one->batch.problems = one->batch.spots = 1, one->batch.steps = STEPS;
    for (int d = 0; d < 3; d++) one->batch.points[d] = points[d];
    one->batch.problem = &one->problem, one->batch.status = &one->status, one->batch.values = &one->values;
}

static void measure_heston(int scheme, int american, int is_double, int nx, int ny)
{
    const heston_parameters p = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0, 1};
    const fd_axis price = {0, 300, nx, 1, {100}, {10}, {FD_MIDWAY}};
    const fd_axis variance = {0, 0.5, ny, 1, {0.04}, {0.2}, {FD_ON_NODE}};
    const double spot[2] = {100, 0.04};
    const int points[3] = {nx, ny, 1};
    one_problem one;
    double ms[TURNS];
    set_up(&one, scheme, points, spot);
    one.problem.axis[0] = price, one.problem.axis[1] = variance, one.problem.face[1][0] = FD_DEGENERATE;
    one.problem.exercise = american ? FD_AMERICAN : FD_EUROPEAN;
    if (is_double)
        TIME_MS(heston, _f64, &one.batch, &p);
    else
        TIME_MS(heston, _f32, &one.batch, &p);
    tell("heston", scheme, american, is_double, points, ms);
}

static void measure_assets(int scheme, int is_double, int n)
{
    const assets_parameters p = {0.03, 0.3, 0.4, 100};
    const fd_axis axis = {0, 300, n, 0, {0}, {0}, {0}};
    const double spot[3] = {100, 100, 100};
    const int points[3] = {n, n, n};
    one_problem one;
    double ms[TURNS];
    set_up(&one, scheme, points, spot);
    for (int d = 0; d < 3; d++) one.problem.axis[d] = axis;
    if (is_double)
        TIME_MS(assets, _f64, &one.batch, &p);
    else
        TIME_MS(assets, _f32, &one.batch, &p);
    tell("assets", scheme, 0, is_double, points, ms);
}

int main(int argc, char **argv)
{
    char date[32];
    const time_t today = time(NULL);
    if (argc == 3 && !strcmp(argv[1], "--csv")) file = fopen(argv[2], "w");
    if (argc > 1 && !file) return fprintf(stderr, "usage: adi2d_host [--csv FILE]\n"), 2;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&today));
    for (int k = 0; k < 2; k++)
        if (k ? file : stdout)
            fprintf(k ? file : stdout, "# compiler %s %s, %s\nmodel,scheme,exercise,precision,nx,ny,nz,ms_per_step\n",
                    __VERSION__, BENCH_FLAGS, date);
    for (int nx = 50; nx <= 400; nx *= 2)
        for (int k = 0; k < 12; k++) measure_heston(k / 4, k / 2 % 2, k % 2, nx, nx / 2);
    for (int k = 0; k < 6; k++) measure_assets(k / 2, k % 2, 64);
    if (file && fclose(file)) return perror(argv[2]), 1;
    return 0;
}
