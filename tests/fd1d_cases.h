/* fd1d_cases.h - what the tests of pde/fd1d.h share: models with all that a model may have, random problems for them,
   and a plain march of the schemes, from the formulas of docs/fd.md and of the books alone, in double precision.
   MIT licence, see LICENSE. */
#ifndef FD1D_CASES_H
#define FD1D_CASES_H

#include "../pde/fd1d.h"

#include "check.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the models -------------------------------------------------------------------------------------------------- */

enum {
    CASE_GOOD,
    CASE_BAD_X,       /* a number of the point bad_at is NaN */
    CASE_BAD_T,       /* a number of times before bad_time is */
    CASE_BAD_TERMS,   /* a term at that point is infinite; if the model depends on time, before bad_time */
    CASE_BAD_ONCE,    /* the same at bad_time alone */
    CASE_BAD_PAYOFF,  /* NaN at that point; likewise */
    CASE_BAD_CHANGE,
    CASE_BAD_FACE,    /* NaN at the last point before bad_time */
    CASE_HUGE_CHANGE  /* to bad_time */
};
enum { CASE_CALL, CASE_PUT, CASE_WAVE, CASE_DIGITAL, CASE_PAYOFFS };

/* What a model has. */
enum { CASE_MOVES = 1, CASE_FACES = 2, CASE_CHANGES = 4, CASE_EXERCISES = 8 };

/* With s the place between low and high, 0 .. 1, T = 1 + change sin 3t and U = 1 + change t:
     drift = (drift + pull (1/2 - s)) T           diffusion = diffusion v(s) (1 + ripple cos(5 s + phase)) T
     kill = kill (1 + s / 2) U                    source = source cos(2 s + phase) U
   T and U are 1 if the model does not depend on time; v vanishes linearly at the faces that are to be degenerate, else
   is 1. */
typedef struct {
    double low, high, drift, pull, diffusion, ripple, kill, source, change, strike, phase;
    int vanish[2], payoff, bad;
    int has; /* what the model has, for the plain march */
    double bad_at, bad_time;
} case_parameters;

TB_HD int case_there(double x, double place)
{
    return fabs(x - place) < 1e-9;
}

TB_HD double case_share(const case_parameters *p, double x)
{
    return (x - p->low) / (p->high - p->low);
}

TB_HD double case_vanishing(const case_parameters *p, double share)
{
    return (p->vanish[0] ? share : 1) * (p->vanish[1] ? 1 - share : 1);
}

TB_HD double case_payoff(const case_parameters *p, double x)
{
    const double over = x - p->strike;
    if (p->bad == CASE_BAD_PAYOFF && case_there(x, p->bad_at)) return sqrt(-1.0);
    if (p->payoff == CASE_WAVE) return 1 + 0.4 * sin(3 * x + p->phase);
    if (p->payoff == CASE_DIGITAL) return over > 0 ? 1 : over < 0 ? 0 : 0.5;
    if (p->payoff == CASE_PUT) return over < 0 ? -over : 0;
    return over > 0 ? over : 0;
}

/* Nothing in it fits the rest: that is the march's to bear. */
TB_HD double case_face(const case_parameters *p, int axis, int side, double x, double t)
{
    if (p->bad == CASE_BAD_FACE && side == 1 && t < p->bad_time) return sqrt(-1.0);
    return 0.4 + axis - 0.3 * side + 0.2 * sin(3 * x + t + p->phase);
}

TB_HD double case_change(const case_parameters *p, int date, double x, double value)
{
    if (p->bad == CASE_BAD_CHANGE && case_there(x, p->bad_at)) return sqrt(-1.0);
    if (p->bad == CASE_HUGE_CHANGE) return date > 0 ? value : x > p->strike ? p->bad_time : 0;
    return date % 2 ? 0.75 * value + 0.5 * x : x > p->strike + 0.2 ? 0 : value;
}

TB_HD double case_exercise(const case_parameters *p, double x, double t)
{
    return case_payoff(p, x) * (1 - 0.2 * t);
}

/* Drifts taken in each of the three ways, with and without a dependence on time; with all that a model may have, and
   with as little as possible. */
#define CASE_MODEL full
#define CASE_FITTING FD_CENTRAL
#define CASE_WITH_FACES
#define CASE_WITH_CHANGES
#define CASE_WITH_EXERCISES
#include "fd1d_case_model.h"
#define CASE_MODEL plain
#define CASE_FITTING FD_CENTRAL
#define CASE_WITH_CHANGES
#include "fd1d_case_model.h"
#define CASE_MODEL moving
#define CASE_FITTING FD_UPWIND
#define CASE_WITH_TIME
#define CASE_WITH_FACES
#define CASE_WITH_CHANGES
#define CASE_WITH_EXERCISES
#include "fd1d_case_model.h"
#define CASE_MODEL fitted
#define CASE_FITTING FD_FITTED
#define CASE_WITH_TIME
#include "fd1d_case_model.h"

