/* device.h - a room of adi3d.h, read once a model and precision: what kernels know, what they compute at a point, the
   rows of their lines.
   MIT licence, see LICENSE. */

#define adi3d_p_independent ADI3D_OF(p_independent)
#define adi3d_p_device ADI3D_OF(p_device)
#define adi3d_p_device_lay_out ADI3D_OF(p_device_lay_out)
#define adi3d_p_device_at ADI3D_OF(p_device_at)
#define adi3d_p_device_value ADI3D_OF(p_device_value)
#define adi3d_p_device_face ADI3D_OF(p_device_face)
#define adi3d_p_device_apply ADI3D_OF(p_device_apply)
#define adi3d_p_device_change ADI3D_OF(p_device_change)
#define adi3d_p_device_right ADI3D_OF(p_device_right)
#define adi3d_p_device_numbers ADI3D_OF(p_device_numbers)
#define adi3d_p_device_rows ADI3D_OF(p_device_rows)
#define adi3d_p_device_face_row ADI3D_OF(p_device_face_row)
#define adi3d_p_device_make_faces ADI3D_OF(p_device_make_faces)
#define adi3d_p_device_put_face ADI3D_OF(p_device_put_face)
#define adi3d_p_device_put_faces ADI3D_OF(p_device_put_faces)
#define adi3d_p_device_own ADI3D_OF(p_device_own)
#define adi3d_p_device_factor ADI3D_OF(p_device_factor)
#define adi3d_p_device_fetch_factors ADI3D_OF(p_device_fetch_factors)
#define adi3d_p_device_take_factors ADI3D_OF(p_device_take_factors)
#define adi3d_p_launch ADI3D_OF(p_launch)

/* Grids in device memory have rows of pitch elements; those beyond the points are finite. A stage is three kernels
   (docs/adi3d.md counts the passes over memory): right-hand sides and solves along x, which leave differences in d;
   solves along y, in place; solves along z, which end the stage. A line along x has one warp or several, `rows` points
   a lane; lines along y and z are interleaved in a block (trid_block_interleaved). */

/* Returns whether the terms along an axis are declared independent of the other axes. */
TB_HD constexpr int adi3d_p_independent(int axis)
{
    return (int)adi3d_p_independent_axes >> axis & 1;
}

#define ADI3D_P_VECTORED (16 / (int)sizeof(tb_real))

/* What the kernels of a march know. All pointers are to device memory, except those in problem, which no kernel
   follows. */
typedef struct {
    adi3d_p_tables t;
    adi3d_problem problem;
    const adi3d_model_parameters *parameters;
    tb_real *u, *z, *d;       /* values, a first stage's, differences */
    tb_real *final, *extra;   /* final values, exercise's multiplier; null where there is none */
    unsigned long long *lost; /* when (adi3d_p_device_note), times 2^32, and where something was not finite first */
    unsigned long long
        *untrue;          /* of the first or the last step, the first point, and which declaration does not hold */
    int *not_dominant;            /* rows that are not diagonally dominant */
    adi3d_values *values; /* as a result's */
    tb_real *factors[3];  /* of the axes that are independent, else null: adi3d_p_device_factor */
    int *pcr_steps;       /* how many PCR steps their solves take */
    int *given, *largest; /* magnitudes (fd_p_larger): the largest given, and the largest at time 0 */
    int fresh;            /* whether the factors of the last step are not this one's */
    int pitch, plane, elements; /* from row to row, from plane to plane, all */
    int processors, shared;     /* of the device: how many, and the shared memory of one */
    int *too_fast;              /* the least of fd_p_too_fast */
    double longest;             /* explicit step */
} adi3d_p_device;

