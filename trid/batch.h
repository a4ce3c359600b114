/* trid/batch.h - whole arrays of tridiagonal systems in device memory, at the speed of memory.

   MIT licence, see LICENSE. Copy trid.h, transpose.h and the folder trid.

   What a program does instead of calling cuSPARSE (examples/replace_cusparse.cu):

       int status = trid_batch_solve_f32(trid_lines_contiguous(n, systems), 0, a, b, c, d, x, NULL, NULL, 0);
       if (status) return puts(trid_batch_status_string(status)), 1;

   A system is a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j = 0 .. n-1; a[0] and c[n-1] are not used, and not read
   but where they lie between elements that are (of systems one after another), so that there need be no memory where
   the first and the last of them would lie; only with TRID_BATCH_PERIODIC they are. Every array of a call lies alike,
   as a trid_lines says; n is 1 to 2^30.

     where systems lie (C11, C++, CUDA)
       trid_lines_contiguous, trid_lines_interleaved, trid_lines_axis
       trid_lines_check         do two elements of an array coincide, or do the sizes overflow?
       trid_lines_overlap       do two arrays that lie so share an element?
       trid_batch_scratch       bytes of device memory that a launch on such systems may need: 0 up to 1024 rows
       trid_batch_status_string
     launches, each _f32 and _f64 (CUDA, and C by a file with TRID_BATCH_IMPLEMENTATION)
       trid_batch_solve         x = A^-1 d, or x += A^-1 d; status of each system where wanted
       trid_batch_shared        the same with one matrix for all systems
       trid_batch_pivoted       the same for any nonsingular matrices, or for those alone that failed before
       trid_batch_checked       the same, with the residual of each system, and refined where wanted
       trid_batch_several       several right-hand sides a matrix, which is read once; periodic systems; from factors
       trid_batch_factor        the LU factors of each matrix, for trid_batch_several
     launches for sections of lines that cross GPUs and machines, each _f32 and _f64 (the same)
       trid_batch_reduce_ends   a section of each line to two rows, in buffers ready to send; one pass
       trid_batch_expand_ends   the sections, their first and last unknowns being known; one trid_batch_solve
       trid_batch_factor_ends   weights for a matrix that stays, and whether only neighbours matter
       trid_batch_weigh_ends    with these: two numbers a line, from one pass over d or less
     launches for C++ alone
       trid_batch_solve_rows    the matrix made in registers by the caller's function object
       trid_batch_reduce_ends_rows, trid_batch_expand_ends_rows    the same for sections

   k right-hand sides with one matrix move 3 + 2k numbers a row by trid_batch_several, and 5k by k calls of
   trid_batch_solve. Factors do not make that less, being as many numbers as the matrix: they save the divisions and the
   check of pivots, which memory hides, and the same factors solve the transposed system (the adjoint of a solver).

   Which kernel serves which size is said at TRID_P_BATCH_SHAPES below; docs/batch.md has the measurements.
   A launch that is called is compiled for all lengths and layouts; with TRID_BATCH_ONLY_SHORT and its like as template
   argument for some alone, in a third to two thirds of the time.

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

#include "../transpose.h"
#include "../trid.h"
#include "pivoted.h"
#include "lu.h"
#include "slabs.h"
#include "launch.h"

#ifndef __CUDACC_RTC__ /* which does not know the pragma; a user's macros must not reach parameters */
#pragma push_macro("AHEAD")
#undef AHEAD
#pragma push_macro("A")
#undef A
#pragma push_macro("P")
#undef P
#pragma push_macro("BYTES")
#undef BYTES
#pragma push_macro("FACTOR")
#undef FACTOR
#pragma push_macro("ARRAYS")
#undef ARRAYS
#pragma push_macro("PIVOTED")
#undef PIVOTED
#pragma push_macro("STAGED")
#undef STAGED
#pragma push_macro("WORDS")
#undef WORDS
#pragma push_macro("MOST")
#undef MOST
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
#pragma push_macro("M")
#undef M
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
#pragma push_macro("CLUSTER")
#undef CLUSTER
#pragma push_macro("DENSE")
#undef DENSE
#pragma push_macro("EXACT")
#undef EXACT
#pragma push_macro("H")
#undef H
#pragma push_macro("HALF")
#undef HALF
#pragma push_macro("LEN")
#undef LEN
#pragma push_macro("LITERAL")
#undef LITERAL
#pragma push_macro("OPEN")
#undef OPEN
#pragma push_macro("ONLY")
#undef ONLY
#pragma push_macro("LEAST")
#undef LEAST
#pragma push_macro("RESIDENT")
#undef RESIDENT
#pragma push_macro("FIXED")
#undef FIXED
#pragma push_macro("ONE")
#undef ONE
#pragma push_macro("OWN")
#undef OWN
#pragma push_macro("PART")
#undef PART
#pragma push_macro("PATH")
#undef PATH
#pragma push_macro("PITCHED")
#undef PITCHED
#pragma push_macro("REFINED")
#undef REFINED
#pragma push_macro("WARP")
#undef WARP
#pragma push_macro("LINES")
#undef LINES
#pragma push_macro("WIDE")
#undef WIDE
#pragma push_macro("BESIDE")
#undef BESIDE
#pragma push_macro("SIDES")
#undef SIDES
#pragma push_macro("ALL")
#undef ALL
#pragma push_macro("COMMON")
#undef COMMON
#pragma push_macro("ENDS")
#undef ENDS
#pragma push_macro("WARPS")
#undef WARPS
#endif

#define TRID_BATCH_VERSION 202 /* 100 * major + minor */

#define TRID_BATCH_API TB_HOST

#ifdef __CUDA_ARCH__ /* a loop that must not be unrolled: its body is long */
#define TRID_P_BATCH_LOOP _Pragma("unroll 1")
#else
#define TRID_P_BATCH_LOOP
#endif

/* ---- where systems lie ------------------------------------------------------------------------------------------- */

/* Where tridiagonal systems lie: element j of system s of group g at [j*step + s*stride + g*jump] of each array. There
   are groups*systems of them, and g*systems + s is a system's index. groups left 0 is one group; a batch of no systems
   has systems 0. step, stride and jump may be negative; no two elements may coincide. cpu_avx_lines of cpu_avx.h has
   the same fields. */
typedef struct {
    long long n, step, systems, stride, groups, jump;
} trid_lines;

/* What a launch returns. */
enum trid_batch_status {
    TRID_BATCH_OK = 0,
    TRID_BATCH_BAD_ARGUMENT = -1, /* a null pointer, or scratch that is off alignment */
    TRID_BATCH_BAD_SIZE = -2,     /* a negative size, n over 2^30, elements beyond 2^56, or 2^31 tiles or chunks */
    TRID_BATCH_OVERLAP = -3,      /* two elements of x coincide, or one of x with one of another array */
    TRID_BATCH_SHORT = -4,        /* a section of fewer than two rows, which has no two ends */
    TRID_BATCH_BAD_FLAGS = -5,    /* a flag that this launch does not take, or not so: the text says which take it */
    TRID_BATCH_LAUNCH_FAILED = -8 /* refused by the CUDA runtime */
};

enum { TRID_BATCH_MAX_N = 1 << 30 };

/* flags */
enum {
    TRID_BATCH_ADD = 1,         /* x += A^-1 d */
    TRID_BATCH_SHARED = 2,      /* trid_batch_checked, _several: one matrix for all systems, as in trid_batch_shared */
    TRID_BATCH_REFINED = 4,     /* trid_batch_checked: one step of iterative refinement, for the residual, not for x */
    TRID_BATCH_REPAIR = 8,      /* trid_batch_pivoted: only systems that an earlier launch failed at */
    TRID_BATCH_TRANSPOSED = 16, /* the transposed systems: c[j-1] x[j-1] + b[j] x[j] + a[j+1] x[j+1] = d[j] */
    TRID_BATCH_PERIODIC = 32,   /* trid_batch_factor, _several: a[0] couples row 0 to x[n-1], c[n-1] row n-1 to x[0] */
    TRID_BATCH_FACTORED = 64,   /* trid_batch_several: b and c are r and u of trid_batch_factor */
    TRID_BATCH_FIRST = TRID_PARTITION_FIRST, /* sections: these begin their lines, a of row 0 is not used */
    TRID_BATCH_LAST = TRID_PARTITION_LAST    /* these end their lines, c of row n-1 is not used */
};

/* What a launch is asked to compile, in C++: trid_batch_solve_f32<TRID_BATCH_ONLY_SHORT>(...), one or several with |.
   It is as if there were no other kernels. Without those for its layout a system is solved all the same, slowly, where
   n <= 1024; longer ones, and without those for long systems what may need scratch, are a bad size. With pivoting
   contiguous kernels also stand in for those side by side, and are compiled in any case. */
enum {
    TRID_BATCH_ONLY_CONTIGUOUS = 1, /* kernels for systems whose step is not the larger pitch */
    TRID_BATCH_ONLY_SIDE_BY_SIDE = 2,
    TRID_BATCH_ONLY_SHORT = 4 /* none for systems so long that they may need scratch: more than 1024 rows */
};

/* What becomes known on the device; any pointer may be null. All are arrays in device memory.
     status     of each system: 0; 1 + the first row that met a bad pivot (from trid_batch_pivoted 1: an unknown had no
                pivot; x is then unspecified); n + 1 (from trid_batch_checked): no such pivot, but the residual is above
                tolerance or no number
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

#if TB_HOST_SCOPE
/* Solves   what a launch's status says */
TRID_BATCH_API const char *trid_batch_status_string(int status)
{
    switch (status) {
    case TRID_BATCH_OK:
        return "launched";
    case TRID_BATCH_BAD_ARGUMENT:
        return "bad argument: a null pointer, or scratch that is null or off alignment";
    case TRID_BATCH_BAD_SIZE:
        return "bad size: negative, n over 2^30, beyond 2^56 elements, or 2^31 tiles or chunks";
    case TRID_BATCH_OVERLAP:
        return "elements of x coincide with each other or with another array's";
    case TRID_BATCH_SHORT:
        return "a section of fewer than two rows";
    case TRID_BATCH_BAD_FLAGS:
        return "bad flags: REFINED is for checked, REPAIR for pivoted (with a status, without ADD, x not being d), "
               "FACTORED for several, PERIODIC for several and factor, SHARED for checked, several and sections";
    case TRID_BATCH_LAUNCH_FAILED:
        return "the CUDA runtime refused the launch";
    default:
        return "unknown status";
    }
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
    /* y: groups 0 would be one group */
    trid_lines x = {nx, 1, ny * nz, nx, 1, 0}, y = {ny, nx, nz ? nx : 0, 1, nz, nx * ny};
    trid_lines z = {nz, nx * ny, nx * ny, 1, 1, 0}, none = {-1, 0, 0, 0, 0, 0};
    return axis == 0 ? x : axis == 1 ? y : axis == 2 ? z : none;
}

/* A caller's lines, with one group where groups was left 0. What counts systems or groups begins with this. */
TRID_BATCH_API trid_lines trid_p_lines_of(trid_lines lines)
{
    if (lines.groups == 0) lines.groups = 1;
    return lines;
}

TRID_BATCH_API int trid_p_lines_empty(trid_lines lines)
{
    return lines.n == 0 || lines.systems == 0;
}

/* Sizes that can be calculated with: products of counts, and offsets, stay below 2^56, and scratch below 2^62 bytes. */
TRID_BATCH_API int trid_p_lines_valid(trid_lines lines)
{
    const long long most = 1ll << 56;
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
    lines = trid_p_lines_of(lines);
    if (!trid_p_lines_valid(lines)) return TRID_BATCH_BAD_SIZE;
    if (trid_p_lines_empty(lines)) return TRID_BATCH_OK;
    return trid_p_lines_difference(lines, 0) ? TRID_BATCH_OVERLAP : TRID_BATCH_OK;
}

/* Solves   does an element of an array that lies so at p share memory with one at q? bytes is the size of an element.
   Needs    valid lines
   Cost     as trid_lines_check; nothing where the arrays lie apart */
TRID_BATCH_API int trid_lines_overlap(trid_lines lines, const void *p, const void *q, int bytes)
{
    lines = trid_p_lines_of(lines);
    if (trid_p_lines_empty(lines)) return 0;
    size_t from = (size_t)p, to = (size_t)q;
    long long apart = from < to ? (long long)(to - from) : (long long)(from - to);
    long long at = apart / bytes, part = apart % bytes;
    if (at == 0) return 1; /* the same elements, or parts of them */
    return trid_p_lines_difference(lines, at) || (part && trid_p_lines_difference(lines, at + 1));
}

/* The same systems in as few groups as possible; of one system the next would follow it. */
TRID_BATCH_API trid_lines trid_p_lines_join(trid_lines lines)
{
    if (lines.systems == 1) {
        lines.systems = lines.groups;
        lines.stride = lines.groups == 1 ? lines.n * lines.step : lines.jump;
        lines.groups = 1;
    } else if (lines.groups > 1 && lines.jump == lines.systems * lines.stride) {
        lines.systems *= lines.groups;
        lines.groups = 1;
    }
    return lines;
}

/* Are neighbours in memory rather elements of neighbouring systems than of one? lines in as few groups as possible. */
TRID_BATCH_API int trid_p_lines_side_by_side(trid_lines lines)
{
    long long step = lines.step, stride = lines.stride;
    return lines.n > 1 && lines.systems > 1 && (stride < 0 ? -stride : stride) < (step < 0 ? -step : step);
}

/* ---- how much memory long systems need --------------------------------------------------------------------------- */

/* Rows of a system that are solved on chip, elements having so many bytes: by a block, or by sections side by side. */
#ifndef TRID_P_BATCH_ON_CHIP
#define TRID_P_BATCH_ON_CHIP(bytes, checked) ((checked) ? 8192 / (bytes) : 16384 / (bytes))
#define TRID_P_BATCH_ON_CHIP_LINES 1024
#define TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, dense) ((dense) ? 16384 / (bytes) : 1024)
#endif

/* The same for several right-hand sides and factors. */
#ifndef TRID_P_BATCH_ON_CHIP_LU
#define TRID_P_BATCH_ON_CHIP_LU 1024
#endif

/* Rows a lane, of chunks of longer ones, which are a warp's; and of chunks of systems side by side, which are held by
   so many sections. */
#ifndef TRID_P_BATCH_CHUNK_ROWS
#define TRID_P_BATCH_CHUNK_ROWS(bytes, checked) 16
#define TRID_P_BATCH_CHUNK_ROWS_PIVOTED(bytes) (128 / (bytes))
#define TRID_P_BATCH_CHUNK_ROWS_LINES(bytes) 16
#define TRID_P_BATCH_CHUNK_SECTIONS 8
#define TRID_P_BATCH_CHUNK_LINES(bytes) (128 / (bytes))
#endif
#define TRID_P_BATCH_CHUNK(bytes, checked, side_by_side)                                                               \
    ((side_by_side) ? TRID_P_BATCH_CHUNK_SECTIONS * TRID_P_BATCH_CHUNK_ROWS_LINES(bytes)                               \
                    : 32 * TRID_P_BATCH_CHUNK_ROWS(bytes, checked))

/* Scratch of one level, as offsets in bytes. What is of each system: largest, of the residual, two numbers of 8 bytes;
   worst, two rows; below, the status of what is left of it. Then a, b, c, d of what is left, and of refinement the
   first x. */
typedef struct {
    long long chunks, largest, worst, below, left, before, end;
} trid_p_batch_room;
TRID_BATCH_API trid_p_batch_room trid_p_batch_room_of(long long n, long long systems, int rows, int bytes, int refined)
{
    trid_p_batch_room room;
    room.chunks = (n + rows - 1) / rows;
    room.largest = 0;
    room.worst = room.largest + 16 * systems;
    room.below = room.worst + 8 * systems;
    room.left = (room.below + 4 * systems + 15) / 16 * 16;
    room.before = room.left + 8 * room.chunks * systems * bytes;
    room.end = (room.before + (refined ? n * systems * bytes : 0) + 15) / 16 * 16;
    return room;
}

/* The same for pivoting: the faces of the chunks, then of 32 of them, of 32 of these, .., and behind them, in the same
   order, the four unknowns around each. */
typedef struct {
    int levels;
    long long count[8], face[8], outer[8], worst, end; /* of groups in a system */
} trid_p_batch_pivoted_room;
TRID_BATCH_API trid_p_batch_pivoted_room trid_p_batch_pivoted_room_of(long long n, long long systems, int bytes)
{
    const long long rows = 32 * TRID_P_BATCH_CHUNK_ROWS_PIVOTED(bytes);
    trid_p_batch_pivoted_room room;
    long long at = 0;
    room.levels = 0;
    for (long long count = (n + rows - 1) / rows;; count = (count + 31) / 32) {
        room.count[room.levels] = count;
        room.face[room.levels] = at;
        room.outer[room.levels] = at + 9 * count * systems * bytes;
        at += 13 * count * systems * bytes;
        room.levels++;
        if (count <= 32) break;
    }
    room.worst = (at + 15) / 16 * 16;
    room.end = room.worst + 8 * systems;
    return room;
}

/* For long periodic systems: the solution for the last column, with ADD what is to be added; and of each system its
   last unknown and the status of the rows before. The levels' scratch follows. */
typedef struct {
    long long column, added, known, status, end;
} trid_p_batch_ring_room;
TRID_BATCH_API trid_p_batch_ring_room trid_p_batch_ring_room_of(long long n, long long systems, int bytes, int add)
{
    trid_p_batch_ring_room room;
    room.column = 0;
    room.added = n * systems * bytes;
    room.known = room.added + (add ? n * systems * bytes : 0);
    room.status = room.known + systems * bytes;
    room.end = (room.status + 4 * systems + 15) / 16 * 16;
    return room;
}

/* Bytes of all levels of systems of n rows of which on_chip need none. */
TRID_BATCH_API long long trid_p_batch_levels_end(long long n, long long systems, int bytes, int side_by_side,
                                                 int checked, int refined, long long on_chip)
{
    long long total = 0;
    while (n > on_chip) {
        trid_p_batch_room room = trid_p_batch_room_of(n, systems, TRID_P_BATCH_CHUNK(bytes, checked, side_by_side),
                                                      bytes, checked && refined);
        total += room.end;
        n = 2 * room.chunks;
        checked = 0; /* what is left is solved plainly */
        on_chip = side_by_side ? TRID_P_BATCH_ON_CHIP_LINES : TRID_P_BATCH_ON_CHIP(bytes, 0);
    }
    return total;
}

/* Solves   bytes of scratch that any launch may need on systems that lie so, with these flags, elements having `bytes`
            bytes. Scratch is device memory of the caller, aligned to 16 bytes, that no array of the call shares; what
            it holds before does not matter, and after the launch is done it may be used again.
   Returns  0 where n <= 1024: scratch may be null then, and side by side up to 8192 rows where all but
            trid_batch_checked have clusters of blocks; TRID_BATCH_BAD_SIZE for lines that launches refuse so
   Cost     about 28 bytes a system, and 0.03 of an array (side by side 0.07); with TRID_BATCH_REFINED one array
            more, with TRID_BATCH_PERIODIC too, and with TRID_BATCH_ADD on top of that another */
TRID_BATCH_API long long trid_batch_scratch(trid_lines lines, int flags, int bytes)
{
    lines = trid_p_lines_of(lines);
    if (!trid_p_lines_valid(lines) || lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
    if (trid_p_lines_empty(lines)) return 0;
    trid_lines joined = trid_p_lines_join(lines);
    const int side_by_side = trid_p_lines_side_by_side(joined), refined = (flags & TRID_BATCH_REFINED) != 0;
    long long systems = lines.systems * lines.groups, most = 0, several;
    if (lines.n > TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, lines.step == 1))
        most = trid_p_batch_pivoted_room_of(lines.n, systems, bytes).end;
    for (int checked = 0; checked < 2; checked++) {
        long long on_chip = side_by_side ? TRID_P_BATCH_ON_CHIP_LINES : TRID_P_BATCH_ON_CHIP(bytes, checked);
        long long all = trid_p_batch_levels_end(lines.n, systems, bytes, side_by_side, checked, refined, on_chip);
        if (all > most) most = all;
    }
    several = trid_p_batch_levels_end(lines.n, systems, bytes, side_by_side, 0, 0, TRID_P_BATCH_ON_CHIP_LU);
    if ((flags & TRID_BATCH_PERIODIC) && lines.n > TRID_P_BATCH_ON_CHIP_LU)
        several += trid_p_batch_ring_room_of(lines.n, systems, bytes, flags & TRID_BATCH_ADD).end;
    return several > most ? several : most;
}

#endif /* TB_HOST_SCOPE */

#if TB_LAUNCHES
extern "C++" {
/* A member function of a device structure. */
#ifdef __CUDACC__
#define TRID_P_BATCH_MEMBER __device__ __forceinline__
#else
#define TRID_P_BATCH_MEMBER inline
#endif

/* ---- in registers ------------------------------------------------------------------------------------------------ */

enum { TRID_P_BATCH_NO_ROW = 0x7fffffff }; /* no bad pivot */

/* Sends four numbers to another block. */
template <class T>
TB_D void trid_p_batch_send(T *to, int rank, unsigned long long *box, const T *v)
{
    trid_cluster_send(to, rank, box, v);
    if (sizeof(T) == 8) trid_cluster_send(to + 2, rank, box, v + 2);
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
    void *scratch;      /* the caller's, for long systems */
    trid_batch_report report;
};

/* Does the caller want to know what becomes known of a system? */
TB_HD int trid_p_batch_reports(const trid_p_batch_plan &plan)
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
TB_D int trid_p_batch_again_as(int n)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(n));
#endif
    return n;
}

TB_D long long trid_p_batch_again_as(long long n)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+l"(n));
#endif
    return n;
}

TB_D trid_p_batch_tile trid_p_batch_tile_of(const trid_p_batch_plan &plan, unsigned index, int width)
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

/* Where the ends of sections lie, two numbers a line: lines are dealt out in shares, and f's of line s, counted in its
   share of m lines, is at 2*(lines in the shares before) + s, z's m further. */
struct trid_p_batch_shares {
    long long share, lines;
    TRID_P_BATCH_MEMBER long long of(long long line, long long *pitch) const
    {
        const long long before = share < lines ? line / share * share : 0, left = lines - before;
        *pitch = left < share ? left : share;
        return before + line;
    }
};

/* Rows of sections whose first and last unknowns are known. Kernels ask for the rows by trid_p_batch_rows_of, for what
   is known by trid_p_batch_ask_ends, as soon as possible, and with that overwrite the two rows; of other rows none of
   this leaves code (but if the former returned references: registers and instructions would change). */
template <class T, class Rows>
struct trid_p_batch_known {
    Rows rows;
    const T *ends;
    trid_p_batch_shares shares;
};
template <class Rows>
TB_HD Rows trid_p_batch_rows_of(const Rows &rows)
{
    return rows;
}
template <class T, class Rows>
TB_HD Rows trid_p_batch_rows_of(const trid_p_batch_known<T, Rows> &known)
{
    return known.rows;
}
/* Row j of the thread says what x[j] is. */
template <class T>
TB_D void trid_p_batch_know(int j, T x, T *a, T *b, T *c, T *d)
{
    a[j] = c[j] = 0;
    b[j] = 1;
    d[j] = x;
}
/* The thread has up to K rows of the system from `first` on, `held` until its end. */
template <class T, class Rows>
TB_D void trid_p_batch_ask_ends(int, const Rows &, long long, int, int, T *)
{
}
template <class T, class Rows>
TB_D void trid_p_batch_ask_ends(int K, const trid_p_batch_known<T, Rows> &known, long long system, int first, int held,
                                T *end)
{
    long long pitch;
    end[0] = end[1] = 0;
    if (held <= 0 || (first > 0 && held > K)) return;
    const T *of = known.ends + known.shares.of(system, &pitch);
    if (first == 0) end[0] = of[0];
    if (held <= K) end[1] = of[pitch];
}
/* Selections and no branches, of which the compiler makes an index into the arrays, and these would be local memory. */
template <class T, class Rows>
TB_D void trid_p_batch_put_end_rows(int, const Rows &, int, int, T *, T *, T *)
{
}
template <class T, class Rows>
TB_D void trid_p_batch_put_end_rows(int K, const trid_p_batch_known<T, Rows> &, int first, int held, T *a, T *b, T *c)
{
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        const int known = (j == 0 && first == 0) || j == held - 1;
        a[j] = known ? (T)0 : a[j];
        b[j] = known ? (T)1 : b[j];
        c[j] = known ? (T)0 : c[j];
    }
}
template <class T, class Rows>
TB_D void trid_p_batch_put_end_values(int, const Rows &, int, int, const T *, T *)
{
}
template <class T, class Rows>
TB_D void trid_p_batch_put_end_values(int K, const trid_p_batch_known<T, Rows> &, int first, int held, const T *end,
                                      T *d)
{
    d[0] = first == 0 ? end[0] : d[0];
    TB_UNROLL
    for (int j = 0; j < K; j++) d[j] = j == held - 1 ? end[1] : d[j];
}
template <class T, class Rows>
TB_D void trid_p_batch_put_ends(int K, const Rows &rows, int first, int held, const T *end, T *a, T *b, T *c, T *d)
{
    trid_p_batch_put_end_rows(K, rows, first, held, a, b, c);
    trid_p_batch_put_end_values(K, rows, first, held, end, d);
}

/* Asynchronous copies into shared memory, of 4, 8 or 16 bytes; before compute capability 8.0 there are none, and
   nothing is staged. AHEAD: bytes of the piece of memory around it that the copy has brought into the second-level
   cache, 0, 128 or 256: where a block's rows are narrower, its neighbours find theirs there. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
#define TRID_P_BATCH_STAGES 1
#else
#define TRID_P_BATCH_STAGES 0
#endif
/* Versions of the code, 10 * major + minor, of which all devices have clusters and 227 KiB of shared memory a block, so
   much that every tile can be staged. In such code kernels that only others launch are left empty. */
#define TRID_P_BATCH_ROOM (227 * 1024)
#ifndef TRID_P_BATCH_ROOMY
#if defined __CUDACC__ && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1201
#define TRID_P_BATCH_ROOMY(version) 0
#else
#define TRID_P_BATCH_ROOMY(version) ((version) >= 90 && (version) < 120)
#endif
#endif
#ifdef __CUDA_ARCH__
#define TRID_P_BATCH_VERSION (__CUDA_ARCH__ / 10)
#elif defined SIMT_EMULATOR
#define TRID_P_BATCH_VERSION simt_version()
#else
#define TRID_P_BATCH_VERSION 0
#endif
/* Of those that stage nothing one is left, which serves every n; of those that do, those in whose place are
   clusters. */
#define TRID_P_BATCH_EMPTY(S, STAGED, BY_CLUSTERS)                                                                     \
    (TRID_P_BATCH_ROOMY(TRID_P_BATCH_VERSION) && ((STAGED) ? (BY_CLUSTERS) : (S) < 64))
#define TRID_P_BATCH_COPY(how, ahead)                                                                                  \
    asm volatile("cp.async." how ".shared.global" ahead                                                                \
                 " [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),                                     \
                 "l"(from), "n"(BYTES)                                                                                 \
                 : "memory")
template <int BYTES, int AHEAD, class T>
TB_D void trid_p_batch_copy(T *to, const T *from)
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

/* ---- contiguous systems: lanes of a warp ------------------------------------------------------------------------- */

/* A warp's 32/W systems, one after another without what may lie between them, are f = 0 .. count*n-1. Access r of lane
   l is f = 32 r + l, so that every access but the last is full and coalesced whatever n is; in shared memory it goes
   where transpose_to_striped puts slot e of the 32 K that the lanes have, element t of system s being slot s*K*W + t:
   so the lanes read their rows without bank conflicts and with literal offsets, and the stores conflict only where an
   access straddles two systems. */
TB_D int trid_p_batch_slot(int K, int B, int e)
{
    const int power = K & -K, period = K / power * (power > B ? power : B);
    return e + e / period;
}

/* How the contiguous kernels find their systems: EXACT: n = K*W, one after another; DENSE: any n, one after another, or
   one system a warp; PITCHED: any step and stride, also 0 for rows that all systems share. */
enum { TRID_P_BATCH_EXACT, TRID_P_BATCH_DENSE, TRID_P_BATCH_PITCHED };

/* Where the lane's rows begin. */
TB_D int trid_p_batch_column(int K, int B)
{
    return transpose_column_slot(B, K, trid_warp_lane());
}

/* Elements first (0 or 1) .. total - 1; what the others are is anything, and nobody uses it. Of a row 0 is not read
   (ends < 0) and of c row n-1 (ends > 0): where systems lie one after another these are the first and last elements of
   all that the warp has, and those between lie among elements that are read. */
template <int PATH, class T>
TB_D void trid_p_batch_fetch(int K, const trid_p_batch_plan &plan, int first, int total, int ends, const T *src,
                             long long step, long long stride, T *u)
{
    int lane = trid_warp_lane(), left = PATH == TRID_P_BATCH_EXACT ? total - lane : trid_p_batch_again_as(total - lane);
    TB_UNROLL
    for (int r = 0; r < K; r++) {
        int f = 32 * r + lane, here = 32 * r < left;
        if (PATH == TRID_P_BATCH_EXACT) here = r < K - 1 || total == 32 * K || 32 * r < left;
        if (r == 0 && first) here = here && lane >= first;
#ifndef __CUDA_ARCH__
        u[r] = 0;
#endif
        if (PATH != TRID_P_BATCH_PITCHED) {
            if (here) u[r] = src[f];
        } else {
            int s = (int)((unsigned)f * plan.magic >> 20), row = f - s * plan.n;
            if (ends < 0) here = here && row > 0;
            if (ends > 0) here = here && row < plan.n - 1;
            if (here) u[r] = src[s * stride + row * step];
        }
    }
}

/* Where this lane's accesses lie in shared memory; those beyond total in the lane's own word behind the LEN that are
   read. LITERAL: where slots follow one another, which EXACT and a warp with one system do, no array is needed. */
template <int LITERAL>
TB_D void trid_p_batch_slots(int K, int B, int LEN, const trid_p_batch_plan &plan, int total, int *slot)
{
    int lane = trid_warp_lane(), gap = (K << plan.width_log2) - plan.n;
    TB_UNROLL
    for (int r = 0; r < (LITERAL ? 0 : K); r++) {
        int f = 32 * r + lane;
        slot[r] = trid_p_batch_slot(K, B, f + (int)((unsigned)f * plan.magic >> 20) * gap);
        if (f >= total) slot[r] = LEN + lane;
    }
}
template <int LITERAL>
TB_D int trid_p_batch_slot_of(int K, int B, int r, const int *slot)
{
    return LITERAL ? transpose_row_slot(B, K, r, trid_warp_lane()) : slot[r];
}

/* From the order of the accesses to rows: lane's row j in u[j], fill from row `rows` on. */
template <int PATH, int LITERAL, class T>
TB_D void trid_p_batch_turn(int K, int rows, T fill, const int *slot, T *u, T *shared)
{
    const int B = sizeof(T) == 4 ? 32 : 16;
    int column = trid_p_batch_column(K, B);
    if (PATH != TRID_P_BATCH_EXACT) rows = trid_p_batch_again_as(rows);
    __syncwarp(TB_FULL_WARP); /* whatever was there has been read */
    TB_UNROLL
    for (int r = 0; r < K; r++) shared[trid_p_batch_slot_of<LITERAL>(K, B, r, slot)] = u[r];
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < K; j++) u[j] = j < rows ? shared[column + j] : fill;
}

/* x, from rows to memory; leaves u clobbered. */
template <int PATH, int LITERAL, class T>
TB_D void trid_p_batch_store(int K, const trid_p_batch_plan &plan, int total, int rows, const int *slot, T *u, T *dst,
                             T *shared)
{
    const int B = sizeof(T) == 4 ? 32 : 16;
    int column = trid_p_batch_column(K, B), lane = trid_warp_lane(), add = plan.flags & TRID_BATCH_ADD;
    long long step = plan.lines.step, stride = plan.lines.stride;
    if (PATH != TRID_P_BATCH_EXACT) rows = trid_p_batch_again_as(rows), total = trid_p_batch_again_as(total);
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < K; j++)
        if (j < rows) shared[column + j] = u[j];
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int r = 0; r < K; r++) u[r] = shared[trid_p_batch_slot_of<LITERAL>(K, B, r, slot)];
    if (PATH != TRID_P_BATCH_PITCHED) {
        if (add) {
            TB_UNROLL
            for (int r = 0; r < K; r++)
                if (32 * r + lane < total) u[r] += dst[32 * r + lane];
        }
        TB_UNROLL
        for (int r = 0; r < K; r++)
            if (32 * r + lane < total) dst[32 * r + lane] = u[r];
    } else {
        TB_UNROLL
        for (int r = 0; r < K; r++) {
            int f = 32 * r + lane, s = (int)((unsigned)f * plan.magic >> 20);
            T *to = dst + (s * stride + (f - s * plan.n) * step);
            if (f < total) *to = add ? *to + u[r] : u[r];
        }
    }
}

/* The lane's rows, from arrays through shared memory, where they stay if the arrays' places are apart ... */
template <int PATH, class T>
TB_D void trid_p_batch_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int total, int, int,
                              const trid_p_batch_arrays<T> &from, T *a, T *b, T *c)
{
    long long at = tile.group * from.jump + tile.first * from.stride;
    trid_p_batch_fetch<PATH>(K, plan, 1, total, -1, from.a + at, from.step, from.stride, a);
    trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, from.b + at, from.step, from.stride, b);
    trid_p_batch_fetch<PATH>(K, plan, 0, total - 1, 1, from.c + at, from.step, from.stride, c);
}
/* The rows beyond the system become identity rows, and its last row is coupled to none of them. */
template <int PATH, int LITERAL, class T>
TB_D void trid_p_batch_turned(int K, const trid_p_batch_arrays<T> &, int rows, const int *slot, T *a, T *b, T *c,
                              T *shared, int apart)
{
    trid_p_batch_turn<PATH, LITERAL>(K, rows, (T)0, slot, a, shared);
    trid_p_batch_turn<PATH, LITERAL>(K, rows, (T)1, slot, b, shared + apart);
    trid_p_batch_turn<PATH, LITERAL>(K, PATH == TRID_P_BATCH_EXACT ? rows : rows - 1, (T)0, slot, c,
                                     shared + 2 * apart);
}
/* ... or made where they are wanted: Rows is a type with operator()(system, row, a, b, c). */
template <int PATH, class T, class Rows>
TB_D void trid_p_batch_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int, int rank,
                              int rows, const Rows &make, T *a, T *b, T *c)
{
    long long system = tile.group * plan.lines.systems + tile.first + (trid_warp_lane() >> plan.width_log2);
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = c[j] = 0;
        b[j] = 1;
        if (j < rows) make(system, K * rank + j, &a[j], &b[j], &c[j]);
        if (PATH != TRID_P_BATCH_EXACT && j >= rows - 1) c[j] = 0;
    }
}
template <int PATH, int LITERAL, class T, class Rows>
TB_D void trid_p_batch_turned(int, const Rows &, int, const int *, T *, T *, T *, T *, int)
{
}

/* What the device learnt of one system, told by one thread of it; checked: error and size are the largest of its
   rows. */
template <class T>
TB_D void trid_p_batch_tell(const trid_p_batch_plan &plan, long long system, int bad, int checked, T error, T size)
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
TB_D T trid_p_batch_larger(T x, T y)
{
    return x != x || x > y ? x : y;
}

/* r = d - A x in rows 0 .. held - 1 of those that the thread has, the system's row `first` being row 0, left and right
   x around them; and the largest |r| and |A||x| + |d|, if they are larger than *error and *size. */
template <class T>
TB_D void trid_p_batch_defect(int K, int first, int n, int held, const T *a, const T *b, const T *c, const T *d,
                              const T *x, T left, T right, T *r, T *error, T *size)
{
    TB_UNROLL
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
TB_D int trid_p_batch_row(int status, int n)
{
    return status <= 0 ? TRID_P_BATCH_NO_ROW : status < n ? status : n;
}

/* The lane's matrix once more, from where trid_p_batch_turned left it, LEN elements an array, or made again. */
template <class T>
TB_D void trid_p_batch_again(int K, int LEN, const trid_p_batch_arrays<T> &, long long, int, int rows, const T *shared,
                             T *a, T *b, T *c)
{
    int column = trid_p_batch_column(K, sizeof(T) == 4 ? 32 : 16);
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = j < rows ? shared[column + j] : (T)0;
        b[j] = j < rows ? shared[LEN + column + j] : (T)0;
        c[j] = j < rows ? shared[2 * LEN + column + j] : (T)0;
    }
}
template <class T, class Rows>
TB_D void trid_p_batch_again(int K, int, const Rows &make, long long system, int first, int rows, const T *, T *a, T *b,
                             T *c)
{
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = b[j] = c[j] = 0;
        if (j < rows) make(system, first + j, &a[j], &b[j], &c[j]);
    }
}

/* Warps a block: fewer where registers are many, so that they fill a multiprocessor better, and with CHECKED no more
   rows are kept than the 48 KiB of shared memory that a block has without asking. */
#define TRID_P_BATCH_WARPS(T, CHECKED) (sizeof(T) == 8 ? 2 : 4)

/* Blocks a multiprocessor that the compiler shall make room for: as many as do without local memory. */
#define TRID_P_BATCH_RESIDENT(T, K, PATH)                                                                              \
    (sizeof(T) == 4 ? TRID_P_BATCH_RESIDENT_F32(K, PATH) : TRID_P_BATCH_RESIDENT_F64(K, PATH))
#define TRID_P_BATCH_RESIDENT_F32(K, PATH)                                                                             \
    ((K) > 28                         ? 3                                                                              \
     : (K) > 16                       ? 4                                                                              \
     : (K) <= 8                       ? ((PATH) == TRID_P_BATCH_PITCHED ? 5 : 8)                                       \
     : (PATH) == TRID_P_BATCH_EXACT   ? 6                                                                              \
     : (PATH) == TRID_P_BATCH_PITCHED ? 4                                                                              \
     : (K) <= 14                      ? 6                                                                              \
                                      : 5)
#define TRID_P_BATCH_RESIDENT_F64(K, PATH)                                                                             \
    ((K) <= 8 ? ((PATH) == TRID_P_BATCH_PITCHED ? 8 : 10) : (PATH) == TRID_P_BATCH_PITCHED ? 4 : (K) <= 12 ? 8 : 6)

