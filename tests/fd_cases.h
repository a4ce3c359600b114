/* fd_cases.h - what the tests of pde/fd.h and bench/fd_orders.c share: errors measured under refinement, a plain
   program that runs any scheme of the table on a small split system, and a Heston call on the host.
   MIT licence, see LICENSE. */
#ifndef FD_CASES_H
#define FD_CASES_H

#include "../pde/fd.h"

#include "random.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

CASE_FUNCTION void *case_memory(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) fprintf(stderr, "out of memory\n"), exit(2);
    return p;
}

CASE_FUNCTION double *case_numbers(long long count)
{
    double *p = (double *)case_memory((size_t)count * sizeof *p);
    for (long long i = 0; i < count; i++) p[i] = 0;
    return p;
}

/* ---- closed formulas --------------------------------------------------------------------------------------------- */

CASE_FUNCTION double case_normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Computes a European call's price, delta and gamma. */
CASE_FUNCTION void case_call(double s, double k, double r, double sigma, double t, double *greek)
{
    double root = sigma * sqrt(t), d = (log(s / k) + (r + sigma * sigma / 2) * t) / root;
    greek[0] = s * case_normal(d) - k * exp(-r * t) * case_normal(d - root);
    greek[1] = case_normal(d);
    greek[2] = exp(-d * d / 2) / sqrt(8 * atan(1.0)) / (s * root);
}

/* ---- weights, faces, interpolation under refinement -------------------------------------------------------------- */

/* Makes an uneven, smooth grid: from 0 to 2, crowded around 0.7. */
CASE_FUNCTION void case_grid(int n, double *x)
{
    fd_axis axis = {0, 2, n, 1, {0.7, 0, 0}, {0.3, 0, 0}, {FD_ANYWHERE, 0, 0}};
    if (fd_axis_points(&axis, x)) fprintf(stderr, "case_grid\n"), exit(2);
}

enum {
    CASE_FIRST,
    CASE_SECOND,
    CASE_MIXED,
    CASE_VALUE_AT,
    CASE_SLOPE_AT,
    CASE_CURVATURE_AT,
    CASE_MIXED_AT,
    CASE_FORMULAS
};
static const char *const case_formula_name[CASE_FORMULAS] = {
    "first derivative", "second derivative",    "mixed derivative",           "value at a point",
    "slope at a point", "curvature at a point", "mixed derivative at a point"};
static const int case_formula_order[CASE_FORMULAS] = {2, 2, 2, 4, 3, 2, 3};

/* Returns the largest error of a formula on n points, for sin(3x), or sin(3x + 2y). */
CASE_FUNCTION double case_formula_error(int formula, int n)
{
    double *x = case_numbers(n), *u = case_numbers((long long)n * n), far_of[2], worst = 0;
    fd_cell_f64 *cell = (fd_cell_f64 *)case_memory((size_t)n * sizeof *cell);
    int face[2] = {FD_LINEAR, FD_LINEAR};
    case_grid(n, x);
    fd_cells_f64(n, x, face, cell, far_of);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) u[(long long)n * k + i] = sin(3 * x[i] + 2 * x[k]);
    for (int j = 1; j < n - 1; j++) {
        double got, want, a = 3 * x[j], nine[9];
        const double *v = u + j;
        if (formula == CASE_FIRST || formula == CASE_SECOND) {
            got = formula == CASE_FIRST ? fd_lane_first_f64(cell[j], v[-1], v[0], v[1])
                                        : fd_lane_second_f64(cell[j], v[-1], v[0], v[1]);
            want = formula == CASE_FIRST ? 3 * cos(a) : -9 * sin(a);
        } else if (formula == CASE_MIXED) {
            int i = n - 1 - j;
            for (int m = 0; m < 9; m++) nine[m] = u[(long long)n * (j - 1 + m / 3) + i - 1 + m % 3];
            got = fd_lane_mixed_f64(cell[i], cell[j], nine);
            want = -6 * sin(3 * x[i] + 2 * x[j]);
        } else {
            fd_weights along[2];
            double at[2] = {2.0 * j / n + 0.3 / n, 2 - 2.0 * j / n};
            for (int d = 0; d < 2; d++)
                if (fd_interpolate(n, x, at[d], &along[d])) return HUGE_VAL;
            const double *weight[2] = {along[0].value, along[1].value};
            long long stride[2] = {1, n};
            int dims = formula == CASE_MIXED_AT ? 2 : 1;
            if (formula == CASE_SLOPE_AT || dims == 2) weight[0] = along[0].slope;
            if (dims == 2) weight[1] = along[1].slope;
            if (formula == CASE_CURVATURE_AT) weight[0] = along[0].curvature;
            got = fd_lane_value_f64(dims, weight, u + along[0].first + (dims == 2 ? n * along[1].first : 0), stride);
            a = 3 * at[0];
            want = formula == CASE_VALUE_AT   ? sin(a)
                   : formula == CASE_SLOPE_AT ? 3 * cos(a)
                   : formula == CASE_MIXED_AT ? -6 * sin(a + 2 * at[1])
                                              : -9 * sin(a);
        }
        if (!(fabs(got - want) <= worst)) worst = fabs(got - want);
    }
    free(cell);
    free(u);
    free(x);
    return worst;
}

