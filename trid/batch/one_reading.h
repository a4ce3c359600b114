/* one_reading.h - a room of trid/batch.h: long contiguous systems, whose rows are read only once if possible.
   MIT licence, see LICENSE. */

/* A system is cut into partitions, each of which a block holds, k rows a thread. The block reduces its partition to two
   rows and publishes them; f and z are the partition's first and last unknowns:

       a l + f + c z = d      l: z of the partition above
       a l + z + c g = d      g: f of the partition below

   The last row of one partition and the first row of the next make a link: z in terms of the z above and the z below.
   If both couplings of a link are at most a unit roundoff, they are dropped, and z is known. Otherwise, if a system has
   `of_links` partitions or fewer, each warp of the block solves all links of the system. In both cases the block still
   holds its rows in registers and solves for their unknowns, so a, b, c, d are read once. In any other case, and if l
   or z is not finite, the partition is left over. The links of systems with more than `of_links` partitions are then
   solved as systems in the same way. A last launch reads left-over partitions again. Kernels with no work end at once.

   A block works on three partitions at a time: one whose two rows are published and which waits for its neighbours, one
   in registers that is being reduced, and one on its way to shared memory. By the time the block looks, most of what it
   waits for has come.

   No wait is endless, so blocks cannot deadlock: a partition that waits in vain, because few blocks run at the same
   time, is left over. The last launch, of the same kernel, finds everything published and computes what the first one
   would have computed, so x is the same.

   A number's value shows whether it has come: all bits are set until then, but never in a published number. */
template <class tb_real>
struct trid_p_batch_partitions {
    enum {
        vector = 16 / sizeof(tb_real),
        words = TRID_P_BATCH_PARTITION_WORDS, /* pieces of 16 bytes of each array that a thread takes */
        k = words * vector,
        threads = TRID_P_BATCH_PARTITION_THREADS, /* of a block, at most */
        most_warps = threads / 32,
        of_links = 32 * TRID_P_BATCH_LINKS /* the most partitions of a system whose links a warp can solve */
    };
    trid_p_batch_plan plan;
    int warps, rows;   /* of a partition */
    int count;         /* partitions of a system */
    unsigned total;    /* partitions of all systems */
    unsigned *ticket;  /* the last ticket drawn */
    const int *wanted; /* null for the caller's systems; for links it points to 0 if they are to be solved */
    int *any;          /* 0: some partition was left over */
    int *left;         /* for each partition: 0 if it was left over */
    int *worst;        /* for each of the caller's systems the first row at which a partition failed, and the first at
                        which a link failed; or null */
    int scale, most;   /* how many of the caller's rows a row stands for (1 unless it is a link); how many rows a
                        caller's system has */
    tb_real *ends;     /* for each partition a, c, d of its first row, then of its last */
    tb_real *z;        /* for each partition: z from systems of links, or NaN if these give none */

    struct warp_memory {
        trid_p_batch_word<tb_real> rows[4][32 * words], x[32 * words];
    };
    struct memory {
        tb_real ends[2][6][most_warps];   /* of the warps: two sets, used alternately */
        tb_real links[6 * of_links + 32]; /* the numbers that make up the links */
        unsigned ticket[2];
        alignas(128) warp_memory warp[most_warps]; /* only `warps` exist; 128 bytes hold one word of each bank */
    };
};

/* A warp's rows of a partition: from row `row` of the system on, where `row` may be negative. The partition has the
   system's rows `from` .. `to` - 1. */
struct trid_p_batch_stretch {
    int row, from, to, within;         /* within: the partition's number in its system */
    long long system, group, line, at; /* the system's index, its group, its number in the group; its row 0 in d, x */
};

/* Returns the warp's rows of partition `index`. The first partition begins at the start of the cache line (128
   bytes) that holds row 0 of d, so all partitions begin at the start of a cache line. */
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
    const int begin = s.within * parts.rows - shift, end = begin + parts.rows;
    s.row = begin + (int)(threadIdx.x / 32) * 32 * of::k;
    s.from = begin > 0 ? begin : 0;
    s.to = end < parts.plan.n ? end : parts.plan.n;
    return s;
}

