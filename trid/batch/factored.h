/* factored.h - a room of trid/batch.h: kernels with LU factors: several right-hand sides, periodic systems.
   MIT licence, see LICENSE. */

/* The scopes that hold a system: lanes of a warp, a block, or, for interleaved systems, the threads of a block that
   hold its partitions. Rows beyond the system must be identity rows. The functions of a scope:
     first(), rows()             the thread's first row; how many rows all threads hold together
     lu()                        factors the matrix
     open(), recurrence()        do a recurrence of a solve with factors, downward or, if `up` is set, upward. open()
                                 does what depends only on the matrix, recurrence() the rest, for one right-hand side
     open_ring(), solve_ring()   the same for both recurrences of a periodic system
     turns()                     whether partitions take turns in a recurrence of a periodic system. Its argument is
                                 the array `keep` that open_ring() filled (downward), or keep + up_at (upward). If
                                 up_at is 0, open() is called in place of turns(), before each recurrence
     pass()                      returns the x of the thread whose rows come before this thread's or, with `up`, after
                                 them; without such a thread, a number that nobody uses
     known(), meet()             an element of the system's ring (trid/lu.h); a barrier between threads that write such
                                 elements and threads that read them
     aside()                     a place in shared or local memory for one number that belongs to the thread's row j */
template <class tb_real, int k, int full>
struct trid_p_batch_in_warp {
    static constexpr int up_at = full ? 0 : TRID_INTERLEAVED_RECURRENCE_LEN; /* 0: registers for one recurrence only */
    int lanes, lanes_log2, rank;
    tb_real *rings, *rows_aside;
    TRID_P_BATCH_MEMBER int first() const { return k * rank; }
    TRID_P_BATCH_MEMBER int rows() const { return k * lanes; }
    TRID_P_BATCH_MEMBER tb_real &known(int e) const { return rings[(32 * e + trid_warp_lane()) >> lanes_log2]; }
    TRID_P_BATCH_MEMBER tb_real &aside(int j) const { return rows_aside[32 * j + trid_warp_lane()]; }
    TRID_P_BATCH_MEMBER void meet() const { __syncwarp(TB_FULL_WARP); }
    TRID_P_BATCH_MEMBER int lu(int n, tb_real *a, tb_real *b, tb_real *c) const
    {
        return trid_warp_lu(k, lanes, n, a, b, c);
    }
    TRID_P_BATCH_MEMBER int open(int up, const tb_real *m, tb_real *keep) const
    {
        return trid_warp_recurrence_open(k, lanes, up, 0, m, trid_warp_recurrence_first(lanes, up), 0, keep);
    }
    TRID_P_BATCH_MEMBER void recurrence(int up, const tb_real *m, const tb_real *keep, int turns, tb_real *d) const
    {
        trid_warp_recurrence(k, lanes, up, 0, m, keep, turns, d);
    }
    TRID_P_BATCH_MEMBER int open_ring(int n, int factored, const tb_real *l, const tb_real *u, tb_real *keep) const
    {
        return trid_warp_ring_open(k, lanes, n, factored, l, u, rings, keep);
    }
    TRID_P_BATCH_MEMBER int turns(const tb_real *keep) const { return trid_warp_recurrence_turns(lanes, keep); }
    TRID_P_BATCH_MEMBER void solve_ring(int n, const tb_real *l, const tb_real *u, const tb_real *keep,
                                        tb_real *d) const
    {
        trid_warp_ring_solve(k, lanes, n, l, u, rings, keep, d);
    }
    TRID_P_BATCH_MEMBER tb_real pass(int up, tb_real x) const
    {
        return up ? __shfl_down_sync(TB_FULL_WARP, x, 1, lanes) : __shfl_up_sync(TB_FULL_WARP, x, 1, lanes);
    }
};
/* The threads that share a system: some threads of a block that holds interleaved systems or, if parts is 0, all
   threads of a block that holds one contiguous system. They meet in shared memory. Threads with neighbouring partitions
   are `systems` threads apart. */
