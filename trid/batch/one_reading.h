/* one_reading.h - a room of trid/batch.h: long contiguous systems, of which each row is read once where that suffices.
   MIT licence, see LICENSE. */

/* A system is cut into partitions, each of which a block holds, k rows a thread. Of a partition whose first unknown is
   f and whose last one is z two rows are left, which the block publishes:

       a l + f + c z = d      l: z of the partition above
       a l + z + c g = d      g: f of the one below

   The last row of one and the first row of the next give z in terms of the z above and the z below. Where both
   couplings are at most a unit roundoff they are dropped, and z is known: the block, which still has its rows, solves
   for them, so that a, b, c, d are read once. Elsewhere, or where what is left is not finite, the partition is left
   over. Of such systems a second launch solves for all z, and a third reads the partitions left over once more.
   Launches that have nothing to do return at once.

   A block has three partitions at a time: one that is published and waits for its neighbours, one in registers that is
   reduced, one on its way to shared memory. By the time it looks, what it waits for has mostly come.

   Partitions are handed out in order, by a ticket, and a block publishes each before it waits for the neighbours of the
   one before. So what it waits for is no later than what it has published. A block that has not published that yet
   waits for an earlier partition: some block can always go on, however few run at a time.

   A number shows by itself whether it has come: before, all its bits are set, which they are in no number that is
   published. */
template <class tb_real>
struct trid_p_batch_partitions {
    enum {
        vector = 16 / sizeof(tb_real),
        words = TRID_P_BATCH_PARTITION_WORDS, /* of 16 bytes, of each array a thread */
        k = words * vector,
        threads = TRID_P_BATCH_PARTITION_THREADS,
        warps = threads / 32,
        rows = TRID_P_BATCH_PARTITION_ROWS((int)sizeof(tb_real)) /* of a partition */
    };
    trid_p_batch_plan plan;
    int count, tiles;        /* partitions of a system; tiles of these that are linked at a time */
    unsigned systems, total; /* partitions of all systems */
    unsigned *ticket;        /* the last one */
    int *any;                /* 0: something was left over */
    int *coupled, *left;     /* of each system, of each partition: 0 if something, if it was left over */
    int *worst;              /* of each system the least row that failed, in a partition and between them; or null */
    tb_real *ends;           /* of each partition a, c, d of its first row, then of its last, where z goes at last */
    tb_real *tile_ends;      /* of each tile */

    struct memory {
        trid_p_batch_word<tb_real> rows[warps][4][32 * words], x[warps][32 * words];
        tb_real ends[2][6][warps]; /* of the warps, by turns */
        unsigned ticket[2];
    };
};

/* Where a warp works: rows of a partition from `row` on, of which those of from .. to - 1 exist. */
struct trid_p_batch_stretch {
    int row, from, to, within;         /* within: the partition's number in its system */
    long long system, group, line, at; /* the system; where its row 0 is in d and x */
};

/* Returns where the warp's rows of partition `index` are. The first begins as many rows before its system as lie
   between a line of memory's begin and it: so all begin with a line. */
template <class tb_real>
TB_D trid_p_batch_stretch trid_p_batch_stretch_of(const trid_p_batch_partitions<tb_real> &parts, const tb_real *d,
                                                  unsigned index)
{
    typedef trid_p_batch_partitions<tb_real> of;
    const trid_lines &lines = parts.plan.lines;
    trid_p_batch_stretch s = {0, 0, 0, 0, index / (unsigned)parts.count, 0, 0, 0};
    s.within = (int)(index - (unsigned)s.system * parts.count);
    s.group = lines.groups == 1 ? 0 : s.system / lines.systems;
    s.line = s.system - s.group * lines.systems;
    s.at = s.group * lines.jump + s.line * lines.stride;
    const int shift = (int)((size_t)(d + s.at) / sizeof(tb_real) % (128 / sizeof(tb_real)));
    const int begin = s.within * (int)of::rows - shift, end = begin + (int)of::rows;
    s.row = begin + (int)(threadIdx.x / 32) * 32 * of::k;
    s.from = begin > 0 ? begin : 0;
    s.to = end < parts.plan.n ? end : parts.plan.n;
    return s;
}

