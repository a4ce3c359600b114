/* stages.h - a room of adi2d.h, read once for each model and precision: the stages of a scheme on chip.
   MIT licence, see LICENSE. */

/* Loads the per_lane points of a row from `first` on. */
TB_D void adi2d_p_load_row(int per_lane, tb_real *row, int first, tb_real *v)
{
    TB_UNROLL
    for (int q = 0; q < per_lane / adi2d_p_piece; q++)
        transpose_unpack(*adi2d_p_piece_of(row, first, q), v + q * adi2d_p_piece);
}

/* Stores the per_lane points of a row from `first` on, if they are valid. */
TB_D void adi2d_p_store_row(int per_lane, tb_real *row, int first, int valid, const tb_real *v)
{
    TB_UNROLL
    for (int q = 0; q < per_lane / adi2d_p_piece; q++)
        if (valid) *adi2d_p_piece_of(row, first, q) = transpose_pack(v + q * adi2d_p_piece);
}

/* The line along x that a lane holds in stage s: points from `from` on, in row `local` of the block. */
typedef struct {
    const fd_p_step *step;
    int s, about, american, keeps; /* keeps: in a first stage, whether a second one will need `kept` */
    int changes;                   /* in a first stage, whether coefficients or given slopes may change in the step */
    int group, groups, whole;      /* the lane's line among those that the block holds at once, their number, and the
                                      first line of the lane's warp */
    int lane, from, within;        /* within: `from`, or 0 if that is beyond the row; a lane reads from there on */
    int local, j, valid;
} adi2d_p_line;

/* A point: its cells, its numbers, and the nine values at and around it. */
typedef struct {
    fd_cell cell[2];
    fd_numbers own[2];
    tb_real nine[9];
} adi2d_p_point;

/* Returns the data of a lane that do not change from line to line in a stage. */
TB_D adi2d_p_line adi2d_p_line_of(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int s)
{
    const fd_p_step *step = &fd_p_chip_step(*h, memory);
    const int thread = trid_block_thread(), of_width = trid_log2(h->width);
    adi2d_p_line l;
    l.step = step;
    l.s = s, l.about = s > 0 && step->data.about, l.american = h->t.problem->exercise == FD_AMERICAN;
    l.keeps = s == 0 && step->data.stages > 1, l.changes = s == 0 && step->changes;
    l.group = thread >> of_width, l.groups = trid_block_threads() >> of_width, l.whole = (thread & ~31) >> of_width;
    l.lane = thread & (h->width - 1), l.from = per_lane * l.lane, l.within = l.from < h->pitch ? l.from : 0;
    l.local = l.j = l.valid = 0;
    return l;
}

/* Moves to the block's line base + group. If there is no such line, moves to the block's last line, and `valid` is 0.
   `valid` is also 0 if the lane's points lie beyond the end of the row. */
TB_D void adi2d_p_line_at(const adi2d_p_chip *h, int base, adi2d_p_line *l)
{
    const int own = base + l->group;
    l->valid = own < h->rows && l->from < h->n[0], l->local = own < h->rows ? own : h->rows - 1;
    l->j = h->row_first + l->local;
}

/* Computes a point's right-hand side from the nine values. *kept, the terms of the second stage's right-hand side that
   the first stage computes, is written in the first stage and read in the second. `more` is the contribution of
   exercise in the first stage; in the second it is u - z if l->about is set, otherwise 0. */
