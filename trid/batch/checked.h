/* checked.h - a room of trid/batch.h: systems with their residuals.
   MIT licence, see LICENSE. */

/* Where the four arrays of a warp stay until its residuals are known. In full tiles: pieces of 16 bytes, one of padding
   to eight, so that lanes read theirs without bank conflicts. Else as trid_p_batch_slot has it: len elements and a word
   a lane. */
template <class tb_real, int k, int path>
struct trid_p_batch_kept {
    enum {
        vector = 16 / sizeof(tb_real),
        len = path == TRID_P_BATCH_FULL ? 36 * k / vector : TRID_P_BATCH_LEN(tb_real, k),
        own_len = path == TRID_P_BATCH_FULL ? 36 * k : len + 32
    };
};

/* Asks for an array of the warp's systems; ends as in trid_p_batch_fetch, except that a lane looks at its first a. */
template <class tb_real, int k, int path>
TB_D void trid_p_batch_keep(const trid_p_batch_plan &plan, int total, int ends, const tb_real *src, long long step,
                            long long stride, const int *slot, tb_real *kept)
{
    enum { vector = 16 / sizeof(tb_real) };
    int lane = trid_warp_lane();
    if (path == TRID_P_BATCH_FULL) {
        TB_UNROLL
        for (int r = 0; r < k / vector; r++) {
            tb_real *to = &kept[(36 * r + lane + lane / 8) * vector];
            const tb_real *from = &src[(32 * r + lane) * vector];
            int end = ends < 0 ? r == 0 && lane == 0 : ends > 0 ? r == k / vector - 1 && lane == 31 : 0;
            if (!end) trid_p_batch_copy<16, 0>(to, from);
            if (end) to[ends < 0 ? 0 : vector - 1] = 0;
            TB_UNROLL
            for (int i = 1; i < vector; i++)
                if (end) trid_p_batch_copy<sizeof(tb_real), 0>(&to[ends < 0 ? i : i - 1], &from[ends < 0 ? i : i - 1]);
        }
    } else {
        TB_UNROLL
        for (int r = 0; r < k; r++) {
            int f = 32 * r + lane, s = (int)((unsigned)f * plan.magic >> 20), row = f - s * plan.n, here = f < total;
            const tb_real *from = path == TRID_P_BATCH_CONTIGUOUS ? src + f : src + (s * stride + row * step);
            if (path == TRID_P_BATCH_CONTIGUOUS) row = f;
            if (ends < 0 && here && row == 0) kept[slot[r]] = 0, here = 0;
            if (ends > 0) here = here && (path == TRID_P_BATCH_CONTIGUOUS ? f < total - 1 : row < plan.n - 1);
            if (here) trid_p_batch_copy<sizeof(tb_real), 0>(&kept[slot[r]], from);
        }
    }
}

/* Returns the lane's rows g .. g + vector-1 of an array, fill from row `rows` on. */
template <class tb_real, int path>
TB_D trid_p_batch_word<tb_real> trid_p_batch_look(const tb_real *own, int g, int rows, tb_real fill)
{
    enum { vector = 16 / sizeof(tb_real) };
    trid_p_batch_word<tb_real> word;
    if (path == TRID_P_BATCH_FULL) {
        word = *(const trid_p_batch_word<tb_real> *)(own + g);
    } else {
        TB_UNROLL
        for (int j = 0; j < vector; j++) word.v[j] = g + j < rows ? own[g + j] : fill;
    }
    return word;
}

