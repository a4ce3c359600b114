/* implicit2.h - a room of bs3d.h: implicit2, with a sweep upward and a sweep downward.
   MIT licence, see LICENSE. */

/* ---- upward: right-hand side, x systems, forward elimination in z ------------------------------------------------ */

/* Returns how many warps of a block compute the right-hand side. Each of the others solves a row or half a row. */
TB_HD constexpr int bs3d_p_stencil_warps(int halves)
{
    return 8 * halves / bs3d_p_shape::columns * bs3d_p_shape::up_rows / bs3d_p_shape::rows;
}

/* The ring and the threads of the upward sweep: halves is 1 for rows of up to 256 points, 2 for longer ones. */
template <int halves>
struct bs3d_p_up : bs3d_p_ring_shape<bs3d_p_shape::up_rows + 2, 8 * halves,
                                     32 * (bs3d_p_stencil_warps(halves) + halves * bs3d_p_shape::up_rows)> {
};

/* Solves with one warp for a right-hand side that lies in shared memory. */
TB_D void bs3d_p_solve_points(int per_lane, int steps, const tb_real *f, const tb_real *right, tb_real *d)
{
    bs3d_p_load(per_lane, right, d);
    trid_warp_solve(per_lane, 32, per_lane * 32, steps, f, d);
}

