/* test_suggest_host.c - pde/common/suggest.h: the points and steps that it suggests meet the tolerance, against answers
   from outside, in one, two and three factors, and are not much finer than the tolerance needs.
   MIT licence, see LICENSE. */
#include "fd1d_known.h"

#include "../examples/heston_model.h"
#include "adi3d_assets.h"
#include "check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Solves a problem on the grid that its model suggests for a tolerance, and compares the value with the known one. */
#define SUGGEST(model, factors)                                                                                        \
    static void suggest_##model(const char *name, const fd_problem *trial, const model##_parameters *p,                \
                                double tolerance, double known)                                                        \
    {                                                                                                                  \
        fd_suggestion s;                                                                                               \
        fd_problem problem = *trial;                                                                                   \
        fd_status status;                                                                                              \
        fd_values values;                                                                                              \
        size_t bytes = model##_suggest_bytes_f64(trial, 2);                                                            \
        void *memory = malloc(bytes);                                                                                  \
        const int wrong = model##_suggest_f64(trial, p, tolerance, 2, memory, bytes, &s);                              \
        free(memory);                                                                                                  \
        if (!CHECK(!wrong && !s.status.what, "%s, %g: %s", name, tolerance, fd_status_string(wrong))) return;          \
        fd_batch batch;                                                                                                \
        memset(&batch, 0, sizeof batch);                                                                               \
        batch.problems = batch.spots = 1, batch.steps = s.steps + 4, batch.problem = &problem;                         \
        batch.status = &status, batch.values = &values, problem.times.steps = s.steps;                                 \
        for (int d = 0; d < factors; d++) batch.points[d] = problem.axis[d].points = s.points[d];                      \
        bytes = model##_host_bytes_f64(&batch, 2), memory = malloc(bytes);                                             \
        CHECK(!model##_host_f64(&batch, p, 2, memory, bytes) && !status.what, "%s, %g: %s", name, tolerance,           \
              fd_status_string(status.what));                                                                          \
        free(memory);                                                                                                  \
        compare(name, trial, &s, tolerance, values.value - known);                                                     \
        check_near(s.value, known, 4 * (s.in_space + s.in_time), "%s: by extrapolation", name);                        \
    }

/* Checks that the error is within the tolerance, and not below a hundredth of it unless the trial itself is so good. */
static void compare(const char *name, const fd_problem *trial, const fd_suggestion *s, double tolerance, double off)
{
    CHECK(fabs(off) <= tolerance, "%s, %g: off by %.2e on %d points in %d steps", name, tolerance, off, s->points[0],
          s->steps);
    const int finer = s->points[0] > trial->axis[0].points && s->steps > trial->times.steps;
    CHECK(!finer || s->in_space + s->in_time > tolerance / 4, "%s, %g: %d points and %d steps are too many", name,
          tolerance, s->points[0], s->steps);
}

SUGGEST(cev, 1)
SUGGEST(heston, 2)
SUGGEST(assets, 3)

/* Checks CEV options of tests/known/fd1d.txt: beta 1/2, sigma 2, rate 5 %, a year, strike 100. At 85 and 90 the free
   boundary of the put is close. */
