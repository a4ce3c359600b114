/* host_lines.h - a room of adi3d.h, read once a model and precision: solves along lines and a time step on the host.
   MIT licence, see LICENSE. */

#define adi3d_p_host_eliminate FD_OF(p_3d_host_eliminate)
#define adi3d_p_host_lines FD_OF(p_3d_host_lines)
#define adi3d_p_host_at_face FD_OF(p_3d_host_at_face)
#define adi3d_p_host_forward FD_OF(p_3d_host_forward)
#define adi3d_p_host_forward_x FD_OF(p_3d_host_forward_x)
#define adi3d_p_host_forward_y FD_OF(p_3d_host_forward_y)
#define adi3d_p_host_forward_z FD_OF(p_3d_host_forward_z)
#define adi3d_p_host_rest_y FD_OF(p_3d_host_rest_y)
#define adi3d_p_host_rest_z FD_OF(p_3d_host_rest_z)
#define adi3d_p_host_substitute FD_OF(p_3d_host_substitute)
#define adi3d_p_host_transpose_eight FD_OF(p_3d_host_transpose_eight)
#define adi3d_p_eight FD_OF(p_3d_eight)
#define adi3d_p_host_transpose FD_OF(p_3d_host_transpose)
#define adi3d_p_host_back_x FD_OF(p_3d_host_back_x)
#define adi3d_p_host_x FD_OF(p_3d_host_x)
#define adi3d_p_host_fixed FD_OF(p_3d_host_fixed)
#define adi3d_p_host_exercise FD_OF(p_3d_host_exercise)
#define adi3d_p_host_back_y_to FD_OF(p_3d_host_back_y_to)
#define adi3d_p_host_back_z_to FD_OF(p_3d_host_back_z_to)
#define adi3d_p_host_back_y_all FD_OF(p_3d_host_back_y_all)
#define adi3d_p_host_back_z_all FD_OF(p_3d_host_back_z_all)
#define adi3d_p_host_back_y_rest FD_OF(p_3d_host_back_y_rest)
#define adi3d_p_host_back_z_rest FD_OF(p_3d_host_back_z_rest)
#define adi3d_p_host_y FD_OF(p_3d_host_y)
#define adi3d_p_host_z FD_OF(p_3d_host_z)
#define adi3d_p_host_step FD_OF(p_3d_host_step)

/* Eliminates one row of the Thomas algorithm in interleaved lines along an axis, the first of which goes through (i, j,
   k); the point's index along the axis is that of the row. before and upper_before are the solution and the upper
   diagonal of the row before. */
FD_P_INLINE void adi3d_p_host_eliminate(const adi3d_p_host *h, int axis, int at_face, int first, int lines, int i,
                                        int j, int k, const adi3d_p_step *step, const tb_real *FD_P_RESTRICT right,
                                        const tb_real *FD_P_RESTRICT_ROW before,
                                        const tb_real *FD_P_RESTRICT_ROW upper_before, tb_real *FD_P_RESTRICT_ROW left,
                                        tb_real *FD_P_RESTRICT_ROW upper)
{
    const int vary = axis == 0 ? 1 : 0;
    const fd_cell cell = h->t.cell[axis][axis == 0 ? i : axis == 1 ? j : k];
    const tb_real *FD_P_RESTRICT numbers = h->t.number[vary] + (vary ? j : i), size = step->data.size;
    const size_t room = (size_t)h->t.room[vary];
    fd_numbers own[3], now;
    fd_p_take(&h->t, 1 - vary, axis == 0 ? i : j, &own[1 - vary]), fd_p_take(&h->t, 2, k, &own[2]);
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = step->time[1][q];
    for (int b = 0; b < lines; b++) {
        tb_real below, middle, above;
        adi3d_p_host_take(vary, numbers, room, (size_t)b, &own[vary]);
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
        fd_p_matrix(axis, at_face, cell, terms, size, &below, &middle, &above);
        if (first) {
            const tb_real pivot = 1 / middle;
            upper[b] = above * pivot, left[b] = right[b] * pivot;
        } else {
            const tb_real pivot = 1 / (middle - below * upper_before[b]);
            upper[b] = above * pivot, left[b] = (right[b] - below * before[b]) * pivot;
        }
    }
}

