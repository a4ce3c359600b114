/* fd1d_host.c - a call and an American put in the CEV model on a CPU, in plain C, at five spots each. The model is
   cev_model.h. fd1d_cev.cu prices thousands of puts on a GPU.
   MIT licence, see LICENSE.

   In this folder:

       gcc -std=c11 -O3 -march=native -I.. -o fd1d_host fd1d_host.c -lm && ./fd1d_host

   Prints prices, deltas and gammas, and exits with 0 if every price is within 0.002 of the exact price. */
#include "cev_model.h"

#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 400, STEPS = 100, HALVES = 4, SPOTS = 5, PROBLEMS = 2 };

/* The calls by the noncentral chi-square distribution, the puts by the integral equation of the exercise boundary. */
static const double exact[PROBLEMS][SPOTS] = {{2.13917586, 5.28339045, 10.45388533, 17.51837318, 25.98192686},
                                              {20.00111668, 11.61277731, 6.06414147, 2.82076950, 1.16494809}};

int main(void)
{
    const cev_parameters parameters[PROBLEMS] = {{0.05, 2, 0.5, 100, 0}, {0.05, 2, 0.5, 100, 1}};
    const double spot[SPOTS] = {80, 90, 100, 110, 120};
    const fd_axis price = {0, 500, POINTS, 1, {100}, {20}, {FD_MIDWAY}};
    const fd_times year = {1, STEPS, FD_EQUAL, 1, FD_THETA, 0, HALVES, 0, NULL, NULL};
    fd_problem problem[PROBLEMS];
    fd_status status[PROBLEMS];
    fd_values values[PROBLEMS][SPOTS];
    fd_batch batch;
    memset(problem, 0, sizeof problem); /* 0 in a field is its first choice: FD_LINEAR faces, Douglas' scheme, .. */
    memset(&batch, 0, sizeof batch);
    for (int p = 0; p < PROBLEMS; p++) problem[p].axis[0] = price, problem[p].times = year, problem[p].spot = spot;
    problem[1].exercise = FD_AMERICAN;
    batch.problems = PROBLEMS, batch.points[0] = POINTS, batch.steps = STEPS + HALVES, batch.spots = SPOTS;
    batch.problem = problem, batch.status = status, batch.values = values[0];

    const size_t bytes = cev_host_bytes_f64(&batch, 1);
    void *memory = malloc(bytes);
    int what = memory ? cev_host_f64(&batch, parameters, 1, memory, bytes) : FD_NO_ROOM;
    /* the function returned no error; were the problems solved? */
    for (int p = 0; p < PROBLEMS && !what; p++) what = status[p].what;
    free(memory);
    if (what) return fprintf(stderr, "%s\n", fd_status_string(what)), 1;

    double worst = 0;
    for (int p = 0; p < PROBLEMS; p++)
        for (int s = 0; s < SPOTS; s++) {
            const fd_values *v = &values[p][s];
            const double error = fabs(v->value - exact[p][s]);
            printf("%-12s at %3.0f: %8.4f (exact %8.4f), delta %7.4f, gamma %6.4f\n", p ? "American put" : "call",
                   spot[s], v->value, exact[p][s], v->first[0], v->second[0]);
            worst = !(error <= worst) ? error : worst;
        }
    return !(worst < 2e-3);
}
