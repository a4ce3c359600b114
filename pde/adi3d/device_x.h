/* device_x.h - a room of adi3d.h, read once a model and precision: right-hand sides and solves along x on a GPU.
   MIT licence, see LICENSE. */

/* Solves a line of n rows by `warps` successive warps of the block, `rows` rows a lane.
   Lanes    all threads of the block
   Shared   6 elements a warp; the barrier must have been passed since they were last used */
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

/* Solves along x row (j, k), whose right-hand sides are in d[] of the lane's points from `first` on, and writes it to
   h.d. n is 0 where there is no such row; made is adi3d_p_device_make_faces'. */
template <int rows, int warps>
TB_D void adi3d_p_device_finish_x(const adi3d_p_device &h, const fd_p_step &step, int s, int n, int first, int j,
                                  int k, tb_real *d, tb_real *shared, tb_real *made)
{
    enum { wide = 16 / sizeof(tb_real) };
    tb_real a[rows], b[rows], c[rows];
    const int at = adi3d_p_device_at(h, 0, j, k);
    if (n > 0)
        adi3d_p_device_make_faces<0, rows>(
            h, step, first, 0, j, k, (s && step.data.about ? h.z : h.u) + at, 1,
            [&](int m) { return adi3d_p_device_right(h, step, s, m, j, k); }, made);
    fd_numbers own[3];
    adi3d_p_device_numbers<0>(h, 0, j, k, own);
    adi3d_p_device_rows<0, rows>(h, step, own, adi3d_p_device_own<0>(h, first), a, b, c);
    if (n > 0) adi3d_p_device_put_faces<0, rows>(h, first, made, a, b, c, d);
    adi3d_p_device_solve_row<rows, warps>(n, a, b, c, d, shared);
    /* Rows are padded to 128 bytes: a vector that begins in one ends in it. */
    TB_UNROLL
    for (int r = 0; r < rows; r += wide)
        if (first + r < n) *(transpose_vector *)(h.d + at + first + r) = transpose_pack(d + r);
}

/* Computes right-hand sides and solves along x, from device memory, in any step. A line has `warps` warps, a block
   `lines` lines of a plane. */
template <int rows, int warps, int lines>
TRID_KERNEL void __launch_bounds__(32 * warps * lines) adi3d_p_device_any_x(
    const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step, int s)
{
    __shared__ tb_real shared[6 * warps * lines], made[16 * lines];
    const int warp = trid_block_thread() / 32, first = rows * (32 * (warp % warps) + trid_warp_lane());
    const int row = lines * (int)blockIdx.x + warp / warps, valid = row < h.n[1], j = valid ? row : 0,
              k = (int)blockIdx.y;
    const int n = valid ? h.n[0] : 0;
    tb_real d[rows];
    TB_UNROLL
    for (int r = 0; r < rows; r++) d[r] = first + r < n ? adi3d_p_device_right(h, step, s, first + r, j, k) : 0;
    adi3d_p_device_finish_x<rows, warps>(h, step, s, n, first, j, k, d, shared, made + warp / warps * 16);
}

/* What the marching kernel (adi3d_p_device_steady_x) is compiled for: a kind of stage and the warps of a line. */
template <int kind_of, int warps_of>
struct adi3d_p_x_shape {
    enum {
        kind = kind_of,
        warps = warps_of,
        rows = 8,
        /* As many warps as have registers run, in several blocks where lines have one warp: some compute while others
           wait. */
        more = sizeof(tb_real) == 4 && kind < 2 && warps < 4,
        lines = warps == 1 ? 4 : (more ? 12 : 8) / warps,
        threads = 32 * warps * lines,
        resident = warps > 1                           ? 1
                   : sizeof(tb_real) == 8 || kind == 2 ? 2
                   : kind == 1                         ? 3
                                                       : 4,
        points = 32 * rows * warps, /* of a line */
        /* Whether lines are solved by factors: adi3d_p_along_x is then tabled instead of the cells, which rows need. */
        alone = adi3d_p_independent(0) && warps == 1,
        factor_len = alone ? TRID_WARP_FACTOR_LEN(rows) : 0,
        /* Whether the march may eliminate along z (device_planes.h). What it carries from plane to plane is in shared
           memory, as registers have no room: of each point y and the partition's first unknown so far. */
        upward = adi3d_p_fusible && kind == 0 && warps == 1,
        /* A line is in shared memory as the lanes of its warps read it, 16 bytes (`wide` points) at a time, without
           bank conflicts: of each warp's points the first `wide` of all its lanes, then the next. A gap of
           8 wide / (rows / wide) follows each group, so that a copy of successive vectors meets different banks, too.
           A plane has a line more on each side. */
        wide = ADI3D_P_VECTORED,
        vectors = points / wide,
        group_len = 32 * wide + 8 * wide * wide / rows,
        warp_len = rows / wide * group_len,
        line_len = warps * warp_len,
        plane_len = (lines + 2) * line_len,
        passes = ((lines + 2) * vectors + threads - 1) / threads, /* of the block, to copy a plane */
        slots = ADI3D_P_SLOTS,
        slot_len = (kind > 0 ? 2 : 1) * plane_len,
        /* Where shared memory has what follows the cells. */
        numbers = 4 * points,
        factors = numbers + (int)fd_p_numbers_x * points,
        solver = factors + 32 * factor_len,
        faces = solver + 8 * warps * lines,
        carried = solver + 24 * warps * lines,
        ring = carried + 2 * upward * lines * points,
        elements = ring + slots * slot_len
    };
};

