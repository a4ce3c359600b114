/* pivoted.h - tridiagonal solvers for any nonsingular matrix, as stable as LAPACK's gtsv, for CUDA kernels and C.

   MIT licence, see LICENSE. Copy trid.h and the folder trid beside it.

   A call takes the place of trid_warp_hybrid, for example in the kernel at the head of trid.h:

       int status = trid_warp_pivoted(8, 32, n, ra, rb, rc, rd);

   Rows are eliminated in a binary tree of partitions, with pivoting between two rows at a time; docs/pivoted.md derives
   the algorithm. The common contract of trid.h holds: k rows a lane, `lanes` lanes a system, w = log2 lanes. Costs are
   for k >= 2.

     lane (host and device: one thread, no communication)
       trid_lane_pivoted_reduce    k rows to two                            (23k-37) FMA or mul + (2k-3) rcp
       trid_lane_pivoted_combine   two groups of partitions into one        54 FMA or mul + 4 rcp
       trid_lane_pivoted_root      first and last unknown of the system     1 FMA + 2 mul + 2 rcp
       trid_lane_pivoted_split     two unknowns where groups were joined    7 FMA
       trid_lane_pivoted_expand    k unknowns from the two at each end      (3k-6) FMA
     warp, block
       trid_warp_pivoted           k rows a lane                (26k-40+61w) FMA or mul + (2k-1+4w) rcp + (20w+2) shfl
       trid_block_pivoted          the same across up to 32 warps           more levels + 1 barrier
       trid_warp_pivoted_reduce, trid_warp_pivoted_up, trid_warp_pivoted_root, trid_warp_pivoted_down,
       trid_warp_pivoted_expand    the steps of both, for your own trees
     host, sizes
       trid_host_pivoted, trid_host_pivoted_len

   In a warp, arrays stay in registers up to k = 32 in single precision and 12 in double; trid.h has the table for a
   block. trid_warp_pivoted, trid_block_pivoted and trid_host_pivoted refuse k > 32 as a bad argument. */

#ifndef TB_BODY
#ifndef TRID_PIVOTED_H
#define TRID_PIVOTED_H

#include "../trid.h"

/* Elements of shared memory that trid_block_pivoted needs for the block. */
enum { TRID_BLOCK_PIVOTED_LEN = 288 };

#if TB_HOST_SCOPE
/* Returns how many elements of work trid_host_pivoted needs; never more than 24*n. */
TB_HOST size_t trid_host_pivoted_len(int n, int rows_per_lane)
{
    if (n <= 0 || rows_per_lane < 1) return 0;
    return 4 * (size_t)n + 20 * (((size_t)n - 1) / (size_t)rows_per_lane + 1);
}
#endif
#define trid_host_pivoted_len_f32 trid_host_pivoted_len
#define trid_host_pivoted_len_f64 trid_host_pivoted_len

#ifndef __cplusplus
#define trid_p_meet TB_OF(trid_p_meet)
#define trid_p_pivot TB_OF(trid_p_pivot)
#define trid_p_border TB_OF(trid_p_border)
#define trid_lane_pivoted_reduce TB_OF(trid_lane_pivoted_reduce)
#define trid_lane_pivoted_combine TB_OF(trid_lane_pivoted_combine)
#define trid_lane_pivoted_root TB_OF(trid_lane_pivoted_root)
#define trid_lane_pivoted_split TB_OF(trid_lane_pivoted_split)
#define trid_lane_pivoted_expand TB_OF(trid_lane_pivoted_expand)
#define trid_p_host_join TB_OF(trid_p_host_join)
#define trid_p_host_split TB_OF(trid_p_host_split)
#define trid_host_pivoted TB_OF(trid_host_pivoted)
#else
#define trid_lane_pivoted_reduce_f32 tb_f32::trid_lane_pivoted_reduce
#define trid_lane_pivoted_reduce_f64 tb_f64::trid_lane_pivoted_reduce
#define trid_lane_pivoted_combine_f32 tb_f32::trid_lane_pivoted_combine
#define trid_lane_pivoted_combine_f64 tb_f64::trid_lane_pivoted_combine
#define trid_lane_pivoted_root_f32 tb_f32::trid_lane_pivoted_root
#define trid_lane_pivoted_root_f64 tb_f64::trid_lane_pivoted_root
#define trid_lane_pivoted_split_f32 tb_f32::trid_lane_pivoted_split
#define trid_lane_pivoted_split_f64 tb_f64::trid_lane_pivoted_split
#define trid_lane_pivoted_expand_f32 tb_f32::trid_lane_pivoted_expand
#define trid_lane_pivoted_expand_f64 tb_f64::trid_lane_pivoted_expand
#define trid_host_pivoted_f32 tb_f32::trid_host_pivoted
#define trid_host_pivoted_f64 tb_f64::trid_host_pivoted
#endif

