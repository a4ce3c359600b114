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

/* ---- interleaved systems ----------------------------------------------------------------------------------------- */

/* Asks for one half of a tile; the second has no row 0. The rows of a tile must last until its residual is known, and
   the next ones arrive meanwhile. So shared memory holds three halves of k/2 rows: the two of the tile that is being
   solved, and the first of the next. As soon as the residual of a half is known, its place is given to the half after
   the next. */
template <class tb_real, class shape>
TB_D void trid_p_batch_ask_half(trid_p_batch_pipeline<tb_real, shape, 4, shape::k / 2, shape::k / 2> pipeline,
                                unsigned index, int half, tb_real *stage)
{
    pipeline.stage = stage;
    pipeline.first += shape::k / 2 * half;
    pipeline.part = half;
    trid_p_batch_prefetch(pipeline, index, trid_p_batch_own_place(pipeline, index));
}

/* Where a thread reads its rows as often as it needs them: in the halves of its tile, or, where nothing is pipelined,
   in the arrays, in which its first row is where matrix and d say. */
template <class tb_real>
struct trid_p_batch_source {
    tb_real *half[2];
    trid_p_batch_arrays<tb_real> matrix;
    const tb_real *d;
    long long step;
    int first, valid;
};
/* Finds these places, anew instead of keeping them. */
template <class tb_real>
TB_D void trid_p_batch_find_source(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &rows,
                                   const tb_real *d, unsigned index, int systems, trid_p_batch_source<tb_real> *from)
{
    from->matrix = rows, from->d = d;
    if (from->valid <= 0) return;
    const trid_p_batch_place own =
        trid_p_batch_place_of(plan, trid_p_batch_again_as(index), systems, (int)threadIdx.x % systems, from->first);
    const long long at = trid_p_batch_matrix_at(plan, rows, own, from->first);
    from->matrix.a += at, from->matrix.b += at, from->matrix.c += at, from->d += own.at;
}
/* Reads row j of the thread's; 0 beyond the system and where its ends couple to nothing. */
template <class shape, class tb_real>
TB_D void trid_p_batch_row_of(const trid_p_batch_source<tb_real> &from, int j, tb_real *a, tb_real *b, tb_real *c,
                              tb_real *d)
{
    constexpr int half_k = shape::k / 2, array = half_k * shape::threads;
    *a = *b = *c = *d = 0;
    if (j >= from.valid) return;
    if (shape::pipelined) {
        const tb_real *own = from.half[j / half_k] + (j % half_k * shape::threads + (int)threadIdx.x);
        if (j > 0 || from.first > 0) *a = own[0];
        *b = own[array];
        if (j < from.valid - 1) *c = own[2 * array];
        *d = own[3 * array];
    } else {
        int row = trid_p_batch_again_as(j); /* or the places of all rows would be kept */
        if (j > 0 || from.first > 0) *a = from.matrix.a[row * from.matrix.step];
        *b = from.matrix.b[row * from.matrix.step];
        if (j < from.valid - 1) *c = from.matrix.c[row * from.matrix.step];
        *d = from.d[row * from.step];
    }
}
/* Takes the thread's rows of the matrix, each half as it arrives, and in the first pass of the right-hand side. */
template <class shape, class tb_real>
TB_D void trid_p_batch_take_halves(const trid_p_batch_source<tb_real> &from, int pass,
                                   trid_p_batch_registers<tb_real, shape::k> *u)
{
    TB_UNROLL
    for (int j = 0; j < shape::k; j++) {
        if (shape::pipelined && j == 0) TRID_COPY_AWAIT(2);
        if (shape::pipelined && j == shape::k / 2) TRID_COPY_AWAIT(1);
        if (j % (shape::k / 2) == 0) __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
        tb_real d = 0;
        trid_p_batch_row_of<shape>(from, j, &u->a[j], &u->b[j], &u->c[j], &d);
        if (pass == 0) u->r[j] = d;
    }
}
/* Computes in r the residual of x in one half of the thread's rows, left and right being x around all of them. */
template <class shape, class tb_real>
TB_D void trid_p_batch_residual_half(const trid_p_batch_source<tb_real> &from, int half, const tb_real *x, tb_real left,
                                     tb_real right, tb_real *r, trid_p_batch_worst *worst)
{
    constexpr int k = shape::k;
    TB_UNROLL
    for (int i = 0; i < k / 2; i++) {
        int j = k / 2 * half + i;
        tb_real a, b, c, d, up = j > 0 ? x[j > 0 ? j - 1 : 0] : left,
                            down = j < k - 1 ? x[j < k - 1 ? j + 1 : 0] : right;
        trid_p_batch_row_of<shape>(from, j, &a, &b, &c, &d);
        if (j == 0 && from.first == 0) up = 0; /* 0 times what is no number would be none */
        if (j >= from.valid - 1) down = 0;
        r[j] = trid_p_batch_residual_row(a, b, c, d, x[j], up, down, worst);
    }
}
/* Returns the first unknown below the thread's, by way of shared memory. */
template <class shape, class tb_real>
TB_D tb_real trid_p_batch_below(tb_real x, tb_real *shared)
{
    constexpr int systems = shape::systems, parts = shape::parts, banks = TRID_P_BATCH_BANKS(tb_real);
    int thread = (int)threadIdx.x;
    if (parts == 1) return 0;
    shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread)] = x;
    __syncthreads();
    return thread / systems < parts - 1 ? shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread + systems)]
                                        : (tb_real)0;
}