/* Lays out device memory; if memory is null, only counts. Returns bytes. */
TB_HOST size_t adi3d_p_device_lay_out(const adi3d_problem *problem, unsigned char *memory, adi3d_p_device *device)
{
    adi3d_p_device h;
    size_t used = 0;
    const int line = 128 / (int)sizeof(tb_real);
    memset(&h, 0, sizeof h);
    h.problem = *problem;
    h.pitch = (problem->axis[0].points + line - 1) / line * line, h.plane = h.pitch * problem->axis[1].points;
    h.elements = h.plane * problem->axis[2].points;
    const size_t grid = fd_p_round((size_t)h.elements * sizeof(tb_real));
    tb_real **const grids[5] = {&h.u, &h.d, &h.z, &h.final, &h.extra};
    const int needed[5] = {1, 1, problem->scheme != FD_DOUGLAS, adi3d_p_finals(problem),
                           problem->exercise == FD_AMERICAN};
    for (int g = 0; g < 5; g++) {
        if (!needed[g]) continue;
        *grids[g] = (tb_real *)fd_p_at(memory, used), used += grid;
    }
    for (int d = 0; d < 3; d++)
        used += adi3d_p_axis_lay_out(d, problem->axis[d].points, (unsigned char *)fd_p_at(memory, used), &h.t);
    h.parameters = (const adi3d_model_parameters *)fd_p_at(memory, used), used += fd_p_round(sizeof *h.parameters);
    h.values = (adi3d_values *)fd_p_at(memory, used);
    used += fd_p_round((size_t)(1 + problem->times.dates) * sizeof *h.values);
    h.lost = (unsigned long long *)fd_p_at(memory, used), h.untrue = (unsigned long long *)fd_p_at(memory, used + 8);
    h.not_dominant = (int *)fd_p_at(memory, used + 16), h.given = (int *)fd_p_at(memory, used + 20);
    h.largest = (int *)fd_p_at(memory, used + 24), h.too_fast = (int *)fd_p_at(memory, used + 28);
    h.pcr_steps = (int *)fd_p_at(memory, used + 32);
    used += fd_p_round(48);
    for (int d = 0; d < 3; d++)
        if (adi3d_p_independent(d)) {
            h.factors[d] = (tb_real *)fd_p_at(memory, used);
            used += fd_p_round(32 * TRID_WARP_FACTOR_LEN(32) * sizeof(tb_real));
        }
    if (device) *device = h;
    return used;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Returns the element of point (i, j, k). */
TB_D int adi3d_p_device_at(const adi3d_p_device &h, int i, int j, int k)
{
    return i + h.pitch * j + h.plane * k;
}

/* Returns the value of v at point (i, j, k). */
TB_D tb_real adi3d_p_device_value(const adi3d_p_device &h, const tb_real *v, int i, int j, int k)
{
    return v[adi3d_p_device_at(h, i, j, k)];
}

/* Returns what the faces of an axis contribute to F(v) at point (i, j, k). h is adi3d_p_device or adi3d_p_chip;
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
        if (index == (side ? h.t.n[axis] - 1 : 0) && adi3d_p_adds(&h.problem, axis, side))
            sum +=
                adi3d_p_at_face(&h.problem, h.parameters, &h.t, axis, side, i, j, k, time, when,
                                value_of(h, v, i + x, j + y, k + z), value_of(h, v, i + 2 * x, j + 2 * y, k + 2 * z));
    }
    return sum;
}

/* Returns mixed F_0(v) + own (F_1 + F_2 + F_3)(v) at point (i, j, k), with the contributions of faces, from device
   memory. */
TB_D tb_real adi3d_p_device_apply(const adi3d_p_device &h, const tb_real *v, int i, int j, int k, const tb_real *time,
                                  double when, tb_real mixed, tb_real own)
{
    const int at = adi3d_p_device_at(h, i, j, k);
    const int x[3] = {i > 0 ? -1 : 0, 0, i < h.t.n[0] - 1 ? 1 : 0};
    const int y[3] = {j > 0 ? -h.pitch : 0, 0, j < h.t.n[1] - 1 ? h.pitch : 0};
    const int z[3] = {k > 0 ? -h.plane : 0, 0, k < h.t.n[2] - 1 ? h.plane : 0};
    const fd_cell cell[3] = {h.t.cell[0][i], h.t.cell[1][j], h.t.cell[2][k]};
    const adi3d_terms terms = adi3d_p_terms_at(&h.t, i, j, k, time);
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
TB_D tb_real adi3d_p_device_change(const grid_type &h, const adi3d_p_step &step, int i, int j, int k)
{
    if (adi3d_p_given(&h.problem, 0, i)) return 0;
    const int index = axis == 0 ? i : axis == 1 ? j : k, down = index > 0, up = index < h.t.n[axis] - 1;
    const int x = axis == 0, y = axis == 1, z = axis == 2;
    const tb_real low = value_of(h, h.u, i - x * down, j - y * down, k - z * down);
    const tb_real here = value_of(h, h.u, i, j, k);
    const tb_real high = value_of(h, h.u, i + x * up, j + y * up, k + z * up);
    const fd_cell cell = h.t.cell[axis][index];
    const adi3d_terms start = adi3d_p_terms_at(&h.t, i, j, k, step.time[0]);
    const adi3d_terms end = adi3d_p_terms_at(&h.t, i, j, k, step.time[1]);
    return step.data.size *
           (adi3d_p_along(axis, cell, end, low, here, high) - adi3d_p_along(axis, cell, start, low, here, high) +
            adi3d_p_device_face<axis, value_of>(h, h.u, i, j, k, step.time[1], step.to) -
            adi3d_p_device_face<axis, value_of>(h, h.u, i, j, k, step.time[0], step.from));
}

/* Returns the right-hand side of stage s at point (i, j, k), for the solve along x. */
TB_D tb_real adi3d_p_device_right(const adi3d_p_device &h, const adi3d_p_step &step, int s, int i, int j, int k)
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

/* Copies the numbers of the line along an axis through point (i, j, k): those of the two other axes. */
template <int axis>
TB_D void adi3d_p_device_numbers(const adi3d_p_device &h, int i, int j, int k, tb_real (*number)[adi3d_p_most])
{
    if (axis != 0) adi3d_p_take(&h.t, 0, i, number[0]);
    if (axis != 1) adi3d_p_take(&h.t, 1, j, number[1]);
    if (axis != 2) adi3d_p_take(&h.t, 2, k, number[2]);
}

/* Computes `rows` rows of the matrix along an axis, of the line with these numbers, as inner rows. own(r, number)
   returns row r's cell and fills in the axis' numbers. */
template <int axis, int rows, class own_type>
TB_D void adi3d_p_device_rows(const adi3d_p_step &step, tb_real (*number)[adi3d_p_most], own_type own, tb_real *a,
                              tb_real *b, tb_real *c)
{
    tb_real now[adi3d_p_most];
    TB_UNROLL
    for (int q = 0; q < adi3d_p_numbers(3); q++) now[q] = step.time[1][q];
    TB_UNROLL
    for (int r = 0; r < rows; r++) {
        const fd_cell cell = own(r, number[axis]);
        const adi3d_terms terms = adi3d_p_terms(number[0], number[1], number[2], now);
        adi3d_p_matrix(axis, 0, cell, terms, step.data.size, &a[r], &b[r], &c[r]);
    }
}

/* Computes the boundary row a, b, c of a face along an axis at point (i, j, k) of it. row[3] is the right-hand side,
   where the face's value is given, and else what is added to it for each unit of the neighbour's. The solution is the
   difference from w. */
template <int axis>
TB_D void adi3d_p_device_face_row(const adi3d_p_device &h, const adi3d_p_step &step, int side, int i, int j, int k,
                                  tb_real w, tb_real *row)
{
    const int in = side ? -1 : 1;
    const double at[3] = {h.t.x[0][i], h.t.x[1][j], h.t.x[2][k]};
    row[3] = 0;
    adi3d_p_face_row(&h.problem, h.parameters, &h.t, axis, side, at, step.to, step.data.size,
                     adi3d_p_terms_at(&h.t, i, j, k, step.time[1]),
                     adi3d_p_terms_at(&h.t, i + (axis == 0 ? in : 0), j + (axis == 1 ? in : 0),
                                      k + (axis == 2 ? in : 0), step.time[1]),
                     1, w, row, &row[3]);
}

/* Computes those boundary rows of a line along an axis that are among a lane's rows from `first` on, into `made`, 16
   elements of shared memory a line: of each side the row, and the neighbour's right-hand side, where another lane has
   it (right_of(m)). This comes before the code that needs many registers. w is of the line's first point; its points
   are `stride` apart. */
template <int axis, int rows, class right_type>
TB_D void adi3d_p_device_make_faces(const adi3d_p_device &h, const adi3d_p_step &step, int first, int i, int j, int k,
                                    const tb_real *w, int stride, right_type right_of, tb_real *made)
{
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int m = side ? h.t.n[axis] - 1 : 0, in = side ? m - 1 : 1, kind = h.problem.face[axis][side];
        tb_real row[4];
        if (m < first || m >= first + rows || (kind != FD_VALUE && kind != FD_DEGENERATE)) continue;
        adi3d_p_device_face_row<axis>(h, step, side, axis == 0 ? m : i, axis == 1 ? m : j, axis == 2 ? m : k,
                                      w[m * stride], row);
        TB_UNROLL
        for (int e = 0; e < 4; e++) made[8 * side + e] = row[e];
        made[8 * side + 4] = kind == FD_DEGENERATE && in < first ? right_of(in) : 0;
    }
}

/* Makes row r a boundary row: the one that was made; or, where none had to be, itself without the couplings that would
   keep it from being dominant (fd_lane_lag). Without a it sets the right-hand side alone, without d the matrix. */
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

/* Puts the boundary rows in their places. The lane that has made them calls. */
template <int axis, int rows>
TB_D void adi3d_p_device_put_faces(const adi3d_p_device &h, int first, const tb_real *made, tb_real *a, tb_real *b,
                                   tb_real *c, tb_real *d)
{
    const int last = h.t.n[axis] - 1, kind = h.problem.face[axis][1];
    auto near_by = [&](int r) {
        return !d ? 0 : r > 0 ? d[r > 0 ? r - 1 : 0] : kind == FD_DEGENERATE && first == last ? made[12] : 0;
    };
    if (first == 0) adi3d_p_device_put_face(h.problem.face[axis][0], made, d ? d[1] : 0, 0, a, b, c, d);
    if (last == first + rows - 1) { /* the lanes' rows end with the line: one test instead of one a row */
        adi3d_p_device_put_face(kind, made + 8, near_by(rows - 1), rows - 1, a, b, c, d);
        return;
    }
    if (last < first || last >= first + rows) return;
    TB_UNROLL
    for (int r = 0; r < rows - 1; r++)
        if (first + r == last) adi3d_p_device_put_face(kind, made + 8, near_by(r), r, a, b, c, d);
}

/* Returns a function for adi3d_p_device_rows that yields cells and numbers of an axis' points from `first` on, and
   beyond the last those of the last. */
template <int axis>
TB_D auto adi3d_p_device_own(const adi3d_p_device &h, int first)
{
    return [&h, first](int r, tb_real *number) {
        const int m = first + r < h.t.n[axis] ? first + r : h.t.n[axis] - 1;
        adi3d_p_take(&h.t, axis, m, number);
        return h.t.cell[axis][m];
    };
}

/* Factors the matrix of an independent axis once for all its lines, in partitions of `rows` rows, which lanes or
   threads of the solving kernels hold. These read the factors 16 bytes at a time, each its own: the first 16 bytes of
   all partitions, then the next of all. A warp calls. */
template <int axis, int rows, int parts>
TRID_KERNEL void __launch_bounds__(32) adi3d_p_device_factor(const __grid_constant__ adi3d_p_device h,
                                                             const __grid_constant__ adi3d_p_step step)
{
    enum { wide = ADI3D_P_VECTORED };
    __shared__ tb_real made[32][16];
    const int lane = trid_warp_lane(), part = lane % parts, first = rows * part;
    tb_real a[rows], b[rows], c[rows], f[TRID_WARP_FACTOR_LEN(rows)], number[3][adi3d_p_most], *const none = 0;
    int pcr_steps;
    adi3d_p_device_numbers<axis>(h, 0, 0, 0, number);
    adi3d_p_device_rows<axis, rows>(step, number, adi3d_p_device_own<axis>(h, first), a, b, c);
    adi3d_p_device_make_faces<axis, rows>(
        h, step, first, 0, 0, 0, h.u, 0, [](int) { return (tb_real)0; }, made[lane]);
    adi3d_p_device_put_faces<axis, rows>(h, first, made[lane], a, b, c, none);
    trid_warp_factor(rows, parts, h.t.n[axis], a, b, c, f, &pcr_steps);
    if (lane == 0) h.pcr_steps[axis] = pcr_steps;
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

/* Copies elements from .. to - 1 of f of a partition from there: whole vectors of 16 bytes. */
template <int parts>
TB_D void adi3d_p_device_take_factors(const tb_real *factors, int part, int from, int to, tb_real *f)
{
    TB_UNROLL
    for (int e = from; e < to; e += ADI3D_P_VECTORED)
        transpose_unpack(*(const transpose_vector *)(factors + parts * e + ADI3D_P_VECTORED * part), f + e);
}

/* Launches the next kernel of a chain on the stream; after one that failed nothing is launched. */
template <class... parameters>
static inline void adi3d_p_launch(cudaError_t *error, cudaStream_t stream, void (*kernel)(parameters...), dim3 grid,
                                  dim3 block, size_t bytes, typename trid_same<parameters>::type... arguments)
{
    if (*error == cudaSuccess && bytes > 48 * 1024) *error = trid_allow_shared(kernel);
    if (*error == cudaSuccess) *error = trid_launch(kernel, grid, block, bytes, stream, arguments...);
}
