/* interleaved.h - a room of cpu_avx.h: interleaved systems, a tile of them at a time.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_load_lanes CPU_AVX_OF_SET(cpu_avx_p_load_lanes)
#define cpu_avx_p_store_lanes CPU_AVX_OF_SET(cpu_avx_p_store_lanes)
#define cpu_avx_p_interleaved_solve CPU_AVX_OF_SET(cpu_avx_p_interleaved_solve)
#define cpu_avx_interleaved_solve CPU_AVX_OF_SET(cpu_avx_interleaved_solve)
#define cpu_avx_interleaved_solve_part CPU_AVX_OF_SET(cpu_avx_interleaved_solve_part)
#define cpu_avx_p_gather CPU_AVX_OF_SET(cpu_avx_p_gather)
#define cpu_avx_p_scatter CPU_AVX_OF_SET(cpu_avx_p_scatter)
#define cpu_avx_p_beyond CPU_AVX_OF_SET(cpu_avx_p_beyond)
#define cpu_avx_p_eliminate CPU_AVX_OF_SET(cpu_avx_p_eliminate)
#define cpu_avx_p_row_forward CPU_AVX_OF_SET(cpu_avx_p_row_forward)
#define cpu_avx_p_row_back CPU_AVX_OF_SET(cpu_avx_p_row_back)
#define cpu_avx_p_row_forward_part CPU_AVX_OF_SET(cpu_avx_p_row_forward_part)
#define cpu_avx_p_row_back_part CPU_AVX_OF_SET(cpu_avx_p_row_back_part)
#define cpu_avx_p_row_soon CPU_AVX_OF_SET(cpu_avx_p_row_soon)
#define cpu_avx_p_prefetch CPU_AVX_OF_SET(cpu_avx_p_prefetch)
#define cpu_avx_p_row_both CPU_AVX_OF_SET(cpu_avx_p_row_both)
#define cpu_avx_p_interleaved_worst CPU_AVX_OF_SET(cpu_avx_p_interleaved_worst)
#define cpu_avx_p_interleaved_tiles CPU_AVX_OF_SET(cpu_avx_p_interleaved_tiles)
#define cpu_avx_p_row CPU_AVX_OF_SET(cpu_avx_p_row)
#define cpu_avx_p_eliminate_lanes CPU_AVX_OF_SET(cpu_avx_p_eliminate_lanes)
#define cpu_avx_p_row_at CPU_AVX_OF_SET(cpu_avx_p_row_at)
#define cpu_avx_p_lanes_forward CPU_AVX_OF_SET(cpu_avx_p_lanes_forward)
#define cpu_avx_p_lanes_back CPU_AVX_OF_SET(cpu_avx_p_lanes_back)
#define cpu_avx_p_few_vectors CPU_AVX_OF_SET(cpu_avx_p_few_vectors)
#define cpu_avx_p_many_vectors CPU_AVX_OF_SET(cpu_avx_p_many_vectors)
#define cpu_avx_p_rows_tiles CPU_AVX_OF_SET(cpu_avx_p_rows_tiles)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Loads `valid` lanes, which is the literal `lanes` or less. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_load_lanes(const cpu_avx_real *p, int valid)
{
    return valid == cpu_avx_lanes ? cpu_avx_load(p) : cpu_avx_load_part(p, valid);
}

/* Stores them. */
CPU_AVX_INLINE void cpu_avx_p_store_lanes(cpu_avx_real *p, int valid, cpu_avx_vec v)
{
    if (valid == cpu_avx_lanes)
        cpu_avx_store(p, v);
    else
        cpu_avx_store_part(p, valid, v);
}

