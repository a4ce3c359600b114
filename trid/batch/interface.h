/* interface.h - a room of trid/batch.h: partitions of longer systems: to their interface unknowns, and back.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* A block has some systems, each in `parts` (a power of two) parts of a thread each. Interleaved systems are those of
   neighbouring threads; else the parts of one system are. */
enum { TRID_P_BATCH_INTERFACE_THREADS = 256 };
struct trid_p_batch_part {
    int lines, line, part, next; /* of the block; the thread's; how many threads further the next part's is */
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

/* Returns where a partition's matrix begins, if it is of arrays. */
template <class rows_type>
TB_D long long trid_p_batch_partition_at(const trid_p_batch_plan &plan, const rows_type &from,
                                         const trid_p_batch_place &p)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays)
        return trid_p_batch_matrix_at(plan, from, p, 0);
    else
        return 0;
}
/* Fetches a row of a partition from arrays, where it begins `at`, or makes it. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_partition_row(const trid_p_batch_plan &plan, const rows_type &from, long long at,
                                     long long system, int row, tb_real *a, tb_real *b, tb_real *c)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        at += row * from.step;
        *a = *c = 0;
        if (row > 0 || !(plan.flags & TRID_BATCH_FIRST)) *a = from.a[at];
        *b = from.b[at];
        if (row < plan.n - 1 || !(plan.flags & TRID_BATCH_LAST)) *c = from.c[at];
    } else {
        from(system, row, a, b, c);
        if (row == 0 && (plan.flags & TRID_BATCH_FIRST)) *a = 0;
        if (row == plan.n - 1 && (plan.flags & TRID_BATCH_LAST)) *c = 0;
    }
}

/* Reduces rows begin .. end-1 of a system, two or more, to their interface (trid_lane_interface_open). Several rows are
   on their way at a time.
   Returns  1 + a bad row, or 0 */
template <class tb_real, class rows_type>
TB_D int trid_p_batch_eliminate(const trid_p_batch_plan &plan, const rows_type &rows, const trid_p_batch_place &p,
                                int begin, int end, const tb_real *d, tb_real *e)
{
    enum { burst = 4 };
    const long long at = trid_p_batch_partition_at(plan, rows, p), step = plan.lines.step;
    tb_real a[burst], b[burst], c[burst], r[burst];
    d += p.at + begin * step;
    TB_UNROLL
    for (int j = 0; j < 2; j++, d += step) {
        trid_p_batch_partition_row(plan, rows, at, p.system, begin + j, &a[j], &b[j], &c[j]);
        r[j] = *d;
    }
    int status = trid_lane_interface_open(e, a[0], b[0], c[0], r[0], a[1], b[1], c[1], r[1]) ? begin + 2 : 0;
    int row = begin + 2;
    TRID_P_BATCH_LOOP
    for (; row < end; row += burst) {
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
    return status;
}

/* Where the interface goes. Then pairs of parts are joined, each thread having the interface of one, until one is left,
   which is stored and reported. */
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
    TRID_P_BATCH_LOOP
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
    trid_p_batch_tell(plan, p.system, bad, 0, (tb_real)0, (tb_real)0);
}

#define TRID_P_BATCH_INTERFACE_RESIDENT(tb_real) (sizeof(tb_real) == 4 ? 4 : 3)
template <class tb_real, int interleaved, class rows_type>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_INTERFACE_THREADS, TRID_P_BATCH_INTERFACE_RESIDENT(tb_real))
TRID_KERNEL void trid_p_batch_interface_reduce(trid_p_batch_plan plan, rows_type rows, const tb_real *d, int parts,
                                               trid_p_batch_interface<tb_real> to)
{
    __shared__ trid_p_batch_between<tb_real> between;
    const int n = plan.n;
    const trid_p_batch_part own = trid_p_batch_part_of(interleaved, parts);
    const trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, own.lines, own.line, 0);
    tb_real e[TRID_LANE_INTERFACE_LEN] = {0, 0, 0, 0, 0, 0, 0};
    int bad = TRID_P_BATCH_NO_ROW;
    if (p.in_batch)
        bad = trid_p_batch_row(trid_p_batch_eliminate(plan, rows, p, trid_p_batch_part_begin(n, own.part, parts),
                                                      trid_p_batch_part_begin(n, own.part + 1, parts), d, e),
                               n);
    trid_p_batch_join_parts(plan, p, own, parts, bad, e, &between, to);
}

/* Interleaved systems with one matrix: a block eliminates in the matrix once, a thread in each part of it, and keeps of
   a row what a right-hand side needs: a, the reciprocal of the pivot, and what couples the part's first row to the row
   before. With these it takes one tile of systems after another. Nothing comes before a part's first two rows. */
