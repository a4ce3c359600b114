/* test_bs1d.cu - every rung of bs1d.h in both precisions, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   The reference is the host's march in double precision, which test_bs1d_host.c tests. With SHORT_TESTS in the
   environment, set for tools that make each step a thousand times slower, a GPU leaves out the long marches; the
   emulator leaves out what main() says.
   Run from the repository root, or with KNOWN_ANSWERS naming the file with the known answers. */
#include "bs1d.h"

#include "check.h"
#include "gpu.h"

#include "bs1d_cases.h"

#include <stdlib.h>

#include <float.h>
#include <limits.h>
#include <vector>

#ifndef KNOWN_ANSWERS
#define KNOWN_ANSWERS "tests/known/bs1d.txt"
#endif

enum { SEED = 20240912 };

/* How many options take the paper's number of steps: two, the fewest that can differ, or enough to fill blocks. */
#ifdef SIMT_EMULATOR
enum { LONG_BATCH = 2 };
#else
enum { LONG_BATCH = 33 };
#endif

/* ---- every rung under one roof ----------------------------------------------------------------------------------- */

template <class R>
struct types;
template <>
struct types<float> {
    typedef bs1d_option_f32 option;
    typedef bs1d_result_f32 result;
    static double roundoff() { return FLT_EPSILON / 2; }
    static double largest() { return FLT_MAX; }
    static const char *name() { return "f32"; }
};
template <>
struct types<double> {
    typedef bs1d_option_f64 option;
    typedef bs1d_result_f64 result;
    static double roundoff() { return DBL_EPSILON / 2; }
    static double largest() { return DBL_MAX; }
    static const char *name() { return "f64"; }
};

template <class R>
using launch = int(int, int, const typename types<R>::option *, typename types<R>::result *, R *, cudaStream_t);

struct rung {
    const char *name;
    int is_implicit, increment, flags;
    launch<float> *f32;
    launch<double> *f64;
};

#define RUNG(X) bs1d_##X##_f32, bs1d_##X##_f64
static const rung ladder[] = {
    {"explicit1", 0, 0, 0, RUNG(explicit1)}, {"explicit2", 0, 0, 0, RUNG(explicit2)},
    {"explicit3", 0, 0, 0, RUNG(explicit3)}, {"implicit1", 1, 0, 0, RUNG(implicit1)},
    {"implicit2", 1, 1, 0, RUNG(implicit2)}, {"implicit3", 1, 0, 0, RUNG(implicit3)},
    {"implicit4", 1, 0, 0, RUNG(implicit4)}, {"implicit4 increment", 1, 1, BS1D_INCREMENT, RUNG(implicit4)},
};

static int call(const rung &r, int options, int points, const bs1d_option_f32 *o, bs1d_result_f32 *u, float *grid,
                cudaStream_t stream)
{
    return r.f32(options, points, o, u, grid, stream);
}
static int call(const rung &r, int options, int points, const bs1d_option_f64 *o, bs1d_result_f64 *u, double *grid,
                cudaStream_t stream)
{
    return r.f64(options, points, o, u, grid, stream);
}

/* The results of a batch from a rung or from the host. */
struct outcome {
    std::vector<case_result> result;
    std::vector<int> status;
    std::vector<double> grid; /* a row an option */
    const double *row(int i, int points) const { return grid.data() + (size_t)i * points; }
};

template <class T>
struct device_array {
    T *data;
    explicit device_array(size_t count) { GPU_OK(cudaMalloc((void **)&data, (count ? count : 1) * sizeof(T))); }
    ~device_array() { GPU_OK(cudaFree(data)); }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
};

static cudaStream_t stream;

/* A number beyond the range of the precision becomes infinite. */
template <class R>
static R real(double x)
{
    return fabs(x) > types<R>::largest() ? (R)(x < 0 ? -INFINITY : INFINITY) : (R)x;
}

template <class R>
static typename types<R>::option packed(const case_option &o)
{
    typename types<R>::option p;
    p.spot = real<R>(o.spot);
    p.strike = real<R>(o.strike);
    p.rate = real<R>(o.rate);
    p.dividend = real<R>(o.dividend);
    p.volatility = real<R>(o.volatility);
    p.maturity = real<R>(o.maturity);
    p.top = real<R>(o.top);
    p.steps = o.steps;
    p.flags = o.flags;
    return p;
}

/* Launches a rung on a batch. All three arrays start `lead` elements into their memory, so that they are aligned only
   to one number. The memory before and behind the results and the grid must not change. given, if not null, is what the
   grid holds before the launch. */
