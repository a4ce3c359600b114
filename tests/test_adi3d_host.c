/* test_adi3d_host.c - pde/adi3d.h on the host: random problems of every kind against a plain march, orders in space and
   time, known prices, bs3d.h's march, workers, and invalid problems.
   MIT licence, see LICENSE. */
#define _GNU_SOURCE /* barriers of POSIX threads */
#include "adi3d_cases.h"

#include "adi3d_assets.h"
#include "adi3d_orders.h"

#include "../bs3d.h"

#include "own_threads.h"

enum { SEED = 20251122 };

/* ---- random problems --------------------------------------------------------------------------------------------- */

static int workers = 1; /* of the next solve */

#define SOLVER(model, precision)                                                                                       \
    static int model##_solver##precision(const fd_batch *batch, const case_parameters *parameters)                     \
    {                                                                                                                  \
        const size_t bytes = model##_host_bytes##precision(batch, workers);                                            \
        void *memory = case_guarded(bytes);                                                                            \
        const int call = model##_host##precision(batch, parameters, workers, memory, bytes);                           \
        CHECK(case_release(memory, bytes), "a guard of the memory has been written");                                  \
        return call;                                                                                                   \
    }
SOLVER(central, _f64)
SOLVER(upwind, _f64)
SOLVER(fitted, _f64)
SOLVER(apart, _f64)
SOLVER(central, _f32)
SOLVER(upwind, _f32)
SOLVER(fitted, _f32)
SOLVER(apart, _f32)

static const case_runner runners[] = {
    {"central", 0, FD_CENTRAL, 7, 1, 0, 0, central_solver_f64},
    {"upwind", 0, FD_UPWIND, 5, 1, 0, 1, upwind_solver_f64},
    {"fitted", 0, FD_FITTED, 2, 0, 0, 0, fitted_solver_f64},
    {"central, single", 1, FD_CENTRAL, 7, 1, 0, 0, central_solver_f32},
    {"upwind, single", 1, FD_UPWIND, 5, 1, 0, 1, upwind_solver_f32},
    {"fitted, single", 1, FD_FITTED, 2, 0, 0, 0, fitted_solver_f32},
    {"apart", 0, FD_CENTRAL, 7, 1, 1, 0, apart_solver_f64},
    {"apart, single", 1, FD_CENTRAL, 7, 1, 1, 0, apart_solver_f32},
};
static const case_runner *const apart_runner = &runners[6];
enum { RUNNERS = sizeof runners / sizeof *runners };

/* Compares random problems with the plain march, to within rounding, which unstable marches amplify. */
static void random_problems(void)
{
    static case_problem c;
    case_random random = {SEED};
    const int count = check_short() ? 40 : 400;
    for (int k = 0; k < count; k++) {
        /* Some axes have more points than lines that are solved side by side. */
        const int long_axis = k % 8 == 0 ? k / 8 % 3 : -1, others = long_axis < 0 ? 8 : 5;
        const int most[3] = {long_axis == 0 ? CASE_MOST : others, long_axis == 1 ? CASE_MOST : others,
                             long_axis == 2 ? CASE_MOST : others};
        case_random_problem(&random, most, &c);
        if (long_axis >= 0 && !c.problem.points[long_axis]) c.problem.axis[long_axis].points = CASE_MOST;
        workers = 1 + k % 3;
        case_compare(&runners[k % 3], &c, 1e-11);
        case_compare(&runners[3 + k % 3], &c, 3e-4);
        c.parameters.apart = 1;
        case_compare(&apart_runner[k % 2], &c, k % 2 ? 3e-4 : 1e-11);
    }
    workers = 1;
    if (check_short()) check_skip(360, "random problems: SHORT_TESTS is set");
}

