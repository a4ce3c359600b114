/* bs1d.h - one-factor Black-Scholes by finite differences: whole batches of options, each solved on chip.

   MIT licence, see LICENSE. Copy this file, the folder bs1d, trid.h, transpose.h and the folder trid.

   Prices a batch in device memory. Each option has its own spot, strike, rate, dividend, volatility, maturity, top of
   the grid, number of time steps and flags; the number of points is the same for all (examples/bs1d_batch.cu):

       int status = bs1d_implicit4_f32(COUNT, 512, device_options, device_results, NULL, 0);
       if (status != BS1D_OK) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);

   The grid has points S_j = j dS, j = 0 .. J-1, with dS = top / (J-1); the time step is dt = maturity / steps. With
   lambda_j = volatility^2 dt j^2 / 2 and gamma_j = (rate - dividend) dt j / 2 the rows of the matrix A are
       lambda_j - gamma_j,  -2 lambda_j - rate dt,  lambda_j + gamma_j;    last row  -2 gamma_j,  2 gamma_j - rate dt
   (the last row has no second difference). An explicit step is u += A u. A backward Euler step solves (I - A) u' = u.
   Crank-Nicolson solves (I - A/2) u' = (I + A/2) u after a Rannacher start of four backward Euler steps of half the
   size (two, if steps is 1). If the drift is so large that the matrix's last row would not be diagonally dominant (2
   gamma above about 1/2, or 1 for Crank-Nicolson), that row takes its drift from the old values. Theta follows from
   price, delta and the greek gamma by the PDE; it is 0 where early exercise is due.

   The ladder, for 64 to 1024 points (docs/bs1d.md gives the figures). Each rung exists with _f32 and _f64; a program
   compiles only what it calls:
     bs1d_explicit1   a block per option, a thread per point; neighbours through shared memory
     bs1d_explicit2   a warp per option, rows in registers; neighbours by shuffle
     bs1d_explicit3   composes time steps into one wide stencil: less work, the same values to within rounding. For
                      American and upwinded options it does what explicit2 does
     bs1d_implicit1   builds the matrix in each step, as if it depended on time, and solves by the hybrid
     bs1d_implicit2   the same for the increment: accurate in single precision
     bs1d_implicit3   factors the matrix once: no reciprocals in the steps; on 256 points less than half
                      the time of implicit1
     bs1d_implicit4   takes only the PCR steps that matter; on 256 points BS1D_INCREMENT makes it take 1.2 to 1.6 times
                      as long
   In the implicit rungs a warp prices an option, as in explicit2, with these exceptions. On grids of up to 256 points
   two options share a warp: in single precision in implicit3 and implicit4, in double precision in all implicit rungs
   except implicit4 with BS1D_INCREMENT. American and upwinded options do not share a warp, nor do those whose last row
   takes its drift from the old values. In double precision two warps share an option of more than 512 points, also in
   explicit2 and explicit3. These warps communicate through shared memory, with barriers. In implicit rungs they do not
   factor the matrix: implicit3 and implicit4 do what implicit1 does, and implicit4 with BS1D_INCREMENT does what
   implicit2 does.
   For kernels of your own (examples/bs1d_own_payoff.cu, bs1d_greeks.cu):
     bs1d_lane_row, bs1d_lane_matrix, bs1d_lane_dominant              a row of A, of I - size A; whether it is dominant
     bs1d_lane_payoff, bs1d_lane_cubic                                payoff at a point; weights of interpolation
     bs1d_warp_explicit2                                              explicit steps
     bs1d_lane_composed, bs1d_lane_sweeps, bs1d_lane_compose          set-up of composed steps
     bs1d_warp_explicit3                                              composed steps
     bs1d_warp_implicit3                                              implicit steps, with trid_warp_factor's factors
     bs1d_warp_greeks                                                 price, delta, gamma, theta at the spot
   For the host:
     bs1d_suggest                              fills in top, steps, flags and the number of points for a tolerance
     bs1d_check, bs1d_fewest_steps             whether the rungs accept an option; the fewest explicit steps
     bs1d_host_explicit, bs1d_host_implicit    the reference
     bs1d_status_string                        the text of a status

   How to choose without bs1d_suggest (docs/bs1d.md has the table): take implicit4 with BS1D_CRANK_NICOLSON and
   BS1D_AVERAGED. In single precision add BS1D_INCREMENT; docs/bs1d.md gives the rounding errors with and without it.
   Let h = strike * volatility * sqrt(maturity). dS = h/4 adds an error of about 0.002 h, which falls as dS^2 does. A
   march of 25 steps (American: 50) adds about 1e-4 h, and one of half as many steps about four times that. Take
   top = exp(2 volatility sqrt(maturity)) times the larger of strike and spot. Where volatility^2 j < |rate - dividend|,
   central differences oscillate near a kink. At the strike this ruins the price: bs1d_check reports it, and BS1D_UPWIND
   or a smaller dS cures it.

   A macro, defined before the header is included:
     BS1D_NO_LAUNCHES   leaves out kernels and launch functions.

   Rooms, in the folder bs1d:
     model.h      the PDE on its grid, payoffs, interpolation, the steps from maturity to 0: in double precision
     option.h     an option's model, start values and rows, and the result from its values
     group.h      the lanes that share an option, and how a kernel begins, ends and is launched
     explicit1.h, explicit2.h, explicit3.h    a rung each: steps, kernel, launch
     implicit.h   all implicit rungs
     host.h       the reference
     suggest.h    checks, and the choice of method parameters
   To add a flag, write it below, raise BS1D_P_ALL_FLAGS, and add the flag to bs1d_p_special (group.h) if it needs the
   kernels for special options. To add a rung, write a room, include it below and list it above. */

