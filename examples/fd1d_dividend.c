/* fd1d_dividend.c - a call on a share that pays two dividends, on a CPU, with as many points and steps as a tolerance
   needs. The model is cev_model.h; with beta = 1 it is the Black-Scholes model.
   MIT licence, see LICENSE.

   In this folder:

       gcc -std=c11 -O3 -march=native -I.. -o fd1d_dividend fd1d_dividend.c -lm && ./fd1d_dividend

   Prints the value today and just before each dividend. Exits with 0 if today's value differs from the exact one by at
   most the tolerance. */
#include "cev_model.h"

#include <stdio.h>
#include <stdlib.h>

enum { DATES = 2, HALVES = 4 };

static int failed(const char *call, int what)
{
    return what ? fprintf(stderr, "%s: %s\n", call, fd_status_string(what)), 1 : 0;
}

int main(void)
{
    const double spot = 100, exact = 7.74367249, tolerance = 1e-3; /* exact: by an integral over the normal density */
    const cev_parameters parameters = {0.05, 0.2, 1, 100, 0};
    const fd_axis price = {0, 600, 40, 1, {100}, {20}, {FD_MIDWAY}};
    fd_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.axis[0] = price, problem.finals = FD_AVERAGED_X, problem.spot = &spot;

    const double date[DATES] = {0.5, 0.75};
    const fd_date pays[DATES] = {{FD_SHIFT + FD_RECORD, 0, 0.02}, {FD_SHIFT + FD_RECORD, 3, 0}}; /* 2 %, then 3 */
    const fd_times year = {1, 10, FD_EQUAL, 1, FD_THETA, 0, HALVES, DATES, date, NULL};
    problem.times = year, problem.at_date = pays;

    fd_suggestion suggestion;
    size_t bytes = cev_suggest_bytes_f64(&problem, 1);
    void *memory = malloc(bytes);
    int what = memory ? cev_suggest_f64(&problem, &parameters, tolerance, 1, memory, bytes, &suggestion) : FD_NO_ROOM;
    free(memory);
    if (failed("suggest", what)) return 1;
    problem.axis[0].points = suggestion.points[0], problem.times.steps = suggestion.steps;

    fd_batch batch;
    fd_status status;
    fd_values values[1 + DATES]; /* today, and just before each event */
    memset(&batch, 0, sizeof batch);
    batch.problems = batch.spots = 1, batch.problem = &problem, batch.status = &status, batch.values = values;
    batch.dates = DATES, batch.points[0] = suggestion.points[0];
    batch.steps = suggestion.steps + (1 + DATES) * HALVES;

    bytes = cev_host_bytes_f64(&batch, 1), memory = malloc(bytes);
    what = memory ? cev_host_f64(&batch, &parameters, 1, memory, bytes) : FD_NO_ROOM;
    free(memory);
    if (failed("solve", what ? what : status.what)) return 1;
    printf("tolerance %g: %d points, %d steps\n", tolerance, suggestion.points[0], suggestion.steps);
    printf("today                          %7.4f (exact %.4f)\n", values[0].value, exact);
    printf("before 2 %% is paid, at %.2f    %7.4f\n", date[0], values[1].value);
    printf("before 3 is paid, at %.2f      %7.4f\n", date[1], values[2].value);
    return !(fabs(values[0].value - exact) <= tolerance);
}
