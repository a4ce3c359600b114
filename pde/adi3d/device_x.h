/* device_x.h - a room of adi3d.h, read once for each model and precision: right-hand sides and solves along x on a GPU.
   MIT licence, see LICENSE. */

/* Solves a line of n rows with `warps` consecutive warps of the block and `rows` rows in each lane.
   Lanes    all threads of the block
   Shared   6 elements a warp; a barrier must have been passed since their last use */
template <int rows, int warps>
TB_D void adi3d_p_device_solve_row(int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d, tb_real *shared)
{
    if (warps == 1) {
        trid_warp_hybrid(rows, 32, n, a, b, c, d);
        return;
    }
    const int warp = trid_block_thread() / 32, part = warp % warps, first = rows * (32 * part + trid_warp_lane());
    trid_block_hybrid_part(rows, n, 32 * rows * warps, first, warps, part, a, b, c, d, shared + 6 * (warp - part), 6,
                           1);
}

/* For any step: computes right-hand sides from device memory and solves the systems along x. `warps` warps take a line;
   a block takes `lines` lines of a plane. */
template <int rows, int warps, int lines>
TRID_KERNEL void __launch_bounds__(32 * warps * lines)
    adi3d_p_device_any_x(const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step, int s)
{
    enum { wide = adi3d_p_vectored };
    __shared__ tb_real shared[6 * warps * lines], faces[16 * lines];
    const int warp = trid_block_thread() / 32, first = rows * (32 * (warp % warps) + trid_warp_lane());
    const int row = lines * (int)blockIdx.x + warp / warps, n = row < h.n[1] ? h.n[0] : 0; /* 0: no such row */
    const int line[3] = {0, n ? row : 0, (int)blockIdx.y}, at = fd_p_grid_at(h, 0, line[1], line[2]);
    tb_real a[rows], b[rows], c[rows], d[rows], *made = faces + warp / warps * 16;
    fd_numbers own[3];
    auto right = [&](int i) {
        const int index[3] = {i, line[1], line[2]};
        return fd_p_grid_right(h, step, s, index);
    };
    TB_UNROLL
    for (int r = 0; r < rows; r++) d[r] = first + r < n ? right(first + r) : 0;
    if (n > 0) fd_p_make_faces<0, rows>(h, step, first, line, (s && step.data.about ? h.z : h.u) + at, 1, right, made);
    fd_p_line_numbers<0>(h, line, own);
    fd_p_line_rows<0, rows>(h, step, own, fd_p_line_own<0>(h, first), a, b, c);
    if (n > 0) fd_p_put_faces<0, rows>(h, first, made, a, b, c, d);
    adi3d_p_device_solve_row<rows, warps>(n, a, b, c, d, shared);
    /* Rows are padded to 128 bytes: a vector that begins in a row ends in it. */
    TB_UNROLL
    for (int r = 0; r < rows; r += wide)
        if (first + r < n) *(transpose_vector *)(h.d + at + first + r) = transpose_pack(d + r);
}

/* The shape of the marching kernel (adi3d_p_device_steady_x) for a kind of stage and a number of warps a line. */
template <int kind_of, int warps_of>
struct adi3d_p_x_shape {
    enum {
        kind = kind_of,
        warps = warps_of,
        rows = 8,
        /* Whether lines are solved with factors. If so, some warps compute right-hand sides, with the tables of x in
           registers, and others solve a line each, with the factors in registers. If not, each warp does both. */
        alone = adi3d_p_independent(0) && warps == 1,
        /* As many warps run as registers allow, in up to four blocks a multiprocessor: some compute while others
           wait. */
        more = sizeof(tb_real) == 4 && kind < 2 && warps < 4,
        lines = warps == 1 ? 4 : (more ? 12 : 8) / warps,
        stencil_warps = alone ? lines : 0,
        threads = 32 * (warps * lines + stencil_warps),
        resident = warps > 1 || (alone && sizeof(tb_real) == 8) ? 1
                   : alone || sizeof(tb_real) == 8 || kind == 2 ? 2
                   : kind == 1                                  ? 3
                                                                : 4,
        points = 32 * rows * warps,                          /* points of a line */
        upward = adi3d_p_fusible && kind == 0 && warps == 1, /* whether the march may eliminate along z */
        /* The patch of points whose right-hand sides a lane computes. */
        columns = alone ? 4 : rows,
        height = alone ? 2 : 1,
        width = columns + 2, /* of the patch and the points around it */
        /* Shared memory stores the block's lines of a plane, and one more on each side, in whole rows of 128 bytes,
           permuted (fd_p_swizzle). */
        wide = adi3d_p_vectored,
        vectors = points / wide,
        plane_len = (lines + 2) * points,
        passes = ((lines + 2) * vectors + threads - 1) / threads, /* by the block, to copy a plane */
        ahead = alone ? 2 : 1,                                    /* planes in flight */
        slots = ahead + 2,                                        /* those, and the current and the previous plane */
        slot_len = (kind > 0 ? 2 : 1) * plane_len,
        /* Offsets in shared memory, which begins with the cells. `made` holds two planes of right-hand sides, which
           pass from warp to warp. */
        numbers = alone ? 0 : 4 * points,
        faces = numbers + (alone ? 0 : (int)fd_p_numbers_x * points),
        solver = faces + 16 * lines,
        made = solver + (alone ? 0 : 8 * warps * lines),
        ring = made + (alone ? 2 * lines * points : 0),
        elements = ring + slots * slot_len
    };
};