/* Computes u = sin(pi x) + x/3 + 1/5 and its first two derivatives; u'' = 0 at 0 and at 2. */
CASE_FUNCTION void case_curve(double x, double *u)
{
    double pi = 4 * atan(1.0);
    u[0] = sin(pi * x) + x / 3 + 0.2;
    u[1] = pi * cos(pi * x) + 1.0 / 3;
    u[2] = -pi * pi * sin(pi * x);
}

/* Returns the largest error of  u - A u = f  on 0 .. 2, whose solution is this curve: with a drift that points inward
   at both faces, kill 1/2, and two faces of the same kind. At faces that are FD_DEGENERATE the diffusion vanishes. */
CASE_FUNCTION double case_line_error(int n, int fitting, int kind, double drift, double diffusion)
{
    double *x = case_numbers(n), *work = case_numbers(6ll * n), far_of[2], worst = 0;
    double *a = work, *b = work + n, *c = work + 2 * n, *d = work + 3 * n, *u = work + 4 * n;
    fd_cell_f64 *cell = (fd_cell_f64 *)case_memory((size_t)n * sizeof *cell);
    int face[2] = {kind, kind};
    case_grid(n, x);
    fd_cells_f64(n, x, face, cell, far_of);
    for (int j = 0; j < n; j++) {
        int at_face = j == 0 || j == n - 1;
        double mu = drift * (1 - x[j]), dd = at_face && kind == FD_DEGENERATE ? 0 : diffusion, v[3];
        case_curve(x[j], v);
        fd_row_f64 row = fd_lane_row_f64(cell[j], fitting, mu, dd);
        fd_lane_matrix_f64(row, 1, 0.5, &a[j], &b[j], &c[j]);
        d[j] = 1.5 * v[0] - mu * v[1] - dd * v[2];
        if (at_face && kind == FD_SLOPE) d[j] += fd_lane_source_f64(cell[j], mu, dd, v[1]);
        if (at_face && kind == FD_VALUE) b[j] = 1, d[j] = v[0];
    }
    if (kind == FD_DEGENERATE) {
        d[0] -= fd_lane_face_three_f64(drift * far_of[0], &b[0], &c[0], a[1], b[1], c[1]) * d[1];
        d[n - 1] -=
            fd_lane_face_three_f64(-drift * far_of[1], &b[n - 1], &a[n - 1], c[n - 2], b[n - 2], a[n - 2]) * d[n - 2];
    }
    if (trid_host_thomas_f64(n, a, b, c, d, u, work + 5 * n)) worst = HUGE_VAL;
    for (int j = 0; j < n; j++) {
        double v[3];
        case_curve(x[j], v);
        if (!(fabs(u[j] - v[0]) <= worst)) worst = fabs(u[j] - v[0]);
    }
    free(cell);
    free(work);
    free(x);
    return worst;
}

/* ---- any scheme of the table on a small split system, without regard to speed ------------------------------------ */

/* u' = sum of M_j u + g_j(t), j = 0 .. dims: dense matrices of a diffusion with drifts and mixed terms on a small
   uneven grid, and sources that make  u_i = cos(1.3 t + phase_i)  the solution. */
typedef struct {
    int dims, n;  /* unknowns */
    double *m[5]; /* M_0 .. M_dims, and their sum */
    int *span[5]; /* row i is 0 before span[2 i] and from span[2 i + 1] on */
    double *phase;
} case_split;

CASE_REFERENCE void case_product(const case_split *s, int j, const double *u, double *v)
{
    for (int i = 0; i < s->n; i++) {
        double sum = 0;
        for (int k = s->span[j][2 * i]; k < s->span[j][2 * i + 1]; k++) sum += s->m[j][(long long)s->n * i + k] * u[k];
        v[i] = sum;
    }
}

