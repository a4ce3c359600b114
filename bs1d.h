/* bs1d.h - one-factor Black-Scholes by finite differences, whole batches of options marched in registers.

   MIT licence, see LICENSE. Copy this file, trid.h, transpose.h and the folder trid.

   Prices a batch that lies in device memory, each option with its own spot, strike, rate, dividend, volatility,
   maturity, grid, number of steps and kind (examples/bs1d_batch.cu):

       int status = bs1d_implicit4_f32(COUNT, 512, device_options, device_results, NULL, 0);
       if (status != BS1D_OK) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);

   The model: points S_j = j dS, j = 0 .. J-1, dS = top / (J-1); dt = maturity / steps;
   lambda_j = volatility^2 dt j^2 / 2, gamma_j = (rate - dividend) dt j / 2; A is the matrix with rows
       lambda_j - gamma_j,  -2 lambda_j - rate dt,  lambda_j + gamma_j;    last row  -2 gamma_j,  2 gamma_j - rate dt
   (no second difference at the top). An explicit step is u += A u; an implicit one solves (I - A) u' = u;
   Crank-Nicolson solves (I - A/2) u' = (I + A/2) u after a start of four half-size implicit steps (Rannacher). Where
   the matrix would lose its dominance in the last row, by a drift of 2 gamma > 1/2 or so, that row's drift is taken
   from the old values. Theta is what the PDE makes of price, delta and gamma; 0 where early exercise is due.

   The ladder. Each rung exists with _f32 and _f64, for 64 to 1024 points (docs/bs1d.md has the figures of each); a
   program compiles only the rungs that it calls:
     bs1d_explicit1   a block an option, a thread a point, neighbours through shared memory
     bs1d_explicit2   a warp an option, rows in registers, neighbours by shuffle: no barrier
     bs1d_explicit3   many steps composed into one wide stencil, as many as fit it to rounding: a fraction of the work
     bs1d_implicit1   a warp an option, matrix rebuilt and solved by the hybrid in each step, as if it changed with time
     bs1d_implicit2   the same for the increment: accurate in single precision
     bs1d_implicit3   matrix factored once, two options a warp: no reciprocal, half the work
     bs1d_implicit4   only the PCR steps that matter; increments (BS1D_INCREMENT) at little more cost
   In double precision beyond 512 points two warps share an option and nothing is factored: implicit3 and 4 are
   implicit1 there, and in increments implicit2.
   For kernels of your own (examples/bs1d_own_payoff.cu, bs1d_greeks.cu); cost a lane and step, K rows a lane:
     bs1d_lane_row, bs1d_lane_matrix, bs1d_lane_dominant              a row of A, of I - size*A, is it dominant
     bs1d_lane_payoff, bs1d_lane_cubic                                payoff at a point, weights of interpolation
     bs1d_warp_explicit2                                              3K FMA + 2 shuffles
     bs1d_lane_composed, bs1d_lane_sweeps, bs1d_lane_compose          set-up of composed steps
     bs1d_warp_explicit3                                              K (2H+1) FMA + 2H shuffles for many steps
     bs1d_warp_implicit3                                              trid_warp_solve, with what trid_warp_factor left
     bs1d_warp_greeks                                                 price, delta, gamma, theta at the spot
   For the host:
     bs1d_suggest                              fills in top, steps and flags for a tolerance, and how many points
     bs1d_check, bs1d_fewest_steps             what an option's status will be; the fewest steps of an explicit rung
     bs1d_host_explicit, bs1d_host_implicit    the reference
     bs1d_status_string                        what a status means

   How to choose, where bs1d_suggest is not to (docs/bs1d.md has the table): implicit4 with BS1D_CRANK_NICOLSON,
   BS1D_AVERAGED and, in single precision, BS1D_INCREMENT (without it rounding alone is off by 1e-6 to 1e-4 of the
   strike, growing with points and steps). With h = strike * volatility * sqrt(maturity): dS = h/4 for an error of
   0.002 h, falling with the square of dS; 25 steps (American: 50) for 1e-4 h, falling with their square; top =
   exp(2 volatility sqrt(maturity)) times the larger of strike and spot, and no more, for points beyond are lost. Where
   volatility^2 j < |rate - dividend| central differences oscillate; at the strike that ruins the price (bs1d_check
   tells; BS1D_UPWIND, or a smaller dS, mends it).

   Options, defined before the header is included:
     BS1D_NO_LAUNCHES   leaves out kernels and launch functions.
     BS1D_HEADER        the name by which this file includes itself, if you rename it. Default: "bs1d.h". */

#ifndef BS1D_P_REAL /* first pass: what does not depend on the precision */
#ifndef BS1D_H
#define BS1D_H

#include "transpose.h"
#include "trid.h"
#include "trid/launch.h"

/* Short macros of a user must not reach the parameters of the same names. */
#ifndef __CUDACC_RTC__ /* which does not know the pragma */
#pragma push_macro("H")
#undef H
#pragma push_macro("K")
#undef K
#pragma push_macro("W")
#undef W
#endif

#define BS1D_VERSION 101 /* 100 * major + minor */

#ifndef BS1D_HEADER
#define BS1D_HEADER "bs1d.h"
#endif

/* Threads that a multiprocessor can hold, for explicit1, whose blocks should fill it. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define BS1D_P_RESIDENT_THREADS 1024
#elif defined __CUDA_ARCH__ && __CUDA_ARCH__ != 800 && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1100)
#define BS1D_P_RESIDENT_THREADS 1536
#else
#define BS1D_P_RESIDENT_THREADS 2048
#endif

/* What an option is; or'ed. */
enum {
    BS1D_CALL = 0,
    BS1D_PUT = 1,
    BS1D_AMERICAN = 2,
    BS1D_AVERAGED = 4,       /* payoff averaged over the cells S_j +- dS/2; the two ends as they are */
    BS1D_CRANK_NICOLSON = 8, /* implicit rungs: theta = 1/2 after a Rannacher start */
    BS1D_INCREMENT = 16,     /* implicit4: marches the increment */
    BS1D_UPWIND = 32, /* lambda_j becomes at least |gamma_j|: no oscillation, at the price of first order there */
    BS1D_GIVEN = 64,  /* the march starts from what lies in grid, instead of the payoff; strike, BS1D_PUT and
                                BS1D_AMERICAN still say what early exercise pays */
    BS1D_P_ALL_FLAGS = 127
};

/* Status of an option (in its result), of a launch (returned), and of bs3d.h. */
enum {
    BS1D_OK = 0,
    BS1D_OSCILLATES = 2,       /* bs1d_check alone: the march would succeed, but where sigma^2 j < |rate - dividend| at
                                  the strike central differences oscillate: more points, a lower top, or BS1D_UPWIND */
    BS1D_NOT_FINITE = 1,       /* the march went well, but a number of the result came out infinite or NaN */
    BS1D_BAD_ARGUMENT = -1,    /* a negative count, a null pointer, an unknown payoff */
    BS1D_BAD_SIZE = -2,        /* points out of range, or steps not in 1 .. 2^28 */
    BS1D_BAD_NUMBER = -3,      /* strike, volatility, maturity or top not positive, unknown flags, NaN, inf, or numbers
                                  so large or small that their products overflow */
    BS1D_BAD_SPOT = -4,        /* spot not within the grid */
    BS1D_BAD_CORRELATION = -5, /* bs3d.h: the correlations are not those of three assets */
    BS1D_UNSTABLE = -6,        /* explicit: 2 lambda_max + rate dt > 1, or 2 gamma^2 > lambda */
    BS1D_NOT_DOMINANT = -7,    /* implicit: a row of the matrix is not diagonally dominant */
    BS1D_LAUNCH_FAILED = -8,   /* launch: the runtime refused */
    BS1D_BAD_TOLERANCE = -9    /* bs1d_suggest alone: 1024 points, or the precision, do not reach the tolerance */
};

/* What a status says. */
TB_HD const char *bs1d_status_string(int status)
{
    return status == BS1D_OK             ? "done"
           : status == BS1D_NOT_FINITE   ? "the result is infinite or not a number"
           : status == BS1D_OSCILLATES   ? "central differences oscillate: more points, a lower top, or upwinding"
           : status == BS1D_BAD_ARGUMENT ? "bad argument: a negative count, a null pointer, or an unknown payoff"
           : status == BS1D_BAD_SIZE     ? "points out of range, or steps < 1"
           : status == BS1D_BAD_NUMBER
               ? "strike, volatility, maturity or top not positive, unknown flags, NaN or inf, or overflow"
           : status == BS1D_BAD_SPOT        ? "spot not within the grid"
           : status == BS1D_BAD_CORRELATION ? "correlation matrix not positive definite"
           : status == BS1D_UNSTABLE        ? "explicit step beyond the stability limit: more steps"
           : status == BS1D_NOT_DOMINANT    ? "implicit matrix not diagonally dominant: more steps, or upwinding"
           : status == BS1D_LAUNCH_FAILED   ? "kernel launch failed"
           : status == BS1D_BAD_TOLERANCE   ? "neither 1024 points nor the precision reach the tolerance"
                                            : "unknown status";
}

/* The PDE on its grid for one time step: lambda_j = variance j^2, gamma_j = drift j; with upwind, lambda_j is at least
   |gamma_j|. In double for every precision: set-up is rare, and rounding it once is what the march can see. */
typedef struct {
    double variance; /* volatility^2 dt / 2 */
    double drift;    /* (rate - dividend) dt / 2 */
    double discount; /* rate dt */
    int points, upwind;
} bs1d_model;

/* Solves   row j of A; zeros for a row outside the grid
   Cost     about 6 double operations */
TB_HD void bs1d_lane_row(bs1d_model m, int j, double *a, double *b, double *c)
{
    double lambda = m.variance * j * j, gamma = m.drift * j;
    int last = j == m.points - 1, inside = j >= 0 && j < m.points;
    if (m.upwind && lambda < fabs(gamma)) lambda = fabs(gamma);
    *a = !inside ? 0 : last ? -2 * gamma : lambda - gamma;
    *b = !inside ? 0 : last ? 2 * gamma - m.discount : -2 * lambda - m.discount;
    *c = !inside || last ? 0 : lambda + gamma;
}

/* Solves   row j of I - size*A as the implicit rungs solve it. The last row is left without its drift where with it
            2 gamma size would be too large for diagonal dominance (over about 1/2): what is left out belongs on the
            right-hand side, at the old values, unless that is formed from A itself.
   Returns  what was left out: the factor of u[points-1] - u[points-2]; 0 but for such a last row
   Cost     about 12 double operations */
TB_HD double bs1d_lane_matrix(bs1d_model m, double size, int j, double *a, double *b, double *c)
{
    double ra, rb, rc;
    bs1d_lane_row(m, j, &ra, &rb, &rc);
    *a = -size * ra;
    *b = 1 - size * rb;
    *c = -size * rc;
    if (j != m.points - 1 || fabs(*b) > fabs(*a)) return 0;
    double left_out = *a;
    *a = 0;
    *b = 1 + size * m.discount;
    return left_out;
}

/* Solves   may I - size*A be solved without pivoting? Row j of it alone: diagonally dominant, or not
   Cost     about 15 double operations */
TB_HD int bs1d_lane_dominant(bs1d_model m, double size, int j)
{
    double a, b, c;
    bs1d_lane_matrix(m, size, j, &a, &b, &c);
    return fabs(b) > fabs(a) + fabs(c);
}

/* Solves   the payoff at point j of a grid with spacing ds, or its average over the cell (BS1D_AVERAGED)
   Cost     a few double operations */
TB_HD double bs1d_lane_payoff(int flags, double strike, double ds, int points, int j)
{
    /* One rounding wherever it is compiled, so that a value at its floor can be told by comparing. */
    double inside = (flags & BS1D_PUT ? -1 : 1) * fma((double)j, ds, -strike), half = ds / 2;
    if ((flags & BS1D_AVERAGED) && j > 0 && j < points - 1 && inside > -half && inside < half)
        return (inside + half) * ((inside + half) / (2 * ds));
    return inside < 0 ? 0 : inside; /* NaN stays NaN */
}

