/* kit.c - functions that columns.f90 calls, because those of trid.h and cpu_avx.h are static.
   MIT licence, see LICENSE. */
#include "cpu_avx.h"
#include "trid.h"

/* Solves one system in the calling thread; work has n elements. */
int kit_solve_one(int n, const double *a, const double *b, const double *c, const double *d, double *x, double *work)
{
    return trid_host_thomas_f64(n, a, b, c, d, x, work);
}

/* Returns the bytes of work that kit_solve_axis needs. */
size_t kit_axis_bytes(int nx, int ny, int nz, int axis, int threads)
{
    const cpu_avx_lines lines = cpu_avx_lines_axis(nx, ny, nz, axis);
    return cpu_avx_thomas_bytes_f64(&lines, threads);
}

/* Solves the systems along an axis (0, 1, 2) of arrays (nx, ny, nz), with the first index fastest, as in Fortran. */
int kit_solve_axis(int nx, int ny, int nz, int axis, const double *a, const double *b, const double *c, const double *d,
                   double *x, void *work, int threads)
{
    const cpu_avx_lines lines = cpu_avx_lines_axis(nx, ny, nz, axis);
    return cpu_avx_thomas_f64(cpu_avx_best(), &lines, a, b, c, d, x, work, threads);
}

/* Solves the first `levels` rows of the systems in columns first + 1 .. first + width of arrays (columns, all levels),
   in place: x holds the right-hand sides and becomes the solution. Fortran forbids passing one array for both d and x
   of kit_solve_axis. Work for all columns and levels (kit_axis_bytes, axis 2) is enough if there are at most 8192
   levels. */
int kit_solve_band(int columns, int first, int width, int levels, const double *a, const double *b, const double *c,
                   double *x, void *work, int threads)
{
    const cpu_avx_lines lines = {levels, columns, width, 1, 1, 0};
    return cpu_avx_thomas_f64(cpu_avx_best(), &lines, a + first, b + first, c + first, x + first, x + first, work,
                              threads);
}
