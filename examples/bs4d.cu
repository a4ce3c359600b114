/* bs4d.cu - four-factor Black-Scholes by ADI, composed of trid/batch.h's launches along three axes and one kernel.
   MIT licence, see LICENSE.

       bs4d [f32|f64] [--size N | --size NX NY NZ NW] [--steps N] [--csv FILE]

   The problem: a call on the geometric average of four assets, whose closed form is known (bs4d_problem.h). A step is
   four launches. A kernel computes the right-hand side L u, with all six cross terms, and solves it along x while it is
   in registers. trid_batch_solve_rows solves along y and z in place, and along w, where it adds to u. The rows of the
   matrices are made in registers. The four launches make two (u read, v written), two, two and three passes over an
   array: nine, as many as implicit1 of bs3d.h makes for three axes.

   The program times the march, each of its launches alone, and implicit1 of bs3d.h on 256^3 points, as many as 64^4.
   The lower bound on time is to read and write one array a step, at the speed of a device-to-device copy. */
#define BS1D_NO_LAUNCHES /* the ladder in one factor is not used */
#include "bs3d.h"
#include "trid/batch.h"
#include "bs4d_report.h"

enum { LINES_Y = 4, LINES_Z = 2, WARPS = LINES_Y * LINES_Z, SLABS = 16 };

/* ---- the right-hand side, solved along x ------------------------------------------------------------------------- */

/* The K neighbouring points of a line in x that a lane holds. */
template <class T, int K>
struct alignas(K * sizeof(T)) bs4d_points {
    T at[K];
};

/* Solves the right-hand side of a line along x, and stores the solution at the lane's points. */
template <class T, int K>
static __device__ __forceinline__ void bs4d_solve_x(int n, int steps, const T *f, T *rhs, bool stores, T *to)
{
    bs4d_points<T, K> solved;
    trid_warp_solve(K, 32, n, steps, f, rhs);
    for (int k = 0; k < K; k++) solved.at[k] = rhs[k];
    if (stores) *(bs4d_points<T, K> *)to = solved;
}

/* Computes v = A_x^-1 L u. A warp holds a line in x and marches along w, over SLABS slabs and one more at each end. It
   reads slab w once, for L u of three slabs: of w itself, by the differences within the slab; of w-1 and w+1, by the
   differences along w and the cross differences with w (slope). The cross differences of x with y and with z share one
   difference in x (of along). Lanes beyond the line repeat its last points, to no effect. */