/* ---- memory to registers and back -------------------------------------------------------------------------------- */

/* Asks for the warp's elements of an array, of which those of rows from .. to - 1 exist; the others are `fill`. */
template <int words, class tb_real>
TB_D void trid_p_batch_ask_array(const tb_real *src, int row, int from, int to, int fill,
                                 trid_p_batch_word<tb_real> *staged)
{
    enum { vector = 16 / sizeof(tb_real), total = 32 * words * vector };
    const int lane = trid_warp_lane();
    src += row, from -= row, to -= row;
    if (from <= 0 && to >= total && (size_t)src % 16 == 0) {
        TB_UNROLL
        for (int w = 0; w < words; w++)
            trid_p_batch_copy<16, 0>(staged[32 * w + lane].v, src + vector * (32 * w + lane));
        return;
    }
    TB_UNROLL
    for (int j = 0; j < total / 32; j++) {
        const int e = 32 * j + lane;
        if (e >= from && e < to)
            trid_p_batch_copy<sizeof(tb_real), 0>(staged[0].v + e, src + e);
        else
            staged[0].v[e] = (tb_real)fill;
    }
}

/* Asks for the warp's rows of partition `index`, as one group. Rows beyond the system's ends are identity rows. */
template <class tb_real>
TB_D void trid_p_batch_ask_partition(const trid_p_batch_partitions<tb_real> &parts,
                                     const trid_p_batch_arrays<tb_real> &rows, const tb_real *d, unsigned index,
                                     typename trid_p_batch_partitions<tb_real>::memory &own)
{
    if (index < parts.total) {
        const trid_p_batch_stretch s = trid_p_batch_stretch_of(parts, d, index);
        const long long at = s.group * rows.jump + s.line * rows.stride;
        const tb_real *src[4] = {rows.a + at, rows.b + at, rows.c + at, d + s.at};
        TB_UNROLL
        for (int e = 0; e < 4; e++) { /* there may be no memory for a of row 0 and c of row n-1 */
            const int from = e == 0 && s.from == 0 ? 1 : s.from, to = e == 2 && s.to == parts.plan.n ? s.to - 1 : s.to;
            trid_p_batch_ask_array<TRID_P_BATCH_PARTITION_WORDS>(src[e], s.row, from, to, e == 1,
                                                                 own.rows[threadIdx.x / 32][e]);
        }
    }
    trid_copy_commit();
}

/* Takes the thread's rows, when they have come. */
template <int words, class tb_real, int k>
TB_D void trid_p_batch_take_partition(const trid_p_batch_word<tb_real> (*rows)[32 * words],
                                      trid_p_batch_equations<tb_real, k> *u)
{
    tb_real *const to[4] = {u->a, u->b, u->c, u->d};
    TRID_COPY_AWAIT(0);
    __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
    TB_UNROLL
    for (int e = 0; e < 4; e++) {
        TB_UNROLL
        for (int w = 0; w < words; w++) {
            const trid_p_batch_word<tb_real> word = rows[e][words * trid_warp_lane() + w];
            TB_UNROLL
            for (int j = 0; j < k / words; j++) to[e][k / words * w + j] = word.v[j];
        }
    }
    __syncwarp(TB_FULL_WARP); /* and has been read by them */
}

