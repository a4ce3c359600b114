/* device_yz.h - a room of adi3d.h, read once for each model and precision: solves along y and z on a GPU.
   MIT licence, see LICENSE. */

/* The template parameters of the kernel of lines along y or z: the axis, whether right-hand sides receive the term of
   adi3d_p_yz_change, whether the kernel is the downward sweep (device_planes.h), rows per thread, partitions per line,
   lines per block. */
template <int axis_of, int changes_of, int down_of, int rows_of, int parts_of, int lines_of>
struct adi3d_p_yz_shape {
    enum {
        axis = axis_of,
        changes = changes_of,
        down = down_of,
        ends = down || axis == 2, /* whether it ends the stage */
        rows = rows_of,
        parts = parts_of,
        lines = lines_of,
        threads = parts * lines,
        wide = adi3d_p_vectored,
        vectors = lines / wide,
        alone = adi3d_p_independent(axis), /* whether lines are solved with factors */
        factor_len = TRID_INTERLEAVED_FACTOR_LEN(rows),
        /* Shared memory holds faces, the solver's numbers, the ring, and tables (factors, or cells and numbers; in the
           downward sweep also its planes' factors). A slot of the ring is a slice of right-hand sides and, if staged,
           one of w. Row r of a slice begins at (r + r / rows) * lines, so that the rows that a warp's partitions read
           together are in different banks. */
        solver = 16 * lines,
        ring = solver + (TRID_INTERLEAVED_LEN(lines, parts, TRID_BANKS) + 3) / 4 * 4,
        slice = parts * (rows + 1) * lines
    };
};

/* The data of a thread. */
typedef struct {
    tb_real *faces, *solver, *ring, *factors; /* in shared memory; faces: of the thread's line */
    fd_cell *cells;                           /* in place of factors: the axis's cells, padded with the last one */
    tb_real *numbers;                         /* likewise: the axis's numbers */
    tb_real *planes; /* for the downward sweep: r, q and s of each of its planes, in four elements a plane */
    trid_copy_place to_ring;
    int thread, first;   /* its rows begin at `first` */
    int i, valid, n;     /* its lines' index along x; whether they exist; their length, or 0 */
    int stride, march;   /* the distances between points and between lines */
    int from, to;        /* the block's lines: from .. to - 1 along the remaining axis */
    int place, slot_len; /* place: the position of its first row in a slot of the ring */
    int staged;          /* whether w is also in the ring */
    int fixed, exercise; /* fixed: whether i is on a face of x whose value is given; exercise: the kind */
    const tb_real *w;    /* the values from which the differences are taken */
    tb_real *result;
} adi3d_p_yz_march;

/* Returns the data of this thread in stage s. */
template <class shape>
TB_D adi3d_p_yz_march adi3d_p_yz_march_of(const adi3d_p_device &h, const fd_p_step &step, int s, int depth, int staged,
                                          tb_real *memory)
{
    enum { axis = shape::axis, lines = shape::lines, rows = shape::rows };
    const int thread = trid_block_thread(), mine = lines * (int)blockIdx.x + thread % lines, *n = h.n;
    const int count = n[3 - axis], last = s == step.data.stages - 1;
    adi3d_p_yz_march m;
    m.thread = thread, m.first = rows * (thread / lines);
    m.valid = mine < n[0], m.n = m.valid ? n[axis] : 0, m.i = m.valid ? mine : n[0] - 1;
    m.stride = axis == 1 ? h.pitch : h.plane, m.march = axis == 1 ? h.plane : h.pitch;
    m.from = count * (int)blockIdx.y / (int)gridDim.y, m.to = count * ((int)blockIdx.y + 1) / (int)gridDim.y;
    m.place = m.first / rows * (rows + 1) * lines + thread % lines;
    m.staged = shape::ends && staged, m.slot_len = (m.staged ? 2 : 1) * shape::slice;
    m.fixed = fd_p_at_given(h.face, h.n, 0, m.i), m.exercise = shape::ends && last ? h.problem.exercise : FD_EUROPEAN;
    m.w = s && step.data.about ? h.z : h.u, m.result = !shape::ends ? h.d : last ? h.u : h.z;
    m.faces = memory + thread % lines * 16, m.solver = memory + shape::solver, m.ring = memory + shape::ring;
    m.factors = m.ring + depth * m.slot_len;
    m.cells = (fd_cell *)m.factors, m.numbers = (tb_real *)(m.cells + rows * shape::parts);
    m.planes = m.factors + shape::parts * shape::factor_len;
    m.to_ring = trid_copy_place_of(m.ring);
    return m;
}

