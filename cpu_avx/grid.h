/* grid.h - a room of cpu_avx.h: the operator on a grid of three factors, applied a row at a time.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_grid_general CPU_AVX_OF(cpu_avx_p_grid_general)
#define cpu_avx_p_grid_plane_step CPU_AVX_OF(cpu_avx_p_grid_plane_step)
#define cpu_avx_p_grid_work_pitch CPU_AVX_OF(cpu_avx_p_grid_work_pitch)
#define cpu_avx_p_grid_slab_of CPU_AVX_OF(cpu_avx_p_grid_slab_of)
#define cpu_avx_p_grid_row_of CPU_AVX_OF(cpu_avx_p_grid_row_of)
#define cpu_avx_grid CPU_AVX_OF(cpu_avx_grid)
#define cpu_avx_p_grid_x CPU_AVX_OF(cpu_avx_p_grid_x)
#define cpu_avx_p_grid_slab CPU_AVX_OF(cpu_avx_p_grid_slab)
#define cpu_avx_p_grid_row CPU_AVX_OF(cpu_avx_p_grid_row)
#define cpu_avx_p_grid_tile CPU_AVX_OF(cpu_avx_p_grid_tile)
#define cpu_avx_p_grid_point CPU_AVX_OF_SET(cpu_avx_p_grid_point)
#define cpu_avx_p_grid_loop CPU_AVX_OF_SET(cpu_avx_p_grid_loop)
#define cpu_avx_p_grid_plain CPU_AVX_OF_SET(cpu_avx_p_grid_plain)
#define cpu_avx_p_grid_at CPU_AVX_OF_SET(cpu_avx_p_grid_at)
#define cpu_avx_p_grid_finish CPU_AVX_OF_SET(cpu_avx_p_grid_finish)
#define cpu_avx_p_grid_vector CPU_AVX_OF_SET(cpu_avx_p_grid_vector)
#define cpu_avx_p_grid_vectors CPU_AVX_OF_SET(cpu_avx_p_grid_vectors)
#define cpu_avx_p_grid_plane CPU_AVX_OF_SET(cpu_avx_p_grid_plane)
#define cpu_avx_p_grid_carry CPU_AVX_OF_SET(cpu_avx_p_grid_carry)
#define cpu_avx_p_grid_cut_of CPU_AVX_OF(cpu_avx_p_grid_cut_of)
#define cpu_avx_p_grid_own CPU_AVX_OF(cpu_avx_p_grid_own)
#define cpu_avx_p_grid_valid CPU_AVX_OF(cpu_avx_p_grid_valid)
#define cpu_avx_grid_bytes CPU_AVX_OF(cpu_avx_grid_bytes)
#define cpu_avx_p_grid_prepare CPU_AVX_OF(cpu_avx_p_grid_prepare)
#define cpu_avx_p_grid_streams CPU_AVX_OF(cpu_avx_p_grid_streams)
#define cpu_avx_p_grid_copy CPU_AVX_OF(cpu_avx_p_grid_copy)
#define cpu_avx_p_grid_status CPU_AVX_OF(cpu_avx_p_grid_status)
#define cpu_avx_p_grid_cut CPU_AVX_OF(cpu_avx_p_grid_cut)

#elif CPU_AVX_PASS == CPU_AVX_PASS_TYPES /* of a precision, shared by its sets */

/* The operator L on a grid of nx by ny by nz points, at least 4 on each axis. Point (i, j, k) lies at
   [i + pitch (j + ny k)]; elements from nx to pitch - 1 of a row are neither read nor written. E, N and U are the
   differences from a point to its upper neighbours on the x, y and z axes; W, S and D those from its lower neighbours
   to it. E_north is E at the upper neighbour on the y axis, W_south W at the lower one. `same` selects L u or u + L u:

     L u or u + L u = same u + up[0] E - down[0] W + up[1] N - down[1] S + up[2] U - down[2] D
                      + the cross differences of three pairs of axes; that of x and y is
                        weight[0] weight[1] (plus[0] (E_north - E + W - W_south) + minus[0] (E_south - E + W - W_north))

   The arrays of an axis hold one number for each of its points. Numbers that multiply neighbours beyond the grid must
   be 0: down at point 0, up at the last point, weight at both. bs3d_lane_row of bs3d.h computes the elements of these
   arrays; bs3d_lane_pairs computes plus, minus and same. */
