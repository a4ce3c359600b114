/* contiguous.h - a room of cpu_avx.h: contiguous systems by transposed tiles, a system or partition per lane. A
   partition may hold several interleaved systems.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_columns_forward CPU_AVX_OF_SET(cpu_avx_p_columns_forward)
#define cpu_avx_p_columns CPU_AVX_OF_SET(cpu_avx_p_columns)
#define cpu_avx_p_piece CPU_AVX_OF_SET(cpu_avx_p_piece)
#define cpu_avx_p_solve_rows CPU_AVX_OF_SET(cpu_avx_p_solve_rows)
#define cpu_avx_p_contiguous_factored CPU_AVX_OF_SET(cpu_avx_p_contiguous_factored)
#define cpu_avx_p_columns_back CPU_AVX_OF_SET(cpu_avx_p_columns_back)
#define cpu_avx_contiguous_solve CPU_AVX_OF_SET(cpu_avx_contiguous_solve)
#define cpu_avx_p_prefetch_some CPU_AVX_OF_SET(cpu_avx_p_prefetch_some)
#define cpu_avx_p_columns_soon CPU_AVX_OF_SET(cpu_avx_p_columns_soon)
#define cpu_avx_p_place_at CPU_AVX_OF_SET(cpu_avx_p_place_at)
#define cpu_avx_p_whole CPU_AVX_OF_SET(cpu_avx_p_whole)
#define cpu_avx_p_without_outermost CPU_AVX_OF_SET(cpu_avx_p_without_outermost)
#define cpu_avx_p_block_load CPU_AVX_OF_SET(cpu_avx_p_block_load)
#define cpu_avx_p_block_load_part CPU_AVX_OF_SET(cpu_avx_p_block_load_part)
#define cpu_avx_p_column_forward CPU_AVX_OF_SET(cpu_avx_p_column_forward)
#define cpu_avx_p_block_forward CPU_AVX_OF_SET(cpu_avx_p_block_forward)
#define cpu_avx_p_cache_line_back CPU_AVX_OF_SET(cpu_avx_p_cache_line_back)
#define cpu_avx_p_cache_line_back_part CPU_AVX_OF_SET(cpu_avx_p_cache_line_back_part)
#define cpu_avx_p_block_back CPU_AVX_OF_SET(cpu_avx_p_block_back)
#define cpu_avx_p_block_back_far CPU_AVX_OF_SET(cpu_avx_p_block_back_far)
#define cpu_avx_p_load_known CPU_AVX_OF_SET(cpu_avx_p_load_known)
#define cpu_avx_p_recurrences CPU_AVX_OF_SET(cpu_avx_p_recurrences)
#define cpu_avx_p_first_bad CPU_AVX_OF_SET(cpu_avx_p_first_bad)
#define cpu_avx_p_contiguous_sweep CPU_AVX_OF_SET(cpu_avx_p_contiguous_sweep)
#define cpu_avx_p_contiguous_tiles CPU_AVX_OF_SET(cpu_avx_p_contiguous_tiles)
#define cpu_avx_p_several_tiles CPU_AVX_OF_SET(cpu_avx_p_several_tiles)
#define cpu_avx_p_partitions_tiles CPU_AVX_OF_SET(cpu_avx_p_partitions_tiles)
#define cpu_avx_p_prefetch_list CPU_AVX_OF_SET(cpu_avx_p_prefetch_list)
#define cpu_avx_p_place CPU_AVX_OF_SET(cpu_avx_p_place)
#define cpu_avx_p_block CPU_AVX_OF_SET(cpu_avx_p_block)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Cache lines that are still to be prefetched, in the order of memory. A few at a time are prefetched between
   arithmetic operations, which would have to wait if all lines were prefetched at once. */
typedef struct {
    const cpu_avx_p_batch *batch;
    ptrdiff_t at, end;    /* the next cache line; the end of its row */
    ptrdiff_t gap, pitch; /* from that end to the beginning and to the end of the next row */
    int left;             /* cache lines that are due */
    int first, x_too;     /* see cpu_avx_p_prefetch */
} cpu_avx_p_prefetch_list;

