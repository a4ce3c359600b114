/* factored.h - a room of trid/batch.h: kernels of LU factors: several right-hand sides, periodic systems.
   MIT licence, see LICENSE. */

/* The scopes that hold a system: lanes of a warp, a block, or partitions of a block for one of interleaved systems.
   first() is the thread's first row. lu() factors. open() and recurrence() are the halves of a solve by factors, down
   the rows and up: what depends on the matrix alone, and what does not, d having been divided by the pivots. Rows
   beyond the system must be identity rows. pick() gives all who share the system its element `row` of u (0 for row -1).
   pass() gives each the x of the thread that has the rows before or, with up, after its own. */
template <class tb_real, int k>
struct trid_p_batch_in_warp {
    int lanes, rank;
    TRID_P_BATCH_MEMBER int first() const { return k * rank; }
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
    TRID_P_BATCH_MEMBER tb_real pick(int row, const tb_real *u) const
    {
        tb_real v = 0;
        TB_UNROLL
        for (int j = 0; j < k; j++)
            if (k * rank + j == row) v = u[j];
        return __shfl_sync(TB_FULL_WARP, v, row > 0 ? row / k : 0, lanes);
    }
    TRID_P_BATCH_MEMBER tb_real pass(int up, tb_real x) const
    {
        return up ? __shfl_down_sync(TB_FULL_WARP, x, 1, lanes) : __shfl_up_sync(TB_FULL_WARP, x, 1, lanes);
    }
};
/* Threads that share a system, of which neighbours are `systems` apart, meet in shared memory, where `at` elements on
   there is one for each system. */
