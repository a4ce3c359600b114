/* solve.h - a room of trid/batch.h: x = A^-1 d, with matrices from arrays or made in registers, and with residuals.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Solves systems on chip, or with the kernels for long ones. With residuals, rows come only from arrays. */
template <int method, class bounds, class tb_real, class rows_type>
static int trid_p_batch_launch(const trid_p_batch_work<tb_real> &work, const rows_type &rows)
{
    if (trid_p_batch_is_not_compiled<bounds>(work.plan)) return TRID_BATCH_BAD_SIZE;
    if constexpr (bounds::has_long)
        if (work.plan.n > trid_p_batch_on_chip(work.plan.lines, sizeof(tb_real), method != trid_p_batch_how::hybrid))
            return trid_p_batch_launch_levels<trid_p_batch_how::solver_of(method), bounds>(work, rows);
    return trid_p_batch_launch_on_chip<method, bounds>(work, rows);
}

/* Makes a call on arrays. `known`: the flags that it takes; `own`: those that the launch itself sets. */
template <int method, class bounds, class tb_real>
static int trid_p_batch_make(trid_p_batch_call<tb_real> call, int known, int own = 0)
{
    const int status = trid_p_batch_accept(&call, known, own);
    return status || call.empty ? status : trid_p_batch_launch<method, bounds>(call.work, call.rows);
}

#define TB_BODY "batch/solve.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves every system of the arrays: x = A^-1 d, or x += A^-1 d.
   Needs    a, b, c, d, x in device memory, laid out as `lines` says. Flags: TRID_BATCH_SOLVE_FLAGS
   Returns  a status of enum trid_batch_status
   Shared   contiguous: at most 20 KiB a block, or 77 KiB if a column (one array of one system) exceeds 16 KiB;
            interleaved: at most 160 KiB a multiprocessor for rows (176 with 22 rows a thread, 200 with ADD), in
            clusters up to 32 KiB for messages, and at most 16 KiB a block besides. Devices with less run other kernels
   Cost     for systems of up to 16 KiB a column (interleaved: of up to 1024 rows, or 8192 in clusters): five arrays
            moved once (ADD: six), in one launch, and two small memsets if `failed` is requested. Longer systems with
            step 1 are cut into partitions of up to 14 KiB of a column. A system of at most 128 partitions costs the
            same, but in two launches. With more it takes five launches or more, and costs the same only if no
            coupling between the last unknowns of neighbouring partitions exceeds a unit roundoff. All other systems:
            nine arrays (ADD: ten), in three launches or more. A report on systems that are cut takes one launch more
   Error    as trid_warp_hybrid. In long systems with step 1, the couplings of a partition's last unknown to those of
            the partitions before and after it are dropped if both are at most a unit roundoff of the diagonal */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_solve(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                            tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    return trid_p_batch_make<trid_p_batch_how::hybrid, trid_p_batch_bounds<most, least, only>, tb_real>(
        {lines, a, b, c, d, x, options, stream}, TRID_BATCH_SOLVE_FLAGS);
}

/* Solves as trid_batch_solve does, and computes the residual of each system on chip, before x is stored.
   Needs    as trid_batch_solve. Flags: TRID_BATCH_CHECKED_FLAGS
   Returns  as trid_batch_solve
   Shared   contiguous: at most 45 KiB a block; interleaved: at most 192 KiB a multiprocessor for rows, and at most 16
            KiB a block besides. Devices with less run other kernels
   Cost     memory traffic as trid_batch_solve for systems of up to 8 KiB a column (interleaved: of up to 1024 rows);
            about 9 more operations a row. Longer systems: nine arrays; if interleaved, the rows are read once more
   Error    the residual is that of the solution alone, also with ADD. The roundings of its own evaluation
            change it by about 3 unit roundoffs; in double precision it is also rounded to a relative error of 2^-20,
            because only the upper 32 bits of each maximum are kept. On overflow it is inf or NaN: a failure */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_checked(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                              tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    return trid_p_batch_make<trid_p_batch_how::checked, trid_p_batch_bounds<most, least, only>, tb_real>(
        {lines, a, b, c, d, x, options, stream}, TRID_BATCH_CHECKED_FLAGS);
}

/* Solves as trid_batch_checked does, and takes a step of iterative refinement, in the same precision, where it is
   needed. If the residual of a thread's rows exceeds 4 unit roundoffs, all systems of its warp, block or tile are
   refined. Systems that no block holds are always refined.
   Needs    as trid_batch_checked
   Returns  as trid_batch_solve
   Cost     as trid_batch_checked in memory, and twice the arithmetic where x is refined. Systems that no block holds:
            21 arrays; if interleaved, the rows are read once more
   Error    refinement repairs the residual. Before and after it, the error of x is of the order of the condition number
            times the unit roundoff; refinement can increase it (docs/hybrid.md). The residual is as in
            trid_batch_checked. The last digits of x may depend on neighbours, as trid/batch.h says */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_refined(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                              tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    return trid_p_batch_make<trid_p_batch_how::refined, trid_p_batch_bounds<most, least, only>, tb_real>(
        {lines, a, b, c, d, x, options, stream}, TRID_BATCH_CHECKED_FLAGS, TRID_BATCH_REFINED);
}

/* Solves as trid_batch_solve does, with matrices made in registers by the function object `rows`: rows(system, row, &a,
   &b, &c) gives row `row` of the system with index `system`. The object must be copyable to the device and define

       template <class real> __device__ void operator()(long long system, int row, real *a, real *b, real *c) const

   It may hold parameters and pointers. What it gives for a of row 0 and c of row n-1 is not used.
   Needs    flags: TRID_BATCH_SOLVE_ROWS_FLAGS
   Returns  as trid_batch_solve
   Cost     two arrays moved, and one call of `rows` for each row. Systems solved in chunks: three arrays, two calls
   Error    as trid_warp_hybrid */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0, class rows_type>
static int trid_batch_solve_rows(trid_lines lines, const rows_type &rows, const tb_real *d, tb_real *x,
                                 const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    trid_p_batch_call<tb_real> call = {lines, 0, 0, 0, d, x, options, stream};
    int status = trid_p_batch_refuse(&call, TRID_BATCH_SOLVE_ROWS_FLAGS, 1);
    if (!status) status = trid_p_batch_begin(&call);
    return status || call.empty ? status : trid_p_batch_launch<trid_p_batch_how::hybrid, bounds>(call.work, rows);
}

#endif /* TB_BODY */
