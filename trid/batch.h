/* batch.h - whole arrays of tridiagonal systems in device memory, at the speed of memory.

   MIT licence, see LICENSE. Copy trid.h, transpose.h and the folder trid.

   What a program does instead of calling cuSPARSE (examples/replace_cusparse.cu):

       int status = trid_batch_solve_f32(trid_lines_contiguous(n, systems), a, b, c, d, x, NULL, 0);
       if (status) return puts(trid_batch_status_string(status)), 1;

   A system is a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j = 0 .. n-1. a[0] and c[n-1] are used only with
   TRID_BATCH_PERIODIC. They are read only where they lie between elements that are used (as in contiguous systems), so
   that there need be no memory where the first and the last of them would lie. Every array of a call lies alike, as a
   trid_lines says; n is 1 to 2^30.

     where systems lie (C11, C++, CUDA)
       trid_lines_contiguous, trid_lines_interleaved, trid_lines_axis
       trid_lines_check         whether two elements of an array coincide, or the sizes overflow
       trid_lines_overlap       whether two arrays that lie so share an element
       trid_batch_scratch       bytes of device memory that a launch on such systems may need: 0 up to 1024 rows
       trid_batch_status_string
     the device (CUDA, and C by a file with TRID_BATCH_IMPLEMENTATION)
       trid_device_query        what launches ask the CUDA runtime, once for all of them
     launches, each with _f32 and _f64 (CUDA, and C by a file with TRID_BATCH_IMPLEMENTATION)
       trid_batch_solve         x = A^-1 d, or x += A^-1 d; status of each system where wanted
       trid_batch_shared        the same with one matrix for all systems
       trid_batch_pivoted       the same for any nonsingular matrices, or for those alone that failed before
       trid_batch_checked       the same, with the residual of each system
       trid_batch_refined       the same after a step of iterative refinement, where one is needed
       trid_batch_several       several right-hand sides a matrix, which is read once; periodic systems; from factors
       trid_batch_factor        the LU factors of each matrix, for trid_batch_several
     launches for partitions of systems that cross GPUs and machines, each with _f32 and _f64 (the same)
       trid_batch_interface_reduce   a partition of each system to two rows, in buffers ready to send; one pass
       trid_batch_interface_expand   the partitions, their first and last unknowns being known; one trid_batch_solve
       trid_batch_interface_factor   weights for a matrix that stays, and whether only neighbours matter
       trid_batch_interface_weigh    with these: two numbers a system, from one pass over d or less
     launches for C++ alone
       trid_batch_solve_rows    the matrix made in registers by the caller's function object
       trid_batch_interface_reduce_rows, trid_batch_interface_expand_rows    the same for partitions

   k right-hand sides with one matrix move 3 + 2k numbers a row by trid_batch_several, and 5k by k calls of
   trid_batch_solve. Factors do not reduce that, since they are as many numbers as the matrix. They save the divisions
   and the check of pivots, which memory hides, and the same factors solve the transposed system (the adjoint of a
   solver).

   docs/batch.md says which kernel serves which size, and has the measurements. A launch that is called is compiled for
   all lengths and layouts; with bounds on n as template arguments (TRID_BATCH_ONLY_CONTIGUOUS) for these alone, in a
   fraction of the time.

   What they share:
     Stability  Except in trid_batch_pivoted there is no pivoting: safe for diagonally dominant matrices, and close to
                these (trid_host_dominance). A pivot that is zero or not finite is reported (status). A pivot
                that is tiny but not zero is not: what it makes wrong shows in the residual of trid_batch_checked.
     Options    a trid_batch_options, or null
     Returns    a status of enum trid_batch_status, 0 for a launch that was made. The options' status tells what happens
                on the device. Nothing is allocated, printed or awaited; a launch can be captured into a CUDA graph.
     Arrays     a, b, c, d are not changed. x is an array of its own or d itself (the systems are then solved in
                place); x may share no element with a, b or c, nor with a part of d that is not the same element.
                Pointers need the alignment of their element alone, and are refused without it.
     Empty      no systems or n = 0: nothing is launched and the status is 0; pointers may be null.
     Stream     any; calls on one stream follow one another as kernels do.

   docs/where.md says where each idea stands. The rooms, in batch/: what all share is in lines.h (where systems lie),
   scratch.h (memory for long systems), plan.h (tiles, rows, report), device.h, call.h (arguments). How a layout is
   solved is in contiguous.h (the kernel, its shapes, its launch), with rows.h (memory to registers and back) and
   residual.h (rows that wait for their residual), and in interleaved.h, with sweep.h (a tile in a block or a cluster),
   pipeline.h (tiles on their way) and checked.h (tiles that wait for their residual); systems that no block holds, in
   long.h, those of them whose rows are read once, in one_reading.h. The operations are in solve.h, shared.h, pivoted.h;
   several.h, with factored.h (LU factors); interface.h, weights.h. entries.h lists the launches, for C too.
   To add a shape: a row of trid_p_batch_contiguous_shapes (contiguous.h) or of trid_p_batch_tilings (interleaved.h);
   bench/fill.sh brings it into docs/batch.md.
   To add a method, a way to solve a tile: its name in trid_p_batch_how (plan.h); rows of the two tables, by which a
   kernel knows its method (a row of several methods serves calls of each, which its kernel cannot tell apart).
   Contiguous: what it keeps and checks, in trid_p_batch_instance; how it solves, in trid_p_batch_solve_own and
   trid_p_batch_check, or a tile of its own beside trid_p_batch_contiguous_tile; which layout it takes, in
   trid_p_batch_launch_contiguous (contiguous.h). Interleaved: a trid_p_batch_tiles, as checked.h has it. Device
   functions are overloads: a kernel may call those of both precisions. bench/batch_table.cc and tests/codegen.sh name
   methods. A method with a launch of its own is an operation too.
   To add an operation, a launch: the function that checks its arguments, in a room with what is its own; here its line
   and its room above, its #include below, and its aliases, if it takes a function object; its flags, in the
   enumerations and in trid_batch_status_string; its line in entries.h (of one precision alone: both in #if TB_BYTES ==
   8); what it needs of scratch in trid_batch_scratch. Outside: a title in bench/batch_table.cc, if sizes choose its
   kernels; tests/batch_field.h, tests/test_batch*.cu, tests/faults.txt and tests/codegen_ladders.cu; bench/batch.cu;
   README.md, docs/README.md, guide.md and batch.md.

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

#define TRID_BATCH_VERSION 300 /* 100 * major + minor */

