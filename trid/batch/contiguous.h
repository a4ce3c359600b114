/* contiguous.h - a room of trid/batch.h: contiguous systems: the kernel, its shapes, its launch.
   MIT licence, see LICENSE. */

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* The properties of an instance of the kernel, known when it is compiled. */
template <class tb_real, int of_method, int of_scope, int of_layout, int of_k, int of_warps>
struct trid_p_batch_instance {
    static constexpr int method = of_method, scope = of_scope, layout = of_layout, k = of_k, warps = of_warps;
    static constexpr int in_warp = scope == trid_p_batch_how::lanes, full = layout == trid_p_batch_how::full;
    static constexpr int pivoted = method == trid_p_batch_how::pivoted, lu = method & trid_p_batch_how::lu;
    static constexpr int one_matrix = method == trid_p_batch_how::shared, refined = method & trid_p_batch_how::refined;
    static constexpr int checked = method & trid_p_batch_how::checks;
    static constexpr int len = TRID_P_BATCH_LEN(tb_real, k);
    static constexpr int literal = full || k > 16 || !(in_warp || checked); /* as in trid_p_batch_slots */
    /* Where registers are scarce, the thread computes its position again after the solve. */
    static constexpr int forgets = pivoted || (in_warp && !full && method == trid_p_batch_how::hybrid);
    typedef trid_p_batch_kept<tb_real, k, layout> kept;
};

/* Loads the rows of a tile. */
template <class of, class tb_real, class rows_type>
TB_D void trid_p_batch_load(const trid_p_batch_plan &plan, const trid_p_batch_spot &here, const rows_type &rows,
                            const tb_real *d, const trid_p_batch_workspace<tb_real> &room, int *slot,
                            trid_p_batch_equations<tb_real, of::k> *own)
{
    enum { k = of::k, layout = of::layout, literal = of::literal, len = of::len };
    const auto matrix = trid_p_batch_rows_of(rows);
    tb_real end[2];
    trid_p_batch_ask_known(k, rows, here.system, here.first, here.valid, end);
    TB_UNROLL
    for (int j = 0; j < k && of::one_matrix; j++) own->d[j] = 0; /* else d stays live from tile to tile */
    if constexpr (!of::one_matrix) trid_p_batch_matrix<of::scope, layout>(plan, here, matrix, own);
    trid_p_batch_fetch<of::scope, layout>(k, plan, trid_p_batch_right(plan, d + here.at, here.total), own->d);
    trid_p_batch_slots<tb_real, literal>(k, plan, here.total, slot);
    if constexpr (of::one_matrix) {
        const tb_real *from = room.matrix + trid_p_batch_slot<tb_real>(k, here.first);
        TB_UNROLL
        for (int j = 0; j < k; j++) own->a[j] = from[j], own->b[j] = from[len + j], own->c[j] = from[2 * len + j];
    } else {
        trid_p_batch_transpose_matrix<layout, literal>(matrix, here.valid, slot, room.rows, 0, own);
    }
    trid_p_batch_transpose<layout, literal>(k, here.valid, (tb_real)0, slot, own->d, room.rows);
    trid_p_batch_put_known(rows, here.first, here.valid, end, own);
}
/* Loads the same rows, and keeps them in shared memory for the residual. */
template <class of, class tb_real>
TB_D void trid_p_batch_load_kept(const trid_p_batch_plan &plan, const trid_p_batch_spot &here,
                                 const trid_p_batch_arrays<tb_real> &rows, const tb_real *d,
                                 const trid_p_batch_workspace<tb_real> &room, int *slot,
                                 trid_p_batch_equations<tb_real, of::k> *own)
{
    enum { k = of::k, layout = of::layout, literal = of::literal };
    trid_p_batch_slots<tb_real, literal>(k, plan, here.total, slot);
    if (!literal) room.rows[of::len + trid_warp_lane()] = 0; /* no copy writes it, but the store of x reads it */
    trid_p_batch_keep_all<tb_real, k, of::scope, layout, literal>(plan, here, rows, d, slot, room.rows);
    trid_p_batch_look_matrix<layout>(room.rows, here, own);
    trid_p_batch_look<tb_real, k, layout>(room.rows + 3 * of::kept::own_len, 0, here.valid, (tb_real)0, own->d);
}