/* Starts to copy the lines of round e, counted from 0, to a slot. After the block's last round there are none. */
template <class shape>
TB_D void adi3d_p_yz_fetch(const adi3d_p_device &h, const adi3d_p_yz_march &m, int e, int slot)
{
    enum { wide = shape::wide, lines = shape::lines, rows = shape::rows };
    const int at = shape::down ? m.to - 1 - e : m.from + e;
    const int column = wide * (m.thread % shape::vectors), own = lines * (int)blockIdx.x + column;
    TB_UNROLL
    for (int q = 0; q < rows / wide; q++) {
        const int r = m.thread / shape::vectors + q * shape::parts * wide, from = own + r * m.stride + at * m.march;
        const int put = (int)sizeof(tb_real) * (slot * m.slot_len + (r + r / rows) * lines + column);
        if (at < m.from || at >= m.to || own >= h.pitch || r >= h.n[shape::axis]) continue;
        trid_copy_async(m.to_ring, put, h.d + from);
        if (m.staged) trid_copy_async(m.to_ring, put + (int)sizeof(tb_real) * shape::slice, m.w + from);
    }
    trid_copy_commit();
}

/* Fills the tables in shared memory, and clears the ring of `depth` slots. */
template <class shape>
TB_D void adi3d_p_yz_tables(const adi3d_p_device &h, const adi3d_p_yz_march &m, int depth)
{
    enum { axis = shape::axis, rows = shape::rows, points = shape::rows * shape::parts };
    if (shape::alone) adi3d_p_device_fetch_factors<rows, shape::parts>(h.factors[axis], m.factors);
    for (int e = m.thread; e < points && !shape::alone; e += shape::threads) {
        const int last = e < h.n[axis] ? e : h.n[axis] - 1;
        m.cells[e] = h.t.cell[axis][last];
        TB_UNROLL
        for (int q = 0; q < fd_p_numbers(axis); q++)
            m.numbers[q * points + e] = h.t.number[axis][q * h.t.room[axis] + last];
    }
    for (int e = m.thread; e < depth * m.slot_len; e += shape::threads) m.ring[e] = 0;
    for (int e = m.thread; e < m.to - m.from && shape::down; e += shape::threads) {
        const adi3d_p_plane plane = h.planes[m.from + e];
        const int last = e == m.to - m.from - 1; /* its unknowns are known already */
        m.planes[4 * e] = last ? 0 : plane.r, m.planes[4 * e + 1] = last ? -1 : plane.q;
        m.planes[4 * e + 2] = last ? 0 : plane.s;
    }
}

/* A line: the indices of its first point, the position of that point in memory, and whether the line is fixed: whether
   it lies on a face of x whose value is given or, along z, on such a face of y. The right-hand sides of a fixed line
   are its solutions already: given values minus w. Lines along y on such a face of z are solved, because the solve
   along z replaces their results. */
typedef struct {
    int index[3], at, fixed;
} adi3d_p_yz_line;

/* Returns the thread's line with index `at` along the remaining axis. */
template <class shape>
TB_D adi3d_p_yz_line adi3d_p_yz_line_of(const adi3d_p_device &h, const adi3d_p_yz_march &m, int at)
{
    adi3d_p_yz_line l;
    l.index[0] = m.i, l.index[shape::axis] = 0, l.index[3 - shape::axis] = at, l.at = m.i + at * m.march;
    l.fixed = m.fixed || (shape::axis == 2 && fd_p_at_given(h.face, h.n, 1, at));
    return l;
}

/* Returns the term that coefficients or given slopes add to the right-hand side of row r if they change within the
   step. */
template <class shape>
TB_D tb_real adi3d_p_yz_change(const adi3d_p_device &h, const fd_p_step &step, adi3d_p_yz_line l, int r)
{
    if (!shape::changes || l.fixed) return 0;
    l.index[shape::axis] = r;
    return fd_p_change_at<shape::axis>(h, step, l.index);
}

