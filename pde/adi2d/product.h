/* product.h - a room of adi2d.h, read once for each model and precision: steps that are products of factors
   (adi2d_p_may_be_product) on the host. z = (1 + dt A_2 / 2) u takes the place of a first stage's values.
   MIT licence, see LICENSE. */

#define adi2d_p_host_open FD_OF(p_2d_host_open)
#define adi2d_p_host_product_x FD_OF(p_2d_host_product_x)
#define adi2d_p_host_product FD_OF(p_2d_host_product)

/* Computes row j of z from the values. */
FD_P_FLAT void adi2d_p_host_open(const fd_p_host *h, int j, const fd_p_step *step, tb_real *FD_P_RESTRICT z)
{
    const tb_real *FD_P_RESTRICT u = fd_p_host_row(h, h->u, j, 0),
                                 *FD_P_RESTRICT low = fd_p_host_row(h, h->u, j - 1, 0);
    const tb_real *FD_P_RESTRICT high = fd_p_host_row(h, h->u, j + 1, 0), *FD_P_RESTRICT numbers = h->t.number[0];
    const size_t room = (size_t)h->t.room[0];
    const fd_cell cell = h->t.cell[1][j];
    const int n = h->n[0];
    fd_numbers own[3], now;
    fd_p_host_take_row(h, j, 0, step->time[1], own, &now);
    for (int i = 0; i < n; i++) {
        fd_p_host_take(0, numbers, room, (size_t)i, &own[0]);
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
        z[i] = u[i] + step->data.size * fd_p_along_axis(1, cell, terms, low[i], u[i], high[i]);
    }
}

/* Solves rows j .. j + lines - 1 of z along x, and leaves twice the solution minus z in d. */
TB_HOST void adi2d_p_host_product_x(const fd_p_host *h, int lines, int j, const fd_p_step *step)
{
    const int n = h->n[0];
    const size_t pitch = h->pitch, at = (size_t)j * pitch;
    fd_p_host_transpose(lines, n, h->z + at, pitch, h->transposed, FD_P_HOST_LANES);
    const fd_p_host_lines of = {step, lines, 0, j, 0, h->transposed, h->zeros, FD_P_HOST_LANES, 0, 0};
    fd_p_host_forward_x(h, &of);
    fd_p_host_back_x(h);
    fd_p_host_transpose(n, lines, h->tile, FD_P_HOST_LANES, h->d + at, pitch);
    for (int b = 0; b < lines; b++) {
        tb_real *d = h->d + at + (size_t)b * pitch;
        const tb_real *z = h->z + at + (size_t)b * pitch;
        for (int i = 0; i < n; i++) d[i] = 2 * d[i] - z[i];
    }
}

/* Does a worker's part of a step that is a product; z persists from one such step to the next. */
TB_HOST void adi2d_p_host_product(const fd_p_host *h, const fd_p_step *step)
{
    const int *n = h->n, w = h->worker, rows = fd_p_host_groups(n[1]), columns = fd_p_host_groups(n[0]);
    const size_t pitch = h->pitch;
    for (int g = fd_p_host_share(h, rows, w); g < fd_p_host_share(h, rows, w + 1); g++) {
        const int j = g * FD_P_HOST_LANES, lines = fd_p_host_group(n[1], g);
        for (int b = 0; b < lines && step->open; b++) adi2d_p_host_open(h, j + b, step, h->z + (size_t)(j + b) * pitch);
        adi2d_p_host_product_x(h, lines, j, step);
    }
    fd_p_host_meet(h);
    for (int g = fd_p_host_share(h, columns, w); g < fd_p_host_share(h, columns, w + 1); g++) {
        const int i = g * FD_P_HOST_LANES, lines = fd_p_host_group(n[0], g);
        const fd_p_host_lines of = {step, lines, i, 0, 0, h->d + i, h->zeros, pitch, 0, 0};
        fd_p_host_forward_last(h, &of);
        fd_p_host_back_last(h, 0, 0, &of, h->u + i);
        for (int j = 0; j < n[1] && !step->close; j++) {
            const tb_real *u = h->u + (size_t)j * pitch + i, *d = h->d + (size_t)j * pitch + i;
            tb_real *z = h->z + (size_t)j * pitch + i;
            for (int b = 0; b < lines; b++) z[b] = 2 * u[b] - d[b];
        }
    }
    fd_p_host_meet(h);
}
