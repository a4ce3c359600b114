/* bs3d.h - three-factor Black-Scholes by finite differences on a grid in device memory: explicit and ADI marches.

   MIT licence, see LICENSE. Copy this file, bs1d.h, trid.h, transpose.h and the folder trid.

   Prices one option, each of its assets with its own spot, volatility, dividend, correlations and grid
   (examples/bs3d_price.cu):

       bs3d_result result;
       void *work;
       check(cudaMalloc(&work, bs3d_work_bytes_f64(&option)));
       int status = bs3d_implicit2_f64(&option, work, &result, 0);
       check(cudaStreamSynchronize(0));
       if (status == BS3D_OK) status = result.status;
       if (status != BS3D_OK) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);

   The model: points S_m = i_m top_m / (points_m - 1), 4 to 1024 of them on each of three axes; dt = maturity / steps;
   central differences, on the last point of an axis no second difference and no cross differences. A cross difference
   is the seven-point one on the diagonal of its correlation's sign (13 points in all) where that is stable, and else
   the one of the four corners (19 points). An explicit step is u += L u; an implicit one solves
   A_x A_y A_z (u' - u) = L u with A_m = I - L_m, L_m being what an axis has for itself, and the discount in A_x; the
   last row of A_m does without its drift where it would not be dominant with it (docs/bs3d.md). With BS3D_AMERICAN each
   step ends with u = max(u, payoff).

   Where drift beats diffusion, volatility^2 i < |rate - dividend|, central differences oscillate: explicit marches are
   refused (BS3D_UNSTABLE), so are most implicit ones (BS3D_NOT_DOMINANT), and those that are not may come out negative,
   or with derivatives of the wrong sign, without notice. More points help, from (rate - dividend) / volatility^2 times
   top / spot on; or BS3D_UPWIND, which is of first order there.

   The ladder. Each rung exists with _f32 and _f64; what it moves over the bus, in passes over the array a step:
     bs3d_explicit1   2   a thread a column, all neighbours through the cache
     bs3d_explicit2   2   what a plane adds to the next two is carried in registers: half the loads
     bs3d_explicit3   2   planes pass through shared memory, patches of 4 x 2 points a thread, neighbours by shuffle
     bs3d_explicit4   1   two time steps in one sweep
     bs3d_implicit1   9   right-hand side, x, y, z: four kernels, the hybrid solver of trid.h each time
     bs3d_implicit2   5   matrices factored once; right-hand side, x and half of z in a sweep upward, the other half, y
                          and the update in a sweep downward (7 where nx > 512: x by itself)
     bs3d_implicit3   2   one sweep a step, along x and along y in turn, upward and downward in turn: what is stored is
                          half solved, u is not. Hands over to implicit2, whose values it then has, an American option;
                          more than 512 points in x or y, and more than 256 where there are no clusters (before compute
                          capability 9.0, code compiled for that, CUDA before 12.1); and a processor whose blocks have
                          less than 110 KB of shared memory, in double precision 169 (7.5, 8.6, 8.9, 12.0)
   They are templates with nothing to choose, called like functions: a program compiles those that it calls. A payoff of
   your own goes into the grid (examples/bs3d_own_payoff.cu); exercise is a flag (examples/bs3d_american.cu).
   For kernels of your own (examples/bs3d_own_kernel.cu):
     bs3d_model_of, bs3d_axis_of, bs3d_lane_axis, bs3d_lane_row, bs3d_lane_pairs, bs3d_lane_payoff      the set-up
     bs3d_lane_stencil    L u at one point                                                 42 to 66 operations
     bs3d_lane_plane      L u for a patch of points, plane after plane                     21 to 28 operations a point
     bs3d_lane_greeks     price, deltas, gammas, cross gammas, theta from the 64 points around the spot
   On several GPUs, each with a slab of the planes (examples/bs3d_gpus.cu, docs/gpus.md): explicit4 and implicit2 in
   parts, between which the caller sends what bs3d_slab_messages names; any library may move it, this file knows none.
     bs3d_slab_check, bs3d_slab_sections, bs3d_slab_cut       can it be so, and how it lies: planes, copies, sections
     bs3d_slab_bytes, bs3d_slab_open                          memory, and a march up to its first step
     bs3d_slab_explicit; bs3d_slab_up, bs3d_slab_down         steps; of a part of a slab, while another is being sent
     bs3d_slab_exercise, bs3d_slab_messages, bs3d_slab_values   payoffs; what to send; the 64 values around the spot
   For the host: bs3d_host_explicit, bs3d_host_implicit, bs3d_host_bytes, the reference; bs3d_check tells what is wrong
   with a problem, bs3d_status_string what a status means; bs3d_work_bytes and bs3d_pitch say how much memory, and how
   it lies.

   What the rungs share:
     Memory   work, bs3d_work_bytes of device memory, aligned to 16 bytes: two arrays and some planes. The final values
              are left at its start, value (i, j, k) at [i + bs3d_pitch(nx) (j + ny k)]; with payoff BS3D_GIVEN the
              march starts from what is there.
     Status   bs1d.h's; returned at once; if it is not BS3D_OK nothing has been launched or written (but for
              BS3D_LAUNCH_FAILED). It tells of the march's own calls alone; what failed before them is still to be
              had from cudaGetLastError, but where a kernel wants more than 48 KiB of shared memory (explicit3 on):
              asking for that was seen to clear it (CUDA 13.0). result may be null; it is copied asynchronously,
              and valid when the stream has been synchronised.
     Size     4 to 1024 points on each axis (slabs: on the third so many each), not necessarily equal; elements are
              counted in 64 bits. bs3d_implicit2_f64 with more than 256 points in y needs 98 KiB of shared
              memory a block: all but compute capability 7.5.

   Options, defined before the header is included:
     BS3D_NO_LAUNCHES   leaves out kernels and launch functions; what remains compiles in an instant.
     BS3D_HEADER        the name by which this file includes itself, if you rename it. Default: "bs3d.h". */

#ifndef BS3D_P_REAL /* first pass: what does not depend on the precision */
#ifndef BS3D_H
#define BS3D_H

#include "bs1d.h"
#include "trid/lu.h"
#include "trid/launch.h"

/* Short macros of a user must not reach the parameters of the same names. */
#ifndef __CUDACC_RTC__ /* which does not know the pragma */
#pragma push_macro("C")
#undef C
#pragma push_macro("K")
#undef K
#pragma push_macro("L")
#undef L
#pragma push_macro("P")
#undef P
#pragma push_macro("R")
#undef R
#pragma push_macro("SLOT")
#undef SLOT
#pragma push_macro("S")
#undef S
#pragma push_macro("V")
#undef V
#pragma push_macro("X")
#undef X
#endif

#define BS3D_VERSION 102 /* 100 * major + minor */

#ifndef BS3D_HEADER
#define BS3D_HEADER "bs3d.h"
#endif

#if !TB_LAUNCHES
#define BS3D_NO_LAUNCHES
#endif

/* What is priced; 0, a payoff left out, is refused. */
enum {
    BS3D_ASSET = 1,  /* a call on the first asset: S1 - K */
    BS3D_GEOMETRIC,  /* on the geometric average: (S1 S2 S3)^(1/3) - K */
    BS3D_MAXIMUM,    /* on the largest: max(S1, S2, S3) - K */
    BS3D_MINIMUM,    /* on the smallest: min(S1, S2, S3) - K */
    BS3D_ARITHMETIC, /* on the arithmetic average: (S1 + S2 + S3) / 3 - K */
    BS3D_GIVEN       /* the caller has put the final values into the grid */
};

/* How; or'ed, values as in bs1d.h. */
enum {
    BS3D_CALL = BS1D_CALL,
    BS3D_PUT = BS1D_PUT,           /* strike minus what a call has instead of that minus strike */
    BS3D_AMERICAN = BS1D_AMERICAN, /* after each step no value is below the payoff; not with BS3D_GIVEN */
    BS3D_UPWIND = BS1D_UPWIND,     /* lambda is at least |gamma|: no oscillation, at the price of first order there */
    BS3D_P_ALL_FLAGS = BS1D_PUT | BS1D_AMERICAN | BS1D_UPWIND,
    BS3D_P_SLABS = 4096, /* most that a grid is cut into */
    BS3D_P_CHAIN = 64    /* most sections whose ends are solved together */
};

/* Status of a march (returned, or in its result): bs1d.h's. */
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
    BS3D_NOT_DOMINANT = BS1D_NOT_DOMINANT,       /* implicit: drift beats diffusion in a line: more steps, or upwind */
    BS3D_LAUNCH_FAILED = BS1D_LAUNCH_FAILED      /* the runtime refused; cudaGetLastError says why */
};

/* What a status says. */
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

/* The axes of pair p. */
#define BS3D_P_FIRST(p) ((p) < 2 ? 0 : 1)
#define BS3D_P_SECOND(p) ((p) > 0 ? 2 : 1)

/* How the second differences couple the planes: only (+,+) and (-,-) corners, for which there is less to do, or all. */
#define BS3D_POSITIVE 0
#define BS3D_GENERAL 1
#define BS3D_P_MIRRORED 2 /* BS3D_POSITIVE marched against the third axis: corners (+,-) and (-,+) of pairs with it */

/* Solves   the model of a problem whose numbers have been checked. With t = correlation volatility volatility dt / 2 a
            pair's cross difference is the seven-point one, on the diagonal of its sign, where that is stable, and else
            the difference of the four corners. */
TB_HD bs3d_model bs3d_model_of(const bs3d_problem *o)
{
    const double *rho = o->correlation, dt = o->maturity / o->steps;
    double seven = 1 - rho[0] * rho[0] - rho[1] * rho[1] - rho[2] * rho[2] - 2 * fabs(rho[0] * rho[1] * rho[2]);
    bs3d_model m;
    for (int axis = 0; axis < 3; axis++) {
        m.variance[axis] = 0.5 * o->volatility[axis] * o->volatility[axis] * dt;
        m.drift[axis] = 0.5 * (o->rate - o->dividend[axis]) * dt;
        m.points[axis] = o->points[axis];
    }
    for (int p = 0; p < 3; p++) {
        double t = 0.5 * rho[p] * o->volatility[BS3D_P_FIRST(p)] * o->volatility[BS3D_P_SECOND(p)] * dt;
        m.plus[p] = seven < 0 ? 0.5 * t : t > 0 ? t : 0;
        m.minus[p] = seven < 0 ? -0.5 * t : t < 0 ? -t : 0;
    }
    m.discount = o->rate * dt;
    m.upwind = (o->flags & BS3D_UPWIND) != 0;
    return m;
}

/* Solves   what axis m has for itself, as bs1d.h's model: its matrix is I - L_m of the ADI factorisation, the discount
            being in the first axis' */
TB_HD bs1d_model bs3d_axis_of(const bs3d_model *m, int axis)
{
    bs1d_model line;
    line.variance = m->variance[axis];
    line.drift = m->drift[axis];
    line.discount = axis == 0 ? m->discount : 0;
    line.points = m->points[axis];
    line.upwind = m->upwind;
    return line;
}

TB_HD int bs3d_p_form(const bs3d_model *m)
{
    return m->minus[0] != 0 || m->minus[1] != 0 || m->minus[2] != 0 ? BS3D_GENERAL : BS3D_POSITIVE;
}

/* Solves   row i of axis m's own part of the operator, without the discount: *down and *up multiply the neighbours; on
            the last point there is no second difference
   Cost     about 6 double operations */
TB_HD void bs3d_lane_axis(const bs3d_model *m, int axis, int i, double *down, double *centre, double *up)
{
    bs1d_model line = bs3d_axis_of(m, axis);
    line.discount = 0;
    bs1d_lane_row(line, i, down, centre, up);
}

/* Solves   the payoff at point (s1, s2, s3); of the flags BS3D_PUT matters
   Needs    a payoff from BS3D_ASSET to BS3D_ARITHMETIC */
TB_HD double bs3d_lane_payoff(int payoff, int flags, double strike, double s1, double s2, double s3)
{
    double high = s1 > s2 ? s1 : s2, low = s1 < s2 ? s1 : s2, inside;
    high = high > s3 ? high : s3;
    low = low < s3 ? low : s3;
    inside = (payoff == BS3D_ASSET        ? s1
              : payoff == BS3D_GEOMETRIC  ? cbrt(s1 * s2 * s3)
              : payoff == BS3D_MAXIMUM    ? high
              : payoff == BS3D_ARITHMETIC ? (s1 + s2 + s3) / 3
                                          : low) -
             strike;
    if (flags & BS3D_PUT) inside = -inside;
    return inside < 0 ? 0 : inside; /* NaN stays NaN */
}

/* The spacing of an axis, and the first of the four points around the spot on it. */
TB_HD double bs3d_p_spacing(const bs3d_problem *o, int axis)
{
    return o->top[axis] / (o->points[axis] - 1);
}
TB_HD int bs3d_p_first(const bs3d_problem *o, int axis)
{
    int first = (int)(o->spot[axis] / bs3d_p_spacing(o, axis)) - 1;
    if (first > o->points[axis] - 4) first = o->points[axis] - 4;
    return first < 0 ? 0 : first;
}

/* Where the n-th of the 64 points around the spot is in a grid with these distances between rows and planes. */
TB_HD long long bs3d_p_around(const bs3d_problem *o, int n, long long pitch, long long plane)
{
    return bs3d_p_first(o, 0) + n % 4 + pitch * (bs3d_p_first(o, 1) + n / 4 % 4) +
           plane * (bs3d_p_first(o, 2) + n / 16);
}

/* ---- what can be wrong with a problem ---------------------------------------------------------------------------- */

#if TB_HOST_SCOPE
/* What lambda is i^2 times, on the last point. */
TB_HOST double bs3d_p_variance(const bs3d_model *m, int axis)
{
    double upwind = fabs(m->drift[axis]) / (m->points[axis] - 1);
    return m->upwind && m->variance[axis] < upwind ? upwind : m->variance[axis];
}

/* The damping of a Fourier mode with the weights of the far corner of the grid, in units of a time step. With
   e = 1 - cos and s = sin of the phase along each axis it is
       discount + sum over axes of 2 lambda e - sum over pairs of even e e' + sum over pairs of odd s s',
   where even and odd are twice the sum and the difference of the weights of the two diagonals. */
typedef struct {
    double discount, lambda[3], even[3], odd[3], e[3], s[3];
} bs3d_p_mode;

/* The damping as a function of one phase is (all else) + a e + b s = (all else) + a + sqrt(a^2 + b^2) at most: moves
   the phase there, and returns that. */
TB_HOST double bs3d_p_best_phase(bs3d_p_mode *mode, int axis)
{
    double a = 2 * mode->lambda[axis], b = 0, rest = mode->discount, most;
    for (int p = 0; p < 3; p++) {
        int m = BS3D_P_FIRST(p), n = BS3D_P_SECOND(p);
        if (m == axis || n == axis) {
            int other = m + n - axis;
            a -= mode->even[p] * mode->e[other];
            b += mode->odd[p] * mode->s[other];
        } else {
            rest += 2 * (mode->lambda[m] * mode->e[m] + mode->lambda[n] * mode->e[n]) -
                    mode->even[p] * mode->e[m] * mode->e[n] + mode->odd[p] * mode->s[m] * mode->s[n];
        }
    }
    most = sqrt(a * a + b * b);
    mode->e[axis] = most > 0 ? 1 + a / most : 0;
    mode->s[axis] = most > 0 ? b / most : 0;
    return rest + a + most;
}

/* So for one axis after another, times times at most. */
TB_HOST double bs3d_p_climb(bs3d_p_mode *mode, int times)
{
    double before = -1, most = 0;
    for (int n = 0; n < times && most > before * (1 + 1e-12); n++) {
        before = most;
        for (int axis = 0; axis < 3; axis++) most = bs3d_p_best_phase(mode, axis);
    }
    return most;
}

/* The largest damping at any corner of the grid, which is the largest on the grid since lambda is convex in the index:
   a march by u += L u bears 2. That of the far corner, since a mode without phase along an axis is damped as if the
   index there were 0. The modes of a lattice climb a little, and the best to the top. */
TB_HOST double bs3d_p_damping(const bs3d_model *m)
{
    const int lattice = 12;
    double most = 0;
    bs3d_p_mode mode, best;
    mode.discount = m->discount;
    for (int axis = 0; axis < 3; axis++) {
        double i = m->points[axis] - 1;
        mode.lambda[axis] = bs3d_p_variance(m, axis) * i * i;
        mode.e[axis] = mode.s[axis] = 0;
    }
    for (int p = 0; p < 3; p++) {
        double both = 2.0 * (m->points[BS3D_P_FIRST(p)] - 1) * (m->points[BS3D_P_SECOND(p)] - 1);
        mode.even[p] = both * (m->plus[p] + m->minus[p]);
        mode.odd[p] = both * (m->plus[p] - m->minus[p]);
    }
    best = mode;
    for (int y = 0; y <= lattice / 2; y++) /* the opposite phases are damped alike */
        for (int z = 0; z < lattice; z++) {
            const double turn = 2 * 3.14159265358979323846 / lattice;
            mode.e[1] = 1 - cos(turn * y);
            mode.s[1] = sin(turn * y);
            mode.e[2] = 1 - cos(turn * z);
            mode.s[2] = sin(turn * z);
            double damping = bs3d_p_climb(&mode, 3);
            if (damping > most) {
                most = damping;
                best = mode;
            }
        }
    return bs3d_p_climb(&best, 200);
}

/* How much of the drift diffusion does not damp in a march by u += L u, which bears 1: 2 g R^-1 g, R being the matrix
   of the correlations and g the drifts in units of the volatilities. (On one axis: 2 gamma^2 / lambda.) With upwind the
   last point is the worst: there the additional diffusion is least against the drift. */
TB_HOST double bs3d_p_drift(const bs3d_model *m)
{
    double variance[3], g[3], r[3], det = 1, sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        variance[axis] = bs3d_p_variance(m, axis);
        g[axis] = m->drift[axis] / sqrt(variance[axis]);
    }
    for (int p = 0; p < 3; p++) {
        r[p] = (m->plus[p] - m->minus[p]) / sqrt(variance[BS3D_P_FIRST(p)] * variance[BS3D_P_SECOND(p)]);
        det -= r[p] * r[p];
    }
    det += 2 * r[0] * r[1] * r[2];
    for (int axis = 0; axis < 3; axis++) {
        double other = r[2 - axis]; /* of the two axes that remain */
        sum += g[axis] * g[axis] * (1 - other * other);
    }
    for (int p = 0; p < 3; p++)
        sum += 2 * g[BS3D_P_FIRST(p)] * g[BS3D_P_SECOND(p)] * (r[(p + 1) % 3] * r[(p + 2) % 3] - r[p]);
    return 2 * sum / det;
}

TB_HOST int bs3d_p_stable(const bs3d_model *m)
{
    return bs3d_p_drift(m) <= 1 && bs3d_p_damping(m) <= 2;
}

TB_HOST int bs3d_p_dominant(const bs3d_model *m)
{
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < m->points[axis]; i++)
            if (!bs1d_lane_dominant(bs3d_axis_of(m, axis), 1, i)) return 0;
    return 1;
}

/* Are all matrices I - L_axis as they stand, without upwinding and with the drift of their last rows? */
TB_HOST int bs3d_p_plain(const bs3d_model *m)
{
    for (int axis = 0; axis < 3; axis++) {
        double a, b, c;
        if (m->upwind || bs1d_lane_matrix(bs3d_axis_of(m, axis), 1, m->points[axis] - 1, &a, &b, &c) != 0) return 0;
    }
    return 1;
}

/* Are the numbers of points within bounds, the third axis being cut into slabs? */
TB_HOST int bs3d_p_sized_in(const bs3d_problem *o, int slabs)
{
    if (slabs < 1 || slabs > BS3D_P_SLABS) return 0;
    for (int axis = 0; axis < 3; axis++)
        if (o->points[axis] < 4 || o->points[axis] > (axis < 2 ? 1024 : 1024 * slabs)) return 0;
    return 1;
}
TB_HOST int bs3d_p_sized(const bs3d_problem *o)
{
    return bs3d_p_sized_in(o, 1);
}

/* Solves   is there anything wrong with the problem, marched by explicit or implicit steps on so many slabs?
   Returns  BS3D_OK or why not */
TB_HOST int bs3d_slab_check(const bs3d_problem *o, int implicit, int slabs)
{
    if (!o || o->payoff < BS3D_ASSET || o->payoff > BS3D_GIVEN) return BS3D_BAD_ARGUMENT;
    if (o->payoff == BS3D_GIVEN && (o->flags & BS3D_AMERICAN)) return BS3D_BAD_ARGUMENT;
    if (o->steps < 1 || !bs3d_p_sized_in(o, slabs)) return BS3D_BAD_SIZE;
    /* A sum is finite only if its parts are. */
    double sum = fabs(o->strike) + fabs(o->rate) + fabs(o->maturity);
    int positive = o->strike > 0 && o->maturity > 0 && o->maturity / o->steps > 0, inside = 1;
    const double *rho = o->correlation;
    for (int axis = 0; axis < 3; axis++) {
        sum += fabs(o->spot[axis]) + fabs(o->top[axis]) + fabs(o->volatility[axis]) + fabs(o->dividend[axis]) +
               fabs(rho[axis]);
        positive = positive && o->top[axis] > 0 && o->volatility[axis] > 0;
        inside = inside && o->spot[axis] >= 0 && o->spot[axis] <= o->top[axis];
    }
    if (!trid_finite_f64(sum) || !positive || (o->flags & ~BS3D_P_ALL_FLAGS)) return BS3D_BAD_NUMBER;
    if (!inside) return BS3D_BAD_SPOT;
    if (!(fabs(rho[0]) < 1 && fabs(rho[1]) < 1 && fabs(rho[2]) < 1) ||
        !(1 - rho[0] * rho[0] - rho[1] * rho[1] - rho[2] * rho[2] + 2 * rho[0] * rho[1] * rho[2] > 0))
        return BS3D_BAD_CORRELATION;
    bs3d_model m = bs3d_model_of(o);
    for (int axis = 0; axis < 3; axis++) {
        double n = m.points[axis], most = (m.variance[axis] * n + fabs(m.drift[axis])) * n + fabs(m.discount);
        if (!trid_finite_f32((float)most) || !(m.variance[axis] > 0)) return BS3D_BAD_NUMBER;
    }
    if (implicit) return bs3d_p_dominant(&m) ? BS3D_OK : BS3D_NOT_DOMINANT;
    return bs3d_p_stable(&m) ? BS3D_OK : BS3D_UNSTABLE;
}

/* Solves   is there anything wrong with the problem, marched by explicit or implicit steps?
   Returns  BS3D_OK or why not */
TB_HOST int bs3d_check(const bs3d_problem *o, int implicit)
{
    return bs3d_slab_check(o, implicit, 1);
}
#endif

/* ---- slabs: a grid's planes on several processors ---------------------------------------------------------------- */

enum { BS3D_ALL, BS3D_OUTER, BS3D_INNER }; /* parts of a slab: all of it, what its neighbours wait for, the rest */

/* How the third axis is cut into slabs, and which of them this is (bs3d_slab_cut). */
typedef struct {
    int slabs, slab;   /* of so many this one, the first one having plane 0 */
    int first, planes; /* planes first .. first + planes - 1 of the grid are its own */
    int below, above;  /* planes of its neighbours that it has a copy of: deep; 0 at the ends of the grid */
    int deep;
    int sections;   /* implicit: that its planes are cut into */
    int reach;      /* so many of a neighbour's sections matter for its own; 0: those of all slabs do */
    int chain, own; /* sections whose ends are solved for together; the first of its own among them */
} bs3d_slab;

/* What a slab sends to another one, and what it receives in turn. */
typedef struct {
    const void *send;
    void *receive;
    size_t bytes;
} bs3d_message;

/* Section s of a slab, of whose planes, copies included, sections are equal parts: its own planes from .. to-1 in it,
   counted as the grid's. */
TB_HD void bs3d_p_slab_section(int nz, int slabs, int slab, int sections, int s, int *from, int *to)
{
    int low = (int)((long long)nz * slab / slabs), high = (int)((long long)nz * (slab + 1) / slabs);
    int start = low - (slab > 0), planes = high + (slab < slabs - 1) - start;
    *from = start + planes * s / sections;
    *to = start + planes * (s + 1) / sections;
    if (*from < low) *from = low;
    if (*to > high) *to = high;
}

#if TB_HOST_SCOPE
/* How much of the last unknown before a section is seen in its last one, or of that in its first one. */
TB_HOST double bs3d_p_coupling(const bs3d_model *m, int from, int to)
{
    double r = 0, above_c = 0, g = 0, product = 1;
    for (int k = from; k < to; k++) {
        double a, b, c;
        bs1d_lane_matrix(bs3d_axis_of(m, 2), 1, k, &a, &b, &c);
        double l = k > from ? a * r : 0;
        g = k > from ? -l * g : a;
        r = 1 / (b - l * above_c);
        if (k + 1 < to) product *= c * r;
        above_c = c;
    }
    return fabs(g * r) > fabs(product) ? fabs(g * r) : fabs(product);
}

/* How many of a neighbour's sections matter, if what comes through them matters less than roundoff: the least number
   for which that is so at each border; 0 if a slab's sections are not enough. */
TB_HOST int bs3d_p_slab_reach(const bs3d_model *m, int slabs, int sections, double roundoff)
{
    int most = 1;
    for (int border = 1; border < slabs; border++) {
        for (int up = 0; up < 2; up++) {
            double seen = 1;
            int from, to, n = 0;
            for (; n < sections && !(seen < roundoff); n++) {
                int s = up ? n : sections - 1 - n;
                bs3d_p_slab_section(m->points[2], slabs, up ? border : border - 1, sections, s, &from, &to);
                seen *= bs3d_p_coupling(m, from, to);
            }
            if (!(seen < roundoff)) return 0;
            if (n > most) most = n;
        }
    }
    return most;
}

/* Solves   how the grid of a problem lies on slabs processors, and what of it slab has. deep: planes of its neighbours
            that it has, 1 in an implicit march, in an explicit one a step needs 1; sections: 0 in an explicit march, in
            an implicit one bs3d_slab_sections of the processors, the same on all
   Needs    every slab at least 4 planes, deep, and 4 sections
   Returns  BS3D_OK, or why it cannot be so: as bs3d_check, the third axis having up to 1024 points a slab;
            BS3D_BAD_SIZE, also if all sections depend on each other and are more than 64
   Cost     host alone; for an implicit march some 20 operations a plane of the grid */
TB_HOST int bs3d_slab_cut(const bs3d_problem *o, int implicit, int is_double, int slabs, int slab, int deep,
                          int sections, bs3d_slab *cut)
{
    int status = bs3d_slab_check(o, implicit, slabs), nz;
    if (status) return status;
    if (!cut || slab < 0 || slab >= slabs || o->payoff == BS3D_GIVEN) return BS3D_BAD_ARGUMENT;
    nz = o->points[2];
    memset(cut, 0, sizeof *cut);
    cut->slabs = slabs;
    cut->slab = slab;
    cut->first = (int)((long long)nz * slab / slabs);
    cut->planes = (int)((long long)nz * (slab + 1) / slabs) - cut->first;
    cut->deep = implicit ? 1 : deep;
    cut->below = slab > 0 ? cut->deep : 0;
    cut->above = slab < slabs - 1 ? cut->deep : 0;
    int least = nz / slabs; /* planes of any slab */
    if (least < 4 || cut->deep < 1 || cut->deep > 32 || least < cut->deep) return BS3D_BAD_SIZE;
    if (!implicit) return BS3D_OK;
    if (sections < 1 || sections > 8 || least < 4 * sections) return BS3D_BAD_SIZE;
    bs3d_model m = bs3d_model_of(o);
    cut->sections = sections;
    cut->reach = bs3d_p_slab_reach(&m, slabs, sections, is_double ? 1.1e-16 : 6e-8);
    cut->own = cut->reach ? (slab > 0 ? cut->reach : 0) : slab * sections;
    cut->chain = cut->reach ? cut->own + sections + (slab < slabs - 1 ? cut->reach : 0) : slabs * sections;
    return cut->chain <= BS3D_P_CHAIN ? BS3D_OK : BS3D_BAD_SIZE;
}
#endif

