/* checked.h - a room of trid/batch.h: interleaved systems with their residuals.
   MIT licence, see LICENSE. */

/* Requests one half of a tile: k/2 rows of each thread. The rows of a tile must stay until its residual is known, while
   the next rows are already arriving. So shared memory holds three halves: two of the tile that is being solved, and
   the first of the next tile. As soon as the residual of a half is known, its memory is used for the next half that has
   not been requested yet. */
template <class of, class tb_real>
TB_D void trid_p_batch_ask_half(of pipeline, unsigned index, int half, tb_real *stage)
{
    pipeline.stage = stage;
    pipeline.first += of::count * half;
    pipeline.part = half;
    trid_p_batch_prefetch(pipeline, index, trid_p_batch_own_place(pipeline, index));
}

/* Once all lanes of the warp have read half `half` of tile `index`, requests the next half in its place. */
template <class of, class tb_real>
TB_D void trid_p_batch_ask_next(const of &pipeline, unsigned index, int half, tb_real *stage)
{
    __syncwarp(TB_FULL_WARP);
    trid_p_batch_ask_half(pipeline, index + (half + 1) * gridDim.x, 1 - half, stage);
}

/* The memory from which a thread reads its rows as often as it needs them: the halves of its tile or, if nothing is
   pipelined, the arrays. In the latter case matrix and d point to its first row. */
template <class tb_real>
struct trid_p_batch_source {
    tb_real *half[2];
    trid_p_batch_arrays<tb_real> matrix;
    const tb_real *d;
    long long step;
    int first, valid;
};
/* Computes the pointers of from->matrix and from->d again, so that no registers keep them. */
template <class of, class tb_real>
TB_D void trid_p_batch_find_source(const of &pipeline, unsigned index, trid_p_batch_source<tb_real> *from)
{
    from->matrix = pipeline.matrix, from->d = pipeline.d;
    if (from->valid <= 0) return;
    const trid_p_batch_place own = trid_p_batch_own_place(pipeline, trid_p_batch_again_as(index));
    const long long at = trid_p_batch_matrix_at(pipeline.plan, pipeline.matrix, own, from->first);
    from->matrix.a += at, from->matrix.b += at, from->matrix.c += at, from->d += own.at;
}
/* Reads row j of the thread. Rows beyond the system, and couplings beyond its ends, are 0. full: all of the thread's
   rows belong to the system, so none is tested. */
template <class shape, class tb_real>
TB_D void trid_p_batch_row_of(const trid_p_batch_source<tb_real> &from, int full, int j, tb_real *a, tb_real *b,
                              tb_real *c, tb_real *d)
{
    constexpr int k = shape::k, half_k = k / 2, array = half_k * shape::threads;
    const int above = j > 0 || from.first > 0, below = full ? j < k - 1 || from.valid > k : j < from.valid - 1;
    *a = *b = *c = *d = 0;
    if (!full && j >= from.valid) return;
    if (shape::pipelined) {
        const tb_real *own = from.half[j / half_k] + (j % half_k * shape::threads + (int)threadIdx.x);
        if (above) *a = own[0];
        *b = own[array];
        if (below) *c = own[2 * array];
        *d = own[3 * array];
    } else {
        int row = trid_p_batch_again_as(j); /* otherwise the addresses of all rows would be kept */
        if (above) *a = from.matrix.a[row * from.matrix.step];
        *b = from.matrix.b[row * from.matrix.step];
        if (below) *c = from.matrix.c[row * from.matrix.step];
        *d = from.d[row * from.step];
    }
}
/* Visits one half of the thread's rows. */
template <class shape, class tb_real, class visitor>
TB_D void trid_p_batch_each_of_half(const trid_p_batch_source<tb_real> &from, int half, const visitor &visit)
{
    const int first = shape::k / 2 * half;
    const auto each = [&](int full) {
        TB_UNROLL
        for (int i = 0; i < shape::k / 2; i++) visit(first + i, full);
    };
    return from.valid >= shape::k ? each(1) : each(0);
}
/* Takes the thread's rows of the matrix and, in the first pass, of the right-hand side, each half as it arrives. Rows
   beyond the system are identity rows. */
