/* products.h - a room of adi2d.h, read once for each model and precision: steps that are products of factors, on chip.
   One array holds z between steps and u at the end (adi2d_p_may_be_product).
   MIT licence, see LICENSE. */

/* Computes z = (1 + size A_2) u. */
TB_D void adi2d_p_chip_open(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const tb_real *end = adi2d_p_chip_time(h, memory, 1);
    const tb_real size = fd_p_chip_step(*h, memory).data.size;
    const int n = h->n[1], row = h->pitch * (int)sizeof(tb_real), share = h->share;
    const adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int valid = my.first + base < my.last, i = valid ? my.first + base : 0;
        const int low = valid && my.from > 0 ? my.from - 1 : 0,
                  high = my.from + per_lane < n ? my.from + per_lane : n - 1;
        trid_cluster_place at = adi2d_p_column_of(h, memory, &my, h->u, i);
        tb_real d[TRID_MOST_ROWS], here = 0, below = 0, after = 0;
        fd_numbers own[2];
        if (valid) {
            here = trid_cluster_load(at);
            below = fd_p_chip_value(*h, memory, h->u, i, low);
            after = fd_p_chip_value(*h, memory, h->u, i, high);
        }
        adi2d_p_numbers_of_x(h, memory, i, &own[0]);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) {
            const tb_real above = k < per_lane - 1 && valid ? trid_cluster_load(at + (k + 1) * row) : after;
            const fd_cell cell = adi2d_p_cell_of(h, memory, 1, my.from + my.from / per_lane + k);
            adi2d_p_numbers_of_y(per_lane, h, memory, my.from + k, &own[1]);
            const fd_terms terms = fd_p_terms(h->t.parameters, own, end);
            d[k] = here + size * fd_p_along_axis(1, cell, terms, below, here, above);
            below = here, here = above;
        }
        __syncthreads(); /* all threads of these columns are in this block */
        TB_UNROLL
        for (int k = 0; k < per_lane; k++)
            if (valid && my.from + k < n) trid_cluster_store(at + k * row, d[k]);
    }
}

/* Computes y = 2 z / (1 - size A_1) - z. */
TB_D void adi2d_p_chip_product_x(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const tb_real *end = adi2d_p_chip_time(h, memory, 1);
    const tb_real size = fd_p_chip_step(*h, memory).data.size;
    const int width = h->width, lane = trid_block_thread() & (width - 1),
              group = trid_block_thread() >> trid_log2(width);
    const int groups = trid_block_threads() >> trid_log2(width), from = per_lane * lane, n = h->n[0], pitch = h->pitch;
    const int whole = (trid_block_thread() & ~31) >> trid_log2(width); /* the first of the warp's lines */
    const int within = from < pitch ? from : 0, rows = h->rows, first = h->row_first;
    tb_real *u = adi2d_p_array(memory, h->u);
    fd_numbers own[2], now;
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = end[q];
    TB_LOOP
    for (int base = 0; base + whole < rows; base += groups) {
        const int valid = base + group < rows && from < n, local = base + group < rows ? base + group : rows - 1;
        tb_real *row = u + local * pitch;
        tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
        adi2d_p_numbers_of_y(per_lane, h, memory, first + local, &own[1]);
        TB_UNROLL
        for (int q = 0; q < per_lane / ADI2D_P_PIECE; q++) {
            adi2d_p_pieces number[fd_p_numbers_x], piece;
            TB_UNROLL
            for (int e = 0; e < ADI2D_P_PIECE; e++) piece.v[e] = 0;
            if (valid) piece = *adi2d_p_piece_of(row, within, q); /* other lanes' pieces are being written */
            adi2d_p_number_pieces(h, memory, within, q, number);
            TB_UNROLL
            for (int e = 0; e < ADI2D_P_PIECE; e++) {
                const int k = q * ADI2D_P_PIECE + e;
                TB_UNROLL
                for (int m = 0; m < fd_p_numbers(0); m++) own[0].number[m] = number[m].v[e];
                const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
                fd_p_matrix(0, 0, adi2d_p_cell_of(h, memory, 0, from + lane + k), terms, size, &a[k], &b[k], &c[k]);
                d[k] = piece.v[e];
            }
        }
        trid_warp_hybrid(per_lane, width, per_lane * width, a, b, c, d);
        TB_UNROLL
        for (int q = 0; q < per_lane / ADI2D_P_PIECE; q++) {
            if (!valid) continue;
            adi2d_p_pieces *at = adi2d_p_piece_of(row, within, q), piece = *at;
            TB_UNROLL
            for (int e = 0; e < ADI2D_P_PIECE; e++) piece.v[e] = 2 * d[q * ADI2D_P_PIECE + e] - piece.v[e];
            *at = piece;
        }
    }
}

