/* test_adi3d_onchip.cu - pde/adi3d.h's batches, on chip and on the host: random problems against a plain march, batches
   against the host's march, clusters of every size, invalid problems among others, which must not change, and the sizes
   that fit.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). test_adi3d_host.c tests the host's march. */
#include "adi3d_cases.h"
#include "device_memory.h"

enum { SEED = 20251126, MOST = 9 /* points of the batches' axes */, PROBLEMS = 5 };

/* A batch in host memory, its results between guards. */
struct case_batch {
    std::vector<case_parameters> parameters;
    std::vector<fd_problem> problem;
    std::vector<fd_status> status;
    std::vector<fd_values> values;
    std::vector<unsigned char> grid;
    std::vector<double> coordinates[3];
    fd_batch batch;
    case_batch(int problems, const case_problem *const *c, const int *points, size_t real)
    {
        memset(&batch, 0, sizeof batch);
        batch.problems = problems, batch.steps = 40, batch.dates = CASE_DATES, batch.spots = CASE_SPOTS;
        size_t all = CASE_TIMES;
        for (int d = 0; d < 3; d++) batch.points[d] = points[d], all *= (size_t)points[d];
        for (int k = 0; k < problems; k++) parameters.push_back(c[k]->parameters), problem.push_back(c[k]->problem);
        status.resize((size_t)problems, fd_status_of(-99, 0, 0, 0, 0, 0, 0));
        values.resize((size_t)problems * CASE_TIMES * CASE_SPOTS);
        grid.resize((size_t)problems * all * real);
        if (problems) memset(values.data(), CASE_STALE, values.size() * sizeof(fd_values));
        if (problems) memset(grid.data(), CASE_STALE, grid.size());
        for (int d = 0; d < 3; d++) {
            coordinates[d].resize((size_t)(problems * points[d]), 0);
            batch.coordinates[d] = coordinates[d].data();
        }
        batch.problem = problem.data(), batch.status = status.data(), batch.values = values.data();
        batch.grid = grid.data();
    }
};

/* The number of blocks of a cluster and the largest number of threads of a block for launches; 0: MODEL_onchip
   chooses. */
static int asked_size, asked_threads;

/* Solves a batch on the device: copies all that it points to there, and allocates exactly the bytes that the launch
   asks for. */
template <class Launch>
static int solve_there(const case_batch &host, size_t bytes, Launch launch)
{
    std::vector<fd_problem> problem = host.problem;
    std::vector<device_memory *> kept;
    auto there = [&](const void *from, size_t size) {
        kept.push_back(new device_memory(size, from));
        return kept.back()->data();
    };
    for (fd_problem &p : problem) {
        for (int d = 0; d < 3; d++)
            if (p.points[d] && p.axis[d].points > 0)
                p.points[d] = (double *)there(p.points[d], (size_t)p.axis[d].points * sizeof(double));
        const int dates = p.times.dates > 0 ? p.times.dates : 0;
        if (p.times.date) p.times.date = (double *)there(p.times.date, (size_t)dates * sizeof(double));
        if (p.at_date) p.at_date = (fd_date *)there(p.at_date, (size_t)dates * sizeof(fd_date));
        p.spot = (double *)there(p.spot, 3 * CASE_SPOTS * sizeof(double));
    }
    const size_t n = host.problem.size();
    device_memory problems(n * sizeof(fd_problem), problem.data()), memory(bytes);
    device_memory status(n * sizeof(fd_status), host.status.data()), grid(host.grid.size(), host.grid.data());
    device_memory values(host.values.size() * sizeof(fd_values), host.values.data());
    device_memory parameters(n * sizeof(case_parameters), host.parameters.data());
    fd_batch device = host.batch;
    device_memory *coordinates[3];
    for (int d = 0; d < 3; d++) {
        coordinates[d] = new device_memory(host.coordinates[d].size() * sizeof(double), host.coordinates[d].data());
        device.coordinates[d] = (double *)coordinates[d]->data();
    }
    device.problem = (fd_problem *)problems.data(), device.status = (fd_status *)status.data();
    device.values = (fd_values *)values.data(), device.grid = grid.data();
    const int done = launch(&device, (const case_parameters *)parameters.data(), memory.data());
    GPU_OK(cudaDeviceSynchronize());
    bool whole = status.back(host.batch.status) & values.back(host.batch.values) & grid.back(host.batch.grid);
    for (int d = 0; d < 3; d++) {
        whole &= coordinates[d]->back(host.batch.coordinates[d]);
        delete coordinates[d];
    }
    whole &= problems.back(NULL) & parameters.back(NULL) & memory.back(NULL);
    for (device_memory *m : kept) {
        whole &= m->back(NULL);
        delete m;
    }
    CHECK(whole, "a guard of device memory has been written");
    return done;
}

