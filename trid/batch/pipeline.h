/* pipeline.h - a room of trid/batch.h: tiles of interleaved systems on their way into shared memory.
   MIT licence, see LICENSE. */

/* What a thread has of a tile: rows of one system. */
struct trid_p_batch_place {
    long long at, matrix, system; /* offsets of its first row, and of that of the matrix; the system's index */
    int valid;                    /* rows, up to the system's end */
    int in_batch;                 /* whether there is such a system */
};
/* Returns the place of system `line` of a tile, rows from `first` on. */
TB_D trid_p_batch_place trid_p_batch_place_of(const trid_p_batch_plan &plan, unsigned index, int systems, int line,
                                              int first)
{
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, index, systems);
    trid_p_batch_place p;
    p.in_batch = line < tile.count;
    p.valid = p.in_batch ? plan.n - first : 0;
    p.at = tile.group * plan.lines.jump + (tile.first + line) * plan.lines.stride + first * plan.lines.step;
    p.system = tile.group * plan.lines.systems + tile.first + line;
    return p;
}
/* Computes the place again, instead of keeping it. */
TB_D trid_p_batch_place trid_p_batch_place_again(const trid_p_batch_plan &plan, unsigned index, int systems, int line,
                                                 int first)
{
    return trid_p_batch_place_of(plan, (unsigned)trid_p_batch_again_as((int)index), systems, line, first);
}
/* Returns where the place's rows of the matrix begin. */
template <class tb_real>
TB_D long long trid_p_batch_matrix_at(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &from,
                                      const trid_p_batch_place &p, int first)
{
    if (plan.lines.groups == 1) return p.system * from.stride + first * from.step;
    long long group = p.system / plan.lines.systems;
    return group * from.jump + (p.system - group * plan.lines.systems) * from.stride + first * from.step;
}

/* How tiles arrive. Shared memory holds what is on its way, registers what is being solved: the next tile arrives while
   the block works on this one. A thread asks for up to k rows, one after another, of 4 arrays (the matrix and the
   right-hand side), 3 (the matrix) or 1 (the right-hand side); row j of array e of thread t goes to stage[(e*k + j) *
   systems*parts + t]. scalar: each thread asks for its own rows, element by element. vectorised: a warp asks for the
   rows of its threads in pieces of 16 bytes, sizeof(tb_real) / 4 of them a lane for a row of the matrix and its
   right-hand side, or for four rows of one array. No other warp reads them, so that no barrier of the block is needed.
   Nobody asks for a of row 0 and c of row n-1. The way is a parameter of the kernels, or each would have the code of
   all three. */
enum { TRID_P_BATCH_UNPIPELINED, TRID_P_BATCH_SCALAR, TRID_P_BATCH_VECTORISED };

template <class tb_real>
struct trid_p_batch_route {
    const tb_real *from[4]; /* where the next row is; scalar: of each array, vectorised: of each piece */
    int valid[2];           /* rows, in all; scalar: the first */
    int part = 0;           /* of a cluster, or of its rows: the first has row 0 */
};

/* Finds, for vectorised copies, the thread with whose elements piece i of this lane begins, and the array, or the row
   of four. */
