/* rungs.h - a room of adi2d.h, read once for each model and precision: the ladder's lower rungs, with grids in
   device memory and a thread per line.
   MIT licence, see LICENSE. */

#define adi2d_rung_bytes FD_OF(rung_bytes)
#define adi2d_naive FD_OF(naive)
#define adi2d_coalesced FD_OF(coalesced)

/* A problem's arrays. In each pair, the first is contiguous along x, with point (i, j) at i + n[0] j, and the second
   along y, at j + n[1] i. Threads whose lines lie along one axis have coalesced accesses to the array that is
   contiguous along the other. */
typedef struct {
    fd_p_tables t;
    unsigned long long *lost; /* the first step with a value that is not finite, times 2^32, plus the first such point
                                 in it */
    tb_real *u[2], *z[2], *multiplier[2]; /* values, those of a first stage, exercise multiplier */
    tb_real *e, *upper, *right;           /* e: the differences left by solves along x. Forward elimination leaves its
                                             results in `upper` and `right`, along y in `upper` and e */
} adi2d_p_rung_arrays;

/* The arguments of a launch: the arrays of problem 0; those of the other problems follow at distances of as.bytes. If
   each thread laid out its problem instead, a kernel would need more registers and take 1.05 to 1.1 times as long. */
typedef struct {
    fd_p_launch as;
    adi2d_p_rung_arrays arrays;
    int blocks; /* per problem */
} adi2d_p_rung;

/* Assigns memory to a problem's tables and arrays; if `memory` is null, only counts. Returns the bytes used. */
TB_HD size_t adi2d_p_rung_lay_out(const fd_batch *batch, unsigned char *memory, adi2d_p_rung_arrays *arrays)
{
    adi2d_p_rung_arrays a;
    fd_p_ready ready;
    size_t used = fd_p_ready_lay_out(batch, memory, &ready), grid = (size_t)fd_p_count(batch->points) * sizeof(tb_real);
    tb_real **const grids[] = {&a.u[0], &a.u[1], &a.z[0], &a.z[1], &a.multiplier[1], &a.e, &a.upper, &a.right};
    a.t = ready.t, a.multiplier[0] = ready.extra;
    a.lost = (unsigned long long *)fd_p_next(memory, &used, sizeof *a.lost);
    for (tb_real **to : grids) {
        *to = (tb_real *)fd_p_next(memory, &used, grid);
    }
    if (arrays) *arrays = a;
    return used;
}

/* Moves a pointer by a number of bytes. */
template <class tb_type>
TB_D void adi2d_p_rung_advance(tb_type *&pointer, size_t offset)
{
    pointer = (tb_type *)((unsigned char *)pointer + offset);
}

/* Returns the arrays of problem `which`. */
TB_D adi2d_p_rung_arrays adi2d_p_rung_of(const adi2d_p_rung &launch, int which)
{
    adi2d_p_rung_arrays a = launch.arrays;
    const size_t offset = (size_t)which * launch.as.bytes;
    auto advance = [&](auto *&...pointer) { (adi2d_p_rung_advance(pointer, offset), ...); };
    a.t.problem = &launch.as.batch.problem[which], a.t.parameters = &launch.as.parameters[which];
    advance(a.t.found, a.t.interval, a.t.time, a.t.final, a.t.around, a.t.step, a.lost, a.e, a.upper, a.right);
    for (int d = 0; d < 2; d++)
        advance(a.t.x[d], a.t.cell[d], a.t.far_of[d], a.t.number[d], a.u[d], a.z[d], a.multiplier[d]);
    return a;
}

/* The data of a line's thread. Numbers that all rows of the line share are in registers: if they were in memory, the
   compiler would load them again after each store. */
typedef struct {
    adi2d_p_rung_arrays a;
    fd_step_data data;      /* the step's */
    double when[2];         /* the times of its start and its end */
    const tb_real *time[2]; /* the numbers of these times */
    fd_numbers now[2], own; /* copies of these, and the line's numbers on the other axis */
    int n[2], changes;      /* changes: whether F at the step's end may differ from F at its start */
} adi2d_p_rung_line;

/* Returns the data of a line's thread in a step of problem `which`, except for the line's numbers. */
TB_D adi2d_p_rung_line adi2d_p_rung_line_of(const adi2d_p_rung &launch, int which, int step)
{
    adi2d_p_rung_line l;
    l.a = adi2d_p_rung_of(launch, which);
    l.n[0] = l.a.t.found->points[0], l.n[1] = l.a.t.found->points[1];
    for (int end = 0; end < 2; end++) {
        l.time[end] = fd_p_time_of(&l.a.t, step, end);
        TB_UNROLL
        for (int q = 0; q < fd_p_numbers(3); q++) l.now[end].number[q] = l.time[end][q];
    }
    const fd_p_step *made = &l.a.t.step[step];
    l.data = made->data, l.when[0] = made->from, l.when[1] = made->to;
    l.changes = !l.data.time_independent; /* made->changes is equal, but takes more registers and a tenth more time */
    for (int f = 0; f < 4; f++) l.changes |= l.a.t.problem->face[f / 2][f % 2] == FD_SLOPE;
    return l;
}