template <class tb_real, int k, int systems, int parts>
struct trid_p_batch_in_threads {
    static constexpr int up_at = 0;
    tb_real *between;
    volatile tb_real *rows_aside;
    TRID_P_BATCH_MEMBER int count() const { return parts ? parts : (int)blockDim.x; }
    TRID_P_BATCH_MEMBER int first() const { return k * ((int)threadIdx.x / systems); }
    TRID_P_BATCH_MEMBER int rows() const { return k * count(); }
    TRID_P_BATCH_MEMBER tb_real &known(int e) const
    {
        const int rings = TRID_RING_PLACE(systems, count(), TRID_P_BATCH_BANKS(tb_real));
        return between[rings + systems * e + (int)threadIdx.x % systems];
    }
    TRID_P_BATCH_MEMBER volatile tb_real &aside(int j) const { return rows_aside[parts ? j : 32 * j]; }
    TRID_P_BATCH_MEMBER void meet() const { __syncthreads(); }
    TRID_P_BATCH_MEMBER int lu(int n, tb_real *a, tb_real *b, tb_real *c) const
    {
        __syncthreads();
        if constexpr (parts)
            return trid_block_interleaved_lu(k, systems, parts, n, a, b, c, between);
        else
            return trid_block_lu(k, n, a, b, c, between);
    }
    TRID_P_BATCH_MEMBER int open(int up, const tb_real *m, tb_real *keep) const
    {
        __syncthreads();
        if constexpr (parts)
            return trid_block_interleaved_recurrence_open(k, systems, parts, up, 0, m, keep, between);
        else
            return trid_block_recurrence_open(k, up, 0, m, keep, between + up * TRID_BLOCK_RECURRENCE_LEN);
    }
    TRID_P_BATCH_MEMBER void recurrence(int up, const tb_real *m, const tb_real *keep, int turns, tb_real *d) const
    {
        if constexpr (parts)
            trid_block_interleaved_recurrence(k, systems, parts, up, 0, m, keep, turns, d, between);
        else
            trid_block_recurrence(k, up, 0, m, keep, turns, d, between + up * TRID_BLOCK_RECURRENCE_LEN);
    }
    TRID_P_BATCH_MEMBER int open_ring(int n, int factored, const tb_real *l, const tb_real *u, tb_real *keep) const
    {
        __syncthreads();
        return trid_block_interleaved_ring_open(k, systems, count(), n, factored, l, u, keep, between);
    }
    TRID_P_BATCH_MEMBER int turns(const tb_real *) const { return 1; }
    TRID_P_BATCH_MEMBER void solve_ring(int n, const tb_real *l, const tb_real *u, const tb_real *keep,
                                        tb_real *d) const
    {
        trid_block_interleaved_ring_solve(k, systems, count(), n, l, u, keep, d, between);
    }
    TRID_P_BATCH_MEMBER tb_real pass(int up, tb_real x) const
    {
        int thread = (int)threadIdx.x, from = up ? thread + systems : thread - systems;
        __syncthreads();
        between[thread] = x;
        __syncthreads();
        return from >= 0 && from < (int)blockDim.x ? between[from] : (tb_real)0;
    }
};
/* The length, in elements, of the shared memory in which threads meet. */
template <class tb_real, int systems, int parts>
static constexpr int trid_p_batch_between_len =
    TRID_RING_PLACE(systems, parts, TRID_P_BATCH_BANKS(tb_real)) / 5 * 6 + TRID_RING_LEN *systems;

/* Returns the scope of a contiguous system. */
template <class tb_real, int k, int scope, int full>
TB_D auto trid_p_batch_scope_of(const trid_p_batch_plan &plan, const trid_p_batch_spot &here,
                                const trid_p_batch_workspace<tb_real> &room)
{
    if constexpr (scope == trid_p_batch_how::lanes)
        return trid_p_batch_in_warp<tb_real, k, full>{plan.lanes, plan.lanes_log2, here.rank, room.matrix, room.rows};
    else
        return trid_p_batch_in_threads<tb_real, k, 1, 0>{room.between, room.rows + trid_warp_lane()};
}

/* Returns whether the kernel itself solves the transposed systems, through the order of its substitutions. It does so
   from factors and for periodic systems; all others reach it with a and c exchanged. */
TB_D int trid_p_batch_across(int flags, int n, int periodic)
{
    return n > 1 && flags & TRID_BATCH_TRANSPOSED && (periodic || flags & TRID_BATCH_FACTORED);
}

/* Opens a periodic system's ring. The system's last row and last column are left out of the factors: the first n-1
   rows are an ordinary system. The same factors solve the transposed system. That solve ends by multiplying x by r, and
   the ring holds x before this multiplication.
   Returns  c of row n-2, in the thread that holds it */
