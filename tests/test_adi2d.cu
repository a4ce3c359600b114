/* test_adi2d.cu - pde/adi2d.h on chip: random problems against a plain march, by one block and by clusters, and
   everything that can be wrong with a problem.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). test_adi2d_host.c tests the host's march,
   test_adi2d_long.cu the other models and paths, and test_adi2d_models.cu the examples. */
#include "device_adi2d.h"

enum { SEED = 20251123 };

SOLVER(central, onchip, onchip_bytes, f32, float)
SOLVER(central, onchip, onchip_bytes, f64, double)
SOLVER(upwind, onchip, onchip_bytes, f32, float)
SOLVER(alone, onchip, onchip_bytes, f64, double)
ASKED(central, f32, float)
ASKED(central, f64, double)
ASKED(upwind, f32, float)
ASKED(alone, f64, double)

static const case_runner runners[] = {
    {"central on chip, double", FD_CENTRAL, CASE_CENTRAL_HAS, 0, central_onchip_solver_f64},
    {"central on chip, single", FD_CENTRAL, CASE_CENTRAL_HAS, 1, central_onchip_solver_f32},
    {"upwind on chip, single", FD_UPWIND, CASE_UPWIND_HAS, 1, upwind_onchip_solver_f32},
    {"alone on chip, double", FD_UPWIND, CASE_ALONE, 0, alone_onchip_solver_f64},
};
static const case_runner asking[] = {
    {"central by a cluster, double", FD_CENTRAL, CASE_CENTRAL_HAS, 0, central_asked_solver_f64},
    {"central by a cluster, single", FD_CENTRAL, CASE_CENTRAL_HAS, 1, central_asked_solver_f32},
    {"upwind by a cluster, single", FD_UPWIND, CASE_UPWIND_HAS, 1, upwind_asked_solver_f32},
    {"alone by a cluster, double", FD_UPWIND, CASE_ALONE, 0, alone_asked_solver_f64},
};

/* Checks the size of cluster that a march chooses: one block, or so many that an idle device has work for all
   multiprocessors. */
static void choice(void)
{
#ifdef SIMT_EMULATOR
    case_random random = {SEED + 1};
    simt_multiprocessors(8);
    for (int lines = 16; lines <= 64; lines *= 2) {
        case_random_batch(&runners[0], &random, lines == 64 ? 2 : 1, 9, lines, CASE_ANY, 1e-11);
        CHECK(simt.cluster_size == (lines == 16 ? 2 : 4), "%d lines by a cluster of %d", lines, simt.cluster_size);
    }
    simt_multiprocessors(4);
#endif
}

static void no_batches()
{
    fd_problem problem;
    fd_status status;
    fd_values values;
    case_parameters parameters;
    memset(&problem, 0, sizeof problem), memset(&parameters, 0, sizeof parameters);
    fd_batch b = {1, {8, 8}, 4, 0, 1, &problem, &status, &values, NULL, {NULL}, ADI2D_TWO_STAGES};
    int (*way[])(const fd_batch *, const case_parameters *, void *, size_t, cudaStream_t) = {central_onchip_f32<>,
                                                                                             central_onchip_f64<>};
    const size_t much = (size_t)1 << 40;
    static unsigned char memory[128] __attribute__((aligned(128)));
    for (int k = 0; k < 2; k++) {
        CHECK(way[k](NULL, &parameters, memory, much, 0) == FD_BAD_ARGUMENT, "way %d: no batch", k);
        CHECK(way[k](&b, NULL, memory, much, 0) == FD_BAD_ARGUMENT, "way %d: no parameters", k);
        CHECK(way[k](&b, &parameters, NULL, much, 0) == FD_BAD_ARGUMENT, "way %d: no memory", k);
        CHECK(way[k](&b, &parameters, memory + 64, much, 0) == FD_BAD_ARGUMENT, "way %d: memory off its alignment", k);
        CHECK(way[k](&b, &parameters, memory, 128, 0) == FD_NO_ROOM, "way %d: too little memory", k);
        b.points[0] = 3;
        CHECK(way[k](&b, &parameters, memory, much, 0) == FD_BAD_SIZE, "way %d: a side of 3", k);
        b.points[0] = 8, b.problems = 0;
        CHECK(way[k](&b, NULL, NULL, 0, 0) == FD_OK, "way %d: a batch of 0", k);
        b.problems = 1;
    }
    CHECK(central_onchip_bytes_f32<>(NULL) == 0 && central_onchip_bytes_f64<>(NULL) == 0, "bytes of no batch");
    b.kind = 3;
    CHECK(central_onchip_bytes_f32<>(&b) == 0 && central_onchip_bytes_f64<>(&b) == 0, "bytes of a batch that is none");
}

/* Checks that after one thread has chosen a kernel, another thread that chooses the same one for a smaller batch does
   not take shared memory from it. The problem is invalid, so that the march is short. */
