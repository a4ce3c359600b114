/* test_bs3d.cu - every rung of bs3d.h in both precisions, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   The reference is the host's march in double precision, which test_bs3d_host.c tests. The emulator, and with
   SHORT_TESTS in the environment also a GPU, leave out what main() says; the emulator with SHORT_TESTS marches in one
   precision at a time. */
#ifdef SIMT_EMULATOR
/* The number of sections that grids are cut into depends on the multiprocessors of the device, so the emulator has few
   or many. The path of a march depends on the shared memory that a block can have, so it has little or much. */
static int emulated_processors = 4, emulated_shared = 227 * 1024;
static cudaError_t emulated_attribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaError_t error = cudaDeviceGetAttribute(value, attribute, device);
    if (attribute == cudaDevAttrMultiProcessorCount) *value = emulated_processors;
    if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) *value = emulated_shared;
    return error;
}
#define cudaDeviceGetAttribute emulated_attribute

/* While this is set, kernels get no dynamic shared memory, so launches that need some are refused. */
static int emulated_refusal;
template <class Kernel>
static cudaError_t emulated_set(Kernel *kernel, cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute(kernel, attribute, emulated_refusal ? 0 : value);
}
#define cudaFuncSetAttribute emulated_set
#endif

#include "bs1d.h"
#include "bs3d.h"

#include "check.h"
#include "gpu.h"

#include "bs3d_cases.h"

#include <float.h>
#include <algorithm>
#include <vector>

enum { SEED = 20240922 };

/* Grids. Under the emulator, or a tool that is as slow, only those that take different paths. */
struct shape {
    int nx, ny, nz;
};
static const shape small_shapes[] = {{4, 4, 4},  {5, 7, 6},  {33, 9, 4},  {28, 29, 5},
                                     {9, 34, 8}, {4, 5, 41}, {130, 4, 9}, {11, 70, 5}};
/* Lines of more than 256 and 512 points, which have kernels of their own, in each direction. */
static const shape long_shapes[] = {{5, 260, 4}, {4, 4, 300}, {513, 4, 4}, {4, 514, 5}, {5, 4, 530}, {257, 5, 9}};
#ifndef SIMT_EMULATOR
static const shape large_shapes[] = {{256, 64, 48}, {31, 33, 37},    {100, 37, 81},  {257, 5, 33},
                                     {300, 40, 50}, {520, 9, 8},     {1024, 6, 5},   {6, 1024, 7},
                                     {5, 7, 1024},  {128, 128, 128}, {600, 20, 600}, {511, 513, 30}};
#endif

#ifdef SIMT_EMULATOR
static int short_tests(void)
{
    return 1;
}
static int shortest_tests(void)
{
    return check_short();
}
#else
static int short_tests(void)
{
    return check_short();
}
static int shortest_tests(void)
{
    return 0;
}
#endif

/* ---- every rung under one roof ----------------------------------------------------------------------------------- */

typedef int launch(const bs3d_problem *, void *, bs3d_result *, cudaStream_t);

struct rung {
    const char *name;
    int implicit;
    launch *f32, *f64;
};

#define RUNG(X) bs3d_##X##_f32, bs3d_##X##_f64
static const rung ladder[] = {
    {"explicit1", 0, RUNG(explicit1)}, {"explicit2", 0, RUNG(explicit2)}, {"explicit3", 0, RUNG(explicit3)},
    {"explicit4", 0, RUNG(explicit4)}, {"implicit1", 1, RUNG(implicit1)}, {"implicit2", 1, RUNG(implicit2)},
    {"implicit3", 1, RUNG(implicit3)},
};
static const rung &implicit3 = ladder[6];

template <class R>
struct types;
template <>
struct types<float> {
    static const char *name() { return "f32"; }
    static double roundoff() { return FLT_EPSILON / 2; }
    static launch *of(const rung &r) { return r.f32; }
    static size_t bytes(const bs3d_problem *o) { return bs3d_work_bytes_f32(o); }
    static int pitch(int nx) { return bs3d_pitch_f32(nx); }
};
template <>
struct types<double> {
    static const char *name() { return "f64"; }
    static double roundoff() { return DBL_EPSILON / 2; }
    static launch *of(const rung &r) { return r.f64; }
    static size_t bytes(const bs3d_problem *o) { return bs3d_work_bytes_f64(o); }
    static int pitch(int nx) { return bs3d_pitch_f64(nx); }
};

static cudaStream_t stream;

typedef std::vector<double> grid; /* tight, see bs3d_cases.h */

/* A work area of exactly the size that the header asks for, with guards before and behind it. All of it is NaN at
   first, so that reads outside it, or before a write, show too. The address sanitizer guards the end better. */