/* Solves, for the right-hand side d, the systems whose matrices are in the threads' registers. */
template <class of, class tb_real>
TB_D int trid_p_batch_solve_own(const trid_p_batch_plan &plan, const trid_p_batch_workspace<tb_real> &room,
                                trid_p_batch_equations<tb_real, of::k> *own, tb_real *d)
{
    enum { k = of::k };
    const int lanes = plan.lanes, rows = k * (of::in_warp ? lanes : trid_block_threads());
    if constexpr (of::pivoted) {
        const int first = k * (of::in_warp ? trid_warp_rank(lanes) : trid_block_thread());
        if (first == 0) own->a[0] = 0; /* what the array holds there must not decide which method solves the system */
        if (first == rows - k) own->c[k - 1] = 0;
        /* If pivoting is needed, a thread's first row usually shows it, and then the other rows are not examined. */
        const int dominant = __all_sync(TB_FULL_WARP, trid_p_batch_are_dominant(1, *own)) &&
                             __all_sync(TB_FULL_WARP, trid_p_batch_are_dominant(k, *own));
        if (!(of::in_warp ? dominant : __syncthreads_and(dominant)))
            return of::in_warp ? trid_warp_pivoted(k, lanes, rows, own->a, own->b, own->c, d)
                               : trid_block_pivoted(k, rows, own->a, own->b, own->c, d, room.between);
    }
    const int bad = of::in_warp ? trid_warp_hybrid(k, lanes, rows, own->a, own->b, own->c, d)
                                : trid_block_hybrid(k, rows, own->a, own->b, own->c, d, room.between);
    return of::pivoted ? bad > 0 : bad;
}

/* Returns the residual of x, which is in own->d. With REFINED, first refines all systems of the warp or block unless
   the residuals of all of them are small. */
template <class of, class tb_real>
TB_D trid_p_batch_worst trid_p_batch_check(const trid_p_batch_plan &plan, const trid_p_batch_spot &here,
                                           const trid_p_batch_workspace<tb_real> &room,
                                           trid_p_batch_equations<tb_real, of::k> *own)
{
    enum { k = of::k, scope = of::scope, layout = of::layout };
    tb_real rest[k];
    __syncwarp(TB_FULL_WARP); /* so that the compiler reads the rows again instead of keeping them */
    trid_p_batch_worst worst = trid_p_batch_residual_of<tb_real, k, scope, layout>(plan, here, room, own->d, rest);
    if (!of::refined || !(plan.flags & TRID_BATCH_REFINED)) return worst;
    const int small = trid_p_batch_is_small<tb_real>(worst);
    if (of::in_warp ? __all_sync(TB_FULL_WARP, small) : __syncthreads_and(small)) return worst;
    trid_p_batch_look_matrix<layout>(room.rows, here, own);
    trid_p_batch_solve_own<of>(plan, room, own, rest);
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < k; j++) own->d[j] += rest[j];
    return trid_p_batch_residual_of<tb_real, k, scope, layout>(plan, here, room, own->d, rest);
}

/* Solves a tile, from memory to memory. With REPAIR, a warp returns at once if none of its systems needs repair. */
template <class of, class tb_real, class rows_type>
TB_D void trid_p_batch_contiguous_tile(const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, unsigned block,
                                       const rows_type &rows, const tb_real *d, tb_real *x,
                                       const trid_p_batch_workspace<tb_real> &room)
{
    enum { k = of::k, scope = of::scope, layout = of::layout, literal = of::literal };
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31;
    trid_p_batch_equations<tb_real, k> own;
    int slot[k];
    trid_p_batch_worst worst = {0, 0};
    trid_p_batch_spot here = trid_p_batch_spot_of<scope, layout>(k, of::warps, plan, tile, warp, lane);
    if (of::pivoted && !trid_p_batch_wanted(plan, here.system, here.own_n)) return;
    if constexpr (of::checked)
        trid_p_batch_load_kept<of>(plan, here, rows, d, room, slot, &own);
    else
        trid_p_batch_load<of>(plan, here, rows, d, room, slot, &own);
    int bad = trid_p_batch_solve_own<of>(plan, room, &own, own.d);
    if constexpr (of::checked) worst = trid_p_batch_check<of>(plan, here, room, &own);
    if (of::forgets) {
        warp = trid_p_batch_again_as((int)threadIdx.x) / 32, lane = trid_p_batch_again_as(lane);
        here = trid_p_batch_spot_of<scope, layout>(
            k, of::warps, plan, trid_p_batch_tile_in<scope>(of::warps, plan, block, warp), warp, lane);
    }
    if (of::pivoted || of::checked)
        trid_p_batch_slots<tb_real, literal>(k, plan, trid_p_batch_again_as(here.total), slot);
    if constexpr (of::checked && of::full)
        trid_p_batch_store_full<tb_real, k>(plan, own.d, x + here.at, room.rows);
    else
        trid_p_batch_store<scope, layout, literal>(k, plan, here.total, here.valid, slot, own.d, x + here.at,
                                                   room.rows);
    bad = trid_p_batch_row(bad, plan.n);
    if (trid_p_batch_reports(plan)) trid_p_batch_tell_all<tb_real, scope, of::checked>(plan, here, bad, worst, room);
}