/* What the equation has at a point, as the comment above says it. */
typedef struct {
    double drift, diffusion, kill, source;
} case_coefficients;

CASE_REFERENCE case_coefficients case_at(const case_parameters *p, double x, double t)
{
    case_coefficients c;
    const double s = case_share(p, x), swing = p->has & CASE_MOVES ? 1 + p->change * sin(3 * t) : 1;
    const double growth = p->has & CASE_MOVES ? 1 + p->change * t : 1;
    c.drift = (p->drift + p->pull * (0.5 - s)) * swing;
    c.diffusion = p->diffusion * case_vanishing(p, s) * (1 + p->ripple * cos(5 * s + p->phase)) * swing;
    c.kill = p->kill * (1 + s / 2) * growth;
    c.source = p->source * cos(2 * s + p->phase) * growth;
    return c;
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

enum { CASE_AXES = 1, CASE_MOST = FD1D_MOST, CASE_DATES = 3, CASE_SPOTS = 4, CASE_STEPS = 400 };
typedef fd_problem case_pde;
#include "adi_cases.h"

/* A row of F: weights of the points from two below to two above, the kill included, and what else is in it. */
typedef struct {
    double weight[5], source, coupling[2];
} case_line;

/* The couplings of an inner point with spacings l and u. */
CASE_REFERENCE void case_couplings(int fitting, double l, double u, double drift, double diffusion, double *coupling)
{
    double below = (2 * diffusion - drift * u) / (l * (l + u)), above = (2 * diffusion + drift * l) / (u * (l + u));
    if (fitting == FD_FITTED && diffusion > 0 && fabs(drift) > 1e-12) {
        /* Exact for straight lines and for exp(-z x); long doubles, since differences cancel where z is small. */
        const long double z = (long double)drift / diffusion, share = -expm1l(-z * u) / expm1l(z * l);
        above = (double)(drift / (u - l * share)), below = (double)(drift * share / (u - l * share));
        if (z * l > 40) above = drift / u, below = 0;
        if (-z * u > 40) above = 0, below = -drift / l;
    }
    if (fitting != FD_CENTRAL && below < 0) below = 0, above = drift / u;
    if (fitting != FD_CENTRAL && above < 0) above = 0, below = -drift / l;
    coupling[0] = below, coupling[1] = above;
}

CASE_REFERENCE double case_given(const case_grid *g, int side, double t)
{
    return g->p->has & CASE_FACES ? case_face(g->p, 0, side, g->x[0][side ? g->n[0] - 1 : 0], t) : 0;
}

/* Sets the row of a face, which is point k. */
CASE_REFERENCE void case_face_row(const case_grid *g, int k, case_coefficients c, double given_at, case_line *row)
{
    static double first[CASE_MOST];
    const double *x = g->x[0];
    const int side = k > 0, in = side ? -1 : 1, kind = g->problem->face[0][side];
    const double spacing = fabs(x[k + in] - x[k]);
    case_first(g, 0, k, first);
    for (int m = 0; m < 3; m++) row->weight[2 + in * m] = c.drift * first[k + in * m];
    row->coupling[!side] = row->weight[2 + in];
    if (kind == FD_DEGENERATE) { /* the third point's slope apart */
        const double beyond = fabs(x[k + 2 * in] - x[k + in]);
        row->coupling[!side] = in * c.drift * (1 + spacing / (spacing + beyond)) / spacing;
    }
    if (kind == FD_SLOPE) { /* the point beyond has the value that makes the slope */
        const double coupling = 2 * c.diffusion / (spacing * spacing);
        row->coupling[!side] = row->weight[2 + in] = coupling, row->weight[2] = -coupling;
        row->source += (c.drift - in * 2 * c.diffusion / spacing) * case_given(g, side, given_at);
    }
}

/* F of point k with the coefficients of time t, faces being given what they are at time given_at. */
CASE_REFERENCE case_line case_row(const case_grid *g, int k, double t, double given_at)
{
    case_line row;
    const case_coefficients c = case_at(g->p, g->x[0][k], t);
    const double *x = g->x[0];
    memset(&row, 0, sizeof row);
    row.source = c.source;
    if (k > 0 && k < g->n[0] - 1) {
        case_couplings(g->fitting, x[k] - x[k - 1], x[k + 1] - x[k], c.drift, c.diffusion, row.coupling);
        row.weight[1] = row.coupling[0], row.weight[3] = row.coupling[1];
        row.weight[2] = -row.coupling[0] - row.coupling[1];
    } else {
        case_face_row(g, k, c, given_at, &row);
    }
    row.weight[2] -= c.kill;
    return row;
}

/* F_1 of v at all points; there is no mixed term, so F_0 is 0. */
CASE_REFERENCE void case_part(const case_grid *g, int which, const double *v, double t, double given_at, double *f)
{
    const int n = g->n[0];
    for (int k = 0; k < n; k++) {
        f[k] = 0;
        if (which == 0) continue;
        const case_line row = case_row(g, k, t, given_at);
        f[k] = row.source;
        for (int m = 0; m < 5; m++)
            if (k + m >= 2 && k + m < n + 2) f[k] += row.weight[m] * v[k + m - 2];
    }
}

/* Is the row of 1 - size A with these couplings dominant? It is if none is negative, whatever rounding says. */
CASE_REFERENCE int case_dominant(const case_line *row, double size, double kill)
{
    const double *c = row->coupling;
    if (c[0] >= 0 && c[1] >= 0 && 1 + size * kill > 0) return 1;
    return 1 + size * (c[0] + c[1] + kill) > size * (fabs(c[0]) + fabs(c[1]));
}

/* Gauss' elimination with pivots of rows that reach two points to each side: column j of row i at a[i][j - i + 4]. */
CASE_REFERENCE void case_solve_band(int n, double a[CASE_MOST][9], double *b)
{
    for (int k = 0; k < n; k++) {
        const int rows = k + 3 < n ? k + 3 : n, columns = k + 5 < n ? k + 5 : n;
        int best = k;
        for (int m = k + 1; m < rows; m++)
            if (fabs(a[m][k - m + 4]) > fabs(a[best][k - best + 4])) best = m;
        for (int q = k; q < columns && best > k; q++) {
            const double kept = a[k][q - k + 4];
            a[k][q - k + 4] = a[best][q - best + 4], a[best][q - best + 4] = kept;
        }
        const double kept = b[k];
        b[k] = b[best], b[best] = kept;
        for (int m = k + 1; m < rows; m++) {
            const double factor = a[m][k - m + 4] / a[k][4];
            for (int q = k; q < columns; q++) a[m][q - m + 4] -= factor * a[k][q - k + 4];
            b[m] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int q = k + 1; q < n && q < k + 5; q++) b[k] -= a[k][q - k + 4] * b[q];
        b[k] /= a[k][4];
    }
}

/* Finds what the matrix's row of a face, which is point k, leaves to the old values: couplings of the wrong sign that
   keep it from being dominant, and a third point that its neighbour's row cannot eliminate. */
CASE_REFERENCE void case_left_out(const case_grid *g, int k, double size, double t, const case_line *row, double *left)
{
    const double *x = g->x[0], kill = case_at(g->p, x[k], t).kill;
    const int side = k > 0, in = side ? -1 : 1;
    const double third = row->weight[2 + 2 * in];
    double beyond = row->coupling[!side];
    memset(left, 0, 5 * sizeof *left);
    if (beyond < 0 && !case_dominant(row, size, kill)) left[2 + in] += beyond, left[2] -= beyond, beyond = 0;
    if (g->problem->face[0][side] != FD_DEGENERATE || third == 0) return;
    /* third is drift's part of u2; as a slope it is third (u2 - u1). The neighbour's row rids of u2. */
    const case_line next = case_row(g, k + in, t, 0);
    const double toward = -size * next.coupling[side], away = -size * next.coupling[!side];
    const double middle = 1 - toward - away + size * case_at(g->p, x[k + in], t).kill;
    const double factor = -size * third / away, diagonal = 1 + size * (beyond + kill) - factor * toward;
    const double near_by = size * (third - beyond) - factor * middle;
    if (!(factor <= 0 && diagonal > fabs(near_by))) left[2 + 2 * in] += third, left[2 + in] -= third;
}

/* Solves y' - size F(y') = y - size F(w), F(y') with the coefficients of time t and faces given what they are at the
   step's end, F(w) as it is in taken. */
CASE_REFERENCE void case_solve(const case_grid *g, int axis, double size, double t, double end, const double *taken,
                               const double *w, double *y)
{
    static double a[CASE_MOST][9];
    const int n = g->n[axis];
    for (int k = 0; k < n; k++) {
        const int at_face = k == 0 || k == n - 1, kind = g->problem->face[0][k > 0];
        case_line row = case_row(g, k, t, end);
        double left[5] = {0, 0, 0, 0, 0};
        y[k] += size * (row.source - taken[k]);
        if (at_face && kind == FD_VALUE)
            memset(&row, 0, sizeof row), y[k] = case_given(g, k > 0, end);
        else if (at_face)
            case_left_out(g, k, size, t, &row, left);
        memset(a[k], 0, sizeof a[k]);
        for (int m = 0; m < 5; m++) {
            a[k][2 + m] = (m == 2) - size * (row.weight[m] - left[m]);
            if (left[m] < 0 || left[m] > 0) y[k] += size * left[m] * w[k + m - 2];
        }
    }
    case_solve_band(n, a, y);
}

/* The final value at point i: at kinks and jumps that are told or found, the average over the cell. */
CASE_FUNCTION double case_final(const case_grid *g, int i)
{
    const double *x = g->x[0], k = g->p->strike;
    if (g->problem->finals != FD_AT_POINTS && i > 0 && i < g->n[0] - 1 && g->p->payoff != CASE_WAVE) {
        const double low = (x[i] + x[i - 1]) / 2, high = (x[i] + x[i + 1]) / 2, below = k - low, above = high - k;
        const double whole = g->p->payoff == CASE_DIGITAL ? above
                             : g->p->payoff == CASE_PUT   ? below * below / 2
                                                          : above * above / 2;
        if (low < k && k < high) return whole / (high - low);
    }
    return case_payoff(g->p, x[i]);
}

/* What a march leaves, as a batch has it, and on its way. */
typedef struct {
    double grid[1 + CASE_DATES][CASE_MOST];
    fd_values values[1 + CASE_DATES][CASE_SPOTS];
    double met, growth; /* the largest magnitude met; at time 0 over what the march was given */
    int not_dominant, left_out;
} case_answer;

/* A march on its way. */
typedef struct {
    case_grid g;
    double u[CASE_MOST], final[CASE_MOST], extra[CASE_MOST], given;
    int spots;
    fd_step step[CASE_STEPS];
} case_marching;

/* Records the values at a time, 0 or 1 + a date. */
CASE_FUNCTION void case_record(const case_marching *m, int time, case_answer *answer)
{
    const case_grid *g = &m->g;
    memcpy(answer->grid[time], m->u, sizeof m->u);
    for (int s = 0; s < m->spots; s++) {
        double weight[3][4], sum[3] = {0, 0, 0};
        const int first = case_cubic(g->n[0], g->x[0], g->problem->spot[s], weight);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 4; i++) sum[k] += weight[k][i] * m->u[first + i];
        const fd_values values = {sum[0], {sum[1], 0, 0}, {sum[2], 0, 0}, {0, 0, 0}};
        answer->values[time][s] = values;
    }
}