#define TB_BODY "pivoted.h"
#include "twice.h"

#endif /* TRID_PIVOTED_H */
#else /* TB_BODY: C over tb_real */

/* ---- lane: one thread, host and device --------------------------------------------------------------------------- */

/* Finds factors that eliminate an unknown from two rows in which its coefficients are u and v: it vanishes from
   *f * first + *g * second. The factor of the row with the larger coefficient is a multiplier of at most 1 in
   absolute value; the other factor is -1. If both coefficients are below the least normal number in absolute value,
   they count as zero. If one is NaN, so is the multiplier. Returns whether the second row's coefficient is larger. */
TB_HD int trid_p_meet(tb_real u, tb_real v, tb_real *f, tb_real *g)
{
    int second = trid_abs(v) > trid_abs(u);
    tb_real high = second ? v : u, r = trid_abs(high) < trid_smallest() ? 0 : trid_rcp(high);
    tb_real multiplier = (second ? u : v) * r;
    *f = second ? -1 : multiplier;
    *g = second ? multiplier : -1;
    return second;
}

/* Finds factors as trid_p_meet does, but no coefficient counts as zero. Two more factors give the row from which the
   unknown is computed later: *rf * first + *rg * second is the row with the larger coefficient, divided by that
   coefficient. *bad tells whether that coefficient is a bad pivot. */
TB_HD int trid_p_pivot(tb_real u, tb_real v, tb_real *f, tb_real *g, tb_real *rf, tb_real *rg, int *bad)
{
    int second = trid_abs(v) > trid_abs(u);
    tb_real r = trid_rcp(second ? v : u), multiplier = (second ? u : v) * r;
    *f = second ? -1 : multiplier;
    *g = second ? multiplier : -1;
    *rf = second ? 0 : r;
    *rg = second ? r : 0;
    *bad = trid_bad_pivot(r);
    return second;
}

/* Computes, from the two rows of a group of partitions, the border that the group presents to its neighbour. Each row
   is five numbers: four coefficients and the right-hand side. */
TB_HD void trid_p_border(const tb_real *u, const tb_real *v, tb_real *border)
{
    tb_real f, g;
    int second = trid_p_meet(u[0], v[0], &f, &g);
    TB_UNROLL
    for (int k = 0; k < 5; k++) border[k] = second ? v[k] : u[k];
    TB_UNROLL
    for (int k = 1; k < 5; k++) border[4 + k] = f * u[k] + g * v[k];
}