TB_D tb_real adi2d_p_chip_difference(const adi2d_p_line *l, const adi2d_p_point *p, fd_terms now, fd_terms later,
                                     tb_real more, tb_real *kept)
{
    const tb_real *nine = p->nine, (*base)[4] = l->step->data.base;
    const tb_real f0 = FD_MODEL_MIXED ? now.mixed[0] * fd_lane_mixed(p->cell[0], p->cell[1], nine) : 0;
    const tb_real f1 = fd_p_along_axis(0, p->cell[0], now, nine[3], nine[4], nine[5]);
    const tb_real f2 = fd_p_along_axis(1, p->cell[1], now, nine[1], nine[4], nine[7]);
    if (l->s > 0) return *kept + base[1][2] * f0 + base[1][3] * (f1 + f2) + more;
    tb_real d = base[0][0] * f0 + base[0][1] * (f1 + f2);
    *kept = base[1][0] * f0 + base[1][1] * (f1 + f2);
    if (l->changes) {
        const tb_real change =
            l->step->data.size * (fd_p_along_axis(0, p->cell[0], later, nine[3], nine[4], nine[5]) - f1);
        d += change;
        if (!l->step->data.about) *kept += change;
    }
    *kept += more;
    return d + more;
}

/* Loads the line's row and the rows beside it: this lane's points into v, and the neighbouring lanes' nearest points
   into `left` and `right`. */
TB_D void adi2d_p_chip_load_around(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_line *l,
                                   tb_real (*v)[TRID_MOST_ROWS], tb_real *left, tb_real *right)
{
    const int local = l->local, below = local > 0 ? local - 1 : l->j > 0 ? h->rows_each : local;
    const int above = local < h->rows - 1 ? local + 1 : l->j < h->n[1] - 1 ? h->rows_each + 1 : local;
    TB_UNROLL
    for (int r = 0; r < 3; r++) {
        const int at = r == 0 ? below : r == 1 ? local : above;
        tb_real *row = adi2d_p_array(memory, l->s ? h->z : h->u) + at * h->pitch;
        adi2d_p_load_row(per_lane, row, l->within, v[r]);
        left[r] = __shfl_up_sync(TB_FULL_WARP, v[r][per_lane - 1], 1, h->width);
        right[r] = __shfl_down_sync(TB_FULL_WARP, v[r][0], 1, h->width);
    }
}

/* Loads piece q of the numbers of x. */
TB_D void adi2d_p_number_pieces(const adi2d_p_chip *h, unsigned char *memory, int within, int q,
                                tb_real (*number)[adi2d_p_piece])
{
    TB_UNROLL
    for (int m = 0; m < fd_p_numbers(0); m++)
        transpose_unpack(*adi2d_p_piece_of(adi2d_p_array(memory, h->number[0]) + m * h->pitch, within, q), number[m]);
}

/* Computes the line's right-hand sides and its matrix, without the faces' terms. */
TB_D void adi2d_p_chip_x_rows(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_line *l,
                              adi2d_p_rows *r)
{
    tb_real v[3][TRID_MOST_ROWS], left[3], right[3];
    tb_real *keep = adi2d_p_array(memory, h->g) + l->local * h->pitch;
    tb_real *old_row = adi2d_p_array(memory, h->u) + l->local * h->pitch;
    adi2d_p_point p;
    p.cell[1] = adi2d_p_cell_of(h, memory, 1, l->j + l->j / per_lane);
    adi2d_p_numbers_of_y(per_lane, h, memory, l->j, &p.own[1]);
    adi2d_p_chip_load_around(per_lane, h, memory, l, v, left, right);
    TB_UNROLL
    for (int q = 0; q < per_lane / adi2d_p_piece; q++) {
        tb_real number[fd_p_numbers_x][adi2d_p_piece], kept[adi2d_p_piece] = {0}, old[adi2d_p_piece];
        adi2d_p_number_pieces(h, memory, l->within, q, number);
        /* Other lanes may be writing what a lane without a valid line would load. */
        if (l->s > 0 && l->valid) transpose_unpack(*adi2d_p_piece_of(keep, l->within, q), kept);
        if (l->about) transpose_unpack(*adi2d_p_piece_of(old_row, l->within, q), old);
        TB_UNROLL
        for (int e = 0; e < adi2d_p_piece; e++) {
            const int k = q * adi2d_p_piece + e, i = l->from + k;
            tb_real more = 0;
            p.cell[0] = adi2d_p_cell_of(h, memory, 0, i + l->lane);
            TB_UNROLL
            for (int m = 0; m < fd_p_numbers(0); m++) p.own[0].number[m] = number[m][e];
            TB_UNROLL
            for (int m = 0; m < 3; m++) {
                p.nine[3 * m] = k > 0 ? v[m][k - (k > 0)] : left[m];
                p.nine[3 * m + 1] = v[m][k];
                p.nine[3 * m + 2] = k < per_lane - 1 ? v[m][k + (k < per_lane - 1)] : right[m];
            }
            const fd_terms now = fd_p_terms(h->t.parameters, p.own, l->step->time[l->s > 0]);
            const fd_terms later = fd_p_terms(h->t.parameters, p.own, l->step->time[1]);
            if (l->s == 0 && l->american && i < h->n[0]) more = l->step->data.dt * h->extra[l->j * h->n[0] + i];
            if (l->about) more = old[e] - p.nine[4];
            r->d[k] = adi2d_p_chip_difference(l, &p, now, later, more, &kept[e]);
            fd_p_matrix(0, 0, p.cell[0], later, l->step->data.size, &r->a[k], &r->b[k], &r->c[k]);
        }
        if (l->keeps && l->valid) *adi2d_p_piece_of(keep, l->within, q) = transpose_pack(kept);
    }
}

