/* test_fd1d_host.c - pde/fd1d.h on the host: random problems against a plain march, and everything that can be wrong
   with a problem.
   MIT licence, see LICENSE. */
#include "fd1d_cases.h"

enum { SEED = 20251124 };

/* A model's host version as a case_solver, by several workers. */
#define SOLVER(model, precision)                                                                                       \
    static int model##_solver_##precision(const fd_batch *batch, const case_parameters *parameters)                    \
    {                                                                                                                  \
        enum { WORKERS = 3 };                                                                                          \
        const size_t bytes = WORKERS * model##_host_bytes_##precision(batch);                                          \
        void *memory = case_guarded(bytes);                                                                            \
        const int status = model##_host_##precision(batch, parameters, WORKERS, memory, bytes);                        \
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
}

int main(void)
{
    printf("seed %d\n", SEED);
    random_problems();
    return check_report();
}
