/* lu.h - LU factors of tridiagonal matrices and linear recurrences, by scans over lanes, for CUDA kernels.

   MIT licence, see LICENSE. Copy trid.h and the folder trid beside it.

   A matrix is factored once, without pivoting, for many right-hand sides, including those of the transposed system.
   With rows in registers as in the kernel at the head of trid.h, A x = rd and then A^T x = re are solved by

       int status = trid_warp_lu(8, 32, n, ra, rb, rc);
       trid_warp_lu_solve(8, 32, 0, n, ra, rb, rc, rd);
       trid_warp_lu_solve(8, 32, 1, n, ra, rb, rc, re);

   The common contract of trid.h holds: k rows a lane, `lanes` lanes a system, w = log2 lanes. docs/lu.md derives the
   algorithms.

     lane (one thread, no communication)
       trid_lane_lu          L and U of k rows, from the row above          k FMA + 2k mul + k rcp
     warp (all 32 lanes call them; each group of `lanes` lanes solves a system)
       trid_warp_lu          L and U, for many d                (13k+12w) FMA or mul + (k+1) rcp + (4w+3) shfl
       trid_warp_lu_solve    then for each d, A or A^T          (4k-2+2w) FMA + (3k-2+2w) mul + (4w+4) shfl
       trid_warp_lu_precompute
                             the matrix's part of trid_warp_lu_solve, once; finds how many scan steps matter
       trid_warp_lu_solve_precomputed
                             then for each d                    (4k-2+2s) FMA + k mul + (2+2s) shfl, s <= w steps
       trid_warp_recurrence_solve
                             a linear recurrence                (2k-1+w) FMA + (k-1+w) mul + (2w+2) shfl
       trid_warp_recurrence_open, trid_warp_recurrence
                             its halves: the matrix's part, once, then for each d
       trid_warp_recurrence_first, trid_warp_recurrence_turns
                             the arguments `first` of trid_warp_recurrence_open and `turns` of trid_warp_recurrence
       trid_warp_recurrence_precomputed
                             a linear recurrence, from the results of trid_warp_lu_precompute
     block
       trid_block_lu, trid_block_lu_solve
                             the same across up to 32 warps
       trid_block_interleaved_lu, trid_block_interleaved_lu_solve
                             the same for interleaved systems
       trid_block_recurrence_open, trid_block_recurrence
       trid_block_interleaved_recurrence_open, trid_block_interleaved_recurrence
                             the halves of a linear recurrence
     periodic systems, from the factors of all rows but the last
       trid_warp_ring_open, trid_warp_ring_solve
                             the matrix's part, once, then for each d   (6k+2w) FMA or mul + (2w+4) shfl
       trid_block_interleaved_ring_open, trid_block_interleaved_ring_solve
                             the same for interleaved systems, or for one system of a block, with two barriers */

#ifndef TB_BODY
#ifndef TRID_LU_H
#define TRID_LU_H

#include "interleaved.h"

/* Sizes of the caller's arrays, in elements. */
enum {
    TRID_WARP_LU_PRECOMPUTED_LEN = 10,   /* trid_warp_lu_precompute: keep, of each lane */
    TRID_BLOCK_LU_LEN = 196,             /* trid_block_lu: for the block */
    TRID_RECURRENCE_LEN = 7,             /* trid_warp_recurrence_open, trid_block_recurrence_open: keep, of each lane */
    TRID_INTERLEAVED_RECURRENCE_LEN = 8, /* trid_block_interleaved_recurrence_open: the same */
    TRID_BLOCK_RECURRENCE_LEN = 98,      /* trid_block_recurrence: for the block. Each warp's product, sum and last
                                            coefficient, 32 of each; two slots through which warps that take turns
                                            pass results on. */
    TRID_RING_KEEP_LEN = 17              /* trid_warp_ring_open and its like: keep, of each lane */
};

/* A ring: the data of a periodic system of n rows whose last unknown s stays out of the factors. Element e of one of
   `systems` rings is ring[e * systems]. The enum names its elements: `first`, `second`, `last`, `own`, `middle` and
   `times`. s is `last` * (`own` - `first` * x[0] - `second` * x[n-2]), where x is the solution for s = 0 and `own` is
   d[n-1]. Let y be the result of the first recurrence ("periodic systems" below), and Y the y above the partition that
   holds row n-2. Then trid_block_interleaved_ring_solve computes y[n-2] as `middle` + `times` * Y. Before a ring is
   opened, `last` may be b[n-1], and `middle` is the direct effect of s on x[n-2]: -u[n-2], or 1 if n is 1. */
enum {
    TRID_RING_FIRST,
    TRID_RING_SECOND,
    TRID_RING_LAST,
    TRID_RING_OWN,
    TRID_RING_MIDDLE,
    TRID_RING_TIMES,
    TRID_RING_LEN
};
#define TRID_BLOCK_INTERLEAVED_LU_LEN_F32(systems, parts)                                                              \
    TRID_RING_PLACE(systems, parts, 32) /* trid_block_interleaved_lu: for the block */
#define TRID_BLOCK_INTERLEAVED_LU_LEN_F64(systems, parts) TRID_RING_PLACE(systems, parts, 16)
#define TRID_RING_PLACE(systems, parts, banks)                                                                         \
    (5 * TRID_INTERLEAVED_SLOT(systems, parts, banks, (systems) * (parts))) /* where rings begin in shared memory */

/* If a product of a recurrence's coefficients exceeds this bound, partitions take turns, because a small number in
   such a recurrence may be the difference of large ones. For each recurrence a lane keeps the factors of the scan's
   steps (numbers 0 to 4), the product up to the last row that it visits (5), and the coefficient of the first (6, the
   edge). With interleaved systems number 5 is the product over the first partition that the lane takes, and number 7
   that over the second. */
enum { TRID_P_RECURRENCE_GROWTH = 32, TRID_P_RECURRENCE_EDGE = 6, TRID_P_INTERLEAVED_SECOND = 7 };
enum { TRID_P_MOST_SIDES = 4 }; /* the most right-hand sides of trid_warp_lu_solve_precomputed */

/* A lane's numbers for a ring: those that it keeps for the first recurrence and, from TRID_P_UP on, for the second; the
   gain (the factor with which the y above the lane's partition enters the partition's first x); and the y above the
   partition and the x below it, for s = 1 and d = 0. */
enum {
    TRID_P_GAIN = 7,
    TRID_P_UP = TRID_INTERLEAVED_RECURRENCE_LEN,
    TRID_P_RING_ABOVE = TRID_P_UP + TRID_RECURRENCE_LEN,
    TRID_P_RING_BELOW
};

#if TB_DEVICE_SCOPES

/* Returns whether this lane is its group's first in the direction of a recurrence. */
TB_D int trid_warp_recurrence_first(int lanes, int up)
{
    return trid_warp_rank(lanes) == (up ? lanes - 1 : 0);
}

#define TB_BODY "lu.h"
#include "twice.h"

#endif /* TB_DEVICE_SCOPES */

#endif /* TRID_LU_H */
#else /* TB_BODY: over tb_real */

/* ---- lane: one thread -------------------------------------------------------------------------------------------- */

/* Returns a number that is negative if x and y have opposite signs. */
TB_D int trid_p_signs(tb_real x, tb_real y)
{
    return (int)(trid_p_upper(x) ^ trid_p_upper(y));
}

/* Returns the power of two whose product with |x| is in [1, 2). For some extreme x this product is below 1, infinite or
   NaN instead. */
TB_D tb_real trid_p_power(tb_real x)
{
    const unsigned twice_one = TB_BYTES == 4 ? 0x7f000000 : 0x7fe00000; /* twice the exponent of 1 */
    const unsigned exponent = trid_p_upper(x) & (TB_BYTES == 4 ? 0x7f800000 : 0x7ff00000);
    trid_p_bits u = (trid_p_bits)(twice_one - exponent) << (8 * sizeof u - 32);
    tb_real y;
    memcpy(&y, &u, sizeof y);
    return y;
}

/* Returns x, but hides its origin from the compiler, which would otherwise keep, for every row, a value that it
   could recompute. */