/* n <= K*W, W = 1 .. 32 lanes a system. */
template <class T, int K, int PATH, class Rows>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 0), TRID_P_BATCH_RESIDENT(T, K, PATH))
    trid_p_batch_warps(trid_p_batch_plan plan, Rows rows, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, 0), LITERAL = PATH == TRID_P_BATCH_EXACT || K > 16;
    __shared__ T buffer[WARPS][LEN + 32];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, W = plan.width, n = plan.n;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x * WARPS + (unsigned)warp, 32 >> plan.width_log2);
    if (tile.count == 0) return;
    int own = lane >> plan.width_log2, rank = lane & (W - 1), mine = own < tile.count ? n : 0;
    int total = tile.count * n, held = mine - K * rank; /* rows from held on are none of the system's */
    if (PATH == TRID_P_BATCH_EXACT) total = 32 * K, held = K, mine = n = K * W;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    long long system = tile.group * plan.lines.systems + tile.first + own;
    T ra[K], rb[K], rc[K], rd[K], end[2], *shared = buffer[warp];
    int slot[K];
    trid_p_batch_ask_ends(K, rows, system, K * rank, mine - K * rank, end);
    trid_p_batch_matrix<PATH>(K, plan, tile, total, rank, held, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_turned<PATH, LITERAL>(K, trid_p_batch_rows_of(rows), held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slot, rd, shared);
    trid_p_batch_put_ends(K, rows, K * rank, mine - K * rank, end, ra, rb, rc, rd);
    int bad = trid_warp_hybrid(K, W, K * W, ra, rb, rc, rd);
    if (PATH != TRID_P_BATCH_EXACT) {
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
    trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < W; m *= 2) {
            int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
            bad = other < bad ? other : bad;
        }
        if (rank == 0 && mine) trid_p_batch_tell(plan, system, bad, 0, (T)0, (T)0);
    }
}

/* ---- contiguous systems, with their residuals -------------------------------------------------------------------- */

/* The largest |r| and |A||x| + |d| of some rows, by the upper 32 bits of a number without its sign: in their order as
   integers NaN is above all, and one instruction takes the larger. In double precision 20 bits of the fraction are
   left, as many as the residual, a float, can show. */
struct trid_p_batch_worst {
    unsigned error, size;
};
TB_D unsigned trid_p_batch_bits(float x)
{
    return __float_as_uint(x) & 0x7fffffffu;
}
TB_D unsigned trid_p_batch_bits(double x)
{
    return (unsigned)(__double_as_longlong(x) >> 32) & 0x7fffffffu;
}
TB_D float trid_p_batch_number(unsigned bits, float)
{
    return __uint_as_float(bits);
}
TB_D double trid_p_batch_number(unsigned bits, double)
{
    return __longlong_as_double((long long)bits << 32);
}
TB_D unsigned trid_p_batch_most(unsigned x, unsigned y)
{
    return x > y ? x : y;
}

/* What is left of one row, up and down being x around it. */
template <class T>
TB_D T trid_p_batch_rest(T a, T b, T c, T d, T x, T up, T down, trid_p_batch_worst *worst)
{
    T au = a * up, bx = b * x, cd = c * down;
    T rest = d - bx - au - cd, all = fabs(d) + fabs(bx) + fabs(au) + fabs(cd);
    worst->error = trid_p_batch_most(worst->error, trid_p_batch_bits(rest));
    worst->size = trid_p_batch_most(worst->size, trid_p_batch_bits(all));
    return rest;
}

/* 16 bytes. */
template <class T>
struct alignas(16) trid_p_batch_word {
    T v[16 / sizeof(T)];
};

/* Where the four arrays of a warp lie until its residuals are known. EXACT: pieces of 16 bytes, one of padding to
   eight, so that lanes read theirs without conflicts; else as trid_p_batch_slot has it, LEN elements and a word a
   lane. */
template <class T, int K, int PATH>
struct trid_p_batch_kept {
    enum {
        B = sizeof(T) == 4 ? 32 : 16,
        V = 16 / sizeof(T),
        LEN = PATH == TRID_P_BATCH_EXACT ? 36 * K / V
              : sizeof(T) == 4           ? TRANSPOSE_LEN_F32(K)
                                         : TRANSPOSE_LEN_F64(K),
        OWN = PATH == TRID_P_BATCH_EXACT ? 36 * K : LEN + 32
    };
};

/* Asks for an array of the warp's systems; ends as trid_p_batch_fetch has it. A lane looks at its first a
   nevertheless. */
template <class T, int K, int PATH>
TB_D void trid_p_batch_keep(const trid_p_batch_plan &plan, int total, int ends, const T *src, long long step,
                            long long stride, const int *slot, T *kept)
{
    enum { V = 16 / sizeof(T) };
    int lane = trid_warp_lane();
    if (PATH == TRID_P_BATCH_EXACT) {
        TB_UNROLL
        for (int r = 0; r < K / V; r++) {
            T *to = &kept[(36 * r + lane + lane / 8) * V];
            const T *from = &src[(32 * r + lane) * V];
            int end = ends < 0 ? r == 0 && lane == 0 : ends > 0 ? r == K / V - 1 && lane == 31 : 0;
            if (!end) trid_p_batch_copy<16, 0>(to, from);
            if (end) to[ends < 0 ? 0 : V - 1] = 0;
            TB_UNROLL
            for (int i = 1; i < V; i++)
                if (end) trid_p_batch_copy<sizeof(T), 0>(&to[ends < 0 ? i : i - 1], &from[ends < 0 ? i : i - 1]);
        }
    } else {
        TB_UNROLL
        for (int r = 0; r < K; r++) {
            int f = 32 * r + lane, s = (int)((unsigned)f * plan.magic >> 20), row = f - s * plan.n, here = f < total;
            const T *from = PATH == TRID_P_BATCH_DENSE ? src + f : src + (s * stride + row * step);
            if (PATH == TRID_P_BATCH_DENSE) row = f;
            if (ends < 0 && here && row == 0) kept[slot[r]] = 0, here = 0;
            if (ends > 0) here = here && (PATH == TRID_P_BATCH_DENSE ? f < total - 1 : row < plan.n - 1);
            if (here) trid_p_batch_copy<sizeof(T), 0>(&kept[slot[r]], from);
        }
    }
}

/* The lane's rows g .. g + V-1 of an array, fill from row `rows` on. */
template <class T, int PATH>
TB_D trid_p_batch_word<T> trid_p_batch_look(const T *own, int g, int rows, T fill)
{
    enum { V = 16 / sizeof(T) };
    trid_p_batch_word<T> word;
    if (PATH == TRID_P_BATCH_EXACT) {
        word = *(const trid_p_batch_word<T> *)(own + g);
    } else {
        TB_UNROLL
        for (int j = 0; j < V; j++) word.v[j] = g + j < rows ? own[g + j] : fill;
    }
    return word;
}

/* The lane's rows of the matrix: identity rows beyond the system, no coupling beyond its ends. */
template <class T, int K, int PATH>
TB_D void trid_p_batch_matrix_kept(const T *own, int rows, int rank, int W, T *a, T *b, T *c)
{
    enum { V = 16 / sizeof(T), OWN = trid_p_batch_kept<T, K, PATH>::OWN };
    TB_UNROLL
    for (int g = 0; g < K; g += V) {
        trid_p_batch_word<T> wa = trid_p_batch_look<T, PATH>(own, g, rows, (T)0);
        trid_p_batch_word<T> wb = trid_p_batch_look<T, PATH>(own + OWN, g, rows, (T)1);
        trid_p_batch_word<T> wc = trid_p_batch_look<T, PATH>(own + 2 * OWN, g, rows - 1, (T)0);
        TB_UNROLL
        for (int j = 0; j < V && g + j < K; j++) a[g + j] = wa.v[j], b[g + j] = wb.v[j], c[g + j] = wc.v[j];
    }
    if (rank == 0) a[0] = 0;
    if (PATH == TRID_P_BATCH_EXACT && rank == W - 1) c[K - 1] = 0;
}

/* The residual of the lane's rows, read again one after another; in rest if it is not null. */
template <class T, int K, int PATH>
TB_D trid_p_batch_worst trid_p_batch_left(const T *own, int rows, int rank, int W, const T *x, T *rest)
{
    enum { V = 16 / sizeof(T), OWN = trid_p_batch_kept<T, K, PATH>::OWN };
    trid_p_batch_worst worst = {0, 0};
    T left = __shfl_up_sync(TB_FULL_WARP, x[K - 1], 1, W), right = __shfl_down_sync(TB_FULL_WARP, x[0], 1, W);
    TB_UNROLL
    for (int g = 0; g < K; g += V) {
        trid_p_batch_word<T> a = trid_p_batch_look<T, PATH>(own, g, rows, (T)0);
        trid_p_batch_word<T> b = trid_p_batch_look<T, PATH>(own + OWN, g, rows, (T)0);
        trid_p_batch_word<T> c = trid_p_batch_look<T, PATH>(own + 2 * OWN, g, rows - 1, (T)0);
        trid_p_batch_word<T> d = trid_p_batch_look<T, PATH>(own + 3 * OWN, g, rows, (T)0);
        if (g == 0 && rank == 0) a.v[0] = 0;
        if (PATH == TRID_P_BATCH_EXACT && g + V == K && rank == W - 1) c.v[V - 1] = 0;
        TB_UNROLL
        for (int j = 0; j < V && g + j < K; j++) {
            T up = g + j > 0 ? x[g + j - 1] : left, down = g + j < K - 1 ? x[g + j + 1] : right;
            /* What the ends do not couple to is not the system's: 0 times another's NaN would be one here. */
            if (g + j == 0 && rank == 0) up = 0;
            if (PATH == TRID_P_BATCH_EXACT ? g + j == K - 1 && rank == W - 1 : g + j >= rows - 1) down = 0;
            T r = trid_p_batch_rest(a.v[j], b.v[j], c.v[j], d.v[j], x[g + j], up, down, &worst);
            if (rest) rest[g + j] = r;
        }
    }
    return worst;
}

/* Blocks a multiprocessor: as many as registers (a refined solve holds x as well) and shared memory allow. */
#define TRID_P_BATCH_CHECKED_RESIDENT(T, K, PATH, REFINED)                                                             \
    (sizeof(T) == 8                 ? ((K) <= 8    ? 6                                                                 \
                                       : (REFINED) ? 4                                                                 \
                                                   : 6)                                                                \
     : (K) <= 8                     ? 6                                                                                \
     : (PATH) == TRID_P_BATCH_EXACT ? ((REFINED) ? 5 : 6)                                                              \
                                    : 4)

/* As trid_p_batch_warps, for arrays, with the residual of each system. All four arrays wait in shared memory, where
   they stay until it is known: so no register holds what is on its way. */
template <class T, int K, int PATH, int REFINED>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 1), TRID_P_BATCH_CHECKED_RESIDENT(T, K, PATH, REFINED))
    trid_p_batch_checked_warps(trid_p_batch_plan plan, trid_p_batch_arrays<T> from, const T *d, T *x)
{
    typedef trid_p_batch_kept<T, K, PATH> kept;
    enum { WARPS = TRID_P_BATCH_WARPS(T, 1), B = kept::B, V = kept::V };
    __shared__ trid_p_batch_word<T> buffer[WARPS][4 * kept::OWN / V];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, W = plan.width, n = plan.n;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x * WARPS + (unsigned)warp, 32 >> plan.width_log2);
    if (tile.count == 0) return;
    int rank = lane & (W - 1), total = tile.count * n, slot[K];
    int held = ((lane >> plan.width_log2) < tile.count ? n : 0) - K * rank;
    if (PATH == TRID_P_BATCH_EXACT) total = 32 * K, held = K;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    long long row = tile.group * from.jump + tile.first * from.stride;
    T *shared = buffer[warp][0].v;
    if (PATH != TRID_P_BATCH_EXACT) {
        shared[kept::LEN + lane] = 0; /* what accesses beyond the systems read when x is stored */
        trid_p_batch_slots<0>(K, B, kept::LEN, plan, total, slot);
    }
    trid_p_batch_keep<T, K, PATH>(plan, total, -1, from.a + row, from.step, from.stride, slot, shared);
    trid_p_batch_keep<T, K, PATH>(plan, total, 0, from.b + row, from.step, from.stride, slot, shared + kept::OWN);
    trid_p_batch_keep<T, K, PATH>(plan, total, 1, from.c + row, from.step, from.stride, slot, shared + 2 * kept::OWN);
    trid_p_batch_keep<T, K, PATH>(plan, total, 0, d + at, plan.lines.step, plan.lines.stride, slot,
                                  shared + 3 * kept::OWN);
    trid_copy_commit();
    const int column =
        PATH == TRID_P_BATCH_EXACT ? K * lane + K * lane / (8 * V) * V : trid_p_batch_slot(K, B, K * lane);
    const T *own = shared + column;
    T ra[K], rb[K], rc[K], rx[K];
    TRID_COPY_AWAIT(0);
    __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
    trid_p_batch_matrix_kept<T, K, PATH>(own, held, rank, W, ra, rb, rc);
    TB_UNROLL
    for (int g = 0; g < K; g += V) {
        trid_p_batch_word<T> word = trid_p_batch_look<T, PATH>(own + 3 * kept::OWN, g, held, (T)0);
        TB_UNROLL
        for (int j = 0; j < V && g + j < K; j++) rx[g + j] = word.v[j];
    }
    int bad = trid_p_batch_row(trid_warp_hybrid(K, W, K * W, ra, rb, rc, rx), n);
    __syncwarp(TB_FULL_WARP); /* so that the compiler reads the rows again instead of keeping them */
    if (REFINED && plan.flags & TRID_BATCH_REFINED) {
        T rest[K];
        trid_p_batch_left<T, K, PATH>(own, held, rank, W, rx, rest);
        __syncwarp(TB_FULL_WARP);
        trid_p_batch_matrix_kept<T, K, PATH>(own, held, rank, W, ra, rb, rc);
        trid_warp_hybrid(K, W, K * W, ra, rb, rc, rest);
        __syncwarp(TB_FULL_WARP);
        TB_UNROLL
        for (int j = 0; j < K; j++) rx[j] += rest[j];
    }
    trid_p_batch_worst worst = trid_p_batch_left<T, K, PATH>(own, held, rank, W, rx, (T *)0);
    if (PATH == TRID_P_BATCH_EXACT) { /* x takes the place of a */
        TB_UNROLL
        for (int g = 0; g < K; g += V) {
            trid_p_batch_word<T> word;
            TB_UNROLL
            for (int j = 0; j < V; j++) word.v[j] = rx[g + j];
            *(trid_p_batch_word<T> *)(shared + column + g) = word;
        }
        __syncwarp(TB_FULL_WARP);
        TB_UNROLL
        for (int r = 0; r < K / V; r++) {
            trid_p_batch_word<T> *to = (trid_p_batch_word<T> *)(x + at) + (32 * r + lane);
            trid_p_batch_word<T> word = buffer[warp][36 * r + lane + lane / 8];
            if (plan.flags & TRID_BATCH_ADD) {
                trid_p_batch_word<T> before = *to;
                TB_UNROLL
                for (int j = 0; j < V; j++) word.v[j] += before.v[j];
            }
            *to = word;
        }
    } else {
        trid_p_batch_slots<0>(K, B, kept::LEN, plan, trid_p_batch_again_as(total), slot);
        trid_p_batch_store<PATH, 0>(K, plan, total, held, slot, rx, x + at, shared);
    }
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < W; m *= 2) {
            int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
            bad = other < bad ? other : bad;
            worst.error = trid_p_batch_most(worst.error, __shfl_xor_sync(TB_FULL_WARP, worst.error, m));
            worst.size = trid_p_batch_most(worst.size, __shfl_xor_sync(TB_FULL_WARP, worst.size, m));
        }
        long long system = tile.group * plan.lines.systems + tile.first + (lane >> plan.width_log2);
        if (rank == 0 && held > 0)
            trid_p_batch_tell(plan, system, bad, 1, trid_p_batch_number(worst.error, (T)0),
                              trid_p_batch_number(worst.size, (T)0));
    }
}

/* One matrix for all systems, n elements each of a, b, c. As a function object it reads them from memory: neighbouring
   systems read the same element at once. */
template <class T>
struct trid_p_batch_common {
    const T *a, *b, *c;
    int n;
    TRID_P_BATCH_MEMBER void operator()(long long, int row, T *ra, T *rb, T *rc) const
    {
        *ra = row > 0 ? a[row] : (T)0;
        *rb = b[row];
        *rc = row < n - 1 ? c[row] : (T)0;
    }
};

/* The same matrix for all of a warp's systems, tile after tile: it is brought into shared memory once a block, identity
   rows and all, and read from there for each tile. n <= K*W. */
template <class T, int K, int PATH>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 0), TRID_P_BATCH_RESIDENT(T, K, PATH))
    trid_p_batch_common_warps(trid_p_batch_plan plan, trid_p_batch_common<T> from, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, 0), LITERAL = PATH == TRID_P_BATCH_EXACT || K > 16;
    __shared__ T buffer[WARPS][LEN + 32], matrix[3][LEN];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, W = plan.width, n = plan.n;
    int own = lane >> plan.width_log2, rank = lane & (W - 1), column = trid_p_batch_slot(K, B, K * rank);
    for (int j = (int)threadIdx.x; j < K * W; j += 32 * WARPS) {
        int slot = trid_p_batch_slot(K, B, j);
        matrix[0][slot] = j > 0 && j < n ? from.a[j] : (T)0;
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
        trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
        trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slots);
        TB_UNROLL
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
                int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
                bad = other < bad ? other : bad;
            }
            long long system = tile.group * plan.lines.systems + tile.first + own;
            if (rank == 0 && mine) trid_p_batch_tell(plan, system, bad, 0, (T)0, (T)0);
        }
    }
}

/* The pair's: warp's rows 32 K warp .. 32 K warp + total - 1. */
template <int PATH, class T>
TB_D void trid_p_batch_pair_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int total,
                                   int warp, int, const trid_p_batch_arrays<T> &from, T *a, T *b, T *c)
{
    long long at = tile.group * from.jump + tile.first * from.stride + 32 * K * warp * from.step;
    int ends = 32 * K * warp + total == plan.n; /* has this warp the last row? */
    trid_p_batch_fetch<PATH>(K, plan, warp == 0, total, 0, from.a + at, from.step, from.stride, a);
    trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, from.b + at, from.step, from.stride, b);
    trid_p_batch_fetch<PATH>(K, plan, 0, total - ends, 0, from.c + at, from.step, from.stride, c);
}
template <int PATH, class T, class Rows>
TB_D void trid_p_batch_pair_matrix(int K, const trid_p_batch_plan &plan, const trid_p_batch_tile &tile, int, int warp,
                                   int rows, const Rows &make, T *a, T *b, T *c)
{
    long long system = tile.group * plan.lines.systems + tile.first;
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        a[j] = c[j] = 0;
        b[j] = 1;
        if (j < rows) make(system, K * (32 * warp + trid_warp_lane()) + j, &a[j], &b[j], &c[j]);
        if (PATH != TRID_P_BATCH_EXACT && j >= rows - 1) c[j] = 0;
    }
}

/* Blocks a multiprocessor, as TRID_P_BATCH_RESIDENT; 0: as many as there are without asking. */
#ifndef TRID_P_BATCH_BLOCK_RESIDENT
#define TRID_P_BATCH_BLOCK_RESIDENT(T, WARPS, PATH, CHECKED)                                                           \
    ((CHECKED) || (WARPS) == 2 || (PATH) == TRID_P_BATCH_PITCHED || sizeof(T) == 4 ? 0 : 3)
#endif

/* n <= 32 K warps: a block a system, of up to WARPS warps. */
template <class T, int K, int WARPS, int PATH, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(32 * WARPS, TRID_P_BATCH_BLOCK_RESIDENT(T, WARPS, PATH, CHECKED))
    trid_p_batch_block(trid_p_batch_plan plan, Rows rows, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int OWN = CHECKED ? LEN + 32 : 0, LITERAL = 1;
    __shared__ T buffer[WARPS][(CHECKED ? 4 : 1) * (LEN + 32)], between[TRID_BLOCK_HYBRID_LEN], border[2 * WARPS];
    __shared__ int worst[WARPS];
    int warp = (int)threadIdx.x / 32, n = plan.n, first = K * (int)threadIdx.x;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x, 1);
    int total = n - 32 * K * warp, held = n - first;
    if (total > 32 * K) total = 32 * K;
    if (PATH == TRID_P_BATCH_EXACT) total = 32 * K, held = K, n = 32 * K * WARPS;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + 32 * K * warp * plan.lines.step;
    long long system = tile.group * plan.lines.systems + tile.first;
    T ra[K], rb[K], rc[K], rd[K], *shared = buffer[warp], error = 0, size = 0;
    T end[2];
    int slot[K];
    trid_p_batch_ask_ends(K, rows, system, first, n - first, end);
    trid_p_batch_pair_matrix<PATH>(K, plan, tile, total, warp, held, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_turned<PATH, LITERAL>(K, trid_p_batch_rows_of(rows), held, slot, ra, rb, rc, shared, OWN);
    trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slot, rd, shared + 3 * OWN);
    trid_p_batch_put_ends(K, rows, first, n - first, end, ra, rb, rc, rd);
    int bad = trid_p_batch_row(trid_block_hybrid(K, K * trid_block_threads(), ra, rb, rc, rd, between), n);
    if (CHECKED) {
        const T *kept = shared + 3 * OWN + trid_p_batch_column(K, B);
        T kd[K], rest[K];
        TRID_P_BATCH_LOOP
        for (int refine = (plan.flags & TRID_BATCH_REFINED) != 0; refine >= 0; refine--) {
            int lane = (int)threadIdx.x & 31;
            if (lane == 0) border[warp] = rd[0];
            if (lane == 31) border[WARPS + warp] = rd[K - 1];
            __syncthreads();
            T left = __shfl_up_sync(TB_FULL_WARP, rd[K - 1], 1), right = __shfl_down_sync(TB_FULL_WARP, rd[0], 1);
            if (lane == 0) left = border[WARPS + (warp > 0 ? warp - 1 : 0)];
            if (lane == 31) right = border[32 * (warp + 1) < (int)blockDim.x ? warp + 1 : warp];
            trid_p_batch_again(K, OWN, trid_p_batch_rows_of(rows), system, first, held, shared, ra, rb, rc);
            TB_UNROLL
            for (int j = 0; j < K; j++) kd[j] = j < held ? kept[j] : (T)0;
            error = size = 0;
            trid_p_batch_defect(K, first, n, held, ra, rb, rc, kd, rd, left, right, rest, &error, &size);
            if (!refine) break;
            trid_block_hybrid(K, n, ra, rb, rc, rest, between); /* its barrier also lets border be filled again */
            TB_UNROLL
            for (int j = 0; j < K; j++) rd[j] += rest[j];
        }
        __syncthreads(); /* border will be used for something else */
    }
    trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < 32; m *= 2) {
            int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
            bad = other < bad ? other : bad;
            if (CHECKED) {
                error = trid_p_batch_larger(error, (T)__shfl_xor_sync(TB_FULL_WARP, error, m));
                size = trid_p_batch_larger(size, (T)__shfl_xor_sync(TB_FULL_WARP, size, m));
            }
        }
        if (threadIdx.x % 32 == 0) {
            worst[warp] = bad;
            border[warp] = error;
            border[WARPS + warp] = size;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < WARPS && 32 * w < (int)blockDim.x; w++) {
                bad = worst[w] < bad ? worst[w] : bad;
                error = trid_p_batch_larger(error, border[w]);
                size = trid_p_batch_larger(size, border[WARPS + w]);
            }
            trid_p_batch_tell(plan, system, bad, CHECKED, error, size);
        }
    }
}

/* ---- with pivoting ----------------------------------------------------------------------------------------------- */

/* With repair only systems whose status is not 0 are solved, and those that share a warp with them. */
TB_D int trid_p_batch_wanted(const trid_p_batch_plan &plan, long long system, int mine)
{
    return !plan.repair || __any_sync(TB_FULL_WARP, mine && plan.report.status[system] != 0);
}

/* Blocks a multiprocessor: what is eliminated is a chain of dependent operations, which only other warps fill, and a
   few registers in local memory cost less than a warp. */
#ifndef TRID_P_BATCH_PIVOTED_RESIDENT
#define TRID_P_BATCH_PIVOTED_RESIDENT(T, K)                                                                            \
    (sizeof(T) == 4 ? ((K) <= 8 ? 7 : (K) <= 12 ? 6 : (K) <= 16 ? 5 : 3) : (K) <= 8 ? 8 : 6)
#endif

/* n <= K*W in a warp, as trid_p_batch_warps; a warp's own systems alone decide what it does. */
template <class T, int K, int PATH>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 0), TRID_P_BATCH_PIVOTED_RESIDENT(T, K))
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
    trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_turned<PATH, LITERAL>(K, rows, held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slot, rd, shared);
    int bad = trid_p_batch_row(trid_warp_pivoted(K, W, K * W, ra, rb, rc, rd), n);
    lane = trid_p_batch_again_as(lane);
    warp = trid_p_batch_again_as((int)threadIdx.x) / 32;
    tile = trid_p_batch_tile_of(plan, blockIdx.x * WARPS + (unsigned)warp, 32 >> plan.width_log2);
    own = lane >> plan.width_log2, rank = lane & (W - 1), mine = own < tile.count ? n : 0;
    total = tile.count * n, held = mine - K * rank;
    at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    system = tile.group * plan.lines.systems + tile.first + own;
    shared = buffer[warp];
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < W; m *= 2) {
            int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
            bad = other < bad ? other : bad;
        }
        if (rank == 0 && mine) trid_p_batch_tell(plan, system, bad, 0, (T)0, (T)0);
    }
}

/* n <= 32 K warps: a block a system, of up to WARPS warps. */
template <class T, int K, int WARPS, int PATH>
TRID_KERNEL void __launch_bounds__(32 * WARPS, TRID_P_BATCH_PIVOTED_RESIDENT(T, K) * TRID_P_BATCH_WARPS(T, 0) / WARPS)
    trid_p_batch_pivoted_block(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, const T *d, T *x)
{
    const int LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    __shared__ T buffer[WARPS][LEN + 32], between[TRID_BLOCK_PIVOTED_LEN];
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
    trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_turned<PATH, 1>(K, rows, held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_turn<PATH, 1>(K, held, (T)0, slot, rd, shared);
    if (threadIdx.x == 0) worst = TRID_P_BATCH_NO_ROW; /* before the barrier inside */
    int bad = trid_p_batch_row(trid_block_pivoted(K, K * trid_block_threads(), ra, rb, rc, rd, between), n);
    warp = trid_p_batch_again_as((int)threadIdx.x) / 32, first = K * trid_p_batch_again_as((int)threadIdx.x);
    tile = trid_p_batch_tile_of(plan, blockIdx.x, 1);
    total = n - 32 * K * warp, held = n - first;
    total = total < 0 ? 0 : total < 32 * K ? total : 32 * K;
    at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + 32 * K * warp * plan.lines.step;
    system = tile.group * plan.lines.systems + tile.first;
    trid_p_batch_store<PATH, 1>(K, plan, total, held, slot, rd, x + at, shared);
    if (trid_p_batch_reports(plan)) {
        if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst, bad);
        __syncthreads();
        if (threadIdx.x == 0) trid_p_batch_tell(plan, system, worst, 0, (T)0, (T)0);
    }
}

/* ---- systems side by side: sections of lines --------------------------------------------------------------------- */

/* The thread's rows from .. held - 1, from being 0 or 1; the others are 0. */
template <class T>
TB_D void trid_p_batch_gather(int K, int from, int held, const T *src, long long step, T *u)
{
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        u[j] = j < held && (j > 0 || j >= from) ? *src : (T)0;
        src += step;
    }
}
/* Solves the systems of the block: thread t has rows K*(t / L) .. K*(t / L) + K-1 of system t % L, those from held on
   identity rows. As trid_block_interleaved, with up to 64 sections (two reduced rows a lane then), and a status that
   knows its system: *bad is the least of the rows of this thread, and worst[system] that of reduced rows. x in r; *left
   is the unknown above. OPEN: the rows are S <= 32 sections of a longer system. Nothing is solved: the thread's last
   row couples then to the unknown above the first section (a) and to the last of the last section (c; in that section
   to the unknown below it). */
template <class T, int K, int L, int S, int OPEN = 0>
TB_D void trid_p_batch_sweep(int n, int held, T *a, T *b, T *c, T *r, T *shared, int *worst, int *bad, T *left)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S), G = S < 32 ? S : 32, R = S / G };
    int thread = (int)threadIdx.x, section = thread / L;
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (j >= held) b[j] = 1;
        if (j >= held - 1) c[j] = 0;
    }
    if (!OPEN && section == 0) a[0] = 0;
    int status = trid_lane_reduce(K, a, b, c, r);
    *bad = trid_p_batch_row(status ? K * section + status : 0, n);
    T last = r[K - 1];
    *left = 0;
    if (S > 1) {
        T *up = shared, *down = shared + 3 * PART;
        int slot = TRID_INTERLEAVED_SLOT(L, S, U, thread);
        up[slot] = a[0];
        up[PART + slot] = c[0];
        up[2 * PART + slot] = r[0];
        down[slot] = a[K - 1];
        down[PART + slot] = c[K - 1];
        down[2 * PART + slot] = r[K - 1];
        __syncthreads();
        if (S == G || thread < L * G) { /* whole warps: G lanes take system thread / G, R sections each */
            int rank = thread % G, system = thread / G, failed = 0;
            T row_a[R], row_c[R], row_d[R];
            TB_UNROLL
            for (int p = 0; p < R; p++) {
                int own = system + L * (R * rank + p), next = R * rank + p + 1 < S;
                int here = TRID_INTERLEAVED_SLOT(L, S, U, own),
                    below = TRID_INTERLEAVED_SLOT(L, S, U, next ? own + L : own);
                row_a[p] = down[here];
                row_c[p] = down[PART + here];
                row_d[p] = down[2 * PART + here];
                T link_a = next ? up[below] : (T)0, link_c = next ? up[PART + below] : (T)(OPEN ? -1 : 0);
                T link_d = next ? up[2 * PART + below] : (T)0;
                int said = trid_lane_link(&row_a[p], &row_c[p], &row_d[p], link_a, link_c, link_d);
                int at = said & 1 ? R * rank + p + 1 : said ? S : 0; /* S: it may have begun elsewhere */
                if (at && (!failed || at < failed)) failed = at;
            }
            int met;
            if (OPEN) {
                met = trid_warp_pcr_open(G, &row_a[0], &row_c[0], &row_d[0]);
                met = met & 1 ? rank + 1 : met ? S : 0;
                down[TRID_INTERLEAVED_SLOT(L, S, U, system + L * rank)] = row_a[0];
                down[PART + TRID_INTERLEAVED_SLOT(L, S, U, system + L * rank)] = row_c[0];
            } else {
                met =
                    R == 1 ? trid_warp_pcr1(G, row_a[0], row_c[0], &row_d[0]) : trid_warp_pcr2(G, row_a, row_c, row_d);
            }
            if (!failed) failed = met;
            if (worst && failed) atomicMin(&worst[system], trid_p_batch_row(K * failed, n));
            TB_UNROLL
            for (int p = 0; p < R; p++)
                down[2 * PART + TRID_INTERLEAVED_SLOT(L, S, U, system + L * (R * rank + p))] = row_d[p];
        }
        __syncthreads();
        if (OPEN) {
            a[K - 1] = down[slot];
            c[K - 1] = down[PART + slot];
            r[K - 1] = down[2 * PART + slot];
            return;
        }
        if (section > 0) *left = down[2 * PART + TRID_INTERLEAVED_SLOT(L, S, U, thread - L)];
        last = down[2 * PART + slot];
    }
    trid_lane_expand(K, a, c, r, *left, last);
}

/* What the blocks of a cluster send each other, by turns to two places, of which the third use comes after the first is
   over: WORDS numbers of each system from each part. */
#define TRID_P_BATCH_MAIL(words, L, parts) ((words) * (L) * (parts))
template <class T>
struct trid_p_batch_post {
    T *mail; /* two places */
    unsigned long long *box;
    int part, parts, turn;
};
template <class T>
TB_D unsigned long long *trid_p_batch_box(const trid_p_batch_post<T> &post)
{
    return &post.box[post.turn & 1];
}
template <int WORDS, int L, class T>
TB_D T *trid_p_batch_expect(const trid_p_batch_post<T> &post)
{
    const int words = TRID_P_BATCH_MAIL(WORDS, L, post.parts);
    if (threadIdx.x == 0) trid_mbarrier_expect(trid_p_batch_box(post), words * (int)sizeof(T));
    return post.mail + (post.turn & 1) * words;
}
template <class T>
TB_D void trid_p_batch_receive(const trid_p_batch_post<T> &post)
{
    trid_mbarrier_wait(trid_p_batch_box(post), post.turn / 2 & 1);
}

/* The same where a cluster shares the systems: its block `part` of `parts` <= S has rows K*S*part .. K*S*part + K*S-1
   of each, S <= 32. It reduces them to the first and the last, both coupled to the last unknowns of the parts around;
   these rows, and how the part fared, go to all blocks of the cluster, which solve for all parts' last unknowns, each
   for itself. With worst != 0 *bad is taken care of. */
template <class T, int K, int L, int S>
TB_D void trid_p_batch_sweep_part(int n, int held, T *a, T *b, T *c, T *r, T *shared, int *worst,
                                  const trid_p_batch_post<T> &post, T *left)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S), WORDS = 8 };
    int thread = (int)threadIdx.x, section = thread / L, part = post.part, parts = post.parts;
    T *mail = trid_p_batch_expect<WORDS, L>(post);
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (j >= held) b[j] = 1;
        if (j >= held - 1) c[j] = 0;
    }
    if (part == 0 && section == 0) a[0] = 0;
    int status = trid_lane_reduce(K, a, b, c, r);
    if (worst && status) atomicMin(&worst[thread % L], trid_p_batch_row(K * (S * part + section) + status, n));
    T *up = shared, *down = shared + 3 * PART;
    int slot = TRID_INTERLEAVED_SLOT(L, S, U, thread);
    up[slot] = a[0];
    up[PART + slot] = c[0];
    up[2 * PART + slot] = r[0];
    down[slot] = a[K - 1];
    down[PART + slot] = c[K - 1];
    down[2 * PART + slot] = r[K - 1];
    __syncthreads();

    /* Now this thread has section rank of system thread / S. */
    int rank = thread % S, system = thread / S, own = system + L * rank, next = rank + 1 < S;
    int here = TRID_INTERLEAVED_SLOT(L, S, U, own), below = TRID_INTERLEAVED_SLOT(L, S, U, next ? own + L : own);
    T row_a = down[here], row_c = down[PART + here], row_d = down[2 * PART + here];
    T next_a = up[below], next_c = up[PART + below], next_d = up[2 * PART + below];
    if (!next) next_a = 0, next_c = -1, next_d = 0; /* stays coupled to the next part's first unknown */
    int met = trid_lane_link(&row_a, &row_c, &row_d, next_a, next_c, next_d);
    met |= trid_warp_pcr_open(S, &row_a, &row_c, &row_d);
    T first[4] = {0, 0, 0, 0}, last[4] = {row_a, row_c, row_d, 0};
    if (worst) {
        if (met) atomicMin(&worst[system], trid_p_batch_row(met & 1 ? K * (S * part + rank + 1) : n, n));
        __syncwarp(TB_FULL_WARP);
        last[3] = worst[system] == TRID_P_BATCH_NO_ROW ? (T)0 : (T)worst[system];
        __syncwarp(TB_FULL_WARP);
    }
    if (rank == 0) {
        T up_c = up[PART + here];
        first[0] = up[here] - up_c * row_a;
        first[1] = -up_c * row_c;
        first[2] = up[2 * PART + here] - up_c * row_d;
    }
    TB_UNROLL
    for (int k = 0; k < 3; k++) {
        first[k] = __shfl_sync(TB_FULL_WARP, first[k], 0, S);
        last[k] = __shfl_sync(TB_FULL_WARP, last[k], S - 1, S);
    }
    if (rank < parts) {
        T *to = mail + 8 * (parts * system + part);
        trid_p_batch_send(to, rank, trid_p_batch_box(post), last);
        trid_p_batch_send(to + 4, rank, trid_p_batch_box(post), first);
    }
    trid_p_batch_receive(post);
    const T *from = mail + 8 * (parts * system + rank);
    T part_a = 0, part_c = 0, x = 0, part_worst = 0, first_a = 0, first_c = 0, first_d = 0;
    if (rank < parts) part_a = from[0], part_c = from[1], x = from[2], part_worst = from[3];
    if (rank < parts - 1) first_a = from[12], first_c = from[13], first_d = from[14];
    met = trid_lane_link(&part_a, &part_c, &x, first_a, first_c, first_d);
    met |= trid_warp_pcr(S, parts, part_a, part_c, &x);
    if (worst && (met || part_worst != 0)) {
        int row = met ? trid_p_batch_row(met & 1 ? K * S * (rank + 1) : n, n) : n;
        atomicMin(&worst[system], part_worst != 0 && (int)part_worst < row ? (int)part_worst : row);
    }
    T above = __shfl_sync(TB_FULL_WARP, x, part > 0 ? part - 1 : 0, S), mine = __shfl_sync(TB_FULL_WARP, x, part, S);
    down[2 * PART + here] = rank == S - 1 ? mine : row_d - row_a * above - row_c * mine;
    if (rank == 0) up[here] = above; /* nobody else has read this one */
    __syncthreads();
    *left = section > 0 ? down[2 * PART + TRID_INTERLEAVED_SLOT(L, S, U, thread - L)] : up[slot];
    trid_lane_expand(K, a, c, r, *left, down[2 * PART + slot]);
}

/* The same with pivoting: each section's face goes to a lane of a group of S <= 32 that has its system, these climb the
   tree of trid_warp_pivoted, and the unknowns around each section come back the same way. CLUSTER: the faces of the
   parts go to all blocks, each of which climbs the rest of the tree for itself. Where an unknown has no pivot 1 is left
   in worst. */
