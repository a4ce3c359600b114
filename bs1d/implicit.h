/* implicit.h - a room of bs1d.h: the implicit rungs, which share the kernel template bs1d_p_implicit. It takes
   the steps by bs1d_p_all_steps or, for special options, by bs1d_p_special_steps. MIT licence, see LICENSE. */

#if TB_DEVICE_SCOPES

#ifndef TB_BODY

enum { BS1D_P_REFRESH = 16 }; /* steps after which bs1d_p_increment_steps recomputes its right-hand side from u */

#define bs1d_warp_implicit3_f32 tb_f32::bs1d_warp_implicit3
#define bs1d_warp_implicit3_f64 tb_f64::bs1d_warp_implicit3
#define bs1d_implicit1_f32 tb_f32::bs1d_implicit1
#define bs1d_implicit1_f64 tb_f64::bs1d_implicit1
#define bs1d_implicit2_f32 tb_f32::bs1d_implicit2
#define bs1d_implicit2_f64 tb_f64::bs1d_implicit2
#define bs1d_implicit3_f32 tb_f32::bs1d_implicit3
#define bs1d_implicit3_f64 tb_f64::bs1d_implicit3
#define bs1d_implicit4_f32 tb_f32::bs1d_implicit4
#define bs1d_implicit4_f64 tb_f64::bs1d_implicit4

#define TB_BODY "../bs1d/implicit.h"
#include "../trid/twice.h"

#else /* TB_BODY: C over tb_real */

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* The data of an implicit step. */
typedef struct {
    int k, lanes;                      /* literals */
    tb_real variance, drift, discount; /* of the model, times the plan's `size` */
    tb_real least;                     /* upwinding: lambda_j is at least j times `least` */
    tb_real left_out;                  /* omitted from the last row of the matrix (bs1d_lane_matrix) */
    int points, first /* row of this lane */, pcr_steps;
    const tb_real *f; /* factored matrix, or null: build it in each step */
    tb_real *shared;  /* lanes = 64: 192 elements for the solver, 8 for the halo */
} bs1d_p_step_data;

/* Builds rows of I - size A in the working precision. Rows from `points` on are copies of row 0, which has no
   couplings. `special`, a literal, says whether there may be upwinding. */
TB_D void bs1d_p_matrix_now(bs1d_p_step_data s, int special, tb_real *a, tb_real *b, tb_real *c)
{
    TB_UNROLL
    for (int i = 0; i < s.k; i++) {
        tb_real j = (tb_real)(s.first + i < s.points ? s.first + i : 0), gamma = s.drift * j;
        tb_real lambda = s.variance * j * j;
        if (special) lambda = bs1d_p_max(lambda, s.least * j);
        if (s.first + i == s.points - 1) lambda = -gamma; /* this gives the last row */
        a[i] = gamma - lambda;
        b[i] = 1 + s.discount + 2 * lambda;
        c[i] = -lambda - gamma;
    }
}

/* Computes g = size A u or, for Crank-Nicolson, twice that, from the a and c of I - size A. Takes differences of
   neighbours first, for accuracy in single precision. */
TB_D void bs1d_p_increment(bs1d_p_step_data s, int crank, int call, const tb_real *a, const tb_real *c,
                           const tb_real *u, tb_real *g)
{
    const tb_real times = crank ? 2 : 1;
    tb_real x[TRID_MOST_ROWS + 2];
    bs1d_p_halo(s.k, s.lanes, 1, call, u, x, s.shared + 192);
    TB_UNROLL
    for (int i = 0; i < s.k; i++)
        g[i] = times * (a[i] * (x[i + 1] - x[i]) - c[i] * (x[i + 2] - x[i + 1]) - s.discount * x[i + 1]);
}

/* Solves M y = u with M = I - size A or, for the increment, M y = size A u (Crank-Nicolson, size = 1/2: M y = A u).
   Adds the multiplier, unless null, to the right-hand side; half of it if y is the value in the middle of a
   Crank-Nicolson step. Only special options pass a multiplier, and only they can have upwinding or a last row of M
   without its drift. The function builds the rows of M if there is no factored matrix, and for the increment. */
