/* interleaved.h - a room of cpu_avx.h: interleaved systems, solved tile by tile, row by row.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_gather CPU_AVX_OF_SET(cpu_avx_p_gather)
#define cpu_avx_p_scatter CPU_AVX_OF_SET(cpu_avx_p_scatter)
#define cpu_avx_p_beyond CPU_AVX_OF_SET(cpu_avx_p_beyond)
#define cpu_avx_p_eliminate CPU_AVX_OF_SET(cpu_avx_p_eliminate)
#define cpu_avx_p_prefetch CPU_AVX_OF_SET(cpu_avx_p_prefetch)
#define cpu_avx_p_rows CPU_AVX_OF_SET(cpu_avx_p_rows)
#define cpu_avx_p_rows_of CPU_AVX_OF_SET(cpu_avx_p_rows_of)
#define cpu_avx_p_row CPU_AVX_OF_SET(cpu_avx_p_row)
#define cpu_avx_p_row_at CPU_AVX_OF_SET(cpu_avx_p_row_at)
#define cpu_avx_p_row_lanes CPU_AVX_OF_SET(cpu_avx_p_row_lanes)
#define cpu_avx_p_row_forward CPU_AVX_OF_SET(cpu_avx_p_row_forward)
#define cpu_avx_p_row_back CPU_AVX_OF_SET(cpu_avx_p_row_back)
#define cpu_avx_p_pass CPU_AVX_OF_SET(cpu_avx_p_pass)
#define cpu_avx_p_row_pair CPU_AVX_OF_SET(cpu_avx_p_row_pair)
#define cpu_avx_p_line_back CPU_AVX_OF_SET(cpu_avx_p_line_back)
#define cpu_avx_p_line_forward CPU_AVX_OF_SET(cpu_avx_p_line_forward)
#define cpu_avx_p_tile_of_few CPU_AVX_OF_SET(cpu_avx_p_tile_of_few)
#define cpu_avx_interleaved_solve CPU_AVX_OF_SET(cpu_avx_interleaved_solve)
#define cpu_avx_interleaved_solve_part CPU_AVX_OF_SET(cpu_avx_interleaved_solve_part)
#define cpu_avx_p_interleaved_worst CPU_AVX_OF_SET(cpu_avx_p_interleaved_worst)
#define cpu_avx_p_tile_solve CPU_AVX_OF_SET(cpu_avx_p_tile_solve)
#define cpu_avx_p_tiles_of CPU_AVX_OF_SET(cpu_avx_p_tiles_of)
#define cpu_avx_p_interleaved_tiles CPU_AVX_OF_SET(cpu_avx_p_interleaved_tiles)
#define cpu_avx_p_interleaved_factored CPU_AVX_OF_SET(cpu_avx_p_interleaved_factored)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Loads `valid` lanes from p on, stride elements apart; the others become 0. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_gather(const cpu_avx_real *p, ptrdiff_t stride, int valid)
{
    if (stride == 1) return valid == cpu_avx_lanes ? cpu_avx_load(p) : cpu_avx_load_part(p, valid);
    cpu_avx_vec v = cpu_avx_set(0);
    CPU_AVX_P_UNROLL
    for (int l = 0; l < cpu_avx_lanes; l++)
        if (l < valid) v[l] = p[l * stride];
    return v;
}

/* Stores `valid` lanes from p on, stride elements apart. With `stream`, whole vectors of stride 1 are stored past the
   caches. */
CPU_AVX_INLINE void cpu_avx_p_scatter(cpu_avx_real *p, ptrdiff_t stride, int valid, int stream, cpu_avx_vec v)
{
    if (stride != 1) {
        CPU_AVX_P_UNROLL
        for (int l = 0; l < cpu_avx_lanes; l++)
            if (l < valid) p[l * stride] = v[l];
    } else if (valid < cpu_avx_lanes) {
        cpu_avx_store_part(p, valid, v);
    } else if (stream) {
        cpu_avx_stream(p, v);
    } else {
        cpu_avx_store(p, v);
    }
}

