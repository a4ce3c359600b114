/* contiguous.h - a room of trid/batch.h: contiguous systems: lanes of a warp, warps of a block.
   MIT licence, see LICENSE. */

/* The 32/lanes systems of a warp, in order and without what may lie between them, have elements f = 0 .. count*n-1.
   Access r of lane l is f = 32 r + l, so that every access but the last is full and coalesced whatever n is. In shared
   memory it goes where transpose_to_striped puts slot e of the 32 k that the lanes have, element t of system s being
   slot s*k*lanes + t. So the lanes read their rows without bank conflicts and with literal offsets, and the stores
   conflict only where an access straddles two systems. */
TB_D int trid_p_batch_slot(int k, int banks, int e)
{
    const int power = k & -k, period = k / power * (power > banks ? power : banks);
    return e + e / period;
}

/* Where the contiguous kernels find their systems. full: n = k*lanes, one system after another; contiguous: any n, one
   after another, or one system a warp; strided: any step and stride, also 0 for rows that all systems share. */
enum { TRID_P_BATCH_FULL, TRID_P_BATCH_CONTIGUOUS, TRID_P_BATCH_STRIDED };

/* Returns where the lane's rows begin. */
TB_D int trid_p_batch_column(int k, int banks)
{
    return transpose_column_slot(banks, k, trid_warp_lane());
}

/* Fetches elements first (0 or 1) .. total - 1; the others are arbitrary, and nobody uses them. Of a row 0 is not read
   (ends < 0) and of c row n-1 (ends > 0). Where systems follow one another, these are the first and last elements of
   all that the warp has, and those between lie among elements that are read. */
template <int path, class tb_real>
TB_D void trid_p_batch_fetch(int k, const trid_p_batch_plan &plan, int first, int total, int ends, const tb_real *src,
                             long long step, long long stride, tb_real *u)
{
    int lane = trid_warp_lane(), left = path == TRID_P_BATCH_FULL ? total - lane : trid_p_batch_again_as(total - lane);
    TB_UNROLL
    for (int r = 0; r < k; r++) {
        int f = 32 * r + lane, here = 32 * r < left;
        if (path == TRID_P_BATCH_FULL) here = r < k - 1 || total == 32 * k || 32 * r < left;
        if (r == 0 && first) here = here && lane >= first;
#ifndef __CUDA_ARCH__
        u[r] = 0;
#endif
        if (path != TRID_P_BATCH_STRIDED) {
            if (here) u[r] = src[f];
        } else {
            int s = (int)((unsigned)f * plan.magic >> 20), row = f - s * plan.n;
            if (ends < 0) here = here && row > 0;
            if (ends > 0) here = here && row < plan.n - 1;
            if (here) u[r] = src[s * stride + row * step];
        }
    }
}

/* Finds where this lane's accesses lie in shared memory; those beyond total lie in the lane's own word behind the len
   that are read. literal: where slots follow one another, as in full tiles and for a warp with one system, no array is
   needed. */
template <int literal>
TB_D void trid_p_batch_slots(int k, int banks, int len, const trid_p_batch_plan &plan, int total, int *slot)
{
    int lane = trid_warp_lane(), gap = (k << plan.lanes_log2) - plan.n;
    TB_UNROLL
    for (int r = 0; r < (literal ? 0 : k); r++) {
        int f = 32 * r + lane;
        slot[r] = trid_p_batch_slot(k, banks, f + (int)((unsigned)f * plan.magic >> 20) * gap);
        if (f >= total) slot[r] = len + lane;
    }
}
template <int literal>
TB_D int trid_p_batch_slot_of(int k, int banks, int r, const int *slot)
{
    return literal ? transpose_row_slot(banks, k, r, trid_warp_lane()) : slot[r];
}

/* Transposes from the order of the accesses to rows: the lane's row j in u[j], fill from row `rows` on. */
template <int path, int literal, class tb_real>
TB_D void trid_p_batch_transpose(int k, int rows, tb_real fill, const int *slot, tb_real *u, tb_real *shared)
{
    const int banks = TRID_P_BATCH_BANKS(tb_real);
    int column = trid_p_batch_column(k, banks);
    if (path != TRID_P_BATCH_FULL) rows = trid_p_batch_again_as(rows);
    __syncwarp(TB_FULL_WARP); /* whatever was there has been read */
    TB_UNROLL
    for (int r = 0; r < k; r++) shared[trid_p_batch_slot_of<literal>(k, banks, r, slot)] = u[r];
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < k; j++) u[j] = j < rows ? shared[column + j] : fill;
}