TB_D void bs1d_p_step_solve(bs1d_p_step_data s, int increment, int crank, int call, const tb_real *multiplier,
                            const tb_real *u, tb_real *y)
{
    const int special = multiplier != 0;
    tb_real a[TRID_MOST_ROWS] = {0}, b[TRID_MOST_ROWS] = {0}, c[TRID_MOST_ROWS] = {0};
    tb_real part = !increment && crank ? (tb_real)0.5 : 1;
    if (!s.f || increment) bs1d_p_matrix_now(s, special, a, b, c);
    if (increment) {
        bs1d_p_increment(s, crank, call, a, c, u, y);
    } else {
        TB_UNROLL
        for (int i = 0; i < s.k; i++) y[i] = u[i];
    }
    if (special) {
        TB_UNROLL
        for (int i = 0; i < s.k; i++) y[i] += part * multiplier[i];
        if (s.left_out != 0) {
            tb_real x[TRID_MOST_ROWS + 2];
            if (!increment) bs1d_p_halo(s.k, s.lanes, 1, call, u, x, s.shared + 192);
            TB_UNROLL
            for (int i = 0; i < s.k; i++) {
                if (s.first + i != s.points - 1) continue;
                a[i] = 0;
                b[i] = 1 + s.discount;
                if (!increment) y[i] += s.left_out * (x[i + 1] - x[i]);
            }
        }
    }
    if (s.lanes > 32) {
        __syncthreads(); /* all threads have read the shared memory of the previous solve */
        trid_block_hybrid(s.k, s.k * s.lanes, a, b, c, y, s.shared);
    } else if (s.f) {
        trid_warp_solve(s.k, s.lanes, s.k * s.lanes, s.pcr_steps, s.f, y);
    } else {
        trid_warp_hybrid(s.k, s.lanes, s.k * s.lanes, a, b, c, y);
    }
}

/* Returns the new u from the old one and y. */
TB_D tb_real bs1d_p_next(int increment, int crank, tb_real u, tb_real y)
{
    return increment ? u + y : crank ? 2 * y - u : y;
}

/* ---- implicit3 and implicit4: the matrix is factored once -------------------------------------------------------- */

/* Takes steps as bs1d_warp_implicit3 does. */
TB_D void bs1d_p_factored_steps(int k, int lanes, int steps, int crank, int active, int pcr_steps, const tb_real *f,
                                tb_real *u)
{
    steps = trid_warp_uniform(steps);
    for (int s = 0; s < steps; s++) {
        tb_real y[TRID_MOST_ROWS];
        TB_UNROLL
        for (int i = 0; i < k; i++) y[i] = u[i];
        trid_warp_solve(k, lanes, k * lanes, pcr_steps, f, y);
        TB_UNROLL
        for (int i = 0; i < k; i++) u[i] = active ? bs1d_p_next(0, crank, u[i], y[i]) : u[i];
    }
}

/* Takes implicit steps with the factored matrix M in the lanes that are active. A step solves M y = u; then u' = y or,
   if the literal `crank` is not 0, u' = 2y - u.
   Needs    k and lanes <= 32 as literals; f and pcr_steps from trid_warp_factor of M: I - A or, for Crank-Nicolson and
            its Rannacher start, I - A/2; `active`: the same in all lanes of a group, a literal 1 if all are active
   Lanes    all 32 of the warp; `steps` and pcr_steps are the same for all
   Leaves   u
   Shared   none
   Cost     for each step that of trid_warp_solve */
TB_D void bs1d_warp_implicit3(int k, int lanes, int steps, int crank, int active, int pcr_steps, const tb_real *f,
                              tb_real *u)
{
    pcr_steps = trid_warp_uniform(pcr_steps);
    /* Short time steps need no PCR steps, and a loop without them has no branches. With more than 16 rows a lane,
       registers are scarce and a second loop would only cost compile time. */
    if (k <= 16 && pcr_steps == 0)
        bs1d_p_factored_steps(k, lanes, steps, crank, active, 0, f, u);
    else
        bs1d_p_factored_steps(k, lanes, steps, crank, active, pcr_steps, f, u);
}

/* Takes steps in increments. M u' = u gives size A u' = u' - u, so the right-hand side of the next step is the
   increment of this one (for Crank-Nicolson, A u' = 2y - A u). A step costs one more addition per row than the direct
   form. Rounding errors would grow from step to step; therefore the function recomputes the right-hand side from u
   every BS1D_P_REFRESH steps. */