/* Tries each scheme and kind of coefficients on the smallest grids, with faces of each kind on every side. */
static void every_kind(void)
{
    static case_problem c;
    for (int k = 0; k < CASE_KINDS; k++) {
        case_kind(k, &c);
        for (int r = 0; r < 3; r++) case_compare(&runners[r], &c, 1e-12);
    }
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

static double order_of(double coarse, double fine)
{
    return log(coarse / fine) / log(2.0);
}

/* Checks orders in time. (x y z)^2 has no error in space, so only the error in time remains. With 20 and 40 steps,
   orders are within 0.2 of their limits. */
static void in_time(void)
{
    static const char *const name[] = {"Douglas", "Craig-Sneyd", "Modified Craig-Sneyd", "Hundsdorfer-Verwer"};
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++)
        for (int mixed = 0; mixed < 2; mixed++)
            for (int when = FD_BOTH_ENDS; when <= FD_NEW_END; when++) {
                if (check_short() && when != (scheme + mixed) % 3) continue;
                double rho = mixed ? 0.6 : 0, coarse = orders_powers(7, 20, scheme, when, 2, 2, rho, 0);
                double fine = orders_powers(7, 40, scheme, when, 2, 2, rho, 0);
                int first = when == FD_NEW_END || (mixed && scheme == FD_DOUGLAS);
                check_near(order_of(coarse, fine), first ? 1 : 2, 0.2, "%s, correlation %g, coefficients %d",
                           name[scheme], rho, when);
                CHECK(fine < (first ? 8e-3 : 1e-4), "%s, correlation %g, coefficients %d: %.2e", name[scheme], rho,
                      when, fine);
            }
    if (check_short()) check_skip(16, "orders in time with two of three coefficients: SHORT_TESTS is set");
}

/* Checks orders in space on crowded points, with so many steps that the error in time does not count; orders tend to 2
   from below. At faces whose slope is given, mixed derivatives are taken as 0. */
static void in_space(int slopes)
{
    const int n = check_short() ? 11 : 33, steps = !check_short() ? 160 : slopes ? 12 : 24;
    const double rho = slopes ? 0 : 0.6, least = check_short() ? 1.3 : 1.75;
    const double coarse = orders_powers(n, steps, FD_HUNDSDORFER_VERWER, FD_MIDDLE, 2, 3.5, rho, slopes);
    const double fine = orders_powers(2 * n - 1, steps, FD_HUNDSDORFER_VERWER, FD_MIDDLE, 2, 3.5, rho, slopes);
    CHECK(order_of(coarse, fine) > least, "%s: %.2e to %.2e", slopes ? "slopes" : "values", coarse, fine);
    CHECK(fine < (slopes ? 4e-3 : 5e-4), "%d points, %s: %.2e", 2 * n - 1, slopes ? "slopes" : "values", fine);
}

/* ---- known prices ------------------------------------------------------------------------------------------------ */

/* Solves a problem of assets by `count` workers. Returns its status; grid may be null. */
static fd_status assets_by(int single, int count, const assets_parameters *p, const fd_problem *q, fd_values *values,
                           void *grid)
{
    fd_status status = fd_status_of(-99, 0, 0, 0, 0, 0, 0);
    fd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.problems = batch.spots = 1, batch.steps = 100, batch.problem = q, batch.status = &status;
    batch.values = values, batch.grid = grid;
    for (int d = 0; d < 3; d++) batch.points[d] = q->axis[d].points;
    const size_t bytes = single ? assets_host_bytes_f32(&batch, count) : assets_host_bytes_f64(&batch, count);
    void *memory = case_guarded(bytes);
    const int call = single ? assets_host_f32(&batch, p, count, memory, bytes)
                            : assets_host_f64(&batch, p, count, memory, bytes);
    CHECK(call == FD_OK && case_release(memory, bytes), "assets: %d", call);
    return status;
}

static double asset_price(int n, int steps, int payoff)
{
    assets_parameters p;
    fd_problem q;
    fd_values values;
    assets_problem(n, steps, payoff, &p, &q);
    const fd_status status = assets_by(0, 2, &p, &q, &values, NULL);
    CHECK(!status.what, "%s", fd_status_string(status.what));
    return values.value;
}