/* Reads the lane's rows of the matrix: identity rows beyond the system, no coupling beyond its ends. */
template <class tb_real, int k, int path>
TB_D void trid_p_batch_matrix_kept(const tb_real *own, int rows, int rank, int lanes, tb_real *a, tb_real *b,
                                   tb_real *c)
{
    enum { vector = 16 / sizeof(tb_real), own_len = trid_p_batch_kept<tb_real, k, path>::own_len };
    TB_UNROLL
    for (int g = 0; g < k; g += vector) {
        trid_p_batch_word<tb_real> wa = trid_p_batch_look<tb_real, path>(own, g, rows, (tb_real)0);
        trid_p_batch_word<tb_real> wb = trid_p_batch_look<tb_real, path>(own + own_len, g, rows, (tb_real)1);
        trid_p_batch_word<tb_real> wc = trid_p_batch_look<tb_real, path>(own + 2 * own_len, g, rows - 1, (tb_real)0);
        TB_UNROLL
        for (int j = 0; j < vector && g + j < k; j++) a[g + j] = wa.v[j], b[g + j] = wb.v[j], c[g + j] = wc.v[j];
    }
    if (rank == 0) a[0] = 0;
    if (path == TRID_P_BATCH_FULL && rank == lanes - 1) c[k - 1] = 0;
}

/* Returns the residual of the lane's rows, which it reads again one after another; in rest if that is not null. */
template <class tb_real, int k, int path>
TB_D trid_p_batch_worst trid_p_batch_residual_of(const tb_real *own, int rows, int rank, int lanes, const tb_real *x,
                                                 tb_real *rest)
{
    enum { vector = 16 / sizeof(tb_real), own_len = trid_p_batch_kept<tb_real, k, path>::own_len };
    trid_p_batch_worst worst = {0, 0};
    tb_real left = __shfl_up_sync(TB_FULL_WARP, x[k - 1], 1, lanes),
            right = __shfl_down_sync(TB_FULL_WARP, x[0], 1, lanes);
    TB_UNROLL
    for (int g = 0; g < k; g += vector) {
        trid_p_batch_word<tb_real> a = trid_p_batch_look<tb_real, path>(own, g, rows, (tb_real)0);
        trid_p_batch_word<tb_real> b = trid_p_batch_look<tb_real, path>(own + own_len, g, rows, (tb_real)0);
        trid_p_batch_word<tb_real> c = trid_p_batch_look<tb_real, path>(own + 2 * own_len, g, rows - 1, (tb_real)0);
        trid_p_batch_word<tb_real> d = trid_p_batch_look<tb_real, path>(own + 3 * own_len, g, rows, (tb_real)0);
        if (g == 0 && rank == 0) a.v[0] = 0;
        if (path == TRID_P_BATCH_FULL && g + vector == k && rank == lanes - 1) c.v[vector - 1] = 0;
        TB_UNROLL
        for (int j = 0; j < vector && g + j < k; j++) {
            tb_real up = g + j > 0 ? x[g + j - 1] : left, down = g + j < k - 1 ? x[g + j + 1] : right;
            /* What lies beyond the ends is not the system's: 0 times another's NaN would be NaN here. */
            if (g + j == 0 && rank == 0) up = 0;
            if (path == TRID_P_BATCH_FULL ? g + j == k - 1 && rank == lanes - 1 : g + j >= rows - 1) down = 0;
            tb_real r = trid_p_batch_residual_row(a.v[j], b.v[j], c.v[j], d.v[j], x[g + j], up, down, &worst);
            if (rest) rest[g + j] = r;
        }
    }
    return worst;
}

/* Blocks a multiprocessor: as many as registers (a refined solve holds x as well) and shared memory allow. */
#define TRID_P_BATCH_CHECKED_RESIDENT(tb_real, k, path, refined)                                                       \
    (sizeof(tb_real) == 8          ? ((k) <= 8    ? 6                                                                  \
                                      : (refined) ? 4                                                                  \
                                                  : 6)                                                                 \
     : (k) <= 8                    ? 6                                                                                 \
     : (path) == TRID_P_BATCH_FULL ? ((refined) ? 5 : 6)                                                               \
                                   : 4)

/* Solves as trid_p_batch_warps does, for arrays, and computes the residual of each system. All four arrays wait in
   shared memory until it is known, so that no register holds what is on its way. */
