/* host_lines.h - a room of adi2d.h and adi3d.h, read once for each model and precision: on the host, the solves along
   lines, and a time step.
   MIT licence, see LICENSE. */

#define fd_p_host_eliminate FD_OF(p_host_eliminate)
#define fd_p_host_lines FD_OF(p_host_lines)
#define fd_p_host_given FD_OF(p_host_given)
#define fd_p_host_forward FD_OF(p_host_forward)
#define fd_p_host_forward_x FD_OF(p_host_forward_x)
#define fd_p_host_forward_middle FD_OF(p_host_forward_middle)
#define fd_p_host_forward_last FD_OF(p_host_forward_last)
#define fd_p_host_substitute FD_OF(p_host_substitute)
#define fd_p_host_transpose_eight FD_OF(p_host_transpose_eight)
#define fd_p_host_transpose FD_OF(p_host_transpose)
#define fd_p_host_back_x FD_OF(p_host_back_x)
#define fd_p_host_x FD_OF(p_host_x)
#define fd_p_host_fixed FD_OF(p_host_fixed)
#define fd_p_host_exercise FD_OF(p_host_exercise)
#define fd_p_host_back FD_OF(p_host_back)
#define fd_p_host_back_middle FD_OF(p_host_back_middle)
#define fd_p_host_back_last FD_OF(p_host_back_last)
#define fd_p_host_middle FD_OF(p_host_middle)
#define fd_p_host_columns FD_OF(p_host_columns)
#define fd_p_host_groups FD_OF(p_host_groups)
#define fd_p_host_group FD_OF(p_host_group)
#define fd_p_host_begin_stage FD_OF(p_host_begin_stage)
#define fd_p_host_end_stage FD_OF(p_host_end_stage)
#define fd_p_host_step FD_OF(p_host_step)

/* Interleaved lines along an axis: the position of the first line, and the right-hand sides, whose rows are from_row
   apart. The solution is the change from w, whose rows are w_row and whose lines are w_line apart. */
typedef struct {
    const fd_p_step *step;
    int count, i, j, k;
    const tb_real *from, *w;
    size_t from_row, w_row, w_line;
} fd_p_host_lines;

/* Eliminates row m of interleaved lines along an axis by the Thomas algorithm; `row` is the row's kind (FD_P_ROW_INNER
   ..). */
FD_P_INLINE void fd_p_host_eliminate(const fd_p_host *h, int axis, int row, int lines, int m, const fd_p_host_lines *of)
{
    const int vary = axis == 0 ? 1 : 0, first = row & FD_P_ROW_FIRST, third = row & FD_P_ROW_THIRD;
    const int index[3] = {of->i, of->j, of->k}, next = third ? m + (first ? 1 : -1) : m; /* the face's neighbour */
    const size_t room = (size_t)h->t.room[vary], at = (size_t)m * FD_P_HOST_LANES;
    const fd_cell cell = h->t.cell[axis][m], cell_beside = h->t.cell[axis][next];
    const tb_real *FD_P_RESTRICT numbers = h->t.number[vary] + index[vary], size = of->step->data.size;
    const tb_real *FD_P_RESTRICT right = of->from + (size_t)m * of->from_row, far_of = h->t.far_of[axis][!first];
    const tb_real *FD_P_RESTRICT near_by = of->from + (size_t)next * of->from_row;
    tb_real *FD_P_RESTRICT_ROW left = h->tile + at, *FD_P_RESTRICT_ROW upper = h->upper + at;
    const tb_real *FD_P_RESTRICT_ROW before = left - (first ? 0 : FD_P_HOST_LANES);
    const tb_real *FD_P_RESTRICT_ROW upper_before = upper - (first ? 0 : FD_P_HOST_LANES);
    fd_numbers own[3], beside[3], now;
    for (int d = 0; d < FD_FACTORS; d++) {
        if (d == vary) continue;
        fd_p_take(&h->t, d, d == axis ? m : index[d], &own[d]);
        fd_p_take(&h->t, d, d == axis ? next : index[d], &beside[d]);
    }
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = of->step->time[1][q];
    for (int b = 0; b < lines; b++) {
        tb_real below, middle, above, value = right[b];
        fd_p_host_take(vary, numbers, room, (size_t)b, &own[vary]);
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
        fd_p_matrix(axis, row != FD_P_ROW_INNER, cell, terms, size, &below, &middle, &above);
        if (third) {
            tb_real other[3];
            fd_p_host_take(vary, numbers, room, (size_t)b, &beside[vary]);
            const fd_terms terms_beside = fd_p_terms(h->t.parameters, beside, now.number);
            fd_p_matrix(axis, 0, cell_beside, terms_beside, size, &other[0], &other[1], &other[2]);
            value -=
                near_by[b] * fd_lane_face_three(size * terms.drift[axis] * far_of, &middle, first ? &above : &below,
                                                other[first ? 0 : 2], other[1], other[first ? 2 : 0]);
        }
        if (first) {
            const tb_real pivot = 1 / middle;
            upper[b] = above * pivot, left[b] = value * pivot;
        } else {
            const tb_real pivot = 1 / (middle - below * upper_before[b]);
            upper[b] = above * pivot, left[b] = (value - below * before[b]) * pivot;
        }
    }
}