/* Adds the faces' terms to the right-hand sides d of the lane's points and, in the first of two stages, to what is kept
   for the second stage's right-hand sides. */
TB_D void adi2d_p_chip_x_faces(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_line *l,
                               tb_real *d)
{
    const fd_step_data *step = &l->step->data;
    const int along = fd_p_at_adding(*h, 1, l->j); /* whether the line is on a face of y that adds to F */
    const int ends = fd_p_adds(h->face[0][0]) | fd_p_adds(h->face[0][1]);
    tb_real *keep = adi2d_p_array(memory, h->g) + l->local * h->pitch;
    TB_LOOP
    for (int m = 0; m < per_lane && (along || ends); m++) {
        const int i = l->from + m;
        if (i >= h->n[0] || !(along || fd_p_at_adding(*h, 0, i))) continue;
        const tb_real more = fd_p_chip_faces(*h, l->s ? h->z : h->u, l->s > 0, i, l->j, 0);
        const tb_real late = l->changes ? step->size * adi2d_p_chip_face_change<0>(*h, i, l->j) : 0;
        TB_UNROLL
        for (int k = 0; k < per_lane; k++)
            if (k == m) d[k] += (l->s ? step->base[1][3] : step->base[0][1]) * more + late;
        if (l->keeps && l->valid) keep[fd_p_swizzle(i)] += step->base[1][1] * more + (step->about ? 0 : late);
    }
}

/* Writes the boundary rows of the line. */
TB_D void adi2d_p_chip_x_ends(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_line *l,
                              adi2d_p_rows *r)
{
    const int n = h->n[0], k = n - 1 - l->from, first[3] = {0, l->j, 0}, last[3] = {n - 1, l->j, 0};
    tb_real near_by = __shfl_up_sync(TB_FULL_WARP, r->d[per_lane - 1], 1, h->width);
    const tb_real *w = adi2d_p_array(memory, l->about ? h->z : h->u) + l->local * h->pitch;
    if (l->lane == 0)
        adi2d_p_chip_face(per_lane, h, memory, fd_p_edge_of(*h, *l->step, 0, 0, 1, first), 0, r->d[1], w[0], r);
    if (l->lane != (n - 1) / per_lane) return;
    TB_UNROLL
    for (int m = 0; m < per_lane; m++)
        if (m + 1 == k) near_by = r->d[m];
    adi2d_p_chip_face(per_lane, h, memory, fd_p_edge_of(*h, *l->step, 0, 1, 1, last), k, near_by,
                      w[fd_p_swizzle(n - 1)], r);
}

/* Computes the right-hand sides of stage s, and solves along x. The solutions go to z in the first stage, to g in the
   second. */
