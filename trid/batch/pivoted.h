/* pivoted.h - a room of trid/batch.h: any nonsingular matrices, by elimination with pivoting.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Blocks a multiprocessor. Elimination is a sequence of dependent operations, whose latency only other warps hide; a
   few registers in local memory cost less than a warp. */
#ifndef TRID_P_BATCH_PIVOTED_RESIDENT
#define TRID_P_BATCH_PIVOTED_RESIDENT(tb_real, k)                                                                      \
    (sizeof(tb_real) == 4 ? ((k) <= 8 ? 7 : (k) <= 12 ? 6 : (k) <= 16 ? 5 : 3) : (k) <= 8 ? 8 : 6)
#endif

/* Launches for interleaved systems. Where *launched stays as it was, the kernels for contiguous systems serve them. */
template <class tb_real>
static int trid_p_batch_launch_pivoted_interleaved(const trid_p_batch_plan &plan,
                                                   const trid_p_batch_arrays<tb_real> &rows, const tb_real *d,
                                                   tb_real *x, cudaStream_t stream, int *launched)
{
    constexpr int fold = sizeof(tb_real) == 4 ? 2 : 1;
    const int status = trid_p_batch_launch_clusters<0, 1, 1>(plan, rows, d, x, stream, launched);
    if (*launched || status || plan.n > 512) return status;
    return trid_p_batch_choose<
        trid_p_batch_shape<16, 128, 1, 4, 0>, trid_p_batch_shape<16, 64 * fold, 2, 4, 0>,
        trid_p_batch_shape<16, 32 * fold, 4, 4, 128>, trid_p_batch_shape<16, 32 * fold, 8, 4, 128>,
        trid_p_batch_shape<16, 16 * fold, 16, 4, 256>, trid_p_batch_shape<16, 8 * fold, 32, 4, 128>>(
        plan.n, [&](auto shape) {
            typedef decltype(shape) of;
            return trid_p_batch_launch_interleaved_of<1, tb_real, of::k, of::systems, of::parts, of::burst, of::ahead>(
                plan, rows, d, x, stream, launched);
        });
}

/* Long systems: a chunk leaves two rows in four unknowns, its border (trid_lane_pivoted_reduce). Warps join 32
   borders at a time, until one is left. Then the unknowns around each group come down the same way. The rows are
   eliminated twice, by the same instructions, in one kernel: where a system is so ill conditioned that another way
   of rounding gives other digits, what comes down must belong to the very rows that went up. */