/* Stores x, from rows to memory; leaves u clobbered. */
template <int path, int literal, class tb_real>
TB_D void trid_p_batch_store(int k, const trid_p_batch_plan &plan, int total, int rows, const int *slot, tb_real *u,
                             tb_real *dst, tb_real *shared)
{
    const int banks = TRID_P_BATCH_BANKS(tb_real);
    int column = trid_p_batch_column(k, banks), lane = trid_warp_lane(), add = plan.flags & TRID_BATCH_ADD;
    long long step = plan.lines.step, stride = plan.lines.stride;
    if (path != TRID_P_BATCH_FULL) rows = trid_p_batch_again_as(rows), total = trid_p_batch_again_as(total);
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (j < rows) shared[column + j] = u[j];
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int r = 0; r < k; r++) u[r] = shared[trid_p_batch_slot_of<literal>(k, banks, r, slot)];
    if (path != TRID_P_BATCH_STRIDED) {
        if (add) {
            TB_UNROLL
            for (int r = 0; r < k; r++)
                if (32 * r + lane < total) u[r] += dst[32 * r + lane];
        }
        TB_UNROLL
        for (int r = 0; r < k; r++)
            if (32 * r + lane < total) dst[32 * r + lane] = u[r];
    } else {
        TB_UNROLL
        for (int r = 0; r < k; r++) {
            int f = 32 * r + lane, s = (int)((unsigned)f * plan.magic >> 20);
            tb_real *to = dst + (s * stride + (f - s * plan.n) * step);
            if (f < total) *to = add ? *to + u[r] : u[r];
        }
    }
}

/* Fetches the lane's rows of the matrix from arrays, still to be transposed, or makes them where they are wanted, by an
   operator()(system, row, a, b, c). */
template <int path, class tb_real, class rows_type>
TB_D void trid_p_batch_matrix(int k, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int total, int rank,
                              int rows, const rows_type &from, tb_real *a, tb_real *b, tb_real *c)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        long long at = tile.group * from.jump + tile.first * from.stride;
        trid_p_batch_fetch<path>(k, plan, 1, total, -1, from.a + at, from.step, from.stride, a);
        trid_p_batch_fetch<path>(k, plan, 0, total, 0, from.b + at, from.step, from.stride, b);
        trid_p_batch_fetch<path>(k, plan, 0, total - 1, 1, from.c + at, from.step, from.stride, c);
    } else {
        long long system = tile.group * plan.lines.systems + tile.first + (trid_warp_lane() >> plan.lanes_log2);
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            a[j] = c[j] = 0;
            b[j] = 1;
            if (j < rows) from(system, k * rank + j, &a[j], &b[j], &c[j]);
            if (path != TRID_P_BATCH_FULL && j >= rows - 1) c[j] = 0;
        }
    }
}

/* Transposes the matrix that came from arrays; it stays in shared memory if the arrays' places are `apart`. Rows beyond
   the system become identity rows, and its last row is coupled to none of them. */
template <int path, int literal, class tb_real, class rows_type>
TB_D void trid_p_batch_transpose_matrix(int k, const rows_type &, int rows, const int *slot, tb_real *a, tb_real *b,
                                        tb_real *c, tb_real *shared, int apart)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        trid_p_batch_transpose<path, literal>(k, rows, (tb_real)0, slot, a, shared);
        trid_p_batch_transpose<path, literal>(k, rows, (tb_real)1, slot, b, shared + apart);
        trid_p_batch_transpose<path, literal>(k, path == TRID_P_BATCH_FULL ? rows : rows - 1, (tb_real)0, slot, c,
                                              shared + 2 * apart);
    }
}

/* Reads the lane's matrix once more, from where trid_p_batch_transpose_matrix left it, len elements an array, or makes
   it again. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_again(int k, int len, const rows_type &make, long long system, int first, int rows,
                             const tb_real *shared, tb_real *a, tb_real *b, tb_real *c)
{
    int column = trid_p_batch_column(k, TRID_P_BATCH_BANKS(tb_real));
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
            a[j] = j < rows ? shared[column + j] : (tb_real)0;
            b[j] = j < rows ? shared[len + column + j] : (tb_real)0;
            c[j] = j < rows ? shared[2 * len + column + j] : (tb_real)0;
        } else {
            a[j] = b[j] = c[j] = 0;
            if (j < rows) make(system, first + j, &a[j], &b[j], &c[j]);
        }
    }
}

/* Warps a block: fewer where registers are many, so that they fill a multiprocessor better; and so few that what
   checked solves keep fits in the 48 KiB of shared memory that a block has without asking. */