enum { TRID_P_BATCH_INTERFACE_ROW = 4 };
template <class tb_real>
TB_D int trid_p_batch_eliminate_matrix(int begin, int end, tb_real *kept, tb_real *e)
{
    tb_real *own = kept + begin * TRID_P_BATCH_INTERFACE_ROW, *next = own + TRID_P_BATCH_INTERFACE_ROW;
    /* right-hand sides of 1, with nothing before them, leave the reciprocals */
    int status = trid_lane_interface_open(e, own[0], own[1], own[2], (tb_real)0, next[0], next[1], next[2], (tb_real)1)
                     ? begin + 2
                     : 0;
    next[0] = next[2] = 0;
    next[1] = e[6];
    TRID_P_BATCH_LOOP
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
/* Does what trid_lane_interface_row does, for right-hand sides alone; d is where the part's first row is. With all,
   rows are not counted. */
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
    TRID_P_BATCH_LOOP
    for (; row + burst <= end; row += burst, d += burst * step, kept += burst * TRID_P_BATCH_INTERFACE_ROW)
        trid_p_batch_eliminate_some<tb_real, burst, 1>(burst, kept, d, step, top, bottom);
    trid_p_batch_eliminate_some<tb_real, burst, 0>(end - row, kept, d, step, top, bottom);
}
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800 /* 1024 threads a multiprocessor */
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
    TRID_P_BATCH_LOOP
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
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        const trid_p_batch_place p = trid_p_batch_place_of(plan, index, own.lines, own.line, 0);
        tb_real e[TRID_LANE_INTERFACE_LEN], top = 0, bottom = 0;
        __syncthreads(); /* the matrix is there, what was between parts has been read */
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

/* Checks a call's sizes, and that `arrays` arrays of interfaces lie apart from each other and from d.
   Returns  a status, or 1 where there is nothing to do */
template <class tb_real>
static int trid_p_batch_refuse_interface(const trid_lines &lines, long long share, const tb_real *d,
                                         const tb_real *const *ends, int arrays)
{
    int status = trid_lines_check(lines);
    if (status) return status;
    const long long all = lines.systems * lines.groups;
    if (all == 0) return 1;
    if (lines.n > TRID_BATCH_MAX_N || share < 1) return TRID_BATCH_BAD_SIZE;
    if (lines.n < 2) return TRID_BATCH_SHORT;
    for (int k = 0; k < arrays; k++) {
        if (!ends[k] || !d) return TRID_BATCH_BAD_ARGUMENT;
        if (trid_p_batch_within(lines, d, ends[k], 2 * all)) return TRID_BATCH_OVERLAP;
        for (int i = 0; i < k; i++)
            if (trid_p_batch_within(trid_lines_contiguous(2 * all, 1), ends[i], ends[k], 2 * all))
                return TRID_BATCH_OVERLAP;
    }
    return TRID_BATCH_OK;
}

/* Returns into how many parts, of at least `rows` rows, a system is cut; a warp has neighbouring interleaved
   systems. */
static inline int trid_p_batch_parts(int n, int interleaved, int rows)
{
    int parts = 1;
    while (parts < (interleaved ? 8 : 32) && n / (2 * parts) >= rows) parts *= 2;
    return parts;
}

