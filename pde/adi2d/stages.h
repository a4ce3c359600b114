/* stages.h - a room of adi2d.h, read once a model and precision: the stages of a scheme on chip.
   MIT licence, see LICENSE. */

#define adi2d_p_load_row ADI2D_OF(p_load_row)
#define adi2d_p_store_row ADI2D_OF(p_store_row)
#define adi2d_p_chip_x ADI2D_OF(p_chip_x)
#define adi2d_p_columns ADI2D_OF(p_columns)
#define adi2d_p_columns_of ADI2D_OF(p_columns_of)
#define adi2d_p_column_of ADI2D_OF(p_column_of)
#define adi2d_p_load_column ADI2D_OF(p_load_column)
#define adi2d_p_chip_y ADI2D_OF(p_chip_y)

#if TB_DEVICE_SCOPES

/* Loads the per_lane points of a row from `first` on. */
TB_D void adi2d_p_load_row(int per_lane, tb_real *row, int first, tb_real *v)
{
    TB_UNROLL
    for (int q = 0; q < per_lane / ADI2D_P_PIECE; q++) {
        adi2d_p_pieces piece = *adi2d_p_piece_of(row, first, q);
        TB_UNROLL
        for (int e = 0; e < ADI2D_P_PIECE; e++) v[q * ADI2D_P_PIECE + e] = piece.v[e];
    }
}

/* Stores them, if they are valid. */
TB_D void adi2d_p_store_row(int per_lane, tb_real *row, int first, int valid, const tb_real *v)
{
    TB_UNROLL
    for (int q = 0; q < per_lane / ADI2D_P_PIECE; q++) {
        adi2d_p_pieces piece;
        TB_UNROLL
        for (int e = 0; e < ADI2D_P_PIECE; e++) piece.v[e] = v[q * ADI2D_P_PIECE + e];
        if (valid) *adi2d_p_piece_of(row, first, q) = piece;
    }
}

