/* residual.h - a room of trid/batch.h: contiguous systems whose rows stay in shared memory for their residuals.
   MIT licence, see LICENSE. */

/* Asynchronous copies load the four arrays of a warp, own_len elements each, into shared memory, so that no register
   holds what is on its way. In full tiles an array is stored in pieces of 16 bytes, with one piece of padding after
   every eight, so that lanes read their rows without bank conflicts. In other tiles trid_p_batch_slot gives the place
   of each element, and behind the array each lane has an element of its own (trid_p_batch_slots). */
template <class tb_real, int k, int layout>
struct trid_p_batch_kept {
    enum { own_len = layout == trid_p_batch_how::full ? 36 * k : TRID_P_BATCH_LEN(tb_real, k) + 32 };
    static TRID_P_BATCH_MEMBER int column() /* where the lane's rows begin */
    {
        enum { vector = 16 / sizeof(tb_real) };
        const int lane = trid_warp_lane();
        return layout == trid_p_batch_how::full ? k * lane + k * lane / (8 * vector) * vector
                                                : trid_p_batch_column<tb_real>(k);
    }
};

/* Requests the elements of a full tile. If the first or the last element must not be read, it becomes 0. */
template <class tb_real, int k>
TB_D void trid_p_batch_keep_full(const trid_p_batch_elements<tb_real> &from, tb_real *kept)
{
    enum { vector = 16 / sizeof(tb_real) };
    const int lane = trid_warp_lane();
    TB_UNROLL
    for (int r = 0; r < k / vector; r++) {
        tb_real *to = &kept[(36 * r + lane + lane / 8) * vector];
        const tb_real *src = &from.src[(32 * r + lane) * vector];
        const int skip_first = from.first && r == 0 && lane == 0;
        const int skip_last = from.total < 32 * k && r == k / vector - 1 && lane == 31;
        if (!skip_first && !skip_last) trid_p_batch_copy<16, 0>(to, src);
        if (skip_first) to[0] = 0;
        if (skip_last) to[vector - 1] = 0;
        TB_UNROLL
        for (int i = 0; i < vector; i++)
            if ((skip_first && i > 0) || (skip_last && i < vector - 1))
                trid_p_batch_copy<sizeof(tb_real), 0>(to + i, src + i);
    }
}

/* Requests the elements of a tile that is not full. */
template <class tb_real, int k, int scope, int layout, int literal>
TB_D void trid_p_batch_keep(const trid_p_batch_plan &plan, const trid_p_batch_elements<tb_real> &from, const int *slot,
                            tb_real *kept)
{
    const int lane = trid_warp_lane(), left = trid_p_batch_again_as(from.total - lane);
    const long long gap = from.stride - plan.n * from.step;
    const tb_real *strided = from.src + lane * from.step;
    TB_UNROLL
    for (int r = 0; r < k; r++) {
        int f = 32 * r + lane, here = 32 * r < left;
        const tb_real *src = from.src + lane + 32 * r;
        if (r == 0 && from.first) here = here && lane >= from.first;
        if (layout == trid_p_batch_how::strided) {
            int s = trid_p_batch_system_of<scope>(plan, f), row = f - s * plan.n;
            if (from.ends < 0) here = here && row > 0;
            if (from.ends > 0) here = here && row < plan.n - 1;
            src = strided + s * gap;
            strided += 32 * from.step;
        }
        tb_real *to = &kept[trid_p_batch_slot_of<tb_real, literal>(k, r, slot)];
        if (here) trid_p_batch_copy<sizeof(tb_real), 0>(to, src);
    }
}

/* Loads all four arrays. */
template <class tb_real, int k, int scope, int layout, int literal>
TB_D void trid_p_batch_keep_all(const trid_p_batch_plan &plan, const trid_p_batch_spot &here,
                                const trid_p_batch_arrays<tb_real> &rows, const tb_real *d, const int *slot,
                                tb_real *kept)
{
    TB_UNROLL
    for (int array = 0; array < 4; array++) {
        tb_real *to = kept + array * trid_p_batch_kept<tb_real, k, layout>::own_len;
        const trid_p_batch_elements<tb_real> from = array < 3 ? trid_p_batch_of_matrix<scope>(plan, here, rows, array)
                                                              : trid_p_batch_right(plan, d + here.at, here.total);
        if constexpr (layout == trid_p_batch_how::full)
            trid_p_batch_keep_full<tb_real, k>(from, to);
        else
            trid_p_batch_keep<tb_real, k, scope, layout, literal>(plan, from, slot, to);
    }
    trid_copy_commit();
    TRID_COPY_AWAIT(0);
    __syncwarp(TB_FULL_WARP); /* now what other lanes requested has arrived as well */
}

/* Reads the lane's rows `first` (0 or 1) .. `rows` - 1 of an array; the others become `fill`. Full tile: reads all. */
template <class tb_real, int k, int layout>
TB_D void trid_p_batch_look(const tb_real *kept, int first, int rows, tb_real fill, tb_real *u)
{
    const tb_real *own = kept + trid_p_batch_kept<tb_real, k, layout>::column();
    if (layout == trid_p_batch_how::full) {
        enum { vector = 16 / sizeof(tb_real) };
        TB_UNROLL
        for (int g = 0; g < k; g += vector) {
            trid_p_batch_word<tb_real> word = *(const trid_p_batch_word<tb_real> *)(own + g);
            TB_UNROLL
            for (int j = 0; j < vector; j++) u[g + j] = word.v[j];
        }
    } else {
        TB_UNROLL
        for (int j = 0; j < k; j++) u[j] = (j > 0 || !first) && j < rows ? own[j] : fill;
    }
}