/* Loads the one matrix of all systems into shared memory, and pads it with identity rows. */
template <class of, class tb_real>
TB_D void trid_p_batch_keep_matrix(const trid_p_batch_plan &plan, const trid_p_batch_one_matrix<tb_real> &from,
                                   tb_real *matrix)
{
    for (int j = (int)threadIdx.x; j < of::k * plan.lanes; j += 32 * of::warps) {
        int slot = trid_p_batch_slot<tb_real>(of::k, j);
        matrix[slot] = j > 0 && j < plan.n ? from.a[j] : (tb_real)0;
        matrix[of::len + slot] = j < plan.n ? from.b[j] : (tb_real)1;
        matrix[2 * of::len + slot] = j < plan.n - 1 ? from.c[j] : (tb_real)0;
    }
    __syncthreads();
}

/* Solves systems, or factors them if the type of the rows says so (trid_p_batch_lu_rows). Some lanes of a warp take a
   system of n <= k*lanes rows, or a block takes a system of n <= 32*k*warps rows. With method shared, a block loads the
   one matrix into shared memory, and its warps then take tile after tile. */
template <class tb_real, int method, int scope, int layout, int k, int warps, int resident, class rows_type>
TRID_P_BATCH_BOUNDS(32 * warps, resident)
TRID_KERNEL void trid_p_batch_contiguous(trid_p_batch_plan plan, rows_type rows, const tb_real *d, tb_real *x)
{
    typedef trid_p_batch_instance<tb_real, method, scope, layout, k, warps> of;
    enum {
        between_len = of::pivoted ? TRID_BLOCK_PIVOTED_LEN
                      : of::lu    ? trid_p_batch_between_len<tb_real, 1, 32 * warps>
                                  : TRID_BLOCK_HYBRID_LEN
    };
    __shared__ __align__(16) tb_real buffer[warps][of::checked ? 4 * of::kept::own_len : of::len + 32];
    __shared__ tb_real matrix[of::one_matrix ? 3 * of::len : of::lu ? 32 * TRID_RING_LEN * warps : 1];
    __shared__ tb_real between[between_len], border[2 * warps];
    __shared__ int bad[warps];
    __shared__ trid_p_batch_worst worst[warps];
    const int warp = (int)threadIdx.x / 32;
    tb_real *const rings = of::lu ? matrix + 32 * TRID_RING_LEN * warp : matrix;
    const trid_p_batch_workspace<tb_real> room = {buffer[warp], rings, between, border, bad, worst};
    if constexpr (of::one_matrix) trid_p_batch_keep_matrix<of>(plan, rows, matrix);
    TB_LOOP
    for (unsigned i = 0; i < (of::one_matrix ? plan.repeat : 1); i++) {
        const unsigned block = i * gridDim.x + blockIdx.x;
        const trid_p_batch_tile tile = trid_p_batch_tile_in<scope>(warps, plan, block, warp);
        if (of::in_warp && tile.count == 0) return;
        if constexpr (of::lu)
            trid_p_batch_lu_tile<of>(plan, tile, rows, d, x, room);
        else
            trid_p_batch_contiguous_tile<of>(plan, tile, block, rows, d, x, room);
    }
}

/* ---- its shapes -------------------------------------------------------------------------------------------------- */

/* One instance, with k rows a thread. For each precision: the warps of a block (0 if there is no such instance), and
   the blocks per multiprocessor that the compiler must make room for (0 leaves the choice to the compiler). With more
   blocks a thread would have too few registers. */
struct trid_p_batch_contiguous_shape {
    int method, scope, layout, k;
    struct {
        int warps, resident;
    } build[2]; /* single, double */
};

