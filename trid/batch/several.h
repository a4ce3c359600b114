/* several.h - a room of trid/batch.h: several right-hand sides per matrix, and its LU factors.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Checks the sizes and overlaps of a call's right-hand sides. d and x may be the same. */
template <class tb_real>
static int trid_p_batch_refuse_sides(const trid_p_batch_call<tb_real> &call, long long sides, long long pitch)
{
    const long long most = 1ll << 56;
    const trid_lines &lines = call.lines;
    const tb_real *arrays[3] = {call.a, call.b, call.c}, *x = call.x;
    if (!trid_p_lines_valid(lines, sides, pitch) || pitch > most || pitch < -most) return TRID_BATCH_BAD_SIZE;
    if (sides < 2) return TRID_BATCH_OK;
    if (trid_p_batch_sides_meet(lines, x, x, pitch, 1, sides - 1)) return TRID_BATCH_OVERLAP;
    if (call.d != x && trid_p_batch_sides_meet(lines, x, call.d, pitch, 1 - sides, sides - 1))
        return TRID_BATCH_OVERLAP;
    for (int i = 0; i < 3; i++)
        if (trid_p_batch_meets_matrix(lines, call.flags, i, arrays[i], x, sides, pitch)) return TRID_BATCH_OVERLAP;
    return TRID_BATCH_OK;
}

/* Returns the rows and the corners of the matrix, for a launch that solves with LU factors or stores them. Kernels
   transpose factors and periodic systems themselves, unless the systems are long. All other systems are transposed
   here: trid_p_batch_sides exchanges and shifts a and c, and the corners change places. Long systems lose the flag
   FACTORED: their r and u are b and c (trid_batch_factor). */
template <int factor, class tb_real>
static trid_p_batch_lu_rows<tb_real, factor> trid_p_batch_lu_rows_of(trid_p_batch_call<tb_real> *call, long long sides,
                                                                     long long pitch, tb_real *u)
{
    trid_p_batch_plan *plan = &call->work.plan;
    trid_p_batch_arrays<tb_real> rows = call->rows;
    const long long end = (plan->n - 1) * rows.step;
    trid_p_batch_more<tb_real> more = {sides, pitch, rows.a, rows.c + end, u};
    const int is_long = plan->n > TRID_P_BATCH_ON_CHIP_LU;
    if (is_long) plan->flags &= ~TRID_BATCH_FACTORED;
    const int periodic = plan->flags & TRID_BATCH_PERIODIC;
    if (periodic && !is_long) return {rows, more};
    const int transposed = plan->flags & TRID_BATCH_TRANSPOSED && !(plan->flags & TRID_BATCH_FACTORED);
    if (transposed) more.top = rows.c + end, more.bottom = rows.a;
    trid_p_batch_sides(plan->n, transposed, &rows);
    return {rows, more};
}

/* Solves or factors systems that, with their factors, fit into a block. */
template <int method, class bounds, int factor, class tb_real>
static int trid_p_batch_launch_lu(const trid_p_batch_work<tb_real> &work,
                                  const trid_p_batch_lu_rows<tb_real, factor> &rows)
{
    typedef trid_p_batch_how how;
    const trid_p_batch_lu_rows<tb_real, factor, 1> rings = {rows.rows, rows.more};
    const int flags = work.plan.flags, periodic = flags & TRID_BATCH_PERIODIC;
    if constexpr (method == how::several && bounds::interleaved)
        if (periodic && rows.more.sides == 1 && work.plan.n > 1 && !(flags & TRID_BATCH_TRANSPOSED) &&
            trid_p_batch_as_interleaved<bounds>(work.plan)) {
            const int status = trid_p_batch_launch_interleaved<how::one_ring, bounds::least, bounds::most>(work, rings);
            if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
        }
    constexpr int in_rows = method == how::factored ? how::several : method;
    return periodic ? trid_p_batch_launch_on_chip<method, bounds, how::several>(work, rings)
                    : trid_p_batch_launch_on_chip<method, bounds, in_rows>(work, rows);
}