/* ---- memory to registers and back -------------------------------------------------------------------------------- */

/* Requests the warp's elements of an array. Those of rows `from` .. `to` - 1 exist; the others become `fill`. If
   the warp's elements are aligned and all exist, it requests pieces of 16 bytes. With by_words, an aligned warp that
   lacks elements requests those pieces that are complete; this saves time only if many warps lack rows. All other
   elements are requested singly. */
template <int words, class tb_real>
TB_D void trid_p_batch_ask_array(const tb_real *src, int row, int from, int to, int fill, int by_words,
                                 trid_p_batch_word<tb_real> *staged)
{
    enum { vector = 16 / sizeof(tb_real), total = 32 * words * vector };
    const int lane = trid_warp_lane();
    src += row, from -= row, to -= row;
    const int is_word = (size_t)src % 16 == 0;
    const auto ask = [&](int e) {
        if (e >= from && e < to)
            trid_p_batch_copy<sizeof(tb_real), 0>(staged[0].v + e, src + e);
        else
            staged[0].v[e] = (tb_real)fill;
    };
    if (is_word && from <= 0 && to >= total) {
        TB_UNROLL
        for (int w = 0; w < words; w++)
            trid_p_batch_copy<16, 0>(staged[32 * w + lane].v, src + vector * (32 * w + lane));
    } else if (is_word && by_words) {
        TB_LOOP
        for (int e = vector * lane; e < total; e += 32 * vector) {
            const int is_whole = e >= from && e + vector <= to;
            if (is_whole) trid_p_batch_copy<16, 0>(staged[0].v + e, src + e);
            TB_UNROLL
            for (int j = 0; j < vector && !is_whole; j++) ask(e + j);
        }
    } else {
        TB_UNROLL
        for (int j = 0; j < total / 32; j++) ask(32 * j + lane);
    }
}

/* Requests the warp's rows of partition `index`. Rows beyond the system's ends become identity rows. */
template <class tb_real>
TB_D void trid_p_batch_ask_partition(const trid_p_batch_partitions<tb_real> &parts,
                                     const trid_p_batch_arrays<tb_real> &rows, const tb_real *d, unsigned index,
                                     typename trid_p_batch_partitions<tb_real>::memory &own)
{
    typedef trid_p_batch_partitions<tb_real> of;
    if (index < parts.total) {
        const trid_p_batch_stretch s = trid_p_batch_stretch_of(parts, d, index);
        const long long at = s.group * rows.jump + s.line * rows.stride;
        const tb_real *src[4] = {rows.a + at, rows.b + at, rows.c + at, d + s.at};
        TB_UNROLL
        for (int e = 0; e < 4; e++) { /* a[0] and c[n-1] may have no memory */
            const int from = e == 0 && s.from == 0 ? 1 : s.from, to = e == 2 && s.to == parts.plan.n ? s.to - 1 : s.to;
            trid_p_batch_ask_array<of::words>(src[e], s.row, from, to, e == 1, parts.warps < of::most_warps,
                                              own.warp[threadIdx.x / 32].rows[e]);
        }
    }
    trid_copy_commit();
}

/* Takes the thread's rows when they have come. */
template <int words, class tb_real, int k>
TB_D void trid_p_batch_take_partition(const trid_p_batch_word<tb_real> (*rows)[32 * words],
                                      trid_p_batch_equations<tb_real, k> *u)
{
    tb_real *const to[4] = {u->a, u->b, u->c, u->d};
    TRID_COPY_AWAIT(0);
    __syncwarp(TB_FULL_WARP); /* now what other lanes requested has arrived as well */
    TB_UNROLL
    for (int e = 0; e < 4; e++) {
        TB_UNROLL
        for (int w = 0; w < words; w++) {
            const trid_p_batch_word<tb_real> word = rows[e][words * trid_warp_lane() + w];
            TB_UNROLL
            for (int j = 0; j < k / words; j++) to[e][k / words * w + j] = word.v[j];
        }
    }
    __syncwarp(TB_FULL_WARP); /* now all lanes have read their rows */
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
    if (!trid_finite(u)) u = trid_p_batch_number<tb_real>(0x7fffffffu); /* NaN, but not with all bits set */
#ifdef __CUDA_ARCH__
    *(volatile tb_real *)to = u;
#else
    __atomic_store(to, &u, __ATOMIC_RELAXED);
#endif
}

