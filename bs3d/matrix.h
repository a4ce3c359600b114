/* matrix.h - a room of bs3d.h: the rows of the matrices A_x, A_y and A_z, and their factors.
   MIT licence, see LICENSE. */

/* Returns the number of warps of a block in the kernels of implicit1 and implicit2 that solve only x. */
TB_HD constexpr int bs3d_p_x_warps(int per_lane)
{
    return per_lane <= 8 ? 8 : 4;
}

/* For each half h of a row, the table of x holds n elements of each lane; element e is at
   [BS3D_P_X_FACTORS + 32 (n h + e) + lane]. For implicit2's upward sweep, n is BS3D_P_HALF, and the elements are the
   factors, the points' couplings to the other half's unknown at the seam, and the numbers of bs3d_p_factor_seam. For
   implicit3, and for implicit2's kernel that solves only x, n is bs3d_p_row_factors, and the elements are l, u, r, and
   the numbers of trid_warp_lu_precompute and bs3d_p_factor_seam. implicit3 has such a table for y too, at
   BS3D_P_Y_FACTORS. */
enum { BS3D_P_HALF = TRID_WARP_FACTOR_LEN(8) + 8 + 1 };
TB_HD constexpr int bs3d_p_row_factors(int per_lane)
{
    return 3 * per_lane + TRID_WARP_LU_PRECOMPUTED_LEN + 1;
}

/* Computes row i of an axis's matrix (bs1d_lane_matrix); an identity row beyond the grid. With `plain` it computes in
   the march's precision; this requires that there is no upwinding and that the last row keeps its drift
   (bs3d_p_plain). */
template <int plain = 0>
TB_D void bs3d_p_matrix_row(const bs3d_p_plan *plan, int axis, int i, tb_real *a, tb_real *b, tb_real *c)
{
    const bs3d_model *m = &plan->model;
    const int last = i == m->points[axis] - 1, inside = i < m->points[axis];
    if (plain) {
        tb_real lambda = (tb_real)m->variance[axis] * (tb_real)(i * i), gamma = (tb_real)m->drift[axis] * (tb_real)i;
        *a = !inside ? 0 : last ? 2 * gamma : gamma - lambda;
        *b = (tb_real)(axis == 0 && inside ? 1 + m->discount : 1) + (!inside ? 0 : last ? -2 * gamma : 2 * lambda);
        *c = !inside || last ? 0 : -gamma - lambda;
        return;
    }
    double down = 0, centre = 1, up = 0;
    if (inside) bs1d_lane_matrix(bs3d_axis_of(m, axis), 1, i, &down, &centre, &up);
    *a = (tb_real)down;
    *b = (tb_real)centre;
    *c = (tb_real)up;
}

/* ---- z: partitions, and the reduced system over their interface unknowns ----------------------------------------- */

/* Factors planes `from` .. `to` - 1 of the z systems, a partition. With y[k] = d[k] - l y[k-1] its rows become
       x[k] = r y[k] - q x[k+1] - s x[from-1],
   and its first unknown is the sum of h y[k] over all k, less multiples of x[from-1] and of the last unknown. With
   `down` the elimination goes downward, and all indices run the other way.
   Leaves   rows, if `stores` is set: plane k has eight numbers from 8 * k on. The first five are l, r, q, s and h. The
            other three are for implicit3, which stores r y instead of y: the weight of r y in the first unknown; l, or
            in the first row the negated coupling to x[from-1]; s again. The weight and this s are 0 if they are below
            the unit roundoff. link: s and q of the last row; the first unknown's couplings to x[from-1] and
            to the last unknown */
TB_D void bs3d_p_factor_planes(const bs3d_model *m, int from, int to, int down, int stores, tb_real *rows, double *link)
{
    const double roundoff = sizeof(tb_real) == 4 ? 6e-8 : 1.1e-16;
    double product = 1, first_a = 0;
    bs3d_p_pivot p = {0, 0, 0, 0};
    for (int n = 0; n < to - from; n++) {
        const int k = down ? to - 1 - n : from + n, last = n == to - from - 1;
        bs3d_p_eliminate_row(m, k, n == 0, down, &p);
        const double q = p.c * p.r, s = p.g * p.r;
        tb_real *row = rows + 8 * k;
        if (stores) {
            row[0] = (tb_real)p.l;
            row[1] = (tb_real)p.r;
            row[2] = (tb_real)q;
            row[3] = (tb_real)s;
            row[4] = (tb_real)(last ? 0 : product * p.r);
            row[5] = (tb_real)(last || fabs(product) < roundoff ? 0 : product);
            row[6] = (tb_real)(n > 0 ? p.l : -p.g);
            row[7] = (tb_real)(fabs(s) < roundoff ? 0 : s);
        }
        if (last) {
            link[0] = s;
            link[1] = q;
        } else {
            first_a += product * s;
            product *= -q;
        }
    }
    link[2] = first_a;
    link[3] = -product;
}

