/* bs1d.h - one-factor Black-Scholes by finite differences, whole batches of options marched in registers.

   MIT licence, see LICENSE. Copy this file, trid.h and transpose.h.

   Prices a batch that lies in device memory, each option with its own spot, strike, rate, dividend, volatility,
   maturity, grid, number of steps and kind (examples/bs1d_batch.cu):

       int status = bs1d_implicit4_f32(COUNT, 512, device_options, device_results, NULL, 0);
       if (status != BS1D_OK) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);

   The model: points S_j = j dS, j = 0 .. J-1, dS = top / (J-1); dt = maturity / steps;
   lambda_j = volatility^2 dt j^2 / 2, gamma_j = (rate - dividend) dt j / 2; A is the matrix with rows
       lambda_j - gamma_j,  -2 lambda_j - rate dt,  lambda_j + gamma_j;    last row  -2 gamma_j,  2 gamma_j - rate dt
   (no second difference at the top). An explicit step is u += A u; an implicit one solves (I - A) u' = u;
   Crank-Nicolson solves (I - A/2) u' = (I + A/2) u after a start of four half-size implicit steps (Rannacher).

   The ladder. Each rung exists with _f32 and _f64, for 64 to 1024 points (docs/bs1d.md has the figures of each):
     bs1d_explicit1   a block an option, a thread a point, neighbours through shared memory
     bs1d_explicit2   a warp an option, rows in registers, neighbours by shuffle: no barrier
     bs1d_explicit3   many steps composed into one wide stencil, as many as fit it to rounding: a fraction of the work
     bs1d_implicit1   a warp an option, matrix rebuilt and solved by the hybrid in each step, as if it changed with time
     bs1d_implicit2   the same for the increment: accurate in single precision
     bs1d_implicit3   matrix factored once, two options a warp: no reciprocal, half the work
     bs1d_implicit4   only the PCR steps that matter; increments (BS1D_INCREMENT) at little more cost
   For kernels of your own (examples/bs1d_own_payoff.cu); cost a lane and step, K rows a lane:
     bs1d_lane_row, bs1d_lane_payoff                                  a row of A, the payoff at a point
     bs1d_warp_explicit2                                              3K FMA + 2 shuffles
     bs1d_lane_composed, bs1d_lane_sweeps, bs1d_lane_compose          set-up of composed steps
     bs1d_warp_explicit3                                              K (2H+1) FMA + 2H shuffles for many steps
     bs1d_warp_implicit3                                              trid_warp_solve, with what trid_warp_factor left
     bs1d_warp_greeks                                                 price, delta, gamma, theta at the spot
   For the host: bs1d_host_explicit, bs1d_host_implicit, the reference. bs1d_status_string says what a status means.

   Options, defined before the header is included:
     BS1D_NO_LAUNCHES   leaves out kernels and launch functions; what remains compiles in an instant.
     BS1D_HEADER        the name by which this file includes itself, if you rename it. Default: "bs1d.h". */

#ifndef BS1D_P_REAL /* first pass: what does not depend on the precision */
#ifndef BS1D_H
#define BS1D_H

#include "transpose.h"
#include "trid.h"

/* Short macros of a user must not reach the parameters of the same names. */
#ifndef __CUDACC_RTC__ /* which does not know the pragma */
#pragma push_macro("H")
#undef H
#pragma push_macro("K")
#undef K
#pragma push_macro("W")
#undef W
#endif

#define BS1D_VERSION 100 /* 100 * major + minor */

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

/* Launches need the runtime's header and host code; kernels are launched through one macro. */
#if defined __CUDACC_RTC__ || !TRID_DEVICE_SCOPES
#define BS1D_NO_LAUNCHES
#endif
#ifdef __CUDACC__
#define BS1D_KERNEL static __global__
#define BS1D_LAUNCH(kernel, grid, block, stream) kernel<<<grid, block, 0, stream>>>
#elif defined SIMT_EMULATOR
#define BS1D_KERNEL static __global__ __attribute__((unused))
#define BS1D_LAUNCH(kernel, grid, block, stream) SIMT_LAUNCH(kernel, grid, block, 0, stream)
#endif

/* What an option is; or'ed. */
enum {
    BS1D_CALL = 0,
    BS1D_PUT = 1,
    BS1D_AMERICAN = 2,
    BS1D_AVERAGED = 4,       /* payoff averaged over the cells S_j +- dS/2; the two ends as they are */
    BS1D_CRANK_NICOLSON = 8, /* implicit rungs: theta = 1/2 after a Rannacher start */
    BS1D_INCREMENT = 16,     /* implicit4: marches the increment */
    BS1D_P_ALL_FLAGS = 31
};

/* Status of an option (in its result) or of a launch (returned). */
enum {
    BS1D_OK = 0,
    BS1D_BAD_ARGUMENT = -1, /* options < 0, points outside 64 .. 1024 (host: under 4), or a null pointer */
    BS1D_BAD_NUMBER = -2,   /* strike, volatility, maturity or top not positive, steps not in 1 .. 2^28,
                               unknown flags, NaN, inf, or numbers so large or small that results overflow */
    BS1D_BAD_SPOT = -3,     /* spot not within the grid */
    BS1D_UNSTABLE = -4,     /* explicit: 2 lambda_max + rate dt > 1, or 2 gamma^2 > lambda */
    BS1D_NOT_DOMINANT = -5, /* implicit: a row of the matrix is not diagonally dominant */
    BS1D_LAUNCH_FAILED = -6 /* launch: the runtime refused */
};

TRID_HD const char *bs1d_status_string(int status)
{
    return status == BS1D_OK ? "done"
           : status == BS1D_BAD_ARGUMENT
               ? "bad argument: options < 0, points outside 64 to 1024 (host: under 4), or a null pointer"
           : status == BS1D_BAD_NUMBER ? "strike, volatility, maturity or top not positive, steps < 1, unknown flags, "
                                         "NaN or inf"
           : status == BS1D_BAD_SPOT   ? "spot not within the grid"
           : status == BS1D_UNSTABLE   ? "explicit step beyond the stability limit"
           : status == BS1D_NOT_DOMINANT  ? "implicit matrix not diagonally dominant: more steps, or a lower top"
           : status == BS1D_LAUNCH_FAILED ? "kernel launch failed"
                                          : "unknown status";
}

/* The PDE on its grid for one time step: lambda_j = variance j^2, gamma_j = drift j. In double for every precision:
   set-up is rare, and rounding it once is what the march can see. */
typedef struct {
    double variance; /* volatility^2 dt / 2 */
    double drift;    /* (rate - dividend) dt / 2 */
    double discount; /* rate dt */
    int points;
} bs1d_model;

/* Solves   row j of A; zeros for a row outside the grid
   Cost     about 6 double operations */
TRID_HD void bs1d_lane_row(bs1d_model m, int j, double *a, double *b, double *c)
{
    double lambda = m.variance * j * j, gamma = m.drift * j;
    int last = j == m.points - 1, inside = j >= 0 && j < m.points;
    *a = !inside ? 0 : last ? -2 * gamma : lambda - gamma;
    *b = !inside ? 0 : last ? 2 * gamma - m.discount : -2 * lambda - m.discount;
    *c = !inside || last ? 0 : lambda + gamma;
}

/* Solves   the payoff at point j of a grid with spacing ds, or its average over the cell (BS1D_AVERAGED)
   Cost     a few double operations */
TRID_HD double bs1d_lane_payoff(int flags, double strike, double ds, int points, int j)
{
    double s = j * ds, sign = flags & BS1D_PUT ? -1 : 1, inside = sign * (s - strike), half = ds / 2;
    if ((flags & BS1D_AVERAGED) && j > 0 && j < points - 1 && inside > -half && inside < half)
        return (inside + half) * ((inside + half) / (2 * ds));
    return inside > 0 ? inside : 0;
}

/* Is step*A dominant enough for I - step*A to be solved without pivoting? Row j alone. */
TRID_HD int bs1d_p_dominant(bs1d_model m, double step, int j)
{
    double a, b, c;
    bs1d_lane_row(m, j, &a, &b, &c);
    return fabs(1 - step * b) > fabs(step * a) + fabs(step * c);
}

/* Four-point Lagrange interpolation at distance x from the first point, in units of the spacing: value and first two
   derivatives. */
