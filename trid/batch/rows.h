/* rows.h - a room of trid/batch.h: moves rows of contiguous systems from memory to a warp's registers and back.
   MIT licence, see LICENSE. */

/* ---- where a thread works ---------------------------------------------------------------------------------------- */

/* Returns the tile of a warp, with as many systems as fit its lanes, or of a block, with one system. */
template <int scope>
TB_D trid_p_batch_tile trid_p_batch_tile_in(int warps, const trid_p_batch_plan &plan, unsigned block, int warp)
{
    return scope == trid_p_batch_how::lanes
               ? trid_p_batch_tile_of(plan, block * warps + (unsigned)warp, 32 >> plan.lanes_log2)
               : trid_p_batch_tile_of(plan, block, 1);
}

/* Where a thread works: up to k rows of a system, from row `first` on; its warp has `total` elements, from `at` on. */
struct trid_p_batch_spot {
    trid_p_batch_tile tile;
    int own, own_n;       /* its system in the tile; n, or 0 if the thread has none */
    int rank;             /* its number among the system's threads */
    int first, valid;     /* its first row; how many rows the system has from there on (may be < 0 or > k) */
    int before, total;    /* rows of the system in the warps before this one; elements of this warp */
    long long system, at; /* the system's index; where the warp's elements begin in d and x */
};

/* Returns where lane `lane` works. With block scope, its warp has part `warp` of a system. A part has 32 k rows; in
   a full tile there are `warps` parts. */
template <int scope, int layout>
TB_D trid_p_batch_spot trid_p_batch_spot_of(int k, int warps, const trid_p_batch_plan &plan,
                                            const trid_p_batch_tile &tile, int warp, int lane)
{
    const int full = layout == trid_p_batch_how::full;
    trid_p_batch_spot p = {tile, 0, plan.n, 32 * warp + lane, 0, 0, 32 * k * warp, 0, 0, 0};
    if (scope == trid_p_batch_how::lanes) {
        p.own = lane >> plan.lanes_log2;
        p.own_n = full ? k * plan.lanes : p.own < tile.count ? plan.n : 0;
        p.rank = lane & (plan.lanes - 1);
        p.before = 0, p.total = tile.count * plan.n;
    } else {
        p.total = plan.n - p.before;
        if (p.total > 32 * k) p.total = 32 * k;
    }
    if (full) p.total = 32 * k;
    if (full && scope == trid_p_batch_how::block) p.own_n = 32 * k * warps;
    p.system = tile.group * plan.lines.systems + tile.first + p.own;
    p.first = k * p.rank, p.valid = p.own_n - p.first;
    p.at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + p.before * plan.lines.step;
    return p;
}

/* A block's arrays in shared memory. */
template <class tb_real>
struct trid_p_batch_workspace {
    tb_real *rows, *matrix;    /* this warp's rows; the one matrix of all systems, or this warp's rings */
    tb_real *between, *border; /* for the block's solve; each warp's first and last unknown */
    int *bad;                  /* the bad row that each warp reports */
    trid_p_batch_worst *worst;
};

/* Reports on the systems of a warp or a block, of which each thread knows only its own rows. */
template <class tb_real, int scope, int checked>
TB_D void trid_p_batch_tell_all(const trid_p_batch_plan &plan, const trid_p_batch_spot &here, int bad,
                                trid_p_batch_worst worst, const trid_p_batch_workspace<tb_real> &room)
{
    const int warp = (int)threadIdx.x / 32;
    for (int m = 1; m < (scope == trid_p_batch_how::lanes ? plan.lanes : 32); m *= 2) {
        int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
        bad = other < bad ? other : bad;
        if (checked) worst.error = max(worst.error, __shfl_xor_sync(TB_FULL_WARP, worst.error, m));
        if (checked) worst.size = max(worst.size, __shfl_xor_sync(TB_FULL_WARP, worst.size, m));
    }
    if (scope == trid_p_batch_how::block) {
        if (threadIdx.x % 32 == 0) room.bad[warp] = bad;
        if (checked && threadIdx.x % 32 == 0) room.worst[warp] = worst;
        __syncthreads();
        for (int w = 1; threadIdx.x == 0 && 32 * w < (int)blockDim.x; w++) {
            bad = room.bad[w] < bad ? room.bad[w] : bad;
            if (checked) worst.error = max(worst.error, room.worst[w].error);
            if (checked) worst.size = max(worst.size, room.worst[w].size);
        }
    }
    if (here.rank == 0 && here.own_n) trid_p_batch_tell<checked, tb_real>(plan, here.system, bad, worst);
}

