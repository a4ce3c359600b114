/* call.h - a room of trid/batch.h: checks the arguments of a call, and derives what kernels need from them.
   MIT licence, see LICENSE. */

/* Returns whether any of `count` elements from p on lies between the first and the last element of x. x has `sides`
   sides, one for each right-hand side, `pitch` elements apart. Gaps between elements of x count as parts of x. */
template <class tb_real>
static inline int trid_p_batch_within(const trid_lines &lines, const tb_real *x, const tb_real *p, long long count,
                                      long long sides = 1, long long pitch = 0)
{
    long long low = 0, high = 0, counts[4] = {lines.n, lines.systems, lines.groups, sides};
    long long steps[4] = {lines.step, lines.stride, lines.jump, pitch};
    for (int i = 0; i < 4; i++) (steps[i] < 0 ? low : high) += steps[i] * (counts[i] - 1);
    size_t from = (size_t)(x + low), to = (size_t)(x + high + 1), at = (size_t)p;
    return count > 0 && at < to && at + (size_t)count * sizeof(tb_real) > from;
}

/* Returns whether an array is null or not aligned to its elements. */
template <class tb_real, class... pointers>
static inline int trid_p_batch_is_bad(const tb_real *a, const pointers *...others)
{
    return (!a || ... || !others) || ((size_t)a | ... | (size_t)others) % sizeof(tb_real) != 0;
}

/* Returns whether a call is solved by the kernels for interleaved systems. If only the kernels for one layout are
   compiled, they solve short systems of either layout. */
template <class bounds>
static int trid_p_batch_as_interleaved(const trid_p_batch_plan &plan)
{
    return !bounds::interleaved ? 0 : !bounds::contiguous ? 1 : trid_p_lines_are_interleaved(plan.lines);
}
/* Returns whether no kernel is compiled for these systems. */
template <class bounds>
static int trid_p_batch_is_not_compiled(const trid_p_batch_plan &plan)
{
    return plan.n < bounds::least || plan.n > bounds::most ||
           (plan.n > TRID_P_BATCH_ON_CHIP_INTERLEAVED &&
            trid_p_batch_as_interleaved<bounds>(plan) != trid_p_lines_are_interleaved(plan.lines));
}