/* The body of the two below, of which one has full vectors and one a vector of `valid` systems. */
CPU_AVX_INLINE void cpu_avx_p_interleaved_solve(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step,
                                                int vectors, int valid)
{
    const cpu_avx_real *l = f, *r = f + n, *q = f + 2 * n;
    cpu_avx_vec y[4];
    CPU_AVX_P_UNROLL
    for (int v = 0; v < vectors; v++) y[v] = cpu_avx_set(0);
    for (long long j = 0; j < n; j++) {
        cpu_avx_vec lj = cpu_avx_set(l[j]), rj = cpu_avx_set(r[j]);
        cpu_avx_real *row = x + j * step;
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++) {
            cpu_avx_vec d = cpu_avx_p_load_lanes(row + v * cpu_avx_lanes, valid);
            y[v] = cpu_avx_fnma(lj, y[v], cpu_avx_mul(rj, d));
            cpu_avx_p_store_lanes(row + v * cpu_avx_lanes, valid, y[v]);
        }
    }
    for (long long j = n - 2; j >= 0; j--) { /* y holds row n-1, where it is x already */
        cpu_avx_vec qj = cpu_avx_set(q[j]);
        cpu_avx_real *row = x + j * step;
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++) {
            cpu_avx_vec d = cpu_avx_p_load_lanes(row + v * cpu_avx_lanes, valid);
            y[v] = cpu_avx_fnma(qj, y[v], d);
            cpu_avx_p_store_lanes(row + v * cpu_avx_lanes, valid, y[v]);
        }
    }
}

/* Solves vectors*lanes interleaved systems of cpu_avx_factor's matrix in f; element j of them lies at x + j step.
   Needs    vectors a literal, 1 to 4; x of any alignment
   Leaves   the solutions in x
   Cost     2 FMA + 1 mul an element; `vectors` FMAs in flight */
CPU_AVX_INLINE void cpu_avx_interleaved_solve(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step,
                                              int vectors)
{
    cpu_avx_p_interleaved_solve(n, f, x, step, vectors, cpu_avx_lanes);
}

/* Solves fewer than `lanes` of them, `systems`.
   Needs, Leaves as cpu_avx_interleaved_solve */
CPU_AVX_INLINE void cpu_avx_interleaved_solve_part(long long n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step,
                                                   int systems)
{
    cpu_avx_p_interleaved_solve(n, f, x, step, 1, systems);
}

/* Loads `valid` lanes, stride elements apart. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_gather(const cpu_avx_real *p, ptrdiff_t stride, int valid)
{
    if (stride == 1) return cpu_avx_p_load_lanes(p, valid);
    cpu_avx_real lane[cpu_avx_lanes] = {0};
    for (int l = 0; l < valid; l++) lane[l] = p[l * stride];
    return cpu_avx_load(lane);
}

/* Stores them. */
CPU_AVX_INLINE void cpu_avx_p_scatter(cpu_avx_real *p, ptrdiff_t stride, int valid, int stream, cpu_avx_vec v)
{
    if (stride == 1 && stream && valid == cpu_avx_lanes) {
        cpu_avx_stream(p, v);
    } else if (stride == 1) {
        cpu_avx_p_store_lanes(p, valid, v);
    } else {
        cpu_avx_real lane[cpu_avx_lanes];
        cpu_avx_store(lane, v);
        for (int l = 0; l < valid; l++) p[l * stride] = lane[l];
    }
}

/* Returns 1 in the lanes from n on, which is a pivot there, else 0. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_beyond(int n)
{
    cpu_avx_vec one = cpu_avx_set(1);
    cpu_avx_real lane[cpu_avx_lanes];
    cpu_avx_store(lane, one);
    return cpu_avx_sub(one, cpu_avx_load_part(lane, n));
}

/* Eliminates a row: *c and *d of the row before become those of this one, x[j] + c x[j+1] = d. Returns the pivot's
   reciprocal. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_eliminate(cpu_avx_vec a, cpu_avx_vec b, cpu_avx_vec cj, cpu_avx_vec dj,
                                               cpu_avx_vec *c, cpu_avx_vec *d, cpu_avx_vec *sound)
{
    cpu_avx_vec pivot = cpu_avx_fnma(a, *c, b), r = cpu_avx_rcp(pivot);
    *sound = cpu_avx_check(*sound, pivot, r);
    *c = cpu_avx_mul(cj, r);
    *d = cpu_avx_mul(cpu_avx_fnma(a, *d, dj), r);
    return r;
}

/* Row j of the tile ahead and row n-1-j of the tile behind. With one matrix for all systems there are l, r and q for
   a, b and c, and y for c and d in the store. */