/* Returns 1, a sound pivot, in the lanes from n on, and 0 in the lanes before them. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_beyond(int n)
{
    static const cpu_avx_real step[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                          1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return cpu_avx_load(step + 16 - n);
}

/* Eliminates a row: turns *c and *d of the previous row into those of this row, x[j] + c x[j+1] = d. Returns the
   pivot's reciprocal. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_eliminate(cpu_avx_vec a, cpu_avx_vec b, cpu_avx_vec cj, cpu_avx_vec dj,
                                               cpu_avx_vec *c, cpu_avx_vec *d, cpu_avx_vec *sound)
{
    cpu_avx_vec pivot = cpu_avx_fnma(a, *c, b), r = cpu_avx_rcp(pivot);
    *sound = cpu_avx_check(*sound, pivot, r);
    *c = cj * r;
    *d = cpu_avx_fnma(a, *d, dj) * r;
    return r;
}

/* Prefetches the cache lines of a, b, c and d at `at` into the second-level cache; if `first` is set, into the
   first-level cache as well. If `one` is set, all systems share one matrix, and only the line of d is prefetched. If
   `x_too` is set, also prefetches the line of x, which is then stored through the caches. */
CPU_AVX_INLINE void cpu_avx_p_prefetch(const cpu_avx_p_batch *batch, ptrdiff_t at, int one, int first, int x_too)
{
    if (x_too) CPU_AVX_P_PREFETCH(batch->x + at);
    const cpu_avx_real *const array[4] = {one ? batch->d : batch->a, batch->b, batch->c, batch->d};
    for (int i = 0; i < (one ? 1 : 4); i++)
        if (first)
            CPU_AVX_P_PREFETCH_NEAR(array[i] + at);
        else
            CPU_AVX_P_PREFETCH(array[i] + at);
}

/* The rows of a tile. c of each row is kept in the store (with one matrix it is not kept), and d in x. If x must not be
   written twice, d is kept in the store as well. Row j takes slot j of the store or, in every other tile that
   cpu_avx_p_pass solves, slot n-1-j. Behind the slots come zeros, which stand for the row before the first and the row
   after the last. After the zeros comes x of the row that was just substituted back. If the zeros came first, the kept
   rows would lie at multiples of 4 KB from rows of the arrays, and loads of the arrays would wait for stores to the
   kept rows. */
typedef struct {
    cpu_avx_p_batch arrays; /* copies, which the compiler may keep in registers */
    cpu_avx_p_plan plan;
    cpu_avx_p_tile tile;
    ptrdiff_t stride, width, room;      /* from system to system; lanes of a row; from a row's slot to the next */
    cpu_avx_real *first, *zeros, *last; /* in the store: row 0; see above */
    const cpu_avx_real *before, *after; /* x of the row before the first and of the one after the last: zeros, or
                                           separators */
    long long from, to;                 /* the first row with an a; the last with a c */
} cpu_avx_p_rows;

/* A row. A system's first row has no a and its last no c: b stands in for them, and is multiplied by zeros. If all
   systems share one matrix, l, r and q are its factors. */
typedef struct {
    const cpu_avx_real *a, *b, *c, *d;
    cpu_avx_vec l, r, q;
    cpu_avx_real *x, *kept_c, *kept_d;
    const cpu_avx_real *before_c, *before_d, *after; /* c and d kept for the row before; x of the row after */
} cpu_avx_p_row;

/* Returns the rows of a tile. `one`, a literal, says whether all systems share one matrix; `reverse` says whether row 0
   takes the last slot. */
CPU_AVX_INLINE cpu_avx_p_rows cpu_avx_p_rows_of(int one, ptrdiff_t stride, const cpu_avx_p_plan *plan,
                                                const cpu_avx_p_batch *batch, const cpu_avx_p_tile *tile, int reverse,
                                                cpu_avx_real *store)
{
    const ptrdiff_t width = (tile->valid + cpu_avx_lanes - 1) / cpu_avx_lanes * cpu_avx_lanes;
    const ptrdiff_t room = (one ? 0 : width) + (plan->apart ? width : 0);
    const int cut = !one && plan->kind == CPU_AVX_P_CUT_ROWS, above = cut && tile->offset >= plan->lines.jump;
    const ptrdiff_t n = (ptrdiff_t)plan->lines.n, step = (ptrdiff_t)plan->lines.step;
    cpu_avx_real *zeros = store + n * room, *x = batch->x + tile->offset;
    cpu_avx_p_rows rows = {*batch, *plan,         *tile, stride, width, room, store,
                           zeros,  zeros + width, zeros, zeros,  1,     n - 2};
    if (reverse) rows.first = zeros - room, rows.room = -room;
    if (above) rows.before = x - step, rows.from = 0;
    if (cut) rows.after = x + n * step, rows.to = n - 1;
    return rows;
}

