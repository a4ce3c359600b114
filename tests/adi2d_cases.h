/* adi2d_cases.h - what the tests of pde/adi2d.h share: models with all that a model may have, random problems for them,
   and a plain march of the schemes, from the formulas of docs/fd.md and of the books alone, in double precision.
   MIT licence, see LICENSE. */
#ifndef ADI2D_CASES_H
#define ADI2D_CASES_H

#include "../pde/adi2d.h"

#include "check.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the models -------------------------------------------------------------------------------------------------- */

enum {
    CASE_GOOD,
    CASE_BAD_X,
    CASE_BAD_Y,
    CASE_BAD_T,
    CASE_BAD_TERMS,
    CASE_BAD_PAYOFF,
    CASE_BAD_CHANGE,
    CASE_BAD_FACE,
    CASE_MORE_X, /* more numbers than are declared; along y; of time */
    CASE_MORE_Y,
    CASE_MORE_T,
    CASE_LIE_MIXED,   /* a mixed term that is not declared */
    CASE_LIE_CHANGES, /* diffusion_y, alone, grows with t */
    CASE_LIE_ONCE,    /* and is larger around bad_at[2] alone */
    CASE_LIE_ALONE    /* and is larger at bad_at[0] */
};
enum { CASE_CALL, CASE_WAVE, CASE_DIGITAL, CASE_BASKET, CASE_PAYOFFS };

/* With x' and y' the place between low and high, 0 .. 1, T = 1 + change sin 3t and U = 1 + change t:
     drift_x = (drift + pull (1/2 - x')) T            diffusion_x = diffusion v(x') (1 + 0.3 y') T
     drift_y = (drift + pull (1/2 - y')) U            diffusion_y = diffusion v(y') (1 + 0.2 x') U
     mixed = mixed v(x') v(y') T                      kill = CASE_KILL (1 + x' y' / 2) U
   or, alone, U and the x' in diffusion_y and in kill are 1, 0 and 1; v vanishes linearly at the faces that are to be
   degenerate, else is 1. */
#define CASE_KILL 0.125
typedef struct {
    double low[2], high[2], drift[2], pull[2], diffusion[2], mixed, change, strike, phase;
    int vanish[2][2], payoff, alone, bad;
    double bad_at[3]; /* where the model fails: x, y, before t */
} case_parameters;

TB_HD int case_there(double x, double place)
{
    return fabs(x - place) < 1e-9;
}

TB_HD double case_share(const case_parameters *p, int axis, double x)
{
    return (x - p->low[axis]) / (p->high[axis] - p->low[axis]);
}

TB_HD double case_vanishing(const case_parameters *p, int axis, double x)
{
    double share = case_share(p, axis, x);
    return (p->vanish[axis][0] ? share : 1) * (p->vanish[axis][1] ? 1 - share : 1);
}

TB_HD void case_numbers_along(const case_parameters *p, int axis, double x, double *number)
{
    int bad = p->bad == (axis ? CASE_BAD_Y : CASE_BAD_X) && case_there(x, p->bad_at[axis]);
    number[0] = p->drift[axis] + p->pull[axis] * (0.5 - case_share(p, axis, x));
    number[1] = p->diffusion[axis] * case_vanishing(p, axis, x);
    number[2] = bad ? sqrt(-1.0) : case_share(p, axis, x);
    number[3] = (axis ? 1 : p->mixed) * case_vanishing(p, axis, x);
    number[4] = case_there(x, p->bad_at[axis]) && (p->bad == CASE_BAD_TERMS || p->bad == CASE_LIE_ALONE);
    if (p->bad == CASE_MORE_X + axis) number[5] = x;
}

TB_HD double case_payoff(const case_parameters *p, double x, double y)
{
    double over = x - p->strike;
    if (p->bad == CASE_BAD_PAYOFF && case_there(x, p->bad_at[0]) && case_there(y, p->bad_at[1])) return sqrt(-1.0);
    if (p->payoff == CASE_WAVE) return 1 + 0.4 * sin(3 * x + p->phase) * cos(2 * y);
    if (p->payoff == CASE_DIGITAL) return over > 0 ? 1 : over < 0 ? 0 : 0.5;
    if (p->payoff == CASE_BASKET) over += y;
    return over > 0 ? over : 0;
}

/* Nothing in it fits the rest: that is the march's to bear. */
TB_HD double case_face(const case_parameters *p, int axis, int side, double other, double t)
{
    if (p->bad == CASE_BAD_FACE && axis == 0 && side == 1 && t < p->bad_at[2]) return sqrt(-1.0);
    return 0.4 + 0.2 * axis - 0.3 * side + 0.2 * sin(3 * other + t + p->phase);
}

TB_HD double case_change(const case_parameters *p, int date, double x, double y, double value)
{
    if (p->bad == CASE_BAD_CHANGE && case_there(x, p->bad_at[0]) && case_there(y, p->bad_at[1])) return sqrt(-1.0);
    return date % 2 ? 0.75 * value + 2 * x * y : x > p->strike + 0.2 ? 0 : value;
}

/* Drifts taken in each of the three ways; with and without a mixed term; y by itself. */
#define CASE_MODEL central
#define CASE_FITTING FD_CENTRAL
#define CASE_MIXED 1
#define CASE_INDEPENDENT 0
#include "adi2d_case_model.h"
#define CASE_MODEL upwind
#define CASE_FITTING FD_UPWIND
#define CASE_MIXED 0
#define CASE_INDEPENDENT 0
#include "adi2d_case_model.h"
#define CASE_MODEL fitted
#define CASE_FITTING FD_FITTED
#define CASE_MIXED 1
#define CASE_INDEPENDENT 0
#include "adi2d_case_model.h"

#define CASE_MODEL alone
#define CASE_FITTING FD_UPWIND
#define CASE_MIXED 0
#define CASE_INDEPENDENT 1
#include "adi2d_case_model.h"

/* What the equation has at a point, as the comment above says it. */
typedef struct {
    double drift[2], diffusion[2], mixed, kill;
} case_coefficients;

