/* device.h - a room of fd1d.h, read once for each model and precision: the march in the registers of a warp or a block;
   kernels, shapes and launches.
   MIT licence, see LICENSE.

   A group of `lanes` lanes holds a problem, k points in each lane: point k l + i is element i of lane l. A group is a
   warp, or a block of several warps. */

#define fd1d_device_bytes FD_OF(device_bytes)
#define fd1d_device FD_OF(device)

enum {
    fd1d_p_longest_run = TB_BYTES == 4 ? 64 : 512, /* steps before the increment is recomputed */
    /* Rows that a lane's registers hold; more for a time-independent model without early exercise (fd1d_p_shape_of). */
    fd1d_p_most_rows = TB_BYTES == 4 && (int)fd1d_p_steady ? 16 : 8
};

/* A group's data about its problem, in shared memory, so that registers are left to the march. */
typedef struct {
    fd1d_tables h;
    fd_batch batch;
    int which, n, given; /* given: the largest magnitude that the march is given */
    int least;           /* for fd_p_chip_least */
    fd1d_step step;      /* the data of the current segment */
    tb_real *shared;     /* for a block: TRID_BLOCK_HYBRID_LEN elements for the solver, then 3 for each warp */
} fd1d_p_group;

/* Returns this thread's lane in its group. */
TB_D int fd1d_p_rank(int lanes)
{
    return trid_block_thread() % lanes;
}

/* Waits for the group's lanes. */
TB_D void fd1d_p_sync(int lanes)
{
    if (lanes > 32)
        __syncthreads();
    else
        __syncwarp(TB_FULL_WARP);
}

/* Returns the least n of the group's lanes; a block uses the word `least` of shared memory. */
TB_D int fd1d_p_least(int lanes, int n, int *least)
{
    if (lanes > 32) return fd_p_chip_least(1, n, least);
    TB_UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const int other = __shfl_xor_sync(TB_FULL_WARP, n, distance);
        n = other < n ? other : n;
    }
    return n;
}

/* Copies v to x[2 .. k+1], the previous lane's last two values to x[0] and x[1], and the next lane's first to
   x[k+2]. */
TB_D void fd1d_p_around(int k, int lanes, fd1d_p_group *g, const tb_real *v, tb_real *x)
{
    TB_UNROLL
    for (int i = 0; i < k; i++) x[i + 2] = v[i];
    x[0] = __shfl_up_sync(TB_FULL_WARP, v[k - 2], 1);
    x[1] = __shfl_up_sync(TB_FULL_WARP, v[k - 1], 1);
    x[k + 2] = __shfl_down_sync(TB_FULL_WARP, v[0], 1);
    if (lanes > 32) {
        const int warp = fd1d_p_rank(lanes) / 32, lane = fd1d_p_rank(lanes) % 32;
        tb_real *end = g->shared + TRID_BLOCK_HYBRID_LEN;
        if (lane == 31) end[3 * warp] = v[k - 2], end[3 * warp + 1] = v[k - 1];
        if (lane == 0) end[3 * warp + 2] = v[0];
        __syncthreads();
        if (lane == 0 && warp > 0) x[0] = end[3 * warp - 3], x[1] = end[3 * warp - 2];
        if (lane == 31 && warp < lanes / 32 - 1) x[k + 2] = end[3 * warp + 5];
        __syncthreads();
    }
}

/* Loads the rows of a lane's points or, if they depend on time, computes them. */
TB_D void fd1d_p_rows(int k, int lanes, const fd1d_p_group *g, const tb_real *time, fd1d_row *row)
{
    const fd1d_row *FD_P_RESTRICT rows = g->h.row;
    const fd_cell *FD_P_RESTRICT cells = g->h.cell;
    const tb_real *FD_P_RESTRICT numbers = g->h.number;
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const int at = i * lanes + fd1d_p_rank(lanes);
        if constexpr ((int)fd1d_p_steady) {
            row[i] = rows[at];
        } else {
            fd_numbers own;
            TB_UNROLL
            for (int q = 0; q < fd_p_numbers(0); q++) own.number[q] = numbers[q * k * lanes + at];
            const int inside = k * fd1d_p_rank(lanes) + i < g->n;
            row[i] = fd1d_p_row_of(inside, cells[at], fd_p_terms(g->h.t.parameters, &own, time));
        }
    }
    (void)rows, (void)cells, (void)numbers, (void)time;
}

