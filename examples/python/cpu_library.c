/* cpu_library.c - the functions of cpu_avx.h that numpy_tridiagonal.py calls, as a shared library.
   MIT licence, see LICENSE.

   In the kit's folder:

       gcc -std=c11 -O3 -fopenmp -fPIC -shared -I. -o libtriband_cpu.so examples/python/cpu_library.c

   No flag names an instruction set: the library uses the best that the processor has. */
#include "cpu_avx.h"

size_t thomas_bytes_f32(const cpu_avx_lines *lines, int threads)
{
    return cpu_avx_thomas_bytes_f32(lines, threads);
}

size_t thomas_bytes_f64(const cpu_avx_lines *lines, int threads)
{
    return cpu_avx_thomas_bytes_f64(lines, threads);
}

int thomas_f32(const cpu_avx_lines *lines, const float *a, const float *b, const float *c, const float *d, float *x,
               void *work, int threads)
{
    return cpu_avx_thomas_f32(cpu_avx_best(), lines, a, b, c, d, x, work, threads);
}

int thomas_f64(const cpu_avx_lines *lines, const double *a, const double *b, const double *c, const double *d,
               double *x, void *work, int threads)
{
    return cpu_avx_thomas_f64(cpu_avx_best(), lines, a, b, c, d, x, work, threads);
}

int factor_f32(long long n, const float *a, const float *b, const float *c, float *f)
{
    return cpu_avx_factor_f32(n, a, b, c, f);
}

int factor_f64(long long n, const double *a, const double *b, const double *c, double *f)
{
    return cpu_avx_factor_f64(n, a, b, c, f);
}

size_t solve_bytes_f32(const cpu_avx_lines *lines, int threads)
{
    return cpu_avx_solve_bytes_f32(lines, threads);
}

size_t solve_bytes_f64(const cpu_avx_lines *lines, int threads)
{
    return cpu_avx_solve_bytes_f64(lines, threads);
}

int solve_f32(const cpu_avx_lines *lines, const float *f, const float *d, float *x, void *work, int threads)
{
    return cpu_avx_solve_f32(cpu_avx_best(), lines, f, d, x, work, threads);
}

int solve_f64(const cpu_avx_lines *lines, const double *f, const double *d, double *x, void *work, int threads)
{
    return cpu_avx_solve_f64(cpu_avx_best(), lines, f, d, x, work, threads);
}

const char *instruction_set(void)
{
    return cpu_avx_name(cpu_avx_best());
}