/* Factors the reduced system over the last unknowns x[s] of the partitions. The last row of partition s has x[s] +
   link[0] x[s-1] + link[1] f[s+1] on its left-hand side, where f[s+1] is the first unknown of the next partition.
   Expressing f[s+1] in x[s] and x[s+1] makes the system tridiagonal. */
TB_D void bs3d_p_factor_reduced(int partitions, const double *link, tb_real *to)
{
    double above = 0;
    for (int s = 0; s < partitions; s++, link += 4, to += 8) {
        double out = s + 1 < partitions ? link[1] : 0, pivot = 1 - link[0] * above;
        if (s + 1 < partitions) pivot -= out * link[6];
        above = s + 1 < partitions ? -out * link[7] / pivot : 0;
        to[0] = (tb_real)out;
        to[1] = (tb_real)link[0];
        to[2] = (tb_real)(1 / pivot);
        to[3] = (tb_real)above;
        to[4] = (tb_real)link[2];
        to[5] = (tb_real)link[3];
    }
}

/* Factors the slab's partitions of the z systems, and the slab's reduced system, which has cut.reduced partitions. The
   first block factors for elimination upward; implicit3 launches a second block, for elimination downward. On a slab
   with another below it, back substitution ends in the halo plane, with the unknown before the first partition. That
   unknown is known already, so r and q of that plane are 0, and s is -1. */
template <int unused>
TRID_KERNEL void bs3d_p_factor_z(bs3d_model model, bs3d_slab cut, tb_real *tables)
{
    __shared__ double link[4 * BS3D_P_MOST_REDUCED];
    const int down = (int)blockIdx.x, e = (int)threadIdx.x;
    const int n = cut.slab * cut.partitions - cut.own + (down ? cut.reduced - 1 - e : e); /* number in the whole grid */
    tb_real *rows = tables + BS3D_P_Z_FACTORS + (down ? BS3D_P_Z_SIZE : 0);
    if (e < cut.reduced) {
        int slab = n / cut.partitions, stores = slab == cut.slab, from, to;
        bs3d_p_slab_partition(model.points[2], cut.slabs, slab, cut.partitions, n % cut.partitions, &from, &to);
        bs3d_p_factor_planes(&model, from, to, down, stores, rows - 8 * (cut.first - cut.below), link + 4 * e);
    }
    __syncthreads();
    if (e > 0) return;
    if (cut.below) {
        rows[1] = rows[2] = 0;
        rows[3] = -1;
    }
    bs3d_p_factor_reduced(cut.reduced, link, rows + BS3D_P_REDUCED);
}

/* Launches bs3d_p_factor_z for a grid that is not cut. */
template <int unused>
static void bs3d_p_launch_factor_z(bs3d_p_job *job, int directions)
{
    const int nz = job->plan.model.points[2], partitions = job->plan.partitions;
    const bs3d_slab whole = {1, 0, 0, nz, 0, 0, 0, partitions, 0, partitions, 0};
    bs3d_p_launch_next(job, bs3d_p_factor_z<unused>, (unsigned)directions, BS3D_P_MOST_REDUCED, job->plan.model, whole,
                       job->tables);
}

/* Solves the reduced system of one z system. The right-hand sides of the first and last rows of partition s are at
   firsts[step * s] and lasts[step * s].
   Leaves   first: the right-hand sides of the first rows; x: the last unknowns, which it also stores in lasts if
            `stores` is set (a later store would cost more) */
template <int most, int stores>
TB_D void bs3d_p_solve_partitions(int partitions, long long step, const tb_real *link, const tb_real *firsts,
                                  tb_real *lasts, tb_real *first, tb_real *x)
{
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        first[s] = s < partitions ? firsts[step * s] : 0;
        x[s] = s < partitions ? lasts[step * s] : 0;
    }
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        if (s >= partitions) continue;
        if (s + 1 < most) x[s] -= link[8 * s] * first[s + 1];
        if (s > 0) x[s] -= link[8 * s + 1] * x[s - 1];
        x[s] *= link[8 * s + 2];
    }
    TB_UNROLL
    for (int s = most - 1; s >= 0; s--) {
        if (s >= partitions) continue;
        if (s + 1 < most) x[s] -= link[8 * s + 3] * x[s + 1];
        if (stores) lasts[step * s] = x[s];
    }
}