/* Computes F(v) at the start (end 0) or the end (1) of a step, from the rows at that time. */
TB_D void fd1d_p_apply(int k, int lanes, fd1d_p_group *g, int end, const fd1d_row *row, const tb_real *v, tb_real *f)
{
    const fd1d_face *face = g->step.face;
    const int first = k * fd1d_p_rank(lanes);
    tb_real x[TRID_MOST_ROWS + 3] = {0};
    fd1d_p_around(k, lanes, g, v, x);
    TB_UNROLL
    for (int i = 0; i < k; i++) f[i] = fd1d_p_right(row[i], x[i + 1], x[i + 2], x[i + 3]);
    if (!g->step.adds && !g->step.thirds) return;
    TB_UNROLL
    for (int i = 0; i < k; i++)
        if (first + i == g->n - 1) f[i] += face[1].third[end] * (x[i] - x[i + 1]) + face[1].add[end];
    if (first == 0) f[0] += face[0].third[end] * (x[4] - x[3]) + face[0].add[end];
}

/* Sets the right-hand sides of faces whose values are given; the solution is the difference from w. */
TB_D void fd1d_p_given(int k, int lanes, fd1d_p_group *g, const tb_real *w, tb_real *right)
{
    if (!g->step.gives) return;
    TB_UNROLL
    for (int i = 0; i < k; i++)
        for (int side = 0; side < 2; side++)
            if (g->step.face[side].is_given && k * fd1d_p_rank(lanes) + i == (side ? g->n - 1 : 0))
                right[i] = g->step.face[side].given - w[i];
}

/* Computes the right-hand side of a step's first stage. If `rest` is not null, also stores there the part of the second
   stage's right-hand side that does not depend on the first stage's result. `extra` is the exercise multiplier
   times dt. */
template <int k, int lanes>
TB_D void fd1d_p_first_right(fd1d_p_group *g, const fd1d_row *start, const fd1d_row *end, const tb_real *extra,
                             const tb_real *u, tb_real *right, tb_real *rest)
{
    tb_real more[TRID_MOST_ROWS];
    fd1d_p_apply(k, lanes, g, 0, start, u, right);
    TB_UNROLL
    for (int i = 0; i < k; i++) more[i] = 0;
    if (g->step.changes) {
        fd1d_p_apply(k, lanes, g, 1, end, u, more);
        TB_UNROLL
        for (int i = 0; i < k; i++) more[i] = g->step.of.size * (more[i] - right[i]);
    }
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        if (rest) rest[i] = g->step.of.base[1][1] * right[i] + (g->step.of.about ? u[i] : more[i]) + extra[i];
        right[i] = g->step.of.base[0][1] * right[i] + more[i] + extra[i];
    }
    fd1d_p_given(k, lanes, g, u, right);
}

/* Computes a lane's rows of the matrix of a step. */
TB_D void fd1d_p_matrix_rows(int k, int lanes, const fd1d_p_group *g, const fd1d_row *row, tb_real *a, tb_real *b,
                             tb_real *c)
{
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const int point = k * fd1d_p_rank(lanes) + i;
        fd_lane_matrix(row[i].of, g->step.of.size, row[i].kill, &a[i], &b[i], &c[i]);
        if (point == 0) a[i] = 0, b[i] = g->step.face[0].middle, c[i] = g->step.face[0].near_by;
        if (point == g->n - 1) a[i] = g->step.face[1].near_by, b[i] = g->step.face[1].middle, c[i] = 0;
    }
}

/* Copies a right-hand side, with the third points of faces eliminated. */
TB_D void fd1d_p_reduced(int k, int lanes, fd1d_p_group *g, const tb_real *right, tb_real *y)
{
    TB_UNROLL
    for (int i = 0; i < k; i++) y[i] = right[i];
    if (!g->step.thirds) return;
    if (g->step.face[0].times < 0 && fd1d_p_rank(lanes) == 0) y[0] -= g->step.face[0].times * right[1];
    if (g->step.face[1].times < 0) {
        tb_real x[TRID_MOST_ROWS + 3] = {0};
        fd1d_p_around(k, lanes, g, right, x);
        TB_UNROLL
        for (int i = 0; i < k; i++)
            if (k * fd1d_p_rank(lanes) + i == g->n - 1) y[i] -= g->step.face[1].times * x[i + 1];
    }
}

