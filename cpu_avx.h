/* cpu_avx.h - tridiagonal systems and finite-difference time steps on CPUs: plain C; AVX, AVX2, AVX-512; NEON.

   MIT licence, see LICENSE. Copy this file and the folder cpu_avx beside it; they include nothing else of the kit.

   Solves a batch of contiguous systems of N rows, row j of system s at [j + s * N] of each array, with the best
   instruction set of the processor (examples/cpu_batch.c):

       cpu_avx_lines lines = cpu_avx_lines_contiguous(N, SYSTEMS);
       void *work = malloc(cpu_avx_thomas_bytes_f32(&lines, threads));
       int status = cpu_avx_thomas_f32(cpu_avx_best(), &lines, a, b, c, d, x, work, threads);
       if (status != CPU_AVX_OK) {
           printf("%d: %s\n", status, cpu_avx_status_string(status));
           return 1;
       }

   The names listed below, except cpu_avx_lines and those of the first group, end in _f32 (float) or _f64 (double).
   Functions of vector scope exist for each instruction set, whose name stands before the precision
   (cpu_avx_fma_avx512_f32). They are inlined, so a function that calls them must carry the set's attribute, such as
   CPU_AVX_TARGET_avx512 (examples/cpu_own_kernel.c). The list also gives the rooms in cpu_avx/, where names have no
   suffix: the contract of cpu_avx_thomas_f32 is above cpu_avx_thomas in cpu_avx/thomas.h.
   A vector has `lanes` lanes: 4 (plain C, NEON), 8 (AVX, AVX2) or 16 (AVX-512) in single precision, half as many in
   double precision. It is the compiler's own type: v[l] is lane l, and + - * / work on all lanes.

     independent of the precision (this file, sets.h)
       cpu_avx_has, cpu_avx_best, cpu_avx_name      whether this processor runs a set, its best set, a set's name
       cpu_avx_status_string                        the text of a status
       cpu_avx_fence                                makes streamed stores visible to other threads
       cpu_avx_lines_contiguous, _lines_interleaved, _lines_axis     layouts of systems
     vector (vector.h, where each comment gives the meaning in C), with the number of
     instructions in the sets other than plain C
       cpu_avx_vec (a type), cpu_avx_lanes          the vector, its lanes; cpu_avx_width(isa), those of a set chosen at
                                                    run time
       cpu_avx_set, _load, _store, _stream          1 instruction
       cpu_avx_load_part, _store_part               1 and a mask (NEON: 1 per lane)
       cpu_avx_fma, _fnma, _min, _max, _sqrt        1 (fma and fnma in AVX: 2; min and max in NEON: 2)
       cpu_avx_select                               a < b ? c : d        2
       cpu_avx_up, _down, _rotate_up, _rotate_down  moves between lanes  1 shuffle (AVX2: 1 to 3, AVX: 1 to 4)
       cpu_avx_sum                                  of all lanes         log2 lanes moves and additions
       cpu_avx_rcp                                  reciprocal           f32: 1 approximation + 2 FMA (AVX, AVX2: 3);
                                                                         f64, NEON, plain C: a division
       cpu_avx_check, cpu_avx_worst                 which lanes met a bad pivot                          check: 2 FMA
       cpu_avx_transpose, _load_tile, _store_tile   lanes x lanes        lanes log2 lanes shuffles
     vector: systems that share one matrix (interleaved.h, contiguous.h)
       cpu_avx_interleaved_solve, _interleaved_solve_part    factored, interleaved systems  2 FMA + 1 mul an element
       cpu_avx_contiguous_solve                     the same for contiguous systems; 2 more transposes a tile
     array: batches of tridiagonal systems, anywhere in memory (cpu_avx_lines)
       cpu_avx_thomas (thomas.h)    distinct matrices: 5 FMA, 2 mul, 1 rcp an element
       cpu_avx_factor (systems.h), cpu_avx_solve (thomas.h)     one matrix for all: 2 FMA + 1 mul an element
       cpu_avx_hybrid (hybrid.h)    as cpu_avx_thomas, each contiguous system across the lanes: 10 FMA, 3 mul, 1 rcp
       cpu_avx_thomas_bytes, cpu_avx_solve_bytes, cpu_avx_hybrid_bytes                the bytes of work they need
     array: one factor, a batch of options, from the plain loop to the fastest (explicit.h, implicit.h; the functions
     named _bytes are in one_factor.h), with the cost per row and step
       cpu_avx_explicit1      the compiler vectorises the loop over the grid                   3 FMA
       cpu_avx_explicit2      lanes are partitions of the grid, two steps a sweep              3 FMA
       cpu_avx_explicit3      the compiler vectorises the loop over options                    3 FMA
       cpu_avx_explicit4      many steps composed into one band        2*reach FMA, 1 mul, 1 addition for many steps
       cpu_avx_implicit1      Thomas in every step, vectorised by the compiler over options    3 FMA, 2 mul, 1 division
       cpu_avx_implicit2      the same on vectors, with the fast reciprocal                    5 FMA, 2 mul, 1 rcp
       cpu_avx_implicit3      factored once, lanes are partitions of one grid                  4 FMA, 1 mul
       cpu_avx_explicit_bytes, cpu_avx_implicit_bytes                                 the bytes of work they need
     array: three factors on a grid, cpu_avx_grid (grid_explicit.h, grid_implicit.h; cpu_avx_grid and
     cpu_avx_grid_bytes are in grid.h), with the number of passes over an array per step
       cpu_avx_grid_explicit1  2   vectors in x, a load for every neighbour
       cpu_avx_grid_explicit2  1   two steps a sweep, blocks in the second-level cache, shared differences
       cpu_avx_grid_implicit1 10   a sweep each for the right-hand side, x (scalar), y, and z with the sum
       cpu_avx_grid_implicit2  5   right-hand side, x (by transposed tiles) and y of a plane in cache, then z
       cpu_avx_grid_bytes          the bytes of work they need

   Common contract:
     isa      The first argument of array functions: cpu_avx_best(), or one of CPU_AVX_PLAIN, _AVX, _AVX2, _AVX512,
              _NEON, or the literal CPU_AVX_BUILT_FOR, the best set that the compiler's flags allow. A call with this
              literal compiles only that set, except with -O0, gcc's -O1 or -fopenmp.
     threads  The last argument of array functions, at least 1: the most threads that a call uses if OpenMP is on
              (-fopenmp). Without OpenMP one thread does all the work.
     work     The caller's memory, at any alignment, of the size that the function named _bytes returns. That function
              takes no isa and no work. cpu_avx_factor, which is plain C on one thread, takes no isa, threads or work.
     Status   CPU_AVX_OK; a negative number for a bad argument, and nothing is done; or 1 + the index of the first
              system or option with a bad pivot (in cpu_avx_factor, the first row), or INT_MAX if an int cannot hold
              it. A pivot is bad if it is zero or not finite, or if its reciprocal overflows or underflows to 0. Whether
              a subnormal pivot or a subnormal reciprocal is bad depends on the set. x of a failed system is
              unspecified; all other systems are solved. There is no pivoting: matrices must be diagonally dominant, or
              nearly so. In AVX and AVX2 the single-precision reciprocal of a power of two is not exact, so a matrix
              that is singular by cancellation may pass.
     Steps    In all sets except plain C, time stepping switches the processor to flush-to-zero mode, in which subnormal
              numbers count as 0, and restores the previous mode afterwards. Arithmetic on subnormals may be slow, and a
              spreading solution always has a front of them.
     State    None: several threads may call any function at once, each on its own arrays and work. The rounding mode
              is respected. Finite data with good pivots raise neither "invalid" nor "division by zero". Exception
              flags raised before a call stay raised, except under LLVM's OpenMP runtime (clang -fopenmp): it clears
              them at the end of a parallel region of one thread, unless KMP_INHERIT_FP_CONTROL is false in the
              environment.
     Size     Elements are counted in 64 bits; empty batches, systems of one row and arrays of any alignment are fine.

   The rooms, in cpu_avx/:
     sets.h             lists of the instruction sets: their numbers and names, CPU_AVX_PICK
     plain.h, avx.h, avx2.h, avx512.h, neon.h    one set each: its vector and its operations on lanes; x86.h and
                        avx_256.h, code that several sets share
     vector.h           the functions of vector scope on lanes
     systems.h          cpu_avx_factor, and how a batch is cut into tiles and given to threads
     thomas.h           cpu_avx_thomas and _solve, which choose among the next four rooms
     interleaved.h, contiguous.h, cut.h, scalar.h      interleaved systems; contiguous systems; long systems, cut into
                        partitions; few or very long systems, solved without the set's vectors
     hybrid.h           cpu_avx_hybrid; partitions.h, the reduced system of a system's partitions
     explicit.h, implicit.h              one factor; one_factor.h, the code that they share
     grid_explicit.h, grid_implicit.h    three factors; grid.h, their operator
   The rooms are C over the types cpu_avx_real and cpu_avx_vec. rooms.h includes all but those of the sets, and is read
   in several passes. The first pass defines what depends on neither precision nor set, and lists each room's names. The
   others give these names their suffixes. For each precision, precision.h makes a pass for what its sets share, one for
   each set (set.h), and one for array scope, which chooses a set.

   To add an instruction set, model its file on that of the most similar set, and add a line to each list of sets.h.
   Vectors may have 16 to 64 bytes. A new kind of processor also needs the functions below that contain assembly:
   cpu_avx_fence, cpu_avx_p_flush and cpu_avx_p_restore. tests/test_cpu_vec.c, examples/cpu_own_kernel.c,
   examples/cpu_timing.c and bench/cpu_patterns.c also list the sets; the other tests of cpu_avx.h run on every
   set without a change.

   Options are macros. Define them before the header is included, in the same way in all files of a program:
     CPU_AVX_ONLY_PLAIN     Omits the vector sets. On an unknown processor they are always omitted.
     CPU_AVX_UNDER_NVCC     Compiles the vector sets in files for nvcc as well (not on Arm), which takes longer. Without
                            this option such files have plain C only. Other files have all sets of their kind of
                            processor.
     CPU_AVX_EXACT_RCP      Divides instead of taking the fast reciprocal.
     CPU_AVX_STREAM_BYTES   Arrays of at least this many bytes are stored past the caches where that is faster (see
                            below). Default: 8 MB.
     CPU_AVX_THREAD_ROWS    The number of rows, over all systems, for which it pays to start one more thread. Default:
                            1024.
     CPU_AVX_GRID_CACHE     The bytes of cache that a thread's block of a grid may fill. Default: 1 MB. */

