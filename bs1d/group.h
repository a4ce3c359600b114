/* group.h - a room of bs1d.h: the lanes that share an option, and how a kernel begins, ends and is launched.
   MIT licence, see LICENSE.

   A group of `lanes` lanes holds an option, k rows in each lane: row k l + i is element i of lane l. A group is 16 or
   32 lanes of a warp, or all threads of a block. The values in rows from `points` on are zero and stay zero. */

#if TB_DEVICE_SCOPES

#ifndef TB_BODY

enum {
    BS1D_P_NONE = 3,        /* status of a group without an option, or with one that another kernel prices */
    BS1D_P_NEVER = 1 << 30, /* more steps than any option has */
    BS1D_P_ANY_BLOCK = 1024 /* lanes of a group that is a block of any size */
};

/* Returns this thread's lane in its group. */
TB_D int bs1d_p_rank(int lanes)
{
    return lanes > 32 ? (int)threadIdx.x : trid_warp_rank(lanes);
}

/* Returns the index of this thread's group. */
TB_D int bs1d_p_group(int lanes)
{
    return lanes > 32 ? (int)blockIdx.x : (int)((blockIdx.x * (size_t)blockDim.x + threadIdx.x) / lanes);
}

/* Returns whether `said` holds in any lane of the group. */
TB_D int bs1d_p_any(int lanes, int said)
{
    if (lanes > 32) return __syncthreads_or(said);
    unsigned votes = __ballot_sync(TB_FULL_WARP, said);
    return lanes == 32 ? votes != 0 : (votes >> (trid_warp_lane() & ~(lanes - 1)) & ((1u << lanes) - 1)) != 0;
}

/* Returns the least n of the groups of a warp, or the n of a block's one group. */
TB_D int bs1d_p_least(int lanes, int n)
{
    TB_UNROLL
    for (int distance = lanes; distance < 32; distance *= 2) {
        int other = __shfl_xor_sync(TB_FULL_WARP, n, distance);
        n = other < n ? other : n;
    }
    return trid_warp_uniform(n);
}

#define bs1d_warp_greeks_f32 tb_f32::bs1d_warp_greeks
#define bs1d_warp_greeks_f64 tb_f64::bs1d_warp_greeks

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES
extern "C++" {
/* Returns how many threads a block of groups of `lanes` lanes has. */
TB_HD constexpr int bs1d_p_threads(int lanes)
{
    return lanes > 32 ? lanes : 128;
}

/* Returns how many elements of shared memory a group has, except in explicit1. The greeks take 4, at the end of a
   kernel. In the steps only groups of two warps need shared memory: at most 16 elements for the halo in explicit
   kernels; in implicit kernels TRID_BLOCK_HYBRID_LEN for the solver, followed by 8 for the halo. */
TB_HD constexpr int bs1d_p_shared(int lanes)
{
    return lanes > 32 ? 208 : 8;
}

/* The shape of a kernel: rows per lane, lanes per group. */
struct bs1d_p_shape {
    int k, lanes;
};

/* Returns the size class of a grid: 0, 1 or 2. Each kernel template is instantiated for each class. */
TB_HOST int bs1d_p_size(int points)
{
    return points <= 256 ? 0 : points <= 512 ? 1 : 2;
}
}
#endif

#define TB_BODY "../bs1d/group.h"
#include "../trid/twice.h"

#else /* TB_BODY: C over tb_real */

typedef void bs1d_p_kernel(int, int, const bs1d_option *, bs1d_result *, tb_real *);

/* ---- the beginning of a kernel ----------------------------------------------------------------------------------- */

/* Returns whether the flags make an option special, so that in explicit3 and the implicit rungs a separate kernel
   prices it. In the implicit rungs, a last row without its drift makes it special too. */
TB_D int bs1d_p_special(bs1d_option o)
{
    return (o.flags & (BS1D_AMERICAN | BS1D_UPWIND)) != 0;
}