/* adi3d_p_x_load copies `count` points of a line in shared memory, from point i on, into v; adi3d_p_x_keep copies them
   from v back into the line. */
template <class shape, int count>
TB_D void adi3d_p_x_load(const tb_real *line, int i, tb_real *v)
{
    TB_UNROLL
    for (int e = 0; e < count; e += shape::wide)
        transpose_unpack(*(const transpose_vector *)(line + fd_p_swizzle(i + e)), v + e);
}
template <class shape, int count>
TB_D void adi3d_p_x_keep(const tb_real *v, int i, tb_real *line)
{
    TB_UNROLL
    for (int e = 0; e < count; e += shape::wide)
        *(transpose_vector *)(line + fd_p_swizzle(i + e)) = transpose_pack(v + e);
}

/* Returns the term that the faces of an axis add to the base of a stage at a point. */
template <int kind, int axis>
TB_D tb_real adi3d_p_device_face_of(const adi3d_p_device &h, const fd_p_step &step, const int *index)
{
    const tb_real *base = step.data.base[kind ? 1 : 0];
    tb_real sum = base[1] * fd_p_face_adds<axis>(h, step, 0, h.u, index);
    if (kind) sum += base[3] * fd_p_face_adds<axis>(h, step, 1, h.z, index);
    return sum;
}

/* Adds to out[] the terms that the faces of all axes add to the base of a stage, at a lane's points. */
template <int kind, int rows>
TB_D void adi3d_p_device_faces_of(const adi3d_p_device &h, const fd_p_step &step, int first, int j, int k, tb_real *out)
{
    const int *n = h.n;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int index[3] = {side ? n[0] - 1 : 0, j, k}, i = index[0];
        if (!fd_p_adds(h.face[0][side]) || i < first || i >= first + rows) continue;
        const tb_real sum = adi3d_p_device_face_of<kind, 0>(h, step, index);
        TB_UNROLL
        for (int r = 0; r < rows; r++) out[r] += first + r == i ? sum : 0;
    }
    if (j > 0 && j < n[1] - 1 && k > 0 && k < n[2] - 1) return;
    TB_LOOP
    for (int m = 0; m < rows; m++) {
        const int index[3] = {first + m, j, k};
        if (first + m >= n[0]) continue;
        const tb_real sum =
            adi3d_p_device_face_of<kind, 1>(h, step, index) + adi3d_p_device_face_of<kind, 2>(h, step, index);
        TB_UNROLL
        for (int r = 0; r < rows; r++) out[r] += r == m ? sum : 0;
    }
}

/* The weights of the differences along x at a point, 16 bytes in single precision: the couplings of the row of A, times
   a weight, and the weights of the first derivative. */
typedef struct FD_P_ALIGN {
    tb_real below, above, down, up;
} adi3d_p_along_x;

/* Returns the weights of the differences along x at a point, with the couplings times `own`. */
TB_D adi3d_p_along_x adi3d_p_device_along_x(fd_cell cell, fd_terms terms, tb_real own)
{
    const fd_row row = fd_p_row(0, cell, terms);
    const adi3d_p_along_x x = {own * row.below, own * row.above, cell.below * (1 - cell.w), cell.above * cell.w};
    return x;
}

/* The data of a thread of the marching kernel. The ring, in shared memory, holds a plane in each slot. */
template <class shape>
struct adi3d_p_x_march {
    tb_real *memory, *ring, *face; /* the block's shared memory, and in it the ring and the line's boundary rows */
    trid_copy_place to_ring;
    int to_slot[shape::passes];  /* positions in a slot of the vectors that the thread copies */
    int in_plane[shape::passes]; /* their positions in a plane, or -1 */
    int lane, part, first;       /* in the solve: warp `part` of the line; the thread's first point */
    int begin, j, valid;         /* the block's first line; the thread's line, or the last one if that is not valid */
    int from, to;                /* the planes of the block */
    tb_real mixed, own;          /* the weights of F_0 and F_1 + F_2 + F_3, applied to the values in the ring */
    tb_real source;              /* the weight of the source */
    int rare;                    /* whether adi3d_p_x_rare has work to do */
};

/* Finds the vectors that the thread copies. A pass of the block copies some whole lines or a part of one. */
template <class shape>
TB_D void adi3d_p_x_open_ring(const adi3d_p_device &h, adi3d_p_x_march<shape> *m)
{
    enum { wide = shape::wide };
    TB_UNROLL
    for (int q = 0; q < shape::passes; q++) {
        const int vector = trid_block_thread() + q * shape::threads, row = vector / shape::vectors,
                  line = m->begin - 1 + row;
        const int i = wide * (vector % shape::vectors);
        const int is_there = row < shape::lines + 2 && line >= 0 && line < h.n[1] && i < h.pitch;
        m->to_slot[q] = row * shape::points + fd_p_swizzle(i);
        m->in_plane[q] = is_there ? h.pitch * line + i : -1;
    }
}

