/* test_adi2d_models.cu - pde/adi2d.h on chip: the examples' models against the host, to within rounding.
   MIT licence, see LICENSE. */
#include "device_adi2d.h"

#include "../examples/heston_model.h"
#include "../examples/locvol_problems.h"

SOLVER(locvol, onchip, onchip_bytes, f32, float)
SOLVER(locvol, onchip, onchip_bytes, f64, double)
SOLVER(heston, onchip, onchip_bytes, f64, double)

/* Results of one solver. */
template <class Parameters, class Real>
struct results {
    std::vector<fd_status> status;
    std::vector<fd_values> values;
    std::vector<Real> grid;
    template <class Solve>
    results(fd_batch batch, const std::vector<Parameters> &parameters, Solve solve)
        : status((size_t)batch.problems), values((size_t)batch.problems),
          grid((size_t)batch.problems * (size_t)batch.points[0] * (size_t)batch.points[1])
    {
        batch.status = status.data(), batch.values = values.data(), batch.grid = grid.data();
        CHECK(solve(&batch, parameters.data()) == 0, "launch");
    }
};

/* Returns the largest difference between two grids, relative to the largest number. */
template <class Parameters, class One, class Other>
static double difference(const results<Parameters, One> &one, const results<Parameters, Other> &other)
{
    double worst = 0, largest = 0;
    for (size_t at = 0; at < one.grid.size(); at++) {
        const double x = (double)one.grid[at], off = fabs(x - (double)other.grid[at]);
        if (!(off <= worst)) worst = off;
        if (fabs(x) > largest) largest = fabs(x);
    }
    return worst / largest;
}

static int locvol_on_host(const fd_batch *batch, const locvol_parameters *parameters)
{
    std::vector<double> memory(locvol_host_bytes_f64(batch, 1) / sizeof(double) + 1);
    return locvol_host_f64(batch, parameters, 1, memory.data(), memory.size() * sizeof(double));
}

static int heston_on_host(const fd_batch *batch, const heston_parameters *parameters)
{
    std::vector<double> memory(heston_host_bytes_f64(batch, 1) / sizeof(double) + 1);
    return heston_host_f64(batch, parameters, 1, memory.data(), memory.size() * sizeof(double));
}

/* Compares some problems of the benchmark, in both precisions, by products of factors and by stages. The tolerances are
   those of the benchmark, whose values are up to 0.1. */
static void locvol_set_there(const locvol_set &set)
{
    std::vector<fd_problem> problem((size_t)set.outer);
    std::vector<locvol_parameters> parameters((size_t)set.outer);
    double spot[2];
    CHECK(!locvol_problems(&set, problem.data(), parameters.data(), spot), "problems");
    fd_batch batch = {set.outer, {set.numx, set.numy}, set.numt - 1,  0, 1, problem.data(), NULL, NULL,
                      NULL,      {NULL},               ADI2D_PRODUCTS};
    const results<locvol_parameters, double> host(batch, parameters, locvol_on_host);
    for (int kind = ADI2D_ONE_STAGE; kind <= ADI2D_PRODUCTS; kind++) {
        batch.kind = kind;
        const results<locvol_parameters, double> f64(batch, parameters, locvol_onchip_solver_f64);
        const results<locvol_parameters, float> f32(batch, parameters, locvol_onchip_solver_f32);
        for (int k = 0; k < set.outer; k++) {
            const size_t at = (size_t)k;
            CHECK(!host.status[at].what && !f64.status[at].what && !f32.status[at].what, "%s %d: %d %d %d", set.name, k,
                  host.status[at].what, f64.status[at].what, f32.status[at].what);
            check_near(f64.values[at].value, host.values[at].value, 1e-11, "%s %d, kind %d", set.name, k, kind);
            check_near(f32.values[at].value, host.values[at].value, 5e-6, "%s %d, kind %d, single precision", set.name,
                       k, kind);
        }
        check_near(difference(host, f64), 0, 1e-11, "%s, kind %d: the grids", set.name, kind);
        /* With steps of two years and more, rounding errors are large. */
        check_near(difference(host, f32), 0, 1e-3, "%s, kind %d: the grids, single precision", set.name, kind);
    }
}

static void benchmark()
{
    /* From 4 points to 512 a side. */
    static const locvol_set some[] = {{"least", 2, 4, 4, 4},      {"flat", 1, 257, 5, 3}, {"steep", 1, 6, 255, 3},
                                      {"widest", 1, 512, 4, 3},   {"odd", 2, 33, 63, 3},  {"power", 1, 64, 128, 3},
                                      {"tallest", 1, 31, 512, 3}, {"even", 1, 130, 68, 3}};
    for (size_t s = 0; s < sizeof some / sizeof *some; s++) locvol_set_there(some[s]);
#ifndef SIMT_EMULATOR
    for (int s = 0; s < 3; s++) {
        locvol_set set = locvol_sets[s];
        if (s == 2) set.outer = 32; /* the host is slow */
        locvol_set_there(set);
    }
#endif
}

/* Compares Heston prices for different parameters, some of American puts, with the host's. One grid is too large for
   any block, and is marched in device memory. */
static void heston_there()
{
    enum { COUNT = 4, STEPS = 6 };
    const double spot[2] = {100, 0.04};
    for (int large = 0; large < 2; large++) {
        std::vector<fd_problem> problem(COUNT);
        std::vector<heston_parameters> parameters(COUNT);
        for (int k = 0; k < COUNT; k++) {
            fd_problem &p = problem[(size_t)k];
            const fd_axis price = {0, 300, large ? 700 : 40 - 3 * k, 1, {100, 0, 0}, {10, 0, 0}, {FD_MIDWAY, 0, 0}};
            const fd_axis variance = {0, 0.5, 20 + k, 1, {0.04, 0, 0}, {0.2, 0, 0}, {FD_ON_NODE, 0, 0}};
            memset(&p, 0, sizeof p);
            p.axis[0] = price, p.axis[1] = variance, p.face[1][0] = FD_DEGENERATE;
            const fd_times times = {1, STEPS, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(k, 2, 1), 4, 0, NULL, NULL};
            p.times = times, p.scheme = k, p.finals = FD_AVERAGED_X, p.spot = spot;
            p.exercise = k % 2 ? FD_AMERICAN : FD_EUROPEAN;
            heston_parameters q = {100, 1.5 + k, 0.04, 0.3 + 0.1 * k, -0.9 + 0.2 * k, 0.025, 0, k % 2};
            parameters[(size_t)k] = q;
        }
        const int count = large ? 1 : COUNT;
        const fd_batch batch = {count, {large ? 700 : 40, 23}, STEPS + 4,       0, 1, problem.data(), NULL, NULL,
                                NULL,  {NULL},                 ADI2D_TWO_STAGES};
        const results<heston_parameters, double> host(batch, parameters, heston_on_host);
        const results<heston_parameters, double> there(batch, parameters, heston_onchip_solver_f64);
        for (size_t k = 0; k < (size_t)count; k++) {
            const fd_values &x = host.values[k], &y = there.values[k];
            CHECK(!host.status[k].what && !there.status[k].what, "Heston %d: %d %d", (int)k, host.status[k].what,
                  there.status[k].what);
            check_near(y.value, x.value, 1e-11 * 100, "Heston %d", (int)k);
            check_near(y.first[0], x.first[0], 1e-10, "Heston %d, delta", (int)k);
            check_near(y.first[1], x.first[1], 1e-9 * 100, "Heston %d, along the variance", (int)k);
        }
    }
}

int main()
{
    benchmark();
    heston_there();
    return check_report();
}