/* Computes L u with one warp: when plane k of u has arrived, L u of plane k-1 goes to shared memory. */
template <int form, int halves>
TB_D void bs3d_p_upward_stencil(const bs3d_pairs *pairs, const bs3d_p_plan *plan, const tb_real *tables, int warp,
                                const bs3d_p_stretch *s, bs3d_p_ring<bs3d_p_up<halves>> *ring)
{
    const int columns = bs3d_p_shape::columns, rows = bs3d_p_shape::rows, tile_rows = bs3d_p_shape::up_rows;
    const int stride = bs3d_p_up<halves>::stride, in_row = 8 * halves / columns;
    const int lane = (int)threadIdx.x & 31, row = rows * (warp / in_row), x = columns * (lane + 32 * (warp % in_row)),
              valid = x < plan->pitch;
    const int from_west = valid && lane == 0, from_east = valid && lane == 31;
    const int place = (valid ? row : 0) * stride + BS3D_P_PAD + (valid ? x : 0);
    bs3d_row xs[columns], ys[rows], z[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    tb_real now[columns * rows] = {0}, next[columns * rows] = {0}, out[columns * rows];
    tb_real patch[(columns + 2) * (rows + 2)];
    bs3d_p_axis_rows(plan, tables, 0, valid ? x : plan->pitch, columns, xs);
    bs3d_p_axis_rows(plan, tables, 1, tile_rows * (int)blockIdx.x + row, rows, ys);
    for (int k = s->first; k < s->to + 1 + halves; k++) {
        TRID_COPY_AWAIT(BS3D_P_RING_SLOTS - 2);
        trid_barrier_all(bs3d_p_up<halves>::threads);
        const tb_real *p = bs3d_p_next_plane(s, ring, k) + place + stride;
        if (k <= s->to) {
            bs3d_p_plane_weights(s->weights, k - s->first + 2, z);
            bs3d_p_patch(form, p, stride, from_west, from_east, patch);
            bs3d_lane_plane(form, columns, rows, pairs, xs, ys, z, patch, now, next, out);
            TB_UNROLL
            for (int n = 0; n < rows; n++)
                if (valid)
                    bs3d_p_store(columns, out + n * columns, s->between + ((k & 1) * tile_rows + n) * stride + place);
        }
    }
}

/* Solves a row or half a row with one warp, 8 points a lane, one plane behind bs3d_p_upward_stencil, and eliminates
   forward in z. The warp of a half solves as if the other half were 0, and stores its own unknown at the seam. One
   plane later, when both are stored, the warp corrects its half: it subtracts g x', where x' is the other half's
   unknown at the seam, and g couples the half's points to x'. bs3d_p_factor_seam shows how to obtain x'. */
template <int halves>
TB_D void bs3d_p_upward_solve(const bs3d_p_plan *plan, const tb_real *tables, int warp, const bs3d_p_stretch *s,
                              bs3d_p_ring<bs3d_p_up<halves>> *ring, tb_real *seams, tb_real *v, tb_real *interfaces)
{
    const int per_lane = 8, factors = TRID_WARP_FACTOR_LEN(per_lane), tile_rows = bs3d_p_shape::up_rows;
    const int stride = bs3d_p_up<halves>::stride;
    const int lane = (int)threadIdx.x & 31, row = warp / halves, half = warp % halves;
    const int x = per_lane * (32 * half + lane), j = tile_rows * (int)blockIdx.x + row;
    const int stores = x < plan->pitch && j < plan->model.points[1];
    const tb_real *table = tables + BS3D_P_X_FACTORS + 32 * BS3D_P_HALF * half + lane;
    tb_real f[factors], g[per_lane], y[per_lane] = {0}, first_unknown[per_lane] = {0}, d[per_lane] = {0},
                                                        *seam = seams + 4 * row;
    TB_UNROLL
    for (int e = 0; e < factors; e++) f[e] = table[32 * e];
    TB_UNROLL
    for (int e = 0; e < per_lane; e++) g[e] = halves > 1 ? table[32 * (factors + e)] : 0;
    const tb_real *link = table - lane + 32 * (BS3D_P_HALF - 1);
    const tb_real own = halves > 1 ? link[0] : 0, other = halves > 1 ? link[1] : 0;
    const int steps = trid_warp_uniform((int)tables[BS3D_P_STEPS + 3 * half]);
    const long long at = x + (long long)plan->pitch * j;
    for (int k = s->first; k < s->to + 1 + halves; k++) {
        const int solves = k > s->from + 1 && k < s->to + 2; /* plane k-2 */
        TRID_COPY_AWAIT(BS3D_P_RING_SLOTS - 2);
        trid_barrier_all(bs3d_p_up<halves>::threads);
        bs3d_p_next_plane(s, ring, k);
        const tb_real *right = s->between + ((~k & 1) * tile_rows + row) * stride + BS3D_P_PAD + x;
        if (halves == 1 && solves) bs3d_p_solve_points(per_lane, steps, f, right, d);
        if (k > s->from + halves) { /* plane k-1-halves is complete */
            const tb_real *both = seam + 2 * (~k & 1);
            tb_real across = halves > 1 ? other * both[!half] - own * both[half] : 0;
            TB_UNROLL
            for (int r = 0; r < per_lane && halves > 1; r++) d[r] -= g[r] * across;
            bs3d_p_eliminate(per_lane, s->weights + BS3D_P_PLANE_WEIGHTS * (k - s->first + 2 - halves) + 8, d, y,
                             first_unknown);
            if (stores) bs3d_p_store(per_lane, y, v + plan->plane * (k - 1 - halves) + at);
        }
        if (halves > 1 && solves) {
            bs3d_p_solve_points(per_lane, steps, f, right, d);
            if (lane == (half ? 0 : 31)) seam[2 * (k & 1) + half] = half ? d[0] : d[per_lane - 1];
        }
    }
    if (stores)
        bs3d_p_store_interface(per_lane, plan, tables, s->partition, s->to - 1, y, first_unknown, interfaces + at);
}

/* Sweeps upward over rows of up to 256 points (halves 1) or 512 (halves 2): L u, the x systems and the forward
   elimination in z. A block takes whole rows. Some warps compute L u, the others solve. */
template <int form, int halves, class... spans>
__launch_bounds__(bs3d_p_up<halves>::threads, bs3d_p_shape::up_blocks / halves)
TRID_KERNEL void bs3d_p_implicit2_up(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                     const tb_real *__restrict__ u, tb_real *__restrict__ v,
                                     tb_real *__restrict__ interfaces, spans... span)
{
    TRID_DYNAMIC_SHARED(memory);
    const int stencil_warps = bs3d_p_stencil_warps(halves), warp = (int)threadIdx.x / 32;
    const int rows = bs3d_p_shape::up_rows, size = bs3d_p_up<halves>::size;
    const bs3d_p_stretch s = bs3d_p_open_stretch<1, 1, 2 * rows * bs3d_p_up<halves>::stride>(
        &plan, (int)blockIdx.y, tables, memory, &span...);
    bs3d_p_ring<bs3d_p_up<halves>> ring = bs3d_p_open_ring<bs3d_p_up<halves>>(
        &plan, u, -BS3D_P_PAD, plan.pitch + 2 * BS3D_P_PAD, rows * (int)blockIdx.x - 1, s.slots);
    bs3d_p_prefetch_first(&s, &ring);
    if (warp < stencil_warps)
        bs3d_p_upward_stencil<form, halves>(&pairs, &plan, tables, warp, &s, &ring);
    else
        bs3d_p_upward_solve<halves>(&plan, tables, warp - stencil_warps, &s, &ring, s.slots + BS3D_P_RING_SLOTS * size,
                                    v, interfaces);
}

/* Solves the x systems if the upward sweep does not: those in v, and those in `interfaces`, which forward elimination
   in z wrote. Each warp solves one system after another. */
template <int per_lane>
__launch_bounds__(32 * bs3d_p_x_warps(per_lane))
TRID_KERNEL void bs3d_p_implicit2_x(bs3d_p_plan plan, const tb_real *__restrict__ tables, tb_real *__restrict__ v,
                                    tb_real *__restrict__ interfaces)
{
    __shared__ tb_real shared[bs3d_p_x_warps(per_lane) * bs3d_p_transpose_len(per_lane)];
    int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32, lane = (int)threadIdx.x & 31;
    int nx = plan.model.points[0], lines = plan.model.points[1] * plan.model.points[2];
    const tb_real *table = tables + BS3D_P_X_FACTORS + lane;
    tb_real lur[3 * per_lane], keep[TRID_WARP_LU_PRECOMPUTED_LEN], d[per_lane],
        *mine = shared + warp * bs3d_p_transpose_len(per_lane);
    TB_UNROLL
    for (int e = 0; e < 3 * per_lane; e++) lur[e] = table[32 * e];
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_LU_PRECOMPUTED_LEN; e++) keep[e] = table[32 * (3 * per_lane + e)];
    int steps = trid_warp_uniform((int)tables[BS3D_P_STEPS]);
    /* From the last line to the first: the previous sweep left the last planes in the cache. */
    int all = lines + 2 * plan.partitions * plan.model.points[1];
    for (int line = all - 1 - (int)(blockIdx.x * warps + warp); line >= 0; line -= (int)gridDim.x * warps) {
        tb_real *row =
            line < lines ? v + (long long)plan.pitch * line : interfaces + (long long)plan.pitch * (line - lines);
        transpose_load(per_lane, 32, nx, row, 0, d, mine);
        trid_warp_lu_solve_precomputed(per_lane, 32, 1, steps, lur, lur + 2 * per_lane, lur + per_lane, keep, 1, d);
        __syncwarp();
        transpose_store(per_lane, 32, nx, d, row, mine);
        __syncwarp();
    }
}

