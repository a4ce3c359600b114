/* one_sweep.h - a room of bs3d.h: the sweep of implicit3, one time step, in a block or a pair of blocks.
   MIT licence, see LICENSE.

   In a sweep, o is the axis of the rows (x or y), t is the other axis, and k counts planes in the sweep's direction.
   The matrices A_o, A_t and A_z commute, so a time step is
       A_z A_t A_o u' = A_z A_t A_o u + L u,   or   p' = A_t u' = A_t u + A_z^-1 h   with   A_o h = L u.
   Let p = A_o u. The sweep reads w, the result of the forward elimination of A_z p in the opposite direction. The
   previous sweep or, before the first sweep, bs3d_p_implicit3_start has left it:
       w[k] = p[k] + q[k] p[k-1] + s[k] p[end],
   where q and s are factors of A_z (bs3d_p_factor_planes), and p[end] is the first unknown beyond the partition. The
   sweep computes
       1. p[k] = w[k] - q[k] p[k-1] - s[k] p[end], the back substitution;
       2. A_o u[k] = p[k], solved along the rows for u, which is never stored;
       3. g[k] = L u[k], from u of three planes; A_o h[k] = g[k], in the same solve as u[k+2];
       4. y[k] = h[k] - l[k] y[k-1], the forward elimination of h, in the sweep's direction;
       5. w'[k] = v[k] + q'[k] v[k+1] + r'[k] y[k] with v = A_t u. The factors l, q' and r' belong to the sweep's
          direction, q and s to the opposite one. The elimination of A_z v needs no recurrence: it leaves
          (v[k] + q'[k] v[k+1]) / r'[k], where 1 / r'[k] is the pivot. The whole row, with y[k], is then divided
          by the pivot.
   w' is to p' what w is to p, with the axes o and t exchanged. The next sweep goes the opposite way. Its rows lie along
   t, so each block writes its rows as columns. docs/bs3d.md has a picture. */

/* The axes, direction and layouts of a sweep of implicit3. */
typedef struct {
    int own, points, lines; /* the axis of its rows, their points, and the number of rows in a plane */
    int direction;          /* 1 upward, -1 downward */
    int finish;             /* whether the sweep leaves u instead of the next sweep's w */
    int pitch, to_pitch;    /* the distance between rows of its input, and of its output */
    long long plane, to_plane;
} bs3d_p_heading;

/* ---- rows and tiles in shared memory ----------------------------------------------------------------------------- */

enum { BS3D_P_LANE_VECTORS = 8 / BS3D_P_V }; /* vectors in a lane's 8 points */

/* A row of 256 points in shared memory, 8 a lane. The vectors of a lane are `spread` vectors apart, so that neither the
   lanes' loads nor copies of neighbouring vectors cause bank conflicts. `rows` rows make a tile. */
struct bs3d_p_spread_row {
    static constexpr int rows = bs3d_p_shape::one_sweep_rows;
    static constexpr int spread = 32 + 16 / TB_BYTES, len = 8 * spread, tile = rows * len + 32;
    static constexpr int threads = 32 * (rows + 2);
};

/* Returns by how much the rows of a part of a tile are shifted, so that lanes read columns without bank conflicts. A
   part has BS3D_P_V rows. */
TB_D int bs3d_p_skew(int part)
{
    return TB_BYTES == 8 ? 2 * (part % 2) + 8 * (part / 2) : 8 * part;
}

/* Returns the offset of point x of a row. */
TB_D int bs3d_p_spread(int x)
{
    int vector = x / BS3D_P_V;
    return BS3D_P_V * (vector % BS3D_P_LANE_VECTORS * bs3d_p_spread_row::spread + vector / BS3D_P_LANE_VECTORS) +
           x % BS3D_P_V;
}

/* Loads eight points of a row from global memory; the first `left` are valid. Vectors without a valid point become
   0. */
TB_D void bs3d_p_load_points(int left, const tb_real *from, tb_real *d)
{
    TB_UNROLL
    for (int r = 0; r < 8; r++) d[r] = 0;
    TB_UNROLL
    for (int v = 0; v < 8 / BS3D_P_V; v++)
        if (BS3D_P_V * v < left) transpose_unpack(((const transpose_vector *)from)[v], d + v * BS3D_P_V);
}

