/* fd1d_cases.h - what the tests of pde/fd1d.h share: models with all that a model may have, random problems for them,
   and a plain march of the schemes in double precision, written from the formulas of docs/fd.md and of the books alone.
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
    CASE_BAD_X,      /* a number of the point bad_at is NaN */
    CASE_BAD_T,      /* a number of times before bad_time is NaN */
    CASE_BAD_TERMS,  /* a term at that point is infinite; if the model depends on time, only before bad_time */
    CASE_BAD_ONCE,   /* the same, only at bad_time */
    CASE_NEGATIVE,   /* diffusions are negative at bad_time, if the model depends on time */
    CASE_BAD_PAYOFF, /* NaN at that point; likewise */
    CASE_BAD_CHANGE,
    CASE_BAD_FACE,     /* NaN at the last point before bad_time */
    CASE_BAD_EXERCISE, /* NaN at that point before bad_time */
    CASE_HUGE_CHANGE   /* date 0 sets values to bad_time */
};
enum { CASE_CALL, CASE_PUT, CASE_WAVE, CASE_DIGITAL, CASE_PAYOFFS };

/* What a model has. */
enum { CASE_MOVES = 1, CASE_FACES = 2, CASE_CHANGES = 4, CASE_EXERCISES = 8 };

/* The models. s is the position between low and high, 0 .. 1; T = 1 + change sin 3t and U = 1 + change t:
     drift = (drift + pull (1/2 - s)) T           diffusion = diffusion v(s) (1 + ripple cos(5 s + phase)) T
     kill = kill (1 + s / 2) U                    source = source cos(2 s + phase) U
   T and U are 1 if the model does not depend on time. v vanishes linearly at faces that are to be degenerate; elsewhere
   it is 1. */
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

/* Returns the value or slope that is given at a face. It agrees neither with the final values nor with the other faces:
   a march must cope with that. */
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
    if (p->bad == CASE_BAD_EXERCISE && case_there(x, p->bad_at) && t < p->bad_time) return sqrt(-1.0);
    return case_payoff(p, x) * (1 - 0.2 * t);
}

/* Models with drifts discretised in each of the three ways, with and without a dependence on time; with all that a
   model may have, and with as little as possible. */
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

/* The coefficients of the equation at a point, by the formulas above. */
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

enum { CASE_AXES = 1, CASE_MOST = FD1D_MOST, CASE_DATES = 3, CASE_SPOTS = 4, CASE_STEPS = 900 };
typedef fd_problem case_pde;
#include "adi_cases.h"

/* A row of F: the weights of the points from two below to two above, with the kill; the terms without u; the couplings
   to both neighbours. */
typedef struct {
    double weight[5], source, coupling[2];
} case_line;

/* Computes the couplings of an inner point with spacings l and u. */
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
    if (kind == FD_DEGENERATE) { /* without the slope from the second to the third point */
        const double beyond = fabs(x[k + 2 * in] - x[k + in]);
        row->coupling[!side] = in * c.drift * (1 + spacing / (spacing + beyond)) / spacing;
    }
    if (kind == FD_SLOPE) { /* the point beyond has the value that makes the slope */
        const double coupling = 2 * c.diffusion / (spacing * spacing);
        row->coupling[!side] = row->weight[2 + in] = coupling, row->weight[2] = -coupling;
        row->source += (c.drift - in * 2 * c.diffusion / spacing) * case_given(g, side, given_at);
    }
}

/* Returns the row of F at point k, with the coefficients of time t and what faces are given at time given_at. */
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

/* Computes F_1 of v at all points; there is no mixed term, so F_0 is 0. */
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

/* Returns whether the row of 1 - size A with these couplings is dominant. It is if none is negative, whatever rounding
   says. */
CASE_REFERENCE int case_dominant(const case_line *row, double size, double kill)
{
    const double *c = row->coupling;
    if (c[0] >= 0 && c[1] >= 0 && 1 + size * kill > 0) return 1;
    return 1 + size * (c[0] + c[1] + kill) > size * (fabs(c[0]) + fabs(c[1]));
}

/* Solves by Gaussian elimination with pivoting a system of rows that reach two points to each side: column j of row i
   at a[i][j - i + 4]. */
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

/* Finds the terms that the matrix omits in the row of a face, which is point k, and that act on the old values instead:
   couplings of the wrong sign if the row is not dominant, and a third point that the neighbour's row cannot
   eliminate. */
CASE_REFERENCE void case_left_out(const case_grid *g, int k, double size, double t, const case_line *row, double *left)
{
    const double *x = g->x[0], kill = case_at(g->p, x[k], t).kill;
    const int side = k > 0, in = side ? -1 : 1;
    const double third = row->weight[2 + 2 * in];
    double beyond = row->coupling[!side];
    memset(left, 0, 5 * sizeof *left);
    if (beyond < 0 && !case_dominant(row, size, kill)) left[2 + in] += beyond, left[2] -= beyond, beyond = 0;
    if (g->problem->face[0][side] != FD_DEGENERATE || third == 0) return;
    /* third is the drift's weight of u2; as a slope it is third (u2 - u1). The row of u1 eliminates u2. */
    const case_line next = case_row(g, k + in, t, 0);
    const double toward = -size * next.coupling[side], away = -size * next.coupling[!side];
    const double middle = 1 - toward - away + size * case_at(g->p, x[k + in], t).kill;
    const double factor = -size * third / away, diagonal = 1 + size * (beyond + kill) - factor * toward;
    const double near_by = size * (third - beyond) - factor * middle;
    if (!(factor <= 0 && diagonal > fabs(near_by))) left[2 + 2 * in] += third, left[2 + in] -= third;
}

/* Solves y' - size F(y') = y - size F(w). F(y') has the coefficients of time t and what faces are given at the step's
   end; `taken` holds F(w). */
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

/* Returns the final value at point i: at kinks and jumps, whether the problem names them or the march finds them, the
   average over the cell. */
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

/* What a march leaves: the results of a batch, and what it saw on its way. */
typedef struct {
    double grid[1 + CASE_DATES][CASE_MOST];
    fd_values values[1 + CASE_DATES][CASE_SPOTS];
    double met, given, growth; /* the largest magnitudes met and given; that at time 0 over the one given */
    int not_dominant;
} case_answer;

/* The state of a march. */
typedef struct {
    case_grid g;
    double u[CASE_MOST], final[CASE_MOST], extra[CASE_MOST], given;
    int spots;
    fd_step step[CASE_STEPS];
} case_marching;

/* Records the values at a time, 0 (today) or 1 + a date. */
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

/* Returns what exercise pays at point i at time t. */
CASE_FUNCTION double case_pays(const case_marching *m, int i, double t)
{
    return m->g.p->has & CASE_EXERCISES ? case_exercise(m->g.p, m->g.x[0][i], t) : m->final[i];
}

/* Exercises after a step. Ikonen and Toivanen: U - dt L = (what the step made) - dt (the old L), U is at least what
   exercise pays, L is at least 0, and one of the two is equal. */
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

/* Applies what happens at the date at which a step ends. */
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
                if (x[k] >= from && x[k] <= from) m->u[i] = old[k]; /* exact: exercise may depend on the last bit */
        }
        if (event->what & FD_CHANGE_VALUES) {
            const double before = m->u[i];
            m->u[i] = case_change(g->p, step->date, x[i], before);
            m->given = fmax(m->given, fabs(m->u[i]) - fabs(before));
        }
        if (m->u[i] > pays) m->extra[i] = 0; /* where the holder waits, earlier exercise adds nothing */
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

