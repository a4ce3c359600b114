/* contiguous.h - a room of cpu_avx.h: contiguous systems, by transposed tiles.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_columns_forward CPU_AVX_OF_SET(cpu_avx_p_columns_forward)
#define cpu_avx_p_columns_back CPU_AVX_OF_SET(cpu_avx_p_columns_back)
#define cpu_avx_contiguous_solve CPU_AVX_OF_SET(cpu_avx_contiguous_solve)
#define cpu_avx_p_prefetch_some CPU_AVX_OF_SET(cpu_avx_p_prefetch_some)
#define cpu_avx_p_place_at CPU_AVX_OF_SET(cpu_avx_p_place_at)
#define cpu_avx_p_whole CPU_AVX_OF_SET(cpu_avx_p_whole)
#define cpu_avx_p_without_first CPU_AVX_OF_SET(cpu_avx_p_without_first)
#define cpu_avx_p_without_last CPU_AVX_OF_SET(cpu_avx_p_without_last)
#define cpu_avx_p_block_load CPU_AVX_OF_SET(cpu_avx_p_block_load)
#define cpu_avx_p_block_load_part CPU_AVX_OF_SET(cpu_avx_p_block_load_part)
#define cpu_avx_p_column_forward CPU_AVX_OF_SET(cpu_avx_p_column_forward)
#define cpu_avx_p_block_forward CPU_AVX_OF_SET(cpu_avx_p_block_forward)
#define cpu_avx_p_block_forward_one CPU_AVX_OF_SET(cpu_avx_p_block_forward_one)
#define cpu_avx_p_columns_any CPU_AVX_OF_SET(cpu_avx_p_columns_any)
#define cpu_avx_p_columns_own CPU_AVX_OF_SET(cpu_avx_p_columns_own)
#define cpu_avx_p_columns_partitions CPU_AVX_OF_SET(cpu_avx_p_columns_partitions)
#define cpu_avx_p_columns_one CPU_AVX_OF_SET(cpu_avx_p_columns_one)
#define cpu_avx_p_cache_line_back CPU_AVX_OF_SET(cpu_avx_p_cache_line_back)
#define cpu_avx_p_cache_line_back_systems CPU_AVX_OF_SET(cpu_avx_p_cache_line_back_systems)
#define cpu_avx_p_cache_line_back_partitions CPU_AVX_OF_SET(cpu_avx_p_cache_line_back_partitions)
#define cpu_avx_p_cache_line_back_part CPU_AVX_OF_SET(cpu_avx_p_cache_line_back_part)
#define cpu_avx_p_contiguous_sweep CPU_AVX_OF_SET(cpu_avx_p_contiguous_sweep)
#define cpu_avx_p_contiguous_tiles CPU_AVX_OF_SET(cpu_avx_p_contiguous_tiles)
#define cpu_avx_p_partitions_tiles CPU_AVX_OF_SET(cpu_avx_p_partitions_tiles)
#define cpu_avx_p_prefetch_list CPU_AVX_OF_SET(cpu_avx_p_prefetch_list)
#define cpu_avx_p_place CPU_AVX_OF_SET(cpu_avx_p_place)
#define cpu_avx_p_block CPU_AVX_OF_SET(cpu_avx_p_block)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Columns from .. to-1 of `sides` tiles of systems that all have the matrix of which l and r are: d[g][i] is column i
   of tile g, y[g] what was eliminated before and after; column i goes to slot + i*pace + g*W. */
CPU_AVX_INLINE void cpu_avx_p_columns_forward(int sides, int from, int to, const cpu_avx_real *l, const cpu_avx_real *r,
                                              cpu_avx_vec (*d)[cpu_avx_lanes], cpu_avx_vec *y, cpu_avx_real *slot,
                                              ptrdiff_t pace)
{
    CPU_AVX_P_UNROLL
    for (int i = from; i < to; i++) {
        const cpu_avx_vec li = cpu_avx_set(l[i]), ri = cpu_avx_set(r[i]);
        CPU_AVX_P_UNROLL
        for (int g = 0; g < sides; g++) {
            y[g] = cpu_avx_fnma(li, y[g], cpu_avx_mul(ri, d[g][i]));
            cpu_avx_store(slot + i * pace + g * cpu_avx_lanes, y[g]);
        }
    }
}
/* The way back for one tile, from *x of the column after: d of column i at slot + i*pace, c at c[i] where there is one
   matrix, else at c + i*pace. Sections have *left for the unknown before their first, and its factor at
   f + i*pace. */