/* Solves the line with the factors that all lines share. d is 0 from the line's end on. */
template <class shape>
TB_D void adi3d_p_yz_solve_alone(const adi3d_p_device &h, const adi3d_p_yz_march &m, int fixed, int pcr_steps,
                                 const tb_real *here, tb_real *d)
{
    enum { axis = shape::axis, rows = shape::rows, parts = shape::parts, lines = shape::lines };
    tb_real f[shape::factor_len], *const none = 0;
    if (h.makes[axis] && m.valid && !fixed) fd_p_put_faces<axis, rows>(h, m.first, m.faces, none, none, none, d);
    adi3d_p_device_take_factors<parts>(m.factors, m.thread / lines, 0, 5 * rows, f);
    adi3d_p_device_take_factors<parts>(m.factors, m.thread % parts, 5 * rows, shape::factor_len, f);
    trid_block_interleaved_solve(rows, lines, parts, rows * parts, pcr_steps, f, d, m.solver);
    TB_UNROLL
    for (int r = 0; r < rows && fixed; r++) d[r] = here[r * lines];
}

/* Solves the line without factors; `number` holds the line's numbers of the other axes. */
template <class shape>
TB_D void adi3d_p_yz_solve(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_yz_march &m, int fixed,
                           fd_numbers *number, tb_real *d)
{
    enum { axis = shape::axis, rows = shape::rows, points = shape::rows * shape::parts };
    tb_real a[rows], b[rows], c[rows];
    auto take = [&](int r, fd_numbers *own) {
        TB_UNROLL
        for (int q = 0; q < fd_p_numbers(axis); q++) own->number[q] = m.numbers[q * points + m.first + r];
        return m.cells[m.first + r];
    };
    fd_p_line_rows<axis, rows>(h, step, number, take, a, b, c);
    if (fixed) {
        TB_UNROLL
        for (int r = 0; r < rows; r++) a[r] = c[r] = 0, b[r] = 1;
    } else if (m.valid)
        fd_p_put_faces<axis, rows>(h, m.first, m.faces, a, b, c, d);
    trid_block_interleaved_unchecked(rows, shape::lines, shape::parts, m.n, a, b, c, d, m.solver);
}

/* The data of a thread in the downward sweep: the unknowns of the plane above, and of the last plane of the partition
   below. */
template <class shape>
struct adi3d_p_yz_above {
    tb_real z[shape::rows], before[shape::rows];
};

/* Loads interface unknowns, which have already been computed: those of two planes, the last of the block's partition
   and the last of the partition below it. */
template <class shape>
TB_D void adi3d_p_yz_open(const adi3d_p_device &h, const adi3d_p_yz_march &m, adi3d_p_yz_above<shape> *above)
{
    const tb_real *lasts = h.ends + (h.partitions + (int)blockIdx.y) * h.plane + m.i + m.first * m.stride;
    TB_UNROLL
    for (int r = 0; r < shape::rows; r++) {
        const int is_there = m.first + r < m.n;
        above->z[r] = is_there ? lasts[r * m.stride] : 0;
        above->before[r] = is_there && blockIdx.y > 0 ? lasts[r * m.stride - h.plane] : 0;
    }
}

/* Substitutes back in plane k, whose eliminated right-hand sides are in d. */
template <class shape>
TB_D void adi3d_p_yz_substitute(const adi3d_p_yz_march &m, int k, adi3d_p_yz_above<shape> *above, tb_real *d)
{
    const tb_real *factors = m.planes + 4 * (k - m.from);
    TB_UNROLL
    for (int r = 0; r < shape::rows; r++)
        d[r] = above->z[r] = factors[0] * d[r] - factors[1] * above->z[r] - factors[2] * above->before[r];
}