template <class T, int K, int L, int S, int CLUSTER>
TB_D void trid_p_batch_sweep_pivoted(int held, T *a, T *b, T *c, T *r, T *shared, int *worst,
                                     const trid_p_batch_post<T> &post)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S), WORDS = 12 };
    int thread = (int)threadIdx.x, section = thread / L, part = CLUSTER ? post.part : 0, side;
    unsigned flags;
    T face[9], kept[9], outer[4];
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (j >= held) b[j] = 1;
        if (j >= held - 1) c[j] = 0;
    }
    if (part == 0 && section == 0) a[0] = 0;
    int met = trid_warp_pivoted_reduce(K, 32, section, a, b, c, r, face, &flags);
    if (worst && met) atomicMin(&worst[thread % L], 1);

    /* Now this thread has section rank of system thread / S. */
    int rank = thread % S, system = thread / S, slot = TRID_INTERLEAVED_SLOT(L, S, U, thread);
    int here = TRID_INTERLEAVED_SLOT(L, S, U, system + L * rank);
    if (S > 1) {
        TB_UNROLL
        for (int k = 0; k < 9; k++) shared[k * PART + slot] = face[k];
        __syncthreads();
        TB_UNROLL
        for (int k = 0; k < 9; k++) face[k] = shared[k * PART + here];
    }
    met = trid_warp_pivoted_up(1, S, S, S * part + rank, face, kept, &side);
    if (CLUSTER) {
        const int parts = trid_warp_uniform(post.parts);
        T *mail = trid_p_batch_expect<WORDS, L>(post), part_kept[9], send[WORDS] = {0};
        int part_side;
        TB_UNROLL
        for (int k = 0; k < 9; k++) send[k] = __shfl_sync(TB_FULL_WARP, face[k], S / 2 - 1, S);
        if (worst) {
            if (met) atomicMin(&worst[system], 1);
            __syncwarp(TB_FULL_WARP);
            send[9] = worst[system] == TRID_P_BATCH_NO_ROW ? (T)0 : (T)1;
            __syncwarp(TB_FULL_WARP);
        }
        if (rank < parts) {
            T *to = mail + WORDS * (parts * system + part);
            TB_UNROLL
            for (int k = 0; k < WORDS; k += 4) trid_p_batch_send(to + k, rank, trid_p_batch_box(post), send + k);
        }
        trid_p_batch_receive(post);
        int count = 1;
        while (count < parts) count *= 2;
        const T *from = mail + WORDS * (parts * system + (rank < parts ? rank : 0));
        TB_UNROLL
        for (int k = 0; k < 9; k++) /* where there is no part: two unknowns that are zero, facing up or down */
            face[k] = rank < parts ? from[k] : k == (rank & 1) || k == 7 - (rank & 1) ? (T)1 : (T)0;
        met = trid_warp_pivoted_up(1, S, count, rank, face, part_kept, &part_side);
        met |= trid_warp_pivoted_root(S, count, face, outer);
        met = rank < parts && (met || from[9] != 0);
        trid_warp_pivoted_down(1, S, count, rank, part_kept, part_side, outer);
        TB_UNROLL
        for (int k = 0; k < 4; k++) outer[k] = __shfl_sync(TB_FULL_WARP, outer[k], part, S);
    } else {
        met |= trid_warp_pivoted_root(S, S, face, outer);
    }
    if (worst && met) atomicMin(&worst[system], 1);
    trid_warp_pivoted_down(1, S, S, S * part + rank, kept, side, outer);
    if (S > 1) {
        TB_UNROLL
        for (int k = 0; k < 4; k++) shared[k * PART + here] = outer[k]; /* nobody else has read these */
        __syncthreads();
        TB_UNROLL
        for (int k = 0; k < 4; k++) outer[k] = shared[k * PART + slot];
    }
    trid_warp_pivoted_expand(K, section, a, b, c, r, flags, outer);
}

/* The block's tile: L systems; the rows that the thread has of them. */
struct trid_p_batch_place {
    long long at, matrix, system; /* offsets of its first row, and of that of the matrix; the system's index */
    int held;                     /* rows */
    int there;                    /* is there such a system? */
};
TB_D trid_p_batch_place trid_p_batch_place_of(const trid_p_batch_plan &plan, unsigned index, int L, int line, int first)
{
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, index, L);
    trid_p_batch_place p;
    p.there = line < tile.count;
    p.held = p.there ? plan.n - first : 0;
    p.at = tile.group * plan.lines.jump + (tile.first + line) * plan.lines.stride + first * plan.lines.step;
    p.system = tile.group * plan.lines.systems + tile.first + line;
    return p;
}
/* The same once more, instead of keeping it. */
TB_D trid_p_batch_place trid_p_batch_place_again(const trid_p_batch_plan &plan, unsigned index, int L, int line,
                                                 int first)
{
    return trid_p_batch_place_of(plan, (unsigned)trid_p_batch_again_as((int)index), L, line, first);
}
template <class T>
TB_D long long trid_p_batch_matrix_at(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &from,
                                      const trid_p_batch_place &p, int first)
{
    if (plan.lines.groups == 1) return p.system * from.stride + first * from.step;
    long long group = p.system / plan.lines.systems;
    return group * from.jump + (p.system - group * plan.lines.systems) * from.stride + first * from.step;
}

/* What a thread asks for of a tile, row after row of up to K: of ARRAYS arrays, which are the matrix and the right-hand
   side (4), the matrix (3) or the right-hand side (1). Array k's row j of thread t goes to stage[(k*K + j) * L*S + t].
   Shared memory holds what is on its way, registers what is being solved: the next tile comes while this one is worked
   on. NARROW: each thread asks for its own rows, element by element. WIDE: the warp asks for its threads' rows in
   pieces of 16 bytes, sizeof(T) / 4 of them a lane for a row of the matrix and its right-hand side, or for four rows of
   one array. Either way no other warp reads it, so that no barrier of the block is needed. Nobody asks for a of row 0
   and c of row n-1. How it is done is a parameter of the kernels, or each would have the code of all three. */
enum { TRID_P_BATCH_UNSTAGED, TRID_P_BATCH_NARROW, TRID_P_BATCH_WIDE };

template <class T>
struct trid_p_batch_route {
    const T *from[4]; /* where the next row is; NARROW: of each array, WIDE: of each piece */
    int held[2];      /* rows, in all; NARROW: the first */
    int part = 0;     /* of a cluster, or of its rows: the first has row 0 */
};

/* WIDE: the thread whose elements piece i of this lane begins with, and the array, or the row of four. */
template <class T, int L>
TB_D void trid_p_batch_piece(int i, int *thread, int *which)
{
    enum { V = 16 / sizeof(T), WIDTH = L < 32 ? L : 32, PIECES = WIDTH / V > 0 ? WIDTH / V : 1 };
    int lane = trid_warp_lane(), e = lane + 32 * i;
    *which = e / PIECES % 4;
    *thread = (int)threadIdx.x - lane + e / (4 * PIECES) * WIDTH + e % PIECES * V;
}
/* WIDE: the arrays lie alike. */
template <class T, int K, int L, int ARRAYS, int STAGED>
TB_D trid_p_batch_route<T> trid_p_batch_route_of(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                                 unsigned index, const trid_p_batch_place &own, int first, const T *d)
{
    trid_p_batch_route<T> route;
    if (STAGED == TRID_P_BATCH_WIDE) {
        TB_UNROLL
        for (int i = 0; i < (int)sizeof(T) / 4; i++) {
            int thread, which;
            trid_p_batch_piece<T, L>(i, &thread, &which);
            trid_p_batch_place p =
                trid_p_batch_place_of(plan, index, L, thread % L, first + K * (thread / L - (int)threadIdx.x / L));
            if (ARRAYS == 1) {
                route.from[i] = d + (p.at + which * plan.lines.step);
                route.held[i] = p.held - which;
            } else {
                route.from[i] = (which == 0                  ? rows.a
                                 : which == 1                ? rows.b
                                 : which == 2 || ARRAYS == 3 ? rows.c
                                                             : d) +
                                p.at;
                route.held[i] = which < ARRAYS ? p.held : 0;
            }
        }
    } else if (ARRAYS == 1) {
        route.from[0] = d + own.at;
        route.held[0] = own.held;
    } else {
        long long at = own.there ? trid_p_batch_matrix_at(plan, rows, own, first) : 0;
        route.from[0] = rows.a + at;
        route.from[1] = rows.b + at;
        route.from[2] = rows.c + at;
        if (ARRAYS == 4) route.from[3] = d + own.at;
        route.held[0] = own.held;
    }
    return route;
}

/* Asks for rows j .. j + R-1 of the route, as one group; the matrix's rows are step elements apart. */
template <class T, int K, int L, int S, int R, int AHEAD, int ARRAYS, int STAGED>
TB_D void trid_p_batch_ask(const trid_p_batch_plan &plan, long long step, int j, trid_p_batch_route<T> *route, T *stage)
{
    if (STAGED == TRID_P_BATCH_WIDE) {
        TB_UNROLL
        for (int i = 0; i < (int)sizeof(T) / 4; i++) {
            int thread, which;
            trid_p_batch_piece<T, L>(i, &thread, &which);
            T *to = stage + (which * (ARRAYS == 1 ? 1 : K) * L * S + thread);
            if (ARRAYS == 1) {
                TB_UNROLL
                for (int r = 0; r < R; r += 4) {
                    if (which < R - r && j + r < route->held[i])
                        trid_p_batch_copy<16, AHEAD>(&to[(j + r) * L * S], route->from[i]);
                    route->from[i] += (R - r < 4 ? R - r : 4) * plan.lines.step;
                }
                continue;
            }
            int top = which == 0 && thread < L && route->part == 0;
            int end = which == 2 ? route->held[i] - 1 : route->held[i];
            if (route->held[i] >= K) { /* all rows, as usual: nothing to compare but at the ends of a system */
                TB_UNROLL
                for (int r = 0; r < R; r++) {
                    if ((j + r > 0 || !top) && (j + r < K - 1 || end >= K))
                        trid_p_batch_copy<16, AHEAD>(&to[(j + r) * L * S], route->from[i]);
                    route->from[i] += plan.lines.step;
                }
            } else {
                int skip = j == 0 && top;
                if (skip) route->from[i] += plan.lines.step;
                TRID_P_BATCH_LOOP
                for (int r = skip; r < R && j + r < end; r++) {
                    trid_p_batch_copy<16, AHEAD>(&to[(j + r) * L * S], route->from[i]);
                    route->from[i] += plan.lines.step;
                }
            }
        }
    } else {
        T *to = stage + threadIdx.x;
        TRID_P_BATCH_LOOP
        for (int r = 0; r < R; r++) TB_UNROLL
        for (int k = 0; k < ARRAYS; k++) {
            int top = ARRAYS > 1 && k == 0 && j + r == 0 && threadIdx.x < L && route->part == 0; /* row 0 of a */
            if (j + r + (k == 2) < route->held[0] && !top) /* of c there must be one row more */
                trid_p_batch_copy<sizeof(T), AHEAD>(&to[(k * K + j + r) * L * S], route->from[k]);
            route->from[k] += ARRAYS > 1 && k < 3 ? step : plan.lines.step;
        }
    }
    trid_copy_commit();
}

/* With TRID_BATCH_ADD: x as it was, the thread's own rows, behind the other arrays. A group in any case. */
template <class T, int K, int L, int S, int AHEAD>
TB_D void trid_p_batch_ask_before(const trid_p_batch_plan &plan, const trid_p_batch_place &own, const T *x, T *stage)
{
    x += own.at;
    if (plan.flags & TRID_BATCH_ADD) {
        TB_UNROLL
        for (int j = 0; j < K; j++) {
            if (j < own.held) trid_p_batch_copy<sizeof(T), AHEAD>(&stage[j * L * S + (int)threadIdx.x], x);
            x += plan.lines.step;
        }
    }
    trid_copy_commit();
}

/* How many arrays travel: a matrix that is made does not, and nothing stands for it in a route. And do known ends? */
template <class T, class Rows>
struct trid_p_batch_travels {
    enum { ARRAYS = 1, ENDS = 0 };
    TRID_P_BATCH_MEMBER static trid_p_batch_arrays<T> of(const Rows &) { return trid_p_batch_arrays<T>(); }
};
template <class T>
struct trid_p_batch_travels<T, trid_p_batch_arrays<T>> {
    enum { ARRAYS = 4, ENDS = 0 };
    TRID_P_BATCH_MEMBER static const trid_p_batch_arrays<T> &of(const trid_p_batch_arrays<T> &rows) { return rows; }
};
template <class T, class Rows>
struct trid_p_batch_travels<T, trid_p_batch_known<T, Rows>> {
    typedef trid_p_batch_travels<T, Rows> travels;
    enum { ARRAYS = travels::ARRAYS, ENDS = 1 };
    TRID_P_BATCH_MEMBER static trid_p_batch_arrays<T> of(const trid_p_batch_known<T, Rows> &known)
    {
        return travels::of(known.rows);
    }
};
/* What is known of the next tile travels with it: threads with the first or the last row of a system take what has come
   for this tile, and ask for what comes to the same place, slot[0] and slot[L]. */
template <class T, class Rows>
TB_D void trid_p_batch_next_ends(int, int, const Rows &, int, int, const trid_p_batch_place &, T *, T *)
{
}
template <class T, class Rows>
TB_D void trid_p_batch_next_ends(int K, int L, const trid_p_batch_known<T, Rows> &known, int first, int held,
                                 const trid_p_batch_place &next, T *slot, T *end)
{
    long long pitch;
    end[0] = end[1] = 0;
    if (first == 0 && held > 0) end[0] = slot[0];
    if (held > 0 && held <= K) end[1] = slot[L];
    if (next.held <= 0 || (first > 0 && next.held > K)) return;
    const T *of = known.ends + known.shares.of(next.system, &pitch);
    if (first == 0) trid_p_batch_copy<sizeof(T), 0>(&slot[0], of);
    if (next.held <= K) trid_p_batch_copy<sizeof(T), 0>(&slot[L], of + pitch);
}
/* The two places that nobody asks for: a of row 0, c of row n-1. */
template <class T, int K, int L, int S>
TB_D void trid_p_batch_unasked(int n, int first, T *stage)
{
    if (first == 0) stage[threadIdx.x] = 0;
    if (n > first && n <= first + K) stage[(2 * K + n - 1 - first) * L * S + (int)threadIdx.x] = 0;
}
template <class T>
TB_D void trid_p_batch_arrived(int K, int threads, int j, const trid_p_batch_arrays<T> &, long long, int, const T *own,
                               T *a, T *b, T *c, T *d)
{
    *a = own[j * threads];
    *b = own[(K + j) * threads];
    *c = own[(2 * K + j) * threads];
    *d = own[(3 * K + j) * threads];
}
template <class T, class Rows>
TB_D void trid_p_batch_arrived(int, int threads, int j, const Rows &make, long long system, int first, const T *own,
                               T *a, T *b, T *c, T *d)
{
    make(system, first + j, a, b, c);
    *d = own[j * threads];
}

template <class T>
TB_D void trid_p_batch_own_rows(int K, const trid_p_batch_plan &plan, const trid_p_batch_place &p, int first,
                                const trid_p_batch_arrays<T> &from, T *a, T *b, T *c)
{
    long long at = trid_p_batch_matrix_at(plan, from, p, first);
    trid_p_batch_gather(K, first == 0, p.held, from.a + at, from.step, a);
    trid_p_batch_gather(K, 0, p.held, from.b + at, from.step, b);
    trid_p_batch_gather(K, 0, p.held - 1, from.c + at, from.step, c);
}
template <class T, class Rows>
TB_D void trid_p_batch_own_rows(int K, const trid_p_batch_plan &, const trid_p_batch_place &p, int first,
                                const Rows &make, T *a, T *b, T *c)
{
    TB_UNROLL
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

/* With repair only tiles are solved of which a system's status is not 0: the first of these from index on. */
TB_D unsigned trid_p_batch_wanted_tile(const trid_p_batch_plan &plan, unsigned index, unsigned pace, int L)
{
    TRID_P_BATCH_LOOP
    for (; plan.repair && index < plan.tiles; index += pace) {
        trid_p_batch_tile tile = trid_p_batch_tile_of(plan, index, L);
        const int *status = plan.report.status + (tile.group * plan.lines.systems + tile.first);
        int wanted = 0;
        TRID_P_BATCH_LOOP
        for (int line = trid_warp_lane(); line < tile.count; line += 32) wanted |= status[line] != 0;
        if (__any_sync(TB_FULL_WARP, wanted)) break;
    }
    return index;
}

/* Where there are clusters these serve n = 129 .. 512 (with pivoting 257 .. 512) in the place of these sections. */
#define TRID_P_BATCH_BY_CLUSTERS(S, PIVOTED, CLUSTER) (!(CLUSTER) && ((S) == 32 || (!(PIVOTED) && (S) == 16)))

/* L systems side by side, n <= K*S; a block takes one tile after another. Rows are asked for in groups of R, each as
   soon as the same rows of the tile before have gone to registers. CLUSTER: the blocks of a cluster have K*S rows
   each. */
template <class T, int K, int L, int S, int R, int AHEAD, int STAGED, int PIVOTED, int CLUSTER, class Rows>
TRID_KERNEL void __launch_bounds__(L *S, TRID_P_BATCH_LINES_RESIDENT(T, K, L *S))
    trid_p_batch_lines(trid_p_batch_plan plan, Rows rows, const T *d, T *x)
{
    typedef trid_p_batch_travels<T, Rows> travels;
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S), ARRAYS = travels::ARRAYS };
    __shared__ T shared[S > 1 || CLUSTER ? (PIVOTED ? 9 : 6) * PART : 1], known[travels::ENDS ? 2 * L : 1];
    __shared__ int worst[L];
    __shared__ unsigned long long box[CLUSTER ? 2 : 1];
    TRID_DYNAMIC_SHARED(dynamic);
    /* is not launched there */
    if ((CLUSTER && !TRID_P_CLUSTERS) || (STAGED && !TRID_P_BATCH_STAGES)) return;
    if (TRID_P_BATCH_EMPTY(S, STAGED, TRID_P_BATCH_BY_CLUSTERS(S, PIVOTED, CLUSTER))) return;
    int part = CLUSTER ? trid_cluster_rank() : 0, parts = CLUSTER ? trid_cluster_size() : 1;
    int thread = (int)threadIdx.x, line = thread % L, section = thread / L, n = plan.n;
    int first = CLUSTER ? K * (S * part + section) : K * section;
    int reports = trid_p_batch_reports(plan);
    long long step = plan.lines.step;
    T *stage = (T *)dynamic, *before = stage + (STAGED ? ARRAYS * K * L * S : 0);
    T *mail = before + (STAGED && plan.flags & TRID_BATCH_ADD ? K * L * S : 0);
    unsigned pace = CLUSTER ? gridDim.x / (unsigned)parts : gridDim.x, turn = 0;
    unsigned begin = CLUSTER ? blockIdx.x / (unsigned)parts : blockIdx.x;
    if (CLUSTER) {
        if (thread < 2) trid_mbarrier_init(&box[CLUSTER ? thread : 0]);
        trid_cluster_sync();
    }
    if (PIVOTED) begin = trid_p_batch_wanted_tile(plan, begin, pace, L);
    if (STAGED && ARRAYS > 1) trid_p_batch_unasked<T, K, L, S>(n, first, stage);
    /* In the first round the first tile is asked for, and there is none to solve. */
    trid_p_batch_place p = trid_p_batch_place_of(plan, STAGED ? plan.tiles : begin, L, line, first);
    int round = STAGED ? 0 : 1;
    unsigned index = begin, next = STAGED ? begin : begin + pace;
    TRID_P_BATCH_LOOP
    for (; index < plan.tiles; index = next, next += pace) {
        T a[K], b[K], c[K], r[K], end[2] = {0, 0}, left;
        int bad, held = p.held;
        const trid_p_batch_place here = p;
        if (!STAGED) trid_p_batch_ask_ends(K, rows, here.system, first, held, end);
        if (PIVOTED && round > 0) next = trid_p_batch_wanted_tile(plan, next, pace, L);
        p = trid_p_batch_place_of(plan, next, L, line, first); /* without systems beyond the last tile */
        if (STAGED) {
            const T *own = stage + thread;
            trid_p_batch_route<T> route =
                trid_p_batch_route_of<T, K, L, ARRAYS, STAGED>(plan, travels::of(rows), next, p, first, d);
            route.part = part;
            TB_UNROLL
            for (int from = 0; from < K; from += R) {
                TRID_COPY_AWAIT(K / R);   /* the last of them is x as it was */
                __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
                TB_UNROLL
                for (int j = from; j < from + R; j++) {
                    a[j] = c[j] = r[j] = 0;
                    b[j] = 1;
                    if (j < held)
                        trid_p_batch_arrived(K, L * S, j, trid_p_batch_rows_of(rows), here.system, first, own, &a[j],
                                             &b[j], &c[j], &r[j]);
                }
                if (from == 0)
                    trid_p_batch_next_ends(K, L, rows, first, held, p, &known[travels::ENDS ? line : 0], end);
                __syncwarp(TB_FULL_WARP); /* and has been read by them */
                trid_p_batch_ask<T, K, L, S, R, AHEAD, ARRAYS, STAGED>(plan, travels::of(rows).step, from, &route,
                                                                       stage);
            }
            if (round++ == 0) {
                trid_p_batch_ask_before<T, K, L, S, AHEAD>(plan, p, x, before);
                continue;
            }
        } else {
            trid_p_batch_own_rows(K, plan, here, first, trid_p_batch_rows_of(rows), a, b, c);
            trid_p_batch_gather(K, 0, held, d + here.at, step, r);
        }
        trid_p_batch_put_ends(K, rows, first, held, end, a, b, c, r);
        if (index != begin) __syncthreads(); /* what is shared has been read */
        if (reports) {
            if (section == 0) worst[line] = TRID_P_BATCH_NO_ROW;
            __syncthreads();
        }
        const trid_p_batch_post<T> post = {mail, box, part, parts, (int)turn++};
        if (PIVOTED) {
            trid_p_batch_sweep_pivoted<T, K, L, S, CLUSTER>(held, a, b, c, r, shared, reports ? worst : (int *)0, post);
        } else if (CLUSTER) {
            trid_p_batch_sweep_part<T, K, L, CLUSTER ? S : 2>(n, held, a, b, c, r, shared, reports ? worst : (int *)0,
                                                              post, &left);
        } else {
            trid_p_batch_sweep<T, K, L, S>(n, held, a, b, c, r, shared, reports ? worst : (int *)0, &bad, &left);
            if (reports && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
        }
        T *to = x + here.at;
        if (plan.flags & TRID_BATCH_ADD) {
            if (STAGED) TRID_COPY_AWAIT(K / R);
            TB_UNROLL
            for (int j = 0; j < K; j++) {
                if (j < held) r[j] += STAGED ? before[j * L * S + thread] : *to;
                to += step;
            }
            to = x + here.at;
        }
        if (STAGED) trid_p_batch_ask_before<T, K, L, S, AHEAD>(plan, p, x, before);
        TB_UNROLL
        for (int j = 0; j < K; j++) {
            if (j < held) *to = r[j];
            to += step;
        }
        if (reports) {
            __syncthreads();
            if (section == 0 && part == 0 && here.there)
                trid_p_batch_tell(plan, here.system, worst[line], 0, (T)0, (T)0);
        }
    }
}

/* With residuals: the rows of a tile must last until its residual is known, and the next ones come meanwhile. So shared
   memory holds three halves of K/2 rows of tiles in turn: the two of the tile that is being solved, and the first of
   the next; each is given to the half after the next as soon as its residual is known. */
template <class T, int K, int L, int S, int AHEAD, int STAGED>
TB_D void trid_p_batch_ask_half(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &from, unsigned index,
                                int line, int first, const T *d, int half, T *stage)
{
    trid_p_batch_place own = trid_p_batch_place_of(plan, index, L, line, first + K / 2 * half);
    trid_p_batch_route<T> route =
        trid_p_batch_route_of<T, K, L, 4, STAGED>(plan, from, index, own, first + K / 2 * half, d);
    route.part = half; /* the second has no row 0 */
    trid_p_batch_ask<T, K / 2, L, S, K / 2, AHEAD, 4, STAGED>(plan, from.step, 0, &route, stage);
}
/* Row j of the thread's, 0 beyond the system and where its ends couple to nothing: from its half in shared memory, or,
   where nothing is staged, from arrays, in which its first row is where `at` and d say. */
template <class T, int K, int L, int S, int STAGED>
TB_D void trid_p_batch_row_of(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &at, int held, int first,
                              const T *d, const T *own, int j, T *a, T *b, T *c, T *r)
{
    *a = *b = *c = *r = 0;
    if (j >= held) return;
    if (STAGED) {
        own += j % (K / 2) * L * S;
        if (j > 0 || first > 0) *a = *own;
        *b = own[K / 2 * L * S];
        if (j < held - 1) *c = own[2 * (K / 2) * L * S];
        *r = own[3 * (K / 2) * L * S];
    } else {
        int row = trid_p_batch_again_as(j); /* or the places of all rows would be kept */
        if (j > 0 || first > 0) *a = at.a[row * at.step];
        *b = at.b[row * at.step];
        if (j < held - 1) *c = at.c[row * at.step];
        *r = d[row * plan.lines.step];
    }
}
/* The thread's first unknown below, by way of shared memory. */
template <class T, int L, int S>
TB_D T trid_p_batch_below(T x, T *shared)
{
    enum { U = sizeof(T) == 4 ? 32 : 16 };
    int thread = (int)threadIdx.x;
    if (S == 1) return 0;
    shared[TRID_INTERLEAVED_SLOT(L, S, U, thread)] = x;
    __syncthreads();
    return thread / L < S - 1 ? shared[TRID_INTERLEAVED_SLOT(L, S, U, thread + L)] : (T)0;
}

/* As trid_p_batch_lines, for arrays, with the residual of each system. */
template <class T, int K, int L, int S, int AHEAD, int STAGED>
TRID_KERNEL void __launch_bounds__(L *S, TRID_P_BATCH_LINES_RESIDENT(T, K, L *S))
    trid_p_batch_lines_checked(trid_p_batch_plan plan, trid_p_batch_arrays<T> from, const T *d, T *x)
{
    enum {
        U = sizeof(T) == 4 ? 32 : 16,
        PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S),
        H = K / 2,
        HALF = 4 * H * L * S
    };
    __shared__ T shared[S > 1 ? 6 * PART : 1];
    __shared__ int worst[L];
    __shared__ unsigned largest[2 * L];
    TRID_DYNAMIC_SHARED(dynamic);
    if ((STAGED && !TRID_P_BATCH_STAGES) || TRID_P_BATCH_EMPTY(S, STAGED, 0)) return; /* is not launched there */
    int thread = (int)threadIdx.x, line = thread % L, section = thread / L, n = plan.n, first = K * section;
    int reports = trid_p_batch_reports(plan), turn = 0;
    const int refined = (plan.flags & TRID_BATCH_REFINED) != 0;
    long long step = plan.lines.step;
    T *stage = (T *)dynamic;
    if (STAGED) {
        TRID_P_BATCH_LOOP
        for (int i = 0; i < 3; i++)
            trid_p_batch_ask_half<T, K, L, S, AHEAD, STAGED>(plan, from, blockIdx.x + i / 2 * gridDim.x, line, first, d,
                                                             i % 2, stage + i * HALF);
    }
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        T a[K], b[K], c[K], r[K], solved[K], left = 0;
        T *halves[2] = {stage + turn * HALF, stage + (turn == 2 ? 0 : turn + 1) * HALF};
        int bad, held = trid_p_batch_place_of(plan, index, L, line, first).held;
        trid_p_batch_worst most;
        TRID_P_BATCH_LOOP
        for (int pass = 0; pass <= refined; pass++) {
            T more, right;
            trid_p_batch_arrays<T> at = from; /* from its own first row on */
            const T *right_hand = d;
            if (!STAGED && held > 0) {
                trid_p_batch_place here = trid_p_batch_place_again(plan, index, L, line, first);
                long long matrix = trid_p_batch_matrix_at(plan, from, here, first);
                at.a += matrix, at.b += matrix, at.c += matrix;
                right_hand += here.at;
            }
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                if (STAGED && half == 0) TRID_COPY_AWAIT(2);
                if (STAGED && half == 1) TRID_COPY_AWAIT(1);
                __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
                TB_UNROLL
                for (int i = 0; i < H; i++) {
                    int j = H * half + i;
                    T now = 0;
                    trid_p_batch_row_of<T, K, L, S, STAGED>(plan, at, held, first, right_hand, halves[half] + thread, j,
                                                            &a[j], &b[j], &c[j], &now);
                    if (pass == 0) r[j] = now, solved[j] = 0;
                }
            }
            if (index != blockIdx.x || pass) __syncthreads(); /* what is shared has been read */
            if (reports && pass == 0) {
                if (section == 0) {
                    worst[line] = TRID_P_BATCH_NO_ROW;
                    largest[line] = largest[L + line] = 0;
                }
                __syncthreads();
            }
            trid_p_batch_sweep<T, K, L, S>(n, held, a, b, c, r, shared, reports && pass == 0 ? worst : (int *)0, &bad,
                                           &more);
            if (reports && pass == 0 && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
            left += more;
            TB_UNROLL
            for (int j = 0; j < K; j++) solved[j] += r[j];
            right = trid_p_batch_below<T, L, S>(solved[0], shared);
            most.error = most.size = 0;
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                TB_UNROLL
                for (int i = 0; i < H; i++) {
                    int j = H * half + i;
                    T ka, kb, kc, kd, up = j > 0 ? solved[j > 0 ? j - 1 : 0] : left;
                    T down = j < K - 1 ? solved[j < K - 1 ? j + 1 : 0] : right;
                    trid_p_batch_row_of<T, K, L, S, STAGED>(plan, at, held, first, right_hand, halves[half] + thread, j,
                                                            &ka, &kb, &kc, &kd);
                    if (j == 0 && first == 0) up = 0; /* 0 times what is no number would be none */
                    if (j >= held - 1) down = 0;
                    r[j] = trid_p_batch_rest(ka, kb, kc, kd, solved[j], up, down, &most);
                }
                if (STAGED && pass == refined) {
                    __syncwarp(TB_FULL_WARP); /* other lanes have read theirs */
                    trid_p_batch_ask_half<T, K, L, S, AHEAD, STAGED>(plan, from, index + (half + 1) * gridDim.x, line,
                                                                     first, d, 1 - half, halves[half]);
                }
            }
        }
        turn = turn == 0 ? 2 : turn - 1;
        const trid_p_batch_place here = trid_p_batch_place_again(plan, index, L, line, first);
        if (reports && held > 0) {
            atomicMax(&largest[line], most.error);
            atomicMax(&largest[L + line], most.size);
        }
        T *to = x + here.at;
        if (plan.flags & TRID_BATCH_ADD) {
            TB_UNROLL
            for (int j = 0; j < K; j++) {
                if (j < held) solved[j] += *to;
                to += step;
            }
            to = x + here.at;
        }
        TB_UNROLL
        for (int j = 0; j < K; j++) {
            if (j < held) *to = solved[j];
            to += step;
        }
        if (reports) {
            __syncthreads();
            if (section == 0 && here.there)
                trid_p_batch_tell(plan, here.system, worst[line], 1, trid_p_batch_number(largest[line], (T)0),
                                  trid_p_batch_number(largest[L + line], (T)0));
        }
    }
}

/* One matrix for all, systems side by side: a block takes the matrix apart once, which leaves few operations and few
   registers for each tile, and so several blocks a multiprocessor, of which one solves while the others wait. */
#define TRID_P_BATCH_COMMON_LINES_RESIDENT(T, threads) ((sizeof(T) == 4 ? 1024 : 768) / (threads))
template <class T, int K, int L, int S, int AHEAD, int STAGED, class Rows>
TRID_KERNEL void __launch_bounds__(L *S, TRID_P_BATCH_COMMON_LINES_RESIDENT(T, L *S))
    trid_p_batch_common_lines(trid_p_batch_plan plan, Rows from, const T *d, T *x)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S), V = 16 / sizeof(T), G = 13 };
    enum { OWN = 5 * K + V }; /* no bank conflicts, four sections a warp or fewer reading 16 bytes each */
    enum { ENDS = trid_p_batch_travels<T, Rows>::ENDS };
    __shared__ T shared[3 * PART], reduced[S * G], known[ENDS ? 2 * L : 1];
    __shared__ trid_p_batch_word<T> kept[S * OWN / V];
    __shared__ int worst;
    TRID_DYNAMIC_SHARED(dynamic);
    int thread = (int)threadIdx.x, line = thread % L, section = thread / L, n = plan.n, first = K * section, steps;
    const int add = plan.flags & TRID_BATCH_ADD;
    const trid_p_batch_arrays<T> none = trid_p_batch_arrays<T>();
    long long step = plan.lines.step;
    T *stage = (T *)dynamic, *before = stage + K * L * S, *factors = kept[0].v, end[2];
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, L, line, first);
    trid_p_batch_next_ends(K, L, from, first, 0, p, &known[ENDS ? line : 0], end);
    trid_p_batch_route<T> route = trid_p_batch_route_of<T, K, L, 1, STAGED>(plan, none, blockIdx.x, p, first, d);
    trid_p_batch_ask<T, K, L, S, K, AHEAD, 1, STAGED>(plan, 0, 0, &route, stage);
    trid_p_batch_ask_before<T, K, L, S, AHEAD>(plan, p, x, before);
    if (thread == 0) worst = TRID_P_BATCH_NO_ROW; /* before the barriers inside */
    {
        T a[K], b[K], c[K], f[TRID_INTERLEAVED_FACTOR_LEN(K)];
        TB_UNROLL
        for (int j = 0; j < K; j++) {
            a[j] = c[j] = 0;
            b[j] = 1;
            if (first + j < n) trid_p_batch_rows_of(from)(0, first + j, &a[j], &b[j], &c[j]);
        }
        trid_p_batch_put_end_rows(K, from, first, n - first, a, b, c);
        int bad = trid_p_batch_row(trid_block_interleaved_factor(K, L, S, n, a, b, c, f, &steps, shared), n);
        if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst, bad);
        TB_UNROLL
        for (int e = 0; e < 5 * K; e++)
            if (line == 0) factors[section * OWN + e] = f[e];
        TB_UNROLL
        for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(K) - 5 * K; e++)
            if (thread < S) reduced[thread * G + e] = f[5 * K + e];
    }
    __syncthreads();
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        T r[K];
        const trid_p_batch_place here = p;
        p = trid_p_batch_place_of(plan, index + gridDim.x, L, line, first); /* without systems beyond the last tile */
        route = trid_p_batch_route_of<T, K, L, 1, STAGED>(plan, none, index + gridDim.x, p, first, d);
        TRID_COPY_AWAIT(1);
        __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
        TB_UNROLL
        for (int j = 0; j < K; j++) r[j] = j < here.held ? stage[j * L * S + thread] : (T)0;
        trid_p_batch_next_ends(K, L, from, first, here.held, p, &known[ENDS ? line : 0], end);
        trid_p_batch_put_end_values(K, from, first, here.held, end, r);
        __syncwarp(TB_FULL_WARP); /* and has been read by them */
        trid_p_batch_ask<T, K, L, S, K, AHEAD, 1, STAGED>(plan, 0, 0, &route, stage);
        trid_block_interleaved_solve_stored(K, L, S, K * S, steps, factors + section * OWN, reduced + thread % S * G, 1,
                                            r, shared);
        T *to = x + here.at;
        if (add) TRID_COPY_AWAIT(1);
        TB_UNROLL
        for (int j = 0; j < K && add; j++)
            if (j < here.held) r[j] += before[j * L * S + thread];
        trid_p_batch_ask_before<T, K, L, S, AHEAD>(plan, p, x, before);
        TB_UNROLL
        for (int j = 0; j < K; j++) {
            if (j < here.held) *to = r[j];
            to += step;
        }
        if (section == 0 && here.there && trid_p_batch_reports(plan))
            trid_p_batch_tell(plan, here.system, worst, 0, (T)0, (T)0);
    }
}

/* ---- sections of longer lines: their ends ------------------------------------------------------------------------ */

/* A block has some lines, each in `parts` (a power of two) parts of a thread each: systems side by side by neighbouring
   threads, else the parts of one. */
enum { TRID_P_BATCH_ENDS_THREADS = 256 };
struct trid_p_batch_part {
    int lines, line, part, next; /* of the block; the thread's; how many threads further the next part's is */
};
TB_D trid_p_batch_part trid_p_batch_part_of(int beside, int parts)
{
    int thread = (int)threadIdx.x, lines = TRID_P_BATCH_ENDS_THREADS / parts;
    trid_p_batch_part p = {lines, thread % lines, thread / lines, lines};
    if (!beside) p.line = thread / parts, p.part = thread % parts, p.next = 1;
    return p;
}
TB_D int trid_p_batch_part_begin(int n, int part, int parts)
{
    return (int)((long long)n * part / parts);
}

/* Of arrays, which may be one matrix for all lines, and of those made in registers: a row of a section. */
template <class T>
TB_D long long trid_p_batch_section_at(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &from,
                                       const trid_p_batch_place &p)
{
    return trid_p_batch_matrix_at(plan, from, p, 0);
}
template <class Rows>
TB_D long long trid_p_batch_section_at(const trid_p_batch_plan &, const Rows &, const trid_p_batch_place &)
{
    return 0;
}
template <class T>
TB_D void trid_p_batch_section_row(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &from, long long at,
                                   long long, int row, T *a, T *b, T *c)
{
    at += row * from.step;
    *a = *c = 0;
    if (row > 0 || !(plan.flags & TRID_BATCH_FIRST)) *a = from.a[at];
    *b = from.b[at];
    if (row < plan.n - 1 || !(plan.flags & TRID_BATCH_LAST)) *c = from.c[at];
}
template <class T, class Rows>
TB_D void trid_p_batch_section_row(const trid_p_batch_plan &plan, const Rows &make, long long, long long system,
                                   int row, T *a, T *b, T *c)
{
    make(system, row, a, b, c);
    if (row == 0 && (plan.flags & TRID_BATCH_FIRST)) *a = 0;
    if (row == plan.n - 1 && (plan.flags & TRID_BATCH_LAST)) *c = 0;
}

/* Rows begin .. end-1 of a line, two or more, to the ends of these (trid_lane_interface_open); returns 1 + a bad row,
   or 0. Several rows are on their way at a time. */
template <class T, class Rows>
TB_D int trid_p_batch_march(const trid_p_batch_plan &plan, const Rows &rows, const trid_p_batch_place &p, int begin,
                            int end, const T *d, T *e)
{
    enum { R = 4 };
    const long long at = trid_p_batch_section_at(plan, rows, p), step = plan.lines.step;
    T a[R], b[R], c[R], r[R];
    d += p.at + begin * step;
    TB_UNROLL
    for (int j = 0; j < 2; j++, d += step) {
        trid_p_batch_section_row(plan, rows, at, p.system, begin + j, &a[j], &b[j], &c[j]);
        r[j] = *d;
    }
    int status = trid_lane_interface_open(e, a[0], b[0], c[0], r[0], a[1], b[1], c[1], r[1]) ? begin + 2 : 0;
    int row = begin + 2;
    TRID_P_BATCH_LOOP
    for (; row < end; row += R) {
        TB_UNROLL
        for (int j = 0; j < R; j++, d += step)
            if (row + j < end) {
                trid_p_batch_section_row(plan, rows, at, p.system, row + j, &a[j], &b[j], &c[j]);
                r[j] = *d;
            }
        TB_UNROLL
        for (int j = 0; j < R; j++)
            if (row + j < end && trid_lane_interface_row(e, a[j], b[j], c[j], r[j]) && !status) status = row + j + 1;
    }
    return status;
}