TB_D void adi2d_p_chip_x(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int s)
{
    const int width = h->width, rows = h->rows;
    adi2d_p_line l = adi2d_p_line_of(per_lane, h, memory, s);
    adi2d_p_chip_halo(h, memory, s ? h->z : h->u);
    TB_LOOP
    for (int base = 0; base + l.whole < rows; base += l.groups) {
        adi2d_p_rows r;
        adi2d_p_line_at(h, base, &l);
        adi2d_p_chip_x_rows(per_lane, h, memory, &l, &r);
        adi2d_p_chip_x_faces(per_lane, h, memory, &l, r.d);
        adi2d_p_chip_x_ends(per_lane, h, memory, &l, &r);
        trid_warp_hybrid(per_lane, width, per_lane * width, r.a, r.b, r.c, r.d);
        adi2d_p_store_row(per_lane, adi2d_p_array(memory, s ? h->g : h->z) + l.local * h->pitch, l.within, l.valid,
                          r.d);
    }
}

/* A thread's part of the solves along y: per_lane rows from `from` on, in columns `first`, `first` + `lines`, .. before
   `last`. Block `owner` stores these rows as its rows from `local` on. i is the current column, or 0 if that is not
   valid. */
typedef struct {
    int lines, first, last, from, owner, local, i, valid;
} adi2d_p_columns;

/* Returns this thread's part of the solves along y. */
TB_D adi2d_p_columns adi2d_p_columns_of(int per_lane, const adi2d_p_chip *h)
{
    adi2d_p_columns my;
    my.lines = trid_block_threads() >> trid_log2(h->parts);
    my.first = h->rank * h->share + (trid_block_thread() & (my.lines - 1));
    my.last = h->rank * h->share + h->share < h->n[0] ? h->rank * h->share + h->share : h->n[0];
    my.from = per_lane * (trid_block_thread() >> trid_log2(my.lines));
    if (my.from >= h->n[1]) my.last = 0;
    my.owner = my.last ? my.from / h->rows_each : h->rank;
    my.local = my.last ? my.from - my.owner * h->rows_each : 0;
    my.i = my.valid = 0;
    return my;
}

/* Moves to column first + base. If that is not before `last`, `i` and `valid` are 0. */
TB_D void adi2d_p_column_at(int base, adi2d_p_columns *my)
{
    my->valid = my->first + base < my->last, my->i = my->valid ? my->first + base : 0;
}

/* Returns the address of row my.from of the column in an array; the row may be in another block. */
TB_D trid_cluster_place adi2d_p_column_of(const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_columns *my,
                                          int array)
{
    const int at = my->local * h->pitch + fd_p_swizzle(my->i);
    return trid_cluster_map(memory + array, my->owner) + at * (int)sizeof(tb_real);
}

/* Loads the thread's per_lane values of its column of an array. A thread without a valid column gets zeros:
   other threads may be writing what it would load. */
TB_D void adi2d_p_load_column(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_columns *my,
                              int array, tb_real *v)
{
    const int pitch = h->pitch, row = pitch * (int)sizeof(tb_real);
    if (!my->valid) {
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) v[k] = 0;
    } else if (my->owner == h->rank) {
        const tb_real *own = adi2d_p_array(memory, array) + my->local * pitch + fd_p_swizzle(my->i);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) v[k] = own[k * pitch];
    } else {
        const trid_cluster_place place = adi2d_p_column_of(h, memory, my, array);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) v[k] = trid_cluster_load(place + k * row);
    }
}

/* Stores a thread's values of its column: the first `count` of them, or all per_lane if that is fewer. */
TB_D void adi2d_p_store_column(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_columns *my,
                               int array, int count, const tb_real *v)
{
    const int pitch = h->pitch, row = pitch * (int)sizeof(tb_real), whole = count >= per_lane;
    if (my->owner == h->rank) {
        tb_real *own = adi2d_p_array(memory, array) + my->local * pitch + fd_p_swizzle(my->i);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++)
            if (whole || k < count) own[k * pitch] = v[k];
    } else {
        const trid_cluster_place place = adi2d_p_column_of(h, memory, my, array);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++)
            if (whole || k < count) trid_cluster_store(place + k * row, v[k]);
    }
}

