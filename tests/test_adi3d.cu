/* test_adi3d.cu - pde/adi3d.h on the device: random problems against a plain march, grids of all shapes that the
   kernels have against the host's march, and invalid problems.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). test_adi3d_host.c tells whether
   the host is right. */
#include "adi3d_cases.h"
#include "device_memory.h"

#include <algorithm>

enum { SEED = 20251124 };

/* Checks that no pointer of a problem, by which a kernel would read host memory, has been copied to the device. */
static void no_host_pointers(const device_memory &memory, const fd_batch *batch)
{
    std::vector<const void *> words(memory.bytes / sizeof(void *) + 1);
    CHECK(memory.back(words.data()), "a guard of device memory has been written");
    for (int k = 0; k < batch->problems && batch->problem; k++) {
        const fd_problem *q = &batch->problem[k];
        const void *const host[7] = {q->points[0],  q->points[1], q->points[2], q->times.date,
                                     q->times.kink, q->at_date,   q->spot};
        for (int p = 0; p < 7; p++)
            CHECK(!host[p] || std::find(words.begin(), words.end(), host[p]) == words.end(),
                  "problem %d: kernels have a pointer to host memory, number %d", k, p);
    }
}

/* Solves a batch in device memory of exactly the bytes that the launch asks for, full of NaN, between guards, and
   checks the guards. */
#define SOLVER(model, precision)                                                                                       \
    static int model##_solver##precision(const fd_batch *batch, const case_parameters *parameters)                     \
    {                                                                                                                  \
        const size_t bytes = model##_device_bytes##precision<>(batch);                                                 \
        device_memory memory(bytes);                                                                                   \
        const int call = model##_device##precision<>(batch, parameters, memory.data(), bytes, 0);                      \
        no_host_pointers(memory, batch);                                                                               \
        return call;                                                                                                   \
    }

/* One text makes two programs with half of the instances each, since each instance takes compilers long. This one has
   coefficients of every kind in single precision, and independent axes in double. test_adi3d_others.cu has them the
   other way round, and also upwind and fitted drifts, which differ only in the rows of pde/fd.h. */
#ifndef TEST_ADI3D_OTHERS
#define CENTRAL(name) central##name##_f32
#define APART(name) apart##name##_f64
SOLVER(central, _f32)
SOLVER(apart, _f64)
typedef float central_real;
typedef double apart_real;
#else
#define CENTRAL(name) central##name##_f64
#define APART(name) apart##name##_f32
SOLVER(central, _f64)
SOLVER(apart, _f32)
typedef double central_real;
typedef float apart_real;
#ifndef __CUDACC__ /* nvcc takes minutes for each */
SOLVER(upwind, _f32)
SOLVER(fitted, _f64)
#endif
#endif

static const case_runner runners[] = {
    {"central", sizeof(central_real) == 4, FD_CENTRAL, 7, 1, 0, 0, CENTRAL(_solver)},
    {"apart", sizeof(apart_real) == 4, FD_CENTRAL, 7, 1, 1, 0, APART(_solver)},
#if defined TEST_ADI3D_OTHERS && !defined __CUDACC__
    {"upwind, single", 1, FD_UPWIND, 5, 1, 0, 1, upwind_solver_f32},
    {"fitted, double", 0, FD_FITTED, 2, 0, 0, 0, fitted_solver_f64},
#endif
};
enum { RUNNERS = sizeof runners / sizeof *runners };

/* Compares random problems with the plain march, to rounding, which unstable marches amplify. */
static void random_problems()
{
    static case_problem c;
    case_random random = {SEED};
    const int count = check_short() ? 6 : 80;
    for (int k = 0; k < count; k++) {
        const int long_axis = k % 8 == 0 ? case_below(&random, 3) : -1;
        const int most[3] = {long_axis == 0 ? CASE_MOST : 7, long_axis == 1 ? CASE_MOST : 7,
                             long_axis == 2 ? CASE_MOST : 7};
        case_random_problem(&random, most, &c);
        const case_runner *runner = &runners[k % RUNNERS];
        const int kink[CASE_DATES] = {k % 2, k / 2 % 2}; /* whether a Rannacher start follows a date */
        if (k % 3) c.problem.times.kink = kink;
        c.parameters.apart = runner->apart;
        case_compare(runner, &c, runner->single ? 3e-4 : 1e-11);
    }
    if (check_short()) check_skip(74, "random problems: SHORT_TESTS is set");
}

