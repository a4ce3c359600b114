/* pipeline.h - a room of trid/batch.h: loads tiles of interleaved systems into shared memory while others are solved.
   MIT licence, see LICENSE. */

/* The shape of a kernel for interleaved systems: a block takes `systems` of them, in `parts` partitions of k rows.
   trid_p_batch_tilings (interleaved.h) says which kernels request `burst` rows at a time, and of which arrays. Each
   copy also prefetches the `ahead` bytes around it into the second-level cache. A pipelined shape also exists with
   copies in pieces of 16 bytes (in_pieces). */
template <int rows, int of_systems, int of_parts, int at_a_time, int bytes_ahead, int kind, int by_pieces = 0>
struct trid_p_batch_shape {
    static constexpr int k = rows, systems = of_systems, parts = of_parts, burst = at_a_time, ahead = bytes_ahead;
    static constexpr int threads = systems * parts;
    static constexpr bool narrow = kind == trid_p_batch_how::narrow,
                          pipelined = kind < trid_p_batch_how::unpipelined || narrow,
                          wide = kind == trid_p_batch_how::wide_clusters,
                          cluster = wide || kind == trid_p_batch_how::clusters, few = kind == trid_p_batch_how::few;
    static constexpr bool elsewhere =
        kind == trid_p_batch_how::pipelined_elsewhere || kind == trid_p_batch_how::unpipelined_elsewhere;
    static constexpr bool vectorised = by_pieces;
    typedef trid_p_batch_shape<rows, of_systems, of_parts, at_a_time, bytes_ahead, kind, pipelined> in_pieces;
};

/* Returns whether the code that is compiled here is never launched. */
template <class shape>
TB_D int trid_p_batch_is_empty(void)
{
    return (shape::cluster && !TRID_CLUSTERS) || (shape::pipelined && TRID_P_BATCH_VERSION < 80) ||
           (shape::elsewhere && TRID_P_BATCH_ALWAYS_PIPELINED(TRID_P_BATCH_VERSION));
}

/* How many threads, and how many blocks of `threads` threads, a multiprocessor has registers for. */
template <class tb_real, int k>
static constexpr int trid_p_batch_threads_for = k <= 4   ? (sizeof(tb_real) == 4 ? 1024 : 640)
                                                : k <= 8 ? (sizeof(tb_real) == 4 ? 640 : 384)
                                                         : (sizeof(tb_real) == 4 ? 512 : 256);
template <class tb_real, int k, int threads>
static constexpr int trid_p_batch_resident =
    trid_p_batch_threads_for<tb_real, k> > threads ? trid_p_batch_threads_for<tb_real, k> / threads : 1;

/* What a launch must know of a kernel. A block takes `bytes` of shared memory for mailboxes and rows on their way, and
   at most `fixed` besides. The kernel is made for `resident` blocks per multiprocessor; at least `least` must fit. */
struct trid_p_batch_needs {
    int bytes, fixed, resident, least;
};
/* How a method takes the tiles of interleaved systems. needs() takes the flags of the launch and the number of blocks
   in a cluster; solve() is the body of the kernel. The room of each method defines both. */
template <int method, class tb_real, class shape, class rows_type>
struct trid_p_batch_tiles;