/* Notes a bad row, counted from 1. `after` says that a link failed, not a row within a partition. */
template <class tb_real>
TB_D void trid_p_batch_note(const trid_p_batch_partitions<tb_real> &parts, long long system, int after, long long row)
{
    row *= parts.scale;
    trid_p_batch_failed(parts.worst, system, after || parts.scale > 1, row < parts.most ? (int)row : parts.most);
}

/* Returns a published number, or what is there before it comes. */
template <class tb_real>
TB_D tb_real trid_p_batch_peek(tb_real *from)
{
#ifdef __CUDA_ARCH__
    return *(volatile tb_real *)from;
#else
    tb_real seen;
    __atomic_load(from, &seen, __ATOMIC_RELAXED);
    return seen;
#endif
}

/* Returns whether the number has not come yet. */
template <class tb_real>
TB_D int trid_p_batch_is_awaited(tb_real u)
{
    if constexpr (sizeof(tb_real) == 4)
        return __float_as_uint(u) == ~0u;
    else
        return __double_as_longlong(u) == -1;
}

/* The partition that waits: its index; the number that a lane has seen (trid_p_batch_look_around); whether all threads
   of the block have seen all that they wait for; how many times the block looks again before it gives up. */
template <class tb_real>
struct trid_p_batch_held {
    unsigned index;
    tb_real seen;
    int came, patience;
};

/* Returns whether the block has looked often enough; if not, lets other blocks run for a moment. After a block has
   given up, it looks only once per partition. */
template <class tb_real>
TB_D int trid_p_batch_gives_up(trid_p_batch_held<tb_real> &held, int looks)
{
    if (looks >= trid_warp_uniform(held.patience)) {
        held.patience = 0;
        return 1;
    }
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 700
    __nanosleep(50);
#endif
    return 0;
}

/* Looks at four of the rows that partitions leave: the last row of the partition above partition `index`, the two rows
   of partition `index`, and the first row of the partition below. Lane e < 12 returns number e of their 12 numbers. A
   row that does not exist counts as 0. */
template <class tb_real>
TB_D tb_real trid_p_batch_look_around(const trid_p_batch_partitions<tb_real> &parts, unsigned index)
{
    const int lane = trid_warp_lane(), within = (int)(index % (unsigned)parts.count);
    const int is_there = lane < 12 && (lane >= 3 || within > 0) && (lane < 9 || within + 1 < parts.count);
    return index < parts.total && is_there ? trid_p_batch_peek(parts.ends + (6ll * index - 3 + lane)) : (tb_real)0;
}

/* Solves for l and z from the neighbours alone.
   Returns  whether l and z are known: the couplings are at most a unit roundoff, and the numbers finite */
template <class tb_real>
TB_D int trid_p_batch_meet_neighbours(tb_real seen, tb_real *l, tb_real *z)
{
    const tb_real unit = sizeof(tb_real) == 4 ? (tb_real)0x1p-24 : (tb_real)0x1p-53;
    tb_real row[6];
    TB_UNROLL
    for (int e = 0; e < 6; e++) row[e] = __shfl_down_sync(TB_FULL_WARP, seen, e);
    trid_lane_link(&row[0], &row[1], &row[2], row[3], row[4], row[5]); /* l in lane 0, z in lane 6 */
    const int couples = !(fabs(row[0]) <= unit && fabs(row[1]) <= unit && trid_finite(row[2]));
    *l = __shfl_sync(TB_FULL_WARP, row[2], 0);
    *z = __shfl_sync(TB_FULL_WARP, row[2], 6);
    return !__any_sync(TB_FULL_WARP, couples && trid_warp_lane() % 6 == 0 && trid_warp_lane() < 12);
}

