/* onchip_stage.h - a room of adi3d.h, read once for each model and precision: a time step in the shared memory of a
   cluster. MIT licence, see LICENSE. */

/* A problem lies in the shared memory of a block, or of the blocks of a cluster, each of which holds some of the grid's
   planes. It has two arrays, values and differences. The values of the first of two stages replace that stage's
   differences. If a second stage solves for differences from the first stage's values (`about` in fd_stage), its
   differences replace the step's initial values; otherwise they replace the values of the first stage, once no
   right-hand side needs those. The part of F(u) that a second stage needs is computed in the first, from the same
   neighbours, and waits in device memory; the second-level cache holds a copy.

   Two lanes, 16 apart, solve a line: one eliminates from the line's first point on, the other from its last; they
   exchange the rows in the middle and substitute back. So each begins with a boundary row, and holds half of the line's
   eliminated rows in registers. In a cluster, lines along z are spread over several blocks' memories: a block solves
   its share of them through access to the other blocks' memories (trid_cluster_load).

   Rows have an odd pitch, so that 16 lanes at neighbouring rows, like 16 lanes at neighbouring points of a row, have no
   bank conflicts (docs/adi3d.md). */

/* A block's data about its problem, in shared memory. Point (i, j, first + k) of an array is at
   i + pitch j + plane k. t.cell and t.number, too, point to shared memory. */
struct adi3d_p_chip : fd_p_chip {
    int each, first, planes, share; /* the most planes of a block; this block's first plane, and how many it has; the
                                       most lines along z that a block solves */
    int plane;
    int z;                  /* the array of differences, which the values of the first of two stages replace */
    int cell[3], number[3]; /* for the axes: number q of point i at [q * n + i] */
    int places;             /* table: the address of each plane of the first array, in whichever block it is */
};

/* Lays out a block's dynamic shared memory. Returns the bytes. */
TB_HD int adi3d_p_chip_lay_out(const int *n, int size, adi3d_p_chip *chip)
{
    int used = 0;
    auto next = [&](int count, size_t size) {
        const int at = used;
        used += (int)(((size_t)count * size + 15) / 16 * 16);
        return at;
    };
    chip->size = size, chip->each = (n[2] + size - 1) / size, chip->share = (n[0] * n[1] + size - 1) / size;
    chip->pitch = n[0] | 1, chip->plane = chip->pitch * n[1];
    chip->u = next(chip->each * chip->plane, sizeof(tb_real));
    chip->z = next(chip->each * chip->plane, sizeof(tb_real));
    for (int d = 0; d < 3; d++) {
        chip->cell[d] = next(n[d], sizeof(fd_cell));
        chip->number[d] = next(n[d] * fd_p_numbers(d), sizeof(tb_real));
    }
    chip->places = next(n[2], sizeof(trid_cluster_place));
    chip->step = next(1, sizeof(fd_p_step));
    return used;
}

/* Returns the term that a step with changing coefficients adds to a right-hand side of the solve along an axis. */
template <int axis>
FD_P_CALLED_D tb_real adi3d_p_chip_change(const adi3d_p_chip &h, int i, int j, int k)
{
    const int index[3] = {i, j, k};
    return fd_p_change_at<axis>(h, fd_p_chip_step(h, h.memory), index);
}

/* Loads five values of plane k, which may be another block's: the one at position `at` of the plane, and its neighbours
   before and after it along y and x, at the distances `to`. */
TB_D void adi3d_p_chip_five(const adi3d_p_chip &h, unsigned char *memory, int array, int k, int at, const int *to,
                            tb_real *five)
{
    const int row = (int)sizeof(tb_real), offset[5] = {to[0], to[1], 0, to[2], to[3]};
    const trid_cluster_place v = ((const trid_cluster_place *)(memory + h.places))[k] + array + at * row;
    TB_UNROLL
    for (int m = 0; m < 5; m++) five[m] = trid_cluster_load(v + offset[m] * row);
}

/* A thread's column of points along z: its position in each plane; whether that is at a face that may add to F; the
   distances to the neighbours in the same plane, before and after along y (to[0], to[3]) and x (to[1], to[2]); in the
   current plane, the row before the column's own, its own, and the row after it; its cells and numbers. */
typedef struct {
    int i, j, k, index, at, at_face, to[4];
    const tb_real *of_row[3];
    fd_cell cell[3];
    fd_numbers own[3];
} adi3d_p_chip_column;

