/* pivoted_cases.h - matrices that need pivoting, and reference solvers for them, for the tests of the pivoted solvers.
   MIT licence, see LICENSE.

   The 20 matrices are those of table 1 in Klein and Strzodka, Tridiagonal GPU Solver with Scaled Partial Pivoting at
   Maximum Bandwidth (ICPP 2021), which extends those of Chang, Stratton, Kim and Hwu (SC 2012) and of Venetis, Kouris,
   Sobczyk, Gallopoulos and Sameh (Parallel Computing 49, 2015); lesp, dorr, kms and randsvd are Higham's test matrices.
   The unknowns are normally distributed about 3, as in the first of these papers.
   C11, C++17 and CUDA, gcc and clang (the reference in 113 bits needs __float128; under nvcc it has 64). */
#ifndef PIVOTED_CASES_H
#define PIVOTED_CASES_H

#include "trid_cases.h"

#ifdef __CUDACC__ /* nvcc does not take __float128 everywhere */
typedef long double case_wide;
#else
__extension__ typedef __float128 case_wide;
#endif

/* ---- the 20 matrices --------------------------------------------------------------------------------------------- */

static const char *const pivoted_name[20] = {
    "a and b and c random",
    "b = 1e8 and a and c random",
    "lesp",
    "as 1 with one a times 1e-50",
    "as 1 with half of a and c zero",
    "b = 64 and a and c random",
    "inverse of kms 0.5",
    "randsvd 1e15 with one small singular value",
    "randsvd 1e15 geometric",
    "randsvd 1e15 with one large singular value",
    "randsvd 1e15 arithmetic",
    "as 1 with a times 1e-50",
    "dorr 1e-4",
    "b = 1e-8 and a and c random",
    "b = 0 and a and c random",
    "b = 1e-8 and a = c = 1",
    "b = 1e8 and a = c = 1",
    "-1 4 -1",
    "-1 4 1",
    "-1 4 and c random",
};

CASE_FUNCTION double pivoted_normal(case_random *random)
{
    double u = case_between(random, 0, 1), v = case_between(random, 0, 1);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586477 * v);
}

/* Multiplies `count` rows (step 1, stride apart) or columns (stride 1, step from element to element), of `length`
   elements each, by I - 2 v v' / (v' v). */
CASE_REFERENCE void pivoted_reflect(double *to, size_t stride, size_t step, int count, int length, const double *v)
{
    double size = 0;
    for (int k = 0; k < length; k++) size += v[k] * v[k];
    if (size == 0) return;
    double *sums = (double *)case_memory((size_t)count * sizeof *sums);
    for (int i = 0; i < count; i++) sums[i] = 0;
    if (step == 1) {
        for (int i = 0; i < count; i++) {
            double *row = to + (size_t)i * stride, sum = 0;
            for (int k = 0; k < length; k++) sum += v[k] * row[k];
            sum *= 2 / size;
            for (int k = 0; k < length; k++) row[k] -= sum * v[k];
        }
    } else { /* the same for columns, in the order of memory */
        for (int k = 0; k < length; k++)
            for (int i = 0; i < count; i++) sums[i] += v[k] * to[(size_t)k * step + (size_t)i];
        for (int k = 0; k < length; k++)
            for (int i = 0; i < count; i++) to[(size_t)k * step + (size_t)i] -= 2 / size * v[k] * sums[i];
    }
    free(sums);
}

/* Computes the vector v whose reflection makes all of the `length` elements, step apart, 0 except the first. */
CASE_FUNCTION void pivoted_reflector(const double *from, size_t step, int length, double *v)
{
    double size = 0;
    for (int k = 0; k < length; k++) {
        v[k] = from[(size_t)k * step];
        size += v[k] * v[k];
    }
    v[0] += v[0] < 0 ? -sqrt(size) : sqrt(size);
}

/* Makes a random matrix with the singular values 1 .. 1/condition, distributed by mode, and brings it to tridiagonal
   form by reflections from both sides. */