/* Prefetches a lane's vectors of a row, every 32nd one, into a slot. The first goes to `to`; from that one on, `left`
   vectors of the row are valid. All addresses are `from` or `to` plus compile-time constants. */
TB_D void bs3d_p_prefetch_row(const tb_real *from, int left, trid_copy_place to)
{
    TB_UNROLL
    for (int n = 0; n < BS3D_P_LANE_VECTORS; n++)
        if (32 * n < left)
            trid_copy_async(to, (int)sizeof(tb_real) * BS3D_P_V * (32 / BS3D_P_LANE_VECTORS) * n,
                            from + BS3D_P_V * 32 * n);
    trid_copy_commit();
}

/* A lane's data about its row, the same in all planes. */
typedef struct {
    int row, own, half;  /* the warp's row in the tile, and in a plane of u; which half of the row */
    int computes;        /* 0 for the two extra warps: the first of them has the row before the tile, the
                            second the row after it */
    int first, j, valid; /* the tile's first row in the grid; the warp's row there; whether that row exists */
    int points, vectors; /* the row's points, counted from the block's first one; its vectors, counted from the first
                            one that the lane prefetches, 0 if the row does not exist */
    int before, past;    /* how many points from the lane's first one on are valid in the plane before the
                            partition and in the plane past it, in the order of the sweep */
    int mine, place;     /* the lane's first vector in a row in shared memory, and in a tile; in a row of w, `mine` is
                            the first vector that the lane prefetches */
    int steps;           /* of the scans (trid_warp_lu_precompute) */
    const tb_real *factors, *keep, *weights; /* the lane's parts of those in bs3d_p_one_sweep_memory */
    /* For a pair of blocks: the numbers of bs3d_p_factor_seam; where the other half's two numbers arrive, on even and
       on odd planes; the mbarriers on which to wait for these numbers. */
    const tb_real *link;
    tb_real *places;
    unsigned long long *mbarriers;
    trid_copy_place slots; /* the prefetched planes of the row, at the first vector that the lane prefetches */
    bs3d_row ys;           /* the row of the other axis */
    tb_real other[3];      /* the row of that axis's matrix */
} bs3d_p_one_sweep_row;

/* Stores the rows of a tile as columns of a plane of the sweep's output. Called only by the 64 threads that do not
   compute. */
TB_D void bs3d_p_store_columns(const bs3d_p_heading *heading, const bs3d_p_one_sweep_row *row, const tb_real *tile,
                               tb_real *to)
{
    const int to_pitch = heading->to_pitch, j = row->first, thread = (int)threadIdx.x - 32 * bs3d_p_spread_row::rows;
    const int parts = bs3d_p_spread_row::rows / BS3D_P_V;
    const int each = TB_BYTES == 4 ? 32 : 16; /* columns at a time */
    int part = thread % parts, x = thread / parts;
    tile += part * BS3D_P_V * bs3d_p_spread_row::len + bs3d_p_skew(part) + bs3d_p_spread(x);
    to += (long long)to_pitch * x + j + part * BS3D_P_V;
    const long long step = (long long)to_pitch * each;
    if (x >= each || j + part * BS3D_P_V >= to_pitch) return;
    TB_UNROLL
    for (int n = 0; n < 256 / each; n++, to += step) {
        tb_real column[BS3D_P_V];
        TB_UNROLL
        for (int e = 0; e < BS3D_P_V; e++)
            column[e] = tile[e * bs3d_p_spread_row::len + n * each / BS3D_P_LANE_VECTORS];
        if (x + n * each < row->points) *(transpose_vector *)to = transpose_pack(column);
    }
}

/* ---- the seam of a pair ------------------------------------------------------------------------------------------ */

/* Joins the two halves of a row after elimination towards the seam, for both right-hand sides: the numbers beside the
   seam become the solution. All lanes do the arithmetic of the lane at the seam, because a branch around it would make
   the compiler guard every shuffle. The lane at the seam also leaves u of the point across the seam at `beside`. */
