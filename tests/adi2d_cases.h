/* adi2d_cases.h - what the tests of pde/adi2d.h share: models with all that a model may have, random problems for them,
   and a plain march of the schemes in double precision, written from the formulas of docs/fd.md and of the books alone.
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
    CASE_BAD_ONCE, /* terms, only at the time bad_at[2] */
    CASE_BAD_PAYOFF,
    CASE_BAD_CHANGE,
    CASE_BAD_FACE,
    CASE_BAD_EXERCISE,
    CASE_LIE_MIXED,   /* a mixed term that is not declared */
    CASE_LIE_CHANGES, /* the other lies are of the model `alone`: diffusion_y grows with t */
    CASE_LIE_ONCE,    /* diffusion_y is larger around the time bad_at[2] only */
    CASE_LIE_ALONE,   /* diffusion_y is larger at bad_at[0] */
    CASE_LIE_DRIFT,   /* drift_y is larger there */
    CASE_LIE_KILL     /* kill is larger there */
};
enum { CASE_CALL, CASE_WAVE, CASE_DIGITAL, CASE_BASKET, CASE_PAYOFFS };

/* What a model has; CASE_ALONE: its terms along y depend on y alone. */
enum { CASE_MIXES = 1, CASE_SOURCES = 2, CASE_EXERCISES = 4, CASE_ALONE = 8 };

/* The models. x' and y' are the position between low and high, 0 .. 1; T = 1 + change sin 3t and U = 1 + change t:
     drift_x = (drift + pull (1/2 - x')) T            diffusion_x = diffusion v(x') (1 + 0.3 y') T
     drift_y = (drift + pull (1/2 - y')) U            diffusion_y = diffusion v(y') (1 + 0.2 x') U
     mixed = mixed v(x') v(y') T                      kill = CASE_KILL (1 + x' y' / 2) U
     source = source (x' - 2 y' + 1/2) U
   In the model `alone`, U is 1, x' in diffusion_y is 0, and x' in kill is 1. v vanishes linearly at faces that are to
   be degenerate; elsewhere it is 1. */