/* Returns the data of this thread. */
template <class shape>
TB_D adi3d_p_x_march<shape> adi3d_p_x_march_of(const adi3d_p_device &h, const fd_p_step &step, tb_real *memory)
{
    const int warp = trid_block_thread() / 32, solver = warp - shape::stencil_warps, *n = h.n;
    const int line = solver > 0 ? solver / shape::warps : 0;
    const int pieces = (int)gridDim.y, piece = (int)blockIdx.y, parts = h.partitions > 0 ? h.partitions : pieces;
    const tb_real *base = step.data.base[shape::kind > 0];
    adi3d_p_x_march<shape> m;
    m.memory = memory, m.ring = memory + shape::ring, m.face = memory + shape::faces + 16 * line;
    m.to_ring = trid_copy_place_of(m.ring);
    m.lane = trid_warp_lane(), m.part = solver % shape::warps, m.first = shape::rows * (32 * m.part + m.lane);
    m.begin = shape::lines * (int)blockIdx.x, m.valid = m.begin + line < n[1],
    m.j = m.valid ? m.begin + line : n[1] - 1;
    m.from = n[2] * (parts * piece / pieces) / parts, m.to = n[2] * (parts * (piece + 1) / pieces) / parts;
    m.mixed = base[0], m.own = shape::kind == 2 ? 1 : base[1];
    m.source = shape::kind > 0 ? base[1] + base[3] : base[1];
    m.rare = h.extra || h.adds || h.makes[0];
    adi3d_p_x_open_ring<shape>(h, &m);
    return m;
}

/* Begins to copy a plane to a slot: plane k or, if that does not exist, the nearest one. Skips planes that the block
   does not need. Lines that do not exist stay 0. */
template <class shape>
TB_D void adi3d_p_x_fetch(const adi3d_p_device &h, const adi3d_p_x_march<shape> &m, int k, int slot)
{
    const int plane = h.plane * (k < 0 ? 0 : k < h.n[2] ? k : h.n[2] - 1);
    TB_UNROLL
    for (int q = 0; q < shape::passes; q++) {
        const int to = slot * shape::slot_len + m.to_slot[q], from = plane + m.in_plane[q];
        if (m.in_plane[q] < 0 || k > m.to) continue;
        trid_copy_async(m.to_ring, (int)sizeof(tb_real) * to, h.u + from);
        if (shape::kind > 0) trid_copy_async(m.to_ring, (int)sizeof(tb_real) * (to + shape::plane_len), h.z + from);
    }
    trid_copy_commit();
}

/* Replaces the values that the thread copied to a slot, u and z, by the sums that adi3d_p_device_steady_x names. */
template <class shape>
TB_D void adi3d_p_x_combine(const fd_p_step &step, const adi3d_p_x_march<shape> &m, int slot)
{
    const tb_real *base = step.data.base[1];
    TB_UNROLL
    for (int q = 0; q < shape::passes; q++) {
        transpose_vector *u = (transpose_vector *)(m.ring + slot * shape::slot_len + m.to_slot[q]);
        transpose_vector *z = u + shape::plane_len / shape::wide;
        tb_real a[shape::wide], b[shape::wide];
        if (m.in_plane[q] < 0) continue;
        transpose_unpack(*u, a), transpose_unpack(*z, b);
        TB_UNROLL
        for (int e = 0; e < shape::wide; e++) {
            const tb_real one = a[e], two = b[e];
            a[e] = one + two, b[e] = shape::kind == 1 ? one - two : base[1] * one + base[3] * two;
        }
        *u = transpose_pack(a), *z = transpose_pack(b);
    }
}

/* Returns the position of number q, 0 .. 3, of entry e in the table of cells: 16-byte vectors of successive entries are
   adjacent. */
template <class shape>
TB_D int adi3d_p_x_quad(int e, int q)
{
    return (q / shape::wide * shape::points + e) * shape::wide + q % shape::wide;
}

/* Clears the ring, and fills the tables of x in shared memory if they are not in registers: entry [p][r][l] holds the
   cell and the numbers of row r of lane l of warp p. */
template <class shape>
TB_D void adi3d_p_x_tables(const adi3d_p_device &h, const adi3d_p_x_march<shape> &m)
{
    enum { rows = shape::rows, points = shape::points };
    const int thread = trid_block_thread(), n = h.n[0];
    for (int e = shape::ring + thread; e < shape::elements; e += shape::threads) m.memory[e] = 0;
    for (int e = thread; e < points && !shape::alone; e += shape::threads) {
        const int i = e / (32 * rows) * 32 * rows + e % 32 * rows + e / 32 % rows, last = i < n ? i : n - 1;
        const fd_cell cell = h.t.cell[0][last];
        const tb_real quad[4] = {cell.below, cell.above, cell.h, cell.w};
        TB_UNROLL
        for (int q = 0; q < 4; q += shape::wide)
            *(transpose_vector *)(m.memory + adi3d_p_x_quad<shape>(e, q)) = transpose_pack(quad + q);
        TB_UNROLL
        for (int q = 0; q < fd_p_numbers(0); q++)
            m.memory[shape::numbers + q * points + e] = h.t.number[0][q * h.t.room[0] + last];
    }
}

/* ---- right-hand sides: patches of a plane ------------------------------------------------------------------------ */