TB_D void bs1d_p_increment_steps(bs1d_p_step_data s, int steps, int crank, int pcr_steps, tb_real *u)
{
    steps = trid_warp_uniform(steps);
    for (int done = 0; done < steps; done += BS1D_P_REFRESH) {
        int some = steps - done < BS1D_P_REFRESH ? steps - done : BS1D_P_REFRESH;
        tb_real a[TRID_MOST_ROWS] = {0}, b[TRID_MOST_ROWS], c[TRID_MOST_ROWS] = {0}, g[TRID_MOST_ROWS];
        bs1d_p_matrix_now(s, 0, a, b, c);
        bs1d_p_increment(s, crank, 0, a, c, u, g);
        for (int t = 0; t < some; t++) {
            tb_real y[TRID_MOST_ROWS];
            TB_UNROLL
            for (int i = 0; i < s.k; i++) y[i] = g[i];
            trid_warp_solve(s.k, s.lanes, s.k * s.lanes, pcr_steps, s.f, y);
            TB_UNROLL
            for (int i = 0; i < s.k; i++) {
                u[i] += y[i];
                g[i] = crank ? 2 * y[i] - g[i] : y[i];
            }
        }
    }
}

/* ---- all steps, from maturity to 0 ------------------------------------------------------------------------------- */

/* Takes steps of a rung, the same number in all groups of the warp. Rung 5 is rung 4 in increments; `crank` is a
   literal. */
TB_D void bs1d_p_steps(bs1d_p_step_data s, int rung, int steps, int crank, int call, tb_real *u)
{
    if (s.f && rung == 5) {
        int pcr_steps = trid_warp_uniform(s.pcr_steps);
        if (s.k <= 16 && pcr_steps == 0) /* as in bs1d_warp_implicit3 */
            bs1d_p_increment_steps(s, steps, crank, 0, u);
        else
            bs1d_p_increment_steps(s, steps, crank, pcr_steps, u);
    } else if (s.f) {
        bs1d_warp_implicit3(s.k, s.lanes, steps, crank, 1, s.pcr_steps, s.f, u);
    } else {
        const int increment = rung == 2 || rung == 5;
        steps = trid_warp_uniform(steps);
        for (int i = 0; i < steps; i++) {
            tb_real y[TRID_MOST_ROWS];
            bs1d_p_step_solve(s, increment, crank, call + i, (const tb_real *)0, u, y);
            TB_UNROLL
            for (int j = 0; j < s.k; j++) u[j] = bs1d_p_next(increment, crank, u[j], y[j]);
        }
    }
}

/* Takes all steps of the groups of a warp, or of the one group of two warps. A group stands by if it has no option, one
   that is refused (a bad one, or one whose matrix is not diagonally dominant), or one that another kernel prices. The
   steps that the other groups have in common come first, at full speed; the rest follow one by one. */
TB_D void bs1d_p_all_steps(bs1d_p_step_data s, int rung, bs1d_p_plan plan, int stands_by, tb_real *u)
{
    const int increment = rung == 2 || rung == 5;
    int total = plan.implicit + plan.crank, start = bs1d_p_least(s.lanes, stands_by ? BS1D_P_NEVER : plan.implicit);
    int common = bs1d_p_least(s.lanes, stands_by ? BS1D_P_NEVER : plan.implicit > start ? 0 : plan.crank);
    if (start == BS1D_P_NEVER) return;
    bs1d_p_steps(s, rung, start, 0, 0, u);
    bs1d_p_steps(s, rung, common, 1, start, u);
    if (s.lanes >= 32) return;
    int longest = -bs1d_p_least(s.lanes, stands_by ? 0 : -total);
    for (int n = start + common; n < longest; n++) {
        tb_real y[TRID_MOST_ROWS];
        int crank = n >= plan.implicit, active = !stands_by && n < total;
        bs1d_p_step_solve(s, increment, crank, n, (const tb_real *)0, u, y);
        TB_UNROLL
        for (int j = 0; j < s.k; j++) u[j] = active ? bs1d_p_next(increment, crank, u[j], y[j]) : u[j];
    }
}

/* Takes all steps of a special option: one with early exercise, upwinding, or a last row of the matrix without its
   drift. Early exercise follows Ikonen and Toivanen: the multiplier is added to the right-hand side and subtracted from
   the result; the amount that then raises the result to the floor is the new multiplier. */