template <class scope_type, class tb_real, int k>
TB_D tb_real trid_p_batch_open_ring(const scope_type &scope, int n, int across,
                                    const trid_p_batch_equations<tb_real, k> &own)
{
    const int end = n - 1 - scope.first();
    if (end >= 0 && end < k) {
        scope.known(across ? TRID_RING_MIDDLE : TRID_RING_SECOND) = trid_p_batch_pick<k>(end, own.a);
        scope.known(TRID_RING_LAST) = trid_p_batch_pick<k>(end, own.b);
        scope.known(across ? TRID_RING_OWN : TRID_RING_FIRST) = trid_p_batch_pick<k>(end, own.c);
    }
    return end > 0 && end <= k ? trid_p_batch_pick<k>(end - 1, own.c) : (tb_real)0;
}
/* Closes the ring: couples rows 0 and n-2 to the last unknown, and makes it the x of all rows from n-1 on. */
template <class scope_type, class tb_real, int k>
TB_D void trid_p_batch_close_ring(const scope_type &scope, int n, trid_p_batch_equations<tb_real, k> *own)
{
    const int first = scope.first(), end = n - 1 - first;
    scope.meet();
    if (first == 0 && n > 1) own->a[0] = scope.known(TRID_RING_OWN);
    if (end > k) return;
    tb_real edge = end > 0 ? scope.known(TRID_RING_MIDDLE) : (tb_real)-1;
    if (end > 0 || n + first == 1) scope.known(TRID_RING_MIDDLE) = -edge;
    TB_UNROLL
    for (int j = 0; j < k; j++) own->c[j] = j >= end ? (tb_real)-1 : j == end - 1 ? edge : own->c[j];
}

/* Replaces the thread's rows of a, b, c by l, r, u; with TRID_BATCH_FACTORED they are a, r, u to begin with. For the
   transposed matrix, l and u change places, and their substitutions come in the opposite order: first
   x[j] + u[j-1] x[j-1], then x[j] + l[j+1] x[j+1].
   Needs    finite numbers in rows from n on
   Returns  0, or 1 + a row with a bad pivot; the least result above 0 in any thread names the first such row */
template <class scope_type, class tb_real, int k>
TB_D int trid_p_batch_lu_factor(const scope_type &scope, int n, int flags, int periodic,
                                trid_p_batch_equations<tb_real, k> *own)
{
    const int factored = flags & TRID_BATCH_FACTORED, across = trid_p_batch_across(flags, n, periodic);
    const int core = periodic ? n - 1 : n, first = scope.first();
    tb_real *a = own->a, *b = own->b, *c = own->c, top = a[0], link = 0;
    int status = 0;
    if (periodic) link = trid_p_batch_open_ring(scope, n, across, *own);
    if (!factored) {
        status = scope.lu(core, a, b, c);
    } else {
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            int row = first + j;
            if (row >= core) b[j] = 1;
            if (trid_bad_pivot(b[j]) && !status) status = row + 1;
            a[j] = row > 0 && row < core ? a[j] * b[j] : (tb_real)0;
            if (row >= core - 1) c[j] = 0;
        }
    }
    if (periodic) {
        const int end = n - 1 - first;
        if (!factored && end > 0 && end <= k) link *= trid_p_batch_pick<k>(end - 1, b);
        if (first == 0) scope.known(across ? TRID_RING_FIRST : TRID_RING_OWN) = top * b[0];
        if (end > 0 && end <= k) scope.known(across ? TRID_RING_SECOND : TRID_RING_MIDDLE) = link;
    }
    if (across) {
        const tb_real above = scope.pass(0, c[k - 1]);
        tb_real below = scope.pass(1, a[0]);
        TB_UNROLL
        for (int j = k - 1; j >= 0; j--) {
            const tb_real l = a[j];
            a[j] = j > 0 ? c[j - 1] : above;
            c[j] = below;
            below = l;
        }
    }
    if (periodic) trid_p_batch_close_ring(scope, n, own);
    return status;
}

/* What the two recurrences keep of the matrix, and whether their partitions take turns. In a periodic system one array,
   keep, serves both, and turns[0] is what open_ring() returns: whether one exchange for both would lose accuracy. */
template <class tb_real>
struct trid_p_batch_recurrences {
    tb_real keep[2 * TRID_INTERLEAVED_RECURRENCE_LEN + 1];
    int turns[2];
};

/* Opens both recurrences. If *met is 0 and a ring's last unknown has a bad pivot, row 0's thread sets *met to n. */
template <class scope_type, class tb_real, int k>
TB_D void trid_p_batch_open(const scope_type &scope, int n, int flags, int periodic,
                            const trid_p_batch_equations<tb_real, k> &own, trid_p_batch_recurrences<tb_real> *both,
                            int *met)
{
    static_assert((int)TRID_RING_KEEP_LEN <= 2 * (int)TRID_INTERLEAVED_RECURRENCE_LEN + 1, "keep has room");
    if (periodic) {
        both->turns[0] = scope.open_ring(n, flags & TRID_BATCH_FACTORED, own.a, own.c, both->keep);
        if (scope.first() == 0 && !*met && trid_bad_pivot(scope.known(TRID_RING_LAST))) *met = n;
    } else {
        both->turns[0] = scope.open(0, own.a, both->keep);
        both->turns[1] = scope.open(1, own.c, both->keep + TRID_INTERLEAVED_RECURRENCE_LEN);
    }
}