CPU_AVX_INLINE void cpu_avx_p_columns_back(int one, int columns, const cpu_avx_real *slot, const cpu_avx_real *c,
                                           const cpu_avx_real *f, const cpu_avx_vec *left, ptrdiff_t pace,
                                           cpu_avx_vec *x, cpu_avx_vec *tile)
{
    cpu_avx_vec last = *x;
    CPU_AVX_P_UNROLL
    for (int i = columns - 1; i >= 0; i--) {
        cpu_avx_vec ci = one ? cpu_avx_set(c[i]) : cpu_avx_load(c + i * pace);
        cpu_avx_vec d = cpu_avx_load(slot + i * pace);
        if (left) d = cpu_avx_fnma(cpu_avx_load(f + i * pace), *left, d);
        tile[i] = last = cpu_avx_fnma(ci, last, d);
    }
    *x = last;
}

/* Solves   rows systems, each contiguous in memory, pitch elements apart, all of cpu_avx_factor's matrix in f: a system
            a lane, by transposed tiles
   Needs    rows <= W; store of W * (n rounded up to W) elements, aligned to 64 bytes
   Leaves   the solutions in x
   Cost     2 FMA + 1 mul an element, and two transposes a tile */
CPU_AVX_INLINE void cpu_avx_contiguous_solve(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t pitch,
                                             int rows, cpu_avx_real *store)
{
    enum { W = cpu_avx_lanes };
    const cpu_avx_real *l = f, *r = f + n, *q = f + 2 * n;
    cpu_avx_vec tile[W], y = cpu_avx_set(0);
    for (long long j = 0; j < n; j += W) {
        const int columns = cpu_avx_p_clip(n - j);
        cpu_avx_load_tile(x + j, pitch, rows, columns, tile);
        if (columns == W)
            cpu_avx_p_columns_forward(1, 0, W, l + j, r + j, &tile, &y, store + j * W, W);
        else
            cpu_avx_p_columns_forward(1, 0, columns, l + j, r + j, &tile, &y, store + j * W, W);
    }
    y = cpu_avx_set(0);
    for (long long j = (n - 1) / W * W; n > 0 && j >= 0; j -= W) {
        const int columns = cpu_avx_p_clip(n - j);
        if (columns == W) {
            cpu_avx_p_columns_back(1, W, store + j * W, q + j, 0, 0, W, &y, tile);
        } else {
            for (int i = columns; i < W; i++) tile[i] = cpu_avx_set(0);
            cpu_avx_p_columns_back(1, columns, store + j * W, q + j, 0, 0, W, &y, tile);
        }
        cpu_avx_store_tile(x + j, pitch, rows, columns, tile);
    }
}

/* Lines of the next tile that are still to be fetched into the cache, in the order in which they lie in memory, a few
   at a time between the operations: all at once would keep them waiting. */
typedef struct {
    const cpu_avx_p_batch *batch;
    ptrdiff_t at, end;    /* the next one; the end of its row */
    ptrdiff_t gap, pitch; /* from there to the beginning and to the end of the next row */
    int left;             /* in this block */
} cpu_avx_p_prefetch_list;

CPU_AVX_INLINE void cpu_avx_p_prefetch_some(cpu_avx_p_prefetch_list *list, int one, int count)
{
    for (int k = 0; k < count && list->left > 0; k++, list->left--) {
        cpu_avx_p_prefetch(list->batch, list->at, one);
        list->at += CPU_AVX_P_CACHE_LINE;
        if (list->at == list->end) list->at += list->gap, list->end += list->pitch;
    }
}