#ifndef TB_BODY
#ifndef BS1D_H
#define BS1D_H

#include "transpose.h"
#include "trid.h"
#include "trid/launch.h"

#define BS1D_VERSION 200 /* 100 * major + minor */

/* Flags of an option, combined by |: its kind, and the method. */
enum {
    BS1D_CALL = 0,
    BS1D_PUT = 1,
    BS1D_AMERICAN = 2,
    BS1D_AVERAGED = 4,       /* payoff averaged over the cells S_j +- dS/2, except at the two ends */
    BS1D_CRANK_NICOLSON = 8, /* implicit rungs: Crank-Nicolson after a Rannacher start */
    BS1D_INCREMENT = 16,     /* implicit4: solves for increments */
    BS1D_UPWIND = 32,        /* raises lambda_j to |gamma_j| where it is less: no oscillation, but first order there */
    BS1D_GIVEN = 64,         /* starts from the values in grid instead of the payoff; strike and BS1D_PUT still define
                                what early exercise pays */
    BS1D_P_ALL_FLAGS = 127
};

/* Status of an option (in its result) and of a launch (returned); bs3d.h shares the numbers. */
enum {
    BS1D_OK = 0,
    BS1D_OSCILLATES = 2,       /* bs1d_check only: the steps would succeed, but volatility^2 j < |rate - dividend| at
                                  the strike, where central differences oscillate; more points, a lower top or
                                  BS1D_UPWIND cure it */
    BS1D_NOT_FINITE = 1,       /* a number of the result is infinite or NaN */
    BS1D_BAD_ARGUMENT = -1,    /* a negative count, a null pointer, an unknown payoff */
    BS1D_BAD_SIZE = -2,        /* points out of range, or steps not in 1 .. 2^28 */
    BS1D_BAD_NUMBER = -3,      /* strike, volatility, maturity or top not positive, unknown flags, NaN, inf, or numbers
                                  with which a coefficient of the PDE overflows, or dt or dS becomes 0; in
                                  bs1d_suggest also a tolerance not positive or not finite */
    BS1D_BAD_SPOT = -4,        /* the spot is outside the grid */
    BS1D_BAD_CORRELATION = -5, /* bs3d.h: the correlation matrix is not positive definite */
    BS1D_UNSTABLE = -6,        /* explicit: 2 lambda_max + rate dt > 1 or, without BS1D_UPWIND, 2 gamma^2 > lambda */
    BS1D_NOT_DOMINANT = -7,    /* implicit: a row of the matrix is not strictly diagonally dominant */
    BS1D_LAUNCH_FAILED = -8,   /* launch: the runtime refused */
    BS1D_BAD_TOLERANCE = -9    /* bs1d_suggest only: the tolerance needs over 1024 points, over 10^6 steps or more
                                  precision */
};