/* Returns whether the problem was not refused, has this step and, if `second` is set, a second stage in it. */
TB_D int adi2d_p_rung_due(const adi2d_p_rung_arrays &a, int step, int second)
{
    return !a.t.found->status.what && step < a.t.found->steps && second < a.t.step[step].data.stages;
}

/* Returns the terms at point k of a line along an axis, at the step's start (end 0) or end (1). */
TB_D fd_terms adi2d_p_rung_terms(const adi2d_p_rung_line &l, int axis, int end, int k)
{
    fd_numbers own[2];
    own[1 - axis] = l.own;
    fd_p_take(&l.a.t, axis, k, &own[axis]);
    return fd_p_terms(l.a.t.parameters, own, l.now[end].number);
}

/* Returns point (i, j) of a face, at the step's start (end 0) or end (1). */
TB_D fd_p_edge adi2d_p_rung_edge(const adi2d_p_rung_line &l, int axis, int side, int end, int i, int j)
{
    return {axis, side, l.a.t.problem->face[axis][side], {i, j, 0}, l.time[end], l.when[end]};
}

/* Adds the faces' terms to F_1 and F_2 of v at (i, j), for the axes from first_axis on. along[d] is the distance from a
   point to the next along axis d. */
TB_D void adi2d_p_rung_faces(const adi2d_p_rung_line &l, int first_axis, int end, int i, int j, const tb_real *v,
                             const int *along, tb_real *f)
{
    const tb_real *here = v + i * along[0] + j * along[1];
    for (int axis = first_axis; axis < 2; axis++) {
        const int at = axis ? j : i, last = at == l.n[axis] - 1, in = last ? -along[axis] : along[axis];
        if (at > 0 && !last) continue;
        const fd_p_edge edge = adi2d_p_rung_edge(l, axis, last, end, i, j);
        if (!fd_p_adds(edge.kind)) continue;
        f[1 + axis] += fd_p_edge_adds(&l.a.t, &edge, fd_p_edge_given(&l.a.t, &edge), here[in], here[2 * in]);
    }
}

/* Computes F_0, F_1 and F_2 at a point from the nine values at and around it, without the faces' terms. */
TB_D void adi2d_p_rung_apply(fd_cell x, fd_cell y, const fd_terms &terms, const tb_real *nine, tb_real *f)
{
    f[0] = FD_MODEL_MIXED ? terms.mixed[0] * fd_lane_mixed(x, y, nine) : 0;
    f[1] = fd_p_along_axis(0, x, terms, nine[3], nine[4], nine[5]);
    f[2] = fd_p_along_axis(1, y, terms, nine[1], nine[4], nine[7]);
}

/* A row of a line: matrix, right-hand side, and the third point's coefficient at an FD_DEGENERATE face. */
typedef struct {
    tb_real a, b, c, d, third;
} adi2d_p_rung_row;

/* Computes the matrix row along an axis at a point, from terms at the step's end; may_be, a literal, says whether the
   row may be a boundary row. At an FD_VALUE face, also computes the right-hand side: the given value less `before`. */
TB_D void adi2d_p_rung_matrix(const adi2d_p_rung_line &l, int axis, int may_be, fd_cell cell, const fd_terms &terms,
                              const int *index, tb_real before, adi2d_p_rung_row *row)
{
    const int at = index[axis], last = at == l.n[axis] - 1, at_face = may_be && (at == 0 || last);
    fd_p_matrix(axis, at_face, cell, terms, l.data.size, &row->a, &row->b, &row->c);
    row->third = 0;
    if (!at_face) return;
    const int kind = l.a.t.problem->face[axis][last];
    if (kind == FD_VALUE) {
        row->a = row->c = 0, row->b = 1;
        const fd_p_edge edge = adi2d_p_rung_edge(l, axis, last, 1, index[0], index[1]);
        row->d = fd_p_edge_given(&l.a.t, &edge) - before;
    }
    if (kind == FD_DEGENERATE) row->third = l.data.size * terms.drift[axis] * l.a.t.far_of[axis][last];
}

/* The system of a line: n rows, whose elements are `stride` apart in `upper` and `right`. In a plain line, rows
   2 .. n - 2 can be computed several at a time. A thread whose line is not valid only joins in its warp's common work.
   `keep` is null in single precision, and may be null in double precision. If it is not, elimination stores its
   couplings in `keep`, keep_stride apart; substitution reads couplings from `upper`, upper_stride apart, where another
   lane may have stored them (adi2d_p_rung_share). */
typedef struct {
    int n, valid, plain, stride;
    tb_real *upper, *right, *keep;
    int keep_stride, upper_stride;
} adi2d_p_rung_system;

/* Solves along a line by the Thomas algorithm, and overwrites `upper` and `right`; rows may be computed from what
   `right` held. From the first row on, the function calls
     row(k, &row)     for each row k outside the groups: the first two, the last, and those before it that are too few
                      for a group; in a line that is not plain, all rows
     rows(k, row)     for each group of `ahead` rows, k .. k + ahead - 1. This call must write nothing to memory and
                      branch alike for all rows of the group, so that the compiler can interleave them
   Then, from the last row back, it calls
     put(k, solution, again(k))     for each row, in groups of ADI2D_P_RUNG_BACK: again is called for all rows of a
                                    group before put is called for any of them
     flush(k)         for each k that is a multiple of 32, after put for all rows from k on */