TB_D void bs3d_p_meet_halves(const bs3d_p_one_sweep_row *row, int n, tb_real *beside, tb_real *d)
{
    const int half = row->half, odd = n % 2, low = half && trid_warp_lane() == 0,
              high = !half && trid_warp_lane() == 31;
    if (low || high) {
        trid_mbarrier_expect(row->mbarriers + odd, 16);
        const tb_real sent[BS3D_P_V] = {half ? d[0] : d[7], half ? d[8] : d[15]};
        trid_cluster_send(row->places + BS3D_P_V * odd, !half, row->mbarriers + odd, sent);
    }
    const tb_real across = row->link[0], scale = row->link[1], back = row->link[2];
    trid_mbarrier_wait(row->mbarriers + odd, n / 2 % 2);
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        tb_real there = row->places[BS3D_P_V * odd + side], here = half ? d[8 * side] : d[8 * side + 7];
        tb_real x = scale * here - back * there;
        if (side == 0 && (low || high)) *beside = scale * there - across * here;
        d[8 * side] = low ? x : d[8 * side];
        d[8 * side + 7] = high ? x : d[8 * side + 7];
    }
}

/* Calls trid_warp_recurrence_precomputed for both right-hand sides of a row, with a literal direction. */
TB_D void bs3d_p_row_recurrence(int up, int steps, const tb_real *m, const tb_real *keep, tb_real *d)
{
    if (up)
        trid_warp_recurrence_precomputed(8, 32, 1, 2, steps, m, keep, 32, d);
    else
        trid_warp_recurrence_precomputed(8, 32, 0, 2, steps, m, keep, 32, d);
}

/* Solves for two right-hand sides of half a row: eliminates towards the seam, exchanges numbers with the other half
   there, and substitutes back. */
TB_D void bs3d_p_solve_half(const bs3d_p_one_sweep_row *row, int n, const tb_real *lur, tb_real *beside, tb_real *d)
{
    TB_UNROLL
    for (int e = 0; e < 16; e++) d[e] *= lur[16 + e % 8];
    bs3d_p_row_recurrence(row->half, row->steps, lur, row->keep, d);
    bs3d_p_meet_halves(row, n, beside, d);
    bs3d_p_row_recurrence(!row->half, row->steps, lur + 8, row->keep + 5 * 32, d);
}

/* ---- a plane, for a lane ----------------------------------------------------------------------------------------- */

/* Computes the numbers that the block needs when a plane arrives: for the planes `from` .. `to` - 1, for one before
   them and for two after them, since a plane is finished two planes after it has arrived. n counts these planes in the
   order of the sweep. With the numbers of plane n (in parentheses) the block computes p of that plane (q, s), finishes
   w' of plane n-2 (l, r' and the weight of w' in the first unknown), adds q' v to w' of plane n-1 (q'), and calls
   bs3d_lane_plane (the weights in the sweep's direction). */
TB_D void bs3d_p_one_sweep_levels(const bs3d_p_heading *heading, const tb_real *tables, int from, int to,
                                  tb_real *levels)
{
    const int up = heading->direction > 0;
    const tb_real *upward = tables + BS3D_P_Z_FACTORS, *downward = upward + BS3D_P_Z_SIZE;
    for (int n = trid_block_thread(); n < to - from + 3; n += trid_block_threads()) {
        int count = to - from, k = up ? from - 1 + n : to - n, inside = n > 0 && n <= count;
        const tb_real *found = (up ? downward : upward) + 8 * (inside ? k : from);
        const tb_real *made = (up ? upward : downward) + 8 * (n > 2 ? k - 2 * heading->direction : from);
        const tb_real *completed =
            (up ? upward : downward) + 8 * (n > 1 && n < count + 2 ? k - heading->direction : from);
        tb_real *level = levels + BS3D_P_PLANE_WEIGHTS * n;
        bs3d_row z[3];
        bs3d_p_rows(tables, k, z);
        level[0] = inside ? found[2] : 0;
        level[1] = inside ? found[7] : 0;
        level[2] = made[6];
        level[3] = made[1];
        level[4] = made[5];
        level[5] = completed[2];
        level[6] = up ? z[0].up : z[2].down;
        level[7] = up ? z[0].weight : z[2].weight;
        level[8] = z[1].up + z[1].down;
        level[9] = z[1].weight;
        level[10] = up ? z[2].down : z[0].up;
        level[11] = up ? z[2].weight : z[0].weight;
    }
}

