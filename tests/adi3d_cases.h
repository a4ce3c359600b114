/* adi3d_cases.h - what the tests of pde/adi3d.h share: models with all that a model may have, random problems for them,
   and a plain march of the schemes in double precision, written from the formulas of docs/fd.md and of the books alone.
   MIT licence, see LICENSE. */
#ifndef ADI3D_CASES_H
#define ADI3D_CASES_H

#include "../pde/adi3d.h"

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
    CASE_BAD_Z,
    CASE_BAD_T,
    CASE_BAD_TERMS,
    CASE_BAD_PAYOFF,
    CASE_BAD_CHANGE,
    CASE_BAD_FACE,
    CASE_BAD_ALONE,   /* at one point the kill is another finite number */
    CASE_LIE_MIXED,   /* all mixed terms, whatever is declared */
    CASE_LIE_CHANGES, /* the drift along x grows with t, whatever is declared */
    CASE_NEGATIVE_X,  /* the diffusion along x, along y, along z is negative; last: all are */
    CASE_NEGATIVE_Y,
    CASE_NEGATIVE_Z,
    CASE_NEGATIVE
};
enum { CASE_CALL, CASE_WAVE, CASE_BASKET, CASE_PAYOFFS };

/* The models. x', y', z' are the position between low and high, 0 .. 1; T = 1 + change sin 3t and U = 1 + change t,
   both 1 for a model in which nothing changes. Lists give the factors for x, y and z:
     drift_d = (drift_d + pull_d (1/2 - x_d')) T, U, T
     volatility = volatility_d v(x_d') (1 + 0.3 y', 1 + 0.2 z', 1 + 0.1 x') T, U, T
     diffusion = volatility^2, mixed = beta times the two volatilities
     beta = CASE_BETA_12 (1 - z'/2), CASE_BETA_13 U, CASE_BETA_23 T     kill = CASE_KILL (1 + x' y' z' / 2) U
     source = source (1 + x' z') U
   Exercise pays the payoff, in the model `upwind` 1 - t times the payoff. v vanishes linearly at faces that are to be
   degenerate; elsewhere it is 1. If axes are `apart`, x', y' and z' are 0 except in drifts and in v. */
#define CASE_KILL 0.125
#define CASE_BETA_12 0.9
#define CASE_BETA_13 -0.6
#define CASE_BETA_23 0.8
typedef struct {
    double low[3], high[3], drift[3], pull[3], volatility[3], change, source, strike, phase;
    double rests; /* before this time nothing changes */
    int vanish[3][2], payoff, bad;
    int apart;        /* whether drift, volatility and kill along an axis depend on its own coordinate alone */
    double bad_at[4]; /* where the model fails: at x, at y, at z, before t */
} case_parameters;

/* Returns the time at which the formulas above give the coefficients of time t. */
TB_HD double case_time(const case_parameters *p, double t)
{
    return t < p->rests ? p->rests : t;
}

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
    const int bad = p->bad == CASE_BAD_X + axis && case_there(x, p->bad_at[axis]);
    number[0] = p->drift[axis] + p->pull[axis] * (0.5 - case_share(p, axis, x));
    number[1] = p->volatility[axis] * case_vanishing(p, axis, x);
    number[2] = bad ? sqrt(-1.0) : p->apart ? 0 : case_share(p, axis, x);
    number[3] = case_there(x, p->bad_at[axis]);
}

TB_HD int case_at_bad(const case_parameters *p, const double *at)
{
    return case_there(at[0], p->bad_at[0]) && case_there(at[1], p->bad_at[1]) && case_there(at[2], p->bad_at[2]);
}

TB_HD double case_payoff(const case_parameters *p, const double *at)
{
    double over = at[0] - p->strike;
    if (p->bad == CASE_BAD_PAYOFF && case_at_bad(p, at)) return sqrt(-1.0);
    if (p->payoff == CASE_WAVE) return 1 + 0.4 * sin(3 * at[0] + p->phase) * cos(2 * at[1]) * (1 + 0.2 * at[2]);
    if (p->payoff == CASE_BASKET) over += at[1] - 0.5 * at[2];
    return over > 0 ? over : 0;
}

TB_HD double case_exercise(const case_parameters *p, const double *at, double t)
{
    return (1 - t) * case_payoff(p, at);
}

/* Returns the value or slope that is given at a face. It agrees neither with the final values nor with the other faces:
   a march must cope with that. */
TB_HD double case_face(const case_parameters *p, int axis, int side, const double *at, double t)
{
    double sum = 0;
    if (p->bad == CASE_BAD_FACE && axis == 2 && side == 1 && t < p->bad_at[3]) return sqrt(-1.0);
    for (int d = 0; d < 3; d++)
        if (d != axis) sum += (1 + d) * at[d];
    return 0.4 + 0.2 * axis - 0.3 * side + 0.2 * sin(sum + t + p->phase);
}

TB_HD double case_change(const case_parameters *p, int date, const double *at, double value)
{
    if (p->bad == CASE_BAD_CHANGE && case_at_bad(p, at)) return sqrt(-1.0);
    return date % 2 ? 0.75 * value + 2 * at[0] * at[1] * at[2] : at[2] > p->strike + 0.2 ? 0 : value;
}

/* Models with drifts discretised in each of the three ways; all mixed terms, some, one and none. */
#define CASE_MODEL central
#define CASE_FITTING FD_CENTRAL
#define CASE_CHANGES 1
#define FD_MODEL_MIXED 7
#include "adi3d_case_model.h"
#define CASE_MODEL upwind
#define CASE_FITTING FD_UPWIND
#define CASE_CHANGES 1
#define FD_MODEL_MIXED 5
#define FD_MODEL_EXERCISE
#include "adi3d_case_model.h"
#define CASE_MODEL fitted
#define CASE_FITTING FD_FITTED
#define CASE_CHANGES 0
#define FD_MODEL_MIXED 2
#define FD_MODEL_STEADY 7
#include "adi3d_case_model.h"
/* Axes that are independent, if the parameters say so too. */
#define CASE_MODEL apart
#define CASE_FITTING FD_CENTRAL
#define CASE_CHANGES 1
#define FD_MODEL_MIXED 7
#define FD_MODEL_INDEPENDENT 7
#include "adi3d_case_model.h"

/* The coefficients of the equation at a point, by the formulas above; mixed: of the pairs 12, 13, 23. */
typedef struct {
    double drift[3], diffusion[3], mixed[3], kill, source;
} case_coefficients;

/* ---- the reference ----------------------------------------------------------------------------------------------- */