/* ---- elements: a warp's accesses, and shared memory -------------------------------------------------------------- */

/* A warp's elements, those of 32/lanes systems or a part of one, are numbered f = 0, 1, .., system after system. Access
   r of lane l is to f = 32 r + l, so for any n all accesses are full, except where the elements end. Element t of
   system s is row e = s*k*lanes + t of the 32 k rows that the lanes hold. Returns row e's slot in shared memory, as in
   transpose_to_striped. There lanes access their own rows without bank conflicts, with literal offsets. Accesses in
   the striped layout do not conflict either if the tile is full or the warp has one system. */
template <class tb_real>
TB_D int trid_p_batch_slot(int k, int e)
{
    const int banks = TRID_P_BATCH_BANKS(tb_real), power = k & -k, period = k / power * (power > banks ? power : banks);
    return e + e / period;
}

/* Returns the slot at which the lane's rows begin. */
template <class tb_real>
TB_D int trid_p_batch_column(int k)
{
    return transpose_column_slot(TRID_P_BATCH_BANKS(tb_real), k, trid_warp_lane());
}

/* The elements of an array that a warp reads: numbers `first` (0 or 1) .. total - 1 from src on. If systems are strided
   and the warp has whole ones, it skips every a[0] (ends < 0) or every c[n-1] (ends > 0). If systems follow one
   another, it skips only the a[0] of its first system or the c[n-1] of its last one; those of the other systems lie
   among elements that are read. */
template <class tb_real>
struct trid_p_batch_elements {
    const tb_real *src;
    long long step, stride;
    int first, total, ends;
};

/* Returns the elements of a right-hand side. */
template <class tb_real>
TB_D trid_p_batch_elements<tb_real> trid_p_batch_right(const trid_p_batch_plan &plan, const tb_real *d, int total)
{
    return {d, plan.lines.step, plan.lines.stride, 0, total, 0};
}

/* Returns the elements of a (array 0), b (1) or c (2). With corners, no element of a or c is skipped. */
template <int scope, class tb_real>
TB_D trid_p_batch_elements<tb_real> trid_p_batch_of_matrix(const trid_p_batch_plan &plan, const trid_p_batch_spot &here,
                                                           const trid_p_batch_arrays<tb_real> &from, int array,
                                                           int corners = 0)
{
    const int lanes = scope == trid_p_batch_how::lanes, has_first = lanes || here.before == 0;
    const int has_last = lanes || here.before + here.total == plan.n;
    const long long at = here.tile.group * from.jump + here.tile.first * from.stride + here.before * from.step;
    if (array == 1 || corners) {
        const tb_real *src = array == 0 ? from.a : array == 1 ? from.b : from.c;
        return {src + at, from.step, from.stride, 0, here.total, 0};
    }
    if (array == 0) return {from.a + at, from.step, from.stride, has_first, here.total, -lanes};
    return {from.c + at, from.step, from.stride, 0, here.total - has_last, lanes};
}

/* Returns the number s of the warp's system that has element f. Row f - s*n of this system is element f. If systems are
   strided, element f lies s*(stride - n*step) from where it would be if each system followed the one before. */