template <class R>
static outcome run(const rung &r, int points, const std::vector<case_option> &batch, int lead = 0,
                   bool with_grid = true, const std::vector<double> *given = NULL)
{
    typedef typename types<R>::option option;
    typedef typename types<R>::result result;
    size_t n = batch.size(), cells = with_grid ? n * (size_t)points : 0;
    const int MARGIN = 3;
    std::vector<option> options(n + lead);
    for (size_t i = 0; i < n; i++) {
        options[lead + i] = packed<R>(batch[i]);
        options[lead + i].flags |= r.flags;
    }
    std::vector<result> results(n + lead + MARGIN);
    std::vector<R> grid(cells + lead + MARGIN);
    memset((void *)results.data(), 0x5a, results.size() * sizeof(result));
    memset((void *)grid.data(), 0x5a, grid.size() * sizeof(R));
    for (size_t i = 0; given && i < cells; i++) grid[lead + i] = (R)(*given)[i];
    std::vector<result> old_results = results;
    std::vector<R> old_grid = grid;

    device_array<option> d_options(options.size());
    device_array<result> d_results(results.size());
    device_array<R> d_grid(grid.size());
    GPU_OK(cudaMemcpy(d_options.data, options.data(), options.size() * sizeof(option), cudaMemcpyHostToDevice));
    GPU_OK(cudaMemcpy(d_results.data, results.data(), results.size() * sizeof(result), cudaMemcpyHostToDevice));
    GPU_OK(cudaMemcpy(d_grid.data, grid.data(), grid.size() * sizeof(R), cudaMemcpyHostToDevice));
    int answer = call(r, (int)n, points, d_options.data + lead, d_results.data + lead,
                      with_grid ? d_grid.data + lead : NULL, stream);
    CHECK(answer == 0, "%s %s: returned %d for %d options of %d points", r.name, types<R>::name(), answer, (int)n,
          points);
    GPU_OK(cudaStreamSynchronize(stream));
    GPU_OK(cudaMemcpy(results.data(), d_results.data, results.size() * sizeof(result), cudaMemcpyDeviceToHost));
    GPU_OK(cudaMemcpy(grid.data(), d_grid.data, grid.size() * sizeof(R), cudaMemcpyDeviceToHost));

    CHECK(!memcmp((void *)results.data(), (void *)old_results.data(), lead * sizeof(result)) &&
              !memcmp((void *)(results.data() + lead + n), (void *)(old_results.data() + lead + n),
                      MARGIN * sizeof(result)) &&
              !memcmp(grid.data(), old_grid.data(), lead * sizeof(R)) &&
              !memcmp(grid.data() + lead + cells, old_grid.data() + lead + cells, MARGIN * sizeof(R)),
          "%s %s: wrote outside its results, %d options of %d points", r.name, types<R>::name(), (int)n, points);

    outcome out;
    for (size_t i = 0; i < n; i++) {
        const result &from = results[lead + i];
        case_result to = {from.price, from.delta, from.gamma, from.theta};
        out.result.push_back(to);
        out.status.push_back((int)from.status);
    }
    out.grid.assign(grid.begin() + lead, grid.begin() + lead + (ptrdiff_t)cells);
    return out;
}

/* The reference takes one option at a time, so that no neighbour can affect it. */
static outcome reference(int is_implicit, int points, const std::vector<case_option> &batch)
{
    outcome out;
    std::vector<double> work(BS1D_HOST_LEN(points));
    out.grid.resize(batch.size() * (size_t)points);
    for (size_t i = 0; i < batch.size(); i++) {
        bs1d_option_f64 option = packed<double>(batch[i]);
        bs1d_result_f64 result = {NAN, NAN, NAN, NAN, 1};
        double *row = out.grid.data() + i * (size_t)points;
        if (is_implicit)
            bs1d_host_implicit_f64(1, points, &option, &result, row, work.data());
        else
            bs1d_host_explicit_f64(1, points, &option, &result, row, work.data());
        case_result r = {result.price, result.delta, result.gamma, result.theta};
        out.result.push_back(r);
        out.status.push_back((int)result.status);
    }
    return out;
}

