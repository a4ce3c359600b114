/* test_adi2d_rungs.cu - pde/adi2d.h's rungs in device memory: the host's results, to their last digits; any size; and
   problems that fail beside others that do not.
   MIT licence, see LICENSE. */
#include "adi2d_orders.h"

#include "../examples/heston_model.h"
#include "../examples/locvol_problems.h"

#include "check.h"
#include "gpu.h"

#include <vector>

/* The functions of a model in a precision. */
template <class Parameters>
struct Functions {
    size_t (*host_bytes)(const fd_batch *, int);
    int (*host)(const fd_batch *, const Parameters *, int, void *, size_t);
    size_t (*bytes)(const fd_batch *);
    int (*rung[2])(const fd_batch *, const Parameters *, void *, size_t, cudaStream_t);
};
#define FUNCTIONS(model, p)                                                                                            \
    {                                                                                                                  \
        model##_host_bytes_##p, model##_host_##p, model##_rung_bytes_##p<>,                                            \
        {                                                                                                              \
            model##_naive_##p<>, model##_coalesced_##p<>                                                               \
        }                                                                                                              \
    }

template <class T>
static T *to_device(const std::vector<T> &from)
{
    T *p;
    GPU_OK(cudaMalloc((void **)&p, (from.size() + 1) * sizeof(T)));
    GPU_OK(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

static int same(double x, double y, double tolerance)
{
    return fabs(x - y) <= tolerance || (!(x - x >= 0) && !(y - y >= 0));
}

/* Compares both rungs with the host: grids, values and statuses. What the problems point to is in device memory as
   well. The tolerance is relative to `scale`, or to the largest value if that is larger. A GPU contracts operations
   that the host does not, and its reciprocals are a few units in the last place off, so results differ by some thousand
   roundings; under the emulator they do not differ. */
template <class Real, class Parameters>
static void compare(const char *name, fd_batch batch, const std::vector<fd_problem> &problems,
                    const std::vector<Parameters> &parameters, const Functions<Parameters> &f, double scale)
{
    const size_t n = problems.size(), dates = (size_t)batch.dates + 1;
    const size_t points = (size_t)batch.points[0] * (size_t)batch.points[1];
    std::vector<fd_status> status[2] = {std::vector<fd_status>(n), std::vector<fd_status>(n)};
    std::vector<fd_values> values[2] = {std::vector<fd_values>(n * dates), std::vector<fd_values>(n * dates)};
    std::vector<Real> grid[2] = {std::vector<Real>(n * dates * points), std::vector<Real>(n * dates * points)};
    batch.problems = (int)n;
    batch.problem = problems.data();
    batch.status = status[0].data(), batch.values = values[0].data(), batch.grid = grid[0].data();
    std::vector<double> memory(f.host_bytes(&batch, 1) / sizeof(double) + 1);
    CHECK(f.host(&batch, parameters.data(), 1, memory.data(), memory.size() * sizeof(double)) == FD_OK,
          "%s on the host", name);

    std::vector<fd_problem> there = problems;
    std::vector<void *> taken;
    for (fd_problem &p : there) {
        const int count = p.times.dates;
        const std::vector<double> spot(p.spot, p.spot + 2);
        taken.push_back((void *)(p.spot = to_device(spot)));
        if (!count) continue;
        const std::vector<double> date(p.times.date, p.times.date + count);
        const std::vector<fd_date> at_date(p.at_date, p.at_date + count);
        taken.push_back((void *)(p.times.date = to_device(date)));
        taken.push_back((void *)(p.at_date = to_device(at_date)));
    }
    fd_batch device = batch;
    Parameters *parameters_there = to_device(parameters);
    device.problem = to_device(there);
    device.status = to_device(status[1]), device.values = to_device(values[1]), device.grid = to_device(grid[1]);
    void *work;
    const size_t bytes = f.bytes(&device);
    GPU_OK(cudaMalloc(&work, bytes));
    for (int rung = 0; rung < 2; rung++) {
        GPU_OK(cudaMemset(device.grid, 0x11, n * dates * points * sizeof(Real)));
        GPU_OK(cudaMemset(device.values, 0x11, n * dates * sizeof(fd_values)));
        CHECK(f.rung[rung](&device, parameters_there, work, bytes, 0) == FD_OK, "%s is not launched", name);
        GPU_OK(cudaDeviceSynchronize());
        GPU_OK(cudaMemcpy(status[1].data(), device.status, n * sizeof(fd_status), cudaMemcpyDeviceToHost));
        GPU_OK(cudaMemcpy(values[1].data(), device.values, n * dates * sizeof(fd_values), cudaMemcpyDeviceToHost));
        GPU_OK(cudaMemcpy(grid[1].data(), device.grid, n * dates * points * sizeof(Real), cudaMemcpyDeviceToHost));
        for (size_t k = 0; k < n; k++) {
            const fd_status &want = status[0][k], &got = status[1][k];
            CHECK(got.what == want.what && got.detail == want.detail && got.axis == want.axis && got.i == want.i &&
                      got.j == want.j && got.step == want.step && got.not_dominant == want.not_dominant,
                  "%s %zu, rung %d: status %d at %d, %d in step %d, not_dominant %d, want %d at %d, %d in step %d, "
                  "not_dominant %d",
                  name, k, rung, got.what, got.i, got.j, got.step, got.not_dominant, want.what, want.i, want.j,
                  want.step, want.not_dominant);
            double worst = 0, largest = scale;
            const int n0 = problems[k].axis[0].points, n1 = problems[k].axis[1].points;
            auto place = [&](size_t time, int at) {
                return (k * dates + time) * points + (size_t)(at / n0 * batch.points[0] + at % n0);
            };
            for (int at = 0; at < n0 * n1; at++) largest = fmax(largest, fabs((double)grid[0][place(0, at)]));
            if (largest > 1e6 * scale) continue; /* unstable: rounding errors have grown as much as the values */
            const double tolerance = largest * (sizeof(Real) == 4 ? 2e-4 : 1e-11);
            CHECK(same(got.growth, want.growth, want.growth * (sizeof(Real) == 4 ? 1e-3 : 1e-6)),
                  "%s %zu, rung %d: growth %g, want %g", name, k, rung, (double)got.growth, (double)want.growth);
            for (size_t d = 0; d < dates; d++) {
                if (d > 0 && !want.what &&
                    ((int)d > problems[k].times.dates || !(problems[k].at_date[d - 1].what & FD_RECORD)))
                    continue;
                for (int at = 0; at < n0 * n1; at++) {
                    const double x = (double)grid[1][place(d, at)], y = (double)grid[0][place(d, at)];
                    if (!same(x, y, tolerance)) worst = fabs(x - y);
                }
                CHECK(worst <= 0, "%s %zu, rung %d, date %zu: grids differ by %.3g", name, k, rung, d, worst);
                const fd_values &x = values[1][k * dates + d], &y = values[0][k * dates + d];
                CHECK(same(x.value, y.value, tolerance) && same(x.first[0], y.first[0], 100 * tolerance) &&
                          same(x.mixed[0], y.mixed[0], 1e4 * tolerance) &&
                          same(x.second[1], y.second[1], 1e4 * tolerance),
                      "%s %zu, rung %d, date %zu: %.17g, want %.17g", name, k, rung, d, x.value, y.value);
            }
        }
    }
    GPU_OK(cudaFree(work));
    for (void *p : taken) GPU_OK(cudaFree(p));
    GPU_OK(cudaFree(parameters_there));
    GPU_OK(cudaFree((void *)device.problem));
    GPU_OK(cudaFree(device.status));
    GPU_OK(cudaFree(device.values));
    GPU_OK(cudaFree(device.grid));
}

template <class Parameters>
static void in_both(const char *name, fd_batch batch, const std::vector<fd_problem> &problems,
                    const std::vector<Parameters> &parameters, const Functions<Parameters> &single,
                    const Functions<Parameters> &twice, double scale)
{
    compare<float>(name, batch, problems, parameters, single, scale);
    compare<double>(name, batch, problems, parameters, twice, scale);
}

static fd_problem start(int nx, int ny, int steps, int scheme, int halves)
{
    fd_problem p;
    memset(&p, 0, sizeof p);
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(scheme, 2, 1), halves, 0, NULL, NULL};
    p.axis[0].points = nx, p.axis[1].points = ny;
    p.times = times, p.scheme = scheme;
    return p;
}

static fd_batch batch_of(int nx, int ny, int steps, int dates, int kind)
{
    const fd_batch batch = {0, {nx, ny}, steps, dates, 1, NULL, NULL, NULL, NULL, {NULL}, kind};
    return batch;
}

/* Tests the benchmark in the smallest and in odd sizes: lines of 4 points, and of one point more and less than a warp's
   tile. */
static void sizes(void)
{
    static const double spot[2] = {0.03, -1.6};
    static const int size[][2] = {{4, 4}, {5, 33}, {33, 6}, {31, 32}, {32, 64}, {65, 34}};
    const Functions<locvol_parameters> single = FUNCTIONS(locvol, f32), twice = FUNCTIONS(locvol, f64);
    for (const int *n : size) {
        std::vector<fd_problem> problems;
        std::vector<locvol_parameters> parameters;
        for (int k = 0; k < 3; k++) {
            fd_problem p = start(n[0], n[1], 4 + k, FD_DOUGLAS, 0);
            const fd_axis x = {0.01, 0.2, n[0], 0, {0}, {0}, {0}}, y = {-3, 1, n[1], 0, {0}, {0}, {0}};
            p.axis[0] = x, p.axis[1] = y, p.spot = spot, p.coefficients = FD_NEW_END;
            /* A line with given values has a matrix of its own. */
            p.face[0][0] = k == 2 ? FD_VALUE : FD_LINEAR;
            problems.push_back(p);
            const locvol_parameters q = {0.03 * k, 0.5, 0.6};
            parameters.push_back(q);
        }
        char name[40];
        snprintf(name, sizeof name, "%d x %d", n[0], n[1]);
        in_both(name, batch_of(n[0] + 1, n[1] + 2, 6, 0, ADI2D_ONE_STAGE), problems, parameters, single, twice, 0.2);
    }
}

/* Checks that a line that no block can hold is marched in device memory without being asked. On points as close as
   these the host, which takes products of factors, rounds more differently than elsewhere. */
static void too_large(void)
{
    static const double spot[2] = {0.03, -1.6};
    fd_problem p = start(5, 1030, 2, FD_DOUGLAS, 0);
    const fd_axis x = {0.01, 0.2, 5, 0, {0}, {0}, {0}}, y = {-3, 1, 1030, 0, {0}, {0}, {0}};
    p.axis[0] = x, p.axis[1] = y, p.spot = spot, p.coefficients = FD_NEW_END;
    const locvol_parameters q = {0.02, 0.5, 0.6};
    Functions<locvol_parameters> single = FUNCTIONS(locvol, f32), twice = FUNCTIONS(locvol, f64);
    single.bytes = locvol_onchip_bytes_f32<>, single.rung[0] = locvol_onchip_f32<>;
    twice.bytes = locvol_onchip_bytes_f64<>, twice.rung[0] = locvol_onchip_f64<>;
    in_both("too large", batch_of(5, 1030, 2, 0, ADI2D_ONE_STAGE), std::vector<fd_problem>(1, p),
            std::vector<locvol_parameters>(1, q), single, twice, 1);
}

/* Tests every scheme, kind of exercise and event at a date, with faces of three kinds. */
static void heston(void)
{
    static const double date[2] = {0.3, 0.7}, spot[2] = {100, 0.04};
    static const fd_date at_date[2] = {{FD_SHIFT | FD_RECORD, 1, 0.01}, {FD_EXERCISE | FD_RECORD, 0, 0}};
    std::vector<fd_problem> problems;
    std::vector<heston_parameters> parameters;
    for (int k = 0; k < 8; k++) {
        fd_problem p = start(40 - k, 22 + k, 5, k % 4, k % 3);
        const fd_axis x = {0, 400, 40 - k, 1, {100}, {20}, {FD_MIDWAY}}, y = {0, 1, 22 + k, 1, {0.04}, {0.05}, {0}};
        p.axis[0] = x, p.axis[1] = y, p.spot = spot, p.exercise = (k + 1) / 2 % 3;
        p.face[1][0] = FD_DEGENERATE, p.face[1][1] = k % 2 ? FD_SLOPE : FD_LINEAR;
        p.face[0][0] = k % 3 == 1 ? FD_VALUE : FD_LINEAR;
        p.times.dates = k > 4 ? 2 : 0, p.times.date = date, p.at_date = at_date;
        problems.push_back(p);
        const heston_parameters q = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0.01, k / 2 % 2};
        parameters.push_back(q);
    }
    const Functions<heston_parameters> single = FUNCTIONS(heston, f32), twice = FUNCTIONS(heston, f64);
    in_both("Heston", batch_of(40, 30, 9, 2, ADI2D_TWO_STAGES), problems, parameters, single, twice, 300);
}

