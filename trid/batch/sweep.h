/* sweep.h - a room of trid/batch.h: a block solves a tile of interleaved systems, on its own or as part of a cluster.
   MIT licence, see LICENSE. */

/* Loads the thread's rows `from` (0 or 1) .. valid - 1; the others become 0. If `valid` is at least k, no row is tested
   against it: a thread has too few predicates for all tests, and the compiler would make loads wait for one another. */
template <class tb_real>
TB_D void trid_p_batch_gather(int k, int from, int valid, const tb_real *src, long long step, tb_real *u)
{
    const auto load = [&](int count) {
        TB_UNROLL
        for (int j = 0; j < k; j++, src += step) u[j] = j < count && (j > 0 || j >= from) ? *src : (tb_real)0;
    };
    return valid < k ? load(valid) : load(k);
}

/* Adds numbers from memory to the thread's rows 0 .. valid - 1. */
template <class tb_real>
TB_D void trid_p_batch_add(int k, int valid, const tb_real *src, long long step, tb_real *u)
{
    TB_UNROLL
    for (int j = 0; j < k; j++, src += step)
        if (j < valid) u[j] += *src;
}
/* Stores the thread's rows 0 .. valid - 1 or, with `add`, adds them to what is in memory. */
template <class tb_real>
TB_D void trid_p_batch_scatter(int k, int valid, int add, const tb_real *u, long long step, tb_real *to)
{
    TB_UNROLL
    for (int j = 0; j < k; j++, to += step)
        if (j < valid) *to = add ? *to + u[j] : u[j];
}

/* Turns rows beyond the system, whose a and d must be 0, into identity rows. Decouples the system's ends. */
template <class tb_real, int k>
TB_D void trid_p_batch_pad(int is_first, int valid, trid_p_batch_equations<tb_real, k> *own)
{
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        if (j >= valid) own->b[j] = 1;
        if (j >= valid - 1) own->c[j] = 0;
    }
    if (is_first) own->a[0] = 0;
}

/* The memory in which threads exchange rows. The threads of a block use shared memory; worst holds the first bad row of
   each system, or is null. The blocks of a cluster use two mailboxes alternately, each for 8 numbers (with pivoting 12)
   of each system from each block. A mailbox is used again only when its last use is over. */
template <class tb_real>
struct trid_p_batch_post {
    tb_real *shared;
    int *worst;
    tb_real *mailbox = 0;
    unsigned long long *mbarrier = 0;
    int block = 0, blocks = 1, phase = 0;
};

/* Stores the first and the last row of a thread's partition for the threads that solve the reduced systems: a, c, d of
   first rows, then of last rows, `span` elements each. */
template <class tb_real, int k>
TB_D void trid_p_batch_store_interface(int span, int slot, const trid_p_batch_equations<tb_real, k> &own,
                                       tb_real *shared)
{
    TB_UNROLL
    for (int last = 0; last < 2; last++, shared += 3 * span) {
        shared[slot] = own.a[last * (k - 1)];
        shared[span + slot] = own.c[last * (k - 1)];
        shared[2 * span + slot] = own.d[last * (k - 1)];
    }
}

/* Loads a row of a system's reduced system: the last row of partition `rank`, linked to the first row of the partition
   below. With `open`, the last partition's row stays coupled to what follows.
   Returns  as trid_lane_link */
template <class tb_real, int systems, int parts>
TB_D int trid_p_batch_reduced_row(const tb_real *shared, int system, int rank, int open, tb_real *a, tb_real *c,
                                  tb_real *d)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts) };
    const tb_real *up = shared, *down = shared + 3 * span;
    int own = system + systems * rank, next = rank + 1 < parts;
    int here = TRID_P_BATCH_SLOT(tb_real, systems, parts, own);
    int below = TRID_P_BATCH_SLOT(tb_real, systems, parts, next ? own + systems : own);
    *a = down[here];
    *c = down[span + here];
    *d = down[2 * span + here];
    tb_real link_a = next ? up[below] : (tb_real)0, link_c = next ? up[span + below] : (tb_real)(open ? -1 : 0);
    tb_real link_d = next ? up[2 * span + below] : (tb_real)0;
    return trid_lane_link(a, c, d, link_a, link_c, link_d);
}

