/* test_adi3d.cu - pde/adi3d.h on the device: random problems against a plain march, grids of all shapes that the
   kernels have against the host's engine, and what is no problem.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). test_adi3d_host.c tells whether
   the host is right. */
#include "adi3d_cases.h"
#include "device_memory.h"

enum { SEED = 20251124 };

/* With device memory of exactly the bytes asked for, full of NaN, between guards that stay as they are. */
template <class Parameters>
static int solve_there(const adi3d_problem *problem, const Parameters *parameters, adi3d_result *result, size_t bytes,
                       int solve(const adi3d_problem *, const Parameters *, cudaStream_t, void *, size_t,
                                 adi3d_result *))
{
    device_memory memory(bytes);
    const int what = solve(problem, parameters, 0, memory.data(), bytes, result);
    CHECK(memory.back(NULL), "a guard of device memory has been written");
    return what;
}

#define SOLVER(model, precision)                                                                                       \
    static int model##_solver##precision(const adi3d_problem *problem, const case_parameters *parameters,              \
                                         adi3d_result *result)                                                         \
    {                                                                                                                  \
        return solve_there(problem, parameters, result, model##_device_bytes##precision<>(problem),                    \
                           model##_device##precision<>);                                                               \
    }

/* One text, two programs with half of the instances each, as each instance takes compilers long. This one has
   coefficients of every kind in single precision and axes apart in double; test_adi3d_others.cu has them the other way
   round, and drifts taken upwind and fitted, which differ in pde/fd.h's rows alone. */
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
    {"central", sizeof(central_real) == 4, FD_CENTRAL, 7, 1, 0, CENTRAL(_solver)},
    {"apart", sizeof(apart_real) == 4, FD_CENTRAL, 7, 1, 1, APART(_solver)},
#if defined TEST_ADI3D_OTHERS && !defined __CUDACC__
    {"upwind, single", 1, FD_UPWIND, 5, 1, 0, upwind_solver_f32},
    {"fitted, double", 0, FD_FITTED, 2, 0, 0, fitted_solver_f64},
#endif
};
enum { RUNNERS = sizeof runners / sizeof *runners };

/* Against the plain march: rounding, which marches that are not stable make larger. */
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
        c.parameters.apart = runner->apart;
        case_compare(runner, &c, runner->single ? 3e-4 : 1e-11);
    }
    if (check_short()) check_skip(74, "random problems: SHORT_TESTS is set");
}

/* Each scheme and kind of coefficients on the smallest grid, and with faces of each kind on every side. */
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

/* A problem on a grid of any size, by the device and by the host: the same to rounding. */
static int steps_told;
static void told(int step, int, void *context)
{
    steps_told = step;
    ++*(int *)context;
}

template <class R>
static void as_host(const char *name, const case_problem *c, double tolerance,
                    int there(const adi3d_problem *, const case_parameters *, adi3d_result *),
                    size_t host_bytes(const adi3d_problem *, int),
                    int host(const adi3d_problem *, const case_parameters *, int, void *, size_t, adi3d_result *))
{
    const adi3d_problem *q = &c->problem;
    const size_t all = adi3d_p_points(q), bytes = host_bytes(q, 1);
    adi3d_values values[2][1 + CASE_DATES];
    std::vector<R> grid[2] = {std::vector<R>(all), std::vector<R>(all)};
    adi3d_result result[2];
    void *memory = malloc(bytes);
    memset(values, 0, sizeof values);
    memset(result, 0, sizeof result);
    for (int w = 0; w < 2; w++) result[w].values = values[w], result[w].grid = grid[w].data();
    const int due = host(q, &c->parameters, 1, memory, bytes, &result[0]);
    const int what = there(q, &c->parameters, &result[1]);
    free(memory);
    CHECK(what == FD_OK && due == FD_OK, "%s: %s", name, fd_status_string(what ? what : due));
    CHECK(result[0].status.not_dominant == result[1].status.not_dominant, "%s: %d not_dominant rows instead of %d",
          name, result[1].status.not_dominant, result[0].status.not_dominant);
    double worst = 0, most = 0;
    for (size_t at = 0; at < all; at++) {
        const double error = fabs((double)grid[0][at] - (double)grid[1][at]);
        if (!(error <= worst)) worst = error;
        if (!(fabs((double)grid[0][at]) <= most)) most = fabs((double)grid[0][at]);
    }
    CHECK(worst <= tolerance * most, "%s, %d x %d x %d, scheme %d, coefficients %d: off by %.2e, values to %.2e", name,
          q->axis[0].points, q->axis[1].points, q->axis[2].points, q->scheme, q->coefficients, worst, most);
    check_near(values[1][0].value, values[0][0].value, tolerance * most * 4, "%s: the value", name);
}

