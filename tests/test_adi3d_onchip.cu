/* test_adi3d_onchip.cu - pde/adi3d.h's batches, on chip and by the host: random problems against a plain march, batches
   against the host's engine, clusters of every size, what is wrong with a problem among others that are none the worse,
   and which sizes fit.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). test_adi3d_host.c tells whether
   the host is right. */
#include "adi3d_cases.h"
#include "device_memory.h"

enum { SEED = 20251126, MOST = 9 /* points of the batches' axes */, PROBLEMS = 5 };

/* A batch of the host's, its results between guards. */
struct case_batch {
    std::vector<case_parameters> parameters;
    std::vector<adi3d_problem> problem;
    std::vector<fd_status> status;
    std::vector<adi3d_values> values;
    std::vector<unsigned char> grid;
    std::vector<double> coordinates[3];
    adi3d_batch batch;
    case_batch(int problems, const case_problem *const *c, const int *points, size_t real)
    {
        memset(&batch, 0, sizeof batch);
        batch.problems = problems, batch.steps = 40, batch.dates = CASE_DATES;
        size_t all = 1;
        for (int d = 0; d < 3; d++) batch.points[d] = points[d], all *= (size_t)points[d];
        for (int k = 0; k < problems; k++) parameters.push_back(c[k]->parameters), problem.push_back(c[k]->problem);
        status.resize((size_t)problems, fd_status_of(-99, 0, 0, 0, 0, 0, 0));
        values.resize((size_t)problems * (1 + CASE_DATES));
        grid.resize((size_t)problems * all * real);
        if (problems) memset(values.data(), CASE_FILL, values.size() * sizeof(adi3d_values));
        if (problems) memset(grid.data(), CASE_FILL, grid.size());
        for (int d = 0; d < 3; d++) {
            coordinates[d].resize((size_t)(problems * points[d]), 0);
            batch.coordinates[d] = coordinates[d].data();
        }
        batch.problem = problem.data(), batch.status = status.data(), batch.values = values.data();
        batch.grid = grid.data();
    }
};

/* Where a launch is asked to go: clusters of so many blocks, of so many threads at most; 0: as MODEL_onchip has it. */
static int asked_size, asked_threads;

