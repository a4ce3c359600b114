/* test_pivoted.cu - the pivoted solver of trid.h in warps and in blocks, in both precisions.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). A test makes a batch of systems,
   launches a kernel that solves one in each group of lanes or in each block, and looks at residuals, at errors beside
   those of LAPACK's algorithm, and at who reports what. What lies beyond a system's rows, and its corners, is NaN on
   the device: nobody may read it. */
#include "trid.h"
#include "trid/pivoted.h"

#include "check.h"
#include "device_batch.h"
#include "pivoted_cases.h"

enum { SEED = 20240816 };

static int gtsv(case_system s, float *x, float *work)
{
    return pivoted_gtsv_f32(s, x, work);
}
static int gtsv(case_system s, double *x, double *work)
{
    return pivoted_gtsv_f64(s, x, work);
}

/* ---- kernels over batches ---------------------------------------------------------------------------------------- */

template <class Real, int K, int W>
GPU_KERNEL void solve_in_warps(view<Real> all)
{
    size_t thread = thread_of_grid(), first = K * thread;
    rows<Real, K> my;
    my.load(all, first);
    int status = trid_warp_pivoted(K, W, all.n[thread / W], my.a, my.b, my.c, my.d);
    my.store(all, 0, first, status);
}

/* Solves twice, in two arrays of shared memory in turn, without a barrier in between. */
template <class Real, int K>
GPU_KERNEL void solve_in_blocks(view<Real> all)
{
    GPU_DYNAMIC_SHARED(memory);
    size_t first = K * thread_of_grid();
    Real *shared = (Real *)memory;
    rows<Real, K> my;
    my.load(all, first);
    int status = trid_block_pivoted(K, all.n[blockIdx.x], my.a, my.b, my.c, my.d, shared);
    my.store(all, 0, first, status);
    my.load(all, first);
    int again = trid_block_pivoted(K, all.n[blockIdx.x], my.a, my.b, my.c, my.d, shared + TRID_BLOCK_PIVOTED_LEN);
    for (int j = 0; j < K; j++)
        if (all.x[first + j] != my.d[j] && my.d[j] == my.d[j]) again = -98;
    my.store(all, 0, first, again == status ? status : -98);
}

template <class Real, int K, int W>
outcome<Real> run_in_warps(batch<Real> &systems)
{
    systems.fill_up(64 / W);
    return run(solve_in_warps<Real, K, W>, 1, systems, systems.count() * W / 64, dim3(64, 1, 1), 0);
}

template <class Real, int K>
outcome<Real> run_in_blocks(batch<Real> &systems, int threads)
{
    return run(solve_in_blocks<Real, K>, 1, systems, systems.count(), dim3((unsigned)threads, 1, 1),
               2 * TRID_BLOCK_PIVOTED_LEN * sizeof(Real));
}

/* ---- what every solution must be --------------------------------------------------------------------------------- */

/* Returns the residual allowed: the backward error of elimination with multipliers of at most 1, a few more roundings
   for each level of the tree, and the fast reciprocal. */
template <class Real>
void check_solved(const outcome<Real> &got, const batch<Real> &of, int i, const char *test)
{
    const case_system s = of.systems[i];
    int failed = 0, nonzero = 0, lanes = got.lanes(of);
    for (int t = 0; t < lanes; t++) failed += got.status_of(0, (size_t)i * lanes + t) != 0;
    CHECK(failed == 0, "%s %s system %d n %d: %d threads report a failure, the first has %d", test, type_of(Real()), i,
          s.n, failed, got.status_of(0, (size_t)i * lanes));
    long double residual = case_residual(s, got.solution(of, 0, i).data());
    CHECK(residual <= (10 + log2(s.n + 1.0)) * roundoff_of(Real()), "%s %s system %d n %d: residual %Lg", test,
          type_of(Real()), i, s.n, residual);
    for (int j = s.n; j < of.slot; j++) nonzero += got.at(of, 0, i, j) != 0;
    CHECK(nonzero == 0, "%s %s system %d n %d: %d rows beyond n are not 0", test, type_of(Real()), i, s.n, nonzero);
}

template <class Real>
void check_all_solved(const outcome<Real> &got, const batch<Real> &of, const char *test)
{
    for (int i = 0; i < of.count(); i++) check_solved(got, of, i, test);
}

/* Makes random entries of random sign; without `diagonal` and for even n, the diagonal is 0 (for odd n that would be
   singular). */
static case_system random_system(case_random *random, int n, bool diagonal)
{
    case_system s = case_new(n);
    for (int j = 0; j < n; j++) {
        s.a[j] = case_between(random, -1, 1);
        s.b[j] = diagonal ? case_between(random, -1, 1) : 0;
        s.c[j] = case_between(random, -1, 1);
        s.d[j] = case_between(random, -1, 1);
    }
    case_close_corners(s);
    return s;
}

