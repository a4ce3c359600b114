/* test_lsmc.cu - every rung of least-squares Monte Carlo, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   The reference is the plain C program, which test_lsmc_host.c compares with known answers. It draws the same random
   numbers, so prices agree to within rounding, unless an exercise pays as much as waiting does, to within
   rounding. */
#define LSMC_NO_MAIN
#define BS1D_NO_LAUNCHES /* the comparison with bs1d.h is the program's */
#include "../examples/american_lsmc.cu"
#include "../examples/american_lsmc_host.c"

#include "check.h"

#include <vector>

enum { SEED = 20011 };

static const char *const rung_name[RUNGS] = {"three", "two_atomic", "two", "one", "whole", "bridge"};

static const Option options[] = {
    {36, 40, 0.06, 0, 0.2, 1, 1}, {37, 40, 0.05, 0.01, 0.3, 2, 1}, {44, 40, 0.03, 0.07, 0.4, 0.5, 0}};
enum { OPTIONS = sizeof options / sizeof *options };

static host_option host_of(const Option &o)
{
    host_option h = {o.spot, o.strike, o.rate, o.dividend, o.volatility, o.maturity, o.put};
    return h;
}

static std::vector<double> fetch(const double *from, size_t count)
{
    std::vector<double> to(count);
    check(cudaMemcpy(to.data(), from, count * sizeof(double), cudaMemcpyDeviceToHost));
    return to;
}

/* As create, with NaN in memory that a run need not write. */
static Run created(const Option *option, int scenarios, int paths, int dates, int least, uint64_t seed)
{
    Run r = create(option, scenarios, paths, dates, least, seed);
    check(cudaMemset(r.fitted, 0xff, (size_t)scenarios * dates * COEFFICIENTS * sizeof *r.fitted));
    return r;
}

/* The regression alone, on points that determine all coefficients, only some of them, or all of them badly. */
template <int D>
static void regression(void)
{
    enum { N = 24 };
    static const double places[][2] = {{-0.5, 0}, {-0.25, -0.25}, {-0.5, -0.125}, {-0.25, -0.2500001}, {0.125, 0.375}};
    for (int trial = 0; trial < 5; trial++) {
        double sum[SUMS] = {0}, c[D + 1], want[D + 1];
        for (int i = 0; i < N; i++) {
            const double share = trial == 0 ? (i + 1) / (double)N : i % 2; /* many places, or two */
            const double x = places[trial][0] * share + places[trial][1] * (1 - share), y = exp(x) + i % 3;
            double power = 1;
            for (int k = 0; k <= 2 * D; k++, power *= x) {
                sum[k] += power;
                if (k <= D) sum[2 * D + 1 + k] += power * y;
            }
        }
        fit<D>(sum, N, c);
        host_fit(D, sum, sum + 2 * D + 1, want);
        /* Both eliminate in the same order and differ only in the rounding of multiply-adds, which the smallest pivot
           magnifies: about 1e-5 with many places. Two places leave pivots of 0 or 4e-14, which are below the
           threshold. */
        for (int k = 0; k <= D; k++) check_near(c[k], want[k], 1e-8, "fit of degree %d, trial %d, x^%d", D, trial, k);
        fit<D>(sum, N + 1, c);
        for (int k = 0; k <= D; k++) CHECK(k ? c[k] == 0 : c[k] == INFINITY, "fit of too few points, x^%d", k);
    }
}

/* The larger of worst and |error|; NaN if either is. */
static double larger(double worst, double error)
{
    return worst != worst || fabs(error) <= worst ? worst : fabs(error);
}

/* The reference's results for all options on these paths. */
struct Reference {
    std::vector<double> w, second, c[OPTIONS];
    host_result price[OPTIONS], lower[OPTIONS];
};

static Reference reference(int paths, int dates, int degree, int least)
{
    Reference all;
    std::vector<double> cash((size_t)paths);
    all.w.resize((size_t)paths * dates);
    all.second.resize((size_t)paths * dates);
    host_paths(SEED, 0, paths, dates, all.w.data());
    host_paths(SEED, 1, paths, dates, all.second.data());
    for (int i = 0; i < OPTIONS; i++) {
        host_option o = host_of(options[i]);
        all.c[i].resize((size_t)dates * COEFFICIENTS);
        all.price[i] = host_price(&o, paths, dates, degree, least, all.w.data(), all.c[i].data(), cash.data());
        all.lower[i] = host_lower(&o, paths, dates, degree, all.second.data(), all.c[i].data());
    }
    return all;
}

/* Compares results of a run with the reference: prices and errors to 1e-12 of the strike. The error is the root of a
   difference of squares, so its square is compared. */
static void compare(const Run &r, const host_result *want, const char *what, int degree)
{
    Result got[OPTIONS];
    results(r, got);
    for (int i = 0; i < OPTIONS; i++) {
        const double strike = options[i].strike;
        check_near(got[i].price, want[i].price, 1e-12 * strike, "%s, degree %d, %d paths, %d dates: price %d", what,
                   degree, r.paths, r.dates, i);
        check_near(got[i].error * got[i].error, want[i].error * want[i].error, 1e-12 * strike * strike,
                   "%s, degree %d, %d paths, %d dates: error %d", what, degree, r.paths, r.dates, i);
    }
}