/* Solves (1 - size A) y = right without stored factors of the matrix. */
TB_D void fd1d_p_solve(int k, int lanes, fd1d_p_group *g, const fd1d_row *row, const tb_real *right, tb_real *y)
{
    tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS];
    fd1d_p_reduced(k, lanes, g, right, y);
    fd1d_p_matrix_rows(k, lanes, g, row, a, b, c);
    if (lanes > 32) {
        __syncthreads(); /* the previous solve has been read */
        trid_block_hybrid(k, k * lanes, a, b, c, y, g->shared);
    } else {
        trid_warp_hybrid(k, lanes, k * lanes, a, b, c, y);
    }
}

/* Takes a run of steps with the factors f of their matrix, given the right-hand side of the first step. If crank, a
   literal, is 1, the steps must be Crank-Nicolson (inverse is 2), and no face may have a third point. */
TB_D void fd1d_p_run_steps(int k, fd1d_p_group *g, int run, int crank, int pcr_steps, const tb_real *f, tb_real *right,
                           tb_real *u)
{
    const tb_real inverse = g->step.inverse;
    for (int s = 0; s < run; s++) {
        tb_real y[TRID_MOST_ROWS];
        TB_UNROLL
        for (int i = 0; i < k; i++) y[i] = right[i];
        if (!crank) fd1d_p_reduced(k, 32, g, right, y);
        trid_warp_solve(k, 32, k * 32, pcr_steps, f, y);
        TB_UNROLL
        for (int i = 0; i < k; i++) {
            u[i] += y[i];
            right[i] = crank ? inverse * y[i] - right[i] : right[i] + (y[i] - right[i]) * inverse;
        }
    }
}

/* Returns whether fd1d_p_run_crank can take the current segment's runs. */
TB_D int fd1d_p_is_crank(const fd1d_p_group *g)
{
    const int half = g->step.inverse >= 2 && g->step.inverse <= 2, given = g->step.adds || g->h.t.found->sources;
    return half && !g->step.thirds && (TB_BYTES == 4 || !given);
}

/* Takes a run of Crank-Nicolson steps as fd1d_p_run_steps does. A step's increment is half the sum of its right-hand
   side and the next step's. Single precision therefore adds right-hand sides to u, while the solve waits for other
   lanes. Double precision needs no increments: (1 - size A) y = u gives u' = 2 y - u if F(u) is A u. `two` is 2, but
   not a literal: compilers would turn the multiplication into additions. */
TB_D void fd1d_p_run_crank(int k, int run, tb_real two, int pcr_steps, const tb_real *f, tb_real *right, tb_real *u)
{
    constexpr int increments = TB_BYTES == 4;
    tb_real *d = increments ? right : u;
    TB_UNROLL
    for (int i = 0; i < k && increments; i++) u[i] -= right[i] / 2;
    for (int s = 0; s < run; s++) {
        tb_real y[TRID_MOST_ROWS];
        TB_UNROLL
        for (int i = 0; i < k; i++) y[i] = d[i];
        TB_UNROLL
        for (int i = 0; i < k && increments; i++) u[i] += right[i];
        trid_warp_solve(k, 32, k * 32, pcr_steps, f, y);
        TB_UNROLL
        for (int i = 0; i < k; i++) d[i] = two * y[i] - d[i];
    }
    TB_UNROLL
    for (int i = 0; i < k && increments; i++) u[i] += right[i] / 2;
}

/* Takes step `at`, which has two stages. */
template <int k, int lanes>
FD_P_CALLED_D void fd1d_p_two_stages(fd1d_p_group *g, int at, const tb_real *extra, tb_real *u)
{
    fd1d_row start[k], end[k];
    tb_real right[k], y[k], z[k], rest[k];
    fd1d_p_rows(k, lanes, g, fd_p_time_of(&g->h.t, at, 0), start);
    fd1d_p_rows(k, lanes, g, fd_p_time_of(&g->h.t, at, 1), end);
    fd1d_p_first_right<k, lanes>(g, start, end, extra, u, right, rest);
    fd1d_p_solve(k, lanes, g, end, right, y);
    TB_UNROLL
    for (int i = 0; i < k; i++) z[i] = u[i] + y[i];
    fd1d_p_apply(k, lanes, g, 1, end, z, right);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        right[i] = g->step.of.base[1][3] * right[i] + rest[i] - (g->step.of.about ? z[i] : 0);
        if (g->step.of.about) u[i] = z[i]; /* the solution is the difference from this */
    }
    fd1d_p_given(k, lanes, g, u, right);
    fd1d_p_solve(k, lanes, g, end, right, y);
    TB_UNROLL
    for (int i = 0; i < k; i++) u[i] += y[i];
}

