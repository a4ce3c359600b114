/* test_trid.cu - trid.h on the device: warp and block scope, and lane scope as a kernel calls it, in both precisions.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). A test makes a batch of systems,
   no two alike, launches a kernel that solves it in several ways, and holds every solution against a reference in long
   double. */
/* Included as a C project would include it; the parts in C++ declare themselves so. */
extern "C" {
#include "trid.h"
#include "trid/interleaved.h"
}

#include "check.h"
#include "device_batch.h"

#include <limits.h>

enum { SEED = 20240608 };

/* ---- what every solution must be -------------------------------------------------------------------------------- */

/* Returns the error allowed. In dominant systems, backward errors of elimination without pivoting are a few roundoffs,
   each of at most ten PCR steps adds some, and the fast reciprocal one more; the error of the solution may be
   `condition` times as large. */
template <class Real>
double tolerance(double condition)
{
    return 12 * condition * roundoff_of(Real());
}

template <class Real>
void check_system(const outcome<Real> &got, const batch<Real> &of, int way, int i, case_system s, const char *test)
{
    std::vector<double> x = got.solution(of, way, i);
    std::vector<long double> want(s.n + 1);
    case_reference(s, want.data());
    long double error = case_error(s.n, x.data(), want.data()), residual = case_residual(s, x.data());
    double allowed = tolerance<Real>(of.condition[i]), allowed_residual = tolerance<Real>(1);
    CHECK(error <= allowed, "%s %s way %d system %d n %d: error %Lg > %g", test, type_of(Real()), way, i, s.n, error,
          allowed);
    CHECK(residual <= allowed_residual, "%s %s way %d system %d n %d: residual %Lg > %g", test, type_of(Real()), way, i,
          s.n, residual, allowed_residual);
    int nonzero = 0;
    for (int j = s.n; j < of.slot; j++) nonzero += got.at(of, way, i, j) != 0;
    CHECK(nonzero == 0, "%s %s way %d system %d n %d: %d rows beyond n are not 0", test, type_of(Real()), way, i, s.n,
          nonzero);
}

template <class Real>
void check_status_zero(const outcome<Real> &got, int ways, const char *test)
{
    int failed = 0;
    for (size_t t = 0; t < ways * got.threads; t++) failed += got.status[t] != 0;
    CHECK(failed == 0, "%s %s: %d threads report a failure", test, type_of(Real()), failed);
}

template <class Real>
void check_batch(const outcome<Real> &got, const batch<Real> &of, int ways, const char *test)
{
    check_status_zero(got, ways, test);
    for (int way = 0; way < ways; way++)
        for (int i = 0; i < of.count(); i++) check_system(got, of, way, i, of.systems[i], test);
}

/* ---- warp scope: the hybrid in all its forms -------------------------------------------------------------------- */

/* The ways to solve systems in warps, and interleaved systems in blocks (lines). */
enum way {
    DIRECT,
    ANOTHER,  /* warps: reduce, pcr1, expand; lines: EARLY once more, after other right-hand sides */
    FACTORED, /* all steps */
    EARLY,    /* as many steps as the factorisation found */
    ALL,      /* all steps with the same factors: the omitted ones must change nothing */
    ONES,     /* EARLY with another right-hand side: 1 in every row */
    FEWER,    /* ONES with one step fewer, which must not be good enough */
    WAYS
};

static constexpr __host__ __device__ int log2_of(int W)
{
    return W == 1 ? 0 : 1 + log2_of(W / 2);
}

template <class Real, int K, int W>
GPU_KERNEL void solve_in_warps(view<Real> all)
{
    size_t thread = thread_of_grid(), first = K * thread;
    int n = all.n[thread / W];
    rows<Real, K> my;

    my.load(all, first);
    int status = trid_warp_hybrid(K, W, n, my.a, my.b, my.c, my.d);
    my.store(all, DIRECT, first, status);

    my.load(all, first);
    status = trid_warp_reduce(K, W, n, my.a, my.b, my.c, my.d);
    Real x = my.d[K - 1];
    int bad = trid_warp_pcr1(W, my.a[K - 1], my.c[K - 1], &x);
    trid_warp_expand(K, W, my.a, my.c, my.d, x);
    my.store(all, ANOTHER, first, status || !bad ? status : K * bad < n ? K * bad : n);

    Real f[TRID_WARP_FACTOR_LEN(K)];
    my.load(all, first);
    status = trid_warp_factor(K, W, n, my.a, my.b, my.c, f, (int *)0);
    trid_warp_solve(K, W, n, log2_of(W), f, my.d);
    my.store(all, FACTORED, first, status);

    int steps;
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(K); e++) f[e] = NAN;
    my.load(all, first);
    status = trid_warp_factor(K, W, n, my.a, my.b, my.c, f, &steps);
    trid_warp_solve(K, W, n, steps, f, my.d);
    my.store(all, EARLY, first, status);
    all.steps[thread] = steps;

    my.load(all, first);
    trid_warp_solve(K, W, n, log2_of(W), f, my.d);
    my.store(all, ALL, first, status);

    for (int j = 0; j < K; j++) my.d[j] = 1;
    trid_warp_solve(K, W, n, steps, f, my.d);
    my.store(all, ONES, first, status);

    for (int j = 0; j < K; j++) my.d[j] = 1;
    trid_warp_solve(K, W, n, steps - 1, f, my.d);
    my.store(all, FEWER, first, status);
}

template <class Real, int K, int W>
outcome<Real> run_in_warps(batch<Real> &systems, dim3 block = dim3(64, 1, 1))
{
    int groups = (int)(block.x * block.y * block.z) / W;
    systems.fill_up((size_t)groups);
    return run(solve_in_warps<Real, K, W>, WAYS, systems, systems.count() / groups, block, 0);
}

/* Checks that a warp takes the steps that its slowest system needs. The rounding of the couplings blurs the
   threshold. */
template <class Real, int K, int W>
void check_steps(const outcome<Real> &got, const batch<Real> &of)
{
    const int groups = 32 / W;
    for (int warp = 0; warp * groups < of.count(); warp++) {
        int least = 0, most = 0;
        for (int i = warp * groups; i < (warp + 1) * groups; i++) {
            int low = case_steps(of.systems[i], K, W, roundoff_of(Real()) * 1.001L);
            int high = case_steps(of.systems[i], K, W, roundoff_of(Real()) / 1.001L);
            least = low > least ? low : least;
            most = high > most ? high : most;
        }
        int different = 0, steps = got.steps[32 * warp];
        for (int lane = 1; lane < 32; lane++) different += got.steps[32 * warp + lane] != steps;
        CHECK(different == 0, "K %d W %d warp %d: lanes disagree about the steps", K, W, warp);
        CHECK(least <= steps && steps <= most, "%s K %d W %d warp %d: %d steps, needs %d", type_of(Real()), K, W, warp,
              steps, least);
    }
}

/* Checks what the omitted steps would contribute. Each coupling is at most a roundoff u, so an unknown of the reduced
   system moves by 2u max|x|, the others by less; the omitted reciprocal pivots and the order of summation add a few
   u. */
