/* interleaved.h - a room of cpu_avx.h: interleaved systems, solved a tile at a time, row by row.
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
#define cpu_avx_p_row_soon CPU_AVX_OF_SET(cpu_avx_p_row_soon)
#define cpu_avx_p_tile_by_rows CPU_AVX_OF_SET(cpu_avx_p_tile_by_rows)
#define cpu_avx_p_tile_solve CPU_AVX_OF_SET(cpu_avx_p_tile_solve)
#define cpu_avx_p_tile_of_few CPU_AVX_OF_SET(cpu_avx_p_tile_of_few)
#define cpu_avx_interleaved_solve CPU_AVX_OF_SET(cpu_avx_interleaved_solve)
#define cpu_avx_interleaved_solve_part CPU_AVX_OF_SET(cpu_avx_interleaved_solve_part)
#define cpu_avx_p_interleaved_worst CPU_AVX_OF_SET(cpu_avx_p_interleaved_worst)
#define cpu_avx_p_interleaved_tiles CPU_AVX_OF_SET(cpu_avx_p_interleaved_tiles)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Loads `valid` lanes, stride elements apart. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_gather(const cpu_avx_real *p, ptrdiff_t stride, int valid)
{
    if (stride == 1) return valid == cpu_avx_lanes ? cpu_avx_load(p) : cpu_avx_load_part(p, valid);
    cpu_avx_vec v = cpu_avx_set(0);
    CPU_AVX_P_UNROLL
    for (int l = 0; l < cpu_avx_lanes; l++)
        if (l < valid) v[l] = p[l * stride];
    return v;
}

/* Stores `valid` lanes, stride elements apart. */
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
    cpu_avx_vec one = cpu_avx_set(1);
    cpu_avx_real lane[cpu_avx_lanes];
    cpu_avx_store(lane, one);
    return one - cpu_avx_load_part(lane, n);
}

/* Eliminates a row: turns *c and *d of the row before into those of this row, x[j] + c x[j+1] = d. Returns the pivot's
   reciprocal. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_eliminate(cpu_avx_vec a, cpu_avx_vec b, cpu_avx_vec cj, cpu_avx_vec dj,
                                               cpu_avx_vec *c, cpu_avx_vec *d, cpu_avx_vec *sound)
{
    cpu_avx_vec pivot = cpu_avx_fnma(a, *c, b), r = cpu_avx_rcp(pivot);
    *sound = cpu_avx_check(*sound, pivot, r);
    *c = cj * r;
    *d = cpu_avx_fnma(a, *d, dj) * r;
    return r;
}

/* Prefetches the cache lines of a, b, c and d at `at`, or of d only if all systems have `one` matrix, into the
   second-level cache; if `first`, into the first-level cache as well. If `x_too`, prefetches that of x, which is then
   stored through the caches. */
CPU_AVX_INLINE void cpu_avx_p_prefetch(const cpu_avx_p_batch *batch, ptrdiff_t at, int one, int first, int x_too)
{
    if (x_too) CPU_AVX_P_PREFETCH(batch->x + at);
    const cpu_avx_real *const array[4] = {batch->d + at, batch->a + at, batch->b + at, batch->c + at};
    for (int i = 0; i < (one ? 1 : 4); i++)
        if (first)
            CPU_AVX_P_PREFETCH_NEAR(array[i]);
        else
            CPU_AVX_P_PREFETCH(array[i]);
}

/* The rows of a tile. c of each row is kept in the store, and d in x. If x must not be written twice, d is kept in the
   store as well. Zeros at the end of the store stand for the row before the first and the row after the last. Zeros at
   the beginning would put the kept rows at multiples of 4 KB from rows of the arrays; loads of these rows would then
   wait for stores to the kept ones. */
typedef struct {
    cpu_avx_p_batch arrays; /* from the tile's first row on */
    long long n;
    ptrdiff_t step, stride; /* from row to row, from system to system */
    ptrdiff_t width, room;  /* lanes of a row; elements of the store that a row takes */
    int apart, stream;
    cpu_avx_real *store;
} cpu_avx_p_rows;

/* A row. The first row has no a and the last no c: b stands for them, and is multiplied by zeros. If all systems have
   one matrix, l, r and q are its factors. */
typedef struct {
    const cpu_avx_real *a, *b, *c, *d;
    cpu_avx_vec l, r, q;
    cpu_avx_real *x, *kept_c, *kept_d;
    const cpu_avx_real *before_c, *before_d, *after_d; /* of its neighbours */
} cpu_avx_p_row;

