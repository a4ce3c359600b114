/* batch.h - arrays of tridiagonal systems in device memory, solved at up to the speed of memory.

   MIT licence, see LICENSE. Copy trid.h, transpose.h and the folder trid.

   A program calls trid_batch_solve in place of cuSPARSE (examples/replace_cusparse.cu):

       int status = trid_batch_solve_f32(trid_lines_contiguous(n, systems), a, b, c, d, x, NULL, 0);
       if (status) return puts(trid_batch_status_string(status)), 1;

   A system is a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j = 0 .. n-1. a[0] and c[n-1] are used only with
   TRID_BATCH_PERIODIC, and where they couple the partitions of a longer system. Otherwise they are read only if they
   lie between used elements (as in contiguous systems), so the first a[0] and the last c[n-1] of an array need no
   memory. A trid_lines describes the layout of all arrays of a call, except a matrix shared by all systems and the
   interface of partitions. n is at most 2^30.

     layouts (C11, C++, CUDA)
       trid_lines_contiguous, trid_lines_interleaved, trid_lines_axis
       trid_lines_check         whether two elements of an array coincide, or a size is out of range
       trid_lines_overlap       whether two arrays of this layout share an element
       trid_batch_scratch       bytes of device memory that a launch may need: 0 for systems of up to 1024 rows
       trid_batch_status_string
     the device (CUDA, and C through a file with TRID_BATCH_IMPLEMENTATION)
       trid_device_query        queries the CUDA runtime about the device, so that launches need not
     launches, each with _f32 and _f64 (CUDA, and C through a file with TRID_BATCH_IMPLEMENTATION)
       trid_batch_solve         x = A^-1 d, or x += A^-1 d; optionally the status of each system
       trid_batch_shared        as trid_batch_solve, with one matrix for all systems
       trid_batch_pivoted       as trid_batch_solve, for any nonsingular matrices; or only systems that failed before
       trid_batch_checked       as trid_batch_solve, with the residual of each system
       trid_batch_refined       as trid_batch_checked, after a step of iterative refinement if one is needed
       trid_batch_several       several right-hand sides per matrix, which is read once if n <= 1024; also periodic
                                systems, and solves from stored factors
       trid_batch_factor        the LU factors of each matrix, for trid_batch_several
     launches for partitions of systems that cross GPUs and machines, each with _f32 and _f64 (CUDA and C, as above)
       trid_batch_interface_reduce   reduces a partition of each system to two rows, in buffers ready to send; one pass
       trid_batch_interface_expand   solves partitions, given their first and last unknowns
       trid_batch_interface_factor   weights for a constant matrix, and how far its couplings reach
       trid_batch_interface_weigh    the two rows' right-hand sides, from these weights and at most one pass over d
     launches for C++ only
       trid_batch_solve_rows    the caller's function object computes the matrix in registers
       trid_batch_interface_reduce_rows, trid_batch_interface_expand_rows    the same for partitions

   If n <= 1024, trid_batch_several moves 3 + 2k numbers per row for k right-hand sides with each matrix, and k calls to
   trid_batch_solve move 5k. Factors do not reduce that, since they are as many numbers as the matrix. A solve from
   factors needs no divisions and no scan for the pivots, but full tiles of contiguous systems gain nothing from that:
   their memory accesses take longer than the arithmetic. The factors also solve the transposed system (the adjoint).

   docs/batch.md says which kernel serves which size, and lists the measurements. A launch that a program calls is
   compiled for all lengths and layouts. Template arguments may restrict both; compilation then takes a fraction of the
   time (TRID_BATCH_ONLY_CONTIGUOUS).

   Common to all launches:
     Stability  No pivoting, except in trid_batch_pivoted: safe for matrices that are diagonally dominant, or nearly so
                (trid_host_dominance). A pivot that is zero or not finite is reported (status). A tiny pivot whose
                reciprocal is finite is not reported: its errors show in the residual of trid_batch_checked.
     Options    a trid_batch_options, or null
     Returns    an enum trid_batch_status, 0 for a successful launch. The options' status reports failures on the
                device. Nothing is allocated, printed or awaited; a launch can be captured into a CUDA graph.
     Arrays     a, b, c, d are not changed, except where the caller passes the same array for a result. x is d itself,
                to solve in place, or an array that shares no element with d. x shares no element with a, b or c. A
                matrix shared by all systems must not lie between elements of x. The interface of partitions must
                not lie between elements of a, b, c, d or x. An array must be aligned to its elements.
     Neighbours A system's results are the same, to the last bit, whatever the other systems hold, with one exception:
                after trid_batch_refined, _pivoted and _several the last digits of x and of the residual (and so a
                status of n + 1) may depend on the systems that share its warp or tile. This happens only if n <= 256,
                or in the kernels for interleaved systems. Systems share a warp or a tile only within a group, and there
                only within a range: 0 .. 31, 32 .. 63, and so on; in the kernels for interleaved systems 0 .. 127, and
                so on. If groups have one system each or continue one another (jump = systems*stride), they count as one
                group.
     Empty      no systems or n = 0: no kernel is launched; only `failed` is written, and reach by
                trid_batch_interface_factor. Pointers may be null, except reach. (If there are systems, partitions with
                n = 0 are refused: TRID_BATCH_SHORT.)
     Stream     any; calls on one stream follow one another, like kernels.

   docs/where.md shows where to find each idea. The rooms, in batch/:
     lines.h, scratch.h, plan.h       layouts; memory for long systems; tiles, rows, report
     device.h, call.h                 the device; the arguments of a call
     contiguous.h                     contiguous systems: the kernel, its shapes, its launch
     rows.h, residual.h               rows for that kernel, from memory to registers and back; rows kept for a residual
     interleaved.h                    interleaved systems: the kernel, its shapes, its launch
     sweep.h, pipeline.h, checked.h   a tile of that kernel, in a block or a cluster; tiles in flight; residuals
     long.h, one_reading.h            systems that no block holds; those among them whose rows are read only once
     solve.h, shared.h, pivoted.h, several.h, interface.h, weights.h    the operations
     factored.h                       LU factors, for several.h
     entries.h                        the list of launches, which C also reads

   To add a shape, add a row to trid_p_batch_contiguous_shapes (contiguous.h) or trid_p_batch_tilings (interleaved.h);
   bench/fill.sh carries it into docs/batch.md. CONTRIBUTING.md says how to add a method or an operation.

   Options, defined before the header is included:
     TRID_BATCH_IMPLEMENTATION   in one .cu file of a program written in C: the launches as functions with C linkage */