template <class Real>
void check_early(const outcome<Real> &got, const batch<Real> &of)
{
    for (int i = 0; i < of.count(); i++) {
        std::vector<double> early = got.solution(of, EARLY, i), full = got.solution(of, FACTORED, i);
        std::vector<long double> want(full.begin(), full.end());
        long double error = case_error(of.systems[i].n, early.data(), want.data());
        CHECK(error <= 8 * roundoff_of(Real()), "%s system %d n %d: stopped early, %Lg from the full solution",
              type_of(Real()), i, of.systems[i].n, error);
        CHECK(same_rows(got, EARLY, got, ALL, of, i), "%s system %d n %d: the steps that were left out do something",
              type_of(Real()), i, of.systems[i].n);
    }
}

template <class Real>
void check_ways(const outcome<Real> &got, const batch<Real> &of, const char *test)
{
    check_batch(got, of, ONES, test); /* the ways before ONES */
    for (int i = 0; i < of.count(); i++) {
        case_system ones = of.systems[i];
        std::vector<double> d(ones.n + 1, 1.0);
        ones.d = d.data();
        check_system(got, of, ONES, i, ones, test);
    }
    check_early(got, of);
}

template <class Real, int K, int W>
void test_warp()
{
    const double dominances[] = {1.25, 20, 1.5, 1e3, 1e7, 1.25};
    case_random random = {SEED + 100 * K + W};
    batch<Real> systems(K * W);
    int i = 0;
    for (int n : lengths(K, K * W, 40, 2, &random)) systems.add_random(&random, n, dominances[i++ % 6]);
    systems.add_far_reaching(&random, K * W, K * W / 2);
    systems.add_far_reaching(&random, K * W - 1, K * W / 2);
    systems.add_empty(-1);
    systems.add_empty(INT_MIN);
    outcome<Real> got = run_in_warps<Real, K, W>(systems);
    check_ways(got, systems, "warp");
    check_steps<Real, K, W>(got, systems);
}

template <class Real>
void test_warps()
{
    test_warp<Real, 1, 2>();
    test_warp<Real, 1, 32>();
    test_warp<Real, 2, 4>();
    test_warp<Real, 2, 32>();
    test_warp<Real, 3, 2>();
    test_warp<Real, 3, 8>();
    test_warp<Real, 4, 16>();
    test_warp<Real, 5, 4>();
    test_warp<Real, 5, 32>();
    test_warp<Real, 7, 8>();
    test_warp<Real, 8, 16>();
    test_warp<Real, 8, 32>();
    test_warp<Real, 16, 2>();
    test_warp<Real, 16, 32>();
}

/* Checks that lanes follow the linear thread index, whatever the shape of the block. */
template <class Real>
void test_warp_block_shapes()
{
    const dim3 shapes[] = {dim3(8, 8, 1), dim3(4, 2, 8), dim3(32, 1, 1)};
    case_random random = {SEED + 1};
    for (dim3 shape : shapes) {
        batch<Real> systems(3 * 8);
        for (int i = 0; i < 8; i++) systems.add_random(&random, 24 - i, 1.25);
        check_ways(run_in_warps<Real, 3, 8>(systems, shape), systems, "warp");
    }
}

/* ---- stopping early --------------------------------------------------------------------------------------------- */

/* Checks that one step fewer would be wrong: it drops couplings above the roundoff. With x about 1 in every row and
   couplings of equal sign in each row, the error is about the largest sum of two dropped couplings: at least the larger
   coupling, except for the rounding of the two solutions. */
template <class Real>
void check_one_step_fewer(const outcome<Real> &got, const batch<Real> &of, int i, int K, int steps)
{
    const case_system s = of.systems[i];
    long double dropped = 0;
    for (int row = K - 1; row < s.n; row += K) dropped = fmaxl(dropped, case_coupling(s, row, K << (steps - 1)));
    std::vector<double> fewer = got.solution(of, FEWER, i), enough = got.solution(of, ONES, i);
    std::vector<long double> want(enough.begin(), enough.end());
    long double error = case_error(s.n, fewer.data(), want.data());
    printf("%s Black-Scholes %d: %d steps; one fewer errs by %.3Lg, %.3Lg roundoffs\n", type_of(Real()), i, steps,
           error, error / roundoff_of(Real()));
    CHECK(dropped > roundoff_of(Real()), "%s system %d: step %d is not needed", type_of(Real()), i, steps);
    CHECK(error >= dropped - 2 * roundoff_of(Real()), "%s system %d: one step fewer drops %Lg and errs by %Lg only",
          type_of(Real()), i, dropped, error);
}

/* Tests the one-factor problem, 8 rows in each of 32 lanes, and the same with couplings ten times as large; `run`
   solves each in a warp. */
template <class Real, class Run>
void check_black_scholes(Run run, int side, int steps, int steps_stretched, const char *test)
{
    /* Diagonals exceed their couplings by little. But couplings are negative (the last row's is tiny) and diagonals
       positive, so the norm of the inverse is the largest x for d = 1, about 1; that of A is 1 + 4 lambda < 22. */
    const double condition = 22;
    batch<Real> systems(256, side);
    systems.add(case_black_scholes(256, 1, is_float(Real())), condition);
    systems.add(case_black_scholes(256, 10, is_float(Real())), condition);
    outcome<Real> got = run(systems);
    check_ways(got, systems, test);
    check_steps<Real, 8, 32>(got, systems);
    CHECK(got.steps[0] == steps, "%s Black-Scholes: %d steps", type_of(Real()), got.steps[0]);
    CHECK(got.steps[32] == steps_stretched, "%s Black-Scholes x 10: %d steps", type_of(Real()), got.steps[32]);
    for (int i = 0; i < 2; i++) check_one_step_fewer(got, systems, i, 8, got.steps[32 * i]);
}

template <class Real>
void test_early_stop_black_scholes(int steps, int steps_stretched)
{
    auto run = [](batch<Real> &systems) { return run_in_warps<Real, 8, 32>(systems); };
    check_black_scholes<Real>(run, 1, steps, steps_stretched, "warp");
}

/* Tests groups of one warp that need different numbers of steps: the warp takes the largest, which check_steps
   knows. */
template <class Real>
void test_early_stop_mixed_warp()
{
    const double dominances[] = {1e12, 1e12, 1.5, 1e12, 1e12, 1e12, 1e12, 1e12};
    case_random random = {SEED + 2};
    batch<Real> systems(2 * 8);
    for (double dominance : dominances) systems.add_random(&random, 16, dominance);
    outcome<Real> got = run_in_warps<Real, 2, 8>(systems);
    check_ways(got, systems, "warp");
    check_steps<Real, 2, 8>(got, systems);
    CHECK(got.steps[0] > got.steps[32], "a warp with a slow group takes %d steps, one without %d", got.steps[0],
          got.steps[32]);
}

/* ---- failures in warps ------------------------------------------------------------------------------------------ */

enum fault { NAN_IN_A, NAN_IN_B, NAN_IN_C, NAN_IN_D, INF_IN_D, ZERO_PIVOT, SINGULAR_PAIR, TOO_MANY_ROWS, FAULTS };

/* Plants a fault in row `row` of system i. */
template <class Real>
void plant(batch<Real> &systems, int i, int fault, int row)
{
    case_system &s = systems.systems[i];
    if (fault == NAN_IN_A) s.a[row > 0 ? row : 1] = NAN;
    if (fault == NAN_IN_B) s.b[row] = NAN;
    if (fault == NAN_IN_C) s.c[row < s.n - 1 ? row : row - 1] = NAN;
    if (fault == NAN_IN_D) s.d[row] = NAN;
    if (fault == INF_IN_D) s.d[row] = INFINITY;
    if (fault == ZERO_PIVOT) s.a[row] = s.b[row] = s.c[row] = 0; /* a zero pivot in any order of elimination */
    if (fault == SINGULAR_PAIR) {
        case_system pair = case_singular_pair(s.n, row < s.n - 1 ? row : row - 1);
        case_free(s);
        s = pair;
    }
    if (fault == TOO_MANY_ROWS) systems.claimed[i] = systems.slot + 1;
}