/* Prefetches up to `count` of the cache lines that are due. */
CPU_AVX_INLINE void cpu_avx_p_prefetch_some(cpu_avx_p_prefetch_list *list, int one, int count)
{
    for (int k = 0; k < count && list->left > 0; k++, list->left--) {
        cpu_avx_p_prefetch(list->batch, list->at, one, list->first, list->x_too);
        list->at += CPU_AVX_P_CACHE_LINE;
        if (list->at == list->end) list->at += list->gap, list->end += list->pitch;
    }
}

/* Columns of a tile to be substituted back. d of column i lies in the store at slot + i stride. c is q[i] if all
   systems share one matrix; otherwise it lies 2*lanes elements after d. For partitions that a reduced system joins
   (cpu_avx_hybrid), *left is the unknown before each partition's first row, and its coefficient lies 4*lanes elements
   after d; otherwise left is null. The first column of the solution is stored at x; rows of x are pitch elements apart.
   Column i belongs to system (first + i) % systems. */
typedef struct {
    const cpu_avx_real *slot, *q;
    const cpu_avx_vec *left;
    ptrdiff_t stride, pitch;
    cpu_avx_real *x;
    int stream, systems, first;
} cpu_avx_p_columns;

/* Substitutes columns back. On entry and on return, x[2 s] is the solution in the column of system s that was
   substituted back last. */
CPU_AVX_INLINE void cpu_avx_p_columns_back(const cpu_avx_p_columns *of, int from, int columns, cpu_avx_vec *x,
                                           cpu_avx_vec *tile)
{
    cpu_avx_vec last = *x;
    int s = of->systems > 1 && columns > 0 ? (of->first + from + columns - 1) % of->systems : 0;
    CPU_AVX_P_UNROLL
    for (int i = cpu_avx_lanes - 1; i >= 0; i--) {
        if (i >= columns) continue;
        if (of->systems > 1) last = x[2 * s];
        const cpu_avx_real *at = of->slot + (from + i) * of->stride;
        const cpu_avx_vec c = of->q ? cpu_avx_set(of->q[from + i]) : cpu_avx_load(at + 2 * cpu_avx_lanes);
        cpu_avx_vec d = cpu_avx_load(at);
        if (of->left) d = cpu_avx_fnma(cpu_avx_load(at + 4 * cpu_avx_lanes), *of->left, d);
        tile[i] = last = cpu_avx_fnma(c, last, d);
        if (of->systems > 1) x[2 * s] = last, s = (s ? s : of->systems) - 1;
    }
    if (of->systems == 1) *x = last;
}

/* Substitutes back the columns of a cache line in `lanes` rows, and writes whole cache lines in the order of memory. */
CPU_AVX_INLINE void cpu_avx_p_cache_line_back(const cpu_avx_p_columns *of, cpu_avx_vec *last,
                                              cpu_avx_p_prefetch_list *list)
{
    enum { tiles = cpu_avx_p_side, lanes = cpu_avx_lanes };
    cpu_avx_vec tile[tiles][lanes];
    for (int p = tiles - 1; p >= 0; p--) {
        cpu_avx_p_columns_back(of, p * lanes, lanes, last, tile[p]);
        cpu_avx_transpose(tile[p]);
    }
    CPU_AVX_P_UNROLL
    for (int l = 0; l < lanes; l++) {
        if (l % 4 == 0) cpu_avx_p_prefetch_some(list, of->q != 0, 1);
        for (int p = 0; p < tiles; p++)
            cpu_avx_p_scatter(of->x + l * of->pitch + p * lanes, 1, lanes, of->stream, tile[p][l]);
    }
}
/* Does the same for fewer rows or columns, possibly none. */
CPU_AVX_CALL void cpu_avx_p_cache_line_back_part(cpu_avx_p_columns of, cpu_avx_vec *last, int rows, long long columns)
{
    enum { lanes = cpu_avx_lanes };
    cpu_avx_vec tile[lanes];
    for (int p = CPU_AVX_P_CACHE_LINE - lanes; p >= 0 && rows > 0; p -= lanes) {
        const int some = cpu_avx_p_clip(columns - p);
        for (int l = 0; l < lanes; l++) tile[l] = cpu_avx_set(0);
        cpu_avx_p_columns_back(&of, p, some, last, tile);
        cpu_avx_store_tile(of.x + p, of.pitch, rows, some, tile);
    }
}

/* Eliminates columns of a tile of systems that share one matrix, whose factors are l and r. *y belongs to the column
   before these on entry, and to their last column on return. */