/* Up to W columns of a tile of rows: where they lie in the arrays, and d, a, b and c of them as vectors. */
typedef struct {
    ptrdiff_t at, side; /* of the first one; from there to the second vector of rows */
    int rows;           /* 0: no tile */
    int columns;
    int first, last; /* are they the rows' first, their last ones? */
    int kind;        /* as that of the plan */
} cpu_avx_p_place;
typedef struct {
    cpu_avx_p_place place;
    cpu_avx_vec d[2][cpu_avx_lanes], a[2][cpu_avx_lanes], b[2][cpu_avx_lanes], c[2][cpu_avx_lanes];
} cpu_avx_p_block;

CPU_AVX_INLINE cpu_avx_p_place cpu_avx_p_place_at(const cpu_avx_p_plan *plan, const cpu_avx_p_tile *tile, long long j)
{
    cpu_avx_p_place place;
    place.at = tile->offset + (ptrdiff_t)j;
    place.side = tile->side;
    place.rows = tile->lanes;
    place.columns = cpu_avx_p_clip(plan->n - j);
    place.first = j == 0;
    place.last = plan->n - j <= cpu_avx_lanes;
    place.kind = plan->kind;
    return place;
}
CPU_AVX_INLINE int cpu_avx_p_whole(const cpu_avx_p_place *place)
{
    return place->rows == 2 * cpu_avx_lanes && place->columns == cpu_avx_lanes;
}

/* v of vector g, but 0 where a system begins or ends, whose outermost coefficients may be anything: in all lanes, or in
   the first or last lane of one vector. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_without_first(cpu_avx_vec v, int kind, int g)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    if (kind == CPU_AVX_P_CONTIGUOUS) return zero;
    if (kind == CPU_AVX_P_ONE_SYSTEM && g == 1) return v;
    return cpu_avx_up(zero, cpu_avx_down(v, zero, 1), 1);
}
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_without_last(cpu_avx_vec v, int kind, int g)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    if (kind == CPU_AVX_P_CONTIGUOUS) return zero;
    if (kind == CPU_AVX_P_ONE_SYSTEM && g == 0) return v;
    return cpu_avx_down(cpu_avx_up(zero, v, 1), zero, 1);
}

/* Loads tile k of the 8 tiles of W x W of a block, the first two of which are d. */
CPU_AVX_INLINE void cpu_avx_p_block_load(cpu_avx_p_block *block, int k, int whole, const cpu_avx_p_batch *batch,
                                         ptrdiff_t pitch)
{
    enum { W = cpu_avx_lanes };
    const cpu_avx_p_place *place = &block->place;
    const int array = k / 2, g = k % 2;
    const int rows = whole ? W : cpu_avx_p_clip(place->rows - g * W), columns = whole ? W : place->columns;
    const cpu_avx_real *from = array == 0 ? batch->d : array == 1 ? batch->a : array == 2 ? batch->b : batch->c;
    cpu_avx_vec *v = array == 0 ? block->d[g] : array == 1 ? block->a[g] : array == 2 ? block->b[g] : block->c[g];
    cpu_avx_load_tile(from + place->at + g * place->side, pitch, rows, columns, v);
    if (array == 1 && place->first) v[0] = cpu_avx_p_without_first(v[0], place->kind, g);
    if (array == 3 && place->last) v[columns - 1] = cpu_avx_p_without_last(v[columns - 1], place->kind, g);
    if (array == 2 && rows < W)
        for (int i = 0; i < W; i++) v[i] = cpu_avx_add(v[i], cpu_avx_p_beyond(rows));
}
CPU_AVX_CALL void cpu_avx_p_block_load_part(cpu_avx_p_block *block, int k, const cpu_avx_p_batch *batch,
                                            ptrdiff_t pitch)
{
    cpu_avx_p_block_load(block, k, 0, batch, pitch);
}

/* A loop over two vectors of a column; in plain C, where these are arrays, the compiler does better by itself. */
#if CPU_AVX_P_BYTES > 0
#define CPU_AVX_P_UNROLL_BOTH CPU_AVX_P_UNROLL
#else
#define CPU_AVX_P_UNROLL_BOTH
#endif