#define TRID_P_BATCH_WARPS(tb_real, checked) (sizeof(tb_real) == 8 ? 2 : 4)

/* Blocks a multiprocessor for which the compiler makes room: as many as do without local memory. */
#define TRID_P_BATCH_RESIDENT(tb_real, k, path)                                                                        \
    (sizeof(tb_real) == 4 ? TRID_P_BATCH_RESIDENT_F32(k, path) : TRID_P_BATCH_RESIDENT_F64(k, path))
#define TRID_P_BATCH_RESIDENT_F32(k, path)                                                                             \
    ((k) > 28                         ? 3                                                                              \
     : (k) > 16                       ? 4                                                                              \
     : (k) <= 8                       ? ((path) == TRID_P_BATCH_STRIDED ? 5 : 8)                                       \
     : (path) == TRID_P_BATCH_FULL    ? 6                                                                              \
     : (path) == TRID_P_BATCH_STRIDED ? 4                                                                              \
     : (k) <= 14                      ? 6                                                                              \
                                      : 5)
#define TRID_P_BATCH_RESIDENT_F64(k, path)                                                                             \
    ((k) <= 8 ? ((path) == TRID_P_BATCH_STRIDED ? 8 : 10) : (path) == TRID_P_BATCH_STRIDED ? 4 : (k) <= 12 ? 8 : 6)

/* Solves systems of n <= k*lanes rows, lanes = 1 .. 32. */
template <class tb_real, int k, int path, class rows_type>
TRID_P_BATCH_BOUNDS(32 * TRID_P_BATCH_WARPS(tb_real, 0), TRID_P_BATCH_RESIDENT(tb_real, k, path))
TRID_KERNEL void trid_p_batch_warps(trid_p_batch_plan plan, rows_type rows, const tb_real *d, tb_real *x)
{
    const int banks = TRID_P_BATCH_BANKS(tb_real), len = TRID_P_BATCH_LEN(tb_real, k);
    const int warps = TRID_P_BATCH_WARPS(tb_real, 0), literal = path == TRID_P_BATCH_FULL || k > 16;
    __shared__ tb_real buffer[warps][len + 32];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, lanes = plan.lanes, n = plan.n;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x * warps + (unsigned)warp, 32 >> plan.lanes_log2);
    if (tile.count == 0) return;
    int own = lane >> plan.lanes_log2, rank = lane & (lanes - 1), own_n = own < tile.count ? n : 0;
    int total = tile.count * n, valid = own_n - k * rank; /* rows from valid on are none of the system's */
    if (path == TRID_P_BATCH_FULL) total = 32 * k, valid = k, own_n = n = k * lanes;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    long long system = tile.group * plan.lines.systems + tile.first + own;
    tb_real ra[k], rb[k], rc[k], rd[k], end[2], *shared = buffer[warp];
    int slot[k];
    trid_p_batch_ask_known(k, rows, system, k * rank, own_n - k * rank, end);
    trid_p_batch_matrix<path>(k, plan, tile, total, rank, valid, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<path>(k, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<literal>(k, banks, len, plan, total, slot);
    trid_p_batch_transpose_matrix<path, literal>(k, trid_p_batch_rows_of(rows), valid, slot, ra, rb, rc, shared, 0);
    trid_p_batch_transpose<path, literal>(k, valid, (tb_real)0, slot, rd, shared);
    trid_p_batch_put_known(k, rows, k * rank, own_n - k * rank, end, ra, rb, rc, rd);
    int bad = trid_warp_hybrid(k, lanes, k * lanes, ra, rb, rc, rd);
    if (path != TRID_P_BATCH_FULL) {
        lane = trid_p_batch_again_as(lane);
        warp = trid_p_batch_again_as((int)threadIdx.x) / 32;
        tile = trid_p_batch_tile_of(plan, blockIdx.x * warps + (unsigned)warp, 32 >> plan.lanes_log2);
        own = lane >> plan.lanes_log2, rank = lane & (lanes - 1), own_n = own < tile.count ? n : 0;
        total = tile.count * n, valid = own_n - k * rank;
        at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
        system = tile.group * plan.lines.systems + tile.first + own;
        shared = buffer[warp];
    }
    bad = trid_p_batch_row(bad, n);
    trid_p_batch_store<path, literal>(k, plan, total, valid, slot, rd, x + at, shared);
    trid_p_batch_tell_warp<tb_real>(plan, lanes, rank, own_n, system, bad);
}

/* The same where a system has several warps: this warp's rows are 32 k warp .. 32 k warp + total - 1. */
template <int path, class tb_real, class rows_type>
TB_D void trid_p_batch_warp_matrix(int k, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int total,
                                   int warp, int rows, const rows_type &from, tb_real *a, tb_real *b, tb_real *c)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        long long at = tile.group * from.jump + tile.first * from.stride + 32 * k * warp * from.step;
        int has_last = 32 * k * warp + total == plan.n;
        trid_p_batch_fetch<path>(k, plan, warp == 0, total, 0, from.a + at, from.step, from.stride, a);
        trid_p_batch_fetch<path>(k, plan, 0, total, 0, from.b + at, from.step, from.stride, b);
        trid_p_batch_fetch<path>(k, plan, 0, total - has_last, 0, from.c + at, from.step, from.stride, c);
    } else {
        long long system = tile.group * plan.lines.systems + tile.first;
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            a[j] = c[j] = 0;
            b[j] = 1;
            if (j < rows) from(system, k * (32 * warp + trid_warp_lane()) + j, &a[j], &b[j], &c[j]);
            if (path != TRID_P_BATCH_FULL && j >= rows - 1) c[j] = 0;
        }
    }
}