/* Solves   the weights of four-point Lagrange interpolation at distance x from the first point, in units of the
            spacing: of the value and of the first two derivatives, four each
   Cost     about 50 double operations */
TB_HD void bs1d_lane_cubic(double x, double *value, double *first, double *second)
{
    double p = x, q = x - 1, r = x - 2, s = x - 3;
    value[0] = -q * r * s / 6;
    value[1] = p * r * s / 2;
    value[2] = -p * q * s / 2;
    value[3] = p * q * r / 6;
    first[0] = -(q * r + q * s + r * s) / 6;
    first[1] = (p * r + p * s + r * s) / 2;
    first[2] = -(p * q + p * s + q * s) / 2;
    first[3] = (p * q + p * r + q * r) / 6;
    second[0] = -(q + r + s) / 3;
    second[1] = p + r + s;
    second[2] = -(p + q + s);
    second[3] = (p + q + r) / 3;
}

/* What an option's march consists of: half-size implicit steps first (Crank-Nicolson only), then whole ones. */
typedef struct {
    int implicit; /* backward Euler steps of the given size */
    int crank;    /* Crank-Nicolson steps after them */
    double size;  /* of a backward Euler step, in units of dt; the matrix is I - size*A for both */
} bs1d_p_plan;

TB_HD bs1d_p_plan bs1d_p_plan_of(int flags, int steps)
{
    bs1d_p_plan plan = {steps, 0, 1};
    if (flags & BS1D_CRANK_NICOLSON) {
        int start = steps < 2 ? steps : 2;
        plan.implicit = 2 * start;
        plan.crank = steps - start;
        plan.size = 0.5;
    }
    return plan;
}

enum {
    BS1D_P_ROWS = 32,           /* most rows a lane */
    BS1D_P_REACH = 16,          /* most points that a composed stencil reaches to each side */
    BS1D_P_REFRESH = 16,        /* increment form: steps after which the increment is computed anew */
    BS1D_P_MOST_COMPOSED = 256, /* most time steps in one */
    BS1D_P_NONE = 3,            /* status of a team without an option, or with one that another kernel marches */
    BS1D_P_LOST = 1 << 30       /* "steps" of such a team */
};

/* What keeps the compiler from keeping 3 (2H+1) coefficients in registers through the composition: it computes them
   anew, as it should. */
#ifdef __CUDA_ARCH__
#define BS1D_P_OPAQUE(x) asm volatile("" : "+d"(x))
#else
#define BS1D_P_OPAQUE(x) ((void)(x))
#endif

/* The z-th point that explicit3 works on, of K own ones at H .. H+K-1 and H on each side: the orders that were fastest
   (docs/bs1d.md). */
#define BS1D_P_POINT_F32(K, H, z) ((z) < (K) ? (H) + (z) : (z) < (K) + (H) ? (H)-1 - ((z) - (K)) : (z))
#define BS1D_P_POINT_F64(K, H, z)                                                                                      \
    ((z) < (K)         ? (H) + 2 * (z) % (K) + 2 * (z) / (K)                                                           \
     : ((z) - (K)) % 2 ? (H) + (K) + ((z) - (K)) / 2                                                                   \
                       : (H)-1 - ((z) - (K)) / 2)

/* Threads of a block of teams of W, blocks of 128 that a multiprocessor should hold (what that does to the registers
   was fastest, or spills least), and elements of shared memory for a team: 4 for the Greeks; two warps also need the
   halo of up to 8 points, or the solver's 192 and a halo of one. */
#define BS1D_P_BLOCK(W) ((W) > 32 ? (W) : 128)
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 1000
#define BS1D_P_RESIDENT_FACTORED 2 /* with three some bytes go to local memory */
#else
#define BS1D_P_RESIDENT_FACTORED 3
#endif
#define BS1D_P_RESIDENT_F32(rung, special, K)                                                                          \
    ((K) == 16 && !(special) && ((rung) == 3 || (rung) == 4) ? BS1D_P_RESIDENT_FACTORED                                \
     : (K) > 8 || (rung) == 5                                ? 2                                                       \
     : (rung) == 1 && !(special)                             ? 5                                                       \
                                                             : 4)
#define BS1D_P_RESIDENT_F64(rung, special, K) ((K) > 8 || (rung) == 5 ? 2 : (special) ? 3 : 4)
#define BS1D_P_SHARED(W) ((W) > 32 ? 208 : 8)

/* Elements of work for the host functions. */
#define BS1D_HOST_LEN(points) (8 * (size_t)(points))

/* The body below, once a precision. */
#define BS1D_P_REAL float
#define BS1D_P_INT int
#define BS1D_P_NAME(stem) stem##_f32
#define BS1D_P_BITS(x) __float_as_int(x)
#define BS1D_P_LOWEST (-3e38f)
#define BS1D_P_ROUNDOFF 5.9604644775390625e-8 /* 2^-24 */
#define BS1D_P_UNROLL_STEPS
#ifdef __CUDA_ARCH__ /* how often the loops of explicit2 and explicit3 are unrolled is measured: docs/bs1d.md */
#define BS1D_P_UNROLL_SWEEPS _Pragma("unroll 2")
#else
#define BS1D_P_UNROLL_SWEEPS
#endif
#define BS1D_P_REACH_SMALL 8 /* points to each side of explicit3's stencil, on small, medium and large grids */
#define BS1D_P_REACH_MEDIUM 4
#define BS1D_P_REACH_LARGE 2
#define BS1D_P_K_LARGE 32 /* rows a lane and lanes a team: on large grids; on small ones in rungs 1 and 2, */
#define BS1D_P_W_LARGE 32
#define BS1D_P_K_DIRECT 8 /* in rungs 3 and 4, and in rung 4 in increments */
#define BS1D_P_W_DIRECT 32
#define BS1D_P_K_FAST 16
#define BS1D_P_W_FAST 16
#define BS1D_P_K_INCREMENT 16
#define BS1D_P_W_INCREMENT 16
#include BS1D_HEADER

#define BS1D_P_REAL double
#define BS1D_P_INT long long
#define BS1D_P_NAME(stem) stem##_f64
#define BS1D_P_BITS(x) __double_as_longlong(x)
#define BS1D_P_LOWEST (-1e308)
#define BS1D_P_ROUNDOFF 1.1102230246251565e-16 /* 2^-53 */
#ifdef __CUDA_ARCH__
#define BS1D_P_UNROLL_STEPS _Pragma("unroll 2")
#else
#define BS1D_P_UNROLL_STEPS
#endif
#define BS1D_P_UNROLL_SWEEPS
#define BS1D_P_REACH_SMALL 5
#define BS1D_P_REACH_MEDIUM 2
#define BS1D_P_REACH_LARGE 2
#define BS1D_P_K_LARGE 16
#define BS1D_P_W_LARGE 64
#define BS1D_P_K_DIRECT 16
#define BS1D_P_W_DIRECT 16
#define BS1D_P_K_FAST 16
#define BS1D_P_W_FAST 16
#define BS1D_P_K_INCREMENT 8
#define BS1D_P_W_INCREMENT 32
#include BS1D_HEADER