template <class tb_real, int k, int path, int refined>
TRID_P_BATCH_BOUNDS(32 * TRID_P_BATCH_WARPS(tb_real, 1), TRID_P_BATCH_CHECKED_RESIDENT(tb_real, k, path, refined))
TRID_KERNEL void trid_p_batch_checked_warps(trid_p_batch_plan plan, trid_p_batch_arrays<tb_real> from, const tb_real *d,
                                            tb_real *x)
{
    typedef trid_p_batch_kept<tb_real, k, path> kept;
    enum { warps = TRID_P_BATCH_WARPS(tb_real, 1), banks = TRID_P_BATCH_BANKS(tb_real), vector = kept::vector };
    __shared__ trid_p_batch_word<tb_real> buffer[warps][4 * kept::own_len / vector];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, lanes = plan.lanes, n = plan.n;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x * warps + (unsigned)warp, 32 >> plan.lanes_log2);
    if (tile.count == 0) return;
    int rank = lane & (lanes - 1), total = tile.count * n, slot[k];
    int valid = ((lane >> plan.lanes_log2) < tile.count ? n : 0) - k * rank;
    if (path == TRID_P_BATCH_FULL) total = 32 * k, valid = k;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    long long row = tile.group * from.jump + tile.first * from.stride;
    tb_real *shared = buffer[warp][0].v;
    if (path != TRID_P_BATCH_FULL) {
        shared[kept::len + lane] = 0; /* what accesses beyond the systems read when x is stored */
        trid_p_batch_slots<0>(k, banks, kept::len, plan, total, slot);
    }
    trid_p_batch_keep<tb_real, k, path>(plan, total, -1, from.a + row, from.step, from.stride, slot, shared);
    trid_p_batch_keep<tb_real, k, path>(plan, total, 0, from.b + row, from.step, from.stride, slot,
                                        shared + kept::own_len);
    trid_p_batch_keep<tb_real, k, path>(plan, total, 1, from.c + row, from.step, from.stride, slot,
                                        shared + 2 * kept::own_len);
    trid_p_batch_keep<tb_real, k, path>(plan, total, 0, d + at, plan.lines.step, plan.lines.stride, slot,
                                        shared + 3 * kept::own_len);
    trid_copy_commit();
    const int column =
        path == TRID_P_BATCH_FULL ? k * lane + k * lane / (8 * vector) * vector : trid_p_batch_slot(k, banks, k * lane);
    const tb_real *own = shared + column;
    tb_real ra[k], rb[k], rc[k], rx[k];
    TRID_COPY_AWAIT(0);
    __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
    trid_p_batch_matrix_kept<tb_real, k, path>(own, valid, rank, lanes, ra, rb, rc);
    TB_UNROLL
    for (int g = 0; g < k; g += vector) {
        trid_p_batch_word<tb_real> word =
            trid_p_batch_look<tb_real, path>(own + 3 * kept::own_len, g, valid, (tb_real)0);
        TB_UNROLL
        for (int j = 0; j < vector && g + j < k; j++) rx[g + j] = word.v[j];
    }
    int bad = trid_p_batch_row(trid_warp_hybrid(k, lanes, k * lanes, ra, rb, rc, rx), n);
    __syncwarp(TB_FULL_WARP); /* so that the compiler reads the rows again instead of keeping them */
    if (refined && plan.flags & TRID_BATCH_REFINED) {
        tb_real rest[k];
        trid_p_batch_residual_of<tb_real, k, path>(own, valid, rank, lanes, rx, rest);
        __syncwarp(TB_FULL_WARP);
        trid_p_batch_matrix_kept<tb_real, k, path>(own, valid, rank, lanes, ra, rb, rc);
        trid_warp_hybrid(k, lanes, k * lanes, ra, rb, rc, rest);
        __syncwarp(TB_FULL_WARP);
        TB_UNROLL
        for (int j = 0; j < k; j++) rx[j] += rest[j];
    }
    trid_p_batch_worst worst = trid_p_batch_residual_of<tb_real, k, path>(own, valid, rank, lanes, rx, (tb_real *)0);
    if (path == TRID_P_BATCH_FULL) { /* x takes the place of a */
        TB_UNROLL
        for (int g = 0; g < k; g += vector) {
            trid_p_batch_word<tb_real> word;
            TB_UNROLL
            for (int j = 0; j < vector; j++) word.v[j] = rx[g + j];
            *(trid_p_batch_word<tb_real> *)(shared + column + g) = word;
        }
        __syncwarp(TB_FULL_WARP);
        TB_UNROLL
        for (int r = 0; r < k / vector; r++) {
            trid_p_batch_word<tb_real> *to = (trid_p_batch_word<tb_real> *)(x + at) + (32 * r + lane);
            trid_p_batch_word<tb_real> word = buffer[warp][36 * r + lane + lane / 8];
            if (plan.flags & TRID_BATCH_ADD) {
                trid_p_batch_word<tb_real> before = *to;
                TB_UNROLL
                for (int j = 0; j < vector; j++) word.v[j] += before.v[j];
            }
            *to = word;
        }
    } else {
        trid_p_batch_slots<0>(k, banks, kept::len, plan, trid_p_batch_again_as(total), slot);
        trid_p_batch_store<path, 0>(k, plan, total, valid, slot, rx, x + at, shared);
    }
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < lanes; m *= 2) {
            int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
            bad = other < bad ? other : bad;
            worst.error = trid_p_batch_most(worst.error, __shfl_xor_sync(TB_FULL_WARP, worst.error, m));
            worst.size = trid_p_batch_most(worst.size, __shfl_xor_sync(TB_FULL_WARP, worst.size, m));
        }
        long long system = tile.group * plan.lines.systems + tile.first + (lane >> plan.lanes_log2);
        if (rank == 0 && valid > 0)
            trid_p_batch_tell(plan, system, bad, 1, trid_p_batch_number<tb_real>(worst.error),
                              trid_p_batch_number<tb_real>(worst.size));
    }
}

