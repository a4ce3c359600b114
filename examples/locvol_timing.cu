/* locvol_timing.cu - times pde/adi2d.h on a benchmark of two-factor solvers, local volatility calibration.
   MIT licence, see LICENSE.

       locvol_timing [--quick] [--csv [FILE]]

   examples/locvol_plain.h describes the equation, its discretisation and the three data sets. The rows are:
       naive, coalesced, onchip    the versions on the GPU, with all arguments in its memory, from the payoff to the
                                   last step; medians of RUNS runs after a warm-up
       .._call                     the same from host memory to host memory, without allocations
       host                        pde/adi2d.h on the CPU, with all threads of OpenMP; medians of HOST_RUNS runs, or of
                                   fewer if these take more than MOST_SECONDS
       plain                       the plain program with the same threads; one run of up to PLAIN_PROBLEMS problems.
                                   Its time is scaled to the whole set, since all problems take equally long
   GFlop/s count LOCVOL_OPERATIONS for each point and step, whatever a version actually does. An error is the largest
   difference from the host's values in double precision, over the problems that were run. The program fails if an error
   is above 5e-6 (single) or 1e-11 (double precision).
   --csv prints CSV; --csv FILE prints a table and writes CSV to FILE. --quick takes small sets, for a test. Without a
   GPU, or with a compiler without CUDA, there are only the rows `host` and `plain`:
       gcc -std=c11 -O3 -march=native -fopenmp -I.. -x c locvol_timing.cu -lm */
#include "locvol_problems.h"
#include "cuda_check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

#if defined __CUDACC__ || defined SIMT_EMULATOR
#define ON_DEVICE 1
#else
#define ON_DEVICE 0
#endif
#ifdef SIMT_EMULATOR /* the emulator's times are not worth measuring */
#define ON_EMULATOR 1
#else
#define ON_EMULATOR 0
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- output ------------------------------------------------------------------------------------------------------ */

enum { RUNS = 9, HOST_RUNS = 3, MOST_SECONDS = 10, PLAIN_PROBLEMS = 32 };

static FILE *csv;          /* the file for CSV, or null */
static int table = 1, bad; /* whether the rows are printed as a table; how many are inaccurate */

static void heading(const char *machine)
{
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    FILE *const to[2] = {table ? stdout : NULL, csv};
    for (int i = 0; i < 2; i++)
        if (to[i]) fprintf(to[i], "# %s, %s, %s\n", machine, BENCH_FLAGS, date);
    if (csv)
        fprintf(csv, "version,precision,dataset,outer,numx,numy,numt,ms_median,ms_min,gflops,"
                     "max_abs_error_vs_host_double\n");
    if (table)
        printf("version         prec  dataset  problems        grid steps  median ms   least ms  GFlop/s    error\n");
    fflush(stdout);
}

static int ascending(const void *p, const void *q)
{
    return (*(const double *)p > *(const double *)q) - (*(const double *)p < *(const double *)q);
}

/* Writes a row; ms holds the milliseconds of each run. */
static void row(const char *version, int is_double, const locvol_set *set, int runs, double *ms, double error)
{
    qsort(ms, (size_t)runs, sizeof *ms, ascending);
    double median = ms[runs / 2], points = (double)set->outer * set->numx * set->numy * (set->numt - 1);
    double gflops = 1e-6 * LOCVOL_OPERATIONS * points / median;
    const char *precision = is_double ? "f64" : "f32";
    if (csv)
        fprintf(csv, "%s,%s,%s,%d,%d,%d,%d,%.5g,%.5g,%.4g,%.2e\n", version, precision, set->name, set->outer, set->numx,
                set->numy, set->numt, median, ms[0], gflops, error);
    if (table)
        printf("%-15s  %s  %-7s  %8d  %4d x %4d  %4d  %9.3f  %9.3f  %7.1f  %.1e\n", version, precision, set->name,
               set->outer, set->numx, set->numy, set->numt - 1, median, ms[0], gflops, error);
    fflush(stdout);
    if (csv) fflush(csv);
    if (!(error <= (is_double ? 1e-11 : 5e-6))) {
        fprintf(stderr, "%s %s %s: off by %.3g\n", version, precision, set->name, error);
        bad++;
    }
}

/* Returns the largest difference; NaN if one is NaN. */
static double worst(int count, const fd_values *values, const fd_values *exact)
{
    double most = 0;
    for (int k = 0; k < count; k++) {
        double off = fabs(values[k].value - exact[k].value);
        if (!(off <= most)) most = off;
    }
    return most;
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *allocate(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) fprintf(stderr, "out of memory\n"), exit(2);
    return p;
}

/* ---- on the host ------------------------------------------------------------------------------------------------- */

/* A data set, ready to march. */
typedef struct {
    const locvol_set *set;
    fd_batch batch;
    fd_problem *problem;
    locvol_parameters *parameters;
    double spot[2];   /* of all problems */
    fd_values *exact; /* the host's values in double precision */
} locvol_run;

