/* trid_batch.h - whole arrays of tridiagonal systems in device memory, at the speed of memory.

   MIT licence, see LICENSE. Copy this file, trid.h and transpose.h.

   What a program does instead of calling cuSPARSE (examples/replace_cusparse.cu):

       int status = trid_batch_solve_f32(trid_lines_contiguous(n, systems), 0, a, b, c, d, x, NULL, 0);
       if (status) return puts(trid_batch_status_string(status)), 1;

   A system is a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j = 0 .. n-1; a[0] and c[n-1] are not used, but a and c are
   read there. Every array of a call lies alike, as a trid_lines says; n is 1 to 1024.

     where systems lie (C11, C++, CUDA)
       trid_lines_contiguous, trid_lines_interleaved, trid_lines_axis
       trid_lines_check         do two elements of an array coincide, or do the sizes overflow?
       trid_lines_overlap       do two arrays that lie so share an element?
       trid_batch_status_string
     launches, each _f32 and _f64 (CUDA, and C by a file with TRID_BATCH_IMPLEMENTATION)
       trid_batch_solve         x = A^-1 d, or x += A^-1 d; status of each system where wanted
       trid_batch_shared        the same with one matrix for all systems
       trid_batch_pivoted       the same for any nonsingular matrices, or for those alone that failed before
       trid_batch_checked       the same, with the residual of each system, and refined where wanted
     launches for C++ alone
       trid_batch_solve_rows    the matrix made in registers by the caller's function object

   Which kernel serves which size is said at TRID_P_BATCH_SHAPES below; docs/batch.md has the measurements.

   What they share:
     Stability  But for trid_batch_pivoted no pivoting: safe for diagonally dominant matrices, and close to it
                (trid_host_dominance). A pivot that is zero or not finite is reported (trid_batch_report). A pivot that
                is tiny but not zero is not: what it makes wrong shows in the residual of trid_batch_checked.
     Returns    a status of enum trid_batch_status, 0 for a launch that was made. What happens on the device is told by
                the report. Nothing is allocated, printed or awaited; a launch can be captured into a CUDA graph.
     Arrays     a, b, c, d are not changed. x is an array of its own or d itself (the systems are then solved in
                place); x may share no element with a, b or c, nor with a part of d that is not the same element.
                Pointers need the alignment of their element alone.
     Empty      no systems or n = 0: nothing is launched and the status is 0; pointers may be null.
     Stream     any; calls on one stream follow one another as kernels do.

   Options, defined before the header is included:
     TRID_BATCH_IMPLEMENTATION   in one .cu file of a program written in C: the launches as functions with C linkage
     TRID_BATCH_HEADER           not needed: the header does not include itself */

#ifndef TRID_BATCH_H
#define TRID_BATCH_H

#include "transpose.h"
#include "trid.h"

#ifndef __CUDACC_RTC__ /* which does not know the pragma; a user's macros must not reach parameters */
#pragma push_macro("AHEAD")
#undef AHEAD
#pragma push_macro("BYTES")
#undef BYTES
#pragma push_macro("GROUPS")
#undef GROUPS
#pragma push_macro("PIECES")
#undef PIECES
#pragma push_macro("V")
#undef V
#pragma push_macro("WIDTH")
#undef WIDTH
#pragma push_macro("B")
#undef B
#pragma push_macro("F")
#undef F
#pragma push_macro("G")
#undef G
#pragma push_macro("T")
#undef T
#pragma push_macro("K")
#undef K
#pragma push_macro("L")
#undef L
#pragma push_macro("R")
#undef R
#pragma push_macro("S")
#undef S
#pragma push_macro("U")
#undef U
#pragma push_macro("W")
#undef W
#pragma push_macro("CHECKED")
#undef CHECKED
#pragma push_macro("DENSE")
#undef DENSE
#pragma push_macro("EXACT")
#undef EXACT
#pragma push_macro("LEN")
#undef LEN
#pragma push_macro("LITERAL")
#undef LITERAL
#pragma push_macro("OWN")
#undef OWN
#pragma push_macro("PART")
#undef PART
#pragma push_macro("PATH")
#undef PATH
#pragma push_macro("PITCHED")
#undef PITCHED
#pragma push_macro("WARPS")
#undef WARPS
#endif

#define TRID_BATCH_VERSION 100 /* 100 * major + minor */

#define TRID_BATCH_API TRID_HOST

#ifdef __CUDA_ARCH__ /* a loop that must not be unrolled: its body is long */
#define TRID_P_BATCH_LOOP _Pragma("unroll 1")
#else
#define TRID_P_BATCH_LOOP
#endif

/* ---- where systems lie ------------------------------------------------------------------------------------------- */

/* Where tridiagonal systems lie: element j of system s of group g at [j*step + s*stride + g*jump] of each array. There
   are groups*systems of them, and g*systems + s is a system's index. step, stride and jump may be negative; no two
   elements may coincide. cpu_avx_lines of cpu_avx.h has the same fields. */
typedef struct {
    long long n, step, systems, stride, groups, jump;
} trid_lines;

/* What a launch returns. */
enum trid_batch_status {
    TRID_BATCH_OK = 0,
    TRID_BATCH_BAD_ARGUMENT = -1, /* a null pointer, or a flag that the function does not know */
    TRID_BATCH_BAD_SIZE = -2,     /* a negative size, n over 1024, or elements beyond 2^60 */
    TRID_BATCH_OVERLAP = -3,      /* two elements of x coincide, or one of x with one of another array */
    TRID_BATCH_LAUNCH_FAILED = -8 /* refused by the CUDA runtime */
};

enum { TRID_BATCH_MAX_N = 1024 };

/* flags */
enum {
    TRID_BATCH_ADD = 1,     /* x += A^-1 d */
    TRID_BATCH_SHARED = 2,  /* trid_batch_checked: a, b, c are one matrix for all systems, as in trid_batch_shared */
    TRID_BATCH_REFINED = 4, /* trid_batch_checked: one step of iterative refinement */
    TRID_BATCH_REPAIR = 8   /* trid_batch_pivoted: only systems that an earlier launch failed at */
};

/* What becomes known on the device; any pointer may be null. All are arrays in device memory.
     status     of each system: 0; 1 + the first row that met a bad pivot (x is then unspecified); n + 1 (from
                trid_batch_checked): no such pivot, but the residual is above tolerance or no number
     residual   of each system (trid_batch_checked): max |Ax - d| / max (|A||x| + |d|) over its rows, worked out in
                the precision of the call
     tolerance  the largest residual that is not a failure; 0 stands for 128 unit roundoffs
     failed     failed[0]: how many statuses are not 0; failed[1]: the least index of such a system, all bits set if
                there is none. The launch sets both first. */
typedef struct {
    int *status;
    float *residual;
    double tolerance;
    unsigned long long *failed;
} trid_batch_report;

#if TRID_HOST_SCOPE
/* Solves   what a launch's status says */
TRID_BATCH_API const char *trid_batch_status_string(int status)
{
    return status == TRID_BATCH_OK              ? "launched"
           : status == TRID_BATCH_BAD_ARGUMENT  ? "bad argument: a null pointer, or an unknown flag"
           : status == TRID_BATCH_BAD_SIZE      ? "bad size: negative, n over 1024, or beyond 2^60 elements"
           : status == TRID_BATCH_OVERLAP       ? "elements of x coincide with each other or with another array's"
           : status == TRID_BATCH_LAUNCH_FAILED ? "the CUDA runtime refused the launch"
                                                : "unknown status";
}

/* Solves   systems one after another, rows of a system neighbours in memory */
TRID_BATCH_API trid_lines trid_lines_contiguous(long long n, long long systems)
{
    trid_lines lines = {n, 1, systems, n, 1, 0};
    return lines;
}

/* Solves   row 0 of all systems, then row 1 of all systems, ... */
TRID_BATCH_API trid_lines trid_lines_interleaved(long long n, long long systems)
{
    trid_lines lines = {n, systems, systems, 1, 1, 0};
    return lines;
}

/* Solves   the lines of an nx*ny*nz array, x fastest, along axis 0 (x), 1 (y) or 2 (z); any other axis is no lines,
            which launches refuse as a bad size */
TRID_BATCH_API trid_lines trid_lines_axis(long long nx, long long ny, long long nz, int axis)
{
    trid_lines x = {nx, 1, ny * nz, nx, 1, 0}, y = {ny, nx, nx, 1, nz, nx * ny}, z = {nz, nx * ny, nx * ny, 1, 1, 0};
    trid_lines none = {-1, 0, 0, 0, 0, 0};
    return axis == 0 ? x : axis == 1 ? y : axis == 2 ? z : none;
}

TRID_BATCH_API int trid_p_lines_empty(trid_lines lines)
{
    return lines.n == 0 || lines.systems == 0 || lines.groups == 0;
}

/* Sizes that can be calculated with: products of counts, and offsets, stay below 2^60. */
TRID_BATCH_API int trid_p_lines_valid(trid_lines lines)
{
    const long long most = 1ll << 60;
    long long count[3] = {lines.n, lines.systems, lines.groups}, pitch[3] = {lines.step, lines.stride, lines.jump};
    long long elements = 1, reach = 0;
    if (count[0] < 0 || count[1] < 0 || count[2] < 0) return 0;
    if (trid_p_lines_empty(lines)) return 1;
    for (int k = 0; k < 3; k++) {
        if (count[k] > most / elements) return 0;
        elements *= count[k];
        if (count[k] == 1) continue;
        if (pitch[k] > most || pitch[k] < -most) return 0;
        long long size = pitch[k] < 0 ? -pitch[k] : pitch[k];
        if (size > (most - reach) / (count[k] - 1)) return 0;
        reach += size * (count[k] - 1);
    }
    return 1;
}

/* Is there an i, |i| < m, and a j, |j| < n, with i*p + j*q = at? Not both zero, if at is 0. p, q >= 0, m, n >= 1. */
TRID_BATCH_API int trid_p_lines_meet(long long p, long long m, long long q, long long n, long long at)
{
    if (at == 0 && ((p == 0 && m > 1) || (q == 0 && n > 1))) return 1;
    if (p == 0 || m == 1) return at != 0 && q > 0 && at % q == 0 && at / q < n && at / q > -n;
    if (q == 0 || n == 1) return at != 0 && at % p == 0 && at / p < m && at / p > -m;
    long long a = p, b = q, u = 1, v = 0; /* u*p = a modulo q, v*p = b modulo q, until a is the greatest divisor */
    while (b) {
        long long t = a / b, next = a - t * b, w = u - t * v;
        a = b, b = next;
        u = v, v = w;
    }
    if (at % a) return 0;
    long long period = q / a, other = p / a; /* i may change by period, then j changes by other */
    if (at == 0) return period < m && other < n;
    /* Multiplied in steps, so that nothing overflows: i = u * (at / a) modulo period. */
    long long x = u % period, y = at / a % period, i = 0;
    if (x < 0) x += period;
    if (y < 0) y += period;
    while (y) {
        if (y & 1) i = i >= period - x ? i - (period - x) : i + x;
        x = x >= period - x ? x - (period - x) : x + x;
        y /= 2;
    }
    /* The i of least size above -m, and from there those for which |j| < n: j falls as i grows. */
    long long shift = (m - 1 + i) / period;
    i -= shift * period;
    long long j = (at - i * p) / q;
    if (j >= n) {
        long long steps = (j - n) / other + 1;
        if (steps > (m - 1 - i) / period) return 0;
        i += steps * period, j -= steps * other;
    }
    return i < m && j < n && j > -n;
}