/* Stores the warp's x, or adds it to what is there. */
template <int words, class tb_real, int k>
TB_D void trid_p_batch_store_partition(const trid_p_batch_stretch &s, int add, const tb_real (&u)[k],
                                       trid_p_batch_word<tb_real> *staged, tb_real *x)
{
    const int lane = trid_warp_lane(), from = s.from - s.row, to = s.to - s.row;
    tb_real before[k];
    TB_UNROLL
    for (int j = 0; j < k; j++) staged[words * lane + j / (k / words)].v[j % (k / words)] = u[j];
    __syncwarp(TB_FULL_WARP);
    x += s.at + s.row + lane;
    TB_UNROLL
    for (int j = 0; j < k; j++) before[j] = add && 32 * j + lane >= from && 32 * j + lane < to ? x[32 * j] : (tb_real)0;
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (32 * j + lane >= from && 32 * j + lane < to)
            x[32 * j] = add ? staged[0].v[32 * j + lane] + before[j] : staged[0].v[32 * j + lane];
    __syncwarp(TB_FULL_WARP); /* staged has been read */
}

/* ---- what blocks tell each other --------------------------------------------------------------------------------- */

/* Stores a number that other blocks wait for. */
template <class tb_real>
TB_D void trid_p_batch_publish(tb_real *to, tb_real u)
{
    if (!trid_finite(u)) u = trid_p_batch_number<tb_real>(0x7fffffffu); /* NaN, but not all bits */
#ifdef __CUDA_ARCH__
    *(volatile tb_real *)to = u;
#else
    __atomic_store(to, &u, __ATOMIC_RELAXED);
#endif
}

/* Of the rows that are left above, of and below partition `index`, lane e < 12 looks at number e: the last row of the
   one above, both of its own, the first of the one below; at 0 where there is no such row. */
template <class tb_real>
TB_D tb_real trid_p_batch_look_around(const trid_p_batch_partitions<tb_real> &parts, unsigned index)
{
    const int lane = trid_warp_lane(), within = (int)(index % (unsigned)parts.count);
    tb_real *from = parts.ends + (6ll * index - 3 + lane), seen = 0;
    if (index < parts.total && lane < 12 && (lane >= 3 || within > 0) && (lane < 9 || within + 1 < parts.count))
#ifdef __CUDA_ARCH__
        seen = *(volatile tb_real *)from;
#else
        __atomic_load(from, &seen, __ATOMIC_RELAXED);
#endif
    return seen;
}

/* Returns whether a number has not come yet. */
template <class tb_real>
TB_D int trid_p_batch_is_awaited(tb_real u)
{
    if constexpr (sizeof(tb_real) == 4)
        return __float_as_uint(u) == ~0u;
    else
        return __double_as_longlong(u) == -1;
}

/* Waits for these rows, of which `seen` is what an earlier look saw. Leaves l and z. Returns whether they are known:
   what is dropped is below a unit roundoff, and what is not finite couples. */
template <class tb_real>
TB_D int trid_p_batch_meet_neighbours(const trid_p_batch_partitions<tb_real> &parts, unsigned index, tb_real seen,
                                      tb_real *l, tb_real *z)
{
    const tb_real unit = sizeof(tb_real) == 4 ? (tb_real)0x1p-24 : (tb_real)0x1p-53;
    while (__any_sync(TB_FULL_WARP, trid_p_batch_is_awaited(seen))) {
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 700
        __nanosleep(50);
#endif
        seen = trid_p_batch_look_around(parts, index);
    }
    tb_real row[6];
    TB_UNROLL
    for (int e = 0; e < 6; e++) row[e] = __shfl_down_sync(TB_FULL_WARP, seen, e);
    trid_lane_link(&row[0], &row[1], &row[2], row[3], row[4], row[5]); /* of l in lane 0, of z in lane 6 */
    const int couples = !(fabs(row[0]) <= unit && fabs(row[1]) <= unit && trid_finite(row[2]));
    *l = __shfl_sync(TB_FULL_WARP, row[2], 0);
    *z = __shfl_sync(TB_FULL_WARP, row[2], 6);
    return !__any_sync(TB_FULL_WARP, couples && trid_warp_lane() % 6 == 0 && trid_warp_lane() < 12);
}