/* Copies one number per point from registers to memory that all lanes of the group see. */
TB_D void fd1d_p_keep(int k, int lanes, fd1d_p_group *g, const tb_real *u, tb_real *to)
{
    fd1d_p_sync(lanes); /* earlier contents have been read */
    TB_UNROLL
    for (int i = 0; i < k; i++)
        if (k * fd1d_p_rank(lanes) + i < g->n) to[k * fd1d_p_rank(lanes) + i] = u[i];
    fd1d_p_sync(lanes);
}

/* Applies a date's events to the values in memory. The date ends step `at`. */
FD_P_CALLED_D void fd1d_p_date(int lanes, fd1d_p_group *g, int at)
{
    const int date = g->step.of.date, rank = fd1d_p_rank(lanes);
    fd_p_most(&g->given, fd1d_p_happen(&g->h, date, at, rank, lanes, 0));
    fd1d_p_sync(lanes);
    if (fd_p_event(g->h.t.problem, date)->what & FD_RECORD)
        fd1d_p_record(&g->batch, &g->h, g->which, 1 + date, g->h.rest, rank, lanes);
}

/* Returns the group's first point whose value is not finite. Leaves this lane's largest magnitude in *largest. */
TB_D int fd1d_p_lost(int k, int lanes, fd1d_p_group *g, const tb_real *u, int *largest)
{
    int lost = FD_P_NONE;
    *largest = 0;
    TB_UNROLL
    for (int i = k - 1; i >= 0; i--) {
        if (!trid_finite(u[i])) lost = k * fd1d_p_rank(lanes) + i;
        *largest = fd_p_larger(*largest, (double)u[i]);
    }
    return fd1d_p_least(lanes, lost, &g->least);
}

/* Takes `run` steps of the current segment with the factors f of their matrix, or a single step if `early`, a literal,
   is 1. Short time steps need few PCR steps, and with a literal pcr_steps a solve has no branches, so small numbers are
   passed as literals. Each value of `early` has code of its own: shared code took up to 1.19 times as long
   (docs/pde_notes.md). */
template <int k, int early>
TB_D void fd1d_p_by_factors(fd1d_p_group *g, int run, int pcr_steps, const tb_real *f, const tb_real *extra, tb_real *u)
{
    constexpr int lanes = 32;
    tb_real right[k];
    fd1d_row row[k];
    fd1d_p_rows(k, lanes, g, g->h.t.time, row);
    fd1d_p_first_right<k, lanes>(g, row, row, extra, u, right, (tb_real *)0);
    if constexpr (early) {
        const int crank = g->step.inverse >= 2 && g->step.inverse <= 2 && !g->step.thirds;
        if (crank && pcr_steps == 0)
            fd1d_p_run_steps(k, g, 1, 1, 0, f, right, u);
        else if (crank && pcr_steps == 1)
            fd1d_p_run_steps(k, g, 1, 1, 1, f, right, u);
        else if (crank)
            fd1d_p_run_steps(k, g, 1, 1, pcr_steps, f, right, u);
        else
            fd1d_p_run_steps(k, g, 1, 0, pcr_steps, f, right, u);
    } else if (run == 1 || !fd1d_p_is_crank(g)) {
        fd1d_p_run_steps(k, g, run, 0, pcr_steps, f, right, u);
    } else {
        const tb_real two = g->step.inverse;
        if (pcr_steps == 0)
            fd1d_p_run_crank(k, run, two, 0, f, right, u);
        else if (pcr_steps == 1)
            fd1d_p_run_crank(k, run, two, 1, f, right, u);
        else if (pcr_steps == 2)
            fd1d_p_run_crank(k, run, two, 2, f, right, u);
        else
            fd1d_p_run_crank(k, run, two, pcr_steps, f, right, u);
    }
}

/* Factors the matrix of the current segment. Returns the number of PCR steps that solves need. */
template <int k>
TB_D int fd1d_p_factor(fd1d_p_group *g, tb_real *f)
{
    constexpr int lanes = 32;
    tb_real a[k], b[k], c[k];
    fd1d_row row[k];
    int pcr_steps;
    fd1d_p_rows(k, lanes, g, g->h.t.time, row);
    fd1d_p_matrix_rows(k, lanes, g, row, a, b, c);
    trid_warp_factor(k, lanes, k * lanes, a, b, c, f, &pcr_steps);
    return trid_warp_uniform(pcr_steps);
}

/* Takes step `at` without stored factors of its matrix. On entry, row holds the rows at the end of the previous step,
   except before step 0; on return, those at the end of this step. */
