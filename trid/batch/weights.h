/* weights.h - a room of trid/batch.h: partitions with a constant matrix. Of their reduced rows, only the right-hand
   sides are computed and sent for each d.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Adds to `sum` the products of `rows` rows of d with those of u (if sides & 1) and of v (if sides & 2). With `all`,
   takes `burst` rows and ignores `rows`. */
template <class tb_real, int sides, int burst, int all>
TB_D void trid_p_batch_weigh_some(int rows, const tb_real *u, const tb_real *v, long long matrix_pitch,
                                  const tb_real *d, long long pitch, tb_real *sum)
{
    tb_real r[burst], wu[burst], wv[burst];
    TB_UNROLL
    for (int j = 0; j < burst; j++, d += pitch, u += matrix_pitch, v += matrix_pitch) {
        const int here = all || j < rows;
        r[j] = here ? *d : (tb_real)0;
        wu[j] = here && (sides & 1) ? *u : (tb_real)0;
        wv[j] = here && (sides & 2) ? *v : (tb_real)0;
    }
    TB_UNROLL
    for (int j = 0; j < burst; j++) {
        if (sides & 1) sum[0] += wu[j] * r[j];
        if (sides & 2) sum[1] += wv[j] * r[j];
    }
}
/* Adds the products of rows `from`, `from + parts`, .. below `to`. */
template <class tb_real, int sides>
TB_D void trid_p_batch_weigh(int from, int to, int parts, const tb_real *u, const tb_real *v, long long matrix_step,
                             const tb_real *d, long long step, tb_real *sum)
{
    enum { burst = 8 };
    const long long pitch = parts * step, matrix_pitch = parts * matrix_step;
    int rows = (to - from + parts - 1) / parts;
    u += from * matrix_step, v += from * matrix_step, d += from * step;
    TB_LOOP
    for (; rows >= burst; rows -= burst, u += burst * matrix_pitch, v += burst * matrix_pitch, d += burst * pitch)
        trid_p_batch_weigh_some<tb_real, sides, burst, 1>(burst, u, v, matrix_pitch, d, pitch, sum);
    if (rows > 0) trid_p_batch_weigh_some<tb_real, sides, burst, 0>(rows, u, v, matrix_pitch, d, pitch, sum);
}

/* Stores in `ends` the right-hand sides of the two rows of an interface. One is the sum of the first `first` rows of d
   with the weights u, the other that of the last `last` rows with the weights v. If these rows overlap, both sums are
   over all rows. u and v are passed as from.a and from.b. With one_matrix, a block keeps the weights of the one matrix
   and takes one tile after another; otherwise it takes one tile. */