#ifndef TRID_BATCH_H
#define TRID_BATCH_H

#include "../transpose.h"
#include "../trid.h"
#include "pivoted.h"
#include "interleaved.h"
#include "lu.h"
#include "slabs.h"
#include "launch.h"

#define TRID_BATCH_VERSION 200 /* 100 * major + minor */

/* The layout of tridiagonal systems: element j of system s of group g is at [j*step + s*stride + g*jump] of each array.
   There are groups*systems systems, and g*systems + s is a system's index. groups = 0 means one group; a batch without
   systems has systems = 0. step, stride and jump may be negative; no two elements may coincide. cpu_avx_lines of
   cpu_avx.h has the same fields. */
typedef struct {
    long long n, step, systems, stride, groups, jump;
} trid_lines;

/* The status that a launch returns. */
enum trid_batch_status {
    TRID_BATCH_OK = 0,
    TRID_BATCH_BAD_ARGUMENT = -1, /* a null pointer, or a misaligned array */
    TRID_BATCH_BAD_SIZE = -2,     /* a negative size, a share of less than one system, more than n rows to weigh, n
                                     above 2^30, elements or offsets beyond 2^56, 2^31 or more tiles or chunks, or
                                     systems that the template arguments leave out */
    TRID_BATCH_OVERLAP = -3,      /* two elements of an array coincide, a result shares an element with another array,
                                     or one array lies between elements of another (Arrays, above) */
    TRID_BATCH_SHORT = -4,        /* a partition of fewer than two rows */
    TRID_BATCH_BAD_FLAGS = -5,    /* a flag that this launch or this call does not take (TRID_BATCH_.._FLAGS) */
    TRID_BATCH_BAD_SCRATCH = -6,  /* scratch is null although needed, misaligned, or less than trid_batch_scratch
                                     returns */
    TRID_BATCH_LAUNCH_FAILED = -8 /* rejected by the CUDA runtime */
};

enum { TRID_BATCH_MAX_N = 1 << 30 }; /* the most rows of a system */