/* ---- launches ---------------------------------------------------------------------------------------------------- */

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES
extern "C++" {
/* Solves   a batch of options on grids of points points each. (They are templates so that a program compiles only what
            it calls; they are called like any function.)
   Needs    option, result, grid in device memory; grid null, or options * points elements for the final values, which
            hold the start values of the options with BS1D_GIVEN
   Returns  BS1D_OK; BS1D_BAD_ARGUMENT: options < 0 or null pointers; BS1D_BAD_SIZE: points outside 64 .. 1024;
            BS1D_LAUNCH_FAILED: the runtime refused this launch. What befalls a single option is in its result's status:
            the numbers and the grid's row of an option that failed are NaN
   Lanes    called on the host; asynchronous in stream
   Error    docs/bs1d.md */
template <int unused = 0>
static int bs1d_explicit1_f32(int options, int points, const bs1d_option_f32 *option, bs1d_result_f32 *result,
                              float *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_explicit2_f32(int options, int points, const bs1d_option_f32 *option, bs1d_result_f32 *result,
                              float *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_explicit3_f32(int options, int points, const bs1d_option_f32 *option, bs1d_result_f32 *result,
                              float *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit1_f32(int options, int points, const bs1d_option_f32 *option, bs1d_result_f32 *result,
                              float *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit2_f32(int options, int points, const bs1d_option_f32 *option, bs1d_result_f32 *result,
                              float *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit3_f32(int options, int points, const bs1d_option_f32 *option, bs1d_result_f32 *result,
                              float *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit4_f32(int options, int points, const bs1d_option_f32 *option, bs1d_result_f32 *result,
                              float *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_explicit1_f64(int options, int points, const bs1d_option_f64 *option, bs1d_result_f64 *result,
                              double *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_explicit2_f64(int options, int points, const bs1d_option_f64 *option, bs1d_result_f64 *result,
                              double *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_explicit3_f64(int options, int points, const bs1d_option_f64 *option, bs1d_result_f64 *result,
                              double *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit1_f64(int options, int points, const bs1d_option_f64 *option, bs1d_result_f64 *result,
                              double *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit2_f64(int options, int points, const bs1d_option_f64 *option, bs1d_result_f64 *result,
                              double *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit3_f64(int options, int points, const bs1d_option_f64 *option, bs1d_result_f64 *result,
                              double *grid, cudaStream_t stream);
template <int unused = 0>
static int bs1d_implicit4_f64(int options, int points, const bs1d_option_f64 *option, bs1d_result_f64 *result,
                              double *grid, cudaStream_t stream);
}
#endif

#ifndef __CUDACC_RTC__
#pragma pop_macro("H")
#pragma pop_macro("K")
#pragma pop_macro("W")
#endif

#endif /* BS1D_H */
#else  /* BS1D_P_REAL: the body, in the precision at hand */

#define BS1D_R BS1D_P_REAL
#define BS1D_F(stem) BS1D_P_NAME(stem)

typedef struct {
    BS1D_R spot, strike, rate, dividend, volatility, maturity /* years */, top /* of the grid */;
    BS1D_P_INT steps, flags;
} BS1D_F(bs1d_option);

typedef struct {
    BS1D_R price, delta, gamma, theta /* per year */;
    BS1D_P_INT status;
} BS1D_F(bs1d_result);

/* The model of an option; returns its status as far as its numbers decide it. */
TB_HD int BS1D_F(bs1d_p_model)(BS1D_F(bs1d_option) o, int points, bs1d_model *m)
{
    double dt = (double)o.maturity / (double)o.steps, sum;
    m->variance = 0.5 * (double)o.volatility * (double)o.volatility * dt;
    m->drift = 0.5 * ((double)o.rate - (double)o.dividend) * dt;
    m->discount = (double)o.rate * dt;
    m->points = points;
    m->upwind = (o.flags & BS1D_UPWIND) != 0;
    if (o.steps < 1 || o.steps > BS1D_P_LOST / 4) return BS1D_BAD_SIZE;
    /* A sum is finite only if its parts are. */
    sum = fabs((double)o.spot) + fabs((double)o.strike) + fabs((double)o.rate) + fabs((double)o.dividend) +
          fabs((double)o.top) + fabs((double)o.maturity) + fabs(m->variance) * points * points +
          fabs(m->drift) * points + fabs(m->discount);
    if (!BS1D_F(trid_finite)((BS1D_R)sum) || !(dt > 0) || !((double)o.top / points > 0) || !(o.strike > 0) ||
        !(o.volatility > 0) || !(o.maturity > 0) || !(o.top > 0) || (o.flags & ~(BS1D_P_INT)BS1D_P_ALL_FLAGS))
        return BS1D_BAD_NUMBER;
    return o.spot >= 0 && o.spot <= o.top ? BS1D_OK : BS1D_BAD_SPOT;
}

TB_HD int BS1D_F(bs1d_p_stable)(bs1d_model m)
{
    double last = m.points - 1, lambda = m.variance * last * last, gamma = fabs(m.drift) * last;
    if (m.upwind) return 2 * (lambda > gamma ? lambda : gamma) + m.discount <= 1;
    return 2 * lambda + m.discount <= 1 && 2 * m.drift * m.drift <= m.variance;
}

/* Does an option want more than the march of the European ones does? */
TB_HD int BS1D_F(bs1d_p_special)(BS1D_F(bs1d_option) o)
{
    return (o.flags & (BS1D_AMERICAN | BS1D_UPWIND)) != 0;
}

TB_HD BS1D_R BS1D_F(bs1d_p_max)(BS1D_R x, BS1D_R y)
{
    return x < y ? y : x; /* a NaN in x stays one */
}

/* An option that does nothing, with a model that moves nothing. */
TB_HD void BS1D_F(bs1d_p_idle)(int points, BS1D_F(bs1d_option) * o, bs1d_model *m)
{
    o->strike = o->maturity = o->top = 1;
    o->spot = o->rate = o->dividend = o->volatility = 0;
    o->steps = 1;
    o->flags = 0;
    m->variance = m->drift = m->discount = 0;
    m->points = points;
    m->upwind = 0;
}

TB_HD BS1D_R BS1D_F(bs1d_p_nan)(void)
{
    unsigned long long bits = 0x7ff8000000000000ull;
    double x;
#ifdef __CUDA_ARCH__
    x = __longlong_as_double((long long)bits);
#else
    memcpy(&x, &bits, sizeof x);
#endif
    return (BS1D_R)x;
}

TB_HD void BS1D_F(bs1d_p_fail)(int status, BS1D_F(bs1d_result) * result)
{
    result->price = result->delta = result->gamma = result->theta = BS1D_F(bs1d_p_nan)();
    result->status = status;
}

/* The first of the four points around the spot. */
TB_HD int BS1D_F(bs1d_p_first)(BS1D_F(bs1d_option) o, int points)
{
    int first = (int)((double)o.spot / ((double)o.top / (points - 1))) - 1;
    return first < 0 ? 0 : first > points - 4 ? points - 4 : first;
}

/* Is the value at point j what exercise pays there? */
TB_HD int BS1D_F(bs1d_p_exercised)(int points, BS1D_F(bs1d_option) o, int j, BS1D_R u)
{
    double ds = (double)o.top / (points - 1);
    return u == (BS1D_R)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, j);
}

/* Price and Greeks from the values u of the four points around the spot. */
TB_HD void BS1D_F(bs1d_p_greeks)(int points, BS1D_F(bs1d_option) o, const BS1D_R *u, BS1D_F(bs1d_result) * result)
{
    double ds = (double)o.top / (points - 1), x = (double)o.spot / ds, spread = (double)o.volatility * (double)o.spot;
    double weight[3][4], value = 0, first = 0, second = 0, theta;
    int from = BS1D_F(bs1d_p_first)(o, points), cell = (int)x < points - 1 ? (int)x : points - 2, q = cell - from;
    bs1d_lane_cubic(x - from, weight[0], weight[1], weight[2]);
    for (int i = 0; i < 4; i++) {
        value += weight[0][i] * (double)u[i];
        first += weight[1][i] * (double)u[i];
        second += weight[2][i] * (double)u[i];
    }
    first /= ds;
    second = second / ds / ds;
    theta = (double)o.rate * value - ((double)o.rate - (double)o.dividend) * (double)o.spot * first -
            0.5 * (spread * (spread * second));
    if ((o.flags & BS1D_AMERICAN) && (x >= cell + 1 || BS1D_F(bs1d_p_exercised)(points, o, cell, u[q])) &&
        (x <= cell || BS1D_F(bs1d_p_exercised)(points, o, cell + 1, u[q + 1])))
        theta = 0;
    result->price = (BS1D_R)value;
    result->delta = (BS1D_R)first;
    result->gamma = (BS1D_R)second;
    result->theta = (BS1D_R)theta;
    result->status = BS1D_OK;
    if (!BS1D_F(trid_finite)(result->price) || !BS1D_F(trid_finite)(result->delta) ||
        !BS1D_F(trid_finite)(result->gamma) || !BS1D_F(trid_finite)(result->theta))
        BS1D_F(bs1d_p_fail)(BS1D_NOT_FINITE, result);
}

/* Row j of (I+A)^m - I within H points of the diagonal, in w[0 .. 2H], worked out step by step from the left:
   w' = w + (e_j + w) A. What would go beyond is dropped; returns its sum of absolute values. If most is not null, m is
   a limit and *most becomes the number of steps after which no more than tolerance has been dropped. */
TB_HD double BS1D_F(bs1d_p_compose_row)(bs1d_model model, int H, int j, int m, double *w, double tolerance, int *most)
{
    double dropped = 0;
    TB_UNROLL
    for (int k = 0; k <= 2 * H; k++) w[k] = 0;
    if (most) *most = m;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int s = 0; s < m; s++) {
        double variance = model.variance, drift = model.drift, incoming = 0;
        BS1D_P_OPAQUE(variance);
        BS1D_P_OPAQUE(drift);
        /* Point q passes share*(lambda + gamma) to q+1 and share*(lambda - gamma) to q-1; the last point passes nothing
           up, and -2 gamma down. */
        TB_UNROLL
        for (int k = 0; k <= 2 * H; k++) {
            double q = j + k - H, share = (k == H ? 1 + w[k] : w[k]) * q;
            int last = j + k - H == model.points - 1;
            double up = last ? 0 : share * (variance * q + drift);
            double down = share * (last ? -2 * drift : variance * q - drift);
            w[k] += incoming - up - down - model.discount * (k == H ? 1 + w[k] : w[k]);
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

/* Solves   how many steps go into one stencil of H points to each side: at least H, where it is exact, and as many as
            lose no more than the unit roundoff in the row next to the top, where most would be lost
   Cost     some 12 (2H+1) double operations a step */
TB_HD int BS1D_F(bs1d_lane_composed)(bs1d_model model, int H)
{
    double w[2 * BS1D_P_REACH + 1];
    int most, j = model.points - 2 - H;
    BS1D_F(bs1d_p_compose_row)
    (model, H, j > 0 ? j : 0, BS1D_P_MOST_COMPOSED, w, BS1D_P_ROUNDOFF, &most);
    return most; /* H steps lose nothing */
}

/* Solves   into how many sweeps of how many steps (*composed, at most most) to part steps: the fewest operations, what
            is left over (returned) being taken singly */
TB_HD int BS1D_F(bs1d_lane_sweeps)(int H, int most, int steps, int *composed)
{
    long long least = (long long)3 * steps;
    *composed = 0;
    for (int m = most; m > 1 && m > most / 2; m--) {
        long long sweep = sizeof(BS1D_R) == 4 ? 2 * H + 2 : 2 * H + 1;
        long long cost = (steps / m) * sweep + (long long)3 * (steps % m);
        if (cost < least) {
            least = cost;
            *composed = m;
        }
    }
    return *composed ? steps % *composed : steps;
}

/* Solves   the coefficients for bs1d_warp_explicit3: rows first .. first+K-1 of (I+A)^m - I, 2H+1 each; the diagonal is
            set so that the rounded row sums to what it should, (1 - rate dt)^m - 1
   Needs    K, H literals, H <= 16; coefficient of K*(2H+1) elements
   Cost     some 12 (2H+1) m double operations a row */
TB_HD void BS1D_F(bs1d_lane_compose)(int K, int H, bs1d_model model, int first, int m, BS1D_R *coefficient)
{
    double row_sum = 0;
    for (int s = 0; s < m; s++) row_sum -= model.discount * (1 + row_sum);
    TB_UNROLL
    for (int i = 0; i < K; i++) {
        double w[2 * BS1D_P_REACH + 1], diagonal = first + i < model.points ? row_sum : 0;
        BS1D_R *row = coefficient + i * (2 * H + 1);
        if (first + i < model.points) {
            BS1D_F(bs1d_p_compose_row)(model, H, first + i, m, w, 0, (int *)0);
        } else {
            TB_UNROLL
            for (int k = 0; k <= 2 * H; k++) w[k] = 0;
        }
        TB_UNROLL
        for (int k = 0; k <= 2 * H; k++) {
            row[k] = (BS1D_R)w[k];
            if (k != H) diagonal -= (double)row[k];
        }
        row[H] = (BS1D_R)diagonal;
    }
}

#if TB_DEVICE_SCOPES
/* ---- device functions: a team of W lanes marches an option, K rows in each lane ---------------------------------- */

/* W is 16 or 32 lanes of a warp, or more: all threads of a block. Rows from points on are zero and stay so. */

TB_D int BS1D_F(bs1d_p_rank)(int W)
{
    return W > 32 ? (int)threadIdx.x : trid_warp_lane() & (W - 1);
}

TB_D int BS1D_F(bs1d_p_team)(int W)
{
    return W > 32 ? (int)blockIdx.x : (int)((blockIdx.x * (size_t)blockDim.x + threadIdx.x) / W);
}

/* Does any lane of the team say so? */
TB_D int BS1D_F(bs1d_p_any)(int W, int said)
{
    if (W > 32) return __syncthreads_or(said);
    unsigned votes = __ballot_sync(TB_FULL_WARP, said);
    return W == 32 ? votes != 0 : (votes >> (trid_warp_lane() & ~(W - 1)) & ((1u << W) - 1)) != 0;
}

/* The least of the teams of a warp (or of the one team of a block). */
TB_D int BS1D_F(bs1d_p_least)(int W, int n)
{
    TB_UNROLL
    for (int distance = W; distance < 32; distance *= 2) {
        int other = __shfl_xor_sync(TB_FULL_WARP, n, distance);
        n = other < n ? other : n;
    }
    return trid_warp_uniform(n);
}

/* ---- options: in, and out ---------------------------------------------------------------------------------------- */

/* The team's option and its model; returns its status, or BS1D_P_NONE where there is none. A bad option gets a model
   that does nothing, so that its lanes can take part in the march. */
TB_D int BS1D_F(bs1d_p_load)(int W, int team, int options, int points, const BS1D_F(bs1d_option) * option,
                             const BS1D_R *grid, BS1D_F(bs1d_option) * o, bs1d_model *m)
{
    const int width = W > 32 ? 32 : W, there = team < options;
    BS1D_R word;
    BS1D_F(transpose_load_striped)(1, width, there ? 9 : 0, (const BS1D_R *)(option + (there ? team : 0)), 0, &word);
    o->spot = __shfl_sync(TB_FULL_WARP, word, 0, width);
    o->strike = __shfl_sync(TB_FULL_WARP, word, 1, width);
    o->rate = __shfl_sync(TB_FULL_WARP, word, 2, width);
    o->dividend = __shfl_sync(TB_FULL_WARP, word, 3, width);
    o->volatility = __shfl_sync(TB_FULL_WARP, word, 4, width);
    o->maturity = __shfl_sync(TB_FULL_WARP, word, 5, width);
    o->top = __shfl_sync(TB_FULL_WARP, word, 6, width);
    o->steps = BS1D_P_BITS(__shfl_sync(TB_FULL_WARP, word, 7, width));
    o->flags = BS1D_P_BITS(__shfl_sync(TB_FULL_WARP, word, 8, width));
    int status = there ? BS1D_F(bs1d_p_model)(*o, points, m) : BS1D_P_NONE;
    if (!status && (o->flags & BS1D_GIVEN) && !grid) status = BS1D_BAD_ARGUMENT;
    if (status) BS1D_F(bs1d_p_idle)(points, o, m);
    return status;
}

/* Rows first .. first+K-1 of what the team's march starts from: the payoff, or what lies in the grid. */
TB_D void BS1D_F(bs1d_p_start)(int K, int team, int first, int points, BS1D_F(bs1d_option) o, const BS1D_R *grid,
                               BS1D_R *u)
{
    double ds = (double)o.top / (points - 1);
    const BS1D_R *row = grid + team * (size_t)points;
    TB_UNROLL
    for (int i = 0; i < K; i++) {
        int j = first + i;
        u[i] = 0;
        if (j < points)
            u[i] =
                o.flags & BS1D_GIVEN ? row[j] : (BS1D_R)bs1d_lane_payoff((int)o.flags, (double)o.strike, ds, points, j);
    }
}

/* What an American option is worth at least; of another, a number that nothing is below. */
TB_D void BS1D_F(bs1d_p_floor)(int K, int first, int points, BS1D_F(bs1d_option) o, BS1D_R *floor)
{
    double ds = (double)o.top / (points - 1);
    TB_UNROLL
    for (int i = 0; i < K; i++) {
        floor[i] = (o.flags & BS1D_AMERICAN) ? 0 : BS1D_P_LOWEST;
        if ((o.flags & BS1D_AMERICAN) && first + i < points)
            floor[i] = (BS1D_R)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, first + i);
    }
}

/* Solves   price, delta, gamma and theta of the option from the values u at the present, by cubic interpolation between
            the four points around the spot; theta is what the PDE makes of the others, or 0 where an American option
            (BS1D_AMERICAN) is exercised at the spot, being worth no more than its payoff
   Needs    K, W literals; row K*l + j in u[j] of lane l; of o all fields but maturity, steps and the other flags
   Lanes    as bs1d_warp_explicit2
   Leaves   *result in global memory, written by the team's first lane; null for a team without an option
   Shared   4 elements for the team, __syncthreads() or __syncwarp() before another use
   Cost     K comparisons, and about 150 double operations in one lane
   Error    as that of u, delta's divided by the spacing, gamma's by its square; status BS1D_NOT_FINITE and four NaN
            where a result is infinite or NaN */
TB_D void BS1D_F(bs1d_warp_greeks)(int K, int W, int points, BS1D_F(bs1d_option) o, const BS1D_R *u,
                                   BS1D_F(bs1d_result) * result, BS1D_R *shared)
{
    int rank = BS1D_F(bs1d_p_rank)(W), first = BS1D_F(bs1d_p_first)(o, points);
    TB_UNROLL
    for (int i = 0; i < K; i++) {
        int q = K * rank + i - first;
        if (q >= 0 && q < 4) shared[q] = u[i];
    }
    if (W > 32)
        __syncthreads();
    else
        __syncwarp(TB_FULL_WARP);
    if (rank == 0 && result) BS1D_F(bs1d_p_greeks)(points, o, shared, result);
}

/* Result and grid of the team's option, if it has one. The option is read again: to keep it through the march would
   cost more registers than the march can spare. */
TB_D void BS1D_F(bs1d_p_finish)(int K, int W, int team, int options, int points, int status,
                                const BS1D_F(bs1d_option) * option, BS1D_R *u, BS1D_F(bs1d_result) * result,
                                BS1D_R *grid, BS1D_R *shared)
{
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    BS1D_F(bs1d_p_load)(W, team, options, points, option, grid, &o, &m);
    BS1D_F(bs1d_warp_greeks)(K, W, points, o, u, status ? 0 : result + team, shared);
    if (status < 0) {
        if (BS1D_F(bs1d_p_rank)(W) == 0) BS1D_F(bs1d_p_fail)(status, result + team);
        TB_UNROLL
        for (int i = 0; i < K; i++) u[i] = BS1D_F(bs1d_p_nan)();
    }
    if (grid) {
        const int width = W > 32 ? 32 : W;
        int mine = status != BS1D_P_NONE, above = W > 32 ? K * ((int)threadIdx.x & ~31) : 0; /* rows of warps before */
        BS1D_R *row = grid + (mine ? team : 0) * (size_t)points + above;
        BS1D_F(transpose_store_shfl)(K, width, mine ? points - above : 0, u, row);
    }
}

/* ---- explicit1 --------------------------------------------------------------------------------------------------- */

/* Rows first .. first+K-1 of A, which is zero from points on. */
TB_D void BS1D_F(bs1d_p_rows)(int K, bs1d_model model, int first, BS1D_R *a, BS1D_R *b, BS1D_R *c)
{
    TB_UNROLL
    for (int i = 0; i < K; i++) {
        double ra, rb, rc;
        bs1d_lane_row(model, first + i, &ra, &rb, &rc);
        a[i] = (BS1D_R)ra;
        b[i] = (BS1D_R)rb;
        c[i] = (BS1D_R)rc;
    }
}

/* One step of a point; mine is its place in one of two arrays that serve in turn, so that one barrier a step
   suffices. */
TB_D void BS1D_F(bs1d_p_explicit1_step)(BS1D_R a, BS1D_R b, BS1D_R c, const BS1D_R *floor, BS1D_R *u, BS1D_R *mine)
{
    mine[1] = *u;
    __syncthreads();
    *u = *u + a * mine[0] + b * *u + c * mine[2];
    if (floor) *u = BS1D_F(bs1d_p_max)(*u, *floor);
}

TB_D void BS1D_F(bs1d_p_explicit1_march)(int steps, BS1D_R a, BS1D_R b, BS1D_R c, const BS1D_R *floor, BS1D_R *u,
                                         BS1D_R *mine, int length)
{
    steps = trid_warp_uniform(steps);
    for (int n = 0; n < steps / 2; n++) {
        BS1D_F(bs1d_p_explicit1_step)(a, b, c, floor, u, mine);
        BS1D_F(bs1d_p_explicit1_step)(a, b, c, floor, u, mine + length);
    }
    if (steps % 2) BS1D_F(bs1d_p_explicit1_step)(a, b, c, floor, u, mine);
    __syncthreads();
}

/* ---- explicit2 --------------------------------------------------------------------------------------------------- */

/* x[H .. H+K-1] = u, and H points of the neighbours on each side. H <= K. shared: 8*H elements where W > 32, used in
   two halves in turn so that one barrier a call suffices. */
TB_D void BS1D_F(bs1d_p_halo)(int K, int W, int H, int turn, const BS1D_R *u, BS1D_R *x, BS1D_R *shared)
{
    int width = W > 32 ? 32 : W;
    TB_UNROLL
    for (int i = 0; i < K; i++) x[H + i] = u[i];
    TB_UNROLL
    for (int h = 1; h <= H; h++) {
        x[H - h] = __shfl_up_sync(TB_FULL_WARP, u[K - h], 1, width);
        x[H + K - 1 + h] = __shfl_down_sync(TB_FULL_WARP, u[h - 1], 1, width);
    }
    if (W > 32) {
        int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
        BS1D_R *mine = shared + (turn & 1) * 4 * H;
        TB_UNROLL
        for (int h = 1; h <= H; h++) {
            if (warp == 0 && lane == 31) mine[h - 1] = u[K - h];
            if (warp == 1 && lane == 0) mine[H + h - 1] = u[h - 1];
        }
        __syncthreads();
        TB_UNROLL
        for (int h = 1; h <= H; h++) {
            if (warp == 1 && lane == 0) x[H - h] = mine[h - 1];
            if (warp == 0 && lane == 31) x[H + K - 1 + h] = mine[H + h - 1];
        }
    }
}

/* One explicit step: u[i] += a[i] x[i] + b[i] x[i+1] + c[i] x[i+2], x being u and its neighbours; never below floor, if
   that is not null. In double precision point by point, every second one first and the neighbours' last, so that
   consecutive multiply-adds share a point, which spares the register file a read. */
TB_D void BS1D_F(bs1d_p_explicit_step)(int K, const BS1D_R *a, const BS1D_R *b, const BS1D_R *c, const BS1D_R *floor,
                                       const BS1D_R *x, BS1D_R *u)
{
    if (sizeof(BS1D_R) == 4) {
        BS1D_R left = x[0];
        TB_UNROLL
        for (int i = 0; i < K; i++) {
            BS1D_R old = u[i];
            u[i] = old + a[i] * left + b[i] * old + c[i] * (i < K - 1 ? u[i + 1] : x[K + 1]);
            left = old;
        }
    } else {
        TB_UNROLL
        for (int z = 0; z < K + 2; z++) {
            int q = z < K ? 1 + 2 * z % K + 2 * z / K : z == K ? 0 : K + 1;
            if (q > 0 && q <= K) u[q - 1] += b[q - 1] * x[q];
            if (q < K) u[q] += a[q] * x[q];
            if (q > 1) u[q - 2] += c[q - 2] * x[q];
        }
    }
    if (floor) {
        TB_UNROLL
        for (int i = 0; i < K; i++) u[i] = BS1D_F(bs1d_p_max)(u[i], floor[i]);
    }
}

/* Solves   steps explicit steps: row K*l + j of u is u[j] of lane l, rows of A in a, b, c (bs1d_lane_row)
   Needs    K, W literals; floor null (a literal), or what an American option is worth at least
   Lanes    W <= 32: all 32 of the warp; W = 64: all threads of a block of 64. steps the same for all
   Leaves   u
   Shared   none for W <= 32 (pass null), else 8 elements, __syncthreads() before another use
   Cost     a step: 3K FMA + 2 shuffles (a double counts two) */
TB_D void BS1D_F(bs1d_warp_explicit2)(int K, int W, int steps, const BS1D_R *a, const BS1D_R *b, const BS1D_R *c,
                                      const BS1D_R *floor, BS1D_R *u, BS1D_R *shared)
{
    steps = trid_warp_uniform(steps);
    BS1D_P_UNROLL_STEPS
    for (int s = 0; s < steps; s++) {
        BS1D_R x[BS1D_P_ROWS + 2];
        BS1D_F(bs1d_p_halo)(K, W, 1, s, u, x, shared);
        BS1D_F(bs1d_p_explicit_step)(K, a, b, c, floor, x, u);
    }
}

/* ---- explicit3 --------------------------------------------------------------------------------------------------- */

/* Solves   sweeps times u += C u, C a band of 2H+1 diagonals (bs1d_lane_compose). In single precision the products of
            offsets of two and more are summed before u is added: added to u one by one the small ones would be lost.
            Consecutive multiply-adds share a point, which spares the register file a read.
   Needs    K, W, H <= K literals
   Lanes, Leaves as bs1d_warp_explicit2
   Shared   none for W <= 32 (pass null), else 8*H elements, __syncthreads() before another use
   Cost     a sweep: K (2H+1) FMA, in single precision also K additions, and 2H shuffles (a double counts two) */
TB_D void BS1D_F(bs1d_warp_explicit3)(int K, int W, int H, int sweeps, const BS1D_R *coefficient, BS1D_R *u,
                                      BS1D_R *shared)
{
    const int far_first = sizeof(BS1D_R) == 4 && H > 1;
    sweeps = trid_warp_uniform(sweeps);
    BS1D_P_UNROLL_SWEEPS
    for (int s = 0; s < sweeps; s++) {
        BS1D_R x[BS1D_P_ROWS + 2 * BS1D_P_REACH];
        BS1D_F(bs1d_p_halo)(K, W, H, s, u, x, shared);
        TB_UNROLL
        for (int i = 0; i < K; i++) u[i] = far_first ? 0 : x[H + i];
        TB_UNROLL
        for (int pass = far_first ? 0 : 1; pass < 2; pass++) {
            /* Own points first (in double precision every second one before the rest), then the neighbours', which have
               come by shuffle meanwhile. */
            TB_UNROLL
            for (int z = 0; z < K + 2 * H; z++) {
                int q = sizeof(BS1D_R) == 8 ? BS1D_P_POINT_F64(K, H, z) : BS1D_P_POINT_F32(K, H, z);
                TB_UNROLL
                for (int i = 0; i < K; i++) {
                    int k = q - i, middle = k >= H - 1 && k <= H + 1;
                    if (k < 0 || k > 2 * H || (far_first && middle != pass)) continue;
                    u[i] += coefficient[i * (2 * H + 1) + k] * x[q];
                }
            }
            if (pass == 0) {
                TB_UNROLL
                for (int i = 0; i < K; i++) u[i] += x[H + i];
            }
        }
    }
}

/* ---- implicit1 and implicit2: the matrix is built and solved in each step ---------------------------------------- */

/* What an implicit step works with. */
typedef struct {
    BS1D_R variance, drift, discount; /* of size*A */
    BS1D_R least;                     /* upwinding: lambda_j is at least least*j */
    BS1D_R left_out;                  /* of the last row of the matrix (bs1d_lane_matrix) */
    int points, first /* row of this lane */, pcr_steps;
    const BS1D_R *f; /* factored matrix, or null: build it in each step */
    BS1D_R *shared;  /* W = 64: 192 elements for the solver, 8 for the halo */
} BS1D_F(bs1d_p_step_data);

/* Rows of I - size*A in the working precision (identity from points on), as a march whose coefficients change with time
   would build them in each step. (What does not change the compiler moves out of the loop.) special, a literal: is
   there upwinding? */
TB_D void BS1D_F(bs1d_p_matrix_now)(int K, int special, BS1D_F(bs1d_p_step_data) s, BS1D_R *a, BS1D_R *b, BS1D_R *c)
{
    TB_UNROLL
    for (int i = 0; i < K; i++) {
        BS1D_R j = (BS1D_R)(s.first + i < s.points ? s.first + i : 0), gamma = s.drift * j;
        BS1D_R lambda = s.variance * j * j;
        if (special) lambda = BS1D_F(bs1d_p_max)(lambda, s.least * j);
        if (s.first + i == s.points - 1) lambda = -gamma; /* which is what the last row comes to */
        a[i] = gamma - lambda;
        b[i] = 1 + s.discount + 2 * lambda;
        c[i] = -lambda - gamma;
    }
}

/* g = times (size*A) u, in differences of neighbours, which single precision needs: with a and c of I - size*A. */
TB_D void BS1D_F(bs1d_p_increment)(int K, int W, BS1D_R times, BS1D_R discount, const BS1D_R *a, const BS1D_R *c,
                                   const BS1D_R *u, BS1D_R *g, int turn, BS1D_R *shared)
{
    BS1D_R x[BS1D_P_ROWS + 2];
    BS1D_F(bs1d_p_halo)(K, W, 1, turn, u, x, shared);
    TB_UNROLL
    for (int i = 0; i < K; i++)
        g[i] = times * (a[i] * (x[i + 1] - x[i]) - c[i] * (x[i + 2] - x[i + 1]) - discount * x[i + 1]);
}

/* y becomes the solution of M y = u, M = I - size*A, or for the increment of M y = size*A u (Crank-Nicolson, size =
   1/2: A u). push is null, or what is added on the right, half of it where y is half a Crank-Nicolson step; with it
   there may be upwinding, and a last row of M without its drift. The rows that are built serve the solver, which
   clobbers them, if there is no factored matrix. */
TB_D void BS1D_F(bs1d_p_step_solve)(int K, int W, int increment, int crank, int turn, BS1D_F(bs1d_p_step_data) s,
                                    const BS1D_R *push, const BS1D_R *u, BS1D_R *y)
{
    const int special = push != 0;
    BS1D_R a[BS1D_P_ROWS] = {0}, b[BS1D_P_ROWS] = {0}, c[BS1D_P_ROWS] = {0};
    BS1D_R part = !increment && crank ? (BS1D_R)0.5 : 1;
    if (!s.f || increment) BS1D_F(bs1d_p_matrix_now)(K, special, s, a, b, c);
    if (increment) {
        BS1D_F(bs1d_p_increment)(K, W, crank ? 2 : 1, s.discount, a, c, u, y, turn, s.shared + 192);
    } else {
        TB_UNROLL
        for (int i = 0; i < K; i++) y[i] = u[i];
    }
    if (special) {
        TB_UNROLL
        for (int i = 0; i < K; i++) y[i] += part * push[i];
        if (s.left_out != 0) {
            BS1D_R x[BS1D_P_ROWS + 2];
            if (!increment) BS1D_F(bs1d_p_halo)(K, W, 1, turn, u, x, s.shared + 192);
            TB_UNROLL
            for (int i = 0; i < K; i++) {
                if (s.first + i != s.points - 1) continue;
                a[i] = 0;
                b[i] = 1 + s.discount;
                if (!increment) y[i] += s.left_out * (x[i + 1] - x[i]);
            }
        }
    }
    if (W > 32) {
        __syncthreads(); /* the solve before has been read */
        BS1D_F(trid_block_hybrid)(K, K * W, a, b, c, y, s.shared);
    } else if (s.f) {
        BS1D_F(trid_warp_solve)(K, W, K * W, s.pcr_steps, s.f, y);
    } else {
        BS1D_F(trid_warp_hybrid)(K, W, K * W, a, b, c, y);
    }
}

/* What a step makes of u and y. */
TB_D BS1D_R BS1D_F(bs1d_p_next)(int increment, int crank, BS1D_R u, BS1D_R y)
{
    return increment ? u + y : crank ? 2 * y - u : y;
}

/* ---- implicit3 and implicit4: the matrix is factored once -------------------------------------------------------- */

/* bs1d_warp_implicit3, which calls it for no PCR steps apart: short time steps need none, and the loop is then without
   branches. (With more than 16 rows a lane registers are short, and a second loop only takes time to compile.) */
TB_D void BS1D_F(bs1d_p_factored_march)(int K, int W, int steps, int crank, int active, int pcr_steps, const BS1D_R *f,
                                        BS1D_R *u)
{
    steps = trid_warp_uniform(steps);
    for (int s = 0; s < steps; s++) {
        BS1D_R y[BS1D_P_ROWS];
        TB_UNROLL
        for (int i = 0; i < K; i++) y[i] = u[i];
        BS1D_F(trid_warp_solve)(K, W, K * W, pcr_steps, f, y);
        TB_UNROLL
        for (int i = 0; i < K; i++) u[i] = active ? BS1D_F(bs1d_p_next)(0, crank, u[i], y[i]) : u[i];
    }
}

/* Solves   steps implicit steps with the factored matrix M, for the lanes that are active: u' = y, or (crank,
            a literal) 2y - u, with M y = u
   Needs    K, W <= 32 literals; f and pcr_steps from trid_warp_factor of M = I - A (crank: I - A/2); rows from points
            on are 0; active the same for the lanes of a group, a literal 1 where all are
   Lanes    all 32 of the warp
   Leaves   u
   Shared   none
   Cost     a step: that of trid_warp_solve */
TB_D void BS1D_F(bs1d_warp_implicit3)(int K, int W, int steps, int crank, int active, int pcr_steps, const BS1D_R *f,
                                      BS1D_R *u)
{
    pcr_steps = trid_warp_uniform(pcr_steps);
    if (K <= 16 && pcr_steps == 0)
        BS1D_F(bs1d_p_factored_march)(K, W, steps, crank, active, 0, f, u);
    else
        BS1D_F(bs1d_p_factored_march)(K, W, steps, crank, active, pcr_steps, f, u);
}

/* The same in increments. Since M u' = u, size*A u' = u' - u: the right-hand side of the next step is the increment of
   this one (for Crank-Nicolson, A u' = 2y - A u), so a step costs one addition more than the direct form. Rounding
   would grow along the chain, so the right-hand side is formed from u anew every BS1D_P_REFRESH steps. */
TB_D void BS1D_F(bs1d_p_increment_march)(int K, int W, int steps, int crank, int pcr_steps, BS1D_F(bs1d_p_step_data) s,
                                         BS1D_R *u)
{
    steps = trid_warp_uniform(steps);
    for (int done = 0; done < steps; done += BS1D_P_REFRESH) {
        int some = steps - done < BS1D_P_REFRESH ? steps - done : BS1D_P_REFRESH;
        BS1D_R a[BS1D_P_ROWS] = {0}, b[BS1D_P_ROWS], c[BS1D_P_ROWS] = {0}, g[BS1D_P_ROWS];
        BS1D_F(bs1d_p_matrix_now)(K, 0, s, a, b, c);
        BS1D_F(bs1d_p_increment)(K, W, crank ? 2 : 1, s.discount, a, c, u, g, 0, s.shared);
        for (int t = 0; t < some; t++) {
            BS1D_R y[BS1D_P_ROWS];
            TB_UNROLL
            for (int i = 0; i < K; i++) y[i] = g[i];
            BS1D_F(trid_warp_solve)(K, W, K * W, pcr_steps, s.f, y);
            TB_UNROLL
            for (int i = 0; i < K; i++) {
                u[i] += y[i];
                g[i] = crank ? 2 * y[i] - g[i] : y[i];
            }
        }
    }
}

/* ---- implicit marches -------------------------------------------------------------------------------------------- */

/* steps steps of a rung, 5 being rung 4 in increments, with the same for all teams of the warp; crank a literal. */
TB_D void BS1D_F(bs1d_p_steps)(int rung, int K, int W, int steps, int crank, int turn, BS1D_F(bs1d_p_step_data) s,
                               BS1D_R *u)
{
    if (s.f && rung == 5) {
        int pcr_steps = trid_warp_uniform(s.pcr_steps);
        if (K <= 16 && pcr_steps == 0) /* as in bs1d_warp_implicit3 */
            BS1D_F(bs1d_p_increment_march)(K, W, steps, crank, 0, s, u);
        else
            BS1D_F(bs1d_p_increment_march)(K, W, steps, crank, pcr_steps, s, u);
    } else if (s.f) {
        BS1D_F(bs1d_warp_implicit3)(K, W, steps, crank, 1, s.pcr_steps, s.f, u);
    } else {
        const int increment = rung == 2 || rung == 5;
        steps = trid_warp_uniform(steps);
        for (int i = 0; i < steps; i++) {
            BS1D_R y[BS1D_P_ROWS];
            BS1D_F(bs1d_p_step_solve)(K, W, increment, crank, turn + i, s, (const BS1D_R *)0, u, y);
            TB_UNROLL
            for (int j = 0; j < K; j++) u[j] = BS1D_F(bs1d_p_next)(increment, crank, u[j], y[j]);
        }
    }
}

/* The whole march of the teams of a warp, of which one may stand by, having no option: what is common to all fast, then
   step by step what they want each for itself. */
TB_D void BS1D_F(bs1d_p_march)(int rung, int K, int W, bs1d_p_plan plan, int stands_by, BS1D_F(bs1d_p_step_data) s,
                               BS1D_R *u)
{
    const int increment = rung == 2 || rung == 5;
    int total = plan.implicit + plan.crank, start = BS1D_F(bs1d_p_least)(W, stands_by ? BS1D_P_LOST : plan.implicit);
    int common = BS1D_F(bs1d_p_least)(W, stands_by ? BS1D_P_LOST : plan.implicit > start ? 0 : plan.crank);
    if (start == BS1D_P_LOST) return;
    BS1D_F(bs1d_p_steps)(rung, K, W, start, 0, 0, s, u);
    BS1D_F(bs1d_p_steps)(rung, K, W, common, 1, start, s, u);
    if (W >= 32) return;
    int longest = -BS1D_F(bs1d_p_least)(W, stands_by ? 0 : -total);
    for (int n = start + common; n < longest; n++) {
        BS1D_R y[BS1D_P_ROWS];
        int crank = n >= plan.implicit, active = !stands_by && n < total;
        BS1D_F(bs1d_p_step_solve)(K, W, increment, crank, n, s, (const BS1D_R *)0, u, y);
        TB_UNROLL
        for (int j = 0; j < K; j++) u[j] = active ? BS1D_F(bs1d_p_next)(increment, crank, u[j], y[j]) : u[j];
    }
}

/* The march of what the other does not do: American exercise (Ikonen and Toivanen: push, dt times the multiplier that
   keeps the value up, goes in on the right, is taken off the result, and takes up what the floor then adds), upwinding,
   a last row of the matrix without its drift. */
TB_D void BS1D_F(bs1d_p_special_march)(int K, int W, int increment, bs1d_p_plan plan, BS1D_F(bs1d_p_step_data) s,
                                       const BS1D_R *floor, BS1D_R *u)
{
    int total = trid_warp_uniform(plan.implicit + plan.crank);
    BS1D_R push[BS1D_P_ROWS];
    TB_UNROLL
    for (int i = 0; i < K; i++) push[i] = 0;
    for (int n = 0; n < total; n++) {
        BS1D_R y[BS1D_P_ROWS];
        int crank = n >= plan.implicit;
        if (n == plan.implicit) {
            TB_UNROLL
            for (int i = 0; i < K; i++) push[i] *= 2; /* from here on the multiplier belongs to a whole step */
        }
        BS1D_F(bs1d_p_step_solve)(K, W, increment, crank, n, s, push, u, y);
        TB_UNROLL
        for (int i = 0; i < K; i++) {
            BS1D_R free = BS1D_F(bs1d_p_next)(increment, crank, u[i], y[i]) - push[i];
            u[i] = BS1D_F(bs1d_p_max)(free, floor[i]);
            push[i] = u[i] - free;
        }
    }
}
#endif /* TB_DEVICE_SCOPES */

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES
/* ---- kernels: templates over their sizes ------------------------------------------------------------------------- */

extern "C++" {
/* explicit1: a block an option, a thread a point. */
template <int threads>
TRID_KERNEL void __launch_bounds__(threads, BS1D_P_RESIDENT_THREADS / threads)
    BS1D_F(bs1d_p_explicit1)(int options, int points, const BS1D_F(bs1d_option) * option, BS1D_F(bs1d_result) * result,
                             BS1D_R *grid)
{
    enum { length = threads + 2, any_block = 1024 };
    __shared__ BS1D_R shared[2 * length];
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    int j = (int)threadIdx.x, team = (int)blockIdx.x;
    int status = BS1D_F(bs1d_p_load)(any_block, team, options, points, option, grid, &o, &m);
    if (!status && !BS1D_F(bs1d_p_stable)(m)) {
        status = BS1D_UNSTABLE;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
    }
    BS1D_R a, b, c, u, floor;
    BS1D_F(bs1d_p_rows)(1, m, j, &a, &b, &c);
    BS1D_F(bs1d_p_start)(1, team, j, points, o, grid, &u);
    if (j == 0) shared[0] = shared[length] = 0;
    if (j == (int)blockDim.x - 1) shared[j + 2] = shared[length + j + 2] = 0;
    if (o.flags & BS1D_AMERICAN) {
        BS1D_F(bs1d_p_floor)(1, j, points, o, &floor);
        BS1D_F(bs1d_p_explicit1_march)((int)o.steps, a, b, c, &floor, &u, shared + j, length);
    } else {
        BS1D_F(bs1d_p_explicit1_march)((int)o.steps, a, b, c, (const BS1D_R *)0, &u, shared + j, length);
    }
    BS1D_F(bs1d_p_finish)(1, any_block, team, options, points, status, option, &u, result, grid, shared);
}

/* explicit2, for all options or for those alone that explicit3 does not march. */
template <int K, int W>
TRID_KERNEL void __launch_bounds__(BS1D_P_BLOCK(W), sizeof(BS1D_R) == 4 && K == 8 ? 7 : 0)
    BS1D_F(bs1d_p_explicit2)(int special_alone, int options, int points, const BS1D_F(bs1d_option) * option,
                             BS1D_F(bs1d_result) * result, BS1D_R *grid)
{
    __shared__ BS1D_R all_shared[BS1D_P_BLOCK(W) / W * BS1D_P_SHARED(W)];
    BS1D_R *shared = all_shared + threadIdx.x / W * BS1D_P_SHARED(W), u[K], a[K], b[K], c[K];
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    int team = BS1D_F(bs1d_p_team)(W), first = K * BS1D_F(bs1d_p_rank)(W);
    int status = BS1D_F(bs1d_p_load)(W, team, options, points, option, grid, &o, &m);
    int american = trid_warp_uniform((o.flags & BS1D_AMERICAN) != 0);
    if (!trid_warp_uniform(status != BS1D_P_NONE && (!special_alone || BS1D_F(bs1d_p_special)(o)))) return;
    if (!status && !BS1D_F(bs1d_p_stable)(m)) {
        status = BS1D_UNSTABLE;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
    }
    BS1D_F(bs1d_p_start)(K, team, first, points, o, grid, u);
    BS1D_F(bs1d_p_rows)(K, m, first, a, b, c);
    if (american) {
        BS1D_R floor[K];
        BS1D_F(bs1d_p_floor)(K, first, points, o, floor);
        BS1D_F(bs1d_warp_explicit2)(K, W, (int)o.steps, a, b, c, floor, u, shared);
    } else {
        BS1D_F(bs1d_warp_explicit2)(K, W, (int)o.steps, a, b, c, (const BS1D_R *)0, u, shared);
    }
    if (W > 32) __syncthreads();
    BS1D_F(bs1d_p_finish)(K, W, team, options, points, status, option, u, result, grid, shared);
}

/* explicit3: composed as far as the steps allow, the rest step by step. */
template <int K, int W, int H>
TRID_KERNEL void __launch_bounds__(BS1D_P_BLOCK(W))
    BS1D_F(bs1d_p_explicit3)(int options, int points, const BS1D_F(bs1d_option) * option, BS1D_F(bs1d_result) * result,
                             BS1D_R *grid)
{
    __shared__ BS1D_R all_shared[BS1D_P_BLOCK(W) / W * BS1D_P_SHARED(W)];
    BS1D_R *shared = all_shared + threadIdx.x / W * BS1D_P_SHARED(W), u[K], a[K], b[K], c[K];
    BS1D_R coefficient[K * (2 * H + 1)];
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    int team = BS1D_F(bs1d_p_team)(W), first = K * BS1D_F(bs1d_p_rank)(W);
    int status = BS1D_F(bs1d_p_load)(W, team, options, points, option, grid, &o, &m);
    if (!trid_warp_uniform(status != BS1D_P_NONE && !BS1D_F(bs1d_p_special)(o))) return;
    if (!status && !BS1D_F(bs1d_p_stable)(m)) {
        status = BS1D_UNSTABLE;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
    }
    BS1D_F(bs1d_p_start)(K, team, first, points, o, grid, u);
    int steps = (int)o.steps, composed, most = BS1D_F(bs1d_lane_composed)(m, H);
    int rest = BS1D_F(bs1d_lane_sweeps)(H, most, steps, &composed);
    composed = trid_warp_uniform(composed);
    if (composed) {
        BS1D_F(bs1d_lane_compose)(K, H, m, first, composed, coefficient);
        BS1D_F(bs1d_warp_explicit3)(K, W, H, steps / composed, coefficient, u, shared);
        if (W > 32) __syncthreads();
    }
    if (sizeof(BS1D_R) == 8) { /* read again, rather than kept in registers that the sweeps want */
        BS1D_F(bs1d_p_load)(W, team, options, points, option, grid, &o, &m);
        if (status) BS1D_F(bs1d_p_idle)(points, &o, &m);
        m.upwind = 0;
    }
    BS1D_F(bs1d_p_rows)(K, m, first, a, b, c);
    BS1D_F(bs1d_warp_explicit2)(K, W, rest, a, b, c, (const BS1D_R *)0, u, shared);
    if (W > 32) __syncthreads();
    BS1D_F(bs1d_p_finish)(K, W, team, options, points, status, option, u, result, grid, shared);
}

/* implicit1 to implicit4, and 5: implicit4 in increments. special: the options that need the special march, or all
   others; what is none is reported with the others. */
template <int rung, int special, int K, int W>
TRID_KERNEL void __launch_bounds__(BS1D_P_BLOCK(W), sizeof(BS1D_R) == 4 ? BS1D_P_RESIDENT_F32(rung, special, K)
                                                                        : BS1D_P_RESIDENT_F64(rung, special, K))
    BS1D_F(bs1d_p_implicit)(int options, int points, const BS1D_F(bs1d_option) * option, BS1D_F(bs1d_result) * result,
                            BS1D_R *grid)
{
    __shared__ BS1D_R all_shared[BS1D_P_BLOCK(W) / W * BS1D_P_SHARED(W)];
    BS1D_R *shared = all_shared + threadIdx.x / W * BS1D_P_SHARED(W), u[K], f[TRID_WARP_FACTOR_LEN(K)];
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    double ra, rb, rc;
    int team = BS1D_F(bs1d_p_team)(W), first = K * BS1D_F(bs1d_p_rank)(W), dominant = 1;
    int status = BS1D_F(bs1d_p_load)(W, team, options, points, option, grid, &o, &m);
    bs1d_p_plan plan = bs1d_p_plan_of((int)o.flags, (int)o.steps);
    double left_out = bs1d_lane_matrix(m, plan.size, points - 1, &ra, &rb, &rc);
    int increment = rung == 2 || (rung >= 4 && (o.flags & BS1D_INCREMENT) != 0);
    int mine =
        special == (BS1D_F(bs1d_p_special)(o) || left_out != 0) && (special || rung < 4 || increment == (rung == 5));
    if (!mine && status != BS1D_P_NONE) {
        status = BS1D_P_NONE;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
        plan = bs1d_p_plan_of(0, 1);
    }
    if (BS1D_F(bs1d_p_least)(W, status == BS1D_P_NONE)) return;
    /* Start values first, when there is nothing else in registers; rung 4 is a little faster with them after the
       factors, where these leave room. */
    const int factored = rung >= 3 && W <= 32, early = rung != 4 || K > 16;
    if (early) BS1D_F(bs1d_p_start)(K, team, first, points, o, grid, u);
    BS1D_R a[K], b[K], c[K];
    TB_UNROLL
    for (int i = 0; i < K; i++) {
        bs1d_lane_matrix(m, plan.size, first + i, &ra, &rb, &rc);
        dominant &= fabs(rb) > fabs(ra) + fabs(rc);
        a[i] = (BS1D_R)ra;
        b[i] = (BS1D_R)rb;
        c[i] = (BS1D_R)rc;
    }
    if (BS1D_F(bs1d_p_any)(W, !dominant)) {
        status = BS1D_NOT_DOMINANT;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
        plan = bs1d_p_plan_of(0, 1);
        left_out = 0;
        TB_UNROLL
        for (int i = 0; i < K; i++) a[i] = c[i] = 0, b[i] = 1;
    }

    BS1D_F(bs1d_p_step_data) s;
    s.variance = (BS1D_R)(plan.size * m.variance);
    s.drift = (BS1D_R)(plan.size * m.drift);
    s.discount = (BS1D_R)(plan.size * m.discount);
    s.least = m.upwind ? (BS1D_R)fabs(plan.size * m.drift) : 0;
    s.left_out = (BS1D_R)left_out;
    s.points = points;
    s.first = first;
    s.pcr_steps = 5;
    s.f = factored ? f : 0;
    s.shared = shared;
    if (factored) BS1D_F(trid_warp_factor)(K, W, K * W, a, b, c, f, rung >= 4 ? &s.pcr_steps : (int *)0);
    if (!early) BS1D_F(bs1d_p_start)(K, team, first, points, o, grid, u);
    if (special) {
        BS1D_R floor[K];
        BS1D_F(bs1d_p_floor)(K, first, points, o, floor);
        BS1D_F(bs1d_p_special_march)(K, W, increment, plan, s, floor, u);
    } else {
        BS1D_F(bs1d_p_march)(rung, K, W, plan, status != 0, s, u);
    }
    if (W > 32) __syncthreads();
    BS1D_F(bs1d_p_finish)(K, W, team, options, points, status, option, u, result, grid, shared);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

typedef void BS1D_F(bs1d_p_kernel)(int, int, const BS1D_F(bs1d_option) *, BS1D_F(bs1d_result) *, BS1D_R *);

TB_HOST int BS1D_F(bs1d_p_arguments)(int options, int points, const void *option, const void *result)
{
    if (options < 0 || (options > 0 && (!option || !result))) return BS1D_BAD_ARGUMENT;
    return points < 64 || points > 1024 ? BS1D_BAD_SIZE : BS1D_OK;
}

TB_HOST unsigned BS1D_F(bs1d_p_blocks)(int options, int W)
{
    int teams = BS1D_P_BLOCK(W) / W;
    return (unsigned)(options / teams + (options % teams != 0));
}

/* One kernel on all options, by teams of W. */
TB_HOST int BS1D_F(bs1d_p_launch)(BS1D_F(bs1d_p_kernel) * kernel, int W, int options, int points,
                                  const BS1D_F(bs1d_option) * option, BS1D_F(bs1d_result) * result, BS1D_R *grid,
                                  cudaStream_t stream)
{
    cudaError_t error = trid_launch(kernel, BS1D_F(bs1d_p_blocks)(options, W), BS1D_P_BLOCK(W), 0, stream, options,
                                    points, option, result, grid);
    return error == cudaSuccess ? BS1D_OK : BS1D_LAUNCH_FAILED;
}

/* A rung: the kernel for the ordinary options, unless increments are all that is asked for, and that for the special
   ones. Small grids have up to 256 points, medium ones 512, large ones 1024. The way down: kernel, bs1d_p_march,
   bs1d_p_steps, bs1d_p_step_solve, and that calls the solver. */
template <int rung, int K, int W>
static int BS1D_F(bs1d_p_rung)(int options, int points, const BS1D_F(bs1d_option) * option,
                               BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    enum { K_large = BS1D_P_K_LARGE, W_large = BS1D_P_W_LARGE, special_rung = rung < 5 ? rung : 4 };
    int status = BS1D_F(bs1d_p_arguments)(options, points, option, result);
    int width = points > 512 ? W_large : points > 256 ? 32 : W, special_width = points > 512 ? W_large : 32;
    BS1D_F(bs1d_p_kernel) *kernel = BS1D_F(bs1d_p_implicit)<rung, 0, K, W>;
    BS1D_F(bs1d_p_kernel) *special = BS1D_F(bs1d_p_implicit)<special_rung, 1, 8, 32>;
    if (status || options == 0) return status;
    if (points > 256) {
        kernel = BS1D_F(bs1d_p_implicit)<rung, 0, 16, 32>;
        special = BS1D_F(bs1d_p_implicit)<special_rung, 1, 16, 32>;
    }
    if (points > 512) {
        kernel = BS1D_F(bs1d_p_implicit)<rung, 0, K_large, W_large>;
        special = BS1D_F(bs1d_p_implicit)<special_rung, 1, K_large, W_large>;
    }
    status = BS1D_F(bs1d_p_launch)(kernel, width, options, points, option, result, grid, stream);
    if (status || rung == 5) return status; /* which leaves the special ones to rung 4 */
    return BS1D_F(bs1d_p_launch)(special, special_width, options, points, option, result, grid, stream);
}

template <int unused>
static int BS1D_F(bs1d_explicit1)(int options, int points, const BS1D_F(bs1d_option) * option,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    int status = BS1D_F(bs1d_p_arguments)(options, points, option, result);
    if (status || options == 0) return status;
    unsigned threads = (unsigned)(points + 31) / 32 * 32;
    BS1D_F(bs1d_p_kernel) *kernel = points <= 256   ? BS1D_F(bs1d_p_explicit1)<256>
                                    : points <= 512 ? BS1D_F(bs1d_p_explicit1)<512>
                                                    : BS1D_F(bs1d_p_explicit1)<1024>;
    cudaError_t error =
        trid_launch(kernel, (unsigned)options, threads, 0, stream, options, points, option, result, grid);
    return error == cudaSuccess ? BS1D_OK : BS1D_LAUNCH_FAILED;
}

template <int special_alone>
static int BS1D_F(bs1d_p_launch_explicit2)(int options, int points, const BS1D_F(bs1d_option) * option,
                                           BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    enum { K_large = BS1D_P_K_LARGE, W_large = BS1D_P_W_LARGE };
    const int lanes = points <= 512 ? 32 : W_large;
    void (*kernel)(int, int, int, const BS1D_F(bs1d_option) *, BS1D_F(bs1d_result) *, BS1D_R *) =
        BS1D_F(bs1d_p_explicit2)<8, 32>;
    if (points > 256) kernel = BS1D_F(bs1d_p_explicit2)<16, 32>;
    if (points > 512) kernel = BS1D_F(bs1d_p_explicit2)<K_large, W_large>;
    cudaError_t error = trid_launch(kernel, BS1D_F(bs1d_p_blocks)(options, lanes), BS1D_P_BLOCK(lanes), 0, stream,
                                    special_alone, options, points, option, result, grid);
    return error == cudaSuccess ? BS1D_OK : BS1D_LAUNCH_FAILED;
}

template <int unused>
static int BS1D_F(bs1d_explicit2)(int options, int points, const BS1D_F(bs1d_option) * option,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    int status = BS1D_F(bs1d_p_arguments)(options, points, option, result);
    if (status || options == 0) return status;
    return BS1D_F(bs1d_p_launch_explicit2)<0>(options, points, option, result, grid, stream);
}

template <int unused>
static int BS1D_F(bs1d_explicit3)(int options, int points, const BS1D_F(bs1d_option) * option,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    enum { K_large = BS1D_P_K_LARGE, W_large = BS1D_P_W_LARGE };
    int status = BS1D_F(bs1d_p_arguments)(options, points, option, result);
    if (status || options == 0) return status;
    BS1D_F(bs1d_p_kernel) *kernel = BS1D_F(bs1d_p_explicit3)<8, 32, BS1D_P_REACH_SMALL>;
    if (points > 256) kernel = BS1D_F(bs1d_p_explicit3)<16, 32, BS1D_P_REACH_MEDIUM>;
    if (points > 512) kernel = BS1D_F(bs1d_p_explicit3)<K_large, W_large, BS1D_P_REACH_LARGE>;
    status = BS1D_F(bs1d_p_launch)(kernel, points <= 512 ? 32 : W_large, options, points, option, result, grid, stream);
    if (status) return status;
    return BS1D_F(bs1d_p_launch_explicit2)<1>(options, points, option, result, grid, stream);
}

template <int unused>
static int BS1D_F(bs1d_implicit1)(int options, int points, const BS1D_F(bs1d_option) * option,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    return BS1D_F(bs1d_p_rung)<1, BS1D_P_K_DIRECT, BS1D_P_W_DIRECT>(options, points, option, result, grid, stream);
}

template <int unused>
static int BS1D_F(bs1d_implicit2)(int options, int points, const BS1D_F(bs1d_option) * option,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    return BS1D_F(bs1d_p_rung)<2, BS1D_P_K_DIRECT, BS1D_P_W_DIRECT>(options, points, option, result, grid, stream);
}

template <int unused>
static int BS1D_F(bs1d_implicit3)(int options, int points, const BS1D_F(bs1d_option) * option,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    return BS1D_F(bs1d_p_rung)<3, BS1D_P_K_FAST, BS1D_P_W_FAST>(options, points, option, result, grid, stream);
}

template <int unused>
static int BS1D_F(bs1d_implicit4)(int options, int points, const BS1D_F(bs1d_option) * option,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, cudaStream_t stream)
{
    int status = BS1D_F(bs1d_p_rung)<4, BS1D_P_K_FAST, BS1D_P_W_FAST>(options, points, option, result, grid, stream);
    if (status) return status;
    return BS1D_F(bs1d_p_rung)<5, BS1D_P_K_INCREMENT, BS1D_P_W_INCREMENT>(options, points, option, result, grid,
                                                                          stream);
}
}
#endif /* TB_LAUNCHES */

#if TB_HOST_SCOPE
/* ---- the host reference ------------------------------------------------------------------------------------------ */

/* Result and grid of an option that has been marched, or that has failed. */
TB_HOST void BS1D_F(bs1d_p_host_finish)(int status, int points, BS1D_F(bs1d_option) o, const BS1D_R *u,
                                        BS1D_F(bs1d_result) * result, BS1D_R *grid)
{
    if (status)
        BS1D_F(bs1d_p_fail)(status, result);
    else
        BS1D_F(bs1d_p_greeks)(points, o, u + BS1D_F(bs1d_p_first)(o, points), result);
    for (int j = 0; grid && j < points; j++) grid[j] = status ? BS1D_F(bs1d_p_nan)() : u[j];
}

/* What the march starts from, and what it may not fall below. */
TB_HOST void BS1D_F(bs1d_p_host_start)(int points, BS1D_F(bs1d_option) o, const BS1D_R *grid, BS1D_R *u, BS1D_R *floor)
{
    double ds = (double)o.top / (points - 1);
    for (int j = 0; j < points; j++) {
        u[j] = o.flags & BS1D_GIVEN ? grid[j] : (BS1D_R)bs1d_lane_payoff((int)o.flags, (double)o.strike, ds, points, j);
        floor[j] = o.flags & BS1D_AMERICAN
                       ? (BS1D_R)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, j)
                       : BS1D_P_LOWEST;
    }
}

TB_HOST void BS1D_F(bs1d_p_host_explicit)(int points, BS1D_F(bs1d_option) o, bs1d_model m, const BS1D_R *grid,
                                          BS1D_R *work)
{
    BS1D_R *u = work, *before = u + points, *floor = before + points, *a = floor + points, *b = a + points;
    BS1D_R *c = b + points;
    BS1D_F(bs1d_p_host_start)(points, o, grid, u, floor);
    for (int j = 0; j < points; j++) {
        double ra, rb, rc;
        bs1d_lane_row(m, j, &ra, &rb, &rc);
        a[j] = (BS1D_R)ra;
        b[j] = (BS1D_R)rb;
        c[j] = (BS1D_R)rc;
    }
    for (BS1D_P_INT s = 0; s < o.steps; s++) {
        memcpy(before, u, (size_t)points * sizeof *u);
        for (int j = 0; j < points; j++) {
            BS1D_R left = j > 0 ? before[j - 1] : 0, right = j < points - 1 ? before[j + 1] : 0;
            u[j] = BS1D_F(bs1d_p_max)(before[j] + a[j] * left + b[j] * before[j] + c[j] * right, floor[j]);
        }
    }
}

/* In increments, as rung 2: with M = I - size*A, M y = size*A u (Crank-Nicolson: A u), u' = u + y. Where the last row
   of M has lost its drift, A has not. */
TB_HOST int BS1D_F(bs1d_p_host_implicit)(int points, BS1D_F(bs1d_option) o, bs1d_model m, const BS1D_R *grid,
                                         BS1D_R *work)
{
    BS1D_R *u = work, *floor = u + points, *y = floor + points, *push = y + points;
    BS1D_R *l = push + points, *r = l + points, *q = r + points;
    bs1d_p_plan plan = bs1d_p_plan_of((int)o.flags, (int)o.steps);
    BS1D_F(bs1d_p_host_start)(points, o, grid, u, floor);
    for (int j = 0; j < points; j++) {
        double a, b, c;
        bs1d_lane_matrix(m, plan.size, j, &a, &b, &c);
        l[j] = (BS1D_R)a;
        r[j] = (BS1D_R)b;
        q[j] = (BS1D_R)c;
        push[j] = 0;
        if (!bs1d_lane_dominant(m, plan.size, j)) return BS1D_NOT_DOMINANT;
    }
    if (BS1D_F(trid_lane_factor)(points, l, r, q, l, r, q, 1)) return BS1D_NOT_DOMINANT;
    for (int s = 0; s < plan.implicit + plan.crank; s++) {
        double size = s >= plan.implicit ? 1 : plan.size; /* of A on the right */
        for (int j = 0; j < points; j++) {
            double a, b, c;
            bs1d_lane_row(m, j, &a, &b, &c);
            BS1D_R below = j > 0 ? u[j] - u[j - 1] : u[j], above = j < points - 1 ? u[j + 1] - u[j] : -u[j];
            if (s == plan.implicit && s > 0) push[j] *= (BS1D_R)(1 / plan.size);
            y[j] =
                (BS1D_R)(size * c) * above - (BS1D_R)(size * a) * below - (BS1D_R)(size * m.discount) * u[j] + push[j];
        }
        BS1D_F(trid_lane_solve)(points, l, r, q, y, y, 1);
        for (int j = 0; j < points; j++) {
            BS1D_R free = u[j] + y[j] - push[j];
            u[j] = BS1D_F(bs1d_p_max)(free, floor[j]);
            push[j] = u[j] - free;
        }
    }
    return BS1D_OK;
}

/* Solves   can this option be marched on a grid of points points? By the implicit rungs, or by the explicit ones.
   Needs    option on the host
   Returns  what its result's status would be, or BS1D_BAD_ARGUMENT (null), BS1D_BAD_SIZE (points outside 4 .. 1024);
            BS1D_OSCILLATES if it can, but sigma^2 j < |rate - dividend| at the strike: see there */
TB_HOST int BS1D_F(bs1d_check)(const BS1D_F(bs1d_option) * option, int points, int is_implicit)
{
    bs1d_model m;
    if (!option) return BS1D_BAD_ARGUMENT;
    if (points < 4 || points > 1024) return BS1D_BAD_SIZE;
    int status = BS1D_F(bs1d_p_model)(*option, points, &m);
    if (status) return status;
    if (!is_implicit && !BS1D_F(bs1d_p_stable)(m)) return BS1D_UNSTABLE;
    double size = bs1d_p_plan_of((int)option->flags, (int)option->steps).size;
    for (int j = 0; is_implicit && j < points; j++)
        if (!bs1d_lane_dominant(m, size, j)) return BS1D_NOT_DOMINANT;
    double strike = (double)option->strike / ((double)option->top / (points - 1));
    return !m.upwind && m.variance * strike < fabs(m.drift) ? BS1D_OSCILLATES : BS1D_OK;
}

/* Solves   the fewest steps with which the explicit rungs are stable on a grid of points points
   Needs    option on the host; its steps do not matter
   Returns  1 .. 2^28, or 0 if there is no such number or the option is bad in another way (bs1d_check tells) */
TB_HOST BS1D_P_INT BS1D_F(bs1d_fewest_steps)(const BS1D_F(bs1d_option) * option, int points)
{
    bs1d_model m;
    if (!option || points < 4 || points > 1024) return 0;
    BS1D_F(bs1d_option) o = *option;
    BS1D_P_INT low = 0, high = BS1D_P_LOST / 4; /* not stable, stable */
    o.steps = high;
    if (BS1D_F(bs1d_p_model)(o, points, &m) || !BS1D_F(bs1d_p_stable)(m)) return 0;
    while (high - low > 1) {
        o.steps = low + (high - low) / 2;
        int status = BS1D_F(bs1d_p_model)(o, points, &m);
        if (status || !BS1D_F(bs1d_p_stable)(m))
            low = o.steps;
        else
            high = o.steps;
    }
    return high;
}

/* The leading error of a European price on points that are ds apart, over ds^2, with the logarithm of the spot moved by
   `moved`: the differences add to the equation ds^2 (volatility^2 S^2 V_SSSS / 24 + (rate - dividend) S V_SSS / 6), the
   averaged payoff adds ds^2 V_SS / 24 at maturity. With x = log S the former is exp(-2x) times a polynomial in d/dx,
   which moves past the equation's solution: what is left is a normal density, and an integral over time. */
TB_HOST double BS1D_F(bs1d_p_spacing_error)(const BS1D_F(bs1d_option) * o, double moved)
{
    const int times = 16;
    const double s2 = (double)o->volatility * (double)o->volatility, t = (double)o->maturity, v = s2 * t;
    const double strike = (double)o->strike, drift = (double)o->rate - (double)o->dividend, beta = 4 * drift - 3 * s2;
    const double x = log((double)o->spot / strike) + moved, here = x + (drift - s2 / 2) * t;
    double sum = exp(-here * here / (2 * v));
    for (int k = 0; k <= times; k++) { /* Simpson's rule, from today to maturity */
        const double after = t * k / times, z = here - 2 * s2 * after;
        const double weight = (k % 2 ? 4 : k % times ? 2 : 1) * t / (3 * times);
        const double term = s2 * (z * z / v - 1) / v - (beta - 2 * s2) * z / v - 2 * beta;
        sum += weight * term * exp((3 * s2 - 2 * drift) * after - 2 * x - z * z / (2 * v));
    }
    return fabs(sum) * exp(-(double)o->rate * t) / (24 * strike * sqrt(2 * 3.14159265358979323846 * v));
}

/* Solves   fills in of an option what is the method's and not the contract's, so that bs1d_implicit4 prices it to a
            tolerance (absolute, in the currency of the spot): top, steps, the flags BS1D_AVERAGED,
            BS1D_CRANK_NICOLSON and BS1D_INCREMENT, and how many points the grid needs at least. More points with the
            same top are as good or better, so that a batch takes the most that any of its options wants.
   Needs    option on the host, with spot, strike, rate, dividend, volatility, maturity and the flags of the contract
            (BS1D_PUT, BS1D_AMERICAN) set; points not null
   Returns  BS1D_OK: the price is within the tolerance (as tested for a thousand European options; an American one
            also, if its tolerance is not below 1e-5 of the strike). BS1D_BAD_TOLERANCE: neither 1024 points nor the
            precision reach the tolerance; what is filled in comes as near as it can. BS1D_BAD_ARGUMENT: a null
            pointer; BS1D_BAD_NUMBER: as bs1d_check, or a tolerance that is not positive
   Error    docs/bs1d.md, "How to choose" */
TB_HOST int BS1D_F(bs1d_suggest)(double tolerance, BS1D_F(bs1d_option) * option, int *points)
{
    if (!option || !points) return BS1D_BAD_ARGUMENT;
    double strike = (double)option->strike, spot = (double)option->spot, years = (double)option->maturity;
    double variance = (double)option->volatility * (double)option->volatility, spread = sqrt(variance * years);
    double drift = fabs((double)option->rate - (double)option->dividend), steps, count;
    bs1d_model m;
    BS1D_F(bs1d_option) o = *option;
    o.top = (BS1D_R)2 * o.strike + (BS1D_R)2 * o.spot;
    o.steps = 1;
    o.flags |= BS1D_AVERAGED | BS1D_CRANK_NICOLSON | BS1D_INCREMENT;
    int status = BS1D_F(bs1d_p_model)(o, 1024, &m);
    if (status) return status;
    if (!(tolerance > 0) || !trid_finite_f64(tolerance)) return BS1D_BAD_NUMBER;

    /* The top's error comes back to the strike, and the way there and back is as improbable as a move of twice the
       distance. */
    double scale = strike / tolerance > 2 ? strike / tolerance : 2, high = spot > strike ? spot : strike;
    double top = high * exp(0.5 * spread * sqrt(2 * log(scale)) + 0.5 * drift * years);
    /* A third of the tolerance for the leading error of the spacing, the largest around the spot, for it changes its
       sign there; a kink that is resolved; no oscillation at the strike. */
    double worst = 0;
    for (int k = -1; k <= 1; k++) worst = fmax(worst, BS1D_F(bs1d_p_spacing_error)(option, 0.5 * k * spread));
    double ds = sqrt(tolerance / (3 * worst));
    if (ds > 0.4 * strike * spread) ds = 0.4 * strike * spread;
    if (ds * drift > variance * strike) ds = variance * strike / drift;
    count = ceil(top / ds) + 1;
    /* A quarter for the steps, whose error is at most 0.2 (1 + far + far^2) strike spread / steps^2, the drift carrying
       the kink `far` spreads away; six times that with early exercise. */
    double distance = drift * years / spread,
           of_steps = (o.flags & BS1D_AMERICAN ? 1.2 : 0.2) * (1 + distance + distance * distance);
    steps = ceil(sqrt(4 * of_steps * strike * spread / tolerance));
    if (steps < 8) steps = 8;
    o.top = (BS1D_R)top;
    o.steps = (BS1D_P_INT)(steps < 1e6 ? steps : 1e6);
    *points = count < 64 ? 64 : count < 1024 ? (int)count : 1024;
    *option = o;
    status = BS1D_F(bs1d_p_model)(o, 1024, &m);
    if (status) return status;
    return count > 1024 || steps > 1e6 || tolerance < 16 * BS1D_P_ROUNDOFF * top ? BS1D_BAD_TOLERANCE : BS1D_OK;
}

/* One option after the other. */
TB_HOST int BS1D_F(bs1d_p_host)(int is_implicit, int options, int points, const BS1D_F(bs1d_option) * option,
                                BS1D_F(bs1d_result) * result, BS1D_R *grid, BS1D_R *work)
{
    if (options < 0 || (options > 0 && !result)) return BS1D_BAD_ARGUMENT;
    int refused = options > 0 && (!option || !work) ? BS1D_BAD_ARGUMENT : points < 4 ? BS1D_BAD_SIZE : BS1D_OK;
    for (int i = 0; refused && i < options; i++) BS1D_F(bs1d_p_fail)(refused, result + i);
    if (refused) return refused;
    for (int i = 0; i < options; i++) {
        bs1d_model m;
        BS1D_R *row = grid ? grid + (size_t)i * (size_t)points : 0;
        int status = BS1D_F(bs1d_p_model)(option[i], points, &m);
        if (!status && (option[i].flags & BS1D_GIVEN) && !grid) status = BS1D_BAD_ARGUMENT;
        if (!status && !is_implicit && !BS1D_F(bs1d_p_stable)(m)) status = BS1D_UNSTABLE;
        if (!status && is_implicit)
            status = BS1D_F(bs1d_p_host_implicit)(points, option[i], m, row, work);
        else if (!status)
            BS1D_F(bs1d_p_host_explicit)(points, option[i], m, row, work);
        BS1D_F(bs1d_p_host_finish)(status, points, option[i], work, result + i, row);
    }
    return BS1D_OK;
}

/* Solves   the batch on the host, step by step: the reference for the explicit rungs
   Needs    points >= 4; work of BS1D_HOST_LEN(points) elements; grid null, or options * points elements, which hold the
            start values of the options with BS1D_GIVEN
   Returns  BS1D_OK, BS1D_BAD_ARGUMENT or BS1D_BAD_SIZE; what befalls a single option is in its result's status. A call
            that is refused fails every option: its result has that status, and NaN for all numbers */
TB_HOST int BS1D_F(bs1d_host_explicit)(int options, int points, const BS1D_F(bs1d_option) * option,
                                       BS1D_F(bs1d_result) * result, BS1D_R *grid, BS1D_R *work)
{
    return BS1D_F(bs1d_p_host)(0, options, points, option, result, grid, work);
}

/* Solves   the batch on the host, implicit: the reference for the implicit rungs; else as bs1d_host_explicit */
TB_HOST int BS1D_F(bs1d_host_implicit)(int options, int points, const BS1D_F(bs1d_option) * option,
                                       BS1D_F(bs1d_result) * result, BS1D_R *grid, BS1D_R *work)
{
    return BS1D_F(bs1d_p_host)(1, options, points, option, result, grid, work);
}
#endif /* TB_HOST_SCOPE */

#undef BS1D_R
#undef BS1D_F
#undef BS1D_P_REAL
#undef BS1D_P_INT
#undef BS1D_P_NAME
#undef BS1D_P_BITS
#undef BS1D_P_LOWEST
#undef BS1D_P_ROUNDOFF
#undef BS1D_P_UNROLL_STEPS
#undef BS1D_P_UNROLL_SWEEPS
#undef BS1D_P_REACH_SMALL
#undef BS1D_P_REACH_MEDIUM
#undef BS1D_P_REACH_LARGE
#undef BS1D_P_K_LARGE
#undef BS1D_P_W_LARGE
#undef BS1D_P_K_DIRECT
#undef BS1D_P_W_DIRECT
#undef BS1D_P_K_FAST
#undef BS1D_P_W_FAST
#undef BS1D_P_K_INCREMENT
#undef BS1D_P_W_INCREMENT
#endif /* BS1D_P_REAL */