/* Returns column e of the block, in an array that begins at v. */
TB_D adi3d_p_chip_column adi3d_p_chip_column_of(const adi3d_p_chip &h, unsigned char *memory, const tb_real *v, int e)
{
    const int n0 = h.n[0], n1 = h.n[1], pitch = h.pitch;
    adi3d_p_chip_column c;
    c.i = e % n0, c.j = e / n0, c.k = h.first, c.index = e + n0 * n1 * h.first, c.at = c.i + pitch * c.j;
    c.at_face = h.adds && (c.i == 0 || c.i == n0 - 1 || c.j == 0 || c.j == n1 - 1);
    c.to[0] = c.j > 0 ? -pitch : 0, c.to[1] = c.i > 0 ? -1 : 0;
    c.to[2] = c.i < n0 - 1 ? 1 : 0, c.to[3] = c.j < n1 - 1 ? pitch : 0;
    c.of_row[0] = v + c.at + c.to[0], c.of_row[1] = v + c.at, c.of_row[2] = v + c.at + c.to[3];
    c.cell[0] = ((const fd_cell *)(memory + h.cell[0]))[c.i];
    c.cell[1] = ((const fd_cell *)(memory + h.cell[1]))[c.j];
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(0); q++)
        c.own[0].number[q] = ((const tb_real *)(memory + h.number[0]))[q * n0 + c.i];
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(1); q++)
        c.own[1].number[q] = ((const tb_real *)(memory + h.number[1]))[q * n1 + c.j];
    return c;
}

/* The data of a thread for a stage's right-hand sides: the step's choices and weights, and where the second stage's
   right-hand sides are kept. These data are in registers: if they were in memory, the compiler would read them again at
   each point, after a store. */
typedef struct {
    int about, twice, changes;
    tb_real mixed, own, mixed_again, own_again, dt;
    tb_real *of;
    const tb_real *extra;
    fd_numbers now;
} adi3d_p_chip_stage;

/* Returns the data of this thread for a first or a second stage. */
template <int second>
TB_D adi3d_p_chip_stage adi3d_p_chip_stage_of(const adi3d_p_chip &h, unsigned char *memory)
{
    const fd_p_step &step = fd_p_chip_step(h, memory);
    const tb_real *base = step.data.base[second], *again = step.data.base[1];
    adi3d_p_chip_stage s;
    s.about = step.data.about, s.twice = step.data.stages > 1, s.changes = step.changes;
    s.mixed = base[second ? 2 : 0], s.own = base[second ? 3 : 1];
    s.mixed_again = again[0], s.own_again = again[1], s.dt = step.data.dt;
    s.of = h.of, s.extra = h.extra;
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(3); q++) s.now.number[q] = step.time[second][q];
    return s;
}

/* Stores the results at the column's point. The stage's right-hand side goes to *put or, in a second stage without
   `about`, to s.of[c.index]. The first of two stages also stores `begun`, its part of the second stage's right-hand
   side, in s.of[c.index]. `here` is the value at the point. */
template <int second>
TB_D void adi3d_p_chip_leave(const adi3d_p_chip &h, const adi3d_p_chip_stage &s, const adi3d_p_chip_column &c,
                             tb_real here, tb_real right, tb_real begun, tb_real *put)
{
    if (second && s.about)
        *put = right + begun + (*put - here);
    else if (second)
        s.of[c.index] = right + begun;
    else {
        if (s.extra) right += s.dt * s.extra[c.index], begun += s.dt * s.extra[c.index];
        if (s.changes) {
            const tb_real more = adi3d_p_chip_change<0>(h, c.i, c.j, c.k);
            right += more, begun += s.about ? 0 : more;
        }
        *put = right;
        if (s.twice) s.of[c.index] = begun;
    }
}

/* Computes the right-hand side of a first or a second stage at the block's points. It goes to `of` in a second stage
   without `about`, otherwise to the array for the stage's differences. A thread takes columns along z; in each plane it
   reads its own point, the four beside it and the four diagonal neighbours, each once. */