/* Is there a nonzero difference (or, for at other than 0, any) of two places in the lines that is at? */
TRID_BATCH_API int trid_p_lines_difference(trid_lines lines, long long at)
{
    long long count[3] = {lines.n, lines.systems, lines.groups}, pitch[3] = {lines.step, lines.stride, lines.jump};
    long long reach = 0;
    int nested = 1;
    for (int k = 0; k < 3; k++) { /* by falling size of the pitch; counts of one go last */
        if (count[k] == 1) pitch[k] = 0;
        if (pitch[k] < 0) pitch[k] = -pitch[k];
        for (int i = k; i > 0 && pitch[i] > pitch[i - 1]; i--) {
            long long p = pitch[i], c = count[i];
            pitch[i] = pitch[i - 1], count[i] = count[i - 1];
            pitch[i - 1] = p, count[i - 1] = c;
        }
    }
    for (int k = 2; k >= 0; k--) {
        if (count[k] > 1 && pitch[k] <= reach) nested = 0;
        reach += pitch[k] * (count[k] - 1);
    }
    if (at > reach || at < -reach) return 0;
    if (nested) { /* each pitch reaches beyond all that the smaller ones do */
        if (at == 0) return 0;
        if (reach == at || reach == -at) return 1;
    }
    int least = 0; /* counted through; the other two are solved for */
    for (int k = 1; k < 3; k++)
        if (count[k] < count[least]) least = k;
    int one = (least + 1) % 3, two = (least + 2) % 3;
    for (long long g = at == 0 ? 0 : 1 - count[least]; g < count[least]; g++) {
        long long rest = at - g * pitch[least];
        if (rest == 0 && g != 0) return 1;
        if (trid_p_lines_meet(pitch[one], count[one], pitch[two], count[two], rest)) return 1;
    }
    return 0;
}

/* Solves   may an array lie so?
   Returns  TRID_BATCH_OK, _BAD_SIZE, or _OVERLAP if two elements coincide
   Cost     a few comparisons where each of step, stride and jump reaches beyond all that the smaller ones do, as usual;
            else an exact search, of the order of the least of n, systems and groups */
TRID_BATCH_API int trid_lines_check(trid_lines lines)
{
    if (!trid_p_lines_valid(lines)) return TRID_BATCH_BAD_SIZE;
    if (trid_p_lines_empty(lines)) return TRID_BATCH_OK;
    return trid_p_lines_difference(lines, 0) ? TRID_BATCH_OVERLAP : TRID_BATCH_OK;
}

/* Solves   does an element of an array that lies so at p share memory with one at q? bytes is the size of an element.
   Needs    valid lines
   Cost     as trid_lines_check; nothing where the arrays lie apart */
TRID_BATCH_API int trid_lines_overlap(trid_lines lines, const void *p, const void *q, int bytes)
{
    if (trid_p_lines_empty(lines)) return 0;
    size_t from = (size_t)p, to = (size_t)q;
    long long apart = from < to ? (long long)(to - from) : (long long)(from - to);
    long long at = apart / bytes, part = apart % bytes;
    if (at == 0) return 1; /* the same elements, or parts of them */
    return trid_p_lines_difference(lines, at) || (part && trid_p_lines_difference(lines, at + 1));
}

/* The same systems in as few groups as possible. */
TRID_BATCH_API trid_lines trid_p_lines_join(trid_lines lines)
{
    if (lines.systems == 1) {
        lines.systems = lines.groups;
        lines.stride = lines.jump;
        lines.groups = 1;
    } else if (lines.groups > 1 && lines.jump == lines.systems * lines.stride) {
        lines.systems *= lines.groups;
        lines.groups = 1;
    }
    return lines;
}

#endif /* TRID_HOST_SCOPE */

#if TRID_LAUNCHES
extern "C++" {
/* A member function of a device structure. */
#ifdef __CUDACC__
#define TRID_P_BATCH_MEMBER __device__ __forceinline__
#else
#define TRID_P_BATCH_MEMBER inline
#endif

/* ---- in registers ------------------------------------------------------------------------------------------------ */

enum { TRID_P_BATCH_NO_ROW = 0x7fffffff }; /* no bad pivot */

/* What of trid.h has its precision in its name. */
TRID_D int trid_p_batch_reduce(int K, float *a, const float *b, float *c, float *d)
{
    return trid_lane_reduce_f32(K, a, b, c, d);
}
TRID_D int trid_p_batch_reduce(int K, double *a, const double *b, double *c, double *d)
{
    return trid_lane_reduce_f64(K, a, b, c, d);
}
TRID_D int trid_p_batch_link(float *a, float *c, float *d, float first_a, float first_c, float first_d)
{
    return trid_lane_link_f32(a, c, d, first_a, first_c, first_d);
}
TRID_D int trid_p_batch_link(double *a, double *c, double *d, double first_a, double first_c, double first_d)
{
    return trid_lane_link_f64(a, c, d, first_a, first_c, first_d);
}
TRID_D void trid_p_batch_expand(int K, const float *a, const float *c, float *d, float left, float last)
{
    trid_lane_expand_f32(K, a, c, d, left, last);
}
TRID_D void trid_p_batch_expand(int K, const double *a, const double *c, double *d, double left, double last)
{
    trid_lane_expand_f64(K, a, c, d, left, last);
}

/* A launch's constants. */
struct trid_p_batch_plan {
    trid_lines lines;
    int n, width; /* rows; lanes a system (warps), log2 of it */
    int width_log2;
    int flags;
    unsigned magic;     /* f * magic >> 20 is f / n for f < 512, n <= 512; 0 where a warp has one system */
    unsigned per_group; /* tiles in a group */
    unsigned tiles;     /* in all */
    unsigned repeat;    /* common matrix: tiles a warp takes */
    int repair;         /* pivoted: only what has failed */
    int staged;         /* lines: tiles on their way lie in shared memory */
    trid_batch_report report;
};

/* Does the caller want to know what becomes known of a system? */
TRID_D int trid_p_batch_reports(const trid_p_batch_plan &plan)
{
    return plan.report.status || plan.report.failed || plan.report.residual;
}

/* Some systems of one group, side by side. */
struct trid_p_batch_tile {
    long long group, first; /* its group; its first system in it */
    int count;              /* of systems; 0: beyond the last */
};

/* The same number, which the compiler does not know to be the same: so that it works something out twice instead of
   keeping it in registers that the solve needs. */
TRID_D int trid_p_batch_again_as(int n)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(n));
#endif
    return n;
}

TRID_D trid_p_batch_tile trid_p_batch_tile_of(const trid_p_batch_plan &plan, unsigned index, int width)
{
    unsigned group = plan.lines.groups == 1 ? 0 : index / plan.per_group;
    trid_p_batch_tile tile = {group, (long long)(index - group * plan.per_group) * width, 0};
    long long left = tile.group < plan.lines.groups ? plan.lines.systems - tile.first : 0;
    tile.count = left < 0 ? 0 : left < width ? (int)left : width;
    return tile;
}

/* The matrices as arrays; for one matrix that all systems share stride and jump are 0. */
template <class T>
struct trid_p_batch_arrays {
    const T *a, *b, *c;
    long long step, stride, jump;
};

/* ---- contiguous systems: lanes of a warp ------------------------------------------------------------------------- */

/* A warp's 32/W systems, one after another without what may lie between them, are f = 0 .. count*n-1. Access r of lane
   l is f = 32 r + l, so that every access but the last is full and coalesced whatever n is; in shared memory it goes
   where transpose_unturn puts slot e of the 32 K that the lanes have, element t of system s being slot s*K*W + t: so
   the lanes read their rows without bank conflicts and with literal offsets, and the stores conflict only where an
   access straddles two systems. */
TRID_D int trid_p_batch_slot(int K, int B, int e)
{
    const int power = K & -K, period = K / power * (power > B ? power : B);
    return e + e / period;
}

/* How the contiguous kernels find their systems: EXACT: n = K*W, one after another; DENSE: any n, one after another, or
   one system a warp; PITCHED: any step and stride, also 0 for rows that all systems share. */
enum { TRID_P_BATCH_EXACT, TRID_P_BATCH_DENSE, TRID_P_BATCH_PITCHED };

/* Where the lane's rows begin. */
TRID_D int trid_p_batch_column(int K, int B)
{
    return B == 32 ? transpose_p_column_slot_f32(K, trid_p_lane()) : transpose_p_column_slot_f64(K, trid_p_lane());
}

/* What lies beyond total is anything: nobody reads it. */
template <int PATH, class T>
TRID_D void trid_p_batch_fetch(int K, const trid_p_batch_plan &plan, int total, const T *src, long long step,
                               long long stride, T *u)
{
    int lane = trid_p_lane(), left = trid_p_batch_again_as(total - lane);
    TRID_UNROLL
    for (int r = 0; r < K; r++) {
        int f = 32 * r + lane;
#ifndef __CUDA_ARCH__
        u[r] = 0;
#endif
        if (PATH != TRID_P_BATCH_PITCHED) {
            if (32 * r < left) u[r] = src[f];
        } else {
            int s = (int)((unsigned)f * plan.magic >> 20);
            if (32 * r < left) u[r] = src[s * stride + (f - s * plan.n) * step];
        }
    }
}

/* Where this lane's accesses lie in shared memory; those beyond total in the lane's own word behind the LEN that are
   read. LITERAL: where slots follow one another, which EXACT and a warp with one system do, no array is needed. */
template <int LITERAL>
TRID_D void trid_p_batch_slots(int K, int B, int LEN, const trid_p_batch_plan &plan, int total, int *slot)
{
    int lane = trid_p_lane(), gap = (K << plan.width_log2) - plan.n;
    TRID_UNROLL
    for (int r = 0; r < (LITERAL ? 0 : K); r++) {
        int f = 32 * r + lane;
        slot[r] = trid_p_batch_slot(K, B, f + (int)((unsigned)f * plan.magic >> 20) * gap);
        if (f >= total) slot[r] = LEN + lane;
    }
}
template <int LITERAL>
TRID_D int trid_p_batch_slot_of(int K, int B, int r, const int *slot)
{
    int lane = trid_p_lane();
    if (!LITERAL) return slot[r];
    return B == 32 ? transpose_p_row_slot_f32(K, r, lane) : transpose_p_row_slot_f64(K, r, lane);
}

/* From the order of the accesses to rows: lane's row j in u[j], fill from row `rows` on. */
template <int PATH, int LITERAL, class T>
TRID_D void trid_p_batch_turn(int K, int rows, T fill, const int *slot, T *u, T *shared)
{
    const int B = sizeof(T) == 4 ? 32 : 16;
    int column = trid_p_batch_column(K, B);
    if (PATH != TRID_P_BATCH_EXACT) rows = trid_p_batch_again_as(rows);
    __syncwarp(TRID_P_FULL); /* whatever was there has been read */
    TRID_UNROLL
    for (int r = 0; r < K; r++) shared[trid_p_batch_slot_of<LITERAL>(K, B, r, slot)] = u[r];
    __syncwarp(TRID_P_FULL);
    TRID_UNROLL
    for (int j = 0; j < K; j++) u[j] = j < rows ? shared[column + j] : fill;
}

/* x, from rows to memory; leaves u clobbered. */
template <int PATH, int LITERAL, class T>
TRID_D void trid_p_batch_store(int K, const trid_p_batch_plan &plan, int total, int rows, const int *slot, T *u, T *dst,
                               T *shared)
{
    const int B = sizeof(T) == 4 ? 32 : 16;
    int column = trid_p_batch_column(K, B), lane = trid_p_lane(), add = plan.flags & TRID_BATCH_ADD;
    long long step = plan.lines.step, stride = plan.lines.stride;
    if (PATH != TRID_P_BATCH_EXACT) rows = trid_p_batch_again_as(rows), total = trid_p_batch_again_as(total);
    __syncwarp(TRID_P_FULL);
    TRID_UNROLL
    for (int j = 0; j < K; j++)
        if (j < rows) shared[column + j] = u[j];
    __syncwarp(TRID_P_FULL);
    TRID_UNROLL
    for (int r = 0; r < K; r++) u[r] = shared[trid_p_batch_slot_of<LITERAL>(K, B, r, slot)];
    if (PATH != TRID_P_BATCH_PITCHED) {
        if (add) {
            TRID_UNROLL
            for (int r = 0; r < K; r++)
                if (32 * r + lane < total) u[r] += dst[32 * r + lane];
        }
        TRID_UNROLL
        for (int r = 0; r < K; r++)
            if (32 * r + lane < total) dst[32 * r + lane] = u[r];
    } else {
        TRID_UNROLL
        for (int r = 0; r < K; r++) {
            int f = 32 * r + lane, s = (int)((unsigned)f * plan.magic >> 20);
            T *to = dst + (s * stride + (f - s * plan.n) * step);
            if (f < total) *to = add ? *to + u[r] : u[r];
        }
    }
}