/* A call launches the first shape that serves it. With pivoting, elimination is a sequence of dependent operations,
   whose latency only other warps hide, so a few registers in local memory cost less than fewer resident warps. Blocks
   of checked solves have so few warps that their data fit in a block's default 48 KiB of shared memory. */
struct trid_p_batch_contiguous_shapes : trid_p_batch_how {
    static constexpr trid_p_batch_contiguous_shape rows[] = {
        {hybrid, lanes, full, 32, {{4, 3}, {}}},
        {hybrid, block, full, 16, {{}, {2, 0}}},
        {hybrid, lanes, contiguous, 2, {{4, 8}, {2, 10}}},
        {hybrid, lanes, contiguous, 3, {{4, 8}, {}}},
        {hybrid, lanes, contiguous, 4, {{4, 8}, {2, 10}}},
        {hybrid, lanes, contiguous, 6, {{4, 8}, {}}},
        {hybrid, lanes, contiguous, 8, {{4, 8}, {2, 10}}},
        {hybrid, lanes, contiguous, 10, {{4, 6}, {}}},
        {hybrid, lanes, contiguous, 12, {{4, 6}, {2, 8}}},
        {hybrid, lanes, contiguous, 14, {{4, 6}, {}}},
        {hybrid, lanes, contiguous, 16, {{4, 5}, {2, 6}}},
        {hybrid, lanes, contiguous, 24, {{4, 4}, {}}},
        {hybrid, lanes, contiguous, 32, {{4, 3}, {}}},
        {hybrid, block, contiguous, 12, {{}, {2, 0}}},
        {hybrid, block, contiguous, 16, {{8, 0}, {4, 3}}},
        {hybrid, lanes, strided, 4, {{4, 5}, {2, 8}}},
        {hybrid, lanes, strided, 8, {{4, 5}, {2, 8}}},
        {hybrid, lanes, strided, 16, {{4, 4}, {2, 4}}},
        {hybrid, block, strided, 16, {{8, 0}, {4, 0}}},

        {shared, lanes, full, 16, {{4, 6}, {2, 6}}},
        {shared, lanes, contiguous, 2, {{4, 8}, {2, 10}}},
        {shared, lanes, contiguous, 4, {{4, 8}, {2, 10}}},
        {shared, lanes, contiguous, 8, {{4, 8}, {2, 10}}},
        {shared, lanes, contiguous, 12, {{4, 6}, {2, 8}}},
        {shared, lanes, contiguous, 16, {{4, 5}, {2, 6}}},
        {shared, lanes, strided, 8, {{4, 5}, {2, 8}}},
        {shared, lanes, strided, 16, {{4, 4}, {2, 4}}},

        {checked, lanes, full, 16, {{4, 6}, {2, 6}}},
        {checks, lanes, full, 16, {{4, 5}, {2, 4}}},
        {checks, block, full, 16, {{2, 0}, {2, 0}}},
        {checks, lanes, contiguous, 4, {{4, 6}, {2, 6}}},
        {checks, lanes, contiguous, 8, {{4, 6}, {2, 6}}},
        {checks, lanes, contiguous, 12, {{4, 4}, {2, 4}}},
        {checks, lanes, contiguous, 16, {{4, 4}, {2, 4}}},
        {checks, block, contiguous, 12, {{2, 0}, {2, 0}}},
        {checks, block, contiguous, 16, {{4, 0}, {2, 0}}},
        {checks, lanes, strided, 8, {{4, 6}, {2, 6}}},
        {checks, lanes, strided, 16, {{4, 4}, {2, 4}}},
        {checks, block, strided, 16, {{4, 0}, {2, 0}}},

        {pivoted, lanes, contiguous, 4, {{4, 7}, {2, 8}}},
        {pivoted, lanes, contiguous, 8, {{4, 7}, {2, 8}}},
        {pivoted, lanes, contiguous, 12, {{4, 6}, {2, 6}}},
        {pivoted, lanes, contiguous, 16, {{4, 5}, {2, 6}}},
        {pivoted, lanes, contiguous, 32, {{4, 3}, {}}},
        {pivoted, block, contiguous, 12, {{}, {2, 6}}},
        {pivoted, block, contiguous, 16, {{}, {2, 6}}},
        {pivoted, block, contiguous, 16, {{}, {4, 3}}},
        {pivoted, block, contiguous, 32, {{4, 3}, {}}},
        {pivoted, lanes, strided, 8, {{4, 7}, {2, 8}}},
        {pivoted, lanes, strided, 16, {{4, 5}, {2, 6}}},
        {pivoted, block, strided, 8, {{4, 7}, {}}},
        {pivoted, block, strided, 16, {{}, {2, 6}}},

        {lu, lanes, full, 8, {{}, {2, 7}}},
        {lu, lanes, full, 16, {{4, 4}, {}}},
        {several, lanes, full, 16, {{}, {2, 4}}},
        {lu, lanes, contiguous, 2, {{}, {2, 8}}},
        {lu, lanes, contiguous, 4, {{4, 4}, {2, 8}}},
        {lu, lanes, contiguous, 8, {{4, 4}, {2, 6}}},
        {lu, lanes, contiguous, 16, {{4, 3}, {}}},
        {several, lanes, contiguous, 16, {{}, {2, 4}}},
        {lu, block, contiguous, 8, {{}, {4, 2}}},
        {lu, block, contiguous, 16, {{2, 4}, {}}},
        {lu, lanes, strided, 8, {{}, {2, 6}}},
        {lu, lanes, strided, 16, {{4, 3}, {}}},
        {lu, block, strided, 8, {{}, {4, 2}}},
        {lu, block, strided, 16, {{2, 4}, {}}},
    };
};