template <class tb_real, int k, int systems, int at>
struct trid_p_batch_in_threads {
    tb_real *between;
    TRID_P_BATCH_MEMBER int first() const { return k * ((int)threadIdx.x / systems); }
    TRID_P_BATCH_MEMBER tb_real pick(int row, const tb_real *u) const
    {
        tb_real *own = between + at + (int)threadIdx.x % systems;
        if (row < 0) return 0;
        __syncthreads(); /* the one before has been read */
        TB_UNROLL
        for (int j = 0; j < k; j++)
            if (first() + j == row) *own = u[j];
        __syncthreads();
        return *own;
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
template <class tb_real, int k>
struct trid_p_batch_in_block : trid_p_batch_in_threads<tb_real, k, 1, TRID_BLOCK_LU_LEN> {
    TRID_P_BATCH_MEMBER int lu(int n, tb_real *a, tb_real *b, tb_real *c) const
    {
        __syncthreads();
        return trid_block_lu(k, n, a, b, c, this->between);
    }
    TRID_P_BATCH_MEMBER int open(int up, const tb_real *m, tb_real *keep) const
    {
        __syncthreads();
        return trid_block_recurrence_open(k, up, 0, m, keep, this->between + up * TRID_BLOCK_RECURRENCE_LEN);
    }
    TRID_P_BATCH_MEMBER void recurrence(int up, const tb_real *m, const tb_real *keep, int turns, tb_real *d) const
    {
        trid_block_recurrence(k, up, 0, m, keep, turns, d, this->between + up * TRID_BLOCK_RECURRENCE_LEN);
    }
};
/* Returns the scope of a contiguous system. */
template <class tb_real, int k, int scope>
TB_D auto trid_p_batch_group_of(const trid_p_batch_plan &plan, const trid_p_batch_spot &here,
                                const trid_p_batch_workspace<tb_real> &room)
{
    if constexpr (scope == trid_p_batch_how::lanes)
        return trid_p_batch_in_warp<tb_real, k>{plan.lanes, here.rank};
    else
        return trid_p_batch_in_block<tb_real, k>{{room.between}};
}

template <class tb_real, int systems, int parts>
static constexpr int trid_p_batch_lu_len = TRID_P_INTERLEAVED_LU_LEN(systems, parts, TRID_P_BATCH_BANKS(tb_real));
template <class tb_real, int k, int systems, int parts>
struct trid_p_batch_in_interleaved
    : trid_p_batch_in_threads<tb_real, k, systems, trid_p_batch_lu_len<tb_real, systems, parts>> {
    TRID_P_BATCH_MEMBER int lu(int n, tb_real *a, tb_real *b, tb_real *c) const
    {
        __syncthreads();
        return trid_block_interleaved_lu(k, systems, parts, n, a, b, c, this->between);
    }
    TRID_P_BATCH_MEMBER int open(int up, const tb_real *m, tb_real *keep) const
    {
        __syncthreads();
        return trid_block_interleaved_recurrence_open(k, systems, parts, up, 0, m, keep, this->between);
    }
    TRID_P_BATCH_MEMBER void recurrence(int up, const tb_real *m, const tb_real *keep, int turns, tb_real *d) const
    {
        trid_block_interleaved_recurrence(k, systems, parts, up, 0, m, keep, turns, d, this->between);
    }
};

/* The last row and the last column of a periodic system, which stay out of the factors: these are of the n-1 rows
   before, an ordinary system. x[n-1] is

       last * (d[n-1] - first x'[0] - second x'[n-2])

   where x' is the solution of the other rows without it. Their x is x' + x[n-1] z; z is kept in shared memory. Of the
   transposed system, which the same factors solve, x' and z are those before the product with r, which comes last
   there. */
template <class tb_real>
struct trid_p_batch_border {
    tb_real *z; /* the thread's rows of z, `pitch` apart */
    int pitch;
    tb_real top, bottom;               /* a of row 0, c of row n-1 */
    tb_real first, second, last, link; /* link: c[n-2] / pivot */
};

/* What the two recurrences keep of the matrix, and whether their lanes take turns. */
template <class tb_real>
struct trid_p_batch_recurrences {
    tb_real keep[2][TRID_INTERLEAVED_RECURRENCE_LEN];
    int turns[2];
};

/* Makes l, r, u of the matrix in the thread's rows; with TRID_BATCH_FACTORED that is a, r, u. If it is to be
   transposed, l and u change places: their substitutions come in the other order, x[j] + u[j-1] x[j-1] before x[j] +
   l[j+1] x[j+1]. Of a periodic system the right-hand side of z is kept where z will be.
   Needs    rows from n on are numbers
   Returns  0, or 1 + a row with a bad pivot; the least of the threads' is the first such row */
template <class scope_type, class tb_real, int k>
TB_D int trid_p_batch_lu_factor(const scope_type &scope, int n, int flags, trid_p_batch_equations<tb_real, k> *own,
                                trid_p_batch_border<tb_real> *border)
{
    const int factored = flags & TRID_BATCH_FACTORED, across = factored && (flags & TRID_BATCH_TRANSPOSED);
    const int periodic = flags & TRID_BATCH_PERIODIC, core = periodic ? n - 1 : n, first = scope.first();
    tb_real *a = own->a, *b = own->b, *c = own->c, low = 0, link = 0;
    int status = 0;
    if (periodic) {
        low = n > 1 ? scope.pick(n - 1, a) : border->top;
        border->last = scope.pick(n - 1, b);
        link = scope.pick(n - 2, c);
    }
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
        tb_real head = border->top * scope.pick(0, b);
        if (!factored) link *= scope.pick(n - 2, b);
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            tb_real z = 0;
            if (first + j == 0) z -= across ? border->bottom : head;
            if (first + j == n - 2) z -= across ? low : link;
            border->z[j * border->pitch] = z;
        }
        border->first = across ? head : border->bottom;
        border->second = across ? link : low;
        border->link = link;
    }
    if (across) {
        tb_real above = scope.pass(0, c[k - 1]), below = scope.pass(1, a[0]), l[k];
        TB_UNROLL
        for (int j = 0; j < k; j++) l[j] = j > 0 ? c[j - 1] : above;
        TB_UNROLL
        for (int j = 0; j < k; j++) c[j] = j < k - 1 ? a[j + 1] : below;
        TB_UNROLL
        for (int j = 0; j < k; j++) a[j] = l[j];
    }
    return status;
}
/* Opens both recurrences. */
template <class scope_type, class tb_real, int k>
TB_D void trid_p_batch_open(const scope_type &scope, const trid_p_batch_equations<tb_real, k> &own,
                            trid_p_batch_recurrences<tb_real> *recurrences)
{
    recurrences->turns[0] = scope.open(0, own.a, recurrences->keep[0]);
    recurrences->turns[1] = scope.open(1, own.c, recurrences->keep[1]);
}

/* Solves for one right-hand side; or, first of all, for z of a periodic system, and what x[n-1] is multiplied by.
   Returns  n if that is bad, else 0 */