template <class Real, int K, int W>
void test_warp()
{
    case_random random = {SEED + 100 * K + W};
    batch<Real> systems(K * W);
    for (int n : lengths(K, K * W, 70, 3, &random)) {
        systems.add(random_system(&random, n, true));
        if (n % 2 == 0) systems.add(random_system(&random, n, false));
        if (n % 4 == 1) systems.add(case_far_reaching(&random, n, 1e-6, 0));
        if (n == 0) systems.claimed.back() = -3; /* as empty as 0 */
    }
    check_all_solved(run_in_warps<Real, K, W>(systems), systems, "warp");
}

template <class Real, int K>
void test_block(int threads)
{
    case_random random = {SEED + 1000 * K + (unsigned long long)threads};
    const int most = K * threads, sizes[] = {most, most - 1, most / 2 + 1, 32 * K + 1, 32 * K, 5, 1, 0};
    batch<Real> systems(most);
    for (int n : sizes) {
        if (n > most) continue;
        systems.add(random_system(&random, n, true));
        if (n % 2 == 0) systems.add(random_system(&random, n, false));
        if (n == 0) systems.claimed.back() = -3;
    }
    check_all_solved(run_in_blocks<Real, K>(systems, threads), systems, "block");
}

/* Tests the 20 matrices: residuals of all, and errors beside those of LAPACK's algorithm where the condition number
   leaves some digits that do not depend on chance; test_pivoted_host.c compares the others. */
template <class Real>
void check_the_20(const outcome<Real> &got, const batch<Real> &of, const char *test)
{
    for (int i = 0; i < 20; i++) {
        const case_system s = of.systems[i];
        int single = sizeof(Real) == 4 && (i + 1 == 1 || i + 1 == 4),
            chance = (i + 1 >= 8 && i + 1 <= 15) || i + 1 == 5;
        check_solved(got, of, i, test);
        if (chance || single) continue;
        std::vector<case_wide> y(s.n), work_wide(3 * s.n);
        std::vector<Real> lapack(s.n), work(3 * s.n);
        CHECK(pivoted_gtsv_wide(s, y.data(), work_wide.data()) == 0, "matrix %d: singular", i + 1);
        gtsv(s, lapack.data(), work.data());
        double best = pivoted_error(s.n, std::vector<double>(lapack.begin(), lapack.end()).data(), y.data());
        double error = pivoted_error(s.n, got.solution(of, 0, i).data(), y.data());
        /* In matrix 16 LAPACK's algorithm rounds almost nothing; its condition number, 327, gives the error to
           expect. */
        double allowed = i + 1 == 16 ? 327 * roundoff_of(Real()) : 10 * best + 4 * roundoff_of(Real());
        CHECK(error <= allowed, "%s %s matrix %d (%s): error %g, LAPACK's %g", test, type_of(Real()), i + 1,
              pivoted_name[i], error, best);
    }
}

