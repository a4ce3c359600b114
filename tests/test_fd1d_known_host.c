/* test_fd1d_known_host.c - pde/fd1d.h on the host against answers from outside (tests/known/fd1d.txt): CEV, bonds and
   options on them under Vasicek and CIR, American puts, a local volatility, barriers, dividends, a coupon; and against
   bs1d.h's host reference, for Black and Scholes' equation on the same grid.
   MIT licence, see LICENSE. */
#include "fd1d_known.h"

#include "../bs1d.h"
#include "check.h"
#include "known_solver.h"

#include <string.h>

enum { POINTS = 601, STEPS = 400, HALVES = 4 };

/* A batch of one problem with one spot, and its results. */
typedef struct {
    fd_batch batch;
    fd_problem problem;
    fd_status status;
    fd_values values[3]; /* at time 0 and at two dates */
    double spot;
} known_case;

/* Makes a problem on an axis that is crowded around `place`. */
static void known_begin(known_case *k, double low, double high, double place, double maturity, double spot)
{
    memset(k, 0, sizeof *k);
    const fd_axis axis = {low, high, POINTS, 1, {place}, {(high - low) / 40}, {FD_MIDWAY}};
    const fd_times times = {maturity, STEPS, FD_EQUAL, 1, FD_THETA, 0, HALVES, 0, NULL, NULL};
    k->problem.axis[0] = axis, k->problem.times = times, k->problem.finals = FD_AVERAGED_X;
    k->spot = spot, k->problem.spot = &k->spot;
    k->batch.problems = 1, k->batch.points[0] = POINTS, k->batch.spots = 1;
    k->batch.steps = STEPS + 3 * HALVES, k->batch.dates = 2;
    k->batch.problem = &k->problem, k->batch.status = &k->status, k->batch.values = k->values;
}

KNOWN_SOLVER(stock)
KNOWN_SOLVER(surface)
KNOWN_SOLVER(cev)
KNOWN_SOLVER(rate)
KNOWN_SOLVER(growing)

/* Each of the following functions checks a line of the file, whose numbers are v. */

static void known_cev(const double *v)
{
    const cev_parameters call = {v[2], v[3], v[1], v[0], v[5], v[4], 0}, put = {v[2], v[3], v[1], v[0], v[5], v[4], 1};
    known_case k;
    known_begin(&k, 0, 12 * v[5], v[5], v[4], v[6]);
    check_near(value_of_cev(&k, &call), v[7], 1e-3, "CEV call, beta %g, spot %g", v[0], v[6]);
    k.problem.face[0][0] = FD_VALUE; /* the price is absorbed there */
    check_near(value_of_cev(&k, &put), v[8], 1e-3, "CEV put, beta %g, spot %g", v[0], v[6]);
}

static void known_cev_american(const double *v)
{
    const cev_parameters put = {v[2], 0, v[1], v[0], v[4], v[3], 1};
    known_case k;
    known_begin(&k, 0, 6 * v[4], v[4], v[3], v[5]);
    k.problem.exercise = FD_AMERICAN;
    check_near(value_of_cev(&k, &put), v[6], 1e-3, "American CEV put, spot %g", v[5]);
}

/* Checks bonds, and options on them: on the way back to time 0 the bond becomes the option at the option's expiry. */
static void known_bond(int root, const double *v)
{
    const rate_parameters bond = {v[0], v[1], v[2], 0, 0, root, 0};
    known_case k;
    known_begin(&k, root ? 0 : -0.2, root ? 0.8 : 0.3, 0.04, v[3], v[4]);
    if (root) k.problem.face[0][0] = FD_DEGENERATE;
    check_near(value_of_rate(&k, &bond), v[5], 2e-6, "bond, root %d, rate %g", root, v[4]);
}