TB_D tb_real trid_p_hidden(tb_real x)
{
#ifdef __CUDA_ARCH__
#if TB_BYTES == 4
    asm volatile("" : "+f"(x));
#else
    asm volatile("" : "+d"(x));
#endif
#endif
    return x;
}

/* Computes the map by which k rows act on u = c / pivot of the row above them. With v = |u| and w = 1 - v, the rows of
   a matrix that is dominant by rows turn (w, v) into map * (w, v), up to a common factor. No element of map is
   negative. So every element of a product of such maps, and w as well, is accurate to a few roundoffs of its own size.
   The sign bit of `before` is that of b c of the row above.
   Leaves   map by columns: (map[0], map[1]) and (map[2], map[3])
   Returns  whether the rows are dominant */
TB_D int trid_p_lu_reduce(int k, int before, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *map)
{
    tb_real w1 = 1, v1 = 0, w2 = 0, v2 = 1;
    int dominant = 1;
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        tb_real scale = trid_p_power(b[j]);
        tb_real up = trid_abs(a[j]) * scale, down = trid_abs(c[j]) * scale, size = trid_abs(b[j]) * scale;
        tb_real excess = size - up - down;
        dominant &= excess >= -8 * trid_roundoff(); /* b may be rounded */
        if (excess < 0) excess = 0;
        int apart = (trid_p_signs(a[j], b[j]) ^ before) < 0;
        tb_real from_w = excess + up, from_v = apart ? from_w + up : excess;
        tb_real next1 = from_w * w1 + from_v * v1, next2 = from_w * w2 + from_v * v2;
        v1 = down * (w1 + v1), w1 = next1;
        v2 = down * (w2 + v2), w2 = next2;
        before = trid_p_signs(b[j], c[j]);
    }
    map[0] = w1, map[1] = v1, map[2] = w2, map[3] = v2;
    return dominant;
}

/* Factors k dominant rows from w = 1 - |u| of the row above them. No sum cancels except the excess, which is exactly
   that of trid_p_lu_reduce without its scale. So the difference between these pivots and those that the maps imply is a
   few roundoffs of the pivots, not of b. Leaves and returns what trid_lane_lu does. */
TB_D int trid_p_lu_rows(int k, int before, tb_real w, tb_real *a, tb_real *b, tb_real *c)
{
    int status = 0;
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        tb_real up = trid_abs(a[j]), down = trid_abs(c[j]), excess = trid_abs(b[j]) - up - down;
        if (excess < 0) excess = 0;
        int apart = (trid_p_signs(a[j], b[j]) ^ before) < 0;
        before = trid_p_signs(b[j], c[j]);
        tb_real rest = excess + up * (apart ? 2 - w : w), r = trid_rcp_refined(rest + down);
        if (trid_bad_pivot(r) && !status) status = 1 + j;
        w = rest * r;
        b[j] = r = b[j] < 0 ? -r : r;
        a[j] *= r;
        c[j] *= r;
    }
    return status;
}

/* Scales map so that products of maps stay in range. Returns whether that is possible. */
TB_D int trid_p_lu_scale(tb_real *map)
{
    tb_real sum = map[0] + map[1], scale = trid_p_power(sum);
    TB_UNROLL
    for (int k = 0; k < 4; k++) map[k] *= scale;
    return sum >= trid_smallest() / trid_roundoff();
}

/* Multiplies map by that of the partition above, map = map * first, and scales it. Returns what trid_p_lu_scale
   returns. */
TB_D int trid_p_lu_join(tb_real *map, const tb_real *first)
{
    tb_real m0 = map[0], m1 = map[1], m2 = map[2], m3 = map[3];
    map[0] = m0 * first[0] + m2 * first[1];
    map[1] = m1 * first[0] + m3 * first[1];
    map[2] = m0 * first[2] + m2 * first[3];
    map[3] = m1 * first[2] + m3 * first[3];
    return trid_p_lu_scale(map);
}

/* Factors k rows into L and U, where u is c / pivot of the row above them.
   Needs    k as a literal; the a of the system's first row is 0
   Leaves   l = a / pivot in a, r = 1 / pivot in b, u = c / pivot in c
   Returns  0, or 1 + the first row with a bad pivot
   Cost     k FMA + 2k mul + k rcp */
TB_D int trid_lane_lu(int k, tb_real u, tb_real *a, tb_real *b, tb_real *c)
{
    int status = 0;
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        tb_real r = trid_rcp_refined(b[j] - a[j] * u);
        if (trid_bad_pivot(r) && !status) status = 1 + j;
        a[j] *= r;
        b[j] = r;
        c[j] = u = c[j] * r;
    }
    return status;
}

/* A linear recurrence over a partition of k rows, x[j] + m[j] x[j-1] = d[j], or upwards x[j] + m[j] x[j+1] = d[j]. With
   `shift`, row j has the m of the row visited before it. The coefficient of the first row visited is `edge`. k, `up`
   and `shift` are literals. */
typedef struct {
    int k, up, shift;
    const tb_real *m;
    tb_real edge;
} trid_p_recurrence;

/* Returns the i-th row that a recurrence visits. */
TB_D int trid_p_recurrence_row(trid_p_recurrence r, int i)
{
    return r.up ? r.k - 1 - i : i;
}

/* Returns the coefficient of that row. */
TB_D tb_real trid_p_recurrence_coefficient(trid_p_recurrence r, int i)
{
    return i == 0 ? r.edge : r.m[trid_p_recurrence_row(r, i - r.shift)];
}

/* Returns p of a partition whose last unknown is p x + q, where x is the unknown before the partition. */
TB_D tb_real trid_p_recurrence_product(trid_p_recurrence r)
{
    tb_real p = -r.edge;
    TB_UNROLL
    for (int i = 1; i < r.k; i++) p *= -trid_p_recurrence_coefficient(r, i);
    return p;
}

/* Returns q of that partition. */
TB_D tb_real trid_p_recurrence_sum(trid_p_recurrence r, const tb_real *d)
{
    tb_real q = d[trid_p_recurrence_row(r, 0)];
    TB_UNROLL
    for (int i = 1; i < r.k; i++) q = trid_fnma(d[trid_p_recurrence_row(r, i)], trid_p_recurrence_coefficient(r, i), q);
    return q;
}

/* Solves the partition's rows. `from` is the unknown before it. */
TB_D void trid_p_recurrence_expand(trid_p_recurrence r, tb_real from, tb_real *d)
{
    TB_UNROLL
    for (int i = 0; i < r.k; i++) {
        int j = trid_p_recurrence_row(r, i);
        d[j] = from = trid_fnma(d[j], trid_p_recurrence_coefficient(r, i), from);
    }
}

/* ---- warp and block ---------------------------------------------------------------------------------------------- */

/* Returns x of the lane that is s lanes before this one in the recurrence's direction. */
TB_D tb_real trid_p_recurrence_shuffle(int lanes, int up, tb_real x, int s)
{
    return up ? __shfl_down_sync(TB_FULL_WARP, x, s, lanes) : __shfl_up_sync(TB_FULL_WARP, x, s, lanes);
}

/* Returns whether lanes must take turns in a recurrence that trid_warp_recurrence_open or trid_warp_ring_open opened.
   Lanes    all 32 of the warp */
TB_D int trid_warp_recurrence_turns(int lanes, const tb_real *keep)
{
    int grown = 0;
    TB_UNROLL
    for (int i = 0; i < 5; i++)
        if (1 << i < lanes) grown |= !(trid_abs(keep[i]) <= (tb_real)TRID_P_RECURRENCE_GROWTH);
    return __any_sync(TB_FULL_WARP, grown);
}

/* Precomputes the matrix's part of a recurrence across `lanes` lanes. `first` marks lanes with no unknown before them;
   with `shift`, `outside` is the m of the row visited just before the group's rows.
   Lanes    all 32 of the warp
   Leaves   `keep`, of TRID_RECURRENCE_LEN elements, for trid_warp_recurrence
   Returns  whether lanes must take turns, because the recurrence grows somewhere in the warp */
