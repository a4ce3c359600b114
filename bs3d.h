/* bs3d.h - three-factor Black-Scholes by finite differences on a grid in device memory: explicit and ADI marches.

   MIT licence, see LICENSE. Copy this file, the folder bs3d, bs1d.h, the folder bs1d, trid.h, transpose.h and the
   folder trid.

   Prices an option on three correlated assets. Each asset has its own spot, volatility, dividend and axis of the grid
   (examples/bs3d_price.cu):

       bs3d_result result;
       void *work;
       check(cudaMalloc(&work, bs3d_work_bytes_f64(&option)));
       int status = bs3d_implicit2_f64(&option, work, &result, 0);
       check(cudaStreamSynchronize(0));
       if (status == BS3D_OK) status = result.status;
       if (status != BS3D_OK) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);

   The model: axis m has the points S_m = i_m top_m / (points_m - 1); dt = maturity / steps. An explicit step is
   u += L u, with central differences. At the last point of an axis, L omits the second difference along this axis and
   the cross differences between it and the other two axes. Cross differences use seven points along the diagonal that
   the correlation's sign selects; L then has 13 points. Unless this is stable for all pairs, they use the four corners,
   and L has 19 points. An implicit step solves A_x A_y A_z (u' - u) = L u with A_m = I - L_m, where L_m is the part of
   L along axis m; A_x also takes the discount. The last row of A_m omits its drift where the row would otherwise not be
   diagonally dominant (docs/bs3d.md). With BS3D_AMERICAN each step ends with u = max(u, payoff).

   Where drift exceeds diffusion, volatility^2 i < |rate - dividend|, central differences oscillate: values may be
   negative, and derivatives may have the wrong sign. No status reports this: of such problems, bs3d_check refuses only
   those whose explicit march is unstable (BS3D_UNSTABLE) or whose implicit rows are not dominant (BS3D_NOT_DOMINANT).
   The spot is outside that region if points - 1 > (|rate - dividend| / volatility^2) (top / spot) on every axis.
   BS3D_UPWIND prevents this oscillation; it is of first order where it changes a difference.

   The ladder. Each rung exists with _f32 and _f64. The number is how often a step reads or writes a whole array
   if the option is European:
     bs3d_explicit1   2   a thread per column; all neighbours through the cache
     bs3d_explicit2   2   registers carry the unfinished sums of two planes: about half the loads
     bs3d_explicit3   2   planes pass through shared memory; a thread holds 4 x 2 points; neighbours in a row by shuffle
     bs3d_explicit4   1   two time steps in one sweep; takes one, as explicit3 does, for American options and where
                          shared memory is too small for two
     bs3d_implicit1   9   right-hand side, x, y, z: four kernels, each solve by the hybrid
     bs3d_implicit2   5   factors the matrices once. An upward sweep computes the right-hand side and solves x and half
                          of z; a downward sweep solves the other half and y, and updates u (7 if nx > 512 and, on
                          compute capability 7.5, if nx > 256: x has its own kernel)
     bs3d_implicit3   2   one sweep per step. Rows lie along x and y alternately, and sweeps go upward and downward
                          alternately. It stores half-solved values, and u itself only at the end. It calls implicit2
                          instead for American options, for more than 512 points in x or y, for more than 256 points
                          there without clusters, and with too little shared memory per block. Clusters need compute
                          capability 9.0, code compiled for it, and CUDA 12.1. 1024 points in z need 108 KiB of shared
                          memory in single and 165 KiB in double precision. Devices of compute capability 7.5, 8.6, 8.9
                          and 12.x have too little for any size; in double precision those of 8.0 and 8.7 have too
                          little for more than 872 points in z
   The rungs are templates that are called like functions: a program compiles only those that it calls. A payoff of your
   own goes into the grid (examples/bs3d_own_payoff.cu); exercise is a flag (examples/bs3d_american.cu).
   For kernels of your own (examples/bs3d_own_kernel.cu):
     bs3d_model_of, bs3d_axis_of, bs3d_lane_axis, bs3d_lane_row, bs3d_lane_pairs, bs3d_lane_payoff      the set-up
     bs3d_lane_stencil    L u at one point                                                 37 to 58 operations
     bs3d_lane_plane      L u for a patch of points, plane by plane         25 to 35 operations a point (4 x 2 points)
     bs3d_lane_greeks     price, deltas, gammas, cross gammas, theta from the 64 points around the spot
   explicit4 and implicit2 also run on several GPUs, each with a slab of the planes. Any library may carry the messages:
   the caller supplies a bs3d_exchange, a few functions and their context (examples/bs3d_gpus.cu, docs/gpus.md).
     bs3d_ranks_plan, bs3d_ranks_bytes, bs3d_ranks_open       cut the grid; size the memory; open a march
     bs3d_ranks_step, bs3d_ranks_result                       take a step, messages included; compute the result
     bs3d_ranks_send, bs3d_ranks_arrive                       send the messages of a step; wait for them
   Those functions call these, which serve one slab:
     bs3d_slab_check, bs3d_slab_partitions, bs3d_slab_cut     check the problem; choose partitions; cut
     bs3d_slab_bytes, bs3d_slab_open                          size the memory; open a march
     bs3d_slab_explicit; bs3d_slab_up, bs3d_slab_down         take a step, whole or in parts
     bs3d_slab_exercise, bs3d_slab_messages, bs3d_slab_values   exercise; list messages; get 64 values around the spot
   On the host, bs3d_host_explicit and bs3d_host_implicit are the reference, and bs3d_host_bytes sizes their memory.
   bs3d_check checks a problem, and bs3d_status_string returns the text of a status. bs3d_work_bytes sizes the memory of
   a march on the device, and bs3d_pitch gives its layout.

   The rooms:
     bs3d/model.h       the model of a problem, payoffs, checks      to add a payoff: its number here, its formula there
     bs3d/cut.h         how the third axis is cut into slabs, and which planes of a slab a launch visits
     bs3d/launch.h, bs3d/exchange.h        what launches share in both precisions; a program's ranks and how they send
     bs3d/rooms.h       the names in both precisions, and the rooms that are read once for each:
     bs3d/lane.h        the operator for one thread; the greeks                   to add a derivative: bs3d_lane_greeks
     bs3d/host.h        the reference
     bs3d/march.h       what marches on the device share: shapes, memory, tables, start and end, launches
     bs3d/planes.h      sweeps whose planes pass through shared memory
     bs3d/explicit.h    explicit1 to explicit4
     bs3d/matrix.h      the rows of A_x, A_y and A_z, their factors, the reduced systems in z
     bs3d/implicit1.h, bs3d/implicit2.h
     bs3d/one_sweep.h, bs3d/implicit3.h    the sweep of implicit3 in a block; its kernels and their launch
     bs3d/slabs.h       explicit4 and implicit2 on a slab
     bs3d/ranks.h       the march over all slabs: streams, messages
   To add a rung, write a room with its kernel and launch, a line in the ladder above, and its names and #include in
   bs3d/rooms.h.

   What the rungs share:
     Memory   work: bs3d_work_bytes of device memory, aligned to 16 bytes: two arrays, some planes and tables. A march
              leaves the values at time 0 at the start of work, value (i, j, k) at [i + bs3d_pitch(nx) (j + ny k)]. With
              payoff BS3D_GIVEN the march begins with the values at maturity that the caller has put there.
     Status   one of bs1d.h's. If it is neither BS3D_OK nor BS3D_LAUNCH_FAILED, nothing has been launched or written. It
              covers only the march's own calls. cudaGetLastError still returns earlier failures after explicit1 and
              explicit2. The other rungs allow kernels more than 48 KiB of shared memory, and in CUDA 13.0 the call that
              does so clears earlier failures.
     Result   may be a null pointer. The result is valid once the stream has been synchronised. If it is in page-locked
              memory, the call returns as soon as the march is enqueued; otherwise the call waits for the result.
     Size     4 to 1024 points on each axis, or that many per slab on the third axis; axes may differ. Elements are
              counted in 64 bits. On compute capability 7.5 shared memory is too small for implicit2
              (BS3D_LAUNCH_FAILED) with more than 256 points in y. In double precision it is also too small with more
              than 256 points in x if there are more than 328 in z.

   A macro, defined before the header is included:
     BS3D_NO_LAUNCHES   leaves out kernels and launch functions. */