static void against_reference(int paths, int dates, int degree, int least)
{
    const Reference want = reference(paths, dates, degree, least);
    for (int rung = 0; rung < RUNGS; rung++) {
        const char *name = rung_name[rung];
        Run r = created(options, OPTIONS, paths, dates, least, SEED);
        if (!run((Rung)rung, degree, r, 0)) {
            check_skip(1, "%s: %d paths do not fit", name, paths);
            destroy(&r);
            continue;
        }
        compare(r, want.price, name, degree);
        if (rung != BRIDGE) {
            /* Each date is drawn from the one after it, so rounding is carried on, and shrinks. */
            std::vector<double> w = fetch(r.w, (size_t)paths * dates);
            double worst = 0;
            for (size_t i = 0; i < w.size(); i++) worst = larger(worst, (w[i] - want.w[i]) / sqrt((double)dates));
            check_near(worst, 0, 1e-14, "%s: Brownian paths, %d dates", name, dates);
        }
        std::vector<double> c = fetch(r.fitted, (size_t)OPTIONS * dates * COEFFICIENTS);
        for (int i = 0; i < OPTIONS; i++) {
            for (int date = 1; date < dates; date++) {
                const double *mine = &c[((size_t)i * dates + date - 1) * COEFFICIENTS];
                const double *its = &want.c[i][(size_t)(date - 1) * (degree + 1)];
                CHECK((mine[0] == INFINITY) == (its[0] == INFINITY), "%s: is there exercise on date %d", name, date);
                if (its[0] == INFINITY) continue;
                /* Not the coefficients are compared, but the polynomials' values where the paths are. Elsewhere the
                   polynomials of early dates, fitted to a small interval, magnify rounding a millionfold. Where the
                   paths are, they magnify it by root(h n / p): h n, the weight of the outermost of n paths in its own
                   value, is some hundreds, and p, the smallest pivot, some 1e-5. That makes 1e-11 of 1e-15; two orders
                   of summation on one host differed by 7e-12. The rest is room for multiply-adds and other sines. */
                const host_option o = host_of(options[i]);
                const int stride = paths > 1000 ? 17 : 1;
                double worst = 0;
                for (int p = 0; p < paths; p += stride) {
                    const double x = host_position(&o, dates, date, want.w[(size_t)(date - 1) * paths + p]);
                    if (!(host_payoff(&o, x) > 0)) continue;
                    worst = larger(worst, host_continuation(degree, mine, x) - host_continuation(degree, its, x));
                }
                check_near(worst, 0, 1e-9, "%s, degree %d, %d paths: waiting at date %d, option %d", name, degree,
                           paths, date, i);
            }
        }
        run_second(degree, r, 0);
        compare(r, want.lower, "second pass", degree);
        destroy(&r);
    }
}

/* One run with different numbers of blocks: paths must not depend on them, and sums only in their rounding. */
static void shapes(void)
{
    enum { PATHS = 1100, DATES = 5, DEGREE = 3 };
    for (int rung = 0; rung < RUNGS; rung++) {
        Result first[OPTIONS] = {}, again[OPTIONS];
        std::vector<double> w;
        for (int blocks = 1; blocks <= 5; blocks += 2) {
            Run r = created(options, OPTIONS, PATHS, DATES, DEGREE + 2, SEED);
            if (r.blocks > blocks) r.blocks = blocks;
            r.processors = OPTIONS * 5; /* room for all of these blocks */
            CHECK(run((Rung)rung, DEGREE, r, 0), "%s does not run in %d blocks", rung_name[rung], blocks);
            results(r, again);
            if (rung != BRIDGE) {
                std::vector<double> now = fetch(r.w, (size_t)PATHS * DATES);
                CHECK(w.empty() || w == now, "paths depend on the grid");
                w = now;
            }
            destroy(&r);
            for (int i = 0; i < OPTIONS; i++) {
                if (blocks == 1) first[i] = again[i];
                check_near(again[i].price, first[i].price, 1e-13 * options[i].strike, "%s in %d blocks",
                           rung_name[rung], blocks);
            }
        }
    }
}