TRID_HD void bs1d_p_cubic(double x, const double *v, double *value, double *first, double *second)
{
    double p = x, q = x - 1, r = x - 2, s = x - 3;
    double w0 = -v[0] / 6, w1 = v[1] / 2, w2 = -v[2] / 2, w3 = v[3] / 6;
    *value = w0 * q * r * s + w1 * p * r * s + w2 * p * q * s + w3 * p * q * r;
    *first = w0 * (q * r + q * s + r * s) + w1 * (p * r + p * s + r * s) + w2 * (p * q + p * s + q * s) +
             w3 * (p * q + p * r + q * r);
    *second = 2 * (w0 * (q + r + s) + w1 * (p + r + s) + w2 * (p + q + s) + w3 * (p + q + r));
}

/* What an option's march consists of: half-size implicit steps first (Crank-Nicolson only), then whole ones. */
typedef struct {
    int implicit; /* backward Euler steps of the given size */
    int crank;    /* Crank-Nicolson steps after them */
    double size;  /* of a backward Euler step, in units of dt; the matrix is I - size*A for both */
} bs1d_p_plan;

TRID_HD bs1d_p_plan bs1d_p_plan_of(int flags, int steps)
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
    BS1D_P_NONE = 1,            /* status of a team without an option, or with one that another kernel marches */
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

/* Which options a kernel marches; the others are another kernel's, so that the code for the one does not take registers
   from the other. A bad option is reported by the kernel for the European ones. */
#define BS1D_P_EUROPEAN 1
#define BS1D_P_AMERICAN 2

/* Elements of work for the host functions. */
#define BS1D_HOST_LEN(points) (8 * (size_t)(points))

/* The body below, once a precision. */
#define BS1D_P_REAL float
#define BS1D_P_INT int
#define BS1D_P_NAME(stem) stem##_f32
#define BS1D_P_BITS(x) __float_as_int(x)
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
TRID_HD int BS1D_F(bs1d_p_model)(BS1D_F(bs1d_option) o, int points, bs1d_model *m)
{
    double dt = (double)o.maturity / (double)o.steps, sum;
    m->variance = 0.5 * (double)o.volatility * (double)o.volatility * dt;
    m->drift = 0.5 * ((double)o.rate - (double)o.dividend) * dt;
    m->discount = (double)o.rate * dt;
    m->points = points;
    /* A sum is finite only if its parts are. */
    sum = fabs((double)o.spot) + fabs((double)o.strike) + fabs((double)o.rate) + fabs((double)o.dividend) +
          fabs((double)o.top) + fabs((double)o.maturity) + fabs(m->variance) * points * points +
          fabs(m->drift) * points + fabs(m->discount);
    if (!BS1D_F(trid_finite)((BS1D_R)sum) || !(dt > 0) || !((double)o.top / points > 0) || !(o.strike > 0) ||
        !(o.volatility > 0) || !(o.maturity > 0) || !(o.top > 0) || o.steps < 1 || o.steps > BS1D_P_LOST / 4 ||
        (o.flags & ~(BS1D_P_INT)BS1D_P_ALL_FLAGS))
        return BS1D_BAD_NUMBER;
    return o.spot >= 0 && o.spot <= o.top ? BS1D_OK : BS1D_BAD_SPOT;
}

TRID_HD int BS1D_F(bs1d_p_stable)(bs1d_model m)
{
    double last = m.points - 1;
    return 2 * m.variance * last * last + m.discount <= 1 && 2 * m.drift * m.drift <= m.variance;
}

TRID_HD BS1D_R BS1D_F(bs1d_p_max)(BS1D_R x, BS1D_R y)
{
    return x > y ? x : y;
}

/* An option that does nothing, with a model that moves nothing. */
TRID_HD void BS1D_F(bs1d_p_idle)(int points, BS1D_F(bs1d_option) * o, bs1d_model *m)
{
    o->strike = o->maturity = o->top = 1;
    o->spot = o->rate = o->dividend = o->volatility = 0;
    o->steps = 1;
    o->flags = 0;
    m->variance = m->drift = m->discount = 0;
    m->points = points;
}

TRID_HD BS1D_R BS1D_F(bs1d_p_nan)(void)
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

TRID_HD void BS1D_F(bs1d_p_fail)(int status, BS1D_F(bs1d_result) * result)
{
    result->price = result->delta = result->gamma = result->theta = BS1D_F(bs1d_p_nan)();
    result->status = status;
}

/* Price and Greeks from the four points around the spot: last and before are the final values and those one step of
   length dt earlier, at points first .. first+3. */
TRID_HD void BS1D_F(bs1d_p_greeks)(double x, double ds, double dt, const BS1D_R *last, const BS1D_R *before,
                                   BS1D_F(bs1d_result) * result)
{
    double v[4], w[4], value, first, second, earlier, unused;
    for (int q = 0; q < 4; q++) {
        v[q] = (double)last[q];
        w[q] = (double)before[q] - (double)last[q];
    }
    bs1d_p_cubic(x, v, &value, &first, &second);
    bs1d_p_cubic(x, w, &earlier, &unused, &unused);
    result->price = (BS1D_R)value;
    result->delta = (BS1D_R)(first / ds);
    result->gamma = (BS1D_R)(second / ds / ds);
    result->theta = (BS1D_R)(earlier / dt);
    result->status = BS1D_OK;
    if (!BS1D_F(trid_finite)(result->price) || !BS1D_F(trid_finite)(result->delta) ||
        !BS1D_F(trid_finite)(result->gamma) || !BS1D_F(trid_finite)(result->theta))
        BS1D_F(bs1d_p_fail)(BS1D_BAD_NUMBER, result); /* numbers that overflow on the way */
}

/* The first of the four points around the spot. */
TRID_HD int BS1D_F(bs1d_p_first)(double spot, double ds, int points)
{
    int first = (int)(spot / ds) - 1;
    return first < 0 ? 0 : first > points - 4 ? points - 4 : first;
}

/* Row j of (I+A)^m - I within H points of the diagonal, in w[0 .. 2H], worked out step by step from the left:
   w' = w + (e_j + w) A. What would go beyond is dropped; returns its sum of absolute values. If most is not null, m is
   a limit and *most becomes the number of steps after which no more than tolerance has been dropped. */
TRID_HD double BS1D_F(bs1d_p_compose_row)(bs1d_model model, int H, int j, int m, double *w, double tolerance, int *most)
{
    double dropped = 0;
    TRID_UNROLL
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
        TRID_UNROLL
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
TRID_HD int BS1D_F(bs1d_lane_composed)(bs1d_model model, int H)
{
    double w[2 * BS1D_P_REACH + 1];
    int most, j = model.points - 2 - H;
    BS1D_F(bs1d_p_compose_row)
    (model, H, j > 0 ? j : 0, BS1D_P_MOST_COMPOSED, w, sizeof(BS1D_R) == 4 ? 0x1p-24 : 0x1p-53, &most);
    return most > H ? most : H;
}

/* Solves   into how many sweeps of how many steps (*composed, at most most) to part steps: the fewest operations, what
            is left over (returned) being taken singly */
TRID_HD int BS1D_F(bs1d_lane_sweeps)(int H, int most, int steps, int *composed)
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
TRID_HD void BS1D_F(bs1d_lane_compose)(int K, int H, bs1d_model model, int first, int m, BS1D_R *coefficient)
{
    double row_sum = 0;
    for (int s = 0; s < m; s++) row_sum -= model.discount * (1 + row_sum);
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        double w[2 * BS1D_P_REACH + 1], diagonal = first + i < model.points ? row_sum : 0;
        BS1D_R *row = coefficient + i * (2 * H + 1);
        if (first + i < model.points) {
            BS1D_F(bs1d_p_compose_row)(model, H, first + i, m, w, 0, (int *)0);
        } else {
            TRID_UNROLL
            for (int k = 0; k <= 2 * H; k++) w[k] = 0;
        }
        TRID_UNROLL
        for (int k = 0; k <= 2 * H; k++) {
            row[k] = (BS1D_R)w[k];
            if (k != H) diagonal -= (double)row[k];
        }
        row[H] = (BS1D_R)diagonal;
    }
}

#if TRID_DEVICE_SCOPES
/* ---- device functions: a team of W lanes marches an option, K rows in each lane ---------------------------------- */

