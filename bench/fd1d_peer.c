/* fd1d_peer.c - a library for bench/fd1d_peer.py that prices options by pde/fd1d.h and pde/adi2d.h.
   MIT licence, see LICENSE. */
#include "examples/cev_model.h"
#include "examples/heston_model.h"

#include <stdlib.h>

enum { BLACK_SCHOLES, SURFACE, HESTON, HALVES = 4, PROBLEMS = 64 };
enum { PRICES = 101, TIMES = 53 }; /* of the table, evenly spaced over 0 .. 500 and 0 .. 1 */

/* A local volatility that is linear in price and in time between the entries of a table. */
typedef struct {
    double rate, strike;
    int put;
    const double *table; /* the volatilities at all prices, for one time after another */
} surface_parameters;

FD_NUMBERS(surface, x, column, part)
FD_HD void surface_of_x(const surface_parameters *p, double at, surface_x_f64 *x)
{
    const double place = at * (PRICES - 1) / 500, column = floor(place);
    (void)p;
    x->column = column > PRICES - 2 ? PRICES - 2 : column;
    x->part = place - x->column;
}
FD_NUMBERS(surface, t, row, part)
FD_HD void surface_of_t(const surface_parameters *p, double at, surface_t_f64 *t)
{
    const double place = at * (TIMES - 1), row = floor(place);
    (void)p;
    t->row = row > TIMES - 2 ? TIMES - 2 : row;
    t->part = place - t->row;
}
FD_TERMS(1, surface, const double *now = p->table + PRICES * (int)t->row + (int)x->column, *next = now + PRICES;
         const real first = (real)now[0] + x->part * (real)(now[1] - now[0]);
         const real second = (real)next[0] + x->part * (real)(next[1] - next[0]);
         const real deviation = (first + t->part * (second - first)) * x->at; terms->drift[0] = (real)p->rate * x->at;
         terms->diffusion[0] = deviation * deviation / 2; terms->kill = (real)p->rate;)
enum { surface_fitting = FD_CENTRAL };
FD_HD double surface_payoff(const surface_parameters *p, const double *at)
{
    const double gain = p->put ? p->strike - at[0] : at[0] - p->strike;
    return gain < 0 ? 0 : gain;
}
#define FD_MODEL surface
#include "pde/fd1d.h"

/* Prices options of the same kind at spot 100, one for each strike, in one batch. Returns FD_OK or what is wrong. */
int prices(int model, int put, int american, int count, const double *strike, const double *table, int nx, int ny,
           int steps, double *price);
int prices(int model, int put, int american, int count, const double *strike, const double *table, int nx, int ny,
           int steps, double *price)
{
    static const double spot[2] = {100, 0.0625};
    static void *memory; /* kept from call to call */
    static size_t room;
    const int two = model == HESTON;
    cev_parameters cev[PROBLEMS];
    surface_parameters surface[PROBLEMS];
    heston_parameters heston[PROBLEMS];
    fd_problem problem[PROBLEMS];
    fd_values values[PROBLEMS];
    fd_status status[PROBLEMS];
    fd_batch batch;
    if (count > PROBLEMS) return FD_BAD_SIZE;
    memset(problem, 0, sizeof problem);
    memset(&batch, 0, sizeof batch);
    for (int k = 0; k < count; k++) {
        const fd_axis x = {0, two ? 300 : 500, nx, 1, {strike[k]}, {two ? 30 : 20}, {FD_MIDWAY}};
        const fd_axis y = {0, 2, ny, 1, {0.1}, {0.2}, {FD_ANYWHERE}};
        const fd_times times = {two ? 0.25 : 1, steps, FD_EQUAL, 1, FD_THETA, 0, HALVES, 0, NULL, NULL};
        const cev_parameters cev_k = {0.05, 0.2, 1, strike[k], put};
        const surface_parameters surface_k = {0.03, strike[k], put, table};
        const heston_parameters heston_k = {strike[k], 5, 0.16, 0.9, 0.1, 0.1, 0, put};
        cev[k] = cev_k, surface[k] = surface_k, heston[k] = heston_k;
        problem[k].axis[0] = x, problem[k].axis[1] = y, problem[k].times = times, problem[k].spot = spot;
        problem[k].finals = FD_TOLD, problem[k].kinks = 1, problem[k].kink[0] = strike[k];
        problem[k].exercise = american ? FD_AMERICAN : FD_EUROPEAN;
        if (two) problem[k].face[1][0] = FD_DEGENERATE, problem[k].scheme = FD_HUNDSDORFER_VERWER;
    }
    batch.problems = count, batch.points[0] = nx, batch.points[1] = ny, batch.steps = steps + HALVES, batch.spots = 1;
    batch.problem = problem, batch.status = status, batch.values = values;
    const size_t bytes = model == SURFACE ? surface_host_bytes_f64(&batch, 1)
                         : two            ? heston_host_bytes_f64(&batch, 1)
                                          : cev_host_bytes_f64(&batch, 1);
    if (bytes > room) {
        free(memory);
        memory = malloc(bytes), room = memory ? bytes : 0;
        if (!memory) return FD_NO_ROOM;
    }
    int what = model == SURFACE ? surface_host_f64(&batch, surface, 1, memory, bytes)
               : two            ? heston_host_f64(&batch, heston, 1, memory, bytes)
                                : cev_host_f64(&batch, cev, 1, memory, bytes);
    for (int k = 0; k < count; k++) price[k] = values[k].value, what = what ? what : status[k].what;
    return what;
}