#ifndef BS3D_H
#define BS3D_H

#include "bs1d.h"
#include "trid/launch.h"
#include "trid/lu.h"

#define BS3D_VERSION 200 /* 100 * major + minor */

#if !TB_LAUNCHES && !defined BS3D_NO_LAUNCHES
#define BS3D_NO_LAUNCHES
#endif

/* The payoffs, written for a call with strike K. 0 is refused: it is no payoff. */
enum {
    BS3D_ASSET = 1,  /* on the first asset: S1 - K */
    BS3D_GEOMETRIC,  /* on the geometric average: (S1 S2 S3)^(1/3) - K */
    BS3D_MAXIMUM,    /* on the largest: max(S1, S2, S3) - K */
    BS3D_MINIMUM,    /* on the smallest: min(S1, S2, S3) - K */
    BS3D_ARITHMETIC, /* on the arithmetic average: (S1 + S2 + S3) / 3 - K */
    BS3D_GIVEN       /* the values at maturity, which the caller has put into work */
};

/* Flags, combined by |; their values are those of bs1d.h. */
enum {
    BS3D_CALL = BS1D_CALL,
    BS3D_PUT = BS1D_PUT,           /* the strike minus the underlying's value, instead of that value minus the strike */
    BS3D_AMERICAN = BS1D_AMERICAN, /* after each step no value is below the payoff; not with BS3D_GIVEN */
    BS3D_UPWIND = BS1D_UPWIND,     /* where lambda < |gamma|, uses |gamma| (bs3d_model): no oscillation, first order */
    BS3D_P_ALL_FLAGS = BS1D_PUT | BS1D_AMERICAN | BS1D_UPWIND,
    BS3D_P_SLABS = 4096,     /* the most slabs of a grid */
    BS3D_P_MOST_REDUCED = 64 /* the most partitions in a reduced system */
};