/* ---- a block's levels -------------------------------------------------------------------------------------------- */

/* A thread's rows, reduced; a, c, d of its last row in terms of its warp's ends, and of that of warp lane % warps in
   terms of the block's. */
template <class tb_real, int k>
struct trid_p_batch_reduced {
    tb_real a[k], c[k], d[k], lane[3], warp[3];
};

/* Reduces a thread's rows to two and these to a warp's two, which go to `ends`. Returns the least row of the block,
   from 1 on, that the thread knows to have failed, or 0. */
template <int warps, class tb_real, int k>
TB_D int trid_p_batch_reduce_warp(trid_p_batch_equations<tb_real, k> *u, tb_real (*ends)[warps],
                                  trid_p_batch_reduced<tb_real, k> *to)
{
    const int lane = trid_warp_lane(), warp = (int)threadIdx.x / 32, end = k - 1;
    const int status = trid_lane_reduce(k, u->a, u->b, u->c, u->d);
    tb_real row[3] = {u->a[end], u->c[end], u->d[end]};
    tb_real below[3] = {__shfl_down_sync(TB_FULL_WARP, u->a[0], 1), __shfl_down_sync(TB_FULL_WARP, u->c[0], 1),
                        __shfl_down_sync(TB_FULL_WARP, u->d[0], 1)};
    if (lane == 31) below[0] = 0, below[1] = -1, below[2] = 0; /* stays coupled to the next warp's first unknown */
    int bad = trid_lane_link(&row[0], &row[1], &row[2], below[0], below[1], below[2]);
    bad |= trid_warp_pcr_open(32, &row[0], &row[1], &row[2]);
    if (lane == 0) {
        ends[0][warp] = u->a[0] - u->c[0] * row[0];
        ends[1][warp] = -u->c[0] * row[1];
        ends[2][warp] = u->d[0] - u->c[0] * row[2];
    }
    TB_UNROLL
    for (int e = 0; e < 3; e++) {
        if (lane == 31) ends[3 + e][warp] = row[e];
        to->lane[e] = row[e];
    }
    return trid_lane_status(k * (int)threadIdx.x, k, 32 * k * warps, 32 * k * warps, status, bad);
}

/* Reduces the warps' rows to the block's two, and publishes these where somebody waits for them. Returns as
   trid_p_batch_reduce_warp, to some threads. */
template <int warps, class tb_real, int k>
TB_D int trid_p_batch_reduce_block(const tb_real (*ends)[warps], tb_real *publish, trid_p_batch_reduced<tb_real, k> *to)
{
    const int thread = (int)threadIdx.x, warp = trid_warp_lane() & (warps - 1), next = (warp + 1) & (warps - 1);
    const int is_last = warp == warps - 1;
    tb_real *row = to->warp;
    TB_UNROLL
    for (int e = 0; e < 3; e++) row[e] = ends[3 + e][warp];
    int bad = trid_lane_link(&row[0], &row[1], &row[2], is_last ? (tb_real)0 : ends[0][next],
                             is_last ? (tb_real)-1 : ends[1][next], is_last ? (tb_real)0 : ends[2][next]);
    bad |= trid_warp_pcr_open(warps, &row[0], &row[1], &row[2]);
    TB_UNROLL
    for (int e = 0; e < 3 && publish; e++) {
        const tb_real own = e == 1 ? (tb_real)0 : ends[e][0];
        if (thread == 0) trid_p_batch_publish(publish + e, own - ends[1][0] * row[e]);
        if (thread == warps - 1) trid_p_batch_publish(publish + 3 + e, row[e]);
    }
    return thread < warps ? trid_lane_status(32 * k * warp, 32 * k, 32 * k * warps, 32 * k * warps, 0, bad) : 0;
}