/* Writes the line. A kernel that ends the stage first adds w and, in the last stage, applies exercise. */
template <class shape>
TB_D void adi3d_p_yz_finish(const adi3d_p_device &h, const fd_p_step &step, const adi3d_p_yz_march &m,
                            const adi3d_p_yz_line &l, const tb_real *here, tb_real *d)
{
    enum { rows = shape::rows };
    const int first = m.first, n = m.n, stride = m.stride, staged = m.staged, exercise = m.exercise, line = l.at;
    const tb_real *w = m.w;
    tb_real *result = m.result;
    TB_UNROLL
    for (int r = 0; r < rows && shape::ends; r++)
        d[r] += staged ? here[shape::slice + r * shape::lines] : first + r < n ? w[line + (first + r) * stride] : 0;
    TB_UNROLL
    for (int r = 0; r < rows && exercise != FD_EUROPEAN; r++) {
        const int at = line + (first + r) * stride;
        int index[3] = {l.index[0], l.index[1], l.index[2]};
        tb_real unused = 0;
        index[shape::axis] = first + r;
        if (first + r < n)
            d[r] = fd_lane_exercise(exercise, step.data.dt,
                                    fd_p_pays(&h.t, index, step.to, h.t.final[fd_p_grid_index(h, index)]), d[r],
                                    exercise == FD_AMERICAN ? &h.extra[at] : &unused);
    }
    TB_UNROLL
    for (int r = 0; r < rows; r++)
        if (first + r < n) result[line + (first + r) * stride] = d[r];
}

/* Solves along y or z; along z it also ends the stage. Lines are interleaved in x, and each is cut into partitions. A
   block marches through the lines at its places along x, one after another along the remaining axis (z for lines along
   y, and y for lines along z), and prefetches the next depth - 1 lines at each place. A kernel that ends the stage also
   prefetches w if `staged` is set, and otherwise reads w when it needs it. The downward sweep marches from the last
   plane of a partition to its first: it substitutes back along z, solves along y and ends the stage. */
template <class shape>
TRID_KERNEL void __launch_bounds__(shape::threads)
    adi3d_p_device_lines(const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step, int s,
                         int depth, int staged)
{
    enum { axis = shape::axis, rows = shape::rows };
    TRID_DYNAMIC_SHARED(memory);
    const adi3d_p_yz_march m = adi3d_p_yz_march_of<shape>(h, step, s, depth, staged, (tb_real *)memory);
    const int pcr_steps = shape::alone ? h.march->pcr_steps[axis] : 0;
    adi3d_p_yz_tables<shape>(h, m, depth);
    __syncthreads();
    for (int e = 0; e < depth - 1; e++) adi3d_p_yz_fetch<shape>(h, m, e, e);
    fd_numbers number[3];
    tb_real d[rows];
    adi3d_p_yz_above<shape> above;
    if (shape::down) adi3d_p_yz_open<shape>(h, m, &above);
    TB_LOOP
    for (int e = 0, slot = 0; e < m.to - m.from; e++) {
        const int at = shape::down ? m.to - 1 - e : m.from + e;
        const adi3d_p_yz_line l = adi3d_p_yz_line_of<shape>(h, m, at);
        const tb_real *here = m.ring + slot * m.slot_len + m.place;
        auto change = [&](int r) { return adi3d_p_yz_change<shape>(h, step, l, r); };
        if (!shape::alone) fd_p_line_numbers<axis>(h, l.index, number); /* these loads overlap the wait */
        if (h.makes[axis] && m.valid && !l.fixed)
            fd_p_make_faces<axis, rows>(
                h, step, m.first, l.index, m.w + l.at, m.stride,
                [&](int r) { return h.d[l.at + r * m.stride] + change(r); }, m.faces);
        if (depth == 1) __syncthreads(), adi3d_p_yz_fetch<shape>(h, m, e, 0);
        if (depth > 2)
            TRID_COPY_AWAIT(1);
        else
            TRID_COPY_AWAIT(0);
        __syncthreads();
        if (depth > 1) adi3d_p_yz_fetch<shape>(h, m, e + depth - 1, slot > 0 ? slot - 1 : depth - 1);
        TB_UNROLL
        for (int r = 0; r < rows; r++)
            d[r] = here[r * shape::lines] + (shape::changes && m.first + r < m.n ? change(m.first + r) : 0);
        if (shape::down) adi3d_p_yz_substitute<shape>(m, at, &above, d);
        if (shape::alone)
            adi3d_p_yz_solve_alone<shape>(h, m, l.fixed, pcr_steps, here, d);
        else
            adi3d_p_yz_solve<shape>(h, step, m, l.fixed, number, d);
        adi3d_p_yz_finish<shape>(h, step, m, l, here, d);
        if (++slot == depth) slot = 0;
    }
}

/* Launches the solves along y or z with one shape, or both sweeps with the shape of the downward sweep. Returns 0 if
   they need more shared memory than a block may have, if sweeps would not pay, or if adi3d_p_device_upward refuses. */