/* ---- a block's levels -------------------------------------------------------------------------------------------- */

/* A thread's rows, reduced. lane: a, c, d of its last row, in terms of the unknown above its warp and the last unknown
   of its warp. warp: a, c, d of the last row of warp w, in terms of l and z; w is trid_warp_lane() % warps. If the
   row of `lane` is itself the last of its warp, its c belongs to the unknown below; so does the c of `warp` if its row
   is itself the last of the block. */
template <class tb_real, int k>
struct trid_p_batch_reduced {
    tb_real a[k], c[k], d[k], lane[3], warp[3];
};

/* Reduces each thread's rows to two, then all rows of a warp to two, which go to `ends`.
   Returns  the first row of the block, counted from 1, that the thread knows to have failed, or 0 */
template <int most, class tb_real, int k>
TB_D int trid_p_batch_reduce_warp(int warps, trid_p_batch_equations<tb_real, k> *u, tb_real (*ends)[most],
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

/* Reduces the warps' rows to the block's two, and stores these at `publish` for other blocks unless it is null.
   Returns  as trid_p_batch_reduce_warp, but always 0 in threads numbered `warps` or higher */
template <int most, class tb_real, int k>
TB_D int trid_p_batch_reduce_block(int warps, const tb_real (*ends)[most], tb_real *publish,
                                   trid_p_batch_reduced<tb_real, k> *to)
{
    const int thread = (int)threadIdx.x, warp = trid_warp_lane() & (warps - 1), next = (warp + 1) & (warps - 1);
    const int is_last = warp == warps - 1;
    tb_real *row = to->warp;
    TB_UNROLL
    for (int e = 0; e < 3; e++) row[e] = ends[3 + e][warp];
    int bad = trid_lane_link(&row[0], &row[1], &row[2], is_last ? (tb_real)0 : ends[0][next],
                             is_last ? (tb_real)-1 : ends[1][next], is_last ? (tb_real)0 : ends[2][next]);
    if (warps > 1) bad |= trid_warp_pcr_open(warps, &row[0], &row[1], &row[2]);
    TB_UNROLL
    for (int e = 0; e < 3 && publish; e++) {
        const tb_real own = e == 1 && warps > 1 ? (tb_real)0 : ends[e][0], by = warps > 1 ? ends[1][0] : (tb_real)0;
        if (thread == 0) trid_p_batch_publish(publish + e, own - by * row[e]);
        if (thread == warps - 1) trid_p_batch_publish(publish + 3 + e, row[e]);
    }
    return thread < warps ? trid_lane_status(32 * k * warp, 32 * k, 32 * k * warps, 32 * k * warps, 0, bad) : 0;
}

/* Solves for the unknowns of the thread's rows, given the block's l and z. */
template <class tb_real, int k>
TB_D void trid_p_batch_expand_block(int warps, tb_real l, tb_real z, trid_p_batch_reduced<tb_real, k> *u)
{
    const int lane = trid_warp_lane(), warp = (int)threadIdx.x / 32;
    const tb_real end = (lane & (warps - 1)) < warps - 1 ? u->warp[2] - u->warp[0] * l - u->warp[1] * z : z;
    const tb_real above = __shfl_sync(TB_FULL_WARP, end, warp > 0 ? warp - 1 : 0);
    const tb_real before = warp > 0 ? above : l, last = __shfl_sync(TB_FULL_WARP, end, warp);
    const tb_real own = lane < 31 ? u->lane[2] - u->lane[0] * before - u->lane[1] * last : last;
    const tb_real left = __shfl_up_sync(TB_FULL_WARP, own, 1);
    trid_lane_expand(k, u->a, u->c, u->d, lane == 0 ? before : left, own);
}

/* ---- links: the rows that couple the last unknowns of partitions ------------------------------------------------- */

/* Makes the thread's k links from `numbers` numbers at `from`: the last row of the thread's first partition, the first
   row of the next partition, its last row, and so on. Numbers beyond these count as 0. */
template <class tb_real, int k>
TB_D void trid_p_batch_link(const tb_real *from, int numbers, trid_p_batch_equations<tb_real, k> *links)
{
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        tb_real row[6];
        TB_UNROLL
        for (int e = 0; e < 6; e++) row[e] = 6 * j + e < numbers ? from[6 * j + e] : (tb_real)0;
        trid_lane_link(&row[0], &row[1], &row[2], row[3], row[4], row[5]); /* a bad pivot shows later */
        links->a[j] = row[0], links->b[j] = 1, links->c[j] = row[1], links->d[j] = row[2];
    }
}