/* Solves for the thread's rows from the block's l and z. */
template <int warps, class tb_real, int k>
TB_D void trid_p_batch_expand_block(tb_real l, tb_real z, trid_p_batch_reduced<tb_real, k> *u)
{
    const int lane = trid_warp_lane(), warp = (int)threadIdx.x / 32;
    const tb_real end = (lane & (warps - 1)) < warps - 1 ? u->warp[2] - u->warp[0] * l - u->warp[1] * z : z;
    const tb_real above = __shfl_sync(TB_FULL_WARP, end, warp > 0 ? warp - 1 : 0);
    const tb_real before = warp > 0 ? above : l, last = __shfl_sync(TB_FULL_WARP, end, warp);
    const tb_real own = lane < 31 ? u->lane[2] - u->lane[0] * before - u->lane[1] * last : last;
    const tb_real left = __shfl_up_sync(TB_FULL_WARP, own, 1);
    trid_lane_expand(k, u->a, u->c, u->d, lane == 0 ? before : left, own);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Returns the next partition after `index`. again: the block's next one that was left over. */
template <int again, class tb_real>
TB_D unsigned trid_p_batch_next_partition(const trid_p_batch_partitions<tb_real> &parts, unsigned index)
{
    if constexpr (!again) {
        return atomicAdd(parts.ticket, 1u) + 1;
    } else {
        for (index += gridDim.x; index < parts.total && parts.left[index] != 0;) index += gridDim.x;
        return index < parts.total ? index : parts.total;
    }
}

/* Solves for the rows of partition `index` and stores x, or leaves it over. */
template <int again, class tb_real, int k>
TB_D void trid_p_batch_finish_partition(const trid_p_batch_partitions<tb_real> &parts, const tb_real *d, unsigned index,
                                        tb_real seen, trid_p_batch_reduced<tb_real, k> *u,
                                        typename trid_p_batch_partitions<tb_real>::memory &own, tb_real *x)
{
    typedef trid_p_batch_partitions<tb_real> of;
    const trid_p_batch_stretch s = trid_p_batch_stretch_of(parts, d, index);
    const tb_real *ends = parts.ends + 6ll * index;
    tb_real l, z;
    int known = 1;
    if constexpr (again)
        l = s.within > 0 ? ends[-1] : (tb_real)0, z = ends[5];
    else
        known = trid_p_batch_meet_neighbours(parts, index, seen, &l, &z) || parts.count == 1;
    if (known) {
        trid_p_batch_expand_block<of::warps>(l, z, u);
        trid_p_batch_store_partition<of::words>(s, parts.plan.flags & TRID_BATCH_ADD, u->d, own.x[threadIdx.x / 32], x);
    } else if (threadIdx.x == 0) {
        parts.left[index] = parts.coupled[s.system] = *parts.any = 0;
    }
}

/* Solves partitions, one after another. again: those left over, z being known. */
template <class tb_real, int again>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_PARTITION_THREADS, TRID_P_BATCH_PARTITION_RESIDENT)
TRID_KERNEL void trid_p_batch_one_reading(trid_p_batch_partitions<tb_real> parts, trid_p_batch_arrays<tb_real> rows,
                                          const tb_real *d, tb_real *x)
{
    typedef trid_p_batch_partitions<tb_real> of;
    TRID_DYNAMIC_SHARED(dynamic);
    typename of::memory &own = *(typename of::memory *)dynamic;
    const int is_first = threadIdx.x == 0;
    if (again && *parts.any != 0) return;
    if (is_first) {
        own.ticket[0] = trid_p_batch_next_partition<again>(parts, blockIdx.x - gridDim.x);
        own.ticket[1] = trid_p_batch_next_partition<again>(parts, own.ticket[0]);
    }
    __syncthreads();
    unsigned held = parts.total, index = own.ticket[0], ahead = own.ticket[1], ticket = 0;
    __syncthreads();
    trid_p_batch_reduced<tb_real, of::k> reduced;
    trid_p_batch_ask_partition(parts, rows, d, index, own);
    for (int turn = 0;; turn ^= 1) {
        const int has = index < parts.total;
        trid_p_batch_equations<tb_real, of::k> u;
        trid_p_batch_reduced<tb_real, of::k> next;
        int bad = 0, later = 0;
        if (is_first) ticket = trid_p_batch_next_partition<again>(parts, ahead); /* early, as it takes a while; */
        const tb_real seen = again ? (tb_real)0 : trid_p_batch_look_around(parts, held); /* this too */
        if (has) {
            trid_p_batch_take_partition<of::words>(own.rows[threadIdx.x / 32], &u);
            trid_p_batch_ask_partition(parts, rows, d, ahead, own);
            bad = trid_p_batch_reduce_warp<of::warps>(&u, own.ends[turn], &next);
        }
        if (is_first) own.ticket[turn] = ticket;
        __syncthreads();
        ticket = own.ticket[turn];
        if (has) later = trid_p_batch_reduce_block(own.ends[turn], again ? 0 : parts.ends + 6ll * index, &next);
        if (!again && (bad || later)) {
            const trid_p_batch_stretch s = trid_p_batch_stretch_of(parts, d, index);
            const int begin = s.row - (int)(threadIdx.x / 32) * 32 * of::k;
            trid_p_batch_failed(parts.worst, s.system, 0, trid_p_batch_row(begin + (bad ? bad : later), parts.plan.n));
        }
        if (held < parts.total) trid_p_batch_finish_partition<again>(parts, d, held, seen, &reduced, own, x);
        if (!has) break;
        TB_UNROLL
        for (int j = 0; j < of::k; j++) next.a[j] = u.a[j], next.c[j] = u.c[j], next.d[j] = u.d[j];
        reduced = next, held = index, index = ahead, ahead = ticket;
    }
}