template <class tb_real, int systems>
TB_D void trid_p_batch_piece(int i, int *thread, int *which)
{
    enum {
        vector = 16 / sizeof(tb_real),
        width = systems < 32 ? systems : 32,
        pieces = width / vector > 0 ? width / vector : 1
    };
    int lane = trid_warp_lane(), e = lane + 32 * i;
    *which = e / pieces % 4;
    *thread = (int)threadIdx.x - lane + e / (4 * pieces) * width + e % pieces * vector;
}
/* Returns a thread's route. Arrays of vectorised copies lie alike. */
template <class tb_real, int k, int systems, int arrays, int pipelined>
TB_D trid_p_batch_route<tb_real> trid_p_batch_route_of(const trid_p_batch_plan &plan,
                                                       const trid_p_batch_arrays<tb_real> &rows, unsigned index,
                                                       const trid_p_batch_place &own, int first, const tb_real *d)
{
    trid_p_batch_route<tb_real> route;
    if (pipelined == TRID_P_BATCH_VECTORISED) {
        TB_UNROLL
        for (int i = 0; i < (int)sizeof(tb_real) / 4; i++) {
            int thread, which;
            trid_p_batch_piece<tb_real, systems>(i, &thread, &which);
            trid_p_batch_place p = trid_p_batch_place_of(plan, index, systems, thread % systems,
                                                         first + k * (thread / systems - (int)threadIdx.x / systems));
            if (arrays == 1) {
                route.from[i] = d + (p.at + which * plan.lines.step);
                route.valid[i] = p.valid - which;
            } else {
                route.from[i] = (which == 0                  ? rows.a
                                 : which == 1                ? rows.b
                                 : which == 2 || arrays == 3 ? rows.c
                                                             : d) +
                                p.at;
                route.valid[i] = which < arrays ? p.valid : 0;
            }
        }
    } else if (arrays == 1) {
        route.from[0] = d + own.at;
        route.valid[0] = own.valid;
    } else {
        long long at = own.in_batch ? trid_p_batch_matrix_at(plan, rows, own, first) : 0;
        route.from[0] = rows.a + at;
        route.from[1] = rows.b + at;
        route.from[2] = rows.c + at;
        if (arrays == 4) route.from[3] = d + own.at;
        route.valid[0] = own.valid;
    }
    return route;
}

/* Asks for rows j .. j + burst-1 of the route, as one group; rows of the matrix are step elements apart. */
template <class tb_real, int k, int systems, int parts, int burst, int ahead, int arrays, int pipelined>
TB_D void trid_p_batch_ask(const trid_p_batch_plan &plan, long long step, int j, trid_p_batch_route<tb_real> *route,
                           tb_real *stage)
{
    if (pipelined == TRID_P_BATCH_VECTORISED) {
        TB_UNROLL
        for (int i = 0; i < (int)sizeof(tb_real) / 4; i++) {
            int thread, which;
            trid_p_batch_piece<tb_real, systems>(i, &thread, &which);
            tb_real *to = stage + (which * (arrays == 1 ? 1 : k) * systems * parts + thread);
            if (arrays == 1) {
                TB_UNROLL
                for (int r = 0; r < burst; r += 4) {
                    if (which < burst - r && j + r < route->valid[i])
                        trid_p_batch_copy<16, ahead>(&to[(j + r) * systems * parts], route->from[i]);
                    route->from[i] += (burst - r < 4 ? burst - r : 4) * plan.lines.step;
                }
                continue;
            }
            int top = which == 0 && thread < systems && route->part == 0;
            int end = which == 2 ? route->valid[i] - 1 : route->valid[i];
            if (route->valid[i] >= k) { /* all rows, as usual: nothing to compare but at the ends of a system */
                TB_UNROLL
                for (int r = 0; r < burst; r++) {
                    if ((j + r > 0 || !top) && (j + r < k - 1 || end >= k))
                        trid_p_batch_copy<16, ahead>(&to[(j + r) * systems * parts], route->from[i]);
                    route->from[i] += plan.lines.step;
                }
            } else {
                int skip = j == 0 && top;
                if (skip) route->from[i] += plan.lines.step;
                TRID_P_BATCH_LOOP
                for (int r = skip; r < burst && j + r < end; r++) {
                    trid_p_batch_copy<16, ahead>(&to[(j + r) * systems * parts], route->from[i]);
                    route->from[i] += plan.lines.step;
                }
            }
        }
    } else {
        tb_real *to = stage + threadIdx.x;
        TRID_P_BATCH_LOOP
        for (int r = 0; r < burst; r++) TB_UNROLL
        for (int e = 0; e < arrays; e++) {
            int top = arrays > 1 && e == 0 && j + r == 0 && threadIdx.x < systems && route->part == 0; /* row 0 of a */
            if (j + r + (e == 2) < route->valid[0] && !top) /* of c there must be one row more */
                trid_p_batch_copy<sizeof(tb_real), ahead>(&to[(e * k + j + r) * systems * parts], route->from[e]);
            route->from[e] += arrays > 1 && e < 3 ? step : plan.lines.step;
        }
    }
    trid_copy_commit();
}

/* Asks, with TRID_BATCH_ADD, for the thread's rows of x as it was, behind the other arrays. It is a group in any
   case. */