template <class scope_type, class tb_real, int k>
TB_D int trid_p_batch_solve_side(const scope_type &scope, int n, int flags, int is_z,
                                 const trid_p_batch_recurrences<tb_real> &recurrences,
                                 trid_p_batch_equations<tb_real, k> *own, trid_p_batch_border<tb_real> *border)
{
    const int factored = flags & TRID_BATCH_FACTORED, across = factored && (flags & TRID_BATCH_TRANSPOSED);
    const int periodic = flags & TRID_BATCH_PERIODIC, first = scope.first();
    tb_real x = 0, *d = own->d;
    if (periodic && !is_z) x = scope.pick(n - 1, d);
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        if (is_z)
            d[j] = border->z[j * border->pitch];
        else if (!across)
            d[j] *= own->b[j];
    }
    scope.recurrence(0, own->a, recurrences.keep[0], recurrences.turns[0], d);
    scope.recurrence(1, own->c, recurrences.keep[1], recurrences.turns[1], d);
    if (periodic) {
        tb_real up = scope.pick(0, d), down = scope.pick(n - 2, d);
        if (n == 1) up = down = is_z ? 1 : 0; /* x[0] is its own neighbour */
        if (is_z) {
            if (!factored) border->last = trid_rcp_refined(border->last + border->first * up + border->second * down);
            TB_UNROLL
            for (int j = 0; j < k; j++) border->z[j * border->pitch] = d[j];
            return trid_bad_pivot(border->last) ? n : 0;
        }
        x = border->last * (x - border->first * up - border->second * down);
        TB_UNROLL
        for (int j = 0; j < k; j++) d[j] += x * border->z[j * border->pitch];
    }
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        if (across) d[j] *= own->b[j];
        if (periodic && first + j == n - 1) d[j] = x;
    }
    return 0;
}

/* Sets r and u of a periodic system's last row, and u of the row before, as trid_batch_factor leaves them. */
template <class scope_type, class tb_real, int k>
TB_D void trid_p_batch_close(const scope_type &scope, int n, const trid_p_batch_border<tb_real> &border,
                             trid_p_batch_equations<tb_real, k> *own)
{
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        if (scope.first() + j == n - 1) own->b[j] = border.last, own->c[j] = border.bottom;
        if (scope.first() + j == n - 2) own->c[j] = border.link;
    }
}

/* Fetches the corners of the system that begins `at` elements on in the matrix. */
template <class tb_real>
TB_D void trid_p_batch_corners(const trid_p_batch_plan &plan, const trid_p_batch_more<tb_real> &more, long long at,
                               int in_batch, trid_p_batch_border<tb_real> *border)
{
    if (in_batch && (plan.flags & TRID_BATCH_PERIODIC)) border->top = more.top[at], border->bottom = more.bottom[at];
}

/* Joins the least bad rows of threads that share a system. All threads of the block call; worst is there before and
   after. */
TB_D void trid_p_batch_join(int bad, int *worst)
{
    __syncthreads();
    if (bad != TRID_P_BATCH_NO_ROW) atomicMin(worst, bad);
    __syncthreads();
}

/* Solves a contiguous tile. Its matrix is read once for all right-hand sides, of which the next is fetched ahead. */
template <class of, class tb_real, int factor>
TB_D void trid_p_batch_lu_tile(const trid_p_batch_plan &plan, const trid_p_batch_tile &tile,
                               const trid_p_batch_lu_rows<tb_real, factor> &rows, const tb_real *d, tb_real *x,
                               const trid_p_batch_workspace<tb_real> &room)
{
    enum { k = of::k, scope = of::scope, layout = of::layout, literal = of::literal };
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, periodic = plan.flags & TRID_BATCH_PERIODIC;
    const trid_p_batch_spot here = trid_p_batch_spot_of<scope, layout>(k, of::warps, plan, tile, warp, lane);
    const trid_p_batch_more<tb_real> &more = rows.more;
    const int n = of::full ? k * plan.lanes : plan.n, total = here.total, valid = here.valid;
    trid_p_batch_equations<tb_real, k> own;
    trid_p_batch_border<tb_real> border = {room.matrix + 32 * k * warp + lane, 32, 0, 0, 0, 0, 0, 0};
    tb_real next[k], *shared = room.rows;
    long long at = here.at;
    int slot[k];
    trid_p_batch_matrix<scope, layout>(plan, here, rows.rows, &own);
    trid_p_batch_corners(plan, more, here.tile.group * rows.rows.jump + (here.tile.first + here.own) * rows.rows.stride,
                         here.own_n, &border);
    if (!factor) trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_right(plan, d + at, total), next);
    trid_p_batch_slots<literal>(k, of::banks, of::len, plan, total, slot);
    trid_p_batch_transpose_matrix<layout, literal>(rows.rows, valid, slot, shared, 0, &own);
    const auto group = trid_p_batch_group_of<tb_real, k, scope>(plan, here, room);
    int met = trid_p_batch_lu_factor(group, n, plan.flags, &own, &border);
    trid_p_batch_recurrences<tb_real> recurrences;
    if (!factor || periodic) trid_p_batch_open(group, own, &recurrences);
    TRID_P_BATCH_LOOP
    for (long long side = periodic ? -1 : 0; side < more.sides; side++) {
        if (!factor && side >= 0) {
            TB_UNROLL
            for (int j = 0; j < k; j++) own.d[j] = next[j];
            trid_p_batch_transpose<layout, literal>(k, valid, (tb_real)0, slot, own.d, shared);
            if (side + 1 < more.sides)
                trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_right(plan, d + (at + more.pitch), total),
                                                  next);
        }
        int last = trid_p_batch_solve_side(group, n, plan.flags, factor || side < 0, recurrences, &own, &border);
        if (last && !met) met = last;
        if (!factor && side >= 0) {
            trid_p_batch_store<scope, layout, literal>(k, plan, total, valid, slot, own.d, x + at, shared);
            at += more.pitch;
        }
    }
    if (factor) {
        if (periodic) trid_p_batch_close(group, n, border, &own);
        trid_p_batch_store<scope, layout, literal>(k, plan, total, valid, slot, own.b, x + at, shared);
        trid_p_batch_store<scope, layout, literal>(k, plan, total, valid, slot, own.c, more.u + at, shared);
    }
    if (trid_p_batch_reports(plan))
        trid_p_batch_tell_all<tb_real, scope, 0>(plan, here, trid_p_batch_row(met, n), {0, 0}, room);
}