CASE_FUNCTION case_split case_split_of(int dims, int side, int mixed)
{
    case_split s;
    int n = 1, stride[3] = {1, side, side * side}, face[2] = {FD_LINEAR, FD_LINEAR};
    double *x = case_numbers(side), far_of[2];
    fd_cell_f64 *cell = (fd_cell_f64 *)case_memory((size_t)side * sizeof *cell);
    for (int d = 0; d < dims; d++) n *= side;
    case_grid(side, x);
    fd_cells_f64(side, x, face, cell, far_of);
    s.dims = dims, s.n = n;
    s.phase = case_numbers(n);
    for (int j = 0; j <= dims + 1; j++) s.m[j] = case_numbers((long long)n * n);
    for (int p = 0; p < n; p++) {
        int at[3] = {p % side, p / side % side, p / side / side};
        double shape = 1 + 0.4 * sin(2 * x[at[0]] + x[at[1]]);
        s.phase[p] = 0;
        for (int d = 0; d < dims; d++) s.phase[p] += (0.5 + 0.2 * d) * x[at[d]];
        for (int d = 0; d < dims; d++) {
            fd_row_f64 row = fd_lane_row_f64(cell[at[d]], FD_UPWIND, 0.3 * (1 - x[at[d]]), 4 * shape);
            double *line = s.m[d + 1] + (long long)n * p;
            line[p] -= row.below + row.above + 0.02;
            if (row.below != 0) line[p - stride[d]] += row.below;
            if (row.above != 0) line[p + stride[d]] += row.above;
        }
        /* Mixed terms inside, correlations of 0.6 between all. */
        for (int d = 0; d < dims && mixed; d++)
            for (int e = d + 1; e < dims; e++) {
                if (at[d] == 0 || at[e] == 0 || at[d] == side - 1 || at[e] == side - 1) continue;
                for (int m = 0; m < 9; m++) {
                    double nine[9] = {0};
                    nine[m] = 1;
                    s.m[0][(long long)n * p + p + (m % 3 - 1) * stride[d] + (m / 3 - 1) * stride[e]] +=
                        2 * 0.6 * 4 * shape * fd_lane_mixed_f64(cell[at[d]], cell[at[e]], nine);
                }
            }
    }
    for (int j = 0; j <= dims; j++)
        for (long long i = 0; i < (long long)n * n; i++) s.m[dims + 1][i] += s.m[j][i];
    for (int j = 0; j <= dims + 1; j++) {
        s.span[j] = (int *)case_memory(2 * sizeof *s.span[j] * (size_t)n);
        for (int i = 0; i < n; i++) {
            int low = 0, high = n;
            while (low < high && s.m[j][(long long)n * i + low] == 0) low++;
            while (high > low && s.m[j][(long long)n * i + high - 1] == 0) high--;
            s.span[j][2 * i] = low, s.span[j][2 * i + 1] = high;
        }
    }
    free(cell);
    free(x);
    return s;
}

CASE_FUNCTION void case_split_free(case_split *s)
{
    for (int j = 0; j <= s->dims + 1; j++) free(s->m[j]), free(s->span[j]);
    free(s->phase);
}

CASE_REFERENCE void case_exact(const case_split *s, double t, double *u)
{
    for (int i = 0; i < s->n; i++) u[i] = cos(1.3 * t + s->phase[i]);
}

/* Computes F_j(t, u). The sources are equal shares of u' - sum of M_j u, taken at the solution. */
CASE_REFERENCE void case_part(const case_split *s, int j, double t, const double *u, double *f, double *work)
{
    int n = s->n;
    double *exact = work, *product = work + n;
    case_product(s, j, u, f);
    if (j == 0) return;
    case_exact(s, t, exact);
    case_product(s, s->dims + 1, exact, product);
    for (int i = 0; i < n; i++) f[i] -= (1.3 * sin(1.3 * t + s->phase[i]) + product[i]) / s->dims;
}

/* Factors in place a matrix with `band` diagonals on each side. No pivoting is needed, since 1 - size M is dominant. */
CASE_REFERENCE void case_factor(int n, int band, double *m)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n && i <= k + band; i++) {
            double factor = m[(long long)n * i + k] /= m[(long long)n * k + k];
            for (int j = k + 1; j < n && j <= k + band; j++)
                m[(long long)n * i + j] -= factor * m[(long long)n * k + j];
        }
}