/* What exercise pays at point i at time t. */
CASE_FUNCTION double case_pays(const case_marching *m, int i, double t)
{
    return m->g.p->has & CASE_EXERCISES ? case_exercise(m->g.p, m->g.x[0][i], t) : m->final[i];
}

/* Exercise after a step. Ikonen and Toivanen: U - dt L = (what the step made) - dt (the old L), U at least what exercise
   pays, L at least 0, and one of them equal. */
CASE_FUNCTION void case_exercised(case_marching *m, const fd_step *step)
{
    const double dt = step->from - step->to;
    const int kind = m->g.problem->exercise;
    for (int i = 0; i < m->g.n[0] && kind != FD_EUROPEAN; i++) {
        const double pays = case_pays(m, i, step->to), held = m->u[i] - (kind == FD_AMERICAN ? dt * m->extra[i] : 0);
        const double more = m->extra[i] + (pays - m->u[i]) / dt;
        m->u[i] = held > pays ? held : pays;
        m->extra[i] = kind == FD_AMERICAN && more > 0 ? more : 0;
    }
}

/* What happens at the date of a step's end. */
CASE_FUNCTION void case_happens(case_marching *m, const fd_step *step, case_answer *answer)
{
    const case_grid *g = &m->g;
    if (step->date < 0 || !g->problem->at_date) return;
    const fd_date *event = &g->problem->at_date[step->date];
    const double *x = g->x[0];
    const int n = g->n[0];
    static double old[CASE_MOST];
    memcpy(old, m->u, sizeof old);
    for (int i = 0; i < n && event->what; i++) {
        const double pays = case_pays(m, i, step->to);
        if (event->what & FD_SHIFT) {
            double from = x[i] - event->cash - event->proportion * x[i], weight[3][4];
            from = fmin(fmax(from, x[0]), x[n - 1]);
            const int first = case_cubic(n, x, from, weight);
            m->u[i] = 0;
            for (int k = 0; k < 4; k++) m->u[i] += weight[0][k] * old[first + k];
            for (int k = 0; k < n; k++)
                if (x[k] >= from && x[k] <= from) m->u[i] = old[k]; /* to the bit, which exercise may hang on */
        }
        if (event->what & FD_CHANGE_VALUES && g->p->has & CASE_CHANGES) {
            const double before = m->u[i];
            m->u[i] = case_change(g->p, step->date, x[i], before);
            m->given = fmax(m->given, fabs(m->u[i]) - fabs(before));
        }
        if (m->u[i] > pays) m->extra[i] = 0; /* who waits here gains nothing from the exercise before */
        if ((event->what & FD_EXERCISE) || g->problem->exercise != FD_EUROPEAN) m->u[i] = fmax(m->u[i], pays);
    }
    if (event->what & FD_RECORD) case_record(m, 1 + step->date, answer);
}