/* Returns the rows of a tile. `one`, a literal, says whether all systems have one matrix. */
CPU_AVX_INLINE cpu_avx_p_rows cpu_avx_p_rows_of(int one, ptrdiff_t stride, const cpu_avx_p_plan *plan,
                                                const cpu_avx_p_batch *batch, const cpu_avx_p_tile *tile,
                                                cpu_avx_real *store)
{
    const ptrdiff_t at = tile->offset, width = (tile->valid + cpu_avx_lanes - 1) / cpu_avx_lanes * cpu_avx_lanes;
    const cpu_avx_real *none = batch->d;
    const cpu_avx_p_batch arrays = {(one ? none : batch->a) + at,
                                    (one ? none : batch->b) + at,
                                    (one ? none : batch->c) + at,
                                    batch->d + at,
                                    batch->f,
                                    batch->x + at,
                                    0};
    const ptrdiff_t room = (one ? 0 : width) + (plan->apart ? width : 0);
    const cpu_avx_p_rows rows = {arrays, plan->lines.n, (ptrdiff_t)plan->lines.step, stride, width, room,
                                 plan->apart, plan->stream, store};
    return rows;
}

/* Returns row j. */
CPU_AVX_INLINE cpu_avx_p_row cpu_avx_p_row_at(int one, const cpu_avx_p_rows *rows, long long j)
{
    const long long n = rows->n;
    const ptrdiff_t own = one ? 0 : rows->width, room = rows->room;
    const ptrdiff_t at = (ptrdiff_t)j * rows->step, pitch = rows->apart ? room : rows->step;
    const cpu_avx_real *zeros = rows->store + (ptrdiff_t)n * room;
    cpu_avx_p_row row;
    row.b = rows->arrays.b + at;
    row.a = j > 0 ? rows->arrays.a + at : row.b;
    row.c = j < n - 1 ? rows->arrays.c + at : row.b;
    row.d = rows->arrays.d + at;
    row.l = cpu_avx_set(one ? rows->arrays.f[j] : 0);
    row.r = cpu_avx_set(one ? rows->arrays.f[n + j] : 0);
    row.q = cpu_avx_set(one ? rows->arrays.f[2 * n + j] : 0);
    row.x = rows->arrays.x + at;
    row.kept_c = rows->store + (ptrdiff_t)j * room;
    row.kept_d = rows->apart ? row.kept_c + own : row.x;
    row.before_c = j > 0 ? row.kept_c - room : zeros;
    row.before_d = j > 0 ? row.kept_d - pitch : zeros;
    row.after_d = j < n - 1 ? row.kept_d + pitch : zeros;
    return row;
}

/* Eliminates `valid` lanes from system v on: turns *c and *d of the row before into those of this row. */
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

/* Substitutes `valid` lanes back: turns *x of the row after into x of this row; if `keep`, stores it for the row
   before. */
CPU_AVX_INLINE void cpu_avx_p_row_back(int one, const cpu_avx_p_rows *rows, const cpu_avx_p_row *row, ptrdiff_t v,
                                       int valid, int keep, cpu_avx_vec *x)
{
    const cpu_avx_vec c = one ? row->q : cpu_avx_load(row->kept_c + v);
    *x = cpu_avx_fnma(c, *x, cpu_avx_p_gather(row->kept_d + v, 1, valid));
    if (keep || !rows->apart) cpu_avx_p_scatter(row->kept_d + v, 1, valid, 0, *x);
    if (rows->apart) cpu_avx_p_scatter(row->x + v * rows->stride, rows->stride, valid, rows->stream, *x);
}

/* Prefetches the cache lines of row j of a tile of systems with their own matrices.
   Needs    0 < stride <= CPU_AVX_P_CACHE_LINE */
CPU_AVX_INLINE void cpu_avx_p_row_soon(const cpu_avx_p_rows *rows, long long j)
{
    const ptrdiff_t at = (ptrdiff_t)j * rows->step;
    const ptrdiff_t line = CPU_AVX_P_CACHE_LINE / rows->stride;
    for (ptrdiff_t v = 0; v < rows->width; v += line)
        cpu_avx_p_prefetch(&rows->arrays, at + v * rows->stride, 0, 0, 0);
}

/* Solves a tile row by row. Prefetches rows, which lie too far apart for the processor's own prefetching. On the way
   back prefetches the first quarter of the next tile's rows, or all of them with one matrix. Each vector prefetches one
   cache line: requests for a whole row at once would fill the processor's queue, and arithmetic would wait. */