template <class tb_real, int interleaved, int one_matrix>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_INTERFACE_THREADS, one_matrix ? TRID_P_BATCH_INTERFACE_SHARED_RESIDENT(tb_real) : 1)
TRID_KERNEL void trid_p_batch_interface_weigh(trid_p_batch_plan plan, trid_p_batch_arrays<tb_real> from,
                                              const tb_real *d, int first, int last, int parts,
                                              trid_p_batch_shares shares, tb_real *ends)
{
    __shared__ tb_real between[2][TRID_P_BATCH_INTERFACE_THREADS];
    TRID_DYNAMIC_SHARED(dynamic);
    tb_real *kept = (tb_real *)dynamic;
    const int thread = (int)threadIdx.x, n = plan.n;
    const trid_p_batch_part own = trid_p_batch_part_of(interleaved, parts);
    const long long step = plan.lines.step, matrix_step = one_matrix ? 2 : from.step;
    TB_LOOP
    for (int row = thread; one_matrix && row < n; row += TRID_P_BATCH_INTERFACE_THREADS) {
        kept[2 * row] = from.a[row];
        kept[2 * row + 1] = from.b[row];
    }
    TB_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        const trid_p_batch_place p = trid_p_batch_place_of(plan, index, own.lines, own.line, 0);
        tb_real sum[2] = {0, 0};
        if (one_matrix) __syncthreads(); /* the weights are complete, and the sums in `between` have been read */
        if (p.in_batch) {
            const long long at = one_matrix ? 0 : trid_p_batch_matrix_at(plan, from, p, 0);
            const tb_real *u = one_matrix ? kept : from.a + at, *v = one_matrix ? kept + 1 : from.b + at,
                          *right = d + p.at;
            if ((unsigned)first + (unsigned)last > (unsigned)n) { /* the sum may be 2^31 */
                trid_p_batch_weigh<tb_real, 3>(own.part, n, parts, u, v, matrix_step, right, step, sum);
            } else {
                trid_p_batch_weigh<tb_real, 1>(own.part, first, parts, u, v, matrix_step, right, step, sum);
                trid_p_batch_weigh<tb_real, 2>(n - last + own.part, n, parts, u, v, matrix_step, right, step, sum);
            }
        }
        TB_LOOP
        for (int m = 1; m < parts; m *= 2) {
            if (own.part % (2 * m) == m) between[0][thread] = sum[0], between[1][thread] = sum[1];
            __syncthreads();
            if (own.part % (2 * m) == 0)
                for (int k = 0; k < 2; k++) sum[k] += between[k][thread + m * own.next];
        }
        if (own.part == 0 && p.in_batch) {
            long long pitch, at = shares.of(p.system, &pitch);
            ends[at] = sum[0];
            ends[at + pitch] = sum[1];
        }
    }
}

/* Computes the weights, one system per thread. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(TRID_P_BATCH_INTERFACE_THREADS)
TRID_KERNEL void trid_p_batch_interface_factor(trid_p_batch_plan plan, trid_p_batch_arrays<tb_real> rows, tb_real *u,
                                               tb_real *v, trid_p_batch_shares shares, tb_real *interface_a,
                                               tb_real *interface_c, int *reach)
{
    const trid_p_batch_place p =
        trid_p_batch_place_of(plan, blockIdx.x, TRID_P_BATCH_INTERFACE_THREADS, (int)threadIdx.x, 0);
    if (!p.in_batch) return;
    tb_real a[2] = {0, 0}, c[2] = {0, 0};
    int rows_needed[2] = {1, 1};
    long long pitch, at = shares.of(p.system, &pitch);
    int status = trid_lane_interface_factor(plan.n, plan.flags, rows.a + p.at, rows.b + p.at, rows.c + p.at, u + p.at,
                                            v + p.at, plan.lines.step, a, c, rows_needed);
    TB_UNROLL
    for (int k = 0; k < 2; k++) {
        interface_a[at + k * pitch] = a[k];
        interface_c[at + k * pitch] = c[k];
        atomicMax(&reach[k], rows_needed[k]);
    }
    trid_p_batch_tell(plan, p.system, trid_p_batch_row(status, plan.n));
}

#define TB_BODY "batch/weights.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Computes once the part of trid_batch_interface_reduce that depends only on the matrices: weights u and v for the rows
   of d, and a and c of the reduced systems.
   Needs    as trid_batch_interface_reduce; u and v: arrays of their own in device memory, with the layout `lines`;
            reach: two ints in device memory (needed even without systems). Flags: TRID_BATCH_INTERFACE_FACTOR_FLAGS. If
            all systems have one matrix, pass it as one system: trid_lines_contiguous(n, 1), share 1;
            trid_host_interface_factor can factor it on the host instead
   Leaves   two numbers in reach, which the launch sets to 0 first: how many rows matter from the top, and how many from
            the bottom, each the largest of all systems. Let f be a partition's first unknown and z its last. If both
            numbers are below n on all ranks, no coupling between f and z of a partition exceeds the unit roundoff. A
            rank then needs only two rows of others: that of z of the rank above, and that of f of the rank below. With
            its own two it has four rows (z above, f, z, f below; three if a neighbour is missing). Their unknowns
            equal those of the whole system to within about the unit roundoff times its largest unknown
   Returns  as trid_batch_interface_reduce
   Cost     two or three passes over five arrays, one system per thread; call it once
   Error    as trid_lane_interface_factor */