#ifndef CPU_AVX_H
#define CPU_AVX_H

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CPU_AVX_VERSION 200 /* 100 * major + minor */

#ifndef __GNUC__
#error "cpu_avx.h needs gcc or clang, whose vectors and attributes it uses"
#endif

/* The passes (see above). */
#define CPU_AVX_PASS_ONCE 0
#define CPU_AVX_PASS_TYPES 1
#define CPU_AVX_PASS_SET 2
#define CPU_AVX_PASS_ARRAY 3
#define CPU_AVX_PASS CPU_AVX_PASS_ONCE

/* Names: CPU_AVX_OF forms those of a precision, CPU_AVX_OF_SET those of a set and a precision. Outside the passes the
   suffixes are empty, so that a user's own names stay unchanged. */
#define CPU_AVX_P_PASTE(a, b, c) a##b##c
#define CPU_AVX_P_JOIN(a, b, c) CPU_AVX_P_PASTE(a, b, c)
#define CPU_AVX_P_PASTE_NAME(stem, set, precision) stem##_##set##_##precision
#define CPU_AVX_P_NAME(stem, set, precision) CPU_AVX_P_PASTE_NAME(stem, set, precision)
#define CPU_AVX_OF(name) CPU_AVX_P_JOIN(name, CPU_AVX_SUFFIX, )
#define CPU_AVX_OF_SET(name) CPU_AVX_P_JOIN(name, CPU_AVX_SET_SUFFIX, )
#define CPU_AVX_SUFFIX
#define CPU_AVX_SET_SUFFIX