/* A model in one precision: its batches on the device and on the host. */
typedef struct {
    const char *name;
    size_t real;
    int (*device)(const case_batch &);
    int (*host)(const fd_batch *, const case_parameters *, int, void *, size_t);
    size_t (*host_bytes)(const fd_batch *, int);
} engine;

#define ENGINE(model, precision, real)                                                                                 \
    static int model##_there_##precision(const case_batch &host)                                                       \
    {                                                                                                                  \
        const size_t bytes = model##_onchip_bytes_##precision<>(&host.batch);                                          \
        return solve_there(                                                                                            \
            host, bytes, [&](const fd_batch *batch, const case_parameters *parameters, void *memory) -> int {          \
                if (!asked_size) return model##_onchip_##precision<>(batch, parameters, memory, bytes, 0);             \
                model##_rooms_##precision::fd_p_launch launch;                                                         \
                launch.batch = *batch, launch.parameters = parameters;                                                 \
                launch.memory = (unsigned char *)memory;                                                               \
                launch.bytes = bytes / (size_t)batch->problems;                                                        \
                const model##_rooms_##precision::fd_p_chosen chosen =                                                  \
                    asked_threads ? model##_rooms_##precision::adi3d_p_choose<8, 64>(batch, asked_size)                \
                                  : model##_rooms_##precision::adi3d_p_choose<16, 512>(batch, asked_size);             \
                CHECK(chosen.bytes > 0 && chosen.size == asked_size, "no cluster of %d", asked_size);                  \
                const cudaError_t error =                                                                              \
                    model##_rooms_##precision::fd_p_ready_and_march<256>(launch, chosen, 0);                           \
                return error == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED;                                                \
            });                                                                                                        \
    }                                                                                                                  \
    static const engine model##_##precision = {#model "_" #precision, sizeof(real), model##_there_##precision,         \
                                               model##_host_##precision, model##_host_bytes_##precision};
ENGINE(central, f64, double)
ENGINE(central, f32, float)
ENGINE(apart, f64, double)
#ifdef __CUDACC__ /* the others differ from these only in pde/fd.h's rows, and nvcc takes a minute for each */
static const engine *const engines[] = {&central_f64, &central_f32, &central_f32, &central_f64};
#else
ENGINE(upwind, f32, float)
ENGINE(fitted, f64, double)
static const engine *const engines[] = {&central_f64, &central_f32, &upwind_f32, &fitted_f64};
#endif

/* Solves a batch on the host, in memory of exactly the bytes asked for. */
static int solve_here(const engine *e, const case_batch &batch, int workers)
{
    const size_t bytes = e->host_bytes(&batch.batch, workers);
    void *memory = case_guarded(bytes);
    const int call = e->host(&batch.batch, batch.parameters.data(), workers, memory, bytes);
    CHECK(case_release(memory, bytes), "a guard of the host's memory has been written");
    return call;
}