template <class R>
static double tolerance_of()
{
    return sizeof(R) == 4 ? 1e-4 : 1e-11;
}

/* Rows of every number of warps, and lines of every number of sections, at their limits. Faces of all kinds; of those
   that keep a step from changing, where x is long in the last two. */
static void sizes()
{
    static const int points[][3] = {{256, 4, 4},  {257, 4, 5},  {5, 129, 4},  {4, 5, 129}, {513, 4, 4},
                                    {4, 257, 4},  {17, 4, 257}, {4, 513, 4},  {4, 4, 513}, {512, 5, 4},
                                    {1024, 4, 4}, {4, 1024, 4}, {4, 4, 1024}, {33, 18, 9}, {600, 4, 5},
                                    {300, 5, 4}};
    const int count = (int)(sizeof points / sizeof *points), steady_from = count - 2;
    for (int k = 0; k < count; k++) {
        if (check_short() && k % 5) continue;
        case_problem c;
        adi3d_problem *q = &c.problem;
        case_plain(&c);
        c.parameters.change = k < steady_from && k % 3 == 0 ? 0.4 : 0, c.parameters.payoff = CASE_WAVE;
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
                as_host<apart_real>("apart", &c, tolerance_of<apart_real>(), APART(_solver), APART(_host_bytes),
                                    APART(_host));
            else
                as_host<central_real>("central", &c, tolerance_of<central_real>(), CENTRAL(_solver),
                                      CENTRAL(_host_bytes), CENTRAL(_host));
        }
    }
    if (check_short()) check_skip(count - (count + 4) / 5, "sizes: SHORT_TESTS is set");
}

/* What is told of progress, and MODEL_solve. */
static void the_one_that_there_is()
{
    static case_problem c;
    adi3d_values values[2][1 + CASE_DATES];
    adi3d_result result[2] = {{fd_status_of(-99, 0, 0, 0, 0, 0, 0), values[0], NULL, {NULL, NULL, NULL}},
                              {fd_status_of(-99, 0, 0, 0, 0, 0, 0), values[1], NULL, {NULL, NULL, NULL}}};
    int calls = 0;
    case_plain(&c);
    c.problem.progress = told, c.problem.context = &calls;
    const size_t bytes = CENTRAL(_bytes)<>(&c.problem);
    void *memory = adi3d_allocate(bytes);
    CHECK(CENTRAL(_solve) < > (&c.problem, &c.parameters, memory, bytes - 1, &result[0]) == FD_NO_ROOM, "a byte less");
    CHECK(calls == 0, "a step of a problem that is none");
    CHECK(CENTRAL(_solve) < > (&c.problem, &c.parameters, memory, bytes, &result[0]) == FD_OK, "solve");
    CHECK(calls > 0 && steps_told == calls, "%d calls, the last after step %d", calls, steps_told);
    CHECK(CENTRAL(_solver)(&c.problem, &c.parameters, &result[1]) == FD_OK, "device");
    check_near(values[0][0].value, values[1][0].value, 0, "solve and device");
    CHECK(CENTRAL(_solve) < > (&c.problem, NULL, memory, bytes, &result[0]) == FD_BAD_ARGUMENT, "no parameters");
    CHECK(CENTRAL(_solve) < > (&c.problem, &c.parameters, NULL, bytes, &result[0]) == FD_NO_ROOM, "no memory");
    CHECK(result[0].status.what == FD_NO_ROOM && isnan(values[0][0].value), "no memory: %g", values[0][0].value);
    CHECK(CENTRAL(_solve) < > (&c.problem, &c.parameters, memory, bytes, NULL) == FD_BAD_ARGUMENT, "no result");
    CHECK(CENTRAL(_device_bytes) < > (NULL) == 0, "bytes of no problem");
    adi3d_free(memory);
}

int main()
{
    printf("seed %d\n", SEED);
    random_problems();
    every_kind();
    sizes();
    the_one_that_there_is();
    case_statuses(&runners[0]), case_not_watched(&runners[0]);
    case_not_alone(&runners[1]);
    for (int r = 0; r < RUNNERS; r++) case_declarations(&runners[r]);
#if defined TEST_ADI3D_OTHERS && defined __CUDACC__
    check_skip(2, "drifts taken upwind and fitted: the emulator has them");
#endif
    return check_report();
}