/* Column i of the columns of a block whose store begins at slot, and now and then a fetch. */
CPU_AVX_INLINE void cpu_avx_p_column_forward(const cpu_avx_p_block *block, int i, int columns, cpu_avx_real *slot,
                                             cpu_avx_p_chain *chain, cpu_avx_p_fill *fill,
                                             cpu_avx_p_prefetch_list *list)
{
    enum { W = cpu_avx_lanes };
    slot += i * cpu_avx_p_slot(fill != 0);
    if (i % 2) cpu_avx_p_prefetch_some(list, 0, 1);
    CPU_AVX_P_UNROLL_BOTH
    for (int g = 0; g < 2; g++) {
        const cpu_avx_vec r = cpu_avx_p_eliminate(block->a[g][i], block->b[g][i], block->c[g][i], block->d[g][i],
                                                  &chain->c[g], &chain->d[g], &chain->sound[g]);
        cpu_avx_store(slot + (2 + g) * W, chain->c[g]);
        cpu_avx_store(slot + g * W, chain->d[g]);
        if (fill) {
            const int last = block->place.last && i == columns - 1;
            cpu_avx_p_fill_in(fill, g, last, block->a[g][i], r, chain->c[g], chain->d[g], slot + (4 + g) * W);
        }
    }
}

/* Eliminates a block of systems each with its own matrix while the next one is loaded, a tile of this and then some
   columns of that: shuffles fill the time in which the elimination waits for its reciprocals. The chain of dependent
   operations is kept in registers: for the compiler, the store might lie where *now does. Sections have a fill, others
   0. */
CPU_AVX_INLINE void cpu_avx_p_block_forward(const cpu_avx_p_block *block, cpu_avx_p_block *next, int whole,
                                            const cpu_avx_p_batch *batch, ptrdiff_t pitch, cpu_avx_real *slot,
                                            cpu_avx_p_chain *now, cpu_avx_p_fill *fill, cpu_avx_p_prefetch_list *list)
{
    enum { W = cpu_avx_lanes, SOME = W / cpu_avx_p_side > 8 ? 2 : 1 };
    const int columns = whole ? W : block->place.columns;
    cpu_avx_p_chain chain = *now;
    cpu_avx_p_fill filled;
    if (fill) filled = *fill;
    CPU_AVX_P_UNROLL
    for (int k = 0; k < 8; k++) {
        if (whole)
            cpu_avx_p_block_load(next, k, 1, batch, pitch);
        else if (next->place.rows)
            cpu_avx_p_block_load_part(next, k, batch, pitch);
        cpu_avx_p_prefetch_some(list, 0, SOME);
        if (whole) {
            CPU_AVX_P_UNROLL
            for (int i = k * W / 8; i < (k + 1) * W / 8; i++)
                cpu_avx_p_column_forward(block, i, W, slot, &chain, fill ? &filled : 0, list);
        } else {
            for (int i = k * W / 8; i < (k + 1) * W / 8 && i < columns; i++)
                cpu_avx_p_column_forward(block, i, columns, slot, &chain, fill ? &filled : 0, list);
        }
    }
    *now = chain;
    if (fill) *fill = filled;
}

/* With one matrix for all, l at f and r at f + n, there is little to wait for: the block itself is loaded, and then
   eliminated. */
CPU_AVX_INLINE void cpu_avx_p_block_forward_one(const cpu_avx_p_place *place, int whole, const cpu_avx_p_batch *batch,
                                                ptrdiff_t pitch, const cpu_avx_real *f, long long n, cpu_avx_real *slot,
                                                cpu_avx_p_chain *now, cpu_avx_p_prefetch_list *list)
{
    enum { W = cpu_avx_lanes, SOME = W / cpu_avx_p_side > 8 ? 2 : 1 };
    const int columns = whole ? W : place->columns;
    cpu_avx_p_block block;
    cpu_avx_vec y[2] = {now->d[0], now->d[1]};
    block.place = *place;
    CPU_AVX_P_UNROLL
    for (int k = 0; k < 2; k++) {
        if (whole)
            cpu_avx_p_block_load(&block, k, 1, batch, pitch);
        else
            cpu_avx_p_block_load_part(&block, k, batch, pitch);
        cpu_avx_p_prefetch_some(list, 1, SOME);
    }
    CPU_AVX_P_UNROLL
    for (int i = 0; i < W && i < columns; i += 2) {
        cpu_avx_p_prefetch_some(list, 1, 1);
        cpu_avx_p_columns_forward(2, i, i + 2 < columns ? i + 2 : columns, f, f + n, block.d, y, slot,
                                  cpu_avx_p_slot(0));
    }
    now->d[0] = y[0], now->d[1] = y[1];
}