static void prices(void)
{
    for (int payoff = ASSETS_GEOMETRIC; payoff <= ASSETS_GEOMETRIC_PUT; payoff++) {
        if (check_short() && (payoff == ASSETS_MAXIMUM || payoff == ASSETS_MINIMUM)) continue;
        const double known = assets_known[payoff];
        if (check_short()) {
            /* A sixth of the points of the long run: the error is some forty times as large. */
            check_near(asset_price(21, 8, payoff) / known, 1, 1.5e-2, "payoff %d", payoff);
            continue;
        }
        const double fine = asset_price(129, 50, payoff), coarse = asset_price(65, 25, payoff);
        check_near(fine / known, 1, 1e-3, "payoff %d", payoff);
        if (payoff == ASSETS_GEOMETRIC_PUT)
            check_near(fine, known, 2e-3, "an American put");
        else
            check_near((fine + (fine - coarse) / 3) / known, 1, 2e-4, "payoff %d, extrapolated", payoff);
    }
    if (check_short()) check_skip(9, "prices on 129 points an axis, and of two payoffs: SHORT_TESTS is set");
}

/* ---- bs3d.h ------------------------------------------------------------------------------------------------------ */

/* Compares with bs3d.h, whose implicit march is Douglas' scheme with theta 1. At its last points it has no diffusion,
   and its discount is in one factor, so the rate is 0 here. Correlations must be so large that bs3d.h takes mixed
   derivatives from four corners. */
static void as_bs3d(void)
{
    static const int points[3] = {20, 9, 35};
    bs3d_problem o = {{90, 100, 110},
                      {200, 210, 190},
                      {0.2, 0.3, 0.25},
                      {-0.02, 0.01, -0.03},
                      {0.8, 0.6, 0.2},
                      100,
                      0,
                      0.5,
                      {20, 9, 35},
                      8,
                      BS3D_GIVEN,
                      BS3D_CALL};
    const size_t bytes = bs3d_host_bytes_f64(&o);
    double *work = (double *)case_guarded(bytes);
    bs3d_result want = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, -99};
    fd_problem q;
    fd_values values;
    assets_parameters p;
    assets_problem(4, 8, ASSETS_GEOMETRIC, &p, &q);
    const long long pitch = bs3d_pitch_f64(points[0]);
    double x[3][40];
    for (int d = 0; d < 3; d++) {
        const fd_axis axis = {0, o.top[d], points[d], 0, {0}, {0}, {0}};
        q.axis[d] = axis;
        p.volatility[d] = o.volatility[d], p.drift[d] = -o.dividend[d];
        CHECK(!fd_axis_points(&axis, x[d]), "an axis");
        p.top[d] = o.top[d], p.correlation[d] = o.correlation[d];
    }
    p.kill = 0, q.spot = o.spot, q.finals = FD_AT_POINTS, q.scheme = FD_DOUGLAS;
    q.times.maturity = o.maturity, q.times.theta = 1, q.times.halves = 0;
    for (int at = 0; at < points[0] * points[1] * points[2]; at++) {
        const int i = at % points[0], j = at / points[0] % points[1], k = at / points[0] / points[1];
        const double place[3] = {x[0][i], x[1][j], x[2][k]};
        work[i + pitch * (j + points[1] * k)] = assets_payoff(&p, place);
    }
    CHECK(bs3d_host_implicit_f64(&o, work, &want) == BS3D_OK, "bs3d_host_implicit");
    double *grid = (double *)case_guarded(sizeof(double) * 20 * 9 * 35), worst = 0;
    const fd_status status = assets_by(0, 1, &p, &q, &values, grid);
    CHECK(!status.what, "%s", fd_status_string(status.what));
    for (int at = 0; at < points[0] * points[1] * points[2]; at++) {
        const int i = at % points[0], j = at / points[0] % points[1], k = at / points[0] / points[1];
        worst = fmax(worst, fabs(grid[at] - work[i + pitch * (j + points[1] * k)]));
    }
    CHECK(worst < 1e-11, "bs3d.h's march: off by %.2e", worst);
    check_near(values.value, want.price, 1e-11, "its price");
    check_near(values.first[0], want.delta[0], 1e-11, "its delta");
    check_near(values.second[2], want.gamma[2], 1e-11, "its gamma");
    check_near(values.mixed[0], want.cross[0], 1e-11, "its derivative by x and y");
    check_near(values.mixed[1], want.cross[1], 1e-11, "its derivative by x and z");
    check_near(values.mixed[2], want.cross[2], 1e-11, "its derivative by y and z");
    case_release(grid, sizeof(double) * 20 * 9 * 35), case_release(work, bytes);
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

