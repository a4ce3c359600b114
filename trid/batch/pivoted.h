/* pivoted.h - a room of trid/batch.h: solves systems with any nonsingular matrices, by elimination with pivoting.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Long systems: a chunk leaves two rows in four unknowns, its border (trid/pivoted.h). Warps join 32 borders
   at a time into one of the next level, their parent, until one border is left. The unknowns around each parent then
   give those around its 32 borders, level by level. The rows are eliminated twice, by the same instructions of one
   kernel: the unknowns that come down must belong to exactly the rows that went up, and in an ill-conditioned system
   another rounding would give other rows. */
template <class tb_real>
struct trid_p_batch_tree {
    trid_p_batch_plan plan;
    unsigned count, parents;          /* borders of a system on this level, and on the next */
    tb_real *border, *outer, *joined; /* this level's borders, the unknowns around them; the next level's borders */
    const tb_real *around;            /* the unknowns around the next level's borders */
    int *worst;
    int down;
};
template <class tb_real, int k, int path> /* blocks per multiprocessor as in trid_p_batch_contiguous_shapes */
TRID_P_BATCH_BOUNDS(32 * TRID_P_BATCH_WARPS(tb_real), sizeof(tb_real) == 4 ? 3 : 6)
TRID_KERNEL void trid_p_batch_pivoted_chunks(trid_p_batch_tree<tb_real> tree, trid_p_batch_arrays<tb_real> rows,
                                             const tb_real *d, tb_real *x)
{
    typedef trid_p_batch_chunk<tb_real, k, 1, 32, path, 0> chunk_type;
    __shared__ typename chunk_type::memory memory;
    chunk_type chunk = {tree.plan};
    if (!chunk.begin(tree.count, &memory) || !trid_p_batch_wanted(tree.plan, chunk.system, 1)) return;
    const int position = 32 * chunk.index + chunk.part;
    trid_p_batch_equations<tb_real, k> h;
    tb_real border[9], kept[9], outer[4];
    unsigned flags;
    int side;
    chunk.load(rows, d, h);
    if (chunk.first == 0) h.a[0] = 0;
    if (chunk.valid <= k) h.c[k - 1] = 0;
    int met = trid_warp_pivoted_reduce(k, 32, position, h.a, h.b, h.c, h.d, border, &flags);
    met |= trid_warp_pivoted_up(1, 32, 32, position, border, kept, &side);
    if (!tree.down) {
        TB_UNROLL
        for (int e = 0; e < 9; e++)
            if (chunk.part == 15) tree.border[(chunk.system * tree.count + chunk.index) * 9 + e] = border[e];
        if (met) trid_p_batch_failed(tree.worst, chunk.system, 0, 1);
        return;
    }
    TB_UNROLL
    for (int e = 0; e < 4; e++) outer[e] = tree.outer[(chunk.system * tree.count + chunk.index) * 4 + e];
    trid_warp_pivoted_down(1, 32, 32, position, kept, side, outer);
    trid_warp_pivoted_expand(k, position, h.a, h.b, h.c, h.d, flags, outer);
    chunk.begin(tree.count, &memory, trid_p_batch_again_as((int)threadIdx.x));
    chunk.store((tb_real *)0, h.d, x);
}
template <class tb_real>
TRID_P_BATCH_BOUNDS(128)
TRID_KERNEL void trid_p_batch_pivoted_tree(trid_p_batch_tree<tb_real> tree)
{
    const trid_p_batch_plan &plan = tree.plan;
    int lane = (int)threadIdx.x & 31, side;
    unsigned index = blockIdx.x * 4 + threadIdx.x / 32;
    if (index >= plan.tiles * tree.parents) return;
    unsigned system = index / tree.parents, parent = index - system * tree.parents, i = 32 * parent + (unsigned)lane;
    if (!trid_p_batch_wanted(plan, system, 1)) return;
    long long own = (long long)system * tree.count + i, joined = (long long)system * tree.parents + parent;
    tb_real border[9], kept[9], outer[4];
    /* A missing border says that its first and last unknowns are 0. In odd lanes it has the form for a join with the
       group above, in even lanes that for a join with the group below. */
    TB_UNROLL
    for (int e = 0; e < 9; e++)
        border[e] = i < tree.count                           ? tree.border[own * 9 + e]
                    : e == (lane & 1) || e == 7 - (lane & 1) ? (tb_real)1
                                                             : (tb_real)0;
    int met = trid_warp_pivoted_up(1, 32, 32, (int)i, border, kept, &side);
    if (tree.parents == 1) {
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
    if (tree.parents > 1 && !tree.down) return;
    trid_warp_pivoted_down(1, 32, 32, (int)i, kept, side, outer);
    TB_UNROLL
    for (int e = 0; e < 4; e++)
        if (i < tree.count) tree.outer[own * 4 + e] = outer[e];
}

template <class tb_real>
static int trid_p_batch_launch_tree(const trid_p_batch_work<tb_real> &work, const trid_p_batch_arrays<tb_real> &rows)
{
    typedef trid_p_batch_how how;
    enum { k = TRID_P_BATCH_CHUNK_ROWS_PIVOTED((int)sizeof(tb_real)) };
    typedef trid_p_batch_chunk<tb_real, k, 1, 32, how::strided, 0> chunk_type;
    trid_p_batch_plan plan = work.plan;
    const auto on_chunks = plan.lines.step == 1 ? trid_p_batch_pivoted_chunks<tb_real, k, how::contiguous>
                                                : trid_p_batch_pivoted_chunks<tb_real, k, how::strided>;
    if (!plan.scratch) return TRID_BATCH_BAD_SCRATCH;
    const long long systems = plan.lines.systems * plan.lines.groups;
    const trid_p_batch_pivoted_layout layout = trid_p_batch_pivoted_layout_of(plan.n, systems, sizeof(tb_real));
    char *scratch = (char *)plan.scratch;
    unsigned blocks;
    if (trid_p_batch_count(&plan, 1, 1, &blocks) || systems > 0x7fffffffll / layout.count[0])
        return TRID_BATCH_BAD_SIZE;
    trid_p_batch_tree<tb_real> tree = {};
    tree.plan = plan;
    if (trid_p_batch_clear_worst(plan, layout.worst, work.stream, &tree.worst)) return TRID_BATCH_LAUNCH_FAILED;
    const int last = layout.levels - 1;
    for (int step = -1; step <= 2 * last + 1; step++) { /* chunks; levels, up to the top and back down; chunks */
        const int level = step <= last ? step : 2 * last - step, chunks = level < 0, at = chunks ? 0 : level;
        tree.down = step > last;
        tree.count = (unsigned)layout.count[at];
        tree.parents = (tree.count + 31) / 32;
        tree.border = (tb_real *)(scratch + layout.border[at]);
        tree.outer = (tb_real *)(scratch + layout.outer[at]);
        tree.joined = at < last ? (tb_real *)(scratch + layout.border[at + 1]) : (tb_real *)0;
        tree.around = at < last ? (tb_real *)(scratch + layout.outer[at + 1]) : (tb_real *)0;
        const int status = chunks ? trid_p_batch_start(on_chunks, chunk_type::blocks(plan, tree.count),
                                                       chunk_type::threads, 0, work.stream, tree, rows, work.d, work.x)
                                  : trid_p_batch_start(trid_p_batch_pivoted_tree<tb_real>,
                                                       (plan.tiles * tree.parents + 3) / 4, 128, 0, work.stream, tree);
        if (status) return status;
    }
    trid_p_batch_levels<tb_real> levels = {};
    levels.plan = plan, levels.worst = tree.worst;
    return trid_p_batch_launch_told<0>(levels, 32 * k, layout.count[0], work.stream);
}

#define TB_BODY "batch/pivoted.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves systems with any nonsingular matrices, by elimination with pivoting.
   Needs    as trid_batch_solve. Flags: TRID_BATCH_PIVOTED_FLAGS. REPAIR solves only systems whose status an earlier
            launch left nonzero, and those that share a warp or a tile with one of them; it excludes ADD, and x must not
            be d. The solved systems' status is then that of this launch, and `failed` counts those that still fail
   Returns  as trid_batch_solve. A system's status is 0 or 1: in this order of elimination no single row is at fault
   Cost     memory traffic as trid_batch_solve, but nine arrays (ADD: ten) whenever n elements exceed 16 KiB. If step
            is not 1, this limit is n = 1024; for interleaved systems it is the largest n that clusters hold, if that
            exceeds 1024. Interleaved systems: each element is a separate access in three cases: before compute
            capability 8.0; with more than 512 rows, if no cluster holds the systems; and where a block cannot have the
            shared memory that the pipeline needs. The pipeline needs 149 KiB (ADD: 181); with up to 64 rows 170 (202);
            with up to 16 rows 144 (176) in single and 136 (168) in double precision
   Error    as trid_warp_pivoted. On chip, the systems of a warp or a block (interleaved: of a tile outside clusters)
            are solved without pivoting if all of their rows are dominant, |b| > (1 + 1/(8k^2)) (|a| + |c|) for k rows a
            thread; that is then as stable (docs/pivoted.md). So neighbours may change the last digits of x */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_pivoted(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                              tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    typedef trid_p_batch_how how;
    trid_p_batch_call<tb_real> call = {lines, a, b, c, d, x, options, stream};
    if ((call.flags & TRID_BATCH_REPAIR) && ((call.flags & TRID_BATCH_ADD) || !options->status || d == x))
        if (!trid_p_lines_empty(trid_p_lines_of(lines))) return TRID_BATCH_BAD_FLAGS;
    int status = trid_p_batch_accept(&call, TRID_BATCH_PIVOTED_FLAGS);
    const trid_p_batch_work<tb_real> &work = call.work;
    if (status || call.empty) return status;
    if (work.plan.n < least || work.plan.n > most) return TRID_BATCH_BAD_SIZE;
    if constexpr (bounds::interleaved)
        if (trid_p_lines_are_interleaved(work.plan.lines)) {
            status = trid_p_batch_launch_interleaved<how::pivoted, least, most>(work, call.rows);
            if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
        }
    if constexpr (bounds::has_long)
        if (work.plan.n > trid_p_batch_on_chip(work.plan.lines, sizeof(tb_real), 2))
            return trid_p_batch_launch_tree(work, call.rows);
    return trid_p_batch_launch_contiguous<how::pivoted, least, most>(work, call.rows);
}

#endif /* TB_BODY */