/* Marches a valid problem. */
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
    answer->given = m->given, answer->growth = m->given > 0 ? largest / m->given : 0;
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
    double x[CASE_MOST], date[CASE_DATES], spot[CASE_SPOTS];
    int kink[CASE_DATES];
    fd_date at_date[CASE_DATES];
} case_problem;

/* Kinds of random problems. */
enum {
    CASE_ANY,
    CASE_ALIKE, /* many steps, most of them alike, with few events between them */
    CASE_ENDS   /* the most points allowed, and degenerate faces */
};

/* Returns a number of points, 4 .. most: half of the time one that just fills a group of lanes, or just does not. */
CASE_FUNCTION int case_points(case_random *random, int most)
{
    static const int edge[] = {4, 5, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024};
    const int n = edge[case_below(random, (int)(sizeof edge / sizeof *edge))];
    return n <= most && case_below(random, 2) ? n : 4 + case_below(random, most - 3);
}

/* Makes the axis: a description, or points of the problem's own. The fields of the second and third axis must not be
   read, so they are filled with bad numbers. */
CASE_FUNCTION void case_random_axis(case_random *random, int n, case_problem *c)
{
    fd_problem *q = &c->problem;
    const double low = case_between(random, 0, 0.5), high = low + case_between(random, 0.8, 2);
    const fd_axis axis = {low, high, n, 1, {low + 0.4 * (high - low), 0, 0}, {0.3, 0, 0}, {FD_ANYWHERE, 0, 0}};
    memset(q->axis, CASE_FILL, sizeof q->axis);
    memset((void *)q->points, CASE_FILL, sizeof q->points);
    memset(q->face, CASE_FILL, sizeof q->face);
    q->axis[0] = axis, q->points[0] = NULL;
    if (case_below(random, 2)) {
        c->x[0] = 0;
        for (int i = 1; i < n; i++) c->x[i] = c->x[i - 1] + case_between(random, 0.5, 1.5);
        const double last = c->x[n - 1];
        for (int i = 0; i < n; i++) c->x[i] = low + (high - low) * c->x[i] / last;
        q->points[0] = c->x;
    }
    c->parameters.low = low, c->parameters.high = q->points[0] ? c->x[n - 1] : high;
    for (int s = 0; s < CASE_SPOTS; s++) {
        const int kind = case_below(random, 6);
        c->spot[s] = kind == 0 ? low : kind == 1 ? c->parameters.high : case_between(random, low, c->parameters.high);
        if (kind == 2 && q->points[0]) c->spot[s] = c->x[case_below(random, n)];
    }
    q->spot = c->spot;
}

/* Makes the coefficients of the equation. With `strong` drifts, central differences oscillate. */
CASE_FUNCTION void case_random_equation(case_random *random, int like, int strong, case_problem *c)
{
    case_parameters *p = &c->parameters;
    p->drift = case_between(random, -0.2, 0.2) * (strong ? 20 : 1);
    p->pull = case_below(random, 2) ? case_between(random, 0.5, 1.5) : case_between(random, -0.3, 0.3);
    p->diffusion = pow(10, case_between(random, -3, -0.5)), p->ripple = case_between(random, 0, 0.6);
    p->kill = case_between(random, -0.1, 0.3), p->source = case_below(random, 2) ? case_between(random, -0.5, 0.5) : 0;
    p->change = case_between(random, -0.5, 0.5), p->phase = case_between(random, 0, 6);
    p->strike = p->low + case_between(random, 0.2, 0.8) * (p->high - p->low);
    p->payoff = case_below(random, CASE_PAYOFFS);
    p->bad_at = -1;
    for (int side = 0; side < 2; side++) {
        c->problem.face[0][side] = like == CASE_ENDS ? FD_DEGENERATE : case_below(random, 4);
        p->vanish[side] = c->problem.face[0][side] == FD_DEGENERATE;
    }
    case_turn_inward(&p->drift, &p->pull, p->vanish);
}

/* Makes the time steps, and what happens between them. */
CASE_FUNCTION void case_random_times(case_random *random, int like, case_problem *c)
{
    fd_times *t = &c->problem.times;
    const int alike = like == CASE_ALIKE;
    t->maturity = alike ? case_between(random, 0.2, 1) : case_between(random, 0.1, 0.4);
    t->steps = alike ? 20 + case_below(random, 200) : 1 + case_below(random, 8);
    if (alike && c->problem.axis[0].points < 40 && !case_below(random, 3)) t->steps += 500; /* more than a run holds */
    t->grading = case_below(random, 3), t->ratio = pow(10, case_between(random, -0.5, 0.7));
    if (alike && case_below(random, 3)) t->grading = FD_EQUAL;
    t->kind = FD_THETA;
    const int theta = case_below(random, 4);
    t->theta = theta == 0   ? 0
               : theta == 1 ? fd_scheme_theta(c->problem.scheme, 1, 0)
               : theta == 2 ? 0.5
                            : case_between(random, alike ? 0.5 : 0.3, 1);
    t->halves = case_below(random, 6) + (alike ? 0 : 20 * !case_below(random, 8));
    if (!case_below(random, 8)) t->kind = case_below(random, 2) ? FD_BACKWARD_EULER : FD_EXPLICIT;
    t->dates = case_below(random, CASE_DATES + 1);
    const int today = case_below(random, 2);
    for (int k = 0; k < t->dates; k++) {
        c->date[k] = k == 0 && today ? 0 : t->maturity * (k + case_between(random, 0, 1)) / (t->dates + 1);
        /* Less than a step apart; after so short a step, the multiplier of exercise would be all rounding. */
        if (k > 0 && c->problem.exercise != FD_AMERICAN && !case_below(random, 6))
            c->date[k] = c->date[k - 1] + 1e-4 * t->maturity;
        c->at_date[k].what = case_below(random, 16);
        const int shifts = (c->at_date[k].what & FD_SHIFT) != 0;
        c->at_date[k].cash = shifts * case_between(random, -0.05, 0.1);
        c->at_date[k].proportion = shifts * case_between(random, -0.05, 0.1);
        c->kink[k] = case_below(random, 2);
    }
    t->date = c->date, t->kink = case_below(random, 2) ? c->kink : NULL;
    c->problem.at_date = case_below(random, 8) ? c->at_date : NULL;
}

/* Makes explicit steps so short that they are stable. Lets some drifts point out of degenerate faces, by less than a
   march refuses: what the matrix omits then acts on the old values. */