static void another_thread()
{
    fd_problem problem;
    case_parameters parameters;
    memset(&problem, 0, sizeof problem), memset(&parameters, 0, sizeof parameters);
    device_memory problems(sizeof problem, &problem), those(sizeof parameters, &parameters);
    device_memory status(sizeof(fd_status)), values(sizeof(fd_values));
    central_rooms_f64::fd_p_launch large, small;
    memset(&large, 0, sizeof large);
    large.batch.problems = large.batch.steps = 1, large.batch.points[0] = large.batch.points[1] = 56;
    large.batch.problem = (fd_problem *)problems.data(), large.batch.status = (fd_status *)status.data();
    large.batch.values = (fd_values *)values.data(), large.parameters = (case_parameters *)those.data();
    large.bytes = central_rooms_f64::fd_p_ready_lay_out(&large.batch, NULL, NULL);
    device_memory memory(large.bytes);
    large.memory = (unsigned char *)memory.data(), small = large;
    small.batch.points[0] = small.batch.points[1] = 36;
    const central_rooms_f64::fd_p_chosen chosen = central_rooms_f64::adi2d_p_kernel_of<>(&large);
    const central_rooms_f64::fd_p_chosen other = central_rooms_f64::adi2d_p_kernel_of<>(&small);
    CHECK(chosen.kernel == other.kernel && chosen.bytes > other.bytes && other.bytes > 0, "one kernel for both: %d, %d",
          (int)chosen.bytes, (int)other.bytes);
    CHECK(central_rooms_f64::fd_p_ready_and_march<512>(large, chosen, 0) == cudaSuccess,
          "the larger one, launched after the smaller one");
    GPU_OK(cudaDeviceSynchronize());
    fd_status said = fd_status_of(-99, 0, 0, 0, 0, 0, 0);
    CHECK(status.back(&said) && said.what == FD_BAD_SIZE, "its status: %d", said.what);
}

/* Checks, by counting how often terms are computed, that the factors along y serve all steps whose lengths differ only
   by rounding, and that a march whose values grew is not repeated. */
static void no_work_twice()
{
#ifdef SIMT_EMULATOR
    enum { STEPS = 63 };
    static case_problem c;
    long counted[2];
    for (int rounded = 0; rounded < 2; rounded++) {
        case_plain(&runners[3], &c);
        const fd_times times = {rounded ? 5 : 63 / 16.0, STEPS, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, NULL, NULL};
        c.problem.times = times, c.problem.scheme = FD_DOUGLAS, c.problem.coefficients = FD_NEW_END;
        case_batch b = case_batch_of(1, 6, 7, STEPS, 0, ADI2D_PRODUCTS, 0);
        case_put(&b, 0, &c);
        check_counted = 0;
        CHECK(runners[3].solve(&b.batch, b.parameters) == FD_OK && b.batch.status[0].what == FD_OK, "a product");
        counted[rounded] = check_counted;
        case_batch_free(&b, "products");
    }
    CHECK(counted[0] == counted[1], "lengths that are rounded: terms computed %ld times, not %ld", counted[1],
          counted[0]);
    for (int grows = 0; grows < 2; grows++) {
        case_plain(&runners[0], &c);
        c.problem.times.halves = 0;
        if (grows) c.problem.times.theta = 0.01, c.parameters.diffusion[0] = 1e5;
        case_batch b = case_batch_of(1, 6, 7, 4, 2, ADI2D_TWO_STAGES, 0);
        case_put(&b, 0, &c);
        check_counted = 0;
        CHECK(runners[0].solve(&b.batch, b.parameters) == FD_OK && b.batch.status[0].what == (grows ? FD_GREW : FD_OK),
              "growth: %s", fd_status_string(b.batch.status[0].what));
        counted[grows] = check_counted;
        case_batch_free(&b, "growth");
    }
    CHECK(counted[0] == counted[1], "a march that grew: terms computed %ld times, not %ld", counted[1], counted[0]);
#endif
}

int main()
{
    case_random random = {SEED};
    printf("seed %d\n", SEED);
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++) {
        const case_runner *runner = &runners[r];
        for (int k = check_short() ? 2 : 0; k < 4; k++)
            case_random_batch(runner, &random, 6, 12, 10, CASE_ANY, case_tolerance(runner));
        for (int k = check_short() ? 2 : 0; k < 3 && !(runner->has & CASE_MIXES); k++)
            case_random_batch(runner, &random, 3, 12, 36, CASE_PRODUCT, case_tolerance(runner));
        by_clusters(&asking[r], &random);
        case_declarations(runner);
        case_spots(runner);
        if (runner->has & CASE_ALONE) continue;
        if (check_short() && r != 1)
            check_skip(1, "%s, what is wrong with problems: SHORT_TESTS is set", runner->name);
        else
            case_statuses(runner);
    }
    choice();
    no_batches();
    another_thread();
    no_work_twice();
    return check_report();
}
