/* interleaved.h - a room of trid/batch.h: interleaved systems: the kernel, its shapes, its launches.
   MIT licence, see LICENSE. */

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* Returns the tile to solve next: `index` or, with repair, the first from there on with a status that is not 0. */
TB_D unsigned trid_p_batch_wanted_tile(const trid_p_batch_plan &plan, unsigned index, unsigned tile_step, int systems)
{
    TB_LOOP
    for (; plan.repair && index < plan.tiles; index += tile_step) {
        trid_p_batch_tile tile = trid_p_batch_tile_of(plan, index, systems);
        const int *status = plan.report.status + (tile.group * plan.lines.systems + tile.first);
        int wanted = 0;
        TB_LOOP
        for (int line = trid_warp_lane(); line < tile.count; line += 32) wanted |= status[line] != 0;
        if (__any_sync(TB_FULL_WARP, wanted)) break;
    }
    return index;
}

/* Solves the block's systems or, in a cluster, the block's rows of the cluster's systems. With pivoting, any bad row
   counts as row 0, and the hybrid solves a tile whose rows are all dominant, except in clusters: their blocks would
   have to agree.
   Returns  1 + the first bad row that this thread alone knows of, or TRID_P_BATCH_NO_ROW; post.worst holds others */
template <class shape, int pivoted, class tb_real>
TB_D int trid_p_batch_solve_tile(int n, int valid, trid_p_batch_equations<tb_real, shape::k> *u,
                                 const trid_p_batch_post<tb_real> &post, tb_real *left)
{
    constexpr int systems = shape::systems, parts = shape::parts;
    if (pivoted && (shape::cluster || !__syncthreads_and(trid_p_batch_are_dominant(shape::k, *u))))
        trid_p_batch_sweep_pivoted<systems, parts, shape::cluster>(post, u);
    else if constexpr (shape::cluster)
        trid_p_batch_sweep_cluster<systems, parts>(n, valid, post, u, left);
    else
        return trid_p_batch_sweep<systems, parts>(pivoted ? 1 : n, post, u, left);
    return TRID_P_BATCH_NO_ROW;
}

/* Solves interleaved systems of n <= k*parts rows; a cluster solves systems of up to k*parts rows for each of its
   blocks. A pipelined block takes one tile after another. It requests rows `burst` at a time, as soon as the same rows
   of the tile before are in registers. */