/* Returns row `at` of the thread's u, or 0 if another thread holds that row. */
template <int k, class tb_real>
TB_D tb_real trid_p_batch_pick(int at, const tb_real *u)
{
    tb_real x = 0;
    TB_UNROLL
    for (int j = 0; j < k; j++) x = j == at ? u[j] : x;
    return x;
}

/* Periodic systems: the last unknown s stays out of the partitions. It is the unknown above row 0 and the one below the
   last partition. All rows from n-1 on become x[j] = x[j+1], so row n-2 couples to s. Every unknown is then q - p s,
   with a q and a p of its own. s follows from the six elements of a ring, element e at ring[e * stride]: c, a and d of
   row n-1, divided by its b, and a, c and d of row n-2 as reduced. */

/* Stores row n-1, the thread's row `end`, in the ring, if the thread has it. Replaces the rows from there on. */
template <class tb_real, int k>
TB_D void trid_p_batch_take_end(int end, trid_p_batch_equations<tb_real, k> *own, tb_real *ring, int stride)
{
    if (end >= 0) {
        const tb_real r = trid_rcp_refined(trid_p_batch_pick<k>(end, own->b));
        ring[0] = r * trid_p_batch_pick<k>(end, own->c);
        ring[stride] = r * trid_p_batch_pick<k>(end, own->a);
        ring[2 * stride] = r * trid_p_batch_pick<k>(end, own->d);
    }
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (j >= end) own->a[j] = own->d[j] = 0, own->b[j] = 1, own->c[j] = -1;
}
/* Stores row n-2, as reduced, in the ring. If it is the partition's last row, stores instead the equation that sets
   x[n-2] to the partition's last unknown. */
template <class tb_real, int k>
TB_D void trid_p_batch_put_middle(int middle, const trid_p_batch_equations<tb_real, k> &own, tb_real *ring, int stride)
{
    const int last = middle == k - 1;
    ring[3 * stride] = last ? (tb_real)0 : trid_p_batch_pick<k>(middle, own.a);
    ring[4 * stride] = last ? (tb_real)-1 : trid_p_batch_pick<k>(middle, own.c);
    ring[5 * stride] = last ? (tb_real)0 : trid_p_batch_pick<k>(middle, own.d);
}
/* Reduces a partition of a periodic system of n > 1 rows. If row n-1 is the thread's last row, as in full tiles, its
   number is a literal, and no selections are needed. Returns as trid_lane_reduce. */
template <class tb_real, int k>
TB_D int trid_p_batch_reduce_ring(int end, trid_p_batch_equations<tb_real, k> *own, tb_real *ring, int stride)
{
    if (end == k - 1)
        trid_p_batch_take_end(k - 1, own, ring, stride);
    else if (end < k)
        trid_p_batch_take_end(end, own, ring, stride);
    const int status = trid_lane_reduce(k, own->a, own->b, own->c, own->d);
    if (end == k - 1)
        trid_p_batch_put_middle(k - 2, *own, ring, stride);
    else if (end > 0 && end <= k)
        trid_p_batch_put_middle(end - 1, *own, ring, stride);
    return status;
}
/* Solves the reduced system of a ring. In `row`, each lane has one row of that system: a and c, which both couple to
   s, and d. `from` is the lane with row n-2. In lane 0, top_a, top_c and top_d are row 0 as reduced.
   Leaves   the lane's unknown in row[2], and s in *s
   Returns  whether a pivot was bad */