/* Reads the lane's rows of the matrix: identity rows beyond the system, no coupling beyond its ends. */
template <int layout, class tb_real, int k>
TB_D void trid_p_batch_look_matrix(const tb_real *kept, const trid_p_batch_spot &here,
                                   trid_p_batch_equations<tb_real, k> *own)
{
    enum { len = trid_p_batch_kept<tb_real, k, layout>::own_len };
    trid_p_batch_look<tb_real, k, layout>(kept, here.rank == 0, here.valid, (tb_real)0, own->a);
    trid_p_batch_look<tb_real, k, layout>(kept + len, 0, here.valid, (tb_real)1, own->b);
    trid_p_batch_look<tb_real, k, layout>(kept + 2 * len, 0, here.valid - 1, (tb_real)0, own->c);
    if (layout == trid_p_batch_how::full && here.rank == 0) own->a[0] = 0;
    if (layout == trid_p_batch_how::full && here.valid <= k) own->c[k - 1] = 0;
}

/* *left receives x of the row before the thread's first, or 0 if there is none; *right receives x of the row after its
   last. If that row is beyond the system, the caller sets *right to 0, since 0 times a NaN is NaN. border: two elements
   a warp. */
template <int scope, class tb_real>
TB_D void trid_p_batch_around(int k, const trid_p_batch_plan &plan, const trid_p_batch_spot &here, const tb_real *x,
                              tb_real *left, tb_real *right, tb_real *border)
{
    const int width = scope == trid_p_batch_how::lanes ? plan.lanes : 32;
    *left = __shfl_up_sync(TB_FULL_WARP, x[k - 1], 1, width);
    *right = __shfl_down_sync(TB_FULL_WARP, x[0], 1, width);
    if (scope == trid_p_batch_how::block) {
        const int lane = trid_warp_lane(), warp = (int)threadIdx.x / 32;
        if (lane == 0) border[2 * warp] = x[0];
        if (lane == 31) border[2 * warp + 1] = x[k - 1];
        __syncthreads();
        if (lane == 0 && warp > 0) *left = border[2 * warp - 1];
        if (lane == 31 && threadIdx.x + 1 < blockDim.x) *right = border[2 * warp + 2];
    }
    if (here.rank == 0) *left = 0;
}

/* Reads the lane's rows again, and returns their largest |r| and |A||x| + |d|. Leaves each r in `rest`. */
template <class tb_real, int k, int scope, int layout>
TB_D trid_p_batch_worst trid_p_batch_residual_of(const trid_p_batch_plan &plan, const trid_p_batch_spot &here,
                                                 const trid_p_batch_workspace<tb_real> &room, const tb_real *x,
                                                 tb_real *rest)
{
    typedef trid_p_batch_kept<tb_real, k, layout> kept;
    const int rows = here.valid, full = layout == trid_p_batch_how::full;
    trid_p_batch_worst worst = {0, 0};
    tb_real left, right;
    trid_p_batch_equations<tb_real, k> own;
    trid_p_batch_around<scope>(k, plan, here, x, &left, &right, room.border);
    trid_p_batch_look_matrix<layout>(room.rows, here, &own);
    trid_p_batch_look<tb_real, k, layout>(room.rows + 3 * kept::own_len, 0, rows, (tb_real)0, own.d);
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        tb_real up = j > 0 ? x[j - 1] : left, down = j < k - 1 ? x[j + 1] : right;
        if (full ? j == k - 1 && rows <= k : j >= rows - 1) down = 0;
        rest[j] = trid_p_batch_residual_row(own.a[j], own.b[j], own.c[j], own.d[j], x[j], up, down, &worst);
    }
    return worst;
}

/* Stores x of a full tile in pieces of 16 bytes, or adds it to what is there. x passes through array a of `kept`. */
template <class tb_real, int k>
TB_D void trid_p_batch_store_full(const trid_p_batch_plan &plan, const tb_real *x, tb_real *dst, tb_real *kept)
{
    enum { vector = 16 / sizeof(tb_real) };
    const int lane = trid_warp_lane();
    tb_real *own = kept + trid_p_batch_kept<tb_real, k, trid_p_batch_how::full>::column();
    TB_UNROLL
    for (int g = 0; g < k; g += vector) {
        trid_p_batch_word<tb_real> word;
        TB_UNROLL
        for (int j = 0; j < vector; j++) word.v[j] = x[g + j];
        *(trid_p_batch_word<tb_real> *)(own + g) = word;
    }
    __syncwarp(TB_FULL_WARP);
    const trid_p_batch_word<tb_real> *from = (const trid_p_batch_word<tb_real> *)kept + (lane + lane / 8);
    trid_p_batch_word<tb_real> word[k / vector], *to = (trid_p_batch_word<tb_real> *)dst + lane;
    if (plan.flags & TRID_BATCH_ADD) {
        TB_UNROLL
        for (int r = 0; r < k / vector; r++) word[r] = to[32 * r];
        TB_UNROLL
        for (int j = 0; j < k; j++) word[j / vector].v[j % vector] += from[36 * (j / vector)].v[j % vector];
    } else {
        TB_UNROLL
        for (int r = 0; r < k / vector; r++) word[r] = from[36 * r];
    }
    TB_UNROLL
    for (int r = 0; r < k / vector; r++) to[32 * r] = word[r];
}
