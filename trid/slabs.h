/* slabs.h - systems cut into partitions of two rows or more, for GPUs or machines that exchange their interfaces.

   MIT licence, see LICENSE. Copy trid.h and the folder trid beside it.

   Each GPU or machine reduces its partition, row by row, to two rows in the interface unknowns. The reduced system that
   these rows form can be solved anywhere. Each GPU or machine then expands its own partition. The common contract of
   trid.h holds.

     lane (host and device: one thread, no communication)
       trid_lane_interface_open, trid_lane_interface_row, trid_lane_interface_join, trid_lane_interface_close
                                   a partition to its interface, row by row    4 FMA + 5 mul + 1 rcp for each row
       trid_lane_interface_factor  the matrix's part of a reduction, once      2n FMA + 6n mul + 2n rcp
     host
       trid_host_interface_reduce  a partition to its interface
       trid_host_interface_expand  the interface to all rows
       trid_host_interface_factor  the matrix's part of the reduction, once
       trid_host_interface_weigh   then for each right-hand side: its part of the reduction */

#ifndef TB_BODY
#ifndef TRID_SLABS_H
#define TRID_SLABS_H

#include "../trid.h"

/* Elements of the caller's arrays. */
#define TRID_LANE_INTERFACE_LEN 7 /* trid_lane_interface_open: e */

/* Flags of a partition: whether it holds the first row of its systems, and the last. */
enum { TRID_PARTITION_FIRST = 128, TRID_PARTITION_LAST = 256 };

#ifndef __cplusplus
#define trid_lane_interface_open TB_OF(trid_lane_interface_open)
#define trid_lane_interface_row TB_OF(trid_lane_interface_row)
#define trid_lane_interface_join TB_OF(trid_lane_interface_join)
#define trid_lane_interface_close TB_OF(trid_lane_interface_close)
#define trid_p_interface_weights TB_OF(trid_p_interface_weights)
#define trid_lane_interface_factor TB_OF(trid_lane_interface_factor)
#define trid_host_interface_reduce TB_OF(trid_host_interface_reduce)
#define trid_host_interface_expand TB_OF(trid_host_interface_expand)
#define trid_host_interface_factor TB_OF(trid_host_interface_factor)
#define trid_host_interface_weigh TB_OF(trid_host_interface_weigh)
#else
#define trid_lane_interface_open_f32 tb_f32::trid_lane_interface_open
#define trid_lane_interface_open_f64 tb_f64::trid_lane_interface_open
#define trid_lane_interface_row_f32 tb_f32::trid_lane_interface_row
#define trid_lane_interface_row_f64 tb_f64::trid_lane_interface_row
#define trid_lane_interface_join_f32 tb_f32::trid_lane_interface_join
#define trid_lane_interface_join_f64 tb_f64::trid_lane_interface_join
#define trid_lane_interface_close_f32 tb_f32::trid_lane_interface_close
#define trid_lane_interface_close_f64 tb_f64::trid_lane_interface_close
#define trid_lane_interface_factor_f32 tb_f32::trid_lane_interface_factor
#define trid_lane_interface_factor_f64 tb_f64::trid_lane_interface_factor
#define trid_host_interface_reduce_f32 tb_f32::trid_host_interface_reduce
#define trid_host_interface_reduce_f64 tb_f64::trid_host_interface_reduce
#define trid_host_interface_expand_f32 tb_f32::trid_host_interface_expand
#define trid_host_interface_expand_f64 tb_f64::trid_host_interface_expand
#define trid_host_interface_factor_f32 tb_f32::trid_host_interface_factor
#define trid_host_interface_factor_f64 tb_f64::trid_host_interface_factor
#define trid_host_interface_weigh_f32 tb_f32::trid_host_interface_weigh
#define trid_host_interface_weigh_f64 tb_f64::trid_host_interface_weigh
#endif

#define TB_BODY "slabs.h"
#include "twice.h"

#endif /* TRID_SLABS_H */
#else /* TB_BODY: C over tb_real */

/* ---- lane: one thread, host and device --------------------------------------------------------------------------- */

/* e describes rows 0 .. j of a partition by two rows in four unknowns: f = x[0], the first of the partition; z = x[j],
   the last one so far; l, the unknown above the partition; and g, the unknown below row j:
       e[0] l + e[1] f + e[2] z = e[3]        the first row
       e[4] f +      z + e[5] g = e[6]        the last */

/* Starts the reduction of a partition with its first two rows. Further rows, any number of them, follow one by one
   (trid_lane_interface_row). So the caller reads each array once, and stores only e.
   Returns  0, or 1 for a bad pivot
   Cost     3 mul + 1 rcp */
TB_HD int trid_lane_interface_open(tb_real *e, tb_real first_a, tb_real first_b, tb_real first_c, tb_real first_d,
                                   tb_real a, tb_real b, tb_real c, tb_real d)
{
    tb_real r = trid_rcp_refined(b);
    e[0] = first_a, e[1] = first_b, e[2] = first_c, e[3] = first_d;
    e[4] = r * a, e[5] = r * c, e[6] = r * d;
    return trid_bad_pivot(r);
}

