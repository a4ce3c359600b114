/* test_batch_hostile.cu - trid/batch.h: calls that nobody would write, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

       test_batch_hostile               everything; SHORT_TESTS takes a sample
       test_batch_hostile SEED [COUNT]  random calls alone, from this seed on: what a failure prints, and 1, repeats it

   A call either is refused with the right status and leaves every array untouched, or it solves its systems; there is
   no third outcome. A solution is right if it satisfies the rows of its system and, where no pivoting is needed, agrees
   with elimination with pivoting in long double. Random calls have lines in any layout, surrounded by NaN, and any
   flags that the launch takes. Then come all flags; null, misaligned and overlapping pointers; systems beside a bad
   one; numbers at the ends of the range; matrices from publications on pivoting; and lines cut into partitions of any
   lengths. */
#include "trid/batch.h"

#define BATCH_FIELD_OWN_LAUNCHES
#include "batch_field.h"
#include "pivoted_cases.h"

#include <initializer_list>
#include <limits>

#ifdef TEST_BATCH_HOSTILE_DOUBLE /* the same in the other precision, by hand */
typedef double real;
#else
typedef float real;
#endif
static const double UNIT = sizeof(real) == 4 ? UNIT_F32 : UNIT_F64;

/* ---- a call and what it leaves ----------------------------------------------------------------------------------- */

/* FACTOR is trid_batch_factor and then trid_batch_several with its factors. */
enum { SOLVE, SHARED, CHECKED, REFINED, PIVOTED, SEVERAL, FACTOR, LAUNCHES };
static const struct {
    const char *name;
    int flags;
} LAUNCH[LAUNCHES] = {
    {"solve", TRID_BATCH_SOLVE_FLAGS},     {"shared", TRID_BATCH_SOLVE_FLAGS},    {"checked", TRID_BATCH_CHECKED_FLAGS},
    {"refined", TRID_BATCH_CHECKED_FLAGS}, {"pivoted", TRID_BATCH_PIVOTED_FLAGS}, {"several", TRID_BATCH_SEVERAL_FLAGS},
    {"factor", TRID_BATCH_FACTOR_FLAGS},
};

/* The scratch that a call is given. */
enum { GIVEN, NONE, SHORT, MISALIGNED };

/* What the options ask for. */
enum { STATUS = 1, RESIDUAL = 2, FAILED = 4, ALL_TOLD = 7 };

template <class T>
static std::vector<T> from_device(const T *device, size_t count)
{
    std::vector<T> host(count);
    GPU_OK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}
template <class T>
static void to_device(T *device, const std::vector<T> &host)
{
    GPU_OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
}

struct batch_call {
    int launch, flags, in_place, told, one_memory; /* of all arrays */
    trid_lines lines;                              /* of d and x */
    long long sides, pitch;
    int scratch;             /* GIVEN, .. */
    unsigned long long seed; /* with which the call was drawn */
    field<real> a, b, c, d, x, r, u;
    int launched; /* what the call returned; below, what it left */
    std::vector<real> after;
    std::vector<int> status;
    std::vector<float> residual;
    std::vector<unsigned long long> failed;
    std::vector<void *> memory;

    batch_call(int launch_, int flags_, const trid_lines &lines_)
        : launch(launch_), flags(flags_), in_place(0), told(ALL_TOLD), one_memory(0), lines(lines_), sides(1), pitch(0),
          scratch(0), seed(dice.state), a(), b(), c(), d(), x(), r(), u(), launched(0)
    {
    }
    ~batch_call()
    {
        for (void *p : memory) GPU_OK(cudaFree(p));
    }
    long long systems() const { return lines.systems * lines.groups; }
    int n() const { return (int)lines.n; }
    int shared() const { return launch == SHARED || (flags & TRID_BATCH_SHARED); }
    int periodic() const { return (flags & TRID_BATCH_PERIODIC) != 0; }
    trid_lines matrices() const { return shared() ? trid_lines_contiguous(lines.n, 1) : lines; }

  private:
    batch_call(const batch_call &);
    batch_call &operator=(const batch_call &);
};

static long long place(const trid_lines &lines, long long system, long long row)
{
    return offset(lines, system / lines.systems, system % lines.systems, row);
}
static long long matrix_place(const batch_call &k, long long system, long long row)
{
    return k.shared() ? row : place(k.lines, system, row);
}

/* For a message. */
static const char *words(const batch_call &k)
{
    static char text[300];
    snprintf(text, sizeof text,
             "seed %llu: %s, flags %d%s, told %d, n %lld step %lld, %lld by %lld, %lld by %lld, %lld sides by %lld",
             k.seed, LAUNCH[k.launch].name, k.flags, k.in_place ? ", in place" : "", k.told, k.lines.n, k.lines.step,
             k.lines.systems, k.lines.stride, k.lines.groups, k.lines.jump, k.sides, k.pitch);
    return text;
}

/* Makes the arrays, at random alignments; words that may be read and are no elements are NaN. */
static void make_arrays(batch_call &k)
{
    field<real> *const matrix[5] = {&k.a, &k.b, &k.c, &k.r, &k.u};
    for (field<real> *f : matrix) {
        *f = make_field<real>(k.matrices(), case_below(&dice, 4));
        std::fill(f->host.begin(), f->host.end(), (real)NAN);
        k.memory.push_back(f->device);
    }
    k.d = make_field<real>(k.lines, case_below(&dice, 4), k.sides, k.pitch);
    std::fill(k.d.host.begin(), k.d.host.end(), (real)NAN);
    k.memory.push_back(k.d.device);
    k.x = k.d;
    if (k.in_place) return;
    k.x = make_field<real>(k.lines, case_below(&dice, 4), k.sides, k.pitch);
    k.memory.push_back(k.x.device);
}

/* Stores a row; a of the first and c of the last row are NaN where they do not count. */
static void put_row(batch_call &k, long long system, int row, double a, double b, double c)
{
    const long long at = matrix_place(k, system, row);
    k.a[at] = row > 0 || k.periodic() ? (real)a : (real)NAN;
    k.b[at] = (real)b;
    k.c[at] = row < k.n() - 1 || k.periodic() ? (real)c : (real)NAN;
}

/* Matrices dominant by rows and by columns, with |b| >= 1.4 times the larger sum; for pivoting, any matrices. */
static void fill_matrices(batch_call &k)
{
    const int n = k.n();
    std::vector<double> a((size_t)n), c((size_t)n);
    for (long long i = 0; i < (k.shared() ? 1 : k.systems()); i++) {
        for (int j = 0; j < n; j++) {
            const size_t at = (size_t)j;
            a[at] = j > 0 || k.periodic() ? case_between(&dice, -1, 1) : 0;
            c[at] = j < n - 1 || k.periodic() ? case_between(&dice, -1, 1) : 0;
        }
        for (int j = 0; j < n; j++) {
            const size_t at = (size_t)j, above = (size_t)((j + n - 1) % n), below = (size_t)((j + 1) % n);
            const double sum = std::max(fabs(a[at]) + fabs(c[at]), fabs(c[above]) + fabs(a[below]));
            const double size = sum * case_between(&dice, 1.4, 3) + 0.1;
            const double b = k.launch == PIVOTED ? case_between(&dice, -1, 1) : case_below(&dice, 2) ? size : -size;
            put_row(k, i, j, a[at], b, c[at]);
        }
    }
}

static void fill_sides(batch_call &k)
{
    for (long long i = 0; i < k.systems(); i++)
        for (long long side = 0; side < k.sides; side++)
            for (int j = 0; j < k.n(); j++) {
                const long long at = place(k.lines, i, j) + side * k.pitch;
                k.x[at] = k.flags & TRID_BATCH_ADD ? (real)case_between(&dice, -1, 1) : (real)NAN;
                k.d[at] = (real)case_between(&dice, -1, 1);
                if (k.in_place) k.x[at] = k.d[at];
            }
}