/* Reduces k rows to two, for any nonsingular matrix. x[1] .. x[k-2] occur in no other rows and are eliminated with
   pivoting. The rows are those of trid_lane_reduce, with l = x[-1] above the partition and y = x[k] below it. The
   partition will be joined to a neighbour. p and q are the unknowns on the two sides of their boundary, u and v those
   at the partition's other end:
                                               p        q        u        v
       below = 1: the neighbour is above       l        x[0]     x[k-1]   y
       below = 0: it is below or missing       x[k-1]   y        l        x[0]
   The two rows form the partition's border:
       border[0] p + border[1] q + border[2] u + border[3] v = border[4]
                   border[5] q + border[6] u + border[7] v = border[8]
   Needs    2 <= k <= 33 (a literal, if the arrays must stay in registers); a[0] of the system's first partition and
            c[k-1] of its last are 0
   Leaves   border; the numbers for trid_lane_pivoted_expand in a, b, c, d and in bits 1 .. k-2 of *flags
   Returns  0, or 1 + a row (within the partition) for whose unknown there was no pivot
   Cost     (23k-37) FMA or mul + (2k-3) rcp, (3k-4) comparisons, about 15k selections
   Error    every row operation combines two rows and multiplies neither by more than 1 */
TB_HD int trid_lane_pivoted_reduce(int k, int below, tb_real *a, tb_real *b, tb_real *c, tb_real *d, tb_real *border,
                                   unsigned *flags)
{
    /* Two rows move down the partition. Both couple to l, x[0] and x[j], the second also to x[j+1]. */
    int status = 0;
    tb_real first_l = a[0], first_0 = b[0], first_j = c[0], first_d = d[0];
    tb_real second_l = 0, second_0 = a[1], second_j = b[1], second_next = c[1], second_d = d[1];
    *flags = 0;
    TB_UNROLL
    for (int j = 1; j < k - 1; j++) {
        tb_real f, g, rf, rg;
        int bad, larger = trid_p_meet(first_j, second_j, &f, &g);
        tb_real high_l = larger ? second_l : first_l, high_0 = larger ? second_0 : first_0;
        tb_real high_j = larger ? second_j : first_j, high_next = larger ? second_next : 0;
        tb_real high_d = larger ? second_d : first_d;
        first_l = f * first_l + g * second_l;
        first_0 = f * first_0 + g * second_0;
        first_j = g * second_next;
        first_d = f * first_d + g * second_d;
        /* The row with the larger coefficient meets row j+1. One of the two is kept to find x[j] on the way back; the
           other moves on. */
        int own = trid_p_pivot(high_j, a[j + 1], &f, &g, &rf, &rg, &bad);
        second_l = f * high_l;
        second_0 = f * high_0;
        second_j = f * high_next + g * b[j + 1];
        second_next = g * c[j + 1];
        second_d = f * high_d + g * d[j + 1];
        /* If the kept row is row j+1, it couples to x[j+2]; otherwise to l and x[0]. So a[j] serves x[j+2] or l. */
        a[j] = rf * high_l + rg * c[j + 1];
        b[j] = rf * high_0;
        c[j] = rf * high_next + rg * b[j + 1];
        d[j] = rf * high_d + rg * d[j + 1];
        *flags |= (unsigned)own << j;
        if (bad) status = 1 + j;
    }
    tb_real u[5] = {below ? first_l : first_j, below ? first_0 : 0, below ? first_j : first_l, below ? 0 : first_0,
                    first_d};
    tb_real v[5] = {below ? second_l : second_j, below ? second_0 : second_next, below ? second_j : second_l,
                    below ? second_next : second_0, second_d};
    trid_p_border(u, v, border);
    return status;
}

/* Joins two neighbouring groups of partitions into one. The unknowns between them, the last of the upper group and the
   first of the lower, are eliminated with pivoting.
   Needs    the borders of both, as trid_lane_pivoted_reduce or trid_lane_pivoted_combine leaves them. `first` is the
            upper group if the joined group will itself be joined to one above it (below = 1). Otherwise, and also if
            the joined group is the whole system, `first` is the lower group
   Leaves   the joined group's border in `border`, which may be `first` or `second` itself. p and q of the joined group
            are u and v of `first`; its u and v are those of `second`. kept[0 .. 8] and *side for
            trid_lane_pivoted_split
   Returns  0, or 1 if there was no pivot
   Cost     54 FMA or mul + 4 rcp, 6 comparisons, 33 selections */