/* W is 16 or 32 lanes of a warp, or 64: all threads of a block, whose two warps meet through shared memory. Rows from
   points on are zero and stay so. */

TRID_D int BS1D_F(bs1d_p_rank)(int W)
{
    return W > 32 ? (int)threadIdx.x : trid_p_lane() & (W - 1);
}

/* x[H .. H+K-1] = u, and H points of the neighbours on each side. H <= K. shared: 8*H elements where W > 32, used in
   two halves in turn so that one barrier a call suffices. */
TRID_D void BS1D_F(bs1d_p_halo)(int K, int W, int H, int turn, const BS1D_R *u, BS1D_R *x, BS1D_R *shared)
{
    int width = W > 32 ? 32 : W;
    TRID_UNROLL
    for (int i = 0; i < K; i++) x[H + i] = u[i];
    TRID_UNROLL
    for (int h = 1; h <= H; h++) {
        x[H - h] = __shfl_up_sync(TRID_P_FULL, u[K - h], 1, width);
        x[H + K - 1 + h] = __shfl_down_sync(TRID_P_FULL, u[h - 1], 1, width);
    }
    if (W > 32) {
        int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
        BS1D_R *mine = shared + (turn & 1) * 4 * H;
        TRID_UNROLL
        for (int h = 1; h <= H; h++) {
            if (warp == 0 && lane == 31) mine[h - 1] = u[K - h];
            if (warp == 1 && lane == 0) mine[H + h - 1] = u[h - 1];
        }
        __syncthreads();
        TRID_UNROLL
        for (int h = 1; h <= H; h++) {
            if (warp == 1 && lane == 0) x[H - h] = mine[h - 1];
            if (warp == 0 && lane == 31) x[H + K - 1 + h] = mine[H + h - 1];
        }
    }
}

/* One explicit step: u[i] += a[i] x[i] + b[i] x[i+1] + c[i] x[i+2], x being u and its neighbours; never below floor, if
   that is not null. In double precision point by point, every second one first and the neighbours' last, so that
   consecutive multiply-adds share a point, which spares the register file a read. */
TRID_D void BS1D_F(bs1d_p_explicit_step)(int K, const BS1D_R *a, const BS1D_R *b, const BS1D_R *c, const BS1D_R *floor,
                                         const BS1D_R *x, BS1D_R *u)
{
    if (sizeof(BS1D_R) == 4) {
        BS1D_R left = x[0];
        TRID_UNROLL
        for (int i = 0; i < K; i++) {
            BS1D_R old = u[i];
            u[i] = old + a[i] * left + b[i] * old + c[i] * (i < K - 1 ? u[i + 1] : x[K + 1]);
            left = old;
        }
    } else {
        TRID_UNROLL
        for (int z = 0; z < K + 2; z++) {
            int q = z < K ? 1 + 2 * z % K + 2 * z / K : z == K ? 0 : K + 1;
            if (q > 0 && q <= K) u[q - 1] += b[q - 1] * x[q];
            if (q < K) u[q] += a[q] * x[q];
            if (q > 1) u[q - 2] += c[q - 2] * x[q];
        }
    }
    if (floor) {
        TRID_UNROLL
        for (int i = 0; i < K; i++) u[i] = BS1D_F(bs1d_p_max)(u[i], floor[i]);
    }
}

/* Solves   steps explicit steps: row K*l + j of u is u[j] of lane l, rows of A in a, b, c (bs1d_lane_row)
   Needs    K, W literals; floor null (a literal), or what an American option is worth at least
   Lanes    W <= 32: all 32 of the warp; W = 64: all threads of a block of 64. steps the same for all
   Leaves   u
   Shared   none for W <= 32 (pass null), else 8 elements, __syncthreads() before another use
   Cost     a step: 3K FMA + 2 shuffles (a double counts two) */
TRID_D void BS1D_F(bs1d_warp_explicit2)(int K, int W, int steps, const BS1D_R *a, const BS1D_R *b, const BS1D_R *c,
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

/* Solves   sweeps times u += C u, C a band of 2H+1 diagonals (bs1d_lane_compose). In single precision the products of
            offsets of two and more are summed before u is added: added to u one by one the small ones would be lost.
            Consecutive multiply-adds share a point, which spares the register file a read.
   Needs    K, W, H <= K literals
   Lanes, Leaves as bs1d_warp_explicit2
   Shared   none for W <= 32 (pass null), else 8*H elements, __syncthreads() before another use
   Cost     a sweep: K (2H+1) FMA, in single precision also K additions, and 2H shuffles (a double counts two) */
TRID_D void BS1D_F(bs1d_warp_explicit3)(int K, int W, int H, int sweeps, const BS1D_R *coefficient, BS1D_R *u,
                                        BS1D_R *shared)
{
    const int far_first = sizeof(BS1D_R) == 4 && H > 1;
    sweeps = trid_warp_uniform(sweeps);
    BS1D_P_UNROLL_SWEEPS
    for (int s = 0; s < sweeps; s++) {
        BS1D_R x[BS1D_P_ROWS + 2 * BS1D_P_REACH];
        BS1D_F(bs1d_p_halo)(K, W, H, s, u, x, shared);
        TRID_UNROLL
        for (int i = 0; i < K; i++) u[i] = far_first ? 0 : x[H + i];
        TRID_UNROLL
        for (int pass = far_first ? 0 : 1; pass < 2; pass++) {
            /* Own points first (in double precision every second one before the rest), then the neighbours', which have
               come by shuffle meanwhile. */
            TRID_UNROLL
            for (int z = 0; z < K + 2 * H; z++) {
                int q = sizeof(BS1D_R) == 8 ? BS1D_P_POINT_F64(K, H, z) : BS1D_P_POINT_F32(K, H, z);
                TRID_UNROLL
                for (int i = 0; i < K; i++) {
                    int k = q - i, near = k >= H - 1 && k <= H + 1;
                    if (k < 0 || k > 2 * H || (far_first && near != pass)) continue;
                    u[i] += coefficient[i * (2 * H + 1) + k] * x[q];
                }
            }
            if (pass == 0) {
                TRID_UNROLL
                for (int i = 0; i < K; i++) u[i] += x[H + i];
            }
        }
    }
}

/* Rows first .. first+K-1 of diagonal*I + size*A, A being zero from points on. */
TRID_D void BS1D_F(bs1d_p_matrix)(int K, bs1d_model model, double diagonal, double size, int first, BS1D_R *a,
                                  BS1D_R *b, BS1D_R *c)
{
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        double ra, rb, rc;
        bs1d_lane_row(model, first + i, &ra, &rb, &rc);
        a[i] = (BS1D_R)(size * ra);
        b[i] = (BS1D_R)(diagonal + size * rb);
        c[i] = (BS1D_R)(size * rc);
    }
}

/* The same for diagonal 1 and -size in the working precision (rows from points on are diagonal), as a march whose
   coefficients change with time would do it in each step. (What does not change the compiler moves out of the loop.) */
TRID_D void BS1D_F(bs1d_p_matrix_now)(int K, int points, int first, BS1D_R variance, BS1D_R drift, BS1D_R discount,
                                      BS1D_R *a, BS1D_R *b, BS1D_R *c)
{
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        BS1D_R j = (BS1D_R)(first + i < points ? first + i : 0), gamma = drift * j;
        BS1D_R lambda = first + i == points - 1 ? -gamma : variance * j * j; /* which is what the last row comes to */
        a[i] = gamma - lambda;
        b[i] = 1 + discount + 2 * lambda;
        c[i] = -lambda - gamma;
    }
}

/* g = times (size*A) u, in differences of neighbours, which single precision needs: with a and c of I - size*A. */
TRID_D void BS1D_F(bs1d_p_increment)(int K, int W, BS1D_R times, BS1D_R discount, const BS1D_R *a, const BS1D_R *c,
                                     const BS1D_R *u, BS1D_R *g, int turn, BS1D_R *shared)
{
    BS1D_R x[BS1D_P_ROWS + 2];
    BS1D_F(bs1d_p_halo)(K, W, 1, turn, u, x, shared);
    TRID_UNROLL
    for (int i = 0; i < K; i++)
        g[i] = times * (a[i] * (x[i + 1] - x[i]) - c[i] * (x[i + 2] - x[i + 1]) - discount * x[i + 1]);
}