template <class shape, class tb_real>
TB_D void trid_p_batch_take_halves(const trid_p_batch_source<tb_real> &from, int pass,
                                   trid_p_batch_equations<tb_real, shape::k> *u)
{
    TB_UNROLL
    for (int half = 0; half < 2; half++) {
        if (shape::pipelined && half == 0) TRID_COPY_AWAIT(2);
        if (shape::pipelined && half == 1) TRID_COPY_AWAIT(1);
        __syncwarp(TB_FULL_WARP); /* now what other lanes requested has arrived as well */
        trid_p_batch_each_of_half<shape>(from, half, [&](int j, int full) {
            tb_real d = 0;
            trid_p_batch_row_of<shape>(from, full, j, &u->a[j], &u->b[j], &u->c[j], &d);
            if (!full && j >= from.valid) u->b[j] = 1;
            if (pass == 0) u->d[j] = d;
        });
    }
}
/* Computes in r the residual of x in one half of the thread's rows. `left` and `right` are x before the first and after
   the last of all the thread's rows. */
template <class shape, class tb_real>
TB_D void trid_p_batch_residual_half(const trid_p_batch_source<tb_real> &from, int half, const tb_real *x, tb_real left,
                                     tb_real right, tb_real *r, trid_p_batch_worst *worst)
{
    constexpr int k = shape::k;
    trid_p_batch_each_of_half<shape>(from, half, [&](int j, int full) {
        tb_real a, b, c, d, up = j > 0 ? x[j - 1] : left, down = j < k - 1 ? x[j + 1] : right;
        trid_p_batch_row_of<shape>(from, full, j, &a, &b, &c, &d);
        if (j == 0 && from.first == 0) up = 0; /* 0 times NaN would be NaN */
        if (full ? j == k - 1 && from.valid == k : j >= from.valid - 1) down = 0;
        r[j] = trid_p_batch_residual_row(a, b, c, d, x[j], up, down, worst);
    });
}
/* Returns x of the row below the thread's rows, through shared memory; 0 below the last partition. */
template <class shape, class tb_real>
TB_D tb_real trid_p_batch_below(tb_real x, tb_real *shared)
{
    constexpr int systems = shape::systems, parts = shape::parts;
    int thread = (int)threadIdx.x;
    if (parts == 1) return 0;
    shared[TRID_P_BATCH_SLOT(tb_real, systems, parts, thread)] = x;
    __syncthreads();
    return thread / systems < parts - 1 ? shared[TRID_P_BATCH_SLOT(tb_real, systems, parts, thread + systems)]
                                        : (tb_real)0;
}

/* Stores the solution, or adds it to the old x, and reports statuses and residuals. `largest` holds the `error` of
   each system, then the `size` of each (trid_p_batch_worst). */
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
            trid_p_batch_tell<1, tb_real>(plan, here.system, worst[line], {largest[line], largest[systems + line]});
    }
}

/* Solves as trid_p_batch_plain_tiles does, with rows only from arrays, and computes the residual of each system. With
   REFINED, the tile is solved once more, with the residuals as right-hand sides, unless all of them are small. */