TB_HD int trid_lane_pivoted_combine(const tb_real *first, const tb_real *second, tb_real *border, tb_real *kept,
                                    int *side)
{
    tb_real f, g, rf, rg, both[6], high[6], u[5], v[5];
    int bad_last, bad_first;
    *side = trid_p_pivot(first[0], second[0], &f, &g, &rf, &rg, &bad_last);
    TB_UNROLL
    for (int k = 0; k < 4; k++) kept[k] = rf * first[k + 1] + rg * second[k + 1];
    both[0] = f * first[1] + g * second[1];
    both[1] = f * first[2];
    both[2] = f * first[3];
    both[3] = g * second[2];
    both[4] = g * second[3];
    both[5] = f * first[4] + g * second[4];

    int larger = trid_p_meet(first[5], second[5], &f, &g);
    u[0] = f * first[6];
    u[1] = f * first[7];
    u[2] = g * second[6];
    u[3] = g * second[7];
    u[4] = f * first[8] + g * second[8];
    high[0] = larger ? second[5] : first[5];
    high[1] = larger ? 0 : first[6];
    high[2] = larger ? 0 : first[7];
    high[3] = larger ? second[6] : 0;
    high[4] = larger ? second[7] : 0;
    high[5] = larger ? second[8] : first[8];

    trid_p_pivot(high[0], both[0], &f, &g, &rf, &rg, &bad_first);
    TB_UNROLL
    for (int k = 0; k < 5; k++) {
        v[k] = f * high[k + 1] + g * both[k + 1];
        kept[4 + k] = rf * high[k + 1] + rg * both[k + 1];
    }
    trid_p_border(u, v, border);
    return bad_last | bad_first;
}

/* Solves for the first and the last unknown of the whole system, from the border of all its partitions, joined with
   below = 0.
   Leaves   these two in outer, and zeros for the unknowns beyond them, as trid_lane_pivoted_split expects them
   Returns  0; 1 if there was no pivot for the first; 2 if there was one for the first but none for the last
   Cost     1 FMA + 2 mul + 2 rcp */
TB_HD int trid_lane_pivoted_root(const tb_real *border, tb_real *outer)
{
    tb_real first = trid_rcp(border[7]), last = trid_rcp(border[0]);
    int bad_first = trid_bad_pivot(first), bad_last = trid_bad_pivot(last);
    outer[3] = first * border[8];
    outer[0] = last * (border[4] - border[3] * outer[3]);
    outer[1] = outer[2] = 0;
    return bad_first ? 1 : bad_last ? 2 : 0;
}

/* Solves for the two unknowns that trid_lane_pivoted_combine eliminated.
   Needs    p, q, u, v of the joined group in outer, in this order
   Leaves   *last and *first, which are p and q of both groups that were joined. u and v of the first group are p and q
            of the joined group; u and v of the second are u and v of the joined group
   Cost     7 FMA */
TB_HD void trid_lane_pivoted_split(const tb_real *kept, int side, const tb_real *outer, tb_real *last, tb_real *first)
{
    *first = kept[8] - kept[4] * outer[0] - kept[5] * outer[1] - kept[6] * outer[2] - kept[7] * outer[3];
    *last =
        kept[3] - kept[0] * *first - kept[1] * (side ? outer[2] : outer[0]) - kept[2] * (side ? outer[3] : outer[1]);
}

/* Solves the rows of a partition with the numbers that trid_lane_pivoted_reduce left.
   Needs    p, q, u, v in outer, in this order
   Leaves   x in d
   Cost     (3k-6) FMA */
TB_HD void trid_lane_pivoted_expand(int k, int below, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *d,
                                    unsigned flags, const tb_real *outer)
{
    tb_real left = below ? outer[0] : outer[2], first = below ? outer[1] : outer[3];
    tb_real next = below ? outer[2] : outer[0], after = below ? outer[3] : outer[1];
    d[0] = first;
    d[k - 1] = next;
    TB_UNROLL
    for (int j = k - 2; j > 0; j--) {
        tb_real x = d[j] - b[j] * first - a[j] * (flags >> j & 1 ? after : left) - c[j] * next;
        after = next;
        next = d[j] = x;
    }
}