CASE_REFERENCE case_coefficients case_at(const case_parameters *p, int mixed, double x, double y, double t)
{
    case_coefficients c;
    double slow = 1 + p->change * sin(3 * t), steady = 1 + p->change * t, s = case_share(p, 0, x),
           r = case_share(p, 1, y);
    if (p->alone) steady = 1;
    c.drift[0] = (p->drift[0] + p->pull[0] * (0.5 - s)) * slow;
    c.drift[1] = (p->drift[1] + p->pull[1] * (0.5 - r)) * steady;
    c.diffusion[0] = p->diffusion[0] * case_vanishing(p, 0, x) * (1 + 0.3 * r) * slow;
    c.diffusion[1] = p->diffusion[1] * case_vanishing(p, 1, y) * (p->alone ? 1 : 1 + 0.2 * s) * steady;
    c.mixed = mixed ? p->mixed * case_vanishing(p, 0, x) * case_vanishing(p, 1, y) * slow : 0;
    c.kill = CASE_KILL * (1 + (p->alone ? r : s * r) / 2) * steady;
    return c;
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

enum { CASE_AXES = 2, CASE_MOST = 144 }; /* points of an axis */
typedef adi2d_problem case_pde;
#include "adi_cases.h"

/* A row of F along an axis: weights of the points of its line, the kill's half included, and what else is in it. */
typedef struct {
    double weight[CASE_MOST], source, coupling[2];
} case_line;

/* F of point (i, j) along an axis with the coefficients of time t, faces being given what they are at time given_at. */
CASE_REFERENCE case_line case_row(const case_grid *g, int axis, int i, int j, double t, double given_at)
{
    case_line row;
    case_coefficients c = case_at(g->p, g->mixed, g->x[0][i], g->x[1][j], t);
    const double *x = g->x[axis], drift = c.drift[axis], diffusion = c.diffusion[axis];
    int k = axis ? j : i, n = g->n[axis], in = k > 0 ? -1 : 1;
    memset(&row, 0, sizeof row);
    if (k > 0 && k < n - 1) {
        double l = x[k] - x[k - 1], u = x[k + 1] - x[k];
        double below = (2 * diffusion - drift * u) / (l * (l + u)), above = (2 * diffusion + drift * l) / (u * (l + u));
        if (g->fitting == FD_FITTED && diffusion > 0 && fabs(drift) > 1e-9) {
            /* Exact for straight lines and for exp(-z x). */
            double z = drift / diffusion, share = -expm1(-z * u) / expm1(z * l);
            above = drift / (u - l * share), below = above * share;
            if (z * l > 40) above = drift / u, below = 0;
            if (-z * u > 40) above = 0, below = -drift / l;
        }
        if (g->fitting != FD_CENTRAL && below < 0) below = 0, above = drift / u;
        if (g->fitting != FD_CENTRAL && above < 0) above = 0, below = -drift / l;
        row.coupling[0] = below, row.coupling[1] = above;
        row.weight[k - 1] = below, row.weight[k + 1] = above, row.weight[k] = -below - above;
    } else {
        int side = k > 0, kind = g->problem->face[axis][side];
        double spacing = fabs(x[k + in] - x[k]), first[CASE_MOST];
        case_first(g, axis, k, first);
        for (int m = 0; m < n; m++) row.weight[m] = drift * first[m];
        row.coupling[!side] = row.weight[k + in];
        if (kind == FD_DEGENERATE) { /* the third point's slope apart */
            double beyond = fabs(x[k + 2 * in] - x[k + in]);
            row.coupling[!side] = in * drift * (1 + spacing / (spacing + beyond)) / spacing;
        }
        if (kind == FD_SLOPE) { /* the point beyond has the value that makes the slope */
            double coupling = 2 * diffusion / (spacing * spacing);
            row.coupling[!side] = row.weight[k + in] = coupling;
            row.weight[k] = -coupling;
            row.source = (drift - in * 2 * diffusion / spacing) *
                         case_face(g->p, axis, side, axis ? g->x[0][i] : g->x[1][j], given_at);
        }
    }
    row.weight[k] -= c.kill / 2;
    return row;
}

CASE_REFERENCE double case_apply(const case_grid *g, const case_line *row, int axis, int i, int j, const double *v)
{
    double sum = row->source;
    for (int m = 0; m < g->n[axis]; m++) sum += row->weight[m] * (axis ? v[i + g->n[0] * m] : v[m + g->n[0] * j]);
    return sum;
}

/* F_0, or F_1 or F_2, of v at all points. */
CASE_REFERENCE void case_part(const case_grid *g, int which, const double *v, double t, double given_at, double *f)
{
    for (int j = 0; j < g->n[1]; j++)
        for (int i = 0; i < g->n[0]; i++) {
            int at = i + g->n[0] * j;
            if (which > 0) {
                case_line row = case_row(g, which - 1, i, j, t, given_at);
                f[at] = case_apply(g, &row, which - 1, i, j, v);
                continue;
            }
            double along[CASE_MOST], across[CASE_MOST], sum = 0;
            f[at] = 0;
            if (!g->mixed) continue;
            case_first(g, 0, i, along), case_first(g, 1, j, across);
            for (int n = 0; n < g->n[1]; n++)
                for (int m = 0; m < g->n[0] && across[n] != 0; m++) /* few have a weight */
                    sum += across[n] * along[m] * v[m + g->n[0] * n];
            f[at] = sum * case_at(g->p, 1, g->x[0][i], g->x[1][j], t).mixed;
        }
}

/* Is the row of 1 - size A with these couplings dominant? */
CASE_REFERENCE int case_dominant(const case_line *row, double size, double kill)
{
    return 1 + size * (row->coupling[0] + row->coupling[1] + kill / 2) >
           size * (fabs(row->coupling[0]) + fabs(row->coupling[1]));
}

/* Solves y' - size F(y') = y - size F(w) along an axis, F(y') with the coefficients of time t and faces given what they
   are at the step's end, F(w) as it is in taken. Of a face's row, couplings of the wrong sign and a third point that
   cannot be eliminated are left to w. */
CASE_REFERENCE void case_solve(const case_grid *g, int axis, double size, double t, double end, const double *taken,
                               const double *w, double *y)
{
    static double a[CASE_MOST][CASE_MOST];
    double b[CASE_MOST];
    int n = g->n[axis], lines = g->n[1 - axis];
    for (int line = 0; line < lines; line++) {
        if (axis == 1 && ((line == 0 && g->problem->face[0][0] == FD_VALUE) ||
                          (line == lines - 1 && g->problem->face[0][1] == FD_VALUE)))
            continue; /* they have been given */
        for (int k = 0; k < n; k++) {
            int i = axis ? line : k, j = axis ? k : line, at = i + g->n[0] * j;
            int at_face = k == 0 || k == n - 1, side = k > 0, in = side ? -1 : 1, kind = g->problem->face[axis][side];
            case_line row = case_row(g, axis, i, j, t, end);
            b[k] = y[at] - size * taken[at] + size * row.source;
            if (at_face && kind == FD_VALUE) {
                memset(&row, 0, sizeof row);
                b[k] = case_face(g->p, axis, side, g->x[1 - axis][line], end);
            } else if (at_face) {
                double left[CASE_MOST], kill = case_at(g->p, g->mixed, g->x[0][i], g->x[1][j], t).kill;
                double third = row.weight[k + 2 * in], beyond = row.coupling[!side];
                memset(left, 0, sizeof left);
                if (!case_dominant(&row, size, kill)) left[k + in] += beyond, left[k] -= beyond, beyond = 0;
                if (kind == FD_DEGENERATE && third != 0) {
                    /* third is drift's part of u2; as a slope it is third (u2 - u1). The neighbour's row rids of u2. */
                    case_line next = case_row(g, axis, axis ? i : i + in, axis ? j + in : j, t, end);
                    double near_kill =
                        case_at(g->p, g->mixed, g->x[0][axis ? i : i + in], g->x[1][axis ? j + in : j], t).kill;
                    double toward = -size * next.coupling[side], away = -size * next.coupling[!side];
                    double middle = 1 - toward - away + size * near_kill / 2;
                    double factor = -size * third / away;
                    double diagonal = 1 + size * (beyond + kill / 2) - factor * toward;
                    double near_by = size * (third - beyond) - factor * middle;
                    if (!(factor <= 0 && diagonal > fabs(near_by))) left[k + 2 * in] += third, left[k + in] -= third;
                }
                for (int m = 0; m < n; m++) {
                    row.weight[m] -= left[m];
                    b[k] += size * left[m] * (axis ? w[i + g->n[0] * m] : w[m + g->n[0] * j]);
                }
            }
            for (int m = 0; m < n; m++) a[k][m] = (m == k) - size * row.weight[m];
        }
        case_solve_dense(n, a, b);
        for (int k = 0; k < n; k++) y[axis ? line + g->n[0] * k : k + g->n[0] * line] = b[k];
    }
}

CASE_REFERENCE adi2d_values case_values(const case_grid *g, const double *u)
{
    static const int which[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
    double weight[2][3][4], sum[6] = {0, 0, 0, 0, 0, 0};
    int first[2];
    for (int d = 0; d < 2; d++) first[d] = case_cubic(g->n[d], g->x[d], g->problem->spot[d], weight[d]);
    for (int k = 0; k < 6; k++)
        for (int m = 0; m < 16; m++)
            sum[k] += weight[0][which[k][0]][m % 4] * weight[1][which[k][1]][m / 4] *
                      u[first[0] + m % 4 + g->n[0] * (first[1] + m / 4)];
    adi2d_values values = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]};
    return values;
}

