/* bs3d_timing.cu - the ladder of bs3d.h on the paper's model problem: time, speed and accuracy of each rung.
   MIT licence, see LICENSE.

       bs3d_timing [f32|f64] [--size N [NY NZ]] [--large] [--rung NAME] [--steps N] [--runs N] [--csv [FILE]]

   The problem: a call on the geometric average of three assets, S = K = 100, r = 0.05, sigma = 0.2, T = 0.05, every
   correlation 0.5, on 256^3 points up to 200, in 500 explicit or 100 implicit steps. A time is the median of 9 runs (5
   if one takes over a second) after a warm-up (none before a single run), from before a call until it has its result.
   --large adds the best rungs at 512^3. --csv alone prints only CSV; --csv FILE prints the table, and writes the rows
   to FILE. With more than 256 points on an axis, explicit steps are shortened in proportion to the square of the
   spacing, to remain stable. Their number stays, so the maturity is shorter. --steps also changes the maturity, not
   the length of a step. Where the maturity is not T, value_at_strike and abs_error are left empty. The limit: a step
   reads and writes one array, at the speed of a device-to-device copy of 4 GiB in the same run. gbytes_per_s is these
   bytes over the measured time, and pct_of_limit compares it with the copy's speed, whatever a rung really moves; a
   rung that takes two steps in one sweep can exceed 100. GFlop/s count a fixed number of operations for each point and
   step, whatever a rung really needs: 53 explicit, 108 (single) or 129 (double precision) implicit. They follow from
   the times and GFlop/s of the paper's table 2. Without a GPU the host reference runs on 64^3 points, 3 times. The
   program fails if a rung is less accurate than expected. A row is marked "!" if its median exceeds its least time by
   more than a tenth: something else was running. */
#include "bs3d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

enum { POINTS = 256, LARGE = 512, HOST_POINTS = 64, STEPS = 500, IMPLICIT_STEPS = 100 };
enum { RUNS = 9, LONG_RUNS = 5, HOST_RUNS = 3 };
static const double maturity = 0.05, closed_form = 1.56532867895354424;

typedef int Launch(const bs3d_problem *, void *, bs3d_result *, cudaStream_t);
typedef int March(const bs3d_problem *, void *, bs3d_result *);
typedef size_t Bytes(const bs3d_problem *);

/* launch: in single and in double precision. large: also timed on the large grid. */
struct Rung {
    const char *name;
    int implicit, large;
    Launch *launch[2];
};

static const Rung ladder[] = {
    {"explicit1", 0, 0, {bs3d_explicit1_f32, bs3d_explicit1_f64}},
    {"explicit2", 0, 0, {bs3d_explicit2_f32, bs3d_explicit2_f64}},
    {"explicit3", 0, 0, {bs3d_explicit3_f32, bs3d_explicit3_f64}},
    {"explicit4", 0, 1, {bs3d_explicit4_f32, bs3d_explicit4_f64}},
    {"implicit1", 1, 0, {bs3d_implicit1_f32, bs3d_implicit1_f64}},
    {"implicit2", 1, 1, {bs3d_implicit2_f32, bs3d_implicit2_f64}},
    {"implicit3", 1, 1, {bs3d_implicit3_f32, bs3d_implicit3_f64}},
};

/* The options of the command line: the precisions wanted, and numbers that are 0 where not given. */
static int wanted[2] = {1, 1}, size[3], steps_given, runs_given, large;
static const char *rung_given;