typedef struct {
    const cpu_avx_real *a, *b, *c, *d; /* ahead: row j */
    cpu_avx_vec l, r, q;               /* one matrix: row j of l and r, row n-1-j of q */
    const cpu_avx_real *before;        /* c and d of row j-1, as the store has them */
    cpu_avx_real *slot;                /* where c and d of row n-1-j are taken from and those of row j go */
    cpu_avx_real *last;                /* behind: x of row n-j, to become that of row n-1-j */
    cpu_avx_real *x;                   /* where that goes */
    ptrdiff_t soon[2], rest;           /* what is prefetched for column v: v + soon[v >= rest] */
    ptrdiff_t width;
} cpu_avx_p_row;

/* Eliminates a vector of row j. */
CPU_AVX_INLINE void cpu_avx_p_row_forward(const cpu_avx_p_row *row, ptrdiff_t stride, int one, int v, int valid,
                                          cpu_avx_vec *sound)
{
    ptrdiff_t at = v * stride;
    if (one) {
        cpu_avx_vec y = cpu_avx_mul(row->r, cpu_avx_p_gather(row->d + at, stride, valid));
        y = cpu_avx_fnma(row->l, cpu_avx_load(row->before + v), y);
        cpu_avx_store(row->slot + v, y);
        return;
    }
    cpu_avx_vec a = cpu_avx_p_gather(row->a + at, stride, valid);
    cpu_avx_vec b = cpu_avx_p_gather(row->b + at, stride, valid);
    cpu_avx_vec cj = cpu_avx_p_gather(row->c + at, stride, valid);
    cpu_avx_vec dj = cpu_avx_p_gather(row->d + at, stride, valid);
    if (valid < cpu_avx_lanes) b = cpu_avx_add(b, cpu_avx_p_beyond(valid));
    cpu_avx_vec c = cpu_avx_load(row->before + v);
    cpu_avx_vec d = cpu_avx_load(row->before + row->width + v);
    cpu_avx_p_eliminate(a, b, cj, dj, &c, &d, sound);
    cpu_avx_store(row->slot + v, c);
    cpu_avx_store(row->slot + row->width + v, d);
}

/* Substitutes a vector of row n-1-j back: x[j] = d - c x[j+1]. */
CPU_AVX_INLINE void cpu_avx_p_row_back(const cpu_avx_p_row *row, ptrdiff_t stride, int one, int v, int valid,
                                       int stream)
{
    cpu_avx_vec c = one ? row->q : cpu_avx_load(row->slot + v);
    cpu_avx_vec x = cpu_avx_load(row->slot + (one ? 0 : row->width) + v);
    x = cpu_avx_fnma(c, cpu_avx_load(row->last + v), x);
    cpu_avx_store(row->last + v, x);
    cpu_avx_p_scatter(row->x + v * stride, stride, valid, stream, x);
}

/* The same for less than a vector, or lanes that are not neighbours. */
CPU_AVX_CALL void cpu_avx_p_row_forward_part(const cpu_avx_p_row *row, ptrdiff_t stride, int one, int v, int valid,
                                             cpu_avx_vec *sound)
{
    cpu_avx_p_row_forward(row, stride, one, v, valid, sound);
}
CPU_AVX_CALL void cpu_avx_p_row_back_part(const cpu_avx_p_row *row, ptrdiff_t stride, int one, int v, int valid)
{
    cpu_avx_p_row_back(row, stride, one, v, valid, 0);
}