/* ---- what the kernels share, whatever the precision -------------------------------------------------------------- */

#ifndef BS3D_NO_LAUNCHES
enum {
    BS3D_P_PAD = 4,      /* columns on each side of a tile in shared memory, of which two count */
    BS3D_P_DEPTH = 4,    /* slots of a ring */
    BS3D_P_AHEAD = 3,    /* planes on their way in the downward sweep, where shared memory has room */
    BS3D_P_COMING = 3,   /* planes on their way in implicit3 */
    BS3D_P_VECTORS = 16, /* most vectors of a plane that a thread copies */
    BS3D_P_ARRIVAL = 12, /* numbers that a plane's arrival needs */
    BS3D_P_COLUMNS = 4,  /* most columns, rows and points that a lane has */
    BS3D_P_ROWS = 2,
    BS3D_P_POINTS = 8,
    BS3D_P_MARGIN = 4,       /* rows of zeros before and after those of an axis */
    BS3D_P_ROW_TABLE = 1032, /* rows in the table of an axis */
    BS3D_P_SECTIONS = 8,     /* most sections in the implicit rungs */
    /* Where the tables have what: rows of the axes, factors of their matrices, how many PCR steps matter in x and y. */
    BS3D_P_Z_FACTORS = 12 * BS3D_P_ROW_TABLE,
    BS3D_P_LINKS = 8 * 1024, /* after the factors of z, which are there twice, upward and downward */
    BS3D_P_Z_SIZE = BS3D_P_LINKS + 8 * BS3D_P_SECTIONS,
    BS3D_P_X_FACTORS = BS3D_P_Z_FACTORS + 2 * BS3D_P_Z_SIZE,
    BS3D_P_Y_FACTORS = BS3D_P_X_FACTORS + 32 * TRID_WARP_FACTOR_LEN(32),
    BS3D_P_STEPS = BS3D_P_Y_FACTORS + 32 * TRID_INTERLEAVED_FACTOR_LEN(32),
    BS3D_P_TABLES = BS3D_P_STEPS + 32 /* elements */
};

#define BS3D_P_X_WARPS(K) ((K) <= 8 ? 8 : 4) /* of a block that solves lines in x, K points a lane */

/* What a kernel must know. */
typedef struct {
    bs3d_model model;
    long long plane; /* elements from one plane to the next */
    int pitch;       /* from one row to the next */
    int sections;    /* that the third axis is cut into */
    int tile;        /* columns of a block that marches */
    int depth;       /* planes on their way in the downward sweep */
} bs3d_p_plan;

/* A sweep of implicit3: with rows along axis own it finds w, eliminated in z against its march, and leaves the next w,
   eliminated along its march, rows along the other axis; or (finish) u. */
typedef struct {
    int own, points, lines; /* lines along the other axis */
    int march;              /* 1 upward, -1 downward */
    int finish;
    int pitch, to_pitch; /* of what it reads and of what it writes */
    long long plane, to_plane;
} bs3d_p_turn;

/* The planes of a section. */
TB_HD void bs3d_p_section(int nz, int sections, int section, int *from, int *to)
{
    *from = nz * section / sections;
    *to = nz * (section + 1) / sections;
}

/* Which planes the blocks of a launch march through, where that is not all of them in plan.sections sections. The n-th
   section of the launch is section first + n, from n = jump on over sections further, of planes planes from plane from
   on, from n = jump on apart planes further; and of that what lies in low .. high - 1. */
typedef struct {
    int from, planes, sections, first, jump, over, apart, low, high;
} bs3d_p_share;

/* The planes of section n of a launch; returns which section that is. No share: all planes are marched. */
TB_HD int bs3d_p_marched(const bs3d_p_plan *plan, const bs3d_p_share *share, int n, int *from, int *to)
{
    if (!share) {
        bs3d_p_section(plan->model.points[2], plan->sections, n, from, to);
        return n;
    }
    int beyond = n >= share->jump, section = share->first + n + (beyond ? share->over : 0);
    int move = share->from + (beyond ? share->apart : 0);
    bs3d_p_section(share->planes, share->sections, section, from, to);
    *from = *from + move > share->low ? *from + move : share->low;
    *to = *to + move < share->high ? *to + move : share->high;
    return section;
}

/* Launched by trid_launch_with, a kernel may begin when the blocks of the one before have all begun: what it reads
   or writes that is another kernel's comes after bs3d_p_wait. Compute capability 9.0 on; before, kernels follow each
   other. */
TB_D void bs3d_p_wait(void)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#elif defined SIMT_EMULATOR
    simt_grid_wait();
#endif
}
TB_D void bs3d_p_let_next_begin(void)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#elif defined SIMT_EMULATOR
    simt_grid_launch_dependents();
#endif
}
TB_HOST int bs3d_p_attribute(enum cudaDeviceAttr attribute)
{
    int device = 0, value = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess)
        return 0;
    return value;
}

/* A barrier for all threads of the block in two halves: what was done before bs3d_p_arrive is seen after bs3d_p_await,
   and what is done between them keeps nobody waiting. The gate, in shared memory, is opened once, before a
   __syncthreads; odd: has it been passed an odd number of times? Before compute capability 8.0, and under the emulator,
   which so sees what is read too late or written too early, all meet at bs3d_p_arrive. */
TB_D void bs3d_p_open_gate(unsigned long long *gate, int threads)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    if (trid_block_thread() == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(gate)), "r"(threads)
                     : "memory");
#else
    (void)gate, (void)threads;
#endif
}
TB_D void bs3d_p_arrive(unsigned long long *gate)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.shared.b64 state, [%0];\n\t}" ::"r"(
                     (unsigned)__cvta_generic_to_shared(gate))
                 : "memory");
#else
    (void)gate;
    __syncthreads();
#endif
}
TB_D void bs3d_p_await(unsigned long long *gate, int odd)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    int passed = 0;
    while (!passed)
        asm volatile("{\n\t.reg .pred passed;\n\t"
#if __CUDA_ARCH__ >= 900
                     "mbarrier.try_wait.parity.shared.b64 passed, [%1], %2;\n\t"
#else
                     "mbarrier.test_wait.parity.shared.b64 passed, [%1], %2;\n\t"
#endif
                     "selp.b32 %0, 1, 0, passed;\n\t}"
                     : "=r"(passed)
                     : "r"((unsigned)__cvta_generic_to_shared(gate)), "r"(odd)
                     : "memory");
#else
    (void)gate, (void)odd;
#endif
}

/* Where dynamic shared memory begins, held in a register: the compiler works it out again for each access otherwise. */
TB_D unsigned char *bs3d_p_held(unsigned char *memory)
{
#ifdef __CUDA_ARCH__
    unsigned begin = (unsigned)__cvta_generic_to_shared(memory);
    asm volatile("" : "+r"(begin));
    memory = (unsigned char *)__cvta_shared_to_generic(begin);
#endif
    return memory;
}

/* In a branch that is seldom taken: keeps the compiler from selecting each number, taken or not. */
TB_D void bs3d_p_as_branch(void)
{
#ifdef __CUDA_ARCH__
    asm volatile("");
#endif
}

extern "C++" {
/* trid_launch as one of a chain, whose status it sets if it fails; after a failure nothing is launched. */
template <class... P>
static inline void bs3d_p_launch_next(int *status, void (*kernel)(P...), dim3 grid, dim3 block, size_t bytes,
                                      cudaStream_t stream, typename trid_same<P>::type... arguments)
{
    if (*status == BS3D_OK && trid_launch(kernel, grid, block, bytes, stream, arguments...) != cudaSuccess)
        *status = BS3D_LAUNCH_FAILED;
}

/* The same in clusters of so many blocks; the kernel may begin early, if early is not 0. */
template <class... P>
static inline void bs3d_p_launch_soon(int early, int cluster, int *status, void (*kernel)(P...), dim3 grid, dim3 block,
                                      size_t bytes, cudaStream_t stream, typename trid_same<P>::type... arguments)
{
    if (*status == BS3D_OK &&
        trid_launch_with(early, cluster, kernel, grid, block, bytes, stream, arguments...) != cudaSuccess)
        *status = BS3D_LAUNCH_FAILED;
}
}

/* A barrier for all threads of the block, count, in whichever loop each is: __syncthreads wants them in one. */
TB_D void bs3d_p_meet(int count)
{
#ifdef __CUDA_ARCH__
    asm volatile("barrier.sync 1, %0;" ::"r"(count) : "memory");
#elif defined SIMT_EMULATOR
    simt_barrier(1, count);
#else
    (void)count; /* the host's pass over device code */
#endif
}

#endif /* BS3D_NO_LAUNCHES */

/* The body below, once a precision. */
/* Shapes, as measured (docs/bs3d.md): columns a lane, rows of a block, rows a lane, blocks that a processor is to
   hold. */
#define BS3D_P_REAL float
#define BS3D_P_NAME(stem) stem##_f32
#define BS3D_P_VECTOR float4      /* 16 bytes */
#define BS3D_P_SHAPE3 4, 12, 2, 2 /* explicit3, and the right-hand side of implicit1 */
#define BS3D_P_SHAPE4 4, 12, 2, 2
#define BS3D_P_SHAPE_UP 4, 4, 2, 2 /* implicit2, upward */
#define BS3D_P_SHAPE_TURNED 8, 1   /* implicit3: rows of a block, a multiple of what 16 bytes hold; blocks */
#define BS3D_P_KEPT(form, pair) 3  /* of l, u and r of its points, how many a lane has in registers */
#define BS3D_P_SKEW(Q, q) ((Q) == 2 ? 8 * (q) : 4 * (q))
#define BS3D_P_LINES_8 16 /* and downward: lines in y that a block has */
#define BS3D_P_LINES_16 16
#define BS3D_P_LINES_32 8
#define BS3D_P_TRANSPOSE_LEN(K) TRANSPOSE_LEN_F32(K)
#define BS3D_P_LINES_LEN(L, S) TRID_BLOCK_INTERLEAVED_LEN_F32(L, S)
#define BS3D_P_LINES_SOLVE_LEN(L, S) TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F32(L, S)
#include BS3D_HEADER

#define BS3D_P_REAL double
#define BS3D_P_NAME(stem) stem##_f64
#define BS3D_P_VECTOR double2
#define BS3D_P_SHAPE3 4, 12, 2, 1
#define BS3D_P_SHAPE4 4, 12, 2, 1
#define BS3D_P_SHAPE_UP 4, 2, 2, 2
#define BS3D_P_SHAPE_TURNED 6, 1
#define BS3D_P_KEPT(form, pair) ((pair) && (form) == BS3D_GENERAL ? 1 : 2) /* more would be spilled */
#define BS3D_P_SKEW(Q, q) (2 * ((q) % 2) + 8 * ((q) / 2))
#define BS3D_P_LINES_8 8
#define BS3D_P_LINES_16 8
#define BS3D_P_LINES_32 4
#define BS3D_P_TRANSPOSE_LEN(K) TRANSPOSE_LEN_F64(K)
#define BS3D_P_LINES_LEN(L, S) TRID_BLOCK_INTERLEAVED_LEN_F64(L, S)
#define BS3D_P_LINES_SOLVE_LEN(L, S) TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F64(L, S)
#include BS3D_HEADER

/* ---- launches: bs3d_RUNG_PRECISION ------------------------------------------------------------------------------- */