#define TRID_BATCH_API TB_HOST

#ifdef __CUDA_ARCH__ /* a loop that must not be unrolled: its body is long */
#define TRID_P_BATCH_LOOP _Pragma("unroll 1")
#else
#define TRID_P_BATCH_LOOP
#endif

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
    TRID_BATCH_BAD_ARGUMENT = -1, /* a null pointer, or an array off its alignment */
    TRID_BATCH_BAD_SIZE = -2,     /* a negative size, n over 2^30, elements beyond 2^56, or 2^31 tiles or chunks */
    TRID_BATCH_OVERLAP = -3,      /* two elements of x coincide, or one of x with one of another array */
    TRID_BATCH_SHORT = -4,        /* a partition of fewer than two rows */
    TRID_BATCH_BAD_FLAGS = -5,    /* a flag that this launch does not take (TRID_BATCH_.._FLAGS), or not so */
    TRID_BATCH_BAD_SCRATCH = -6,  /* scratch is needed and null, off its alignment, or less than trid_batch_scratch */
    TRID_BATCH_LAUNCH_FAILED = -8 /* refused by the CUDA runtime */
};

enum { TRID_BATCH_MAX_N = 1 << 30 }; /* rows of a system */

/* Flags of a call, or'ed in its options. */
enum {
    TRID_BATCH_ADD = 1,         /* x += A^-1 d */
    TRID_BATCH_SHARED = 2,      /* a, b, c are one matrix for all systems: n elements each, contiguous */
    TRID_BATCH_REFINED = 4,     /* set by trid_batch_refined; a caller hands it to trid_batch_scratch alone */
    TRID_BATCH_REPAIR = 8,      /* only systems that an earlier launch failed at */
    TRID_BATCH_TRANSPOSED = 16, /* the transposed systems: c[j-1] x[j-1] + b[j] x[j] + a[j+1] x[j+1] = d[j] */
    TRID_BATCH_PERIODIC = 32,   /* a[0] couples row 0 to x[n-1], c[n-1] row n-1 to x[0] */
    TRID_BATCH_FACTORED = 64,   /* b and c are r and u of trid_batch_factor */
    TRID_BATCH_FIRST = TRID_PARTITION_FIRST, /* partitions: these begin their systems, a of row 0 is not used */
    TRID_BATCH_LAST = TRID_PARTITION_LAST,   /* these end their systems, c of row n-1 is not used */