/* Sections to their ends, each thread having those of a part of a line: pairs of parts to one, and what is told. */
template <class T>
struct trid_p_batch_ends {
    trid_p_batch_shares shares;
    T *a, *c, *d;
};
template <class T>
struct trid_p_batch_between {
    T ends[TRID_LANE_INTERFACE_LEN][TRID_P_BATCH_ENDS_THREADS];
    int worst[TRID_P_BATCH_ENDS_THREADS];
};
template <class T>
TB_D void trid_p_batch_join_parts(const trid_p_batch_plan &plan, const trid_p_batch_place &p,
                                  const trid_p_batch_part &own, int parts, int bad, T *e,
                                  trid_p_batch_between<T> *between, const trid_p_batch_ends<T> &to)
{
    const int thread = (int)threadIdx.x, n = plan.n;
    TRID_P_BATCH_LOOP
    for (int m = 1; m < parts; m *= 2) {
        if (own.part % (2 * m) == m) {
            TB_UNROLL
            for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) between->ends[k][thread] = e[k];
            between->worst[thread] = bad;
        }
        __syncthreads();
        if (own.part % (2 * m) == 0 && p.there) {
            const int other = thread + m * own.next;
            T below[TRID_LANE_INTERFACE_LEN];
            TB_UNROLL
            for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) below[k] = between->ends[k][other];
            if (between->worst[other] < bad) bad = between->worst[other];
            int at = trid_lane_interface_join(e, below) ? trid_p_batch_part_begin(n, own.part + m, parts) + 1 : 0;
            if (at && bad == TRID_P_BATCH_NO_ROW) bad = at;
        }
    }
    if (own.part > 0 || !p.there) return;
    T a[2], c[2], r[2];
    long long pitch, at = to.shares.of(p.system, &pitch);
    const int said = trid_lane_interface_close(e, a, c, r);
    if (said && bad == TRID_P_BATCH_NO_ROW) bad = said == 1 ? 1 : n;
    TB_UNROLL
    for (int k = 0; k < 2; k++, at += pitch) {
        to.a[at] = a[k];
        to.c[at] = c[k];
        to.d[at] = r[k];
    }
    trid_p_batch_tell(plan, p.system, bad, 0, (T)0, (T)0);
}

#define TRID_P_BATCH_ENDS_RESIDENT(T) (sizeof(T) == 4 ? 4 : 3)
template <class T, int BESIDE, class Rows>
TRID_KERNEL void __launch_bounds__(TRID_P_BATCH_ENDS_THREADS, TRID_P_BATCH_ENDS_RESIDENT(T))
    trid_p_batch_ends_reduce(trid_p_batch_plan plan, Rows rows, const T *d, int parts, trid_p_batch_ends<T> to)
{
    __shared__ trid_p_batch_between<T> between;
    const int n = plan.n;
    const trid_p_batch_part own = trid_p_batch_part_of(BESIDE, parts);
    const trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, own.lines, own.line, 0);
    T e[TRID_LANE_INTERFACE_LEN] = {0, 0, 0, 0, 0, 0, 0};
    int bad = TRID_P_BATCH_NO_ROW;
    if (p.there)
        bad = trid_p_batch_row(trid_p_batch_march(plan, rows, p, trid_p_batch_part_begin(n, own.part, parts),
                                                  trid_p_batch_part_begin(n, own.part + 1, parts), d, e),
                               n);
    trid_p_batch_join_parts(plan, p, own, parts, bad, e, &between, to);
}

/* One matrix for all lines, which lie side by side: a block marches through the matrix once, a thread through each part
   of it, and leaves of a row what a right-hand side needs, with which it takes one tile of lines after another. That is
   a, the reciprocal of the pivot and what couples the part's first row to the row before; of the part's first two rows
   nothing comes before. */
enum { TRID_P_BATCH_ENDS_STEP = 4 };
template <class T>
TB_D int trid_p_batch_march_matrix(int begin, int end, T *kept, T *e)
{
    T *own = kept + begin * TRID_P_BATCH_ENDS_STEP, *next = own + TRID_P_BATCH_ENDS_STEP;
    /* right-hand sides of 1, with nothing before them, leave the reciprocals */
    int status =
        trid_lane_interface_open(e, own[0], own[1], own[2], (T)0, next[0], next[1], next[2], (T)1) ? begin + 2 : 0;
    next[0] = next[2] = 0;
    next[1] = e[6];
    TRID_P_BATCH_LOOP
    for (int row = begin + 2; row < end; row++) {
        next += TRID_P_BATCH_ENDS_STEP;
        const T a = next[0], before = e[2];
        e[6] = 0;
        if (trid_lane_interface_row(e, a, next[1], next[2], (T)1) && !status) status = row + 1;
        next[1] = e[6];
        next[2] = before;
    }
    return status;
}
/* As trid_lane_interface_row, right-hand sides alone; d is where the part's first row is. ALL: rows are not counted. */
template <class T, int R, int ALL>
TB_D void trid_p_batch_march_some(int rows, const T *kept, const T *d, long long step, T *top, T *bottom)
{
    enum { V = 16 / sizeof(T) };
    T r[R];
    TB_UNROLL
    for (int j = 0; j < R; j++, d += step) r[j] = ALL || j < rows ? *d : (T)0;
    TB_UNROLL
    for (int j = 0; j < R; j++)
        if (ALL || j < rows) {
            const T *of = kept + j * TRID_P_BATCH_ENDS_STEP;
            const trid_p_batch_word<T> two = *(const trid_p_batch_word<T> *)of;
            const T before = V > 2 ? two.v[V > 2 ? 2 : 0] : of[2];
            *top -= before * *bottom;
            *bottom = two.v[1] * (r[j] - two.v[0] * *bottom);
        }
}
template <class T>
TB_D void trid_p_batch_march_right(int begin, int end, const T *kept, const T *d, long long step, T *top, T *bottom)
{
    enum { R = 8 };
    int row = begin + 1;
    *top = *d;
    *bottom = 0;
    d += step;
    kept += row * TRID_P_BATCH_ENDS_STEP;
    TRID_P_BATCH_LOOP
    for (; row + R <= end; row += R, d += R * step, kept += R * TRID_P_BATCH_ENDS_STEP)
        trid_p_batch_march_some<T, R, 1>(R, kept, d, step, top, bottom);
    trid_p_batch_march_some<T, R, 0>(end - row, kept, d, step, top, bottom);
}
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800 /* 1024 threads a multiprocessor */
#define TRID_P_BATCH_ENDS_COMMON_RESIDENT(T) 4
#else
#define TRID_P_BATCH_ENDS_COMMON_RESIDENT(T) (sizeof(T) == 4 ? 6 : 4)
#endif
template <class T>
TRID_KERNEL void __launch_bounds__(TRID_P_BATCH_ENDS_THREADS, TRID_P_BATCH_ENDS_COMMON_RESIDENT(T))
    trid_p_batch_ends_reduce_common(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, const T *d, int parts,
                                    trid_p_batch_ends<T> to)
{
    enum { MOST = 8 };
    __shared__ trid_p_batch_between<T> between;
    __shared__ T matrix[MOST][TRID_LANE_INTERFACE_LEN];
    __shared__ int bad[MOST];
    TRID_DYNAMIC_SHARED(dynamic);
    T *kept = (T *)dynamic;
    const int thread = (int)threadIdx.x, n = plan.n;
    const trid_p_batch_part own = trid_p_batch_part_of(1, parts);
    TRID_P_BATCH_LOOP
    for (int row = thread; row < n; row += TRID_P_BATCH_ENDS_THREADS) {
        T *of = kept + row * TRID_P_BATCH_ENDS_STEP;
        trid_p_batch_section_row(plan, rows, 0, 0, row, &of[0], &of[1], &of[2]);
    }
    __syncthreads();
    if (thread < parts) {
        T e[TRID_LANE_INTERFACE_LEN];
        int status = trid_p_batch_march_matrix(trid_p_batch_part_begin(n, thread, parts),
                                               trid_p_batch_part_begin(n, thread + 1, parts), kept, e);
        bad[thread] = trid_p_batch_row(status, n);
        TB_UNROLL
        for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) matrix[thread][k] = e[k];
    }
    const int begin = trid_p_batch_part_begin(n, own.part, parts),
              end = trid_p_batch_part_begin(n, own.part + 1, parts);
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        const trid_p_batch_place p = trid_p_batch_place_of(plan, index, own.lines, own.line, 0);
        T e[TRID_LANE_INTERFACE_LEN], top = 0, bottom = 0;
        __syncthreads(); /* the matrix is there, what was between parts has been read */
        if (p.there)
            trid_p_batch_march_right(begin, end, kept, d + (p.at + begin * plan.lines.step), plan.lines.step, &top,
                                     &bottom);
        TB_UNROLL
        for (int k = 0; k < TRID_LANE_INTERFACE_LEN; k++) e[k] = matrix[own.part][k];
        e[3] = top;
        e[6] = bottom;
        trid_p_batch_join_parts(plan, p, own, parts, bad[own.part], e, &between, to);
    }
}

/* Rows from .. to-1 of d times those of u and of v, of which sides has bits 1 and 2; every parts-th row. ALL: rows are
   not counted. */
template <class T, int SIDES, int R, int ALL>
TB_D void trid_p_batch_weigh_some(int rows, const T *u, const T *v, long long matrix_pace, const T *d, long long pace,
                                  T *sum)
{
    T r[R], wu[R], wv[R];
    TB_UNROLL
    for (int j = 0; j < R; j++, d += pace, u += matrix_pace, v += matrix_pace) {
        const int here = ALL || j < rows;
        r[j] = here ? *d : (T)0;
        wu[j] = here && (SIDES & 1) ? *u : (T)0;
        wv[j] = here && (SIDES & 2) ? *v : (T)0;
    }
    TB_UNROLL
    for (int j = 0; j < R; j++) {
        if (SIDES & 1) sum[0] += wu[j] * r[j];
        if (SIDES & 2) sum[1] += wv[j] * r[j];
    }
}
template <class T, int SIDES>
TB_D void trid_p_batch_weigh(int from, int to, int parts, const T *u, const T *v, long long matrix_step, const T *d,
                             long long step, T *sum)
{
    enum { R = 8 };
    const long long pace = parts * step, matrix_pace = parts * matrix_step;
    int rows = (to - from + parts - 1) / parts;
    u += from * matrix_step, v += from * matrix_step, d += from * step;
    TRID_P_BATCH_LOOP
    for (; rows >= R; rows -= R, u += R * matrix_pace, v += R * matrix_pace, d += R * pace)
        trid_p_batch_weigh_some<T, SIDES, R, 1>(R, u, v, matrix_pace, d, pace, sum);
    if (rows > 0) trid_p_batch_weigh_some<T, SIDES, R, 0>(rows, u, v, matrix_pace, d, pace, sum);
}

/* The same by weights, a being u and b v: d of the ends, by `first` rows from the top and `last` from the bottom.
   COMMON: by those of one matrix for all lines, which a block keeps for one tile after another; else it has one. */
template <class T, int BESIDE, int COMMON>
TRID_KERNEL void __launch_bounds__(TRID_P_BATCH_ENDS_THREADS, COMMON ? TRID_P_BATCH_ENDS_COMMON_RESIDENT(T) : 1)
    trid_p_batch_ends_weigh(trid_p_batch_plan plan, trid_p_batch_arrays<T> from, const T *d, int first, int last,
                            int parts, trid_p_batch_shares shares, T *ends)
{
    __shared__ T between[2][TRID_P_BATCH_ENDS_THREADS];
    TRID_DYNAMIC_SHARED(dynamic);
    T *kept = (T *)dynamic;
    const int thread = (int)threadIdx.x, n = plan.n;
    const trid_p_batch_part own = trid_p_batch_part_of(BESIDE, parts);
    const long long step = plan.lines.step, matrix_step = COMMON ? 2 : from.step;
    TRID_P_BATCH_LOOP
    for (int row = thread; COMMON && row < n; row += TRID_P_BATCH_ENDS_THREADS) {
        kept[2 * row] = from.a[row];
        kept[2 * row + 1] = from.b[row];
    }
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        const trid_p_batch_place p = trid_p_batch_place_of(plan, index, own.lines, own.line, 0);
        T sum[2] = {0, 0};
        if (COMMON) __syncthreads(); /* the weights are there, what was between parts has been read */
        if (p.there) {
            const long long at = COMMON ? 0 : trid_p_batch_matrix_at(plan, from, p, 0);
            const T *u = COMMON ? kept : from.a + at, *v = COMMON ? kept + 1 : from.b + at, *right = d + p.at;
            if (first + last > n) {
                trid_p_batch_weigh<T, 3>(own.part, n, parts, u, v, matrix_step, right, step, sum);
            } else {
                trid_p_batch_weigh<T, 1>(own.part, first, parts, u, v, matrix_step, right, step, sum);
                trid_p_batch_weigh<T, 2>(n - last + own.part, n, parts, u, v, matrix_step, right, step, sum);
            }
        }
        TRID_P_BATCH_LOOP
        for (int m = 1; m < parts; m *= 2) {
            if (own.part % (2 * m) == m) between[0][thread] = sum[0], between[1][thread] = sum[1];
            __syncthreads();
            if (own.part % (2 * m) == 0)
                for (int k = 0; k < 2; k++) sum[k] += between[k][thread + m * own.next];
        }
        if (own.part == 0 && p.there) {
            long long pitch, at = shares.of(p.system, &pitch);
            ends[at] = sum[0];
            ends[at + pitch] = sum[1];
        }
    }
}

/* The weights, a line a thread. */
template <class T>
TRID_KERNEL void __launch_bounds__(TRID_P_BATCH_ENDS_THREADS)
    trid_p_batch_ends_factor(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, T *u, T *v,
                             trid_p_batch_shares shares, T *ends_a, T *ends_c, int *reach)
{
    const trid_p_batch_place p =
        trid_p_batch_place_of(plan, blockIdx.x, TRID_P_BATCH_ENDS_THREADS, (int)threadIdx.x, 0);
    if (!p.there) return;
    T a[2] = {0, 0}, c[2] = {0, 0};
    int rows_needed[2] = {1, 1};
    long long pitch, at = shares.of(p.system, &pitch);
    int status = trid_lane_interface_factor(plan.n, plan.flags, rows.a + p.at, rows.b + p.at, rows.c + p.at, u + p.at,
                                            v + p.at, plan.lines.step, a, c, rows_needed);
    TB_UNROLL
    for (int k = 0; k < 2; k++) {
        ends_a[at + k * pitch] = a[k];
        ends_c[at + k * pitch] = c[k];
        atomicMax(&reach[k], rows_needed[k]);
    }
    trid_p_batch_tell(plan, p.system, trid_p_batch_row(status, plan.n), 0, (T)0, (T)0);
}

/* ---- long systems: chunks, and what is left of them -------------------------------------------------------------- */

/* A system is cut into chunks of M rows, held by the 32 lanes of a warp or by sections of a block, K rows each. Of each
   its first unknown f and its last one z are kept and the others eliminated; the two rows that are left,

       a l + b f + c z = d      l: z of the chunk before          row 2i of what is left of a system, and
       a f +   z + c g = d      g: f of the next one              row 2i + 1, i being the chunk

   are those of a tridiagonal system of n / (M/2) rows, in scratch, which the same launch solves, by chunks again where
   it is still too long. Then each chunk is a system for itself, whose first and last rows say what f and z are. So
   a, b, c, d are read twice, and x is written once. Beyond the system's end are identity rows, z may be one of these.

   A row that failed is where it shows: among the rows of a chunk; or in what is left, whose row 2i is the chunk's first
   and 2i + 1 its last; else when the chunk is solved, which is asked for last. */
template <class T>
struct trid_p_batch_levels {
    trid_p_batch_plan plan;
    unsigned chunks;             /* of a system */
    T *left[4];                  /* a, b, c, d of what is left; then d is x of it */
    long long row, system;       /* what lies between two rows of it, and between two systems */
    int *worst;                  /* of each system the least row that failed in a chunk, before and after; or null */
    const int *below;            /* of each system the status of what is left */
    unsigned long long *largest; /* CHECKED: of each system the bits of the largest error and size */
    T *keep;                     /* REFINED: where the first x goes .. */
    const T *before;             /* .. and where it is, after that */
};

enum { TRID_P_BATCH_NO_ROW_BYTE = 0x7f }; /* as bytes of a row in worst, which make one beyond all others */

/* What a row of the chunk's says of the system's rows. */
TB_D void trid_p_batch_failed(int *worst, long long system, int after, int bad)
{
    if (worst && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[2 * system + after], bad);
}

/* The rows that are left of a chunk, whose first row was top; a, c, d are what trid_p_batch_reduce left in this thread
   but for the last row, which couples to f (a) and z (c; in the chunk's last row to g). */
template <class T>
TB_D void trid_p_batch_leave(int K, const trid_p_batch_levels<T> &levels, long long at, int is_first, int is_last,
                             const T *top, const T *a, const T *c, const T *d)
{
    if (is_first) { /* row 1 in f and z, put into row 0 */
        levels.left[0][at] = top[0];
        levels.left[1][at] = top[1] - top[2] * (a[1] - c[1] * a[K - 1]);
        levels.left[2][at] = top[2] * (c[1] * c[K - 1]);
        levels.left[3][at] = top[3] - top[2] * (d[1] - c[1] * d[K - 1]);
    }
    if (is_last) {
        at += levels.row;
        levels.left[0][at] = a[K - 1];
        levels.left[1][at] = 1;
        levels.left[2][at] = c[K - 1];
        levels.left[3][at] = d[K - 1];
    }
}

/* The first row of a chunk is put aside, and f stands for l: 'x[0] = l'. */
template <class T>
TB_D void trid_p_batch_put_aside(int first, T *a, T *b, T *c, T *d, T *top)
{
    top[0] = first > 0 ? a[0] : (T)0;
    top[1] = b[0];
    top[2] = c[0];
    top[3] = d[0];
    a[0] = -1;
    b[0] = 1;
    c[0] = d[0] = 0;
}

/* A warp's chunk of a system. */
struct trid_p_batch_chunk {
    trid_p_batch_tile tile;
    long long system, at; /* its index; where the chunk begins in d and x */
    int chunk, total;     /* rows */
};
TB_D trid_p_batch_chunk trid_p_batch_chunk_of(int K, const trid_p_batch_plan &plan, unsigned chunks, unsigned index)
{
    unsigned system = index / chunks, group = plan.lines.groups == 1 ? 0 : system / plan.per_group;
    trid_p_batch_chunk p = {{group, system - group * plan.per_group, 1}, system, 0, 0, 0};
    p.chunk = (int)(index - system * chunks);
    p.at = group * plan.lines.jump + p.tile.first * plan.lines.stride + 32 * K * p.chunk * plan.lines.step;
    p.total = plan.n - 32 * K * p.chunk;
    if (p.total > 32 * K) p.total = 32 * K;
    return p;
}

/* The x that a step of refinement begins with, in the lane's rows, and around them. */
template <class T>
TB_D void trid_p_batch_before(int K, const trid_p_batch_levels<T> &levels, const trid_p_batch_chunk &p, int held, T *x,
                              T *left, T *right, T *shared)
{
    const T *from = levels.before + (p.system * levels.plan.n + 32 * K * p.chunk);
    int lane = trid_warp_lane(), slot[TRID_MOST_ROWS];
    trid_p_batch_fetch<TRID_P_BATCH_DENSE>(K, levels.plan, 0, p.total, 0, from, 1, 0, x);
    trid_p_batch_turn<TRID_P_BATCH_DENSE, 1>(K, held, (T)0, slot, x, shared);
    *left = __shfl_up_sync(TB_FULL_WARP, x[K - 1], 1);
    *right = __shfl_down_sync(TB_FULL_WARP, x[0], 1);
    if (lane == 0) *left = p.chunk > 0 ? from[-1] : (T)0;
    if (lane == 31) *right = held > K ? from[32 * K] : (T)0;
}

/* Blocks a multiprocessor, as TRID_P_BATCH_RESIDENT: with K = 16 that many do without local memory. */
#ifndef TRID_P_BATCH_CHUNKS_RESIDENT
#define TRID_P_BATCH_CHUNKS_RESIDENT(T, PATH, CHECKED)                                                                 \
    ((CHECKED) ? 1 : (PATH) == TRID_P_BATCH_PITCHED ? 4 : sizeof(T) == 4 ? 5 : 6)
#endif

/* A chunk a warp, systems lying as for trid_p_batch_warps. CHECKED: with levels.before, for the right-hand side that
   this x leaves. */
template <class T, int K, int PATH, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, CHECKED), TRID_P_BATCH_CHUNKS_RESIDENT(T, PATH, CHECKED))
    trid_p_batch_chunks_reduce(trid_p_batch_levels<T> levels, Rows rows, const T *d)
{
    const int LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, CHECKED);
    __shared__ T buffer[WARPS][LEN + 32];
    const trid_p_batch_plan &plan = levels.plan;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, slot[K];
    unsigned index = blockIdx.x * WARPS + (unsigned)warp;
    if (index >= plan.tiles) return;
    trid_p_batch_chunk p = trid_p_batch_chunk_of(K, plan, levels.chunks, index);
    int first = K * (32 * p.chunk + lane), held = plan.n - first;
    T ra[K], rb[K], rc[K], rd[K], top[4] = {0, 0, 0, 0}, known[2], *shared = buffer[warp];
    trid_p_batch_ask_ends(K, rows, p.system, first, held, known);
    trid_p_batch_pair_matrix<PATH>(K, plan, p.tile, p.total, p.chunk, held, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, 0, p.total, 0, d + p.at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_turned<PATH, 1>(K, trid_p_batch_rows_of(rows), held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_turn<PATH, 1>(K, held, (T)0, slot, rd, shared);
    trid_p_batch_put_ends(K, rows, first, held, known, ra, rb, rc, rd);
    if (CHECKED && levels.before) {
        T rx[K], left, right, error = 0, size = 0;
        trid_p_batch_before(K, levels, p, held, rx, &left, &right, shared);
        trid_p_batch_defect(K, first, plan.n, held, ra, rb, rc, rd, rx, left, right, rd, &error, &size);
    }
    if (held <= K) rc[K - 1] = 0; /* nothing is below */
    if (lane == 0) trid_p_batch_put_aside(first, ra, rb, rc, rd, top);
    int status = trid_lane_reduce(K, ra, rb, rc, rd);
    T first_a = __shfl_down_sync(TB_FULL_WARP, ra[0], 1), first_c = __shfl_down_sync(TB_FULL_WARP, rc[0], 1);
    T first_d = __shfl_down_sync(TB_FULL_WARP, rd[0], 1);
    if (lane == 31) first_a = 0, first_c = -1, first_d = 0; /* stays coupled to g */
    int bad = trid_lane_link(&ra[K - 1], &rc[K - 1], &rd[K - 1], first_a, first_c, first_d);
    bad |= trid_warp_pcr_open(32, &ra[K - 1], &rc[K - 1], &rd[K - 1]);
    trid_p_batch_leave(K, levels, p.system * levels.system + 2 * p.chunk * levels.row, lane == 0, lane == 31, top, ra,
                       rc, rd);
    /* What may have begun elsewhere counts as the chunk's last row. */
    int row = status ? first + status : bad & 1 ? first + K : bad ? 32 * K * (p.chunk + 1) : 0;
    trid_p_batch_failed(levels.worst, p.system, 0, trid_p_batch_row(row, plan.n));
}

/* The chunk's unknowns, f and z being known. */
template <class T, int K, int PATH, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, CHECKED), TRID_P_BATCH_CHUNKS_RESIDENT(T, PATH, CHECKED))
    trid_p_batch_chunks_expand(trid_p_batch_levels<T> levels, Rows rows, const T *d, T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, CHECKED), OWN = CHECKED ? LEN + 32 : 0;
    __shared__ T buffer[WARPS][(CHECKED ? 5 : 1) * (LEN + 32)];
    const trid_p_batch_plan &plan = levels.plan;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, slot[K];
    unsigned index = blockIdx.x * WARPS + (unsigned)warp;
    if (index >= plan.tiles) return;
    trid_p_batch_chunk p = trid_p_batch_chunk_of(K, plan, levels.chunks, index);
    int first = K * (32 * p.chunk + lane), held = plan.n - first;
    const T *known = levels.left[3] + (p.system * levels.system + 2 * p.chunk * levels.row);
    T ra[K], rb[K], rc[K], rd[K], end = lane == 0 ? known[0] : lane == 31 ? known[levels.row] : (T)0;
    T *shared = buffer[warp], left, right, of_system[2];
    trid_p_batch_ask_ends(K, rows, p.system, first, held, of_system);
    trid_p_batch_pair_matrix<PATH>(K, plan, p.tile, p.total, p.chunk, held, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, 0, p.total, 0, d + p.at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_turned<PATH, 1>(K, trid_p_batch_rows_of(rows), held, slot, ra, rb, rc, shared, OWN);
    trid_p_batch_turn<PATH, 1>(K, held, (T)0, slot, rd, shared + 3 * OWN);
    trid_p_batch_put_ends(K, rows, first, held, of_system, ra, rb, rc, rd);
    if (CHECKED && levels.before) {
        T rx[K], error = 0, size = 0;
        trid_p_batch_before(K, levels, p, held, rx, &left, &right, shared + 4 * OWN);
        trid_p_batch_defect(K, first, plan.n, held, ra, rb, rc, rd, rx, left, right, rd, &error, &size);
    }
    if (lane == 0) trid_p_batch_know(0, end, ra, rb, rc, rd);
    if (lane == 31) trid_p_batch_know(K - 1, end, ra, rb, rc, rd);
    int row = trid_warp_hybrid(K, 32, 32 * K, ra, rb, rc, rd);
    if (row) row += 32 * K * p.chunk;
    trid_p_batch_failed(levels.worst, p.system, 1, trid_p_batch_row(row, plan.n));
    trid_p_batch_plan to = plan;
    T *at = x + p.at;
    if (CHECKED) {
        if (levels.before) {
            const T *was = shared + 4 * OWN + trid_p_batch_column(K, B);
            TB_UNROLL
            for (int j = 0; j < K; j++)
                if (j < held) rd[j] += was[j];
        } else {
            left = right = 0;
        }
        T around = __shfl_up_sync(TB_FULL_WARP, rd[K - 1], 1);
        if (lane > 0)
            left = around;
        else if (p.chunk > 0)
            left += known[-levels.row];
        around = __shfl_down_sync(TB_FULL_WARP, rd[0], 1);
        if (lane < 31)
            right = around;
        else if (held > K)
            right += known[2 * levels.row];
        if (levels.keep) { /* only the first x */
            at = levels.keep + (p.system * plan.n + 32 * K * p.chunk);
            to.lines.step = 1;
            to.flags = 0;
        } else if (levels.largest) {
            const T *kept = shared + 3 * OWN + trid_p_batch_column(K, B);
            T kd[K], rest[K], error = 0, size = 0;
            trid_p_batch_again(K, OWN, trid_p_batch_rows_of(rows), p.system, first, held, shared, ra, rb, rc);
            TB_UNROLL
            for (int j = 0; j < K; j++) kd[j] = j < held ? kept[j] : (T)0;
            trid_p_batch_defect(K, first, plan.n, held, ra, rb, rc, kd, rd, left, right, rest, &error, &size);
            for (int m = 1; m < 32; m *= 2) {
                error = trid_p_batch_larger(error, (T)__shfl_xor_sync(TB_FULL_WARP, error, m));
                size = trid_p_batch_larger(size, (T)__shfl_xor_sync(TB_FULL_WARP, size, m));
            }
            if (lane == 0) {
                atomicMax(&levels.largest[2 * p.system], trid_p_batch_bits(error));
                atomicMax(&levels.largest[2 * p.system + 1], trid_p_batch_bits(size));
            }
        }
    }
    trid_p_batch_store<PATH, 1>(K, to, p.total, held, slot, rd, at, shared);
}

/* Systems side by side: a chunk is S sections of K rows, of L systems. */
template <class T>
TB_D void trid_p_batch_lines_before(int K, const trid_p_batch_levels<T> &levels, const trid_p_batch_place &p, int first,
                                    T *x, T *left, T *right)
{
    long long pitch = levels.plan.lines.systems * levels.plan.lines.groups;
    const T *from = levels.before + (first * pitch + p.system);
    trid_p_batch_gather(K, 0, p.held, from, pitch, x);
    *left = first > 0 && p.held > 0 ? from[-pitch] : (T)0;
    *right = p.held > K ? from[K * pitch] : (T)0;
}
template <class T, int K, int L, int S, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(L *S, TRID_P_BATCH_LINES_RESIDENT(T, K, L *S))
    trid_p_batch_lines_reduce(trid_p_batch_levels<T> levels, Rows rows, const T *d)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S) };
    __shared__ T shared[6 * PART];
    __shared__ int worst[L];
    const trid_p_batch_plan &plan = levels.plan;
    int thread = (int)threadIdx.x, line = thread % L, section = thread / L, chunk = (int)(blockIdx.x / plan.tiles), bad;
    int begin = K * S * chunk, first = begin + K * section;
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x % plan.tiles, L, line, first);
    T a[K], b[K], c[K], r[K], top[4] = {0, 0, 0, 0}, known[2], unused;
    trid_p_batch_ask_ends(K, rows, p.system, first, p.held, known);
    trid_p_batch_own_rows(K, plan, p, first, trid_p_batch_rows_of(rows), a, b, c);
    trid_p_batch_gather(K, 0, p.held, d + p.at, plan.lines.step, r);
    trid_p_batch_put_ends(K, rows, first, p.held, known, a, b, c, r);
    if (CHECKED && levels.before) {
        T x[K], left, right, error = 0, size = 0;
        trid_p_batch_lines_before(K, levels, p, first, x, &left, &right);
        trid_p_batch_defect(K, first, plan.n, p.held, a, b, c, r, x, left, right, r, &error, &size);
    }
    if (p.held <= 1) c[0] = 0;
    if (section == 0) {
        worst[line] = TRID_P_BATCH_NO_ROW;
        trid_p_batch_put_aside(first, a, b, c, r, top);
    }
    trid_p_batch_sweep<T, K, L, S, 1>(plan.n - begin, p.held, a, b, c, r, shared, worst, &bad, &unused);
    if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
    __syncthreads();
    if (!p.there) return;
    trid_p_batch_leave(K, levels, p.system * levels.system + 2 * chunk * levels.row, section == 0, section == S - 1,
                       top, a, c, r);
    if (section == 0 && worst[line] != TRID_P_BATCH_NO_ROW)
        trid_p_batch_failed(levels.worst, p.system, 0, trid_p_batch_row(begin + worst[line], plan.n));
}
template <class T, int K, int L, int S, int CHECKED, class Rows>
TRID_KERNEL void __launch_bounds__(L *S, CHECKED ? 1 : TRID_P_BATCH_LINES_RESIDENT(T, K, L *S))
    trid_p_batch_lines_expand(trid_p_batch_levels<T> levels, Rows rows, const T *d, T *x)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S) };
    __shared__ T shared[6 * PART];
    __shared__ int worst[L];
    const trid_p_batch_plan &plan = levels.plan;
    int thread = (int)threadIdx.x, line = thread % L, section = thread / L, chunk = (int)(blockIdx.x / plan.tiles), bad;
    int begin = K * S * chunk, first = begin + K * section;
    long long step = plan.lines.step;
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x % plan.tiles, L, line, first);
    const T *known = levels.left[3] + (p.system * levels.system + 2 * chunk * levels.row);
    T a[K], b[K], c[K], r[K], of_system[2], left, before_left = 0, before_right = 0;
    trid_p_batch_ask_ends(K, rows, p.system, first, p.held, of_system);
    trid_p_batch_own_rows(K, plan, p, first, trid_p_batch_rows_of(rows), a, b, c);
    trid_p_batch_gather(K, 0, p.held, d + p.at, step, r);
    trid_p_batch_put_ends(K, rows, first, p.held, of_system, a, b, c, r);
    if (CHECKED && levels.before) {
        T was[K], error = 0, size = 0;
        trid_p_batch_lines_before(K, levels, p, first, was, &before_left, &before_right);
        trid_p_batch_defect(K, first, plan.n, p.held, a, b, c, r, was, before_left, before_right, r, &error, &size);
    }
    if (section == 0) {
        worst[line] = TRID_P_BATCH_NO_ROW;
        trid_p_batch_know(0, p.there ? known[0] : (T)0, a, b, c, r);
    }
    if (section == S - 1) trid_p_batch_know(K - 1, p.there ? known[levels.row] : (T)0, a, b, c, r);
    trid_p_batch_sweep<T, K, L, S>(plan.n - begin, p.held, a, b, c, r, shared, worst, &bad, &left);
    if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
    T *to = x + p.at;
    int add = plan.flags & TRID_BATCH_ADD;
    if (CHECKED) {
        T right = 0;
        if (section == 0 && p.there && chunk > 0) left = known[-levels.row];
        shared[TRID_INTERLEAVED_SLOT(L, S, U, thread)] = r[0];
        __syncthreads();
        if (section < S - 1)
            right = shared[TRID_INTERLEAVED_SLOT(L, S, U, thread + L)];
        else if (p.held > K)
            right = known[2 * levels.row];
        if (levels.before) {
            trid_p_batch_lines_before(K, levels, p, first, a, &before_left, &before_right);
            left += before_left;
            right += before_right;
            TB_UNROLL
            for (int j = 0; j < K; j++) r[j] += a[j];
        }
        if (levels.keep) {
            step = plan.lines.systems * plan.lines.groups;
            to = levels.keep + (first * step + p.system);
            add = 0;
        } else if (levels.largest) {
            T kd[K], rest[K], error = 0, size = 0;
            trid_p_batch_own_rows(K, plan, p, first, trid_p_batch_rows_of(rows), a, b, c);
            trid_p_batch_gather(K, 0, p.held, d + p.at, step, kd);
            trid_p_batch_defect(K, first, plan.n, p.held, a, b, c, kd, r, left, right, rest, &error, &size);
            if (p.held > 0) {
                atomicMax(&levels.largest[2 * p.system], trid_p_batch_bits(error));
                atomicMax(&levels.largest[2 * p.system + 1], trid_p_batch_bits(size));
            }
        }
    }
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (j < p.held) *to = add ? *to + r[j] : r[j];
        to += step;
    }
    __syncthreads();
    if (section == 0 && p.there && worst[line] != TRID_P_BATCH_NO_ROW)
        trid_p_batch_failed(levels.worst, p.system, 1, trid_p_batch_row(begin + worst[line], plan.n));
}

/* What became known of each system, a thread for each; chunks are of `rows` rows. */
template <class T, int CHECKED>
TRID_KERNEL void __launch_bounds__(256) trid_p_batch_told(trid_p_batch_plan plan, int rows, const int *worst,
                                                          const int *below, const unsigned long long *largest)
{
    long long system = 256ll * blockIdx.x + threadIdx.x;
    if (system >= plan.lines.systems * plan.lines.groups) return;
    if (plan.repair && plan.report.status[system] == 0) return;
    int row = worst[2 * system], left = below ? below[system] : 0;
    /* A chunk that failed spoils its two rows of what is left, and none above. */
    if (left > 0 && (left - 1) / 2 < (row - 1) / rows)
        row = trid_p_batch_row((left - 1) / 2 * rows + (left % 2 ? 1 : rows), plan.n);
    if (row > plan.n) row = worst[2 * system + 1];
    T error = CHECKED ? trid_p_batch_number((unsigned)largest[2 * system], (T)0) : (T)0;
    T size = CHECKED ? trid_p_batch_number((unsigned)largest[2 * system + 1], (T)0) : (T)0;
    trid_p_batch_tell(plan, system, row > plan.n ? (int)TRID_P_BATCH_NO_ROW : row, CHECKED, error, size);
}

/* With pivoting, what is left of a chunk are two rows in four unknowns, its face (trid_lane_pivoted_reduce). Faces are
   joined 32 at a time, by a warp, until one is left. Then the unknowns around each group come down the same way. The
   rows are eliminated twice, by the same instructions: where a system is so ill conditioned that another way of
   rounding gives other digits, what comes down must be that of the very rows that went up. So there is one kernel for
   both. */