#define TB_BODY "batch/several.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves every system for `sides` right-hand sides. Side k of d and of x begins k*pitch elements after side 0.
   Needs    as trid_batch_solve; no side of x shares an element with another side of x nor, unless d is x, with a side
            of d. `sides` may be 0, and `pitch` negative. Flags: TRID_BATCH_SEVERAL_FLAGS, among them
            TRID_BATCH_PERIODIC: a of row 0 couples row 0 to x[n-1], and c of row n-1 couples row n-1 to x[0]; for n = 1
            both couple x[0] to itself, for n = 2 they add to c of row 0 and a of row 1;
            TRID_BATCH_FACTORED: b and c are r and u of trid_batch_factor, called with the same PERIODIC;
            TRID_BATCH_SHARED: a, b, c are one matrix (or its factors) for all systems, n elements each, contiguous
   Returns  an enum trid_batch_status. With FACTORED, a system's status shows the bad pivots that the factors reveal
   Shared   contiguous: at most 48 KiB a block; interleaved: 128 KiB a multiprocessor for rows, and at most 16 KiB a
            block besides. Devices with less run other kernels. n > 1024: as trid_batch_solve
   Cost     3 + 2*sides arrays moved (ADD: 3 + 3*sides; SHARED: without the 3), if n <= 1024. Longer systems are solved
            one side at a time, as by trid_batch_solve: 5*sides arrays (ADD: 6*sides; SHARED: 2*sides), or 9*sides
            (ADD: 10*sides; SHARED: 3*sides) if trid_batch_solve moves nine or the systems are periodic
   Error    as trid_warp_lu_solve; n > 1024: as trid_batch_solve. The hybrid solves a single right-hand side from the
            matrix if all rows in the system's warp or tile are as dominant as trid_batch_pivoted asks. It does so for
            contiguous systems in full tiles (2^m rows, 16 to 512; f64: 8 to 512) and, unless they are transposed, for
            periodic ones: contiguous systems of 2 to 512 rows (f64, step not 1: 256), interleaved systems of 2 to
            256. So x's last digits may depend on the other systems of the warp or tile */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_several(trid_lines lines, long long sides, long long pitch, const tb_real *a, const tb_real *b,
                              const tb_real *c, const tb_real *d, tb_real *x, const trid_batch_options *options,
                              cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    typedef trid_p_batch_bounds<most, TRID_P_BATCH_ON_CHIP_LU + 1, only> longer;
    typedef trid_p_batch_how how;
    trid_p_batch_call<tb_real> call = {trid_p_lines_of(lines), a, b, c, d, x, options, stream};
    const int none = sides == 0 || trid_p_lines_empty(call.lines);
    if (call.flags & ~TRID_BATCH_SEVERAL_FLAGS) return TRID_BATCH_BAD_FLAGS;
    int status = none || sides < 0 ? trid_lines_check(lines) : trid_p_batch_refuse(&call, TRID_BATCH_SEVERAL_FLAGS);
    if (!status && (sides < 0 || !none)) status = trid_p_batch_refuse_sides(call, sides, pitch);
    if (!status) status = trid_p_batch_begin(&call);
    if (status || none) return status;
    trid_p_batch_work<tb_real> &work = call.work;
    const trid_p_batch_lu_rows<tb_real, 0> rows = trid_p_batch_lu_rows_of<0>(&call, sides, pitch, (tb_real *)0);
    if (trid_p_batch_is_not_compiled<bounds>(work.plan)) return TRID_BATCH_BAD_SIZE;
    if (lines.n <= TRID_P_BATCH_ON_CHIP_LU)
        return work.plan.flags & TRID_BATCH_FACTORED ? trid_p_batch_launch_lu<how::factored, bounds>(work, rows)
                                                     : trid_p_batch_launch_lu<how::several, bounds>(work, rows);
    if constexpr (bounds::has_long) {
        for (long long side = 0; side < sides && !status; side++, work.d += pitch, work.x += pitch) {
            status = work.plan.flags & TRID_BATCH_PERIODIC
                         ? trid_p_batch_launch_levels<how::periodic, bounds>(work, rows.rows, rows.more)
                         : trid_p_batch_launch<how::hybrid, longer>(work, rows.rows);
            work.plan.report = {0, 0, 0, 0}; /* the matrices are the same */
        }
    }
    return status;
}

