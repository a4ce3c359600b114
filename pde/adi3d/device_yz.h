/* device_yz.h - a room of adi3d.h, read once a model and precision: solves along y and z on a GPU.
   MIT licence, see LICENSE. */

#define adi3d_p_slice_len ADI3D_OF(p_slice_len)
#define adi3d_p_solver_len ADI3D_OF(p_solver_len)
#define adi3d_p_device_lines ADI3D_OF(p_device_lines)
#define adi3d_p_device_launch_yz ADI3D_OF(p_device_launch_yz)
#define adi3d_p_device_yz ADI3D_OF(p_device_yz)

/* Returns the elements of shared memory for `lines` columns of `parts` partitions of `rows` rows. Row r begins at (r +
   r / rows) lines, so that the rows that a warp's partitions read together are in different banks. */
TB_HD constexpr int adi3d_p_slice_len(int rows, int parts, int lines)
{
    return parts * (rows + 1) * lines;
}

/* Returns the elements of shared memory for faces and the solver. */
TB_HD constexpr int adi3d_p_solver_len(int parts, int lines)
{
    return 16 * lines + (TRID_INTERLEAVED_LEN(lines, parts, TRID_BANKS) + 3) / 4 * 4;
}

/* Solves along y or z, `lines` lines interleaved in x, each in `parts` partitions of `rows` rows; along z it also ends
   the stage. A block marches along the third axis through the lines of its columns, and prefetches the next depth - 1.
   Along z, w is prefetched with them (staged), or read when it is due. changes says whether F along the axis differs
   from the step's start to its end. */