/* Solves it on the device: with all that it points to there, and memory of exactly the bytes asked for. */
template <class Launch>
static fd_status solve_there(const case_batch &host, size_t bytes, Launch launch)
{
    std::vector<adi3d_problem> problem = host.problem;
    std::vector<device_memory *> kept;
    auto there = [&](const void *from, size_t size) {
        kept.push_back(new device_memory(size, from));
        return kept.back()->data();
    };
    for (adi3d_problem &p : problem) {
        for (int d = 0; d < 3; d++)
            if (p.points[d] && p.axis[d].points > 0)
                p.points[d] = (double *)there(p.points[d], (size_t)p.axis[d].points * sizeof(double));
        const int dates = p.times.dates > 0 ? p.times.dates : 0;
        if (p.times.date) p.times.date = (double *)there(p.times.date, (size_t)dates * sizeof(double));
        if (p.at_date) p.at_date = (fd_date *)there(p.at_date, (size_t)dates * sizeof(fd_date));
    }
    const size_t n = host.problem.size();
    device_memory problems(n * sizeof(adi3d_problem), problem.data()), memory(bytes);
    device_memory status(n * sizeof(fd_status), host.status.data()), grid(host.grid.size(), host.grid.data());
    device_memory values(host.values.size() * sizeof(adi3d_values), host.values.data());
    device_memory parameters(n * sizeof(case_parameters), host.parameters.data());
    adi3d_batch device = host.batch;
    device_memory *coordinates[3];
    for (int d = 0; d < 3; d++) {
        coordinates[d] = new device_memory(host.coordinates[d].size() * sizeof(double), host.coordinates[d].data());
        device.coordinates[d] = (double *)coordinates[d]->data();
    }
    device.problem = (adi3d_problem *)problems.data(), device.status = (fd_status *)status.data();
    device.values = (adi3d_values *)values.data(), device.grid = grid.data();
    const fd_status done = launch(&device, (const case_parameters *)parameters.data(), memory.data());
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

/* A model in a precision: its batches by the device and by the host, and one problem by the host's engine. */
typedef struct {
    const char *name;
    size_t real;
    fd_status (*device)(const case_batch &);
    int (*host_batch)(const adi3d_batch *, const case_parameters *, int, void *, size_t);
    size_t (*host_batch_bytes)(const adi3d_batch *, int);
    int (*host)(const adi3d_problem *, const case_parameters *, int, void *, size_t, adi3d_result *);
    size_t (*host_bytes)(const adi3d_problem *, int);
} engine;

#define ENGINE(model, precision, real)                                                                                 \
    static fd_status model##_there_##precision(const case_batch &host)                                                 \
    {                                                                                                                  \
        const size_t bytes = model##_onchip_bytes_##precision<>(&host.batch);                                          \
        return solve_there(host, bytes,                                                                                \
                           [&](const adi3d_batch *batch, const case_parameters *parameters, void *memory) {            \
                               if (!asked_size)                                                                        \
                                   return model##_onchip_##precision<>(batch, parameters, 0, memory, bytes);           \
                               model##_p_batch_##precision launch;                                                     \
                               launch.batch = *batch, launch.parameters = parameters;                                  \
                               launch.memory = (unsigned char *)memory;                                                \
                               launch.bytes = bytes / (size_t)batch->problems;                                         \
                               const model##_p_chosen_##precision chosen =                                             \
                                   asked_threads ? model##_p_choose_##precision<8, 64>(batch, asked_size)              \
                                                 : model##_p_choose_##precision<16, 512>(batch, asked_size);           \
                               CHECK(chosen.bytes > 0 && chosen.size == asked_size, "no cluster of %d", asked_size);   \
                               const cudaError_t error = model##_p_onchip_##precision<0>(launch, chosen, 0);           \
                               return fd_status_of(error ? FD_LAUNCH_FAILED : 0, (int)error, -1, -1, -1, -1, -1);      \
                           });                                                                                         \
    }                                                                                                                  \
    static const engine model##_##precision = {#model "_" #precision,                                                  \
                                               sizeof(real),                                                           \
                                               model##_there_##precision,                                              \
                                               model##_host_batch_##precision,                                         \
                                               model##_host_batch_bytes_##precision,                                   \
                                               model##_host_##precision,                                               \
                                               model##_host_bytes_##precision};
ENGINE(central, f64, double)
ENGINE(central, f32, float)
ENGINE(apart, f64, double)
#ifdef __CUDACC__ /* the others differ from these in pde/fd.h's rows alone, and nvcc takes a minute for each */
static const engine *const engines[] = {&central_f64, &central_f32, &central_f32, &central_f64};
#else
ENGINE(upwind, f32, float)
ENGINE(fitted, f64, double)
static const engine *const engines[] = {&central_f64, &central_f32, &upwind_f32, &fitted_f64};
#endif

/* The place of point (i, j, k) of a batch's problem in its grid. */
static int place_of(const adi3d_batch *batch, int which, int i, int j, int k)
{
    return i + batch->points[0] * (j + batch->points[1] * (k + batch->points[2] * which));
}

/* A problem in the middle of a batch of three, the others of which are good: as case_runner wants it. */
static int among_others(const engine *e, int by_host, const adi3d_problem *problem, const case_parameters *parameters,
                        adi3d_result *result)
{
    static case_problem c[3];
    int points[3], sized = 1;
    case_plain(&c[0]), case_plain(&c[2]);
    c[0].parameters.apart = c[2].parameters.apart = e == &apart_f64;
    c[2].problem.exercise = FD_AMERICAN, c[2].problem.scheme = FD_HUNDSDORFER_VERWER;
    c[1].problem = *problem, c[1].parameters = *parameters;
    for (int d = 0; d < 3; d++) {
        const int own = problem->axis[d].points;
        sized &= own >= 4 && own <= ADI3D_MOST, points[d] = own > MOST && own <= ADI3D_MOST ? own : MOST;
    }
    const case_problem *const all[3] = {&c[0], &c[1], &c[2]};
    case_batch batch(3, all, points, e->real);
    batch.batch.steps = 60;
    if (by_host) {
        const size_t bytes = e->host_batch_bytes(&batch.batch, 1);
        void *memory = case_guarded(bytes);
        const int what = e->host_batch(&batch.batch, batch.parameters.data(), 1, memory, bytes);
        CHECK(what == FD_OK, "%s: %s", e->name, fd_status_string(what));
        CHECK(case_release(memory, bytes), "a guard of the host's memory has been written");
    } else {
        const fd_status done = e->device(batch);
        CHECK(done.what == FD_OK, "%s: %s, detail %d", e->name, fd_status_string(done.what), done.detail);
    }
    CHECK(batch.status[0].what == FD_OK && batch.status[2].what == FD_OK, "%s: the problems beside it", e->name);
    CHECK(fabs(batch.values[0].value) < 1 && fabs(batch.values[2 * (1 + CASE_DATES)].value) < 1,
          "%s: the values of the problems beside it", e->name);
    memcpy(result->values, &batch.values[1 + CASE_DATES], (1 + CASE_DATES) * sizeof(adi3d_values));
    for (int k = 0; k < problem->axis[2].points && sized && result->grid; k++)
        for (int j = 0; j < problem->axis[1].points; j++)
            memcpy((char *)result->grid +
                       e->real * (size_t)(problem->axis[0].points * (j + problem->axis[1].points * k)),
                   &batch.grid[e->real * (size_t)place_of(&batch.batch, 1, 0, j, k)],
                   e->real * (size_t)problem->axis[0].points);
    for (int d = 0; d < 3 && sized && result->coordinates[0]; d++)
        memcpy(result->coordinates[d], &batch.coordinates[d][(size_t)points[d]],
               (size_t)problem->axis[d].points * sizeof(double));
    result->status = batch.status[1];
    return result->status.what;
}

#define RUNNER(model, precision, name, by_host)                                                                        \
    static int model##_##name##_##precision(const adi3d_problem *problem, const case_parameters *parameters,           \
                                            adi3d_result *result)                                                      \
    {                                                                                                                  \
        return among_others(&model##_##precision, by_host, problem, parameters, result);                               \
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
    {"central, double", 0, FD_CENTRAL, 7, 1, 0, central_device_f64},
    {"central, single", 1, FD_CENTRAL, 7, 1, 0, central_device_f32},
    {"apart, double", 0, FD_CENTRAL, 7, 1, 1, apart_device_f64},
    {"central, double, host", 0, FD_CENTRAL, 7, 1, 0, central_batch_f64},
    {"central, single, host", 1, FD_CENTRAL, 7, 1, 0, central_batch_f32},
#ifndef __CUDACC__
    {"upwind, single", 1, FD_UPWIND, 5, 1, 0, upwind_device_f32},
    {"fitted, double", 0, FD_FITTED, 2, 0, 0, fitted_device_f64},
#endif
};
enum { RUNNERS = sizeof runners / sizeof *runners };

/* How launches are to go, the k-th time. */
static void ask(int k)
{
    static const int sizes[] = {0, 1, 2, 4, 8};
    asked_size = sizes[k % 5], asked_threads = k / 5 % 2;
#ifdef SIMT_EMULATOR
    simt_permute(k % 3 ? (unsigned long long)(SEED + k) : 0);
#endif
}

/* Against the plain march: rounding, which marches that are not stable make larger. */
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

/* Each scheme and kind of coefficients, and faces of each kind on every side. */
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

/* Batches of any problems against the host's engine: on chip to rounding, by the host's batch to the bit. */
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
            if (m == 1 && k % 4 == 3) c[m].problem.spot[1] = -1;
        }
        case_batch there(problems, all, most, e->real), here(problems, all, most, e->real);
        ask(k % 5 ? k : 0);
        const fd_status done = e->device(there);
        CHECK(done.what == FD_OK, "%s, %d problems: %s, detail %d", e->name, problems, fd_status_string(done.what),
              done.detail);
        const size_t bytes = e->host_batch_bytes(&here.batch, 2);
        void *memory = case_guarded(bytes);
        CHECK(e->host_batch(&here.batch, here.parameters.data(), 2, memory, bytes) == FD_OK, "%s: host", e->name);
        CHECK(case_release(memory, bytes), "a guard of the host's memory has been written");
        for (int m = 0; m < problems; m++) {
            const adi3d_problem *q = &c[m].problem;
            adi3d_problem watched = *q;
            const size_t alone_bytes = e->host_bytes(q, 1), points = adi3d_p_points(q);
            adi3d_values values[1 + CASE_DATES];
            std::vector<unsigned char> grid(points * e->real);
            adi3d_result result = {fd_status_of(-99, 0, 0, 0, 0, 0, 0), values, grid.data(), {NULL, NULL, NULL}};
            memset(values, CASE_FILL, sizeof values);
            watched.watched = 1;
            memory = malloc(alone_bytes);
            e->host(&watched, &c[m].parameters, 1, memory, alone_bytes, &result);
            free(memory);
            for (int w = 0; w < 2; w++) {
                const case_batch &by = w ? there : here;
                const fd_status s = by.status[(size_t)m], t = result.status;
                CHECK(s.what == t.what && s.detail == t.detail && s.axis == t.axis && s.i == t.i && s.j == t.j &&
                          s.k == t.k && s.step == t.step && ((w && e->real == 4) || s.not_dominant == t.not_dominant),
                      "%s, %s, problem %d: what %d at %d %d %d step %d, not_dominant %d, instead of %d at %d %d %d, "
                      "%d, not_dominant %d",
                      e->name, w ? "on chip" : "host", m, s.what, s.i, s.j, s.k, s.step, s.not_dominant, t.what, t.i,
                      t.j, t.k, t.step, t.not_dominant);
                const double off = fabs((double)s.growth - (double)t.growth);
                CHECK(off <= (w ? (e->real == 4 ? 1e-3 : 1e-6) : 0) * (double)t.growth,
                      "%s, %s, problem %d: growth %g instead of %g", e->name, w ? "on chip" : "host", m,
                      (double)s.growth, (double)t.growth);
                double worst = 0, largest = 0;
                for (int at = 0; at < (int)points; at++) {
                    const int n0 = q->axis[0].points, n1 = q->axis[1].points;
                    const double due = case_number(grid.data(), e->real == 4, at);
                    const int place = place_of(&by.batch, m, at % n0, at / n0 % n1, at / n0 / n1);
                    const double error = fabs(case_number(by.grid.data(), e->real == 4, place) - due);
                    if (t.what ? error == error : !(error <= worst)) worst = t.what ? 1 : error;
                    if (!(fabs(due) <= largest)) largest = fabs(due);
                }
                const double tolerance = t.what || !w ? 0 : largest * (e->real == 4 ? 3e-4 : 1e-11);
                CHECK(worst <= tolerance, "%s, %s, problem %d: off by %.2e, values to %.2e", e->name,
                      w ? "on chip" : "host", m, worst, largest);
                const double value = by.values[(size_t)m * (1 + CASE_DATES)].value;
                if (t.what)
                    CHECK(!(value == value), "%s, problem %d has a value", e->name, m);
                else
                    check_near(value, values[0].value, 16 * tolerance, "%s, problem %d: the value", e->name, m);
            }
        }
    }
    if (check_short()) check_skip(15, "batches: SHORT_TESTS is set");
}