/* Copies the values of a lane from shared memory. */
template <class shape>
TB_D void adi3d_p_device_lane_of(const tb_real *part, int lane, tb_real *v)
{
    TB_UNROLL
    for (int q = 0; q < shape::rows / shape::wide; q++)
        transpose_unpack(*(const transpose_vector *)(part + q * shape::group_len + shape::wide * lane),
                         v + shape::wide * q);
}

/* Copies the values of a lane and one on each side of them, which at the ends of a row are whatever is finite. */
template <class shape>
TB_D void adi3d_p_device_row_of(const tb_real *part, int of_row, int lane, tb_real *v)
{
    enum { rows = shape::rows, warps = shape::warps };
    adi3d_p_device_lane_of<shape>(part, lane, v + 1);
    v[0] = __shfl_up_sync(TB_FULL_WARP, v[rows], 1), v[rows + 1] = __shfl_down_sync(TB_FULL_WARP, v[1], 1);
    if (warps > 1 && lane == 0 && of_row > 0) v[0] = part[32 * shape::wide - shape::group_len - 1];
    if (warps > 1 && lane == 31 && of_row < warps - 1) v[rows + 1] = part[shape::warp_len];
}

/* Returns what the faces of an axis add to the base of a stage at a point. */
template <int kind, int axis>
TB_D tb_real adi3d_p_device_face_of(const adi3d_p_device &h, const fd_p_step &step, int i, int j, int k)
{
    const tb_real *base = step.data.base[kind ? 1 : 0];
    tb_real sum = base[1] * adi3d_p_device_face<axis, adi3d_p_device_value>(h, h.u, i, j, k, step.time[0], step.from);
    if (kind) sum += base[3] * adi3d_p_device_face<axis, adi3d_p_device_value>(h, h.z, i, j, k, step.time[1], step.to);
    return sum;
}

/* Adds what the faces of all axes add to the base of a stage, to out[] of a lane's points. */
template <int kind, int rows>
TB_D void adi3d_p_device_faces_of(const adi3d_p_device &h, const fd_p_step &step, int first, int j, int k,
                                  tb_real *out)
{
    const int *n = h.n;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int i = side ? n[0] - 1 : 0;
        if (!fd_p_adds(h.problem.face[0][side]) || i < first || i >= first + rows) continue;
        const tb_real sum = adi3d_p_device_face_of<kind, 0>(h, step, i, j, k);
        TB_UNROLL
        for (int r = 0; r < rows; r++) out[r] += first + r == i ? sum : 0;
    }
    if (j > 0 && j < n[1] - 1 && k > 0 && k < n[2] - 1) return;
    TB_LOOP
    for (int m = 0; m < rows; m++) {
        if (first + m >= n[0]) continue;
        const tb_real sum = adi3d_p_device_face_of<kind, 1>(h, step, first + m, j, k) +
                            adi3d_p_device_face_of<kind, 2>(h, step, first + m, j, k);
        TB_UNROLL
        for (int r = 0; r < rows; r++) out[r] += r == m ? sum : 0;
    }
}

/* The factors of the differences along x at a point, in 16 bytes of single precision: the row of A, and the weights of
   the first derivative. */
typedef struct FD_P_ALIGN {
    tb_real below, above, down, up;
} adi3d_p_along_x;

/* Returns the factors of the differences along x at a point. */
TB_D adi3d_p_along_x adi3d_p_device_along_x(fd_cell cell, fd_terms terms, tb_real own)
{
    const fd_row row = fd_p_row(0, cell, terms);
    const adi3d_p_along_x x = {own * row.below, own * row.above, cell.below * (1 - cell.w), cell.above * cell.w};
    return x;
}