template <int k, int lanes>
TB_D void fd1d_p_by_matrix(fd1d_p_group *g, int at, fd1d_row *row, const tb_real *extra, tb_real *u)
{
    const tb_real *start = fd_p_time_of(&g->h.t, at, 0), *end = fd_p_time_of(&g->h.t, at, 1);
    tb_real right[k], y[k];
    fd1d_row next[k];
    if (at == 0 || !fd_p_same(fd_p_numbers(3), start, fd_p_time_of(&g->h.t, at - 1, 1)))
        fd1d_p_rows(k, lanes, g, start, row);
    fd1d_p_rows(k, lanes, g, end, next);
    fd1d_p_first_right<k, lanes>(g, row, next, extra, u, right, (tb_real *)0);
    fd1d_p_solve(k, lanes, g, next, right, y);
    TB_UNROLL
    for (int i = 0; i < k; i++) u[i] += y[i], row[i] = next[i];
}

/* Applies early exercise after step `at`. */
TB_D void fd1d_p_early(int k, int lanes, const fd1d_p_group *g, int at, const tb_real *pays, tb_real *extra, tb_real *u)
{
    const int kind = g->h.t.problem->exercise;
    const double when = fd1d_p_when(&g->h.t, at);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const int point = k * fd1d_p_rank(lanes) + i;
        if (point < g->n) u[i] = fd_lane_exercise(kind, 1, fd_p_pays(&g->h.t, &point, when, pays[i]), u[i], &extra[i]);
    }
}

/* Copies a segment's data to the group. */
TB_D void fd1d_p_load_step(int lanes, fd1d_p_group *g, int segment)
{
    const int *from = (const int *)&g->h.step[segment];
    int *to = (int *)&g->step;
    fd1d_p_sync(lanes); /* the previous data have been read */
    for (int q = fd1d_p_rank(lanes); q < (int)(sizeof(fd1d_step) / sizeof(int)); q += lanes) to[q] = from[q];
    fd1d_p_sync(lanes);
}

/* Applies a date's events to `extra` and u. The date ends step `at`, the last step of its segment. */
template <int k, int lanes>
TB_D void fd1d_p_between(fd1d_p_group *g, int at, tb_real *extra, tb_real *u)
{
    const int first = k * fd1d_p_rank(lanes);
    fd1d_p_keep(k, lanes, g, extra, g->h.multiplier);
    fd1d_p_keep(k, lanes, g, u, g->h.value);
    fd1d_p_date(lanes, g, at);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        u[i] = first + i < g->n ? g->h.rest[first + i] : 0;
        extra[i] = first + i < g->n ? g->h.multiplier[first + i] : 0;
    }
}

/* Takes the steps of the current segment, with early exercise after each, and applies the events at the end of the
   segment. early, a literal, says whether the kernel serves early exercise.
   Returns  FD_OK or, in a watched march, the failure */
template <int k, int lanes, int early>
TB_D fd_status fd1d_p_segment_steps(fd1d_p_group *g, int watched, tb_real *f, fd1d_row *row, const tb_real *pays,
                                    tb_real *extra, tb_real *u)
{
    constexpr int factored = lanes == 32 && fd1d_p_steady;
    const int first = g->step.first, last = first + g->step.count, twice = g->step.of.stages > 1;
    const int longest = watched || !g->step.runs ? 1 : (int)fd1d_p_longest_run,
              early_now = g->h.t.problem->exercise != FD_EUROPEAN;
    int pcr_steps = 0, unused;
    if constexpr (factored) pcr_steps = twice ? 0 : fd1d_p_factor<k>(g, f);
    TB_LOOP
    for (int at = first; at < last;) {
        int lost = FD_P_NONE, run = 1;
        if (watched) lost = fd1d_p_least(lanes, fd1d_p_terms_lost(&g->h.t, at, fd1d_p_rank(lanes), lanes), &g->least);
        if (lost != FD_P_NONE) return fd_status_of(FD_MODEL_NAN, 0, -1, lost, -1, -1, at);
        if (twice) {
            tb_real v[k], more[k]; /* u stays in registers */
            TB_UNROLL
            for (int i = 0; i < k; i++) v[i] = u[i], more[i] = extra[i];
            fd1d_p_two_stages<k, lanes>(g, at, more, v);
            TB_UNROLL
            for (int i = 0; i < k; i++) u[i] = v[i];
            if constexpr (!factored) fd1d_p_rows(k, lanes, g, fd_p_time_of(&g->h.t, at, 1), row);
        } else if constexpr (factored) {
            /* The first step reaches the values given at faces; later increments are 0 there. */
            if (!early) run = at == first && g->step.gives ? 1 : last - at < longest ? last - at : longest;
            fd1d_p_by_factors<k, early>(g, run, pcr_steps, f, extra, u);
        } else {
            fd1d_p_by_matrix<k, lanes>(g, at, row, extra, u);
        }
        at += run;
        if (early && early_now) fd1d_p_early(k, lanes, g, at - 1, pays, extra, u);
        lost = watched && at < last ? fd1d_p_lost(k, lanes, g, u, &unused) : FD_P_NONE;
        if (lost != FD_P_NONE) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost, -1, -1, at - 1);
    }
    if (fd_p_event(g->h.t.problem, g->step.of.date)) fd1d_p_between<k, lanes>(g, last - 1, extra, u);
    const int lost = watched ? fd1d_p_lost(k, lanes, g, u, &unused) : FD_P_NONE;
    return fd_status_of(lost != FD_P_NONE ? FD_NOT_SOLVED : FD_OK, 0, -1, lost, -1, -1, last - 1);
}