/* Does any lane of the team say so? */
TRID_D int BS1D_F(bs1d_p_any)(int W, int said)
{
    if (W > 32) return __syncthreads_or(said);
    unsigned votes = __ballot_sync(TRID_P_FULL, said);
    return W == 32 ? votes != 0 : (votes >> (trid_p_lane() & ~(W - 1)) & ((1u << W) - 1)) != 0;
}

/* The least of the teams of a warp (or of the one team of a block). */
TRID_D int BS1D_F(bs1d_p_least)(int W, int n)
{
    TRID_UNROLL
    for (int distance = W; distance < 32; distance *= 2) {
        int other = __shfl_xor_sync(TRID_P_FULL, n, distance);
        n = other < n ? other : n;
    }
    return trid_warp_uniform(n);
}

/* d becomes the solution: by the factored solver if f is not null, else by the hybrid on a, b, c, which are
   clobbered. */
TRID_D void BS1D_F(bs1d_p_solve)(int K, int W, int pcr_steps, const BS1D_R *f, BS1D_R *a, BS1D_R *b, BS1D_R *c,
                                 BS1D_R *d, BS1D_R *shared)
{
    if (W > 32) {
        __syncthreads(); /* the solve before has been read */
        BS1D_F(trid_block_hybrid)(K, K * W, a, b, c, d, shared);
    } else if (f) {
        BS1D_F(trid_warp_solve)(K, W, K * W, pcr_steps, f, d);
    } else {
        BS1D_F(trid_warp_hybrid)(K, W, K * W, a, b, c, d);
    }
}

/* What an implicit step works with. */
typedef struct {
    BS1D_R variance, drift, discount; /* of size*A */
    int points, first /* row of this lane */, pcr_steps;
    const BS1D_R *f; /* factored matrix, or null: build it in each step */
    BS1D_R *shared;  /* W = 64: 192 elements for the solver, 8 for the halo */
} BS1D_F(bs1d_p_step_data);

/* y becomes the solution of M y = u, M = I - size*A, or for the increment of M y = size*A u (Crank-Nicolson, size =
   1/2: A u); push, if not null, is added on the right, half of it where y is half a Crank-Nicolson step. */
TRID_D void BS1D_F(bs1d_p_step_solve)(int K, int W, int increment, int crank, int turn, BS1D_F(bs1d_p_step_data) s,
                                      const BS1D_R *push, const BS1D_R *u, BS1D_R *y)
{
    BS1D_R a[BS1D_P_ROWS] = {0}, b[BS1D_P_ROWS] = {0}, c[BS1D_P_ROWS] = {0};
    BS1D_R part = !increment && crank ? (BS1D_R)0.5 : 1;
    if (!s.f || increment) BS1D_F(bs1d_p_matrix_now)(K, s.points, s.first, s.variance, s.drift, s.discount, a, b, c);
    if (increment) BS1D_F(bs1d_p_increment)(K, W, crank ? 2 : 1, s.discount, a, c, u, y, turn, s.shared + 192);
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        if (!increment) y[i] = u[i];
        if (push) y[i] += part * push[i];
    }
    BS1D_F(bs1d_p_solve)(K, W, s.pcr_steps, s.f, a, b, c, y, s.shared);
}

/* What a step makes of u and y. */
TRID_D BS1D_R BS1D_F(bs1d_p_next)(int increment, int crank, BS1D_R u, BS1D_R y)
{
    return increment ? u + y : crank ? 2 * y - u : y;
}

/* An American option's step (Ikonen and Toivanen): push, dt times the multiplier that keeps the value up, goes in on
   the right, is taken off the result, and takes up what the floor then adds. */
TRID_D void BS1D_F(bs1d_p_american_step)(int K, int W, int increment, int crank, int turn, BS1D_F(bs1d_p_step_data) s,
                                         const BS1D_R *floor, BS1D_R *push, BS1D_R *u)
{
    BS1D_R y[BS1D_P_ROWS];
    BS1D_F(bs1d_p_step_solve)(K, W, increment, crank, turn, s, push, u, y);
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        BS1D_R free = BS1D_F(bs1d_p_next)(increment, crank, u[i], y[i]) - push[i];
        u[i] = BS1D_F(bs1d_p_max)(free, floor[i]);
        push[i] = u[i] - free;
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
TRID_D void BS1D_F(bs1d_warp_implicit3)(int K, int W, int steps, int crank, int active, int pcr_steps, const BS1D_R *f,
                                        BS1D_R *u)
{
    steps = trid_warp_uniform(steps);
    pcr_steps = trid_warp_uniform(pcr_steps);
    for (int s = 0; s < steps; s++) {
        BS1D_R y[BS1D_P_ROWS];
        TRID_UNROLL
        for (int i = 0; i < K; i++) y[i] = u[i];
        BS1D_F(trid_warp_solve)(K, W, K * W, pcr_steps, f, y);
        TRID_UNROLL
        for (int i = 0; i < K; i++) u[i] = active ? BS1D_F(bs1d_p_next)(0, crank, u[i], y[i]) : u[i];
    }
}

/* The same in increments. Since M u' = u, size*A u' = u' - u: the right-hand side of the next step is the increment of
   this one (for Crank-Nicolson, A u' = 2y - A u), so a step costs one addition more than the direct form. Rounding
   would grow along the chain, so the right-hand side is formed from u anew every BS1D_P_REFRESH steps. */
TRID_D void BS1D_F(bs1d_p_increment_march)(int K, int W, int steps, int crank, int active, BS1D_F(bs1d_p_step_data) s,
                                           BS1D_R *u)
{
    steps = trid_warp_uniform(steps);
    s.pcr_steps = trid_warp_uniform(s.pcr_steps);
    for (int done = 0; done < steps; done += BS1D_P_REFRESH) {
        int some = steps - done < BS1D_P_REFRESH ? steps - done : BS1D_P_REFRESH;
        BS1D_R a[BS1D_P_ROWS] = {0}, b[BS1D_P_ROWS], c[BS1D_P_ROWS] = {0}, g[BS1D_P_ROWS];
        BS1D_F(bs1d_p_matrix_now)(K, s.points, s.first, s.variance, s.drift, s.discount, a, b, c);
        BS1D_F(bs1d_p_increment)(K, W, crank ? 2 : 1, s.discount, a, c, u, g, 0, s.shared);
        for (int t = 0; t < some; t++) {
            BS1D_R y[BS1D_P_ROWS];
            TRID_UNROLL
            for (int i = 0; i < K; i++) y[i] = g[i];
            BS1D_F(trid_warp_solve)(K, W, K * W, s.pcr_steps, s.f, y);
            TRID_UNROLL
            for (int i = 0; i < K; i++) {
                u[i] = active ? u[i] + y[i] : u[i];
                g[i] = crank ? 2 * y[i] - g[i] : y[i];
            }
        }
    }
}

/* steps European steps of a rung, 5 being rung 4 in increments; crank a literal. */
TRID_D void BS1D_F(bs1d_p_march)(int rung, int K, int W, int steps, int crank, int active, int turn,
                                 BS1D_F(bs1d_p_step_data) s, BS1D_R *u)
{
    if (s.f && rung == 5) {
        BS1D_F(bs1d_p_increment_march)(K, W, steps, crank, active, s, u);
    } else if (s.f) {
        BS1D_F(bs1d_warp_implicit3)(K, W, steps, crank, active, s.pcr_steps, s.f, u);
    } else {
        const int increment = rung == 2 || rung == 5;
        steps = trid_warp_uniform(steps);
        for (int i = 0; i < steps; i++) {
            BS1D_R y[BS1D_P_ROWS];
            BS1D_F(bs1d_p_step_solve)(K, W, increment, crank, turn + i, s, (const BS1D_R *)0, u, y);
            TRID_UNROLL
            for (int j = 0; j < K; j++) u[j] = active ? BS1D_F(bs1d_p_next)(increment, crank, u[j], y[j]) : u[j];
        }
    }
}

/* The same for teams of a warp that want different numbers of steps (0 for a team that stands by): what is common to
   all marches fast, the rest with those standing by that have done theirs. */
TRID_D void BS1D_F(bs1d_p_march_together)(int rung, int K, int W, int steps, int stands_by, int crank, int turn,
                                          BS1D_F(bs1d_p_step_data) s, BS1D_R *u)
{
    int common = BS1D_F(bs1d_p_least)(W, stands_by ? BS1D_P_LOST : steps);
    if (common == BS1D_P_LOST) return;
    BS1D_F(bs1d_p_march)(rung, K, W, common, crank, 1, turn, s, u);
    if (W >= 32) return;
    int longest = -BS1D_F(bs1d_p_least)(W, stands_by ? 0 : -steps);
    for (int i = common; i < longest; i++)
        BS1D_F(bs1d_p_march)(rung, K, W, 1, crank, !stands_by && i < steps, turn + i, s, u);
}

/* ---- options: in, and out ---------------------------------------------------------------------------------------- */

/* The team's option and its model; returns its status, or
   BS1D_P_NONE where there is none. A bad option gets a model that does
   nothing, so that its lanes can take part in the march. */
TRID_D int BS1D_F(bs1d_p_load)(int W, int team, int options, int points, const BS1D_F(bs1d_option) * option,
                               BS1D_F(bs1d_option) * o, bs1d_model *m)
{
    const int width = W > 32 ? 32 : W, there = team < options;
    BS1D_R word;
    BS1D_F(transpose_fetch)(1, width, there ? 9 : 0, (const BS1D_R *)(option + (there ? team : 0)), 0, &word);
    o->spot = __shfl_sync(TRID_P_FULL, word, 0, width);
    o->strike = __shfl_sync(TRID_P_FULL, word, 1, width);
    o->rate = __shfl_sync(TRID_P_FULL, word, 2, width);
    o->dividend = __shfl_sync(TRID_P_FULL, word, 3, width);
    o->volatility = __shfl_sync(TRID_P_FULL, word, 4, width);
    o->maturity = __shfl_sync(TRID_P_FULL, word, 5, width);
    o->top = __shfl_sync(TRID_P_FULL, word, 6, width);
    o->steps = BS1D_P_BITS(__shfl_sync(TRID_P_FULL, word, 7, width));
    o->flags = BS1D_P_BITS(__shfl_sync(TRID_P_FULL, word, 8, width));
    int status = there ? BS1D_F(bs1d_p_model)(*o, points, m) : BS1D_P_NONE;
    if (status) BS1D_F(bs1d_p_idle)(points, o, m);
    return status;
}

/* Initial values in u, and what early exercise pays in floor: zero from points on. */
TRID_D void BS1D_F(bs1d_p_payoff)(int K, int first, int points, BS1D_F(bs1d_option) o, BS1D_R *u, BS1D_R *floor)
{
    double ds = (double)o.top / (points - 1);
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        int inside = first + i < points;
        u[i] = inside ? (BS1D_R)bs1d_lane_payoff((int)o.flags, (double)o.strike, ds, points, first + i) : 0;
        floor[i] =
            inside ? (BS1D_R)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, first + i)
                   : 0;
    }
}

