/* shared.h - a room of trid/batch.h: one matrix for all systems.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Solves systems of n <= k*lanes rows with one matrix. A block brings it into shared memory once, identity rows and
   all, and reads it from there for tile after tile. */
template <class tb_real, int k, int path>
TRID_P_BATCH_BOUNDS(32 * TRID_P_BATCH_WARPS(tb_real, 0), TRID_P_BATCH_RESIDENT(tb_real, k, path))
TRID_KERNEL void trid_p_batch_shared_warps(trid_p_batch_plan plan, trid_p_batch_one_matrix<tb_real> from,
                                           const tb_real *d, tb_real *x)
{
    const int banks = TRID_P_BATCH_BANKS(tb_real), len = TRID_P_BATCH_LEN(tb_real, k);
    const int warps = TRID_P_BATCH_WARPS(tb_real, 0), literal = path == TRID_P_BATCH_FULL || k > 16;
    __shared__ tb_real buffer[warps][len + 32], matrix[3][len];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, lanes = plan.lanes, n = plan.n;
    int own = lane >> plan.lanes_log2, rank = lane & (lanes - 1), column = trid_p_batch_slot(k, banks, k * rank);
    for (int j = (int)threadIdx.x; j < k * lanes; j += 32 * warps) {
        int slot = trid_p_batch_slot(k, banks, j);
        matrix[0][slot] = j > 0 && j < n ? from.a[j] : (tb_real)0;
        matrix[1][slot] = j < n ? from.b[j] : (tb_real)1;
        matrix[2][slot] = j < n - 1 ? from.c[j] : (tb_real)0;
    }
    __syncthreads();
    int slots[k];
    tb_real *shared = buffer[warp];
    TRID_P_BATCH_LOOP
    for (unsigned i = 0; i < plan.repeat; i++) {
        trid_p_batch_tile tile =
            trid_p_batch_tile_of(plan, (i * gridDim.x + blockIdx.x) * warps + (unsigned)warp, 32 >> plan.lanes_log2);
        if (tile.count == 0) return;
        int own_n = own < tile.count ? n : 0, total = tile.count * n, valid = own_n - k * rank;
        if (path == TRID_P_BATCH_FULL) total = 32 * k, valid = k;
        long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
        tb_real ra[k], rb[k], rc[k], rd[k];
        trid_p_batch_fetch<path>(k, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
        trid_p_batch_slots<literal>(k, banks, len, plan, total, slots);
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            ra[j] = matrix[0][column + j];
            rb[j] = matrix[1][column + j];
            rc[j] = matrix[2][column + j];
        }
        trid_p_batch_transpose<path, literal>(k, valid, (tb_real)0, slots, rd, shared);
        int bad = trid_p_batch_row(trid_warp_hybrid(k, lanes, k * lanes, ra, rb, rc, rd), n);
        trid_p_batch_store<path, literal>(k, plan, total, valid, slots, rd, x + at, shared);
        if (trid_p_batch_reports(plan)) {
            for (int m = 1; m < lanes; m *= 2) { /* not trid_p_batch_tell_warp, which costs instructions here */
                int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
                bad = other < bad ? other : bad;
            }
            long long system = tile.group * plan.lines.systems + tile.first + own;
            if (rank == 0 && own_n) trid_p_batch_tell(plan, system, bad, 0, (tb_real)0, (tb_real)0);
        }
    }
}

/* Warps take several tiles where so many blocks remain. */
#ifndef TRID_P_BATCH_LEAST_BLOCKS
#define TRID_P_BATCH_LEAST_BLOCKS 4096
#endif