template <class tb_real>
TB_D int trid_p_batch_solve_ring(int lanes, int from, tb_real top_a, tb_real top_c, tb_real top_d, const tb_real *ring,
                                 int stride, tb_real *row, tb_real *s)
{
    const tb_real q = row[2], p = row[0] + row[1], a = ring[3 * stride], c = ring[4 * stride];
    tb_real above_q = __shfl_up_sync(TB_FULL_WARP, q, 1, lanes), above_p = __shfl_up_sync(TB_FULL_WARP, p, 1, lanes);
    if (trid_warp_rank(lanes) == 0) above_q = 0, above_p = -1;
    const tb_real first_q = __shfl_sync(TB_FULL_WARP, top_d - top_c * q, 0, lanes);
    const tb_real first_p = __shfl_sync(TB_FULL_WARP, top_a - top_c * p, 0, lanes);
    const tb_real middle_q = __shfl_sync(TB_FULL_WARP, ring[5 * stride] - a * above_q - c * q, from, lanes);
    const tb_real middle_p = __shfl_sync(TB_FULL_WARP, -a * above_p - c * p, from, lanes);
    const tb_real r = trid_rcp_refined(1 - ring[0] * first_p - ring[stride] * middle_p);
    *s = r * (ring[2 * stride] - ring[0] * first_q - ring[stride] * middle_q);
    row[2] = q - p * *s;
    return trid_bad_pivot(r);
}

/* Solves the reduced systems of a tile, or reduces them if `open` is set; with ring, does both. A system has `lanes` =
   min(parts, 32) lanes: thread t takes parts / lanes partitions of system t / lanes.
   Lanes    whole warps
   Leaves   the last unknowns (`open` alone: the last rows) in `shared` */
template <class tb_real, int k, int systems, int parts, int open, int ring>
TB_D void trid_p_batch_sweep_reduced(int n, tb_real *shared, int *worst)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts), lanes = parts < 32 ? parts : 32, each = parts / lanes };
    tb_real *down = shared + 3 * span;
    int thread = ring ? trid_p_batch_again_as((int)threadIdx.x) : (int)threadIdx.x;
    int rank = thread % lanes, system = thread / lanes, failed = 0, met;
    tb_real row_a[each], row_c[each], row_d[each];
    TB_UNROLL
    for (int p = 0; p < each; p++) {
        int said = trid_p_batch_reduced_row<tb_real, systems, parts>(shared, system, each * rank + p, open, &row_a[p],
                                                                     &row_c[p], &row_d[p]);
        int at = said & 1 ? each * rank + p + 1 : said ? parts : 0; /* parts: the failure may have begun elsewhere */
        if (at && (!failed || at < failed)) failed = at;
    }
    if (open) {
        const int own = TRID_P_BATCH_SLOT(tb_real, systems, parts, system + systems * rank);
        met = lanes > 1 ? trid_warp_pcr_open(lanes, &row_a[0], &row_c[0], &row_d[0]) : 0;
        met = met & 1 ? rank + 1 : met ? parts : 0;
        if (ring) {
            tb_real row[3] = {row_a[0], row_c[0], row_d[0]}, s;
            if (trid_p_batch_solve_ring(lanes, (n - 2) / k, shared[own], shared[span + own], shared[2 * span + own],
                                        shared + 6 * span + system, systems, row, &s))
                met = parts;
            row_d[0] = row[2];
            if (rank == 0) shared[own] = s; /* no other thread reads this row */
        } else {
            down[own] = row_a[0];
            down[span + own] = row_c[0];
        }
    } else {
        met = each == 1 ? trid_warp_pcr1(lanes, row_a[0], row_c[0], &row_d[0])
                        : trid_warp_pcr2(lanes, row_a, row_c, row_d);
    }
    if (!failed) failed = met;
    if (worst && failed) atomicMin(&worst[system], trid_p_batch_row(k * failed, n));
    TB_UNROLL
    for (int p = 0; p < each; p++)
        down[2 * span + TRID_P_BATCH_SLOT(tb_real, systems, parts, system + systems * (each * rank + p))] = row_d[p];
}