template <int path, int may_refine, int... sizes, class tb_real>
static int trid_p_batch_launch_checked_warps(const trid_p_batch_plan &plan, int k, dim3 grid,
                                             const trid_p_batch_arrays<tb_real> &rows, const tb_real *d, tb_real *x,
                                             cudaStream_t stream)
{
    const dim3 block(32 * TRID_P_BATCH_WARPS(tb_real, 1));
    cudaError_t error = cudaErrorInvalidConfiguration;
    (void)((k <= sizes && (error = trid_launch(trid_p_batch_checked_warps<tb_real, sizes, path, may_refine>, grid,
                                               block, 0, stream, plan, rows, d, x),
                           1)) ||
           ...);
    return trid_p_batch_launched(error);
}
/* Launches for n <= 512. A tile is full only where its pieces of 16 bytes are pieces of memory. */
template <class tb_real>
static int trid_p_batch_launch_checked(trid_p_batch_plan plan, const trid_p_batch_arrays<tb_real> &rows,
                                       const tb_real *d, tb_real *x, int shared, cudaStream_t stream)
{
    const int k = trid_p_batch_choose_lanes(&plan, 16), real = (int)sizeof(tb_real);
    const size_t places = (size_t)rows.a | (size_t)rows.b | (size_t)rows.c | (size_t)d | (size_t)x;
    int path = trid_p_batch_path_of(plan, 16, shared);
    if (path == TRID_P_BATCH_FULL &&
        (places % 16 != 0 || plan.lines.stride * real % 16 != 0 || plan.lines.jump * real % 16 != 0))
        path = TRID_P_BATCH_CONTIGUOUS;
    dim3 grid;
    if (trid_p_batch_count(&plan, 32 / plan.lanes, TRID_P_BATCH_WARPS(tb_real, 1), &grid) != cudaSuccess)
        return TRID_BATCH_BAD_SIZE;
    if (path == TRID_P_BATCH_FULL)
        return plan.flags & TRID_BATCH_REFINED
                   ? trid_p_batch_launch_checked_warps<TRID_P_BATCH_FULL, 1, 16>(plan, k, grid, rows, d, x, stream)
                   : trid_p_batch_launch_checked_warps<TRID_P_BATCH_FULL, 0, 16>(plan, k, grid, rows, d, x, stream);
    if (path == TRID_P_BATCH_CONTIGUOUS)
        return trid_p_batch_launch_checked_warps<TRID_P_BATCH_CONTIGUOUS, 1, 4, 8, 12, 16>(plan, k, grid, rows, d, x,
                                                                                           stream);
    return trid_p_batch_launch_checked_warps<TRID_P_BATCH_STRIDED, 1, 8, 16>(plan, k, grid, rows, d, x, stream);
}