/* What a thread of the marching kernel has in hand. The ring, in shared memory, has a plane in each slot. */
typedef struct {
    tb_real *memory, *ring, *face; /* the block's shared memory; of it the ring; the boundary rows of the line */
    trid_copy_place to_ring;
    int lane, part, first;  /* warp `part` of the line; the thread's points are first .. */
    const tb_real *mine;    /* its warp's points in the first slot */
    int begin, j, valid;    /* the block's first line; the thread's, or, if that is not valid, the last */
    int from, to;           /* the planes of the block */
    tb_real mixed, own;     /* what multiplies F_0, and F_1 + F_2 + F_3, of the values, or of their first sum */
    tb_real source;         /* what multiplies the source */
    const fd_model_parameters *parameters;
    fd_cell cell_y;         /* the line's along y, the factors of the differences, the numbers, those of time */
    tb_real down_y, up_y;
    fd_numbers number_y, now;
} adi3d_p_x_march;

/* Returns what this thread has in hand. */
template <class shape>
TB_D adi3d_p_x_march adi3d_p_x_march_of(const adi3d_p_device &h, const fd_p_step &step, tb_real *memory)
{
    const int warp = trid_block_thread() / 32, row = warp / shape::warps, *n = h.n;
    const int pieces = (int)gridDim.y, piece = (int)blockIdx.y, parts = h.partitions > 0 ? h.partitions : pieces;
    const tb_real *base = step.data.base[shape::kind > 0];
    adi3d_p_x_march m;
    m.memory = memory, m.ring = memory + shape::ring, m.face = memory + shape::faces + 16 * row;
    m.to_ring = trid_copy_place_of(m.ring);
    m.lane = trid_warp_lane(), m.part = warp % shape::warps, m.first = shape::rows * (32 * m.part + m.lane);
    m.mine = m.ring + (row + 1) * shape::line_len + m.part * shape::warp_len;
    m.begin = shape::lines * (int)blockIdx.x, m.valid = m.begin + row < n[1], m.j = m.valid ? m.begin + row : n[1] - 1;
    m.from = n[2] * (parts * piece / pieces) / parts, m.to = n[2] * (parts * (piece + 1) / pieces) / parts;
    m.mixed = base[0], m.own = shape::kind == 2 ? 1 : base[1];
    m.source = shape::kind > 0 ? base[1] + base[3] : base[1], m.parameters = h.t.parameters;
    return m;
}

/* Vector q of those that the thread copies: its line of the plane, its place within the line, and in shared memory;
   whether there is one. */
typedef struct {
    int row, of_row, put, is_there;
} adi3d_p_x_vector;

/* Returns vector q. A pass of the block is some whole lines or a part of one. */
template <class shape>
TB_D adi3d_p_x_vector adi3d_p_x_vector_of(const adi3d_p_device &h, int q)
{
    enum { of_lane = shape::rows / shape::wide, of_warp = 32 * of_lane };
    const int thread = trid_block_thread();
    adi3d_p_x_vector v;
    v.row = thread / shape::vectors + q * shape::threads / shape::vectors;
    v.of_row = thread % shape::vectors + q * shape::threads % shape::vectors;
    const int in_part = v.of_row % of_warp;
    v.put = (v.row * shape::warps + v.of_row / of_warp) * shape::warp_len + in_part % of_lane * shape::group_len +
            shape::wide * (in_part / of_lane);
    v.is_there = v.row < shape::lines + 2 && shape::wide * v.of_row < h.pitch;
    return v;
}

/* Begins to copy plane k, or where there is none the one beside it, to a slot. Lines that do not exist stay 0. */
template <class shape>
TB_D void adi3d_p_x_fetch(const adi3d_p_device &h, const adi3d_p_x_march &m, int k, int slot)
{
    const int plane = h.plane * (k < 0 ? 0 : k < h.n[2] ? k : h.n[2] - 1);
    TB_UNROLL
    for (int q = 0; q < shape::passes; q++) {
        const adi3d_p_x_vector v = adi3d_p_x_vector_of<shape>(h, q);
        const int line = m.begin - 1 + v.row, to = slot * shape::slot_len + v.put;
        const int from = plane + h.pitch * line + shape::wide * v.of_row;
        if (!v.is_there || line < 0 || line >= h.n[1] || k > m.to) continue;
        trid_copy_async(m.to_ring, (int)sizeof(tb_real) * to, h.u + from);
        if (shape::kind > 0) trid_copy_async(m.to_ring, (int)sizeof(tb_real) * (to + shape::plane_len), h.z + from);
    }
    trid_copy_commit();
}

/* Replaces what the thread has copied to a slot, u and z, by the two sums. */
template <class shape>
TB_D void adi3d_p_x_combine(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march &m, int slot)
{
    const tb_real *base = step.data.base[1];
    TB_UNROLL
    for (int q = 0; q < shape::passes; q++) {
        const adi3d_p_x_vector v = adi3d_p_x_vector_of<shape>(h, q);
        transpose_vector *u = (transpose_vector *)(m.ring + slot * shape::slot_len + v.put);
        transpose_vector *z = u + shape::plane_len / shape::wide;
        tb_real a[shape::wide], b[shape::wide];
        if (!v.is_there) continue;
        transpose_unpack(*u, a), transpose_unpack(*z, b);
        TB_UNROLL
        for (int e = 0; e < shape::wide; e++) {
            const tb_real one = a[e], two = b[e];
            a[e] = one + two, b[e] = shape::kind == 1 ? one - two : base[1] * one + base[3] * two;
        }
        *u = transpose_pack(a), *z = transpose_pack(b);
    }
}