TB_D int trid_warp_recurrence_open(int k, int lanes, int up, int shift, const tb_real *m, int first, tb_real outside,
                                   tb_real *keep)
{
    trid_p_recurrence r = {k, up, shift, m, m[up ? k - 1 : 0]};
    int rank = trid_warp_rank(lanes);
    if (shift) r.edge = trid_p_recurrence_shuffle(lanes, up, m[up ? 0 : k - 1], 1);
    if (shift && rank == (up ? lanes - 1 : 0)) r.edge = outside;
    if (first) r.edge = 0;
    tb_real p = trid_p_recurrence_product(r);
    keep[TRID_P_RECURRENCE_EDGE] = r.edge;
    TB_UNROLL
    for (int i = 0; i < 5; i++) {
        keep[i] = p;
        if (1 << i < lanes) {
            tb_real before = trid_p_recurrence_shuffle(lanes, up, p, 1 << i);
            if (up ? rank + (1 << i) < lanes : rank >= 1 << i) p *= before;
        }
    }
    keep[5] = p;
    return trid_warp_recurrence_turns(lanes, keep);
}

/* Scans a recurrence over the lanes of a group, where this lane is number `rank`. q is the last unknown of the lane's
   partition, computed with 0 before the partition. Returns the same unknown with 0 before the group. */
TB_D tb_real trid_p_recurrence_scan(int lanes, int rank, int up, const tb_real *keep, tb_real q)
{
    TB_UNROLL
    for (int i = 0; i < 5; i++)
        if (1 << i < lanes) {
            tb_real before = trid_p_recurrence_shuffle(lanes, up, q, 1 << i);
            if (up ? rank + (1 << i) < lanes : rank >= 1 << i) q += keep[i] * before;
        }
    return q;
}

/* Solves the rows of each lane. `from` is the unknown before them; with `turns`, only the group's first lane needs
   it. */
TB_D void trid_p_recurrence_close(trid_p_recurrence r, int lanes, int turns, tb_real from, tb_real *d)
{
    int rank = trid_warp_rank(lanes), turn = r.up ? lanes - 1 - rank : rank;
    tb_real last = 0;
    TB_LOOP
    for (int s = 0; s < (turns ? lanes : 1); s++) {
        tb_real before = trid_p_recurrence_shuffle(lanes, r.up, last, 1);
        if (turns && turn > 0) from = before;
        if (!turns || turn == s) {
            trid_p_recurrence_expand(r, from, d);
            last = d[trid_p_recurrence_row(r, r.k - 1)];
        }
    }
}

/* Solves a recurrence across `lanes` lanes, after trid_warp_recurrence_open, which returned `turns`.
   Lanes    all 32 of the warp
   Leaves   x in d */
TB_D void trid_warp_recurrence(int k, int lanes, int up, int shift, const tb_real *m, const tb_real *keep, int turns,
                               tb_real *d)
{
    trid_p_recurrence r = {k, up, shift, m, keep[TRID_P_RECURRENCE_EDGE]};
    int rank = trid_warp_rank(lanes);
    tb_real from = 0;
    if (!turns) {
        tb_real last = trid_p_recurrence_scan(lanes, trid_warp_rank(lanes), up, keep, trid_p_recurrence_sum(r, d));
        from = trid_p_recurrence_shuffle(lanes, up, last, 1);
    }
    if (rank == (up ? lanes - 1 : 0)) from = 0;
    trid_p_recurrence_close(r, lanes, turns, from, d);
}

/* Does both halves of a recurrence across `lanes` lanes. */
TB_D void trid_p_warp_recurrence_solve(int k, int lanes, int up, int shift, const tb_real *m, tb_real *d)
{
    tb_real keep[TRID_RECURRENCE_LEN];
    int turns = trid_warp_recurrence_open(k, lanes, up, shift, m, trid_warp_recurrence_first(lanes, up), 0, keep);
    trid_warp_recurrence(k, lanes, up, shift, m, keep, turns, d);
}

/* Solves a linear recurrence, x[j] + m[j] x[j-1] = d[j], j = 0 .. n-1, or with `up` x[j] + m[j] x[j+1] = d[j]. The rows
   are laid out as in trid_warp_hybrid.
   Needs    1 <= k <= 32, lanes and `up` as literals; n <= k*lanes; the m of row 0 (with `up`: of row n-1) and the rows
            from n on are not read
   Lanes    all 32 of the warp; groups may have different n
   Leaves   x in d, 0 in rows from n on; m unchanged
   Cost     (2k-1+w) FMA + (k-1+w) mul + (2w+2) shuffles and a vote. If a product of coefficients over partitions
            exceeds 32, lanes take turns: then k FMA for each lane in turn
   Error    the residual of a row is a few roundoffs of the largest among its terms and the x of nearby rows */
TB_D void trid_warp_recurrence_solve(int k, int lanes, int up, int n, const tb_real *m, tb_real *d)
{
    tb_real own[TRID_MOST_ROWS];
    int first = k * trid_warp_rank(lanes);
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        int there = n >= k * lanes || first + j < n, linked = up ? first + j + 1 < n : j > 0 || first > 0;
        own[j] = there && linked ? m[j] : (tb_real)0;
        if (!there) d[j] = 0;
    }
    trid_p_warp_recurrence_solve(k, lanes, up, 0, own, d);
}

/* Scans the maps of a group's lanes: each becomes the map of all rows from the group's first to the lane's last.
   Returns whether all could be scaled. */
TB_D int trid_p_lu_scan(int lanes, tb_real *map)
{
    int good = trid_p_lu_scale(map), rank = trid_warp_rank(lanes);
    TB_UNROLL
    for (int i = 0; i < 5; i++)
        if (1 << i < lanes) {
            tb_real above[4];
            TB_UNROLL
            for (int k = 0; k < 4; k++) above[k] = __shfl_up_sync(TB_FULL_WARP, map[k], 1 << i, lanes);
            if (rank >= 1 << i) good &= trid_p_lu_join(map, above);
        }
    return good;
}

/* Factors the rows, one lane after another. u is c / pivot of the row above the group's first lane. */
TB_D int trid_p_lu_turns(int k, int lanes, tb_real u, tb_real *a, tb_real *b, tb_real *c)
{
    int rank = trid_warp_rank(lanes), status = 0;
    tb_real last = 0;
    TB_LOOP
    for (int s = 0; s < lanes; s++) {
        tb_real above = __shfl_up_sync(TB_FULL_WARP, last, 1, lanes);
        if (rank == s) {
            status = trid_lane_lu(k, s > 0 ? above : u, a, b, c);
            last = c[k - 1];
        }
    }
    return status;
}

/* Factors a tridiagonal matrix without pivoting, A = P (I + L) (I + U) with the pivots in P. The factors are those of
   the Thomas algorithm, found by a scan over the lanes. The rows are laid out as in trid_warp_hybrid.
   Needs    k >= 1 and lanes as literals; n <= k*lanes; the a of row 0, the c of row n-1 and the rows from n on are not
            read
   Lanes    all 32 of the warp; groups may have different n
   Leaves   l = a / pivot in a, r = 1 / pivot in b, u = c / pivot in c, for trid_warp_lu_solve; the factors of identity
            rows from n on
   Returns  as trid_warp_hybrid
   Cost     if every matrix of the warp is dominant by rows, (13k+12w) FMA or mul + 10k other operations + (k+1) rcp +
            (4w+3) shuffles and a vote. Otherwise lanes take turns: then k FMA + 2k mul + k rcp for each lane in turn
   Error    if the matrix is dominant, however slightly, the product of the factors differs from A by a few unit
            roundoffs of each row (docs/lu.md). Lanes that take turns find the factors of trid_lane_lu */
