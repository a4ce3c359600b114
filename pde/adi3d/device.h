/* device.h - a room of adi3d.h, read once for each model and precision: the data of kernels and their functions at a
   point; rows of lines.
   MIT licence, see LICENSE. */

/* Grids in device memory have rows of `pitch` elements; elements beyond the points are finite. A stage is three kernels
   (docs/adi3d.md counts the passes over memory): right-hand sides and solves along x, which leave differences in d;
   solves along y, in place; solves along z, which end the stage. Or it is two sweeps (device_planes.h). One or several
   warps solve a line along x, `rows` points a lane; lines along y and z are interleaved in a block
   (trid_block_interleaved). */

/* Returns whether the terms along an axis are declared independent of the other axes. */
TB_HD constexpr int adi3d_p_independent(int axis)
{
    return FD_MODEL_INDEPENDENT >> axis & 1;
}

enum {
/* Whether the declarations for y and z allow their solves to change places (device_planes.h). */
    adi3d_p_fusible = adi3d_p_independent(1) && adi3d_p_independent(2),
    adi3d_p_vectored = 16 / TB_BYTES /* elements of a vector */
};

/* The findings of a march, in device memory. */
typedef struct {
    unsigned long long lost; /* the first time (adi3d_p_device_note) at which something was not finite, times 2^32, plus
                                the point */
    int largest;             /* magnitude at time 0 (fd_p_larger) */
    int pcr_steps[3];        /* how many PCR steps the solves by factors take */
} adi3d_p_found;

/* The numbers of a plane for the sweeps of device_planes.h: upward l, h, r and, for a partition's last plane, 1 + the
   partition's number, otherwise 0; downward r, q and s. */
typedef struct FD_P_ALIGN {
    tb_real l, h, end, r, q, s, unused[2];
} adi3d_p_plane;

/* The factored row of a partition in the system of the last unknowns. */
typedef struct FD_P_ALIGN {
    tb_real in, out, pivot, above;
} adi3d_p_link;

/* The data of a march's kernels. All pointers are to device memory, except those in problem, which no kernel
   follows: t.problem is in device memory. */
typedef struct {
    fd_p_tables t;
    fd_problem problem;
    int n[3];
    int adds, makes[3];   /* whether faces add to F; whether an axis's faces have computed rows
                             (adi3d_p_device_make_faces) */
    tb_real *u, *z, *d;   /* values, a first stage's, differences */
    tb_real *extra;       /* exercise multiplier, or null */
    adi3d_p_found *march;
    fd_values *values;    /* for each time at each spot, as in a batch */
    tb_real *factors[3];  /* for the independent axes, otherwise null: adi3d_p_device_factor */
    int fresh;            /* whether this step needs factors other than the last step's */
    adi3d_p_plane *planes; /* for solves along z within the sweeps: the planes' factors */
    adi3d_p_link *links;   /* and those of the interface unknowns */
    tb_real *ends;         /* the planes of the interface unknowns */
    int partitions;        /* the number of partitions; 0: no solves along z within the sweeps */
    int pitch, plane, elements; /* from row to row, from plane to plane, in total */
    int processors, shared;     /* of the device: their number, and the shared memory of one */
} adi3d_p_device;

/* A problem's own arrays in device memory. */
typedef struct {
    fd_problem *problem;
    fd_model_parameters *parameters;
    double *points[3], *date, *spot;
    fd_date *at_date;
} adi3d_p_copies;