#ifndef BS3D_NO_LAUNCHES
extern "C++" {
/* Solves   the problem by this rung
   Needs    work: bs3d_work_bytes of device memory, aligned to 16 bytes; result: null, or host memory, page-locked if
            the copy shall not wait
   Leaves   the final values at the start of work; *result when the stream has been synchronised
   Returns  BS3D_OK, or why nothing was done: as bs3d_check, BS3D_BAD_ARGUMENT, BS3D_LAUNCH_FAILED. What failed in
            calls before does not count, and cudaGetLastError still returns it
   Lanes    called on the host, like any function: the template is there so that a program compiles what it calls;
            asynchronous in stream, sets up its tables by itself
   Error    docs/bs3d.md: that of the rounding, against bs3d_host_explicit and bs3d_host_implicit */
template <int unused = 0>
static int bs3d_explicit1_f32(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_explicit2_f32(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_explicit3_f32(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_explicit4_f32(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_implicit1_f32(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_implicit2_f32(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_implicit3_f32(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_explicit1_f64(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_explicit2_f64(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_explicit3_f64(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_explicit4_f64(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_implicit1_f64(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_implicit2_f64(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
template <int unused = 0>
static int bs3d_implicit3_f64(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream);
}
#endif

#ifndef __CUDACC_RTC__
#pragma pop_macro("C")
#pragma pop_macro("K")
#pragma pop_macro("L")
#pragma pop_macro("P")
#pragma pop_macro("R")
#pragma pop_macro("SLOT")
#pragma pop_macro("S")
#pragma pop_macro("V")
#pragma pop_macro("X")
#endif

#endif /* BS3D_H */
#else  /* BS3D_P_REAL: the body, in the precision at hand */

#define BS3D_R BS3D_P_REAL
#define BS3D_F(stem) BS3D_P_NAME(stem)

/* ---- lane scope -------------------------------------------------------------------------------------------------- */

/* What the points share that have the same index on an axis: the weights of the differences to the two neighbours on
   it, and what the index counts in a cross difference. */
typedef struct {
    BS3D_R down, up, weight;
} BS3D_F(bs3d_row);

/* What all points share: the weights of the cross differences, and of the point itself beside all differences, which is
   1 - discount for u + L u and -discount for L u. */
typedef struct {
    BS3D_R plus[3], minus[3], same;
} BS3D_F(bs3d_pairs);

/* Solves   row i of an axis; zeros outside the grid
   Cost     some 10 double operations */
TB_HD BS3D_F(bs3d_row) BS3D_F(bs3d_lane_row)(const bs3d_model *m, int axis, int i)
{
    BS3D_F(bs3d_row) r = {0, 0, 0};
    if (i < 0 || i >= m->points[axis]) return r;
    double down, centre, up;
    bs3d_lane_axis(m, axis, i, &down, &centre, &up);
    r.down = (BS3D_R)down;
    r.up = (BS3D_R)up;
    r.weight = (BS3D_R)(i < m->points[axis] - 1 ? i : 0); /* the last point has no cross differences */
    return r;
}

/* Solves   what all points share; identity 1 for u + L u, 0 for L u */
TB_HD BS3D_F(bs3d_pairs) BS3D_F(bs3d_lane_pairs)(const bs3d_model *m, int identity)
{
    BS3D_F(bs3d_pairs) pairs;
    for (int p = 0; p < 3; p++) {
        pairs.plus[p] = (BS3D_R)m->plus[p];
        pairs.minus[p] = (BS3D_R)m->minus[p];
    }
    pairs.same = (BS3D_R)(identity - m->discount);
    return pairs;
}

/* The four corners of a cross difference less their edges: (a - b) - (c - d). */
TB_HD BS3D_R BS3D_F(bs3d_p_cell)(BS3D_R a, BS3D_R b, BS3D_R c, BS3D_R d)
{
    return (a - b) - (c - d);
}

/* Solves   L u, or u + L u, at one point: the formula, every neighbour read where it lies
   Needs    u at the point; east, west, north, south, up, down: how far the neighbours are, 0 for one beyond the grid,
            whose weight is 0
   Cost     form BS3D_POSITIVE: 13 loads, 42 operations; else 19 loads, 66 */
TB_HD BS3D_R BS3D_F(bs3d_lane_stencil)(int form, const BS3D_F(bs3d_pairs) * pairs, BS3D_F(bs3d_row) x,
                                       BS3D_F(bs3d_row) y, BS3D_F(bs3d_row) z, const BS3D_R *u, long long east,
                                       long long west, long long north, long long south, long long up, long long down)
{
    const BS3D_R *above = u + up, *below = u + down;
    BS3D_R xy = x.weight * y.weight, xz = x.weight * z.weight, yz = y.weight * z.weight;
    BS3D_R sum = pairs->same * *u + x.up * (u[east] - *u) + x.down * (u[west] - *u) + y.up * (u[north] - *u) +
                 y.down * (u[south] - *u) + z.up * (*above - *u) + z.down * (*below - *u);
    sum += pairs->plus[0] * xy *
           (BS3D_F(bs3d_p_cell)(u[north + east], u[east], u[north], *u) +
            BS3D_F(bs3d_p_cell)(u[south + west], u[west], u[south], *u));
    sum +=
        pairs->plus[1] * xz *
        (BS3D_F(bs3d_p_cell)(above[east], u[east], *above, *u) + BS3D_F(bs3d_p_cell)(below[west], u[west], *below, *u));
    sum += pairs->plus[2] * yz *
           (BS3D_F(bs3d_p_cell)(above[north], u[north], *above, *u) +
            BS3D_F(bs3d_p_cell)(below[south], u[south], *below, *u));
    if (form == BS3D_GENERAL) {
        sum += pairs->minus[0] * xy *
               (BS3D_F(bs3d_p_cell)(u[north + west], u[west], u[north], *u) +
                BS3D_F(bs3d_p_cell)(u[south + east], u[east], u[south], *u));
        sum += pairs->minus[1] * xz *
               (BS3D_F(bs3d_p_cell)(above[west], u[west], *above, *u) +
                BS3D_F(bs3d_p_cell)(below[east], u[east], *below, *u));
        sum += pairs->minus[2] * yz *
               (BS3D_F(bs3d_p_cell)(above[south], u[south], *above, *u) +
                BS3D_F(bs3d_p_cell)(below[north], u[north], *below, *u));
    }
    return sum;
}

/* Solves   the same for a patch of C points in each of P neighbouring rows, plane after plane: given the patch on plane
            k with one more point on each side, element (c, p) of it at u[(p + 1) (C + 2) + c + 1], gives L u (or u + L
            u) on plane k-1. What plane k adds to plane k itself and to plane k+1 is kept in now and next. Differences
            between neighbours serve both of them.
   Needs    C <= 8, P and form literals; x the patch's C rows of the first axis, y its P rows of the second, z rows
            k-1, k, k+1 of the third; now and next 0 before the first plane. Any finite numbers may stand for points
            beyond the grid. In form BS3D_POSITIVE the corners (-1, P) and (C, -1) are not read.
   Leaves   out, now, next, element (c, p) at p C + c
   Cost     a point, without what the patch's edge costs: 21 FMA, multiplications or additions; else 28 */
TB_HD void BS3D_F(bs3d_lane_plane)(int form, int C, int P, const BS3D_F(bs3d_pairs) * pairs, const BS3D_F(bs3d_row) * x,
                                   const BS3D_F(bs3d_row) * y, const BS3D_F(bs3d_row) * z, const BS3D_R *u, BS3D_R *now,
                                   BS3D_R *next, BS3D_R *out)
{
    const int S = C + 2, first = S + 1;
    BS3D_R centre = pairs->same - (z[1].up + z[1].down);
    BS3D_R south[10] = {0}, north[10] = {0}; /* differences across a row's lower and upper edge */
    TB_UNROLL
    for (int c = 0; c < S; c++)
        if (form == BS3D_GENERAL || c < S - 1) south[c] = u[S + c] - u[c];
    TB_UNROLL
    for (int p = 0; p < P; p++) {
        const BS3D_R *row = u + first + p * S;
        TB_UNROLL
        for (int c = 0; c < S; c++)
            if (form == BS3D_GENERAL || c > 0 || p < P - 1) north[c] = row[S + c - 1] - row[c - 1];
        TB_UNROLL
        for (int c = 0; c < C; c++) {
            BS3D_R east = row[c + 1] - row[c], west = row[c] - row[c - 1], plus = pairs->plus[0] * x[c].weight;
            BS3D_R x_plus = pairs->plus[1] * x[c].weight, y_plus = pairs->plus[2] * y[p].weight;
            BS3D_R above = x_plus * east + y_plus * north[c + 1], below = x_plus * west + y_plus * south[c + 1];
            BS3D_R flat = next[p * C + c] + centre * row[c] + x[c].up * east - x[c].down * west +
                          y[p].up * north[c + 1] - y[p].down * south[c + 1] +
                          plus * y[p].weight * ((north[c + 2] - north[c + 1]) + (south[c + 1] - south[c]));
            if (form == BS3D_GENERAL) {
                BS3D_R minus = pairs->minus[0] * x[c].weight;
                BS3D_R x_minus = pairs->minus[1] * x[c].weight, y_minus = pairs->minus[2] * y[p].weight;
                above -= x_minus * west + y_minus * south[c + 1];
                below -= x_minus * east + y_minus * north[c + 1];
                flat -= minus * y[p].weight * ((north[c + 1] - north[c]) + (south[c + 2] - south[c + 1]));
            }
            if (form == BS3D_P_MIRRORED) {
                BS3D_R swap = above;
                above = -below;
                below = -swap;
            }
            out[p * C + c] = now[p * C + c] + z[0].up * row[c] + z[0].weight * above;
            now[p * C + c] = flat - z[1].weight * (above - below);
            next[p * C + c] = z[2].down * row[c] - z[2].weight * below;
        }
        TB_UNROLL
        for (int c = 0; c < S; c++) south[c] = north[c];
    }
}

/* Has exercise the value of the grid in the whole cell of the spot (to rounding), of the 4x4x4 values around it? */
TB_HD int BS3D_F(bs3d_p_exercised)(const bs3d_problem *o, const BS3D_R *v)
{
    const double tolerance = (sizeof(BS3D_R) == 4 ? 1e-6 : 1e-14) * o->strike;
    for (int n = 0; n < 8; n++) {
        double s[3];
        int at = 0;
        for (int axis = 2; axis >= 0; axis--) {
            double ds = bs3d_p_spacing(o, axis);
            int first = bs3d_p_first(o, axis), low = (int)(o->spot[axis] / ds) - first;
            low = (low < 2 ? low : 2) + (n >> axis & 1);
            s[axis] = (first + low) * ds;
            at = 4 * at + low;
        }
        double payoff = bs3d_lane_payoff(o->payoff, o->flags, o->strike, s[0], s[1], s[2]);
        if (!(payoff > 0 && (double)v[at] - payoff <= tolerance)) return 0;
    }
    return 1;
}

/* Solves   price and derivatives at the spot by four-point cubics in each direction, from the 4x4x4 values around it,
            value (a, b, c) at v[a + 4 b + 16 c]; theta is what the equation makes of them, 0 where an American option
            is exercised
   Cost     some 700 FMA in double */
TB_HD bs3d_result BS3D_F(bs3d_lane_greeks)(const bs3d_problem *o, const BS3D_R *v)
{
    double weight[3][3][4], ds[3], sum[10] = {0};
    for (int axis = 0; axis < 3; axis++) {
        ds[axis] = bs3d_p_spacing(o, axis);
        bs1d_lane_cubic(o->spot[axis] / ds[axis] - bs3d_p_first(o, axis), weight[axis][0], weight[axis][1],
                        weight[axis][2]);
    }
    for (int z = 0; z < 4; z++) {
        for (int y = 0; y < 4; y++) {
            double line[3] = {0, 0, 0}; /* value and derivatives along x */
            for (int x = 0; x < 4; x++)
                for (int d = 0; d < 3; d++) line[d] += weight[0][d][x] * (double)v[x + 4 * y + 16 * z];
            const double *wz[3] = {&weight[2][0][z], &weight[2][1][z], &weight[2][2][z]};
            const double *wy[3] = {&weight[1][0][y], &weight[1][1][y], &weight[1][2][y]};
            sum[0] += *wz[0] * *wy[0] * line[0];
            sum[1] += *wz[0] * *wy[0] * line[1];
            sum[2] += *wz[0] * *wy[1] * line[0];
            sum[3] += *wz[1] * *wy[0] * line[0];
            sum[4] += *wz[0] * *wy[0] * line[2];
            sum[5] += *wz[0] * *wy[2] * line[0];
            sum[6] += *wz[2] * *wy[0] * line[0];
            sum[7] += *wz[0] * *wy[1] * line[1];
            sum[8] += *wz[1] * *wy[0] * line[1];
            sum[9] += *wz[1] * *wy[1] * line[0];
        }
    }
    bs3d_result r;
    double all = r.price = sum[0];
    for (int axis = 0; axis < 3; axis++) {
        r.delta[axis] = sum[1 + axis] / ds[axis];
        r.gamma[axis] = sum[4 + axis] / (ds[axis] * ds[axis]);
        r.cross[axis] = sum[7 + axis] / (ds[BS3D_P_FIRST(axis)] * ds[BS3D_P_SECOND(axis)]);
        all += r.delta[axis] + r.gamma[axis] + r.cross[axis];
    }
    r.theta = o->rate * r.price;
    for (int axis = 0; axis < 3; axis++) {
        double scale = o->volatility[axis] * o->spot[axis];
        r.theta -= (o->rate - o->dividend[axis]) * o->spot[axis] * r.delta[axis] + 0.5 * scale * scale * r.gamma[axis];
    }
    for (int p = 0; p < 3; p++) {
        int m = BS3D_P_FIRST(p), n = BS3D_P_SECOND(p);
        r.theta -= o->correlation[p] * o->volatility[m] * o->spot[m] * o->volatility[n] * o->spot[n] * r.cross[p];
    }
    all += r.theta;
    if ((o->flags & BS3D_AMERICAN) && o->payoff != BS3D_GIVEN && BS3D_F(bs3d_p_exercised)(o, v)) r.theta = 0;
    r.status = trid_finite_f64(all) ? BS3D_OK : BS3D_NOT_FINITE;
    return r;
}

/* Where the grid's values lie: value (i, j, k) at [i + pitch (j + ny k)]; rows begin at multiples of 128 bytes. */
TB_HD int BS3D_F(bs3d_pitch)(int nx)
{
    const int line = 128 / (int)sizeof(BS3D_R);
    return (nx + line - 1) / line * line;
}
TB_HD size_t BS3D_F(bs3d_p_cells)(const int *points)
{
    return (size_t)BS3D_F(bs3d_pitch)(points[0]) * (size_t)points[1] * (size_t)points[2];
}

#ifndef BS3D_NO_LAUNCHES
extern "C++" {
/* ---- a march: what its kernels know, its work, its start and its end --------------------------------------------- */

/* A march: and the parts of its work. */
typedef struct {
    bs3d_p_plan plan;
    BS3D_F(bs3d_pairs) pairs;
    int form;
    BS3D_R *u, *v, *tables, *ends;
    bs3d_result *at_spot;
} BS3D_F(bs3d_p_job);

/* Elements of a plane, whether its rows are those of x or of y. */
TB_HOST size_t BS3D_F(bs3d_p_most_of_plane)(const int *points)
{
    size_t rows = (size_t)BS3D_F(bs3d_pitch)(points[0]) * (size_t)points[1];
    size_t columns = (size_t)BS3D_F(bs3d_pitch)(points[1]) * (size_t)points[0];
    return rows > columns ? rows : columns;
}

/* Bytes of device memory that a march works in, the final values at its start; 0 for a null pointer or points outside
   4 .. 1024. */
TB_HOST size_t BS3D_F(bs3d_work_bytes)(const bs3d_problem *o)
{
    if (!o || !bs3d_p_sized(o)) return 0;
    size_t plane = BS3D_F(bs3d_p_most_of_plane)(o->points), planes = 2 * (size_t)o->points[2] + 4 * BS3D_P_SECTIONS;
    return (planes * plane + BS3D_P_TABLES) * sizeof(BS3D_R) + sizeof(bs3d_result);
}

/* Rows of the three axes, a block each: of the third so many, the first being row shift - BS3D_P_MARGIN of the
   grid's. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_set_up)(bs3d_model model, int shift, int count, BS3D_R *tables)
{
    int axis = (int)blockIdx.x, rows = axis < 2 ? (int)BS3D_P_ROW_TABLE : count;
    for (int i = trid_block_thread(); i < rows; i += trid_block_threads()) {
        BS3D_F(bs3d_row) r = BS3D_F(bs3d_lane_row)(&model, axis, i - BS3D_P_MARGIN + (axis < 2 ? 0 : shift));
        BS3D_R *to = tables + 4 * (BS3D_P_ROW_TABLE * axis + i);
        to[0] = r.down;
        to[1] = r.up;
        to[2] = r.weight;
        to[3] = 0;
    }
}

/* The payoff in u, zeros in what a row has beyond the grid in u and v; a block a row. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_payoff)(bs3d_problem o, bs3d_p_plan plan, BS3D_R *u, BS3D_R *v)
{
    double ds[3];
    int j = (int)blockIdx.x, k = (int)blockIdx.y;
    for (int axis = 0; axis < 3; axis++) ds[axis] = bs3d_p_spacing(&o, axis);
    u += (long long)plan.pitch * j + plan.plane * k;
    v += (long long)plan.pitch * j + plan.plane * k;
    for (int i = trid_block_thread(); i < plan.pitch; i += trid_block_threads()) {
        if (i >= o.points[0])
            u[i] = v[i] = 0;
        else if (o.payoff != BS3D_GIVEN)
            u[i] = (BS3D_R)bs3d_lane_payoff(o.payoff, o.flags, o.strike, i * ds[0], j * ds[1], k * ds[2]);
    }
}

/* American: what exercise pays, where that is more than u; a block a row. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_exercise)(bs3d_problem o, bs3d_p_plan plan, BS3D_R *u)
{
    double ds[3];
    int j = (int)blockIdx.x, k = (int)blockIdx.y;
    for (int axis = 0; axis < 3; axis++) ds[axis] = bs3d_p_spacing(&o, axis);
    u += (long long)plan.pitch * j + plan.plane * k;
    for (int i = trid_block_thread(); i < o.points[0]; i += trid_block_threads()) {
        BS3D_R payoff = (BS3D_R)bs3d_lane_payoff(o.payoff, o.flags, o.strike, i * ds[0], j * ds[1], k * ds[2]);
        if (u[i] < payoff) u[i] = payoff;
    }
}

/* The result at the spot, by one warp. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_result)(bs3d_problem o, bs3d_p_plan plan, const BS3D_R *u, bs3d_result *result)
{
    __shared__ BS3D_R value[64];
    for (int n = (int)threadIdx.x; n < 64; n += 32) value[n] = u[bs3d_p_around(&o, n, plan.pitch, plan.plane)];
    __syncthreads();
    if (threadIdx.x == 0) *result = BS3D_F(bs3d_lane_greeks)(&o, value);
}

TB_HOST int BS3D_F(bs3d_p_open)(const bs3d_problem *o, int implicit, void *work, BS3D_F(bs3d_p_job) * job)
{
    int status = bs3d_check(o, implicit);
    if (!status && (!work || (size_t)work % 16)) status = BS3D_BAD_ARGUMENT;
    if (status) return status;
    size_t plane = BS3D_F(bs3d_p_most_of_plane)(o->points), cells = plane * (size_t)o->points[2];
    job->plan.model = bs3d_model_of(o);
    job->plan.pitch = BS3D_F(bs3d_pitch)(o->points[0]);
    job->plan.plane = (long long)job->plan.pitch * o->points[1];
    job->plan.sections = job->plan.tile = job->plan.depth = 0;
    job->pairs = BS3D_F(bs3d_lane_pairs)(&job->plan.model, !implicit);
    job->form = bs3d_p_form(&job->plan.model);
    job->u = (BS3D_R *)work;
    job->v = job->u + cells;
    job->tables = job->v + cells;
    job->ends = job->tables + BS3D_P_TABLES;
    job->at_spot = (bs3d_result *)(job->ends + 4 * BS3D_P_SECTIONS * plane);
    return BS3D_OK;
}

/* Tables, and the payoff in from, one of u and v; what rows have beyond the grid is 0 in both. */
template <int unused>
static int BS3D_F(bs3d_p_start)(const bs3d_problem *o, const BS3D_F(bs3d_p_job) * job, BS3D_R *from, BS3D_R *to,
                                cudaStream_t stream)
{
    const dim3 rows((unsigned)o->points[1], (unsigned)o->points[2]);
    int status = BS3D_OK;
    if (o->payoff == BS3D_GIVEN && from != job->u &&
        cudaMemcpyAsync(from, job->u, BS3D_F(bs3d_p_cells)(o->points) * sizeof *from, cudaMemcpyDeviceToDevice,
                        stream) != cudaSuccess)
        return BS3D_LAUNCH_FAILED;
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_set_up) < unused >, 3, 256, 0, stream, job->plan.model, 0,
                       (int)BS3D_P_ROW_TABLE, job->tables);
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_payoff) < unused >, rows, 128, 0, stream, *o, job->plan, from, to);
    return status;
}

/* A step has made u: if the option is American, it may be exercised now. */
template <int unused>
static void BS3D_F(bs3d_p_may_exercise)(int *status, const bs3d_problem *o, const BS3D_F(bs3d_p_job) * job, BS3D_R *u,
                                        cudaStream_t stream)
{
    const dim3 rows((unsigned)o->points[1], (unsigned)o->points[2]);
    if (o->flags & BS3D_AMERICAN)
        bs3d_p_launch_next(status, BS3D_F(bs3d_p_exercise) < unused >, rows, 128, 0, stream, *o, job->plan, u);
}

/* The result at the spot, on its way to the host: its members, not what lies behind the last, which nobody writes. */
template <int unused>
static int BS3D_F(bs3d_p_finish)(int status, const bs3d_problem *o, const BS3D_F(bs3d_p_job) * job, bs3d_result *result,
                                 cudaStream_t stream)
{
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_result) < unused >, 1, 32, 0, stream, *o, job->plan, job->u,
                       job->at_spot);
    const size_t bytes = offsetof(bs3d_result, status) + sizeof result->status;
    if (!status && result &&
        cudaMemcpyAsync(result, job->at_spot, bytes, cudaMemcpyDeviceToHost, stream) != cudaSuccess)
        return BS3D_LAUNCH_FAILED;
    return status;
}

/* A kernel that makes a sweep from u to v: L u or u + L u, as pairs say. */
#define BS3D_P_SWEEP                                                                                                   \
    BS3D_F(bs3d_pairs)                                                                                                 \
    pairs, bs3d_p_plan plan, const BS3D_R *__restrict__ tables, const BS3D_R *__restrict__ u, BS3D_R *__restrict__ v,  \
        BS3D_R *__restrict__ ends
typedef void (*BS3D_F(bs3d_p_sweep))(BS3D_F(bs3d_pairs), bs3d_p_plan, const BS3D_R *, const BS3D_R *, BS3D_R *,
                                     BS3D_R *);
/* The same of some planes alone. */
typedef void (*BS3D_F(bs3d_p_slab_sweep))(BS3D_F(bs3d_pairs), bs3d_p_plan, const BS3D_R *, const BS3D_R *, BS3D_R *,
                                          BS3D_R *, bs3d_p_share);

/* How it is launched. */
typedef struct {
    BS3D_F(bs3d_p_sweep) sweep;
    BS3D_F(bs3d_p_slab_sweep) slab_sweep; /* the one or the other */
    bs3d_p_plan plan;
    dim3 grid, block;
    size_t bytes;
    int early; /* may begin before the sweep before it has ended */
} BS3D_F(bs3d_p_launch);

static inline void BS3D_F(bs3d_p_launches)(BS3D_F(bs3d_p_launch) * l, BS3D_F(bs3d_p_sweep) sweep)
{
    l->sweep = sweep;
}
static inline void BS3D_F(bs3d_p_launches)(BS3D_F(bs3d_p_launch) * l, BS3D_F(bs3d_p_slab_sweep) sweep)
{
    l->slab_sweep = sweep;
}

/* An explicit march: doubles sweeps by two, which make two steps each, the rest by one. */
template <int unused>
static int BS3D_F(bs3d_p_explicit)(const bs3d_problem *o, const BS3D_F(bs3d_p_job) * job, int doubles,
                                   const BS3D_F(bs3d_p_launch) * two, const BS3D_F(bs3d_p_launch) * one,
                                   bs3d_result *result, cudaStream_t stream)
{
    int sweeps = o->steps - doubles;
    BS3D_R *from = sweeps % 2 ? job->v : job->u, *to = sweeps % 2 ? job->u : job->v;
    int status = BS3D_F(bs3d_p_start)<unused>(o, job, from, to, stream);
    for (int s = 0; s < sweeps && !status; s++) {
        const BS3D_F(bs3d_p_launch) *l = s < doubles ? two : one;
        if (trid_launch_with(l->early, 1, l->sweep, l->grid, l->block, l->bytes, stream, job->pairs, l->plan,
                             job->tables, from, to, job->ends) != cudaSuccess)
            status = BS3D_LAUNCH_FAILED;
        BS3D_F(bs3d_p_may_exercise)<unused>(&status, o, job, to, stream);
        BS3D_R *swap = from;
        from = to;
        to = swap;
    }
    return BS3D_F(bs3d_p_finish)<unused>(status, o, job, result, stream);
}

/* Into how many sections the third axis is cut, so that blocks blocks a section fill slots places in the least time, if
   a section takes more planes more than it has. */
TB_HOST int BS3D_F(bs3d_p_sections)(int nz, long long blocks, int slots, int more)
{
    int best = 1, most = nz / 4 > 1 ? nz / 4 : 1;
    long long least = 0;
    for (int s = 1; s <= most; s++) {
        long long time = ((blocks * s - 1) / slots + 1) * ((nz - 1) / s + 1 + more);
        if (s == 1 || time < least) least = time, best = s;
    }
    return best;
}

/* A thread a column. */
TB_HOST void BS3D_F(bs3d_p_columns)(const bs3d_p_plan *plan, BS3D_F(bs3d_p_sweep) sweep, BS3D_F(bs3d_p_launch) * l)
{
    int processors = bs3d_p_attribute(cudaDevAttrMultiProcessorCount);
    const int *n = plan->model.points;
    BS3D_F(bs3d_p_launches)(l, sweep);
    l->plan = *plan;
    l->bytes = 0;
    l->early = 0;
    l->block = dim3(32, 8);
    l->grid = dim3((unsigned)(n[0] - 1) / 32 + 1, (unsigned)(n[1] - 1) / 8 + 1);
    l->plan.sections = BS3D_F(bs3d_p_sections)(n[2], (long long)l->grid.x * l->grid.y, 4 * processors, 2);
    l->grid.z = (unsigned)l->plan.sections;
}

/* ---- what the explicit kernels read ------------------------------------------------------------------------------ */

/* How far to the neighbours of point (i, j) in a plane, 0 where there is none. */
TB_D void BS3D_F(bs3d_p_steps)(const bs3d_p_plan *plan, int i, int j, long long *east, long long *west,
                               long long *north, long long *south)
{
    *east = i < plan->model.points[0] - 1;
    *west = -(i > 0);
    *north = j < plan->model.points[1] - 1 ? plan->pitch : 0;
    *south = j > 0 ? -(long long)plan->pitch : 0;
}

/* Row i of an axis from its table, which begins with rows -BS3D_P_MARGIN .. -1. */
TB_D BS3D_F(bs3d_row) BS3D_F(bs3d_p_row)(const BS3D_R *tables, int axis, int i)
{
    const BS3D_R *r = tables + 4 * (BS3D_P_ROW_TABLE * axis + BS3D_P_MARGIN + i);
    BS3D_F(bs3d_row) row;
    row.down = r[0];
    row.up = r[1];
    row.weight = r[2];
    return row;
}

/* Rows k-1, k, k+1 of the third axis. */
TB_D void BS3D_F(bs3d_p_rows)(const BS3D_R *tables, int k, BS3D_F(bs3d_row) * z)
{
    TB_UNROLL
    for (int n = 0; n < 3; n++) z[n] = BS3D_F(bs3d_p_row)(tables, 2, k - 1 + n);
}

/* ---- explicit1: a thread a column, every neighbour through the cache --------------------------------------------- */

template <int form>
TRID_KERNEL void __launch_bounds__(256) BS3D_F(bs3d_p_explicit1)(BS3D_P_SWEEP)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int nz = plan.model.points[2], from, to;
    long long east, west, north, south, at;
    (void)ends;
    if (i >= plan.model.points[0] || j >= plan.model.points[1]) return;
    bs3d_p_section(nz, plan.sections, (int)blockIdx.z, &from, &to);
    BS3D_F(bs3d_row) x = BS3D_F(bs3d_p_row)(tables, 0, i), y = BS3D_F(bs3d_p_row)(tables, 1, j);
    BS3D_F(bs3d_p_steps)(&plan, i, j, &east, &west, &north, &south);
    at = i + (long long)plan.pitch * j + plan.plane * from;
    for (int k = from; k < to; k++, at += plan.plane)
        v[at] = BS3D_F(bs3d_lane_stencil)(form, &pairs, x, y, BS3D_F(bs3d_p_row)(tables, 2, k), u + at, east, west,
                                          north, south, k < nz - 1 ? plan.plane : 0, k > 0 ? -plan.plane : 0);
}

template <int unused>
static int BS3D_F(bs3d_explicit1)(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) job;
    BS3D_F(bs3d_p_launch) one;
    int status = BS3D_F(bs3d_p_open)(problem, 0, work, &job);
    if (status) return status;
    BS3D_F(bs3d_p_columns)
    (&job.plan, job.form ? BS3D_F(bs3d_p_explicit1) < BS3D_GENERAL > : BS3D_F(bs3d_p_explicit1) < BS3D_POSITIVE >,
     &one);
    return BS3D_F(bs3d_p_explicit)<unused>(problem, &job, 0, &one, &one, result, stream);
}

/* ---- explicit2: what a plane adds to the next two is carried in registers: 7 or 9 loads a point, not 13 or 19 ---- */

template <int form>
TRID_KERNEL void __launch_bounds__(256) BS3D_F(bs3d_p_explicit2)(BS3D_P_SWEEP)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int nz = plan.model.points[2], from, to;
    long long east, west, north, south;
    BS3D_F(bs3d_row) z[3];
    (void)ends;
    if (i >= plan.model.points[0] || j >= plan.model.points[1]) return;
    bs3d_p_section(nz, plan.sections, (int)blockIdx.z, &from, &to);
    BS3D_F(bs3d_row) x = BS3D_F(bs3d_p_row)(tables, 0, i), y = BS3D_F(bs3d_p_row)(tables, 1, j);
    BS3D_F(bs3d_p_steps)(&plan, i, j, &east, &west, &north, &south);
    BS3D_R now = 0, next = 0, out;
    for (int k = from > 0 ? from - 1 : 0; k <= to; k++) {
        const BS3D_R *p = u + i + (long long)plan.pitch * j + plan.plane * (k < nz ? k : nz - 1);
        BS3D_R patch[9] = {p[south + west], p[south], 0, p[west], *p, p[east], 0, p[north], p[north + east]};
        if (form == BS3D_GENERAL) patch[2] = p[south + east], patch[6] = p[north + west];
        BS3D_F(bs3d_p_rows)(tables, k, z);
        BS3D_F(bs3d_lane_plane)(form, 1, 1, &pairs, &x, &y, z, patch, &now, &next, &out);
        if (k > from) v[i + (long long)plan.pitch * j + plan.plane * (k - 1)] = out;
    }
}

template <int unused>
static int BS3D_F(bs3d_explicit2)(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) job;
    BS3D_F(bs3d_p_launch) one;
    int status = BS3D_F(bs3d_p_open)(problem, 0, work, &job);
    if (status) return status;
    BS3D_F(bs3d_p_columns)
    (&job.plan, job.form ? BS3D_F(bs3d_p_explicit2) < BS3D_GENERAL > : BS3D_F(bs3d_p_explicit2) < BS3D_POSITIVE >,
     &one);
    return BS3D_F(bs3d_p_explicit)<unused>(problem, &job, 0, &one, &one, result, stream);
}

/* ---- planes in shared memory ------------------------------------------------------------------------------------- */

/* C points of a row, 16 or 32 bytes. */
TB_D void BS3D_F(bs3d_p_load)(int C, const BS3D_R *from, BS3D_R *u)
{
    enum { V = 16 / sizeof(BS3D_R) };
    TB_UNROLL
    for (int v = 0; v < C / V; v++) transpose_unpack(((const BS3D_P_VECTOR *)from)[v], u + v * V);
}
TB_D void BS3D_F(bs3d_p_store)(int C, const BS3D_R *u, BS3D_R *to)
{
    enum { V = 16 / sizeof(BS3D_R) };
    TB_UNROLL
    for (int v = 0; v < C / V; v++) ((BS3D_P_VECTOR *)to)[v] = transpose_pack(u + v * V);
}

/* A lane's patch with the points around it, for bs3d_lane_plane, from shared memory: its first point at p, rows stride
   apart. The points beside the patch are the neighbour lanes', by shuffle, or from shared memory too where from_west or
   from_east says that there is no such lane. */
TB_D void BS3D_F(bs3d_p_patch)(int form, int C, int P, const BS3D_R *p, int stride, int from_west, int from_east,
                               BS3D_R *u)
{
    const int S = C + 2;
    TB_UNROLL
    for (int n = 0; n < P + 2; n++) BS3D_F(bs3d_p_load)(C, p + (n - 1) * stride, u + n * S + 1);
    TB_UNROLL
    for (int n = 0; n < P + 2; n++) {
        u[n * S] = u[n * S + C + 1] = 0;
        if (form == BS3D_GENERAL || n < P + 1) u[n * S] = __shfl_up_sync(TB_FULL_WARP, u[n * S + C], 1);
        if (form == BS3D_GENERAL || n > 0) u[n * S + C + 1] = __shfl_down_sync(TB_FULL_WARP, u[n * S + 1], 1);
    }
    if (from_west) {
        TB_UNROLL
        for (int n = 0; n < P + 2; n++)
            if (form == BS3D_GENERAL || n < P + 1) u[n * S] = p[(n - 1) * stride - 1];
    }
    if (from_east) {
        TB_UNROLL
        for (int n = 0; n < P + 2; n++)
            if (form == BS3D_GENERAL || n > 0) u[n * S + C + 1] = p[(n - 1) * stride + C];
    }
}

/* Rows i .. i+count-1 of an axis; zeros beyond the grid. */
TB_D void BS3D_F(bs3d_p_axis_rows)(const bs3d_p_plan *plan, const BS3D_R *tables, int axis, int i, int count,
                                   BS3D_F(bs3d_row) * rows)
{
    BS3D_F(bs3d_row) none = {0, 0, 0};
    TB_UNROLL
    for (int n = 0; n < count; n++)
        rows[n] = i + n >= 0 && i + n < plan->model.points[axis] ? BS3D_F(bs3d_p_row)(tables, axis, i + n) : none;
}

/* A ring of slots in shared memory, each with the same part of a plane: rows * stride elements, of which those within
   the grid come from there and the others stay 0. A thread always copies the same few vectors of 16 bytes. */
typedef struct {
    trid_copy_place slots;
    const BS3D_R *grid;
    long long plane;
    int size;                 /* bytes of a slot */
    int to[BS3D_P_VECTORS];   /* byte of a slot where a vector goes */
    int from[BS3D_P_VECTORS]; /* where it is in a plane, or -1 */
} BS3D_F(bs3d_p_ring);

/* Vectors that a thread copies of rows * stride elements. */
#define BS3D_P_SHARE(elements, threads) (((elements) * (int)sizeof(BS3D_R) / 16 + (threads)-1) / (threads))

/* The ring for rows j .. j+rows-1, of which a slot has stride elements from i on, width of them to be read; share as
   BS3D_P_SHARE. */
TB_D BS3D_F(bs3d_p_ring) BS3D_F(bs3d_p_open_ring)(int share, const bs3d_p_plan *plan, const BS3D_R *u, int i, int width,
                                                  int j, int rows, int stride, BS3D_R *shared)
{
    enum { V = 16 / sizeof(BS3D_R) };
    BS3D_F(bs3d_p_ring) ring;
    ring.slots = trid_copy_place_of(shared);
    ring.grid = u;
    ring.plane = plan->plane;
    ring.size = rows * stride * (int)sizeof(BS3D_R);
    TB_UNROLL
    for (int n = 0; n < share; n++) {
        int vector = trid_block_thread() + n * trid_block_threads(), row = vector / (stride / V),
            x = V * (vector % (stride / V));
        int there = row < rows && j + row >= 0 && j + row < plan->model.points[1] && x < width && i + x >= 0 &&
                    i + x < plan->pitch;
        ring.to[n] = 16 * vector;
        ring.from[n] = there ? i + x + plan->pitch * (j + row) : -1;
    }
    for (int e = trid_block_thread(); e < BS3D_P_DEPTH * rows * stride; e += trid_block_threads()) shared[e] = 0;
    __syncthreads();
    return ring;
}

/* Plane k on its way into a slot, whose last readers have met a barrier since; k < 0: nothing. All threads call, once
   for each plane that they will await. */
TB_D void BS3D_F(bs3d_p_fetch)(int share, const BS3D_F(bs3d_p_ring) * ring, int slot, int k)
{
    const BS3D_R *from = ring->grid + ring->plane * k;
    TB_UNROLL
    for (int n = 0; n < share; n++)
        if (k >= 0 && ring->from[n] >= 0)
            trid_copy_async(ring->slots, slot * ring->size + ring->to[n], from + ring->from[n]);
    trid_copy_commit();
}

/* Elements of shared memory in explicit3 and explicit4, beside the arrivals: the ring, and in explicit4 two planes of
   the step between. */
#define BS3D_P_STRIDE(C) (32 * (C) + 2 * BS3D_P_PAD)
#define BS3D_P_PLANES(steps, C, R)                                                                                     \
    ((BS3D_P_DEPTH + ((steps) > 1 ? 2 : 0)) * (size_t)((R) + 2 * (steps)) * BS3D_P_STRIDE(C))
/* Threads: P rows a warp; explicit4 has one row more on each side, and a warp for the columns beside the tile. */
#define BS3D_P_THREADS(steps, R, P) (32 * ((steps) > 1 ? ((R) + 2) / (P) + 1 : (R) / (P)))

/* The seven numbers that a plane's arrival needs, of rows k-1, k and k+1 of the third axis. */
TB_D void BS3D_F(bs3d_p_arrival)(const BS3D_R *arrivals, int k, BS3D_F(bs3d_row) * z)
{
    BS3D_R v[8];
    BS3D_F(bs3d_p_load)(4, arrivals + BS3D_P_ARRIVAL * k, v);
    BS3D_F(bs3d_p_load)(4, arrivals + BS3D_P_ARRIVAL * k + 4, v + 4);
    z[0].up = v[0];
    z[0].weight = v[1];
    z[1].up = v[2];
    z[1].down = v[3];
    z[1].weight = v[4];
    z[2].down = v[5];
    z[2].weight = v[6];
}

/* The same for count levels from k on, into shared memory; and l and h of the level before (bs3d_p_factor_z), where
   that is one of planes from .. to-1, which a forward elimination takes: others have none. */
TB_D void BS3D_F(bs3d_p_all_arrivals)(int from, int to, const BS3D_R *tables, int k, int count, BS3D_R *all)
{
    for (int n = trid_block_thread(); n < count; n += trid_block_threads()) {
        BS3D_R *arrivals = all + BS3D_P_ARRIVAL * n;
        BS3D_F(bs3d_row) z[3];
        BS3D_F(bs3d_p_rows)(tables, k + n, z);
        int before = k + n - 1; /* the plane that is complete when plane k + n comes */
        int eliminated = from <= before && before < to;
        const BS3D_R *factors = tables + BS3D_P_Z_FACTORS + 8 * before;
        arrivals[0] = z[0].up;
        arrivals[1] = z[0].weight;
        arrivals[2] = z[1].up;
        arrivals[3] = z[1].down;
        arrivals[4] = z[1].weight;
        arrivals[5] = z[2].down;
        arrivals[6] = z[2].weight;
        arrivals[7] = 0;
        arrivals[8] = eliminated ? factors[0] : 0;
        arrivals[9] = eliminated ? factors[4] : 0;
    }
}

/* The forward elimination in z of C points, from what it left on the plane before: y = d - l y, and end, the part of
   the section's first unknown, gathered; factors: l and h of this plane (bs3d_p_factor_z). */
TB_D void BS3D_F(bs3d_p_eliminate)(int C, const BS3D_R *factors, const BS3D_R *d, BS3D_R *y, BS3D_R *end)
{
    TB_UNROLL
    for (int n = 0; n < C; n++) {
        y[n] = d[n] - factors[0] * y[n];
        end[n] += factors[1] * y[n];
    }
}

/* What a section leaves of C points: end, and the last y as a row of its unknown; ends: the first of them in plane
   0. */
TB_D void BS3D_F(bs3d_p_leave_ends)(int C, const bs3d_p_plan *plan, const BS3D_R *tables, int section, int last,
                                    BS3D_R *y, const BS3D_R *end, BS3D_R *ends)
{
    BS3D_R r = tables[BS3D_P_Z_FACTORS + 8 * last + 1];
    TB_UNROLL
    for (int n = 0; n < C; n++) y[n] *= r;
    BS3D_F(bs3d_p_store)(C, end, ends + plan->plane * section);
    BS3D_F(bs3d_p_store)(C, y, ends + plan->plane * (plan->sections + section));
}

/* A plane has come: L u (or u + L u) on the plane below it for the patch whose first point is at p in shared memory. */
TB_D void BS3D_F(bs3d_p_step)(int form, int C, int P, const BS3D_F(bs3d_pairs) * pairs, const BS3D_F(bs3d_row) * xs,
                              const BS3D_F(bs3d_row) * ys, const BS3D_F(bs3d_row) * z, const BS3D_R *p, int from_west,
                              int from_east, BS3D_R *now, BS3D_R *next, BS3D_R *out)
{
    BS3D_R patch[(BS3D_P_COLUMNS + 2) * (BS3D_P_ROWS + 2)];
    BS3D_F(bs3d_p_patch)(form, C, P, p, BS3D_P_STRIDE(C), from_west, from_east, patch);
    BS3D_F(bs3d_lane_plane)(form, C, P, pairs, xs, ys, z, patch, now, next, out);
}

/* The same for a column of P points by itself. */
TB_D void BS3D_F(bs3d_p_step_beside)(int form, int C, int P, const BS3D_F(bs3d_pairs) * pairs,
                                     const BS3D_F(bs3d_row) * xs, const BS3D_F(bs3d_row) * ys,
                                     const BS3D_F(bs3d_row) * z, const BS3D_R *p, BS3D_R *now, BS3D_R *next,
                                     BS3D_R *out)
{
    BS3D_R patch[3 * (BS3D_P_ROWS + 2)];
    TB_UNROLL
    for (int n = 0; n < 3 * (P + 2); n++) patch[n] = p[(n / 3 - 1) * BS3D_P_STRIDE(C) + n % 3 - 1];
    BS3D_F(bs3d_lane_plane)(form, 1, P, pairs, xs, ys, z, patch, now, next, out);
}

/* What a thread marches of its block's tile: P rows of C columns, the first point being (row, x), or (beside, in
   explicit4) of a column beside the tile. */
typedef struct {
    int row, x, beside, there;
    int from_west, from_east; /* neighbours that no lane of the warp has */
    int place;                /* of the first point in a slot */
} BS3D_F(bs3d_p_part);

TB_D BS3D_F(bs3d_p_part) BS3D_F(bs3d_p_part_of)(int steps, int C, int R, int P, int warp, int lane, int width)
{
    const int row_warps = (R + 2 * (steps - 1)) / P;
    BS3D_F(bs3d_p_part) part;
    part.beside = steps > 1 && warp == row_warps;
    int east = part.beside && lane >= row_warps;
    part.row = P * (part.beside ? lane - (east ? row_warps : 0) : warp) - (steps - 1);
    part.x = part.beside ? (east ? width : -1) : C * lane;
    part.there = part.beside ? lane < 2 * row_warps : part.x < width;
    part.from_west = part.there && lane == 0;
    part.from_east = part.there && (lane == 31 || part.x + C == width);
    part.place = (part.there ? part.row + steps : 1) * BS3D_P_STRIDE(C) + BS3D_P_PAD + (part.there ? part.x : 0);
    return part;
}

/* One or two time steps a sweep. A block has rows j .. j+R-1 of a tile of plan.tile columns, and marches upward; a warp
   has P of the rows, C columns a lane. With one step, plane k comes into shared memory with a row and a column more on
   each side, and gives plane k-1. With two, it comes with two more, the first step gives plane k-1 with one more, and
   the second, a plane behind it, plane k-3; the first step's rows -1 and R belong to the first and the last warp of
   rows, its columns beside the tile to a warp of their own. What is stored is u + L u or L u, as pairs say; or
   (forward) what the forward elimination in z makes of it, section by section, and its ends (bs3d_p_ends). */
template <int form, int steps, int forward, int C, int R, int P>
TB_D void BS3D_F(bs3d_p_march)(const BS3D_F(bs3d_pairs) * pairs, const bs3d_p_plan *plan, const BS3D_R *tables,
                               const BS3D_R *u, BS3D_R *v, BS3D_R *ends, unsigned char *memory,
                               const bs3d_p_share *planes = 0)
{
    const int stride = BS3D_P_STRIDE(C), size = (R + 2 * steps) * stride;
    const int share = BS3D_P_SHARE(size, BS3D_P_THREADS(steps, R, P));
    bs3d_p_let_next_begin();
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31;
    int i = plan->tile * (int)blockIdx.x, j = R * (int)blockIdx.y, nz = plan->model.points[2], from, to;
    int width = plan->pitch - i < plan->tile ? plan->pitch - i : plan->tile;
    int section = bs3d_p_marched(plan, planes, (int)blockIdx.z, &from, &to);
    int first = from > steps ? from - steps : 0, last = to + steps <= nz ? to + steps - 1 : nz - 1;
    int levels = to - first + 5;
    BS3D_R *arrivals = (BS3D_R *)memory, *between = arrivals + BS3D_P_ARRIVAL * levels,
           *slots = between + (steps - 1) * 2 * size;
    BS3D_F(bs3d_p_all_arrivals)(forward ? from : to, to, tables, first - 2, levels, arrivals);
    for (int e = trid_block_thread(); e < (steps - 1) * 2 * size; e += trid_block_threads()) between[e] = 0;
    BS3D_F(bs3d_p_ring)
    ring = BS3D_F(bs3d_p_open_ring)(share, plan, u, i - BS3D_P_PAD, width + 2 * BS3D_P_PAD, j - steps, R + 2 * steps,
                                    stride, slots);

    const BS3D_F(bs3d_p_part) part = BS3D_F(bs3d_p_part_of)(steps, C, R, P, warp, lane, width);
    const int beside = part.beside, row = part.row, x = part.x, there = part.there, place = part.place;
    const int from_west = part.from_west, from_east = part.from_east;
    BS3D_R *target = v + i + x + (long long)plan->pitch * (j + row) + plan->plane * (first - 2 * steps + 1);
    BS3D_F(bs3d_row) xs[BS3D_P_COLUMNS], ys[BS3D_P_ROWS], z[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    BS3D_R now[2][BS3D_P_POINTS] = {{0}}, next[2][BS3D_P_POINTS] = {{0}}, out[BS3D_P_POINTS];
    BS3D_R y[BS3D_P_POINTS] = {0}, end[BS3D_P_POINTS] = {0};
    int stores[BS3D_P_ROWS];
    BS3D_F(bs3d_p_axis_rows)(plan, tables, 0, there ? i + x : plan->pitch, beside ? 1 : C, xs);
    BS3D_F(bs3d_p_axis_rows)(plan, tables, 1, j + row, P, ys);
    for (int p = 0; p < P; p++)
        stores[p] = !beside && there && row + p >= 0 && row + p < R && j + row + p < plan->model.points[1];

    const int ahead = BS3D_P_DEPTH - 1;
    int slot = 0;
    bs3d_p_wait();
    for (int k = 0; k < ahead; k++) BS3D_F(bs3d_p_fetch)(share, &ring, k, first + k <= last ? first + k : -1);
    for (int k = first; k < to + 2 * steps - 1; k++, target += plan->plane) {
        TRID_COPY_AWAIT(BS3D_P_DEPTH - 2);
        __syncthreads();
        BS3D_F(bs3d_p_fetch)(share, &ring, slot > 0 ? slot - 1 : BS3D_P_DEPTH - 1, k + ahead <= last ? k + ahead : -1);
        const BS3D_R *p = slots + slot * size + place;
        BS3D_R *made = between + (k & 1) * size + place;
        if (k < to + steps) { /* the first step */
            BS3D_F(bs3d_p_arrival)(arrivals, k - first + 2, z);
            if (beside) {
                BS3D_F(bs3d_p_step_beside)(form, C, P, pairs, xs, ys, z, p, now[0], next[0], out);
                TB_UNROLL
                for (int n = 0; n < P; n++)
                    if (there) made[n * stride] = out[n];
            } else {
                BS3D_F(bs3d_p_step)(form, C, P, pairs, xs, ys, z, p, from_west, from_east, now[0], next[0], out);
                if (forward && k > from)
                    BS3D_F(bs3d_p_eliminate)(C * P, arrivals + BS3D_P_ARRIVAL * (k - first + 2) + 8, out, y, end);
                const BS3D_R *made_here = forward ? y : out;
                TB_UNROLL
                for (int n = 0; n < P; n++) {
                    if (steps == 1 && stores[n] && k > from)
                        BS3D_F(bs3d_p_store)(C, made_here + n * C, target + n * plan->pitch);
                    if (steps == 2 && there) BS3D_F(bs3d_p_store)(C, out + n * C, made + n * stride);
                }
            }
        }
        if (steps == 2 && !beside && k > from) { /* the second, two planes behind */
            p = between + (~k & 1) * size + place;
            BS3D_F(bs3d_p_arrival)(arrivals, k - first, z);
            BS3D_F(bs3d_p_step)(form, C, P, pairs, xs, ys, z, p, from_west, from_east, now[1], next[1], out);
            TB_UNROLL
            for (int n = 0; n < P; n++)
                if (stores[n] && k - 3 >= from) BS3D_F(bs3d_p_store)(C, out + n * C, target + n * plan->pitch);
        }
        if (++slot == BS3D_P_DEPTH) slot = 0;
    }
    if (forward) {
        BS3D_R *at = ends + i + x + (long long)plan->pitch * (j + row);
        TB_UNROLL
        for (int n = 0; n < P; n++)
            if (stores[n]) BS3D_F(bs3d_p_leave_ends)
        (C, plan, tables, section, to - 1, y + n * C, end + n * C, at + n * plan->pitch);
    }
}

/* The sections of a sweep whose shared memory holds these elements and what a section's planes need: plan.sections or,
   if the processor has less memory, more, up to most. Returns BS3D_LAUNCH_FAILED where that does not help. */
template <class Sweep>
static int BS3D_F(bs3d_p_fit)(size_t elements, int most, Sweep sweep, BS3D_F(bs3d_p_launch) * l)
{
    size_t limit = (size_t)bs3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    int nz = l->plan.model.points[2];
    for (;; l->plan.sections++) {
        size_t levels = (size_t)((nz - 1) / l->plan.sections + 1 + 7);
        l->bytes = sizeof(BS3D_R) * (elements + BS3D_P_ARRIVAL * levels);
        if (l->bytes <= limit) break;
        if (l->plan.sections >= most) return BS3D_LAUNCH_FAILED;
    }
    return trid_allow_shared(sweep) == cudaSuccess ? BS3D_OK : BS3D_LAUNCH_FAILED;
}

/* Tiles of 32*C columns and R rows, P rows a warp; plan->sections sections, or 0 for what is best. */
template <class Sweep>
static int BS3D_F(bs3d_p_tiles)(const bs3d_p_plan *plan, int steps, int C, int R, int P, int blocks, Sweep sweep,
                                BS3D_F(bs3d_p_launch) * l)
{
    int slots = blocks * bs3d_p_attribute(cudaDevAttrMultiProcessorCount);
    const int *n = plan->model.points;
    int tiles = (n[0] - 1) / (32 * C) + 1, most = plan->sections ? BS3D_P_SECTIONS : n[2];
    BS3D_F(bs3d_p_launches)(l, sweep);
    l->plan = *plan;
    l->plan.tile = ((n[0] - 1) / tiles / C + 1) * C;
    l->early = bs3d_p_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
    l->block = dim3((unsigned)BS3D_P_THREADS(steps, R, P));
    l->grid = dim3((unsigned)tiles, (unsigned)((n[1] - 1) / R + 1));
    if (!plan->sections)
        l->plan.sections = BS3D_F(bs3d_p_sections)(n[2], (long long)l->grid.x * l->grid.y, slots, 3 * steps - 1);
    int status = BS3D_F(bs3d_p_fit)(BS3D_P_PLANES(steps, C, R), most, sweep, l);
    l->grid.z = (unsigned)l->plan.sections;
    return status;
}

/* ---- explicit3: one step a sweep; explicit4: two ----------------------------------------------------------------- */

template <int form, int C, int R, int P, int blocks>
TRID_KERNEL void __launch_bounds__(BS3D_P_THREADS(1, R, P), blocks) BS3D_F(bs3d_p_explicit3)(BS3D_P_SWEEP)
{
    TRID_DYNAMIC_SHARED(memory);
    BS3D_F(bs3d_p_march)<form, 1, 0, C, R, P>(&pairs, &plan, tables, u, v, ends, memory);
}

/* The launch of explicit3's sweep, which is the right-hand side of implicit1 too. */
template <int unused>
static int BS3D_F(bs3d_p_one_step)(const BS3D_F(bs3d_p_job) * job, BS3D_F(bs3d_p_launch) * l)
{
    return BS3D_F(bs3d_p_tiles)(&job->plan, 1, BS3D_P_SHAPE3, job->form ? BS3D_F(bs3d_p_explicit3) < BS3D_GENERAL,
                                BS3D_P_SHAPE3 > : BS3D_F(bs3d_p_explicit3) < BS3D_POSITIVE, BS3D_P_SHAPE3 >, l);
}

template <int unused>
static int BS3D_F(bs3d_explicit3)(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) job;
    BS3D_F(bs3d_p_launch) one;
    int status = BS3D_F(bs3d_p_open)(problem, 0, work, &job);
    if (!status) status = BS3D_F(bs3d_p_one_step)<unused>(&job, &one);
    if (status) return status;
    return BS3D_F(bs3d_p_explicit)<unused>(problem, &job, 0, &one, &one, result, stream);
}

template <int form, int C, int R, int P, int blocks>
TRID_KERNEL void __launch_bounds__(BS3D_P_THREADS(2, R, P), blocks) BS3D_F(bs3d_p_explicit4)(BS3D_P_SWEEP)
{
    TRID_DYNAMIC_SHARED(memory);
    BS3D_F(bs3d_p_march)<form, 2, 0, C, R, P>(&pairs, &plan, tables, u, v, ends, memory);
}

template <int unused>
static int BS3D_F(bs3d_explicit4)(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) job;
    BS3D_F(bs3d_p_launch) one, two;
    int status = BS3D_F(bs3d_p_open)(problem, 0, work, &job);
    if (!status) status = BS3D_F(bs3d_p_one_step)<unused>(&job, &one);
    if (status) return status;
    /* Two steps a sweep, unless the option may be exercised between them, or shared memory is too small. */
    int doubles = problem->flags & BS3D_AMERICAN ? 0 : problem->steps / 2;
    if (doubles &&
        BS3D_F(bs3d_p_tiles)(&job.plan, 2, BS3D_P_SHAPE4, job.form ? BS3D_F(bs3d_p_explicit4) < BS3D_GENERAL,
                             BS3D_P_SHAPE4 > : BS3D_F(bs3d_p_explicit4) < BS3D_POSITIVE, BS3D_P_SHAPE4 >, &two))
        doubles = 0;
    return BS3D_F(bs3d_p_explicit)<unused>(problem, &job, doubles, &two, &one, result, stream);
}

/* ---- implicit1: right-hand side, x, y, z; matrices built and solved by the hybrid each time ---------------------- */

/* Row i of an axis' matrix (bs1d_lane_matrix); an identity row beyond the grid. */
TB_D void BS3D_F(bs3d_p_matrix_row)(const bs3d_p_plan *plan, int axis, int i, BS3D_R *a, BS3D_R *b, BS3D_R *c)
{
    double down = 0, centre = 1, up = 0;
    if (i < plan->model.points[axis]) bs1d_lane_matrix(bs3d_axis_of(&plan->model, axis), 1, i, &down, &centre, &up);
    *a = (BS3D_R)down;
    *b = (BS3D_R)centre;
    *c = (BS3D_R)up;
}

/* The same in the march's precision, for a matrix that is I - L_axis as it stands (bs3d_p_plain). */
TB_D void BS3D_F(bs3d_p_plain_row)(const bs3d_p_plan *plan, int axis, int i, BS3D_R *a, BS3D_R *b, BS3D_R *c)
{
    const bs3d_model *m = &plan->model;
    int last = i == m->points[axis] - 1, inside = i < m->points[axis];
    BS3D_R lambda = (BS3D_R)m->variance[axis] * (BS3D_R)(i * i), gamma = (BS3D_R)m->drift[axis] * (BS3D_R)i;
    *a = !inside ? 0 : last ? 2 * gamma : gamma - lambda;
    *b = (BS3D_R)(axis == 0 && inside ? 1 + m->discount : 1) + (!inside ? 0 : last ? -2 * gamma : 2 * lambda);
    *c = !inside || last ? 0 : -gamma - lambda;
}

/* Points of a line of n that a lane or thread has, 32 of them having it, and the kernel for it. */
#define BS3D_P_K(n) ((n) <= 256 ? 8 : (n) <= 512 ? 16 : 32)
#define BS3D_P_OF_SIZE(n, name)                                                                                        \
    (BS3D_P_K(n) == 8 ? BS3D_F(name) < 8 > : BS3D_P_K(n) == 16 ? BS3D_F(name) < 16 > : BS3D_F(name) < 32 >)
#define BS3D_P_PLAIN_OF_SIZE(plain, n, name)                                                                           \
    ((plain) ? (BS3D_P_K(n) == 8 ? BS3D_F(name) < 8, 1 > : BS3D_P_K(n) == 16 ? BS3D_F(name) < 16,                      \
                1 > : BS3D_F(name) < 32, 1 >)                                                                          \
             : (BS3D_P_K(n) == 8 ? BS3D_F(name) < 8, 0 > : BS3D_P_K(n) == 16 ? BS3D_F(name) < 16,                      \
                0 > : BS3D_F(name) < 32, 0 >))

/* x: a warp a line of v. */
template <int K, int plain>
TRID_KERNEL void __launch_bounds__(32 * BS3D_P_X_WARPS(K))
    BS3D_F(bs3d_p_implicit1_x)(bs3d_p_plan plan, BS3D_R *__restrict__ v)
{
    __shared__ BS3D_R shared[BS3D_P_X_WARPS(K) * BS3D_P_TRANSPOSE_LEN(K)];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, nx = plan.model.points[0];
    long long line = (long long)blockIdx.x * (blockDim.x / 32) + warp;
    int n = line < (long long)plan.model.points[1] * plan.model.points[2] ? nx : 0;
    BS3D_R a[32], b[32], c[32], d[32], *row = v + plan.pitch * line, *mine = shared + warp * BS3D_P_TRANSPOSE_LEN(K);
    BS3D_F(transpose_load)(K, 32, n, row, 0, d, mine);
    TB_UNROLL
    for (int r = 0; r < K; r++) {
        if (plain)
            BS3D_F(bs3d_p_plain_row)(&plan, 0, K * lane + r, a + r, b + r, c + r);
        else
            BS3D_F(bs3d_p_matrix_row)(&plan, 0, K * lane + r, a + r, b + r, c + r);
    }
    BS3D_F(trid_warp_hybrid)(K, 32, n, a, b, c, d);
    BS3D_F(transpose_store)(K, 32, n, d, row, mine);
}

/* y (axis 1) and z (axis 2): a block 8 lines that lie side by side in x, 32 sections each; z adds the result to u,
   which it has read beforehand, if there are registers for it: asked for last, it would be waited for once more. */
TB_D void BS3D_F(bs3d_p_implicit1_along)(int K, int plain, int axis, const bs3d_p_plan *plan, BS3D_R *v, BS3D_R *u,
                                         BS3D_R *shared)
{
    const int L = 8, early = axis == 2 && K * sizeof(BS3D_R) <= 64;
    int thread = (int)threadIdx.x, x = L * (int)blockIdx.x + thread % L, first = K * (thread / L);
    int n = x < plan->model.points[0] ? plan->model.points[axis] : 0;
    long long step = axis == 1 ? plan->pitch : plan->plane, other = axis == 1 ? plan->plane : plan->pitch;
    BS3D_R a[32], b[32], c[32], d[32], old[32];
    v += x + other * blockIdx.y + step * first;
    u += x + other * blockIdx.y + step * first;
    TB_UNROLL
    for (int r = 0; r < K; r++) {
        d[r] = first + r < n ? v[step * r] : 0;
        old[r] = early && first + r < n ? u[step * r] : 0;
        if (plain)
            BS3D_F(bs3d_p_plain_row)(plan, axis, first + r, a + r, b + r, c + r);
        else
            BS3D_F(bs3d_p_matrix_row)(plan, axis, first + r, a + r, b + r, c + r);
    }
    BS3D_F(trid_block_interleaved_unchecked)(K, L, 32, n, a, b, c, d, shared);
    TB_UNROLL
    for (int r = 0; r < K; r++) {
        if (first + r >= n) continue;
        if (axis == 1)
            v[step * r] = d[r];
        else
            u[step * r] = (early ? old[r] : u[step * r]) + d[r];
    }
}

template <int K, int plain>
TRID_KERNEL void __launch_bounds__(32 * 8)
    BS3D_F(bs3d_p_implicit1_lines)(bs3d_p_plan plan, int axis, BS3D_R *__restrict__ v, BS3D_R *__restrict__ u)
{
    __shared__ BS3D_R shared[BS3D_P_LINES_LEN(8, 32)];
    if (axis == 1)
        BS3D_F(bs3d_p_implicit1_along)(K, plain, 1, &plan, v, u, shared);
    else
        BS3D_F(bs3d_p_implicit1_along)(K, plain, 2, &plan, v, u, shared);
}

template <int unused>
static int BS3D_F(bs3d_implicit1)(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) job;
    BS3D_F(bs3d_p_launch) right;
    int status = BS3D_F(bs3d_p_open)(problem, 1, work, &job);
    if (!status) status = BS3D_F(bs3d_p_one_step)<unused>(&job, &right);
    if (!status) status = BS3D_F(bs3d_p_start)<unused>(problem, &job, job.u, job.v, stream);
    if (status) return status;
    const int *n = problem->points, plain = bs3d_p_plain(&job.plan.model), warps = BS3D_P_X_WARPS(BS3D_P_K(n[0]));
    unsigned columns = (unsigned)(n[0] - 1) / 8 + 1, blocks = (unsigned)((n[1] * n[2] - 1) / warps + 1);
    const dim3 y_blocks(columns, (unsigned)n[2]), z_blocks(columns, (unsigned)n[1]);
    void (*x)(bs3d_p_plan, BS3D_R *) = BS3D_P_PLAIN_OF_SIZE(plain, n[0], bs3d_p_implicit1_x);
    void (*y)(bs3d_p_plan, int, BS3D_R *, BS3D_R *) = BS3D_P_PLAIN_OF_SIZE(plain, n[1], bs3d_p_implicit1_lines);
    void (*z)(bs3d_p_plan, int, BS3D_R *, BS3D_R *) = BS3D_P_PLAIN_OF_SIZE(plain, n[2], bs3d_p_implicit1_lines);
    for (int s = 0; s < problem->steps && !status; s++) {
        bs3d_p_launch_next(&status, right.sweep, right.grid, right.block, right.bytes, stream, job.pairs, right.plan,
                           job.tables, job.u, job.v, job.ends);
        bs3d_p_launch_next(&status, x, blocks, (unsigned)(32 * warps), 0, stream, job.plan, job.v);
        bs3d_p_launch_next(&status, y, y_blocks, 256, 0, stream, job.plan, 1, job.v, job.u);
        bs3d_p_launch_next(&status, z, z_blocks, 256, 0, stream, job.plan, 2, job.v, job.u);
        BS3D_F(bs3d_p_may_exercise)<unused>(&status, problem, &job, job.u, stream);
    }
    return BS3D_F(bs3d_p_finish)<unused>(status, problem, &job, result, stream);
}

/* ---- implicit2: a sweep upward, a sweep downward ----------------------------------------------------------------- */

#define BS3D_P_LINES(K) ((K) == 8 ? BS3D_P_LINES_8 : (K) == 16 ? BS3D_P_LINES_16 : BS3D_P_LINES_32)

/* Elements of shared memory for the factors of y lines of 32 K points: none for K = 8, whose threads have them in
   registers, nor where there is no room and they are read from the tables. */
#define BS3D_P_FACTORS(K) ((K) > 8 && (K) * sizeof(BS3D_R) < 256 ? 32 * (size_t)TRID_INTERLEAVED_FACTOR_LEN(K) : 0)
/* The fused upward sweep, X half rows of 256 points: shared memory beside the arrivals, warps that march, threads. */
#define BS3D_P_PLANES_UP(X, R)                                                                                         \
    ((BS3D_P_DEPTH * (size_t)((R) + 2) + 2 * (size_t)(R)) * BS3D_P_STRIDE(8 * (X)) + 4 * (size_t)(R))
#define BS3D_P_MARCHING(X, C, R, P) (8 * (X) / (C) * (R) / (P))
#define BS3D_P_THREADS_UP(X, C, R, P) (32 * (BS3D_P_MARCHING(X, C, R, P) + (X) * (R)))
/* What a solving warp keeps: factors of its half row; what its points take from the neighbour half's end; how the two
   ends are found. Element e of half h is at [X_FACTORS + 32 (HALF h + e) + lane] of the tables. */
#define BS3D_P_HALF (TRID_WARP_FACTOR_LEN(8) + 8 + 1)
/* The same for implicit3: l, u, r, what trid_warp_lu_precompute keeps, how the two ends are found. */
#define BS3D_P_TURNED (3 * 8 + TRID_WARP_LU_PRECOMPUTED_LEN + 1)

/* K points a lane of a right-hand side in shared memory, solved by the warp. */
TB_D void BS3D_F(bs3d_p_solve_points)(int K, int steps, const BS3D_R *f, const BS3D_R *right, BS3D_R *d)
{
    BS3D_F(bs3d_p_load)(K, right, d);
    BS3D_F(trid_warp_solve)(K, 32, K * 32, steps, f, d);
}

/* implicit2, the upward sweep for rows of up to 256 X points, X 1 or 2: L u, the x lines and the forward elimination in
   z. A block has R whole rows: some warps march, C points a lane and P rows a warp, as in bs3d_p_march, and leave plane
   k-1 in shared memory; X R more warps solve, half a row or a row each, 8 points a lane, and eliminate, a plane behind.
   Halves are solved as if the other were 0, leave their values at the seam, and are put right a plane later, when both
   are there: with g what a half's points take from the other's end x', x = y - g x', and two equations for both
   ends. */
template <int form, int X, int C, int R, int P>
TB_D void BS3D_F(bs3d_p_rows_up)(const BS3D_F(bs3d_pairs) * pairs, const bs3d_p_plan *plan, const BS3D_R *tables,
                                 const BS3D_R *u, BS3D_R *v, BS3D_R *ends, unsigned char *memory,
                                 const bs3d_p_share *planes = 0)
{
    enum { K = 8 };
    const int stride = BS3D_P_STRIDE(K * X), size = (R + 2) * stride, marching = BS3D_P_MARCHING(X, C, R, P);
    const int threads = BS3D_P_THREADS_UP(X, C, R, P), share = BS3D_P_SHARE(size, threads);
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, j = R * (int)blockIdx.x;
    int nz = plan->model.points[2], from, to;
    int section = bs3d_p_marched(plan, planes, (int)blockIdx.y, &from, &to);
    int first = from > 1 ? from - 1 : 0, last = to < nz ? to : nz - 1, levels = to - first + 5;
    BS3D_R *arrivals = (BS3D_R *)memory, *between = arrivals + BS3D_P_ARRIVAL * levels,
           *slots = between + 2 * R * stride, *seams = slots + BS3D_P_DEPTH * size;
    BS3D_F(bs3d_p_all_arrivals)(from, to, tables, first - 2, levels, arrivals);
    for (int e = trid_block_thread(); e < 2 * R * stride; e += trid_block_threads()) between[e] = 0;
    BS3D_F(bs3d_p_ring)
    ring = BS3D_F(bs3d_p_open_ring)(share, plan, u, -BS3D_P_PAD, plan->pitch + 2 * BS3D_P_PAD, j - 1, R + 2, stride,
                                    slots);
    const int ahead = BS3D_P_DEPTH - 1;
    int slot = 0;
    for (int k = 0; k < ahead; k++) BS3D_F(bs3d_p_fetch)(share, &ring, k, first + k <= last ? first + k : -1);

    if (warp < marching) {
        const int in_row = K * X / C; /* warps */
        int row = P * (warp / in_row), x = C * (lane + 32 * (warp % in_row)), there = x < plan->pitch;
        int from_west = there && lane == 0, from_east = there && lane == 31;
        int place = (there ? row : 0) * stride + BS3D_P_PAD + (there ? x : 0);
        BS3D_F(bs3d_row) xs[BS3D_P_COLUMNS], ys[BS3D_P_ROWS], z[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        BS3D_R now[BS3D_P_POINTS] = {0}, next[BS3D_P_POINTS] = {0}, out[BS3D_P_POINTS];
        BS3D_R patch[(BS3D_P_COLUMNS + 2) * (BS3D_P_ROWS + 2)];
        BS3D_F(bs3d_p_axis_rows)(plan, tables, 0, there ? x : plan->pitch, C, xs);
        BS3D_F(bs3d_p_axis_rows)(plan, tables, 1, j + row, P, ys);
        for (int k = first; k < to + 1 + X; k++) {
            TRID_COPY_AWAIT(BS3D_P_DEPTH - 2);
            bs3d_p_meet(threads);
            BS3D_F(bs3d_p_fetch)
            (share, &ring, slot > 0 ? slot - 1 : BS3D_P_DEPTH - 1, k + ahead <= last ? k + ahead : -1);
            if (k <= to) {
                BS3D_F(bs3d_p_arrival)(arrivals, k - first + 2, z);
                BS3D_F(bs3d_p_patch)
                (form, C, P, slots + slot * size + place + stride, stride, from_west, from_east, patch);
                BS3D_F(bs3d_lane_plane)(form, C, P, pairs, xs, ys, z, patch, now, next, out);
                TB_UNROLL
                for (int n = 0; n < P; n++)
                    if (there) BS3D_F(bs3d_p_store)(C, out + n * C, between + ((k & 1) * R + n) * stride + place);
            }
            if (++slot == BS3D_P_DEPTH) slot = 0;
        }
    } else {
        int row = (warp - marching) / X, half = (warp - marching) % X, x = K * (32 * half + lane);
        int stores = x < plan->pitch && j + row < plan->model.points[1];
        const BS3D_R *kept = tables + BS3D_P_X_FACTORS + 32 * BS3D_P_HALF * half + lane;
        BS3D_R f[TRID_WARP_FACTOR_LEN(K)], g[K], y[K] = {0}, end[K] = {0}, d[K] = {0}, *seam = seams + 4 * row;
        TB_UNROLL
        for (int e = 0; e < TRID_WARP_FACTOR_LEN(K); e++) f[e] = kept[32 * e];
        TB_UNROLL
        for (int e = 0; e < K; e++) g[e] = X > 1 ? kept[32 * (TRID_WARP_FACTOR_LEN(K) + e)] : 0;
        const BS3D_R *link = kept - lane + 32 * (BS3D_P_HALF - 1);
        BS3D_R own = X > 1 ? link[0] : 0, other = X > 1 ? link[1] : 0;
        int steps = trid_warp_uniform((int)tables[BS3D_P_STEPS + 3 * half]);
        long long at = x + (long long)plan->pitch * (j + row);
        for (int k = first; k < to + 1 + X; k++) {
            int solves = k > from + 1 && k<to + 2, complete = k> from + X; /* planes k-2 and k-1-X */
            TRID_COPY_AWAIT(BS3D_P_DEPTH - 2);
            bs3d_p_meet(threads);
            BS3D_F(bs3d_p_fetch)
            (share, &ring, slot > 0 ? slot - 1 : BS3D_P_DEPTH - 1, k + ahead <= last ? k + ahead : -1);
            const BS3D_R *right = between + ((~k & 1) * R + row) * stride + BS3D_P_PAD + x;
            if (X == 1 && solves) BS3D_F(bs3d_p_solve_points)(K, steps, f, right, d);
            if (complete) {
                const BS3D_R *both = seam + 2 * (~k & 1);
                BS3D_R across = X > 1 ? other * both[!half] - own * both[half] : 0;
                TB_UNROLL
                for (int r = 0; r < K && X > 1; r++) d[r] -= g[r] * across;
                BS3D_F(bs3d_p_eliminate)(K, arrivals + BS3D_P_ARRIVAL * (k - first + 2 - X) + 8, d, y, end);
                if (stores) BS3D_F(bs3d_p_store)(K, y, v + plan->plane * (k - 1 - X) + at);
            }
            if (X > 1 && solves) {
                BS3D_F(bs3d_p_solve_points)(K, steps, f, right, d);
                if (lane == (half ? 0 : 31)) seam[2 * (k & 1) + half] = half ? d[0] : d[K - 1];
            }
            if (++slot == BS3D_P_DEPTH) slot = 0;
        }
        if (stores) BS3D_F(bs3d_p_leave_ends)(K, plan, tables, section, to - 1, y, end, ends + at);
    }
}

template <int form, int X, int C, int R, int P, int blocks>
TRID_KERNEL void __launch_bounds__(BS3D_P_THREADS_UP(X, C, R, P), blocks / X) BS3D_F(bs3d_p_implicit2_up)(BS3D_P_SWEEP)
{
    TRID_DYNAMIC_SHARED(memory);
    BS3D_F(bs3d_p_rows_up)<form, X, C, R, P>(&pairs, &plan, tables, u, v, ends, memory);
}

/* The same without the x lines, for longer rows or little shared memory. */
template <int form, int C, int R, int P, int blocks>
TRID_KERNEL void __launch_bounds__(BS3D_P_THREADS(1, R, P), blocks) BS3D_F(bs3d_p_implicit2_forward)(BS3D_P_SWEEP)
{
    TRID_DYNAMIC_SHARED(memory);
    BS3D_F(bs3d_p_march)<form, 1, 1, C, R, P>(&pairs, &plan, tables, u, v, ends, memory);
}

/* x by itself, where the fused sweep does not do: lines of v, and of the ends that the forward elimination in z has
   left, by the factors of their matrix; each warp one after another. */
template <int K>
TRID_KERNEL void __launch_bounds__(32 * BS3D_P_X_WARPS(K))
    BS3D_F(bs3d_p_implicit2_x)(bs3d_p_plan plan, const BS3D_R *__restrict__ tables, BS3D_R *__restrict__ v,
                               BS3D_R *__restrict__ ends)
{
    __shared__ BS3D_R shared[BS3D_P_X_WARPS(K) * BS3D_P_TRANSPOSE_LEN(K)];
    int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32, lane = (int)threadIdx.x & 31;
    int nx = plan.model.points[0], lines = plan.model.points[1] * plan.model.points[2];
    BS3D_R f[TRID_WARP_FACTOR_LEN(32)], d[32], *mine = shared + warp * BS3D_P_TRANSPOSE_LEN(K);
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(K); e++) f[e] = tables[BS3D_P_X_FACTORS + 32 * e + lane];
    int steps = trid_warp_uniform((int)tables[BS3D_P_STEPS]);
    /* The lines of the last planes first: they are what the sweep before has left in the cache. */
    int all = lines + 2 * plan.sections * plan.model.points[1];
    for (int line = all - 1 - (int)(blockIdx.x * warps + warp); line >= 0; line -= (int)gridDim.x * warps) {
        BS3D_R *row = line < lines ? v + (long long)plan.pitch * line : ends + (long long)plan.pitch * (line - lines);
        BS3D_F(transpose_load)(K, 32, nx, row, 0, d, mine);
        BS3D_F(trid_warp_solve)(K, 32, K * 32, steps, f, d);
        __syncwarp();
        BS3D_F(transpose_store)(K, 32, nx, d, row, mine);
        __syncwarp();
    }
}

/* The last unknowns of the sections of the line through a point of a plane, from what their reduction left: section s'
   first row, less its last, is in ends[s], its last row in ends[sections + s], which the unknown takes the place of; if
   both, the first unknown that of the first row. A thread a point of plane elements; down: the elimination was one
   downward, of which the last section is the first. */
template <int both>
TRID_KERNEL void __launch_bounds__(128)
    BS3D_F(bs3d_p_ends)(int sections, long long plane, int down, const BS3D_R *__restrict__ tables, BS3D_R *ends)
{
    const BS3D_R *link = tables + BS3D_P_Z_FACTORS + (down ? BS3D_P_Z_SIZE : 0) + BS3D_P_LINKS;
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    bs3d_p_let_next_begin();
    bs3d_p_wait();
    if (at >= plane) return;
    BS3D_R *firsts = ends + at + (down ? plane * (sections - 1) : 0), *lasts = firsts + plane * sections;
    long long step = down ? -plane : plane;
    BS3D_R first[BS3D_P_SECTIONS], x[BS3D_P_SECTIONS];
    TB_UNROLL
    for (int s = 0; s < BS3D_P_SECTIONS; s++) {
        first[s] = s < sections ? firsts[step * s] : 0;
        x[s] = s < sections ? lasts[step * s] : 0;
    }
    TB_UNROLL
    for (int s = 0; s < BS3D_P_SECTIONS; s++) {
        if (s >= sections) continue;
        if (s + 1 < BS3D_P_SECTIONS) x[s] -= link[8 * s] * first[s + 1];
        if (s > 0) x[s] -= link[8 * s + 1] * x[s - 1];
        x[s] *= link[8 * s + 2];
    }
    TB_UNROLL
    for (int s = BS3D_P_SECTIONS - 1; s >= 0; s--) {
        if (s >= sections) continue;
        if (s + 1 < BS3D_P_SECTIONS) x[s] -= link[8 * s + 3] * x[s + 1];
        lasts[step * s] = x[s];
    }
    TB_UNROLL
    for (int s = 0; s < BS3D_P_SECTIONS; s++)
        if (both && s < sections)
            firsts[step * s] = first[s] - link[8 * s + 4] * (s > 0 ? x[s > 0 ? s - 1 : 0] : 0) - link[8 * s + 5] * x[s];
}

/* A slice of L columns of one plane, all rows, in shared memory: row r of it at [(r + r / K) L], so that the rows that
   sections of K read together lie in different banks. Plane k of v and u on its way into a slot of two slices; k <
   from: nothing. All threads call, 32 L of them. */
#define BS3D_P_SLICE(K, L) (32 * ((K) + 1) * (L))
TB_D void BS3D_F(bs3d_p_fetch_slices)(int K, int L, const bs3d_p_plan *plan, int k, int from, const BS3D_R *v,
                                      const BS3D_R *u, trid_copy_place ring, int slot)
{
    enum { V = 16 / sizeof(BS3D_R) };
    int vectors = L / V, first = (int)threadIdx.x / vectors, column = V * ((int)threadIdx.x % vectors);
    long long at = L * (int)blockIdx.x + column + (long long)plan->pitch * first + plan->plane * k;
    TB_UNROLL
    for (int n = 0; n < K / V; n++) {
        int r = first + 32 * V * n;
        int to = (int)sizeof(BS3D_R) * (slot * 2 * BS3D_P_SLICE(K, L) + (r + r / K) * L + column);
        if (k >= from && r < plan->model.points[1]) {
            trid_copy_async(ring, to, v + at + (long long)plan->pitch * (32 * V * n));
            trid_copy_async(ring, to + (int)sizeof(BS3D_R) * BS3D_P_SLICE(K, L),
                            u + at + (long long)plan->pitch * (32 * V * n));
        }
    }
    trid_copy_commit();
}

/* implicit2, the downward sweep: back substitution in z, the y lines, u += the result. A block has L columns in x and
   all rows, in one section of planes, the next plan.depth planes being on their way. follows: before the first section
   there is another slab's. */
template <int K, int follows = 0>
TRID_KERNEL void __launch_bounds__(32 * BS3D_P_LINES(K), 1)
    BS3D_F(bs3d_p_implicit2_down)(bs3d_p_plan plan, const BS3D_R *__restrict__ tables, const BS3D_R *__restrict__ v,
                                  BS3D_R *__restrict__ u, const BS3D_R *__restrict__ ends)
{
    TRID_DYNAMIC_SHARED(memory);
    const int L = BS3D_P_LINES(K);
    BS3D_R *shared = (BS3D_R *)memory;
    int thread = (int)threadIdx.x, section = thread / L, rank = thread % 32, x = L * (int)blockIdx.x + thread % L;
    int first = K * section, from, to, slot = 0;
    int count = x < plan.model.points[0] ? plan.model.points[1] - first : 0; /* of the thread's rows */
    bs3d_p_section(plan.model.points[2], plan.sections, (int)blockIdx.y, &from, &to);
    BS3D_R f[TRID_INTERLEAVED_FACTOR_LEN(32)], z[32], before[32], d[32], old[32];
    BS3D_R *factors = shared + (BS3D_P_LINES_SOLVE_LEN(L, 32) + 3) / 4 * 4, *ring = factors + BS3D_P_FACTORS(K);
    const int place = section * (K + 1) * L + thread % L;
    trid_copy_place place_of_ring = trid_copy_place_of(ring);
    for (int e = thread; e < plan.depth * 2 * BS3D_P_SLICE(K, L); e += 32 * L) ring[e] = 0;
    for (int e = thread; e < (int)BS3D_P_FACTORS(K); e += 32 * L) factors[e] = tables[BS3D_P_Y_FACTORS + e];
    const BS3D_R *stored = BS3D_P_FACTORS(K) ? factors : tables + BS3D_P_Y_FACTORS;
    __syncthreads();
    TB_UNROLL
    for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(K) && K == 8; e++)
        f[e] = tables[BS3D_P_Y_FACTORS + 32 * e + (e < 5 * K ? section : rank)];
    int steps = trid_warp_uniform((int)tables[BS3D_P_STEPS + 1]);
    for (int n = 0; n < plan.depth; n++)
        BS3D_F(bs3d_p_fetch_slices)(K, L, &plan, to - 1 - n, from, v, u, place_of_ring, n);
    long long at = x + (long long)plan.pitch * first;
    TB_UNROLL
    for (int r = 0; r < K; r++) {
        const BS3D_R *end = ends + plan.plane * (plan.sections + (int)blockIdx.y) + at + plan.pitch * r;
        z[r] = r < count ? *end : 0;
        before[r] = r < count && (follows || blockIdx.y > 0) ? end[-plan.plane] : 0;
    }
    BS3D_R scale = 0, next = -1, spike = 0; /* the last plane is known already */
    u += at + plan.plane * (to - 1);
    TRID_COPY_AWAIT(0);
    __syncthreads();
    for (int k = to - 1; k >= from; k--, u -= plan.plane) {
        const BS3D_R *mine = ring + slot * 2 * BS3D_P_SLICE(K, L) + place;
        TB_UNROLL
        for (int r = 0; r < K; r++) {
            old[r] = mine[BS3D_P_SLICE(K, L) + r * L];
            d[r] = z[r] = scale * mine[r * L] - next * z[r] - spike * before[r];
        }
        const BS3D_R *row = tables + BS3D_P_Z_FACTORS + 8 * (k > from ? k - 1 : k);
        scale = row[1];
        next = row[2];
        spike = row[3];
        /* Plane k-1 is there, and after the solver's barriers everybody sees it. */
        if (plan.depth == 3) TRID_COPY_AWAIT(1);
        if (plan.depth == 2) TRID_COPY_AWAIT(0);
        if (K == 8)
            BS3D_F(trid_block_interleaved_solve)(K, L, 32, K * 32, steps, f, d, shared);
        else
            BS3D_F(trid_block_interleaved_solve_stored)
        (K, L, 32, K * 32, steps, stored + section, stored + 32 * 5 * K + rank, 32, d, shared);
        BS3D_F(bs3d_p_fetch_slices)
        (K, L, &plan, k - plan.depth, from, v, u - at - plan.plane * k, place_of_ring, slot);
        BS3D_R *to_u = u;
        TB_UNROLL
        for (int r = 0; r < K; r++, to_u += plan.pitch)
            if (r < count) *to_u = old[r] + d[r];
        if (plan.depth == 1) {
            TRID_COPY_AWAIT(0);
            __syncthreads();
        }
        if (++slot == plan.depth) slot = 0;
    }
}

/* What depends on the matrices alone. A section of the z lines: rows from .. to-1, x[k] = r y[k] - q x[k+1] - s
   x[from-1] with y[k] = d[k] - l y[k-1]; h weighs the y that make up the first unknown, all but the last's. For the
   elimination downward all indices run the other way. For implicit3, which keeps r y: what weighs that in the first
   unknown; l, on the first row that of the unknown before; s again. There weights below the unit roundoff are 0. */
TB_D void BS3D_F(bs3d_p_factor_planes)(const bs3d_model *m, int from, int to, int down, int keeps, BS3D_R *rows,
                                       double *link)
{
    const double roundoff = sizeof(BS3D_R) == 4 ? 6e-8 : 1.1e-16;
    double above_r = 0, above_c = 0, g = 0, product = 1, first_a = 0;
    for (int n = 0; n < to - from; n++) {
        int k = down ? to - 1 - n : from + n, last = n == to - from - 1;
        double a, b, c;
        bs1d_lane_matrix(bs3d_axis_of(m, 2), 1, k, &a, &b, &c);
        if (down) {
            double swap = a;
            a = c;
            c = swap;
        }
        double l = n > 0 ? a * above_r : 0, r = 1 / (b - l * above_c), q = c * r;
        g = n > 0 ? -l * g : a;
        BS3D_R *row = rows + 8 * k;
        if (keeps) {
            row[0] = (BS3D_R)l;
            row[1] = (BS3D_R)r;
            row[2] = (BS3D_R)q;
            row[3] = (BS3D_R)(g * r);
            row[4] = (BS3D_R)(last ? 0 : product * r);
            row[5] = (BS3D_R)(last || fabs(product) < roundoff ? 0 : product);
            row[6] = (BS3D_R)(n > 0 ? l : -a);
            row[7] = (BS3D_R)(fabs(g * r) < roundoff ? 0 : g * r);
        }
        if (!last) {
            first_a += product * g * r;
            product *= -q;
        }
        above_r = r;
        above_c = c;
        if (last) link[0] = g * r, link[1] = q;
    }
    link[2] = first_a;
    link[3] = -product;
}

TB_D void BS3D_F(bs3d_p_factor_z)(const bs3d_p_plan *plan, int section, int down, BS3D_R *tables, double *link)
{
    int from, to;
    bs3d_p_section(plan->model.points[2], plan->sections, section, &from, &to);
    BS3D_F(bs3d_p_factor_planes)
    (&plan->model, from, to, down, 1, tables + BS3D_P_Z_FACTORS + (down ? BS3D_P_Z_SIZE : 0), link);
}

/* The last unknowns of the sections: x[s] + link[0] x[s-1] + link[1] (first unknown of s+1) = its last row's;
   tridiagonal when the first unknown is put in. */
TB_D void BS3D_F(bs3d_p_factor_links)(int sections, const double *link, BS3D_R *to)
{
    double above = 0;
    for (int s = 0; s < sections; s++, link += 4, to += 8) {
        double out = s + 1 < sections ? link[1] : 0, pivot = 1 - link[0] * above;
        if (s + 1 < sections) pivot -= out * link[6];
        above = s + 1 < sections ? -out * link[7] / pivot : 0;
        to[0] = (BS3D_R)out;
        to[1] = (BS3D_R)link[0];
        to[2] = (BS3D_R)(1 / pivot);
        to[3] = (BS3D_R)above;
        to[4] = (BS3D_R)link[2];
        to[5] = (BS3D_R)link[3];
    }
}

/* What joins two halves: x' = (y' - g' y) / (1 - g g') at the seam, the other half's with primes; and x with the last
   number in the place of the first. */
TB_D void BS3D_F(bs3d_p_factor_seam)(int half, const BS3D_R *g, BS3D_R *link)
{
    BS3D_R scale = 1 / (1 - g[0] * g[1]);
    link[0] = scale * g[!half];
    link[1] = scale;
    link[2] = scale * g[half];
}

/* Factors of half a row (bs3d_p_implicit2_up), by a warp each: rows 256 half .. 256 half + 255 of the first axis. */
TB_D void BS3D_F(bs3d_p_factor_half)(int half, const bs3d_p_plan *plan, BS3D_R *tables, BS3D_R *shared)
{
    enum { K = 8 };
    int lane = trid_warp_lane(), steps, n = plan->model.points[0] - 256 * half, at = 256 * half + K * lane;
    BS3D_R a[K], b[K], c[K], g[K], f[TRID_WARP_FACTOR_LEN(K)],
        *to = tables + BS3D_P_X_FACTORS + 32 * BS3D_P_HALF * half;
    TB_UNROLL
    for (int r = 0; r < K; r++) {
        BS3D_F(bs3d_p_matrix_row)(plan, 0, at + r, a + r, b + r, c + r);
        g[r] = half ? (at + r == 256 ? a[r] : 0) : (at + r == 255 ? c[r] : 0);
    }
    BS3D_F(trid_warp_factor)(K, 32, n < 256 ? (n > 0 ? n : 0) : 256, a, b, c, f, &steps);
    BS3D_F(trid_warp_solve)(K, 32, 256, steps, f, g);
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(K); e++) to[32 * e + lane] = f[e];
    TB_UNROLL
    for (int r = 0; r < K; r++) to[32 * (TRID_WARP_FACTOR_LEN(K) + r) + lane] = g[r];
    if (lane == (half ? 0 : 31)) shared[half] = half ? g[0] : g[K - 1];
    __syncthreads();
    if (lane == 0) BS3D_F(bs3d_p_factor_seam)(half, shared, to + 32 * (BS3D_P_HALF - 1));
    if (lane == 0) tables[BS3D_P_STEPS + 3 * half] = (BS3D_R)steps;
}