CPU_AVX_INLINE void cpu_avx_p_columns_forward(int columns, const cpu_avx_real *l, const cpu_avx_real *r,
                                              const cpu_avx_vec *d, cpu_avx_vec *y, cpu_avx_real *slot,
                                              cpu_avx_p_prefetch_list *list)
{
    CPU_AVX_P_UNROLL
    for (int i = 0; i < columns; i++) {
        cpu_avx_p_prefetch_some(list, 1, 1);
        *y = cpu_avx_fnma(cpu_avx_set(l[i]), *y, cpu_avx_set(r[i]) * d[i]);
        cpu_avx_store(slot + i * cpu_avx_lanes, *y);
    }
}

/* A vector of contiguous systems, one per lane: the first one begins at element `at`; rows is their number, possibly
   0. */
typedef struct {
    ptrdiff_t at;
    int rows;
} cpu_avx_p_piece;

/* Eliminates the systems of `ahead` and meanwhile substitutes back those of `behind`, which the previous call
   eliminated: memory is then read and written at the same time. All systems share one matrix. Strip i is cache line i
   of each system. A strip of `ahead` takes the place in the store that a strip of `behind` has left; the order of
   strips therefore alternates from call to call (`odd`). Prefetches cache lines of the list if it has a batch. */
CPU_AVX_INLINE void cpu_avx_p_solve_rows(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                         cpu_avx_p_piece behind, cpu_avx_p_piece ahead, int odd, cpu_avx_real *store,
                                         cpu_avx_p_prefetch_list *list)
{
    enum { cache_line = CPU_AVX_P_CACHE_LINE, lanes = cpu_avx_lanes };
    const long long n = plan->n, strips = (n + cache_line - 1) / cache_line;
    const ptrdiff_t pitch = (ptrdiff_t)plan->pitch;
    const cpu_avx_real *l = batch->f, *r = l + n, *q = r + n;
    cpu_avx_vec tile[lanes], y = cpu_avx_set(0), x = y;
    for (long long i = 0; i < strips; i++) {
        cpu_avx_real *slot = store + cache_line * lanes * (ptrdiff_t)(odd ? strips - 1 - i : i);
        const long long end = (strips - 1 - i) * cache_line;
        const cpu_avx_p_columns of = {slot, q + end, 0, lanes, pitch, batch->x + behind.at + end, plan->stream, 1, 0};
        if (list->batch) list->left += lanes;
        if (behind.rows == lanes && end + cache_line <= n)
            cpu_avx_p_cache_line_back(&of, &x, list);
        else if (behind.rows)
            cpu_avx_p_cache_line_back_part(of, &x, behind.rows, n - end);
        for (long long j = i * cache_line; j < (i + 1) * cache_line && j < n && ahead.rows; j += lanes) {
            const int columns = cpu_avx_p_clip(n - j);
            cpu_avx_load_tile(batch->d + ahead.at + j, pitch, ahead.rows, columns, tile);
            if (columns == lanes)
                cpu_avx_p_columns_forward(lanes, l + j, r + j, tile, &y, slot, list);
            else
                cpu_avx_p_columns_forward(columns, l + j, r + j, tile, &y, slot, list);
            slot += lanes * lanes;
        }
    }
}

/* Solves `rows` contiguous systems, pitch elements apart, with the matrix whose factors cpu_avx_factor left in f: a
   system per lane, by transposed tiles.
   Needs    rows <= lanes; store of lanes * (n rounded up to lanes) elements, aligned to 64 bytes
   Leaves   the solutions in x
   Cost     2 FMA + 1 mul an element, and two transposes a tile */
CPU_AVX_INLINE void cpu_avx_contiguous_solve(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t pitch,
                                             int rows, cpu_avx_real *store)
{
    const cpu_avx_p_batch batch = {0, 0, 0, x, f, x, 0};
    cpu_avx_p_plan plan = cpu_avx_p_plan_of(n, 1);
    cpu_avx_p_prefetch_list none = {0, 0, 0, 0, 0, 0, 0, 0};
    plan.pitch = pitch;
    const cpu_avx_p_piece nothing = {0, 0}, all = {0, rows};
    for (int odd = 0; odd < 2; odd++)
        cpu_avx_p_solve_rows(&plan, &batch, odd ? all : nothing, odd ? nothing : all, odd, store, &none);
}

