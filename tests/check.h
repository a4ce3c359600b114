/* check.h - the one way in which tests count and report.
   MIT licence, see LICENSE.

       CHECK(n == 3, "n is %d", n);                  passes or fails, prints only failures
       check_near(got, want, 1e-6, "row %d", i);     !(|got - want| <= tol) fails, so NaN fails
       check_skip(1, "no GPU here");                 printed and counted, never silently passed
       if (check_short()) check_skip(1, "...");      in the short run (SHORT_TESTS): says what the sample leaves out
       return check_report();                        "N passed, N failed, N skipped"; 0 if none failed

       CHECK_COUNTED;                                in the emulator, adds 1 to check_counted: for work of which only
                                                     the time tells whether it was needed

   C11, C++17 and CUDA. One translation unit a test program: the counters are static. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static long check_passed, check_failed, check_skipped;

/* The first failures are worth reading; thousands of the same hide them. */
#define CHECK_MAX_PRINTED 20

#if defined __GNUC__
#define CHECK_PRINTF(f, a) __attribute__((format(printf, f, a), unused))
#define CHECK_UNUSED __attribute__((unused))
#else
#define CHECK_PRINTF(f, a)
#define CHECK_UNUSED
#endif

#ifdef SIMT_EMULATOR
CHECK_UNUSED static long check_counted;
#define CHECK_COUNTED check_counted++
#else
#define CHECK_COUNTED (void)0
#endif

CHECK_PRINTF(4, 5)
static int check_that(int ok, const char *file, int line, const char *format, ...)
{
    if (ok) {
        check_passed++;
    } else if (check_failed++ < CHECK_MAX_PRINTED) {
        va_list args;
        va_start(args, format);
        fprintf(stderr, "%s:%d: failed: ", file, line);
        vfprintf(stderr, format, args);
        fprintf(stderr, "\n");
        va_end(args);
    }
    return ok;
}

CHECK_PRINTF(6, 7)
static int check_near_at(double got, double want, double tolerance, const char *file, int line, const char *format, ...)
{
    double error = fabs(got - want);
    int ok = error <= tolerance;
    if (ok) {
        check_passed++;
    } else if (check_failed++ < CHECK_MAX_PRINTED) {
        va_list args;
        va_start(args, format);
        fprintf(stderr, "%s:%d: failed: ", file, line);
        vfprintf(stderr, format, args);
        fprintf(stderr, ": got %.17g, want %.17g, error %.3g > %.3g\n", got, want, error, tolerance);
        va_end(args);
    }
    return ok;
}

#define CHECK(ok, ...) check_that((ok) ? 1 : 0, __FILE__, __LINE__, __VA_ARGS__)
#define check_near(got, want, tolerance, ...) check_near_at(got, want, tolerance, __FILE__, __LINE__, __VA_ARGS__)

CHECK_PRINTF(2, 3)
static void check_skip(long count, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("skipped: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    check_skipped += count;
}

/* Returns whether "make test", or a tool that makes programs slow, asks for a sample of what takes long. */
CHECK_UNUSED static int check_short(void)
{
    return getenv("SHORT_TESTS") != NULL;
}

CHECK_UNUSED static int check_report(void)
{
    printf("%ld passed, %ld failed, %ld skipped\n", check_passed, check_failed, check_skipped);
    return check_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