CASE_FUNCTION void case_tame(case_random *random, case_problem *c)
{
    case_parameters *p = &c->parameters;
    fd_times *t = &c->problem.times;
    const fd_axis *axis = &c->problem.axis[0];
    const int n = axis->points, last = p->vanish[1];
    double x[CASE_MOST], least = p->high - p->low, longest = t->maturity;
    if (c->problem.points[0])
        memcpy(x, c->x, sizeof x);
    else if (fd_axis_points(axis, x))
        fprintf(stderr, "case_tame: no axis\n"), exit(2);
    for (int i = 1; i < n; i++) least = fmin(least, x[i] - x[i - 1]);
    if (t->kind == FD_EXPLICIT) {
        longest = 0.1 / (1 + p->diffusion * 1.6 * 1.5 * 2 / (least * least) + (fabs(p->drift) + fabs(p->pull)) / least);
        t->maturity = longest * t->steps / 4; /* graded steps are up to four times as long as equal ones */
        for (int k = 0; k < t->dates; k++) c->date[k] *= t->maturity / c->problem.times.maturity;
    }
    if ((p->vanish[0] || last) && t->kind != FD_EXPLICIT && !case_below(random, 3)) {
        const double cell = last ? x[n - 1] - x[n - 2] : x[1] - x[0];
        const double outward = case_between(random, 0, 0.6) * cell / t->maturity;
        p->drift = last ? outward + p->pull / 2 : -outward - p->pull / 2;
    }
}