TB_D int trid_warp_lu(int k, int lanes, int n, tb_real *a, tb_real *b, tb_real *c)
{
    int rank = trid_warp_rank(lanes);
    tb_real map[4];
    trid_lane_pad(k, k * rank, n, k * lanes, a, b, c, (tb_real *)0);
    int before = __shfl_up_sync(TB_FULL_WARP, trid_p_signs(b[k - 1], c[k - 1]), 1, lanes);
    int good = trid_p_lu_reduce(k, before, a, b, c, map);
    good &= trid_p_lu_scan(lanes, map);
    tb_real w = __shfl_up_sync(TB_FULL_WARP, map[0], 1, lanes), v = __shfl_up_sync(TB_FULL_WARP, map[1], 1, lanes);
    if (rank == 0) w = 1, v = 0;
    int status = __all_sync(TB_FULL_WARP, good) ? trid_p_lu_rows(k, before, w * trid_rcp_refined(w + v), a, b, c)
                                                : trid_p_lu_turns(k, lanes, 0, a, b, c);
    return trid_lane_status(k * rank, k, n, k * lanes, status, 0);
}

/* Begins a solve with factors. d holds rows `first` .. `first + k - 1`; the lanes of the system hold `full` rows in
   all. Zeroes d in rows from n on, and divides the others by the pivots. For the transposed system, trid_p_lu_end
   divides instead. */
TB_D void trid_p_lu_begin(int k, int transposed, int first, int n, int full, const tb_real *r, tb_real *d)
{
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        int there = n >= full || first + j < n;
        if (!transposed) d[j] = there ? d[j] * r[j] : (tb_real)0;
        if (transposed && !there) d[j] = 0;
    }
}

/* Ends a solve with factors: divides by the pivots if transposed. */
TB_D void trid_p_lu_end(int k, int transposed, const tb_real *r, tb_real *d)
{
    TB_UNROLL
    for (int j = 0; j < k; j++)
        if (transposed) d[j] *= r[j];
}

/* Solves A x = d or, transposed, A^T x = d (which adjoint differentiation needs) with the factors of trid_warp_lu.
   Needs    `transposed` as a literal; k, lanes, n, l, r, u as trid_warp_lu left them; d counts as 0 in rows from n on
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     (4k-2+2w) FMA + (3k-2+2w) mul + (4w+4) shuffles, 2 more if transposed; if lanes take turns, as
            trid_warp_recurrence_solve
   Error    that of the Thomas algorithm: the residual is a few unit roundoffs (docs/lu.md) */
TB_D void trid_warp_lu_solve(int k, int lanes, int transposed, int n, const tb_real *l, const tb_real *r,
                             const tb_real *u, tb_real *d)
{
    trid_p_lu_begin(k, transposed, k * trid_warp_rank(lanes), n, k * lanes, r, d);
    trid_p_warp_recurrence_solve(k, lanes, 0, transposed, transposed ? u : l, d);
    trid_p_warp_recurrence_solve(k, lanes, 1, transposed, transposed ? l : u, d);
    trid_p_lu_end(k, transposed, r, d);
}

/* Precomputes the matrix's part of trid_warp_lu_solve, once, for many right-hand sides. If the matrix is dominant by
   rows, the factors by which partitions multiply incoming values usually shrink from step to step of the scan. *steps
   is the number of steps, out of w, after which no factor in the warp exceeds the unit roundoff.
   Needs    k >= 1 and lanes as literals; l, u as trid_warp_lu left them; keep of TRID_WARP_LU_PRECOMPUTED_LEN elements
   Lanes    all 32 of the warp: *steps serves all of its groups
   Leaves   keep and *steps for trid_warp_lu_solve_precomputed; 0 in l of a group's first row and in u of its last
   Returns  0, or 1 if lanes would have to take turns: then only trid_warp_lu_solve works
   Cost     (2k-2+2w) mul + 2w shuffles and 12 votes
   Error    the omitted steps change x by about the unit roundoff times the largest element of x */
TB_D int trid_warp_lu_precompute(int k, int lanes, tb_real *l, tb_real *u, tb_real *keep, int *steps)
{
    int rank = trid_warp_rank(lanes), turns = 0;
    *steps = 0;
    TB_UNROLL
    for (int up = 0; up < 2; up++) {
        tb_real chain[TRID_RECURRENCE_LEN], *m = up ? u : l;
        int first = trid_warp_recurrence_first(lanes, up);
        turns |= trid_warp_recurrence_open(k, lanes, up, 0, m, first, 0, chain);
        if (first) m[up ? k - 1 : 0] = 0;
        TB_UNROLL
        for (int i = 0; i < 5; i++) {
            int reaches = 1 << i < lanes && (up ? rank + (1 << i) < lanes : rank >= 1 << i);
            keep[5 * up + i] = reaches ? chain[i] : (tb_real)0;
            int matters = __any_sync(TB_FULL_WARP, !(trid_abs(keep[5 * up + i]) <= trid_roundoff()));
            if (matters && *steps < i + 1) *steps = i + 1;
        }
    }
    return turns;
}

/* Solves a recurrence for `sides` right-hand sides, as trid_warp_lu_solve_precomputed does.
   Needs    m and keep from trid_warp_lu_precompute: l and keep or, with `up`, u and keep + 5 stride */
TB_D void trid_warp_recurrence_precomputed(int k, int lanes, int up, int sides, int steps, const tb_real *m,
                                           const tb_real *keep, int stride, tb_real *d)
{
    trid_p_recurrence r = {k, up, 0, m, m[up ? k - 1 : 0]};
    tb_real q[TRID_P_MOST_SIDES];
    int p = 0;
    TB_UNROLL
    for (int side = 0; side < sides; side++) q[side] = trid_p_recurrence_sum(r, d + k * side);
    TB_UNROLL
    for (int s = 1; s < lanes; s *= 2) {
        if (p >= steps) break;
        tb_real factor = keep[p * stride];
        TB_UNROLL
        for (int side = 0; side < sides; side++) q[side] += factor * trid_p_recurrence_shuffle(lanes, up, q[side], s);
        p++;
    }
    TB_UNROLL
    for (int side = 0; side < sides; side++)
        trid_p_recurrence_expand(r, trid_p_recurrence_shuffle(lanes, up, q[side], 1), d + k * side);
}

/* Solves A x = d for `sides` right-hand sides at once, with the results of trid_warp_lu and trid_warp_lu_precompute.
   Row j of right-hand side i is d[j + k i].
   Needs    k, lanes and sides as literals, sides from 1 to 4; l, r, u and steps as those two functions left them;
            element e of keep at keep[e stride]; d = 0 in rows from n on
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     for each right-hand side (4k-2+2s) FMA + k mul + (2+2s) shuffles, where s is the number of steps
   Error    as trid_warp_lu_solve, plus the effect of the omitted steps (trid_warp_lu_precompute) */
TB_D void trid_warp_lu_solve_precomputed(int k, int lanes, int sides, int steps, const tb_real *l, const tb_real *r,
                                         const tb_real *u, const tb_real *keep, int stride, tb_real *d)
{
    TB_UNROLL
    for (int e = 0; e < k * sides; e++) d[e] *= r[e % k];
    trid_warp_recurrence_precomputed(k, lanes, 0, sides, steps, l, keep, stride, d);
    trid_warp_recurrence_precomputed(k, lanes, 1, sides, steps, u, keep + 5 * stride, stride, d);
}

/* Does the work of trid_warp_recurrence_open across the warps of a block.
   Shared   TRID_BLOCK_RECURRENCE_LEN elements, which trid_block_recurrence needs as they are left; one barrier inside,
            two with `shift` */
TB_D int trid_block_recurrence_open(int k, int up, int shift, const tb_real *m, tb_real *keep, tb_real *shared)
{
    int thread = trid_block_thread(), warp = thread / 32, lane = thread & 31, last = trid_block_threads() - 1;
    int exit = lane == (up ? 0 : 31), first = thread == (up ? last : 0);
    tb_real outside = 0;
    if (shift) {
        if (exit) shared[64 + warp] = m[up ? 0 : k - 1];
        __syncthreads();
        if (lane == (up ? 31 : 0) && !first) outside = shared[up ? 65 + warp : 63 + warp];
    }
    int grown = trid_warp_recurrence_open(k, 32, up, shift, m, first, outside, keep);
    if (exit) shared[warp] = keep[5];
    return __syncthreads_or(grown || !(trid_abs(keep[5]) <= (tb_real)TRID_P_RECURRENCE_GROWTH));
}