/* Eliminates the row of a face whose value is given. */
TB_HOST void fd_p_host_given(const fd_p_host *h, int axis, int side, int lines, const fd_p_host_lines *of)
{
    const int m = side ? h->n[axis] - 1 : 0;
    const tb_real *w = of->w + (size_t)m * of->w_row;
    tb_real *left = h->tile + (size_t)m * FD_P_HOST_LANES, *upper = h->upper + (size_t)m * FD_P_HOST_LANES;
    fd_p_edge edge = {axis, side, FD_VALUE, {of->i, of->j, of->k}, of->step->time[1], of->step->to};
    edge.index[axis] = m;
    for (int b = 0; b < lines; b++, edge.index[axis == 0]++) {
        const int is_line = edge.index[1] < h->n[1];
        upper[b] = 0, left[b] = is_line ? fd_p_edge_given(&h->t, &edge) - w[(size_t)b * of->w_line] : 0;
    }
}

/* Eliminates all rows of `lines` lines along an axis into tile and upper. */
FD_P_INLINE void fd_p_host_forward(const fd_p_host *h, int axis, int lines, const fd_p_host_lines *of)
{
    const int n = h->n[axis];
    for (int m = 0; m < n; m++) {
        const int side = m > 0, at_face = m == 0 || m == n - 1, kind = h->t.problem->face[axis][side];
        if (FD_FACTORS > 2 && axis == 2)
            fd_p_host_fetch(lines, of->from + (size_t)(m + 6 < n ? m + 6 : n - 1) * of->from_row);
        if (!at_face)
            fd_p_host_eliminate(h, axis, FD_P_ROW_INNER, lines, m, of);
        else if (kind == FD_VALUE)
            fd_p_host_given(h, axis, side, lines, of);
        else if (kind == FD_DEGENERATE && side)
            fd_p_host_eliminate(h, axis, FD_P_ROW_LAST + FD_P_ROW_THIRD, lines, m, of);
        else if (kind == FD_DEGENERATE)
            fd_p_host_eliminate(h, axis, FD_P_ROW_FIRST + FD_P_ROW_THIRD, lines, m, of);
        else if (side)
            fd_p_host_eliminate(h, axis, FD_P_ROW_LAST, lines, m, of);
        else
            fd_p_host_eliminate(h, axis, FD_P_ROW_FIRST, lines, m, of);
    }
}

/* Eliminate the lines of a group along an axis: FD_P_HOST_LANES, a literal so that the compiler vectorises. Except
   along x, the last group may have fewer. */
FD_P_FLAT void fd_p_host_forward_x(const fd_p_host *h, const fd_p_host_lines *of)
{
    fd_p_host_forward(h, 0, FD_P_HOST_LANES, of);
}
FD_P_FLAT void fd_p_host_forward_last(const fd_p_host *h, const fd_p_host_lines *of)
{
    if (of->count == FD_P_HOST_LANES)
        fd_p_host_forward(h, FD_FACTORS - 1, FD_P_HOST_LANES, of);
    else
        fd_p_host_forward(h, FD_FACTORS - 1, of->count, of);
}
#if FD_FACTORS > 2
FD_P_FLAT void fd_p_host_forward_middle(const fd_p_host *h, const fd_p_host_lines *of)
{
    if (of->count == FD_P_HOST_LANES)
        fd_p_host_forward(h, 1, FD_P_HOST_LANES, of);
    else
        fd_p_host_forward(h, 1, of->count, of);
}
#endif

