/* kit.c - what columns.f90 calls of trid.h and cpu_avx.h, whose own functions are static.
   MIT licence, see LICENSE. */
#include "cpu_avx.h"
#include "trid.h"

/* One system, by the calling thread; work has n elements. */
int kit_solve_one(int n, const double *a, const double *b, const double *c, const double *d, double *x, double *work)
{
    return trid_host_thomas_f64(n, a, b, c, d, x, work);
}

/* Systems along an axis (0, 1, 2) of arrays (nx, ny, nz), the first index fastest as Fortran has it. */
size_t kit_axis_bytes(int nx, int ny, int nz, int axis, int threads)
{
    const cpu_avx_lines lines = cpu_avx_lines_axis(nx, ny, nz, axis);
    return cpu_avx_thomas_bytes_f64(&lines, threads);
}

int kit_solve_axis(int nx, int ny, int nz, int axis, const double *a, const double *b, const double *c, const double *d,
                   double *x, void *work, int threads)
{
    const cpu_avx_lines lines = cpu_avx_lines_axis(nx, ny, nz, axis);
    return cpu_avx_thomas_f64(cpu_avx_best(), &lines, a, b, c, d, x, work, threads);
}