/* ---- downward: back substitution in z, y systems, the update ----------------------------------------------------- */

/* Returns how many y systems of a plane a block solves. Each takes 32 threads of per_lane points. */
TB_HD constexpr int bs3d_p_lines(int per_lane)
{
    return (per_lane <= 16 ? 16 : 8) * 4 / TB_BYTES;
}

/* Returns how many elements of shared memory hold the factors of y: 0 if registers hold them (8 points a thread), or if
   shared memory has no room and threads read them from the tables. */
TB_HD constexpr int bs3d_p_factors_len(int per_lane)
{
    return per_lane > 8 && per_lane * TB_BYTES < 256 ? 32 * TRID_INTERLEAVED_FACTOR_LEN(per_lane) : 0;
}

/* Returns the number of elements of a slice: the block's columns of one plane, with all their rows. Row r begins at
   element (r + r / per_lane) * lines, so that rows that a system's threads read together lie in different banks. */
TB_HD constexpr int bs3d_p_slice(int per_lane)
{
    return 32 * (per_lane + 1) * bs3d_p_lines(per_lane);
}

/* Prefetches the block's slices of plane k of v and u into a slot; copies nothing if k < `from`. All threads call
   it. */
TB_D void bs3d_p_prefetch_slices(int per_lane, const bs3d_p_plan *plan, int k, int from, const tb_real *v,
                                 const tb_real *u, trid_copy_place ring, int slot)
{
    const int lines = bs3d_p_lines(per_lane), slice = bs3d_p_slice(per_lane);
    int vectors = lines / BS3D_P_V, first = (int)threadIdx.x / vectors,
        column = BS3D_P_V * ((int)threadIdx.x % vectors);
    long long at = lines * (int)blockIdx.x + column + (long long)plan->pitch * first + plan->plane * k;
    TB_UNROLL
    for (int n = 0; n < per_lane / BS3D_P_V; n++) {
        int r = first + 32 * BS3D_P_V * n;
        int to = (int)sizeof(tb_real) * (slot * 2 * slice + (r + r / per_lane) * lines + column);
        if (k >= from && r < plan->model.points[1]) {
            trid_copy_async(ring, to, v + at + (long long)plan->pitch * (32 * BS3D_P_V * n));
            trid_copy_async(ring, to + (int)sizeof(tb_real) * slice,
                            u + at + (long long)plan->pitch * (32 * BS3D_P_V * n));
        }
    }
    trid_copy_commit();
}