template <class Real>
void test_the_20()
{
    batch<Real> systems(512);
    for (int number = 1; number <= 20; number++) systems.add(pivoted_matrix(number, 512, SEED));
    check_the_20(run_in_warps<Real, 16, 32>(systems), systems, "warp of 16 rows a lane");
    check_the_20(run_in_blocks<Real, 4>(systems, 128), systems, "block of 4 rows a thread");
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

enum fault { NAN_IN_A, NAN_IN_B, INF_IN_C, ZERO_ROW, ZERO_COLUMN, SINGULAR_PAIR, NAN_IN_D, TOO_MANY_ROWS, FAULTS };

template <class Real>
void plant(batch<Real> &systems, int i, int fault, int row)
{
    case_system &s = systems.systems[i];
    if (fault == NAN_IN_A) s.a[row > 0 ? row : 1] = NAN;
    if (fault == NAN_IN_B) s.b[row] = NAN;
    if (fault == INF_IN_C) s.c[row < s.n - 1 ? row : row - 1] = INFINITY;
    if (fault == NAN_IN_D) s.d[row] = NAN;
    if (fault == ZERO_ROW) s.a[row] = s.b[row] = s.c[row] = 0;
    if (fault == ZERO_COLUMN) {
        s.b[row] = 0;
        if (row > 0) s.c[row - 1] = 0;
        if (row < s.n - 1) s.a[row + 1] = 0;
    }
    if (fault == SINGULAR_PAIR) {
        case_system pair = case_singular_pair(s.n, row < s.n - 1 ? row : row - 1);
        case_free(s);
        s = pair;
    }
    if (fault == TOO_MANY_ROWS) systems.claimed[i] = systems.slot + 1 + i;
}

/* Tests a fault in each row of every second system: some lane of that system reports it, and no lane of another. */
template <class Real>
void check_faults(const outcome<Real> &got, const outcome<Real> &clean, const batch<Real> &of, int fault,
                  const char *test)
{
    for (int i = 0; i < of.count(); i++) {
        const case_system s = of.systems[i];
        int named = 0, refused = 0, strange = 0, lanes = got.lanes(of);
        for (int t = 0; t < lanes; t++) {
            int status = got.status_of(0, (size_t)i * lanes + t);
            named += status == 1;
            refused += status == TRID_BAD_ARGUMENT;
            strange += status < -1 || status > 1;
        }
        if (i % 2 == 0 || s.n == 0) {
            CHECK(named + refused + strange == 0 && same_rows(got, 0, clean, 0, of, i),
                  "%s %s fault %d: sound system %d n %d notices its neighbour", test, type_of(Real()), fault, i, s.n);
        } else if (fault == TOO_MANY_ROWS) {
            CHECK(refused == lanes, "%s %s: %d of %d lanes refuse n = %d", test, type_of(Real()), refused, lanes,
                  of.claimed[i]);
        } else if (fault == NAN_IN_D) {
            CHECK(named + refused + strange == 0, "%s %s system %d: NaN in d is called a failure", test,
                  type_of(Real()), i);
            int lost = 1;
            for (double x : got.solution(of, 0, i)) lost = lost && isfinite(x);
            CHECK(!lost, "%s %s system %d: NaN in d has vanished", test, type_of(Real()), i);
        } else {
            CHECK(named > 0 && refused + strange == 0,
                  "%s %s fault %d system %d n %d: %d lanes say 1, %d what is no status", test, type_of(Real()), fault,
                  i, s.n, named, refused + strange);
        }
    }
}

template <class Real>
void add_sound(batch<Real> &systems, case_random *random, int count)
{
    for (int i = 0; i < count; i++)
        systems.add(random_system(random, i % 8 == 3 ? systems.slot / 2 + 1 : systems.slot - i % 3, true));
}

template <class Real, class Run>
void test_faults_in(Run run, int slot, int count, const char *test)
{
    for (int fault = 0; fault < FAULTS; fault++) {
        case_random random = {SEED + 3};
        batch<Real> systems(slot);
        add_sound(systems, &random, count);
        outcome<Real> clean = run(systems);
        for (int i = 1; i < count; i += 2) { /* from both ends inward */
            int n = systems.systems[i].n, row = i / 4 % n;
            plant(systems, i, fault, i % 4 == 1 ? row : n - 1 - row);
        }
        check_faults(run(systems), clean, systems, fault, test);
    }
}

/* Tests equal rows p and p+1, and infinity on the diagonal of row p: wherever it is met, within a lane, between lanes
   or between warps, some lane reports it. */
template <class Real, class Run>
void test_pairs_in(Run run, int slot, const char *test)
{
    case_random random = {SEED + 4};
    batch<Real> systems(slot);
    for (int i = 0; i < 2 * (slot - 1); i++) {
        int p = i / 2, n = slot - (p + 2 < slot ? p % 2 : 0);
        systems.add(i % 2 ? random_system(&random, n, true) : case_singular_pair(n, p));
        if (i % 2) systems.systems[i].b[p] = INFINITY;
    }
    outcome<Real> got = run(systems);
    for (int i = 0; i < 2 * (slot - 1); i++) {
        int named = 0, strange = 0, lanes = got.lanes(systems), n = systems.systems[i].n;
        for (int t = 0; t < lanes; t++) {
            int status = got.status_of(0, (size_t)i * lanes + t);
            named += status == 1;
            strange += status < 0 || status > 1;
        }
        CHECK(named > 0 && strange == 0, "%s %s rows %d of %d, %s: %d lanes say 1, %d what is no status", test,
              type_of(Real()), i / 2, n, i % 2 ? "inf" : "equal", named, strange);
    }
}

template <class Real, int K, int W>
void test_faults()
{
    auto run = [](batch<Real> &systems) { return run_in_warps<Real, K, W>(systems); };
    test_faults_in<Real>(run, K * W, 2 * K * W < 80 ? 2 * K * W : 80, "warp");
}

template <class Real>
void test_all()
{
    test_warp<Real, 1, 2>();
    test_warp<Real, 1, 32>();
    test_warp<Real, 2, 2>();
    test_warp<Real, 2, 32>();
    test_warp<Real, 3, 4>();
    test_warp<Real, 3, 16>();
    test_warp<Real, 5, 8>();
    test_warp<Real, 7, 32>();
    test_warp<Real, 8, 2>();
    test_warp<Real, 8, 32>();
    test_warp<Real, 13, 4>();
    test_warp<Real, 16, 16>();
    test_warp<Real, 32, 2>();
    test_block<Real, 1>(32);
    test_block<Real, 1>(96);
    test_block<Real, 2>(64);
    test_block<Real, 3>(160);
    test_block<Real, 5>(256);
    test_the_20<Real>();
    test_faults<Real, 1, 8>();
    test_faults<Real, 3, 8>();
    test_faults<Real, 4, 32>();
    test_faults_in<Real>([](batch<Real> &systems) { return run_in_blocks<Real, 2>(systems, 96); }, 192, 16, "block");
    test_pairs_in<Real>([](batch<Real> &systems) { return run_in_warps<Real, 1, 8>(systems); }, 8, "warp");
    test_pairs_in<Real>([](batch<Real> &systems) { return run_in_warps<Real, 3, 8>(systems); }, 24, "warp");
    test_pairs_in<Real>([](batch<Real> &systems) { return run_in_blocks<Real, 1>(systems, 96); }, 96, "block");
}

int main()
{
    printf("seed %d\n", SEED);
    test_all<float>();
    test_all<double>();
    return check_report();
}