/* Returns the list of the cache lines of strip i of `tile` or, if i >= strips, of strip i % strips of `next`. These
   cache lines go into the second-level cache: long rows would evict each other from the first-level cache. */
CPU_AVX_INLINE cpu_avx_p_prefetch_list cpu_avx_p_columns_soon(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                              const cpu_avx_p_tile *tile, const cpu_avx_p_tile *next,
                                                              long long i)
{
    enum { line = CPU_AVX_P_CACHE_LINE };
    const long long strips = (plan->n + line - 1) / line;
    const cpu_avx_p_tile *of = i < strips ? tile : next;
    const ptrdiff_t at = of->offset + (ptrdiff_t)(i % strips * line), pitch = (ptrdiff_t)plan->pitch;
    const cpu_avx_p_prefetch_list list = {batch, at, at + line, pitch - line, pitch, of->valid, 0, plan->fetched};
    return list;
}

/* The position of up to `lanes` columns of a tile in the arrays. A block holds d, a, b and c of these columns as
   vectors. */
typedef struct {
    ptrdiff_t at, side, pitch; /* of the first vector's columns; from there to the second's; from row to row */
    int rows;                  /* 0: no tile */
    int columns;
    int first;  /* the number of columns in which systems begin */
    int last;   /* whether systems end in these columns */
    int kind;   /* the plan's */
    int system; /* of the first column, if a partition holds several systems */
} cpu_avx_p_place;
typedef struct {
    cpu_avx_p_place place;
    cpu_avx_vec d[2][cpu_avx_lanes], a[2][cpu_avx_lanes], b[2][cpu_avx_lanes], c[2][cpu_avx_lanes];
} cpu_avx_p_block;

/* Returns the position of the columns from j on. */
CPU_AVX_INLINE cpu_avx_p_place cpu_avx_p_place_at(const cpu_avx_p_plan *plan, const cpu_avx_p_tile *tile, long long j)
{
    cpu_avx_p_place place;
    place.at = tile->offset + (ptrdiff_t)j;
    place.side = tile->side;
    place.pitch = (ptrdiff_t)plan->pitch;
    place.rows = tile->valid;
    place.columns = cpu_avx_p_clip(plan->n - j);
    place.first = 0;
    if (plan->kind != CPU_AVX_P_CUT || tile->first % plan->lines.systems == 0)
        place.first = cpu_avx_p_clip(plan->per_lane - j);
    place.last = plan->n - j <= cpu_avx_lanes && plan->kind != CPU_AVX_P_CUT;
    place.kind = plan->kind;
    place.system = plan->per_lane > 1 ? (int)(j % plan->per_lane) : 0;
    return place;
}

/* Returns whether all lanes and columns are in use. */
CPU_AVX_INLINE int cpu_avx_p_whole(const cpu_avx_p_place *place)
{
    return place->rows == 2 * cpu_avx_lanes && place->columns == cpu_avx_lanes;
}

/* Returns v, a column of a tile's vector g (0 or 1), with 0 in the lanes in which a system begins or, if `last` is
   set, ends. The coefficients in these lanes may be anything. In a tile of systems these are all lanes. In a tile of
   partitions they are the outermost lane of each vector, or of one vector only. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_without_outermost(cpu_avx_vec v, int kind, int g, int last)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    if (kind == CPU_AVX_P_CONTIGUOUS) return zero;
    if (kind != CPU_AVX_P_TWO_SYSTEMS && g != last) return v;
    return last ? cpu_avx_down(cpu_avx_up(zero, v, 1), zero, 1) : cpu_avx_up(zero, cpu_avx_down(v, zero, 1), 1);
}

/* Loads square k of a block's 8 squares of lanes x lanes elements: the two of d, then those of a, b and c. */
CPU_AVX_INLINE void cpu_avx_p_block_load(cpu_avx_p_block *block, int k, int whole, const cpu_avx_p_batch *batch)
{
    enum { lanes = cpu_avx_lanes };
    const cpu_avx_p_place *place = &block->place;
    const int array = k / 2, g = k % 2;
    const int rows = whole ? lanes : cpu_avx_p_clip(place->rows - g * lanes), columns = whole ? lanes : place->columns;
    const cpu_avx_real *from = array == 0 ? batch->d : array == 1 ? batch->a : array == 2 ? batch->b : batch->c;
    cpu_avx_vec *v = array == 0 ? block->d[g] : array == 1 ? block->a[g] : array == 2 ? block->b[g] : block->c[g];
    CPU_AVX_P_IN_ORDER; /* else the compiler loads tiles early and runs out of registers */
    cpu_avx_load_tile(from + place->at + g * place->side, place->pitch, rows, columns, v);
    if (array == 1 && place->first) v[0] = cpu_avx_p_without_outermost(v[0], place->kind, g, 0);
    if (array == 1 && !whole)
        for (int i = 1; i < place->first; i++) v[i] = cpu_avx_p_without_outermost(v[i], place->kind, g, 0);
    if (array == 3 && place->last) v[columns - 1] = cpu_avx_p_without_outermost(v[columns - 1], place->kind, g, 1);
    if (array == 2 && rows < lanes)
        for (int i = 0; i < lanes; i++) v[i] = v[i] + cpu_avx_p_beyond(rows);
}
CPU_AVX_CALL void cpu_avx_p_block_load_part(cpu_avx_p_block *block, int k, const cpu_avx_p_batch *batch)
{
    cpu_avx_p_block_load(block, k, 0, batch);
}