typedef struct {
    int nx, ny, nz;
    long long pitch;
    const cpu_avx_real *down[3], *up[3], *weight[3];
    cpu_avx_real plus[3], minus[3]; /* of x and y, x and z, y and z; L has 13 points if all minus are 0, else 19 */
    cpu_avx_real same;              /* 1 - discount for explicit steps, -discount for implicit ones */
} cpu_avx_grid;

/* The numbers of the x axis, padded with zeros to whole vectors. */
typedef struct {
    const cpu_avx_real *up, *down, *weight;
} cpu_avx_p_grid_x;

/* Rows `from` .. `to` - 1 of planes k-1, k and k+1, and of a plane to be prefetched, `ahead`. plane[] points to row
   `from`. A plane beyond the grid is replaced by plane k, and so is `ahead` if no plane is to be prefetched. A row
   beyond the grid is replaced by the nearest row. The results are stored in `out`. */
typedef struct {
    const cpu_avx_real *plane[3], *ahead;
    cpu_avx_real *out;
    ptrdiff_t pitch, out_pitch;
    int from, to, stream;
} cpu_avx_p_grid_slab;

/* What row j of plane k is computed from: rows j-1 (south), j and j+1 (north) of planes k-1 (below), k (here) and k+1
   (above); and the row's weights. */
typedef struct {
    const cpu_avx_real *below[3], *here[3], *above[3], *ahead;
    cpu_avx_real *out;
    cpu_avx_p_grid_x x;
    int stream;
    cpu_avx_real up, down, upward, downward, xy, xz, yz, minus_xy, minus_xz, minus_yz, same;
} cpu_avx_p_grid_row;

/* A part of a sweep: rows j0 .. j1-1 of planes k0 .. k1-1. */
typedef struct {
    int j0, j1, k0, k1;
} cpu_avx_p_grid_tile;

/* Returns whether L has 19 points. */
CPU_AVX_API int cpu_avx_p_grid_general(const cpu_avx_grid *g)
{
    return g->minus[0] != 0 || g->minus[1] != 0 || g->minus[2] != 0;
}

/* Returns the distance in elements from one plane to the next. */
CPU_AVX_API ptrdiff_t cpu_avx_p_grid_plane_step(const cpu_avx_grid *g)
{
    return (ptrdiff_t)g->pitch * g->ny;
}

/* Returns the distance in elements from one row to the next in work. It is an odd number of cache lines, so that rows
   begin on cache lines but not all in the same sets of a cache. */
CPU_AVX_API ptrdiff_t cpu_avx_p_grid_work_pitch(const cpu_avx_grid *g)
{
    const ptrdiff_t cache_line = 64 / CPU_AVX_SIZE;
    return ((((ptrdiff_t)g->nx + cache_line - 1) / cache_line) | 1) * cache_line;
}

/* Returns whether an array is stored past the caches: its rows must begin on cache lines, and it must have at least
   CPU_AVX_STREAM_BYTES. */
CPU_AVX_API int cpu_avx_p_grid_streams(const cpu_avx_grid *g, const cpu_avx_real *out)
{
    const size_t pitch = (size_t)g->pitch * sizeof *out;
    return pitch % 64 == 0 && (uintptr_t)out % 64 == 0 && (double)pitch * g->ny * g->nz >= CPU_AVX_STREAM_BYTES;
}

/* Returns plane k of the grid u with its two neighbours. Results will be stored in `out`, in rows out_pitch apart. */
CPU_AVX_API cpu_avx_p_grid_slab cpu_avx_p_grid_slab_of(const cpu_avx_grid *g, const cpu_avx_real *u, int k,
                                                       cpu_avx_real *out, ptrdiff_t out_pitch, int stream)
{
    cpu_avx_p_grid_slab s;
    const ptrdiff_t plane = cpu_avx_p_grid_plane_step(g);
    s.plane[0] = u + (k > 0 ? k - 1 : k) * plane;
    s.plane[1] = u + k * plane;
    s.plane[2] = u + (k < g->nz - 1 ? k + 1 : k) * plane;
    s.ahead = u + (k < g->nz - 2 ? k + 2 : k) * plane;
    s.pitch = (ptrdiff_t)g->pitch;
    s.from = 0;
    s.to = g->ny;
    s.out = out;
    s.out_pitch = out_pitch;
    s.stream = stream;
    return s;
}