template <int path, int... sizes, class tb_real>
static int trid_p_batch_launch_shared_warps(const trid_p_batch_plan &plan, int k, dim3 grid,
                                            const trid_p_batch_one_matrix<tb_real> &rows, const tb_real *d, tb_real *x,
                                            cudaStream_t stream)
{
    const dim3 block(32 * TRID_P_BATCH_WARPS(tb_real, 0));
    cudaError_t error = cudaErrorInvalidConfiguration;
    (void)((k <= sizes && (error = trid_launch(trid_p_batch_shared_warps<tb_real, sizes, path>, grid, block, 0, stream,
                                               plan, rows, d, x),
                           1)) ||
           ...);
    return trid_p_batch_launched(error);
}
template <class tb_real>
static int trid_p_batch_launch_shared(trid_p_batch_plan plan, const trid_p_batch_one_matrix<tb_real> &rows,
                                      const tb_real *d, tb_real *x, cudaStream_t stream)
{
    const int k = trid_p_batch_choose_lanes(&plan, 16), path = trid_p_batch_path_of(plan, 16, 0);
    if (plan.n > 512) { /* one system a warp or two: rows as arrays without a stride */
        trid_p_batch_arrays<tb_real> arrays = {rows.a, rows.b, rows.c, 1, 0, 0};
        return trid_p_batch_launch_beyond<0>(plan, path, arrays, d, x, stream);
    }
    dim3 grid;
    if (trid_p_batch_count(&plan, 32 / plan.lanes, TRID_P_BATCH_WARPS(tb_real, 0), &grid) != cudaSuccess)
        return TRID_BATCH_BAD_SIZE;
    const unsigned repeat = grid.x / TRID_P_BATCH_LEAST_BLOCKS;
    plan.repeat = repeat < 1 ? 1 : repeat > 16 ? 16 : repeat;
    grid.x = (grid.x + plan.repeat - 1) / plan.repeat;
    if (path == TRID_P_BATCH_FULL)
        return trid_p_batch_launch_shared_warps<TRID_P_BATCH_FULL, 16>(plan, k, grid, rows, d, x, stream);
    if (path == TRID_P_BATCH_CONTIGUOUS)
        return trid_p_batch_launch_shared_warps<TRID_P_BATCH_CONTIGUOUS, 2, 4, 8, 12, 16>(plan, k, grid, rows, d, x,
                                                                                          stream);
    return trid_p_batch_launch_shared_warps<TRID_P_BATCH_STRIDED, 8, 16>(plan, k, grid, rows, d, x, stream);
}

/* Solves interleaved systems with one matrix, which a block factors once. That leaves few operations and few registers
   for each tile, so that a multiprocessor has several blocks, of which one solves while the others wait. */
template <class tb_real, int threads>
static constexpr int trid_p_batch_shared_resident = (sizeof(tb_real) == 4 ? 1024 : 768) / threads;
template <class tb_real, class shape, class rows_type>
TRID_P_BATCH_BOUNDS(shape::threads, trid_p_batch_shared_resident<tb_real, shape::threads>)
TRID_KERNEL void trid_p_batch_shared_interleaved(trid_p_batch_plan plan, rows_type rows, const tb_real *d, tb_real *x)
{
    typedef trid_p_batch_rows<rows_type> of;
    constexpr int k = shape::k, systems = shape::systems, parts = shape::parts;
    constexpr int span = TRID_P_BATCH_SPAN(tb_real, systems, parts), vector = 16 / sizeof(tb_real), reduced_len = 13;
    constexpr int own_len =
        5 * k + vector; /* no bank conflicts, four partitions a warp or fewer reading 16 bytes each */
    __shared__ tb_real shared[3 * span], reduced[parts * reduced_len], known[of::are_known ? 2 * systems : 1];
    __shared__ trid_p_batch_word<tb_real> kept[parts * own_len / vector];
    __shared__ int worst;
    TRID_DYNAMIC_SHARED(dynamic);
    const int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems, first = k * part;
    const int n = plan.n;
    const trid_p_batch_arrays<tb_real> none = trid_p_batch_arrays<tb_real>();
    const trid_p_batch_pipeline<tb_real, shape, 1> pipeline = {plan, none, d, (tb_real *)dynamic, first, 0};
    tb_real *factors = kept[0].v;
    int steps;
    trid_p_batch_registers<tb_real, k> u;
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, systems, line, first);
    trid_p_batch_next_known(k, systems, rows, first, 0, p, known, u.end);
    trid_p_batch_prefetch(pipeline, blockIdx.x, p);
    trid_p_batch_ask_before(pipeline, p, x);
    if (thread == 0) worst = TRID_P_BATCH_NO_ROW; /* before the barriers inside */
    {
        tb_real f[TRID_INTERLEAVED_FACTOR_LEN(k)];
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            u.a[j] = u.c[j] = 0;
            u.b[j] = 1;
            if (first + j < n) trid_p_batch_rows_of(rows)(0, first + j, &u.a[j], &u.b[j], &u.c[j]);
        }
        trid_p_batch_put_known_rows(k, rows, first, n - first, u.a, u.b, u.c);
        int bad =
            trid_p_batch_row(trid_block_interleaved_factor(k, systems, parts, n, u.a, u.b, u.c, f, &steps, shared), n);
        if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst, bad);
        TB_UNROLL
        for (int e = 0; e < 5 * k; e++)
            if (line == 0) factors[part * own_len + e] = f[e];
        TB_UNROLL
        for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(k) - 5 * k; e++)
            if (thread < parts) reduced[thread * reduced_len + e] = f[5 * k + e];
    }
    __syncthreads();
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        const trid_p_batch_place here = p;
        p = trid_p_batch_place_of(plan, index + gridDim.x, systems, line, first); /* none beyond the last tile */
        trid_p_batch_arrive(pipeline, rows, here, index + gridDim.x, p, known, &u);
        trid_p_batch_put_known_values(k, rows, first, here.valid, u.end, u.r);
        trid_block_interleaved_solve_stored(k, systems, parts, k * parts, steps, factors + part * own_len,
                                            reduced + thread % parts * reduced_len, 1, u.r, shared);
        trid_p_batch_finish(pipeline, here, p, x, u.r);
        if (part == 0 && here.in_batch && trid_p_batch_reports(plan))
            trid_p_batch_tell(plan, here.system, worst, 0, (tb_real)0, (tb_real)0);
    }
}