/* A case_runner: solves a problem as the second of a batch of three, of which the other two are good. */
static int among_others(const engine *e, int by_host, const fd_batch *own, const case_parameters *parameters)
{
    static case_problem c[3];
    case_plain(&c[0]), case_plain(&c[2]);
    c[0].parameters.apart = c[2].parameters.apart = e == &apart_f64;
    c[2].problem.exercise = FD_AMERICAN, c[2].problem.scheme = FD_HUNDSDORFER_VERWER;
    c[1].problem = *own->problem, c[1].parameters = *parameters;
    const case_problem *const all[3] = {&c[0], &c[1], &c[2]};
    int points[3];
    for (int d = 0; d < 3; d++) points[d] = own->points[d] > 6 + d ? own->points[d] : 6 + d;
    case_batch batch(3, all, points, e->real);
    batch.batch.steps = 60;
    const int call = by_host ? solve_here(e, batch, 1) : e->device(batch);
    CHECK(batch.status[0].what == FD_OK && batch.status[2].what == FD_OK, "%s: the problems beside it", e->name);
    const size_t values = CASE_TIMES * CASE_SPOTS;
    const size_t plane = (size_t)(points[0] * points[1]), grid = plane * (size_t)points[2];
    CHECK(fabs(batch.values[0].value) < 1 && fabs(batch.values[2 * values].value) < 1,
          "%s: the values of the problems beside it", e->name);
    memcpy(own->values, &batch.values[values], values * sizeof(fd_values));
    for (int time = 0; time < CASE_TIMES; time++)
        for (int row = 0; row < own->points[1] * own->points[2]; row++) {
            const size_t j = (size_t)(row % own->points[1]), k = (size_t)(row / own->points[1]);
            const size_t from = (size_t)(CASE_TIMES + time) * grid + k * plane + j * (size_t)points[0];
            const size_t to = (size_t)((time * own->points[2] * own->points[1] + row) * own->points[0]);
            memcpy((char *)own->grid + e->real * to, &batch.grid[e->real * from], e->real * (size_t)own->points[0]);
        }
    for (int d = 0; d < 3; d++)
        memcpy(own->coordinates[d], &batch.coordinates[d][(size_t)points[d]],
               (size_t)own->points[d] * sizeof(double));
    own->status[0] = batch.status[1];
    return call;
}