CASE_REFERENCE void case_substitute(int n, int band, const double *m, double *u)
{
    for (int i = 0; i < n; i++)
        for (int k = i > band ? i - band : 0; k < i; k++) u[i] -= m[(long long)n * i + k] * u[k];
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n && k <= i + band; k++) u[i] -= m[(long long)n * i + k] * u[k];
        u[i] /= m[(long long)n * i + i];
    }
}

/* Returns the largest error at t = 1 after `steps` steps from t = 0; leaves in *stiffness, unless null, dt times the
   largest absolute row sum. Each solve is for y' or, with `differences`, for y' - w. */
CASE_REFERENCE double case_march(const case_split *s, const fd_scheme *scheme, int steps, int differences,
                                 double *stiffness)
{
    int n = s->n, dims = s->dims, band[4] = {0, 1, 1, 1};
    double dt = 1.0 / steps, *memory = case_numbers(16ll * n), *zero = case_numbers(n),
           *lu[4] = {NULL, NULL, NULL, NULL}, worst = 0;
    double *u = memory, *y = memory + n, *z = memory + 2 * n, *work = memory + 3 * n, *source = memory + 5 * n,
           *f[2][4];
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 4; j++) f[k][j] = memory + (6 + 4 * k + j) * (long long)n;
    if (stiffness) {
        *stiffness = 0;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j <= dims; j++)
                for (int k = 0; k < n; k++) sum += fabs(s->m[j][(long long)n * i + k]);
            *stiffness = fmax(*stiffness, dt * sum);
        }
    }
    for (int j = 1; j <= dims; j++) {
        double theta = scheme->stage[0].theta; /* the same in both stages */
        lu[j] = case_numbers((long long)n * n);
        for (long long i = 0; i < (long long)n * n; i++) lu[j][i] = (i % (n + 1) == 0) - theta * dt * s->m[j][i];
        for (int i = 0; i < n; i++) {
            int below = i - s->span[j][2 * i], above = s->span[j][2 * i + 1] - 1 - i,
                wide = below > above ? below : above;
            band[j] = wide > band[j] ? wide : band[j];
        }
        case_factor(n, band[j], lu[j]);
    }
    case_exact(s, 0, u);
    for (int step = 0; step < steps; step++) {
        double from = step * dt, to = (step + 1) * dt;
        for (int j = 0; j <= dims; j++) case_part(s, j, from, u, f[0][j], work);
        for (int i = 0; i < n; i++) z[i] = 0;
        for (int stage = 0; stage < scheme->stages; stage++) {
            fd_stage g = scheme->stage[stage];
            for (int j = 0; j <= dims && stage > 0; j++) case_part(s, j, to, z, f[1][j], work);
            for (int i = 0; i < n; i++) {
                double sum = g.mixed[0] * f[0][0][i];
                if (stage > 0) sum += g.mixed[1] * f[1][0][i];
                for (int j = 1; j <= dims; j++) {
                    sum += g.own[0] * f[0][j][i];
                    if (stage > 0) sum += g.own[1] * f[1][j][i];
                }
                y[i] = u[i] + dt * sum;
            }
            for (int j = 1; j <= dims; j++) {
                const double *w = !differences ? zero : g.about ? z : u;
                case_part(s, j, to, w, source, work);
                for (int i = 0; i < n; i++) y[i] += g.theta * dt * (source[i] - f[g.about][j][i]) - w[i];
                case_substitute(n, band[j], lu[j], y);
                for (int i = 0; i < n; i++) y[i] += w[i];
            }
            for (int i = 0; i < n; i++) z[i] = y[i];
        }
        for (int i = 0; i < n; i++) u[i] = z[i];
    }
    case_exact(s, 1, y);
    for (int i = 0; i < n; i++)
        if (!(fabs(u[i] - y[i]) <= worst)) worst = fabs(u[i] - y[i]);
    for (int j = 1; j <= dims; j++) free(lu[j]);
    free(zero);
    free(memory);
    return worst;
}

/* ---- a line whose drifts point outward at both ends, so strongly that the rows there are not dominant ------------ */

/* Returns the largest error at t = 1 after `steps` steps of Crank-Nicolson, in increment form, of u' = (2 x - 1) u_x +
   u_xx on 0 .. 1 with u = 1 + x at t = 0, which stays a straight line: 3/2 + e^(2 t) (x - 1/2). The matrix omits the
   couplings of the wrong sign or, with lagged 0, has all of them. */