/* The final value at (i, j): at kinks and jumps that are told, the average over the cell. */
CASE_FUNCTION double case_final(const case_grid *g, int i, int j)
{
    double x = g->x[0][i], k = g->p->strike;
    if (g->problem->finals != FD_AT_POINTS && i > 0 && i < g->n[0] - 1 && g->p->payoff != CASE_WAVE) {
        double low = (x + g->x[0][i - 1]) / 2, high = (x + g->x[0][i + 1]) / 2;
        if (g->p->payoff == CASE_BASKET) k -= g->x[1][j];
        if (low < k && k < high)
            return (g->p->payoff == CASE_DIGITAL ? high - k : (high - k) * (high - k) / 2) / (high - low);
    }
    return case_payoff(g->p, x, g->x[1][j]);
}

/* Marches a problem that is one. u: its grid, n[0] n[1] numbers; values: at time 0 and at dates that are recorded, as
   the batch has them. Returns how many rows were not dominant; the largest value met in largest[0], the growth of a
   status in largest[1]. */
CASE_FUNCTION int case_march(const case_parameters *p, const adi2d_problem *problem, int fitting, int mixed, double *u,
                             adi2d_values *values, double *largest)
{
    enum { STEPS = 256 };
    static fd_step step[STEPS];
    static case_grid grid;
    case_grid *g = &grid;
    int steps = 0, not_dominant = 0;
    g->p = p, g->problem = problem, g->fitting = fitting, g->mixed = mixed, g->changes = 1, g->all = 1;
    for (int d = 0; d < 2; d++) {
        g->n[d] = problem->axis[d].points, g->stride[d] = g->all, g->all *= g->n[d];
        if (problem->points[d])
            memcpy(g->x[d], problem->points[d], sizeof(double) * (size_t)g->n[d]);
        else if (fd_axis_points(&problem->axis[d], g->x[d]))
            fprintf(stderr, "case_march: no axis\n"), exit(2);
    }
    if (fd_schedule(&problem->times, STEPS, step, &steps)) fprintf(stderr, "case_march: no steps\n"), exit(2);
    const int n = g->n[0], all = g->all;
    const size_t bytes = sizeof(double) * (size_t)all;
    double *final = (double *)case_guarded(bytes), *extra = (double *)case_guarded(bytes);
    double *old = (double *)case_guarded(bytes);
    double given = 0;
    for (int at = 0; at < all; at++) {
        final[at] = u[at] = case_final(g, at % n, at / n), extra[at] = 0;
        given = fmax(given, fabs(u[at]));
    }
    for (int f = 0; f < 4; f++) {
        const int d = f / 2, kind = problem->face[d][f % 2];
        const double length = kind == FD_SLOPE ? g->x[d][g->n[d] - 1] - g->x[d][0] : kind == FD_VALUE;
        for (int i = 0; i < g->n[1 - d]; i++)
            given = fmax(given, length * fabs(case_face(p, d, f % 2, g->x[1 - d][i], 0)));
    }
    largest[0] = largest[1] = 0;
    for (int k = 0; k < steps; k++) {
        const double dt = step[k].from - step[k].to;
        double then = problem->coefficients == FD_MIDDLE ? (step[k].from + step[k].to) / 2 : step[k].to;
        for (int ends = (k == 0) + (k == steps - 1); ends > 0; ends--)
            for (int at = 0; at < 2 * all; at++) {
                int axis = at >= all, i = at % all % n, j = at % all / n, m = axis ? j : i;
                if ((m == 0 || m == g->n[axis] - 1) && problem->face[axis][m > 0] == FD_VALUE) continue;
                case_line row = case_row(g, axis, i, j, then, step[k].to);
                not_dominant +=
                    !case_dominant(&row, step[k].theta * dt, case_at(p, mixed, g->x[0][i], g->x[1][j], then).kill);
            }
        case_step(g, &step[k], u, extra);
        for (int at = 0; at < all && problem->exercise != FD_EUROPEAN; at++) {
            /* Ikonen and Toivanen: U - dt L = (what the step made) - dt (the old L), U >= final, L >= 0, one equal. */
            double held = problem->exercise == FD_AMERICAN ? u[at] - dt * extra[at] : u[at];
            double more = extra[at] + (final[at] - u[at]) / dt;
            u[at] = held > final[at] ? held : final[at];
            extra[at] = problem->exercise == FD_AMERICAN && more > 0 ? more : 0;
        }
        if (step[k].date >= 0 && problem->at_date) {
            const fd_date *event = &problem->at_date[step[k].date];
            memcpy(old, u, bytes);
            for (int at = 0; at < all; at++) {
                const int i = at % n, j = at / n;
                if (event->what & FD_SHIFT) {
                    double from = g->x[0][i] - event->cash - event->proportion * g->x[0][i], weight[3][4];
                    from = fmin(fmax(from, g->x[0][0]), g->x[0][n - 1]);
                    int first = case_cubic(n, g->x[0], from, weight);
                    u[at] = 0;
                    for (int m = 0; m < 4; m++) u[at] += weight[0][m] * old[first + m + n * j];
                }
                if (event->what & FD_CHANGE_VALUES) {
                    const double before = u[at];
                    u[at] = case_change(p, step[k].date, g->x[0][i], g->x[1][j], before);
                    given = fmax(given, fabs(u[at]) - fabs(before));
                }
                if (u[at] > final[at]) extra[at] = 0; /* who waits here gains nothing from the exercise before */
                if ((event->what & FD_EXERCISE) || problem->exercise != FD_EUROPEAN) u[at] = fmax(u[at], final[at]);
            }
            if (event->what & FD_RECORD) values[1 + step[k].date] = case_values(g, u);
        }
        for (int at = 0; at < all; at++) largest[0] = fmax(largest[0], fabs(u[at]));
    }
    for (int at = 0; at < all; at++) largest[1] = fmax(largest[1], given > 0 ? fabs(u[at]) / given : 0);
    values[0] = case_values(g, u);
    case_release(final, bytes), case_release(extra, bytes), case_release(old, bytes);
    return not_dominant;
}