/* Compares one option of a batch with what it should be: a status and NaN, or numbers. */
template <class R>
static void compare(const rung &r, int points, const case_option &o, const outcome &got, const outcome &want, int i,
                    int want_status, const char *note)
{
    char what[100];
    snprintf(what, sizeof what, "%s %s, option %d%s%s", r.name, types<R>::name(), i, *note ? ", " : "", note);
    const case_result &g = got.result[i];
    const double *row = got.row(i, points);
    if (want_status != BS1D_OK) {
        bool all_nan = isnan(g.price) && isnan(g.delta) && isnan(g.gamma) && isnan(g.theta);
        for (int j = 0; j < points; j++) all_nan = all_nan && isnan(row[j]);
        CHECK(want_status == 1 ? got.status[i] != BS1D_OK : got.status[i] == want_status, "%s: status %d, not %d", what,
              got.status[i], want_status);
        CHECK(all_nan, "%s: leaves numbers", what);
        return;
    }
    double tolerance = case_tolerance(r.is_implicit, r.increment, points, o, types<R>::roundoff()) +
                       case_tolerance(r.is_implicit, 0, points, o, types<double>::roundoff()); /* the reference's own */
    double worst = case_distance(points, row, want.row(i, points));
    CHECK(got.status[i] == BS1D_OK, "%s: status %d", what, got.status[i]);
    CHECK(worst <= tolerance, "%s, %d points %d steps flags %d: the grid is off by %.3g > %.3g", what, points, o.steps,
          o.flags, worst, tolerance);
    case_check(g, want.result[i], tolerance, points, o, what);

    /* Price, delta and gamma must be those of the returned grid, however inexact that is. */
    std::vector<long double> values(row, row + points);
    double u = types<R>::roundoff(), least = sizeof(R) == 4 ? 2e-45 : 0;
    case_result rounded, own = case_interpolate(points, o, values.data(), 2 * u, &rounded);
    check_near(g.price, own.price, u * rounded.price + least, "%s: price of its own grid, %d points", what, points);
    check_near(g.delta, own.delta, u * rounded.delta + least, "%s: delta of its own grid, %d points", what, points);
    check_near(g.gamma, own.gamma, u * rounded.gamma + least, "%s: gamma of its own grid, %d points", what, points);
    check_near(g.theta, own.theta, 2 * u * rounded.theta + least, "%s: theta of its own grid, %d points", what, points);
}

template <class R>
static void compare_batch(const rung &r, int points, const std::vector<case_option> &batch, const outcome &want,
                          const std::vector<int> &want_status, const char *note, int lead)
{
    outcome got = run<R>(r, points, batch, lead);
    for (int i = 0; i < (int)batch.size(); i++)
        compare<R>(r, points, batch[i], got, want, i, want_status.empty() ? (int)BS1D_OK : want_status[i], note);
}

/* A batch through a rung in both precisions; in the short tests in only one, in turn. */
static void compare_both(const rung &r, int points, const std::vector<case_option> &batch, const outcome &want,
                         const char *note, const std::vector<int> &want_status = {}, int lead = 0)
{
    static int turn;
    turn++;
    if (!check_short() || turn % 2) compare_batch<float>(r, points, batch, want, want_status, note, lead);
    if (!check_short() || turn % 2 == 0) compare_batch<double>(r, points, batch, want, want_status, note, lead);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Numbers of steps that no composition divides, and some that all divide. */
static int some_steps(case_random *random, int is_implicit)
{
    static const int explicit_steps[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 24, 29, 37, 48, 50};
    static const int implicit_steps[] = {1, 2, 3, 4, 5, 7, 10, 13, 20};
    return is_implicit ? implicit_steps[case_below(random, 9)] : explicit_steps[case_below(random, 17)];
}

static int some_flags(case_random *random, int is_implicit)
{
    return case_below(random, 8) | (is_implicit && case_below(random, 2) ? BS1D_CRANK_NICOLSON : 0);
}

/* All sizes of the grid; every option of a batch differs in everything from the next, and two are bad. */
static void test_batches(void)
{
    enum { OPTIONS = 9 };
    static const int points_of[] = {64, 65, 100, 128, 255, 256, 257, 300, 512, 513, 1000, 1024};
    case_random random = {SEED};
    int bad_kind = 0;
    for (int p = 0; p < (int)(sizeof points_of / sizeof points_of[0]); p++)
        for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
            int points = points_of[p], lead = p % 2;
            std::vector<case_option> batch;
            std::vector<int> want_status(OPTIONS, (int)BS1D_OK);
            for (int i = 0; i < OPTIONS; i++) {
                batch.push_back(case_option_of(&random, is_implicit, points, some_steps(&random, is_implicit),
                                               some_flags(&random, is_implicit)));
                int steps = batch[i].steps, flags = batch[i].flags;
                if (i == 3 && is_implicit) batch[i] = case_lagged(&random, points, steps, flags);
                if (i == 4)
                    batch[i] = case_drifting(&random, is_implicit, points, steps, flags | (p % 2 ? BS1D_UPWIND : 0));
                if (i == 2 || i == 5 + p % 3) {
                    const char *unused;
                    int status =
                        case_spoil(bad_kind++ % CASE_BAD_KINDS, is_implicit, points, DBL_MAX, &batch[i], &unused);
                    want_status[i] = status ? status : 1;
                }
            }
            outcome want = reference(is_implicit, points, batch);
            for (const rung &r : ladder) {
                if (r.is_implicit != is_implicit) continue;
                compare_both(r, points, batch, want, "", want_status, lead);
                if (p % 6 == 0) {
                    outcome with_grid = run<float>(r, points, batch), no_grid = run<float>(r, points, batch, 0, false);
                    CHECK(!memcmp(no_grid.result.data(), with_grid.result.data(), OPTIONS * sizeof(case_result)),
                          "%s: the results depend on whether the grid is asked for, %d points", r.name, points);
                }
            }
        }
}