/* Returns the rows of a call as arrays. One matrix shared by all systems is contiguous, and has stride and jump 0. */
template <class tb_real>
static inline trid_p_batch_arrays<tb_real> trid_p_batch_rows_at(const trid_lines &lines, int flags, const tb_real *a,
                                                                const tb_real *b, const tb_real *c)
{
    const trid_lines joined = trid_p_lines_join(trid_p_lines_of(lines));
    trid_p_batch_arrays<tb_real> rows = {a, b, c, joined.step, joined.stride, joined.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    return rows;
}

/* Prepares rows for kernels. To transpose, exchanges a and c, and shifts both by a row. a of row 0 and c of row n-1
   then lie outside their system; kernels do not use them (in periodic systems they take both from trid_p_batch_more).
   For systems of one row, b stands in for a and c. */
template <class tb_real>
static inline void trid_p_batch_sides(int n, int transposed, trid_p_batch_arrays<tb_real> *rows)
{
    const tb_real *above = rows->c - rows->step, *below = rows->a + rows->step;
    if (transposed) rows->a = above, rows->c = below;
    if (n == 1) rows->a = rows->c = rows->b;
}

/* A call: the caller's arguments, then what follows from them. a, b, c are null if the matrix is made in registers. */
template <class tb_real>
struct trid_p_batch_call {
    trid_lines lines;
    const tb_real *a, *b, *c, *d;
    tb_real *x;
    const trid_batch_options *options;
    cudaStream_t stream;
    int flags = options ? options->flags : 0, empty = 0; /* empty: nothing to do */
    trid_p_batch_work<tb_real> work = {};
    trid_p_batch_arrays<tb_real> rows = {};
};

/* Returns whether any of the sides `low` .. `high` of an array shares an element with an array at q. Side k is at
   p + k*pitch. Only sides that lie near enough to q are tested. */
template <class tb_real>
static int trid_p_batch_sides_meet(const trid_lines &lines, const tb_real *p, const tb_real *q, long long pitch,
                                   long long low, long long high)
{
    long long reach = 1, count[3] = {lines.n, lines.systems, lines.groups};
    long long steps[3] = {lines.step, lines.stride, lines.jump}, bytes = (long long)sizeof(tb_real);
    if (trid_p_lines_empty(lines)) return 0;
    if (pitch < 0) return trid_p_batch_sides_meet(lines, p, q, -pitch, -high, -low);
    for (int i = 0; i < 3; i++) reach += (steps[i] < 0 ? -steps[i] : steps[i]) * (count[i] - 1);
    size_t from = (size_t)p, to = (size_t)q;
    long long apart = from < to ? (long long)(to - from) / bytes : -((long long)(from - to) / bytes);
    if (pitch > 0) { /* sides with |apart - k*pitch| <= reach, and one more at each end, as division rounds */
        long long first = (apart - reach - 1) / pitch - 1, last = (apart + reach + 1) / pitch + 1;
        if (first > low) low = first;
        if (last < high) high = last;
    }
    for (long long k = low; k <= high; k++)
        if (trid_lines_overlap(lines, (const tb_real *)(from + (size_t)(k * pitch * bytes)), q, sizeof(tb_real)))
            return 1;
    return 0;
}

/* Returns whether any side of x shares an element with array k of a, b, c; if all systems share the matrix, whether any
   element of the array lies between the first and the last one of x. Except in periodic systems, a has elements only
   from row 1 on, and c only up to row n-2. These n-1 rows are compared with rows 0 .. n-2 of x, and then with rows
   1 .. n-1. */
template <class tb_real>
static int trid_p_batch_meets_matrix(const trid_lines &lines, int flags, int k, const tb_real *matrix, const tb_real *x,
                                     long long sides = 1, long long pitch = 0)
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

/* Checks the lines of a call, and its flags, which must be among `known`. */
template <class tb_real>
static int trid_p_batch_refuse_lines(trid_p_batch_call<tb_real> *call, int known)
{
    const trid_lines lines = call->lines = trid_p_lines_of(call->lines);
    if (call->flags & ~known) return TRID_BATCH_BAD_FLAGS;
    const int status = trid_lines_check(lines);
    call->empty = !status && trid_p_lines_empty(lines);
    return !status && !call->empty && lines.n > TRID_BATCH_MAX_N ? (int)TRID_BATCH_BAD_SIZE : status;
}

/* Checks the lines, flags and arrays of a call. made: the matrix is made in registers, so there are no a, b, c. */
template <class tb_real>
static int trid_p_batch_refuse(trid_p_batch_call<tb_real> *call, int known, int made = 0)
{
    const tb_real *const matrix[3] = {call->a, call->b, call->c}, *d = call->d, *x = call->x;
    const int status = trid_p_batch_refuse_lines(call, known);
    if (status || call->empty) return status;
    if (trid_p_batch_is_bad(d, x) || (!made && trid_p_batch_is_bad(call->a, call->b, call->c)))
        return TRID_BATCH_BAD_ARGUMENT;
    if (d != x && trid_lines_overlap(call->lines, d, x, sizeof(tb_real))) return TRID_BATCH_OVERLAP;
    for (int k = 0; k < 3 && !made; k++)
        if (trid_p_batch_meets_matrix(call->lines, call->flags, k, matrix[k], x)) return TRID_BATCH_OVERLAP;
    return TRID_BATCH_OK;
}

/* Begins a call whose lines, flags and arrays were accepted: checks its scratch, makes its plan, and initialises the
   caller's `failed`. */
template <class tb_real>
static int trid_p_batch_begin(trid_p_batch_call<tb_real> *call)
{
    const trid_batch_options none = {0, 0, 0, 0, 0, 0, 0, 0}, &of = call->options ? *call->options : none;
    const int bytes = sizeof(tb_real), flags = call->flags;
    if (of.scratch && ((size_t)of.scratch % 16 || of.scratch_bytes < trid_batch_scratch(call->lines, flags, bytes)))
        return TRID_BATCH_BAD_SCRATCH;
    trid_p_batch_plan plan = trid_p_batch_plan();
    plan.lines = trid_p_lines_join(call->lines);
    plan.n = (int)call->lines.n;
    plan.flags = flags;
    plan.repair = (flags & TRID_BATCH_REPAIR) != 0;
    plan.scratch = of.scratch;
    plan.report = {of.status, of.residual, of.tolerance, of.failed};
    if (of.tolerance == 0) plan.report.tolerance = 128 * (bytes == 4 ? 0x1p-24 : 0x1p-53);
    call->work = {plan, call->d, call->x, call->stream, of.device};
    call->rows = trid_p_batch_rows_at(call->lines, flags, call->a, call->b, call->c);
    if (of.failed && (cudaMemsetAsync(of.failed, 0, sizeof *of.failed, call->stream) != cudaSuccess ||
                      cudaMemsetAsync(of.failed + 1, 0xff, sizeof *of.failed, call->stream) != cudaSuccess))
        return TRID_BATCH_LAUNCH_FAILED;
    return TRID_BATCH_OK;
}

/* Checks and begins a call that takes the flags `known`. The launch itself sets the flags `own` in addition. */
template <class tb_real>
static int trid_p_batch_accept(trid_p_batch_call<tb_real> *call, int known, int own = 0)
{
    if (call->flags & ~known) return TRID_BATCH_BAD_FLAGS;
    call->flags |= own;
    int status = trid_p_batch_refuse(call, known | own);
    if (!status) status = trid_p_batch_begin(call);
    if (!status && !call->empty)
        trid_p_batch_sides(call->work.plan.n, call->flags & TRID_BATCH_TRANSPOSED, &call->rows);
    return status;
}