/* ---- random problems --------------------------------------------------------------------------------------------- */

enum { CASE_DATES = 2, CASE_STEPS = 12 };

/* A problem and what it points to. Not to be moved. */
typedef struct {
    case_parameters parameters;
    adi2d_problem problem;
    double x[2][CASE_MOST], date[CASE_DATES];
    fd_date at_date[CASE_DATES];
} case_problem;

/* What a random problem is to be like. */
enum {
    CASE_ANY,
    CASE_PRODUCT /* its steps are products of factors (ADI2D_PRODUCTS) */
};

CASE_FUNCTION void case_random_problem(case_random *random, int most0, int most1, int like, case_problem *c)
{
    case_parameters *p = &c->parameters;
    adi2d_problem *q = &c->problem;
    const int most[2] = {most0, most1};
    memset(c, 0, sizeof *c);
    for (int d = 0; d < 2; d++) {
        const int n = 4 + case_below(random, most[d] - 3);
        const double low = case_between(random, 0, 0.5), high = low + case_between(random, 0.8, 2);
        fd_axis axis = {low, high, n, 1, {low + 0.4 * (high - low), 0, 0}, {0.3, 0, 0}, {FD_ANYWHERE, 0, 0}};
        q->axis[d] = axis;
        if (case_below(random, 2)) { /* points of the user's */
            c->x[d][0] = 0;
            for (int i = 1; i < n; i++) c->x[d][i] = c->x[d][i - 1] + case_between(random, 0.5, 1.5);
            const double last = c->x[d][n - 1];
            for (int i = 0; i < n; i++) c->x[d][i] = low + (high - low) * c->x[d][i] / last;
            q->points[d] = c->x[d];
        }
        p->low[d] = low, p->high[d] = q->points[d] ? c->x[d][n - 1] : high;
        p->drift[d] = case_between(random, -0.2, 0.2);
        if (like == CASE_ANY && !case_below(random, 4)) p->drift[d] *= 20; /* more than matrices can take */
        p->pull[d] = case_below(random, 4) || like == CASE_PRODUCT ? case_between(random, 0.5, 1.5)
                                                                   : case_between(random, -0.3, 0.3);
        p->diffusion[d] = pow(10, case_between(random, -3, -0.5));
        q->spot[d] = case_between(random, low, p->high[d]);
        for (int side = 0; side < 2; side++) {
            q->face[d][side] = like == CASE_PRODUCT ? FD_LINEAR : case_below(random, 4);
            p->vanish[d][side] = q->face[d][side] == FD_DEGENERATE;
        }
        case_turn_inward(&p->drift[d], &p->pull[d], p->vanish[d]);
    }
    p->mixed = case_between(random, -0.9, 0.9) * 2 * sqrt(p->diffusion[0] * p->diffusion[1]);
    p->change = case_between(random, -0.5, 0.5), p->phase = case_between(random, 0, 6);
    p->strike = p->low[0] + case_between(random, 0.2, 0.8) * (p->high[0] - p->low[0]);
    p->payoff = case_below(random, CASE_PAYOFFS);
    p->bad_at[0] = p->bad_at[1] = -1;
    q->scheme = like == CASE_PRODUCT ? FD_DOUGLAS : case_below(random, 4);
    q->coefficients = like == CASE_PRODUCT ? FD_MIDDLE + case_below(random, 2) : case_below(random, 3);
    q->finals = p->payoff == CASE_BASKET ? FD_AT_POINTS : case_below(random, 2) ? FD_TOLD : FD_AT_POINTS;
    q->kinks = p->payoff != CASE_WAVE, q->kink[0] = p->strike;
    q->exercise = like == CASE_PRODUCT ? FD_EUROPEAN : case_below(random, 3);
    fd_times *t = &q->times;
    t->maturity = case_between(random, 0.1, 0.4), t->steps = 1 + case_below(random, 4);
    t->grading = case_below(random, 3), t->ratio = 3;
    t->kind = FD_THETA,
    t->theta = case_below(random, 2) ? fd_scheme_theta(q->scheme, 2, 1) : case_between(random, 0.3, 1);
    t->halves = case_below(random, 4);
    if (like == CASE_PRODUCT)
        t->theta = 0.5, t->halves = 0;
    else if (case_below(random, 6) == 0)
        t->kind = case_below(random, 2) ? FD_BACKWARD_EULER : FD_EXPLICIT;
    if (t->kind == FD_EXPLICIT) t->maturity *= 0.01; /* so few steps are stable then */
    t->dates = case_below(random, CASE_DATES + 1);
    /* Dates that leave all steps as long as each other. */
    const int regular = case_below(random, 2);
    if (like == CASE_PRODUCT && regular) t->steps = 4, t->grading = FD_EQUAL;
    for (int k = 0; k < t->dates; k++) {
        c->date[k] = t->maturity * (k + case_between(random, 0, 1)) / (t->dates + 1);
        c->at_date[k].what = case_below(random, 16);
        if (like == CASE_PRODUCT && regular) c->date[k] = t->maturity * (k + 1) / 4;
        c->at_date[k].cash = case_between(random, -0.05, 0.1);
        c->at_date[k].proportion = case_between(random, -0.05, 0.1);
    }
    t->date = c->date, q->at_date = case_below(random, 8) ? c->at_date : NULL;
}

/* ---- whoever solves a batch -------------------------------------------------------------------------------------- */

/* Solves a batch with its own memory, of exactly the bytes that are asked for and full of NaN, between guards; pointers
   are the host's. Returns what the solver returns. */
typedef int case_solver(const adi2d_batch *batch, const case_parameters *parameters);

typedef struct {
    const char *name;
    int fitting, mixed, alone, single;
    case_solver *solve;
} case_runner;

/* A batch of problems with its results, between guards. */
typedef struct {
    adi2d_batch batch;
    case_parameters *parameters;
    size_t grid_bytes;
} case_batch;