/* Waits for all links of the system, and solves them for l and z. Each warp solves all of them.
   Returns  whether l and z are known: all links have come, and l and z are finite */
template <class tb_real>
TB_D int trid_p_batch_meet_all(const trid_p_batch_partitions<tb_real> &parts, trid_p_batch_held<tb_real> &held,
                               typename trid_p_batch_partitions<tb_real>::memory &own, tb_real *l, tb_real *z)
{
    enum { k = TRID_P_BATCH_LINKS, at_a_time = 6 };
    const int lane = trid_warp_lane(), threads = 32 * parts.warps, numbers = 6 * parts.count - 3;
    const int system = (int)(held.index / (unsigned)parts.count), within = (int)held.index - system * parts.count;
    tb_real *const from = parts.ends + (6ll * (held.index - within) + 3);
    for (int looks = 0, awaited = 1; awaited; looks++) {
        awaited = 0;
        for (int first = (int)threadIdx.x; first < numbers; first += at_a_time * threads) {
            tb_real seen[at_a_time];
            TB_UNROLL
            for (int j = 0; j < at_a_time; j++)
                seen[j] = first + j * threads < numbers ? trid_p_batch_peek(from + first + j * threads) : (tb_real)0;
            TB_UNROLL
            for (int j = 0, i = first; j < at_a_time; j++, i += threads) {
                if (i < numbers) own.links[i + i / (6 * k)] = seen[j]; /* without bank conflicts */
                awaited |= trid_p_batch_is_awaited(seen[j]);
            }
        }
        awaited = trid_warp_uniform(__syncthreads_or(awaited));
        if (awaited && trid_p_batch_gives_up(held, looks)) return 0;
    }
    trid_p_batch_equations<tb_real, k> u;
    trid_p_batch_link(own.links + (6 * k + 1) * lane, numbers - 6 * k * lane, &u);
    const int bad = trid_warp_hybrid(k, 32, parts.count, u.a, u.b, u.c, u.d);
    if (bad) trid_p_batch_note(parts, system, 1, (long long)bad * parts.rows);
    *l = *z = 0; /* there is no l above the first partition */
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        const tb_real above = __shfl_sync(TB_FULL_WARP, u.d[j], (within - 1) / k);
        const tb_real own_z = __shfl_sync(TB_FULL_WARP, u.d[j], within / k);
        if ((within - 1) % k == j) *l = above;
        if (within % k == j) *z = own_z;
    }
    return trid_warp_uniform(trid_finite(*l) && trid_finite(*z));
}

/* Waits for the neighbours of the partition, and solves for its l and z.
   Returns  whether they are known, the same for all threads of the block */