/* Reduces, as trid_p_batch_reduce_block does, rows first .. of the system that the last unknowns of `count` partitions,
   or of tiles of these, solve. */
template <int warps, class tb_real, int k>
TB_D int trid_p_batch_reduce_links(const tb_real *ends, int first, int count, tb_real (*between)[warps],
                                   tb_real *publish, trid_p_batch_reduced<tb_real, k> *u)
{
    trid_p_batch_equations<tb_real, k> links;
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        const int i = first + k * (int)threadIdx.x + j;
        tb_real row[6] = {0, 0, 0, 0, 0, 0};
        TB_UNROLL
        for (int e = 0; e < 6; e++)
            if (i < count - (e >= 3)) row[e] = ends[6ll * i + 3 + e];
        trid_lane_link(&row[0], &row[1], &row[2], row[3], row[4], row[5]); /* a bad pivot shows later */
        links.a[j] = row[0], links.b[j] = 1, links.c[j] = row[1], links.d[j] = row[2];
    }
    const int bad = trid_p_batch_reduce_warp<warps>(&links, between, u);
    __syncthreads();
    const int later = trid_p_batch_reduce_block(between, publish, u);
    TB_UNROLL
    for (int j = 0; j < k; j++) u->a[j] = links.a[j], u->c[j] = links.c[j], u->d[j] = links.d[j];
    return bad ? bad : later;
}