/* Tries each scheme and kind of coefficients on the smallest grids, with faces of each kind on every side. */
static void every_kind()
{
    static case_problem c;
    for (int k = 0; k < CASE_KINDS; k++) {
        if (check_short() && k % 5) continue;
        case_kind(k, &c);
        const case_runner *runner = &runners[k % 2 ? 0 : RUNNERS - 1];
        c.parameters.apart = runner->apart;
        case_compare(runner, &c, runner->single ? 3e-4 : 1e-12);
        c.parameters.apart = 1;
        if (!check_short() || k % 10 == 0) case_compare(&runners[1], &c, runners[1].single ? 3e-4 : 1e-12);
    }
    if (check_short()) check_skip(38, "kinds: SHORT_TESTS is set");
}

static int steps_told;
static void told(int step, int, void *context)
{
    steps_told = step;
    ++*(int *)context;
}

/* Solves a problem on a grid of any size by the device and by the host, and compares to within rounding. */
static void as_host(const char *name, int single, const case_problem *c, double tolerance,
                    int there(const fd_batch *, const case_parameters *), size_t host_bytes(const fd_batch *, int),
                    int host(const fd_batch *, const case_parameters *, int, void *, size_t))
{
    const fd_problem *q = &c->problem;
    const int points[3] = {q->axis[0].points, q->axis[1].points, q->axis[2].points};
    case_results due, got;
    case_results_for(c, single, points, &due), case_results_for(c, single, points, &got);
    const size_t bytes = host_bytes(&due.batch, 1);
    void *memory = malloc(bytes);
    const int call = host(&due.batch, &c->parameters, 1, memory, bytes) | there(&got.batch, &c->parameters);
    free(memory);
    CHECK(call == FD_OK && !due.status.what && !got.status.what, "%s: %s", name,
          fd_status_string(got.status.what ? got.status.what : due.status.what));
    CHECK(due.status.not_dominant == got.status.not_dominant, "%s: %d not_dominant rows instead of %d", name,
          got.status.not_dominant, due.status.not_dominant);
    double most;
    const double worst = case_apart(&due, &got, single, &most);
    CHECK(worst <= tolerance * most, "%s, %d x %d x %d, scheme %d, coefficients %d: off by %.2e, values to %.2e", name,
          points[0], points[1], points[2], q->scheme, q->coefficients, worst, most);
    check_near(got.batch.values[0].value, due.batch.values[0].value, tolerance * most * 4, "%s: the value", name);
    CHECK(case_results_free(&due) & case_results_free(&got), "%s: a guard has been written", name);
}

template <class R>
static double tolerance_of()
{
    return sizeof(R) == 4 ? 1e-4 : 1e-11;
}

/* Tests rows of every number of warps, and lines of every number of partitions, at their limits, with faces of all
   kinds. In the last two, where x is long, all steps are alike: their faces are those that allow it. */
