/* device.h - a room of adi3d.h, read once for each model and precision: the data of kernels and their functions at a
   point; rows of lines.
   MIT licence, see LICENSE. */

/* Grids in device memory have rows of pitch elements; elements beyond the points are finite. A stage is three kernels
   (docs/adi3d.md counts the passes over memory): right-hand sides and solves along x, which leave differences in d;
   solves along y, in place; solves along z, which end the stage. Or it is two sweeps (device_planes.h). One or several
   warps solve a line along x, `rows` points a lane; lines along y and z are interleaved in a block
   (trid_block_interleaved). */

/* Returns whether the terms along an axis are declared independent of the other axes. */
TB_HD constexpr int adi3d_p_independent(int axis)
{
    return FD_MODEL_INDEPENDENT >> axis & 1;
}

/* Whether the declarations for y and z allow their solves to change places (device_planes.h). */
enum {
    adi3d_p_fusible = adi3d_p_independent(1) && adi3d_p_independent(2)
};

#define ADI3D_P_VECTORED (16 / (int)sizeof(tb_real))

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
    adi3d_p_plane *planes; /* for solves along z within the sweeps: factors, */
    adi3d_p_link *links;   /* the interface unknowns' factors, */
    tb_real *ends;         /* and planes of these unknowns; */
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
    const size_t grid = fd_p_round(pitch * (size_t)batch->points[1] * (size_t)batch->points[2] * sizeof(tb_real));
    adi3d_p_device h;
    adi3d_p_copies c;
    memset(&h, 0, sizeof h), memset(&c, 0, sizeof c);
    size_t used = fd_p_lay_out_tables(batch, memory, &h.t);
    tb_real **const grids[5] = {&h.u, &h.d, &h.z, &h.t.final, &h.extra};
    const int needed[5] = {1, 1, needs.stage, needs.final, needs.multiplier};
    for (int g = 0; g < 5; g++) {
        if (!needed[g]) continue;
        *grids[g] = (tb_real *)fd_p_at(memory, used), used += grid;
    }
    if (!needs.final) h.t.final = h.d; /* the first step overwrites it */
    h.march = (adi3d_p_found *)fd_p_at(memory, used), used += fd_p_round(sizeof *h.march);
    h.values = (fd_values *)fd_p_at(memory, used), used += fd_p_round(times * (size_t)batch->spots * sizeof *h.values);
    for (int d = 0; d < 3; d++)
        if (adi3d_p_independent(d)) {
            h.factors[d] = (tb_real *)fd_p_at(memory, used);
            used += fd_p_round(32 * TRID_WARP_FACTOR_LEN(32) * sizeof(tb_real));
        }
    if (adi3d_p_fusible) {
        h.planes = (adi3d_p_plane *)fd_p_at(memory, used);
        used += fd_p_round((size_t)batch->points[2] * sizeof *h.planes);
        h.links = (adi3d_p_link *)fd_p_at(memory, used), used += fd_p_round(ADI3D_P_PARTITIONS * sizeof *h.links);
        h.ends = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round(2 * ADI3D_P_PARTITIONS * pitch * (size_t)batch->points[1] * sizeof(tb_real));
    }
    c.problem = (fd_problem *)fd_p_at(memory, used), used += fd_p_round(sizeof *c.problem);
    c.parameters = (fd_model_parameters *)fd_p_at(memory, used), used += fd_p_round(sizeof *c.parameters);
    for (int d = 0; d < 3; d++)
        c.points[d] = (double *)fd_p_at(memory, used), used += fd_p_round((size_t)batch->points[d] * sizeof(double));
    c.date = (double *)fd_p_at(memory, used), used += fd_p_round(times * sizeof(double));
    c.at_date = (fd_date *)fd_p_at(memory, used), used += fd_p_round(times * sizeof(fd_date));
    c.spot = (double *)fd_p_at(memory, used), used += fd_p_round((size_t)batch->spots * 3 * sizeof(double));
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

/* Returns the value of v at point (i, j, k). */
TB_D tb_real adi3d_p_device_value(const adi3d_p_device &h, const tb_real *v, int i, int j, int k)
{
    return v[adi3d_p_device_at(h, i, j, k)];
}

/* Returns the term that the faces of an axis add to F(v) at point (i, j, k). h is adi3d_p_device or adi3d_p_chip;
   value_of(h, v, i, j, k) returns v at a point. */