/* Launches a kernel for one matrix, of which a block keeps so many bytes a row. */
template <class tb_real, class... parameters, class... given>
static int trid_p_batch_launch_interface_shared(void (*kernel)(trid_p_batch_plan, trid_p_batch_arrays<tb_real>,
                                                               parameters...),
                                                size_t bytes, dim3 grid, cudaStream_t stream,
                                                const trid_p_batch_plan &plan, const given &...arguments)
{
    trid_p_batch_device device;
    if (trid_p_batch_device_of(kernel, &device)) return TRID_BATCH_LAUNCH_FAILED;
    return trid_p_batch_launch_tiles(kernel, grid, TRID_P_BATCH_INTERFACE_THREADS,
                                     TRID_P_BATCH_INTERFACE_SHARED_RESIDENT(tb_real), (size_t)plan.n * bytes, device,
                                     stream, plan, arguments...);
}
template <class tb_real, class rows_type>
static int trid_p_batch_launch_interface_reduce(trid_lines lines, int flags, int known, rows_type rows,
                                                const tb_real *d, long long share, tb_real *interface_a,
                                                tb_real *interface_c, tb_real *interface_d,
                                                const trid_batch_report *report, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const tb_real *const ends[3] = {interface_a, interface_c, interface_d};
    if (flags & ~known) return TRID_BATCH_BAD_FLAGS;
    int status = trid_p_batch_refuse_interface(lines, share, d, ends, 3);
    if (status < 0) return status;
    trid_p_batch_plan plan;
    const int empty = status;
    status = trid_p_batch_begin(lines, flags, report, (void *)0, stream, &plan);
    if (status || empty) return status;
    const int interleaved = trid_p_batch_is_interleaved(plan),
              parts = trid_p_batch_parts(plan.n, interleaved, interleaved ? 16 : 2);
    const trid_p_batch_interface<tb_real> to = {
        {share, lines.systems * lines.groups}, interface_a, interface_c, interface_d};
    dim3 grid, block((unsigned)TRID_P_BATCH_INTERFACE_THREADS);
    if (trid_p_batch_count(&plan, TRID_P_BATCH_INTERFACE_THREADS / parts, 1, &grid) != cudaSuccess)
        return TRID_BATCH_BAD_SIZE;
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays)
        if (interleaved && (flags & TRID_BATCH_SHARED) && plan.n <= TRID_P_BATCH_ON_CHIP_INTERLEAVED)
            return trid_p_batch_launch_interface_shared(trid_p_batch_interface_reduce_shared<tb_real>,
                                                        TRID_P_BATCH_INTERFACE_ROW * sizeof(tb_real), grid, stream,
                                                        plan, rows, d, parts, to);
    cudaError_t error = interleaved ? trid_launch(trid_p_batch_interface_reduce<tb_real, 1, rows_type>, grid, block, 0,
                                                  stream, plan, rows, d, parts, to)
                                    : trid_launch(trid_p_batch_interface_reduce<tb_real, 0, rows_type>, grid, block, 0,
                                                  stream, plan, rows, d, parts, to);
    return trid_p_batch_launched(error);
}

/* Returns the rows of a call as arrays; one matrix for all has no strides. */
template <class tb_real>
static inline trid_p_batch_arrays<tb_real> trid_p_batch_rows_at(const trid_lines &lines, int flags, const tb_real *a,
                                                                const tb_real *b, const tb_real *c)
{
    const trid_lines joined = trid_p_lines_join(lines);
    trid_p_batch_arrays<tb_real> rows = {a, b, c, joined.step, joined.stride, joined.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    return rows;
}

/* Solves partitions whose first and last unknowns are known; interleaved ones with one matrix, by its factors. */
template <int only, class tb_real, class rows_type>
static int trid_p_batch_launch_known(const trid_p_batch_plan &plan, const trid_p_batch_known<tb_real, rows_type> &rows,
                                     const tb_real *d, tb_real *x, cudaStream_t stream)
{
    enum { shared = trid_p_batch_rows<rows_type>::are_one_matrix };
    if constexpr (shared && !(only & TRID_BATCH_ONLY_CONTIGUOUS))
        if (trid_p_batch_as_interleaved<only>(plan) && plan.n <= TRID_P_BATCH_ON_CHIP_INTERLEAVED)
            return trid_p_batch_launch_shared_interleaved(plan, rows, d, x, stream);
    return trid_p_batch_launch<0, only>(plan, rows, d, x, stream);
}

template <class tb_real, int only, class rows_type>
static int trid_p_batch_launch_interface_expand(trid_lines lines, int flags, const rows_type &rows, const tb_real *a,
                                                const tb_real *b, const tb_real *c, int made, const tb_real *d,
                                                long long share, const tb_real *ends, tb_real *x,
                                                const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const tb_real *const all[1] = {ends};
    const int known = TRID_BATCH_ADD | (made ? 0 : TRID_BATCH_SHARED);
    int status = trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const tb_real *)x, made);
    if (status) return status;
    status = trid_p_batch_refuse_interface(lines, share, (const tb_real *)x, all, 1);
    if (status < 0) return status;
    trid_p_batch_plan plan;
    const int empty = status;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || empty) return status;
    const trid_p_batch_known<tb_real, rows_type> ended = {rows, ends, {share, lines.systems * lines.groups}};
    return trid_p_batch_launch_known<only>(plan, ended, d, x, stream);
}
#define TB_BODY "batch/interface.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Reduces partitions of longer systems, cut where memory ends: each rank (a GPU, a machine) has n rows of every system.
   Of a partition whose first unknown is f and whose last one is z two rows are left:

       a l + f + c z = d      row 2r of a tridiagonal system, r being the rank and l the z of the rank above
       a f + z + c g = d      row 2r + 1, g being the f of the rank below

   The caller sends these, solves the reduced systems (trid_batch_solve) and sends each rank its two unknowns of each
   system, with which trid_batch_interface_expand goes on. Their diagonal is 1: an array of ones, filled once.
   Needs    a, b, c, d laid out by lines: this rank's partitions, n >= 2; interface_a, _c, _d of two elements a system;
            share >= 1. flags: TRID_BATCH_FIRST where there is no rank above (a of row 0 is not read), TRID_BATCH_LAST
            where there is none below; TRID_BATCH_SHARED: a, b, c are one matrix, n elements each
   Leaves   the two rows of each system, dealt out in shares of `share` systems by their indices; the last share is what
            remains. In a share of m systems, after s in the shares before, the rows of f are at [2s .. 2s+m-1], then
            those of z. So a share is 2m elements that follow one another, to be sent to the rank that solves it. There
            what comes from rank r is put at [2m r]; all of it lies as trid_lines_interleaved(2 * ranks, m), and so the
            unknowns go back. With share = all systems one rank solves all, or neighbours exchange the rows of f and z
   Returns  a status of enum trid_batch_status; TRID_BATCH_SHORT for n < 2
   Cost     one pass: a, b, c, d are read once (SHARED: d), 6 numbers a system written, for any n. Interleaved, accesses
            are of neighbours; else a thread has n/32 rows of a system. SHARED, interleaved, n <= 1024: a block factors
            the matrix once; a row then costs a system 3 operations and no reciprocal
   Error    as trid_lane_interface_row: that of elimination without pivoting */