static void sizes()
{
    static const int points[][3] = {{256, 4, 4},  {257, 4, 5}, {5, 129, 4}, {4, 5, 129}, {513, 4, 4},  {4, 257, 4},
                                    {17, 4, 257}, {4, 513, 4}, {4, 4, 513}, {512, 5, 4}, {1024, 4, 4}, {4, 1024, 4},
                                    {4, 4, 1024}, {33, 18, 9}, {600, 4, 5}, {300, 5, 4}};
    const int count = (int)(sizeof points / sizeof *points), steady_from = count - 2;
    for (int k = 0; k < count; k++) {
        if (check_short() && k % 5) continue;
        static case_problem c;
        fd_problem *q = &c.problem;
        case_plain(&c);
        c.parameters.change = k < steady_from && k % 3 == 0 ? 0.4 : 0, c.parameters.payoff = CASE_WAVE;
        c.parameters.source = 0.5;
        for (int d = 0; d < 3; d++) {
            q->axis[d].points = points[k][d], c.parameters.volatility[d] = 0.3;
            for (int side = 0; side < 2; side++) {
                q->face[d][side] = (k + d + side) % 4;
                if (k >= steady_from && q->face[d][side] == FD_SLOPE) q->face[d][side] = FD_LINEAR;
                c.parameters.vanish[d][side] = q->face[d][side] == FD_DEGENERATE;
            }
        }
        q->scheme = k % 4, q->times.theta = fd_scheme_theta(q->scheme, 3, 1), q->times.steps = 2, q->times.dates = 0;
        q->exercise = k % 3;
        for (int apart = 0; apart < 2; apart++) {
            if (check_short() && apart != k / 5 % 2) continue;
            c.parameters.apart = apart;
            if (apart)
                as_host("apart", sizeof(apart_real) == 4, &c, tolerance_of<apart_real>(), APART(_solver),
                        APART(_host_bytes), APART(_host));
            else
                as_host("central", sizeof(central_real) == 4, &c, tolerance_of<central_real>(), CENTRAL(_solver),
                        CENTRAL(_host_bytes), CENTRAL(_host));
        }
    }
    if (check_short()) check_skip(count - (count + 4) / 5, "sizes: SHORT_TESTS is set");
}

/* Tests steps whose solves along y and z change places, so that two sweeps suffice: with faces of every kind that allow
   this, as first and as only stages, with every exercise; with z of 4 points, of one partition, and of as many
   partitions as are allowed, full or not; and with y of each shape. Also tests far faces that do not allow it. */
static void sweeps()
{
    static const int points[][3] = {{9, 6, 4},   {33, 17, 7},  {256, 5, 16}, {7, 130, 9},
                                    {5, 257, 8}, {40, 12, 67}, {6, 4, 61},   {20, 9, 84}};
    const int count = (int)(sizeof points / sizeof *points);
    for (int k = 0; k < 2 * count; k++) {
        if (check_short() && k % 5) continue;
        static case_problem c;
        fd_problem *q = &c.problem;
        const int *n = points[k % count], far = k >= count && k % 3 == 0;
        case_plain(&c);
        c.parameters.change = 0, c.parameters.payoff = CASE_WAVE, c.parameters.source = 0.5, c.parameters.apart = 1;
        for (int d = 0; d < 3; d++) {
            q->axis[d].points = n[d], c.parameters.volatility[d] = 0.3;
            for (int side = 0; side < 2; side++) {
                const int kind = (k + d + side) % 3;
                q->face[d][side] = kind == 0                               ? FD_LINEAR
                                   : kind == 1                             ? FD_DEGENERATE
                                   : d == 0 || (far && (d ^ side ^ k) & 1) ? FD_VALUE
                                                                           : FD_LINEAR;
                if (d > 0 && side && !far && q->face[d][side] == FD_DEGENERATE) q->face[d][side] = FD_LINEAR;
                c.parameters.vanish[d][side] = q->face[d][side] == FD_DEGENERATE;
            }
        }
        q->scheme = k % 3 ? FD_DOUGLAS : k % 4, q->times.theta = fd_scheme_theta(q->scheme, 3, 1);
        q->times.steps = 3, q->times.dates = 0, q->exercise = k / 2 % 3;
        as_host("sweeps", sizeof(apart_real) == 4, &c, tolerance_of<apart_real>(), APART(_solver), APART(_host_bytes),
                APART(_host));
    }
    if (check_short()) check_skip(2 * count - (2 * count + 4) / 5, "sweeps: SHORT_TESTS is set");
}

/* Tests coefficients that change in the first steps and then stay constant: factors must be those of the step, whatever
   kernels the previous step took. */