/* ---- warp and block ---------------------------------------------------------------------------------------------- */

#if TB_DEVICE_SCOPES

/* Climbs the tree: joins groups of `from` lanes in pairs, then groups of 2 * `from` lanes, of 4 * `from`, .. until a
   group has `count` lanes. All of these numbers are powers of two, and count <= lanes. Where two groups meet between
   lanes l and l+1, lane l joins them. It then holds the border of the joined group and the numbers for the way down.
   `position` is the lane's number in the whole system. Returns 1 if this lane found no pivot. */
TB_D int trid_warp_pivoted_up(int from, int lanes, int count, int position, tb_real *border, tb_real *kept, int *side)
{
    int rank = position & (lanes - 1), bad = 0;
    *side = 0;
    TB_UNROLL
    for (int k = 0; k < 9; k++) kept[k] = 0;
    TB_UNROLL
    for (int s = from; s < lanes; s *= 2) {
        if (s >= count) break;
        tb_real second[9];
        int upper = rank - s / 2, lower = rank + (s + 1) / 2, below = (position & 2 * s) != 0;
        TB_UNROLL
        for (int k = 0; k < 9; k++) {
            second[k] = __shfl_sync(TB_FULL_WARP, border[k], below ? lower : upper, lanes);
            border[k] = __shfl_sync(TB_FULL_WARP, border[k], below ? upper : lower, lanes);
        }
        if ((rank & (2 * s - 1)) == s - 1) bad |= trid_lane_pivoted_combine(border, second, border, kept, side);
    }
    return bad;
}

/* Descends the tree that trid_warp_pivoted_up climbed: `outer` of the whole tree, the same in all `lanes` lanes of the
   group, becomes that of the lane's own partition. */
TB_D void trid_warp_pivoted_down(int from, int lanes, int count, int position, const tb_real *kept, int side,
                                 tb_real *outer)
{
    TB_UNROLL
    for (int s = lanes / 2; s >= from; s /= 2) {
        if (s >= count) continue;
        tb_real last, first;
        int joined = (position & (lanes - 1) & -2 * s) + s - 1;
        int was_first = ((position & 2 * s) != 0) != ((position & s) != 0);
        trid_lane_pivoted_split(kept, side, outer, &last, &first);
        outer[2] = was_first ? outer[0] : outer[2];
        outer[3] = was_first ? outer[1] : outer[3];
        outer[0] = __shfl_sync(TB_FULL_WARP, last, joined, lanes);
        outer[1] = __shfl_sync(TB_FULL_WARP, first, joined, lanes);
    }
}

/* Reduces the partitions at the foot of the tree: a lane's k rows or, for k = 1, the rows of a pair of lanes, which the
   even lane takes. */
TB_D int trid_warp_pivoted_reduce(int k, int lanes, int position, tb_real *a, tb_real *b, tb_real *c, tb_real *d,
                                  tb_real *border, unsigned *flags)
{
    if (k > 1) return trid_lane_pivoted_reduce(k, position & 1, a, b, c, d, border, flags);
    tb_real a2[2] = {a[0], __shfl_down_sync(TB_FULL_WARP, a[0], 1, lanes)};
    tb_real b2[2] = {b[0], __shfl_down_sync(TB_FULL_WARP, b[0], 1, lanes)};
    tb_real c2[2] = {c[0], __shfl_down_sync(TB_FULL_WARP, c[0], 1, lanes)};
    tb_real d2[2] = {d[0], __shfl_down_sync(TB_FULL_WARP, d[0], 1, lanes)};
    return trid_lane_pivoted_reduce(2, position >> 1 & 1, a2, b2, c2, d2, border, flags);
}