/* Factors every matrix without pivoting: r = 1 / pivot and u = c / pivot. With TRID_BATCH_FACTORED, trid_batch_several
   takes them in place of b and c.
   Needs    a, b, c, r, u in device memory, laid out by lines; r may be b and u may be c; otherwise neither shares an
            element with another array. Flags: TRID_BATCH_FACTOR_FLAGS
   Leaves   r and u of all rows; without PERIODIC the last u is unspecified. Only trid_batch_several can interpret
            the last two rows of a periodic system and, if n > 1024, all rows (r and u are then b and c)
   Returns  a status of enum trid_batch_status. The status of systems with n > 1024 is always 0
   Cost     five arrays moved; if n > 1024, two for r unless r is b, and two for u unless u is c
   Error    as trid_warp_lu */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_factor(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *r,
                             tb_real *u, const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    const tb_real *const to[2] = {r, u}, *const from[3] = {a, b, c}, *none = 0;
    trid_p_batch_call<tb_real> call = {lines, a, b, c, none, r, options, stream};
    int status = trid_p_batch_refuse_lines(&call, TRID_BATCH_FACTOR_FLAGS);
    if (status) return status;
    lines = call.lines;
    if (!call.empty) {
        if (trid_p_batch_is_bad(a, b, c, r, u)) return TRID_BATCH_BAD_ARGUMENT;
        if (trid_lines_overlap(lines, r, u, sizeof(tb_real))) return TRID_BATCH_OVERLAP;
        for (int k = 0; k < 6; k++) /* r may be b, u may be c */
            if ((k % 3 != k / 3 + 1 || to[k / 3] != from[k % 3]) &&
                trid_p_batch_meets_matrix(lines, call.flags, k % 3, from[k % 3], to[k / 3]))
                return TRID_BATCH_OVERLAP;
    }
    status = trid_p_batch_begin(&call);
    if (status || call.empty) return status;
    const trid_p_batch_plan &plan = call.work.plan;
    const trid_p_batch_lu_rows<tb_real, 1> rows = trid_p_batch_lu_rows_of<1>(&call, 0, 0, u);
    if (trid_p_batch_is_not_compiled<bounds>(plan)) return TRID_BATCH_BAD_SIZE;
    if (lines.n <= TRID_P_BATCH_ON_CHIP_LU)
        return trid_p_batch_launch_lu<trid_p_batch_how::factor, bounds>(call.work, rows);
    const size_t bytes = (size_t)(lines.systems * lines.groups) * sizeof(int);
    if (plan.report.status && cudaMemsetAsync(plan.report.status, 0, bytes, stream) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    for (int k = 0; k < 2; k++) {
        if (to[k] == from[k + 1]) continue;
        trid_lines all = plan.lines;
        if (k == 1 && !(call.flags & TRID_BATCH_PERIODIC)) all.n--; /* c of row n-1 is not read */
        const long long blocks = (all.n * all.systems * all.groups + 255) / 256;
        if (trid_p_lines_are_interleaved(all)) all = {all.systems, all.stride, all.n, all.step, all.groups, all.jump};
        status = trid_p_batch_start(trid_p_batch_duplicate<tb_real>, blocks < 65536 ? blocks : 65536, 256, 0, stream,
                                    all, from[k + 1], k == 0 ? r : u);
        if (status) return status;
    }
    return TRID_BATCH_OK;
}

#endif /* TB_BODY */
