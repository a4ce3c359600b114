/* test_fd.cu - pde/fd.h in kernels: each thread computes what the host computes.
   MIT licence, see LICENSE.

   One source for a GPU (nvcc) and for the emulator (tests/simt). test_fd_host.c tells whether the
   host is right. */
#include "pde/fd.h"

#include "check.h"
#include "gpu.h"
#include "random.h"

#include <float.h>

#include <vector>

enum { SEED = 20250208, POINTS = 70, THREADS = 32, ROWS = 4096 };

/* An array in device memory, with copies in both directions. */
template <class T>
struct device_array {
    T *data;
    size_t count;
    explicit device_array(const std::vector<T> &from) : data(NULL), count(from.size())
    {
        GPU_OK(cudaMalloc((void **)&data, count * sizeof(T)));
        GPU_OK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    ~device_array() { GPU_OK(cudaFree(data)); }
    std::vector<T> back() const
    {
        std::vector<T> to(count);
        GPU_OK(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

static double roundoff_of(float)
{
    return FLT_EPSILON / 2;
}
static double roundoff_of(double)
{
    return DBL_EPSILON / 2;
}

/* ---- set-up by threads ------------------------------------------------------------------------------------------- */

TB_HD double hinge(const double *x, const void *strike)
{
    double over = x[0] + x[1] - *(const double *)strike;
    return over > 0 ? over : 0;
}

/* Everything that a kernel may set up for itself: points, final values in two dimensions, the value at a point, steps,
   a scheme. */
struct set_up {
    double x[POINTS], final_value[POINTS], value;
    fd_step step[64];
    int status[5], count;
    fd_scheme scheme;
};

TB_HD void set_up_point(fd_map map, double strike, int i, set_up *to)
{
    to->x[i] = fd_map_point(&map, i);
    double around[5] = {0, 0.4, 1, 1.3, 2};
    for (int k = -1; k < 2; k++) around[k + 1] = i + k < 0 ? map.low : fd_map_point(&map, i + k);
    const double *const x[2] = {around, around};
    const int points[2] = {3, 3}, index[2] = {1, 1};
    around[2] = i == map.points - 1 ? around[1] + 1 : around[2];
    around[0] = i == 0 ? around[1] - 1 : around[0];
    to->final_value[i] = fd_final_value(2, x, points, index, hinge, &strike, 1e-3, 6);
}

TB_HD void set_up_rest(const double *u, set_up *to)
{
    fd_weights w = {0, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const double date[2] = {0.25, 0.6};
    fd_times times = {1, 10, FD_GEOMETRIC, 4, FD_THETA, 0.5, 4, 2, date, 0};
    to->status[0] = fd_grid_check(POINTS, to->x);
    to->status[1] = fd_interpolate(POINTS, to->x, 1.2345, &w);
    const double *weight = w.slope;
    const long long stride = 1;
    to->value = fd_lane_value_f64(1, &weight, u + w.first, &stride);
    to->status[2] = fd_schedule(&times, 64, to->step, &to->count);
    to->status[3] = fd_scheme_of(FD_HUNDSDORFER_VERWER, fd_scheme_theta(FD_HUNDSDORFER_VERWER, 3, 1), &to->scheme);
    fd_axis axis = {0, 3, POINTS, 2, {1, 2, 0}, {0.1, 0.3, 0}, {FD_MIDWAY, FD_ON_NODE, 0}};
    fd_map map;
    to->status[4] = fd_axis_map(&axis, &map);
}

GPU_KERNEL void set_up_points(fd_map map, double strike, set_up *to)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < map.points) set_up_point(map, strike, i, to);
}

GPU_KERNEL void set_up_others(const double *u, set_up *to)
{
    set_up_rest(u, to);
}

static void test_set_up()
{
    fd_axis axis = {0, 3, POINTS, 2, {1, 2, 0}, {0.1, 0.3, 0}, {FD_MIDWAY, FD_ON_NODE, 0}};
    fd_map map;
    CHECK(fd_axis_map(&axis, &map) == FD_OK, "axis");
    std::vector<set_up> want(1);
    std::vector<double> u(POINTS);
    for (int i = 0; i < POINTS; i++) set_up_point(map, 2.1, i, want.data()), u[i] = i * (i - 3.0);
    set_up_rest(u.data(), want.data());
    device_array<set_up> to(std::vector<set_up>(1));
    device_array<double> from(u);
    GPU_LAUNCH(set_up_points, (POINTS + THREADS - 1) / THREADS, THREADS, 0, 0)(map, 2.1, to.data);
    GPU_OK(cudaGetLastError());
    GPU_LAUNCH(set_up_others, 1, 1, 0, 0)(from.data, to.data);
    GPU_OK(cudaGetLastError());
    GPU_OK(cudaDeviceSynchronize());
    std::vector<set_up> back = to.back();
    const set_up &got = back[0], &due = want[0];
    /* asinh and sinh of the GPU's library differ in the last places; their arguments are up to 5, and results are
       multiplied by 3 or less. fd_average may also judge a piece differently, within its tolerance. */
    for (int i = 0; i < POINTS; i++) {
        check_near(got.x[i], due.x[i], 1e-13, "point %d", i);
        check_near(got.final_value[i], due.final_value[i], 1e-5, "final value %d", i);
    }
    for (int k = 0; k < 5; k++)
        CHECK(got.status[k] == FD_OK && due.status[k] == FD_OK, "status %d: %d", k, got.status[k]);
    check_near(got.value, due.value, 1e-9 * fabs(due.value), "slope");
    CHECK(got.count == due.count && got.count == 16, "%d steps", got.count);
    for (int k = 0; k < due.count; k++) {
        check_near(got.step[k].to, due.step[k].to, 1e-15, "step %d", k);
        CHECK(got.step[k].kind == due.step[k].kind && got.step[k].date == due.step[k].date, "step %d", k);
        CHECK(k == 0 || got.step[k].from == got.step[k - 1].to, "step %d does not follow", k);
    }
    CHECK(got.scheme.stages == 2 && got.scheme.stage[1].theta == due.scheme.stage[1].theta, "scheme");
}

/* ---- rows by threads --------------------------------------------------------------------------------------------- */

template <class Cell, class Real>
struct work {
    Cell cell, other;
    Real drift, diffusion, size, kill, u[9];
};

enum { OUTPUTS = 12 };

/* Calls all functions of a point, by the names that templates use. */
template <class Cell, class Real>
TB_HD void all_of(const work<Cell, Real> &w, Real *out)
{
    for (int fitting = FD_CENTRAL; fitting <= FD_FITTED; fitting++) {
        auto row = fd_lane_row(w.cell, fitting, w.drift, w.diffusion);
        out[3 * fitting] = row.below;
        out[3 * fitting + 1] = row.above;
        out[3 * fitting + 2] = fd_lane_apply(row, w.u[3], w.u[4], w.u[5]);
        if (fitting == FD_UPWIND) {
            Real a, b, c;
            fd_lane_matrix(fd_lane_lag(row), w.size, w.kill, &a, &b, &c);
            Real right = fd_lane_face_three(Real(-0.1), &b, &c, Real(-1), Real(3), Real(-1)); /* changes b and c */
            out[9] = b + right + c - a;
        }
    }
    out[10] = fd_lane_mixed(w.cell, w.other, w.u) + fd_lane_second(w.other, w.u[1], w.u[4], w.u[7]);
    out[11] = fd_lane_source(w.cell, w.drift, w.diffusion, w.u[0]) + fd_lane_first(w.cell, w.u[3], w.u[4], w.u[5]);
}

template <class Cell, class Real>
GPU_KERNEL void all_rows(int rows, const work<Cell, Real> *from, Real *to)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) all_of(from[i], to + OUTPUTS * i);
}

template <class Cell, class Real>
static void test_rows(int cells(int, const double *, const int *, Cell *, Real *))
{
    case_random random = {SEED};
    std::vector<work<Cell, Real>> from(ROWS);
    for (int i = 0; i < ROWS; i++) {
        double x[5] = {0, 0, 0, 0, 0};
        int face[2] = {case_below(&random, 4), case_below(&random, 4)};
        Cell cell[5];
        Real far_of[2];
        for (int k = 1; k < 5; k++) x[k] = x[k - 1] + case_between(&random, 0.1, 1);
        CHECK(cells(5, x, face, cell, far_of) == FD_OK, "cells");
        from[i].cell = cell[case_below(&random, 5)];
        from[i].other = cell[case_below(&random, 5)];
        from[i].drift = Real(case_between(&random, -3, 3));
        from[i].diffusion = Real(case_below(&random, 5) ? pow(10, case_between(&random, -4, 1)) : 0);
        from[i].size = Real(case_between(&random, 0, 1)), from[i].kill = Real(0.1);
        for (int k = 0; k < 9; k++) from[i].u[k] = Real(case_between(&random, 0, 1));
    }
    device_array<work<Cell, Real>> device_from(from);
    device_array<Real> device_to(std::vector<Real>((size_t)OUTPUTS * ROWS));
    GPU_LAUNCH((all_rows<Cell, Real>), ROWS / THREADS, THREADS, 0, 0)(ROWS, device_from.data, device_to.data);
    GPU_OK(cudaGetLastError());
    GPU_OK(cudaDeviceSynchronize());
    std::vector<Real> got = device_to.back();
    for (int i = 0; i < ROWS; i++) {
        Real want[OUTPUTS];
        all_of(from[i], want);
        double mu = fabs((double)from[i].drift), d = (double)from[i].diffusion;
        /* A coupling is rounded like 1 / spacing, at most 10, times the flow, h d + drift; a first derivative like
           values times 1 / spacing, a second like values times its square. */
        double coupling = 10 * (10 * d + 2 * mu), tiny = 40 * roundoff_of(Real(0));
        for (int k = 0; k < OUTPUTS; k++)
            check_near((double)got[(size_t)OUTPUTS * i + k], (double)want[k],
                       tiny * (k < 10 ? coupling + 1 : 200 + 10 * d), "row %d, output %d, %d bytes", i, k,
                       (int)sizeof(Real));
    }
}

int main()
{
    printf("seed %d\n", SEED);
    test_set_up();
    test_rows<fd_cell_f32, float>(fd_cells_f32);
    test_rows<fd_cell_f64, double>(fd_cells_f64);
    return check_report();
}