/* A lane's data about its patch: its position, and the numbers that all points of a column or of a row share. */
template <class shape>
struct adi3d_p_x_patch {
    enum { columns = shape::columns, height = shape::height };
    const tb_real *mine;        /* the line before the patch, in the first slot */
    tb_real *made;              /* the line for the right-hand sides of its first row */
    int i;                      /* its first column */
    int west, east;             /* the positions in the line of the points beside the patch; 0 where a lane of the warp
                                   holds the point, or there is none */
    adi3d_p_along_x x[columns]; /* weights of the differences along x; only if lines are solved with factors */
    fd_numbers number_x[columns];
    fd_cell cell_y[height]; /* along y: cells, weights of the differences, numbers */
    tb_real down_y[height], up_y[height];
    fd_numbers number_y[height], now; /* now: the numbers of time */
    const fd_model_parameters *parameters;
    /* Carried from plane to plane: the part of the right-hand sides that the planes so far determine, and the slopes in
       the last of them. */
    tb_real right[columns * height], along_x[columns * height], along_y[columns * height];
};

/* Returns this lane's patch. */
template <class shape>
TB_D adi3d_p_x_patch<shape> adi3d_p_x_patch_of(const adi3d_p_device &h, const fd_p_step &step,
                                               const adi3d_p_x_march<shape> &m)
{
    enum { columns = shape::columns, height = shape::height, across = shape::points / (32 * columns) };
    const int warp = trid_block_thread() / 32, row = warp / across * height, *n = h.n;
    const int i = columns * (32 * (warp % across) + m.lane);
    adi3d_p_x_patch<shape> b;
    b.mine = m.ring + row * shape::points, b.made = m.memory + shape::made + row * shape::points, b.i = i;
    b.west = m.lane == 0 && i > 0 ? fd_p_swizzle(i - 1) : 0;
    b.east = m.lane == 31 && i + columns < shape::points ? fd_p_swizzle(i + columns) : 0;
    b.parameters = h.t.parameters;
    TB_UNROLL
    for (int c = 0; c < columns && shape::alone; c++) {
        const int index[3] = {i + c < n[0] ? i + c : n[0] - 1, 0, 0};
        b.x[c] = adi3d_p_device_along_x(h.t.cell[0][index[0]], fd_p_terms_here(&h.t, index, step.time[1]), m.own);
        fd_p_take(&h.t, 0, index[0], &b.number_x[c]);
    }
    TB_UNROLL
    for (int r = 0; r < height; r++) {
        const int j = m.begin + row + r < n[1] ? m.begin + row + r : n[1] - 1;
        const fd_cell cell = h.t.cell[1][j];
        b.cell_y[r] = cell, b.down_y[r] = cell.below * (1 - cell.w), b.up_y[r] = cell.above * cell.w;
        fd_p_take(&h.t, 1, j, &b.number_y[r]);
    }
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(3); q++) b.now.number[q] = step.time[1][q];
    TB_UNROLL
    for (int e = 0; e < columns * height; e++) b.right[e] = b.along_x[e] = b.along_y[e] = 0;
    return b;
}

/* The data that all points of a plane share: the cell along z, and the numbers. */
typedef struct {
    fd_cell cell;
    fd_numbers number;
} adi3d_p_x_plane;

/* Returns the data of plane p or, if it does not exist, of the nearest one. */
TB_D adi3d_p_x_plane adi3d_p_x_plane_of(const adi3d_p_device &h, int p)
{
    const int at = p < 0 ? 0 : p < h.n[2] ? p : h.n[2] - 1;
    adi3d_p_x_plane plane;
    plane.cell = h.t.cell[2][at];
    fd_p_take(&h.t, 2, at, &plane.number);
    return plane;
}

/* A turn of the march: it completes plane k, which lacks only the contributions of the next plane, p, and begins p. */
typedef struct {
    int low, here; /* the offsets of planes k and p in the ring */
    adi3d_p_x_plane k, p;
    tb_real up_k, down_p; /* weights of the mixed terms' differences */
} adi3d_p_x_turn;

/* Returns the turn that completes plane k and begins plane p, which is in `slot`. */
template <class shape>
TB_D adi3d_p_x_turn adi3d_p_x_turn_of(const adi3d_p_x_march<shape> &m, const adi3d_p_x_plane &k,
                                      const adi3d_p_x_plane &p, int slot)
{
    adi3d_p_x_turn t;
    t.here = slot * shape::slot_len, t.low = (slot > 0 ? slot - 1 : shape::slots - 1) * shape::slot_len;
    t.k = k, t.p = p;
    t.up_k = m.mixed * (k.cell.above * k.cell.w), t.down_p = m.mixed * (p.cell.below * (1 - p.cell.w));
    return t;
}

/* A point of planes k and p: its cell along x (unless lines are solved with factors), the terms in both planes, and the
   weights of the differences along x. */
typedef struct {
    fd_cell cell;
    fd_terms k, p;
    adi3d_p_along_x x;
} adi3d_p_x_point;

/* Returns point (c, r) of a patch; without tables in registers, the patch is a lane's part of a line. */
template <class shape>
TB_D adi3d_p_x_point adi3d_p_x_point_of(const adi3d_p_x_march<shape> &m, const adi3d_p_x_patch<shape> &b,
                                        const adi3d_p_x_turn &t, int c, int r)
{
    const int at = 32 * (shape::rows * m.part + c) + m.lane;
    fd_numbers own[3];
    adi3d_p_x_point q;
    if (shape::alone) {
        own[0] = b.number_x[c];
    } else {
        tb_real quad[4];
        TB_UNROLL
        for (int e = 0; e < 4; e += shape::wide)
            transpose_unpack(*(const transpose_vector *)(m.memory + adi3d_p_x_quad<shape>(at, e)), quad + e);
        TB_UNROLL
        for (int e = 0; e < fd_p_numbers(0); e++) own[0].number[e] = m.memory[shape::numbers + e * shape::points + at];
        q.cell.below = quad[0], q.cell.above = quad[1], q.cell.h = quad[2], q.cell.w = quad[3];
    }
    own[1] = b.number_y[r], own[2] = t.k.number;
    q.k = fd_p_terms(b.parameters, own, b.now.number);
    own[2] = t.p.number;
    q.p = fd_p_terms(b.parameters, own, b.now.number);
    q.x = shape::alone ? b.x[c] : adi3d_p_device_along_x(q.cell, q.p, m.own);
    return q;
}