/* The lane's rows, from arrays through shared memory, where they stay if the arrays' places are apart ... */
template <int PATH, class T>
TRID_D void trid_p_batch_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int total, int,
                                int, const trid_p_batch_arrays<T> &from, T *a, T *b, T *c)
{
    long long at = tile.group * from.jump + tile.first * from.stride;
    trid_p_batch_fetch<PATH>(K, plan, total, from.a + at, from.step, from.stride, a);
    trid_p_batch_fetch<PATH>(K, plan, total, from.b + at, from.step, from.stride, b);
    trid_p_batch_fetch<PATH>(K, plan, total, from.c + at, from.step, from.stride, c);
}
/* The rows beyond the system become identity rows, and its last row is coupled to none of them. */
template <int PATH, int LITERAL, class T>
TRID_D void trid_p_batch_turned(int K, const trid_p_batch_arrays<T> &, int rows, const int *slot, T *a, T *b, T *c,
                                T *shared, int apart)
{
    trid_p_batch_turn<PATH, LITERAL>(K, rows, (T)0, slot, a, shared);
    trid_p_batch_turn<PATH, LITERAL>(K, rows, (T)1, slot, b, shared + apart);
    trid_p_batch_turn<PATH, LITERAL>(K, PATH == TRID_P_BATCH_EXACT ? rows : rows - 1, (T)0, slot, c,
                                     shared + 2 * apart);
}
/* ... or made where they are wanted: Rows is a type with operator()(system, row, a, b, c). */
template <int PATH, class T, class Rows>
TRID_D void trid_p_batch_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int, int rank,
                                int rows, const Rows &make, T *a, T *b, T *c)
{
    long long system = tile.group * plan.lines.systems + tile.first + (trid_p_lane() >> plan.width_log2);
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = c[j] = 0;
        b[j] = 1;
        if (j < rows) make(system, K * rank + j, &a[j], &b[j], &c[j]);
        if (PATH != TRID_P_BATCH_EXACT && j >= rows - 1) c[j] = 0;
    }
}
template <int PATH, int LITERAL, class T, class Rows>
TRID_D void trid_p_batch_turned(int, const Rows &, int, const int *, T *, T *, T *, T *, int)
{
}

/* What the device learnt of one system, told by one thread of it; checked: error and size are the largest of its
   rows. */
template <class T>
TRID_D void trid_p_batch_tell(const trid_p_batch_plan &plan, long long system, int bad, int checked, T error, T size)
{
    const trid_batch_report &report = plan.report;
    int status = bad == TRID_P_BATCH_NO_ROW ? 0 : bad;
    if (checked) {
        T residual = error == 0 && size == 0 ? (T)0 : error / size;
        if (!status && !(residual <= (T)report.tolerance)) status = plan.n + 1;
        if (report.residual) report.residual[system] = (float)residual;
    }
    if (report.status) report.status[system] = status;
    if (status && report.failed) {
        atomicAdd(&report.failed[0], 1ull);
        atomicMin(&report.failed[1], (unsigned long long)system);
    }
}

/* The larger; NaN is larger than all. */
template <class T>
TRID_D T trid_p_batch_larger(T x, T y)
{
    return x != x || x > y ? x : y;
}

/* r = d - A x in rows 0 .. held - 1 of those that the thread has, the system's row `first` being row 0, left and right
   x around them; and the largest |r| and |A||x| + |d|, if they are larger than *error and *size. */
template <class T>
TRID_D void trid_p_batch_defect(int K, int first, int n, int held, const T *a, const T *b, const T *c, const T *d,
                                const T *x, T left, T right, T *r, T *error, T *size)
{
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        T up = j > 0 ? x[j - 1] : left, down = j < K - 1 ? x[j + 1] : right;
        T aj = first + j > 0 ? a[j] : (T)0, cj = first + j < n - 1 ? c[j] : (T)0;
        if (first + j == 0) up = 0;
        if (first + j >= n - 1) down = 0;
        T rest = d[j] - b[j] * x[j] - aj * up - cj * down;
        T all = fabs(d[j]) + fabs(b[j] * x[j]) + fabs(aj * up) + fabs(cj * down);
        r[j] = j < held ? rest : (T)0;
        if (j < held) {
            *error = trid_p_batch_larger((T)fabs(rest), *error);
            *size = trid_p_batch_larger(all, *size);
        }
    }
}

/* 1 + row as one status of many: the least counts, and the last row stands for what was met beyond it. */
TRID_D int trid_p_batch_row(int status, int n)
{
    return status <= 0 ? TRID_P_BATCH_NO_ROW : status < n ? status : n;
}

/* The lane's matrix once more, from where trid_p_batch_turned left it, LEN elements an array, or made again. */
template <class T>
TRID_D void trid_p_batch_again(int K, int LEN, const trid_p_batch_arrays<T> &, long long, int, int rows,
                               const T *shared, T *a, T *b, T *c)
{
    int column = trid_p_batch_column(K, sizeof(T) == 4 ? 32 : 16);
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = j < rows ? shared[column + j] : (T)0;
        b[j] = j < rows ? shared[LEN + column + j] : (T)0;
        c[j] = j < rows ? shared[2 * LEN + column + j] : (T)0;
    }
}
template <class T, class Rows>
TRID_D void trid_p_batch_again(int K, int, const Rows &make, long long system, int first, int rows, const T *, T *a,
                               T *b, T *c)
{
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = b[j] = c[j] = 0;
        if (j < rows) make(system, first + j, &a[j], &b[j], &c[j]);
    }
}

/* Warps a block: fewer where registers are many, so that they fill a multiprocessor better, and with CHECKED no more
   rows are kept than the 48 KiB of shared memory that a block has without asking. */
#define TRID_P_BATCH_WARPS(T, CHECKED) (sizeof(T) == 8 ? 2 : 4)

/* Blocks a multiprocessor that the compiler shall make room for: as many as do without local memory. */
#define TRID_P_BATCH_RESIDENT(T, K, PATH, CHECKED)                                                                     \
    ((CHECKED)                        ? 1                                                                              \
     : (K) > 16                       ? ((PATH) == TRID_P_BATCH_EXACT ? 3 : 2)                                         \
     : sizeof(T) == 8 && (K) <= 8     ? ((PATH) == TRID_P_BATCH_PITCHED ? 8 : 10)                                      \
     : sizeof(T) == 8                 ? ((PATH) == TRID_P_BATCH_PITCHED             ? 4                                \
                                         : (PATH) == TRID_P_BATCH_EXACT || (K) < 16 ? 6                                \
                                                                                    : 4)                               \
     : (K) <= 8                       ? ((PATH) == TRID_P_BATCH_PITCHED ? 5 : 7)                                       \
     : (PATH) == TRID_P_BATCH_EXACT   ? 6                                                                              \
     : (PATH) == TRID_P_BATCH_PITCHED ? 2                                                                              \
     : (K) <= 12                      ? 5                                                                              \
                                      : 4)

/* n <= K*W, W = 1 .. 32 lanes a system. */
template <class T, int K, int PATH, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, CHECKED), TRID_P_BATCH_RESIDENT(T, K, PATH, CHECKED))
    trid_p_batch_warps(trid_p_batch_plan plan, Rows rows, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, CHECKED), OWN = CHECKED ? LEN + 32 : 0;
    const int LITERAL = PATH == TRID_P_BATCH_EXACT || K > 16;
    __shared__ T buffer[WARPS][(CHECKED ? 4 : 1) * (LEN + 32)];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, W = plan.width, n = plan.n;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x * WARPS + (unsigned)warp, 32 >> plan.width_log2);
    if (tile.count == 0) return;
    int own = lane >> plan.width_log2, rank = lane & (W - 1), mine = own < tile.count ? n : 0;
    int total = tile.count * n, held = mine - K * rank; /* rows from held on are none of the system's */
    if (PATH == TRID_P_BATCH_EXACT) total = 32 * K, held = K, mine = n = K * W;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    long long system = tile.group * plan.lines.systems + tile.first + own;
    T ra[K], rb[K], rc[K], rd[K], *shared = buffer[warp], error = 0, size = 0;
    int slot[K];
    trid_p_batch_matrix<PATH>(K, plan, tile, total, rank, held, rows, ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, total, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_turned<PATH, LITERAL>(K, rows, held, slot, ra, rb, rc, shared, OWN);
    trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slot, rd, shared + 3 * OWN);
    int bad = trid_warp_hybrid(K, W, K * W, ra, rb, rc, rd);
    if (!CHECKED && PATH != TRID_P_BATCH_EXACT) {
        lane = trid_p_batch_again_as(lane);
        warp = trid_p_batch_again_as((int)threadIdx.x) / 32;
        tile = trid_p_batch_tile_of(plan, blockIdx.x * WARPS + (unsigned)warp, 32 >> plan.width_log2);
        own = lane >> plan.width_log2, rank = lane & (W - 1), mine = own < tile.count ? n : 0;
        total = tile.count * n, held = mine - K * rank;
        at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
        system = tile.group * plan.lines.systems + tile.first + own;
        shared = buffer[warp];
    }
    bad = trid_p_batch_row(bad, n);
    if (CHECKED) {
        const T *kept = shared + 3 * OWN + trid_p_batch_column(K, B);
        T kd[K], rest[K];
        TRID_P_BATCH_LOOP
        for (int refine = (plan.flags & TRID_BATCH_REFINED) != 0; refine >= 0; refine--) {
            T left = __shfl_up_sync(TRID_P_FULL, rd[K - 1], 1, W), right = __shfl_down_sync(TRID_P_FULL, rd[0], 1, W);
            trid_p_batch_again(K, OWN, rows, system, K * rank, held, shared, ra, rb, rc);
            TRID_UNROLL
            for (int j = 0; j < K; j++) kd[j] = j < held ? kept[j] : (T)0;
            error = size = 0;
            trid_p_batch_defect(K, K * rank, n, held, ra, rb, rc, kd, rd, left, right, rest, &error, &size);
            if (!refine) break;
            trid_warp_hybrid(K, W, mine, ra, rb, rc, rest);
            TRID_UNROLL
            for (int j = 0; j < K; j++) rd[j] += rest[j];
        }
    }
    trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < W; m *= 2) {
            int other = __shfl_xor_sync(TRID_P_FULL, bad, m);
            bad = other < bad ? other : bad;
            if (CHECKED) {
                error = trid_p_batch_larger(error, (T)__shfl_xor_sync(TRID_P_FULL, error, m));
                size = trid_p_batch_larger(size, (T)__shfl_xor_sync(TRID_P_FULL, size, m));
            }
        }
        if (rank == 0 && mine) trid_p_batch_tell(plan, system, bad, CHECKED, error, size);
    }
}

/* One matrix for all systems, n elements each of a, b, c. As a function object it reads them from memory: neighbouring
   systems read the same element at once. */
template <class T>
struct trid_p_batch_common {
    const T *a, *b, *c;
    TRID_P_BATCH_MEMBER void operator()(long long, int row, T *ra, T *rb, T *rc) const
    {
        *ra = a[row];
        *rb = b[row];
        *rc = c[row];
    }
};

/* The same matrix for all of a warp's systems, tile after tile: it is brought into shared memory once a block, identity
   rows and all, and read from there for each tile. n <= K*W. */
