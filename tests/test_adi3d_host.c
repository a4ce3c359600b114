/* test_adi3d_host.c - pde/adi3d.h on the host: random problems of every kind against a plain march, orders in space and
   time, prices that are known, bs3d.h's march, workers, and what is no problem.
   MIT licence, see LICENSE. */
#define _GNU_SOURCE /* barriers of POSIX threads */
#include "adi3d_cases.h"

#include "adi3d_assets.h"
#include "adi3d_orders.h"

#include "../bs3d.h"

#include <pthread.h>

enum { SEED = 20251122 };

/* ---- random problems --------------------------------------------------------------------------------------------- */

static int workers = 1; /* of the next solve */

#define SOLVER(model, precision)                                                                                       \
    static int model##_solver##precision(const adi3d_problem *problem, const case_parameters *parameters,              \
                                         adi3d_result *result)                                                         \
    {                                                                                                                  \
        const size_t bytes = model##_host_bytes##precision(problem, workers), room = bytes ? bytes : 64;               \
        void *memory = case_guarded(room);                                                                             \
        int what = model##_host##precision(problem, parameters, workers, memory, room, result);                        \
        CHECK(case_release(memory, room), "a guard of the memory has been written");                                   \
        return what;                                                                                                   \
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
    {"central", 0, FD_CENTRAL, 7, 1, 0, central_solver_f64},
    {"upwind", 0, FD_UPWIND, 5, 1, 0, upwind_solver_f64},
    {"fitted", 0, FD_FITTED, 2, 0, 0, fitted_solver_f64},
    {"central, single", 1, FD_CENTRAL, 7, 1, 0, central_solver_f32},
    {"upwind, single", 1, FD_UPWIND, 5, 1, 0, upwind_solver_f32},
    {"fitted, single", 1, FD_FITTED, 2, 0, 0, fitted_solver_f32},
    {"apart", 0, FD_CENTRAL, 7, 1, 1, apart_solver_f64},
    {"apart, single", 1, FD_CENTRAL, 7, 1, 1, apart_solver_f32},
};
static const case_runner *const apart_runner = &runners[6];
enum { RUNNERS = sizeof runners / sizeof *runners };