/* ---- its launch -------------------------------------------------------------------------------------------------- */

/* Returns the fewest lanes, 1, 2, 4 .. 32, that hold a system with at most 16 rows a lane, or 32 if none do. For LU
   factors in double precision the limit is 8 rows, which leaves registers for the next right-hand side. */
template <class tb_real>
constexpr int trid_p_batch_lanes_of(int method, int n)
{
    const int most = (method & trid_p_batch_how::lu) && sizeof(tb_real) == 8 ? 8 : 16;
    int lanes = 1;
    while (lanes < 32 && n > most * lanes) lanes *= 2;
    return lanes;
}

/* Returns how many rows of a system a shape holds with `lanes` lanes. */
template <class tb_real>
constexpr int trid_p_batch_rows_held(const trid_p_batch_contiguous_shape &s, int lanes)
{
    return s.k * (s.scope == trid_p_batch_how::lanes ? lanes : 32 * s.build[sizeof(tb_real) == 8].warps);
}

/* Returns the index of the first shape that serves systems of n rows, or the number of shapes if none does. */
template <class tb_real>
constexpr int trid_p_batch_first_shape(int method, int layout, int n)
{
    int at = 0;
    for (const trid_p_batch_contiguous_shape &s : trid_p_batch_contiguous_shapes::rows) {
        const int held = trid_p_batch_rows_held<tb_real>(s, trid_p_batch_lanes_of<tb_real>(method, n));
        if (s.build[sizeof(tb_real) == 8].warps && (s.method & method) && s.layout >= layout &&
            (s.layout == trid_p_batch_how::full ? n == held : n <= held))
            break;
        at++;
    }
    return at;
}

/* Returns whether a shape is the first for some n of `least` .. `most`. Tries, for each number of lanes, the longest
   system that the shape then holds, but at most `most` rows. Shapes that are never the first are not compiled. */
template <class tb_real>
constexpr int trid_p_batch_is_reached(int at, int method, int least, int most)
{
    const trid_p_batch_contiguous_shape &s = trid_p_batch_contiguous_shapes::rows[at];
    for (int lanes = 1; lanes <= 32; lanes *= 2) {
        const int held = trid_p_batch_rows_held<tb_real>(s, lanes), n = held < most ? held : most;
        if (n >= least && trid_p_batch_first_shape<tb_real>(method, s.layout, n) == at) return 1;
    }
    return 0;
}

/* With one matrix for all systems, warps take several tiles if the launch then still has at least this many blocks. */
#ifndef TRID_P_BATCH_LEAST_BLOCKS
#define TRID_P_BATCH_LEAST_BLOCKS 8192
#endif