/* Solves a periodic system one recurrence at a time: in the first pass for its last unknown s, in the second, with s,
   for all others. Partitions take turns only where the recurrence grows. */
template <class scope_type, class tb_real, int k>
TB_D void trid_p_batch_ring_in_passes(const scope_type &scope, int n, tb_real *keep,
                                      trid_p_batch_equations<tb_real, k> *own)
{
    tb_real *d = own->d, *keep_up = keep + scope.up_at;
    const int first = scope.first(), middle = n - 2 - first;
    scope.meet(); /* another thread may still be reading d from this slot */
    TB_UNROLL
    for (int j = 0; j < k; j++) scope.aside(j) = d[j];
    TB_LOOP
    for (int pass = 0; pass < 2; pass++) {
        const int down = scope.up_at ? scope.turns(keep) : scope.open(0, own->a, keep);
        scope.recurrence(0, own->a, keep, down, d);
        if (middle >= 0 && middle < k) scope.known(TRID_RING_MIDDLE) = trid_p_batch_pick<k>(middle, d);
        const int up = scope.up_at ? scope.turns(keep_up) : scope.open(1, own->c, keep_up);
        scope.recurrence(1, own->c, keep_up, up, d);
        if (pass == 1) break;
        if (first == 0) scope.known(TRID_RING_TIMES) = d[0];
        if (n + first == 1) scope.known(TRID_RING_MIDDLE) = 0;
        scope.meet();
        const tb_real rest = scope.known(TRID_RING_OWN) - scope.known(TRID_RING_FIRST) * scope.known(TRID_RING_TIMES) -
                             scope.known(TRID_RING_SECOND) * scope.known(TRID_RING_MIDDLE);
        const tb_real s = scope.known(TRID_RING_LAST) * rest;
        scope.meet();
        TB_UNROLL
        for (int j = 0; j < k; j++) d[j] = scope.aside(j);
        if (first == 0) d[0] -= own->a[0] * s;
        if (first + k == scope.rows()) d[k - 1] += s;
    }
}

/* Solves for one right-hand side. */
template <class scope_type, class tb_real, int k>
TB_D void trid_p_batch_solve_side(const scope_type &scope, int n, int flags, int periodic,
                                  trid_p_batch_recurrences<tb_real> *both, trid_p_batch_equations<tb_real, k> *own)
{
    const int across = trid_p_batch_across(flags, n, periodic), end = n - 1 - scope.first();
    tb_real *d = own->d;
    if (periodic && end >= 0 && end < k) {
        scope.known(TRID_RING_OWN) = trid_p_batch_pick<k>(end, d);
        TB_UNROLL
        for (int j = 0; j < k; j++) d[j] = j == end ? (tb_real)0 : d[j];
    }
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (!across) d[j] *= own->b[j];
    if (!periodic) {
        scope.recurrence(0, own->a, both->keep, both->turns[0], d);
        scope.recurrence(1, own->c, both->keep + TRID_INTERLEAVED_RECURRENCE_LEN, both->turns[1], d);
    } else if (both->turns[0]) {
        trid_p_batch_ring_in_passes(scope, n, both->keep, own);
    } else {
        scope.solve_ring(n, own->a, own->c, both->keep, d);
    }
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (across) d[j] *= own->b[j];
}