template <class T, int K, int PATH>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 0), TRID_P_BATCH_RESIDENT(T, K, PATH, 0))
    trid_p_batch_common_warps(trid_p_batch_plan plan, trid_p_batch_common<T> from, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, 0), LITERAL = PATH == TRID_P_BATCH_EXACT || K > 16;
    __shared__ T buffer[WARPS][LEN + 32], matrix[3][LEN];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, W = plan.width, n = plan.n;
    int own = lane >> plan.width_log2, rank = lane & (W - 1), column = trid_p_batch_slot(K, B, K * rank);
    for (int j = (int)threadIdx.x; j < K * W; j += 32 * WARPS) {
        int slot = trid_p_batch_slot(K, B, j);
        matrix[0][slot] = j < n ? from.a[j] : (T)0;
        matrix[1][slot] = j < n ? from.b[j] : (T)1;
        matrix[2][slot] = j < n - 1 ? from.c[j] : (T)0;
    }
    __syncthreads();
    int slots[K];
    T *shared = buffer[warp];
    TRID_P_BATCH_LOOP
    for (unsigned i = 0; i < plan.repeat; i++) {
        trid_p_batch_tile tile =
            trid_p_batch_tile_of(plan, (i * gridDim.x + blockIdx.x) * WARPS + (unsigned)warp, 32 >> plan.width_log2);
        if (tile.count == 0) return;
        int mine = own < tile.count ? n : 0, total = tile.count * n, held = mine - K * rank;
        if (PATH == TRID_P_BATCH_EXACT) total = 32 * K, held = K;
        long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
        T ra[K], rb[K], rc[K], rd[K];
        trid_p_batch_fetch<PATH>(K, plan, total, d + at, plan.lines.step, plan.lines.stride, rd);
        trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slots);
        TRID_UNROLL
        for (int j = 0; j < K; j++) {
            ra[j] = matrix[0][column + j];
            rb[j] = matrix[1][column + j];
            rc[j] = matrix[2][column + j];
        }
        trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slots, rd, shared);
        int bad = trid_p_batch_row(trid_warp_hybrid(K, W, K * W, ra, rb, rc, rd), n);
        trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slots, rd, x + at, shared);
        if (trid_p_batch_reports(plan)) {
            for (int m = 1; m < W; m *= 2) {
                int other = __shfl_xor_sync(TRID_P_FULL, bad, m);
                bad = other < bad ? other : bad;
            }
            long long system = tile.group * plan.lines.systems + tile.first + own;
            if (rank == 0 && mine) trid_p_batch_tell(plan, system, bad, 0, (T)0, (T)0);
        }
    }
}

/* The pair's: warp's rows 32 K warp .. 32 K warp + total - 1. */
template <int PATH, class T>
TRID_D void trid_p_batch_pair_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int total,
                                     int warp, int, const trid_p_batch_arrays<T> &from, T *a, T *b, T *c)
{
    long long at = tile.group * from.jump + tile.first * from.stride + 32 * K * warp * from.step;
    trid_p_batch_fetch<PATH>(K, plan, total, from.a + at, from.step, from.stride, a);
    trid_p_batch_fetch<PATH>(K, plan, total, from.b + at, from.step, from.stride, b);
    trid_p_batch_fetch<PATH>(K, plan, total, from.c + at, from.step, from.stride, c);
}
template <int PATH, class T, class Rows>
TRID_D void trid_p_batch_pair_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int, int warp,
                                     int rows, const Rows &make, T *a, T *b, T *c)
{
    long long system = tile.group * plan.lines.systems + tile.first;
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = c[j] = 0;
        b[j] = 1;
        if (j < rows) make(system, K * (32 * warp + trid_p_lane()) + j, &a[j], &b[j], &c[j]);
        if (PATH != TRID_P_BATCH_EXACT && j >= rows - 1) c[j] = 0;
    }
}

/* 512 < n <= 64 K: two warps a system, a block each. */
template <class T, int K, int PATH, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(64) trid_p_batch_pairs(trid_p_batch_plan plan, Rows rows, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int OWN = CHECKED ? LEN + 32 : 0, LITERAL = 1;
    __shared__ T buffer[2][(CHECKED ? 4 : 1) * (LEN + 32)], between[TRID_BLOCK_HYBRID_LEN], border[4];
    __shared__ int worst;
    int warp = (int)threadIdx.x / 32, n = plan.n, first = K * (int)threadIdx.x;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x, 1);
    int total = n - 32 * K * warp, held = n - first;
    if (total > 32 * K) total = 32 * K;
    if (PATH == TRID_P_BATCH_EXACT) total = 32 * K, held = K, n = 64 * K;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + 32 * K * warp * plan.lines.step;
    long long system = tile.group * plan.lines.systems + tile.first;
    T ra[K], rb[K], rc[K], rd[K], *shared = buffer[warp], error = 0, size = 0;
    int slot[K];
    trid_p_batch_pair_matrix<PATH>(K, plan, tile, total, warp, held, rows, ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, total, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_turned<PATH, LITERAL>(K, rows, held, slot, ra, rb, rc, shared, OWN);
    trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slot, rd, shared + 3 * OWN);
    int bad = trid_p_batch_row(trid_block_hybrid(K, 64 * K, ra, rb, rc, rd, between), n);
    if (CHECKED) {
        const T *kept = shared + 3 * OWN + trid_p_batch_column(K, B);
        T kd[K], rest[K];
        TRID_P_BATCH_LOOP
        for (int refine = (plan.flags & TRID_BATCH_REFINED) != 0; refine >= 0; refine--) {
            if (threadIdx.x == 31) border[0] = rd[K - 1];
            if (threadIdx.x == 32) border[1] = rd[0];
            __syncthreads();
            T left = __shfl_up_sync(TRID_P_FULL, rd[K - 1], 1), right = __shfl_down_sync(TRID_P_FULL, rd[0], 1);
            if (threadIdx.x == 32) left = border[0];
            if (threadIdx.x == 31) right = border[1];
            trid_p_batch_again(K, OWN, rows, system, first, held, shared, ra, rb, rc);
            TRID_UNROLL
            for (int j = 0; j < K; j++) kd[j] = j < held ? kept[j] : (T)0;
            error = size = 0;
            trid_p_batch_defect(K, first, n, held, ra, rb, rc, kd, rd, left, right, rest, &error, &size);
            if (!refine) break;
            trid_block_hybrid(K, n, ra, rb, rc, rest, between); /* its barrier also lets border be filled again */
            TRID_UNROLL
            for (int j = 0; j < K; j++) rd[j] += rest[j];
        }
    }
    trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < 32; m *= 2) {
            int other = __shfl_xor_sync(TRID_P_FULL, bad, m);
            bad = other < bad ? other : bad;
            if (CHECKED) {
                error = trid_p_batch_larger(error, (T)__shfl_xor_sync(TRID_P_FULL, error, m));
                size = trid_p_batch_larger(size, (T)__shfl_xor_sync(TRID_P_FULL, size, m));
            }
        }
        if (threadIdx.x == 32) {
            worst = bad;
            border[2] = error;
            border[3] = size;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            trid_p_batch_tell(plan, system, worst < bad ? worst : bad, CHECKED, trid_p_batch_larger(error, border[2]),
                              trid_p_batch_larger(size, border[3]));
    }
}

/* ---- with pivoting ----------------------------------------------------------------------------------------------- */

/* With repair only systems whose status is not 0 are solved, and those that share a warp with them. */
TRID_D int trid_p_batch_wanted(const trid_p_batch_plan &plan, long long system, int mine)
{
    return !plan.repair || __any_sync(TRID_P_FULL, mine && plan.report.status[system] != 0);
}

/* n <= K*W in a warp, as trid_p_batch_warps; a warp's own systems alone decide what it does. */
template <class T, int K, int PATH>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 0))
    trid_p_batch_pivoted_warps(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, 0), LITERAL = K > 16;
    __shared__ T buffer[WARPS][LEN + 32];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, W = plan.width, n = plan.n;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x * WARPS + (unsigned)warp, 32 >> plan.width_log2);
    if (tile.count == 0) return;
    int own = lane >> plan.width_log2, rank = lane & (W - 1), mine = own < tile.count ? n : 0;
    int total = tile.count * n, held = mine - K * rank;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    long long system = tile.group * plan.lines.systems + tile.first + own;
    if (!trid_p_batch_wanted(plan, system, mine)) return;
    T ra[K], rb[K], rc[K], rd[K], *shared = buffer[warp];
    int slot[K];
    trid_p_batch_matrix<PATH>(K, plan, tile, total, rank, held, rows, ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, total, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_turned<PATH, LITERAL>(K, rows, held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slot, rd, shared);
    int bad = trid_p_batch_row(trid_warp_pivoted(K, W, K * W, ra, rb, rc, rd), n);
    trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < W; m *= 2) {
            int other = __shfl_xor_sync(TRID_P_FULL, bad, m);
            bad = other < bad ? other : bad;
        }
        if (rank == 0 && mine) trid_p_batch_tell(plan, system, bad, 0, (T)0, (T)0);
    }
}

/* n <= 128 K: four warps a system. */
template <class T, int K, int PATH>
TRID_KERNEL void __launch_bounds__(128)
    trid_p_batch_pivoted_block(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, const T *d, T *x)
{
    const int LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    __shared__ T buffer[4][LEN + 32], between[TRID_BLOCK_PIVOTED_LEN];
    __shared__ int worst;
    int warp = (int)threadIdx.x / 32, n = plan.n, first = K * (int)threadIdx.x, slot[K];
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x, 1);
    int total = n - 32 * K * warp, held = n - first;
    total = total < 0 ? 0 : total < 32 * K ? total : 32 * K;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + 32 * K * warp * plan.lines.step;
    long long system = tile.group * plan.lines.systems + tile.first;
    if (!trid_p_batch_wanted(plan, system, 1)) return;
    T ra[K], rb[K], rc[K], rd[K], *shared = buffer[warp];
    trid_p_batch_pair_matrix<PATH>(K, plan, tile, total, warp, held, rows, ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, total, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_turned<PATH, 1>(K, rows, held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_turn<PATH, 1>(K, held, (T)0, slot, rd, shared);
    if (threadIdx.x == 0) worst = TRID_P_BATCH_NO_ROW; /* before the barrier inside */
    int bad = trid_p_batch_row(trid_block_pivoted(K, 128 * K, ra, rb, rc, rd, between), n);
    trid_p_batch_store<PATH, 1>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst, bad);
        __syncthreads();
        if (threadIdx.x == 0) trid_p_batch_tell(plan, system, worst, 0, (T)0, (T)0);
    }
}

/* ---- systems side by side: sections of lines --------------------------------------------------------------------- */

/* The thread's rows first .. first + held - 1 of one system, held <= K; those from held on are 0. */
template <class T>
TRID_D void trid_p_batch_gather(int K, int held, const T *src, long long step, T *u)
{
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        u[j] = j < held ? *src : (T)0;
        src += step;
    }
}
/* Solves the systems of the block: thread t has rows K*(t / L) .. K*(t / L) + K-1 of system t % L, those from held on
   identity rows. As trid_block_lines, with up to 64 sections (two reduced rows a lane then), and a status that knows
   its system: *bad is the least of the rows of this thread, and worst[system] that of reduced rows. x in r; *left is
   the unknown above. */