/* Each with whole blocks, or what there is of them. */
CPU_AVX_INLINE void cpu_avx_p_columns_any(const cpu_avx_p_block *block, cpu_avx_p_block *next,
                                          const cpu_avx_p_batch *batch, ptrdiff_t pitch, cpu_avx_real *slot,
                                          cpu_avx_p_chain *now, cpu_avx_p_fill *fill, cpu_avx_p_prefetch_list *list)
{
    if (cpu_avx_p_whole(&block->place) && cpu_avx_p_whole(&next->place))
        cpu_avx_p_block_forward(block, next, 1, batch, pitch, slot, now, fill, list);
    else
        cpu_avx_p_block_forward(block, next, 0, batch, pitch, slot, now, fill, list);
}
CPU_AVX_CALL void cpu_avx_p_columns_own(const cpu_avx_p_block *block, cpu_avx_p_block *next,
                                        const cpu_avx_p_batch *batch, ptrdiff_t pitch, cpu_avx_real *slot,
                                        cpu_avx_p_chain *now, cpu_avx_p_prefetch_list *list)
{
    cpu_avx_p_columns_any(block, next, batch, pitch, slot, now, 0, list);
}
CPU_AVX_CALL void cpu_avx_p_columns_partitions(const cpu_avx_p_block *block, cpu_avx_p_block *next,
                                               const cpu_avx_p_batch *batch, ptrdiff_t pitch, cpu_avx_real *slot,
                                               cpu_avx_p_chain *now, cpu_avx_p_fill *fill,
                                               cpu_avx_p_prefetch_list *list)
{
    cpu_avx_p_columns_any(block, next, batch, pitch, slot, now, fill, list);
}
CPU_AVX_CALL void cpu_avx_p_columns_one(const cpu_avx_p_place *place, const cpu_avx_p_batch *batch, ptrdiff_t pitch,
                                        const cpu_avx_real *f, long long n, cpu_avx_real *slot, cpu_avx_p_chain *now,
                                        cpu_avx_p_prefetch_list *list)
{
    if (cpu_avx_p_whole(place))
        cpu_avx_p_block_forward_one(place, 1, batch, pitch, f, n, slot, now, list);
    else
        cpu_avx_p_block_forward_one(place, 0, batch, pitch, f, n, slot, now, list);
}

/* A line's worth of columns of W rows, whole lines of the cache written one after another. */
CPU_AVX_INLINE void cpu_avx_p_cache_line_back(const cpu_avx_real *slot, const cpu_avx_real *q, int g,
                                              const cpu_avx_vec *left, cpu_avx_vec *last, cpu_avx_real *x,
                                              ptrdiff_t pitch, int stream, cpu_avx_p_prefetch_list *list)
{
    enum { P = cpu_avx_p_side, W = cpu_avx_lanes };
    const ptrdiff_t pace = cpu_avx_p_slot(left != 0);
    cpu_avx_vec tile[P][W];
    for (int p = P - 1; p >= 0; p--) {
        const cpu_avx_real *at = slot + p * W * pace + g * W;
        cpu_avx_p_columns_back(q != 0, W, at, q ? q + p * W : at + 2 * W, at + 4 * W, left, pace, last, tile[p]);
        cpu_avx_transpose(tile[p]);
    }
    CPU_AVX_P_UNROLL
    for (int l = 0; l < W; l++) {
        if (l % 4 == 0) cpu_avx_p_prefetch_some(list, q != 0, 1);
        for (int p = 0; p < P; p++) cpu_avx_p_scatter(x + l * pitch + p * W, 1, W, stream, tile[p][l]);
    }
}
CPU_AVX_CALL void cpu_avx_p_cache_line_back_systems(const cpu_avx_real *slot, const cpu_avx_real *q, int g,
                                                    cpu_avx_vec *last, cpu_avx_real *x, ptrdiff_t pitch, int stream,
                                                    cpu_avx_p_prefetch_list *list)
{
    cpu_avx_p_cache_line_back(slot, q, g, 0, last, x, pitch, stream, list);
}
CPU_AVX_CALL void cpu_avx_p_cache_line_back_partitions(const cpu_avx_real *slot, int g, const cpu_avx_vec *left,
                                                       cpu_avx_vec *last, cpu_avx_real *x, ptrdiff_t pitch, int stream,
                                                       cpu_avx_p_prefetch_list *list)
{
    cpu_avx_p_cache_line_back(slot, 0, g, left, last, x, pitch, stream, list);
}