/* Eliminates column i of a block, whose store begins at slot. Prefetches a cache line in odd columns. */
CPU_AVX_INLINE void cpu_avx_p_column_forward(const cpu_avx_p_block *block, int i, int columns, cpu_avx_real *slot,
                                             cpu_avx_p_chain *chain, cpu_avx_p_fill *fill,
                                             cpu_avx_p_prefetch_list *list)
{
    enum { lanes = cpu_avx_lanes };
    slot += i * cpu_avx_p_slot(fill != 0);
    if (i % 2) cpu_avx_p_prefetch_some(list, 0, 1);
    CPU_AVX_P_UNROLL
    for (int g = 0; g < 2; g++) {
        const cpu_avx_vec r = cpu_avx_p_eliminate(block->a[g][i], block->b[g][i], block->c[g][i], block->d[g][i],
                                                  &chain->c[g], &chain->d[g], &chain->sound[g]);
        cpu_avx_store(slot + (2 + g) * lanes, chain->c[g]);
        cpu_avx_store(slot + g * lanes, chain->d[g]);
        if (fill) {
            const int last = block->place.last && i == columns - 1;
            cpu_avx_p_fill_in(fill, g, last, block->a[g][i], r, chain->c[g], chain->d[g], slot + (4 + g) * lanes);
        }
    }
}

/* Eliminates a block and loads the next one. Alternates between loading one of the next block's 8 squares and
   eliminating some columns, so that shuffles fill the time in which the elimination waits for its reciprocals. If
   either block lies at an edge, takes a loop that is not unrolled. Each column continues the recurrence of its
   system, one of `systems`. The recurrence of a single system is copied to registers, because the compiler must assume
   that stores change *now. fill is null unless a reduced system joins the lanes' partitions. */
CPU_AVX_INLINE void cpu_avx_p_block_forward(int systems, const cpu_avx_p_block *block, cpu_avx_p_block *next,
                                            const cpu_avx_p_batch *batch, cpu_avx_real *slot, cpu_avx_p_chain *now,
                                            cpu_avx_p_fill *fill, cpu_avx_p_prefetch_list *list)
{
    enum { lanes = cpu_avx_lanes, prefetches = CPU_AVX_P_LANES / cpu_avx_p_side > 8 ? 2 : 1 };
    const int columns = block->place.columns;
    cpu_avx_p_chain chain = *now;
    cpu_avx_p_fill filled;
    int s = block->place.system;
    if (fill) filled = *fill;
    const int one_begins = systems == 1 || next->place.first < 2; /* the unrolled loop relies on it */
    if (cpu_avx_p_whole(&block->place) && cpu_avx_p_whole(&next->place) && one_begins) {
        CPU_AVX_P_UNROLL
        for (int k = 0; k < 8; k++) {
            cpu_avx_p_block_load(next, k, 1, batch);
            cpu_avx_p_prefetch_some(list, 0, prefetches);
            CPU_AVX_P_UNROLL
            for (int i = k * lanes / 8; i < (k + 1) * lanes / 8; i++) {
                cpu_avx_p_column_forward(block, i, lanes, slot, systems > 1 ? &now[s] : &chain, fill ? &filled : 0,
                                         list);
                if (systems > 1) s = s + 1 < systems ? s + 1 : 0;
            }
        }
    } else {
        for (int k = 0, i = 0; k < 8; k++) {
            if (next->place.rows) cpu_avx_p_block_load_part(next, k, batch);
            cpu_avx_p_prefetch_some(list, 0, prefetches);
            for (; i < (k + 1) * lanes / 8 && i < columns; i++) {
                cpu_avx_p_column_forward(block, i, columns, slot, systems > 1 ? &now[s] : &chain, fill ? &filled : 0,
                                         list);
                if (systems > 1) s = s + 1 < systems ? s + 1 : 0;
            }
        }
    }
    if (systems == 1) *now = chain;
    if (fill) *fill = filled;
}

