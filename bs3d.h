/* bs3d.h - three-factor Black-Scholes by finite differences on a grid in device memory: explicit and ADI marches.

   MIT licence, see LICENSE. Copy this file, the folder bs3d, bs1d.h, the folder bs1d where there is one, trid.h,
   transpose.h and the folder trid.

   Prices one option, each of its assets with its own spot, volatility, dividend, correlations and grid
   (examples/bs3d_price.cu):

       bs3d_result result;
       void *work;
       check(cudaMalloc(&work, bs3d_work_bytes_f64(&option)));
       int status = bs3d_implicit2_f64(&option, work, &result, 0);
       check(cudaStreamSynchronize(0));
       if (status == BS3D_OK) status = result.status;
       if (status != BS3D_OK) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);

   The model: axis m has 4 to 1024 points S_m = i_m top_m / (points_m - 1); dt = maturity / steps. Differences are
   central. The last point of an axis has no second difference and no cross differences. A cross difference is the
   seven-point one on the diagonal of its correlation's sign (13 points in all) where that is stable, and else the one
   of the four corners (19 points). An explicit step is u += L u. An implicit step solves A_x A_y A_z (u' - u) = L u
   with A_m = I - L_m, where L_m is the part of L along axis m, and A_x has the discount too. The last row of A_m omits
   its drift where the drift would cost it its diagonal dominance (docs/bs3d.md). With BS3D_AMERICAN each step ends with
   u = max(u, payoff).

   Where drift exceeds diffusion, volatility^2 i < |rate - dividend|, central differences oscillate. Explicit marches
   are then refused (BS3D_UNSTABLE), and so are most implicit ones (BS3D_NOT_DOMINANT). Those that are not refused may
   give negative values, or derivatives of the wrong sign, without notice. More points help, from
   (rate - dividend) / volatility^2 times top / spot on; so does BS3D_UPWIND, which is of first order there.

   The ladder. Each rung exists with _f32 and _f64. The number is how often a step passes over an array in memory:
     bs3d_explicit1   2   a thread for each column; all neighbours through the cache
     bs3d_explicit2   2   what a plane adds to the next two is carried in registers: half the loads
     bs3d_explicit3   2   planes pass through shared memory, patches of 4 x 2 points a thread, neighbours by shuffle
     bs3d_explicit4   1   two time steps in one sweep
     bs3d_implicit1   9   right-hand side, x, y, z: four kernels, the hybrid solver of trid.h each time
     bs3d_implicit2   5   matrices factored once; right-hand side, x and half of z in a sweep upward; the other half, y
                          and the update in a sweep downward (7 where nx > 512: x has a kernel of its own)
     bs3d_implicit3   2   one sweep a step, along x and along y in turn, upward and downward in turn; what is stored is
                          half solved, and u itself is never stored. It calls implicit2, and returns its values, for an
                          American option; for more than 512 points in x or y, and more than 256 without clusters
                          (before compute capability 9.0, in code compiled for that, before CUDA 12.1); and on a GPU
                          whose blocks have less than 110 KB of shared memory, in double precision 169 (7.5, 8.6, 8.9,
                          12.0)
   They are templates without a choice, called like functions: a program compiles those that it calls. A payoff of your
   own goes into the grid (examples/bs3d_own_payoff.cu); exercise is a flag (examples/bs3d_american.cu).
   For kernels of your own (examples/bs3d_own_kernel.cu):
     bs3d_model_of, bs3d_axis_of, bs3d_lane_axis, bs3d_lane_row, bs3d_lane_pairs, bs3d_lane_payoff      the set-up
     bs3d_lane_stencil    L u at one point                                                 42 to 66 operations
     bs3d_lane_plane      L u for a patch of points, plane after plane                     21 to 28 operations a point
     bs3d_lane_greeks     price, deltas, gammas, cross gammas, theta from the 64 points around the spot
   On several GPUs, each with a slab of the planes: explicit4 and implicit2. Any library may move what they send: the
   caller supplies a bs3d_exchange, a few functions and their context (examples/bs3d_gpus.cu, docs/gpus.md).
     bs3d_ranks_plan, bs3d_ranks_bytes, bs3d_ranks_open       how the grid is cut; memory; a march up to its first step
     bs3d_ranks_step, bs3d_ranks_result                       a step, which sends while it computes; the result
     bs3d_ranks_send, bs3d_ranks_arrive                       what a step sends, by itself
   What these are made of, for one GPU's slab:
     bs3d_slab_check, bs3d_slab_partitions, bs3d_slab_cut     whether it is possible, and how it lies: planes, halos
     bs3d_slab_bytes, bs3d_slab_open                          memory; a march up to its first step
     bs3d_slab_explicit; bs3d_slab_up, bs3d_slab_down         steps; of a part of a slab, while another is being sent
     bs3d_slab_exercise, bs3d_slab_messages, bs3d_slab_values   payoffs; what to send; the 64 values around the spot
   For the host: bs3d_host_explicit, bs3d_host_implicit, bs3d_host_bytes are the reference. bs3d_check tells what is
   wrong with a problem, bs3d_status_string what a status means; bs3d_work_bytes and bs3d_pitch say how much memory a
   march needs, and how it lies.

   The rooms:
     bs3d/model.h       the model of a problem, payoffs, checks      to add a payoff: its number here, its formula there
     bs3d/cut.h         how the third axis is cut into slabs, and what of a slab a launch visits
     bs3d/launch.h, bs3d/exchange.h        plans and calls of launches; what a program says of its ranks
     bs3d/rooms.h       the names in both precisions, and the rooms that are read once in each:
     bs3d/lane.h        the operator for one thread; the greeks                   to add a derivative: bs3d_lane_greeks
     bs3d/host.h        the reference
     bs3d/march.h       what all marches share: memory, tables, start and end; shapes: bs3d_p_shape
     bs3d/planes.h      sweeps whose planes pass through shared memory
     bs3d/explicit.h    explicit1 to explicit4
     bs3d/matrix.h      the rows of A_x, A_y and A_z, their factors, the reduced systems in z
     bs3d/implicit1.h, bs3d/implicit2.h
     bs3d/one_sweep.h, bs3d/implicit3.h    the sweep of implicit3 in a block; its kernels and their launch
     bs3d/slabs.h       explicit4 and implicit2 on a slab
     bs3d/ranks.h       the march over all of them: streams, messages
   To add a rung: a room with its kernel and launch, a line in the ladder above; its names and #include in bs3d/rooms.h.

   What the rungs share:
     Memory   work, bs3d_work_bytes of device memory, aligned to 16 bytes: two arrays and some planes. The final values
              are left at its start, value (i, j, k) at [i + bs3d_pitch(nx) (j + ny k)]. With payoff BS3D_GIVEN the
              march starts from what is there.
     Status   bs1d.h's, returned at once. If it is not BS3D_OK nothing has been launched or written, except after
              BS3D_LAUNCH_FAILED. It tells of the march's own calls alone: what failed before them cudaGetLastError
              still returns, except where a kernel wants more than 48 KiB of shared memory (explicit3 on): asking for
              that was seen to clear it (CUDA 13.0). result may be null. It is copied asynchronously, and valid when
              the stream has been synchronised.
     Size     4 to 1024 points on each axis (slabs: on the third so many each), not necessarily equal; elements are
              counted in 64 bits. bs3d_implicit2_f64 with more than 256 points in y needs 98 KiB of shared memory a
              block: all GPUs but those of compute capability 7.5 have that.

   An option, defined before the header is included:
     BS3D_NO_LAUNCHES   leaves out kernels and launch functions; what remains compiles in an instant. */