/* Returns where the table of cells, or of adi3d_p_along_x, has number q, 0 .. 3, of entry e: vectors of 16 bytes of
   successive entries are next to each other. */
template <class shape>
TB_D int adi3d_p_x_quad(int e, int q)
{
    return (q / shape::wide * shape::points + e) * shape::wide + q % shape::wide;
}

/* Clears the ring and what is carried, and fills the tables of x in shared memory: factors, and of row r of lane l of
   warp p, entry [p][r][l], the cell or adi3d_p_along_x, and the numbers. */
template <class shape>
TB_D void adi3d_p_x_tables(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march &m)
{
    enum { rows = shape::rows, points = shape::points };
    const int thread = trid_block_thread(), n = h.n[0];
    tb_real *numbers = m.memory + shape::numbers;
    for (int e = shape::carried + thread; e < shape::elements; e += shape::threads) m.memory[e] = 0;
    if (shape::alone) adi3d_p_device_fetch_factors<rows, 32>(h.factors[0], m.memory + shape::factors);
    for (int e = thread; e < points; e += shape::threads) {
        const int i = e / (32 * rows) * 32 * rows + e % 32 * rows + e / 32 % rows, last = i < n ? i : n - 1;
        const int index[3] = {last, 0, 0};
        const fd_cell cell = h.t.cell[0][last];
        tb_real quad[4] = {cell.below, cell.above, cell.h, cell.w};
        if (shape::alone) {
            const adi3d_p_along_x x =
                adi3d_p_device_along_x(cell, fd_p_terms_here(&h.t, index, step.time[1]), m.own);
            quad[0] = x.below, quad[1] = x.above, quad[2] = x.down, quad[3] = x.up;
        }
        TB_UNROLL
        for (int q = 0; q < 4; q += shape::wide)
            *(transpose_vector *)(m.memory + adi3d_p_x_quad<shape>(e, q)) = transpose_pack(quad + q);
        TB_UNROLL
        for (int q = 0; q < fd_p_numbers(0); q++)
            numbers[q * points + e] = h.t.number[0][q * h.t.room[0] + last];
    }
}

/* Loads what the march needs of its line. */
TB_D void adi3d_p_x_take_line(const adi3d_p_device &h, const fd_p_step &step, adi3d_p_x_march *m)
{
    m->cell_y = h.t.cell[1][m->j];
    m->down_y = m->cell_y.below * (1 - m->cell_y.w), m->up_y = m->cell_y.above * m->cell_y.w;
    fd_p_take(&h.t, 1, m->j, &m->number_y);
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(3); q++) m->now.number[q] = step.time[1][q];
}

/* A turn of the march: it completes plane k, which lacks only what it needs of plane p = k + 1, and begins p. */
typedef struct {
    int k;
    const tb_real *low, *here;                         /* the line in planes k and p */
    fd_cell cell_k, cell_p;                            /* along z, as the next */
    fd_numbers number_k, number_p;
    tb_real up_k, down_p;                              /* factors of mixed terms' differences */
} adi3d_p_x_turn;

/* Returns the turn that begins plane p, which is in a slot. */
template <class shape>
TB_D adi3d_p_x_turn adi3d_p_x_turn_of(const adi3d_p_device &h, const adi3d_p_x_march &m, int p, int slot)
{
    const int n = h.n[2], at_k = p < 1 ? 0 : p - 1, at_p = p < 0 ? 0 : p < n ? p : n - 1;
    adi3d_p_x_turn t;
    t.k = p - 1;
    t.here = m.mine + slot * shape::slot_len;
    t.low = m.mine + (slot > 0 ? slot - 1 : shape::slots - 1) * shape::slot_len;
    t.cell_k = h.t.cell[2][at_k], t.cell_p = h.t.cell[2][at_p];
    fd_p_take(&h.t, 2, at_k, &t.number_k), fd_p_take(&h.t, 2, at_p, &t.number_p);
    t.up_k = m.mixed * (t.cell_k.above * t.cell_k.w), t.down_p = m.mixed * (t.cell_p.below * (1 - t.cell_p.w));
    return t;
}

/* A point of planes k and p: its cell along x, the terms in both, the factors of the differences along x. */
typedef struct {
    fd_cell cell;
    fd_terms k, p;
    adi3d_p_along_x x;
} adi3d_p_x_point;