/* Solves the systems of the block: thread t holds rows k*(t / systems) .. k*(t / systems) + k-1 of system t % systems,
   and identity rows beyond the system. It works as trid_block_interleaved does, but with up to 64 partitions (with 64,
   a lane has two rows of the reduced system), and with a status for each system. With ring, the systems are periodic,
   of n > 1 rows in `parts` <= 32 partitions, and shared also holds their rings. With `open`, nothing is solved, and the
   rows are `parts` <= 32 partitions of a longer system.
   Leaves   x in d; in *left the unknown above; in worst[system] the first bad row of its reduced system. With `open`:
            the thread's last row, which couples to the unknown above the first partition (a) and to the last unknown of
            the last partition (c; in the last partition itself, to the unknown below)
   Returns  the first bad row of this thread */
template <int systems, int parts, int open = 0, int ring = 0, class tb_real, int k>
TB_D int trid_p_batch_sweep(int n, const trid_p_batch_post<tb_real> &post, trid_p_batch_equations<tb_real, k> *own,
                            tb_real *left)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts), lanes = parts < 32 ? parts : 32 };
    int thread = ring ? trid_p_batch_again_as((int)threadIdx.x) : (int)threadIdx.x, part = thread / systems;
    if (ring) n = trid_p_batch_again_as(n);
    int status =
        ring ? trid_p_batch_reduce_ring(n - 1 - k * part, own, post.shared + 6 * span + thread % systems, systems)
             : trid_lane_reduce(k, own->a, own->b, own->c, own->d);
    const int bad = trid_p_batch_row(status ? k * part + status : 0, n);
    tb_real last = own->d[k - 1];
    *left = 0;
    if (parts > 1 || ring) {
        const tb_real *down = post.shared + 3 * span;
        int slot = TRID_P_BATCH_SLOT(tb_real, systems, parts, thread);
        trid_p_batch_store_interface(span, slot, *own, post.shared);
        __syncthreads();
        if (parts == lanes || thread < systems * lanes)
            trid_p_batch_sweep_reduced<tb_real, k, systems, parts, open || ring, ring>(n, post.shared, post.worst);
        __syncthreads();
        if (open) {
            own->a[k - 1] = down[slot];
            own->c[k - 1] = down[span + slot];
            own->d[k - 1] = down[2 * span + slot];
            return bad;
        }
        if (part > 0)
            *left = down[2 * span + TRID_P_BATCH_SLOT(tb_real, systems, parts, thread - systems)];
        else if (ring)
            *left = post.shared[slot];
        last = down[2 * span + slot];
    }
    trid_lane_expand(k, own->a, own->c, own->d, *left, last);
    return bad;
}

/* Sends four numbers to block `rank`, which may be the sender. */
template <class tb_real>
TB_D void trid_p_batch_send(tb_real *to, int rank, unsigned long long *mbarrier, const tb_real *v)
{
    trid_cluster_send(to, rank, mbarrier, v);
    if (sizeof(tb_real) == 8) trid_cluster_send(to + 2, rank, mbarrier, v + 2);
}

/* Returns the mbarrier that this exchange uses. */
template <class tb_real>
TB_D unsigned long long *trid_p_batch_mbarrier_of(const trid_p_batch_post<tb_real> &post)
{
    return &post.mbarrier[post.phase & 1];
}
/* Returns the mailbox that this exchange uses, and sets how many bytes will arrive. */
template <int words, int systems, class tb_real>
TB_D tb_real *trid_p_batch_expect(const trid_p_batch_post<tb_real> &post)
{
    const int total = words * systems * post.blocks;
    if (threadIdx.x == 0) trid_mbarrier_expect(trid_p_batch_mbarrier_of(post), total * (int)sizeof(tb_real));
    return post.mailbox + (post.phase & 1) * total;
}

/* Waits for the first and last rows of a cluster's blocks, and solves for the last unknowns of all blocks.
   Leaves   *above: the last unknown of the previous block (block 0: its own); *last: the last unknown of this block */