template <int ahead, class row_type, class rows_type, class again_type, class put_type, class flush_type>
TB_D void adi2d_p_rung_thomas(const adi2d_p_rung_system &s, row_type row, rows_type rows, again_type again,
                              put_type put, flush_type flush)
{
    const int n = s.n, valid = s.valid, stride = s.stride;
    tb_real *const upper = s.upper, *const right = s.right, c = 0, x = 0;
    tb_real *const keep = s.keep ? s.keep : upper;
    const int keep_stride = s.keep ? s.keep_stride : stride, upper_stride = s.keep ? s.upper_stride : stride;
    adi2d_p_rung_row ready = {0, 1, 0, 0, 0}; /* the previous row, which a face may still change */
    auto eliminate = [&](int k) {
        const tb_real r = trid_rcp(ready.b - ready.a * c);
        right[k * stride] = x = (ready.d - ready.a * x) * r;
        c = ready.c * r;
        if constexpr (TB_BYTES == 8)
            keep[k * keep_stride] = c;
        else
            upper[k * stride] = c;
    };
    for (int from = 0; from <= n && valid;) {
        adi2d_p_rung_row next[ahead];
        if (s.plain && from > 1 && from + ahead < n) {
            rows(from, next);
            TB_UNROLL
            for (int q = 0; q < ahead; q++) {
                eliminate(from + q - 1);
                ready = next[q];
            }
            from += ahead;
            continue;
        }
        next[0] = ready;
        if (from < n) row(from, &next[0]);
        if (from == 1 && (ready.third < 0 || ready.third > 0))
            ready.d -= fd_lane_face_three(ready.third, &ready.b, &ready.c, next[0].a, next[0].b, next[0].c) * next[0].d;
        if (from == n - 1 && (next[0].third < 0 || next[0].third > 0))
            next[0].d -= fd_lane_face_three(next[0].third, &next[0].b, &next[0].a, ready.c, ready.b, ready.a) * ready.d;
        if (from > 0) eliminate(from - 1);
        ready = next[0];
        from++;
    }
    if (TB_BYTES == 8) __syncwarp(); /* one lane may have stored `upper` for all */
    x = 0;
    for (int from = (n - 1) / ADI2D_P_RUNG_BACK * ADI2D_P_RUNG_BACK; from >= 0; from -= ADI2D_P_RUNG_BACK) {
        tb_real over[ADI2D_P_RUNG_BACK], value[ADI2D_P_RUNG_BACK], old[ADI2D_P_RUNG_BACK];
        TB_UNROLL
        for (int q = 0; q < ADI2D_P_RUNG_BACK; q++) {
            const int there = from + q < n ? from + q : 0; /* beyond the last row any number will do */
            over[q] = valid ? upper[there * (TB_BYTES == 8 ? upper_stride : stride)] : 0,
            value[q] = valid ? right[there * stride] : 0;
            old[q] = valid ? again(there) : 0;
        }
        TB_UNROLL
        for (int q = ADI2D_P_RUNG_BACK - 1; q >= 0; q--) {
            if (from + q >= n) continue;
            x = from + q < n - 1 ? value[q] - over[q] * x : value[q];
            put(from + q, x, old[q]);
        }
        if (from % 32 == 0) flush(from);
    }
}

/* Transposes a tile, whose row q holds element `from` + q of the lines from line `first` on. In `to` each line is
   contiguous, with n elements. A warp calls it. */
TB_D void adi2d_p_rung_transpose(const tb_real (*tile)[33], int first, int lines, int from, int n, tb_real *to)
{
    const int lane = (int)threadIdx.x % 32;
    __syncwarp();
    for (int l = 0; l < 32 && first + l < lines; l++)
        if (from + lane < n) to[(size_t)(first + l) * (size_t)n + (size_t)(from + lane)] = tile[lane][l];
    __syncwarp();
}

/* A thread's data for its line along x. */
typedef struct {
    adi2d_p_rung_line l;
    int j, along[2], line, below, above; /* the line's number; distances from point to point along x and y, from an
                                            array's start to the line, and from the line to its neighbours */
    int american, about;
    const tb_real *values[2], *v[2], *multiplier; /* of u and z: all values, and the line's own */
    fd_cell cell_y;
} adi2d_p_rung_x_line;

/* Returns the data of line j's thread. If `across` is set, it uses arrays that are contiguous along y. */
template <int across, int second>
TB_D adi2d_p_rung_x_line adi2d_p_rung_x_line_of(const adi2d_p_rung_line &l, int j)
{
    adi2d_p_rung_x_line x;
    x.l = l, x.j = j;
    x.along[0] = across ? l.n[1] : 1, x.along[1] = across ? 1 : l.n[0], x.line = j * x.along[1];
    x.below = j > 0 ? -x.along[1] : 0, x.above = j < l.n[1] - 1 ? x.along[1] : 0;
    x.american = l.a.t.problem->exercise == FD_AMERICAN, x.about = second && l.data.about;
    x.values[0] = l.a.u[across], x.values[1] = l.a.z[across];
    x.v[0] = l.a.u[across] + x.line, x.v[1] = l.a.z[across] + x.line, x.multiplier = l.a.multiplier[across] + x.line;
    x.cell_y = l.a.t.cell[1][j];
    fd_p_take(&l.a.t, 1, j, &x.l.own);
    return x;
}