/* Batches of sizes that fill a warp, a block and a load of structs partly, exactly, and with some left over. */
static void test_batch_sizes(void)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 70};
    case_random random = {SEED + 1};
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        std::vector<case_option> all;
        for (int i = 0; i < 70; i++)
            all.push_back(
                case_option_of(&random, is_implicit, 64, 1 + case_below(&random, 4), some_flags(&random, is_implicit)));
        outcome want = reference(is_implicit, 64, all);
        for (const rung &r : ladder) {
            if (r.is_implicit != is_implicit) continue;
            for (int size : sizes) {
                std::vector<case_option> batch(all.begin(), all.begin() + size);
                compare_both(r, 64, batch, want, "sizes", {}, size % 2);
            }
        }
    }
}

/* Each number of steps from 1 to 13 and some more, on a grid whose last lanes are partly filled. The options take
   different numbers of steps side by side, and prime numbers leave a remainder whatever steps are composed. */
static void test_steps(void)
{
    static const int steps_of[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17, 31, 50, 64, 97, 100, 101};
    case_random random = {SEED + 2};
    for (int points = 127; points <= 256; points += 129)
        for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
            std::vector<case_option> batch;
            for (int steps : steps_of)
                if (!is_implicit || steps < 20) batch.push_back(case_option_of(&random, is_implicit, points, steps, 0));
            outcome want = reference(is_implicit, points, batch);
            for (const rung &r : ladder) {
                if (r.is_implicit != is_implicit) continue;
                compare_both(r, points, batch, want, "steps");
            }
        }
}

/* Hundreds to thousands of steps: what a composed stencil drops, a reduction leaves out or one increment carries to the
   next must not add up. explicit1 does nothing of the kind. */
static void test_long_marches(void)
{
    case_random random = {SEED + 4};
    for (int points = 64; points <= 1024; points += 240)
        for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
            if (check_short() && points != 304) continue;
            std::vector<case_option> batch;
            for (int i = 0; i < 4; i++) {
                int steps = is_implicit ? 97 + 41 * i : 797 + 601 * i;
                batch.push_back(case_option_of(&random, is_implicit, points, steps,
                                               i % 2 + (is_implicit && i > 1 ? BS1D_CRANK_NICOLSON : 0)));
            }
            outcome want = reference(is_implicit, points, batch);
            for (const rung &r : ladder) {
                if (r.is_implicit != is_implicit || !strcmp(r.name, "explicit1")) continue;
                compare_both(r, points, batch, want, "long");
            }
        }
}

/* Every way to spoil an option; the spoilt ones stand between good ones, which they must not affect. */
template <class R>
static void test_bad_options(void)
{
    enum { POINTS = 64, OPTIONS = 2 * CASE_BAD_KINDS + 1 };
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        case_random random = {SEED + 3};
        std::vector<case_option> batch;
        std::vector<int> want_status(OPTIONS, (int)BS1D_OK);
        std::vector<const char *> note(OPTIONS, "between bad ones");
        for (int i = 0; i < OPTIONS; i++) {
            batch.push_back(case_option_of(&random, is_implicit, POINTS, 3 + i % 3, some_flags(&random, is_implicit)));
            if (i % 2) {
                int status = case_spoil(i / 2, is_implicit, POINTS, types<R>::largest(), &batch[i], &note[i]);
                want_status[i] = status ? status : 1;
            }
        }
        outcome want = reference(is_implicit, POINTS, batch);
        for (const rung &r : ladder) {
            if (r.is_implicit != is_implicit) continue;
            outcome got = run<R>(r, POINTS, batch);
            for (int i = 0; i < OPTIONS; i++) compare<R>(r, POINTS, batch[i], got, want, i, want_status[i], note[i]);
        }
    }
}

/* An option's results and grid must have the same bits alone and beside options that its kernel does not march: bad
   ones, and those of another kernel. The neighbours stand at every place of a warp. They take no steps and the good
   option takes some, so what a warp has in common must come from the good one alone. */