/* Solves a warp's systems for one right-hand side by the hybrid. Returns the first bad row known to the thread. */
template <int periodic, class tb_real, int k, int full>
TB_D int trid_p_batch_solve_hybrid(const trid_p_batch_in_warp<tb_real, k, full> &in, int n,
                                   trid_p_batch_equations<tb_real, k> *own)
{
    tb_real *a = own->a, *c = own->c, *d = own->d, *ring = &in.known(0), row[3], s;
    const int lanes = in.lanes, stride = 32 >> in.lanes_log2, last = in.rank == lanes - 1;
    if (!periodic) return trid_p_batch_row(trid_warp_hybrid(k, lanes, n, a, own->b, c, d), n);
    const int status = trid_p_batch_reduce_ring(n - 1 - in.first(), own, ring, stride);
    const tb_real first_a = __shfl_down_sync(TB_FULL_WARP, a[0], 1, lanes);
    const tb_real first_c = __shfl_down_sync(TB_FULL_WARP, c[0], 1, lanes);
    const tb_real first_d = __shfl_down_sync(TB_FULL_WARP, d[0], 1, lanes);
    row[0] = a[k - 1], row[1] = c[k - 1], row[2] = d[k - 1];
    int met = trid_lane_link(&row[0], &row[1], &row[2], last ? (tb_real)0 : first_a, last ? (tb_real)-1 : first_c,
                             last ? (tb_real)0 : first_d);
    if (lanes > 1) met |= trid_warp_pcr_open(lanes, &row[0], &row[1], &row[2]);
    in.meet();
    met |= trid_p_batch_solve_ring(lanes, (n - 2) / k, a[0], c[0], d[0], ring, stride, row, &s);
    const tb_real above = __shfl_up_sync(TB_FULL_WARP, row[2], 1, lanes);
    trid_lane_expand(k, a, c, d, in.rank > 0 ? above : s, row[2]);
    return status ? trid_p_batch_row(in.first() + status, n) : met ? n : TRID_P_BATCH_NO_ROW;
}

/* Sets r and u of a periodic system's last row as trid_batch_factor stores them. */
template <class scope_type, class tb_real, int k>
TB_D void trid_p_batch_close(const scope_type &scope, int n, trid_p_batch_equations<tb_real, k> *own)
{
    const int end = n - 1 - scope.first();
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (j == end) own->b[j] = scope.known(TRID_RING_LAST), own->c[j] = scope.known(TRID_RING_FIRST);
}
/* Stores r and u of row n-1. The stores of all other rows come before trid_p_batch_open and overlap it. r and u point
   to the thread's first row; the system ends after `valid` rows. */
template <class scope_type, class tb_real>
TB_D void trid_p_batch_store_last(const scope_type &scope, int k, int valid, long long step, tb_real *r, tb_real *u)
{
    if (valid <= 0 || valid > k) return;
    r[(valid - 1) * step] = scope.known(TRID_RING_LAST);
    u[(valid - 1) * step] = scope.known(TRID_RING_FIRST);
}

/* Stores r and u of a contiguous tile, and overwrites the thread's b and d. */
template <class of, class tb_real>
TB_D void trid_p_batch_store_factors(const trid_p_batch_plan &plan, const trid_p_batch_spot &here, const int *slot,
                                     trid_p_batch_equations<tb_real, of::k> *own, tb_real *r, tb_real *u,
                                     tb_real *shared)
{
    enum { k = of::k, scope = of::scope, layout = of::layout, literal = of::literal };
    TB_UNROLL
    for (int j = 0; j < k; j++) own->d[j] = own->c[j];
    trid_p_batch_store<scope, layout, literal>(k, plan, here.total, here.valid, slot, own->b, r + here.at, shared);
    trid_p_batch_store<scope, layout, literal>(k, plan, here.total, here.valid, slot, own->d, u + here.at, shared);
}

/* Solves a contiguous tile or, with `factor`, factors it. Reads the matrix once for all right-hand sides, and loads the
   next right-hand side while it solves for one. The hybrid is compiled only where that costs other solves little. */