CASE_FUNCTION case_batch case_batch_of(int count, int points0, int points1, int steps, int dates, int kind, int single)
{
    case_batch b;
    const size_t n = (size_t)count;
    memset(&b, 0, sizeof b);
    b.grid_bytes = n * (size_t)points0 * (size_t)points1 * (single ? sizeof(float) : sizeof(double));
    b.batch.problems = count, b.batch.points[0] = points0, b.batch.points[1] = points1;
    b.batch.steps = steps, b.batch.dates = dates, b.batch.kind = kind;
    b.batch.problem = (adi2d_problem *)case_guarded(n * sizeof(adi2d_problem));
    b.batch.status = (fd_status *)case_guarded(n * sizeof(fd_status));
    b.batch.values = (adi2d_values *)case_guarded(n * (size_t)(1 + dates) * sizeof(adi2d_values));
    b.batch.grid = case_guarded(b.grid_bytes);
    for (int d = 0; d < 2; d++)
        b.batch.coordinates[d] = (double *)case_guarded(n * (size_t)b.batch.points[d] * sizeof(double));
    b.parameters = (case_parameters *)case_guarded(n * sizeof(case_parameters));
    return b;
}

CASE_FUNCTION adi2d_problem *case_problem_of(case_batch *b, int k)
{
    return (adi2d_problem *)b->batch.problem + k;
}

CASE_FUNCTION adi2d_values *case_values_of(const case_batch *b, int k)
{
    return b->batch.values + (size_t)k * (size_t)(1 + b->batch.dates);
}

/* Number at of problem k's part of the grid. */
CASE_FUNCTION double case_number(const case_batch *b, int single, int k, int at)
{
    size_t index = (size_t)k * (size_t)b->batch.points[0] * (size_t)b->batch.points[1] + (size_t)at;
    return single ? (double)((const float *)b->batch.grid)[index] : ((const double *)b->batch.grid)[index];
}

/* How many coordinates of problem k are not those of its points, or NaN beyond them and where it failed. */
CASE_FUNCTION int case_coordinates_off(const case_batch *b, int k)
{
    static double x[CASE_MOST];
    const adi2d_problem *problem = &b->batch.problem[k];
    int off = 0;
    for (int d = 0; d < 2; d++) {
        const double *got = b->batch.coordinates[d] + (size_t)k * (size_t)b->batch.points[d];
        const double *due = problem->points[d] ? problem->points[d] : x;
        const int good = !b->batch.status[k].what && (due != x || !fd_axis_points(&problem->axis[d], x));
        for (int i = 0; i < b->batch.points[d]; i++)
            off += good && i < problem->axis[d].points ? !(fabs(got[i] - due[i]) <= 1e-13) : !(got[i] != got[i]);
    }
    return off;
}

CASE_FUNCTION void case_batch_free(case_batch *b, const char *name)
{
    const size_t n = (size_t)b->batch.problems;
    int whole = case_release((void *)b->batch.problem, n * sizeof(adi2d_problem));
    whole &= case_release(b->batch.status, n * sizeof(fd_status));
    whole &= case_release(b->batch.values, n * (size_t)(1 + b->batch.dates) * sizeof(adi2d_values));
    whole &= case_release(b->batch.grid, b->grid_bytes);
    for (int d = 0; d < 2; d++)
        whole &= case_release(b->batch.coordinates[d], n * (size_t)b->batch.points[d] * sizeof(double));
    whole &= case_release(b->parameters, n * sizeof(case_parameters));
    CHECK(whole, "%s: a guard has been written", name);
}

/* ---- what is wrong with a problem -------------------------------------------------------------------------------- */

/* A problem that is as plain as can be, and good. */
CASE_FUNCTION void case_plain(case_problem *c)
{
    case_random random = {7};
    case_random_problem(&random, 9, 11, CASE_ANY, c);
    for (int d = 0; d < 2; d++) {
        const fd_axis axis = {0.25, 1.25, d ? 7 : 6, 1, {0.5, 0, 0}, {0.5, 0, 0}, {FD_ANYWHERE, 0, 0}};
        c->problem.axis[d] = axis, c->problem.points[d] = NULL, c->problem.spot[d] = 0.6;
        c->parameters.low[d] = 0.25, c->parameters.high[d] = 1.25;
        c->parameters.pull[d] = 1, c->parameters.drift[d] = 0.1, c->parameters.diffusion[d] = 0.05;
        for (int side = 0; side < 2; side++) c->problem.face[d][side] = FD_LINEAR, c->parameters.vanish[d][side] = 0;
        c->at_date[d].what = d ? FD_CHANGE_VALUES + FD_RECORD : FD_SHIFT;
        c->at_date[d].cash = 0.01, c->at_date[d].proportion = 0.01;
        c->date[d] = d ? 0.125 : 0;
    }
    const fd_times times = {0.25, 4, FD_EQUAL, 1, FD_THETA, 0.5, 2, 2, c->date, NULL};
    c->problem.times = times, c->problem.at_date = c->at_date;
    c->problem.scheme = FD_CRAIG_SNEYD, c->problem.coefficients = FD_BOTH_ENDS;
    c->problem.finals = FD_TOLD, c->problem.kinks = 1, c->problem.kink[0] = c->parameters.strike = 0.7;
    c->problem.exercise = FD_EUROPEAN;
    c->parameters.payoff = CASE_CALL, c->parameters.mixed = 0.02;
}

/* What a spoilt problem is to be told. */
typedef struct {
    int what, detail, axis, i, j, step;
} case_verdict;

CASE_FUNCTION case_verdict case_said(int what, int detail, int axis)
{
    case_verdict v = {what, detail, axis, -1, -1, -1};
    return v;
}

/* Spoils number `which` of a plain problem, in the order in which pde/adi2d.h has its arguments. Returns 0 when there
   are no more. Infinite and NaN numbers take turns. */