CPU_AVX_INLINE void cpu_avx_p_tile_by_rows(int one, const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                           const cpu_avx_p_tile *tile, cpu_avx_real *store, cpu_avx_vec *sound)
{
    enum { lanes = cpu_avx_lanes, line = CPU_AVX_P_CACHE_LINE };
    const cpu_avx_p_rows rows = cpu_avx_p_rows_of(one, 1, plan, batch, tile, store);
    const cpu_avx_p_batch arrays = *batch;
    const ptrdiff_t whole = tile->valid / lanes * lanes;
    const long long ahead = 1 + (CPU_AVX_P_AHEAD_BYTES / CPU_AVX_SIZE - 1) / rows.width * (one ? 4 : 1);
    const int rest = (int)(tile->valid - whole), fetched = plan->fetched;
    cpu_avx_vec good = *sound;
    memset(store + (ptrdiff_t)rows.n * rows.room, 0, (size_t)rows.width * sizeof *store);
    for (long long j = 0; j < rows.n; j++) {
        const cpu_avx_p_row row = cpu_avx_p_row_at(one, &rows, j);
        const ptrdiff_t soon = tile->offset + (ptrdiff_t)(j + ahead < rows.n ? j + ahead : j) * rows.step;
        for (ptrdiff_t v = 0; v < whole; v += lanes) {
            if (fetched && v % line == 0) cpu_avx_p_prefetch(&arrays, soon + v, one, 0, 0);
            cpu_avx_vec c = cpu_avx_load(row.before_c + v), d = cpu_avx_load(row.before_d + v);
            cpu_avx_p_row_forward(one, &row, v, 1, lanes, &c, &d, &good);
        }
        if (rest) {
            cpu_avx_vec c = cpu_avx_load(row.before_c + whole), d = cpu_avx_load_part(row.before_d + whole, rest);
            cpu_avx_p_row_forward(one, &row, whole, 1, rest, &c, &d, &good);
        }
    }
    for (long long j = rows.n - 1, k = 0; j >= 0; j--, k++) {
        const cpu_avx_p_row row = cpu_avx_p_row_at(one, &rows, j);
        const ptrdiff_t soon = tile->next + (ptrdiff_t)(one ? k : k / 4) * rows.step;
        for (ptrdiff_t v = 0; v < whole; v += lanes) {
            if (fetched && v % line == 0 && (one || v / line % 4 == k % 4))
                cpu_avx_p_prefetch(&arrays, soon + v, one, 0, 0);
            cpu_avx_vec x = cpu_avx_load(row.after_d + v);
            cpu_avx_p_row_back(one, &rows, &row, v, lanes, 1, &x);
        }
        if (rest) {
            cpu_avx_vec x = cpu_avx_load_part(row.after_d + whole, rest);
            cpu_avx_p_row_back(one, &rows, &row, whole, rest, 1, &x);
        }
    }
    *sound = good;
}

/* Solves a tile of `vectors` vectors, a literal. Their c and d stay in registers from row to row. */
CPU_AVX_INLINE void cpu_avx_p_tile_of_few(int one, int vectors, ptrdiff_t stride, const cpu_avx_p_plan *plan,
                                          const cpu_avx_p_batch *batch, const cpu_avx_p_tile *tile, cpu_avx_real *store,
                                          cpu_avx_vec *sound)
{
    enum { lanes = cpu_avx_lanes };
    const cpu_avx_p_rows rows = cpu_avx_p_rows_of(one, stride, plan, batch, tile, store);
    const int last = tile->valid - (vectors - 1) * lanes;
    const int fetched = plan->fetched && !one && stride > 1 && stride <= CPU_AVX_P_CACHE_LINE;
    cpu_avx_vec c[4], d[4], good = *sound;
    CPU_AVX_P_UNROLL
    for (int v = 0; v < vectors; v++) c[v] = d[v] = cpu_avx_set(0);
    for (long long j = 0; j < rows.n; j++) {
        const cpu_avx_p_row row = cpu_avx_p_row_at(one, &rows, j);
        if (fetched && j + 2 < rows.n) cpu_avx_p_row_soon(&rows, j + 2);
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++)
            cpu_avx_p_row_forward(one, &row, v * lanes, stride, v < vectors - 1 ? lanes : last, &c[v], &d[v], &good);
    }
    CPU_AVX_P_UNROLL
    for (int v = 0; v < vectors; v++) d[v] = cpu_avx_set(0);
    for (long long j = rows.n - 1; j >= 0; j--) {
        const cpu_avx_p_row row = cpu_avx_p_row_at(one, &rows, j);
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++)
            cpu_avx_p_row_back(one, &rows, &row, v * lanes, v < vectors - 1 ? lanes : last, 0, &d[v]);
    }
    *sound = good;
}