template <int axis, int changes, int rows, int parts, int lines>
TRID_KERNEL void __launch_bounds__(parts * lines) adi3d_p_device_lines(const __grid_constant__ adi3d_p_device h,
                                                                      const __grid_constant__ adi3d_p_step step, int s,
                                                                      int depth, int staged)
{
    enum { wide = 16 / sizeof(tb_real), vectors = lines / wide, slice = adi3d_p_slice_len(rows, parts, lines) };
    enum { alone = adi3d_p_independent(axis), factor_len = TRID_INTERLEAVED_FACTOR_LEN(rows) };
    TRID_DYNAMIC_SHARED(memory);
    tb_real *faces = (tb_real *)memory + trid_block_thread() % lines * 16, *shared = (tb_real *)memory + 16 * lines;
    tb_real *ring = (tb_real *)memory + adi3d_p_solver_len(parts, lines);
    const int thread = trid_block_thread(), first = rows * (thread / lines),
              mine = lines * (int)blockIdx.x + thread % lines;
    const int valid = mine < h.t.n[0], n = valid ? h.t.n[axis] : 0, i = valid ? mine : h.t.n[0] - 1;
    const int stride = axis == 1 ? h.pitch : h.plane, march = axis == 1 ? h.plane : h.pitch, count = h.t.n[3 - axis];
    const int from = count * (int)blockIdx.y / (int)gridDim.y, to = count * ((int)blockIdx.y + 1) / (int)gridDim.y;
    const int about = s && step.data.about, last = s == step.data.stages - 1;
    const int exercise = axis == 2 && last ? h.problem.exercise : FD_EUROPEAN;
    const int fixed_x =
        (i == 0 && h.problem.face[0][0] == FD_VALUE) || (i == h.t.n[0] - 1 && h.problem.face[0][1] == FD_VALUE);
    const int place = first / rows * (rows + 1) * lines + thread % lines,
              slot_of = (axis == 2 && staged ? 2 : 1) * slice;
    const tb_real *w = about ? h.z : h.u;
    tb_real *result = axis == 1 ? h.d : last ? h.u : h.z;
    const trid_copy_place to_ring = trid_copy_place_of(ring);
    auto fetch = [&](int m, int slot) {
        const int column = wide * (thread % vectors), own = lines * (int)blockIdx.x + column;
        TB_UNROLL
        for (int q = 0; q < rows / wide; q++) {
            const int r = thread / vectors + q * parts * wide, at = own + r * stride + m * march;
            const int put = (int)sizeof(tb_real) * (slot * slot_of + (r + r / rows) * lines + column);
            if (m >= to || own >= h.pitch || r >= h.t.n[axis]) continue;
            trid_copy_async(to_ring, put, h.d + at);
            if (axis == 2 && staged) trid_copy_async(to_ring, put + (int)sizeof(tb_real) * slice, w + at);
        }
        trid_copy_commit();
    };
    /* The factors of the axis' matrix; or its cells and numbers, padded with the last. */
    tb_real *factors = ring + depth * slot_of;
    fd_cell *cells = (fd_cell *)factors;
    tb_real *numbers = (tb_real *)(cells + rows * parts);
    auto own = [&](int r, tb_real *number) {
        TB_UNROLL
        for (int q = 0; q < adi3d_p_numbers(axis); q++) number[q] = numbers[q * rows * parts + first + r];
        return cells[first + r];
    };
    if (alone) adi3d_p_device_fetch_factors<rows, parts>(h.factors[axis], factors);
    const int pcr_steps = alone ? h.pcr_steps[axis] : 0;
    for (int e = thread; e < rows * parts && !alone; e += parts * lines) {
        const int m = e < h.t.n[axis] ? e : h.t.n[axis] - 1;
        cells[e] = h.t.cell[axis][m];
        TB_UNROLL
        for (int q = 0; q < adi3d_p_numbers(axis); q++)
            numbers[q * rows * parts + e] = h.t.number[axis][q * h.t.padded[axis] + m];
    }
    for (int e = thread; e < depth * slot_of; e += parts * lines) ring[e] = 0;
    __syncthreads();
    for (int m = 0; m < depth - 1; m++) fetch(from + m, m);
    tb_real number[3][adi3d_p_most];
    TB_LOOP
    for (int m = from, slot = 0; m < to; m++) {
        const int j = axis == 1 ? 0 : m, k = axis == 2 ? 0 : m, line = i + m * march;
        if (!alone) adi3d_p_device_numbers<axis>(h, i, j, k, number); /* loads that overlap the wait */
        /* Lines on faces whose values are given keep them. */
        const int fixed = fixed_x || (axis == 2 && ((j == 0 && h.problem.face[1][0] == FD_VALUE) ||
                                                    (j == h.t.n[1] - 1 && h.problem.face[1][1] == FD_VALUE)));
        const tb_real *here = ring + slot * slot_of + place;
        auto change = [&](int r) {
            return changes && !fixed ? adi3d_p_device_change<axis, adi3d_p_device_value>(h, step, i, axis == 1 ? r : j,
                                                                                         axis == 2 ? r : k)
                                     : 0;
        };
        tb_real a[rows], b[rows], c[rows], d[rows];
        if (valid && !fixed)
            adi3d_p_device_make_faces<axis, rows>(
                h, step, first, i, j, k, w + line, stride, [&](int r) { return h.d[line + r * stride] + change(r); },
                faces);
        if (depth == 1) __syncthreads(), fetch(m, 0);
        if (depth > 2)
            TRID_COPY_AWAIT(1);
        else
            TRID_COPY_AWAIT(0);
        __syncthreads();
        if (depth > 1) fetch(m + depth - 1, slot > 0 ? slot - 1 : depth - 1);
        TB_UNROLL
        for (int r = 0; r < rows; r++) d[r] = here[r * lines] + (changes && first + r < n ? change(first + r) : 0);
        if (alone) {
            tb_real *const none = 0;
            if (valid && !fixed) adi3d_p_device_put_faces<axis, rows>(h, first, faces, none, none, none, d);
            tb_real f[factor_len];
            adi3d_p_device_take_factors<parts>(factors, thread / lines, 0, 5 * rows, f);
            adi3d_p_device_take_factors<parts>(factors, thread % parts, 5 * rows, factor_len, f);
            trid_block_interleaved_solve(rows, lines, parts, rows * parts, pcr_steps, f, d,
                                         shared); /* rows from n on are 0 in the ring */
            TB_UNROLL
            for (int r = 0; r < rows && fixed; r++) d[r] = here[r * lines];
        } else {
            adi3d_p_device_rows<axis, rows>(step, number, own, a, b, c);
            if (fixed) {
                TB_UNROLL
                for (int r = 0; r < rows; r++) a[r] = c[r] = 0, b[r] = 1;
            } else if (valid)
                adi3d_p_device_put_faces<axis, rows>(h, first, faces, a, b, c, d);
            trid_block_interleaved_unchecked(rows, lines, parts, n, a, b, c, d, shared);
        }
        TB_UNROLL
        for (int r = 0; r < rows && axis == 2; r++)
            d[r] += staged ? here[slice + r * lines] : first + r < n ? w[line + (first + r) * stride] : 0;
        TB_UNROLL
        for (int r = 0; r < rows && exercise != FD_EUROPEAN; r++) {
            const int at = line + (first + r) * stride;
            tb_real unused = 0;
            if (first + r < n)
                d[r] = fd_lane_exercise(exercise, step.data.dt, h.final[at], d[r],
                                        exercise == FD_AMERICAN ? &h.extra[at] : &unused);
        }
        TB_UNROLL
        for (int r = 0; r < rows; r++)
            if (first + r < n) result[line + (first + r) * stride] = d[r];
        if (++slot == depth) slot = 0;
    }
}