/* Solves along x in stage s, from the differences on, which it forms of u in the first stage, or of z. */
TB_D void adi2d_p_chip_x(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int s, const fd_step *step)
{
    const adi2d_p_step_data *data = (const adi2d_p_step_data *)(memory + h->step_data);
    const tb_real *start = adi2d_p_array(memory, h->now), *end = start + ADI2D_P_OF_T, size = data->of.size;
    const int width = h->width, lane = trid_block_thread() & (width - 1),
              group = trid_block_thread() >> trid_log2(width);
    const int groups = trid_block_threads() >> trid_log2(width), from = per_lane * lane, n = h->n[0], pitch = h->pitch;
    const int whole = (trid_block_thread() & ~31) >> trid_log2(width); /* the warp's first line */
    const int within = from < pitch ? from : 0;                        /* lanes without points read some that exist */
    const int american = h->problem->exercise == FD_AMERICAN, about = s > 0 && data->of.about;
    const int changes = s == 0 && adi2d_p_chip_changes(h, memory), source = s ? h->z : h->u;
    const int rows = h->rows, first = h->first, keeps = s == 0 && data->of.stages > 1;
    adi2d_p_chip_halo(h, memory, source);
    TB_LOOP
    for (int base = 0; base + whole < rows; base += groups) {
        const int valid = base + group < rows && from < n, local = base + group < rows ? base + group : rows - 1;
        const int j = first + local, below = local > 0 ? local - 1 : j > 0 ? h->each : local;
        const int above = local < rows - 1 ? local + 1 : j < h->n[1] - 1 ? h->each + 1 : local;
        tb_real v[3][TRID_MOST_ROWS], left[3], right[3], y[ADI2D_P_OF_Y + 1];
        tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
        const fd_cell cell_y = adi2d_p_cell_of(h, memory, 1, j + j / per_lane);
        adi2d_p_numbers_of_y(per_lane, h, memory, j, y);
        TB_UNROLL
        for (int r = 0; r < 3; r++) {
            tb_real *row = adi2d_p_array(memory, source) + (r == 0 ? below : r == 1 ? local : above) * pitch;
            adi2d_p_load_row(per_lane, row, within, v[r]);
            left[r] = __shfl_up_sync(TB_FULL_WARP, v[r][per_lane - 1], 1, width);
            right[r] = __shfl_down_sync(TB_FULL_WARP, v[r][0], 1, width);
        }
        tb_real *keep = adi2d_p_array(memory, h->g) + local * pitch;
        tb_real *old_row = adi2d_p_array(memory, h->u) + local * pitch;
        TB_UNROLL
        for (int q = 0; q < per_lane / ADI2D_P_PIECE; q++) {
            adi2d_p_pieces number[ADI2D_P_OF_X + 1], kept, old;
            TB_UNROLL
            for (int m = 0; m < ADI2D_P_OF_X; m++)
                number[m] = *adi2d_p_piece_of(adi2d_p_array(memory, h->number[0]) + m * pitch, within, q);
            TB_UNROLL
            for (int e = 0; e < ADI2D_P_PIECE; e++) kept.v[e] = 0;
            if (s > 0 && valid) kept = *adi2d_p_piece_of(keep, within, q); /* those of other lanes are being written */
            if (about) old = *adi2d_p_piece_of(old_row, within, q);
            TB_UNROLL
            for (int e = 0; e < ADI2D_P_PIECE; e++) {
                const int k = q * ADI2D_P_PIECE + e;
                const fd_cell cell = adi2d_p_cell_of(h, memory, 0, from + lane + k);
                tb_real x[ADI2D_P_OF_X + 1], nine[9];
                TB_UNROLL
                for (int m = 0; m < ADI2D_P_OF_X; m++) x[m] = number[m].v[e];
                TB_UNROLL
                for (int r = 0; r < 3; r++) {
                    nine[3 * r] = k > 0 ? v[r][k - (k > 0)] : left[r];
                    nine[3 * r + 1] = v[r][k];
                    nine[3 * r + 2] = k < per_lane - 1 ? v[r][k + (k < per_lane - 1)] : right[r];
                }
                adi2d_terms now = {{0, 0}, {0, 0}, 0, 0}, later = {{0, 0}, {0, 0}, 0, 0};
                adi2d_model_terms(x, y, s ? end : start, &now);
                adi2d_model_terms(x, y, end, &later);
                tb_real f0 = 0;
                if (adi2d_model_mixed) f0 = now.mixed * fd_lane_mixed(cell, cell_y, nine);
                tb_real f1 = adi2d_p_along(0, cell, now, nine[3], nine[4], nine[5]);
                tb_real f2 = adi2d_p_along(1, cell_y, now, nine[1], nine[4], nine[7]);
                if (s == 0) {
                    d[k] = data->of.base[0][0] * f0 + data->of.base[0][1] * (f1 + f2);
                    kept.v[e] = data->of.base[1][0] * f0 + data->of.base[1][1] * (f1 + f2);
                    if (changes) {
                        tb_real more = size * (adi2d_p_along(0, cell, later, nine[3], nine[4], nine[5]) - f1);
                        d[k] += more;
                        if (!data->of.about) kept.v[e] += more;
                    }
                    if (american && from + k < n) {
                        tb_real multiplier = data->of.dt * h->multiplier[local * n + from + k];
                        d[k] += multiplier;
                        kept.v[e] += multiplier;
                    }
                } else {
                    d[k] = kept.v[e] + data->of.base[1][2] * f0 + data->of.base[1][3] * (f1 + f2);
                    if (about) d[k] += old.v[e] - nine[4];
                }
                adi2d_p_matrix(adi2d_p_row(0, cell, later), 0, size, later.kill, &a[k], &b[k], &c[k]);
            }
            if (keeps && valid) *adi2d_p_piece_of(keep, within, q) = kept;
        }
        /* Faces add along y to whole lines, along x to two points. */
        TB_LOOP
        for (int f = 0; f < 4; f++) {
            const int axis = f / 2, side = f % 2, kind = h->problem->face[axis][side];
            if (kind != FD_SLOPE && kind != FD_DEGENERATE) continue;
            if (axis && j != (side ? h->n[1] - 1 : 0)) continue;
            TB_LOOP
            for (int m = 0; m < per_lane; m++) {
                const int i = from + m;
                if (i >= n || (!axis && i != (side ? n - 1 : 0))) continue;
                const tb_real more = adi2d_p_chip_source(h, memory, source, axis, side, i, j, s ? end : start,
                                                         s ? step->to : step->from);
                tb_real late = 0;
                if (changes && !axis)
                    late = adi2d_p_chip_source(h, memory, source, axis, side, i, j, end, step->to) - more;
                const tb_real add = (s ? data->of.base[1][3] : data->of.base[0][1]) * more + size * late;
                TB_UNROLL
                for (int k = 0; k < per_lane; k++)
                    if (k == m) d[k] += add;
                if (keeps && valid)
                    keep[adi2d_p_swizzle(i)] += data->of.base[1][1] * more + (data->of.about ? 0 : size * late);
            }
        }
        const tb_real before = __shfl_up_sync(TB_FULL_WARP, d[per_lane - 1], 1, width);
        const tb_real *w = adi2d_p_array(memory, about ? h->z : h->u) + local * pitch;
        if (lane == 0) adi2d_p_chip_face(per_lane, h, memory, 0, 0, 0, j, 0, end, step->to, d[1], w[0], a, b, c, d);
        if (lane == (n - 1) / per_lane) {
            const int k = n - 1 - from;
            tb_real near_by = before;
            TB_UNROLL
            for (int m = 0; m < per_lane; m++)
                if (m + 1 == k) near_by = d[m];
            adi2d_p_chip_face(per_lane, h, memory, 0, 1, n - 1, j, k, end, step->to, near_by, w[adi2d_p_swizzle(n - 1)],
                              a, b, c, d);
        }
        trid_warp_hybrid(per_lane, width, per_lane * width, a, b, c, d);
        adi2d_p_store_row(per_lane, adi2d_p_array(memory, s ? h->g : h->z) + local * pitch, within, valid, d);
    }
}