/* Solves vectors*lanes interleaved systems with the matrix that cpu_avx_factor left in f. Row j lies at
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
    cpu_avx_vec sound = cpu_avx_set(0);
    cpu_avx_p_tile_of_few(1, vectors, 1, &plan, &batch, &tile, x, &sound);
}

/* Solves `systems` such systems, fewer than `lanes`.
   Needs, Leaves as cpu_avx_interleaved_solve */
CPU_AVX_INLINE void cpu_avx_interleaved_solve_part(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step,
                                                   int systems)
{
    const cpu_avx_p_plan plan = cpu_avx_p_plan_of(n, step);
    const cpu_avx_p_batch batch = {0, 0, 0, x, f, x, 0};
    const cpu_avx_p_tile tile = {0, 0, 0, 0, systems};
    cpu_avx_vec sound = cpu_avx_set(0);
    cpu_avx_p_tile_of_few(1, 1, 1, &plan, &batch, &tile, x, &sound);
}

/* Returns the first system with a bad pivot in a tile that has one. Eliminates the tile again, a vector at a time,
   without storing anything. */
CPU_AVX_CALL long long cpu_avx_p_interleaved_worst(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                   const cpu_avx_p_tile *tile)
{
    const ptrdiff_t stride = (ptrdiff_t)plan->lines.stride;
    const cpu_avx_p_rows rows = cpu_avx_p_rows_of(0, stride, plan, batch, tile, batch->x);
    for (int v = 0; v < tile->valid; v += cpu_avx_lanes) {
        cpu_avx_vec c = cpu_avx_set(0), d = c, sound = c;
        for (long long j = 0; j < rows.n; j++) {
            const cpu_avx_p_row row = cpu_avx_p_row_at(0, &rows, j);
            cpu_avx_p_row_lanes(0, &row, v, stride, cpu_avx_p_clip(tile->valid - v), &c, &d, &sound);
        }
        const int worst = cpu_avx_worst(sound);
        if (worst < cpu_avx_lanes) return tile->first + v + worst;
    }
    return tile->first;
}

/* Solves a tile of any width. */
CPU_AVX_INLINE void cpu_avx_p_tile_solve(int one, const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                         const cpu_avx_p_tile *tile, cpu_avx_real *store, cpu_avx_vec *sound)
{
    const int vectors = (tile->valid + cpu_avx_lanes - 1) / cpu_avx_lanes;
    if (plan->lines.stride != 1) {
        cpu_avx_p_tile_of_few(one, 1, (ptrdiff_t)plan->lines.stride, plan, batch, tile, store, sound);
    } else if (vectors == 1) {
        cpu_avx_p_tile_of_few(one, 1, 1, plan, batch, tile, store, sound);
    } else if (vectors == 2) {
        cpu_avx_p_tile_of_few(one, 2, 1, plan, batch, tile, store, sound);
    } else if (vectors == 3) {
        cpu_avx_p_tile_of_few(one, 3, 1, plan, batch, tile, store, sound);
    } else if (vectors == 4) {
        cpu_avx_p_tile_of_few(one, 4, 1, plan, batch, tile, store, sound);
    } else {
        cpu_avx_p_tile_by_rows(one, plan, batch, tile, store, sound);
    }
}

/* Solves tiles from .. to-1, with a store of cpu_avx_p_store_len elements. Returns the first system with a bad
   pivot, or LLONG_MAX. */
CPU_AVX_CALL long long cpu_avx_p_interleaved_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                   cpu_avx_real *store, long long from, long long to)
{
    long long bad = LLONG_MAX;
    for (long long t = from; t < to; t++) {
        cpu_avx_p_tile tile = cpu_avx_p_tile_at(plan, t, from, to);
        cpu_avx_vec sound = cpu_avx_set(0);
        tile.next = cpu_avx_p_tile_at(plan, t + 1, from, to).offset;
        if (batch->f)
            cpu_avx_p_tile_solve(1, plan, batch, &tile, store, &sound);
        else
            cpu_avx_p_tile_solve(0, plan, batch, &tile, store, &sound);
        if (bad == LLONG_MAX && cpu_avx_worst(sound) < cpu_avx_lanes)
            bad = cpu_avx_p_interleaved_worst(plan, batch, &tile);
    }
    cpu_avx_fence();
    return bad;
}

#endif /* CPU_AVX_PASS */