/* Returns row j. */
CPU_AVX_INLINE cpu_avx_p_row cpu_avx_p_row_at(int one, const cpu_avx_p_rows *rows, long long j)
{
    const long long n = rows->plan.lines.n;
    const int apart = rows->plan.apart;
    const ptrdiff_t step = (ptrdiff_t)rows->plan.lines.step, at = rows->tile.offset + (ptrdiff_t)j * step;
    cpu_avx_p_row row;
    row.d = rows->arrays.d + at;
    row.b = one ? row.d : rows->arrays.b + at;
    row.a = one || j < rows->from ? row.b : rows->arrays.a + at;
    row.c = one || j > rows->to ? row.b : rows->arrays.c + at;
    row.l = cpu_avx_set(one ? rows->arrays.f[j] : 0);
    row.r = cpu_avx_set(one ? rows->arrays.f[n + j] : 0);
    row.q = cpu_avx_set(one ? rows->arrays.f[2 * n + j] : 0);
    row.x = rows->arrays.x + at;
    row.kept_c = rows->first + (ptrdiff_t)j * rows->room;
    row.kept_d = apart ? row.kept_c + (one ? 0 : rows->width) : row.x;
    row.before_c = j > 0 ? row.kept_c - rows->room : rows->zeros;
    row.before_d = j > 0 ? row.kept_d - (apart ? rows->room : step) : rows->before;
    row.after = apart ? rows->last : j < n - 1 ? row.x + step : rows->after;
    return row;
}

/* Eliminates `valid` lanes from system v on: turns *c and *d of the previous row into those of this row. */
CPU_AVX_INLINE void cpu_avx_p_row_lanes(int one, const cpu_avx_p_row *row, ptrdiff_t v, ptrdiff_t stride, int valid,
                                        cpu_avx_vec *c, cpu_avx_vec *d, cpu_avx_vec *sound)
{
    const ptrdiff_t at = v * stride;
    const cpu_avx_vec dj = cpu_avx_p_gather(row->d + at, stride, valid);
    if (one) {
        *d = cpu_avx_fnma(row->l, *d, row->r * dj);
        return;
    }
    cpu_avx_vec b = cpu_avx_p_gather(row->b + at, stride, valid);
    if (valid < cpu_avx_lanes) b = b + cpu_avx_p_beyond(valid);
    cpu_avx_p_eliminate(cpu_avx_p_gather(row->a + at, stride, valid), b, cpu_avx_p_gather(row->c + at, stride, valid),
                        dj, c, d, sound);
}

/* Eliminates `valid` lanes and keeps c and d. */
CPU_AVX_INLINE void cpu_avx_p_row_forward(int one, const cpu_avx_p_row *row, ptrdiff_t v, ptrdiff_t stride, int valid,
                                          cpu_avx_vec *c, cpu_avx_vec *d, cpu_avx_vec *sound)
{
    cpu_avx_p_row_lanes(one, row, v, stride, valid, c, d, sound);
    if (!one) cpu_avx_store(row->kept_c + v, *c);
    cpu_avx_p_scatter(row->kept_d + v, 1, valid, 0, *d);
}

/* Substitutes `valid` lanes back: turns *x of the next row into x of this row, and stores it. */
CPU_AVX_INLINE void cpu_avx_p_row_back(int one, const cpu_avx_p_rows *rows, const cpu_avx_p_row *row, ptrdiff_t v,
                                       int valid, cpu_avx_vec *x)
{
    const cpu_avx_vec c = one ? row->q : cpu_avx_load(row->kept_c + v);
    *x = cpu_avx_fnma(c, *x, cpu_avx_p_gather(row->kept_d + v, 1, valid));
    cpu_avx_p_scatter(row->x + v * rows->stride, rows->stride, valid, rows->plan.stream, *x);
}

/* Substitutes back `count` systems of a row, at most a cache line of them, from system v on. */
CPU_AVX_INLINE void cpu_avx_p_line_back(int one, const cpu_avx_p_rows *rows, const cpu_avx_p_row *row, ptrdiff_t v,
                                        int count)
{
    CPU_AVX_P_UNROLL
    for (int p = 0; p < CPU_AVX_P_CACHE_LINE; p += cpu_avx_lanes) {
        if (p >= count) break;
        const int valid = cpu_avx_p_clip(count - p);
        cpu_avx_vec x = cpu_avx_p_gather(row->after + v + p, 1, valid);
        cpu_avx_p_row_back(one, rows, row, v + p, valid, &x);
        if (rows->plan.apart) cpu_avx_store(rows->last + v + p, x);
    }
}