template <int axis, auto value_of, class grid_type, class values_type>
TB_D tb_real adi3d_p_device_face(const grid_type &h, values_type v, int i, int j, int k, const tb_real *time,
                                 double when)
{
    const int index = axis == 0 ? i : axis == 1 ? j : k;
    tb_real sum = 0;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int in = side ? -1 : 1, x = axis == 0 ? in : 0, y = axis == 1 ? in : 0, z = axis == 2 ? in : 0;
        const fd_p_edge edge = {axis, side, h.problem.face[axis][side], {i, j, k}, time, when};
        if (index == (side ? h.n[axis] - 1 : 0) && fd_p_adds(edge.kind))
            sum += fd_p_edge_adds(&h.t, &edge, fd_p_edge_given(&h.t, &edge), value_of(h, v, i + x, j + y, k + z),
                                  value_of(h, v, i + 2 * x, j + 2 * y, k + 2 * z));
    }
    return sum;
}

/* Returns mixed F_0(v) + own (F_1 + F_2 + F_3)(v) at point (i, j, k), with the faces' terms, from device
   memory. */
TB_D tb_real adi3d_p_device_apply(const adi3d_p_device &h, const tb_real *v, int i, int j, int k, const tb_real *time,
                                  double when, tb_real mixed, tb_real own)
{
    const int at = adi3d_p_device_at(h, i, j, k);
    const int x[3] = {i > 0 ? -1 : 0, 0, i < h.n[0] - 1 ? 1 : 0};
    const int y[3] = {j > 0 ? -h.pitch : 0, 0, j < h.n[1] - 1 ? h.pitch : 0};
    const int z[3] = {k > 0 ? -h.plane : 0, 0, k < h.n[2] - 1 ? h.plane : 0};
    const fd_cell cell[3] = {h.t.cell[0][i], h.t.cell[1][j], h.t.cell[2][k]};
    const int index[3] = {i, j, k};
    const fd_terms terms = fd_p_terms_here(&h.t, index, time);
    tb_real around[27];
    TB_UNROLL
    for (int m = 0; m < 27; m++) {
        const int corner = m % 3 != 1 && m / 3 % 3 != 1 && m / 9 != 1;
        around[m] = corner ? 0 : v[at + x[m % 3] + y[m / 3 % 3] + z[m / 9]];
    }
    return adi3d_p_apply(cell, &terms, mixed, own, around) +
           own * (adi3d_p_device_face<0, adi3d_p_device_value>(h, v, i, j, k, time, when) +
                  adi3d_p_device_face<1, adi3d_p_device_value>(h, v, i, j, k, time, when) +
                  adi3d_p_device_face<2, adi3d_p_device_value>(h, v, i, j, k, time, when));
}

/* Returns size (F_axis(u) at the step's end - F_axis(u) at its start) at point (i, j, k), and 0 at faces whose value is
   given along x. A step whose coefficients change adds this to the solve along an axis. */
template <int axis, auto value_of, class grid_type>
TB_D tb_real adi3d_p_device_change(const grid_type &h, const fd_p_step &step, int i, int j, int k)
{
    if (fd_p_at_given(&h.problem, 0, i)) return 0;
    const int at[3] = {i, j, k}, index = at[axis], down = index > 0, up = index < h.n[axis] - 1;
    const int x = axis == 0, y = axis == 1, z = axis == 2;
    const tb_real low = value_of(h, h.u, i - x * down, j - y * down, k - z * down);
    const tb_real here = value_of(h, h.u, i, j, k);
    const tb_real high = value_of(h, h.u, i + x * up, j + y * up, k + z * up);
    const fd_cell cell = h.t.cell[axis][index];
    const fd_terms start = fd_p_terms_here(&h.t, at, step.time[0]), end = fd_p_terms_here(&h.t, at, step.time[1]);
    return step.data.size *
           (fd_p_along_axis(axis, cell, end, low, here, high) - fd_p_along_axis(axis, cell, start, low, here, high) +
            adi3d_p_device_face<axis, value_of>(h, h.u, i, j, k, step.time[1], step.to) -
            adi3d_p_device_face<axis, value_of>(h, h.u, i, j, k, step.time[0], step.from));
}