/* Tests coefficients and faces that depend on time. */
static void powers(void)
{
    static const double spot[2] = {1.1, 1.1};
    std::vector<fd_problem> problems;
    std::vector<powers_parameters> parameters;
    for (int k = 0; k < 6; k++) {
        fd_problem p = start(20 + k, 37 - k, 3, k % 4, k / 3);
        for (int d = 0; d < 2; d++) {
            const fd_axis axis = {0.5, 2, d ? 37 - k : 20 + k, 1, {1}, {0.25}, {0}};
            p.axis[d] = axis, p.spot = spot, p.face[d][0] = p.face[d][1] = k == 5 ? FD_LINEAR : FD_VALUE;
        }
        if (k == 4) p.axis[1].low = 0, p.face[1][0] = FD_DEGENERATE; /* the diffusion vanishes there */
        p.coefficients = k % 3;
        problems.push_back(p);
        const powers_parameters q = {{2, 1}, {0.4, 0.3}, {0.05, -0.02}, 0.6, 0.03, 1, 0};
        parameters.push_back(q);
    }
    const Functions<powers_parameters> single = FUNCTIONS(powers, f32), twice = FUNCTIONS(powers, f64);
    in_both("powers", batch_of(25, 37, 5, 0, ADI2D_TWO_STAGES), problems, parameters, single, twice, 10);
}