/* Lays out device memory for any problem of a batch; if memory is null, only counts. Returns the bytes. */
TB_HOST size_t adi3d_p_device_lay_out(const fd_batch *batch, unsigned char *memory, adi3d_p_device *device,
                                      adi3d_p_copies *copies)
{
    const fd_p_needs needs = fd_p_needs_of(batch);
    const size_t times = (size_t)(1 + batch->dates), line = 128 / sizeof(tb_real);
    const size_t pitch = ((size_t)batch->points[0] + line - 1) / line * line;
    adi3d_p_device h;
    adi3d_p_copies c;
    memset(&h, 0, sizeof h), memset(&c, 0, sizeof c);
    size_t used = fd_p_lay_out(batch, 0, memory, &h.t);
    tb_real **const grids[5] = {&h.u, &h.d, &h.z, &h.t.final, &h.extra};
    const int needed[5] = {1, 1, needs.stage, needs.final, needs.multiplier};
    auto next = [&](auto **array, size_t count) {
        *array = (decltype(*array + 0))fd_p_next(memory, &used, count * sizeof **array);
    };
    for (int g = 0; g < 5; g++)
        if (needed[g]) next(grids[g], pitch * (size_t)batch->points[1] * (size_t)batch->points[2]);
    if (!needs.final) h.t.final = h.d; /* the first step overwrites it */
    next(&h.march, 1), next(&h.values, times * (size_t)batch->spots);
    for (int d = 0; d < 3; d++)
        if (adi3d_p_independent(d)) next(&h.factors[d], 32 * TRID_WARP_FACTOR_LEN(32));
    if (adi3d_p_fusible) {
        next(&h.planes, (size_t)batch->points[2]), next(&h.links, ADI3D_P_PARTITIONS);
        next(&h.ends, 2 * ADI3D_P_PARTITIONS * pitch * (size_t)batch->points[1]);
    }
    next(&c.problem, 1), next(&c.parameters, 1);
    for (int d = 0; d < 3; d++) next(&c.points[d], (size_t)batch->points[d]);
    next(&c.date, times), next(&c.at_date, times), next(&c.spot, (size_t)batch->spots * 3);
    if (device) *device = h, *copies = c;
    return used;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Returns the element of point (i, j, k). */
TB_D int adi3d_p_device_at(const adi3d_p_device &h, int i, int j, int k)
{
    return i + h.pitch * j + h.plane * k;
}

/* Returns the index of a point in a grid without gaps, as the final values are stored. */
TB_D int adi3d_p_device_index(const adi3d_p_device &h, const int *index)
{
    return index[0] + h.n[0] * (index[1] + h.n[1] * index[2]);
}

/* Returns the value of v at a point or, if `by` is not 0, `by` points beyond it along an axis. */
TB_D tb_real adi3d_p_device_value(const adi3d_p_device &h, const tb_real *v, const int *index, int axis, int by)
{
    const int stride = axis == 0 ? 1 : axis == 1 ? h.pitch : h.plane;
    return v[adi3d_p_device_at(h, index[0], index[1], index[2]) + by * stride];
}

/* Returns a point of a face, at the step's start (end 0) or end (1). h is adi3d_p_device or adi3d_p_chip. */
template <class grid_type>
TB_D fd_p_edge adi3d_p_device_edge(const grid_type &h, const fd_p_step &step, int axis, int side, int end,
                                   const int *index)
{
    return {axis,
            side,
            h.problem.face[axis][side],
            {index[0], index[1], index[2]},
            step.time[end],
            end ? step.to : step.from};
}

/* Returns the term that the faces of an axis add to F(v) at a point, at the step's start (end 0) or end (1). value_of
   is h's adi3d_p_device_value or adi3d_p_chip_value. */
template <int axis, auto value_of, class grid_type, class values_type>
TB_D tb_real adi3d_p_device_face(const grid_type &h, const fd_p_step &step, int end, values_type v, const int *index)
{
    tb_real sum = 0;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int in = side ? -1 : 1;
        const fd_p_edge edge = adi3d_p_device_edge(h, step, axis, side, end, index);
        if (index[axis] == (side ? h.n[axis] - 1 : 0) && fd_p_adds(edge.kind))
            sum += fd_p_edge_adds(&h.t, &edge, fd_p_edge_given(&h.t, &edge), value_of(h, v, index, axis, in),
                                  value_of(h, v, index, axis, 2 * in));
    }
    return sum;
}

/* Returns the terms that the faces of all axes add to F(v) at a point. */
template <auto value_of, class grid_type, class values_type>
TB_D tb_real adi3d_p_device_faces(const grid_type &h, const fd_p_step &step, int end, values_type v, const int *index)
{
    return adi3d_p_device_face<0, value_of>(h, step, end, v, index) +
           adi3d_p_device_face<1, value_of>(h, step, end, v, index) +
           adi3d_p_device_face<2, value_of>(h, step, end, v, index);
}