CASE_FUNCTION int case_spoil(int which, case_problem *c, case_verdict *says)
{
    adi2d_problem *q = &c->problem;
    case_parameters *p = &c->parameters;
    const double nan = sqrt(-1.0), infinite = HUGE_VAL;
    const int d = which % 2;
    double *x = c->x[d];
    int n = 0;
    case_plain(c);
    for (int m = 0; m < q->axis[d].points; m++) x[m] = 0.25 + m * (1.0 / (q->axis[d].points - 1));
#define CASE_IS(count) (which >= n && which < (n += (count)))
#define CASE_OF (which - (n - count))
    /* The axes, two by two. */
    if (CASE_IS(2)) return q->axis[d].points = 3, *says = case_said(FD_BAD_SIZE, 0, d), 1;
    if (CASE_IS(2)) return q->axis[d].points = 12 + d, *says = case_said(FD_TOO_MANY_POINTS, 12 + d, d), 1;
    if (CASE_IS(2)) return q->face[d][0] = -1, *says = case_said(FD_BAD_FACE, 0, d), 1;
    if (CASE_IS(2)) return q->face[d][1] = FD_P_FACES, *says = case_said(FD_BAD_FACE, 0, d), 1;
    if (CASE_IS(2)) return q->axis[d].low = nan, *says = case_said(FD_BAD_AXIS, FD_BAD_NUMBER, d), 1;
    if (CASE_IS(2)) return q->axis[d].place[0] = 2, *says = case_said(FD_BAD_AXIS, FD_PLACE_OUTSIDE, d), 1;
    if (CASE_IS(2)) return q->axis[d].align[0] = 3, *says = case_said(FD_BAD_AXIS, FD_BAD_ALIGNMENT, d), 1;
    if (CASE_IS(2)) return q->points[d] = x, x[3] = nan, *says = case_said(FD_BAD_AXIS, 4, d), 1;
    if (CASE_IS(2)) return q->points[d] = x, x[0] = -infinite, *says = case_said(FD_BAD_AXIS, 1, d), 1;
    if (CASE_IS(2)) return q->points[d] = x, x[4] = x[3], *says = case_said(FD_BAD_AXIS, 5, d), 1;
    if (CASE_IS(2)) return q->points[d] = x, x[0] = 0, x[1] = 1e-320, *says = case_said(FD_BAD_AXIS, 1, d), 1;
    if (CASE_IS(2)) return q->spot[d] = 1.26, *says = case_said(FD_BAD_SPOT, 0, d), 1;
    if (CASE_IS(2)) return q->spot[d] = nan, *says = case_said(FD_BAD_SPOT, 0, d), 1;
    /* Dates, two by two. */
    if (CASE_IS(2)) return c->at_date[d].what = d ? 16 : -1, *says = case_said(FD_BAD_EVENT, 1 + d, -1), 1;
    if (CASE_IS(2)) return c->at_date[d].cash = nan, *says = case_said(FD_BAD_EVENT, 1 + d, -1), 1;
    if (CASE_IS(2)) return c->at_date[d].proportion = infinite, *says = case_said(FD_BAD_EVENT, 1 + d, -1), 1;
    if (CASE_IS(2)) return c->date[d] = d ? -0.0 : 0.25, *says = case_said(FD_BAD_TIMES, 1 + d, -1), 1;
    /* One by one. */
    if (CASE_IS(1)) return q->times.dates = 3, *says = case_said(FD_TOO_MANY_DATES, 3, -1), 1;
    if (CASE_IS(1)) return q->times.dates = -1, *says = case_said(FD_BAD_TIMES, FD_BAD_SIZE, -1), 1;
    if (CASE_IS(1)) return q->times.date = NULL, *says = case_said(FD_BAD_TIMES, FD_BAD_ARGUMENT, -1), 1;
    if (CASE_IS(1)) return q->times.maturity = nan, *says = case_said(FD_BAD_TIMES, FD_BAD_NUMBER, -1), 1;
    if (CASE_IS(1)) return q->times.steps = 0, *says = case_said(FD_BAD_TIMES, FD_BAD_STEPS, -1), 1;
    if (CASE_IS(1)) return q->times.steps = 20, *says = case_said(FD_TOO_MANY_STEPS, 22, -1), 1;
    if (CASE_IS(1)) return q->times.grading = 3, *says = case_said(FD_BAD_TIMES, FD_BAD_GRADING, -1), 1;
    if (CASE_IS(1)) return q->times.kind = 3, *says = case_said(FD_BAD_TIMES, FD_BAD_KIND, -1), 1;
    /* Too few explicit steps: 2 d_x / h_x^2 + 2 d_y / h_y^2 + kill / 2 is 327.5 at the last y. */
    if (CASE_IS(1)) {
        q->times.kind = FD_EXPLICIT, q->times.halves = 0, q->axis[0].places = q->axis[1].places = 0;
        p->change = 0, p->diffusion[0] = 5, q->times.dates = 0, *says = case_said(FD_UNSTABLE, 82, -1);
        return 1;
    }
    if (CASE_IS(1)) return q->times.halves = -1, *says = case_said(FD_BAD_TIMES, FD_BAD_SIZE, -1), 1;
    if (CASE_IS(1))
        return q->times.grading = FD_GEOMETRIC, q->times.ratio = 0, *says = case_said(FD_BAD_TIMES, FD_BAD_NUMBER, -1),
               1;
    if (CASE_IS(1)) return q->times.theta = nan, *says = case_said(FD_BAD_THETA, 0, -1), 1;
    if (CASE_IS(1)) return q->times.theta = 1.01, *says = case_said(FD_BAD_THETA, 0, -1), 1;
    if (CASE_IS(1)) return q->scheme = -1, *says = case_said(FD_BAD_SCHEME, 0, -1), 1;
    if (CASE_IS(1)) return q->scheme = 4, *says = case_said(FD_BAD_SCHEME, 0, -1), 1;
    if (CASE_IS(1)) return q->coefficients = -1, *says = case_said(FD_BAD_COEFFICIENTS, 0, -1), 1;
    if (CASE_IS(1)) return q->coefficients = 3, *says = case_said(FD_BAD_COEFFICIENTS, 0, -1), 1;
    if (CASE_IS(1)) return q->finals = -1, *says = case_said(FD_BAD_FINALS, 0, -1), 1;
    if (CASE_IS(1)) return q->finals = 4, *says = case_said(FD_BAD_FINALS, 0, -1), 1;
    if (CASE_IS(1)) return q->exercise = -1, *says = case_said(FD_BAD_EXERCISE, 0, -1), 1;
    if (CASE_IS(1)) return q->exercise = 3, *says = case_said(FD_BAD_EXERCISE, 0, -1), 1;
    if (CASE_IS(1)) return q->kinks = -1, *says = case_said(FD_BAD_KINKS, 0, -1), 1;
    if (CASE_IS(1)) return q->kinks = 5, *says = case_said(FD_BAD_KINKS, 0, -1), 1;
    if (CASE_IS(1)) return q->kink[0] = infinite, *says = case_said(FD_BAD_KINKS, 1, -1), 1;
    if (CASE_IS(1)) return q->kinks = 2, q->kink[1] = 0.7, *says = case_said(FD_BAD_KINKS, 2, -1), 1;
    /* Short waves along an axis with so much diffusion are amplified by 1 - 1 / theta a step. */
    if (CASE_IS(1))
        return q->times.halves = 0, q->times.theta = 0.01, p->diffusion[0] = 1e5, *says = case_said(FD_GREW, 0, -1), 1;
    /* The model. Points that come out of fd_axis are looked up. */
    double line[2][16];
    if (fd_axis_points(&q->axis[0], line[0]) || fd_axis_points(&q->axis[1], line[1])) return 0;
    p->bad_at[0] = line[0][2], p->bad_at[1] = line[1][5], p->bad_at[2] = 0.1; /* before which step 3 ends */
    case_verdict v = {FD_MODEL_NAN, 0, 0, 2, -1, -1};
    if (CASE_IS(1)) return p->bad = CASE_BAD_X, *says = v, 1;
    v.axis = 1, v.i = -1, v.j = 5;
    if (CASE_IS(1)) return p->bad = CASE_BAD_Y, *says = v, 1;
    v.axis = -1, v.j = -1, v.step = 3;
    if (CASE_IS(1)) return p->bad = CASE_BAD_T, *says = v, 1;
    v.i = 2, v.j = 5;
    if (CASE_IS(1)) return p->bad = CASE_BAD_TERMS, *says = v, 1;
    if (CASE_IS(1)) return p->bad = CASE_BAD_TERMS, p->bad_at[2] = 1, v.step = 0, *says = v, 1;
    v.what = FD_FINAL_NAN, v.step = -1;
    if (CASE_IS(1)) return p->bad = CASE_BAD_PAYOFF, *says = v, 1;
    v.what = FD_NOT_SOLVED, v.step = 2; /* two halves, and the whole one that date 1 ends */
    if (CASE_IS(1)) return p->bad = CASE_BAD_CHANGE, *says = v, 1;
    v.i = 0, v.j = 0, v.step = 3; /* the solves spread it */
    if (CASE_IS(1))
        return p->bad = CASE_BAD_FACE, q->face[0][1] = FD_VALUE, q->scheme = FD_DOUGLAS, p->bad_at[2] = 0.1, *says = v,
               1;
#undef CASE_IS
#undef CASE_OF
    return 0;
}