/* Substitutes back the columns of a cache line of the tile `behind`, from column j on. */
CPU_AVX_INLINE void cpu_avx_p_block_back(int systems, const cpu_avx_p_plan *plan, const cpu_avx_p_tile *behind,
                                         long long j, const cpu_avx_real *slot, const cpu_avx_vec *left,
                                         cpu_avx_vec *last, cpu_avx_p_prefetch_list *list)
{
    enum { cache_line = CPU_AVX_P_CACHE_LINE, lanes = cpu_avx_lanes };
    for (int g = 0; g < 2; g++) {
        const cpu_avx_p_columns of = {slot + g * lanes,
                                      0,
                                      left ? &left[g] : 0,
                                      cpu_avx_p_slot(left != 0),
                                      (ptrdiff_t)plan->pitch,
                                      list->batch->x + behind->offset + g * behind->side + (ptrdiff_t)j,
                                      plan->stream,
                                      systems,
                                      systems > 1 ? (int)(j % systems) : 0};
        if (behind->valid < 2 * lanes || j + cache_line > plan->n)
            cpu_avx_p_cache_line_back_part(of, &last[g], cpu_avx_p_clip(behind->valid - g * lanes), plan->n - j);
        else
            cpu_avx_p_cache_line_back(&of, &last[g], list);
    }
}

/* Does the same for whole systems that come from memory, not from cache, in double precision with AVX-512: there a call
   is faster than inlined code. In cache, in single precision and with other sets inlined code is faster. */
CPU_AVX_CALL void cpu_avx_p_block_back_far(const cpu_avx_p_plan *plan, const cpu_avx_p_tile *behind, long long j,
                                           const cpu_avx_real *slot, cpu_avx_vec *last, cpu_avx_p_prefetch_list *list)
{
    cpu_avx_p_block_back(1, plan, behind, j, slot, 0, last, list);
}

/* If systems are cut, loads the unknown of system s before each partition of a tile or, for s = per_lane + i, the
   unknown of system i after each partition. */
CPU_AVX_CALL void cpu_avx_p_load_known(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                       const cpu_avx_p_tile *tile, int s, cpu_avx_vec *v)
{
    if (plan->kind != CPU_AVX_P_CUT) return;
    const ptrdiff_t first = (ptrdiff_t)(tile->first + tile->first / plan->lines.systems), apart = plan->per_lane;
    for (int g = 0; g < 2; g++)
        v[g] = cpu_avx_p_gather(batch->known + (first + g * cpu_avx_lanes) * apart + s, apart,
                                cpu_avx_p_clip(tile->valid - g * cpu_avx_lanes));
}

/* Starts the recurrences of each system: now[s] for the tile `ahead`, which is to be eliminated, and last[2 s] and
   last[2 s + 1] for the tile `behind`, which is to be substituted back. */
CPU_AVX_INLINE void cpu_avx_p_recurrences(int systems, const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                          const cpu_avx_p_tile *ahead, cpu_avx_p_chain *now,
                                          const cpu_avx_p_tile *behind, cpu_avx_vec *last)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    for (int s = 0; s < systems; s++) {
        const cpu_avx_p_chain none = {{zero, zero}, {zero, zero}, {zero, zero}};
        now[s] = none, last[2 * s] = last[2 * s + 1] = zero;
        cpu_avx_p_load_known(plan, batch, ahead, s, now[s].d);
        cpu_avx_p_load_known(plan, batch, behind, s + systems, &last[2 * s]);
    }
}

/* Returns the first system or partition of a tile with a bad pivot, or LLONG_MAX. If a partition holds several systems,
   returns the first system with a bad pivot in any partition of the tile. */