static void known_bond_option(int root, const double *v)
{
    for (int put = 0; put < 2; put++) {
        const rate_parameters option = {v[0], v[1], v[2], 0, v[5], root, put};
        const double expiry = v[3];
        const fd_date exercise = {FD_CHANGE_VALUES, 0, 0};
        const int kink = 1;
        known_case k;
        known_begin(&k, root ? 0 : -0.2, root ? 0.8 : 0.3, 0.04, v[4], v[6]);
        if (root) k.problem.face[0][0] = FD_DEGENERATE;
        /* The date is the time from today to the option's expiry. */
        k.problem.times.dates = 1, k.problem.times.date = &expiry, k.problem.times.kink = &kink;
        k.problem.at_date = &exercise;
        check_near(value_of_rate(&k, &option), v[7 + put], 3e-5, "option on a bond, root %d, put %d, rate %g", root,
                   put, v[6]);
    }
}

static void known_vasicek(const double *v)
{
    known_bond(0, v);
}
static void known_vasicek_option(const double *v)
{
    known_bond_option(0, v);
}
static void known_cir(const double *v)
{
    known_bond(1, v);
}
static void known_cir_option(const double *v)
{
    known_bond_option(1, v);
}

static void known_vasicek_coupon(const double *v)
{
    const rate_parameters bond = {v[0], v[1], v[2], v[4], 0, 0, 0};
    known_case k;
    known_begin(&k, -0.2, 0.3, 0.04, v[3], v[5]);
    check_near(value_of_rate(&k, &bond), v[6], 2e-6, "bond with a coupon, rate %g", v[5]);
}

static void known_growing_put(const double *v)
{
    const growing_parameters put = {v[3], v[4], v[1], v[0], v[2]};
    known_case k;
    known_begin(&k, 0, 5 * v[3], v[3], v[2], v[5]);
    k.problem.exercise = FD_AMERICAN;
    check_near(value_of_growing(&k, &put), v[6], 1e-3, "American put whose strike grows, spot %g", v[5]);
}

static void known_surface(const double *v)
{
    const surface_parameters call = {v[3], v[0], v[1]};
    known_case k;
    known_begin(&k, 0, 6 * v[3], v[3], v[2], v[4]);
    check_near(value_of_surface(&k, &call), v[5], 5e-4, "call on a local volatility, spot %g", v[4]);
}

static void known_stock(const double *v)
{
    const stock_parameters call = {v[3], v[1], 0, v[0], 0, 0, 0};
    known_case k;
    known_begin(&k, 0, 6 * v[3], v[3], v[2], v[4]);
    check_near(value_of_stock(&k, &call), v[5], 5e-4, "call");
    check_near(k.values[0].first[0], v[6], 5e-6, "its delta");
    check_near(k.values[0].second[0], v[7], 2e-6, "its gamma");
}

/* Checks a barrier that is monitored every quarter, and at maturity, which the payoff does. */
static void known_barrier(const double *v)
{
    const stock_parameters call = {v[3], v[1], 0, v[0], v[4], 0, 0};
    const double date[3] = {0.25, 0.5, 0.75};
    const fd_date look[3] = {{FD_CHANGE_VALUES, 0, 0}, {FD_CHANGE_VALUES, 0, 0}, {FD_CHANGE_VALUES, 0, 0}};
    known_case k;
    known_begin(&k, 0, 400, v[4], v[2], v[5]);
    k.batch.dates = 3, k.batch.steps = STEPS + 4 * HALVES;
    k.problem.times.dates = 3, k.problem.times.date = date, k.problem.at_date = look;
    fd_values values[4];
    k.batch.values = values;
    value_of_stock(&k, &call);
    check_near(values[0].value, v[6], 1e-3, "call with a barrier, spot %g", v[5]);
}

