/* solve.h - a room of trid/batch.h: x = A^-1 d of arrays or of matrices made in registers, with residuals where wanted.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Launches systems that need no scratch, or else long ones. With residuals rows are arrays. */
template <int method, class bounds, class tb_real, class rows_type>
static int trid_p_batch_launch(const trid_p_batch_plan &plan, const rows_type &rows, const tb_real *d, tb_real *x,
                               cudaStream_t stream)
{
    /* Kernels for interleaved and for long systems refine where the flags say so. */
    constexpr int of_others = method == trid_p_batch_how::refined ? trid_p_batch_how::checked : method;
    constexpr int least = bounds::least, most = bounds::most;
    if (trid_p_batch_is_not_compiled<bounds>(plan)) return TRID_BATCH_BAD_SIZE;
    if constexpr (bounds::has_long)
        if (trid_p_batch_is_long(plan.lines, sizeof(tb_real), method != trid_p_batch_how::hybrid))
            return trid_p_batch_launch_levels<tb_real, of_others, bounds>(plan, rows, d, x, stream);
    int status = TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_as_interleaved<bounds>(plan)) {
        if constexpr (bounds::interleaved)
            status = trid_p_batch_launch_interleaved<of_others, least, most>(plan, rows, d, x, stream);
    } else if constexpr (bounds::contiguous) {
        status = trid_p_batch_launch_contiguous<method, least, most>(plan, rows, d, x, stream);
    }
    return status;
}

/* Solves for arrays; flags are those of the options, and REFINED. */
template <int method, class bounds = trid_p_batch_all, class tb_real>
static int trid_p_batch_solve(trid_lines lines, int flags, trid_p_batch_arrays<tb_real> rows, const tb_real *d,
                              tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    const int plain = method == trid_p_batch_how::hybrid;
    const int known = plain ? TRID_BATCH_SOLVE_FLAGS : TRID_BATCH_CHECKED_FLAGS | TRID_BATCH_REFINED;
    if (trid_p_batch_flags(options) & TRID_BATCH_REFINED) return TRID_BATCH_BAD_FLAGS;
    trid_p_batch_plan plan;
    lines = trid_p_lines_of(lines);
    int status = trid_p_batch_refuse(lines, flags, known, rows.a, rows.b, rows.c, d, (const tb_real *)x, 0);
    if (!status) status = trid_p_batch_begin(lines, flags, sizeof(tb_real), options, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    if (plan.report.tolerance == 0) plan.report.tolerance = 128 * (sizeof(tb_real) == 4 ? 0x1p-24 : 0x1p-53);
    trid_p_batch_sides(plan, rows.step, &rows.a, rows.b, &rows.c);
    return trid_p_batch_launch<method, bounds>(plan, rows, d, x, stream);
}

#define TB_BODY "batch/solve.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves every system of the arrays: x = A^-1 d, or x += A^-1 d.
   Needs    a, b, c, d, x in device memory, laid out by lines. Flags: TRID_BATCH_SOLVE_FLAGS
   Returns  a status of enum trid_batch_status
   Shared   contiguous: at most 18.3 KiB a block; interleaved: 128 KiB a multiprocessor where it has them (ADD: 160)
   Cost     five arrays moved once (ADD: six), by one launch, and two small memsets if `failed` is asked for, for n up
            to 16 KiB of a column (with step 1; else 1024, in clusters more). Longer systems: nine arrays (ADD: ten) and
            0.03 (interleaved: 0.07) of one for scratch, by three launches or more
   Error    as trid_warp_hybrid */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_solve(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                            tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    const int flags = trid_p_batch_flags(options);
    const trid_p_batch_arrays<tb_real> rows = trid_p_batch_rows_at(lines, flags, a, b, c);
    return trid_p_batch_solve<trid_p_batch_how::hybrid, bounds>(lines, flags, rows, d, x, options, stream);
}

/* Solves as trid_batch_solve does, and computes the residual of each system on chip, before x is stored.
   Needs    as trid_batch_solve. Flags: TRID_BATCH_CHECKED_FLAGS
   Returns  as trid_batch_solve
   Shared   contiguous: at most 45 KiB a block; interleaved: 192 KiB a multiprocessor where it has them
   Cost     as trid_batch_solve in memory, with step 1 up to 8 KiB of a column; about 9 operations a row more. Longer
            systems: nine arrays; interleaved they read the rows once more
   Error    the residual is that of x before ADD adds it. It is exact up to the roundings of its own evaluation, about 3
            unit roundoffs, and in double precision to 2^-20 of itself: its parts are kept by their upper 32 bits */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_checked(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                              tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    const int flags = trid_p_batch_flags(options);
    const trid_p_batch_arrays<tb_real> rows = trid_p_batch_rows_at(lines, flags, a, b, c);
    return trid_p_batch_solve<trid_p_batch_how::checked, bounds>(lines, flags, rows, d, x, options, stream);
}

/* Solves as trid_batch_checked does, with one step of iterative refinement in the same precision.
   Needs    as trid_batch_checked
   Returns  as trid_batch_solve
   Cost     as trid_batch_checked in memory, and twice the arithmetic. Longer systems: 21 arrays
   Error    refinement repairs the residual; the error of x stays of the order of condition times roundoff and can grow
            fourfold (docs/hybrid.md). The residual is as trid_batch_checked's */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_refined(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                              tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    const int flags = trid_p_batch_flags(options) | TRID_BATCH_REFINED;
    const trid_p_batch_arrays<tb_real> rows = trid_p_batch_rows_at(lines, flags, a, b, c);
    return trid_p_batch_solve<trid_p_batch_how::refined, bounds>(lines, flags, rows, d, x, options, stream);
}

/* Solves as trid_batch_solve does, with matrices made in registers: rows(system, row, &a, &b, &c) gives a row of the
   system with this index. rows can be copied to the device and has

       template <class real> __device__ void operator()(long long system, int row, real *a, real *b, real *c) const

   It may hold parameters and pointers. What it gives for a of row 0 and c of row n-1 is not used.
   Needs    flags: TRID_BATCH_SOLVE_ROWS_FLAGS
   Returns  as trid_batch_solve
   Cost     two arrays moved, and what rows costs
   Error    as trid_warp_hybrid */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0, class rows_type>
static int trid_batch_solve_rows(trid_lines lines, const rows_type &rows, const tb_real *d, tb_real *x,
                                 const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    const int flags = trid_p_batch_flags(options);
    const tb_real *none = 0;
    trid_p_batch_plan plan;
    lines = trid_p_lines_of(lines);
    int status =
        trid_p_batch_refuse(lines, flags, TRID_BATCH_SOLVE_ROWS_FLAGS, none, none, none, d, (const tb_real *)x, 1);
    if (!status) status = trid_p_batch_begin(lines, flags, sizeof(tb_real), options, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    return trid_p_batch_launch<trid_p_batch_how::hybrid, bounds>(plan, rows, d, x, stream);
}

#endif /* TB_BODY */