CASE_FUNCTION void pivoted_randsvd(case_random *random, case_system s, double condition, int mode)
{
    int n = s.n;
    size_t rows = (size_t)n;
    double *m = (double *)case_memory(rows * rows * sizeof *m), *v = (double *)case_memory(rows * sizeof *v);
    for (size_t i = 0; i < rows * rows; i++) m[i] = 0;
    for (int i = 0; i < n; i++) {
        double at = n > 1 ? i / (n - 1.0) : 0;
        m[(size_t)i * (rows + 1)] = mode == 1   ? (i == 0 ? 1 : 1 / condition)
                                    : mode == 2 ? (i == n - 1 ? 1 / condition : 1)
                                    : mode == 3 ? pow(condition, -at)
                                                : 1 - at * (1 - 1 / condition);
    }
    for (int i = n - 2; i >= 0; i--) {               /* random orthogonal matrices, from the left and from the right */
        double *corner = m + (size_t)i * (rows + 1); /* above it and to its left the matrix is still diagonal */
        for (int k = i; k < n; k++) v[k - i] = pivoted_normal(random);
        pivoted_reflect(corner, 1, rows, n - i, n - i, v);
        for (int k = i; k < n; k++) v[k - i] = pivoted_normal(random);
        pivoted_reflect(corner, rows, 1, n - i, n - i, v);
    }
    for (int j = 0; j + 2 < n; j++) {
        double *column = m + (size_t)(j + 1) * rows + (size_t)j, *row = m + (size_t)j * rows + (size_t)(j + 1);
        pivoted_reflector(column, rows, n - j - 1, v);
        pivoted_reflect(column, 1, rows, n - j, n - j - 1, v);
        pivoted_reflector(row, 1, n - j - 1, v);
        pivoted_reflect(row, rows, 1, n - j, n - j - 1, v);
    }
    for (int j = 0; j < n; j++) {
        size_t at = (size_t)j * (rows + 1);
        s.a[j] = j > 0 ? m[at - 1] : 0;
        s.b[j] = m[at];
        s.c[j] = j < n - 1 ? m[at + 1] : 0;
    }
    free(v);
    free(m);
}

/* Computes the right-hand side for the unknowns x, and makes a[0] and c[n-1] NaN. */
CASE_FUNCTION void pivoted_right_hand_side(case_system s, const double *x)
{
    for (int j = 0; j < s.n; j++) {
        long double sum = (long double)s.b[j] * x[j];
        if (j > 0) sum += (long double)s.a[j] * x[j - 1];
        if (j + 1 < s.n) sum += (long double)s.c[j] * x[j + 1];
        s.d[j] = (double)sum;
    }
    case_close_corners(s);
}

/* Makes another right-hand side. */
CASE_FUNCTION void pivoted_renew(case_random *random, case_system s)
{
    double *x = (double *)case_memory((size_t)s.n * sizeof *x);
    for (int j = 0; j < s.n; j++) x[j] = 3 + pivoted_normal(random);
    pivoted_right_hand_side(s, x);
    free(x);
}

/* Makes matrix number 1 .. 20 with n rows (even), and a right-hand side: the same numbers for the same seed. */
CASE_REFERENCE case_system pivoted_matrix(int number, int n, unsigned long long seed)
{
    case_random random = {seed}, more = {seed + (unsigned long long)number};
    case_system s = case_new(n);
    for (int j = 0; j < n; j++) {
        double h = 1.0 / (n + 1), term = 1e-4 / (h * h), drift = (0.5 - (j + 1) * h) / h;
        int upper = j < (n + 1) / 2;
        s.a[j] = case_between(&random, -1, 1);
        s.b[j] = case_between(&random, -1, 1);
        s.c[j] = case_between(&random, -1, 1);
        switch (number) {
        case 2:
            s.b[j] = 1e8;
            break;
        case 3:
            s.a[j] = 1.0 / (j + 1), s.b[j] = -(2.0 * j + 5), s.c[j] = j + 2;
            break;
        case 4:
            s.a[j] *= j == n / 2 ? 1e-50 : 1;
            break;
        case 5:
            s.a[j] *= case_below(&more, 2), s.c[j] *= case_below(&more, 2);
            break;
        case 6:
            s.b[j] = 64;
            break;
        case 7:
            s.a[j] = s.c[j] = -2.0 / 3, s.b[j] = j == 0 || j == n - 1 ? 4.0 / 3 : 5.0 / 3;
            break;
        case 12:
            s.a[j] *= 1e-50;
            break;
        case 13:
            s.a[j] = upper ? -term : -term + drift;
            s.c[j] = upper ? -term - drift : -term;
            s.b[j] = -(s.a[j] + s.c[j]);
            break;
        case 14:
            s.b[j] = 1e-8;
            break;
        case 15:
            s.b[j] = 0;
            break;
        case 16:
            s.a[j] = s.c[j] = 1, s.b[j] = 1e-8;
            break;
        case 17:
            s.a[j] = s.c[j] = 1, s.b[j] = 1e8;
            break;
        case 18:
            s.a[j] = s.c[j] = -1, s.b[j] = 4;
            break;
        case 19:
            s.a[j] = -1, s.c[j] = 1, s.b[j] = 4;
            break;
        case 20:
            s.a[j] = -1, s.b[j] = 4;
            break;
        default:
            break;
        }
    }
    if (number >= 8 && number <= 11) {
        static const int mode[4] = {2, 3, 1, 4};
        pivoted_randsvd(&more, s, 1e15, mode[number - 8]);
    }
    pivoted_renew(&random, s);
    return s;
}