/* Loads the column of three values along y at point i of the line, from u (which 0) or z (1). */
TB_D void adi2d_p_rung_column(const adi2d_p_rung_x_line &x, int which, int i, tb_real *to)
{
    const tb_real *here = x.v[which] + i * x.along[0];
    to[0] = here[x.below], to[1] = here[0], to[2] = here[x.above];
}

/* Computes F_0, F_1 and F_2 at point i from three columns of u or z, at the step's start (end 0) or end (1). */
TB_D void adi2d_p_rung_columns(const adi2d_p_rung_x_line &x, int which, int end, int may_be, int i,
                               const fd_terms &terms, const tb_real *columns, tb_real *f)
{
    tb_real nine[9];
    for (int m = 0; m < 9; m++) nine[m] = columns[m % 3 * 3 + m / 3];
    adi2d_p_rung_apply(x.l.a.t.cell[0][i], x.cell_y, terms, nine, f);
    if (may_be) adi2d_p_rung_faces(x.l, 0, end, i, x.j, x.values[which], x.along, f);
}

/* Computes row i from columns of u and z. `changes` (F may change in the step) and may_be (the row may be a boundary
   row) are literals. */
template <int second>
TB_D void adi2d_p_rung_x_make(const adi2d_p_rung_x_line &x, int i, int changes, int may_be, const tb_real *of_u,
                              const tb_real *of_z, adi2d_p_rung_row *row)
{
    const fd_step_data &step = x.l.data;
    const int index[2] = {i, x.j};
    const fd_terms end = adi2d_p_rung_terms(x.l, 0, 1, i);
    tb_real f[3], later[3], before = of_u[4];
    adi2d_p_rung_columns(x, 0, 0, may_be, i, changes ? adi2d_p_rung_terms(x.l, 0, 0, i) : end, of_u, f);
    row->d = step.base[second][0] * f[0] + step.base[second][1] * (f[1] + f[2]);
    if (changes && !x.about) {
        adi2d_p_rung_columns(x, 0, 1, may_be, i, end, of_u, later);
        row->d += step.size * (later[1] - f[1]);
    }
    if (x.american) row->d += step.dt * x.multiplier[i * x.along[0]];
    if (second) {
        adi2d_p_rung_columns(x, 1, 1, may_be, i, end, of_z, f);
        row->d += step.base[second][2] * f[0] + step.base[second][3] * (f[1] + f[2]);
        if (x.about) row->d += before - of_z[4], before = of_z[4];
    }
    adi2d_p_rung_matrix(x.l, 0, may_be, x.l.a.t.cell[0][i], end, index, before, row);
}

/* Computes row i, which may be a boundary row. */
template <int second>
TB_D void adi2d_p_rung_x_row(const adi2d_p_rung_x_line &x, int i, adi2d_p_rung_row *row)
{
    const int n = x.l.n[0];
    tb_real of[2][9];
    for (int m = 0; m < 3 * (1 + second); m++) {
        const int at = i + m % 3 - 1;
        adi2d_p_rung_column(x, m / 3, at < 0 ? 0 : at < n ? at : n - 1, &of[m / 3][m % 3 * 3]);
    }
    adi2d_p_rung_x_make<second>(x, i, 1, 1, of[0], of[1], row);
}

/* Computes `ahead` inner rows from row i on. */
template <int second, int ahead>
TB_D void adi2d_p_rung_x_rows(const adi2d_p_rung_x_line &x, int i, adi2d_p_rung_row *row)
{
    tb_real of[2][3 * (ahead + 2)];
    TB_UNROLL
    for (int m = 0; m < (ahead + 2) * (1 + second); m++)
        adi2d_p_rung_column(x, m / (ahead + 2), i - 1 + m % (ahead + 2), &of[m / (ahead + 2)][m % (ahead + 2) * 3]);
    if (x.l.changes) {
        TB_UNROLL
        for (int q = 0; q < ahead; q++)
            adi2d_p_rung_x_make<second>(x, i + q, 1, 0, &of[0][3 * q], &of[1][3 * q], &row[q]);
    } else {
        TB_UNROLL
        for (int q = 0; q < ahead; q++)
            adi2d_p_rung_x_make<second>(x, i + q, 0, 0, &of[0][3 * q], &of[1][3 * q], &row[q]);
    }
}

/* Computes right-hand sides and solves the systems along x. Thread j of a problem's blocks takes line j. If `across` is
   set, the kernel reads arrays that are contiguous along y, and transposes the differences as it writes them. If
   `crowded` is set, eight blocks fit on a multiprocessor, so threads have fewer registers and compute fewer rows at a
   time. */