/* Returns the thread's point r. */
template <class shape>
TB_D adi3d_p_x_point adi3d_p_x_point_of(const adi3d_p_x_march &m, const adi3d_p_x_turn &t, int r)
{
    const int at = 32 * shape::rows * m.part + m.lane;
    const tb_real *numbers = m.memory + shape::numbers + at;
    tb_real quad[4];
    fd_numbers own[3];
    adi3d_p_x_point q;
    TB_UNROLL
    for (int e = 0; e < 4; e += shape::wide)
        transpose_unpack(*(const transpose_vector *)(m.memory + adi3d_p_x_quad<shape>(at + 32 * r, e)), quad + e);
    TB_UNROLL
    for (int e = 0; e < fd_p_numbers(0); e++) own[0].number[e] = numbers[e * shape::points + 32 * r];
    own[1] = m.number_y, own[2] = t.number_k;
    q.k = fd_p_terms(m.parameters, own, m.now.number);
    own[2] = t.number_p;
    q.p = fd_p_terms(m.parameters, own, m.now.number);
    const adi3d_p_along_x x = {quad[0], quad[1], quad[2], quad[3]};
    q.cell.below = quad[0], q.cell.above = quad[1], q.cell.h = quad[2], q.cell.w = quad[3];
    q.x = shape::alone ? x : adi3d_p_device_along_x(q.cell, q.p, m.own);
    return q;
}

/* The values around the thread's points: of the line in plane p, of its neighbours there, of the line in plane k. */
template <class shape>
struct adi3d_p_x_around {
    tb_real v[shape::rows + 2], south[shape::rows + 2], north[shape::rows + 2], low[shape::rows];
};

/* What one turn hands to the next: of the right-hand sides the part that plane p and the one before it determine, and
   the slopes in plane p. */
template <class shape>
struct adi3d_p_x_begun {
    tb_real right[shape::rows], along_x[shape::rows], along_y[shape::rows];
};

/* The rows of the thread's points. */
template <class shape>
struct adi3d_p_x_rows {
    tb_real a[shape::rows], b[shape::rows], c[shape::rows], d[shape::rows];
};

/* Adds what is rare to the right-hand sides of plane k, and makes the line's boundary rows. This comes before the code
   that needs many registers. */
template <class shape>
TB_D void adi3d_p_x_rare(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_x_march &m, int k,
                         tb_real *right)
{
    enum { kind = shape::kind, rows = shape::rows };
    const int at = adi3d_p_device_at(h, m.first, m.j, k);
    TB_UNROLL
    for (int r = 0; r < rows && h.extra; r++)
        right[r] += m.first + r < h.n[0] ? step.data.dt * h.extra[at + r] : 0;
    if (h.adds) adi3d_p_device_faces_of<kind, rows>(h, step, m.first, m.j, k, right);
    if (!h.makes[0]) return;
    adi3d_p_device_make_faces<0, rows>(
        h, step, m.first, 0, m.j, k, (kind == 1 ? h.z : h.u) + at - m.first, 1,
        [&](int i) { return adi3d_p_device_right(h, step, kind > 0, i, m.j, k); }, m.face);
}

/* Adds F_1 + F_2 + F_3 at the thread's point r: what plane k lacks of it to *right, and what plane p begins with to
   *next. */
template <class shape>
TB_D void adi3d_p_x_own(const adi3d_p_x_march &m, const adi3d_p_x_turn &t, const adi3d_p_x_point &q,
                        const adi3d_p_x_around<shape> &n, int r, tb_real *right, tb_real *next)
{
    const tb_real *v = n.v + r, more = v[1] - n.low[r];
    /* Differences as in fd_p_first, so that the compiler computes most of them once. */
    const fd_row row_y = fd_p_row(1, m.cell_y, q.p), row_p = fd_p_row(2, t.cell_p, q.p);
    *right += m.own * fd_p_row(2, t.cell_k, q.k).above * more;
    *next = q.x.above * (v[2] - v[1]) - q.x.below * (v[1] - v[0]) + m.own * row_y.above * (n.north[r + 1] - v[1]) -
            m.own * row_y.below * (v[1] - n.south[r + 1]) - m.own * row_p.below * more - m.own * q.p.kill * v[1];
}