static int launch_of(const batch_call &k, const told *report)
{
    const trid_lines lines = group_left_out(k.lines);
    scratch_memory scratch(lines, k.flags | (k.launch == REFINED ? TRID_BATCH_REFINED : 0), sizeof(real));
    const asked factors(k.launch == FACTOR ? k.flags : k.flags & TRID_BATCH_PERIODIC, 0);
    asked options(k.flags | (k.launch == FACTOR ? TRID_BATCH_FACTORED : 0), report, &scratch);
    trid_batch_options &of = options.options;
    if (k.scratch == NONE) of.scratch = 0;
    if (k.scratch == SHORT) of.scratch_bytes--;
    if (k.scratch == MISALIGNED) of.scratch = (char *)of.scratch + 8;
    const real *a = k.a.at(), *b = k.b.at(), *c = k.c.at(), *d = k.d.at();
    real *const x = k.x.at(), *const r = k.r.at(), *const u = k.u.at();
    switch (k.launch) {
    case SOLVE:
        return trid_batch_solve(lines, a, b, c, d, x, options, 0);
    case SHARED:
        return trid_batch_shared(lines, a, b, c, d, x, options, 0);
    case CHECKED:
        return trid_batch_checked(lines, a, b, c, d, x, options, 0);
    case REFINED:
        return trid_batch_refined(lines, a, b, c, d, x, options, 0);
    case PIVOTED:
        return trid_batch_pivoted(lines, a, b, c, d, x, options, 0);
    default:
        if (k.launch == SEVERAL && !(k.flags & TRID_BATCH_FACTORED))
            return trid_batch_several(lines, k.sides, k.pitch, a, b, c, d, x, options, 0);
        int status = trid_batch_factor(k.matrices(), a, b, c, r, u, factors, 0);
        if (status) return status;
        return trid_batch_several(lines, k.sides, k.pitch, a, (const real *)r, (const real *)u, d, x, options, 0);
    }
}

enum { UNTOLD = 77 };

/* Makes the call; k.status holds what the call finds there, if it is not empty. */
static void make_call(batch_call &k)
{
    const field<real> *const all[7] = {&k.a, &k.b, &k.c, &k.r, &k.u, &k.d, &k.x};
    for (const field<real> *f : all) to_device(f->device, f->host);
    const size_t systems = (size_t)k.systems();
    if (k.status.empty()) k.status.assign(systems, UNTOLD);
    k.residual.assign(systems + 2, UNTOLD), k.failed.assign(2, UNTOLD);
    k.status.insert(k.status.begin(), UNTOLD), k.status.push_back(UNTOLD);
    int *status;
    float *residual;
    unsigned long long *failed;
    GPU_OK(filled((void **)&status, k.status.size() * sizeof *status));
    GPU_OK(filled((void **)&residual, k.residual.size() * sizeof *residual));
    GPU_OK(filled((void **)&failed, k.failed.size() * sizeof *failed));
    to_device(status, k.status), to_device(residual, k.residual), to_device(failed, k.failed);
    const told report = {k.told & STATUS ? status + 1 : 0, k.told & RESIDUAL ? residual + 1 : 0, 0,
                         k.told & FAILED ? failed : 0};
    k.launched = launch_of(k, k.told ? &report : 0);
    GPU_OK(cudaDeviceSynchronize());
    k.after = from_device(k.x.device, k.x.host.size());
    k.status = from_device(status, k.status.size());
    k.residual = from_device(residual, k.residual.size());
    k.failed = from_device(failed, k.failed.size());
    GPU_OK(cudaFree(status));
    GPU_OK(cudaFree(residual));
    GPU_OK(cudaFree(failed));
    CHECK(k.status.front() == UNTOLD && k.status.back() == UNTOLD && k.residual.front() == UNTOLD &&
              k.residual.back() == UNTOLD,
          "%s: wrote beside what is told", words(k));
    k.status.erase(k.status.begin()), k.status.pop_back();
    k.residual.erase(k.residual.begin()), k.residual.pop_back();
}

static bool as_before(const field<real> &f)
{
    const std::vector<real> now = from_device(f.device, f.host.size());
    return !memcmp(now.data(), f.host.data(), now.size() * sizeof(real));
}
static bool inputs_as_before(const batch_call &k)
{
    if (k.one_memory && k.launched == TRID_BATCH_OK) return true; /* check_around has looked at the rest */
    return as_before(k.a) && as_before(k.b) && as_before(k.c) && (k.in_place || as_before(k.d));
}

/* ---- right or refused -------------------------------------------------------------------------------------------- */

/* One system of a call, with its matrix no longer transposed, in long double. x is what the call computed, and was is
   what it was added to. */
struct whole {
    std::vector<long double> a, b, c, d, x, was;
};
static whole system_of(batch_call &k, long long system, long long side)
{
    const int n = k.n(), transposed = (k.flags & TRID_BATCH_TRANSPOSED) != 0;
    whole w;
    for (int j = 0; j < n; j++) {
        const long long above = matrix_place(k, system, (j + n - 1) % n), here = matrix_place(k, system, j);
        const long long below = matrix_place(k, system, (j + 1) % n), at = place(k.lines, system, j) + side * k.pitch;
        const real was = k.flags & TRID_BATCH_ADD ? k.x[at] : 0;
        w.a.push_back(j == 0 && !k.periodic() ? (real)0 : transposed ? k.c[above] : k.a[here]);
        w.b.push_back(k.b[here]);
        w.c.push_back(j == n - 1 && !k.periodic() ? (real)0 : transposed ? k.a[below] : k.c[here]);
        w.d.push_back(k.d[at]);
        w.x.push_back((long double)k.after[(size_t)(k.x.origin + at)] - was);
        w.was.push_back(was);
    }
    return w;
}

/* The residual as trid_batch_checked defines it, plus a term for the roundings of the sum with w.was. NaN if any number
   is NaN. */
static double residual_of(const whole &w)
{
    const size_t n = w.b.size();
    long double error = 0, size = 0;
    for (size_t j = 0; j < n; j++) {
        const size_t up = (j + n - 1) % n, down = (j + 1) % n;
        const long double l = w.a[j] * w.x[up], m = w.b[j] * w.x[j], r = w.c[j] * w.x[down];
        const long double e = fabsl(l + m + r - w.d[j]);
        const long double was = fabsl(w.a[j] * w.was[up]) + fabsl(w.b[j] * w.was[j]) + fabsl(w.c[j] * w.was[down]);
        const long double z = fabsl(l) + fabsl(m) + fabsl(r) + fabsl(w.d[j]) + was;
        if (!(e <= error)) error = e;
        if (!(z <= size)) size = z;
    }
    return (double)(error == 0 ? 0 : error / size);
}

/* The error, against elimination with pivoting, as a share of the largest element. */
static double error_of(const whole &w)
{
    const size_t n = w.b.size();
    std::vector<long double> answer(n);
    if (batch_answer((int)n, w.a.data(), w.b.data(), w.c.data(), w.d.data(), answer.data())) return NAN;
    long double error = 0, size = 0;
    for (size_t j = 0; j < n; j++) {
        const long double e = fabsl(w.x[j] - answer[j]);
        if (!(e <= error)) error = e;
        size = std::max(size, fabsl(answer[j]) + fabsl(w.was[j]));
    }
    return (double)(error == 0 ? 0 : error / size);
}

/* Is the solution beyond the range of this precision? */
static bool is_beyond(batch_call &k, long long system)
{
    const whole w = system_of(k, system, 0);
    std::vector<long double> answer(w.b.size());
    long double size = 0;
    if (batch_answer((int)w.b.size(), w.a.data(), w.b.data(), w.c.data(), w.d.data(), answer.data())) return false;
    for (long double x : answer) size = std::max(size, fabsl(x));
    return size > std::numeric_limits<real>::max();
}