/* Copies a patch and the points around it. Beyond the ends of a row, the copies are arbitrary finite numbers. */
template <class shape>
TB_D void adi3d_p_x_around(const adi3d_p_x_patch<shape> &b, const tb_real *line, tb_real *u)
{
    enum { columns = shape::columns, width = shape::width };
    TB_UNROLL
    for (int r = 0; r < shape::height + 2; r++, line += shape::points) {
        tb_real *v = u + r * width;
        adi3d_p_x_load<shape, columns>(line, b.i, v + 1);
        v[0] = __shfl_up_sync(TB_FULL_WARP, v[columns], 1), v[columns + 1] = __shfl_down_sync(TB_FULL_WARP, v[1], 1);
        if (shape::columns * 32 == shape::points) continue;
        if (b.west) v[0] = line[b.west];
        if (b.east) v[columns + 1] = line[b.east];
    }
}

/* Adds rare contributions to the right-hand sides of plane k, and computes the line's boundary rows. Call it before the
   code that needs many registers. */
template <class shape>
TB_D void adi3d_p_x_rare(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march<shape> &m, int k,
                         tb_real *right)
{
    enum { kind = shape::kind, rows = shape::rows };
    const int at = fd_p_grid_at(h, m.first, m.j, k), line[3] = {0, m.j, k};
    auto right_of = [&](int i) {
        const int index[3] = {i, m.j, k};
        return fd_p_grid_right(h, step, kind > 0, index);
    };
    TB_UNROLL
    for (int r = 0; r < rows && h.extra; r++) right[r] += m.first + r < h.n[0] ? step.data.dt * h.extra[at + r] : 0;
    if (h.adds) adi3d_p_device_faces_of<kind, rows>(h, step, m.first, m.j, k, right);
    if (!h.makes[0]) return;
    fd_p_make_faces<0, rows>(h, step, m.first, line, (kind == 1 ? h.z : h.u) + at - m.first, 1, right_of, m.face);
}

/* Adds F_1 + F_2 + F_3 at a point whose value is v[0] in plane p and `low` in plane k. *right receives the part that
   plane k still lacks, *next the part with which plane p begins. */
template <class shape>
TB_D void adi3d_p_x_own(tb_real factor, const fd_cell &cell_y, const adi3d_p_x_turn &t, const adi3d_p_x_point &q,
                        const tb_real *v, tb_real low, tb_real *right, tb_real *next)
{
    const tb_real more = v[0] - low, north = v[shape::width] - v[0], south = v[0] - v[-shape::width];
    /* Differences as in fd_p_first, so that the compiler computes most of them only once. */
    const fd_row row_y = fd_p_row(1, cell_y, q.p), row_p = fd_p_row(2, t.p.cell, q.p);
    *right += factor * fd_p_row(2, t.k.cell, q.k).above * more;
    *next += q.x.above * (v[1] - v[0]) - q.x.below * (v[0] - v[-1]) + factor * row_y.above * north -
             factor * row_y.below * south - factor * row_p.below * more - factor * q.p.kill * v[0];
}

/* Computes the slopes along x and y at point e of a patch, in row r. Adds the terms of F_0 with a derivative along z,
   which are differences of these slopes, to *right (plane k) and *next (plane p). */
template <class shape>
TB_D void adi3d_p_x_slopes(const adi3d_p_x_turn &t, const adi3d_p_x_point &q, const tb_real *v, int e, int r,
                           adi3d_p_x_patch<shape> *b, tb_real *right, tb_real *next)
{
    if (FD_MODEL_MIXED & 4) {
        const tb_real slope = fd_p_first(b->down_y[r], b->up_y[r], v[-shape::width], v[0], v[shape::width]);
        const tb_real more = slope - b->along_y[e];
        *right += t.up_k * q.k.mixed[2] * more;
        *next += t.down_p * q.p.mixed[2] * more;
        b->along_y[e] = slope;
    }
    if (!(FD_MODEL_MIXED & 3)) return;
    const tb_real slope = fd_p_first(q.x.down, q.x.up, v[-1], v[0], v[1]), more = slope - b->along_x[e];
    if (FD_MODEL_MIXED & 2) {
        *right += t.up_k * q.k.mixed[1] * more;
        *next += t.down_p * q.p.mixed[1] * more;
    }
    b->along_x[e] = slope;
}

/* Adds F_0's term in x and y: the difference along y of slopes along x. Slopes in the patch are known; those in the
   rows beside it are computed here. */