/* The status of a march, returned or in its result; the values are bs1d.h's. */
enum {
    BS3D_OK = BS1D_OK,
    BS3D_NOT_FINITE = BS1D_NOT_FINITE,     /* in the result: the price or a derivative is infinite or NaN */
    BS3D_BAD_ARGUMENT = BS1D_BAD_ARGUMENT, /* a null pointer, work not aligned to 16 bytes, an unknown payoff,
                                              BS3D_GIVEN with BS3D_AMERICAN or slabs, a slab that does not exist,
                                              wrong ranks or exchange, or a step after the last */
    BS3D_BAD_SIZE = BS1D_BAD_SIZE,         /* points outside 4 .. 1024, steps < 1, or slabs: their number, halo or
                                              partitions out of range, too few planes for these (bs3d_slab_cut),
                                              partitions that differ from GPU to GPU, or an error of another process
                                              (bs3d_ranks_plan) */
    BS3D_BAD_NUMBER = BS1D_BAD_NUMBER, /* NaN, inf; volatility, maturity, top or strike not positive; unknown flags; or
                                          numbers so large or small that their products overflow or vanish */
    BS3D_BAD_SPOT = BS1D_BAD_SPOT,     /* the spot is outside the grid */
    BS3D_BAD_CORRELATION = BS1D_BAD_CORRELATION, /* the matrix is not positive definite */
    BS3D_UNSTABLE = BS1D_UNSTABLE,               /* explicit: the time step is too long */
    BS3D_NOT_DOMINANT = BS1D_NOT_DOMINANT,       /* implicit: a row of a matrix is not diagonally dominant; take more
                                                    steps or BS3D_UPWIND */
    BS3D_LAUNCH_FAILED = BS1D_LAUNCH_FAILED      /* the runtime refused (cudaGetLastError says why), or the
                                                    device has too little shared memory */
};

/* Returns the text of a status. */
TB_HD const char *bs3d_status_string(int status)
{
    return status == BS3D_BAD_ARGUMENT
               ? "bad argument: a null pointer, work not aligned to 16 bytes, an unknown payoff, given values with "
                 "early exercise or slabs, a slab that does not exist, wrong ranks or exchange, or a step after the "
                 "last"
           : status == BS3D_BAD_SIZE
               ? "bad size: points outside 4 .. 1024, steps below 1, or slabs: their number, halo or partitions out of "
                 "range, too few planes for these, or partitions that differ from GPU to GPU"
               : bs1d_status_string(status);
}

/* One option. Axis m has points[m] points S_m = i top[m] / (points[m] - 1). */
typedef struct {
    double spot[3], top[3], volatility[3], dividend[3];
    double correlation[3]; /* of assets 1 and 2, 1 and 3, 2 and 3 */
    double strike, rate, maturity;
    int points[3], steps;
    int payoff; /* BS3D_ASSET .. BS3D_GIVEN */
    int flags;  /* BS3D_CALL, or any of BS3D_PUT, BS3D_AMERICAN and BS3D_UPWIND, combined by | */
} bs3d_problem;

/* The value at the spot, and its derivatives. */
typedef struct {
    double price, delta[3], gamma[3];
    double cross[3]; /* second derivatives with respect to S1 and S2, S1 and S3, S2 and S3 */
    double theta;    /* with respect to calendar time, per year */
    int status;
} bs3d_result;

/* The PDE on its grid for one time step. On axis m, gamma = drift[m] i and lambda = variance[m] i^2, or |gamma| if
   upwind is set and |gamma| is larger. The cross difference of pair p, axes m and n, has weight plus[p] i_m i_n at its
   corners (+,+) and (-,-), and minus[p] i_m i_n at the other two. */
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