/* Factors of the lines along an axis, by a block of 64: of the x lines by a warp or (halves) by one for each half, of
   the y lines by 32 sections of two lines, which are alike, of the z lines by a thread a section and direction. */
template <int K>
TRID_KERNEL void BS3D_F(bs3d_p_factor)(bs3d_p_plan plan, BS3D_R *tables, int axis, int halves)
{
    __shared__ BS3D_R shared[BS3D_P_LINES_SOLVE_LEN(2, 32)];
    __shared__ double links[2][4 * BS3D_P_SECTIONS];
    int thread = (int)threadIdx.x, steps;
    BS3D_R a[32], b[32], c[32], f[TRID_WARP_FACTOR_LEN(32)] = {0}; /* all is copied, also what a solve has no use for */
    if (axis == 2) {
        int down = thread / 32, n = thread % 32; /* the n-th section of its direction */
        if (n < plan.sections)
            BS3D_F(bs3d_p_factor_z)(&plan, down ? plan.sections - 1 - n : n, down, tables, links[down] + 4 * n);
        __syncthreads();
        if (n == 0) BS3D_F(bs3d_p_factor_links)
        (plan.sections, links[down], tables + BS3D_P_Z_FACTORS + BS3D_P_LINKS + down * BS3D_P_Z_SIZE);
        return;
    }
    if (halves) {
        BS3D_F(bs3d_p_factor_half)(thread / 32, &plan, tables, shared);
        return;
    }
    int section = axis == 0 ? thread % 32 : thread / 2;
    TB_UNROLL
    for (int r = 0; r < K; r++) BS3D_F(bs3d_p_matrix_row)(&plan, axis, K * section + r, a + r, b + r, c + r);
    if (axis == 0)
        BS3D_F(trid_warp_factor)(K, 32, plan.model.points[0], a, b, c, f, &steps);
    else
        BS3D_F(trid_block_interleaved_factor)(K, 2, 32, plan.model.points[1], a, b, c, f, &steps, shared);
    BS3D_R *to = tables + (axis == 0 ? BS3D_P_X_FACTORS : BS3D_P_Y_FACTORS);
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(K); e++) {
        if (e < 5 * K && (axis == 0 ? thread < 32 : thread % 2 == 0)) to[32 * e + section] = f[e];
        if (e >= 5 * K && thread < 32) to[32 * e + thread] = f[e];
    }
    if (thread == 0) tables[BS3D_P_STEPS + axis] = (BS3D_R)steps;
}