template <int scope>
TB_D int trid_p_batch_system_of(const trid_p_batch_plan &plan, int f)
{
    return scope == trid_p_batch_how::lanes ? (int)((unsigned)f * plan.magic >> 20) : 0;
}

/* Loads elements into u. Elements of u that it does not load are arbitrary: rows beyond the system are replaced when
   they are transposed, and solvers ignore a of row 0 and c of row n-1, which are set to 0 before the test of dominance
   reads them. If systems are strided, each load advances a pointer by 32 steps, which takes fewer instructions than a
   new address. Stores do not, because one kernel with pivoting has no register for the pointer. */
template <int scope, int layout, class tb_real>
TB_D void trid_p_batch_fetch(int k, const trid_p_batch_plan &plan, const trid_p_batch_elements<tb_real> &from,
                             tb_real *u)
{
    int lane = trid_warp_lane(), total = from.total, full = layout == trid_p_batch_how::full;
    int left = full ? total - lane : trid_p_batch_again_as(total - lane);
    const long long gap = from.stride - plan.n * from.step;
    const tb_real *src = from.src + lane * from.step;
    TB_UNROLL
    for (int r = 0; r < k; r++) {
        int f = 32 * r + lane, here = 32 * r < left;
        if (full) here = r < k - 1 || total == 32 * k || 32 * r < left;
        if (r == 0 && from.first) here = here && lane >= from.first;
#ifndef __CUDA_ARCH__
        u[r] = 0;
#endif
        if (layout != trid_p_batch_how::strided) {
            if (here) u[r] = from.src[f];
        } else {
            int s = trid_p_batch_system_of<scope>(plan, f), row = f - s * plan.n;
            if (from.ends < 0) here = here && row > 0;
            if (from.ends > 0) here = here && row < plan.n - 1;
            if (here) u[r] = src[s * gap];
            src += 32 * from.step;
        }
    }
}

/* Finds the slots of this lane's accesses. Those beyond total go to an element of the lane's own, after all rows.
   literal: slots follow one another, and need no array, as in full tiles and in a warp with one system. */
template <class tb_real, int literal>
TB_D void trid_p_batch_slots(int k, const trid_p_batch_plan &plan, int total, int *slot)
{
    int lane = trid_warp_lane(), gap = (k << plan.lanes_log2) - plan.n;
    TB_UNROLL
    for (int r = 0; r < (literal ? 0 : k); r++) {
        int f = 32 * r + lane;
        slot[r] = trid_p_batch_slot<tb_real>(k, f + trid_p_batch_system_of<trid_p_batch_how::lanes>(plan, f) * gap);
        if (f >= total) slot[r] = TRID_P_BATCH_LEN(tb_real, k) + lane;
    }
}
template <class tb_real, int literal>
TB_D int trid_p_batch_slot_of(int k, int r, const int *slot)
{
    return literal ? transpose_row_slot(TRID_P_BATCH_BANKS(tb_real), k, r, trid_warp_lane()) : slot[r];
}

/* Transposes from the striped to the blocked layout: u[j] becomes the lane's row j, or `fill` for j >= rows. */
template <int layout, int literal, class tb_real>
TB_D void trid_p_batch_transpose(int k, int rows, tb_real fill, const int *slot, tb_real *u, tb_real *shared)
{
    int column = trid_p_batch_column<tb_real>(k);
    rows = layout == trid_p_batch_how::full ? k : trid_p_batch_again_as(rows);
    __syncwarp(TB_FULL_WARP); /* whatever was there has been read */
    TB_UNROLL
    for (int r = 0; r < k; r++) shared[trid_p_batch_slot_of<tb_real, literal>(k, r, slot)] = u[r];
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < k; j++) u[j] = j < rows ? shared[column + j] : fill;
}

/* Stores x, which u holds in the blocked layout, or, with TRID_BATCH_ADD, adds it to what is there. It loads all old
   values together, since loads that wait for one another can cost as much as the solve.
   Leaves   u clobbered */