template <int unused = 0>
static int trid_batch_interface_reduce(trid_lines lines, int flags, const tb_real *a, const tb_real *b,
                                       const tb_real *c, const tb_real *d, long long share, tb_real *interface_a,
                                       tb_real *interface_c, tb_real *interface_d, const trid_batch_report *report,
                                       cudaStream_t stream)
{
    if (!trid_p_lines_empty(lines) && (!a || !b || !c)) return TRID_BATCH_BAD_ARGUMENT;
    return trid_p_batch_launch_interface_reduce(lines, flags, TRID_BATCH_FIRST | TRID_BATCH_LAST | TRID_BATCH_SHARED,
                                                trid_p_batch_rows_at(lines, flags, a, b, c), d, share, interface_a,
                                                interface_c, interface_d, report, stream);
}

/* Expands partitions whose first and last unknowns are known: `ends` has these, laid out as interface_d was.
   Needs    as trid_batch_solve, n >= 2; rows 0 and n-1 are not used, except x with TRID_BATCH_ADD. flags:
            TRID_BATCH_ADD, TRID_BATCH_SHARED
   Returns  as trid_batch_interface_reduce
   Cost     as trid_batch_solve: five arrays moved (SHARED: two), so that a distributed solve moves 9 arrays (SHARED: 3)
            in all. With the eliminated rows stored in between it would be 11 (SHARED: 4)
   Error    as trid_batch_solve (SHARED: as trid_batch_shared) */
template <int only = 0>
static int trid_batch_interface_expand(trid_lines lines, int flags, const tb_real *a, const tb_real *b,
                                       const tb_real *c, const tb_real *d, long long share, const tb_real *ends,
                                       tb_real *x, const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    const trid_p_batch_one_matrix<tb_real> shared = {a, b, c, (int)lines.n};
    return flags & TRID_BATCH_SHARED
               ? trid_p_batch_launch_interface_expand<tb_real, only>(lines, flags, shared, a, b, c, 0, d, share, ends,
                                                                     x, report, scratch, stream)
               : trid_p_batch_launch_interface_expand<tb_real, only>(lines, flags,
                                                                     trid_p_batch_rows_at(lines, 0, a, b, c), a, b, c,
                                                                     0, d, share, ends, x, report, scratch, stream);
}

/* Reduces as trid_batch_interface_reduce does, with a matrix made in registers (trid_batch_solve_rows). a of row 0
   couples to the rank above and c of row n-1 to the one below.
   Needs    flags: TRID_BATCH_FIRST, TRID_BATCH_LAST
   Cost     one array moved, and what rows costs */
template <int unused = 0, class rows_type>
static int trid_batch_interface_reduce_rows(trid_lines lines, int flags, const rows_type &rows, const tb_real *d,
                                            long long share, tb_real *interface_a, tb_real *interface_c,
                                            tb_real *interface_d, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_launch_interface_reduce(lines, flags, TRID_BATCH_FIRST | TRID_BATCH_LAST, rows, d, share,
                                                interface_a, interface_c, interface_d, report, stream);
}

/* Expands as trid_batch_interface_expand does, with a matrix made in registers.
   Needs    flags: TRID_BATCH_ADD
   Cost     two arrays moved, and what rows costs */
template <int only = 0, class rows_type>
static int trid_batch_interface_expand_rows(trid_lines lines, int flags, const rows_type &rows, const tb_real *d,
                                            long long share, const tb_real *ends, tb_real *x,
                                            const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    const tb_real *none = 0;
    return trid_p_batch_launch_interface_expand<tb_real, only>(lines, flags, rows, none, none, none, 1, d, share, ends,
                                                               x, report, scratch, stream);
}

#endif /* TB_BODY */
