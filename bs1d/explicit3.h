/* explicit3.h - a room of bs1d.h: many time steps composed into one wide stencil. MIT licence, see LICENSE. */

#ifndef TB_BODY

/* ---- set-up, in double precision --------------------------------------------------------------------------------- */

enum {
    BS1D_P_REACH = 16,         /* the most points that a composed stencil reaches to each side */
    BS1D_P_MOST_COMPOSED = 256 /* the most time steps in one stencil */
};

/* Returns x; the compiler must assume that the value has changed. */
TB_HD double bs1d_p_again(double x)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+d"(x));
#endif
    return x;
}

/* Computes row j of (I+A)^m - I within `reach` points of the diagonal, in w[0 .. 2 reach], one step at a time:
   w' = w + (e_j + w) A. Drops weights beyond `reach`; does not upwind. If `most` is not null, *most receives the
   largest number of steps, up to m, that drop at most `tolerance` in total, and w is only scratch.
   Returns  the sum of the absolute values of the dropped weights */
TB_HD double bs1d_p_compose_row(bs1d_model model, int reach, int j, int m, double *w, double tolerance, int *most)
{
    double dropped = 0;
    TB_UNROLL
    for (int k = 0; k <= 2 * reach; k++) w[k] = 0;
    if (most) *most = m;
    TB_LOOP
    for (int s = 0; s < m; s++) {
        /* Without bs1d_p_again the compiler keeps 3 (2 reach + 1) coefficients in registers instead of recomputing
           them. */
        double variance = bs1d_p_again(model.variance), drift = bs1d_p_again(model.drift), incoming = 0;
        /* A point with weight w passes w*(lambda + gamma) up to the next point and w*(lambda - gamma) down; the last
           point passes nothing up and w*(-2 gamma) down. */
        TB_UNROLL
        for (int k = 0; k <= 2 * reach; k++) {
            double q = j + k - reach, share = (k == reach ? 1 + w[k] : w[k]) * q;
            int last = j + k - reach == model.points - 1;
            double up = last ? 0 : share * (variance * q + drift);
            double down = share * (last ? -2 * drift : variance * q - drift);
            w[k] += incoming - up - down - model.discount * (k == reach ? 1 + w[k] : w[k]);
            if (k > 0)
                w[k - 1] += down;
            else
                dropped += fabs(down);
            incoming = up;
        }
        dropped += fabs(incoming);
        if (most && dropped > tolerance) {
            *most = s;
            return dropped;
        }
    }
    return dropped;
}

/* Returns the largest number of steps, up to BS1D_P_MOST_COMPOSED, that lose at most `loss` in row j, the last whose
   stencil does not reach the grid's last row. The rows before row j lose no more. The reach + 1 rows after it can lose
   more, above all on small grids: with 64 points about 10 times as much at reach 8, and thousands of times as much at
   reach 16. */
TB_HD int bs1d_p_composed(bs1d_model model, int reach, double loss)
{
    double w[2 * BS1D_P_REACH + 1];
    int most, j = model.points - 2 - reach;
    bs1d_p_compose_row(model, reach, j > 0 ? j : 0, BS1D_P_MOST_COMPOSED, w, loss, &most);
    return most;
}

/* ---- the body, read once for each precision ---------------------------------------------------------------------- */

#ifndef __cplusplus
#define bs1d_lane_composed TB_OF(bs1d_lane_composed)
#define bs1d_lane_sweeps TB_OF(bs1d_lane_sweeps)
#define bs1d_lane_compose TB_OF(bs1d_lane_compose)
#else
#define bs1d_lane_composed_f32 tb_f32::bs1d_lane_composed
#define bs1d_lane_composed_f64 tb_f64::bs1d_lane_composed
#define bs1d_lane_sweeps_f32 tb_f32::bs1d_lane_sweeps
#define bs1d_lane_sweeps_f64 tb_f64::bs1d_lane_sweeps
#define bs1d_lane_compose_f32 tb_f32::bs1d_lane_compose
#define bs1d_lane_compose_f64 tb_f64::bs1d_lane_compose
#define bs1d_warp_explicit3_f32 tb_f32::bs1d_warp_explicit3
#define bs1d_warp_explicit3_f64 tb_f64::bs1d_warp_explicit3
#define bs1d_explicit3_f32 tb_f32::bs1d_explicit3
#define bs1d_explicit3_f64 tb_f64::bs1d_explicit3
#endif

#define TB_BODY "../bs1d/explicit3.h"
#include "../trid/twice.h"

#else /* TB_BODY: C over tb_real */

