/* several.h - a room of trid/batch.h: several right-hand sides a matrix, and its LU factors.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Returns whether a side of x at p + k*pitch, k = low .. high, shares an element with an array at q. Only those within
   reach are looked at. */
template <class tb_real>
static int trid_p_batch_sides_meet(const trid_lines &lines, const tb_real *p, const tb_real *q, long long pitch,
                                   long long low, long long high)
{
    long long reach = 1, count[3] = {lines.n, lines.systems, lines.groups};
    long long steps[3] = {lines.step, lines.stride, lines.jump}, bytes = (long long)sizeof(tb_real);
    if (trid_p_lines_empty(lines)) return 0;
    for (int i = 0; i < 3; i++) reach += (steps[i] < 0 ? -steps[i] : steps[i]) * (count[i] - 1);
    if (pitch < 0) {
        long long least = -high;
        pitch = -pitch, high = -low, low = least;
    }
    size_t from = (size_t)p, to = (size_t)q;
    long long apart = from < to ? (long long)(to - from) / bytes : -((long long)(from - to) / bytes);
    if (pitch > 0) { /* |apart - k*pitch| <= reach, and one more for what division cuts off */
        long long first = (apart - reach - 1) / pitch - 1, last = (apart + reach + 1) / pitch + 1;
        if (first > low) low = first;
        if (last < high) high = last;
    }
    for (long long k = low; k <= high; k++)
        if (trid_lines_overlap(lines, (const tb_real *)(from + (size_t)(k * pitch * bytes)), q, sizeof(tb_real)))
            return 1;
    return 0;
}

/* The same with array k of a, b, c: elements of a are those from row 1 on, of c those before n-1, except if
   periodic. */
template <class tb_real>
static int trid_p_batch_sides_meet_matrix(const trid_lines &lines, int flags, int k, const tb_real *matrix,
                                          const tb_real *x, long long pitch, long long sides)
{
    const long long ends = k != 1 && (flags & TRID_BATCH_PERIODIC) == 0;
    trid_lines own = lines;
    own.n -= ends;
    if (flags & TRID_BATCH_SHARED)
        return trid_p_batch_within(lines, x, matrix + (k == 0 ? ends : 0), own.n, sides, pitch);
    if (k == 0) matrix += ends * lines.step;
    for (long long row = 0; row <= ends; row++)
        if (trid_p_batch_sides_meet(own, x + row * lines.step, matrix, pitch, 0, sides - 1)) return 1;
    return 0;
}

/* Checks the sizes and overlaps of the right-hand sides; d and x may be the same. */
template <class tb_real>
static int trid_p_batch_refuse_sides(const trid_lines &lines, long long sides, long long pitch, int flags,
                                     const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                                     const tb_real *x)
{
    const long long most = 1ll << 56;
    long long elements = lines.n * lines.systems * lines.groups, reach = 0, size = pitch < 0 ? -pitch : pitch;
    long long steps[3] = {lines.step, lines.stride, lines.jump}, count[3] = {lines.n, lines.systems, lines.groups};
    for (int i = 0; i < 3; i++) reach += (steps[i] < 0 ? -steps[i] : steps[i]) * (count[i] - 1);
    if (sides < 0 || sides > most / elements || pitch > most || pitch < -most) return TRID_BATCH_BAD_SIZE;
    if (sides < 2) return TRID_BATCH_OK;
    if (size > (most - reach) / (sides - 1)) return TRID_BATCH_BAD_SIZE;
    const tb_real *arrays[3] = {a, b, c};
    if (trid_p_batch_sides_meet(lines, x, x, pitch, 1, sides - 1)) return TRID_BATCH_OVERLAP;
    if (d != x && trid_p_batch_sides_meet(lines, x, d, pitch, 1 - sides, sides - 1)) return TRID_BATCH_OVERLAP;
    for (int i = 0; i < 3; i++)
        if (trid_p_batch_sides_meet_matrix(lines, flags, i, arrays[i], x, pitch, sides)) return TRID_BATCH_OVERLAP;
    return TRID_BATCH_OK;
}

/* Returns whether no block holds the systems beside their factors. They are then solved anew for each right-hand side
   ... */
static inline int trid_p_batch_lu_is_long(const trid_lines &lines)
{
    return lines.n > TRID_P_BATCH_ON_CHIP_LU;
}

/* ... in levels, with scratch, where no block holds them at all. */
static inline int trid_p_batch_lu_needs(const trid_lines &joined, int bytes, int flags)
{
    return trid_p_batch_lu_is_long(joined) && ((flags & TRID_BATCH_PERIODIC) || trid_p_lines_are_interleaved(joined) ||
                                               trid_p_batch_is_long(joined, bytes, 0));
}