/* ---- references -------------------------------------------------------------------------------------------------- */

/* Solves by Gaussian elimination with exchanges of neighbouring rows, the method of LAPACK's gtsv, in the precision
   REAL. Leaves the solution in x; work has 3 n elements. Returns 0, or 1 + the row of a pivot that is zero. */
#define PIVOTED_GTSV(name, REAL)                                                                                       \
    CASE_REFERENCE int name(case_system s, REAL *x, REAL *work)                                                        \
    {                                                                                                                  \
        int n = s.n;                                                                                                   \
        REAL *diagonal = work, *next = work + n, *after = work + 2 * n;                                                \
        if (n == 0) return 0;                                                                                          \
        REAL b = (REAL)s.b[0], c = n > 1 ? (REAL)s.c[0] : 0, d = (REAL)s.d[0];                                         \
        for (int j = 0; j + 1 < n; j++) {                                                                              \
            REAL below_a = (REAL)s.a[j + 1], below_b = (REAL)s.b[j + 1], below_d = (REAL)s.d[j + 1];                   \
            REAL below_c = j + 2 < n ? (REAL)s.c[j + 1] : 0;                                                           \
            REAL size = b < 0 ? -b : b, below_size = below_a < 0 ? -below_a : below_a;                                 \
            if (size >= below_size) {                                                                                  \
                if (b == 0) return 1 + j;                                                                              \
                REAL m = below_a / b;                                                                                  \
                diagonal[j] = b, next[j] = c, after[j] = 0, x[j] = d;                                                  \
                b = below_b - m * c, c = below_c, d = below_d - m * d;                                                 \
            } else {                                                                                                   \
                REAL m = b / below_a;                                                                                  \
                diagonal[j] = below_a, next[j] = below_b, after[j] = below_c, x[j] = below_d;                          \
                b = c - m * below_b, c = -m * below_c, d = d - m * below_d;                                            \
            }                                                                                                          \
        }                                                                                                              \
        if (b == 0) return n;                                                                                          \
        x[n - 1] = d / b;                                                                                              \
        if (n > 1) x[n - 2] = (x[n - 2] - next[n - 2] * x[n - 1]) / diagonal[n - 2];                                   \
        for (int j = n - 3; j >= 0; j--) x[j] = (x[j] - next[j] * x[j + 1] - after[j] * x[j + 2]) / diagonal[j];       \
        return 0;                                                                                                      \
    }
PIVOTED_GTSV(pivoted_gtsv_f32, float)
PIVOTED_GTSV(pivoted_gtsv_f64, double)
PIVOTED_GTSV(pivoted_gtsv_wide, case_wide)

/* Returns |x - y| / |y| in the Euclidean norm; NaN if x contains one. */
CASE_REFERENCE double pivoted_error(int n, const double *x, const case_wide *y)
{
    case_wide error = 0, size = 0;
    for (int j = 0; j < n; j++) {
        error += (x[j] - y[j]) * (x[j] - y[j]);
        size += y[j] * y[j];
    }
    return sqrt((double)(size > 0 ? error / size : error));
}

#endif