/* Returns the most steps, up to BS1D_P_MOST_COMPOSED, to compose into one stencil that reaches `reach` points to each
   side. They lose at most the unit roundoff in the last row whose stencil does not reach the grid's last row. As
   `reach` steps lose nothing, the function never returns fewer.
   Needs    reach at most 16; a model without upwinding
   Cost     about 12 (2 reach + 1) double operations a step */
TB_HD int bs1d_lane_composed(bs1d_model model, int reach)
{
    return bs1d_p_composed(model, reach, (double)trid_roundoff());
}

/* Divides `steps` into single steps and sweeps of *composed steps each.
   Needs    most: from bs1d_lane_composed
   Leaves   *composed: the number above half of `most`, and at most `most`, that takes the fewest operations; 0 if
            single steps alone take no more operations
   Returns  the number of steps left to take singly */
TB_HD int bs1d_lane_sweeps(int reach, int most, int steps, int *composed)
{
    long long least = (long long)3 * steps;
    *composed = 0;
    for (int m = most; m > 1 && m > most / 2; m--) {
        long long sweep = TB_BYTES == 4 ? 2 * reach + 2 : 2 * reach + 1;
        long long cost = (steps / m) * sweep + (long long)3 * (steps % m);
        if (cost < least) {
            least = cost;
            *composed = m;
        }
    }
    return *composed ? steps % *composed : steps;
}

/* Computes the coefficients for bs1d_warp_explicit3: rows `first` .. `first + k - 1` of (I+A)^m - I, 2 reach + 1 each.
   The diagonal makes up for dropped weights and for the rounding of the others, so that the row's sum is
   (1 - rate dt)^m - 1, to within the rounding of the diagonal.
   Needs    k and reach as literals, reach <= 16; a model without upwinding; `coefficient`: k (2 reach + 1) elements
   Cost     about 12 (2 reach + 1) m double operations a row */
TB_HD void bs1d_lane_compose(int k, int reach, bs1d_model model, int first, int m, tb_real *coefficient)
{
    double row_sum = 0;
    for (int s = 0; s < m; s++) row_sum -= model.discount * (1 + row_sum);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        double w[2 * BS1D_P_REACH + 1], diagonal = first + i < model.points ? row_sum : 0;
        tb_real *row = coefficient + i * (2 * reach + 1);
        if (first + i < model.points) {
            bs1d_p_compose_row(model, reach, first + i, m, w, 0, (int *)0);
        } else {
            TB_UNROLL
            for (int j = 0; j <= 2 * reach; j++) w[j] = 0;
        }
        TB_UNROLL
        for (int j = 0; j <= 2 * reach; j++) {
            row[j] = (tb_real)w[j];
            if (j != reach) diagonal -= (double)row[j];
        }
        row[reach] = (tb_real)diagonal;
    }
}

#if TB_DEVICE_SCOPES
/* Returns the z-th point in the order in which a sweep visits the lane's k points, reach .. reach+k-1, and `reach`
   neighbours on each side. The lane's own points come first, while the neighbours arrive by shuffle. In double
   precision the lane's points of even index precede those of odd index: the fastest order tried (docs/bs1d.md). */
TB_D int bs1d_p_point(int k, int reach, int z)
{
#if TB_BYTES == 4
    return z < k ? reach + z : z < k + reach ? reach - 1 - (z - k) : z;
#else
    return z < k ? reach + bs1d_p_every_second(k, z) : (z - k) % 2 ? reach + k + (z - k) / 2 : reach - 1 - (z - k) / 2;
#endif
}

/* Computes u += C u `sweeps` times, where C is a band of 2 reach + 1 diagonals (bs1d_lane_compose). In single precision
   the products with points two or more away are summed before u is added, because the small ones would be lost if they
   were added to u one by one. Consecutive multiply-adds share a point, which saves a register read.
   Needs    k, lanes and reach as literals, k and lanes as for bs1d_warp_explicit2, reach at most k and at most 16
   Lanes    as bs1d_warp_explicit2; `sweeps` is the same for all
   Leaves   u
   Shared   none for lanes <= 32 (pass null), else 8 * reach elements; call __syncthreads() before another use
   Cost     for each sweep k (2 reach + 1) FMA, in single precision also k additions, and 2 reach shuffles (4 reach in
            double precision) */