static void one_factor(void)
{
    static const double spot[6] = {90, 110, 85, 90, 95, 110};
    static const double known[6] = {5.28339044607, 17.5183731842, 15.429837, 11.612777, 8.5102967, 2.8207695};
    const fd_axis axis = {0, 600, 33, 1, {100}, {20}, {FD_MIDWAY}};
    for (int k = 0; k < 6; k++) {
        const int american = k > 1;
        const cev_parameters p = {0.05, 0, 2, 0.5, 100, 1, american};
        const fd_times times = {1, 10, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
        fd_problem trial;
        memset(&trial, 0, sizeof trial);
        trial.axis[0] = axis, trial.times = times, trial.finals = FD_AVERAGED_X, trial.spot = &spot[k];
        trial.exercise = american ? FD_AMERICAN : FD_EUROPEAN;
        for (double tolerance = 0.1; tolerance > 5e-4; tolerance /= 3)
            suggest_cev(american ? "an American put" : "a call", &trial, &p, tolerance, known[k]);
    }
}

/* Checks the extrapolated values of American puts, which come from the trials with the most steps. From those with
   fewer steps they were off by 1e-3. */
static void extrapolated(void)
{
    static const double spot[2] = {95, 110}, known[2] = {8.5102967, 2.8207695};
    const fd_axis axis = {0, 500, 80, 1, {100}, {20}, {FD_MIDWAY}};
    const fd_times times = {1, 20, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    const cev_parameters p = {0.05, 0, 2, 0.5, 100, 1, 1};
    for (int k = 0; k < 2; k++) {
        fd_problem trial;
        fd_suggestion s;
        memset(&trial, 0, sizeof trial);
        trial.axis[0] = axis, trial.times = times, trial.spot = &spot[k], trial.exercise = FD_AMERICAN;
        const size_t bytes = cev_suggest_bytes_f64(&trial, 1);
        void *memory = malloc(bytes);
        CHECK(cev_suggest_f64(&trial, &p, 1e-2, 1, memory, bytes, &s) == FD_OK, "an American put");
        check_near(s.value, known[k], 5e-4, "an American put at %g, extrapolated", spot[k]);
        free(memory);
    }
}

static void heston_trial(fd_problem *trial, heston_parameters *p)
{
    static const double spot[2] = {100, 0.04};
    const fd_axis price = {0, 300, 33, 1, {100}, {10}, {FD_MIDWAY}};
    const fd_axis around = {0, 0.5, 17, 1, {0.04}, {0.2}, {FD_ON_NODE}};
    const heston_parameters parameters = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0, 0};
    const fd_times times = {1, 8, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    memset(trial, 0, sizeof *trial);
    trial->axis[0] = price, trial->axis[1] = around, trial->face[1][0] = FD_DEGENERATE, trial->finals = FD_AVERAGED_X;
    trial->scheme = FD_HUNDSDORFER_VERWER, trial->spot = spot, trial->times = times;
    *p = parameters;
}

/* Checks the call of examples/adi2d_host.c against Heston's formula. */
static void two_factors(void)
{
    const double least = check_short() ? 4e-3 : 1e-3;
    heston_parameters p;
    fd_problem trial;
    heston_trial(&trial, &p);
    for (double tolerance = 0.1; tolerance > least; tolerance /= 3)
        suggest_heston("Heston's call", &trial, &p, tolerance, 8.894869);
}

static void three_factors(void)
{
    for (int payoff = ASSETS_GEOMETRIC; payoff <= ASSETS_MINIMUM; payoff++) {
        assets_parameters p;
        fd_problem trial;
        assets_problem(17, 6, payoff, &p, &trial);
        for (double tolerance = 0.2; tolerance > (check_short() ? 0.1 : 0.02); tolerance /= 3)
            suggest_assets("an option on three assets", &trial, &p, tolerance, assets_known[payoff]);
    }
    if (check_short()) check_skip(12, "finer tolerances: SHORT_TESTS is set");
}

/* Checks trials that must be refused. */
static void refused(void)
{
    assets_parameters p;
    fd_problem trial;
    fd_suggestion s;
    double points[17];
    assets_problem(17, 6, ASSETS_GEOMETRIC, &p, &trial);
    const size_t bytes = assets_suggest_bytes_f64(&trial, 1);
    void *memory = malloc(bytes);
    CHECK(bytes > 0 && assets_suggest_bytes_f64(NULL, 1) == 0 && assets_suggest_bytes_f64(&trial, 0) == 0, "bytes");
    CHECK(assets_suggest_f64(NULL, &p, 1, 1, memory, bytes, &s) == FD_BAD_ARGUMENT, "no problem");
    CHECK(assets_suggest_f64(&trial, NULL, 1, 1, memory, bytes, &s) == FD_BAD_ARGUMENT, "no parameters");
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, NULL, bytes, &s) == FD_BAD_ARGUMENT, "no memory");
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, memory, bytes, NULL) == FD_BAD_ARGUMENT, "no suggestion");
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, memory, bytes - 1, &s) == FD_NO_ROOM, "less memory");
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, memory, 8, &s) == FD_NO_ROOM, "no room for values");
    CHECK(assets_suggest_f64(&trial, &p, 0, 1, memory, bytes, &s) == FD_BAD_NUMBER, "a tolerance of 0");
    CHECK(assets_suggest_f64(&trial, &p, sqrt(-1.0), 1, memory, bytes, &s) == FD_BAD_NUMBER, "a tolerance of NaN");
    CHECK(assets_suggest_f64(&trial, &p, 1, 0, memory, bytes, &s) == FD_BAD_SIZE, "no workers");
    trial.axis[1].points = 600;
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, memory, bytes, &s) == FD_BAD_SIZE, "too many points");
    trial.axis[1].points = 17, trial.points[1] = points;
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, memory, bytes, &s) == FD_BAD_ARGUMENT, "points of the user's");
    trial.points[1] = NULL, p.strike = sqrt(-1.0);
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, memory, bytes, &s) == FD_FINAL_NAN && s.status.what == FD_FINAL_NAN,
          "a strike that is NaN: %d", s.status.what);
    trial.times.steps = 0;
    CHECK(assets_suggest_f64(&trial, &p, 1, 1, memory, bytes, &s) == FD_BAD_TIMES && s.status.detail == FD_BAD_STEPS,
          "no steps: %d", s.status.detail);
    free(memory);
}