#ifndef BS3D_H
#define BS3D_H

#include "bs1d.h"
#include "trid/launch.h"
#include "trid/lu.h"

#define BS3D_VERSION 200 /* 100 * major + minor */

#if !TB_LAUNCHES && !defined BS3D_NO_LAUNCHES
#define BS3D_NO_LAUNCHES
#endif

/* The payoff; 0, a payoff left out, is refused. */
enum {
    BS3D_ASSET = 1,  /* a call on the first asset: S1 - K */
    BS3D_GEOMETRIC,  /* on the geometric average: (S1 S2 S3)^(1/3) - K */
    BS3D_MAXIMUM,    /* on the largest: max(S1, S2, S3) - K */
    BS3D_MINIMUM,    /* on the smallest: min(S1, S2, S3) - K */
    BS3D_ARITHMETIC, /* on the arithmetic average: (S1 + S2 + S3) / 3 - K */
    BS3D_GIVEN       /* the caller has put the final values into the grid */
};

/* Flags, or'ed; values as in bs1d.h. */
enum {
    BS3D_CALL = BS1D_CALL,
    BS3D_PUT = BS1D_PUT,           /* the strike minus what a call has, instead of that minus the strike */
    BS3D_AMERICAN = BS1D_AMERICAN, /* after each step no value is below the payoff; not with BS3D_GIVEN */
    BS3D_UPWIND = BS1D_UPWIND,     /* lambda is at least |gamma|: no oscillation, at the price of first order there */
    BS3D_P_ALL_FLAGS = BS1D_PUT | BS1D_AMERICAN | BS1D_UPWIND,
    BS3D_P_SLABS = 4096,     /* most that a grid is cut into */
    BS3D_P_MOST_REDUCED = 64 /* most partitions in a reduced system */
};