template <class T>
struct trid_p_batch_tree {
    trid_p_batch_plan plan;
    unsigned count, groups;   /* of this level's faces in a system, of 32 of them */
    T *face, *outer, *joined; /* of this level; the next one's faces */
    const T *around;          /* and the unknowns around these */
    int *worst;
    int down;
};
template <class T, int K, int PATH>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 0), TRID_P_BATCH_PIVOTED_RESIDENT(T, K))
    trid_p_batch_pivoted_chunks(trid_p_batch_tree<T> tree, trid_p_batch_arrays<T> rows, const T *d, T *x)
{
    const int LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K), WARPS = TRID_P_BATCH_WARPS(T, 0);
    __shared__ T buffer[WARPS][LEN + 32];
    const trid_p_batch_plan &plan = tree.plan;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, slot[K], side;
    unsigned index = blockIdx.x * WARPS + (unsigned)warp, flags;
    if (index >= plan.tiles) return;
    trid_p_batch_chunk p = trid_p_batch_chunk_of(K, plan, tree.count, index);
    if (!trid_p_batch_wanted(plan, p.system, 1)) return;
    int position = 32 * p.chunk + lane, first = K * position, held = plan.n - first;
    T ra[K], rb[K], rc[K], rd[K], face[9], kept[9], outer[4], *shared = buffer[warp];
    trid_p_batch_pair_matrix<PATH>(K, plan, p.tile, p.total, p.chunk, held, rows, ra, rb, rc);
    trid_p_batch_fetch<PATH>(K, plan, 0, p.total, 0, d + p.at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_turned<PATH, 1>(K, rows, held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_turn<PATH, 1>(K, held, (T)0, slot, rd, shared);
    if (first == 0) ra[0] = 0;
    if (held <= K) rc[K - 1] = 0;
    int met = trid_warp_pivoted_reduce(K, 32, position, ra, rb, rc, rd, face, &flags);
    met |= trid_warp_pivoted_up(1, 32, 32, position, face, kept, &side);
    if (!tree.down) {
        TB_UNROLL
        for (int k = 0; k < 9; k++)
            if (lane == 15) tree.face[(p.system * tree.count + p.chunk) * 9 + k] = face[k];
        if (met) trid_p_batch_failed(tree.worst, p.system, 0, 1);
        return;
    }
    TB_UNROLL
    for (int k = 0; k < 4; k++) outer[k] = tree.outer[(p.system * tree.count + p.chunk) * 4 + k];
    trid_warp_pivoted_down(1, 32, 32, position, kept, side, outer);
    trid_warp_pivoted_expand(K, position, ra, rb, rc, rd, flags, outer);
    warp = trid_p_batch_again_as((int)threadIdx.x) / 32, lane = trid_p_batch_again_as(lane);
    p = trid_p_batch_chunk_of(K, plan, tree.count, blockIdx.x * WARPS + (unsigned)warp);
    held = plan.n - K * (32 * p.chunk + lane), shared = buffer[warp];
    trid_p_batch_store<PATH, 1>(K, plan, p.total, held, slot, rd, x + p.at, shared);
}
template <class T>
TRID_KERNEL void __launch_bounds__(128) trid_p_batch_pivoted_groups(trid_p_batch_tree<T> tree)
{
    const trid_p_batch_plan &plan = tree.plan;
    int lane = (int)threadIdx.x & 31, side;
    unsigned index = blockIdx.x * 4 + threadIdx.x / 32;
    if (index >= plan.tiles) return;
    unsigned system = index / tree.groups, group = index - system * tree.groups, i = 32 * group + (unsigned)lane;
    if (!trid_p_batch_wanted(plan, system, 1)) return;
    long long own = (long long)system * tree.count + i, joined = (long long)system * tree.groups + group;
    T face[9], kept[9], outer[4];
    TB_UNROLL
    for (int k = 0; k < 9; k++) /* where there is none: two unknowns that are zero, facing up or down */
        face[k] = i < tree.count ? tree.face[own * 9 + k] : k == (lane & 1) || k == 7 - (lane & 1) ? (T)1 : (T)0;
    int met = trid_warp_pivoted_up(1, 32, 32, (int)i, face, kept, &side);
    if (tree.groups == 1) {
        met |= trid_warp_pivoted_root(32, 32, face, outer);
    } else if (!tree.down) {
        TB_UNROLL
        for (int k = 0; k < 9; k++)
            if (lane == 15) tree.joined[joined * 9 + k] = face[k];
    } else {
        TB_UNROLL
        for (int k = 0; k < 4; k++) outer[k] = tree.around[joined * 4 + k];
    }
    if (met) trid_p_batch_failed(tree.worst, system, 0, 1);
    if (tree.groups > 1 && !tree.down) return;
    trid_warp_pivoted_down(1, 32, 32, (int)i, kept, side, outer);
    TB_UNROLL
    for (int k = 0; k < 4; k++)
        if (i < tree.count) tree.outer[own * 4 + k] = outer[k];
}

/* ---- several right-hand sides, and factors ----------------------------------------------------------------------- */

/* Who has a system: lanes of a warp, a block, or sections of a block for one of lines side by side. first() is the
   thread's first row; lu() is of trid.h; open() and chain() are the halves of its solves by factors, down the rows and
   up: what depends on the matrix alone and what does not, d having been divided by the pivots. Rows beyond the system
   must be identity rows. pick() gives all who share the system its element `row` of u (0 for row -1), and pass() each
   the x of the thread that has the rows before or, with up, after its own. */
template <class T, int K>
struct trid_p_batch_in_warp {
    int W, rank;
    TRID_P_BATCH_MEMBER int first() const { return K * rank; }
    TRID_P_BATCH_MEMBER int lu(int n, T *a, T *b, T *c) const { return trid_warp_lu(K, W, n, a, b, c); }
    TRID_P_BATCH_MEMBER int open(int up, const T *m, T *keep) const
    {
        return trid_warp_recurrence_open(K, W, up, 0, m, trid_warp_recurrence_first(W, up), 0, keep);
    }
    TRID_P_BATCH_MEMBER void chain(int up, const T *m, const T *keep, int turns, T *d) const
    {
        trid_warp_recurrence(K, W, up, 0, m, keep, turns, d);
    }
    TRID_P_BATCH_MEMBER T pick(int row, const T *u) const
    {
        T v = 0;
        TB_UNROLL
        for (int j = 0; j < K; j++)
            if (K * rank + j == row) v = u[j];
        return __shfl_sync(TB_FULL_WARP, v, row > 0 ? row / K : 0, W);
    }
    TRID_P_BATCH_MEMBER T pass(int up, T x) const
    {
        return up ? __shfl_down_sync(TB_FULL_WARP, x, 1, W) : __shfl_up_sync(TB_FULL_WARP, x, 1, W);
    }
};
template <class T, int K>
struct trid_p_batch_in_block {
    T *between; /* TRID_BLOCK_LU_LEN + 1 elements of shared memory, more than threads */
    TRID_P_BATCH_MEMBER int first() const { return K * (int)threadIdx.x; }
    TRID_P_BATCH_MEMBER int lu(int n, T *a, T *b, T *c) const
    {
        __syncthreads();
        return trid_block_lu(K, n, a, b, c, between);
    }
    TRID_P_BATCH_MEMBER int open(int up, const T *m, T *keep) const
    {
        __syncthreads();
        return trid_block_recurrence_open(K, up, 0, m, keep, between + up * TRID_BLOCK_RECURRENCE_LEN);
    }
    TRID_P_BATCH_MEMBER void chain(int up, const T *m, const T *keep, int turns, T *d) const
    {
        trid_block_recurrence(K, up, 0, m, keep, turns, d, between + up * TRID_BLOCK_RECURRENCE_LEN);
    }
    TRID_P_BATCH_MEMBER T pick(int row, const T *u) const
    {
        if (row < 0) return 0;
        __syncthreads(); /* the one before has been read */
        TB_UNROLL
        for (int j = 0; j < K; j++)
            if (first() + j == row) between[TRID_BLOCK_LU_LEN] = u[j];
        __syncthreads();
        return between[TRID_BLOCK_LU_LEN];
    }
    TRID_P_BATCH_MEMBER T pass(int up, T x) const
    {
        int thread = (int)threadIdx.x, from = up ? thread + 1 : thread - 1;
        __syncthreads();
        between[thread] = x;
        __syncthreads();
        return from >= 0 && from < (int)blockDim.x ? between[from] : (T)0;
    }
};
template <class T, int K, int L, int S>
struct trid_p_batch_in_lines {
    enum { LEN = TRID_P_INTERLEAVED_LU_LEN(L, S, sizeof(T) == 4 ? 32 : 16) };
    T *between; /* LEN + L elements of shared memory */
    TRID_P_BATCH_MEMBER int first() const { return K * ((int)threadIdx.x / L); }
    TRID_P_BATCH_MEMBER int lu(int n, T *a, T *b, T *c) const
    {
        __syncthreads();
        return trid_block_interleaved_lu(K, L, S, n, a, b, c, between);
    }
    TRID_P_BATCH_MEMBER int open(int up, const T *m, T *keep) const
    {
        __syncthreads();
        return trid_block_interleaved_recurrence_open(K, L, S, up, 0, m, keep, between);
    }
    TRID_P_BATCH_MEMBER void chain(int up, const T *m, const T *keep, int turns, T *d) const
    {
        trid_block_interleaved_recurrence(K, L, S, up, 0, m, keep, turns, d, between);
    }
    TRID_P_BATCH_MEMBER T pick(int row, const T *u) const
    {
        T *line = between + LEN + (int)threadIdx.x % L;
        if (row < 0) return 0;
        __syncthreads();
        TB_UNROLL
        for (int j = 0; j < K; j++)
            if (first() + j == row) *line = u[j];
        __syncthreads();
        return *line;
    }
    TRID_P_BATCH_MEMBER T pass(int up, T x) const
    {
        int thread = (int)threadIdx.x, from = up ? thread + L : thread - L;
        __syncthreads();
        between[thread] = x;
        __syncthreads();
        return from >= 0 && from < L * S ? between[from] : (T)0;
    }
};

/* What is more in these launches: how many right-hand sides, how far apart; where a periodic system's two corners are,
   that of row 0 and that of row n-1; where u goes that trid_batch_factor makes. */
template <class T>
struct trid_p_batch_more {
    long long sides, pitch;
    const T *top, *bottom;
    T *u;
};

/* The last row and the last column of a periodic system, which stay out of the factors: those of the n-1 rows before
   are an ordinary system's. x[n-1] is

       last * (d[n-1] - first x'[0] - second x'[n-2])

   where x' is what the other rows have without it, and those rows' x is x' + x[n-1] z, z being kept in shared memory.
   Of the transposed system that the same factors solve, x' and z are meant before the product with r, which comes last
   there. */
template <class T>
struct trid_p_batch_border {
    T first, second, last, link; /* link: c[n-2] / pivot */
};

/* What the two chains keep of the matrix, and whether they are taken in turns. */
template <class T>
struct trid_p_batch_chains {
    T keep[2][TRID_INTERLEAVED_RECURRENCE_LEN];
    int turns[2];
};

/* The matrix in the thread's rows becomes l, r, u; with TRID_BATCH_FACTORED it is a, r, u. If that is to be transposed,
   l and u change places: their substitutions come in the other order, x[j] + u[j-1] x[j-1] before x[j] + l[j+1] x[j+1].
   Of a periodic system the right-hand side that z belongs to is kept where z will be. Rows from n on may be anything
   but must be numbers. Returns 0, or 1 + a row with a bad pivot; the least of the threads' is the first such row. */
template <class T, int K, class Scope>
TB_D int trid_p_batch_take_apart(const Scope &scope, int n, int flags, T top, T bottom, T *a, T *b, T *c, T *kept,
                                 int pace, trid_p_batch_border<T> *border)
{
    const int factored = flags & TRID_BATCH_FACTORED, across = factored && (flags & TRID_BATCH_TRANSPOSED);
    const int periodic = flags & TRID_BATCH_PERIODIC, core = periodic ? n - 1 : n, first = scope.first();
    T low = 0, link = 0;
    int status = 0;
    if (periodic) {
        low = n > 1 ? scope.pick(n - 1, a) : top;
        border->last = scope.pick(n - 1, b);
        link = scope.pick(n - 2, c);
    }
    if (!factored) {
        status = scope.lu(core, a, b, c);
    } else {
        TB_UNROLL
        for (int j = 0; j < K; j++) {
            int row = first + j;
            if (row >= core) b[j] = 1;
            if (trid_bad_pivot(b[j]) && !status) status = row + 1;
            a[j] = row > 0 && row < core ? a[j] * b[j] : (T)0;
            if (row >= core - 1) c[j] = 0;
        }
    }
    if (periodic) {
        T head = top * scope.pick(0, b);
        if (!factored) link *= scope.pick(n - 2, b);
        TB_UNROLL
        for (int j = 0; j < K; j++) {
            T z = 0;
            if (first + j == 0) z -= across ? bottom : head;
            if (first + j == n - 2) z -= across ? low : link;
            kept[j * pace] = z;
        }
        border->first = across ? head : bottom;
        border->second = across ? link : low;
        border->link = link;
    }
    if (across) {
        T above = scope.pass(0, c[K - 1]), below = scope.pass(1, a[0]), l[K];
        TB_UNROLL
        for (int j = 0; j < K; j++) l[j] = j > 0 ? c[j - 1] : above;
        TB_UNROLL
        for (int j = 0; j < K; j++) c[j] = j < K - 1 ? a[j + 1] : below;
        TB_UNROLL
        for (int j = 0; j < K; j++) a[j] = l[j];
    }
    return status;
}
template <class T, class Scope>
TB_D void trid_p_batch_open(const Scope &scope, const T *l, const T *u, trid_p_batch_chains<T> *chains)
{
    chains->turns[0] = scope.open(0, l, chains->keep[0]);
    chains->turns[1] = scope.open(1, u, chains->keep[1]);
}

/* x of one right-hand side; or, first of all, z of a periodic system, and what x[n-1] is multiplied by: then the number
   of the last row is returned if this is bad, and else 0. */
template <class T, int K, class Scope>
TB_D int trid_p_batch_side(const Scope &scope, int n, int flags, int is_z, const T *l, const T *r, const T *u,
                           const trid_p_batch_chains<T> &chains, T *kept, int pace, trid_p_batch_border<T> *border,
                           T *d)
{
    const int factored = flags & TRID_BATCH_FACTORED, across = factored && (flags & TRID_BATCH_TRANSPOSED);
    const int periodic = flags & TRID_BATCH_PERIODIC, first = scope.first();
    T x = 0;
    if (periodic && !is_z) x = scope.pick(n - 1, d);
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (is_z)
            d[j] = kept[j * pace];
        else if (!across)
            d[j] *= r[j];
    }
    scope.chain(0, l, chains.keep[0], chains.turns[0], d);
    scope.chain(1, u, chains.keep[1], chains.turns[1], d);
    if (periodic) {
        T up = scope.pick(0, d), down = scope.pick(n - 2, d);
        if (n == 1) up = down = is_z ? 1 : 0; /* x[0] is its own neighbour */
        if (is_z) {
            if (!factored) border->last = trid_rcp_refined(border->last + border->first * up + border->second * down);
            TB_UNROLL
            for (int j = 0; j < K; j++) kept[j * pace] = d[j];
            return trid_bad_pivot(border->last) ? n : 0;
        }
        x = border->last * (x - border->first * up - border->second * down);
        TB_UNROLL
        for (int j = 0; j < K; j++) d[j] += x * kept[j * pace];
    }
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (across) d[j] *= r[j];
        if (periodic && first + j == n - 1) d[j] = x;
    }
    return 0;
}

/* r and u of a periodic system's last row, and of u the element before, as trid_batch_factor leaves them. */
template <class T, int K, class Scope>
TB_D void trid_p_batch_close(const Scope &scope, int n, T bottom, const trid_p_batch_border<T> &border, T *r, T *u)
{
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (scope.first() + j == n - 1) r[j] = border.last, u[j] = bottom;
        if (scope.first() + j == n - 2) u[j] = border.link;
    }
}

/* Corners of the system that begins `at` elements on in the matrix. */
template <class T>
TB_D void trid_p_batch_corners(const trid_p_batch_plan &plan, const trid_p_batch_more<T> &more, long long at, int there,
                               T *top, T *bottom)
{
    *top = *bottom = 0;
    if (there && (plan.flags & TRID_BATCH_PERIODIC)) *top = more.top[at], *bottom = more.bottom[at];
}

#define TRID_P_BATCH_LU_ROWS(T) (sizeof(T) == 4 ? 16 : 8) /* the K that leaves room for the next right-hand side */

/* Blocks a multiprocessor, as TRID_P_BATCH_RESIDENT. */
#define TRID_P_BATCH_LU_RESIDENT(T, K, PATH)                                                                           \
    (sizeof(T) == 8                 ? ((K) < 8                        ? 8                                              \
                                       : (PATH) == TRID_P_BATCH_EXACT ? 7                                              \
                                                                      : 6)                                             \
     : (K) < 16                     ? 4                                                                                \
     : (PATH) == TRID_P_BATCH_EXACT ? 4                                                                                \
     : (PATH) == TRID_P_BATCH_DENSE ? 3                                                                                \
                                    : 2)

/* As trid_p_batch_warps, the matrix being read once for all right-hand sides. FACTOR: the factors are stored, r in x,
   and there is no right-hand side. */
template <class T, int K, int PATH, int FACTOR>
TRID_KERNEL void __launch_bounds__(32 * TRID_P_BATCH_WARPS(T, 0), TRID_P_BATCH_LU_RESIDENT(T, K, PATH))
    trid_p_batch_lu_warps(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, trid_p_batch_more<T> more, const T *d,
                          T *x)
{
    const int B = sizeof(T) == 4 ? 32 : 16, LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    const int WARPS = TRID_P_BATCH_WARPS(T, 0), LITERAL = PATH == TRID_P_BATCH_EXACT || K > 16;
    __shared__ T buffer[WARPS][LEN + 32], column[WARPS][32 * K];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, W = plan.width, n = plan.n;
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x * WARPS + (unsigned)warp, 32 >> plan.width_log2);
    if (tile.count == 0) return;
    int own = lane >> plan.width_log2, rank = lane & (W - 1), mine = own < tile.count ? n : 0;
    int total = tile.count * n, held = mine - K * rank;
    if (PATH == TRID_P_BATCH_EXACT) total = 32 * K, held = K, mine = n = K * W;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride;
    long long system = tile.group * plan.lines.systems + tile.first + own;
    T ra[K], rb[K], rc[K], rd[K], next[K], *shared = buffer[warp], *kept = column[warp] + lane, top, bottom;
    int slot[K];
    trid_p_batch_matrix<PATH>(K, plan, tile, total, rank, held, rows, ra, rb, rc);
    trid_p_batch_corners(plan, more, tile.group * rows.jump + (tile.first + own) * rows.stride, mine, &top, &bottom);
    if (!FACTOR) trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, next);
    trid_p_batch_slots<LITERAL>(K, B, LEN, plan, total, slot);
    trid_p_batch_turned<PATH, LITERAL>(K, rows, held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_in_warp<T, K> scope = {W, rank};
    trid_p_batch_border<T> border = {0, 0, 0, 0};
    int periodic = plan.flags & TRID_BATCH_PERIODIC;
    int met = trid_p_batch_take_apart<T, K>(scope, n, plan.flags, top, bottom, ra, rb, rc, kept, 32, &border);
    trid_p_batch_chains<T> chains;
    if (!FACTOR || periodic) trid_p_batch_open(scope, ra, rc, &chains);
    TRID_P_BATCH_LOOP
    for (long long side = periodic ? -1 : 0; side < more.sides; side++) {
        if (!FACTOR && side >= 0) {
            TB_UNROLL
            for (int j = 0; j < K; j++) rd[j] = next[j];
            trid_p_batch_turn<PATH, LITERAL>(K, held, (T)0, slot, rd, shared);
            if (side + 1 < more.sides)
                trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + (at + more.pitch), plan.lines.step,
                                         plan.lines.stride, next);
        }
        int last = trid_p_batch_side<T, K>(scope, n, plan.flags, FACTOR || side < 0, ra, rb, rc, chains, kept, 32,
                                           &border, rd);
        if (last && !met) met = last;
        if (!FACTOR && side >= 0) {
            trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rd, x + at, shared);
            at += more.pitch;
        }
    }
    if (FACTOR) {
        if (periodic) trid_p_batch_close<T, K>(scope, n, bottom, border, rb, rc);
        trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rb, x + at, shared);
        trid_p_batch_store<PATH, LITERAL>(K, plan, total, held, slot, rc, more.u + at, shared);
    }
    int bad = trid_p_batch_row(met, n);
    if (trid_p_batch_reports(plan)) {
        for (int m = 1; m < W; m *= 2) {
            int other = __shfl_xor_sync(TB_FULL_WARP, bad, m);
            bad = other < bad ? other : bad;
        }
        if (rank == 0 && mine) trid_p_batch_tell(plan, system, bad, 0, (T)0, (T)0);
    }
}

/* n <= 1024: as many warps a system as hold it. */
template <class T, int K, int PATH, int FACTOR>
TRID_KERNEL void __launch_bounds__(1024 / K, 256 * K / 1024)
    trid_p_batch_lu_block(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, trid_p_batch_more<T> more, const T *d,
                          T *x)
{
    const int LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K), WARPS = 1024 / (32 * K);
    __shared__ T buffer[WARPS][LEN + 32], column[1024], between[TRID_BLOCK_LU_LEN + 1];
    __shared__ int worst;
    int warp = (int)threadIdx.x / 32, n = plan.n, first = K * (int)threadIdx.x, slot[K];
    trid_p_batch_tile tile = trid_p_batch_tile_of(plan, blockIdx.x, 1);
    int total = n - 32 * K * warp, held = n - first;
    if (total > 32 * K) total = 32 * K;
    long long at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + 32 * K * warp * plan.lines.step;
    long long system = tile.group * plan.lines.systems + tile.first;
    T ra[K], rb[K], rc[K], rd[K], next[K], *shared = buffer[warp], *kept = column + threadIdx.x, top, bottom;
    if (threadIdx.x == 0) worst = TRID_P_BATCH_NO_ROW; /* before a barrier of those inside */
    trid_p_batch_pair_matrix<PATH>(K, plan, tile, total, warp, held, rows, ra, rb, rc);
    trid_p_batch_corners(plan, more, tile.group * rows.jump + tile.first * rows.stride, 1, &top, &bottom);
    if (!FACTOR) trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + at, plan.lines.step, plan.lines.stride, next);
    trid_p_batch_turned<PATH, 1>(K, rows, held, slot, ra, rb, rc, shared, 0);
    trid_p_batch_in_block<T, K> scope = {between};
    trid_p_batch_border<T> border = {0, 0, 0, 0};
    int periodic = plan.flags & TRID_BATCH_PERIODIC, pace = (int)blockDim.x;
    int met = trid_p_batch_take_apart<T, K>(scope, n, plan.flags, top, bottom, ra, rb, rc, kept, pace, &border);
    trid_p_batch_chains<T> chains;
    if (!FACTOR || periodic) trid_p_batch_open(scope, ra, rc, &chains);
    TRID_P_BATCH_LOOP
    for (long long side = periodic ? -1 : 0; side < more.sides; side++) {
        if (!FACTOR && side >= 0) {
            TB_UNROLL
            for (int j = 0; j < K; j++) rd[j] = next[j];
            trid_p_batch_turn<PATH, 1>(K, held, (T)0, slot, rd, shared);
            if (side + 1 < more.sides)
                trid_p_batch_fetch<PATH>(K, plan, 0, total, 0, d + (at + more.pitch), plan.lines.step,
                                         plan.lines.stride, next);
        }
        int last = trid_p_batch_side<T, K>(scope, n, plan.flags, FACTOR || side < 0, ra, rb, rc, chains, kept, pace,
                                           &border, rd);
        if (last && !met) met = last;
        if (!FACTOR && side >= 0) {
            trid_p_batch_store<PATH, 1>(K, plan, total, held, slot, rd, x + at, shared);
            at += more.pitch;
        }
    }
    if (FACTOR) {
        if (periodic) trid_p_batch_close<T, K>(scope, n, bottom, border, rb, rc);
        trid_p_batch_store<PATH, 1>(K, plan, total, held, slot, rb, x + at, shared);
        trid_p_batch_store<PATH, 1>(K, plan, total, held, slot, rc, more.u + at, shared);
    }
    int bad = trid_p_batch_row(met, n);
    if (trid_p_batch_reports(plan)) {
        __syncthreads();
        if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst, bad);
        __syncthreads();
        if (threadIdx.x == 0) trid_p_batch_tell(plan, system, worst, 0, (T)0, (T)0);
    }
}

/* The thread's rows 0 .. held - 1 to memory. */
template <class T>
TB_D void trid_p_batch_scatter(int K, int held, int add, const T *u, long long step, T *to)
{
    TB_UNROLL
    for (int j = 0; j < K; j++) {
        if (j < held) *to = add ? *to + u[j] : u[j];
        to += step;
    }
}

/* L systems side by side, n <= K*S; a block takes one tile after another, and the next one's matrix and the next
   right-hand side are on their way while a right-hand side is solved for. */
template <class T, int K, int L, int S, int AHEAD, int STAGED, int FACTOR>
TRID_KERNEL void __launch_bounds__(L *S, TRID_P_BATCH_LINES_RESIDENT(T, K, L *S))
    trid_p_batch_lu_lines(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, trid_p_batch_more<T> more, const T *d,
                          T *x)
{
    __shared__ T between[trid_p_batch_in_lines<T, K, L, S>::LEN + L];
    __shared__ int worst[L];
    TRID_DYNAMIC_SHARED(dynamic);
    if ((STAGED && !TRID_P_BATCH_STAGES) || TRID_P_BATCH_EMPTY(S, STAGED, 0)) return; /* is not launched there */
    int thread = (int)threadIdx.x, line = thread % L, first = K * (thread / L), n = plan.n;
    const int add = plan.flags & TRID_BATCH_ADD, periodic = plan.flags & TRID_BATCH_PERIODIC;
    long long step = plan.lines.step;
    T *stage = (T *)dynamic, *side_stage = stage + 3 * K * L * S;
    T *kept = stage + (STAGED ? (FACTOR ? 3 : 4) * K * L * S : 0) + thread;
    if (STAGED) {
        trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, L, line, first);
        trid_p_batch_route<T> route = trid_p_batch_route_of<T, K, L, 3, STAGED>(plan, rows, blockIdx.x, p, first, d);
        trid_p_batch_ask<T, K, L, S, K, AHEAD, 3, STAGED>(plan, rows.step, 0, &route, stage);
        if (!FACTOR) {
            route = trid_p_batch_route_of<T, K, L, 1, STAGED>(plan, rows, blockIdx.x, p, first, d);
            trid_p_batch_ask<T, K, L, S, K, AHEAD, 1, STAGED>(plan, 0, 0, &route, side_stage);
        }
    }
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        T ra[K], rb[K], rc[K], rd[K], top, bottom;
        trid_p_batch_place p = trid_p_batch_place_again(plan, index, L, line, first);
        if (STAGED) {
            /* Only the right-hand side has been asked for since. */
            TRID_COPY_AWAIT(FACTOR ? 0 : 1);
            __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
            TB_UNROLL
            for (int j = 0; j < K; j++) {
                const T *own = stage + j * L * S + thread;
                ra[j] = j < p.held && (j > 0 || first > 0) ? own[0] : (T)0;
                rb[j] = j < p.held ? own[K * L * S] : (T)1;
                rc[j] = j < p.held - 1 ? own[2 * K * L * S] : (T)0;
            }
            __syncwarp(TB_FULL_WARP); /* and has been read by them */
            trid_p_batch_place next = trid_p_batch_place_of(plan, index + gridDim.x, L, line, first);
            trid_p_batch_route<T> route =
                trid_p_batch_route_of<T, K, L, 3, STAGED>(plan, rows, index + gridDim.x, next, first, d);
            trid_p_batch_ask<T, K, L, S, K, AHEAD, 3, STAGED>(plan, rows.step, 0, &route, stage);
        } else {
            trid_p_batch_own_rows(K, plan, p, first, rows, ra, rb, rc);
            TB_UNROLL
            for (int j = 0; j < K; j++)
                if (j >= p.held) rb[j] = 1;
        }
        trid_p_batch_corners(plan, more, p.there ? trid_p_batch_matrix_at(plan, rows, p, 0) : 0, p.there, &top,
                             &bottom);
        if (first == 0) worst[line] = TRID_P_BATCH_NO_ROW; /* before the barriers inside */
        trid_p_batch_in_lines<T, K, L, S> scope = {between};
        trid_p_batch_border<T> border = {0, 0, 0, 0};
        int met = trid_p_batch_take_apart<T, K>(scope, n, plan.flags, top, bottom, ra, rb, rc, kept, L * S, &border);
        trid_p_batch_chains<T> chains;
        if (!FACTOR || periodic) trid_p_batch_open(scope, ra, rc, &chains);
        TRID_P_BATCH_LOOP
        for (long long side = periodic ? -1 : 0; side < more.sides; side++) {
            /* What the compiler would work out before the loop, for all rows, has no room in registers. */
            step = trid_p_batch_again_as(step), p.held = trid_p_batch_again_as(p.held), n = trid_p_batch_again_as(n);
            if (!FACTOR && side >= 0 && STAGED) {
                if (side > 0) TRID_COPY_AWAIT(0);
                if (side == 0) TRID_COPY_AWAIT(1); /* the matrix was asked for after it */
                __syncwarp(TB_FULL_WARP);
                TB_UNROLL
                for (int j = 0; j < K; j++) rd[j] = j < p.held ? side_stage[j * L * S + thread] : (T)0;
                __syncwarp(TB_FULL_WARP);
                const int last = side + 1 == more.sides;
                const unsigned after = last ? index + gridDim.x : index;
                const T *from = last ? d : d + (side + 1) * more.pitch;
                trid_p_batch_place next = trid_p_batch_place_of(plan, after, L, line, first);
                trid_p_batch_route<T> route =
                    trid_p_batch_route_of<T, K, L, 1, STAGED>(plan, rows, after, next, first, from);
                trid_p_batch_ask<T, K, L, S, K, AHEAD, 1, STAGED>(plan, 0, 0, &route, side_stage);
            } else if (!FACTOR && side >= 0) {
                trid_p_batch_gather(K, 0, p.held, d + (p.at + side * more.pitch), step, rd);
            }
            int last = trid_p_batch_side<T, K>(scope, n, plan.flags, FACTOR || side < 0, ra, rb, rc, chains, kept,
                                               L * S, &border, rd);
            if (last && !met) met = last;
            if (!FACTOR && side >= 0) trid_p_batch_scatter(K, p.held, add, rd, step, x + (p.at + side * more.pitch));
        }
        if (FACTOR) {
            if (periodic) trid_p_batch_close<T, K>(scope, n, bottom, border, rb, rc);
            trid_p_batch_scatter(K, p.held, 0, rb, step, x + p.at);
            trid_p_batch_scatter(K, p.held, 0, rc, step, more.u + p.at);
        }
        if (trid_p_batch_reports(plan)) {
            int bad = trid_p_batch_row(met, n);
            __syncthreads();
            if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
            __syncthreads();
            p = trid_p_batch_place_again(plan, index, L, line, first);
            if (first == 0 && p.there) trid_p_batch_tell(plan, p.system, worst[line], 0, (T)0, (T)0);
        }
        __syncthreads(); /* what is shared has been read */
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Which kernel serves which size, and with which K rows a thread. Contiguous systems (step is not the larger pitch):
   the least width W of 1, 2, 4 .. 32 lanes with which at most 16 rows a lane hold the system, and the least K of the
   table that do; EXACT where tiles are full. Systems side by side (stride the smaller): S sections of K rows a
   system, L systems a block, R rows asked for at a time, A bytes around them into the cache; in clusters, of as many
   blocks as have rows, K*S rows a block. Longer systems, in chunks of 32 K rows or S K: chunks_reduce, lines_reduce
   leave two rows of each, these are solved as systems by themselves, and chunks_expand, lines_expand put in what is
   known of them; with pivoting pivoted_groups takes 32 chunks at a time, up and down again. The names of kernels
   begin trid_p_batch_, and the n of each are these, by names alone where a launch differs from the one above it
   (trid_batch_checked and _shared from trid_batch_solve; more with --all), from bench/batch_table.sh:
     trid_batch_solve, contiguous, one system after another
       warps  DENSE    K = 2            1-2
       warps  DENSE    K = 3            3
       warps  DENSE    K = 4            4
       warps  DENSE    K = 6            5-6
       warps  DENSE    K = 8            7-8
       warps  DENSE    K = 10           9-10 17-20 33-40 65-80 129-160 257-320
       warps  DENSE    K = 12           11-12 21-24 41-48 81-96 161-192 321-384
       warps  DENSE    K = 14           13-14 25-28 49-56 97-112 193-224 385-448
       warps  DENSE    K = 16           15 29-31 57-63 113-127 225-255 449-511
       warps  EXACT    K = 16           16 32 64 128 256 512
       warps  DENSE    K = 24           single 513-768
       warps  DENSE    K = 32           single 769-1023
       warps  EXACT    K = 32           single 1024
       block  DENSE    K = 16  3 warps  1025-1536
       block  DENSE    K = 16  4 warps  1537-2048
       block  DENSE    K = 16  5 warps  single 2049-2560
       block  DENSE    K = 16  6 warps  single 2561-3072
       block  DENSE    K = 16  7 warps  single 3073-3584
       block  DENSE    K = 16  8 warps  single 3585-4096
       chunks_*  DENSE    K = 16        single 4097-
       chunks_*  DENSE    K = 16        double 2049-
       block  DENSE    K = 12  2 warps  double 513-768
       block  DENSE    K = 16  2 warps  double 769-1023
       block  EXACT    K = 16  2 warps  double 1024
     where step or pitch are others: warps 1-256
     trid_batch_solve, side by side, on a device with clusters
       warps  PITCHED  K = 4                                               1
       lines  K = 4   S = 1   R = 4  A = 0    L = 128                      2-4
       lines  K = 8   S = 1   R = 4  A = 0    L = 128                      5-8
       lines  K = 16  S = 1   R = 4  A = 0    L = 128                      9-16
       lines  K = 8   S = 4   R = 4  A = 0    L = 64, double 32            17-32
       lines  K = 16  S = 4   R = 4  A = 128  L = 64, double 32            33-64
       lines  K = 16  S = 8   R = 4  A = 128  L = 64, double 32            65-128
       lines  K = 16  S = 8   R = 2  A = 128  clusters  L = 64, double 32  single 129-256
       lines  K = 16  S = 8   R = 2  A = 128  clusters  L = 64, double 32  double 129-512 897-1024
       lines  K = 16  S = 16  R = 4  A = 128  clusters  L = 32, double 16  single 257-2048
       lines  K = 16  S = 16  R = 4  A = 128  clusters  L = 32, double 16  double 513-896 1025-4096
       lines  K = 16  S = 32  R = 4  A = 128  clusters  L = 16, double 8   single 2049-8192
       lines  K = 16  S = 32  R = 4  A = 128  clusters  L = 16, double 8   double 4097-8192
       lines_*  K = 16  S = 8   L = 32, double 16                          8193-
     on a device without: lines 129-1024, lines_* 1025-8192
     trid_batch_checked, contiguous: checked_warps 1-512, block single 513-1024, chunks_* single 2049-4096 double
       1025-2048
     trid_batch_checked, side by side: checked_warps 1, lines_checked 2-1024, lines_* 1025-8192
     trid_batch_shared, contiguous: common_warps 1-512
     trid_batch_shared, side by side: common_warps 1, common_lines 2-512, lines 513-1024
     trid_batch_pivoted, contiguous, one system after another
       pivoted_warps  DENSE    K = 4            1-4
       pivoted_warps  DENSE    K = 8            5-8
       pivoted_warps  DENSE    K = 12           9-12 17-24 33-48 65-96 129-192 257-384
       pivoted_warps  DENSE    K = 16           13-16 25-32 49-64 97-128 193-256 385-512
       pivoted_warps  DENSE    K = 32           single 513-1024
       pivoted_block  DENSE    K = 32  2 warps  single 1025-2048
       pivoted_block  DENSE    K = 32  3 warps  single 2049-3072
       pivoted_block  DENSE    K = 32  4 warps  single 3073-4096
       pivoted_chunks  DENSE    K = 32          single 4097-
       pivoted_block  DENSE    K = 12  2 warps  double 513-768
       pivoted_block  DENSE    K = 16  2 warps  double 769-1024
       pivoted_block  DENSE    K = 16  3 warps  double 1025-1536
       pivoted_block  DENSE    K = 16  4 warps  double 1537-2048
       pivoted_chunks  DENSE    K = 16          double 2049-
     where step or pitch are others: pivoted_warps 1-256
     side by side: pivoted_warps 1, lines 2-8192, pivoted_chunks 8193- */
#define TRID_P_BATCH_SHAPES(shape)                                                                                     \
    shape(EXACT, 16) shape(DENSE, 2) shape(DENSE, 3) shape(DENSE, 4) shape(DENSE, 6) shape(DENSE, 8) shape(DENSE, 10)  \
        shape(DENSE, 12) shape(DENSE, 14) shape(DENSE, 16) shape(PITCHED, 4) shape(PITCHED, 8) shape(PITCHED, 16)
#define TRID_P_BATCH_LONG_WARPS(shape) shape(EXACT, 32) shape(DENSE, 24) shape(DENSE, 32)
#define TRID_P_BATCH_LONG_PAIRS(shape) shape(EXACT, 16) shape(DENSE, 12)

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
        error = trid_launch(trid_p_batch_warps<T, size, TRID_P_BATCH_##PATH, Rows>, grid,                              \
                            dim3(32 * TRID_P_BATCH_WARPS(T, 0)), 0, stream, plan, rows, d, x),                         \
        launched = 1;