/* The same for implicit3 (bs3d_p_turned), by L and U: of rows along the first and the second axis, a block of 64 each.
   The upper half of a row is eliminated downward, towards the seam: its rows, lanes and directions are turned round. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_factor_turned)(bs3d_p_plan plan, BS3D_R *tables)
{
    enum { K = 8 };
    __shared__ BS3D_R shared[2];
    int axis = (int)blockIdx.x, half = (int)threadIdx.x / 32, lane = trid_warp_lane(), steps;
    BS3D_R l[K], r[K], u[K], keep[TRID_WARP_LU_PRECOMPUTED_LEN],
        *to = tables + (axis == 0 ? BS3D_P_X_FACTORS : BS3D_P_Y_FACTORS) + 32 * BS3D_P_TURNED * half;
    TB_UNROLL
    for (int e = 0; e < K; e++) {
        if (half)
            BS3D_F(bs3d_p_matrix_row)(&plan, axis, 511 - (K * lane + e), u + e, r + e, l + e);
        else
            BS3D_F(bs3d_p_matrix_row)(&plan, axis, K * lane + e, l + e, r + e, u + e);
    }
    BS3D_R across = u[K - 1]; /* of the last lane: the entry that reaches over the seam */
    BS3D_F(trid_warp_lu)(K, 32, 256, l, r, u);
    BS3D_F(trid_warp_lu_precompute)(K, 32, l, u, keep, &steps);
    const int place = half ? 31 - lane : lane;
    TB_UNROLL
    for (int e = 0; e < K; e++) {
        int row = half ? K - 1 - e : e;
        to[32 * row + place] = l[e];
        to[32 * (K + row) + place] = u[e];
        to[32 * (2 * K + row) + place] = r[e];
    }
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_LU_PRECOMPUTED_LEN; e++) to[32 * (3 * K + e) + place] = keep[e];
    if (lane == 31) shared[half] = across * r[K - 1];
    __syncthreads();
    if (lane == 0) BS3D_F(bs3d_p_factor_seam)(half, shared, to + 32 * (BS3D_P_TURNED - 1));
    if (lane == 0) tables[BS3D_P_STEPS + axis + 3 * half] = (BS3D_R)steps;
}

/* Whole rows, R a block, in plan->sections sections. */
template <class Sweep>
static int BS3D_F(bs3d_p_whole_rows)(const bs3d_p_plan *plan, int X, int C, int R, int P, int blocks, Sweep sweep,
                                     BS3D_F(bs3d_p_launch) * l)
{
    (void)blocks; /* the shape's last number is the compiler's business */
    BS3D_F(bs3d_p_launches)(l, sweep);
    l->plan = *plan;
    l->early = 0;
    l->block = dim3((unsigned)BS3D_P_THREADS_UP(X, C, R, P));
    int status = BS3D_F(bs3d_p_fit)(BS3D_P_PLANES_UP(X, R), BS3D_P_SECTIONS, sweep, l);
    l->grid = dim3((unsigned)((plan->model.points[1] - 1) / R + 1), (unsigned)l->plan.sections);
    return status;
}

/* The upward sweep of job->plan.sections sections, or of as many more as shared memory wants; *fused: it solves x too,
   which longer rows, or a processor with too little shared memory, leave to a kernel of their own. */