template <class tb_real, class shape, class rows_type>
struct trid_p_batch_kernel<trid_p_batch_how::shared, tb_real, shape, rows_type> {
    static auto of() { return trid_p_batch_shared_interleaved<tb_real, shape, rows_type>; }
    static constexpr trid_p_batch_needs needs(int flags, int)
    {
        constexpr int span = TRID_P_BATCH_SPAN(tb_real, shape::systems, shape::parts), real = (int)sizeof(tb_real);
        constexpr int known = trid_p_batch_rows<rows_type>::are_known * 2 * shape::systems;
        constexpr int elements = 3 * span + (5 * shape::k + 17) * shape::parts + known;
        const int bytes = (flags & TRID_BATCH_ADD ? 2 : 1) * shape::k * shape::threads * real;
        /* 1536: what a block takes for itself */
        return {bytes, elements * real + 1536, trid_p_batch_shared_resident<tb_real, shape::threads>, 1, 0};
    }
};

template <class tb_real, class rows_type>
static int trid_p_batch_launch_shared_interleaved(const trid_p_batch_plan &plan, const rows_type &rows,
                                                  const tb_real *d, tb_real *x, cudaStream_t stream)
{
    const int status = trid_p_batch_launch_interleaved<trid_p_batch_how::shared>(plan, rows, d, x, stream);
    if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
    return trid_p_batch_launch_interleaved<trid_p_batch_how::shared_else>(plan, rows, d, x, stream);
}

#define TB_BODY "batch/shared.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves all systems with one matrix: a, b, c have n elements each, contiguous.
   Needs    as trid_batch_solve; flags: TRID_BATCH_ADD, TRID_BATCH_TRANSPOSED
   Returns  as trid_batch_solve
   Cost     two arrays moved (ADD: three)
   Error    as trid_warp_hybrid */
template <int only = 0>
static int trid_batch_shared(trid_lines lines, int flags, const tb_real *a, const tb_real *b, const tb_real *c,
                             const tb_real *d, tb_real *x, const trid_batch_report *report, void *scratch,
                             cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const int known = TRID_BATCH_ADD | TRID_BATCH_TRANSPOSED;
    int status = flags & ~known ? TRID_BATCH_BAD_FLAGS
                                : trid_p_batch_refuse(lines, flags | TRID_BATCH_SHARED, known | TRID_BATCH_SHARED, a, b,
                                                      c, d, (const tb_real *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    trid_p_batch_one_matrix<tb_real> rows = {a, b, c, plan.n};
    trid_p_batch_sides(plan, 1, &rows.a, rows.b, &rows.c);
    const int is_long = trid_p_batch_is_long(plan.lines, sizeof(tb_real), 0);
    if (trid_p_batch_is_not_compiled<only>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if constexpr (!(only & TRID_BATCH_ONLY_SHORT))
        if (is_long) {
            trid_p_batch_arrays<tb_real> arrays = {rows.a, rows.b, rows.c, 1, 0, 0};
            return trid_p_batch_launch_levels<tb_real, 0, TRID_P_BATCH_ON_CHIP_INTERLEAVED + 1, only>(plan, arrays, d,
                                                                                                      x, stream);
        }
    status = TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_as_interleaved<only>(plan)) {
        if constexpr (!(only & TRID_BATCH_ONLY_CONTIGUOUS))
            status = trid_p_batch_launch_shared_interleaved(plan, rows, d, x, stream);
    } else if constexpr (!(only & TRID_BATCH_ONLY_INTERLEAVED)) {
        status = trid_p_batch_launch_shared(plan, rows, d, x, stream);
    }
    return status;
}

#endif /* TB_BODY */