/* Solves   price, delta, gamma and theta at the spot from the values u of the last step and before of the one before
   it,
            dt years apart, by cubic interpolation between the four points around the spot
   Needs    spacing ds, points of the grid, row K*l + j in u[j] of lane l
   Lanes    as bs1d_warp_explicit2
   Leaves   *result in global memory, written by the team's first lane; null for a team without an option
   Shared   8 elements for the team, __syncthreads() or __syncwarp() before another use
   Cost     2K comparisons, and about 150 double operations in every lane */
TRID_D void BS1D_F(bs1d_warp_greeks)(int K, int W, int points, double ds, double spot, double dt, const BS1D_R *u,
                                     const BS1D_R *before, BS1D_F(bs1d_result) * result, BS1D_R *shared)
{
    int rank = BS1D_F(bs1d_p_rank)(W), first = BS1D_F(bs1d_p_first)(spot, ds, points);
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        int q = K * rank + i - first;
        if (q >= 0 && q < 4) {
            shared[q] = u[i];
            shared[4 + q] = before[i];
        }
    }
    if (W > 32)
        __syncthreads();
    else
        __syncwarp(TRID_P_FULL);
    if (rank == 0 && result) BS1D_F(bs1d_p_greeks)(spot / ds - first, ds, dt, shared, shared + 4, result);
}

/* Result and grid of the team's option, if it has one. implicit: was it marched so? The option is read again: to keep
   it through the march would cost more registers than the march can spare. */
TRID_D void BS1D_F(bs1d_p_finish)(int K, int W, int implicit, int team, int options, int points, int status,
                                  const BS1D_F(bs1d_option) * option, BS1D_R *u, const BS1D_R *before,
                                  BS1D_F(bs1d_result) * result, BS1D_R *grid, BS1D_R *shared)
{
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    BS1D_F(bs1d_p_load)(W, team, options, points, option, &o, &m);
    bs1d_p_plan plan = bs1d_p_plan_of((int)o.flags, (int)o.steps);
    double dt = (double)o.maturity / (double)o.steps * (implicit && !plan.crank ? plan.size : 1);
    double ds = (double)o.top / (points - 1);
    BS1D_F(bs1d_warp_greeks)(K, W, points, ds, (double)o.spot, dt, u, before, status ? 0 : result + team, shared);
    if (status < 0) {
        if (BS1D_F(bs1d_p_rank)(W) == 0) BS1D_F(bs1d_p_fail)(status, result + team);
        TRID_UNROLL
        for (int i = 0; i < K; i++) u[i] = BS1D_F(bs1d_p_nan)();
    }
    if (grid) {
        const int width = W > 32 ? 32 : W;
        int mine = status != BS1D_P_NONE, above = W > 32 ? K * ((int)threadIdx.x & ~31) : 0; /* rows of warps before */
        BS1D_R *row = grid + (mine ? team : 0) * (size_t)points + above;
        BS1D_F(transpose_store_shfl)(K, width, mine ? points - above : 0, u, row);
    }
}

/* ---- what the kernels do ----------------------------------------------------------------------------------------- */

TRID_D int BS1D_F(bs1d_p_team)(int W)
{
    return W > 32 ? (int)blockIdx.x : (int)((blockIdx.x * (size_t)blockDim.x + threadIdx.x) / W);
}

/* The explicit march but for explicit1. H = 0: step by step; else, for European options, composed as far as the steps
   allow. The last step is taken alone, for theta. */
TRID_D void BS1D_F(bs1d_p_explicit)(int K, int W, int H, int which, int options, int points,
                                    const BS1D_F(bs1d_option) * option, BS1D_F(bs1d_result) * result, BS1D_R *grid,
                                    BS1D_R *shared, BS1D_R *coefficient)
{
    BS1D_R u[BS1D_P_ROWS], floor[BS1D_P_ROWS], before[BS1D_P_ROWS];
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    int team = BS1D_F(bs1d_p_team)(W), first = K * BS1D_F(bs1d_p_rank)(W);
    int status = BS1D_F(bs1d_p_load)(W, team, options, points, option, &o, &m);
    int american = status == 0 && (o.flags & BS1D_AMERICAN) != 0;
    int mine = status != BS1D_P_NONE && (which & (american ? BS1D_P_AMERICAN : BS1D_P_EUROPEAN));
    if (!trid_warp_uniform(mine)) return;
    american = trid_warp_uniform(american);
    if (status == 0 && !BS1D_F(bs1d_p_stable)(m)) {
        status = BS1D_UNSTABLE;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
    }
    BS1D_F(bs1d_p_payoff)(K, first, points, o, u, floor);
    int single = (int)o.steps - 1;
    if (H > 0) {
        int composed, most = BS1D_F(bs1d_lane_composed)(m, H);
        int rest = BS1D_F(bs1d_lane_sweeps)(H, most, single, &composed);
        composed = trid_warp_uniform(composed);
        if (composed) {
            BS1D_F(bs1d_lane_compose)(K, H, m, first, composed, coefficient);
            BS1D_F(bs1d_warp_explicit3)(K, W, H, single / composed, coefficient, u, shared);
            if (W > 32) __syncthreads();
            single = rest;
        }
    }
    BS1D_R a[BS1D_P_ROWS], b[BS1D_P_ROWS], c[BS1D_P_ROWS];
    BS1D_F(bs1d_p_matrix)(K, m, 0, 1, first, a, b, c);
    if (H > 0 || !american)
        BS1D_F(bs1d_warp_explicit2)(K, W, single, a, b, c, (const BS1D_R *)0, u, shared);
    else
        BS1D_F(bs1d_warp_explicit2)(K, W, single, a, b, c, floor, u, shared);
    if (W > 32) __syncthreads();
    TRID_UNROLL
    for (int i = 0; i < K; i++) before[i] = u[i];
    if (H > 0 || !american)
        BS1D_F(bs1d_warp_explicit2)(K, W, 1, a, b, c, (const BS1D_R *)0, u, shared);
    else
        BS1D_F(bs1d_warp_explicit2)(K, W, 1, a, b, c, floor, u, shared);
    if (W > 32) __syncthreads();
    BS1D_F(bs1d_p_finish)(K, W, 0, team, options, points, status, option, u, before, result, grid, shared);
}

