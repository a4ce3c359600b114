/* interface.h - a room of trid/batch.h: reduces partitions of longer systems to their interface, and expands them.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* A block takes several systems, and cuts each into `parts` parts (a power of two), one per thread. Neighbouring
   threads take the same part of neighbouring systems if these are interleaved, otherwise neighbouring parts of one. */
enum { TRID_P_BATCH_INTERFACE_THREADS = 256 };
struct trid_p_batch_part {
    int lines, line, part, next; /* how many systems the block takes; this thread's system and part; the distance to the
                                    thread of the next part */
};
TB_D trid_p_batch_part trid_p_batch_part_of(int interleaved, int parts)
{
    int thread = (int)threadIdx.x, lines = TRID_P_BATCH_INTERFACE_THREADS / parts;
    trid_p_batch_part p = {lines, thread % lines, thread / lines, lines};
    if (!interleaved) p.line = thread / parts, p.part = thread % parts, p.next = 1;
    return p;
}
TB_D int trid_p_batch_part_begin(int n, int part, int parts)
{
    return (int)((long long)n * part / parts);
}

/* Fetches a row of a partition from arrays, where the partition begins at `at`, or computes it. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_partition_row(const trid_p_batch_plan &plan, const rows_type &from, long long at,
                                     long long system, int row, tb_real *a, tb_real *b, tb_real *c)
{
    const int has_above = row > 0 || !(plan.flags & TRID_BATCH_FIRST);
    const int has_below = row < plan.n - 1 || !(plan.flags & TRID_BATCH_LAST);
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        at += row * from.step;
        *a = has_above ? from.a[at] : (tb_real)0;
        *b = from.b[at];
        *c = has_below ? from.c[at] : (tb_real)0;
    } else {
        from(system, row, a, b, c);
        if (!has_above) *a = 0;
        if (!has_below) *c = 0;
    }
}

/* Reduces a part of a system, of two rows or more, to its interface (trid_lane_interface_open), several rows at a time.
   Returns  the first bad row, as trid_p_batch_row does */
template <class tb_real, class rows_type>
TB_D int trid_p_batch_eliminate(const trid_p_batch_plan &plan, const rows_type &rows, const trid_p_batch_place &p,
                                int part, int parts, const tb_real *d, tb_real *e)
{
    enum { burst = 4 };
    const int begin = trid_p_batch_part_begin(plan.n, part, parts);
    const int end = trid_p_batch_part_begin(plan.n, part + 1, parts);
    const long long step = plan.lines.step;
    long long at = 0; /* where the partition begins in the arrays of the matrix, if there are any */
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) at = trid_p_batch_matrix_at(plan, rows, p, 0);
    tb_real a[burst], b[burst], c[burst], r[burst];
    d += p.at + begin * step;
    TB_UNROLL
    for (int j = 0; j < 2; j++, d += step) {
        trid_p_batch_partition_row(plan, rows, at, p.system, begin + j, &a[j], &b[j], &c[j]);
        r[j] = *d;
    }
    int status = trid_lane_interface_open(e, a[0], b[0], c[0], r[0], a[1], b[1], c[1], r[1]) ? begin + 2 : 0;
    TB_LOOP
    for (int row = begin + 2; row < end; row += burst) {
        TB_UNROLL
        for (int j = 0; j < burst; j++, d += step)
            if (row + j < end) {
                trid_p_batch_partition_row(plan, rows, at, p.system, row + j, &a[j], &b[j], &c[j]);
                r[j] = *d;
            }
        TB_UNROLL
        for (int j = 0; j < burst; j++)
            if (row + j < end && trid_lane_interface_row(e, a[j], b[j], c[j], r[j]) && !status) status = row + j + 1;
    }
    return trid_p_batch_row(status, plan.n);
}

/* Joins the parts of each system. At first each thread holds the interface of one part. Pairs of parts are joined until
   one is left; its interface is stored in `to`, and its status is reported. */