static int workers(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* Times the host. The values in double precision become run->exact. */
static void time_host(const locvol_run *run, int is_double)
{
    fd_batch batch = run->batch;
    double ms[HOST_RUNS], from, spent = 0;
    int runs = 0;
    const size_t bytes =
        is_double ? locvol_host_bytes_f64(&batch, workers()) : locvol_host_bytes_f32(&batch, workers());
    void *work = allocate(bytes);
    if (is_double) batch.values = run->exact;
    for (int r = -1; r < HOST_RUNS && (runs == 0 || spent < MOST_SECONDS); r++) {
        from = seconds();
        int status = is_double ? locvol_host_f64(&batch, run->parameters, workers(), work, bytes)
                               : locvol_host_f32(&batch, run->parameters, workers(), work, bytes);
        spent += seconds() - from;
        if (r >= 0) ms[runs++] = 1e3 * (seconds() - from);
        for (int k = 0; k < batch.problems && !status; k++) status = batch.status[k].what;
        if (status) fprintf(stderr, "host: %s\n", adi2d_status_string(status)), exit(1);
    }
    free(work);
    row("host", is_double, run->set, runs, ms, worst(batch.problems, batch.values, run->exact));
}

/* Times some problems of the plain program, and scales the time to all. */
static void time_plain(const locvol_run *run, int is_double)
{
    locvol_set some = *run->set;
    float result_f32[PLAIN_PROBLEMS];
    double result[PLAIN_PROBLEMS], error = 0, ms[1], from = seconds();
    if (some.outer > PLAIN_PROBLEMS) some.outer = PLAIN_PROBLEMS;
    if (is_double ? locvol_plain_f64(&some, 1, result) : locvol_plain_f32(&some, 1, result_f32)) exit(2);
    ms[0] = 1e3 * (seconds() - from) * run->set->outer / some.outer;
    for (int k = 0; k < some.outer; k++) {
        double off = fabs((is_double ? result[k] : (double)result_f32[k]) - run->exact[k].value);
        if (!(off <= error)) error = off;
    }
    row("plain", is_double, run->set, 1, ms, error);
}

/* ---- on a GPU ---------------------------------------------------------------------------------------------------- */

#if ON_DEVICE
template <class type>
static type *device_array(size_t count)
{
    type *array;
    check(cudaMalloc((void **)&array, count * sizeof *array));
    return array;
}

typedef int Launch(const fd_batch *, const locvol_parameters *, void *, size_t, cudaStream_t);
typedef size_t Bytes(const fd_batch *);

static const struct Version {
    const char *name, *call; /* of its two rows */
    Launch *launch[2];       /* in single and in double precision */
    Bytes *bytes[2];
} versions[] = {
    {"naive",
     "naive_call",
     {locvol_naive_f32<>, locvol_naive_f64<>},
     {locvol_rung_bytes_f32<>, locvol_rung_bytes_f64<>}},
    {"coalesced",
     "coalesced_call",
     {locvol_coalesced_f32<>, locvol_coalesced_f64<>},
     {locvol_rung_bytes_f32<>, locvol_rung_bytes_f64<>}},
    {"onchip",
     "onchip_call",
     {locvol_onchip_f32<>, locvol_onchip_f64<>},
     {locvol_onchip_bytes_f32<>, locvol_onchip_bytes_f64<>}},
};

static void time_version(const Version &version, int is_double, const locvol_run *run)
{
    const size_t n = (size_t)run->batch.problems;
    fd_batch batch = run->batch;
    fd_problem *to_copy = (fd_problem *)allocate(n * sizeof *to_copy), *problem = device_array<fd_problem>(n);
    locvol_parameters *parameters = device_array<locvol_parameters>(n);
    fd_values *values = (fd_values *)allocate(n * sizeof *values);
    fd_status *status = (fd_status *)allocate(n * sizeof *status);
    double *spot = device_array<double>(2);
    cudaStream_t stream;
    cudaEvent_t start, stop;
    check(cudaStreamCreate(&stream));
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    batch.values = device_array<fd_values>(n);
    batch.status = device_array<fd_status>(n);
    const size_t bytes = version.bytes[is_double](&batch);
    char *work = device_array<char>(bytes);
    check(cudaMemcpy(spot, run->spot, sizeof run->spot, cudaMemcpyHostToDevice));
    for (size_t k = 0; k < n; k++) to_copy[k] = run->problem[k], to_copy[k].spot = spot;
    batch.problem = problem;
    /* A GPU is slower for about 15 ms after a pause, so no run counts before 20 ms of warm-up. */
    double ms[2][RUNS], warm = 0;
    for (int r = -1; r < RUNS; r += warm >= 20 || ON_EMULATOR) {
        float took;
        double from = seconds();
        check(cudaMemcpyAsync(problem, to_copy, n * sizeof *problem, cudaMemcpyHostToDevice, stream));
        check(cudaMemcpyAsync(parameters, run->parameters, n * sizeof *parameters, cudaMemcpyHostToDevice, stream));
        check(cudaEventRecord(start, stream));
        const int refused = version.launch[is_double](&batch, parameters, work, bytes, stream);
        if (refused) fprintf(stderr, "%s: %s\n", version.name, adi2d_status_string(refused)), exit(1);
        check(cudaEventRecord(stop, stream));
        check(cudaMemcpyAsync(values, batch.values, n * sizeof *values, cudaMemcpyDeviceToHost, stream));
        check(cudaMemcpyAsync(status, batch.status, n * sizeof *status, cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        double call = 1e3 * (seconds() - from);
        check(cudaEventElapsedTime(&took, start, stop));
        warm += (double)took;
        if (r >= 0) ms[0][r] = (double)took, ms[1][r] = call;
    }
    for (size_t k = 0; k < n; k++)
        if (status[k].what) fprintf(stderr, "%s: %s\n", version.name, adi2d_status_string(status[k].what)), exit(1);
    double error = worst((int)n, values, run->exact);
    row(version.name, is_double, run->set, RUNS, ms[0], error);
    row(version.call, is_double, run->set, RUNS, ms[1], error);
    check(cudaFree(work));
    check(cudaFree(batch.status));
    check(cudaFree(batch.values));
    check(cudaFree(parameters));
    check(cudaFree(problem));
    check(cudaFree(spot));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    check(cudaStreamDestroy(stream));
    free(status);
    free(values);
    free(to_copy);
}
#endif

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Writes a description of this machine to name. *devices receives the number of GPUs. */
static void machine_name(char *name, size_t size, int *devices)
{
    char line[200];
    FILE *info = fopen("/proc/cpuinfo", "r");
    *devices = 0;
    snprintf(name, size, "no GPU, %d threads", workers());
#if ON_DEVICE
#ifdef SIMT_EMULATOR
    *devices = 1;
#else
    cudaDeviceProp device;
    int driver;
    if (cudaGetDeviceCount(devices) != cudaSuccess) *devices = 0;
    if (*devices) {
        check(cudaGetDeviceProperties(&device, 0));
        check(cudaDriverGetVersion(&driver));
        snprintf(name, size, "%s, CUDA driver %d.%d, nvcc %d.%d.%d; host: %d threads", device.name, driver / 1000,
                 driver % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, workers());
    }
#endif
#endif
    while (info && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name + strlen(name), size - strlen(name), " of%s", colon + 1);
        break;
    }
    if (info) fclose(info);
}

static void run_set(const locvol_set *set, int devices)
{
    locvol_run run;
    memset(&run, 0, sizeof run);
    run.set = set;
    run.problem = (fd_problem *)allocate((size_t)set->outer * sizeof *run.problem);
    run.parameters = (locvol_parameters *)allocate((size_t)set->outer * sizeof *run.parameters);
    run.exact = (fd_values *)allocate((size_t)set->outer * sizeof *run.exact);
    if (locvol_problems(set, run.problem, run.parameters, run.spot)) exit(2);
    run.batch.problems = set->outer, run.batch.steps = set->numt - 1;
    run.batch.points[0] = set->numx, run.batch.points[1] = set->numy;
    run.batch.problem = run.problem, run.batch.kind = ADI2D_PRODUCTS, run.batch.spots = 1;
    run.batch.status = (fd_status *)allocate((size_t)set->outer * sizeof *run.batch.status);
    run.batch.values = (fd_values *)allocate((size_t)set->outer * sizeof *run.batch.values);
    for (int is_double = 1; is_double >= 0; is_double--) {
        time_host(&run, is_double);
        time_plain(&run, is_double);
#if ON_DEVICE
        for (const Version &version : versions)
            if (devices) time_version(version, is_double, &run);
#else
        (void)devices;
#endif
    }
    free(run.batch.values);
    free(run.batch.status);
    free(run.exact);
    free(run.parameters);
    free(run.problem);
}

int main(int argc, char **argv)
{
    static const locvol_set quick_sets[2] = {{"quick", 3, 24, 20, 12}, {"odd", 2, 33, 37, 7}};
    int quick = ON_EMULATOR, devices, wrong = 0;
    char machine[600];
    const char *file = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            quick = 1;
        else if (!strcmp(argv[i], "--csv") && !csv)
            csv = stdout, table = 0;
        else if (csv == stdout && !file)
            file = argv[i], table = 1;
        else
            wrong = 1;
    }
    if (wrong) return fprintf(stderr, "usage: locvol_timing [--quick] [--csv [FILE]]\n"), 2;
    if (file && !(csv = fopen(file, "w"))) return perror(file), 2;
    machine_name(machine, sizeof machine, &devices);
    heading(machine);
    for (int k = 0; k < (quick ? 2 : 3); k++) run_set(quick ? &quick_sets[k] : &locvol_sets[k], devices);
    if (file && fclose(csv)) return perror(file), 1;
    return bad > 0;
}