template <class shape>
TB_D void adi3d_p_x_cross(tb_real factor, const adi3d_p_x_point &q, const tb_real *v, int e, int r,
                          adi3d_p_x_patch<shape> *b)
{
    enum { columns = shape::columns, height = shape::height };
    const tb_real *south = v - shape::width, *north = v + shape::width;
    const tb_real low =
        r > 0 ? b->along_x[r > 0 ? e - columns : e] : fd_p_first(q.x.down, q.x.up, south[-1], south[0], south[1]);
    const tb_real high = r < height - 1 ? b->along_x[r < height - 1 ? e + columns : e]
                                        : fd_p_first(q.x.down, q.x.up, north[-1], north[0], north[1]);
    if (FD_MODEL_MIXED & 1)
        b->right[e] += factor * q.p.mixed[0] * fd_p_first(b->down_y[r], b->up_y[r], low, b->along_x[e], high);
}

/* Completes the right-hand sides d of a patch of plane k, and begins those of plane p. also(c, q) does further work at
   each point. */
template <class shape, class also_type>
TB_D void adi3d_p_x_right(const adi3d_p_x_march<shape> &m, const adi3d_p_x_turn &t, adi3d_p_x_patch<shape> *b,
                          tb_real *d, also_type also)
{
    enum { columns = shape::columns, height = shape::height, kind = shape::kind, width = shape::width };
    const tb_real *here = b->mine + t.here, *below = b->mine + t.low;
    tb_real u[width * (height + 2)], z[width * (height + 2)], low[columns], low_z[columns];
    adi3d_p_x_around<shape>(*b, here, u);
    if (kind == 2) adi3d_p_x_around<shape>(*b, here + shape::plane_len, z);
    TB_UNROLL
    for (int r = 0; r < height; r++) {
        below += shape::points;
        adi3d_p_x_load<shape, columns>(below, b->i, low);
        if (kind > 0) adi3d_p_x_load<shape, columns>(below + shape::plane_len, b->i, low_z);
        TB_UNROLL
        for (int c = 0; c < columns; c++) {
            const int e = columns * r + c, at = width * (r + 1) + c + 1;
            const adi3d_p_x_point q = adi3d_p_x_point_of<shape>(m, *b, t, c, r);
            tb_real right = b->right[e], next = 0;
            also(c, q);
            if (!(q.p.source == 0)) next += m.source * q.p.source;
            adi3d_p_x_slopes<shape>(t, q, u + at, e, r, b, &right, &next);
            if (kind < 2) adi3d_p_x_own<shape>(m.own, b->cell_y[r], t, q, u + at, low[c], &right, &next);
            if (kind == 2) adi3d_p_x_own<shape>(1, b->cell_y[r], t, q, z + at, low_z[c], &right, &next);
            d[e] = kind == 1 ? right + low_z[c] : right, b->right[e] = next;
            if (height == 1) adi3d_p_x_cross<shape>(m.mixed, q, u + at, e, r, b);
        }
    }
    TB_UNROLL
    for (int e = 0; e < columns * height && height > 1; e++)
        adi3d_p_x_cross<shape>(m.mixed, adi3d_p_x_point_of<shape>(m, *b, t, e % columns, e / columns),
                               u + width * (e / columns + 1) + e % columns + 1, e, e / columns, b);
}

/* Writes the lane's part of a line to a plane of a grid. Rows are padded to 128 bytes: a vector that begins in a row
   ends in it. */
template <class shape>
TB_D void adi3d_p_x_store(const adi3d_p_device &h, const adi3d_p_x_march<shape> &m, const tb_real *v, tb_real *plane)
{
    TB_UNROLL
    for (int r = 0; r < shape::rows; r += shape::wide)
        if (m.valid && m.first + r < h.n[0])
            *(transpose_vector *)(plane + fd_p_grid_at(h, m.first + r, m.j, 0)) = transpose_pack(v + r);
}

/* The data that elimination along z carries from plane to plane (device_planes.h): y and the partition's first unknown
   so far, for each point. */
template <class shape>
struct adi3d_p_x_carried {
    tb_real y[shape::rows], first[shape::rows];
};

/* Eliminates along z: turns d, the solution along x in a plane, into y. Values given at faces of x stay as they are. At
   the end of a partition, stores the right-hand sides of its two reduced rows. */
template <class shape>
TB_D void adi3d_p_x_eliminate(const adi3d_p_device &h, const adi3d_p_x_march<shape> &m, const adi3d_p_plane &plane,
                              adi3d_p_x_carried<shape> *e, tb_real *d)
{
    enum { rows = shape::rows };
    TB_UNROLL
    for (int r = 0; r < rows; r++) d[r] -= plane.l * e->y[r], e->y[r] = d[r], e->first[r] += plane.h * d[r];
    TB_UNROLL
    for (int r = 0; r < rows && h.makes[0]; r++)
        if (fd_p_at_given(h.face, h.n, 0, m.first + r)) e->y[r] = 0;
    if (!(plane.end > 0)) return;
    tb_real *firsts = h.ends + h.plane * ((int)plane.end - 1);
    adi3d_p_x_store<shape>(h, m, e->first, firsts);
    TB_UNROLL
    for (int r = 0; r < rows; r++) e->y[r] = plane.r * d[r], e->first[r] = 0;
    adi3d_p_x_store<shape>(h, m, e->y, firsts + h.plane * h.partitions);
}