/* Does the work of trid_warp_recurrence across the warps of a block.
   Shared   the elements that trid_block_recurrence_open left; one barrier inside, or one per warp if warps take turns;
            call __syncthreads() before the next right-hand side (alternating between two recurrences, as
            trid_block_lu_solve does, saves this barrier) */
TB_D void trid_block_recurrence(int k, int up, int shift, const tb_real *m, const tb_real *keep, int turns, tb_real *d,
                                tb_real *shared)
{
    int thread = trid_block_thread(), warp = thread / 32, lane = thread & 31, warps = trid_block_threads() / 32;
    int exit = lane == (up ? 0 : 31), entry = lane == (up ? 31 : 0);
    trid_p_recurrence r = {k, up, shift, m, keep[TRID_P_RECURRENCE_EDGE]};
    if (!turns) {
        tb_real q = trid_p_recurrence_scan(32, trid_warp_rank(32), up, keep, trid_p_recurrence_sum(r, d)), before = 0;
        if (exit) shared[32 + warp] = q;
        __syncthreads();
        TB_LOOP
        for (int i = up ? warps - 1 : 0; i != warp; i += up ? -1 : 1) before = shared[32 + i] + shared[i] * before;
        tb_real above = trid_p_recurrence_shuffle(32, up, q, 1);
        tb_real times = trid_p_recurrence_shuffle(32, up, keep[5], 1);
        trid_p_recurrence_close(r, 32, 0, entry ? before : above + times * before, d);
        return;
    }
    TB_LOOP
    for (int s = 0; s < warps; s++) {
        if ((up ? warps - 1 - warp : warp) == s) {
            trid_p_recurrence_close(r, 32, 1, s > 0 ? shared[96 + (s & 1)] : (tb_real)0, d);
            if (exit) shared[97 - (s & 1)] = d[up ? 0 : k - 1];
        }
        __syncthreads();
    }
}

/* Does both halves of a recurrence across the warps of a block. */
TB_D void trid_p_block_recurrence_solve(int k, int up, int shift, const tb_real *m, tb_real *d, tb_real *shared)
{
    tb_real keep[TRID_RECURRENCE_LEN];
    int turns = trid_block_recurrence_open(k, up, shift, m, keep, shared);
    trid_block_recurrence(k, up, shift, m, keep, turns, d, shared);
}

/* Factors one matrix of n <= k*threads rows as trid_warp_lu does. The rows are laid out as in trid_block_hybrid.
   Needs    k >= 1 as a literal; the a of row 0, the c of row n-1 and the rows from n on are not read
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   as trid_warp_lu
   Returns  as trid_warp_lu: -1 if n > k*threads; the smallest positive status of the threads shows where the failure
            began
   Shared   TRID_BLOCK_LU_LEN elements, no bank conflicts; two barriers inside and, if warps take turns, one more for
            each warp; call __syncthreads() before another use
   Cost     that of trid_warp_lu with lanes = 32, and about ten operations for each warp before this one
   Error    as trid_warp_lu */
TB_D int trid_block_lu(int k, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *shared)
{
    int thread = trid_block_thread(), threads = trid_block_threads(), warp = thread / 32, lane = thread & 31,
        status = 0;
    tb_real map[4], above[4], w = 1, v = 0;
    trid_lane_pad(k, k * thread, n, k * threads, a, b, c, (tb_real *)0);
    int sign = trid_p_signs(b[k - 1], c[k - 1]);
    int before = __shfl_up_sync(TB_FULL_WARP, sign, 1);
    if (lane == 31) shared[128 + warp] = (tb_real)(sign < 0 ? -1 : 1);
    __syncthreads();
    if (lane == 0) before = warp > 0 && shared[127 + warp] < 0 ? -1 : 0;
    int good = trid_p_lu_reduce(k, before, a, b, c, map);
    good &= trid_p_lu_scan(32, map);
    TB_UNROLL
    for (int e = 0; e < 4; e++)
        if (lane == 31) shared[32 * e + warp] = map[e];
    good = __syncthreads_and(good);
    TB_LOOP
    for (int i = 0; i < warp; i++) {
        tb_real next = shared[i] * w + shared[64 + i] * v;
        v = shared[32 + i] * w + shared[96 + i] * v;
        tb_real scale = trid_p_power(next + v);
        w = next * scale, v *= scale;
    }
    TB_UNROLL
    for (int e = 0; e < 4; e++) above[e] = __shfl_up_sync(TB_FULL_WARP, map[e], 1);
    if (lane > 0) {
        tb_real next = above[0] * w + above[2] * v;
        v = above[1] * w + above[3] * v;
        w = next;
    }
    if (good) {
        status = trid_p_lu_rows(k, before, w * trid_rcp_refined(w + v), a, b, c);
    } else {
        TB_LOOP
        for (int s = 0; s < threads / 32; s++) {
            if (warp == s) {
                status = trid_p_lu_turns(k, 32, s > 0 ? shared[160 + (s & 1)] : (tb_real)0, a, b, c);
                if (lane == 31) shared[161 - (s & 1)] = c[k - 1];
            }
            __syncthreads();
        }
    }
    return trid_lane_status(k * thread, k, n, k * threads, status, 0);
}

/* Solves A x = d or, transposed, A^T x = d with the factors of trid_block_lu.
   Needs    `transposed` as a literal; k, n, l, r, u as trid_block_lu left them; d counts as 0 in rows from n on
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_lu; four barriers inside, six if transposed, warps - 1 more for each recurrence whose warps
            take turns; call __syncthreads() before another use
   Cost     that of trid_warp_lu_solve with lanes = 32, and one FMA for each of the other warps
   Error    as trid_warp_lu_solve */
TB_D void trid_block_lu_solve(int k, int transposed, int n, const tb_real *l, const tb_real *r, const tb_real *u,
                              tb_real *d, tb_real *shared)
{
    trid_p_lu_begin(k, transposed, k * trid_block_thread(), n, k * trid_block_threads(), r, d);
    trid_p_block_recurrence_solve(k, 0, transposed, transposed ? u : l, d, shared);
    trid_p_block_recurrence_solve(k, 1, transposed, transposed ? l : u, d, shared + TRID_BLOCK_RECURRENCE_LEN);
    trid_p_lu_end(k, transposed, r, d);
}

/* Interleaved systems: each thread holds partition thread / systems of system thread % systems. The scan redistributes
   the partitions: a group of min(parts, 32) lanes takes a system, each lane one partition or, if parts is 64, two.
   `group` is the number of these lanes, and `each` = parts / group. Thread t < systems*group has the partitions
   each*(t % group) .. each*(t % group) + each-1 of system t / group. */

/* Returns TRID_INTERLEAVED_SLOT for the body's real type. systems and parts are literals. */
TB_D int trid_p_slot(int systems, int parts, int t)
{
    return TRID_INTERLEAVED_SLOT(systems, parts, TRID_BANKS, t);
}

/* Does the work of trid_warp_recurrence_open for interleaved systems.
   Shared   one slot per partition; two barriers inside, four with `shift` */
TB_D int trid_block_interleaved_recurrence_open(int k, int systems, int parts, int up, int shift, const tb_real *m,
                                                tb_real *keep, tb_real *shared)
{
    int thread = trid_block_thread(), partition = thread / systems, slot = trid_p_slot(systems, parts, thread);
    int first = partition == (up ? parts - 1 : 0), group = parts < 32 ? parts : 32, each = parts / group, grown = 0;
    trid_p_recurrence r = {k, up, shift, m, m[up ? k - 1 : 0]};
    if (shift) {
        shared[slot] = m[up ? 0 : k - 1];
        __syncthreads();
        if (!first) r.edge = shared[trid_p_slot(systems, parts, up ? thread + systems : thread - systems)];
        __syncthreads();
    }
    if (first) r.edge = 0;
    shared[slot] = trid_p_recurrence_product(r);
    __syncthreads();
    if (thread < systems * group) {
        int rank = thread % group, line = thread / group;
        tb_real low = shared[trid_p_slot(systems, parts, line + systems * each * rank)];
        tb_real high =
            each > 1 ? shared[trid_p_slot(systems, parts, line + systems * (each * rank + each - 1))] : (tb_real)1;
        const tb_real most = TRID_P_RECURRENCE_GROWTH;
        grown = !(trid_abs(low) <= most) || !(trid_abs(high) <= most);
        const tb_real one = -low * high;
        grown |= trid_warp_recurrence_open(1, group, up, 0, &one, 0, 0, keep);
        keep[5] = low, keep[TRID_P_INTERLEAVED_SECOND] = high;
    }
    keep[TRID_P_RECURRENCE_EDGE] = r.edge;
    return __syncthreads_or(grown);
}