/* Computes the per_lane rows of 1 - size A_2 from row `from` on, in a column whose numbers of x are own[0]; `now` holds
   the numbers of time. */
TB_D void adi2d_p_chip_matrix_y(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int from, fd_numbers *own,
                                const tb_real *now, adi2d_p_rows *r)
{
    const tb_real size = fd_p_chip_step(*h, memory).data.size;
    TB_UNROLL
    for (int k = 0; k < per_lane; k++) {
        adi2d_p_numbers_of_y(per_lane, h, memory, from + k, &own[1]);
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now);
        const fd_cell cell = adi2d_p_cell_of(h, memory, 1, from + from / per_lane + k);
        fd_p_matrix(1, 0, cell, terms, size, &r->a[k], &r->b[k], &r->c[k]);
    }
}

/* Returns by how much F_2 at row j of a column changes from the step's start to its end, without the faces' terms. The
   change is computed from the values below, at and above the row; own[0] holds the column's numbers of x. */
TB_D tb_real adi2d_p_chip_y_change(int per_lane, const adi2d_p_chip *h, unsigned char *memory, fd_numbers *own, int j,
                                   tb_real below, tb_real here, tb_real above)
{
    const fd_p_step &step = fd_p_chip_step(*h, memory);
    const fd_cell cell = adi2d_p_cell_of(h, memory, 1, j + j / per_lane);
    adi2d_p_numbers_of_y(per_lane, h, memory, j, &own[1]);
    const fd_terms now = fd_p_terms(h->t.parameters, own, step.time[0]);
    const fd_terms later = fd_p_terms(h->t.parameters, own, step.time[1]);
    return fd_p_along_axis(1, cell, later, below, here, above) - fd_p_along_axis(1, cell, now, below, here, above);
}

/* Loads the thread's values of its column of an array into v, and the value after them into v[per_lane]. Returns the
   value before them. Where the column has no value before or after them, its first or last value stands for it. */
TB_D tb_real adi2d_p_load_column_around(int per_lane, const adi2d_p_chip *h, unsigned char *memory,
                                        const adi2d_p_columns *my, int array, tb_real *v)
{
    const int n = h->n[1], before = my->from > 0 ? my->from - 1 : 0, after = my->from + per_lane;
    const tb_real below = my->valid ? fd_p_chip_value(*h, memory, array, my->i, before) : 0;
    adi2d_p_load_column(per_lane, h, memory, my, array, v);
    v[per_lane] = my->valid ? fd_p_chip_value(*h, memory, array, my->i, after < n ? after : n - 1) : 0;
    return below;
}

/* Adds theta dt times the change of F_2(u) in the step to the right-hand sides d of the thread's column. If the thread
   holds only the last point, adds the term of the point before it to *near_by. own[0] holds the column's numbers of x;
   w_of is the array of u. */
TB_D void adi2d_p_chip_y_changes(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_columns *my,
                                 int w_of, fd_numbers *own, tb_real *near_by, tb_real *d)
{
    const fd_p_step *step = &fd_p_chip_step(*h, memory);
    const int n = h->n[1], from = my->from, i = my->i;
    tb_real w[TRID_MOST_ROWS + 1], below = adi2d_p_load_column_around(per_lane, h, memory, my, w_of, w);
    if (from == n - 1) {
        const tb_real beyond = fd_p_chip_value(*h, memory, w_of, i, n - 3);
        *near_by += step->data.size * adi2d_p_chip_y_change(per_lane, h, memory, own, n - 2, beyond, below, w[0]);
    }
    TB_UNROLL
    for (int k = 0; k < per_lane; k++) {
        d[k] += step->data.size * adi2d_p_chip_y_change(per_lane, h, memory, own, from + k, below, w[k], w[k + 1]);
        below = w[k];
    }
    TB_LOOP
    for (int side = 0; side < 2; side++) {
        const int j = side ? n - 1 : 0;
        if (j < from || j >= from + per_lane || !fd_p_adds(h->face[1][side])) continue;
        const tb_real more = step->data.size * adi2d_p_chip_face_change<1>(*h, i, j);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++)
            if (from + k == j) d[k] += more;
    }
}