/* Factors 1 - size A_2, which is the same for all columns. The factors of partition s are at 5 per_lane s, those of
   reduced row r at 5 per_lane parts + 12 r. */
FD_P_CALLED_D void adi2d_p_chip_factor(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const tb_real *now = adi2d_p_chip_time(h, memory, 1);
    const adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    const int parts = h->parts, lines = my.lines, thread = trid_block_thread();
    tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS];
    tb_real f[TRID_INTERLEAVED_FACTOR_LEN(TRID_MOST_ROWS)], *to = adi2d_p_array(memory, h->factors);
    fd_numbers own[2];
    int steps;
    adi2d_p_numbers_of_x(h, memory, 0, &own[0]);
    adi2d_p_chip_matrix_y(per_lane, h, memory, per_lane * (thread >> trid_log2(lines)), own, now, a, b, c);
    trid_block_interleaved_factor(per_lane, lines, parts, per_lane * parts, a, b, c, f, &steps,
                                  adi2d_p_array(memory, h->exchange));
    __syncthreads(); /* all threads have read the previous factors */
    TB_UNROLL
    for (int e = 0; e < 5 * per_lane; e++)
        if ((thread & (lines - 1)) == 0) to[(thread >> trid_log2(lines)) * 5 * per_lane + e] = f[e];
    TB_UNROLL
    for (int e = 0; e < 12; e++)
        if (thread < parts) to[parts * 5 * per_lane + 12 * thread + e] = f[5 * per_lane + e];
    if (thread == 0) to[parts * (5 * per_lane + 12)] = (tb_real)steps;
    __syncthreads();
}

/* Computes u' = y / (1 - size A_2), and z = 2 u' - y unless the step closes a sequence of products. */
TB_D void adi2d_p_chip_product_y(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const int close = fd_p_chip_step(*h, memory).close;
    const tb_real *end = adi2d_p_chip_time(h, memory, 1);
    const tb_real twice = close ? 1 : 2, less = close ? 0 : 1;
    const int pitch = h->pitch, row = pitch * (int)sizeof(tb_real), share = h->share, parts = h->parts;
    const adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    const int own_rows = my.owner == h->rank, part = trid_block_thread() >> trid_log2(my.lines);
    tb_real *u = adi2d_p_array(memory, h->u), *exchange = adi2d_p_array(memory, h->exchange);
    tb_real *factors = adi2d_p_array(memory, h->factors);
    fd_numbers now;
    const int steps = adi2d_p_independent ? (int)factors[parts * (5 * per_lane + 12)] : 0;
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = end[q];
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int valid = my.first + base < my.last, i = valid ? my.first + base : 0;
        trid_cluster_place at = adi2d_p_column_of(h, memory, &my, h->u, i);
        tb_real d[TRID_MOST_ROWS], old[TRID_MOST_ROWS], *own = u + my.local * pitch + fd_p_swizzle(i);
        adi2d_p_load_column(per_lane, h, memory, &my, h->u, i, valid, d);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) old[k] = d[k];
        if (adi2d_p_independent) {
            tb_real f[5 * TRID_MOST_ROWS];
            const adi2d_p_pieces *from = (const adi2d_p_pieces *)(factors + part * 5 * per_lane);
            TB_UNROLL
            for (int q = 0; q < 5 * per_lane / ADI2D_P_PIECE; q++) {
                adi2d_p_pieces piece = from[q];
                TB_UNROLL
                for (int e = 0; e < ADI2D_P_PIECE; e++) f[q * ADI2D_P_PIECE + e] = piece.v[e];
            }
            trid_block_interleaved_solve_stored(
                per_lane, my.lines, parts, per_lane * parts, steps, f,
                factors + parts * 5 * per_lane + 12 * (trid_block_thread() & (parts - 1)), 1, d, exchange);
        } else {
            tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS];
            fd_numbers own[2];
            adi2d_p_numbers_of_x(h, memory, i, &own[0]);
            adi2d_p_chip_matrix_y(per_lane, h, memory, my.from, own, now.number, a, b, c);
            trid_block_interleaved_unchecked(per_lane, my.lines, parts, per_lane * parts, a, b, c, d, exchange);
        }
        /* Rows beyond the last stay 0. */
        if (valid && own_rows) {
            TB_UNROLL
            for (int k = 0; k < per_lane; k++) own[k * pitch] = twice * d[k] - less * old[k];
        } else if (valid) {
            TB_UNROLL
            for (int k = 0; k < per_lane; k++) trid_cluster_store(at + k * row, twice * d[k] - less * old[k]);
        }
        if (!adi2d_p_independent)
            __syncthreads(); /* the next stored solve must not overwrite data that are still being read */
    }
}