/* Returns base[0] F_0(v) + base[1] (F_1 + F_2 + F_3)(v) at a point, with the faces' terms, from device memory. */
TB_D tb_real adi3d_p_device_apply(const adi3d_p_device &h, const fd_p_step &step, int end, const tb_real *v,
                                  const int *index, const tb_real *base)
{
    const int i = index[0], j = index[1], k = index[2], at = adi3d_p_device_at(h, i, j, k);
    const int x[3] = {i > 0 ? -1 : 0, 0, i < h.n[0] - 1 ? 1 : 0};
    const int y[3] = {j > 0 ? -h.pitch : 0, 0, j < h.n[1] - 1 ? h.pitch : 0};
    const int z[3] = {k > 0 ? -h.plane : 0, 0, k < h.n[2] - 1 ? h.plane : 0};
    const fd_cell cell[3] = {h.t.cell[0][i], h.t.cell[1][j], h.t.cell[2][k]};
    const fd_terms terms = fd_p_terms_here(&h.t, index, step.time[end]);
    tb_real around[27];
    TB_UNROLL
    for (int m = 0; m < 27; m++) {
        const int corner = m % 3 != 1 && m / 3 % 3 != 1 && m / 9 != 1;
        around[m] = corner ? 0 : v[at + x[m % 3] + y[m / 3 % 3] + z[m / 9]];
    }
    return adi3d_p_apply(cell, &terms, base[0], base[1], around) +
           base[1] * adi3d_p_device_faces<adi3d_p_device_value>(h, step, end, v, index);
}

/* Returns size (F_axis(u) at the step's end - F_axis(u) at its start) at a point, and 0 at faces whose value is given
   along x. A step whose coefficients change adds this to the solve along an axis. */
template <int axis, auto value_of, class grid_type>
TB_D tb_real adi3d_p_device_change(const grid_type &h, const fd_p_step &step, const int *index)
{
    if (fd_p_at_given(&h.problem, 0, index[0])) return 0;
    const int m = index[axis];
    const tb_real low = value_of(h, h.u, index, axis, m > 0 ? -1 : 0), here = value_of(h, h.u, index, axis, 0);
    const tb_real high = value_of(h, h.u, index, axis, m < h.n[axis] - 1 ? 1 : 0);
    const fd_cell cell = h.t.cell[axis][m];
    const fd_terms start = fd_p_terms_here(&h.t, index, step.time[0]), end = fd_p_terms_here(&h.t, index, step.time[1]);
    return step.data.size *
           (fd_p_along_axis(axis, cell, end, low, here, high) - fd_p_along_axis(axis, cell, start, low, here, high) +
            adi3d_p_device_face<axis, value_of>(h, step, 1, h.u, index) -
            adi3d_p_device_face<axis, value_of>(h, step, 0, h.u, index));
}