template <int second>
TB_D void adi3d_p_chip_right(const adi3d_p_chip &h, unsigned char *memory)
{
    const adi3d_p_chip_stage s = adi3d_p_chip_stage_of<second>(h, memory);
    const int all = h.n[0] * h.n[1], n2 = h.n[2], plane = h.plane, first = h.first, planes = h.planes;
    const int source = second ? h.z : h.u, adds = h.adds;
    const tb_real *number = (const tb_real *)(memory + h.number[2]);
    const fd_cell *cells = (const fd_cell *)(memory + h.cell[2]);
    tb_real *d = (tb_real *)(memory + (second ? h.u : h.z));
    TB_LOOP
    for (int e = trid_block_thread(); e < all && planes > 0; e += trid_block_threads()) {
        adi3d_p_chip_column c = adi3d_p_chip_column_of(h, memory, (const tb_real *)(memory + source), e);
        tb_real low[5], here[5], high[5];
        adi3d_p_chip_five(h, memory, source, first > 0 ? first - 1 : 0, c.at, c.to, low);
        adi3d_p_chip_five(h, memory, source, first, c.at, c.to, here);
        TB_LOOP
        for (int local = 0; local < planes; local++, c.k++, c.index += all) {
            const int k = c.k;
            tb_real begun = second ? s.of[c.index] : 0;
            const tb_real *const *row = c.of_row;
            if (local < planes - 1) {
                high[0] = row[0][plane], high[1] = row[1][plane + c.to[1]], high[2] = row[1][plane];
                high[3] = row[1][plane + c.to[2]], high[4] = row[2][plane];
            } else
                adi3d_p_chip_five(h, memory, source, k < n2 - 1 ? k + 1 : k, c.at, c.to, high);
            const tb_real around[27] = {0,       low[0],  0,       low[1],          low[2],  low[3],
                                        0,       low[4],  0,       row[0][c.to[1]], here[0], row[0][c.to[2]],
                                        here[1], here[2], here[3], row[2][c.to[1]], here[4], row[2][c.to[2]],
                                        0,       high[0], 0,       high[1],         high[2], high[3],
                                        0,       high[4], 0};
            c.cell[2] = cells[k];
            TB_UNROLL
            for (int q = 0; q < fd_p_numbers(2); q++) c.own[2].number[q] = number[q * n2 + k];
            const fd_terms terms = fd_p_terms(h.t.parameters, c.own, s.now.number);
            tb_real right = fd_p_apply(c.cell, &terms, s.mixed, s.own, around);
            if (!second && s.twice) begun = fd_p_apply(c.cell, &terms, s.mixed_again, s.own_again, around);
            if (c.at_face || (adds && (k == 0 || k == n2 - 1))) {
                const tb_real faces = fd_p_chip_faces(h, source, second, c.i, c.j, k);
                right += s.own * faces, begun += second ? 0 : s.own_again * faces;
            }
            adi3d_p_chip_leave<second>(h, s, c, here[2], right, begun, d + c.at + plane * local);
            TB_UNROLL
            for (int m = 0; m < 5; m++) low[m] = here[m], here[m] = high[m];
            TB_UNROLL
            for (int m = 0; m < 3; m++) c.of_row[m] += plane;
        }
    }
}

/* Copies the right-hand sides that a second stage left in `of` to the array for its differences. */
TB_D void adi3d_p_chip_fetch_right(const adi3d_p_chip &h, unsigned char *memory)
{
    const int plane = h.n[0] * h.n[1];
    tb_real *d = (tb_real *)(memory + h.z);
    for (int e = trid_block_thread(); e < plane;
         e += trid_block_threads()) /* each point by the thread that computed it */
        for (int local = 0; local < h.planes; local++)
            d[fd_p_chip_at(h, e) + h.plane * local] = h.of[e + plane * (h.first + local)];
}

/* Adds the terms of a step with changing coefficients to the right-hand sides of the lines along an axis. */
template <int axis>
FD_P_CALLED_D void adi3d_p_chip_changes(const adi3d_p_chip &h, unsigned char *memory)
{
    const int n0 = h.n[0], n1 = h.n[1];
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes; at += trid_block_threads()) {
        const int i = at % n0, j = at / n0 % n1, k = at / n0 / n1;
        if (axis == 2 && fd_p_at_given(h.face, h.n, 1, j)) continue;
        ((tb_real *)(memory + h.z))[fd_p_chip_at(h, at)] += adi3d_p_chip_change<axis>(h, i, j, h.first + k);
    }
}

/* A boundary row, and its right-hand side. */
typedef struct {
    tb_real a, b, c, d;
} adi3d_p_chip_row;

/* Returns the boundary row of an FD_VALUE or FD_DEGENERATE face at its point (i, j, k). `differences` and w are arrays:
   the right-hand sides, and the values from which the differences are taken. */
