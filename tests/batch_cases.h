/* batch_cases.h - systems, layouts and answers for the tests of trid/batch.h.
   MIT licence, see LICENSE.

   The answers come from elimination with partial pivoting in long double, which differs from the code under test as
   much as an elimination can. */
#ifndef BATCH_CASES_H
#define BATCH_CASES_H

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <vector>

/* Solves a tridiagonal system by elimination with row exchanges, as LAPACK's gtsv does; a[0] and c[n-1] are not read.
   Returns 0, or 1 + the row of a pivot that is zero. x may be d. */
static inline int batch_answer(int n, const long double *a, const long double *b, const long double *c,
                               const long double *d, long double *x)
{
    std::vector<long double> p((size_t)n), q((size_t)n), s((size_t)n), y((size_t)n);
    /* The current row is r0 x[j] + r1 x[j+1] + r2 x[j+2] = rd; the next one has t0, t1, t2, td. */
    long double r0 = b[0], r1 = n > 1 ? c[0] : 0, r2 = 0, rd = d[0];
    for (int j = 0; j + 1 < n; j++) {
        size_t i = (size_t)j;
        long double t0 = a[j + 1], t1 = b[j + 1], t2 = j + 2 < n ? c[j + 1] : 0, td = d[j + 1];
        if (fabsl(t0) > fabsl(r0)) {
            long double u0 = r0, u1 = r1, u2 = r2, ud = rd;
            r0 = t0, r1 = t1, r2 = t2, rd = td;
            t0 = u0, t1 = u1, t2 = u2, td = ud;
        }
        if (r0 == 0) return 1 + j;
        p[i] = r0, q[i] = r1, s[i] = r2, y[i] = rd;
        long double f = t0 / r0;
        r0 = t1 - f * r1, r1 = t2 - f * r2, r2 = 0, rd = td - f * rd;
    }
    if (r0 == 0) return n;
    p[(size_t)n - 1] = r0, y[(size_t)n - 1] = rd;
    for (int j = n - 1; j >= 0; j--) {
        size_t i = (size_t)j;
        long double v = y[i];
        if (j + 1 < n) v -= q[i] * x[j + 1];
        if (j + 2 < n) v -= s[i] * x[j + 2];
        x[j] = v / p[i];
    }
    return 0;
}

/* Returns max |Ax - d| / max (|A||x| + |d|). */
static inline double batch_residual(int n, const long double *a, const long double *b, const long double *c,
                                    const long double *d, const long double *x)
{
    long double error = 0, size = 0;
    for (int j = 0; j < n; j++) {
        long double l = j > 0 ? a[j] * x[j - 1] : 0, m = b[j] * x[j], r = j < n - 1 ? c[j] * x[j + 1] : 0;
        long double e = fabsl(l + m + r - d[j]), z = fabsl(l) + fabsl(m) + fabsl(r) + fabsl(d[j]);
        if (!(e <= error)) error = e;
        if (!(z <= size)) size = z;
    }
    return (double)(size > 0 ? error / size : error);
}

#endif