template <class tb_real>
struct trid_p_batch_tree {
    trid_p_batch_plan plan;
    unsigned count, groups;         /* of this level's borders in a system, of 32 of them */
    tb_real *border, *outer, *joined; /* of this level; the next one's borders */
    const tb_real *around;          /* and the unknowns around these */
    int *worst;
    int down;
};
template <class tb_real, int k, int path>
TRID_P_BATCH_BOUNDS(32 * TRID_P_BATCH_WARPS(tb_real, 0), TRID_P_BATCH_PIVOTED_RESIDENT(tb_real, k))
TRID_KERNEL void trid_p_batch_pivoted_chunks(trid_p_batch_tree<tb_real> tree, trid_p_batch_arrays<tb_real> rows,
                                             const tb_real *d, tb_real *x)
{
    const int len = TRID_P_BATCH_LEN(tb_real, k), warps = TRID_P_BATCH_WARPS(tb_real, 0);
    __shared__ tb_real buffer[warps][len + 32];
    const trid_p_batch_plan &plan = tree.plan;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, slot[k], side;
    unsigned index = blockIdx.x * warps + (unsigned)warp, flags;
    if (index >= plan.tiles) return;
    trid_p_batch_chunk p = trid_p_batch_chunk_of(k, plan, tree.count, index);
    if (!trid_p_batch_wanted(plan, p.system, 1)) return;
    int position = 32 * p.chunk + lane, first = k * position, valid = plan.n - first;
    tb_real ra[k], rb[k], rc[k], rd[k], border[9], kept[9], outer[4], *shared = buffer[warp];
    trid_p_batch_matrix<TRID_P_BATCH_BLOCK, path>(
        k, plan, trid_p_batch_spot_of<TRID_P_BATCH_BLOCK, path>(k, 0, plan, p.tile, p.chunk, lane), rows, ra, rb, rc);
    trid_p_batch_fetch<path>(k, plan, trid_p_batch_right(plan, d + p.at, p.total), rd);
    trid_p_batch_transpose_matrix<path, 1>(k, rows, valid, slot, ra, rb, rc, shared, 0);
    trid_p_batch_transpose<path, 1>(k, valid, (tb_real)0, slot, rd, shared);
    if (first == 0) ra[0] = 0;
    if (valid <= k) rc[k - 1] = 0;
    int met = trid_warp_pivoted_reduce(k, 32, position, ra, rb, rc, rd, border, &flags);
    met |= trid_warp_pivoted_up(1, 32, 32, position, border, kept, &side);
    if (!tree.down) {
        TB_UNROLL
        for (int e = 0; e < 9; e++)
            if (lane == 15) tree.border[(p.system * tree.count + p.chunk) * 9 + e] = border[e];
        if (met) trid_p_batch_failed(tree.worst, p.system, 0, 1);
        return;
    }
    TB_UNROLL
    for (int e = 0; e < 4; e++) outer[e] = tree.outer[(p.system * tree.count + p.chunk) * 4 + e];
    trid_warp_pivoted_down(1, 32, 32, position, kept, side, outer);
    trid_warp_pivoted_expand(k, position, ra, rb, rc, rd, flags, outer);
    warp = trid_p_batch_again_as((int)threadIdx.x) / 32, lane = trid_p_batch_again_as(lane);
    p = trid_p_batch_chunk_of(k, plan, tree.count, blockIdx.x * warps + (unsigned)warp);
    valid = plan.n - k * (32 * p.chunk + lane), shared = buffer[warp];
    trid_p_batch_store<path, 1>(k, plan, p.total, valid, slot, rd, x + p.at, shared);
}
template <class tb_real>
TRID_P_BATCH_BOUNDS(128)
TRID_KERNEL void trid_p_batch_pivoted_groups(trid_p_batch_tree<tb_real> tree)
{
    const trid_p_batch_plan &plan = tree.plan;
    int lane = (int)threadIdx.x & 31, side;
    unsigned index = blockIdx.x * 4 + threadIdx.x / 32;
    if (index >= plan.tiles) return;
    unsigned system = index / tree.groups, group = index - system * tree.groups, i = 32 * group + (unsigned)lane;
    if (!trid_p_batch_wanted(plan, system, 1)) return;
    long long own = (long long)system * tree.count + i, joined = (long long)system * tree.groups + group;
    tb_real border[9], kept[9], outer[4];
    TB_UNROLL
    for (int e = 0; e < 9; e++) /* where there is none: two unknowns that are zero, facing up or down */
        border[e] = i < tree.count                           ? tree.border[own * 9 + e]
                  : e == (lane & 1) || e == 7 - (lane & 1) ? (tb_real)1
                                                           : (tb_real)0;
    int met = trid_warp_pivoted_up(1, 32, 32, (int)i, border, kept, &side);
    if (tree.groups == 1) {
        met |= trid_warp_pivoted_root(32, 32, border, outer);
    } else if (!tree.down) {
        TB_UNROLL
        for (int e = 0; e < 9; e++)
            if (lane == 15) tree.joined[joined * 9 + e] = border[e];
    } else {
        TB_UNROLL
        for (int e = 0; e < 4; e++) outer[e] = tree.around[joined * 4 + e];
    }
    if (met) trid_p_batch_failed(tree.worst, system, 0, 1);
    if (tree.groups > 1 && !tree.down) return;
    trid_warp_pivoted_down(1, 32, 32, (int)i, kept, side, outer);
    TB_UNROLL
    for (int e = 0; e < 4; e++)
        if (i < tree.count) tree.outer[own * 4 + e] = outer[e];
}