/* Waits for plane p in its slot, and begins to copy a later plane. All threads call it. */
template <class shape>
TB_D void adi3d_p_x_next(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march<shape> &m, int p,
                         int slot)
{
    TRID_COPY_AWAIT(shape::ahead - 1);
    if (shape::kind > 0) adi3d_p_x_combine<shape>(step, m, slot);
    trid_barrier_all(shape::threads);
    adi3d_p_x_fetch<shape>(h, m, p + shape::ahead, slot < 2 ? slot + shape::ahead : slot - 2);
}

/* Computes the right-hand sides of each plane p - 1 once plane p has arrived, and leaves them in shared memory. */
template <class shape>
TB_D void adi3d_p_x_make(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march<shape> &m)
{
    /* In double precision the loads of a plane's data overlap the wait for the plane; in single precision they overlap
       the arithmetic after it, which is faster there. */
    enum { early = TB_BYTES == 8 };
    adi3d_p_x_patch<shape> b = adi3d_p_x_patch_of<shape>(h, step, m);
    adi3d_p_x_plane below, here = adi3d_p_x_plane_of(h, m.from - 2), above = adi3d_p_x_plane_of(h, m.from - 1);
    TB_LOOP
    for (int p = m.from - 1, slot = 0; p <= m.to + 1; p++, slot = slot < shape::slots - 1 ? slot + 1 : 0) {
        tb_real d[shape::columns * shape::height];
        below = here, here = above;
        if (early) above = adi3d_p_x_plane_of(h, p + 1);
        adi3d_p_x_next<shape>(h, step, m, p, slot);
        if (p > m.to) continue;
        if (!early) above = adi3d_p_x_plane_of(h, p + 1);
        adi3d_p_x_right<shape>(m, adi3d_p_x_turn_of<shape>(m, below, here, slot), &b, d,
                               [](int, const adi3d_p_x_point &) {});
        TB_UNROLL
        for (int r = 0; r < shape::height; r++)
            adi3d_p_x_keep<shape, shape::columns>(d + shape::columns * r, b.i,
                                                  b.made + ((p & 1) * shape::lines + r) * shape::points);
    }
}

/* Solves a line of each plane with factors, one plane behind the right-hand sides; in a stage that is taken in sweeps
   (device_planes.h), also eliminates along z. */
template <class shape>
TB_D void adi3d_p_x_solve(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march<shape> &m)
{
    enum { rows = shape::rows, factors = TRID_WARP_FACTOR_LEN(rows) };
    const int eliminates = shape::upward && h.partitions > 0;
    const int pcr_steps = trid_warp_uniform(h.march->pcr_steps[0]);
    const int line = trid_block_thread() / 32 - shape::stencil_warps;
    const tb_real *made = m.memory + shape::made + line * shape::points;
    tb_real f[factors], d[rows], *const none = 0;
    adi3d_p_x_carried<shape> carried = {{0}, {0}};
    adi3d_p_device_take_factors<32>(h.factors[0], m.lane, 0, factors, f);
    TB_LOOP
    for (int p = m.from - 1, slot = 0; p <= m.to + 1; p++, slot = slot < shape::slots - 1 ? slot + 1 : 0) {
        const int k = p - 2;
        adi3d_p_plane plane = {};
        if (eliminates && k >= m.from) plane = h.planes[k]; /* these loads overlap the wait */
        adi3d_p_x_next<shape>(h, step, m, p, slot);
        if (k < m.from) continue;
        adi3d_p_x_load<shape, rows>(made + (~p & 1) * shape::lines * shape::points, m.first, d);
        if (m.rare) adi3d_p_x_rare<shape>(h, step, m, k, d);
        if (h.makes[0]) fd_p_put_faces<0, rows>(h, m.first, m.face, none, none, none, d);
        trid_warp_solve(rows, 32, h.n[0], pcr_steps, f, d);
        if (eliminates) adi3d_p_x_eliminate<shape>(h, m, plane, &carried, d);
        adi3d_p_x_store<shape>(h, m, d, h.d + h.plane * k);
    }
}

/* For lines without factors: the same warps compute right-hand sides and solve. */
template <class shape>
TB_D void adi3d_p_x_both(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march<shape> &m)
{
    enum { rows = shape::rows };
    const int eliminates = shape::upward && h.partitions > 0;
    adi3d_p_x_carried<shape> carried = {{0}, {0}};
    adi3d_p_x_patch<shape> b = adi3d_p_x_patch_of<shape>(h, step, m);
    TB_LOOP
    for (int p = m.from - 1, slot = 0; p <= m.to; p++, slot = slot < shape::slots - 1 ? slot + 1 : 0) {
        const int k = p - 1;
        const adi3d_p_x_turn t = adi3d_p_x_turn_of<shape>(m, adi3d_p_x_plane_of(h, k), adi3d_p_x_plane_of(h, p), slot);
        tb_real a[rows], c[rows], diagonal[rows], d[rows];
        adi3d_p_x_next<shape>(h, step, m, p, slot);
        if (k >= m.from && m.rare) adi3d_p_x_rare<shape>(h, step, m, k, b.right);
        adi3d_p_x_right<shape>(m, t, &b, d, [&](int r, const adi3d_p_x_point &q) {
            fd_lane_matrix(fd_p_row(0, q.cell, q.k), step.data.size, q.k.kill / 3, &a[r], &diagonal[r], &c[r]);
        });
        if (k < m.from) continue;
        adi3d_p_plane plane = {};
        if (eliminates) plane = h.planes[k]; /* these loads overlap the solve */
        fd_p_put_faces<0, rows>(h, m.first, m.face, a, diagonal, c, d);
        adi3d_p_device_solve_row<rows, shape::warps>(m.valid ? h.n[0] : 0, a, diagonal, c, d, m.memory + shape::solver);
        if (eliminates) adi3d_p_x_eliminate<shape>(h, m, plane, &carried, d);
        adi3d_p_x_store<shape>(h, m, d, h.d + h.plane * k);
    }
}