/* Marches a problem, from its final values to u at time 0. A problem's first march makes no checks before its end. If a
   value is then not finite, a second, watched march searches each step for a number that is not finite, first among the
   model's terms, then among the values.
   Returns  FD_OK or the failure */
template <int k, int lanes, int early>
TB_D fd_status fd1d_p_march(fd1d_p_group *g, int watched, tb_real *u)
{
    constexpr int factored = lanes == 32 && fd1d_p_steady;
    const fd_p_tables *t = &g->h.t;
    tb_real f[factored ? TRID_WARP_FACTOR_LEN(k) : 1], extra[k], pays[k], dt = 1;
    fd1d_row row[factored ? 1 : k];
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const int point = k * fd1d_p_rank(lanes) + i;
        u[i] = pays[i] = point < g->n ? t->final[point] : 0;
        extra[i] = 0;
    }
    TB_LOOP
    for (int s = 0; s < t->found->segments; s++) {
        fd1d_p_load_step(lanes, g, s);
        TB_UNROLL
        for (int i = 0; i < k; i++) extra[i] = early ? extra[i] * (g->step.of.dt / dt) : 0;
        dt = g->step.of.dt;
        const fd_status status = fd1d_p_segment_steps<k, lanes, early>(g, watched, f, row, pays, extra, u);
        if (status.what) return status;
    }
    int largest;
    const int lost = fd1d_p_lost(k, lanes, g, u, &largest);
    if (lost != FD_P_NONE) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost, -1, -1, t->found->steps - 1);
    fd_status status = fd_p_status(FD_OK, 0);
    fd_p_grown(&status, g->given, -fd1d_p_least(lanes, -largest, &g->least));
    return status;
}

/* Marches a prepared problem, and writes its results. */
template <int k, int lanes, int early>
TB_D void fd1d_p_solve_problem(fd1d_p_group *g)
{
    const fd_p_findings *found = g->h.t.found;
    fd_status status = found->status;
    tb_real u[k];
    TB_LOOP
    for (int watched = 0; watched < 2 && !found->status.what; watched++) {
        status = fd1d_p_march<k, lanes, early>(g, watched, u);
        if (!status.what || status.what == FD_GREW) break;
        if (fd1d_p_rank(lanes) == 0) g->given = found->given;
        fd1d_p_sync(lanes);
    }
    const long long stride = 1;
    if (!status.what) fd1d_p_keep(k, lanes, g, u, g->h.value);
    fd_p_end(&g->batch, &g->h.t, g->which, status, g->h.value, &stride, fd1d_p_rank(lanes), lanes);
}

/* A launch's arguments: problems `first` .. `first + problems - 1` of a batch, and memory with room for them. */
typedef struct {
    fd_batch batch;
    const fd_model_parameters *parameters;
    unsigned char *memory;
    size_t bytes; /* of a problem */
    int first, problems;
} fd1d_p_launch;

/* How many points a lane holds, and how many lanes a group has. */
typedef struct {
    int per_lane, lanes;
} fd1d_p_shape;

/* Returns the number of points for which a problem is laid out. To add a size, also add a line in fd1d_p_run_size. */
TB_HD constexpr int fd1d_p_size(int points)
{
    return points <= 128 ? 128 : points <= 256 ? 256 : points <= 512 ? 512 : 1024;
}

/* Returns the shape for a problem of this size: a warp if its registers hold the points and, for a time-independent
   model, the factors of the matrix; otherwise a block, whose lanes hold fewer points. */