/* Blocks a multiprocessor, as TRID_P_BATCH_RESIDENT; 0: as many as there are without asking. */
#ifndef TRID_P_BATCH_BLOCK_RESIDENT
#define TRID_P_BATCH_BLOCK_RESIDENT(tb_real, warps, path, checked)                                                     \
    ((checked) || (warps) == 2 || (path) == TRID_P_BATCH_STRIDED || sizeof(tb_real) == 4 ? 0 : 3)
#endif

/* Solves systems of n <= 32 k warps rows, a block each. */
template <class tb_real, int k, int warps, int path, int checked, class rows_type>
TRID_P_BATCH_BOUNDS(32 * warps, TRID_P_BATCH_BLOCK_RESIDENT(tb_real, warps, path, checked))
TRID_KERNEL void trid_p_batch_block(trid_p_batch_plan plan, rows_type rows, const tb_real *d, tb_real *x)
{
    const int banks = TRID_P_BATCH_BANKS(tb_real), len = TRID_P_BATCH_LEN(tb_real, k);
    const int own_len = checked ? len + 32 : 0, literal = 1;
    __shared__ tb_real buffer[warps][(checked ? 4 : 1) * (len + 32)], between[TRID_BLOCK_HYBRID_LEN], border[2 * warps];
    __shared__ int worst[warps];
    int warp = (int)threadIdx.x / 32, n = plan.n, first = k * (int)threadIdx.x;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x, 1);
    int total = n - 32 * k * warp, valid = n - first;
    if (total > 32 * k) total = 32 * k;
    if (path == TRID_P_BATCH_FULL) total = 32 * k, valid = k, n = 32 * k * warps;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + 32 * k * warp * plan.lines.step;
    long long system = tile.group * plan.lines.systems + tile.first;
    tb_real ra[k], rb[k], rc[k], rd[k], *shared = buffer[warp], error = 0, size = 0;
    tb_real end[2];
    int slot[k];
    trid_p_batch_ask_known(k, rows, system, first, n - first, end);
    trid_p_batch_warp_matrix<path>(k, plan, tile, total, warp, valid, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<path>(k, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<literal>(k, banks, len, plan, total, slot);
    trid_p_batch_transpose_matrix<path, literal>(k, trid_p_batch_rows_of(rows), valid, slot, ra, rb, rc, shared,
                                                 own_len);
    trid_p_batch_transpose<path, literal>(k, valid, (tb_real)0, slot, rd, shared + 3 * own_len);
    trid_p_batch_put_known(k, rows, first, n - first, end, ra, rb, rc, rd);
    int bad = trid_p_batch_row(trid_block_hybrid(k, k * trid_block_threads(), ra, rb, rc, rd, between), n);
    if (checked) {
        const tb_real *kept = shared + 3 * own_len + trid_p_batch_column(k, banks);
        tb_real kd[k], rest[k];
        TRID_P_BATCH_LOOP
        for (int refine = (plan.flags & TRID_BATCH_REFINED) != 0; refine >= 0; refine--) {
            int lane = (int)threadIdx.x & 31;
            if (lane == 0) border[warp] = rd[0];
            if (lane == 31) border[warps + warp] = rd[k - 1];
            __syncthreads();
            tb_real left = __shfl_up_sync(TB_FULL_WARP, rd[k - 1], 1), right = __shfl_down_sync(TB_FULL_WARP, rd[0], 1);
            if (lane == 0) left = border[warps + (warp > 0 ? warp - 1 : 0)];
            if (lane == 31) right = border[32 * (warp + 1) < (int)blockDim.x ? warp + 1 : warp];
            trid_p_batch_again(k, own_len, trid_p_batch_rows_of(rows), system, first, valid, shared, ra, rb, rc);
            TB_UNROLL
            for (int j = 0; j < k; j++) kd[j] = j < valid ? kept[j] : (tb_real)0;
            error = size = 0;
            trid_p_batch_defect(k, first, n, valid, ra, rb, rc, kd, rd, left, right, rest, &error, &size);
            if (!refine) break;
            trid_block_hybrid(k, n, ra, rb, rc, rest, between); /* its barrier also lets border be filled again */
            TB_UNROLL
            for (int j = 0; j < k; j++) rd[j] += rest[j];
        }
        __syncthreads(); /* border will be used for something else */
    }
    trid_p_batch_store<path, literal>(k, plan, total, valid, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < 32; m *= 2) {
            int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
            bad = other < bad ? other : bad;
            if (checked) {
                error = trid_p_batch_larger(error, (tb_real)__shfl_xor_sync(TB_FULL_WARP, error, m));
                size = trid_p_batch_larger(size, (tb_real)__shfl_xor_sync(TB_FULL_WARP, size, m));
            }
        }
        if (threadIdx.x % 32 == 0) {
            worst[warp] = bad;
            border[warp] = error;
            border[warps + warp] = size;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < warps && 32 * w < (int)blockDim.x; w++) {
                bad = worst[w] < bad ? worst[w] : bad;
                error = trid_p_batch_larger(error, border[w]);
                size = trid_p_batch_larger(size, border[warps + w]);
            }
            trid_p_batch_tell(plan, system, bad, checked, error, size);
        }
    }
}