/* Returns the least positive status of the threads that hold a system's n rows, which says where the failure began.
   Every status must name a row that exists. */
template <class Real>
int least_status(const outcome<Real> &got, int way, const std::vector<size_t> &threads, int n, const char *test)
{
    int least = 0;
    for (size_t t : threads) {
        int status = got.status_of(way, t);
        CHECK(status <= n || n < 0, "%s %s way %d: status %d of %d rows", test, type_of(Real()), way, status, n);
        if (status > 0 && (least == 0 || status < least)) least = status;
    }
    return least;
}

/* Checks the status of a system with a fault. threads: all that hold its rows, K each, in order. */
template <class Real>
void check_fault_status(const outcome<Real> &got, int way, const std::vector<size_t> &threads, int fault, int K, int n,
                        int row, const char *test)
{
    int too_many = 0, status = least_status(got, way, threads, n, test), first = row < n - 1 ? row : row - 1;
    for (size_t t : threads) too_many += got.status_of(way, t) == TRID_BAD_ARGUMENT;
    bool right = status == 0;
    if (fault == TOO_MANY_ROWS) right = too_many == (int)threads.size();
    if (fault == ZERO_PIVOT || fault == NAN_IN_B) right = status == 1 + row;
    if (fault == SINGULAR_PAIR) right = status == 1 + first || status == 2 + first;
    if (fault == NAN_IN_A || fault == NAN_IN_C) {
        int of = fault == NAN_IN_A ? (row > 0 ? row : 1) : first; /* the row of the coupling */
        right = status > 0 && (status - 1) / K == of / K;
    }
    CHECK(right, "%s %s way %d K %d fault %d row %d of %d: the least status is %d", test, type_of(Real()), way, K,
          fault, row, n, status);
}

/* Checks that a lane that reports a failure names one of its own K rows, or the system's last row if the failure may
   not be its own. */
template <class Real>
void check_own_rows(const outcome<Real> &got, int way, const std::vector<size_t> &lanes, int K, int n, const char *test)
{
    for (size_t lane = 0; lane < lanes.size(); lane++) {
        int status = got.status_of(way, lanes[lane]);
        CHECK(status <= 0 || status == n || (status - 1) / K == (int)lane,
              "%s %s way %d: lane %d of K = %d rows reports status %d of %d", test, type_of(Real()), way, (int)lane, K,
              status, n);
    }
}

/* Returns whether any of system i's unknowns is not finite. */
template <class Real>
bool shows(const outcome<Real> &got, const batch<Real> &of, int way, int i)
{
    bool finite = true;
    for (double x : got.solution(of, way, i)) finite = finite && isfinite(x);
    return !finite;
}

template <class Real, int K, int W>
void check_faulty_warps(const outcome<Real> &got, const outcome<Real> &clean, const batch<Real> &of, int fault,
                        const std::vector<int> &row)
{
    for (int i = 0; i < of.count(); i++) {
        for (int way = 0; way < FEWER; way++) {
            std::vector<size_t> threads;
            for (int lane = 0; lane < W; lane++) threads.push_back((size_t)i * W + lane);
            if (row[i] >= 0) {
                /* ONES has another right-hand side, without the fault in d. */
                check_fault_status(got, way, threads, fault, K, of.systems[i].n, row[i], "warp");
                check_own_rows(got, way, threads, K, of.systems[i].n, "warp");
                if (fault <= INF_IN_D && !(way == ONES && fault >= NAN_IN_D))
                    CHECK(shows(got, of, way, i), "warp way %d fault %d row %d has vanished", way, fault, row[i]);
                continue;
            }
            int failed = 0;
            for (size_t t : threads) failed += got.status_of(way, t) != 0;
            CHECK(failed == 0, "%s way %d fault %d K %d W %d: %d lanes of a sound neighbour fail", type_of(Real()), way,
                  fault, K, W, failed);
            if (way < EARLY)
                CHECK(same_rows(got, way, clean, way, of, i), "%s way %d fault %d K %d W %d: neighbour %d changed",
                      type_of(Real()), way, fault, K, W, i);
        }
    }
}

/* Checks the systems beside faulty ones. A neighbour's NaN makes a warp take all steps, which changes other systems
   within the roundoff. row[i] < 0 if system i has no fault; otherwise it has fault[i]. */
template <class Real, int K, int W>
void check_early_neighbours(const outcome<Real> &got, const outcome<Real> &clean, const batch<Real> &of,
                            const std::vector<int> &fault, const std::vector<int> &row)
{
    for (int i = 0; i < of.count(); i++) {
        int steps = got.steps[(size_t)i * W];
        if (row[i] >= 0) {
            if (fault[i] <= NAN_IN_C)
                CHECK(1 << steps == W, "%s K %d W %d: NaN in the matrix, %d steps", type_of(Real()), K, W, steps);
            continue;
        }
        std::vector<double> x = got.solution(of, EARLY, i), was = clean.solution(of, EARLY, i);
        std::vector<long double> want(was.begin(), was.end());
        long double error = case_error(of.systems[i].n, x.data(), want.data());
        CHECK(error <= 8 * roundoff_of(Real()), "%s K %d W %d: early neighbour %d moved by %Lg", type_of(Real()), K, W,
              i, error);
    }
}

/* Tests a faulty system in every second group, with the fault in a different row each time. */
template <class Real, int K, int W>
void test_warp_faults()
{
    for (int fault = 0; fault < FAULTS; fault++) {
        case_random random = {SEED + 3};
        batch<Real> systems(K * W);
        const int count = 2 * 32 / W > 8 ? 2 * 32 / W : 8;
        for (int i = 0; i < count; i++)
            systems.add_random(&random, K * W - (i % 4 == 1 ? 1 : 0) - (i % 8 == 2 ? K * W / 2 : 0), 1.5);
        outcome<Real> clean = run_in_warps<Real, K, W>(systems);
        std::vector<int> row(systems.count(), -1);
        for (int i = 1; i < count; i += 2) {
            row[i] = (fault + i * 7 / 2) % systems.systems[i].n;
            if (i == count - 1) row[i] = systems.systems[i].n - 1;
            plant(systems, i, fault, row[i]);
        }
        outcome<Real> got = run_in_warps<Real, K, W>(systems);
        check_faulty_warps<Real, K, W>(got, clean, systems, fault, row);
        check_early_neighbours<Real, K, W>(got, clean, systems, std::vector<int>(systems.count(), fault), row);
    }
}

/* Tests equal rows p and p+1: wherever they meet, within a lane, between lanes or in a PCR step, some lane reports
   it. */
template <class Real, int K, int W>
void test_warp_singular_pairs()
{
    batch<Real> systems(K * W);
    for (int p = 0; p + 1 < K * W; p++) systems.add(case_singular_pair(K * W, p));
    outcome<Real> got = run_in_warps<Real, K, W>(systems);
    for (int p = 0; p + 1 < K * W; p++) {
        std::vector<size_t> threads;
        for (int lane = 0; lane < W; lane++) threads.push_back((size_t)p * W + lane);
        for (int way = 0; way < FEWER; way++) {
            check_fault_status(got, way, threads, SINGULAR_PAIR, K, K * W, p, "warp pair");
            check_own_rows(got, way, threads, K, K * W, "warp pair");
        }
    }
}

