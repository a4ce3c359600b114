/* planes.h - a room of bs3d.h: sweeps whose planes pass through shared memory, one or two time steps per sweep.
   MIT licence, see LICENSE. */

/* Fetches, by shuffle from the neighbouring lanes, the points beside a lane's columns that bs3d_lane_plane reads. */
TB_D void bs3d_p_patch_edges(int form, int columns, int rows, tb_real *u)
{
    const int width = columns + 2;
    TB_UNROLL
    for (int n = 0; n < rows + 2; n++) {
        u[n * width] = u[n * width + columns + 1] = 0;
        if (form == BS3D_GENERAL || n < rows + 1)
            u[n * width] = __shfl_up_sync(TB_FULL_WARP, u[n * width + columns], 1);
        if (form == BS3D_GENERAL || n > 0)
            u[n * width + columns + 1] = __shfl_down_sync(TB_FULL_WARP, u[n * width + 1], 1);
    }
}

/* Loads a lane's patch and the points around it, for bs3d_lane_plane. The patch's first point is at p in shared memory,
   and rows are `stride` apart. If from_west or from_east is set, no lane of the warp holds the points on that side, and
   they come from shared memory, too. */
TB_D void bs3d_p_patch(int form, const tb_real *p, int stride, int from_west, int from_east, tb_real *u)
{
    const int columns = bs3d_p_shape::columns, rows = bs3d_p_shape::rows, width = columns + 2;
    TB_UNROLL
    for (int n = 0; n < rows + 2; n++) bs3d_p_load(columns, p + (n - 1) * stride, u + n * width + 1);
    bs3d_p_patch_edges(form, columns, rows, u);
    if (from_west) {
        TB_UNROLL
        for (int n = 0; n < rows + 2; n++)
            if (form == BS3D_GENERAL || n < rows + 1) u[n * width] = p[(n - 1) * stride - 1];
    }
    if (from_east) {
        TB_UNROLL
        for (int n = 0; n < rows + 2; n++)
            if (form == BS3D_GENERAL || n > 0) u[n * width + columns + 1] = p[(n - 1) * stride + columns];
    }
}

/* ---- the ring: planes on their way into shared memory ------------------------------------------------------------ */

/* The shape of a ring. A slot holds slot_rows rows of a plane, each with points_a_lane points for each of 32 lanes, and
   BS3D_P_PAD more on each side. */
template <int slot_rows, int points_a_lane, int block_threads>
struct bs3d_p_ring_shape {
    static constexpr int rows = slot_rows, threads = block_threads;
    static constexpr int stride = 32 * points_a_lane + 2 * BS3D_P_PAD;        /* elements from one row to the next */
    static constexpr int size = rows * stride;                                /* elements of a slot */
    static constexpr int vectors = (size / BS3D_P_V + threads - 1) / threads; /* of a slot, per thread */
};

/* A ring of slots in shared memory. Each slot holds rows * stride elements of a plane, the same part of every plane.
   Elements outside the grid's rows, which are `pitch` elements long, are not copied and stay 0. A thread copies the
   same few vectors of every plane. */
template <class shape>
struct bs3d_p_ring {
    trid_copy_place slots;
    const tb_real *grid;
    long long plane;
    int size;                 /* bytes of a slot; a literal makes the sweeps up to 2 % slower */
    int slot;                 /* the slot of the next plane */
    int to[shape::vectors];   /* the byte offset of each vector in a slot */
    int from[shape::vectors]; /* the position of the vector in a plane, or -1 */
};

/* Sets up the ring. A slot holds rows of a plane from row j on, and `width` elements of each row from element i on. All
   threads call it. */