template <class R>
static void test_neighbours(void)
{
    enum { POINTS = 128, TEAMS = 8 };
    static const char *const what[] = {"a bad number",       "a step that is refused", "an American option",
                                       "an upwinded option", "a lagged option",        "another step that is refused"};
    for (const rung &r : ladder) {
        case_random random = {SEED + 5};
        const int cn = r.is_implicit ? BS1D_CRANK_NICOLSON : 0;
        for (int kind = 0; kind < 6; kind++) {
            if (kind == 4 && !r.is_implicit) continue;
            if (check_short() && (kind + r.name[8]) % 2 == (sizeof(R) == 8)) continue; /* one precision, in turn */
            case_option good = case_option_of(&random, r.is_implicit, POINTS, 21, kind % 2 ? cn : 0), bad;
            bad = kind == 4 ? case_lagged(&random, POINTS, 5, cn)
                            : case_option_of(&random, r.is_implicit, POINTS, 5 + 30 * (kind % 2), 0);
            const char *unused;
            if (kind == 5) bad.flags |= BS1D_PUT; /* with a drift that the last row allows */
            int want = kind == 0                ? case_spoil(21, r.is_implicit, POINTS, 1e30, &bad, &unused)
                       : kind == 1 || kind == 5 ? case_spoil(36, r.is_implicit, POINTS, 1e30, &bad, &unused)
                                                : (int)BS1D_OK;
            if (kind == 2) bad.flags |= BS1D_AMERICAN;
            if (kind == 3) bad.flags |= BS1D_UPWIND;
            outcome alone = run<R>(r, POINTS, std::vector<case_option>(1, good));
            CHECK(alone.status[0] == BS1D_OK, "%s: status %d", r.name, alone.status[0]);
            for (int place = 0; place < TEAMS; place++)
                for (int bads = 1; bads < 4; bads += 2) {
                    if (check_short() && (bads > 1 || place % 3 != kind % 3)) continue;
                    std::vector<case_option> batch(TEAMS, good);
                    for (int i = 0; i < bads; i++) batch[(place + i) % TEAMS] = bad;
                    outcome got = run<R>(r, POINTS, batch);
                    for (int i = 0; i < TEAMS; i++) {
                        bool is_bad = (i - place + TEAMS) % TEAMS < bads;
                        CHECK(got.status[i] == (is_bad ? want : (int)BS1D_OK), "%s %s: status %d of %d beside %s",
                              r.name, types<R>::name(), got.status[i], i, what[kind]);
                        CHECK(is_bad || (!memcmp(&got.result[i], &alone.result[0], sizeof(case_result)) &&
                                         !memcmp(got.row(i, POINTS), alone.row(0, POINTS), POINTS * sizeof(double))),
                              "%s %s: option %d is not itself beside %s", r.name, types<R>::name(), i, what[kind]);
                    }
                }
        }
    }
}

/* Marches from given values: with the payoff given, the result is that of the payoff; a march of some steps and one of
   the rest make the whole march; early exercise pays what the strike and the flags say. Without a grid nothing is
   given. */
template <class R>
static void test_given(void)
{
    static const int points_of[] = {100, 256, 500, 1000};
    for (const rung &r : ladder) {
        case_random random = {SEED + 6};
        for (int points : points_of)
            for (int american = 0; american < 2; american++) {
                if (check_short() && american != (points / 100 + (sizeof(R) == 8)) % 2) continue;
                std::vector<case_option> whole, first, rest;
                for (int i = 0; i < 3; i++) {
                    int flags = (american ? BS1D_AMERICAN : 0) | (i == 1 ? BS1D_PUT : 0);
                    case_option o = case_option_of(&random, r.is_implicit, points, 16 + 4 * i, flags);
                    whole.push_back(o);
                    o.steps /= 4;
                    o.maturity /= 4; /* exact */
                    first.push_back(o);
                    o.steps *= 3;
                    o.maturity *= 3;
                    o.flags |= BS1D_GIVEN;
                    rest.push_back(o);
                }
                outcome want = run<R>(r, points, whole), begun = run<R>(r, points, first);
                outcome got = run<R>(r, points, rest, 1, true, &begun.grid);
                std::vector<double> payoff;
                for (case_option &o : whole) {
                    for (int j = 0; j < points; j++)
                        payoff.push_back((R)bs1d_lane_payoff(o.flags, (double)(R)o.strike,
                                                             (double)(R)o.top / (points - 1), points, j));
                    o.flags |= BS1D_GIVEN;
                }
                outcome same = run<R>(r, points, whole, 0, true, &payoff);
                for (int i = 0; i < 3; i++) {
                    /* The multiplier of early exercise starts anew, which adds an error of the size of one
                       step's. */
                    double tolerance =
                        case_tolerance(r.is_implicit, r.increment, points, whole[i], types<R>::roundoff());
                    if (american && r.is_implicit)
                        tolerance += (fabs(whole[i].rate) + whole[i].dividend) * whole[i].maturity / whole[i].steps *
                                     whole[i].top;
                    CHECK(got.status[i] == BS1D_OK && same.status[i] == BS1D_OK, "%s: status %d, %d", r.name,
                          got.status[i], same.status[i]);
                    double worst = case_distance(points, got.row(i, points), want.row(i, points));
                    CHECK(worst <= 2 * tolerance, "%s %s, %d points: in two marches off by %.3g > %.3g", r.name,
                          types<R>::name(), points, worst, 2 * tolerance);
                    CHECK(!memcmp(same.row(i, points), want.row(i, points), points * sizeof(double)),
                          "%s %s, %d points: from the given payoff another result", r.name, types<R>::name(), points);
                }
                outcome none = run<R>(r, points, whole, 0, false);
                for (int i = 0; i < 3; i++)
                    CHECK(none.status[i] == BS1D_BAD_ARGUMENT && isnan(none.result[i].price),
                          "%s: given values without a grid: status %d", r.name, none.status[i]);
            }
    }
}