/* ---- PCR alone --------------------------------------------------------------------------------------------------- */

enum pcr_way { PCR_OF_LANE, PCR_OF_GROUP, PCR_WAYS }; /* whose status is kept */

/* Solves by PCR with R = 1 or 2 rows a lane. */
template <class Real, int R, int W>
GPU_KERNEL void solve_by_pcr(view<Real> all)
{
    size_t first = R * thread_of_grid();
    rows<Real, R> my;
    int status;

    my.load(all, first);
    status = R == 1 ? trid_warp_pcr1(W, my.a[0], my.c[0], my.d) : trid_warp_pcr2(W, my.a, my.c, my.d);
    my.store(all, PCR_OF_LANE, first, status);
    my.store(all, PCR_OF_GROUP, first, trid_warp_status(W, status));
}

template <class Real, int R, int W>
outcome<Real> run_by_pcr(const batch<Real> &systems)
{
    const int threads = 96;
    return run(solve_by_pcr<Real, R, W>, PCR_WAYS, systems, systems.count() * W / threads, dim3(threads, 1, 1), 0);
}

/* Makes a dominant system of n <= size rows with unit diagonal, and pads it with identity rows to `size`, since PCR
   alone does not take n. */
template <class Real>
case_system unit_diagonal(case_random *random, int n, int size)
{
    case_system s = case_dominant(random, n, 1.25, 0), unit = case_new(size);
    for (int j = 0; j < size; j++) {
        unit.b[j] = 1;
        if (j >= n) continue;
        unit.a[j] = j > 0 ? s.a[j] / s.b[j] : 0;
        unit.c[j] = j < n - 1 ? s.c[j] / s.b[j] : 0;
        unit.d[j] = s.d[j] / s.b[j];
    }
    case_free(s);
    if (is_float(Real())) case_round_to_float(unit);
    case_close_corners(unit);
    return unit;
}

template <class Real, int R, int W>
void test_pcr()
{
    case_random random = {SEED + 4};
    batch<Real> systems(R * W);
    const int count = 3 * 32 / W * (W > 8 ? 2 : 1);
    for (int i = 0; i < count; i++) systems.add(unit_diagonal<Real>(&random, R * W - i % (R * W), R * W));
    outcome<Real> got = run_by_pcr<Real, R, W>(systems);
    check_batch(got, systems, PCR_WAYS, "pcr");
    for (int i = 0; i < count; i += 2) plant(systems, i, NAN_IN_D, i % (R * W));
    for (int i = 1; i < count; i += 4) plant(systems, i, SINGULAR_PAIR, i % (R * W));
    outcome<Real> sick = run_by_pcr<Real, R, W>(systems);
    for (int i = 0; i < count; i++) {
        for (int way = 0; way < PCR_WAYS; way++) {
            int row = i % (R * W), first = row < R * W - 1 ? row : row - 1;
            std::vector<size_t> threads;
            for (int lane = 0; lane < W; lane++) threads.push_back((size_t)i * W + lane);
            int status = least_status(sick, way, threads, R * W, "pcr");
            /* Of two rows a lane, the second is the one that meets its neighbours. */
            int want = i % 4 != 1 ? 0 : R == 1 ? 1 + first : 2 + first / 2 * 2;
            CHECK(status == want, "%s pcr%d W %d way %d system %d: the least status is %d, not %d", type_of(Real()), R,
                  W, way, i, status, want);
            for (size_t t : threads)
                CHECK(way == PCR_OF_LANE || sick.status_of(way, t) == want,
                      "%s pcr%d W %d system %d: a lane has the group's status as %d, not %d", type_of(Real()), R, W, i,
                      sick.status_of(way, t), want);
            if (i % 4 == 3)
                CHECK(same_rows(sick, way, got, way, systems, i), "%s pcr%d W %d: a neighbour's NaN gets in",
                      type_of(Real()), R, W);
            if (i % 2 == 0) CHECK(shows(sick, systems, way, i), "pcr%d W %d: NaN in d has vanished", R, W);
        }
    }
}

template <class Real>
void test_pcrs()
{
    test_pcr<Real, 1, 2>();
    test_pcr<Real, 1, 4>();
    test_pcr<Real, 1, 8>();
    test_pcr<Real, 1, 16>();
    test_pcr<Real, 1, 32>();
    test_pcr<Real, 2, 2>();
    test_pcr<Real, 2, 4>();
    test_pcr<Real, 2, 8>();
    test_pcr<Real, 2, 16>();
    test_pcr<Real, 2, 32>();
}

/* ---- one system across a block ---------------------------------------------------------------------------------- */

/* Solves twice, with the barrier in between for which the header asks. */
template <class Real, int K>
GPU_KERNEL void __launch_bounds__(1024) solve_in_block(view<Real> all)
{
    GPU_DYNAMIC_SHARED(memory);
    size_t first = K * thread_of_grid();
    int n = all.n[blockIdx.x], rounds = threads_of_block() <= 96 ? 2 : 1;
    rows<Real, K> my;
    for (int round = 0; round < rounds; round++) {
        my.load(all, first);
        __syncthreads();
        int status = trid_block_hybrid(K, n, my.a, my.b, my.c, my.d, (Real *)memory);
        my.store(all, 0, first, status);
    }
}

template <class Real, int K>
outcome<Real> run_in_blocks(const batch<Real> &systems, dim3 block)
{
    return run(solve_in_block<Real, K>, 1, systems, systems.count(), block, TRID_BLOCK_HYBRID_LEN * sizeof(Real));
}

template <class Real, int K>
void test_block(dim3 block, int count)
{
    int threads = (int)(block.x * block.y * block.z), full = K * threads;
    const int n[] = {full, full - 1, 32 * K + 1, 31 * K, full - 32 * K + 1, 32 * K, 1, 32 * K - 1, 0, 2, K, K + 1};
    case_random random = {SEED + 5};
    batch<Real> systems(full);
    for (int i = 0; i < count; i++) systems.add_random(&random, n[i] <= full ? n[i] : full / 2, 1.25);
    systems.add_far_reaching(&random, full, 32 * K);
    systems.add_empty(INT_MIN);
    check_batch(run_in_blocks<Real, K>(systems, block), systems, 1, "block");
}

/* Tests a zero pivot, reported by the thread that holds it; equal rows within lanes, between lanes and between warps;
   and too many rows. */
template <class Real, int K>
void test_block_faults(int threads)
{
    const int full = K * threads, at[] = {0, K - 1, K, 31 * K - 1, 32 * K - 1, 32 * K, full - 33, full - 2};
    const int few = 10; /* rows; the other warps have only identity rows */
    case_random random = {SEED + 6};
    batch<Real> systems(full);
    std::vector<int> faults, rows;
    for (int fault : {(int)ZERO_PIVOT, (int)SINGULAR_PAIR, (int)TOO_MANY_ROWS, (int)NAN_IN_D, (int)NAN_IN_B}) {
        for (int row : at) {
            if (fault != ZERO_PIVOT && fault != SINGULAR_PAIR && row != 32 * K - 1) continue; /* one will do */
            systems.add_random(&random, full, 1.5);
            plant(systems, systems.count() - 1, fault, row);
            faults.push_back(fault);
            rows.push_back(row);
        }
    }
    for (int row = 1; row < few; row += 4) {
        systems.add_random(&random, few, 1.5);
        plant(systems, systems.count() - 1, NAN_IN_B, row);
        faults.push_back(NAN_IN_B);
        rows.push_back(row);
    }
    outcome<Real> got = run_in_blocks<Real, K>(systems, dim3((unsigned)threads, 1, 1));
    for (int i = 0; i < systems.count(); i++) {
        std::vector<size_t> members;
        for (int t = 0; t < threads; t++) members.push_back((size_t)i * threads + t);
        check_fault_status(got, 0, members, faults[i], K, systems.systems[i].n, rows[i], "block");
        if (faults[i] <= INF_IN_D) CHECK(shows(got, systems, 0, i), "block: fault %d has vanished", faults[i]);
    }
}