template <class shape>
TB_D bs3d_p_ring<shape> bs3d_p_open_ring(const bs3d_p_plan *plan, const tb_real *u, int i, int width, int j,
                                         tb_real *shared)
{
    const int in_row = shape::stride / BS3D_P_V;
    bs3d_p_ring<shape> ring;
    ring.slots = trid_copy_place_of(shared);
    ring.grid = u;
    ring.plane = plan->plane;
    ring.size = shape::size * (int)sizeof(tb_real);
    ring.slot = 0;
    TB_UNROLL
    for (int n = 0; n < shape::vectors; n++) {
        int vector = trid_block_thread() + n * trid_block_threads(), row = vector / in_row,
            x = BS3D_P_V * (vector % in_row);
        int valid = row < shape::rows && j + row >= 0 && j + row < plan->model.points[1] && x < width && i + x >= 0 &&
                    i + x < plan->pitch;
        ring.to[n] = 16 * vector;
        ring.from[n] = valid ? i + x + plan->pitch * (j + row) : -1;
    }
    for (int e = trid_block_thread(); e < BS3D_P_RING_SLOTS * shape::size; e += trid_block_threads()) shared[e] = 0;
    __syncthreads();
    return ring;
}

/* Prefetches plane k into a slot; copies nothing if k < 0. All threads call it, after a barrier that follows the last
   read of the slot. Each call counts as one burst, even if it copies nothing. */
template <class shape>
TB_D void bs3d_p_prefetch_plane(const bs3d_p_ring<shape> *ring, int slot, int k)
{
    const tb_real *from = ring->grid + ring->plane * k;
    TB_UNROLL
    for (int n = 0; n < shape::vectors; n++)
        if (k >= 0 && ring->from[n] >= 0)
            trid_copy_async(ring->slots, slot * ring->size + ring->to[n], from + ring->from[n]);
    trid_copy_commit();
}

/* ---- the numbers that a sweep needs for a plane ------------------------------------------------------------------ */

/* Loads the operator's seven weights for the k-th plane in `weights`. They belong to the rows of the third axis at the
   plane before, at the plane itself and at the next one. */
TB_D void bs3d_p_plane_weights(const tb_real *weights, int k, bs3d_row *z)
{
    tb_real v[8];
    bs3d_p_load(8, weights + BS3D_P_PLANE_WEIGHTS * k, v);
    z[0].up = v[0];
    z[0].weight = v[1];
    z[1].up = v[2];
    z[1].down = v[3];
    z[1].weight = v[4];
    z[2].down = v[5];
    z[2].weight = v[6];
}

/* Computes the weights of `count` planes from k on, in shared memory. After a plane's weights it stores l and h of the
   plane before (bs3d_p_factor_planes), or 0 if that plane is not among `from` .. `to` - 1, which forward elimination
   visits. All threads call it. */
TB_D void bs3d_p_all_plane_weights(int from, int to, const tb_real *tables, int k, int count, tb_real *all)
{
    for (int n = trid_block_thread(); n < count; n += trid_block_threads()) {
        tb_real *weights = all + BS3D_P_PLANE_WEIGHTS * n;
        bs3d_row z[3];
        bs3d_p_rows(tables, k + n, z);
        int before = k + n - 1; /* the plane that plane k + n completes */
        int eliminated = from <= before && before < to;
        const tb_real *factors = tables + BS3D_P_Z_FACTORS + 8 * before;
        weights[0] = z[0].up;
        weights[1] = z[0].weight;
        weights[2] = z[1].up;
        weights[3] = z[1].down;
        weights[4] = z[1].weight;
        weights[5] = z[2].down;
        weights[6] = z[2].weight;
        weights[7] = 0;
        weights[8] = eliminated ? factors[0] : 0;
        weights[9] = eliminated ? factors[4] : 0;
    }
}

/* The planes that a block sweeps over, upward, and its shared memory. */
typedef struct {
    int partition, from, to;            /* a partition, of planes `from` .. `to` - 1 */
    int first, last;                    /* the planes to load: one more on each side per time step, within the grid */
    tb_real *weights, *between, *slots; /* the planes' weights; planes for the second step or the solve; the ring */
} bs3d_p_stretch;

/* Finds partition n of a launch, divides shared memory, and computes the planes' weights; s.between receives `between`
   zeros. All threads call it. */