/* The implicit march of rung 1 to 4, and 5: rung 4 in increments. american is a literal. The last step is taken alone,
   for theta. */
TRID_D void BS1D_F(bs1d_p_implicit)(int rung, int K, int W, int american, int options, int points,
                                    const BS1D_F(bs1d_option) * option, BS1D_F(bs1d_result) * result, BS1D_R *grid,
                                    BS1D_R *shared)
{
    BS1D_R u[BS1D_P_ROWS], floor[BS1D_P_ROWS], before[BS1D_P_ROWS], f[TRID_WARP_FACTOR_LEN(BS1D_P_ROWS)];
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    int team = BS1D_F(bs1d_p_team)(W), first = K * BS1D_F(bs1d_p_rank)(W), dominant = 1;
    int status = BS1D_F(bs1d_p_load)(W, team, options, points, option, &o, &m);
    int increment = rung == 2 || (rung >= 4 && status == 0 && (o.flags & BS1D_INCREMENT) != 0);
    int mine = american == (status == 0 && (o.flags & BS1D_AMERICAN) != 0) &&
               (american || rung < 4 || increment == (rung == 5));
    if (!mine && status != BS1D_P_NONE) {
        status = BS1D_P_NONE;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
    }
    if (BS1D_F(bs1d_p_least)(W, status == BS1D_P_NONE)) return;

    bs1d_p_plan plan = bs1d_p_plan_of((int)o.flags, (int)o.steps);
    TRID_UNROLL
    for (int i = 0; i < K; i++) dominant &= first + i >= points || bs1d_p_dominant(m, plan.size, first + i);
    if (BS1D_F(bs1d_p_any)(W, !dominant)) {
        status = BS1D_NOT_DOMINANT;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
        plan = bs1d_p_plan_of(0, 1);
    }
    BS1D_F(bs1d_p_payoff)(K, first, points, o, u, floor);

    const int factored = rung >= 3 && W <= 32;
    BS1D_F(bs1d_p_step_data)
    s = {(BS1D_R)(plan.size * m.variance),
         (BS1D_R)(plan.size * m.drift),
         (BS1D_R)(plan.size * m.discount),
         points,
         first,
         5,
         factored ? f : 0,
         shared};
    if (factored) {
        BS1D_R a[BS1D_P_ROWS], b[BS1D_P_ROWS], c[BS1D_P_ROWS];
        BS1D_F(bs1d_p_matrix)(K, m, 1, -plan.size, first, a, b, c);
        BS1D_F(trid_warp_factor)(K, W, K * W, a, b, c, f, rung >= 4 ? &s.pcr_steps : (int *)0);
    }

    int last = plan.implicit + plan.crank - 1, crank = last >= plan.implicit, stands_by = status != 0;
    if (american) {
        BS1D_R push[BS1D_P_ROWS];
        TRID_UNROLL
        for (int i = 0; i < K; i++) push[i] = 0;
        last = trid_warp_uniform(last);
        for (int n = 0; n <= last; n++) {
            TRID_UNROLL
            for (int i = 0; i < K; i++) {
                before[i] = u[i];
                if (n == plan.implicit) push[i] *= 2; /* from here on the multiplier belongs to a whole step */
            }
            BS1D_F(bs1d_p_american_step)(K, W, increment, n >= plan.implicit, n, s, floor, push, u);
        }
    } else {
        int start = crank ? plan.implicit : last;
        BS1D_F(bs1d_p_march_together)(rung, K, W, start, stands_by, 0, 0, s, u);
        BS1D_F(bs1d_p_march_together)(rung, K, W, last - start, stands_by, 1, start, s, u);
        TRID_UNROLL
        for (int i = 0; i < K; i++) before[i] = u[i];
        BS1D_F(bs1d_p_march)(rung, K, W, 1, 0, !stands_by && !crank, last, s, u);
        BS1D_F(bs1d_p_march)(rung, K, W, 1, 1, !stands_by && crank, last + 1, s, u);
    }
    if (W > 32) __syncthreads();
    BS1D_F(bs1d_p_finish)(K, W, 1, team, options, points, status, option, u, before, result, grid, shared);
}

/* One step of explicit1; mine is the point's place in one of two arrays that serve in turn, so that one barrier a step
   suffices. */
TRID_D void BS1D_F(bs1d_p_explicit1_step)(BS1D_R a, BS1D_R b, BS1D_R c, const BS1D_R *floor, BS1D_R *u, BS1D_R *mine)
{
    mine[1] = *u;
    __syncthreads();
    *u = *u + a * mine[0] + b * *u + c * mine[2];
    if (floor) *u = BS1D_F(bs1d_p_max)(*u, *floor);
}