/* Does the work of trid_warp_recurrence for interleaved systems.
   Shared   two slots per partition; two barriers inside, or parts + 1 if partitions take turns; none is needed before
            the next right-hand side */
TB_D void trid_block_interleaved_recurrence(int k, int systems, int parts, int up, int shift, const tb_real *m,
                                            const tb_real *keep, int turns, tb_real *d, tb_real *shared)
{
    int thread = trid_block_thread(), partition = thread / systems, slot = trid_p_slot(systems, parts, thread);
    int turn = up ? parts - 1 - partition : partition, group = parts < 32 ? parts : 32, each = parts / group;
    trid_p_recurrence r = {k, up, shift, m, keep[TRID_P_RECURRENCE_EDGE]};
    tb_real *come = shared + trid_p_slot(systems, parts, systems * parts);
    if (!turns) {
        shared[slot] = trid_p_recurrence_sum(r, d);
        __syncthreads();
        if (thread < systems * group) {
            int rank = thread % group, line = thread / group;
            int low = trid_p_slot(systems, parts, line + systems * each * rank);
            int high = trid_p_slot(systems, parts, line + systems * (each * rank + each - 1));
            tb_real q = shared[up ? high : low], own = q;
            if (each > 1) q = shared[up ? low : high] + keep[up ? 5 : TRID_P_INTERLEAVED_SECOND] * q;
            tb_real from = trid_p_recurrence_shuffle(group, up, trid_p_recurrence_scan(group, rank, up, keep, q), 1);
            if (rank == (up ? group - 1 : 0)) from = 0;
            come[up ? high : low] = from;
            if (each > 1) come[up ? low : high] = own + keep[up ? TRID_P_INTERLEAVED_SECOND : 5] * from;
        }
        __syncthreads();
        trid_p_recurrence_expand(r, come[slot], d);
        return;
    }
    TB_LOOP
    for (int s = 0; s < parts; s++) {
        __syncthreads();
        if (turn == s) {
            tb_real from =
                s > 0 ? come[trid_p_slot(systems, parts, up ? thread + systems : thread - systems)] : (tb_real)0;
            trid_p_recurrence_expand(r, from, d);
            come[slot] = d[up ? 0 : k - 1];
        }
    }
    __syncthreads();
}

/* Does both halves of a recurrence for interleaved systems. */
TB_D void trid_p_block_interleaved_recurrence_solve(int k, int systems, int parts, int up, int shift, const tb_real *m,
                                                    tb_real *d, tb_real *shared)
{
    tb_real keep[TRID_INTERLEAVED_RECURRENCE_LEN];
    int turns = trid_block_interleaved_recurrence_open(k, systems, parts, up, shift, m, keep, shared);
    trid_block_interleaved_recurrence(k, systems, parts, up, shift, m, keep, turns, d, shared);
}

/* Factors the matrices of `systems` interleaved systems, each as trid_warp_lu does. The rows are laid out as in
   trid_block_interleaved.
   Needs    as trid_block_interleaved, but parts <= 64
   Lanes    all threads of the block
   Leaves   as trid_warp_lu
   Returns  as trid_block_interleaved, for the thread's own system
   Shared   TRID_BLOCK_INTERLEAVED_LU_LEN_F32 or _F64 (systems, parts) elements; bank conflicts as
            trid_block_interleaved; three barriers inside, `parts` more if partitions take turns; call __syncthreads()
            before another use
   Cost     that of trid_warp_lu with lanes = parts, and of the exchange between partitions: 6 stores and 6 loads
   Error    as trid_warp_lu */
TB_D int trid_block_interleaved_lu(int k, int systems, int parts, int n, tb_real *a, tb_real *b, tb_real *c,
                                   tb_real *shared)
{
    int thread = trid_block_thread(), partition = thread / systems, slot = trid_p_slot(systems, parts, thread);
    int part = trid_p_slot(systems, parts, systems * parts), above = trid_p_slot(systems, parts, thread - systems);
    int group = parts < 32 ? parts : 32, each = parts / group, status = 0;
    tb_real map[4], *signs = shared + 4 * part;
    trid_lane_pad(k, k * partition, n, k * parts, a, b, c, (tb_real *)0);
    signs[slot] = (tb_real)(trid_p_signs(b[k - 1], c[k - 1]) < 0 ? -1 : 1);
    __syncthreads();
    int before = partition > 0 && signs[above] < 0 ? -1 : 0;
    int good = trid_p_lu_reduce(k, before, a, b, c, map);
    good &= trid_p_lu_scale(map);
    TB_UNROLL
    for (int e = 0; e < 4; e++) shared[e * part + slot] = map[e];
    __syncthreads();
    if (thread < systems * group) {
        int rank = thread % group, line = thread / group;
        int low = trid_p_slot(systems, parts, line + systems * each * rank);
        int high = trid_p_slot(systems, parts, line + systems * (each * rank + each - 1));
        tb_real first[4], all[4];
        TB_UNROLL
        for (int e = 0; e < 4; e++) first[e] = shared[e * part + low], all[e] = shared[e * part + high];
        if (each > 1) good &= trid_p_lu_join(all, first);
        good &= trid_p_lu_scan(group, all);
        tb_real w = __shfl_up_sync(TB_FULL_WARP, all[0], 1, group), v = __shfl_up_sync(TB_FULL_WARP, all[1], 1, group);
        if (rank == 0) w = 1, v = 0;
        shared[low] = w * trid_rcp_refined(w + v);
        if (each > 1) {
            tb_real next = first[0] * w + first[2] * v;
            v = first[1] * w + first[3] * v;
            shared[high] = next * trid_rcp_refined(next + v);
        }
    }
    if (__syncthreads_and(good)) {
        status = trid_p_lu_rows(k, before, shared[slot], a, b, c);
    } else {
        TB_LOOP
        for (int s = 0; s < parts; s++) {
            if (partition == s) {
                status = trid_lane_lu(k, s > 0 ? shared[above] : (tb_real)0, a, b, c);
                shared[slot] = c[k - 1];
            }
            __syncthreads();
        }
    }
    return trid_lane_status(k * partition, k, n, k * parts, status, 0);
}

/* Solves the systems whose matrices trid_block_interleaved_lu factored, or the transposed ones.
   Needs    `transposed` as a literal; k, systems, parts, n, l, r, u as trid_block_interleaved_lu left them; d counts as
            0 in rows from n on
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_interleaved_lu; eight barriers inside, twelve if transposed, parts - 1 more for each
            recurrence whose partitions take turns; none needed before this function's next call
   Cost     that of trid_warp_lu_solve with lanes = parts, and of the exchange between partitions: 6 stores and 6 loads,
            8 and 8 if transposed
   Error    as trid_warp_lu_solve */
TB_D void trid_block_interleaved_lu_solve(int k, int systems, int parts, int transposed, int n, const tb_real *l,
                                          const tb_real *r, const tb_real *u, tb_real *d, tb_real *shared)
{
    trid_p_lu_begin(k, transposed, k * (trid_block_thread() / systems), n, k * parts, r, d);
    trid_p_block_interleaved_recurrence_solve(k, systems, parts, 0, transposed, transposed ? u : l, d, shared);
    trid_p_block_interleaved_recurrence_solve(k, systems, parts, 1, transposed, transposed ? l : u, d, shared);
    trid_p_lu_end(k, transposed, r, d);
}

/* ---- periodic systems -------------------------------------------------------------------------------------------- */