/* ---- shapes and launches ----------------------------------------------------------------------------------------- */

/* Launches the kernel with the first of the sizes that is k or more, rows a lane. */
template <int path, int... sizes, class tb_real, class rows_type>
static int trid_p_batch_launch_warps(const trid_p_batch_plan &plan, int k, dim3 grid, const rows_type &rows,
                                     const tb_real *d, tb_real *x, cudaStream_t stream)
{
    const dim3 block(32 * TRID_P_BATCH_WARPS(tb_real, 0));
    cudaError_t error = cudaErrorInvalidConfiguration;
    (void)((k <= sizes && (error = trid_launch(trid_p_batch_warps<tb_real, sizes, path, rows_type>, grid, block, 0,
                                               stream, plan, rows, d, x),
                           1)) ||
           ...);
    return trid_p_batch_launched(error);
}

/* Launches as many warps a system as hold it, up to `warps`: n > 512. */
template <class tb_real, int k, int warps, int path, int checked, class rows_type>
static int trid_p_batch_launch_block_of(trid_p_batch_plan plan, rows_type rows, const tb_real *d, tb_real *x,
                                        cudaStream_t stream)
{
    dim3 grid;
    if (trid_p_batch_count(&plan, 1, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    return trid_p_batch_launched(trid_launch(trid_p_batch_block<tb_real, k, warps, path, checked, rows_type>, grid,
                                             dim3((unsigned)((plan.n + 32 * k - 1) / (32 * k) * 32)), 0, stream, plan,
                                             rows, d, x));
}
template <class tb_real, int checked, int path, class rows_type>
static int trid_p_batch_launch_block(const trid_p_batch_plan &plan, const rows_type &rows, const tb_real *d, tb_real *x,
                                     cudaStream_t stream)
{
    enum { warps = (TRID_P_BATCH_ON_CHIP((int)sizeof(tb_real), checked) + 511) / 512 };
    return trid_p_batch_launch_block_of<tb_real, 16, warps, path, checked>(plan, rows, d, x, stream);
}

/* Launches for n = 513 .. 1024 with step 1: up to 32 rows in each lane of a warp, in single precision and without
   residuals; else two warps a system. */
template <int checked, class tb_real, class rows_type>
static int trid_p_batch_launch_long_warps(trid_p_batch_plan plan, const rows_type &rows, const tb_real *d, tb_real *x,
                                          cudaStream_t stream)
{
    const int full = plan.n == 1024;
    if constexpr (sizeof(tb_real) == 4 && !checked) {
        const int k = (plan.n + 31) / 32;
        dim3 grid;
        if (trid_p_batch_count(&plan, 1, TRID_P_BATCH_WARPS(tb_real, 0), &grid) != cudaSuccess)
            return TRID_BATCH_BAD_SIZE;
        return full ? trid_p_batch_launch_warps<TRID_P_BATCH_FULL, 32>(plan, k, grid, rows, d, x, stream)
                    : trid_p_batch_launch_warps<TRID_P_BATCH_CONTIGUOUS, 24, 32>(plan, k, grid, rows, d, x, stream);
    } else {
        if (full)
            return trid_p_batch_launch_block_of<tb_real, 16, 2, TRID_P_BATCH_FULL, checked>(plan, rows, d, x, stream);
        if (plan.n > 64 * 12)
            return trid_p_batch_launch_block<tb_real, checked, TRID_P_BATCH_CONTIGUOUS>(plan, rows, d, x, stream);
        return trid_p_batch_launch_block_of<tb_real, 12, 2, TRID_P_BATCH_CONTIGUOUS, checked>(plan, rows, d, x, stream);
    }
}

/* Launches for n > 512: beyond what one warp usually has. */
template <int checked, class tb_real, class rows_type>
static int trid_p_batch_launch_beyond(const trid_p_batch_plan &plan, int path, const rows_type &rows, const tb_real *d,
                                      tb_real *x, cudaStream_t stream)
{
    if (path == TRID_P_BATCH_STRIDED)
        return trid_p_batch_launch_block<tb_real, checked, TRID_P_BATCH_STRIDED>(plan, rows, d, x, stream);
    if (plan.n > 1024)
        return trid_p_batch_launch_block<tb_real, checked, TRID_P_BATCH_CONTIGUOUS>(plan, rows, d, x, stream);
    return trid_p_batch_launch_long_warps<checked>(plan, rows, d, x, stream);
}

/* Chooses the fewest lanes a system with which at most `most` rows a lane hold it. Returns the rows a lane. */
static inline int trid_p_batch_choose_lanes(trid_p_batch_plan *plan, int most)
{
    const int n = plan->n;
    int lanes = 1, log2 = 0;
    while (lanes < 32 && (n + lanes - 1) / lanes > most) lanes *= 2, log2++;
    plan->lanes = lanes;
    plan->lanes_log2 = log2;
    plan->magic = lanes == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    return (n + lanes - 1) / lanes;
}

/* Returns the path, lanes being chosen; `most` rows a lane make a full tile. With shared, one matrix is that of all
   systems, so that its rows do not follow one another from system to system. */
static inline int trid_p_batch_path_of(const trid_p_batch_plan &plan, int most, int shared)
{
    const int n = plan.n, lanes = plan.lanes;
    if (plan.lines.step != 1 || (lanes < 32 && (plan.lines.stride != n || shared))) return TRID_P_BATCH_STRIDED;
    return n == most * lanes && plan.lines.systems % (32 / lanes) == 0 ? TRID_P_BATCH_FULL : TRID_P_BATCH_CONTIGUOUS;
}

template <class tb_real, class rows_type>
static int trid_p_batch_launch_contiguous(trid_p_batch_plan plan, const rows_type &rows, const tb_real *d, tb_real *x,
                                          int shared, cudaStream_t stream)
{
    const int k = trid_p_batch_choose_lanes(&plan, 16), path = trid_p_batch_path_of(plan, 16, shared);
    dim3 grid;
    if (plan.n > 512) return trid_p_batch_launch_beyond<0>(plan, path, rows, d, x, stream);
    if (trid_p_batch_count(&plan, 32 / plan.lanes, TRID_P_BATCH_WARPS(tb_real, 0), &grid) != cudaSuccess)
        return TRID_BATCH_BAD_SIZE;
    if (path == TRID_P_BATCH_FULL)
        return trid_p_batch_launch_warps<TRID_P_BATCH_FULL, 16>(plan, k, grid, rows, d, x, stream);
    if (path == TRID_P_BATCH_CONTIGUOUS)
        return trid_p_batch_launch_warps<TRID_P_BATCH_CONTIGUOUS, 2, 3, 4, 6, 8, 10, 12, 14, 16>(plan, k, grid, rows, d,
                                                                                                 x, stream);
    return trid_p_batch_launch_warps<TRID_P_BATCH_STRIDED, 4, 8, 16>(plan, k, grid, rows, d, x, stream);
}
