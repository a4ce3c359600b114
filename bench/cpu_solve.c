/* cpu_solve.c - batched tridiagonal solves on a grid against the copy of an array, in each direction.
   MIT licence, see LICENSE.

       cpu_solve [nx ny nz [runs]]        256 256 256 7

   A solve reads a, b, c, d and writes x, once each at best; its speed is that of these five arrays, set against a copy
   with non-temporal stores and as many threads. All kernels of a precision take turns in each run; medians are shown.
   The isa c is the Thomas algorithm of a textbook, one line after another. */
#include "cpu_avx.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown"
#endif

enum { MAX_RUNS = 99, TEXTBOOK = CPU_AVX_ISAS, KERNELS = 3 * (CPU_AVX_ISAS + 1) };

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void *memory(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

/* bytes a multiple of 64 */
#define COPY(set)                                                                                                      \
    CPU_AVX_TARGET_##set static void copy_##set(char *to, const char *from, size_t bytes)                              \
    {                                                                                                                  \
        for (size_t i = 0; i < bytes; i += cpu_avx_lanes_##set##_f32 * sizeof(float))                                  \
            cpu_avx_stream_##set##_f32((float *)(void *)(to + i),                                                      \
                                       cpu_avx_load_##set##_f32((const float *)(const void *)(from + i)));             \
        cpu_avx_fence();                                                                                               \
    }
COPY(plain)
#if CPU_AVX_X86
COPY(avx)
COPY(avx512)
#endif

static void copy(void *to, const void *from, size_t bytes, int threads)
{
    size_t part = bytes / (size_t)threads / 64 * 64;
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))
    for (int i = 0; i < threads; i++) {
        size_t first = (size_t)i * part, length = i + 1 < threads ? part : (bytes - first) / 64 * 64;
        char *t = (char *)to + first;
        const char *f = (const char *)from + first;
#if CPU_AVX_X86
        if (cpu_avx_has(CPU_AVX_AVX512))
            copy_avx512(t, f, length);
        else if (cpu_avx_has(CPU_AVX_AVX))
            copy_avx(t, f, length);
        else
#endif
            copy_plain(t, f, length);
    }
}

typedef struct {
    long long size[3];
    int runs, threads;
} job;