/* Asks for one half of a tile. The rows of a tile must last until its residual is known, and the next ones arrive
   meanwhile. So shared memory holds three halves of k/2 rows: the two of the tile that is being solved, and the first
   of the next. As soon as the residual of a half is known, its place is given to the half after the next. */
template <class tb_real, int k, int systems, int parts, int ahead, int pipelined>
TB_D void trid_p_batch_ask_half(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &from, unsigned index,
                                int line, int first, const tb_real *d, int half, tb_real *stage)
{
    trid_p_batch_place own = trid_p_batch_place_of(plan, index, systems, line, first + k / 2 * half);
    trid_p_batch_route<tb_real> route =
        trid_p_batch_route_of<tb_real, k, systems, 4, pipelined>(plan, from, index, own, first + k / 2 * half, d);
    route.part = half; /* the second has no row 0 */
    trid_p_batch_ask<tb_real, k / 2, systems, parts, k / 2, ahead, 4, pipelined>(plan, from.step, 0, &route, stage);
}
/* Reads row j of the thread's; 0 beyond the system and where its ends couple to nothing. From its half in shared
   memory, or, where nothing is pipelined, from arrays, in which its first row is where `at` and d say. */
template <class tb_real, int k, int systems, int parts, int pipelined>
TB_D void trid_p_batch_row_of(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &at, int valid,
                              int first, const tb_real *d, const tb_real *own, int j, tb_real *a, tb_real *b,
                              tb_real *c, tb_real *r)
{
    *a = *b = *c = *r = 0;
    if (j >= valid) return;
    if (pipelined) {
        own += j % (k / 2) * systems * parts;
        if (j > 0 || first > 0) *a = *own;
        *b = own[k / 2 * systems * parts];
        if (j < valid - 1) *c = own[2 * (k / 2) * systems * parts];
        *r = own[3 * (k / 2) * systems * parts];
    } else {
        int row = trid_p_batch_again_as(j); /* or the places of all rows would be kept */
        if (j > 0 || first > 0) *a = at.a[row * at.step];
        *b = at.b[row * at.step];
        if (j < valid - 1) *c = at.c[row * at.step];
        *r = d[row * plan.lines.step];
    }
}
/* Returns the first unknown below the thread's, by way of shared memory. */
template <class tb_real, int systems, int parts>
TB_D tb_real trid_p_batch_below(tb_real x, tb_real *shared)
{
    enum { banks = TRID_P_BATCH_BANKS(tb_real) };
    int thread = (int)threadIdx.x;
    if (parts == 1) return 0;
    shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread)] = x;
    __syncthreads();
    return thread / systems < parts - 1 ? shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread + systems)]
                                        : (tb_real)0;
}