/* Loads a lane's factors `from` .. `to` - 1 from shared memory. Factor 0 is l, 1 is u, and 2 is r. */
TB_D void bs3d_p_lane_factors(int from, int to, const tb_real *factors, tb_real *lur)
{
    TB_UNROLL
    for (int n = from; n < to; n++)
        bs3d_p_load<bs3d_p_spread_row::spread>(8, factors + n * bs3d_p_spread_row::len, lur + 8 * n);
}

/* Loads a lane's rows along the sweep's own axis from shared memory, for bs3d_lane_plane. */
TB_D void bs3d_p_lane_rows(const tb_real *weights, bs3d_row *rows)
{
    tb_real down[8], up[8], weight[8];
    bs3d_p_load<bs3d_p_spread_row::spread>(8, weights, down);
    bs3d_p_load<bs3d_p_spread_row::spread>(8, weights + bs3d_p_spread_row::len, up);
    bs3d_p_load<bs3d_p_spread_row::spread>(8, weights + 2 * bs3d_p_spread_row::len, weight);
    TB_UNROLL
    for (int r = 0; r < 8; r++) rows[r] = {down[r], up[r], weight[r]};
}

/* A lane's data about its 8 points, carried from plane to plane. */
typedef struct {
    tb_real z[8];            /* p of the plane that has arrived, n */
    tb_real d[2 * 8];        /* right-hand sides, then solutions: u of plane n, and h of plane n-2 */
    tb_real v[8], w[8];      /* A_t u; the next sweep's w on the previous plane, without r y */
    tb_real y[8];            /* h, eliminated in z */
    tb_real now[8], next[8]; /* as in bs3d_lane_plane */
} bs3d_p_one_sweep_lane;

/* Computes p of a plane by back substitution along z; the plane's w is at `coming`. p of the first plane past the
   partition is at `past`, where `left` points are valid. If is_past is set, the plane is that one or the next, and the
   function only loads p from `past`. */
TB_D void bs3d_p_back_substitute(int is_past, const tb_real *level, const tb_real *coming, int left,
                                 const tb_real *past, tb_real *z)
{
    tb_real w[8], q = level[0], spike = level[1];
    if (is_past) {
        bs3d_p_load_points(left, past, z);
        return;
    }
    bs3d_p_load<bs3d_p_spread_row::spread>(8, coming, w);
    TB_UNROLL
    for (int r = 0; r < 8; r++) z[r] = w[r] - q * z[r];
    if (spike != 0) {
        bs3d_p_load_points(left, past, w);
        TB_UNROLL
        for (int r = 0; r < 8; r++) z[r] -= spike * w[r];
    }
}

/* When plane n has arrived, finishes the next sweep's w on plane n-2, and stores it in the tile. Adds that w, times its
   weight in the partition's first unknown, to `gathered`. */
TB_D void bs3d_p_make_w(const tb_real *level, bs3d_p_one_sweep_lane *lane, tb_real *tile, tb_real *gathered)
{
    tb_real l = level[2], r_here = level[3], weight = level[4], sum[8];
    TB_UNROLL
    for (int r = 0; r < 8; r++) {
        lane->y[r] = lane->d[8 + r] - l * lane->y[r];
        lane->w[r] += r_here * lane->y[r];
    }
    bs3d_p_store<bs3d_p_spread_row::spread>(8, lane->w, tile);
    if (weight != 0) {
        bs3d_p_load<bs3d_p_spread_row::spread>(8, gathered, sum);
        TB_UNROLL
        for (int r = 0; r < 8; r++) sum[r] += weight * lane->w[r];
        bs3d_p_store<bs3d_p_spread_row::spread>(8, sum, gathered);
    }
}

/* Computes g[n-1], into the second right-hand side; v[n] = A_t u[n]; and v[n-1] + q'[n-1] v[n], a part of w'[n-1].
   Needs    u of all rows of plane n in shared memory, with the lane's southern neighbours at `south` */