/* Returns where the row that is `ahead` rows after row j of a tile lies, in this or the next one; anywhere, if there
   is none. */
CPU_AVX_INLINE ptrdiff_t cpu_avx_p_row_soon(const cpu_avx_p_plan *plan, const cpu_avx_p_tile *tile,
                                            const cpu_avx_p_tile *next, long long j, long long ahead)
{
    const long long n = plan->lines.n, row = j + ahead, beyond = row - n;
    if (row < n) return tile->offset + (ptrdiff_t)(row * plan->lines.step);
    if (beyond < n && next->valid == tile->valid) return next->offset + (ptrdiff_t)(beyond * plan->lines.step);
    return tile->offset + (ptrdiff_t)(j * plan->lines.step);
}

/* Prefetches the cache lines at `at` of all arrays, of d alone where there is one matrix, into the second-level cache;
   if `first`, into the first as well. */
CPU_AVX_INLINE void cpu_avx_p_prefetch(const cpu_avx_p_batch *batch, ptrdiff_t at, int one, int first)
{
    const cpu_avx_real *const array[4] = {batch->d + at, batch->a + at, batch->b + at, batch->c + at};
    for (int i = 0; i < (one ? 1 : 4); i++)
        if (first)
            CPU_AVX_P_PREFETCH_NEAR(array[i]);
        else
            CPU_AVX_P_PREFETCH(array[i]);
}

/* Substitutes row n-1-j of the tile behind back, of so many systems, and eliminates row j of the tile ahead. */
CPU_AVX_INLINE void cpu_avx_p_row_both(const cpu_avx_p_row *row, const cpu_avx_p_batch *batch, ptrdiff_t stride,
                                       int one, int behind, int ahead, int stream, cpu_avx_vec *sound)
{
    enum { cache_line = CPU_AVX_P_CACHE_LINE, lanes = cpu_avx_lanes };
    int v = 0, back;
    for (; stride == 1 && v + cache_line <= behind && v + cache_line <= ahead; v += cache_line) {
        cpu_avx_p_prefetch(batch, v + row->soon[v >= row->rest], one, 1);
        CPU_AVX_P_UNROLL
        for (int p = 0; p < cache_line; p += lanes) cpu_avx_p_row_back(row, 1, one, v + p, lanes, stream);
        CPU_AVX_P_UNROLL
        for (int p = 0; p < cache_line; p += lanes) cpu_avx_p_row_forward(row, 1, one, v + p, lanes, sound);
    }
    /* All of the tile behind first: what the tile ahead has to store may lie across its last lanes. */
    for (back = v; stride == 1 && back + lanes <= behind; back += lanes)
        cpu_avx_p_row_back(row, 1, one, back, lanes, stream);
    if (back < behind) cpu_avx_p_row_back_part(row, stride, one, back, behind - back);
    for (; stride == 1 && v + lanes <= ahead; v += lanes) cpu_avx_p_row_forward(row, 1, one, v, lanes, sound);
    if (v < ahead) cpu_avx_p_row_forward_part(row, stride, one, v, ahead - v, sound);
}

/* Returns the first system of the tile that has met a bad pivot, known to be there: a vector at a time, pivots
   alone. */
CPU_AVX_CALL long long cpu_avx_p_interleaved_worst(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                   cpu_avx_p_tile tile)
{
    ptrdiff_t step = (ptrdiff_t)plan->lines.step, stride = (ptrdiff_t)plan->lines.stride;
    for (int v = 0; v < tile.valid; v += cpu_avx_lanes) {
        int valid = tile.valid - v < cpu_avx_lanes ? tile.valid - v : cpu_avx_lanes;
        cpu_avx_vec c = cpu_avx_set(0), d = c, sound = c;
        for (long long j = 0; j < plan->lines.n; j++) {
            ptrdiff_t at = tile.offset + (ptrdiff_t)j * step + v * stride;
            cpu_avx_vec b = cpu_avx_p_gather(batch->b + at, stride, valid), a = b, cj = b;
            if (j > 0) a = cpu_avx_p_gather(batch->a + at, stride, valid);
            if (j < plan->lines.n - 1) cj = cpu_avx_p_gather(batch->c + at, stride, valid);
            b = cpu_avx_add(b, cpu_avx_p_beyond(valid));
            cpu_avx_p_eliminate(a, b, cj, d, &c, &d, &sound);
        }
        int worst = cpu_avx_worst(sound);
        if (worst < cpu_avx_lanes) return tile.first + v + worst;
    }
    return tile.first;
}