template <int scope, int layout, int literal, class tb_real>
TB_D void trid_p_batch_store(int k, const trid_p_batch_plan &plan, int total, int rows, const int *slot, tb_real *u,
                             tb_real *dst, tb_real *shared)
{
    int column = trid_p_batch_column<tb_real>(k), lane = trid_warp_lane();
    rows = layout == trid_p_batch_how::full ? k : trid_p_batch_again_as(rows);
    if (layout != trid_p_batch_how::full) total = trid_p_batch_again_as(total);
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (j < rows) shared[column + j] = u[j];
    __syncwarp(TB_FULL_WARP);
    if (plan.flags & TRID_BATCH_ADD) {
        trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_right(plan, dst, total), u);
        TB_UNROLL
        for (int r = 0; r < k; r++) u[r] += shared[trid_p_batch_slot_of<tb_real, literal>(k, r, slot)];
    } else {
        TB_UNROLL
        for (int r = 0; r < k; r++) u[r] = shared[trid_p_batch_slot_of<tb_real, literal>(k, r, slot)];
    }
    const long long step = plan.lines.step, gap = plan.lines.stride - plan.n * step;
    TB_UNROLL
    for (int r = 0; r < k; r++) {
        const int f = 32 * r + lane, s = trid_p_batch_system_of<scope>(plan, f);
        if (f < total) dst[layout == trid_p_batch_how::strided ? f * step + s * gap : f] = u[r];
    }
}

/* ---- a matrix ---------------------------------------------------------------------------------------------------- */

/* Loads the warp's part of the matrix from arrays, in the striped layout, for a transposition; or makes the lane's rows
   with an operator()(system, row, a, b, c). */
template <int scope, int layout, class rows_type, class tb_real, int k>
TB_D void trid_p_batch_matrix(const trid_p_batch_plan &plan, const trid_p_batch_spot &here, const rows_type &from,
                              trid_p_batch_equations<tb_real, k> *own, int corners = 0)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_of_matrix<scope>(plan, here, from, 0, corners), own->a);
        trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_of_matrix<scope>(plan, here, from, 1), own->b);
        trid_p_batch_fetch<scope, layout>(k, plan, trid_p_batch_of_matrix<scope>(plan, here, from, 2, corners), own->c);
    } else {
        const int rows = layout == trid_p_batch_how::full ? k : here.valid;
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            own->a[j] = own->c[j] = 0;
            own->b[j] = 1;
            if (j < rows) from(here.system, here.first + j, &own->a[j], &own->b[j], &own->c[j]);
            if (layout != trid_p_batch_how::full && j >= rows - 1) own->c[j] = 0;
        }
    }
}

/* Transposes a matrix from arrays. Unless `apart` is 0, a, b and c stay in shared memory, `apart` elements apart. Rows
   beyond the system become identity rows. c of the last row becomes 0, except in full tiles and with corners. */
template <int layout, int literal, class rows_type, class tb_real, int k>
TB_D void trid_p_batch_transpose_matrix(const rows_type &, int rows, const int *slot, tb_real *shared, int apart,
                                        trid_p_batch_equations<tb_real, k> *own, int corners = 0)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        trid_p_batch_transpose<layout, literal>(k, rows, (tb_real)0, slot, own->a, shared);
        trid_p_batch_transpose<layout, literal>(k, rows, (tb_real)1, slot, own->b, shared + apart);
        trid_p_batch_transpose<layout, literal>(k, rows - !corners, (tb_real)0, slot, own->c, shared + 2 * apart);
    }
}

/* Warps of a block that takes chunks (long.h, pivoted.h): few, because small blocks fill a multiprocessor better if
   threads have many registers, and because the rows that a checked solve keeps must fit in a block's default 48 KiB of
   shared memory. */
#define TRID_P_BATCH_WARPS(tb_real) (sizeof(tb_real) == 8 ? 2 : 4)