/* Tests two warps of one row a lane whose last unknowns couple through the 31 rows between, which interpolate:
       row 31   p x[31] + 32 x[32] = p x[31] + 31 x[31] + x[63]        row 63   likewise, with q
   If (p + 31) (q + 31) = 1 the system is singular, and only the PCR step over the warps can see it. */
template <class Real>
case_system two_warps(double p, double q)
{
    enum { N = 64 };
    case_system s = case_new(N);
    for (int j = 0; j < N; j++) {
        s.a[j] = s.c[j] = j > 31 && j < 63 ? -1 : 0;
        s.b[j] = j > 31 && j < 63 ? 2 : 1;
        s.d[j] = 1;
    }
    s.b[31] = p, s.c[31] = 32;
    s.a[63] = 32, s.b[63] = q;
    if (is_float(Real())) case_round_to_float(s);
    case_close_corners(s);
    return s;
}

/* Tests the same without exact numbers: x[63] changes its sign where the matrix is singular in this arithmetic. Some
   numbers close to that make the pivot zero, and then the status must name row 31. */
template <class Real>
void test_block_fails_between_warps()
{
    enum { COUNT = 160, N = 64 };
    const double p = -30.5, range = 0x1p14 * roundoff_of(Real()), nearby = 64 * roundoff_of(Real());
    case_random random = {SEED + 10};
    batch<Real> wide(N), narrow(N);
    for (int i = 0; i < COUNT; i++) wide.add(two_warps<Real>(p, -29 + (2.0 * i / COUNT - 1) * range));
    outcome<Real> got = run_in_blocks<Real, 1>(wide, dim3(N, 1, 1));
    int flip = 1;
    while (flip < COUNT - 1 && (got.at(wide, 0, flip, 63) > 0) == (got.at(wide, 0, flip - 1, 63) > 0)) flip++;
    for (int i = 0; i < 2 * COUNT; i++) {
        /* along the line of singular matrices, where dq = -4 dp, and a little off it */
        double change = case_between(&random, -32 * nearby, 32 * nearby);
        double off = case_between(&random, -nearby, nearby);
        narrow.add(two_warps<Real>(p + change, wide.systems[flip].b[63] - 4 * change + off));
    }
    got = run_in_blocks<Real, 1>(narrow, dim3(N, 1, 1));
    int found = 0;
    for (int i = 0; i < 2 * COUNT; i++) {
        std::vector<size_t> threads;
        for (int t = 0; t < N; t++) threads.push_back((size_t)i * N + t);
        int status = least_status(got, 0, threads, N, "between warps");
        CHECK(status == 0 || status == 32, "%s between warps: the least status is %d", type_of(Real()), status);
        found += status != 0;
    }
    /* With contracted operations 1 - 1 is rarely 0; floats near -29 are too few. */
#if defined SIMT_EMULATOR && !defined SIMT_PERTURBED
    if (!is_float(Real())) CHECK(found > 0, "between warps: no pivot was zero");
#endif
}

template <class Real>
void test_blocks()
{
    test_block<Real, 1>(dim3(32, 1, 1), 12);
    test_block<Real, 1>(dim3(96, 1, 1), 12);
    test_block<Real, 2>(dim3(64, 1, 1), 12);
    test_block<Real, 3>(dim3(96, 1, 1), 12);
    test_block<Real, 8>(dim3(32, 1, 1), 12);
    test_block<Real, 8>(dim3(16, 8, 1), 8);
    test_block<Real, 5>(dim3(224, 1, 1), 5);
    test_block<Real, 1>(dim3(512, 1, 1), 3);
    test_block<Real, 2>(dim3(32, 4, 8), 3);
    test_block<Real, 3>(dim3(992, 1, 1), 2);
    test_block_faults<Real, 1>(96);
    test_block_faults<Real, 3>(96);
}

/* Returns the bytes of shared memory of trid_block_interleaved and its factored form. */
template <class Real>
__host__ __device__ static size_t lines_bytes(int L, int S)
{
    return sizeof(Real) == 4 ? trid_block_interleaved_bytes_f32(L, S) : trid_block_interleaved_bytes_f64(L, S);
}
template <class Real>
__host__ __device__ static size_t lines_solve_bytes(int L, int S)
{
    return sizeof(Real) == 4 ? trid_block_interleaved_solve_bytes_f32(L, S)
                             : trid_block_interleaved_solve_bytes_f64(L, S);
}

/* ---- lines side by side ----------------------------------------------------------------------------------------- */

/* Factors and solves several times on the same shared memory, without a barrier in between, as the header allows. The
   memory is the end of what the launch asks for, so that use of one more word would be seen. Then solves directly,
   twice, with the barrier for which the header asks. */
template <class Real, int K, int L, int S>
GPU_KERNEL void __launch_bounds__(L *S) solve_lines(view<Real> all)
{
    GPU_DYNAMIC_SHARED(memory);
    Real *shared = (Real *)(memory + lines_bytes<Real>(L, S) - lines_solve_bytes<Real>(L, S));
    int thread = thread_of_block(), line = thread % L, section = thread / L;
    size_t first = ((size_t)blockIdx.x * K * S + (size_t)K * section) * L + line;
    int n = all.n[blockIdx.x * L + line];
    rows<Real, K> my;

    Real f[TRID_INTERLEAVED_FACTOR_LEN(K)];
    my.load(all, first, L);
    int status = trid_block_interleaved_factor(K, L, S, n, my.a, my.b, my.c, f, (int *)0, shared);
    trid_block_interleaved_solve(K, L, S, n, log2_of(S), f, my.d, shared);
    my.store(all, FACTORED, first, status, L);

    int steps;
    for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(K); e++) f[e] = NAN;
    my.load(all, first, L);
    status = trid_block_interleaved_factor(K, L, S, n, my.a, my.b, my.c, f, &steps, shared);
    trid_block_interleaved_solve(K, L, S, n, steps, f, my.d, shared);
    my.store(all, EARLY, first, status, L);
    all.steps[thread_of_grid()] = steps;

    my.load(all, first, L);
    trid_block_interleaved_solve(K, L, S, n, log2_of(S), f, my.d, shared);
    my.store(all, ALL, first, status, L);

    for (int j = 0; j < K; j++) my.d[j] = 1;
    trid_block_interleaved_solve(K, L, S, n, steps, f, my.d, shared);
    my.store(all, ONES, first, status, L);

    for (int j = 0; j < K; j++) my.d[j] = 1;
    trid_block_interleaved_solve(K, L, S, n, steps - 1, f, my.d, shared);
    my.store(all, FEWER, first, status, L);

    my.load(all, first, L);
    for (int j = 0; j < K; j++) my.d[j] = K * section + j < n ? my.d[j] : 0;
    trid_block_interleaved_solve(K, L, S, K * S, steps, f, my.d, shared);
    Real spread[3 * TRID_INTERLEAVED_FACTOR_LEN(K)], again[K];
    for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(K); e++) spread[3 * e] = f[e];
    for (int j = 0; j < K; j++) again[j] = K * section + j < n ? all.d[first + (size_t)j * L] : 0;
    trid_block_interleaved_solve_stored(K, L, S, K * S, steps, spread, spread + 3 * 5 * K, 3, again, shared);
    /* Both make the same operations, so a difference is a fault unless both are NaN. */
    for (int j = 0; j < K; j++)
        if (!(again[j] == my.d[j]) && (again[j] == again[j] || my.d[j] == my.d[j])) my.d[j] = NAN;
    my.store(all, ANOTHER, first, status, L);

    for (int round = 0; round < 2; round++) {
        my.load(all, first, L);
        __syncthreads();
        status = trid_block_interleaved(K, L, S, n, my.a, my.b, my.c, my.d, (Real *)memory);
        my.store(all, DIRECT, first, status, L);
    }
    rows<Real, K> other;
    other.load(all, first, L);
    __syncthreads();
    trid_block_interleaved_unchecked(K, L, S, n, other.a, other.b, other.c, other.d, (Real *)memory);
    for (int j = 0; j < K; j++) /* the same operations again */
        if (!(other.d[j] == my.d[j]) && (other.d[j] == other.d[j] || my.d[j] == my.d[j])) my.d[j] = NAN;
    my.store(all, DIRECT, first, status, L);
}