/* Solves as trid_p_batch_interleaved does, for arrays, and computes the residual of each system. */
template <class tb_real, int k, int systems, int parts, int ahead, int pipelined>
TRID_P_BATCH_BOUNDS(systems *parts, TRID_P_BATCH_INTERLEAVED_RESIDENT(tb_real, k, systems *parts))
TRID_KERNEL void trid_p_batch_checked_interleaved(trid_p_batch_plan plan, trid_p_batch_arrays<tb_real> from,
                                                  const tb_real *d, tb_real *x)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts), half_k = k / 2, half_len = 4 * half_k * systems * parts };
    __shared__ tb_real shared[parts > 1 ? 6 * span : 1];
    __shared__ int worst[systems];
    __shared__ unsigned largest[2 * systems];
    TRID_DYNAMIC_SHARED(dynamic);
    if ((pipelined && !TRID_P_BATCH_HAS_COPIES) || TRID_P_BATCH_IS_EMPTY(parts, pipelined, 0))
        return; /* is not launched there */
    int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems, n = plan.n, first = k * part;
    int reports = trid_p_batch_reports(plan), turn = 0;
    const int refined = (plan.flags & TRID_BATCH_REFINED) != 0;
    long long step = plan.lines.step;
    tb_real *stage = (tb_real *)dynamic;
    if (pipelined) {
        TRID_P_BATCH_LOOP
        for (int i = 0; i < 3; i++)
            trid_p_batch_ask_half<tb_real, k, systems, parts, ahead, pipelined>(
                plan, from, blockIdx.x + i / 2 * gridDim.x, line, first, d, i % 2, stage + i * half_len);
    }
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        tb_real a[k], b[k], c[k], r[k], solved[k], left = 0;
        tb_real *halves[2] = {stage + turn * half_len, stage + (turn == 2 ? 0 : turn + 1) * half_len};
        int bad, valid = trid_p_batch_place_of(plan, index, systems, line, first).valid;
        trid_p_batch_worst most;
        TRID_P_BATCH_LOOP
        for (int pass = 0; pass <= refined; pass++) {
            tb_real more, right;
            trid_p_batch_arrays<tb_real> at = from; /* from its own first row on */
            const tb_real *right_hand = d;
            if (!pipelined && valid > 0) {
                trid_p_batch_place here = trid_p_batch_place_again(plan, index, systems, line, first);
                long long matrix = trid_p_batch_matrix_at(plan, from, here, first);
                at.a += matrix, at.b += matrix, at.c += matrix;
                right_hand += here.at;
            }
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                if (pipelined && half == 0) TRID_COPY_AWAIT(2);
                if (pipelined && half == 1) TRID_COPY_AWAIT(1);
                __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
                TB_UNROLL
                for (int i = 0; i < half_k; i++) {
                    int j = half_k * half + i;
                    tb_real now = 0;
                    trid_p_batch_row_of<tb_real, k, systems, parts, pipelined>(
                        plan, at, valid, first, right_hand, halves[half] + thread, j, &a[j], &b[j], &c[j], &now);
                    if (pass == 0) r[j] = now, solved[j] = 0;
                }
            }
            if (index != blockIdx.x || pass) __syncthreads(); /* what is shared has been read */
            if (reports && pass == 0) {
                if (part == 0) {
                    worst[line] = TRID_P_BATCH_NO_ROW;
                    largest[line] = largest[systems + line] = 0;
                }
                __syncthreads();
            }
            trid_p_batch_sweep<tb_real, k, systems, parts>(n, valid, a, b, c, r, shared,
                                                           reports && pass == 0 ? worst : (int *)0, &bad, &more);
            if (reports && pass == 0 && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
            left += more;
            TB_UNROLL
            for (int j = 0; j < k; j++) solved[j] += r[j];
            right = trid_p_batch_below<tb_real, systems, parts>(solved[0], shared);
            most.error = most.size = 0;
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                TB_UNROLL
                for (int i = 0; i < half_k; i++) {
                    int j = half_k * half + i;
                    tb_real ka, kb, kc, kd, up = j > 0 ? solved[j > 0 ? j - 1 : 0] : left;
                    tb_real down = j < k - 1 ? solved[j < k - 1 ? j + 1 : 0] : right;
                    trid_p_batch_row_of<tb_real, k, systems, parts, pipelined>(
                        plan, at, valid, first, right_hand, halves[half] + thread, j, &ka, &kb, &kc, &kd);
                    if (j == 0 && first == 0) up = 0; /* 0 times what is no number would be none */
                    if (j >= valid - 1) down = 0;
                    r[j] = trid_p_batch_residual_row(ka, kb, kc, kd, solved[j], up, down, &most);
                }
                if (pipelined && pass == refined) {
                    __syncwarp(TB_FULL_WARP); /* other lanes have read theirs */
                    trid_p_batch_ask_half<tb_real, k, systems, parts, ahead, pipelined>(
                        plan, from, index + (half + 1) * gridDim.x, line, first, d, 1 - half, halves[half]);
                }
            }
        }
        turn = turn == 0 ? 2 : turn - 1;
        const trid_p_batch_place here = trid_p_batch_place_again(plan, index, systems, line, first);
        if (reports && valid > 0) {
            atomicMax(&largest[line], most.error);
            atomicMax(&largest[systems + line], most.size);
        }
        tb_real *to = x + here.at;
        if (plan.flags & TRID_BATCH_ADD) {
            TB_UNROLL
            for (int j = 0; j < k; j++) {
                if (j < valid) solved[j] += *to;
                to += step;
            }
            to = x + here.at;
        }
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            if (j < valid) *to = solved[j];
            to += step;
        }
        if (reports) {
            __syncthreads();
            if (part == 0 && here.in_batch)
                trid_p_batch_tell(plan, here.system, worst[line], 1, trid_p_batch_number<tb_real>(largest[line]),
                                  trid_p_batch_number<tb_real>(largest[systems + line]));
        }
    }
}

