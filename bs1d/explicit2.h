/* explicit2.h - a room of bs1d.h: a warp per option (in double precision two warps, for more than 512 points), rows in
   registers; neighbours by shuffle.
   MIT licence, see LICENSE. */

#if TB_DEVICE_SCOPES

#ifndef TB_BODY

#define bs1d_warp_explicit2_f32 tb_f32::bs1d_warp_explicit2
#define bs1d_warp_explicit2_f64 tb_f64::bs1d_warp_explicit2
#define bs1d_explicit2_f32 tb_f32::bs1d_explicit2
#define bs1d_explicit2_f64 tb_f64::bs1d_explicit2

#define TB_BODY "../bs1d/explicit2.h"
#include "../trid/twice.h"

#else /* TB_BODY: C over tb_real */

/* Takes one explicit step: u[i] += a[i] x[i] + b[i] x[i+1] + c[i] x[i+2], where x is u with its neighbours; then
   raises u to `floor`, unless that is null. In double precision the function goes from point to point of x: first every
   second one of the lane's own points, then its other points, then the two neighbours. Consecutive multiply-adds then
   share a point, which saves a read of the register file. */
TB_D void bs1d_p_explicit_step(int k, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *floor,
                               const tb_real *x, tb_real *u)
{
#if TB_BYTES == 4
    tb_real left = x[0];
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        tb_real old = u[i];
        u[i] = old + a[i] * left + b[i] * old + c[i] * (i < k - 1 ? u[i + 1] : x[k + 1]);
        left = old;
    }
#else
    TB_UNROLL
    for (int z = 0; z < k + 2; z++) {
        int q = z < k ? 1 + bs1d_p_every_second(k, z) : z == k ? 0 : k + 1;
        if (q > 0 && q <= k) u[q - 1] += b[q - 1] * x[q];
        if (q < k) u[q] += a[q] * x[q];
        if (q > 1) u[q - 2] += c[q - 2] * x[q];
    }
#endif
    if (floor) {
        TB_UNROLL
        for (int i = 0; i < k; i++) u[i] = bs1d_p_max(u[i], floor[i]);
    }
}

/* Takes explicit steps. Row k l + i of u is u[i] of lane l; a, b, c hold the same rows of A (bs1d_lane_row).
   Needs    k and lanes as literals, k at most TRID_MOST_ROWS; lanes a power of two up to 64; floor: a literal null, or
            the least value of an American option at each point
   Lanes    lanes <= 32: all 32 of the warp; lanes = 64: all threads of a block of 64. `steps` is the same for all
   Leaves   u
   Shared   none for lanes <= 32 (pass null), else 8 elements; call __syncthreads() before another use
   Cost     for each step 3k FMA + 2 shuffles (4 in double precision) */
TB_D void bs1d_warp_explicit2(int k, int lanes, int steps, const tb_real *a, const tb_real *b, const tb_real *c,
                              const tb_real *floor, tb_real *u, tb_real *shared)
{
    steps = trid_warp_uniform(steps);
#if TB_BYTES == 8 && defined __CUDA_ARCH__ /* measured: docs/bs1d.md */
#pragma unroll 2
#endif
    for (int s = 0; s < steps; s++) {
        tb_real x[TRID_MOST_ROWS + 2];
        bs1d_p_halo(k, lanes, 1, s, u, x, shared);
        bs1d_p_explicit_step(k, a, b, c, floor, x, u);
    }
}

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES
/* Prices all options or, if special_alone is not 0, only the special ones, which explicit3's own kernel omits. */
template <int k, int lanes>
__launch_bounds__(bs1d_p_threads(lanes), TB_BYTES == 4 && k == 8 ? 7 : 0) TRID_KERNEL
    void bs1d_p_explicit2(int special_alone, int options, int points, const bs1d_option *option, bs1d_result *result,
                          tb_real *grid)
{
    __shared__ tb_real all_shared[bs1d_p_threads(lanes) / lanes * bs1d_p_shared(lanes)];
    tb_real *shared = all_shared + threadIdx.x / lanes * bs1d_p_shared(lanes), u[k], a[k], b[k], c[k];
    const bs1d_p_batch batch = {options, points, option, result, grid};
    bs1d_option o;
    bs1d_model m;
    int group = bs1d_p_group(lanes), first = k * bs1d_p_rank(lanes);
    int status = bs1d_p_load(lanes, group, batch, &o, &m);
    int american = trid_warp_uniform((o.flags & BS1D_AMERICAN) != 0);
    if (!trid_warp_uniform(status != BS1D_P_NONE && (!special_alone || bs1d_p_special(o)))) return;
    status = bs1d_p_steady(status, batch.points, &o, &m);
    bs1d_p_start(k, group, first, batch, o, u);
    bs1d_p_rows(k, m, first, a, b, c);
    if (american) {
        tb_real floor[k];
        bs1d_p_floor(k, first, batch.points, o, floor);
        bs1d_warp_explicit2(k, lanes, (int)o.steps, a, b, c, floor, u, shared);
    } else {
        bs1d_warp_explicit2(k, lanes, (int)o.steps, a, b, c, (const tb_real *)0, u, shared);
    }
    if (lanes > 32) __syncthreads();
    bs1d_p_finish(k, lanes, group, batch, status, u, shared);
}

/* Launches the kernel above. */
template <int special_alone>
static int bs1d_p_launch_explicit2(bs1d_p_batch batch, cudaStream_t stream)
{
    constexpr bs1d_p_shape shape[] = {bs1d_p_shape_of(0), bs1d_p_shape_of(1), bs1d_p_shape_of(2)};
    void (*const kernels[])(int, int, int, const bs1d_option *, bs1d_result *, tb_real *) = {
        bs1d_p_explicit2<shape[0].k, shape[0].lanes>, bs1d_p_explicit2<shape[1].k, shape[1].lanes>,
        bs1d_p_explicit2<shape[2].k, shape[2].lanes>};
    const int size = bs1d_p_size(batch.points);
    return bs1d_p_launch(kernels[size], shape[size].lanes, stream, batch, special_alone);
}

/* Prices a batch as bs1d_explicit1 does. */
template <int unused = 0>
static int bs1d_explicit2(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                          cudaStream_t stream)
{
    return bs1d_p_launch_explicit2<0>({options, points, option, result, grid}, stream);
}
#endif

#endif /* TB_BODY */

#endif /* TB_DEVICE_SCOPES */