/* Checks what is suggested for a tolerance that is out of reach: a batch of the most points, which the solver takes. */
static void refused_tolerance(int factors, int most, double tolerance, int what, const fd_suggestion *s)
{
    fd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.steps = 2 * s->steps;
    for (int d = 0; d < factors; d++) {
        batch.points[d] = s->points[d];
        CHECK(s->points[d] == most, "%d factors, %g: %d points", factors, tolerance, s->points[d]);
    }
    CHECK(what == FD_BAD_TOLERANCE && s->status.what == FD_OK, "%d factors, %g: %d", factors, tolerance, what);
    CHECK(fd_batch_check(factors, &batch) == FD_OK, "%d factors, %g: %d steps", factors, tolerance, s->steps);
    CHECK(tolerance > 1e-20 || batch.steps == FD_P_MOST, "%d factors, %g: %d steps", factors, tolerance, s->steps);
}

#define OUT_OF_REACH(model, factors, most)                                                                             \
    static void out_of_reach_##model(const fd_problem *trial, const model##_parameters *p, double tolerance)           \
    {                                                                                                                  \
        fd_suggestion s;                                                                                               \
        const size_t bytes = model##_suggest_bytes_f64(trial, 1);                                                      \
        void *memory = malloc(bytes);                                                                                  \
        const int what = model##_suggest_f64(trial, p, tolerance, 1, memory, bytes, &s);                               \
        refused_tolerance(factors, most, tolerance, what, &s);                                                         \
        free(memory);                                                                                                  \
    }

OUT_OF_REACH(cev, 1, FD1D_MOST)
OUT_OF_REACH(heston, 2, 32768)
OUT_OF_REACH(assets, 3, ADI3D_MOST)

/* Tolerances for which the solvers take too few points; the smaller ones would overflow an int. Then counts that would
   do so in the trials. */
static void out_of_reach(void)
{
    static const double tolerance[4] = {1e-4, 1e-9, 1e-30, 1e-300}, spot[1] = {90};
    static const int count[4] = {1 << 28, 1 << 30, INT_MAX, INT_MIN};
    const fd_axis axis = {0, 600, 80, 1, {100}, {20}, {FD_MIDWAY}};
    const fd_times times = {1, 20, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    const cev_parameters put = {0.05, 0, 2, 0.5, 100, 1, 1};
    heston_parameters volatile_call;
    assets_parameters basket;
    fd_problem one, two, three;
    fd_suggestion s;
    memset(&one, 0, sizeof one);
    one.axis[0] = axis, one.times = times, one.spot = spot, one.exercise = FD_AMERICAN;
    heston_trial(&two, &volatile_call);
    assets_problem(17, 6, ASSETS_GEOMETRIC, &basket, &three);
    for (int k = 0; k < 4; k++) out_of_reach_cev(&one, &put, tolerance[k]);
    for (int k = 1; k < 4; k++) out_of_reach_heston(&two, &volatile_call, tolerance[k]);
    for (int k = 1; k < 4; k++) out_of_reach_assets(&three, &basket, tolerance[k]);
    for (int k = 0; k < 4; k++) {
        three.axis[0].points = count[k];
        CHECK(assets_suggest_f64(&three, &basket, 1, 1, NULL, 0, &s) == FD_BAD_SIZE, "%d points", count[k]);
        three.axis[0].points = 17, three.times.steps = count[k];
        CHECK(assets_suggest_f64(&three, &basket, 1, 1, NULL, 0, &s) == FD_BAD_TIMES, "%d steps", count[k]);
        three.times.steps = 6;
    }
}

/* Checks that a march is refused if its numbers of time are too many for an int. This model has four of them. */
static void numbers_of_time(void)
{
    assets_parameters p;
    fd_problem problem;
    fd_status status;
    fd_batch batch;
    assets_problem(9, 6, ASSETS_GEOMETRIC, &p, &problem);
    memset(&batch, 0, sizeof batch);
    batch.problems = 1, batch.problem = &problem, batch.status = &status, batch.steps = 10, problem.times.halves = 0;
    for (int d = 0; d < 3; d++) batch.points[d] = problem.axis[d].points;
    const size_t bytes = assets_host_bytes_f64(&batch, 1);
    void *memory = malloc(bytes);
    for (int more = 0; more < 2; more++) {
        const int what = more ? FD_BAD_TIMES : FD_TOO_MANY_STEPS, detail = more ? FD_BAD_SIZE : (1 << 28) - 1;
        problem.times.steps = (1 << 28) - 1 + more;
        const int wrong = assets_host_f64(&batch, &p, 1, memory, bytes);
        CHECK(wrong == FD_OK && status.what == what && status.detail == detail, "%d steps: %d, %d", problem.times.steps,
              status.what, status.detail);
    }
    free(memory);
}

int main(void)
{
    one_factor();
    extrapolated();
    two_factors();
    three_factors();
    refused();
    out_of_reach();
    numbers_of_time();
    return check_report();
}