/* Interleaved lines along an axis: where the first is, and their right-hand sides, whose rows are from_row apart. The
   solutions are the differences from w, whose rows are w_row apart and lines w_line. */
typedef struct {
    const adi3d_p_step *step;
    int count, i, j, k;
    const tb_real *from, *w;
    size_t from_row, w_row, w_line;
} adi3d_p_host_lines;

/* Eliminates the row of a face whose value is given, or which has a third unknown, line by line. */
TB_HOST void adi3d_p_host_at_face(const adi3d_p_host *h, int axis, int side, int lines, const adi3d_p_host_lines *of)
{
    const int m = side ? h->n[axis] - 1 : 0;
    const adi3d_p_step *step = of->step;
    const tb_real *right = of->from + (size_t)m * of->from_row, *w = of->w + (size_t)m * of->w_row;
    const tb_real *near_by = side ? right - of->from_row : right + of->from_row;
    tb_real *left = h->tile + (size_t)m * ADI3D_P_LANES, *upper = h->upper + (size_t)m * ADI3D_P_LANES;
    fd_p_edge edge = {axis, side, h->t.problem->face[axis][side], {of->i, of->j, of->k}, step->time[1], step->to};
    edge.index[axis] = m;
    for (int b = 0; b < lines; b++, edge.index[axis == 0]++) {
        if (edge.index[1] >= h->n[1]) { /* a lane without a line */
            upper[b] = left[b] = 0;
            continue;
        }
        tb_real row[3], value = right[b];
        fd_p_edge_row(&h->t, &edge, step->data.size, near_by[b], w[(size_t)b * of->w_line], row, &value);
        const tb_real below = side ? row[0] : 0, pivot = 1 / (row[1] - (side ? below * upper[b - ADI3D_P_LANES] : 0));
        upper[b] = side ? 0 : row[2] * pivot;
        left[b] = (value - (side ? below * left[b - ADI3D_P_LANES] : 0)) * pivot;
    }
}

/* Eliminates all rows of `lines` lines along an axis into tile and upper. */
FD_P_INLINE void adi3d_p_host_forward(const adi3d_p_host *h, int axis, int lines, const adi3d_p_host_lines *of)
{
    const int n = h->n[axis];
    for (int m = 0; m < n; m++) {
        const int side = m > 0, at_face = m == 0 || m == n - 1, kind = h->t.problem->face[axis][side];
        const int i = axis == 0 ? m : of->i, j = axis == 1 ? m : of->j, k = axis == 2 ? m : of->k;
        const tb_real *right = of->from + (size_t)m * of->from_row;
        tb_real *left = h->tile + (size_t)m * ADI3D_P_LANES, *upper = h->upper + (size_t)m * ADI3D_P_LANES;
        const tb_real *before = left - (side ? ADI3D_P_LANES : 0), *upper_before = upper - (side ? ADI3D_P_LANES : 0);
        if (axis == 2) adi3d_p_host_fetch(lines, of->from + (size_t)(m + 6 < n ? m + 6 : n - 1) * of->from_row);
        if (!at_face)
            adi3d_p_host_eliminate(h, axis, 0, 0, lines, i, j, k, of->step, right, before, upper_before, left, upper);
        else if (kind == FD_VALUE || kind == FD_DEGENERATE)
            adi3d_p_host_at_face(h, axis, side, lines, of);
        else if (side)
            adi3d_p_host_eliminate(h, axis, 1, 0, lines, i, j, k, of->step, right, before, upper_before, left, upper);
        else
            adi3d_p_host_eliminate(h, axis, 1, 1, lines, i, j, k, of->step, right, before, upper_before, left, upper);
    }
}

