/* adi_cases.h - what the plain marches of fd1d_cases.h, adi2d_cases.h and adi3d_cases.h share: guarded memory, a
   dense solve, weights, and a step of the schemes from the formulas of the books.
   MIT licence, see LICENSE.

   These headers include it after they have defined case_parameters, CASE_AXES, CASE_MOST (the most points of an axis)
   and case_pde (the type of a problem). They define case_part and case_solve. */
#ifndef ADI_CASES_H
#define ADI_CASES_H

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { CASE_GUARD = 128, CASE_GUARD_BYTE = 0xa5, CASE_FILL = 0xff };

/* Allocates memory between guards, filled with bytes that are NaN in every type. */
CASE_FUNCTION void *case_guarded(size_t bytes)
{
    unsigned char *p = (unsigned char *)malloc(bytes + 2 * CASE_GUARD);
    if (!p) fprintf(stderr, "out of memory\n"), exit(2);
    memset(p, CASE_GUARD_BYTE, bytes + 2 * CASE_GUARD);
    memset(p + CASE_GUARD, CASE_FILL, bytes);
    return p + CASE_GUARD;
}

/* Frees such memory. Returns whether the guards are intact. */
CASE_FUNCTION int case_release(void *memory, size_t bytes)
{
    unsigned char *p = (unsigned char *)memory - CASE_GUARD;
    int whole = 1;
    for (size_t k = 0; k < CASE_GUARD; k++)
        whole &= p[k] == CASE_GUARD_BYTE && p[CASE_GUARD + bytes + k] == CASE_GUARD_BYTE;
    free(p);
    return whole;
}

/* The bytes that results hold before a call. They are numbers, so that a test sees whether NaN is written. */
enum { CASE_STALE = 0x3f };

CASE_FUNCTION void *case_stale(size_t bytes)
{
    void *memory = case_guarded(bytes);
    memset(memory, CASE_STALE, bytes);
    return memory;
}

/* Returns whether all of these results are still as case_stale left them. */
CASE_FUNCTION int case_still_stale(const void *memory, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        if (((const unsigned char *)memory)[k] != CASE_STALE) return 0;
    return 1;
}

/* Returns whether all of this memory is still as case_guarded left it. */
CASE_FUNCTION int case_untouched(const void *memory, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        if (((const unsigned char *)memory)[k] != CASE_FILL) return 0;
    return 1;
}

/* Changes the drift drift + pull (1/2 - share), share 0 .. 1, so that it does not point outward at faces where the
   diffusion vanishes. */
CASE_FUNCTION void case_turn_inward(double *drift, double *pull, const int *vanish)
{
    if (!vanish[0] && !vanish[1]) return;
    *pull = fabs(*pull);
    if (vanish[0] && *drift < -*pull / 2) *drift = -*pull / 2;
    if (vanish[1] && *drift > *pull / 2) *drift = *pull / 2;
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

typedef struct {
    const case_parameters *p;
    const case_pde *problem;
    int fitting, mixed, changes, n[CASE_AXES], stride[CASE_AXES], all;
    double x[CASE_AXES][CASE_MOST];
} case_grid;

/* Computes the weights of the first derivative at point k; 0 at faces whose value or slope is given. */
CASE_REFERENCE void case_first(const case_grid *g, int axis, int k, double *weight)
{
    const double *x = g->x[axis];
    int n = g->n[axis], kind;
    memset(weight, 0, sizeof(double) * CASE_MOST);
    if (k > 0 && k < n - 1) {
        double l = x[k] - x[k - 1], u = x[k + 1] - x[k];
        weight[k - 1] = -u / (l * (l + u)), weight[k] = (u - l) / (l * u), weight[k + 1] = l / (u * (l + u));
        return;
    }
    kind = g->problem->face[axis][k > 0];
    int in = k > 0 ? -1 : 1;
    double one = x[k + in] - x[k];
    if (kind == FD_LINEAR) weight[k] = -1 / one, weight[k + in] = 1 / one;
    if (kind == FD_DEGENERATE) {
        double two = x[k + 2 * in] - x[k];
        weight[k] = -1 / one - 1 / two;
        weight[k + in] = two / (one * (two - one)), weight[k + 2 * in] = -one / (two * (two - one));
    }
}

/* Solves by Gaussian elimination with partial pivoting. */
CASE_REFERENCE void case_solve_dense(int n, double a[CASE_MOST][CASE_MOST], double *b)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int m = k + 1; m < n; m++)
            if (fabs(a[m][k]) > fabs(a[best][k])) best = m;
        for (int q = 0; q < n; q++) {
            double kept = a[k][q];
            a[k][q] = a[best][q], a[best][q] = kept;
        }
        double kept = b[k];
        b[k] = b[best], b[best] = kept;
        for (int m = k + 1; m < n; m++) {
            double factor = a[m][k] / a[k][k];
            if (factor == 0) continue;
            for (int q = k; q < n; q++) a[m][q] -= factor * a[k][q];
            b[m] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int q = k + 1; q < n; q++) b[k] -= a[k][q] * b[q];
        b[k] /= a[k][k];
    }
}