/* Solves for the last unknowns of all partitions of systems of which something was left over, a tile of partitions a
   block. Where a system has several: up, reduces tiles to their ends; then solves for the last unknowns of all tiles,
   and with these for its own. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_PARTITION_THREADS, 8)
TRID_KERNEL void trid_p_batch_one_reading_link(trid_p_batch_partitions<tb_real> parts, int up)
{
    typedef trid_p_batch_partitions<tb_real> of;
    enum { k = TRID_P_BATCH_LINKS, warps = of::warps, most = k * of::threads, rows = of::rows };
    __shared__ tb_real between[2][6][warps], known[2];
    const int thread = (int)threadIdx.x, tiles = parts.tiles;
    if (*parts.any != 0) return;
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < parts.systems * tiles; index += gridDim.x) {
        const int system = (int)(index / tiles), tile = (int)(index % tiles), first = tile * most;
        tb_real *ends = parts.ends + 6ll * system * parts.count, *tile_ends = parts.tile_ends + 6ll * system * tiles;
        trid_p_batch_reduced<tb_real, k> u;
        tb_real l = 0, z = 0;
        int later = 0;
        __syncthreads(); /* what is shared has been read */
        if (parts.coupled[system] != 0) continue;
        if (tiles > 1 && !up) {
            later = trid_p_batch_reduce_links(tile_ends, 0, tiles, between[0], (tb_real *)0, &u);
            trid_p_batch_expand_block<warps>(l, __shfl_sync(TB_FULL_WARP, u.warp[2], warps - 1), &u);
            TB_UNROLL
            for (int j = 0; j < k; j++) {
                if (k * thread + j + 1 == tile) known[0] = u.d[j];
                if (k * thread + j == tile) known[1] = u.d[j];
            }
            __syncthreads();
            l = tile > 0 ? known[0] : (tb_real)0, z = known[1];
        }
        const int bad = trid_p_batch_reduce_links(ends, first, parts.count, between[1],
                                                  up ? tile_ends + 6 * tile : (tb_real *)0, &u);
        if (bad || later) /* the last row of a partition counts, or of the system */
            trid_p_batch_failed(parts.worst, system, 1,
                                bad && first + bad < parts.plan.n / rows ? (first + bad) * rows : parts.plan.n);
        if (up) continue;
        if (tiles == 1) z = __shfl_sync(TB_FULL_WARP, u.warp[2], warps - 1);
        trid_p_batch_expand_block<warps>(l, z, &u);
        TB_UNROLL
        for (int j = 0; j < k; j++)
            if (first + k * thread + j < parts.count) ends[6ll * (first + k * thread + j) + 5] = u.d[j];
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Cuts the systems, and clears what kernels tell each other. */
template <class tb_real>
static int trid_p_batch_begin_partitions(const trid_p_batch_work<tb_real> &work,
                                         trid_p_batch_partitions<tb_real> *parts)
{
    typedef trid_p_batch_partitions<tb_real> of;
    const long long n = work.plan.n, systems = work.plan.lines.systems * work.plan.lines.groups;
    const trid_p_batch_partitions_layout layout = trid_p_batch_partitions_layout_of(n, systems, (int)sizeof(tb_real));
    char *const scratch = (char *)work.plan.scratch;
    if (!scratch) return TRID_BATCH_BAD_SCRATCH;
    if (3 * n < 2 * layout.count * of::rows || layout.tiles > TRID_P_BATCH_LINKS * of::threads)
        return TRID_P_BATCH_NOT_LAUNCHED; /* mostly empty partitions; more tiles than a block links */
    if (layout.count > 0x7fffffff / systems) return TRID_BATCH_BAD_SIZE;
    *parts = of();
    parts->plan = work.plan;
    parts->count = (int)layout.count, parts->tiles = (int)layout.tiles;
    parts->systems = (unsigned)systems, parts->total = (unsigned)(layout.count * systems);
    parts->ticket = (unsigned *)scratch, parts->any = (int *)scratch + 1;
    parts->coupled = (int *)(scratch + layout.coupled), parts->left = (int *)(scratch + layout.left);
    parts->ends = (tb_real *)(scratch + layout.ends), parts->tile_ends = (tb_real *)(scratch + layout.tile_ends);
    int error = cudaMemsetAsync(scratch, 0xff, (size_t)layout.worst, work.stream);
    if (trid_p_batch_reports(work.plan)) {
        parts->worst = (int *)(scratch + layout.worst);
        error |= cudaMemsetAsync(parts->worst, TRID_P_BATCH_NO_ROW_BYTE, (size_t)(8 * systems), work.stream);
    }
    return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

/* Launches systems that lie one row after another. */
template <class tb_real>
static int trid_p_batch_launch_one_reading(const trid_p_batch_work<tb_real> &work,
                                           const trid_p_batch_arrays<tb_real> &rows)
{
    typedef trid_p_batch_partitions<tb_real> of;
    enum { bytes = sizeof(typename of::memory), fixed = 1024, threads = of::threads }; /* fixed: a block takes itself */
    const auto link = trid_p_batch_one_reading_link<tb_real>;
    const auto solve = trid_p_batch_one_reading<tb_real, 0>;
    const auto again = trid_p_batch_one_reading<tb_real, 1>;
    const trid_device *const known = trid_p_batch_known_device(work);
    const cudaStream_t stream = work.stream;
    trid_device device;
    of parts;
    if (known)
        device = *known;
    else if (trid_p_batch_ask_device(solve, &device))
        return TRID_BATCH_LAUNCH_FAILED;
    const int room = device.shared_bytes / (bytes + fixed);
    const int resident = room < TRID_P_BATCH_PARTITION_RESIDENT ? room : TRID_P_BATCH_PARTITION_RESIDENT;
    if (resident == 0) return TRID_P_BATCH_NOT_LAUNCHED;
    if (trid_p_batch_allow(solve, known, bytes) != cudaSuccess ||
        trid_p_batch_allow(again, known, bytes) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    int status = trid_p_batch_begin_partitions(work, &parts);
    const auto launch = [&](decltype(solve) kernel) {
        return trid_p_batch_launch_tiles(kernel, dim3(parts.total), threads, resident, bytes, device, stream, parts,
                                         rows, work.d, work.x);
    };
    if (!status) status = launch(solve);
    for (int up = parts.tiles > 1; !status && parts.count > 1 && up >= 0; up--)
        status = trid_p_batch_launch_tiles(link, dim3(parts.systems * parts.tiles), threads, 8, 0, device, stream,
                                           parts, up);
    if (!status && parts.count > 1) status = launch(again);
    trid_p_batch_levels<tb_real> levels = trid_p_batch_levels<tb_real>();
    levels.plan = work.plan, levels.worst = parts.worst;
    return status ? status : trid_p_batch_launch_told<0>(levels, 1, 0, stream);
}

/* Launches long systems of either layout. bounds: what is compiled; corners: of periodic systems. */
template <int method, class bounds, class tb_real, class rows_type>
static int trid_p_batch_launch_levels(const trid_p_batch_work<tb_real> &work, const rows_type &rows,
                                      const trid_p_batch_more<tb_real> &corners = {0, 0, 0, 0, 0})
{
    typedef trid_p_batch_how how;
    enum { systems = TRID_P_BATCH_CHUNK_SYSTEMS((int)sizeof(tb_real)) };
    if (trid_p_batch_is_interleaved(work.plan)) {
        if constexpr (bounds::interleaved)
            return trid_p_batch_launch_chunks<systems, how::strided, method, bounds>(work, rows, corners);
    } else if constexpr (bounds::contiguous) {
        if constexpr (method == how::hybrid && trid_p_batch_rows<rows_type>::are_arrays &&
                      !trid_p_batch_rows<rows_type>::are_known)
            if (trid_p_batch_is_contiguous(work.plan, rows)) {
                const int status = trid_p_batch_launch_one_reading(work, rows);
                if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
            }
        return trid_p_batch_is_contiguous(work.plan, trid_p_batch_rows_of(rows))
                   ? trid_p_batch_launch_chunks<1, how::contiguous, method, bounds>(work, rows, corners)
                   : trid_p_batch_launch_chunks<1, how::strided, method, bounds>(work, rows, corners);
    }
    return TRID_BATCH_BAD_SIZE;
}