/* Returns the text of a status. */
TB_HD const char *bs1d_status_string(int status)
{
    return status == BS1D_OK             ? "done"
           : status == BS1D_NOT_FINITE   ? "the result is infinite or not a number"
           : status == BS1D_OSCILLATES   ? "central differences oscillate: take more points, a lower top, or upwinding"
           : status == BS1D_BAD_ARGUMENT ? "bad argument: a negative count, a null pointer, or an unknown payoff"
           : status == BS1D_BAD_SIZE     ? "points out of range, or steps not in 1 .. 2^28"
           : status == BS1D_BAD_NUMBER
               ? "strike, volatility, maturity or top is not positive, a flag is unknown, or numbers are not finite"
           : status == BS1D_BAD_SPOT        ? "the spot is outside the grid"
           : status == BS1D_BAD_CORRELATION ? "the correlation matrix is not positive definite"
           : status == BS1D_UNSTABLE        ? "the explicit steps are unstable: take more steps"
           : status == BS1D_NOT_DOMINANT    ? "the implicit matrix is not dominant: take more steps, or upwinding"
           : status == BS1D_LAUNCH_FAILED   ? "the CUDA runtime refused a launch: see cudaGetLastError"
           : status == BS1D_BAD_TOLERANCE   ? "the tolerance needs over 1024 points, over 10^6 steps or more precision"
                                            : "unknown status";
}

/* The PDE on its grid for one time step: lambda_j = variance j^2, gamma_j = drift j; with `upwind`, lambda_j is at
   least |gamma_j|. Always in double precision, which costs little because set-up is rare. */
typedef struct {
    double variance; /* volatility^2 dt / 2 */
    double drift;    /* (rate - dividend) dt / 2 */
    double discount; /* rate dt */
    int points, upwind;
} bs1d_model;

/* The number of elements of `work` that the host functions need. */
#define BS1D_HOST_LEN(points) (8 * (size_t)(points))

#ifndef __cplusplus
#define bs1d_int TB_OF(bs1d_int)
#define bs1d_option TB_OF(bs1d_option)
#define bs1d_result TB_OF(bs1d_result)
#else
#define bs1d_int_f32 tb_f32::bs1d_int
#define bs1d_int_f64 tb_f64::bs1d_int
#define bs1d_option_f32 tb_f32::bs1d_option
#define bs1d_option_f64 tb_f64::bs1d_option
#define bs1d_result_f32 tb_f32::bs1d_result
#define bs1d_result_f64 tb_f64::bs1d_result
#endif

#define TB_BODY "../bs1d.h"
#include "trid/twice.h"

#include "bs1d/model.h"
#include "bs1d/option.h"
#include "bs1d/group.h"
#include "bs1d/explicit1.h"
#include "bs1d/explicit2.h"
#include "bs1d/explicit3.h"
#include "bs1d/implicit.h"
#include "bs1d/suggest.h"
#include "bs1d/host.h"

#endif /* BS1D_H */
#else /* TB_BODY: C over tb_real */

/* An integer of tb_real's size. */
#if TB_BYTES == 4
typedef int bs1d_int;
#else
typedef long long bs1d_int;
#endif

typedef struct {
    tb_real spot, strike, rate, dividend, volatility, maturity /* years */, top /* of the grid */;
    bs1d_int steps, flags;
} bs1d_option;

typedef struct {
    tb_real price, delta, gamma, theta /* per year */;
    bs1d_int status;
} bs1d_result;

#endif /* TB_BODY */