#ifdef __SANITIZE_ADDRESS__
enum { BEFORE = 256, BEHIND = 0 };
#else
enum { BEFORE = 256, BEHIND = 256 };
#endif
template <class R>
struct area {
    size_t bytes;
    unsigned char *memory;
    explicit area(size_t size) : bytes(size)
    {
        GPU_OK(cudaMalloc((void **)&memory, BEFORE + bytes + BEHIND));
        GPU_OK(cudaMemset(memory, 0xff, BEFORE + bytes + BEHIND));
    }
    ~area() { GPU_OK(cudaFree(memory)); }
    area(const area &) = delete;
    area &operator=(const area &) = delete;
    void *work() { return memory + BEFORE; }

    void put(const bs3d_problem &o, const grid &start)
    {
        std::vector<R> values(types<R>::pitch(o.points[0]) * (size_t)o.points[1] * (size_t)o.points[2], (R)NAN);
        CASE_COPY(&o, values, types<R>::pitch(o.points[0]), start, o.points[0], R);
        GPU_OK(cudaMemcpy(work(), values.data(), values.size() * sizeof(R), cudaMemcpyHostToDevice));
    }
    grid get(const bs3d_problem &o)
    {
        grid tight(case_cells(&o));
        std::vector<R> values(types<R>::pitch(o.points[0]) * (size_t)o.points[1] * (size_t)o.points[2]);
        GPU_OK(cudaMemcpy(values.data(), work(), values.size() * sizeof(R), cudaMemcpyDeviceToHost));
        CASE_COPY(&o, tight, o.points[0], values, types<R>::pitch(o.points[0]), double);
        return tight;
    }
    void check_guards(const char *what)
    {
        unsigned char guard[BEFORE + BEHIND];
        int same = 1;
        GPU_OK(cudaMemcpy(guard, memory, BEFORE, cudaMemcpyDeviceToHost));
        GPU_OK(cudaMemcpy(guard + BEFORE, memory + BEFORE + bytes, BEHIND, cudaMemcpyDeviceToHost));
        for (int i = 0; i < BEFORE + BEHIND; i++) same &= guard[i] == 0xff;
        CHECK(same, "%s: wrote outside its work area", what);
    }
};

struct outcome {
    bs3d_result result;
    grid values;
};

/* A march from start, unless that is empty. Without with_result the result stays bytes of 0x5a. */
template <class R>
static outcome run(const rung &r, const bs3d_problem &o, const grid &start, bool with_result = true)
{
    area<R> a(types<R>::bytes(&o));
    outcome out;
    memset((void *)&out.result, 0x5a, sizeof out.result);
    if (!start.empty()) a.put(o, start);
    int status = types<R>::of(r)(&o, a.work(), with_result ? &out.result : NULL, stream);
    CHECK(status == BS3D_OK, "%s %s: returned %d for %dx%dx%d", r.name, types<R>::name(), status, o.points[0],
          o.points[1], o.points[2]);
    GPU_OK(cudaStreamSynchronize(stream));
    out.values = a.get(o);
    a.check_guards(r.name);
    return out;
}

static outcome reference(int implicit, const bs3d_problem &o, const grid &start)
{
    outcome out;
    std::vector<double> work(bs3d_host_bytes_f64(&o) / sizeof(double));
    size_t pitch = (size_t)bs3d_pitch_f64(o.points[0]);
    if (!start.empty()) CASE_COPY(&o, work, pitch, start, o.points[0], double);
    int status = (implicit ? bs3d_host_implicit_f64 : bs3d_host_explicit_f64)(&o, work.data(), &out.result);
    CHECK(status == BS3D_OK, "the reference returned %d", status);
    out.values.resize(case_cells(&o));
    CASE_COPY(&o, out.values, o.points[0], work, pitch, double);
    return out;
}

static grid random_start(case_random *random, const bs3d_problem &o)
{
    grid start;
    if (o.payoff == BS3D_GIVEN)
        for (size_t n = case_cells(&o); n > 0; n--) start.push_back((float)case_between(random, -1, 1));
    return start;
}

/* What the ladder promises, relative to the largest value: 1e-12, and in single precision 1e-4. That is for hundreds of
   steps. After a few steps the errors are smaller: each adds some roundoffs of weights whose sum is at most 4 or, in
   implicit steps of lambda up to 10, at most 40. */
template <class R>
static double tolerance_of(const rung &r, const bs3d_problem &o)
{
    double promised = sizeof(R) == 8 ? 1e-12 : 1e-4;
    return fmin(promised, (8 + 4 * o.steps * (r.implicit ? 40 : 4)) * types<R>::roundoff());
}

/* One march against the reference, and its result against its own grid. */
template <class R>
static void compare(const rung &r, const bs3d_problem &o, const grid &start, const outcome &want, const char *note)
{
    char what[100];
    double largest, worst;
    outcome got = run<R>(r, o, start);
    snprintf(what, sizeof what, "%s %s, %s", r.name, types<R>::name(), note);
    worst = case_distance(got.values.size(), got.values.data(), want.values.data(), &largest);
    CHECK(worst <= tolerance_of<R>(r, o) * largest,
          "%s: %dx%dx%d, %d steps, payoff %d, correlations %.2g %.2g %.2g: off by %.3g of %.3g", what, o.points[0],
          o.points[1], o.points[2], o.steps, o.payoff, o.correlation[0], o.correlation[1], o.correlation[2], worst,
          largest);
    /* Each machine rounds the place of the spot, in units of the spacing, in its own way. */
    int most = std::max(o.points[0], std::max(o.points[1], o.points[2]));
    case_check(got.result, case_greeks(&o, got.values.data()), (16 + 2 * most) * DBL_EPSILON * largest, &o, what);
}