template <class tb_real>
struct trid_p_batch_interface {
    trid_p_batch_shares shares;
    tb_real *a, *c, *d;
};
template <class tb_real>
struct trid_p_batch_between {
    tb_real ends[TRID_LANE_INTERFACE_LEN][TRID_P_BATCH_INTERFACE_THREADS];
    int worst[TRID_P_BATCH_INTERFACE_THREADS];
};
template <class tb_real>
TB_D void trid_p_batch_join_parts(const trid_p_batch_plan &plan, const trid_p_batch_place &p,
                                  const trid_p_batch_part &own, int parts, int bad, tb_real *e,
                                  trid_p_batch_between<tb_real> *between, const trid_p_batch_interface<tb_real> &to)
{
    const int thread = (int)threadIdx.x, n = plan.n;
    TB_LOOP
    for (int m = 1; m < parts; m *= 2) {
        if (own.part % (2 * m) == m) {
            TB_UNROLL
            for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) between->ends[k][thread] = e[k];
            between->worst[thread] = bad;
        }
        __syncthreads();
        if (own.part % (2 * m) == 0 && p.in_batch) {
            const int other = thread + m * own.next;
            tb_real below[TRID_LANE_INTERFACE_LEN];
            TB_UNROLL
            for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) below[k] = between->ends[k][other];
            if (between->worst[other] < bad) bad = between->worst[other];
            int at = trid_lane_interface_join(e, below) ? trid_p_batch_part_begin(n, own.part + m, parts) + 1 : 0;
            if (at && bad == TRID_P_BATCH_NO_ROW) bad = at;
        }
    }
    if (own.part > 0 || !p.in_batch) return;
    tb_real a[2], c[2], r[2];
    long long pitch, at = to.shares.of(p.system, &pitch);
    const int said = trid_lane_interface_close(e, a, c, r);
    if (said && bad == TRID_P_BATCH_NO_ROW) bad = said == 1 ? 1 : n;
    TB_UNROLL
    for (int k = 0; k < 2; k++, at += pitch) {
        to.a[at] = a[k];
        to.c[at] = c[k];
        to.d[at] = r[k];
    }
    trid_p_batch_tell(plan, p.system, bad);
}

template <class tb_real, int interleaved, class rows_type>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_INTERFACE_THREADS, sizeof(tb_real) == 4 ? 4 : 3)
TRID_KERNEL void trid_p_batch_interface_reduce(trid_p_batch_plan plan, rows_type rows, const tb_real *d, int parts,
                                               trid_p_batch_interface<tb_real> to)
{
    __shared__ trid_p_batch_between<tb_real> between;
    const trid_p_batch_part own = trid_p_batch_part_of(interleaved, parts);
    const trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, own.lines, own.line, 0);
    tb_real e[TRID_LANE_INTERFACE_LEN] = {0, 0, 0, 0, 0, 0, 0};
    int bad = TRID_P_BATCH_NO_ROW;
    if (p.in_batch) bad = trid_p_batch_eliminate(plan, rows, p, own.part, parts, d, e);
    trid_p_batch_join_parts(plan, p, own, parts, bad, e, &between, to);
}

/* Interleaved systems with one matrix: a block eliminates the matrix once, with a thread for each part. Of each row j
   it keeps the numbers that a right-hand side needs: a, the reciprocal of the pivot, and the coupling of the part's
   first row to x[j-1]. With these numbers it then eliminates one tile of right-hand sides after another. A part's first
   two rows need no elimination. */
enum { TRID_P_BATCH_INTERFACE_ROW = 4 };
template <class tb_real>
TB_D int trid_p_batch_eliminate_matrix(int begin, int end, tb_real *kept, tb_real *e)
{
    tb_real *own = kept + begin * TRID_P_BATCH_INTERFACE_ROW, *next = own + TRID_P_BATCH_INTERFACE_ROW;
    /* a right-hand side that is 1 in one row and 0 above it leaves the reciprocal of that row's pivot in e[6] */
    int status = trid_lane_interface_open(e, own[0], own[1], own[2], (tb_real)0, next[0], next[1], next[2], (tb_real)1)
                     ? begin + 2
                     : 0;
    next[0] = next[2] = 0;
    next[1] = e[6];
    TB_LOOP
    for (int row = begin + 2; row < end; row++) {
        next += TRID_P_BATCH_INTERFACE_ROW;
        const tb_real a = next[0], before = e[2];
        e[6] = 0;
        if (trid_lane_interface_row(e, a, next[1], next[2], (tb_real)1) && !status) status = row + 1;
        next[1] = e[6];
        next[2] = before;
    }
    return status;
}
/* Eliminates as trid_lane_interface_row does, but in the right-hand side only. d points to the first of `rows` rows. If
   `all` is set, takes `burst` rows and ignores `rows`. */