/* Adds the next row: the first row of e no longer couples to the unknown that was last, but to the new one.
   Returns  0, or 1 for a bad pivot
   Cost     4 FMA + 5 mul + 1 rcp */
TB_HD int trid_lane_interface_row(tb_real *e, tb_real a, tb_real b, tb_real c, tb_real d)
{
    tb_real r = trid_rcp_refined(b - a * e[5]);
    e[1] -= e[2] * e[4];
    e[3] -= e[2] * e[6];
    e[2] *= -e[5];
    e[6] = r * (d - a * e[6]);
    e[4] = -(r * a) * e[4];
    e[5] = r * c;
    return trid_bad_pivot(r);
}

/* Joins a partition with the one below it: e then describes both as one.
   Returns  0, or 1 for a bad pivot
   Cost     that of two rows */
TB_HD int trid_lane_interface_join(tb_real *e, const tb_real *below)
{
    int bad = trid_lane_interface_row(e, below[0], below[1], below[2], below[3]);
    return trid_lane_interface_row(e, below[4], 1, below[5], below[6]) || bad;
}

/* Leaves the two reduced rows with unit diagonal. They belong to a tridiagonal system with two unknowns a partition:
       a[0] l + f + c[0] z = d[0]        l: the z of the partition above
       a[1] f + z + c[1] g = d[1]        g: the f of the partition below
   Returns  0; 1 for a bad pivot of the first row; 2 for a coupling that is not finite
   Cost     3 mul + 1 rcp */
TB_HD int trid_lane_interface_close(const tb_real *e, tb_real *a, tb_real *c, tb_real *d)
{
    tb_real r = trid_rcp_refined(e[1]);
    a[0] = r * e[0], c[0] = r * e[2], d[0] = r * e[3];
    a[1] = e[4], c[1] = e[5], d[1] = e[6];
    int finite = trid_finite(a[0]) && trid_finite(c[0]) && trid_finite(a[1]) && trid_finite(c[1]);
    return trid_bad_pivot(r) ? 1 : finite ? 0 : 2;
}

/* Computes w, the last row of the inverse of the matrix of rows 1 .. n-1; the coupling of x[n-1] to x[0]; and *reach,
   which trid_lane_interface_factor describes. If a and c are exchanged and the stride is negative, w is the first row
   of the inverse of the matrix of rows 0 .. n-2.
   Returns  0, or the number of the first bad pivot, counted from 1 in the order of elimination */
TB_HD int trid_p_interface_weights(int n, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *w,
                                   long long stride, tb_real *coupling, int *reach)
{
    int bad = 0;
    tb_real r = 0;
    for (int j = 1; j < n; j++) { /* reciprocals of the pivots */
        const long long i = j * stride;
        tb_real pivot = b[i];
        if (j > 1) pivot -= a[i] * (c[i - stride] * r);
        w[i] = r = trid_rcp_refined(pivot);
        if (!bad && trid_bad_pivot(r)) bad = j;
    }
    /* A weight times its row's a is the coupling to the row above. The next weight is minus this coupling, divided by
       the pivot of the row above. */
    *reach = 1;
    for (int j = n - 1; j > 0; j--) {
        const long long i = j * stride;
        *coupling = w[i] * a[i];
        if (!(trid_abs(*coupling) <= (tb_real)trid_roundoff())) *reach = n + 1 - j;
        if (j > 1) w[i - stride] *= -*coupling;
    }
    return bad;
}

/* Precomputes what depends on the matrix alone. d[0] and d[1] of the reduced rows (trid_lane_interface_close) are the
   scalar products of d with u and with v: u is the first row of the inverse of the matrix of rows 0 .. n-2, and v is
   the last row of the inverse of the matrix of rows 1 .. n-1.
   Needs    n >= 2; element j of each array at [j * stride]; u and v overlap no other array. flags: with
            TRID_PARTITION_FIRST, a[0] is not read and counts as 0; with TRID_PARTITION_LAST, c[n-1] likewise
   Leaves   u, v; a and c of the two reduced rows in ends_a and ends_c. The first unknown, f, depends on reach[0] rows
            from the top: if that many rows or more are solved for f, its coupling to the next row below is at most the
            unit roundoff. Likewise the last unknown, z, depends on reach[1] rows from the bottom. With a reach of n, f
            and z depend on each other. A coupling that is NaN counts as large.
   Returns  0; -1 for n < 2; 1 + the first row found with a bad pivot; or n for a coupling that is not finite
   Cost     2n FMA + 6n mul + 2n rcp
   Error    if the matrix is an M-matrix, the relative error of a weight is a few roundoffs for each row up to its own.
            Leaving out the rows beyond reach changes f and z by about the unit roundoff times the largest element of
            x. The sum of all |u| is no larger than the largest row sum of |inverse|, so if the matrix is dominant, the
            weights are as stable as elimination. */