/* Fetches the matrix of interleaved systems, and asks for that of tile `next`. alone: there are no right-hand sides. */
template <int alone, class of, class tb_real, int k>
TB_D void trid_p_batch_fetch_matrix(const of &pipeline, const trid_p_batch_place &here, unsigned next,
                                    trid_p_batch_equations<tb_real, k> *u)
{
    if (of::shape::pipelined) {
        if (alone) TRID_COPY_AWAIT(0); /* else one has been asked for since */
        trid_p_batch_arrive(pipeline, pipeline.matrix, here, next, trid_p_batch_own_place(pipeline, next), (tb_real *)0,
                            (tb_real *)0, u);
    } else {
        trid_p_batch_own_rows(pipeline.plan, here, pipeline.first, pipeline.matrix, u);
        TB_UNROLL
        for (int j = 0; j < k; j++)
            if (j >= here.valid) u->b[j] = 1;
    }
}
/* Fetches right-hand side `side` of tile `index`, and asks for the next one, which may be the next tile's. */
template <class of, class tb_real, int k>
TB_D void trid_p_batch_fetch_side(of pipeline, const trid_p_batch_more<tb_real> &more, const trid_p_batch_place &here,
                                  long long side, unsigned index, trid_p_batch_equations<tb_real, k> *u)
{
    if (of::shape::pipelined) {
        if (side > 0) TRID_COPY_AWAIT(0); /* else the matrix has been asked for since */
        if (side + 1 < more.sides)
            pipeline.d += (side + 1) * more.pitch;
        else
            index += gridDim.x;
        trid_p_batch_arrive(pipeline, pipeline.matrix, here, index, trid_p_batch_own_place(pipeline, index),
                            (tb_real *)0, (tb_real *)0, u);
    } else {
        const long long step = trid_p_batch_again_as(pipeline.plan.lines.step);
        trid_p_batch_gather(k, 0, here.valid, pipeline.d + (here.at + side * more.pitch), step, u->d);
    }
}

/* The same for interleaved systems of n <= k*parts rows. A block takes one tile after another; the matrix of the next
   and the next right-hand side are on their way while it solves for a right-hand side.
   On their way: the matrix, one right-hand side; and in shared memory z of a periodic system. */