/* The rows are y[j] + l[j] y[j-1] = d[j], then x[j] + u[j] x[j+1] = y[j]. l of row 0 and u of row n-2 couple to s. Rows
   from n-1 on have l = 0, u = -1 and d = 0, so x is s in all of them. To the partitions, s is therefore the y above the
   first row and the x below the last. s follows from numbers that partitions compute with s = 0 and exchange, so each
   row is solved only once. */

/* Computes the results of both recurrences over k rows, given the y above them and x = 0 below. Leaves three numbers in
   q: the last y, the first x, and the factor with which an x below the rows would enter the first x. A null d stands
   for 0. */
TB_D void trid_p_ring_rows(int k, const tb_real *l, const tb_real *u, const tb_real *d, tb_real above, tb_real *q)
{
    tb_real y = above, x = 0, times = trid_p_hidden(1);
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        y = trid_fnma(d ? d[j] : (tb_real)0, l[j], y);
        x += times * y;
        times *= -u[j];
    }
    q[0] = y, q[1] = x, q[2] = times;
}

/* Returns y[n-2] of a periodic system, given the y above the partition that holds row n-2; in other partitions, 0. */
TB_D tb_real trid_p_ring_middle(int k, int n, int partition, const tb_real *l, const tb_real *d, tb_real above)
{
    tb_real y = above, middle = 0;
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        y = trid_fnma(d ? d[j] : (tb_real)0, l[j], y);
        if (k * partition + j == n - 2) middle = y;
    }
    return middle;
}

/* Returns the partition that holds row n-2, or 0 if n is 1. */
TB_D int trid_p_ring_partition(int k, int n)
{
    return n > 1 ? (n - 2) / k : 0;
}

/* Precomputes `keep` of a group's lanes from p, the numbers that trid_p_ring_rows leaves for d = 0 and y = 1 above.
   Leaves the group's first x for s = 1 in *first. Returns whether a product or a gain is too large in any lane. */
TB_D int trid_p_ring_join(int lanes, const tb_real *p, tb_real *keep, tb_real *first)
{
    const int rank = trid_warp_rank(lanes);
    tb_real down = -p[0], up = -p[2], x;
    int grown = __any_sync(TB_FULL_WARP, !(trid_abs(p[1]) <= (tb_real)TRID_P_RECURRENCE_GROWTH));
    grown |= trid_warp_recurrence_open(1, lanes, 0, 0, &down, 0, 0, keep);
    grown |= trid_warp_recurrence_open(1, lanes, 1, 0, &up, 0, 0, keep + TRID_P_UP);
    keep[TRID_P_GAIN] = p[1];
    keep[TRID_P_RING_ABOVE] = __shfl_up_sync(TB_FULL_WARP, keep[5], 1, lanes);
    if (rank == 0) keep[TRID_P_RING_ABOVE] = 1;
    x = p[1] * keep[TRID_P_RING_ABOVE] + (rank == lanes - 1 ? p[2] : (tb_real)0);
    x = trid_p_recurrence_scan(lanes, trid_warp_rank(lanes), 1, keep + TRID_P_UP, x);
    keep[TRID_P_RING_BELOW] = __shfl_down_sync(TB_FULL_WARP, x, 1, lanes);
    if (rank == lanes - 1) keep[TRID_P_RING_BELOW] = 1;
    *first = __shfl_sync(TB_FULL_WARP, x, 0, lanes);
    return grown;
}

/* Replaces q by the y above and the x below each lane's partition, for s = 0. Returns the group's first x. */
TB_D tb_real trid_p_ring_scan(int lanes, const tb_real *keep, tb_real *q)
{
    const int rank = trid_warp_rank(lanes);
    tb_real y = trid_p_recurrence_scan(lanes, trid_warp_rank(lanes), 0, keep, q[0]);
    q[0] = __shfl_up_sync(TB_FULL_WARP, y, 1, lanes);
    if (rank == 0) q[0] = 0;
    q[1] += keep[TRID_P_GAIN] * q[0];
    tb_real x = trid_p_recurrence_scan(lanes, trid_warp_rank(lanes), 1, keep + TRID_P_UP, q[1]);
    q[1] = __shfl_down_sync(TB_FULL_WARP, x, 1, lanes);
    if (rank == lanes - 1) q[1] = 0;
    return __shfl_sync(TB_FULL_WARP, x, 0, lanes);
}

/* Replaces a ring's `last`, until now b[n-1], by its final value. `first` is x[0] in lane 0, and `middle` is x[n-2] in
   lane `from`, both for s = 1 and d = 0. */
TB_D void trid_p_ring_open(int lanes, int from, tb_real first, tb_real middle, tb_real *ring, int stride)
{
    middle = __shfl_sync(TB_FULL_WARP, middle, from, lanes);
    if (trid_warp_rank(lanes) == 0) {
        tb_real *last = &ring[TRID_RING_LAST * stride];
        *last =
            trid_rcp_refined(*last + ring[TRID_RING_FIRST * stride] * first + ring[TRID_RING_SECOND * stride] * middle);
    }
}

/* Adds to q the part that s contributes, given the group's first x and, in lane `from`, y[n-2], both for s = 0. */
TB_D void trid_p_ring_close(int lanes, int from, tb_real first, tb_real middle, const tb_real *keep,
                            const tb_real *ring, int stride, tb_real *q)
{
    middle = __shfl_sync(TB_FULL_WARP, middle, from, lanes);
    tb_real s = ring[TRID_RING_LAST * stride] * (ring[TRID_RING_OWN * stride] - ring[TRID_RING_FIRST * stride] * first -
                                                 ring[TRID_RING_SECOND * stride] * middle);
    q[0] += keep[TRID_P_RING_ABOVE] * s;
    q[1] += keep[TRID_P_RING_BELOW] * s;
}

/* Solves the rows of a partition. `above` and `below` are the y and the x around it. */
TB_D void trid_p_ring_expand(int k, const tb_real *l, const tb_real *u, tb_real above, tb_real below, tb_real *d)
{
    trid_p_recurrence down = {k, 0, 0, l, l[0]}, up = {k, 1, 0, u, u[k - 1]};
    trid_p_recurrence_expand(down, above, d);
    trid_p_recurrence_expand(up, below, d);
}

/* Precomputes, once for many right-hand sides, the numbers that depend only on a periodic system's factors. The rows
   are laid out as in trid_warp_hybrid, and have the form described above.
   Needs    k >= 2 and lanes as literals; `rings`: TRID_RING_LEN * 32 / lanes elements of the warp, with `first`,
            `second`, `last` and `middle` set; `known`: whether `last` already has its final value
   Lanes    all 32 of the warp, which may have written the rings just before
   Leaves   `keep`, of TRID_RING_KEEP_LEN elements; `last` in the rings, which all lanes may read
   Returns  whether products grow too far for trid_warp_ring_solve. Then only trid_warp_recurrence works: for the first
            recurrence with `keep`, for the second with keep + TRID_INTERLEAVED_RECURRENCE_LEN, and for each with the
            `turns` that trid_warp_recurrence_turns returns */
TB_D int trid_warp_ring_open(int k, int lanes, int n, int known, const tb_real *l, const tb_real *u, tb_real *rings,
                             tb_real *keep)
{
    const int rank = trid_warp_rank(lanes), systems = 32 >> trid_log2(lanes);
    tb_real p[3], first, *own = rings + (trid_warp_lane() >> trid_log2(lanes));
    trid_p_ring_rows(k, l, u, (const tb_real *)0, 1, p);
    int grown = trid_p_ring_join(lanes, p, keep, &first);
    keep[TRID_P_RECURRENCE_EDGE] = l[0];
    (keep + TRID_P_UP)[TRID_P_RECURRENCE_EDGE] = u[k - 1];
    __syncwarp(TB_FULL_WARP);
    if (!known) {
        tb_real middle = own[TRID_RING_MIDDLE * systems] +
                         trid_p_ring_middle(k, n, rank, l, (const tb_real *)0, keep[TRID_P_RING_ABOVE]);
        trid_p_ring_open(lanes, trid_p_ring_partition(k, n), first, middle, own, systems);
        __syncwarp(TB_FULL_WARP);
    }
    return grown;
}