template <class of, class tb_real, int factor, int periodic>
TB_D void trid_p_batch_lu_tile(const trid_p_batch_plan &plan, const trid_p_batch_tile &tile,
                               const trid_p_batch_lu_rows<tb_real, factor, periodic> &rows, const tb_real *d,
                               tb_real *x, const trid_p_batch_workspace<tb_real> &room)
{
    enum { k = of::k, scope = of::scope, layout = of::layout, literal = of::literal };
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31;
    const trid_p_batch_spot here = trid_p_batch_spot_of<scope, layout>(k, of::warps, plan, tile, warp, lane);
    const trid_p_batch_more<tb_real> &more = rows.more;
    const int flags = factor && periodic ? 0 : plan.flags; /* the type of the rows says PERIODIC */
    const int n = of::full ? k * plan.lanes : plan.n, total = here.total, valid = here.valid;
    trid_p_batch_equations<tb_real, k> own;
    trid_p_batch_recurrences<tb_real> recurrences;
    tb_real next[k], *shared = room.rows;
    long long at = here.at;
    int slot[k];
    trid_p_batch_matrix<scope, layout>(plan, here, rows.rows, &own, periodic);
    if (!factor) trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_right(plan, d + at, total), next);
    trid_p_batch_slots<tb_real, literal>(k, plan, total, slot);
    trid_p_batch_transpose_matrix<layout, literal>(rows.rows, valid, slot, shared, 0, &own, periodic);
    const auto threads = trid_p_batch_scope_of<tb_real, k, scope, of::full>(plan, here, room);
    constexpr bool has_hybrid = of::in_warp && !factor && (periodic || of::full);
    constexpr bool early = factor && periodic && !of::full; /* with full tiles this is slower */
    int bad = 0, hybrid = has_hybrid && more.sides == 1 && !(flags & TRID_BATCH_FACTORED);
    if (periodic) hybrid &= n > 1 && !(flags & TRID_BATCH_TRANSPOSED);
    if (has_hybrid && !periodic)
        trid_lane_pad(k, threads.first(), n, threads.rows(), own.a, own.b, own.c, (tb_real *)0);
    if (hybrid && __all_sync(TB_FULL_WARP, trid_p_batch_are_dominant(k, own))) {
        TB_UNROLL
        for (int j = 0; j < k; j++) own.d[j] = next[j];
        trid_p_batch_transpose<layout, literal>(k, valid, (tb_real)0, slot, own.d, shared);
        if constexpr (has_hybrid) bad = trid_p_batch_solve_hybrid<periodic>(threads, n, &own);
        trid_p_batch_store<scope, layout, literal>(k, plan, total, valid, slot, own.d, x + at, shared);
    } else {
        int met = trid_p_batch_lu_factor(threads, n, flags, periodic, &own);
        if (early) trid_p_batch_store_factors<of>(plan, here, slot, &own, x, more.u, shared);
        if (!factor || periodic) trid_p_batch_open(threads, n, flags, periodic, own, &recurrences, &met);
        bad = trid_p_batch_row(met, n);
        TB_LOOP
        for (long long side = 0; !factor && side < more.sides; side++, at += more.pitch) {
            TB_UNROLL
            for (int j = 0; j < k; j++) own.d[j] = next[j];
            trid_p_batch_transpose<layout, literal>(k, valid, (tb_real)0, slot, own.d, shared);
            if (side + 1 < more.sides)
                trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_right(plan, d + (at + more.pitch), total),
                                                  next);
            trid_p_batch_solve_side(threads, n, flags, periodic, &recurrences, &own);
            trid_p_batch_store<scope, layout, literal>(k, plan, total, valid, slot, own.d, x + at, shared);
        }
    }
    if (early) {
        const long long row = at + here.own * plan.lines.stride + (here.first - here.before) * plan.lines.step;
        trid_p_batch_store_last(threads, k, valid, plan.lines.step, x + row, more.u + row);
    } else if (factor) {
        if (periodic) trid_p_batch_close(threads, n, &own);
        trid_p_batch_store_factors<of>(plan, here, slot, &own, x, more.u, shared);
    }
    if (trid_p_batch_reports(plan)) trid_p_batch_tell_all<tb_real, scope, 0>(plan, here, bad, {0, 0}, room);
}

/* Takes the matrix of interleaved systems, and requests that of tile `next`. alone: there are no right-hand sides;
   otherwise one was requested after this matrix. */
template <int alone, class of, class tb_real, int k>
TB_D void trid_p_batch_fetch_matrix(const of &pipeline, const trid_p_batch_place &here, unsigned next,
                                    trid_p_batch_equations<tb_real, k> *u)
{
    if (of::shape::pipelined) {
        trid_p_batch_arrive<0, 0, !alone>(pipeline, pipeline.matrix, here, next, trid_p_batch_own_place(pipeline, next),
                                          (tb_real *)0, (tb_real *)0, u);
    } else {
        trid_p_batch_own_rows(pipeline.plan, here, pipeline.first, pipeline.matrix, u, pipeline.corners);
        TB_UNROLL
        for (int j = 0; j < k; j++)
            if (j >= here.valid) u->b[j] = 1;
    }
}
/* Takes right-hand side `side` of tile `index`, and requests the next one, which may be the next tile's. The next
   tile's matrix, in `bursts` bursts, was requested after this tile's first right-hand side. */
template <int bursts, class of, class tb_real, int k>
TB_D void trid_p_batch_fetch_side(of pipeline, const trid_p_batch_more<tb_real> &more, const trid_p_batch_place &here,
                                  long long side, unsigned index, trid_p_batch_equations<tb_real, k> *u)
{
    if (of::shape::pipelined) {
        if (side > 0) TRID_COPY_AWAIT(0);
        if (side + 1 < more.sides)
            pipeline.d += (side + 1) * more.pitch;
        else
            index += gridDim.x;
        trid_p_batch_arrive<0, 0, bursts>(pipeline, pipeline.matrix, here, index,
                                          trid_p_batch_own_place(pipeline, index), (tb_real *)0, (tb_real *)0, u);
    } else {
        const long long step = trid_p_batch_again_as(pipeline.plan.lines.step);
        trid_p_batch_gather(k, 0, here.valid, pipeline.d + (here.at + side * more.pitch), step, u->d);
    }
}