template <int unused>
static int BS3D_F(bs3d_p_upward)(BS3D_F(bs3d_p_job) * job, int *fused, BS3D_F(bs3d_p_launch) * up)
{
    int nx = job->plan.model.points[0], status = BS3D_OK;
    if (nx <= 256)
        *fused = !BS3D_F(bs3d_p_whole_rows)(
            &job->plan, 1, BS3D_P_SHAPE_UP, job->form ? BS3D_F(bs3d_p_implicit2_up) < BS3D_GENERAL, 1,
            BS3D_P_SHAPE_UP > : BS3D_F(bs3d_p_implicit2_up) < BS3D_POSITIVE, 1, BS3D_P_SHAPE_UP >, up);
    else
        *fused =
            nx <= 512 && !BS3D_F(bs3d_p_whole_rows)(
                             &job->plan, 2, BS3D_P_SHAPE_UP, job->form ? BS3D_F(bs3d_p_implicit2_up) < BS3D_GENERAL, 2,
                             BS3D_P_SHAPE_UP > : BS3D_F(bs3d_p_implicit2_up) < BS3D_POSITIVE, 2, BS3D_P_SHAPE_UP >, up);
    if (!*fused)
        status = BS3D_F(bs3d_p_tiles)(
            &job->plan, 1, BS3D_P_SHAPE3, job->form ? BS3D_F(bs3d_p_implicit2_forward) < BS3D_GENERAL,
            BS3D_P_SHAPE3 > : BS3D_F(bs3d_p_implicit2_forward) < BS3D_POSITIVE, BS3D_P_SHAPE3 >, up);
    job->plan.sections = up->plan.sections;
    return status;
}

/* The downward sweep: how many planes on their way fit into shared memory, and its bytes. */
TB_HOST size_t BS3D_F(bs3d_p_depth)(int K, bs3d_p_plan *plan)
{
    const int L = BS3D_P_LINES(K);
    size_t bytes = sizeof(BS3D_R) * ((size_t)((BS3D_P_LINES_SOLVE_LEN(L, 32) + 3) / 4 * 4) + BS3D_P_FACTORS(K));
    size_t slot = sizeof(BS3D_R) * 2 * (size_t)BS3D_P_SLICE(K, L);
    size_t most = (size_t)bs3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    plan->depth = BS3D_P_AHEAD;
    while (plan->depth > 1 && bytes + (size_t)plan->depth * slot > most) plan->depth--;
    return bytes + (size_t)plan->depth * slot;
}

template <int unused>
static int BS3D_F(bs3d_implicit2)(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) job;
    BS3D_F(bs3d_p_launch) up;
    int fused = 0, status = BS3D_F(bs3d_p_open)(problem, 1, work, &job);
    if (status) return status;
    const int nx = problem->points[0], ny = problem->points[1], nz = problem->points[2], L = BS3D_P_LINES(BS3D_P_K(ny));
    int processors = bs3d_p_attribute(cudaDevAttrMultiProcessorCount);
    unsigned columns = (unsigned)((nx - 1) / L + 1);
    void (*down)(bs3d_p_plan, const BS3D_R *, const BS3D_R *, BS3D_R *, const BS3D_R *) =
        BS3D_P_OF_SIZE(ny, bs3d_p_implicit2_down);
    size_t bytes = BS3D_F(bs3d_p_depth)(BS3D_P_K(ny), &job.plan);
    if (trid_allow_shared(down) != cudaSuccess) return BS3D_LAUNCH_FAILED;
    job.plan.sections = BS3D_F(bs3d_p_sections)(nz, columns, processors, 2);
    if (job.plan.sections > BS3D_P_SECTIONS) job.plan.sections = BS3D_P_SECTIONS;
    status = BS3D_F(bs3d_p_upward)<unused>(&job, &fused, &up);
    if (!status) status = BS3D_F(bs3d_p_start)<unused>(problem, &job, job.u, job.v, stream);
    if (status) return status;
    if (cudaMemsetAsync(job.ends, 0, 2 * BS3D_P_SECTIONS * (size_t)job.plan.plane * sizeof *job.ends, stream) !=
        cudaSuccess)
        return BS3D_LAUNCH_FAILED;
    for (int axis = 0; axis < 3; axis++)
        bs3d_p_launch_next(&status, BS3D_P_OF_SIZE(problem->points[axis], bs3d_p_factor), 1, 64, 0, stream, job.plan,
                           job.tables, axis, axis == 0 && fused);
    const int warps = BS3D_P_X_WARPS(nx <= 512 ? 16 : 32), x_blocks = (ny * nz - 1) / warps + 1;
    unsigned x_resident = (unsigned)(x_blocks < 3 * processors ? x_blocks : 3 * processors);
    unsigned end_blocks = (unsigned)((job.plan.plane - 1) / 128 + 1);
    const dim3 down_blocks(columns, (unsigned)job.plan.sections);
    for (int s = 0; s < problem->steps && !status; s++) {
        bs3d_p_launch_next(&status, up.sweep, up.grid, up.block, up.bytes, stream, job.pairs, up.plan, job.tables,
                           job.u, job.v, job.ends);
        if (!fused)
            bs3d_p_launch_next(&status,
                               nx <= 512 ? BS3D_F(bs3d_p_implicit2_x) < 16 > : BS3D_F(bs3d_p_implicit2_x) < 32 >,
                               x_resident, (unsigned)(32 * warps), 0, stream, job.plan, job.tables, job.v, job.ends);
        bs3d_p_launch_next(&status, BS3D_F(bs3d_p_ends) < 0 >, end_blocks, 128, 0, stream, job.plan.sections,
                           job.plan.plane, 0, job.tables, job.ends);
        bs3d_p_launch_next(&status, down, down_blocks, (unsigned)(32 * L), bytes, stream, job.plan, job.tables, job.v,
                           job.u, job.ends);
        BS3D_F(bs3d_p_may_exercise)<unused>(&status, problem, &job, job.u, stream);
    }
    return BS3D_F(bs3d_p_finish)<unused>(status, problem, &job, result, stream);
}
/* ---- implicit3: one sweep a step, along x and along y in turn, upward and downward in turn ----------------------- */

/* 256 points of a row in shared memory, 8 a lane: its vectors of 16 bytes SPREAD apart, where neither the lanes' own
   nor a copy of neighbouring vectors meet in a bank. Row r of a tile whose columns are read, V = 16 bytes of R rows by
   a lane, is moved on by SKEW. */
#define BS3D_P_SPREAD (32 + 16 / (int)sizeof(BS3D_R))
#define BS3D_P_ROW (8 * BS3D_P_SPREAD)
/* Shared memory of a block with R rows beside the levels, at its end what the blocks of a pair tell each other, two
   places of 16 bytes and two boxes a row, and the gate; and its threads. */
#define BS3D_P_ROWS3(R)                                                                                                \
    ((size_t)BS3D_P_ROW * ((BS3D_P_COMING + 2) * ((R) + 2) + 4 * (R) + 6) + 32 * TRID_WARP_LU_PRECOMPUTED_LEN +        \
     3 * 32 + 4 + (2 * (16 + 8) * ((R) + 2) + 8) / sizeof(BS3D_R))
#define BS3D_P_TILE(R) ((R)*BS3D_P_ROW + 32)
#define BS3D_P_THREADS3(R) (32 * ((R) + 2))

/* Where element x of 256 is. */
TB_D int BS3D_F(bs3d_p_spread)(int x)
{
    enum { V = 16 / sizeof(BS3D_R), per_lane = 8 / V };
    int vector = x / V;
    return V * (vector % per_lane * BS3D_P_SPREAD + vector / per_lane) + x % V;
}

/* A lane's 8 points of a row in shared memory, of which its first vector is at from or to. */
TB_D void BS3D_F(bs3d_p_lane_load)(const BS3D_R *from, BS3D_R *d)
{
    enum { V = 16 / sizeof(BS3D_R) };
    TB_UNROLL
    for (int v = 0; v < 8 / V; v++) transpose_unpack(((const BS3D_P_VECTOR *)from)[v * BS3D_P_SPREAD], d + v * V);
}
TB_D void BS3D_F(bs3d_p_lane_store)(const BS3D_R *d, BS3D_R *to)
{
    enum { V = 16 / sizeof(BS3D_R) };
    TB_UNROLL
    for (int v = 0; v < 8 / V; v++) ((BS3D_P_VECTOR *)to)[v * BS3D_P_SPREAD] = transpose_pack(d + v * V);
}

/* Eight points of a row in global memory, of which left are there; zeros for the others. */
TB_D void BS3D_F(bs3d_p_load_points)(int left, const BS3D_R *from, BS3D_R *d)
{
    enum { V = 16 / sizeof(BS3D_R) };
    TB_UNROLL
    for (int r = 0; r < 8; r++) d[r] = 0;
    TB_UNROLL
    for (int v = 0; v < 8 / V; v++)
        if (V * v < left) transpose_unpack(((const BS3D_P_VECTOR *)from)[v], d + v * V);
}

/* What is needed when plane n comes, of planes from .. to-1 and one more on each side in the order of the march: for
   its back substitution q and s; for plane n-2, which is finished then, l, r and what r y weighs in the first unknown;
   for plane n-1, which it completes, q; and bs3d_lane_plane's numbers in the direction of the march. */
TB_D void BS3D_F(bs3d_p_levels)(const bs3d_p_turn *turn, const BS3D_R *tables, int from, int to, BS3D_R *levels)
{
    const int up = turn->march > 0;
    const BS3D_R *upward = tables + BS3D_P_Z_FACTORS, *downward = upward + BS3D_P_Z_SIZE;
    for (int n = trid_block_thread(); n < to - from + 3; n += trid_block_threads()) {
        int count = to - from, k = up ? from - 1 + n : to - n, inside = n > 0 && n <= count;
        const BS3D_R *found = (up ? downward : upward) + 8 * (inside ? k : from);
        const BS3D_R *made = (up ? upward : downward) + 8 * (n > 2 ? k - 2 * turn->march : from);
        const BS3D_R *completed = (up ? upward : downward) + 8 * (n > 1 && n < count + 2 ? k - turn->march : from);
        BS3D_R *level = levels + BS3D_P_ARRIVAL * n;
        BS3D_F(bs3d_row) z[3];
        BS3D_F(bs3d_p_rows)(tables, k, z);
        level[0] = inside ? found[2] : 0;
        level[1] = inside ? found[7] : 0;
        level[2] = made[6];
        level[3] = made[1];
        level[4] = made[5];
        level[5] = completed[2];
        level[6] = up ? z[0].up : z[2].down;
        level[7] = up ? z[0].weight : z[2].weight;
        level[8] = z[1].up + z[1].down;
        level[9] = z[1].weight;
        level[10] = up ? z[2].down : z[0].up;
        level[11] = up ? z[2].weight : z[0].weight;
    }
}

/* A lane's vectors of a row's 256 points on their way into a slot, 32 apart: to is where its first one goes, left how
   many there are from that on, or none. All addresses are at literal distances from the two. */
TB_D void BS3D_F(bs3d_p_fetch_row)(const BS3D_R *from, int left, trid_copy_place to)
{
    enum { V = 16 / sizeof(BS3D_R), per_lane = 8 / V };
    TB_UNROLL
    for (int n = 0; n < per_lane; n++)
        if (32 * n < left) trid_copy_async(to, (int)sizeof(BS3D_R) * V * (32 / per_lane) * n, from + V * 32 * n);
    trid_copy_commit();
}

/* The seam of a row whose halves two blocks of a cluster have, as the warp of one half sees it. */
typedef struct {
    int half;
    const BS3D_R *link;        /* bs3d_p_factor_seam */
    BS3D_R *places;            /* where the other half's two numbers come, on even and on odd planes */
    unsigned long long *boxes; /* which tell that they have */
} BS3D_F(bs3d_p_seam);

/* Plane n: both right-hand sides, eliminated towards the seam, become those of the solution in the lane beside it. All
   lanes do as that one does: behind a branch the compiler would guard every shuffle. That lane also leaves u of the
   point across at beside. */
TB_D void BS3D_F(bs3d_p_meet_halves)(const BS3D_F(bs3d_p_seam) * seam, int n, BS3D_R *beside, BS3D_R *d)
{
    enum { K = 8, V = 16 / sizeof(BS3D_R) };
    const int half = seam->half, odd = n % 2, low = half && trid_warp_lane() == 0,
              high = !half && trid_warp_lane() == 31;
    if (low || high) {
        trid_mbarrier_expect(seam->boxes + odd, 16);
        const BS3D_R sent[V] = {half ? d[0] : d[K - 1], half ? d[K] : d[2 * K - 1]};
        trid_cluster_send(seam->places + V * odd, !half, seam->boxes + odd, sent);
    }
    const BS3D_R across = seam->link[0], scale = seam->link[1], back = seam->link[2];
    trid_mbarrier_wait(seam->boxes + odd, n / 2 % 2);
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        BS3D_R there = seam->places[V * odd + side], here = half ? d[K * side] : d[K * side + K - 1];
        BS3D_R x = scale * here - back * there;
        if (side == 0 && (low || high)) *beside = scale * there - across * here;
        d[K * side] = low ? x : d[K * side];
        d[K * side + K - 1] = high ? x : d[K * side + K - 1];
    }
}

/* trid_warp_recurrence_precomputed for both right-hand sides of a row, its direction made a literal. */
TB_D void BS3D_F(bs3d_p_row_chain)(int up, int steps, const BS3D_R *m, const BS3D_R *keep, BS3D_R *d)
{
    if (up)
        BS3D_F(trid_warp_recurrence_precomputed)(8, 32, 1, 2, steps, m, keep, 32, d);
    else
        BS3D_F(trid_warp_recurrence_precomputed)(8, 32, 0, 2, steps, m, keep, 32, d);
}

/* Two right-hand sides of half a row, solved: towards the seam, where both halves' last numbers make the solution on
   both sides of it, and back. */
TB_D void BS3D_F(bs3d_p_solve_half)(const BS3D_F(bs3d_p_seam) * seam, int n, int steps, const BS3D_R *lur,
                                    const BS3D_R *keep, BS3D_R *beside, BS3D_R *d)
{
    enum { K = 8 };
    TB_UNROLL
    for (int e = 0; e < 2 * K; e++) d[e] *= lur[2 * K + e % K];
    BS3D_F(bs3d_p_row_chain)(seam->half, steps, lur, keep, d);
    BS3D_F(bs3d_p_meet_halves)(seam, n, beside, d);
    BS3D_F(bs3d_p_row_chain)(!seam->half, steps, lur + K, keep + 5 * 32, d);
}

/* Rows of a tile, R of them, to the columns that they are in a plane of the next sweep's, of which points are there: by
   64 threads. */
TB_D void BS3D_F(bs3d_p_store_columns)(int R, int points, int to_pitch, int j, int thread, const BS3D_R *tile,
                                       BS3D_R *to)
{
    enum { V = 16 / sizeof(BS3D_R), per_lane = 8 / V };
    const int parts = R / V, each = parts == 1 ? 64 : parts == 2 ? 32 : 16; /* columns at a time */
    int q = thread % parts, x = thread / parts;
    tile += q * V * BS3D_P_ROW + BS3D_P_SKEW(parts, q) + BS3D_F(bs3d_p_spread)(x);
    to += (long long)to_pitch * x + j + q * V;
    const long long step = (long long)to_pitch * each;
    if (x >= each || j + q * V >= to_pitch) return;
    TB_UNROLL
    for (int n = 0; n < 256 / each; n++, to += step) {
        BS3D_R column[V];
        TB_UNROLL
        for (int e = 0; e < V; e++) column[e] = tile[e * BS3D_P_ROW + n * each / per_lane];
        if (x + n * each < points) *(BS3D_P_VECTOR *)to = transpose_pack(column);
    }
}

/* A lane's l, u and r (from .. to-1 of these), and its rows of the axis, from shared memory. */
TB_D void BS3D_F(bs3d_p_lane_factors)(int from, int to, const BS3D_R *factors, int len, BS3D_R *lur)
{
    TB_UNROLL
    for (int n = from; n < to; n++) BS3D_F(bs3d_p_lane_load)(factors + n * len, lur + 8 * n);
}

TB_D void BS3D_F(bs3d_p_lane_rows)(const BS3D_R *weights, int len, BS3D_F(bs3d_row) * rows)
{
    BS3D_R down[8], up[8], weight[8];
    BS3D_F(bs3d_p_lane_load)(weights, down);
    BS3D_F(bs3d_p_lane_load)(weights + len, up);
    BS3D_F(bs3d_p_lane_load)(weights + 2 * len, weight);
    TB_UNROLL
    for (int r = 0; r < 8; r++) {
        rows[r].down = down[r];
        rows[r].up = up[r];
        rows[r].weight = weight[r];
    }
}

/* The points beside a lane's of three rows: the neighbour lanes', by shuffle; at the seam of a pair those that
   bs3d_p_meet_halves has left behind the lanes' first vectors, where the lane's own of the first row is at rows. */
TB_D void BS3D_F(bs3d_p_beside)(int form, int pair, int half, const BS3D_R *rows, BS3D_R *u)
{
    enum { K = 8, S = K + 2, V = 16 / sizeof(BS3D_R) };
    const int lane = trid_warp_lane();
    TB_UNROLL
    for (int n = 0; n < 3; n++) {
        u[n * S] = u[n * S + K + 1] = 0;
        if (form == BS3D_GENERAL || n < 2) u[n * S] = __shfl_up_sync(TB_FULL_WARP, u[n * S + K], 1);
        if (form == BS3D_GENERAL || n > 0) u[n * S + K + 1] = __shfl_down_sync(TB_FULL_WARP, u[n * S + 1], 1);
    }
    if (pair && lane == (half ? 0 : 31)) {
        TB_UNROLL
        for (int n = 0; n < 3; n++) {
            BS3D_R there = rows[n * BS3D_P_ROW + (32 - lane) * V];
            u[n * S] = half ? there : u[n * S];
            u[n * S + K + 1] = half ? u[n * S + K + 1] : there;
        }
    }
}

/* What a lane has of its 8 points from plane to plane. */
typedef struct {
    BS3D_R z[8];            /* A_own u of the plane that has come */
    BS3D_R d[2 * 8];        /* right-hand sides, then solutions: u of that plane, and L u of two planes before solved */
    BS3D_R s[8], e[8];      /* A_other u; w of the plane before, but for y */
    BS3D_R y[8];            /* L u solved, eliminated in z */
    BS3D_R now[8], next[8]; /* as in bs3d_lane_plane */
} BS3D_F(bs3d_p_turned_lane);

/* The back substitution in z for a plane of the section, whose w is at coming, or (past it) the unknown there: of the
   section beyond, at past, of which left points are there. */
TB_D void BS3D_F(bs3d_p_turned_back)(int is_past, const BS3D_R *level, const BS3D_R *coming, int left,
                                     const BS3D_R *past, BS3D_R *z)
{
    BS3D_R w[8], q = level[0], spike = level[1];
    if (is_past) {
        BS3D_F(bs3d_p_load_points)(left, past, z);
        return;
    }
    BS3D_F(bs3d_p_lane_load)(coming, w);
    TB_UNROLL
    for (int r = 0; r < 8; r++) z[r] = w[r] - q * z[r];
    if (spike != 0) {
        BS3D_F(bs3d_p_load_points)(left, past, w);
        TB_UNROLL
        for (int r = 0; r < 8; r++) z[r] -= spike * w[r];
    }
}

/* The w that is made, of two planes before the one that has come, into the tile; and what it adds to the section's
   first unknown. */
TB_D void BS3D_F(bs3d_p_turned_make)(const BS3D_R *level, BS3D_F(bs3d_p_turned_lane) * lane, BS3D_R *tile,
                                     BS3D_R *gathered)
{
    BS3D_R l = level[2], r_here = level[3], weight = level[4], sum[8];
    TB_UNROLL
    for (int r = 0; r < 8; r++) {
        lane->y[r] = lane->d[8 + r] - l * lane->y[r];
        lane->e[r] += r_here * lane->y[r];
    }
    BS3D_F(bs3d_p_lane_store)(lane->e, tile);
    if (weight != 0) {
        BS3D_F(bs3d_p_lane_load)(gathered, sum);
        TB_UNROLL
        for (int r = 0; r < 8; r++) sum[r] += weight * lane->e[r];
        BS3D_F(bs3d_p_lane_store)(sum, gathered);
    }
}

/* All rows' u of plane n is there, the lanes' south neighbours at south: L u of the plane before into the second
   right-hand side, A_other u, and what both planes' add to w. ys and other: the row of the other axis, and of its
   matrix. */