/* ---- known answers ----------------------------------------------------------------------------------------------- */

/* Each case by every rung, in batches with a common grid. Single precision rounds the file's numbers to float and so
   changes the problem itself, so only double precision is compared with the answers. */
static void test_known_answers(void)
{
    std::vector<case_known> known(200);
    double exact[2], own[2];
    const char *path = getenv("KNOWN_ANSWERS") ? getenv("KNOWN_ANSWERS") : KNOWN_ANSWERS;
    int count = case_read(path, 200, known.data(), exact, own), done = 0;
    CHECK(count > 30 && count <= 200, "%d known answers", count);
    for (int points = 64; points <= 1024; points++)
        for (const rung &r : ladder) {
            std::vector<case_option> batch;
            std::vector<case_result> want;
            for (int i = 0; i < count; i++)
                if (known[i].points == points && known[i].is_implicit == r.is_implicit &&
                    (!check_short() || known[i].option.steps <= 200)) {
                    batch.push_back(known[i].option);
                    want.push_back(known[i].want);
                }
            if (batch.empty()) continue;
            outcome got = run<double>(r, points, batch);
            for (size_t i = 0; i < batch.size(); i++) {
                char what[60];
                double tolerance = case_tolerance(r.is_implicit, 0, points, batch[i], types<double>::roundoff());
                snprintf(what, sizeof what, "%s f64, known answer", r.name);
                CHECK(got.status[i] == BS1D_OK, "%s: status %d", what, got.status[i]);
                case_check(got.result[i], want[i], 2 * tolerance, points, batch[i], what);
                done++;
            }
        }
    CHECK(done > 100, "only %d known answers were tried", done);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

template <class R>
static void test_arguments(void)
{
    device_array<typename types<R>::option> option(1);
    device_array<typename types<R>::result> result(1);
    for (const rung &r : ladder) {
        CHECK(call(r, 0, 64, option.data, result.data, (R *)NULL, stream) == 0, "%s: no options", r.name);
        CHECK(call(r, 0, 64, NULL, NULL, (R *)NULL, stream) == 0, "%s: nothing at all", r.name);
        CHECK(call(r, -1, 64, option.data, result.data, (R *)NULL, stream) == BS1D_BAD_ARGUMENT, "%s: -1 options",
              r.name);
        CHECK(call(r, 1, 63, option.data, result.data, (R *)NULL, stream) == BS1D_BAD_SIZE, "%s: 63 points", r.name);
        CHECK(call(r, 1, 1025, option.data, result.data, (R *)NULL, stream) == BS1D_BAD_SIZE, "%s: 1025 points",
              r.name);
        CHECK(call(r, 1, INT_MAX, option.data, result.data, (R *)NULL, stream) == BS1D_BAD_SIZE, "%s: INT_MAX points",
              r.name);
        CHECK(call(r, 1, -64, option.data, result.data, (R *)NULL, stream) == BS1D_BAD_SIZE, "%s: -64 points", r.name);
        CHECK(call(r, 1, 64, NULL, result.data, (R *)NULL, stream) == BS1D_BAD_ARGUMENT, "%s: no option array", r.name);
        CHECK(call(r, 1, 64, option.data, NULL, (R *)NULL, stream) == BS1D_BAD_ARGUMENT, "%s: no result array", r.name);
    }
    GPU_OK(cudaStreamSynchronize(stream));
    GPU_OK(cudaGetLastError());
}

/* A launch reports its own failure and no other: an earlier error of the user's own call stays for the user to read,
   and the launch does its work. */
static void test_errors(void)
{
    void *nothing = NULL;
    case_option o = case_model(1);
    o.steps = 3;
    for (const rung &r : ladder) {
        GPU_OK(cudaGetLastError());
        cudaError_t error = cudaMalloc(&nothing, (size_t)1 << 60);
        CHECK(error != cudaSuccess, "so much memory was to be had");
        o.maturity = r.is_implicit ? 1 : 1e-4;
        outcome got = run<float>(r, 64, std::vector<case_option>(1, o));
        CHECK(got.status[0] == BS1D_OK && got.result[0].price > 0, "%s after an error: status %d", r.name,
              got.status[0]);
        CHECK(cudaGetLastError() == error, "%s took away the error that was there", r.name);
    }
}

/* ---- the paper's number of steps --------------------------------------------------------------------------------- */

/* The bounds at the strike are what the ladder promises; over the grid the errors are largest at the upper end. A
   composed stencil that sums its products in the wrong order is off by 2e-4 to 2e-3 in single precision. All options
   are the same, so their values must be. */
template <class R>
static void test_model_problem(void)
{
    const bool single = sizeof(R) == 4;
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        std::vector<case_option> batch(LONG_BATCH, case_model(is_implicit));
        outcome want = reference(is_implicit, 256, std::vector<case_option>(1, batch[0]));
        for (const rung &r : ladder) {
            if (r.is_implicit != is_implicit || (check_short() && r.name[8] < '3')) continue;
            outcome got = run<R>(r, 256, batch);
            double at_strike = !single ? 1e-11 : !is_implicit ? 2.5e-4 : r.increment ? 2e-5 : 8e-4;
            if (single && !strcmp(r.name, "explicit3")) at_strike = 1e-4;
            double value = (got.grid[127] + got.grid[128]) / 2,
                   worst = case_distance(256, got.row(0, 256), want.row(0, 256));
            printf("model problem, %s %s: strike off by %.2g, grid by %.2g\n", r.name, types<R>::name(),
                   value - case_exact(is_implicit), worst);
            check_near(value, case_exact(is_implicit), at_strike, "%s %s: model problem", r.name, types<R>::name());
            CHECK(worst <= (single ? 1e-2 : 1e-10), "%s %s: model problem, the grid is off by %.3g", r.name,
                  types<R>::name(), worst);
            for (int i = 1; i < LONG_BATCH; i++)
                CHECK(!memcmp(got.row(0, 256), got.row(i, 256), 256 * sizeof(double)),
                      "%s %s: option %d differs from 0", r.name, types<R>::name(), i);
        }
    }
}

