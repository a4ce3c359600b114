/* product.h - a room of adi2d.h, read once for each model and precision: steps that are products of factors
   (adi2d_p_may_be_product) on the host. Here h->z holds z = (1 + dt A_2 / 2) u, not a first stage's values.
   MIT licence, see LICENSE. */

#define adi2d_p_host_open FD_OF(p_2d_host_open)
#define adi2d_p_host_product FD_OF(p_2d_host_product)

/* Computes row j of z from the values. */
FD_P_FLAT void adi2d_p_host_open(const fd_p_host *h, int j, const fd_p_step *step, tb_real *FD_P_RESTRICT z)
{
    const tb_real *u = fd_p_host_row(h, h->u, j, 0), *low = fd_p_host_row(h, h->u, j - 1, 0);
    const tb_real *high = fd_p_host_row(h, h->u, j + 1, 0), size = step->data.size;
    const fd_cell cell = h->t.cell[1][j];
    const int n = h->n[0], index[3] = {0, j, 0};
    fd_p_host_model model = fd_p_host_model_of(h, 0, index, step->time[1]);
    for (int i = 0; i < n; i++)
        z[i] = u[i] + size * fd_p_along_axis(1, cell, fd_p_host_terms(&model, 0, i), low[i], u[i], high[i]);
}

/* Does a worker's part of a step that is a product. Along x the result is twice the solution minus the right-hand side.
   Along y it is formed in the same way, and is the z with which the next product begins. But if step->close is set,
   or if the march is watched, the solution along y is stored instead: it is u. */
TB_HOST void adi2d_p_host_product(const fd_p_host *h, const fd_p_step *step)
{
    const int *n = h->n, w = h->worker, rows = fd_p_host_groups(n[1]), columns = fd_p_host_groups(n[0]);
    const size_t pitch = h->pitch, lanes = FD_P_HOST_LANES;
    for (int g = fd_p_host_share(h, rows, w); g < fd_p_host_share(h, rows, w + 1); g++) {
        const int j = g * FD_P_HOST_LANES, lines = fd_p_host_group(n[1], g);
        const size_t at = (size_t)j * pitch;
        for (int b = 0; b < lines && (step->open || h->watched); b++)
            adi2d_p_host_open(h, j + b, step, h->z + (size_t)(j + b) * pitch);
        fd_p_host_transpose(lines, n[0], h->z + at, pitch, h->transposed, lanes);
        const tb_real *z = h->transposed;
        const fd_p_host_lines of = {step, lines, 0, j, 0, 0, z, z, h->tile, lanes, lanes, 1, 2, -1};
        fd_p_host_forward(h, 0, &of);
        fd_p_host_back(h, 0, &of);
        fd_p_host_transpose(n[0], lines, h->tile, lanes, h->d + at, pitch);
    }
    fd_p_host_meet(h);
    for (int g = fd_p_host_share(h, columns, w); g < fd_p_host_share(h, columns, w + 1); g++) {
        const int i = g * FD_P_HOST_LANES, lines = fd_p_host_group(n[0], g), ends = step->close || h->watched;
        const tb_real *d = h->d + i, times = ends ? 1 : 2, plus = 1 - times;
        tb_real *to = (ends ? h->u : h->z) + i;
        const fd_p_host_lines of = {step, lines, i, 0, 0, 0, d, d, to, pitch, pitch, 1, times, plus};
        fd_p_host_forward(h, 1, &of);
        fd_p_host_back(h, 1, &of);
    }
    fd_p_host_meet(h);
}