/* Eliminate ADI3D_P_LANES lines along an axis, or the rest of an axis, which are fewer. */
FD_P_FLAT void adi3d_p_host_forward_x(const adi3d_p_host *h, const adi3d_p_host_lines *of)
{
    adi3d_p_host_forward(h, 0, ADI3D_P_LANES, of);
}
FD_P_FLAT void adi3d_p_host_forward_y(const adi3d_p_host *h, const adi3d_p_host_lines *of)
{
    adi3d_p_host_forward(h, 1, ADI3D_P_LANES, of);
}
FD_P_FLAT void adi3d_p_host_forward_z(const adi3d_p_host *h, const adi3d_p_host_lines *of)
{
    adi3d_p_host_forward(h, 2, ADI3D_P_LANES, of);
}
FD_P_FLAT void adi3d_p_host_rest_y(const adi3d_p_host *h, const adi3d_p_host_lines *of)
{
    adi3d_p_host_forward(h, 1, of->count, of);
}
FD_P_FLAT void adi3d_p_host_rest_z(const adi3d_p_host *h, const adi3d_p_host_lines *of)
{
    adi3d_p_host_forward(h, 2, of->count, of);
}

/* Substitutes back one row in the tile, left -= upper after, and stores to = w + left, or to = left. */
FD_P_INLINE void adi3d_p_host_substitute(int lines, int sum, const tb_real *FD_P_RESTRICT_ROW upper,
                                         const tb_real *FD_P_RESTRICT_ROW after, tb_real *FD_P_RESTRICT_ROW left,
                                         const tb_real *w, tb_real *to)
{
    FD_P_APART
    for (int b = 0; b < lines; b++) {
        const tb_real solution = left[b] - upper[b] * after[b];
        left[b] = solution;
        to[b] = sum ? w[b] + solution : solution;
    }
}

/* Transposes an 8 x 8 corner of rows x columns numbers, in registers where it is whole and the compiler can: in each of
   three rounds lane l of vector v is exchanged with lane l ^ bit of vector v ^ bit. */