/* Computes the weights with which the cubic through four points gives the value and the first and second derivative at
   `at`. Returns the first of the four points. */
CASE_REFERENCE int case_cubic(int n, const double *x, double at, double weight[3][4])
{
    int low = 0;
    while (low < n - 2 && x[low + 1] <= at) low++;
    int first = low < 1 ? 0 : low > n - 3 ? n - 4 : low - 1;
    for (int i = 0; i < 4; i++) {
        double c[4] = {1, 0, 0, 0}, scale = 1; /* the product of (x - x_k), as a polynomial of x - at */
        for (int k = 0, degree = 0; k < 4; k++) {
            if (k == i) continue;
            double root = x[first + k] - at;
            for (int m = ++degree; m >= 0; m--) c[m] = (m > 0 ? c[m - 1] : 0) - root * (m < degree ? c[m] : 0);
            scale *= x[first + i] - x[first + k];
        }
        weight[0][i] = c[0] / scale, weight[1][i] = c[1] / scale, weight[2][i] = 2 * c[2] / scale;
    }
    return first;
}

CASE_REFERENCE void case_part(const case_grid *g, int which, const double *v, double t, double given_at, double *f);
CASE_REFERENCE void case_solve(const case_grid *g, int axis, double size, double t, double end, const double *taken,
                               const double *w, double *y);

/* Takes a step from u; extra holds the multiplier of early exercise. */
CASE_REFERENCE void case_step(const case_grid *g, const fd_step *step, double *u, const double *extra)
{
    enum { PARTS = CASE_AXES + 1 };
    const int all = g->all, scheme = step->kind == FD_THETA ? g->problem->scheme : FD_DOUGLAS;
    const double dt = step->from - step->to, theta = step->theta, end = step->to;
    double then[2] = {step->from, step->to};
    if (g->problem->coefficients == FD_MIDDLE) then[0] = then[1] = (step->from + step->to) / 2;
    if (g->problem->coefficients == FD_NEW_END) then[0] = then[1] = end;
    double *memory = (double *)case_guarded(sizeof(double) * (size_t)all * (2 * PARTS + 3)), *f[PARTS], *z[PARTS];
    for (int k = 0; k < PARTS; k++) f[k] = memory + k * all, z[k] = memory + (PARTS + k) * all;
    double *base = memory + 2 * PARTS * all, *y = base + all, *second = y + all;
    for (int k = 0; k < PARTS; k++) case_part(g, k, u, then[0], step->from, f[k]);
    for (int at = 0; at < all; at++) {
        double sum = extra[at];
        for (int k = 0; k < PARTS; k++) sum += f[k][at];
        base[at] = y[at] = u[at] + dt * sum;
    }
    for (int axis = 0; axis < CASE_AXES; axis++) case_solve(g, axis, theta * dt, then[1], end, f[1 + axis], u, y);
    if (scheme != FD_DOUGLAS) {
        const double half = scheme == FD_CRAIG_SNEYD ? 0 : scheme == FD_HUNDSDORFER_VERWER ? 0.5 : 0.5 - theta;
        const double alone = scheme == FD_CRAIG_SNEYD ? 0.5 : scheme == FD_HUNDSDORFER_VERWER ? 0 : theta;
        for (int k = 0; k < PARTS; k++) case_part(g, k, y, then[1], end, z[k]);
        for (int at = 0; at < all; at++) {
            double all_parts = 0;
            for (int k = 0; k < PARTS; k++) all_parts += z[k][at] - f[k][at];
            second[at] = base[at] + dt * (alone * (z[0][at] - f[0][at]) + half * all_parts);
        }
        for (int axis = 0; axis < CASE_AXES; axis++)
            if (scheme == FD_HUNDSDORFER_VERWER)
                case_solve(g, axis, theta * dt, then[1], end, z[1 + axis], y, second);
            else
                case_solve(g, axis, theta * dt, then[1], end, f[1 + axis], u, second);
        memcpy(y, second, sizeof(double) * (size_t)all);
    }
    memcpy(u, y, sizeof(double) * (size_t)all);
    case_release(memory, sizeof(double) * (size_t)all * (2 * PARTS + 3));
}

#endif