template <class Real, int K, int L, int S>
outcome<Real> run_lines(const batch<Real> &lines, dim3 block)
{
    return run(solve_lines<Real, K, L, S>, WAYS, lines, lines.count() / L, block, lines_bytes<Real>(L, S));
}

/* Returns the threads that hold line i. */
template <int L, int S>
std::vector<size_t> threads_of_line(int i)
{
    std::vector<size_t> threads;
    size_t block = (size_t)(i / L) * L * S;
    for (int section = 0; section < S; section++) threads.push_back(block + (size_t)(section * L + i % L));
    return threads;
}

template <class Real, int K, int L, int S>
void check_faulty_lines(batch<Real> &lines, const outcome<Real> &clean, dim3 block)
{
    static const int faults[] = {ZERO_PIVOT, NAN_IN_D, SINGULAR_PAIR, NAN_IN_B};
    std::vector<int> fault(lines.count(), -1), row(lines.count(), -1);
    int planted = 0;
    for (int i = 0; i < lines.count(); i += 2) {
        if (lines.systems[i].n < 2) continue;
        fault[i] = faults[planted % 4];
        row[i] = (planted / 4 * (K + 1) + K - 1) % lines.systems[i].n;
        plant(lines, i, fault[i], row[i]);
        planted++;
    }
    outcome<Real> got = run_lines<Real, K, L, S>(lines, block);
    for (int i = 0; i < lines.count(); i++) {
        std::vector<size_t> threads = threads_of_line<L, S>(i);
        for (int way = 0; way < FEWER; way++) {
            int n = lines.systems[i].n;
            if (fault[i] < 0) {
                bool all_steps = way == DIRECT || way == FACTORED;
                CHECK(least_status(got, way, threads, n, "lines") == 0, "%s lines %d x %d way %d: line %d is sound",
                      type_of(Real()), L, S, way, i);
                CHECK(!shows(got, lines, way, i), "%s lines %d x %d way %d: a neighbour's NaN gets into line %d",
                      type_of(Real()), L, S, way, i);
                CHECK(!all_steps || same_rows(got, way, clean, way, lines, i),
                      "%s lines %d x %d way %d: a neighbour of line %d gets in", type_of(Real()), L, S, way, i);
                continue;
            }
            check_fault_status(got, way, threads, fault[i], K, n, row[i], "lines");
            if (fault[i] == NAN_IN_D) {
                CHECK(way == ONES || shows(got, lines, way, i), "%s lines %d x %d way %d: NaN in d has vanished",
                      type_of(Real()), L, S, way);
            }
        }
    }
    check_early_neighbours<Real, K, S>(got, clean, lines, fault, row);
}

template <class Real, int K, int L, int S>
void test_lines(dim3 block = dim3(L * S, 1, 1))
{
    case_random random = {SEED + 7};
    batch<Real> lines(K * S, L);
    std::vector<int> n = lengths(K, K * S, 40, 2, &random);
    const int count = L > 2 ? 2 * L : 8;
    for (int i = 0; i < count; i++) {
        if (i % 5 == 3)
            lines.add_far_reaching(&random, K * S, K * S / 2);
        else
            lines.add_random(&random, n[(i * 5 + n.size() - 1) % n.size()], 1.25);
    }
    outcome<Real> clean = run_lines<Real, K, L, S>(lines, block);
    check_ways(clean, lines, "lines");
    check_steps<Real, K, S>(clean, lines);
    check_faulty_lines<Real, K, L, S>(lines, clean, block);

    lines.claimed[count - 1] = K * S + 1;
    outcome<Real> got = run_lines<Real, K, L, S>(lines, block);
    for (int way = 0; way < WAYS; way++)
        for (int section = 0; section < S; section++)
            CHECK(got.status_of(way, threads_of_line<L, S>(count - 1)[section]) == -1, "lines %d x %d way %d: n > K*S",
                  L, S, way);
}

template <class Real>
void test_lines_black_scholes(int steps, int steps_stretched)
{
    auto run = [](batch<Real> &lines) { return run_lines<Real, 8, 2, 32>(lines, dim3(64, 1, 1)); };
    check_black_scholes<Real>(run, 2, steps, steps_stretched, "lines");
}

template <class Real>
void test_all_lines()
{
    test_lines<Real, 8, 8, 32>();
    test_lines<Real, 3, 32, 8>();
    test_lines<Real, 1, 16, 16>();
    test_lines<Real, 2, 16, 16>(dim3(16, 16, 1));
    test_lines<Real, 2, 32, 32>(dim3(32, 32, 1));
    test_lines<Real, 5, 1, 32>();
    test_lines<Real, 4, 64, 4>();
    test_lines<Real, 7, 16, 2>();
    test_lines<Real, 3, 32, 1>();
}

/* ---- residuals, and one step of refinement ---------------------------------------------------------------------- */

enum refined_way {
    PLAIN,   /* warps: the factors' solve; blocks: the hybrid */
    REFINED, /* hybrid_refined */
    SOLVED,  /* warps: solve_refined, with as many steps as the factorisation found */
    REST,    /* the residual of PLAIN, */
    ERROR,   /* its largest element in the thread, in the thread's first row, */
    SIZE,    /* and what it is measured by */
    REFINED_WAYS
};

/* Spoils x if a, b or c has changed, which they must not. */
template <class Real, int K>
__device__ __forceinline__ void spoil_if_changed(rows<Real, K> &my, const view<Real> &all, size_t first)
{
    rows<Real, K> was;
    was.load(all, first);
    for (int j = 0; j < K; j++) {
        bool same_a = my.a[j] == was.a[j] || was.a[j] != was.a[j], same_b = my.b[j] == was.b[j] || was.b[j] != was.b[j];
        bool same_c = my.c[j] == was.c[j] || was.c[j] != was.c[j];
        if (!same_a || !same_b || !same_c) my.d[j] = NAN;
    }
}