/* Launches the solves along y or z with one shape; returns 0 where they need more shared memory than the device has. */
template <int axis, int changes, int rows, int parts, int lines>
static inline int adi3d_p_device_launch_yz(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                           const adi3d_p_step &step, int s)
{
    void (*kernel)(adi3d_p_device, adi3d_p_step, int, int, int) =
        adi3d_p_device_lines<axis, changes, rows, parts, lines>;
    const int tables = adi3d_p_independent(axis) ? parts * TRID_INTERLEAVED_FACTOR_LEN(rows)
                                                 : rows * parts * (4 + adi3d_p_numbers(axis));
    const size_t slice = sizeof(tb_real) * adi3d_p_slice_len(rows, parts, lines);
    const size_t solver = sizeof(tb_real) * (size_t)(adi3d_p_solver_len(parts, lines) + tables);
    /* Prefetches as much as there is room for, w last. */
    const int room = h.shared - 1024 - (int)solver, slices = room > 0 ? room / (int)slice : 0;
    const int staged = axis == 2 && slices > 3, depth = slices >> staged > 3 ? 3 : slices >> staged;
    const int columns = (h.t.n[0] + lines - 1) / lines;
    const int pieces = adi3d_p_pieces(h.t.n[3 - axis], columns, h.processors, 1);
    if (depth < 1) return 0;
    if (adi3d_p_independent(axis) && h.fresh && s == 0)
        adi3d_p_launch(error, stream, adi3d_p_device_factor<axis, rows, parts>, dim3(1), dim3(32), 0, h, step);
    adi3d_p_launch(error, stream, kernel, dim3((unsigned)columns, (unsigned)pieces), dim3(parts * lines),
                   solver + (size_t)(depth << staged) * slice, h, step, s, depth, staged);
    return 1;
}

/* Chooses the shape by the length of the axis: rows a thread, partitions a line, lines a block. To add one, add a line
   here. Where shared memory does not suffice, the narrowest is the last resort. */
template <int axis, int changes>
static inline void adi3d_p_device_yz(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                     const adi3d_p_step &step, int s)
{
    enum { wide = 256 / (int)sizeof(tb_real) }; /* lines of a block, of the shortest */
    const int n = h.t.n[axis];
    int done = 0;
    if (n <= 128)
        done = adi3d_p_device_launch_yz<axis, changes, 16, 8, wide>(error, stream, h, step, s);
    else if (n <= 256)
        done = adi3d_p_device_launch_yz<axis, changes, 16, 16, wide / 2>(error, stream, h, step, s);
    else if (n <= 512)
        done = adi3d_p_device_launch_yz<axis, changes, 16, 32, wide / 4>(error, stream, h, step, s);
    if (!done) done = adi3d_p_device_launch_yz<axis, changes, 32, 32, wide / 8>(error, stream, h, step, s);
    if (!done && *error == cudaSuccess) *error = cudaErrorInvalidConfiguration;
}
