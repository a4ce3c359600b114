/* orders.h - what programs that measure on the host share: times and medians, the output of lines, and rows of errors
   under refinement.
   MIT licence, see LICENSE.

       int main(int argc, char **argv)
       {
           orders_open(argc, argv, "fd_orders");
           orders_line("part,what,option,size,error,error_of_twice,order\n");
           orders_row("price", "a call", "uniform", "150 x 50", error, error_of_twice, "");
           return orders_close();
       }

   Lines go to the terminal, and with --csv FILE to a file as well. */
#ifndef ORDERS_H
#define ORDERS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown"
#endif

/* Returns the seconds of the clock. */
static inline double orders_seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int orders_upwards(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median; sorts the values. */
static inline double orders_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, orders_upwards);
    return values[count / 2];
}

static FILE *orders_out[2];

static inline void orders_line(const char *text)
{
    for (int k = 0; k < 2; k++)
        if (orders_out[k]) fputs(text, orders_out[k]), fflush(orders_out[k]);
}

/* Prints a row: what was measured, for which option, the errors at a size and at twice that size, and their order;
   more: the commas of further columns, which stay empty. */
static inline void orders_row(const char *part, const char *what, const char *option, const char *size, double coarse,
                              double fine, const char *more)
{
    char text[256];
    snprintf(text, sizeof text, "%s,%s,%s,%s,%.1e,%.1e,%.2f%s\n", part, what, option, size, coarse, fine,
             log(coarse / fine) / log(2.0), more);
    orders_line(text);
}

/* Finds the name of the processor, with a comma and a blank behind it; an empty string if the system does not tell. */
static inline void orders_processor(char *name, size_t size)
{
    char line[200];
    FILE *info = fopen("/proc/cpuinfo", "r");
    name[0] = 0;
    while (info && !name[0] && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name, size, "%s, ", colon + 2);
    }
    if (info) fclose(info);
}

/* Reads the arguments, and prints what was measured, on what processor, by what compiler and when. */
static inline void orders_begin(int argc, char **argv, const char *name, const char *what)
{
    char head[512], processor[200], date[32];
    time_t now = time(NULL);
    orders_out[0] = stdout;
    if (argc == 3 && !strcmp(argv[1], "--csv")) {
        if (!(orders_out[1] = fopen(argv[2], "w"))) perror(argv[2]), exit(2);
    } else if (argc > 1) {
        fprintf(stderr, "usage: %s [--csv FILE]\n", name), exit(2);
    }
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    orders_processor(processor, sizeof processor);
    snprintf(head, sizeof head, "# %s; %s%s %s, %s\n", what, processor,
#ifdef __clang__
             "clang " __clang_version__,
#else
             "gcc " __VERSION__,
#endif
             BENCH_FLAGS, date);
    orders_line(head);
}
static inline void orders_open(int argc, char **argv, const char *name)
{
    orders_begin(argc, argv, name, "errors under refinement by two");
}

/* Closes the file. Returns the status that main should return. */
static inline int orders_close(void)
{
    if (orders_out[1] && fclose(orders_out[1])) return perror("--csv"), 2;
    return 0;
}

#endif