/* Writes the boundary rows of the thread's column. If the column lies on a face of x with given values, writes identity
   rows, with the right-hand sides that the solve along x left. If the thread holds only the last point, near_by is
   the right-hand side of the point before it. */
TB_D void adi2d_p_chip_y_ends(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_columns *my,
                              int w_of, int right_of, tb_real near_by, adi2d_p_rows *r)
{
    const fd_p_step &step = fd_p_chip_step(*h, memory);
    const int n = h->n[1], i = my->i, last = n - 1 - my->from, row = h->pitch * (int)sizeof(tb_real);
    const int first[3] = {i, 0, 0}, end[3] = {i, n - 1, 0};
    const trid_cluster_place w = adi2d_p_column_of(h, memory, my, w_of);
    if (my->from == 0)
        adi2d_p_chip_face(per_lane, h, memory, fd_p_edge_of(*h, step, 1, 0, 1, first), 0, r->d[1], trid_cluster_load(w),
                          r);
    if (last < per_lane) {
        TB_UNROLL
        for (int m = 0; m < per_lane; m++)
            if (m + 1 == last) near_by = r->d[m];
        adi2d_p_chip_face(per_lane, h, memory, fd_p_edge_of(*h, step, 1, 1, 1, end), last, near_by,
                          trid_cluster_load(w + last * row), r);
    }
    if (fd_p_at_given(h->face, h->n, 0, i)) {
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) r->a[k] = r->c[k] = 0, r->b[k] = 1;
        adi2d_p_load_column(per_lane, h, memory, my, right_of, r->d);
    }
}

/* Solves along y in stage s for the difference from w, and adds w. w is z in a second stage with step->data.about,
   otherwise u. The sum goes to u in the last stage, otherwise to z. */
TB_D void adi2d_p_chip_y(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int s)
{
    const fd_p_step *step = &fd_p_chip_step(*h, memory);
    const int about = s > 0 && step->data.about, changes = !about && step->changes;
    const int right_of = s ? h->g : h->z, w_of = about ? h->z : h->u, to_of = s == step->data.stages - 1 ? h->u : h->z;
    const int share = h->share, n = h->n[1];
    adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        adi2d_p_rows r;
        tb_real near_by = 0;
        fd_numbers own[2];
        adi2d_p_column_at(base, &my);
        adi2d_p_numbers_of_x(h, memory, my.i, &own[0]);
        adi2d_p_load_column(per_lane, h, memory, &my, right_of, r.d);
        if (my.valid && my.from == n - 1) near_by = fd_p_chip_value(*h, memory, right_of, my.i, n - 2);
        if (my.valid && changes) adi2d_p_chip_y_changes(per_lane, h, memory, &my, w_of, own, &near_by, r.d);
        adi2d_p_chip_matrix_y(per_lane, h, memory, my.from, own, step->time[1], &r);
        if (my.valid) adi2d_p_chip_y_ends(per_lane, h, memory, &my, w_of, right_of, near_by, &r);
        trid_block_interleaved_unchecked(per_lane, my.lines, h->parts, per_lane * h->parts, r.a, r.b, r.c, r.d,
                                         adi2d_p_array(memory, h->exchange));
        if (my.valid) {
            tb_real w[TRID_MOST_ROWS];
            adi2d_p_load_column(per_lane, h, memory, &my, w_of, w);
            TB_UNROLL
            for (int k = 0; k < per_lane; k++) r.d[k] += w[k];
            adi2d_p_store_column(per_lane, h, memory, &my, to_of, n - my.from, r.d);
        }
        __syncthreads();
    }
}