template <int across, int second, int crowded>
TRID_KERNEL void __launch_bounds__(ADI2D_P_RUNG_THREADS, crowded ? 8 : 1) adi2d_p_rung_x(adi2d_p_rung launch, int step)
{
    enum { ahead = second ? 16 / TB_BYTES : TB_BYTES == 8 ? (crowded ? 3 : 4) : across ? 4 : 8 };
    __shared__ tb_real tiles[across ? ADI2D_P_RUNG_THREADS / 32 : 1][across ? 32 : 1][33];
    const int which = (int)blockIdx.x / launch.blocks, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (!adi2d_p_rung_due(adi2d_p_rung_of(launch, which), step, second)) return;
    const adi2d_p_rung_line l = adi2d_p_rung_line_of(launch, which, step);
    const int first = ((int)blockIdx.x % launch.blocks) * ADI2D_P_RUNG_THREADS + 32 * warp, j = first + lane;
    if (first >= l.n[1]) return;
    const int n = l.n[0], valid = j < l.n[1];
    const adi2d_p_rung_x_line x = adi2d_p_rung_x_line_of<across, second>(l, valid ? j : 0);
    auto row = [&](int i, adi2d_p_rung_row *to) { adi2d_p_rung_x_row<second>(x, i, to); };
    auto rows = [&](int i, adi2d_p_rung_row *to) { adi2d_p_rung_x_rows<second, ahead>(x, i, to); };
    auto none = [&](int) { return (tb_real)0; };
    auto put = [&](int i, tb_real solution, tb_real) {
        if (across)
            tiles[across ? warp : 0][across ? i % 32 : 0][lane] = solution;
        else if (valid)
            l.a.e[x.line + i] = solution;
    };
    auto flush = [&](int from) {
        if (across) adi2d_p_rung_transpose(tiles[across ? warp : 0], first, l.n[1], from, n, l.a.e);
    };
    /* The rows of a line on a face that adds to F are computed one by one. */
    int plain = 1;
    for (int side = 0; side < 2; side++)
        if (x.j == (side ? l.n[1] - 1 : 0) && fd_p_adds(l.a.t.problem->face[1][side])) plain = 0;
    const adi2d_p_rung_system system = {n,    valid, plain, x.along[0], l.a.upper + x.line, l.a.right + x.line,
                                        NULL, 0,     0};
    adi2d_p_rung_thomas<ahead>(system, row, rows, none, put, flush);
}

/* A thread's data for its line along y. */
typedef struct {
    adi2d_p_rung_line l;
    int i, stride, valid; /* stride: the distance between points */
    int about, last;      /* whether the solution is the difference from z, not u; whether the stage ends a step */
    int given;            /* whether the line lies on a face with given values, which the solve along x has set */
    int exercise;         /* the kind of exercise after the stage */
    const tb_real *u, *w, *e, *final;
    tb_real *to, *multiplier;
} adi2d_p_rung_y_line;

/* Returns the data of line i's thread. */
template <int second>
TB_D adi2d_p_rung_y_line adi2d_p_rung_y_line_of(const adi2d_p_rung_line &l, int i, int valid)
{
    adi2d_p_rung_y_line y;
    y.l = l, y.i = i, y.valid = valid, y.stride = l.n[0];
    y.about = second && l.data.about, y.last = second == l.data.stages - 1;
    y.given = (i == 0 || i == l.n[0] - 1) && l.a.t.problem->face[0][i > 0] == FD_VALUE;
    y.exercise = y.last ? l.a.t.problem->exercise : FD_EUROPEAN;
    y.u = l.a.u[0] + i, y.w = y.about ? l.a.z[0] + i : y.u, y.e = l.a.e + i, y.final = l.a.t.final + i;
    y.to = (y.last ? l.a.u[0] : l.a.z[0]) + i, y.multiplier = l.a.multiplier[0] + i;
    fd_p_take(&l.a.t, 0, i, &y.l.own);
    return y;
}

/* Computes row j. `changes` and may_be are literals, as for adi2d_p_rung_x_make. In double precision row->d of an inner
   row already holds the difference that the solve along x left. */
TB_D void adi2d_p_rung_y_make(const adi2d_p_rung_y_line &y, int j, int changes, int may_be, adi2d_p_rung_row *row)
{
    const int stride = y.stride, n = y.l.n[1], along[2] = {1, stride}, index[2] = {y.i, j};
    const fd_cell cell = y.l.a.t.cell[1][j];
    const fd_terms end = adi2d_p_rung_terms(y.l, 1, 1, j);
    if (may_be || TB_BYTES == 4) row->d = y.e[j * stride];
    if (changes && !y.about) {
        const tb_real here = y.u[j * stride];
        const tb_real below = j > 0 ? y.u[(j - 1) * stride] : here, above = j < n - 1 ? y.u[(j + 1) * stride] : here;
        tb_real f[2][3];
        f[0][2] = fd_p_along_axis(1, cell, adi2d_p_rung_terms(y.l, 1, 0, j), below, here, above);
        f[1][2] = fd_p_along_axis(1, cell, end, below, here, above);
        for (int of = 0; of < 2 && may_be; of++) adi2d_p_rung_faces(y.l, 1, of, y.i, j, y.l.a.u[0], along, f[of]);
        row->d += y.l.data.size * (f[1][2] - f[0][2]);
    }
    adi2d_p_rung_matrix(y.l, 1, may_be, cell, end, index, may_be ? y.w[j * stride] : 0, row);
    if (may_be && y.given) row->a = row->c = row->third = 0, row->b = 1, row->d = y.e[j * stride];
}

/* Computes `ahead` inner rows from row j on. */
template <int ahead, int changes>
TB_D void adi2d_p_rung_y_rows(const adi2d_p_rung_y_line &y, int j, adi2d_p_rung_row *row)
{
    TB_UNROLL
    for (int q = 0; q < ahead; q++) adi2d_p_rung_y_make(y, j + q, changes, 0, &row[q]);
}