/* A problem through all rungs of its kind, explicit or implicit, in both precisions. In the shortest tests a problem
   goes through every other rung, and the next one through the others, and then in the other precision. */
static void compare_all(case_random *random, int implicit, const bs3d_problem &o, const char *note)
{
    static int turns[2];
    grid start = random_start(random, o);
    outcome want = reference(implicit, o, start);
    int turn = turns[implicit]++;
    for (const rung &r : ladder) {
        if (r.implicit != implicit) continue;
        int place = turn + (int)(&r - ladder);
        if (shortest_tests() && place % 2) continue;
        if (!shortest_tests() || place % 4) compare<float>(r, o, start, want, note);
        if (!shortest_tests() || place % 4 == 0) compare<double>(r, o, start, want, note);
    }
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

/* On each grid some forms of the differences and some numbers of steps (fewer in implicit marches, which take the
   emulator longer). A random start shows an error at any point; a payoff, mostly smooth or zero, shows less. */
static void test_shapes(const shape *shapes, int count, int rounds, int most_steps)
{
    static const int steps[] = {1, 2, 3, 5};
    case_random random = {SEED};
    for (int n = 0; n < count; n++)
        for (int round = 0; round < rounds; round++)
            for (int implicit = 0; implicit < (short_tests() && round % 2 ? 1 : 2); implicit++) {
                int kind = (2 * n + 3 * round + implicit) % CASE_CORRELATIONS;
                /* test_last_rows_and_upwind marches implicitly along all other long lines. */
                if (shortest_tests() && shapes == long_shapes && implicit && shapes[n].nz < 512) continue;
#ifdef SIMT_EMULATOR
                static const int processors[] = {4, 1, 30, 200};
                emulated_processors = processors[(round + n / 4) % 4];
                emulated_shared = ((round + n) % 2 ? 227 : 99) * 1024;
#endif
                int several = implicit ? 1 + (n + round / 2) % 2 * (most_steps > 2) : steps[(n + round + 1) % 4];
                bs3d_problem o = case_problem_of(&random, implicit, shapes[n].nx, shapes[n].ny, shapes[n].nz,
                                                 several < most_steps ? several : most_steps,
                                                 round % 4 == 3 ? 1 + n % 4 : BS3D_GIVEN, kind);
                compare_all(&random, implicit, o, "shapes");
            }
}

#define TEST_SHAPES(shapes, rounds, most_steps)                                                                        \
    test_shapes(shapes, (int)(sizeof(shapes) / sizeof *(shapes)), rounds, most_steps)

static void test_forms(void)
{
    case_random random = {SEED + 1};
    for (int kind = 0; kind < CASE_CORRELATIONS; kind++)
        for (int implicit = 0; implicit < 2; implicit++)
            compare_all(&random, implicit, case_problem_of(&random, implicit, 19, 6, 7, 2 - implicit, BS3D_GIVEN, kind),
                        "forms");
}

#ifdef SIMT_EMULATOR
/* The shared memory of compute capability 7.5: in double precision neither tiles of two steps nor rows of more than 256
   points fit. */
static void test_little_memory(void)
{
    case_random random = {SEED + 10};
    emulated_shared = 64 * 1024;
    for (int implicit = 0; implicit < 2; implicit++)
        for (int again = 0; again < 1 + shortest_tests(); again++) /* for each rung */
            compare_all(&random, implicit, case_problem_of(&random, implicit, 260, 5, 6, 2, BS3D_GIVEN, 3 * implicit),
                        "little shared memory");
    emulated_shared = 227 * 1024;
}
#endif

static void test_payoffs(void)
{
    case_random random = {SEED + 2};
    for (int payoff = BS3D_ASSET; payoff < BS3D_GIVEN; payoff++)
        for (int put = 0; put < 2; put++)
            for (int implicit = 0; implicit < 2; implicit++) {
                bs3d_problem o = case_problem_of(&random, implicit, 7, 6, 5, 1, payoff, payoff - 1);
                o.flags = put;
                compare_all(&random, implicit, o, "payoffs");
            }
}

/* Implicit steps so long that matrices leave out the drift of their last rows, and drift larger than diffusion, on
   lines of each length that has its own kernel. */
static void test_last_rows_and_upwind(void)
{
    static const shape shapes[] = {{20, 12, 9}, {260, 5, 4}, {4, 260, 5}, {4, 5, 260}, {513, 4, 4}, {4, 513, 4}};
    case_random random = {SEED + 11};
    for (const shape &s : shapes)
        compare_all(&random, 1,
                    case_long_steps(&random, s.nx, s.ny, s.nz, 1, BS3D_GIVEN, (s.nx + s.ny) % CASE_CORRELATIONS),
                    "long steps");
    for (int implicit = 0; implicit < 2; implicit++)
        for (int kind = 2 * implicit; kind < CASE_CORRELATIONS; kind += 3)
            compare_all(&random, implicit, case_upwind(&random, implicit, 20, 9, 6, 2, BS3D_GIVEN, kind), "upwind");
}

/* Rows of 257 to 512 points, which implicit3 halves between the two blocks of a pair: with as many and as few points
   beyond the seam as possible, on more rows than a pair has, with one section and with several, and with odd and even
   numbers of steps, so that the halves are along x or along y first. Both forms of the cross differences occur at the
   seam and at the edge of the rows. */
template <class R>
static void test_pairs(void)
{
    static const shape shapes[] = {{257, 9, 4}, {512, 5, 33}, {7, 300, 4}, {4, 511, 30}, {258, 257, 4}};
    case_random random = {SEED + 15};
    for (int n = 0; n < 5; n++) {
        if (shortest_tests() && n > 0) continue;
        if (short_tests() && n == 4 && sizeof(R) == 8) continue;
#ifdef SIMT_EMULATOR
        emulated_processors = n % 2 ? 200 : 4;
#endif
        bs3d_problem o =
            case_problem_of(&random, 1, shapes[n].nx, shapes[n].ny, shapes[n].nz, n < 4 ? 2 + n / 2 : 1, BS3D_GIVEN, n);
        grid start = random_start(&random, o);
        compare<R>(implicit3, o, start, reference(1, o, start), "pairs");
    }
}

#ifdef SIMT_EMULATOR
/* Where implicit3 hands over to implicit2 (ladder[5]), and only there, its values have the same bits. */
template <class R>
static void test_handing_over(void)
{
    static const struct {
        shape points;
        int flags, major, shared;
        int handed;
    } cases[] = {{{9, 7, 5}, 0, 9, 227, 0},   {{9, 7, 5}, 0, 8, 227, 0},
                 {{9, 7, 5}, 0, 9, 99, 1},    {{9, 7, 5}, BS3D_AMERICAN, 9, 227, 1},
                 {{257, 5, 4}, 0, 9, 227, 0}, {{5, 512, 4}, 0, 9, 227, 0},
                 {{257, 5, 4}, 0, 8, 227, 1}, /* no clusters */
                 {{5, 257, 4}, 0, 8, 227, 1}, {{513, 5, 4}, 0, 9, 227, 1},
                 {{5, 513, 4}, 0, 9, 227, 1}};
    case_random random = {SEED + 16};
    for (const auto &c : cases) {
        bs3d_problem o = case_problem_of(&random, 1, c.points.nx, c.points.ny, c.points.nz, 1, BS3D_MAXIMUM, 1);
        o.flags |= c.flags;
        simt_capability(c.major, 0);
        emulated_shared = c.shared * 1024;
        int same = run<R>(implicit3, o, grid()).values == run<R>(ladder[5], o, grid()).values;
        CHECK(same == c.handed, "%s: %dx%dx%d, flags %d, capability %d.0, %d KiB: %s", types<R>::name(), c.points.nx,
              c.points.ny, c.points.nz, c.flags, c.major, c.shared, same ? "handed over" : "not handed over");
    }
    simt_capability(9, 0);
    emulated_shared = 227 * 1024;
}
#endif

/* Early exercise after each step; explicit4 then takes one step at a time. */
static void test_american(void)
{
    case_random random = {SEED + 12};
    for (int payoff = BS3D_ASSET; payoff < BS3D_GIVEN; payoff++)
        for (int implicit = 0; implicit < 2; implicit++) {
            bs3d_problem o = case_problem_of(&random, implicit, 18, 9, 6, 4 - implicit, payoff, payoff - 1);
            o.flags = BS3D_AMERICAN | (payoff % 2 ? BS3D_PUT : BS3D_CALL);
            o.rate = 0.06;
            for (int m = 0; m < 3; m++) o.dividend[m] = payoff % 2 ? 0.01 : 0.09;
            while (bs3d_check(&o, implicit) == BS3D_UNSTABLE) o.maturity *= 0.9;
            outcome free = reference(implicit, o, grid());
            compare_all(&random, implicit, o, "American");
            o.flags &= ~BS3D_AMERICAN;
            CHECK(reference(implicit, o, grid()).values != free.values, "payoff %d: nobody exercises", payoff);
        }
}

/* Odd and even numbers of steps, since a rung may take two at once. */
static void test_steps(void)
{
    case_random random = {SEED + 3};
    for (int steps = 1; steps <= 6; steps++)
        for (int implicit = 0; implicit < 2 && steps * (1 + implicit) <= 6; implicit++)
            compare_all(&random, implicit, case_problem_of(&random, implicit, 5, 7, 6, steps, BS3D_GIVEN, steps),
                        "steps");
}

/* With a payoff on the first asset alone, values depend on that asset alone: every line along x must be the march of
   one factor. */
template <class R>
static void test_one_asset(const shape &s)
{
    case_random random = {SEED + 5};
    for (const rung &r : ladder) {
        bs3d_problem o = case_problem_of(&random, r.implicit, s.nx, s.ny, s.nz, 3, BS3D_ASSET, r.implicit);
        bs1d_option_f64 option = {o.spot[0],  o.strike, o.rate,  o.dividend[0], o.volatility[0],
                                  o.maturity, o.top[0], o.steps, o.flags};
        bs1d_result_f64 result;
        std::vector<double> line((size_t)s.nx), work((size_t)BS1D_HOST_LEN(s.nx));
        (r.implicit ? bs1d_host_implicit_f64 : bs1d_host_explicit_f64)(1, s.nx, &option, &result, line.data(),
                                                                       work.data());
        grid got = run<R>(r, o, grid()).values;
        double worst = 0, tolerance = tolerance_of<R>(r, o) * o.top[0];
        for (size_t n = 0; n < got.size(); n++) {
            double error = fabs(got[n] - line[n % (size_t)s.nx]);
            if (!(error <= worst)) worst = error;
        }
        CHECK(worst <= tolerance, "%s %s: %dx%dx%d, one asset is off by %.3g > %.3g", r.name, types<R>::name(), s.nx,
              s.ny, s.nz, worst, tolerance);
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

template <class R>
static void test_results(void)
{
    case_random random = {SEED + 6};
    for (const rung &r : ladder) {
        /* Spots in the first and last cells and at the ends; compare looks at the result. */
        for (int round = 0; round < 3; round++) {
            bs3d_problem o = case_problem_of(&random, r.implicit, 5, 6, 7, 1, BS3D_GIVEN, round);
            for (int m = 0; m < 3; m++)
                o.spot[m] = (m + round) % 3 == 0   ? o.top[m] * case_between(&random, 0.01, 0.99)
                            : (m + round) % 3 == 1 ? o.top[m] * (round == 2)
                                                   : o.top[m] * 0.97;
            grid start = random_start(&random, o);
            compare<R>(r, o, start, reference(r.implicit, o, start), "results");
        }
        bs3d_problem o = case_problem_of(&random, r.implicit, 5, 6, 7, 2, BS3D_GIVEN, 2);
        grid start = random_start(&random, o);
        outcome with = run<R>(r, o, start), without = run<R>(r, o, start, false);
        CHECK(with.values == without.values, "%s %s: the grid depends on whether a result is asked for", r.name,
              types<R>::name());
        /* A grid full of NaN has its own status. */
        CHECK(run<R>(r, o, grid(start.size(), NAN)).result.status == BS3D_NOT_FINITE, "%s %s: NaN goes unnoticed",
              r.name, types<R>::name());
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Problems that must be refused: with the same status as from the host, and without a byte written. */
template <class R>
static void test_bad_problems(void)
{
    case_random random = {SEED + 7};
    bs3d_problem good = case_problem_of(&random, 0, 6, 5, 7, 2, BS3D_GIVEN, 0);
    area<R> a(types<R>::bytes(&good));
    std::vector<unsigned char> before(a.bytes), after(a.bytes);
    bs3d_result result, same;
    memset((void *)&result, 0x5a, sizeof result);
    memcpy((void *)&same, (void *)&result, sizeof same);
    GPU_OK(cudaMemcpy(before.data(), a.work(), a.bytes, cudaMemcpyDeviceToHost));
    for (int kind = 0; kind < 2 * CASE_BAD_KINDS; kind++) {
        const char *what = "";
        int implicit = kind % 2;
        bs3d_problem o = case_problem_of(&random, implicit, 6, 5, 7, 1 + kind % 4, 1 + kind % 6, kind % 8);
        int want = case_spoil(kind / 2, implicit, &o, &what);
        for (const rung &r : ladder) {
            if (r.implicit != implicit) continue;
            int status = types<R>::of(r)(&o, a.work(), &result, stream);
            CHECK(status == want, "%s %s: status of %s is %d, not %d", r.name, types<R>::name(), what, status, want);
        }
    }
    for (const rung &r : ladder) {
        bs3d_problem o = case_problem_of(&random, r.implicit, 6, 5, 7, 2, BS3D_MAXIMUM, 0);
        CHECK(types<R>::of(r)(NULL, a.work(), &result, stream) == BS3D_BAD_ARGUMENT, "%s: no problem", r.name);
        CHECK(types<R>::of(r)(&o, NULL, &result, stream) == BS3D_BAD_ARGUMENT, "%s: no work", r.name);
        for (int off = 4; off < 16; off += 4)
            CHECK(types<R>::of(r)(&o, (unsigned char *)a.work() + off, &result, stream) == BS3D_BAD_ARGUMENT,
                  "%s: work %d bytes off", r.name, off);
    }
    GPU_OK(cudaStreamSynchronize(stream));
    GPU_OK(cudaGetLastError());
    GPU_OK(cudaMemcpy(after.data(), a.work(), a.bytes, cudaMemcpyDeviceToHost));
    CHECK(before == after && !memcmp((void *)&result, (void *)&same, sizeof same), "%s: a refused march has written",
          types<R>::name());

    CHECK(types<R>::bytes(NULL) == 0, "bytes for no problem");
    for (int m = 0; m < 3; m++)
        for (int high = 0; high < 2; high++) {
            bs3d_problem bad = good;
            bad.points[m] = high ? 1025 : 3;
            CHECK(types<R>::bytes(&bad) == 0, "bytes for %d points", bad.points[m]);
        }
}

/* If an earlier call of the caller's own has failed, the march must neither fail nor clear the error. On a GPU,
   however, cudaFuncSetAttribute clears it, as we have seen, and marches through shared memory call that. */
template <class R>
static void test_failure_before(void)
{
    case_random random = {SEED + 13};
    for (const rung &r : ladder) {
        bs3d_problem o = case_problem_of(&random, r.implicit, 9, 7, 6, 3, BS3D_MAXIMUM, 1);
        outcome want = run<R>(r, o, grid());
        area<R> a(types<R>::bytes(&o));
        bs3d_result result;
        void *nothing = NULL;
        CHECK(cudaMalloc(&nothing, (size_t)1 << 60) != cudaSuccess, "there is too much memory");
        CHECK(types<R>::of(r)(&o, a.work(), &result, stream) == BS3D_OK, "%s %s: somebody else's failure counts",
              r.name, types<R>::name());
        cudaError_t last = cudaGetLastError();
#ifndef SIMT_EMULATOR
        if (last == cudaSuccess && strcmp(r.name, "explicit1") && strcmp(r.name, "explicit2"))
            last = cudaErrorMemoryAllocation;
#endif
        CHECK(last == cudaErrorMemoryAllocation, "%s %s: somebody else's failure is lost", r.name, types<R>::name());
        GPU_OK(cudaStreamSynchronize(stream));
        CHECK(a.get(o) == want.values && result.price == want.result.price, "%s %s: the march is another", r.name,
              types<R>::name());
    }
}

#ifdef SIMT_EMULATOR
/* The march must report its own failure: here no kernel that needs dynamic shared memory gets any. */
template <class R>
static void test_failed_launch(void)
{
    case_random random = {SEED + 14};
    for (const rung &r : ladder) {
        bs3d_problem o = case_problem_of(&random, r.implicit, 9, 7, 6, 3, BS3D_MAXIMUM, 1);
        int status, wants = r.implicit || r.name[8] > '2';
        area<R> a(types<R>::bytes(&o));
        bs3d_result result;
        memset((void *)&result, 0x5a, sizeof result);
        emulated_refusal = 1;
        status = types<R>::of(r)(&o, a.work(), &result, stream);
        emulated_refusal = 0;
        CHECK(status == (wants ? BS3D_LAUNCH_FAILED : BS3D_OK), "%s %s: without shared memory status %d", r.name,
              types<R>::name(), status);
        CHECK((cudaGetLastError() != cudaSuccess) == wants, "%s %s: the reason is lost", r.name, types<R>::name());
        if (wants) CHECK(result.status == 0x5a5a5a5a, "%s %s: a failed march has a result", r.name, types<R>::name());
    }
}
#endif

/* Marches one after another in one work area: each must give what it gives alone, whatever the last one left there. */
template <class R>
static void test_one_after_another(void)
{
    case_random random = {SEED + 8};
    for (const rung &r : ladder) {
        bs3d_problem first = case_problem_of(&random, r.implicit, 18, 7, 6, 3, BS3D_MAXIMUM, 2),
                     second = case_problem_of(&random, r.implicit, 6, 8, 5, 2, BS3D_GEOMETRIC, 0), third = second;
        third.payoff = BS3D_GIVEN;
        outcome alone[3] = {run<R>(r, first, grid()), run<R>(r, second, grid()), outcome()};
        alone[2] = run<R>(r, third, alone[1].values);
        size_t bytes[2] = {types<R>::bytes(&first), types<R>::bytes(&second)};
        area<R> a(bytes[0] > bytes[1] ? bytes[0] : bytes[1]);
        bs3d_result result[3];
        CHECK(types<R>::of(r)(&first, a.work(), &result[0], stream) == BS3D_OK, "the first");
        CHECK(types<R>::of(r)(&second, a.work(), &result[1], stream) == BS3D_OK, "the second");
        CHECK(types<R>::of(r)(&third, a.work(), &result[2], stream) == BS3D_OK, "the third");
        GPU_OK(cudaStreamSynchronize(stream));
        for (int n = 0; n < 3; n++)
            CHECK(result[n].status == alone[n].result.status && result[n].price == alone[n].result.price,
                  "%s %s: march %d of one work area gives %.17g, alone %.17g", r.name, types<R>::name(), n + 1,
                  result[n].price, alone[n].result.price);
        CHECK(a.get(third) == alone[2].values, "%s %s: the third march has noticed the others", r.name,
              types<R>::name());
        a.check_guards(r.name);
    }
}

/* Two marches at once, each in its own stream and work area. */
template <class R>
static void test_streams(void)
{
    case_random random = {SEED + 9};
    cudaStream_t streams[2];
    for (cudaStream_t &s : streams) GPU_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (const rung &r : ladder) {
        bs3d_problem o[2] = {case_problem_of(&random, r.implicit, 33, 6, 5, 5, BS3D_MAXIMUM, 4),
                             case_problem_of(&random, r.implicit, 6, 9, 8, 4, BS3D_MINIMUM, 0)};
        outcome alone[2] = {run<R>(r, o[0], grid()), run<R>(r, o[1], grid())};
        area<R> a(types<R>::bytes(&o[0])), b(types<R>::bytes(&o[1]));
        bs3d_result result[2];
        GPU_OK(cudaDeviceSynchronize()); /* the areas are filled outside these streams */
        CHECK(types<R>::of(r)(&o[0], a.work(), &result[0], streams[0]) == BS3D_OK, "the first stream");
        CHECK(types<R>::of(r)(&o[1], b.work(), &result[1], streams[1]) == BS3D_OK, "the second stream");
        GPU_OK(cudaStreamSynchronize(streams[1]));
        GPU_OK(cudaStreamSynchronize(streams[0]));
        CHECK(a.get(o[0]) == alone[0].values && b.get(o[1]) == alone[1].values &&
                  result[0].price == alone[0].result.price && result[1].price == alone[1].result.price,
              "%s %s: streams disturb each other", r.name, types<R>::name());
    }
    for (cudaStream_t &s : streams) GPU_OK(cudaStreamDestroy(s));
}

/* ---- at full size, on a GPU -------------------------------------------------------------------------------------- */

#ifndef SIMT_EMULATOR
/* So many steps that errors would add up. */
static void test_long_marches(void)
{
    case_random random = {SEED + 4};
    static const shape shapes[] = {{64, 48, 40}, {37, 70, 29}, {24, 25, 90}};
    for (const shape &s : shapes)
        for (int kind = 0; kind < CASE_CORRELATIONS; kind++)
            for (int implicit = 0; implicit < 2; implicit++)
                compare_all(&random, implicit,
                            case_problem_of(&random, implicit, s.nx, s.ny, s.nz, implicit ? 31 : 100 + kind,
                                            1 + kind % BS3D_GIVEN, kind),
                            "long marches");
}

/* The price alone: no grid comes back. */
template <class R>
static double price_of(const rung &r, const bs3d_problem &o)
{
    area<R> a(types<R>::bytes(&o));
    bs3d_result result;
    CHECK(types<R>::of(r)(&o, a.work(), &result, stream) == BS3D_OK, "%s %s", r.name, types<R>::name());
    GPU_OK(cudaStreamSynchronize(stream));
    CHECK(result.status == BS3D_OK, "%s %s: status %d", r.name, types<R>::name(), result.status);
    a.check_guards(r.name);
    return result.price;
}

/* The model problem against closed forms, within the bounds that the ladder promises. */
template <class R>
static void test_model_problem(void)
{
    static const double bound[] = {0, 0, 0.06e-2, 0.35e-2, 0.5e-2};
    for (const rung &r : ladder)
        for (int payoff = BS3D_GEOMETRIC; payoff <= BS3D_MINIMUM; payoff++) {
            double value = price_of<R>(r, case_model(256, r.implicit ? 100 : 500, payoff));
            double error = value / case_exact(payoff) - 1;
            printf("model problem, %s %s, payoff %d: %.10g, %.3f %% off\n", r.name, types<R>::name(), payoff, value,
                   100 * error);
            check_near(error, 0, bound[payoff] + (r.implicit ? 0.3e-2 : 0), "%s %s, payoff %d", r.name,
                       types<R>::name(), payoff);
        }
}

/* Twice the points and four times the steps must leave a quarter of the error; and with 96 points and 71 steps the
   values must be those of an independent program. */
static void test_second_order(void)
{
    static const double independent[] = {0, 0, 1.56101079, 3.42523872, 0.64006098};
    for (const rung &r : ladder)
        for (int payoff = BS3D_GEOMETRIC; payoff <= BS3D_MINIMUM && !r.implicit; payoff++) {
            double coarse = price_of<double>(r, case_model(96, 71, payoff));
            double fine = price_of<double>(r, case_model(192, 284, payoff));
            double ratio = (coarse - case_exact(payoff)) / (fine - case_exact(payoff));
            check_near(coarse, independent[payoff], 1e-8, "%s, payoff %d, 96 points", r.name, payoff);
            check_near(price_of<float>(r, case_model(96, 71, payoff)), independent[payoff], 1e-4,
                       "%s f32, payoff %d, 96 points", r.name, payoff);
            CHECK(ratio > 3 && ratio < 4.5, "%s, payoff %d: the error fell by %.3g", r.name, payoff, ratio);
        }
}

/* The largest grid has more bytes than 32 bits can count. Some of its lines are compared with the march of one
   factor. */
template <class R>
static void test_largest(void)
{
    size_t available, total;
    for (const rung &r : ladder) {
        case_random random = {SEED + 10};
        bs3d_problem o = case_problem_of(&random, r.implicit, 1024, 1024, 1024, r.implicit ? 1 : 3, BS3D_ASSET, 0);
        GPU_OK(cudaMemGetInfo(&available, &total));
        if (types<R>::bytes(&o) + ((size_t)1 << 30) > available) {
            check_skip(1, "1024^3 points by %s %s: %zu bytes of device memory are left", r.name, types<R>::name(),
                       available);
            continue;
        }
        bs1d_option_f64 option = {o.spot[0],  o.strike, o.rate,  o.dividend[0], o.volatility[0],
                                  o.maturity, o.top[0], o.steps, o.flags};
        bs1d_result_f64 result;
        std::vector<double> line(1024), work(BS1D_HOST_LEN(1024));
        (r.implicit ? bs1d_host_implicit_f64 : bs1d_host_explicit_f64)(1, 1024, &option, &result, line.data(),
                                                                       work.data());
        area<R> a(types<R>::bytes(&o));
        std::vector<R> got(1024);
        double worst = 0, tolerance = tolerance_of<R>(r, o) * o.top[0];
        CHECK(types<R>::of(r)(&o, a.work(), NULL, stream) == BS3D_OK, "%s %s: 1024^3 points", r.name, types<R>::name());
        GPU_OK(cudaStreamSynchronize(stream));
        for (int n = 0; n < 400; n++) {
            size_t row = n < 4 ? (size_t)(n % 2 * 1023 + n / 2 * 1023 * 1024) : (size_t)case_below(&random, 1 << 20);
            GPU_OK(cudaMemcpy(got.data(), (R *)a.work() + 1024 * row, 1024 * sizeof(R), cudaMemcpyDeviceToHost));
            for (int i = 0; i < 1024; i++) {
                double error = fabs(got[i] - line[i]);
                if (!(error <= worst)) worst = error;
            }
        }
        CHECK(worst <= tolerance, "%s %s: 1024^3 points, off by %.3g > %.3g", r.name, types<R>::name(), worst,
              tolerance);
        a.check_guards(r.name);
    }
}
#endif

int main(void)
{
    printf("seed %d\n", SEED);
#ifdef SIMT_EMULATOR
    simt_permute(SEED); /* the warps and lanes take turns in random order */
#endif
    GPU_OK(cudaStreamCreate(&stream));
    test_bad_problems<float>();
    test_bad_problems<double>();
#ifdef SIMT_EMULATOR
    test_little_memory();
#endif
#if defined SIMT_EMULATOR && SIMT_WATCHED /* takes three times as long and checks more in each march */
    TEST_SHAPES(small_shapes, 1, 5);
#else
    TEST_SHAPES(small_shapes, short_tests() ? 3 : 8, 5);
#endif
    TEST_SHAPES(long_shapes, short_tests() ? 1 : 8, short_tests() ? 2 : 5);
    test_forms();
    test_payoffs();
    test_last_rows_and_upwind();
    test_pairs<float>();
    if (!shortest_tests()) test_pairs<double>();
#ifdef SIMT_EMULATOR
    if (!shortest_tests()) test_handing_over<float>(), test_handing_over<double>();
#endif
    test_american();
    test_steps();
    test_one_asset<float>(small_shapes[2]);
    test_one_asset<double>(small_shapes[3]);
    test_results<float>();
    test_results<double>();
    test_failure_before<float>();
    test_failure_before<double>();
#ifdef SIMT_EMULATOR
    test_failed_launch<float>();
    test_failed_launch<double>();
#endif
    if (!shortest_tests()) test_one_after_another<float>();
    test_one_after_another<double>();
    if (!shortest_tests()) test_streams<float>(), test_streams<double>(); /* the emulator has one launch at a time */
    if (shortest_tests())
        check_skip(1, "each march by all rungs in both precisions, implicit marches of short steps along long lines, "
                      "pairs, streams: SHORT_TESTS is set");
    if (short_tests()) {
        check_skip(5, "large grids, long marches, model problem, convergence, largest grid: too slow here");
    }
#ifndef SIMT_EMULATOR
    else {
        TEST_SHAPES(large_shapes, 4, 5);
        test_long_marches();
        test_model_problem<float>();
        test_model_problem<double>();
        test_second_order();
        test_largest<float>();
        test_largest<double>();
    }
#endif
    GPU_OK(cudaStreamDestroy(stream));
    return check_report();
}