enum { CASE_AXES = 3, CASE_MOST = 72 };                            /* points of an axis */
static const int case_one[3] = {0, 0, 1}, case_two[3] = {1, 2, 2}; /* the axes of the pairs 12, 13, 23 */
typedef fd_problem case_pde;
#include "adi_cases.h"

/* Finds the indices of point number `at`. */
CASE_REFERENCE void case_index(const case_grid *g, int at, int *index)
{
    for (int d = 0; d < 3; d++) index[d] = at / g->stride[d] % g->n[d];
}

CASE_REFERENCE case_coefficients case_at(const case_grid *g, const int *index, double t)
{
    const case_parameters *p = g->p;
    case_coefficients c;
    double share[3], felt[3], s[3], slow = 1 + (g->changes ? p->change * sin(3 * case_time(p, t)) : 0);
    double steady = 1 + (g->changes ? p->change * case_time(p, t) : 0);
    for (int d = 0; d < 3; d++) share[d] = case_share(p, d, g->x[d][index[d]]);
    const double time[3] = {slow, steady, slow};
    for (int d = 0; d < 3; d++) felt[d] = p->apart ? 0 : share[d];
    const double other[3] = {1 + 0.3 * felt[1], 1 + 0.2 * felt[2], 1 + 0.1 * felt[0]};
    const double beta[3] = {CASE_BETA_12 * (1 - 0.5 * felt[2]), CASE_BETA_13 * steady, CASE_BETA_23 * slow};
    for (int d = 0; d < 3; d++) {
        c.drift[d] = (p->drift[d] + p->pull[d] * (0.5 - share[d])) * time[d];
        s[d] = p->volatility[d] * case_vanishing(p, d, g->x[d][index[d]]) * other[d] * time[d];
        c.diffusion[d] = s[d] * s[d];
    }
    for (int p = 0; p < 3; p++) c.mixed[p] = g->mixed & (1 << p) ? beta[p] * s[case_one[p]] * s[case_two[p]] : 0;
    c.kill = CASE_KILL * (1 + 0.5 * felt[0] * felt[1] * felt[2]) * steady;
    c.source = p->source * (1 + felt[0] * felt[2]) * steady;
    return c;
}

/* A row of F along an axis: the weights of the points of its line, with a third of the kill; the terms without u, with
   a third of the source; the couplings to both neighbours. */
typedef struct {
    double weight[CASE_MOST], source, coupling[2];
} case_line;

/* Returns the row of F at a point along an axis, with the coefficients of time t and what faces are given at time
   given_at. */
CASE_REFERENCE case_line case_row(const case_grid *g, int axis, const int *index, double t, double given_at)
{
    case_line row;
    case_coefficients c = case_at(g, index, t);
    const double *x = g->x[axis], drift = c.drift[axis], diffusion = c.diffusion[axis];
    int k = index[axis], n = g->n[axis], in = k > 0 ? -1 : 1;
    memset(&row, 0, sizeof row);
    row.source = c.source / 3;
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
        if (kind == FD_DEGENERATE) { /* without the slope from the second to the third point */
            double beyond = fabs(x[k + 2 * in] - x[k + in]);
            row.coupling[!side] = in * drift * (1 + spacing / (spacing + beyond)) / spacing;
        }
        if (kind == FD_SLOPE) { /* the point beyond has the value that makes the slope */
            double coupling = 2 * diffusion / (spacing * spacing);
            const double at[3] = {g->x[0][index[0]], g->x[1][index[1]], g->x[2][index[2]]};
            row.coupling[!side] = row.weight[k + in] = coupling;
            row.weight[k] = -coupling;
            row.source += (drift - in * 2 * diffusion / spacing) * case_face(g->p, axis, side, at, given_at);
        }
    }
    row.weight[k] -= c.kill / 3;
    return row;
}

/* Computes F_0, or one of F_1 .. F_3, of v at all points. */
CASE_REFERENCE void case_part(const case_grid *g, int which, const double *v, double t, double given_at, double *f)
{
    for (int at = 0; at < g->all; at++) {
        int index[3];
        case_index(g, at, index);
        if (which > 0) {
            const int axis = which - 1, first = at - index[axis] * g->stride[axis];
            case_line row = case_row(g, axis, index, t, given_at);
            f[at] = row.source;
            for (int m = 0; m < g->n[axis]; m++) f[at] += row.weight[m] * v[first + m * g->stride[axis]];
            continue;
        }
        case_coefficients c = case_at(g, index, t);
        f[at] = 0;
        for (int p = 0; p < 3; p++) {
            const int one = case_one[p], two = case_two[p];
            const int first = at - index[one] * g->stride[one] - index[two] * g->stride[two];
            double along[CASE_MOST], across[CASE_MOST], sum = 0;
            if (!(g->mixed & (1 << p))) continue;
            case_first(g, one, index[one], along), case_first(g, two, index[two], across);
            for (int n = 0; n < g->n[two]; n++)
                for (int m = 0; m < g->n[one] && across[n] != 0; m++) /* most weights are 0 */
                    sum += across[n] * along[m] * v[first + m * g->stride[one] + n * g->stride[two]];
            f[at] += c.mixed[p] * sum;
        }
    }
}

/* Returns whether the row of 1 - size A with these couplings is dominant. */
CASE_REFERENCE int case_dominant(const case_line *row, double size, double kill)
{
    return 1 + size * (row->coupling[0] + row->coupling[1] + kill / 3) >
           size * (fabs(row->coupling[0]) + fabs(row->coupling[1]));
}

/* Returns whether a face of an axis before this one gives the value of a point. */
CASE_REFERENCE int case_given(const case_grid *g, int axis, const int *index)
{
    for (int d = 0; d < axis; d++)
        if ((index[d] == 0 && g->problem->face[d][0] == FD_VALUE) ||
            (index[d] == g->n[d] - 1 && g->problem->face[d][1] == FD_VALUE))
            return 1;
    return 0;
}

/* Solves y' - size F(y') = y - size F(w) along an axis. F(y') has the coefficients of time t and what faces are given
   at the step's end; `taken` holds F(w). In a face's row, couplings of the wrong sign and a third point that cannot be
   eliminated act on w instead of y'. */