/* Ends the stage at point j, with early exercise, and returns the value there. *lost receives the point's index if the
   value is not finite. */
TB_D tb_real adi2d_p_rung_y_put(const adi2d_p_rung_y_line &y, int j, tb_real value, int *lost)
{
    const int at = j * y.stride;
    if (y.exercise != FD_EUROPEAN && y.valid) {
        const int index[2] = {y.i, j};
        const tb_real pays = fd_p_pays(&y.l.a.t, index, y.l.when[1], y.final[at]);
        tb_real more = y.multiplier[at];
        value = fd_lane_exercise(y.exercise, y.l.data.dt, pays, value, &more);
        y.multiplier[at] = more;
    }
    if (y.valid) {
        y.to[at] = value;
        if (!trid_finite(value)) *lost = at + y.i;
    }
    return value;
}

/* Where all lines of a warp have one matrix along y, one lane stores `upper` for all, which saves nearly one write and
   one read of each point. The other lanes store in elements that nobody reads, because a branch would take longer. Each
   warp has its own part of the array. Double precision only; docs/adi2d.md has times of both precisions. */
TB_D void adi2d_p_rung_share(const adi2d_p_rung_y_line &y, int first, adi2d_p_rung_system *s)
{
    const int lane = (int)threadIdx.x % 32, lines = y.stride - first < 32 ? y.stride - first : 32;
    const int alike = !__any_sync(TB_FULL_WARP, y.given);
    s->upper = y.l.a.upper + first * s->n + (alike ? 0 : lane);
    s->keep = alike && lane > 0 ? s->upper + s->n + lane - 1 : s->upper;
    s->upper_stride = alike ? 1 : lines, s->keep_stride = alike ? lane == 0 : lines;
}

/* Solves along y and completes the stage: the last stage stores u and ends the step, an earlier one stores z. Thread i
   of a problem's blocks takes line i. */
template <int across, int second>
TRID_KERNEL void __launch_bounds__(ADI2D_P_RUNG_THREADS, TB_BYTES == 8 ? 8 : 0)
    adi2d_p_rung_y(adi2d_p_rung launch, int step)
{
    enum { ahead = 8 };
    __shared__ tb_real tiles[across ? ADI2D_P_RUNG_THREADS / 32 : 1][across ? 32 : 1][33];
    const int which = (int)blockIdx.x / launch.blocks, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (!adi2d_p_rung_due(adi2d_p_rung_of(launch, which), step, second)) return;
    const adi2d_p_rung_line l = adi2d_p_rung_line_of(launch, which, step);
    const int first = ((int)blockIdx.x % launch.blocks) * ADI2D_P_RUNG_THREADS + 32 * warp, i = first + lane;
    if (first >= l.n[0]) return;
    const int n = l.n[1], valid = i < l.n[0];
    const adi2d_p_rung_y_line y = adi2d_p_rung_y_line_of<second>(l, valid ? i : 0, valid);
    int lost = -1;
    /* In double precision the differences of the next rows are loaded while the current rows are eliminated. */
    tb_real soon[ahead];
    auto load = [&](int j) {
        TB_UNROLL
        for (int q = 0; q < ahead; q++) soon[q] = y.e[(j + q < n ? j + q : 0) * y.stride];
    };
    auto begin = [&](int j, adi2d_p_rung_row *to) {
        TB_UNROLL
        for (int q = 0; q < ahead; q++) to[q].d = soon[q];
        load(j + ahead);
    };
    auto row = [&](int j, adi2d_p_rung_row *to) { adi2d_p_rung_y_make(y, j, 1, 1, to); };
    auto same = [&](int j, adi2d_p_rung_row *to) { begin(j, to), adi2d_p_rung_y_rows<ahead, 0>(y, j, to); };
    auto changed = [&](int j, adi2d_p_rung_row *to) { begin(j, to), adi2d_p_rung_y_rows<ahead, 1>(y, j, to); };
    auto rows = [&](int j, adi2d_p_rung_row *to) {
        if (y.l.changes)
            adi2d_p_rung_y_rows<ahead, 1>(y, j, to);
        else
            adi2d_p_rung_y_rows<ahead, 0>(y, j, to);
    };
    auto again = [&](int j) { return y.w[j * y.stride]; };
    auto put = [&](int j, tb_real solution, tb_real before) {
        const tb_real value = adi2d_p_rung_y_put(y, j, before + solution, &lost);
        if (across) tiles[across ? warp : 0][across ? j % 32 : 0][lane] = value;
    };
    auto flush = [&](int from) {
        if (!across) return;
        tb_real(*tile)[33] = tiles[across ? warp : 0];
        adi2d_p_rung_transpose(tile, first, l.n[0], from, n, y.last ? l.a.u[1] : l.a.z[1]);
        if (y.exercise != FD_AMERICAN) return;
        for (int j = from; j < n && j < from + 32; j++)
            if (valid) tile[across ? j % 32 : 0][lane] = y.multiplier[j * y.stride];
        adi2d_p_rung_transpose(tile, first, l.n[0], from, n, l.a.multiplier[1]);
    };
    adi2d_p_rung_system system = {n, valid, !y.given, y.stride, l.a.upper + y.i, l.a.e + y.i, NULL, 0, 0};
    if (TB_BYTES == 8 && (FD_MODEL_INDEPENDENT >> 1 & 1)) adi2d_p_rung_share(y, first, &system);
    /* Steps with and without changes have solves of their own in double precision: if the two branches met in the loop,
       loads would be awaited there. */
    if (TB_BYTES == 8 && valid) load(2);
    if (TB_BYTES == 4)
        adi2d_p_rung_thomas<ahead>(system, row, rows, again, put, flush);
    else if (l.changes)
        adi2d_p_rung_thomas<ahead>(system, row, changed, again, put, flush);
    else
        adi2d_p_rung_thomas<ahead>(system, row, same, again, put, flush);
    if (y.last && lost >= 0) atomicMin(l.a.lost, (unsigned long long)step << 32 | (unsigned long long)lost);
}