/* Eliminates `count` systems of a row, at most a cache line of them, from system v on. */
CPU_AVX_INLINE void cpu_avx_p_line_forward(int one, const cpu_avx_p_row *row, ptrdiff_t v, int count,
                                           cpu_avx_vec *sound)
{
    CPU_AVX_P_UNROLL
    for (int p = 0; p < CPU_AVX_P_CACHE_LINE; p += cpu_avx_lanes) {
        if (p >= count) break;
        const int valid = cpu_avx_p_clip(count - p);
        cpu_avx_vec c = cpu_avx_load(row->before_c + v + p), d = cpu_avx_p_gather(row->before_d + v + p, 1, valid);
        cpu_avx_p_row_forward(one, row, v + p, 1, valid, &c, &d, sound);
    }
}

/* Substitutes back row n-1-j of the tile `from`, and eliminates row j of the tile `to`; either may be null, in which
   case it must be a literal null. With to->plan.fetched it prefetches the row at `soon`, a later row of `to` or a row
   of the tile after it, a cache line at a time: requests for a whole row at once would fill the processor's queue, and
   arithmetic would wait. */
CPU_AVX_INLINE void cpu_avx_p_row_pair(int one, const cpu_avx_p_rows *from, const cpu_avx_p_rows *to, long long j,
                                       ptrdiff_t soon, cpu_avx_vec *sound)
{
    enum { line = CPU_AVX_P_CACHE_LINE };
    const cpu_avx_p_rows *some = to ? to : from;
    const cpu_avx_p_row last = cpu_avx_p_row_at(one, from ? from : some, some->plan.lines.n - 1 - j);
    const cpu_avx_p_row first = cpu_avx_p_row_at(one, some, j);
    const int valid = some->tile.valid, whole = valid / line * line;
    const int x_too = !some->plan.stream && some->arrays.x != some->arrays.d;
    for (int v = 0; v < whole; v += line) {
        if (to && to->plan.fetched) cpu_avx_p_prefetch(&to->arrays, soon + v, one, 1, x_too);
        if (from) cpu_avx_p_line_back(one, from, &last, v, line);
        if (to) cpu_avx_p_line_forward(one, &first, v, line, sound);
    }
    if (from && whole < valid) cpu_avx_p_line_back(one, from, &last, whole, valid - whole);
    if (to && whole < valid) cpu_avx_p_line_forward(one, &first, whole, valid - whole, sound);
}

/* Substitutes the tile `behind` back, from its last row to its first, and eliminates the tile `ahead`, from its first
   row to its last. The tiles are equally wide, or one is empty. Each row of `ahead` takes the slot that a row of
   `behind` has just left; `reverse` says whether row 0 of `ahead` takes the last slot. If the arrays come from memory,
   prefetches rows, which lie too far apart for the processor's own prefetching. */
CPU_AVX_INLINE void cpu_avx_p_pass(int one, const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                   const cpu_avx_p_tile *behind, const cpu_avx_p_tile *ahead, int reverse,
                                   cpu_avx_real *store, cpu_avx_vec *sound)
{
    const cpu_avx_p_rows from = cpu_avx_p_rows_of(one, 1, plan, batch, behind, !reverse, store);
    const cpu_avx_p_rows to = cpu_avx_p_rows_of(one, 1, plan, batch, ahead, reverse, store);
    const cpu_avx_p_rows *some = ahead->valid ? &to : &from;
    const ptrdiff_t rows = 1 + (CPU_AVX_P_AHEAD_BYTES / CPU_AVX_SIZE * (one ? 4 : 1) - 1) / some->width;
    const ptrdiff_t n = (ptrdiff_t)plan->lines.n, step = (ptrdiff_t)plan->lines.step, distance = rows < n ? rows : n;
    cpu_avx_vec good = *sound;
    memset(some->zeros, 0, (size_t)some->width * sizeof *store);
    memcpy(some->last, from.after, (size_t)behind->valid * sizeof *store);
    for (ptrdiff_t j = 0; j < n; j++) {
        const ptrdiff_t k = j + distance, soon = k < n ? ahead->offset + k * step : ahead->next + (k - n) * step;
        if (!ahead->valid)
            cpu_avx_p_row_pair(one, &from, 0, j, 0, &good);
        else if (!behind->valid)
            cpu_avx_p_row_pair(one, 0, &to, j, soon, &good);
        else
            cpu_avx_p_row_pair(one, &from, &to, j, soon, &good);
    }
    *sound = good;
}

