/* test_fd1d_host.c - pde/fd1d.h on the host: random problems against a plain march, and everything that can be wrong
   with a problem, a batch and a call.
   MIT licence, see LICENSE. */
#include "fd1d_cases.h"

enum { SEED = 20251124 };

/* A model's host version as a case_solver. */
static int workers = 3;
#define SOLVER(model, precision)                                                                                       \
    static int model##_solver_##precision(const fd_batch *batch, const case_parameters *parameters)                    \
    {                                                                                                                  \
        const size_t bytes = model##_host_bytes_##precision(batch, workers);                                           \
        void *memory = case_guarded(bytes);                                                                            \
        const int status = model##_host_##precision(batch, parameters, workers, memory, bytes);                        \
        CHECK(case_release(memory, bytes), #model ": a guard of the workers' memory has been written");                \
        return status;                                                                                                 \
    }
SOLVER(full, f32)
SOLVER(full, f64)
SOLVER(plain, f32)
SOLVER(plain, f64)
SOLVER(moving, f32)
SOLVER(moving, f64)
SOLVER(fitted, f32)
SOLVER(fitted, f64)

enum { ALL = CASE_FACES + CASE_CHANGES + CASE_EXERCISES };
static const case_runner runners[] = {
    {"full, double", FD_CENTRAL, ALL, 0, full_solver_f64},
    {"full, single", FD_CENTRAL, ALL, 1, full_solver_f32},
    {"plain, double", FD_CENTRAL, CASE_CHANGES, 0, plain_solver_f64},
    {"plain, single", FD_CENTRAL, CASE_CHANGES, 1, plain_solver_f32},
    {"moving, double", FD_UPWIND, CASE_MOVES + ALL, 0, moving_solver_f64},
    {"moving, single", FD_UPWIND, CASE_MOVES + ALL, 1, moving_solver_f32},
    {"fitted, double", FD_FITTED, CASE_MOVES, 0, fitted_solver_f64},
    {"fitted, single", FD_FITTED, CASE_MOVES, 1, fitted_solver_f32},
};

static void random_problems(void)
{
    static const int counts[] = {0, 1, 3, 17, 40}, most[] = {4, 5, 33, 128, 257, 1024};
    case_random random = {SEED};
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++)
        for (int m = 0; m < 6; m++)
            for (int k = 0; k < 5; k++) {
                if (check_short() && most[m] > 128 && counts[k] > 3) continue;
                case_random_batch(&runners[r], &random, counts[k], most[m], CASE_ANY);
                if (counts[k] < 17) case_random_batch(&runners[r], &random, counts[k], most[m], CASE_ALIKE);
            }
    if (check_short()) check_skip(1, "large batches of many points: SHORT_TESTS is set");
}

/* Checks that results are the same, to the bit, with any number of workers. */
static void any_workers(void)
{
    enum { COUNT = 40, MOST = 33 };
    static case_problem c[COUNT];
    case_random random = {SEED + 1};
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++) {
        const case_runner *runner = &runners[r];
        case_batch b[2];
        for (int k = 0; k < COUNT; k++) case_random_problem(runner, &random, MOST, CASE_ANY, &c[k]);
        for (int q = 0; q < 2; q++) {
            b[q] = case_batch_of(COUNT, MOST, CASE_STEPS, CASE_DATES, 2, runner->single);
            for (int k = 0; k < COUNT; k++) case_put(&b[q], k, &c[k]);
            workers = q ? 5 : 1;
            CHECK(runner->solve(&b[q].batch, b[q].parameters) == FD_OK, "%s: refused", runner->name);
        }
        for (int k = 0; k < COUNT; k++)
            CHECK(case_same_bits(&b[0], k, &b[1], k), "%s: problem %d by 5 workers", runner->name, k);
        case_batch_free(&b[0], runner->name), case_batch_free(&b[1], runner->name);
    }
    workers = 3;
}

/* ---- calls that are refused -------------------------------------------------------------------------------------- */

/* Makes a batch of two plain problems. */
static case_batch good_batch(int points, case_problem *c)
{
    case_batch b = case_batch_of(2, points, CASE_ROOM_STEPS, CASE_EVENTS, CASE_PLACES, 0);
    for (int k = 0; k < 2; k++) case_plain(&runners[4], &c[k]), case_put(&b, k, &c[k]);
    return b;
}