/* Solves tiles from .. to-1, with a store of cpu_avx_p_store_len elements. Returns the first system with a bad
   pivot, or LLONG_MAX. */
CPU_AVX_INLINE long long cpu_avx_p_interleaved_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                     cpu_avx_real *store, long long from, long long to,
                                                     ptrdiff_t stride, int one)
{
    long long n = plan->lines.n, bad = LLONG_MAX;
    ptrdiff_t step = (ptrdiff_t)plan->lines.step;
    ptrdiff_t width = ((ptrdiff_t)plan->width + CPU_AVX_P_CACHE_LINE - 1) / CPU_AVX_P_CACHE_LINE * CPU_AVX_P_CACHE_LINE;
    cpu_avx_real *zeros = store, *slots = store + 3 * width;
    for (ptrdiff_t i = 0; i < 2 * width; i++) zeros[i] = 0;
    cpu_avx_p_row row;
    row.width = width;
    row.last = store + 2 * width;
    row.a = row.b = row.c = 0;
    row.l = row.r = row.q = cpu_avx_set(0);
    cpu_avx_p_tile behind = {0, 0, 0, 0}, ahead = cpu_avx_p_tile_at(plan, from, from, to);
    for (long long t = from; t <= to; t++) {
        cpu_avx_p_tile next = cpu_avx_p_tile_at(plan, t + 1, from, to);
        cpu_avx_vec sound = cpu_avx_set(0);
        /* So many rows and columns ahead. The last columns of a row are as many ahead of the first ones of the next. */
        const ptrdiff_t reach = CPU_AVX_P_PREFETCH_BYTES / CPU_AVX_SIZE / (one ? 1 : 4),
                        valid = ahead.valid > 0 ? ahead.valid : 1;
        const ptrdiff_t rows = reach / valid, columns = reach % valid;
        row.rest = valid - columns;
        row.before = zeros;
        for (ptrdiff_t i = 0; i < width; i++) row.last[i] = 0;
        for (long long j = 0; j < n; j++) {
            ptrdiff_t at = ahead.offset + (ptrdiff_t)j * step;
            row.soon[0] = cpu_avx_p_row_soon(plan, &ahead, &next, j, rows) + columns;
            row.soon[1] = cpu_avx_p_row_soon(plan, &ahead, &next, j, rows + 1) - row.rest;
            if (one) {
                row.l = cpu_avx_set(batch->f[j]);
                row.r = cpu_avx_set(batch->f[n + j]);
                row.q = cpu_avx_set(batch->f[2 * n + (n - 1 - j)]);
            } else {
                row.b = batch->b + at; /* stands in for what is not to be read, and meets zeros */
                row.a = j > 0 ? batch->a + at : row.b;
                row.c = j < n - 1 ? batch->c + at : row.b;
            }
            row.d = batch->d + at;
            row.x = batch->x + behind.offset + (ptrdiff_t)(n - 1 - j) * step;
            row.slot = slots + 2 * width * (ptrdiff_t)((t - from) & 1 ? n - 1 - j : j);
            cpu_avx_p_row_both(&row, batch, stride, one, behind.valid, ahead.valid, plan->stream, &sound);
            row.before = row.slot;
        }
        if (!one && bad == LLONG_MAX && cpu_avx_worst(sound) < cpu_avx_lanes)
            bad = cpu_avx_p_interleaved_worst(plan, batch, ahead);
        behind = ahead;
        ahead = next;
    }
    cpu_avx_fence();
    return bad;
}