/* Solves for one of these. */
template <int only, class tb_real>
static int trid_p_batch_launch_side(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &rows,
                                    const tb_real *d, tb_real *x, cudaStream_t stream)
{
    if (trid_p_batch_lu_needs(plan.lines, sizeof(tb_real), plan.flags))
        return trid_p_batch_launch_levels<tb_real, 0, TRID_P_BATCH_ON_CHIP_INTERLEAVED + 1, only>(plan, rows, d, x,
                                                                                                  stream);
    int status = TRID_BATCH_BAD_SIZE;
    if constexpr (!(only & TRID_BATCH_ONLY_INTERLEAVED))
        status =
            trid_p_batch_launch_contiguous<TRID_P_BATCH_HYBRID, TRID_P_BATCH_ON_CHIP_LU + 1>(plan, rows, d, x, stream);
    return status;
}

/* Returns what these launches know besides: where the matrix's corners are. Where there are no factors, the transposed
   matrix is the same arrays by other names, as in trid_p_batch_sides. */
template <class tb_real>
static trid_p_batch_more<tb_real> trid_p_batch_more_of(trid_p_batch_plan *plan, trid_p_batch_arrays<tb_real> *rows,
                                                       long long sides, long long pitch, tb_real *u)
{
    const long long end = (plan->n - 1) * rows->step;
    trid_p_batch_more<tb_real> more = {sides, pitch, rows->a, rows->c + end, u};
    if (trid_p_batch_lu_is_long(plan->lines)) plan->flags &= ~TRID_BATCH_FACTORED;
    if (plan->flags & TRID_BATCH_FACTORED) { /* there the kernels do it */
        if (plan->n == 1) rows->a = rows->c = rows->b;
        return more;
    }
    if (plan->flags & TRID_BATCH_TRANSPOSED) more.top = rows->c + end, more.bottom = rows->a;
    trid_p_batch_sides(*plan, rows->step, &rows->a, rows->b, &rows->c);
    return more;
}

/* Launches systems that a block holds beside their factors. */
template <class tb_real, int factor, int only = 0>
static int trid_p_batch_launch_lu(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &rows,
                                  const trid_p_batch_more<tb_real> &more, const tb_real *d, tb_real *x,
                                  cudaStream_t stream)
{
    int status = TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_as_interleaved<only>(plan)) {
        if constexpr (!(only & TRID_BATCH_ONLY_CONTIGUOUS))
            status = trid_p_batch_launch_lu_interleaved<tb_real, factor>(plan, rows, more, d, x, stream);
    } else if constexpr (!(only & TRID_BATCH_ONLY_INTERLEAVED)) {
        const trid_p_batch_lu_rows<tb_real, factor> both = {rows, more};
        status = trid_p_batch_launch_contiguous<TRID_P_BATCH_LU>(plan, both, d, x, stream);
    }
    return status;
}

#define TB_BODY "batch/several.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves every system of the arrays for `sides` right-hand sides: side k of d and x begins k*pitch elements on.
   Needs    as trid_batch_solve; x lies in all its sides at elements of its own, or d is x. sides may be 0, pitch
            negative. flags: TRID_BATCH_ADD, TRID_BATCH_TRANSPOSED;
            TRID_BATCH_PERIODIC: a of row 0 couples it to x[n-1] and c of row n-1 that to x[0], for n = 1 both x[0] to
            itself, for n = 2 in addition to c of row 0 and a of row 1;
            TRID_BATCH_FACTORED: b and c are r and u of trid_batch_factor, PERIODIC being here what it was there;
            TRID_BATCH_SHARED: a, b, c are one matrix (or its factors) for all systems, n elements each, contiguous,
            such as the periodic 1 4 1 of closed splines
   Returns  a status of enum trid_batch_status. report->status: with FACTORED what the factors tell of bad pivots
   Shared   contiguous: at most 48 KiB a block; interleaved: 128 KiB a multiprocessor where it has them (PERIODIC: 160)
   Cost     3 + 2 sides arrays moved (ADD: 3 + 3 sides; SHARED: no 3), where n <= 1024. Longer systems are solved a side
            at a time as by trid_batch_solve, 5 sides arrays and more, once more for a periodic one's last column
   Error    as trid_warp_lu_solve */