/* Substitutes back one row in the tile, left -= upper * after, and stores left or, if `sum`, w + left in `to`. */
FD_P_INLINE void fd_p_host_substitute(int lines, int sum, const tb_real *FD_P_RESTRICT_ROW upper,
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

/* Transposes the first 8 x 8 of rows x columns numbers, in registers if there are so many and there are shuffles. Where
   l and v differ in a round's bit, it exchanges lane l of vector v with lane l ^ bit of vector v ^ bit. */
FD_P_INLINE void fd_p_host_transpose_eight(int rows, int columns, const tb_real *FD_P_RESTRICT from, size_t from_row,
                                           tb_real *FD_P_RESTRICT to, size_t to_row)
{
#if FD_P_SHUFFLES
    if (rows >= 8 && columns >= 8) {
        typedef tb_real fd_p_eight __attribute__((vector_size(8 * sizeof(tb_real))));
        fd_p_eight v[8], w[8];
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

/* Transposes: out[c * out_row + r] = in[r * in_row + c]. Goes down strips of columns one cache line wide, by
   squares of 8 x 8, so that a line is still in the cache when the next square needs it. */
FD_P_FLAT void fd_p_host_transpose(int rows, int columns, const tb_real *FD_P_RESTRICT in, size_t in_row,
                                   tb_real *FD_P_RESTRICT out, size_t out_row)
{
    const int line = 64 / (int)sizeof(tb_real);
    for (int column = 0; column < columns; column += line)
        for (int r = 0; r < rows; r += 8)
            for (int c = column; c < column + line && c < columns; c += 8)
                fd_p_host_transpose_eight(rows - r, columns - c, in + (size_t)r * in_row + (size_t)c, in_row,
                                          out + (size_t)c * out_row + (size_t)r, out_row);
}

/* Substitutes back lines along x, in the tile. */
FD_P_FLAT void fd_p_host_back_x(const fd_p_host *h)
{
    for (int i = h->n[0] - 2; i >= 0; i--) {
        const tb_real *FD_P_RESTRICT upper = h->upper + (size_t)i * FD_P_HOST_LANES;
        tb_real *FD_P_RESTRICT left = h->tile + (size_t)i * FD_P_HOST_LANES;
        for (int b = 0; b < FD_P_HOST_LANES; b++) left[b] -= upper[b] * left[b + FD_P_HOST_LANES];
    }
}

/* Computes the right-hand sides of rows j .. j + lines - 1 of plane k, and solves them along x, into d. */
TB_HOST void fd_p_host_x(const fd_p_host *h, int s, int lines, int j, int k, const fd_p_step *step)
{
    const int n = h->n[0];
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)j * pitch;
    const tb_real *w = (s && step->data.about ? h->z : h->u) + at;
    for (int b = 0; b < lines; b += FD_P_ROWS) {
        const int rows = lines - b < FD_P_ROWS ? lines - b : FD_P_ROWS;
        for (int r = 0; r < rows; r++) {
            fd_p_host_fetch_to_write(n, h->d + at + (size_t)(b + r) * pitch);
            fd_p_host_right(h, s, b + r == 0, j + b + r, k, step, h->rows + (size_t)r * h->wide);
        }
        fd_p_host_transpose(rows, n, h->rows, h->wide, h->transposed + b, FD_P_HOST_LANES);
    }
    const fd_p_host_lines of = {step, lines, 0, j, k, h->transposed, w, FD_P_HOST_LANES, 1, pitch};
    fd_p_host_forward_x(h, &of);
    fd_p_host_back_x(h);
    fd_p_host_transpose(n, lines, h->tile, FD_P_HOST_LANES, h->d + at, pitch);
    /* The part of the right-hand side along y that a step with changing coefficients adds. */
    for (int b = 0; b < lines && step->changes && !(s && step->data.about); b++)
        fd_p_host_change(h, 1, j + b, k, step, h->d + at + (size_t)b * pitch);
}

/* Returns 1 if the first lane, column i, lies on a face of x whose value is given, plus 2 if the last lane does. */
TB_HOST int fd_p_host_fixed(const fd_p_host *h, int lines, int i)
{
    return (i == 0 && fd_p_at_given(h->t.problem->face, h->n, 0, 0)) +
           2 * (i + lines == h->n[0] && fd_p_at_given(h->t.problem->face, h->n, 0, h->n[0] - 1));
}

/* Applies early exercise to the values of a row from point (i, j, k) on. */
TB_HOST void fd_p_host_exercise(const fd_p_host *h, const fd_p_step *step, int lines, int i, int j, int k,
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

/* Substitutes back lines along y or z. Stores the solution or, along the last axis, w plus the solution, to which it
   applies early exercise if the stage `ends` the step. In lanes on a face whose value is given, the right-hand side is
   the solution. */
FD_P_INLINE void fd_p_host_back(const fd_p_host *h, int axis, int lines, int fixed, int ends, const fd_p_host_lines *of,
                                tb_real *to_of)
{
    const int n = h->n[axis], sum = axis == FD_FACTORS - 1;
    const int exercised = sum && ends && h->t.problem->exercise != FD_EUROPEAN;
    for (int m = n - 1; m >= 0; m--) {
        const size_t row = (size_t)m * of->from_row, next = (size_t)(m > 6 ? m - 6 : 0) * of->from_row;
        const tb_real *from = of->from + row, *w = of->w + (size_t)m * of->w_row;
        tb_real *to = to_of + row, *left = h->tile + (size_t)m * FD_P_HOST_LANES;
        const tb_real first = from[0] + (sum ? w[0] : 0), last = from[lines - 1] + (sum ? w[lines - 1] : 0);
        if (axis == 2) fd_p_host_fetch(lines, of->w + next);
        if (axis == 2 && to_of != of->w) fd_p_host_fetch(lines, to_of + next);
        if (m == n - 1) /* its upper is 0 */
            fd_p_host_substitute(lines, sum, h->upper + (size_t)m * FD_P_HOST_LANES, h->zeros, left, w, to);
        else
            fd_p_host_substitute(lines, sum, h->upper + (size_t)m * FD_P_HOST_LANES, left + FD_P_HOST_LANES, left, w,
                                 to);
        if (fixed & 1) to[0] = first;
        if (fixed & 2) to[lines - 1] = last;
        if (exercised) fd_p_host_exercise(h, of->step, lines, of->i, axis == 1 ? m : of->j, axis == 2 ? m : 0, to);
    }
}

/* Substitute back the lines of a group along an axis: FD_P_HOST_LANES or fewer. */
#ifdef __clang__ /* which warns if a sanitizer keeps it from vectorising */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
FD_P_FLAT void fd_p_host_back_last(const fd_p_host *h, int fixed, int ends, const fd_p_host_lines *of, tb_real *to)
{
    if (of->count == FD_P_HOST_LANES)
        fd_p_host_back(h, FD_FACTORS - 1, FD_P_HOST_LANES, fixed, ends, of, to);
    else
        fd_p_host_back(h, FD_FACTORS - 1, of->count, fixed, ends, of, to);
}
#if FD_FACTORS > 2
FD_P_FLAT void fd_p_host_back_middle(const fd_p_host *h, int fixed, const fd_p_host_lines *of, tb_real *to)
{
    if (of->count == FD_P_HOST_LANES)
        fd_p_host_back(h, 1, FD_P_HOST_LANES, fixed, 0, of, to);
    else
        fd_p_host_back(h, 1, of->count, fixed, 0, of, to);
}
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#if FD_FACTORS > 2

/* Solves `lines` columns of plane k, from column i on, along y, in place in d. */
TB_HOST void fd_p_host_middle(const fd_p_host *h, int s, int lines, int i, int k, const fd_p_step *step)
{
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)i;
    const tb_real *w = (s && step->data.about ? h->z : h->u) + at;
    const fd_p_host_lines of = {step, lines, i, 0, k, h->d + at, w, pitch, pitch, 1};
    fd_p_host_forward_middle(h, &of);
    fd_p_host_back_middle(h, fd_p_host_fixed(h, lines, i), &of, h->d + at);
}

#endif

/* Solves `lines` columns, from column i on, along the last axis, with the right-hand sides in d, and ends the stage.
   With three factors the columns are those of row j of every plane. */
TB_HOST void fd_p_host_columns(const fd_p_host *h, int s, int lines, int i, int j, const fd_p_step *step)
{
    const int ends = s == step->data.stages - 1, fixed = fd_p_host_fixed(h, lines, i);
    const size_t stride = FD_FACTORS > 2 ? h->plane : h->pitch, at = (size_t)j * h->pitch + (size_t)i;
    const tb_real *w = (s && step->data.about ? h->z : h->u) + at;
    tb_real *to = (ends ? h->u : h->z) + at;
    const fd_p_host_lines of = {step, lines, i, j, 0, h->d + at, w, stride, stride, 1};
    const int given = FD_FACTORS > 2 && fd_p_at_given(h->t.problem->face, h->n, 1, j), rows = given ? h->n[2] : 0;
    if (!given) {
        fd_p_host_forward_last(h, &of);
        fd_p_host_back_last(h, fixed, ends, &of, to);
    }
    for (int k = 0; k < rows; k++) { /* a line along a face whose values are given */
        const size_t row = (size_t)k * stride;
        for (int b = 0; b < lines; b++) to[row + (size_t)b] = w[row + (size_t)b] + of.from[row + (size_t)b];
        if (ends && h->t.problem->exercise != FD_EUROPEAN) fd_p_host_exercise(h, step, lines, i, j, k, to + row);
    }
}

/* Return how many groups `count` lines make, and how many lines a group holds. The lines of a group are solved
   together. */
TB_HOST int fd_p_host_groups(int count)
{
    return (count + FD_P_HOST_LANES - 1) / FD_P_HOST_LANES;
}
TB_HOST int fd_p_host_group(int count, int group)
{
    const int rest = count - group * FD_P_HOST_LANES;
    return rest < FD_P_HOST_LANES ? rest : FD_P_HOST_LANES;
}

/* Does a worker's part of stage s before the last axis: its planes or, with two factors, its groups of rows. */
TB_HOST void fd_p_host_begin_stage(const fd_p_host *h, int s, const fd_p_step *step)
{
    const int *n = h->n, w = h->worker, groups = fd_p_host_groups(n[1]), shared = FD_FACTORS > 2 ? n[2] : groups;
    for (int at = fd_p_host_share(h, shared, w); at < fd_p_host_share(h, shared, w + 1); at++) {
        const int k = FD_FACTORS > 2 ? at : 0, from = FD_FACTORS > 2 ? 0 : at, to = FD_FACTORS > 2 ? groups : at + 1;
        for (int g = from; g < to; g++) fd_p_host_x(h, s, fd_p_host_group(n[1], g), g * FD_P_HOST_LANES, k, step);
#if FD_FACTORS > 2
        for (int g = 0; g < fd_p_host_groups(n[0]); g++)
            fd_p_host_middle(h, s, fd_p_host_group(n[0], g), g * FD_P_HOST_LANES, k, step);
#endif
    }
}

/* Does a worker's part of stage s along the last axis: its rows of all planes or, with two factors, its groups of
   columns. */
TB_HOST void fd_p_host_end_stage(const fd_p_host *h, int s, const fd_p_step *step)
{
    const int *n = h->n, w = h->worker, groups = fd_p_host_groups(n[0]), shared = FD_FACTORS > 2 ? n[1] : groups;
    const int changes = FD_FACTORS > 2 && step->changes && !(s && step->data.about);
    for (int at = fd_p_host_share(h, shared, w); at < fd_p_host_share(h, shared, w + 1); at++) {
        const int j = FD_FACTORS > 2 ? at : 0, from = FD_FACTORS > 2 ? 0 : at, to = FD_FACTORS > 2 ? groups : at + 1;
        for (int k = 0; k < n[2] && changes && !fd_p_at_given(h->t.problem->face, h->n, 1, j); k++)
            fd_p_host_change(h, 2, j, k, step, h->d + (size_t)k * h->plane + (size_t)j * h->pitch);
        for (int g = from; g < to; g++) fd_p_host_columns(h, s, fd_p_host_group(n[0], g), g * FD_P_HOST_LANES, j, step);
    }
}

/* Does a worker's part of a step. */
TB_HOST void fd_p_host_step(const fd_p_host *h, const fd_p_step *step)
{
    for (int s = 0; s < step->data.stages; s++) {
        fd_p_host_begin_stage(h, s, step);
        fd_p_host_meet(h);
        fd_p_host_end_stage(h, s, step);
        fd_p_host_meet(h);
    }
}