/* Expands the partitions at the foot of the tree, as trid_warp_pivoted_reduce reduced them. */
TB_D void trid_warp_pivoted_expand(int k, int position, const tb_real *a, const tb_real *b, const tb_real *c,
                                   tb_real *d, unsigned flags, const tb_real *outer)
{
    if (k > 1) {
        trid_lane_pivoted_expand(k, position & 1, a, b, c, d, flags, outer);
    } else {
        tb_real pair[2];
        trid_lane_pivoted_expand(2, position >> 1 & 1, a, b, c, pair, flags, outer);
        d[0] = position & 1 ? pair[1] : pair[0];
    }
}

/* Finds the first and the last unknown of the system in the lane that holds the border of the whole tree, and passes
   them to all `lanes` lanes of the group. Returns the status of trid_lane_pivoted_root in that lane, 0 in the
   others. */
TB_D int trid_warp_pivoted_root(int lanes, int count, const tb_real *border, tb_real *outer)
{
    int root = count > 1 ? count / 2 - 1 : 0, bad = trid_lane_pivoted_root(border, outer);
    outer[0] = __shfl_sync(TB_FULL_WARP, outer[0], root, lanes);
    outer[3] = __shfl_sync(TB_FULL_WARP, outer[3], root, lanes);
    return trid_warp_rank(lanes) == root ? bad : 0;
}

/* Solves any nonsingular system of n <= k*lanes rows. The rows are laid out as in trid_warp_hybrid, but need not be
   diagonally dominant.
   Needs    1 <= k <= 32 and lanes as literals; the a of row 0, the c of row n-1 and the rows from n on are not read
   Lanes    all 32 of the warp; groups may have different n
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  0; -1 if n > k*lanes or k > 32; 1 if this lane found no pivot for an unknown: the matrix is singular, or has
            entries that are infinite, NaN or at the ends of the type's range (docs/pivoted.md says which)
   Cost     (26k-40+61w) FMA or mul + (2k-1+4w) rcp + (20w+2) shuffles, (3k-4+6w) comparisons, about 15k + 37w
            selections; docs/pivoted.md counts the instructions
   Error    that of Gaussian elimination with pairwise pivoting in the order of nested dissection; docs/pivoted.md
            compares it with LAPACK's. As in LAPACK, the status may be 0 for a matrix that is singular to working
            precision. If all entries of a row are below 2e-31 in single or 2e-292 in double precision, x may lose
            digits, since coefficients below the least normal number may count as zero. NaN and inf stay in their
            own system */
TB_D int trid_warp_pivoted(int k, int lanes, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d)
{
    if (k > TRID_MOST_ROWS) return TRID_BAD_ARGUMENT;
    int rank = trid_warp_rank(lanes), side;
    unsigned flags;
    tb_real border[9], kept[9], outer[4];
    trid_lane_pad(k, k * rank, n, k * lanes, a, b, c, d);
    int bad = trid_warp_pivoted_reduce(k, lanes, rank, a, b, c, d, border, &flags);
    bad |= trid_warp_pivoted_up(k > 1 ? 1 : 2, lanes, lanes, rank, border, kept, &side);
    bad |= trid_warp_pivoted_root(lanes, lanes, border, outer);
    trid_warp_pivoted_down(k > 1 ? 1 : 2, lanes, lanes, rank, kept, side, outer);
    trid_warp_pivoted_expand(k, rank, a, b, c, d, flags, outer);
    return n > k * lanes ? TRID_BAD_ARGUMENT : bad ? 1 : 0;
}

/* Solves any nonsingular system of n <= k*threads rows. The rows are laid out as in trid_block_hybrid, but need not be
   diagonally dominant. The tree of trid_warp_pivoted continues over the warps; every warp climbs that part redundantly.
   Needs    1 <= k <= 32 as a literal; the a of row 0, the c of row n-1 and the rows from n on are not read
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  as trid_warp_pivoted: -1 if n > k*threads or k > 32
   Shared   TRID_BLOCK_PIVOTED_LEN elements, no bank conflicts; one barrier inside; call __syncthreads() before another
            use (alternating between two arrays saves this barrier)
   Cost     that of trid_warp_pivoted with lanes = 32, 4 shuffles, and for each level of the tree over the warps as much
            as for a level within a warp
   Error    as trid_warp_pivoted */