/* wrong_by is the larger of residual and error. Where |b| >= 1.4 times the rest, |A^-1| |A| <= 6; the bound is that
   times a dozen roundings, and room. */
enum { TOLERANCE = 128 };
static double wrong_by(batch_call &k, long long system)
{
    double worst = 0;
    for (long long side = 0; side < k.sides; side++) {
        const whole w = system_of(k, system, side);
        const double residual = residual_of(w), error = k.launch == PIVOTED || k.periodic() ? 0 : error_of(w);
        if (!(residual <= worst)) worst = residual;
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

/* Is x of a system what it was before the call? */
static bool untouched(batch_call &k, long long system)
{
    for (long long side = 0; side < k.sides; side++)
        for (int j = 0; j < k.n(); j++) {
            const size_t at = (size_t)(k.x.origin + place(k.lines, system, j) + side * k.pitch);
            if (memcmp(&k.after[at], &k.x.host[at], sizeof(real))) return false;
        }
    return true;
}

/* Everything in the memory of x that is no element must be what it was. */
static void check_around(batch_call &k)
{
    std::vector<real> rest = k.after;
    for (long long i = 0; i < k.systems(); i++)
        for (long long side = 0; side < k.sides; side++)
            for (int j = 0; j < k.n(); j++) {
                const size_t at = (size_t)(k.x.origin + place(k.lines, i, j) + side * k.pitch);
                rest[at] = k.x.host[at];
            }
    CHECK(!memcmp(rest.data(), k.x.host.data(), rest.size() * sizeof(real)), "%s: wrote beyond x", words(k));
}

/* `failed` must hold the number of statuses that are not 0, and the first system that has one. */
static void check_counts(const batch_call &k)
{
    unsigned long long count = 0, first = ~0ull;
    for (size_t i = 0; i < k.status.size(); i++)
        if (k.status[i] && !count++) first = i;
    if ((k.told & STATUS) && (k.told & FAILED))
        CHECK(k.failed[0] == count && k.failed[1] == first, "%s: failed %llu %llu, not %llu %llu", words(k),
              k.failed[0], k.failed[1], count, first);
}

/* Every system must be solved, and nothing else reported. A repair may also solve systems that it need not. */
static void check_solved(batch_call &k, const std::vector<int> &to_repair = std::vector<int>())
{
    if (!CHECK(k.launched == TRID_BATCH_OK, "%s: %s", words(k), trid_batch_status_string(k.launched))) return;
    double worst = 0, told = 0;
    long bad = 0;
    for (long long i = 0; i < k.systems(); i++) {
        bad += (k.told & STATUS) && k.status[(size_t)i];
        if (!to_repair.empty() && !to_repair[(size_t)i] && untouched(k, i)) continue;
        const double wrong = wrong_by(k, i);
        if (!(wrong <= worst)) worst = wrong;
        if (!(k.residual[(size_t)i] <= told)) told = k.residual[(size_t)i];
    }
    check_near(worst, 0, TOLERANCE * UNIT, "%s: error", words(k));
    CHECK(bad == 0, "%s: %ld statuses", words(k), bad);
    if ((k.launch == CHECKED || k.launch == REFINED) && (k.told & RESIDUAL))
        check_near(told, 0, TOLERANCE * UNIT, "%s: residual told", words(k));
    if (k.told & FAILED) CHECK(k.failed[0] == 0 && k.failed[1] == ~0ull, "%s: failed %llu", words(k), k.failed[0]);
    check_around(k);
    CHECK(inputs_as_before(k), "%s: an input was changed", words(k));
}

static void check_refused(batch_call &k, int want)
{
    CHECK(k.launched == want, "%s: %d, not %d", words(k), k.launched, want);
    CHECK(inputs_as_before(k) && as_before(k.x), "%s: refused, and wrote", words(k));
    for (int status : k.status) CHECK(status == UNTOLD, "%s: refused, and told %d", words(k), status);
}

/* ---- random calls ------------------------------------------------------------------------------------------------ */

static int one_of(std::initializer_list<int> list)
{
    return list.begin()[case_below(&dice, (int)list.size())];
}

/* Numbers of rows around the limits of every kernel, and any. */
static int some_rows(void)
{
    if (case_below(&dice, 3) == 0) return 1 + case_below(&dice, case_below(&dice, 4) ? 130 : 3000);
    return one_of({1,   2,   3,   4,   5,   7,    8,    9,    15,   16,   17,   31,   32,   33,  48,  60,
                   63,  64,  65,  90,  100, 127,  128,  129,  137,  200,  255,  256,  257,  400, 511, 512,
                   513, 700, 768, 769, 900, 1000, 1023, 1024, 1025, 1100, 2047, 2048, 2049, 3000});
}

/* Lines in any layout: one system after another or row by row, with gaps, backwards, in groups, along an axis. */
static trid_lines some_lines(int n)
{
    enum { ELEMENTS = 6000 };
    const int most = std::max(1, ELEMENTS / n), groups = std::min(most, one_of({1, 1, 1, 2, 3}));
    const int systems = std::min(std::max(1, most / groups), one_of({1, 2, 3, 5, 31, 32, 33, 64, 65, 130}));
    const int gap = case_below(&dice, 2) * case_below(&dice, 5);
    trid_lines l = {n, 1, systems, n + gap, groups, 0};
    switch (case_below(&dice, 6)) {
    case 0:
        l.step = systems + gap, l.stride = 1;
        break;
    case 1:
        l.step = 1 + case_below(&dice, 3), l.stride = n * l.step + gap;
        break;
    case 2:
        l.stride = 1 + case_below(&dice, 3), l.step = systems * l.stride + gap;
        break;
    case 3:
        return trid_lines_axis(systems, n, groups, 1);
    case 4:
        return trid_lines_axis(systems, groups, n, 2);
    default:
        break;
    }
    l.jump = (n - 1) * l.step + (systems - 1) * l.stride + 1 + case_below(&dice, 2) * case_below(&dice, 4);
    if (case_below(&dice, 4) == 0) l.step = -l.step;
    if (case_below(&dice, 4) == 0) l.stride = -l.stride;
    if (case_below(&dice, 4) == 0) l.jump = -l.jump;
    return l;
}

/* Right-hand sides one after another, with a gap, backwards, or with the elements of all sides beside each other. */
static void some_sides(batch_call &k)
{
    trid_lines &l = k.lines;
    k.sides = one_of({1, 2, 3, 5});
    if (l.n * k.systems() > 1500) k.sides = std::min(k.sides, 2ll);
    const long long reach =
        llabs(l.step) * (l.n - 1) + llabs(l.stride) * (l.systems - 1) + llabs(l.jump) * (l.groups - 1);
    const int kind = case_below(&dice, 4);
    k.pitch = kind == 0 ? 1 : (reach + 1 + case_below(&dice, 3)) * (kind == 1 ? -1 : 1);
    if (kind == 0) l.step *= k.sides, l.stride *= k.sides, l.jump *= k.sides;
}

/* Flags that the launch takes. */
static int some_flags(int launch)
{
    int flags = (int)case_bits(&dice) & (int)case_bits(&dice) & LAUNCH[launch].flags;
    if (flags & TRID_BATCH_REPAIR) flags &= ~TRID_BATCH_ADD;
    return flags;
}

static void test_random_call(void)
{
    const unsigned long long seed = dice.state;
    const int launch = case_below(&dice, LAUNCHES), flags = some_flags(launch);
    batch_call k(launch, flags, some_lines(some_rows()));
    const int repair = flags & TRID_BATCH_REPAIR;
    k.seed = seed;
    k.in_place = !repair && case_below(&dice, 4) == 0;
    k.told = case_below(&dice, 8) | (repair ? STATUS : 0);
    if (launch == SEVERAL || launch == FACTOR) some_sides(k);
    make_arrays(k), fill_matrices(k), fill_sides(k);
    std::vector<int> to_repair;
    for (long long i = 0; repair && i < k.systems(); i++) to_repair.push_back(case_below(&dice, 3) == 0);
    k.status = to_repair;
    make_call(k);
    check_solved(k, to_repair);
}

/* Under the emulator the calls run on five devices in turn. Four of them lack something: clusters, asynchronous copies
   (7.5), or shared memory for some pipelines and clusters. */
static void choose_device(int i)
{
#ifdef SIMT_EMULATOR
    static const int device[5][3] = {{9, 0, 227}, {7, 5, 64}, {8, 0, 163}, {8, 6, 99}, {12, 0, 99}};
    simt_capability(device[i % 5][0], device[i % 5][1]);
    simt_shared_memory(device[i % 5][2] * 1024);
#else
    (void)i;
#endif
}
static void test_random_calls(int count)
{
    for (int i = 0; i < count; i++) {
        choose_device(i);
        test_random_call();
    }
    choose_device(0);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Are these flags that a launch is documented to take? */
static int takes(int launch, int flags, int in_place)
{
    if (flags & ~LAUNCH[launch].flags) return 0;
    return !(flags & TRID_BATCH_REPAIR) || (!(flags & TRID_BATCH_ADD) && !in_place);
}

static void test_flags(int launch, int flags, int in_place, int told, const trid_lines &lines)
{
    const int fine = takes(launch, flags, in_place);
    batch_call k(launch, flags, lines);
    k.in_place = in_place;
    k.told = told ? ALL_TOLD : 0;
    if (fine && (flags & TRID_BATCH_REPAIR)) k.status.assign((size_t)k.systems(), 1);
    make_arrays(k), fill_matrices(k), fill_sides(k);
    make_call(k);
    if (!fine || ((flags & TRID_BATCH_REPAIR) && !told))
        k.status.assign(k.status.size(), UNTOLD), check_refused(k, TRID_BATCH_BAD_FLAGS);
    else
        check_solved(k);
}

/* Every combination of flags, and a flag that does not exist. */
static void test_all_flags(void)
{
    const int all = 1024, step = check_short() ? 3 : 1;
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (int flags = 0; flags < all; flags += takes(launch, flags, 0) ? 1 : step) {
            const int any = case_below(&dice, 4);
            for (int way = 0; way < 4; way++) /* a repair depends on more than flags */
                if (way == any || launch == PIVOTED)
                    test_flags(launch, flags, way % 2, way / 2,
                               case_below(&dice, 2) ? trid_lines_contiguous(5, 3) : trid_lines_interleaved(4, 3));
        }
}

/* A pointer that is null or not aligned for its element. */
static void test_pointers(void)
{
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (int which = 0; which < 7; which++)
            for (int off : {0, 1, (int)sizeof(real) / 2}) {
                if (which > 4 && launch != FACTOR) continue;
                batch_call k(launch, 0, trid_lines_contiguous(6, 4));
                make_arrays(k), fill_matrices(k), fill_sides(k);
                field<real> *const all[7] = {&k.a, &k.b, &k.c, &k.d, &k.x, &k.r, &k.u};
                field<real> &f = *all[which];
                const field<real> right = f;
                for (field<real> *g : all) to_device(g->device, g->host);
                f.device = off ? (real *)((char *)f.device + off) : (real *)0;
                f.origin = off ? f.origin : 0;
                k.launched = launch_of(k, 0);
                f = right;
                k.after = from_device(k.x.device, k.x.host.size());
                check_refused(k, TRID_BATCH_BAD_ARGUMENT);
            }
}

/* Sizes that are invalid, and 0. */
static void test_sizes(void)
{
    const long long far = 1ll << 60;
    const struct {
        trid_lines lines;
        int want;
    } list[] = {
        {{-1, 1, 2, 6, 1, 0}, TRID_BATCH_BAD_SIZE},
        {{6, 1, -2, 6, 1, 0}, TRID_BATCH_BAD_SIZE},
        {{6, 1, 2, 6, -1, 0}, TRID_BATCH_BAD_SIZE},
        {{6, far, 2, 1, 1, 0}, TRID_BATCH_BAD_SIZE},
        {{far, 1, 1, 1, 1, 0}, TRID_BATCH_BAD_SIZE},
        {{1, 1, 1 << 30, 1, 1 << 30, 1 << 30}, TRID_BATCH_BAD_SIZE},
        {{6, 1, 2, 6, 2, -far}, TRID_BATCH_BAD_SIZE},
        {{6, 1, 2, LLONG_MIN, 1, 0}, TRID_BATCH_BAD_SIZE},
        {{(1 << 30) + 1, 1, 1, 0, 1, 0}, TRID_BATCH_BAD_SIZE},
        {{6, 0, 2, 6, 1, 0}, TRID_BATCH_OVERLAP},
        {{6, 1, 2, 5, 1, 0}, TRID_BATCH_OVERLAP},
        {{6, 1, 2, 6, 2, 11}, TRID_BATCH_OVERLAP},
        {{6, -2, 3, 4, 1, 0}, TRID_BATCH_OVERLAP},
        {{0, 1, 2, 6, 1, 0}, TRID_BATCH_OK},
        {{6, 1, 0, 6, 1, 0}, TRID_BATCH_OK},
        {{far, 1, 0, far, far, far}, TRID_BATCH_OK},
    };
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (const auto &of : list) {
            batch_call k(launch, 0, trid_lines_contiguous(6, 4));
            make_arrays(k), fill_matrices(k), fill_sides(k);
            field<real> *const all[7] = {&k.a, &k.b, &k.c, &k.d, &k.x, &k.r, &k.u};
            for (field<real> *f : all) to_device(f->device, f->host);
            const trid_lines lines = k.lines;
            k.lines = of.lines;
            k.launched = launch_of(k, 0);
            k.lines = lines;
            k.after = from_device(k.x.device, k.x.host.size());
            check_refused(k, of.want);
        }
}

/* Scratch that is too short or misaligned is refused; without scratch, the calls that need it are. */
static void test_scratch(void)
{
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (int interleaved = 0; interleaved < 2; interleaved++)
            for (int scratch : {(int)NONE, (int)SHORT, (int)MISALIGNED}) {
                const int n = sizeof(real) == 4 ? 4200 : 2100;
                batch_call k(launch, launch >= SEVERAL && case_below(&dice, 2) ? (int)TRID_BATCH_PERIODIC : 0,
                             interleaved ? trid_lines_interleaved(n, 2) : trid_lines_contiguous(n, 2));
                k.scratch = scratch;
                make_arrays(k), fill_matrices(k), fill_sides(k);
                make_call(k);
                if (scratch != NONE || k.launched)
                    check_refused(k, TRID_BATCH_BAD_SCRATCH);
                else
                    check_solved(k);
            }
}

/* x at any distance from another array in one memory: the call is refused where elements coincide, and solves
   otherwise. One matrix for all systems may also be refused where it lies between elements of x. */
static void test_overlap(void)
{
    enum { CELLS = 2400, APART = 300 };
    const int launch = case_below(&dice, SEVERAL + 1), n = 1 + case_below(&dice, 5);
    const trid_lines lines = {n,
                              one_of({-9, -7, -4, -3, -2, -1, 1, 2, 3, 4, 6, 8, 12, 16}),
                              1 + case_below(&dice, 4),
                              one_of({-9, -7, -4, -3, -2, -1, 1, 2, 3, 4, 6, 8, 12, 16}),
                              1 + case_below(&dice, 2),
                              one_of({-29, -17, -4, -1, 1, 2, 8, 12, 30, 47})};
    if (trid_lines_check(lines)) return;
    batch_call k(launch, some_flags(launch) & ~(TRID_BATCH_REPAIR | TRID_BATCH_FACTORED), lines);
    field<real> memory = make_field<real>(trid_lines_contiguous(CELLS, 1), 0);
    k.memory.push_back(memory.device);
    k.one_memory = 1;
    field<real> *const all[5] = {&k.a, &k.b, &k.c, &k.d, &k.x};
    for (int i = 0; i < 5; i++) *all[i] = memory, all[i]->origin = (i + 1) * APART;
    k.r = k.u = k.a;
    k.x.origin = (1 + case_below(&dice, 4)) * APART + case_below(&dice, 51) - 25;
    if (case_below(&dice, 3) == 0) k.x.origin = k.d.origin;
    k.in_place = k.x.origin == k.d.origin;
    fill_matrices(k), fill_sides(k);
    std::vector<int> owner((size_t)(CELLS + 2 * GUARD));
    int want = TRID_BATCH_OK;
    for (long long i = 0; i < k.systems(); i++)
        for (int j = 0; j < n; j++) owner[(size_t)(k.x.origin + place(lines, i, j))] = 1;
    for (int array = 0; array < 4; array++)
        for (long long i = 0; i < k.systems(); i++)
            for (int j = 0; j < n; j++) {
                const long long at = array == 3 ? place(lines, i, j) : matrix_place(k, i, j);
                const size_t cell = (size_t)(all[array]->origin + at);
                memory.host[cell] = all[array]->host[cell];
                if (!k.periodic() && ((array == 0 && j == 0) || (array == 2 && j == n - 1))) continue;
                if (owner[cell] && !(array == 3 && k.in_place)) want = TRID_BATCH_OVERLAP;
            }
    for (long long i = 0; i < k.systems() && !want && !k.in_place; i++)
        for (int j = 0; j < n; j++) {
            const size_t cell = (size_t)(k.x.origin + place(lines, i, j));
            memory.host[cell] = k.x.host[cell];
        }
    for (field<real> *f : all) f->host = memory.host;
    k.r.host = k.u.host = memory.host;
    make_call(k);
    if (want || (k.shared() && k.launched))
        check_refused(k, TRID_BATCH_OVERLAP);
    else
        check_solved(k);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* How one system of a batch is spoilt. */
enum { D_NAN, D_INF, D_HUGE, D_ZERO, OF_MATRIX, B_NAN = OF_MATRIX, A_NAN, B_INF, B_ZERO, ALL_ZERO, SPOILS };
static const char *const SPOIL[SPOILS] = {"NaN in d", "inf in d", "huge d",    "no d",    "NaN in b",
                                          "NaN in a", "inf in b", "b is zero", "all zero"};

static void spoil_system(batch_call &k, long long system, int row, int how)
{
    const real infinity = (real)INFINITY, most = sizeof(real) == 4 ? (real)3e38 : (real)1e308;
    for (int j = 0; j < k.n(); j++) {
        const long long at = matrix_place(k, system, j);
        if (how == ALL_ZERO) put_row(k, system, j, 0, 0, 0);
        if (how == B_ZERO) k.b[at] = 0;
        if (j == row && how == B_NAN) k.b[at] = (real)NAN;
        if (j == row && how == A_NAN) k.a[at] = (real)NAN;
        if (j == row && how == B_INF) k.b[at] = infinity;
        for (long long side = 0; side < k.sides; side++) {
            real &d = k.d[place(k.lines, system, j) + side * k.pitch];
            if (how == D_HUGE) d = most;
            if (how == D_ZERO) d = 0;
            if (j == row && how == D_NAN) d = (real)NAN;
            if (j == row && how == D_INF) d = infinity;
        }
    }
}

/* May system `victim` change the last digits of x of system i? */
static int may_depend(const batch_call &k, long long i, long long victim)
{
    const int interleaved = trid_p_lines_are_interleaved(trid_p_lines_join(k.lines)), share = interleaved ? 128 : 32;
    return k.launch >= REFINED && (interleaved || k.n() <= 256) && i / share == victim / share;
}

/* The neighbours' x and status must have the same bits as without the bad system, and what is reported of that one must
   be right. Where a warp or tile factors, refines, or asks whether pivots are needed, a bad system among its own makes
   it take another path; x of these neighbours must still be right to rounding. */
static void check_beside(batch_call &k, const std::vector<real> &clean, long long victim, int how)
{
    const int checked = k.launch == CHECKED || k.launch == REFINED, status = k.status[(size_t)victim];
    long touched = 0, told = 0, infinite = 0, nonzero = 0;
    for (long long i = 0; i < k.systems(); i++) {
        const int same = i != victim && !may_depend(k, i, victim);
        if (i != victim && !same) touched += !(wrong_by(k, i) <= TOLERANCE * UNIT);
        told += i != victim && k.status[(size_t)i];
        for (long long side = 0; side < k.sides; side++)
            for (int j = 0; j < k.n(); j++) {
                const size_t at = (size_t)(k.x.origin + place(k.lines, i, j) + side * k.pitch);
                if (same)
                    touched += memcmp(&k.after[at], &clean[at], sizeof(real)) != 0;
                else if (i == victim)
                    infinite += !(fabs((double)k.after[at]) <= 1e308), nonzero += k.after[at] != 0;
            }
    }
    const int must = how == B_NAN || how == ALL_ZERO || (checked && how != D_HUGE && how != D_ZERO && how != B_ZERO);
    CHECK(k.launched == TRID_BATCH_OK, "%s: %s: %s", words(k), SPOIL[how], trid_batch_status_string(k.launched));
    CHECK(touched == 0 && told == 0, "%s: %s: %ld elements beside it changed, %ld statuses", words(k), SPOIL[how],
          touched, told);
    CHECK(status || !must, "%s: %s is not told", words(k), SPOIL[how]);
    CHECK(status || !infinite || how < D_ZERO || (how == B_ZERO && is_beyond(k, victim)),
          "%s: %s: %ld elements not finite, and not told", words(k), SPOIL[how], infinite);
    CHECK(status >= 0 && status <= k.n() + checked, "%s: %s: status %d", words(k), SPOIL[how], status);
    if (how == D_ZERO)
        CHECK(status == 0 && nonzero == 0, "%s: no d, but %ld of x, status %d", words(k), nonzero, status);
    check_counts(k);
    check_around(k);
}

static void test_beside(int launch, int flags, const trid_lines &lines)
{
    batch_call k(launch, flags, lines);
    if (launch >= SEVERAL) some_sides(k);
    make_arrays(k), fill_matrices(k), fill_sides(k);
    make_call(k);
    check_solved(k);
    const std::vector<real> clean = k.after, a = k.a.host, b = k.b.host, c = k.c.host, d = k.d.host;
    for (int how = 0; how < (k.shared() ? (int)OF_MATRIX : (int)SPOILS); how++) {
        const long long victim = case_below(&dice, (int)k.systems());
        int row = case_below(&dice, k.n());
        if (how == A_NAN && k.n() == 1) continue;
        if (how == A_NAN) row = std::max(row, 1);
        k.a.host = a, k.b.host = b, k.c.host = c, k.d.host = d;
        k.status.clear();
        spoil_system(k, victim, row, how);
        make_call(k);
        check_beside(k, clean, victim, how);
    }
}

static void test_bad_neighbours(void)
{
    const int sizes[] = {1, 2, 3, 5, 16, 31, 33, 64, 100, 200, 512, 513, 1024, 1025, 3000};
    for (int n : sizes)
        for (int launch = 0; launch < LAUNCHES; launch++)
            for (int interleaved = 0; interleaved < 2; interleaved++) {
                if (case_below(&dice, check_short() ? 12 : n > 200 ? 4 : 2)) continue;
                const int systems = n < 20 && interleaved ? 300 : n < 40 ? 67 : n < 300 ? 35 : 5;
                const int flags = some_flags(launch) & ~(TRID_BATCH_ADD | TRID_BATCH_REPAIR);
                test_beside(launch, flags,
                            interleaved ? trid_lines_interleaved(n, systems) : trid_lines_contiguous(n, systems));
            }
}

/* Matrices and right-hand sides of these magnitudes, and rows of very different magnitudes. */
static void test_scales(int launch, int matrix, int side, int rows, const trid_lines &lines)
{
    batch_call k(launch, 0, lines);
    make_arrays(k), fill_matrices(k), fill_sides(k);
    for (long long i = 0; i < k.systems(); i++)
        for (int j = 0; j < k.n(); j++) {
            const long long at = matrix_place(k, i, j), here = place(lines, i, j);
            /* with one matrix for all, row j has one size in all systems */
            const int row = rows ? (int)((unsigned)j * 2654435761u >> 8) % (2 * rows) - rows : 0;
            if (i == 0 || !k.shared()) {
                k.a[at] = (real)ldexp((double)k.a[at], matrix + row);
                k.b[at] = (real)ldexp((double)k.b[at], matrix + row);
                k.c[at] = (real)ldexp((double)k.c[at], matrix + row);
            }
            k.d[here] = (real)ldexp((double)k.d[here], side + row);
        }
    make_call(k);
    check_solved(k);
}

static void test_range(void)
{
    const int far = sizeof(real) == 4 ? 100 : 1000; /* 2^100 is 1e30 */
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (int matrix = -far; matrix <= far; matrix += far)
            for (int side = -far; side <= far; side += far) {
                if (abs(side - matrix) > far) continue; /* x is beyond the range */
                for (int n : {1, 3, 40, 300, 2500}) {
                    if (case_below(&dice, check_short() ? 10 : 2)) continue;
                    const int systems = n > 1000 ? 2 : 5, rows = case_below(&dice, 2) ? 10 : 0;
                    test_scales(launch, matrix, side, matrix || side ? 0 : rows,
                                case_below(&dice, 2) ? trid_lines_interleaved(n, systems)
                                                     : trid_lines_contiguous(n, systems));
                }
            }
}

/* Numbers below the normal range. As off-diagonals they count as 0. As right-hand sides they give x to within the last
   bit of the range or the least normal number. As pivots they are reported, or x is right. */
static void test_denormal(int launch, const trid_lines &lines)
{
    enum { SIDES, COUPLINGS, PIVOTS, KINDS };
    const int below = sizeof(real) == 4 ? -140 : -1060;
    for (int kind = 0; kind < KINDS; kind++) {
        batch_call k(launch, 0, lines);
        make_arrays(k), fill_matrices(k), fill_sides(k);
        for (long long i = 0; i < k.systems(); i++)
            for (int j = 0; j < k.n(); j++) {
                real &b = k.b[matrix_place(k, i, j)], &d = k.d[place(lines, i, j)];
                const double a = case_between(&dice, -1, 1), c = case_between(&dice, -1, 1);
                if (kind == SIDES) d = (real)ldexp((double)d, below);
                if (kind == COUPLINGS) put_row(k, i, j, ldexp(a, below), 1 + fabs(a), ldexp(c, below));
                if (kind == PIVOTS && j % 7 == 3) put_row(k, i, j, ldexp(a, below), ldexp((double)b, below), 0);
            }
        make_call(k);
        CHECK(k.launched == TRID_BATCH_OK, "%s: %s", words(k), trid_batch_status_string(k.launched));
        for (long long i = 0; i < k.systems(); i++) {
            double worst = 0;
            for (int j = 0; j < k.n() && kind == SIDES; j++) {
                const double x = fabs((double)k.after[(size_t)(k.x.origin + place(lines, i, j))]);
                if (!(x <= worst)) worst = x;
            }
            const int status = k.status[(size_t)i];
            if (kind == SIDES)
                CHECK(worst <= ldexp(launch == PIVOTED ? 1e12 : 100, below) &&
                          (status == 0 || launch == CHECKED || launch == REFINED),
                      "%s: denormal d, x is %g, status %d", words(k), worst, status);
            else
                CHECK(status ? kind == PIVOTS : wrong_by(k, i) <= TOLERANCE * UNIT,
                      "%s: denormal %s: status %d, error %g", words(k), kind == PIVOTS ? "pivots" : "couplings", status,
                      wrong_by(k, i));
        }
    }
}

static void test_denormals(void)
{
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (int n : {5, 40, 300, 2500}) {
            if (case_below(&dice, check_short() ? 6 : 1)) continue;
            test_denormal(launch, trid_lines_interleaved(n, 3));
            test_denormal(launch, trid_lines_contiguous(n, 3));
        }
}

/* ---- the matrices of others -------------------------------------------------------------------------------------- */

/* The matrices of pivoted_cases.h, by number, and some of our own. */
enum { OTHERS = 20, HARD = 24 };
static case_system hard_matrix(int number, int n, unsigned long long seed)
{
    if (number <= OTHERS) return pivoted_matrix(number, n, seed);
    case_system s = case_new(n);
    for (int j = 0; j < n; j++) {
        s.a[j] = number == 21 ? -1 : number == 23 ? 1e-8 : 1;
        s.b[j] = number == 21 ? 1e-8 : number == 22 ? fabs(j - (n - 1) * 0.5) : number == 23 ? 0 : 4;
        s.c[j] = 1;
    }
    case_random random = {seed};
    pivoted_renew(&random, s);
    return s;
}

/* Matrices that are singular once rounded, or whose x is beyond the range, may be reported. */
static bool nearly_singular(int number)
{
    return (number >= 8 && number <= 11) || number == 23;
}

/* With pivoting the residual is a few roundings, whatever the matrix. What trid_batch_checked reports of its solution
   without pivoting must be true, except where its roundings decide. */
static void test_hard(int launch, int number, const trid_lines &lines)
{
    batch_call k(launch, 0, lines);
    make_arrays(k);
    for (long long i = 0; i < k.systems(); i++) {
        case_system s = hard_matrix(number, k.n(), (unsigned long long)(2025 + i));
        for (int j = 0; j < k.n(); j++) {
            put_row(k, i, j, s.a[j], s.b[j], s.c[j]);
            k.d[place(lines, i, j)] = (real)s.d[j];
            k.x[place(lines, i, j)] = (real)NAN;
        }
        case_free(s);
    }
    make_call(k);
    CHECK(k.launched == TRID_BATCH_OK, "%s: %s", words(k), trid_batch_status_string(k.launched));
    for (long long i = 0; i < k.systems(); i++) {
        const double residual = residual_of(system_of(k, i, 0)) / UNIT;
        const int status = k.status[(size_t)i];
        if (launch == PIVOTED)
            CHECK(status ? nearly_singular(number) : residual <= 64,
                  "%s: matrix %d: status %d, residual of %g roundings", words(k), number, status, residual);
        else if (!(residual > 120 && residual < 136))
            CHECK((status == 0) == (residual <= TOLERANCE), "%s: matrix %d: status %d, residual of %g roundings",
                  words(k), number, status, residual);
    }
}

/* No diagonal, ones beside it, an odd number of rows: singular, also in floating point, so it must be reported. */
static void test_singular(void)
{
    for (int n : {1, 3, 5, 17, 33, 65, 257, 513, 1025, 2501})
        for (int interleaved = 0; interleaved < 2; interleaved++) {
            batch_call k(PIVOTED, 0, interleaved ? trid_lines_interleaved(n, 3) : trid_lines_contiguous(n, 3));
            make_arrays(k), fill_matrices(k), fill_sides(k);
            for (int j = 0; j < n; j++) put_row(k, 1, j, 1, 0, 1);
            make_call(k);
            CHECK(k.launched == TRID_BATCH_OK && k.status == std::vector<int>({0, 1, 0}), "%s: statuses %d %d %d",
                  words(k), k.status[0], k.status[1], k.status[2]);
            check_counts(k);
        }
}

/* What a of row 0 and c of row n-1 hold must not decide how a system is solved: x has the same bits with zeros there as
   with large numbers. */
static void test_unused_ends(void)
{
    for (int launch : {(int)PIVOTED, (int)SEVERAL})
        for (int n : {1, 2, 3, 8, 20, 32, 33, 100, 256, 700, 1024})
            for (int interleaved = 0; interleaved < 2; interleaved++) {
                batch_call k(launch, 0, interleaved ? trid_lines_interleaved(n, 5) : trid_lines_contiguous(n, 5));
                std::vector<real> with_zeros;
                make_arrays(k), fill_sides(k);
                for (long long i = 0; i < k.systems(); i++)
                    for (int j = 0; j < n; j++)
                        put_row(k, i, j, case_between(&dice, -1, 1), 2.5, case_between(&dice, -1, 1));
                for (double end : {0., 1e30}) {
                    for (long long i = 0; i < k.systems(); i++)
                        k.a[place(k.lines, i, 0)] = k.c[place(k.lines, i, n - 1)] = (real)end;
                    k.status.clear();
                    make_call(k);
                    CHECK(k.launched == TRID_BATCH_OK, "%s: %s", words(k), trid_batch_status_string(k.launched));
                    if (end == 0) with_zeros = k.after;
                }
                CHECK(!memcmp(with_zeros.data(), k.after.data(), k.after.size() * sizeof(real)),
                      "%s: elements beyond the ends change x", words(k));
            }
}

static void test_hard_matrices(void)
{
    for (int n : {2, 4, 16, 32, 34, 64, 130, 512, 514, 1024, 2500})
        for (int number = 1; number <= HARD; number++)
            for (int launch : {(int)PIVOTED, (int)CHECKED, (int)REFINED}) {
                const int dense = number >= 8 && number <= 11; /* made from a full matrix */
                if ((dense && n > 64) || case_below(&dice, check_short() ? 12 : n > 64 ? 3 : 1)) continue;
                const int systems = n > 1000 ? 1 : 3;
                test_hard(launch, number,
                          case_below(&dice, 2) ? trid_lines_interleaved(n, systems)
                                               : trid_lines_contiguous(n, systems));
            }
}

/* ---- partitions -------------------------------------------------------------------------------------------------- */

enum { REDUCE, EXPAND, WEIGHTS, WEIGH, CUTS };
static const struct {
    const char *name;
    int flags;
} CUT[CUTS] = {{"interface_reduce", TRID_BATCH_REDUCE_FLAGS},
               {"interface_expand", TRID_BATCH_EXPAND_FLAGS},
               {"interface_factor", TRID_BATCH_INTERFACE_FACTOR_FLAGS},
               {"interface_weigh", TRID_BATCH_WEIGH_FLAGS}};

/* The rows of all systems that one rank has. */
struct partition {
    trid_lines lines, matrices;
    long long share;
    int first, n, ends;                          /* FIRST, LAST */
    field<real> a, b, c, d, x, u, v, ea, ec, ed; /* ed: also the unknowns that come back */
    field<int> reach;
    std::vector<field<real> *> all() { return {&a, &b, &c, &d, &x, &u, &v, &ea, &ec, &ed}; }
};

static void free_partition(partition &p)
{
    for (field<real> *f : p.all()) GPU_OK(cudaFree(f->device));
    GPU_OK(cudaFree(p.reach.device));
}

static partition make_partition(const trid_lines &lines, int shared, long long share, int first, int ends)
{
    partition p = {};
    p.lines = lines, p.share = share, p.first = first, p.n = (int)lines.n, p.ends = ends;
    p.matrices = shared ? trid_lines_contiguous(lines.n, 1) : lines;
    const trid_lines two = trid_lines_contiguous(2 * lines.systems * lines.groups, 1);
    const trid_lines lie[10] = {p.matrices, p.matrices, p.matrices, lines, lines,
                                p.matrices, p.matrices, two,        two,   two};
    int k = 0;
    for (field<real> *f : p.all()) {
        *f = make_field<real>(lie[k++], case_below(&dice, 4));
        std::fill(f->host.begin(), f->host.end(), (real)NAN);
    }
    p.reach = make_field<int>(trid_lines_contiguous(2, 1), 0);
    upload(p.reach);
    return p;
}

static int launch_cut(const partition &p, int which, int flags)
{
    const trid_lines lines = group_left_out(p.lines);
    const asked options(flags, 0);
    const real *a = p.a.at(), *b = p.b.at(), *c = p.c.at(), *d = p.d.at(), *ends = p.ed.at();
    real *const u = p.u.at(), *const v = p.v.at(), *const ea = p.ea.at(), *const ec = p.ec.at(), *const ed = p.ed.at();
    switch (which) {
    case REDUCE:
        return trid_batch_interface_reduce(lines, a, b, c, d, p.share, ea, ec, ed, options, 0);
    case EXPAND:
        return trid_batch_interface_expand<1024>(lines, a, b, c, d, p.share, ends, p.x.at(), options, 0);
    case WEIGHTS:
        return trid_batch_interface_factor(p.matrices, a, b, c, u, v,
                                           p.matrices.systems * p.matrices.groups == 1 ? 1 : p.share, ea, ec,
                                           p.reach.at(), options, 0);
    default:
        return trid_batch_interface_weigh(lines, (const real *)u, (const real *)v, d, p.n, p.n, p.share, ed, options,
                                          0);
    }
}

/* The place in the shares of a system's row of f, or of z. */
static long long end_place(const partition &p, long long system, int last)
{
    const long long all = p.lines.systems * p.lines.groups, before = system / p.share * p.share;
    return before + system + last * std::min(p.share, all - before);
}

/* Dominant systems cut into partitions; what the calls must not read is NaN. */
struct cut_systems {
    int rows, shared, weighed, add;
    long long count;
    std::vector<whole> all;
    std::vector<partition> ranks;
};

static void fill_systems(cut_systems &w)
{
    const size_t n = (size_t)w.rows;
    for (long long i = 0; i < w.count; i++) {
        whole s;
        for (size_t j = 0; j < n; j++) {
            const double a = case_between(&dice, -1, 1), c = case_between(&dice, -1, 1);
            const double b = (fabs(a) + fabs(c)) * case_between(&dice, 1.4, 3) + 0.1;
            s.a.push_back((real)(j > 0 ? a : 0)), s.c.push_back((real)(j + 1 < n ? c : 0));
            s.b.push_back((real)(case_below(&dice, 2) ? b : -b));
            s.d.push_back((real)case_between(&dice, -1, 1));
            s.was.push_back(w.add ? (real)case_between(&dice, -1, 1) : (real)0);
        }
        if (w.shared && i > 0) s.a = w.all[0].a, s.b = w.all[0].b, s.c = w.all[0].c;
        s.x.resize(n);
        w.all.push_back(s);
    }
    for (partition &p : w.ranks) {
        for (long long i = 0; i < w.count; i++)
            for (int j = 0; j < p.n; j++) {
                const whole &s = w.all[(size_t)i];
                const size_t row = (size_t)(p.first + j);
                const long long at = place(p.lines, i, j), m = w.shared ? j : at;
                p.a[m] = row > 0 ? (real)s.a[row] : (real)NAN;
                p.b[m] = (real)s.b[row];
                p.c[m] = row + 1 < n ? (real)s.c[row] : (real)NAN;
                p.d[at] = (real)s.d[row];
                p.x[at] = w.add ? (real)s.was[row] : (real)NAN;
            }
        for (field<real> *f : p.all()) upload(*f);
    }
}

/* The unknowns at the ends of the partitions, from the reduced systems, on the host. */
static void solve_ends(cut_systems &w)
{
    const size_t rows = 2 * w.ranks.size();
    const int one = w.shared && w.weighed; /* a and c of one system */
    for (partition &p : w.ranks)
        for (field<real> *f : {&p.ea, &p.ec, &p.ed}) f->host = from_device(f->device, f->host.size());
    for (long long i = 0; i < w.count; i++) {
        std::vector<long double> a, b(rows, 1), c, d, x(rows);
        for (partition &p : w.ranks)
            for (int last = 0; last < 2; last++) {
                const long long at = end_place(p, i, last);
                a.push_back(p.ea[one ? last : at]), c.push_back(p.ec[one ? last : at]), d.push_back(p.ed[at]);
            }
        CHECK(a[0] == 0 && c[rows - 1] == 0, "a system coupled beyond its ends");
        batch_answer((int)rows, a.data(), b.data(), c.data(), d.data(), x.data());
        for (size_t q = 0; q < rows; q++) {
            partition &p = w.ranks[q / 2];
            p.ed[end_place(p, i, (int)q % 2)] = (real)x[q];
        }
    }
    for (partition &p : w.ranks) upload(p.ed);
}

static void launch_ranks(cut_systems &w, int which, const char *text)
{
    const int one = w.shared ? TRID_BATCH_SHARED : 0;
    for (partition &p : w.ranks) {
        const int flags = which == REDUCE    ? p.ends | one
                          : which == EXPAND  ? one | (w.add ? TRID_BATCH_ADD : 0)
                          : which == WEIGHTS ? p.ends
                                             : one;
        const int status = launch_cut(p, which, flags);
        CHECK(status == TRID_BATCH_OK, "%s: %s of %d rows: %s", text, CUT[which].name, p.n,
              trid_batch_status_string(status));
    }
}

static void check_systems(cut_systems &w, const char *text)
{
    double worst = 0;
    for (partition &p : w.ranks) {
        std::vector<real> after = from_device(p.x.device, p.x.host.size());
        for (long long i = 0; i < w.count; i++)
            for (int j = 0; j < p.n; j++) {
                const size_t at = (size_t)(p.x.origin + place(p.lines, i, j)), row = (size_t)(p.first + j);
                whole &s = w.all[(size_t)i];
                s.x[row] = after[at] - s.was[row];
                after[at] = p.x.host[at];
            }
        CHECK(!memcmp(after.data(), p.x.host.data(), after.size() * sizeof(real)), "%s: wrote beyond x", text);
        CHECK(as_before(p.a) && as_before(p.b) && as_before(p.c) && as_before(p.d) && as_before(p.ed),
              "%s: an input was changed", text);
        CHECK(w.weighed || (as_before(p.u) && as_before(p.v)), "%s: weights", text);
    }
    for (const whole &s : w.all) {
        const double residual = residual_of(s), error = error_of(s);
        if (!(residual <= worst)) worst = residual;
        if (!(error <= worst)) worst = error;
    }
    check_near(worst, 0, TOLERANCE * UNIT, "%s: error", text);
}

static void test_random_cut(void)
{
    const unsigned long long seed = dice.state;
    cut_systems w = {};
    const int ranks = 1 + case_below(&dice, 5), systems = one_of({1, 2, 5, 9, 33});
    const size_t kind = (size_t)case_below(&dice, (int)layouts(2, 2).size());
    w.shared = case_below(&dice, 2), w.weighed = case_below(&dice, 2), w.add = case_below(&dice, 2);
    const long long share = 1 + case_below(&dice, 2 * systems + 2);
    for (int q = 0; q < ranks; q++) {
        const int n = case_below(&dice, 8) ? one_of({2, 3, 4, 17, 31, 32, 33, 64, 100}) : 2 + case_below(&dice, 1023);
        const int ends = (q == 0 ? TRID_BATCH_FIRST : 0) | (q == ranks - 1 ? TRID_BATCH_LAST : 0);
        w.ranks.push_back(make_partition(layouts(n, systems)[kind].lines, w.shared, share, w.rows, ends));
        w.rows += n;
    }
    w.count = w.ranks[0].lines.systems * w.ranks[0].lines.groups;
    char text[200];
    snprintf(text, sizeof text, "seed %llu: %d partitions, %d rows of %lld systems, %s%s, shares of %lld%s%s%s", seed,
             ranks, w.rows, w.count, layouts(2, 2)[kind].name, w.shared ? ", shared" : "", share,
             w.weighed ? ", weighed" : "", w.add ? ", added" : "", "");
    fill_systems(w);
    if (w.weighed) {
        launch_ranks(w, WEIGHTS, text);
        launch_ranks(w, WEIGH, text);
    } else {
        launch_ranks(w, REDUCE, text);
    }
    solve_ends(w);
    launch_ranks(w, EXPAND, text);
    check_systems(w, text);
    for (partition &p : w.ranks) free_partition(p);
}

static void check_cut_refused(partition &p, int which, int flags, int got, int want, const char *why)
{
    long wrote = 0;
    for (field<real> *f : p.all()) wrote += !as_before(*f);
    wrote += from_device(p.reach.device, p.reach.host.size()) != p.reach.host;
    CHECK(got == want && wrote == 0, "%s, flags %d, %s: %d, not %d, and wrote %ld arrays", CUT[which].name, flags, why,
          got, want, wrote);
}

/* Flags that a launch for partitions does not take, and pointers that are null or misaligned. */
static void test_cut_arguments(void)
{
    const int used[CUTS] = {0x38f, 0x21f, 0x1e7, 0x268}; /* bits in the order of all() */
    partition p = make_partition(trid_lines_interleaved(7, 3), 0, 2, 0, 0);
    std::vector<field<real> *> all = p.all();
    for (field<real> *f : all) upload(*f);
    for (int which = 0; which < CUTS; which++) {
        for (int flags = 0; flags < 1024; flags++)
            if (flags & ~CUT[which].flags)
                check_cut_refused(p, which, flags, launch_cut(p, which, flags), TRID_BATCH_BAD_FLAGS, "flags");
        for (size_t k = 0; k < all.size(); k++)
            for (int off : {0, 1, (int)sizeof(real) / 2}) {
                if (!(used[which] >> k & 1)) continue;
                const field<real> right = *all[k];
                all[k]->device = off ? (real *)((char *)right.device + off) : (real *)0;
                all[k]->origin = off ? right.origin : 0;
                const int got = launch_cut(p, which, 0);
                *all[k] = right;
                check_cut_refused(p, which, 0, got, TRID_BATCH_BAD_ARGUMENT, off ? "misaligned" : "null");
            }
    }
    free_partition(p);
}

int main(int count, char **argument)
{
    if (count > 1) dice.state = strtoull(argument[1], 0, 10);
    printf("seed %llu\n", dice.state);
    const int shorter = check_short() ? 8 : 1;
    ways_to_ask = 3; /* not the last way: bits are compared */
    if (count > 1) {
        test_random_calls(count > 2 ? atoi(argument[2]) : 1000);
        return check_report();
    }
    test_all_flags();
    test_pointers();
    test_sizes();
    test_scratch();
    for (int i = 0; i < 3000 / shorter; i++) test_overlap();
    test_random_calls(1000 / shorter);
    test_bad_neighbours();
    test_range();
    test_denormals();
    test_singular();
    test_unused_ends();
    test_hard_matrices();
    test_cut_arguments();
    for (int i = 0; i < 200 / shorter; i++) test_random_cut();
    if (check_short()) check_skip(1, "seven of eight random calls and most sizes: SHORT_TESTS is set");
    return check_report();
}