template <class tb_real>
static cudaError_t trid_p_batch_launch_pivoted_chunks(const trid_p_batch_tree<tb_real> &tree, int contiguous,
                                                      const trid_p_batch_arrays<tb_real> &rows, const tb_real *d,
                                                      tb_real *x, cudaStream_t stream)
{
    enum { k = TRID_P_BATCH_CHUNK_ROWS_PIVOTED((int)sizeof(tb_real)), warps = TRID_P_BATCH_WARPS(tb_real, 0) };
    dim3 grid((tree.plan.tiles + warps - 1) / warps), block(32 * warps);
    return contiguous ? trid_launch(trid_p_batch_pivoted_chunks<tb_real, k, TRID_P_BATCH_CONTIGUOUS>, grid, block, 0,
                                    stream, tree, rows, d, x)
                      : trid_launch(trid_p_batch_pivoted_chunks<tb_real, k, TRID_P_BATCH_STRIDED>, grid, block, 0,
                                    stream, tree, rows, d, x);
}
template <class tb_real>
static int trid_p_batch_launch_tree(trid_p_batch_plan plan, int contiguous, const trid_p_batch_arrays<tb_real> &rows,
                                    const tb_real *d, tb_real *x, cudaStream_t stream)
{
    enum { chunk_rows = 32 * TRID_P_BATCH_CHUNK_ROWS_PIVOTED((int)sizeof(tb_real)) };
    if (trid_p_batch_lacks(plan)) return TRID_BATCH_BAD_ARGUMENT;
    const int reports = trid_p_batch_reports(plan);
    const long long systems = plan.lines.systems * plan.lines.groups;
    const trid_p_batch_pivoted_layout layout = trid_p_batch_pivoted_layout_of(plan.n, systems, sizeof(tb_real));
    char *scratch = (char *)plan.scratch;
    dim3 grid;
    if (trid_p_batch_count(&plan, 1, 1, &grid) != cudaSuccess || systems > 0x7fffffffll / layout.count[0])
        return TRID_BATCH_BAD_SIZE;
    trid_p_batch_tree<tb_real> tree;
    tree.plan = plan;
    tree.worst = reports ? (int *)(scratch + layout.worst) : (int *)0;
    if (reports && cudaMemsetAsync(tree.worst, TRID_P_BATCH_NO_ROW_BYTE, (size_t)(8 * systems), stream) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    for (int step = 0; step <= 2 * layout.levels;
         step++) { /* the chunks, the levels up, all but the top down again, chunks */
        int level = step <= layout.levels ? step - 1 : 2 * layout.levels - 1 - step, chunks = level < 0,
            at = chunks ? 0 : level;
        tree.down = step > layout.levels;
        tree.count = (unsigned)layout.count[at];
        tree.groups = (tree.count + 31) / 32;
        tree.border = (tb_real *)(scratch + layout.border[at]);
        tree.outer = (tb_real *)(scratch + layout.outer[at]);
        tree.joined = at + 1 < layout.levels ? (tb_real *)(scratch + layout.border[at + 1]) : (tb_real *)0;
        tree.around = at + 1 < layout.levels ? (tb_real *)(scratch + layout.outer[at + 1]) : (tb_real *)0;
        tree.plan.tiles = (unsigned)systems * (chunks ? tree.count : tree.groups);
        cudaError_t error = chunks ? trid_p_batch_launch_pivoted_chunks(tree, contiguous, rows, d, x, stream)
                                   : trid_launch(trid_p_batch_pivoted_groups<tb_real>, dim3((tree.plan.tiles + 3) / 4),
                                                 dim3(128), 0, stream, tree);
        if (error != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    }
    if (!reports) return TRID_BATCH_OK;
    return trid_p_batch_launched(trid_launch(trid_p_batch_told<tb_real, 0>, dim3((unsigned)((systems + 255) / 256)),
                                             dim3(256), 0, stream, plan, chunk_rows, tree.worst, (const int *)0,
                                             (const unsigned long long *)0));
}

#define TB_BODY "batch/pivoted.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves the systems of any nonsingular matrices, by elimination with pivoting.
   Needs    as trid_batch_solve. flags: TRID_BATCH_TRANSPOSED; TRID_BATCH_ADD or TRID_BATCH_REPAIR. With the latter only
            systems are solved whose report->status is not 0, as an earlier launch left it, and those that share a warp
            or a tile with one of them; d is not x. Their status is then that of this launch, and report->failed counts
            those that are left.
   Returns  as trid_batch_solve. report->status is 0 or 1: in this order of elimination no single row is at fault
   Cost     as trid_batch_solve in memory. Systems of more than 16 KiB a column: nine arrays, as there. Interleaved,
            each element is an access of its own on devices before 8.0 or with less than 160 KiB of shared memory, and
            beyond 512 rows on those without clusters
   Error    as trid_warp_pivoted */
template <int only = 0>
static int trid_batch_pivoted(trid_lines lines, int flags, const tb_real *a, const tb_real *b, const tb_real *c,
                              const tb_real *d, tb_real *x, const trid_batch_report *report, void *scratch,
                              cudaStream_t stream)
{
    const int repair = (flags & TRID_BATCH_REPAIR) != 0;
    const int known = TRID_BATCH_ADD | TRID_BATCH_REPAIR | TRID_BATCH_TRANSPOSED;
    lines = trid_p_lines_of(lines);
    if (repair && ((flags & TRID_BATCH_ADD) || !report || !report->status || d == x)) {
        if (!trid_p_lines_empty(lines)) return TRID_BATCH_BAD_FLAGS;
    }
    int status = trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const tb_real *)x, 0), launched = 0;
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    plan.repair = repair;
    trid_p_batch_arrays<tb_real> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    trid_p_batch_sides(plan, rows.step, &rows.a, rows.b, &rows.c);
    if constexpr (!(only & TRID_BATCH_ONLY_CONTIGUOUS)) {
        if (trid_p_batch_is_interleaved(plan))
            status = trid_p_batch_launch_pivoted_interleaved(plan, rows, d, x, stream, &launched);
        if (launched || status) return status;
    }
    if (trid_p_batch_is_long(plan.lines, sizeof(tb_real), 2)) {
        if constexpr (only & TRID_BATCH_ONLY_SHORT)
            return TRID_BATCH_BAD_SIZE;
        else
            return trid_p_batch_launch_tree(plan, plan.lines.step == 1, rows, d, x, stream);
    }
    return trid_p_batch_launch_contiguous<TRID_P_BATCH_PIVOTED>(plan, rows, d, x, stream);
}

#endif /* TB_BODY */