#define CPU_AVX_P_UNUSED __attribute__((unused))
#define CPU_AVX_P_INLINE static inline __attribute__((always_inline, unused))
#define CPU_AVX_P_RESTRICT __restrict__
#define CPU_AVX_P_IN_ORDER __asm__("" ::: "memory") /* the compiler moves no memory access across it */
/* Unrolls the loop after it. If its count is a small literal, arrays stay in registers. _KEEP_LOOP does not unroll it:
   gcc does not vectorise a loop that it has unrolled early. */
#ifdef __OPTIMIZE__
#define CPU_AVX_P_UNROLL _Pragma("GCC unroll 33")
#define CPU_AVX_P_KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define CPU_AVX_P_UNROLL
#define CPU_AVX_P_KEEP_LOOP
#endif
#define CPU_AVX_API static inline CPU_AVX_P_UNUSED
/* A function with a whole loop is not inlined: inlining would slow neighbouring loops by a few percent. Without
   optimisation "inline" only lets the compiler drop functions that are never called. */
#ifdef __OPTIMIZE__
#define CPU_AVX_P_LOOP static __attribute__((noinline, unused))
#else
#define CPU_AVX_P_LOOP static inline CPU_AVX_P_UNUSED
#endif
/* Functions of a set: those that are inlined, and those with a whole loop. */
#define CPU_AVX_INLINE CPU_AVX_P_INLINE CPU_AVX_P_HERE
#define CPU_AVX_CALL CPU_AVX_P_LOOP CPU_AVX_P_HERE