TRID_D void BS1D_F(bs1d_p_explicit1_march)(int steps, BS1D_R a, BS1D_R b, BS1D_R c, const BS1D_R *floor, BS1D_R *u,
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

/* A block an option, a thread a point. */
TRID_D void BS1D_F(bs1d_p_explicit1)(int threads, int options, int points, const BS1D_F(bs1d_option) * option,
                                     BS1D_F(bs1d_result) * result, BS1D_R *grid, BS1D_R *shared)
{
    enum { W = 1024 }; /* any W over 32 is a block */
    const int length = threads + 2;
    BS1D_F(bs1d_option) o;
    bs1d_model m;
    int j = (int)threadIdx.x, team = (int)blockIdx.x;
    int status = BS1D_F(bs1d_p_load)(W, team, options, points, option, &o, &m);
    if (!status && !BS1D_F(bs1d_p_stable)(m)) {
        status = BS1D_UNSTABLE;
        BS1D_F(bs1d_p_idle)(points, &o, &m);
    }
    BS1D_R a, b, c, u, before, floor;
    BS1D_F(bs1d_p_matrix)(1, m, 0, 1, j, &a, &b, &c);
    BS1D_F(bs1d_p_payoff)(1, j, points, o, &u, &floor);
    if (j == 0) shared[0] = shared[length] = 0;
    if (j == (int)blockDim.x - 1) shared[j + 2] = shared[length + j + 2] = 0;
    int single = (int)o.steps - 1, american = (o.flags & BS1D_AMERICAN) != 0;
    if (american)
        BS1D_F(bs1d_p_explicit1_march)(single, a, b, c, &floor, &u, shared + j, length);
    else
        BS1D_F(bs1d_p_explicit1_march)(single, a, b, c, (const BS1D_R *)0, &u, shared + j, length);
    before = u;
    BS1D_F(bs1d_p_explicit1_step)(a, b, c, american ? &floor : 0, &u, shared + j);
    __syncthreads();
    BS1D_F(bs1d_p_finish)(1, W, 0, team, options, points, status, option, &u, &before, result, grid, shared);
}
#endif /* TRID_DEVICE_SCOPES */

#ifndef BS1D_NO_LAUNCHES
/* ---- kernels and launches ---------------------------------------------------------------------------------------- */

#define BS1D_P_ARGUMENTS                                                                                               \
    int options, int points, const BS1D_F(bs1d_option) * option, BS1D_F(bs1d_result) * result, BS1D_R *grid

/* Threads of a block, and elements of shared memory for a team: 8 for the Greeks; two warps also need the halo of up to
   8 points, or the solver's 192 and a halo of one. */
#define BS1D_P_BLOCK(W) ((W) > 32 ? (W) : 128)
#define BS1D_P_RESIDENT(rung, K) ((K) > 8 || (rung) == 5 ? 2 : 4) /* blocks of 128 that a multiprocessor should hold */
#define BS1D_P_SHARED(W) ((W) > 32 ? 208 : 8)

#define BS1D_P_EXPLICIT(name, K, W, H, which)                                                                          \
    BS1D_KERNEL void __launch_bounds__(BS1D_P_BLOCK(W)) BS1D_F(name)(BS1D_P_ARGUMENTS)                                 \
    {                                                                                                                  \
        __shared__ BS1D_R shared[BS1D_P_BLOCK(W) / W * BS1D_P_SHARED(W)];                                              \
        BS1D_R coefficient[K * (2 * H + 1)];                                                                           \
        BS1D_F(bs1d_p_explicit)                                                                                        \
        (K, W, H, which, options, points, option, result, grid, shared + threadIdx.x / W * BS1D_P_SHARED(W),           \
         coefficient);                                                                                                 \
    }
#define BS1D_P_IMPLICIT(name, rung, K, W, american)                                                                    \
    BS1D_KERNEL void __launch_bounds__(BS1D_P_BLOCK(W), BS1D_P_RESIDENT(rung, K)) BS1D_F(name)(BS1D_P_ARGUMENTS)       \
    {                                                                                                                  \
        __shared__ BS1D_R shared[BS1D_P_BLOCK(W) / W * BS1D_P_SHARED(W)];                                              \
        BS1D_F(bs1d_p_implicit)                                                                                        \
        (rung, K, W, american, options, points, option, result, grid, shared + threadIdx.x / W * BS1D_P_SHARED(W));    \
    }

#define BS1D_P_EXPLICIT1(name, threads)                                                                                \
    BS1D_KERNEL void __launch_bounds__(threads, BS1D_P_RESIDENT_THREADS / threads) BS1D_F(name)(BS1D_P_ARGUMENTS)      \
    {                                                                                                                  \
        __shared__ BS1D_R shared[2 * (threads + 2)];                                                                   \
        BS1D_F(bs1d_p_explicit1)(threads, options, points, option, result, grid, shared);                              \
    }

/* Small grids have up to 256 points, medium ones 512, large ones 1024. */
BS1D_P_EXPLICIT1(bs1d_p_explicit1_small, 256)
BS1D_P_EXPLICIT1(bs1d_p_explicit1_medium, 512)
BS1D_P_EXPLICIT1(bs1d_p_explicit1_large, 1024)
BS1D_P_EXPLICIT(bs1d_p_explicit2_small, 8, 32, 0, 3)
BS1D_P_EXPLICIT(bs1d_p_explicit2_medium, 16, 32, 0, 3)
BS1D_P_EXPLICIT(bs1d_p_explicit2_large, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 0, 3)
BS1D_P_EXPLICIT(bs1d_p_explicit3_small, 8, 32, BS1D_P_REACH_SMALL, 1)
BS1D_P_EXPLICIT(bs1d_p_explicit3_medium, 16, 32, BS1D_P_REACH_MEDIUM, 1)
BS1D_P_EXPLICIT(bs1d_p_explicit3_large, BS1D_P_K_LARGE, BS1D_P_W_LARGE, BS1D_P_REACH_LARGE, 1)
BS1D_P_EXPLICIT(bs1d_p_explicit_american_small, 8, 32, 0, 2)
BS1D_P_EXPLICIT(bs1d_p_explicit_american_medium, 16, 32, 0, 2)
BS1D_P_EXPLICIT(bs1d_p_explicit_american_large, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 0, 2)
BS1D_P_IMPLICIT(bs1d_p_implicit1_small, 1, BS1D_P_K_DIRECT, BS1D_P_W_DIRECT, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit1_medium, 1, 16, 32, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit1_large, 1, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit2_small, 2, BS1D_P_K_DIRECT, BS1D_P_W_DIRECT, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit2_medium, 2, 16, 32, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit2_large, 2, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit3_small, 3, BS1D_P_K_FAST, BS1D_P_W_FAST, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit3_medium, 3, 16, 32, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit3_large, 3, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit4_small, 4, BS1D_P_K_FAST, BS1D_P_W_FAST, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit4_medium, 4, 16, 32, 0)
BS1D_P_IMPLICIT(bs1d_p_implicit4_large, 4, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 0)
BS1D_P_IMPLICIT(bs1d_p_increment4_small, 5, BS1D_P_K_INCREMENT, BS1D_P_W_INCREMENT, 0)
BS1D_P_IMPLICIT(bs1d_p_increment4_medium, 5, 16, 32, 0)
BS1D_P_IMPLICIT(bs1d_p_increment4_large, 5, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 0)
BS1D_P_IMPLICIT(bs1d_p_american1_small, 1, 8, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american1_medium, 1, 16, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american1_large, 1, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 1)
BS1D_P_IMPLICIT(bs1d_p_american2_small, 2, 8, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american2_medium, 2, 16, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american2_large, 2, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 1)
BS1D_P_IMPLICIT(bs1d_p_american3_small, 3, 8, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american3_medium, 3, 16, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american3_large, 3, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 1)
BS1D_P_IMPLICIT(bs1d_p_american4_small, 4, 8, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american4_medium, 4, 16, 32, 1)
BS1D_P_IMPLICIT(bs1d_p_american4_large, 4, BS1D_P_K_LARGE, BS1D_P_W_LARGE, 1)

TRID_HOST int BS1D_F(bs1d_p_arguments)(int options, int points, const void *option, const void *result)
{
    return options < 0 || points < 64 || points > 1024 || (options > 0 && (!option || !result)) ? BS1D_BAD_ARGUMENT
                                                                                                : BS1D_OK;
}

TRID_HOST int BS1D_F(bs1d_p_launched)(void)
{
    return cudaGetLastError() == cudaSuccess ? BS1D_OK : BS1D_LAUNCH_FAILED;
}

TRID_HOST unsigned BS1D_F(bs1d_p_blocks)(int options, int W)
{
    int teams = BS1D_P_BLOCK(W) / W;
    return (unsigned)(options / teams + (options % teams != 0));
}

/* Solves   a batch of options by a block each, on grids of points points
   Needs    option, result, grid in device memory; grid null, or options * points elements for the final values
   Returns  BS1D_OK, BS1D_BAD_ARGUMENT or BS1D_LAUNCH_FAILED; what befalls a single option is in its result's status
   Lanes    called on the host; asynchronous in stream
   Error    docs/bs1d.md */
TRID_HOST int BS1D_F(bs1d_explicit1)(BS1D_P_ARGUMENTS, cudaStream_t stream)
{
    int status = BS1D_F(bs1d_p_arguments)(options, points, option, result);
    if (status || options == 0) return status;
    unsigned blocks = (unsigned)options, threads = (unsigned)(points + 31) / 32 * 32;
    if (points <= 256)
        BS1D_LAUNCH(BS1D_F(bs1d_p_explicit1_small), blocks, threads, stream)(options, points, option, result, grid);
    else if (points <= 512)
        BS1D_LAUNCH(BS1D_F(bs1d_p_explicit1_medium), blocks, threads, stream)(options, points, option, result, grid);
    else
        BS1D_LAUNCH(BS1D_F(bs1d_p_explicit1_large), blocks, threads, stream)(options, points, option, result, grid);
    return BS1D_F(bs1d_p_launched)();
}

/* One kernel for the size of the grid. */
#define BS1D_P_SIZED(name, W_SMALL)                                                                                    \
    if (points <= 256)                                                                                                 \
        BS1D_LAUNCH(BS1D_F(name##_small), BS1D_F(bs1d_p_blocks)(options, W_SMALL), BS1D_P_BLOCK(W_SMALL), stream)      \
    (options, points, option, result, grid);                                                                           \
    else if (points <= 512) BS1D_LAUNCH(BS1D_F(name##_medium), BS1D_F(bs1d_p_blocks)(options, 32), BS1D_P_BLOCK(32),   \
                                        stream)(options, points, option, result, grid);                                \
    else BS1D_LAUNCH(BS1D_F(name##_large), BS1D_F(bs1d_p_blocks)(options, BS1D_P_W_LARGE),                             \
                     BS1D_P_BLOCK(BS1D_P_W_LARGE), stream)(options, points, option, result, grid)

/* A rung: one kernel after the other, each for its own options. */
#define BS1D_P_RUNG(rung, launches)                                                                                    \
    TRID_HOST int BS1D_F(bs1d_##rung)(BS1D_P_ARGUMENTS, cudaStream_t stream)                                           \
    {                                                                                                                  \
        int status = BS1D_F(bs1d_p_arguments)(options, points, option, result);                                        \
        if (status || options == 0) return status;                                                                     \
        launches;                                                                                                      \
        return BS1D_F(bs1d_p_launched)();                                                                              \
    }

/* The same by the other rungs; Needs, Returns, Lanes, Error as bs1d_explicit1. */
BS1D_P_RUNG(explicit2, BS1D_P_SIZED(bs1d_p_explicit2, 32))
BS1D_P_RUNG(explicit3, BS1D_P_SIZED(bs1d_p_explicit3, 32); BS1D_P_SIZED(bs1d_p_explicit_american, 32))
BS1D_P_RUNG(implicit1, BS1D_P_SIZED(bs1d_p_implicit1, BS1D_P_W_DIRECT); BS1D_P_SIZED(bs1d_p_american1, 32))
BS1D_P_RUNG(implicit2, BS1D_P_SIZED(bs1d_p_implicit2, BS1D_P_W_DIRECT); BS1D_P_SIZED(bs1d_p_american2, 32))
BS1D_P_RUNG(implicit3, BS1D_P_SIZED(bs1d_p_implicit3, BS1D_P_W_FAST); BS1D_P_SIZED(bs1d_p_american3, 32))
BS1D_P_RUNG(implicit4, BS1D_P_SIZED(bs1d_p_implicit4, BS1D_P_W_FAST);
            BS1D_P_SIZED(bs1d_p_increment4, BS1D_P_W_INCREMENT); BS1D_P_SIZED(bs1d_p_american4, 32))

#undef BS1D_P_SIZED
#undef BS1D_P_ARGUMENTS
#undef BS1D_P_EXPLICIT
#undef BS1D_P_IMPLICIT
#undef BS1D_P_RUNG
#endif /* BS1D_NO_LAUNCHES */

#if TRID_HOST_SCOPE
/* ---- the host reference ------------------------------------------------------------------------------------------ */

/* Result and grid of an option that has been marched, or that has failed. */
TRID_HOST void BS1D_F(bs1d_p_host_finish)(int status, int points, double dt, BS1D_F(bs1d_option) o, const BS1D_R *u,
                                          const BS1D_R *before, BS1D_F(bs1d_result) * result, BS1D_R *grid)
{
    if (status) {
        BS1D_F(bs1d_p_fail)(status, result);
    } else {
        double ds = (double)o.top / (points - 1);
        int first = BS1D_F(bs1d_p_first)((double)o.spot, ds, points);
        BS1D_F(bs1d_p_greeks)((double)o.spot / ds - first, ds, dt, u + first, before + first, result);
    }
    for (int j = 0; grid && j < points; j++) grid[j] = status ? BS1D_F(bs1d_p_nan)() : u[j];
}

TRID_HOST void BS1D_F(bs1d_p_host_payoff)(int points, BS1D_F(bs1d_option) o, BS1D_R *u, BS1D_R *floor)
{
    double ds = (double)o.top / (points - 1);
    for (int j = 0; j < points; j++) {
        u[j] = (BS1D_R)bs1d_lane_payoff((int)o.flags, (double)o.strike, ds, points, j);
        floor[j] = (BS1D_R)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, j);
    }
}

TRID_HOST void BS1D_F(bs1d_p_host_explicit)(int points, BS1D_F(bs1d_option) o, bs1d_model m, BS1D_R *work)
{
    BS1D_R *u = work, *before = u + points, *floor = before + points, *a = floor + points, *b = a + points;
    BS1D_R *c = b + points;
    BS1D_F(bs1d_p_host_payoff)(points, o, u, floor);
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
            u[j] = before[j] + a[j] * left + b[j] * before[j] + c[j] * right;
            if (o.flags & BS1D_AMERICAN) u[j] = BS1D_F(bs1d_p_max)(u[j], floor[j]);
        }
    }
}

/* In increments, as rung 2: with M = I - size*A, M y = size*A u (Crank-Nicolson: A u), u' = u + y. */
TRID_HOST int BS1D_F(bs1d_p_host_implicit)(int points, BS1D_F(bs1d_option) o, bs1d_model m, bs1d_p_plan plan,
                                           BS1D_R *work)
{
    BS1D_R *u = work, *before = u + points, *floor = before + points, *y = floor + points, *push = y + points;
    BS1D_R *l = push + points, *r = l + points, *q = r + points;
    BS1D_F(bs1d_p_host_payoff)(points, o, u, floor);
    for (int j = 0; j < points; j++) {
        double a, b, c;
        bs1d_lane_row(m, j, &a, &b, &c);
        l[j] = (BS1D_R)(-plan.size * a);
        r[j] = (BS1D_R)(1 - plan.size * b);
        q[j] = (BS1D_R)(-plan.size * c);
        push[j] = 0;
        if (!bs1d_p_dominant(m, plan.size, j)) return BS1D_NOT_DOMINANT;
    }
    if (BS1D_F(trid_lane_factor)(points, l, r, q, l, r, q, 1)) return BS1D_NOT_DOMINANT;
    for (int s = 0; s < plan.implicit + plan.crank; s++) {
        double size = s >= plan.implicit ? 1 : plan.size; /* of A on the right */
        memcpy(before, u, (size_t)points * sizeof *u);
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
            BS1D_R free = u[j] + y[j];
            if (o.flags & BS1D_AMERICAN) {
                free -= push[j];
                u[j] = BS1D_F(bs1d_p_max)(free, floor[j]);
                push[j] = u[j] - free;
            } else {
                u[j] = free;
            }
        }
    }
    return BS1D_OK;
}

/* Solves   the batch on the host, step by step: the reference for the explicit rungs
   Needs    points >= 4; work of BS1D_HOST_LEN(points) elements; grid null, or options * points elements
   Returns  BS1D_OK or BS1D_BAD_ARGUMENT; what befalls a single option is in its result's status */
TRID_HOST int BS1D_F(bs1d_host_explicit)(int options, int points, const BS1D_F(bs1d_option) * option,
                                         BS1D_F(bs1d_result) * result, BS1D_R *grid, BS1D_R *work)
{
    if (options < 0 || points < 4 || (options > 0 && (!option || !result || !work))) return BS1D_BAD_ARGUMENT;
    for (int i = 0; i < options; i++) {
        bs1d_model m;
        int status = BS1D_F(bs1d_p_model)(option[i], points, &m);
        if (!status && !BS1D_F(bs1d_p_stable)(m)) status = BS1D_UNSTABLE;
        if (!status) BS1D_F(bs1d_p_host_explicit)(points, option[i], m, work);
        BS1D_F(bs1d_p_host_finish)
        (status, points, (double)option[i].maturity / (double)option[i].steps, option[i], work, work + points,
         result + i, grid ? grid + (size_t)i * (size_t)points : 0);
    }
    return BS1D_OK;
}

/* Solves   the batch on the host, implicit: the reference for the implicit rungs; else as bs1d_host_explicit */
TRID_HOST int BS1D_F(bs1d_host_implicit)(int options, int points, const BS1D_F(bs1d_option) * option,
                                         BS1D_F(bs1d_result) * result, BS1D_R *grid, BS1D_R *work)
{
    if (options < 0 || points < 4 || (options > 0 && (!option || !result || !work))) return BS1D_BAD_ARGUMENT;
    for (int i = 0; i < options; i++) {
        bs1d_model m;
        int status = BS1D_F(bs1d_p_model)(option[i], points, &m);
        bs1d_p_plan plan = bs1d_p_plan_of((int)option[i].flags, status ? 1 : (int)option[i].steps);
        if (!status) status = BS1D_F(bs1d_p_host_implicit)(points, option[i], m, plan, work);
        double dt = (double)option[i].maturity / (double)option[i].steps * (plan.crank ? 1 : plan.size);
        BS1D_F(bs1d_p_host_finish)
        (status, points, dt, option[i], work, work + points, result + i, grid ? grid + (size_t)i * (size_t)points : 0);
    }
    return BS1D_OK;
}
#endif /* TRID_HOST_SCOPE */

#undef BS1D_R
#undef BS1D_F
#undef BS1D_P_REAL
#undef BS1D_P_INT
#undef BS1D_P_NAME
#undef BS1D_P_BITS
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