/* What a thread has of a tile: rows of one system. */
struct trid_p_batch_place {
    long long at, system; /* offset of its first row; the system's index */
    int valid;            /* rows from the first one to the system's end: perhaps more than k; 0 or less: none */
    int in_batch;         /* whether there is such a system */
};
/* Returns what a thread has of system `line` of tile `index`: rows from `first` on. joins: tiles may join groups. */
template <int joins = 0>
TB_D trid_p_batch_place trid_p_batch_place_of(const trid_p_batch_plan &plan, unsigned index, int systems, int line,
                                              int first)
{
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, index, systems);
    if (joins && plan.repeat > 1) {
        const int own = line / (int)plan.lines.systems;
        tile = {(long long)index * plan.repeat + own, 0, (int)plan.lines.systems};
        if (own >= (int)plan.repeat || tile.group >= plan.lines.groups) tile.count = 0;
        line -= own * (int)plan.lines.systems;
    }
    trid_p_batch_place p;
    p.in_batch = line < tile.count;
    p.valid = p.in_batch ? plan.n - first : 0;
    p.at = tile.group * plan.lines.jump + (tile.first + line) * plan.lines.stride + first * plan.lines.step;
    p.system = tile.group * plan.lines.systems + tile.first + line;
    return p;
}
/* Returns where these rows begin in the matrix. */
template <class tb_real>
TB_D long long trid_p_batch_matrix_at(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &from,
                                      const trid_p_batch_place &p, int first)
{
    if (plan.lines.groups == 1) return p.system * from.stride + first * from.step;
    long long group = p.system / plan.lines.systems;
    return group * from.jump + (p.system - group * plan.lines.systems) * from.stride + first * from.step;
}

/* Rows on their way to shared memory while the block works on the tile before. A thread requests up to `count` rows,
   `burst` at a time, of 4 arrays (matrix and right-hand side), 3 (matrix) or 1 (right-hand side). Row j of array e of
   thread t goes to stage[(e*count + j) * threads + t]. Scalar: a thread requests its own rows, element by element.
   Vectorised: a warp requests its threads' rows in pieces of 16 bytes; a lane takes sizeof(tb_real) / 4 pieces for each
   row of the matrix with its right-hand side, or for every four rows of one array. No other warp reads these rows, so
   the block needs no barrier. `corners`: also requests a of row 0 and c of row n-1. */
template <class tb_real, class of_shape, int of_arrays, int at_a_time = of_shape::k, int of_rows = of_shape::k>
struct trid_p_batch_pipeline {
    typedef of_shape shape;
    typedef tb_real real;
    static constexpr int arrays = of_arrays, burst = at_a_time, count = of_rows;
    const trid_p_batch_plan &plan;
    const trid_p_batch_arrays<tb_real> &matrix;
    const tb_real *d;
    tb_real *stage;
    int first; /* the thread's first row */
    int part;  /* the block's number in its cluster; in checked.h, which half of a thread's rows; part 0 has row 0 */
    int corners = 0;
};
/* Scalar: where the next row of each array is. Vectorised: where the next row of each piece is. */
template <class tb_real>
struct trid_p_batch_route {
    const tb_real *from[4];
    int valid[2]; /* how many rows each piece has; scalar: only valid[0], for all arrays */
};

/* For vectorised copies, finds what piece i of this lane holds: elements of neighbouring threads, of which *thread is
   the first. *which is their array or, if there is only one array, which of four rows they are in. */