/* Tests problems that are refused, or that become NaN on the way, between two that are solved. */
static void failures(void)
{
    static const double spot[2] = {100, 0.04};
    std::vector<fd_problem> problems;
    std::vector<heston_parameters> parameters;
    for (int k = 0; k < 7; k++) {
        fd_problem p = start(36, 20, 4, FD_CRAIG_SNEYD, 0);
        fd_axis x = {0, 400, 36, 0, {0}, {0}, {0}}, y = {0, 1, 20, 0, {0}, {0}, {0}};
        heston_parameters q = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0.01, 0};
        if (k == 1) y.high = -1;
        if (k == 2) q.sigma = 1e30;               /* its square overflows in single precision: a table is not finite */
        if (k == 3) p.times.steps = 1000;         /* more than the batch allows */
        if (k == 4) x.high = 1e15, y.high = 1e10; /* products overflow: terms are not finite */
        if (k == 5) p.times.kind = FD_EXPLICIT, p.scheme = FD_DOUGLAS, q.sigma = 1e7; /* unstable: values overflow */
        p.axis[0] = x, p.axis[1] = y, p.spot = spot;
        problems.push_back(p), parameters.push_back(q);
    }
    const Functions<heston_parameters> single = FUNCTIONS(heston, f32), twice = FUNCTIONS(heston, f64);
    in_both("failures", batch_of(36, 20, 4, 0, ADI2D_TWO_STAGES), problems, parameters, single, twice, 300);

    fd_batch none = batch_of(36, 20, 4, 0, ADI2D_TWO_STAGES);
    CHECK(heston_coalesced_f32(&none, NULL, NULL, 0, 0) == FD_OK, "no problems");
    none.problems = 1;
    fd_status status;
    fd_values values;
    none.problem = problems.data(), none.status = &status, none.values = &values, none.points[0] = 2000;
    CHECK(heston_onchip_bytes_f64(&none) == heston_rung_bytes_f64(&none), "too large for the chip");
    none.problem = NULL;
    CHECK(heston_coalesced_f32(&none, NULL, NULL, 0, 0) == FD_BAD_ARGUMENT, "null pointers");
}

int main(void)
{
    sizes();
    too_large();
    heston();
    powers();
    failures();
    return check_report();
}