TB_D void bs1d_p_special_steps(bs1d_p_step_data s, int increment, bs1d_p_plan plan, const tb_real *floor, tb_real *u)
{
    int total = trid_warp_uniform(plan.implicit + plan.crank);
    tb_real multiplier[TRID_MOST_ROWS];
    TB_UNROLL
    for (int i = 0; i < s.k; i++) multiplier[i] = 0;
    for (int n = 0; n < total; n++) {
        tb_real y[TRID_MOST_ROWS];
        int crank = n >= plan.implicit;
        if (n == plan.implicit) {
            TB_UNROLL
            for (int i = 0; i < s.k; i++) multiplier[i] *= 2; /* from here on it belongs to a full step */
        }
        bs1d_p_step_solve(s, increment, crank, n, multiplier, u, y);
        TB_UNROLL
        for (int i = 0; i < s.k; i++) {
            tb_real free = bs1d_p_next(increment, crank, u[i], y[i]) - multiplier[i];
            u[i] = bs1d_p_max(free, floor[i]);
            multiplier[i] = u[i] - free;
        }
    }
}

#if TB_LAUNCHES && !defined BS1D_NO_LAUNCHES
/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* Returns the data of the steps; f is the memory for a factored matrix, or null. */
TB_D bs1d_p_step_data bs1d_p_step_data_of(int k, int lanes, bs1d_model m, double size, double left_out, int first,
                                          const tb_real *f, tb_real *shared)
{
    bs1d_p_step_data s;
    s.k = k;
    s.lanes = lanes;
    s.variance = (tb_real)(size * m.variance);
    s.drift = (tb_real)(size * m.drift);
    s.discount = (tb_real)(size * m.discount);
    s.least = m.upwind ? (tb_real)fabs(size * m.drift) : 0;
    s.left_out = (tb_real)left_out;
    s.points = m.points;
    s.first = first;
    s.pcr_steps = 5;
    s.f = f;
    s.shared = shared;
    return s;
}

/* Returns how many blocks a multiprocessor should hold, which limits the registers of a thread. A block has 128
   threads, or 64 if two warps share an option. Each number is the fastest that was tried, or the one that spills
   least. */
TB_HD constexpr int bs1d_p_implicit_resident(int rung, int special, int k)
{
#if TB_BYTES == 8
    return k > 8 || rung == 5 ? 2 : special ? 3 : 4;
#elif defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 1000 /* 3 blocks with k = 16, as below, would spill some bytes */
    return k > 8 || rung == 5 ? 2 : rung == 1 && !special ? 5 : 4;
#else
    return k == 16 && !special && (rung == 3 || rung == 4) ? 3 : k > 8 || rung == 5 ? 2 : rung == 1 && !special ? 5 : 4;
#endif
}

/* Prices the special options, or the others: in rung 4 those without BS1D_INCREMENT, in rung 5 those with it. Where
   `special` is 0, the kernel also reports the options that bs1d_p_load finds bad, except in rung 5. Each kernel reports
   those of its own options whose matrix is not diagonally dominant. */