/* Twice the points and steps must leave a quarter of the error; strike and spot are in the middle of a cell. */
static void test_second_order(void)
{
    for (const rung &r : ladder) {
        if (!r.is_implicit) continue;
        double before[2] = {0, 0};
        for (int points = 128; points <= 1024; points *= 2) {
            case_option o = {100, 100, 0.05, 0.02, 0.2, 1, 200, points / 4, BS1D_CRANK_NICOLSON};
            case_result got = run<double>(r, points, std::vector<case_option>(1, o)).result[0];
            case_result want = case_black_scholes(o);
            double error[2] = {got.price - want.price, got.gamma - want.gamma};
            for (int k = 0; k < 2; k++) {
                double ratio = before[k] / error[k];
                CHECK(points == 128 || (ratio > 3.7 && ratio < 4.3), "%s, %d points: the error of %s fell by %.3g",
                      r.name, points, k ? "gamma" : "price", ratio);
                before[k] = error[k];
            }
        }
    }
}

/* Theta at the strike of the model problem against the formula. The error of the grid decides, even in single
   precision. */
static void test_theta(void)
{
    for (const rung &r : ladder) {
        case_option o = {
            100, 100, 0.05, 0, 0.2, 1, 200, r.is_implicit ? 400 : 3000, r.is_implicit ? BS1D_CRANK_NICOLSON : 0};
        double want = case_black_scholes(o).theta;
        case_result f64 = run<double>(r, 256, std::vector<case_option>(1, o)).result[0];
        case_result f32 = run<float>(r, 256, std::vector<case_option>(1, o)).result[0];
        printf("theta, %s: off by %.2g in f64, %.2g in f32\n", r.name, f64.theta - want, f32.theta - want);
        check_near(f64.theta, want, 1e-3, "%s f64: theta", r.name);
        check_near(f32.theta, want, 4e-3, "%s f32: theta", r.name);
    }
}

static void test_american_put(void)
{
    for (const rung &r : ladder) {
        std::vector<case_option> batch;
        case_option o = {100, 100, 0.05, 0, 0.2, 1, 200, 13200, BS1D_PUT | BS1D_AMERICAN};
        if (r.is_implicit) o.steps = 1600;
        if (!check_short()) batch.push_back(o);
        if (r.is_implicit) {
            o.steps = 200;
            o.flags |= BS1D_CRANK_NICOLSON;
            batch.push_back(o);
        }
        if (batch.empty()) continue;
        outcome got = run<double>(r, 512, batch);
        for (size_t i = 0; i < batch.size(); i++)
            check_near(got.result[i].price, 6.0903705909601, 2e-3, "%s: American put, flags %d", r.name,
                       batch[i].flags);
    }
}

/* ---- explicit marches in a kernel of the caller's own ------------------------------------------------------------ */

/* Takes `steps` composed steps or, if reach is 0, single ones. Every `lanes` threads march the same values, which are
   read from one place and stored at another. */