/* Sets up row j of plane k. Row j0 is stored at the beginning of `out`. The cross difference of y and z is
   U_north - U + D - D_south; its terms - U + D are merged into `upward` and `downward`. */
CPU_AVX_API void cpu_avx_p_grid_row_of(const cpu_avx_grid *g, const cpu_avx_p_grid_x *x, const cpu_avx_p_grid_slab *s,
                                       int j0, int j, int k, cpu_avx_p_grid_row *row)
{
    const cpu_avx_real y = g->weight[1][j], z = g->weight[2][k];
    const int last = s->to - 1;
    const int row_at[3] = {j > s->from ? j - 1 : j, j, j < last ? j + 1 : j};
    for (int n = 0; n < 3; n++) {
        const ptrdiff_t at = (row_at[n] - s->from) * s->pitch;
        row->below[n] = s->plane[0] + at;
        row->here[n] = s->plane[1] + at;
        row->above[n] = s->plane[2] + at;
    }
    row->ahead = s->ahead + (j - s->from) * s->pitch;
    row->out = s->out + (j - j0) * s->out_pitch;
    row->x = *x;
    row->stream = s->stream;
    row->xy = g->plus[0] * y;
    row->xz = g->plus[1] * z;
    row->yz = g->plus[2] * y * z;
    row->minus_xy = g->minus[0] * y;
    row->minus_xz = g->minus[1] * z;
    row->minus_yz = g->minus[2] * y * z;
    row->up = g->up[1][j];
    row->down = g->down[1][j];
    row->upward = g->up[2][k] - row->yz - row->minus_yz;
    row->downward = g->down[2][k] - row->yz - row->minus_yz;
    row->same = g->same;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Returns the operator's value at point i of the row. The point's neighbours in x are at i + east and i + west. */
CPU_AVX_INLINE cpu_avx_real cpu_avx_p_grid_point(int general, const cpu_avx_p_grid_row *row, ptrdiff_t i, int east,
                                                 int west)
{
    const cpu_avx_real *here = row->here[1], *north = row->here[2], *south = row->here[0];
    const cpu_avx_real *above = row->above[1], *below = row->below[1];
    const cpu_avx_real u = here[i], de = here[i + east] - u, dw = u - here[i + west], bend = de - dw;
    const cpu_avx_real du = above[i] - u, dd = u - below[i];
    cpu_avx_real cross = row->xy * ((north[i + east] - north[i]) - (south[i] - south[i + west]) - bend) +
                         row->xz * ((above[i + east] - above[i]) - (below[i] - below[i + west]) - bend);
    cpu_avx_real sum = row->up * (north[i] - u) - row->down * (u - south[i]) + row->upward * du - row->downward * dd +
                       row->yz * ((row->above[2][i] - north[i]) - (south[i] - row->below[0][i])) + row->x.up[i] * de -
                       row->x.down[i] * dw;
    if (general) {
        cross += row->minus_xy * ((south[i + east] - south[i]) - (north[i] - north[i + west]) - bend) +
                 row->minus_xz * ((below[i + east] - below[i]) - (above[i] - above[i + west]) - bend);
        sum += row->minus_yz * ((row->above[0][i] - south[i]) - (north[i] - row->below[2][i]));
    }
    return row->same * u + (sum + row->x.weight[i] * cross);
}

/* Computes a row by the plain loop. */
CPU_AVX_INLINE void cpu_avx_p_grid_loop(int general, const cpu_avx_p_grid_row *row, int nx)
{
    const cpu_avx_p_grid_row r = *row;
    cpu_avx_real *CPU_AVX_P_RESTRICT out = r.out;
    out[0] = cpu_avx_p_grid_point(general, &r, 0, 1, 0);
    for (int i = 1; i < nx - 1; i++) out[i] = cpu_avx_p_grid_point(general, &r, i, 1, -1);
    out[nx - 1] = cpu_avx_p_grid_point(general, &r, nx - 1, 0, -1);
}

/* Computes plane k of v from u by plain loops. */
CPU_AVX_CALL void cpu_avx_p_grid_plain(const cpu_avx_grid *g, const cpu_avx_p_grid_x *x, int k, const cpu_avx_real *u,
                                       cpu_avx_real *v)
{
    const cpu_avx_p_grid_slab s =
        cpu_avx_p_grid_slab_of(g, u, k, v + k * cpu_avx_p_grid_plane_step(g), (ptrdiff_t)g->pitch, 0);
    const int general = cpu_avx_p_grid_general(g);
    cpu_avx_p_grid_row row;
    for (int j = 0; j < g->ny; j++) {
        cpu_avx_p_grid_row_of(g, x, &s, 0, j, k, &row);
        if (general)
            cpu_avx_p_grid_loop(1, &row, g->nx);
        else
            cpu_avx_p_grid_loop(0, &row, g->nx);
    }
}

/* The values that a row carries from one vector to the next: the differences in x, the sums `upper` and `lower` of
   cpu_avx_p_grid_vector, and the incomplete result. */
typedef struct {
    cpu_avx_vec east, upper, lower, sum;
} cpu_avx_p_grid_carry;

/* Loads the vector at p; if it is the `last` of its row, only its first n lanes, which lie within the row. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_grid_at(const cpu_avx_real *p, int last, int n)
{
    return last ? cpu_avx_load_part(p, n) : cpu_avx_load(p);
}

/* Completes the result of the vector at i with the upper sum of the vector after it, and stores the result. */
CPU_AVX_INLINE void cpu_avx_p_grid_finish(const cpu_avx_p_grid_row *row, ptrdiff_t i, int last, int n,
                                          const cpu_avx_p_grid_carry *carry, cpu_avx_vec upper)
{
    const cpu_avx_vec weight = cpu_avx_load(row->x.weight + i);
    const cpu_avx_vec shifted = cpu_avx_down(carry->upper, upper, 1);
    const cpu_avx_vec sum = cpu_avx_fma(weight, shifted, carry->sum);
    if (last && n < cpu_avx_lanes)
        cpu_avx_store_part(row->out + i, n, sum);
    else if (row->stream)
        cpu_avx_stream(row->out + i, sum);
    else
        cpu_avx_store(row->out + i, sum);
}

/* Computes one vector of a row, and completes the vector before it. dn, ds, du and dd are the differences to the
   neighbours in y and z. The cross differences with x are differences in x of two weighted sums of these:
       weight (upper[i + 1] - upper[i] + lower[i] - lower[i - 1])
   Only these sums and de, the difference in x, need lanes beyond the vector. No diagonal neighbour in x is loaded. */
CPU_AVX_INLINE void cpu_avx_p_grid_vector(int general, const cpu_avx_p_grid_row *row, ptrdiff_t i, int first, int last,
                                          int n, cpu_avx_p_grid_carry *carry)
{
#define CPU_AVX_P_AT(p) cpu_avx_p_grid_at((p) + i, last, n)
    const cpu_avx_vec u = CPU_AVX_P_AT(row->here[1]), north = CPU_AVX_P_AT(row->here[2]);
    const cpu_avx_vec south = CPU_AVX_P_AT(row->here[0]);
    const cpu_avx_vec next = cpu_avx_p_grid_at(row->here[1] + i + 1, last, n - 1);
    const cpu_avx_vec de = next - u, dn = north - u, ds = u - south;
    const cpu_avx_vec du = CPU_AVX_P_AT(row->above[1]) - u;
    const cpu_avx_vec dd = u - CPU_AVX_P_AT(row->below[1]);
    const cpu_avx_vec up_north = CPU_AVX_P_AT(row->above[2]) - north;
    const cpu_avx_vec down_south = south - CPU_AVX_P_AT(row->below[0]);
    const cpu_avx_vec xy = cpu_avx_set(row->xy), xz = cpu_avx_set(row->xz);
    cpu_avx_vec upper = cpu_avx_fma(xy, dn, xz * du);
    cpu_avx_vec lower = cpu_avx_fma(xy, ds, xz * dd);
    cpu_avx_vec in_y = cpu_avx_set(row->up) * dn;
    cpu_avx_vec in_z = cpu_avx_set(row->upward) * du;
    cpu_avx_vec in_x = cpu_avx_load(row->x.up + i) * de;
    in_y = cpu_avx_fnma(cpu_avx_set(row->down), ds, in_y);
    in_z = cpu_avx_fnma(cpu_avx_set(row->downward), dd, in_z);
    in_z = cpu_avx_fma(cpu_avx_set(row->yz), up_north - down_south, in_z);
    if (general) {
        const cpu_avx_vec minus_xy = cpu_avx_set(row->minus_xy), minus_xz = cpu_avx_set(row->minus_xz);
        const cpu_avx_vec up_south = CPU_AVX_P_AT(row->above[0]) - south;
        const cpu_avx_vec down_north = north - CPU_AVX_P_AT(row->below[2]);
        upper = cpu_avx_fnma(minus_xy, ds, cpu_avx_fnma(minus_xz, dd, upper));
        lower = cpu_avx_fnma(minus_xy, dn, cpu_avx_fnma(minus_xz, du, lower));
        in_y = cpu_avx_fma(cpu_avx_set(row->minus_yz), up_south - down_north, in_y);
    }
    const cpu_avx_vec dw = cpu_avx_up(carry->east, de, 1);
    const cpu_avx_vec inner = lower - upper - cpu_avx_up(carry->lower, lower, 1);
    in_x = cpu_avx_fnma(cpu_avx_load(row->x.down + i), dw, in_x);
    in_x = cpu_avx_fma(cpu_avx_load(row->x.weight + i), inner, in_x);
    const cpu_avx_vec sum = in_x + (in_y + in_z);
    if (!first) cpu_avx_p_grid_finish(row, i - cpu_avx_lanes, 0, cpu_avx_lanes, carry, upper);
    CPU_AVX_P_PREFETCH(row->ahead + i);
    carry->east = de;
    carry->upper = upper;
    carry->lower = lower;
    carry->sum = cpu_avx_fma(cpu_avx_set(row->same), u, sum);
    if (last) cpu_avx_p_grid_finish(row, i, 1, n, carry, cpu_avx_set(0));
#undef CPU_AVX_P_AT
}

/* Computes a row. Its first vector completes none before it, and its last may be partial. */
CPU_AVX_INLINE void cpu_avx_p_grid_vectors(int general, const cpu_avx_p_grid_row *row, int nx)
{
    const cpu_avx_p_grid_row r = *row;
    const cpu_avx_vec zero = cpu_avx_set(0);
    cpu_avx_p_grid_carry carry = {zero, zero, zero, zero};
    ptrdiff_t i = 0;
    if (nx > cpu_avx_lanes) {
        cpu_avx_p_grid_vector(general, &r, 0, 1, 0, cpu_avx_lanes, &carry);
        for (i = cpu_avx_lanes; i < nx - cpu_avx_lanes; i += cpu_avx_lanes)
            cpu_avx_p_grid_vector(general, &r, i, 0, 0, cpu_avx_lanes, &carry);
    }
    cpu_avx_p_grid_vector(general, &r, i, i == 0, 1, nx - (int)i, &carry);
}

/* Computes rows j0 .. j1-1 of plane k from the slab. */
CPU_AVX_CALL void cpu_avx_p_grid_plane(const cpu_avx_grid *g, const cpu_avx_p_grid_x *x, int k, int j0, int j1,
                                       const cpu_avx_p_grid_slab *slab)
{
    const int general = cpu_avx_p_grid_general(g);
    cpu_avx_p_grid_row row;
    for (int j = j0; j < j1; j++) {
        cpu_avx_p_grid_row_of(g, x, slab, j0, j, k, &row);
        if (general)
            cpu_avx_p_grid_vectors(1, &row, g->nx);
        else
            cpu_avx_p_grid_vectors(0, &row, g->nx);
    }
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* How many blocks of rows and how many layers of planes an explicit sweep has, and the most rows of a block. */
typedef struct {
    int blocks, layers, rows;
} cpu_avx_p_grid_cut;

/* Cuts the rows into blocks for an explicit sweep. Six planes of a block, three for each step, fit in
   CPU_AVX_GRID_CACHE, or the block has at most 16 rows. The number of blocks is a multiple of the number of threads,
   unless some blocks would then have fewer than 16 rows. In that case planes may be divided into layers as well. */
CPU_AVX_API cpu_avx_p_grid_cut cpu_avx_p_grid_cut_of(const cpu_avx_grid *g, int threads)
{
    cpu_avx_p_grid_cut cut;
    const long long flat = 16, most = CPU_AVX_GRID_CACHE / (6 * (long long)sizeof(cpu_avx_real) * g->nx);
    const long long blocks = (g->ny - 1) / (most > flat ? most : flat) + 1, rounds = (blocks - 1) / threads + 1;
    cut.blocks = (int)(g->ny / flat >= rounds * threads ? rounds * threads : blocks);
    cut.layers = 1;
    while (cut.blocks * cut.layers % threads && cut.layers < 8 && flat * cut.layers < g->nz) cut.layers++;
    cut.rows = (g->ny - 1) / cut.blocks + 1;
    return cut;
}

/* Returns how many elements of work each thread has to itself. They must hold three planes of an explicit block with
   one more row on each side; in implicit2 first a whole plane and as many rows as a vector has lanes, then the z lines
   of a row of the grid. */
CPU_AVX_API size_t cpu_avx_p_grid_own(const cpu_avx_grid *g, int threads)
{
    const size_t ring = 3 * ((size_t)cpu_avx_p_grid_cut_of(g, threads).rows + 2);
    const size_t plane = (size_t)g->ny + 64 / CPU_AVX_SIZE, lines = (size_t)g->nz;
    const size_t most = ring > plane ? ring : plane;
    return (size_t)cpu_avx_p_grid_work_pitch(g) * (most > lines ? most : lines);
}

/* Returns whether a grid has all its arrays, enough points, and rows that do not overlap. */
CPU_AVX_API int cpu_avx_p_grid_valid(const cpu_avx_grid *g)
{
    if (!g || g->nx < 4 || g->ny < 4 || g->nz < 4 || g->pitch < g->nx) return 0;
    for (int axis = 0; axis < 3; axis++)
        if (!g->down[axis] || !g->up[axis] || !g->weight[axis]) return 0;
    return 1;
}

/* Returns how many bytes of work the functions on a grid need; 0 for an invalid grid or threads < 1. */
CPU_AVX_API size_t cpu_avx_grid_bytes(const cpu_avx_grid *g, int threads)
{
    if (!cpu_avx_p_grid_valid(g) || threads < 1) return 0;
    return 64 + sizeof(cpu_avx_real) *
                    (3 * (size_t)cpu_avx_p_grid_work_pitch(g) + (size_t)threads * cpu_avx_p_grid_own(g, threads));
}

/* Copies the numbers of the x axis to the start of work. The threads' own work begins after them, at *own. */
CPU_AVX_API cpu_avx_p_grid_x cpu_avx_p_grid_prepare(const cpu_avx_grid *g, void *work, cpu_avx_real **own)
{
    const ptrdiff_t n = cpu_avx_p_grid_work_pitch(g);
    cpu_avx_real *up = (cpu_avx_real *)cpu_avx_p_align(work), *down = up + n, *weight = down + n;
    cpu_avx_p_grid_x x;
    for (ptrdiff_t i = 0; i < n; i++) {
        up[i] = i < g->nx ? g->up[0][i] : 0;
        down[i] = i < g->nx ? g->down[0][i] : 0;
        weight[i] = i < g->nx ? g->weight[0][i] : 0;
    }
    x.up = up;
    x.down = down;
    x.weight = weight;
    *own = weight + n;
    return x;
}

/* Copies the points of v to u. */
CPU_AVX_API void cpu_avx_p_grid_copy(const cpu_avx_grid *g, const cpu_avx_real *v, cpu_avx_real *u, int threads)
{
    const long long rows = (long long)g->ny * g->nz;
    (void)threads;
    CPU_AVX_P_OMP(omp parallel for num_threads(threads))
    for (long long row = 0; row < rows; row++)
        memcpy(u + row * g->pitch, v + row * g->pitch, (size_t)g->nx * sizeof *u);
}

/* Checks the arguments of an array function. */
CPU_AVX_API int cpu_avx_p_grid_status(int isa, const cpu_avx_grid *g, int steps, const cpu_avx_real *u,
                                      const cpu_avx_real *v, const void *work, int threads)
{
    if (!cpu_avx_p_grid_valid(g) || steps < 0 || !u || !v || !work || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    return cpu_avx_has(isa) ? CPU_AVX_OK : CPU_AVX_BAD_ISA;
}

#endif /* CPU_AVX_PASS */