template <class tb_real, int k, int systems, int parts>
TB_D void trid_p_batch_solve_blocks(int n, const trid_p_batch_post<tb_real> &post, const tb_real *mailbox,
                                    tb_real *above, tb_real *last)
{
    int rank = (int)threadIdx.x % parts, system = (int)threadIdx.x / parts, block = post.block, blocks = post.blocks;
    const tb_real *from = mailbox + 8 * (blocks * system + rank);
    trid_mbarrier_wait(trid_p_batch_mbarrier_of(post), post.phase / 2 & 1);
    tb_real a = 0, c = 0, x = 0, worst = 0, first_a = 0, first_c = 0, first_d = 0;
    if (rank < blocks) a = from[0], c = from[1], x = from[2], worst = from[3];
    if (rank < blocks - 1) first_a = from[12], first_c = from[13], first_d = from[14];
    int met = trid_lane_link(&a, &c, &x, first_a, first_c, first_d);
    met |= trid_warp_pcr(parts, blocks, a, c, &x);
    if (post.worst && (met || worst != 0)) {
        int row = met ? trid_p_batch_row(met & 1 ? k * parts * (rank + 1) : n, n) : n;
        atomicMin(&post.worst[system], worst != 0 && (int)worst < row ? (int)worst : row);
    }
    *above = __shfl_sync(TB_FULL_WARP, x, block > 0 ? block - 1 : 0, parts);
    *last = __shfl_sync(TB_FULL_WARP, x, block, parts);
}
/* Solves systems that a cluster of `blocks` <= parts blocks shares; parts <= 32. Block number `block` holds rows
   k*parts*block .. k*parts*block + k*parts-1 of each system. Each block reduces its rows to the first and the last one,
   as trid_block_hybrid reduces the rows of a warp. Each block then sends these two rows and its first bad row to all
   blocks of the cluster, and solves for the last unknowns of all blocks. */
template <int systems, int parts, class tb_real, int k>
TB_D void trid_p_batch_sweep_cluster(int n, int valid, const trid_p_batch_post<tb_real> &post,
                                     trid_p_batch_equations<tb_real, k> *own, tb_real *left)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts), words = 8 };
    int thread = (int)threadIdx.x, part = thread / systems, block = post.block, blocks = post.blocks;
    int *worst = post.worst;
    tb_real *mailbox = trid_p_batch_expect<words, systems>(post);
    trid_p_batch_pad(block == 0 && part == 0, valid, own);
    int status = trid_lane_reduce(k, own->a, own->b, own->c, own->d);
    if (worst && status) atomicMin(&worst[thread % systems], trid_p_batch_row(k * (parts * block + part) + status, n));
    tb_real *up = post.shared, *down = up + 3 * span;
    int slot = TRID_P_BATCH_SLOT(tb_real, systems, parts, thread);
    trid_p_batch_store_interface(span, slot, *own, post.shared);
    __syncthreads();

    /* From here on, this thread holds partition `rank` of system thread / parts. */
    int rank = thread % parts, system = thread / parts;
    int here = TRID_P_BATCH_SLOT(tb_real, systems, parts, system + systems * rank);
    tb_real row_a, row_c, row_d;
    int met = trid_p_batch_reduced_row<tb_real, systems, parts>(up, system, rank, 1, &row_a, &row_c, &row_d);
    met |= trid_warp_pcr_open(parts, &row_a, &row_c, &row_d);
    tb_real first[4] = {0, 0, 0, 0}, last[4] = {row_a, row_c, row_d, 0};
    if (worst) {
        if (met) atomicMin(&worst[system], trid_p_batch_row(met & 1 ? k * (parts * block + rank + 1) : n, n));
        __syncwarp(TB_FULL_WARP);
        last[3] = worst[system] == TRID_P_BATCH_NO_ROW ? (tb_real)0 : (tb_real)worst[system];
        __syncwarp(TB_FULL_WARP);
    }
    if (rank == 0) {
        tb_real up_c = up[span + here];
        first[0] = up[here] - up_c * row_a;
        first[1] = -up_c * row_c;
        first[2] = up[2 * span + here] - up_c * row_d;
    }
    TB_UNROLL
    for (int e = 0; e < 3; e++) {
        first[e] = __shfl_sync(TB_FULL_WARP, first[e], 0, parts);
        last[e] = __shfl_sync(TB_FULL_WARP, last[e], parts - 1, parts);
    }
    if (rank < blocks) {
        tb_real *to = mailbox + 8 * (blocks * system + block);
        trid_p_batch_send(to, rank, trid_p_batch_mbarrier_of(post), last);
        trid_p_batch_send(to + 4, rank, trid_p_batch_mbarrier_of(post), first);
    }
    tb_real above, own_last;
    trid_p_batch_solve_blocks<tb_real, k, systems, parts>(n, post, mailbox, &above, &own_last);
    down[2 * span + here] = rank == parts - 1 ? own_last : row_d - row_a * above - row_c * own_last;
    if (rank == 0) up[here] = above; /* no other thread reads this element before the barrier */
    __syncthreads();
    *left = part > 0 ? down[2 * span + TRID_P_BATCH_SLOT(tb_real, systems, parts, thread - systems)] : up[slot];
    trid_lane_expand(k, own->a, own->c, own->d, *left, down[2 * span + slot]);
}