template <class R, int k, int lanes, int reach>
GPU_KERNEL void march_explicit(int steps, const R *coefficient, const R *values, R *result)
{
    __shared__ R shared[8 * (reach ? reach : 1)];
    enum { width = 2 * (reach ? reach : 1) + 1 };
    const int first = k * ((int)threadIdx.x % lanes);
    R own[k * width], u[k], a[k], b[k], c[k];
    for (int i = 0; i < k; i++) {
        u[i] = values[first + i];
        for (int j = 0; j < width; j++) own[i * width + j] = coefficient[(first + i) * width + j];
        a[i] = own[i * width], b[i] = own[i * width + 1], c[i] = own[i * width + 2];
    }
    if (reach)
        bs1d_warp_explicit3(k, lanes, reach, steps, own, u, shared);
    else
        bs1d_warp_explicit2(k, lanes, steps, a, b, c, (const R *)0, u, shared);
    for (int i = 0; i < k && (int)threadIdx.x < lanes; i++) result[first + i] = u[i];
}

/* Compares it with a plain march in double precision, whose coefficients and values are those of the kernel. */
template <class R, int k, int lanes, int reach>
static void test_own_march(case_random *random)
{
    enum { n = k * lanes, sides = reach ? reach : 1, width = 2 * sides + 1, STEPS = 3 };
    std::vector<R> coefficient(n * width), values(n);
    for (int i = 0; i < n; i++) {
        values[i] = (R)case_between(random, -1, 1);
        for (int j = 0; j < width; j++) {
            const int point = i + j - sides;
            coefficient[i * width + j] = point < 0 || point >= n ? (R)0 : (R)case_between(random, -0.3, 0.3);
        }
    }
    device_array<R> d_coefficient(coefficient.size()), d_values(values.size()), d_result(values.size());
    const size_t bytes = values.size() * sizeof(R);
    GPU_OK(cudaMemcpy(d_coefficient.data, coefficient.data(), coefficient.size() * sizeof(R), cudaMemcpyHostToDevice));
    GPU_OK(cudaMemcpy(d_values.data, values.data(), bytes, cudaMemcpyHostToDevice));
    std::vector<double> u(values.begin(), values.end());
    for (int step = 0; step < STEPS; step++) {
        const std::vector<double> old = u;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < width; j++)
                if (i + j >= sides && i + j - sides < n) u[i] += coefficient[i * width + j] * old[i + j - sides];
    }
    GPU_LAUNCH((march_explicit<R, k, lanes, reach>), dim3(1), dim3(lanes > 32 ? 64 : 32), 0, stream)
    (STEPS, d_coefficient.data, d_values.data, d_result.data);
    GPU_OK(cudaStreamSynchronize(stream));
    GPU_OK(cudaMemcpy(values.data(), d_result.data, bytes, cudaMemcpyDeviceToHost));
    double error = 0;
    for (int i = 0; i < n; i++) error = fmax(error, fabs(values[i] - u[i]));
    /* a step multiplies errors by at most 1 + 0.3 width, and adds width + 1 roundoffs of numbers that grow likewise */
    check_near(error, 0, STEPS * (width + 1) * pow(1 + 0.3 * width, STEPS) * types<R>::roundoff(),
               "explicit%d of one's own, %s, %d rows a lane, %d lanes", reach ? 3 : 2, types<R>::name(), (int)k,
               (int)lanes);
}

/* Tests every number of rows a lane up to `k`, odd ones too, which no launch has. */
template <class R, int k>
static void test_own_marches(case_random *random)
{
    test_own_march<R, k, 8, 0>(random);
    test_own_march<R, k, 64, 0>(random);
    if constexpr (k >= 2) test_own_march<R, k, 32, 2>(random);
    if constexpr (k > 1) test_own_marches<R, k - 1>(random);
}

int main(void)
{
    printf("seed %d\n", SEED);
#ifdef SIMT_EMULATOR
    simt_permute(SEED); /* the warps and lanes take turns in random order */
#endif
    GPU_OK(cudaStreamCreate(&stream));
    test_arguments<float>();
    test_arguments<double>();
    test_batches();
    test_batch_sizes();
    test_steps();
    test_bad_options<float>();
    test_bad_options<double>();
    test_neighbours<float>();
    test_neighbours<double>();
    test_given<float>();
    test_given<double>();
    test_errors();
    case_random random = {SEED + 11};
    test_own_marches<float, 7>(&random);
    test_own_marches<double, 7>(&random);
#ifndef SIMT_EMULATOR
    if (check_short()) {
        check_skip(6,
                   "long marches, known answers, model problem, convergence, theta, American put: SHORT_TESTS is set");
        GPU_OK(cudaStreamDestroy(stream));
        return check_report();
    }
#endif
    test_long_marches();
    test_known_answers();
    test_model_problem<float>();
    if (check_short()) {
        check_skip(1, "neighbours at every place, given values of every kind, long marches but of 304 points, known "
                      "answers of more than 200 steps, the model problem in double precision and on the lower rungs, "
                      "American puts of more than 200 steps: SHORT_TESTS is set");
    } else {
        test_model_problem<double>();
    }
    test_second_order();
    test_theta();
    test_american_put();
    GPU_OK(cudaStreamDestroy(stream));
    return check_report();
}