/* Returns the right-hand side of stage s at point (i, j, k), for the solve along x. */
TB_D tb_real adi3d_p_device_right(const adi3d_p_device &h, const fd_p_step &step, int s, int i, int j, int k)
{
    const int at = adi3d_p_device_at(h, i, j, k), about = s && step.data.about;
    tb_real right = adi3d_p_device_apply(h, h.u, i, j, k, step.time[0], step.from, step.data.base[s ? 1 : 0][0],
                                         step.data.base[s ? 1 : 0][1]);
    if (s)
        right +=
            adi3d_p_device_apply(h, h.z, i, j, k, step.time[1], step.to, step.data.base[1][2], step.data.base[1][3]);
    if (about) right += h.u[at] - h.z[at];
    if (h.extra) right += step.data.dt * h.extra[at];
    if (step.changes && !about) right += adi3d_p_device_change<0, adi3d_p_device_value>(h, step, i, j, k);
    return right;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Copies the numbers of the line along an axis through point (i, j, k), on the two other axes. */
template <int axis>
TB_D void adi3d_p_device_numbers(const adi3d_p_device &h, int i, int j, int k, fd_numbers *own)
{
    if (axis != 0) fd_p_take(&h.t, 0, i, &own[0]);
    if (axis != 1) fd_p_take(&h.t, 1, j, &own[1]);
    if (axis != 2) fd_p_take(&h.t, 2, k, &own[2]);
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

/* Computes the boundary row a, b, c of a face along an axis at point (i, j, k) of it. row[3] is the right-hand side if
   the face's value is given, and otherwise the multiple of the neighbour's right-hand side that is added to it. The
   solution is the difference from w. */
template <int axis>
TB_D void adi3d_p_device_face_row(const adi3d_p_device &h, const fd_p_step &step, int side, int i, int j, int k,
                                  tb_real w, tb_real *row)
{
    const fd_p_edge edge = {axis, side, h.problem.face[axis][side], {i, j, k}, step.time[1], step.to};
    row[3] = 0;
    fd_p_edge_row(&h.t, &edge, step.data.size, 1, w, row, &row[3]);
}

/* Computes those boundary rows of a line along an axis that are among a lane's rows from `first` on, into `made`, 16
   elements of shared memory per line: for each side the row, and the neighbour's right-hand side if another lane holds
   it (right_of(m)). This precedes the code that needs many registers. w points to the line's first point; its points
   are `stride` apart. */
template <int axis, int rows, class right_type>
TB_D void adi3d_p_device_make_faces(const adi3d_p_device &h, const fd_p_step &step, int first, int i, int j, int k,
                                    const tb_real *w, int stride, right_type right_of, tb_real *made)
{
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int m = side ? h.n[axis] - 1 : 0, in = side ? m - 1 : 1, kind = h.problem.face[axis][side];
        tb_real row[4];
        if (m < first || m >= first + rows || (kind != FD_VALUE && kind != FD_DEGENERATE)) continue;
        adi3d_p_device_face_row<axis>(h, step, side, axis == 0 ? m : i, axis == 1 ? m : j, axis == 2 ? m : k,
                                      w[m * stride], row);
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
    enum { wide = ADI3D_P_VECTORED };
    __shared__ tb_real made[32][16];
    const int lane = trid_warp_lane(), part = lane % parts, first = rows * part;
    tb_real a[rows], b[rows], c[rows], f[TRID_WARP_FACTOR_LEN(rows)], *const none = 0;
    fd_numbers own[3];
    int pcr_steps;
    adi3d_p_device_numbers<axis>(h, 0, 0, 0, own);
    adi3d_p_device_rows<axis, rows>(h, step, own, adi3d_p_device_own<axis>(h, first), a, b, c);
    adi3d_p_device_make_faces<axis, rows>(
        h, step, first, 0, 0, 0, h.u, 0, [](int) { return (tb_real)0; }, made[lane]);
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
    for (int e = ADI3D_P_VECTORED * trid_block_thread(); e < parts * TRID_WARP_FACTOR_LEN(rows);
         e += ADI3D_P_VECTORED * trid_block_threads())
        *(transpose_vector *)(factors + e) = *(const transpose_vector *)(from + e);
}

/* Copies elements from .. to - 1 of a partition's f from shared memory, in whole vectors of 16 bytes. */
template <int parts>
TB_D void adi3d_p_device_take_factors(const tb_real *factors, int part, int from, int to, tb_real *f)
{
    TB_UNROLL
    for (int e = from; e < to; e += ADI3D_P_VECTORED)
        transpose_unpack(*(const transpose_vector *)(factors + parts * e + ADI3D_P_VECTORED * part), f + e);
}

/* Launches the next kernel of a chain on the stream; after a failure nothing is launched. */
template <class... parameters>
static inline void adi3d_p_launch(cudaError_t *error, cudaStream_t stream, void (*kernel)(parameters...), dim3 grid,
                                  dim3 block, size_t bytes, typename trid_same<parameters>::type... arguments)
{
    if (*error == cudaSuccess && bytes > 48 * 1024) *error = trid_allow_shared(kernel);
    if (*error == cudaSuccess) *error = trid_launch(kernel, grid, block, bytes, stream, arguments...);
}