template <class tb_real, int burst, int all>
TB_D void trid_p_batch_eliminate_some(int rows, const tb_real *kept, const tb_real *d, long long step, tb_real *top,
                                      tb_real *bottom)
{
    enum { vector = 16 / sizeof(tb_real) };
    tb_real r[burst];
    TB_UNROLL
    for (int j = 0; j < burst; j++, d += step) r[j] = all || j < rows ? *d : (tb_real)0;
    TB_UNROLL
    for (int j = 0; j < burst; j++)
        if (all || j < rows) {
            const tb_real *of = kept + j * TRID_P_BATCH_INTERFACE_ROW;
            const trid_p_batch_word<tb_real> two = *(const trid_p_batch_word<tb_real> *)of;
            const tb_real before = vector > 2 ? two.v[vector > 2 ? 2 : 0] : of[2];
            *top -= before * *bottom;
            *bottom = two.v[1] * (r[j] - two.v[0] * *bottom);
        }
}
template <class tb_real>
TB_D void trid_p_batch_eliminate_right(int begin, int end, const tb_real *kept, const tb_real *d, long long step,
                                       tb_real *top, tb_real *bottom)
{
    const int burst = 8;
    int row = begin + 1;
    *top = *d;
    *bottom = 0;
    d += step;
    kept += row * TRID_P_BATCH_INTERFACE_ROW;
    TB_LOOP
    for (; row + burst <= end; row += burst, d += burst * step, kept += burst * TRID_P_BATCH_INTERFACE_ROW)
        trid_p_batch_eliminate_some<tb_real, burst, 1>(burst, kept, d, step, top, bottom);
    trid_p_batch_eliminate_some<tb_real, burst, 0>(end - row, kept, d, step, top, bottom);
}
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800 /* some have only 1024 threads per multiprocessor */
#define TRID_P_BATCH_INTERFACE_SHARED_RESIDENT(tb_real) 4
#else
#define TRID_P_BATCH_INTERFACE_SHARED_RESIDENT(tb_real) (sizeof(tb_real) == 4 ? 6 : 4)
#endif
template <class tb_real>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_INTERFACE_THREADS, TRID_P_BATCH_INTERFACE_SHARED_RESIDENT(tb_real))
TRID_KERNEL void trid_p_batch_interface_reduce_shared(trid_p_batch_plan plan, trid_p_batch_arrays<tb_real> rows,
                                                      const tb_real *d, int parts, trid_p_batch_interface<tb_real> to)
{
    enum { most = 8 };
    __shared__ trid_p_batch_between<tb_real> between;
    __shared__ tb_real matrix[most][TRID_LANE_INTERFACE_LEN];
    __shared__ int bad[most];
    TRID_DYNAMIC_SHARED(dynamic);
    tb_real *kept = (tb_real *)dynamic;
    const int thread = (int)threadIdx.x, n = plan.n;
    const trid_p_batch_part own = trid_p_batch_part_of(1, parts);
    TB_LOOP
    for (int row = thread; row < n; row += TRID_P_BATCH_INTERFACE_THREADS) {
        tb_real *of = kept + row * TRID_P_BATCH_INTERFACE_ROW;
        trid_p_batch_partition_row(plan, rows, 0, 0, row, &of[0], &of[1], &of[2]);
    }
    __syncthreads();
    if (thread < parts) {
        tb_real e[TRID_LANE_INTERFACE_LEN];
        int status = trid_p_batch_eliminate_matrix(trid_p_batch_part_begin(n, thread, parts),
                                                   trid_p_batch_part_begin(n, thread + 1, parts), kept, e);
        bad[thread] = trid_p_batch_row(status, n);
        TB_UNROLL
        for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) matrix[thread][k] = e[k];
    }
    const int begin = trid_p_batch_part_begin(n, own.part, parts),
              end = trid_p_batch_part_begin(n, own.part + 1, parts);
    TB_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        const trid_p_batch_place p = trid_p_batch_place_of(plan, index, own.lines, own.line, 0);
        tb_real e[TRID_LANE_INTERFACE_LEN], top = 0, bottom = 0;
        __syncthreads(); /* the matrix is complete, and the interfaces between parts have been read */
        if (p.in_batch)
            trid_p_batch_eliminate_right(begin, end, kept, d + (p.at + begin * plan.lines.step), plan.lines.step, &top,
                                         &bottom);
        TB_UNROLL
        for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) e[k] = matrix[own.part][k];
        e[3] = top;
        e[6] = bottom;
        trid_p_batch_join_parts(plan, p, own, parts, bad[own.part], e, &between, to);
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* A call on partitions, then the numbers derived from it. */
template <class tb_real>
struct trid_p_batch_cut {
    trid_p_batch_call<tb_real> call;
    long long share;
    trid_p_batch_shares shares = {};
    int interleaved = 0, parts = 0;
    int one_matrix = 0; /* a block keeps the matrix for all its tiles */
    unsigned blocks = 0;
};