template <class T, int K>
static __global__ void __launch_bounds__(32 * WARPS, 1 + (K < 4) + (sizeof(T) == 4))
    bs4d_right_hand_side(bs4d_step s, const T *u, T *v)
{
    const int nx = s.points[0], ny = s.points[1], nz = s.points[2], nw = s.points[3], slab = nx * ny * nz;
    const int warp = (int)threadIdx.x / 32, x = K * ((int)threadIdx.x % 32);
    const int y = LINES_Y * (int)blockIdx.x + warp % LINES_Y, z = LINES_Z * (int)blockIdx.y + warp / LINES_Y;
    const int first = SLABS * (int)blockIdx.z, end = first + SLABS < nw ? first + SLABS : nw;
    if (y >= ny || z >= nz) return;
    const int place = (x < nx ? x : nx - K) + nx * (y + ny * z);
    const int in_y[3] = {y > 0 ? -nx : 0, 0, y < ny - 1 ? nx : 0};
    const int in_z[3] = {z > 0 ? -nx * ny : 0, 0, z < nz - 1 ? nx * ny : 0};

    T xd[K], xu[K], xi[K], yd, yu, yi, zd, zu, zi, wd = 0, wu = 0, wi = 0, t[BS4D_PAIRS];
    T a[K], b[K], c[K], f[TRID_WARP_FACTOR_LEN(K)], now[K] = {}, before[K] = {}, slope_before[K] = {};
    int steps;
    for (int pair = 0; pair < BS4D_PAIRS; pair++) t[pair] = (T)s.cross[pair];
    bs4d_weights(ny, (T)s.variance[1], (T)s.drift[1], y, &yd, &yu, &yi);
    bs4d_weights(nz, (T)s.variance[2], (T)s.drift[2], z, &zd, &zu, &zi);
    for (int k = 0; k < K; k++) {
        bs4d_weights(nx, (T)s.variance[0], (T)s.drift[0], x + k, &xd[k], &xu[k], &xi[k]);
        a[k] = -xd[k], b[k] = 1 + xd[k] + xu[k] + (T)s.discount, c[k] = -xu[k];
    }
    trid_warp_factor(K, 32, nx, a, b, c, f, &steps);
    const T xy = t[0] * yi, xz = t[1] * zi, yz = t[3] * yi * zi, yw = t[4] * yi, zw = t[5] * zi;

    for (int w = first - 1; w <= end; w++) {
        const T *at = u + (place + (ptrdiff_t)slab * (w < 0 ? 0 : w < nw ? w : nw - 1));
        bs4d_points<T, K> patch[9];
        T here[K], own[K], slope[K], along[K];
        for (int n = 0; n < 9; n++) patch[n] = *(const bs4d_points<T, K> *)(at + (in_y[n % 3] + in_z[n / 3]));
        for (int k = 0; k < K; k++) {
            T south = patch[3].at[k], north = patch[5].at[k], below = patch[1].at[k], above = patch[7].at[k];
            here[k] = patch[4].at[k];
            along[k] = xy * (north - south) + xz * (above - below);
            slope[k] = yw * (north - south) + zw * (above - below);
            own[k] = yu * (north - here[k]) - yd * (here[k] - south) + zu * (above - here[k]) - zd * (here[k] - below) +
                     yz * (patch[0].at[k] + patch[8].at[k] - patch[2].at[k] - patch[6].at[k]) - (T)s.discount * here[k];
        }
        T west = __shfl_up_sync(0xffffffffu, here[K - 1], 1), east = __shfl_down_sync(0xffffffffu, here[0], 1);
        T along_west = __shfl_up_sync(0xffffffffu, along[K - 1], 1);
        T along_east = __shfl_down_sync(0xffffffffu, along[0], 1);
        for (int k = 0; k < K; k++) {
            T left = k > 0 ? here[k > 0 ? k - 1 : 0] : west, right = k < K - 1 ? here[k < K - 1 ? k + 1 : 0] : east;
            T along_left = k > 0 ? along[k > 0 ? k - 1 : 0] : along_west;
            T along_right = k < K - 1 ? along[k < K - 1 ? k + 1 : 0] : along_east;
            own[k] += xu[k] * (right - here[k]) - xd[k] * (here[k] - left) + xi[k] * (along_right - along_left);
            slope[k] += t[2] * xi[k] * (right - left);
            now[k] += wu * (here[k] - before[k]) + wi * slope[k];
        }
        if (w > first) /* L u of slab w-1 is now complete */
            bs4d_solve_x<T, K>(nx, steps, f, now, x < nx, v + (place + (ptrdiff_t)slab * (w - 1)));
        bs4d_weights(nw, (T)s.variance[3], (T)s.drift[3], w, &wd, &wu, &wi);
        for (int k = 0; k < K; k++) {
            now[k] = own[k] - wd * (here[k] - before[k]) - wi * slope_before[k];
            before[k] = here[k], slope_before[k] = slope[k];
        }
    }
}

/* ---- a march ----------------------------------------------------------------------------------------------------- */

/* Makes the rows of an axis's matrix, for trid_batch_solve_rows. */
template <class T>
struct bs4d_rows {
    int points;
    T variance, drift;
    template <class R>
    __device__ void operator()(long long, int row, R *a, R *b, R *c) const
    {
        R down, up, index;
        bs4d_weights(points, variance, drift, row, &down, &up, &index);
        *a = -down, *b = 1 + down + up, *c = -up;
    }
};

static int solve_rows(trid_lines lines, int flags, const bs4d_rows<float> &rows, const float *d, float *x)
{
    trid_batch_options options = {};
    options.flags = flags;
    return trid_batch_solve_rows_f32<1024, 1, TRID_BATCH_ONLY_INTERLEAVED>(lines, rows, d, x, &options, 0);
}
static int solve_rows(trid_lines lines, int flags, const bs4d_rows<double> &rows, const double *d, double *x)
{
    trid_batch_options options = {};
    options.flags = flags;
    return trid_batch_solve_rows_f64<1024, 1, TRID_BATCH_ONLY_INTERLEAVED>(lines, rows, d, x, &options, 0);
}

/* The work of a step along an axis. Along x it includes the right-hand side, along w the update of u. */
template <class T>
static void bs4d_along(const bs4d_step &s, int axis, T *u, T *v)
{
    const int *n = s.points;
    if (axis == 0) {
        const dim3 grid((unsigned)(n[1] - 1) / LINES_Y + 1, (unsigned)(n[2] - 1) / LINES_Z + 1,
                        (unsigned)(n[3] - 1) / SLABS + 1);
        void (*kernel)(bs4d_step, const T *, T *) = n[0] <= 32   ? bs4d_right_hand_side<T, 1>
                                                    : n[0] <= 64 ? bs4d_right_hand_side<T, 2>
                                                                 : bs4d_right_hand_side<T, 4>;
        return check(trid_launch(kernel, grid, 32 * WARPS, 0, 0, s, u, v));
    }
    long long below = 1, above = 1; /* product of the sizes of the axes before this one; of those after it */
    for (int m = 0; m < BS4D_AXES; m++) *(m < axis ? &below : &above) *= m == axis ? 1 : n[m];
    const bs4d_rows<T> rows = {n[axis], (T)s.variance[axis], (T)s.drift[axis]};
    const int last = axis == BS4D_AXES - 1;
    const int status =
        solve_rows(trid_lines_axis(below, n[axis], above, 1), last ? TRID_BATCH_ADD : 0, rows, v, last ? u : v);
    if (status) fprintf(stderr, "%s\n", trid_batch_status_string(status)), exit(1);
}