FD_P_INLINE void adi3d_p_host_transpose_eight(int rows, int columns, const tb_real *FD_P_RESTRICT from, size_t from_row,
                                              tb_real *FD_P_RESTRICT to, size_t to_row)
{
#if ADI3D_P_SHUFFLES
    if (rows >= 8 && columns >= 8) {
        typedef tb_real adi3d_p_eight __attribute__((vector_size(8 * sizeof(tb_real))));
        adi3d_p_eight v[8], w[8];
        for (int q = 0; q < 8; q++) memcpy(&v[q], from + (size_t)q * from_row, sizeof v[q]);
        for (int q = 0; q < 8; q += 2) {
            w[q] = __builtin_shufflevector(v[q], v[q + 1], 0, 8, 2, 10, 4, 12, 6, 14);
            w[q + 1] = __builtin_shufflevector(v[q], v[q + 1], 1, 9, 3, 11, 5, 13, 7, 15);
        }
        for (int e = 0; e < 4; e++) {
            const int q = e + (e & 2); /* 0, 1, 4, 5 */
            v[q] = __builtin_shufflevector(w[q], w[q + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            v[q + 2] = __builtin_shufflevector(w[q], w[q + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
        for (int q = 0; q < 4; q++) {
            w[q] = __builtin_shufflevector(v[q], v[q + 4], 0, 1, 2, 3, 8, 9, 10, 11);
            w[q + 4] = __builtin_shufflevector(v[q], v[q + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        }
        for (int q = 0; q < 8; q++) memcpy(to + (size_t)q * to_row, &w[q], sizeof w[q]);
        return;
    }
#endif
    for (int m = 0; m < 8 && m < columns; m++)
        for (int q = 0; q < 8 && q < rows; q++)
            to[(size_t)m * to_row + (size_t)q] = from[(size_t)q * from_row + (size_t)m];
}

/* Transposes: out[c * out_row + r] = in[r * in_row + c]. Goes square by square of whole cache lines, so that each is
   read and written once. */
FD_P_FLAT void adi3d_p_host_transpose(int rows, int columns, const tb_real *FD_P_RESTRICT in, size_t in_row,
                                      tb_real *FD_P_RESTRICT out, size_t out_row)
{
    const int line = 64 / (int)sizeof(tb_real);
    for (int column = 0; column < columns; column += line)
        for (int r = 0; r < rows; r += 8)
            for (int c = column; c < column + line && c < columns; c += 8)
                adi3d_p_host_transpose_eight(rows - r, columns - c, in + (size_t)r * in_row + (size_t)c, in_row,
                                             out + (size_t)c * out_row + (size_t)r, out_row);
}

/* Substitutes back lines along x, in the tile. */
FD_P_FLAT void adi3d_p_host_back_x(const adi3d_p_host *h)
{
    for (int i = h->n[0] - 2; i >= 0; i--) {
        const tb_real *FD_P_RESTRICT upper = h->upper + (size_t)i * ADI3D_P_LANES;
        tb_real *FD_P_RESTRICT left = h->tile + (size_t)i * ADI3D_P_LANES;
        for (int b = 0; b < ADI3D_P_LANES; b++) left[b] -= upper[b] * left[b + ADI3D_P_LANES];
    }
}

/* Computes right-hand sides of rows j .. j + lines - 1 of plane k and solves along x, into d. */
TB_HOST void adi3d_p_host_x(const adi3d_p_host *h, int s, int lines, int j, int k, const adi3d_p_step *step)
{
    const int n = h->n[0];
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)j * pitch;
    const tb_real *w = (s && step->data.about ? h->z : h->u) + at;
    for (int b = 0; b < lines; b += ADI3D_P_ROWS) {
        const int rows = lines - b < ADI3D_P_ROWS ? lines - b : ADI3D_P_ROWS;
        for (int r = 0; r < rows; r++) {
            adi3d_p_host_fetch_to_write(n, h->d + at + (size_t)(b + r) * pitch);
            adi3d_p_host_right(h, s, b + r == 0, j + b + r, k, step, h->rows + (size_t)r * h->wide);
        }
        adi3d_p_host_transpose(rows, n, h->rows, h->wide, h->transposed + b, ADI3D_P_LANES);
    }
    const adi3d_p_host_lines of = {step, lines, 0, j, k, h->transposed, w, ADI3D_P_LANES, 1, pitch};
    adi3d_p_host_forward_x(h, &of);
    adi3d_p_host_back_x(h);
    adi3d_p_host_transpose(n, lines, h->tile, ADI3D_P_LANES, h->d + at, pitch);
    for (int b = 0; b < lines && step->changes && !(s && step->data.about); b++)
        adi3d_p_host_change(h, 1, h->u, j + b, k, step, h->d + at + (size_t)b * pitch);
}

/* Returns which of the lanes from column i on are on faces of x whose values are given: the first (1), the last (2). */
TB_HOST int adi3d_p_host_fixed(const adi3d_p_host *h, int lines, int i)
{
    return (i == 0 && adi3d_p_given(h->t.problem, 0, 0)) +
           2 * (i + lines == h->n[0] && adi3d_p_given(h->t.problem, 0, h->n[0] - 1));
}

/* Applies early exercise to the values of a row from point (i, j, k) on. */
TB_HOST void adi3d_p_host_exercise(const adi3d_p_host *h, const adi3d_p_step *step, int lines, int i, int j, int k,
                                   tb_real *FD_P_RESTRICT u)
{
    const int american = h->t.problem->exercise == FD_AMERICAN;
    const size_t at = (size_t)k * h->plane + (size_t)j * h->pitch + (size_t)i;
    const tb_real *FD_P_RESTRICT final =
        h->t.final + ((size_t)k * (size_t)h->n[1] + (size_t)j) * (size_t)h->n[0] + (size_t)i;
    tb_real dt = step->data.dt, none = 0, *FD_P_RESTRICT extra = american ? h->extra + at : &none;
    for (int b = 0; b < lines; b++) {
        const int index[3] = {i + b, j, k};
        const tb_real pays = fd_p_pays(&h->t, index, step->to, final[b]);
        u[b] = american ? fd_lane_exercise(FD_AMERICAN, dt, pays, u[b], &extra[b])
                        : fd_lane_exercise(FD_PROJECTED, dt, pays, u[b], &none);
    }
}

/* Substitutes back lines along y, into d, except in lanes with given values. */
FD_P_INLINE void adi3d_p_host_back_y_to(const adi3d_p_host *h, int lines, int fixed, tb_real *d)
{
    const int n = h->n[1];
    for (int j = n - 1; j >= 0; j--) {
        tb_real *row = d + (size_t)j * h->pitch, *left = h->tile + (size_t)j * ADI3D_P_LANES;
        const tb_real first = row[0], last = row[lines - 1];
        if (j == n - 1) /* its upper is 0 */
            adi3d_p_host_substitute(lines, 0, h->upper + (size_t)j * ADI3D_P_LANES, h->zeros, left, row, row);
        else
            adi3d_p_host_substitute(lines, 0, h->upper + (size_t)j * ADI3D_P_LANES, left + ADI3D_P_LANES, left, row,
                                    row);
        if (fixed & 1) row[0] = first;
        if (fixed & 2) row[lines - 1] = last;
    }
}

/* Substitutes back lines along z, from right-hand sides d, and stores to = w + solution; in lanes with given values the
   solution is d. Ends the step, if that is its last stage, with early exercise. */
FD_P_INLINE void adi3d_p_host_back_z_to(const adi3d_p_host *h, int lines, int fixed, int ends,
                                        const adi3d_p_host_lines *of, const tb_real *w_of, tb_real *to_of)
{
    const int n = h->n[2], exercised = ends && h->t.problem->exercise != FD_EUROPEAN;
    const size_t at = (size_t)of->j * h->pitch + (size_t)of->i;
    for (int k = n - 1; k >= 0; k--) {
        const size_t row = at + (size_t)k * h->plane, next = at + (size_t)(k > 6 ? k - 6 : 0) * h->plane;
        const tb_real *w = w_of + row, *d = h->d + row;
        tb_real *to = to_of + row, *left = h->tile + (size_t)k * ADI3D_P_LANES;
        const tb_real first = w[0] + d[0], last = w[lines - 1] + d[lines - 1];
        adi3d_p_host_fetch(lines, w_of + next);
        if (to_of != w_of) adi3d_p_host_fetch(lines, to_of + next);
        adi3d_p_host_substitute(lines, 1, h->upper + (size_t)k * ADI3D_P_LANES,
                                k == n - 1 ? h->zeros : left + ADI3D_P_LANES, left, w, to);
        if (fixed & 1) to[0] = first;
        if (fixed & 2) to[lines - 1] = last;
        if (exercised) adi3d_p_host_exercise(h, of->step, lines, of->i, of->j, k, to);
    }
}

/* Substitute back ADI3D_P_LANES lines along an axis, or the rest of an axis. */
#ifdef __clang__ /* which warns where a sanitizer keeps it from vectorising */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
FD_P_FLAT void adi3d_p_host_back_y_all(const adi3d_p_host *h, int count, int fixed, tb_real *d)
{
    (void)count;
    adi3d_p_host_back_y_to(h, ADI3D_P_LANES, fixed, d);
}
FD_P_FLAT void adi3d_p_host_back_z_all(const adi3d_p_host *h, int fixed, int ends, const adi3d_p_host_lines *of,
                                       const tb_real *w, tb_real *to)
{
    adi3d_p_host_back_z_to(h, ADI3D_P_LANES, fixed, ends, of, w, to);
}
FD_P_FLAT void adi3d_p_host_back_y_rest(const adi3d_p_host *h, int count, int fixed, tb_real *d)
{
    adi3d_p_host_back_y_to(h, count, fixed, d);
}
FD_P_FLAT void adi3d_p_host_back_z_rest(const adi3d_p_host *h, int fixed, int ends, const adi3d_p_host_lines *of,
                                        const tb_real *w, tb_real *to)
{
    adi3d_p_host_back_z_to(h, of->count, fixed, ends, of, w, to);
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* Solves along y the columns i .. of plane k, in d. */
TB_HOST void adi3d_p_host_y(const adi3d_p_host *h, int s, int lines, int i, int k, const adi3d_p_step *step)
{
    const int fixed = adi3d_p_host_fixed(h, lines, i), all = lines == ADI3D_P_LANES;
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)i;
    const tb_real *w = (s && step->data.about ? h->z : h->u) + at;
    const adi3d_p_host_lines of = {step, lines, i, 0, k, h->d + at, w, pitch, pitch, 1};
    (all ? adi3d_p_host_forward_y : adi3d_p_host_rest_y)(h, &of);
    (all ? adi3d_p_host_back_y_all : adi3d_p_host_back_y_rest)(h, lines, fixed, h->d + at);
}

/* Solves along z the columns i .. of the planes' rows j, from d, and ends the stage. */
TB_HOST void adi3d_p_host_z(const adi3d_p_host *h, int s, int lines, int i, int j, const adi3d_p_step *step)
{
    const int ends = s == step->data.stages - 1, fixed = adi3d_p_host_fixed(h, lines, i), all = lines == ADI3D_P_LANES;
    const size_t plane = h->plane, at = (size_t)j * h->pitch + (size_t)i;
    const tb_real *w = s && step->data.about ? h->z : h->u;
    tb_real *to = ends ? h->u : h->z;
    const adi3d_p_host_lines of = {step, lines, i, j, 0, h->d + at, w + at, plane, plane, 1};
    if (!adi3d_p_given(h->t.problem, 1, j)) {
        (all ? adi3d_p_host_forward_z : adi3d_p_host_rest_z)(h, &of);
        (all ? adi3d_p_host_back_z_all : adi3d_p_host_back_z_rest)(h, fixed, ends, &of, w, to);
        return;
    }
    for (int k = 0; k < h->n[2]; k++) {
        const size_t row = at + (size_t)k * plane;
        for (int b = 0; b < lines; b++) to[row + (size_t)b] = w[row + (size_t)b] + h->d[row + (size_t)b];
        if (ends && h->t.problem->exercise != FD_EUROPEAN) adi3d_p_host_exercise(h, step, lines, i, j, k, to + row);
    }
}

/* Does a worker's part of a step. */
TB_HOST void adi3d_p_host_step(const adi3d_p_host *h, const adi3d_p_step *step)
{
    const int *n = h->n, w = h->worker;
    for (int s = 0; s < step->data.stages; s++) {
        for (int k = adi3d_p_share(h, n[2], w); k < adi3d_p_share(h, n[2], w + 1); k++) {
            for (int j = 0; j < n[1]; j += ADI3D_P_LANES)
                adi3d_p_host_x(h, s, n[1] - j < ADI3D_P_LANES ? n[1] - j : ADI3D_P_LANES, j, k, step);
            for (int i = 0; i < n[0]; i += ADI3D_P_LANES)
                adi3d_p_host_y(h, s, n[0] - i < ADI3D_P_LANES ? n[0] - i : ADI3D_P_LANES, i, k, step);
        }
        adi3d_p_meet(h);
        for (int j = adi3d_p_share(h, n[1], w); j < adi3d_p_share(h, n[1], w + 1); j++) {
            const int given = adi3d_p_given(h->t.problem, 1, j);
            for (int k = 0; k < n[2] && step->changes && !given && !(s && step->data.about); k++)
                adi3d_p_host_change(h, 2, h->u, j, k, step, h->d + (size_t)k * h->plane + (size_t)j * h->pitch);
            for (int i = 0; i < n[0]; i += ADI3D_P_LANES)
                adi3d_p_host_z(h, s, n[0] - i < ADI3D_P_LANES ? n[0] - i : ADI3D_P_LANES, i, j, step);
        }
        adi3d_p_meet(h);
    }
}