/* Launches a shape. A block that solves one system has only the warps that its rows need. */
template <int at, class tb_real, class rows_type>
static int trid_p_batch_launch_contiguous_shape(const trid_p_batch_work<tb_real> &work, const rows_type &rows)
{
    constexpr trid_p_batch_contiguous_shape s = trid_p_batch_contiguous_shapes::rows[at];
    constexpr int warps = s.build[sizeof(tb_real) == 8].warps, resident = s.build[sizeof(tb_real) == 8].resident;
    trid_p_batch_plan plan = work.plan;
    const int lanes = s.scope == trid_p_batch_how::lanes, needed = lanes ? warps : (plan.n + 32 * s.k - 1) / (32 * s.k);
    unsigned blocks;
    if (trid_p_batch_count(&plan, lanes ? 32 / plan.lanes : 1, lanes ? warps : 1, &blocks)) return TRID_BATCH_BAD_SIZE;
    if (s.method == trid_p_batch_how::shared) {
        const unsigned repeat = blocks / TRID_P_BATCH_LEAST_BLOCKS;
        plan.repeat = repeat < 1 ? 1 : repeat > 16 ? 16 : repeat;
        blocks = (blocks + plan.repeat - 1) / plan.repeat;
    }
    return trid_p_batch_start(
        trid_p_batch_contiguous<tb_real, s.method, s.scope, s.layout, s.k, warps, resident, rows_type>, blocks,
        32 * needed, 0, work.stream, plan, rows, work.d, work.x);
}

/* Launches shape `first`, if it is shape `at` or a later one. */
template <int method, int least, int most, int at = 0, class tb_real, class rows_type>
static int trid_p_batch_launch_first(int first, const trid_p_batch_work<tb_real> &work, const rows_type &rows)
{
    if constexpr (at == sizeof trid_p_batch_contiguous_shapes::rows / sizeof *trid_p_batch_contiguous_shapes::rows) {
        return TRID_BATCH_BAD_SIZE;
    } else {
        if constexpr (trid_p_batch_is_reached<tb_real>(at, method, least, most))
            if (at == first) return trid_p_batch_launch_contiguous_shape<at>(work, rows);
        return trid_p_batch_launch_first<method, least, most, at + 1>(first, work, rows);
    }
}

/* Chooses lanes and layout, and launches the first shape that serves the call. n is in `least` .. `most`. */
template <int method, int least = 1, int most = TRID_BATCH_MAX_N, class tb_real, class rows_type>
static int trid_p_batch_launch_contiguous(trid_p_batch_work<tb_real> work, const rows_type &rows)
{
    trid_p_batch_plan &plan = work.plan;
    const int n = plan.n, lanes = trid_p_batch_lanes_of<tb_real>(method, n);
    plan.lanes = lanes;
    for (plan.lanes_log2 = 0; 1 << plan.lanes_log2 < lanes;) plan.lanes_log2++;
    plan.magic = lanes == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    int layout = plan.lines.systems % (32 / lanes) ? trid_p_batch_how::contiguous : trid_p_batch_how::full;
    if constexpr ((method & trid_p_batch_how::checks) != 0) { /* checked solves access full tiles 16 bytes at a time */
        const size_t places = (size_t)rows.a | (size_t)rows.b | (size_t)rows.c | (size_t)work.d | (size_t)work.x;
        const long long apart = (plan.lines.stride | plan.lines.jump) * (int)sizeof(tb_real);
        if ((places | (size_t)apart) % 16) layout = trid_p_batch_how::contiguous;
    }
    int follow = plan.lines.stride == n; /* no gaps between systems, nor between their matrices if these are arrays */
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) follow &= trid_p_batch_rows_of(rows).stride == n;
    if (plan.lines.step != 1 || (lanes < 32 && !follow)) layout = trid_p_batch_how::strided;
    return trid_p_batch_launch_first<method, least, most>(trid_p_batch_first_shape<tb_real>(method, layout, n), work,
                                                          rows);
}

/* Launches the kernel for systems that need no scratch; contiguous ones take the shapes of method `in_rows`. */
template <int method, class bounds, int in_rows = method, class tb_real, class rows_type>
static int trid_p_batch_launch_on_chip(const trid_p_batch_work<tb_real> &work, const rows_type &rows)
{
    if (trid_p_batch_as_interleaved<bounds>(work.plan)) {
        if constexpr (bounds::interleaved)
            return trid_p_batch_launch_interleaved<method, bounds::least, bounds::most>(work, rows);
    } else if constexpr (bounds::contiguous) {
        return trid_p_batch_launch_contiguous<in_rows, bounds::least, bounds::most>(work, rows);
    }
    return TRID_BATCH_BAD_SIZE;
}