template <class tb_real>
TB_D int trid_p_batch_meet(const trid_p_batch_partitions<tb_real> &parts, trid_p_batch_held<tb_real> &held,
                           typename trid_p_batch_partitions<tb_real>::memory &own, tb_real *l, tb_real *z)
{
    for (int looks = 0; !held.came; looks++) {
        if (trid_p_batch_gives_up(held, looks)) return 0;
        held.seen = trid_p_batch_look_around(parts, held.index);
        held.came = trid_warp_uniform(__syncthreads_and(!trid_p_batch_is_awaited(held.seen)));
    }
    if (trid_p_batch_meet_neighbours(held.seen, l, z)) return 1;
    return parts.count <= trid_p_batch_partitions<tb_real>::of_links && trid_p_batch_meet_all(parts, held, own, l, z);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Returns the block's next partition after `index` that was left over. */
template <class tb_real>
TB_D unsigned trid_p_batch_next_left(const trid_p_batch_partitions<tb_real> &parts, unsigned index)
{
    for (index += gridDim.x; index < parts.total && parts.left[index] != 0;) index += gridDim.x;
    return index < parts.total ? index : parts.total;
}

/* Solves for x in the partition that waits, and stores it; or notes that the partition is left over. */
template <class tb_real, int k>
TB_D void trid_p_batch_finish_partition(const trid_p_batch_partitions<tb_real> &parts, int again, const tb_real *d,
                                        trid_p_batch_held<tb_real> &held, trid_p_batch_reduced<tb_real, k> *u,
                                        typename trid_p_batch_partitions<tb_real>::memory &own, tb_real *x)
{
    typedef trid_p_batch_partitions<tb_real> of;
    const trid_p_batch_stretch s = trid_p_batch_stretch_of(parts, d, held.index);
    tb_real l = 0, z = 0;
    const int known = trid_p_batch_meet(parts, held, own, &l, &z);
    if (again && !known) l = s.within > 0 ? parts.z[held.index - 1] : (tb_real)0, z = parts.z[held.index];
    if (again || known) {
        trid_p_batch_expand_block(parts.warps, l, z, u);
        trid_p_batch_store_partition<of::words>(s, parts.plan.flags & TRID_BATCH_ADD, u->d,
                                                own.warp[threadIdx.x / 32].x, x);
    } else if (threadIdx.x == 0) {
        parts.left[held.index] = 0;
        atomicExch(parts.any, 0);
    }
}

/* Solves partitions, one after another. again: only those that were left over. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_PARTITION_THREADS, TRID_P_BATCH_PARTITION_RESIDENT)
TRID_KERNEL void trid_p_batch_one_reading(trid_p_batch_partitions<tb_real> parts, int again,
                                          trid_p_batch_arrays<tb_real> rows, const tb_real *d, tb_real *x)
{
    typedef trid_p_batch_partitions<tb_real> of;
    TRID_DYNAMIC_SHARED(dynamic);
    typename of::memory &own = *(typename of::memory *)dynamic;
    if (again ? *parts.any != 0 : parts.wanted && *parts.wanted != 0) return;
    const unsigned first = again ? trid_p_batch_next_left(parts, blockIdx.x - gridDim.x) : blockIdx.x;
    const unsigned second = again ? trid_p_batch_next_left(parts, first) : first + gridDim.x;
    unsigned index = (unsigned)trid_warp_uniform((int)first), ahead = (unsigned)trid_warp_uniform((int)second);
    trid_p_batch_held<tb_real> held = {parts.total, 0, 0, TRID_P_BATCH_PATIENCE};
    trid_p_batch_reduced<tb_real, of::k> reduced;
    trid_p_batch_ask_partition(parts, rows, d, index, own);
    for (int turn = 0;; turn ^= 1) {
        const int has = index < parts.total;
        trid_p_batch_equations<tb_real, of::k> u;
        trid_p_batch_reduced<tb_real, of::k> next;
        unsigned after = 0;
        int bad = 0, later = 0;
        if (threadIdx.x == 0) /* early, because it takes a while */
            after = again ? trid_p_batch_next_left(parts, ahead) : atomicAdd(parts.ticket, 1u);
        held.seen = trid_p_batch_look_around(parts, held.index); /* early, too */
        if (has) {
            trid_p_batch_take_partition<of::words>(own.warp[threadIdx.x / 32].rows, &u);
            trid_p_batch_ask_partition(parts, rows, d, ahead, own);
            bad = trid_p_batch_reduce_warp(parts.warps, &u, own.ends[turn], &next);
        }
        if (threadIdx.x == 0) own.ticket[turn] = after;
        held.came = trid_warp_uniform(__syncthreads_and(!trid_p_batch_is_awaited(held.seen)));
        after = own.ticket[turn] + (again ? 0 : 2 * gridDim.x + 1);
        if (has)
            later = trid_p_batch_reduce_block(parts.warps, own.ends[turn], again ? 0 : parts.ends + 6ll * index, &next);
        if (!again && (bad || later)) {
            const trid_p_batch_stretch s = trid_p_batch_stretch_of(parts, d, index);
            const int begin = s.row - (int)(threadIdx.x / 32) * 32 * of::k;
            trid_p_batch_note(parts, s.system, 0, begin + (bad ? bad : later));
        }
        if (held.index < parts.total) trid_p_batch_finish_partition(parts, again, d, held, &reduced, own, x);
        if (!has) break;
        TB_UNROLL
        for (int j = 0; j < of::k; j++) next.a[j] = u.a[j], next.c[j] = u.c[j], next.d[j] = u.d[j];
        reduced = next, held.index = index, index = ahead, ahead = after;
    }
}