/* Solves interleaved systems of n <= k*parts rows or, with `factor`, factors them. A pipelined block takes one
   tile after another. While it solves for a right-hand side, the next one and the next matrix are on their way. */
template <class tb_real, class shape, int factor, int periodic>
TB_D void trid_p_batch_lu_tiles(const trid_p_batch_plan &plan,
                                const trid_p_batch_lu_rows<tb_real, factor, periodic> &all, const tb_real *d,
                                tb_real *x)
{
    constexpr int k = shape::k, systems = shape::systems, threads = shape::threads;
    constexpr int burst = periodic ? k : shape::burst; /* of the matrix */
    __shared__ tb_real between[trid_p_batch_between_len<tb_real, systems, shape::parts>];
    __shared__ int worst[systems];
    TRID_DYNAMIC_SHARED(dynamic);
    const trid_p_batch_arrays<tb_real> &rows = all.rows;
    const trid_p_batch_more<tb_real> &more = all.more;
    int line = (int)threadIdx.x % systems, first = k * ((int)threadIdx.x / systems), n = plan.n;
    const int flags = factor ? 0 : plan.flags, add = flags & TRID_BATCH_ADD; /* the type of the rows says PERIODIC */
    tb_real *stage = (tb_real *)dynamic, *sides_stage = stage + 3 * k * threads;
    const trid_p_batch_pipeline<tb_real, shape, 3, burst> matrix = {plan, rows, d, stage, first, 0, periodic};
    const trid_p_batch_pipeline<tb_real, shape, 1> sides = {plan, rows, d, sides_stage, first, 0};
    if (shape::pipelined) {
        const trid_p_batch_place p = trid_p_batch_own_place(matrix, blockIdx.x);
        if (!periodic) trid_p_batch_unasked(matrix);
        trid_p_batch_prefetch(matrix, blockIdx.x, p);
        if (!factor) trid_p_batch_prefetch(sides, blockIdx.x, p);
    }
    TB_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        trid_p_batch_equations<tb_real, k> u;
        trid_p_batch_place p = trid_p_batch_own_place(matrix, trid_p_batch_again_as(index));
        trid_p_batch_fetch_matrix<factor>(matrix, p, index + gridDim.x, &u);
        if (first == 0) worst[line] = TRID_P_BATCH_NO_ROW; /* before the barriers of the factoring */
        volatile tb_real aside[k];
        const trid_p_batch_in_threads<tb_real, k, systems, shape::parts> scope = {between, aside};
        int met = trid_p_batch_lu_factor(scope, n, flags, periodic, &u);
        trid_p_batch_recurrences<tb_real> recurrences;
        if (factor) {
            trid_p_batch_scatter(k, p.valid - periodic, 0, u.b, plan.lines.step, x + p.at);
            trid_p_batch_scatter(k, p.valid - periodic, 0, u.c, plan.lines.step, more.u + p.at);
        }
        if (!factor || periodic) trid_p_batch_open(scope, n, flags, periodic, u, &recurrences, &met);
        TB_LOOP
        for (long long side = 0; !factor && side < more.sides; side++) {
            /* No registers are left for the values that the compiler would compute for all rows before the loop. */
            const long long step = trid_p_batch_again_as(plan.lines.step);
            p.valid = trid_p_batch_again_as(p.valid), n = trid_p_batch_again_as(n);
            trid_p_batch_fetch_side<k / burst>(sides, more, p, side, index, &u);
            trid_p_batch_solve_side(scope, n, flags, periodic, &recurrences, &u);
            trid_p_batch_scatter(k, p.valid, add, u.d, step, x + (p.at + side * more.pitch));
        }
        if (factor && periodic) trid_p_batch_store_last(scope, k, p.valid, plan.lines.step, x + p.at, more.u + p.at);
        if (trid_p_batch_reports(plan)) {
            const int bad = trid_p_batch_row(met, n);
            __syncthreads();
            if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
            __syncthreads();
            p = trid_p_batch_own_place(matrix, trid_p_batch_again_as(index));
            if (first == 0 && p.in_batch) trid_p_batch_tell(plan, p.system, worst[line]);
        }
        __syncthreads(); /* shared memory has been read */
    }
}

/* Solves interleaved periodic systems for one right-hand side. The hybrid solves tiles whose rows are all dominant, and
   LU solves the others. This is a kernel of its own, because with both eliminations the kernel above would have too few
   registers. Each elimination has its own store of x: with one store after both, more registers spilled. */