template <int steps, int forward, int between>
TB_D bs3d_p_stretch bs3d_p_open_stretch(const bs3d_p_plan *plan, int n, const tb_real *tables, unsigned char *memory,
                                        const bs3d_p_span *span = 0)
{
    const int nz = plan->model.points[2];
    bs3d_p_stretch s;
    s.partition = bs3d_p_span_of(plan, span, n, &s.from, &s.to);
    s.first = s.from > steps ? s.from - steps : 0;
    s.last = s.to + steps <= nz ? s.to + steps - 1 : nz - 1;
    const int levels = s.to - s.first + 5;
    s.weights = (tb_real *)memory;
    s.between = s.weights + BS3D_P_PLANE_WEIGHTS * levels;
    s.slots = s.between + between;
    bs3d_p_all_plane_weights(forward ? s.from : s.to, s.to, tables, s.first - 2, levels, s.weights);
    for (int e = trid_block_thread(); e < between; e += trid_block_threads()) s.between[e] = 0;
    return s;
}

/* Prefetches the first planes of a sweep. */
template <class shape>
TB_D void bs3d_p_prefetch_first(const bs3d_p_stretch *s, const bs3d_p_ring<shape> *ring)
{
    for (int n = 0; n < BS3D_P_RING_SLOTS - 1; n++)
        bs3d_p_prefetch_plane(ring, n, s->first + n <= s->last ? s->first + n : -1);
}

/* Returns the slot of plane k, and prefetches a later plane into the slot of plane k-1. The barrier for plane k must
   have been passed. */
template <class shape>
TB_D const tb_real *bs3d_p_next_plane(const bs3d_p_stretch *s, bs3d_p_ring<shape> *ring, int k)
{
    const int slot = ring->slot, ahead = BS3D_P_RING_SLOTS - 1;
    bs3d_p_prefetch_plane(ring, slot > 0 ? slot - 1 : BS3D_P_RING_SLOTS - 1, k + ahead <= s->last ? k + ahead : -1);
    ring->slot = slot + 1 < BS3D_P_RING_SLOTS ? slot + 1 : 0;
    return s->slots + slot * shape::size;
}

/* Eliminates forward in z: y = d - l y, with y of the previous plane on the right-hand side. Adds h y to `first`, which
   becomes the right-hand side of the partition's first row. `factors` holds l and h of this plane
   (bs3d_p_factor_planes). */
TB_D void bs3d_p_eliminate(int points, const tb_real *factors, const tb_real *d, tb_real *y, tb_real *first)
{
    TB_UNROLL
    for (int n = 0; n < points; n++) {
        y[n] = d[n] - factors[0] * y[n];
        first[n] += factors[1] * y[n];
    }
}

/* Stores the right-hand sides of the two rows that a partition adds to the reduced system: `first`, and the last y
   divided by the pivot. `interfaces` points to where the first of the points lies in plane 0 of the interfaces. */
TB_D void bs3d_p_store_interface(int points, const bs3d_p_plan *plan, const tb_real *tables, int partition, int last,
                                 tb_real *y, const tb_real *first, tb_real *interfaces)
{
    tb_real r = tables[BS3D_P_Z_FACTORS + 8 * last + 1];
    TB_UNROLL
    for (int n = 0; n < points; n++) y[n] *= r;
    bs3d_p_store(points, first, interfaces + plan->plane * partition);
    bs3d_p_store(points, y, interfaces + plan->plane * (plan->partitions + partition));
}

/* ---- the sweep --------------------------------------------------------------------------------------------------- */

/* The ring and the threads of a sweep. A warp computes bs3d_p_shape::rows rows. With two steps, warps also compute one
   more row on each side of the tile, and an additional warp computes the columns beside it. */
template <int steps>
struct bs3d_p_tile
    : bs3d_p_ring_shape<bs3d_p_shape::tile_rows + 2 * steps, bs3d_p_shape::columns,
                        32 * ((bs3d_p_shape::tile_rows + 2 * (steps - 1)) / bs3d_p_shape::rows + steps - 1)> {
};

/* A lane's part of its block's tile: a patch or, if `beside` is set (with two steps only), points of a column beside
   the tile. */