/* Climbs the rest of the tree in which a cluster eliminates with pivoting: every block receives all blocks' borders.
   Leaves   the unknowns around this block in `outer`
   Returns  whether this lane knows that an unknown of the system has no pivot */
template <class tb_real, int systems, int parts>
TB_D int trid_p_batch_pivoted_blocks(int met, const tb_real *border, const trid_p_batch_post<tb_real> &post,
                                     tb_real *outer)
{
    enum { words = 12 };
    const int rank = (int)threadIdx.x % parts, system = (int)threadIdx.x / parts;
    const int blocks = trid_warp_uniform(post.blocks);
    tb_real *mailbox = trid_p_batch_expect<words, systems>(post), all[9], kept[9], send[words] = {0};
    int side, count = 1;
    TB_UNROLL
    for (int e = 0; e < 9; e++) send[e] = __shfl_sync(TB_FULL_WARP, border[e], parts / 2 - 1, parts);
    if (post.worst) {
        if (met) atomicMin(&post.worst[system], 1);
        __syncwarp(TB_FULL_WARP);
        send[9] = post.worst[system] == TRID_P_BATCH_NO_ROW ? (tb_real)0 : (tb_real)1;
        __syncwarp(TB_FULL_WARP);
    }
    if (rank < blocks) {
        tb_real *to = mailbox + words * (blocks * system + post.block);
        TB_UNROLL
        for (int e = 0; e < words; e += 4) trid_p_batch_send(to + e, rank, trid_p_batch_mbarrier_of(post), send + e);
    }
    trid_mbarrier_wait(trid_p_batch_mbarrier_of(post), post.phase / 2 & 1);
    while (count < blocks) count *= 2;
    const tb_real *from = mailbox + words * (blocks * system + (rank < blocks ? rank : 0));
    /* A missing block counts as two unknowns that are zero. In odd lanes its border has the form for a join with the
       group above it, in even lanes with the group below it. */
    TB_UNROLL
    for (int e = 0; e < 9; e++)
        all[e] = rank < blocks ? from[e] : e == (rank & 1) || e == 7 - (rank & 1) ? (tb_real)1 : (tb_real)0;
    met = trid_warp_pivoted_up(1, parts, count, rank, all, kept, &side);
    met |= trid_warp_pivoted_root(parts, count, all, outer);
    met = rank < blocks && (met || from[9] != 0);
    trid_warp_pivoted_down(1, parts, count, rank, kept, side, outer);
    TB_UNROLL
    for (int e = 0; e < 4; e++) outer[e] = __shfl_sync(TB_FULL_WARP, outer[e], post.block, parts);
    return met;
}

/* Climbs the tree of trid_warp_pivoted from the borders of the partitions, in shared memory, and comes down again.
   Whole warps call it, with `lanes` lanes for each system: a thread works on system thread / lanes. Each lane joins two
   partitions before it climbs, so half of the warps do the work in fewer steps than all would with one partition a
   lane. In a cluster, where a system also needs a lane for each block, a lane takes one partition.
   Leaves   the unknowns around each partition in place of its border; worst is 1 if an unknown has no pivot */
