/* call.h - a room of trid/batch.h: the arguments of a call, checked, and what they come to.
   MIT licence, see LICENSE. */

/* Returns whether the systems of a plan are interleaved. */
static inline int trid_p_batch_is_interleaved(const trid_p_batch_plan &plan)
{
    return trid_p_lines_are_interleaved(plan.lines);
}

/* Returns whether both the rows and the right-hand sides follow one another in memory. */
template <class rows_type>
static inline int trid_p_batch_is_contiguous(const trid_p_batch_plan &plan, const rows_type &rows)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays)
        return plan.lines.step == 1 && rows.step == 1;
    else
        return plan.lines.step == 1;
}

/* Returns whether systems are too long for a chip. checked: 0, 1, or 2 for a solve with pivoting. */
static inline int trid_p_batch_is_long(const trid_lines &joined, int bytes, int checked)
{
    return joined.n > (checked == 2                           ? TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, joined.step == 1)
                       : trid_p_lines_are_interleaved(joined) ? TRID_P_BATCH_ON_CHIP_INTERLEAVED
                                                              : TRID_P_BATCH_ON_CHIP(bytes, checked));
}

/* Returns whether one of `count` elements from p on lies within the reach of x with all its sides, be it between its
   elements. */
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

/* Returns whether an array is off the alignment of its elements. */
template <class tb_real, class... pointers>
static inline int trid_p_batch_is_misaligned(const tb_real *a, const pointers *...others)
{
    return ((size_t)a | ... | (size_t)others) % sizeof(tb_real) != 0;
}

/* Checks the arguments of a call; a, b, c are null where the matrix is made in registers. */
template <class tb_real>
static int trid_p_batch_refuse(const trid_lines &lines, int flags, int known, const tb_real *a, const tb_real *b,
                               const tb_real *c, const tb_real *d, const tb_real *x, int made)
{
    if (flags & ~known) return TRID_BATCH_BAD_FLAGS;
    int status = trid_lines_check(lines);
    if (status) return status;
    if (trid_p_lines_empty(lines)) return TRID_BATCH_OK;
    if (lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
    if (!d || !x || (!made && (!a || !b || !c))) return TRID_BATCH_BAD_ARGUMENT;
    if (trid_p_batch_is_misaligned(a, b, c, d, x)) return TRID_BATCH_BAD_ARGUMENT;
    if (d != x && trid_lines_overlap(lines, d, x, sizeof(tb_real))) return TRID_BATCH_OVERLAP;
    /* The elements of a are those from row 1 on, of c those before row n-1, except in periodic systems. So rows 0 ..
       n-2 and 1 .. n-1 of x are asked for. */
    const long long ends = (flags & TRID_BATCH_PERIODIC) == 0, first[3] = {ends, 0, 0};
    const long long rows[3] = {lines.n - ends, lines.n, lines.n - ends};
    const tb_real *matrix[3] = {a, b, c};
    for (int k = 0; k < 3 && !made; k++) {
        if (!(flags & TRID_BATCH_SHARED)) {
            trid_lines own = lines;
            own.n = rows[k];
            const tb_real *from = matrix[k] + first[k] * lines.step;
            for (long long row = 0; row <= lines.n - own.n; row++)
                if (trid_lines_overlap(own, from, x + row * lines.step, sizeof(tb_real))) return TRID_BATCH_OVERLAP;
        } else if (trid_p_batch_within(lines, x, matrix[k] + first[k], rows[k])) {
            return TRID_BATCH_OVERLAP;
        }
    }
    return TRID_BATCH_OK;
}

/* Returns the flags of a call. */
static inline int trid_p_batch_flags(const trid_batch_options *options)
{
    return options ? options->flags : 0;
}

/* Makes the plan of a call with these flags, elements having so many bytes, and sets what is to be set at its start. */
static inline int trid_p_batch_begin(trid_lines lines, int flags, int bytes, const trid_batch_options *options,
                                     cudaStream_t stream, trid_p_batch_plan *plan)
{
    const trid_batch_options none = {0, 0, 0, 0, 0, 0, 0}, &of = options ? *options : none;
    if (of.scratch && ((size_t)of.scratch % 16 || of.scratch_bytes < trid_batch_scratch(lines, flags, bytes)))
        return TRID_BATCH_BAD_SCRATCH;
    plan->lines = trid_p_lines_join(lines);
    plan->n = (int)lines.n;
    plan->lanes = plan->lanes_log2 = 0;
    plan->flags = flags;
    plan->magic = plan->per_group = plan->tiles = plan->repeat = 0;
    plan->repair = (flags & TRID_BATCH_REPAIR) != 0;
    plan->scratch = of.scratch;
    plan->report = {of.status, of.residual, of.tolerance, of.failed};
    unsigned long long *failed = plan->report.failed;
    if (!failed) return TRID_BATCH_OK;
    return cudaMemsetAsync(failed, 0, sizeof *failed, stream) == cudaSuccess &&
                   cudaMemsetAsync(failed + 1, 0xff, sizeof *failed, stream) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

/* Returns whether a call is solved as interleaved systems. Where kernels for one layout alone are compiled it does not
   matter how short systems lie. */
template <class bounds>
static int trid_p_batch_as_interleaved(const trid_p_batch_plan &plan)
{
    return !bounds::interleaved ? 0 : !bounds::contiguous ? 1 : trid_p_batch_is_interleaved(plan);
}
/* Returns whether nothing is compiled for these systems. */
template <class bounds>
static int trid_p_batch_is_not_compiled(const trid_p_batch_plan &plan)
{
    return plan.n < bounds::least || plan.n > bounds::most ||
           (plan.n > TRID_P_BATCH_ON_CHIP_INTERLEAVED &&
            trid_p_batch_as_interleaved<bounds>(plan) != trid_p_batch_is_interleaved(plan));
}

/* Returns the rows of a call as arrays; one matrix for all has no strides. */
template <class tb_real>
static inline trid_p_batch_arrays<tb_real> trid_p_batch_rows_at(const trid_lines &lines, int flags, const tb_real *a,
                                                                const tb_real *b, const tb_real *c)
{
    const trid_lines joined = trid_p_lines_join(trid_p_lines_of(lines));
    trid_p_batch_arrays<tb_real> rows = {a, b, c, joined.step, joined.stride, joined.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    return rows;
}

/* Makes *a and *c what kernels read as off-diagonals. As neither a of row 0 nor c of row n-1 is used, the transposed
   matrix is the same arrays by other names. Systems of one row have no off-diagonals, and b stands for them. */
template <class tb_real>
static inline void trid_p_batch_sides(const trid_p_batch_plan &plan, long long step, const tb_real **a,
                                      const tb_real *b, const tb_real **c)
{
    const tb_real *above = *c - step, *below = *a + step;
    if (plan.flags & TRID_BATCH_TRANSPOSED) *a = above, *c = below;
    if (plan.n == 1) *a = *c = b;
}
