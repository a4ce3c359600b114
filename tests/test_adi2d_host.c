/* test_adi2d_host.c - pde/adi2d.h on the host: random problems against a plain march, everything that can be wrong with
   a problem, closed formulas and published prices.
   MIT licence, see LICENSE. */
#define _GNU_SOURCE /* barriers of POSIX threads */
#include "adi2d_cases.h"

#include "../examples/heston_model.h"

#include "own_threads.h"

enum { SEED = 20251122 };

/* Defines a case_solver that calls a model's host version with several workers. */
#define SOLVER(model, precision)                                                                                       \
    static int model##_solver_##precision(const fd_batch *batch, const case_parameters *parameters)                    \
    {                                                                                                                  \
        enum { WORKERS = 3 };                                                                                          \
        const size_t bytes = model##_host_bytes_##precision(batch, WORKERS);                                           \
        void *memory = case_guarded(bytes);                                                                            \
        int status = model##_host_##precision(batch, parameters, WORKERS, memory, bytes);                              \
        CHECK(case_release(memory, bytes), #model ": a guard of the workers' memory has been written");                \
        return status;                                                                                                 \
    }
SOLVER(central, f32)
SOLVER(central, f64)
SOLVER(upwind, f32)
SOLVER(upwind, f64)
SOLVER(fitted, f32)
SOLVER(fitted, f64)
SOLVER(alone, f32)
SOLVER(alone, f64)

static const case_runner runners[] = {
    {"central, double", FD_CENTRAL, CASE_CENTRAL_HAS, 0, central_solver_f64},
    {"central, single", FD_CENTRAL, CASE_CENTRAL_HAS, 1, central_solver_f32},
    {"upwind, double", FD_UPWIND, CASE_UPWIND_HAS, 0, upwind_solver_f64},
    {"upwind, single", FD_UPWIND, CASE_UPWIND_HAS, 1, upwind_solver_f32},
    {"fitted, double", FD_FITTED, CASE_FITTED_HAS, 0, fitted_solver_f64},
    {"fitted, single", FD_FITTED, CASE_FITTED_HAS, 1, fitted_solver_f32},
    {"alone, double", FD_UPWIND, CASE_ALONE, 0, alone_solver_f64},
    {"alone, single", FD_UPWIND, CASE_ALONE, 1, alone_solver_f32},
};

static void random_problems(void)
{
    case_random random = {SEED};
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++) {
        const case_runner *runner = &runners[r];
        for (int k = check_short() ? 6 : 0; k < 10; k++)
            case_random_batch(runner, &random, 8, 12, 10, CASE_ANY, case_tolerance(runner));
        for (int k = check_short() ? 2 : 0; k < 3; k++)
            case_random_batch(runner, &random, 2, 40, 50, CASE_ANY, case_tolerance(runner));
        if (runner->has & CASE_MIXES) continue;
        for (int k = check_short() ? 4 : 0; k < 6; k++)
            case_random_batch(runner, &random, 6, 12, 36, CASE_PRODUCT, case_tolerance(runner));
    }
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

/* Checks that workers who share problems, stages and products, with more and with fewer groups of lines than workers,
   compute the numbers of a single worker, to the bit. */
static void shared_problems(void)
{
    enum { PROBLEMS = 4 };
    static case_problem c[PROBLEMS];
    case_random random = {SEED + 1};
    for (int k = 0; k < 8; k++) {
        const case_runner *runner = &runners[k % 2 ? 2 : 0];
        const int most = k < 4 ? 100 : 12, workers = 2 + k % 4, like = k % 2 ? CASE_PRODUCT : CASE_ANY;
        const int kind = k % 2 ? ADI2D_PRODUCTS : ADI2D_TWO_STAGES;
        case_batch one = case_batch_of(PROBLEMS, most, most, CASE_STEPS, CASE_DATES, kind, 0);
        case_batch all = case_batch_of(PROBLEMS, most, most, CASE_STEPS, CASE_DATES, kind, 0);
        for (int m = 0; m < PROBLEMS; m++) {
            case_random_problem(runner, &random, most, most, like, &c[m]);
            case_put(&one, m, &c[m]), case_put(&all, m, &c[m]);
        }
        CHECK(!runner->solve(&one.batch, one.parameters), "shared problems");
        by_threads(k % 2 ? upwind_host_worker_f64 : central_host_worker_f64, &all.batch, all.parameters,
                   k % 2 ? upwind_host_bytes_f64(&all.batch, workers) : central_host_bytes_f64(&all.batch, workers),
                   workers);
        for (int m = 0; m < PROBLEMS; m++)
            CHECK(case_same_bits(&one, m, &all, m), "problem %d shared by %d, like %d: %d", m, workers, like,
                  all.batch.status[m].what);
        case_batch_free(&one, "shared problems"), case_batch_free(&all, "shared problems");
    }
}

/* ---- Black and Scholes, with an idle second coordinate ----------------------------------------------------------- */

typedef struct {
    double strike, rate, sigma, maturity, barrier;
    double coupon; /* paid continuously */
} black_parameters;

FD_NUMBERS(black, x, drift, diffusion)
FD_HD void black_of_x(const black_parameters *p, double at, black_x_f64 *x)
{
    x->drift = p->rate * at, x->diffusion = p->sigma * p->sigma * at * at / 2;
}
FD_NO_NUMBERS(black, y)
FD_NO_NUMBERS(black, t)
FD_TERMS(2, black, terms->drift[0] = x->drift; terms->diffusion[0] = x->diffusion; terms->kill = (real)p->rate;
         terms->source = (real)p->coupon;)
enum { black_fitting = FD_CENTRAL };

FD_HD double black_payoff(const black_parameters *p, const double *at)
{
    return at[0] > p->strike ? at[0] - p->strike : 0;
}
/* Returns the value at a face: 0 at the lower one, what exercise pays at the upper one. */
FD_HD double black_face(const black_parameters *p, int axis, int side, const double *at, double t)
{
    (void)axis;
    return side ? at[0] - p->strike * exp(-p->rate * (p->maturity - t)) : 0;
}
FD_HD double black_change(const black_parameters *p, int date, const double *at, double value)
{
    (void)date;
    return at[0] < p->barrier ? value : 0;
}
#define FD_MODEL_FACE
#define FD_MODEL_CHANGE
#define FD_MODEL black
#include "../pde/adi2d.h"

/* Computes a call's price, delta and gamma. */
static double call(const black_parameters *p, double s, double maturity, double *greek)
{
    if (!(s > 0)) return 0;
    double root = p->sigma * sqrt(maturity);
    double d = (log(s / p->strike) + (p->rate + p->sigma * p->sigma / 2) * maturity) / root;
    double delta = 0.5 * erfc(-d / sqrt(2.0)), gamma = exp(-d * d / 2) / sqrt(8 * atan(1.0)) / (s * root);
    if (greek) greek[0] = delta, greek[1] = gamma;
    return s * delta - p->strike * exp(-p->rate * maturity) * 0.5 * erfc(-(d - root) / sqrt(2.0));
}

enum { PLAIN, KNOCKED_OUT, WATCHED, PROPORTION, CASH, RIGHTS, ESCAPED };

/* Returns today's value of what a call is worth at time t, by Simpson's rule: after a dividend, or exercised just
   before it where that is worth more (ESCAPED), or 0 from the barrier on. */
static double call_later(const black_parameters *p, double s, double t, int right, double cash)
{
    enum { PIECES = 8000 };
    /* The barrier is an end of the range, so that nothing jumps within it. */
    double low = -9, high = 9, sum = 0, root = p->sigma * sqrt(t),
           middle = log(s) + (p->rate - p->sigma * p->sigma / 2) * t;
    if (right == WATCHED) high = (log(p->barrier) - middle) / root;
    for (int k = 0; k <= PIECES; k++) {
        double z = low + k * (high - low) / PIECES, weight = k == 0 || k == PIECES ? 1 : k % 2 ? 4 : 2;
        double price = exp(middle + root * z), later = call(p, price - cash, p->maturity - t, NULL);
        sum += weight * exp(-z * z / 2) * (right == ESCAPED ? fmax(price - p->strike, later) : later);
    }
    return exp(-p->rate * t) * sum * (high - low) / (3 * PIECES) / sqrt(8 * atan(1.0));
}

static void closed_formulas(void)
{
    enum { N = 240, STEPS = 100, MOST = STEPS + 16 };
    const black_parameters p = {100, 0.05, 0.2, 1, 120, 0};
    static fd_problem problem[RIGHTS];
    fd_status status[RIGHTS];
    fd_values values[RIGHTS][2];
    black_parameters parameters[RIGHTS];
    const double date[1] = {0.375}, cash = 4, share = 0.03, spot[2] = {103, 0.3};
    const fd_date at_date[RIGHTS] = {
        {FD_RECORD, 0, 0}, {0, 0, 0}, {FD_CHANGE_VALUES, 0, 0}, {FD_SHIFT, 0, share}, {FD_SHIFT, cash, 0}};
    for (int k = 0; k < RIGHTS; k++) {
        const fd_axis price = {k == KNOCKED_OUT ? 90 : 0, 400, N, 2, {100, 120, 0}, {30, 30, 0},
                               {FD_MIDWAY, FD_MIDWAY, 0}};
        const fd_axis idle = {0, 1, 5, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        const fd_times times = {p.maturity, STEPS, FD_EQUAL, 1, FD_THETA, 0.5, 4, 1, date, NULL};
        memset(&problem[k], 0, sizeof problem[k]);
        problem[k].axis[0] = price, problem[k].axis[1] = idle, problem[k].spot = spot;
        problem[k].times = times, problem[k].at_date = &at_date[k];
        problem[k].finals = FD_TOLD, problem[k].kinks = 1, problem[k].kink[0] = 100;
        if (k == KNOCKED_OUT) problem[k].face[0][0] = problem[k].face[0][1] = FD_VALUE;
        parameters[k] = p;
    }
    const fd_batch batch = {RIGHTS, {N, 5}, MOST, 1,      1, problem, status, values[0],
                            NULL,   {NULL}, ADI2D_ONE_STAGE};
    const size_t bytes = black_host_bytes_f64(&batch, 1);
    void *memory = case_guarded(bytes);
    CHECK(black_host_f64(&batch, parameters, 1, memory, bytes) == FD_OK, "closed formulas");
    case_release(memory, bytes);
    for (int k = 0; k < RIGHTS; k++)
        if (!CHECK(!status[k].what, "right %d: %s", k, adi2d_status_string(status[k].what))) return;
    /* Tolerances are the errors seen with 240 points and 100 steps, scaled by second order, and a third more. */
    const double s = 103;
    double greek[2], want = call(&p, s, 1, greek);
    check_near(values[PLAIN][0].value, want, 1e-3, "a call");
    check_near(values[PLAIN][0].first[0], greek[0], 3e-5, "its delta");
    check_near(values[PLAIN][0].second[0], greek[1], 3e-6, "its gamma");
    check_near(values[PLAIN][0].first[1], 0, 1e-9, "what does not depend on y");
    check_near(values[PLAIN][0].second[1], 0, 1e-8, "what does not depend on y");
    check_near(values[PLAIN][0].mixed[0], 0, 1e-9, "what does not depend on y");
    want = call(&p, s, p.maturity - date[0], greek);
    check_near(values[PLAIN][1].value, want, 1e-3, "a call, earlier");
    check_near(values[PLAIN][1].first[0], greek[0], 3e-5, "its delta");
    check_near(values[PLAIN][1].second[0], greek[1], 1e-5, "its gamma");
    const double low = 90, image = low * low / s;
    want = call(&p, s, 1, NULL) - pow(low / s, 2 * p.rate / (p.sigma * p.sigma) - 1) * call(&p, image, 1, NULL);
    check_near(values[KNOCKED_OUT][0].value, want, 1e-3, "a call knocked out at the face");
    want = call_later(&p, s, date[0], WATCHED, 0);
    check_near(values[WATCHED][0].value, want, 2e-3, "a call knocked out on a date");
    want = call(&p, s * (1 - share), 1, NULL);
    check_near(values[PROPORTION][0].value, want, 1e-3, "a call with a proportional dividend");
    want = call_later(&p, s, date[0], CASH, cash);
    check_near(values[CASH][0].value, want, 1e-3, "a call with a dividend in cash");
}

/* Returns the value of a call at a spot, with a kind of exercise and an event at one date. */
static double black_value(const black_parameters *p, int steps, int scheme, int exercise, double date, fd_date at_date,
                          double at)
{
    enum { N = 240 };
    const fd_axis price = {0, 400, N, 2, {100, 120, 0}, {30, 30, 0}, {FD_MIDWAY, FD_MIDWAY, 0}};
    const fd_axis idle = {0, 1, 4, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, 0.5, 4, 1, &date, NULL};
    const double spot[2] = {at, 0.3};
    fd_problem problem;
    fd_status status = fd_status_of(-99, 0, 0, 0, 0, 0, 0);
    fd_values values[2];
    memset(&problem, 0, sizeof problem), memset(values, 0, sizeof values);
    problem.axis[0] = price, problem.axis[1] = idle, problem.spot = spot, problem.scheme = scheme;
    problem.times = times, problem.at_date = &at_date, problem.exercise = exercise;
    problem.finals = FD_TOLD, problem.kinks = 1, problem.kink[0] = 100;
    const int kind = scheme == FD_DOUGLAS ? ADI2D_ONE_STAGE : ADI2D_TWO_STAGES;
    const fd_batch batch = {1, {N, 4}, steps + 16, 1, 1, &problem, &status, values, NULL, {NULL}, kind};
    void *memory = case_guarded(black_host_bytes_f64(&batch, 1));
    CHECK(black_host_f64(&batch, p, 1, memory, black_host_bytes_f64(&batch, 1)) == FD_OK && !status.what, "a call: %s",
          adi2d_status_string(status.what));
    case_release(memory, black_host_bytes_f64(&batch, 1));
    return values[0].value;
}

/* Checks that a call without a continuous dividend is exercised just before a cash dividend, if at all. */
static void exercise_at_dates(void)
{
    const black_parameters p = {100, 0.05, 0.2, 1, 120, 0};
    const fd_date cash = {FD_SHIFT, 8, 0}, watched = {FD_CHANGE_VALUES, 0, 0};
    const fd_date right = {FD_CHANGE_VALUES + FD_EXERCISE, 0, 0};
    const double want = call_later(&p, 103, 0.375, ESCAPED, 8);
    for (int kind = FD_AMERICAN; kind <= FD_PROJECTED; kind++) {
        double value[3];
        for (int k = 0; k < 3; k++) value[k] = black_value(&p, 32 << k, FD_DOUGLAS, kind, 0.375, cash, 103);
        check_near(value[2], want, 1e-3, "an American call with a dividend in cash, kind %d", kind);
        check_near((value[1] - value[0]) / (value[2] - value[1]), 4, 1, "its second order in time, kind %d", kind);
        check_near(black_value(&p, 8, FD_DOUGLAS, kind, 0, cash, 150), 50, 1e-9, "exercised today, kind %d", kind);
        check_near(black_value(&p, 8, FD_DOUGLAS, kind, 0, watched, 150), 50, 1e-9,
                   "exercised before the barrier, kind %d", kind);
    }
    check_near(black_value(&p, 8, FD_DOUGLAS, FD_EUROPEAN, 0, watched, 150), 0, 1e-9, "knocked out");
    check_near(black_value(&p, 8, FD_DOUGLAS, FD_EUROPEAN, 0, right, 150), 50, 1e-9,
               "exercised before the barrier by right");
}

/* Checks that a constant source adds what it has paid: the whole sum, to within rounding, if nothing is discounted. */
static void coupons(void)
{
    const fd_date nothing = {0, 0, 0};
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++)
        for (int discounted = 0; discounted < 2; discounted++) {
            black_parameters p = {100, discounted ? 0.05 : 0, 0.2, 1, 120, 0};
            const double without = black_value(&p, 64, scheme, FD_EUROPEAN, 0.375, nothing, 103);
            p.coupon = 3;
            const double more = black_value(&p, 64, scheme, FD_EUROPEAN, 0.375, nothing, 103) - without;
            check_near(more, discounted ? 3 * (1 - exp(-0.05)) / 0.05 : 3, discounted ? 1e-4 : 1e-10,
                       "a coupon, scheme %d, discounted %d", scheme, discounted);
        }
}

/* ---- a source that is paid for some time ------------------------------------------------------------------------- */

typedef struct {
    double coupon;
} paid_parameters;

FD_NO_NUMBERS(paid, x)
FD_NO_NUMBERS(paid, y)
FD_NUMBERS(paid, t, coupon)
FD_HD void paid_of_t(const paid_parameters *p, double at, paid_t_f64 *t)
{
    t->coupon = at > 0.625 && at < 0.875 ? p->coupon : 0;
}
FD_TERMS(2, paid, terms->source = t->coupon;)
enum { paid_fitting = FD_CENTRAL };
FD_HD double paid_payoff(const paid_parameters *p, const double *at)
{
    (void)p;
    return at[0];
}
#define FD_MODEL paid
#include "../pde/adi2d.h"

/* Checks that a step with a source is no product, though the source is 0 at the start, in the middle and at the end of
   the march. If nothing moves, the source adds what it pays. */
static void paid_coupon(void)
{
    const paid_parameters p = {8};
    const fd_axis axis = {0, 1, 6, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const fd_times times = {1, 64, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, NULL, NULL};
    const double spot[2] = {0.5, 0.5};
    for (int kind = ADI2D_ONE_STAGE; kind <= ADI2D_PRODUCTS; kind++) {
        fd_problem q;
        fd_batch b;
        fd_status status;
        fd_values values;
        memset(&q, 0, sizeof q), memset(&b, 0, sizeof b);
        q.axis[0] = q.axis[1] = axis, q.times = times, q.coefficients = FD_MIDDLE, q.spot = spot;
        b.problems = b.spots = 1, b.points[0] = b.points[1] = 6, b.steps = 64, b.kind = kind;
        b.problem = &q, b.status = &status, b.values = &values;
        const size_t bytes = paid_host_bytes_f64(&b, 1);
        void *memory = case_guarded(bytes);
        CHECK(paid_host_f64(&b, &p, 1, memory, bytes) == FD_OK, "a paid coupon");
        if (kind == ADI2D_PRODUCTS)
            CHECK(status.what == ADI2D_NO_PRODUCT && status.step == 8, "a paid coupon: %d, step %d", status.what,
                  status.step);
        else
            check_near(values.value, 0.5 + 8 * 0.25, 1e-13, "a paid coupon");
        CHECK(case_release(memory, bytes), "a guard has been written");
    }
}

/* ---- a bonus at a few points, between the steps that are checked there ------------------------------------------- */

typedef struct {
    double bonus;
} bonus_parameters;

FD_NUMBERS(bonus, x, gets)
FD_HD void bonus_of_x(const bonus_parameters *p, double at, bonus_x_f64 *x)
{
    x->gets = at > 0.1 && at < 0.3 ? p->bonus : 0;
}
FD_NUMBERS(bonus, y, gets)
FD_HD void bonus_of_y(const bonus_parameters *p, double at, bonus_y_f64 *y)
{
    (void)p;
    y->gets = at > 0.1 && at < 0.3;
}
FD_NUMBERS(bonus, t, pays)
FD_HD void bonus_of_t(const bonus_parameters *p, double at, bonus_t_f64 *t)
{
    (void)p;
    t->pays = at > 0.75 && at < 0.875;
}
FD_TERMS(2, bonus, terms->source = t->pays * x->gets * y->gets;)
enum { bonus_fitting = FD_CENTRAL };
FD_HD double bonus_payoff(const bonus_parameters *p, const double *at)
{
    (void)p;
    return at[0];
}
#define FD_MODEL bonus
#include "../pde/adi2d.h"

/* Checks that a model with a source has no products that the caller does not promise: at point (1, 1), the only one
   that gets the source, no check looks while it is paid. If nothing moves, the source adds what it pays. */
static void bonuses(void)
{
    const bonus_parameters p = {8};
    const fd_axis axis = {0, 1, 6, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const fd_times times = {1, 64, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, NULL, NULL};
    double grid[36];
    for (int kind = ADI2D_TWO_STAGES; kind <= ADI2D_ONE_STAGE; kind++) {
        fd_problem q;
        fd_batch b;
        fd_status status;
        memset(&q, 0, sizeof q), memset(&b, 0, sizeof b);
        q.axis[0] = q.axis[1] = axis, q.times = times, q.coefficients = FD_MIDDLE;
        b.problems = 1, b.points[0] = b.points[1] = 6, b.steps = 64, b.kind = kind;
        b.problem = &q, b.status = &status, b.grid = grid;
        const size_t bytes = bonus_host_bytes_f64(&b, 1);
        void *memory = case_guarded(bytes);
        CHECK(bonus_host_f64(&b, &p, 1, memory, bytes) == FD_OK && !status.what, "a bonus: %d", status.what);
        for (int at = 0; at < 36; at++)
            check_near(grid[at], 0.2 * (at % 6) + (at == 7), 1e-13, "a bonus, kind %d, point %d", kind, at);
        CHECK(case_release(memory, bytes), "a guard has been written");
    }
}

/* ---- a drift that blows out of a face between the steps that are checked ----------------------------------------- */

typedef struct {
    double most;
} gust_parameters;

FD_NO_NUMBERS(gust, x)
FD_NUMBERS(gust, y, drift)
FD_HD void gust_of_y(const gust_parameters *p, double at, gust_y_f64 *y)
{
    y->drift = -4 * p->most * at * (1 - at);
}
FD_NUMBERS(gust, t, blows)
FD_HD void gust_of_t(const gust_parameters *p, double at, gust_t_f64 *t)
{
    (void)p;
    t->blows = at > 0.1 && at < 0.9;
}
FD_TERMS(2, gust, terms->drift[0] = y->drift * t->blows; terms->diffusion[0] = (real)0.5;)
enum { gust_fitting = FD_CENTRAL };
FD_HD double gust_payoff(const gust_parameters *p, const double *at)
{
    (void)p;
    return at[0];
}
#define FD_MODEL gust
#include "../pde/adi2d.h"

/* Checks products whose rows at the first face of x are not dominant, between the checked steps and away from the five
   points of adi2d_p_terms_allow. They keep all couplings, so that the value x at maturity moves with the drift, exactly
   but for rounding. Without the couplings it would be off by 0.8. */
static void gusts(void)
{
    enum { points = 33, steps = 20 };
    static double grid[points * points];
    const gust_parameters p = {1};
    const fd_axis axis = {0, 1, points, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, NULL, NULL};
    for (int kind = ADI2D_ONE_STAGE; kind <= ADI2D_PRODUCTS; kind++) {
        fd_problem q;
        fd_batch b;
        fd_status status;
        double worst = 0;
        memset(&q, 0, sizeof q), memset(&b, 0, sizeof b);
        q.axis[0] = q.axis[1] = axis, q.times = times, q.coefficients = FD_MIDDLE;
        b.problems = 1, b.points[0] = b.points[1] = points, b.steps = steps, b.kind = kind;
        b.problem = &q, b.status = &status, b.grid = grid;
        const size_t bytes = gust_host_bytes_f64(&b, 1);
        void *memory = case_guarded(bytes);
        CHECK(gust_host_f64(&b, &p, 1, memory, bytes) == FD_OK && !status.what, "gusts: %d", status.what);
        for (int at = 0; at < points * points; at++) {
            const double x = (double)(at % points) / (points - 1), y = (double)(at / points) / (points - 1);
            const double off = fabs(grid[at] - (x - 4 * p.most * y * (1 - y) * 0.8));
            if (!(off <= worst)) worst = off;
        }
        check_near(worst, 0, 1e-12, "gusts");
        CHECK(case_release(memory, bytes), "a guard has been written");
    }
}

/* ---- a right that waits for its best time ------------------------------------------------------------------------ */

typedef struct {
    double most;
} waiting_parameters;

FD_NO_NUMBERS(waiting, x)
FD_NO_NUMBERS(waiting, y)
FD_NO_NUMBERS(waiting, t)
FD_TERMS(2, waiting, terms->kill = 0;)
enum { waiting_fitting = FD_CENTRAL };
FD_HD double waiting_payoff(const waiting_parameters *p, const double *at)
{
    (void)p, (void)at;
    return 0;
}
FD_HD double waiting_exercise(const waiting_parameters *p, const double *at, double t)
{
    return p->most * (at[0] + 2 * at[1]) * 4 * t * (1 - t);
}
#define FD_MODEL_EXERCISE
#define FD_MODEL waiting
#include "../pde/adi2d.h"

/* Checks that if nothing moves, the value is what exercise pays at the best of the steps' times, at time 0 and at a
   date. */
static void best_times(void)
{
    const waiting_parameters p = {5};
    const fd_axis axis = {0, 1, 6, 0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const double spot[4] = {0.3, 0.6, 1, 0.25}, date[1] = {0.75};
    const fd_date at_date[1] = {{FD_RECORD, 0, 0}};
    for (int kind = FD_AMERICAN; kind <= FD_PROJECTED; kind++) {
        fd_problem problem;
        fd_status status;
        fd_values values[2][2];
        double grid[2][36];
        memset(&problem, 0, sizeof problem);
        memset(&status, -1, sizeof status);
        const fd_times times = {1, 8, FD_EQUAL, 1, FD_THETA, 0.5, 0, 1, date, NULL};
        problem.axis[0] = problem.axis[1] = axis, problem.times = times, problem.at_date = at_date;
        problem.exercise = kind, problem.spot = spot;
        const fd_batch batch = {1, {6, 6}, 8, 1, 2, &problem, &status, values[0], grid, {NULL}, ADI2D_ONE_STAGE};
        const size_t bytes = waiting_host_bytes_f64(&batch, 1);
        void *memory = case_guarded(bytes);
        CHECK(waiting_host_f64(&batch, &p, 1, memory, bytes) == FD_OK && !status.what, "a right: %s",
              adi2d_status_string(status.what));
        case_release(memory, bytes);
        for (int time = 0; time < 2; time++) {
            const double share = time ? 0.75 : 1; /* 4 t (1 - t) where it is largest */
            for (int s = 0; s < 2; s++)
                check_near(values[time][s].value, 5 * share * (spot[2 * s] + 2 * spot[2 * s + 1]), 1e-12,
                           "a right, kind %d, time %d, spot %d", kind, time, s);
            for (int at = 0; at < 36; at++)
                check_near(grid[time][at], 5 * share * (at % 6 + 2 * (at / 6)) / 5, 1e-12, "a right, kind %d, point %d",
                           kind, at);
        }
    }
}

/* ---- Heston ------------------------------------------------------------------------------------------------------ */

/* Solves one problem, and leaves its grids in grid, that of time 0 first. */
static fd_values heston_price(const fd_problem *problem, const heston_parameters *parameters, int steps, double *grid)
{
    fd_status status = fd_status_of(-99, 0, 0, 0, 0, 0, 0); /* what no call leaves */
    static fd_values values[16];
    const int points[2] = {problem->axis[0].points, problem->axis[1].points};
    const fd_batch batch = {1,       {points[0], points[1]}, steps, problem->times.dates, 1,
                            problem, &status,                values, grid,                {NULL},
                            ADI2D_TWO_STAGES};
    const size_t bytes = heston_host_bytes_f64(&batch, 1);
    void *memory = case_guarded(bytes);
    CHECK(heston_host_f64(&batch, parameters, 1, memory, bytes) == FD_OK && status.what == FD_OK, "Heston: %s",
          adi2d_status_string(status.what));
    CHECK(case_release(memory, bytes), "Heston: a guard has been written");
    return values[0];
}

/* Checks a call, whose price by the characteristic function is 8.894869360054. */
static void heston_call(void)
{
    const fd_axis price = {0, 300, 256, 1, {100, 0, 0}, {10, 0, 0}, {FD_MIDWAY, 0, 0}};
    const fd_axis variance = {0, 0.5, 128, 1, {0.04, 0, 0}, {0.2, 0, 0}, {FD_ON_NODE, 0, 0}};
    const fd_times times = {1, 64, FD_EQUAL, 1,   FD_THETA, fd_scheme_theta(FD_HUNDSDORFER_VERWER, 2, 1),
                            4, 0,  NULL,     NULL};
    const heston_parameters parameters = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0, 0};
    const double spot[2] = {100, 0.04};
    fd_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.axis[0] = price, problem.axis[1] = variance, problem.face[1][0] = FD_DEGENERATE;
    problem.times = times, problem.scheme = FD_HUNDSDORFER_VERWER, problem.spot = spot;
    problem.finals = FD_TOLD, problem.kinks = 1, problem.kink[0] = 100;
    check_near(heston_price(&problem, &parameters, 68, NULL).value / 8.894869360054, 1, 1e-4, "a Heston call");
}

/* Checks puts against Ikonen and Toivanen, Operator splitting methods for pricing American options under stochastic
   volatility (2008). */
static void heston_puts(void)
{
    enum { NX = 120, NY = 60, STEPS = 48, DATES = 3, GRIDS = sizeof(double) * NX * NY * (1 + DATES) };
    static const double price_of[2][5] = {{2.00000, 1.10763, 0.52004, 0.21368, 0.08205},
                                          {2.07837, 1.33364, 0.79598, 0.44828, 0.24281}};
    const fd_axis price = {0, 30, NX, 1, {10, 0, 0}, {3, 0, 0}, {FD_MIDWAY, 0, 0}};
    const fd_axis variance = {0, 2, NY, 1, {0.1, 0, 0}, {0.2, 0, 0}, {FD_ANYWHERE, 0, 0}};
    const heston_parameters parameters = {10, 5, 0.16, 0.9, 0.1, 0.1, 0, 1};
    const double date[DATES] = {0.0625, 0.125, 0.1875}, spot[2] = {10, 0.0625};
    fd_date at_date[DATES];
    for (int k = 0; k < DATES; k++) at_date[k].what = FD_EXERCISE, at_date[k].cash = at_date[k].proportion = 0;
    double *grid[4], x[2][NX];
    CHECK(!fd_axis_points(&price, x[0]) && !fd_axis_points(&variance, x[1]), "axes");
    for (int kind = FD_EUROPEAN; kind <= FD_PROJECTED + 1; kind++) { /* the last is Bermudan */
        const int bermudan = kind > FD_PROJECTED;
        const fd_times times = {
            0.25, STEPS, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(FD_HUNDSDORFER_VERWER, 2, 1), 4, bermudan ? DATES : 0,
            date, NULL};
        fd_problem problem;
        memset(&problem, 0, sizeof problem);
        problem.axis[0] = price, problem.axis[1] = variance, problem.face[1][0] = FD_DEGENERATE;
        problem.times = times, problem.at_date = at_date, problem.scheme = FD_HUNDSDORFER_VERWER;
        problem.finals = FD_TOLD, problem.kinks = 1, problem.kink[0] = 10;
        problem.exercise = bermudan ? FD_EUROPEAN : kind;
        problem.spot = spot;
        grid[kind] = (double *)case_guarded(GRIDS);
        heston_price(&problem, &parameters, STEPS + 16, grid[kind]);
    }
    for (int v = 0; v < 2; v++)
        for (int s = 0; s < 5; s++) {
            double value[4], weight[2][3][4];
            int first[2] = {case_cubic(NX, x[0], 8 + s, weight[0]), case_cubic(NY, x[1], v ? 0.25 : 0.0625, weight[1])};
            for (int kind = 0; kind < 4; kind++) {
                value[kind] = 0;
                for (int m = 0; m < 16; m++)
                    value[kind] += weight[0][0][m % 4] * weight[1][0][m / 4] *
                                   grid[kind][first[0] + m % 4 + NX * (first[1] + m / 4)];
            }
            check_near(value[FD_AMERICAN], price_of[v][s], 1e-3, "an American put at %d, %d", 8 + s, v);
            /* Of first order in time. */
            check_near(value[FD_PROJECTED], price_of[v][s], 3e-3, "the same, projected, at %d, %d", 8 + s, v);
            CHECK(value[FD_EUROPEAN] < value[3] - 1e-4 && value[3] < value[FD_AMERICAN] - 1e-4,
                  "a Bermudan put of %g between %g and %g", value[3], value[FD_EUROPEAN], value[FD_AMERICAN]);
        }
    for (int kind = 0; kind < 4; kind++) case_release(grid[kind], GRIDS);
}

/* ---- final values, and batches that are refused ------------------------------------------------------------------ */

/* Checks that a march over almost no time leaves the final values: averages over cells where kinks and jumps are
   found. */
static void final_values(void)
{
    static const int payoff[] = {CASE_CALL, CASE_DIGITAL, CASE_BASKET, CASE_WAVE};
    for (int finals = FD_AVERAGED_X; finals <= FD_AVERAGED; finals++)
        for (int k = 0; k < 4; k++) {
            static case_problem c;
            case_plain(&runners[0], &c);
            c.problem.finals = finals, c.parameters.payoff = payoff[k];
            c.problem.times.maturity = 1e-13, c.problem.times.dates = 0;
            if (payoff[k] == CASE_BASKET) c.parameters.strike = 1.4;
            case_batch b = case_batch_of(1, 6, 7, 10, 0, ADI2D_TWO_STAGES, 0);
            case_put(&b, 0, &c);
            CHECK(!central_solver_f64(&b.batch, b.parameters) && !b.batch.status[0].what, "final values");
            case_grid g;
            g.p = &c.parameters, g.problem = &c.problem, g.n[0] = 6, g.n[1] = 7;
            CHECK(!fd_axis_points(&c.problem.axis[0], g.x[0]) && !fd_axis_points(&c.problem.axis[1], g.x[1]), "axes");
            for (int at = 0; at < 42; at++) {
                const int i = at % 6, j = at / 6;
                double want = case_final(&g, i, j);
                if (finals == FD_AVERAGED && payoff[k] == CASE_BASKET) {
                    /* max(x + y - strike, 0) over a rectangle, from its integral's cubes. */
                    double low[2], high[2], sum = 0, range = 1;
                    for (int d = 0; d < 2; d++) {
                        const int m = d ? j : i, within = m > 0 && m < g.n[d] - 1;
                        low[d] = within ? (g.x[d][m] + g.x[d][m - 1]) / 2 : g.x[d][m];
                        high[d] = within ? (g.x[d][m] + g.x[d][m + 1]) / 2 : g.x[d][m] + 1e-3;
                        range *= high[d] - low[d];
                        if (!within) low[d] -= 1e-3, range *= 2; /* no extent: an average over a tiny one instead */
                    }
                    if (low[0] + low[1] < 1.4 && high[0] + high[1] > 1.4) {
                        for (int m = 0; m < 4; m++) {
                            double over = (m % 2 ? high[0] : low[0]) + (m / 2 ? high[1] : low[1]) - 1.4;
                            if (over > 0) sum += (m == 0 || m == 3 ? 1 : -1) * over * over * over / 6;
                        }
                        want = sum / range;
                    }
                }
                /* The tolerance of fd_average, and the effect of the tiny extent. */
                check_near(case_number(&b, 0, 0, i, j), want, finals == FD_AVERAGED ? 2e-6 : 1e-8,
                           "final value %d %d of payoff %d, finals %d", i, j, payoff[k], finals);
            }
            case_batch_free(&b, "final values");
        }
}

static void no_batches(void)
{
    static case_problem c;
    case_plain(&runners[0], &c);
    fd_status status = fd_status_of(-99, 0, 0, 0, 0, 0, 0); /* what no call leaves */
    fd_values values[3];
    const fd_batch good = {1, {11, 11, -7}, 10, 2, 1, &c.problem, &status, values, NULL, {NULL}, ADI2D_TWO_STAGES};
    const size_t bytes = central_host_bytes_f64(&good, 1);
    void *memory = case_guarded(bytes);
    CHECK(adi2d_check(&good) == FD_OK && bytes > 0, "a batch");
    CHECK(adi2d_check(NULL) == FD_BAD_ARGUMENT && central_host_bytes_f64(NULL, 1) == 0, "no batch");
    for (int k = 0; k < 17; k++) {
        fd_batch b = good;
        int *const number[] = {&b.problems, &b.points[0], &b.points[0], &b.points[1], &b.points[1], &b.steps,
                               &b.steps,    &b.dates,     &b.dates,     &b.spots,     &b.kind,      &b.kind};
        static const int bad[] = {-1, 3,  32769, 3, 32769, 0, (1 << 28) + 1, -1, (1 << 28) + 1,
                                  -1, -1, ADI2D_PRODUCTS + 1};
        int want = k < 10 ? FD_BAD_SIZE : k < 12 ? ADI2D_BAD_KIND : FD_BAD_ARGUMENT;
        if (k < 12) *number[k] = bad[k];
        if (k == 12) b.problem = NULL;
        if (k == 13) b.status = NULL;
        if (k == 14) b.values = NULL;
        if (k == 15) b.values = NULL, b.spots = 0;
        if (k > 14) want = FD_OK;
        CHECK(adi2d_check(&b) == want, "batch %d: %d instead of %d", k, adi2d_check(&b), want);
        /* The bytes can be asked for before the pointers are set. */
        CHECK((central_host_bytes_f64(&b, 1) > 0) == (k >= 12), "bytes of batch %d", k);
        CHECK((central_host_bytes_f32(&b, 1) > 0) == (k >= 12), "bytes of batch %d", k);
        if (!want) continue;
        /* If there is a status, and the number of problems is valid, the status says so too. */
        const int told = b.status && b.problems == 1;
        CHECK(central_host_f64(&b, &c.parameters, 1, memory, bytes) == want, "host with batch %d", k);
        CHECK(!told || (status.what == want && status.axis == (k > 0 && k < 5 ? (k - 1) / 2 : -1)),
              "status of batch %d: %d, axis %d", k, status.what, status.axis);
        const int wrong = central_host_problems_f64(&b, &c.parameters, 0, 1, memory, bytes);
        CHECK(wrong == (b.problems < 1 ? FD_BAD_SIZE : want), "problems of batch %d: %d", k, wrong);
    }
    CHECK(central_host_f64(&good, &c.parameters, 1, (char *)memory + 8, bytes) == FD_BAD_ARGUMENT &&
              central_host_problems_f64(&good, &c.parameters, 0, 1, (char *)memory + 1, bytes) == FD_BAD_ARGUMENT,
          "memory off its alignment");
    for (int k = 0; k < 7; k++) {
        /* A call that is refused leaves a status, and no numbers. */
        const case_parameters *p = k % 3 == 0 ? NULL : &c.parameters;
        void *m = k % 3 == 1 ? NULL : memory;
        const size_t room = k % 3 == 2 ? bytes - 1 : bytes;
        const int want = k == 6 ? FD_BAD_SIZE : k % 3 == 2 ? FD_NO_ROOM : FD_BAD_ARGUMENT;
        memset(values, 0, sizeof values), status.what = FD_OK;
        const int what = k == 6  ? central_host_f64(&good, &c.parameters, 0, memory, bytes)
                         : k < 3 ? central_host_f64(&good, p, 1, m, room)
                                 : central_host_problems_f64(&good, p, 0, 1, m, room);
        CHECK(what == want && status.what == want, "refused %d: %d, status %d", k, what, status.what);
        for (int m = 0; m < 3; m++)
            CHECK(isnan(values[m].value) && isnan(values[m].second[1]), "refused %d: a value", k);
    }
    memset(&status, CASE_FILL, sizeof status);
    CHECK(central_host_problems_f64(&good, &c.parameters, -1, 1, memory, bytes) == FD_BAD_SIZE, "a range");
    CHECK(central_host_problems_f64(&good, &c.parameters, 0, 2, memory, bytes) == FD_BAD_SIZE, "a range");
    CHECK(central_host_problems_f64(&good, NULL, 1, 1, NULL, 0) == FD_OK, "an empty range");
    const fd_batch none = {0, {4, 4}, 1, 0, 0, NULL, NULL, NULL, NULL, {NULL}, ADI2D_TWO_STAGES};
    CHECK(central_host_f64(&none, NULL, 1, NULL, 0) == FD_OK, "a batch of 0");
    CHECK(case_untouched(&status, sizeof status) && case_untouched(memory, bytes), "something was done");
    CHECK(central_host_f64(&good, &c.parameters, 1, memory, bytes) == FD_OK && status.what == FD_OK, "the good one");
    CHECK(case_release(memory, bytes), "a guard has been written");
}

/* Checks that a march with theta 0 is the march with the scheme's own theta. */
static void zero_theta(void)
{
    static case_problem c;
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++) {
        case_batch b = case_batch_of(2, 11, 11, 10, 2, ADI2D_TWO_STAGES, 0);
        for (int k = 0; k < 2; k++) {
            case_plain(&runners[0], &c), c.problem.scheme = scheme;
            c.problem.times.theta = k ? fd_scheme_theta(scheme, 2, 1) : 0;
            case_put(&b, k, &c);
        }
        CHECK(!central_solver_f64(&b.batch, b.parameters) && !b.batch.status[0].what, "theta 0, scheme %d", scheme);
        CHECK(case_same_bits(&b, 0, &b, 1), "theta 0, scheme %d: %g", scheme, case_values_of(&b, 0, 0)->value);
        case_batch_free(&b, "theta 0");
    }
}

/* Checks that a strike of NaN gives no price. */
static void bad_strikes(void)
{
    for (int put = 0; put < 2; put++) {
        const heston_parameters p = {sqrt(-1.0), 1.5, 0.04, 0.3, -0.9, 0.025, 0.01, put};
        static case_problem c;
        fd_status status;
        fd_values values;
        case_plain(&runners[0], &c), c.problem.times.dates = 0, c.problem.finals = FD_AT_POINTS;
        const fd_batch batch = {1, {11, 11}, 10, 0, 1, &c.problem, &status, &values, NULL, {NULL}, ADI2D_TWO_STAGES};
        const size_t bytes = heston_host_bytes_f64(&batch, 1);
        void *memory = case_guarded(bytes);
        CHECK(heston_host_f64(&batch, &p, 1, memory, bytes) == FD_OK, "a strike that is NaN");
        CHECK(status.what == FD_FINAL_NAN && isnan(values.value), "a strike that is NaN: %d, %g", status.what,
              values.value);
        case_release(memory, bytes);
    }
}

/* Checks that explicit marches with too few steps are refused, and that with as many steps as the refusal asks for
   nothing grows by more than the factor of e that is allowed. Drifts point inward at the faces, which are FD_LINEAR. */
static void explicit_marches(void)
{
    case_random random = {SEED};
    static case_problem c;
    const case_runner *by[3] = {&runners[0], &runners[2], &runners[4]};
    int refused = 0;
    for (int k = 0; k < 30; k++) {
        case_plain(by[k % 3], &c);
        fd_problem *q = &c.problem;
        const fd_times times = {case_between(&random, 0.1, 2),
                                1,
                                case_below(&random, 2) ? FD_EQUAL : FD_QUADRATIC,
                                1,
                                FD_EXPLICIT,
                                0,
                                0,
                                0,
                                NULL,
                                NULL};
        q->times = times, c.parameters.payoff = CASE_WAVE, c.parameters.change = 0, q->finals = FD_AT_POINTS;
        for (int d = 0; d < 2; d++) {
            c.parameters.drift[d] = 0, c.parameters.pull[d] = case_between(&random, 0, 8);
            c.parameters.diffusion[d] = case_below(&random, 3) ? case_between(&random, 0, 0.3) : 1e-9;
        }
        c.parameters.mixed =
            case_between(&random, -1.6, 1.6) * sqrt(c.parameters.diffusion[0] * c.parameters.diffusion[1]);
        case_batch b = case_batch_of(1, 6, 7, 3000, 0, ADI2D_TWO_STAGES, 0);
        case_put(&b, 0, &c);
        fd_status *status = b.batch.status;
        CHECK(!by[k % 3]->solve(&b.batch, b.parameters), "explicit");
        if (status->what == FD_UNSTABLE) {
            refused++;
            CHECK(isnan(case_values_of(&b, 0, 0)->value), "explicit, refused: a value");
            q->times.steps = status->detail, case_put(&b, 0, &c);
            CHECK(!by[k % 3]->solve(&b.batch, b.parameters), "explicit");
        }
        CHECK(status->what == FD_OK, "explicit %d: %d, detail %d", k, status->what, status->detail);
        double largest = 0;
        for (int at = 0; at < 42; at++) largest = fmax(largest, fabs(case_number(&b, 0, 0, at % 6, at / 6)));
        CHECK(largest <= 1.4 * 2.72, "explicit %d, %s, %d steps: %g", k, by[k % 3]->name,
              q->times.steps, largest);
        case_batch_free(&b, "explicit");
    }
    CHECK(refused > 15, "only %d explicit marches refused", refused);
}

/* Checks that if a step is not of the kind that the batch declares, the status names the step. */
static void kinds(void)
{
    static case_problem c;
    for (int k = 0; k < 10; k++) {
        case_plain(&runners[2], &c);
        fd_problem *q = &c.problem;
        q->scheme = FD_DOUGLAS, q->coefficients = FD_MIDDLE, q->times.halves = 0;
        int what = ADI2D_NO_PRODUCT, step = 0, kind = ADI2D_PRODUCTS;
        if (k == 0) what = FD_OK, step = -1;
        if (k == 1) q->times.halves = 2;
        if (k == 2) q->times.theta = 0.6;
        if (k == 3) q->face[1][1] = FD_SLOPE;
        if (k == 4) q->coefficients = FD_BOTH_ENDS;
        if (k == 5) q->exercise = FD_PROJECTED;
        if (k == 6) q->scheme = FD_CRAIG_SNEYD;
        if (k == 7) c.parameters.drift[0] = -20; /* outwards at the first face */
        if (k == 8) c.parameters.source = 0.1;
        if (k == 9) q->scheme = FD_CRAIG_SNEYD, kind = ADI2D_ONE_STAGE, what = ADI2D_TWO_STAGED;
        case_batch b = case_batch_of(1, 6, 7, 10, 2, kind, 0);
        case_put(&b, 0, &c);
        CHECK(!upwind_solver_f64(&b.batch, b.parameters), "kinds");
        const fd_status s = b.batch.status[0];
        CHECK(s.what == what && s.step == step && s.i == -1 && s.j == -1, "kind %d: %d in step %d", k, s.what, s.step);
        CHECK((s.not_dominant > 0) == (k == 7), "kind %d: %d not_dominant rows", k, s.not_dominant);
        /* A model with a mixed term has no products. */
        if (k == 0) CHECK(!central_solver_f64(&b.batch, b.parameters), "kinds");
        if (k == 0) CHECK(b.batch.status[0].what == ADI2D_NO_PRODUCT, "kinds: %d", b.batch.status[0].what);
        case_batch_free(&b, "kinds");
    }
}

/* Checks a problem whose rows are dominant in the short first and last step, but not in the long ones between. None of
   its steps is a product. */
static void long_steps(void)
{
    static case_problem c;
    fd_problem *q = &c.problem;
    case_plain(&runners[2], &c);
    q->scheme = FD_DOUGLAS, q->coefficients = FD_MIDDLE, q->times.halves = 0, q->times.steps = 3;
    c.date[0] = 0.02, c.date[1] = 0.23, q->at_date = NULL;
    q->finals = FD_AT_POINTS, c.parameters.payoff = CASE_WAVE;
    c.parameters.drift[0] = -4; /* outwards at the first face */
    for (int kind = ADI2D_ONE_STAGE; kind <= ADI2D_PRODUCTS; kind++) {
        const int what = kind == ADI2D_PRODUCTS ? ADI2D_NO_PRODUCT : FD_OK;
        case_batch b = case_batch_of(1, 6, 7, 10, 2, kind, 0);
        case_put(&b, 0, &c);
        CHECK(!upwind_solver_f64(&b.batch, b.parameters), "long steps");
        CHECK(b.batch.status[0].what == what && b.batch.status[0].not_dominant == 0, "long steps: %d, %d not_dominant",
              b.batch.status[0].what, b.batch.status[0].not_dominant);
        if (!what) case_compare(&runners[2], &b, 0, 1e-12);
        case_batch_free(&b, "long steps");
    }
}

/* Checks the texts of statuses; those of pde/fd.h are tested by test_fd_host.c. */
static void words(void)
{
    for (int what = FD_NOT_SOLVED; what <= FD_OK; what++)
        CHECK(!strcmp(adi2d_status_string(what), fd_status_string(what)), "the words of %d", what);
    for (int what = ADI2D_BAD_KIND; what <= ADI2D_NO_PRODUCT; what++)
        CHECK(strcmp(adi2d_status_string(what), fd_status_string(what)), "the words of %d", what);
}

int main(void)
{
    printf("seed %d\n", SEED);
    random_problems();
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++) {
        if (!(runners[r].has & CASE_ALONE)) case_statuses(&runners[r]);
        case_declarations(&runners[r]);
        case_spots(&runners[r]);
    }
    final_values();
    no_batches();
    zero_theta();
    bad_strikes();
    explicit_marches();
    kinds();
    long_steps();
    shared_problems();
    words();
    closed_formulas();
    exercise_at_dates();
    coupons();
    paid_coupon();
    bonuses();
    gusts();
    best_times();
    if (check_short())
        check_skip(2, "Heston's prices: SHORT_TESTS is set");
    else
        heston_call(), heston_puts();
    return check_report();
}