static void known_dividends(const double *v)
{
    const stock_parameters call = {v[3], v[1], 0, v[0], 0, 0, 0};
    const double date[2] = {0.5, 0.75};
    const fd_date pays[2] = {{FD_SHIFT, 0, 0.02}, {FD_SHIFT, 3, 0}};
    known_case k;
    known_begin(&k, 0, 6 * v[3], v[3], v[2], v[4]);
    k.problem.times.dates = 2, k.problem.times.date = date, k.problem.at_date = pays;
    check_near(value_of_stock(&k, &call), v[5], 1e-3, "call with dividends, spot %g", v[4]);
}

/* The kinds of lines, and how many numbers each has. */
static const struct {
    const char *name;
    int numbers;
    void (*check)(const double *v);
} known_kinds[] = {
    {"cev", 9, known_cev},
    {"cev_american", 7, known_cev_american},
    {"vasicek", 6, known_vasicek},
    {"vasicek_option", 9, known_vasicek_option},
    {"vasicek_coupon", 7, known_vasicek_coupon},
    {"cir", 6, known_cir},
    {"cir_option", 9, known_cir_option},
    {"growing_put", 7, known_growing_put},
    {"surface", 6, known_surface},
    {"stock", 8, known_stock},
    {"barrier", 7, known_barrier},
    {"dividends", 6, known_dividends},
};

static void known_answers(void)
{
    enum { kinds = sizeof known_kinds / sizeof *known_kinds };
    char line[400], name[64];
    int lines = 0, of_kind[kinds] = {0};
    FILE *file = fopen("tests/known/fd1d.txt", "r");
    if (!CHECK(file != NULL, "no tests/known/fd1d.txt: run from the top folder")) return;
    while (fgets(line, sizeof line, file)) {
        int used = 0, kind = 0;
        if (line[0] == '#' || sscanf(line, "%63s%n", name, &used) != 1) continue;
        while (kind < kinds && strcmp(name, known_kinds[kind].name)) kind++;
        if (!CHECK(kind < kinds, "unknown kind %s", name)) continue;
        double v[12];
        char *at = line + used;
        for (int q = 0; q < known_kinds[kind].numbers; q++) v[q] = strtod(at, &at);
        if (lines++ >= 0 && (!check_short() || of_kind[kind] % 4 == 0)) known_kinds[kind].check(v);
        of_kind[kind]++;
    }
    fclose(file);
    for (int kind = 0; kind < kinds; kind++)
        CHECK(of_kind[kind] > 0, "no line of tests/known/fd1d.txt is %s", known_kinds[kind].name);
    if (check_short()) check_skip(lines * 3 / 4, "three known answers in four");
}

/* Compares with bs1d.h on its grid and in its steps: the discrete equations are the same, so the numbers must be. */
static void as_bs1d(void)
{
    enum { points = 256, steps = 100 };
    for (int put = 0; put < 2; put++) {
        const bs1d_option_f64 option = {90, 100, 0.05, 0.02, 0.3, 1, 300, steps, put ? BS1D_PUT : BS1D_CALL};
        const stock_parameters parameters = {100, 0.05, 0.02, 0.3, 0, put, 0};
        bs1d_result_f64 result;
        double work[BS1D_HOST_LEN(points)];
        known_case k;
        CHECK(!bs1d_host_implicit_f64(1, points, &option, &result, NULL, work) && !result.status, "bs1d");
        known_begin(&k, 0, 300, 100, 1, 90);
        k.problem.axis[0].points = points, k.problem.axis[0].places = 0, k.problem.finals = FD_AT_POINTS;
        k.problem.times.steps = steps, k.problem.times.kind = FD_BACKWARD_EULER, k.problem.times.halves = 0;
        value_of_stock(&k, &parameters);
        check_near(k.values[0].value, result.price, 1e-11, "price as bs1d's, put %d", put);
        check_near(k.values[0].first[0], result.delta, 1e-11, "delta as bs1d's, put %d", put);
        check_near(k.values[0].second[0], result.gamma, 1e-11, "gamma as bs1d's, put %d", put);
    }
}

int main(void)
{
    known_answers();
    as_bs1d();
    return check_report();
}
