/* test_fd1d.cu - pde/fd1d.h on a device: random problems against a plain march and against the host, by warps and by
   blocks, in one launch and in several, and everything that can be wrong with a problem.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). test_fd1d_host.c tells whether the host is right. */
#include "fd1d_cases.h"
#include "device_memory.h"

enum { SEED = 20251125 };

/* How many problems the memory has room for; 0: as many as MODEL_device_bytes chooses. */
static int asked_room;

/* All that a batch points to, on the device: results, problems, and what these point to. */
struct device_batch {
    fd_batch batch;
    std::vector<device_memory *> kept;
    device_memory *status, *values, *grid, *coordinates;

    void *there(const void *from, size_t bytes)
    {
        if (!from) return NULL;
        kept.push_back(new device_memory(bytes, from));
        return kept.back()->data();
    }
    device_memory *result(const void *from, size_t bytes) { return new device_memory(from ? bytes : 0, from); }
    void problem(fd_problem *p)
    {
        const int points = p->axis[0].points, most = batch.dates;
        const size_t dates = (size_t)(p->times.dates < 0 ? 0 : p->times.dates < most ? p->times.dates : most);
        if (p->points[0])
            p->points[0] = (double *)there(p->points[0], (size_t)(points > 0 ? points : 0) * sizeof(double));
        p->times.date = (double *)there(p->times.date, dates * sizeof(double));
        p->times.kink = (int *)there(p->times.kink, dates * sizeof(int));
        p->at_date = (fd_date *)there(p->at_date, dates * sizeof(fd_date));
        p->spot = (double *)there(p->spot, (size_t)batch.spots * sizeof(double));
    }
    device_batch(const fd_batch *from, size_t number) : batch(*from)
    {
        const size_t n = (size_t)from->problems, times = n * (size_t)(1 + from->dates),
                     points = (size_t)from->points[0];
        std::vector<fd_problem> problems(from->problem, from->problem + n);
        for (fd_problem &p : problems) problem(&p);
        batch.problem = (fd_problem *)there(problems.data() ? problems.data() : (fd_problem *)from->problem,
                                            n * sizeof(fd_problem));
        status = result(from->status, n * sizeof(fd_status));
        values = result(from->values, times * (size_t)from->spots * sizeof(fd_values));
        grid = result(from->grid, times * points * number);
        coordinates = result(from->coordinates[0], n * points * sizeof(double));
        batch.status = (fd_status *)status->data(), batch.values = from->values ? (fd_values *)values->data() : NULL;
        batch.grid = from->grid ? grid->data() : NULL;
        batch.coordinates[0] = from->coordinates[0] ? (double *)coordinates->data() : NULL;
    }
    /* Copies the results back. */
    void back(const fd_batch *to)
    {
        bool whole = status->back(to->status) & values->back(to->values) & grid->back(to->grid);
        whole &= coordinates->back(to->coordinates[0]);
        for (device_memory *m : kept) whole &= m->back(NULL), delete m;
        delete status, delete values, delete grid, delete coordinates;
        CHECK(whole, "a guard of device memory has been written");
    }
};

/* Solves a batch in host memory on the device: copies all that it points to there, and takes memory of exactly the
   bytes that the launch asks for. */
static int solve_there(const fd_batch *batch, const case_parameters *parameters, size_t number, size_t bytes,
                       int solve(const fd_batch *, const case_parameters *, void *, size_t, cudaStream_t))
{
    device_batch device(batch, number);
    device_memory there((size_t)batch->problems * sizeof *parameters, parameters), memory(bytes);
    const int status = solve(&device.batch, (case_parameters *)there.data(), memory.data(), bytes, 0);
    GPU_OK(cudaDeviceSynchronize());
    device.back(batch);
    CHECK(there.back(NULL) & memory.back(NULL), "a guard of the memory has been written");
    return status;
}