/* Returns the first unknown of partition s, from the results of bs3d_p_solve_partitions. */
TB_D tb_real bs3d_p_first_unknown(int s, const tb_real *link, const tb_real *first, const tb_real *x)
{
    return first[s] - link[8 * s + 4] * (s > 0 ? x[s > 0 ? s - 1 : 0] : 0) - link[8 * s + 5] * x[s];
}

/* Solves the reduced systems, a thread for each of the `plane` elements of a plane. The right-hand sides of the first
   rows of all partitions are at `interfaces`, and those of the last rows follow. If `down` is set, the elimination went
   downward, from the last partition on.
   Leaves   the last unknowns in place of the last rows; if `both` is set, the first unknowns in place of the first
            rows */
template <int both>
__launch_bounds__(128)
TRID_KERNEL void bs3d_p_solve_reduced(int partitions, long long plane, int down, const tb_real *__restrict__ tables,
                                      tb_real *interfaces)
{
    const tb_real *link = tables + BS3D_P_Z_FACTORS + (down ? BS3D_P_Z_SIZE : 0) + BS3D_P_REDUCED;
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    bs3d_p_launch_dependents();
    bs3d_p_grid_wait();
    if (at >= plane) return;
    tb_real *firsts = interfaces + at + (down ? plane * (partitions - 1) : 0), *lasts = firsts + plane * partitions;
    long long step = down ? -plane : plane;
    tb_real first[BS3D_P_PARTITIONS], x[BS3D_P_PARTITIONS];
    bs3d_p_solve_partitions<BS3D_P_PARTITIONS, 1>(partitions, step, link, firsts, lasts, first, x);
    TB_UNROLL
    for (int s = 0; s < BS3D_P_PARTITIONS; s++)
        if (both && s < partitions) firsts[step * s] = bs3d_p_first_unknown(s, link, first, x);
}

/* ---- x and y ----------------------------------------------------------------------------------------------------- */

/* Computes the numbers that join two halves of a row. At the seam, let x and x' be the unknowns of this half and
   of the other one, g and g' their couplings to the unknown across the seam, and y and y' their values if that unknown
   were 0. Then x' = (y' - g' y) / (1 - g g'), and x = (y - g y') / (1 - g g').
   Leaves   g' / (1 - g g'), 1 / (1 - g g'), g / (1 - g g') */
TB_D void bs3d_p_factor_seam(int half, const tb_real *g, tb_real *link)
{
    tb_real scale = 1 / (1 - g[0] * g[1]);
    link[0] = scale * g[!half];
    link[1] = scale;
    link[2] = scale * g[half];
}

/* Factors the x systems for implicit2's upward sweep. Warp h, 0 or 1, factors points 256 h .. 256 h + 255, half of a
   row, and computes the numbers of the seam. */
template <int unused>
TRID_KERNEL void bs3d_p_factor_x(bs3d_p_plan plan, tb_real *tables)
{
    const int per_lane = 8, factors = TRID_WARP_FACTOR_LEN(per_lane);
    __shared__ tb_real shared[2];
    const int lane = trid_warp_lane(), half = (int)threadIdx.x / 32, at = 256 * half + per_lane * lane;
    const int left = plan.model.points[0] - 256 * half;
    tb_real a[per_lane], b[per_lane], c[per_lane], g[per_lane], f[factors];
    tb_real *to = tables + BS3D_P_X_FACTORS + 32 * BS3D_P_HALF * half;
    int steps;
    TB_UNROLL
    for (int r = 0; r < per_lane; r++) {
        bs3d_p_matrix_row(&plan, 0, at + r, a + r, b + r, c + r);
        g[r] = half ? (at + r == 256 ? a[r] : 0) : (at + r == 255 ? c[r] : 0);
    }
    trid_warp_factor(per_lane, 32, left < 0 ? 0 : left < 256 ? left : 256, a, b, c, f, &steps);
    trid_warp_solve(per_lane, 32, 256, steps, f, g);
    TB_UNROLL
    for (int e = 0; e < factors; e++) to[32 * e + lane] = f[e];
    TB_UNROLL
    for (int r = 0; r < per_lane; r++) to[32 * (factors + r) + lane] = g[r];
    if (lane == 0) tables[BS3D_P_STEPS + 3 * half] = (tb_real)steps;
    if (lane == (half ? 0 : 31)) shared[half] = half ? g[0] : g[per_lane - 1];
    __syncthreads();
    if (lane == 0) bs3d_p_factor_seam(half, shared, to + 32 * (BS3D_P_HALF - 1));
}