/* Returns whether the results of two batches of the same size are equal, to the bit. */
static int same_results(const case_results *one, const case_results *other)
{
    return !memcmp(&one->status, &other->status, sizeof one->status) &&
           !memcmp(one->batch.values, other->batch.values, one->value_bytes) &&
           !memcmp(one->batch.grid, other->batch.grid, one->grid_bytes);
}

/* Checks that threads of the test's own compute the same numbers to the bit, even if they are more than the planes, and
   even if terms fail only in one worker's part. */
static void own_threads(void)
{
    static case_problem c;
    static const int counts[] = {1, 2, 5, 9}, points[3] = {6, 7, 8};
    for (int bad = 0; bad < 3; bad++) {
        case_results r[2];
        case_plain(&c);
        c.at_date[0].what = FD_SHIFT_Z + FD_RECORD, c.at_date[0].cash = 0.05, c.at_date[1].what = FD_RECORD;
        c.problem.exercise = FD_AMERICAN, c.parameters.change = 0.3, c.parameters.drift[2] = 3;
        c.parameters.bad = bad == 1 ? CASE_BAD_TERMS : bad == 2 ? CASE_BAD_PAYOFF : CASE_GOOD;
        c.parameters.bad_at[0] = 0.8, c.parameters.bad_at[1] = 0, c.parameters.bad_at[2] = 2;
        c.parameters.bad_at[3] = 9;
        for (int k = 0; k < 4; k++) {
            const int to = k > 0;
            case_results_for(&c, 0, points, &r[to]);
            by_threads(central_host_worker_f64, &r[to].batch, &c.parameters,
                       central_host_bytes_f64(&r[to].batch, counts[k]), counts[k]);
            CHECK(r[to].status.what == (bad == 1 ? FD_MODEL_NAN : bad ? FD_FINAL_NAN : FD_OK), "%d workers: %d",
                  counts[k], r[to].status.what);
            CHECK(bad || r[to].status.not_dominant > 0, "%d workers: not_dominant", counts[k]);
            CHECK(!to || same_results(&r[0], &r[1]), "%d workers: other numbers", counts[k]);
            if (to) CHECK(case_results_free(&r[1]), "%d workers: a guard has been written", counts[k]);
        }
        case_results_free(&r[0]);
    }
}

/* Checks that a negative kill makes a row without couplings not dominant once the diagonal, here 1 + kill / 3, is not
   positive. */