template <int unused = 0>
static int trid_batch_interface_factor(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                       tb_real *u, tb_real *v, long long share, tb_real *interface_a,
                                       tb_real *interface_c, int *reach, const trid_batch_options *options,
                                       cudaStream_t stream)
{
    const tb_real *const arrays[5] = {a, b, c, u, v};
    trid_p_batch_cut<tb_real> cut = {{lines, a, b, c, 0, 0, options, stream}, share};
    int status = trid_p_batch_refuse_cut(&cut, TRID_BATCH_INTERFACE_FACTOR_FLAGS, arrays, {interface_a, interface_c});
    if (status) return status;
    if (!reach) return TRID_BATCH_BAD_ARGUMENT;
    for (int k = 0; k < 4 && !cut.call.empty; k++)
        if ((k < 3 && trid_lines_overlap(lines, arrays[k], u, sizeof(tb_real))) ||
            trid_lines_overlap(lines, arrays[k], v, sizeof(tb_real)))
            return TRID_BATCH_OVERLAP;
    status = trid_p_batch_begin_cut(&cut, 1);
    if (status) return status;
    if (cudaMemsetAsync(reach, 0, 2 * sizeof *reach, stream) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    if (cut.call.empty) return TRID_BATCH_OK;
    return trid_p_batch_launch_cut(trid_p_batch_interface_factor<tb_real>, 0, cut, cut.call.rows, u, v, cut.shares,
                                   interface_a, interface_c, reach);
}

/* Computes interface_d of trid_batch_interface_reduce for each new d, as products of d with u and with v over `first`
   rows from the top and `last` rows from the bottom (all rows, if these overlap). Pass n for both, or the two numbers
   of reach that trid_batch_interface_factor found.
   Needs    flags: TRID_BATCH_WEIGH_FLAGS; with SHARED, u and v are of one matrix, n elements each, contiguous
   Returns  as trid_batch_interface_reduce. The status of a system is not written: only the matrix can fail
   Cost     these rows of d, u and v are read once, except that with SHARED each system reads those of u and v again
            (interleaved, n <= 1024: a block reads u and v once, whole); 2 numbers a system are written
   Error    partial sums of up to max(n/8, 32) products each (contiguous systems: max(n/32, 4)) are added to one
            another. All rounding errors together are a few roundoffs of the sum of |u| |d|. This is stable if the
            matrix is diagonally dominant */
template <int unused = 0>
static int trid_batch_interface_weigh(trid_lines lines, const tb_real *u, const tb_real *v, const tb_real *d,
                                      long long first, long long last, long long share, tb_real *interface_d,
                                      const trid_batch_options *options, cudaStream_t stream)
{
    trid_p_batch_cut<tb_real> cut = {{lines, u, v, v, d, 0, options, stream}, share};
    int status = trid_p_batch_refuse_cut(&cut, TRID_BATCH_WEIGH_FLAGS, {u, v, d}, {interface_d});
    if (status) return status;
    if (!cut.call.empty && (first < 0 || first > lines.n || last < 0 || last > lines.n)) return TRID_BATCH_BAD_SIZE;
    status = trid_p_batch_begin_cut(&cut);
    if (status || cut.call.empty) return status;
    return trid_p_batch_launch_cut(cut.one_matrix    ? trid_p_batch_interface_weigh<tb_real, 1, 1>
                                   : cut.interleaved ? trid_p_batch_interface_weigh<tb_real, 1, 0>
                                                     : trid_p_batch_interface_weigh<tb_real, 0, 0>,
                                   cut.one_matrix ? 2 * sizeof(tb_real) : 0, cut, cut.call.rows, d, (int)first,
                                   (int)last, cut.parts, cut.shares, interface_d);
}

#endif /* TB_BODY */