/* Adds F_0 in the same way. */
template <class shape>
TB_D void adi3d_p_x_mixed(const adi3d_p_x_march &m, const adi3d_p_x_turn &t, const adi3d_p_x_point &q,
                          const adi3d_p_x_around<shape> &n, int r, adi3d_p_x_begun<shape> *begun, tb_real *right,
                          tb_real *next)
{
    enum { mixed = FD_MODEL_MIXED, xy = (mixed & 1) > 0, xz = (mixed & 2) > 0, yz = (mixed & 4) > 0 };
    const tb_real *v = n.v + r, *south = n.south + r, *north = n.north + r;
    if (yz) {
        const tb_real slope = fd_p_first(m.down_y, m.up_y, south[1], v[1], north[1]);
        const tb_real more = slope - begun->along_y[r];
        *right += t.up_k * q.k.mixed[2] * more;
        *next += t.down_p * q.p.mixed[2] * more;
        begun->along_y[r] = slope;
    }
    if (!xy && !xz) return;
    const tb_real slope = fd_p_first(q.x.down, q.x.up, v[0], v[1], v[2]), more = slope - begun->along_x[r];
    if (xz) {
        *right += t.up_k * q.k.mixed[1] * more;
        *next += t.down_p * q.p.mixed[1] * more;
    }
    if (xy)
        *next += m.mixed * q.p.mixed[0] *
                 fd_p_first(m.down_y, m.up_y, fd_p_first(q.x.down, q.x.up, south[0], south[1], south[2]), slope,
                               fd_p_first(q.x.down, q.x.up, north[0], north[1], north[2]));
    begun->along_x[r] = slope;
}

/* Completes the right-hand sides of plane k and begins those of plane p, and computes the rows of k, where they are not
   factored. */
template <class shape>
TB_D void adi3d_p_x_right(const fd_p_step &step, const adi3d_p_x_march &m, const adi3d_p_x_turn &t,
                          adi3d_p_x_begun<shape> *begun, adi3d_p_x_rows<shape> *e)
{
    enum { wide = shape::wide };
    adi3d_p_x_around<shape> n;
    adi3d_p_device_row_of<shape>(t.here, m.part, m.lane, n.v);
    adi3d_p_device_row_of<shape>(t.here - shape::line_len, m.part, m.lane, n.south);
    adi3d_p_device_row_of<shape>(t.here + shape::line_len, m.part, m.lane, n.north);
    TB_UNROLL
    for (int r = 0; r < shape::rows; r++) {
        const adi3d_p_x_point q = adi3d_p_x_point_of<shape>(m, t, r);
        tb_real right = begun->right[r], next = 0;
        if (r % wide == 0)
            transpose_unpack(*(const transpose_vector *)(t.low + r / wide * shape::group_len + wide * m.lane),
                             n.low + r);
        if (shape::kind < 2) adi3d_p_x_own<shape>(m, t, q, n, r, &right, &next);
        if (!(q.p.source == 0)) next += m.source * q.p.source;
        adi3d_p_x_mixed<shape>(m, t, q, n, r, begun, &right, &next);
        e->d[r] = right, begun->right[r] = next;
        if (!shape::alone)
            fd_lane_matrix(fd_p_row(0, q.cell, q.k), step.data.size, q.k.kill / 3, &e->a[r], &e->b[r], &e->c[r]);
    }
}

/* Adds F_1 + F_2 + F_3 of the second sum, of kind 2, in the same way. */
template <class shape>
TB_D void adi3d_p_x_second(const adi3d_p_x_march &m, const adi3d_p_x_turn &t, adi3d_p_x_begun<shape> *begun, tb_real *d)
{
    tb_real v[shape::rows + 2], south[shape::rows], north[shape::rows], low[shape::rows];
    const tb_real *here = t.here + shape::plane_len;
    adi3d_p_device_row_of<shape>(here, m.part, m.lane, v);
    adi3d_p_device_lane_of<shape>(here - shape::line_len, m.lane, south);
    adi3d_p_device_lane_of<shape>(here + shape::line_len, m.lane, north);
    adi3d_p_device_lane_of<shape>(t.low + shape::plane_len, m.lane, low);
    TB_UNROLL
    for (int r = 0; r < shape::rows; r++) {
        const adi3d_p_x_point q = adi3d_p_x_point_of<shape>(m, t, r);
        const tb_real more = v[r + 1] - low[r];
        d[r] += fd_p_row(2, t.cell_k, q.k).above * more;
        begun->right[r] += q.x.above * (v[r + 2] - v[r + 1]) - q.x.below * (v[r + 1] - v[r]) +
                           fd_lane_apply(fd_p_row(1, m.cell_y, q.p), south[r], v[r + 1], north[r]) -
                           fd_p_row(2, t.cell_p, q.p).below * more - q.p.kill * v[r + 1];
    }
}

/* Writes a line to a plane of a grid. Rows are padded to 128 bytes: a vector that begins in one ends in it. */
template <class shape>
TB_D void adi3d_p_x_store(const adi3d_p_device &h, const adi3d_p_x_march &m, const tb_real *v, tb_real *plane)
{
    TB_UNROLL
    for (int r = 0; r < shape::rows; r += shape::wide)
        if (m.valid && m.first + r < h.n[0])
            *(transpose_vector *)(plane + adi3d_p_device_at(h, m.first + r, m.j, 0)) = transpose_pack(v + r);
}