/* Writes the results at a time: 0 for today, 1 + date for a date. The problem's block calls it. */
TB_D void adi2d_p_rung_record(const adi2d_p_rung &launch, const adi2d_p_rung_arrays &a, int time)
{
    const long long stride[2] = {1, a.t.found->points[0]};
    fd_p_record(&launch.as.batch, &a.t, (int)blockIdx.x, time, a.u[0], stride, (int)threadIdx.x, (int)blockDim.x);
}

/* Applies the events at the date that ends a step, if there is one. Each block serves a problem. */
template <int>
TRID_KERNEL void __launch_bounds__(ADI2D_P_RUNG_SET_UP_THREADS) adi2d_p_rung_date(adi2d_p_rung launch, int step)
{
    const int which = (int)blockIdx.x, threads = (int)blockDim.x;
    const adi2d_p_rung_arrays a = adi2d_p_rung_of(launch, which);
    if (!adi2d_p_rung_due(a, step, 0)) return;
    const int date = a.t.step[step].data.date, n0 = a.t.found->points[0], n1 = a.t.found->points[1], all = n0 * n1;
    const fd_date *event = fd_p_event(a.t.problem, date);
    int added = 0;
    if (!event) return;
    const long long stride[2] = {1, n0};
    for (int at = (int)threadIdx.x; at < all; at += threads) {
        const int index[2] = {at % n0, at / n0};
        tb_real value = fd_p_shifted_to(&a.t, event, index, &a.u[0][at], stride);
        a.e[at] = value =
            fd_p_changed(&a.t, date, a.t.step[step].to, index, value, a.t.final[at], &a.multiplier[0][at], &added);
        if (!trid_finite(value)) atomicMin(a.lost, (unsigned long long)step << 32 | (unsigned long long)at);
    }
    if (added) fd_p_most(&a.t.found->given, added);
    __syncthreads();
    for (int at = (int)threadIdx.x; at < all; at += threads) {
        const int turned = at % n0 * n1 + at / n0;
        a.u[0][at] = a.u[1][turned] = a.e[at];
        a.multiplier[1][turned] = a.multiplier[0][at];
    }
    __syncthreads();
    if (event->what & FD_RECORD) adi2d_p_rung_record(launch, a, 1 + date);
}

/* Sets the initial values of prepared problems, one block per problem; if `across` is set, also in the arrays that are
   contiguous along y. */
template <int across>
TRID_KERNEL void __launch_bounds__(ADI2D_P_RUNG_SET_UP_THREADS) adi2d_p_rung_start(adi2d_p_rung launch)
{
    const adi2d_p_rung_arrays a = adi2d_p_rung_of(launch, (int)blockIdx.x);
    if (threadIdx.x == 0) *a.lost = ~0ull;
    if (a.t.found->status.what) return;
    const int n0 = a.t.found->points[0], n1 = a.t.found->points[1];
    for (int at = (int)threadIdx.x; at < n0 * n1; at += (int)blockDim.x) {
        const int turned = at % n0 * n1 + at / n0;
        a.u[0][at] = a.t.final[at], a.multiplier[0][at] = 0;
        if (across) a.u[1][turned] = a.t.final[at], a.multiplier[1][turned] = 0;
    }
}

/* Writes status, values and grid. If a value was not finite, finds out whether the model's terms were finite in that
   step. Each block serves a problem. */
template <int>
TRID_KERNEL void __launch_bounds__(ADI2D_P_RUNG_SET_UP_THREADS) adi2d_p_rung_finish(adi2d_p_rung launch)
{
    __shared__ int wrong, largest;
    const int which = (int)blockIdx.x, threads = (int)blockDim.x;
    const adi2d_p_rung_arrays a = adi2d_p_rung_of(launch, which);
    const int *n = a.t.found->points, all = fd_p_count(n);
    fd_status status = a.t.found->status;
    if (!status.what && *a.lost != ~0ull) {
        const int step = (int)(*a.lost >> 32), at = (int)(*a.lost & 0xffffffffu);
        if (threadIdx.x == 0) wrong = FD_P_NONE;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < all; k += threads) {
            int index[3];
            fd_p_index(n, k, index);
            for (int end = 0; end < 2; end++)
                if (!fd_p_terms_finite(fd_p_terms_here(&a.t, index, fd_p_time_of(&a.t, step, end))))
                    fd_p_least(&wrong, k);
        }
        __syncthreads();
        status = wrong != FD_P_NONE ? fd_p_status_at(FD_MODEL_NAN, n, wrong, step)
                                    : fd_p_status_at(FD_NOT_SOLVED, n, at, step);
        status.not_dominant = a.t.found->not_dominant;
    } else if (!status.what) {
        int own = 0;
        if (threadIdx.x == 0) largest = 0;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < all; k += threads) own = fd_p_larger(own, (double)a.u[0][k]);
        fd_p_most(&largest, own);
        __syncthreads();
        fd_p_grown(&status, a.t.found->given, largest);
    }
    if (threadIdx.x == 0) launch.as.batch.status[which] = status;
    if (status.what) {
        fd_p_fill_nan(&launch.as.batch, which, (int)threadIdx.x, threads);
        return;
    }
    adi2d_p_rung_record(launch, a, 0);
}