/* Longer lines, to the limit, and results that depend on no cluster's size. */
static void sizes()
{
    static const int points[][3] = {{48, 4, 5}, {4, 33, 6}, {5, 4, 48}, {31, 7, 4}, {4, 32, 17}, {17, 16, 9}};
    for (int k = 0; k < (int)(sizeof points / sizeof *points); k++) {
        if (check_short() && k % 3 != 2) continue;
        static case_problem c;
        const case_problem *const all[1] = {&c};
        adi3d_problem *q = &c.problem;
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
        const size_t bytes = e->host_batch_bytes(&here.batch, 1);
        void *memory = malloc(bytes);
        CHECK(e->host_batch(&here.batch, here.parameters.data(), 1, memory, bytes) == FD_OK, "%s: host", e->name);
        free(memory);
        const int longest = points[k][0] > 32 || points[k][1] > 32 || points[k][2] > 32;
        for (int size = 0; size <= (longest ? 0 : 4); size = size ? 2 * size : 1) {
            asked_size = size, asked_threads = 0;
            case_batch there(1, all, points[k], e->real);
            CHECK(e->device(there).what == FD_OK && there.status[0].what == FD_OK, "%s: clusters of %d", e->name, size);
            double worst = 0;
            const int count = (int)(there.grid.size() / e->real);
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

/* What fits, and what is no batch. */
static void batches_that_are_none()
{
    static case_problem c;
    const case_problem *const all[1] = {&c};
    const int points[3] = {8, 8, 8};
    case_plain(&c);
    case_batch good(1, all, points, sizeof(float));
    adi3d_batch b = good.batch;
    unsigned char memory[1];
    auto what = [&](const adi3d_batch *batch, const case_parameters *p, void *m, size_t bytes) {
        const int host = central_host_batch_f32(batch, p, 1, m, bytes);
        const int device = central_onchip_f32<>(batch, p, 0, m, bytes).what;
        CHECK(host == device, "host says %d, device %d", host, device);
        return device;
    };
    const case_parameters *p = good.parameters.data();
    CHECK(what(NULL, p, memory, 1) == FD_BAD_ARGUMENT, "no batch");
    CHECK(what(&b, NULL, memory, (size_t)-1) == FD_BAD_ARGUMENT, "no parameters");
    CHECK(what(&b, p, NULL, (size_t)-1) == FD_NO_ROOM, "no memory");
    CHECK(what(&b, p, memory, 1) == FD_NO_ROOM, "less memory");
    CHECK(good.status[0].what < 0 && isnan(good.values[0].value), "less memory: %g", good.values[0].value);
    good.status[0].what = FD_OK, good.values[0].value = 0;
    CHECK(central_host_batch_f32(&b, p, 1, NULL, 1) == FD_NO_ROOM && good.status[0].what == FD_NO_ROOM &&
              isnan(good.values[0].value),
          "no memory: %g", good.values[0].value);
    b.problem = NULL;
    CHECK(what(&b, p, memory, (size_t)-1) == FD_BAD_ARGUMENT, "no problems");
    CHECK(central_onchip_bytes_f32<>(&b) > 0 && central_host_batch_bytes_f32(&b, 1) > 0, "bytes, before there are any");
    b.problems = 0;
    CHECK(what(&b, NULL, NULL, 0) == FD_OK, "none to be solved");
    for (int bad = 0; bad < 5; bad++) {
        b = good.batch;
        if (bad == 0) b.problems = -1;
        if (bad == 1) b.points[2] = 3;
        if (bad == 2) b.points[0] = ADI3D_MOST + 1;
        if (bad == 3) b.steps = 0;
        if (bad == 4) b.dates = -1;
        CHECK(what(&b, p, memory, (size_t)-1) == FD_BAD_SIZE, "size %d", bad);
        CHECK(central_onchip_bytes_f32<>(&b) == 0 && central_onchip_blocks_f32<>(&b) == 0, "bytes of size %d", bad);
    }
    CHECK(central_host_batch_f32(&good.batch, p, 0, memory, (size_t)-1) == FD_BAD_SIZE, "no workers");
    /* Sizes, in blocks of 227 KiB; many problems, for which no cluster is larger than need be. */
    static const struct {
        int points, f32, f64;
    } fits[] = {{16, 1, 1}, {24, 1, 2}, {32, 2, 4}, {40, 4, 8}, {48, 4, 16}, {49, 0, 0}};
    for (const auto &fit : fits) {
        b = good.batch, b.problems = 1000;
        for (int d = 0; d < 3; d++) b.points[d] = fit.points;
        const int f32 = central_onchip_blocks_f32<>(&b), f64 = central_onchip_blocks_f64<>(&b);
#ifdef SIMT_EMULATOR
        CHECK(f32 == fit.f32 && f64 == fit.f64, "%d points: clusters of %d and %d", fit.points, f32, f64);
#else
        CHECK((f32 > 0 || !fit.f32 || f64 == 0) && f32 <= 16 && f64 <= 16, "%d points: clusters of %d and %d",
              fit.points, f32, f64);
#endif
    }
    b.points[0] = 49, b.points[1] = b.points[2] = 4, b.problems = 1;
    b.grid = NULL, b.coordinates[0] = b.coordinates[1] = b.coordinates[2] = NULL; /* which are not so large */
    CHECK(central_onchip_f32<>(&b, p, 0, memory, (size_t)-1).what == FD_NO_ROOM, "an axis that is too long");
    b.points[0] = 8, b.problems = 1;
    CHECK(central_onchip_blocks_f32<>(&b) >= 1, "a small one");
}

/* What a batch has no room for. */
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
        CHECK(central_f64.device(there).what == FD_OK, "no room %d: launch", w);
        const size_t bytes = central_host_batch_bytes_f64(&here.batch, 1);
        void *memory = malloc(bytes);
        CHECK(central_host_batch_f64(&here.batch, here.parameters.data(), 1, memory, bytes) == FD_OK, "host");
        free(memory);
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