/* Each argument spoilt alone, good problems between them: what each is told, and that the good ones are, to the bit,
   what they are when all are good. */
CASE_FUNCTION void case_statuses(const case_runner *runner)
{
    int bad = 0;
    case_verdict says;
    static case_problem one;
    while (case_spoil(bad, &one, &says)) bad++;
    case_problem *c = (case_problem *)case_guarded((size_t)(4 * bad) * sizeof *c);
    case_batch of[2];
    for (int good = 0; good < 2; good++) {
        of[good] = case_batch_of(2 * bad, 11, 11, 10, 2, ADI2D_TWO_STAGES, runner->single);
        for (int k = 0; k < 2 * bad; k++) {
            case_problem *each = &c[2 * bad * good + k];
            if (k % 2 && !good)
                case_spoil(k / 2, each, &says);
            else
                case_plain(each);
            *case_problem_of(&of[good], k) = each->problem, of[good].parameters[k] = each->parameters;
        }
        CHECK(runner->solve(&of[good].batch, of[good].parameters) == 0, "%s: launch", runner->name);
    }
    const size_t number = runner->single ? sizeof(float) : sizeof(double), grid_bytes = 11 * 11 * number;
    for (int k = 0; k < 2 * bad; k++) {
        const fd_status s = of[0].batch.status[k];
        const adi2d_values *values = case_values_of(&of[0], k);
        if (k % 2 == 0) {
            CHECK(s.what == FD_OK && s.i == -1 && s.j == -1 && s.step == -1 && s.axis == -1, "%s: good problem %d: %s",
                  runner->name, k, adi2d_status_string(s.what));
            CHECK(!memcmp(values, case_values_of(&of[1], k), 3 * sizeof *values), "%s: values of %d", runner->name, k);
            CHECK(!memcmp((const char *)of[0].batch.grid + (size_t)k * grid_bytes,
                          (const char *)of[1].batch.grid + (size_t)k * grid_bytes, grid_bytes),
                  "%s: grid of %d", runner->name, k);
            continue;
        }
        case_spoil(k / 2, &one, &says);
        CHECK(s.what == says.what && s.detail == says.detail && s.axis == says.axis && s.i == says.i && s.j == says.j &&
                  s.step == says.step,
              "%s: spoilt %d: %d, detail %d, axis %d, point %d %d, step %d instead of %d, %d, %d, %d %d, %d",
              runner->name, k / 2, s.what, s.detail, s.axis, s.i, s.j, s.step, says.what, says.detail, says.axis,
              says.i, says.j, says.step);
        int numbers = 0;
        for (int m = 0; m < 3 * 6; m++) numbers += !(((const double *)values)[m] != ((const double *)values)[m]);
        for (int at = 0; at < (int)(grid_bytes / number); at++) {
            double value = case_number(&of[0], runner->single, k, at);
            numbers += !(value != value);
        }
        CHECK(numbers == 0, "%s: spoilt %d has %d numbers", runner->name, k / 2, numbers);
        CHECK(case_coordinates_off(&of[0], k) == 0, "%s: spoilt %d has coordinates", runner->name, k / 2);
    }
    case_batch_free(&of[0], runner->name), case_batch_free(&of[1], runner->name);
    case_release(c, (size_t)(4 * bad) * sizeof *c);
}

/* ---- what a model declares --------------------------------------------------------------------------------------- */

/* Number `which` of the problems of a model that is not what it declares, or that is ill-posed; what is 0 for one that
   is good, and -1 for one that there is not. */
CASE_FUNCTION case_verdict case_lie(int which, const case_runner *runner, case_problem *c)
{
    static const int more[3] = {CASE_MORE_X, CASE_MORE_Y, CASE_MORE_T};
    case_parameters *p = &c->parameters;
    case_verdict v = {FD_OK, 0, -1, -1, -1, -1}, at_first = {FD_ILL_POSED, 0, -1, 0, 0, 0};
    double x[16];
    case_plain(c);
    p->change = 0, p->mixed = 2 * sqrt(p->diffusion[0] * p->diffusion[1]); /* the most that there may be */
    if (which == 0) return v;
    if (which < 4) {
        p->bad = more[which - 1], v.what = FD_TOO_FEW_NUMBERS, v.axis = which < 3 ? which - 1 : -1;
        v.step = which < 3 ? -1 : 0;
        return v;
    }
    if (which == 4) return p->diffusion[0] = p->diffusion[1] = -1e-3, p->mixed = 0, at_first;
    if (which == 5 && runner->mixed) return p->mixed *= 1.0001, at_first;
    if (which == 6 && !runner->mixed && !runner->alone)
        return at_first.what = FD_MIXED_UNDECLARED, at_first.detail = 1, p->bad = CASE_LIE_MIXED, at_first;
    if (which == 7 && runner->alone) return at_first.what = FD_CHANGES_UNDECLARED, p->bad = CASE_LIE_CHANGES, at_first;
    if (which == 8 && runner->alone) {
        at_first.what = FD_CHANGES_UNDECLARED, p->bad = CASE_LIE_ONCE, p->bad_at[2] = 0.0625;
        at_first.j = 1, at_first.step = 4; /* which ends there, and is that row's own */
        return at_first;
    }
    if (which == 9 && runner->alone && !fd_axis_points(&c->problem.axis[0], x)) {
        at_first.what = FD_NOT_INDEPENDENT, p->bad = CASE_LIE_ALONE, p->bad_at[0] = x[2];
        at_first.axis = 1, at_first.i = 2;
        return at_first;
    }
    if (which == 10 || which == 11) {
        const int axis = which - 10, side = 1 - axis;
        c->problem.face[axis][side] = FD_DEGENERATE, p->vanish[axis][side] = 1, p->drift[axis] = side ? 3 : -3;
        at_first.what = FD_OUTWARD, at_first.axis = axis, at_first.i = side ? 5 : 0;
        return at_first;
    }
    return v.what = -1, v;
}

