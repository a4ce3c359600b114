/* explicit1.h - a room of bs1d.h: a block per option, a thread per point; neighbours through shared memory.
   MIT licence, see LICENSE. */

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES

#ifndef TB_BODY

/* Threads that a multiprocessor can hold. The blocks of explicit1 should fill the multiprocessor. */
enum {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
    BS1D_P_RESIDENT_THREADS = 1024
#elif defined __CUDA_ARCH__ && __CUDA_ARCH__ != 800 && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1100)
    BS1D_P_RESIDENT_THREADS = 1536
#else
    BS1D_P_RESIDENT_THREADS = 2048
#endif
};

#define bs1d_explicit1_f32 tb_f32::bs1d_explicit1
#define bs1d_explicit1_f64 tb_f64::bs1d_explicit1

#define TB_BODY "../bs1d/explicit1.h"
#include "../trid/twice.h"

#else /* TB_BODY: C++ over tb_real */

/* Takes one step of a point. Two arrays alternate, so that one barrier per step suffices; place[1] is the point's
   element in the array of this step. */
TB_D void bs1d_p_explicit1_step(tb_real a, tb_real b, tb_real c, const tb_real *floor, tb_real *u, tb_real *place)
{
    place[1] = *u;
    __syncthreads();
    *u = *u + a * place[0] + b * *u + c * place[2];
    if (floor) *u = bs1d_p_max(*u, *floor);
}

/* Takes all steps; the second array begins `length` elements after the first. */
TB_D void bs1d_p_explicit1_steps(int steps, tb_real a, tb_real b, tb_real c, const tb_real *floor, tb_real *u,
                                 tb_real *place, int length)
{
    steps = trid_warp_uniform(steps);
    for (int n = 0; n < steps / 2; n++) {
        bs1d_p_explicit1_step(a, b, c, floor, u, place);
        bs1d_p_explicit1_step(a, b, c, floor, u, place + length);
    }
    if (steps % 2) bs1d_p_explicit1_step(a, b, c, floor, u, place);
    __syncthreads();
}

/* Prices one option per block of up to `threads` threads. */
template <int threads>
__launch_bounds__(threads, BS1D_P_RESIDENT_THREADS / threads) TRID_KERNEL
    void bs1d_p_explicit1(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid)
{
    enum { length = threads + 2 };
    __shared__ tb_real shared[2 * length];
    const bs1d_p_batch batch = {options, points, option, result, grid};
    bs1d_option o;
    bs1d_model m;
    int j = (int)threadIdx.x, group = (int)blockIdx.x;
    int status = bs1d_p_load(BS1D_P_ANY_BLOCK, group, batch, &o, &m);
    status = bs1d_p_steady(status, points, &o, &m);
    tb_real a, b, c, u, floor;
    bs1d_p_rows(1, m, j, &a, &b, &c);
    bs1d_p_start(1, group, j, batch, o, &u);
    if (j == 0) shared[0] = shared[length] = 0;
    if (j == (int)blockDim.x - 1) shared[j + 2] = shared[length + j + 2] = 0;
    if (o.flags & BS1D_AMERICAN) {
        bs1d_p_floor(1, j, points, o, &floor);
        bs1d_p_explicit1_steps((int)o.steps, a, b, c, &floor, &u, shared + j, length);
    } else {
        bs1d_p_explicit1_steps((int)o.steps, a, b, c, (const tb_real *)0, &u, shared + j, length);
    }
    bs1d_p_finish(1, BS1D_P_ANY_BLOCK, group, batch, status, &u, shared);
}

/* Prices a batch of options on grids of `points` points each. (It is a template so that a program compiles only what it
   calls; call it like any function.)
   Needs    option, result and grid in device memory. grid has options * points elements: on entry the values at
            maturity of the options with BS1D_GIVEN, at the end today's values of all options. It may be null if no
            option has BS1D_GIVEN
   Returns  BS1D_OK; BS1D_BAD_ARGUMENT: options < 0, or option or result null with options > 0; BS1D_BAD_SIZE: points
            outside 64 .. 1024; BS1D_LAUNCH_FAILED: the runtime refused a launch. If a single option fails, its result's
            status says why, and the result's numbers are NaN; if that status is negative, the option's row of the grid
            is NaN too
   Lanes    called on the host; asynchronous, in `stream`
   Error    docs/bs1d.md */
template <int unused = 0>
static int bs1d_explicit1(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                          cudaStream_t stream)
{
    const bs1d_p_batch batch = {options, points, option, result, grid};
    bs1d_p_kernel *const kernels[] = {bs1d_p_explicit1<256>, bs1d_p_explicit1<512>, bs1d_p_explicit1<1024>};
    const int threads = points < 1024 ? (points + 31) / 32 * 32 : 1024; /* bs1d_p_launch refuses more points */
    return bs1d_p_launch(kernels[bs1d_p_size(points)], threads, stream, batch);
}

#endif /* TB_BODY */

#endif /* TB_LAUNCHES */