/* Factors A_x and, in a second block, A_y into L and U. Each half of a row of 64 * per_lane points has a warp. Both
   halves are eliminated towards the seam; the second half has its rows, lanes and directions reversed. */
template <int per_lane>
TRID_KERNEL void bs3d_p_factor_rows(bs3d_p_plan plan, tb_real *tables)
{
    const int factors = bs3d_p_row_factors(per_lane);
    __shared__ tb_real shared[2];
    int axis = (int)blockIdx.x, half = (int)threadIdx.x / 32, lane = trid_warp_lane(), steps;
    tb_real l[per_lane], r[per_lane], u[per_lane], keep[TRID_WARP_LU_PRECOMPUTED_LEN],
        *to = tables + (axis == 0 ? BS3D_P_X_FACTORS : BS3D_P_Y_FACTORS) + 32 * factors * half;
    TB_UNROLL
    for (int e = 0; e < per_lane; e++) {
        if (half)
            bs3d_p_matrix_row(&plan, axis, 64 * per_lane - 1 - (per_lane * lane + e), u + e, r + e, l + e);
        else
            bs3d_p_matrix_row(&plan, axis, per_lane * lane + e, l + e, r + e, u + e);
    }
    tb_real across = u[per_lane - 1]; /* in the last lane, the entry that reaches across the seam */
    trid_warp_lu(per_lane, 32, 32 * per_lane, l, r, u);
    trid_warp_lu_precompute(per_lane, 32, l, u, keep, &steps);
    const int place = half ? 31 - lane : lane;
    TB_UNROLL
    for (int e = 0; e < per_lane; e++) {
        int row = half ? per_lane - 1 - e : e;
        to[32 * row + place] = l[e];
        to[32 * (per_lane + row) + place] = u[e];
        to[32 * (2 * per_lane + row) + place] = r[e];
    }
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_LU_PRECOMPUTED_LEN; e++) to[32 * (3 * per_lane + e) + place] = keep[e];
    if (lane == 31) shared[half] = across * r[per_lane - 1];
    __syncthreads();
    if (lane == 0) bs3d_p_factor_seam(half, shared, to + 32 * (factors - 1));
    if (lane == 0) tables[BS3D_P_STEPS + axis + 3 * half] = (tb_real)steps;
}

/* Factors the matrix of the y systems, in a block that holds two copies of it, each in 32 partitions. */
template <int per_lane>
TRID_KERNEL void bs3d_p_factor_y(bs3d_p_plan plan, tb_real *tables)
{
    __shared__ tb_real shared[bs3d_p_solve_len(2, 32)];
    const int thread = (int)threadIdx.x, part = thread / 2;
    int steps;
    tb_real a[32], b[32], c[32], f[TRID_WARP_FACTOR_LEN(32)] = {0}, *to = tables + BS3D_P_Y_FACTORS;
    TB_UNROLL
    for (int r = 0; r < per_lane; r++) bs3d_p_matrix_row(&plan, 1, per_lane * part + r, a + r, b + r, c + r);
    trid_block_interleaved_factor(per_lane, 2, 32, plan.model.points[1], a, b, c, f, &steps, shared);
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(per_lane); e++) {
        if (e < 5 * per_lane && thread % 2 == 0) to[32 * e + part] = f[e];
        if (e >= 5 * per_lane && thread < 32) to[32 * e + thread] = f[e];
    }
    if (thread == 0) tables[BS3D_P_STEPS + 1] = (tb_real)steps;
}

/* Launches the factoring of the x and y systems. With `halves` the x factors are those of the fused upward sweep,
   otherwise those of bs3d_p_implicit2_x. */
template <int unused>
static void bs3d_p_launch_factor(bs3d_p_job *job, int halves)
{
    const int *n = job->plan.model.points;
    const auto x = halves ? bs3d_p_factor_x<unused> : n[0] <= 512 ? bs3d_p_factor_rows<16> : bs3d_p_factor_rows<32>;
    const auto y = bs3d_p_of_length(n[1], bs3d_p_factor_y<8>, bs3d_p_factor_y<16>, bs3d_p_factor_y<32>);
    bs3d_p_launch_next(job, x, 1, 64, job->plan, job->tables);
    bs3d_p_launch_next(job, y, 1, 64, job->plan, job->tables);
}