/* Stores a thread's two numbers of the residual in its first row; r has been stored already. */
template <class Real>
__device__ __forceinline__ void store_numbers(const view<Real> &all, size_t first, Real error, Real size)
{
    all.x[ERROR * all.elements + first] = error;
    all.x[SIZE * all.elements + first] = size;
    all.status[ERROR * all.threads + thread_of_grid()] = all.status[SIZE * all.threads + thread_of_grid()] = 0;
}

template <class Real, int K, int W>
GPU_KERNEL void refine_in_warps(view<Real> all)
{
    size_t thread = thread_of_grid(), first = K * thread;
    int n = all.n[thread / W], steps;
    rows<Real, K> my;
    Real f[TRID_WARP_FACTOR_LEN(K)], x[K], error, size;

    my.load(all, first);
    int status = trid_warp_hybrid_refined(K, W, n, my.a, my.b, my.c, my.d);
    spoil_if_changed(my, all, first);
    my.store(all, REFINED, first, status);

    my.load(all, first);
    status = trid_warp_factor(K, W, n, my.a, my.b, my.c, f, &steps);
    trid_warp_solve(K, W, n, steps, f, my.d);
    my.store(all, PLAIN, first, status);
    for (int j = 0; j < K; j++) x[j] = my.d[j];

    my.load(all, first);
    trid_warp_solve_refined(K, W, n, steps, my.a, my.b, my.c, f, my.d);
    spoil_if_changed(my, all, first);
    my.store(all, SOLVED, first, status);

    my.load(all, first);
    trid_warp_residual(K, W, n, my.a, my.b, my.c, my.d, x, my.d, &error, &size);
    my.store(all, REST, first, status);
    store_numbers(all, first, error, size);
}

/* Makes the refined solves twice on the same memory, without a barrier in between, as the header allows. */
template <class Real, int K>
GPU_KERNEL void __launch_bounds__(256) refine_in_blocks(view<Real> all)
{
    GPU_DYNAMIC_SHARED(memory);
    Real *shared = (Real *)memory;
    size_t first = K * thread_of_grid();
    int n = all.n[blockIdx.x], status;
    rows<Real, K> my;
    Real x[K], error, size;

    for (int round = 0; round < 2; round++) {
        my.load(all, first);
        status = trid_block_hybrid_refined(K, n, my.a, my.b, my.c, my.d, shared);
        spoil_if_changed(my, all, first);
        my.store(all, round == 0 ? REFINED : SOLVED, first, status);
    }
    __syncthreads();

    my.load(all, first);
    status = trid_block_hybrid(K, n, my.a, my.b, my.c, my.d, shared);
    my.store(all, PLAIN, first, status);
    for (int j = 0; j < K; j++) x[j] = my.d[j];

    my.load(all, first);
    trid_block_residual(K, n, my.a, my.b, my.c, my.d, x, my.d, &error, &size, shared + TRID_BLOCK_HYBRID_LEN);
    my.store(all, REST, first, status);
    store_numbers(all, first, error, size);
}

/* Checks residuals. PLAIN leaves what docs/hybrid.md allows; a step of refinement leaves what Thomas does: half a
   roundoff for each of four terms, since x is rounded, and some more for the operations. */
template <class Real>
void check_refined(const outcome<Real> &got, const batch<Real> &of, int i, int K, double excess, const char *test)
{
    const double few = 6, law = case_law(K, excess), u = roundoff_of(Real());
    case_system s = of.systems[i];
    for (int way = PLAIN; way <= SOLVED; way++) {
        long double residual = case_residual(s, got.solution(of, way, i).data()) / u;
        if (way != PLAIN && law * law * u > 0.01) continue;
        double allowed = way == PLAIN ? 2 * law : few; /* twice the law, because of the fast reciprocal */
        CHECK(residual <= allowed, "%s %s way %d system %d n %d 1 + %g: residual %Lg > %g roundoffs", test,
              type_of(Real()), way, i, s.n, excess, residual, allowed);
        int nonzero = 0;
        for (int j = s.n; j < of.slot; j++) nonzero += got.at(of, way, i, j) != 0;
        CHECK(nonzero == 0, "%s way %d n %d: %d rows beyond n are not 0", test, way, s.n, nonzero);
    }
}

/* Compares the residual of PLAIN, row by row and thread by thread, with long double. */
template <class Real>
void check_rest(const outcome<Real> &got, const batch<Real> &of, int i, int K, const char *test)
{
    case_system s = of.systems[i];
    std::vector<double> x = got.solution(of, PLAIN, i);
    for (int first = 0; first < of.slot; first += K) {
        long double error = 0, size = 0;
        for (int j = first; j < first + K; j++) {
            Real r = got.at(of, REST, i, j);
            error = case_larger(error, fabsl((long double)r));
            if (j >= s.n) {
                CHECK(r == 0, "%s n %d: residual %g in row %d", test, s.n, (double)r, j);
                continue;
            }
            long double up = j > 0 ? (long double)s.a[j] * x[j - 1] : 0, mid = (long double)s.b[j] * x[j];
            long double down = j + 1 < s.n ? (long double)s.c[j] * x[j + 1] : 0;
            long double sum = fabsl(up) + fabsl(mid) + fabsl(down) + fabsl((long double)s.d[j]);
            size = case_larger(size, sum);
            long double off = fabsl(r - (s.d[j] - up - mid - down));
            /* at most three products and three sums are rounded */
            CHECK(off <= 6 * roundoff_of(Real()) * sum, "%s %s n %d row %d: residual %g, off by %Lg", test,
                  type_of(Real()), s.n, j, (double)r, off);
        }
        Real largest = got.at(of, ERROR, i, first), scale = got.at(of, SIZE, i, first);
        CHECK(largest == (Real)error, "%s n %d: the thread's largest residual is %g, not %Lg", test, s.n,
              (double)largest, error);
        CHECK(fabsl(scale - size) <= 6 * roundoff_of(Real()) * size, "%s n %d: the thread's size is %g, not %Lg", test,
              s.n, (double)scale, size);
    }
}

/* Tests `count` systems of at most `slot` rows of all kinds of matrices, dominances and lengths; `run` solves them. */
template <class Real, class Run>
void check_refinement(Run run, int K, int slot, int count, const char *test)
{
    const double excess[] = {1e-3, 1e-5, 1e-7, 1};
    case_random random = {SEED + 11};
    batch<Real> systems(slot);
    for (int i = 0; i < count; i++) {
        int n = i % 3 == 0 ? slot : i % 3 == 1 ? slot - 1 - i % 7 : 1 + case_below(&random, slot);
        systems.add(case_weak(&random, n > 0 ? n : 1, i % CASE_KINDS, excess[i / CASE_KINDS % 4], is_float(Real())));
    }
    systems.add_empty(INT_MIN);
    const int sick = systems.count();
    systems.add_random(&random, slot, 1.5);
    plant(systems, sick, NAN_IN_B, slot / 2);
    outcome<Real> got = run(systems);
    for (int i = 0; i < count; i++) {
        check_refined(got, systems, i, K, excess[i / CASE_KINDS % 4], test);
        check_rest(got, systems, i, K, test);
    }
    size_t threads = (size_t)(slot / K);
    for (int way = PLAIN; way <= SOLVED; way++) {
        for (int i = 0; i < systems.count(); i++) {
            std::vector<size_t> members;
            for (size_t t = 0; t < threads; t++) members.push_back((size_t)i * threads + t);
            int status = least_status(got, way, members, systems.systems[i].n, test);
            CHECK(status == (i == sick ? 1 + slot / 2 : 0), "%s way %d system %d: status %d", test, way, i, status);
        }
        CHECK(shows(got, systems, way, sick), "%s way %d: NaN in b has vanished", test, way);
    }
}