TB_HD constexpr fd1d_p_shape fd1d_p_shape_of(int size, int early)
{
    const int of_warp = size / 32, held = fd1d_p_steady && !early ? 128 / TB_BYTES : (int)fd1d_p_most_rows;
    const int per_lane = of_warp <= held ? of_warp : (int)fd1d_p_most_rows;
    return {per_lane, size / per_lane};
}

/* Returns the bytes of memory of a batch's problem. Leaves the addresses of its tables in *tables, unless null. */
TB_HD size_t fd1d_p_lay_out_problem(const fd_batch *batch, int early, unsigned char *memory, fd1d_tables *tables)
{
    const fd1d_p_shape shape = fd1d_p_shape_of(fd1d_p_size(batch->points[0]), early);
    return fd1d_p_lay_out(batch, shape.per_lane, shape.lanes, memory, tables);
}

/* Finds the tables of the launch's problem `which`. */
TB_HD void fd1d_p_find_tables(const fd1d_p_launch *launch, int which, fd1d_tables *h)
{
    const fd_problem *problem = &launch->batch.problem[launch->first + which];
    fd1d_p_lay_out_problem(&launch->batch, problem->exercise != FD_EUROPEAN,
                           launch->memory + (size_t)which * launch->bytes, h);
    h->t.problem = problem;
    h->t.parameters = &launch->parameters[launch->first + which];
}

/* Prepares the problems, one per block. A block may have any size up to FD1D_P_THREADS. Without the 1 in the launch
   bounds the compiler uses fewer registers than a thread may have, and spills. */
template <int unused = 0>
__launch_bounds__(FD1D_P_THREADS, 1) TRID_KERNEL void fd1d_p_prepare_kernel(fd1d_p_launch launch)
{
    const int which = (int)blockIdx.x;
    fd1d_tables h;
    fd1d_p_find_tables(&launch, which, &h);
    TB_LOOP
    for (int phase = 0; phase < (int)fd_p_phases; phase++) {
        fd1d_p_prepare(&launch.batch, &h, launch.first + which, phase, trid_block_thread(), trid_block_threads());
        __syncthreads();
    }
}

/* Returns how many threads prepare a problem. Preparation is mostly waiting. Many small blocks that are all on the
   device at once are therefore faster than large blocks one after another, as long as a thread has few points and
   steps. */
template <int unused = 0>
static int fd1d_p_prepare_threads(const fd1d_p_launch *launch)
{
    const long long room = 512ll * trid_device_attribute(cudaDevAttrMultiProcessorCount); /* for threads */
    const int points = launch->batch.points[0], steps = fd1d_p_steady ? 0 : launch->batch.steps;
    const int most = points > steps ? points : steps;
    int threads = FD1D_P_THREADS;
    while (threads > 32 && launch->problems * (long long)threads > room && most <= 8 * threads) threads /= 2;
    return threads;
}

/* Returns the least number of blocks that a multiprocessor must hold: few, so that a thread has registers for its
   steps. */
TB_HD constexpr int fd1d_p_resident(int k, int lanes)
{
    const int words = k * TB_BYTES / 4;
    return lanes > 32 ? 256 / lanes : words <= 8 ? 4 : 2;
}

/* Marches problems, one per group: those without early exercise (early 0), those with early exercise (1), or all
   (2). */
template <int k, int lanes, int early>
__launch_bounds__(lanes > 32 ? lanes : FD1D_P_THREADS, fd1d_p_resident(k, lanes)) TRID_KERNEL
    void fd1d_p_kernel(fd1d_p_launch launch)
{
    constexpr int groups = lanes > 32 ? 1 : FD1D_P_THREADS / lanes;
    __shared__ tb_real shared[lanes > 32 ? TRID_BLOCK_HYBRID_LEN + 3 * lanes / 32 : 1];
    __shared__ fd1d_p_group group[groups];
    const int which = (int)blockIdx.x * groups + trid_block_thread() / lanes;
    fd1d_p_group *g = &group[trid_block_thread() / lanes];
    if (which >= launch.problems) return;
    const int exercised = launch.batch.problem[launch.first + which].exercise != FD_EUROPEAN;
    if (early < 2 && early != exercised) return;
    if (fd1d_p_rank(lanes) == 0) {
        fd1d_p_find_tables(&launch, which, &g->h);
        g->batch = launch.batch, g->which = launch.first + which, g->shared = shared;
        g->n = g->h.t.found->points[0], g->given = g->h.t.found->given;
    }
    fd1d_p_sync(lanes);
    fd1d_p_solve_problem<k, lanes, early>(g);
}