/* Solves a tile of `vectors` vectors. Their c and d stay in registers from row to row. With `fetched`, the arrays come
   from memory, and later rows are prefetched. `vectors` is a literal, and so is `fetched` if stride is 1. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_tile_of_few(int one, int vectors, int fetched, ptrdiff_t stride,
                                                 const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                 const cpu_avx_p_tile *tile, cpu_avx_real *store)
{
    enum { lanes = cpu_avx_lanes, line = CPU_AVX_P_CACHE_LINE };
    const cpu_avx_p_rows rows = cpu_avx_p_rows_of(one, stride, plan, batch, tile, 0, store);
    const int last = tile->valid - (vectors - 1) * lanes, x_too = stride == 1 && rows.arrays.x != rows.arrays.d;
    const ptrdiff_t ahead = stride == 1 ? CPU_AVX_P_AHEAD_BYTES / CPU_AVX_SIZE / lanes : 2;
    cpu_avx_vec c[4], d[4], sound = cpu_avx_set(0);
    CPU_AVX_P_UNROLL
    for (int v = 0; v < vectors; v++) {
        c[v] = d[v] = cpu_avx_set(0);
        if (!rows.from) d[v] = cpu_avx_p_gather(rows.before + v * lanes, 1, v < vectors - 1 ? lanes : last);
    }
    for (long long j = 0; j < rows.plan.lines.n; j++) {
        const cpu_avx_p_row row = cpu_avx_p_row_at(one, &rows, j);
        const ptrdiff_t soon = tile->offset + (ptrdiff_t)((j + ahead) * plan->lines.step);
        for (ptrdiff_t at = 0; fetched && j + ahead < rows.plan.lines.n && at < rows.width * stride; at += line)
            cpu_avx_p_prefetch(&rows.arrays, soon + at, 0, 0, x_too);
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++)
            cpu_avx_p_row_forward(one, &row, v * lanes, stride, v < vectors - 1 ? lanes : last, &c[v], &d[v], &sound);
    }
    CPU_AVX_P_UNROLL
    for (int v = 0; v < vectors; v++) {
        d[v] = cpu_avx_set(0);
        if (rows.to == rows.plan.lines.n - 1)
            d[v] = cpu_avx_p_gather(rows.after + v * lanes, 1, v < vectors - 1 ? lanes : last);
    }
    for (long long j = rows.plan.lines.n - 1; j >= 0; j--) {
        const cpu_avx_p_row row = cpu_avx_p_row_at(one, &rows, j);
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++)
            cpu_avx_p_row_back(one, &rows, &row, v * lanes, v < vectors - 1 ? lanes : last, &d[v]);
    }
    return sound;
}

/* Solves vectors*lanes interleaved systems with the matrix whose factors cpu_avx_factor left in f. Row j lies at
   x + j step.
   Needs    vectors a literal, 1 to 4; x of any alignment
   Leaves   the solutions in x
   Cost     2 FMA + 1 mul an element; `vectors` FMAs in flight */
CPU_AVX_INLINE void cpu_avx_interleaved_solve(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step,
                                              int vectors)
{
    const cpu_avx_p_plan plan = cpu_avx_p_plan_of(n, step);
    const cpu_avx_p_batch batch = {0, 0, 0, x, f, x, 0};
    const cpu_avx_p_tile tile = {0, 0, 0, 0, vectors * cpu_avx_lanes};
    cpu_avx_p_tile_of_few(1, vectors, 0, 1, &plan, &batch, &tile, x);
}

/* Solves `systems` interleaved systems, fewer than `lanes`, in the same way.
   Needs, Leaves as cpu_avx_interleaved_solve */
CPU_AVX_INLINE void cpu_avx_interleaved_solve_part(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step,
                                                   int systems)
{
    const cpu_avx_p_plan plan = cpu_avx_p_plan_of(n, step);
    const cpu_avx_p_batch batch = {0, 0, 0, x, f, x, 0};
    const cpu_avx_p_tile tile = {0, 0, 0, 0, systems};
    cpu_avx_p_tile_of_few(1, 1, 0, 1, &plan, &batch, &tile, x);
}

/* Returns the first system with a bad pivot in a tile that has one. Eliminates the tile again, a vector at a time,
   without storing anything. */