template <int only = 0>
static int trid_batch_several(trid_lines lines, long long sides, long long pitch, int flags, const tb_real *a,
                              const tb_real *b, const tb_real *c, const tb_real *d, tb_real *x,
                              const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const int known =
        TRID_BATCH_ADD | TRID_BATCH_SHARED | TRID_BATCH_TRANSPOSED | TRID_BATCH_PERIODIC | TRID_BATCH_FACTORED;
    const trid_batch_report none = {0, 0, 0, 0};
    int status, empty = trid_p_lines_empty(lines) || sides == 0;
    if (flags & ~known) return TRID_BATCH_BAD_FLAGS;
    status = empty || sides < 0 ? trid_lines_check(lines)
                                : trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const tb_real *)x, 0);
    if (!status && sides < 0) status = TRID_BATCH_BAD_SIZE;
    if (!status && !empty)
        status = trid_p_batch_refuse_sides(lines, sides, pitch, flags, a, b, c, d, (const tb_real *)x);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || empty) return status;
    trid_p_batch_arrays<tb_real> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    trid_p_batch_more<tb_real> more = trid_p_batch_more_of(&plan, &rows, sides, pitch, (tb_real *)0);
    const int is_long = trid_p_batch_lu_is_long(lines);
    if (trid_p_batch_is_not_compiled<only>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if (!is_long) return trid_p_batch_launch_lu<tb_real, 0, only>(plan, rows, more, d, x, stream);
    if constexpr (!(only & TRID_BATCH_ONLY_SHORT)) {
        if (flags & TRID_BATCH_PERIODIC) return trid_p_batch_launch_periodic<only>(plan, rows, more, d, x, stream);
        for (long long side = 0; side < sides && !status; side++) {
            status = trid_p_batch_launch_side<only>(plan, rows, d + side * pitch, x + side * pitch, stream);
            plan.report = none; /* the matrices are the same */
        }
    }
    return status;
}

/* Factors every matrix without pivoting: r = 1 / pivot and u = c / pivot, which trid_batch_several takes, with a, if
   TRID_BATCH_FACTORED is set.
   Needs    a, b, c, r, u in device memory, laid out by lines; r may be b and u may be c, else they share no element
            with the others. flags: TRID_BATCH_PERIODIC. report and scratch may be null
   Leaves   r and u of all rows. What they hold in the last two rows of a periodic system, and anywhere where n > 1024
            (there b and c: such systems are solved from these), is for trid_batch_several alone to know
   Returns  a status of enum trid_batch_status. report->status: of systems with n > 1024 always 0
   Cost     five arrays moved
   Error    as trid_warp_lu */
template <int only = 0>
static int trid_batch_factor(trid_lines lines, int flags, const tb_real *a, const tb_real *b, const tb_real *c,
                             tb_real *r, tb_real *u, const trid_batch_report *report, void *scratch,
                             cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const tb_real *const to[2] = {r, u}, *const from[3] = {a, b, c};
    if (flags & ~TRID_BATCH_PERIODIC) return TRID_BATCH_BAD_FLAGS;
    int status = trid_lines_check(lines), empty = trid_p_lines_empty(lines);
    if (status) return status;
    if (!empty) {
        if (lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
        if (!a || !b || !c || !r || !u) return TRID_BATCH_BAD_ARGUMENT;
        if (trid_lines_overlap(lines, r, u, sizeof(tb_real))) return TRID_BATCH_OVERLAP;
        for (int k = 0; k < 6; k++) /* r may be b, u may be c */
            if ((k % 3 != k / 3 + 1 || to[k / 3] != from[k % 3]) &&
                trid_p_batch_sides_meet_matrix(lines, flags, k % 3, from[k % 3], to[k / 3], 0, 1))
                return TRID_BATCH_OVERLAP;
    }
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || empty) return status;
    trid_p_batch_arrays<tb_real> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    trid_p_batch_more<tb_real> more = trid_p_batch_more_of(&plan, &rows, 0, 0, u);
    const int is_long = trid_p_batch_lu_is_long(lines);
    if (trid_p_batch_is_not_compiled<only>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if (!is_long) return trid_p_batch_launch_lu<tb_real, 1, only>(plan, rows, more, (const tb_real *)0, r, stream);
    const long long systems = lines.systems * lines.groups;
    if (plan.report.status &&
        cudaMemsetAsync(plan.report.status, 0, (size_t)systems * sizeof(int), stream) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    for (int k = 0; k < 2; k++) {
        if (to[k] == from[k + 1]) continue;
        trid_lines all = plan.lines;
        if (k == 1 && !(flags & TRID_BATCH_PERIODIC)) all.n--; /* c of row n-1 is not read */
        if (trid_launch(trid_p_batch_duplicate<tb_real>, trid_p_batch_grid(all.n * systems), dim3(256), 0, stream, all,
                        from[k + 1], all, k == 0 ? r : u) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
    }
    return TRID_BATCH_OK;
}

#endif /* TB_BODY */