CASE_FUNCTION double case_outwards(int steps, int lagged)
{
    enum { N = 8 };
    double x[N], u[N], a[N], b[N], c[N], d[N], work[N], far_of[2], dt = 1.0 / steps, worst = 0;
    fd_cell_f64 cell[N];
    int face[2] = {FD_LINEAR, FD_LINEAR};
    for (int j = 0; j < N; j++) x[j] = j / (N - 1.0), u[j] = 1 + x[j];
    if (fd_cells_f64(N, x, face, cell, far_of)) return HUGE_VAL;
    for (int step = 0; step < steps; step++) {
        for (int j = 0; j < N; j++) {
            fd_row_f64 row = fd_lane_row_f64(cell[j], FD_CENTRAL, 2 * x[j] - 1, 1);
            d[j] = dt * fd_lane_apply_f64(row, j > 0 ? u[j - 1] : 0, u[j], j < N - 1 ? u[j + 1] : 0);
            fd_lane_matrix_f64(lagged ? fd_lane_lag_f64(row) : row, dt / 2, 0, &a[j], &b[j], &c[j]);
        }
        if (trid_host_thomas_f64(N, a, b, c, d, d, work)) return HUGE_VAL;
        for (int j = 0; j < N; j++) u[j] += d[j];
    }
    for (int j = 0; j < N; j++) worst = fmax(worst, fabs(u[j] - (1.5 + exp(2.0) * (x[j] - 0.5))));
    return worst;
}

/* Returns the factor by which a scheme multiplies u in a step of length 1 of u' = (z[0] + ... + z[dims]) u. */
CASE_REFERENCE double case_amplification(const fd_scheme *scheme, int dims, const double *z)
{
    double own = 0, before = 0, y = 1;
    for (int j = 1; j <= dims; j++) own += z[j];
    for (int stage = 0; stage < scheme->stages; stage++) {
        fd_stage g = scheme->stage[stage];
        y = 1 + g.mixed[0] * z[0] + g.own[0] * own + (g.mixed[1] * z[0] + g.own[1] * own) * before;
        for (int j = 1; j <= dims; j++) y = (y - g.theta * z[j] * (g.about ? before : 1)) / (1 - g.theta * z[j]);
        before = y;
    }
    return y;
}

/* Returns the largest amplification over the waves of central differences, in diffusions of any size along each axis,
   with all correlations 1 or -1 (no correlation matrix is worse). */
CASE_REFERENCE double case_worst_amplification(const fd_scheme *scheme, int dims, int mixed)
{
    enum { MOST = 25 * 24 };
    const int sizes = dims == 2 ? 25 : 7, waves = dims == 2 ? 24 : 10, count = sizes * waves;
    const double spread = dims == 2 ? 0.5 : 2;
    double worst = 0, second[MOST], first[MOST]; /* derivatives along an axis, by size and wave */
    int total = 1;
    for (int k = 0; k < count; k++) {
        const double angle = atan(1.0) * 4 * (k % waves + 1) / waves, c = pow(10, spread * (k / waves) - 5);
        second[k] = -2 * c * (1 - cos(angle)), first[k] = sqrt(c) * sin(angle);
    }
    for (int d = 0; d < dims; d++) total *= count;
    for (int n = 0; n < total; n++) {
        const int at[3] = {n % count, n / count % count, n / count / count};
        double z[4] = {0, 0, 0, 0};
        for (int d = 0; d < dims; d++) z[d + 1] = second[at[d]];
        for (int sign = 0; sign < 2 * mixed + !mixed; sign++) {
            z[0] = 0;
            for (int d = 0; d < dims && mixed; d++)
                for (int e = d + 1; e < dims; e++)
                    z[0] -= 2 * (sign && e == dims - 1 ? -1 : 1) * first[at[d]] * first[at[e]];
            worst = fmax(worst, fabs(case_amplification(scheme, dims, z)));
        }
    }
    return worst;
}