/* What a thread solves along y: per_lane rows from `from` on, which block `owner` holds from its row `local` on, of
   columns first + base below `last`, where base grows by `lines`. */
typedef struct {
    int lines, first, last, from, owner, local;
} adi2d_p_columns;

/* Returns what this thread solves along y. */
TB_D adi2d_p_columns adi2d_p_columns_of(int per_lane, const adi2d_p_chip *h)
{
    adi2d_p_columns my;
    my.lines = trid_block_threads() >> trid_log2(h->parts);
    my.first = h->rank * h->share + (trid_block_thread() & (my.lines - 1));
    my.last = h->rank * h->share + h->share < h->n[0] ? h->rank * h->share + h->share : h->n[0];
    my.from = per_lane * (trid_block_thread() >> trid_log2(my.lines));
    if (my.from >= h->n[1]) my.last = 0;
    my.owner = my.last ? my.from / h->each : h->rank;
    my.local = my.last ? my.from - my.owner * h->each : 0;
    return my;
}

/* Returns where row my.from of column i is in an array. */
TB_D trid_cluster_place adi2d_p_column_of(const adi2d_p_chip *h, unsigned char *memory, const adi2d_p_columns *my,
                                          int array, int i)
{
    const int at = my->local * h->pitch + adi2d_p_swizzle(i);
    return trid_cluster_map(memory + array, my->owner) + at * (int)sizeof(tb_real);
}

/* Loads per_lane numbers of a column from `place` on; they are at `own` if the block holds them (own_rows). A thread
   without a valid column gets zeros: what other blocks hold may be about to change. */
TB_D void adi2d_p_load_column(int per_lane, int valid, int own_rows, const tb_real *own, int pitch,
                              trid_cluster_place place, tb_real *d)
{
    const int row = pitch * (int)sizeof(tb_real);
    if (!valid) {
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) d[k] = 0;
    } else if (own_rows) {
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) d[k] = own[k * pitch];
    } else {
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) d[k] = trid_cluster_load(place + k * row);
    }
}