template <class tb_real, int systems, int parts, int cluster>
TB_D void trid_p_batch_sweep_tree(const trid_p_batch_post<tb_real> &post)
{
    enum {
        span = TRID_P_BATCH_SPAN(tb_real, systems, parts),
        each = cluster || parts == 1 ? 1 : 2,
        lanes = parts / each
    };
    const int rank = (int)threadIdx.x % lanes, system = (int)threadIdx.x / lanes, below = rank & 1;
    const int position = cluster ? parts * post.block + rank : rank;
    tb_real border[each][9], kept[each][9], outer[4];
    int side[each], slot[each], met = 0;
    TB_UNROLL
    for (int p = 0; p < each; p++) { /* in the order in which trid_lane_pivoted_combine takes them */
        slot[p] =
            TRID_P_BATCH_SLOT(tb_real, systems, parts, system + systems * (each * rank + (below ? p : each - 1 - p)));
        TB_UNROLL
        for (int e = 0; e < 9; e++) border[p][e] = post.shared[e * span + slot[p]];
    }
    if (each > 1)
        met = trid_lane_pivoted_combine(border[0], border[each - 1], border[0], kept[each - 1], &side[each - 1]);
    met |= trid_warp_pivoted_up(1, lanes, lanes, position, border[0], kept[0], &side[0]);
    if (cluster)
        met = trid_p_batch_pivoted_blocks<tb_real, systems, parts>(met, border[0], post, outer);
    else
        met |= trid_warp_pivoted_root(lanes, lanes, border[0], outer);
    if (post.worst && met) atomicMin(&post.worst[system], 1);
    trid_warp_pivoted_down(1, lanes, lanes, position, kept[0], side[0], outer);
    tb_real last = outer[0], first = outer[1];
    if (each > 1) trid_lane_pivoted_split(kept[each - 1], side[each - 1], outer, &last, &first);
    TB_UNROLL
    for (int p = 0; p < each; p++) { /* no other thread reads these before the barrier */
        post.shared[slot[p]] = last;
        post.shared[span + slot[p]] = first;
        post.shared[2 * span + slot[p]] = each > 1 && p == 0 ? outer[0] : outer[2];
        post.shared[3 * span + slot[p]] = each > 1 && p == 0 ? outer[1] : outer[3];
    }
}

/* Solves with pivoting: the systems of a block, laid out as in trid_p_batch_sweep, or those of a cluster. Rows beyond
   the system must be identity rows. If an unknown has no pivot, its system's worst becomes 1. */
template <int systems, int parts, int cluster, class tb_real, int k>
TB_D void trid_p_batch_sweep_pivoted(const trid_p_batch_post<tb_real> &post, trid_p_batch_equations<tb_real, k> *own)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts) };
    const int thread = (int)threadIdx.x, part = thread / systems;
    const int slot = TRID_P_BATCH_SLOT(tb_real, systems, parts, thread);
    tb_real border[9], outer[4];
    unsigned flags;
    int met = trid_warp_pivoted_reduce(k, 32, part, own->a, own->b, own->c, own->d, border, &flags);
    if (parts == 1) met |= trid_lane_pivoted_root(border, outer);
    if (post.worst && met) atomicMin(&post.worst[thread % systems], 1);
    if (parts > 1) {
        TB_UNROLL
        for (int e = 0; e < 9; e++) post.shared[e * span + slot] = border[e];
        __syncthreads();
        if (cluster || thread < systems * parts / 2) trid_p_batch_sweep_tree<tb_real, systems, parts, cluster>(post);
        __syncthreads();
        TB_UNROLL
        for (int e = 0; e < 4; e++) outer[e] = post.shared[e * span + slot];
    }
    trid_warp_pivoted_expand(k, part, own->a, own->b, own->c, own->d, flags, outer);
}