#define CASE_KILL 0.125
typedef struct {
    double low[2], high[2], drift[2], pull[2], diffusion[2], mixed, source, change, strike, phase;
    int vanish[2][2], payoff, bad;
    int has;          /* what the model has, for the plain march */
    double bad_at[3]; /* where the model fails: at x, at y, before t */
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

/* The model's numbers at a point of an axis. */
typedef struct {
    double drift, diffusion, share, mixed, bad;
} case_numbers;

TB_HD case_numbers case_numbers_along(const case_parameters *p, int axis, double at)
{
    const int there = case_there(at, p->bad_at[axis]);
    case_numbers n;
    n.drift = p->drift[axis] + p->pull[axis] * (0.5 - case_share(p, axis, at));
    n.diffusion = p->diffusion[axis] * case_vanishing(p, axis, at);
    n.share = there && p->bad == (axis ? CASE_BAD_Y : CASE_BAD_X) ? sqrt(-1.0) : case_share(p, axis, at);
    n.mixed = (axis ? 1 : p->mixed) * case_vanishing(p, axis, at);
    n.bad = there && (p->bad == CASE_BAD_TERMS || p->bad == CASE_BAD_ONCE || p->bad >= CASE_LIE_ALONE);
    return n;
}

/* Returns whether the model fails in this way at this point. */
TB_HD int case_fails(const case_parameters *p, int bad, const double *at)
{
    return p->bad == bad && case_there(at[0], p->bad_at[0]) && case_there(at[1], p->bad_at[1]);
}

TB_HD double case_payoff(const case_parameters *p, const double *at)
{
    double over = at[0] - p->strike;
    if (case_fails(p, CASE_BAD_PAYOFF, at)) return sqrt(-1.0);
    if (p->payoff == CASE_WAVE) return 1 + 0.4 * sin(3 * at[0] + p->phase) * cos(2 * at[1]);
    if (p->payoff == CASE_DIGITAL) return over > 0 ? 1 : over < 0 ? 0 : 0.5;
    if (p->payoff == CASE_BASKET) over += at[1];
    return over > 0 ? over : 0;
}

/* Returns the value or slope that is given at a face. It agrees neither with the final values nor with the other faces:
   a march must cope with that. */
TB_HD double case_face(const case_parameters *p, int axis, int side, const double *at, double t)
{
    if (p->bad == CASE_BAD_FACE && axis == 0 && side == 1 && t < p->bad_at[2]) return sqrt(-1.0);
    return 0.4 + 0.2 * axis - 0.3 * side + 0.1 * at[axis] + 0.2 * sin(3 * at[1 - axis] + t + p->phase);
}

TB_HD double case_change(const case_parameters *p, int date, const double *at, double value)
{
    if (case_fails(p, CASE_BAD_CHANGE, at)) return sqrt(-1.0);
    return date % 2 ? 0.75 * value + 2 * at[0] * at[1] : at[0] > p->strike + 0.2 ? 0 : value;
}

TB_HD double case_exercise(const case_parameters *p, const double *at, double t)
{
    if (case_fails(p, CASE_BAD_EXERCISE, at) && t < p->bad_at[2]) return sqrt(-1.0);
    return case_payoff(p, at) * (1 - 0.2 * t);
}

/* Models with drifts discretised in each of the three ways; with and without a mixed term, a source and an exercise
   value of their own; one whose terms along y depend on y alone. */
#define CASE_MODEL central
#define CASE_FITTING FD_CENTRAL
#define CASE_MIXED 1
#define CASE_SOURCE 1
#define CASE_EXERCISE 0
#define CASE_INDEPENDENT 0
#include "adi2d_case_model.h"
#define CASE_MODEL upwind
#define CASE_FITTING FD_UPWIND
#define CASE_MIXED 0
#define CASE_SOURCE 1
#define CASE_EXERCISE 1
#define CASE_INDEPENDENT 0
#include "adi2d_case_model.h"
#define CASE_MODEL fitted
#define CASE_FITTING FD_FITTED
#define CASE_MIXED 1
#define CASE_SOURCE 0
#define CASE_EXERCISE 1
#define CASE_INDEPENDENT 0
#include "adi2d_case_model.h"
#define CASE_MODEL alone
#define CASE_FITTING FD_UPWIND
#define CASE_MIXED 0
#define CASE_SOURCE 0
#define CASE_EXERCISE 0
#define CASE_INDEPENDENT 1
#include "adi2d_case_model.h"

/* What these models have. */
enum {
    CASE_CENTRAL_HAS = CASE_MIXES + CASE_SOURCES,
    CASE_UPWIND_HAS = CASE_SOURCES + CASE_EXERCISES,
    CASE_FITTED_HAS = CASE_MIXES + CASE_EXERCISES
};

/* The coefficients of the equation at a point, by the formulas above. */
typedef struct {
    double drift[2], diffusion[2], mixed, kill, source;
} case_coefficients;

CASE_REFERENCE case_coefficients case_at(const case_parameters *p, double x, double y, double t)
{
    case_coefficients c;
    const int alone = p->has & CASE_ALONE;
    const double slow = 1 + p->change * sin(3 * t), steady = alone ? 1 : 1 + p->change * t;
    const double s = case_share(p, 0, x), r = case_share(p, 1, y);
    c.drift[0] = (p->drift[0] + p->pull[0] * (0.5 - s)) * slow;
    c.drift[1] = (p->drift[1] + p->pull[1] * (0.5 - r)) * steady;
    c.diffusion[0] = p->diffusion[0] * case_vanishing(p, 0, x) * (1 + 0.3 * r) * slow;
    c.diffusion[1] = p->diffusion[1] * case_vanishing(p, 1, y) * (alone ? 1 : 1 + 0.2 * s) * steady;
    c.mixed = p->has & CASE_MIXES ? p->mixed * case_vanishing(p, 0, x) * case_vanishing(p, 1, y) * slow : 0;
    c.kill = CASE_KILL * (1 + (alone ? r : s * r) / 2) * steady;
    c.source = p->has & CASE_SOURCES ? p->source * (s - 2 * r + 0.5) * steady : 0;
    return c;
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

enum { CASE_AXES = 2, CASE_MOST = 144, CASE_DATES = 2, CASE_SPOTS = 2, CASE_STEPS = 12 };
typedef fd_problem case_pde;
#include "adi_cases.h"

/* Returns what is given at a point of a face. */
CASE_REFERENCE double case_given(const case_grid *g, int axis, int i, int j, double t)
{
    const double at[2] = {g->x[0][i], g->x[1][j]};
    return case_face(g->p, axis, (axis ? j : i) > 0, at, t);
}

/* A row of F along an axis: the weights of the points of its line, with half of the kill; the terms without u, with
   half of the source; the couplings to both neighbours. */
typedef struct {
    double weight[CASE_MOST], source, coupling[2];
} case_line;

/* Returns the row of F at point (i, j) along an axis, with the coefficients of time t and what faces are given at time
   given_at. */
CASE_REFERENCE case_line case_row(const case_grid *g, int axis, int i, int j, double t, double given_at)
{
    case_line row;
    case_coefficients c = case_at(g->p, g->x[0][i], g->x[1][j], t);
    const double *x = g->x[axis], drift = c.drift[axis], diffusion = c.diffusion[axis];
    int k = axis ? j : i, n = g->n[axis], in = k > 0 ? -1 : 1;
    memset(&row, 0, sizeof row);
    row.source = c.source / 2;
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
            row.coupling[!side] = row.weight[k + in] = coupling;
            row.weight[k] = -coupling;
            row.source += (drift - in * 2 * diffusion / spacing) * case_given(g, axis, i, j, given_at);
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

/* Computes F_0, F_1 or F_2 of v at all points. */
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
            if (!(g->p->has & CASE_MIXES)) continue;
            case_first(g, 0, i, along), case_first(g, 1, j, across);
            for (int n = 0; n < g->n[1]; n++)
                for (int m = 0; m < g->n[0] && across[n] != 0; m++) /* most weights are 0 */
                    sum += across[n] * along[m] * v[m + g->n[0] * n];
            f[at] = sum * case_at(g->p, g->x[0][i], g->x[1][j], t).mixed;
        }
}

/* Returns whether the row of 1 - size A with these couplings is dominant. */
CASE_REFERENCE int case_dominant(const case_line *row, double size, double kill)
{
    return 1 + size * (row->coupling[0] + row->coupling[1] + kill / 2) >
           size * (fabs(row->coupling[0]) + fabs(row->coupling[1]));
}

/* Solves y' - size F(y') = y - size F(w) along an axis. F(y') has the coefficients of time t and what faces are given
   at the step's end; `taken` holds F(w). In a face's row, couplings of the wrong sign and a third point that cannot be
   eliminated act on w instead of y'. */
CASE_REFERENCE void case_solve(const case_grid *g, int axis, double size, double t, double end, const double *taken,
                               const double *w, double *y)
{
    static double a[CASE_MOST][CASE_MOST];
    double b[CASE_MOST];
    int n = g->n[axis], lines = g->n[1 - axis];
    for (int line = 0; line < lines; line++) {
        if (axis == 1 && ((line == 0 && g->problem->face[0][0] == FD_VALUE) ||
                          (line == lines - 1 && g->problem->face[0][1] == FD_VALUE)))
            continue; /* the values of this line are given */
        for (int k = 0; k < n; k++) {
            int i = axis ? line : k, j = axis ? k : line, at = i + g->n[0] * j;
            int at_face = k == 0 || k == n - 1, side = k > 0, in = side ? -1 : 1, kind = g->problem->face[axis][side];
            case_line row = case_row(g, axis, i, j, t, end);
            b[k] = y[at] - size * taken[at] + size * row.source;
            if (at_face && kind == FD_VALUE) {
                memset(&row, 0, sizeof row);
                b[k] = case_given(g, axis, i, j, end);
            } else if (at_face) {
                double left[CASE_MOST], kill = case_at(g->p, g->x[0][i], g->x[1][j], t).kill;
                double third = row.weight[k + 2 * in], beyond = row.coupling[!side];
                memset(left, 0, sizeof left);
                if (!case_dominant(&row, size, kill)) left[k + in] += beyond, left[k] -= beyond, beyond = 0;
                if (kind == FD_DEGENERATE && third != 0) {
                    /* third is the drift's weight of u2; as a slope it is third (u2 - u1). The row of u1 eliminates
                       u2. */
                    case_line next = case_row(g, axis, axis ? i : i + in, axis ? j + in : j, t, end);
                    double near_kill =
                        case_at(g->p, g->x[0][axis ? i : i + in], g->x[1][axis ? j + in : j], t).kill;
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

/* Returns the values at spot s. */
CASE_REFERENCE fd_values case_values(const case_grid *g, const double *u, int s)
{
    static const int which[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {0, 2}, {1, 1}};
    double weight[2][3][4], sum[6] = {0, 0, 0, 0, 0, 0};
    int first[2];
    for (int d = 0; d < 2; d++) first[d] = case_cubic(g->n[d], g->x[d], g->problem->spot[2 * s + d], weight[d]);
    for (int k = 0; k < 6; k++)
        for (int m = 0; m < 16; m++)
            sum[k] += weight[0][which[k][0]][m % 4] * weight[1][which[k][1]][m / 4] *
                      u[first[0] + m % 4 + g->n[0] * (first[1] + m / 4)];
    fd_values values = {sum[0], {sum[1], sum[2], 0}, {sum[3], sum[4], 0}, {sum[5], 0, 0}};
    return values;
}

/* Returns the final value at (i, j): at kinks and jumps that the problem names, the average over the cell. */
CASE_FUNCTION double case_final(const case_grid *g, int i, int j)
{
    const double at[2] = {g->x[0][i], g->x[1][j]};
    double k = g->p->strike;
    if (g->problem->finals != FD_AT_POINTS && i > 0 && i < g->n[0] - 1 && g->p->payoff != CASE_WAVE) {
        double low = (at[0] + g->x[0][i - 1]) / 2, high = (at[0] + g->x[0][i + 1]) / 2;
        if (g->p->payoff == CASE_BASKET) k -= at[1];
        if (low < k && k < high)
            return (g->p->payoff == CASE_DIGITAL ? high - k : (high - k) * (high - k) / 2) / (high - low);
    }
    return case_payoff(g->p, at);
}

/* What a march leaves: the results of a batch, and what it saw on its way. Point (i, j) of a grid is at i + points
   j. */
typedef struct {
    double grid[1 + CASE_DATES][CASE_MOST * CASE_MOST];
    fd_values values[1 + CASE_DATES][CASE_SPOTS];
    double met, growth; /* the largest value met; that at time 0 over the largest of what was given */
    int not_dominant;
} case_answer;

/* The state of a march. */
typedef struct {
    case_grid g;
    double u[CASE_MOST * CASE_MOST], final[CASE_MOST * CASE_MOST], extra[CASE_MOST * CASE_MOST], given;
    fd_step step[CASE_STEPS];
} case_marching;

/* Records the values at a time, 0 (today) or 1 + a date. */
CASE_FUNCTION void case_record(const case_marching *m, int time, case_answer *answer)
{
    memcpy(answer->grid[time], m->u, sizeof m->u);
    for (int s = 0; s < CASE_SPOTS; s++) answer->values[time][s] = case_values(&m->g, m->u, s);
}

/* Returns what exercise pays at a point at time t. */
CASE_FUNCTION double case_pays(const case_marching *m, int at, double t)
{
    const int n = m->g.n[0];
    const double place[2] = {m->g.x[0][at % n], m->g.x[1][at / n]};
    return m->g.p->has & CASE_EXERCISES ? case_exercise(m->g.p, place, t) : m->final[at];
}

/* Exercises after a step. Ikonen and Toivanen: U - dt L = (what the step made) - dt (the old L), U is at least what
   exercise pays, L is at least 0, and one of the two is equal. */
CASE_FUNCTION void case_exercised(case_marching *m, const fd_step *step)
{
    const double dt = step->from - step->to;
    const int kind = m->g.problem->exercise;
    for (int at = 0; at < m->g.all && kind != FD_EUROPEAN; at++) {
        const double pays = case_pays(m, at, step->to), more = m->extra[at] + (pays - m->u[at]) / dt;
        const double held = kind == FD_AMERICAN ? m->u[at] - dt * m->extra[at] : m->u[at];
        m->u[at] = held > pays ? held : pays;
        m->extra[at] = kind == FD_AMERICAN && more > 0 ? more : 0;
    }
}

/* Applies what happens at the date at which a step ends. */
CASE_FUNCTION void case_happens(case_marching *m, const fd_step *step, case_answer *answer)
{
    const case_grid *g = &m->g;
    if (step->date < 0 || !g->problem->at_date) return;
    const fd_date *event = &g->problem->at_date[step->date];
    const int n = g->n[0], axis = event->what & FD_SHIFT_Y ? 1 : 0;
    static double old[CASE_MOST * CASE_MOST];
    memcpy(old, m->u, sizeof old);
    for (int k = 0; k < g->all; k++) {
        const int i = k % n, j = k / n;
        const double at[2] = {g->x[0][i], g->x[1][j]}, pays = case_pays(m, k, step->to);
        if (event->what & (FD_SHIFT | FD_SHIFT_Y)) {
            const double *x = g->x[axis], *line = axis ? &old[i] : &old[n * j];
            const int points = g->n[axis], apart = axis ? n : 1;
            double from = at[axis] - event->cash - event->proportion * at[axis], weight[3][4];
            from = fmin(fmax(from, x[0]), x[points - 1]);
            const int first = case_cubic(points, x, from, weight);
            for (int q = 0; q < 4; q++) m->u[k] += weight[0][q] * (line[(first + q) * apart] - old[k]);
        }
        if (event->what & FD_CHANGE_VALUES) {
            const double before = m->u[k];
            m->u[k] = case_change(g->p, step->date, at, before);
            m->given = fmax(m->given, fabs(m->u[k]) - fabs(before));
        }
        if (m->u[k] > pays) m->extra[k] = 0; /* where the holder waits, earlier exercise adds nothing */
        if ((event->what & FD_EXERCISE) || g->problem->exercise != FD_EUROPEAN) m->u[k] = fmax(m->u[k], pays);
    }
    if (event->what & FD_RECORD) case_record(m, 1 + step->date, answer);
}

/* Counts the rows that are not dominant in a step. */
CASE_FUNCTION int case_count_not_dominant(const case_grid *g, const fd_step *step)
{
    const double then = g->problem->coefficients == FD_MIDDLE ? (step->from + step->to) / 2 : step->to;
    int count = 0;
    for (int at = 0; at < 2 * g->all; at++) {
        const int axis = at >= g->all, i = at % g->all % g->n[0], j = at % g->all / g->n[0], m = axis ? j : i;
        if ((m == 0 || m == g->n[axis] - 1) && g->problem->face[axis][m > 0] == FD_VALUE) continue;
        const case_line row = case_row(g, axis, i, j, then, step->to);
        const double kill = case_at(g->p, g->x[0][i], g->x[1][j], then).kill;
        count += !case_dominant(&row, step->theta * (step->from - step->to), kill);
    }
    return count;
}

/* Begins a march: points, steps, final values. Returns how many steps there are. */
CASE_FUNCTION int case_begin(const case_parameters *p, const fd_problem *problem, int fitting, case_marching *m)
{
    case_grid *g = &m->g;
    int steps = 0;
    memset(m, 0, sizeof *m);
    g->p = p, g->problem = problem, g->fitting = fitting, g->all = 1;
    for (int d = 0; d < 2; d++) {
        g->n[d] = problem->axis[d].points, g->stride[d] = g->all, g->all *= g->n[d];
        if (problem->points[d])
            memcpy(g->x[d], problem->points[d], sizeof(double) * (size_t)g->n[d]);
        else if (fd_axis_points(&problem->axis[d], g->x[d]))
            fprintf(stderr, "case_begin: no axis\n"), exit(2);
    }
    if (fd_schedule(&problem->times, CASE_STEPS, m->step, &steps)) fprintf(stderr, "case_begin: no steps\n"), exit(2);
    for (int at = 0; at < g->all; at++) {
        const int index[2] = {at % g->n[0], at / g->n[0]};
        m->u[at] = m->final[at] = case_final(g, index[0], index[1]), m->given = fmax(m->given, fabs(m->u[at]));
        for (int d = 0; d < 2; d++) {
            const int last = g->n[d] - 1, kind = problem->face[d][index[d] > 0];
            if (index[d] > 0 && index[d] < last) continue;
            const double length = kind == FD_SLOPE ? g->x[d][last] - g->x[d][0] : kind == FD_VALUE;
            m->given = fmax(m->given, length * fabs(case_given(g, d, index[0], index[1], 0)));
        }
    }
    return steps;
}

/* Marches a valid problem. */
CASE_FUNCTION void case_march(const case_parameters *p, const fd_problem *problem, int fitting, case_answer *answer)
{
    static case_marching marching;
    case_marching *m = &marching;
    const int steps = case_begin(p, problem, fitting, m), all = m->g.all;
    double largest = 0;
    answer->met = 0;
    answer->not_dominant =
        case_count_not_dominant(&m->g, &m->step[0]) + case_count_not_dominant(&m->g, &m->step[steps - 1]);
    for (int k = 0; k < steps; k++) {
        case_step(&m->g, &m->step[k], m->u, m->extra);
        case_exercised(m, &m->step[k]);
        case_happens(m, &m->step[k], answer);
        for (int at = 0; at < all; at++) answer->met = fmax(answer->met, fabs(m->u[at]));
    }
    for (int at = 0; at < all; at++) largest = fmax(largest, fabs(m->u[at]));
    answer->growth = m->given > 0 ? largest / m->given : 0;
    case_record(m, 0, answer);
}

/* ---- the solver under test --------------------------------------------------------------------------------------- */

/* Solves a batch whose pointers are the host's, in memory of its own: exactly the bytes that the solver asks for, full
   of NaN, between guards. Returns what the solver returns. */
typedef int case_solver(const fd_batch *batch, const case_parameters *parameters);

typedef struct {
    const char *name;
    int fitting, has, single;
    case_solver *solve;
} case_runner;

/* ---- random problems --------------------------------------------------------------------------------------------- */

/* A problem and what it points to. It must not be copied: the pointers lead into it. */
typedef struct {
    case_parameters parameters;
    fd_problem problem;
    double x[2][CASE_MOST], date[CASE_DATES], spot[2 * CASE_SPOTS];
    fd_date at_date[CASE_DATES];
} case_problem;

/* Kinds of random problems. */
enum {
    CASE_ANY,
    CASE_PRODUCT /* its steps are products of factors (ADI2D_PRODUCTS) */
};

CASE_FUNCTION void case_random_problem(const case_runner *runner, case_random *random, int most0, int most1, int like,
                                       case_problem *c)
{
    case_parameters *p = &c->parameters;
    fd_problem *q = &c->problem;
    const int most[2] = {most0, most1};
    memset(c, 0, sizeof *c);
    memset(&q->axis[2], CASE_FILL, sizeof q->axis[2]); /* must not be read */
    memset((void *)&q->points[2], CASE_FILL, sizeof q->points[2]);
    memset(q->face[2], CASE_FILL, sizeof q->face[2]);
    for (int d = 0; d < 2; d++) {
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
        if (like == CASE_ANY && !case_below(random, 4)) p->drift[d] *= 20; /* matrices then lose their dominance */
        p->pull[d] = case_below(random, 4) || like == CASE_PRODUCT ? case_between(random, 0.5, 1.5)
                                                                   : case_between(random, -0.3, 0.3);
        p->diffusion[d] = pow(10, case_between(random, -3, -0.5));
        for (int k = 0; k < CASE_SPOTS; k++) c->spot[2 * k + d] = case_between(random, low, p->high[d]);
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
    p->has = runner->has;
    if ((runner->has & CASE_SOURCES) && like == CASE_ANY && case_below(random, 2))
        p->source = case_between(random, -0.5, 0.5);
    q->spot = c->spot;
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
    if (t->kind == FD_EXPLICIT) t->maturity *= 0.01; /* so that so few steps are stable */
    t->dates = case_below(random, CASE_DATES + 1);
    /* Whether the dates leave all steps equally long. */
    const int regular = case_below(random, 2);
    if (like == CASE_PRODUCT && regular) t->steps = 4, t->grading = FD_EQUAL;
    for (int k = 0; k < t->dates; k++) {
        c->date[k] = t->maturity * (k + case_between(random, 0, 1)) / (t->dates + 1);
        c->at_date[k].what = case_below(random, 16);
        if ((c->at_date[k].what & FD_SHIFT) && (t->steps + k) % 2) c->at_date[k].what += FD_SHIFT_Y - FD_SHIFT;
        if (like == CASE_PRODUCT && regular) c->date[k] = t->maturity * (k + 1) / 4;
        const int shifts = (c->at_date[k].what & (FD_SHIFT | FD_SHIFT_Y)) != 0;
        c->at_date[k].cash = shifts * case_between(random, -0.05, 0.1);
        c->at_date[k].proportion = shifts * case_between(random, -0.05, 0.1);
    }
    t->date = c->date, q->at_date = case_below(random, 8) ? c->at_date : NULL;
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* A batch of problems with its results, between guards. */
typedef struct {
    fd_batch batch;
    case_parameters *parameters;
    size_t number, grid_bytes, value_bytes;
} case_batch;

CASE_FUNCTION case_batch case_batch_of(int count, int points0, int points1, int steps, int dates, int kind, int single)
{
    case_batch b;
    const size_t n = (size_t)count, times = n * (size_t)(1 + dates);
    memset(&b, CASE_FILL, sizeof b); /* leaves a bad count and a bad pointer in the third axis, which does not exist */
    b.number = single ? sizeof(float) : sizeof(double);
    b.grid_bytes = times * (size_t)points0 * (size_t)points1 * b.number;
    b.value_bytes = times * CASE_SPOTS * sizeof(fd_values);
    b.batch.problems = count, b.batch.points[0] = points0, b.batch.points[1] = points1;
    b.batch.steps = steps, b.batch.dates = dates, b.batch.spots = CASE_SPOTS, b.batch.kind = kind;
    b.batch.problem = (fd_problem *)case_guarded(n * sizeof(fd_problem));
    b.batch.status = (fd_status *)case_stale(n * sizeof(fd_status));
    b.batch.values = (fd_values *)case_stale(b.value_bytes);
    b.batch.grid = case_stale(b.grid_bytes);
    for (int d = 0; d < 2; d++)
        b.batch.coordinates[d] = (double *)case_stale(n * (size_t)b.batch.points[d] * sizeof(double));
    b.parameters = (case_parameters *)case_guarded(n * sizeof(case_parameters));
    return b;
}

CASE_FUNCTION void case_put(case_batch *b, int k, const case_problem *c)
{
    ((fd_problem *)b->batch.problem)[k] = c->problem, b->parameters[k] = c->parameters;
}

/* Returns problem k's values at a time, 0 (today) or 1 + a date. */
CASE_FUNCTION fd_values *case_values_of(const case_batch *b, int k, int time)
{
    return b->batch.values + (size_t)(k * (1 + b->batch.dates) + time) * (size_t)b->batch.spots;
}

/* Returns problem k's grid at that time. */
CASE_FUNCTION const unsigned char *case_grid_of(const case_batch *b, int k, int time)
{
    const size_t all = (size_t)b->batch.points[0] * (size_t)b->batch.points[1];
    return (const unsigned char *)b->batch.grid + (size_t)(k * (1 + b->batch.dates) + time) * all * b->number;
}

CASE_FUNCTION double case_number(const case_batch *b, int k, int time, int i, int j)
{
    const unsigned char *grid = case_grid_of(b, k, time);
    const int at = i + b->batch.points[0] * j;
    return b->number == sizeof(float) ? (double)((const float *)grid)[at] : ((const double *)grid)[at];
}

/* Returns whether problem k's results are, to the bit, those of problem m of another batch. */
CASE_FUNCTION int case_same_bits(const case_batch *one, int k, const case_batch *other, int m)
{
    const size_t n = (size_t)one->batch.problems, times = (size_t)(1 + one->batch.dates);
    return !memcmp(&one->batch.status[k], &other->batch.status[m], sizeof(fd_status)) &&
           !memcmp(case_values_of(one, k, 0), case_values_of(other, m, 0), times * CASE_SPOTS * sizeof(fd_values)) &&
           !memcmp(case_grid_of(one, k, 0), case_grid_of(other, m, 0), one->grid_bytes / n);
}

/* Returns how many coordinates of problem k are wrong. They should be those of its points, and NaN beyond these or if
   it failed. */
CASE_FUNCTION int case_coordinates_off(const case_batch *b, int k)
{
    static double x[CASE_MOST];
    const fd_problem *problem = &b->batch.problem[k];
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

/* Returns how many numbers of problem k's values and grids are not NaN, which they all should be if it failed. */
CASE_FUNCTION int case_numbers_left(const case_batch *b, int k)
{
    enum { EACH = sizeof(fd_values) / sizeof(double) };
    int numbers = 0;
    for (int time = 0; time <= b->batch.dates; time++) {
        const double *values = (const double *)case_values_of(b, k, time);
        for (int q = 0; q < CASE_SPOTS * EACH; q++) numbers += !isnan(values[q]);
        for (int at = 0; at < b->batch.points[0] * b->batch.points[1]; at++)
            numbers += !isnan(case_number(b, k, time, at % b->batch.points[0], at / b->batch.points[0]));
    }
    return numbers;
}

CASE_FUNCTION void case_batch_free(case_batch *b, const char *name)
{
    const size_t n = (size_t)b->batch.problems;
    int whole = case_release((void *)b->batch.problem, n * sizeof(fd_problem));
    whole &= case_release(b->batch.status, n * sizeof(fd_status));
    whole &= case_release(b->batch.values, b->value_bytes);
    whole &= case_release(b->batch.grid, b->grid_bytes);
    for (int d = 0; d < 2; d++)
        whole &= case_release(b->batch.coordinates[d], n * (size_t)b->batch.points[d] * sizeof(double));
    whole &= case_release(b->parameters, n * sizeof(case_parameters));
    CHECK(whole, "%s: a guard has been written", name);
}

/* ---- what is wrong with a problem -------------------------------------------------------------------------------- */

/* Makes a plain and valid problem. */
CASE_FUNCTION void case_plain(const case_runner *runner, case_problem *c)
{
    case_random random = {7};
    case_random_problem(runner, &random, 9, 11, CASE_ANY, c);
    for (int d = 0; d < 2; d++) {
        const fd_axis axis = {0.25, 1.25, d ? 7 : 6, 1, {0.5, 0, 0}, {0.5, 0, 0}, {FD_ANYWHERE, 0, 0}};
        c->problem.axis[d] = axis, c->problem.points[d] = NULL, c->spot[d] = 0.6, c->spot[2 + d] = 0.3 + 0.7 * d;
        c->parameters.low[d] = 0.25, c->parameters.high[d] = 1.25;
        c->parameters.pull[d] = 1, c->parameters.drift[d] = 0.1, c->parameters.diffusion[d] = 0.05;
        for (int side = 0; side < 2; side++) c->problem.face[d][side] = FD_LINEAR, c->parameters.vanish[d][side] = 0;
        c->at_date[d].what = d ? FD_CHANGE_VALUES + FD_RECORD : FD_SHIFT_Y;
        c->at_date[d].cash = c->at_date[d].proportion = d ? 0 : 0.01;
        c->date[d] = d ? 0.125 : 0;
    }
    const fd_times times = {0.25, 4, FD_EQUAL, 1, FD_THETA, 0.5, 2, 2, c->date, NULL};
    c->problem.times = times, c->problem.at_date = c->at_date;
    c->problem.scheme = FD_CRAIG_SNEYD, c->problem.coefficients = FD_BOTH_ENDS;
    c->problem.finals = FD_TOLD, c->problem.kinks = 1, c->problem.kink[0] = c->parameters.strike = 0.7;
    c->problem.exercise = FD_EUROPEAN;
    c->parameters.payoff = CASE_CALL, c->parameters.mixed = 0.02, c->parameters.source = 0;
}

/* The status that a spoilt problem should get. */
typedef struct {
    int what, detail, axis, i, j, step;
} case_verdict;

CASE_FUNCTION case_verdict case_said(int what, int detail, int axis)
{
    case_verdict v = {what, detail, axis, -1, -1, -1};
    return v;
}

/* Makes a plain problem and spoils its argument number `which`, counted in the order of the fields in pde/adi2d.h.
   Returns 0 if there is none. Infinities and NaN alternate. */
CASE_FUNCTION int case_spoil(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    fd_problem *q = &c->problem;
    case_parameters *p = &c->parameters;
    const double nan = sqrt(-1.0), infinite = HUGE_VAL;
    const int d = which % 2;
    double *x = c->x[d];
    int n = 0;
    case_plain(runner, c);
    for (int m = 0; m < q->axis[d].points; m++) x[m] = 0.25 + m * (1.0 / (q->axis[d].points - 1));
#define CASE_IS(count) (which >= n && which < (n += (count)))
    /* The axes: each line spoils one and then the other. */
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
    if (CASE_IS(2)) return c->spot[d] = 1.26, *says = case_said(FD_BAD_SPOT, 0, d), 1;
    if (CASE_IS(2)) return c->spot[2 + d] = nan, *says = case_said(FD_BAD_SPOT, 1, d), 1;
    /* The dates: each line spoils one and then the other. */
    if (CASE_IS(2)) return c->at_date[d].what = d ? FD_SHIFT_Z : -1, *says = case_said(FD_BAD_EVENT, 1 + d, -1), 1;
    if (CASE_IS(2))
        return c->at_date[d].what = d ? 64 : FD_SHIFT + FD_SHIFT_Y, *says = case_said(FD_BAD_EVENT, 1 + d, -1), 1;
    if (CASE_IS(2)) return c->at_date[d].cash = nan, *says = case_said(FD_BAD_EVENT, 1 + d, -1), 1;
    if (CASE_IS(2)) return c->at_date[d].proportion = infinite, *says = case_said(FD_BAD_EVENT, 1 + d, -1), 1;
    if (CASE_IS(2)) return c->date[d] = d ? -0.0 : 0.25, *says = case_said(FD_BAD_TIMES, 1 + d, -1), 1;
    /* What a problem has once. */
    if (CASE_IS(1))
        return c->date[1] = nextafter(c->date[0], 1), *says = case_said(FD_BAD_TIMES, FD_BAD_SIZE, -1), 1;
    if (CASE_IS(1)) return q->spot = NULL, *says = case_said(FD_BAD_ARGUMENT, 0, -1), 1;
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
    /* With so much diffusion along an axis, each step multiplies short waves by 1 - 1 / theta. */
    if (CASE_IS(1))
        return q->times.halves = 0, q->times.theta = 0.01, p->diffusion[0] = 1e5, *says = case_said(FD_GREW, 0, -1), 1;
    /* The model. fd_axis_points says where its points lie. */
    double line[2][16];
    if (fd_axis_points(&q->axis[0], line[0]) || fd_axis_points(&q->axis[1], line[1])) return 0;
    p->bad_at[0] = line[0][2], p->bad_at[1] = line[1][5], p->bad_at[2] = 0.1; /* step 3 is the first to end before */
    case_verdict v = {FD_MODEL_NAN, 0, 0, 2, -1, -1};
    if (CASE_IS(1)) return p->bad = CASE_BAD_X, *says = v, 1;
    v.axis = 1, v.i = -1, v.j = 5;
    if (CASE_IS(1)) return p->bad = CASE_BAD_Y, *says = v, 1;
    v.axis = -1, v.j = -1, v.step = 3;
    if (CASE_IS(1)) return p->bad = CASE_BAD_T, *says = v, 1;
    /* Terms are checked before the march: in the first step, in the last, and in one chosen for the line. */
    v.i = 2, v.j = 5, v.step = 5;
    if (CASE_IS(1)) return p->bad = CASE_BAD_TERMS, *says = v, 1;
    v.step = 0;
    if (CASE_IS(1)) return p->bad = CASE_BAD_TERMS, p->bad_at[2] = 1, *says = v, 1;
    v.step = 3;
    if (CASE_IS(1)) return p->bad = CASE_BAD_ONCE, p->bad_at[2] = 0.09375, *says = v, 1;
    v.what = FD_FINAL_NAN, v.step = -1;
    if (CASE_IS(1)) return p->bad = CASE_BAD_PAYOFF, *says = v, 1;
    v.what = FD_NOT_SOLVED, v.step = 2; /* after two half steps, the whole one that ends at date 1 */
    if (CASE_IS(1)) return p->bad = CASE_BAD_CHANGE, *says = v, 1;
    v.step = 3;
    for (int kind = FD_AMERICAN; kind <= FD_PROJECTED && (runner->has & CASE_EXERCISES); kind++)
        if (CASE_IS(1)) return p->bad = CASE_BAD_EXERCISE, q->exercise = kind, *says = v, 1;
    v.i = 0, v.j = 0; /* the solves spread the NaN to the first point */
    if (CASE_IS(1))
        return p->bad = CASE_BAD_FACE, q->face[0][1] = FD_VALUE, q->scheme = FD_DOUGLAS, *says = v, 1;
#undef CASE_IS
    return 0;
}

/* Spoils each argument alone, in a batch with valid problems in between. Checks each status, and that the valid
   problems have, to the bit, the results that they have in a batch without spoilt ones. */
CASE_FUNCTION void case_statuses(const case_runner *runner)
{
    int bad = 0;
    case_verdict says;
    static case_problem one;
    while (case_spoil(runner, bad, &one, &says)) bad++;
    case_problem *c = (case_problem *)case_guarded((size_t)(4 * bad) * sizeof *c);
    case_batch of[2];
    for (int good = 0; good < 2; good++) {
        of[good] = case_batch_of(2 * bad, 11, 11, 10, 2, ADI2D_TWO_STAGES, runner->single);
        for (int k = 0; k < 2 * bad; k++) {
            case_problem *each = &c[2 * bad * good + k];
            if (k % 2 && !good)
                case_spoil(runner, k / 2, each, &says);
            else
                case_plain(runner, each);
            case_put(&of[good], k, each);
        }
        CHECK(runner->solve(&of[good].batch, of[good].parameters) == 0, "%s: launch", runner->name);
    }
    for (int k = 0; k < 2 * bad; k++) {
        const fd_status s = of[0].batch.status[k];
        if (k % 2 == 0) {
            CHECK(s.what == FD_OK && s.i == -1 && s.j == -1 && s.step == -1 && s.axis == -1, "%s: good problem %d: %s",
                  runner->name, k, adi2d_status_string(s.what));
            CHECK(case_same_bits(&of[0], k, &of[1], k), "%s: results of %d among spoilt ones", runner->name, k);
            continue;
        }
        case_spoil(runner, k / 2, &one, &says);
        CHECK(s.what == says.what && s.detail == says.detail && s.axis == says.axis && s.i == says.i && s.j == says.j &&
                  s.k == -1 && s.step == says.step,
              "%s: spoilt %d: %d, detail %d, axis %d, point %d %d, step %d instead of %d, %d, %d, %d %d, %d",
              runner->name, k / 2, s.what, s.detail, s.axis, s.i, s.j, s.step, says.what, says.detail, says.axis,
              says.i, says.j, says.step);
        const int numbers = case_numbers_left(&of[0], k);
        CHECK(numbers == 0, "%s: spoilt %d has %d numbers", runner->name, k / 2, numbers);
        CHECK(case_coordinates_off(&of[0], k) == 0, "%s: spoilt %d has coordinates", runner->name, k / 2);
    }
    case_batch_free(&of[0], runner->name), case_batch_free(&of[1], runner->name);
    case_release(c, (size_t)(4 * bad) * sizeof *c);
}

/* ---- what a model declares --------------------------------------------------------------------------------------- */

/* Makes problem number `which` of a model that is not what it declares, or that is ill-posed. Returns its status:
   `what` is FD_OK if it is valid, and -1 if there is no such problem. */
CASE_FUNCTION case_verdict case_lie(int which, const case_runner *runner, case_problem *c)
{
    case_parameters *p = &c->parameters;
    const int mixed = runner->has & CASE_MIXES, alone = runner->has & CASE_ALONE;
    case_verdict v = {FD_OK, 0, -1, -1, -1, -1}, at_first = {FD_ILL_POSED, 0, -1, 0, 0, 0};
    double x[16];
    case_plain(runner, c);
    p->change = 0, p->mixed = 2 * sqrt(p->diffusion[0] * p->diffusion[1]); /* the largest allowed */
    if (which == 0) return v;
    if (which == 1) return p->diffusion[0] = p->diffusion[1] = -1e-3, p->mixed = 0, at_first;
    if (which == 2 && mixed) return p->mixed *= 1.0001, at_first;
    if (which == 3 && !mixed && !alone)
        return at_first.what = FD_MIXED_UNDECLARED, at_first.detail = 1, p->bad = CASE_LIE_MIXED, at_first;
    if (which == 4 && alone) return at_first.what = FD_CHANGES_UNDECLARED, p->bad = CASE_LIE_CHANGES, at_first;
    if (which == 5 && alone) {
        at_first.what = FD_CHANGES_UNDECLARED, p->bad = CASE_LIE_ONCE, p->bad_at[2] = 0.0625;
        at_first.j = 1, at_first.step = 4; /* this step ends at that time, and is the one chosen for row 1 */
        return at_first;
    }
    if (which >= 8 && which < 11 && alone && !fd_axis_points(&c->problem.axis[0], x)) {
        at_first.what = FD_NOT_INDEPENDENT, p->bad = CASE_LIE_ALONE + which - 8, p->bad_at[0] = x[2];
        at_first.axis = 1, at_first.i = 2;
        return at_first;
    }
    if (which == 6 || which == 7) {
        const int axis = which - 6, side = 1 - axis;
        c->problem.face[axis][side] = FD_DEGENERATE, p->vanish[axis][side] = 1, p->drift[axis] = side ? 3 : -3;
        at_first.what = FD_OUTWARD, at_first.axis = axis, at_first.i = side ? 5 : 0;
        return at_first;
    }
    if (which == 11 || which == 12) { /* the diffusion does not vanish at the face */
        const int axis = which - 11;
        c->problem.face[axis][0] = FD_DEGENERATE;
        at_first.what = FD_NOT_DEGENERATE, at_first.axis = axis;
        return at_first;
    }
    return v.what = -1, v;
}

CASE_FUNCTION void case_declarations(const case_runner *runner)
{
    enum { LIES = 13 };
    static case_problem c[LIES];
    case_verdict says[LIES];
    int all = 0;
    for (int which = 0; which < LIES; which++) {
        says[all] = case_lie(which, runner, &c[all]);
        all += says[all].what != -1;
    }
    case_batch b = case_batch_of(all, 11, 11, 10, 2, ADI2D_TWO_STAGES, runner->single);
    for (int k = 0; k < all; k++) case_put(&b, k, &c[k]);
    CHECK(runner->solve(&b.batch, b.parameters) == 0, "%s: launch", runner->name);
    for (int k = 0; k < all; k++) {
        const fd_status s = b.batch.status[k];
        CHECK(s.what == says[k].what && s.detail == says[k].detail && s.axis == says[k].axis && s.i == says[k].i &&
                  s.j == says[k].j && s.step == says[k].step,
              "%s: declaration %d: %d, detail %d, axis %d, point %d %d, step %d instead of %d", runner->name, k, s.what,
              s.detail, s.axis, s.i, s.j, s.step, says[k].what);
        const double value = case_values_of(&b, k, 0)->value;
        CHECK((value == value) == (s.what == FD_OK), "%s: declaration %d: %.3g", runner->name, k, value);
    }
    case_batch_free(&b, runner->name);
}

/* ---- random problems against the reference ----------------------------------------------------------------------- */

/* Returns the rounding error allowed, relative to the largest value: some 100000 unit roundoffs in double precision,
   since elimination without pivots grows in matrices that drifts have robbed of their dominance. In single precision
   1800 were met. */
CASE_FUNCTION double case_tolerance(const case_runner *runner)
{
    return runner->single ? 2e-4 : 1e-11;
}

/* Compares problem k's grid at a time, 0 (today) or 1 + a date, with the reference; beyond the last point of an axis it
   must be NaN. */
CASE_FUNCTION void case_compare_grid(const case_runner *runner, const case_batch *b, int k, int time,
                                     const case_answer *due, double tolerance)
{
    const fd_problem *q = &b->batch.problem[k];
    const int n = q->axis[0].points, room = b->batch.points[0];
    double worst = 0;
    int where = 0, beyond = 0;
    for (int at = 0; at < room * b->batch.points[1]; at++) {
        const int i = at % room, j = at / room;
        const double number = case_number(b, k, time, i, j);
        if (i >= n || j >= q->axis[1].points) {
            beyond += !isnan(number);
            continue;
        }
        const double off = fabs(number - due->grid[time][i + n * j]);
        if (!(off <= worst)) worst = off, where = at;
    }
    CHECK(beyond == 0, "%s: the grid of time %d has %d numbers beyond its points", runner->name, time, beyond);
    CHECK(worst <= tolerance,
          "%s: %d x %d points, scheme %d, faces %d %d %d %d, coefficients %d, exercise %d, %d dates, time %d: off by "
          "%.2e at %d %d, values to %.2e",
          runner->name, n, q->axis[1].points, q->scheme, q->face[0][0], q->face[0][1], q->face[1][0], q->face[1][1],
          q->coefficients, q->exercise, q->times.dates, time, worst, where % room, where / room, due->met);
}

/* Compares its values at that time. */
CASE_FUNCTION void case_compare_values(const case_runner *runner, const case_batch *b, int k, int time,
                                       const case_answer *answer, double tolerance)
{
    const case_parameters *p = &b->parameters[k];
    /* At worst a derivative is a difference over the axis's least spacing. */
    double first = 0, second = 0;
    for (int d = 0; d < 2; d++) {
        const double least = (p->high[d] - p->low[d]) / (b->batch.problem[k].axis[d].points * 3.0);
        first = fmax(first, 10 * tolerance / least), second = fmax(second, 20 * tolerance / (least * least));
    }
    for (int s = 0; s < CASE_SPOTS; s++) {
        const fd_values *got = &case_values_of(b, k, time)[s], *due = &answer->values[time][s];
        check_near(got->value, due->value, 3 * tolerance, "%s: value at %d", runner->name, time);
        for (int d = 0; d < 2; d++) {
            check_near(got->first[d], due->first[d], first, "%s: slope %d at %d", runner->name, d, time);
            check_near(got->second[d], due->second[d], second, "%s: curvature %d at %d", runner->name, d, time);
        }
        check_near(got->mixed[0], due->mixed[0], second, "%s: the mixed derivative at %d", runner->name, time);
    }
}

/* Compares problem k of a batch with the reference, to a tolerance relative to the largest value that the march met. */
CASE_FUNCTION void case_compare(const case_runner *runner, const case_batch *b, int k, double tolerance)
{
    static case_answer due;
    const fd_problem *q = &b->batch.problem[k];
    const fd_status status = b->batch.status[k];
    case_march(&b->parameters[k], q, runner->fitting, &due);
    /* Both values whose ratio is the growth may be far below the largest value met. */
    check_near((double)status.growth / due.growth, 1, 1e-6 + 10 * tolerance * fmax(1, due.met), "%s: growth",
               runner->name);
    const int what = due.growth > (double)FD_MOST_GROWTH ? FD_GREW : FD_OK;
    if (!CHECK(status.what == what, "%s: %s, detail %d, step %d", runner->name, adi2d_status_string(status.what),
               status.detail, status.step) ||
        what)
        return;
    CHECK(case_coordinates_off(b, k) == 0, "%s: coordinates", runner->name);
    if (!runner->single)
        CHECK(status.not_dominant == due.not_dominant, "%s: %d rows not_dominant instead of %d", runner->name,
              status.not_dominant, due.not_dominant);
    for (int time = 0; time <= b->batch.dates; time++) {
        const int date = time - 1;
        if (time > 0 && (date >= q->times.dates || !q->at_date || !(q->at_date[date].what & FD_RECORD))) {
            CHECK(case_still_stale(case_values_of(b, k, time), CASE_SPOTS * sizeof(fd_values)) &&
                      case_still_stale(case_grid_of(b, k, time),
                                       (size_t)(b->batch.points[0] * b->batch.points[1]) * b->number),
                  "%s: results of date %d, which is not recorded", runner->name, date);
            continue;
        }
        case_compare_grid(runner, b, k, time, &due, tolerance * due.met);
        case_compare_values(runner, b, k, time, &due, tolerance * due.met);
    }
}

/* Compares each problem of a batch of random problems of different sizes with the reference. */
CASE_FUNCTION void case_random_batch(const case_runner *runner, case_random *random, int count, int most0, int most1,
                                     int like, double tolerance)
{
    case_problem *c = (case_problem *)case_guarded((size_t)count * sizeof *c);
    int kind = like == CASE_PRODUCT ? ADI2D_PRODUCTS : case_below(random, 2) ? ADI2D_ONE_STAGE : ADI2D_TWO_STAGES;
    case_batch b = case_batch_of(count, most0, most1, CASE_STEPS, CASE_DATES, kind, runner->single);
    for (int k = 0; k < count; k++) {
        case_random_problem(runner, random, most0, most1, like, &c[k]);
        if (kind == ADI2D_ONE_STAGE) c[k].problem.scheme = FD_DOUGLAS;
        case_put(&b, k, &c[k]);
    }
    CHECK(runner->solve(&b.batch, b.parameters) == 0, "%s: launch", runner->name);
    for (int k = 0; k < count; k++) case_compare(runner, &b, k, tolerance);
    case_batch_free(&b, runner->name);
    case_release(c, (size_t)count * sizeof *c);
}

/* Checks that the second of two spots gets the values that it gets alone, and that grids do not depend on which other
   results are asked for. */
CASE_FUNCTION void case_spots(const case_runner *runner)
{
    static case_problem c;
    case_batch of[3];
    case_plain(runner, &c);
    for (int k = 0; k < 3; k++) {
        case_batch *b = &of[k];
        *b = case_batch_of(1, 6, 7, 10, 2, ADI2D_TWO_STAGES, runner->single);
        case_put(b, 0, &c);
        const fd_batch whole = b->batch;
        if (k == 1) ((fd_problem *)b->batch.problem)->spot = c.spot + 2, b->batch.spots = 1, b->batch.grid = NULL;
        if (k == 2) b->batch.spots = 0, b->batch.values = NULL;
        for (int d = 0; d < k; d++) b->batch.coordinates[d] = NULL; /* of one axis, of both */
        CHECK(runner->solve(&b->batch, b->parameters) == 0 && !b->batch.status[0].what, "%s: spots %d: %s",
              runner->name, k, adi2d_status_string(b->batch.status[0].what));
        b->batch.values = whole.values, b->batch.grid = whole.grid;
        for (int d = 0; d < 2; d++) b->batch.coordinates[d] = whole.coordinates[d];
    }
    for (int time = 0; time < 3; time += 2) /* date 1 is recorded */
        CHECK(!memcmp(case_values_of(&of[0], 0, time) + 1, case_values_of(&of[1], 0, time), sizeof(fd_values)),
              "%s: a spot among others at time %d", runner->name, time);
    CHECK(!memcmp(of[0].batch.grid, of[2].batch.grid, of[0].grid_bytes), "%s: grids alone", runner->name);
    for (int k = 0; k < 3; k++) case_batch_free(&of[k], runner->name);
}

#endif