CPU_AVX_INLINE long long cpu_avx_p_first_bad(int systems, int kind, const cpu_avx_p_tile *tile,
                                             const cpu_avx_p_chain *now)
{
    for (int s = 0; s < systems; s++) {
        const cpu_avx_vec *sound = now[s].sound;
        const cpu_avx_real sum = cpu_avx_sum(sound[0] + sound[1]);
        if (cpu_avx_p_finite(sum) && sum < (cpu_avx_real)0.5) continue;
        const int g = cpu_avx_worst(sound[0]) == cpu_avx_lanes, worst = cpu_avx_worst(sound[g]);
        if (worst == cpu_avx_lanes) continue;
        if (systems > 1) return s;
        if (kind == CPU_AVX_P_TWO_SYSTEMS) return tile->first + g;
        return tile->first + (kind == CPU_AVX_P_ONE_SYSTEM ? 0 : g * cpu_avx_lanes + worst);
    }
    return LLONG_MAX;
}

/* Solves tiles `from` .. `to` - 1. Eliminates each tile while it substitutes the previous one back. Strip i of a tile
   is cache line i of each row, and has one or more blocks of columns. `partitions`, a literal, says whether a reduced
   system joins the partitions of a tile; it is 0 for partitions of cut systems, whose neighbours are known. In
   joined partitions cpu_avx_p_fill starts from the row x[-1] = X before the first, where X is the unknown before the
   partition. Tiles of joined partitions are small, so the tile after the next is prefetched, not the next. `systems` is
   the number of interleaved systems in each partition; where a partition holds one system, it is a literal 1. Returns
   the least of the numbers that cpu_avx_p_first_bad returns for the tiles. */
CPU_AVX_INLINE long long cpu_avx_p_contiguous_sweep(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                    cpu_avx_real *store, long long from, long long to, int partitions,
                                                    int systems)
{
    const int halves = plan->kind == CPU_AVX_P_ONE_SYSTEM;
    const int from_memory = CPU_AVX_SIZE == 8 && cpu_avx_p_side == 1 && !partitions && systems == 1 &&
                            cpu_avx_p_array_bytes(&plan->lines) >= (double)CPU_AVX_P_FAR_BYTES;
    const int big = !partitions && 2 * cpu_avx_lanes * CPU_AVX_SIZE * plan->n >= CPU_AVX_P_BIG_TILE;
    enum { cache_line = CPU_AVX_P_CACHE_LINE, lanes = cpu_avx_lanes };
    const ptrdiff_t pitch = (ptrdiff_t)plan->pitch, stride = cpu_avx_p_slot(partitions);
    long long n = plan->n, strips = (n + cache_line - 1) / cache_line, bad = LLONG_MAX;
    const long long row = (!partitions ? 1 : halves ? 2 * lanes : lanes) * n; /* elements in one piece of memory */
    const ptrdiff_t run = (ptrdiff_t)((row + cache_line - 1) / cache_line * cache_line);
    const cpu_avx_vec zero = cpu_avx_set(0), plus = cpu_avx_set(1), minus = cpu_avx_set(-1);
    cpu_avx_p_tile behind = {0, 0, 0, 0, 0}, ahead = cpu_avx_p_tile_at(plan, from, from, to);
    cpu_avx_p_block block[2];
    cpu_avx_vec left[2] = {zero, zero};
    int odd = 0;
    block[0].place = cpu_avx_p_place_at(plan, &ahead, 0);
    for (int k = 0; k < 8; k++) cpu_avx_p_block_load_part(block, k, batch);
    for (long long t = from; t <= to; t++) {
        cpu_avx_p_tile next = cpu_avx_p_tile_at(plan, t + 1, from, to);
        cpu_avx_p_chain now[CPU_AVX_P_FEW_SYSTEMS];
        cpu_avx_p_fill fill = {{minus, minus}, {plus, plus}, {zero, zero}, {zero, zero}};
        cpu_avx_vec last[2 * CPU_AVX_P_FEW_SYSTEMS];
        cpu_avx_p_recurrences(systems, plan, batch, &ahead, now, &behind, last);
        const cpu_avx_p_tile later = partitions ? cpu_avx_p_tile_at(plan, t + 2, from, to) : next;
        const ptrdiff_t apart = partitions ? later.side : pitch;
        const int share =
            partitions ? (int)((2 / (1 + halves) * (run / cache_line) + strips - 1) / strips) : later.valid;
        cpu_avx_p_prefetch_list list = {batch, later.offset, later.offset + run, apart - run, apart, 0,
                                        1,     plan->fetched};
        for (long long i = 0; i < strips; i++) {
            list.left += later.valid ? share : 0;
            if (big) list = cpu_avx_p_columns_soon(plan, batch, &ahead, &next, i + CPU_AVX_P_STRIPS_AHEAD);
            cpu_avx_real *slot = store + cache_line * stride * (ptrdiff_t)((t - from) & 1 ? strips - 1 - i : i);
            long long j = i * cache_line, end = (strips - 1 - i) * cache_line;
            if (from_memory)
                cpu_avx_p_block_back_far(plan, &behind, end, slot, last, &list);
            else
                cpu_avx_p_block_back(systems, plan, &behind, end, slot, partitions ? left : 0, last, &list);
            for (int p = 0; p < cache_line && j < n && ahead.valid; p += lanes, slot += lanes * stride, odd = !odd) {
                cpu_avx_p_block *here = &block[odd], *soon = &block[!odd];
                j += lanes;
                soon->place = cpu_avx_p_place_at(plan, j < n ? &ahead : &next, j < n ? j : 0);
                cpu_avx_p_block_forward(systems, here, soon, batch, slot, now, partitions ? &fill : 0, &list);
            }
            cpu_avx_p_prefetch_some(&list, 0, list.left);
        }
        if (partitions && ahead.valid) {
            const long long column = ((t - from) & 1 ? 0 : (strips - 1) * cache_line) + (n - 1) % cache_line;
            cpu_avx_real *slot = store + (ptrdiff_t)column * stride;
            cpu_avx_p_partitions_join(halves, now, &fill, slot, left);
        }
        const long long first = cpu_avx_p_first_bad(systems, plan->kind, &ahead, now);
        if (first < bad) bad = first;
        behind = ahead, ahead = next;
    }
    cpu_avx_fence();
    return bad;
}
/* Solves tiles `from` .. `to` - 1 of systems that share one matrix. Eliminates one vector of systems at a time, since
   there is little latency to hide. */