template <class tb_real, class shape, int factor>
TB_D void trid_p_batch_lu_tiles(const trid_p_batch_plan &plan, const trid_p_batch_lu_rows<tb_real, factor> &all,
                                const tb_real *d, tb_real *x)
{
    constexpr int k = shape::k, systems = shape::systems, threads = shape::threads;
    typedef trid_p_batch_in_interleaved<tb_real, k, systems, shape::parts> scope_type;
    __shared__ tb_real between[trid_p_batch_lu_len<tb_real, systems, shape::parts> + systems];
    __shared__ int worst[systems];
    TRID_DYNAMIC_SHARED(dynamic);
    const trid_p_batch_arrays<tb_real> &rows = all.rows;
    const trid_p_batch_more<tb_real> &more = all.more;
    int line = (int)threadIdx.x % systems, first = k * ((int)threadIdx.x / systems), n = plan.n;
    const int add = plan.flags & TRID_BATCH_ADD, periodic = plan.flags & TRID_BATCH_PERIODIC;
    tb_real *stage = (tb_real *)dynamic, *sides_stage = stage + 3 * k * threads;
    tb_real *z = stage + (shape::pipelined ? (factor ? 3 : 4) * k * threads : 0) + threadIdx.x;
    const trid_p_batch_pipeline<tb_real, shape, 3> matrix = {plan, rows, d, stage, first, 0};
    const trid_p_batch_pipeline<tb_real, shape, 1> sides = {plan, rows, d, sides_stage, first, 0};
    if (shape::pipelined) {
        const trid_p_batch_place p = trid_p_batch_own_place(matrix, blockIdx.x);
        trid_p_batch_unasked(matrix);
        trid_p_batch_prefetch(matrix, blockIdx.x, p);
        if (!factor) trid_p_batch_prefetch(sides, blockIdx.x, p);
    }
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        trid_p_batch_equations<tb_real, k> u;
        trid_p_batch_place p = trid_p_batch_own_place(matrix, trid_p_batch_again_as(index));
        trid_p_batch_fetch_matrix<factor>(matrix, p, index + gridDim.x, &u);
        trid_p_batch_border<tb_real> border = {z, threads, 0, 0, 0, 0, 0, 0};
        trid_p_batch_corners(plan, more, trid_p_batch_matrix_at(plan, rows, p, 0), p.in_batch, &border);
        if (first == 0) worst[line] = TRID_P_BATCH_NO_ROW; /* before the barriers inside */
        scope_type scope = {{between}};
        int met = trid_p_batch_lu_factor(scope, n, plan.flags, &u, &border);
        trid_p_batch_recurrences<tb_real> recurrences;
        if (!factor || periodic) trid_p_batch_open(scope, u, &recurrences);
        TRID_P_BATCH_LOOP
        for (long long side = periodic ? -1 : 0; side < more.sides; side++) {
            /* For what the compiler would compute before the loop, for all rows, there are no registers. */
            const long long step = trid_p_batch_again_as(plan.lines.step);
            p.valid = trid_p_batch_again_as(p.valid), n = trid_p_batch_again_as(n);
            const int has_d = !factor && side >= 0;
            if (has_d) trid_p_batch_fetch_side(sides, more, p, side, index, &u);
            int last = trid_p_batch_solve_side(scope, n, plan.flags, !has_d, recurrences, &u, &border);
            if (last && !met) met = last;
            if (has_d) trid_p_batch_scatter(k, p.valid, add, u.d, step, x + (p.at + side * more.pitch));
        }
        if (factor) {
            if (periodic) trid_p_batch_close(scope, n, border, &u);
            trid_p_batch_scatter(k, p.valid, 0, u.b, plan.lines.step, x + p.at);
            trid_p_batch_scatter(k, p.valid, 0, u.c, plan.lines.step, more.u + p.at);
        }
        if (trid_p_batch_reports(plan)) {
            trid_p_batch_join(trid_p_batch_row(met, n), &worst[line]);
            p = trid_p_batch_own_place(matrix, trid_p_batch_again_as(index));
            if (first == 0 && p.in_batch) trid_p_batch_tell(plan, p.system, worst[line], 0, (tb_real)0, (tb_real)0);
        }
        __syncthreads(); /* what is shared has been read */
    }
}
template <int method, class tb_real, class shape, int factor>
struct trid_p_batch_tiles<method, tb_real, shape, trid_p_batch_lu_rows<tb_real, factor>> {
    static constexpr trid_p_batch_needs needs(int flags, int)
    {
        constexpr int resident = trid_p_batch_resident<tb_real, shape::k, shape::threads>,
                      on_their_way = factor ? 3 : 4;
        const int arrays = (shape::pipelined ? on_their_way : 0) + (flags & TRID_BATCH_PERIODIC ? 1 : 0);
        const int bytes = arrays * shape::k * shape::threads * (int)sizeof(tb_real);
        return {bytes, 14 * 1024, resident, resident, 8};
    }
    static TRID_P_BATCH_MEMBER void solve(const trid_p_batch_plan &plan,
                                          const trid_p_batch_lu_rows<tb_real, factor> &rows, const tb_real *d,
                                          tb_real *x)
    {
        trid_p_batch_lu_tiles<tb_real, shape>(plan, rows, d, x);
    }
};