template <int axis>
FD_P_CALLED_D adi3d_p_chip_row adi3d_p_chip_face_row(const adi3d_p_chip &h, int side, int i, int j, int k,
                                                     int differences, int w)
{
    const fd_p_step &step = fd_p_chip_step(h, h.memory);
    const int index[3] = {i, j, k}, in = side ? -1 : 1;
    const fd_p_edge edge = fd_p_edge_of(h, step, axis, side, 1, index);
    tb_real row[3], right = fd_p_value(h, differences, index, axis, 0);
    fd_p_edge_row(&h.t, &edge, step.data.size, fd_p_value(h, differences, index, axis, in),
                  fd_p_value(h, w, index, axis, 0), row, &right);
    const adi3d_p_chip_row made = {row[0], row[1], row[2], right};
    return made;
}

/* Calls row(q) for the rows q < count of a lane's half of a line, in ascending order if `up` is set, otherwise in
   descending order. Four calls follow each other without a test in between, so that their instructions interleave. */
template <int half, class row_type>
TB_D void adi3d_p_chip_each(int count, int up, row_type row)
{
    TB_UNROLL
    for (int p = 0; p < half; p += 4) {
        const int q = up ? p : half - 4 - p;
        if (q + 4 <= count) {
            TB_UNROLL
            for (int m = 0; m < 4; m++) row(up ? q + m : q + 3 - m);
        } else if (q < count) {
            TB_UNROLL
            for (int m = 0; m < 3; m++)
                if ((up ? q + m : q + 2 - m) < count) row(up ? q + m : q + 2 - m);
        }
    }
}

/* The cells and numbers of a half, and the addresses of its planes. */
typedef struct {
    const fd_cell *cells;
    const tb_real *numbers;
    const trid_cluster_place *places;
} adi3d_p_chip_tables;

/* Returns the tables of an axis from point `from` on. */
TB_D adi3d_p_chip_tables adi3d_p_chip_tables_of(const adi3d_p_chip &h, unsigned char *memory, int axis, int from)
{
    return {(const fd_cell *)(memory + h.cell[axis]) + from, (const tb_real *)(memory + h.number[axis]) + from,
            (const trid_cluster_place *)(memory + h.places) + from};
}

/* The data of a thread for the lines along an axis in a stage: a half of each, `count` points from point `from`
   inward. */
typedef struct {
    unsigned char *memory;
    int n, pitch, plane;           /* points of a line; distances between rows and between planes */
    int side, kind, count, from;   /* the half begins at a face of that side and kind */
    int in, stride;                /* from point to point: in the index (1 or -1) and in an array */
    int differences, w, result;    /* arrays: right-hand sides; what differences are taken from; results */
    int remote;                    /* whether a line is in several blocks */
    int begin, lines, first_plane; /* the block's lines; its first plane */
    int given_x[2];                /* whether the faces of x have given values */
    tb_real size;
    fd_numbers now;
    adi3d_p_chip_tables tables;
} adi3d_p_chip_half;

/* Returns the data of this thread in stage s. */
template <int axis>
TB_D adi3d_p_chip_half adi3d_p_chip_half_of(const adi3d_p_chip &h, unsigned char *memory, int s)
{
    const fd_p_step &step = fd_p_chip_step(h, memory);
    const int n0 = h.n[0], n1 = h.n[1], last = s == step.data.stages - 1, about = s && step.data.about;
    adi3d_p_chip_half m;
    m.memory = memory, m.n = h.n[axis], m.pitch = h.pitch, m.plane = h.plane;
    m.side = trid_block_thread() / 16 & 1, m.kind = h.face[axis][m.side], m.count = (m.n + 1 - m.side) / 2;
    m.from = m.side ? m.n - 1 : 0, m.in = m.side ? -1 : 1;
    m.stride = m.in * (axis == 0 ? 1 : axis == 1 ? h.pitch : h.plane);
    m.differences = about ? h.u : h.z, m.w = about ? h.z : h.u;
    m.result = axis < 2 ? m.differences : last ? h.u : h.z, m.remote = axis == 2 && h.size > 1;
    m.begin = axis == 2 ? h.rank * h.share : 0, m.first_plane = h.first;
    const int most = n0 * n1 - m.begin;
    m.lines = axis == 0 ? n1 * h.planes : axis == 1 ? n0 * h.planes : most > h.share ? h.share : most;
    m.given_x[0] = fd_p_at_given(h.face, h.n, 0, 0), m.given_x[1] = fd_p_at_given(h.face, h.n, 0, n0 - 1);
    m.size = step.data.size;
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(3); q++) m.now.number[q] = step.time[1][q];
    m.tables = adi3d_p_chip_tables_of(h, memory, axis, m.from);
    return m;
}