#define RUNNER(model, precision, name, by_host)                                                                        \
    static int model##_##name##_##precision(const fd_batch *batch, const case_parameters *parameters)                  \
    {                                                                                                                  \
        return among_others(&model##_##precision, by_host, batch, parameters);                                         \
    }
RUNNER(central, f64, device, 0)
RUNNER(central, f32, device, 0)
RUNNER(apart, f64, device, 0)
RUNNER(central, f64, batch, 1)
RUNNER(central, f32, batch, 1)
#ifndef __CUDACC__
RUNNER(upwind, f32, device, 0)
RUNNER(fitted, f64, device, 0)
#endif
static const case_runner runners[] = {
    {"central, double", 0, FD_CENTRAL, 7, 1, 0, 0, central_device_f64},
    {"central, single", 1, FD_CENTRAL, 7, 1, 0, 0, central_device_f32},
    {"apart, double", 0, FD_CENTRAL, 7, 1, 1, 0, apart_device_f64},
    {"central, double, host", 0, FD_CENTRAL, 7, 1, 0, 0, central_batch_f64},
    {"central, single, host", 1, FD_CENTRAL, 7, 1, 0, 0, central_batch_f32},
#ifndef __CUDACC__
    {"upwind, single", 1, FD_UPWIND, 5, 1, 0, 1, upwind_device_f32},
    {"fitted, double", 0, FD_FITTED, 2, 0, 0, 0, fitted_device_f64},
#endif
};
enum { RUNNERS = sizeof runners / sizeof *runners };

/* Chooses the shape of launches, the k-th time. */
static void ask(int k)
{
    static const int sizes[] = {0, 1, 2, 4, 8};
    asked_size = sizes[k % 5], asked_threads = k / 5 % 2;
#ifdef SIMT_EMULATOR
    simt_permute(k % 3 ? (unsigned long long)(SEED + k) : 0);
#endif
}

/* Against the plain march, to rounding, which unstable marches magnify. */
static void random_problems()
{
    static case_problem c;
    case_random random = {SEED};
    const int count = check_short() ? 10 : 120, most[3] = {MOST, 7, 8};
    for (int k = 0; k < count; k++) {
        case_random_problem(&random, most, &c);
        ask(k);
        const case_runner *runner = &runners[k / 3 % RUNNERS];
        c.parameters.apart = runner->apart;
        case_compare(runner, &c, runner->single ? 3e-4 : 1e-11);
    }
    if (check_short()) check_skip(110, "random problems: SHORT_TESTS is set");
}

/* Each scheme, each kind of coefficients, and faces of each kind on every side. */
static void every_kind()
{
    static case_problem c;
    for (int k = 0; k < CASE_KINDS; k++) {
        if (check_short() && k % 5) continue;
        case_kind(k, &c);
        c.problem.exercise = k % 7 == 0 ? FD_AMERICAN : FD_EUROPEAN;
        ask(k / 5);
        case_compare(&runners[k % 2 || RUNNERS < 6 ? 0 : 6], &c, 1e-12);
    }
    if (check_short()) check_skip(38, "kinds: SHORT_TESTS is set");
}

/* Compares the results of one problem of a batch on chip with those on the host. */
static void as_here(const engine *e, const case_batch &there, const case_batch &here, int which)
{
    const int single = e->real == 4;
    const fd_status s = there.status[(size_t)which], t = here.status[(size_t)which];
    CHECK(s.what == t.what && s.detail == t.detail && s.axis == t.axis && s.i == t.i && s.j == t.j && s.k == t.k &&
              s.step == t.step && (single || s.not_dominant == t.not_dominant),
          "%s, problem %d: what %d at %d %d %d step %d, not_dominant %d, instead of %d at %d %d %d, %d, %d", e->name,
          which, s.what, s.i, s.j, s.k, s.step, s.not_dominant, t.what, t.i, t.j, t.k, t.step, t.not_dominant);
    CHECK(fabs((double)s.growth - (double)t.growth) <= (single ? 1e-3 : 1e-6) * (double)t.growth,
          "%s, problem %d: growth %g instead of %g", e->name, which, (double)s.growth, (double)t.growth);
    const int count = (int)(there.grid.size() / e->real / there.status.size());
    double worst = 0, largest = 0;
    for (int at = which * count; at < (which + 1) * count; at++) {
        const double due = case_number(here.grid.data(), single, at), got = case_number(there.grid.data(), single, at);
        if (due != due && got != got) continue;
        if (!(fabs(got - due) <= worst)) worst = fabs(got - due);
        if (!(fabs(due) <= largest)) largest = fabs(due);
    }
    /* Values that were not recorded have the same bits in both. */
    CHECK(worst <= largest * (single ? 3e-4 : 1e-11), "%s, problem %d: off by %.2e, values to %.2e", e->name, which,
          worst, largest);
}

/* Batches of any problems: on chip they agree with the host to within rounding, and on the host two workers give the
   same bits as one. */
static void batches()
{
    static case_problem c[PROBLEMS];
    case_random random = {SEED + 1};
    const int count = check_short() ? 5 : 20, most[3] = {6, MOST, 7};
    for (int k = 0; k < count; k++) {
        const engine *e = engines[k % 4];
        const int problems = k % 5 == 4 ? PROBLEMS : k % 5;
        const case_problem *all[PROBLEMS];
        for (int m = 0; m < PROBLEMS; m++) {
            case_random_problem(&random, most, &c[m]), all[m] = &c[m];
            if (m == 1)
                c[m].parameters.bad = CASE_BAD_PAYOFF + k % 2, c[m].parameters.bad_at[0] = c[m].parameters.low[0];
            if (m == 1 && k % 4 == 3) c[m].spot[1][1] = -1;
        }
        case_batch there(problems, all, most, e->real), here(problems, all, most, e->real);
        case_batch again(problems, all, most, e->real);
        ask(k % 5 ? k : 0);
        CHECK(e->device(there) == FD_OK, "%s, %d problems", e->name, problems);
        CHECK(solve_here(e, here, 2) == FD_OK && solve_here(e, again, 1) == FD_OK, "%s: host", e->name);
        CHECK(here.grid == again.grid, "%s: two workers have other numbers", e->name);
        for (int m = 0; m < problems; m++) as_here(e, there, here, m);
    }
    if (check_short()) check_skip(15, "batches: SHORT_TESTS is set");
}

/* Longer lines, up to the limit, and results that do not depend on the size of clusters. */
static void sizes()
{
    static const int points[][3] = {{48, 4, 5}, {4, 33, 6}, {5, 4, 48}, {31, 7, 4}, {4, 32, 17}, {17, 16, 9}};
    for (int k = 0; k < (int)(sizeof points / sizeof *points); k++) {
        if (check_short() && k % 3 != 2) continue;
        static case_problem c;
        const case_problem *const all[1] = {&c};
        fd_problem *q = &c.problem;
        case_plain(&c);
        for (int d = 0; d < 3; d++) {
            q->axis[d].points = points[k][d], c.parameters.volatility[d] = 0.3;
            for (int side = 0; side < 2; side++) {
                q->face[d][side] = (k + d + side) % 4;
                c.parameters.vanish[d][side] = q->face[d][side] == FD_DEGENERATE;
            }
        }
        c.parameters.payoff = CASE_WAVE, q->scheme = k % 4, q->times.theta = fd_scheme_theta(q->scheme, 3, 1);
        q->times.steps = 2, q->times.dates = 0, q->exercise = k % 3;
        const engine *e = engines[k % 2];
        case_batch here(1, all, points[k], e->real), first(1, all, points[k], e->real);
        CHECK(solve_here(e, here, 1) == FD_OK && !here.status[0].what, "%s: host", e->name);
        const int longest = points[k][0] > 32 || points[k][1] > 32 || points[k][2] > 32;
        for (int size = 0; size <= (longest ? 0 : 4); size = size ? 2 * size : 1) {
            asked_size = size, asked_threads = 0;
            case_batch there(1, all, points[k], e->real);
            CHECK(e->device(there) == FD_OK && there.status[0].what == FD_OK, "%s: clusters of %d", e->name, size);
            double worst = 0;
            const int count = (int)(there.grid.size() / e->real / CASE_TIMES);
            for (int at = 0; at < count; at++) {
                const double error = fabs(case_number(there.grid.data(), e->real == 4, at) -
                                          case_number(here.grid.data(), e->real == 4, at));
                if (!(error <= worst)) worst = error;
            }
            CHECK(worst <= (e->real == 4 ? 1e-4 : 1e-11), "%s, %d x %d x %d, clusters of %d: off by %.2e", e->name,
                  points[k][0], points[k][1], points[k][2], size, worst);
            if (size == 0) first.grid = there.grid;
            CHECK(there.grid == first.grid, "%s: clusters of %d give something else", e->name, size);
        }
    }
    asked_size = 0;
    if (check_short()) check_skip(4, "sizes: SHORT_TESTS is set");
}

/* Arguments that are no batch. */
static void batches_that_are_none()
{
    static case_problem c;
    const case_problem *const all[1] = {&c};
    const int points[3] = {8, 8, 8};
    case_plain(&c);
    case_batch good(1, all, points, sizeof(float));
    fd_batch b = good.batch;
    void *const memory = good.grid.data(); /* that nothing writes to; perhaps not aligned to 128 bytes */
    auto what = [&](const fd_batch *batch, const case_parameters *p, void *m, size_t bytes) {
        return central_onchip_f32<>(batch, p, m, bytes, 0);
    };
    const case_parameters *p = good.parameters.data();
    void *const aligned = (void *)(((size_t)memory + 127) / 128 * 128);
    CHECK(what(NULL, p, aligned, 1) == FD_BAD_ARGUMENT, "no batch");
    CHECK(what(&b, NULL, aligned, (size_t)-1) == FD_BAD_ARGUMENT, "no parameters");
    CHECK(what(&b, p, NULL, (size_t)-1) == FD_BAD_ARGUMENT, "no memory");
    CHECK(what(&b, p, (char *)aligned + 64, (size_t)-1) == FD_BAD_ARGUMENT, "memory off its alignment");
    CHECK(what(&b, p, aligned, 1) == FD_NO_ROOM, "less memory");
#ifdef SIMT_EMULATOR
    CHECK(good.status[0].what < 0 && isnan(good.values[0].value), "less memory: %g", good.values[0].value);
#endif
    b.problem = NULL;
    CHECK(what(&b, p, aligned, (size_t)-1) == FD_BAD_ARGUMENT, "no problems");
    CHECK(central_onchip_bytes_f32<>(&b) > 0, "bytes, before there are any");
    b.problems = 0;
    CHECK(what(&b, NULL, NULL, 0) == FD_OK, "none to be solved");
    for (int bad = 0; bad < 6; bad++) {
        b = good.batch;
        if (bad == 0) b.problems = -1;
        if (bad == 1) b.points[2] = 3;
        if (bad == 2) b.points[0] = ADI3D_MOST + 1, b.grid = NULL, b.coordinates[0] = NULL; /* not of that size */
        if (bad == 3) b.steps = 0;
        if (bad == 4) b.dates = -1;
        if (bad == 5) b.spots = -1;
        CHECK(what(&b, p, aligned, (size_t)-1) == FD_BAD_SIZE, "size %d", bad);
        CHECK(central_onchip_bytes_f32<>(&b) == 0 && central_onchip_blocks_f32<>(&b) == 0, "bytes of size %d", bad);
    }
}

/* The sizes that fit in blocks of 227 KiB. With many problems no cluster is larger than it must be. */
static void what_fits()
{
    static const struct {
        int points, f32, f64;
    } fits[] = {{16, 1, 1}, {24, 1, 2}, {32, 2, 4}, {40, 4, 8}, {48, 4, 16}, {49, 0, 0}};
    fd_batch b;
    memset(&b, 0, sizeof b);
    b.problems = 1000, b.steps = 10;
    for (const auto &fit : fits) {
        for (int d = 0; d < 3; d++) b.points[d] = fit.points;
        const int f32 = central_onchip_blocks_f32<>(&b), f64 = central_onchip_blocks_f64<>(&b);
#ifdef SIMT_EMULATOR
        CHECK(f32 == fit.f32 && f64 == fit.f64, "%d points: clusters of %d and %d", fit.points, f32, f64);
#else
        CHECK((f32 > 0 || !fit.f32 || f64 == 0) && f32 <= 16 && f64 <= 16, "%d points: clusters of %d and %d",
              fit.points, f32, f64);
#endif
    }
    case_parameters p;
    fd_problem none;
    fd_status status;
    b.points[0] = 49, b.points[1] = b.points[2] = 4, b.problems = 1, b.problem = &none, b.status = &status;
    CHECK(central_onchip_f32<>(&b, &p, (void *)128, (size_t)-1, 0) == FD_NO_ROOM, "an axis that is too long");
    b.points[0] = 8;
    CHECK(central_onchip_blocks_f32<>(&b) >= 1, "a small one");
}

/* Problems for which a batch has no room. */
static void no_room()
{
    static case_problem c;
    for (int w = 0; w < 4; w++) {
        fd_status due = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
        case_plain(&c);
        const case_problem *const all[1] = {&c};
        const int points[3] = {MOST, w == 0 ? 6 : MOST, MOST};
        case_batch there(1, all, points, sizeof(double)), here(1, all, points, sizeof(double));
        if (w == 0) due.what = FD_TOO_MANY_POINTS, due.axis = 1, due.detail = 7;
        if (w == 1) there.batch.dates = here.batch.dates = 1, due.what = FD_TOO_MANY_DATES, due.detail = 2;
        if (w == 2) there.batch.steps = here.batch.steps = 3, due.what = FD_TOO_MANY_STEPS, due.detail = 6;
        asked_size = 0;
        CHECK(central_f64.device(there) == FD_OK, "no room %d: launch", w);
        CHECK(solve_here(&central_f64, here, 1) == FD_OK, "no room %d: host", w);
        for (int by = 0; by < 2; by++) {
            const fd_status s = by ? there.status[0] : here.status[0];
            CHECK(s.what == due.what && s.axis == due.axis && s.detail == due.detail, "no room %d, %d: %d, %d, axis %d",
                  w, by, s.what, s.detail, s.axis);
        }
    }
}

int main()
{
    printf("seed %d\n", SEED);
    random_problems();
    every_kind();
    batches();
    sizes();
    batches_that_are_none();
    what_fits();
    no_room();
    for (int r = 0; r < 5; r++) {
        asked_size = r < 2 ? 2 - r : 0, asked_threads = 1;
        if (r == 2) case_not_alone(&runners[r]);
        if (r == 2 || (check_short() && r != 0 && r != 3)) continue;
        case_statuses(&runners[r]);
    }
    for (int r = 0; r < RUNNERS; r++) case_declarations(&runners[r]);
    if (check_short()) check_skip(2, "what is wrong with problems, in single precision: SHORT_TESTS is set");
#ifdef __CUDACC__
    check_skip(2, "drifts taken upwind and fitted: the emulator has them");
#endif
    return check_report();
}