CASE_FUNCTION void case_declarations(const case_runner *runner)
{
    static case_problem c[16];
    case_verdict says[16];
    int all = 0;
    for (int which = 0; which < 12; which++) {
        says[all] = case_lie(which, runner, &c[all]);
        all += says[all].what != -1;
    }
    case_batch b = case_batch_of(all, 11, 11, 10, 2, ADI2D_TWO_STAGES, runner->single);
    for (int k = 0; k < all; k++) *case_problem_of(&b, k) = c[k].problem, b.parameters[k] = c[k].parameters;
    CHECK(runner->solve(&b.batch, b.parameters) == 0, "%s: launch", runner->name);
    for (int k = 0; k < all; k++) {
        const fd_status s = b.batch.status[k];
        CHECK(s.what == says[k].what && s.detail == says[k].detail && s.axis == says[k].axis && s.i == says[k].i &&
                  s.j == says[k].j && s.step == says[k].step,
              "%s: declaration %d: %d, detail %d, axis %d, point %d %d, step %d instead of %d", runner->name, k, s.what,
              s.detail, s.axis, s.i, s.j, s.step, says[k].what);
        const double value = case_values_of(&b, k)->value;
        CHECK((value == value) == (s.what == FD_OK), "%s: declaration %d: %.3g", runner->name, k, value);
    }
    case_batch_free(&b, runner->name);
}

/* ---- random problems against the reference ----------------------------------------------------------------------- */

/* What rounding may leave of the largest value: some 100000 units in double precision, where drifts that matrices
   cannot take make elimination without pivots grow; in single precision 1800 were met. */
CASE_FUNCTION double case_tolerance(const case_runner *runner)
{
    return runner->single ? 2e-4 : 1e-11;
}

/* A batch of problems of sizes of their own, each against the reference; relative tolerance of the largest value that
   the march has met. */
CASE_FUNCTION void case_random_batch(const case_runner *runner, case_random *random, int count, int most0, int most1,
                                     int like, double tolerance)
{
    case_problem *c = (case_problem *)case_guarded((size_t)count * sizeof *c);
    int kind = like == CASE_PRODUCT ? ADI2D_PRODUCTS : case_below(random, 2) ? ADI2D_ONE_STAGE : ADI2D_TWO_STAGES;
    case_batch b = case_batch_of(count, most0, most1, CASE_STEPS, CASE_DATES, kind, runner->single);
    for (int k = 0; k < count; k++) {
        case_random_problem(random, most0, most1, like, &c[k]);
        c[k].parameters.alone = runner->alone;
        if (kind == ADI2D_ONE_STAGE) c[k].problem.scheme = FD_DOUGLAS;
        *case_problem_of(&b, k) = c[k].problem, b.parameters[k] = c[k].parameters;
    }
    CHECK(runner->solve(&b.batch, b.parameters) == 0, "%s: launch", runner->name);
    for (int k = 0; k < count; k++) {
        const adi2d_problem *q = &c[k].problem;
        const fd_status status = b.batch.status[k];
        const int n = q->axis[0].points, all = n * q->axis[1].points;
        const adi2d_values *got = case_values_of(&b, k);
        static double u[CASE_MOST * CASE_MOST];
        adi2d_values want[1 + CASE_DATES];
        double met[2];
        int not_dominant = case_march(&c[k].parameters, q, runner->fitting, runner->mixed, u, want, met);
        const double largest = met[0], growth = (double)status.growth;
        /* Neither of the two need be met near its largest value. */
        check_near(growth / met[1], 1, 1e-6 + 10 * tolerance * fmax(1, largest), "%s: growth", runner->name);
        if (!CHECK(status.what == (met[1] > (double)FD_MOST_GROWTH ? FD_GREW : FD_OK), "%s: %s, detail %d, step %d",
                   runner->name, adi2d_status_string(status.what), status.detail, status.step) ||
            status.what)
            continue;
        CHECK(case_coordinates_off(&b, k) == 0, "%s: coordinates", runner->name);
        if (!runner->single)
            CHECK(status.not_dominant == not_dominant, "%s: %d rows not_dominant instead of %d", runner->name,
                  status.not_dominant, not_dominant);
        double worst = 0;
        int where = 0;
        for (int at = 0; at < all; at++) {
            double off = fabs(case_number(&b, runner->single, k, at % n + most0 * (at / n)) - u[at]);
            if (!(off <= worst)) worst = off, where = at;
        }
        CHECK(
            worst <= tolerance * largest,
            "%s: %d x %d points, scheme %d, faces %d %d %d %d, coefficients %d, exercise %d, %d dates: off by %.2e at "
            "%d %d, values to %.2e",
            runner->name, n, q->axis[1].points, q->scheme, q->face[0][0], q->face[0][1], q->face[1][0], q->face[1][1],
            q->coefficients, q->exercise, q->times.dates, worst, where % n, where / n, largest);
        for (int date = -1; date < CASE_DATES; date++) {
            const adi2d_values *at = &got[1 + date], *due = &want[1 + date];
            if (date >= 0 && (date >= q->times.dates || !q->at_date || !(q->at_date[date].what & FD_RECORD))) {
                CHECK(case_untouched(at, sizeof *at), "%s: values of date %d, which is not recorded", runner->name,
                      date);
                continue;
            }
            check_near(at->value, due->value, tolerance * largest * 3, "%s: value at %d", runner->name, date);
            /* Derivatives by differences over the axis's least spacing, at worst. */
            double first = 0, second = 0;
            for (int d = 0; d < 2; d++) {
                double least = (c[k].parameters.high[d] - c[k].parameters.low[d]) / (q->axis[d].points * 3.0);
                first = fmax(first, 1 / least), second = fmax(second, 20 / (least * least));
            }
            check_near(at->dx, due->dx, tolerance * largest * 10 * first, "%s: dx at %d", runner->name, date);
            check_near(at->dy, due->dy, tolerance * largest * 10 * first, "%s: dy at %d", runner->name, date);
            check_near(at->dxx, due->dxx, tolerance * largest * second, "%s: dxx at %d", runner->name, date);
            check_near(at->dxy, due->dxy, tolerance * largest * second, "%s: dxy at %d", runner->name, date);
            check_near(at->dyy, due->dyy, tolerance * largest * second, "%s: dyy at %d", runner->name, date);
        }
    }
    case_batch_free(&b, runner->name);
    case_release(c, (size_t)count * sizeof *c);
}

#endif
