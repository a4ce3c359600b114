/* locvol_plain.h - the benchmark problem of local volatility calibration as a plain C program.
   MIT licence, see LICENSE.

   locvol_timing.cu and bench/locvol_variants.cu take it as their baseline. It shares nothing with the kit.

   V_t + varX/2 V_xx + varY/2 V_yy = 0, varX = exp(2 (beta log x + y - nu^2 t / 2)), varY = nu^2, on a uniform grid with
   s0 and log alpha among its points. The final values are max(x - strike, 0), with strike 0.001 k in problem k. The
   scheme is Crank-Nicolson by alternating directions. With q = 1 / (t_g+1 - t_g) and varX at t_g, a step over
   [t_g, t_g+1] is
       v = varY/2 Dyy r,  w = q r + varX/4 Dxx r + v,  (q - varX/4 Dxx) w' = w,  (q - varY/4 Dyy) r = q w' - v/2.
   The second differences are 0 at the first and the last point. The result is r at s0 and log alpha.

   With OpenMP the problems are divided among threads, each with its own arrays. */

#ifndef LOCVOL_REAL /* first pass: the part that does not depend on the precision */
#ifndef LOCVOL_PLAIN_H
#define LOCVOL_PLAIN_H

#include <math.h>
#include <stdlib.h>

/* The numbers of problems, of points along x and y, and of times, which are one more than the steps. */
typedef struct {
    const char *name;
    int outer, numx, numy, numt;
} locvol_set;

/* Qualifiers of the functions, for programs that also compile them for a device. */
#ifndef LOCVOL_FUNCTION
#define LOCVOL_FUNCTION static inline
#endif

static const locvol_set locvol_sets[3] = {
    {"small", 16, 32, 256, 256}, {"medium", 128, 256, 32, 64}, {"large", 256, 256, 256, 64}};

static const double locvol_s0 = 0.03, locvol_t = 5, locvol_alpha = 0.2, locvol_nu = 0.6, locvol_beta = 0.5;

/* The operations that the benchmark assumes for a point and step. A division counts as one, an exponential as none. */
enum { LOCVOL_OPERATIONS = 44 };

/* Makes a uniform axis with `at` as point number `index`. */
static inline void locvol_axis(int points, double spacing, int index, double at, double *x)
{
    for (int i = 0; i < points; i++) x[i] = i * spacing - index * spacing + at;
}

/* Makes both axes and the times of a data set. *ix and *iy receive the indices of the result's point. */
static inline void locvol_grid(const locvol_set *set, double *x, double *y, double *time, int *ix, int *iy)
{
    double dx = 20 * locvol_alpha * locvol_s0 * sqrt(locvol_t) / set->numx;
    double dy = 10 * locvol_nu * sqrt(locvol_t) / set->numy;
    *ix = (int)floor(locvol_s0 / dx), *iy = set->numy / 2;
    locvol_axis(set->numx, dx, *ix, locvol_s0, x);
    locvol_axis(set->numy, dy, *iy, log(locvol_alpha), y);
    for (int g = 0; g < set->numt; g++) time[g] = locvol_t * g / (set->numt - 1);
}

#define LOCVOL_REAL float
#define LOCVOL_NAME(stem) stem##_f32
#define LOCVOL_EXP(x) expf(x)
#define LOCVOL_LOG(x) logf(x)
#include "locvol_plain.h"
#define LOCVOL_REAL double
#define LOCVOL_NAME(stem) stem##_f64
#define LOCVOL_EXP(x) exp(x)
#define LOCVOL_LOG(x) log(x)
#include "locvol_plain.h"

#endif /* LOCVOL_PLAIN_H */
#else  /* LOCVOL_REAL: the body, in one precision */

#define R LOCVOL_REAL
#define F(stem) LOCVOL_NAME(stem)

/* Computes the weights of the second difference: for each point, those of the values below, at and above it. */
static inline void F(locvol_second)(int points, const double *x, R *weight)
{
    for (int i = 0; i < points; i++) {
        int inside = i > 0 && i < points - 1;
        double l = inside ? x[i] - x[i - 1] : 1, u = inside ? x[i + 1] - x[i] : 1;
        weight[3 * i] = (R)(inside ? 2 / (l * (l + u)) : 0);
        weight[3 * i + 1] = (R)(inside ? -2 * (1 / l + 1 / u) / (l + u) : 0);
        weight[3 * i + 2] = (R)(inside ? 2 / (u * (l + u)) : 0);
    }
}

/* Solves by the Thomas algorithm: d becomes the solution; pivot is n elements of scratch. */
LOCVOL_FUNCTION void F(locvol_tridag)(int n, const R *a, const R *b, const R *c, R *d, R *pivot)
{
    pivot[0] = b[0];
    for (int i = 1; i < n; i++) {
        R m = a[i] / pivot[i - 1];
        pivot[i] = b[i] - m * c[i - 1];
        d[i] = d[i] - m * d[i - 1];
    }
    d[n - 1] = d[n - 1] / pivot[n - 1];
    for (int i = n - 2; i >= 0; i--) d[i] = (d[i] - c[i] * d[i + 1]) / pivot[i];
}

