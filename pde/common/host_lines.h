/* host_lines.h - a room of adi2d.h and adi3d.h, read once for each model and precision: on the host, the solves along
   lines, and a time step.
   MIT licence, see LICENSE. */

#define fd_p_host_eliminate FD_OF(p_host_eliminate)
#define fd_p_host_lines FD_OF(p_host_lines)
#define fd_p_host_given FD_OF(p_host_given)
#define fd_p_host_down FD_OF(p_host_down)
#define fd_p_host_forward FD_OF(p_host_forward)
#define fd_p_host_up FD_OF(p_host_up)
#define fd_p_host_transpose_eight FD_OF(p_host_transpose_eight)
#define fd_p_host_transpose FD_OF(p_host_transpose)
#define fd_p_host_x FD_OF(p_host_x)
#define fd_p_host_about FD_OF(p_host_about)
#define fd_p_host_columns FD_OF(p_host_columns)
#define fd_p_host_fixed FD_OF(p_host_fixed)
#define fd_p_host_exercise FD_OF(p_host_exercise)
#define fd_p_host_back FD_OF(p_host_back)
#define fd_p_host_groups FD_OF(p_host_groups)
#define fd_p_host_group FD_OF(p_host_group)
#define fd_p_host_step FD_OF(p_host_step)

/* Interleaved lines along an axis, `count` of them from point (i, j, k) on. The right-hand sides `from` and the results
   `to` have rows `row` elements apart; the values w have rows w_row apart and lines w_line apart. The solution is the
   change from w, except in a product of factors, where w is the right-hand side. Along the last axis and in products
   the result is `times` * solution + `plus` * w, and w_line is 1; elsewhere the result is the solution. */
typedef struct {
    const fd_p_step *step;
    int count, i, j, k;
    int ends; /* whether the results end a step that is not a product */
    const tb_real *from, *w;
    tb_real *to;
    size_t row, w_row, w_line;
    tb_real times, plus;
} fd_p_host_lines;

/* Eliminates row m of interleaved lines along an axis by the Thomas algorithm; `kind` is the kind of the row
   (FD_P_ROW_INNER ..). */