TB_D void BS3D_F(bs3d_p_turned_step)(int form, int pair, int half, int n, const BS3D_F(bs3d_pairs) * pairs,
                                     const BS3D_R *weights, const BS3D_F(bs3d_row) * ys, const BS3D_R *other,
                                     const BS3D_R *level, const BS3D_R *south, BS3D_F(bs3d_p_turned_lane) * lane)
{
    enum { S = 8 + 2 };
    const int len = BS3D_P_ROW;
    BS3D_R u[3 * S], v[8];
    BS3D_F(bs3d_row) xs[8], zs[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    BS3D_F(bs3d_p_lane_load)(south, u + 1);
    BS3D_F(bs3d_p_lane_load)(south + 2 * len, u + 2 * S + 1);
    TB_UNROLL
    for (int r = 0; r < 8; r++) u[S + 1 + r] = lane->d[r];
    BS3D_F(bs3d_p_beside)(form, pair, half, south, u);
    BS3D_F(bs3d_p_load)(4, level + 4, v);
    BS3D_F(bs3d_p_load)(4, level + 8, v + 4);
    zs[0].up = v[2];
    zs[0].weight = v[3];
    zs[1].up = v[4]; /* and down: only the sum counts */
    zs[1].weight = v[5];
    zs[2].down = v[6];
    zs[2].weight = v[7];
    BS3D_F(bs3d_p_lane_rows)(weights, len, xs);
    BS3D_F(bs3d_lane_plane)(form, 8, 1, pairs, xs, ys, zs, u, lane->now, lane->next, lane->d + 8);
    TB_UNROLL
    for (int r = 0; r < 8; r++) {
        lane->e[r] = lane->s[r];
        lane->s[r] = other[0] * u[r + 1] + other[1] * u[S + r + 1] + other[2] * u[2 * S + r + 1];
        lane->e[r] += v[1] * lane->s[r];
    }
    if (n == 0) { /* the elimination begins with what comes from the section before */
        bs3d_p_as_branch();
        TB_UNROLL
        for (int r = 0; r < 8; r++) lane->y[r] = lane->s[r];
    }
}

/* The parts of a block's shared memory. */
typedef struct {
    BS3D_R *levels;   /* bs3d_p_levels */
    BS3D_R *ring;     /* w on its way */
    BS3D_R *gathered; /* for the section's first unknown, of R rows */
    BS3D_R *planes;   /* u of R + 2 rows, twice */
    BS3D_R *tiles;    /* w of R rows, three times */
    BS3D_R *factors;  /* l, u, r of the rows' points */
    BS3D_R *weights;  /* the rows' differences: down, up, weight */
    BS3D_R *keep;     /* trid_warp_lu_precompute's */
    BS3D_R *link;     /* bs3d_p_factor_seam's, here and not in registers, which are few in double precision */
    BS3D_R *places;   /* of a pair's seams, two a row, and their boxes */
    unsigned long long *boxes, *gate;
} BS3D_F(bs3d_p_turned_memory);

TB_D BS3D_F(bs3d_p_turned_memory)
    BS3D_F(bs3d_p_turned_open)(int R, int pair, int half, const bs3d_p_turn *turn, const BS3D_R *tables, int from,
                               int to, unsigned char *memory)
{
    enum { V = 16 / sizeof(BS3D_R) };
    const int len = BS3D_P_ROW, thread = trid_block_thread(), threads = BS3D_P_THREADS3(R), rows = R + 2;
    const BS3D_R zeros[V] = {0},
                 *kept = tables + (turn->own == 0 ? BS3D_P_X_FACTORS : BS3D_P_Y_FACTORS) + 32 * BS3D_P_TURNED * half;
    BS3D_F(bs3d_p_turned_memory) m;
    m.levels = (BS3D_R *)memory;
    m.ring = m.levels + BS3D_P_ARRIVAL * (to - from + 3);
    m.gathered = m.ring + BS3D_P_COMING * rows * len;
    m.planes = m.gathered + R * len;
    m.tiles = m.planes + 2 * rows * len;
    m.factors = m.tiles + 3 * BS3D_P_TILE(R);
    m.weights = m.factors + 3 * len;
    m.keep = m.weights + 3 * len;
    m.link = m.keep + 32 * TRID_WARP_LU_PRECOMPUTED_LEN;
    m.places = m.link + 4;
    m.boxes = (unsigned long long *)(m.places + 2 * V * rows);
    m.gate = m.boxes + 2 * rows;
    bs3d_p_open_gate(m.gate, threads);
    if (pair && thread < 2 * rows) trid_mbarrier_init(m.boxes + thread);
    if (pair && thread < 3) m.link[thread] = kept[32 * (BS3D_P_TURNED - 1) + thread];
    for (int e = thread; e < (int)(m.planes - m.ring) / V; e += threads)
        ((BS3D_P_VECTOR *)m.ring)[e] = transpose_pack(zeros);
    BS3D_F(bs3d_p_levels)(turn, tables, from, to, m.levels);
    for (int x = thread; x < 256; x += threads) {
        const BS3D_R *f = kept + 32 * (x % 8) + x / 8;
        BS3D_F(bs3d_row) r = {0, 0, 0};
        int at = BS3D_F(bs3d_p_spread)(x);
        if (256 * half + x < turn->points) r = BS3D_F(bs3d_p_row)(tables, turn->own, 256 * half + x);
        for (int n = 0; n < 3; n++) m.factors[n * len + at] = f[32 * 8 * n];
        m.weights[at] = r.down;
        m.weights[len + at] = r.up;
        m.weights[2 * len + at] = r.weight;
    }
    for (int e = thread; e < 32 * TRID_WARP_LU_PRECOMPUTED_LEN; e += threads) m.keep[e] = kept[32 * 3 * 8 + e];
    if (pair)
        trid_cluster_sync(); /* nobody sends before both blocks' boxes are open */
    else
        __syncthreads();
    return m;
}

/* A block has R whole rows and one more on each side, or (pair) with the other block of its cluster a half each of such
   rows: a warp for each, 8 points a lane. It marches through the planes of a section and one more on each side. When
   plane n of w has come: its back substitution in z; its rows are solved, and with them L u of plane n-2, of the same
   matrix. That is u, which all rows of the block see in shared memory, and completes plane n-2 of the next w: A_z times
   the other axis' A times u, which the elimination makes s[k] + q s[k+1] but for its first row, and the other row
   solved, eliminated. It goes into a tile, from which the warps of the two rows more, which have less to do, write it
   as columns, a plane later. Then L u of plane n-1. */
template <int form, int R, int pair>
TB_D void BS3D_F(bs3d_p_turned)(const BS3D_F(bs3d_pairs) * pairs, const bs3d_p_plan *plan, const bs3d_p_turn *turn,
                                const BS3D_R *tables, const BS3D_R *w, BS3D_R *made, const BS3D_R *ends,
                                BS3D_R *new_ends, unsigned char *memory)
{
    enum {
        V = 16 / sizeof(BS3D_R),
        per_lane = 8 / V,
        held = BS3D_P_KEPT(form, pair),
        SLOT = BS3D_P_ROW * (int)sizeof(BS3D_R)
    };
    const int len = BS3D_P_ROW, all_rows = (R + 2) * len, tile_size = BS3D_P_TILE(R);
    const int thread = (int)threadIdx.x, rank = thread % 32, row = trid_warp_uniform(thread / 32);
    const int half = pair ? trid_warp_uniform(trid_cluster_rank()) : 0;
    const int marches = row < R; /* row R is before the others, R + 1 after them */
    const int own = row == R ? 0 : row == R + 1 ? R + 1 : row + 1, writer = thread - 32 * R;
    const int first = R * ((int)blockIdx.x / (1 + pair)), j = first - 1 + own, there = j >= 0 && j < turn->lines;
    const int section = (int)blockIdx.y, after = section - turn->march, past = section + turn->march;
    int from, to;
    bs3d_p_let_next_begin();
    bs3d_p_section(plan->model.points[2], plan->sections, section, &from, &to);
    const int count = to - from, behind = turn->finish ? 0 : 2; /* planes that what is made is behind what comes */
    const BS3D_F(bs3d_p_turned_memory) m = BS3D_F(bs3d_p_turned_open)(R, pair, half, turn, tables, from, to, memory);

    const int mine = rank * V;                                        /* in a row */
    const int place = row * len + mine + BS3D_P_SKEW(R / V, row / V); /* in a tile */
    const BS3D_R *factors = m.factors + mine, *keep = m.keep + rank;
    const int steps = trid_warp_uniform((int)tables[BS3D_P_STEPS + turn->own + 3 * half]);
    const BS3D_F(bs3d_p_seam) seam = {half, m.link, m.places + 2 * V * own, m.boxes + 2 * own};
    BS3D_R *slots = m.ring + own * BS3D_P_COMING * len;
    const trid_copy_place slots_place =
        trid_copy_place_of(slots + V * (rank % per_lane * BS3D_P_SPREAD + rank / per_lane));
    const int points = turn->points - 256 * half; /* of the block's part of the rows */
    const int vectors = there && points > 0 ? (points - 1) / V + 1 - rank : 0;
    const long long step = turn->march * turn->plane, to_step = turn->march * turn->to_plane;
    const BS3D_R *source =
        w + 256 * half + V * rank + (long long)turn->pitch * j + turn->plane * (turn->march > 0 ? from : to - 1);
    made += 256LL * half * turn->to_pitch + turn->to_plane * (turn->march > 0 ? from : to - 1);
    new_ends += 256LL * half * turn->to_pitch;
    BS3D_F(bs3d_p_turned_lane) lane = {{0}, {0}, {0}, {0}, {0}, {0}, {0}};
    BS3D_R lur[3 * 8], other[3];
    BS3D_F(bs3d_row) ys;
    if (turn->own == 0) { /* literal axes: numbers of the kernel's that are indexed would be copied */
        BS3D_F(bs3d_p_axis_rows)(plan, tables, 1, j, 1, &ys);
        BS3D_F(bs3d_p_matrix_row)(plan, 1, there ? j : turn->lines, other, other + 1, other + 2);
    } else {
        BS3D_F(bs3d_p_axis_rows)(plan, tables, 0, j, 1, &ys);
        BS3D_F(bs3d_p_matrix_row)(plan, 0, there ? j : turn->lines, other, other + 1, other + 2);
    }
    BS3D_F(bs3d_p_lane_factors)(0, held, factors, len, lur);

    bs3d_p_wait();
    for (int n = 1; n < BS3D_P_COMING; n++, source += step)
        BS3D_F(bs3d_p_fetch_row)(source, n <= count ? vectors : 0, slots_place + n * SLOT);
    /* The unknowns beyond the section: its neighbour's first on plane 0, the other neighbour's last on plane count +
       1. */
    const int has_after = there && after >= 0 && after < plan->sections ? points - 8 * rank : 0;
    const int has_past = there && past >= 0 && past < plan->sections ? points - 8 * rank : 0;
    ends += (long long)turn->pitch * j + 256 * half + 8 * rank;
    BS3D_F(bs3d_p_load_points)(has_after, ends + turn->plane * after, lane.z);
    ends += turn->plane * (plan->sections + past);

    const BS3D_R *level = m.levels;
    int slot = 0, plane_at = 0, tile_at = 0, written_at = 0; /* u's plane, the tile, and that of the plane before */
    for (int n = 0; n <= count + behind; n++, level += BS3D_P_ARRIVAL) {
        BS3D_R *plane = m.planes + plane_at + own * len + mine, *tile = m.tiles + tile_at + place;
        TRID_COPY_AWAIT(BS3D_P_COMING - 1);
        __syncwarp();
        if (n > 0) BS3D_F(bs3d_p_turned_back)(n > count, level, slots + slot * len + mine, has_past, ends, lane.z);
        TB_UNROLL
        for (int r = 0; r < 8; r++) lane.d[r] = lane.z[r];
        BS3D_F(bs3d_p_lane_factors)(held, 3, factors, len, lur);
        if (pair)
            BS3D_F(bs3d_p_solve_half)(&seam, n, steps, lur, keep, plane - mine + 32 * V, lane.d);
        else
            BS3D_F(trid_warp_lu_solve_precomputed)(8, 32, 2, steps, lur, lur + 2 * 8, lur + 8, keep, 32, lane.d);
        BS3D_F(bs3d_p_lane_store)(lane.d, plane);
        bs3d_p_arrive(m.gate);
        __syncwarp(); /* all lanes have read the slot */
        BS3D_F(bs3d_p_fetch_row)(source, n + BS3D_P_COMING <= count ? vectors : 0, slots_place + slot * SLOT);
        source += step;
        if (++slot == BS3D_P_COMING) slot = 0;
        if (marches && turn->finish) BS3D_F(bs3d_p_lane_store)(lane.d, tile);
        if (marches && !turn->finish && n > behind)
            BS3D_F(bs3d_p_turned_make)(level, &lane, tile, m.gathered + row * len + mine);
        bs3d_p_await(m.gate, n & 1);
        if (marches && !turn->finish && n < count + 2) BS3D_F(bs3d_p_turned_step)
        (form, pair, half, n, pairs, m.weights + mine, &ys, other, level, plane - len, &lane);
        if (!marches && n > behind + 1) {
            BS3D_F(bs3d_p_store_columns)(R, points, turn->to_pitch, first, writer, m.tiles + written_at, made);
            made += to_step;
        }
        written_at = tile_at;
        tile_at = tile_at < 2 * tile_size ? tile_at + tile_size : 0;
        plane_at = all_rows - plane_at;
    }
    /* The last plane, which is r y of the section's last row too, and what was gathered for its first unknown. */
    if (marches) {
        BS3D_F(bs3d_p_lane_load)(m.gathered + row * len + mine, lane.e);
        BS3D_F(bs3d_p_lane_store)(lane.e, m.tiles + tile_at + place);
    }
    __syncthreads();
    if (marches) return;
    BS3D_F(bs3d_p_store_columns)(R, points, turn->to_pitch, first, writer, m.tiles + written_at, made);
    if (turn->finish) return;
    new_ends += turn->to_plane * section;
    BS3D_F(bs3d_p_store_columns)(R, points, turn->to_pitch, first, writer, m.tiles + tile_at, new_ends);
    new_ends += turn->to_plane * plan->sections;
    BS3D_F(bs3d_p_store_columns)(R, points, turn->to_pitch, first, writer, m.tiles + written_at, new_ends);
}

template <int form, int R, int blocks, int pair>
TRID_KERNEL void __launch_bounds__(BS3D_P_THREADS3(R), blocks)
    BS3D_F(bs3d_p_implicit3)(BS3D_F(bs3d_pairs) pairs, bs3d_p_plan plan, bs3d_p_turn turn,
                             const BS3D_R *__restrict__ tables, const BS3D_R *__restrict__ w, BS3D_R *__restrict__ made,
                             const BS3D_R *ends, BS3D_R *new_ends)
{
    TRID_DYNAMIC_SHARED(memory);
    if (!pair || TRID_P_CLUSTERS) /* code for devices without clusters has no pairs */
        BS3D_F(bs3d_p_turned)<form, R, pair>(&pairs, &plan, &turn, tables, w, made, ends, new_ends,
                                             bs3d_p_held(memory));
}

/* The axis' matrix times u at a point whose neighbours on the axis are step away. */
TB_D BS3D_R BS3D_F(bs3d_p_times)(BS3D_R a, BS3D_R b, BS3D_R c, const BS3D_R *u, long long step)
{
    BS3D_R sum = b * *u;
    if (a != 0) sum += a * u[-step];
    if (c != 0) sum += c * u[step];
    return sum;
}

/* What the first sweep, of this turn, is to find, if u is what it is to have: p = A_own u, eliminated against its
   march, and the sections' first and last p. A block has 32 x 32 points of a plane, which it may have to transpose. */
template <int unused>
TRID_KERNEL void __launch_bounds__(256)
    BS3D_F(bs3d_p_implicit3_start)(bs3d_p_plan plan, bs3d_p_turn turn, const BS3D_R *__restrict__ tables,
                                   const BS3D_R *__restrict__ u, BS3D_R *__restrict__ w, BS3D_R *__restrict__ ends)
{
    __shared__ BS3D_R made[32][33], solved[32][33];
    const int x = (int)threadIdx.x, k = (int)blockIdx.z, nz = plan.model.points[2], against = -turn.march;
    const int corner_x = 32 * (int)blockIdx.x, corner_y = 32 * (int)blockIdx.y;
    const long long step = turn.own == 0 ? 1 : plan.pitch;
    int section = 0, from, to;
    bs3d_p_section(nz, plan.sections, section, &from, &to);
    while (k >= to) bs3d_p_section(nz, plan.sections, ++section, &from, &to);
    const BS3D_R *factors = tables + BS3D_P_Z_FACTORS + (against < 0 ? BS3D_P_Z_SIZE : 0) + 8 * k;
    const int before = against > 0 ? from - 1 : to, next = k + against;
    for (int y = (int)threadIdx.y; y < 32; y += 8) {
        int i = corner_x + x, j = corner_y + y;
        BS3D_R a = 0, b = 0, c = 0, p = 0, sum = 0;
        if (i < plan.model.points[0] && j < plan.model.points[1]) {
            const BS3D_R *at = u + i + (long long)plan.pitch * j + plan.plane * k;
            if (turn.own == 0)
                BS3D_F(bs3d_p_matrix_row)(&plan, 0, i, &a, &b, &c);
            else
                BS3D_F(bs3d_p_matrix_row)(&plan, 1, j, &a, &b, &c);
            if (i == 0 && turn.own == 0) a = 0;
            if (j == 0 && turn.own == 1) a = 0;
            p = BS3D_F(bs3d_p_times)(a, b, c, at, step);
            sum = p;
            if (next >= 0 && next < nz)
                sum += factors[2] * BS3D_F(bs3d_p_times)(a, b, c, at + plan.plane * against, step);
            if (before >= 0 && before < nz)
                sum += factors[3] * BS3D_F(bs3d_p_times)(a, b, c, at + plan.plane * (before - k), step);
        }
        made[y][x] = sum;
        solved[y][x] = p;
    }
    __syncthreads();
    for (int n = (int)threadIdx.y; n < 32; n += 8) {
        int along = (turn.own == 0 ? corner_x : corner_y) + x, across = (turn.own == 0 ? corner_y : corner_x) + n;
        if (along >= turn.pitch || across >= turn.lines) continue;
        int row = turn.own == 0 ? n : x, column = turn.own == 0 ? x : n;
        long long at = along + (long long)turn.pitch * across;
        w[at + turn.plane * k] = made[row][column];
        if (k == (against > 0 ? from : to - 1)) ends[at + turn.plane * section] = solved[row][column];
        if (k == (against > 0 ? to - 1 : from)) ends[at + turn.plane * (plan.sections + section)] = solved[row][column];
    }
}

/* How sweeps with rows along an axis are launched, upward and downward. */
typedef struct {
    void (*sweep[2])(BS3D_F(bs3d_pairs), bs3d_p_plan, bs3d_p_turn, const BS3D_R *, const BS3D_R *, BS3D_R *,
                     const BS3D_R *, BS3D_R *);
    BS3D_F(bs3d_pairs) pairs[2];
    bs3d_p_turn turn;
    unsigned threads, blocks, slots;
    size_t elements; /* of shared memory, beside the levels */
    int cluster;     /* blocks that share rows: 1 or 2 */
} BS3D_F(bs3d_p_turning);

template <int R, int blocks, int pair>
static void BS3D_F(bs3d_p_turning_shape)(int form, BS3D_F(bs3d_p_turning) * t)
{
    t->sweep[0] = form ? BS3D_F(bs3d_p_implicit3)<BS3D_GENERAL, R, blocks, pair>
                       : BS3D_F(bs3d_p_implicit3)<BS3D_POSITIVE, R, blocks, pair>;
    t->sweep[1] = form ? BS3D_F(bs3d_p_implicit3)<BS3D_GENERAL, R, blocks, pair>
                       : BS3D_F(bs3d_p_implicit3)<BS3D_P_MIRRORED, R, blocks, pair>;
    t->threads = BS3D_P_THREADS3(R);
    t->cluster = 1 + pair;
    t->blocks = (unsigned)(t->cluster * ((t->turn.lines - 1) / R + 1));
    t->slots = (unsigned)(blocks * bs3d_p_attribute(cudaDevAttrMultiProcessorCount));
    t->elements = BS3D_P_ROWS3(R);
}

/* Rows along axis own; all but the direction, and sections. */
template <int unused>
static void BS3D_F(bs3d_p_turning_of)(const BS3D_F(bs3d_p_job) * job, int own, BS3D_F(bs3d_p_turning) * t)
{
    const int *n = job->plan.model.points;
    t->turn.own = own;
    t->turn.points = n[own];
    t->turn.lines = n[!own];
    t->turn.march = t->turn.finish = 0;
    t->turn.pitch = BS3D_F(bs3d_pitch)(n[own]);
    t->turn.to_pitch = BS3D_F(bs3d_pitch)(n[!own]);
    t->turn.plane = (long long)t->turn.pitch * n[!own];
    t->turn.to_plane = (long long)t->turn.to_pitch * n[own];
    for (int down = 0; down < 2; down++) {
        t->pairs[down] = job->pairs;
        for (int p = 1; p < 3; p++) { /* of the rows' axis and the third, of the other and the third */
            int pair = own ? 3 - p : p, swap = down && job->form == BS3D_GENERAL;
            t->pairs[down].plus[p] = swap ? job->pairs.minus[pair] : job->pairs.plus[pair];
            t->pairs[down].minus[p] = swap ? job->pairs.plus[pair] : job->pairs.minus[pair];
        }
    }
    if (n[own] <= 256)
        BS3D_F(bs3d_p_turning_shape)<BS3D_P_SHAPE_TURNED, 0>(job->form, t);
    else
        BS3D_F(bs3d_p_turning_shape)<BS3D_P_SHAPE_TURNED, 1>(job->form, t);
}

/* Can implicit3's sweeps, t[own], be had for this problem? Sets the sections, and bytes[own] of shared memory. */
template <int unused>
static int BS3D_F(bs3d_p_can_turn)(const bs3d_problem *o, BS3D_F(bs3d_p_job) * job, BS3D_F(bs3d_p_turning) * t,
                                   size_t *bytes)
{
    size_t limit = (size_t)bs3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (o->points[0] > 512 || o->points[1] > 512 || (o->flags & BS3D_AMERICAN)) return 0;
    BS3D_F(bs3d_p_turning_of)<unused>(job, 0, t);
    BS3D_F(bs3d_p_turning_of)<unused>(job, 1, t + 1);
    const BS3D_F(bs3d_p_turning) *longer = t[0].blocks * t[1].slots < t[1].blocks * t[0].slots ? t + 1 : t;
    int sections = BS3D_F(bs3d_p_sections)(o->points[2], longer->blocks, (int)longer->slots, 3);
    if (sections > BS3D_P_SECTIONS) sections = BS3D_P_SECTIONS;
    for (;; sections++) { /* as many more as shared memory wants */
        size_t levels = (size_t)((o->points[2] - 1) / sections + 4), most = 0;
        for (int own = 0; own < 2; own++) {
            bytes[own] = sizeof(BS3D_R) * (t[own].elements + BS3D_P_ARRIVAL * levels);
            if (bytes[own] > most) most = bytes[own];
        }
        if (most <= limit) break;
        if (sections >= BS3D_P_SECTIONS) return 0;
    }
    job->plan.sections = sections;
    return 1;
}

template <int unused>
static int BS3D_F(bs3d_implicit3)(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) job;
    BS3D_F(bs3d_p_turning) turnings[2];
    size_t bytes[2];
    int status = BS3D_F(bs3d_p_open)(problem, 1, work, &job);
    if (status) return status;
    if (!BS3D_F(bs3d_p_can_turn) < unused > (problem, &job, turnings, bytes))
        return BS3D_F(bs3d_implicit2)<unused>(problem, work, result, stream);
    for (int n = 0; n < 4; n++) {
        const BS3D_F(bs3d_p_turning) *t = turnings + n / 2;
        if (trid_allow_shared(t->sweep[n % 2]) != cudaSuccess) return BS3D_LAUNCH_FAILED;
        if (t->cluster > 1 && !trid_clusters(t->sweep[n % 2], t->cluster, t->threads, bytes[n / 2]))
            return BS3D_F(bs3d_implicit2)<unused>(problem, work, result, stream);
    }
    const int early = bs3d_p_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
    /* The last sweep has rows along y, and so writes u with rows along x. */
    const int *points = problem->points, steps = problem->steps, sections = job.plan.sections;
    const size_t ends = 2 * BS3D_P_SECTIONS * BS3D_F(bs3d_p_most_of_plane)(points);
    BS3D_R *from = steps % 2 ? job.v : job.u, *to = steps % 2 ? job.u : job.v;
    status = BS3D_F(bs3d_p_start)<unused>(problem, &job, from, to, stream);
    if (!status && cudaMemsetAsync(job.ends, 0, 2 * ends * sizeof *job.ends, stream) != cudaSuccess)
        status = BS3D_LAUNCH_FAILED;
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_factor_turned) < unused >, 2, 64, 0, stream, job.plan, job.tables);
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_factor) < 8 >, 1, 64, 0, stream, job.plan, job.tables, 2, 0);
    bs3d_p_turn first = turnings[steps % 2 == 0].turn;
    first.march = 1;
    const dim3 tiles((unsigned)(points[0] - 1) / 32 + 1, (unsigned)(points[1] - 1) / 32 + 1, (unsigned)points[2]);
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_implicit3_start) < unused >, tiles, dim3(32, 8), 0, stream, job.plan,
                       first, job.tables, from, to, job.ends);
    for (int s = 0; s <= steps && !status; s++) {
        const BS3D_F(bs3d_p_turning) *t = turnings + ((steps - s) % 2 == 0);
        BS3D_R *swap = from, *old_ends = job.ends + s % 2 * ends, *new_ends = job.ends + (s + 1) % 2 * ends;
        bs3d_p_turn turn = t->turn;
        from = to;
        to = swap;
        turn.march = s % 2 ? -1 : 1;
        turn.finish = s == steps;
        bs3d_p_launch_soon(s > 0 && early, t->cluster, &status, t->sweep[s % 2], dim3(t->blocks, (unsigned)sections),
                           t->threads, bytes[turn.own], stream, t->pairs[s % 2], job.plan, turn, job.tables, from, to,
                           old_ends, new_ends);
        if (sections > 1 && !turn.finish)
            bs3d_p_launch_soon(early, 1, &status, BS3D_F(bs3d_p_ends) < 1 >, (unsigned)((turn.to_plane - 1) / 128 + 1),
                               128, 0, stream, sections, turn.to_plane, s % 2, job.tables, new_ends);
    }
    return BS3D_F(bs3d_p_finish)<unused>(status, problem, &job, result, stream);
}

/* ---- slabs: explicit4 and implicit2 on the planes of one processor ----------------------------------------------- */

template <int form, int steps, int forward, int C, int R, int P, int blocks>
TRID_KERNEL void __launch_bounds__(BS3D_P_THREADS(steps, R, P), blocks)
    BS3D_F(bs3d_p_slab_march)(BS3D_P_SWEEP, bs3d_p_share share)
{
    TRID_DYNAMIC_SHARED(memory);
    BS3D_F(bs3d_p_march)<form, steps, forward, C, R, P>(&pairs, &plan, tables, u, v, ends, memory, &share);
}

template <int form, int X, int C, int R, int P, int blocks>
TRID_KERNEL void __launch_bounds__(BS3D_P_THREADS_UP(X, C, R, P), blocks / X)
    BS3D_F(bs3d_p_slab_up)(BS3D_P_SWEEP, bs3d_p_share share)
{
    TRID_DYNAMIC_SHARED(memory);
    BS3D_F(bs3d_p_rows_up)<form, X, C, R, P>(&pairs, &plan, tables, u, v, ends, memory, &share);
}

/* The payoff in u, whose first plane is plane shift of the grid; or (later) where that is more than u. A block a
   row. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_slab_payoff)(bs3d_problem o, bs3d_p_plan plan, int shift, int later, BS3D_R *u)
{
    double ds[3];
    int j = (int)blockIdx.x, k = (int)blockIdx.y;
    for (int axis = 0; axis < 3; axis++) ds[axis] = bs3d_p_spacing(&o, axis);
    u += (long long)plan.pitch * j + plan.plane * k;
    for (int i = trid_block_thread(); i < o.points[0]; i += trid_block_threads()) {
        BS3D_R payoff =
            (BS3D_R)bs3d_lane_payoff(o.payoff, o.flags, o.strike, i * ds[0], j * ds[1], (k + shift) * ds[2]);
        if (!later || u[i] < payoff) u[i] = payoff;
    }
}

/* The values around the spot that lie in the slab's own planes; zeros for the others. By one warp. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_slab_around)(bs3d_problem o, bs3d_p_plan plan, bs3d_slab cut, const BS3D_R *u,
                                            BS3D_R *values)
{
    for (int n = (int)threadIdx.x; n < 64; n += 32) {
        int k = bs3d_p_first(&o, 2) + n / 16, there = k >= cut.first && k < cut.first + cut.planes;
        long long at = bs3d_p_around(&o, n, plan.pitch, plan.plane) - plan.plane * (cut.first - cut.below);
        values[n] = there ? u[at] : 0;
    }
}

/* Factors of the slab's sections; and how the chain's sections depend on each other, as BS3D_P_LINKS. The copy of the
   plane below is the first of the downward sweep's last planes: there is nothing to solve for, it is the unknown
   before. */
template <int unused>
TRID_KERNEL void BS3D_F(bs3d_p_slab_factor)(bs3d_model model, bs3d_slab cut, BS3D_R *tables, BS3D_R *links)
{
    __shared__ double link[4 * BS3D_P_CHAIN];
    int e = (int)threadIdx.x, n = cut.slab * cut.sections - cut.own + e; /* of all sections of the grid */
    BS3D_R *rows = tables + BS3D_P_Z_FACTORS;
    if (e < cut.chain) {
        int slab = n / cut.sections, keeps = slab == cut.slab, from, to;
        bs3d_p_slab_section(model.points[2], cut.slabs, slab, cut.sections, n % cut.sections, &from, &to);
        BS3D_F(bs3d_p_factor_planes)(&model, from, to, 0, keeps, rows - 8 * (cut.first - cut.below), link + 4 * e);
    }
    __syncthreads();
    if (e > 0) return;
    if (cut.below) {
        rows[1] = rows[2] = 0;
        rows[3] = -1;
    }
    BS3D_F(bs3d_p_factor_links)(cut.chain, link, links);
}

/* The last unknowns of the slab's sections and of the section before them, in place of what the chain's reduction left
   (bs3d_p_ends, upward); in that of its last section the first unknown of the slab above, if there is one. */
template <int most>
TRID_KERNEL void __launch_bounds__(128)
    BS3D_F(bs3d_p_slab_ends)(bs3d_slab cut, long long plane, const BS3D_R *__restrict__ links, BS3D_R *ends)
{
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= plane) return;
    BS3D_R *lasts = ends + plane * cut.chain, first[most], x[most];
    ends += at;
    lasts += at;
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        first[s] = s < cut.chain ? ends[plane * s] : 0;
        x[s] = s < cut.chain ? lasts[plane * s] : 0;
    }
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        if (s >= cut.chain) continue;
        if (s + 1 < most) x[s] -= links[8 * s] * first[s + 1];
        if (s > 0) x[s] -= links[8 * s + 1] * x[s - 1];
        x[s] *= links[8 * s + 2];
    }
    TB_UNROLL
    for (int s = most - 2; s >= 0; s--)
        if (s < cut.chain) x[s] -= links[8 * s + 3] * x[s + 1];
    const int top = cut.own + cut.sections - 1;
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        if (s < cut.own - 1 || s > top) continue;
        if (s + 1 < most && s == top && cut.above)
            x[s] = first[s + 1] - links[8 * (s + 1) + 4] * x[s] - links[8 * (s + 1) + 5] * x[s + 1];
        lasts[plane * s] = x[s];
    }
}

/* A march on a slab: what bs3d_slab_open makes of it. */
typedef struct {
    bs3d_slab cut;
    bs3d_problem problem;
    BS3D_F(bs3d_p_job) job; /* job.u: the values; its plan: of all planes that the slab has */
    BS3D_R *links, *values;
    int total, implicit;
    int fused;                /* implicit: the upward sweep solves x too */
    BS3D_F(bs3d_p_launch) up; /* implicit: how its sweeps are launched */
    void (*down)(bs3d_p_plan, const BS3D_R *, const BS3D_R *, BS3D_R *, const BS3D_R *);
    size_t down_bytes;
} BS3D_F(bs3d_slab_march);

/* The upward sweep of job->plan.sections sections for a slab, as bs3d_p_upward. */
template <int unused>
static int BS3D_F(bs3d_p_slab_upward)(const bs3d_p_plan *plan, int form, int *fused, BS3D_F(bs3d_p_launch) * up)
{
    const int nx = plan->model.points[0];
    *fused = 0;
    if (nx <= 256)
        *fused = !BS3D_F(bs3d_p_whole_rows)(plan, 1, BS3D_P_SHAPE_UP, form ? BS3D_F(bs3d_p_slab_up) < BS3D_GENERAL, 1,
                                            BS3D_P_SHAPE_UP > : BS3D_F(bs3d_p_slab_up) < BS3D_POSITIVE, 1,
                                            BS3D_P_SHAPE_UP >, up);
    else if (nx <= 512)
        *fused = !BS3D_F(bs3d_p_whole_rows)(plan, 2, BS3D_P_SHAPE_UP, form ? BS3D_F(bs3d_p_slab_up) < BS3D_GENERAL, 2,
                                            BS3D_P_SHAPE_UP > : BS3D_F(bs3d_p_slab_up) < BS3D_POSITIVE, 2,
                                            BS3D_P_SHAPE_UP >, up);
    if (*fused) return BS3D_OK;
    return BS3D_F(bs3d_p_tiles)(plan, 1, BS3D_P_SHAPE3, form ? BS3D_F(bs3d_p_slab_march) < BS3D_GENERAL, 1, 1,
                                BS3D_P_SHAPE3 > : BS3D_F(bs3d_p_slab_march) < BS3D_POSITIVE, 1, 1, BS3D_P_SHAPE3 >, up);
}

/* What a slab's kernels know: of planes planes, in sections sections. */
TB_HOST bs3d_p_plan BS3D_F(bs3d_p_slab_plan)(const bs3d_problem *o, int planes, int sections)
{
    bs3d_p_plan plan;
    plan.model = bs3d_model_of(o);
    plan.model.points[2] = planes;
    plan.pitch = BS3D_F(bs3d_pitch)(o->points[0]);
    plan.plane = (long long)plan.pitch * o->points[1];
    plan.sections = sections;
    plan.tile = plan.depth = 0;
    return plan;
}

/* Solves   into how many sections an implicit march on so many slabs cuts each, on devices like the current one
   Returns  0 if there is something wrong with the problem, or the device has too little shared memory */