CASE_FUNCTION void case_random_problem(const case_runner *runner, case_random *random, int most, int like,
                                       case_problem *c)
{
    fd_problem *q = &c->problem;
    memset(c, 0, sizeof *c);
    const int n = like == CASE_ENDS ? most : case_points(random, most);
    const int strong = like == CASE_ANY && n <= 64 && !case_below(random, 4);
    case_random_axis(random, n, c);
    case_random_equation(random, like, strong, c);
    c->parameters.has = runner->has;
    q->scheme = case_below(random, like == CASE_ALIKE ? 2 : 4), q->coefficients = case_below(random, 3);
    q->finals = case_below(random, 2) ? FD_TOLD : case_below(random, 4);
    if (c->parameters.payoff == CASE_WAVE && q->finals > FD_TOLD) q->finals = FD_AT_POINTS; /* waves are found too */
    q->kinks = c->parameters.payoff != CASE_WAVE, q->kink[0] = c->parameters.strike;
    q->exercise = like == CASE_ALIKE && case_below(random, 4) ? FD_EUROPEAN : case_below(random, 3);
    case_random_times(random, like, c);
    const double before = q->times.maturity;
    case_tame(random, c);
    for (int k = 0; k < q->times.dates; k++) {
        c->date[k] *= q->times.maturity / before;
        /* Where exercise pays the same everywhere, rounding decides whether values after a shift are above it. */
        if (q->exercise == FD_AMERICAN && c->parameters.payoff == CASE_DIGITAL)
            c->at_date[k].what &= ~FD_SHIFT, c->at_date[k].cash = c->at_date[k].proportion = 0;
        if (!(runner->has & CASE_CHANGES)) c->at_date[k].what &= ~FD_CHANGE_VALUES;
    }
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* A batch of problems with its results, between guards. */
typedef struct {
    fd_batch batch;
    case_parameters *parameters;
    size_t number, grid_bytes, value_bytes, point_bytes;
} case_batch;

CASE_FUNCTION case_batch case_batch_of(int count, int points, int steps, int dates, int spots, int single)
{
    case_batch b;
    const size_t n = (size_t)count, times = n * (size_t)(1 + dates);
    memset(&b, CASE_FILL, sizeof b); /* leaves bad counts and pointers in the other two axes */
    b.number = single ? sizeof(float) : sizeof(double), b.grid_bytes = times * (size_t)points * b.number;
    b.value_bytes = times * (size_t)spots * sizeof(fd_values), b.point_bytes = n * (size_t)points * sizeof(double);
    b.batch.problems = count, b.batch.points[0] = points;
    b.batch.steps = steps, b.batch.dates = dates, b.batch.spots = spots;
    b.batch.problem = (fd_problem *)case_guarded(n * sizeof(fd_problem));
    b.batch.status = (fd_status *)case_stale(n * sizeof(fd_status));
    b.batch.values = spots ? (fd_values *)case_stale(b.value_bytes) : NULL;
    b.batch.grid = case_stale(b.grid_bytes);
    b.batch.coordinates[0] = (double *)case_stale(b.point_bytes);
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
    const size_t at = (size_t)k * (size_t)(1 + b->batch.dates) + (size_t)time;
    return b->batch.values + at * (size_t)b->batch.spots;
}

/* Returns problem k's grid at that time. */
CASE_FUNCTION const unsigned char *case_grid_of(const case_batch *b, int k, int time)
{
    const size_t at = (size_t)k * (size_t)(1 + b->batch.dates) + (size_t)time;
    return (const unsigned char *)b->batch.grid + at * (size_t)b->batch.points[0] * b->number;
}

CASE_FUNCTION double case_number(const case_batch *b, int k, int time, int i)
{
    const unsigned char *grid = case_grid_of(b, k, time);
    return b->number == sizeof(float) ? (double)((const float *)grid)[i] : ((const double *)grid)[i];
}

CASE_FUNCTION void case_batch_free(case_batch *b, const char *name)
{
    const size_t n = (size_t)b->batch.problems;
    int whole = case_release((void *)b->batch.problem, n * sizeof(fd_problem));
    whole &= case_release(b->batch.status, n * sizeof(fd_status));
    if (b->batch.values) whole &= case_release(b->batch.values, b->value_bytes);
    if (b->batch.grid) whole &= case_release(b->batch.grid, b->grid_bytes);
    if (b->batch.coordinates[0]) whole &= case_release(b->batch.coordinates[0], b->point_bytes);
    whole &= case_release(b->parameters, n * sizeof(case_parameters));
    CHECK(whole, "%s: a guard has been written", name);
}

/* Removes from a batch the results that a caller need not ask for. */
CASE_FUNCTION void case_ask_less(case_batch *b)
{
    case_release(b->batch.grid, b->grid_bytes), case_release(b->batch.coordinates[0], b->point_bytes);
    b->batch.grid = NULL, b->batch.coordinates[0] = NULL;
}

/* Returns how many numbers of problem k's results are not NaN, which they all should be if it failed. */
CASE_FUNCTION int case_numbers_left(const case_batch *b, int k)
{
    enum { EACH = sizeof(fd_values) / sizeof(double) };
    int numbers = 0;
    for (int time = 0; time <= b->batch.dates; time++) {
        const double *values = (const double *)case_values_of(b, k, time);
        for (int q = 0; q < b->batch.spots * EACH; q++) numbers += !isnan(values[q]);
        for (int i = 0; i < b->batch.points[0] && b->batch.grid; i++) numbers += !isnan(case_number(b, k, time, i));
    }
    for (int i = 0; i < b->batch.points[0] && b->batch.coordinates[0]; i++)
        numbers += !isnan(b->batch.coordinates[0][(size_t)k * (size_t)b->batch.points[0] + (size_t)i]);
    return numbers;
}

/* Returns how many coordinates of problem k are wrong. They should be those of its points, and NaN beyond these. */
CASE_FUNCTION int case_coordinates_off(const case_batch *b, int k)
{
    static double x[CASE_MOST];
    const fd_problem *problem = &b->batch.problem[k];
    const double *got = b->batch.coordinates[0] + (size_t)k * (size_t)b->batch.points[0];
    const double *due = problem->points[0] ? problem->points[0] : x;
    int off = due == x && fd_axis_points(&problem->axis[0], x);
    for (int i = 0; i < b->batch.points[0]; i++)
        off += i < problem->axis[0].points ? !(fabs(got[i] - due[i]) <= 1e-13) : !isnan(got[i]);
    return off;
}

/* ---- random problems against the reference ----------------------------------------------------------------------- */

/* Returns the rounding error allowed, relative to the largest value: more where points are close, since final values
   may jump. */
CASE_FUNCTION double case_tolerance(const case_runner *runner, int points)
{
    return (runner->single ? 5e-5 : 1e-10) * (1 + points / 512.0);
}

CASE_FUNCTION void case_describe(const case_runner *runner, const fd_problem *q, char *text, size_t room)
{
    const fd_times *t = &q->times;
    snprintf(
        text, room,
        "%s: %d points%s, %d steps of kind %d, theta %.2f, grading %d, %d halves, %d dates, scheme %d, faces %d %d, "
        "coefficients %d, finals %d, exercise %d",
        runner->name, q->axis[0].points, q->points[0] ? " of its own" : "", t->steps, t->kind, t->theta, t->grading,
        t->halves, t->dates, q->scheme, q->face[0][0], q->face[0][1], q->coefficients, q->finals, q->exercise);
}

/* Compares problem k's values at the spots at a time with those due. Derivatives are weighted sums of values. */
CASE_FUNCTION void case_compare_spots(const case_batch *b, int k, int time, const case_answer *answer, const double *x,
                                      double tolerance, const char *text)
{
    const fd_problem *q = &b->batch.problem[k];
    for (int s = 0; s < b->batch.spots; s++) {
        const fd_values *got = case_values_of(b, k, time) + s, *due = &answer->values[time][s];
        double weight[3][4], size[3] = {0, 0, 0};
        case_cubic(q->axis[0].points, x, q->spot[s], weight);
        for (int m = 0; m < 12; m++) size[m / 4] += fabs(weight[m / 4][m % 4]);
        check_near(got->value, due->value, tolerance * size[0], "%s: value at spot %d, time %d", text, s, time);
        check_near(got->first[0], due->first[0], tolerance * size[1], "%s: slope at spot %d, time %d", text, s, time);
        check_near(got->second[0], due->second[0], tolerance * size[2], "%s: curvature at spot %d, time %d", text, s,
                   time);
        double others = 0;
        for (int d = 0; d < 3; d++)
            others += fabs(got->mixed[d]) + (d > 0 ? fabs(got->first[d]) + fabs(got->second[d]) : 0);
        check_near(others, 0, 0, "%s: derivatives along axes that there are not", text);
    }
}

/* Compares problem k's results at a time with those due; if none are, checks that nothing has been written there. */
CASE_FUNCTION void case_compare_time(const case_batch *b, int k, int time, const case_answer *answer, double tolerance,
                                     const char *text)
{
    const fd_problem *q = &b->batch.problem[k];
    const int n = q->axis[0].points, date = time - 1, points = b->batch.points[0];
    static double x[CASE_MOST];
    if (date >= 0 && (date >= q->times.dates || !q->at_date || !(q->at_date[date].what & FD_RECORD))) {
        const size_t values = (size_t)b->batch.spots * sizeof(fd_values), grid = (size_t)points * b->number;
        CHECK(!b->batch.values || case_still_stale(case_values_of(b, k, time), values), "%s: values of date %d", text,
              date);
        CHECK(!b->batch.grid || case_still_stale(case_grid_of(b, k, time), grid), "%s: grid of date %d", text, date);
        return;
    }
    double worst = 0;
    int where = 0, beyond = 0;
    for (int i = 0; i < points && b->batch.grid; i++) {
        const double got = case_number(b, k, time, i), off = i < n ? fabs(got - answer->grid[time][i]) : 0;
        if (!(off <= worst)) worst = off, where = i;
        beyond += i >= n && !isnan(got);
    }
    CHECK(worst <= tolerance, "%s: time %d, off by %.2e at %d, values to %.2e", text, time, worst, where, answer->met);
    CHECK(beyond == 0, "%s: %d numbers beyond the last point", text, beyond);
    if (!q->points[0] && fd_axis_points(&q->axis[0], x)) fprintf(stderr, "no axis\n"), exit(2);
    case_compare_spots(b, k, time, answer, q->points[0] ? q->points[0] : x, tolerance, text);
}

/* Compares problem k of a batch that has been solved with the reference. Tolerances are relative to the largest value
   that the march met. */
CASE_FUNCTION void case_compare(const case_runner *runner, const case_batch *b, int k)
{
    static case_answer answer;
    char text[400];
    const fd_problem *q = &b->batch.problem[k];
    const fd_status status = b->batch.status[k];
    case_march(&b->parameters[k], q, runner->fitting, b->batch.spots, &answer);
    case_describe(runner, q, text, sizeof text);
    double tolerance = case_tolerance(runner, q->axis[0].points);
    if (q->finals == FD_AVERAGED_X || q->finals == FD_AVERAGED) tolerance = fmax(tolerance, 1e-6);
    check_near((double)status.growth, answer.growth,
               1e-6 * answer.growth + (answer.given > 0 ? tolerance * answer.met / answer.given : 0), "%s: growth",
               text);
    const int due = answer.growth > (double)FD_MOST_GROWTH ? FD_GREW : FD_OK;
    if (!CHECK(status.what == due, "%s: %s, detail %d, step %d", text, fd_status_string(status.what), status.detail,
               status.step) ||
        status.what) {
        CHECK(case_numbers_left(b, k) == 0, "%s: numbers of a march that failed", text);
        return;
    }
    CHECK(!b->batch.coordinates[0] || case_coordinates_off(b, k) == 0, "%s: coordinates", text);
    CHECK(status.axis == -1 && status.i == -1 && status.j == -1 && status.k == -1 && status.step == -1, "%s: where",
          text);
    if (!runner->single)
        CHECK(status.not_dominant == answer.not_dominant, "%s: %d rows not dominant instead of %d", text,
              status.not_dominant, answer.not_dominant);
    for (int time = 0; time <= b->batch.dates; time++)
        case_compare_time(b, k, time, &answer, tolerance * answer.met, text);
}

/* Compares each problem of a batch of random problems of different sizes with the reference. */
CASE_FUNCTION void case_random_batch(const case_runner *runner, case_random *random, int count, int most, int like)
{
    const int spots = case_below(random, CASE_SPOTS + 1), less = !case_below(random, 6);
    case_problem *c = (case_problem *)case_guarded((size_t)count * sizeof *c);
    case_batch b = case_batch_of(count, most, CASE_STEPS, CASE_DATES, spots, runner->single);
    for (int k = 0; k < count; k++) {
        case_random_problem(runner, random, most, like, &c[k]);
        if (spots == 0) c[k].problem.spot = NULL;
        case_put(&b, k, &c[k]);
    }
    if (less) case_ask_less(&b);
    CHECK(runner->solve(&b.batch, b.parameters) == FD_OK, "%s: refused", runner->name);
    for (int k = 0; k < count; k++) case_compare(runner, &b, k);
    case_batch_free(&b, runner->name);
    case_release(c, (size_t)count * sizeof *c);
}

/* ---- what is wrong with a problem -------------------------------------------------------------------------------- */

enum { CASE_POINTS = 9, CASE_ROOM = 11, CASE_ROOM_STEPS = 10, CASE_EVENTS = 2, CASE_PLACES = 2 };

/* Makes a plain and valid problem. Its steps are two halves and a whole one to the date 0.125, and the same again to 0,
   which is a date too. */
CASE_FUNCTION void case_plain(const case_runner *runner, case_problem *c)
{
    memset(c, 0, sizeof *c);
    fd_problem *q = &c->problem;
    case_parameters *p = &c->parameters;
    const fd_axis axis = {0.25, 1.25, CASE_POINTS, 1, {0.5, 0, 0}, {0.5, 0, 0}, {FD_ANYWHERE, 0, 0}};
    const fd_times times = {0.25, 4, FD_EQUAL, 1, FD_THETA, 0.5, 2, CASE_EVENTS, c->date, NULL};
    const int changes = runner->has & CASE_CHANGES ? FD_CHANGE_VALUES : 0;
    const fd_date today = {FD_SHIFT, 0.01, 0.01}, before = {changes + FD_RECORD, 0, 0};
    q->axis[0] = axis, q->times = times, q->spot = c->spot, q->at_date = c->at_date;
    q->scheme = FD_MODIFIED_CRAIG_SNEYD, q->finals = FD_TOLD, q->kinks = 1, q->kink[0] = p->strike = 0.7;
    c->date[0] = 0, c->date[1] = 0.125, c->at_date[0] = today, c->at_date[1] = before;
    c->spot[0] = 0.6, c->spot[1] = 0.9;
    for (int i = 0; i < CASE_POINTS; i++) c->x[i] = 0.25 + 0.125 * i;
    p->low = 0.25, p->high = 1.25, p->drift = 0.1, p->diffusion = 0.05, p->kill = 0.125, p->source = 0.1;
    p->has = runner->has, p->change = 0.25, p->bad_at = -1;
}

/* The status that a spoilt problem should get. */
typedef struct {
    int what, detail, axis, i, step;
} case_verdict;

enum { CASE_ANYWHERE = -2 }; /* a point that depends on the solver */

CASE_FUNCTION int case_said(case_verdict *says, int what, int detail, int axis)
{
    const case_verdict v = {what, detail, axis, -1, -1};
    *says = v;
    return 1;
}

/* The functions below spoil argument number `which` of a plain problem, and leave the status that is due in *says. They
   return 0 if there is no such argument. */
typedef int case_spoiler(const case_runner *runner, int which, case_problem *c, case_verdict *says);

CASE_FUNCTION int case_spoil_axis(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    const double nan = sqrt(-1.0), infinite = HUGE_VAL;
    fd_problem *q = &c->problem;
    fd_axis *axis = &q->axis[0];
    (void)runner;
    if (which == 0) return axis->points = 3, case_said(says, FD_BAD_SIZE, 0, 0);
    if (which == 1) return axis->points = -1, case_said(says, FD_BAD_SIZE, 0, 0);
    if (which == 2) return axis->points = FD1D_MOST + 1, case_said(says, FD_TOO_MANY_POINTS, FD1D_MOST + 1, 0);
    if (which == 3) return axis->low = nan, case_said(says, FD_BAD_AXIS, FD_BAD_NUMBER, 0);
    if (which == 4) return axis->high = infinite, case_said(says, FD_BAD_AXIS, FD_BAD_NUMBER, 0);
    if (which == 5) return axis->high = 0.25, case_said(says, FD_BAD_AXIS, FD_BAD_NUMBER, 0);
    if (which == 6) return axis->places = 4, case_said(says, FD_BAD_AXIS, FD_BAD_SIZE, 0);
    if (which == 7) return axis->place[0] = 2, case_said(says, FD_BAD_AXIS, FD_PLACE_OUTSIDE, 0);
    if (which == 8) return axis->places = 2, axis->place[1] = 0.5, case_said(says, FD_BAD_AXIS, FD_PLACE_ORDER, 0);
    if (which == 9) return axis->align[0] = 3, case_said(says, FD_BAD_AXIS, FD_BAD_ALIGNMENT, 0);
    if (which == 10) return axis->width[0] = -1, case_said(says, FD_BAD_AXIS, FD_BAD_NUMBER, 0);
    if (which == 11) return q->face[0][0] = -1, case_said(says, FD_BAD_FACE, 0, 0);
    if (which == 12) return q->face[0][1] = FD_P_FACES, case_said(says, FD_BAD_FACE, 0, 0);
    if (which == 13) return q->spot = NULL, case_said(says, FD_BAD_ARGUMENT, 0, -1);
    if (which == 14) return c->spot[0] = 1.26, case_said(says, FD_BAD_SPOT, 0, 0);
    if (which == 15) return c->spot[1] = nan, case_said(says, FD_BAD_SPOT, 1, 0);
    if (which == 16) return c->spot[1] = 0.24, case_said(says, FD_BAD_SPOT, 1, 0);
    q->points[0] = c->x;
    if (which == 17) return c->x[3] = nan, case_said(says, FD_BAD_AXIS, 4, 0);
    if (which == 18) return c->x[0] = -infinite, case_said(says, FD_BAD_AXIS, 1, 0);
    if (which == 19) return c->x[8] = infinite, case_said(says, FD_BAD_AXIS, 9, 0);
    if (which == 20) return c->x[4] = c->x[3], case_said(says, FD_BAD_AXIS, 5, 0);
    if (which == 21)
        return c->x[0] = 0, c->x[1] = 1e-320, case_said(says, FD_BAD_AXIS, 1, 0); /* 1 / 1e-320 is infinite */
    return 0;
}

CASE_FUNCTION int case_spoil_dates(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    const double nan = sqrt(-1.0), infinite = HUGE_VAL;
    fd_times *t = &c->problem.times;
    if (which == 0) return c->at_date[0].what = -1, case_said(says, FD_BAD_EVENT, 1, -1);
    if (which == 1) return c->at_date[1].what = FD_SHIFT_Y, case_said(says, FD_BAD_EVENT, 2, -1);
    if (which == 2) return c->at_date[1].cash = nan, case_said(says, FD_BAD_EVENT, 2, -1);
    if (which == 3) return c->at_date[0].proportion = infinite, case_said(says, FD_BAD_EVENT, 1, -1);
    if (which == 4) return t->dates = 3, case_said(says, FD_TOO_MANY_DATES, 3, -1);
    if (which == 5) return t->dates = -1, case_said(says, FD_BAD_TIMES, FD_BAD_SIZE, -1);
    if (which == 6) return t->date = NULL, case_said(says, FD_BAD_TIMES, FD_BAD_ARGUMENT, -1);
    if (which == 7) return c->date[0] = -1e-9, case_said(says, FD_BAD_TIMES, 1, -1);
    if (which == 8) return c->date[0] = nan, case_said(says, FD_BAD_TIMES, 1, -1);
    if (which == 9) return c->date[1] = 0, case_said(says, FD_BAD_TIMES, 2, -1);
    if (which == 10) return c->date[1] = 0.25, case_said(says, FD_BAD_TIMES, 2, -1);
    if (which == 11) /* neighbours, with a step and its halves between them */
        return c->date[0] = 0.125, c->date[1] = nextafter(0.125, 1), case_said(says, FD_BAD_TIMES, FD_BAD_SIZE, -1);
    if (which == 12) return t->halves = 0, case_spoil_dates(runner, 11, c, says);
    if (which == 14) return c->at_date[1].cash = 1, case_said(says, FD_BAD_EVENT, 2, -1); /* nothing is shifted */
    if (which == 15) return c->at_date[1].proportion = -0.1, case_said(says, FD_BAD_EVENT, 2, -1);
    if (which == 16) return c->at_date[0].proportion = 1.01, case_said(says, FD_BAD_EVENT, 1, -1);
    if (which > 16) return 0;
    c->at_date[1].what = FD_CHANGE_VALUES; /* not every model has a function for that */
    return runner->has & CASE_CHANGES ? case_said(says, FD_OK, 0, -1) : case_said(says, FD_BAD_EVENT, 2, -1);
}

CASE_FUNCTION int case_spoil_times(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    const double nan = sqrt(-1.0);
    fd_times *t = &c->problem.times;
    (void)runner;
    if (which == 0) return t->maturity = nan, case_said(says, FD_BAD_TIMES, FD_BAD_NUMBER, -1);
    if (which == 1) return t->maturity = HUGE_VAL, case_said(says, FD_BAD_TIMES, FD_BAD_NUMBER, -1);
    if (which == 2) return t->maturity = 0, case_said(says, FD_BAD_TIMES, FD_BAD_NUMBER, -1);
    if (which == 3) return t->steps = 0, case_said(says, FD_BAD_TIMES, FD_BAD_STEPS, -1);
    if (which == 4) return t->steps = FD_P_MOST + 1, case_said(says, FD_BAD_TIMES, FD_BAD_STEPS, -1);
    if (which == 5)
        return t->steps = FD_P_MOST, case_said(says, FD_BAD_TIMES, FD_BAD_SIZE, -1); /* too many with two halves */
    if (which == 6) return t->steps = 20, case_said(says, FD_TOO_MANY_STEPS, 22, -1);
    if (which == 7) return t->grading = 3, case_said(says, FD_BAD_TIMES, FD_BAD_GRADING, -1);
    if (which == 8) return t->grading = -1, case_said(says, FD_BAD_TIMES, FD_BAD_GRADING, -1);
    if (which == 9) return t->kind = 3, case_said(says, FD_BAD_TIMES, FD_BAD_KIND, -1);
    if (which == 10) return t->kind = -1, case_said(says, FD_BAD_TIMES, FD_BAD_KIND, -1);
    if (which == 11) return t->halves = -1, case_said(says, FD_BAD_TIMES, FD_BAD_SIZE, -1);
    if (which == 12) return t->theta = nan, case_said(says, FD_BAD_THETA, 0, -1);
    if (which == 13) return t->theta = 1.01, case_said(says, FD_BAD_THETA, 0, -1);
    if (which == 14) return t->theta = -0.01, case_said(says, FD_BAD_THETA, 0, -1);
    t->grading = FD_GEOMETRIC;
    if (which == 15) return t->ratio = 0, case_said(says, FD_BAD_TIMES, FD_BAD_NUMBER, -1);
    if (which == 16) return t->ratio = nan, case_said(says, FD_BAD_TIMES, FD_BAD_NUMBER, -1);
    if (which == 17)
        return t->ratio = 1e30, case_said(says, FD_BAD_TIMES, FD_BAD_SIZE, -1); /* the first steps are too short */
    if (which == 18) return t->ratio = 1e-30, case_said(says, FD_BAD_TIMES, FD_BAD_SIZE, -1); /* the last ones */
    return 0;
}

CASE_FUNCTION int case_spoil_choices(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    fd_problem *q = &c->problem;
    (void)runner;
    if (which == 0) return q->scheme = -1, case_said(says, FD_BAD_SCHEME, 0, -1);
    if (which == 1) return q->scheme = 4, case_said(says, FD_BAD_SCHEME, 0, -1);
    if (which == 2) return q->coefficients = -1, case_said(says, FD_BAD_COEFFICIENTS, 0, -1);
    if (which == 3) return q->coefficients = 3, case_said(says, FD_BAD_COEFFICIENTS, 0, -1);
    if (which == 4) return q->finals = -1, case_said(says, FD_BAD_FINALS, 0, -1);
    if (which == 5) return q->finals = 4, case_said(says, FD_BAD_FINALS, 0, -1);
    if (which == 6) return q->exercise = -1, case_said(says, FD_BAD_EXERCISE, 0, -1);
    if (which == 7) return q->exercise = 3, case_said(says, FD_BAD_EXERCISE, 0, -1);
    if (which == 8) return q->kinks = -1, case_said(says, FD_BAD_KINKS, 0, -1);
    if (which == 9) return q->kinks = 5, case_said(says, FD_BAD_KINKS, 0, -1);
    if (which == 10) return q->kink[0] = HUGE_VAL, case_said(says, FD_BAD_KINKS, 1, -1);
    if (which == 11) return q->kinks = 2, q->kink[1] = 0.7, case_said(says, FD_BAD_KINKS, 2, -1);
    return 0;
}

/* Makes an equation that is ill-posed or not finite, or that this march cannot solve. */
CASE_FUNCTION int case_spoil_equation(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    fd_problem *q = &c->problem;
    case_parameters *p = &c->parameters;
    case_said(says, FD_ILL_POSED, 0, -1);
    says->i = says->step = 0;
    (void)runner;
    if (which == 0) return p->diffusion = -1e-3, 1;
    if (which == 1) return p->diffusion = -1e-3, q->face[0][0] = FD_VALUE, says->i = 1, 1;
    if (which == 2) return p->diffusion = -1e-3, q->face[0][0] = FD_DEGENERATE, p->vanish[0] = 1, says->i = 1, 1;
    says->what = FD_OUTWARD, says->axis = 0;
    if (which == 3) return q->face[0][0] = FD_DEGENERATE, p->vanish[0] = 1, p->drift = -3, 1;
    if (which == 4) return q->face[0][1] = FD_DEGENERATE, p->vanish[1] = 1, p->drift = 3, says->i = CASE_POINTS - 1, 1;
    says->what = FD_NOT_DEGENERATE; /* the diffusion does not vanish at the face */
    if (which == 9) return q->face[0][0] = FD_DEGENERATE, 1;
    if (which == 10) return q->face[0][1] = FD_DEGENERATE, p->drift = -0.1, says->i = CASE_POINTS - 1, 1;
    case_said(says, FD_MODEL_NAN, 0, 0);
    says->i = 0;
    if (which == 5) return p->drift = sqrt(-1.0), 1;
    if (which == 6) return p->kill = HUGE_VAL, 1;
    if (which == 7) { /* with so much diffusion, each step multiplies short waves by 1 - 1 / theta */
        q->times.halves = 0, q->times.theta = 0.01, q->scheme = FD_DOUGLAS, p->diffusion = 1e5;
        return case_said(says, FD_GREW, 0, -1);
    }
    if (which > 10) return 0;
    /* Too few explicit steps: 2 diffusion / h^2 + kill / 2 is 640.09 at the last inner point. */
    q->times.kind = FD_EXPLICIT, q->times.halves = q->times.dates = 0, q->axis[0].places = 0;
    return p->change = 0, p->diffusion = 5, case_said(says, FD_UNSTABLE, 161, -1);
}

/* Makes the model return NaN or infinity, in most cases at the third point. If a model lacks the function, its status
   stays FD_OK. */
CASE_FUNCTION int case_spoil_model(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    const int moves = runner->has & CASE_MOVES;
    case_parameters *p = &c->parameters;
    double x[CASE_POINTS];
    if (fd_axis_points(&c->problem.axis[0], x)) return 0;
    p->bad_at = x[2], p->bad_time = 0.1; /* step 3 is the first to end before */
    case_said(says, FD_MODEL_NAN, 0, which == 0 ? 0 : -1);
    says->i = 2;
    if (which == 0) return p->bad = CASE_BAD_X, 1;
    if (which == 1) return p->bad = CASE_BAD_T, moves ? says->i = -1, says->step = 3, 1 : case_said(says, FD_OK, 0, -1);
    if (which == 2) return p->bad = CASE_BAD_TERMS, p->bad_time = 1, says->step = 0, 1;
    if (which == 3) return p->bad = CASE_BAD_TERMS, says->step = moves ? 5 : 0, 1; /* 5: the last step is checked */
    if (which == 5) p->bad_at = x[0], says->i = 0;
    if (which == 4 || which == 5) return p->bad = CASE_BAD_ONCE, p->bad_time = 0.09375, says->step = moves ? 3 : 0, 1;
    if (which == 6) { /* each step is checked at one point or two */
        p->bad = CASE_NEGATIVE, p->bad_time = 0.09375, says->what = FD_ILL_POSED;
        return moves ? says->i = CASE_ANYWHERE, says->step = 3, 1 : case_said(says, FD_OK, 0, -1);
    }
    says->what = FD_FINAL_NAN;
    if (which == 7) return p->bad = CASE_BAD_PAYOFF, 1;
    says->what = FD_NOT_SOLVED;
    if (which == 8 || which == 9) {
        p->bad = CASE_BAD_CHANGE, says->step = 2; /* the whole step to the date */
        c->problem.exercise = which == 9 ? FD_AMERICAN : FD_EUROPEAN;
        return runner->has & CASE_CHANGES ? 1 : case_said(says, FD_OK, 0, -1);
    }
    if (which > 11) return 0;
    p->bad = CASE_BAD_EXERCISE, says->step = 3;
    c->problem.exercise = which == 10 ? FD_AMERICAN : FD_PROJECTED;
    return runner->has & CASE_EXERCISES ? 1 : case_said(says, FD_OK, 0, -1);
}

/* Makes what is given at a face NaN, from step 3 on or only at the end. */
CASE_FUNCTION int case_spoil_face(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    case_parameters *p = &c->parameters;
    if (which > 3) return 0;
    p->bad = CASE_BAD_FACE, p->bad_time = which % 2 ? 1e-9 : 0.1;
    c->problem.face[0][1] = which < 2 ? FD_VALUE : FD_SLOPE;
    case_said(says, FD_NOT_SOLVED, 0, -1), says->i = CASE_ANYWHERE, says->step = which % 2 ? 5 : 3;
    return runner->has & CASE_FACES ? 1 : case_said(says, FD_OK, 0, -1);
}

/* Spoils argument number `which` of all these. Returns 0 if there is none. */
CASE_FUNCTION int case_spoil(const case_runner *runner, int which, case_problem *c, case_verdict *says)
{
    static case_spoiler *const spoilers[] = {case_spoil_axis,    case_spoil_dates,    case_spoil_times,
                                             case_spoil_choices, case_spoil_equation, case_spoil_model,
                                             case_spoil_face};
    for (size_t s = 0; s < sizeof spoilers / sizeof *spoilers; s++)
        for (int k = 0;; k++) {
            case_plain(runner, c);
            if (!spoilers[s](runner, k, c, says)) break;
            if (which-- == 0) return 1;
        }
    return 0;
}

/* Solves a batch of plain problems, every second one spoilt unless `good`, with room for `room` points. */
CASE_FUNCTION case_batch case_spoilt_batch(const case_runner *runner, int room, int bad, int good, case_problem *c)
{
    case_batch b = case_batch_of(2 * bad, room, CASE_ROOM_STEPS, CASE_EVENTS, CASE_PLACES, runner->single);
    case_verdict says;
    for (int k = 0; k < 2 * bad; k++) {
        if (k % 2 && !good)
            case_spoil(runner, k / 2, &c[k], &says);
        else
            case_plain(runner, &c[k]);
        case_put(&b, k, &c[k]);
    }
    CHECK(runner->solve(&b.batch, b.parameters) == FD_OK, "%s: refused", runner->name);
    return b;
}

/* Returns whether problem k's results are, to the bit, those of problem m of another batch. */
CASE_FUNCTION int case_same_bits(const case_batch *one, int k, const case_batch *other, int m)
{
    const size_t times = (size_t)(1 + one->batch.dates), points = (size_t)one->batch.points[0];
    const double *x = one->batch.coordinates[0] + (size_t)k * points;
    return !memcmp(&one->batch.status[k], &other->batch.status[m], sizeof(fd_status)) &&
           !memcmp(case_values_of(one, k, 0), case_values_of(other, m, 0),
                   times * (size_t)one->batch.spots * sizeof(fd_values)) &&
           !memcmp(case_grid_of(one, k, 0), case_grid_of(other, m, 0), times * points * one->number) &&
           !memcmp(x, other->batch.coordinates[0] + (size_t)m * points, points * sizeof(double));
}

/* Compares problem k's status with the one due. */
CASE_FUNCTION void case_judge(const case_runner *runner, const case_batch *b, int k, int which, case_verdict due)
{
    const fd_status s = b->batch.status[k];
    const int there = due.i == CASE_ANYWHERE ? s.i >= 0 && s.i < CASE_POINTS : s.i == due.i;
    CHECK(s.what == due.what && s.detail == due.detail && s.axis == due.axis && there && s.j == -1 && s.k == -1 &&
              s.step == due.step,
          "%s: spoilt %d: %d, detail %d, axis %d, point %d, step %d instead of %d, %d, %d, %d, %d", runner->name, which,
          s.what, s.detail, s.axis, s.i, s.step, due.what, due.detail, due.axis, due.i, due.step);
    const int numbers = case_numbers_left(b, k);
    CHECK((numbers == 0) == (due.what != FD_OK), "%s: spoilt %d has %d numbers", runner->name, which, numbers);
    const int grew = due.what == FD_OK || due.what == FD_GREW;
    CHECK(grew ? s.growth > (due.what ? (float)FD_MOST_GROWTH : 0) : !(s.growth > 0 || s.growth < 0),
          "%s: spoilt %d: growth %g", runner->name, which, (double)s.growth);
}

/* Spoils each argument alone, in a batch with valid problems in between. Checks each status, and that the valid
   problems have, to the bit, the results that they have in a batch without spoilt ones. */
CASE_FUNCTION void case_statuses(const case_runner *runner, int room)
{
    int bad = 0;
    case_verdict says;
    static case_problem one;
    while (case_spoil(runner, bad, &one, &says)) bad++;
    case_problem *c = (case_problem *)case_guarded((size_t)(4 * bad) * sizeof *c);
    case_batch b = case_spoilt_batch(runner, room, bad, 0, c);
    case_batch good = case_spoilt_batch(runner, room, bad, 1, c + 2 * bad);
    for (int k = 0; k < 2 * bad; k++) {
        if (k % 2 == 0) {
            CHECK(b.batch.status[k].what == FD_OK, "%s: good problem %d: %s", runner->name, k,
                  fd_status_string(b.batch.status[k].what));
            CHECK(case_same_bits(&b, k, &good, k), "%s: good problem %d among spoilt ones", runner->name, k);
            continue;
        }
        case_spoil(runner, k / 2, &one, &says);
        case_judge(runner, &b, k, k / 2, says);
    }
    case_batch_free(&b, runner->name), case_batch_free(&good, runner->name);
    case_release(c, (size_t)(4 * bad) * sizeof *c);
}

/* ---- single questions -------------------------------------------------------------------------------------------- */

/* Checks that a march with theta 0 is the march with the scheme's own theta. */
CASE_FUNCTION void case_zero_theta(const case_runner *runner)
{
    static case_problem c;
    case_batch b = case_batch_of(8, CASE_ROOM, CASE_ROOM_STEPS, CASE_EVENTS, CASE_PLACES, runner->single);
    for (int k = 0; k < 8; k++) {
        case_plain(runner, &c), c.problem.scheme = k / 2;
        c.problem.times.theta = k % 2 ? fd_scheme_theta(k / 2, 1, 0) : 0;
        c.problem.times.dates = 0;
        case_put(&b, k, &c);
    }
    CHECK(runner->solve(&b.batch, b.parameters) == FD_OK, "%s: refused", runner->name);
    for (int scheme = 0; scheme < 4; scheme++)
        CHECK(!b.batch.status[2 * scheme].what && case_same_bits(&b, 2 * scheme, &b, 2 * scheme + 1),
              "%s: theta 0, scheme %d: %s", runner->name, scheme, fd_status_string(b.batch.status[2 * scheme].what));
    case_batch_free(&b, runner->name);
}

/* Checks that explicit marches with too few steps are refused, and that with as many steps as the refusal asks for
   nothing grows by more than the factor of e that is allowed. Drifts point inward at the faces, which are FD_LINEAR. In
   half of the marches dates are closer together than steps. */
CASE_FUNCTION void case_explicit(const case_runner *runner, case_random *random)
{
    enum { COUNT = 12, DATES = 20 };
    static case_problem c[COUNT];
    static double date[COUNT][DATES];
    int refused = 0;
    case_batch b = case_batch_of(COUNT, CASE_ROOM, 3000, DATES, 0, runner->single);
    for (int k = 0; k < COUNT; k++) {
        const fd_times times = {case_between(random, 0.1, 2),
                                1,
                                case_below(random, 2) ? FD_EQUAL : FD_QUADRATIC,
                                1,
                                FD_EXPLICIT,
                                0,
                                0,
                                0,
                                NULL,
                                NULL};
        case_parameters *p = &c[k].parameters;
        case_plain(runner, &c[k]);
        for (int d = 0; d < DATES; d++) date[k][d] = times.maturity * (0.9 + 1e-4 * d);
        c[k].problem.times = times, c[k].problem.finals = FD_AT_POINTS, c[k].problem.spot = NULL;
        c[k].problem.times.dates = k % 2 * DATES, c[k].problem.times.date = date[k], c[k].problem.at_date = NULL;
        p->payoff = CASE_WAVE, p->drift = p->source = p->change = 0, p->pull = case_between(random, 0, 8);
        p->diffusion = case_below(random, 3) ? case_between(random, 0, 0.3) : 1e-9;
        case_put(&b, k, &c[k]);
    }
    CHECK(runner->solve(&b.batch, b.parameters) == FD_OK, "%s: refused", runner->name);
    for (int k = 0; k < COUNT; k++) {
        const fd_status *status = &b.batch.status[k];
        if (status->what != FD_UNSTABLE) continue;
        CHECK(case_numbers_left(&b, k) == 0 && status->detail > 1, "%s: explicit %d, refused", runner->name, k);
        c[k].problem.times.steps = status->detail, case_put(&b, k, &c[k]), refused++;
    }
    CHECK(refused > COUNT / 2, "%s: only %d explicit marches refused", runner->name, refused);
    CHECK(runner->solve(&b.batch, b.parameters) == FD_OK, "%s: refused", runner->name);
    for (int k = 0; k < COUNT; k++) {
        double largest = 0;
        for (int i = 0; i < CASE_POINTS; i++) largest = fmax(largest, fabs(case_number(&b, k, 0, i)));
        CHECK(b.batch.status[k].what == FD_OK && largest <= 1.4 * 2.72, "%s: explicit %d, %d steps: %s, %g",
              runner->name, k, c[k].problem.times.steps, fd_status_string(b.batch.status[k].what), largest);
    }
    case_batch_free(&b, runner->name);
}

/* Compares problems with three-point faces, whose last point is the first of a lane, the first of a warp, or
   neither. */
CASE_FUNCTION void case_ends(const case_runner *runner, case_random *random)
{
    static const int ends[] = {129, 193, 257, 258, 385, 513, 514, 769, 770, 1009, 1023};
    enum { COUNT = sizeof ends / sizeof *ends };
    for (int most = 256; most <= FD1D_MOST; most *= 2) {
        case_problem *c = (case_problem *)case_guarded(COUNT * sizeof *c);
        case_batch b = case_batch_of(COUNT, most, CASE_STEPS, CASE_DATES, 1, runner->single);
        for (int k = 0; k < COUNT; k++) {
            const int n = ends[k] <= most ? ends[k] : 4 + k;
            case_random_problem(runner, random, n, CASE_ENDS, &c[k]);
            case_put(&b, k, &c[k]);
        }
        CHECK(runner->solve(&b.batch, b.parameters) == FD_OK, "%s: refused", runner->name);
        for (int k = 0; k < COUNT; k++) case_compare(runner, &b, k);
        case_batch_free(&b, runner->name), case_release(c, COUNT * sizeof *c);
    }
}

/* Checks that a problem that ends early, with values so large that its terms would not be finite in another step, gives
   the same results alone and beside a problem that goes on. */
CASE_FUNCTION void case_ended(const case_runner *runner)
{
    static case_problem c[2];
    case_batch alone = case_batch_of(1, CASE_ROOM, CASE_ROOM_STEPS, CASE_EVENTS, CASE_PLACES, runner->single);
    case_batch both = case_batch_of(2, CASE_ROOM, CASE_ROOM_STEPS, CASE_EVENTS, CASE_PLACES, runner->single);
    if (runner->has & CASE_CHANGES) {
        for (int k = 0; k < 2; k++) case_plain(runner, &c[k]);
        c[0].problem.times.steps = 1, c[0].problem.times.dates = 1, c[0].problem.times.halves = 0;
        c[0].at_date[0].what = FD_CHANGE_VALUES, c[0].at_date[0].cash = c[0].at_date[0].proportion = 0;
        c[0].parameters.diffusion = 2;
        c[0].parameters.bad = CASE_HUGE_CHANGE, c[0].parameters.bad_time = runner->single ? 1e37 : 1e307;
        case_put(&alone, 0, &c[0]), case_put(&both, 0, &c[0]), case_put(&both, 1, &c[1]);
        CHECK(runner->solve(&alone.batch, alone.parameters) == FD_OK, "%s: refused", runner->name);
        CHECK(runner->solve(&both.batch, both.parameters) == FD_OK, "%s: refused", runner->name);
        CHECK(alone.batch.status[0].what == FD_OK && case_same_bits(&alone, 0, &both, 0),
              "%s: ended: %s, growth %g, and %s, growth %g", runner->name, fd_status_string(alone.batch.status[0].what),
              (double)alone.batch.status[0].growth, fd_status_string(both.batch.status[0].what),
              (double)both.batch.status[0].growth);
    }
    case_batch_free(&alone, runner->name), case_batch_free(&both, runner->name);
}
#endif