/* Sets *o and *m to an idle option: one whose steps change nothing. */
TB_D void bs1d_p_idle(int points, bs1d_option *o, bs1d_model *m)
{
    o->strike = o->maturity = o->top = 1;
    o->spot = o->rate = o->dividend = o->volatility = 0;
    o->steps = 1;
    o->flags = 0;
    m->variance = m->drift = m->discount = 0;
    m->points = points;
    m->upwind = 0;
}

/* Loads the group's option and computes its model. If the option is bad, or if there is none, *o and *m become idle, so
   that the lanes can take part in the steps.
   Returns  the option's status, or BS1D_P_NONE if the group has no option */
TB_D int bs1d_p_load(int lanes, int group, bs1d_p_batch batch, bs1d_option *o, bs1d_model *m)
{
    const int width = lanes > 32 ? 32 : lanes, valid = group < batch.options;
    tb_real word, words[9]; /* an option is nine words */
    transpose_load_striped(1, width, valid ? 9 : 0, (const tb_real *)(batch.option + (valid ? group : 0)), 0, &word);
    TB_UNROLL
    for (int e = 0; e < 9; e++) words[e] = __shfl_sync(TB_FULL_WARP, word, e, width);
    memcpy(o, words, sizeof *o);
    int status = valid ? bs1d_p_model(*o, batch.points, m) : BS1D_P_NONE;
    if (!status && (o->flags & BS1D_GIVEN) && !batch.grid) status = BS1D_BAD_ARGUMENT;
    if (status) bs1d_p_idle(batch.points, o, m);
    return status;
}

/* Checks an option in an explicit kernel: one that is unstable becomes idle.
   Returns  the option's status */
TB_D int bs1d_p_steady(int status, int points, bs1d_option *o, bs1d_model *m)
{
    if (!status && !bs1d_p_stable(*m)) {
        status = BS1D_UNSTABLE;
        bs1d_p_idle(points, o, m);
    }
    return status;
}

/* ---- in each step ------------------------------------------------------------------------------------------------ */

/* Returns the z-th of k points if those of even index come first, and then the others. */
TB_D int bs1d_p_every_second(int k, int z)
{
    const int even = (k + 1) / 2;
    return z < even ? 2 * z : 2 * (z - even) + 1;
}

/* Copies u to x[reach .. reach+k-1] and fetches `reach` points of the neighbours on each side, reach <= k. With
   lanes = 64 the function needs 8 * reach elements of shared memory. Calls use the two halves of that memory in turn,
   as the lowest bit of `call` says, so that one barrier per call suffices. */
TB_D void bs1d_p_halo(int k, int lanes, int reach, int call, const tb_real *u, tb_real *x, tb_real *shared)
{
    int width = lanes > 32 ? 32 : lanes;
    TB_UNROLL
    for (int i = 0; i < k; i++) x[reach + i] = u[i];
    TB_UNROLL
    for (int h = 1; h <= reach; h++) {
        x[reach - h] = __shfl_up_sync(TB_FULL_WARP, u[k - h], 1, width);
        x[reach + k - 1 + h] = __shfl_down_sync(TB_FULL_WARP, u[h - 1], 1, width);
    }
    if (lanes > 32) {
        int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
        tb_real *half = shared + (call & 1) * 4 * reach;
        TB_UNROLL
        for (int h = 1; h <= reach; h++) {
            if (warp == 0 && lane == 31) half[h - 1] = u[k - h];
            if (warp == 1 && lane == 0) half[reach + h - 1] = u[h - 1];
        }
        __syncthreads();
        TB_UNROLL
        for (int h = 1; h <= reach; h++) {
            if (warp == 1 && lane == 0) x[reach - h] = half[h - 1];
            if (warp == 0 && lane == 31) x[reach + k - 1 + h] = half[reach + h - 1];
        }
    }
}

/* ---- the end of a kernel ----------------------------------------------------------------------------------------- */