template <class tb_real, int k, int systems, int parts, int ahead>
TB_D void trid_p_batch_ask_before(const trid_p_batch_plan &plan, const trid_p_batch_place &own, const tb_real *x,
                                  tb_real *stage)
{
    x += own.at;
    if (plan.flags & TRID_BATCH_ADD) {
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            if (j < own.valid)
                trid_p_batch_copy<sizeof(tb_real), ahead>(&stage[j * systems * parts + (int)threadIdx.x], x);
            x += plan.lines.step;
        }
    }
    trid_copy_commit();
}

/* Takes what is known of this tile and asks for that of the next: threads with the first or the last row of a system,
   in places slot[0] and slot[systems]. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_next_known(int k, int systems, const rows_type &known, int first, int valid,
                                  const trid_p_batch_place &next, tb_real *slot, tb_real *end)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_known) {
        long long pitch;
        end[0] = end[1] = 0;
        if (first == 0 && valid > 0) end[0] = slot[0];
        if (valid > 0 && valid <= k) end[1] = slot[systems];
        if (next.valid <= 0 || (first > 0 && next.valid > k)) return;
        const tb_real *of = known.ends + known.shares.of(next.system, &pitch);
        if (first == 0) trid_p_batch_copy<sizeof(tb_real), 0>(&slot[0], of);
        if (next.valid <= k) trid_p_batch_copy<sizeof(tb_real), 0>(&slot[systems], of + pitch);
    }
}
/* Clears the two places for which nobody asks: a of row 0, c of row n-1. */
template <class tb_real, int k, int systems, int parts>
TB_D void trid_p_batch_unasked(int n, int first, tb_real *stage)
{
    if (first == 0) stage[threadIdx.x] = 0;
    if (n > first && n <= first + k) stage[(2 * k + n - 1 - first) * systems * parts + (int)threadIdx.x] = 0;
}
/* Reads row j of the thread's, as it has arrived; a matrix that is not of arrays is made. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_arrived(int k, int threads, int j, const rows_type &make, long long system, int first,
                               const tb_real *own, tb_real *a, tb_real *b, tb_real *c, tb_real *d)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        *a = own[j * threads];
        *b = own[(k + j) * threads];
        *c = own[(2 * k + j) * threads];
        *d = own[(3 * k + j) * threads];
    } else {
        make(system, first + j, a, b, c);
        *d = own[j * threads];
    }
}

/* Fetches the thread's rows of the matrix from memory, or makes them; 0 beyond the system. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_own_rows(int k, const trid_p_batch_plan &plan, const trid_p_batch_place &p, int first,
                                const rows_type &from, tb_real *a, tb_real *b, tb_real *c)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        long long at = trid_p_batch_matrix_at(plan, from, p, first);
        trid_p_batch_gather(k, first == 0, p.valid, from.a + at, from.step, a);
        trid_p_batch_gather(k, 0, p.valid, from.b + at, from.step, b);
        trid_p_batch_gather(k, 0, p.valid - 1, from.c + at, from.step, c);
    } else {
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            a[j] = b[j] = c[j] = 0;
            if (j < p.valid) from(p.system, first + j, &a[j], &b[j], &c[j]);
        }
    }
}

/* Blocks a multiprocessor: so many that a thread has the registers that it needs. */
#define TRID_P_BATCH_INTERLEAVED_THREADS(tb_real, k)                                                                   \
    ((k) <= 4               ? (sizeof(tb_real) == 4 ? 1024 : 640)                                                      \
     : (k) <= 8             ? (sizeof(tb_real) == 4 ? 640 : 384)                                                       \
     : sizeof(tb_real) == 4 ? 512                                                                                      \
                            : 256)
#define TRID_P_BATCH_INTERLEAVED_RESIDENT(tb_real, k, threads)                                                         \
    (TRID_P_BATCH_INTERLEAVED_THREADS(tb_real, k) > (threads)                                                          \
         ? TRID_P_BATCH_INTERLEAVED_THREADS(tb_real, k) / (threads)                                                    \
         : 1)

/* Returns how tiles arrive whose arrays lie at these places: vectorised if pieces of 16 bytes are pieces of memory, and
   of whole systems. */
