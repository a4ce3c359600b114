/* products.h - a room of adi2d.h, read once a model and precision: steps that are products of factors, on chip.
   One array holds z between steps, u at the end (adi2d_p_product).
   MIT licence, see LICENSE. */

/* Computes z = (1 + size A_2) u. */
TB_D void adi2d_p_chip_open(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const tb_real *end = adi2d_p_chip_time(h, memory, 1);
    const tb_real size = fd_p_chip_step(*h, memory).data.size;
    const int n = h->n[1], share = h->share;
    const adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    const int before = my.from > 0 ? my.from - 1 : 0, after = my.from + per_lane < n ? my.from + per_lane : n - 1;
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int valid = my.first + base < my.last, i = valid ? my.first + base : 0;
        tb_real v[TRID_MOST_ROWS + 1], below = valid ? fd_p_chip_value(*h, memory, h->u, i, before) : 0;
        fd_numbers own[2];
        adi2d_p_load_column(per_lane, h, memory, &my, h->u, i, valid, v);
        v[per_lane] = valid ? fd_p_chip_value(*h, memory, h->u, i, after) : 0;
        adi2d_p_numbers_of_x(h, memory, i, &own[0]);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) {
            const tb_real here = v[k];
            const fd_cell cell = adi2d_p_cell_of(h, memory, 1, my.from + my.from / per_lane + k);
            adi2d_p_numbers_of_y(per_lane, h, memory, my.from + k, &own[1]);
            const fd_terms terms = fd_p_terms(h->t.parameters, own, end);
            v[k] += size * fd_p_along_axis(1, cell, terms, below, here, v[k + 1]);
            below = here;
        }
        __syncthreads(); /* all of these columns' threads are this block's */
        if (valid) adi2d_p_store_column(per_lane, h, memory, &my, h->u, i, n - my.from, v);
    }
}

/* Computes y = 2 z / (1 - size A_1) - z. */
TB_D void adi2d_p_chip_product_x(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const tb_real *end = adi2d_p_chip_time(h, memory, 1);
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
        tb_real *row = u + local * pitch, old[TRID_MOST_ROWS];
        tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
        adi2d_p_numbers_of_y(per_lane, h, memory, first + local, &own[1]);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) d[k] = 0;
        if (valid) adi2d_p_load_row(per_lane, row, within, d); /* those of other lanes are being written */
        adi2d_p_chip_matrix_x(per_lane, h, memory, from, within, own, now.number, a, b, c);
        trid_warp_hybrid(per_lane, width, per_lane * width, a, b, c, d);
        if (!valid) continue;
        adi2d_p_load_row(per_lane, row, within, old);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) d[k] = 2 * d[k] - old[k];
        adi2d_p_store_row(per_lane, row, within, 1, d);
    }
}

/* Factors 1 - size A_2, which is the same for all columns: the factors of partition s are at 5 per_lane s, those of
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
    __syncthreads(); /* the factors before these have been read */
    TB_UNROLL
    for (int e = 0; e < 5 * per_lane; e++)
        if ((thread & (lines - 1)) == 0) to[(thread >> trid_log2(lines)) * 5 * per_lane + e] = f[e];
    TB_UNROLL
    for (int e = 0; e < 12; e++)
        if (thread < parts) to[parts * 5 * per_lane + 12 * thread + e] = f[5 * per_lane + e];
    if (thread == 0) to[parts * (5 * per_lane + 12)] = (tb_real)steps;
    __syncthreads();
}

/* Computes u' = y / (1 - size A_2), and z = 2 u' - y unless the step closes. */
TB_D void adi2d_p_chip_product_y(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const int close = fd_p_chip_step(*h, memory).close;
    const tb_real *end = adi2d_p_chip_time(h, memory, 1);
    const tb_real twice = close ? 1 : 2, less = close ? 0 : 1;
    const int share = h->share, parts = h->parts;
    const adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    const int part = trid_block_thread() >> trid_log2(my.lines);
    tb_real *exchange = adi2d_p_array(memory, h->exchange), *factors = adi2d_p_array(memory, h->factors);
    fd_numbers now;
    const int steps = adi2d_p_independent ? (int)factors[parts * (5 * per_lane + 12)] : 0;
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = end[q];
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int valid = my.first + base < my.last, i = valid ? my.first + base : 0;
        tb_real d[TRID_MOST_ROWS], old[TRID_MOST_ROWS];
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
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) d[k] = twice * d[k] - less * old[k];
        /* There are rows beyond the last, which stay 0. */
        if (valid) adi2d_p_store_column(per_lane, h, memory, &my, h->u, i, per_lane, d);
        if (!adi2d_p_independent)
            __syncthreads(); /* the next call of the stored solve does not write what is still read */
    }
}
