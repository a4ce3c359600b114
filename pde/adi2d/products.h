/* products.h - a room of adi2d.h, read once for each model and precision: steps that are products of factors, on chip.
   adi2d_p_may_be_product defines z, y and z'. One array holds u and, within a step, z and then y. Between two steps it
   holds z' instead of u if the second begins with z' (adi2d_p_continues).
   MIT licence, see LICENSE. */

/* Computes z = (1 + size A_2) u. */
TB_D void adi2d_p_chip_open(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const fd_p_step &step = fd_p_chip_step(*h, memory);
    const int share = h->share;
    adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        tb_real u[TRID_MOST_ROWS + 1], d[TRID_MOST_ROWS], below;
        fd_numbers own[2];
        adi2d_p_column_at(base, &my);
        adi2d_p_numbers_of_x(h, memory, my.i, &own[0]);
        below = adi2d_p_load_column_around(per_lane, h, memory, &my, h->u, u);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) {
            const fd_cell cell = adi2d_p_cell_of(h, memory, 1, my.from + my.from / per_lane + k);
            adi2d_p_numbers_of_y(per_lane, h, memory, my.from + k, &own[1]);
            const fd_terms terms = fd_p_terms(h->t.parameters, own, step.time[1]);
            d[k] = u[k] + step.data.size * fd_p_along_axis(1, cell, terms, below, u[k], u[k + 1]);
            below = u[k];
        }
        __syncthreads(); /* all threads of these columns are in this block */
        if (my.valid) adi2d_p_store_column(per_lane, h, memory, &my, h->u, h->n[1] - my.from, d);
    }
}

/* Computes y = 2 z / (1 - size A_1) - z. */
TB_D void adi2d_p_chip_product_x(int per_lane, const adi2d_p_chip *shared, unsigned char *memory)
{
    const adi2d_p_chip chip = *shared, *h = &chip; /* in registers; `shared` would be read again after each store */
    const int width = h->width, rows = h->rows;
    adi2d_p_line l = adi2d_p_line_of(per_lane, h, memory, 0);
    const tb_real size = l.step->data.size;
    fd_numbers own[2], now;
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = l.step->time[1][q];
    TB_LOOP
    for (int base = 0; base + l.whole < rows; base += l.groups) {
        adi2d_p_rows r;
        adi2d_p_line_at(h, base, &l);
        tb_real *row = adi2d_p_array(memory, h->u) + l.local * h->pitch;
        adi2d_p_numbers_of_y(per_lane, h, memory, l.j, &own[1]);
        TB_UNROLL
        for (int q = 0; q < per_lane / adi2d_p_piece; q++) {
            tb_real number[fd_p_numbers_x][adi2d_p_piece], *d = r.d + q * adi2d_p_piece;
            TB_UNROLL
            for (int e = 0; e < adi2d_p_piece; e++) d[e] = 0;
            /* Other lanes may be writing what a lane without a valid line would load. */
            if (l.valid) transpose_unpack(*adi2d_p_piece_of(row, l.within, q), d);
            adi2d_p_number_pieces(h, memory, l.within, q, number);
            TB_UNROLL
            for (int e = 0; e < adi2d_p_piece; e++) {
                const int k = q * adi2d_p_piece + e;
                TB_UNROLL
                for (int m = 0; m < fd_p_numbers(0); m++) own[0].number[m] = number[m][e];
                const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
                const fd_cell cell = adi2d_p_cell_of(h, memory, 0, l.from + l.lane + k);
                fd_p_matrix(0, 0, cell, terms, size, &r.a[k], &r.b[k], &r.c[k]);
            }
        }
        trid_warp_hybrid(per_lane, width, per_lane * width, r.a, r.b, r.c, r.d);
        TB_UNROLL
        for (int q = 0; q < per_lane / adi2d_p_piece; q++) {
            if (!l.valid) continue;
            transpose_vector *at = adi2d_p_piece_of(row, l.within, q);
            tb_real z[adi2d_p_piece];
            transpose_unpack(*at, z);
            TB_UNROLL
            for (int e = 0; e < adi2d_p_piece; e++) z[e] = 2 * r.d[q * adi2d_p_piece + e] - z[e];
            *at = transpose_pack(z);
        }
    }
}