/* Flags of a call, combined by bitwise OR in its options. */
enum {
    TRID_BATCH_ADD = 1,         /* x += A^-1 d */
    TRID_BATCH_SHARED = 2,      /* a, b, c are one matrix for all systems: n elements each, contiguous */
    TRID_BATCH_REFINED = 4,     /* set by trid_batch_refined; a caller passes it only to trid_batch_scratch */
    TRID_BATCH_REPAIR = 8,      /* only systems that failed in an earlier launch, and those in their warps and tiles */
    TRID_BATCH_TRANSPOSED = 16, /* the transposed systems: c[j-1] x[j-1] + b[j] x[j] + a[j+1] x[j+1] = d[j] */
    TRID_BATCH_PERIODIC = 32,   /* a[0] couples row 0 to x[n-1], c[n-1] row n-1 to x[0] */
    TRID_BATCH_FACTORED = 64,   /* b and c are r and u of trid_batch_factor */
    TRID_BATCH_FIRST = TRID_PARTITION_FIRST, /* partitions that begin their systems: a of row 0 is not used */
    TRID_BATCH_LAST = TRID_PARTITION_LAST,   /* partitions that end their systems: c of row n-1 is not used */

    /* The flags that each launch takes. With REPAIR a status is required, ADD is excluded, and x must not be d. */
    TRID_BATCH_SOLVE_FLAGS = TRID_BATCH_ADD | TRID_BATCH_TRANSPOSED, /* also trid_batch_shared's */
    TRID_BATCH_SOLVE_ROWS_FLAGS = TRID_BATCH_ADD,
    TRID_BATCH_CHECKED_FLAGS = TRID_BATCH_SOLVE_FLAGS | TRID_BATCH_SHARED, /* also trid_batch_refined's */
    TRID_BATCH_PIVOTED_FLAGS = TRID_BATCH_SOLVE_FLAGS | TRID_BATCH_REPAIR,
    TRID_BATCH_SEVERAL_FLAGS = TRID_BATCH_SOLVE_FLAGS | TRID_BATCH_SHARED | TRID_BATCH_PERIODIC | TRID_BATCH_FACTORED,
    TRID_BATCH_FACTOR_FLAGS = TRID_BATCH_PERIODIC,
    TRID_BATCH_REDUCE_FLAGS = TRID_BATCH_SHARED | TRID_BATCH_FIRST | TRID_BATCH_LAST, /* trid_batch_interface_reduce */
    TRID_BATCH_REDUCE_ROWS_FLAGS = TRID_BATCH_FIRST | TRID_BATCH_LAST,
    TRID_BATCH_EXPAND_FLAGS = TRID_BATCH_ADD | TRID_BATCH_SHARED,
    TRID_BATCH_EXPAND_ROWS_FLAGS = TRID_BATCH_ADD,
    TRID_BATCH_INTERFACE_FACTOR_FLAGS = TRID_BATCH_FIRST | TRID_BATCH_LAST,
    TRID_BATCH_WEIGH_FLAGS = TRID_BATCH_SHARED
};

/* The kernels that a launch compiles, in C++: trid_batch_solve_f32<137>(...) compiles kernels only for n up to 137,
   <137, 137> only for n = 137; any other n is a bad size. A third argument leaves out a layout: its systems are still
   solved, slowly, up to n = 1024; longer ones are a bad size. There are two exceptions. trid_batch_pivoted always
   compiles the contiguous kernels, and solves both layouts for every n in the bounds. trid_batch_interface_reduce,
   _reduce_rows, _factor and _weigh take no bounds. */
enum {
    TRID_BATCH_ONLY_CONTIGUOUS = 1, /* kernels for systems whose step does not exceed their stride */
    TRID_BATCH_ONLY_INTERLEAVED = 2
};

/* A device as launches see it; trid_device_query fills it in. */
typedef struct {
    int processors, shared_bytes; /* multiprocessors; shared memory that a block may request */
    int major;                    /* major compute capability of the device or of the code, whichever is lower */
    int always_pipelined;         /* whether kernels of kind .._elsewhere (batch/plan.h) are empty in the code */
    int clusters[17];             /* [size]: how many clusters of `size` blocks, 1 .. 16, run at the same time, each
                                     block on its own multiprocessor */
    const void *code;             /* identifies the kernels to which this applies */
} trid_device;

