/* grid.h - a room of adi2d.h and adi3d.h, read once for each model and precision: F, right-hand sides and boundary rows
   at the points of a grid, in device memory or on chip.
   MIT licence, see LICENSE. */

/* A problem as kernels see it, wherever its grid lies. */
struct fd_p_field {
    fd_p_tables t;
    int n[3], face[3][2]; /* the points of each axis, 1 if the model lacks it; the kinds of each axis's faces */
    int adds, makes[3];   /* whether any face adds to F; whether fd_p_make_faces makes rows of an axis's faces */
};

/* A problem whose grid is in device memory, with rows of `pitch` elements. All pointers are to device memory. */
struct fd_p_grid : fd_p_field {
    enum { on_chip = 0 };
    tb_real *u, *z, *d; /* values, a first stage's values, differences */
    tb_real *extra;     /* exercise multiplier, or null */
    int pitch, plane;   /* from row to row, from plane to plane */
};

/* Sets the fields that depend on a problem's points and faces. */
TB_HD void fd_p_measure(const fd_problem *problem, const int *n, fd_p_field *h)
{
    h->adds = 0, h->n[2] = 1;
    for (int d = 0; d < FD_FACTORS; d++) {
        h->n[d] = n[d], h->makes[d] = 0;
        for (int side = 0; side < 2; side++) {
            const int kind = h->face[d][side] = problem->face[d][side];
            h->adds |= fd_p_adds(kind), h->makes[d] |= kind == FD_VALUE || kind == FD_DEGENERATE;
        }
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Returns the mixed terms, F_0, at a point. v[13 + i + 3 j + 9 k] is the value i, j and k points away along
   the axes, each -1 .. 1. The eight corners are not read, nor, with two factors, k = -1 and 1. */
TB_HD tb_real fd_p_apply_mixed(const fd_cell *cell, const fd_terms *terms, const tb_real *v)
{
    tb_real down[3], up[3], cross[3] = {0, 0, 0};
    TB_UNROLL
    for (int d = 0; d < FD_FACTORS; d++) down[d] = cell[d].below * (1 - cell[d].w), up[d] = cell[d].above * cell[d].w;
    /* A mixed difference is a difference of slopes: of those along y in three planes (cross[2]), of those along x in
       three planes (cross[1]) or in three rows (cross[0]). */
    if (FD_MODEL_MIXED & 4) {
        tb_real low = fd_p_first(down[1], up[1], v[1], v[4], v[7]);
        tb_real here = fd_p_first(down[1], up[1], v[10], v[13], v[16]);
        tb_real high = fd_p_first(down[1], up[1], v[19], v[22], v[25]);
        cross[2] = fd_p_first(down[2], up[2], low, here, high);
    }
    tb_real here = fd_p_first(down[0], up[0], v[12], v[13], v[14]);
    if (FD_MODEL_MIXED & 2) {
        tb_real low = fd_p_first(down[0], up[0], v[3], v[4], v[5]);
        tb_real high = fd_p_first(down[0], up[0], v[21], v[22], v[23]);
        cross[1] = fd_p_first(down[2], up[2], low, here, high);
    }
    if (FD_MODEL_MIXED & 1) {
        tb_real low = fd_p_first(down[0], up[0], v[9], v[10], v[11]);
        tb_real high = fd_p_first(down[0], up[0], v[15], v[16], v[17]);
        cross[0] = fd_p_first(down[1], up[1], low, here, high);
    }
    return fd_p_mix(terms, cross);
}

/* Returns `mixed` * F_0 + `own` * (F_1 + F_2 (+ F_3)) at a point, without the faces' terms, from the values around it,
   as fd_p_apply_mixed takes them. The host (fd_p_host_mixed) and the marching kernel of device_x.h form mixed terms in
   ways of their own.
   Cost     19 values read, with three factors; about 55 operations for all mixed terms and 30 for the others */
TB_HD tb_real fd_p_apply(const fd_cell *cell, const fd_terms *terms, tb_real mixed, tb_real own, const tb_real *v)
{
    const tb_real before[3] = {v[12], v[10], v[4]}, after[3] = {v[14], v[16], v[22]};
    const tb_real sum = own * fd_p_own(cell, terms, v[13], before, after);
    return FD_MODEL_MIXED ? sum + mixed * fd_p_apply_mixed(cell, terms, v) : sum;
}

/* Returns the slot of point i in a row of shared memory. Pieces of 16 bytes are permuted within groups of eight. Eight
   successive groups have eight different orders. Eight lanes, as many as are served at once, cause no bank conflict if
   they access pieces 1, 2, 4 or 8 apart, the first of them at the start of a group. The 128 bytes of a group stay
   together, which suits asynchronous copies. */
TB_HD int fd_p_swizzle(int i)
{
    const int piece = 16 / TB_BYTES;
    return i ^ ((i / (8 * piece) & 7) * piece);
}

/* Returns the index of point (i, j, k) in an array in device memory. */
TB_D int fd_p_grid_at(const fd_p_grid &h, int i, int j, int k)
{
    return i + h.pitch * j + h.plane * k;
}

/* Returns the index of a point in a grid without gaps, as the final values are stored. */
TB_D int fd_p_grid_index(const fd_p_field &h, const int *index)
{
    return index[0] + h.n[0] * (index[1] + h.n[1] * index[2]);
}

/* Returns the value of an array, v, at a point or, if `by` is not 0, `by` points beyond it along an axis. On chip,
   another block may hold it. */
template <class grid_type, class array_type>
TB_D tb_real fd_p_value(const grid_type &h, array_type v, const int *index, int axis, int by)
{
    const int i = index[0] + (axis == 0 ? by : 0), j = index[1] + (axis == 1 ? by : 0);
    const int k = index[2] + (axis == 2 ? by : 0);
    if constexpr (grid_type::on_chip)
        return fd_p_chip_value(h, h.memory, v, i, j + h.n[1] * k);
    else
        return v[fd_p_grid_at(h, i, j, k)];
}

/* Returns a point of a face, at the step's start (end 0) or end (1). */
TB_D fd_p_edge fd_p_edge_of(const fd_p_field &h, const fd_p_step &step, int axis, int side, int end, const int *index)
{
    return {axis, side, h.face[axis][side], {index[0], index[1], index[2]}, step.time[end], end ? step.to : step.from};
}

/* Returns whether point i of an axis is on a face that adds to F. */
TB_D int fd_p_at_adding(const fd_p_field &h, int axis, int i)
{
    return (i == 0 && fd_p_adds(h.face[axis][0])) || (i == h.n[axis] - 1 && fd_p_adds(h.face[axis][1]));
}

/* Returns the term that the faces of an axis add to F(v) at a point, at the step's start (end 0) or end (1). */
template <int axis, class grid_type, class array_type>
TB_D tb_real fd_p_face_adds(const grid_type &h, const fd_p_step &step, int end, array_type v, const int *index)
{
    tb_real sum = 0;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int in = side ? -1 : 1;
        const fd_p_edge edge = fd_p_edge_of(h, step, axis, side, end, index);
        if (index[axis] == (side ? h.n[axis] - 1 : 0) && fd_p_adds(edge.kind))
            sum += fd_p_edge_adds(&h.t, &edge, fd_p_edge_given(&h.t, &edge), fd_p_value(h, v, index, axis, in),
                                  fd_p_value(h, v, index, axis, 2 * in));
    }
    return sum;
}

/* Returns the sum of the terms that the faces of all axes add to F(v) at a point. */
template <class grid_type, class array_type>
TB_D tb_real fd_p_faces_add(const grid_type &h, const fd_p_step &step, int end, array_type v, const int *index)
{
    const tb_real sum = fd_p_face_adds<0>(h, step, end, v, index) + fd_p_face_adds<1>(h, step, end, v, index);
    return FD_FACTORS > 2 ? sum + fd_p_face_adds<2>(h, step, end, v, index) : sum;
}

/* Returns the change of the term that the faces of an axis add to F(u) at a point, from the step's start to its end. */
template <int axis, class grid_type>
TB_D tb_real fd_p_face_change(const grid_type &h, const fd_p_step &step, const int *index)
{
    return fd_p_face_adds<axis>(h, step, 1, h.u, index) - fd_p_face_adds<axis>(h, step, 0, h.u, index);
}

/* Returns size times the change of F_axis(u) at a point, from the step's start to its end; 0 at faces of x whose value
   is given. A step with step.changes adds this to the right-hand side of the solve along the axis, except in a second
   stage with step.data.about. */
template <int axis, class grid_type>
TB_D tb_real fd_p_change_at(const grid_type &h, const fd_p_step &step, const int *index)
{
    if (fd_p_at_given(h.face, h.n, 0, index[0])) return 0;
    const int m = index[axis];
    const tb_real low = fd_p_value(h, h.u, index, axis, m > 0 ? -1 : 0), here = fd_p_value(h, h.u, index, axis, 0);
    const tb_real high = fd_p_value(h, h.u, index, axis, m < h.n[axis] - 1 ? 1 : 0);
    const fd_cell cell = h.t.cell[axis][m];
    const fd_terms start = fd_p_terms_here(&h.t, index, step.time[0]), end = fd_p_terms_here(&h.t, index, step.time[1]);
    return step.data.size *
           (fd_p_along_axis(axis, cell, end, low, here, high) - fd_p_along_axis(axis, cell, start, low, here, high) +
            fd_p_face_change<axis>(h, step, index));
}

/* Returns base[0] F_0(v) + base[1] (F_1 + F_2 (+ F_3))(v) at a point, with the faces' terms, from device memory. */
TB_D tb_real fd_p_grid_apply(const fd_p_grid &h, const fd_p_step &step, int end, const tb_real *v, const int *index,
                             const tb_real *base)
{
    const int i = index[0], j = index[1], k = index[2], at = fd_p_grid_at(h, i, j, k);
    const int x[3] = {i > 0 ? -1 : 0, 0, i < h.n[0] - 1 ? 1 : 0};
    const int y[3] = {j > 0 ? -h.pitch : 0, 0, j < h.n[1] - 1 ? h.pitch : 0};
    const int z[3] = {k > 0 ? -h.plane : 0, 0, k < h.n[2] - 1 ? h.plane : 0};
    const fd_terms terms = fd_p_terms_here(&h.t, index, step.time[end]);
    fd_cell cell[FD_FACTORS];
    tb_real around[27];
    TB_UNROLL
    for (int d = 0; d < FD_FACTORS; d++) cell[d] = h.t.cell[d][index[d]];
    TB_UNROLL
    for (int m = 0; m < 27; m++) {
        const int unread = m / 9 != 1 && (FD_FACTORS < 3 || (m % 3 != 1 && m / 3 % 3 != 1));
        around[m] = unread ? 0 : v[at + x[m % 3] + y[m / 3 % 3] + z[m / 9]];
    }
    const tb_real sum = fd_p_apply(cell, &terms, base[0], base[1], around);
    return h.adds ? sum + base[1] * fd_p_faces_add(h, step, end, v, index) : sum;
}

/* Returns the right-hand side of stage s at a point, for the solve along x. */
TB_D tb_real fd_p_grid_right(const fd_p_grid &h, const fd_p_step &step, int s, const int *index)
{
    const int at = fd_p_grid_at(h, index[0], index[1], index[2]), about = s && step.data.about;
    tb_real right = fd_p_grid_apply(h, step, 0, h.u, index, step.data.base[s ? 1 : 0]);
    if (s) right += fd_p_grid_apply(h, step, 1, h.z, index, step.data.base[1] + 2);
    if (about) right += h.u[at] - h.z[at];
    if (h.extra) right += step.data.dt * h.extra[at];
    if (step.changes && !about) right += fd_p_change_at<0>(h, step, index);
    return right;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Copies the numbers that all points of a line share: those of its position along the other axes. `line` holds the
   indices of any of its points. */
template <int axis>
TB_D void fd_p_line_numbers(const fd_p_grid &h, const int *line, fd_numbers *own)
{
    TB_UNROLL
    for (int d = 0; d < FD_FACTORS; d++)
        if (d != axis) fd_p_take(&h.t, d, line[d], &own[d]);
}

/* Computes `rows` rows of the matrix along an axis, all as inner rows. `own` holds the line's numbers along the other
   axes; take(r, own) returns row r's cell and fills in the axis's numbers. */
template <int axis, int rows, class take_type>
TB_D void fd_p_line_rows(const fd_p_grid &h, const fd_p_step &step, fd_numbers *own, take_type take, tb_real *a,
                         tb_real *b, tb_real *c)
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

/* Computes the boundary rows of a line at FD_VALUE and FD_DEGENERATE faces, if they are among a lane's rows from
   `first` on. `made` receives them: 16 elements of shared memory per line, 8 for each side. The first three are the
   row's a, b, c. The fourth is the right-hand side if the face's value is given, otherwise the weight with which
   the neighbour's right-hand side is added to the face's. The fifth is 0, unless the last face is FD_DEGENERATE and
   another lane holds the neighbour; then it is the neighbour's right-hand side, as right_of(index) gives it. Call this
   before the code that needs many registers. Solutions are differences from w, which points to the line's first
   element; the next is `stride` further on. */
template <int axis, int rows, class right_type>
TB_D void fd_p_make_faces(const fd_p_grid &h, const fd_p_step &step, int first, const int *line, const tb_real *w,
                          int stride, right_type right_of, tb_real *made)
{
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int m = side ? h.n[axis] - 1 : 0, in = side ? m - 1 : 1, kind = h.face[axis][side];
        if (m < first || m >= first + rows || (kind != FD_VALUE && kind != FD_DEGENERATE)) continue;
        int at[3] = {line[0], line[1], line[2]};
        at[axis] = m;
        const fd_p_edge edge = fd_p_edge_of(h, step, axis, side, 1, at);
        tb_real row[4] = {0, 0, 0, 0};
        fd_p_edge_row(&h.t, &edge, step.data.size, 1, w[m * stride], row, &row[3]);
        TB_UNROLL
        for (int e = 0; e < 4; e++) made[8 * side + e] = row[e];
        made[8 * side + 4] = kind == FD_DEGENERATE && in < first ? right_of(in) : 0;
    }
}

/* Replaces row r by a boundary row: the computed one or, if there is none, the row without the couplings that would
   prevent dominance (fd_lane_lag). If `a` is null, only the right-hand side is set; if d is null, only the matrix. */
TB_D void fd_p_put_face(int kind, const tb_real *row, tb_real near_by, int r, tb_real *a, tb_real *b, tb_real *c,
                        tb_real *d)
{
    if (kind == FD_VALUE || kind == FD_DEGENERATE) {
        if (a) a[r] = row[0], b[r] = row[1], c[r] = row[2];
        if (d) d[r] = kind == FD_VALUE ? row[3] : d[r] + row[3] * near_by;
    } else if (a && !(b[r] > (a[r] < 0 ? -a[r] : a[r]) + (c[r] < 0 ? -c[r] : c[r]))) {
        const tb_real below = a[r] > 0 ? a[r] : 0, above = c[r] > 0 ? c[r] : 0;
        a[r] -= below, b[r] += below + above, c[r] -= above;
    }
}

/* Replaces the line's first and last row, if the lane holds them, by boundary rows, as fd_p_put_face does. `made` is
   what fd_p_make_faces left for the line. */
template <int axis, int rows>
TB_D void fd_p_put_faces(const fd_p_grid &h, int first, const tb_real *made, tb_real *a, tb_real *b, tb_real *c,
                         tb_real *d)
{
    const int last = h.n[axis] - 1, kind = h.face[axis][1];
    auto near_by = [&](int r) {
        return !d ? 0 : r > 0 ? d[r > 0 ? r - 1 : 0] : kind == FD_DEGENERATE && first == last ? made[12] : 0;
    };
    if (first == 0) fd_p_put_face(h.face[axis][0], made, d ? d[1] : 0, 0, a, b, c, d);
    if (last == first + rows - 1) { /* the lanes' rows end with the line: one test instead of one per row */
        fd_p_put_face(kind, made + 8, near_by(rows - 1), rows - 1, a, b, c, d);
        return;
    }
    if (last < first || last >= first + rows) return;
    TB_UNROLL
    for (int r = 0; r < rows - 1; r++)
        if (first + r == last) fd_p_put_face(kind, made + 8, near_by(r), r, a, b, c, d);
}

/* Returns the function `take` of fd_p_line_rows for an axis's points from `first` on. Beyond the last point it takes
   the last point's cell and numbers. */
template <int axis>
TB_D auto fd_p_line_own(const fd_p_grid &h, int first)
{
    return [&h, first](int r, fd_numbers *own) {
        const int m = first + r < h.n[axis] ? first + r : h.n[axis] - 1;
        fd_p_take(&h.t, axis, m, own);
        return h.t.cell[axis][m];
    };
}