static void not_dominant_by_kill(void)
{
    enum { N = 4, ROWS = 3 * N * N * N };
    for (int k = 0; k < 2 * 5; k++) {
        assets_parameters p;
        fd_problem q;
        fd_values values;
        assets_problem(N, 1, ASSETS_GEOMETRIC, &p, &q);
        memset(p.volatility, 0, sizeof p.volatility), memset(p.drift, 0, sizeof p.drift);
        p.kill = -0.5 - k / 2; /* not -3, where rounding would decide */
        q.scheme = FD_DOUGLAS, q.times.theta = 1, q.times.halves = 0;
        const fd_status status = assets_by(k % 2, 1, &p, &q, &values, NULL);
        /* The only step counts twice, as the first and as the last. */
        CHECK(status.not_dominant == (p.kill < -3 ? 2 * ROWS : 0), "kill %g: %s, %d not dominant", p.kill,
              fd_status_string(status.what), status.not_dominant);
    }
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

enum { PROBLEMS = 7 };
static case_problem many[PROBLEMS];

/* Makes seven problems, the fourth of which fails. */
static void make_many(fd_problem *problem, case_parameters *parameters)
{
    case_random random = {SEED + 7};
    const int most[3] = {9, 8, 7};
    for (int k = 0; k < PROBLEMS; k++) {
        case_random_problem(&random, most, &many[k]);
        if (k == 3) {
            many[k].parameters.bad = CASE_BAD_FACE, many[k].parameters.bad_at[3] = 9;
            many[k].problem.face[2][1] = FD_VALUE;
        }
        problem[k] = many[k].problem, parameters[k] = many[k].parameters;
    }
}

/* Checks that each problem of a batch gets, to the bit, the results that it gets alone, whether workers share problems
   or not. */
static void batches(void)
{
    enum { GRID = 9 * 8 * 7, COUNTS = 4 };
    static const int counts[COUNTS] = {1, 3, 7, 9}, points[3] = {9, 8, 7};
    static double grid[PROBLEMS][CASE_TIMES][GRID];
    fd_problem problem[PROBLEMS];
    case_parameters parameters[PROBLEMS];
    fd_status status[PROBLEMS];
    fd_values values[PROBLEMS][CASE_TIMES][CASE_SPOTS];
    make_many(problem, parameters);
    for (int w = 0; w < COUNTS; w++) {
        const fd_batch batch = {PROBLEMS, {9, 8, 7},       800,        CASE_DATES,         CASE_SPOTS, problem,
                                status,   values[0][0], grid, {NULL, NULL, NULL}, 0};
        memset(values, CASE_STALE, sizeof values), memset(grid, CASE_STALE, sizeof grid);
        const size_t bytes = central_host_bytes_f64(&batch, counts[w]);
        void *memory = case_guarded(bytes);
        CHECK(adi3d_check(&batch) == FD_OK && bytes > 0, "a batch");
        CHECK(central_host_f64(&batch, parameters, counts[w], memory, bytes) == FD_OK, "%d workers", counts[w]);
        CHECK(case_release(memory, bytes), "%d workers: a guard has been written", counts[w]);
        for (int k = 0; k < PROBLEMS; k++) {
            case_results alone;
            case_results_for(&many[k], 0, points, &alone);
            central_solver_f64(&alone.batch, &parameters[k]);
            CHECK(status[k].what == (k == 3 ? FD_NOT_SOLVED : FD_OK), "problem %d: %s", k,
                  fd_status_string(status[k].what));
            CHECK(!memcmp(&status[k], &alone.status, sizeof *status), "problem %d: status %d, step %d", k,
                  status[k].what, status[k].step);
            CHECK(!memcmp(values[k], alone.batch.values, sizeof values[k]) &&
                      !memcmp(grid[k], alone.batch.grid, sizeof grid[k]),
                  "problem %d, %d workers: other numbers", k, counts[w]);
            case_results_free(&alone);
        }
    }
}

/* Checks problems that need more steps, or more dates, than the batch has room for. */
static void too_little_room(void)
{
    static case_problem c;
    static const int points[3] = {9, 8, 8};
    for (int dates = 0; dates < 2; dates++) {
        case_results r;
        case_plain(&c);
        case_results_for(&c, 0, points, &r);
        r.batch.steps = dates ? 100 : 3, r.batch.dates = dates ? 1 : CASE_DATES;
        CHECK(central_solver_f64(&r.batch, &c.parameters) == FD_OK, "a batch of one");
        CHECK(r.status.what == (dates ? FD_TOO_MANY_DATES : FD_TOO_MANY_STEPS) &&
                  (dates ? r.status.detail == 2 : r.status.detail > 3),
              "too many: %s, %d", fd_status_string(r.status.what), r.status.detail);
        case_results_free(&r);
    }
}

/* ---- what a model declares --------------------------------------------------------------------------------------- */

/* Tries correlations that are possible, up to perfect ones, and correlations that are not. */
static void correlations(void)
{
    static const double rho[][3] = {{1, 1, 1},    {-1, 1, -1},        {0.6, 0, 0.8},  {-0.5, -0.5, -0.5}, {1.001, 1, 1},
                                    {0, 0, -1.5}, {-0.9, -0.9, -0.9}, {0.6, 0, 0.81}, {0.9, -0.9, 0.9}};
    for (int k = 0; k < 2 * 9; k++) {
        assets_parameters p;
        fd_problem q;
        fd_values values;
        assets_problem(6, 2, ASSETS_GEOMETRIC, &p, &q);
        memcpy(p.correlation, rho[k / 2], sizeof p.correlation);
        const fd_status status = assets_by(k % 2, 1, &p, &q, &values, NULL);
        CHECK(status.what == (k / 2 < 4 ? FD_OK : FD_ILL_POSED), "correlations %d, single %d: %s", k / 2, k % 2,
              fd_status_string(status.what));
    }
}

/* ---- calls that are refused, and progress ------------------------------------------------------------------------ */

static int reported;

static void progress(int step, int steps, void *context)
{
    CHECK(step == ++reported && steps == 6 && context == &reported, "step %d of %d", step, steps);
}

/* Checks that a call that is refused leaves a status, and no numbers. */
static void refused(void)
{
    static case_problem c;
    static const int points[3] = {6, 7, 8};
    for (int k = 0; k < 6; k++) {
        const int due = k == 3 ? FD_BAD_SIZE : k == 2 ? FD_NO_ROOM : FD_BAD_ARGUMENT;
        case_results r;
        case_plain(&c);
        case_results_for(&c, 0, points, &r);
        const size_t bytes = central_host_bytes_f64(&r.batch, 1);
        char *memory = (char *)case_guarded(bytes);
        fd_batch batch = r.batch;
        if (k == 5) batch.values = NULL;
        const int call = central_host_f64(&batch, k == 0 ? NULL : &c.parameters, k == 3 ? 0 : 1,
                                          k == 1 ? NULL : memory + (k == 4 ? 8 : 0), k == 2 ? bytes - 1 : bytes);
        CHECK(call == due && r.status.what == due, "refused %d: %d, %d", k, call, r.status.what);
        CHECK(k == 5 || (isnan(r.batch.values[0].value) && isnan(r.batch.values[1].mixed[0])), "refused %d: %g", k,
              r.batch.values[0].value);
        CHECK(isnan(((double *)r.batch.grid)[0]) && isnan(r.batch.coordinates[2][7]), "refused %d: grid", k);
        CHECK(case_untouched(memory, bytes) && case_release(memory, bytes), "refused %d: something was done", k);
        case_results_free(&r);
    }
}

static void arguments(void)
{
    static case_problem c;
    static const int points[3] = {6, 7, 8};
    case_results r;
    case_plain(&c);
    case_results_for(&c, 0, points, &r);
    fd_batch *const b = &r.batch, large = {1, {1025, 8, 8}, 1, 0, 0, NULL, NULL, NULL, NULL, {NULL, NULL, NULL}, 0};
    const size_t bytes = central_host_bytes_f64(b, 1);
    void *memory = case_guarded(bytes);
    CHECK(adi3d_check(NULL) == FD_BAD_ARGUMENT && adi3d_check(b) == FD_OK, "adi3d_check");
    CHECK(adi3d_check(&large) == FD_BAD_SIZE && central_host_bytes_f64(&large, 1) == 0, "too many points");
    CHECK(bytes > 0 && central_host_bytes_f64(b, 2) > bytes, "bytes");
    CHECK(central_host_bytes_f64(NULL, 1) == 0 && central_host_bytes_f64(b, 0) == 0, "bytes of nothing");
    b->problem = NULL;
    CHECK(central_host_bytes_f64(b, 1) > bytes, "bytes for any problem");
    CHECK(adi3d_check(b) == FD_BAD_ARGUMENT, "no problem");
    b->problem = &c.problem;
    CHECK(central_host_worker_f64(b, &c.parameters, 1, 1, memory, bytes, NULL, NULL) == FD_BAD_SIZE, "worker 1 of 1");
    CHECK(central_host_worker_f64(b, &c.parameters, 0, 2, memory, 2 * bytes, NULL, NULL) == FD_BAD_ARGUMENT,
          "two workers that cannot wait");
    CHECK(central_host_f64(NULL, &c.parameters, 1, memory, bytes) == FD_BAD_ARGUMENT, "no batch");
    b->problems = 0;
    CHECK(central_host_f64(b, NULL, 1, NULL, 0) == FD_OK, "a batch of none");
    b->problems = 1;
    CHECK(central_host_problems_f64(b, &c.parameters, 0, 2, memory, bytes) == FD_BAD_SIZE &&
              central_host_problems_f64(b, NULL, 1, 1, NULL, 0) == FD_OK,
          "ranges of problems");
    CHECK(case_untouched(memory, bytes), "something was done");
    CHECK(central_host_problems_f64(b, &c.parameters, 0, 1, memory, bytes) == FD_OK && !r.status.what, "a range");
    c.problem.progress = progress, c.problem.context = &reported;
    CHECK(central_host_f64(b, &c.parameters, 1, memory, bytes) == FD_OK && reported == 6, "%d steps reported",
          reported);
    CHECK(case_release(memory, bytes) && case_results_free(&r), "a guard has been written");
    memory = adi3d_allocate(100);
    CHECK(memory != NULL, "adi3d_allocate");
    adi3d_free(memory);
}

/* Checks that marches with theta 0 are those with the scheme's own theta, and that for explicit marches the steps that
   a refusal asks for are enough: nothing grows by more than the factor of e that is allowed. */
static void times_left_zero(void)
{
    static case_problem c;
    static const int points[3] = {6, 7, 8};
    case_random random = {SEED + 9};
    case_results r, own;
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++) {
        case_plain(&c);
        case_results_for(&c, 0, points, &own), case_results_for(&c, 0, points, &r);
        c.problem.scheme = scheme, c.problem.times.theta = fd_scheme_theta(scheme, 3, 1);
        CHECK(runners[0].solve(&own.batch, &c.parameters) == FD_OK && !own.status.what, "scheme %d", scheme);
        c.problem.times.theta = 0;
        CHECK(runners[0].solve(&r.batch, &c.parameters) == FD_OK, "theta 0, scheme %d", scheme);
        CHECK(same_results(&own, &r), "theta 0, scheme %d: %g", scheme, r.batch.values[0].value);
        case_results_free(&own), case_results_free(&r);
    }
    for (int k = 0; k < 12; k++) {
        case_plain(&c);
        fd_problem *q = &c.problem;
        const fd_times times = {
            case_between(&random, 0.1, 2), 1, case_below(&random, 3), 2, FD_EXPLICIT, 0, 0, 0, NULL, NULL};
        q->times = times, c.parameters.payoff = CASE_WAVE, c.parameters.change = 0, q->finals = FD_AT_POINTS;
        for (int d = 0; d < 3; d++) {
            c.parameters.drift[d] = 0, c.parameters.pull[d] = case_between(&random, 0, 4);
            c.parameters.volatility[d] = case_below(&random, 3) ? case_between(&random, 0, 0.7) : 1e-5;
        }
        case_results_for(&c, runners[k % 2].single, points, &r);
        runners[k % 2].solve(&r.batch, &c.parameters);
        if (r.status.what == FD_UNSTABLE) {
            q->times.steps = r.status.detail;
            runners[k % 2].solve(&r.batch, &c.parameters);
        }
        CHECK(r.status.what == FD_OK, "explicit %d: %d, detail %d", k, r.status.what, r.status.detail);
        double largest = 0;
        for (int at = 0; at < 6 * 7 * 8; at++) {
            const double value = case_number(r.batch.grid, runners[k % 2].single, at);
            if (!(fabs(value) <= largest)) largest = fabs(value);
        }
        CHECK(largest <= 1.7 * 2.72, "explicit %d, %d steps: %g", k, q->times.steps, largest);
        case_results_free(&r);
    }
}

int main(void)
{
    printf("seed %d\n", SEED);
    random_problems();
    every_kind();
    case_statuses(&runners[0]), case_statuses(&runners[4]);
    case_lost(&runners[0]), case_lost(&runners[4]);
    workers = 3, case_statuses(&runners[2]), case_lost(&runners[2]), workers = 1;
    for (int r = 0; r < RUNNERS; r++) workers = 1 + r % 3, case_declarations(&runners[r]);
    workers = 1;
    correlations();
    case_not_alone(&apart_runner[0]);
    workers = 3, case_not_alone(&apart_runner[1]), workers = 1;
    in_time();
    in_space(0), in_space(1);
    prices();
    as_bs3d();
    own_threads();
    batches();
    too_little_room();
    not_dominant_by_kill();
    times_left_zero();
    refused();
    arguments();
    return check_report();
}
