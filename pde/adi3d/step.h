/* step.h - a room of adi3d.h, read once for each model and precision: F at a point, for kernels.
   MIT licence, see LICENSE. */

/* Returns mixed F_0 + own (F_1 + F_2 + F_3) at a point, without the faces' terms. The value at (i, j, k), -1 .. 1,
   around it is v[13 + i + 3 j + 9 k]; the eight corners are not read. fd_p_host_mixed and the march along x in
   device_x.h compute the mixed terms of many points at once.
   Cost     19 values; about 50 operations for the mixed terms and 25 for the others */
TB_HD tb_real adi3d_p_apply(const fd_cell *cell, const fd_terms *terms, tb_real mixed, tb_real own, const tb_real *v)
{
    const tb_real before[3] = {v[12], v[10], v[4]}, after[3] = {v[14], v[16], v[22]};
    const tb_real sum = own * fd_p_own(cell, terms, v[13], before, after);
    tb_real down[3], up[3], cross[3] = {0, 0, 0};
    if (!FD_MODEL_MIXED) return sum;
    TB_UNROLL
    for (int d = 0; d < 3; d++) down[d] = cell[d].below * (1 - cell[d].w), up[d] = cell[d].above * cell[d].w;
    /* Differences of slopes along x and y, taken in the middle of each plane and row. */
    if (FD_MODEL_MIXED & 4) {
        tb_real low = fd_p_first(down[1], up[1], v[1], v[4], v[7]);
        tb_real here = fd_p_first(down[1], up[1], v[10], v[13], v[16]);
        tb_real high = fd_p_first(down[1], up[1], v[19], v[22], v[25]);
        cross[2] = fd_p_first(down[2], up[2], low, here, high);
    }
    tb_real here = fd_p_first(down[0], up[0], v[12], v[13], v[14]);
    if (FD_MODEL_MIXED & 2) {
        tb_real low = fd_p_first(down[0], up[0], v[3], v[4], v[5]);
        tb_real high = fd_p_first(down[0], up[0], v[21], v[22], v[23]);
        cross[1] = fd_p_first(down[2], up[2], low, here, high);
    }
    if (FD_MODEL_MIXED & 1) {
        tb_real low = fd_p_first(down[0], up[0], v[9], v[10], v[11]);
        tb_real high = fd_p_first(down[0], up[0], v[15], v[16], v[17]);
        cross[0] = fd_p_first(down[1], up[1], low, here, high);
    }
    return sum + mixed * fd_p_mix(terms, cross);
}