CPU_AVX_CALL void cpu_avx_p_contiguous_factored(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                cpu_avx_real *store, long long from, long long to)
{
    const ptrdiff_t pitch = (ptrdiff_t)plan->pitch;
    const ptrdiff_t run =
        (ptrdiff_t)((plan->n + CPU_AVX_P_CACHE_LINE - 1) / CPU_AVX_P_CACHE_LINE * CPU_AVX_P_CACHE_LINE);
    cpu_avx_p_piece behind = {0, 0};
    int odd = 0;
    for (long long t = from; t <= to; t++) {
        const cpu_avx_p_tile tile = cpu_avx_p_tile_at(plan, t, from, to),
                             next = cpu_avx_p_tile_at(plan, t + 1, from, to);
        for (int g = 0; g < 2; g++, odd = !odd) {
            const ptrdiff_t at = tile.offset + g * tile.side, soon = g ? next.offset : at + tile.side;
            const cpu_avx_p_piece ahead = {at, cpu_avx_p_clip(tile.valid - g * cpu_avx_lanes)};
            cpu_avx_p_prefetch_list list = {batch, soon, soon + run, pitch - run, pitch, 0, 1, plan->fetched};
            if (behind.rows || ahead.rows) cpu_avx_p_solve_rows(plan, batch, behind, ahead, odd, store, &list);
            behind = ahead;
        }
    }
    cpu_avx_fence();
}
CPU_AVX_CALL long long cpu_avx_p_contiguous_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                  cpu_avx_real *store, long long from, long long to)
{
    return cpu_avx_p_contiguous_sweep(plan, batch, store, from, to, 0, 1);
}
CPU_AVX_CALL long long cpu_avx_p_several_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                               cpu_avx_real *store, long long from, long long to)
{
    return cpu_avx_p_contiguous_sweep(plan, batch, store, from, to, 0, plan->per_lane);
}
CPU_AVX_CALL long long cpu_avx_p_partitions_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                  cpu_avx_real *store, long long from, long long to)
{
    return cpu_avx_p_contiguous_sweep(plan, batch, store, from, to, 1, 1);
}

#endif /* CPU_AVX_PASS */