template <int rung, int special, int k, int lanes>
__launch_bounds__(bs1d_p_threads(lanes), bs1d_p_implicit_resident(rung, special, k)) TRID_KERNEL
    void bs1d_p_implicit(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid)
{
    __shared__ tb_real all_shared[bs1d_p_threads(lanes) / lanes * bs1d_p_shared(lanes)];
    tb_real *shared = all_shared + threadIdx.x / lanes * bs1d_p_shared(lanes), u[k], f[TRID_WARP_FACTOR_LEN(k)];
    const bs1d_p_batch batch = {options, points, option, result, grid};
    bs1d_option o;
    bs1d_model m;
    double ra, rb, rc;
    int group = bs1d_p_group(lanes), first = k * bs1d_p_rank(lanes);
    int status = bs1d_p_load(lanes, group, batch, &o, &m);
    bs1d_p_plan plan = bs1d_p_plan_of((int)o.flags, (int)o.steps);
    double left_out = bs1d_lane_matrix(m, plan.size, points - 1, &ra, &rb, &rc);
    int increment = rung == 2 || (rung >= 4 && (o.flags & BS1D_INCREMENT) != 0);
    int own = special == (bs1d_p_special(o) || left_out != 0) && (special || rung < 4 || increment == (rung == 5));
    if (!own && status != BS1D_P_NONE) {
        status = BS1D_P_NONE;
        bs1d_p_idle(points, &o, &m);
        plan = bs1d_p_plan_of(0, 1);
    }
    if (bs1d_p_least(lanes, status == BS1D_P_NONE)) return;
    /* Start values come first, while registers are free. With up to 16 rows a lane, rung 4 is a little faster if
       they follow the factors. */
    const int factored = rung >= 3 && lanes <= 32, early = rung != 4 || k > 16;
    if (early) bs1d_p_start(k, group, first, batch, o, u);
    tb_real a[k], b[k], c[k];
    int dominant = bs1d_p_implicit_rows(k, m, plan.size, first, a, b, c);
    if (bs1d_p_any(lanes, !dominant)) {
        status = BS1D_NOT_DOMINANT;
        bs1d_p_idle(points, &o, &m);
        plan = bs1d_p_plan_of(0, 1);
        left_out = 0;
        TB_UNROLL
        for (int i = 0; i < k; i++) a[i] = c[i] = 0, b[i] = 1;
    }

    bs1d_p_step_data s = bs1d_p_step_data_of(k, lanes, m, plan.size, left_out, first, factored ? f : 0, shared);
    if (factored) trid_warp_factor(k, lanes, k * lanes, a, b, c, f, rung >= 4 ? &s.pcr_steps : (int *)0);
    if (!early) bs1d_p_start(k, group, first, batch, o, u);
    if (special) {
        tb_real floor[k];
        bs1d_p_floor(k, first, points, o, floor);
        bs1d_p_special_steps(s, increment, plan, floor, u);
    } else {
        bs1d_p_all_steps(s, rung, plan, status != 0, u);
    }
    if (lanes > 32) __syncthreads();
    bs1d_p_finish(k, lanes, group, batch, status, u, shared);
}

/* ---- launching the kernel ---------------------------------------------------------------------------------------- */

/* Launches a rung's kernel for the special options, or the one for the others. */
template <int rung, int special>
static int bs1d_p_launch_implicit(bs1d_p_batch batch, cudaStream_t stream)
{
    constexpr bool paired = !special && (TB_BYTES == 4 ? rung >= 3 : rung <= 4);
    constexpr bs1d_p_shape shape[] = {bs1d_p_shape_of(0, paired), bs1d_p_shape_of(1), bs1d_p_shape_of(2)};
    bs1d_p_kernel *const kernels[] = {bs1d_p_implicit<rung, special, shape[0].k, shape[0].lanes>,
                                      bs1d_p_implicit<rung, special, shape[1].k, shape[1].lanes>,
                                      bs1d_p_implicit<rung, special, shape[2].k, shape[2].lanes>};
    const int size = bs1d_p_size(batch.points);
    return bs1d_p_launch(kernels[size], shape[size].lanes, stream, batch);
}

/* Launches a rung: its kernel for the special options, and the one for the others. */
template <int rung>
static int bs1d_p_rung(bs1d_p_batch batch, cudaStream_t stream)
{
    const int status = bs1d_p_launch_implicit<rung, 0>(batch, stream);
    return status ? status : bs1d_p_launch_implicit<rung, 1>(batch, stream);
}

/* Prices a batch as bs1d_explicit1 does. */
template <int unused = 0>
static int bs1d_implicit1(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                          cudaStream_t stream)
{
    return bs1d_p_rung<1>({options, points, option, result, grid}, stream);
}

/* Prices a batch as bs1d_explicit1 does. */
template <int unused = 0>
static int bs1d_implicit2(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                          cudaStream_t stream)
{
    return bs1d_p_rung<2>({options, points, option, result, grid}, stream);
}

/* Prices a batch as bs1d_explicit1 does. */
template <int unused = 0>
static int bs1d_implicit3(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                          cudaStream_t stream)
{
    return bs1d_p_rung<3>({options, points, option, result, grid}, stream);
}

/* Prices a batch as bs1d_explicit1 does. */
template <int unused = 0>
static int bs1d_implicit4(int options, int points, const bs1d_option *option, bs1d_result *result, tb_real *grid,
                          cudaStream_t stream)
{
    const bs1d_p_batch batch = {options, points, option, result, grid};
    const int status = bs1d_p_rung<4>(batch, stream);
    return status ? status : bs1d_p_launch_implicit<5, 0>(batch, stream);
}
#endif

#endif /* TB_BODY */

#endif /* TB_DEVICE_SCOPES */