/* The status of a march (returned, or in its result): bs1d.h's. */
enum {
    BS3D_OK = BS1D_OK,
    BS3D_NOT_FINITE = BS1D_NOT_FINITE,     /* in the result: the price or a derivative came out infinite or NaN */
    BS3D_BAD_ARGUMENT = BS1D_BAD_ARGUMENT, /* a null pointer, work not aligned to 16 bytes, an unknown payoff, or
                                              BS3D_AMERICAN with BS3D_GIVEN */
    BS3D_BAD_SIZE = BS1D_BAD_SIZE,         /* points outside 4 .. 1024, or steps < 1 */
    BS3D_BAD_NUMBER = BS1D_BAD_NUMBER, /* NaN, inf; volatility, maturity, top or strike not positive; unknown flags */
    BS3D_BAD_SPOT = BS1D_BAD_SPOT,     /* spot not within the grid */
    BS3D_BAD_CORRELATION = BS1D_BAD_CORRELATION, /* not those of three assets: not positive definite */
    BS3D_UNSTABLE = BS1D_UNSTABLE,               /* explicit: the step is too long */
    BS3D_NOT_DOMINANT = BS1D_NOT_DOMINANT,       /* implicit: drift exceeds diffusion in a row: more steps, or upwind */
    BS3D_LAUNCH_FAILED = BS1D_LAUNCH_FAILED      /* the runtime refused; cudaGetLastError says why */
};

/* Returns the text of a status. */
TB_HD const char *bs3d_status_string(int status)
{
    return bs1d_status_string(status);
}

/* One option. Axis m has points[m] points S_m = i top[m] / (points[m] - 1). */
typedef struct {
    double spot[3], top[3], volatility[3], dividend[3];
    double correlation[3]; /* of assets 1 and 2, 1 and 3, 2 and 3 */
    double strike, rate, maturity;
    int points[3], steps;
    int payoff; /* BS3D_ASSET .. BS3D_GIVEN */
    int flags;  /* BS3D_CALL, or'ed of BS3D_PUT, BS3D_AMERICAN, BS3D_UPWIND */
} bs3d_problem;

/* The value at the spot, and its derivatives. */
typedef struct {
    double price, delta[3], gamma[3];
    double cross[3]; /* second derivatives by S1 and S2, S1 and S3, S2 and S3 */
    double theta;    /* by calendar time, per year */
    int status;
} bs3d_result;

/* The PDE on its grid for one time step: on axis m, lambda = variance[m] i^2, with upwind at least |gamma|, and
   gamma = drift[m] i; of pair p, axes m and n, the cross difference has weight plus[p] i_m i_n at its corners (+,+) and
   (-,-), minus[p] i_m i_n at the other two. */
typedef struct {
    double variance[3]; /* volatility^2 dt / 2 */
    double drift[3];    /* (rate - dividend) dt / 2 */
    double plus[3], minus[3];
    double discount; /* rate dt */
    int points[3], upwind;
} bs3d_model;

#include "bs3d/model.h"
#include "bs3d/cut.h"
#ifndef BS3D_NO_LAUNCHES
#include "bs3d/launch.h"
#include "bs3d/exchange.h"
#endif
#include "bs3d/rooms.h"

#endif /* BS3D_H */