template <class T, int K, int L, int S>
TRID_D void trid_p_batch_sweep(int n, int held, T *a, T *b, T *c, T *r, T *shared, int *worst, int *bad, T *left)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_P_LINES_SLOT(L, S, U, L * S), G = S < 32 ? S : 32, R = S / G };
    int thread = (int)threadIdx.x, section = thread / L;
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        if (j >= held) b[j] = 1;
        if (j >= held - 1) c[j] = 0;
    }
    if (section == 0) a[0] = 0;
    int status = trid_p_batch_reduce(K, a, b, c, r);
    *bad = trid_p_batch_row(status ? K * section + status : 0, n);
    T last = r[K - 1];
    *left = 0;
    if (S > 1) {
        T *up = shared, *down = shared + 3 * PART;
        int slot = TRID_P_LINES_SLOT(L, S, U, thread);
        up[slot] = a[0];
        up[PART + slot] = c[0];
        up[2 * PART + slot] = r[0];
        down[slot] = a[K - 1];
        down[PART + slot] = c[K - 1];
        down[2 * PART + slot] = r[K - 1];
        __syncthreads();
        if (thread < L * G) { /* whole warps: G lanes take system thread / G, R sections each */
            int rank = thread % G, system = thread / G, failed = 0;
            T row_a[R], row_c[R], row_d[R];
            TRID_UNROLL
            for (int p = 0; p < R; p++) {
                int own = system + L * (R * rank + p), next = R * rank + p + 1 < S;
                int here = TRID_P_LINES_SLOT(L, S, U, own), below = TRID_P_LINES_SLOT(L, S, U, next ? own + L : own);
                row_a[p] = down[here];
                row_c[p] = down[PART + here];
                row_d[p] = down[2 * PART + here];
                T link_a = next ? up[below] : (T)0, link_c = next ? up[PART + below] : (T)0;
                T link_d = next ? up[2 * PART + below] : (T)0;
                if (trid_p_batch_link(&row_a[p], &row_c[p], &row_d[p], link_a, link_c, link_d) && !failed)
                    failed = R * rank + p + 1;
            }
            int met =
                R == 1 ? trid_warp_pcr1(G, row_a[0], row_c[0], &row_d[0]) : trid_warp_pcr2(G, row_a, row_c, row_d);
            if (!failed) failed = met;
            if (worst && failed) atomicMin(&worst[system], trid_p_batch_row(K * failed, n));
            TRID_UNROLL
            for (int p = 0; p < R; p++)
                down[2 * PART + TRID_P_LINES_SLOT(L, S, U, system + L * (R * rank + p))] = row_d[p];
        }
        __syncthreads();
        if (section > 0) *left = down[2 * PART + TRID_P_LINES_SLOT(L, S, U, thread - L)];
        last = down[2 * PART + slot];
    }
    trid_p_batch_expand(K, a, c, r, *left, last);
}

/* Bits of a number that is not negative, or NaN: in their order as integers NaN is above all. */
TRID_D unsigned long long trid_p_batch_bits(double x)
{
    return (unsigned long long)__double_as_longlong(x) & 0x7fffffffffffffffull;
}

/* Asynchronous copies into shared memory, of 4, 8 or 16 bytes; before compute capability 8.0 there are none, and nothing
   is staged. AHEAD: bytes of the piece of memory around it that the copy has brought into the second-level cache, 0, 128
   or 256: where a block's rows are narrower, its neighbours find theirs there. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
#define TRID_P_BATCH_STAGES 1
#else
#define TRID_P_BATCH_STAGES 0
#endif
#define TRID_P_BATCH_COPY(how, ahead)                                                                                  \
    asm volatile("cp.async." how ".shared.global" ahead                                                                \
                 " [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),                                     \
                 "l"(from), "n"(BYTES)                                                                                 \
                 : "memory")
template <int BYTES, int AHEAD, class T>
TRID_D void trid_p_batch_copy(T *to, const T *from)
{
#if defined __CUDA_ARCH__ && TRID_P_BATCH_STAGES
    if (BYTES == 16) { /* only these can pass by the first-level cache */
        if (AHEAD == 0) TRID_P_BATCH_COPY("cg", "");
        if (AHEAD == 128) TRID_P_BATCH_COPY("cg", ".L2::128B");
        if (AHEAD == 256) TRID_P_BATCH_COPY("cg", ".L2::256B");
    } else {
        if (AHEAD == 0) TRID_P_BATCH_COPY("ca", "");
        if (AHEAD == 128) TRID_P_BATCH_COPY("ca", ".L2::128B");
        if (AHEAD == 256) TRID_P_BATCH_COPY("ca", ".L2::256B");
    }
#elif defined SIMT_EMULATOR
    simt_copy_async(to, from, BYTES);
#else
    for (int i = 0; i < BYTES / (int)sizeof(T); i++) to[i] = from[i];
#endif
}
TRID_D void trid_p_batch_commit(void) /* what this thread has asked for since the last time is a group */
{
#if defined __CUDA_ARCH__ && TRID_P_BATCH_STAGES
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined SIMT_EMULATOR
    simt_copy_commit();
#endif
}
template <int GROUPS>
TRID_D void trid_p_batch_await(void) /* all of this thread's groups but the last ones are there */
{
#if defined __CUDA_ARCH__ && TRID_P_BATCH_STAGES
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
#elif defined SIMT_EMULATOR
    simt_copy_await(GROUPS);
#endif
}

/* The block's tile: L systems; the rows that the thread has of them. */
struct trid_p_batch_place {
    long long at, matrix, system; /* offsets of its first row, and of that of the matrix; the system's index */
    int held;                     /* rows */
    int there;                    /* is there such a system? */
};
TRID_D trid_p_batch_place trid_p_batch_place_of(const trid_p_batch_plan &plan, unsigned index, int L, int line,
                                                int first)
{
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, index, L);
    trid_p_batch_place p;
    p.there = line < tile.count;
    p.held = p.there ? plan.n - first : 0;
    p.at = tile.group * plan.lines.jump + (tile.first + line) * plan.lines.stride + first * plan.lines.step;
    p.system = tile.group * plan.lines.systems + tile.first + line;
    return p;
}
template <class T>
TRID_D long long trid_p_batch_matrix_at(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &from,
                                        const trid_p_batch_place &p, int first)
{
    if (plan.lines.groups == 1) return p.system * from.stride + first * from.step;
    long long group = p.system / plan.lines.systems;
    return group * from.jump + (p.system - group * plan.lines.systems) * from.stride + first * from.step;
}

/* What a thread asks for of a tile, row after row of up to K. Array k's row j of thread t goes to
   stage[(k*K + j) * L*S + t]. Shared memory holds what is on its way, registers what is being solved: the next tile comes
   while this one is worked on. NARROW: each thread asks for its own rows, element by element, array k in from[k]. WIDE:
   the warp asks for its threads' rows in pieces of 16 bytes, sizeof(T) / 4 of them a lane and a row instead of four
   copies. Either way no other warp reads it, so that no barrier of the block is needed. */
enum { TRID_P_BATCH_UNSTAGED, TRID_P_BATCH_NARROW, TRID_P_BATCH_WIDE };

template <class T>
struct trid_p_batch_route {
    const T *from[4]; /* where the next row is */
    int held[2];      /* rows, in all; NARROW: the first */
};

/* WIDE: the thread whose elements piece i of this lane begins with, and the array. */
template <class T, int L>
TRID_D void trid_p_batch_piece(int i, int *thread, int *array)
{
    enum { V = 16 / sizeof(T), WIDTH = L < 32 ? L : 32, PIECES = WIDTH / V > 0 ? WIDTH / V : 1 };
    int lane = trid_p_lane(), e = lane + 32 * i;
    *array = e / PIECES % 4;
    *thread = (int)threadIdx.x - lane + e / (4 * PIECES) * WIDTH + e % PIECES * V;
}
template <class T, int K, int L>
TRID_D trid_p_batch_route<T> trid_p_batch_route_of(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &from,
                                                   unsigned index, const trid_p_batch_place &own, int first, const T *d)
{
    trid_p_batch_route<T> route;
    if (plan.staged == TRID_P_BATCH_WIDE) { /* the arrays lie alike */
        TRID_UNROLL
        for (int i = 0; i < (int)sizeof(T) / 4; i++) {
            int thread, array;
            trid_p_batch_piece<T, L>(i, &thread, &array);
            trid_p_batch_place p = trid_p_batch_place_of(plan, index, L, thread % L, K * (thread / L));
            route.from[i] = (array == 0 ? from.a : array == 1 ? from.b : array == 2 ? from.c : d) + p.at;
            route.held[i] = p.held;
        }
    } else {
        long long at = own.there ? trid_p_batch_matrix_at(plan, from, own, first) : 0;
        route.from[0] = from.a + at;
        route.from[1] = from.b + at;
        route.from[2] = from.c + at;
        route.from[3] = d + own.at;
        route.held[0] = own.held;
    }
    return route;
}
template <class T, int K, int L, class Rows>
TRID_D trid_p_batch_route<T> trid_p_batch_route_of(const trid_p_batch_plan &, const Rows &, unsigned,
                                                   const trid_p_batch_place &, int, const T *)
{
    return trid_p_batch_route<T>();
}

/* Asks for rows j .. j + R-1 of the route, as one group. */
template <class T, int K, int L, int S, int R, int AHEAD>
TRID_D void trid_p_batch_ask(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &from, int j,
                             trid_p_batch_route<T> *route, T *stage)
{
    if (plan.staged == TRID_P_BATCH_WIDE) {
        TRID_UNROLL
        for (int i = 0; i < (int)sizeof(T) / 4; i++) {
            int thread, array;
            trid_p_batch_piece<T, L>(i, &thread, &array);
            T *to = stage + (array * K * L * S + thread);
            if (route->held[i] >= K) { /* all rows, as usual: nothing to compare */
                TRID_UNROLL
                for (int r = 0; r < R; r++) {
                    trid_p_batch_copy<16, AHEAD>(&to[(j + r) * L * S], route->from[i]);
                    route->from[i] += plan.lines.step;
                }
            } else {
                TRID_P_BATCH_LOOP
                for (int r = 0; r < R && j + r < route->held[i]; r++) {
                    trid_p_batch_copy<16, AHEAD>(&to[(j + r) * L * S], route->from[i]);
                    route->from[i] += plan.lines.step;
                }
            }
        }
    } else {
        T *to = stage + threadIdx.x;
        TRID_UNROLL
        for (int r = 0; r < R; r++) TRID_UNROLL
        for (int k = 0; k < 4; k++) {
            if (j + r < route->held[0])
                trid_p_batch_copy<sizeof(T), AHEAD>(&to[(k * K + j + r) * L * S], route->from[k]);
            route->from[k] += k < 3 ? from.step : plan.lines.step;
        }
    }
    trid_p_batch_commit();
}
template <class T, int K, int L, int S, int R, int AHEAD, class Rows>
TRID_D void trid_p_batch_ask(const trid_p_batch_plan &, const Rows &, int, trid_p_batch_route<T> *, T *)
{
}

template <class T>
TRID_D void trid_p_batch_own_rows(int K, const trid_p_batch_plan &plan, const trid_p_batch_place &p, int first,
                                  const trid_p_batch_arrays<T> &from, T *a, T *b, T *c)
{
    long long at = trid_p_batch_matrix_at(plan, from, p, first);
    trid_p_batch_gather(K, p.held, from.a + at, from.step, a);
    trid_p_batch_gather(K, p.held, from.b + at, from.step, b);
    trid_p_batch_gather(K, p.held, from.c + at, from.step, c);
}
template <class T, class Rows>
TRID_D void trid_p_batch_own_rows(int K, const trid_p_batch_plan &, const trid_p_batch_place &p, int first,
                                  const Rows &make, T *a, T *b, T *c)
{
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = b[j] = c[j] = 0;
        if (j < p.held) make(p.system, first + j, &a[j], &b[j], &c[j]);
    }
}

/* Blocks a multiprocessor: so many that a thread has the registers that it needs. */
#define TRID_P_BATCH_LINES_THREADS(T, K)                                                                               \
    ((K) <= 4 ? (sizeof(T) == 4 ? 1024 : 640) : (K) <= 8 ? (sizeof(T) == 4 ? 640 : 384) : sizeof(T) == 4 ? 512 : 256)
#define TRID_P_BATCH_LINES_RESIDENT(T, K, threads)                                                                     \
    (TRID_P_BATCH_LINES_THREADS(T, K) > (threads) ? TRID_P_BATCH_LINES_THREADS(T, K) / (threads) : 1)