typedef struct {
    int row, x; /* of its first point in the tile */
    int beside, valid;
    int from_west, from_east; /* whether no lane of the warp holds the neighbours on that side */
    int place;                /* the offset of the first point in a slot */
} bs3d_p_part;

/* Returns this lane's part of a tile that is `width` columns wide. */
TB_D bs3d_p_part bs3d_p_part_of(int steps, int warp, int lane, int width)
{
    const int rows = bs3d_p_shape::rows, columns = bs3d_p_shape::columns;
    const int row_warps = (bs3d_p_shape::tile_rows + 2 * (steps - 1)) / rows;
    bs3d_p_part part;
    part.beside = steps > 1 && warp == row_warps;
    int east = part.beside && lane >= row_warps;
    part.row = rows * (part.beside ? lane - (east ? row_warps : 0) : warp) - (steps - 1);
    part.x = part.beside ? (east ? width : -1) : columns * lane;
    part.valid = part.beside ? lane < 2 * row_warps : part.x < width;
    part.from_west = part.valid && lane == 0;
    part.from_east = part.valid && (lane == 31 || part.x + columns == width);
    part.place = (part.valid ? part.row + steps : 1) * bs3d_p_tile<1>::stride + BS3D_P_PAD + (part.valid ? part.x : 0);
    return part;
}

/* A lane's data for the steps of a sweep: the rows of its points on the three axes (on the third those of three
   planes), `now` and `next` of bs3d_lane_plane for each of two steps, and the result. */
typedef struct {
    const bs3d_row *xs, *ys;
    bs3d_row *z;
    tb_real (*now)[bs3d_p_shape::points], (*next)[bs3d_p_shape::points];
    tb_real *out;
} bs3d_p_carry;

/* Takes a patch of a plane, with its first point at p, and computes L u (or u + L u) on the plane below. */
TB_D void bs3d_p_step(int form, int step, const bs3d_pairs *pairs, const bs3d_p_part *part, const bs3d_p_carry *carry,
                      const tb_real *p)
{
    tb_real patch[(bs3d_p_shape::columns + 2) * (bs3d_p_shape::rows + 2)];
    bs3d_p_patch(form, p, bs3d_p_tile<1>::stride, part->from_west, part->from_east, patch);
    bs3d_lane_plane(form, bs3d_p_shape::columns, bs3d_p_shape::rows, pairs, carry->xs, carry->ys, carry->z, patch,
                    carry->now[step], carry->next[step], carry->out);
}

/* Computes L u (or u + L u) for points of a column beside the tile, and leaves the valid ones in shared memory. */
TB_D void bs3d_p_step_beside(int form, const bs3d_pairs *pairs, const bs3d_p_part *part, const bs3d_p_carry *carry,
                             const tb_real *p, tb_real *made)
{
    const int rows = bs3d_p_shape::rows, stride = bs3d_p_tile<1>::stride;
    tb_real patch[3 * (rows + 2)];
    TB_UNROLL
    for (int n = 0; n < 3 * (rows + 2); n++)
        patch[n] = p[(n / 3 - 1) * stride + n % 3 - 1];
    bs3d_lane_plane(form, 1, rows, pairs, carry->xs, carry->ys, carry->z, patch, carry->now[0], carry->next[0],
                    carry->out);
    TB_UNROLL
    for (int n = 0; n < rows; n++)
        if (part->valid) made[n * stride] = carry->out[n];
}

/* Loads the rows of the first two axes for the part's points, in a tile that begins at column i and row j of the grid.
   stores[p] tells whether row p of the part belongs to the tile and to the grid. */
TB_D void bs3d_p_part_rows(const bs3d_p_plan *plan, const tb_real *tables, const bs3d_p_part *part, int i, int j,
                           bs3d_row *xs, bs3d_row *ys, int *stores)
{
    const int rows = bs3d_p_shape::rows, row = part->row;
    bs3d_p_axis_rows(plan, tables, 0, part->valid ? i + part->x : plan->pitch, part->beside ? 1 : bs3d_p_shape::columns,
                     xs);
    bs3d_p_axis_rows(plan, tables, 1, j + row, rows, ys);
    for (int p = 0; p < rows; p++)
        stores[p] = !part->beside && part->valid && row + p >= 0 && row + p < bs3d_p_shape::tile_rows &&
                    j + row + p < plan->model.points[1];
}