/* Launches fd1d_p_kernel. */
template <int size, int early>
static cudaError_t fd1d_p_launch_march(const fd1d_p_launch *launch, cudaStream_t stream)
{
    constexpr fd1d_p_shape shape = fd1d_p_shape_of(size, early);
    constexpr int threads = shape.lanes > 32 ? shape.lanes : FD1D_P_THREADS, each = threads / shape.lanes;
    return trid_launch(fd1d_p_kernel<shape.per_lane, shape.lanes, early>, (unsigned)((launch->problems - 1) / each + 1),
                       threads, 0, stream, *launch);
}

/* Prepares and marches the problems of a launch. A time-independent model whose problems fit a warp has two kernels,
   because the registers for early exercise would slow its European problems. */
template <int size>
static cudaError_t fd1d_p_run(const fd1d_p_launch *launch, cudaStream_t stream)
{
    constexpr int two = (int)fd1d_p_steady && fd1d_p_shape_of(size, 0).lanes == 32;
    const unsigned threads = (unsigned)fd1d_p_prepare_threads(launch);
    cudaError_t error = trid_launch(fd1d_p_prepare_kernel<>, (unsigned)launch->problems, threads, 0, stream, *launch);
    if (error == cudaSuccess) error = fd1d_p_launch_march < size, two ? 0 : 2 > (launch, stream);
    if (error == cudaSuccess && two) error = fd1d_p_launch_march < size, two ? 1 : 2 > (launch, stream);
    return error;
}

/* Calls fd1d_p_run for the size of the batch's grids. */
template <int unused = 0>
static cudaError_t fd1d_p_run_size(const fd1d_p_launch *launch, cudaStream_t stream)
{
    const int size = fd1d_p_size(launch->batch.points[0]);
    return size == 128   ? fd1d_p_run<128>(launch, stream)
           : size == 256 ? fd1d_p_run<256>(launch, stream)
           : size == 512 ? fd1d_p_run<512>(launch, stream)
                         : fd1d_p_run<1024>(launch, stream);
}

/* Returns how many bytes of device memory suffice for full speed: for all problems of the batch, or for as many as keep
   a device busy; 0 if the batch's sizes are refused. The batch's pointers may still be null. */
template <int unused = 0>
static size_t fd1d_device_bytes(const fd_batch *batch)
{
    enum { busy = 8192 };
    if (fd_p_sizes(FD_FACTORS, batch)) return 0;
    return fd1d_p_lay_out_problem(batch, 0, NULL, NULL) * (size_t)(batch->problems < busy ? batch->problems : busy);
}

/* Solves the problems of a batch, as many at a time as memory holds.
   Needs    in device memory: the data to which pointers of the batch and its problems point, `parameters` (one per
            problem), and `memory`, aligned to 128 bytes. `bytes`, the size of `memory`, must suffice for at least one
            problem; MODEL_device_bytes says how many suffice for full speed
   Leaves   the status, values, grid and coordinates of each problem, once the stream has executed the launches
   Returns  FD_OK or FD_LAUNCH_FAILED; for a refused call, a status of fd_batch_check, FD_BAD_ARGUMENT for a null
            pointer or misaligned memory, or FD_NO_ROOM. The statuses of a refused call's problems are FD_BAD_ARGUMENT
            and, if the batch's sizes are valid, the results are NaN
   Cost     two or three launches for as many problems as fit into memory, and no transfer; fd1d.h says what a step
            costs */
template <int unused = 0>
static int fd1d_device(const fd_batch *batch, const fd_model_parameters *parameters, void *memory, size_t bytes,
                       cudaStream_t stream)
{
    const size_t each = fd_p_sizes(FD_FACTORS, batch) ? 1 : fd1d_p_lay_out_problem(batch, 0, NULL, NULL);
    const int wrong = fd_p_device_call(batch, parameters, memory, bytes, each, stream);
    if (wrong) return wrong;
    fd1d_p_launch launch = {*batch, parameters, (unsigned char *)memory, each, 0, 0};
    const size_t room = bytes / each;
    for (; launch.first < batch->problems; launch.first += launch.problems) {
        const int left = batch->problems - launch.first;
        launch.problems = (size_t)left < room ? left : (int)room;
        if (fd1d_p_run_size(&launch, stream) != cudaSuccess) return FD_LAUNCH_FAILED;
    }
    return FD_OK;
}