template <class tb_real, class shape>
TB_D void trid_p_batch_one_ring_tiles(const trid_p_batch_plan &plan, const trid_p_batch_lu_rows<tb_real, 0, 1> &all,
                                      const tb_real *d, tb_real *x)
{
    constexpr int k = shape::k, systems = shape::systems, parts = shape::parts, burst = shape::burst;
    __shared__ tb_real between[trid_p_batch_between_len<tb_real, systems, parts>];
    __shared__ int worst[systems];
    TRID_DYNAMIC_SHARED(dynamic);
    const int line = (int)threadIdx.x % systems, first = k * ((int)threadIdx.x / systems), n = plan.n;
    const int add = plan.flags & TRID_BATCH_ADD;
    tb_real *stage = (tb_real *)dynamic, *side_stage = stage + 3 * k * shape::threads, left;
    const trid_p_batch_pipeline<tb_real, shape, 3, burst> matrix = {plan, all.rows, d, stage, first, 0, 1};
    const trid_p_batch_pipeline<tb_real, shape, 1> side = {plan, all.rows, d, side_stage, first, 0};
    trid_p_batch_prefetch(matrix, blockIdx.x, trid_p_batch_own_place(matrix, blockIdx.x));
    trid_p_batch_prefetch(side, blockIdx.x, trid_p_batch_own_place(side, blockIdx.x));
    TB_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        trid_p_batch_equations<tb_real, k> u;
        const trid_p_batch_place p = trid_p_batch_own_place(matrix, trid_p_batch_again_as(index));
        const long long step = trid_p_batch_again_as(plan.lines.step);
        int bad;
        trid_p_batch_fetch_matrix<0>(matrix, p, index + gridDim.x, &u);
        if (first == 0) worst[line] = TRID_P_BATCH_NO_ROW; /* before the barriers of the solve */
        if (__syncthreads_and(trid_p_batch_are_dominant(k, u))) {
            trid_p_batch_fetch_side<k / burst>(side, all.more, p, 0, index, &u);
            bad = trid_p_batch_sweep<systems, parts, 0, 1>(n, {between, worst}, &u, &left);
            trid_p_batch_scatter(k, trid_p_batch_again_as(p.valid), add, u.d, step, x + p.at);
        } else {
            volatile tb_real aside[k];
            const trid_p_batch_in_threads<tb_real, k, systems, parts> scope = {between, aside};
            trid_p_batch_recurrences<tb_real> both;
            TB_UNROLL
            for (int j = 0; j < k; j++) {
                u.a[j] = trid_p_batch_again_as(u.a[j]);
                u.b[j] = trid_p_batch_again_as(u.b[j]);
                u.c[j] = trid_p_batch_again_as(u.c[j]);
            }
            int met = trid_p_batch_lu_factor(scope, n, 0, 1, &u);
            trid_p_batch_open(scope, n, 0, 1, u, &both, &met);
            trid_p_batch_fetch_side<k / burst>(side, all.more, p, 0, index, &u);
            trid_p_batch_solve_side(scope, n, 0, 1, &both, &u);
            bad = trid_p_batch_row(met, n);
            trid_p_batch_scatter(k, trid_p_batch_again_as(p.valid), add, u.d, step, x + p.at);
        }
        if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
        __syncthreads(); /* shared memory has been read */
        if (first == 0 && p.in_batch && trid_p_batch_reports(plan)) trid_p_batch_tell(plan, p.system, worst[line]);
    }
}

template <int method, class tb_real, class shape, int factor, int periodic>
struct trid_p_batch_tiles<method, tb_real, shape, trid_p_batch_lu_rows<tb_real, factor, periodic>> {
    static constexpr trid_p_batch_needs needs(int, int)
    {
        constexpr int resident = trid_p_batch_resident<tb_real, shape::k, shape::threads>;
        const int arrays = !shape::pipelined ? 0 : factor ? 3 : 4;
        const int bytes = arrays * shape::k * shape::threads * (int)sizeof(tb_real);
        return {bytes, 16 * 1024, resident, resident};
    }
    static TRID_P_BATCH_MEMBER void solve(const trid_p_batch_plan &plan,
                                          const trid_p_batch_lu_rows<tb_real, factor, periodic> &rows, const tb_real *d,
                                          tb_real *x)
    {
        if constexpr (method == trid_p_batch_how::one_ring)
            trid_p_batch_one_ring_tiles<tb_real, shape>(plan, rows, d, x);
        else
            trid_p_batch_lu_tiles<tb_real, shape>(plan, rows, d, x);
    }
};