/* Fills the ring in shared memory with zeros. Loads the factors of y into registers or shared memory, unless threads
   read them from the tables (see bs3d_p_factors_len). All threads call it. */
template <int per_lane>
TB_D void bs3d_p_open_down(int prefetch, const tb_real *tables, tb_real *f, tb_real *factors, tb_real *ring)
{
    const int lines = bs3d_p_lines(per_lane), thread = (int)threadIdx.x;
    for (int e = thread; e < prefetch * 2 * bs3d_p_slice(per_lane); e += 32 * lines) ring[e] = 0;
    for (int e = thread; e < (int)bs3d_p_factors_len(per_lane); e += 32 * lines)
        factors[e] = tables[BS3D_P_Y_FACTORS + e];
    __syncthreads();
    TB_UNROLL
    for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(per_lane) && per_lane == 8; e++)
        f[e] = tables[BS3D_P_Y_FACTORS + 32 * e + (e < 5 * per_lane ? thread / lines : thread % 32)];
}

/* Loads the last unknowns of the block's partition and of the partition before it, for the thread's `count` valid rows.
   `follows` is set for slabs: the partition before the first one may be another slab's. */
template <int per_lane, int follows>
TB_D void bs3d_p_load_lasts(const bs3d_p_plan *plan, long long at, int count, const tb_real *interfaces, tb_real *last,
                            tb_real *before)
{
    TB_UNROLL
    for (int r = 0; r < per_lane; r++) {
        const tb_real *end = interfaces + plan->plane * (plan->partitions + (int)blockIdx.y) + at + plan->pitch * r;
        last[r] = r < count ? *end : 0;
        before[r] = r < count && (follows || blockIdx.y > 0) ? end[-plan->plane] : 0;
    }
}

/* Solves the block's y systems of a plane, with the factors f in registers or with the stored ones. All threads call
   it. */