template <class tb_real, class shape>
TB_D void trid_p_batch_piece(int i, int *thread, int *which)
{
    constexpr int vector = 16 / sizeof(tb_real), width = shape::systems < 32 ? shape::systems : 32;
    constexpr int pieces = width / vector > 0 ? width / vector : 1;
    int lane = trid_warp_lane(), e = lane + 32 * i;
    *which = e / pieces % 4;
    *thread = (int)threadIdx.x - lane + e / (4 * pieces) * width + e % pieces * vector;
}
/* Returns where the thread's own rows of tile `index` are. */
template <class of>
TB_D trid_p_batch_place trid_p_batch_own_place(const of &pipeline, unsigned index)
{
    constexpr int systems = of::shape::systems;
    const int line = (int)threadIdx.x % systems;
    return trid_p_batch_place_of<of::shape::narrow>(pipeline.plan, index, systems, line, pipeline.first);
}
/* Returns a thread's route through tile `index`, given its own place. Vectorised: all arrays have the same layout. */
template <class of>
TB_D auto trid_p_batch_route_of(const of &pipeline, unsigned index, const trid_p_batch_place &own)
{
    typedef typename of::shape shape;
    typedef typename of::real tb_real;
    constexpr int arrays = of::arrays, systems = shape::systems;
    const trid_p_batch_plan &plan = pipeline.plan;
    const tb_real *from[4] = {pipeline.matrix.a, pipeline.matrix.b, pipeline.matrix.c, pipeline.d};
    trid_p_batch_route<tb_real> route;
    if (shape::vectorised) {
        TB_UNROLL
        for (int i = 0; i < (int)sizeof(tb_real) / 4; i++) {
            int thread, which;
            trid_p_batch_piece<tb_real, shape>(i, &thread, &which);
            const int first = pipeline.first + shape::k * (thread / systems - (int)threadIdx.x / systems);
            trid_p_batch_place p = trid_p_batch_place_of<shape::narrow>(plan, index, systems, thread % systems, first);
            if (arrays == 1) {
                route.from[i] = from[3] + (p.at + which * plan.lines.step);
                route.valid[i] = p.valid - which;
            } else {
                route.from[i] = (which == 0                  ? from[0]
                                 : which == 1                ? from[1]
                                 : which == 2 || arrays == 3 ? from[2]
                                                             : from[3]) +
                                p.at;
                route.valid[i] = which < arrays ? p.valid : 0;
            }
        }
        return route;
    }
    const long long at =
        arrays > 1 && own.in_batch ? trid_p_batch_matrix_at(plan, pipeline.matrix, own, pipeline.first) : 0;
    route.valid[0] = own.valid;
    TB_UNROLL
    for (int e = 0; e < arrays; e++) route.from[e] = arrays > 1 && e < 3 ? from[e] + at : from[3] + own.at;
    return route;
}