/* Returns how many bytes of device memory MODEL_naive and MODEL_coalesced need; 0 if adi2d_check refuses the batch's
   sizes or kind. The batch's pointers may still be null. */
template <int = 0>
static inline size_t adi2d_rung_bytes(const fd_batch *batch)
{
    return fd_p_sizes(2, batch) ? 0 : (size_t)batch->problems * adi2d_p_rung_lay_out(batch, NULL, NULL);
}

/* Launches all kernels of a rung. */
template <int across>
static inline int adi2d_p_rung_march(const fd_batch *batch, const fd_model_parameters *parameters, void *memory,
                                     size_t bytes, cudaStream_t stream)
{
    const int wrong = fd_p_device_call(batch, parameters, memory, bytes, adi2d_rung_bytes(batch), stream);
    if (wrong || batch->problems == 0) return wrong;
    adi2d_p_rung launch;
    launch.as = fd_p_launch_of(batch, parameters, memory, adi2d_p_rung_lay_out(batch, NULL, NULL));
    adi2d_p_rung_lay_out(batch, (unsigned char *)memory, &launch.arrays);
    const int most = ADI2D_P_RUNG_THREADS, set_up = ADI2D_P_RUNG_SET_UP_THREADS;
    const int x_blocks = (batch->points[1] + most - 1) / most, y_blocks = (batch->points[0] + most - 1) / most;
    cudaError_t error =
        trid_launch(fd_p_ready_kernel<set_up>, dim3((unsigned)batch->problems), dim3(set_up), 0, stream, launch.as);
    /* Crowding pays in double precision with `across`, if more blocks are launched than fit without it: 5 per
       multiprocessor. */
    constexpr int may_crowd = across && TB_BYTES == 8;
    const int crowded =
        may_crowd && batch->problems * x_blocks > 5 * trid_device_attribute(cudaDevAttrMultiProcessorCount);
    const auto x_kernel = crowded ? adi2d_p_rung_x<across, 0, may_crowd> : adi2d_p_rung_x<across, 0, 0>;
    const auto x_second = adi2d_p_rung_x<across, 1, 0>;
    auto next = [&](auto kernel, int blocks, int threads, auto... step) {
        launch.blocks = blocks;
        const dim3 grid((unsigned)batch->problems * (unsigned)blocks), block((unsigned)threads);
        if (error == cudaSuccess) error = trid_launch(kernel, grid, block, 0, stream, launch, step...);
    };
    next(adi2d_p_rung_start<across>, 1, set_up);
    for (int k = 0; k < batch->steps && error == cudaSuccess; k++) {
        for (int second = 0; second < (batch->kind == ADI2D_TWO_STAGES ? 2 : 1); second++) {
            next(second ? x_second : x_kernel, x_blocks, most, k);
            next(second ? adi2d_p_rung_y<across, 1> : adi2d_p_rung_y<across, 0>, y_blocks, most, k);
        }
        if (batch->dates > 0) next(adi2d_p_rung_date<0>, 1, set_up, k);
    }
    next(adi2d_p_rung_finish<0>, 1, set_up);
    return error == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED;
}

/* Solves the problems of any batch that adi2d_check accepts, with grids in device memory and a thread per line. This is
   the plain version: its accesses do not coalesce in solves along x.
   Needs    as MODEL_onchip, with memory of MODEL_rung_bytes
   Leaves, Returns as MODEL_onchip
   Cost     for each of batch->steps steps, two launches (four with ADI2D_TWO_STAGES), and one more if batch->dates is
            not 0; three launches besides. A first stage reads or writes each point about 13 times */
template <int = 0>
static inline int adi2d_naive(const fd_batch *batch, const fd_model_parameters *parameters, void *memory, size_t bytes,
                              cudaStream_t stream)
{
    return adi2d_p_rung_march<0>(batch, parameters, memory, bytes, stream);
}

/* Solves the same problems, with grids in both orders. Each solve transposes its results in tiles of shared memory as
   it substitutes back, so that its accesses coalesce.
   Needs, Leaves, Returns as MODEL_naive
   Cost     as MODEL_naive, and one more write per point and stage; American exercise adds a read and a write */
template <int = 0>
static inline int adi2d_coalesced(const fd_batch *batch, const fd_model_parameters *parameters, void *memory,
                                  size_t bytes, cudaStream_t stream)
{
    return adi2d_p_rung_march<1>(batch, parameters, memory, bytes, stream);
}