#define SOLVER(model, precision, real)                                                                                 \
    static int model##_solver_##precision(const fd_batch *batch, const case_parameters *parameters)                    \
    {                                                                                                                  \
        fd_batch one = *batch;                                                                                         \
        one.problems = 1;                                                                                              \
        const size_t each = model##_device_bytes_##precision<>(&one);                                                  \
        const size_t bytes = asked_room ? asked_room * each + each / 2 : model##_device_bytes_##precision<>(batch);    \
        return solve_there(batch, parameters, sizeof(real), bytes, model##_device_##precision<>);                      \
    }                                                                                                                  \
    static int model##_host_solver_##precision(const fd_batch *batch, const case_parameters *parameters)               \
    {                                                                                                                  \
        const size_t bytes = model##_host_bytes_##precision(batch, 1);                                                 \
        void *memory = case_guarded(bytes);                                                                            \
        const int status = model##_host_##precision(batch, parameters, 1, memory, bytes);                              \
        case_release(memory, bytes);                                                                                   \
        return status;                                                                                                 \
    }
SOLVER(full, f32, float)
SOLVER(full, f64, double)
SOLVER(plain, f32, float)
SOLVER(plain, f64, double)
SOLVER(moving, f32, float)
SOLVER(moving, f64, double)
SOLVER(fitted, f32, float)
SOLVER(fitted, f64, double)

/* A model's device version, and the host version with which it must agree. */
struct device_runner {
    case_runner here;
    case_solver *host;
};
enum { ALL = CASE_FACES + CASE_CHANGES + CASE_EXERCISES };
static const device_runner runners[] = {
    {{"full, double", FD_CENTRAL, ALL, 0, full_solver_f64}, full_host_solver_f64},
    {{"full, single", FD_CENTRAL, ALL, 1, full_solver_f32}, full_host_solver_f32},
    {{"plain, double", FD_CENTRAL, CASE_CHANGES, 0, plain_solver_f64}, plain_host_solver_f64},
    {{"plain, single", FD_CENTRAL, CASE_CHANGES, 1, plain_solver_f32}, plain_host_solver_f32},
    {{"moving, double", FD_UPWIND, CASE_MOVES + ALL, 0, moving_solver_f64}, moving_host_solver_f64},
    {{"moving, single", FD_UPWIND, CASE_MOVES + ALL, 1, moving_solver_f32}, moving_host_solver_f32},
    {{"fitted, double", FD_FITTED, CASE_MOVES, 0, fitted_solver_f64}, fitted_host_solver_f64},
    {{"fitted, single", FD_FITTED, CASE_MOVES, 1, fitted_solver_f32}, fitted_host_solver_f32},
};

/* Compares random problems for groups of lanes of every shape, which the points of a batch choose. The emulator takes
   warps and blocks in random order. */
static void random_problems(const device_runner *runner, case_random *random)
{
    static const int most[] = {4, 33, 128, 129, 256, 257, 512, 513, 1024};
    for (int m = 0; m < 9; m++) {
        const int count = check_short() && most[m] > 128 ? 2 : 6;
        if (check_short() && m % 2) continue;
#ifdef SIMT_EMULATOR
        simt_permute(m % 3 ? case_bits(random) : 0);
#endif
        asked_room = m % 4; /* 0: for all */
        case_random_batch(&runner->here, random, count, most[m], CASE_ANY);
        case_random_batch(&runner->here, random, count / 2, most[m], CASE_ALIKE);
    }
    asked_room = 0;
    case_random_batch(&runner->here, random, 0, 9, CASE_ANY);
    case_random_batch(&runner->here, random, 1, 9, CASE_ANY);
    asked_room = 7;
    case_random_batch(&runner->here, random, check_short() ? 17 : 40, 40, CASE_ANY);
    asked_room = 0;
#ifdef SIMT_EMULATOR
    simt_permute(0);
#endif
}

/* Solves a batch by the device and by the host, and compares statuses and results. */
static void by_both(const device_runner *runner, case_random *random)
{
    enum { COUNT = 12, MOST = 140 };
    static case_problem c[COUNT];
    case_batch b[2];
    for (int k = 0; k < COUNT; k++) case_random_problem(&runner->here, random, MOST, k % 4 == 0, &c[k]);
    for (int q = 0; q < 2; q++) {
        b[q] = case_batch_of(COUNT, MOST, CASE_STEPS, CASE_DATES, 2, runner->here.single);
        for (int k = 0; k < COUNT; k++) case_put(&b[q], k, &c[k]);
        const int status = (q ? runner->host : runner->here.solve)(&b[q].batch, b[q].parameters);
        CHECK(status == FD_OK, "%s: refused", runner->here.name);
    }
    for (int k = 0; k < COUNT; k++) {
        const fd_status here = b[0].batch.status[k], there = b[1].batch.status[k];
        double off = 0, largest = 0;
        CHECK(here.what == there.what && (runner->here.single || here.not_dominant == there.not_dominant),
              "%s: problem %d: %s, on the host %s", runner->here.name, k, fd_status_string(here.what),
              fd_status_string(there.what));
        check_near((double)here.growth, (double)there.growth, 1e-3 * (double)there.growth, "%s: growth",
                   runner->here.name);
        for (int i = 0; i < c[k].problem.axis[0].points && !here.what; i++) {
            const double value = case_number(&b[1], k, 0, i);
            off = fmax(off, fabs(case_number(&b[0], k, 0, i) - value)), largest = fmax(largest, fabs(value));
        }
        CHECK(off <= 4 * case_tolerance(&runner->here, MOST) * fmax(largest, 1), "%s: problem %d, off by %.2e of %.2e",
              runner->here.name, k, off, largest);
    }
    case_batch_free(&b[0], runner->here.name), case_batch_free(&b[1], runner->here.name);
}

/* ---- calls that are refused -------------------------------------------------------------------------------------- */

/* A call with one wrong argument, number `which`. */
struct wrong_call {
    fd_batch batch;
    const case_parameters *parameters;
    unsigned char *memory;
    size_t room;
    int due, counted; /* counted: the batch says how many results there are */
};

static void spoil_call(int which, wrong_call *c)
{
    c->due = which < 6 ? FD_BAD_ARGUMENT : which < 8 ? FD_NO_ROOM : FD_BAD_SIZE, c->counted = which < 9;
    if (which == 0) c->parameters = NULL;
    if (which == 1) c->memory = NULL;
    if (which == 2) c->memory += 64;
    if (which == 3) c->batch.problem = NULL;
    if (which == 4) c->batch.values = NULL;
    if (which == 5) c->batch.status = NULL;
    if (which == 6) c->room--;
    if (which == 7) c->room = 0;
    /* which == 8: more points than are allowed */
    if (which == 9) c->batch.points[0] = 3;
    if (which == 10) c->batch.points[0] = 32769;
    if (which == 11) c->batch.steps = 0, c->counted = 1;
    if (which == 12) c->batch.dates = -1;
    if (which == 13) c->batch.spots = -1;
}

/* Checks that a call that is refused leaves FD_BAD_ARGUMENT and NaN, if the batch says how many results there are. */
static void refuse(int which, int points)
{
    static case_problem plain[2];
    const case_runner *runner = &runners[4].here;
    case_batch b = case_batch_of(2, points, CASE_ROOM_STEPS, CASE_EVENTS, CASE_PLACES, 0);
    for (int k = 0; k < 2; k++) case_plain(runner, &plain[k]), case_put(&b, k, &plain[k]);
    device_batch device(&b.batch, sizeof(double));
    fd_batch one = device.batch;
    one.problems = 1;
    const size_t each = points <= FD1D_MOST ? moving_device_bytes_f64<>(&one) : 1 << 20;
    device_memory parameters(2 * sizeof(case_parameters), b.parameters), memory(each + 128);
    wrong_call c = {device.batch, (case_parameters *)parameters.data(), (unsigned char *)memory.data(), each, 0, 0};
    spoil_call(which, &c);
    const int said = moving_device_f64<>(&c.batch, c.parameters, c.memory, c.room, 0);
    CHECK(said == c.due, "refused %d: %d", which, said);
    GPU_OK(cudaDeviceSynchronize());
    std::vector<unsigned char> left(memory.bytes);
    CHECK(memory.back(left.data()) && case_untouched(left.data(), left.size()), "refused %d: memory", which);
    device.back(&b.batch);
    for (int k = 0; k < 2 && c.counted; k++) {
        const int what = b.batch.status[k].what;
        if (c.batch.status) CHECK(what == FD_BAD_ARGUMENT, "refused %d: %d", which, what);
        if (c.batch.values) CHECK(case_numbers_left(&b, k) == 0, "refused %d: numbers", which);
    }
    CHECK(c.counted || case_still_stale(b.batch.values, b.value_bytes), "refused %d: values", which);
    CHECK(c.counted || case_still_stale(b.batch.grid, b.grid_bytes), "refused %d: grid", which);
    case_batch_free(&b, "refused");
}

static void no_batches()
{
    fd_batch none;
    memset(&none, 0, sizeof none);
    none.points[0] = 4, none.steps = 1;
    CHECK(moving_device_f64<>(NULL, NULL, NULL, 0, 0) == FD_BAD_ARGUMENT, "no batch");
    CHECK(moving_device_f64<>(&none, NULL, NULL, 0, 0) == FD_OK, "a batch of 0");
    none.problems = -1;
    CHECK(moving_device_f64<>(&none, NULL, NULL, 0, 0) == FD_BAD_SIZE, "a batch of -1");
    for (int which = 0; which < 14; which++) refuse(which, which == 8 ? FD1D_MOST + 1 : CASE_ROOM);
    CHECK(moving_device_bytes_f64<>(NULL) == 0 && moving_device_bytes_f64<>(&none) == 0, "bytes of no batch");
    none.problems = 1, none.points[0] = FD1D_MOST + 1;
    CHECK(moving_device_bytes_f64<>(&none) == 0, "bytes of too many points");
    none.points[0] = FD1D_MOST;
    CHECK(moving_device_bytes_f64<>(&none) > 0, "bytes of a batch without pointers");
    GPU_OK(cudaGetLastError());
}

int main()
{
    case_random random = {SEED};
    printf("seed %d\n", SEED);
    no_batches();
    for (size_t r = 0; r < sizeof runners / sizeof *runners; r++) {
        random_problems(&runners[r], &random);
        by_both(&runners[r], &random);
        for (int shape = 0; shape < 4; shape++) {
            static const int room[] = {CASE_ROOM, 200, 400, 1000};
            if (check_short() && shape != (int)(r + r / 4) % 4) continue;
            case_statuses(&runners[r].here, room[shape]);
        }
        case_ends(&runners[r].here, &random);
        case_zero_theta(&runners[r].here);
        case_ended(&runners[r].here);
        if (check_short() && r % 4)
            check_skip(1, "%s, explicit marches: SHORT_TESTS is set", runners[r].here.name);
        else
            case_explicit(&runners[r].here, &random);
    }
    return check_report();
}