/* The options of a launch. A null pointer to them, or a field that is null or 0, requests nothing. Pointers are to
   device memory, except device.
     flags      TRID_BATCH_ADD and the like
     status     for each system: 0; 1 + the first row that met a bad pivot or, if the failure may have begun in one of
                several rows, the last of them (trid_batch_pivoted: 1 if an unknown had no pivot); n + 1
                (trid_batch_checked, _refined): no bad pivot, but the residual is above tolerance or NaN. After a bad
                pivot x is unspecified
     residual   for each system (trid_batch_checked, _refined): max |Ax - d| / max (|A||x| + |d|) over its rows,
                computed in the precision of the call; inf or NaN on overflow
     tolerance  the largest residual that is not a failure; 0 means 128 unit roundoffs
     failed     failed[0]: how many systems have a status other than 0; failed[1]: the least index of such a system, or
                all bits set if there is none. The launch initialises both
     scratch    memory for long systems, aligned to 16 bytes
     scratch_bytes   its size: at least what trid_batch_scratch returns
     device     the result of trid_device_query for the current device, so that the launch does not query the runtime */
typedef struct {
    int flags;
    int *status;
    float *residual;
    double tolerance;
    unsigned long long *failed;
    void *scratch;
    long long scratch_bytes;
    const trid_device *device;
} trid_batch_options;

#if TB_HOST_SCOPE
/* Returns the text of a launch's status. */
TB_HOST const char *trid_batch_status_string(int status)
{
    switch (status) {
    case TRID_BATCH_OK:
        return "launched, or nothing to do";
    case TRID_BATCH_BAD_ARGUMENT:
        return "bad argument: a null pointer, or an array off its alignment";
    case TRID_BATCH_BAD_SIZE:
        return "bad size: negative, no such axis, n above 2^30, elements beyond 2^56, 2^31 tiles or chunks, a share "
               "below 1, rows to weigh beyond n, or systems that the template arguments leave out";
    case TRID_BATCH_OVERLAP:
        return "overlap: two elements of x coincide, or x shares an element with another array";
    case TRID_BATCH_SHORT:
        return "bad partition: it has fewer than two rows";
    case TRID_BATCH_BAD_FLAGS:
        return "bad flags: unknown, or not for this launch (REPAIR: pivoted, with a status, without ADD, x not d; "
               "FACTORED: several; PERIODIC: several, factor; SHARED: checked, refined, several, interface; FIRST, "
               "LAST: interface)";
    case TRID_BATCH_BAD_SCRATCH:
        return "bad scratch: null although needed, not aligned to 16 bytes, or smaller than trid_batch_scratch";
    case TRID_BATCH_LAUNCH_FAILED:
        return "the CUDA runtime refused the launch: see cudaGetLastError";
    default:
        return "unknown status";
    }
}

#include "batch/lines.h"
#include "batch/scratch.h"
#endif

#if TB_LAUNCHES
extern "C++" {
#include "batch/plan.h"
#include "batch/device.h"
#include "batch/call.h"
#include "batch/rows.h"
#include "batch/residual.h"
#include "batch/sweep.h"
#include "batch/pipeline.h"
#include "batch/interleaved.h"
#include "batch/checked.h"
#include "batch/factored.h"
#include "batch/contiguous.h"
#include "batch/long.h"
#include "batch/one_reading.h"
#include "batch/solve.h"
#include "batch/shared.h"
#include "batch/pivoted.h"
#include "batch/several.h"
#include "batch/interface.h"
#include "batch/weights.h"
}
#endif

#if TB_HOST_SCOPE
#include "batch/entries.h"
#endif

#if TB_LAUNCHES /* the launches that take a function object */
#define trid_batch_solve_rows_f32 tb_f32::trid_batch_solve_rows
#define trid_batch_solve_rows_f64 tb_f64::trid_batch_solve_rows
#define trid_batch_interface_reduce_rows_f32 tb_f32::trid_batch_interface_reduce_rows
#define trid_batch_interface_reduce_rows_f64 tb_f64::trid_batch_interface_reduce_rows
#define trid_batch_interface_expand_rows_f32 tb_f32::trid_batch_interface_expand_rows
#define trid_batch_interface_expand_rows_f64 tb_f64::trid_batch_interface_expand_rows
#endif

#endif /* TRID_BATCH_H */