/* Parallel regions open in array scope only: inside one a compiler may lose the target attribute of the surrounding
   function and then refuse to inline (clang: "always_inline function requires target feature"). Likewise, a user's own
   regions belong in functions without the attribute, which call functions with it. */
#ifdef _OPENMP
#define CPU_AVX_P_OMP(clauses) _Pragma(#clauses)
#else
#define CPU_AVX_P_OMP(clauses)
#endif

/* CPU_AVX_STREAM_BYTES: cpu_avx_thomas, cpu_avx_solve, cpu_avx_hybrid and cpu_avx_grid_explicit2 store results of at
   least this size past the caches if their alignment allows it; cpu_avx_grid_implicit2 does so with v, never with u. If
   x is d, cpu_avx_thomas and cpu_avx_solve do so only if interleaved rows are far apart, and cpu_avx_hybrid only where
   it does what cpu_avx_thomas does. They never do so with systems that are gathered or solved without the set's
   vectors, nor with batches of few or very long interleaved systems, unless these are cut (cpu_avx_p_thomas_plan). If
   this size is too small, results that would have stayed in the last-level cache must be read from memory.
   CPU_AVX_GRID_CACHE: cpu_avx_grid_explicit2 keeps six planes of a block of rows in this many bytes of a thread's own
   cache. If this size is too large, the planes come from a more distant cache. If it is too small, many rows at the
   edges of blocks are computed twice. */
#ifndef CPU_AVX_STREAM_BYTES
#define CPU_AVX_STREAM_BYTES (8 * 1024 * 1024)
#endif
#ifndef CPU_AVX_THREAD_ROWS
#define CPU_AVX_THREAD_ROWS 1024
#endif
#ifndef CPU_AVX_GRID_CACHE
#define CPU_AVX_GRID_CACHE (1024 * 1024)
#endif

/* Prefetches the cache line at p into the second-level cache; _NEAR into the first-level cache as well. p may be any
   address. Prefetching into the first-level cache only (prefetchnta) halves the speed of batches on Intel's
   processors. */
#define CPU_AVX_P_PREFETCH(p) __builtin_prefetch(p, 0, 2)
#define CPU_AVX_P_PREFETCH_NEAR(p) __builtin_prefetch(p, 0, 3)

#include "cpu_avx/sets.h"

/* A user's own code for all sets is written once and compiled for each set with CPU_AVX_SET and CPU_AVX_PRECISION
   defined (examples/cpu_own_kernel.c). In it
     CPU_AVX(fma)           is the header's function, type or number for the set: cpu_avx_fma_avx2_f32
     CPU_AVX_OWN(smooth)    is a name of the user's own: smooth_avx2_f32
     CPU_AVX_HERE           is the set's attribute, which every function that uses CPU_AVX(...) must carry
   and
     CPU_AVX_PICK(isa, result =, smooth, f32, (arguments));    calls the function for isa; "result =" may be empty */