template <class tb_real, int k, int systems, int parts, int ahead>
static int trid_p_batch_launch_checked_interleaved_of(const trid_p_batch_plan &plan,
                                                      const trid_p_batch_arrays<tb_real> &rows, const tb_real *d,
                                                      tb_real *x, cudaStream_t stream, int *launched)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts) };
    enum {
        resident = TRID_P_BATCH_INTERLEAVED_RESIDENT(tb_real, k, systems * parts),
        bytes = 6 * k * systems * parts * (int)sizeof(tb_real),
        /* 1536: what a block takes for itself */
        fixed = (parts > 1 ? 6 * (int)span * (int)sizeof(tb_real) : 0) + 12 * systems + 1536
    };
    static_assert(!TRID_P_BATCH_ALWAYS_PIPELINED(90) || resident * (bytes + fixed) <= TRID_P_BATCH_SHARED_BYTES,
                  "every tile must have room");
    const trid_p_batch_pipelined with = {systems, systems * parts, bytes, fixed, resident, resident, 8, 0};
    return trid_p_batch_launch_pipelined(
        trid_p_batch_pipelining(plan.lines, rows, d) == TRID_P_BATCH_VECTORISED
            ? trid_p_batch_checked_interleaved<tb_real, k, systems, parts, ahead, TRID_P_BATCH_VECTORISED>
            : trid_p_batch_checked_interleaved<tb_real, k, systems, parts, ahead, TRID_P_BATCH_SCALAR>,
        with, plan, stream, launched, rows, d, x);
}
template <class tb_real>
static int trid_p_batch_launch_checked_interleaved(const trid_p_batch_plan &plan,
                                                   const trid_p_batch_arrays<tb_real> &rows, const tb_real *d,
                                                   tb_real *x, cudaStream_t stream)
{
    constexpr int fold = sizeof(tb_real) == 4 ? 2 : 1;
    typedef trid_p_batch_shape<16, 4 * fold, 64, 16, 128> most;
    int launched = 0;
    const int status = trid_p_batch_choose<
        trid_p_batch_shape<4, 128, 1>, trid_p_batch_shape<16, 128, 1>, trid_p_batch_shape<8, 32 * fold, 4>,
        trid_p_batch_shape<16, 32 * fold, 4, 16, 128>, trid_p_batch_shape<16, 32 * fold, 8, 16, 128>,
        trid_p_batch_shape<16, 16 * fold, 16, 16, 256>, trid_p_batch_shape<16, 8 * fold, 32, 16, 128>, most>(
        plan.n, [&](auto shape) {
            typedef decltype(shape) of;
            return trid_p_batch_launch_checked_interleaved_of<tb_real, of::k, of::systems, of::parts, of::ahead>(
                plan, rows, d, x, stream, &launched);
        });
    if (launched || status) return status;
    const auto kernel_of = [](auto shape) {
        typedef decltype(shape) of;
        return trid_p_batch_checked_interleaved<tb_real, of::k, of::systems, of::parts, 0, TRID_P_BATCH_UNPIPELINED>;
    };
    return trid_p_batch_choose<trid_p_batch_shape<16, 128, 1>, trid_p_batch_shape<16, 32 * fold, 4>,
                               trid_p_batch_shape<16, 16 * fold, 16>, most>(
        trid_p_batch_unpipelined_n(kernel_of(most()), plan.n), [&](auto shape) {
            return trid_p_batch_launch_unpipelined_of(kernel_of(shape), shape, plan, 0, stream, rows, d, x);
        });
}