/* Returns the right-hand side of stage s at a point, for the solve along x. */
TB_D tb_real adi3d_p_device_right(const adi3d_p_device &h, const fd_p_step &step, int s, const int *index)
{
    const int at = adi3d_p_device_at(h, index[0], index[1], index[2]), about = s && step.data.about;
    tb_real right = adi3d_p_device_apply(h, step, 0, h.u, index, step.data.base[s ? 1 : 0]);
    if (s) right += adi3d_p_device_apply(h, step, 1, h.z, index, step.data.base[1] + 2);
    if (about) right += h.u[at] - h.z[at];
    if (h.extra) right += step.data.dt * h.extra[at];
    if (step.changes && !about) right += adi3d_p_device_change<0, adi3d_p_device_value>(h, step, index);
    return right;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* A line is given by the indices of any of its points. Copies its numbers, on the two other axes. */
template <int axis>
TB_D void adi3d_p_device_numbers(const adi3d_p_device &h, const int *line, fd_numbers *own)
{
    TB_UNROLL
    for (int d = 0; d < 3; d++)
        if (d != axis) fd_p_take(&h.t, d, line[d], &own[d]);
}

/* Computes `rows` rows of the matrix along an axis, for the line with these numbers, as inner rows. take(r, own)
   returns row r's cell and fills in the axis's numbers. */
template <int axis, int rows, class take_type>
TB_D void adi3d_p_device_rows(const adi3d_p_device &h, const fd_p_step &step, fd_numbers *own, take_type take,
                              tb_real *a, tb_real *b, tb_real *c)
{
    fd_numbers now;
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = step.time[1][q];
    TB_UNROLL
    for (int r = 0; r < rows; r++) {
        const fd_cell cell = take(r, &own[axis]);
        const fd_terms terms = fd_p_terms(h.t.parameters, own, now.number);
        fd_p_matrix(axis, 0, cell, terms, step.data.size, &a[r], &b[r], &c[r]);
    }
}

/* Computes those boundary rows of a line along an axis that are among a lane's rows from `first` on, into `made`, 16
   elements of shared memory per line. For each side these are the row a, b, c; the right-hand side if the face's value
   is given, and otherwise the multiple of the neighbour's right-hand side that is added to it; the neighbour's
   right-hand side if another lane holds it (right_of(m)). This precedes the code that needs many registers. Solutions
   are differences from w, which points to the line's first point; the line's points are `stride` apart. */
template <int axis, int rows, class right_type>
TB_D void adi3d_p_device_make_faces(const adi3d_p_device &h, const fd_p_step &step, int first, const int *line,
                                    const tb_real *w, int stride, right_type right_of, tb_real *made)
{
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int m = side ? h.n[axis] - 1 : 0, in = side ? m - 1 : 1, kind = h.problem.face[axis][side];
        if (m < first || m >= first + rows || (kind != FD_VALUE && kind != FD_DEGENERATE)) continue;
        int at[3] = {line[0], line[1], line[2]};
        at[axis] = m;
        const fd_p_edge edge = adi3d_p_device_edge(h, step, axis, side, 1, at);
        tb_real row[4] = {0, 0, 0, 0};
        fd_p_edge_row(&h.t, &edge, step.data.size, 1, w[m * stride], row, &row[3]);
        TB_UNROLL
        for (int e = 0; e < 4; e++) made[8 * side + e] = row[e];
        made[8 * side + 4] = kind == FD_DEGENERATE && in < first ? right_of(in) : 0;
    }
}

/* Replaces row r by a boundary row: the computed one or, if there is none, the row without the couplings that would
   prevent dominance (fd_lane_lag). Without a it sets only the right-hand side, without d only the matrix. */
TB_D void adi3d_p_device_put_face(int kind, const tb_real *row, tb_real near_by, int r, tb_real *a, tb_real *b,
                                  tb_real *c, tb_real *d)
{
    if (kind == FD_VALUE || kind == FD_DEGENERATE) {
        if (a) a[r] = row[0], b[r] = row[1], c[r] = row[2];
        if (d) d[r] = kind == FD_VALUE ? row[3] : d[r] + row[3] * near_by;
    } else if (a && !(b[r] > (a[r] < 0 ? -a[r] : a[r]) + (c[r] < 0 ? -c[r] : c[r]))) {
        const tb_real below = a[r] > 0 ? a[r] : 0, above = c[r] > 0 ? c[r] : 0;
        a[r] -= below, b[r] += below + above, c[r] -= above;
    }
}

/* Replaces the line's first and last row, if the lane holds them, by the computed boundary rows. The lane that computed
   them calls. */
template <int axis, int rows>
TB_D void adi3d_p_device_put_faces(const adi3d_p_device &h, int first, const tb_real *made, tb_real *a, tb_real *b,
                                   tb_real *c, tb_real *d)
{
    const int last = h.n[axis] - 1, kind = h.problem.face[axis][1];
    auto near_by = [&](int r) {
        return !d ? 0 : r > 0 ? d[r > 0 ? r - 1 : 0] : kind == FD_DEGENERATE && first == last ? made[12] : 0;
    };
    if (first == 0) adi3d_p_device_put_face(h.problem.face[axis][0], made, d ? d[1] : 0, 0, a, b, c, d);
    if (last == first + rows - 1) { /* the lanes' rows end with the line: one test instead of one per row */
        adi3d_p_device_put_face(kind, made + 8, near_by(rows - 1), rows - 1, a, b, c, d);
        return;
    }
    if (last < first || last >= first + rows) return;
    TB_UNROLL
    for (int r = 0; r < rows - 1; r++)
        if (first + r == last) adi3d_p_device_put_face(kind, made + 8, near_by(r), r, a, b, c, d);
}