/* Checks a call's lines, flags, share and arrays. The arrays of interfaces, `ends`, must share no element, and must not
   lie between elements of an array of `from`. The last array of `from` has the layout of the lines, the others have
   that of the matrix. */
template <class tb_real, int inputs, int arrays>
static int trid_p_batch_refuse_cut(trid_p_batch_cut<tb_real> *cut, int known, const tb_real *const (&from)[inputs],
                                   const tb_real *const (&ends)[arrays])
{
    const int status = trid_p_batch_refuse_lines(&cut->call, known);
    const trid_lines lines = cut->call.lines;
    if (status || lines.systems == 0) return status;
    if (cut->share < 1) return TRID_BATCH_BAD_SIZE;
    if (lines.n < 2) return TRID_BATCH_SHORT;
    const long long all = lines.systems * lines.groups; /* in range, as the lines have elements */
    const trid_lines matrix = cut->call.flags & TRID_BATCH_SHARED ? trid_lines_contiguous(lines.n, 1) : lines;
    for (int i = 0; i < inputs; i++)
        if (trid_p_batch_is_bad(from[i])) return TRID_BATCH_BAD_ARGUMENT;
    for (int k = 0; k < arrays; k++) {
        if (trid_p_batch_is_bad(ends[k])) return TRID_BATCH_BAD_ARGUMENT;
        for (int i = 0; i < inputs; i++)
            if (trid_p_batch_within(i + 1 < inputs ? matrix : lines, from[i], ends[k], 2 * all))
                return TRID_BATCH_OVERLAP;
        for (int i = 0; i < k; i++)
            if (trid_p_batch_within(trid_lines_contiguous(2 * all, 1), ends[i], ends[k], 2 * all))
                return TRID_BATCH_OVERLAP;
    }
    return TRID_BATCH_OK;
}

/* Begins the call. Unless `whole` is set, cuts each system into 2^m parts, with the largest m that leaves every part
   at least two rows (interleaved: 16) and makes at most 32 parts (interleaved: 8, so that a warp takes neighbouring
   systems). */
template <class tb_real>
static int trid_p_batch_begin_cut(trid_p_batch_cut<tb_real> *cut, int whole = 0)
{
    trid_p_batch_plan &plan = cut->call.work.plan;
    const int status = trid_p_batch_begin(&cut->call);
    if (status || cut->call.empty) return status;
    const int n = plan.n, interleaved = cut->interleaved = trid_p_lines_are_interleaved(plan.lines);
    const int most = whole ? 1 : interleaved ? 8 : 32, rows = interleaved ? 16 : 2;
    for (cut->parts = 1; cut->parts < most && n / (2 * cut->parts) >= rows;) cut->parts *= 2;
    cut->shares = {cut->share, plan.lines.systems * plan.lines.groups};
    cut->one_matrix = interleaved && (plan.flags & TRID_BATCH_SHARED) && n <= TRID_P_BATCH_ON_CHIP_INTERLEAVED;
    return trid_p_batch_count(&plan, TRID_P_BATCH_INTERFACE_THREADS / cut->parts, 1, &cut->blocks);
}

/* Launches a kernel. If its blocks keep one matrix, they keep `bytes` bytes for each row; otherwise bytes is 0. */
template <class tb_real, class... parameters, class... given>
static int trid_p_batch_launch_cut(void (*kernel)(trid_p_batch_plan, parameters...), size_t bytes,
                                   const trid_p_batch_cut<tb_real> &cut, const given &...arguments)
{
    const trid_p_batch_work<tb_real> &work = cut.call.work;
    const int resident = bytes ? TRID_P_BATCH_INTERFACE_SHARED_RESIDENT(tb_real) : 0;
    trid_device device = {};
    if (bytes && trid_p_batch_device_of(work, kernel, &device)) return TRID_BATCH_LAUNCH_FAILED;
    return trid_p_batch_launch_tiles(kernel, cut.blocks, TRID_P_BATCH_INTERFACE_THREADS, resident,
                                     (size_t)work.plan.n * bytes, device, work.stream, work.plan, arguments...);
}