/* Returns the same with drifts of at most `courant` spacings a step, over random waves, in complex numbers. */
CASE_REFERENCE double case_worst_with_drifts(const fd_scheme *scheme, int dims, double courant)
{
    case_random random = {20250209};
    double worst = 0, pi = 4 * atan(1.0);
    for (int n = 0; n < 200000; n++) {
        double complex z[4] = {0, 0, 0, 0}, own = 0, before = 0, y = 1;
        double size[3], sine[3];
        for (int d = 0; d < dims; d++) {
            double angle = case_between(&random, 0, 2 * pi), drift = pow(10, case_between(&random, -5, 5));
            if (drift > courant) drift = courant; /* at least half of them are */
            size[d] = pow(10, case_between(&random, -5, 5));
            sine[d] = sin(angle);
            z[d + 1] = -2 * size[d] * (1 - cos(angle)) + (case_below(&random, 2) ? I : -I) * drift * sine[d];
            own += z[d + 1];
        }
        for (int d = 0; d < dims; d++)
            for (int e = d + 1; e < dims; e++)
                z[0] -= 2 * (n % 2 && e == dims - 1 ? -1 : 1) * sqrt(size[d] * size[e]) * sine[d] * sine[e];
        for (int stage = 0; stage < scheme->stages; stage++) {
            fd_stage g = scheme->stage[stage];
            y = 1 + g.mixed[0] * z[0] + g.own[0] * own + (g.mixed[1] * z[0] + g.own[1] * own) * before;
            for (int j = 1; j <= dims; j++) y = (y - g.theta * z[j] * (g.about ? before : 1)) / (1 - g.theta * z[j]);
            before = y;
        }
        worst = fmax(worst, cabs(y));
    }
    return worst;
}

/* ---- European options, by hand on the host ----------------------------------------------------------------------- */

CASE_FUNCTION double case_payoff_call(const double *x, const void *strike)
{
    return fmax(x[0] - *(const double *)strike, 0);
}

CASE_FUNCTION double case_payoff_digital(const double *x, const void *strike)
{
    return x[0] > *(const double *)strike;
}

/* Returns the axis of the tests: `points` points on 0 .. 8 strikes, crowded around the strike, or even on 0 .. 4. */
CASE_FUNCTION fd_axis case_price_axis(int points, double strike, int even, int align)
{
    fd_axis axis = {0, 8 * strike, 0, 1, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    axis.points = points, axis.place[0] = strike, axis.width[0] = strike / 5, axis.align[0] = align;
    if (even) axis.high = 4 * strike, axis.width[0] = 0;
    return axis;
}

/* Prices a European option under Black and Scholes on the points of an axis, by `steps` Crank-Nicolson steps after a
   Rannacher start: price, delta, gamma. Final values are averaged, or taken at the points. */
CASE_FUNCTION int case_price(const fd_axis *axis, fd_function *payoff, double strike, int averaged, int steps,
                             double spot, double *greek)
{
    const double r = 0.05, sigma = 0.2;
    int n = axis->points;
    double *s = case_numbers(n), *u = case_numbers(n), *a = case_numbers(5ll * n), *b = a + n, *c = b + n, *d = c + n;
    double far_of[2];
    fd_cell_f64 *cell = (fd_cell_f64 *)case_memory((size_t)n * sizeof *cell);
    fd_step *step = (fd_step *)case_memory((size_t)(steps + 2) * sizeof *step);
    fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, 0.5, 4, 0, NULL, NULL};
    int face[2] = {FD_LINEAR, FD_LINEAR}, count = 0, status = fd_axis_points(axis, s);
    if (!status) status = fd_cells_f64(n, s, face, cell, far_of);
    if (!status) status = fd_schedule(&times, steps + 2, step, &count);
    for (int j = 0; j < n && !status; j++) {
        const double *const grid[1] = {s};
        u[j] = averaged ? fd_final_value(1, grid, &n, &j, payoff, &strike, 1e-9, 30) : payoff(&s[j], &strike);
    }
    for (int k = 0; k < count && !status; k++) {
        double dt = step[k].from - step[k].to, implicit = step[k].theta * dt;
        for (int j = 0; j < n; j++) {
            fd_row_f64 row = fd_lane_row_f64(cell[j], FD_CENTRAL, r * s[j], sigma * sigma / 2 * s[j] * s[j]);
            fd_lane_matrix_f64(row, implicit, r, &a[j], &b[j], &c[j]);
            d[j] = u[j] + (dt - implicit) *
                              (fd_lane_apply_f64(row, j > 0 ? u[j - 1] : 0, u[j], j < n - 1 ? u[j + 1] : 0) - r * u[j]);
        }
        status = trid_host_thomas_f64(n, a, b, c, d, u, d + n);
    }
    fd_weights w;
    if (!status) status = fd_interpolate(n, s, spot, &w);
    const double *weight[3] = {w.value, w.slope, w.curvature};
    long long stride = 1;
    for (int k = 0; k < 3 && !status; k++) greek[k] = fd_lane_value_f64(1, &weight[k], u + w.first, &stride);
    free(step);
    free(cell);
    free(a);
    free(u);
    free(s);
    return status;
}