#define BENCH(REAL, PRECISION)                                                                                         \
    static void textbook_##PRECISION(const cpu_avx_lines *l, const REAL *a, const REAL *b, const REAL *c,              \
                                     const REAL *d, REAL *x, REAL *work, int threads)                                  \
    {                                                                                                                  \
        CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))                                       \
        for (int t = 0; t < threads; t++) {                                                                            \
            REAL *q = work + t * l->n;                                                                                 \
            long long all = l->systems * l->groups;                                                                    \
            for (long long s = all * t / threads; s < all * (t + 1) / threads; s++) {                                  \
                long long at = s % l->systems * l->stride + s / l->systems * l->jump, step = l->step;                  \
                REAL y = d[at] / b[at];                                                                                \
                q[0] = c[at] / b[at];                                                                                  \
                x[at] = y;                                                                                             \
                for (long long j = 1; j < l->n; j++) {                                                                 \
                    long long k = at + j * step;                                                                       \
                    REAL r = 1 / (b[k] - a[k] * q[j - 1]);                                                             \
                    q[j] = c[k] * r;                                                                                   \
                    x[k] = y = (d[k] - a[k] * y) * r;                                                                  \
                }                                                                                                      \
                for (long long j = l->n - 2; j >= 0; j--) {                                                            \
                    long long k = at + j * step;                                                                       \
                    x[k] = y = x[k] - q[j] * y;                                                                        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void bench_##PRECISION(const job *j)                                                                        \
    {                                                                                                                  \
        long long nx = j->size[0], ny = j->size[1], nz = j->size[2], longest = nx > ny ? nx : ny;                      \
        const cpu_avx_lines lines[3] = {                                                                               \
            {nx, 1, ny * nz, nx, 1, 0}, {ny, nx, nx, 1, nz, nx * ny}, {nz, nx * ny, nx * ny, 1, 1, 0}};                \
        if (nz > longest) longest = nz;                                                                                \
        size_t count = (size_t)(nx * ny * nz), bytes = count * sizeof(REAL);                                           \
        REAL *array[5];                                                                                                \
        for (int i = 0; i < 5; i++) array[i] = (REAL *)memory(bytes);                                                  \
        for (size_t k = 0; k < count; k++) {                                                                           \
            array[0][k] = array[2][k] = (REAL)(0.25 + (double)(k % 13) / 16);                                          \
            array[1][k] = (REAL)(2.5 + (double)(k % 7) / 8);                                                           \
            array[3][k] = (REAL)(1 + k % 11);                                                                          \
            array[4][k] = 0;                                                                                           \
        }                                                                                                              \
        void *work = memory(cpu_avx_thomas_bytes_##PRECISION(longest, j->threads) +                                    \
                            (size_t)(longest * j->threads) * sizeof(REAL));                                            \
        static double time[KERNELS + 1][MAX_RUNS];                                                                     \
        for (int run = -1; run < j->runs; run++) { /* the first warms up */                                            \
            for (int k = 0; k <= KERNELS; k++) {                                                                       \
                int isa = k / 3, status = 0;                                                                           \
                if (k < KERNELS && isa != TEXTBOOK && !cpu_avx_has(isa)) continue;                                     \
                double start = seconds();                                                                              \
                if (k == KERNELS)                                                                                      \
                    copy(array[4], array[3], bytes, j->threads);                                                       \
                else if (isa == TEXTBOOK)                                                                              \
                    textbook_##PRECISION(&lines[k % 3], array[0], array[1], array[2], array[3], array[4],              \
                                         (REAL *)work, j->threads);                                                    \
                else                                                                                                   \
                    status = cpu_avx_thomas_##PRECISION(isa, &lines[k % 3], array[0], array[1], array[2], array[3],    \
                                                        array[4], work, j->threads);                                   \
                if (run >= 0) time[k][run] = seconds() - start;                                                        \
                if (status) fprintf(stderr, "%s\n", cpu_avx_status_string(status)), exit(EXIT_FAILURE);                \
            }                                                                                                          \
        }                                                                                                              \
        double copy_speed = 2 * (double)bytes / median(time[KERNELS], j->runs);                                        \
        for (int k = 0; k < KERNELS; k++) {                                                                            \
            if (k / 3 != TEXTBOOK && !cpu_avx_has(k / 3)) continue;                                                    \
            double s = median(time[k], j->runs), speed = 5 * (double)bytes / s;                                        \
            printf("%c,%s,%s,%d,%.3f,%.2f,%.1f\n", "xyz"[k % 3], #PRECISION,                                           \
                   k / 3 == TEXTBOOK ? "c" : cpu_avx_name(k / 3), j->threads, 1e3 * s, 1e-9 * speed,                   \
                   100 * speed / copy_speed);                                                                          \
        }                                                                                                              \
        printf("copy,%s,%s,%d,%.3f,%.2f,100.0\n", #PRECISION, cpu_avx_name(cpu_avx_best()), j->threads,                \
               2e3 * (double)bytes / copy_speed, 1e-9 * copy_speed);                                                   \
        fflush(stdout);                                                                                                \
        free(work);                                                                                                    \
        for (int i = 0; i < 5; i++) free(array[i]);                                                                    \
    }
BENCH(float, f32)
BENCH(double, f64)

int main(int argc, char **argv)
{
    job j = {{256, 256, 256}, 7, 1};
    for (int i = 0; i < 3 && argc > 3; i++) j.size[i] = atoll(argv[1 + i]);
    if (argc > 4) j.runs = atoi(argv[4]);
    if (j.size[0] < 1 || j.size[1] < 1 || j.size[2] < 1 || j.runs < 1 || j.runs > MAX_RUNS) {
        fprintf(stderr, "usage: %s [nx ny nz [runs]], runs at most %d\n", argv[0], MAX_RUNS);
        return EXIT_FAILURE;
    }
    printf("# %lldx%lldx%lld, %s\n", j.size[0], j.size[1], j.size[2], BENCH_FLAGS);
    printf("direction,precision,isa,threads,ms_median,gbytes_per_s,pct_of_copy\n");
    for (j.threads = 1; j.threads <= 2; j.threads++) {
#ifndef _OPENMP
        if (j.threads > 1) break;
#endif
        bench_f32(&j);
        bench_f64(&j);
    }
    return 0;
}