/* What there is of such a line, if anything. */
CPU_AVX_CALL void cpu_avx_p_cache_line_back_part(const cpu_avx_real *slot, const cpu_avx_real *q, int g,
                                                 const cpu_avx_vec *left, cpu_avx_vec *last, cpu_avx_real *x,
                                                 ptrdiff_t pitch, int rows, long long columns)
{
    enum { L = CPU_AVX_P_CACHE_LINE, W = cpu_avx_lanes };
    const ptrdiff_t pace = cpu_avx_p_slot(left != 0);
    cpu_avx_vec tile[W];
    for (int p = L - W; p >= 0 && rows > 0; p -= W) {
        const int some = cpu_avx_p_clip(columns - p);
        const cpu_avx_real *at = slot + p * pace + g * W;
        for (int l = 0; l < W; l++) tile[l] = cpu_avx_set(0);
        cpu_avx_p_columns_back(q != 0, some, at, q ? q + p : at + 2 * W, at + 4 * W, left, pace, last, tile);
        cpu_avx_store_tile(x + p, pitch, rows, some, tile);
    }
}

/* As cpu_avx_p_interleaved_tiles. Block i of a tile: columns i*L .. i*L+L-1, L those of a line of the cache. */
CPU_AVX_INLINE long long cpu_avx_p_contiguous_sweep(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                    cpu_avx_real *store, long long from, long long to, int sections)
{
    const int one = !sections && batch->f != 0, halves = plan->kind == CPU_AVX_P_ONE_SYSTEM;
    enum { L = CPU_AVX_P_CACHE_LINE, W = cpu_avx_lanes, SEEN = cpu_avx_p_seen };
    const ptrdiff_t pitch = (ptrdiff_t)plan->pitch, pace = cpu_avx_p_slot(sections);
    long long n = plan->n, blocks = (n + L - 1) / L, bad = LLONG_MAX;
    const ptrdiff_t run = sections ? (ptrdiff_t)((halves ? 2 * W : W) * n + L - 1) / L * L : (ptrdiff_t)(blocks * L);
    const cpu_avx_vec zero = cpu_avx_set(0), plus = cpu_avx_set(1),
                      minus = cpu_avx_set(-1); /* the row before the first: x[-1] - L = 0 */
    cpu_avx_p_tile behind = {0, 0, 0, 0}, ahead = cpu_avx_p_tile_at(plan, from, from, to);
    cpu_avx_p_block block[2];
    cpu_avx_vec left[2] = {zero, zero}, seen[SEEN][2];
    int turn = 0, seen_now = 0;
    block[0].place = cpu_avx_p_place_at(plan, &ahead, 0);
    for (int k = 0; !one && k < 8; k++) cpu_avx_p_block_load_part(block, k, batch, pitch);
    for (long long t = from; t <= to; t++) {
        cpu_avx_p_tile next = cpu_avx_p_tile_at(plan, t + 1, from, to);
        cpu_avx_p_chain now = {{zero, zero}, {zero, zero}, {zero, zero}};
        cpu_avx_p_fill fill = {{minus, minus}, {plus, plus}, {zero, zero}, {zero, zero}};
        cpu_avx_vec last[2] = {zero, zero};
        /* A tile of sections is small: it is loaded ahead before all of the one before is done with. */
        const cpu_avx_p_tile later = sections ? cpu_avx_p_tile_at(plan, t + 2, from, to) : next;
        const ptrdiff_t apart = sections ? later.side : pitch;
        const int share =
            sections ? (int)((2 / (1 + halves) * (long long)(run / L) + blocks - 1) / blocks) : later.lanes;
        cpu_avx_p_prefetch_list list = {batch, later.offset, later.offset + run, apart - run, apart, 0};
        for (long long i = 0; i < blocks; i++) {
            list.left += later.lanes ? share : 0;
            cpu_avx_real *slot = store + L * pace * (ptrdiff_t)((t - from) & 1 ? blocks - 1 - i : i);
            long long j = (blocks - 1 - i) * L;
            const cpu_avx_real *q = one ? batch->f + 2 * n + j : 0;
            for (int g = 0; g < 2; g++) {
                cpu_avx_real *x = batch->x + behind.offset + g * behind.side + (ptrdiff_t)j;
                const cpu_avx_vec *l = sections ? &left[g] : 0;
                if (behind.lanes < 2 * W || j + L > n) {
                    const int rows = cpu_avx_p_clip(behind.lanes - g * W);
                    cpu_avx_p_cache_line_back_part(slot, q, g, l, &last[g], x, pitch, rows, n - j);
                } else if (sections) {
                    cpu_avx_p_cache_line_back_partitions(slot, g, l, &last[g], x, pitch, plan->stream, &list);
                } else {
                    cpu_avx_p_cache_line_back_systems(slot, q, g, &last[g], x, pitch, plan->stream, &list);
                }
            }
            j = i * L;
            for (int p = 0; p < L && j < n && ahead.lanes; p += W, slot += W * pace, turn = !turn) {
                cpu_avx_p_block *here = &block[turn], *soon = &block[!turn];
                const cpu_avx_real *f = one ? batch->f + j : 0;
                j += W;
                soon->place = cpu_avx_p_place_at(plan, j < n ? &ahead : &next, j < n ? j : 0);
                if (sections)
                    cpu_avx_p_columns_partitions(here, soon, batch, pitch, slot, &now, &fill, &list);
                else if (one)
                    cpu_avx_p_columns_one(&here->place, batch, pitch, f, n, slot, &now, &list);
                else
                    cpu_avx_p_columns_own(here, soon, batch, pitch, slot, &now, &list);
            }
            cpu_avx_p_prefetch_some(&list, one, list.left);
        }
        if (sections && ahead.lanes) {
            const ptrdiff_t at = (ptrdiff_t)((n - 1) / L), row = (ptrdiff_t)((n - 1) % L);
            cpu_avx_real *slot = store + (((t - from) & 1 ? (ptrdiff_t)blocks - 1 - at : at) * L + row) * pace;
            cpu_avx_p_partitions_join(halves, &now, &fill, slot, left);
            seen[seen_now][0] = now.sound[0], seen[seen_now][1] = now.sound[1];
            if (++seen_now == SEEN || t + 1 == to) {
                const long long first = cpu_avx_p_seen_worst(plan->kind, t + 1, seen_now, seen);
                if (first < bad) bad = first;
                seen_now = 0;
            }
        }
        for (int g = 0; !sections && g < 2; g++) {
            int worst = cpu_avx_worst(now.sound[g]);
            if (bad == LLONG_MAX && worst < W) bad = ahead.first + g * W + worst;
        }
        behind = ahead;
        ahead = next;
    }
    cpu_avx_fence();
    return bad;
}
CPU_AVX_CALL long long cpu_avx_p_contiguous_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                  cpu_avx_real *store, long long from, long long to)
{
    return cpu_avx_p_contiguous_sweep(plan, batch, store, from, to, 0);
}
CPU_AVX_CALL long long cpu_avx_p_partitions_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                  cpu_avx_real *store, long long from, long long to)
{
    return cpu_avx_p_contiguous_sweep(plan, batch, store, from, to, 1);
}

#undef CPU_AVX_P_UNROLL_BOTH

#endif /* CPU_AVX_PASS */