/* Computes price, delta, gamma and theta of the option from today's values u, by cubic interpolation between the four
   points around the spot. Theta follows from the others by the PDE; it is 0 if an American option (BS1D_AMERICAN) is
   worth its payoff at the grid points beside the spot.
   Needs    k and lanes as literals; row k l + i in u[i] of lane l; all fields of o except maturity and steps (of the
            flags it reads BS1D_AMERICAN and BS1D_PUT); result: null for a group without an option
   Lanes    as bs1d_warp_explicit2
   Leaves   *result, written by the group's first lane. If a number is infinite or NaN, the status is
            BS1D_NOT_FINITE, and all four numbers are NaN
   Shared   4 elements for the group; call __syncthreads() or __syncwarp() before another use
   Cost     k comparisons, and about 150 double operations in one lane
   Error    an error of u enters the price unchanged, delta divided by the spacing, and gamma divided by its square */
TB_D void bs1d_warp_greeks(int k, int lanes, int points, bs1d_option o, const tb_real *u, bs1d_result *result,
                           tb_real *shared)
{
    int rank = bs1d_p_rank(lanes), first = bs1d_p_first(o, points);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        int q = k * rank + i - first;
        if (q >= 0 && q < 4) shared[q] = u[i];
    }
    if (lanes > 32)
        __syncthreads();
    else
        __syncwarp(TB_FULL_WARP);
    if (rank == 0 && result) bs1d_p_greeks(points, o, shared, result);
}

/* Stores the result and the row of the grid, if the group has an option. The option is read again: keeping it through
   the steps would take registers that the steps need. */
TB_D void bs1d_p_finish(int k, int lanes, int group, bs1d_p_batch batch, int status, tb_real *u, tb_real *shared)
{
    bs1d_option o;
    bs1d_model m;
    bs1d_p_load(lanes, group, batch, &o, &m);
    bs1d_warp_greeks(k, lanes, batch.points, o, u, status ? 0 : batch.result + group, shared);
    if (status < 0) {
        if (bs1d_p_rank(lanes) == 0) bs1d_p_fail(status, batch.result + group);
        TB_UNROLL
        for (int i = 0; i < k; i++) u[i] = bs1d_p_nan();
    }
    if (batch.grid) {
        const int width = lanes > 32 ? 32 : lanes, valid = status != BS1D_P_NONE;
        int above = lanes > 32 ? k * ((int)threadIdx.x & ~31) : 0; /* rows of the preceding warps */
        tb_real *row = batch.grid + (valid ? group : 0) * (size_t)batch.points + above;
        transpose_store_shfl(k, width, valid ? batch.points - above : 0, u, row);
    }
}

/* ---- launching a kernel ------------------------------------------------------------------------------------------ */

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES
/* Returns the shape of the kernel for a size class. If `paired` is true, two options of class 0 share a warp. */
TB_HOST constexpr bs1d_p_shape bs1d_p_shape_of(int size, bool paired = false)
{
    if (size == 0) return paired ? bs1d_p_shape{16, 16} : bs1d_p_shape{8, 32};
    return size == 1 || TB_BYTES == 8 ? bs1d_p_shape{16, 32 * size} : bs1d_p_shape{32, 32};
}

/* Checks the arguments and launches a kernel on all options, in groups of `lanes` lanes. The kernel takes the arguments
   `more` first.
   Returns  the status of the launch */
template <class kernel_type, class... more_types>
TB_HOST int bs1d_p_launch(kernel_type *kernel, int lanes, cudaStream_t stream, bs1d_p_batch batch, more_types... more)
{
    if (batch.options < 0 || (batch.options > 0 && (!batch.option || !batch.result))) return BS1D_BAD_ARGUMENT;
    if (batch.points < 64 || batch.points > 1024) return BS1D_BAD_SIZE;
    if (batch.options == 0) return BS1D_OK;
    const int threads = bs1d_p_threads(lanes), groups = threads / lanes;
    const unsigned blocks = (unsigned)(batch.options / groups + (batch.options % groups != 0));
    cudaError_t error = trid_launch(kernel, blocks, threads, 0, stream, more..., batch.options, batch.points,
                                    batch.option, batch.result, batch.grid);
    return error == cudaSuccess ? BS1D_OK : BS1D_LAUNCH_FAILED;
}
#endif

#endif /* TB_BODY */

#endif /* TB_DEVICE_SCOPES */