/* L systems side by side, n <= K*S; a block takes one tile after another. Rows are asked for in groups of R, each as soon
   as the same rows of the tile before have gone to registers. */
template <class T, int K, int L, int S, int R, int AHEAD, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(L *S, TRID_P_BATCH_LINES_RESIDENT(T, K, L *S))
    trid_p_batch_lines(trid_p_batch_plan plan, Rows rows, const T *d, T *x)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_P_LINES_SLOT(L, S, U, L * S) };
    __shared__ T shared[S > 1 ? 6 * PART : 1];
    __shared__ int worst[L];
    __shared__ unsigned long long largest[CHECKED ? 2 * L : 1];
    TRID_DYNAMIC_SHARED(dynamic);
    int thread = (int)threadIdx.x, line = thread % L, section = thread / L, n = plan.n, first = K * section;
    int reports = trid_p_batch_reports(plan), staged = TRID_P_BATCH_STAGES && plan.staged;
    long long step = plan.lines.step;
    T *stage = (T *)dynamic;
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, L, line, first);
    if (staged) {
        trid_p_batch_route<T> route = trid_p_batch_route_of<T, K, L>(plan, rows, blockIdx.x, p, first, d);
        TRID_UNROLL
        for (int j = 0; j < K; j += R) trid_p_batch_ask<T, K, L, S, R, AHEAD>(plan, rows, j, &route, stage);
    }
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        T a[K], b[K], c[K], r[K], left;
        int bad, held = p.held;
        const trid_p_batch_place here = p;
        p = trid_p_batch_place_of(plan, index + gridDim.x, L, line, first); /* without systems beyond the last tile */
        if (staged) {
            const T *own = stage + thread;
            trid_p_batch_route<T> route = trid_p_batch_route_of<T, K, L>(plan, rows, index + gridDim.x, p, first, d);
            TRID_UNROLL
            for (int from = 0; from < K; from += R) {
                trid_p_batch_await<K / R - 1>();
                __syncwarp(TRID_P_FULL); /* what other lanes have asked for is there too */
                TRID_UNROLL
                for (int j = from; j < from + R; j++) {
                    a[j] = c[j] = r[j] = 0;
                    b[j] = 1;
                    if (j < held) {
                        a[j] = own[j * L * S];
                        b[j] = own[(K + j) * L * S];
                        c[j] = own[(2 * K + j) * L * S];
                        r[j] = own[(3 * K + j) * L * S];
                    }
                }
                __syncwarp(TRID_P_FULL); /* and has been read by them */
                trid_p_batch_ask<T, K, L, S, R, AHEAD>(plan, rows, from, &route, stage);
            }
        } else {
            trid_p_batch_own_rows(K, plan, here, first, rows, a, b, c);
            trid_p_batch_gather(K, held, d + here.at, step, r);
        }
        if (index != blockIdx.x) __syncthreads(); /* what is shared has been read */
        if (reports) {
            if (section == 0) worst[line] = TRID_P_BATCH_NO_ROW;
            if (CHECKED && section == 0) largest[line] = largest[L + line] = 0;
            __syncthreads();
        }
        trid_p_batch_sweep<T, K, L, S>(n, held, a, b, c, r, shared, reports ? worst : (int *)0, &bad, &left);
        if (reports && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
        if (CHECKED) {
            T kd[K], rest[K], error = 0, size = 0;
            TRID_P_BATCH_LOOP
            for (int refine = (plan.flags & TRID_BATCH_REFINED) != 0; refine >= 0; refine--) {
                T right = 0, more;
                if (S > 1) { /* the next section's first unknown */
                    shared[TRID_P_LINES_SLOT(L, S, U, thread)] = r[0];
                    __syncthreads();
                    if (section < S - 1) right = shared[TRID_P_LINES_SLOT(L, S, U, thread + L)];
                    __syncthreads();
                }
                trid_p_batch_own_rows(K, plan, here, first, rows, a, b, c);
                trid_p_batch_gather(K, held, d + here.at, step, kd);
                error = size = 0;
                trid_p_batch_defect(K, first, n, held, a, b, c, kd, r, left, right, rest, &error, &size);
                if (!refine) break;
                int again;
                trid_p_batch_sweep<T, K, L, S>(n, held, a, b, c, rest, shared, (int *)0, &again, &more);
                left += more;
                TRID_UNROLL
                for (int j = 0; j < K; j++) r[j] += rest[j];
            }
            if (reports && held > 0) {
                atomicMax(&largest[line], trid_p_batch_bits((double)error));
                atomicMax(&largest[L + line], trid_p_batch_bits((double)size));
            }
        }
        T *to = x + here.at;
        if (plan.flags & TRID_BATCH_ADD) {
            TRID_UNROLL
            for (int j = 0; j < K; j++) {
                if (j < held) r[j] += *to;
                to += step;
            }
            to = x + here.at;
        }
        TRID_UNROLL
        for (int j = 0; j < K; j++) {
            if (j < held) *to = r[j];
            to += step;
        }
        if (reports) {
            __syncthreads();
            if (section == 0 && here.there)
                trid_p_batch_tell(plan, here.system, worst[line], CHECKED,
                                  CHECKED ? __longlong_as_double((long long)largest[line]) : 0.0,
                                  CHECKED ? __longlong_as_double((long long)largest[CHECKED ? L + line : 0]) : 0.0);
        }
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Which kernel serves which size. Contiguous systems (step is not the larger pitch): the least width W of 1, 2, 4 .. 32
   lanes with which at most 16 rows a lane hold the system, and the least of these K rows that do (W = 1 unless K > 8):

       K = 16                    n = 16 W, one after another, full tiles      trid_p_batch_warps, EXACT, 4 warps a block
       K = 2 3 4 6 8 .. 14 16    any n, one after another                     trid_p_batch_warps, DENSE
       K = 4 8 16                any n and pitch, shared rows                 trid_p_batch_warps, PITCHED
       512 < n <= 1024           single: K = 24, 32 rows in each of 32 lanes  trid_p_batch_warps, EXACT for n = 1024
                                 double, checked: K = 12, 16, two warps       trid_p_batch_pairs, EXACT for n = 1024

   Systems side by side (stride the smaller): sections of K rows, S of them a system, L systems a block, R rows asked for
   at a time, A bytes around them into the cache, by n:

       n  <=           4      8     16     32     64    128    256    512   1024
       K               4      8     16      8     16     16     16     16     16
       S               1      1      1      4      4      8     16     32     64
       L, single     128    128    128     64     64     64     32     16      8
       L, double     128    128    128     32     32     32     16      8      4
       R               4      4      4      4      4      4      2      4      4
       A               0      0      0      0    128    128    256    128    128     trid_p_batch_lines */
#define TRID_P_BATCH_SHAPES(shape)                                                                                     \
    shape(EXACT, 16) shape(DENSE, 2) shape(DENSE, 3) shape(DENSE, 4) shape(DENSE, 6) shape(DENSE, 8) shape(DENSE, 10)  \
        shape(DENSE, 12) shape(DENSE, 14) shape(DENSE, 16) shape(PITCHED, 4) shape(PITCHED, 8) shape(PITCHED, 16)
#define TRID_P_BATCH_LONG_WARPS(shape) shape(EXACT, 32) shape(DENSE, 24) shape(DENSE, 32)
#define TRID_P_BATCH_LONG_PAIRS(shape) shape(EXACT, 16) shape(DENSE, 12) shape(DENSE, 16) shape(PITCHED, 16)

static inline cudaError_t trid_p_batch_count(trid_p_batch_plan *plan, int width, int per_block, dim3 *grid)
{
    long long per_group = (plan->lines.systems + width - 1) / width;
    if (per_group > 0x7fffffffll / plan->lines.groups) return cudaErrorInvalidConfiguration;
    plan->per_group = (unsigned)per_group;
    plan->tiles = (unsigned)(per_group * plan->lines.groups);
    *grid = dim3((unsigned)((per_group * plan->lines.groups + per_block - 1) / per_block));
    return cudaSuccess;
}

#define TRID_P_BATCH_WARPS_OF(PATH, size)                                                                              \
    if (path == TRID_P_BATCH_##PATH && !launched && K <= size)                                                         \
        error = trid_launch(trid_p_batch_warps<T, size, TRID_P_BATCH_##PATH, CHECKED, Rows>, grid,                     \
                            dim3(32 * TRID_P_BATCH_WARPS(T, CHECKED)), 0, stream, plan, rows, d, x),                   \
        launched = 1;
#define TRID_P_BATCH_PAIRS_OF(PATH, size)                                                                              \
    if (path == TRID_P_BATCH_##PATH && !launched && K <= size)                                                         \
        error = trid_launch(trid_p_batch_pairs<T, size, TRID_P_BATCH_##PATH, CHECKED, Rows>, grid, dim3(64), 0,        \
                            stream, plan, rows, d, x),                                                                 \
        launched = 1;

/* n > 512: two warps a system ... */
template <class T, int CHECKED, class Rows>
struct trid_p_batch_long {
    static int launch(trid_p_batch_plan plan, int path, Rows rows, const T *d, T *x, cudaStream_t stream)
    {
        int K = (plan.n + 63) / 64, launched = 0;
        if (path != TRID_P_BATCH_PITCHED) path = plan.n == 1024 ? TRID_P_BATCH_EXACT : TRID_P_BATCH_DENSE;
        dim3 grid;
        cudaError_t error = trid_p_batch_count(&plan, 1, 1, &grid);
        if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
        TRID_P_BATCH_LONG_PAIRS(TRID_P_BATCH_PAIRS_OF)
        return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
    }
};
/* ... or up to 32 rows in each lane of one. */
template <class Rows>
struct trid_p_batch_long<float, 0, Rows> {
    static int launch(trid_p_batch_plan plan, int path, Rows rows, const float *d, float *x, cudaStream_t stream)
    {
        typedef float T;
        enum { CHECKED = 0 };
        int K = (plan.n + 31) / 32, launched = 0;
        if (path == TRID_P_BATCH_PITCHED) {
            dim3 grid;
            if (trid_p_batch_count(&plan, 1, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
            return trid_launch(trid_p_batch_pairs<T, 16, TRID_P_BATCH_PITCHED, CHECKED, Rows>, grid, dim3(64), 0,
                               stream, plan, rows, d, x) == cudaSuccess
                       ? TRID_BATCH_OK
                       : TRID_BATCH_LAUNCH_FAILED;
        }
        path = plan.n == 1024 ? TRID_P_BATCH_EXACT : TRID_P_BATCH_DENSE;
        dim3 grid;
        cudaError_t error = trid_p_batch_count(&plan, 1, TRID_P_BATCH_WARPS(T, CHECKED), &grid);
        if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
        TRID_P_BATCH_LONG_WARPS(TRID_P_BATCH_WARPS_OF)
        return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
    }
};

/* shared: the matrix is one for all, so not one after another. */
template <class T, int CHECKED, class Rows>
static int trid_p_batch_launch_contiguous(trid_p_batch_plan plan, Rows rows, const T *d, T *x, int shared,
                                          cudaStream_t stream)
{
    int W = 1, log2 = 0, n = plan.n, launched = 0;
    while (W < 32 && (n + W - 1) / W > 16) W *= 2, log2++;
    int K = (n + W - 1) / W;
    int dense = plan.lines.step == 1 && (W == 32 || (plan.lines.stride == n && !shared));
    int path = dense ? TRID_P_BATCH_DENSE : TRID_P_BATCH_PITCHED;
    plan.width = W;
    plan.width_log2 = log2;
    plan.magic = W == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    if (n > 512) return trid_p_batch_long<T, CHECKED, Rows>::launch(plan, path, rows, d, x, stream);
    if (dense && n == 16 * W && plan.lines.systems % (32 / W) == 0) path = TRID_P_BATCH_EXACT;
    dim3 grid;
    cudaError_t error = trid_p_batch_count(&plan, 32 / W, TRID_P_BATCH_WARPS(T, CHECKED), &grid);
    if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    TRID_P_BATCH_SHAPES(TRID_P_BATCH_WARPS_OF)
    return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}
#undef TRID_P_BATCH_WARPS_OF
#undef TRID_P_BATCH_PAIRS_OF

/* Only arrays are staged; a matrix that is made does not travel. WIDE: pieces of 16 bytes are pieces of memory in all
   four arrays, and of whole systems. */
template <class T>
static inline int trid_p_batch_staging(const trid_lines &lines, const trid_p_batch_arrays<T> &rows, const T *d)
{
    const int V = 16 / (int)sizeof(T);
    size_t from = (size_t)rows.a | (size_t)rows.b | (size_t)rows.c | (size_t)d;
    return from % 16 == 0 && lines.stride == 1 && lines.systems % V == 0 && lines.step % V == 0 &&
                   (lines.groups == 1 || lines.jump % V == 0) && rows.step == lines.step &&
                   rows.stride == lines.stride && rows.jump == lines.jump
               ? TRID_P_BATCH_WIDE
               : TRID_P_BATCH_NARROW;
}
template <class T, class Rows>
static inline int trid_p_batch_staging(const trid_lines &, const Rows &, const T *)
{
    return TRID_P_BATCH_UNSTAGED;
}

template <class T, int K, int L, int S, int R, int AHEAD, int CHECKED, class Rows>
static int trid_p_batch_launch_lines_of(trid_p_batch_plan plan, Rows rows, const T *d, T *x, cudaStream_t stream)
{
    void (*kernel)(trid_p_batch_plan, Rows, const T *, T *) = trid_p_batch_lines<T, K, L, S, R, AHEAD, CHECKED, Rows>;
    const int resident = TRID_P_BATCH_LINES_RESIDENT(T, K, L * S);
    int device, most, processors, major, bytes = 4 * K * L * S * (int)sizeof(T);
    dim3 grid;
    if (trid_p_batch_count(&plan, L, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    plan.staged = trid_p_batch_staging(plan.lines, rows, d);
    if (plan.staged) {
        if (cudaGetDevice(&device) != cudaSuccess ||
            cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
            cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
            cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
        if (major < 8 || resident * (bytes + 16 * 1024) > most) /* the rows that change hands, at most */
            plan.staged = TRID_P_BATCH_UNSTAGED;
        if (plan.staged &&
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
        if (plan.staged && grid.x > (unsigned)(processors * resident)) grid.x = (unsigned)(processors * resident);
    }
    cudaError_t error =
        trid_launch(kernel, grid, dim3(L * S), plan.staged ? (size_t)bytes : 0, stream, plan, rows, d, x);
    return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

template <class T, int CHECKED, class Rows>
static int trid_p_batch_launch_side_by_side(const trid_p_batch_plan &plan, Rows rows, const T *d, T *x,
                                            cudaStream_t stream)
{
    const int F = sizeof(T) == 4 ? 2 : 1;
#define TRID_P_BATCH_LINES_OF(K, L, S, R, AHEAD)                                                                       \
    trid_p_batch_launch_lines_of<T, K, L, S, R, AHEAD, CHECKED>(plan, rows, d, x, stream)
    return plan.n <= 4     ? TRID_P_BATCH_LINES_OF(4, 128, 1, 4, 0)
           : plan.n <= 8   ? TRID_P_BATCH_LINES_OF(8, 128, 1, 4, 0)
           : plan.n <= 16  ? TRID_P_BATCH_LINES_OF(16, 128, 1, 4, 0)
           : plan.n <= 32  ? TRID_P_BATCH_LINES_OF(8, 32 * F, 4, 4, 0)
           : plan.n <= 64  ? TRID_P_BATCH_LINES_OF(16, 32 * F, 4, 4, 128)
           : plan.n <= 128 ? TRID_P_BATCH_LINES_OF(16, 32 * F, 8, 4, 128)
           : plan.n <= 256 ? TRID_P_BATCH_LINES_OF(16, 16 * F, 16, 2, 256)
           : plan.n <= 512 ? TRID_P_BATCH_LINES_OF(16, 8 * F, 32, 4, 128)
                           : TRID_P_BATCH_LINES_OF(16, 4 * F, 64, 4, 128);
#undef TRID_P_BATCH_LINES_OF
}

/* One matrix for all: K of a table of its own. Warps take several tiles where so many blocks remain. */
#ifndef TRID_P_BATCH_LEAST_BLOCKS
#define TRID_P_BATCH_LEAST_BLOCKS 4096
#endif
#define TRID_P_BATCH_COMMON_SHAPES(shape)                                                                              \
    shape(EXACT, 16) shape(DENSE, 2) shape(DENSE, 4) shape(DENSE, 8) shape(DENSE, 12) shape(DENSE, 16)                 \
        shape(PITCHED, 8) shape(PITCHED, 16)

template <class T>
static int trid_p_batch_launch_common(trid_p_batch_plan plan, trid_p_batch_common<T> rows, const T *d, T *x,
                                      cudaStream_t stream)
{
    int W = 1, log2 = 0, n = plan.n, launched = 0;
    if (n > 512) { /* one system a warp or two: rows as arrays without a stride */
        trid_p_batch_arrays<T> arrays = {rows.a, rows.b, rows.c, 1, 0, 0};
        return trid_p_batch_launch_contiguous<T, 0>(plan, arrays, d, x, 1, stream);
    }
    while (W < 32 && (n + W - 1) / W > 16) W *= 2, log2++;
    int K = (n + W - 1) / W, path = TRID_P_BATCH_PITCHED;
    if (plan.lines.step == 1 && (W == 32 || plan.lines.stride == n))
        path = n == 16 * W && plan.lines.systems % (32 / W) == 0 ? TRID_P_BATCH_EXACT : TRID_P_BATCH_DENSE;
    plan.width = W;
    plan.width_log2 = log2;
    plan.magic = W == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    dim3 grid;
    cudaError_t error = trid_p_batch_count(&plan, 32 / W, TRID_P_BATCH_WARPS(T, 0), &grid);
    if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    plan.repeat = grid.x / TRID_P_BATCH_LEAST_BLOCKS < 1    ? 1
                  : grid.x / TRID_P_BATCH_LEAST_BLOCKS > 16 ? 16
                                                            : grid.x / TRID_P_BATCH_LEAST_BLOCKS;
    grid.x = (grid.x + plan.repeat - 1) / plan.repeat;
#define TRID_P_BATCH_COMMON_OF(PATH, size)                                                                             \
    if (path == TRID_P_BATCH_##PATH && !launched && K <= size)                                                         \
        error = trid_launch(trid_p_batch_common_warps<T, size, TRID_P_BATCH_##PATH>, grid,                             \
                            dim3(32 * TRID_P_BATCH_WARPS(T, 0)), 0, stream, plan, rows, d, x),                         \
        launched = 1;
    TRID_P_BATCH_COMMON_SHAPES(TRID_P_BATCH_COMMON_OF)
#undef TRID_P_BATCH_COMMON_OF
    return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

/* A call's arguments, checked; a, b, c are null where the matrix is made in registers. */
template <class T>
static int trid_p_batch_refuse(const trid_lines &lines, int flags, int known, const T *a, const T *b, const T *c,
                               const T *d, const T *x, int made)
{
    if (flags & ~known) return TRID_BATCH_BAD_ARGUMENT;
    int status = trid_lines_check(lines);
    if (status) return status;
    if (trid_p_lines_empty(lines)) return TRID_BATCH_OK;
    if (lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
    if (!d || !x || (!made && (!a || !b || !c))) return TRID_BATCH_BAD_ARGUMENT;
    if (d != x && trid_lines_overlap(lines, d, x, sizeof(T))) return TRID_BATCH_OVERLAP;
    const T *matrix[3] = {a, b, c};
    for (int k = 0; k < 3 && !made; k++) {
        if (!(flags & TRID_BATCH_SHARED)) {
            if (trid_lines_overlap(lines, matrix[k], x, sizeof(T))) return TRID_BATCH_OVERLAP;
        } else { /* not element by element: the shared rows may not lie within x's reach */
            long long low = 0, high = 0, count[3] = {lines.n, lines.systems, lines.groups};
            long long pitch[3] = {lines.step, lines.stride, lines.jump};
            for (int i = 0; i < 3; i++) {
                if (pitch[i] < 0)
                    low += pitch[i] * (count[i] - 1);
                else
                    high += pitch[i] * (count[i] - 1);
            }
            size_t from = (size_t)(x + low), to = (size_t)(x + high + 1), at = (size_t)matrix[k];
            if (at < to && at + (size_t)lines.n * sizeof(T) > from) return TRID_BATCH_OVERLAP;
        }
    }
    return TRID_BATCH_OK;
}

/* The plan of a call, and what the report wants at its start. */
static inline int trid_p_batch_begin(trid_lines lines, int flags, const trid_batch_report *report, cudaStream_t stream,
                                     trid_p_batch_plan *plan)
{
    const trid_batch_report none = {0, 0, 0, 0};
    plan->lines = trid_p_lines_join(lines);
    plan->n = (int)lines.n;
    plan->width = plan->width_log2 = 0;
    plan->flags = flags;
    plan->magic = plan->per_group = plan->tiles = plan->repeat = 0;
    plan->staged = plan->repair = 0;
    plan->report = report ? *report : none;
    unsigned long long *failed = plan->report.failed;
    if (!failed) return TRID_BATCH_OK;
    return cudaMemsetAsync(failed, 0, sizeof *failed, stream) == cudaSuccess &&
                   cudaMemsetAsync(failed + 1, 0xff, sizeof *failed, stream) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

/* Are neighbours in memory rather elements of neighbouring systems than of one? */
static inline int trid_p_batch_side_by_side(const trid_p_batch_plan &plan)
{
    long long step = plan.lines.step, stride = plan.lines.stride;
    return plan.n > 1 && (stride < 0 ? -stride : stride) < (step < 0 ? -step : step);
}

template <int CHECKED, class T, class Rows>
static int trid_p_batch_launch(const trid_p_batch_plan &plan, const Rows &rows, const T *d, T *x, int shared,
                               cudaStream_t stream)
{
    return trid_p_batch_side_by_side(plan)
               ? trid_p_batch_launch_side_by_side<T, CHECKED>(plan, rows, d, x, stream)
               : trid_p_batch_launch_contiguous<T, CHECKED>(plan, rows, d, x, shared, stream);
}

template <int CHECKED, class T>
static int trid_p_batch_solve(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                              const trid_batch_report *report, cudaStream_t stream)
{
    const int known = TRID_BATCH_ADD | (CHECKED ? TRID_BATCH_SHARED | TRID_BATCH_REFINED : 0);
    int status = trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const T *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    if (plan.report.tolerance == 0) plan.report.tolerance = 128 * (sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);
    trid_p_batch_arrays<T> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    return trid_p_batch_launch<CHECKED>(plan, rows, d, x, flags & TRID_BATCH_SHARED, stream);
}

template <class T>
static int trid_p_batch_shared(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                               const trid_batch_report *report, cudaStream_t stream)
{
    int status = flags & ~TRID_BATCH_ADD
                     ? TRID_BATCH_BAD_ARGUMENT
                     : trid_p_batch_refuse(lines, flags | TRID_BATCH_SHARED, TRID_BATCH_ADD | TRID_BATCH_SHARED, a, b,
                                           c, d, (const T *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    trid_p_batch_common<T> rows = {a, b, c};
    return trid_p_batch_side_by_side(plan) ? trid_p_batch_launch_side_by_side<T, 0>(plan, rows, d, x, stream)
                                           : trid_p_batch_launch_common(plan, rows, d, x, stream);
}

/* n > 512 in single precision, 384 in double: four warps a system ... */
template <class T, int unused>
struct trid_p_batch_pivoted_long {
    static int launch(trid_p_batch_plan plan, int dense, trid_p_batch_arrays<T> rows, const T *d, T *x,
                      cudaStream_t stream)
    {
        dim3 grid;
        if (trid_p_batch_count(&plan, 1, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
        cudaError_t error = dense ? trid_launch(trid_p_batch_pivoted_block<T, 8, TRID_P_BATCH_DENSE>, grid, dim3(128),
                                                0, stream, plan, rows, d, x)
                                  : trid_launch(trid_p_batch_pivoted_block<T, 8, TRID_P_BATCH_PITCHED>, grid, dim3(128),
                                                0, stream, plan, rows, d, x);
        return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
    }
};
/* ... or up to 32 rows in each lane of one. */
template <int unused>
struct trid_p_batch_pivoted_long<float, unused> {
    static int launch(trid_p_batch_plan plan, int dense, trid_p_batch_arrays<float> rows, const float *d, float *x,
                      cudaStream_t stream)
    {
        dim3 grid;
        if (trid_p_batch_count(&plan, 1, dense ? TRID_P_BATCH_WARPS(float, 0) : 1, &grid) != cudaSuccess)
            return TRID_BATCH_BAD_SIZE;
        cudaError_t error = dense ? trid_launch(trid_p_batch_pivoted_warps<float, 32, TRID_P_BATCH_DENSE>, grid,
                                                dim3(32 * TRID_P_BATCH_WARPS(float, 0)), 0, stream, plan, rows, d, x)
                                  : trid_launch(trid_p_batch_pivoted_block<float, 8, TRID_P_BATCH_PITCHED>, grid,
                                                dim3(128), 0, stream, plan, rows, d, x);
        return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
    }
};

/* The K of the pivoted kernels; 16 and 12 rows are what registers hold. */
#define TRID_P_BATCH_PIVOTED_SHAPES(shape)                                                                             \
    shape(DENSE, 4) shape(DENSE, 8) shape(DENSE, TRID_P_BATCH_PIVOTED_MOST(T)) shape(PITCHED, 8)                       \
        shape(PITCHED, TRID_P_BATCH_PIVOTED_MOST(T))
#define TRID_P_BATCH_PIVOTED_MOST(T) (sizeof(T) == 4 ? 16 : 12)

template <class T>
static int trid_p_batch_pivoted(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                                const trid_batch_report *report, cudaStream_t stream)
{
    int repair = (flags & TRID_BATCH_REPAIR) != 0, known = TRID_BATCH_ADD | TRID_BATCH_REPAIR;
    if (repair && ((flags & TRID_BATCH_ADD) || !report || !report->status || d == x)) {
        if (!trid_p_lines_empty(lines)) return TRID_BATCH_BAD_ARGUMENT;
    }
    int status = trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const T *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    plan.repair = repair;
    trid_p_batch_arrays<T> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    const int most = TRID_P_BATCH_PIVOTED_MOST(T), usual = sizeof(T) == 4 ? 16 : 8;
    int W = 1, log2 = 0, n = plan.n, launched = 0;
    while (W < 32 && (n + W - 1) / W > usual) W *= 2, log2++;
    int K = (n + W - 1) / W, dense = plan.lines.step == 1 && (W == 32 || plan.lines.stride == n);
    int path = dense ? TRID_P_BATCH_DENSE : TRID_P_BATCH_PITCHED;
    plan.width = W;
    plan.width_log2 = log2;
    plan.magic = W == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    if (K > most) return trid_p_batch_pivoted_long<T, 0>::launch(plan, dense, rows, d, x, stream);
    dim3 grid;
    cudaError_t error = trid_p_batch_count(&plan, 32 / W, TRID_P_BATCH_WARPS(T, 0), &grid);
    if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
#define TRID_P_BATCH_PIVOTED_OF(PATH, size)                                                                            \
    if (path == TRID_P_BATCH_##PATH && !launched && K <= size)                                                         \
        error = trid_launch(trid_p_batch_pivoted_warps<T, size, TRID_P_BATCH_##PATH>, grid,                            \
                            dim3(32 * TRID_P_BATCH_WARPS(T, 0)), 0, stream, plan, rows, d, x),                         \
        launched = 1;
    TRID_P_BATCH_PIVOTED_SHAPES(TRID_P_BATCH_PIVOTED_OF)
#undef TRID_P_BATCH_PIVOTED_OF
    return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

template <int CHECKED, class T, class Rows>
static int trid_p_batch_solve_rows(trid_lines lines, int flags, const Rows &rows, const T *d, T *x,
                                   const trid_batch_report *report, cudaStream_t stream)
{
    const T *none = 0;
    int status = trid_p_batch_refuse(lines, flags, TRID_BATCH_ADD, none, none, none, d, (const T *)x, 1);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    return trid_p_batch_launch<CHECKED>(plan, rows, d, x, flags & TRID_BATCH_SHARED, stream);
}

/* Solves   every system of the arrays: x = A^-1 d, or x += A^-1 d
   Needs    a, b, c, d, x in device memory, laid out by lines. flags: TRID_BATCH_ADD. report may be null.
   Returns  a status of enum trid_batch_status
   Shared   contiguous: at most 17.4 KiB a block; side by side: 128 KiB a multiprocessor where it has them
   Cost     five arrays moved once (ADD: six); one launch, and two small memsets if report->failed is set
   Error    as trid_warp_hybrid */
template <int unused = 0>
static int trid_batch_solve_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                const float *d, float *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_solve<0>(lines, flags, a, b, c, d, x, report, stream);
}
template <int unused = 0>
static int trid_batch_solve_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                const double *d, double *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_solve<0>(lines, flags, a, b, c, d, x, report, stream);
}
/* Solves   as trid_batch_solve, with one matrix for all systems: a, b, c have n elements each, one after another
   Needs    as trid_batch_solve; flags: TRID_BATCH_ADD
   Cost     two arrays moved (ADD: three) */
template <int unused = 0>
static int trid_batch_shared_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                 const float *d, float *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_shared(lines, flags, a, b, c, d, x, report, stream);
}
template <int unused = 0>
static int trid_batch_shared_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                 const double *d, double *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_shared(lines, flags, a, b, c, d, x, report, stream);
}

/* Solves   as trid_batch_solve, for any nonsingular matrices, by elimination with pivoting (trid_warp_pivoted)
   Needs    as trid_batch_solve. flags: TRID_BATCH_ADD; or TRID_BATCH_REPAIR: only systems are solved whose
            report->status is not 0, as an earlier launch left it, d not being x, and those that share a warp with
            one of them. Their status is then that of this launch, and report->failed counts what is left.
   Cost     as trid_batch_solve in memory, where systems are contiguous; side by side each element is an access of its
            own
   Error    as trid_warp_pivoted */
template <int unused = 0>
static int trid_batch_pivoted_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                  const float *d, float *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_pivoted(lines, flags, a, b, c, d, x, report, stream);
}
template <int unused = 0>
static int trid_batch_pivoted_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                  const double *d, double *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_pivoted(lines, flags, a, b, c, d, x, report, stream);
}

/* Solves   as trid_batch_solve, and works out the residual of each system before x is stored, on chip; with the flag
            TRID_BATCH_REFINED after one step of iterative refinement in the same precision
   Needs    as trid_batch_solve; flags: TRID_BATCH_ADD, TRID_BATCH_REFINED, TRID_BATCH_SHARED
   Cost     as trid_batch_solve in memory; about 9 operations a row more, refined twice the arithmetic
   Error    the residual is that of x before ADD adds it; it is exact but for the roundings of its own evaluation, about
            3 unit roundoffs */
template <int unused = 0>
static int trid_batch_checked_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                  const float *d, float *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_solve<1>(lines, flags, a, b, c, d, x, report, stream);
}
template <int unused = 0>
static int trid_batch_checked_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                  const double *d, double *x, const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_solve<1>(lines, flags, a, b, c, d, x, report, stream);
}
/* Solves   as trid_batch_solve, the matrices being made in registers: rows(system, row, &a, &b, &c) gives a row of
            the system with this index. Rows is a type that can be copied to the device, with

                template <class T> __device__ void operator()(long long system, int row, T *a, T *b, T *c) const

            and may hold parameters and pointers. What it gives for a of row 0 and c of row n-1 is not used.
   Needs    flags: TRID_BATCH_ADD
   Cost     two arrays moved, and what rows costs */
template <class Rows>
static int trid_batch_solve_rows_f32(trid_lines lines, int flags, const Rows &rows, const float *d, float *x,
                                     const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_solve_rows<0>(lines, flags, rows, d, x, report, stream);
}
template <class Rows>
static int trid_batch_solve_rows_f64(trid_lines lines, int flags, const Rows &rows, const double *d, double *x,
                                     const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_solve_rows<0>(lines, flags, rows, d, x, report, stream);
}
}
#endif /* TRID_LAUNCHES */

/* ---- C linkage --------------------------------------------------------------------------------------------------- */

/* The launches for programs in C and for shared libraries; a stream is a cudaStream_t. Defined by the one file that
   defines TRID_BATCH_IMPLEMENTATION. */
#if TRID_HOST_SCOPE && (!TRID_LAUNCHES || defined TRID_BATCH_IMPLEMENTATION)
#ifdef SIMT_EMULATOR
#define TRID_P_BATCH_STREAM cudaStream_t
#else
struct CUstream_st;
#define TRID_P_BATCH_STREAM struct CUstream_st *
#endif
#ifdef __cplusplus
extern "C" {
#endif
int trid_batch_solve_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                         float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_solve_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                         const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_checked_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                           float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_checked_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                           const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_shared_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                          float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_shared_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                          const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_pivoted_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                           float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_pivoted_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                           const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
#if TRID_LAUNCHES
int trid_batch_solve_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                         float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_solve_f32<0>(lines, flags, a, b, c, d, x, report, stream);
}
int trid_batch_solve_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                         const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_solve_f64<0>(lines, flags, a, b, c, d, x, report, stream);
}
int trid_batch_checked_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                           float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_checked_f32<0>(lines, flags, a, b, c, d, x, report, stream);
}
int trid_batch_checked_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                           const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_checked_f64<0>(lines, flags, a, b, c, d, x, report, stream);
}
int trid_batch_shared_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                          float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_shared_f32<0>(lines, flags, a, b, c, d, x, report, stream);
}
int trid_batch_shared_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                          const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_shared_f64<0>(lines, flags, a, b, c, d, x, report, stream);
}
int trid_batch_pivoted_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                           float *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_pivoted_f32<0>(lines, flags, a, b, c, d, x, report, stream);
}
int trid_batch_pivoted_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                           const double *d, double *x, const trid_batch_report *report, TRID_P_BATCH_STREAM stream)
{
    return trid_batch_pivoted_f64<0>(lines, flags, a, b, c, d, x, report, stream);
}
#endif
#ifdef __cplusplus
}
#endif
#endif

#ifndef __CUDACC_RTC__
#pragma pop_macro("AHEAD")
#pragma pop_macro("BYTES")
#pragma pop_macro("GROUPS")
#pragma pop_macro("PIECES")
#pragma pop_macro("V")
#pragma pop_macro("WIDTH")
#pragma pop_macro("B")
#pragma pop_macro("F")
#pragma pop_macro("G")
#pragma pop_macro("T")
#pragma pop_macro("K")
#pragma pop_macro("L")
#pragma pop_macro("R")
#pragma pop_macro("S")
#pragma pop_macro("U")
#pragma pop_macro("W")
#pragma pop_macro("CHECKED")
#pragma pop_macro("DENSE")
#pragma pop_macro("EXACT")
#pragma pop_macro("LEN")
#pragma pop_macro("LITERAL")
#pragma pop_macro("OWN")
#pragma pop_macro("PART")
#pragma pop_macro("PATH")
#pragma pop_macro("PITCHED")
#pragma pop_macro("WARPS")
#endif

#endif /* TRID_BATCH_H */