TB_D void bs1d_warp_explicit3(int k, int lanes, int reach, int sweeps, const tb_real *coefficient, tb_real *u,
                              tb_real *shared)
{
    const int far_first = TB_BYTES == 4 && reach > 1;
    sweeps = trid_warp_uniform(sweeps);
#if TB_BYTES == 4 && defined __CUDA_ARCH__ /* measured: docs/bs1d.md */
#pragma unroll 2
#endif
    for (int s = 0; s < sweeps; s++) {
        tb_real x[TRID_MOST_ROWS + 2 * BS1D_P_REACH];
        bs1d_p_halo(k, lanes, reach, s, u, x, shared);
        TB_UNROLL
        for (int i = 0; i < k; i++) u[i] = far_first ? 0 : x[reach + i];
        TB_UNROLL
        for (int pass = far_first ? 0 : 1; pass < 2; pass++) {
            TB_UNROLL
            for (int z = 0; z < k + 2 * reach; z++) {
                int q = bs1d_p_point(k, reach, z);
                TB_UNROLL
                for (int i = 0; i < k; i++) {
                    int j = q - i, middle = j >= reach - 1 && j <= reach + 1;
                    if (j < 0 || j > 2 * reach || (far_first && middle != pass)) continue;
                    u[i] += coefficient[i * (2 * reach + 1) + j] * x[q];
                }
            }
            if (pass == 0) {
                TB_UNROLL
                for (int i = 0; i < k; i++) u[i] += x[reach + i];
            }
        }
    }
}
#endif

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES
/* Takes composed steps where they cost less, and the rest singly (bs1d_lane_sweeps). Special options are left to
   explicit2. */
template <int k, int lanes, int reach>
__launch_bounds__(bs1d_p_threads(lanes)) TRID_KERNEL
    void bs1d_p_explicit3(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid)
{
    __shared__ tb_real all_shared[bs1d_p_threads(lanes) / lanes * bs1d_p_shared(lanes)];
    tb_real *shared = all_shared + threadIdx.x / lanes * bs1d_p_shared(lanes), u[k], a[k], b[k], c[k];
    tb_real coefficient[k * (2 * reach + 1)];
    const bs1d_p_batch batch = {options, points, option, result, grid};
    bs1d_option o;
    bs1d_model m;
    int group = bs1d_p_group(lanes), first = k * bs1d_p_rank(lanes);
    int status = bs1d_p_load(lanes, group, batch, &o, &m);
    if (!trid_warp_uniform(status != BS1D_P_NONE && !bs1d_p_special(o))) return;
    status = bs1d_p_steady(status, points, &o, &m);
    bs1d_p_start(k, group, first, batch, o, u);
    int steps = (int)o.steps, composed, most = bs1d_p_composed(m, reach, (double)trid_roundoff());
    int rest = bs1d_lane_sweeps(reach, most, steps, &composed);
    composed = trid_warp_uniform(composed);
    if (composed) {
        bs1d_lane_compose(k, reach, m, first, composed, coefficient);
        bs1d_warp_explicit3(k, lanes, reach, steps / composed, coefficient, u, shared);
        if (lanes > 32) __syncthreads();
    }
    if (TB_BYTES == 8) { /* loaded again: the sweeps need the registers */
        bs1d_p_load(lanes, group, batch, &o, &m);
        if (status) bs1d_p_idle(points, &o, &m);
        m.upwind = 0;
    }
    bs1d_p_rows(k, m, first, a, b, c);
    bs1d_warp_explicit2(k, lanes, rest, a, b, c, (const tb_real *)0, u, shared);
    if (lanes > 32) __syncthreads();
    bs1d_p_finish(k, lanes, group, batch, status, u, shared);
}

/* Prices a batch as bs1d_explicit1 does. */
template <int unused = 0>
static int bs1d_explicit3(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                          cudaStream_t stream)
{
    constexpr bs1d_p_shape shape[] = {bs1d_p_shape_of(0), bs1d_p_shape_of(1), bs1d_p_shape_of(2)};
    constexpr int reach[] = {TB_BYTES == 4 ? 8 : 5, TB_BYTES == 4 ? 4 : 2, 2};
    bs1d_p_kernel *const kernels[] = {bs1d_p_explicit3<shape[0].k, shape[0].lanes, reach[0]>,
                                      bs1d_p_explicit3<shape[1].k, shape[1].lanes, reach[1]>,
                                      bs1d_p_explicit3<shape[2].k, shape[2].lanes, reach[2]>};
    const bs1d_p_batch batch = {options, points, option, result, grid};
    const int size = bs1d_p_size(points);
    const int status = bs1d_p_launch(kernels[size], shape[size].lanes, stream, batch);
    return status ? status : bs1d_p_launch_explicit2<1>(batch, stream);
}
#endif

#endif /* TB_BODY */