#define CPU_AVX(stem) CPU_AVX_P_NAME(cpu_avx_##stem, CPU_AVX_SET, CPU_AVX_PRECISION)
#define CPU_AVX_OWN(stem) CPU_AVX_P_NAME(stem, CPU_AVX_SET, CPU_AVX_PRECISION)
#define CPU_AVX_HERE CPU_AVX_P_JOIN(CPU_AVX_TARGET, _, CPU_AVX_SET)

/* The statuses of array functions that are not positive ("Status" above). */
enum {
    CPU_AVX_OK = 0,
    CPU_AVX_BAD_ARGUMENT = -1, /* a null pointer, a negative count, threads < 1, or a size that the function's comment
                                  excludes; lines whose elements coincide; one array passed both as x and as a, b, c or
                                  f */
    CPU_AVX_BAD_ISA = -2       /* an unknown instruction set, or one that the processor or compiler does not support */
};

/* Returns the text of a status. */
CPU_AVX_API const char *cpu_avx_status_string(int status)
{
    return status == CPU_AVX_OK ? "done"
           : status > 0         ? "system or option with index status - 1 met a pivot that is zero, not "
                                  "finite, or without a normal reciprocal"
           : status == CPU_AVX_BAD_ARGUMENT
               ? "bad argument: a null pointer, a negative count, a bad size, step, stride or jump, elements that "
                 "coincide, x that is the matrix, or threads < 1"
           : status == CPU_AVX_BAD_ISA ? "instruction set unknown, not compiled in, or not on this processor"
                                       : "unknown status";
}

/* Returns the first address from p on at which a cache line begins. Vectors of AVX-512 from there on are whole cache
   lines. */
CPU_AVX_API void *cpu_avx_p_align(void *p)
{
    return (void *)(((uintptr_t)p + 63) & ~(uintptr_t)63);
}

/* Makes this thread's streamed stores visible to other threads before its later stores. On Arm nothing is streamed. */
CPU_AVX_API void cpu_avx_fence(void)
{
#if CPU_AVX_X86
    __asm__ volatile("sfence" ::: "memory");
#endif
}

/* Makes subnormal numbers count as 0 from here on, as results and as operands. Returns the previous mode. Does nothing
   in plain C. */
CPU_AVX_API unsigned cpu_avx_p_flush(int isa)
{
    unsigned mode = 0;
#if CPU_AVX_X86
    if (isa != CPU_AVX_PLAIN) {
        __asm__ volatile("stmxcsr %0" : "=m"(mode));
        const unsigned flushing = mode | 0x8040;
        __asm__ volatile("ldmxcsr %0" ::"m"(flushing) : "memory");
    }
#elif CPU_AVX_ARM
    if (isa != CPU_AVX_PLAIN) {
        uint64_t now;
        __asm__ volatile("mrs %0, fpcr" : "=r"(now));
        mode = (unsigned)now;
        __asm__ volatile("msr fpcr, %0" ::"r"(now | 0x1000000) : "memory");
    }
#endif
    (void)isa;
    return mode;
}

/* Restores the mode that cpu_avx_p_flush returned. */
CPU_AVX_API void cpu_avx_p_restore(int isa, unsigned mode)
{
#if CPU_AVX_X86
    if (isa != CPU_AVX_PLAIN) {
        unsigned now;
        __asm__ volatile("stmxcsr %0" : "=m"(now)::"memory");
        now = (now & 0x3fu) | (mode & ~0x3fu); /* exceptions raised meanwhile stay raised */
        __asm__ volatile("ldmxcsr %0" ::"m"(now));
    }
#elif CPU_AVX_ARM
    if (isa != CPU_AVX_PLAIN) __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)mode) : "memory");
#endif
    (void)isa;
    (void)mode;
}

/* The layout of tridiagonal systems: element j of system s of group g is at [j*step + s*stride + g*jump] of each array.
   There are groups*systems systems, and g*systems + s is a system's index. groups = 0 means one group; an empty batch
   has systems = 0. step, stride and jump may be negative. No two elements may coincide. Lines are refused if two
   elements that share their row, system or group coincide; elements that differ in all three are not compared.
   trid_lines of trid/batch.h has the same fields. */