/* A line: its indices, 0 on its own axis, with k counted from the block's first plane; whether it exists, whether its
   values are given, whether adi3d_p_chip_face_row makes its boundary row; the start and tables of the thread's half.
   The tables are the same for all lines, but each line finds them again: otherwise, where registers are few, the
   compiler computes all addresses in them before the first line and spills them (a tenth of the time for 48^3 in single
   precision). Only for short lines in double precision is it faster to find them once (docs/adi3d_notes.md). */
typedef struct {
    int valid, i, j, k, fixed, faces, offset;
    tb_real *near_by;
    adi3d_p_chip_tables tables;
} adi3d_p_chip_line;

/* Returns the thread's line among those from `base` on. */
template <int axis, int half>
TB_D adi3d_p_chip_line adi3d_p_chip_line_of(const adi3d_p_chip &h, const adi3d_p_chip_half &m, int base)
{
    const int own = base + trid_block_thread() % 16, n0 = h.n[0], n1 = h.n[1];
    adi3d_p_chip_line l;
    l.valid = own < m.lines;
    const int line = m.begin + (l.valid ? own : m.lines - 1);
    l.i = axis == 0 ? 0 : line % n0, l.j = axis == 0 ? line % n1 : axis == 1 ? 0 : line / n0;
    l.k = axis == 0 ? line / n1 : axis == 1 ? line / n0 : 0;
    const int at = l.i + m.pitch * l.j + m.plane * l.k;
    l.fixed = (axis > 0 && ((l.i == 0 && m.given_x[0]) || (l.i == n0 - 1 && m.given_x[1]))) ||
              (axis == 2 && fd_p_at_given(h.face, h.n, 1, l.j));
    l.faces = l.valid && !l.fixed && (m.kind == FD_VALUE || m.kind == FD_DEGENERATE);
    l.tables = TB_BYTES == 8 && half <= 16 ? m.tables : adi3d_p_chip_tables_of(h, m.memory, axis, m.from);
    l.offset = at * (int)sizeof(tb_real), l.near_by = (tb_real *)m.memory + at + (m.in * m.from) * m.stride;
    return l;
}

/* Loads the half's values of an array. A thread without a line gets zeros: other threads may be storing what it
   would load. */
template <int half>
TB_D void adi3d_p_chip_take(const adi3d_p_chip_half &m, const adi3d_p_chip_line &l, int array, tb_real *v)
{
    const tb_real *own = l.near_by + array / (int)sizeof(tb_real);
    if (!l.valid)
        adi3d_p_chip_each<half>(m.count, 1, [&](int q) { v[q] = 0; });
    else if (m.remote)
        adi3d_p_chip_each<half>(m.count, 1,
                                [&](int q) { v[q] = trid_cluster_load(l.tables.places[m.in * q] + array + l.offset); });
    else
        adi3d_p_chip_each<half>(m.count, 1, [&](int q) { v[q] = own[q * m.stride]; });
}

/* Stores the half's solutions. */
template <int half>
TB_D void adi3d_p_chip_put(const adi3d_p_chip_half &m, const adi3d_p_chip_line &l, const tb_real *y)
{
    tb_real *to = l.near_by + m.result / (int)sizeof(tb_real);
    if (m.remote)
        adi3d_p_chip_each<half>(
            m.count, 1, [&](int q) { trid_cluster_store(l.tables.places[m.in * q] + m.result + l.offset, y[q]); });
    else
        adi3d_p_chip_each<half>(m.count, 1, [&](int q) { to[q * m.stride] = y[q]; });
}

/* Solves for the half: eliminates its rows, whose right-hand sides are in y, from its face on, and substitutes back
   from the row next to the other half, whose lane is 16 away. y becomes the solution. `upper` has as many elements as
   y; the caller reuses it. */