template <int axis, int changes, int down, int rows, int parts, int lines>
static inline int adi3d_p_device_launch_yz(adi3d_p_queue *on, adi3d_p_device h, const fd_p_step &step, int s)
{
    using shape = adi3d_p_yz_shape<axis, changes, down, rows, parts, lines>;
    const int columns = (h.n[0] + lines - 1) / lines;
    int pieces = trid_best_pieces(h.n[3 - axis], columns, h.processors, 1);
    if constexpr (down) { /* sweeps do not pay with fewer than 3/4 of the best number of pieces */
        if (3 * pieces > 4 * ADI3D_P_PARTITIONS) return 0;
        h.partitions = pieces = pieces < ADI3D_P_PARTITIONS ? pieces : ADI3D_P_PARTITIONS;
    }
    const int tables = shape::alone ? parts * shape::factor_len : rows * parts * (4 + fd_p_numbers(axis));
    const int planes = down ? 4 * ((h.n[2] - 1) / pieces + 1) : 0;
    const size_t slice = sizeof(tb_real) * (size_t)shape::slice;
    const size_t rest = sizeof(tb_real) * (size_t)(shape::ring + tables + planes);
    /* The ring has up to three slots. If two slots with w fit, each holds w, even where three without w would fit. */
    const int room = h.shared - 1024 - (int)rest, slices = room > 0 ? room / (int)slice : 0;
    const int staged = shape::ends && slices > 3, depth = slices >> staged > 3 ? 3 : slices >> staged;
    if (depth < 1) return 0;
    if constexpr (down)
        if (!adi3d_p_device_upward<0>(on, h, step)) return 0;
    if (shape::alone && h.fresh)
        adi3d_p_launch(on, adi3d_p_device_factor<axis, rows, parts>, dim3(1), dim3(32), 0, h, step);
    adi3d_p_launch(on, adi3d_p_device_lines<shape>, dim3((unsigned)columns, (unsigned)pieces), dim3(shape::threads),
                   rest + (size_t)(depth << staged) * slice, h, step, s, depth, staged);
    return 1;
}

/* Chooses the shape by the length of the axis: rows per thread, partitions per line, lines per block. To add one, add a
   line here. Lines of more than 512 points take the narrowest shape, and so do shorter ones if shared memory is too
   small for their shape. The downward sweep has too few registers for the narrowest shape, and returns 0. */
template <int axis, int changes, int down>
static inline int adi3d_p_device_yz(adi3d_p_queue *on, const adi3d_p_device &h, const fd_p_step &step, int s)
{
    enum { wide = 256 / (int)sizeof(tb_real) }; /* lines per block, for the shortest lines */
    const int n = h.n[axis];
    int done = 0;
    if (n <= 128)
        done = adi3d_p_device_launch_yz<axis, changes, down, 16, 8, wide>(on, h, step, s);
    else if (n <= 256)
        done = adi3d_p_device_launch_yz<axis, changes, down, 16, 16, wide / 2>(on, h, step, s);
    else if (n <= 512)
        done = adi3d_p_device_launch_yz<axis, changes, down, 16, 32, wide / 4>(on, h, step, s);
    if constexpr (!down) {
        if (!done) done = adi3d_p_device_launch_yz<axis, changes, 0, 32, 32, wide / 8>(on, h, step, s);
        if (!done && on->error == cudaSuccess) on->error = cudaErrorInvalidConfiguration;
    }
    return done;
}

/* Launches stage s: for a first stage the upward and downward sweeps, if the step allows them; otherwise the solves
   along each axis. Returns whether the sweeps were launched. */
template <int unused>
static inline int adi3d_p_device_stage(adi3d_p_queue *on, const adi3d_p_device &h, const fd_p_step &step, int s)
{
    if constexpr (adi3d_p_fusible)
        if (s == 0 && adi3d_p_device_commutes(h, step) && adi3d_p_device_yz<1, 0, 1>(on, h, step, s)) return 1;
    adi3d_p_device_x<unused>(on, h, step, s);
    if (step.changes && !(s && step.data.about)) {
        adi3d_p_device_yz<1, 1, 0>(on, h, step, s);
        adi3d_p_device_yz<2, 1, 0>(on, h, step, s);
    } else {
        adi3d_p_device_yz<1, 0, 0>(on, h, step, s);
        adi3d_p_device_yz<2, 0, 0>(on, h, step, s);
    }
    return 0;
}