/* Returns a function for adi3d_p_device_rows that yields cells and numbers of an axis's points from `first` on; beyond
   the last point, those of the last. */
template <int axis>
TB_D auto adi3d_p_device_own(const adi3d_p_device &h, int first)
{
    return [&h, first](int r, fd_numbers *own) {
        const int m = first + r < h.n[axis] ? first + r : h.n[axis] - 1;
        fd_p_take(&h.t, axis, m, own);
        return h.t.cell[axis][m];
    };
}

/* Factors the matrix of an independent axis once for all its lines, in partitions of `rows` rows, one for each lane or
   thread of the solving kernels. Each of these reads its own factors 16 bytes at a time, so the first 16 bytes of all
   partitions come first, then the next of all. A warp calls. */
template <int axis, int rows, int parts>
TRID_KERNEL void __launch_bounds__(32) adi3d_p_device_factor(const __grid_constant__ adi3d_p_device h,
                                                             const __grid_constant__ fd_p_step step)
{
    enum { wide = adi3d_p_vectored };
    __shared__ tb_real made[32][16];
    const int lane = trid_warp_lane(), part = lane % parts, first = rows * part, line[3] = {0, 0, 0};
    tb_real a[rows], b[rows], c[rows], f[TRID_WARP_FACTOR_LEN(rows)], *const none = 0;
    fd_numbers own[3];
    int pcr_steps;
    adi3d_p_device_numbers<axis>(h, line, own);
    adi3d_p_device_rows<axis, rows>(h, step, own, adi3d_p_device_own<axis>(h, first), a, b, c);
    adi3d_p_device_make_faces<axis, rows>(
        h, step, first, line, h.u, 0, [](int) { return (tb_real)0; }, made[lane]);
    adi3d_p_device_put_faces<axis, rows>(h, first, made[lane], a, b, c, none);
    trid_warp_factor(rows, parts, h.n[axis], a, b, c, f, &pcr_steps);
    if (lane == 0) h.march->pcr_steps[axis] = pcr_steps;
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(rows); e += wide)
        if (lane < parts) *(transpose_vector *)(h.factors[axis] + parts * e + wide * part) = transpose_pack(f + e);
}

/* Copies the factors into shared memory. All threads of the block call. */
template <int rows, int parts>
TB_D void adi3d_p_device_fetch_factors(const tb_real *from, tb_real *factors)
{
    for (int e = adi3d_p_vectored * trid_block_thread(); e < parts * TRID_WARP_FACTOR_LEN(rows);
         e += adi3d_p_vectored * trid_block_threads())
        *(transpose_vector *)(factors + e) = *(const transpose_vector *)(from + e);
}

/* Copies elements from .. to - 1 of a partition's f from shared memory, in whole vectors of 16 bytes. */
template <int parts>
TB_D void adi3d_p_device_take_factors(const tb_real *factors, int part, int from, int to, tb_real *f)
{
    TB_UNROLL
    for (int e = from; e < to; e += adi3d_p_vectored)
        transpose_unpack(*(const transpose_vector *)(factors + parts * e + adi3d_p_vectored * part), f + e);
}

/* A chain of launches, copies and waits on a stream: after a failure nothing more is done. */
typedef struct {
    cudaStream_t stream;
    cudaError_t error;
} adi3d_p_queue;

/* Launches a kernel. */
template <class... parameters>
static inline void adi3d_p_launch(adi3d_p_queue *on, void (*kernel)(parameters...), dim3 grid, dim3 block, size_t bytes,
                                  typename trid_same<parameters>::type... arguments)
{
    if (on->error == cudaSuccess && bytes > 48 * 1024) on->error = trid_allow_shared(kernel);
    if (on->error == cudaSuccess) on->error = trid_launch(kernel, grid, block, bytes, on->stream, arguments...);
}