/* Makes systems of all links, with a, b, c, d at `to`, if any partition was left over. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_make_links(trid_p_batch_partitions<tb_real> parts, tb_real *to)
{
    const unsigned i = 256 * blockIdx.x + threadIdx.x;
    if (*parts.any != 0 || i >= parts.total) return;
    const int left = parts.count - (int)(i % (unsigned)parts.count);
    trid_p_batch_equations<tb_real, 1> link;
    trid_p_batch_link(parts.ends + (6ll * i + 3), 6 * left - 3, &link);
    const tb_real row[4] = {link.a[0], link.b[0], link.c[0], link.d[0]};
    TB_UNROLL
    for (int e = 0; e < 4; e++) to[(long long)e * parts.total + i] = row[e];
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Describes in *parts, which must be all zeros, how the systems (the caller's, or the links of `above`) are cut. Sets
   all bits of the memory through which blocks communicate. */
template <class tb_real>
static int trid_p_batch_begin_partitions(const trid_p_batch_work<tb_real> &work,
                                         const trid_p_batch_partitions_layout &layout,
                                         const trid_p_batch_partitions<tb_real> *above,
                                         trid_p_batch_partitions<tb_real> *parts)
{
    const long long systems = work.plan.lines.systems * work.plan.lines.groups;
    char *const scratch = (char *)work.plan.scratch;
    if (!scratch) return TRID_BATCH_BAD_SCRATCH;
    if (layout.count > 0x7fffffff / systems) return TRID_BATCH_BAD_SIZE;
    parts->plan = work.plan, parts->warps = layout.warps, parts->rows = layout.rows;
    parts->count = (int)layout.count, parts->total = (unsigned)(layout.count * systems);
    parts->ticket = (unsigned *)scratch, parts->any = (int *)scratch + 1, parts->left = (int *)(scratch + layout.left);
    parts->z = (tb_real *)(scratch + layout.z), parts->ends = (tb_real *)(scratch + layout.ends);
    parts->scale = 1, parts->most = work.plan.n;
    if (above) {
        parts->wanted = above->any, parts->worst = above->worst;
        parts->scale = above->scale * above->rows, parts->most = above->most;
    }
    if (cudaMemsetAsync(scratch, 0xff, (size_t)layout.worst, work.stream) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    return trid_p_batch_clear_worst(work.plan, layout.worst, work.stream, &parts->worst);
}

/* Launches the kernels for contiguous systems, the caller's or the links of `above`. If a warp cannot solve all links
   of a system, they form a system that is solved in the same way. */
template <class tb_real>
static int trid_p_batch_launch_one_reading(const trid_p_batch_work<tb_real> &work,
                                           const trid_p_batch_arrays<tb_real> &rows,
                                           const trid_p_batch_partitions<tb_real> *above = 0)
{
    typedef trid_p_batch_partitions<tb_real> of;
    enum { most_bytes = sizeof(typename of::memory), fixed = 1024 }; /* fixed: what CUDA itself takes for a block */
    const auto solve = trid_p_batch_one_reading<tb_real>;
    const long long systems = work.plan.lines.systems * work.plan.lines.groups;
    const trid_p_batch_partitions_layout layout =
        trid_p_batch_partitions_layout_of(work.plan.n, systems, (int)sizeof(tb_real));
    trid_device device;
    of parts = {};
    if (trid_p_batch_device_of(work, solve, &device)) return TRID_BATCH_LAUNCH_FAILED;
    if (device.shared_bytes < most_bytes + fixed) return TRID_P_BATCH_NOT_LAUNCHED;
    if (trid_p_batch_allow(solve, most_bytes)) return TRID_BATCH_LAUNCH_FAILED;
    const int bytes = most_bytes - (of::most_warps - layout.warps) * (int)sizeof(typename of::warp_memory);
    const int room = device.shared_bytes / (bytes + fixed);
    const int full = TRID_P_BATCH_PARTITION_RESIDENT * of::most_warps / layout.warps;
    const auto launch = [&](int again) {
        return trid_p_batch_launch_tiles(solve, parts.total, 32 * layout.warps, room < full ? room : full,
                                         (size_t)bytes, device, work.stream, parts, again, rows, work.d, work.x);
    };
    int status = trid_p_batch_begin_partitions(work, layout, above, &parts);
    if (!status) status = launch(0);
    if (!status && parts.count > of::of_links) {
        char *const scratch = (char *)work.plan.scratch;
        tb_real *const a = (tb_real *)(scratch + layout.links), *const b = a + parts.total, *const c = b + parts.total;
        trid_p_batch_work<tb_real> links = {{}, c + parts.total, parts.z, work.stream, work.device};
        links.plan.lines = trid_lines_contiguous(parts.count, systems), links.plan.n = parts.count;
        links.plan.scratch = scratch + layout.end;
        status = trid_p_batch_start(trid_p_batch_make_links<tb_real>, (parts.total + 255) / 256, 256, 0, work.stream,
                                    parts, a);
        if (!status) status = trid_p_batch_launch_one_reading(links, {a, b, c, 1, parts.count, 0}, &parts);
    }
    if (!status) status = launch(1);
    trid_p_batch_levels<tb_real> levels = trid_p_batch_levels<tb_real>();
    levels.plan = work.plan, levels.worst = parts.worst;
    return status ? status : trid_p_batch_launch_told<0>(levels, 1, 0, work.stream);
}

/* Launches the kernels for long systems of any layout. `bounds` says what is compiled; `corners`: periodic systems. */
template <int method, class bounds, class tb_real, class rows_type>
static int trid_p_batch_launch_levels(const trid_p_batch_work<tb_real> &work, const rows_type &rows,
                                      const trid_p_batch_more<tb_real> &corners = {0, 0, 0, 0, 0})
{
    typedef trid_p_batch_how how;
    enum { systems = TRID_P_BATCH_CHUNK_SYSTEMS((int)sizeof(tb_real)) };
    if (trid_p_lines_are_interleaved(work.plan.lines)) {
        if constexpr (bounds::interleaved)
            return trid_p_batch_launch_chunks<systems, how::strided, method, bounds>(work, rows, corners);
    } else if constexpr (bounds::contiguous) {
        typedef trid_p_batch_rows<rows_type> of;
        int contiguous = work.plan.lines.step == 1;
        if constexpr (of::are_arrays) contiguous &= trid_p_batch_rows_of(rows).step == 1;
        if constexpr (method == how::hybrid && of::are_arrays && !of::are_known)
            if (contiguous) {
                const int status = trid_p_batch_launch_one_reading(work, rows);
                if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
            }
        return contiguous ? trid_p_batch_launch_chunks<1, how::contiguous, method, bounds>(work, rows, corners)
                          : trid_p_batch_launch_chunks<1, how::strided, method, bounds>(work, rows, corners);
    }
    return TRID_BATCH_BAD_SIZE;
}