TB_D int trid_block_pivoted(int k, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d, tb_real *shared)
{
    if (k > TRID_MOST_ROWS) return TRID_BAD_ARGUMENT;
    int thread = trid_block_thread(), threads = trid_block_threads(), warps = threads / 32, count = 1;
    int lane = thread & 31, warp = thread / 32, side, warp_side;
    unsigned flags;
    tb_real border[9], kept[9], warp_kept[9], outer[4];
    while (count < warps) count *= 2;
    trid_lane_pad(k, k * thread, n, k * threads, a, b, c, d);
    int bad = trid_warp_pivoted_reduce(k, 32, thread, a, b, c, d, border, &flags);
    bad |= trid_warp_pivoted_up(k > 1 ? 1 : 2, 32, 32, thread, border, kept, &side);
    TB_UNROLL
    for (int e = 0; e < 9; e++)
        if (lane == 15) shared[32 * e + warp] = border[e];
    __syncthreads();

    /* A missing warp counts as two unknowns that are zero. In odd lanes its border has the form for a join with the
       group above it, in even lanes with the group below it. */
    TB_UNROLL
    for (int e = 0; e < 9; e++)
        border[e] = lane < warps                             ? shared[32 * e + lane]
                    : e == (lane & 1) || e == 7 - (lane & 1) ? (tb_real)1
                                                             : (tb_real)0;
    bad |= trid_warp_pivoted_up(1, 32, count, lane, border, warp_kept, &warp_side);
    bad |= trid_warp_pivoted_root(32, count, border, outer);
    trid_warp_pivoted_down(1, 32, count, lane, warp_kept, warp_side, outer);
    TB_UNROLL
    for (int e = 0; e < 4; e++) outer[e] = __shfl_sync(TB_FULL_WARP, outer[e], warp);
    trid_warp_pivoted_down(k > 1 ? 1 : 2, 32, 32, thread, kept, side, outer);
    trid_warp_pivoted_expand(k, thread, a, b, c, d, flags, outer);
    return n > k * threads ? TRID_BAD_ARGUMENT : bad ? 1 : 0;
}

#endif /* TB_DEVICE_SCOPES */

/* ---- host: plain C over arrays ----------------------------------------------------------------------------------- */

#if TB_HOST_SCOPE

/* Joins the borders of partitions, pair by pair, into that of the whole system. A group's border replaces that of its
   first partition, and the numbers that a join keeps are stored with the upper group's last partition. Returns 1 if an
   unknown had no pivot. */
TB_HOST int trid_p_host_join(size_t partitions, tb_real *borders, tb_real *kept)
{
    for (size_t s = 1; s < partitions; s *= 2) {
        for (size_t i = 0; i < partitions; i += 2 * s) {
            tb_real *upper = borders + 9 * i, *lower = upper + 9 * s;
            int below = (i & 2 * s) != 0, side;
            if (i + s < partitions) {
                tb_real *join = kept + 10 * (i + s - 1);
                if (trid_lane_pivoted_combine(below ? upper : lower, below ? lower : upper, upper, join, &side))
                    return 1;
                join[9] = (tb_real)side;
            } else if (below) { /* no group is below it: its border turns to the group above */
                tb_real u[5] = {upper[2], upper[3], upper[0], upper[1], upper[4]};
                tb_real v[5] = {upper[6], upper[7], 0, upper[5], upper[8]};
                trid_p_border(u, v, upper);
            }
        }
    }
    return 0;
}

/* Computes the four outer unknowns of each partition from those of the system, `whole`. They replace the partition's
   border. */