template <class tb_real>
static inline int trid_p_batch_pipelining_at(const trid_lines &lines, size_t places)
{
    const int vector = 16 / (int)sizeof(tb_real);
    return places % 16 == 0 && lines.stride == 1 && lines.systems % vector == 0 && lines.step % vector == 0 &&
                   (lines.groups == 1 || lines.jump % vector == 0)
               ? TRID_P_BATCH_VECTORISED
               : TRID_P_BATCH_SCALAR;
}
/* The same for these rows and d; if they do not lie alike, scalar. */
template <class tb_real, class rows_type>
static inline int trid_p_batch_pipelining(const trid_lines &lines, const rows_type &rows, const tb_real *d)
{
    size_t places = (size_t)d;
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays) {
        if (rows.step != lines.step || rows.stride != lines.stride || rows.jump != lines.jump)
            return TRID_P_BATCH_SCALAR;
        places |= (size_t)rows.a | (size_t)rows.b | (size_t)rows.c;
    }
    return trid_p_batch_pipelining_at<tb_real>(lines, places);
}

/* What a launch of interleaved systems needs: `bytes` of shared memory a block for what is on its way, and at most
   `fixed` besides; `resident` blocks a multiprocessor, or fewer, but at least `least`; asynchronous copies, which
   devices have `since` a compute capability. by_clusters: where there are clusters these replace the kernel. */
struct trid_p_batch_pipelined {
    int systems, threads, bytes, fixed, resident, least, since, by_clusters;
};
/* Launches a kernel with pipelined tiles. Where there is no room for it, where copies are missing or where it is empty,
   *launched stays as it was. */
template <class... parameters, class... given>
static int trid_p_batch_launch_pipelined(void (*kernel)(parameters...), trid_p_batch_pipelined with,
                                         trid_p_batch_plan plan, cudaStream_t stream, int *launched,
                                         const given &...arguments)
{
    trid_p_batch_device device;
    dim3 grid;
    if (trid_p_batch_count(&plan, with.systems, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_device_of(kernel, &device)) return TRID_BATCH_LAUNCH_FAILED;
    while (with.resident >= with.least && with.resident * (with.bytes + with.fixed) > device.most) with.resident--;
    if (device.major < with.since || with.resident < with.least || (device.always_pipelined && with.by_clusters))
        return TRID_BATCH_OK;
    *launched = 1;
    return trid_p_batch_launch_tiles(kernel, grid, with.threads, with.resident, (size_t)with.bytes, device, stream,
                                     plan, arguments...);
}

/* A shape of a kernel for interleaved systems: a block has `systems` of them in `parts` partitions of k rows. Rows are
   asked for `burst` at a time, each with `ahead` bytes around it into the second-level cache. */
template <int rows, int of_systems, int of_parts, int at_a_time = rows, int bytes_ahead = 0>
struct trid_p_batch_shape {
    enum { k = rows, systems = of_systems, parts = of_parts, burst = at_a_time, ahead = bytes_ahead };
};
/* Returns launch(shape) of the first shape that holds n rows. */
template <class... shapes, class function>
static int trid_p_batch_choose(int n, const function &launch)
{
    int status = TRID_BATCH_LAUNCH_FAILED;
    (void)((n <= (int)shapes::k * shapes::parts && (status = launch(shapes()), 1)) || ...);
    return status;
}

/* Launches a kernel that is not pipelined, with so many bytes of dynamic shared memory a block. */
template <class shape, class... parameters, class... given>
static int trid_p_batch_launch_unpipelined_of(void (*kernel)(parameters...), shape, trid_p_batch_plan plan, int bytes,
                                              cudaStream_t stream, const given &...arguments)
{
    const trid_p_batch_device any = {0, 0, 0, 0};
    dim3 grid;
    if (trid_p_batch_count(&plan, shape::systems, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    return trid_p_batch_launch_tiles(kernel, grid, shape::systems * shape::parts, 0, (size_t)bytes, any, stream, plan,
                                     arguments...);
}
/* Returns n, or the most that these kernels serve where all but that one are empty. */
template <class... parameters>
static int trid_p_batch_unpipelined_n(void (*kernel)(parameters...), int n)
{
    trid_p_batch_device device;
    return trid_p_batch_device_of(kernel, &device) == TRID_BATCH_OK && device.always_pipelined ? 1024 : n;
}