/* Loads `valid` lanes at i of a row and eliminates them: *c and *d of the row before become those of this one. b
   stands in for what is not to be read, and meets zeros or does not matter. */
CPU_AVX_INLINE void cpu_avx_p_eliminate_lanes(const cpu_avx_p_batch *row, ptrdiff_t i, int valid, cpu_avx_vec *c,
                                              cpu_avx_vec *d, cpu_avx_vec *sound)
{
    cpu_avx_vec b = cpu_avx_p_load_lanes(row->b + i, valid);
    if (valid < cpu_avx_lanes) b = cpu_avx_add(b, cpu_avx_p_beyond(valid));
    cpu_avx_p_eliminate(cpu_avx_p_load_lanes(row->a + i, valid), b, cpu_avx_p_load_lanes(row->c + i, valid),
                        cpu_avx_p_load_lanes(row->d + i, valid), c, d, sound);
    cpu_avx_p_store_lanes(row->x + i, valid, *d);
}

/* Returns row j of n at `at`, with b for the a and the c that it does not have. */
CPU_AVX_INLINE cpu_avx_p_batch cpu_avx_p_row_at(const cpu_avx_p_batch *batch, ptrdiff_t at, long long j, long long n)
{
    const cpu_avx_real *b = batch->b + at;
    const cpu_avx_p_batch row = {j > 0 ? batch->a + at : b, b, j < n - 1 ? batch->c + at : b, batch->d + at, 0,
                                 batch->x + at, 0};
    return row;
}

/* Eliminates n rows of a literal number of vectors of systems, of the last of which `valid` lanes are there, and
   substitutes back: d stays in x, c in the store. */
CPU_AVX_INLINE void cpu_avx_p_few_vectors(int vectors, int valid, long long n, ptrdiff_t step,
                                          const cpu_avx_p_batch *batch, ptrdiff_t at, cpu_avx_real *store,
                                          cpu_avx_vec *sound)
{
    enum { lanes = cpu_avx_lanes };
    cpu_avx_vec c[4], d[4];
    CPU_AVX_P_UNROLL
    for (int v = 0; v < vectors; v++) c[v] = d[v] = cpu_avx_set(0);
    for (long long j = 0; j < n; j++, at += step, store += vectors * lanes) {
        const cpu_avx_p_batch row = cpu_avx_p_row_at(batch, at, j, n);
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++) {
            cpu_avx_p_eliminate_lanes(&row, v * lanes, v < vectors - 1 ? lanes : valid, &c[v], &d[v], sound);
            cpu_avx_store(store + v * lanes, c[v]);
        }
    }
    at -= step, store -= vectors * lanes;
    for (long long j = n - 2; j >= 0; j--) {
        at -= step, store -= vectors * lanes;
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++) {
            cpu_avx_real *x = batch->x + at + v * lanes;
            const int some = v < vectors - 1 ? lanes : valid;
            d[v] = cpu_avx_fnma(cpu_avx_load(store + v * lanes), d[v], cpu_avx_p_load_lanes(x, some));
            cpu_avx_p_store_lanes(x, some, d[v]);
        }
    }
}

/* Eliminates `valid` lanes at v of a row, after the row whose c is at `before`, in the store, and whose d lies at
   x_before. */
CPU_AVX_INLINE void cpu_avx_p_lanes_forward(const cpu_avx_p_batch *row, ptrdiff_t v, int valid,
                                            const cpu_avx_real *before, const cpu_avx_real *x_before,
                                            cpu_avx_real *store, cpu_avx_vec *sound)
{
    cpu_avx_vec c = cpu_avx_load(before + v), d = cpu_avx_p_load_lanes(x_before + v, valid);
    cpu_avx_p_eliminate_lanes(row, v, valid, &c, &d, sound);
    cpu_avx_store(store + v, c);
}