TB_D void bs3d_p_one_sweep_step(int form, int pair, int n, const bs3d_pairs *pairs, const bs3d_p_one_sweep_row *row,
                                const tb_real *level, const tb_real *south, bs3d_p_one_sweep_lane *lane)
{
    const int width = 8 + 2;
    const tb_real *other = row->other;
    tb_real u[3 * width], numbers[8];
    bs3d_row xs[8], zs[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    bs3d_p_load<bs3d_p_spread_row::spread>(8, south, u + 1);
    bs3d_p_load<bs3d_p_spread_row::spread>(8, south + 2 * bs3d_p_spread_row::len, u + 2 * width + 1);
    TB_UNROLL
    for (int r = 0; r < 8; r++) u[width + 1 + r] = lane->d[r];
    bs3d_p_patch_edges(form, 8, 1, u);
    const int seam = row->half ? 0 : 31;
    if (pair && trid_warp_lane() == seam) { /* bs3d_p_meet_halves stored u of the points across the seam after the
                                               first vectors of the 32 lanes */
        TB_UNROLL
        for (int r = 0; r < 3; r++) {
            tb_real there = south[r * bs3d_p_spread_row::len + (32 - seam) * BS3D_P_V];
            u[r * width] = row->half ? there : u[r * width];
            u[r * width + 9] = row->half ? u[r * width + 9] : there;
        }
    }
    bs3d_p_load(4, level + 4, numbers);
    bs3d_p_load(4, level + 8, numbers + 4);
    zs[0].up = numbers[2];
    zs[0].weight = numbers[3];
    zs[1].up = numbers[4]; /* the sum of up and down, since bs3d_lane_plane only adds them */
    zs[1].weight = numbers[5];
    zs[2].down = numbers[6];
    zs[2].weight = numbers[7];
    bs3d_p_lane_rows(row->weights, xs);
    bs3d_lane_plane(form, 8, 1, pairs, xs, &row->ys, zs, u, lane->now, lane->next, lane->d + 8);
    TB_UNROLL
    for (int r = 0; r < 8; r++) {
        lane->w[r] = lane->v[r];
        lane->v[r] = other[0] * u[r + 1] + other[1] * u[width + r + 1] + other[2] * u[2 * width + r + 1];
        lane->w[r] += numbers[1] * lane->v[r];
    }
    if (n == 0) { /* the elimination begins with v of the plane before the partition */
        bs3d_p_as_branch();
        TB_UNROLL
        for (int r = 0; r < 8; r++) lane->y[r] = lane->v[r];
    }
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* The parts of a block's shared memory. */
typedef struct {
    tb_real *levels;   /* bs3d_p_one_sweep_levels */
    tb_real *ring;     /* w, prefetched */
    tb_real *gathered; /* the partition's first unknown, for the tile's rows */
    tb_real *planes;   /* u of the tile's rows and of one more on each side, for two planes */
    tb_real *tiles;    /* output for the tile's rows, on three planes: the next sweep's w, or u in the last sweep */
    tb_real *factors;  /* l, u, r of a row's points */
    tb_real *weights;  /* down, up and weight of a row's points */
    tb_real *keep;     /* the numbers of trid_warp_lu_precompute */
    tb_real *link;     /* the numbers of bs3d_p_factor_seam; in double precision, registers have no room for them */
    tb_real *places;   /* slots for a pair's seams, two a row, and their mbarriers */
    unsigned long long *mbarriers, *barrier;
} bs3d_p_one_sweep_memory;

/* Returns how many elements of shared memory a block needs in addition to the levels. */
TB_HD constexpr int bs3d_p_one_sweep_elements(void)
{
    const int rows = bs3d_p_spread_row::rows;
    return bs3d_p_spread_row::len * ((BS3D_P_PREFETCH + 2) * (rows + 2) + 4 * rows + 6) +
           32 * TRID_WARP_LU_PRECOMPUTED_LEN + 3 * 32 + 4 + (2 * (16 + 8) * (rows + 2) + 8) / (int)sizeof(tb_real);
}

/* Divides and fills shared memory. All threads call it. */
TB_D bs3d_p_one_sweep_memory bs3d_p_one_sweep_open(int pair, int half, const bs3d_p_heading *heading,
                                                   const tb_real *tables, int from, int to, unsigned char *memory)
{
    const int len = bs3d_p_spread_row::len, thread = trid_block_thread(), threads = bs3d_p_spread_row::threads;
    const int rows = bs3d_p_spread_row::rows + 2;
    const tb_real zeros[BS3D_P_V] = {0}, *precomputed = tables +
                                                        (heading->own == 0 ? BS3D_P_X_FACTORS : BS3D_P_Y_FACTORS) +
                                                        32 * bs3d_p_row_factors(8) * half;
    bs3d_p_one_sweep_memory m;
    m.levels = (tb_real *)memory;
    m.ring = m.levels + BS3D_P_PLANE_WEIGHTS * (to - from + 3);
    m.gathered = m.ring + BS3D_P_PREFETCH * rows * len;
    m.planes = m.gathered + bs3d_p_spread_row::rows * len;
    m.tiles = m.planes + 2 * rows * len;
    m.factors = m.tiles + 3 * bs3d_p_spread_row::tile;
    m.weights = m.factors + 3 * len;
    m.keep = m.weights + 3 * len;
    m.link = m.keep + 32 * TRID_WARP_LU_PRECOMPUTED_LEN;
    m.places = m.link + 4;
    m.mbarriers = (unsigned long long *)(m.places + 2 * BS3D_P_V * rows);
    m.barrier = m.mbarriers + 2 * rows;
    bs3d_p_barrier_init(m.barrier, threads);
    if (pair && thread < 2 * rows) trid_mbarrier_init(m.mbarriers + thread);
    if (pair && thread < 3) m.link[thread] = precomputed[32 * (bs3d_p_row_factors(8) - 1) + thread];
    for (int e = thread; e < (int)(m.planes - m.ring) / BS3D_P_V; e += threads)
        ((transpose_vector *)m.ring)[e] = transpose_pack(zeros);
    bs3d_p_one_sweep_levels(heading, tables, from, to, m.levels);
    for (int x = thread; x < 256; x += threads) {
        const tb_real *f = precomputed + 32 * (x % 8) + x / 8;
        bs3d_row r = {0, 0, 0};
        int at = bs3d_p_spread(x);
        if (256 * half + x < heading->points) r = bs3d_p_row(tables, heading->own, 256 * half + x);
        for (int n = 0; n < 3; n++) m.factors[n * len + at] = f[32 * 8 * n];
        m.weights[at] = r.down;
        m.weights[len + at] = r.up;
        m.weights[2 * len + at] = r.weight;
    }
    for (int e = thread; e < 32 * TRID_WARP_LU_PRECOMPUTED_LEN; e += threads) m.keep[e] = precomputed[32 * 3 * 8 + e];
    if (pair)
        trid_cluster_sync(); /* both blocks' mbarriers must be initialised before anything is sent */
    else
        __syncthreads();
    return m;
}

/* Returns how many of l, u and r a lane keeps in registers, for its points. In double precision more would spill. */
TB_HD constexpr int bs3d_p_in_registers(int form, int pair)
{
    return TB_BYTES == 4 ? 3 : pair && form == BS3D_GENERAL ? 1 : 2;
}

/* Returns a lane's data about its row. */
template <int pair>
TB_D bs3d_p_one_sweep_row bs3d_p_one_sweep_row_of(int half, const bs3d_p_plan *plan, const bs3d_p_heading *heading,
                                                  const tb_real *tables, const bs3d_p_one_sweep_memory *m)
{
    const int tile_rows = bs3d_p_spread_row::rows, len = bs3d_p_spread_row::len;
    const int thread = (int)threadIdx.x, rank = thread % 32;
    bs3d_p_one_sweep_row r;
    r.row = trid_warp_uniform(thread / 32);
    r.own = r.row == tile_rows ? 0 : r.row == tile_rows + 1 ? tile_rows + 1 : r.row + 1;
    r.half = half;
    r.computes = r.row < tile_rows;
    r.first = tile_rows * ((int)blockIdx.x / (1 + pair));
    r.j = r.first - 1 + r.own;
    r.valid = r.j >= 0 && r.j < heading->lines;
    r.points = heading->points - 256 * half;
    r.vectors = r.valid && r.points > 0 ? (r.points - 1) / BS3D_P_V + 1 - rank : 0;
    const int before = (int)blockIdx.y - heading->direction, past = (int)blockIdx.y + heading->direction;
    r.before = r.valid && before >= 0 && before < plan->partitions ? r.points - 8 * rank : 0;
    r.past = r.valid && past >= 0 && past < plan->partitions ? r.points - 8 * rank : 0;
    r.mine = rank * BS3D_P_V;
    r.place = r.row * len + r.mine + bs3d_p_skew(r.row / BS3D_P_V);
    r.steps = trid_warp_uniform((int)tables[BS3D_P_STEPS + heading->own + 3 * half]);
    r.factors = m->factors + r.mine;
    r.keep = m->keep + rank;
    r.weights = m->weights + r.mine;
    r.link = m->link;
    r.places = m->places + 2 * BS3D_P_V * r.own;
    r.mbarriers = m->mbarriers + 2 * r.own;
    r.slots = trid_copy_place_of(
        m->ring + r.own * BS3D_P_PREFETCH * len +
        BS3D_P_V * (rank % BS3D_P_LANE_VECTORS * bs3d_p_spread_row::spread + rank / BS3D_P_LANE_VECTORS));
    if (heading->own == 0) { /* literal axes: otherwise the compiler would copy a kernel's parameters to index them */
        bs3d_p_axis_rows(plan, tables, 1, r.j, 1, &r.ys);
        bs3d_p_matrix_row(plan, 1, r.valid ? r.j : heading->lines, r.other, r.other + 1, r.other + 2);
    } else {
        bs3d_p_axis_rows(plan, tables, 0, r.j, 1, &r.ys);
        bs3d_p_matrix_row(plan, 0, r.valid ? r.j : heading->lines, r.other, r.other + 1, r.other + 2);
    }
    return r;
}

/* Solves for u of plane n and h of plane n-2, in a whole row, or in half a row together with the other half's block. */
template <int form, int pair>
TB_D void bs3d_p_one_sweep_solve(int n, const bs3d_p_one_sweep_row *r, tb_real *lur, tb_real *plane,
                                 bs3d_p_one_sweep_lane *lane)
{
    tb_real *d = lane->d;
    TB_UNROLL
    for (int e = 0; e < 8; e++) d[e] = lane->z[e];
    bs3d_p_lane_factors(bs3d_p_in_registers(form, pair), 3, r->factors, lur);
    if (pair)
        bs3d_p_solve_half(r, n, lur, plane - r->mine + 32 * BS3D_P_V, d);
    else
        trid_warp_lu_solve_precomputed(8, 32, 2, r->steps, lur, lur + 2 * 8, lur + 8, r->keep, 32, d);
    bs3d_p_store<bs3d_p_spread_row::spread>(8, d, plane);
}

/* Writes the last plane and, unless the sweep leaves u, the partition's two interfaces: its first unknown, as gathered,
   and its last row, which is the last plane's w. */
TB_D void bs3d_p_one_sweep_end(const bs3d_p_plan *plan, const bs3d_p_heading *heading, const bs3d_p_one_sweep_memory *m,
                               const bs3d_p_one_sweep_row *r, int tile_at, int written_at, tb_real *made,
                               tb_real *new_interfaces)
{
    const tb_real *last = m->tiles + written_at;
    if (r->computes) {
        tb_real sum[8];
        bs3d_p_load<bs3d_p_spread_row::spread>(8, m->gathered + r->row * bs3d_p_spread_row::len + r->mine, sum);
        bs3d_p_store<bs3d_p_spread_row::spread>(8, sum, m->tiles + tile_at + r->place);
    }
    __syncthreads();
    if (r->computes) return;
    bs3d_p_store_columns(heading, r, last, made);
    if (heading->finish) return;
    new_interfaces += heading->to_plane * (int)blockIdx.y;
    bs3d_p_store_columns(heading, r, m->tiles + tile_at, new_interfaces);
    bs3d_p_store_columns(heading, r, last, new_interfaces + heading->to_plane * plan->partitions);
}

/* Sweeps over the planes of a partition and one more on each side. A block holds a tile of whole rows and one more row
   on each side; in a pair, each block holds half of every row. Each row has a warp, with 8 points a lane. When plane n
   of w arrives, each warp computes p, and solves for u of plane n and for h of plane n-2. It stores u in shared memory,
   where the warps of the neighbouring rows read it. Then the warps of the tile's rows store w' of plane n-2 in a tile,
   and compute g of plane n-1. The warps of the two extra rows write that tile as columns one plane later. */
template <int form, int pair>
TB_D void bs3d_p_one_sweep(const bs3d_pairs *pairs, const bs3d_p_plan *plan, const bs3d_p_heading *heading,
                           const tb_real *tables, const tb_real *w, tb_real *made, const tb_real *interfaces,
                           tb_real *new_interfaces, unsigned char *memory)
{
    const int len = bs3d_p_spread_row::len, all_rows = (bs3d_p_spread_row::rows + 2) * len;
    const int tile_size = bs3d_p_spread_row::tile, slot_bytes = len * (int)sizeof(tb_real);
    const int half = pair ? trid_warp_uniform(trid_cluster_rank()) : 0;
    const int partition = (int)blockIdx.y, before = partition - heading->direction,
              past = partition + heading->direction;
    int from, to;
    bs3d_p_launch_dependents();
    bs3d_p_partition(plan->model.points[2], plan->partitions, partition, &from, &to);
    const int count = to - from, behind = heading->finish ? 0 : 2; /* planes by which output lags behind input */
    const bs3d_p_one_sweep_memory m = bs3d_p_one_sweep_open(pair, half, heading, tables, from, to, memory);
    const bs3d_p_one_sweep_row r = bs3d_p_one_sweep_row_of<pair>(half, plan, heading, tables, &m);
    const long long step = heading->direction * heading->plane, to_step = heading->direction * heading->to_plane;
    const tb_real *source = w + 256 * half + r.mine + (long long)heading->pitch * r.j +
                            heading->plane * (heading->direction > 0 ? from : to - 1);
    made += 256LL * half * heading->to_pitch + heading->to_plane * (heading->direction > 0 ? from : to - 1);
    new_interfaces += 256LL * half * heading->to_pitch;
    bs3d_p_one_sweep_lane lane = {{0}, {0}, {0}, {0}, {0}, {0}, {0}};
    tb_real lur[3 * 8];
    bs3d_p_lane_factors(0, bs3d_p_in_registers(form, pair), r.factors, lur);

    bs3d_p_grid_wait();
    for (int n = 1; n < BS3D_P_PREFETCH; n++, source += step)
        bs3d_p_prefetch_row(source, n <= count ? r.vectors : 0, r.slots + n * slot_bytes);
    interfaces += (long long)heading->pitch * r.j + 256 * half + 8 * ((int)threadIdx.x % 32);
    bs3d_p_load_points(r.before, interfaces + heading->plane * before, lane.z);
    interfaces += heading->plane * (plan->partitions + past);

    const tb_real *level = m.levels;
    int slot = 0, plane_at = 0, tile_at = 0, written_at = 0; /* offsets: u's plane, this tile, the previous one */
    for (int n = 0; n <= count + behind; n++, level += BS3D_P_PLANE_WEIGHTS, source += step) {
        tb_real *plane = m.planes + plane_at + r.own * len + r.mine, *tile = m.tiles + tile_at + r.place;
        const tb_real *coming = m.ring + (r.own * BS3D_P_PREFETCH + slot) * len + r.mine;
        TRID_COPY_AWAIT(BS3D_P_PREFETCH - 1);
        __syncwarp();
        if (n > 0) bs3d_p_back_substitute(n > count, level, coming, r.past, interfaces, lane.z);
        bs3d_p_one_sweep_solve<form, pair>(n, &r, lur, plane, &lane);
        bs3d_p_barrier_arrive(m.barrier);
        __syncwarp(); /* all lanes have read the slot */
        bs3d_p_prefetch_row(source, n + BS3D_P_PREFETCH <= count ? r.vectors : 0, r.slots + slot * slot_bytes);
        if (++slot == BS3D_P_PREFETCH) slot = 0;
        if (r.computes && heading->finish) bs3d_p_store<bs3d_p_spread_row::spread>(8, lane.d, tile);
        if (r.computes && !heading->finish && n > behind)
            bs3d_p_make_w(level, &lane, tile, m.gathered + r.row * len + r.mine);
        bs3d_p_barrier_wait(m.barrier, n & 1);
        if (r.computes && !heading->finish && n < count + 2)
            bs3d_p_one_sweep_step(form, pair, n, pairs, &r, level, plane - len, &lane);
        if (!r.computes && n > behind + 1) {
            bs3d_p_store_columns(heading, &r, m.tiles + written_at, made);
            made += to_step;
        }
        written_at = tile_at;
        tile_at = tile_at < 2 * tile_size ? tile_at + tile_size : 0;
        plane_at = all_rows - plane_at;
    }
    bs3d_p_one_sweep_end(plan, heading, &m, &r, tile_at, written_at, made, new_interfaces);
}