template <int pivoted, class tb_real, class shape, class rows_type>
TB_D void trid_p_batch_plain_tiles(const trid_p_batch_plan &plan, const rows_type &rows, const tb_real *d, tb_real *x)
{
    typedef trid_p_batch_rows<rows_type> of;
    constexpr int k = shape::k, systems = shape::systems, parts = shape::parts, arrays = of::are_arrays ? 4 : 1;
    constexpr int span = TRID_P_BATCH_SPAN(tb_real, systems, parts), tile = k * shape::threads;
    constexpr bool pipelined = shape::pipelined, cluster = shape::cluster;
    __shared__ tb_real shared[parts > 1 || cluster ? (pivoted ? 9 : 6) * span : 1],
        known[of::are_known ? 2 * systems : 1];
    __shared__ int worst[systems];
    __shared__ unsigned long long mbarrier[cluster ? 2 : 1];
    TRID_DYNAMIC_SHARED(dynamic);
    const int block = cluster ? trid_cluster_rank() : 0, blocks = cluster ? trid_cluster_size() : 1;
    const int line = (int)threadIdx.x % systems, part = (int)threadIdx.x / systems, first = k * (parts * block + part);
    const int reports = trid_p_batch_reports(plan);
    tb_real *stage = (tb_real *)dynamic, *mailbox = stage + (plan.flags & TRID_BATCH_ADD ? arrays + 1 : arrays) * tile;
    trid_p_batch_post<tb_real> post = {shared, reports ? worst : (int *)0, mailbox, mbarrier, block, blocks, 0};
    const trid_p_batch_pipeline<tb_real, shape, arrays, shape::burst> pipeline = {
        plan, trid_p_batch_arrays_of<tb_real>(rows), d, stage, first, block};
    if (cluster && threadIdx.x < 2) trid_mbarrier_init(&mbarrier[cluster ? threadIdx.x : 0]);
    if (cluster) trid_cluster_sync();
    unsigned begin = blockIdx.x / (unsigned)blocks, tile_step = gridDim.x / (unsigned)blocks;
    if (pivoted) begin = trid_p_batch_wanted_tile(plan, begin, tile_step, systems);
    if (pipelined && arrays > 1) trid_p_batch_unasked(pipeline);
    /* The first round only requests the first tile: there is none to solve. */
    int round = pipelined ? 0 : 1;
    unsigned index = begin, next = pipelined ? begin : begin + tile_step;
    trid_p_batch_place p = trid_p_batch_own_place(pipeline, pipelined ? plan.tiles : begin);
    TB_LOOP
    for (; index < plan.tiles; index = next, next += tile_step) {
        trid_p_batch_equations<tb_real, k> u;
        tb_real end[2] = {0, 0}, left;
        const trid_p_batch_place here = p;
        if (!pipelined) trid_p_batch_ask_known(k, rows, here.system, first, here.valid, end);
        if (pivoted && round > 0) next = trid_p_batch_wanted_tile(plan, next, tile_step, systems);
        p = trid_p_batch_own_place(pipeline, next); /* no system beyond the last tile */
        if (pipelined) trid_p_batch_arrive<arrays == 1>(pipeline, rows, here, next, p, known, end, &u);
        if (pipelined && round++ == 0) {
            trid_p_batch_ask_before(pipeline, p, x);
            continue;
        }
        if (!pipelined) trid_p_batch_own_rows(plan, here, first, trid_p_batch_rows_of(rows), &u);
        if (!pipelined) trid_p_batch_gather(k, 0, here.valid, d + here.at, plan.lines.step, u.d);
        trid_p_batch_put_known(rows, first, here.valid, end, &u);
        if (index != begin) __syncthreads(); /* shared memory has been read */
        if (reports) {
            if (part == 0) worst[line] = TRID_P_BATCH_NO_ROW;
            __syncthreads();
        }
        if (!pivoted && !cluster) trid_p_batch_pad(first == 0, here.valid, &u);
        const int bad = trid_p_batch_solve_tile<shape, pivoted>(plan.n, here.valid, &u, post, &left);
        post.phase++;
        if (reports && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
        trid_p_batch_finish(pipeline, here, p, x, u.d);
        if (reports) {
            __syncthreads();
            if (part == 0 && block == 0 && here.in_batch) trid_p_batch_tell(plan, here.system, worst[line]);
        }
    }
}
template <int method, class tb_real, class shape, class rows_type>
struct trid_p_batch_tiles {
    static constexpr int pivoted = method == trid_p_batch_how::pivoted;
    static constexpr trid_p_batch_needs needs(int flags, int blocks)
    {
        const int arrays = (trid_p_batch_rows<rows_type>::are_arrays ? 4 : 1) + (flags & TRID_BATCH_ADD ? 1 : 0);
        const int mailboxes = 2 * (pivoted ? 12 : 8) * shape::systems * blocks;
        const int tile = shape::pipelined ? arrays * shape::k * shape::threads : 0;
        const int bytes = (tile + (shape::cluster ? mailboxes : 0)) * (int)sizeof(tb_real);
        constexpr int resident = trid_p_batch_resident<tb_real, shape::k, shape::threads>;
        /* besides: what partitions exchange, known unknowns and statuses, and 1 KiB for CUDA itself */
        constexpr int fixed = shape::parts == 1 && !shape::cluster ? 4 : pivoted ? 21 : 16;
        return {bytes, fixed * 1024, resident, resident};
    }
    static constexpr auto solve = trid_p_batch_plain_tiles<pivoted, tb_real, shape, rows_type>;
};

/* The kernel for interleaved systems, for all methods and shapes. */
template <class tb_real, int method, class shape, class rows_type>
TRID_P_BATCH_BOUNDS(shape::threads, trid_p_batch_tiles<method, tb_real, shape, rows_type>::needs(0, 1).resident)
TRID_KERNEL void trid_p_batch_interleaved(trid_p_batch_plan plan, rows_type rows, const tb_real *d, tb_real *x)
{
    if (!trid_p_batch_is_empty<shape>()) trid_p_batch_tiles<method, tb_real, shape, rows_type>::solve(plan, rows, d, x);
}

/* ---- its shapes -------------------------------------------------------------------------------------------------- */

/* Which kernel serves systems of `least` .. `most` rows. systems: how many a block takes, in single and in double
   precision, or 0 if this entry is not for that precision. methods, kind: as in trid_p_batch_how (plan.h). parts,
   burst, ahead: as in trid_p_batch_shape (pipeline.h). */
struct trid_p_batch_tiling {
    int methods, kind, least, most, k, systems[2], parts, burst, ahead;
};
/* A call launches the first entry that serves it and fits the device. docs/batch_notes.md compares the shapes.

   A pipelined kernel requests `burst` rows at a time if its method is hybrid or pivoted. Kernels for one_ring, and for
   LU if systems are not periodic, request that many rows of the matrix. Kernels for one matrix request that many rows
   of a right-hand side, if the factors are in registers and copies are of 16 bytes. Checked kernels request half of a
   thread's rows at a time. All other rows are requested together. Bursts of two save time where systems of 256 rows
   that are not periodic are factored, or solved from factors; with fewer rows they cost time.

   Clusters whose blocks have 8 partitions take tiles with rows of 256 bytes; the table has such clusters where they are
   faster than clusters with narrower tiles. One block is faster up to 160 rows (single precision: 192), where the
   second block of a cluster would be at least half idle. With 22 rows a thread, more bytes are in flight and fewer
   blocks share a system; the table has entries with 22 rows where that is faster. These leave no room for the old x:
   with ADD, later entries serve. If 16 blocks have no room for the messages that they exchange (pivoted, with ADD),
   fewer blocks of 32 partitions take over. */
struct trid_p_batch_tilings : trid_p_batch_how {
    static constexpr int all_but_pivoted = hybrid | reduced | shared_else | checks | lu | factored;
    static constexpr trid_p_batch_tiling rows[] = {
        {hybrid | shared | checks, pipelined, 1, 4, 4, {128, 128}, 1, 4, 0},
        {hybrid | shared, pipelined, 5, 8, 8, {128, 128}, 1, 4, 0},
        {hybrid | shared, pipelined, 9, 16, 16, {128, 128}, 1, 4, 0},
        {checks, pipelined, 5, 16, 16, {128, 128}, 1, 4, 0},
        {pivoted | one_ring, pipelined, 1, 16, 16, {128, 128}, 1, 4, 0},
        {lu | factored, pipelined, 1, 16, 16, {128, 128}, 1, 16, 0},
        {pivoted | one_ring, pipelined, 17, 32, 16, {128, 64}, 2, 4, 0},
        {hybrid | shared | checks, pipelined, 17, 32, 8, {64, 32}, 4, 4, 0},
        {hybrid, few, 33, 64, 8, {16, 16}, 8, 8, 0},
        {hybrid, few, 65, 128, 8, {8, 8}, 16, 8, 0},
        {hybrid, few, 129, 256, 8, {8, 8}, 32, 8, 0},
        {hybrid, few, 257, 512, 16, {8, 8}, 32, 16, 0},
        {hybrid, narrow, 33, 64, 8, {16, 16}, 8, 4, 128},
        {hybrid, narrow, 65, 128, 16, {16, 16}, 8, 4, 128},
        {hybrid, narrow, 129, 160, 20, {16, 16}, 8, 4, 128},
        {hybrid | pivoted | checks | one_ring, pipelined, 33, 64, 16, {64, 32}, 4, 4, 128},
        {lu | factored, pipelined, 17, 64, 16, {64, 32}, 4, 16, 128},
        {reduced, pipelined, 1, 64, 16, {64, 32}, 4, 4, 128},
        {hybrid | pivoted | checks | one_ring, pipelined, 65, 128, 16, {64, 32}, 8, 4, 128},
        {shared, pipelined, 33, 64, 8, {64, 32}, 8, 8, 128},
        {shared, pipelined, 65, 128, 8, {64, 32}, 16, 8, 128},
        {shared, pipelined, 129, 191, 8, {32, 16}, 32, 8, 256},
        {shared, pipelined, 192, 256, 16, {32, 16}, 16, 2, 256},
        {shared, pipelined, 257, 512, 16, {32, 16}, 32, 16, 128},
        {hybrid, wide_clusters, 257, 352, 22, {64, 32}, 8, 2, 128},
        {hybrid, wide_clusters, 465, 704, 22, {64, 32}, 8, 2, 128},
        {hybrid, wide_clusters, 769, 880, 22, {64, 32}, 8, 2, 128},
        {hybrid, wide_clusters, 881, 1024, 22, {32, 0}, 16, 2, 256},
        {hybrid, pipelined, 129, 160, 20, {64, 32}, 8, 4, 128},
        {hybrid, pipelined, 161, 192, 12, {32, 0}, 16, 4, 128},
        {hybrid, clusters, 129, 256, 16, {64, 0}, 8, 2, 128},
        {hybrid, clusters, 129, 512, 16, {0, 32}, 8, 2, 128},
        {hybrid | beyond, clusters, 897, 1024, 16, {0, 32}, 8, 2, 128},
        {hybrid | beyond | pivoted, clusters, 257, 2048, 16, {32, 0}, 16, 4, 128},
        {hybrid | beyond | pivoted, clusters, 257, 4096, 16, {0, 16}, 16, 4, 128},
        {hybrid | beyond | pivoted, clusters, 257, 8192, 16, {16, 8}, 32, 4, 128},
        {hybrid, pipelined_elsewhere, 129, 256, 16, {32, 16}, 16, 2, 256},
        {pivoted | checks | one_ring, pipelined, 129, 256, 16, {32, 16}, 16, 2, 256},
        {factored | factor, pipelined, 256, 256, 16, {32, 16}, 16, 2, 256},
        {lu | factored, pipelined, 65, 256, 16, {32, 16}, 16, 16, 256},
        {hybrid | pivoted, pipelined_elsewhere, 257, 512, 16, {16, 8}, 32, 4, 128},
        {checks, pipelined, 257, 512, 16, {16, 8}, 32, 4, 128},
        {hybrid | checks, pipelined, 513, 1024, 16, {8, 4}, 64, 4, 128},
        {lu | factored, pipelined, 257, 1024, 16, {8, 4}, 64, 16, 128},
        {reduced | shared_else, pipelined, 65, 1024, 16, {8, 4}, 64, 4, 128},
        {all_but_pivoted, unpipelined_elsewhere, 1, 16, 16, {128, 128}, 1, 16, 0},
        {all_but_pivoted, unpipelined_elsewhere, 17, 64, 16, {64, 32}, 4, 16, 0},
        {all_but_pivoted, unpipelined_elsewhere, 65, 256, 16, {32, 16}, 16, 16, 0},
        {all_but_pivoted, unpipelined, 1, 1024, 16, {8, 4}, 64, 16, 0},
    };
};

/* ---- its launches ------------------------------------------------------------------------------------------------ */

enum { TRID_P_BATCH_NOT_LAUNCHED = 1 }; /* besides the statuses: no kernel serves the call, or none has room */
#ifndef TRID_P_BATCH_ON_CHIP_CLUSTER
#define TRID_P_BATCH_ON_CHIP_CLUSTER 8192 /* the most rows that a cluster holds */
#endif
#ifndef TRID_P_BATCH_MANY_TILES
#define TRID_P_BATCH_MANY_TILES 32 /* for each wide cluster, at least: with fewer, many clusters idle at the end */
#endif
#ifndef TRID_P_BATCH_NARROW_TILES
#define TRID_P_BATCH_NARROW_TILES 2 /* at most, for each block that can run at once, unless a group is narrow */
#endif

/* Launches a shape. One for clusters gets clusters of `blocks` blocks. Any other gets a block for each tile; a
   pipelined one gets at most as many blocks as can run at the same time. */
template <int method, class shape, class tb_real, class rows_type>
static int trid_p_batch_launch_shape(const trid_p_batch_work<tb_real> &work, int blocks, int vectorised,
                                     const rows_type &rows)
{
    constexpr int solver = trid_p_batch_how::solver_of(method);
    typedef trid_p_batch_tiles<solver, tb_real, shape, rows_type> tiles;
    constexpr trid_p_batch_needs most = tiles::needs(~0, 1);
    static_assert(!TRID_P_BATCH_ALWAYS_PIPELINED(90) || !shape::pipelined || shape::cluster || shape::narrow ||
                      most.least * (most.bytes + most.fixed) <= TRID_P_BATCH_SHARED_BYTES,
                  "every tile must have room");
    trid_p_batch_plan plan = work.plan;
    const auto kernel = vectorised ? trid_p_batch_interleaved<tb_real, solver, typename shape::in_pieces, rows_type>
                                   : trid_p_batch_interleaved<tb_real, solver, shape, rows_type>;
    trid_p_batch_needs needs = tiles::needs(plan.flags, blocks);
    trid_device device;
    unsigned grid;
    const trid_device *const known = trid_p_batch_known_device(work);
    if (trid_p_batch_count(&plan, shape::systems, 1, &grid))
        return shape::few || shape::narrow ? (int)TRID_P_BATCH_NOT_LAUNCHED : (int)TRID_BATCH_BAD_SIZE;
    plan.repeat = shape::narrow && plan.lines.groups > 1 ? (unsigned)(shape::systems / plan.lines.systems) : 0;
    if (plan.repeat > 1) plan.tiles = grid = (unsigned)((plan.lines.groups + plan.repeat - 1) / plan.repeat);
    if constexpr (shape::few || shape::narrow || shape::wide) {
        const int processors = known ? known->processors : trid_device_attribute(cudaDevAttrMultiProcessorCount);
        const int many = needs.resident * processors * (shape::narrow ? TRID_P_BATCH_NARROW_TILES : 1);
        const int narrow = plan.lines.groups > 1 && plan.lines.systems <= 128 / (int)sizeof(tb_real) && shape::narrow;
        if (shape::wide ? plan.tiles < (unsigned)(TRID_P_BATCH_MANY_TILES * processors / blocks)
                        : plan.tiles > (unsigned)many && !narrow)
            return TRID_P_BATCH_NOT_LAUNCHED;
    }
    if (trid_p_batch_device_of(work, kernel, &device)) return TRID_BATCH_LAUNCH_FAILED;
    if (shape::elsewhere && device.always_pipelined) return TRID_P_BATCH_NOT_LAUNCHED;
    const size_t bytes = (size_t)needs.bytes;
    const int ever = tiles::needs(~0, 16).bytes, room = device.shared_bytes - needs.fixed,
              allowed = ever < room ? ever : room;
    if constexpr (shape::cluster) {
        if (device.major < 9 || needs.bytes + needs.fixed > device.shared_bytes) return TRID_P_BATCH_NOT_LAUNCHED;
        if (trid_p_batch_allow(kernel, allowed)) return TRID_BATCH_LAUNCH_FAILED;
        const dim3 block(shape::threads);
        const unsigned clusters = (unsigned)trid_p_batch_clusters(kernel, known, blocks, block, bytes);
        if (clusters == 0) return TRID_P_BATCH_NOT_LAUNCHED;
        grid = (plan.tiles < clusters ? plan.tiles : clusters) * (unsigned)blocks;
        return trid_p_batch_launched(
            trid_launch_cluster(kernel, dim3(grid), blocks, block, bytes, work.stream, plan, rows, work.d, work.x));
    } else if constexpr (shape::pipelined) {
        while (needs.resident >= needs.least && needs.resident * (needs.bytes + needs.fixed) > device.shared_bytes)
            needs.resident--;
        if (device.major < 8 || needs.resident < needs.least) return TRID_P_BATCH_NOT_LAUNCHED;
    }
    if (bytes && trid_p_batch_allow(kernel, allowed)) return TRID_BATCH_LAUNCH_FAILED;
    return trid_p_batch_launch_tiles(kernel, grid, shape::threads, shape::pipelined ? needs.resident : 0, bytes, device,
                                     work.stream, plan, rows, work.d, work.x);
}

/* Launches the first entry of the table, from entry `at` on, that serves systems of n rows and fits the device. n is in
   `least` .. `most`, so entries that serve no such n are not compiled. */
template <int method, int least, int most, int at = 0, class tb_real, class rows_type>
static int trid_p_batch_launch_tiling(const trid_p_batch_work<tb_real> &work, int vectorised, const rows_type &rows)
{
    if constexpr (at == sizeof trid_p_batch_tilings::rows / sizeof *trid_p_batch_tilings::rows) {
        return TRID_P_BATCH_NOT_LAUNCHED;
    } else {
        constexpr trid_p_batch_tiling row = trid_p_batch_tilings::rows[at];
        constexpr int systems = row.systems[sizeof(tb_real) == 8];
        constexpr bool in_pieces = row.kind == trid_p_batch_how::wide_clusters; /* no other kernel of this shape */
        typedef trid_p_batch_shape<row.k, systems, row.parts, row.burst, row.ahead, row.kind, in_pieces> shape;
        if constexpr ((row.methods & method) && systems > 0 && row.least <= most && row.most >= least &&
                      (!shape::elsewhere || trid_p_batch_has_elsewhere()) &&
                      (!shape::wide || trid_p_batch_rows<rows_type>::are_arrays)) {
            const int n = work.plan.n, rows_a_block = row.k * row.parts, blocks = (n + rows_a_block - 1) / rows_a_block;
            int status = TRID_P_BATCH_NOT_LAUNCHED;
            if (n >= row.least && n <= row.most && (!shape::cluster || n <= TRID_P_BATCH_ON_CHIP_CLUSTER) &&
                (!shape::wide || vectorised))
                status = trid_p_batch_launch_shape<method, shape>(work, blocks, vectorised, rows);
            if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
        }
        return trid_p_batch_launch_tiling<method, least, most, at + 1>(work, vectorised, rows);
    }
}

/* Returns whether these rows and d can be read in pieces of 16 bytes. All arrays must have the same layout, with
   neighbouring systems as neighbours in memory. In each array, and for each right-hand side, the elements of row j of a
   group's systems must begin on a multiple of 16 bytes and fill whole pieces. */
template <class tb_real, class rows_type>
static int trid_p_batch_is_vectorised(const trid_lines &lines, const rows_type &rows, const tb_real *d)
{
    const int vector = 16 / (int)sizeof(tb_real);
    size_t places = (size_t)d;
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        const trid_p_batch_arrays<tb_real> of = trid_p_batch_rows_of(rows);
        if (of.step != lines.step || of.stride != lines.stride || of.jump != lines.jump) return 0;
        places |= (size_t)of.a | (size_t)of.b | (size_t)of.c;
    }
    if constexpr (trid_p_batch_rows<rows_type>::are_lu)
        if (rows.more.pitch % vector) return 0;
    return places % 16 == 0 && lines.stride == 1 && lines.systems % vector == 0 && lines.step % vector == 0 &&
           (lines.groups == 1 || lines.jump % vector == 0);
}
/* Launches the first entry of the table that serves the call. */
template <int method, int least = 1, int most = TRID_BATCH_MAX_N, class tb_real, class rows_type>
static int trid_p_batch_launch_interleaved(const trid_p_batch_work<tb_real> &work, const rows_type &rows)
{
    const int vectorised = trid_p_batch_is_vectorised(work.plan.lines, rows, work.d);
    return trid_p_batch_launch_tiling<method, least, most>(work, vectorised, rows);
}