static bs3d_problem model_problem(int implicit, const int *points)
{
    int most = POINTS, usual = implicit ? IMPLICIT_STEPS : STEPS, steps = steps_given ? steps_given : usual;
    for (int axis = 0; axis < 3 && !implicit; axis++)
        if (points[axis] > most) most = points[axis];
    double finer = (double)(most - 1) / (POINTS - 1), t = maturity * steps / usual / (finer * finer);
    bs3d_problem problem = {{100, 100, 100},
                            {200, 200, 200},
                            {0.2, 0.2, 0.2},
                            {0, 0, 0},
                            {0.5, 0.5, 0.5},
                            100,
                            0.05,
                            t,
                            {points[0], points[1], points[2]},
                            steps,
                            BS3D_GEOMETRIC,
                            0};
    return problem;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static FILE *csv;          /* the file for CSV, or null */
static int table = 1, bad; /* whether the rows are printed as a table; how many miss their accuracy */
static int disturbed;      /* how many rows are marked "!" */

/* Prints what stands above the rows. copy: bytes read and written a second by a copy of `copied` bytes; 0 if no copy
   was measured. */
static void heading(const char *machine, double copy, size_t copied)
{
    if (table && copy > 0)
        printf("Table 2, three factors: a call on three assets, %d explicit or %d implicit steps unless --steps\n"
               "says otherwise. 14 rows on 256^3 points take 10 s on an H200, 6 rows on 512^3 another 10 s. GB/s\n"
               "count one array read and written a step, whatever a rung moves, and the limit is the speed of a\n"
               "copy. So a rung that takes two steps in one sweep can exceed 100 %%.\n",
               STEPS, IMPLICIT_STEPS);
    else if (table)
        printf("Table 2, three factors, without a GPU: the host reference prices a call on three assets on %d^3\n"
               "points, 4 rows in a few seconds. Skipped: all rungs, which are kernels.\n",
               HOST_POINTS);
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    FILE *const to[2] = {table ? stdout : NULL, csv};
    for (int i = 0; i < 2; i++) {
        if (!to[i]) continue;
        fprintf(to[i], "# %s, %s, %s\n", machine, BENCH_FLAGS, date);
        if (copy > 0)
            fprintf(to[i], "# device-to-device copy of %.3g GiB: %.1f GB/s read and written\n",
                    (double)copied / (1 << 30), 1e-9 * copy);
        if (large)
            fprintf(to[i], "# explicit rungs on %d^3 points: maturity shortened, steps as stable as above\n", LARGE);
    }
    if (csv)
        fprintf(csv, "kernel,precision,nx,ny,nz,steps,ms_median,ms_min,gflops,gbytes_per_s,pct_of_limit,"
                     "value_at_strike,abs_error\n");
    if (table)
        printf("%-13s prec           grid  steps  median ms   least ms  GFlop/s    GB/s  %% of limit  "
               "value at strike     error\n",
               "kernel");
    fflush(stdout);
}

static int ascending(const void *p, const void *q)
{
    return (*(const double *)p > *(const double *)q) - (*(const double *)p < *(const double *)q);
}

/* Prints a row, and sorts the times in ms. copy: as in heading; with 0 there is no limit. within: the largest allowed
   difference from the closed form; 0 allows any. */
static void row(const char *name, int is_double, int implicit, const bs3d_problem *o, int runs, double *ms, double copy,
                const bs3d_result *result, double within)
{
    const int *n = o->points;
    const char *precision = is_double ? "f64" : "f32";
    if (result->status) fprintf(stderr, "%s %s: %s\n", name, precision, bs3d_status_string(result->status)), exit(1);
    qsort(ms, (size_t)runs, sizeof *ms, ascending);
    double median = ms[runs / 2], point_steps = (double)n[0] * n[1] * n[2] * o->steps;
    double gflops = 1e-6 * point_steps * (!implicit ? 53 : is_double ? 129 : 108) / median;
    double speed = 1e3 * point_steps * 2 * (is_double ? 8 : 4) / median;
    double error = fabs(result->price - closed_form);
    char limit[2][32] = {"", ""}, value[2][32] = {"", ""}, grid[32];
    snprintf(grid, sizeof grid, "%dx%dx%d", n[0], n[1], n[2]);
    if (copy > 0) {
        snprintf(limit[0], sizeof limit[0], "%.1f", 1e-9 * speed);
        snprintf(limit[1], sizeof limit[1], "%.1f", 100 * speed / copy);
    }
    int comparable = o->maturity == maturity;
    if (comparable) {
        snprintf(value[0], sizeof value[0], "%.17g", result->price);
        snprintf(value[1], sizeof value[1], "%.3e", error);
    }
    if (csv)
        fprintf(csv, "%s,%s,%d,%d,%d,%d,%.6g,%.6g,%.6g,%s,%s,%s,%s\n", name, precision, n[0], n[1], n[2], o->steps,
                median, ms[0], gflops, limit[0], limit[1], value[0], value[1]);
    int unsteady = median > 1.1 * ms[0];
    disturbed += unsteady;
    if (table)
        printf("%-13s %s  %13s  %5d  %9.4f  %9.4f %8.1f %7s  %10s  %-19s %s%s\n", name, precision, grid, o->steps,
               median, ms[0], gflops, limit[0], limit[1], value[0], value[1], unsteady ? " !" : "");
    fflush(stdout);
    if (csv) fflush(csv);
    if (comparable && within > 0 && !(error <= within)) {
        fprintf(stderr, "%s %s: off by %.3g, more than %.3g\n", name, precision, error, within);
        bad++;
    }
}

/* Returns the largest error allowed: a bound of the discretisation error, plus one of rounding in single precision. */
static double bound(int implicit, int is_double)
{
    return closed_form * (implicit ? 0.0036 : 0.0006) + (is_double ? 0 : 1e-4);
}

/* ---- on a GPU ---------------------------------------------------------------------------------------------------- */

/* Returns the milliseconds between two events. */
static double elapsed(cudaEvent_t start, cudaEvent_t stop)
{
    float ms;
    check(cudaEventSynchronize(stop));
    check(cudaEventElapsedTime(&ms, start, stop));
    return (double)ms;
}

/* Returns the bytes read and written a second by a copy of 4 GiB, or of less if memory does not hold two of them. */
static double copy_speed(cudaStream_t stream, cudaEvent_t start, cudaEvent_t stop, size_t *copied)
{
    double ms[RUNS];
    void *from = NULL;
    size_t bytes = (size_t)1 << 32;
    while (cudaMalloc(&from, 2 * bytes) != cudaSuccess && bytes >> 24) cudaGetLastError(), bytes /= 2;
    check(cudaMemset(from, 1, 2 * bytes));
    for (int run = -1; run < RUNS; run++) {
        check(cudaEventRecord(start, stream));
        check(cudaMemcpyAsync((char *)from + bytes, from, bytes, cudaMemcpyDeviceToDevice, stream));
        check(cudaEventRecord(stop, stream));
        double time = elapsed(start, stop);
        if (run >= 0) ms[run] = time;
    }
    check(cudaFree(from));
    qsort(ms, RUNS, sizeof ms[0], ascending);
    *copied = bytes;
    return 2e3 * (double)bytes / ms[RUNS / 2];
}

static void time_rung(const Rung &rung, int is_double, const int *points, double copy, cudaStream_t stream,
                      cudaEvent_t start, cudaEvent_t stop)
{
    if (!wanted[is_double] || (rung_given && strcmp(rung_given, rung.name))) return;
    bs3d_problem problem = model_problem(rung.implicit, points);
    bs3d_result *result; /* pinned, so that its copy is asynchronous */
    void *work;
    int runs = runs_given ? runs_given : RUNS, model = 1;
    std::vector<double> ms((size_t)runs);
    check(cudaMallocHost((void **)&result, sizeof *result));
    check(cudaMalloc(&work, is_double ? bs3d_work_bytes_f64(&problem) : bs3d_work_bytes_f32(&problem)));
    for (int run = runs == 1 ? 0 : -1; run < runs; run++) { /* the first run warms up, unless it is the only one */
        check(cudaEventRecord(start, stream));
        int status = rung.launch[is_double](&problem, work, result, stream);
        check(cudaEventRecord(stop, stream));
        if (status) fprintf(stderr, "%s: %s\n", rung.name, bs3d_status_string(status)), exit(1);
        double time = elapsed(start, stop);
        if (run >= 0)
            ms[(size_t)run] = time;
        else if (!runs_given && time > 1000)
            runs = LONG_RUNS;
    }
    for (int axis = 0; axis < 3; axis++) model = model && points[axis] == POINTS;
    row(rung.name, is_double, rung.implicit, &problem, runs, ms.data(), copy, result,
        model ? bound(rung.implicit, is_double) : 0);
    check(cudaFree(work));
    check(cudaFreeHost(result));
}

static void on_gpu(void)
{
    static const int large_points[3] = {LARGE, LARGE, LARGE};
    char machine[400] = "";
    cudaDeviceProp device;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    size_t copied;
    check(cudaGetDeviceProperties(&device, 0));
#ifdef __CUDACC__
    int driver;
    check(cudaDriverGetVersion(&driver));
    snprintf(machine, sizeof machine, "%s, CUDA driver %d.%d, nvcc %d.%d.%d", device.name, driver / 1000,
             driver % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
#endif
    check(cudaStreamCreate(&stream));
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    double copy = copy_speed(stream, start, stop, &copied);
    heading(machine, copy, copied);
    for (int is_double = 0; is_double < 2; is_double++)
        for (const Rung &rung : ladder) time_rung(rung, is_double, size, copy, stream, start, stop);
    for (int is_double = 0; is_double < 2 && large; is_double++)
        for (const Rung &rung : ladder)
            if (rung.large) time_rung(rung, is_double, large_points, copy, stream, start, stop);
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    check(cudaStreamDestroy(stream));
}

/* ---- on the host ------------------------------------------------------------------------------------------------- */

static void time_host(const char *name, int implicit, int is_double, Bytes *bytes, March *march)
{
    if (!wanted[is_double] || (rung_given && strncmp(rung_given, name + strlen("host_"), 8))) return;
    bs3d_problem problem = model_problem(implicit, size);
    bs3d_result result;
    double ms[HOST_RUNS];
    int model = 1;
    size_t most = bytes(&problem);
    void *work = most ? malloc(most) : NULL;
    if (most && !work) fprintf(stderr, "%s: not enough memory\n", name), exit(1);
    for (int axis = 0; axis < 3; axis++) model = model && size[axis] == HOST_POINTS;
    if (model && !steps_given) /* a coarse grid allows longer steps */
        problem.steps = implicit ? 20 : (int)ceil(STEPS * pow((HOST_POINTS - 1.0) / (POINTS - 1), 2));
    for (int run = 0; run < HOST_RUNS; run++) {
        clock_t start = clock();
        int status = march(&problem, work, &result);
        if (status) fprintf(stderr, "%s: %s\n", name, bs3d_status_string(status)), exit(1);
        ms[run] = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    /* The spacing is 255/63 of the model problem's, so the error is 16 times as large. */
    row(name, is_double, implicit, &problem, HOST_RUNS, ms, 0, &result, model ? 16 * bound(implicit, is_double) : 0);
    free(work);
}

static void on_host(void)
{
    char machine[400] = "no GPU, so the host reference on one core", line[200];
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(machine, sizeof machine, "no GPU, so the host reference on one core:%s", colon + 1);
        break;
    }
    if (info) fclose(info);
    large = 0;
    heading(machine, 0, 0);
    time_host("host_explicit", 0, 0, bs3d_host_bytes_f32, bs3d_host_explicit_f32);
    time_host("host_implicit", 1, 0, bs3d_host_bytes_f32, bs3d_host_implicit_f32);
    time_host("host_explicit", 0, 1, bs3d_host_bytes_f64, bs3d_host_explicit_f64);
    time_host("host_implicit", 1, 1, bs3d_host_bytes_f64, bs3d_host_implicit_f64);
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* Reports an argument that was not understood; null: one that is missing. Returns the exit status. */
static int usage(const char *argument)
{
    fprintf(stderr, "bs3d_timing: %s%s\n", argument ? "not understood: " : "something is missing at the end",
            argument ? argument : "");
    fprintf(stderr, "usage: bs3d_timing [f32|f64] [--size N [NY NZ]] [--large] [--rung NAME] [--steps N] [--runs N] "
                    "[--csv [FILE]]\n");
    return 2;
}

/* Returns the argument if it is a positive number, else 0. */
static int number(const char *argument)
{
    char *end = NULL;
    long n = argument ? strtol(argument, &end, 10) : 0;
    return end && !*end && n > 0 && n < 1000000 ? (int)n : 0;
}

int main(int argc, char **argv)
{
    const char *file = NULL;
    int devices = 0;
    for (int i = 1; i < argc; i++) { /* argv ends with a null pointer, which is not a number */
        if (!strcmp(argv[i], "f32") || !strcmp(argv[i], "f64")) {
            wanted[argv[i][1] == '3'] = 0;
        } else if (!strcmp(argv[i], "--size")) {
            size[0] = size[1] = size[2] = number(argv[i + 1]);
            if (!size[0]) return usage(argv[i + 1]);
            i++;
            if (i + 2 < argc && number(argv[i + 1]) && number(argv[i + 2])) {
                size[1] = number(argv[++i]);
                size[2] = number(argv[++i]);
            }
        } else if (!strcmp(argv[i], "--large")) {
            large = 1;
        } else if (!strcmp(argv[i], "--rung")) {
            for (const Rung &rung : ladder)
                if (i + 1 < argc && !strcmp(argv[i + 1], rung.name)) rung_given = rung.name;
            if (!rung_given) return usage(argv[i + 1]);
            i++;
        } else if (!strcmp(argv[i], "--steps")) {
            if (!(steps_given = number(argv[++i]))) return usage(argv[i]);
        } else if (!strcmp(argv[i], "--runs")) {
            if (!(runs_given = number(argv[++i]))) return usage(argv[i]);
        } else if (!strcmp(argv[i], "--csv")) {
            if (i + 1 < argc && strncmp(argv[i + 1], "--", 2) && strcmp(argv[i + 1], "f32") &&
                strcmp(argv[i + 1], "f64"))
                file = argv[++i];
            else
                csv = stdout, table = 0;
        } else {
            return usage(argv[i]);
        }
    }
    if (!wanted[0] && !wanted[1]) wanted[0] = wanted[1] = 1;
    if (file && !(csv = fopen(file, "w"))) {
        perror(file);
        return 2;
    }
#ifndef SIMT_EMULATOR /* the emulator's times are not worth printing */
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
#endif
    for (int axis = 0; axis < 3; axis++)
        if (!size[axis]) size[axis] = devices ? POINTS : HOST_POINTS;
    if (devices)
        on_gpu();
    else
        on_host();
    if (table && disturbed)
        printf("Warning: %d row%s marked \"!\": runs differ by more than a tenth, so something else was running.\n",
               disturbed, disturbed == 1 ? "" : "s");
    if (file && fclose(csv)) {
        perror(file);
        return 1;
    }
    return bad ? 1 : 0;
}