/* Makes a call with one wrong argument. It must be refused, and leave its status and, if the batch says how many
   results there are, NaN. */
static void refuse(int which, int points)
{
    static case_problem c[2];
    case_batch b = good_batch(points, c);
    fd_batch of = b.batch;
    const size_t bytes = 2 * (moving_host_bytes_f64(&of, 1) + 16);
    unsigned char *memory = (unsigned char *)case_guarded(bytes);
    const case_parameters *p = b.parameters;
    void *at = memory;
    size_t room = bytes;
    int by = 2, due = FD_BAD_ARGUMENT, filled = 1;
    if (which == 0) p = NULL;
    if (which == 1) at = NULL;
    if (which == 2) at = memory + 8;
    if (which == 3) of.problem = NULL;
    if (which == 4) of.values = NULL;
    if (which == 5) of.status = NULL;
    if (which >= 6) due = FD_BAD_SIZE;
    if (which == 6) by = 0;
    if (which == 7) by = -1;
    if (which == 8) of.points[0] = 3, filled = 0;
    if (which == 9) of.points[0] = 32769, filled = 0;
    if (which == 10) of.steps = 0;
    if (which == 11) of.dates = -1, filled = 0;
    if (which == 12) of.spots = -1, filled = 0;
    if (which == 13) room = 2 * moving_host_bytes_f64(&of, 1) - 1, due = FD_NO_ROOM;
    if (which == 14) room = 0, due = FD_NO_ROOM;
    /* which == 15: more points than are allowed */
    const int axis = which == 8 || which == 9 || which == 15 ? 0 : -1;
    const int said = moving_host_f64(&of, p, by, at, room);
    CHECK(said == due, "refused %d: %d", which, said);
    for (int k = 0; k < 2; k++) {
        const fd_status s = b.batch.status[k];
        if (of.status)
            CHECK(s.what == due && s.axis == axis && s.i == -1 && s.step == -1, "refused %d: %d, axis %d", which,
                  s.what, s.axis);
        if (filled && of.values) CHECK(case_numbers_left(&b, k) == 0, "refused %d: numbers", which);
    }
    CHECK(filled || case_still_stale(b.batch.values, b.value_bytes), "refused %d: values", which);
    CHECK(filled || case_still_stale(b.batch.grid, b.grid_bytes), "refused %d: grid", which);
    CHECK(case_untouched(memory, bytes) && case_release(memory, bytes), "refused %d: memory", which);
    case_batch_free(&b, "refused");
}

static void no_batches(void)
{
    static case_problem c[2];
    fd_batch none;
    case_batch b = good_batch(CASE_ROOM, c);
    memset(&none, 0, sizeof none);
    none.points[0] = 4, none.steps = 1;
    CHECK(moving_host_f64(NULL, NULL, 1, NULL, 0) == FD_BAD_ARGUMENT, "no batch");
    CHECK(moving_host_f64(&none, NULL, 1, NULL, 0) == FD_OK, "a batch of 0");
    none.problems = -1;
    CHECK(moving_host_f64(&none, NULL, 1, NULL, 0) == FD_BAD_SIZE, "a batch of -1");
    for (int which = 0; which < 15; which++) refuse(which, CASE_ROOM);
    refuse(15, FD1D_MOST + 1);
    CHECK(moving_host_bytes_f64(NULL, 1) == 0 && moving_host_bytes_f64(&none, 1) == 0, "bytes of no batch");
    none.problems = 1, none.points[0] = FD1D_MOST + 1;
    CHECK(moving_host_bytes_f64(&none, 1) == 0, "bytes of too many points");
    none.points[0] = FD1D_MOST;
    CHECK(moving_host_bytes_f64(&none, 1) > 0, "bytes of a batch without pointers");
    CHECK(moving_solver_f64(&b.batch, b.parameters) == FD_OK && !b.batch.status[1].what, "the good one");
    case_batch_free(&b, "the good one");
}

int main(void)
{
    case_random random = {SEED + 2};
    printf("seed %d\n", SEED);
    random_problems();
    any_workers();
    no_batches();
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++) {
        case_statuses(&runners[r], CASE_ROOM);
        case_ends(&runners[r], &random);
        case_zero_theta(&runners[r]);
        case_explicit(&runners[r], &random);
        case_ended(&runners[r]);
    }
    return check_report();
}