template <class tb_real, class shape, class rows_type>
TB_D void trid_p_batch_checked_tiles(const trid_p_batch_plan &plan, const rows_type &rows, const tb_real *d, tb_real *x)
{
    constexpr int k = shape::k, systems = shape::systems, parts = shape::parts, half_len = 2 * k * shape::threads;
    constexpr int span = TRID_P_BATCH_SPAN(tb_real, systems, parts);
    __shared__ tb_real shared[parts > 1 ? 6 * span : 1];
    __shared__ int worst[systems];
    __shared__ unsigned largest[2 * systems];
    TRID_DYNAMIC_SHARED(dynamic);
    const int line = (int)threadIdx.x % systems, part = (int)threadIdx.x / systems, first = k * part;
    const int reports = trid_p_batch_reports(plan), refined = (plan.flags & TRID_BATCH_REFINED) != 0;
    tb_real *stage = (tb_real *)dynamic;
    int turn = 0; /* which of the three places in shared memory has half 0 of the tile */
    const trid_p_batch_pipeline<tb_real, shape, 4, k / 2, k / 2> pipeline = {plan, rows, d, stage, first, 0};
    TB_LOOP
    for (int i = 0; i < 3 && shape::pipelined; i++)
        trid_p_batch_ask_half(pipeline, blockIdx.x + i / 2 * gridDim.x, i % 2, stage + i * half_len);
    TB_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        trid_p_batch_equations<tb_real, k> u;
        tb_real solved[k] = {0}, left = 0, own_left;
        trid_p_batch_worst most;
        tb_real *half = stage + turn * half_len, *other = turn == 2 ? stage : half + half_len;
        const int valid = trid_p_batch_own_place(pipeline, index).valid;
        trid_p_batch_source<tb_real> from = {{half, other}, rows, d, plan.lines.step, first, valid};
        TB_LOOP
        for (int pass = 0; pass <= refined; pass++) {
            const int tells = reports && pass == 0;
            if (!shape::pipelined) trid_p_batch_find_source(pipeline, index, &from);
            trid_p_batch_take_halves<shape>(from, pass, &u);
            if (index != blockIdx.x || pass) __syncthreads(); /* shared memory has been read */
            if (tells) {
                if (part == 0) worst[line] = TRID_P_BATCH_NO_ROW, largest[line] = largest[systems + line] = 0;
                __syncthreads();
            }
            const int bad =
                trid_p_batch_solve_tile<shape, 0>(plan.n, valid, &u, {shared, tells ? worst : (int *)0}, &own_left);
            if (tells && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
            left += own_left;
            TB_UNROLL
            for (int j = 0; j < k; j++) solved[j] += u.d[j];
            const tb_real right = trid_p_batch_below<shape>(solved[0], shared);
            most.error = most.size = 0;
            const int last = pass == refined;
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                trid_p_batch_residual_half<shape>(from, half, solved, left, right, u.d, &most);
                if (shape::pipelined && last) trid_p_batch_ask_next(pipeline, index, half, from.half[half]);
            }
            if (last || !__syncthreads_and(trid_p_batch_is_small<tb_real>(most))) continue;
            TB_UNROLL
            for (int half = 0; half < 2 && shape::pipelined; half++)
                trid_p_batch_ask_next(pipeline, index, half, from.half[half]);
            break;
        }
        turn = turn == 0 ? 2 : turn - 1;
        const trid_p_batch_place here = trid_p_batch_own_place(pipeline, trid_p_batch_again_as(index));
        trid_p_batch_finish_checked<shape>(plan, here, most, solved, x, worst, largest);
    }
}
template <class tb_real, class shape, class rows_type>
struct trid_p_batch_tiles<trid_p_batch_how::checked, tb_real, shape, rows_type> {
    static constexpr trid_p_batch_needs needs(int, int)
    {
        constexpr int resident = trid_p_batch_resident<tb_real, shape::k, shape::threads>, real = (int)sizeof(tb_real);
        constexpr int span = TRID_P_BATCH_SPAN(tb_real, shape::systems, shape::parts);
        constexpr int bytes = shape::pipelined ? 6 * shape::k * shape::threads * real : 0;
        /* 1536: 1 KiB for CUDA itself, and room for alignment */
        constexpr int fixed = (shape::parts > 1 ? 6 * span * real : 0) + 12 * shape::systems + 1536;
        return {bytes, fixed, resident, resident};
    }
    static constexpr auto solve = trid_p_batch_checked_tiles<tb_real, shape, rows_type>;
};