static void rests()
{
    static const int kinds[] = {FD_LINEAR, FD_VALUE};
    for (int k = 0; k < 2; k++) {
        static case_problem c;
        case_plain(&c);
        c.parameters.payoff = CASE_WAVE, c.parameters.apart = 1, c.parameters.change = 0.5, c.parameters.rests = 0.125;
        c.problem.times.steps = 4, c.problem.times.dates = 0, c.problem.coefficients = FD_BOTH_ENDS;
        c.problem.scheme = FD_DOUGLAS, c.problem.face[2][1] = kinds[k];
        as_host("rests", sizeof(apart_real) == 4, &c, tolerance_of<apart_real>(), APART(_solver), APART(_host_bytes),
                APART(_host));
    }
}

/* Checks that factors serve all steps whose lengths differ only by rounding, by counting how often terms are computed,
   and that the results remain those of the host. */
static void factors_once()
{
    enum { STEPS = 63 };
    static case_problem c;
    long counted[2] = {0, 0};
    for (int rounded = 0; rounded < 2; rounded++) {
        case_plain(&c);
        c.parameters.apart = 1, c.parameters.change = 0, c.parameters.payoff = CASE_WAVE;
        const fd_times times = {rounded ? 5 : 63 / 16.0, STEPS, FD_EQUAL, 1, FD_THETA, 2.0 / 3, 0, 0, NULL, NULL};
        c.problem.times = times, c.problem.scheme = FD_DOUGLAS;
        as_host("rounded lengths", sizeof(apart_real) == 4, &c, tolerance_of<apart_real>(), APART(_solver),
                APART(_host_bytes), APART(_host));
#ifdef SIMT_EMULATOR
        const int points[3] = {6, 7, 8};
        case_results r;
        case_results_for(&c, sizeof(apart_real) == 4, points, &r);
        check_counted = 0;
        APART(_solver)(&r.batch, &c.parameters);
        counted[rounded] = check_counted;
        case_results_free(&r);
#endif
    }
    CHECK(counted[0] == counted[1], "terms computed %ld times, not %ld", counted[1], counted[0]);
}

/* Tests schemes of two stages after a Rannacher start with the same theta dt, and so the same matrices. The start's
   steps have one stage, for which sweeps factor fewer of them. Device memory is full of NaN at first. */
static void starts()
{
    for (int scheme = FD_CRAIG_SNEYD; scheme <= FD_HUNDSDORFER_VERWER; scheme++) {
        if (check_short() && scheme > FD_CRAIG_SNEYD) continue;
        static case_problem c;
        case_plain(&c);
        c.parameters.payoff = CASE_WAVE, c.parameters.apart = 1;
        c.problem.scheme = scheme, c.problem.times.theta = 0.5, c.problem.times.halves = 2, c.problem.times.dates = 0;
        c.problem.times.steps = 4; /* lengths without rounding */
        as_host("starts", sizeof(apart_real) == 4, &c, tolerance_of<apart_real>(), APART(_solver), APART(_host_bytes),
                APART(_host));
    }
    if (check_short()) check_skip(2, "starts: SHORT_TESTS is set");
}

/* Checks that several problems, one of which fails, get the results that each gets alone, also at dates. */
static void several()
{
    enum { PROBLEMS = 3, GRID = 8 * 8 * 9, SINGLE = sizeof(central_real) == 4 };
    static case_problem c[PROBLEMS];
    static const int points[3] = {8, 8, 9};
    static central_real grid[PROBLEMS][CASE_TIMES][GRID];
    fd_problem problem[PROBLEMS];
    case_parameters parameters[PROBLEMS];
    fd_status status[PROBLEMS];
    fd_values values[PROBLEMS][CASE_TIMES][CASE_SPOTS];
    case_random random = {SEED + 1};
    for (int k = 0; k < PROBLEMS; k++) {
        case_random_problem(&random, points, &c[k]);
        if (k == 1) c[k].parameters.bad = CASE_BAD_FACE, c[k].parameters.bad_at[3] = 9;
        if (k == 1) c[k].problem.face[2][1] = FD_VALUE;
        problem[k] = c[k].problem, parameters[k] = c[k].parameters;
    }
    const fd_batch batch = {PROBLEMS, {8, 8, 9},    800,  CASE_DATES,         CASE_SPOTS, problem,
                            status,   values[0][0], grid, {NULL, NULL, NULL}, 0};
    memset(values, CASE_STALE, sizeof values), memset(grid, CASE_STALE, sizeof grid);
    CHECK(CENTRAL(_solver)(&batch, parameters) == FD_OK, "several");
    for (int k = 0; k < PROBLEMS; k++) {
        case_results alone;
        case_results_for(&c[k], SINGLE, points, &alone);
        CENTRAL(_solver)(&alone.batch, &parameters[k]);
        CHECK(status[k].what == (k == 1 ? FD_NOT_SOLVED : FD_OK), "problem %d: %s", k,
              fd_status_string(status[k].what));
        CHECK(!memcmp(&status[k], &alone.status, sizeof *status), "problem %d: status %d, step %d", k, status[k].what,
              status[k].step);
        CHECK(!memcmp(values[k], alone.batch.values, sizeof values[k]) &&
                  !memcmp(grid[k], alone.batch.grid, sizeof grid[k]),
              "problem %d: other numbers", k);
        case_results_free(&alone);
    }
}