/* Counts the rows that are not dominant in a step. */
CASE_FUNCTION int case_count_not_dominant(const case_grid *g, const fd_step *step)
{
    const int n = g->n[0], coefficients = g->problem->coefficients;
    const double then = coefficients == FD_MIDDLE ? (step->from + step->to) / 2 : step->to;
    int count = 0;
    for (int k = 0; k < n; k++) {
        if ((k == 0 || k == n - 1) && g->problem->face[0][k > 0] == FD_VALUE) continue;
        const case_line row = case_row(g, k, then, step->to);
        count += !case_dominant(&row, step->theta * (step->from - step->to), case_at(g->p, g->x[0][k], then).kill);
    }
    return count;
}

/* Begins a march: points, steps, final values. Returns how many steps there are. */
CASE_FUNCTION int case_begin(const case_parameters *p, const fd_problem *problem, int fitting, int spots,
                             case_marching *m)
{
    case_grid *g = &m->g;
    fd_times times = problem->times;
    int steps = 0;
    const int n = problem->axis[0].points;
    memset(m, 0, sizeof *m);
    if (times.kind == FD_THETA && times.theta == 0) times.theta = fd_scheme_theta(problem->scheme, 1, 0);
    g->p = p, g->problem = problem, g->fitting = fitting, g->changes = 1, g->n[0] = g->all = n, g->stride[0] = 1;
    if (problem->points[0])
        memcpy(g->x[0], problem->points[0], sizeof(double) * (size_t)n);
    else if (fd_axis_points(&problem->axis[0], g->x[0]))
        fprintf(stderr, "case_begin: no axis\n"), exit(2);
    if (fd_schedule(&times, CASE_STEPS, m->step, &steps)) fprintf(stderr, "case_begin: no steps\n"), exit(2);
    m->spots = spots;
    for (int i = 0; i < n; i++) m->u[i] = m->final[i] = case_final(g, i), m->given = fmax(m->given, fabs(m->u[i]));
    for (int side = 0; side < 2; side++) {
        const int kind = problem->face[0][side];
        const double length = kind == FD_SLOPE ? g->x[0][n - 1] - g->x[0][0] : kind == FD_VALUE;
        m->given = fmax(m->given, length * fabs(case_given(g, side, 0)));
    }
    return steps;
}

/* Marches a problem that is one. */
CASE_FUNCTION void case_march(const case_parameters *p, const fd_problem *problem, int fitting, int spots,
                              case_answer *answer)
{
    static case_marching marching;
    case_marching *m = &marching;
    const int steps = case_begin(p, problem, fitting, spots, m), n = m->g.n[0];
    double largest = 0;
    answer->met = 0;
    answer->not_dominant =
        case_count_not_dominant(&m->g, &m->step[0]) + case_count_not_dominant(&m->g, &m->step[steps - 1]);
    for (int k = 0; k < steps; k++) {
        case_step(&m->g, &m->step[k], m->u, m->extra);
        case_exercised(m, &m->step[k]);
        case_happens(m, &m->step[k], answer);
        for (int i = 0; i < n; i++) answer->met = fmax(answer->met, fabs(m->u[i]));
    }
    for (int i = 0; i < n; i++) answer->met = fmax(answer->met, fabs(m->final[i]));
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(m->u[i]));
    answer->growth = m->given > 0 ? largest / m->given : 0;
    case_record(m, 0, answer);
}