/* Requests rows j .. j + burst-1 of the route as one burst. */
template <class of, class tb_real>
TB_D void trid_p_batch_ask(const of &pipeline, int j, trid_p_batch_route<tb_real> *route)
{
    typedef typename of::shape shape;
    constexpr int arrays = of::arrays, count = of::count, burst = of::burst;
    constexpr int threads = shape::threads, ahead = shape::ahead;
    const long long step = pipeline.plan.lines.step;
    if (shape::vectorised) {
        TB_UNROLL
        for (int i = 0; i < (int)sizeof(tb_real) / 4; i++) {
            int thread, which;
            trid_p_batch_piece<tb_real, shape>(i, &thread, &which);
            tb_real *to = pipeline.stage + (which * (arrays == 1 ? 1 : count) * threads + thread);
            if (arrays == 1) {
                TB_UNROLL
                for (int r = 0; r < burst; r += 4) {
                    if (which < burst - r && j + r < route->valid[i])
                        trid_p_batch_copy<16, ahead>(&to[(j + r) * threads], route->from[i]);
                    route->from[i] += (burst - r < 4 ? burst - r : 4) * step;
                }
                continue;
            }
            int top = which == 0 && thread < shape::systems && pipeline.part == 0 && !pipeline.corners;
            int end = which == 2 && !pipeline.corners ? route->valid[i] - 1 : route->valid[i];
            if (route->valid[i] >= count) { /* all rows, as usual: comparisons only at the ends of a system */
                TB_UNROLL
                for (int r = 0; r < burst; r++) {
                    if ((j + r > 0 || !top) && (j + r < count - 1 || end >= count))
                        trid_p_batch_copy<16, ahead>(&to[(j + r) * threads], route->from[i]);
                    route->from[i] += step;
                }
            } else {
                int skip = j == 0 && top;
                if (skip) route->from[i] += step;
                TB_LOOP
                for (int r = skip; r < burst && j + r < end; r++) {
                    trid_p_batch_copy<16, ahead>(&to[(j + r) * threads], route->from[i]);
                    route->from[i] += step;
                }
            }
        }
    } else {
        tb_real *to = pipeline.stage + threadIdx.x;
        TB_LOOP
        for (int r = 0; r < burst; r++) {
            TB_UNROLL
            for (int e = 0; e < arrays; e++) {
                int top = arrays > 1 && e == 0 && j + r == 0 && threadIdx.x < shape::systems && pipeline.part == 0;
                int more = e == 2 && !pipeline.corners; /* c of the last row is not requested */
                if (j + r + more < route->valid[0] && (!top || pipeline.corners))
                    trid_p_batch_copy<sizeof(tb_real), ahead>(&to[(e * count + j + r) * threads], route->from[e]);
                route->from[e] += arrays > 1 && e < 3 ? pipeline.matrix.step : step;
            }
        }
    }
    trid_copy_commit();
}
/* Requests all `count` rows of each thread. */
template <class of>
TB_D void trid_p_batch_prefetch(const of &pipeline, unsigned index, const trid_p_batch_place &own)
{
    auto route = trid_p_batch_route_of(pipeline, index, own);
    TB_UNROLL
    for (int from = 0; from < of::count; from += of::burst) trid_p_batch_ask(pipeline, from, &route);
}
/* With ADD, requests the thread's rows of the old x, to be stored behind the others; else commits an empty burst. */
template <class of, class tb_real>
TB_D void trid_p_batch_ask_before(const of &pipeline, const trid_p_batch_place &own, const tb_real *x)
{
    typedef typename of::shape shape;
    tb_real *before = pipeline.stage + (of::arrays * shape::k * shape::threads + (int)threadIdx.x);
    x += own.at;
    if (pipeline.plan.flags & TRID_BATCH_ADD) {
        TB_UNROLL
        for (int j = 0; j < shape::k; j++) {
            if (j < own.valid) trid_p_batch_copy<sizeof(tb_real), shape::ahead>(&before[j * shape::threads], x);
            x += pipeline.plan.lines.step;
        }
    }
    trid_copy_commit();
}
/* Clears the two elements of each system that no thread requests: a of row 0 and c of row n-1. */
template <class of>
TB_D void trid_p_batch_unasked(const of &pipeline)
{
    constexpr int k = of::shape::k, threads = of::shape::threads;
    const int n = pipeline.plan.n, first = pipeline.first;
    if (first == 0) pipeline.stage[threadIdx.x] = 0;
    if (n > first && n <= first + k) pipeline.stage[(2 * k + n - 1 - first) * threads + (int)threadIdx.x] = 0;
}

/* Takes the known unknowns of this tile and requests those of the next. Only threads with the first or the last row of
   a system have any. Those of system s arrive in slot[s] and slot[systems + s]. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_next_known(int k, int systems, const rows_type &known, int first, int valid,
                                  const trid_p_batch_place &next, tb_real *slot, tb_real *end)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_known) {
        long long pitch;
        slot += (int)threadIdx.x % systems;
        end[0] = end[1] = 0;
        if (first == 0 && valid > 0) end[0] = slot[0];
        if (valid > 0 && valid <= k) end[1] = slot[systems];
        if (next.valid <= 0 || (first > 0 && next.valid > k)) return;
        const tb_real *of = known.ends + known.shares.of(next.system, &pitch);
        if (first == 0) trid_p_batch_copy<sizeof(tb_real), 0>(&slot[0], of);
        if (next.valid <= k) trid_p_batch_copy<sizeof(tb_real), 0>(&slot[systems], of + pitch);
    }
}

/* Takes rows as they arrive, burst by burst, and requests the same rows of tile `index` in their place. `others`
   bursts have been requested after those of this tile: usually one, for the old x. Rows of the matrix beyond the system
   become identity rows. known: where the known unknowns arrive. makes: the function object `rows` makes the matrix.
   early: finds the route through tile `index` before this tile's rows arrive, though that takes registers. */