/* If `inner` is set, stores those rows of a patch that `stores` marks. Rows are `step` elements apart in memory. */
TB_D void bs3d_p_store_rows(const int *stores, int inner, const tb_real *u, tb_real *to, int step)
{
    const int columns = bs3d_p_shape::columns;
    TB_UNROLL
    for (int n = 0; n < bs3d_p_shape::rows; n++)
        if (stores[n] && inner) bs3d_p_store(columns, u + n * columns, to + n * step);
}

/* Sweeps upward, and takes one or two time steps: the kernel of explicit3, of explicit4, and of right-hand sides in
   implicit1 and (with `forward`) implicit2. A block takes a tile of tile_rows rows and plan.tile columns.
   Plane k arrives in shared memory with BS3D_P_PAD more columns on each side and, for each step, one more row on each
   side. With one step, plane k-1 is computed. With two steps, the first computes plane k-1 with one more row and column
   on each side: some warps compute the rows, of which the first and the last lie outside the tile, and one more warp
   computes the columns beside the tile. The second step computes plane k-3, two planes behind the first.
   The weights in `pairs` determine whether v becomes u + L u or L u. With `forward`, the kernel also eliminates L u
   forward in z, within each partition, and stores the interfaces (bs3d_p_solve_reduced). implicit2 does so where
   another kernel solves the x systems. */
