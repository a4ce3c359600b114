/* test_adi2d_long.cu - pde/adi2d.h's kernels as test_adi2d.cu has them: the other models, and the rungs in device
   memory. MIT licence, see LICENSE. */
#include "device_adi2d.h"

enum { SEED = 20251124 };

SOLVER(upwind, onchip, onchip_bytes, f64, double)
SOLVER(alone, onchip, onchip_bytes, f32, float)
SOLVER(fitted, onchip, onchip_bytes, f64, double)
SOLVER(central, naive, rung_bytes, f32, float)
SOLVER(central, naive, rung_bytes, f64, double)
SOLVER(central, coalesced, rung_bytes, f32, float)
SOLVER(central, coalesced, rung_bytes, f64, double)
SOLVER(upwind, coalesced, rung_bytes, f64, double)
ASKED(upwind, f64, double)
ASKED(alone, f32, float)

static const case_runner runners[] = {
    {"upwind on chip, double", FD_UPWIND, CASE_UPWIND_HAS, 0, upwind_onchip_solver_f64},
    {"alone on chip, single", FD_UPWIND, CASE_ALONE, 1, alone_onchip_solver_f32},
    {"fitted on chip, double", FD_FITTED, CASE_FITTED_HAS, 0, fitted_onchip_solver_f64},
    {"central naive, double", FD_CENTRAL, CASE_CENTRAL_HAS, 0, central_naive_solver_f64},
    {"central naive, single", FD_CENTRAL, CASE_CENTRAL_HAS, 1, central_naive_solver_f32},
    {"central coalesced, double", FD_CENTRAL, CASE_CENTRAL_HAS, 0, central_coalesced_solver_f64},
    {"central coalesced, single", FD_CENTRAL, CASE_CENTRAL_HAS, 1, central_coalesced_solver_f32},
    {"upwind coalesced, double", FD_UPWIND, CASE_UPWIND_HAS, 0, upwind_coalesced_solver_f64},
};

int main()
{
    case_random random = {SEED};
    const case_runner by[2] = {{"upwind by a cluster, double", FD_UPWIND, CASE_UPWIND_HAS, 0, upwind_asked_solver_f64},
                               {"alone by a cluster, single", FD_UPWIND, CASE_ALONE, 1, alone_asked_solver_f32}};
    printf("seed %d\n", SEED);
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++) {
        const case_runner *runner = &runners[r];
        for (int k = 0; k < 4; k++) case_random_batch(runner, &random, 6, 12, 10, CASE_ANY, case_tolerance(runner));
        for (int k = 0; k < 3 && !(runner->has & CASE_MIXES); k++)
            case_random_batch(runner, &random, 3, 12, 36, CASE_PRODUCT, case_tolerance(runner));
        case_random_batch(runner, &random, 1, 40, 70, CASE_ANY, case_tolerance(runner));
        if (!(runner->has & CASE_ALONE)) case_statuses(runner);
        case_declarations(runner);
        case_spots(runner);
    }
    for (int k = 0; k < 2; k++) by_clusters(&by[k], &random);
    return check_report();
}