/* Computes right-hand sides and solves the systems along x in a step without changes (step.changes). A block takes some
   lines of a plane, and marches along z with planes in shared memory, the next ones prefetched. Kind 0 is the first
   or only stage. F without its source is linear, so a second stage takes derivatives only of combinations of u and z,
   not of each. Its ring holds u + z in place of u. In place of z it holds u - z in kind 1 (the stage is about z), and
   the argument of F_1 + F_2 + F_3 in kind 2. */
template <class shape>
TRID_KERNEL void __launch_bounds__(shape::threads, shape::resident)
    adi3d_p_device_steady_x(const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step)
{
    TRID_DYNAMIC_SHARED(memory);
    const adi3d_p_x_march<shape> m = adi3d_p_x_march_of<shape>(h, step, (tb_real *)memory);
    adi3d_p_x_tables<shape>(h, m);
    __syncthreads();
    for (int e = 0; e < shape::ahead; e++) adi3d_p_x_fetch<shape>(h, m, m.from - 1 + e, e);
    if constexpr (!shape::alone)
        adi3d_p_x_both<shape>(h, step, m);
    else if (trid_block_thread() < 32 * shape::stencil_warps)
        adi3d_p_x_make<shape>(h, step, m);
    else
        adi3d_p_x_solve<shape>(h, step, m);
}

/* Launches the marching kernel along x; returns 0 if it needs more shared memory than a block may have. */
template <int kind, int warps>
static inline int adi3d_p_device_launch_x(adi3d_p_queue *on, const adi3d_p_device &h, const fd_p_step &step)
{
    using shape = adi3d_p_x_shape<kind, warps>;
    const size_t bytes = sizeof(tb_real) * (size_t)shape::elements;
    const int blocks = (h.n[1] + shape::lines - 1) / shape::lines, most = h.shared / ((int)bytes + 1024);
    const int together = most < shape::resident ? most : shape::resident;
    const int slots = together * h.processors;
    const int pieces =
        h.partitions > 0 ? adi3d_p_device_upward_pieces(h, blocks, slots) : trid_best_pieces(h.n[2], blocks, slots, 3);
    if (bytes > (size_t)h.shared) return 0;
    if (shape::alone && h.fresh)
        adi3d_p_launch(on, adi3d_p_device_factor<0, shape::rows, 32>, dim3(1), dim3(32), 0, h, step);
    adi3d_p_launch(on, adi3d_p_device_steady_x<shape>, dim3((unsigned)blocks, (unsigned)pieces), dim3(shape::threads),
                   bytes, h, step);
    return 1;
}

/* Launches the kernel for right-hand sides and solves along x: the marching kernel if the step has no changes and
   shared memory suffices, otherwise adi3d_p_device_any_x. */
template <int warps>
static inline void adi3d_p_device_x_of(adi3d_p_queue *on, const adi3d_p_device &h, const fd_p_step &step, int s)
{
    enum { lines = 8 / warps };
    const dim3 blocks((unsigned)((h.n[1] + lines - 1) / lines), (unsigned)h.n[2]);
    const int done = step.changes      ? 0
                     : s == 0          ? adi3d_p_device_launch_x<0, warps>(on, h, step)
                     : step.data.about ? adi3d_p_device_launch_x<1, warps>(on, h, step)
                                       : adi3d_p_device_launch_x<2, warps>(on, h, step);
    if (!done) adi3d_p_launch(on, adi3d_p_device_any_x<8, warps, lines>, blocks, dim3(256), 0, h, step, s);
}

/* Chooses the number of warps for a line by its length. */
template <int unused>
static inline void adi3d_p_device_x(adi3d_p_queue *on, const adi3d_p_device &h, const fd_p_step &step, int s)
{
    h.n[0] <= 256   ? adi3d_p_device_x_of<1>(on, h, step, s)
    : h.n[0] <= 512 ? adi3d_p_device_x_of<2>(on, h, step, s)
                    : adi3d_p_device_x_of<4>(on, h, step, s);
}

/* Launches the upward sweep and the solve of its partitions' reduced system; returns 0 if lines along x are too long or
   shared memory is too small. */
template <int unused>
static inline int adi3d_p_device_upward(adi3d_p_queue *on, const adi3d_p_device &h, const fd_p_step &step)
{
    const dim3 blocks((unsigned)((h.plane + 127) / 128));
    if (h.n[0] > 256 || sizeof(tb_real) * adi3d_p_x_shape<0, 1>::elements > (size_t)h.shared) return 0;
    if (h.fresh) adi3d_p_launch(on, adi3d_p_device_factor_planes<unused>, dim3(1), dim3(32), 0, h, step);
    adi3d_p_device_launch_x<0, 1>(on, h, step);
    adi3d_p_launch(on, adi3d_p_device_interfaces<unused>, blocks, dim3(128), 0, h);
    return 1;
}
