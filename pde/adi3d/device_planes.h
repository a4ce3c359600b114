/* device_planes.h - a room of adi3d.h, read once for each model and precision: how a GPU's sweeps also solve along
   z, and the reduced system of the partitions of z.
   MIT licence, see LICENSE. */

/* Where all lines along z share one matrix, and the matrices along y do not depend on z, the two solves commute. Then
   the upward sweep, which solves along x, also runs the forward elimination along z on its solutions, plane by plane,
   and the downward sweep, which solves along y, first substitutes back along z in each plane: see docs/adi3d.md. z is
   cut into partitions, each eliminated independently. With x[k] the unknowns of a line along z, and l, h, r, q and s
   the factors of plane k,
       y[k] = d[k] - l y[k-1],   x[k] = r y[k] - q x[k+1] - s x[last of the partition before],
   and the partition's first unknown is the sum of h y, minus a multiple of the previous partition's last unknown
   and a multiple of this one's. So the last unknowns of all partitions satisfy a tridiagonal system. */

/* Returns the first plane of a partition. */
TB_HD int adi3d_p_partition(const adi3d_p_device &h, int partition)
{
    return h.n[2] * partition / h.partitions;
}

/* Returns whether a step's solves along y and z commute. Changes within the step (step.changes) rule that out, and
   so does any FD_SLOPE face, whose slope may change. So does a face of y or z whose value is given: the solve along the
   other axis must not change that value. So does FD_DEGENERATE at a face of z or at the last point of y: its row needs
   the neighbour's right-hand side. Along z this has already been overwritten or is still to come; at the last point of
   y another thread may hold it. */
TB_HOST int adi3d_p_device_commutes(const adi3d_p_device &h, const fd_p_step &step)
{
    const int *y = h.face[1], *z = h.face[2];
    return adi3d_p_fusible && !step.changes && (y[0] == FD_LINEAR || y[0] == FD_DEGENERATE) && y[1] == FD_LINEAR &&
           z[0] == FD_LINEAR && z[1] == FD_LINEAR;
}

/* Returns the best number of pieces of the upward sweep, as trid_best_pieces does, but with whole partitions in each
   piece. */
TB_HOST int adi3d_p_device_upward_pieces(const adi3d_p_device &h, int blocks, int slots)
{
    int best = 1, least = 0;
    for (int s = 1; slots > 0 && s <= h.partitions; s++) {
        const int planes = ((h.partitions - 1) / s + 1) * ((h.n[2] - 1) / h.partitions + 1);
        const int time = ((blocks * s - 1) / slots + 1) * (planes + 3);
        if (s == 1 || time < least) least = time, best = s;
    }
    return best;
}

/* Factors a partition: writes the factors of its planes.
   Leaves   link: s and q of its last row; the couplings of its first unknown to the last unknowns of the previous
            partition and of this one */
TB_D void adi3d_p_device_factor_partition(const adi3d_p_device &h, const fd_p_step &step, int partition, double *link)
{
    const int from = adi3d_p_partition(h, partition), to = adi3d_p_partition(h, partition + 1);
    double above_r = 0, above_c = 0, g = 0, product = 1, before = 0;
    for (int k = from; k < to; k++) {
        const int last = k == to - 1;
        const int line[3] = {0, 0, k};
        tb_real row[3], *const none = 0;
        fd_numbers own[3];
        fd_p_line_numbers<2>(h, line, own);
        fd_p_line_rows<2, 1>(h, step, own, fd_p_line_own<2>(h, k), row, row + 1, row + 2);
        fd_p_put_faces<2, 1>(h, k, none, row, row + 1, row + 2, none);
        const double a = k > 0 ? (double)row[0] : 0, c = (double)row[2];
        const double l = a * above_r, r = 1 / ((double)row[1] - l * above_c), q = c * r;
        g = k == from ? a : -l * g;
        const tb_real first = last || trid_abs((tb_real)product) < trid_roundoff() ? 0 : (tb_real)(product * r);
        const adi3d_p_plane plane = {
            (tb_real)l, first, last ? (tb_real)(1 + partition) : 0, (tb_real)r, (tb_real)q, (tb_real)(g * r), {0, 0}};
        h.planes[k] = plane;
        if (last)
            link[0] = g * r, link[1] = q;
        else
            before += product * g * r, product *= -q;
        above_r = r, above_c = c;
    }
    link[2] = before, link[3] = -product;
}

/* Factors all partitions, with a thread for each, and the system of their last unknowns. With x[s] the last unknown of
   partition s, row s of that system is x[s] + link[0] x[s-1] + link[1] f[s+1] = r y, with r and y of the partition's
   last row. In it f[s+1], the first unknown of the next partition, is expressed in x[s] and x[s+1]. */
template <int unused>
TRID_KERNEL void __launch_bounds__(32)
    adi3d_p_device_factor_planes(const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step)
{
    __shared__ double link[ADI3D_P_PARTITIONS + 1][4];
    const int thread = (int)threadIdx.x;
    if (thread < h.partitions) adi3d_p_device_factor_partition(h, step, thread, link[thread]);
    __syncthreads();
    if (thread > 0) return;
    double above = 0;
    for (int s = 0; s < h.partitions; s++) {
        const int more = s < h.partitions - 1;
        const double in = link[s][0], out = more ? link[s][1] : 0;
        const double pivot = 1 - in * above - (more ? out * link[s + 1][2] : 0);
        above = more ? -out * link[s + 1][3] / pivot : 0;
        const adi3d_p_link of = {(tb_real)in, (tb_real)out, (tb_real)(1 / pivot), (tb_real)above};
        h.links[s] = of;
    }
}

/* Solves the system of the last unknowns, with a thread for each point of a plane. h.ends holds the right-hand sides of
   the first rows of all partitions, then those of their last rows, which the last unknowns replace. */
template <int unused>
TRID_KERNEL void __launch_bounds__(128) adi3d_p_device_interfaces(const __grid_constant__ adi3d_p_device h)
{
    enum { most = ADI3D_P_PARTITIONS };
    const int at = (int)(blockIdx.x * blockDim.x + threadIdx.x), partitions = h.partitions;
    if (at >= h.plane || at % h.pitch >= h.n[0]) return;
    const tb_real *firsts = h.ends + at;
    tb_real *lasts = h.ends + at + partitions * h.plane, first[most + 1], x[most + 1];
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        first[s] = s < partitions ? firsts[s * h.plane] : 0;
        x[s] = s < partitions ? lasts[s * h.plane] : 0;
    }
    first[most] = x[most] = 0;
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        if (s >= partitions) break;
        const adi3d_p_link link = h.links[s];
        x[s] = link.pivot * (x[s] - link.out * first[s + 1] - link.in * (s > 0 ? x[s > 0 ? s - 1 : 0] : 0));
    }
    TB_UNROLL
    for (int s = most - 1; s >= 0; s--) {
        if (s >= partitions) continue;
        x[s] -= h.links[s].above * x[s + 1];
        lasts[s * h.plane] = x[s];
    }
}