CASE_REFERENCE void case_solve(const case_grid *g, int axis, double size, double t, double end, const double *taken,
                               const double *w, double *y)
{
    static double a[CASE_MOST][CASE_MOST];
    double b[CASE_MOST];
    const int n = g->n[axis], stride = g->stride[axis];
    for (int line = 0; line < g->all; line++) {
        int index[3];
        case_index(g, line, index);
        if (index[axis] > 0 || case_given(g, axis, index)) continue;
        for (int k = 0; k < n; k++) {
            const int at = line + k * stride;
            int at_face = k == 0 || k == n - 1, side = k > 0, in = side ? -1 : 1, kind = g->problem->face[axis][side];
            index[axis] = k;
            case_line row = case_row(g, axis, index, t, end);
            b[k] = y[at] - size * taken[at] + size * row.source;
            if (at_face && kind == FD_VALUE) {
                const double place[3] = {g->x[0][index[0]], g->x[1][index[1]], g->x[2][index[2]]};
                memset(&row, 0, sizeof row);
                b[k] = case_face(g->p, axis, side, place, end);
            } else if (at_face) {
                double left[CASE_MOST], kill = case_at(g, index, t).kill;
                double third = row.weight[k + 2 * in], beyond = row.coupling[!side];
                memset(left, 0, sizeof left);
                if (!case_dominant(&row, size, kill)) left[k + in] += beyond, left[k] -= beyond, beyond = 0;
                if (kind == FD_DEGENERATE && third != 0) {
                    /* third is the drift's weight of u2; as a slope it is third (u2 - u1). The row of u1 eliminates
                       u2. */
                    int beside[3] = {index[0], index[1], index[2]};
                    beside[axis] += in;
                    case_line next = case_row(g, axis, beside, t, end);
                    double near_kill = case_at(g, beside, t).kill;
                    double toward = -size * next.coupling[side], away = -size * next.coupling[!side];
                    double middle = 1 - toward - away + size * near_kill / 3;
                    double factor = -size * third / away;
                    double diagonal = 1 + size * (beyond + kill / 3) - factor * toward;
                    double near_by = size * (third - beyond) - factor * middle;
                    if (!(factor <= 0 && diagonal > fabs(near_by))) left[k + 2 * in] += third, left[k + in] -= third;
                }
                for (int m = 0; m < n; m++) {
                    row.weight[m] -= left[m];
                    b[k] += size * left[m] * w[line + m * stride];
                }
            }
            for (int m = 0; m < n; m++) a[k][m] = (m == k) - size * row.weight[m];
        }
        case_solve_dense(n, a, b);
        for (int k = 0; k < n; k++) y[line + k * stride] = b[k];
    }
}