/* Stores x, or adds it to what it was, and tells the residuals; largest has the errors of all systems, then sizes. */
template <class shape, class tb_real>
TB_D void trid_p_batch_finish_checked(const trid_p_batch_plan &plan, const trid_p_batch_place &here,
                                      const trid_p_batch_worst &most, tb_real *solved, tb_real *x, const int *worst,
                                      unsigned *largest)
{
    constexpr int k = shape::k, systems = shape::systems;
    const int reports = trid_p_batch_reports(plan), line = (int)threadIdx.x % systems;
    if (reports && here.valid > 0) {
        atomicMax(&largest[line], most.error);
        atomicMax(&largest[systems + line], most.size);
    }
    if (plan.flags & TRID_BATCH_ADD) trid_p_batch_add(k, here.valid, x + here.at, plan.lines.step, solved);
    trid_p_batch_scatter(k, here.valid, 0, solved, plan.lines.step, x + here.at);
    if (reports) {
        __syncthreads();
        if (threadIdx.x < systems && here.in_batch)
            trid_p_batch_tell(plan, here.system, worst[line], 1, trid_p_batch_number<tb_real>(largest[line]),
                              trid_p_batch_number<tb_real>(largest[systems + line]));
    }
}

/* Solves as trid_p_batch_interleaved does, for arrays, and computes the residual of each system. */
template <class tb_real, class shape>
TRID_P_BATCH_BOUNDS(shape::threads, trid_p_batch_resident<tb_real, shape::k, shape::threads>)
TRID_KERNEL void trid_p_batch_checked_interleaved(trid_p_batch_plan plan, trid_p_batch_arrays<tb_real> rows,
                                                  const tb_real *d, tb_real *x)
{
    constexpr int k = shape::k, systems = shape::systems, parts = shape::parts, half_len = 2 * k * shape::threads;
    constexpr int span = TRID_P_BATCH_SPAN(tb_real, systems, parts);
    __shared__ tb_real shared[parts > 1 ? 6 * span : 1];
    __shared__ int worst[systems];
    __shared__ unsigned largest[2 * systems];
    TRID_DYNAMIC_SHARED(dynamic);
    if (trid_p_batch_is_empty<shape>()) return;
    const int line = (int)threadIdx.x % systems, part = (int)threadIdx.x / systems, first = k * part;
    const int reports = trid_p_batch_reports(plan), refined = (plan.flags & TRID_BATCH_REFINED) != 0;
    tb_real *stage = (tb_real *)dynamic;
    int turn = 0; /* where the first half is */
    const trid_p_batch_pipeline<tb_real, shape, 4, k / 2, k / 2> pipeline = {plan, rows, d, stage, first, 0};
    TRID_P_BATCH_LOOP
    for (int i = 0; i < 3 && shape::pipelined; i++)
        trid_p_batch_ask_half(pipeline, blockIdx.x + i / 2 * gridDim.x, i % 2, stage + i * half_len);
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        trid_p_batch_registers<tb_real, k> u;
        tb_real solved[k] = {0}, left = 0;
        trid_p_batch_worst most;
        tb_real *half = stage + turn * half_len, *other = turn == 2 ? stage : half + half_len;
        const int valid = trid_p_batch_own_place(pipeline, index).valid;
        trid_p_batch_source<tb_real> from = {{half, other}, rows, d, plan.lines.step, first, valid};
        TRID_P_BATCH_LOOP
        for (int pass = 0; pass <= refined; pass++) {
            const int tells = reports && pass == 0;
            if (!shape::pipelined) trid_p_batch_find_source(plan, rows, d, index, systems, &from);
            trid_p_batch_take_halves<shape>(from, pass, &u);
            if (index != blockIdx.x || pass) __syncthreads(); /* what is shared has been read */
            if (tells) {
                if (part == 0) worst[line] = TRID_P_BATCH_NO_ROW, largest[line] = largest[systems + line] = 0;
                __syncthreads();
            }
            const int bad =
                trid_p_batch_solve_tile<shape, 0>(plan.n, from.valid, &u, {shared, tells ? worst : (int *)0});
            if (tells && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
            left += u.left;
            TB_UNROLL
            for (int j = 0; j < k; j++) solved[j] += u.r[j];
            const tb_real right = trid_p_batch_below<shape>(solved[0], shared);
            most.error = most.size = 0;
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                trid_p_batch_residual_half<shape>(from, half, solved, left, right, u.r, &most);
                if (!shape::pipelined || pass < refined) continue;
                __syncwarp(TB_FULL_WARP); /* other lanes have read theirs */
                trid_p_batch_ask_half(pipeline, index + (half + 1) * gridDim.x, 1 - half, from.half[half]);
            }
        }
        turn = turn == 0 ? 2 : turn - 1;
        const trid_p_batch_place here = trid_p_batch_own_place(pipeline, trid_p_batch_again_as(index));
        trid_p_batch_finish_checked<shape>(plan, here, most, solved, x, worst, largest);
    }
}

template <class tb_real, class shape, class rows_type>
struct trid_p_batch_kernel<trid_p_batch_how::checked, tb_real, shape, rows_type> {
    static auto of() { return trid_p_batch_checked_interleaved<tb_real, shape>; }
    static constexpr trid_p_batch_needs needs(int, int)
    {
        constexpr int resident = trid_p_batch_resident<tb_real, shape::k, shape::threads>, real = (int)sizeof(tb_real);
        constexpr int span = TRID_P_BATCH_SPAN(tb_real, shape::systems, shape::parts);
        constexpr int bytes = shape::pipelined ? 6 * shape::k * shape::threads * real : 0;
        constexpr int fixed = (shape::parts > 1 ? 6 * span * real : 0) + 12 * shape::systems + 1536; /* its own */
        return {bytes, fixed, resident, resident, 8};
    }
};
