/* test_suggest_host.c - pde/common/suggest.h: the points and steps that it suggests meet the tolerance, against answers
   from outside, in one, two and three factors, and are not much finer than the tolerance needs.
   MIT licence, see LICENSE. */
#include "fd1d_known.h"

#include "../examples/heston_model.h"
#include "adi3d_assets.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Solves a problem on the grid that its model suggests for a tolerance, and compares its value with the one known. */
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

/* The error is within the tolerance; it is not a hundredth of it, unless the trial itself is so good. */
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

/* Lines of tests/known/fd1d.txt: beta 1/2, sigma 2, rate 5 %, a year, strike 100. At 85 and 90 the free boundary of the
   put is close. */
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

/* Heston's call by his formula, as examples/adi2d_host.c has it. */
static void two_factors(void)
{
    const fd_axis price = {0, 300, 33, 1, {100}, {10}, {FD_MIDWAY}};
    const fd_axis around = {0, 0.5, 17, 1, {0.04}, {0.2}, {FD_ON_NODE}};
    const double spot[2] = {100, 0.04}, least = check_short() ? 4e-3 : 1e-3;
    const heston_parameters p = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0, 0};
    fd_problem trial;
    memset(&trial, 0, sizeof trial);
    trial.axis[0] = price, trial.axis[1] = around, trial.face[1][0] = FD_DEGENERATE, trial.finals = FD_AVERAGED_X;
    trial.scheme = FD_HUNDSDORFER_VERWER, trial.spot = spot;
    const fd_times times = {1, 8, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    trial.times = times;
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

/* What is no trial. */
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

int main(void)
{
    one_factor();
    two_factors();
    three_factors();
    refused();
    return check_report();
}