template <int unused = 0>
static int BS3D_F(bs3d_slab_sections)(const bs3d_problem *o, int slabs)
{
    if (bs3d_slab_check(o, 1, slabs)) return 0;
    const int L = BS3D_P_LINES(BS3D_P_K(o->points[1])), least = o->points[2] / slabs,
              planes = (o->points[2] - 1) / slabs + 1 + 2 * (slabs > 1);
    int fused, columns = (o->points[0] - 1) / L + 1,
               sections = BS3D_F(bs3d_p_sections)(planes, columns, bs3d_p_attribute(cudaDevAttrMultiProcessorCount), 2);
    if (sections > BS3D_P_SECTIONS) sections = BS3D_P_SECTIONS;
    if (sections > least / 4) sections = least / 4;
    if (sections < 1) return 0;
    bs3d_p_plan plan = BS3D_F(bs3d_p_slab_plan)(o, planes, sections);
    BS3D_F(bs3d_p_launch) up;
    if (BS3D_F(bs3d_p_slab_upward) < unused > (&plan, bs3d_p_form(&plan.model), &fused, &up)) return 0;
    return up.plan.sections;
}

/* Solves   how many bytes of device memory a slab's march works in; 0 for a null pointer */
TB_HOST size_t BS3D_F(bs3d_slab_bytes)(const bs3d_problem *o, const bs3d_slab *cut)
{
    if (!o || !cut) return 0;
    size_t plane = (size_t)BS3D_F(bs3d_pitch)(o->points[0]) * (size_t)o->points[1];
    size_t planes = 2 * (size_t)(cut->below + cut->planes + cut->above) + 2 * (size_t)cut->chain;
    return (planes * plane + BS3D_P_TABLES + 8 * BS3D_P_CHAIN + 64) * sizeof(BS3D_R);
}

/* Solves   a march on a slab, up to its first step: tables, factors, and the payoff as its values
   Needs    cut: bs3d_slab_cut's; work: bs3d_slab_bytes of the current device's memory, aligned to 16 bytes
   Leaves   *march; the values in march->job.u, as in bs3d_work_bytes' memory, from the lowest plane on that the slab
            has a copy of
   Returns  BS3D_OK; BS3D_BAD_ARGUMENT; BS3D_LAUNCH_FAILED, also if this device cannot have these sections
   Lanes    called on the host, the slab's device being the current one, as for all functions of a march */
template <int unused = 0>
static int BS3D_F(bs3d_slab_open)(const bs3d_problem *o, const bs3d_slab *cut, void *work,
                                  BS3D_F(bs3d_slab_march) * march, cudaStream_t stream)
{
    if (!o || !cut || !march || !work || (size_t)work % 16) return BS3D_BAD_ARGUMENT;
    BS3D_F(bs3d_slab_march) *m = march;
    BS3D_F(bs3d_p_job) *job = &m->job;
    const bs3d_model model = bs3d_model_of(o);
    int status = BS3D_OK;
    m->cut = *cut;
    m->problem = *o;
    m->implicit = cut->sections > 0;
    m->total = cut->below + cut->planes + cut->above;
    job->plan = BS3D_F(bs3d_p_slab_plan)(o, m->total, cut->sections);
    job->pairs = BS3D_F(bs3d_lane_pairs)(&model, !m->implicit);
    job->form = bs3d_p_form(&model);
    const size_t cells = (size_t)job->plan.plane * (size_t)m->total,
                 ends = 2 * (size_t)cut->chain * (size_t)job->plan.plane;
    job->u = (BS3D_R *)work;
    job->v = job->u + cells;
    job->ends = job->v + cells;
    job->tables = job->ends + ends;
    m->links = job->tables + BS3D_P_TABLES;
    m->values = m->links + 8 * BS3D_P_CHAIN;
    if (m->implicit) {
        status = BS3D_F(bs3d_p_slab_upward)<unused>(&job->plan, job->form, &m->fused, &m->up);
        if (status || m->up.plan.sections != cut->sections) return BS3D_LAUNCH_FAILED;
        m->down_bytes = BS3D_F(bs3d_p_depth)(BS3D_P_K(o->points[1]), &job->plan);
        const int K = BS3D_P_K(o->points[1]);
        m->down = K == 8    ? BS3D_F(bs3d_p_implicit2_down)<8, 1>
                  : K == 16 ? BS3D_F(bs3d_p_implicit2_down)<16, 1>
                            : BS3D_F(bs3d_p_implicit2_down)<32, 1>;
        if (trid_allow_shared(m->down) != cudaSuccess) return BS3D_LAUNCH_FAILED;
    }
    if (cudaMemsetAsync(work, 0, (2 * cells + ends) * sizeof *job->u, stream) != cudaSuccess) return BS3D_LAUNCH_FAILED;
    const int rows = m->total + 2 * BS3D_P_MARGIN, shift = cut->first - cut->below;
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_set_up) < unused >, 3, 256, 0, stream, model, shift,
                       m->implicit && rows > BS3D_P_ROW_TABLE ? (int)BS3D_P_ROW_TABLE : rows, job->tables);
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_slab_payoff) < unused >, dim3((unsigned)o->points[1], (unsigned)m->total),
                       128, 0, stream, *o, job->plan, shift, 0, job->u);
    for (int axis = 0; axis < 2 && m->implicit; axis++)
        bs3d_p_launch_next(&status, BS3D_P_OF_SIZE(o->points[axis], bs3d_p_factor), 1, 64, 0, stream, job->plan,
                           job->tables, axis, axis == 0 && m->fused);
    if (m->implicit)
        bs3d_p_launch_next(&status, BS3D_F(bs3d_p_slab_factor) < unused >, 1, BS3D_P_CHAIN, 0, stream, model, *cut,
                           job->tables, m->links);
    return status;
}

/* The planes of a part of an explicit sweep, of which the outer ones are as many as the neighbours have copies of;
   extra: with so many copies on each side, or as many as there are. Returns 0 if there are none. */
TB_HOST int BS3D_F(bs3d_p_slab_part)(const bs3d_slab *cut, int part, int extra, bs3d_p_share *share)
{
    const int low = cut->below ? cut->deep : 0, high = cut->above ? cut->deep : 0;
    const int whole = cut->planes < low + high + 4; /* too few planes to be parted */
    const bs3d_p_share none = {0, 0, 0, 0, 1, 0, 0, 0, cut->below + cut->planes + cut->above};
    *share = none;
    if (part == BS3D_ALL || (part == BS3D_OUTER && whole)) {
        int down = extra < cut->below ? extra : cut->below, up = extra < cut->above ? extra : cut->above;
        share->from = cut->below - down;
        share->planes = cut->planes + down + up;
    } else if (part == BS3D_INNER && !whole) {
        share->from = cut->below + low;
        share->planes = cut->planes - low - high;
    } else if (part == BS3D_OUTER) {
        share->from = low ? cut->below : cut->below + cut->planes - high;
        share->planes = low + high;
        share->sections = (low > 0) + (high > 0);
        share->apart = cut->planes - low - high;
    }
    return share->planes;
}

/* Solves   one or two time steps (steps) of an explicit march on a part of the slab: BS3D_ALL, with extra copies on
            each side made as well; or BS3D_OUTER, what neighbours have copies of, and then BS3D_INNER, the rest, which
            may run at the same time
   Needs    before BS3D_ALL or BS3D_OUTER: extra + steps copies on each side that are of the time of the values. early:
            nothing was enqueued in the stream since BS3D_ALL of the sweep before
   Leaves   march->job.u (with BS3D_ALL and BS3D_OUTER another array than before): the values; copies beyond extra are
            worthless
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int BS3D_F(bs3d_slab_explicit)(BS3D_F(bs3d_slab_march) * march, int steps, int part, int extra, int early,
                                      cudaStream_t stream)
{
    BS3D_F(bs3d_p_job) *job = &march->job;
    BS3D_F(bs3d_p_launch) l;
    bs3d_p_share share;
    if (part != BS3D_INNER) {
        BS3D_R *swap = job->u;
        job->u = job->v;
        job->v = swap;
    }
    if (!BS3D_F(bs3d_p_slab_part)(&march->cut, part, extra, &share)) return BS3D_OK;
    const bs3d_p_plan plan = BS3D_F(bs3d_p_slab_plan)(&march->problem, share.planes, share.sections);
    int status =
        steps == 1 ? BS3D_F(bs3d_p_tiles)(&plan, 1, BS3D_P_SHAPE3, job->form ? BS3D_F(bs3d_p_slab_march) < BS3D_GENERAL,
                                          1, 0, BS3D_P_SHAPE3 > : BS3D_F(bs3d_p_slab_march) < BS3D_POSITIVE, 1, 0,
                                          BS3D_P_SHAPE3 >, &l)
                   : BS3D_F(bs3d_p_tiles)(&plan, 2, BS3D_P_SHAPE4, job->form ? BS3D_F(bs3d_p_slab_march) < BS3D_GENERAL,
                                          2, 0, BS3D_P_SHAPE4 > : BS3D_F(bs3d_p_slab_march) < BS3D_POSITIVE, 2, 0,
                                          BS3D_P_SHAPE4 >, &l);
    if (status) return status;
    share.sections = l.plan.sections;
    l.plan.model.points[2] = march->total;
    return trid_launch_with(early && l.early, 1, l.slab_sweep, l.grid, l.block, l.bytes, stream, job->pairs, l.plan,
                            job->tables, job->v, job->u, job->ends, share) == cudaSuccess
               ? BS3D_OK
               : BS3D_LAUNCH_FAILED;
}

/* x by itself: the lines of planes planes of v, and of both ends of sections sections. */
template <int unused>
static void BS3D_F(bs3d_p_slab_x)(int *status, const BS3D_F(bs3d_slab_march) * march, int planes, int sections,
                                  cudaStream_t stream)
{
    const BS3D_F(bs3d_p_job) *job = &march->job;
    bs3d_p_plan plan = job->plan;
    plan.model.points[2] = planes;
    plan.sections = sections;
    const int nx = plan.model.points[0], lines = plan.model.points[1] * (planes + 2 * sections),
              warps = BS3D_P_X_WARPS(nx <= 512 ? 16 : 32), blocks = (lines - 1) / warps + 1,
              most = 3 * bs3d_p_attribute(cudaDevAttrMultiProcessorCount);
    bs3d_p_launch_next(status, nx <= 512 ? BS3D_F(bs3d_p_implicit2_x) < 16 > : BS3D_F(bs3d_p_implicit2_x) < 32 >,
                       (unsigned)(blocks < most ? blocks : most), (unsigned)(32 * warps), 0, stream, plan, job->tables,
                       job->v, job->ends);
}

/* Solves   an implicit step, upward: right-hand side, x lines and forward elimination in z of BS3D_ALL; or of
            BS3D_OUTER, what neighbours wait for, and then BS3D_INNER, the rest, which may run at the same time if
            march->fused is not 0; else, with nx > 512, it is what has to follow
   Needs    the values, and the copies of the neighbours' planes beside them
   Leaves   after BS3D_OUTER what bs3d_slab_messages names is ready to be sent
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int BS3D_F(bs3d_slab_up)(BS3D_F(bs3d_slab_march) * march, int part, cudaStream_t stream)
{
    const bs3d_slab *cut = &march->cut;
    const BS3D_F(bs3d_p_job) *job = &march->job;
    const BS3D_F(bs3d_p_launch) *up = &march->up;
    const int outer = cut->reach ? cut->reach : cut->sections, low = cut->below ? outer : 0,
              high = cut->above ? outer : 0;
    const int whole = !march->fused || cut->sections <= low + high; /* sections are not parted */
    int status = BS3D_OK, sections = cut->sections;
    bs3d_p_share share = {0, march->total, cut->sections, 0, cut->sections, 0, 0, cut->below, cut->below + cut->planes};
    if (part == BS3D_OUTER && !whole) {
        sections = low + high;
        share.jump = low;
        share.over = cut->sections - low - high;
    } else if (part == BS3D_INNER) {
        sections = whole ? 0 : cut->sections - low - high;
        share.first = low;
    }
    if (sections) {
        bs3d_p_plan plan = up->plan;
        dim3 grid = up->grid;
        plan.sections = cut->chain; /* from the first rows to the last ones */
        (march->fused ? grid.y : grid.z) = (unsigned)sections;
        bs3d_p_launch_next(&status, up->slab_sweep, grid, up->block, up->bytes, stream, job->pairs, plan, job->tables,
                           job->u, job->v, job->ends + plan.plane * cut->own, share);
    }
    if (!march->fused && part != BS3D_INNER) BS3D_F(bs3d_p_slab_x)<unused>(&status, march, 0, cut->chain, stream);
    if (!march->fused && part != BS3D_OUTER) BS3D_F(bs3d_p_slab_x)<unused>(&status, march, march->total, 0, stream);
    return status;
}

/* Solves   an implicit step, downward: the chain of section ends, back substitution in z, y lines, and the update, of
            the neighbours' planes too that the slab has a copy of
   Needs    bs3d_slab_up of all of it, and what the other slabs have sent
   Leaves   the values and the copies
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int BS3D_F(bs3d_slab_down)(BS3D_F(bs3d_slab_march) * march, cudaStream_t stream)
{
    const bs3d_slab *cut = &march->cut;
    const BS3D_F(bs3d_p_job) *job = &march->job;
    const int *n = march->problem.points, L = BS3D_P_LINES(BS3D_P_K(n[1]));
    const long long plane = job->plan.plane;
    int status = BS3D_OK;
    bs3d_p_launch_next(&status,
                       cut->chain <= 8    ? BS3D_F(bs3d_p_slab_ends) < 8 >
                       : cut->chain <= 16 ? BS3D_F(bs3d_p_slab_ends) < 16 >
                                          : BS3D_F(bs3d_p_slab_ends) < BS3D_P_CHAIN >,
                       (unsigned)((plane - 1) / 128 + 1), 128, 0, stream, *cut, plane, march->links, job->ends);
    bs3d_p_launch_next(&status, march->down, dim3((unsigned)((n[0] - 1) / L + 1), (unsigned)cut->sections),
                       (unsigned)(32 * L), march->down_bytes, stream, job->plan, job->tables, job->v, job->u,
                       job->ends + plane * (cut->chain + cut->own - cut->sections));
    return status;
}

/* Solves   after a step, with BS3D_AMERICAN: no value, nor copy, is below the payoff; else nothing */
template <int unused = 0>
static int BS3D_F(bs3d_slab_exercise)(BS3D_F(bs3d_slab_march) * march, cudaStream_t stream)
{
    const bs3d_problem *o = &march->problem;
    int status = BS3D_OK;
    if (o->flags & BS3D_AMERICAN)
        bs3d_p_launch_next(&status, BS3D_F(bs3d_p_slab_payoff) < unused >,
                           dim3((unsigned)o->points[1], (unsigned)march->total), 128, 0, stream, *o, march->job.plan,
                           march->cut.first - march->cut.below, 1, march->job.u);
    return status;
}

/* Solves   the 64 values around the spot (bs3d_lane_greeks), as far as they lie in the slab's own planes, and zeros,
            into march->values, device memory: their sum over the slabs is all of them */
template <int unused = 0>
static int BS3D_F(bs3d_slab_values)(BS3D_F(bs3d_slab_march) * march, cudaStream_t stream)
{
    int status = BS3D_OK;
    bs3d_p_launch_next(&status, BS3D_F(bs3d_p_slab_around) < unused >, 1, 32, 0, stream, march->problem,
                       march->job.plan, march->cut, march->job.u, march->values);
    return status;
}

/* Solves   what a slab and another one, peer, send each other: in an explicit march as many planes as there are
            copies, after BS3D_ALL or BS3D_OUTER; in an implicit one ends of sections, before bs3d_slab_down
   Returns  how many messages, of as many bytes each way: 0 to 2, in the same order on both sides */
TB_HOST int BS3D_F(bs3d_slab_messages)(const BS3D_F(bs3d_slab_march) * march, int peer, bs3d_message *messages)
{
    const bs3d_slab *cut = &march->cut;
    const size_t plane = (size_t)march->job.plan.plane, bytes = plane * sizeof(BS3D_R);
    const int up = peer == cut->slab + 1, beside = up || peer == cut->slab - 1;
    if (peer == cut->slab || peer < 0 || peer >= cut->slabs || (!beside && (!march->implicit || cut->reach))) return 0;
    if (!march->implicit) {
        BS3D_R *border = march->job.u + plane * (size_t)(cut->below + (up ? cut->planes : 0));
        const size_t deep = plane * (size_t)cut->deep;
        messages->send = up ? border - deep : border;
        messages->receive = up ? border : border - deep;
        messages->bytes = bytes * (size_t)cut->deep;
        return 1;
    }
    BS3D_R *firsts = march->job.ends, *lasts = firsts + plane * (size_t)cut->chain;
    const size_t own = (size_t)cut->own, sections = (size_t)cut->sections, reach = (size_t)cut->reach;
    if (!reach) {
        size_t other = (size_t)peer * sections;
        messages[0].send = firsts + plane * own;
        messages[0].receive = firsts + plane * other;
        messages[1].send = lasts + plane * own;
        messages[1].receive = lasts + plane * other;
        messages[0].bytes = messages[1].bytes = bytes * sections;
        return 2;
    }
    /* Of the sections beside the border their rows that face it, and of all but the farthest the other rows too. */
    if (up) {
        messages[0].send = lasts + plane * (own + sections - reach);
        messages[0].receive = firsts + plane * (own + sections);
        messages[1].send = firsts + plane * (own + sections - reach + 1);
        messages[1].receive = lasts + plane * (own + sections);
    } else {
        messages[0].send = firsts + plane * own;
        messages[0].receive = lasts + plane * (own - reach);
        messages[1].send = lasts + plane * own;
        messages[1].receive = firsts + plane * (own - reach + 1);
    }
    messages[0].bytes = bytes * reach;
    messages[1].bytes = bytes * (reach - 1);
    return reach > 1 ? 2 : 1;
}
}
#endif /* BS3D_NO_LAUNCHES */

#if TB_HOST_SCOPE
/* ---- the host reference ------------------------------------------------------------------------------------------ */

/* Bytes of work for the host functions; 0 for a null pointer or points outside 4 .. 1024. */
TB_HOST size_t BS3D_F(bs3d_host_bytes)(const bs3d_problem *o)
{
    if (!o || !bs3d_p_sized(o)) return 0;
    return (2 * BS3D_F(bs3d_p_cells)(o->points) + 9 * 1024) * sizeof(BS3D_R);
}

/* The payoff in u; or (later) where that is more than u. */
TB_HOST void BS3D_F(bs3d_p_host_payoff)(const bs3d_problem *o, int later, BS3D_R *u)
{
    double ds[3];
    size_t at = 0;
    for (int axis = 0; axis < 3; axis++) ds[axis] = bs3d_p_spacing(o, axis);
    for (int k = 0; k < o->points[2]; k++)
        for (int j = 0; j < o->points[1]; j++)
            for (int i = 0; i < BS3D_F(bs3d_pitch)(o->points[0]); i++, at++) {
                BS3D_R payoff = i < o->points[0] ? (BS3D_R)bs3d_lane_payoff(o->payoff, o->flags, o->strike, i * ds[0],
                                                                            j * ds[1], k * ds[2])
                                                 : 0;
                if (!later || u[at] < payoff) u[at] = payoff;
            }
}

/* v = L u, or u + L u. */
TB_HOST void BS3D_F(bs3d_p_host_apply)(const bs3d_model *m, int identity, const BS3D_R *u, BS3D_R *v)
{
    const int nx = m->points[0], ny = m->points[1], nz = m->points[2], form = bs3d_p_form(m);
    const long long pitch = BS3D_F(bs3d_pitch)(nx), plane = pitch * ny;
    const BS3D_F(bs3d_pairs) pairs = BS3D_F(bs3d_lane_pairs)(m, identity);
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int k = 0; k < nz; k++) {
        BS3D_F(bs3d_row) z = BS3D_F(bs3d_lane_row)(m, 2, k);
        for (int j = 0; j < ny; j++) {
            BS3D_F(bs3d_row) y = BS3D_F(bs3d_lane_row)(m, 1, j);
            for (int i = 0; i < nx; i++) {
                long long at = i + pitch * j + plane * k;
                v[at] = BS3D_F(bs3d_lane_stencil)(form, &pairs, BS3D_F(bs3d_lane_row)(m, 0, i), y, z, u + at,
                                                  i < nx - 1, -(i > 0), j < ny - 1 ? pitch : 0, j > 0 ? -pitch : 0,
                                                  k < nz - 1 ? plane : 0, k > 0 ? -plane : 0);
            }
        }
    }
}

/* The lines of v along one axis by the factors l, r, q of that axis' matrix: points at distance step, lines beginning
   at a distance across within rows of them, those at a distance along. */
TB_HOST void BS3D_F(bs3d_p_host_lines)(int points, long long step, int across, long long across_step, int along,
                                       long long along_step, const BS3D_R *factors, BS3D_R *v)
{
    const BS3D_R *l = factors, *r = factors + 1024, *q = factors + 2048;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int b = 0; b < along; b++) {
        BS3D_R line[1024];
        for (int a = 0; a < across; a++) {
            BS3D_R *first = v + b * along_step + a * across_step;
            for (int i = 0; i < points; i++) line[i] = first[i * step];
            BS3D_F(trid_lane_solve)(points, l, r, q, line, line, 1);
            for (int i = 0; i < points; i++) first[i * step] = line[i];
        }
    }
}

/* Factors of an axis' matrix for trid_lane_solve. */
TB_HOST int BS3D_F(bs3d_p_host_factor)(const bs3d_model *m, int axis, BS3D_R *factors)
{
    BS3D_R *l = factors, *r = factors + 1024, *q = factors + 2048;
    for (int i = 0; i < m->points[axis]; i++) {
        double a, b, c;
        bs1d_lane_matrix(bs3d_axis_of(m, axis), 1, i, &a, &b, &c);
        l[i] = (BS3D_R)a;
        r[i] = (BS3D_R)b;
        q[i] = (BS3D_R)c;
    }
    return BS3D_F(trid_lane_factor)(m->points[axis], l, r, q, l, r, q, 1);
}

TB_HOST void BS3D_F(bs3d_p_host_explicit)(const bs3d_problem *o, BS3D_R *u)
{
    const bs3d_model m = bs3d_model_of(o);
    BS3D_R *v = u + BS3D_F(bs3d_p_cells)(m.points);
    if (o->payoff != BS3D_GIVEN) BS3D_F(bs3d_p_host_payoff)(o, 0, u);
    for (int s = 0; s < o->steps; s++) {
        BS3D_F(bs3d_p_host_apply)(&m, 1, u, v);
        memcpy(u, v, BS3D_F(bs3d_p_cells)(m.points) * sizeof *u);
        if (o->flags & BS3D_AMERICAN) BS3D_F(bs3d_p_host_payoff)(o, 1, u);
    }
}

TB_HOST int BS3D_F(bs3d_p_host_implicit)(const bs3d_problem *o, BS3D_R *u)
{
    const bs3d_model m = bs3d_model_of(o);
    const int nx = m.points[0], ny = m.points[1], nz = m.points[2];
    const long long pitch = BS3D_F(bs3d_pitch)(nx), plane = pitch * ny;
    size_t cells = BS3D_F(bs3d_p_cells)(m.points);
    BS3D_R *v = u + cells, *factors = v + cells;
    for (int axis = 0; axis < 3; axis++)
        if (BS3D_F(bs3d_p_host_factor)(&m, axis, factors + axis * 3 * 1024)) return BS3D_NOT_DOMINANT;
    if (o->payoff != BS3D_GIVEN) BS3D_F(bs3d_p_host_payoff)(o, 0, u);
    for (int s = 0; s < o->steps; s++) {
        BS3D_F(bs3d_p_host_apply)(&m, 0, u, v);
        BS3D_F(bs3d_p_host_lines)(nx, 1, ny, pitch, nz, plane, factors, v);
        BS3D_F(bs3d_p_host_lines)(ny, pitch, nx, 1, nz, plane, factors + 3 * 1024, v);
        BS3D_F(bs3d_p_host_lines)(nz, plane, nx, 1, ny, pitch, factors + 6 * 1024, v);
        for (int k = 0; k < nz; k++)
            for (int j = 0; j < ny; j++)
                for (int i = 0; i < nx; i++) u[i + pitch * j + plane * k] += v[i + pitch * j + plane * k];
        if (o->flags & BS3D_AMERICAN) BS3D_F(bs3d_p_host_payoff)(o, 1, u);
    }
    return BS3D_OK;
}

/* Makes the result of a march that ended with this status and these values; returns the status. */
TB_HOST int BS3D_F(bs3d_p_host_finish)(int status, const bs3d_problem *o, const BS3D_R *u, bs3d_result *result)
{
    BS3D_R v[64];
    if (!result) return status;
    if (status) {
        memset(result, 0xff, sizeof *result); /* every number is NaN */
        result->status = status;
        return status;
    }
    const long long pitch = BS3D_F(bs3d_pitch)(o->points[0]);
    for (int n = 0; n < 64; n++) v[n] = u[bs3d_p_around(o, n, pitch, pitch * o->points[1])];
    *result = BS3D_F(bs3d_lane_greeks)(o, v);
    return BS3D_OK;
}

/* Solves   the problem on the host, step by step: the reference for the explicit rungs
   Needs    work of bs3d_host_bytes; result may be null
   Leaves   the final values at the start of work, rows of bs3d_pitch elements (BS3D_GIVEN reads the first ones there).
            A call that is refused leaves its status in the result, and NaN for all numbers
   Returns  as bs3d_check */
TB_HOST int BS3D_F(bs3d_host_explicit)(const bs3d_problem *o, void *work, bs3d_result *result)
{
    int status = bs3d_check(o, 0);
    if (!status && !work) status = BS3D_BAD_ARGUMENT;
    if (!status) BS3D_F(bs3d_p_host_explicit)(o, (BS3D_R *)work);
    return BS3D_F(bs3d_p_host_finish)(status, o, (const BS3D_R *)work, result);
}

/* Solves   the problem on the host by the ADI factorisation A_x A_y A_z (u' - u) = L u, A_m = I - L_m, the discount
            being in A_x: the reference for the implicit rungs; else as bs3d_host_explicit */
TB_HOST int BS3D_F(bs3d_host_implicit)(const bs3d_problem *o, void *work, bs3d_result *result)
{
    int status = bs3d_check(o, 1);
    if (!status && !work) status = BS3D_BAD_ARGUMENT;
    if (!status) status = BS3D_F(bs3d_p_host_implicit)(o, (BS3D_R *)work);
    return BS3D_F(bs3d_p_host_finish)(status, o, (const BS3D_R *)work, result);
}
#endif /* TB_HOST_SCOPE */

#undef BS3D_R
#undef BS3D_F
#undef BS3D_P_REAL
#undef BS3D_P_NAME
#undef BS3D_P_VECTOR
#undef BS3D_P_SWEEP
#undef BS3D_P_SHAPE3
#undef BS3D_P_SHAPE4
#undef BS3D_P_SHAPE_UP
#undef BS3D_P_SHAPE_TURNED
#undef BS3D_P_SKEW
#undef BS3D_P_KEPT
#undef BS3D_P_LINES_8
#undef BS3D_P_LINES_16
#undef BS3D_P_LINES_32
#undef BS3D_P_TRANSPOSE_LEN
#undef BS3D_P_LINES_LEN
#undef BS3D_P_LINES_SOLVE_LEN
#endif /* BS3D_P_REAL */