template <int form, int steps, int forward, class... spans>
__launch_bounds__(bs3d_p_tile<steps>::threads, bs3d_p_shape::tile_blocks)
TRID_KERNEL void bs3d_p_sweep(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                              const tb_real *__restrict__ u, tb_real *__restrict__ v, tb_real *__restrict__ interfaces,
                              spans... span)
{
    TRID_DYNAMIC_SHARED(memory);
    const int columns = bs3d_p_shape::columns, rows = bs3d_p_shape::rows, tile_rows = bs3d_p_shape::tile_rows;
    const int stride = bs3d_p_tile<steps>::stride, size = bs3d_p_tile<steps>::size;
    bs3d_p_launch_dependents();
    const int i = plan.tile * (int)blockIdx.x, j = tile_rows * (int)blockIdx.y;
    const int width = plan.pitch - i < plan.tile ? plan.pitch - i : plan.tile;
    const bs3d_p_stretch s =
        bs3d_p_open_stretch<steps, forward, (steps - 1) * 2 * size>(&plan, (int)blockIdx.z, tables, memory, &span...);
    bs3d_p_ring<bs3d_p_tile<steps>> ring =
        bs3d_p_open_ring<bs3d_p_tile<steps>>(&plan, u, i - BS3D_P_PAD, width + 2 * BS3D_P_PAD, j - steps, s.slots);
    const bs3d_p_part part = bs3d_p_part_of(steps, (int)threadIdx.x / 32, (int)threadIdx.x & 31, width);
    tb_real *target =
        v + i + part.x + (long long)plan.pitch * (j + part.row) + plan.plane * (s.first - 2 * steps + 1);
    bs3d_row xs[columns], ys[rows], z[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    tb_real now[2][columns * rows] = {{0}}, next[2][columns * rows] = {{0}}, out[columns * rows];
    tb_real y[columns * rows] = {0}, first_unknown[columns * rows] = {0};
    int stores[rows];
    bs3d_p_part_rows(&plan, tables, &part, i, j, xs, ys, stores);
    const bs3d_p_carry carry = {xs, ys, z, now, next, out};
    bs3d_p_grid_wait();
    bs3d_p_prefetch_first(&s, &ring);
    for (int k = s.first; k < s.to + 2 * steps - 1; k++, target += plan.plane) {
        TRID_COPY_AWAIT(BS3D_P_RING_SLOTS - 2);
        __syncthreads();
        const tb_real *p = bs3d_p_next_plane(&s, &ring, k) + part.place;
        tb_real *made = s.between + (k & 1) * size + part.place;
        if (k < s.to + steps) { /* the first step */
            bs3d_p_plane_weights(s.weights, k - s.first + 2, z);
            if (part.beside) {
                bs3d_p_step_beside(form, &pairs, &part, &carry, p, made);
            } else {
                bs3d_p_step(form, 0, &pairs, &part, &carry, p);
                if (forward && k > s.from)
                    bs3d_p_eliminate(columns * rows, s.weights + BS3D_P_PLANE_WEIGHTS * (k - s.first + 2) + 8, out, y,
                                     first_unknown);
                if (steps == 1) bs3d_p_store_rows(stores, k > s.from, forward ? y : out, target, plan.pitch);
                TB_UNROLL
                for (int n = 0; n < rows && steps == 2; n++)
                    if (part.valid) bs3d_p_store(columns, out + n * columns, made + n * stride);
            }
        }
        if (steps == 2 && !part.beside && k > s.from) { /* the second, two planes behind */
            bs3d_p_plane_weights(s.weights, k - s.first, z);
            bs3d_p_step(form, 1, &pairs, &part, &carry, s.between + (~k & 1) * size + part.place);
            bs3d_p_store_rows(stores, k - 3 >= s.from, out, target, plan.pitch);
        }
    }
    if (!forward) return;
    tb_real *at = interfaces + i + part.x + (long long)plan.pitch * (j + part.row);
    TB_UNROLL
    for (int n = 0; n < rows; n++)
        if (stores[n])
            bs3d_p_store_interface(columns, &plan, tables, s.partition, s.to - 1, y + n * columns,
                                   first_unknown + n * columns, at + n * plan.pitch);
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

/* Sets l->bytes, the shared memory of a sweep (bs3d_p_fit), and allows the kernel all that the device has. */
template <class... spans>
static int bs3d_p_allow(int elements, int most, bs3d_p_launch<spans...> *l)
{
    l->bytes = bs3d_p_fit(elements, l->plan.model.points[2], 8, most, &l->plan.partitions);
    return l->bytes && trid_allow_shared(l->sweep) == cudaSuccess ? BS3D_OK : BS3D_LAUNCH_FAILED;
}

/* Plans the launch of bs3d_p_sweep in plan->partitions partitions, where 0 means the best number. Takes more if shared
   memory requires it. */
template <int steps, int forward, class... spans>
static int bs3d_p_launch_tiles(const bs3d_p_plan *plan, int form, bs3d_p_launch<spans...> *l)
{
    const int columns = bs3d_p_shape::columns, *n = plan->model.points;
    int tiles = (n[0] - 1) / (32 * columns) + 1, most = plan->partitions ? BS3D_P_PARTITIONS : n[2];
    l->sweep = form ? bs3d_p_sweep<BS3D_GENERAL, steps, forward, spans...>
                    : bs3d_p_sweep<BS3D_POSITIVE, steps, forward, spans...>;
    l->plan = *plan;
    l->plan.tile = ((n[0] - 1) / tiles / columns + 1) * columns;
    l->early = !forward && trid_compiled_for(l->sweep) >= 90;
    l->block = dim3((unsigned)bs3d_p_tile<steps>::threads);
    l->grid = dim3((unsigned)tiles, (unsigned)((n[1] - 1) / bs3d_p_shape::tile_rows + 1));
    if (!plan->partitions)
        l->plan.partitions = bs3d_p_best_partitions(n[2], (long long)l->grid.x * l->grid.y, bs3d_p_shape::tile_blocks,
                                                    3 * steps - 1, n[2]);
    const int slots = BS3D_P_RING_SLOTS + 2 * (steps - 1); /* two steps: also two planes between them */
    int status = bs3d_p_allow(slots * bs3d_p_tile<steps>::size, most, l);
    l->grid.z = (unsigned)l->plan.partitions;
    return status;
}