TB_HOST void trid_p_host_split(size_t partitions, const tb_real *kept, const tb_real *whole, tb_real *borders)
{
    size_t s = 1;
    while (s < partitions) s *= 2;
    memcpy(borders, whole, 4 * sizeof *whole);
    for (s /= 2; s > 0; s /= 2) {
        for (size_t i = 0; i < partitions; i += 2 * s) {
            tb_real *upper = borders + 9 * i, *lower = upper + 9 * s, outer[4];
            int below = (i & 2 * s) != 0;
            memcpy(outer, upper, sizeof outer);
            if (i + s < partitions) {
                const tb_real *join = kept + 10 * (i + s - 1);
                trid_lane_pivoted_split(join, join[9] != 0, outer, &upper[0], &upper[1]);
                memcpy(lower, upper, 2 * sizeof *upper);
                memcpy(below ? lower + 2 : upper + 2, outer + 2, 2 * sizeof *outer);
                memcpy(below ? upper + 2 : lower + 2, outer, 2 * sizeof *outer);
            } else if (below) {
                memcpy(upper, outer + 2, 2 * sizeof *outer);
                memcpy(upper + 2, outer, 2 * sizeof *outer);
            }
        }
    }
}

/* Solves any nonsingular system as trid_warp_pivoted does. Partitions of rows_per_lane rows (of two rows, if
   rows_per_lane is 1) are reduced, and joined in pairs up a tree. Any number of partitions is allowed. The last may be
   shorter, but if a single row would remain for it, the partition before takes that row too.
   Needs    work of trid_host_pivoted_len(n, rows_per_lane) elements; otherwise as trid_host_thomas
   Returns  0; -1 for n < 0, rows_per_lane < 1 or rows_per_lane > 32; or 1, as from trid_warp_pivoted
   Error    as trid_warp_pivoted */
TB_HOST int trid_host_pivoted(int n, int rows_per_lane, const tb_real *a, const tb_real *b, const tb_real *c,
                              const tb_real *d, tb_real *x, tb_real *work)
{
    if (n < 0 || rows_per_lane < 1 || rows_per_lane > TRID_MOST_ROWS) return TRID_BAD_ARGUMENT;
    if (n == 0) return 0;
    size_t count = (size_t)n, k = rows_per_lane > 1 ? (size_t)rows_per_lane : 2,
           partitions = n > 1 ? (count - 2) / k + 1 : 0;
    if (n == 1) {
        tb_real r = trid_rcp(b[0]);
        if (trid_bad_pivot(r)) return 1;
        x[0] = r * d[0];
        return 0;
    }
    tb_real *wa = work, *wb = wa + count, *wc = wb + count, *wd = wc + count;
    tb_real *borders = wd + count, *kept = borders + 9 * partitions, *flags = kept + 10 * partitions;
    for (size_t j = 0; j < count; j++) {
        wa[j] = j > 0 ? a[j] : 0;
        wb[j] = b[j];
        wc[j] = j < count - 1 ? c[j] : 0;
        wd[j] = d[j];
    }
    for (size_t i = 0, at = 0; i < partitions; i++, at += k) {
        int length = (int)(i + 1 < partitions ? k : count - at);
        unsigned own;
        if (trid_lane_pivoted_reduce(length, i & 1, wa + at, wb + at, wc + at, wd + at, borders + 9 * i, &own))
            return 1;
        memcpy(&flags[i], &own, sizeof own);
    }
    tb_real whole[4];
    if (trid_p_host_join(partitions, borders, kept) || trid_lane_pivoted_root(borders, whole)) return 1;
    trid_p_host_split(partitions, kept, whole, borders);
    for (size_t i = 0, at = 0; i < partitions; i++, at += k) {
        int length = (int)(i + 1 < partitions ? k : count - at);
        unsigned own;
        memcpy(&own, &flags[i], sizeof own);
        trid_lane_pivoted_expand(length, i & 1, wa + at, wb + at, wc + at, wd + at, own, borders + 9 * i);
    }
    memcpy(x, wd, count * sizeof *x);
    return 0;
}

#endif /* TB_HOST_SCOPE */

#endif /* TB_BODY */