template <int per_lane>
TB_D void bs3d_p_solve_lines(int steps, const tb_real *f, const tb_real *stored, tb_real *d, tb_real *shared)
{
    const int lines = bs3d_p_lines(per_lane), partition = (int)threadIdx.x / lines, rank = (int)threadIdx.x % 32;
    if (per_lane == 8)
        trid_block_interleaved_solve(per_lane, lines, 32, per_lane * 32, steps, f, d, shared);
    else
        trid_block_interleaved_solve_stored(per_lane, lines, 32, per_lane * 32, steps, stored + partition,
                                            stored + 32 * 5 * per_lane + rank, 32, d, shared);
}

/* Sweeps downward: back substitution in z, the y systems, u += the result. A block takes bs3d_p_lines columns with all
   their rows, in one partition of planes, and prefetches plan.prefetch planes. */
template <int per_lane, int follows = 0>
__launch_bounds__(32 * bs3d_p_lines(per_lane), 1)
TRID_KERNEL void bs3d_p_implicit2_down(bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                       const tb_real *__restrict__ v, tb_real *__restrict__ u,
                                       const tb_real *__restrict__ interfaces)
{
    TRID_DYNAMIC_SHARED(memory);
    const int lines = bs3d_p_lines(per_lane);
    tb_real *shared = (tb_real *)memory;
    int thread = (int)threadIdx.x, partition = thread / lines, x = lines * (int)blockIdx.x + thread % lines;
    int first = per_lane * partition, from, to, slot = 0;
    int count = x < plan.model.points[0] ? plan.model.points[1] - first : 0; /* the thread's valid rows */
    bs3d_p_partition(plan.model.points[2], plan.partitions, (int)blockIdx.y, &from, &to);
    tb_real f[TRID_INTERLEAVED_FACTOR_LEN(32)], z[32], before[32], d[32], old[32];
    tb_real *factors = shared + (bs3d_p_solve_len(lines, 32) + 3) / 4 * 4,
            *ring = factors + bs3d_p_factors_len(per_lane);
    const int place = partition * (per_lane + 1) * lines + thread % lines;
    trid_copy_place place_of_ring = trid_copy_place_of(ring);
    bs3d_p_open_down<per_lane>(plan.prefetch, tables, f, factors, ring);
    const tb_real *stored = bs3d_p_factors_len(per_lane) ? factors : tables + BS3D_P_Y_FACTORS;
    int steps = trid_warp_uniform((int)tables[BS3D_P_STEPS + 1]);
    for (int n = 0; n < plan.prefetch; n++)
        bs3d_p_prefetch_slices(per_lane, &plan, to - 1 - n, from, v, u, place_of_ring, n);
    long long at = x + (long long)plan.pitch * first;
    bs3d_p_load_lasts<per_lane, follows>(&plan, at, count, interfaces, z, before);
    tb_real scale = 0, next = -1, spike = 0; /* the last plane is known already */
    u += at + plan.plane * (to - 1);
    TRID_COPY_AWAIT(0);
    __syncthreads();
    for (int k = to - 1; k >= from; k--, u -= plan.plane) {
        const tb_real *mine = ring + slot * 2 * bs3d_p_slice(per_lane) + place;
        TB_UNROLL
        for (int r = 0; r < per_lane; r++) {
            old[r] = mine[bs3d_p_slice(per_lane) + r * lines];
            d[r] = z[r] = scale * mine[r * lines] - next * z[r] - spike * before[r];
        }
        const tb_real *row = tables + BS3D_P_Z_FACTORS + 8 * (k > from ? k - 1 : k);
        scale = row[1];
        next = row[2];
        spike = row[3];
        /* Await plane k-1 (with a ring of one plane, at the end of the loop). After the solver's barriers all threads
           see it. */
        if (plan.prefetch == 3) TRID_COPY_AWAIT(1);
        if (plan.prefetch == 2) TRID_COPY_AWAIT(0);
        bs3d_p_solve_lines<per_lane>(steps, f, stored, d, shared);
        bs3d_p_prefetch_slices(per_lane, &plan, k - plan.prefetch, from, v, u - at - plan.plane * k,
                               place_of_ring, slot);
        tb_real *to_u = u;
        TB_UNROLL
        for (int r = 0; r < per_lane; r++, to_u += plan.pitch)
            if (r < count) *to_u = old[r] + d[r];
        if (plan.prefetch == 1) {
            TRID_COPY_AWAIT(0);
            __syncthreads();
        }
        if (++slot == plan.prefetch) slot = 0;
    }
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

/* Plans the launch of bs3d_p_implicit2_up in plan->partitions partitions, or in more if shared memory requires it. */
template <int halves, class... spans>
static int bs3d_p_launch_rows(const bs3d_p_plan *plan, int form, bs3d_p_launch<spans...> *l)
{
    l->sweep = form ? bs3d_p_implicit2_up<BS3D_GENERAL, halves, spans...>
                    : bs3d_p_implicit2_up<BS3D_POSITIVE, halves, spans...>;
    l->plan = *plan;
    l->early = 0;
    l->block = dim3((unsigned)bs3d_p_up<halves>::threads);
    /* The ring, two planes of right-hand sides, the seams. */
    const int rows = bs3d_p_shape::up_rows,
              elements = BS3D_P_RING_SLOTS * bs3d_p_up<halves>::size + 2 * rows * bs3d_p_up<halves>::stride + 4 * rows;
    int status = bs3d_p_allow(elements, BS3D_P_PARTITIONS, l);
    l->grid = dim3((unsigned)((plan->model.points[1] - 1) / bs3d_p_shape::up_rows + 1), (unsigned)l->plan.partitions);
    return status;
}

/* Plans the launch of the upward sweep in plan->partitions partitions, or in more if shared memory requires it.
   *fused receives whether the sweep also solves the x systems; if rows are too long or shared memory is too small,
   bs3d_p_implicit2_x does. */
template <class... spans>
static int bs3d_p_upward(const bs3d_p_plan *plan, int form, int *fused, bs3d_p_launch<spans...> *up)
{
    const int nx = plan->model.points[0];
    *fused = nx <= 512 && !(nx <= 256 ? bs3d_p_launch_rows<1>(plan, form, up) : bs3d_p_launch_rows<2>(plan, form, up));
    return *fused ? BS3D_OK : bs3d_p_launch_tiles<1, 1>(plan, form, up);
}

/* Launches bs3d_p_implicit2_x for `planes` planes of v and both interface planes of `partitions` partitions. */
template <int unused>
static void bs3d_p_launch_x(bs3d_p_job *job, int planes, int partitions)
{
    bs3d_p_plan plan = job->plan;
    const int short_lines = plan.model.points[0] <= 512, warps = bs3d_p_x_warps(short_lines ? 16 : 32);
    const int blocks = (plan.model.points[1] * (planes + 2 * partitions) - 1) / warps + 1;
    const int most = 3 * trid_device_attribute(cudaDevAttrMultiProcessorCount);
    plan.model.points[2] = planes;
    plan.partitions = partitions;
    bs3d_p_launch_next(job, short_lines ? bs3d_p_implicit2_x<16> : bs3d_p_implicit2_x<32>,
                       (unsigned)(blocks < most ? blocks : most), (unsigned)(32 * warps), plan, job->tables, job->v,
                       job->interfaces);
}

/* The launch of the downward sweep. */
typedef struct {
    void (*sweep)(bs3d_p_plan, const tb_real *, const tb_real *, tb_real *, const tb_real *);
    unsigned columns, threads;
    size_t bytes;
} bs3d_p_down_launch;

/* Plans the launch of the downward sweep. It prefetches BS3D_P_MOST_PREFETCH planes, or as many as shared memory
   allows. */
template <int follows>
static int bs3d_p_downward(bs3d_p_plan *plan, bs3d_p_down_launch *down)
{
    const int *n = plan->model.points, per_lane = bs3d_p_per_lane(n[1]), lines = bs3d_p_lines(per_lane);
    const size_t solve = (size_t)(bs3d_p_solve_len(lines, 32) + 3) / 4 * 4 + (size_t)bs3d_p_factors_len(per_lane);
    const size_t slot = 2 * (size_t)bs3d_p_slice(per_lane);
    const size_t most = (size_t)trid_device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / sizeof(tb_real);
    plan->prefetch = BS3D_P_MOST_PREFETCH;
    while (plan->prefetch > 1 && solve + (size_t)plan->prefetch * slot > most) --plan->prefetch;
    down->sweep = bs3d_p_of_length(n[1], bs3d_p_implicit2_down<8, follows>, bs3d_p_implicit2_down<16, follows>,
                                   bs3d_p_implicit2_down<32, follows>);
    down->columns = (unsigned)((n[0] - 1) / lines + 1);
    down->threads = (unsigned)(32 * lines);
    down->bytes = (solve + (size_t)plan->prefetch * slot) * sizeof(tb_real);
    return trid_allow_shared(down->sweep) == cudaSuccess ? BS3D_OK : BS3D_LAUNCH_FAILED;
}

/* Launches the downward sweep. */
TB_HOST void bs3d_p_launch_down(bs3d_p_job *job, const bs3d_p_down_launch *down, const tb_real *interfaces)
{
    bs3d_p_launch_soon(job, 0, 1, down->sweep, dim3(down->columns, (unsigned)job->plan.partitions), down->threads,
                       down->bytes, job->plan, job->tables, job->v, job->u, interfaces);
}

/* Returns the best number of partitions for the downward sweep over `planes` planes of a grid (trid_best_pieces). */
TB_HOST int bs3d_p_down_partitions(const int *points, int planes)
{
    const int lines = bs3d_p_lines(bs3d_p_per_lane(points[1]));
    return bs3d_p_best_partitions(planes, (points[0] - 1) / lines + 1, 1, 2, BS3D_P_PARTITIONS);
}

/* Marches with implicit2. All else is as in bs3d_explicit1. */
template <int unused = 0>
static int bs3d_implicit2(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    bs3d_p_launch<> up;
    bs3d_p_down_launch down;
    int fused = 0, status = bs3d_p_open_job(&job, problem, 1, work, stream);
    if (status) return status;
    const int *n = problem->points;
    job.plan.partitions = bs3d_p_down_partitions(n, n[2]);
    status = bs3d_p_upward(&job.plan, job.form, &fused, &up);
    if (!status) status = bs3d_p_downward<0>(&job.plan, &down);
    if (status) return status;
    bs3d_p_start<unused>(&job, job.u, job.v);
    const int partitions = job.plan.partitions = up.plan.partitions;
    bs3d_p_zero(&job, job.interfaces, 2 * BS3D_P_PARTITIONS * (size_t)job.plan.plane);
    bs3d_p_launch_factor<unused>(&job, fused);
    bs3d_p_launch_factor_z<unused>(&job, 1);
    for (int s = 0; s < problem->steps && !job.status; s++) {
        bs3d_p_launch_sweep(&job, &up, job.u, job.v, job.interfaces);
        if (!fused) bs3d_p_launch_x<unused>(&job, n[2], partitions);
        bs3d_p_launch_next(&job, bs3d_p_solve_reduced<0>, (unsigned)((job.plan.plane - 1) / 128 + 1), 128, partitions,
                           job.plan.plane, 0, job.tables, job.interfaces);
        bs3d_p_launch_down(&job, &down, job.interfaces);
        bs3d_p_may_exercise<unused>(&job, job.u);
    }
    return bs3d_p_finish<unused>(&job, result);
}