/* Substitutes `valid` lanes back. */
CPU_AVX_INLINE void cpu_avx_p_lanes_back(cpu_avx_real *x, ptrdiff_t step, int valid, const cpu_avx_real *store)
{
    const cpu_avx_vec after = cpu_avx_p_load_lanes(x + step, valid), d = cpu_avx_p_load_lanes(x, valid);
    cpu_avx_p_store_lanes(x, valid, cpu_avx_fnma(cpu_avx_load(store), after, d));
}

/* Does the same with any number of systems, row by row; the store begins with a row of zeros. */
CPU_AVX_INLINE void cpu_avx_p_many_vectors(int systems, long long n, ptrdiff_t step, const cpu_avx_p_batch *batch,
                                           ptrdiff_t at, cpu_avx_real *store, cpu_avx_vec *sound)
{
    enum { lanes = cpu_avx_lanes };
    const ptrdiff_t width = (systems + lanes - 1) / lanes * lanes, whole = systems / lanes * lanes;
    const int rest = (int)(systems - whole);
    const cpu_avx_real *x_before = store;
    cpu_avx_vec good = *sound;
    memset(store, 0, (size_t)width * sizeof *store);
    for (long long j = 0; j < n; j++, at += step) {
        const cpu_avx_p_batch row = cpu_avx_p_row_at(batch, at, j, n);
        const cpu_avx_real *before = store;
        store += width;
        for (ptrdiff_t v = 0; v < whole; v += lanes)
            cpu_avx_p_lanes_forward(&row, v, lanes, before, x_before, store, &good);
        if (rest) cpu_avx_p_lanes_forward(&row, whole, rest, before, x_before, store, &good);
        x_before = row.x;
    }
    at -= step;
    for (long long j = n - 2; j >= 0; j--) {
        cpu_avx_real *x = batch->x + (at -= step);
        store -= width;
        for (ptrdiff_t v = 0; v < whole; v += lanes) cpu_avx_p_lanes_back(x + v, step, lanes, store + v);
        if (rest) cpu_avx_p_lanes_back(x + whole, step, rest, store + whole);
    }
    *sound = good;
}

/* Solves tiles of interleaved systems one after the other. Returns as cpu_avx_p_interleaved_tiles. */
CPU_AVX_CALL long long cpu_avx_p_rows_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                            cpu_avx_real *store, long long from, long long to)
{
    enum { lanes = cpu_avx_lanes };
    const long long n = plan->lines.n;
    const ptrdiff_t step = (ptrdiff_t)plan->lines.step;
    long long bad = LLONG_MAX;
    for (long long t = from; t < to; t++) {
        const cpu_avx_p_tile tile = cpu_avx_p_tile_at(plan, t, from, to);
        const int last = (tile.valid - 1) % lanes + 1;
        cpu_avx_vec sound = cpu_avx_set(0);
        if (tile.valid > 4 * lanes)
            cpu_avx_p_many_vectors(tile.valid, n, step, batch, tile.offset, store, &sound);
        else if (tile.valid > 3 * lanes)
            cpu_avx_p_few_vectors(4, last, n, step, batch, tile.offset, store, &sound);
        else if (tile.valid > 2 * lanes)
            cpu_avx_p_few_vectors(3, last, n, step, batch, tile.offset, store, &sound);
        else if (tile.valid > lanes)
            cpu_avx_p_few_vectors(2, last, n, step, batch, tile.offset, store, &sound);
        else
            cpu_avx_p_few_vectors(1, last, n, step, batch, tile.offset, store, &sound);
        if (bad == LLONG_MAX && cpu_avx_worst(sound) < lanes) bad = cpu_avx_p_interleaved_worst(plan, batch, tile);
    }
    return bad;
}

#endif /* CPU_AVX_PASS */