/* ---- a Heston call, by hand on the host -------------------------------------------------------------------------- */

typedef struct {
    double strike, kappa, mean, sigma, rho, rate, maturity, spot, variance;
} case_heston;

static const case_heston case_heston_known = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 1, 100, 0.04};
static const double case_heston_price = 8.894869360054; /* by the characteristic function */

CASE_FUNCTION double case_heston_payoff(const double *x, const void *context)
{
    double strike = ((const case_heston *)context)->strike;
    return x[0] > strike ? x[0] - strike : 0;
}

typedef struct {
    int n[2];
    double *x[2], far_of[2];
    fd_cell_f64 *cell[2];
    const case_heston *model;
    int fitting;
} case_plane;

/* Returns the row along axis d at (i, j); leaves the drift in *drift. */
CASE_FUNCTION fd_row_f64 case_heston_row(const case_plane *g, int d, int i, int j, double *drift)
{
    const case_heston *m = g->model;
    double s = g->x[0][i], v = g->x[1][j];
    *drift = d == 0 ? m->rate * s : m->kappa * (m->mean - v);
    return fd_lane_row_f64(g->cell[d][d ? j : i], g->fitting, *drift,
                           d == 0 ? 0.5 * v * s * s : 0.5 * m->sigma * m->sigma * v);
}

/* Computes F_0, F_1 and F_2 at all points, with half of the rate in each of the last two. At variance 0 the PDE itself
   holds, at the largest variance the slope is 0, and at both ends of the price the second derivative is 0. */
CASE_FUNCTION void case_heston_parts(const case_plane *g, const double *u, double *const *f)
{
    int nx = g->n[0], ny = g->n[1];
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            long long at = (long long)nx * j + i;
            double drift, nine[9], rate = g->model->rate;
            for (int m = 0; m < 9; m++) {
                int k = i - 1 + m % 3, l = j - 1 + m / 3;
                nine[m] = k >= 0 && k < nx && l >= 0 && l < ny ? u[(long long)nx * l + k] : 0;
            }
            f[0][at] = g->model->rho * g->model->sigma * g->x[1][j] * g->x[0][i] *
                       fd_lane_mixed_f64(g->cell[0][i], g->cell[1][j], nine);
            f[1][at] =
                fd_lane_apply_f64(case_heston_row(g, 0, i, j, &drift), nine[3], nine[4], nine[5]) - rate / 2 * nine[4];
            f[2][at] =
                fd_lane_apply_f64(case_heston_row(g, 1, i, j, &drift), nine[1], nine[4], nine[7]) - rate / 2 * nine[4];
            if (j == 0) f[2][at] += drift * g->far_of[0] * (u[at + 2 * nx] - u[at + nx]);
        }
}

/* Solves (1 - size A_d) (y' - w) = y - w along all lines of axis d. Returns a status. */
CASE_FUNCTION int case_heston_solve(const case_plane *g, int d, double size, const double *w, double *y, double *work)
{
    int n = g->n[d], lines = g->n[1 - d], status = 0;
    long long stride = d == 0 ? 1 : g->n[0], next = d == 0 ? g->n[0] : 1;
    double *a = work, *b = work + n, *c = work + 2 * n, *r = work + 3 * n;
    for (int line = 0; line < lines && !status; line++) {
        double drift, at_face = 0;
        for (int k = 0; k < n; k++) {
            fd_row_f64 row = case_heston_row(g, d, d ? line : k, d ? k : line, &drift);
            if (k == 0) at_face = drift;
            if (!fd_lane_matrix_f64(row, size, g->model->rate / 2, &a[k], &b[k], &c[k]) && (k == 0 || k == n - 1))
                fd_lane_matrix_f64(fd_lane_lag_f64(row), size, g->model->rate / 2, &a[k], &b[k], &c[k]);
            r[k] = y[line * next + k * stride] - w[line * next + k * stride];
        }
        if (d == 1)
            r[0] -= fd_lane_face_three_f64(size * at_face * g->far_of[0], &b[0], &c[0], a[1], b[1], c[1]) * r[1];
        status = trid_host_thomas_f64(n, a, b, c, r, r, work + 4 * n);
        for (int k = 0; k < n; k++) y[line * next + k * stride] = w[line * next + k * stride] + r[k];
    }
    return status;
}