CPU_AVX_CALL long long cpu_avx_p_interleaved_worst(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                   const cpu_avx_p_tile *tile)
{
    const ptrdiff_t stride = (ptrdiff_t)plan->lines.stride;
    const cpu_avx_p_rows rows = cpu_avx_p_rows_of(0, stride, plan, batch, tile, 0, batch->x);
    for (int v = 0; v < tile->valid; v += cpu_avx_lanes) {
        cpu_avx_vec c = cpu_avx_set(0), d = c, sound = c;
        for (long long j = 0; j < rows.plan.lines.n; j++) {
            const cpu_avx_p_row row = cpu_avx_p_row_at(0, &rows, j);
            cpu_avx_p_row_lanes(0, &row, v, stride, cpu_avx_p_clip(tile->valid - v), &c, &d, &sound);
        }
        const int worst = cpu_avx_worst(sound);
        if (worst < cpu_avx_lanes) return tile->first + v + worst;
    }
    return tile->first;
}

/* Solves a tile of up to four vectors. Rows from memory are prefetched only where this is faster: if d is kept in the
   store (tiles of at most two vectors), or if the tile is one vector of a whole cache line. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_tile_solve(int one, const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                const cpu_avx_p_tile *tile, cpu_avx_real *store)
{
    enum { lanes = cpu_avx_lanes, line = CPU_AVX_P_CACHE_LINE };
    const ptrdiff_t stride = (ptrdiff_t)plan->lines.stride;
    const int vectors = (tile->valid + lanes - 1) / lanes, pays = plan->apart || (lanes == line && vectors == 1);
    const int fetched = plan->fetched && !one && pays && stride <= line;
    if (stride != 1) return cpu_avx_p_tile_of_few(one, 1, fetched, stride, plan, batch, tile, store);
    if (vectors == 1 && fetched) return cpu_avx_p_tile_of_few(one, 1, 1, 1, plan, batch, tile, store);
    if (vectors == 1) return cpu_avx_p_tile_of_few(one, 1, 0, 1, plan, batch, tile, store);
    if (vectors == 2 && fetched) return cpu_avx_p_tile_of_few(one, 2, 1, 1, plan, batch, tile, store);
    if (vectors == 2) return cpu_avx_p_tile_of_few(one, 2, 0, 1, plan, batch, tile, store);
    if (vectors == 3) return cpu_avx_p_tile_of_few(one, 3, 0, 1, plan, batch, tile, store);
    return cpu_avx_p_tile_of_few(one, 4, 0, 1, plan, batch, tile, store);
}

/* Solves tiles `from` .. `to` - 1. Returns the first system with a bad pivot, or LLONG_MAX. If the arrays come from
   memory (plan->fetched), a wide tile is substituted back while the next, equally wide one is eliminated, so that
   memory is read and written all the time. A tile of up to four vectors counts as wide only if x is streamed. */
CPU_AVX_INLINE long long cpu_avx_p_tiles_of(int one, const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                            cpu_avx_real *store, long long from, long long to)
{
    const cpu_avx_p_tile none = {0, 0, 0, 0, 0};
    cpu_avx_p_tile behind = none;
    long long bad = LLONG_MAX;
    int reverse = 0;
    for (long long t = from; t < to || behind.valid; reverse = !reverse) {
        cpu_avx_p_tile ahead = cpu_avx_p_tile_at(plan, t, from, to);
        cpu_avx_vec sound = cpu_avx_set(0);
        const int few = ahead.valid <= 4 * cpu_avx_lanes && !plan->stream;
        ahead.next = cpu_avx_p_tile_at(plan, t + 1, from, to).offset;
        if (few && !behind.valid) {
            sound = cpu_avx_p_tile_solve(one, plan, batch, &ahead, store);
        } else {
            if (few || (behind.valid && (!plan->fetched || behind.valid != ahead.valid))) ahead = none;
            cpu_avx_p_pass(one, plan, batch, &behind, &ahead, reverse, store, &sound);
            behind = ahead;
        }
        t += ahead.valid > 0;
        if (!one && cpu_avx_worst(sound) < cpu_avx_lanes) {
            const long long worst = cpu_avx_p_interleaved_worst(plan, batch, &ahead);
            if (worst < bad) bad = worst;
        }
    }
    cpu_avx_fence();
    return bad;
}

/* Do the same for systems with distinct matrices, and for systems that share one. */
CPU_AVX_CALL long long cpu_avx_p_interleaved_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                   cpu_avx_real *store, long long from, long long to)
{
    return cpu_avx_p_tiles_of(0, plan, batch, store, from, to);
}
CPU_AVX_CALL void cpu_avx_p_interleaved_factored(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                 cpu_avx_real *store, long long from, long long to)
{
    cpu_avx_p_tiles_of(1, plan, batch, store, from, to);
}

#endif /* CPU_AVX_PASS */