    /* Which a launch takes. REPAIR needs a status, goes without ADD, and x must not be d. */
    TRID_BATCH_SOLVE_FLAGS = TRID_BATCH_ADD | TRID_BATCH_TRANSPOSED, /* trid_batch_shared's too */
    TRID_BATCH_SOLVE_ROWS_FLAGS = TRID_BATCH_ADD,
    TRID_BATCH_CHECKED_FLAGS = TRID_BATCH_SOLVE_FLAGS | TRID_BATCH_SHARED, /* trid_batch_refined's too */
    TRID_BATCH_PIVOTED_FLAGS = TRID_BATCH_SOLVE_FLAGS | TRID_BATCH_REPAIR,
    TRID_BATCH_SEVERAL_FLAGS = TRID_BATCH_SOLVE_FLAGS | TRID_BATCH_SHARED | TRID_BATCH_PERIODIC | TRID_BATCH_FACTORED,
    TRID_BATCH_FACTOR_FLAGS = TRID_BATCH_PERIODIC,
    TRID_BATCH_REDUCE_FLAGS = TRID_BATCH_SHARED | TRID_BATCH_FIRST | TRID_BATCH_LAST, /* of interfaces, as below */
    TRID_BATCH_REDUCE_ROWS_FLAGS = TRID_BATCH_FIRST | TRID_BATCH_LAST,
    TRID_BATCH_EXPAND_FLAGS = TRID_BATCH_ADD | TRID_BATCH_SHARED,
    TRID_BATCH_EXPAND_ROWS_FLAGS = TRID_BATCH_ADD,
    TRID_BATCH_INTERFACE_FACTOR_FLAGS = TRID_BATCH_FIRST | TRID_BATCH_LAST,
    TRID_BATCH_WEIGH_FLAGS = TRID_BATCH_SHARED
};

/* What a launch compiles, in C++: trid_batch_solve_f32<137>(...) has kernels for n up to 137 alone, <137, 137> for n =
   137, and any other n is a bad size. A third argument leaves out a layout: its systems are still solved, slowly, up to
   n = 1024; longer ones are a bad size. With pivoting, contiguous kernels also stand in for interleaved ones, and are
   always compiled. */
enum {
    TRID_BATCH_ONLY_CONTIGUOUS = 1, /* kernels for systems whose step is not the larger pitch */
    TRID_BATCH_ONLY_INTERLEAVED = 2
};

/* A device as launches see it, filled by trid_device_query. */
typedef struct {
    int processors, shared_bytes; /* multiprocessors; shared memory that a block may ask for */
    int major;                    /* compute capability, of the device or of the code, whichever is lower */
    int always_pipelined;         /* are some kernels empty? */
    int clusters[17];             /* of 1 .. 16 blocks at a time, each block with a multiprocessor of its own */
    const void *code;             /* stands for the kernels of which this is true */
} trid_device;

/* What a launch is asked besides its arrays. A null pointer, for all of it or for a field, asks for nothing, and so
   does 0. Pointers are to device memory, except device.
     flags      TRID_BATCH_ADD and the like
     status     of each system: 0; 1 + the first row that met a bad pivot (from trid_batch_pivoted 1: an unknown had no
                pivot; x is then unspecified); n + 1 (trid_batch_checked, _refined): no such pivot, but the residual is
                above tolerance or NaN
     residual   of each system (trid_batch_checked, _refined): max |Ax - d| / max (|A||x| + |d|) over its rows, computed
                in the precision of the call
     tolerance  the largest residual that is not a failure; 0 stands for 128 unit roundoffs
     failed     failed[0]: how many statuses are not 0; failed[1]: the least index of such a system, all bits set if
                there is none. The launch sets both first
     scratch    memory for long systems, with as many bytes as trid_batch_scratch says, aligned to 16
     device     what trid_device_query said of the current device: the launch then does not ask the CUDA runtime */
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
/* Returns what a launch's status says. */
TRID_BATCH_API const char *trid_batch_status_string(int status)
{
    switch (status) {
    case TRID_BATCH_OK:
        return "launched, or nothing to do";
    case TRID_BATCH_BAD_ARGUMENT:
        return "bad argument: a null pointer, or an array off its alignment";
    case TRID_BATCH_BAD_SIZE:
        return "bad size: negative (an axis that is none), n over 2^30, beyond 2^56 elements, 2^31 tiles or chunks";
    case TRID_BATCH_OVERLAP:
        return "elements of x coincide with each other or with another array's";
    case TRID_BATCH_SHORT:
        return "a partition of fewer than two rows";
    case TRID_BATCH_BAD_FLAGS:
        return "bad flags: unknown, or not of this launch (REPAIR: pivoted with a status, without ADD, x not being d; "
               "FACTORED: several; PERIODIC: several, factor; SHARED: checked, refined, several, interface; FIRST, "
               "LAST: interface)";
    case TRID_BATCH_BAD_SCRATCH:
        return "bad scratch: null where it is needed, not aligned to 16 bytes, or less than trid_batch_scratch says";
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

#if TB_LAUNCHES /* those that take a function object */
#define trid_batch_solve_rows_f32 tb_f32::trid_batch_solve_rows
#define trid_batch_solve_rows_f64 tb_f64::trid_batch_solve_rows
#define trid_batch_interface_reduce_rows_f32 tb_f32::trid_batch_interface_reduce_rows
#define trid_batch_interface_reduce_rows_f64 tb_f64::trid_batch_interface_reduce_rows
#define trid_batch_interface_expand_rows_f32 tb_f32::trid_batch_interface_expand_rows
#define trid_batch_interface_expand_rows_f64 tb_f64::trid_batch_interface_expand_rows
#endif

#endif /* TRID_BATCH_H */