/* The paper's example, whose paths are given. */
static void eight_paths(void)
{
    enum { PATHS = 8, DATES = 3 };
    static const double s[DATES][PATHS] = {{1.09, 1.16, 1.22, 0.93, 1.11, 0.76, 0.92, 0.88},
                                           {1.08, 1.26, 1.07, 0.97, 1.56, 0.77, 0.84, 1.22},
                                           {1.34, 1.54, 1.03, 0.92, 1.52, 0.90, 1.01, 1.34}};
    static const double known[2][3] = {{2.0375123424, -3.3354434031, 1.3564565881},
                                       {-1.0699876553, 2.9834106259, -1.8135761829}};
    const Option option = {1, 1.1, 0.06, 0, 1, 3, 1};
    double w[PATHS * DATES];
    for (int i = 0; i < PATHS * DATES; i++) w[i] = log(s[i / PATHS][i % PATHS]) + 0.44 * (i / PATHS + 1);
    for (int rung = 0; rung < BRIDGE; rung++) {
        for (int european = 0; european < 2; european++) {
            Result result;
            Run r = created(&option, 1, PATHS, DATES, european ? PATHS + 1 : 4, SEED);
            r.given = 1;
            check(cudaMemcpy(r.w, w, sizeof w, cudaMemcpyHostToDevice));
            run((Rung)rung, 2, r, 0);
            results(r, &result);
            check_near(result.price, european ? 0.056380739270 : 0.114434330045, 1e-12, "%s, eight paths, %s",
                       rung_name[rung], european ? "European" : "American");
            std::vector<double> c = fetch(r.fitted, 2 * COEFFICIENTS);
            for (int date = 1; date <= 2 && !european; date++) {
                const double *x = &c[(size_t)(date - 1) * COEFFICIENTS]; /* in powers of S/K - 1; known: of S */
                check_near(1.1 * (x[0] - x[1] + x[2]), known[date - 1][0], 1e-10, "regression at %d", date);
                check_near(x[1] - 2 * x[2], known[date - 1][1], 1e-10, "regression at %d, S", date);
                check_near(x[2] / 1.1, known[date - 1][2], 1e-10, "regression at %d, S^2", date);
            }
            destroy(&r);
        }
    }
}

/* Without volatility all paths are the same, and the regression has one point. The put is exercised on the first
   date. */
static void certain(void)
{
    enum { PATHS = 300, DATES = 6 };
    const Option put = {36, 40, 0.06, 0, 0, 1, 1};
    for (int rung = 0; rung < RUNGS; rung++) {
        for (int degree = 2; degree <= MAX_DEGREE; degree++) {
            Result result;
            Run r = created(&put, 1, PATHS, DATES, degree + 2, SEED);
            run((Rung)rung, degree, r, 0);
            results(r, &result);
            destroy(&r);
            check_near(result.price, 40 * exp(-0.06 / DATES) - 36, 1e-12, "%s, certain, degree %d", rung_name[rung],
                       degree);
        }
    }
}

/* More paths than shared memory holds: `whole` uses device memory, and `bridge` declines. */
static void beyond(void)
{
    enum { DATES = 3, DEGREE = 2 };
#ifdef SIMT_EMULATOR
    const int paths = 5000;
#else
    int processors;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    const int paths = 2 * processors * THREADS * 24;
#endif
    const Reference want = reference(paths, DATES, DEGREE, DEGREE + 2);
    Run r = created(options, OPTIONS, paths, DATES, DEGREE + 2, SEED);
    CHECK(!run(BRIDGE, DEGREE, r, 0), "bridge took %d paths", paths);
    CHECK(run(WHOLE, DEGREE, r, 0), "whole did not take %d paths", paths);
    compare(r, want.price, "whole, beyond shared memory", DEGREE);
    destroy(&r);
}

#ifndef SIMT_EMULATOR
/* The size of the table, and the paper's four puts with enough paths to show the method's bias. */
static void large(void)
{
    static const double exact[] = {4.477811, 8.506783, 2.314068, 5.641236};
    static const Option puts[] = {{36, 40, 0.06, 0, 0.2, 1, 1},
                                  {36, 40, 0.06, 0, 0.4, 2, 1},
                                  {40, 40, 0.06, 0, 0.2, 1, 1},
                                  {44, 40, 0.06, 0, 0.4, 2, 1}};
    for (int i = 0; i < 4; i++) {
        Result result;
        Run r = created(&puts[i], 1, 1 << 20, (int)(50 * puts[i].maturity), 5, 1);
        run(WHOLE, 3, r, 0);
        results(r, &result);
        CHECK(result.price > 0.997 * exact[i] && result.price < exact[i] + 3 * result.error, "put %d: %.6f +- %.6f", i,
              result.price, result.error);
        run_second(3, r, 0);
        results(r, &result);
        CHECK(result.price > 0.997 * exact[i] - 3 * result.error && result.price < exact[i] + 3 * result.error,
              "put %d, second pass: %.6f +- %.6f", i, result.price, result.error);
        destroy(&r);
    }
    against_reference(32768, 100, 2, 4);
    against_reference(32768, 100, 4, 6);
}
#endif

int main(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 3}, {31, 2}, {257, 4}, {1000, 9}};
    for (const auto &size : sizes)
        for (int degree = 2; degree <= MAX_DEGREE; degree++) against_reference(size[0], size[1], degree, degree + 2);
    regression<2>();
    regression<3>();
    regression<4>();
    against_reference(300, 4, 3, 301); /* never enough paths in the money: European */
    shapes();
    eight_paths();
    certain();
    beyond();
#ifdef SIMT_EMULATOR
    check_skip(2, "2^20 paths, and blocks that meet in a cooperative kernel: they need a GPU");
#else
    if (check_short())
        check_skip(1, "many paths: SHORT_TESTS is set");
    else
        large();
#endif
    return check_report();
}