/* Tests MODEL_solve, the progress that it reports, and calls that are refused. */
static void the_one_that_there_is()
{
    static case_problem c;
    static const int points[3] = {6, 7, 8};
    case_results one, other;
    int calls = 0;
    case_plain(&c);
    case_results_for(&c, sizeof(central_real) == 4, points, &one);
    case_results_for(&c, sizeof(central_real) == 4, points, &other);
    c.problem.progress = told, c.problem.context = &calls;
    const fd_batch *b = &one.batch;
    const size_t bytes = CENTRAL(_bytes)<>(b);
    void *memory = adi3d_allocate(bytes);
    CHECK(CENTRAL(_solve) < > (b, &c.parameters, memory, bytes - 1) == FD_NO_ROOM, "a byte less");
    CHECK(one.status.what == FD_NO_ROOM && isnan(b->values[0].value), "a byte less: %d", one.status.what);
    CHECK(calls == 0, "a step of a problem that is none");
    CHECK(CENTRAL(_solve) < > (b, &c.parameters, memory, bytes) == FD_OK && !one.status.what, "solve");
    CHECK(calls > 0 && steps_told == calls, "%d calls, the last after step %d", calls, steps_told);
    CHECK(CENTRAL(_solver)(&other.batch, &c.parameters) == FD_OK, "device");
    check_near(b->values[0].value, other.batch.values[0].value, 0, "solve and device");
    CHECK(CENTRAL(_solve) < > (b, NULL, memory, bytes) == FD_BAD_ARGUMENT, "no parameters");
    CHECK(CENTRAL(_solve) < > (b, &c.parameters, NULL, bytes) == FD_BAD_ARGUMENT, "no memory");
    CHECK(one.status.what == FD_BAD_ARGUMENT && isnan(b->values[0].value), "no memory: %g", b->values[0].value);
    CHECK(CENTRAL(_solve) < > (NULL, &c.parameters, memory, bytes) == FD_BAD_ARGUMENT, "no batch");
    CHECK(CENTRAL(_device_bytes) < > (NULL) == 0, "bytes of no batch");
    one.batch.problem = NULL;
    CHECK(CENTRAL(_device_bytes) < > (b) > bytes, "bytes for any problem");
    one.batch.problems = 0;
    CHECK(CENTRAL(_device) < > (b, NULL, NULL, 0, 0) == FD_OK, "a batch of none");
    one.batch.problem = &c.problem;
    case_results_free(&one), case_results_free(&other);
    adi3d_free(memory);
}

int main()
{
    printf("seed %d\n", SEED);
    random_problems();
    every_kind();
    sizes();
    sweeps();
    rests();
    factors_once();
    starts();
    several();
    the_one_that_there_is();
    case_statuses(&runners[0]), case_lost(&runners[0]);
    case_not_alone(&runners[1]);
    for (int r = 0; r < RUNNERS; r++) case_declarations(&runners[r]);
#if defined TEST_ADI3D_OTHERS && defined __CUDACC__
    check_skip(2, "drifts taken upwind and fitted: the emulator has them");
#endif
    return check_report();
}