/* Solves for one right-hand side, after trid_warp_ring_open.
   Needs    k, lanes, n, l, u, rings, keep as trid_warp_ring_open; d in the form described above, 0 in rows from n-1 on;
            `own` in the rings
   Lanes    all 32 of the warp, which may have written `own` just before
   Leaves   x in d, and s in all rows from n-1 on
   Cost     (6k+2w) FMA or mul + (2w+4) shuffles
   Error    as trid_warp_lu_solve */
TB_D void trid_warp_ring_solve(int k, int lanes, int n, const tb_real *l, const tb_real *u, const tb_real *rings,
                               const tb_real *keep, tb_real *d)
{
    tb_real q[3];
    trid_p_ring_rows(k, l, u, d, 0, q);
    tb_real first = trid_p_ring_scan(lanes, keep, q);
    tb_real middle = trid_p_ring_middle(k, n, trid_warp_rank(lanes), l, d, q[0]);
    __syncwarp(TB_FULL_WARP);
    trid_p_ring_close(lanes, trid_p_ring_partition(k, n), first, middle, keep,
                      rings + (trid_warp_lane() >> trid_log2(lanes)), 32 >> trid_log2(lanes), q);
    trid_p_ring_expand(k, l, u, q[0], q[1], d);
}

/* Returns the slot of partition e among those that this thread takes ("Interleaved systems" above). */
TB_D int trid_p_lane_slot(int systems, int parts, int e)
{
    const int group = parts < 32 ? parts : 32, thread = trid_block_thread();
    return trid_p_slot(systems, parts,
                       (thread >> trid_log2(group)) + systems * (parts / group * (thread & (group - 1)) + e));
}

/* Does the work of trid_warp_ring_open for interleaved systems, or for one system that a block holds: then systems is 1
   and parts is the number of the block's threads. Thread t holds partition t / systems of system t % systems.
   Needs    k, n, known, l, u as trid_warp_ring_open; for interleaved systems, systems and parts as
            trid_block_interleaved_lu; `shared`: five slots per partition and, from TRID_RING_PLACE on, the rings of all
            systems
   Lanes    all threads of the block; the rings may have been written just before
   Leaves   `keep`, of TRID_RING_KEEP_LEN elements a thread; `last` in the rings
   Returns  whether products grow too far for trid_block_interleaved_ring_solve, the same in all threads
   Shared   two barriers inside */
TB_D int trid_block_interleaved_ring_open(int k, int systems, int parts, int n, int known, const tb_real *l,
                                          const tb_real *u, tb_real *keep, tb_real *shared)
{
    const int thread = trid_block_thread(), partition = thread / systems, group = parts < 32 ? parts : 32;
    const int part = trid_p_slot(systems, parts, systems * parts), each = parts / group;
    const int from = trid_p_ring_partition(k, n);
    tb_real p[3], *times = shared + 2 * part, *rings = shared + 5 * part;
    trid_p_ring_rows(k, l, u, (const tb_real *)0, 1, p);
    TB_UNROLL
    for (int e = 0; e < 3; e++) times[e * part + trid_p_slot(systems, parts, thread)] = p[e];
    if (partition == from)
        rings[TRID_RING_TIMES * systems + thread % systems] =
            trid_p_ring_middle(k, n, partition, l, (const tb_real *)0, 1);
    __syncthreads();
    int grown = 0;
    if (thread < systems * group) {
        tb_real *own = rings + (thread >> trid_log2(group)), first, middle = 0;
        TB_UNROLL
        for (int e = 0; e < each; e++) {
            const tb_real *of = times + trid_p_lane_slot(systems, parts, e);
            p[1] = e == 0 ? of[part] : p[1] + p[2] * of[part] * p[0];
            p[0] = e == 0 ? of[0] : p[0] * of[0];
            p[2] = e == 0 ? of[2 * part] : p[2] * of[2 * part];
        }
        grown = trid_p_ring_join(group, p, keep, &first);
        tb_real y = keep[TRID_P_RING_ABOVE];
        TB_UNROLL
        for (int e = 0; e < each; e++) {
            if (each * (thread & (group - 1)) + e == from)
                middle = own[TRID_RING_MIDDLE * systems] + own[TRID_RING_TIMES * systems] * y;
            y *= times[trid_p_lane_slot(systems, parts, e)];
        }
        if (!known) trid_p_ring_open(group, from / each, first, middle, own, systems);
    }
    return __syncthreads_or(grown);
}

/* Finds the y above and the x below each of a lane's partitions. On entry, ys holds the last y of each partition and,
   after all of these, the first x of each. The results replace them. */
TB_D void trid_p_ring_partitions(int k, int systems, int parts, int n, const tb_real *keep, const tb_real *own,
                                 tb_real *ys)
{
    const int group = parts < 32 ? parts : 32, each = parts / group, rank = trid_block_thread() & (group - 1);
    const int part = trid_p_slot(systems, parts, systems * parts);
    const int from = trid_p_ring_partition(k, n);
    tb_real *xs = ys + part, *times = xs + part, q[2] = {0, 0}, through = 1, middle = 0;
    TB_UNROLL
    for (int e = 0; e < each; e++) {
        const int s = trid_p_lane_slot(systems, parts, e);
        q[1] = e == 0 ? xs[s] : q[1] + through * (xs[s] + times[part + s] * q[0]);
        q[0] = e == 0 ? ys[s] : ys[s] + times[s] * q[0];
        through *= times[2 * part + s];
    }
    tb_real first = trid_p_ring_scan(group, keep, q);
    tb_real above = q[0];
    TB_UNROLL
    for (int e = 0; e < each; e++) {
        const int s = trid_p_lane_slot(systems, parts, e);
        if (each * rank + e == from) middle = own[TRID_RING_MIDDLE * systems] + own[TRID_RING_TIMES * systems] * above;
        above = ys[s] + times[s] * above;
    }
    trid_p_ring_close(group, from / each, first, middle, keep, own, systems, q);
    TB_UNROLL
    for (int e = 0; e < each; e++) {
        const int s = trid_p_lane_slot(systems, parts, e);
        const tb_real last = ys[s] + times[s] * q[0];
        ys[s] = q[0], q[0] = last;
    }
    TB_UNROLL
    for (int e = each - 1; e >= 0; e--) {
        const int s = trid_p_lane_slot(systems, parts, e);
        const tb_real x = xs[s] + times[part + s] * ys[s] + times[2 * part + s] * q[1];
        xs[s] = q[1], q[1] = x;
    }
}

/* Solves for one right-hand side of each system, after trid_block_interleaved_ring_open.
   Needs    all except d as trid_block_interleaved_ring_open, and `own` in the rings
   Lanes    all threads of the block; `own` may have been written just before
   Leaves   as trid_warp_ring_solve
   Shared   two barriers inside; none is needed before the next call
   Error    as trid_warp_lu_solve */
TB_D void trid_block_interleaved_ring_solve(int k, int systems, int parts, int n, const tb_real *l, const tb_real *u,
                                            const tb_real *keep, tb_real *d, tb_real *shared)
{
    const int thread = trid_block_thread(), partition = thread / systems, group = parts < 32 ? parts : 32;
    const int part = trid_p_slot(systems, parts, systems * parts);
    const int slot = trid_p_slot(systems, parts, thread);
    tb_real *rings = shared + 5 * part, q[3];
    trid_p_ring_rows(k, l, u, d, 0, q);
    shared[slot] = q[0], shared[part + slot] = q[1];
    if (partition == trid_p_ring_partition(k, n))
        rings[TRID_RING_MIDDLE * systems + thread % systems] = trid_p_ring_middle(k, n, partition, l, d, 0);
    __syncthreads();
    if (thread < systems * group)
        trid_p_ring_partitions(k, systems, parts, n, keep, rings + (thread >> trid_log2(group)), shared);
    __syncthreads();
    trid_p_ring_expand(k, l, u, shared[slot], shared[part + slot], d);
}

#endif /* TB_BODY */