template <class tb_real, class rows_type>
static int trid_p_batch_launch_interface_reduce(trid_p_batch_cut<tb_real> cut, int known, const rows_type &rows,
                                                tb_real *a, tb_real *c, tb_real *r)
{
    const tb_real *const d = cut.call.d;
    int status;
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays)
        status = trid_p_batch_refuse_cut(&cut, known, {rows.a, rows.b, rows.c, d}, {a, c, r});
    else
        status = trid_p_batch_refuse_cut(&cut, known, {d}, {a, c, r});
    if (!status) status = trid_p_batch_begin_cut(&cut);
    if (status || cut.call.empty) return status;
    const trid_p_batch_interface<tb_real> to = {cut.shares, a, c, r};
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays)
        if (cut.one_matrix)
            return trid_p_batch_launch_cut(trid_p_batch_interface_reduce_shared<tb_real>,
                                           TRID_P_BATCH_INTERFACE_ROW * sizeof(tb_real), cut, rows, d, cut.parts, to);
    return trid_p_batch_launch_cut(cut.interleaved ? trid_p_batch_interface_reduce<tb_real, 1, rows_type>
                                                   : trid_p_batch_interface_reduce<tb_real, 0, rows_type>,
                                   0, cut, rows, d, cut.parts, to);
}

/* Solves partitions whose first and last unknowns are known. Interleaved partitions with one matrix and up to 1024 rows
   are solved by the kernels of trid_batch_shared, those of up to 512 rows from factors. */
template <class bounds, class tb_real, class rows_type>
static int trid_p_batch_launch_interface_expand(trid_p_batch_cut<tb_real> cut, const rows_type &rows,
                                                const tb_real *ends)
{
    typedef trid_p_batch_rows<rows_type> is;
    trid_p_batch_call<tb_real> &call = cut.call;
    const int made = !is::are_arrays && !is::are_one_matrix;
    const int known = made ? TRID_BATCH_EXPAND_ROWS_FLAGS : TRID_BATCH_EXPAND_FLAGS;
    int status = trid_p_batch_refuse(&call, known, made);
    if (!status) status = trid_p_batch_refuse_cut(&cut, known, {call.x}, {ends});
    if (!status) status = trid_p_batch_begin_cut(&cut);
    if (status || call.empty) return status;
    const trid_p_batch_known<tb_real, rows_type> ended = {rows, ends, cut.shares};
    if (trid_p_batch_is_not_compiled<bounds>(call.work.plan)) return TRID_BATCH_BAD_SIZE;
    if constexpr (is::are_one_matrix && bounds::interleaved)
        if (trid_p_batch_as_interleaved<bounds>(call.work.plan) && call.work.plan.n <= TRID_P_BATCH_ON_CHIP_INTERLEAVED)
            return trid_p_batch_launch_shared_interleaved<bounds::least, bounds::most>(call.work, ended);
    return trid_p_batch_launch<trid_p_batch_how::hybrid, bounds>(call.work, ended);
}

#define TB_BODY "batch/interface.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Reduces partitions of longer systems that are split across memories: each rank (a GPU, a machine) holds n rows of
   every system. A partition whose first unknown is f and whose last unknown is z is reduced to two rows:

       a l + f + c z = d      row 2r of a tridiagonal system, where r is the rank and l is the z of rank r - 1, above
       a f + z + c g = d      row 2r + 1, where g is the f of rank r + 1, below

   The caller sends these rows, solves the reduced systems (trid_batch_solve), and sends each rank its two unknowns of
   each system, for trid_batch_interface_expand. The reduced systems' diagonal is 1: pass an array of ones, filled once.
   Needs    a, b, c, d laid out by lines: this rank's partitions, n >= 2; interface_a, _c, _d of two elements a system;
            share >= 1. Flags: TRID_BATCH_REDUCE_FLAGS, with FIRST if there is no rank above (a of row 0 is not read),
            and with LAST if there is none below
   Leaves   the two rows of each system. Systems are divided, in order, into shares of `share` systems; the last share
            may have fewer. If m systems are in a share and s in all shares before it, the share holds the rows of f at
            [2s .. 2s+m-1], and then those of z. So a share is 2m contiguous elements, ready to be sent to the rank that
            solves it. That rank stores the rows that it receives from rank r at [2m r], which gives all of them the
            layout trid_lines_interleaved(2 * ranks, m). The unknowns return in the same way. If one share holds all
            systems, either one rank solves all reduced systems, or each rank exchanges the rows of f and z with its
            neighbours only (docs/batch.md)
   Returns  a status of enum trid_batch_status. TRID_BATCH_SHORT: n < 2, including n = 0; TRID_BATCH_BAD_SIZE also
            means share < 1; TRID_BATCH_OVERLAP also means that an array of the interface shares an element with
            another, or lies between elements of a, b, c or d
   Cost     one pass: reads a, b, c, d once (SHARED: d), and writes 6 numbers a system, for any n. Interleaved: lanes
            access neighbours in memory; otherwise each of up to 32 threads takes neighbouring rows of a system. SHARED,
            interleaved, n <= 1024: a block factors the matrix once; a row then costs 3 operations, no reciprocal
   Error    as trid_lane_interface_row: that of elimination without pivoting */