FD_P_INLINE void fd_p_host_eliminate(const fd_p_host *h, int axis, int kind, int lines, int m,
                                     const fd_p_host_lines *of)
{
    const int vary = axis == 0 ? 1 : 0, first = kind & FD_P_ROW_FIRST, third = kind & FD_P_ROW_THIRD;
    const int lags = kind != FD_P_ROW_INNER && !(kind & FD_P_ROW_WHOLE);
    const int next = third ? m + (first ? 1 : -1) : m; /* the face's neighbour */
    const size_t at = (size_t)m * FD_P_HOST_LANES;
    const fd_cell cell = h->t.cell[axis][m], cell_beside = h->t.cell[axis][next];
    const tb_real size = of->step->data.size, far_of = h->t.far_of[axis][!first];
    const tb_real *right = of->from + (size_t)m * of->row, *near_by = of->from + (size_t)next * of->row;
    tb_real *left = h->tile + at, *upper = h->upper + at;
    const tb_real *before = left - (first ? 0 : FD_P_HOST_LANES), *upper_before = upper - (first ? 0 : FD_P_HOST_LANES);
    int index[3] = {of->i, of->j, of->k};
    index[axis] = m;
    fd_p_host_model own = fd_p_host_model_of(h, vary, index, of->step->time[1]);
    index[axis] = next;
    fd_p_host_model beside = fd_p_host_model_of(h, vary, index, of->step->time[1]);
    FD_P_APART
    for (int b = 0; b < lines; b++) {
        tb_real below, middle, above, value = right[b];
        const fd_terms terms = fd_p_host_terms(&own, vary, b);
        fd_p_matrix(axis, lags, cell, terms, size, &below, &middle, &above);
        if (third) {
            tb_real other[3];
            fd_p_matrix(axis, 0, cell_beside, fd_p_host_terms(&beside, vary, b), size, &other[0], &other[1], &other[2]);
            value -=
                near_by[b] * fd_lane_face_three(size * terms.drift[axis] * far_of, &middle, first ? &above : &below,
                                                other[first ? 0 : 2], other[1], other[first ? 2 : 0]);
        }
        const tb_real pivot = 1 / (first ? middle : middle - below * upper_before[b]);
        upper[b] = above * pivot, left[b] = (first ? value : value - below * before[b]) * pivot;
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
FD_P_INLINE void fd_p_host_down(const fd_p_host *h, int axis, int lines, const fd_p_host_lines *of)
{
    const int n = h->n[axis];
    for (int m = 0; m < n; m++) {
        const int side = m > 0, at_face = m == 0 || m == n - 1, kind = h->t.problem->face[axis][side];
        if (FD_FACTORS > 2 && axis == 2)
            fd_p_host_fetch(lines, of->from + (size_t)(m + 6 < n ? m + 6 : n - 1) * of->row);
        if (!at_face)
            fd_p_host_eliminate(h, axis, FD_P_ROW_INNER, lines, m, of);
        else if (kind == FD_VALUE)
            fd_p_host_given(h, axis, side, lines, of);
#if FD_FACTORS == 2
        else if (of->step->product && side)
            fd_p_host_eliminate(h, axis, FD_P_ROW_LAST + FD_P_ROW_WHOLE, lines, m, of);
        else if (of->step->product)
            fd_p_host_eliminate(h, axis, FD_P_ROW_FIRST + FD_P_ROW_WHOLE, lines, m, of);
#endif
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

#ifdef __clang__ /* which warns about loops after FD_P_APART that it does not vectorise: at faces, under sanitizers */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* Eliminates the rows of a group of lines along an axis. A group has FD_P_HOST_LANES lines, a literal number, so
   that the compiler vectorises. The last group may have fewer; along x, it is nevertheless computed in full. */
FD_P_FLAT void fd_p_host_forward(const fd_p_host *h, int axis, const fd_p_host_lines *of)
{
    const int full = of->count == FD_P_HOST_LANES;
    if (axis == 0) fd_p_host_down(h, 0, FD_P_HOST_LANES, of);
    if (axis == FD_FACTORS - 1 && full) fd_p_host_down(h, FD_FACTORS - 1, FD_P_HOST_LANES, of);
    if (axis == FD_FACTORS - 1 && !full) fd_p_host_down(h, FD_FACTORS - 1, of->count, of);
#if FD_FACTORS > 2
    if (axis == 1 && full) fd_p_host_down(h, 1, FD_P_HOST_LANES, of);
    if (axis == 1 && !full) fd_p_host_down(h, 1, of->count, of);
#endif
}

/* Transposes the first 8 x 8 of `rows` x `columns` numbers, or as many as there are. A full 8 x 8 is transposed in
   registers, if the compiler has shuffles: in three rounds, with bit = 1, 2 and 4. A round exchanges lane l of vector v
   with lane l ^ bit of vector v ^ bit, if the bit is set in just one of l and v. */
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

/* Transposes: out[c * out_row + r] = in[r * in_row + c]. Goes down strips of columns, each as wide as a cache
   line, in squares of 8 x 8, so that the next square that needs a cache line still finds it in the cache. */
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

/* Returns a sum: 1 if the first lane, column i, lies on a face of x whose value is given; 2 if the last lane does. */
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

/* Does the back substitution of `lines` lines along an axis, and stores the results. If `sums` is set, the results
   include w, and the solutions of a row, which the next one needs, are kept in an array. Applies early exercise to
   results that end the step. In lanes on a face of x whose value is given, the right-hand side is the solution. */
FD_P_INLINE void fd_p_host_up(const fd_p_host *h, int axis, int lines, int sums, const fd_p_host_lines *of)
{
    const int n = h->n[axis], fixed = axis > 0 ? fd_p_host_fixed(h, lines, of->i) : 0;
    const int exercised = of->ends && h->t.problem->exercise != FD_EUROPEAN;
    const tb_real times = of->times, plus = of->plus;
    const int keeps = sums || FD_FACTORS == 2; /* with two factors compilers hold `kept` in registers */
    tb_real kept[FD_P_HOST_LANES] = {0};
    for (int m = n - 1; m >= 0; m--) {
        const size_t row = (size_t)m * of->row, next = (size_t)(m > 6 ? m - 6 : 0) * of->row;
        const tb_real *from = of->from + row, *w = of->w + (size_t)m * of->w_row;
        const tb_real *left = h->tile + (size_t)m * FD_P_HOST_LANES, *upper = h->upper + (size_t)m * FD_P_HOST_LANES;
        const tb_real first = from[0] + (sums ? w[0] : 0), last = from[lines - 1] + (sums ? w[lines - 1] : 0);
        tb_real *to = of->to + row;
        const tb_real *after = m == n - 1 ? kept : to + of->row;
        if (axis == 2) fd_p_host_fetch(lines, of->w + next);
        if (axis == 2 && of->to != of->w) fd_p_host_fetch(lines, of->to + next);
        FD_P_APART
        for (int b = 0; b < lines; b++) {
            const tb_real solution = left[b] - upper[b] * (keeps ? kept[b] : after[b]);
            if (keeps) kept[b] = solution;
            to[b] = sums ? times * solution + plus * w[b] : solution;
        }
        if (fixed & 1) to[0] = first;
        if (fixed & 2) to[lines - 1] = last;
        if (exercised) fd_p_host_exercise(h, of->step, lines, of->i, axis == 1 ? m : of->j, axis == 2 ? m : 0, to);
    }
}

/* Does the back substitution of a group of lines along an axis. */
FD_P_FLAT void fd_p_host_back(const fd_p_host *h, int axis, const fd_p_host_lines *of)
{
    const int full = of->count == FD_P_HOST_LANES;
    if (axis == FD_FACTORS - 1 && full) fd_p_host_up(h, FD_FACTORS - 1, FD_P_HOST_LANES, 1, of);
    if (axis == FD_FACTORS - 1 && !full) fd_p_host_up(h, FD_FACTORS - 1, of->count, 1, of);
#if FD_FACTORS > 2
    if (axis == 0) fd_p_host_up(h, 0, FD_P_HOST_LANES, 0, of);
    if (axis == 1 && full) fd_p_host_up(h, 1, FD_P_HOST_LANES, 0, of);
    if (axis == 1 && !full) fd_p_host_up(h, 1, of->count, 0, of);
#else
    if (axis == 0 && of->step->product) fd_p_host_up(h, 0, FD_P_HOST_LANES, 1, of);
    if (axis == 0 && !of->step->product) fd_p_host_up(h, 0, FD_P_HOST_LANES, 0, of);
#endif
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

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

/* Returns the grid from whose values stage s computes the change. */
TB_HOST const tb_real *fd_p_host_about(const fd_p_host *h, int s, const fd_p_step *step)
{
    return s && step->data.about ? h->z : h->u;
}

/* Computes the right-hand sides of a group of rows of plane k, and solves them along x, into d. */
TB_HOST void fd_p_host_x(const fd_p_host *h, int s, int group, int k, const fd_p_step *step)
{
    const int n = h->n[0], lines = fd_p_host_group(h->n[1], group), j = group * FD_P_HOST_LANES;
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)j * pitch;
    for (int b = 0; b < lines; b += FD_P_ROWS) {
        const int rows = lines - b < FD_P_ROWS ? lines - b : FD_P_ROWS;
        for (int r = 0; r < rows; r++) {
            const fd_p_host_at row = {step, s, j + b + r, k};
            fd_p_host_fetch_to_write(n, h->d + at + (size_t)(b + r) * pitch);
            fd_p_host_right(h, &row, b + r == 0, h->rows + (size_t)r * h->wide);
        }
        fd_p_host_transpose(rows, n, h->rows, h->wide, h->transposed + b, FD_P_HOST_LANES);
    }
    const tb_real *w = fd_p_host_about(h, s, step) + at;
    const fd_p_host_lines of = {step, lines, 0, j, k, 0, h->transposed, w, h->tile, FD_P_HOST_LANES, 1, pitch, 1, 0};
    fd_p_host_forward(h, 0, &of);
    fd_p_host_back(h, 0, &of);
    fd_p_host_transpose(n, lines, h->tile, FD_P_HOST_LANES, h->d + at, pitch);
    /* The part of the right-hand side along y that a step with step->changes adds. */
    for (int b = 0; b < lines; b++) {
        const fd_p_host_at row = {step, s, j + b, k};
        fd_p_host_change(h, 1, &row, h->d + at + (size_t)b * pitch);
    }
}

/* Solves a group of columns along y, in plane `beside`, or along z, in row `beside` of every plane. The solve along
   the last axis ends the stage; one along an earlier axis leaves its solution in d, in place of the right-hand side. */
TB_HOST void fd_p_host_columns(const fd_p_host *h, int axis, int s, int group, int beside, const fd_p_step *step)
{
    const int lines = fd_p_host_group(h->n[0], group), i = group * FD_P_HOST_LANES;
    const int j = axis == 2 ? beside : 0, k = axis == 1 ? beside : 0;
    const int last = axis == FD_FACTORS - 1, ends = last && s == step->data.stages - 1;
    const size_t stride = axis == 2 ? h->plane : h->pitch, at = (size_t)k * h->plane + (size_t)j * h->pitch + (size_t)i;
    tb_real *to = (!last ? h->d : ends ? h->u : h->z) + at;
    const tb_real *w = fd_p_host_about(h, s, step) + at;
    const fd_p_host_lines of = {step, lines, i, j, k, ends, h->d + at, w, to, stride, stride, 1, 1, 1};
    if (axis < 2 || !fd_p_at_given(h->t.problem->face, h->n, 1, j)) {
        fd_p_host_forward(h, axis, &of);
        fd_p_host_back(h, axis, &of);
        return;
    }
    for (int m = 0; m < h->n[2]; m++) { /* lines on a face of y whose value is given */
        const size_t row = (size_t)m * stride;
        for (int b = 0; b < lines; b++) to[row + (size_t)b] = w[row + (size_t)b] + of.from[row + (size_t)b];
        if (ends && h->t.problem->exercise != FD_EUROPEAN) fd_p_host_exercise(h, step, lines, i, j, m, to + row);
    }
}

/* Does a worker's part of a step that is not a product. Each stage is two sweeps. In the first the worker takes its
   planes or, with two factors, its groups of rows. In the second, along the last axis, it takes its rows of all planes
   or, with two factors, its groups of columns. */
TB_HOST void fd_p_host_step(const fd_p_host *h, const fd_p_step *step)
{
    const int *n = h->n, w = h->worker, rows = fd_p_host_groups(n[1]), columns = fd_p_host_groups(n[0]);
    const int first = FD_FACTORS > 2 ? n[2] : rows, last = FD_FACTORS > 2 ? n[1] : columns; /* shared out per sweep */
    for (int s = 0; s < step->data.stages; s++) {
        for (int at = fd_p_host_share(h, first, w); at < fd_p_host_share(h, first, w + 1); at++) {
            if (FD_FACTORS == 2) fd_p_host_x(h, s, at, 0, step);
            for (int g = 0; g < rows && FD_FACTORS > 2; g++) fd_p_host_x(h, s, g, at, step);
            for (int g = 0; g < columns && FD_FACTORS > 2; g++) fd_p_host_columns(h, 1, s, g, at, step);
        }
        fd_p_host_meet(h);
        for (int at = fd_p_host_share(h, last, w); at < fd_p_host_share(h, last, w + 1); at++) {
            if (FD_FACTORS == 2) fd_p_host_columns(h, 1, s, at, 0, step);
#if FD_FACTORS > 2
            for (int k = 0; k < n[2] && !fd_p_at_given(h->t.problem->face, h->n, 1, at); k++) {
                const fd_p_host_at row = {step, s, at, k};
                fd_p_host_change(h, 2, &row, h->d + (size_t)k * h->plane + (size_t)at * h->pitch);
            }
            for (int g = 0; g < columns; g++) fd_p_host_columns(h, 2, s, g, at, step);
#endif
        }
        fd_p_host_meet(h);
    }
}