/* Marches u from the values at maturity to those of today; v is an array of the same size. */
template <class T>
static void bs4d_march(const bs4d_problem *o, T *u, T *v)
{
    const bs4d_step s = bs4d_step_of(o);
    for (int step = 0; step < o->steps; step++)
        for (int axis = 0; axis < BS4D_AXES; axis++) bs4d_along(s, axis, u, v);
}

template <class T>
static __global__ void bs4d_at_maturity(bs4d_problem o, size_t elements, T *u)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) u[i] = (T)bs4d_payoff(&o, i);
}

template <class T>
static void bs4d_begin(const bs4d_problem *o, T *u)
{
    const size_t elements = bs4d_elements(o->points);
    check(trid_launch(bs4d_at_maturity<T>, (unsigned)((elements + 255) / 256), 256, 0, 0, *o, elements, u));
}

#ifndef BS4D_NO_MAIN
template <class T>
static int time_march(const bs4d_problem *o, FILE *csv, double copy)
{
    static const char *const launch[BS4D_AXES] = {"bs4d_right_x", "bs4d_y", "bs4d_z", "bs4d_w_add"};
    const size_t elements = bs4d_elements(o->points);
    const bs4d_step s = bs4d_step_of(o);
    double ms[BS4D_RUNS];
    T *u, *v, value;
    check(cudaMalloc((void **)&u, elements * sizeof(T)));
    check(cudaMalloc((void **)&v, elements * sizeof(T)));
    bs4d_time(
        ms, [&] { bs4d_begin(o, u); }, [&] { bs4d_march(o, u, v); });
    check(cudaMemcpy(&value, u + bs4d_middle(o->points), sizeof value, cudaMemcpyDeviceToHost));
    int bad = bs4d_row_of(csv, "bs4d", (int)sizeof(T), o, ms, copy, (double)value);
    for (int axis = 0; axis < BS4D_AXES; axis++) {
        bs4d_time(
            ms, [&] { bs4d_begin(o, u); },
            [&] {
                for (int i = 0; i < o->steps; i++) bs4d_along(s, axis, u, v);
            });
        bs4d_row(csv, launch[axis], (int)sizeof(T), o->points, BS4D_AXES, o->steps, ms, copy, ",");
    }
    check(cudaFree(u)), check(cudaFree(v));
    return bad;
}

/* Times implicit1 of bs3d.h on the model problem of bs3d_timing.cu; the emulator is too slow for it. */
static void time_implicit1(int is_double, FILE *csv, double copy)
{
#ifndef SIMT_EMULATOR
    const bs3d_problem o = {{100, 100, 100},
                            {200, 200, 200},
                            {0.2, 0.2, 0.2},
                            {0, 0, 0},
                            {0.5, 0.5, 0.5},
                            100,
                            0.05,
                            0.05,
                            {256, 256, 256},
                            100,
                            BS3D_GEOMETRIC,
                            BS3D_CALL};
    double ms[BS4D_RUNS];
    int status = 0;
    void *work;
    check(cudaMalloc(&work, is_double ? bs3d_work_bytes_f64(&o) : bs3d_work_bytes_f32(&o)));
    bs4d_time(
        ms, [] {},
        [&] { status |= is_double ? bs3d_implicit1_f64(&o, work, NULL, 0) : bs3d_implicit1_f32(&o, work, NULL, 0); });
    if (status) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);
    bs4d_row(csv, "implicit1", is_double ? 8 : 4, o.points, 3, o.steps, ms, copy, ",");
    check(cudaFree(work));
#else
    (void)is_double, (void)csv, (void)copy;
#endif
}

int main(int argc, char **argv)
{
    bs4d_command command = {{64, 64, 64, 64}, 50, {1, 1}, NULL};
#ifdef SIMT_EMULATOR
    if (argc < 2)
        command = {{8, 8, 8, 8}, 4, {1, 1}, NULL}, puts("under the emulator, which is slow: 8^4 points, 4 steps");
#endif
    bs4d_read(argc, argv, &command);
    const bs4d_problem o = bs4d_problem_of(command.points, command.steps);
    const double copy = bs4d_open(command.csv);
    int bad = 0;
    for (int is_double = 0; is_double < 2; is_double++) {
        if (!command.wanted[is_double]) continue;
        bad |= is_double ? time_march<double>(&o, command.csv, copy) : time_march<float>(&o, command.csv, copy);
        time_implicit1(is_double, command.csv, copy);
    }
    if (command.csv && fclose(command.csv)) perror("bs4d"), bad = 1;
    return bad;
}
#endif