/* Against the plain march: rounding, which marches that are not stable make larger. */
static void random_problems(void)
{
    static case_problem c;
    case_random random = {SEED};
    const int count = check_short() ? 40 : 400;
    for (int k = 0; k < count; k++) {
        /* Some axes have more points than lines go side by side. */
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

/* Each scheme and kind of coefficients on the smallest grid, and with one face of each kind on every side. */
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

/* (x y z)^2 has no error in space, so that of time stands alone. Orders by 20 and 40 steps are within a fifth. */
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

/* On crowded points, with so many steps that time does not count; orders tend to 2 from below. At faces whose slope is
   given a mixed derivative is taken for 0. */
static void in_space(int slopes)
{
    const int n = check_short() ? 11 : 33, steps = !check_short() ? 160 : slopes ? 12 : 24;
    const double rho = slopes ? 0 : 0.6, least = check_short() ? 1.3 : 1.75;
    const double coarse = orders_powers(n, steps, FD_HUNDSDORFER_VERWER, FD_MIDDLE, 2, 3.5, rho, slopes);
    const double fine = orders_powers(2 * n - 1, steps, FD_HUNDSDORFER_VERWER, FD_MIDDLE, 2, 3.5, rho, slopes);
    CHECK(order_of(coarse, fine) > least, "%s: %.2e to %.2e", slopes ? "slopes" : "values", coarse, fine);
    CHECK(fine < (slopes ? 4e-3 : 5e-4), "%d points, %s: %.2e", 2 * n - 1, slopes ? "slopes" : "values", fine);
}

/* ---- prices that are known --------------------------------------------------------------------------------------- */

static double asset_price(int n, int steps, int payoff)
{
    assets_parameters p;
    adi3d_problem q;
    adi3d_values values;
    adi3d_result result = {fd_status_of(FD_OK, 0, 0, 0, 0, 0, 0), &values, NULL, {NULL, NULL, NULL}};
    assets_problem(n, steps, payoff, &p, &q);
    const size_t bytes = assets_host_bytes_f64(&q, 2);
    void *memory = case_guarded(bytes);
    CHECK(assets_host_f64(&q, &p, 2, memory, bytes, &result) == FD_OK, "%s", fd_status_string(result.status.what));
    case_release(memory, bytes);
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

/* Its implicit march is Douglas' scheme with theta 1. At its last points nothing is random, and its discount is in one
   factor: rate 0. Its correlations must be so large that it takes the four corners for a mixed derivative. */
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
    adi3d_problem q;
    adi3d_values values;
    assets_parameters p;
    assets_problem(4, 8, ASSETS_GEOMETRIC, &p, &q);
    const long long pitch = bs3d_pitch_f64(points[0]);
    double x[3][40];
    for (int d = 0; d < 3; d++) {
        const fd_axis axis = {0, o.top[d], points[d], 0, {0}, {0}, {0}};
        q.axis[d] = axis, q.spot[d] = o.spot[d];
        p.volatility[d] = o.volatility[d], p.drift[d] = -o.dividend[d];
        CHECK(!fd_axis_points(&axis, x[d]), "an axis");
        p.top[d] = o.top[d], p.correlation[d] = o.correlation[d];
    }
    p.kill = 0, q.finals = FD_AT_POINTS, q.scheme = FD_DOUGLAS;
    q.times.maturity = o.maturity, q.times.theta = 1, q.times.halves = 0;
    for (int at = 0; at < points[0] * points[1] * points[2]; at++) {
        const int i = at % points[0], j = at / points[0] % points[1], k = at / points[0] / points[1];
        const double place[3] = {x[0][i], x[1][j], x[2][k]};
        work[i + pitch * (j + points[1] * k)] = assets_payoff(place, &p);
    }
    CHECK(bs3d_host_implicit_f64(&o, work, &want) == BS3D_OK, "bs3d_host_implicit");
    double *grid = (double *)case_guarded(sizeof(double) * 20 * 9 * 35), worst = 0;
    adi3d_result result = {fd_status_of(FD_OK, 0, 0, 0, 0, 0, 0), &values, grid, {NULL, NULL, NULL}};
    const size_t room = assets_host_bytes_f64(&q, 1);
    void *memory = case_guarded(room);
    CHECK(assets_host_f64(&q, &p, 1, memory, room, &result) == FD_OK, "%s", fd_status_string(result.status.what));
    for (int at = 0; at < points[0] * points[1] * points[2]; at++) {
        const int i = at % points[0], j = at / points[0] % points[1], k = at / points[0] / points[1];
        worst = fmax(worst, fabs(grid[at] - work[i + pitch * (j + points[1] * k)]));
    }
    CHECK(worst < 1e-11, "bs3d.h's march: off by %.2e", worst);
    check_near(values.value, want.price, 1e-11, "its price");
    check_near(values.dx, want.delta[0], 1e-11, "its delta");
    check_near(values.dzz, want.gamma[2], 1e-11, "its gamma");
    check_near(values.dxy, want.cross[0], 1e-11, "its derivative by x and y");
    check_near(values.dxz, want.cross[1], 1e-11, "its derivative by x and z");
    check_near(values.dyz, want.cross[2], 1e-11, "its derivative by y and z");
    case_release(memory, room), case_release(grid, sizeof(double) * 20 * 9 * 35), case_release(work, bytes);
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const case_problem *c;
    void *memory;
    size_t bytes;
    pthread_barrier_t *barrier;
    adi3d_result *result;
    int worker, workers, what;
} part;

static void meet(void *context)
{
    pthread_barrier_wait((pthread_barrier_t *)context);
}

static void *work(void *argument)
{
    part *p = (part *)argument;
    p->what = central_host_worker_f64(&p->c->problem, &p->c->parameters, p->worker, p->workers, p->memory, p->bytes,
                                      meet, p->barrier, p->result);
    return NULL;
}

/* Threads of one's own, more of them than there are planes too: the same numbers to the bit. */
static void own_threads(void)
{
    static case_problem c;
    static const int counts[] = {1, 2, 5, 9};
    double grid[2][6 * 7 * 8];
    adi3d_values values[2][1 + CASE_DATES];
    float growth = 0;
    case_plain(&c);
    c.at_date[0].what = FD_SHIFT + FD_RECORD, c.at_date[0].cash = 0.05, c.at_date[1].what = FD_RECORD;
    c.problem.exercise = FD_AMERICAN, c.parameters.change = 0.3, c.parameters.drift[2] = 3;
    for (int k = 0; k < 4; k++) {
        const int to = k > 0, count = counts[k];
        pthread_barrier_t barrier;
        pthread_t thread[9];
        part parts[9];
        adi3d_result result = {fd_status_of(-99, 0, 0, 0, 0, 0, 0), values[to], grid[to], {NULL, NULL, NULL}};
        const size_t bytes = central_host_bytes_f64(&c.problem, count);
        void *memory = case_guarded(bytes);
        pthread_barrier_init(&barrier, NULL, (unsigned)count);
        for (int w = 0; w < count; w++) {
            const part mine = {&c, memory, bytes, &barrier, &result, w, count, -99};
            parts[w] = mine;
            if (w > 0) CHECK(!pthread_create(&thread[w], NULL, work, &parts[w]), "a thread");
        }
        work(&parts[0]);
        for (int w = 0; w < count; w++) {
            if (w > 0) pthread_join(thread[w], NULL);
            CHECK(parts[w].what == FD_OK, "worker %d of %d: %d", w, count, parts[w].what);
        }
        pthread_barrier_destroy(&barrier);
        CHECK(case_release(memory, bytes), "%d workers: a guard has been written", count);
        CHECK(result.status.what == FD_OK && result.status.not_dominant > 0, "%d workers: %d not_dominant", count,
              result.status.not_dominant);
        CHECK(!to || (!memcmp(grid[0], grid[1], sizeof *grid) && !memcmp(values[0], values[1], sizeof *values)),
              "%d workers: other numbers", count);
        CHECK(!to || !memcmp(&growth, &result.status.growth, sizeof growth), "%d workers: growth %g", count,
              (double)result.status.growth);
        growth = result.status.growth;
    }
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Each problem of a batch as if alone, to the bit, however many workers; one that fails is watched. */
static void batches(void)
{
    enum { PROBLEMS = 7, POINTS = 9 * 8 * 7 };
    static case_problem c[PROBLEMS];
    static double grid[PROBLEMS][POINTS], alone[POINTS];
    adi3d_problem problem[PROBLEMS];
    case_parameters parameters[PROBLEMS];
    fd_status status[PROBLEMS];
    adi3d_values values[PROBLEMS][1 + CASE_DATES], value[1 + CASE_DATES];
    case_random random = {SEED + 7};
    const int most[3] = {9, 8, 7};
    for (int k = 0; k < PROBLEMS; k++) {
        case_random_problem(&random, most, &c[k]);
        if (k == 3) { /* exercise would take the final value instead of NaN */
            c[k].parameters.bad = CASE_BAD_FACE, c[k].parameters.bad_at[3] = 9, c[k].problem.face[2][1] = FD_VALUE;
            c[k].problem.exercise = FD_EUROPEAN, c[k].problem.times.dates = 0;
        }
        problem[k] = c[k].problem, parameters[k] = c[k].parameters;
    }
    for (int count = 1; count <= 3; count += 2) {
        adi3d_batch batch = {PROBLEMS, {9, 8, 7}, 100,  CASE_DATES,        problem,
                             status,   values[0], grid, {NULL, NULL, NULL}};
        const size_t bytes = central_host_batch_bytes_f64(&batch, count);
        void *memory = case_guarded(bytes);
        CHECK(adi3d_batch_check(&batch) == FD_OK && bytes > 0, "a batch");
        CHECK(central_host_batch_f64(&batch, parameters, count, memory, bytes) == FD_OK, "%d workers", count);
        CHECK(case_release(memory, bytes), "%d workers: a guard has been written", count);
        for (int k = 0; k < PROBLEMS; k++) {
            const int n0 = problem[k].axis[0].points, n1 = problem[k].axis[1].points;
            const int all = (int)adi3d_p_points(&problem[k]);
            adi3d_result result = {fd_status_of(-99, 0, 0, 0, 0, 0, 0), value, alone, {NULL, NULL, NULL}};
            adi3d_problem own = problem[k];
            own.watched = k == 3;
            const size_t needed = central_host_bytes_f64(&own, 1);
            memory = case_guarded(needed);
            const int what = central_host_f64(&own, &parameters[k], 1, memory, needed, &result);
            case_release(memory, needed);
            CHECK(what == (k == 3 ? FD_NOT_SOLVED : FD_OK), "problem %d: %s", k, fd_status_string(what));
            CHECK(!memcmp(&status[k], &result.status, sizeof *status), "problem %d: status %d, step %d", k,
                  status[k].what, status[k].step);
            if (what) continue;
            int same = !memcmp(&values[k][0], &value[0], sizeof *value);
            for (int at = 0; at < all; at++)
                same &= !memcmp(&alone[at], &grid[k][at % n0 + 9 * (at / n0 % n1 + 8 * (at / n0 / n1))], sizeof *alone);
            CHECK(same, "problem %d, %d workers: other numbers", k, count);
        }
    }
    /* A problem that needs more steps than the batch has room for: three, with dates and halves. */
    adi3d_batch few = {1, {9, 8, 8}, 3, CASE_DATES, problem, status, values[0], NULL, {NULL, NULL, NULL}};
    case_plain(&c[0]);
    problem[0] = c[0].problem;
    const size_t bytes = central_host_batch_bytes_f64(&few, 1);
    void *memory = case_guarded(bytes);
    CHECK(central_host_batch_f64(&few, &c[0].parameters, 1, memory, bytes) == FD_OK, "a batch of one");
    CHECK(status[0].what == FD_TOO_MANY_STEPS && status[0].detail > 3, "too many steps: %s, %d",
          fd_status_string(status[0].what), status[0].detail);
    case_release(memory, bytes);
}

/* A negative kill makes a row without couplings not_dominant, once it takes the whole diagonal. */
static void not_dominant_by_kill(void)
{
    fd_cell_f64 cell;
    adi3d_terms_f64 terms;
    memset(&cell, 0, sizeof cell);
    memset(&terms, 0, sizeof terms);
    for (int kill = -4; kill <= 0; kill++) { /* 1 + size terms.kill / 3 = 3 / 4 + kill / 2, never near 0 */
        terms.kill = kill - 0.5;
        CHECK(central_p_not_dominant_along_f64(0, cell, terms, 1.5) == (kill <= -2), "kill %g", terms.kill);
    }
}

/* ---- what a model declares --------------------------------------------------------------------------------------- */

/* Correlations that there can be, up to those that leave no freedom, and such as there cannot be. */
static void correlations(void)
{
    static const double rho[][3] = {{1, 1, 1},    {-1, 1, -1},        {0.6, 0, 0.8},  {-0.5, -0.5, -0.5}, {1.001, 1, 1},
                                    {0, 0, -1.5}, {-0.9, -0.9, -0.9}, {0.6, 0, 0.81}, {0.9, -0.9, 0.9}};
    for (int k = 0; k < 9; k++) {
        assets_parameters p;
        adi3d_problem q;
        adi3d_values values;
        assets_problem(6, 2, ASSETS_GEOMETRIC, &p, &q);
        memcpy(p.correlation, rho[k], sizeof p.correlation);
        adi3d_result result = {fd_status_of(FD_OK, 0, 0, 0, 0, 0, 0), &values, NULL, {NULL, NULL, NULL}};
        const size_t room = assets_host_bytes_f64(&q, 1);
        void *memory = case_guarded(room);
        const int due = k < 4 ? FD_OK : FD_ILL_POSED;
        CHECK(assets_host_f64(&q, &p, 1, memory, room, &result) == due, "correlations %d: %s", k,
              fd_status_string(result.status.what));
        CHECK(assets_host_f32(&q, &p, 1, memory, room, &result) == due, "correlations %d, single precision: %s", k,
              fd_status_string(result.status.what));
        case_release(memory, room);
    }
}

/* A model that reads more than it declares. */
typedef struct {
    int more; /* of x 1, of y 2, of z 4, of time 8: a sum */
} greedy_parameters;

enum {
    greedy_numbers_of_x = 1,
    greedy_numbers_of_y = 1,
    greedy_numbers_of_z = 1,
    greedy_numbers_of_t = 1,
    greedy_mixed = 0,
    greedy_changes = 1,
    greedy_fitting = FD_CENTRAL
};
ADI3D_HD void greedy_of_x(const greedy_parameters *p, double x, double *number)
{
    (void)p;
    number[0] = x;
}
ADI3D_HD void greedy_of_y(const greedy_parameters *p, double y, double *number)
{
    greedy_of_x(p, y, number);
}
ADI3D_HD void greedy_of_z(const greedy_parameters *p, double z, double *number)
{
    greedy_of_x(p, z, number);
}
ADI3D_HD void greedy_of_t(const greedy_parameters *p, double t, double *number)
{
    (void)t;
    number[0] = p->more;
}
ADI3D_TERMS(greedy, const int more = (int)t[0]; const real each[3] = {x[0], y[0], z[0]};
            for (int d = 0; d < 3; d++) terms->volatility[d] = terms->drift[d] = (real)0.01 * each[d];
            if (more & 1) terms->drift[0] = (real)case_number_beyond((void *)x, sizeof(real), 1);
            if (more & 2) terms->kill = (real)case_number_beyond((void *)y, sizeof(real), 7);
            if (more & 4) terms->beta[1] = (real)case_number_beyond((void *)z, sizeof(real), 1);
            if (more & 8) terms->volatility[1] = (real)case_number_beyond((void *)t, sizeof(real), 1);)
ADI3D_HD double greedy_payoff(const double *at, const void *p)
{
    (void)p;
    return at[0];
}
#define ADI3D_MODEL greedy
#include "../pde/adi3d.h"

static void too_few_numbers(void)
{
    for (int more = 0; more < 16; more++) {
        const greedy_parameters p = {more};
        const int axis = more & 1 ? 0 : more & 2 ? 1 : more & 4 ? 2 : -1;
        assets_parameters unused;
        adi3d_problem q;
        adi3d_values values;
        assets_problem(6, 2, ASSETS_GEOMETRIC, &unused, &q);
        adi3d_result result = {fd_status_of(FD_OK, 0, 0, 0, 0, 0, 0), &values, NULL, {NULL, NULL, NULL}};
        const size_t room = greedy_host_bytes_f64(&q, 1);
        void *memory = case_guarded(room);
        CHECK(greedy_host_f64(&q, &p, 1, memory, room, &result) == (more ? FD_TOO_FEW_NUMBERS : FD_OK) &&
                  result.status.axis == axis && result.status.step == (more ? 0 : -1),
              "reads %d: %s, axis %d, step %d", more, fd_status_string(result.status.what), result.status.axis,
              result.status.step);
        case_release(memory, room);
    }
}

/* ---- what is no problem, and progress ---------------------------------------------------------------------------- */

static int reported;

static void progress(int step, int steps, void *context)
{
    CHECK(step == ++reported && steps == 6 && context == &reported, "step %d of %d", step, steps);
}

static void arguments(void)
{
    static case_problem c;
    adi3d_values values[1 + CASE_DATES];
    adi3d_result result = {fd_status_of(-99, 0, 0, 0, 0, 0, 0), values, NULL, {NULL, NULL, NULL}}, none = result;
    case_plain(&c);
    const size_t bytes = central_host_bytes_f64(&c.problem, 1);
    void *memory = case_guarded(bytes);
    CHECK(adi3d_check(NULL).what == FD_BAD_ARGUMENT && adi3d_check(&c.problem).what == FD_OK, "adi3d_check");
    CHECK(bytes > 0 && central_host_bytes_f64(&c.problem, 2) > bytes, "bytes");
    CHECK(central_host_bytes_f64(NULL, 1) == 0 && central_host_bytes_f64(&c.problem, 0) == 0, "bytes of nothing");
    none.values = NULL;
    /* What is refused leaves its status, and no number. */
    for (int k = 0; k < 4; k++) {
        const int due = k == 0 ? FD_BAD_ARGUMENT : k == 3 ? FD_BAD_SIZE : FD_NO_ROOM;
        memset(values, 0, sizeof values), result.status.what = FD_OK;
        const int what = central_host_f64(&c.problem, k == 0 ? NULL : &c.parameters, k == 3 ? 0 : 1,
                                          k == 1 ? NULL : memory, k == 2 ? bytes - 1 : bytes, &result);
        CHECK(what == due && result.status.what == due, "refused %d: %d, %d", k, what, result.status.what);
        CHECK(isnan(values[0].value) && isnan(values[1].dxy), "refused %d: %g", k, values[0].value);
    }
    CHECK(central_host_f64(&c.problem, &c.parameters, 1, (char *)memory + 8, bytes, &result) == FD_BAD_ARGUMENT,
          "memory off its alignment");
    CHECK(central_host_f64(&c.problem, &c.parameters, 1, memory, bytes, NULL) == FD_BAD_ARGUMENT, "no result");
    CHECK(central_host_f64(&c.problem, &c.parameters, 1, memory, bytes, &none) == FD_BAD_ARGUMENT, "no values");
    CHECK(central_host_f64(NULL, &c.parameters, 1, memory, bytes, &result) == FD_BAD_ARGUMENT, "no problem");
    CHECK(result.status.what == FD_BAD_ARGUMENT, "no problem: %d", result.status.what);
    CHECK(central_host_worker_f64(&c.problem, &c.parameters, 1, 1, memory, bytes, NULL, NULL, &result) == FD_BAD_SIZE,
          "worker 1 of 1");
    CHECK(central_host_worker_f64(&c.problem, &c.parameters, 0, 2, memory, bytes, NULL, NULL, &result) ==
              FD_BAD_ARGUMENT,
          "two workers that cannot wait");
    CHECK(case_untouched(memory, bytes), "something was done");
    c.problem.progress = progress, c.problem.context = &reported;
    CHECK(central_host_f64(&c.problem, &c.parameters, 1, memory, bytes, &result) == FD_OK && reported == 6,
          "%d steps reported", reported);
    CHECK(case_release(memory, bytes), "a guard has been written");
    memory = adi3d_allocate(100);
    CHECK(memory != NULL, "adi3d_allocate");
    adi3d_free(memory);
}

/* Marches whose theta is left 0 are those with the scheme's own; of explicit marches as many steps as a refusal asks
   for are enough: nothing grows by more than the factor of e that is allowed. */
static void times_left_zero(void)
{
    static case_problem c;
    static double grid[6 * 7 * 8];
    case_random random = {SEED + 9};
    adi3d_values values[1 + CASE_DATES], own[1 + CASE_DATES];
    adi3d_result result = {fd_status_of(-99, 0, 0, 0, 0, 0, 0), values, grid, {NULL, NULL, NULL}};
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++) {
        case_plain(&c);
        c.problem.scheme = scheme, c.problem.times.theta = fd_scheme_theta(scheme, 3, 1);
        CHECK(runners[0].solve(&c.problem, &c.parameters, &result) == FD_OK, "scheme %d", scheme);
        memcpy(own, values, sizeof own);
        c.problem.times.theta = 0;
        CHECK(runners[0].solve(&c.problem, &c.parameters, &result) == FD_OK, "theta 0, scheme %d", scheme);
        CHECK(!memcmp(&own[0], &values[0], sizeof *own), "theta 0, scheme %d: %g", scheme, values[0].value);
    }
    for (int k = 0; k < 12; k++) {
        case_plain(&c);
        adi3d_problem *q = &c.problem;
        const fd_times times = {
            case_between(&random, 0.1, 2), 1, case_below(&random, 3), 2, FD_EXPLICIT, 0, 0, 0, NULL, NULL};
        q->times = times, c.parameters.payoff = CASE_WAVE, c.parameters.change = 0, q->finals = FD_AT_POINTS;
        for (int d = 0; d < 3; d++) {
            c.parameters.drift[d] = 0, c.parameters.pull[d] = case_between(&random, 0, 4);
            c.parameters.volatility[d] = case_below(&random, 3) ? case_between(&random, 0, 0.7) : 1e-5;
        }
        int what = runners[k % 2].solve(q, &c.parameters, &result);
        if (what == FD_UNSTABLE) {
            q->times.steps = result.status.detail;
            what = runners[k % 2].solve(q, &c.parameters, &result);
        }
        CHECK(what == FD_OK, "explicit %d: %d, detail %d", k, what, result.status.detail);
        double largest = 0;
        for (int at = 0; at < 6 * 7 * 8; at++) {
            const double value = case_number(grid, runners[k % 2].single, at);
            if (!(fabs(value) <= largest)) largest = fabs(value);
        }
        CHECK(largest <= 1.7 * 2.72, "explicit %d, %d steps: %g", k, q->times.steps, largest);
    }
}

int main(void)
{
    printf("seed %d\n", SEED);
    random_problems();
    every_kind();
    case_statuses(&runners[0]), case_statuses(&runners[4]);
    case_not_watched(&runners[0]), case_not_watched(&runners[4]);
    workers = 3, case_statuses(&runners[2]), case_not_watched(&runners[2]), workers = 1;
    for (int r = 0; r < RUNNERS; r++) workers = 1 + r % 3, case_declarations(&runners[r]);
    workers = 1;
    correlations(), too_few_numbers();
    case_not_alone(&apart_runner[0]);
    workers = 3, case_not_alone(&apart_runner[1]), workers = 1;
    in_time();
    in_space(0), in_space(1);
    prices();
    as_bs3d();
    own_threads();
    batches();
    not_dominant_by_kill();
    times_left_zero();
    arguments();
    return check_report();
}