/* Solves one problem. work: 4 numx numy + 5 max(numx, numy) elements. */
LOCVOL_FUNCTION R F(locvol_value)(const locvol_set *set, R strike, const R *x, const R *y, const R *time, const R *dxx,
                                  const R *dyy, int ix, int iy, R *work)
{
    int numx = set->numx, numy = set->numy, most = numx > numy ? numx : numy;
    size_t points = (size_t)numx * (size_t)numy;
    R *r = work, *v = r + points, *w = v + points, *var_x = w + points; /* r, v, var_x by (i, j), w by (j, i) */
    R *a = var_x + points, *b = a + most, *c = b + most, *d = c + most, *pivot = d + most;
    const R nu = (R)locvol_nu, beta = (R)locvol_beta, var_y = nu * nu, half = (R)0.5, quarter = (R)0.25;

    for (int i = 0; i < numx; i++)
        for (int j = 0; j < numy; j++) r[i * numy + j] = x[i] > strike ? x[i] - strike : 0;

    for (int g = set->numt - 2; g >= 0; g--) {
        R q = 1 / (time[g + 1] - time[g]);
        for (int i = 0; i < numx; i++) {
            R log_x = LOCVOL_LOG(x[i]);
            for (int j = 0; j < numy; j++)
                var_x[i * numy + j] = LOCVOL_EXP(2 * (beta * log_x + y[j] - half * nu * nu * time[g]));
        }
        for (int i = 0; i < numx; i++)
            for (int j = 0; j < numy; j++) {
                const R *here = &r[i * numy + j];
                R sum = dyy[3 * j + 1] * here[0];
                if (j > 0) sum += dyy[3 * j] * here[-1];
                if (j < numy - 1) sum += dyy[3 * j + 2] * here[1];
                v[i * numy + j] = half * var_y * sum;
            }
        for (int j = 0; j < numy; j++)
            for (int i = 0; i < numx; i++) {
                const R *here = &r[i * numy + j];
                R sum = dxx[3 * i + 1] * here[0];
                if (i > 0) sum += dxx[3 * i] * here[-numy];
                if (i < numx - 1) sum += dxx[3 * i + 2] * here[numy];
                w[j * numx + i] = q * here[0] + quarter * var_x[i * numy + j] * sum + v[i * numy + j];
            }
        for (int j = 0; j < numy; j++) {
            for (int i = 0; i < numx; i++) {
                R size = quarter * var_x[i * numy + j];
                a[i] = -size * dxx[3 * i];
                b[i] = q - size * dxx[3 * i + 1];
                c[i] = -size * dxx[3 * i + 2];
            }
            F(locvol_tridag)(numx, a, b, c, &w[j * numx], pivot);
        }
        for (int i = 0; i < numx; i++) {
            for (int j = 0; j < numy; j++) {
                R size = quarter * var_y;
                a[j] = -size * dyy[3 * j];
                b[j] = q - size * dyy[3 * j + 1];
                c[j] = -size * dyy[3 * j + 2];
                r[i * numy + j] = q * w[j * numx + i] - half * v[i * numy + j];
            }
            F(locvol_tridag)(numy, a, b, c, &r[i * numy], pivot);
        }
    }
    return r[ix * numy + iy];
}

/* Solves all problems of a data set. `threads` says whether it may use several threads.
   Leaves   set->outer results
   Returns  0, or 1 if memory is short */
static inline int F(locvol_plain)(const locvol_set *set, int threads, R *result)
{
    int numx = set->numx, numy = set->numy, numt = set->numt, most = numx > numy ? numx : numy, ix, iy, failed = 0;
    size_t axes = (size_t)(numx + numy + numt);
    double *exact = (double *)malloc(axes * sizeof *exact);
    R *grid = (R *)malloc((axes + 3 * (size_t)(numx + numy)) * sizeof *grid);
    if (!exact || !grid) return free(exact), free(grid), 1;
    R *dxx = grid + axes, *dyy = dxx + 3 * numx;
    locvol_grid(set, exact, exact + numx, exact + numx + numy, &ix, &iy);
    for (size_t k = 0; k < axes; k++) grid[k] = (R)exact[k];
    F(locvol_second)(numx, exact, dxx);
    F(locvol_second)(numy, exact + numx, dyy);
#ifdef _OPENMP
#pragma omp parallel if (threads) reduction(| : failed)
#else
    (void)threads;
#endif
    {
        R *work = (R *)malloc((4 * (size_t)numx * (size_t)numy + 5 * (size_t)most) * sizeof *work);
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int k = 0; k < set->outer; k++) {
            if (work)
                result[k] =
                    F(locvol_value)(set, (R)(0.001 * k), grid, grid + numx, grid + numx + numy, dxx, dyy, ix, iy, work);
            else
                failed = 1;
        }
        free(work);
    }
    free(exact);
    free(grid);
    return failed;
}

#undef R
#undef F
#undef LOCVOL_REAL
#undef LOCVOL_NAME
#undef LOCVOL_EXP
#undef LOCVOL_LOG
#endif /* LOCVOL_REAL */