/* Factors 1 - size A_2, which is the same for all columns. The factors of partition s of `parts` are at
   5 * per_lane * s, those of reduced row r at 5 * per_lane * parts + 12 * r. The number of PCR steps is last. */
FD_P_CALLED_D void adi2d_p_chip_factor(int per_lane, const adi2d_p_chip *h, unsigned char *memory)
{
    const int parts = h->parts, thread = trid_block_thread(), lines = trid_block_threads() >> trid_log2(parts);
    adi2d_p_rows r;
    tb_real f[TRID_INTERLEAVED_FACTOR_LEN(TRID_MOST_ROWS)], *to = adi2d_p_array(memory, h->factors);
    fd_numbers own[2];
    int steps;
    adi2d_p_numbers_of_x(h, memory, 0, &own[0]);
    adi2d_p_chip_matrix_y(per_lane, h, memory, per_lane * (thread >> trid_log2(lines)), own,
                          fd_p_chip_step(*h, memory).time[1], &r);
    trid_block_interleaved_factor(per_lane, lines, parts, per_lane * parts, r.a, r.b, r.c, f, &steps,
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

/* Computes u' = y / (1 - size A_2). Stores u' if step.close is set, otherwise z' = 2 u' - y. */
TB_D void adi2d_p_chip_product_y(int per_lane, const adi2d_p_chip *shared, unsigned char *memory)
{
    const adi2d_p_chip chip = *shared, *h = &chip; /* in registers; `shared` would be read again after each store */
    const fd_p_step &step = fd_p_chip_step(*h, memory);
    const tb_real twice = step.close ? 1 : 2, less = step.close ? 0 : 1;
    const int share = h->share, parts = h->parts;
    adi2d_p_columns my = adi2d_p_columns_of(per_lane, h);
    tb_real *exchange = adi2d_p_array(memory, h->exchange), *factors = adi2d_p_array(memory, h->factors);
    fd_numbers now;
    const int steps = adi2d_p_independent ? (int)factors[parts * (5 * per_lane + 12)] : 0;
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = step.time[1][q];
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        adi2d_p_rows r;
        tb_real old[TRID_MOST_ROWS];
        adi2d_p_column_at(base, &my);
        adi2d_p_load_column(per_lane, h, memory, &my, h->u, r.d);
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) old[k] = r.d[k];
        if (adi2d_p_independent) {
            tb_real f[5 * TRID_MOST_ROWS];
            const int part = trid_block_thread() >> trid_log2(my.lines);
            const transpose_vector *from = (const transpose_vector *)(factors + part * 5 * per_lane);
            TB_UNROLL
            for (int q = 0; q < 5 * per_lane / adi2d_p_piece; q++) transpose_unpack(from[q], f + q * adi2d_p_piece);
            trid_block_interleaved_solve_stored(
                per_lane, my.lines, parts, per_lane * parts, steps, f,
                factors + parts * 5 * per_lane + 12 * (trid_block_thread() & (parts - 1)), 1, r.d, exchange);
        } else {
            fd_numbers own[2];
            adi2d_p_numbers_of_x(h, memory, my.i, &own[0]);
            adi2d_p_chip_matrix_y(per_lane, h, memory, my.from, own, now.number, &r);
            trid_block_interleaved_unchecked(per_lane, my.lines, parts, per_lane * parts, r.a, r.b, r.c, r.d, exchange);
        }
        TB_UNROLL
        for (int k = 0; k < per_lane; k++) r.d[k] = twice * r.d[k] - less * old[k];
        /* Rows beyond the last stay 0. */
        if (my.valid) adi2d_p_store_column(per_lane, h, memory, &my, h->u, per_lane, r.d);
        if (!adi2d_p_independent)
            __syncthreads(); /* before the next solve writes to `exchange`; stored solves need no barrier */
    }
}