template <int unused = 0>
static int trid_batch_interface_reduce(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                       const tb_real *d, long long share, tb_real *interface_a, tb_real *interface_c,
                                       tb_real *interface_d, const trid_batch_options *options, cudaStream_t stream)
{
    const trid_p_batch_cut<tb_real> cut = {{lines, a, b, c, d, 0, options, stream}, share};
    return trid_p_batch_launch_interface_reduce(cut, TRID_BATCH_REDUCE_FLAGS,
                                                trid_p_batch_rows_at(lines, cut.call.flags, a, b, c), interface_a,
                                                interface_c, interface_d);
}

/* Expands partitions whose first and last unknowns are known. `ends` holds them, laid out as interface_d was.
   Needs    as trid_batch_solve, n >= 2; rows 0 and n-1 of the matrix and of d are not used. Flags:
            TRID_BATCH_EXPAND_FLAGS, which exclude FIRST and LAST
   Returns  as trid_batch_interface_reduce; TRID_BATCH_OVERLAP also means that `ends` lies between elements of x
   Cost     as trid_batch_solve: five arrays moved (SHARED: two). But systems that no block or cluster holds are always
            solved in chunks, even with step 1: nine arrays (SHARED: three). A whole distributed solve without chunks
            moves 9 (SHARED: 3); if it stored the eliminated rows in between, it would move 11 (SHARED: 4)
   Error    as trid_batch_solve (SHARED: as trid_batch_shared) */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_interface_expand(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                       const tb_real *d, long long share, const tb_real *ends, tb_real *x,
                                       const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    const trid_p_batch_cut<tb_real> cut = {{lines, a, b, c, d, x, options, stream}, share};
    const trid_p_batch_one_matrix<tb_real> shared = {a, b, c, (int)lines.n};
    const trid_p_batch_arrays<tb_real> rows = trid_p_batch_rows_at(lines, 0, a, b, c);
    return cut.call.flags & TRID_BATCH_SHARED ? trid_p_batch_launch_interface_expand<bounds>(cut, shared, ends)
                                              : trid_p_batch_launch_interface_expand<bounds>(cut, rows, ends);
}

/* Reduces as trid_batch_interface_reduce, with a matrix made in registers (trid_batch_solve_rows). a of row 0 couples
   to the rank above, and c of row n-1 to the one below.
   Needs    flags: TRID_BATCH_REDUCE_ROWS_FLAGS
   Cost     one array moved, and one call of `rows` for each row */
template <int unused = 0, class rows_type>
static int trid_batch_interface_reduce_rows(trid_lines lines, const rows_type &rows, const tb_real *d, long long share,
                                            tb_real *interface_a, tb_real *interface_c, tb_real *interface_d,
                                            const trid_batch_options *options, cudaStream_t stream)
{
    return trid_p_batch_launch_interface_reduce({{lines, 0, 0, 0, d, 0, options, stream}, share},
                                                TRID_BATCH_REDUCE_ROWS_FLAGS, rows, interface_a, interface_c,
                                                interface_d);
}

/* Expands as trid_batch_interface_expand, with a matrix made in registers.
   Needs    flags: TRID_BATCH_EXPAND_ROWS_FLAGS
   Cost     as trid_batch_solve_rows */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0, class rows_type>
static int trid_batch_interface_expand_rows(trid_lines lines, const rows_type &rows, const tb_real *d, long long share,
                                            const tb_real *ends, tb_real *x, const trid_batch_options *options,
                                            cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    return trid_p_batch_launch_interface_expand<bounds, tb_real>({{lines, 0, 0, 0, d, x, options, stream}, share}, rows,
                                                                 ends);
}

#endif /* TB_BODY */