/* Solves along y in stage s, and adds the solution: into u at the end of the last stage, else into z. */
TB_D void adi2d_p_chip_y(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int s, const fd_step *step)
{
    const adi2d_p_step_data *data = (const adi2d_p_step_data *)(memory + h->step_data);
    const tb_real *start = adi2d_p_array(memory, h->now), *end = start + ADI2D_P_OF_T, size = data->of.size;
    const int n = h->n[1], about = s > 0 && data->of.about, changes = !about && adi2d_p_chip_changes(h, memory);
    const int right_of = s ? h->g : h->z, w_of = about ? h->z : h->u, to_of = s == data->of.stages - 1 ? h->u : h->z;
    const int pitch = h->pitch, row = pitch * (int)sizeof(tb_real), share = h->share;
    const adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    const int last = n - 1 - my.from, whole = my.from + per_lane <= n, own_rows = my.owner == h->rank;
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int valid = my.first + base < my.last, i = valid ? my.first + base : 0;
        trid_cluster_place right = adi2d_p_column_of(h, memory, &my, right_of, i);
        trid_cluster_place w = adi2d_p_column_of(h, memory, &my, w_of, i);
        tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
        tb_real x[ADI2D_P_OF_X + 1];
        adi2d_p_numbers_of_x(h, memory, i, x);
        const int at = my.local * pitch + adi2d_p_swizzle(i);
        adi2d_p_load_column(per_lane, valid, own_rows, adi2d_p_array(memory, right_of) + at, pitch, right, d);
        tb_real near_by = 0; /* the right-hand side of the last point's neighbour, if another thread holds it */
        if (valid && last == 0) near_by = adi2d_p_value_of(h, memory, right_of, i, n - 2);
        if (valid && changes) {
            /* The terms along y change; so do those of the last point's neighbour, if another thread holds it. */
            const int low = my.from > 0 ? my.from - 1 : 0, high = my.from + per_lane < n ? my.from + per_lane : n - 1;
            tb_real below = adi2d_p_value_of(h, memory, w_of, i, low), here = trid_cluster_load(w);
            const tb_real after = adi2d_p_value_of(h, memory, w_of, i, high);
            if (last == 0) {
                const fd_cell cell = adi2d_p_cell_of(h, memory, 1, n - 2 + (n - 2) / per_lane);
                const tb_real beyond = adi2d_p_value_of(h, memory, w_of, i, n - 3);
                near_by += size * (adi2d_p_along(1, cell, adi2d_p_chip_terms(per_lane, h, memory, i, n - 2, end),
                                                 beyond, below, here) -
                                   adi2d_p_along(1, cell, adi2d_p_chip_terms(per_lane, h, memory, i, n - 2, start),
                                                 beyond, below, here));
            }
            TB_UNROLL
            for (int k = 0; k < per_lane; k++) {
                const tb_real above = k < per_lane - 1 ? trid_cluster_load(w + (k + 1) * row) : after;
                const fd_cell cell = adi2d_p_cell_of(h, memory, 1, my.from + my.from / per_lane + k);
                tb_real y[ADI2D_P_OF_Y + 1];
                adi2d_terms now = {{0, 0}, {0, 0}, 0, 0}, later = {{0, 0}, {0, 0}, 0, 0};
                adi2d_p_numbers_of_y(per_lane, h, memory, my.from + k, y);
                adi2d_model_terms(x, y, start, &now);
                adi2d_model_terms(x, y, end, &later);
                d[k] += size * (adi2d_p_along(1, cell, later, below, here, above) -
                                adi2d_p_along(1, cell, now, below, here, above));
                below = here, here = above;
            }
            TB_LOOP
            for (int side = 0; side < 2; side++) {
                const int j = side ? n - 1 : 0, kind = h->problem->face[1][side];
                if (j < my.from || j >= my.from + per_lane || (kind != FD_SLOPE && kind != FD_DEGENERATE)) continue;
                tb_real more = adi2d_p_chip_source(h, memory, w_of, 1, side, i, j, end, step->to) -
                               adi2d_p_chip_source(h, memory, w_of, 1, side, i, j, start, step->from);
                TB_UNROLL
                for (int k = 0; k < per_lane; k++)
                    if (my.from + k == j) d[k] += size * more;
            }
        }
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) {
            tb_real y[ADI2D_P_OF_Y + 1];
            adi2d_terms terms = {{0, 0}, {0, 0}, 0, 0};
            adi2d_p_numbers_of_y(per_lane, h, memory, my.from + k, y);
            adi2d_model_terms(x, y, end, &terms);
            const fd_cell cell = adi2d_p_cell_of(h, memory, 1, my.from + my.from / per_lane + k);
            adi2d_p_matrix(adi2d_p_row(1, cell, terms), 0, size, terms.kill, &a[k], &b[k], &c[k]);
        }
        if (valid && my.from == 0)
            adi2d_p_chip_face(per_lane, h, memory, 1, 0, i, 0, 0, end, step->to, d[1], trid_cluster_load(w), a, b, c,
                              d);
        if (valid && last < per_lane) {
            TB_UNROLL
            for (int m = 0; m < per_lane; m++)
                if (m + 1 == last) near_by = d[m];
            adi2d_p_chip_face(per_lane, h, memory, 1, 1, i, n - 1, last, end, step->to, near_by,
                              trid_cluster_load(w + last * row), a, b, c, d);
        }
        if (valid && h->problem->face[0][i > 0] == FD_VALUE && (i == 0 || i == h->n[0] - 1)) {
            TB_UNROLL
            for (int k = 0; k < per_lane; k++) { /* as the solve along x has set them */
                a[k] = c[k] = 0, b[k] = 1;
                d[k] = trid_cluster_load(right + k * row);
            }
        }
        trid_block_interleaved_unchecked(per_lane, my.lines, h->parts, per_lane * h->parts, a, b, c, d,
                                         adi2d_p_array(memory, h->exchange));
        if (valid && own_rows) {
            const tb_real *from = adi2d_p_array(memory, w_of) + at;
            tb_real *to = adi2d_p_array(memory, to_of) + at;
            TB_UNROLL
            for (int k = 0; k < per_lane; k++)
                if (whole || k <= last) to[k * pitch] = from[k * pitch] + d[k];
        } else if (valid) {
            trid_cluster_place to = adi2d_p_column_of(h, memory, &my, to_of, i);
            TB_UNROLL
            for (int k = 0; k < per_lane; k++)
                if (whole || k <= last) trid_cluster_store(to + k * row, trid_cluster_load(w + k * row) + d[k]);
        }
        __syncthreads();
    }
}

#endif /* TB_DEVICE_SCOPES */