/* Eliminates along z: turns d, the solution along x in a plane, into y (device_planes.h). Values given at faces along x
   stay as they are. At the end of a partition, stores the two rows that it leaves. */
template <class shape>
TB_D void adi3d_p_x_eliminate(const adi3d_p_device &h, const adi3d_p_x_march &m, const adi3d_p_plane &plane,
                              tb_real *d)
{
    enum { rows = shape::rows, wide = shape::wide };
    tb_real *carried = m.memory + shape::carried + trid_block_thread() / 32 * 2 * shape::points + wide * m.lane;
    tb_real y[rows], first[rows];
    TB_UNROLL
    for (int r = 0; r < rows; r += wide) transpose_unpack(*(transpose_vector *)(carried + 32 * r), y + r);
    TB_UNROLL
    for (int r = 0; r < rows; r++)
        d[r] -= h.makes[0] && fd_p_at_given(&h.problem, 0, m.first + r) ? 0 : plane.l * y[r];
    TB_UNROLL
    for (int r = 0; r < rows; r += wide) *(transpose_vector *)(carried + 32 * r) = transpose_pack(d + r);
    if (plane.h == 0 && plane.end == 0) return;
    carried += shape::points;
    TB_UNROLL
    for (int r = 0; r < rows; r += wide) transpose_unpack(*(transpose_vector *)(carried + 32 * r), first + r);
    TB_UNROLL
    for (int r = 0; r < rows; r++) first[r] += plane.h * d[r];
    if (plane.end > 0) {
        tb_real *firsts = h.ends + h.plane * ((int)plane.end - 1);
        adi3d_p_x_store<shape>(h, m, first, firsts);
        TB_UNROLL
        for (int r = 0; r < rows; r++) y[r] = plane.r * d[r], first[r] = 0;
        adi3d_p_x_store<shape>(h, m, y, firsts + h.plane * h.partitions);
    }
    TB_UNROLL
    for (int r = 0; r < rows; r += wide) *(transpose_vector *)(carried + 32 * r) = transpose_pack(first + r);
}

/* Solves the line in plane k, eliminates it along z, if that is within the sweeps, and writes it to h.d. */
template <class shape>
TB_D void adi3d_p_x_solve(const adi3d_p_device &h, const adi3d_p_x_march &m, int k, int pcr_steps,
                          adi3d_p_x_rows<shape> *e)
{
    enum { rows = shape::rows };
    const int first = m.first, n = h.n[0], eliminates = shape::upward && h.partitions > 0;
    adi3d_p_plane plane;
    if (eliminates) plane = h.planes[k]; /* these loads overlap the solve */
    tb_real *d = e->d;
    if (shape::alone) {
        tb_real f[TRID_WARP_FACTOR_LEN(rows)], *const none = 0;
        if (h.makes[0]) adi3d_p_device_put_faces<0, rows>(h, first, m.face, none, none, none, d);
        adi3d_p_device_take_factors<32>(m.memory + shape::factors, m.lane, 0, shape::factor_len, f);
        trid_warp_solve(rows, 32, n, pcr_steps, f, d);
    } else {
        adi3d_p_device_put_faces<0, rows>(h, first, m.face, e->a, e->b, e->c, d);
        adi3d_p_device_solve_row<rows, shape::warps>(m.valid ? n : 0, e->a, e->b, e->c, d, m.memory + shape::solver);
    }
    if (eliminates) adi3d_p_x_eliminate<shape>(h, m, plane, d);
    adi3d_p_x_store<shape>(h, m, d, h.d + h.plane * k);
}

/* Computes right-hand sides and solves along x in a step in which nothing changes (step.changes). A block has some
   lines of a plane, and marches along z with planes in shared memory, the next one prefetched. Kind 0 is a first stage,
   or the only one. In a second stage F is linear in u and z, so that derivatives are taken once, of a sum: u + z in the
   place of u, and in that of z their difference (kind 1, about z), or what F_1 + F_2 + F_3 are applied to (kind 2). */