template <int axis, int half>
TB_D void adi3d_p_chip_solve(const adi3d_p_chip &h, const adi3d_p_chip_half &m, const adi3d_p_chip_line &l,
                             adi3d_p_chip_row face, tb_real *upper, tb_real *y)
{
    fd_numbers own[3];
    TB_UNROLL
    for (int d = 0; d < 3; d++) {
        const int index = d == 0 ? l.i : d == 1 ? l.j : m.first_plane + l.k;
        if (d == axis) continue;
        TB_UNROLL
        for (int q = 0; q < fd_p_numbers(d); q++)
            own[d].number[q] = ((const tb_real *)(m.memory + h.number[d]))[q * h.n[d] + index];
    }
    tb_real above = 0, before = 0;
    adi3d_p_chip_each<half>(m.count, 1, [&](int q) {
        tb_real a, b, c;
        TB_UNROLL
        for (int e = 0; e < fd_p_numbers(axis); e++) own[axis].number[e] = l.tables.numbers[e * m.n + m.in * q];
        const fd_terms terms = fd_p_terms(h.t.parameters, own, m.now.number);
        fd_p_matrix(axis, q == 0, l.tables.cells[m.in * q], terms, m.size, &a, &b, &c);
        if (q == 0 && l.faces) a = face.a, b = face.b, c = face.c;
        /* The couplings to the previous row and to the next. */
        const tb_real to_last = m.side ? c : a, to_next = m.side ? a : c;
        const tb_real pivot = trid_rcp(q == 0 ? b : b - to_last * above);
        upper[q] = above = to_next * pivot;
        y[q] = before = (q == 0 ? y[q] : y[q] - to_last * before) * pivot;
    });
    /* The last rows of the two halves, each in terms of the other's unknown. */
    const tb_real other_above = __shfl_xor_sync(TB_FULL_WARP, above, 16);
    const tb_real other = __shfl_xor_sync(TB_FULL_WARP, before, 16);
    tb_real next = (other - other_above * before) * trid_rcp(1 - above * other_above);
    adi3d_p_chip_each<half>(m.count, 0, [&](int q) { y[q] = next = y[q] - upper[q] * next; });
}

/* Solves along an axis in stage s, for lines of up to 2 * half points. The solutions are differences. Along x and y
   they replace the right-hand sides. Along z the result is the solution plus the value from which it is taken. */
template <int axis, int half>
TB_D void adi3d_p_chip_lines(const adi3d_p_chip &h, unsigned char *memory, int s)
{
    const adi3d_p_chip_half m = adi3d_p_chip_half_of<axis>(h, memory, s);
    TB_LOOP
    for (int base = trid_block_thread() / 32 * 16; base < m.lines; base += trid_block_threads() / 2) {
        const adi3d_p_chip_line l = adi3d_p_chip_line_of<axis, half>(h, m, base);
        adi3d_p_chip_row face = {0, 0, 0, 0};
        tb_real y[half], upper[half];
        if (l.faces)
            face = adi3d_p_chip_face_row<axis>(h, m.side, axis == 0 ? m.from : l.i, axis == 1 ? m.from : l.j,
                                               axis == 2 ? m.from : m.first_plane + l.k, m.differences, m.w);
        adi3d_p_chip_take<half>(m, l, m.differences, y);
        if (l.faces) y[0] = face.d;
        adi3d_p_chip_solve<axis, half>(h, m, l, face, upper, y);
        if (axis == 2) {
            if (l.fixed) adi3d_p_chip_take<half>(m, l, m.differences, y);
            adi3d_p_chip_take<half>(m, l, m.w, upper);
            adi3d_p_chip_each<half>(m.count, 1, [&](int q) { y[q] += upper[q]; });
        }
        /* Along x and y a line with given values keeps its right-hand sides, which are its solutions. */
        if (l.valid && (axis == 2 || !l.fixed)) adi3d_p_chip_put<half>(m, l, y);
    }
}

/* Takes a step. The whole cluster can then read its results. */
template <int half>
TB_D void adi3d_p_chip_step(const adi3d_p_chip &h, unsigned char *memory)
{
    const fd_p_step &step = fd_p_chip_step(h, memory);
    const int stages = step.data.stages; /* the next step's data may arrive before all threads have left this one */
    TB_LOOP
    for (int s = 0; s < stages; s++) {
        const int about = s && step.data.about, changes = step.changes && !about;
        if (s)
            adi3d_p_chip_right<1>(h, memory);
        else
            adi3d_p_chip_right<0>(h, memory);
        if (s && !about) {
            fd_p_chip_sync(h.size); /* no thread needs the first stage's values any more */
            adi3d_p_chip_fetch_right(h, memory);
        }
        __syncthreads();
        adi3d_p_chip_lines<0, half>(h, memory, s);
        __syncthreads();
        if (changes) {
            adi3d_p_chip_changes<1>(h, memory);
            __syncthreads();
        }
        adi3d_p_chip_lines<1, half>(h, memory, s);
        if (changes) {
            __syncthreads();
            adi3d_p_chip_changes<2>(h, memory);
        }
        fd_p_chip_sync(h.size);
        adi3d_p_chip_lines<2, half>(h, memory, s);
        fd_p_chip_sync(h.size);
    }
}
