/* bs4d_report.h - the command line and the output of bs4d.cu and bs4d_host.c, and the timing of bs4d.cu.
   MIT licence, see LICENSE. */
#ifndef BS4D_REPORT_H
#define BS4D_REPORT_H

#include "bs4d_problem.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BS4D_RUNS = 5 };

/* Returns the largest error allowed in the model problem's value. The first term is more than twice the measured error
   due to the spacings. The second allows for modes of a fine grid that a few long steps do not damp. */
static inline double bs4d_bound(const bs4d_problem *o)
{
    double squares = 0;
    for (int m = 0; m < BS4D_AXES; m++) squares += 1.0 / o->points[m] / o->points[m];
    return 4 * squares + 2.0 / o->steps;
}

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

/* What the command line says: [f32|f64] [--size N | --size NX NY NZ NW] [--steps N] [--csv FILE] */
typedef struct {
    int points[BS4D_AXES], steps, wanted[2];
    FILE *csv;
} bs4d_command;

static inline int bs4d_number(const char *word)
{
    char *end = NULL;
    long n = word ? strtol(word, &end, 10) : 0;
    return end && !*end && n > 0 && n < 1000000 ? (int)n : 0;
}

static inline void bs4d_read(int argc, char **argv, bs4d_command *c)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i]; /* argv ends with a null pointer, which is not a number */
        if (!strcmp(word, "f32") || !strcmp(word, "f64")) {
            c->wanted[word[1] == '3'] = 0;
        } else if (!strcmp(word, "--size") && bs4d_number(argv[i + 1])) {
            int four = i + 4 < argc && bs4d_number(argv[i + 2]) && bs4d_number(argv[i + 3]) && bs4d_number(argv[i + 4]);
            for (int m = 0; m < BS4D_AXES; m++) c->points[m] = bs4d_number(argv[i + 1 + (four ? m : 0)]);
            i += four ? 4 : 1;
        } else if (!strcmp(word, "--steps") && bs4d_number(argv[i + 1])) {
            c->steps = bs4d_number(argv[++i]);
        } else if (!strcmp(word, "--csv") && i + 1 < argc && !c->csv) {
            if (!(c->csv = fopen(argv[++i], "w"))) perror(argv[i]), exit(2);
        } else {
            fprintf(stderr, "%s: not understood: %s\n", argv[0], word);
            fprintf(stderr, "usage: %s [f32|f64] [--size N | --size NX NY NZ NW] [--steps N] [--csv FILE]\n", argv[0]);
            exit(2);
        }
    }
    if (!c->wanted[0] && !c->wanted[1]) c->wanted[0] = c->wanted[1] = 1;
    const bs4d_problem o = bs4d_problem_of(c->points, c->steps);
    if (bs4d_wrong(&o)) fprintf(stderr, "%s: %s\n", argv[0], bs4d_wrong(&o)), exit(2);
}

/* Writes the heading to the terminal and to the results file; copy: bytes read and written a second. */
static inline void bs4d_heading(FILE *csv, const char *machine, double copy)
{
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    FILE *const to[2] = {stdout, csv};
    for (int i = 0; i < 2 && to[i]; i++) {
        fprintf(to[i], "# %s, %s, %s\n# copy: %.1f GB/s read and written\n", machine, BENCH_FLAGS, date, 1e-9 * copy);
        fprintf(to[i], "kernel,precision,points,steps,ms_median,ms_min,ps_per_point_step,gbytes_per_s,pct_of_limit,"
                       "value_at_strike,abs_error\n");
    }
}

static int bs4d_ascending(const void *p, const void *q)
{
    return (*(const double *)p > *(const double *)q) - (*(const double *)p < *(const double *)q);
}

/* Writes a row. gbytes_per_s counts one array as read and written in each step; pct_of_limit is this rate as a
   percentage of the copy's. rest: the last two columns. */
static inline void bs4d_row(FILE *csv, const char *kernel, int size, const int *points, int axes, int steps, double *ms,
                            double copy, const char *rest)
{
    char grid[64] = "";
    double elements = 1;
    for (int m = 0; m < axes; m++) {
        elements *= points[m];
        snprintf(grid + strlen(grid), sizeof grid - strlen(grid), "%s%d", m ? "x" : "", points[m]);
    }
    qsort(ms, BS4D_RUNS, sizeof *ms, bs4d_ascending);
    const double median = ms[BS4D_RUNS / 2], speed = 2 * size * elements * steps / (1e-3 * median);
    FILE *const to[2] = {stdout, csv};
    for (int i = 0; i < 2 && to[i]; i++) {
        fprintf(to[i], "%s,f%d,%s,%d,%.6g,%.6g,%.4g,%.1f,%.1f,%s\n", kernel, 8 * size, grid, steps, median, ms[0],
                1e9 * median / (elements * steps), 1e-9 * speed, 100 * speed / copy, rest);
        fflush(to[i]);
    }
}

/* Writes the row of a march of the model problem. Returns 1 if its error is larger than is allowed on the grid. */
static inline int bs4d_row_of(FILE *csv, const char *kernel, int size, const bs4d_problem *o, double *ms, double copy,
                              double value)
{
    const double error = fabs(value - bs4d_closed_form(o)), most = bs4d_bound(o);
    char rest[64];
    snprintf(rest, sizeof rest, "%.17g,%.3e", value, error);
    bs4d_row(csv, kernel, size, o->points, BS4D_AXES, o->steps, ms, copy, rest);
    if (error <= most) return 0;
    return fprintf(stderr, "%s: off by %.3g, more than %.3g\n", kernel, error, most), 1;
}

#if TB_LAUNCHES
/* Times what `work` enqueues, BS4D_RUNS times, in milliseconds. What `reset` enqueues before each run is not timed. */
template <class Reset, class Work>
static void bs4d_time(double *ms, const Reset &reset, const Work &work)
{
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start)), check(cudaEventCreate(&stop));
    for (int run = -1; run < BS4D_RUNS; run++) { /* the first run warms up */
        float time;
        reset();
        check(cudaEventRecord(start, 0));
        work();
        check(cudaEventRecord(stop, 0));
        check(cudaEventSynchronize(stop));
        check(cudaEventElapsedTime(&time, start, stop));
        if (run >= 0) ms[run] = (double)time;
    }
    check(cudaEventDestroy(start)), check(cudaEventDestroy(stop));
}

/* Prints the heading for this device. Returns the bytes that a copy reads and writes in a second. */
static inline double bs4d_open(FILE *csv)
{
    double ms[BS4D_RUNS];
    size_t bytes = (size_t)1 << 32;
    char *from, machine[400];
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    snprintf(machine, sizeof machine, "%s", device.name);
#ifdef __CUDACC__
    int driver;
    check(cudaDriverGetVersion(&driver));
    snprintf(machine, sizeof machine, "%s, CUDA driver %d.%d, nvcc %d.%d.%d", device.name, driver / 1000,
             driver % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
#else
    bytes = 1 << 20;
#endif
    check(cudaMalloc((void **)&from, 2 * bytes));
    check(cudaMemset(from, 0, 2 * bytes));
    bs4d_time(
        ms, [] {}, [&] { check(cudaMemcpyAsync(from + bytes, from, bytes, cudaMemcpyDeviceToDevice, 0)); });
    check(cudaFree(from));
    qsort(ms, BS4D_RUNS, sizeof *ms, bs4d_ascending);
    const double copy = 2e3 * (double)bytes / ms[BS4D_RUNS / 2];
    bs4d_heading(csv, machine, copy);
    return copy;
}
#endif

#endif