template <class shape>
TRID_KERNEL void __launch_bounds__(shape::threads, shape::resident) adi3d_p_device_steady_x(
    const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step)
{
    TRID_DYNAMIC_SHARED(memory);
    adi3d_p_x_march m = adi3d_p_x_march_of<shape>(h, step, (tb_real *)memory);
    const int pcr_steps = shape::alone ? h.march->pcr_steps[0] : 0;
    adi3d_p_x_tables<shape>(h, step, m);
    __syncthreads();
    adi3d_p_x_fetch<shape>(h, m, m.from - 1, 0);
    adi3d_p_x_take_line(h, step, &m);
    adi3d_p_x_begun<shape> begun;
    TB_UNROLL
    for (int r = 0; r < shape::rows; r++) begun.right[r] = begun.along_x[r] = begun.along_y[r] = 0;
    TB_LOOP
    for (int p = m.from - 1, slot = 0; p <= m.to; p++, slot = slot < shape::slots - 1 ? slot + 1 : 0) {
        const adi3d_p_x_turn t = adi3d_p_x_turn_of<shape>(h, m, p, slot); /* its loads overlap the wait */
        TRID_COPY_AWAIT(0);
        if (shape::kind > 0) adi3d_p_x_combine<shape>(h, step, m, slot);
        __syncthreads();
        adi3d_p_x_fetch<shape>(h, m, p + 1, slot < shape::slots - 1 ? slot + 1 : 0);
        if (t.k >= m.from) adi3d_p_x_rare<shape>(h, step, m, t.k, begun.right);
        adi3d_p_x_rows<shape> e;
        adi3d_p_x_right<shape>(step, m, t, &begun, &e);
        if (shape::kind == 2) adi3d_p_x_second<shape>(m, t, &begun, e.d);
        if (t.k < m.from) continue;
        if (shape::kind == 1) {
            tb_real difference[shape::rows];
            adi3d_p_device_lane_of<shape>(t.low + shape::plane_len, m.lane, difference);
            TB_UNROLL
            for (int r = 0; r < shape::rows; r++) e.d[r] += difference[r];
        }
        adi3d_p_x_solve<shape>(h, m, t.k, pcr_steps, &e);
    }
}

/* Launches the marching kernel along x; returns 0 where it needs more shared memory than the device has. */
template <int kind, int warps>
static inline int adi3d_p_device_launch_x(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                          const fd_p_step &step)
{
    using shape = adi3d_p_x_shape<kind, warps>;
    const size_t bytes = sizeof(tb_real) * (size_t)shape::elements;
    const int blocks = (h.n[1] + shape::lines - 1) / shape::lines, most = h.shared / ((int)bytes + 1024);
    const int together = most < shape::resident ? most : shape::resident;
    const int slots = together * h.processors;
    const int pieces = h.partitions > 0 ? adi3d_p_device_upward_pieces(h, blocks, slots)
                                        : trid_best_pieces(h.n[2], blocks, slots, 3);
    if (bytes > (size_t)h.shared) return 0;
    if (shape::alone && h.fresh)
        adi3d_p_launch(error, stream, adi3d_p_device_factor<0, shape::rows, 32>, dim3(1), dim3(32), 0, h, step);
    adi3d_p_launch(error, stream, adi3d_p_device_steady_x<shape>, dim3((unsigned)blocks, (unsigned)pieces),
                   dim3(shape::threads), bytes, h, step);
    return 1;
}

/* Launches right-hand sides and solves along x: by the marching kernel if the step has no changes, else point by point.
   */
template <int warps>
static inline void adi3d_p_device_x_of(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                       const fd_p_step &step, int s)
{
    enum { lines = 8 / warps };
    const dim3 blocks((unsigned)((h.n[1] + lines - 1) / lines), (unsigned)h.n[2]);
    const int done = step.changes      ? 0
                     : s == 0          ? adi3d_p_device_launch_x<0, warps>(error, stream, h, step)
                     : step.data.about ? adi3d_p_device_launch_x<1, warps>(error, stream, h, step)
                                       : adi3d_p_device_launch_x<2, warps>(error, stream, h, step);
    if (!done) adi3d_p_launch(error, stream, adi3d_p_device_any_x<8, warps, lines>, blocks, dim3(256), 0, h, step, s);
}

/* Chooses the warps of a line by its length. */
template <int unused>
static inline void adi3d_p_device_x(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                    const fd_p_step &step, int s)
{
    h.n[0] <= 256   ? adi3d_p_device_x_of<1>(error, stream, h, step, s)
    : h.n[0] <= 512 ? adi3d_p_device_x_of<2>(error, stream, h, step, s)
                      : adi3d_p_device_x_of<4>(error, stream, h, step, s);
}

/* Launches the sweep upward, and the solution of the system that its partitions leave; returns 0 where lines along x
   are too long, or shared memory is too small. */
template <int unused>
static inline int adi3d_p_device_upward(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                        const fd_p_step &step)
{
    const dim3 blocks((unsigned)((h.plane + 127) / 128));
    if (h.n[0] > 256 || sizeof(tb_real) * adi3d_p_x_shape<0, 1>::elements > (size_t)h.shared) return 0;
    if (h.fresh) adi3d_p_launch(error, stream, adi3d_p_device_factor_planes<unused>, dim3(1), dim3(32), 0, h, step);
    adi3d_p_device_launch_x<0, 1>(error, stream, h, step);
    adi3d_p_launch(error, stream, adi3d_p_device_interfaces<unused>, blocks, dim3(128), 0, h);
    return 1;
}