/* In the order of fd_values: which derivative along each axis. */
static const int case_derivative[10][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                                           {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};

CASE_REFERENCE fd_values case_values(const case_grid *g, const double *u, const double *spot)
{
    double weight[3][3][4], sum[10];
    int first[3];
    for (int d = 0; d < 3; d++) first[d] = case_cubic(g->n[d], g->x[d], spot[d], weight[d]);
    for (int k = 0; k < 10; k++) {
        const int *which = case_derivative[k];
        sum[k] = 0;
        for (int m = 0; m < 64; m++) {
            const int i = m % 4, j = m / 4 % 4, l = m / 16;
            sum[k] += weight[0][which[0]][i] * weight[1][which[1]][j] * weight[2][which[2]][l] *
                      u[first[0] + i + g->stride[1] * (first[1] + j) + g->stride[2] * (first[2] + l)];
        }
    }
    const fd_values values = {sum[0], {sum[1], sum[2], sum[3]}, {sum[4], sum[5], sum[6]}, {sum[7], sum[8], sum[9]}};
    return values;
}

/* Returns the final value at a point: at kinks that the problem names, the average over the cell. */
CASE_FUNCTION double case_final(const case_grid *g, const int *index)
{
    const int i = index[0];
    const double at[3] = {g->x[0][i], g->x[1][index[1]], g->x[2][index[2]]}, k = g->p->strike;
    if (g->problem->finals == FD_TOLD && g->p->payoff == CASE_CALL && i > 0 && i < g->n[0] - 1) {
        double low = (at[0] + g->x[0][i - 1]) / 2, high = (at[0] + g->x[0][i + 1]) / 2;
        if (low < k && k < high) return (high - k) * (high - k) / 2 / (high - low);
    }
    return case_payoff(g->p, at);
}

/* A solver under test: it marches one model in one precision. */
typedef struct {
    const char *name;
    int single, fitting, mixed, changes, apart, own_exercise;
    /* Solves a batch of one problem, whose pointers are the host's. Returns the call's status. */
    int (*solve)(const fd_batch *batch, const case_parameters *parameters);
} case_runner;

enum { CASE_DATES = 2, CASE_SPOTS = 2, CASE_TIMES = 1 + CASE_DATES };

/* What a march leaves at time 0 and at dates: the grids, one after another, and values at spots. */
typedef struct {
    double *u, largest, growth; /* largest: the largest value met on the way */
    fd_values values[CASE_TIMES][CASE_SPOTS];
    int not_dominant;
} case_marched;

/* Records the grid and the values of a time. */
CASE_REFERENCE void case_record(const case_grid *g, const double *u, int time, case_marched *to)
{
    memcpy(to->u + time * g->all, u, sizeof *u * (size_t)g->all);
    for (int s = 0; s < CASE_SPOTS; s++) to->values[time][s] = case_values(g, u, g->problem->spot + 3 * s);
}

/* Makes the grid of a problem. */
CASE_FUNCTION void case_make_grid(const case_runner *runner, const case_parameters *p, const fd_problem *problem,
                                  case_grid *g)
{
    g->p = p, g->problem = problem, g->fitting = runner->fitting, g->mixed = runner->mixed;
    g->changes = runner->changes, g->all = 1;
    for (int d = 0; d < 3; d++) {
        g->n[d] = problem->axis[d].points, g->stride[d] = g->all, g->all *= g->n[d];
        if (problem->points[d])
            memcpy(g->x[d], problem->points[d], sizeof(double) * (size_t)g->n[d]);
        else if (fd_axis_points(&problem->axis[d], g->x[d]))
            fprintf(stderr, "no axis\n"), exit(2);
    }
}

/* Finds the coordinates of a point. */
CASE_REFERENCE void case_place(const case_grid *g, int at, double *place)
{
    int index[3];
    case_index(g, at, index);
    for (int d = 0; d < 3; d++) place[d] = g->x[d][index[d]];
}

/* Returns the largest magnitude that is given at a point: `most`, or what faces give there at time 0. */
CASE_REFERENCE double case_most_given(const case_grid *g, int at, double most)
{
    int index[3];
    double place[3];
    case_index(g, at, index), case_place(g, at, place);
    for (int f = 0; f < 6; f++) {
        const int d = f / 2, kind = g->problem->face[d][f % 2];
        const double length = kind == FD_SLOPE ? g->x[d][g->n[d] - 1] - g->x[d][0] : kind == FD_VALUE;
        if (index[d] == (f % 2 ? g->n[d] - 1 : 0))
            most = fmax(most, length * fabs(case_face(g->p, d, f % 2, place, 0)));
    }
    return most;
}

/* Counts the rows that are not dominant in a step. */
CASE_REFERENCE int case_count_rows(const case_grid *g, const fd_step *step)
{
    const int coefficients = g->problem->coefficients;
    const double then = coefficients == FD_MIDDLE ? (step->from + step->to) / 2 : step->to;
    int count = 0, index[3];
    for (int at = 0; at < 3 * g->all; at++) {
        const int axis = at / g->all;
        case_index(g, at % g->all, index);
        const int m = index[axis];
        if ((m == 0 || m == g->n[axis] - 1) && g->problem->face[axis][m > 0] == FD_VALUE) continue;
        const case_line row = case_row(g, axis, index, then, step->to);
        count += !case_dominant(&row, step->theta * (step->from - step->to), case_at(g, index, then).kill);
    }
    return count;
}

/* Applies what happens at the date at which a step ends; pays: what exercise pays. Returns the most that a change
   adds. */
CASE_REFERENCE double case_event(const case_grid *g, const fd_step *step, const double *pays, const double *old,
                                 double *u, double *extra)
{
    const fd_date *event = &g->problem->at_date[step->date];
    const int what = event->what, axis = what & FD_SHIFT_Z ? 2 : what & FD_SHIFT_Y ? 1 : 0, n = g->n[axis];
    const int apart = axis == 2 ? g->n[0] * g->n[1] : axis ? g->n[0] : 1; /* points along the axis */
    double given = 0;
    for (int at = 0; at < g->all; at++) {
        double place[3];
        case_place(g, at, place);
        if (what & (FD_SHIFT | FD_SHIFT_Y | FD_SHIFT_Z)) {
            double from = place[axis] - event->cash - event->proportion * place[axis], weight[3][4];
            from = fmin(fmax(from, g->x[axis][0]), g->x[axis][n - 1]);
            int first = case_cubic(n, g->x[axis], from, weight) - at / apart % n;
            for (int m = 0; m < 4; m++) u[at] += weight[0][m] * (old[at + (first + m) * apart] - old[at]);
        }
        if (event->what & FD_CHANGE_VALUES) {
            const double before = u[at];
            u[at] = case_change(g->p, step->date, place, before);
            given = fmax(given, fabs(u[at]) - fabs(before));
        }
        if (u[at] > pays[at]) extra[at] = 0; /* where the holder waits, earlier exercise adds nothing */
        if ((event->what & FD_EXERCISE) || g->problem->exercise != FD_EUROPEAN) u[at] = fmax(u[at], pays[at]);
    }
    return given;
}

/* Marches a valid problem, to `to`, whose u has room for CASE_TIMES grids. */
CASE_FUNCTION void case_march(const case_runner *runner, const case_parameters *p, const fd_problem *problem,
                              case_marched *to)
{
    enum { STEPS = 256 };
    static fd_step step[STEPS];
    static case_grid grid;
    case_grid *g = &grid;
    int steps = 0, index[3];
    case_make_grid(runner, p, problem, g);
    if (fd_schedule(&problem->times, STEPS, step, &steps)) fprintf(stderr, "no steps\n"), exit(2);
    const int all = g->all, american = problem->exercise == FD_AMERICAN;
    const size_t bytes = sizeof(double) * (size_t)all;
    double *final = (double *)case_guarded(bytes), *extra = (double *)case_guarded(bytes), given = 0;
    double *old = (double *)case_guarded(bytes), *pays = (double *)case_guarded(bytes);
    double *u = (double *)case_guarded(bytes);
    to->largest = to->growth = 0, to->not_dominant = 0;
    for (int at = 0; at < all; at++) {
        case_index(g, at, index), final[at] = u[at] = case_final(g, index), extra[at] = 0;
        given = case_most_given(g, at, fmax(given, fabs(u[at])));
    }
    for (int k = 0; k < steps; k++) {
        const double dt = step[k].from - step[k].to;
        to->not_dominant += ((k == 0) + (k == steps - 1)) * case_count_rows(g, &step[k]);
        case_step(g, &step[k], u, extra);
        for (int at = 0; at < all; at++) {
            double place[3];
            case_place(g, at, place);
            pays[at] = runner->own_exercise ? case_exercise(p, place, step[k].to) : final[at];
            if (problem->exercise == FD_EUROPEAN) continue;
            /* Ikonen and Toivanen: U - dt L = (what the step made) - dt (the old L), U >= pays, L >= 0, one equal. */
            const double held = american ? u[at] - dt * extra[at] : u[at], more = extra[at] + (pays[at] - u[at]) / dt;
            u[at] = held > pays[at] ? held : pays[at];
            extra[at] = american && more > 0 ? more : 0;
        }
        if (step[k].date >= 0 && problem->at_date) {
            memcpy(old, u, bytes);
            given = fmax(given, case_event(g, &step[k], pays, old, u, extra));
            if (problem->at_date[step[k].date].what & FD_RECORD) case_record(g, u, 1 + step[k].date, to);
        }
        for (int at = 0; at < all; at++) to->largest = fmax(to->largest, fabs(u[at]));
    }
    for (int at = 0; at < all; at++) to->growth = fmax(to->growth, given > 0 ? fabs(u[at]) / given : 0);
    case_record(g, u, 0, to);
    case_release(final, bytes), case_release(extra, bytes), case_release(old, bytes), case_release(pays, bytes);
    case_release(u, bytes);
}

/* ---- random problems --------------------------------------------------------------------------------------------- */

/* A problem and what it points to. It must not be copied: the pointers lead into it. */
typedef struct {
    case_parameters parameters;
    fd_problem problem;
    double x[3][CASE_MOST], date[CASE_DATES], spot[CASE_SPOTS][3];
    fd_date at_date[CASE_DATES];
} case_problem;

/* A batch of one problem. Its results lie between guards and are stale before the call. */
typedef struct {
    fd_batch batch;
    fd_status status;
    size_t value_bytes, grid_bytes, coordinate_bytes[3];
} case_results;

/* Makes the results of a problem in a precision, for grids of up to points[d] points on axis d. */
CASE_FUNCTION void case_results_for(const case_problem *c, int single, const int *points, case_results *r)
{
    fd_batch *b = &r->batch;
    memset(r, 0, sizeof *r);
    r->grid_bytes = CASE_TIMES * (single ? sizeof(float) : sizeof(double));
    for (int d = 0; d < 3; d++) {
        b->points[d] = points[d], r->grid_bytes *= (size_t)points[d];
        r->coordinate_bytes[d] = sizeof(double) * (size_t)points[d];
        b->coordinates[d] = (double *)case_stale(r->coordinate_bytes[d]);
    }
    r->value_bytes = CASE_TIMES * CASE_SPOTS * sizeof(fd_values);
    b->problems = 1, b->steps = 800, b->dates = CASE_DATES, b->spots = CASE_SPOTS;
    b->problem = &c->problem, b->status = &r->status;
    b->values = (fd_values *)case_stale(r->value_bytes), b->grid = case_stale(r->grid_bytes);
    r->status.what = -99;
}

/* Frees the results. Returns whether the guards are intact. */
CASE_FUNCTION int case_results_free(case_results *r)
{
    int whole = case_release(r->batch.values, r->value_bytes) & case_release(r->batch.grid, r->grid_bytes);
    for (int d = 0; d < 3; d++) whole &= case_release(r->batch.coordinates[d], r->coordinate_bytes[d]);
    return whole;
}

CASE_FUNCTION double case_number(const void *grid, int single, int at)
{
    return single ? (double)((const float *)grid)[at] : ((const double *)grid)[at];
}

/* Makes a random problem on 4 .. most[d] points on axis d. */
CASE_FUNCTION void case_random_problem(case_random *random, const int *most, case_problem *c)
{
    case_parameters *p = &c->parameters;
    fd_problem *q = &c->problem;
    memset(c, 0, sizeof *c);
    q->spot = c->spot[0];
    for (int d = 0; d < 3; d++) {
        const int n = 4 + case_below(random, most[d] - 3);
        const double low = case_between(random, 0, 0.5), high = low + case_between(random, 0.8, 2);
        fd_axis axis = {low, high, n, 1, {low + 0.4 * (high - low), 0, 0}, {0.3, 0, 0}, {FD_ANYWHERE, 0, 0}};
        q->axis[d] = axis;
        if (case_below(random, 2)) { /* the caller's own points */
            c->x[d][0] = 0;
            for (int i = 1; i < n; i++) c->x[d][i] = c->x[d][i - 1] + case_between(random, 0.5, 1.5);
            const double last = c->x[d][n - 1];
            for (int i = 0; i < n; i++) c->x[d][i] = low + (high - low) * c->x[d][i] / last;
            q->points[d] = c->x[d];
        }
        p->low[d] = low, p->high[d] = q->points[d] ? c->x[d][n - 1] : high;
        p->drift[d] = case_between(random, -0.2, 0.2);
        if (!case_below(random, 5)) p->drift[d] *= 20; /* matrices then lose their dominance */
        p->pull[d] = case_below(random, 4) ? case_between(random, 0.5, 1.5) : case_between(random, -0.3, 0.3);
        p->volatility[d] = pow(10, case_between(random, -1.5, -0.3));
        for (int e = 0; e < CASE_SPOTS; e++) c->spot[e][d] = case_between(random, low, p->high[d]);
        for (int side = 0; side < 2; side++) {
            q->face[d][side] = case_below(random, 4);
            p->vanish[d][side] = q->face[d][side] == FD_DEGENERATE;
        }
        case_turn_inward(&p->drift[d], &p->pull[d], p->vanish[d]);
    }
    p->change = case_between(random, -0.5, 0.5), p->phase = case_between(random, 0, 6);
    p->strike = p->low[0] + case_between(random, 0.2, 0.8) * (p->high[0] - p->low[0]);
    p->payoff = case_below(random, CASE_PAYOFFS);
    p->bad_at[0] = p->bad_at[1] = p->bad_at[2] = -1;
    q->scheme = case_below(random, 4);
    q->coefficients = case_below(random, 3);
    q->finals = p->payoff == CASE_CALL && case_below(random, 2) ? FD_TOLD : FD_AT_POINTS;
    q->kinks = 1, q->kink[0] = p->strike;
    q->exercise = case_below(random, 3);
    p->source = case_below(random, 2) ? case_between(random, -1, 1) : 0;
    fd_times *t = &q->times;
    t->maturity = case_between(random, 0.1, 0.4), t->steps = 1 + case_below(random, 4);
    t->grading = case_below(random, 3), t->ratio = 3;
    t->kind = FD_THETA;
    t->theta = case_below(random, 2) ? fd_scheme_theta(q->scheme, 3, 1) : case_between(random, 0.3, 1);
    t->halves = case_below(random, 4);
    t->dates = case_below(random, 1 + CASE_DATES), t->date = c->date, q->at_date = c->at_date;
    for (int k = 0; k < t->dates; k++) {
        c->date[k] = t->maturity * (0.1 + 0.4 * k + case_between(random, 0, 0.3));
        static const int shift[3] = {FD_SHIFT, FD_SHIFT_Y, FD_SHIFT_Z};
        c->at_date[k].what = case_below(random, 16);
        const int shifts = c->at_date[k].what & FD_SHIFT;
        if (shifts) c->at_date[k].what += shift[(t->steps + k) % 3] - FD_SHIFT;
        c->at_date[k].cash = shifts * case_between(random, -0.1, 0.2);
        c->at_date[k].proportion = shifts * case_between(random, -0.1, 0.2);
    }
}

/* Returns how many coordinates of a problem's results are wrong. They should be those of its points, and NaN beyond
   these or if it failed. */
CASE_FUNCTION int case_coordinates_off(const case_results *r, int what)
{
    static double x[ADI3D_MOST];
    const fd_problem *problem = r->batch.problem;
    int off = 0;
    for (int d = 0; d < 3; d++) {
        const int n = what ? 0 : problem->axis[d].points;
        const double *due = problem->points[d] ? problem->points[d] : x, *got = r->batch.coordinates[d];
        if (!what && due == x) off += fd_axis_points(&problem->axis[d], x) != 0;
        for (int i = 0; i < r->batch.points[d]; i++)
            off += i < n ? !(fabs(got[i] - due[i]) <= 1e-13) : got[i] == got[i];
    }
    return off;
}

/* Compares the grid of a time with that of the reference, and what lies beyond it with NaN. Returns the largest
   difference, or -1 if there is a number where NaN should be. */
CASE_FUNCTION double case_grid_off(const case_results *r, int single, int time, const double *u)
{
    const int *most = r->batch.points, all = most[0] * most[1] * most[2];
    int n[3];
    double worst = 0;
    for (int d = 0; d < 3; d++) n[d] = r->batch.problem->axis[d].points;
    for (int at = 0; at < all; at++) {
        const int i = at % most[0], j = at / most[0] % most[1], k = at / most[0] / most[1];
        const double got = case_number(r->batch.grid, single, time * all + at);
        if (i >= n[0] || j >= n[1] || k >= n[2]) {
            if (got == got) return -1;
            continue;
        }
        const double off = fabs(got - u[i + n[0] * (j + n[1] * k)]);
        if (!(off <= worst)) worst = off;
    }
    return worst;
}

/* Returns by how much the grids of two results at time 0 differ. Leaves the largest magnitude of the first in *most. */
CASE_FUNCTION double case_apart(const case_results *one, const case_results *other, int single, double *most)
{
    const int *n = one->batch.points, all = n[0] * n[1] * n[2];
    double worst = 0;
    *most = 0;
    for (int at = 0; at < all; at++) {
        const double due = case_number(one->batch.grid, single, at), got = case_number(other->batch.grid, single, at);
        if (due != due && got != got) continue;
        if (!(fabs(due - got) <= worst)) worst = fabs(due - got);
        if (!(fabs(due) <= *most)) *most = fabs(due);
    }
    return worst;
}

/* Compares values at the spots at a time. */
CASE_FUNCTION void case_compare_values(const case_runner *runner, const case_problem *c, const fd_values *got,
                                       const fd_values *due, double tolerance, int time)
{
    /* At worst a derivative is a difference over the axis's least spacing. */
    double slope[3];
    for (int d = 0; d < 3; d++)
        slope[d] = c->problem.axis[d].points * 3.0 / (c->parameters.high[d] - c->parameters.low[d]);
    for (int k = 0; k < 10 * CASE_SPOTS; k++) {
        double scale = 10;
        for (int d = 0; d < 3; d++) scale *= pow(slope[d] * 2, case_derivative[k % 10][d]);
        check_near((&got->value)[k], (&due->value)[k], tolerance * scale, "%s: value %d of spot %d, time %d",
                   runner->name, k % 10, k / 10, time);
    }
}

/* Solves a problem, and compares all results with the reference: to `tolerance` of the largest value. */
CASE_FUNCTION void case_compare(const case_runner *runner, const case_problem *c, double tolerance)
{
    const fd_problem *q = &c->problem;
    const int *n[3] = {&q->axis[0].points, &q->axis[1].points, &q->axis[2].points};
    const int points[3] = {*n[0] + *n[1] % 3, *n[1] + *n[2] % 2, *n[2] + *n[0] % 2}, all = *n[0] * *n[1] * *n[2];
    const size_t bytes = CASE_TIMES * sizeof(double) * (size_t)all;
    case_results r;
    case_marched march;
    march.u = (double *)case_guarded(bytes);
    case_results_for(c, runner->single, points, &r);
    const int call = runner->solve(&r.batch, &c->parameters), what = r.status.what;
    case_march(runner, &c->parameters, q, &march);
    const int due = march.growth > (double)FD_MOST_GROWTH ? FD_GREW : FD_OK;
    /* The largest value at the end may be far below the largest value met. */
    check_near((double)r.status.growth / march.growth, 1, 1e-6 + 10 * tolerance * fmax(1, march.largest), "%s: growth",
               runner->name);
    CHECK(call == FD_OK && what == due, "%s: %d, %s, detail %d, step %d", runner->name, call, fd_status_string(what),
          r.status.detail, r.status.step);
    CHECK(case_coordinates_off(&r, what) == 0, "%s: coordinates", runner->name);
    if (!runner->single && !what)
        CHECK(r.status.not_dominant == march.not_dominant, "%s: %d not_dominant, not %d", runner->name,
              r.status.not_dominant, march.not_dominant);
    for (int time = 0; time < CASE_TIMES && !what && !due; time++) {
        const fd_values *got = r.batch.values + time * CASE_SPOTS;
        if (time > 0 && (time > q->times.dates || !(q->at_date[time - 1].what & FD_RECORD))) {
            const size_t grid = r.grid_bytes / CASE_TIMES;
            CHECK(case_still_stale(got, CASE_SPOTS * sizeof *got) &&
                      case_still_stale((const char *)r.batch.grid + (size_t)time * grid, grid),
                  "%s: date %d is not recorded", runner->name, time);
            continue;
        }
        const double off = case_grid_off(&r, runner->single, time, march.u + time * all);
        CHECK(off >= 0 && off <= tolerance * march.largest,
              "%s: %d x %d x %d points, scheme %d, faces %d %d, %d %d, %d %d, coefficients %d, exercise %d, %d dates, "
              "time %d: off by %.2e, values to %.2e",
              runner->name, *n[0], *n[1], *n[2], q->scheme, q->face[0][0], q->face[0][1], q->face[1][0], q->face[1][1],
              q->face[2][0], q->face[2][1], q->coefficients, q->exercise, q->times.dates, time, off, march.largest);
        case_compare_values(runner, c, got, march.values[time], tolerance * march.largest, time);
    }
    CHECK(case_results_free(&r), "%s: a guard has been written", runner->name);
    case_release(march.u, bytes);
}

/* ---- what is wrong with problems --------------------------------------------------------------------------------- */

/* Makes a plain and valid problem. */
CASE_FUNCTION void case_plain(case_problem *c)
{
    fd_problem *q = &c->problem;
    memset(c, 0, sizeof *c);
    q->spot = c->spot[0];
    for (int d = 0; d < 3; d++) {
        const fd_axis axis = {0, 2, 6 + d, 0, {0}, {0}, {0}};
        q->axis[d] = axis;
        for (int e = 0; e < CASE_SPOTS; e++) c->spot[e][d] = 0.9 + 0.1 * e;
        c->parameters.low[d] = 0, c->parameters.high[d] = 2, c->parameters.volatility[d] = 0.2;
        c->parameters.bad_at[d] = -1;
    }
    c->parameters.strike = 1;
    const fd_times times = {0.25, 3, FD_EQUAL, 1, FD_THETA, 0.5, 2, CASE_DATES, c->date, NULL};
    q->times = times, q->at_date = c->at_date, q->scheme = FD_CRAIG_SNEYD;
    c->date[0] = 0.1, c->date[1] = 0.2;
}

/* Makes problem number k of CASE_KINDS: each scheme and kind of coefficients on the smallest grids, with faces of each
   kind on every side. */
enum { CASE_KINDS = 4 * 3 * 4 };
CASE_FUNCTION void case_kind(int k, case_problem *c)
{
    fd_problem *q = &c->problem;
    case_plain(c);
    for (int d = 0; d < 3; d++) q->axis[d].points = k % 2 ? 4 + d % 2 : 4;
    q->times.steps = 2, q->scheme = k % 4, q->coefficients = k / 4 % 3;
    q->times.theta = fd_scheme_theta(q->scheme, 3, 1);
    for (int f = 0; f < 6; f++) {
        q->face[f / 2][f % 2] = (k / 12 + f) % 4;
        c->parameters.vanish[f / 2][f % 2] = q->face[f / 2][f % 2] == FD_DEGENERATE;
    }
    c->parameters.change = 0.4, c->parameters.payoff = CASE_WAVE, c->parameters.source = 0.3;
}

/* Solves a problem that must be refused. Checks for the status that is due, and for NaN in all results. */
CASE_FUNCTION void case_refused(const case_runner *runner, const case_problem *c, const char *why, fd_status due)
{
    static const int points[3] = {8, 8, 9};
    const size_t all = CASE_TIMES * 8 * 8 * 9;
    case_results r;
    case_results_for(c, runner->single, points, &r);
    const int call = runner->solve(&r.batch, &c->parameters);
    const fd_status s = r.status;
    CHECK(call == FD_OK && s.what == due.what && s.detail == due.detail && s.axis == due.axis && s.i == due.i &&
              s.j == due.j && s.k == due.k && s.step == due.step,
          "%s, %s: %d, what %d detail %d axis %d at %d %d %d step %d", runner->name, why, call, s.what, s.detail,
          s.axis, s.i, s.j, s.k, s.step);
    int numbers = 0;
    for (size_t at = 0; at < all; at++) {
        const double number = case_number(r.batch.grid, runner->single, (int)at);
        numbers += number == number;
    }
    for (int k = 0; k < CASE_TIMES * CASE_SPOTS; k++) numbers += r.batch.values[k].value == r.batch.values[k].value;
    CHECK(numbers == 0, "%s, %s: %d numbers", runner->name, why, numbers);
    CHECK(case_coordinates_off(&r, due.what) == 0, "%s, %s: coordinates", runner->name, why);
    CHECK(case_results_free(&r), "%s, %s: a guard has been written", runner->name, why);
}

#define CASE_REFUSED(change, what, detail, axis, i, j, k, step)                                                        \
    do {                                                                                                               \
        case_plain(&c);                                                                                                \
        change;                                                                                                        \
        case_refused(runner, &c, #change, fd_status_of(what, detail, axis, i, j, k, step));                            \
    } while (0)

CASE_FUNCTION void case_statuses(const case_runner *runner)
{
    static case_problem c;
    static double points[3][10];
    fd_problem *q = &c.problem;
    for (int d = 0; d < 3; d++) {
        CASE_REFUSED(q->axis[d].points = 3, FD_BAD_SIZE, 0, d, -1, -1, -1, -1);
        CASE_REFUSED(q->axis[d].points = -1, FD_BAD_SIZE, 0, d, -1, -1, -1, -1);
        CASE_REFUSED(q->axis[d].points = 10, FD_TOO_MANY_POINTS, 10, d, -1, -1, -1, -1);
        CASE_REFUSED(q->face[d][1] = 4, FD_BAD_FACE, 0, d, -1, -1, -1, -1);
        CASE_REFUSED(q->face[d][0] = -1, FD_BAD_FACE, 0, d, -1, -1, -1, -1);
        CASE_REFUSED(q->axis[d].high = -1, FD_BAD_AXIS, FD_BAD_NUMBER, d, -1, -1, -1, -1);
        for (int i = 0; i < 10; i++) points[d][i] = i == 3 ? 2 : i;
        CASE_REFUSED(q->points[d] = points[d], FD_BAD_AXIS, 1 + 3, d, -1, -1, -1, -1);
        CASE_REFUSED(c.spot[0][d] = 2.1, FD_BAD_SPOT, 0, d, -1, -1, -1, -1);
        CASE_REFUSED(c.spot[1][d] = sqrt(-1.0), FD_BAD_SPOT, 1, d, -1, -1, -1, -1);
        CASE_REFUSED((c.parameters.bad = CASE_BAD_X + d, c.parameters.bad_at[d] = 0.4 * 5 / (5 + d)), FD_MODEL_NAN, 0,
                     d, d == 0 ? 1 : -1, d == 1 ? 1 : -1, d == 2 ? 1 : -1, -1);
    }
    CASE_REFUSED(q->scheme = 4, FD_BAD_SCHEME, 0, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->coefficients = 3, FD_BAD_COEFFICIENTS, 0, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->finals = -1, FD_BAD_FINALS, 0, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->exercise = 3, FD_BAD_EXERCISE, 0, -1, -1, -1, -1, -1);
    CASE_REFUSED((q->finals = FD_TOLD, q->kinks = 5), FD_BAD_KINKS, 0, -1, -1, -1, -1, -1);
    CASE_REFUSED((q->finals = FD_TOLD, q->kinks = 2), FD_BAD_KINKS, 2, -1, -1, -1, -1, -1);
    CASE_REFUSED(c.at_date[1].what = 64, FD_BAD_EVENT, 2, -1, -1, -1, -1, -1);
    CASE_REFUSED(c.at_date[1].what = FD_SHIFT + FD_SHIFT_Z, FD_BAD_EVENT, 2, -1, -1, -1, -1, -1);
    CASE_REFUSED(c.at_date[0].cash = sqrt(-1.0), FD_BAD_EVENT, 1, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->times.maturity = 0, FD_BAD_TIMES, FD_BAD_NUMBER, -1, -1, -1, -1, -1);
    CASE_REFUSED(c.date[1] = 0.05, FD_BAD_TIMES, 2, -1, -1, -1, -1, -1);
    CASE_REFUSED(c.date[1] = nextafter(c.date[0], 1), FD_BAD_TIMES, FD_BAD_SIZE, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->times.theta = 2, FD_BAD_THETA, 0, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->times.steps = 0, FD_BAD_TIMES, FD_BAD_STEPS, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->times.kind = 3, FD_BAD_TIMES, FD_BAD_KIND, -1, -1, -1, -1, -1);
    CASE_REFUSED(q->times.grading = -1, FD_BAD_TIMES, FD_BAD_GRADING, -1, -1, -1, -1, -1);
    /* Too few explicit steps: 2 (1.3 volatility)^2 / h^2 (9/8 of it with several mixed terms) plus kill / 2 is 21.21,
       or 23.85, in the last corner. */
    CASE_REFUSED((q->times.kind = FD_EXPLICIT, q->times.maturity = 30, q->times.dates = q->times.halves = 0,
                  c.parameters.change = 0, memset(c.parameters.pull, 0, sizeof c.parameters.pull),
                  memset(c.parameters.drift, 0, sizeof c.parameters.drift), c.parameters.volatility[0] = 1,
                  c.parameters.volatility[1] = c.parameters.volatility[2] = 0),
                 FD_UNSTABLE, runner->mixed & (runner->mixed - 1) ? 716 : 637, -1, -1, -1, -1, -1);
    CASE_REFUSED((c.parameters.bad = CASE_BAD_PAYOFF, c.parameters.bad_at[0] = 0.4, c.parameters.bad_at[1] = 2,
                  c.parameters.bad_at[2] = 2.0 / 7),
                 FD_FINAL_NAN, 0, -1, 1, 6, 1, -1);
    CASE_REFUSED((c.parameters.bad = CASE_BAD_T, c.parameters.bad_at[3] = 0.14), FD_MODEL_NAN, 0, -1, -1, -1, -1, 3);
    CASE_REFUSED((c.parameters.bad = CASE_BAD_TERMS, c.parameters.bad_at[0] = 0.8, c.parameters.bad_at[1] = 0,
                  c.parameters.bad_at[2] = 2, c.parameters.bad_at[3] = 0.14),
                 FD_MODEL_NAN, 0, -1, 2, 0, 7, 5);
    CASE_REFUSED((c.parameters.bad = CASE_BAD_CHANGE, c.parameters.bad_at[0] = 0.4, c.parameters.bad_at[1] = 1.0 / 3,
                  c.parameters.bad_at[2] = 4.0 / 7, c.at_date[0].what = FD_CHANGE_VALUES),
                 FD_NOT_SOLVED, 0, -1, 1, 1, 2, 3);
    /* With so much diffusion along an axis, each step multiplies short waves by 1 - 1 / theta. */
    CASE_REFUSED((q->times.halves = 0, q->times.theta = 0.01, c.parameters.volatility[0] = 300), FD_GREW, 0, -1, -1, -1,
                 -1, -1);
    case_plain(&c);
    static const int most[3] = {6, 7, 8};
    case_results r;
    case_results_for(&c, runner->single, most, &r);
    CHECK(runner->solve(&r.batch, &c.parameters) == FD_OK && !r.status.what && r.status.not_dominant == 0,
          "%s: the good one", runner->name);
    case_results_free(&r);
}

/* Checks that NaN arising on the way is found at the end; the march is then repeated, and says in which step it
   arose. */
CASE_FUNCTION void case_lost(const case_runner *runner)
{
    static case_problem c;
    fd_problem *q = &c.problem;
    for (int exercise = FD_EUROPEAN; exercise <= FD_PROJECTED; exercise++) /* exercise must not hide it */
        CASE_REFUSED((c.parameters.bad = CASE_BAD_FACE, c.parameters.bad_at[3] = 0.2, q->face[2][1] = FD_VALUE,
                      q->exercise = exercise),
                     FD_NOT_SOLVED, 0, -1, 0, 0, 0, 2); /* the first that ends before 0.2 */
}

/* Checks that models are refused that are not what they declare, or whose correlations are impossible. */
CASE_FUNCTION void case_declarations(const case_runner *runner)
{
    static case_problem c;
    case_parameters *p = &c.parameters;
    if (runner->mixed == 2 || runner->mixed == 5)
        CASE_REFUSED(p->bad = CASE_LIE_MIXED, FD_MIXED_UNDECLARED, runner->mixed == 2 ? 1 : 2, -1, 0, 0, 0, 0);
    if (!runner->changes) CASE_REFUSED(p->bad = CASE_LIE_CHANGES, FD_CHANGES_UNDECLARED, 0, -1, 0, 0, 0, 0);
    CASE_REFUSED((p->drift[2] = 3, p->vanish[2][1] = 1, c.problem.face[2][1] = FD_DEGENERATE, p->apart = runner->apart),
                 FD_OUTWARD, 0, 2, 0, 0, 7, 0);
    CASE_REFUSED(
        (p->drift[0] = -3, p->vanish[0][0] = 1, p->apart = runner->apart, c.problem.face[0][0] = FD_DEGENERATE),
        FD_OUTWARD, 0, 0, 0, 0, 0, 0);
    CASE_REFUSED((p->drift[0] = 3, p->vanish[0][1] = 1, c.problem.face[0][1] = FD_DEGENERATE, p->apart = runner->apart,
                  c.problem.face[1][0] = c.problem.face[2][0] = FD_VALUE),
                 FD_OUTWARD, 0, 0, 5, 1, 1, 0);
    /* The diffusion does not vanish at the face. */
    CASE_REFUSED((p->drift[2] = -1, c.problem.face[2][1] = FD_DEGENERATE, p->apart = runner->apart), FD_NOT_DEGENERATE,
                 0, 2, 0, 0, 7, 0);
    for (int d = 0; d < 4; d++)
        CASE_REFUSED((p->bad = CASE_NEGATIVE_X + d, p->apart = runner->apart), FD_ILL_POSED, 0, -1, 0, 0, 0, 0);
    if (runner->mixed != 7) return;
    /* beta_23 above 2; then smaller, where the three together make a matrix that is not positive definite. */
    CASE_REFUSED((p->change = 5, p->apart = runner->apart), FD_ILL_POSED, 0, -1, 0, 0, 0, 0);
    CASE_REFUSED((p->change = 2, p->apart = runner->apart), FD_ILL_POSED, 0, -1, 0, 0, 0, 0);
}
#undef CASE_REFUSED

/* Checks that what FD_MODEL_INDEPENDENT declares is checked: at the start, and at one point later. */
CASE_FUNCTION void case_not_alone(const case_runner *runner)
{
    static case_problem c;
    case_plain(&c);
    c.problem.times.dates = 0;
    case_refused(runner, &c, "axes are not apart", fd_status_of(FD_NOT_INDEPENDENT, 0, 2, 1, 0, 0, 0));
    case_plain(&c);
    c.problem.times.dates = 0, c.parameters.apart = 1, c.parameters.bad = CASE_BAD_ALONE;
    c.parameters.bad_at[0] = 0.4, c.parameters.bad_at[1] = 1.0 / 3, c.parameters.bad_at[2] = 4.0 / 7;
    c.parameters.bad_at[3] = 0.01;
    case_refused(runner, &c, "the kill of a point", fd_status_of(FD_NOT_INDEPENDENT, 0, 0, 1, 1, 2, 3));
}

#endif