TB_HD int trid_lane_interface_factor(int n, int flags, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *u,
                                     tb_real *v, long long stride, tb_real *ends_a, tb_real *ends_c, int *reach)
{
    if (n < 2) return TRID_BAD_ARGUMENT;
    const long long end = (n - 1) * stride;
    int met = trid_p_interface_weights(n, a, b, c, v, stride, &ends_a[1], &reach[1]), bad = met ? 1 + met : 0;
    met = trid_p_interface_weights(n, c + end, b + end, a + end, u + end, -stride, &ends_c[0], &reach[0]);
    if (met && !bad) bad = n - met;
    v[0] = u[end] = 0;
    ends_a[0] = flags & TRID_PARTITION_FIRST ? (tb_real)0 : u[0] * a[0];
    ends_c[1] = flags & TRID_PARTITION_LAST ? (tb_real)0 : v[end] * c[end];
    for (int k = 0; k < 2 && !bad; k++)
        if (!trid_finite(ends_a[k]) || !trid_finite(ends_c[k])) bad = n;
    return bad;
}

/* ---- host: plain C over arrays ----------------------------------------------------------------------------------- */

#if TB_HOST_SCOPE

/* Reduces a partition of a system to its interface, in the form of trid_lane_interface_close: two elements each of
   ends_a, ends_c and ends_d.
   Needs    n >= 2. flags: with TRID_PARTITION_FIRST, a[0] is not read and counts as 0; with TRID_PARTITION_LAST, c[n-1]
            likewise
   Returns  0; -1 for n < 2; 1 + the row of the first bad pivot (that of row 0 comes last); or n for a coupling that is
            not finite */
TB_HOST int trid_host_interface_reduce(int n, int flags, const tb_real *a, const tb_real *b, const tb_real *c,
                                       const tb_real *d, tb_real *ends_a, tb_real *ends_c, tb_real *ends_d)
{
    if (n < 2) return TRID_BAD_ARGUMENT;
    tb_real e[TRID_LANE_INTERFACE_LEN];
    int status = 0;
    for (int j = 1; j < n; j++) {
        const tb_real below = j == n - 1 && (flags & TRID_PARTITION_LAST) ? (tb_real)0 : c[j];
        int bad = j == 1 ? trid_lane_interface_open(e, flags & TRID_PARTITION_FIRST ? (tb_real)0 : a[0], b[0], c[0],
                                                    d[0], a[1], b[1], below, d[1])
                         : trid_lane_interface_row(e, a[j], b[j], below, d[j]);
        if (!status && bad) status = 1 + j;
    }
    int bad = trid_lane_interface_close(e, ends_a, ends_c, ends_d);
    return status ? status : bad == 1 ? 1 : bad ? n : 0;
}

/* Expands a partition from its first and last unknown, ends[0] and ends[1].
   Needs    n >= 2; work of n elements; x may alias d; rows 0 and n-1 are not read
   Returns  0, -1 for n < 2, or 1 + the first row with a bad pivot */
TB_HOST int trid_host_interface_expand(int n, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                                       const tb_real *ends, tb_real *x, tb_real *work)
{
    if (n < 2) return TRID_BAD_ARGUMENT;
    int status = 0;
    for (int j = 1; j < n - 1; j++) x[j] = d[j];
    if (n > 2) {
        x[1] -= a[1] * ends[0];
        x[n - 2] -= c[n - 2] * ends[1];
        status = trid_lane_thomas(n - 2, a + 1, b + 1, c + 1, x + 1, x + 1, work, 1);
    }
    x[0] = ends[0], x[n - 1] = ends[1];
    return status ? status + 1 : 0;
}

/* Precomputes the matrix's part of trid_host_interface_reduce, as trid_lane_interface_factor does with stride 1. */
TB_HOST int trid_host_interface_factor(int n, int flags, const tb_real *a, const tb_real *b, const tb_real *c,
                                       tb_real *u, tb_real *v, tb_real *ends_a, tb_real *ends_c, int *reach)
{
    return trid_lane_interface_factor(n, flags, a, b, c, u, v, 1, ends_a, ends_c, reach);
}

/* Computes ends_d, the right-hand sides of the two reduced rows, for one right-hand side d. It reads only the first
   `first` and the last `last` elements of d. first = reach[0] and last = reach[1] suffice; with n for both, nothing
   is left out.
   Needs    u and v of trid_host_interface_factor */
TB_HOST void trid_host_interface_weigh(int n, const tb_real *u, const tb_real *v, const tb_real *d, int first, int last,
                                       tb_real *ends_d)
{
    ends_d[0] = ends_d[1] = 0;
    for (int j = 0; j < n && j < first; j++) ends_d[0] += u[j] * d[j];
    for (int j = last < n ? n - last : 0; j < n; j++) ends_d[1] += v[j] * d[j];
}

#endif /* TB_HOST_SCOPE */

#endif /* TB_BODY */