template <class Real, int K, int W>
void test_refined_warps()
{
    auto run_refined = [](batch<Real> &systems) {
        const int groups = 64 / W;
        systems.fill_up((size_t)groups);
        return run(refine_in_warps<Real, K, W>, REFINED_WAYS, systems, systems.count() / groups, dim3(64, 1, 1), 0);
    };
    check_refinement<Real>(run_refined, K, K * W, 60, "refined warp");
}

template <class Real, int K>
void test_refined_blocks(dim3 block)
{
    auto run_refined = [=](batch<Real> &systems) {
        return run(refine_in_blocks<Real, K>, REFINED_WAYS, systems, systems.count(), block,
                   TRID_BLOCK_HYBRID_REFINED_LEN * sizeof(Real));
    };
    check_refinement<Real>(run_refined, K, K * (int)(block.x * block.y), 20, "refined block");
}

template <class Real>
void test_refined()
{
    test_refined_warps<Real, 1, 32>();
    test_refined_warps<Real, 1, 2>();
    test_refined_warps<Real, 3, 8>();
    test_refined_warps<Real, 8, 32>();
    test_refined_warps<Real, 5, 16>();
    test_refined_blocks<Real, 1>(dim3(64, 1, 1));
    test_refined_blocks<Real, 3>(dim3(32, 3, 1));
    test_refined_blocks<Real, 8>(dim3(32, 1, 1));
}

/* ---- lane scope in a kernel ------------------------------------------------------------------------------------- */

enum lane_way { LANE_THOMAS, LANE_FACTORED, LANE_WAYS };

/* Solves one system per thread, in memory, where the threads' systems are interleaved. work: four arrays of
   all.elements. */
template <class Real>
GPU_KERNEL void solve_in_lanes(view<Real> all, Real *work)
{
    size_t t = thread_of_grid(), e = all.elements;
    long long stride = (long long)all.threads;
    int n = all.n[t];
    all.status[t] = trid_lane_thomas(n, all.a + t, all.b + t, all.c + t, all.d + t, all.x + t, work + t, stride);
    Real *l = work + e + t, *r = work + 2 * e + t, *q = work + 3 * e + t, *x = all.x + e + t;
    int status = trid_lane_factor(n, all.a + t, all.b + t, all.c + t, l, r, q, stride);
    if (!status) trid_lane_solve(n, l, r, q, all.d + t, x, stride);
    all.status[all.threads + t] = status;
}

template <class Real>
void test_lanes()
{
    enum { THREADS = 32, ROWS = 40 };
    case_random random = {SEED + 8};
    batch<Real> systems(ROWS, THREADS);
    for (int i = 0; i < THREADS; i++) systems.add_random(&random, i < 8 ? i : ROWS - i % 5, 1.25);
    device_array<Real> work(std::vector<Real>(4 * systems.elements(), (Real)NAN));
    size_t e = systems.elements();
    device_array<int> n(systems.claimed), status(std::vector<int>(LANE_WAYS * THREADS, -99));
    device_array<Real> a(gather(systems, &case_system::a)), b(gather(systems, &case_system::b));
    device_array<Real> c(gather(systems, &case_system::c)), d(gather(systems, &case_system::d));
    device_array<Real> x(std::vector<Real>(LANE_WAYS * e, Real(0)));
    view<Real> on_device = {n.data, a.data, b.data, c.data, d.data, x.data, status.data, status.data, e, THREADS};
    auto kernel = solve_in_lanes<Real>;
    GPU_LAUNCH(kernel, 1, THREADS, 0, 0)(on_device, work.data);
    GPU_OK(cudaGetLastError());
    GPU_OK(cudaDeviceSynchronize());
    outcome<Real> got = {x.download(), status.download(), {}, e, THREADS};
    check_batch(got, systems, LANE_WAYS, "lane");
}

/* ---- the reciprocal --------------------------------------------------------------------------------------------- */

template <class Real>
GPU_KERNEL void take_reciprocals(int n, const Real *x, Real *y)
{
    size_t i = thread_of_grid();
    if (i < (size_t)n) y[i] = trid_rcp(x[i]);
}

template <class Real>
void test_reciprocal()
{
    case_random random = {SEED + 9};
    std::vector<Real> x;
    int range = is_float(Real()) ? 125 : 1021;
    for (int i = 0; i < 4096; i++) {
        double mantissa = case_between(&random, 1, 2) * (i % 2 ? 1 : -1);
        x.push_back((Real)ldexp(mantissa, case_below(&random, 2 * range) - range));
    }
    for (int e = -range; e <= range; e++) x.push_back((Real)ldexp(1.0, e));
    x.push_back((Real)INFINITY);
    x.push_back((Real)NAN);
    x.push_back(0);
    device_array<Real> from(x), to(x);
    auto kernel = take_reciprocals<Real>;
    GPU_LAUNCH(kernel, (int)(x.size() / 128 + 1), 128, 0, 0)((int)x.size(), from.data, to.data);
    GPU_OK(cudaGetLastError());
    std::vector<Real> y = to.download();
    for (size_t i = 0; i + 3 < x.size(); i++) {
        /* A unit in the last place is at most 2 roundoffs of the result; half a roundoff is a margin. */
        long double error = fabsl(y[i] * (long double)x[i] - 1);
        CHECK(error <= 2.5L * roundoff_of(Real()), "%s: 1 / %a is off by %Lg", type_of(Real()), (double)x[i], error);
    }
    size_t last = x.size() - 1;
    CHECK(!(y[last] < (Real)INFINITY), "1 / 0 is %g", (double)y[last]); /* inf, or NaN in double on the device */
    CHECK(isnan(y[last - 1]), "1 / NaN is %g", (double)y[last - 1]);
    CHECK(y[last - 2] == 0 || isnan(y[last - 2]), "1 / inf is %g", (double)y[last - 2]);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

template <class Real>
void test_all()
{
    test_reciprocal<Real>();
    test_lanes<Real>();
    test_warps<Real>();
    test_warp_block_shapes<Real>();
    test_early_stop_mixed_warp<Real>();
    test_warp_faults<Real, 1, 4>();
    test_warp_faults<Real, 3, 8>();
    test_warp_faults<Real, 8, 32>();
    test_warp_singular_pairs<Real, 1, 8>();
    test_warp_singular_pairs<Real, 3, 4>();
    test_pcrs<Real>();
    test_blocks<Real>();
    test_all_lines<Real>();
    test_refined<Real>();
}

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        check_skip(1, "test_trid: no GPU here");
        return check_report();
    }
    printf("seed %d\n", SEED);
    test_all<float>();
    test_all<double>();
    test_block_fails_between_warps<float>();
    test_block_fails_between_warps<double>();
#ifdef SIMT_EMULATOR /* once more, with lanes and warps in random order */
    simt_permute(SEED);
    test_all<float>();
    test_all<double>();
    simt_permute(0);
#endif
    test_warp<float, 32, 4>();
    test_warp<float, 32, 32>();
    test_early_stop_black_scholes<float>(1, 3);
    test_early_stop_black_scholes<double>(2, 4);
    test_lines_black_scholes<float>(1, 3);
    test_lines_black_scholes<double>(2, 4);
    return check_report();
}