typedef struct {
    long long n, step, systems, stride, groups, jump;
} cpu_avx_lines;

/* Returns the layout of contiguous systems: rows of a system are neighbours in memory. */
CPU_AVX_API cpu_avx_lines cpu_avx_lines_contiguous(long long n, long long systems)
{
    cpu_avx_lines lines = {n, 1, systems, n, 1, 0};
    return lines;
}

/* Returns the layout of interleaved systems: row 0 of all systems, then row 1 of all systems, ... */
CPU_AVX_API cpu_avx_lines cpu_avx_lines_interleaved(long long n, long long systems)
{
    cpu_avx_lines lines = {n, systems, systems, 1, 1, 0};
    return lines;
}

/* Returns the lines of an nx*ny*nz array, x fastest, along axis 0 (x), 1 (y) or 2 (z). Any other axis, or a negative
   size, gives lines that every function rejects. */
CPU_AVX_API cpu_avx_lines cpu_avx_lines_axis(long long nx, long long ny, long long nz, int axis)
{
    /* an empty batch along y has systems = 0: groups = 0 would mean one group */
    cpu_avx_lines x = {nx, 1, ny * nz, nx, 1, 0}, y = {ny, nx, nz ? nx : 0, 1, nz, nx * ny};
    cpu_avx_lines z = {nz, nx * ny, nx * ny, 1, 1, 0}, none = {-1, 0, 0, 0, 0, 0};
    if (nx < 0 || ny < 0 || nz < 0) return none;
    return axis == 0 ? x : axis == 1 ? y : axis == 2 ? z : none;
}

#define CPU_AVX_FACTOR_LEN(n) (3 * (size_t)(n)) /* elements of cpu_avx_factor's f */

/* Returns the status of a failure of the system, option or row with this index. */
CPU_AVX_API int cpu_avx_p_failed(long long index)
{
    return index < INT_MAX ? (int)index + 1 : INT_MAX;
}

/* Returns where part i begins if `count` items are divided into `parts` parts. */
CPU_AVX_API long long cpu_avx_p_part(long long count, int parts, int i)
{
    if (parts == 1) return i * count;
    return count / parts * i + (i < count % parts ? i : count % parts);
}

/* CPU_AVX_PICK in the current precision. _FLUSHING makes subnormal numbers count as 0 during the call. */
#define CPU_AVX_P_PICK(isa, result, stem, arguments) CPU_AVX_PICK(isa, result, stem, CPU_AVX_P_PRECISION, arguments)
#define CPU_AVX_P_PICK_FLUSHING(isa, result, stem, arguments)                                                          \
    do {                                                                                                               \
        const unsigned mode = cpu_avx_p_flush(isa);                                                                    \
        CPU_AVX_P_PICK(isa, result, stem, arguments);                                                                  \
        cpu_avx_p_restore(isa, mode);                                                                                  \
    } while (0)

#include "cpu_avx/rooms.h"

#ifdef __NVCC__ /* nvcc warns about the pragma that unrolls; the host's gcc knows it */
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif

#undef CPU_AVX_SUFFIX
#define CPU_AVX_SUFFIX _f32
#define CPU_AVX_P_PRECISION f32
#define CPU_AVX_SIZE 4
#define cpu_avx_real float
#include "cpu_avx/precision.h"
#undef CPU_AVX_SUFFIX
#undef CPU_AVX_P_PRECISION
#undef CPU_AVX_SIZE
#undef cpu_avx_real

#define CPU_AVX_SUFFIX _f64
#define CPU_AVX_P_PRECISION f64
#define CPU_AVX_SIZE 8
#define cpu_avx_real double
#include "cpu_avx/precision.h"
#undef CPU_AVX_SUFFIX
#undef CPU_AVX_P_PRECISION
#undef CPU_AVX_SIZE
#undef cpu_avx_real
#define CPU_AVX_SUFFIX
#undef CPU_AVX_PASS

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif

#endif /* CPU_AVX_H */