#define TRID_P_BATCH_PAIRS_OF(PATH, size)                                                                              \
    if (path == TRID_P_BATCH_##PATH && !launched && K <= size)                                                         \
        error = trid_launch(trid_p_batch_block<T, size, 2, TRID_P_BATCH_##PATH, CHECKED, Rows>, grid, dim3(64), 0,     \
                            stream, plan, rows, d, x),                                                                 \
        launched = 1;

/* n > 512: as many warps a system as hold it. */
template <class T, int K, int WARPS, int PATH, int CHECKED, class Rows>
static int trid_p_batch_launch_block_of(trid_p_batch_plan plan, Rows rows, const T *d, T *x, cudaStream_t stream)
{
    dim3 grid;
    if (trid_p_batch_count(&plan, 1, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    return trid_launch(trid_p_batch_block<T, K, WARPS, PATH, CHECKED, Rows>, grid,
                       dim3((unsigned)((plan.n + 32 * K - 1) / (32 * K) * 32)), 0, stream, plan, rows, d,
                       x) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}
template <class T, int CHECKED, int PATH, class Rows>
static int trid_p_batch_launch_block(const trid_p_batch_plan &plan, const Rows &rows, const T *d, T *x,
                                     cudaStream_t stream)
{
    enum { WARPS = (TRID_P_BATCH_ON_CHIP((int)sizeof(T), CHECKED) + 511) / 512 };
    return trid_p_batch_launch_block_of<T, 16, WARPS, PATH, CHECKED>(plan, rows, d, x, stream);
}

/* n > 512: two warps a system ... */
template <class T, int CHECKED, class Rows>
struct trid_p_batch_long {
    static int launch(trid_p_batch_plan plan, int path, Rows rows, const T *d, T *x, cudaStream_t stream)
    {
        int K = (plan.n + 63) / 64, launched = 0;
        path = plan.n == 1024 ? TRID_P_BATCH_EXACT : TRID_P_BATCH_DENSE;
        dim3 grid;
        cudaError_t error = trid_p_batch_count(&plan, 1, 1, &grid);
        if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
        if (path == TRID_P_BATCH_DENSE && K > 12)
            return trid_p_batch_launch_block<T, CHECKED, TRID_P_BATCH_DENSE>(plan, rows, d, x, stream);
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
        int K = (plan.n + 31) / 32, launched = 0;
        path = plan.n == 1024 ? TRID_P_BATCH_EXACT : TRID_P_BATCH_DENSE;
        dim3 grid;
        cudaError_t error = trid_p_batch_count(&plan, 1, TRID_P_BATCH_WARPS(T, 0), &grid);
        if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
        TRID_P_BATCH_LONG_WARPS(TRID_P_BATCH_WARPS_OF)
        return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
    }
};

/* n > 512, beyond what one warp usually has. */
template <int CHECKED, class T, class Rows>
static int trid_p_batch_launch_beyond(const trid_p_batch_plan &plan, int path, const Rows &rows, const T *d, T *x,
                                      cudaStream_t stream)
{
    if (path == TRID_P_BATCH_PITCHED)
        return trid_p_batch_launch_block<T, CHECKED, TRID_P_BATCH_PITCHED>(plan, rows, d, x, stream);
    if (plan.n > 1024) return trid_p_batch_launch_block<T, CHECKED, TRID_P_BATCH_DENSE>(plan, rows, d, x, stream);
    return trid_p_batch_long<T, CHECKED, Rows>::launch(plan, path, rows, d, x, stream);
}

/* shared: the matrix is one for all, so not one after another. */
template <class T, class Rows>
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
    if (n > 512) return trid_p_batch_launch_beyond<0>(plan, path, rows, d, x, stream);
    if (dense && n == 16 * W && plan.lines.systems % (32 / W) == 0) path = TRID_P_BATCH_EXACT;
    dim3 grid;
    cudaError_t error = trid_p_batch_count(&plan, 32 / W, TRID_P_BATCH_WARPS(T, 0), &grid);
    if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    TRID_P_BATCH_SHAPES(TRID_P_BATCH_WARPS_OF)
    return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}
#undef TRID_P_BATCH_WARPS_OF
#undef TRID_P_BATCH_PAIRS_OF

/* With the residuals of arrays: their own kernels up to n = 512, EXACT where pieces of 16 bytes are pieces of
   memory. */
#define TRID_P_BATCH_CHECKED_SHAPES(shape)                                                                             \
    shape(EXACT, 16, 0) shape(EXACT, 16, 1) shape(DENSE, 4, 1) shape(DENSE, 8, 1) shape(DENSE, 12, 1)                  \
        shape(DENSE, 16, 1) shape(PITCHED, 8, 1) shape(PITCHED, 16, 1)
template <class T>
static int trid_p_batch_launch_checked(trid_p_batch_plan plan, trid_p_batch_arrays<T> rows, const T *d, T *x,
                                       int shared, cudaStream_t stream)
{
    int W = 1, log2 = 0, n = plan.n, launched = 0;
    while (W < 32 && (n + W - 1) / W > 16) W *= 2, log2++;
    int refined = (plan.flags & TRID_BATCH_REFINED) != 0;
    int K = (n + W - 1) / W, dense = plan.lines.step == 1 && (W == 32 || (plan.lines.stride == n && !shared));
    size_t places = (size_t)rows.a | (size_t)rows.b | (size_t)rows.c | (size_t)d | (size_t)x;
    int path = !dense ? TRID_P_BATCH_PITCHED : TRID_P_BATCH_DENSE;
    if (dense && n == 16 * W && plan.lines.systems % (32 / W) == 0 && places % 16 == 0 &&
        plan.lines.stride * (long long)sizeof(T) % 16 == 0 && plan.lines.jump * (long long)sizeof(T) % 16 == 0)
        path = TRID_P_BATCH_EXACT;
    plan.width = W;
    plan.width_log2 = log2;
    plan.magic = W == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    dim3 grid;
    cudaError_t error = trid_p_batch_count(&plan, 32 / W, TRID_P_BATCH_WARPS(T, 1), &grid);
    if (error != cudaSuccess) return TRID_BATCH_BAD_SIZE;
#define TRID_P_BATCH_CHECKED_OF(PATH, size, REFINED)                                                                   \
    if (path == TRID_P_BATCH_##PATH && !launched && K <= size && refined <= REFINED)                                   \
        error = trid_launch(trid_p_batch_checked_warps<T, size, TRID_P_BATCH_##PATH, REFINED>, grid,                   \
                            dim3(32 * TRID_P_BATCH_WARPS(T, 1)), 0, stream, plan, rows, d, x),                         \
        launched = 1;
    TRID_P_BATCH_CHECKED_SHAPES(TRID_P_BATCH_CHECKED_OF)
#undef TRID_P_BATCH_CHECKED_OF
    return launched && error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

/* What matters of the device, and of the architecture that a kernel was compiled for where that is an earlier one. */
struct trid_p_batch_device {
    int processors, most, major; /* multiprocessors; bytes of shared memory that a block may ask for */
    int roomy;                   /* are some kernels empty? */
};
template <class... P>
static int trid_p_batch_device_of(void (*kernel)(P...), trid_p_batch_device *of)
{
    int device, version;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&of->processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&of->most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&of->major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
#ifdef __CUDACC__
    cudaFuncAttributes compiled;
    if (cudaFuncGetAttributes(&compiled, (const void *)kernel) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    version = compiled.ptxVersion;
#else
    (void)kernel;
    version = simt_version();
#endif
    if (of->major > version / 10) of->major = version / 10;
    of->roomy = TRID_P_BATCH_ROOMY(version);
    return TRID_BATCH_OK;
}

/* WIDE: pieces of 16 bytes are pieces of memory in all that travels, and of whole systems. */
template <class T>
static inline int trid_p_batch_staging(const trid_lines &lines, size_t places)
{
    const int V = 16 / (int)sizeof(T);
    return places % 16 == 0 && lines.stride == 1 && lines.systems % V == 0 && lines.step % V == 0 &&
                   (lines.groups == 1 || lines.jump % V == 0)
               ? TRID_P_BATCH_WIDE
               : TRID_P_BATCH_NARROW;
}
template <class T>
static inline int trid_p_batch_staging(const trid_lines &lines, const trid_p_batch_arrays<T> &rows, const T *d)
{
    int alike = rows.step == lines.step && rows.stride == lines.stride && rows.jump == lines.jump;
    return alike ? trid_p_batch_staging<T>(lines, (size_t)rows.a | (size_t)rows.b | (size_t)rows.c | (size_t)d)
                 : TRID_P_BATCH_NARROW;
}
template <class T, class Rows>
static inline int trid_p_batch_staging(const trid_lines &lines, const Rows &, const T *d)
{
    return trid_p_batch_staging<T>(lines, (size_t)d);
}

/* Blocks of kernels that take tile after tile: no more than stay on the device, `resident` a multiprocessor; 0: all
   that there are. */
template <class... P, class... A>
static int trid_p_batch_launch_tiles(void (*kernel)(P...), dim3 grid, int threads, int resident, size_t bytes,
                                     const trid_p_batch_device &device, cudaStream_t stream, const A &...arguments)
{
    const unsigned most = (unsigned)(device.processors * resident);
    if (bytes && trid_allow_shared(kernel) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    if (most && grid.x > most) grid.x = most;
    return trid_launch(kernel, grid, dim3((unsigned)threads), bytes, stream, arguments...) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

template <class T, int K, int L, int S, int R, int AHEAD, int PIVOTED, int CLUSTER, class Rows>
struct trid_p_batch_lines_kernel {
    typedef void (*type)(trid_p_batch_plan, Rows, const T *, T *);
    enum { ARRAYS = trid_p_batch_travels<T, Rows>::ARRAYS };
    static type of(int staged)
    {
        return staged == TRID_P_BATCH_WIDE
                   ? (type)trid_p_batch_lines<T, K, L, S, R, AHEAD, TRID_P_BATCH_WIDE, PIVOTED, CLUSTER, Rows>
                   : (type)trid_p_batch_lines<T, K, L, S, R, AHEAD, TRID_P_BATCH_NARROW, PIVOTED, CLUSTER, Rows>;
    }
    /* Shared memory of what is on its way. */
    static int bytes(int flags) { return (ARRAYS + (flags & TRID_BATCH_ADD ? 1 : 0)) * K * L * S * (int)sizeof(T); }
};

/* Systems side by side without clusters, L in a tile. A block has `bytes` of what is on its way, and `fixed` besides at
   most; `resident` blocks a multiprocessor, or fewer where `least` will do. Where there is no room for them, or none of
   the copies that a device has `since` its compute capability, or where the kernel is empty, *launched stays as it
   was. */
struct trid_p_batch_staged {
    int L, threads, bytes, fixed, resident, least, since, by_clusters;
};
template <class... P, class... A>
static int trid_p_batch_launch_staged(void (*kernel)(P...), trid_p_batch_staged with, trid_p_batch_plan plan,
                                      cudaStream_t stream, int *launched, const A &...arguments)
{
    trid_p_batch_device device;
    dim3 grid;
    if (trid_p_batch_count(&plan, with.L, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_device_of(kernel, &device)) return TRID_BATCH_LAUNCH_FAILED;
    while (with.resident >= with.least && with.resident * (with.bytes + with.fixed) > device.most) with.resident--;
    if (device.major < with.since || with.resident < with.least || (device.roomy && with.by_clusters))
        return TRID_BATCH_OK;
    *launched = 1;
    return trid_p_batch_launch_tiles(kernel, grid, with.threads, with.resident, (size_t)with.bytes, device, stream,
                                     plan, arguments...);
}

template <int PIVOTED, class T, int K, int L, int S, int R, int AHEAD, class Rows>
static int trid_p_batch_launch_lines_of(const trid_p_batch_plan &plan, Rows rows, const T *d, T *x, cudaStream_t stream,
                                        int *launched)
{
    typedef trid_p_batch_lines_kernel<T, K, L, S, R, AHEAD, PIVOTED, 0, Rows> kernel;
    /* beside the rows that change hands, at most */
    enum { RESIDENT = TRID_P_BATCH_LINES_RESIDENT(T, K, L * S), FIXED = (PIVOTED ? 21 : 16) * 1024 };
    static_assert(!TRID_P_BATCH_ROOMY(90) || PIVOTED ||
                      RESIDENT * ((kernel::ARRAYS + 1) * K * L * S * (int)sizeof(T) + FIXED) <= TRID_P_BATCH_ROOM,
                  "every tile must have room");
    const trid_p_batch_staged with = {
        L, L * S, kernel::bytes(plan.flags), FIXED, RESIDENT, RESIDENT, 8, TRID_P_BATCH_BY_CLUSTERS(S, PIVOTED, 0)};
    return trid_p_batch_launch_staged(kernel::of(trid_p_batch_staging(plan.lines, trid_p_batch_rows_of(rows), d)), with,
                                      plan, stream, launched, rows, d, x);
}
/* There, with K = 16: what L, S come to TRID_P_BATCH_LINES_OF. */
#define TRID_P_BATCH_LEAST_LINES(n, F)                                                                                 \
    ((n) <= 16    ? TRID_P_BATCH_LINES_OF(128, 1)                                                                      \
     : (n) <= 64  ? TRID_P_BATCH_LINES_OF(32 * F, 4)                                                                   \
     : (n) <= 256 ? TRID_P_BATCH_LINES_OF(16 * F, 16)                                                                  \
                  : TRID_P_BATCH_LINES_OF(4 * F, 64))
template <int L, int S, class... P, class... A>
static int trid_p_batch_launch_unstaged_of(void (*kernel)(P...), trid_p_batch_plan plan, int bytes, cudaStream_t stream,
                                           const A &...arguments)
{
    const trid_p_batch_device any = {0, 0, 0, 0};
    dim3 grid;
    if (trid_p_batch_count(&plan, L, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    return trid_p_batch_launch_tiles(kernel, grid, L * S, 0, (size_t)bytes, any, stream, plan, arguments...);
}
/* n, or the most that they serve, which has the one that is not empty. */
template <class... P>
static int trid_p_batch_unstaged_n(void (*kernel)(P...), int n)
{
    trid_p_batch_device device;
    return trid_p_batch_device_of(kernel, &device) == TRID_BATCH_OK && device.roomy ? 1024 : n;
}
template <class T, class Rows>
static int trid_p_batch_launch_unstaged(const trid_p_batch_plan &plan, Rows rows, const T *d, T *x, cudaStream_t stream)
{
    const int F = sizeof(T) == 4 ? 2 : 1;
#define TRID_P_BATCH_KERNEL_OF(L, S) trid_p_batch_lines<T, 16, L, S, 16, 0, TRID_P_BATCH_UNSTAGED, 0, 0, Rows>
#define TRID_P_BATCH_LINES_OF(L, S)                                                                                    \
    trid_p_batch_launch_unstaged_of<L, S>(TRID_P_BATCH_KERNEL_OF(L, S), plan, 0, stream, rows, d, x)
    return TRID_P_BATCH_LEAST_LINES(trid_p_batch_unstaged_n(TRID_P_BATCH_KERNEL_OF(4 * F, 64), plan.n), F);
#undef TRID_P_BATCH_LINES_OF
#undef TRID_P_BATCH_KERNEL_OF
}

/* In clusters of `parts` blocks, n <= K*S*parts. Where the device has none of them, or no room for one, *launched stays
   as it was. */
template <int PIVOTED, class T, int K, int L, int S, int R, int AHEAD, class Rows>
static int trid_p_batch_launch_cluster_of(trid_p_batch_plan plan, int parts, Rows rows, const T *d, T *x,
                                          cudaStream_t stream, int *launched)
{
    typedef trid_p_batch_lines_kernel<T, K, L, S, R, AHEAD, PIVOTED, 1, Rows> kernel;
    trid_p_batch_device device;
    int staged = trid_p_batch_staging(plan.lines, trid_p_batch_rows_of(rows), d);
    int bytes = kernel::bytes(plan.flags) + 2 * TRID_P_BATCH_MAIL(PIVOTED ? 12 : 8, L, parts) * (int)sizeof(T);
    dim3 grid;
    typename kernel::type of = kernel::of(staged);
    if (trid_p_batch_device_of(of, &device)) return TRID_BATCH_LAUNCH_FAILED;
    /* beside the rows that change hands, at most */
    if (device.major < 9 || bytes + (PIVOTED ? 21 : 16) * 1024 > device.most) return TRID_BATCH_OK;
    if (trid_p_batch_count(&plan, L, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    if (trid_allow_shared(of) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    unsigned clusters = (unsigned)trid_clusters(of, parts, dim3(L * S), (size_t)bytes);
    if (clusters == 0) return TRID_BATCH_OK;
    *launched = 1;
    grid.x = (plan.tiles < clusters ? plan.tiles : clusters) * (unsigned)parts;
    return trid_launch_cluster(of, grid, parts, dim3(L * S), (size_t)bytes, stream, plan, rows, d, x) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

/* The shapes in clusters, for n from LEAST on; checked solves have none. */
#ifndef TRID_P_BATCH_ON_CHIP_CLUSTER
#define TRID_P_BATCH_ON_CHIP_CLUSTER 8192
#endif
template <class T, int CHECKED, int PIVOTED, int LEAST, class Rows>
struct trid_p_batch_clusters {
    static int launch(const trid_p_batch_plan &plan, Rows rows, const T *d, T *x, cudaStream_t stream, int *launched)
    {
        /* Pieces of memory of 256 bytes, of half as many rows a block, where that is faster. */
        enum { F = sizeof(T) == 4 ? 2 : 1 };
        const int n = plan.n;
        if (n <= (PIVOTED ? 256 : 128) || n > TRID_P_BATCH_ON_CHIP_CLUSTER) return TRID_BATCH_OK;
        if constexpr (!PIVOTED && LEAST <= (F == 1 ? 1024 : 256))
            if (n <= 1024 && (F == 1 ? n <= 512 || n > 896 : n <= 256))
                return trid_p_batch_launch_cluster_of<0, T, 16, 32 * F, 8, 2, 128>(plan, (n + 127) / 128, rows, d, x,
                                                                                   stream, launched);
        int status = TRID_BATCH_OK;
        if (n <= (F == 1 ? 4096 : 2048))
            status = trid_p_batch_launch_cluster_of<PIVOTED, T, 16, 16 * F, 16, 4, 128>(plan, (n + 255) / 256, rows, d,
                                                                                        x, stream, launched);
        if (*launched || status) return status;
        /* Fewer blocks have less to tell each other: 16 of a pivoted solve that adds to x do not fit. */
        return trid_p_batch_launch_cluster_of<PIVOTED, T, 16, 8 * F, 32, 4, 128>(plan, (n + 511) / 512, rows, d, x,
                                                                                 stream, launched);
    }
};
template <class T, int LEAST, class Rows>
struct trid_p_batch_clusters<T, 1, 0, LEAST, Rows> {
    static int launch(const trid_p_batch_plan &, Rows, const T *, T *, cudaStream_t, int *) { return TRID_BATCH_OK; }
};

template <class T, class Rows>
static int trid_p_batch_launch_side_by_side(const trid_p_batch_plan &plan, Rows rows, const T *d, T *x,
                                            cudaStream_t stream)
{
    const int F = sizeof(T) == 4 ? 2 : 1;
    int launched = 0, status = trid_p_batch_clusters<T, 0, 0, 1, Rows>::launch(plan, rows, d, x, stream, &launched);
    if (launched || status) return status;
#define TRID_P_BATCH_LINES_OF(K, L, S, R, AHEAD)                                                                       \
    trid_p_batch_launch_lines_of<0, T, K, L, S, R, AHEAD>(plan, rows, d, x, stream, &launched)
    status = plan.n <= 4     ? TRID_P_BATCH_LINES_OF(4, 128, 1, 4, 0)
             : plan.n <= 8   ? TRID_P_BATCH_LINES_OF(8, 128, 1, 4, 0)
             : plan.n <= 16  ? TRID_P_BATCH_LINES_OF(16, 128, 1, 4, 0)
             : plan.n <= 32  ? TRID_P_BATCH_LINES_OF(8, 32 * F, 4, 4, 0)
             : plan.n <= 64  ? TRID_P_BATCH_LINES_OF(16, 32 * F, 4, 4, 128)
             : plan.n <= 128 ? TRID_P_BATCH_LINES_OF(16, 32 * F, 8, 4, 128)
             : plan.n <= 256 ? TRID_P_BATCH_LINES_OF(16, 16 * F, 16, 2, 256)
             : plan.n <= 512 ? TRID_P_BATCH_LINES_OF(16, 8 * F, 32, 4, 128)
                             : TRID_P_BATCH_LINES_OF(16, 4 * F, 64, 4, 128);
#undef TRID_P_BATCH_LINES_OF
    return launched || status ? status : trid_p_batch_launch_unstaged(plan, rows, d, x, stream);
}

/* With pivoting; where *launched stays as it was, the kernels for contiguous systems do it. */
template <class T>
static int trid_p_batch_launch_side_by_side_pivoted(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                                    const T *d, T *x, cudaStream_t stream, int *launched)
{
    const int F = sizeof(T) == 4 ? 2 : 1;
    int status = trid_p_batch_clusters<T, 0, 1, 1, trid_p_batch_arrays<T>>::launch(plan, rows, d, x, stream, launched);
    if (*launched || status || plan.n > 512) return status;
#define TRID_P_BATCH_LINES_OF(K, L, S, AHEAD)                                                                          \
    trid_p_batch_launch_lines_of<1, T, K, L, S, 4, AHEAD>(plan, rows, d, x, stream, launched)
    return plan.n <= 16    ? TRID_P_BATCH_LINES_OF(16, 128, 1, 0)
           : plan.n <= 32  ? TRID_P_BATCH_LINES_OF(16, 64 * F, 2, 0)
           : plan.n <= 64  ? TRID_P_BATCH_LINES_OF(16, 32 * F, 4, 128)
           : plan.n <= 128 ? TRID_P_BATCH_LINES_OF(16, 32 * F, 8, 128)
           : plan.n <= 256 ? TRID_P_BATCH_LINES_OF(16, 16 * F, 16, 256)
                           : TRID_P_BATCH_LINES_OF(16, 8 * F, 32, 128);
#undef TRID_P_BATCH_LINES_OF
}

template <class T, int K, int L, int S, int AHEAD>
static int trid_p_batch_launch_lines_checked(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                             const T *d, T *x, cudaStream_t stream, int *launched)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S) };
    enum {
        RESIDENT = TRID_P_BATCH_LINES_RESIDENT(T, K, L * S),
        BYTES = 6 * K * L * S * (int)sizeof(T),
        FIXED = (S > 1 ? 6 * (int)PART * (int)sizeof(T) : 0) + 12 * L + 1536 /* and what a block takes for itself */
    };
    static_assert(!TRID_P_BATCH_ROOMY(90) || RESIDENT * (BYTES + FIXED) <= TRID_P_BATCH_ROOM,
                  "every tile must have room");
    const trid_p_batch_staged with = {L, L * S, BYTES, FIXED, RESIDENT, RESIDENT, 8, 0};
    return trid_p_batch_launch_staged(trid_p_batch_staging(plan.lines, rows, d) == TRID_P_BATCH_WIDE
                                          ? trid_p_batch_lines_checked<T, K, L, S, AHEAD, TRID_P_BATCH_WIDE>
                                          : trid_p_batch_lines_checked<T, K, L, S, AHEAD, TRID_P_BATCH_NARROW>,
                                      with, plan, stream, launched, rows, d, x);
}
template <class T>
static int trid_p_batch_launch_side_by_side_checked(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                                    const T *d, T *x, cudaStream_t stream)
{
    const int F = sizeof(T) == 4 ? 2 : 1;
    int launched = 0;
#define TRID_P_BATCH_LINES_OF(K, L, S, AHEAD)                                                                          \
    trid_p_batch_launch_lines_checked<T, K, L, S, AHEAD>(plan, rows, d, x, stream, &launched)
    int status = plan.n <= 4     ? TRID_P_BATCH_LINES_OF(4, 128, 1, 0)
                 : plan.n <= 16  ? TRID_P_BATCH_LINES_OF(16, 128, 1, 0)
                 : plan.n <= 32  ? TRID_P_BATCH_LINES_OF(8, 32 * F, 4, 0)
                 : plan.n <= 64  ? TRID_P_BATCH_LINES_OF(16, 32 * F, 4, 128)
                 : plan.n <= 128 ? TRID_P_BATCH_LINES_OF(16, 32 * F, 8, 128)
                 : plan.n <= 256 ? TRID_P_BATCH_LINES_OF(16, 16 * F, 16, 256)
                 : plan.n <= 512 ? TRID_P_BATCH_LINES_OF(16, 8 * F, 32, 128)
                                 : TRID_P_BATCH_LINES_OF(16, 4 * F, 64, 128);
#undef TRID_P_BATCH_LINES_OF
#define TRID_P_BATCH_KERNEL_OF(L, S) trid_p_batch_lines_checked<T, 16, L, S, 0, TRID_P_BATCH_UNSTAGED>
#define TRID_P_BATCH_LINES_OF(L, S)                                                                                    \
    trid_p_batch_launch_unstaged_of<L, S>(TRID_P_BATCH_KERNEL_OF(L, S), plan, 0, stream, rows, d, x)
    if (launched || status) return status;
    return TRID_P_BATCH_LEAST_LINES(trid_p_batch_unstaged_n(TRID_P_BATCH_KERNEL_OF(4 * F, 64), plan.n), F);
#undef TRID_P_BATCH_LINES_OF
#undef TRID_P_BATCH_KERNEL_OF
}

template <class T, int K, int L, int S, int AHEAD, class Rows>
static int trid_p_batch_launch_common_lines(const trid_p_batch_plan &plan, const Rows &rows, const T *d, T *x,
                                            cudaStream_t stream, int *launched)
{
    enum { U = sizeof(T) == 4 ? 32 : 16, PART = TRID_INTERLEAVED_SLOT(L, S, U, L * S) };
    enum { ENDS = trid_p_batch_travels<T, Rows>::ENDS * 2 * L };
    enum {
        FIXED = (3 * PART + (5 * K + 17) * S + ENDS) * (int)sizeof(T) + 1536
    }; /* and what a block takes for itself */
    const int arrays = plan.flags & TRID_BATCH_ADD ? 2 : 1, bytes = arrays * K * L * S * (int)sizeof(T);
    const trid_p_batch_staged with = {L, L * S, bytes, FIXED, TRID_P_BATCH_COMMON_LINES_RESIDENT(T, L * S), 1, 0, 0};
    return trid_p_batch_launch_staged(trid_p_batch_staging<T>(plan.lines, (size_t)d) == TRID_P_BATCH_WIDE
                                          ? trid_p_batch_common_lines<T, K, L, S, AHEAD, TRID_P_BATCH_WIDE, Rows>
                                          : trid_p_batch_common_lines<T, K, L, S, AHEAD, TRID_P_BATCH_NARROW, Rows>,
                                      with, plan, stream, launched, rows, d, x);
}
template <class T, class Rows>
static int trid_p_batch_launch_common_side_by_side(const trid_p_batch_plan &plan, const Rows &rows, const T *d, T *x,
                                                   cudaStream_t stream)
{
    const int F = sizeof(T) == 4 ? 2 : 1;
    int launched = 0;
#define TRID_P_BATCH_LINES_OF(K, L, S, AHEAD)                                                                          \
    trid_p_batch_launch_common_lines<T, K, L, S, AHEAD>(plan, rows, d, x, stream, &launched)
    int status = plan.n <= 4     ? TRID_P_BATCH_LINES_OF(4, 128, 1, 0)
                 : plan.n <= 8   ? TRID_P_BATCH_LINES_OF(8, 128, 1, 0)
                 : plan.n <= 16  ? TRID_P_BATCH_LINES_OF(16, 128, 1, 0)
                 : plan.n <= 32  ? TRID_P_BATCH_LINES_OF(8, 32 * F, 4, 0)
                 : plan.n <= 64  ? TRID_P_BATCH_LINES_OF(8, 32 * F, 8, 128)
                 : plan.n <= 128 ? TRID_P_BATCH_LINES_OF(8, 32 * F, 16, 128)
                 : plan.n <= 256 ? TRID_P_BATCH_LINES_OF(8, 16 * F, 32, 256)
                 : plan.n <= 512
                     ? TRID_P_BATCH_LINES_OF(16, 16 * F, 32, 128)
                     : trid_p_batch_launch_lines_of<0, T, 16, 4 * F, 64, 4, 128>(plan, rows, d, x, stream, &launched);
#undef TRID_P_BATCH_LINES_OF
    return launched || status ? status : trid_p_batch_launch_unstaged(plan, rows, d, x, stream);
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
        plan.width = 32;
        plan.width_log2 = 5;
        return trid_p_batch_launch_beyond<0>(plan, plan.lines.step == 1 ? TRID_P_BATCH_DENSE : TRID_P_BATCH_PITCHED,
                                             arrays, d, x, stream);
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

/* ---- launches for long systems ----------------------------------------------------------------------------------- */

static inline int trid_p_batch_side_by_side(const trid_p_batch_plan &plan)
{
    return trid_p_lines_side_by_side(plan.lines);
}

/* Do both the rows and the right-hand sides follow one another in memory? */
template <class T>
static inline int trid_p_batch_dense(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows)
{
    return plan.lines.step == 1 && rows.step == 1;
}
template <class Rows>
static inline int trid_p_batch_dense(const trid_p_batch_plan &plan, const Rows &)
{
    return plan.lines.step == 1;
}

/* Is this too long for a chip? checked: 0, 1, or 2 for a solve with pivoting. */
static inline int trid_p_batch_is_long(const trid_lines &joined, int bytes, int checked)
{
    return joined.n > (checked == 2                        ? TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, joined.step == 1)
                       : trid_p_lines_side_by_side(joined) ? TRID_P_BATCH_ON_CHIP_LINES
                                                           : TRID_P_BATCH_ON_CHIP(bytes, checked));
}

/* Scratch that cannot be used. */
static inline int trid_p_batch_lacks(const trid_p_batch_plan &plan)
{
    return !plan.scratch || (size_t)plan.scratch % 16 != 0;
}

/* What is left of longer systems is dense. */
enum { TRID_P_BATCH_ONLY_DENSE = 8 };

/* LEAST: no system has fewer rows; ONLY: what is compiled. */
template <class T, int CHECKED, int LEAST, int ONLY, class Rows>
static int trid_p_batch_launch_levels(trid_p_batch_plan plan, const Rows &rows, const T *d, T *x, cudaStream_t stream);

/* What is left: rows in scratch, in place. */
template <int ONLY, class T>
static int trid_p_batch_launch_left(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows, T *d,
                                    cudaStream_t stream)
{
    enum { F = sizeof(T) == 4 ? 2 : 1 };
    const T *right = d;
    if (trid_p_batch_is_long(plan.lines, sizeof(T), 0))
        return trid_p_batch_launch_levels<T, 0, TRID_P_BATCH_ON_CHIP_LINES + 1, ONLY | TRID_P_BATCH_ONLY_DENSE>(
            plan, rows, right, d, stream);
    if constexpr (!(ONLY & TRID_BATCH_ONLY_SIDE_BY_SIDE))
        if (!trid_p_batch_side_by_side(plan))
            return trid_p_batch_launch_block<T, 0, TRID_P_BATCH_DENSE>(plan, rows, right, d, stream);
    int launched = 0, status = TRID_BATCH_BAD_SIZE;
    if constexpr (!(ONLY & TRID_BATCH_ONLY_CONTIGUOUS)) {
        status =
            plan.n <= 64
                ? trid_p_batch_launch_lines_of<0, T, 16, 32 * F, 4, 4, 128>(plan, rows, right, d, stream, &launched)
                : trid_p_batch_launch_lines_of<0, T, 16, 4 * F, 64, 4, 128>(plan, rows, right, d, stream, &launched);
        if (!launched && !status) status = trid_p_batch_launch_unstaged(plan, rows, right, d, stream);
    }
    return status;
}

template <class T, int CHECKED, int PATH, class Rows>
static cudaError_t trid_p_batch_launch_chunks(const trid_p_batch_levels<T> &levels, int expand, const Rows &rows,
                                              const T *d, T *x, cudaStream_t stream)
{
    enum { K = TRID_P_BATCH_CHUNK_ROWS((int)sizeof(T), CHECKED), WARPS = TRID_P_BATCH_WARPS(T, CHECKED) };
    dim3 grid((levels.plan.tiles + WARPS - 1) / WARPS), block(32 * WARPS);
    return expand ? trid_launch(trid_p_batch_chunks_expand<T, K, PATH, CHECKED, Rows>, grid, block, 0, stream, levels,
                                rows, d, x)
                  : trid_launch(trid_p_batch_chunks_reduce<T, K, PATH, CHECKED, Rows>, grid, block, 0, stream, levels,
                                rows, d);
}
template <class T, int CHECKED, int ONLY, class Rows>
static cudaError_t trid_p_batch_launch_phase(const trid_p_batch_levels<T> &levels, int expand, const Rows &rows,
                                             const T *d, T *x, cudaStream_t stream)
{
    enum {
        K = TRID_P_BATCH_CHUNK_ROWS_LINES((int)sizeof(T)),
        L = TRID_P_BATCH_CHUNK_LINES((int)sizeof(T)),
        S = TRID_P_BATCH_CHUNK_SECTIONS
    };
    const trid_p_batch_plan &plan = levels.plan;
    cudaError_t error = cudaErrorInvalidConfiguration;
    if (trid_p_batch_side_by_side(plan)) {
        if constexpr (!(ONLY & TRID_BATCH_ONLY_CONTIGUOUS)) {
            dim3 grid(plan.tiles * levels.chunks), block(L * S);
            error = expand ? trid_launch(trid_p_batch_lines_expand<T, K, L, S, CHECKED, Rows>, grid, block, 0, stream,
                                         levels, rows, d, x)
                           : trid_launch(trid_p_batch_lines_reduce<T, K, L, S, CHECKED, Rows>, grid, block, 0, stream,
                                         levels, rows, d);
        }
    } else if constexpr (!(ONLY & TRID_BATCH_ONLY_SIDE_BY_SIDE)) {
        if constexpr (!(ONLY & TRID_P_BATCH_ONLY_DENSE))
            if (!trid_p_batch_dense(plan, trid_p_batch_rows_of(rows)))
                return trid_p_batch_launch_chunks<T, CHECKED, TRID_P_BATCH_PITCHED>(levels, expand, rows, d, x, stream);
        error = trid_p_batch_launch_chunks<T, CHECKED, TRID_P_BATCH_DENSE>(levels, expand, rows, d, x, stream);
    }
    return error;
}

template <class T, int CHECKED, int LEAST, int ONLY, class Rows>
static int trid_p_batch_launch_levels(trid_p_batch_plan plan, const Rows &rows, const T *d, T *x, cudaStream_t stream)
{
    if constexpr (!(ONLY & TRID_BATCH_ONLY_CONTIGUOUS)) {
        int launched = 0, status = TRID_BATCH_OK;
        if (trid_p_batch_side_by_side(plan)) /* clusters hold more than a block, where there are any */
            status = trid_p_batch_clusters<T, CHECKED, 0, LEAST, Rows>::launch(plan, rows, d, x, stream, &launched);
        if (launched || status) return status;
    }
    if (trid_p_batch_lacks(plan)) return TRID_BATCH_BAD_ARGUMENT;
    const int side_by_side = trid_p_batch_side_by_side(plan), reports = trid_p_batch_reports(plan);
    const int refined = CHECKED && (plan.flags & TRID_BATCH_REFINED);
    const int rows_a_chunk = TRID_P_BATCH_CHUNK((int)sizeof(T), CHECKED, side_by_side);
    const long long systems = plan.lines.systems * plan.lines.groups;
    const trid_p_batch_room room = trid_p_batch_room_of(plan.n, systems, rows_a_chunk, (int)sizeof(T), refined);
    const long long left_n = 2 * room.chunks;
    const trid_batch_report none = {0, 0, 0, 0};
    char *scratch = (char *)plan.scratch;
    dim3 grid;
    if (trid_p_batch_count(&plan, side_by_side ? TRID_P_BATCH_CHUNK_LINES((int)sizeof(T)) : 1, 1, &grid) !=
            cudaSuccess ||
        plan.tiles > 0x7fffffffll / room.chunks)
        return TRID_BATCH_BAD_SIZE;

    trid_p_batch_plan rest = plan;
    rest.lines = side_by_side ? trid_lines_interleaved(left_n, systems) : trid_lines_contiguous(left_n, systems);
    rest.n = (int)left_n;
    rest.flags = rest.repair = 0;
    rest.scratch = scratch + room.end;
    rest.report = none;
    if (reports) rest.report.status = (int *)(scratch + room.below);

    if (!side_by_side) plan.tiles *= (unsigned)room.chunks;
    trid_p_batch_levels<T> levels;
    levels.plan = plan;
    levels.chunks = (unsigned)room.chunks;
    for (int k = 0; k < 4; k++) levels.left[k] = (T *)(scratch + room.left) + k * left_n * systems;
    levels.row = rest.lines.step;
    levels.system = rest.lines.stride;
    levels.worst = reports ? (int *)(scratch + room.worst) : (int *)0;
    levels.below = rest.report.status;
    levels.largest = 0;
    trid_p_batch_arrays<T> left = {levels.left[0],  levels.left[1],    levels.left[2],
                                   rest.lines.step, rest.lines.stride, rest.lines.jump};
    T *before = (T *)(scratch + room.before);

    if (reports &&
        (cudaMemsetAsync(scratch + room.largest, 0, (size_t)(16 * systems), stream) != cudaSuccess ||
         cudaMemsetAsync(scratch + room.worst, TRID_P_BATCH_NO_ROW_BYTE, (size_t)(8 * systems), stream) != cudaSuccess))
        return TRID_BATCH_LAUNCH_FAILED;
    for (int pass = 0; pass <= refined; pass++) {
        levels.before = pass > 0 ? before : (T *)0;
        levels.keep = pass < refined ? before : (T *)0;
        if (reports && CHECKED && pass == refined) levels.largest = (unsigned long long *)(scratch + room.largest);
        if (trid_p_batch_launch_phase<T, CHECKED, ONLY>(levels, 0, rows, d, x, stream) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
        int status = trid_p_batch_launch_left<ONLY>(rest, left, levels.left[3], stream);
        if (status) return status;
        if (trid_p_batch_launch_phase<T, CHECKED, ONLY>(levels, 1, rows, d, x, stream) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
    }
    return !reports ||
                   trid_launch(trid_p_batch_told<T, CHECKED>, dim3((unsigned)((systems + 255) / 256)), dim3(256), 0,
                               stream, plan, rows_a_chunk, levels.worst, levels.below, levels.largest) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

template <class T>
static cudaError_t trid_p_batch_launch_pivoted_chunks(const trid_p_batch_tree<T> &tree, int dense,
                                                      const trid_p_batch_arrays<T> &rows, const T *d, T *x,
                                                      cudaStream_t stream)
{
    enum { K = TRID_P_BATCH_CHUNK_ROWS_PIVOTED((int)sizeof(T)), WARPS = TRID_P_BATCH_WARPS(T, 0) };
    dim3 grid((tree.plan.tiles + WARPS - 1) / WARPS), block(32 * WARPS);
    return dense ? trid_launch(trid_p_batch_pivoted_chunks<T, K, TRID_P_BATCH_DENSE>, grid, block, 0, stream, tree,
                               rows, d, x)
                 : trid_launch(trid_p_batch_pivoted_chunks<T, K, TRID_P_BATCH_PITCHED>, grid, block, 0, stream, tree,
                               rows, d, x);
}
template <class T>
static int trid_p_batch_launch_tree(trid_p_batch_plan plan, int dense, const trid_p_batch_arrays<T> &rows, const T *d,
                                    T *x, cudaStream_t stream)
{
    enum { M = 32 * TRID_P_BATCH_CHUNK_ROWS_PIVOTED((int)sizeof(T)) };
    if (trid_p_batch_lacks(plan)) return TRID_BATCH_BAD_ARGUMENT;
    const int reports = trid_p_batch_reports(plan);
    const long long systems = plan.lines.systems * plan.lines.groups;
    const trid_p_batch_pivoted_room room = trid_p_batch_pivoted_room_of(plan.n, systems, sizeof(T));
    char *scratch = (char *)plan.scratch;
    dim3 grid;
    if (trid_p_batch_count(&plan, 1, 1, &grid) != cudaSuccess || systems > 0x7fffffffll / room.count[0])
        return TRID_BATCH_BAD_SIZE;
    trid_p_batch_tree<T> tree;
    tree.plan = plan;
    tree.worst = reports ? (int *)(scratch + room.worst) : (int *)0;
    if (reports && cudaMemsetAsync(tree.worst, TRID_P_BATCH_NO_ROW_BYTE, (size_t)(8 * systems), stream) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    for (int step = 0; step <= 2 * room.levels;
         step++) { /* the chunks, the levels up, all but the top down again, chunks */
        int level = step <= room.levels ? step - 1 : 2 * room.levels - 1 - step, chunks = level < 0,
            at = chunks ? 0 : level;
        tree.down = step > room.levels;
        tree.count = (unsigned)room.count[at];
        tree.groups = (tree.count + 31) / 32;
        tree.face = (T *)(scratch + room.face[at]);
        tree.outer = (T *)(scratch + room.outer[at]);
        tree.joined = at + 1 < room.levels ? (T *)(scratch + room.face[at + 1]) : (T *)0;
        tree.around = at + 1 < room.levels ? (T *)(scratch + room.outer[at + 1]) : (T *)0;
        tree.plan.tiles = (unsigned)systems * (chunks ? tree.count : tree.groups);
        cudaError_t error = chunks ? trid_p_batch_launch_pivoted_chunks(tree, dense, rows, d, x, stream)
                                   : trid_launch(trid_p_batch_pivoted_groups<T>, dim3((tree.plan.tiles + 3) / 4),
                                                 dim3(128), 0, stream, tree);
        if (error != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    }
    return !reports ||
                   trid_launch(trid_p_batch_told<T, 0>, dim3((unsigned)((systems + 255) / 256)), dim3(256), 0, stream,
                               plan, M, tree.worst, (const int *)0, (const unsigned long long *)0) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

/* Does one of `count` elements from p on lie within the reach of x with all its sides, be it between its elements? */
template <class T>
static inline int trid_p_batch_within(const trid_lines &lines, const T *x, const T *p, long long count,
                                      long long sides = 1, long long pitch = 0)
{
    long long low = 0, high = 0, counts[4] = {lines.n, lines.systems, lines.groups, sides};
    long long steps[4] = {lines.step, lines.stride, lines.jump, pitch};
    for (int i = 0; i < 4; i++) (steps[i] < 0 ? low : high) += steps[i] * (counts[i] - 1);
    size_t from = (size_t)(x + low), to = (size_t)(x + high + 1), at = (size_t)p;
    return count > 0 && at < to && at + (size_t)count * sizeof(T) > from;
}

/* A call's arguments, checked; a, b, c are null where the matrix is made in registers. */
template <class T>
static int trid_p_batch_refuse(const trid_lines &lines, int flags, int known, const T *a, const T *b, const T *c,
                               const T *d, const T *x, int made)
{
    if (flags & ~known) return TRID_BATCH_BAD_FLAGS;
    int status = trid_lines_check(lines);
    if (status) return status;
    if (trid_p_lines_empty(lines)) return TRID_BATCH_OK;
    if (lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
    if (!d || !x || (!made && (!a || !b || !c))) return TRID_BATCH_BAD_ARGUMENT;
    if (d != x && trid_lines_overlap(lines, d, x, sizeof(T))) return TRID_BATCH_OVERLAP;
    /* But for periodic systems, of a the rows from 1 on are elements, of c those before n-1: rows 0 .. n-2 and 1 .. n-1
       of x are asked for. */
    const long long ends = (flags & TRID_BATCH_PERIODIC) == 0, first[3] = {ends, 0, 0};
    const long long rows[3] = {lines.n - ends, lines.n, lines.n - ends};
    const T *matrix[3] = {a, b, c};
    for (int k = 0; k < 3 && !made; k++) {
        if (!(flags & TRID_BATCH_SHARED)) {
            trid_lines own = lines;
            own.n = rows[k];
            const T *from = matrix[k] + first[k] * lines.step;
            for (long long row = 0; row <= lines.n - own.n; row++)
                if (trid_lines_overlap(own, from, x + row * lines.step, sizeof(T))) return TRID_BATCH_OVERLAP;
        } else if (trid_p_batch_within(lines, x, matrix[k] + first[k], rows[k])) {
            return TRID_BATCH_OVERLAP;
        }
    }
    return TRID_BATCH_OK;
}

/* The plan of a call, and what the report wants at its start. */
static inline int trid_p_batch_begin(trid_lines lines, int flags, const trid_batch_report *report, void *scratch,
                                     cudaStream_t stream, trid_p_batch_plan *plan)
{
    const trid_batch_report none = {0, 0, 0, 0};
    plan->lines = trid_p_lines_join(lines);
    plan->n = (int)lines.n;
    plan->width = plan->width_log2 = 0;
    plan->flags = flags;
    plan->magic = plan->per_group = plan->tiles = plan->repeat = 0;
    plan->repair = 0;
    plan->scratch = scratch;
    plan->report = report ? *report : none;
    unsigned long long *failed = plan->report.failed;
    if (!failed) return TRID_BATCH_OK;
    return cudaMemsetAsync(failed, 0, sizeof *failed, stream) == cudaSuccess &&
                   cudaMemsetAsync(failed + 1, 0xff, sizeof *failed, stream) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

/* Is the call to be solved as systems side by side? Where kernels for one layout alone are compiled it does not matter
   how short systems lie. */
template <int ONLY>
static int trid_p_batch_beside(const trid_p_batch_plan &plan)
{
    return ONLY & TRID_BATCH_ONLY_CONTIGUOUS     ? 0
           : ONLY & TRID_BATCH_ONLY_SIDE_BY_SIDE ? 1
                                                 : trid_p_batch_side_by_side(plan);
}
/* Systems for which nothing is compiled; is_long: as for trid_p_batch_is_long. */
template <int ONLY>
static int trid_p_batch_left_out(const trid_p_batch_plan &plan, int is_long)
{
    return (is_long && (ONLY & TRID_BATCH_ONLY_SHORT)) ||
           (plan.n > TRID_P_BATCH_ON_CHIP_LINES && trid_p_batch_beside<ONLY>(plan) != trid_p_batch_side_by_side(plan));
}

/* With residuals and without; Rows are arrays for the former. */
template <int CHECKED, int ONLY, class T, class Rows>
static int trid_p_batch_launch_on_chip(const trid_p_batch_plan &plan, const Rows &rows, const T *d, T *x, int shared,
                                       cudaStream_t stream)
{
    int status = TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_beside<ONLY>(plan)) {
        if constexpr (ONLY & TRID_BATCH_ONLY_CONTIGUOUS)
            return status;
        else if constexpr (CHECKED)
            status = trid_p_batch_launch_side_by_side_checked(plan, rows, d, x, stream);
        else
            status = trid_p_batch_launch_side_by_side<T>(plan, rows, d, x, stream);
    } else if constexpr (!(ONLY & TRID_BATCH_ONLY_SIDE_BY_SIDE)) {
        if constexpr (!CHECKED)
            status = trid_p_batch_launch_contiguous<T>(plan, rows, d, x, shared, stream);
        else if (plan.n <= 512)
            status = trid_p_batch_launch_checked<T>(plan, rows, d, x, shared, stream);
        else
            status = trid_p_batch_launch_beyond<1>(
                plan, plan.lines.step == 1 ? TRID_P_BATCH_DENSE : TRID_P_BATCH_PITCHED, rows, d, x, stream);
    }
    return status;
}
template <int CHECKED, int ONLY, class T, class Rows>
static int trid_p_batch_launch(const trid_p_batch_plan &plan, const Rows &rows, const T *d, T *x, int shared,
                               cudaStream_t stream)
{
    const int is_long = trid_p_batch_is_long(plan.lines, sizeof(T), CHECKED);
    if (trid_p_batch_left_out<ONLY>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if constexpr (!(ONLY & TRID_BATCH_ONLY_SHORT))
        if (is_long)
            return trid_p_batch_launch_levels<T, CHECKED, TRID_P_BATCH_ON_CHIP_LINES + 1, ONLY>(plan, rows, d, x,
                                                                                                stream);
    return trid_p_batch_launch_on_chip<CHECKED, ONLY>(plan, rows, d, x, shared, stream);
}

/* Where kernels find the off-diagonals. As neither a of row 0 nor c of row n-1 is used, the transposed matrix is the
   same arrays by other names; systems of one row have no off-diagonals, and b stands for them. */
template <class T>
static inline void trid_p_batch_sides(const trid_p_batch_plan &plan, long long step, const T **a, const T *b,
                                      const T **c)
{
    const T *above = *c - step, *below = *a + step;
    if (plan.flags & TRID_BATCH_TRANSPOSED) *a = above, *c = below;
    if (plan.n == 1) *a = *c = b;
}

template <int CHECKED, int ONLY = 0, class T>
static int trid_p_batch_solve(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                              const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const int known = TRID_BATCH_ADD | TRID_BATCH_TRANSPOSED | (CHECKED ? TRID_BATCH_SHARED | TRID_BATCH_REFINED : 0);
    int status = trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const T *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    if (plan.report.tolerance == 0) plan.report.tolerance = 128 * (sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);
    trid_p_batch_arrays<T> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    trid_p_batch_sides(plan, rows.step, &rows.a, rows.b, &rows.c);
    return trid_p_batch_launch<CHECKED, ONLY>(plan, rows, d, x, flags & TRID_BATCH_SHARED, stream);
}

template <int ONLY, class T>
static int trid_p_batch_shared(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                               const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const int known = TRID_BATCH_ADD | TRID_BATCH_TRANSPOSED;
    int status = flags & ~known ? TRID_BATCH_BAD_FLAGS
                                : trid_p_batch_refuse(lines, flags | TRID_BATCH_SHARED, known | TRID_BATCH_SHARED, a, b,
                                                      c, d, (const T *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    trid_p_batch_common<T> rows = {a, b, c, plan.n};
    trid_p_batch_sides(plan, 1, &rows.a, rows.b, &rows.c);
    const int is_long = trid_p_batch_is_long(plan.lines, sizeof(T), 0);
    if (trid_p_batch_left_out<ONLY>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if constexpr (!(ONLY & TRID_BATCH_ONLY_SHORT))
        if (is_long) {
            trid_p_batch_arrays<T> arrays = {rows.a, rows.b, rows.c, 1, 0, 0};
            return trid_p_batch_launch_levels<T, 0, TRID_P_BATCH_ON_CHIP_LINES + 1, ONLY>(plan, arrays, d, x, stream);
        }
    status = TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_beside<ONLY>(plan)) {
        if constexpr (!(ONLY & TRID_BATCH_ONLY_CONTIGUOUS))
            status = trid_p_batch_launch_common_side_by_side(plan, rows, d, x, stream);
    } else if constexpr (!(ONLY & TRID_BATCH_ONLY_SIDE_BY_SIDE)) {
        status = trid_p_batch_launch_common(plan, rows, d, x, stream);
    }
    return status;
}

/* n > 512: two warps a system in double precision ... */
template <class T, int unused>
struct trid_p_batch_pivoted_long {
    static int launch(trid_p_batch_plan plan, int dense, trid_p_batch_arrays<T> rows, const T *d, T *x,
                      cudaStream_t stream)
    {
        dim3 grid;
        if (trid_p_batch_count(&plan, 1, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
        cudaError_t error = !dense ? trid_launch(trid_p_batch_pivoted_block<T, 16, 2, TRID_P_BATCH_PITCHED>, grid,
                                                 dim3(64), 0, stream, plan, rows, d, x)
                            : plan.n <= 768 ? trid_launch(trid_p_batch_pivoted_block<T, 12, 2, TRID_P_BATCH_DENSE>,
                                                          grid, dim3(64), 0, stream, plan, rows, d, x)
                            : plan.n <= 1024
                                ? trid_launch(trid_p_batch_pivoted_block<T, 16, 2, TRID_P_BATCH_DENSE>, grid, dim3(64),
                                              0, stream, plan, rows, d, x)
                                : trid_launch(trid_p_batch_pivoted_block<T, 16, 4, TRID_P_BATCH_DENSE>, grid,
                                              dim3((unsigned)(plan.n + 511) / 512 * 32), 0, stream, plan, rows, d, x);
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
        if (trid_p_batch_count(&plan, 1, dense && plan.n <= 1024 ? TRID_P_BATCH_WARPS(float, 0) : 1, &grid) !=
            cudaSuccess)
            return TRID_BATCH_BAD_SIZE;
        cudaError_t error = plan.n > 1024
                                ? trid_launch(trid_p_batch_pivoted_block<float, 32, 4, TRID_P_BATCH_DENSE>, grid,
                                              dim3((unsigned)(plan.n + 1023) / 1024 * 32), 0, stream, plan, rows, d, x)
                            : dense ? trid_launch(trid_p_batch_pivoted_warps<float, 32, TRID_P_BATCH_DENSE>, grid,
                                                  dim3(32 * TRID_P_BATCH_WARPS(float, 0)), 0, stream, plan, rows, d, x)
                                    : trid_launch(trid_p_batch_pivoted_block<float, 8, 4, TRID_P_BATCH_PITCHED>, grid,
                                                  dim3(128), 0, stream, plan, rows, d, x);
        return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
    }
};

/* The K of the pivoted kernels. */
#define TRID_P_BATCH_PIVOTED_SHAPES(shape)                                                                             \
    shape(DENSE, 4) shape(DENSE, 8) shape(DENSE, 12) shape(DENSE, 16) shape(PITCHED, 8) shape(PITCHED, 16)

template <int ONLY = 0, class T>
static int trid_p_batch_pivoted(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                                const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    int repair = (flags & TRID_BATCH_REPAIR) != 0, known = TRID_BATCH_ADD | TRID_BATCH_REPAIR | TRID_BATCH_TRANSPOSED;
    if (repair && ((flags & TRID_BATCH_ADD) || !report || !report->status || d == x)) {
        if (!trid_p_lines_empty(lines)) return TRID_BATCH_BAD_FLAGS;
    }
    int status = trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const T *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    plan.repair = repair;
    trid_p_batch_arrays<T> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    trid_p_batch_sides(plan, rows.step, &rows.a, rows.b, &rows.c);
    int W = 1, log2 = 0, n = plan.n, launched = 0;
    if constexpr (!(ONLY & TRID_BATCH_ONLY_CONTIGUOUS)) {
        if (trid_p_batch_side_by_side(plan))
            status = trid_p_batch_launch_side_by_side_pivoted(plan, rows, d, x, stream, &launched);
        if (launched || status) return status;
    }
    if (trid_p_batch_is_long(plan.lines, sizeof(T), 2)) {
        if constexpr (ONLY & TRID_BATCH_ONLY_SHORT)
            return TRID_BATCH_BAD_SIZE;
        else
            return trid_p_batch_launch_tree(plan, plan.lines.step == 1, rows, d, x, stream);
    }
    while (W < 32 && (n + W - 1) / W > 16) W *= 2, log2++;
    int K = (n + W - 1) / W, dense = plan.lines.step == 1 && (W == 32 || plan.lines.stride == n);
    int path = dense ? TRID_P_BATCH_DENSE : TRID_P_BATCH_PITCHED;
    plan.width = W;
    plan.width_log2 = log2;
    plan.magic = W == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    if (K > 16) return trid_p_batch_pivoted_long<T, 0>::launch(plan, dense, rows, d, x, stream);
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

template <int CHECKED, int ONLY, class T, class Rows>
static int trid_p_batch_solve_rows(trid_lines lines, int flags, const Rows &rows, const T *d, T *x,
                                   const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const T *none = 0;
    int status = trid_p_batch_refuse(lines, flags, TRID_BATCH_ADD, none, none, none, d, (const T *)x, 1);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    return trid_p_batch_launch<CHECKED, ONLY>(plan, rows, d, x, flags & TRID_BATCH_SHARED, stream);
}

/* ---- launches for several right-hand sides ----------------------------------------------------------------------- */

/* The K of these kernels, in parts of the most; then K, L, S of those for systems side by side, up to n = K*S. */
#define TRID_P_BATCH_LU_SHAPES(shape) shape(EXACT, 1) shape(DENSE, 4) shape(DENSE, 2) shape(DENSE, 1) shape(PITCHED, 1)

template <class T, int K, int L, int S, int AHEAD, int FACTOR>
static int trid_p_batch_launch_lu_lines(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                        const trid_p_batch_more<T> &more, const T *d, T *x, cudaStream_t stream,
                                        int *launched)
{
    enum { RESIDENT = TRID_P_BATCH_LINES_RESIDENT(T, K, L * S), ONE = K * L * S * (int)sizeof(T) };
    const int bytes = (FACTOR ? 3 : 4) * ONE + (plan.flags & TRID_BATCH_PERIODIC ? ONE : 0);
    static_assert(!TRID_P_BATCH_ROOMY(90) || RESIDENT * (5 * ONE + 14 * 1024) <= TRID_P_BATCH_ROOM,
                  "every tile must have room");
    /* beside what changes hands */
    const trid_p_batch_staged with = {L, L * S, bytes, 14 * 1024, RESIDENT, RESIDENT, 8, 0};
    return trid_p_batch_launch_staged(trid_p_batch_staging(plan.lines, rows, FACTOR ? rows.a : d) ==
                                                  TRID_P_BATCH_WIDE &&
                                              more.pitch % (16 / (int)sizeof(T)) == 0
                                          ? trid_p_batch_lu_lines<T, K, L, S, AHEAD, TRID_P_BATCH_WIDE, FACTOR>
                                          : trid_p_batch_lu_lines<T, K, L, S, AHEAD, TRID_P_BATCH_NARROW, FACTOR>,
                                      with, plan, stream, launched, rows, more, d, x);
}
template <class T, int FACTOR>
static int trid_p_batch_launch_lu_side_by_side(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                               const trid_p_batch_more<T> &more, const T *d, T *x, cudaStream_t stream)
{
    const int F = sizeof(T) == 4 ? 2 : 1, column = plan.flags & TRID_BATCH_PERIODIC ? (int)sizeof(T) : 0;
    int launched = 0;
#define TRID_P_BATCH_LINES_OF(K, L, S, AHEAD)                                                                          \
    trid_p_batch_launch_lu_lines<T, K, L, S, AHEAD, FACTOR>(plan, rows, more, d, x, stream, &launched)
    int status = plan.n <= 16    ? TRID_P_BATCH_LINES_OF(16, 128, 1, 0)
                 : plan.n <= 64  ? TRID_P_BATCH_LINES_OF(16, 32 * F, 4, 128)
                 : plan.n <= 256 ? TRID_P_BATCH_LINES_OF(16, 16 * F, 16, 256)
                                 : TRID_P_BATCH_LINES_OF(16, 4 * F, 64, 128);
#undef TRID_P_BATCH_LINES_OF
    if (launched || status) return status;
#define TRID_P_BATCH_KERNEL_OF(L, S) trid_p_batch_lu_lines<T, 16, L, S, 0, TRID_P_BATCH_UNSTAGED, FACTOR>
#define TRID_P_BATCH_LINES_OF(L, S)                                                                                    \
    trid_p_batch_launch_unstaged_of<L, S>(TRID_P_BATCH_KERNEL_OF(L, S), plan, 16 * L * S * column, stream, rows, more, \
                                          d, x)
    return TRID_P_BATCH_LEAST_LINES(trid_p_batch_unstaged_n(TRID_P_BATCH_KERNEL_OF(4 * F, 64), plan.n), F);
#undef TRID_P_BATCH_LINES_OF
#undef TRID_P_BATCH_KERNEL_OF
}

template <class T, int FACTOR>
static int trid_p_batch_launch_lu_contiguous(trid_p_batch_plan plan, const trid_p_batch_arrays<T> &rows,
                                             const trid_p_batch_more<T> &more, const T *d, T *x, cudaStream_t stream)
{
    enum { MOST = TRID_P_BATCH_LU_ROWS(T) };
    int W = 1, log2 = 0, n = plan.n, launched = 0;
    dim3 grid;
    cudaError_t error = cudaSuccess;
    while (W < 32 && (n + W - 1) / W > MOST) W *= 2, log2++;
    int K = (n + W - 1) / W;
    int dense = plan.lines.step == 1 && (W == 32 || (plan.lines.stride == n && rows.stride == n));
    int path = dense ? TRID_P_BATCH_DENSE : TRID_P_BATCH_PITCHED;
    if (dense && n == MOST * W && plan.lines.systems % (32 / W) == 0) path = TRID_P_BATCH_EXACT;
    plan.width = W;
    plan.width_log2 = log2;
    plan.magic = W == 32 ? 0 : ((1u << 20) + (unsigned)n - 1) / (unsigned)n;
    const int block = K > MOST, warps = (n + 32 * MOST - 1) / (32 * MOST);
    if (trid_p_batch_count(&plan, 32 / W, block ? 1 : TRID_P_BATCH_WARPS(T, 0), &grid) != cudaSuccess)
        return TRID_BATCH_BAD_SIZE;
    if (block)
        error = dense ? trid_launch(trid_p_batch_lu_block<T, MOST, TRID_P_BATCH_DENSE, FACTOR>, grid, dim3(32 * warps),
                                    0, stream, plan, rows, more, d, x)
                      : trid_launch(trid_p_batch_lu_block<T, MOST, TRID_P_BATCH_PITCHED, FACTOR>, grid,
                                    dim3(32 * warps), 0, stream, plan, rows, more, d, x);
#define TRID_P_BATCH_LU_OF(PATH, part)                                                                                 \
    if (path == TRID_P_BATCH_##PATH && !block && !launched && K <= MOST / part)                                        \
        error = trid_launch(trid_p_batch_lu_warps<T, MOST / part, TRID_P_BATCH_##PATH, FACTOR>, grid,                  \
                            dim3(32 * TRID_P_BATCH_WARPS(T, 0)), 0, stream, plan, rows, more, d, x),                   \
        launched = 1;
    TRID_P_BATCH_LU_SHAPES(TRID_P_BATCH_LU_OF)
#undef TRID_P_BATCH_LU_OF
    return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

template <class T, int FACTOR, int ONLY = 0>
static int trid_p_batch_launch_lu(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                  const trid_p_batch_more<T> &more, const T *d, T *x, cudaStream_t stream)
{
    int status = TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_beside<ONLY>(plan)) {
        if constexpr (!(ONLY & TRID_BATCH_ONLY_CONTIGUOUS))
            status = trid_p_batch_launch_lu_side_by_side<T, FACTOR>(plan, rows, more, d, x, stream);
    } else if constexpr (!(ONLY & TRID_BATCH_ONLY_SIDE_BY_SIDE)) {
        status = trid_p_batch_launch_lu_contiguous<T, FACTOR>(plan, rows, more, d, x, stream);
    }
    return status;
}

/* Does a side of x at p + k*pitch, k = low .. high, share an element with an array at q? Only those within reach
   count. */
template <class T>
static int trid_p_batch_sides_meet(const trid_lines &lines, const T *p, const T *q, long long pitch, long long low,
                                   long long high)
{
    long long reach = 1, count[3] = {lines.n, lines.systems, lines.groups};
    long long steps[3] = {lines.step, lines.stride, lines.jump}, bytes = (long long)sizeof(T);
    if (trid_p_lines_empty(lines)) return 0;
    for (int i = 0; i < 3; i++) reach += (steps[i] < 0 ? -steps[i] : steps[i]) * (count[i] - 1);
    if (pitch < 0) {
        long long least = -high;
        pitch = -pitch, high = -low, low = least;
    }
    size_t from = (size_t)p, to = (size_t)q;
    long long apart = from < to ? (long long)(to - from) / bytes : -((long long)(from - to) / bytes);
    if (pitch > 0) { /* |apart - k*pitch| <= reach, and one more for what division cuts off */
        long long first = (apart - reach - 1) / pitch - 1, last = (apart + reach + 1) / pitch + 1;
        if (first > low) low = first;
        if (last < high) high = last;
    }
    for (long long k = low; k <= high; k++)
        if (trid_lines_overlap(lines, (const T *)(from + (size_t)(k * pitch * bytes)), q, sizeof(T))) return 1;
    return 0;
}

/* The same with array k of a, b, c: but for periodic systems a's rows are those from 1 on, and c's those before n-1. */
template <class T>
static int trid_p_batch_sides_meet_matrix(const trid_lines &lines, int flags, int k, const T *matrix, const T *x,
                                          long long pitch, long long sides)
{
    const long long ends = k != 1 && (flags & TRID_BATCH_PERIODIC) == 0;
    trid_lines own = lines;
    own.n -= ends;
    if (flags & TRID_BATCH_SHARED)
        return trid_p_batch_within(lines, x, matrix + (k == 0 ? ends : 0), own.n, sides, pitch);
    if (k == 0) matrix += ends * lines.step;
    for (long long row = 0; row <= ends; row++)
        if (trid_p_batch_sides_meet(own, x + row * lines.step, matrix, pitch, 0, sides - 1)) return 1;
    return 0;
}

/* Sizes and overlaps of the right-hand sides; d and x may be the same. */
template <class T>
static int trid_p_batch_refuse_sides(const trid_lines &lines, long long sides, long long pitch, int flags, const T *a,
                                     const T *b, const T *c, const T *d, const T *x)
{
    const long long most = 1ll << 56;
    long long elements = lines.n * lines.systems * lines.groups, reach = 0, size = pitch < 0 ? -pitch : pitch;
    long long steps[3] = {lines.step, lines.stride, lines.jump}, count[3] = {lines.n, lines.systems, lines.groups};
    for (int i = 0; i < 3; i++) reach += (steps[i] < 0 ? -steps[i] : steps[i]) * (count[i] - 1);
    if (sides < 0 || sides > most / elements || pitch > most || pitch < -most) return TRID_BATCH_BAD_SIZE;
    if (sides < 2) return TRID_BATCH_OK;
    if (size > (most - reach) / (sides - 1)) return TRID_BATCH_BAD_SIZE;
    const T *arrays[3] = {a, b, c};
    if (trid_p_batch_sides_meet(lines, x, x, pitch, 1, sides - 1)) return TRID_BATCH_OVERLAP;
    if (d != x && trid_p_batch_sides_meet(lines, x, d, pitch, 1 - sides, sides - 1)) return TRID_BATCH_OVERLAP;
    for (int i = 0; i < 3; i++)
        if (trid_p_batch_sides_meet_matrix(lines, flags, i, arrays[i], x, pitch, sides)) return TRID_BATCH_OVERLAP;
    return TRID_BATCH_OK;
}

/* Systems that no block holds beside their factors are solved for each right-hand side anew ... */
static inline int trid_p_batch_lu_is_long(const trid_lines &lines)
{
    return lines.n > TRID_P_BATCH_ON_CHIP_LU;
}

/* ... in levels, with scratch, where no block holds them at all. */
static inline int trid_p_batch_lu_needs(const trid_lines &joined, int bytes, int flags)
{
    return trid_p_batch_lu_is_long(joined) && ((flags & TRID_BATCH_PERIODIC) || trid_p_lines_side_by_side(joined) ||
                                               trid_p_batch_is_long(joined, bytes, 0));
}

/* One of them. */
template <int ONLY, class T>
static int trid_p_batch_launch_side(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows, const T *d, T *x,
                                    cudaStream_t stream)
{
    if (trid_p_batch_lu_needs(plan.lines, sizeof(T), plan.flags))
        return trid_p_batch_launch_levels<T, 0, TRID_P_BATCH_ON_CHIP_LINES + 1, ONLY>(plan, rows, d, x, stream);
    int status = TRID_BATCH_BAD_SIZE;
    if constexpr (!(ONLY & TRID_BATCH_ONLY_SIDE_BY_SIDE))
        status = trid_p_batch_dense(plan, rows)
                     ? trid_p_batch_launch_block<T, 0, TRID_P_BATCH_DENSE>(plan, rows, d, x, stream)
                     : trid_p_batch_launch_block<T, 0, TRID_P_BATCH_PITCHED>(plan, rows, d, x, stream);
    return status;
}

/* The same for periodic systems: the n-1 rows before the last one are solved for the right-hand side and for the last
   column, and put together. lines says how x lies, other how column lies, and with ADD what is to be added. */
template <class T>
struct trid_p_batch_ring {
    trid_p_batch_plan plan;
    trid_p_batch_arrays<T> rows;
    trid_p_batch_more<T> more;
    trid_lines other;
    T *column, *known; /* of each system the last unknown */
    const int *status; /* of the other rows; or null */
};
template <class T>
TRID_KERNEL void __launch_bounds__(256) trid_p_batch_ring_column(trid_p_batch_ring<T> ring)
{
    long long system = blockIdx.x * 256ll + threadIdx.x, group = system / ring.plan.lines.systems;
    if (group >= ring.plan.lines.groups) return;
    system -= group * ring.plan.lines.systems;
    long long from = group * ring.rows.jump + system * ring.rows.stride;
    T *z = ring.column + (group * ring.other.jump + system * ring.other.stride);
    z[0] = -ring.more.top[from];
    z[(ring.plan.n - 2) * ring.other.step] = -ring.rows.c[from + (ring.plan.n - 2) * ring.rows.step];
}
template <class T>
TRID_KERNEL void __launch_bounds__(256)
    trid_p_batch_ring_last(trid_p_batch_ring<T> ring, int tells, const T *d, trid_lines lines, const T *y)
{
    const long long index = blockIdx.x * 256ll + threadIdx.x, group = index / ring.plan.lines.systems;
    if (group >= ring.plan.lines.groups) return;
    const long long n = ring.plan.n, system = index - group * ring.plan.lines.systems;
    const long long from = group * ring.rows.jump + system * ring.rows.stride;
    const T *z = ring.column + (group * ring.other.jump + system * ring.other.stride);
    const T low = ring.rows.a[from + (n - 1) * ring.rows.step], mid = ring.rows.b[from + (n - 1) * ring.rows.step];
    const T bottom = ring.more.bottom[from];
    T last = trid_rcp_refined(mid + low * z[(n - 2) * ring.other.step] + bottom * z[0]);
    y += group * lines.jump + system * lines.stride;
    T right = d[group * ring.plan.lines.jump + system * ring.plan.lines.stride + (n - 1) * ring.plan.lines.step];
    ring.known[index] = last * (right - low * y[(n - 2) * lines.step] - bottom * y[0]);
    if (tells) {
        int bad = ring.status[index] ? ring.status[index] : trid_bad_pivot(last) ? (int)n : TRID_P_BATCH_NO_ROW;
        trid_p_batch_tell(ring.plan, index, bad, 0, (T)0, (T)0);
    }
}

/* Element i of an array, in about the order of memory: row j of system s of group g. */
struct trid_p_batch_element {
    long long j, s, g;
};
TB_D trid_p_batch_element trid_p_batch_element_of(const trid_lines &lines, long long i)
{
    const int across = (lines.step < 0 ? -lines.step : lines.step) > (lines.stride < 0 ? -lines.stride : lines.stride);
    const long long within = across ? lines.systems : lines.n, beyond = across ? lines.n : lines.systems;
    const long long rest = i / within, g = rest / beyond, inner_index = i - rest * within,
                    outer_index = rest - g * beyond;
    trid_p_batch_element e = {across ? outer_index : inner_index, across ? inner_index : outer_index, g};
    return e;
}
TB_D long long trid_p_batch_element_at(const trid_lines &lines, const trid_p_batch_element &e)
{
    return e.j * lines.step + e.s * lines.stride + e.g * lines.jump;
}
template <class T>
TRID_KERNEL void __launch_bounds__(256)
    trid_p_batch_ring_close(trid_p_batch_ring<T> ring, trid_lines lines, const T *y, T *x)
{
    const trid_lines &to = ring.plan.lines;
    const long long all = to.n * to.systems * to.groups, pace = (long long)gridDim.x * 256;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < all; i += pace) {
        const trid_p_batch_element e = trid_p_batch_element_of(to, i);
        const long long at = trid_p_batch_element_at(to, e);
        T known = ring.known[e.g * to.systems + e.s], v = known;
        if (e.j < to.n - 1)
            v = y[trid_p_batch_element_at(lines, e)] + known * ring.column[trid_p_batch_element_at(ring.other, e)];
        x[at] = ring.plan.flags & TRID_BATCH_ADD ? x[at] + v : v;
    }
}

/* From array to array. */
template <class T>
TRID_KERNEL void __launch_bounds__(256) trid_p_batch_duplicate(trid_lines lines, const T *from, trid_lines place, T *to)
{
    const long long all = lines.n * lines.systems * lines.groups, pace = (long long)gridDim.x * 256;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < all; i += pace) {
        const trid_p_batch_element e = trid_p_batch_element_of(lines, i);
        to[trid_p_batch_element_at(place, e)] = from[trid_p_batch_element_at(lines, e)];
    }
}

/* Blocks of 256 threads for so many elements, each thread taking several where these are many. */
static inline dim3 trid_p_batch_grid(long long elements)
{
    long long blocks = (elements + 255) / 256;
    return dim3((unsigned)(blocks < 65536 ? blocks : 65536));
}

template <int ONLY, class T>
static int trid_p_batch_launch_ring(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                    const trid_p_batch_more<T> &more, const T *d, T *x, cudaStream_t stream)
{
    if (trid_p_batch_lacks(plan)) return TRID_BATCH_BAD_ARGUMENT;
    const trid_batch_report none = {0, 0, 0, 0};
    const long long systems = plan.lines.systems * plan.lines.groups;
    const int add = plan.flags & TRID_BATCH_ADD, side_by_side = trid_p_batch_side_by_side(plan);
    const trid_p_batch_ring_room room = trid_p_batch_ring_room_of(plan.n, systems, sizeof(T), add);
    char *scratch = (char *)plan.scratch;
    const dim3 grid((unsigned)((systems + 255) / 256)), block(256);
    if (systems > 0x7fffffffll) return TRID_BATCH_BAD_SIZE;
    trid_p_batch_ring<T> ring = {
        plan, rows, more, plan.lines, (T *)(scratch + room.column), (T *)(scratch + room.known), 0};
    ring.other.step = side_by_side ? systems : 1;
    ring.other.stride = side_by_side ? 1 : plan.n;
    ring.other.jump = ring.other.stride * plan.lines.systems;
    trid_p_batch_plan core = plan;
    core.lines.n = core.n = plan.n - 1;
    core.flags = 0;
    core.report = none;
    core.scratch = scratch + room.end;
    trid_p_batch_plan column = core;
    column.lines = ring.other;
    column.lines.n = core.n;
    if (trid_p_batch_reports(plan)) ring.status = column.report.status = (int *)(scratch + room.status);
    if (cudaMemsetAsync(ring.column, 0, (size_t)(plan.n * systems) * sizeof(T), stream) != cudaSuccess ||
        trid_launch(trid_p_batch_ring_column<T>, grid, block, 0, stream, ring) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    int status = trid_p_batch_launch_levels<T, 0, TRID_P_BATCH_ON_CHIP_LINES, ONLY>(
        column, rows, (const T *)ring.column, ring.column, stream);
    if (status) return status;
    for (long long side = 0; side < more.sides; side++, d += more.pitch, x += more.pitch) {
        T *y = add ? (T *)(scratch + room.added) : x;
        const trid_lines lines = add ? ring.other : plan.lines;
        if (add) { /* the levels take right-hand side and x that lie alike */
            if (trid_launch(trid_p_batch_duplicate<T>, trid_p_batch_grid(plan.n * systems), block, 0, stream,
                            plan.lines, d, ring.other, y) != cudaSuccess)
                return TRID_BATCH_LAUNCH_FAILED;
            core.lines = column.lines;
        }
        status = trid_p_batch_launch_levels<T, 0, TRID_P_BATCH_ON_CHIP_LINES, ONLY>(core, rows, add ? (const T *)y : d,
                                                                                    y, stream);
        if (status) return status;
        int tells = side == 0 && trid_p_batch_reports(plan);
        if (trid_launch(trid_p_batch_ring_last<T>, grid, block, 0, stream, ring, tells, d, lines, (const T *)y) !=
                cudaSuccess ||
            trid_launch(trid_p_batch_ring_close<T>, trid_p_batch_grid(plan.n * systems), block, 0, stream, ring, lines,
                        (const T *)y, x) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
    }
    return TRID_BATCH_OK;
}

/* The plan's matrix for these launches: where its corners are, and the transposed one by other names where there are no
   factors, as trid_p_batch_sides. */
template <class T>
static trid_p_batch_more<T> trid_p_batch_more_of(trid_p_batch_plan *plan, trid_p_batch_arrays<T> *rows, long long sides,
                                                 long long pitch, T *u)
{
    const long long end = (plan->n - 1) * rows->step;
    trid_p_batch_more<T> more = {sides, pitch, rows->a, rows->c + end, u};
    if (trid_p_batch_lu_is_long(plan->lines)) plan->flags &= ~TRID_BATCH_FACTORED;
    if (plan->flags & TRID_BATCH_FACTORED) { /* there the kernels do it */
        if (plan->n == 1) rows->a = rows->c = rows->b;
        return more;
    }
    if (plan->flags & TRID_BATCH_TRANSPOSED) more.top = rows->c + end, more.bottom = rows->a;
    trid_p_batch_sides(*plan, rows->step, &rows->a, rows->b, &rows->c);
    return more;
}

template <int ONLY, class T>
static int trid_p_batch_several(trid_lines lines, long long sides, long long pitch, int flags, const T *a, const T *b,
                                const T *c, const T *d, T *x, const trid_batch_report *report, void *scratch,
                                cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const int known =
        TRID_BATCH_ADD | TRID_BATCH_SHARED | TRID_BATCH_TRANSPOSED | TRID_BATCH_PERIODIC | TRID_BATCH_FACTORED;
    const trid_batch_report none = {0, 0, 0, 0};
    int status, empty = trid_p_lines_empty(lines) || sides == 0;
    if (flags & ~known) return TRID_BATCH_BAD_FLAGS;
    status = empty || sides < 0 ? trid_lines_check(lines)
                                : trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const T *)x, 0);
    if (!status && sides < 0) status = TRID_BATCH_BAD_SIZE;
    if (!status && !empty) status = trid_p_batch_refuse_sides(lines, sides, pitch, flags, a, b, c, d, (const T *)x);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || empty) return status;
    trid_p_batch_arrays<T> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    trid_p_batch_more<T> more = trid_p_batch_more_of(&plan, &rows, sides, pitch, (T *)0);
    const int is_long = trid_p_batch_lu_is_long(lines);
    if (trid_p_batch_left_out<ONLY>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if (!is_long) return trid_p_batch_launch_lu<T, 0, ONLY>(plan, rows, more, d, x, stream);
    if constexpr (!(ONLY & TRID_BATCH_ONLY_SHORT)) {
        if (flags & TRID_BATCH_PERIODIC) return trid_p_batch_launch_ring<ONLY>(plan, rows, more, d, x, stream);
        for (long long side = 0; side < sides && !status; side++) {
            status = trid_p_batch_launch_side<ONLY>(plan, rows, d + side * pitch, x + side * pitch, stream);
            plan.report = none; /* the matrices are the same */
        }
    }
    return status;
}

template <int ONLY, class T>
static int trid_p_batch_factor(trid_lines lines, int flags, const T *a, const T *b, const T *c, T *r, T *u,
                               const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const T *const to[2] = {r, u}, *const from[3] = {a, b, c};
    if (flags & ~TRID_BATCH_PERIODIC) return TRID_BATCH_BAD_FLAGS;
    int status = trid_lines_check(lines), empty = trid_p_lines_empty(lines);
    if (status) return status;
    if (!empty) {
        if (lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
        if (!a || !b || !c || !r || !u) return TRID_BATCH_BAD_ARGUMENT;
        if (trid_lines_overlap(lines, r, u, sizeof(T))) return TRID_BATCH_OVERLAP;
        for (int k = 0; k < 6; k++) /* r may be b, u may be c */
            if ((k % 3 != k / 3 + 1 || to[k / 3] != from[k % 3]) &&
                trid_p_batch_sides_meet_matrix(lines, flags, k % 3, from[k % 3], to[k / 3], 0, 1))
                return TRID_BATCH_OVERLAP;
    }
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || empty) return status;
    trid_p_batch_arrays<T> rows = {a, b, c, plan.lines.step, plan.lines.stride, plan.lines.jump};
    trid_p_batch_more<T> more = trid_p_batch_more_of(&plan, &rows, 0, 0, u);
    const int is_long = trid_p_batch_lu_is_long(lines);
    if (trid_p_batch_left_out<ONLY>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if (!is_long) return trid_p_batch_launch_lu<T, 1, ONLY>(plan, rows, more, (const T *)0, r, stream);
    const long long systems = lines.systems * lines.groups;
    if (plan.report.status &&
        cudaMemsetAsync(plan.report.status, 0, (size_t)systems * sizeof(int), stream) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    for (int k = 0; k < 2; k++) {
        if (to[k] == from[k + 1]) continue;
        trid_lines all = plan.lines;
        if (k == 1 && !(flags & TRID_BATCH_PERIODIC)) all.n--; /* c of row n-1 is not read */
        if (trid_launch(trid_p_batch_duplicate<T>, trid_p_batch_grid(all.n * systems), dim3(256), 0, stream, all,
                        from[k + 1], all, k == 0 ? r : u) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
    }
    return TRID_BATCH_OK;
}

/* ---- launches for sections of longer lines ----------------------------------------------------------------------- */

/* A call's sizes, checked, and whether `arrays` arrays of ends lie apart from each other and from d. Returns 1 where
   there is nothing to do. */
template <class T>
static int trid_p_batch_refuse_ends(const trid_lines &lines, long long share, const T *d, const T *const *ends,
                                    int arrays)
{
    int status = trid_lines_check(lines);
    if (status) return status;
    const long long all = lines.systems * lines.groups;
    if (all == 0) return 1;
    if (lines.n > TRID_BATCH_MAX_N || share < 1) return TRID_BATCH_BAD_SIZE;
    if (lines.n < 2) return TRID_BATCH_SHORT;
    for (int k = 0; k < arrays; k++) {
        if (!ends[k] || !d) return TRID_BATCH_BAD_ARGUMENT;
        if (trid_p_batch_within(lines, d, ends[k], 2 * all)) return TRID_BATCH_OVERLAP;
        for (int i = 0; i < k; i++)
            if (trid_p_batch_within(trid_lines_contiguous(2 * all, 1), ends[i], ends[k], 2 * all))
                return TRID_BATCH_OVERLAP;
    }
    return TRID_BATCH_OK;
}

/* How many parts a line is cut into, of at least `rows` rows; side by side a warp has neighbouring lines. */
static inline int trid_p_batch_parts(int n, int beside, int rows)
{
    int parts = 1;
    while (parts < (beside ? 8 : 32) && n / (2 * parts) >= rows) parts *= 2;
    return parts;
}

/* One matrix for all, of which a block keeps so many bytes a row. */
template <class T, class... P, class... A>
static int trid_p_batch_launch_ends_common(void (*kernel)(trid_p_batch_plan, trid_p_batch_arrays<T>, P...),
                                           size_t bytes, dim3 grid, cudaStream_t stream, const trid_p_batch_plan &plan,
                                           const A &...arguments)
{
    trid_p_batch_device device;
    if (trid_p_batch_device_of(kernel, &device)) return TRID_BATCH_LAUNCH_FAILED;
    return trid_p_batch_launch_tiles(kernel, grid, TRID_P_BATCH_ENDS_THREADS, TRID_P_BATCH_ENDS_COMMON_RESIDENT(T),
                                     (size_t)plan.n * bytes, device, stream, plan, arguments...);
}
template <class T>
static int trid_p_batch_launch_reduce_common(const trid_p_batch_plan &plan, const trid_p_batch_arrays<T> &rows,
                                             const T *d, int parts, const trid_p_batch_ends<T> &to, dim3 grid,
                                             cudaStream_t stream)
{
    return trid_p_batch_launch_ends_common(trid_p_batch_ends_reduce_common<T>, TRID_P_BATCH_ENDS_STEP * sizeof(T), grid,
                                           stream, plan, rows, d, parts, to);
}
/* made in registers it is none */
template <class T, class Rows>
static int trid_p_batch_launch_reduce_common(const trid_p_batch_plan &, const Rows &, const T *, int,
                                             const trid_p_batch_ends<T> &, dim3, cudaStream_t)
{
    return TRID_BATCH_BAD_ARGUMENT;
}

template <class T, class Rows>
static int trid_p_batch_reduce_ends(trid_lines lines, int flags, int known, Rows rows, const T *d, long long share,
                                    T *ends_a, T *ends_c, T *ends_d, const trid_batch_report *report,
                                    cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const T *const ends[3] = {ends_a, ends_c, ends_d};
    if (flags & ~known) return TRID_BATCH_BAD_FLAGS;
    int status = trid_p_batch_refuse_ends(lines, share, d, ends, 3);
    if (status < 0) return status;
    trid_p_batch_plan plan;
    const int empty = status;
    status = trid_p_batch_begin(lines, flags, report, (void *)0, stream, &plan);
    if (status || empty) return status;
    const int beside = trid_p_batch_side_by_side(plan), parts = trid_p_batch_parts(plan.n, beside, beside ? 16 : 2);
    const trid_p_batch_ends<T> to = {{share, lines.systems * lines.groups}, ends_a, ends_c, ends_d};
    dim3 grid, block((unsigned)TRID_P_BATCH_ENDS_THREADS);
    if (trid_p_batch_count(&plan, TRID_P_BATCH_ENDS_THREADS / parts, 1, &grid) != cudaSuccess)
        return TRID_BATCH_BAD_SIZE;
    if (beside && (flags & TRID_BATCH_SHARED) && plan.n <= TRID_P_BATCH_ON_CHIP_LINES)
        return trid_p_batch_launch_reduce_common(plan, rows, d, parts, to, grid, stream);
    cudaError_t error =
        beside ? trid_launch(trid_p_batch_ends_reduce<T, 1, Rows>, grid, block, 0, stream, plan, rows, d, parts, to)
               : trid_launch(trid_p_batch_ends_reduce<T, 0, Rows>, grid, block, 0, stream, plan, rows, d, parts, to);
    return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

/* The rows of a call as arrays, for kernels in which one matrix for all has no strides. */
template <class T>
static inline trid_p_batch_arrays<T> trid_p_batch_rows_at(const trid_lines &lines, int flags, const T *a, const T *b,
                                                          const T *c)
{
    const trid_lines joined = trid_p_lines_join(lines);
    trid_p_batch_arrays<T> rows = {a, b, c, joined.step, joined.stride, joined.jump};
    if (flags & TRID_BATCH_SHARED) rows.step = 1, rows.stride = rows.jump = 0;
    return rows;
}

template <class T>
static int trid_p_batch_reduce_ends_of(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d,
                                       long long share, T *ends_a, T *ends_c, T *ends_d,
                                       const trid_batch_report *report, cudaStream_t stream)
{
    if (!trid_p_lines_empty(lines) && (!a || !b || !c)) return TRID_BATCH_BAD_ARGUMENT;
    return trid_p_batch_reduce_ends(lines, flags, TRID_BATCH_FIRST | TRID_BATCH_LAST | TRID_BATCH_SHARED,
                                    trid_p_batch_rows_at(lines, flags, a, b, c), d, share, ends_a, ends_c, ends_d,
                                    report, stream);
}

/* What is special about one matrix for all: systems side by side are solved by its factors. */
template <int ONLY, class T, class Rows>
static int trid_p_batch_launch_known(const trid_p_batch_plan &plan, const trid_p_batch_known<T, Rows> &rows, const T *d,
                                     T *x, cudaStream_t stream)
{
    return trid_p_batch_launch<0, ONLY>(plan, rows, d, x, 0, stream);
}
template <int ONLY, class T>
static int trid_p_batch_launch_known(const trid_p_batch_plan &plan,
                                     const trid_p_batch_known<T, trid_p_batch_common<T>> &rows, const T *d, T *x,
                                     cudaStream_t stream)
{
    if constexpr (!(ONLY & TRID_BATCH_ONLY_CONTIGUOUS))
        if (trid_p_batch_beside<ONLY>(plan) && plan.n <= TRID_P_BATCH_ON_CHIP_LINES)
            return trid_p_batch_launch_common_side_by_side(plan, rows, d, x, stream);
    return trid_p_batch_launch<0, ONLY>(plan, rows, d, x, TRID_BATCH_SHARED, stream);
}

template <class T, int ONLY, class Rows>
static int trid_p_batch_expand_ends(trid_lines lines, int flags, const Rows &rows, const T *a, const T *b, const T *c,
                                    int made, const T *d, long long share, const T *ends, T *x,
                                    const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const T *const all[1] = {ends};
    const int known = TRID_BATCH_ADD | (made ? 0 : TRID_BATCH_SHARED);
    int status = trid_p_batch_refuse(lines, flags, known, a, b, c, d, (const T *)x, made);
    if (status) return status;
    status = trid_p_batch_refuse_ends(lines, share, (const T *)x, all, 1);
    if (status < 0) return status;
    trid_p_batch_plan plan;
    const int empty = status;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || empty) return status;
    const trid_p_batch_known<T, Rows> ended = {rows, ends, {share, lines.systems * lines.groups}};
    return trid_p_batch_launch_known<ONLY>(plan, ended, d, x, stream);
}
template <class T, int ONLY>
static int trid_p_batch_expand_ends_of(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d,
                                       long long share, const T *ends, T *x, const trid_batch_report *report,
                                       void *scratch, cudaStream_t stream)
{
    const trid_p_batch_common<T> common = {a, b, c, (int)lines.n};
    return flags & TRID_BATCH_SHARED
               ? trid_p_batch_expand_ends<T, ONLY>(lines, flags, common, a, b, c, 0, d, share, ends, x, report, scratch,
                                                   stream)
               : trid_p_batch_expand_ends<T, ONLY>(lines, flags, trid_p_batch_rows_at(lines, 0, a, b, c), a, b, c, 0, d,
                                                   share, ends, x, report, scratch, stream);
}

template <class T>
static int trid_p_batch_factor_ends(trid_lines lines, int flags, const T *a, const T *b, const T *c, T *u, T *v,
                                    long long share, T *ends_a, T *ends_c, int *reach, const trid_batch_report *report,
                                    cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const T *const ends[2] = {ends_a, ends_c}, *const from[3] = {a, b, c};
    if (flags & ~(TRID_BATCH_FIRST | TRID_BATCH_LAST)) return TRID_BATCH_BAD_FLAGS;
    if (!reach) return TRID_BATCH_BAD_ARGUMENT;
    int status = trid_p_batch_refuse_ends(lines, share, (const T *)u, ends, 2);
    if (status < 0) return status;
    if (!status) {
        if (!a || !b || !c || !u || !v) return TRID_BATCH_BAD_ARGUMENT;
        for (int k = 0; k < 2; k++)
            if (trid_p_batch_within(lines, v, ends[k], 2 * lines.systems * lines.groups)) return TRID_BATCH_OVERLAP;
        for (int k = 0; k < 3; k++)
            if (trid_lines_overlap(lines, from[k], u, sizeof(T)) || trid_lines_overlap(lines, from[k], v, sizeof(T)))
                return TRID_BATCH_OVERLAP;
        if (trid_lines_overlap(lines, u, v, sizeof(T))) return TRID_BATCH_OVERLAP;
    }
    trid_p_batch_plan plan;
    const int empty = status;
    status = trid_p_batch_begin(lines, flags, report, (void *)0, stream, &plan);
    if (status) return status;
    if (cudaMemsetAsync(reach, 0, 2 * sizeof *reach, stream) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    if (empty) return TRID_BATCH_OK;
    const trid_p_batch_shares shares = {share, lines.systems * lines.groups};
    dim3 grid;
    if (trid_p_batch_count(&plan, TRID_P_BATCH_ENDS_THREADS, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    return trid_launch(trid_p_batch_ends_factor<T>, grid, dim3((unsigned)TRID_P_BATCH_ENDS_THREADS), 0, stream, plan,
                       trid_p_batch_rows_at(lines, 0, a, b, c), u, v, shares, ends_a, ends_c, reach) == cudaSuccess
               ? TRID_BATCH_OK
               : TRID_BATCH_LAUNCH_FAILED;
}

template <class T>
static int trid_p_batch_weigh_ends(trid_lines lines, int flags, const T *u, const T *v, const T *d, long long first,
                                   long long last, long long share, T *ends_d, cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const T *const ends[1] = {ends_d};
    if (flags & ~TRID_BATCH_SHARED) return TRID_BATCH_BAD_FLAGS;
    int status = trid_p_batch_refuse_ends(lines, share, d, ends, 1);
    if (status) return status < 0 ? status : TRID_BATCH_OK;
    if (!u || !v) return TRID_BATCH_BAD_ARGUMENT;
    if (first < 0 || first > lines.n || last < 0 || last > lines.n) return TRID_BATCH_BAD_SIZE;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, (const trid_batch_report *)0, (void *)0, stream, &plan);
    if (status) return status;
    const int beside = trid_p_batch_side_by_side(plan), parts = trid_p_batch_parts(plan.n, beside, beside ? 16 : 2);
    const trid_p_batch_shares shares = {share, lines.systems * lines.groups};
    const trid_p_batch_arrays<T> rows = trid_p_batch_rows_at(lines, flags, u, v, v);
    dim3 grid, block((unsigned)TRID_P_BATCH_ENDS_THREADS);
    if (trid_p_batch_count(&plan, TRID_P_BATCH_ENDS_THREADS / parts, 1, &grid) != cudaSuccess)
        return TRID_BATCH_BAD_SIZE;
    if (beside && (flags & TRID_BATCH_SHARED) && plan.n <= TRID_P_BATCH_ON_CHIP_LINES)
        return trid_p_batch_launch_ends_common(trid_p_batch_ends_weigh<T, 1, 1>, 2 * sizeof(T), grid, stream, plan,
                                               rows, d, (int)first, (int)last, parts, shares, ends_d);
    cudaError_t error = beside ? trid_launch(trid_p_batch_ends_weigh<T, 1, 0>, grid, block, 0, stream, plan, rows, d,
                                             (int)first, (int)last, parts, shares, ends_d)
                               : trid_launch(trid_p_batch_ends_weigh<T, 0, 0>, grid, block, 0, stream, plan, rows, d,
                                             (int)first, (int)last, parts, shares, ends_d);
    return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

/* Solves   every system of the arrays: x = A^-1 d, or x += A^-1 d
   Needs    a, b, c, d, x in device memory, laid out by lines. flags: TRID_BATCH_ADD, TRID_BATCH_TRANSPOSED. report may
            be null.
   Returns  a status of enum trid_batch_status
   Shared   contiguous: at most 18.3 KiB a block; side by side: 128 KiB a multiprocessor where it has them (ADD: 160)
   Cost     five arrays moved once (ADD: six), by one launch, and two small memsets if report->failed is set, for n up
            to 16 KiB of a column (with step 1; else 1024, in clusters more). Longer systems: nine arrays (ADD: ten) and
            0.03 (side by side 0.07) of one for scratch, by three launches or more
   Error    as trid_warp_hybrid */
template <int ONLY = 0>
static int trid_batch_solve_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                const float *d, float *x, const trid_batch_report *report, void *scratch,
                                cudaStream_t stream)
{
    return trid_p_batch_solve<0, ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}
template <int ONLY = 0>
static int trid_batch_solve_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                const double *d, double *x, const trid_batch_report *report, void *scratch,
                                cudaStream_t stream)
{
    return trid_p_batch_solve<0, ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}
/* Solves   as trid_batch_solve, with one matrix for all systems: a, b, c have n elements each, one after another
   Needs    as trid_batch_solve; flags: TRID_BATCH_ADD, TRID_BATCH_TRANSPOSED
   Cost     two arrays moved (ADD: three) */
template <int ONLY = 0>
static int trid_batch_shared_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                 const float *d, float *x, const trid_batch_report *report, void *scratch,
                                 cudaStream_t stream)
{
    return trid_p_batch_shared<ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}
template <int ONLY = 0>
static int trid_batch_shared_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                 const double *d, double *x, const trid_batch_report *report, void *scratch,
                                 cudaStream_t stream)
{
    return trid_p_batch_shared<ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}

/* Solves   as trid_batch_solve, for any nonsingular matrices, by elimination with pivoting (trid_warp_pivoted)
   Needs    as trid_batch_solve. flags: TRID_BATCH_TRANSPOSED; TRID_BATCH_ADD or TRID_BATCH_REPAIR: only systems are
            solved whose report->status is not 0, as an earlier launch left it, d not being x, and those that share a
            warp or a tile with one of them. Their status is then that of this launch, and report->failed counts what
            is left. A status is 0 or 1: in this order of elimination no row is the one at fault.
   Cost     as trid_batch_solve in memory. Systems of more than 16 KiB a column: nine arrays, as there. Side by side
            each element is an access of its own on devices before 8.0 or with less than 160 KiB of shared memory, and
            beyond 512 rows on those without clusters
   Error    as trid_warp_pivoted */
template <int ONLY = 0>
static int trid_batch_pivoted_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                  const float *d, float *x, const trid_batch_report *report, void *scratch,
                                  cudaStream_t stream)
{
    return trid_p_batch_pivoted<ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}
template <int ONLY = 0>
static int trid_batch_pivoted_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                  const double *d, double *x, const trid_batch_report *report, void *scratch,
                                  cudaStream_t stream)
{
    return trid_p_batch_pivoted<ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}

/* Solves   as trid_batch_solve, and works out the residual of each system before x is stored, on chip; with the flag
            TRID_BATCH_REFINED after one step of iterative refinement in the same precision
   Needs    as trid_batch_solve; flags: TRID_BATCH_ADD, TRID_BATCH_REFINED, TRID_BATCH_SHARED,
            TRID_BATCH_TRANSPOSED
   Shared   contiguous: at most 45 KiB a block; side by side: 192 KiB a multiprocessor where it has them
   Cost     as trid_batch_solve in memory, with step 1 up to 8 KiB of a column; about 9 operations a row more, refined
            twice the arithmetic. Longer systems: nine arrays, refined 20; side by side both read the rows once more
   Error    refinement repairs the residual; the error of x stays of the order of condition times roundoff and can grow
            fourfold (docs/hybrid.md). The residual is that of x before ADD adds it; it is exact but for the roundings
            of its own evaluation, about 3 unit roundoffs, and in double precision to 2^-20 of itself: its parts are
            held by their upper 32 bits */
template <int ONLY = 0>
static int trid_batch_checked_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                  const float *d, float *x, const trid_batch_report *report, void *scratch,
                                  cudaStream_t stream)
{
    return trid_p_batch_solve<1, ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}
template <int ONLY = 0>
static int trid_batch_checked_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                  const double *d, double *x, const trid_batch_report *report, void *scratch,
                                  cudaStream_t stream)
{
    return trid_p_batch_solve<1, ONLY>(lines, flags, a, b, c, d, x, report, scratch, stream);
}
/* Solves   the LU factors of every matrix, without pivoting: r = 1 / pivot and u = c / pivot, which with a are what
            trid_batch_several takes with TRID_BATCH_FACTORED
   Needs    a, b, c, r, u in device memory, laid out by lines; r may be b and u may be c, else they share no element
            with the others. flags: TRID_BATCH_PERIODIC. report and scratch may be null.
   Leaves   of r and u all rows. What they hold in the last two rows of a periodic system, and anywhere where n > 1024
            (there b and c: such systems are solved from these), is for trid_batch_several alone to know.
   Returns  a status of enum trid_batch_status. report->status: of systems with n > 1024 always 0
   Cost     five arrays moved
   Error    as trid_warp_lu */
template <int ONLY = 0>
static int trid_batch_factor_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, float *r,
                                 float *u, const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    return trid_p_batch_factor<ONLY>(lines, flags, a, b, c, r, u, report, scratch, stream);
}
template <int ONLY = 0>
static int trid_batch_factor_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                 double *r, double *u, const trid_batch_report *report, void *scratch,
                                 cudaStream_t stream)
{
    return trid_p_batch_factor<ONLY>(lines, flags, a, b, c, r, u, report, scratch, stream);
}

/* Solves   every system of the arrays for `sides` right-hand sides: side k of d and x begins k*pitch elements on
   Needs    as trid_batch_solve; x lies in all its sides at elements of its own, or d is x. sides may be 0, pitch
            negative. flags: TRID_BATCH_ADD, TRID_BATCH_TRANSPOSED; TRID_BATCH_PERIODIC: a of row 0 couples it to
            x[n-1] and c of row n-1 that to x[0], for n = 1 both x[0] to itself, for n = 2 on top of c of row 0 and a of
            row 1;
            TRID_BATCH_FACTORED: b and c are r and u of trid_batch_factor, PERIODIC being here what it was there;
            TRID_BATCH_SHARED: a, b, c are one matrix (or its factors) for all systems, n elements each, one after
            another, such as the periodic 1 4 1 of closed splines.
   Returns  a status of enum trid_batch_status. report->status: with FACTORED what the factors tell of bad pivots.
   Shared   contiguous: at most 48 KiB a block; side by side: 128 KiB a multiprocessor where it has them (PERIODIC: 160)
   Cost     3 + 2 sides arrays moved (ADD: 3 + 3 sides; SHARED: no 3), where n <= 1024; longer systems are solved a
            side at a time as by trid_batch_solve, 5 sides arrays and more, once more for a periodic one's last column
   Error    as trid_warp_lu_solve */
template <int ONLY = 0>
static int trid_batch_several_f32(trid_lines lines, long long sides, long long pitch, int flags, const float *a,
                                  const float *b, const float *c, const float *d, float *x,
                                  const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    return trid_p_batch_several<ONLY>(lines, sides, pitch, flags, a, b, c, d, x, report, scratch, stream);
}
template <int ONLY = 0>
static int trid_batch_several_f64(trid_lines lines, long long sides, long long pitch, int flags, const double *a,
                                  const double *b, const double *c, const double *d, double *x,
                                  const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    return trid_p_batch_several<ONLY>(lines, sides, pitch, flags, a, b, c, d, x, report, scratch, stream);
}

/* Solves   as trid_batch_solve, the matrices being made in registers: rows(system, row, &a, &b, &c) gives a row of
            the system with this index. Rows is a type that can be copied to the device, with

                template <class T> __device__ void operator()(long long system, int row, T *a, T *b, T *c) const

            and may hold parameters and pointers. What it gives for a of row 0 and c of row n-1 is not used.
   Needs    flags: TRID_BATCH_ADD
   Cost     two arrays moved, and what rows costs */
template <int ONLY = 0, class Rows>
static int trid_batch_solve_rows_f32(trid_lines lines, int flags, const Rows &rows, const float *d, float *x,
                                     const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    return trid_p_batch_solve_rows<0, ONLY>(lines, flags, rows, d, x, report, scratch, stream);
}
template <int ONLY = 0, class Rows>
static int trid_batch_solve_rows_f64(trid_lines lines, int flags, const Rows &rows, const double *d, double *x,
                                     const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    return trid_p_batch_solve_rows<0, ONLY>(lines, flags, rows, d, x, report, scratch, stream);
}

/* Solves   sections of longer lines, cut where memory ends: each rank (a GPU, a machine) has n rows of every line, and
            of its section of a line these two rows are left, f being its first and z its last unknown:
                a f's row couples to the z of the rank above (l), c of z's to the f of the rank below (g):
                    a l + f + c z = d      row 2r of a tridiagonal system of the line
                    a f + z + c g = d      row 2r + 1, r being the rank
            The caller sends these, solves the systems (trid_batch_solve) and sends each rank its two unknowns a line,
            with which trid_batch_expand_ends goes on. The diagonal is 1 everywhere: an array of ones filled once.
   Needs    a, b, c, d laid out by lines: this rank's section, n >= 2; ends_a, _c, _d of two elements a line. flags:
            TRID_BATCH_FIRST for the rank above which there is none (a of row 0 is not read), TRID_BATCH_LAST for the
            one below which there is none; TRID_BATCH_SHARED: a, b, c are one matrix, n elements each. share >= 1:
   Leaves   the ends, dealt out in shares of so many lines, in order of the lines' indices, the last being what is left:
            of a share of m lines, after s in the shares before, f's at [2s .. 2s+m-1], then z's. What goes to the rank
            that solves this share is 2m elements one after another; there what comes from rank r is put at [2m r] and
            lies as trid_lines_interleaved(2 * ranks, m), and so the unknowns go back. share = all lines: one rank
            solves all, or neighbours exchange f's rows and z's.
   Returns  a status of enum trid_batch_status; TRID_BATCH_SHORT for n < 2
   Cost     one pass: a, b, c, d read once (SHARED: d), 6 numbers a line written, for any n. Side by side each access is
            of neighbours; elsewhere a thread has n/32 rows of a line. SHARED, side by side, n <= 1024: a block takes
            the matrix apart once, after which a row costs a line 3 operations and no reciprocal
   Error    as trid_lane_interface_row: that of elimination without pivoting */
template <int unused = 0>
static int trid_batch_reduce_ends_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                      const float *d, long long share, float *ends_a, float *ends_c, float *ends_d,
                                      const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_reduce_ends_of(lines, flags, a, b, c, d, share, ends_a, ends_c, ends_d, report, stream);
}
template <int unused = 0>
static int trid_batch_reduce_ends_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                      const double *d, long long share, double *ends_a, double *ends_c, double *ends_d,
                                      const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_reduce_ends_of(lines, flags, a, b, c, d, share, ends_a, ends_c, ends_d, report, stream);
}

/* Solves   the other half: the unknowns of sections, of which ends has the first and the last of each line, laid out as
            ends_d was
   Needs    as trid_batch_solve, n >= 2; of row 0 and row n-1 nothing is used but with TRID_BATCH_ADD x. flags:
            TRID_BATCH_ADD, TRID_BATCH_SHARED
   Cost     as trid_batch_solve: five arrays moved (SHARED: two); so a distributed solve moves 9 arrays (SHARED: 3) in
            all. Storing the eliminated rows in between would be 11 (SHARED: 4)
   Error    as trid_batch_solve (SHARED: as trid_batch_shared) */
template <int ONLY = 0>
static int trid_batch_expand_ends_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                      const float *d, long long share, const float *ends, float *x,
                                      const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    return trid_p_batch_expand_ends_of<float, ONLY>(lines, flags, a, b, c, d, share, ends, x, report, scratch, stream);
}
template <int ONLY = 0>
static int trid_batch_expand_ends_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                      const double *d, long long share, const double *ends, double *x,
                                      const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    return trid_p_batch_expand_ends_of<double, ONLY>(lines, flags, a, b, c, d, share, ends, x, report, scratch, stream);
}

/* Solves   what trid_batch_reduce_ends does with the matrices alone, once: weights u and v of the rows of d
            (trid_lane_interface_factor), and a and c of the ends
   Needs    as trid_batch_reduce_ends; u and v in device memory, laid out by lines, arrays of their own; reach of two
            ints in device memory. flags: TRID_BATCH_FIRST, TRID_BATCH_LAST. One matrix for all lines is one line:
            trid_lines_contiguous(n, 1), share 1 (or trid_host_interface_factor)
   Leaves   reach: the most of all lines, from the top and from the bottom. If both are below n on all ranks, no
            coupling between the ends of a section exceeds the unit roundoff: then each rank needs of the others only
            the z's row of the rank above and the f's row of the one below. Of four rows in a row (z's above, f's,
            z's, f's below; three where there is no neighbour) the unknowns are those of the whole line but for
            roundings, of the order of the unit roundoff times its largest.
   Cost     two or three passes over five arrays, a thread a line: to be done once
   Error    as trid_lane_interface_factor */
template <int unused = 0>
static int trid_batch_factor_ends_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                                      float *u, float *v, long long share, float *ends_a, float *ends_c, int *reach,
                                      const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_factor_ends(lines, flags, a, b, c, u, v, share, ends_a, ends_c, reach, report, stream);
}
template <int unused = 0>
static int trid_batch_factor_ends_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                                      double *u, double *v, long long share, double *ends_a, double *ends_c, int *reach,
                                      const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_factor_ends(lines, flags, a, b, c, u, v, share, ends_a, ends_c, reach, report, stream);
}

/* Solves   what is left for each d: ends_d of trid_batch_reduce_ends, as products of d with u and with v, by `first`
            rows from the top and `last` rows from the bottom: n and n, or reach of trid_batch_factor_ends
   Needs    flags: TRID_BATCH_SHARED: u and v are of one matrix, n elements each, one after another
   Cost     these rows of d are read once, and of u and v (SHARED: once a block); 2 numbers a line written
   Error    sums of n/8 products (contiguous: n/32) and of these, each rounded: some roundoffs of the sum of |u| |d|,
            which is stable where the matrix is dominant */
template <int unused = 0>
static int trid_batch_weigh_ends_f32(trid_lines lines, int flags, const float *u, const float *v, const float *d,
                                     long long first, long long last, long long share, float *ends_d,
                                     cudaStream_t stream)
{
    return trid_p_batch_weigh_ends(lines, flags, u, v, d, first, last, share, ends_d, stream);
}
template <int unused = 0>
static int trid_batch_weigh_ends_f64(trid_lines lines, int flags, const double *u, const double *v, const double *d,
                                     long long first, long long last, long long share, double *ends_d,
                                     cudaStream_t stream)
{
    return trid_p_batch_weigh_ends(lines, flags, u, v, d, first, last, share, ends_d, stream);
}

/* Solves   as trid_batch_reduce_ends and trid_batch_expand_ends, the matrix being made in registers
            (trid_batch_solve_rows); a of row 0 couples to the rank above and c of row n-1 to the one below
   Needs    flags: TRID_BATCH_FIRST, TRID_BATCH_LAST; for the latter TRID_BATCH_ADD
   Cost     one array moved, and two, and what rows costs */
template <int unused = 0, class Rows>
static int trid_batch_reduce_ends_rows_f32(trid_lines lines, int flags, const Rows &rows, const float *d,
                                           long long share, float *ends_a, float *ends_c, float *ends_d,
                                           const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_reduce_ends(lines, flags, TRID_BATCH_FIRST | TRID_BATCH_LAST, rows, d, share, ends_a, ends_c,
                                    ends_d, report, stream);
}
template <int ONLY = 0, class Rows>
static int trid_batch_expand_ends_rows_f32(trid_lines lines, int flags, const Rows &rows, const float *d,
                                           long long share, const float *ends, float *x,
                                           const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    const float *none = 0;
    return trid_p_batch_expand_ends<float, ONLY>(lines, flags, rows, none, none, none, 1, d, share, ends, x, report,
                                                 scratch, stream);
}
template <int unused = 0, class Rows>
static int trid_batch_reduce_ends_rows_f64(trid_lines lines, int flags, const Rows &rows, const double *d,
                                           long long share, double *ends_a, double *ends_c, double *ends_d,
                                           const trid_batch_report *report, cudaStream_t stream)
{
    return trid_p_batch_reduce_ends(lines, flags, TRID_BATCH_FIRST | TRID_BATCH_LAST, rows, d, share, ends_a, ends_c,
                                    ends_d, report, stream);
}
template <int ONLY = 0, class Rows>
static int trid_batch_expand_ends_rows_f64(trid_lines lines, int flags, const Rows &rows, const double *d,
                                           long long share, const double *ends, double *x,
                                           const trid_batch_report *report, void *scratch, cudaStream_t stream)
{
    const double *none = 0;
    return trid_p_batch_expand_ends<double, ONLY>(lines, flags, rows, none, none, none, 1, d, share, ends, x, report,
                                                  scratch, stream);
}
}
#endif /* TB_LAUNCHES */

/* ---- C linkage --------------------------------------------------------------------------------------------------- */

/* The launches for programs in C and for shared libraries; a stream is a cudaStream_t. Defined by the one file that
   defines TRID_BATCH_IMPLEMENTATION. */
#if TB_HOST_SCOPE && (!TB_LAUNCHES || defined TRID_BATCH_IMPLEMENTATION)
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
                         float *x, const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_solve_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                         const double *d, double *x, const trid_batch_report *report, void *scratch,
                         TRID_P_BATCH_STREAM stream);
int trid_batch_checked_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                           float *x, const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_checked_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                           const double *d, double *x, const trid_batch_report *report, void *scratch,
                           TRID_P_BATCH_STREAM stream);
int trid_batch_shared_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                          float *x, const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_shared_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                          const double *d, double *x, const trid_batch_report *report, void *scratch,
                          TRID_P_BATCH_STREAM stream);
int trid_batch_pivoted_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                           float *x, const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_pivoted_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                           const double *d, double *x, const trid_batch_report *report, void *scratch,
                           TRID_P_BATCH_STREAM stream);
int trid_batch_factor_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, float *r,
                          float *u, const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_several_f32(trid_lines lines, long long sides, long long pitch, int flags, const float *a,
                           const float *b, const float *c, const float *d, float *x, const trid_batch_report *report,
                           void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_factor_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c, double *r,
                          double *u, const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_several_f64(trid_lines lines, long long sides, long long pitch, int flags, const double *a,
                           const double *b, const double *c, const double *d, double *x,
                           const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_reduce_ends_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                               const float *d, long long share, float *ends_a, float *ends_c, float *ends_d,
                               const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_expand_ends_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c,
                               const float *d, long long share, const float *ends, float *x,
                               const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_factor_ends_f32(trid_lines lines, int flags, const float *a, const float *b, const float *c, float *u,
                               float *v, long long share, float *ends_a, float *ends_c, int *reach,
                               const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_weigh_ends_f32(trid_lines lines, int flags, const float *u, const float *v, const float *d,
                              long long first, long long last, long long share, float *ends_d,
                              TRID_P_BATCH_STREAM stream);
int trid_batch_reduce_ends_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                               const double *d, long long share, double *ends_a, double *ends_c, double *ends_d,
                               const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_expand_ends_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                               const double *d, long long share, const double *ends, double *x,
                               const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream);
int trid_batch_factor_ends_f64(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                               double *u, double *v, long long share, double *ends_a, double *ends_c, int *reach,
                               const trid_batch_report *report, TRID_P_BATCH_STREAM stream);
int trid_batch_weigh_ends_f64(trid_lines lines, int flags, const double *u, const double *v, const double *d,
                              long long first, long long last, long long share, double *ends_d,
                              TRID_P_BATCH_STREAM stream);
#if TB_LAUNCHES
#define TRID_P_BATCH_LINKED(name, T)                                                                                   \
    int trid_batch_##name(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,           \
                          const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream)                  \
    {                                                                                                                  \
        return trid_batch_##name<0>(lines, flags, a, b, c, d, x, report, scratch, stream);                             \
    }
#define TRID_P_BATCH_LINKED_ALL(T, suffix)                                                                             \
    TRID_P_BATCH_LINKED(solve_##suffix, T)                                                                             \
    TRID_P_BATCH_LINKED(checked_##suffix, T)                                                                           \
    TRID_P_BATCH_LINKED(shared_##suffix, T)                                                                            \
    TRID_P_BATCH_LINKED(pivoted_##suffix, T)                                                                           \
    int trid_batch_factor_##suffix(trid_lines lines, int flags, const T *a, const T *b, const T *c, T *r, T *u,        \
                                   const trid_batch_report *report, void *scratch, TRID_P_BATCH_STREAM stream)         \
    {                                                                                                                  \
        return trid_batch_factor_##suffix<0>(lines, flags, a, b, c, r, u, report, scratch, stream);                    \
    }                                                                                                                  \
    int trid_batch_several_##suffix(trid_lines lines, long long sides, long long pitch, int flags, const T *a,         \
                                    const T *b, const T *c, const T *d, T *x, const trid_batch_report *report,         \
                                    void *scratch, TRID_P_BATCH_STREAM stream)                                         \
    {                                                                                                                  \
        return trid_batch_several_##suffix<0>(lines, sides, pitch, flags, a, b, c, d, x, report, scratch, stream);     \
    }                                                                                                                  \
    int trid_batch_reduce_ends_##suffix(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d,   \
                                        long long share, T *ends_a, T *ends_c, T *ends_d,                              \
                                        const trid_batch_report *report, TRID_P_BATCH_STREAM stream)                   \
    {                                                                                                                  \
        return trid_batch_reduce_ends_##suffix<0>(lines, flags, a, b, c, d, share, ends_a, ends_c, ends_d, report,     \
                                                  stream);                                                             \
    }                                                                                                                  \
    int trid_batch_expand_ends_##suffix(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d,   \
                                        long long share, const T *ends, T *x, const trid_batch_report *report,         \
                                        void *scratch, TRID_P_BATCH_STREAM stream)                                     \
    {                                                                                                                  \
        return trid_batch_expand_ends_##suffix<0>(lines, flags, a, b, c, d, share, ends, x, report, scratch, stream);  \
    }                                                                                                                  \
    int trid_batch_factor_ends_##suffix(trid_lines lines, int flags, const T *a, const T *b, const T *c, T *u, T *v,   \
                                        long long share, T *ends_a, T *ends_c, int *reach,                             \
                                        const trid_batch_report *report, TRID_P_BATCH_STREAM stream)                   \
    {                                                                                                                  \
        return trid_batch_factor_ends_##suffix<0>(lines, flags, a, b, c, u, v, share, ends_a, ends_c, reach, report,   \
                                                  stream);                                                             \
    }                                                                                                                  \
    int trid_batch_weigh_ends_##suffix(trid_lines lines, int flags, const T *u, const T *v, const T *d,                \
                                       long long first, long long last, long long share, T *ends_d,                    \
                                       TRID_P_BATCH_STREAM stream)                                                     \
    {                                                                                                                  \
        return trid_batch_weigh_ends_##suffix<0>(lines, flags, u, v, d, first, last, share, ends_d, stream);           \
    }
TRID_P_BATCH_LINKED_ALL(float, f32)
TRID_P_BATCH_LINKED_ALL(double, f64)
#undef TRID_P_BATCH_LINKED_ALL
#undef TRID_P_BATCH_LINKED
#endif
#ifdef __cplusplus
}
#endif
#endif

#ifndef __CUDACC_RTC__
#pragma pop_macro("AHEAD")
#pragma pop_macro("A")
#pragma pop_macro("P")
#pragma pop_macro("BYTES")
#pragma pop_macro("FACTOR")
#pragma pop_macro("ARRAYS")
#pragma pop_macro("PIVOTED")
#pragma pop_macro("STAGED")
#pragma pop_macro("WORDS")
#pragma pop_macro("MOST")
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
#pragma pop_macro("M")
#pragma pop_macro("R")
#pragma pop_macro("S")
#pragma pop_macro("U")
#pragma pop_macro("W")
#pragma pop_macro("CHECKED")
#pragma pop_macro("CLUSTER")
#pragma pop_macro("DENSE")
#pragma pop_macro("EXACT")
#pragma pop_macro("H")
#pragma pop_macro("HALF")
#pragma pop_macro("LEN")
#pragma pop_macro("LITERAL")
#pragma pop_macro("OPEN")
#pragma pop_macro("ONLY")
#pragma pop_macro("LEAST")
#pragma pop_macro("RESIDENT")
#pragma pop_macro("FIXED")
#pragma pop_macro("ONE")
#pragma pop_macro("OWN")
#pragma pop_macro("PART")
#pragma pop_macro("PATH")
#pragma pop_macro("PITCHED")
#pragma pop_macro("REFINED")
#pragma pop_macro("WARP")
#pragma pop_macro("LINES")
#pragma pop_macro("WIDE")
#pragma pop_macro("BESIDE")
#pragma pop_macro("SIDES")
#pragma pop_macro("ALL")
#pragma pop_macro("COMMON")
#pragma pop_macro("ENDS")
#pragma pop_macro("WARPS")
#endif

#endif /* TRID_BATCH_H */