/* Computes price, delta and gamma of the call on nx by ny points with `steps` steps. Returns a status. */
CASE_FUNCTION int case_heston_call(const case_heston *model, int nx, int ny, int steps, int which, int fitting,
                                   double *greek)
{
    long long size = (long long)nx * ny;
    case_plane g;
    fd_axis axis[2] = {
        {0, 8 * model->strike, nx, 1, {model->strike, 0, 0}, {model->strike / 5, 0, 0}, {FD_MIDWAY, 0, 0}},
        {0, 1, ny, 1, {model->variance, 0, 0}, {0.05, 0, 0}, {FD_ON_NODE, 0, 0}}};
    int face[2][2] = {{FD_LINEAR, FD_LINEAR}, {FD_DEGENERATE, FD_SLOPE}}, count = 0, status = 0;
    fd_times times = {model->maturity, steps, FD_EQUAL, 1, FD_THETA, 0.5, 4, 0, NULL, NULL};
    fd_scheme scheme, euler;
    g.n[0] = nx, g.n[1] = ny, g.model = model, g.fitting = fitting;
    for (int d = 0; d < 2; d++) {
        double far_of[2] = {0, 0};
        g.x[d] = case_numbers(g.n[d]);
        g.cell[d] = (fd_cell_f64 *)case_memory((size_t)g.n[d] * sizeof *g.cell[d]);
        if (!status) status = fd_axis_points(&axis[d], g.x[d]);
        if (!status) status = fd_cells_f64(g.n[d], g.x[d], face[d], g.cell[d], far_of);
        g.far_of[0] = far_of[0], g.far_of[1] = far_of[1];
    }
    if (!status) status = fd_scheme_of(which, fd_scheme_theta(which, 2, 1), &scheme);
    if (!status) status = fd_scheme_of(FD_DOUGLAS, 1, &euler);
    fd_step *step = (fd_step *)case_memory((size_t)(steps + 4) * sizeof *step);
    if (!status) status = fd_schedule(&times, steps + 4, step, &count);

    double *u = case_numbers(size), *y = case_numbers(size), *z = case_numbers(size);
    double *work = case_numbers(5ll * (nx > ny ? nx : ny)), *f[2][3];
    for (int k = 0; k < 6; k++) f[k / 3][k % 3] = case_numbers(size);
    const double *const x[2] = {g.x[0], g.x[1]};
    for (int i = 0; i < nx && !status; i++) {
        double value = fd_final_value(1, x, g.n, &i, case_heston_payoff, model, 1e-9, 30);
        for (int j = 0; j < ny; j++) u[(long long)nx * j + i] = value;
    }
    for (int k = 0; k < count && !status; k++) {
        double dt = step[k].from - step[k].to;
        const fd_scheme *now = step[k].kind == FD_BACKWARD_EULER ? &euler : &scheme;
        case_heston_parts(&g, u, f[0]);
        for (int s = 0; s < now->stages && !status; s++) {
            fd_stage stage = now->stage[s];
            if (s > 0) case_heston_parts(&g, z, f[1]);
            for (long long i = 0; i < size; i++)
                y[i] = u[i] + dt * (stage.mixed[0] * f[0][0][i] + stage.own[0] * (f[0][1][i] + f[0][2][i]) +
                                    stage.mixed[1] * f[1][0][i] + stage.own[1] * (f[1][1][i] + f[1][2][i]));
            for (int d = 0; d < 2 && !status; d++)
                status = case_heston_solve(&g, d, stage.theta * dt, stage.about ? z : u, y, work);
            for (long long i = 0; i < size; i++) z[i] = y[i];
        }
        for (long long i = 0; i < size; i++) u[i] = z[i];
    }
    fd_weights along[2];
    double at[2] = {model->spot, model->variance};
    for (int d = 0; d < 2 && !status; d++) status = fd_interpolate(g.n[d], g.x[d], at[d], &along[d]);
    for (int k = 0; k < 3 && !status; k++) {
        const double *weight[2] = {k == 0   ? along[0].value
                                   : k == 1 ? along[0].slope
                                            : along[0].curvature,
                                   along[1].value};
        long long stride[2] = {1, nx};
        greek[k] = fd_lane_value_f64(2, weight, u + along[0].first + (long long)nx * along[1].first, stride);
    }
    for (int k = 0; k < 6; k++) free(f[k / 3][k % 3]);
    free(work);
    free(z);
    free(y);
    free(u);
    free(step);
    for (int d = 0; d < 2; d++) free(g.cell[d]), free(g.x[d]);
    return status;
}

#endif