template <int makes = 0, int early = 0, int others = 1, class of, class rows_type, class tb_real, int k>
TB_D void trid_p_batch_arrive(const of &pipeline, const rows_type &rows, const trid_p_batch_place &here, unsigned index,
                              const trid_p_batch_place &next, tb_real *known, tb_real *end,
                              trid_p_batch_equations<tb_real, k> *u)
{
    constexpr int threads = of::shape::threads, systems = of::shape::systems, arrays = of::arrays, burst = of::burst;
    const tb_real *own = pipeline.stage + threadIdx.x;
    trid_p_batch_route<tb_real> route;
    if (burst < k || early) route = trid_p_batch_route_of(pipeline, index, next);
    TB_UNROLL
    for (int from = 0; from < k; from += burst) {
        TRID_COPY_AWAIT(k / burst - 1 + others);
        __syncwarp(TB_FULL_WARP); /* now what other lanes requested has arrived as well */
        TB_UNROLL
        for (int j = from; j < from + burst; j++) {
            if (arrays > 1 || makes) u->a[j] = u->c[j] = 0, u->b[j] = 1;
            if (arrays != 3) u->d[j] = 0;
            if (j >= here.valid) continue;
            if (arrays > 1) {
                u->a[j] = own[j * threads];
                u->b[j] = own[(k + j) * threads];
                u->c[j] = own[(2 * k + j) * threads];
            }
            if constexpr (makes)
                trid_p_batch_rows_of(rows)(here.system, pipeline.first + j, &u->a[j], &u->b[j], &u->c[j]);
            if (arrays != 3) u->d[j] = own[(arrays / 4 * 3 * k + j) * threads];
        }
        if (from == 0) trid_p_batch_next_known(k, systems, rows, pipeline.first, here.valid, next, known, end);
        if (burst == k && !early) route = trid_p_batch_route_of(pipeline, index, next);
        __syncwarp(TB_FULL_WARP); /* now all lanes have read these rows */
        trid_p_batch_ask(pipeline, from, &route);
    }
}
/* Stores the solution or, with ADD, adds it to the old x. A pipelined kernel also requests the next tile's old x. */
template <class of, class tb_real>
TB_D void trid_p_batch_finish(const of &pipeline, const trid_p_batch_place &here, const trid_p_batch_place &next,
                              tb_real *x, tb_real *r)
{
    typedef typename of::shape shape;
    constexpr int k = shape::k, threads = shape::threads;
    const long long step = pipeline.plan.lines.step;
    if (pipeline.plan.flags & TRID_BATCH_ADD) {
        const tb_real *before = pipeline.stage + (of::arrays * k * threads + (int)threadIdx.x);
        if (shape::pipelined) TRID_COPY_AWAIT(k / of::burst);
        trid_p_batch_add(k, here.valid, shape::pipelined ? before : x + here.at, shape::pipelined ? threads : step, r);
    }
    if (shape::pipelined) trid_p_batch_ask_before(pipeline, next, x);
    trid_p_batch_scatter(k, here.valid, 0, r, step, x + here.at);
}

/* Loads the thread's rows of the matrix from memory, or makes them. Rows beyond the system are 0. Without corners, a of
   row 0 and c of row n-1 are also 0 if they come from memory. */
template <class rows_type, class tb_real, int k>
TB_D void trid_p_batch_own_rows(const trid_p_batch_plan &plan, const trid_p_batch_place &p, int first,
                                const rows_type &from, trid_p_batch_equations<tb_real, k> *own, int corners = 0)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        long long at = trid_p_batch_matrix_at(plan, from, p, first);
        trid_p_batch_gather(k, first == 0 && !corners, p.valid, from.a + at, from.step, own->a);
        trid_p_batch_gather(k, 0, p.valid, from.b + at, from.step, own->b);
        trid_p_batch_gather(k, 0, p.valid - !corners, from.c + at, from.step, own->c);
    } else {
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            own->a[j] = own->b[j] = own->c[j] = 0;
            if (j < p.valid) from(p.system, first + j, &own->a[j], &own->b[j], &own->c[j]);
        }
    }
}
