/* cpu_avx.h - tridiagonal systems and finite-difference marches on CPUs: plain C; AVX, AVX2, AVX-512; NEON.

   MIT licence, see LICENSE. Copy this one file; it includes nothing of the kit.

   A batch of systems of N rows, one after another, so row j of system s at [j + s * N] of each array, solved with the
   best instruction set that the processor has (examples/cpu_batch.c):

       cpu_avx_lines lines = cpu_avx_lines_contiguous(N, SYSTEMS);
       void *work = malloc(cpu_avx_thomas_bytes_f32(&lines, threads));
       int status = cpu_avx_thomas_f32(cpu_avx_best(), &lines, a, b, c, d, x, work, threads);
       if (status != CPU_AVX_OK) {
           printf("%d: %s\n", status, cpu_avx_status_string(status));
           return 1;
       }

   All names but cpu_avx_lines and those of the first group end in _f32 (float) or _f64 (double). The functions of
   vector scope exist for each instruction set, whose name stands before the precision (cpu_avx_fma_avx512_f32); they
   are inlined into functions with the attribute of the set, CPU_AVX_TARGET_avx512 (examples/cpu_own_kernel.c). W is the
   lanes of a vector: 4 in plain C; in single precision 8 (AVX, AVX2), 16 (AVX-512) or 4 (NEON), in double precision 4,
   8 or 2.

     whatever the precision
       cpu_avx_has, cpu_avx_best, cpu_avx_name      what this processor runs, the widest of it, its name
       cpu_avx_status_string                        what a status says
       cpu_avx_fence                                what was streamed is visible to other threads
       cpu_avx_lines_contiguous, _lines_interleaved, _lines_axis     where systems lie
     vector (in the comment of each its meaning in C)
       cpu_avx_vec (a type), cpu_avx_lanes (W)      the vector; cpu_avx_width(isa) is W where the set is no literal
       cpu_avx_set, _load, _store, _stream, _load_part, _store_part      1 instruction (in NEON a part: one a lane)
       cpu_avx_add, _sub, _mul, _div, _fma, _fnma, _min, _max, _sqrt     1 (in AVX fma, fnma: 2; in NEON min, max: 2)
       cpu_avx_select                               by a comparison         2
       cpu_avx_up, _down, _rotate_up, _rotate_down  moves between lanes  1 shuffle (AVX2: 2, AVX: 3)
       cpu_avx_sum                                  of all lanes         log2 W shuffles and additions
       cpu_avx_rcp                                  1/x                  f32: 1 approximation + 2 FMA (AVX, AVX2: 3);
                                                                         else a division
       cpu_avx_check, cpu_avx_worst                 which lanes met a bad pivot                                2 FMA
       cpu_avx_transpose, _load_tile, _store_tile   W x W lanes          W log2 W shuffles
       cpu_avx_lines_solve, _lines_solve_part       factored systems side by side          2 FMA + 1 mul an element
       cpu_avx_rows_solve                           contiguous ones, by transposed tiles   and 2 transposes a tile
     array: batches of tridiagonal systems, anywhere in memory (cpu_avx_lines)
       cpu_avx_thomas         distinct matrices     5 FMA, 2 mul, 1 rcp an element; reads a, b, c, d, writes x once
       cpu_avx_factor, cpu_avx_solve                one matrix for all: 2 FMA + 1 mul an element
       cpu_avx_hybrid         the same, each system across the lanes: contiguous, or few and long 10 FMA, 3 mul, 1 rcp
       cpu_avx_hybrid_refined the same with a step of refinement       twice that and 3 FMA
       cpu_avx_thomas_bytes, cpu_avx_solve_bytes, cpu_avx_hybrid_bytes                         the work they need
     array: one factor, a batch of options, from the plain loop to the fastest (cost a row and step)
       cpu_avx_explicit1      the compiler makes vectors of the grid                           3 FMA
       cpu_avx_explicit2      lanes are sections of the grid, two steps a sweep                3 FMA
       cpu_avx_explicit3      the compiler makes vectors of options                            3 FMA
       cpu_avx_explicit4      many steps composed into one band of 2H+1                        2H+1 FMA for many steps
       cpu_avx_implicit1      Thomas anew in each step, the compiler makes vectors of options  3 FMA, 2 mul, 1 division
       cpu_avx_implicit2      the same in intrinsics, fast reciprocal                          5 FMA, 2 mul, 1 rcp
       cpu_avx_implicit3      factored once, lanes are sections of one grid                    4 FMA, 1 mul
       cpu_avx_explicit_bytes, cpu_avx_implicit_bytes                                          the work they need
     array: three factors on a grid (cpu_avx_grid), passes over the array a step
       cpu_avx_grid_explicit1  2   vectors in x, every neighbour read where it lies
       cpu_avx_grid_explicit2  1   two steps a sweep, blocks in the second-level cache, shared differences
       cpu_avx_grid_implicit1 10   right-hand side, x (scalar), y, z, the sum: a sweep each
       cpu_avx_grid_implicit2  5   x by transposed tiles; right-hand side, x and y of a plane in cache, then z
       cpu_avx_grid_bytes          the work they need

   What array functions share:
     isa      first argument (cpu_avx_factor is plain C and has none): cpu_avx_best(), or CPU_AVX_BUILT_FOR, a literal
              that without -fopenmp compiles for the flags' set alone, or any of CPU_AVX_PLAIN, _AVX, _AVX2, _AVX512,
              _NEON
     threads  last argument, at least 1: how many work where the compiler has OpenMP on (-fopenmp), else one does all
     work     memory of the caller's, as many bytes as the function named _bytes says, any alignment
     Status   CPU_AVX_OK, a negative number for a bad argument (nothing is done), or 1 + the first system or option that
              met a pivot which is zero, not finite, or so small or large that its reciprocal is no normal number;
              INT_MAX where that is more than an int holds. No pivoting: matrices must be diagonally dominant, or
              close. In AVX and AVX2 the single-precision reciprocal of a power of two is not exact, so a matrix that
              is singular by cancellation may pass.
     Marches  in all sets but plain C run in the processor's flush-to-zero mode, which is put back: numbers below the
              normal ones count as 0, for arithmetic with them may be slow and there is always a front of them.
     State    none: every function may be called by several threads at once, on arrays and work of their own.
     Size     elements are counted in 64 bits; batches of none, systems of one row and arrays of any alignment are fine.

   How the file is laid out: it includes itself, for each precision and within it for each set.
     what depends on neither    sets, status, lines, plans of tiles, CPU_AVX and CPU_AVX_PICK
     a precision's own          cpu_avx_factor, the arguments of array functions as structs, the grid
     a set's                    vectors; systems side by side; in rows, a row a system or a section of one; the
                                marches of one factor, from explicit1 to implicit3; rows of a grid of three
     a precision's, again       its sets are made here ("The sets"); then array scope, which picks one: systems, one
                                factor, three factors
   A new set needs
     what it is      a number in the enum, before CPU_AVX_ISAS and after what is narrower on the same processor; a line
                     in cpu_avx_has and cpu_avx_name, CPU_AVX_TARGET_name, CPU_AVX_BUILT_FOR, cpu_avx_width
     its code        its lines in "The sets" and an arm in CPU_AVX_PICK; in "lanes of one register" the type, the names
                     of its intrinsics (CPU_AVX_I) and what no other set has in common with it: parts of a vector,
                     shifts, blocks of a transpose, the approximate reciprocal where its traits say that there is one
     on a new kind of processor    a macro beside CPU_AVX_X86 with the #include, and what only assembly can say:
                     cpu_avx_fence, cpu_avx_p_flush and _restore, the letter for a register in cpu_avx_check
     its tests       an entry in the lists of tests/test_cpu_vec.c, examples/cpu_own_kernel.c and cpu_timing.c; the mode
                     of a new kind of processor in tests/test_cpu_one.c. The other tests run on every set that there is.
   The text takes vectors of 16 to 64 bytes.

   Options, defined before the header is included, and alike in all files of a program:
     CPU_AVX_ONLY_PLAIN     leaves the vector sets out, as does another compiler or processor, or nvcc on Arm.
     CPU_AVX_EXACT_RCP      divides instead of taking the fast reciprocal.
     CPU_AVX_STREAM_BYTES   results from this size on are stored past the caches. Default: 8 MB.
     CPU_AVX_GRID_CACHE     the cache that a thread's block of a grid may fill. Default: 1 MB.
     CPU_AVX_HEADER         the name by which this file includes itself, if you rename it. Default: "cpu_avx.h". */

#ifndef CPU_AVX_P_REAL /* first pass: what depends on neither precision nor instruction set */
#ifndef CPU_AVX_H
#define CPU_AVX_H

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Short macros of a user, in capitals, must not reach the names of parameters and variables. */
#pragma push_macro("B")
#undef B
#pragma push_macro("H")
#undef H
#pragma push_macro("HALF")
#undef HALF
#pragma push_macro("K")
#undef K
#pragma push_macro("L")
#undef L
#pragma push_macro("P")
#undef P
#pragma push_macro("Q")
#undef Q
#pragma push_macro("R")
#undef R
#pragma push_macro("ROW")
#undef ROW
#pragma push_macro("SEEN")
#undef SEEN
#pragma push_macro("SLOT")
#undef SLOT
#pragma push_macro("SOME")
#undef SOME
#pragma push_macro("WEIGHT")
#undef WEIGHT
#pragma push_macro("W")
#undef W

#define CPU_AVX_VERSION 201 /* 100 * major + minor */

#ifndef CPU_AVX_HEADER
#define CPU_AVX_HEADER "cpu_avx.h"
#endif

/* The instruction sets. Each function of vector scope exists for each of them that the kind of processor has, its name
   ending in _plain, _avx, _avx2, _avx512 or _neon before the precision; a function of array scope takes one as its
   first argument. */
enum {
    CPU_AVX_PLAIN,  /* C alone: a vector is an array of 4 lanes */
    CPU_AVX_AVX,    /* 32 bytes, no multiply-add, no permutation across the two halves */
    CPU_AVX_AVX2,   /* 32 bytes, with multiply-add */
    CPU_AVX_AVX512, /* 64 bytes: AVX-512 F, DQ, VL and BW */
    CPU_AVX_NEON,   /* 16 bytes, with multiply-add: 64-bit Arm */
    CPU_AVX_ISAS
};

/* The kind of processor whose vector sets are compiled: CPU_AVX_X86, CPU_AVX_ARM, or neither. Those of x86 are compiled
   by function attribute, whatever the compiler's flags are; NEON every 64-bit Arm has. CPU_AVX_ONLY_PLAIN leaves them
   out, as does another processor or compiler, and on Arm nvcc, which does not understand its host compiler's arm_neon.h
   (13.0 that of gcc 12). */
#if defined CPU_AVX_ONLY_PLAIN || !defined __GNUC__
#define CPU_AVX_X86 0
#define CPU_AVX_ARM 0
#elif defined __x86_64__ || defined __i386__
#define CPU_AVX_X86 1
#define CPU_AVX_ARM 0
#include <immintrin.h>
#elif defined __aarch64__ && defined __ARM_NEON && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined __NVCC__
#define CPU_AVX_X86 0
#define CPU_AVX_ARM 1
#include <arm_neon.h>
#else
#define CPU_AVX_X86 0
#define CPU_AVX_ARM 0
#endif

#define CPU_AVX_TARGET_plain
#define CPU_AVX_TARGET_neon
#define CPU_AVX_TARGET_avx __attribute__((target("avx")))
#define CPU_AVX_TARGET_avx2 __attribute__((target("avx2,fma")))
#define CPU_AVX_TARGET_avx512 __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")))

#ifdef __GNUC__
#define CPU_AVX_P_UNUSED __attribute__((unused))
#define CPU_AVX_P_INLINE static inline __attribute__((always_inline, unused))
#define CPU_AVX_P_RESTRICT __restrict__
#else
#define CPU_AVX_P_UNUSED
#define CPU_AVX_P_INLINE static inline
#define CPU_AVX_P_RESTRICT
#endif
/* A loop over a literal count, whose arrays stay in registers. */
#if defined __OPTIMIZE__ && defined __GNUC__
#define CPU_AVX_P_UNROLL _Pragma("GCC unroll 33")
#else
#define CPU_AVX_P_UNROLL
#endif
#define CPU_AVX_API static inline CPU_AVX_P_UNUSED
/* A whole loop is worth a call; copied into its callers by the optimiser it makes the loops beside it slower by some
   percent. Without optimisation "inline" only lets the compiler drop what nobody calls. */
#if defined __OPTIMIZE__ && defined __GNUC__
#define CPU_AVX_P_LOOP static __attribute__((noinline, unused))
#else
#define CPU_AVX_P_LOOP static inline CPU_AVX_P_UNUSED
#endif

/* Regions of threads, opened in array scope only: within one a compiler may lose the target attribute of the function
   around it, and then refuses to inline (clang: "always_inline function requires target feature"). A user's regions of
   threads, too, belong into functions without the attribute, and call those that have it. */
#ifdef _OPENMP
#define CPU_AVX_P_OMP(clauses) _Pragma(#clauses)
#else
#define CPU_AVX_P_OMP(clauses)
#endif

/* The instruction set for which the compiler's flags allow code everywhere. A literal: an array function called with it
   compiles for this one alone, but with -fopenmp, where the region of threads does not know it. */
#if CPU_AVX_ARM
#define CPU_AVX_BUILT_FOR CPU_AVX_NEON
#elif !CPU_AVX_X86
#define CPU_AVX_BUILT_FOR CPU_AVX_PLAIN
#elif defined __AVX512F__ && defined __AVX512DQ__ && defined __AVX512VL__ && defined __AVX512BW__
#define CPU_AVX_BUILT_FOR CPU_AVX_AVX512
#elif defined __AVX2__ && defined __FMA__
#define CPU_AVX_BUILT_FOR CPU_AVX_AVX2
#elif defined __AVX__
#define CPU_AVX_BUILT_FOR CPU_AVX_AVX
#else
#define CPU_AVX_BUILT_FOR CPU_AVX_PLAIN
#endif

/* Solves   can this processor (and its operating system) run the instruction set? 0 for a number that names none. */
CPU_AVX_API int cpu_avx_has(int isa)
{
#if CPU_AVX_X86
    if (isa == CPU_AVX_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == CPU_AVX_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == CPU_AVX_AVX) return __builtin_cpu_supports("avx") != 0;
#elif CPU_AVX_ARM
    if (isa == CPU_AVX_NEON) return 1;
#endif
    return isa == CPU_AVX_PLAIN;
}

/* Solves   the widest instruction set that this processor runs */
CPU_AVX_API int cpu_avx_best(void)
{
    int isa = CPU_AVX_ISAS - 1;
    while (!cpu_avx_has(isa)) isa--;
    return isa;
}

/* Solves   its name: plain, avx, avx2, avx512, neon */
CPU_AVX_API const char *cpu_avx_name(int isa)
{
    return isa == CPU_AVX_PLAIN    ? "plain"
           : isa == CPU_AVX_AVX    ? "avx"
           : isa == CPU_AVX_AVX2   ? "avx2"
           : isa == CPU_AVX_AVX512 ? "avx512"
           : isa == CPU_AVX_NEON   ? "neon"
                                   : "unknown";
}

/* What an array function returns; positive: 1 + the index of the first system or option that has no solution. */
enum {
    CPU_AVX_OK = 0,
    CPU_AVX_BAD_ARGUMENT = -1, /* a null pointer, a negative count, or a size that the function's comment excludes */
    CPU_AVX_BAD_ISA = -2       /* an unknown instruction set, or one that the processor or the compiler does not have */
};

/* Solves   what a status says */
CPU_AVX_API const char *cpu_avx_status_string(int status)
{
    return status == CPU_AVX_OK             ? "done"
           : status > 0                     ? "system or option status - 1 met a pivot that is zero, not finite, or "
                                              "without a normal reciprocal"
           : status == CPU_AVX_BAD_ARGUMENT ? "bad argument: a null pointer, a negative count, or a size out of range"
           : status == CPU_AVX_BAD_ISA      ? "instruction set unknown, not compiled in, or not on this processor"
                                            : "unknown status";
}

/* An address to which AVX-512 stores whole lines. */
CPU_AVX_API void *cpu_avx_p_align(void *p)
{
    return (void *)(((uintptr_t)p + 63) & ~(uintptr_t)63);
}

/* What a thread has stored past the caches is there for all before what it stores next. Arm has no such stores here. */
CPU_AVX_API void cpu_avx_fence(void)
{
#if CPU_AVX_X86
    __asm__ volatile("sfence" ::: "memory");
#endif
}

/* Numbers below the normal ones, with which arithmetic is slow and of which a march always has a front, are 0 from here
   on, as results and as operands; returns the mode that was, for restore. Plain C does not know of it. */
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
CPU_AVX_API void cpu_avx_p_restore(int isa, unsigned mode)
{
#if CPU_AVX_X86
    if (isa != CPU_AVX_PLAIN) {
        unsigned now;
        __asm__ volatile("stmxcsr %0" : "=m"(now)::"memory");
        now = (now & 0x3fu) | (mode & ~0x3fu); /* the exceptions that were raised stay so */
        __asm__ volatile("ldmxcsr %0" ::"m"(now));
    }
#elif CPU_AVX_ARM
    if (isa != CPU_AVX_PLAIN) __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)mode) : "memory");
#endif
    (void)isa;
    (void)mode;
}

/* Where tridiagonal systems lie: element j of system s of group g at [j*step + s*stride + g*jump] of each array. There
   are groups*systems of them, and g*systems + s is a system's index. groups left 0 is one group; a batch of no systems
   has systems 0. step, stride and jump may be negative; no two elements may coincide. trid_lines of trid/batch.h has
   the same fields. */
typedef struct {
    long long n, step, systems, stride, groups, jump;
} cpu_avx_lines;

/* Solves   systems one after another, rows of a system neighbours in memory */
CPU_AVX_API cpu_avx_lines cpu_avx_lines_contiguous(long long n, long long systems)
{
    cpu_avx_lines lines = {n, 1, systems, n, 1, 0};
    return lines;
}

/* Solves   row 0 of all systems, then row 1 of all systems, ... */
CPU_AVX_API cpu_avx_lines cpu_avx_lines_interleaved(long long n, long long systems)
{
    cpu_avx_lines lines = {n, systems, systems, 1, 1, 0};
    return lines;
}

/* Solves   the lines of an nx*ny*nz array, x fastest, along axis 0 (x), 1 (y) or 2 (z); any other axis is no lines,
            which are a bad argument */
CPU_AVX_API cpu_avx_lines cpu_avx_lines_axis(long long nx, long long ny, long long nz, int axis)
{
    /* y: groups 0 would be one group */
    cpu_avx_lines x = {nx, 1, ny * nz, nx, 1, 0}, y = {ny, nx, nz ? nx : 0, 1, nz, nx * ny};
    cpu_avx_lines z = {nz, nx * ny, nx * ny, 1, 1, 0}, none = {-1, 0, 0, 0, 0, 0};
    return axis == 0 ? x : axis == 1 ? y : axis == 2 ? z : none;
}

#define CPU_AVX_FACTOR_LEN(n) (3 * (size_t)(n)) /* elements of cpu_avx_factor's f */

/* The status of a failure at this index. */
CPU_AVX_API int cpu_avx_p_failed(long long index)
{
    return index < INT_MAX ? (int)index + 1 : INT_MAX;
}

/* Systems are solved tile by tile: some of one group, side by side. While one tile is substituted back, from its last
   row to its first, the next is eliminated, from its first row to its last, so that memory is read and written all the
   time; a row of the one takes the place in the store that a row of the other has just left. */
typedef struct {
    cpu_avx_lines lines;
    long long tiles, per_group; /* how many in all and in a group */
    long long width;            /* systems in a tile */
    int kind;                   /* what a tile is made of, one of the following */
    long long n, pitch;         /* of its rows: elements, and from one to the next */
    int stream;                 /* x past the caches */
    int copied;                 /* sections: the systems, before and after */
    int refined;                /* sections: by a second solve, of the residual */
} cpu_avx_p_plan;
enum {
    CPU_AVX_P_LINES,    /* lines side by side */
    CPU_AVX_P_SYSTEMS,  /* 2W rows to be transposed, each a system */
    CPU_AVX_P_SECTIONS, /* each a section of a system, W of them one system, and W another */
    CPU_AVX_P_HALVES,   /* each a section of the same system */
    CPU_AVX_P_NUMBERS   /* a system, solved without vectors */
};

/* Tile t: element j of its first system at offset + j*step. */
typedef struct {
    long long first;  /* index of its first system */
    ptrdiff_t offset; /* of element 0 */
    ptrdiff_t side;   /* from its first W rows to the others */
    int lanes;        /* lines or rows; 0: no tile */
} cpu_avx_p_tile;

/* Where system s of all begins. */
CPU_AVX_API ptrdiff_t cpu_avx_p_system_at(const cpu_avx_lines *lines, long long s)
{
    if (lines->groups == 1) return (ptrdiff_t)(s * lines->stride); /* two divisions are as slow as some rows */
    return (ptrdiff_t)(s / lines->systems * lines->jump + s % lines->systems * lines->stride);
}

CPU_AVX_API cpu_avx_p_tile cpu_avx_p_tile_at(const cpu_avx_p_plan *plan, long long t, long long from, long long to)
{
    cpu_avx_p_tile tile = {0, 0, 0, 0};
    if (t < from || t >= to) return tile;
    const cpu_avx_lines *lines = &plan->lines;
    const long long half = plan->width / 2; /* of 2W rows */
    if (plan->kind >= CPU_AVX_P_SECTIONS) {
        const int two = plan->kind == CPU_AVX_P_SECTIONS;
        tile.first = t * (1 + two);
        tile.offset = cpu_avx_p_system_at(lines, tile.first);
        tile.lanes = (int)plan->width;
        if (!two)
            tile.side = (ptrdiff_t)(half * plan->pitch);
        else if (tile.first + 1 < lines->systems * lines->groups) /* else both are the last one */
            tile.side = cpu_avx_p_system_at(lines, tile.first + 1) - tile.offset;
        return tile;
    }
    long long group = t / plan->per_group, system = t % plan->per_group * plan->width, left = lines->systems - system;
    tile.first = group * lines->systems + system;
    tile.offset = (ptrdiff_t)(group * lines->jump + system * lines->stride);
    tile.side = (ptrdiff_t)(half * plan->pitch);
    tile.lanes = (int)(left < plan->width ? left : plan->width);
    return tile;
}

/* CPU_AVX_STREAM_BYTES   affects cpu_avx_thomas, cpu_avx_solve and cpu_avx_hybrid where x is not d, the first two in
                          place, too, where rows of systems side by side are far apart; cpu_avx_grid_explicit2 and
                          _implicit2: results of this size and more are stored past the caches, where their alignment
                          allows. Issue: they are wanted again at once, and would have stayed in the last-level cache.
                          Symptoms if too small: what reads them next is slow
   CPU_AVX_GRID_CACHE     affects cpu_avx_grid_explicit2 and cpu_avx_grid_bytes: bytes of the six planes of rows that a
                          thread wants to find in its own cache. Symptoms if too large: the planes come from a cache
                          further away; if too small: many rows at the edges of blocks are made twice */
#ifndef CPU_AVX_STREAM_BYTES
#define CPU_AVX_STREAM_BYTES (8 * 1024 * 1024)
#endif
#ifndef CPU_AVX_GRID_CACHE
#define CPU_AVX_GRID_CACHE (1024 * 1024)
#endif

/* Bytes of a row of a tile, at most: wide, as each row may lie on another page; and of its store: those of the
   second-level cache. What is to be read of all arrays is fetched so many bytes ahead, in the order in which it is
   read. */
enum { CPU_AVX_P_ROW_BYTES = 2048, CPU_AVX_P_STORE_BYTES = 1 << 20, CPU_AVX_P_FETCH_BYTES = 6144 };

/* Are numbers faster than vectors? So few systems a thread leave most lanes of a tile idle; and what a tile keeps of
   contiguous systems of so many bytes is more than the second-level cache. */
enum { CPU_AVX_P_FEW_SYSTEMS = 6, CPU_AVX_P_LONG_BYTES = 1 << 17 };
CPU_AVX_API int cpu_avx_p_in_numbers(const cpu_avx_lines *lines, int threads, int size)
{
    return lines->systems * lines->groups <= (long long)CPU_AVX_P_FEW_SYSTEMS * threads ||
           (lines->step == 1 && lines->n >= CPU_AVX_P_LONG_BYTES / size);
}

/* Options that explicit2 takes in turn, at most, and their bytes: well within the first-level cache. */
enum { CPU_AVX_P_TURNS = 8, CPU_AVX_P_TURN_BYTES = 24 * 1024 };

/* Asks for the line at p; any address will do. _PREFETCH: in the second-level cache; _NEAR: in the first as well. None
   asks for the first alone (prefetchnta): on Intel's processors that halves the speed of batches. */
#ifdef __GNUC__
#define CPU_AVX_P_PREFETCH(p) __builtin_prefetch(p, 0, 2)
#define CPU_AVX_P_PREFETCH_NEAR(p) __builtin_prefetch(p, 0, 3)
#else
#define CPU_AVX_P_PREFETCH(p) ((void)(p))
#define CPU_AVX_P_PREFETCH_NEAR(p) ((void)(p))
#endif

/* Systems side by side in a tile, where they lie so: what the second-level cache holds of them. */
CPU_AVX_API long long cpu_avx_p_width(long long n, int size)
{
    long long bytes = CPU_AVX_P_ROW_BYTES;
    while (bytes > 128 && 2 * n * bytes > CPU_AVX_P_STORE_BYTES) bytes /= 2;
    return bytes / size;
}

/* Copies a caller's lines, with one group where groups was left 0. Returns 0 for lines that cannot be. */
CPU_AVX_API int cpu_avx_p_lines_of(const cpu_avx_lines *given, cpu_avx_lines *lines)
{
    if (!given || given->n < 0 || given->systems < 0 || given->groups < 0) return 0;
    *lines = *given;
    if (!lines->groups) lines->groups = 1;
    if (!lines->n || !lines->systems) return 1;
    /* A step that was left 0 puts all rows in one place. */
    return (lines->n == 1 || lines->step) && (lines->systems == 1 || lines->stride) &&
           (lines->groups == 1 || lines->jump);
}
/* Where part i of parts begins. */
CPU_AVX_API long long cpu_avx_p_part(long long count, int parts, int i)
{
    if (parts == 1) return i * count;
    return count / parts * i + (i < count % parts ? i : count % parts);
}

/* The same systems in as few groups as possible. */
CPU_AVX_API cpu_avx_lines cpu_avx_p_join_groups(cpu_avx_lines lines)
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

/* ---- one factor, all precisions ---------------------------------------------------------------------------------- */

enum {
    CPU_AVX_P_REACH = 32,      /* largest H of composed steps; */
    CPU_AVX_P_FAST_REACH = 16, /* the largest whose sums are kept in registers */
    CPU_AVX_P_GROUPS = 2       /* chains of eliminations side by side */
};

CPU_AVX_API int cpu_avx_p_most(int a, int b)
{
    return a > b ? a : b;
}

/* The H of a sweep that does what one of H does: those that are made for registers, the others as they are. */
CPU_AVX_API int cpu_avx_p_reach(int H)
{
    return H <= 8 ? H : H <= 12 ? 12 : H <= 16 ? 16 : H;
}
/* The body below, once for each precision; it includes itself once more for each instruction set. */
#define CPU_AVX_P_PASTE(a, b, c) a##b##c
#define CPU_AVX_P_JOIN(a, b, c) CPU_AVX_P_PASTE(a, b, c)
#define CPU_AVX_P_PASTE_NAME(stem, set, precision) stem##_##set##_##precision
#define CPU_AVX_P_NAME(stem, set, precision) CPU_AVX_P_PASTE_NAME(stem, set, precision)

/* A user's code for all sets: written once, compiled for set after set with CPU_AVX_SET and CPU_AVX_PRECISION defined
   (examples/cpu_own_kernel.c):
     CPU_AVX(add)           the header's function, type or number for the set: cpu_avx_add_avx2_f32
     CPU_AVX_OWN(smooth)    a name for the user's own: smooth_avx2_f32
     CPU_AVX_HERE           the attribute of the set, which each function that calls the header's must have
   and called by
     CPU_AVX_PICK(isa, result =, smooth, f32, (arguments));    the one for isa; "result =" may be empty
   __m256 being __m256 in AVX as in AVX2, overloaded names could not tell one set from the other. */
#define CPU_AVX(stem) CPU_AVX_P_NAME(cpu_avx_##stem, CPU_AVX_SET, CPU_AVX_PRECISION)
#define CPU_AVX_OWN(stem) CPU_AVX_P_NAME(stem, CPU_AVX_SET, CPU_AVX_PRECISION)
#define CPU_AVX_HERE CPU_AVX_P_JOIN(CPU_AVX_TARGET, _, CPU_AVX_SET)

/* result = the function of this stem for the instruction set isa (arguments). */
#if CPU_AVX_X86
#define CPU_AVX_PICK(isa, result, stem, precision, arguments)                                                          \
    do {                                                                                                               \
        if ((isa) == CPU_AVX_AVX512)                                                                                   \
            result CPU_AVX_P_NAME(stem, avx512, precision) arguments;                                                  \
        else if ((isa) == CPU_AVX_AVX2)                                                                                \
            result CPU_AVX_P_NAME(stem, avx2, precision) arguments;                                                    \
        else if ((isa) == CPU_AVX_AVX)                                                                                 \
            result CPU_AVX_P_NAME(stem, avx, precision) arguments;                                                     \
        else                                                                                                           \
            result CPU_AVX_P_NAME(stem, plain, precision) arguments;                                                   \
    } while (0)
#elif CPU_AVX_ARM
#define CPU_AVX_PICK(isa, result, stem, precision, arguments)                                                          \
    do {                                                                                                               \
        if ((isa) == CPU_AVX_NEON)                                                                                     \
            result CPU_AVX_P_NAME(stem, neon, precision) arguments;                                                    \
        else                                                                                                           \
            result CPU_AVX_P_NAME(stem, plain, precision) arguments;                                                   \
    } while (0)
#else
#define CPU_AVX_PICK(isa, result, stem, precision, arguments)                                                          \
    do {                                                                                                               \
        (void)(isa);                                                                                                   \
        result CPU_AVX_P_NAME(stem, plain, precision) arguments;                                                       \
    } while (0)
#endif
/* The same in the precision at hand, and for a march. */
#define CPU_AVX_P_PICK(isa, result, stem, arguments) CPU_AVX_PICK(isa, result, stem, CPU_AVX_P_PRECISION, arguments)
#define CPU_AVX_P_PICK_MARCH(isa, result, stem, arguments)                                                             \
    do {                                                                                                               \
        const unsigned mode = cpu_avx_p_flush(isa);                                                                    \
        CPU_AVX_P_PICK(isa, result, stem, arguments);                                                                  \
        cpu_avx_p_restore(isa, mode);                                                                                  \
    } while (0)

#ifdef __NVCC__ /* which hands the pragma on to gcc, which knows it */
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif

#define CPU_AVX_P_REAL float
#define CPU_AVX_P_PRECISION f32
#define CPU_AVX_P_SIZE 4
#include CPU_AVX_HEADER
#undef CPU_AVX_P_REAL
#undef CPU_AVX_P_PRECISION
#undef CPU_AVX_P_SIZE

#define CPU_AVX_P_REAL double
#define CPU_AVX_P_PRECISION f64
#define CPU_AVX_P_SIZE 8
#include CPU_AVX_HEADER
#undef CPU_AVX_P_REAL
#undef CPU_AVX_P_PRECISION
#undef CPU_AVX_P_SIZE

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif

#pragma pop_macro("B")
#pragma pop_macro("H")
#pragma pop_macro("HALF")
#pragma pop_macro("K")
#pragma pop_macro("L")
#pragma pop_macro("P")
#pragma pop_macro("Q")
#pragma pop_macro("R")
#pragma pop_macro("ROW")
#pragma pop_macro("SEEN")
#pragma pop_macro("SLOT")
#pragma pop_macro("SOME")
#pragma pop_macro("WEIGHT")
#pragma pop_macro("W")

#endif /* CPU_AVX_H */
#else  /* CPU_AVX_P_REAL: the body */

#ifndef CPU_AVX_P_SET /* once for each precision: what all instruction sets share */

#define CPU_AVX_R CPU_AVX_P_REAL
#define CPU_AVX_F(stem) CPU_AVX_P_JOIN(stem, _, CPU_AVX_P_PRECISION)

/* The bits of x without its sign, and those of an infinity: so -ffast-math does not matter. */
#if CPU_AVX_P_SIZE == 4
#define CPU_AVX_P_BITS uint32_t
#define CPU_AVX_P_INFINITY 0xff000000u
#else
#define CPU_AVX_P_BITS uint64_t
#define CPU_AVX_P_INFINITY 0xffe0000000000000u
#endif
CPU_AVX_P_INLINE CPU_AVX_P_BITS CPU_AVX_F(cpu_avx_p_magnitude)(CPU_AVX_R x)
{
    CPU_AVX_P_BITS bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1;
}
CPU_AVX_API int CPU_AVX_F(cpu_avx_p_finite)(CPU_AVX_R x)
{
    return CPU_AVX_F(cpu_avx_p_magnitude)(x) < CPU_AVX_P_INFINITY;
}

/* Lanes of a vector of the instruction set, one that this kind of processor has. */
CPU_AVX_API int CPU_AVX_F(cpu_avx_width)(int isa)
{
    const int bytes = CPU_AVX_ARM ? 16 : 32;
    return isa == CPU_AVX_AVX512 ? 64 / CPU_AVX_P_SIZE : isa == CPU_AVX_PLAIN ? 4 : bytes / CPU_AVX_P_SIZE;
}

/* ---- tridiagonal systems ----------------------------------------------------------------------------------------- */

CPU_AVX_API int CPU_AVX_F(cpu_avx_p_bad)(CPU_AVX_R pivot, CPU_AVX_R reciprocal)
{
    return pivot == 0 || reciprocal == 0 || !CPU_AVX_F(cpu_avx_p_finite)(pivot) ||
           !CPU_AVX_F(cpu_avx_p_finite)(reciprocal);
}

/* Solves   the part of the Thomas algorithm that depends on the matrix alone: a[j] x[j-1] + b[j] x[j] + c[j] x[j+1]
   Needs    f of CPU_AVX_FACTOR_LEN(n) elements; a[0] and c[n-1] are not read
   Leaves   in f three arrays of n, l, r and q, for y[j] = r[j] d[j] - l[j] y[j-1], x[j] = y[j] - q[j] x[j+1]
   Returns  0, CPU_AVX_BAD_ARGUMENT, or 1 + the first row with a bad pivot (INT_MAX if it is larger)
   Cost     n divisions, 2n mul, n FMA; plain C, no thread */
CPU_AVX_API int CPU_AVX_F(cpu_avx_factor)(long long n, const CPU_AVX_R *a, const CPU_AVX_R *b, const CPU_AVX_R *c,
                                          CPU_AVX_R *f)
{
    if (n < 0 || (n > 0 && (!a || !b || !c || !f))) return CPU_AVX_BAD_ARGUMENT;
    CPU_AVX_R *l = f, *r = f + n, *q = f + 2 * n;
    for (long long j = 0; j < n; j++) {
        CPU_AVX_R pivot = j > 0 ? b[j] - a[j] * q[j - 1] : b[j];
        r[j] = 1 / pivot;
        l[j] = j > 0 ? a[j] * r[j] : 0;
        q[j] = j < n - 1 ? c[j] * r[j] : 0;
        if (CPU_AVX_F(cpu_avx_p_bad)(pivot, r[j])) return cpu_avx_p_failed(j);
    }
    return CPU_AVX_OK;
}

/* The arrays of a batch; without a matrix for each system, f holds the one for all. */
typedef struct {
    const CPU_AVX_R *a, *b, *c, *d, *f;
    CPU_AVX_R *x;
} CPU_AVX_F(cpu_avx_p_batch);

/* Is x stored past the caches? If its rows, so many elements apart, lie alike within lines of the cache, and it is more
   than they hold. */
CPU_AVX_API int CPU_AVX_F(cpu_avx_p_streams)(const cpu_avx_lines *lines, const CPU_AVX_F(cpu_avx_p_batch) * batch,
                                             long long apart)
{
    return (uintptr_t)batch->x % 64 == 0 && apart % (64 / CPU_AVX_P_SIZE) == 0 &&
           (double)lines->n * (double)lines->systems * (double)lines->groups * CPU_AVX_P_SIZE >= CPU_AVX_STREAM_BYTES;
}

CPU_AVX_API cpu_avx_p_plan CPU_AVX_F(cpu_avx_p_plan_for)(int isa, const cpu_avx_lines *lines,
                                                         const CPU_AVX_F(cpu_avx_p_batch) * batch, int threads)
{
    cpu_avx_p_plan plan;
    long long W = CPU_AVX_F(cpu_avx_width)(isa), line = 64 / CPU_AVX_P_SIZE;
    plan.lines = cpu_avx_p_join_groups(*lines);
    if (cpu_avx_p_in_numbers(lines, threads, CPU_AVX_P_SIZE)) {
        const long long systems = plan.lines.systems * plan.lines.groups;
        const cpu_avx_p_plan single = {plan.lines, systems, systems, 1, CPU_AVX_P_NUMBERS, lines->n, 0, 0, 0, 0};
        return single;
    }
    plan.kind = plan.lines.step == 1 && plan.lines.stride != 1 ? CPU_AVX_P_SYSTEMS : CPU_AVX_P_LINES;
    plan.n = lines->n;
    plan.pitch = plan.lines.stride;
    plan.copied = plan.refined = 0;
    const int rows = plan.kind == CPU_AVX_P_SYSTEMS;
    plan.width = rows ? 2 * W : plan.lines.stride != 1 ? W : cpu_avx_p_width(lines->n, CPU_AVX_P_SIZE);
    for (;;) { /* narrower, where there would be too few tiles for the threads */
        plan.per_group = (plan.lines.systems - 1) / plan.width + 1;
        plan.tiles = plan.per_group * plan.lines.groups;
        if (rows || plan.width <= line || plan.tiles >= 4LL * threads) break;
        plan.width /= 2;
    }
    const long long apart =
        (rows ? plan.lines.stride : plan.lines.step) | (plan.lines.groups > 1 ? plan.lines.jump : 0);
    /* In place, what lies together is still in the cache when it is written, a tile after it was read; rows far apart,
       which share few places there, are not. */
    plan.stream = (batch->x != batch->d || (!rows && plan.lines.step > plan.width)) &&
                  CPU_AVX_F(cpu_avx_p_streams)(lines, batch, apart);
    return plan;
}

/* For systems across lanes: two at once, or a long one alone, whose tile leaves the first-level cache room, unless only
   two at once are whole tiles. What is not K rows in each lane, one after another, is to be copied. */
CPU_AVX_API cpu_avx_p_plan CPU_AVX_F(cpu_avx_p_plan_across)(int isa, const cpu_avx_lines *lines,
                                                            const CPU_AVX_F(cpu_avx_p_batch) * batch, int refined)
{
    cpu_avx_p_plan plan;
    const long long n = lines->n, W = CPU_AVX_F(cpu_avx_width)(isa), systems = lines->systems * lines->groups;
    const int whole = n % (W * W) == 0, even = n % (2 * W * (whole ? W : 1)) == 0;
    const int halves = n / W >= 2 * W && (even || n % W != 0);
    plan.lines = *lines;
    plan.kind = halves ? CPU_AVX_P_HALVES : CPU_AVX_P_SECTIONS;
    plan.n = plan.pitch = (n - 1) / (halves ? 2 * W : W) + 1;
    plan.width = 2 * W;
    plan.tiles = plan.per_group = halves ? systems : (systems - 1) / 2 + 1;
    plan.refined = refined;
    plan.copied = refined || lines->step != 1 || n % (halves ? 2 * W : W) != 0;
    plan.stream = !plan.copied && batch->x != batch->d &&
                  CPU_AVX_F(cpu_avx_p_streams)(lines, batch, plan.pitch | lines->stride | lines->jump);
    return plan;
}

/* ---- one factor: what all instruction sets share ----------------------------------------------------------------- */

/* A batch that marches: the arguments of an array function. H is 0 but for composed steps, whose bands are in a. */
typedef struct {
    int n, steps, H;
    const CPU_AVX_R *a, *b, *c;
    CPU_AVX_R *u;
} CPU_AVX_F(cpu_avx_p_march);

/* Elements that hold n rows as sections of at least so many each, whatever the vector. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_p_sections_len)(size_t n, size_t least)
{
    return n + (least + 1) * (64 / CPU_AVX_P_SIZE);
}

/* Bytes of a thread's work. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_p_explicit_share)(int n, int H)
{
    const size_t W = 64 / CPU_AVX_P_SIZE, rows = n > 0 ? (size_t)n : 0;
    if (H > 0) { /* band, values, and sums of K + 2H rows */
        size_t reach = (size_t)cpu_avx_p_reach(H), sections = CPU_AVX_F(cpu_avx_p_sections_len)(rows, reach);
        return ((2 * reach + 3) * sections + 2 * reach * W) * sizeof(CPU_AVX_R) + 64;
    }
    return 5 * (rows + 2) * W * sizeof(CPU_AVX_R) + 64; /* a row of W options is 5 vectors; enough for explicit2 too */
}
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_p_implicit_share)(int n)
{
    const size_t W = 64 / CPU_AVX_P_SIZE, rows = n > 0 ? (size_t)n : 0;
    size_t sections = 12 * CPU_AVX_F(cpu_avx_p_sections_len)(rows, 1) + 3 * rows,
           lanes = CPU_AVX_P_GROUPS * 5 * rows * W;
    return (lanes > sections ? lanes : sections) * sizeof(CPU_AVX_R) + 64;
}

CPU_AVX_API int CPU_AVX_F(cpu_avx_p_refused)(int isa, int options, int threads, const CPU_AVX_F(cpu_avx_p_march) * m,
                                             const void *work)
{
    if (options < 0 || m->n < 0 || m->steps < 0 || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (options > INT_MAX - 64 || m->n > INT_MAX - 64) return CPU_AVX_BAD_ARGUMENT;
    if (options > 0 && m->n > 0 && (!m->a || !m->b || !m->c || !m->u || !work)) return CPU_AVX_BAD_ARGUMENT;
    return cpu_avx_has(isa) ? CPU_AVX_OK : CPU_AVX_BAD_ISA;
}

/* ---- three factors: the operator on a grid ----------------------------------------------------------------------- */

/* The operator L on a grid of nx by ny by nz points, at least 4 on each axis; point (i, j, k) lies at
   [i + pitch (j + ny k)], and what rows have between nx and pitch is neither read nor written. With the differences
   E, N, U from a point to its upper neighbours on the three axes, and W, S, D from its lower neighbours to it,

     L u or u + L u = same u + up[0] E - down[0] W + up[1] N - down[1] S + up[2] U - down[2] D
                      + the cross differences of three pairs of axes; that of x and y is
                        weight[0] weight[1] (plus[0] (E_north - E + W - W_south) + minus[0] (E_south - E + W - W_north))

   The arrays of an axis have one number for each point on it. The weights of neighbours beyond the grid must be 0: down
   at 0, up at the last point, weight at both. bs3d_lane_row and bs3d_lane_pairs of bs3d.h make all of it. */
typedef struct {
    int nx, ny, nz;
    long long pitch;
    const CPU_AVX_R *down[3], *up[3], *weight[3];
    CPU_AVX_R plus[3], minus[3]; /* of x and y, x and z, y and z; all minus 0: 13 points count, else 19 */
    CPU_AVX_R same;              /* 1 - discount for explicit steps, -discount for implicit ones */
} CPU_AVX_F(cpu_avx_grid);

/* What rows need of x, followed by zeros to the end of a vector. */
typedef struct {
    const CPU_AVX_R *up, *down, *weight;
} CPU_AVX_F(cpu_avx_p_grid_x);

/* Planes k-1, k, k+1, and one to be fetched, of which rows from .. to-1 are at hand, row from at plane[]. Beyond the
   grid the nearest row or plane stands for the missing one. */
typedef struct {
    const CPU_AVX_R *plane[3], *ahead;
    ptrdiff_t pitch;
    int from, to;
} CPU_AVX_F(cpu_avx_p_grid_slab);

/* A row in the making: its neighbours south of it, itself and north of it in the three planes, and its weights. */
typedef struct {
    const CPU_AVX_R *below[3], *here[3], *above[3], *ahead;
    CPU_AVX_R *out;
    CPU_AVX_R up, down, upward, downward, xy, xz, yz, minus_xy, minus_xz, minus_yz, same;
} CPU_AVX_F(cpu_avx_p_grid_row);

/* A thread's share of a sweep: rows and planes. */
typedef struct {
    int j0, j1, k0, k1;
} CPU_AVX_F(cpu_avx_p_grid_tile);

CPU_AVX_API int CPU_AVX_F(cpu_avx_p_grid_general)(const CPU_AVX_F(cpu_avx_grid) * g)
{
    return g->minus[0] != 0 || g->minus[1] != 0 || g->minus[2] != 0;
}
CPU_AVX_API ptrdiff_t CPU_AVX_F(cpu_avx_p_grid_plane_step)(const CPU_AVX_F(cpu_avx_grid) * g)
{
    return (ptrdiff_t)g->pitch * g->ny;
}

/* Rows in work begin at multiples of 64 bytes, an odd number of them apart: not all in the same sets of a cache. */
CPU_AVX_API ptrdiff_t CPU_AVX_F(cpu_avx_p_grid_work_pitch)(const CPU_AVX_F(cpu_avx_grid) * g)
{
    const ptrdiff_t line = 64 / CPU_AVX_P_SIZE;
    return ((((ptrdiff_t)g->nx + line - 1) / line) | 1) * line;
}

/* Plane k of the grid u, and its two neighbours. */
CPU_AVX_API CPU_AVX_F(cpu_avx_p_grid_slab)
    CPU_AVX_F(cpu_avx_p_grid_slab_of)(const CPU_AVX_F(cpu_avx_grid) * g, const CPU_AVX_R *u, int k)
{
    CPU_AVX_F(cpu_avx_p_grid_slab) s;
    const ptrdiff_t plane = CPU_AVX_F(cpu_avx_p_grid_plane_step)(g);
    s.plane[0] = u + (k > 0 ? k - 1 : k) * plane;
    s.plane[1] = u + k * plane;
    s.plane[2] = u + (k < g->nz - 1 ? k + 1 : k) * plane;
    s.ahead = u + (k < g->nz - 2 ? k + 2 : k) * plane;
    s.pitch = (ptrdiff_t)g->pitch;
    s.from = 0;
    s.to = g->ny;
    return s;
}

/* Row j of plane k. The cross difference of y and z, taken as U_north - U + D - D_south, has U and D themselves, each
   once: their weights are put together here. */
CPU_AVX_API void CPU_AVX_F(cpu_avx_p_grid_row_of)(const CPU_AVX_F(cpu_avx_grid) * g,
                                                  const CPU_AVX_F(cpu_avx_p_grid_slab) * s, int j, int k,
                                                  CPU_AVX_F(cpu_avx_p_grid_row) * row)
{
    const CPU_AVX_R y = g->weight[1][j], z = g->weight[2][k];
    const int last = s->to - 1;
    const int row_at[3] = {j > s->from ? j - 1 : j, j, j < last ? j + 1 : j};
    for (int n = 0; n < 3; n++) {
        const ptrdiff_t at = (row_at[n] - s->from) * s->pitch;
        row->below[n] = s->plane[0] + at;
        row->here[n] = s->plane[1] + at;
        row->above[n] = s->plane[2] + at;
    }
    row->ahead = s->ahead + (j - s->from) * s->pitch;
    row->xy = g->plus[0] * y;
    row->xz = g->plus[1] * z;
    row->yz = g->plus[2] * y * z;
    row->minus_xy = g->minus[0] * y;
    row->minus_xz = g->minus[1] * z;
    row->minus_yz = g->minus[2] * y * z;
    row->up = g->up[1][j];
    row->down = g->down[1][j];
    row->upward = g->up[2][k] - row->yz - row->minus_yz;
    row->downward = g->down[2][k] - row->yz - row->minus_yz;
    row->same = g->same;
}

#else /* CPU_AVX_P_SET: once for each instruction set of a precision */

#define CPU_AVX_V(stem) CPU_AVX_P_NAME(stem, CPU_AVX_P_SET, CPU_AVX_P_PRECISION)

/* ---- vector scope: lanes of one register ------------------------------------------------------------------------- */

#define CPU_AVX_W (CPU_AVX_P_BYTES > 0 ? CPU_AVX_P_BYTES / CPU_AVX_P_SIZE : 4)
/* An intrinsic of the set and precision, CPU_AVX_I(add): _mm256_add_ps or vaddq_f32. Where the two kinds of processors
   have different names or orders, CPU_AVX_P_EITHER takes that of the one at hand. */
#if CPU_AVX_ARM
#define CPU_AVX_I(operation) CPU_AVX_P_JOIN(v##operation, q_, CPU_AVX_P_PRECISION)
#define CPU_AVX_P_EITHER(x86, arm) arm
#else
#if CPU_AVX_P_BYTES == 64
#define CPU_AVX_P_PREFIX _mm512_
#else
#define CPU_AVX_P_PREFIX _mm256_
#endif
#if CPU_AVX_P_SIZE == 4
#define CPU_AVX_P_SUFFIX _ps
#else
#define CPU_AVX_P_SUFFIX _pd
#endif
#define CPU_AVX_I(operation) CPU_AVX_P_JOIN(CPU_AVX_P_PREFIX, operation, CPU_AVX_P_SUFFIX)
#define CPU_AVX_P_EITHER(x86, arm) x86
#endif
/* Lanes moved. With all lanes named, since g++ 12 warns of what the plain form leaves undefined. */
#if CPU_AVX_P_MASKS
#define CPU_AVX_P_MOVE(operation, ...) CPU_AVX_I(maskz_##operation)(CPU_AVX_P_ALL, __VA_ARGS__)
#else
#define CPU_AVX_P_MOVE(operation, ...) CPU_AVX_I(operation)(__VA_ARGS__)
#endif
#if CPU_AVX_P_SIZE == 4
#define CPU_AVX_P_ALL ((__mmask16)-1)
#else
#define CPU_AVX_P_ALL ((__mmask8)-1)
#endif
#define CPU_AVX_P_HERE CPU_AVX_P_JOIN(CPU_AVX_TARGET, _, CPU_AVX_P_SET)
#define CPU_AVX_INLINE CPU_AVX_P_INLINE CPU_AVX_P_HERE
#define CPU_AVX_SLOW CPU_AVX_P_LOOP CPU_AVX_P_HERE

/* A vector of W lanes, W a literal. */
#if CPU_AVX_P_BYTES == 0
typedef struct {
    CPU_AVX_R lane[CPU_AVX_W];
} CPU_AVX_V(cpu_avx_vec);
#elif CPU_AVX_ARM && CPU_AVX_P_SIZE == 4
typedef float32x4_t CPU_AVX_V(cpu_avx_vec);
#elif CPU_AVX_ARM
typedef float64x2_t CPU_AVX_V(cpu_avx_vec);
#elif CPU_AVX_P_MASKS && CPU_AVX_P_SIZE == 4
typedef __m512 CPU_AVX_V(cpu_avx_vec);
#elif CPU_AVX_P_MASKS
typedef __m512d CPU_AVX_V(cpu_avx_vec);
#elif CPU_AVX_P_SIZE == 4
typedef __m256 CPU_AVX_V(cpu_avx_vec);
#else
typedef __m256d CPU_AVX_V(cpu_avx_vec);
#endif
enum { CPU_AVX_V(cpu_avx_lanes) = CPU_AVX_W };
#define CPU_AVX_VEC CPU_AVX_V(cpu_avx_vec)

/* In what follows v[l] is lane l of v. Plain C says it in a loop over the lanes, the other sets by one intrinsic; the
   comment is the meaning of both. */
#if CPU_AVX_P_BYTES == 0
#define CPU_AVX_P_EACH(meaning, intrinsic)                                                                             \
    CPU_AVX_VEC v;                                                                                                     \
    for (int l = 0; l < CPU_AVX_W; l++) v.lane[l] = meaning;                                                           \
    return v
#else
#define CPU_AVX_P_EACH(meaning, intrinsic) return intrinsic
#endif

CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_set)(CPU_AVX_R x) /* v[l] = x */
{
    CPU_AVX_P_EACH(x, CPU_AVX_P_EITHER(CPU_AVX_I(set1), CPU_AVX_P_JOIN(vdupq_n, _, CPU_AVX_P_PRECISION))(x));
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_load)(const CPU_AVX_R *p) /* v[l] = p[l], any alignment */
{
    CPU_AVX_P_EACH(p[l], CPU_AVX_P_EITHER(CPU_AVX_I(loadu), CPU_AVX_I(ld1))(p));
}
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_store)(CPU_AVX_R *p, CPU_AVX_VEC v) /* p[l] = v[l], any alignment */
{
#if CPU_AVX_P_BYTES == 0
    for (int l = 0; l < CPU_AVX_W; l++) p[l] = v.lane[l];
#else
    CPU_AVX_P_EITHER(CPU_AVX_I(storeu), CPU_AVX_I(st1))(p, v);
#endif
}
/* p[l] = v[l] past the caches (not in NEON), p aligned to the vector; cpu_avx_fence before another thread reads it. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_stream)(CPU_AVX_R *p, CPU_AVX_VEC v)
{
#if CPU_AVX_P_BYTES == 0 || CPU_AVX_ARM
    CPU_AVX_V(cpu_avx_store)(p, v);
#else
    CPU_AVX_I(stream)(p, v);
#endif
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_add)(CPU_AVX_VEC a, CPU_AVX_VEC b) /* a[l] + b[l] */
{
    CPU_AVX_P_EACH(a.lane[l] + b.lane[l], CPU_AVX_I(add)(a, b));
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_sub)(CPU_AVX_VEC a, CPU_AVX_VEC b) /* a[l] - b[l] */
{
    CPU_AVX_P_EACH(a.lane[l] - b.lane[l], CPU_AVX_I(sub)(a, b));
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_mul)(CPU_AVX_VEC a, CPU_AVX_VEC b) /* a[l] b[l] */
{
    CPU_AVX_P_EACH(a.lane[l] * b.lane[l], CPU_AVX_I(mul)(a, b));
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_div)(CPU_AVX_VEC a, CPU_AVX_VEC b) /* a[l] / b[l] */
{
    CPU_AVX_P_EACH(a.lane[l] / b.lane[l], CPU_AVX_I(div)(a, b));
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_min)(CPU_AVX_VEC a, CPU_AVX_VEC b) /* a[l] < b[l] ? a[l] : b[l] */
{
    CPU_AVX_P_EACH(a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l],
                   CPU_AVX_P_EITHER(CPU_AVX_I(min)(a, b), CPU_AVX_I(bsl)(CPU_AVX_I(clt)(a, b), a, b)));
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_max)(CPU_AVX_VEC a, CPU_AVX_VEC b) /* a[l] > b[l] ? a[l] : b[l] */
{
    CPU_AVX_P_EACH(a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l],
                   CPU_AVX_P_EITHER(CPU_AVX_I(max)(a, b), CPU_AVX_I(bsl)(CPU_AVX_I(cgt)(a, b), a, b)));
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_sqrt)(CPU_AVX_VEC a) /* the square root of a[l], rounded once */
{
    CPU_AVX_P_EACH((CPU_AVX_R)sqrt(a.lane[l]), CPU_AVX_P_MOVE(sqrt, a));
}
/* x[l] < y[l] ? a[l] : b[l] */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_select)(CPU_AVX_VEC x, CPU_AVX_VEC y, CPU_AVX_VEC a, CPU_AVX_VEC b)
{
#if CPU_AVX_P_MASKS && CPU_AVX_P_SIZE == 4
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), b, a);
#elif CPU_AVX_P_MASKS
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, y, _CMP_LT_OQ), b, a);
#else
    CPU_AVX_P_EACH(x.lane[l] < y.lane[l] ? a.lane[l] : b.lane[l],
                   CPU_AVX_P_EITHER(CPU_AVX_I(blendv)(b, a, CPU_AVX_I(cmp)(x, y, _CMP_LT_OQ)),
                                    CPU_AVX_I(bsl)(CPU_AVX_I(clt)(x, y), a, b)));
#endif
}
/* a[l] b[l] + c[l]; rounded once in AVX2, AVX-512 and NEON, elsewhere twice unless the compiler fuses the two. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_fma)(CPU_AVX_VEC a, CPU_AVX_VEC b, CPU_AVX_VEC c)
{
#if CPU_AVX_P_BYTES > 0 && !CPU_AVX_P_HAS_FMA
    return CPU_AVX_I(add)(CPU_AVX_I(mul)(a, b), c);
#else
    CPU_AVX_P_EACH(a.lane[l] * b.lane[l] + c.lane[l],
                   CPU_AVX_P_EITHER(CPU_AVX_I(fmadd)(a, b, c), CPU_AVX_I(fma)(c, a, b)));
#endif
}
/* c[l] - a[l] b[l], rounded as fma. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_VEC a, CPU_AVX_VEC b, CPU_AVX_VEC c)
{
#if CPU_AVX_P_BYTES > 0 && !CPU_AVX_P_HAS_FMA
    return CPU_AVX_I(sub)(c, CPU_AVX_I(mul)(a, b));
#else
    CPU_AVX_P_EACH(c.lane[l] - a.lane[l] * b.lane[l],
                   CPU_AVX_P_EITHER(CPU_AVX_I(fnmadd)(a, b, c), CPU_AVX_I(fms)(c, a, b)));
#endif
}

#if CPU_AVX_P_BYTES == 32
CPU_AVX_INLINE __m256i CPU_AVX_V(cpu_avx_p_first)(int n) /* all bits of the first n lanes */
{
    static const int bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(bits + 8 - n * (CPU_AVX_P_SIZE / 4)));
}
#endif
/* v[l] = p[l] for l < n, else 0: what lies beyond is not touched; 0 <= n <= W. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_load_part)(const CPU_AVX_R *p, int n)
{
#if CPU_AVX_P_MASKS && CPU_AVX_P_SIZE == 4
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif CPU_AVX_P_MASKS
    return _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
#elif CPU_AVX_P_BYTES > 0 && CPU_AVX_ARM
    CPU_AVX_VEC v = CPU_AVX_V(cpu_avx_set)(0);
    CPU_AVX_P_UNROLL /* a loop of n rounds would become a call of memcpy */
    for (int l = 0; l < CPU_AVX_W; l++)
        if (l < n) v[l] = p[l];
    return v;
#else
    CPU_AVX_P_EACH(l < n ? p[l] : 0, CPU_AVX_I(maskload)(p, CPU_AVX_V(cpu_avx_p_first)(n)));
#endif
}
/* p[l] = v[l] for l < n. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_store_part)(CPU_AVX_R *p, int n, CPU_AVX_VEC v)
{
#if CPU_AVX_P_BYTES == 0
    for (int l = 0; l < n; l++) p[l] = v.lane[l];
#elif CPU_AVX_P_MASKS && CPU_AVX_P_SIZE == 4
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v);
#elif CPU_AVX_P_MASKS
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), v);
#elif CPU_AVX_ARM
    CPU_AVX_P_UNROLL
    for (int l = 0; l < CPU_AVX_W; l++)
        if (l < n) p[l] = v[l];
#else
    CPU_AVX_I(maskstore)(p, CPU_AVX_V(cpu_avx_p_first)(n), v);
#endif
}

/* Lanes of two vectors one after another, a then b, of which the result takes those from W - s on (up) or from s on
   (down), s a literal, 0 < s < W.
     up    l >= s ? b[l - s] : a[W - s + l]       the neighbour s lanes below; a is what lies below b
     down  l < W - s ? a[l + s] : b[l - W + s]    the neighbour s lanes above; b is what lies above a */
#if CPU_AVX_P_BYTES == 0
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_down)(CPU_AVX_VEC a, CPU_AVX_VEC b, int s)
{
    CPU_AVX_P_EACH((l < CPU_AVX_W - s ? a : b).lane[(l + s) & (CPU_AVX_W - 1)], );
}
#elif CPU_AVX_P_MASKS || CPU_AVX_ARM
#if CPU_AVX_ARM
#define CPU_AVX_P_ALIGN(a, b, s)                                                                                       \
    case s:                                                                                                            \
        return CPU_AVX_I(ext)(a, b, s)
#elif CPU_AVX_P_SIZE == 4
#define CPU_AVX_P_ALIGN(a, b, s)                                                                                       \
    case s:                                                                                                            \
        return _mm512_castsi512_ps(                                                                                    \
            _mm512_maskz_alignr_epi32(CPU_AVX_P_ALL, _mm512_castps_si512(b), _mm512_castps_si512(a), s))
#else
#define CPU_AVX_P_ALIGN(a, b, s)                                                                                       \
    case s:                                                                                                            \
        return _mm512_castsi512_pd(                                                                                    \
            _mm512_maskz_alignr_epi64(CPU_AVX_P_ALL, _mm512_castpd_si512(b), _mm512_castpd_si512(a), s))
#endif
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_down)(CPU_AVX_VEC a, CPU_AVX_VEC b, int s)
{
    switch (s) { /* without optimisation, too, the instruction wants a number */
        CPU_AVX_P_ALIGN(a, b, 1);
#if CPU_AVX_W > 2
        CPU_AVX_P_ALIGN(a, b, 2);
        CPU_AVX_P_ALIGN(a, b, 3);
#endif
#if CPU_AVX_W > 4
        CPU_AVX_P_ALIGN(a, b, 4);
        CPU_AVX_P_ALIGN(a, b, 5);
        CPU_AVX_P_ALIGN(a, b, 6);
        CPU_AVX_P_ALIGN(a, b, 7);
#endif
#if CPU_AVX_W > 8
        CPU_AVX_P_ALIGN(a, b, 8);
        CPU_AVX_P_ALIGN(a, b, 9);
        CPU_AVX_P_ALIGN(a, b, 10);
        CPU_AVX_P_ALIGN(a, b, 11);
        CPU_AVX_P_ALIGN(a, b, 12);
        CPU_AVX_P_ALIGN(a, b, 13);
        CPU_AVX_P_ALIGN(a, b, 14);
        CPU_AVX_P_ALIGN(a, b, 15);
#endif
    }
    return a;
}
#undef CPU_AVX_P_ALIGN
#else
/* The middle of both: a's upper and b's lower half. A shift by less than a half then stays within halves. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_middle)(CPU_AVX_VEC a, CPU_AVX_VEC b)
{
    return CPU_AVX_P_JOIN(_mm256_permute2f128, CPU_AVX_P_SUFFIX, )(a, b, 0x21);
}
/* In each half, lanes of low and then high, from s on. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_halves)(CPU_AVX_VEC low, CPU_AVX_VEC high, int s)
{
#if CPU_AVX_P_SIZE == 8
    (void)s; /* 1 */
    return _mm256_shuffle_pd(low, high, 5);
#elif CPU_AVX_P_BYTES == 32 && CPU_AVX_P_CROSSES
    __m256i x = _mm256_castps_si256(low), y = _mm256_castps_si256(high);
    return _mm256_castsi256_ps(s == 1   ? _mm256_alignr_epi8(y, x, 4)
                               : s == 2 ? _mm256_alignr_epi8(y, x, 8)
                                        : _mm256_alignr_epi8(y, x, 12));
#else
    if (s == 2) return _mm256_shuffle_ps(low, high, _MM_SHUFFLE(1, 0, 3, 2));
    __m256 ends = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(0, 0, 3, 3)); /* low's last and high's first, twice each */
    return s == 1 ? _mm256_shuffle_ps(low, ends, _MM_SHUFFLE(2, 0, 2, 1))
                  : _mm256_shuffle_ps(ends, high, _MM_SHUFFLE(2, 1, 2, 0));
#endif
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_down)(CPU_AVX_VEC a, CPU_AVX_VEC b, int s)
{
    enum { HALF = CPU_AVX_W / 2 };
    CPU_AVX_VEC middle = CPU_AVX_V(cpu_avx_p_middle)(a, b);
    return s == HALF  ? middle
           : s < HALF ? CPU_AVX_V(cpu_avx_p_halves)(a, middle, s)
                      : CPU_AVX_V(cpu_avx_p_halves)(middle, b, s - HALF);
}
#endif
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_up)(CPU_AVX_VEC a, CPU_AVX_VEC b, int s)
{
    return CPU_AVX_V(cpu_avx_down)(a, b, CPU_AVX_W - s);
}

/* The sum of all v[l], by halves: log2 W shuffles and as many additions. */
CPU_AVX_INLINE CPU_AVX_R CPU_AVX_V(cpu_avx_sum)(CPU_AVX_VEC v)
{
    CPU_AVX_R lane[CPU_AVX_W];
    if (CPU_AVX_W > 8) v = CPU_AVX_V(cpu_avx_add)(v, CPU_AVX_V(cpu_avx_down)(v, v, CPU_AVX_W > 8 ? 8 : 1));
    if (CPU_AVX_W > 4) v = CPU_AVX_V(cpu_avx_add)(v, CPU_AVX_V(cpu_avx_down)(v, v, CPU_AVX_W > 4 ? 4 : 1));
    if (CPU_AVX_W > 2) v = CPU_AVX_V(cpu_avx_add)(v, CPU_AVX_V(cpu_avx_down)(v, v, CPU_AVX_W > 2 ? 2 : 1));
    v = CPU_AVX_V(cpu_avx_add)(v, CPU_AVX_V(cpu_avx_down)(v, v, 1));
    CPU_AVX_V(cpu_avx_store)(lane, v);
    return lane[0];
}

/* v[(l - 1) mod W] and v[(l + 1) mod W]. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_rotate_up)(CPU_AVX_VEC v)
{
#if CPU_AVX_P_BYTES == 32 && CPU_AVX_P_CROSSES && CPU_AVX_P_SIZE == 4
    return _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
#elif CPU_AVX_P_BYTES == 32 && CPU_AVX_P_CROSSES
    return _mm256_permute4x64_pd(v, _MM_SHUFFLE(2, 1, 0, 3));
#else
    return CPU_AVX_V(cpu_avx_up)(v, v, 1);
#endif
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_rotate_down)(CPU_AVX_VEC v)
{
#if CPU_AVX_P_BYTES == 32 && CPU_AVX_P_CROSSES && CPU_AVX_P_SIZE == 4
    return _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0));
#elif CPU_AVX_P_BYTES == 32 && CPU_AVX_P_CROSSES
    return _mm256_permute4x64_pd(v, _MM_SHUFFLE(0, 3, 2, 1));
#else
    return CPU_AVX_V(cpu_avx_down)(v, v, 1);
#endif
}

/* Solves   1 / v[l]
   Error    f32 in AVX, AVX2 and AVX-512: the processor's approximation to 12 or 14 bits, corrected once, at most 1.61,
            0.51 and 0.6 ulp (measured on Zen 4, all significands: 1.55, 0.50 and 0.53; in the mean 0.003 at most, so
            that long marches do not drift). 0, subnormals of which 1 / v overflows, infinities and NaN give NaN; in AVX
            and AVX2 any subnormal gives NaN, and from 2^126 on the result is 0: cpu_avx_check sees both.
            Elsewhere, and with CPU_AVX_EXACT_RCP, the division, within 0.5 ulp: in f64 an approximation and two Newton
            steps are 1.7 times as fast alone, but 1.4 times as slow in the chain of an elimination. NEON's
            approximation has 8 bits, and would take two steps in f32, too. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_rcp)(CPU_AVX_VEC v)
{
#if CPU_AVX_P_RCP_BITS == 0 || defined CPU_AVX_EXACT_RCP || CPU_AVX_P_SIZE == 8
    return CPU_AVX_V(cpu_avx_div)(CPU_AVX_V(cpu_avx_set)(1), v);
#else
#if CPU_AVX_P_MASKS
    CPU_AVX_VEC y = CPU_AVX_P_MOVE(rcp14, v);
#else
    CPU_AVX_VEC y = _mm256_rcp_ps(v);
#endif
    CPU_AVX_VEC error = CPU_AVX_V(cpu_avx_fnma)(v, y, CPU_AVX_V(cpu_avx_set)(1));
#if CPU_AVX_P_RCP_BITS < 14 /* 12 bits: the square of the error counts, and always with the same sign */
    error = CPU_AVX_V(cpu_avx_fma)(error, error, error);
#endif
    return CPU_AVX_V(cpu_avx_fma)(y, error, y);
#endif
}

/* Solves   was every pivot of lane l, and its reciprocal, finite and not zero? sound starts at 0 and takes each pair by
            check; worst tells the first lane that met a bad one, or W
   Cost     check: 2 FMA: 1 - pivot times reciprocal is a few ulp, or else 1, infinite or NaN, and its square remains so
            in a sum. (The product alone would not show a reciprocal that underflowed to zero.) */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_check)(CPU_AVX_VEC sound, CPU_AVX_VEC pivot, CPU_AVX_VEC reciprocal)
{
#if CPU_AVX_P_BYTES == 0
    for (int l = 0; l < CPU_AVX_W; l++)
        if (CPU_AVX_F(cpu_avx_p_bad)(pivot.lane[l], reciprocal.lane[l])) sound.lane[l] = 1;
    return sound;
#else
    __asm__("" : CPU_AVX_P_EITHER("+v", "+w")(reciprocal)); /* or -ffast-math would know the product */
    CPU_AVX_VEC error = CPU_AVX_V(cpu_avx_fnma)(pivot, reciprocal, CPU_AVX_V(cpu_avx_set)(1));
    return CPU_AVX_V(cpu_avx_fma)(error, error, sound);
#endif
}
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_worst)(CPU_AVX_VEC sound)
{
    CPU_AVX_R lanes[CPU_AVX_W];
    int l = 0;
    CPU_AVX_V(cpu_avx_store)(lanes, sound);
    while (l < CPU_AVX_W && CPU_AVX_F(cpu_avx_p_finite)(lanes[l]) && lanes[l] < (CPU_AVX_R)0.5) l++;
    return l;
}

#if CPU_AVX_P_BYTES > 0
#define CPU_AVX_P_BLOCK (16 / CPU_AVX_P_SIZE) /* elements of 16 bytes, within which shuffles are cheapest */
/* In each block of 16 bytes of BLOCK rows, rows become columns. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_turn_blocks)(CPU_AVX_VEC *v)
{
#if CPU_AVX_P_SIZE == 8
    CPU_AVX_VEC low = CPU_AVX_P_EITHER(CPU_AVX_P_MOVE(unpacklo, v[0], v[1]), CPU_AVX_I(zip1)(v[0], v[1]));
    CPU_AVX_VEC high = CPU_AVX_P_EITHER(CPU_AVX_P_MOVE(unpackhi, v[0], v[1]), CPU_AVX_I(zip2)(v[0], v[1]));
    v[0] = low, v[1] = high;
#elif CPU_AVX_ARM
    CPU_AVX_VEC a = CPU_AVX_I(zip1)(v[0], v[2]), b = CPU_AVX_I(zip1)(v[1], v[3]);
    CPU_AVX_VEC c = CPU_AVX_I(zip2)(v[0], v[2]), d = CPU_AVX_I(zip2)(v[1], v[3]);
    v[0] = CPU_AVX_I(zip1)(a, b), v[1] = CPU_AVX_I(zip2)(a, b);
    v[2] = CPU_AVX_I(zip1)(c, d), v[3] = CPU_AVX_I(zip2)(c, d);
#else
    CPU_AVX_VEC a = CPU_AVX_P_MOVE(unpacklo, v[0], v[1]), b = CPU_AVX_P_MOVE(unpacklo, v[2], v[3]);
    CPU_AVX_VEC c = CPU_AVX_P_MOVE(unpackhi, v[0], v[1]), d = CPU_AVX_P_MOVE(unpackhi, v[2], v[3]);
    v[0] = CPU_AVX_P_MOVE(shuffle, a, b, 0x44), v[1] = CPU_AVX_P_MOVE(shuffle, a, b, 0xee);
    v[2] = CPU_AVX_P_MOVE(shuffle, c, d, 0x44), v[3] = CPU_AVX_P_MOVE(shuffle, c, d, 0xee);
#endif
}
/* Block q of row g, at v[g * BLOCK], becomes block g of row q; a vector of one block has none to move. */
#if CPU_AVX_P_BYTES > 16
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_move_blocks)(CPU_AVX_VEC *v)
{
    enum { B = CPU_AVX_P_BLOCK };
#if CPU_AVX_P_MASKS
#if CPU_AVX_P_SIZE == 4
#define CPU_AVX_P_BLOCKS(a, b, which) _mm512_maskz_shuffle_f32x4(CPU_AVX_P_ALL, a, b, which)
#else
#define CPU_AVX_P_BLOCKS(a, b, which) _mm512_maskz_shuffle_f64x2(CPU_AVX_P_ALL, a, b, which)
#endif
    CPU_AVX_VEC a = CPU_AVX_P_BLOCKS(v[0], v[B], 0x44), b = CPU_AVX_P_BLOCKS(v[2 * B], v[3 * B], 0x44);
    CPU_AVX_VEC c = CPU_AVX_P_BLOCKS(v[0], v[B], 0xee), d = CPU_AVX_P_BLOCKS(v[2 * B], v[3 * B], 0xee);
    v[0] = CPU_AVX_P_BLOCKS(a, b, 0x88), v[B] = CPU_AVX_P_BLOCKS(a, b, 0xdd);
    v[2 * B] = CPU_AVX_P_BLOCKS(c, d, 0x88), v[3 * B] = CPU_AVX_P_BLOCKS(c, d, 0xdd);
#undef CPU_AVX_P_BLOCKS
#else
    CPU_AVX_VEC a = v[0], b = v[B];
    v[0] = CPU_AVX_P_JOIN(_mm256_permute2f128, CPU_AVX_P_SUFFIX, )(a, b, 0x20);
    v[B] = CPU_AVX_P_JOIN(_mm256_permute2f128, CPU_AVX_P_SUFFIX, )(a, b, 0x31);
#endif
}
#endif
#endif

/* Solves   v[i][l] and v[l][i] change places, for all W vectors
   Cost     W log2 W shuffles */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_transpose)(CPU_AVX_VEC *v)
{
#if CPU_AVX_P_BYTES == 0
    for (int i = 0; i < CPU_AVX_W; i++)
        for (int l = 0; l < i; l++) {
            CPU_AVX_R swap = v[i].lane[l];
            v[i].lane[l] = v[l].lane[i];
            v[l].lane[i] = swap;
        }
#else
    CPU_AVX_P_UNROLL
    for (int i = 0; i < CPU_AVX_W; i += CPU_AVX_P_BLOCK) CPU_AVX_V(cpu_avx_p_turn_blocks)(v + i);
#if CPU_AVX_P_BYTES > 16
    CPU_AVX_P_UNROLL
    for (int i = 0; i < CPU_AVX_P_BLOCK; i++) CPU_AVX_V(cpu_avx_p_move_blocks)(v + i);
#endif
#endif
}

/* Solves   a tile of an array whose rows are pitch elements apart, columns to vectors: v[i][l] = p[l pitch + i] for
            l < rows, i < columns, else 0; nothing else is touched. store_tile is the way back.
   Needs    rows, columns <= W */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_load_tile)(const CPU_AVX_R *p, ptrdiff_t pitch, int rows, int columns,
                                                 CPU_AVX_VEC *v)
{
    if (rows == CPU_AVX_W && columns == CPU_AVX_W) {
        CPU_AVX_P_UNROLL
        for (int l = 0; l < CPU_AVX_W; l++) v[l] = CPU_AVX_V(cpu_avx_load)(p + l * pitch);
    } else {
        for (int l = 0; l < CPU_AVX_W; l++)
            v[l] = l < rows ? CPU_AVX_V(cpu_avx_load_part)(p + l * pitch, columns) : CPU_AVX_V(cpu_avx_set)(0);
    }
    CPU_AVX_V(cpu_avx_transpose)(v);
}
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_store_tile)(CPU_AVX_R *p, ptrdiff_t pitch, int rows, int columns, CPU_AVX_VEC *v)
{
    CPU_AVX_V(cpu_avx_transpose)(v);
    if (rows == CPU_AVX_W && columns == CPU_AVX_W) {
        CPU_AVX_P_UNROLL
        for (int l = 0; l < CPU_AVX_W; l++) CPU_AVX_V(cpu_avx_store)(p + l * pitch, v[l]);
    } else {
        for (int l = 0; l < rows; l++) CPU_AVX_V(cpu_avx_store_part)(p + l * pitch, columns, v[l]);
    }
}

/* n, but from 0 to W. */
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_p_clip)(long long n)
{
    return n < 0 ? 0 : n < CPU_AVX_W ? (int)n : CPU_AVX_W;
}

/* Rows of some columns, pitch elements apart, to vectors: column j at to + j*step, zeros in the lanes beyond the rows;
   and back. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_to_columns)(long long pitch, int rows, long long columns, const CPU_AVX_R *from,
                                                  CPU_AVX_R *to, ptrdiff_t step)
{
    CPU_AVX_VEC tile[CPU_AVX_W];
    for (long long j = 0; j < columns; j += CPU_AVX_W) {
        int some = CPU_AVX_V(cpu_avx_p_clip)(columns - j);
        CPU_AVX_V(cpu_avx_load_tile)(from + j, (ptrdiff_t)pitch, rows, some, tile);
        for (int i = 0; i < some; i++) CPU_AVX_V(cpu_avx_store)(to + (j + i) * step, tile[i]);
    }
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_from_columns)(long long pitch, int rows, long long columns, const CPU_AVX_R *from,
                                                    ptrdiff_t step, CPU_AVX_R *to)
{
    CPU_AVX_VEC tile[CPU_AVX_W];
    for (long long j = 0; j < columns; j += CPU_AVX_W) {
        int some = CPU_AVX_V(cpu_avx_p_clip)(columns - j);
        for (int i = 0; i < CPU_AVX_W; i++)
            tile[i] = i < some ? CPU_AVX_V(cpu_avx_load)(from + (j + i) * step) : CPU_AVX_V(cpu_avx_set)(0);
        CPU_AVX_V(cpu_avx_store_tile)(to + j, (ptrdiff_t)pitch, rows, some, tile);
    }
}

/* ---- numbers, not vectors ---------------------------------------------------------------------------------------- */

/* a b + c, which the compiler would not contract in ISO C. */
CPU_AVX_INLINE CPU_AVX_R CPU_AVX_V(cpu_avx_p_madd)(CPU_AVX_R a, CPU_AVX_R b, CPU_AVX_R c)
{
#if !CPU_AVX_P_HAS_FMA
    return a * b + c;
#elif CPU_AVX_P_SIZE == 4
    return __builtin_fmaf(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

/* Is this reciprocal 0, infinite or NaN, and so was made of a bad pivot? */
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_p_bad_reciprocal)(CPU_AVX_R r)
{
    return CPU_AVX_F(cpu_avx_p_magnitude)(r) - 1 >= CPU_AVX_P_INFINITY - 1;
}

/* ---- vector scope: tridiagonal systems --------------------------------------------------------------------------- */

/* All lanes, where lanes is the literal W, or the first few. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_load_lanes)(const CPU_AVX_R *p, int lanes)
{
    return lanes == CPU_AVX_W ? CPU_AVX_V(cpu_avx_load)(p) : CPU_AVX_V(cpu_avx_load_part)(p, lanes);
}
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_store_lanes)(CPU_AVX_R *p, int lanes, CPU_AVX_VEC v)
{
    if (lanes == CPU_AVX_W)
        CPU_AVX_V(cpu_avx_store)(p, v);
    else
        CPU_AVX_V(cpu_avx_store_part)(p, lanes, v);
}

CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_lines_solve)(long long n, const CPU_AVX_R *f, CPU_AVX_R *x, ptrdiff_t step,
                                                     int vectors, int lanes)
{
    const CPU_AVX_R *l = f, *r = f + n, *q = f + 2 * n;
    CPU_AVX_VEC y[4];
    CPU_AVX_P_UNROLL
    for (int v = 0; v < vectors; v++) y[v] = CPU_AVX_V(cpu_avx_set)(0);
    for (long long j = 0; j < n; j++) {
        CPU_AVX_VEC lj = CPU_AVX_V(cpu_avx_set)(l[j]), rj = CPU_AVX_V(cpu_avx_set)(r[j]);
        CPU_AVX_R *row = x + j * step;
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++) {
            CPU_AVX_VEC d = CPU_AVX_V(cpu_avx_p_load_lanes)(row + v * CPU_AVX_W, lanes);
            y[v] = CPU_AVX_V(cpu_avx_fnma)(lj, y[v], CPU_AVX_V(cpu_avx_mul)(rj, d));
            CPU_AVX_V(cpu_avx_p_store_lanes)(row + v * CPU_AVX_W, lanes, y[v]);
        }
    }
    for (long long j = n - 2; j >= 0; j--) { /* y holds row n-1, where it is x already */
        CPU_AVX_VEC qj = CPU_AVX_V(cpu_avx_set)(q[j]);
        CPU_AVX_R *row = x + j * step;
        CPU_AVX_P_UNROLL
        for (int v = 0; v < vectors; v++) {
            CPU_AVX_VEC d = CPU_AVX_V(cpu_avx_p_load_lanes)(row + v * CPU_AVX_W, lanes);
            y[v] = CPU_AVX_V(cpu_avx_fnma)(qj, y[v], d);
            CPU_AVX_V(cpu_avx_p_store_lanes)(row + v * CPU_AVX_W, lanes, y[v]);
        }
    }
}

/* Solves   vectors*W systems side by side, all of cpu_avx_factor's matrix in f; element j of them at x + j*step
   Needs    vectors a literal, 1 to 4; x of any alignment
   Leaves   the solutions in x
   Cost     2 FMA + 1 mul an element; vectors FMAs in flight */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_lines_solve)(long long n, const CPU_AVX_R *f, CPU_AVX_R *x, ptrdiff_t step,
                                                   int vectors)
{
    CPU_AVX_V(cpu_avx_p_lines_solve)(n, f, x, step, vectors, CPU_AVX_W);
}
/* The same for lines < W of them. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_lines_solve_part)(long long n, const CPU_AVX_R *f, CPU_AVX_R *x, ptrdiff_t step,
                                                        int lines)
{
    CPU_AVX_V(cpu_avx_p_lines_solve)(n, f, x, step, 1, lines);
}

/* Columns from .. to-1 of `sides` tiles of systems that all have the matrix of which l and r are: d[g][i] is column i
   of tile g, y[g] what was eliminated before and after; column i goes to slot + i*pace + g*W. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_columns_forward)(int sides, int from, int to, const CPU_AVX_R *l,
                                                         const CPU_AVX_R *r, CPU_AVX_VEC (*d)[CPU_AVX_W],
                                                         CPU_AVX_VEC *y, CPU_AVX_R *slot, ptrdiff_t pace)
{
    CPU_AVX_P_UNROLL
    for (int i = from; i < to; i++) {
        const CPU_AVX_VEC li = CPU_AVX_V(cpu_avx_set)(l[i]), ri = CPU_AVX_V(cpu_avx_set)(r[i]);
        CPU_AVX_P_UNROLL
        for (int g = 0; g < sides; g++) {
            y[g] = CPU_AVX_V(cpu_avx_fnma)(li, y[g], CPU_AVX_V(cpu_avx_mul)(ri, d[g][i]));
            CPU_AVX_V(cpu_avx_store)(slot + i * pace + g * CPU_AVX_W, y[g]);
        }
    }
}
/* The way back for one tile, from *x of the column after: d of column i at slot + i*pace, c at c[i] where there is one
   matrix, else at c + i*pace. Sections have *left for the unknown before their first, and its factor at
   f + i*pace. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_columns_back)(int one, int columns, const CPU_AVX_R *slot, const CPU_AVX_R *c,
                                                      const CPU_AVX_R *f, const CPU_AVX_VEC *left, ptrdiff_t pace,
                                                      CPU_AVX_VEC *x, CPU_AVX_VEC *tile)
{
    CPU_AVX_VEC last = *x;
    CPU_AVX_P_UNROLL
    for (int i = columns - 1; i >= 0; i--) {
        CPU_AVX_VEC ci = one ? CPU_AVX_V(cpu_avx_set)(c[i]) : CPU_AVX_V(cpu_avx_load)(c + i * pace);
        CPU_AVX_VEC d = CPU_AVX_V(cpu_avx_load)(slot + i * pace);
        if (left) d = CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_V(cpu_avx_load)(f + i * pace), *left, d);
        tile[i] = last = CPU_AVX_V(cpu_avx_fnma)(ci, last, d);
    }
    *x = last;
}

/* Solves   rows systems, each contiguous in memory, pitch elements apart, all of cpu_avx_factor's matrix in f: a system
            a lane, by transposed tiles
   Needs    rows <= W; store of W * (n rounded up to W) elements, aligned to 64 bytes
   Leaves   the solutions in x
   Cost     2 FMA + 1 mul an element, and two transposes a tile */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_rows_solve)(long long n, const CPU_AVX_R *f, CPU_AVX_R *x, ptrdiff_t pitch,
                                                  int rows, CPU_AVX_R *store)
{
    enum { W = CPU_AVX_W };
    const CPU_AVX_R *l = f, *r = f + n, *q = f + 2 * n;
    CPU_AVX_VEC tile[W], y = CPU_AVX_V(cpu_avx_set)(0);
    for (long long j = 0; j < n; j += W) {
        const int columns = CPU_AVX_V(cpu_avx_p_clip)(n - j);
        CPU_AVX_V(cpu_avx_load_tile)(x + j, pitch, rows, columns, tile);
        if (columns == W)
            CPU_AVX_V(cpu_avx_p_columns_forward)(1, 0, W, l + j, r + j, &tile, &y, store + j * W, W);
        else
            CPU_AVX_V(cpu_avx_p_columns_forward)(1, 0, columns, l + j, r + j, &tile, &y, store + j * W, W);
    }
    y = CPU_AVX_V(cpu_avx_set)(0);
    for (long long j = (n - 1) / W * W; n > 0 && j >= 0; j -= W) {
        const int columns = CPU_AVX_V(cpu_avx_p_clip)(n - j);
        if (columns == W) {
            CPU_AVX_V(cpu_avx_p_columns_back)(1, W, store + j * W, q + j, 0, 0, W, &y, tile);
        } else {
            for (int i = columns; i < W; i++) tile[i] = CPU_AVX_V(cpu_avx_set)(0);
            CPU_AVX_V(cpu_avx_p_columns_back)(1, columns, store + j * W, q + j, 0, 0, W, &y, tile);
        }
        CPU_AVX_V(cpu_avx_store_tile)(x + j, pitch, rows, columns, tile);
    }
}

/* ---- a tile of lines side by side -------------------------------------------------------------------------------- */

CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_gather)(const CPU_AVX_R *p, ptrdiff_t stride, int lanes)
{
    if (stride == 1) return CPU_AVX_V(cpu_avx_p_load_lanes)(p, lanes);
    CPU_AVX_R lane[CPU_AVX_W] = {0};
    for (int l = 0; l < lanes; l++) lane[l] = p[l * stride];
    return CPU_AVX_V(cpu_avx_load)(lane);
}
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_scatter)(CPU_AVX_R *p, ptrdiff_t stride, int lanes, int stream, CPU_AVX_VEC v)
{
    if (stride == 1 && stream && lanes == CPU_AVX_W) {
        CPU_AVX_V(cpu_avx_stream)(p, v);
    } else if (stride == 1) {
        CPU_AVX_V(cpu_avx_p_store_lanes)(p, lanes, v);
    } else {
        CPU_AVX_R lane[CPU_AVX_W];
        CPU_AVX_V(cpu_avx_store)(lane, v);
        for (int l = 0; l < lanes; l++) p[l * stride] = lane[l];
    }
}
/* 1 in the lanes from n on: a pivot there. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_beyond)(int n)
{
    CPU_AVX_VEC one = CPU_AVX_V(cpu_avx_set)(1);
    CPU_AVX_R lane[CPU_AVX_W];
    CPU_AVX_V(cpu_avx_store)(lane, one);
    return CPU_AVX_V(cpu_avx_sub)(one, CPU_AVX_V(cpu_avx_load_part)(lane, n));
}

/* One row of one vector: *c and *d of the row before become those of this one, x[j] + c x[j+1] = d. Returns the
   pivot's reciprocal. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_eliminate)(CPU_AVX_VEC a, CPU_AVX_VEC b, CPU_AVX_VEC cj, CPU_AVX_VEC dj,
                                                          CPU_AVX_VEC *c, CPU_AVX_VEC *d, CPU_AVX_VEC *sound)
{
    CPU_AVX_VEC pivot = CPU_AVX_V(cpu_avx_fnma)(a, *c, b), r = CPU_AVX_V(cpu_avx_rcp)(pivot);
    *sound = CPU_AVX_V(cpu_avx_check)(*sound, pivot, r);
    *c = CPU_AVX_V(cpu_avx_mul)(cj, r);
    *d = CPU_AVX_V(cpu_avx_mul)(CPU_AVX_V(cpu_avx_fnma)(a, *d, dj), r);
    return r;
}

#define CPU_AVX_P_LINE (64 / CPU_AVX_P_SIZE) /* elements of a line of the cache */

/* Row j of the tile ahead and row n-1-j of the tile behind. With one matrix for all there are l, r and q for a, b and
   c, and y for c and d in the store. */
typedef struct {
    const CPU_AVX_R *a, *b, *c, *d; /* ahead: row j */
    CPU_AVX_VEC l, r, q;            /* one matrix: row j of l and r, row n-1-j of q */
    const CPU_AVX_R *before;        /* c and d of row j-1, as the store has them */
    CPU_AVX_R *slot;                /* where c and d of row n-1-j are taken from and those of row j go */
    CPU_AVX_R *last;                /* behind: x of row n-j, to become that of row n-1-j */
    CPU_AVX_R *x;                   /* where that goes */
    ptrdiff_t soon[2], rest;        /* what is fetched into the cache for column v: v + soon[v >= rest] */
    ptrdiff_t width;
} CPU_AVX_V(cpu_avx_p_row);

CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_row_forward)(const CPU_AVX_V(cpu_avx_p_row) * row, ptrdiff_t stride, int one,
                                                     int v, int lanes, CPU_AVX_VEC *sound)
{
    ptrdiff_t at = v * stride;
    if (one) {
        CPU_AVX_VEC y = CPU_AVX_V(cpu_avx_mul)(row->r, CPU_AVX_V(cpu_avx_p_gather)(row->d + at, stride, lanes));
        y = CPU_AVX_V(cpu_avx_fnma)(row->l, CPU_AVX_V(cpu_avx_load)(row->before + v), y);
        CPU_AVX_V(cpu_avx_store)(row->slot + v, y);
        return;
    }
    CPU_AVX_VEC a = CPU_AVX_V(cpu_avx_p_gather)(row->a + at, stride, lanes);
    CPU_AVX_VEC b = CPU_AVX_V(cpu_avx_p_gather)(row->b + at, stride, lanes);
    CPU_AVX_VEC cj = CPU_AVX_V(cpu_avx_p_gather)(row->c + at, stride, lanes);
    CPU_AVX_VEC dj = CPU_AVX_V(cpu_avx_p_gather)(row->d + at, stride, lanes);
    if (lanes < CPU_AVX_W) b = CPU_AVX_V(cpu_avx_add)(b, CPU_AVX_V(cpu_avx_p_beyond)(lanes));
    CPU_AVX_VEC c = CPU_AVX_V(cpu_avx_load)(row->before + v);
    CPU_AVX_VEC d = CPU_AVX_V(cpu_avx_load)(row->before + row->width + v);
    CPU_AVX_V(cpu_avx_p_eliminate)(a, b, cj, dj, &c, &d, sound);
    CPU_AVX_V(cpu_avx_store)(row->slot + v, c);
    CPU_AVX_V(cpu_avx_store)(row->slot + row->width + v, d);
}

/* x[j] = d - c x[j+1] */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_row_back)(const CPU_AVX_V(cpu_avx_p_row) * row, ptrdiff_t stride, int one,
                                                  int v, int lanes, int stream)
{
    CPU_AVX_VEC c = one ? row->q : CPU_AVX_V(cpu_avx_load)(row->slot + v);
    CPU_AVX_VEC x = CPU_AVX_V(cpu_avx_load)(row->slot + (one ? 0 : row->width) + v);
    x = CPU_AVX_V(cpu_avx_fnma)(c, CPU_AVX_V(cpu_avx_load)(row->last + v), x);
    CPU_AVX_V(cpu_avx_store)(row->last + v, x);
    CPU_AVX_V(cpu_avx_p_scatter)(row->x + v * stride, stride, lanes, stream, x);
}

/* Less than a vector, or lanes apart. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_row_forward_part)(const CPU_AVX_V(cpu_avx_p_row) * row, ptrdiff_t stride, int one,
                                                        int v, int lanes, CPU_AVX_VEC *sound)
{
    CPU_AVX_V(cpu_avx_p_row_forward)(row, stride, one, v, lanes, sound);
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_row_back_part)(const CPU_AVX_V(cpu_avx_p_row) * row, ptrdiff_t stride, int one,
                                                     int v, int lanes)
{
    CPU_AVX_V(cpu_avx_p_row_back)(row, stride, one, v, lanes, 0);
}

/* Where the row that is `ahead` rows after row j of a tile lies, in this or the next one; anywhere, if there is
   none. */
CPU_AVX_INLINE ptrdiff_t CPU_AVX_V(cpu_avx_p_row_soon)(const cpu_avx_p_plan *plan, const cpu_avx_p_tile *tile,
                                                       const cpu_avx_p_tile *next, long long j, long long ahead)
{
    const long long n = plan->lines.n, row = j + ahead, beyond = row - n;
    if (row < n) return tile->offset + (ptrdiff_t)(row * plan->lines.step);
    if (beyond < n && next->lanes == tile->lanes) return next->offset + (ptrdiff_t)(beyond * plan->lines.step);
    return tile->offset + (ptrdiff_t)(j * plan->lines.step);
}

/* Asks for the lines at `at` in all arrays, or where there is one matrix in d alone. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_fetch)(const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t at, int one)
{
    if (!one) {
        CPU_AVX_P_PREFETCH_NEAR(batch->a + at);
        CPU_AVX_P_PREFETCH_NEAR(batch->b + at);
        CPU_AVX_P_PREFETCH_NEAR(batch->c + at);
    }
    CPU_AVX_P_PREFETCH_NEAR(batch->d + at);
}

CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_row_both)(const CPU_AVX_V(cpu_avx_p_row) * row,
                                                  const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t stride, int one,
                                                  int behind, int ahead, int stream, CPU_AVX_VEC *sound)
{
    enum { L = CPU_AVX_P_LINE, W = CPU_AVX_W };
    int v = 0, back;
    for (; stride == 1 && v + L <= behind && v + L <= ahead; v += L) {
        CPU_AVX_V(cpu_avx_p_fetch)(batch, v + row->soon[v >= row->rest], one);
        CPU_AVX_P_UNROLL
        for (int p = 0; p < L; p += W) CPU_AVX_V(cpu_avx_p_row_back)(row, 1, one, v + p, W, stream);
        CPU_AVX_P_UNROLL
        for (int p = 0; p < L; p += W) CPU_AVX_V(cpu_avx_p_row_forward)(row, 1, one, v + p, W, sound);
    }
    /* All of the tile behind first: what the tile ahead has to store may lie across its last lanes. */
    for (back = v; stride == 1 && back + W <= behind; back += W)
        CPU_AVX_V(cpu_avx_p_row_back)(row, 1, one, back, W, stream);
    if (back < behind) CPU_AVX_V(cpu_avx_p_row_back_part)(row, stride, one, back, behind - back);
    for (; stride == 1 && v + W <= ahead; v += W) CPU_AVX_V(cpu_avx_p_row_forward)(row, 1, one, v, W, sound);
    if (v < ahead) CPU_AVX_V(cpu_avx_p_row_forward_part)(row, stride, one, v, ahead - v, sound);
}

/* The first system of the tile that has met a bad pivot, known to be there: a vector at a time, pivots alone. */
CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_lines_worst)(const cpu_avx_p_plan *plan,
                                                        const CPU_AVX_F(cpu_avx_p_batch) * batch, cpu_avx_p_tile tile)
{
    ptrdiff_t step = (ptrdiff_t)plan->lines.step, stride = (ptrdiff_t)plan->lines.stride;
    for (int v = 0; v < tile.lanes; v += CPU_AVX_W) {
        int lanes = tile.lanes - v < CPU_AVX_W ? tile.lanes - v : CPU_AVX_W;
        CPU_AVX_VEC c = CPU_AVX_V(cpu_avx_set)(0), d = c, sound = c;
        for (long long j = 0; j < plan->lines.n; j++) {
            ptrdiff_t at = tile.offset + (ptrdiff_t)j * step + v * stride;
            CPU_AVX_VEC b = CPU_AVX_V(cpu_avx_p_gather)(batch->b + at, stride, lanes), a = b, cj = b;
            if (j > 0) a = CPU_AVX_V(cpu_avx_p_gather)(batch->a + at, stride, lanes);
            if (j < plan->lines.n - 1) cj = CPU_AVX_V(cpu_avx_p_gather)(batch->c + at, stride, lanes);
            b = CPU_AVX_V(cpu_avx_add)(b, CPU_AVX_V(cpu_avx_p_beyond)(lanes));
            CPU_AVX_V(cpu_avx_p_eliminate)(a, b, cj, d, &c, &d, &sound);
        }
        int worst = CPU_AVX_V(cpu_avx_worst)(sound);
        if (worst < CPU_AVX_W) return tile.first + v + worst;
    }
    return tile.first;
}

/* Tiles from .. to-1; store of cpu_avx_p_store_len elements. Returns the first system with a bad pivot or LLONG_MAX. */
CPU_AVX_INLINE long long CPU_AVX_V(cpu_avx_p_lines_tiles)(const cpu_avx_p_plan *plan,
                                                          const CPU_AVX_F(cpu_avx_p_batch) * batch, CPU_AVX_R *store,
                                                          long long from, long long to, ptrdiff_t stride, int one)
{
    long long n = plan->lines.n, bad = LLONG_MAX;
    ptrdiff_t step = (ptrdiff_t)plan->lines.step;
    ptrdiff_t width = ((ptrdiff_t)plan->width + CPU_AVX_P_LINE - 1) / CPU_AVX_P_LINE * CPU_AVX_P_LINE;
    CPU_AVX_R *zeros = store, *slots = store + 3 * width;
    for (ptrdiff_t i = 0; i < 2 * width; i++) zeros[i] = 0;
    CPU_AVX_V(cpu_avx_p_row) row;
    row.width = width;
    row.last = store + 2 * width;
    row.a = row.b = row.c = 0;
    row.l = row.r = row.q = CPU_AVX_V(cpu_avx_set)(0);
    cpu_avx_p_tile behind = {0, 0, 0, 0}, ahead = cpu_avx_p_tile_at(plan, from, from, to);
    for (long long t = from; t <= to; t++) {
        cpu_avx_p_tile next = cpu_avx_p_tile_at(plan, t + 1, from, to);
        CPU_AVX_VEC sound = CPU_AVX_V(cpu_avx_set)(0);
        /* So many rows and columns ahead; the last columns of a row are as many ahead of a row's first ones. */
        const ptrdiff_t reach = CPU_AVX_P_FETCH_BYTES / CPU_AVX_P_SIZE / (one ? 1 : 4),
                        lanes = ahead.lanes > 0 ? ahead.lanes : 1;
        const ptrdiff_t rows = reach / lanes, columns = reach % lanes;
        row.rest = lanes - columns;
        row.before = zeros;
        for (ptrdiff_t i = 0; i < width; i++) row.last[i] = 0;
        for (long long j = 0; j < n; j++) {
            ptrdiff_t at = ahead.offset + (ptrdiff_t)j * step;
            row.soon[0] = CPU_AVX_V(cpu_avx_p_row_soon)(plan, &ahead, &next, j, rows) + columns;
            row.soon[1] = CPU_AVX_V(cpu_avx_p_row_soon)(plan, &ahead, &next, j, rows + 1) - row.rest;
            if (one) {
                row.l = CPU_AVX_V(cpu_avx_set)(batch->f[j]);
                row.r = CPU_AVX_V(cpu_avx_set)(batch->f[n + j]);
                row.q = CPU_AVX_V(cpu_avx_set)(batch->f[2 * n + (n - 1 - j)]);
            } else {
                row.b = batch->b + at; /* stands in for what is not to be read, and meets zeros */
                row.a = j > 0 ? batch->a + at : row.b;
                row.c = j < n - 1 ? batch->c + at : row.b;
            }
            row.d = batch->d + at;
            row.x = batch->x + behind.offset + (ptrdiff_t)(n - 1 - j) * step;
            row.slot = slots + 2 * width * (ptrdiff_t)((t - from) & 1 ? n - 1 - j : j);
            CPU_AVX_V(cpu_avx_p_row_both)(&row, batch, stride, one, behind.lanes, ahead.lanes, plan->stream, &sound);
            row.before = row.slot;
        }
        if (!one && bad == LLONG_MAX && CPU_AVX_V(cpu_avx_worst)(sound) < CPU_AVX_W)
            bad = CPU_AVX_V(cpu_avx_p_lines_worst)(plan, batch, ahead);
        behind = ahead;
        ahead = next;
    }
    cpu_avx_fence();
    return bad;
}

/* ---- a tile of rows ---------------------------------------------------------------------------------------------- */

/* Two vectors of rows, so that two chains of dependent operations are in flight. Of the store each has, for each
   column, d and c, or y where there is one matrix for all; sections of systems also f. */
enum { CPU_AVX_V(cpu_avx_p_side) = CPU_AVX_W < CPU_AVX_P_LINE ? CPU_AVX_P_LINE / CPU_AVX_W : 1 }; /* tiles in a line */
typedef struct {
    CPU_AVX_VEC c[2], d[2], sound[2];
} CPU_AVX_V(cpu_avx_p_chain);
/* What sections have besides, L being the unknown before the first: x[j] + c x[j+1] + f L = d in the row at hand, and
   the first unknown as first_d - first_f L + first_c x[j]. */
typedef struct {
    CPU_AVX_VEC f[2], first_c[2], first_d[2], first_f[2];
} CPU_AVX_V(cpu_avx_p_fill);
/* Elements of a column in the store. */
CPU_AVX_INLINE ptrdiff_t CPU_AVX_V(cpu_avx_p_slot)(int sections)
{
    return (sections ? 6 : 4) * CPU_AVX_W;
}

/* Lines of the next tile that are still to be fetched into the cache, in the order in which they lie in memory, a few
   at a time between the operations: all at once would keep them waiting. */
typedef struct {
    const CPU_AVX_F(cpu_avx_p_batch) * batch;
    ptrdiff_t at, end;    /* the next one; the end of its row */
    ptrdiff_t gap, pitch; /* from there to the beginning and to the end of the next row */
    int left;             /* in this block */
} CPU_AVX_V(cpu_avx_p_fetch_list);

CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_fetch_some)(CPU_AVX_V(cpu_avx_p_fetch_list) * list, int one, int count)
{
    for (int k = 0; k < count && list->left > 0; k++, list->left--) {
        CPU_AVX_V(cpu_avx_p_fetch)(list->batch, list->at, one);
        list->at += CPU_AVX_P_LINE;
        if (list->at == list->end) list->at += list->gap, list->end += list->pitch;
    }
}

/* Up to W columns of a tile of rows: where they lie in the arrays, and d, a, b and c of them as vectors. */
typedef struct {
    ptrdiff_t at, side; /* of the first one; from there to the second vector of rows */
    int rows;           /* 0: no tile */
    int columns;
    int first, last; /* are they the rows' first, their last ones? */
    int kind;        /* as that of the plan */
} CPU_AVX_V(cpu_avx_p_place);
typedef struct {
    CPU_AVX_V(cpu_avx_p_place) place;
    CPU_AVX_VEC d[2][CPU_AVX_W], a[2][CPU_AVX_W], b[2][CPU_AVX_W], c[2][CPU_AVX_W];
} CPU_AVX_V(cpu_avx_p_block);

CPU_AVX_INLINE CPU_AVX_V(cpu_avx_p_place)
    CPU_AVX_V(cpu_avx_p_place_at)(const cpu_avx_p_plan *plan, const cpu_avx_p_tile *tile, long long j)
{
    CPU_AVX_V(cpu_avx_p_place) place;
    place.at = tile->offset + (ptrdiff_t)j;
    place.side = tile->side;
    place.rows = tile->lanes;
    place.columns = CPU_AVX_V(cpu_avx_p_clip)(plan->n - j);
    place.first = j == 0;
    place.last = plan->n - j <= CPU_AVX_W;
    place.kind = plan->kind;
    return place;
}
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_p_whole)(const CPU_AVX_V(cpu_avx_p_place) * place)
{
    return place->rows == 2 * CPU_AVX_W && place->columns == CPU_AVX_W;
}

/* v of vector g, but 0 where a system begins or ends, whose outermost coefficients may be anything: in all lanes, or in
   the first or last lane of one vector. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_without_first)(CPU_AVX_VEC v, int kind, int g)
{
    const CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0);
    if (kind == CPU_AVX_P_SYSTEMS) return zero;
    if (kind == CPU_AVX_P_HALVES && g == 1) return v;
    return CPU_AVX_V(cpu_avx_up)(zero, CPU_AVX_V(cpu_avx_down)(v, zero, 1), 1);
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_without_last)(CPU_AVX_VEC v, int kind, int g)
{
    const CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0);
    if (kind == CPU_AVX_P_SYSTEMS) return zero;
    if (kind == CPU_AVX_P_HALVES && g == 0) return v;
    return CPU_AVX_V(cpu_avx_down)(CPU_AVX_V(cpu_avx_up)(zero, v, 1), zero, 1);
}

/* Loads tile k of the 8 tiles of W x W of a block, the first two of which are d. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_block_load)(CPU_AVX_V(cpu_avx_p_block) * block, int k, int whole,
                                                    const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch)
{
    enum { W = CPU_AVX_W };
    const CPU_AVX_V(cpu_avx_p_place) *place = &block->place;
    const int array = k / 2, g = k % 2;
    const int rows = whole ? W : CPU_AVX_V(cpu_avx_p_clip)(place->rows - g * W), columns = whole ? W : place->columns;
    const CPU_AVX_R *from = array == 0 ? batch->d : array == 1 ? batch->a : array == 2 ? batch->b : batch->c;
    CPU_AVX_VEC *v = array == 0 ? block->d[g] : array == 1 ? block->a[g] : array == 2 ? block->b[g] : block->c[g];
    CPU_AVX_V(cpu_avx_load_tile)(from + place->at + g * place->side, pitch, rows, columns, v);
    if (array == 1 && place->first) v[0] = CPU_AVX_V(cpu_avx_p_without_first)(v[0], place->kind, g);
    if (array == 3 && place->last) v[columns - 1] = CPU_AVX_V(cpu_avx_p_without_last)(v[columns - 1], place->kind, g);
    if (array == 2 && rows < W)
        for (int i = 0; i < W; i++) v[i] = CPU_AVX_V(cpu_avx_add)(v[i], CPU_AVX_V(cpu_avx_p_beyond)(rows));
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_block_load_part)(CPU_AVX_V(cpu_avx_p_block) * block, int k,
                                                       const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch)
{
    CPU_AVX_V(cpu_avx_p_block_load)(block, k, 0, batch, pitch);
}

/* Column i of vector g, of sections: what the row at hand and the first row know of the unknown before them; f goes to
   the slot. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_fill_in)(CPU_AVX_V(cpu_avx_p_fill) * fill, int g, int last, CPU_AVX_VEC a,
                                                 CPU_AVX_VEC r, CPU_AVX_VEC c, CPU_AVX_VEC d, CPU_AVX_R *slot)
{
    const CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0);
    const CPU_AVX_VEC f = CPU_AVX_V(cpu_avx_mul)(CPU_AVX_V(cpu_avx_fnma)(a, fill->f[g], zero), r);
    CPU_AVX_V(cpu_avx_store)(slot, f);
    fill->f[g] = f;
    if (last) return;
    fill->first_d[g] = CPU_AVX_V(cpu_avx_fma)(fill->first_c[g], d, fill->first_d[g]);
    fill->first_f[g] = CPU_AVX_V(cpu_avx_fma)(fill->first_c[g], f, fill->first_f[g]);
    fill->first_c[g] = CPU_AVX_V(cpu_avx_fnma)(fill->first_c[g], c, zero);
}

/* A loop over two vectors of a column; in plain C, where these are arrays, the compiler does better by itself. */
#if CPU_AVX_P_BYTES > 0
#define CPU_AVX_P_UNROLL_BOTH CPU_AVX_P_UNROLL
#else
#define CPU_AVX_P_UNROLL_BOTH
#endif

/* Column i of the columns of a block whose store begins at slot, and now and then a fetch. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_column_forward)(const CPU_AVX_V(cpu_avx_p_block) * block, int i, int columns,
                                                        CPU_AVX_R *slot, CPU_AVX_V(cpu_avx_p_chain) * chain,
                                                        CPU_AVX_V(cpu_avx_p_fill) * fill,
                                                        CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    enum { W = CPU_AVX_W };
    slot += i * CPU_AVX_V(cpu_avx_p_slot)(fill != 0);
    if (i % 2) CPU_AVX_V(cpu_avx_p_fetch_some)(list, 0, 1);
    CPU_AVX_P_UNROLL_BOTH
    for (int g = 0; g < 2; g++) {
        const CPU_AVX_VEC r =
            CPU_AVX_V(cpu_avx_p_eliminate)(block->a[g][i], block->b[g][i], block->c[g][i], block->d[g][i], &chain->c[g],
                                           &chain->d[g], &chain->sound[g]);
        CPU_AVX_V(cpu_avx_store)(slot + (2 + g) * W, chain->c[g]);
        CPU_AVX_V(cpu_avx_store)(slot + g * W, chain->d[g]);
        if (fill) {
            const int last = block->place.last && i == columns - 1;
            CPU_AVX_V(cpu_avx_p_fill_in)
            (fill, g, last, block->a[g][i], r, chain->c[g], chain->d[g], slot + (4 + g) * W);
        }
    }
}

/* Eliminates a block of systems each with its own matrix while the next one is loaded, a tile of this and then some
   columns of that: shuffles fill the time in which the elimination waits for its reciprocals. The chain of dependent
   operations is kept in registers: for the compiler, the store might lie where *now does. Sections have a fill, others
   0. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_block_forward)(const CPU_AVX_V(cpu_avx_p_block) * block,
                                                       CPU_AVX_V(cpu_avx_p_block) * next, int whole,
                                                       const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch,
                                                       CPU_AVX_R *slot, CPU_AVX_V(cpu_avx_p_chain) * now,
                                                       CPU_AVX_V(cpu_avx_p_fill) * fill,
                                                       CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    enum { W = CPU_AVX_W, SOME = W / CPU_AVX_V(cpu_avx_p_side) > 8 ? 2 : 1 };
    const int columns = whole ? W : block->place.columns;
    CPU_AVX_V(cpu_avx_p_chain) chain = *now;
    CPU_AVX_V(cpu_avx_p_fill) filled;
    if (fill) filled = *fill;
    CPU_AVX_P_UNROLL
    for (int k = 0; k < 8; k++) {
        if (whole)
            CPU_AVX_V(cpu_avx_p_block_load)(next, k, 1, batch, pitch);
        else if (next->place.rows)
            CPU_AVX_V(cpu_avx_p_block_load_part)(next, k, batch, pitch);
        CPU_AVX_V(cpu_avx_p_fetch_some)(list, 0, SOME);
        if (whole) {
            CPU_AVX_P_UNROLL
            for (int i = k * W / 8; i < (k + 1) * W / 8; i++)
                CPU_AVX_V(cpu_avx_p_column_forward)(block, i, W, slot, &chain, fill ? &filled : 0, list);
        } else {
            for (int i = k * W / 8; i < (k + 1) * W / 8 && i < columns; i++)
                CPU_AVX_V(cpu_avx_p_column_forward)(block, i, columns, slot, &chain, fill ? &filled : 0, list);
        }
    }
    *now = chain;
    if (fill) *fill = filled;
}

/* With one matrix for all, l at f and r at f + n, there is little to wait for: the block itself is loaded, and then
   eliminated. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_block_forward_one)(const CPU_AVX_V(cpu_avx_p_place) * place, int whole,
                                                           const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch,
                                                           const CPU_AVX_R *f, long long n, CPU_AVX_R *slot,
                                                           CPU_AVX_V(cpu_avx_p_chain) * now,
                                                           CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    enum { W = CPU_AVX_W, SOME = W / CPU_AVX_V(cpu_avx_p_side) > 8 ? 2 : 1 };
    const int columns = whole ? W : place->columns;
    CPU_AVX_V(cpu_avx_p_block) block;
    CPU_AVX_VEC y[2] = {now->d[0], now->d[1]};
    block.place = *place;
    CPU_AVX_P_UNROLL
    for (int k = 0; k < 2; k++) {
        if (whole)
            CPU_AVX_V(cpu_avx_p_block_load)(&block, k, 1, batch, pitch);
        else
            CPU_AVX_V(cpu_avx_p_block_load_part)(&block, k, batch, pitch);
        CPU_AVX_V(cpu_avx_p_fetch_some)(list, 1, SOME);
    }
    CPU_AVX_P_UNROLL
    for (int i = 0; i < W && i < columns; i += 2) {
        CPU_AVX_V(cpu_avx_p_fetch_some)(list, 1, 1);
        CPU_AVX_V(cpu_avx_p_columns_forward)
        (2, i, i + 2 < columns ? i + 2 : columns, f, f + n, block.d, y, slot, CPU_AVX_V(cpu_avx_p_slot)(0));
    }
    now->d[0] = y[0], now->d[1] = y[1];
}

/* Each with whole blocks, or what there is of them. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_columns_any)(const CPU_AVX_V(cpu_avx_p_block) * block,
                                                     CPU_AVX_V(cpu_avx_p_block) * next,
                                                     const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch,
                                                     CPU_AVX_R *slot, CPU_AVX_V(cpu_avx_p_chain) * now,
                                                     CPU_AVX_V(cpu_avx_p_fill) * fill,
                                                     CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    if (CPU_AVX_V(cpu_avx_p_whole)(&block->place) && CPU_AVX_V(cpu_avx_p_whole)(&next->place))
        CPU_AVX_V(cpu_avx_p_block_forward)(block, next, 1, batch, pitch, slot, now, fill, list);
    else
        CPU_AVX_V(cpu_avx_p_block_forward)(block, next, 0, batch, pitch, slot, now, fill, list);
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_columns_own)(const CPU_AVX_V(cpu_avx_p_block) * block,
                                                   CPU_AVX_V(cpu_avx_p_block) * next,
                                                   const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch,
                                                   CPU_AVX_R *slot, CPU_AVX_V(cpu_avx_p_chain) * now,
                                                   CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    CPU_AVX_V(cpu_avx_p_columns_any)(block, next, batch, pitch, slot, now, 0, list);
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_columns_sections)(const CPU_AVX_V(cpu_avx_p_block) * block,
                                                        CPU_AVX_V(cpu_avx_p_block) * next,
                                                        const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch,
                                                        CPU_AVX_R *slot, CPU_AVX_V(cpu_avx_p_chain) * now,
                                                        CPU_AVX_V(cpu_avx_p_fill) * fill,
                                                        CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    CPU_AVX_V(cpu_avx_p_columns_any)(block, next, batch, pitch, slot, now, fill, list);
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_columns_one)(const CPU_AVX_V(cpu_avx_p_place) * place,
                                                   const CPU_AVX_F(cpu_avx_p_batch) * batch, ptrdiff_t pitch,
                                                   const CPU_AVX_R *f, long long n, CPU_AVX_R *slot,
                                                   CPU_AVX_V(cpu_avx_p_chain) * now,
                                                   CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    if (CPU_AVX_V(cpu_avx_p_whole)(place))
        CPU_AVX_V(cpu_avx_p_block_forward_one)(place, 1, batch, pitch, f, n, slot, now, list);
    else
        CPU_AVX_V(cpu_avx_p_block_forward_one)(place, 0, batch, pitch, f, n, slot, now, list);
}

/* A line's worth of columns of W rows, whole lines of the cache written one after another. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_line_back)(const CPU_AVX_R *slot, const CPU_AVX_R *q, int g,
                                                   const CPU_AVX_VEC *left, CPU_AVX_VEC *last, CPU_AVX_R *x,
                                                   ptrdiff_t pitch, int stream, CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    enum { P = CPU_AVX_V(cpu_avx_p_side), W = CPU_AVX_W };
    const ptrdiff_t pace = CPU_AVX_V(cpu_avx_p_slot)(left != 0);
    CPU_AVX_VEC tile[P][W];
    for (int p = P - 1; p >= 0; p--) {
        const CPU_AVX_R *at = slot + p * W * pace + g * W;
        CPU_AVX_V(cpu_avx_p_columns_back)
        (q != 0, W, at, q ? q + p * W : at + 2 * W, at + 4 * W, left, pace, last, tile[p]);
        CPU_AVX_V(cpu_avx_transpose)(tile[p]);
    }
    CPU_AVX_P_UNROLL
    for (int l = 0; l < W; l++) {
        if (l % 4 == 0) CPU_AVX_V(cpu_avx_p_fetch_some)(list, q != 0, 1);
        for (int p = 0; p < P; p++) CPU_AVX_V(cpu_avx_p_scatter)(x + l * pitch + p * W, 1, W, stream, tile[p][l]);
    }
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_line_back_systems)(const CPU_AVX_R *slot, const CPU_AVX_R *q, int g,
                                                         CPU_AVX_VEC *last, CPU_AVX_R *x, ptrdiff_t pitch, int stream,
                                                         CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    CPU_AVX_V(cpu_avx_p_line_back)(slot, q, g, 0, last, x, pitch, stream, list);
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_line_back_sections)(const CPU_AVX_R *slot, int g, const CPU_AVX_VEC *left,
                                                          CPU_AVX_VEC *last, CPU_AVX_R *x, ptrdiff_t pitch, int stream,
                                                          CPU_AVX_V(cpu_avx_p_fetch_list) * list)
{
    CPU_AVX_V(cpu_avx_p_line_back)(slot, 0, g, left, last, x, pitch, stream, list);
}

/* What there is of such a line, if anything. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_line_back_part)(const CPU_AVX_R *slot, const CPU_AVX_R *q, int g,
                                                      const CPU_AVX_VEC *left, CPU_AVX_VEC *last, CPU_AVX_R *x,
                                                      ptrdiff_t pitch, int rows, long long columns)
{
    enum { L = CPU_AVX_P_LINE, W = CPU_AVX_W };
    const ptrdiff_t pace = CPU_AVX_V(cpu_avx_p_slot)(left != 0);
    CPU_AVX_VEC tile[W];
    for (int p = L - W; p >= 0 && rows > 0; p -= W) {
        const int some = CPU_AVX_V(cpu_avx_p_clip)(columns - p);
        const CPU_AVX_R *at = slot + p * pace + g * W;
        for (int l = 0; l < W; l++) tile[l] = CPU_AVX_V(cpu_avx_set)(0);
        CPU_AVX_V(cpu_avx_p_columns_back)
        (q != 0, some, at, q ? q + p : at + 2 * W, at + 4 * W, left, pace, last, tile);
        CPU_AVX_V(cpu_avx_store_tile)(x + p, pitch, rows, some, tile);
    }
}

/* Lane l-s, and lane l+s, of two vectors, which may be the halves of one; 0 from beyond. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_before)(int halves, const CPU_AVX_VEC *v, int g, int s)
{
    const CPU_AVX_VEC beyond = halves && g ? v[0] : CPU_AVX_V(cpu_avx_set)(0);
    return s < CPU_AVX_W ? CPU_AVX_V(cpu_avx_up)(beyond, v[g], s < CPU_AVX_W ? s : 1) : beyond;
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_after)(int halves, const CPU_AVX_VEC *v, int g, int s)
{
    const CPU_AVX_VEC beyond = halves && !g ? v[1] : CPU_AVX_V(cpu_avx_set)(0);
    return s < CPU_AVX_W ? CPU_AVX_V(cpu_avx_down)(v[g], beyond, s < CPU_AVX_W ? s : 1) : beyond;
}

/* One step of parallel cyclic reduction over the lanes: a x[l-s] + x[l] + c x[l+s] = d, and then with 2s for s. Returns
   1, with x in d, if a and c are so small that their products are lost in rounding. */
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_p_pcr_step)(int halves, CPU_AVX_VEC *a, CPU_AVX_VEC *c, CPU_AVX_VEC *d, int s,
                                                 CPU_AVX_VEC *sound)
{
    const CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0);
    const CPU_AVX_R lost = CPU_AVX_P_SIZE == 4 ? (CPU_AVX_R)0x1p-27 : (CPU_AVX_R)0x1p-56;
    CPU_AVX_VEC squares = zero, up_a[2], up_c[2], up_d[2], down_a[2], down_c[2], down_d[2];
    for (int g = 0; g < 2; g++) {
        squares = CPU_AVX_V(cpu_avx_fma)(a[g], a[g], CPU_AVX_V(cpu_avx_fma)(c[g], c[g], squares));
        up_d[g] = CPU_AVX_V(cpu_avx_p_before)(halves, d, g, s), down_d[g] = CPU_AVX_V(cpu_avx_p_after)(halves, d, g, s);
    }
    const int weak = CPU_AVX_V(cpu_avx_sum)(squares) < lost;
    for (int g = 0; g < 2; g++)
        d[g] = CPU_AVX_V(cpu_avx_fnma)(c[g], down_d[g], CPU_AVX_V(cpu_avx_fnma)(a[g], up_d[g], d[g]));
    if (weak) return 1;
    for (int g = 0; g < 2; g++) {
        up_a[g] = CPU_AVX_V(cpu_avx_p_before)(halves, a, g, s), down_a[g] = CPU_AVX_V(cpu_avx_p_after)(halves, a, g, s);
        up_c[g] = CPU_AVX_V(cpu_avx_p_before)(halves, c, g, s), down_c[g] = CPU_AVX_V(cpu_avx_p_after)(halves, c, g, s);
    }
    for (int g = 0; g < 2; g++) {
        CPU_AVX_VEC pivot = CPU_AVX_V(cpu_avx_fnma)(a[g], up_c[g], CPU_AVX_V(cpu_avx_set)(1));
        pivot = CPU_AVX_V(cpu_avx_fnma)(c[g], down_a[g], pivot);
        const CPU_AVX_VEC r = CPU_AVX_V(cpu_avx_rcp)(pivot);
        sound[g] = CPU_AVX_V(cpu_avx_check)(sound[g], pivot, r);
        d[g] = CPU_AVX_V(cpu_avx_mul)(r, d[g]);
        a[g] = CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_V(cpu_avx_mul)(r, a[g]), up_a[g], zero);
        c[g] = CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_V(cpu_avx_mul)(r, c[g]), down_c[g], zero);
    }
    return 0;
}

/* From the last rows of the sections their unknowns, X: first they lose the next section's first unknown, then each
   other. In the store, slot being the last column's, they become rows that know X, and *left is X of the section
   before. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_sections_join)(int halves, CPU_AVX_V(cpu_avx_p_chain) * now,
                                                     CPU_AVX_V(cpu_avx_p_fill) * fill, CPU_AVX_R *slot,
                                                     CPU_AVX_VEC *left)
{
    enum { W = CPU_AVX_W };
    CPU_AVX_VEC a[2], c[2], d[2];
    for (int g = 0; g < 2; g++) {
        const CPU_AVX_VEC next_c = CPU_AVX_V(cpu_avx_p_after)(halves, fill->first_c, g, 1);
        const CPU_AVX_VEC next_d = CPU_AVX_V(cpu_avx_p_after)(halves, fill->first_d, g, 1);
        const CPU_AVX_VEC next_f = CPU_AVX_V(cpu_avx_p_after)(halves, fill->first_f, g, 1);
        const CPU_AVX_VEC pivot = CPU_AVX_V(cpu_avx_fnma)(now->c[g], next_f, CPU_AVX_V(cpu_avx_set)(1));
        const CPU_AVX_VEC r = CPU_AVX_V(cpu_avx_rcp)(pivot);
        now->sound[g] = CPU_AVX_V(cpu_avx_check)(now->sound[g], pivot, r);
        a[g] = CPU_AVX_V(cpu_avx_mul)(r, fill->f[g]);
        c[g] = CPU_AVX_V(cpu_avx_mul)(CPU_AVX_V(cpu_avx_mul)(r, now->c[g]), next_c);
        d[g] = CPU_AVX_V(cpu_avx_mul)(r, CPU_AVX_V(cpu_avx_fnma)(now->c[g], next_d, now->d[g]));
    }
    int known = CPU_AVX_V(cpu_avx_p_pcr_step)(halves, a, c, d, 1, now->sound);
    if (W > 2 && !known) known = CPU_AVX_V(cpu_avx_p_pcr_step)(halves, a, c, d, 2, now->sound);
    if (W > 4 && !known) known = CPU_AVX_V(cpu_avx_p_pcr_step)(halves, a, c, d, 4, now->sound);
    if (W > 8 && !known) known = CPU_AVX_V(cpu_avx_p_pcr_step)(halves, a, c, d, 8, now->sound);
    if (halves && !known) CPU_AVX_V(cpu_avx_p_pcr_step)(1, a, c, d, W, now->sound);
    for (int g = 0; g < 2; g++) {
        left[g] = CPU_AVX_V(cpu_avx_p_before)(halves, d, g, 1);
        CPU_AVX_V(cpu_avx_store)(slot + g * W, d[g]);
        CPU_AVX_V(cpu_avx_store)(slot + (2 + g) * W, CPU_AVX_V(cpu_avx_set)(0));
        CPU_AVX_V(cpu_avx_store)(slot + (4 + g) * W, CPU_AVX_V(cpu_avx_set)(0));
    }
}

/* What some tiles of sections say of their pivots, looked at together. */
enum { CPU_AVX_V(cpu_avx_p_seen) = 16 };
/* The first system with a bad one, of `count` tiles of which `after` is the one behind the last; LLONG_MAX: none. */
CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_seen_worst)(int kind, long long after, int count, CPU_AVX_VEC (*seen)[2])
{
    const int two = kind == CPU_AVX_P_SECTIONS;
    CPU_AVX_VEC all = CPU_AVX_V(cpu_avx_set)(0);
    for (int i = 0; i < count; i++) all = CPU_AVX_V(cpu_avx_add)(all, CPU_AVX_V(cpu_avx_add)(seen[i][0], seen[i][1]));
    if (CPU_AVX_V(cpu_avx_worst)(all) == CPU_AVX_W) return LLONG_MAX;
    for (int i = 0; i < count; i++)
        for (int g = 0; g < 2; g++)
            if (CPU_AVX_V(cpu_avx_worst)(seen[i][g]) < CPU_AVX_W) return (after - count + i) * (1 + two) + g * two;
    return LLONG_MAX;
}

/* As cpu_avx_p_lines_tiles. Block i of a tile: columns i*L .. i*L+L-1, L those of a line of the cache. */
CPU_AVX_INLINE long long CPU_AVX_V(cpu_avx_p_march_rows)(const cpu_avx_p_plan *plan,
                                                         const CPU_AVX_F(cpu_avx_p_batch) * batch, CPU_AVX_R *store,
                                                         long long from, long long to, int sections)
{
    const int one = !sections && batch->f != 0, halves = plan->kind == CPU_AVX_P_HALVES;
    enum { L = CPU_AVX_P_LINE, W = CPU_AVX_W, SEEN = CPU_AVX_V(cpu_avx_p_seen) };
    const ptrdiff_t pitch = (ptrdiff_t)plan->pitch, pace = CPU_AVX_V(cpu_avx_p_slot)(sections);
    long long n = plan->n, blocks = (n + L - 1) / L, bad = LLONG_MAX;
    const ptrdiff_t run = sections ? (ptrdiff_t)((halves ? 2 * W : W) * n + L - 1) / L * L : (ptrdiff_t)(blocks * L);
    const CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0), plus = CPU_AVX_V(cpu_avx_set)(1),
                      minus = CPU_AVX_V(cpu_avx_set)(-1); /* the row before the first: x[-1] - L = 0 */
    cpu_avx_p_tile behind = {0, 0, 0, 0}, ahead = cpu_avx_p_tile_at(plan, from, from, to);
    CPU_AVX_V(cpu_avx_p_block) block[2];
    CPU_AVX_VEC left[2] = {zero, zero}, seen[SEEN][2];
    int turn = 0, seen_now = 0;
    block[0].place = CPU_AVX_V(cpu_avx_p_place_at)(plan, &ahead, 0);
    for (int k = 0; !one && k < 8; k++) CPU_AVX_V(cpu_avx_p_block_load_part)(block, k, batch, pitch);
    for (long long t = from; t <= to; t++) {
        cpu_avx_p_tile next = cpu_avx_p_tile_at(plan, t + 1, from, to);
        CPU_AVX_V(cpu_avx_p_chain) now = {{zero, zero}, {zero, zero}, {zero, zero}};
        CPU_AVX_V(cpu_avx_p_fill) fill = {{minus, minus}, {plus, plus}, {zero, zero}, {zero, zero}};
        CPU_AVX_VEC last[2] = {zero, zero};
        /* A tile of sections is small: it is loaded ahead before all of the one before is done with. */
        const cpu_avx_p_tile later = sections ? cpu_avx_p_tile_at(plan, t + 2, from, to) : next;
        const ptrdiff_t apart = sections ? later.side : pitch;
        const int share =
            sections ? (int)((2 / (1 + halves) * (long long)(run / L) + blocks - 1) / blocks) : later.lanes;
        CPU_AVX_V(cpu_avx_p_fetch_list) list = {batch, later.offset, later.offset + run, apart - run, apart, 0};
        for (long long i = 0; i < blocks; i++) {
            list.left += later.lanes ? share : 0;
            CPU_AVX_R *slot = store + L * pace * (ptrdiff_t)((t - from) & 1 ? blocks - 1 - i : i);
            long long j = (blocks - 1 - i) * L;
            const CPU_AVX_R *q = one ? batch->f + 2 * n + j : 0;
            for (int g = 0; g < 2; g++) {
                CPU_AVX_R *x = batch->x + behind.offset + g * behind.side + (ptrdiff_t)j;
                const CPU_AVX_VEC *l = sections ? &left[g] : 0;
                if (behind.lanes < 2 * W || j + L > n) {
                    const int rows = CPU_AVX_V(cpu_avx_p_clip)(behind.lanes - g * W);
                    CPU_AVX_V(cpu_avx_p_line_back_part)(slot, q, g, l, &last[g], x, pitch, rows, n - j);
                } else if (sections) {
                    CPU_AVX_V(cpu_avx_p_line_back_sections)(slot, g, l, &last[g], x, pitch, plan->stream, &list);
                } else {
                    CPU_AVX_V(cpu_avx_p_line_back_systems)(slot, q, g, &last[g], x, pitch, plan->stream, &list);
                }
            }
            j = i * L;
            for (int p = 0; p < L && j < n && ahead.lanes; p += W, slot += W * pace, turn = !turn) {
                CPU_AVX_V(cpu_avx_p_block) *here = &block[turn], *soon = &block[!turn];
                const CPU_AVX_R *f = one ? batch->f + j : 0;
                j += W;
                soon->place = CPU_AVX_V(cpu_avx_p_place_at)(plan, j < n ? &ahead : &next, j < n ? j : 0);
                if (sections)
                    CPU_AVX_V(cpu_avx_p_columns_sections)(here, soon, batch, pitch, slot, &now, &fill, &list);
                else if (one)
                    CPU_AVX_V(cpu_avx_p_columns_one)(&here->place, batch, pitch, f, n, slot, &now, &list);
                else
                    CPU_AVX_V(cpu_avx_p_columns_own)(here, soon, batch, pitch, slot, &now, &list);
            }
            CPU_AVX_V(cpu_avx_p_fetch_some)(&list, one, list.left);
        }
        if (sections && ahead.lanes) {
            const ptrdiff_t at = (ptrdiff_t)((n - 1) / L), row = (ptrdiff_t)((n - 1) % L);
            CPU_AVX_R *slot = store + (((t - from) & 1 ? (ptrdiff_t)blocks - 1 - at : at) * L + row) * pace;
            CPU_AVX_V(cpu_avx_p_sections_join)(halves, &now, &fill, slot, left);
            seen[seen_now][0] = now.sound[0], seen[seen_now][1] = now.sound[1];
            if (++seen_now == SEEN || t + 1 == to) {
                const long long first = CPU_AVX_V(cpu_avx_p_seen_worst)(plan->kind, t + 1, seen_now, seen);
                if (first < bad) bad = first;
                seen_now = 0;
            }
        }
        for (int g = 0; !sections && g < 2; g++) {
            int worst = CPU_AVX_V(cpu_avx_worst)(now.sound[g]);
            if (bad == LLONG_MAX && worst < W) bad = ahead.first + g * W + worst;
        }
        behind = ahead;
        ahead = next;
    }
    cpu_avx_fence();
    return bad;
}
CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_rows_tiles)(const cpu_avx_p_plan *plan,
                                                       const CPU_AVX_F(cpu_avx_p_batch) * batch, CPU_AVX_R *store,
                                                       long long from, long long to)
{
    return CPU_AVX_V(cpu_avx_p_march_rows)(plan, batch, store, from, to, 0);
}
CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_sections_tiles)(const cpu_avx_p_plan *plan,
                                                           const CPU_AVX_F(cpu_avx_p_batch) * batch, CPU_AVX_R *store,
                                                           long long from, long long to)
{
    return CPU_AVX_V(cpu_avx_p_march_rows)(plan, batch, store, from, to, 1);
}

/* n elements, step apart, to the first of `length` ones, and what fills up the others. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_fill_up)(const CPU_AVX_R *p, long long n, ptrdiff_t step, long long length,
                                               CPU_AVX_R filling, CPU_AVX_R *to)
{
    if (step == 1)
        memcpy(to, p, (size_t)n * sizeof *to);
    else
        for (long long j = 0; j < n; j++) to[j] = p[j * step];
    for (long long j = n; j < length; j++) to[j] = filling;
}
/* d - A x, into d; A is a, b, c. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_residual)(long long n, const CPU_AVX_R *CPU_AVX_P_RESTRICT a,
                                                const CPU_AVX_R *CPU_AVX_P_RESTRICT b,
                                                const CPU_AVX_R *CPU_AVX_P_RESTRICT c,
                                                const CPU_AVX_R *CPU_AVX_P_RESTRICT x, CPU_AVX_R *CPU_AVX_P_RESTRICT d)
{
    for (long long j = 0; j < n; j++) d[j] = CPU_AVX_V(cpu_avx_p_madd)(-b[j], x[j], d[j]);
    for (long long j = 1; j < n; j++) d[j] = CPU_AVX_V(cpu_avx_p_madd)(-a[j], x[j - 1], d[j]);
    for (long long j = 0; j < n - 1; j++) d[j] = CPU_AVX_V(cpu_avx_p_madd)(-c[j], x[j + 1], d[j]);
}
/* Sections of systems that do not lie as sections do, or are to be refined, tile by tile in copies: at the end of the
   store. */
CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_copied_tiles)(const cpu_avx_p_plan *plan,
                                                         const CPU_AVX_F(cpu_avx_p_batch) * batch, CPU_AVX_R *store,
                                                         long long from, long long to)
{
    enum { L = CPU_AVX_P_LINE, W = CPU_AVX_W };
    const ptrdiff_t step = (ptrdiff_t)plan->lines.step;
    const long long n = plan->lines.n, length = (plan->kind == CPU_AVX_P_HALVES ? 2 * W : W) * plan->n;
    const int systems = plan->kind == CPU_AVX_P_HALVES ? 1 : 2;
    CPU_AVX_R *a = store + (plan->n + L - 1) / L * L * CPU_AVX_V(cpu_avx_p_slot)(1), *b = a + systems * length;
    CPU_AVX_R *c = b + systems * length, *d = c + systems * length, *y = d + systems * length;
    const CPU_AVX_F(cpu_avx_p_batch) copies = {a, b, c, d, 0, d}, unrefined = {a, b, c, d, 0, y};
    const cpu_avx_lines lines = {length, 1, systems, length, 1, 0};
    cpu_avx_p_plan copied = *plan;
    long long bad = LLONG_MAX;
    copied.lines = lines;
    copied.tiles = 1;
    for (long long t = from; t < to; t++) {
        const cpu_avx_p_tile tile = cpu_avx_p_tile_at(plan, t, from, to);
        for (int g = 0; g < systems; g++) {
            const ptrdiff_t at = tile.offset + g * tile.side;
            CPU_AVX_V(cpu_avx_p_fill_up)(batch->a + at, n, step, length, 0, a + g * length);
            CPU_AVX_V(cpu_avx_p_fill_up)(batch->b + at, n, step, length, 1, b + g * length);
            CPU_AVX_V(cpu_avx_p_fill_up)(batch->c + at, n, step, length, 0, c + g * length);
            CPU_AVX_V(cpu_avx_p_fill_up)(batch->d + at, n, step, length, 0, d + g * length);
            c[g * length + n - 1] = 0;
        }
        const long long first =
            CPU_AVX_V(cpu_avx_p_sections_tiles)(&copied, plan->refined ? &unrefined : &copies, store, 0, 1);
        if (bad == LLONG_MAX && first < LLONG_MAX) bad = tile.first + first;
        if (plan->refined) {
            for (ptrdiff_t at = 0; at < systems * length; at += (ptrdiff_t)length)
                CPU_AVX_V(cpu_avx_p_residual)(n, a + at, b + at, c + at, y + at, d + at);
            CPU_AVX_V(cpu_avx_p_sections_tiles)(&copied, &copies, store, 0, 1);
            for (long long i = 0; i < systems * length; i++) d[i] += y[i];
        }
        for (int g = 0; g < systems; g++) {
            CPU_AVX_R *x = batch->x + tile.offset + g * tile.side;
            if (step == 1)
                memcpy(x, d + g * length, (size_t)n * sizeof *x);
            else
                for (long long j = 0; j < n; j++) x[j * step] = d[g * length + j];
        }
    }
    return bad;
}

/* ---- systems in numbers ------------------------------------------------------------------------------------------ */

/* One row of one system: *c and *d of the row before become those of this one, x[j] + c x[j+1] = d. On the way up a and
   c change places. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_eliminate_one)(CPU_AVX_R a, CPU_AVX_R b, CPU_AVX_R cj, CPU_AVX_R dj,
                                                       CPU_AVX_R *c, CPU_AVX_R *d, int *bad)
{
    const CPU_AVX_R r = 1 / CPU_AVX_V(cpu_avx_p_madd)(-a, *c, b);
    *bad |= CPU_AVX_V(cpu_avx_p_bad_reciprocal)(r);
    *c = cj * r;
    *d = CPU_AVX_V(cpu_avx_p_madd)(-a, *d, dj) * r;
}

/* Eliminates one or two systems (`systems`, a literal), the first at element `at` and the other `apart` after it, from
   both ends and substitutes back from the row in the middle: each row waits for the reciprocal of the one before, and
   two chains a system take half the time of one. Rows above the middle keep their c in the store, those below it their
   a; d goes to x. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_solve_from_ends)(const cpu_avx_lines *lines, ptrdiff_t at, ptrdiff_t apart,
                                                         const CPU_AVX_F(cpu_avx_p_batch) * batch, int systems,
                                                         CPU_AVX_R *store, int *bad)
{
    const CPU_AVX_R *a = batch->a + at, *b = batch->b + at, *c = batch->c + at, *d = batch->d + at;
    CPU_AVX_R *x = batch->x + at, down_c[2] = {0}, down_d[2] = {0}, up_a[2] = {0}, up_d[2] = {0};
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step, middle = n / 2;
    for (ptrdiff_t j = 0; j < middle; j++) {
        const ptrdiff_t k = n - 1 - j; /* for even n row k is at last the middle one */
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t top = j * step + s * apart, bottom = k * step + s * apart;
            CPU_AVX_V(cpu_avx_p_eliminate_one)
            (j > 0 ? a[top] : 0, b[top], c[top], d[top], &down_c[s], &down_d[s], &bad[s]);
            store[j * systems + s] = down_c[s];
            x[top] = down_d[s];
            if (k == middle) continue;
            CPU_AVX_V(cpu_avx_p_eliminate_one)
            (j > 0 ? c[bottom] : 0, b[bottom], a[bottom], d[bottom], &up_a[s], &up_d[s], &bad[s]);
            store[k * systems + s] = up_a[s];
            x[bottom] = up_d[s];
        }
    }
    CPU_AVX_P_UNROLL
    for (int s = 0; s < systems; s++) {
        const ptrdiff_t i = middle * step + s * apart;
        const CPU_AVX_R above = middle > 0 ? a[i] : 0, below = middle < n - 1 ? c[i] : 0;
        const CPU_AVX_R pivot = CPU_AVX_V(cpu_avx_p_madd)(-above, down_c[s], b[i]);
        const CPU_AVX_R y = CPU_AVX_V(cpu_avx_p_madd)(-above, down_d[s], d[i]);
        CPU_AVX_V(cpu_avx_p_eliminate_one)(below, pivot, 0, y, &up_a[s], &up_d[s], &bad[s]);
        x[i] = down_d[s] = up_d[s];
    }
    for (ptrdiff_t j = middle - 1; j >= 0; j--) {
        const ptrdiff_t k = n - 1 - j;
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t top = j * step + s * apart, bottom = k * step + s * apart;
            x[top] = down_d[s] = CPU_AVX_V(cpu_avx_p_madd)(-store[j * systems + s], down_d[s], x[top]);
            if (k == middle) continue;
            x[bottom] = up_d[s] = CPU_AVX_V(cpu_avx_p_madd)(-store[k * systems + s], up_d[s], x[bottom]);
        }
    }
}

/* The same where f is the matrix of all, as cpu_avx_factor leaves it: downwards, then upwards. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_solve_factored)(const cpu_avx_lines *lines, ptrdiff_t at, ptrdiff_t apart,
                                                        const CPU_AVX_F(cpu_avx_p_batch) * batch, int systems)
{
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step;
    const CPU_AVX_R *l = batch->f, *r = l + n, *q = r + n, *d = batch->d + at;
    CPU_AVX_R *x = batch->x + at, y[2] = {0};
    for (ptrdiff_t j = 0; j < n; j++) {
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t i = j * step + s * apart;
            x[i] = y[s] = CPU_AVX_V(cpu_avx_p_madd)(-l[j], y[s], r[j] * d[i]);
        }
    }
    for (ptrdiff_t j = n - 2; j >= 0; j--) { /* y is x[n-1] already */
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t i = j * step + s * apart;
            x[i] = y[s] = CPU_AVX_V(cpu_avx_p_madd)(-q[j], y[s], x[i]);
        }
    }
}

/* Systems from .. to-1, two at a time; returns the first with a bad pivot or LLONG_MAX. */
CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_numbers_tiles)(const cpu_avx_p_plan *plan,
                                                          const CPU_AVX_F(cpu_avx_p_batch) * batch, CPU_AVX_R *store,
                                                          long long from, long long to)
{
    const cpu_avx_lines *lines = &plan->lines;
    long long first = LLONG_MAX;
    for (long long s = from; s < to; s += 2) {
        const int both = s + 1 < to;
        const ptrdiff_t at = cpu_avx_p_system_at(lines, s), apart = cpu_avx_p_system_at(lines, s + both) - at;
        int bad[2] = {0, 0};
        if (batch->f && both)
            CPU_AVX_V(cpu_avx_p_solve_factored)(lines, at, apart, batch, 2);
        else if (batch->f)
            CPU_AVX_V(cpu_avx_p_solve_factored)(lines, at, 0, batch, 1);
        else if (both)
            CPU_AVX_V(cpu_avx_p_solve_from_ends)(lines, at, apart, batch, 2, store, bad);
        else
            CPU_AVX_V(cpu_avx_p_solve_from_ends)(lines, at, 0, batch, 1, store, bad);
        if (first == LLONG_MAX && (bad[0] || bad[1])) first = bad[0] ? s : s + 1;
    }
    return first;
}

CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_across_tiles)(const cpu_avx_p_plan *plan,
                                                         const CPU_AVX_F(cpu_avx_p_batch) * batch, CPU_AVX_R *store,
                                                         long long from, long long to)
{
    if (plan->copied) return CPU_AVX_V(cpu_avx_p_copied_tiles)(plan, batch, store, from, to);
    return CPU_AVX_V(cpu_avx_p_sections_tiles)(plan, batch, store, from, to);
}
CPU_AVX_SLOW long long CPU_AVX_V(cpu_avx_p_tiles)(const cpu_avx_p_plan *plan, const CPU_AVX_F(cpu_avx_p_batch) * batch,
                                                  CPU_AVX_R *store, long long from, long long to)
{
    ptrdiff_t stride = (ptrdiff_t)plan->lines.stride;
    if (plan->kind == CPU_AVX_P_NUMBERS) return CPU_AVX_V(cpu_avx_p_numbers_tiles)(plan, batch, store, from, to);
    if (plan->kind == CPU_AVX_P_SYSTEMS) return CPU_AVX_V(cpu_avx_p_rows_tiles)(plan, batch, store, from, to);
    if (stride != 1) return CPU_AVX_V(cpu_avx_p_lines_tiles)(plan, batch, store, from, to, stride, batch->f != 0);
    if (batch->f) return CPU_AVX_V(cpu_avx_p_lines_tiles)(plan, batch, store, from, to, 1, 1);
    return CPU_AVX_V(cpu_avx_p_lines_tiles)(plan, batch, store, from, to, 1, 0);
}

/* ---- vector scope: one factor ------------------------------------------------------------------------------------ */

/* Each march takes options first .. last-1 of a batch and has a thread's share of the work, aligned to 64 bytes. */

/* explicit1: the loop over the rows as one would write it; those at the ends, which lack a neighbour, apart. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_explicit1_step)(int n, const CPU_AVX_R *CPU_AVX_P_RESTRICT a,
                                                      const CPU_AVX_R *CPU_AVX_P_RESTRICT b,
                                                      const CPU_AVX_R *CPU_AVX_P_RESTRICT c,
                                                      const CPU_AVX_R *CPU_AVX_P_RESTRICT u,
                                                      CPU_AVX_R *CPU_AVX_P_RESTRICT next)
{
    next[0] = CPU_AVX_V(cpu_avx_p_madd)(b[0], u[0], u[0]);
    if (n == 1) return;
    next[0] = CPU_AVX_V(cpu_avx_p_madd)(c[0], u[1], next[0]);
    for (int j = 1; j < n - 1; j++) {
        CPU_AVX_R right = CPU_AVX_V(cpu_avx_p_madd)(c[j], u[j + 1], u[j]);
        next[j] = CPU_AVX_V(cpu_avx_p_madd)(a[j], u[j - 1], CPU_AVX_V(cpu_avx_p_madd)(b[j], u[j], right));
    }
    next[n - 1] = CPU_AVX_V(cpu_avx_p_madd)(b[n - 1], u[n - 1], u[n - 1]);
    next[n - 1] = CPU_AVX_V(cpu_avx_p_madd)(a[n - 1], u[n - 2], next[n - 1]);
}

CPU_AVX_SLOW int CPU_AVX_V(cpu_avx_p_explicit1)(const CPU_AVX_F(cpu_avx_p_march) * m, int first, int last,
                                                CPU_AVX_R *work)
{
    for (int i = first; i < last; i++) {
        ptrdiff_t at = (ptrdiff_t)i * m->n;
        CPU_AVX_R *u = m->u + at;
        for (int s = 0; s < m->steps; s++) {
            const CPU_AVX_R *now = s % 2 ? work : u;
            CPU_AVX_V(cpu_avx_p_explicit1_step)(m->n, m->a + at, m->b + at, m->c + at, now, s % 2 ? u : work);
        }
        if (m->steps % 2) memcpy(u, work, (size_t)m->n * sizeof *u);
    }
    return 0;
}

/* ---- lanes are sections of the grid: lane l holds rows l*K .. l*K+K-1, row by row a vector ----------------------- */

CPU_AVX_API int CPU_AVX_V(cpu_avx_p_section_rows)(int n, int least)
{
    return cpu_avx_p_most(n / CPU_AVX_W + (n % CPU_AVX_W != 0), least);
}

/* Rows of the grid to their lanes, zeros in rows from n on; vectors are step elements apart. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_to_sections)(int n, int K, const CPU_AVX_R *from, CPU_AVX_R *to, ptrdiff_t step)
{
    const int full = n / K, rest = n % K; /* sections that are full, rows of the one that follows */
    CPU_AVX_V(cpu_avx_p_to_columns)(K, full, K, from, to, step);
    for (int j = 0; j < rest; j++) to[j * step + full] = from[full * K + j];
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_from_sections)(int n, int K, const CPU_AVX_R *from, ptrdiff_t step, CPU_AVX_R *to)
{
    const int full = n / K, rest = n % K;
    CPU_AVX_V(cpu_avx_p_from_columns)(K, full, K, from, step, to);
    for (int j = 0; j < rest; j++) to[full * K + j] = from[j * step + full];
}

/* The neighbours of the first and of the last row of a section: the last row of the section below, the first of the one
   above, where there is one. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_below)(CPU_AVX_VEC last)
{
    return CPU_AVX_V(cpu_avx_up)(CPU_AVX_V(cpu_avx_set)(0), last, 1);
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_above)(CPU_AVX_VEC first)
{
    return CPU_AVX_V(cpu_avx_down)(first, CPU_AVX_V(cpu_avx_set)(0), 1);
}

/* A row of A, and what a step makes of the row's value. */
typedef struct {
    CPU_AVX_VEC a, b, c;
} CPU_AVX_V(cpu_avx_p_one_row);

CPU_AVX_INLINE CPU_AVX_V(cpu_avx_p_one_row) CPU_AVX_V(cpu_avx_p_one_row_at)(const CPU_AVX_R *a, size_t size, int j)
{
    CPU_AVX_V(cpu_avx_p_one_row) row;
    row.a = CPU_AVX_V(cpu_avx_load)(a + j * CPU_AVX_W);
    row.b = CPU_AVX_V(cpu_avx_load)(a + size + j * CPU_AVX_W);
    row.c = CPU_AVX_V(cpu_avx_load)(a + 2 * size + j * CPU_AVX_W);
    return row;
}
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_one_row_step)(CPU_AVX_V(cpu_avx_p_one_row) row, CPU_AVX_VEC below,
                                                             CPU_AVX_VEC here, CPU_AVX_VEC above)
{
    CPU_AVX_VEC sum = CPU_AVX_V(cpu_avx_fma)(row.b, here, here);
    return CPU_AVX_V(cpu_avx_fma)(row.c, above, CPU_AVX_V(cpu_avx_fma)(row.a, below, sum));
}

/* One step on sections in place; u has a row more than K. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_single_step)(int K, const CPU_AVX_R *a, size_t size, CPU_AVX_R *u)
{
    CPU_AVX_VEC below = CPU_AVX_V(cpu_avx_p_below)(CPU_AVX_V(cpu_avx_load)(u + (K - 1) * CPU_AVX_W));
    CPU_AVX_VEC here = CPU_AVX_V(cpu_avx_load)(u);
    CPU_AVX_V(cpu_avx_store)(u + (ptrdiff_t)K * CPU_AVX_W, CPU_AVX_V(cpu_avx_p_above)(here));
    for (int j = 0; j < K; j++) {
        CPU_AVX_VEC above = CPU_AVX_V(cpu_avx_load)(u + (j + 1) * CPU_AVX_W);
        CPU_AVX_V(cpu_avx_p_one_row) row = CPU_AVX_V(cpu_avx_p_one_row_at)(a, size, j);
        CPU_AVX_V(cpu_avx_store)(u + j * CPU_AVX_W, CPU_AVX_V(cpu_avx_p_one_row_step)(row, below, here, above));
        below = here, here = above;
    }
}

/* What two steps in one sweep have under way after row j of the first: of u rows j and j+1, of the values between the
   steps rows j-1 and j, and row j of A. */
typedef struct {
    CPU_AVX_VEC here, above, mid_below, mid;
    CPU_AVX_V(cpu_avx_p_one_row) row;
} CPU_AVX_V(cpu_avx_p_two_rows);

/* Row j of the first step and row j-1 of the second. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_two_rows_step)(int j, const CPU_AVX_R *a, size_t size, CPU_AVX_R *u,
                                                       CPU_AVX_V(cpu_avx_p_two_rows) * now)
{
    CPU_AVX_V(cpu_avx_p_one_row) next = CPU_AVX_V(cpu_avx_p_one_row_at)(a, size, j);
    CPU_AVX_VEC below = now->here, here = now->above, above = CPU_AVX_V(cpu_avx_load)(u + (j + 1) * CPU_AVX_W);
    CPU_AVX_VEC mid_above = CPU_AVX_V(cpu_avx_p_one_row_step)(next, below, here, above);
    CPU_AVX_V(cpu_avx_store)
    (u + (j - 1) * CPU_AVX_W, CPU_AVX_V(cpu_avx_p_one_row_step)(now->row, now->mid_below, now->mid, mid_above));
    now->here = here, now->above = above;
    now->mid_below = now->mid, now->mid = mid_above;
    now->row = next;
}

/* explicit2: two steps in one sweep, the second a row behind the first: a row of A is loaded once for both, and the
   values between the steps are never stored. The second step's rows at the ends of the sections want the first step's
   at the other ends, and come last. Some rows at a time, or what is under way moves from register to register. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_two_steps)(int K, const CPU_AVX_R *a, size_t size, CPU_AVX_R *u)
{
    enum { SOME = 3 };
    const CPU_AVX_V(cpu_avx_p_one_row) first = CPU_AVX_V(cpu_avx_p_one_row_at)(a, size, 0);
    CPU_AVX_V(cpu_avx_p_two_rows) now;
    CPU_AVX_VEC below = CPU_AVX_V(cpu_avx_p_below)(CPU_AVX_V(cpu_avx_load)(u + (K - 1) * CPU_AVX_W));
    CPU_AVX_VEC bottom = CPU_AVX_V(cpu_avx_load)(u);
    CPU_AVX_V(cpu_avx_store)(u + (ptrdiff_t)K * CPU_AVX_W, CPU_AVX_V(cpu_avx_p_above)(bottom));
    now.here = CPU_AVX_V(cpu_avx_load)(u + CPU_AVX_W), now.above = CPU_AVX_V(cpu_avx_load)(u + 2 * CPU_AVX_W);
    now.row = CPU_AVX_V(cpu_avx_p_one_row_at)(a, size, 1);
    const CPU_AVX_VEC first_mid = CPU_AVX_V(cpu_avx_p_one_row_step)(first, below, bottom, now.here);
    const CPU_AVX_VEC second_mid = CPU_AVX_V(cpu_avx_p_one_row_step)(now.row, bottom, now.here, now.above);
    now.mid_below = first_mid, now.mid = second_mid;
    int j = 2;
    for (; j + SOME <= K; j += SOME) {
        CPU_AVX_P_UNROLL
        for (int k = 0; k < SOME; k++) CPU_AVX_V(cpu_avx_p_two_rows_step)(j + k, a, size, u, &now);
    }
    for (; j < K; j++) CPU_AVX_V(cpu_avx_p_two_rows_step)(j, a, size, u, &now);
    CPU_AVX_VEC from_above = CPU_AVX_V(cpu_avx_p_above)(first_mid), from_below = CPU_AVX_V(cpu_avx_p_below)(now.mid);
    CPU_AVX_V(cpu_avx_store)(u, CPU_AVX_V(cpu_avx_p_one_row_step)(first, from_below, first_mid, second_mid));
    CPU_AVX_V(cpu_avx_store)
    (u + (K - 1) * CPU_AVX_W, CPU_AVX_V(cpu_avx_p_one_row_step)(now.row, now.mid_below, now.mid, from_above));
}

/* Sections of option i: a, b, c and u one after another, size elements each, and a row more of u. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_two_steps_begin)(const CPU_AVX_F(cpu_avx_p_march) * m, int i, int K,
                                                       CPU_AVX_R *sections)
{
    const size_t size = (size_t)K * CPU_AVX_W;
    const CPU_AVX_R *const from[4] = {m->a, m->b, m->c, m->u};
    for (int k = 0; k < 4; k++)
        CPU_AVX_V(cpu_avx_p_to_sections)(m->n, K, from[k] + (ptrdiff_t)i * m->n, sections + k * size, CPU_AVX_W);
    sections[0] = sections[2 * size + (size_t)((m->n - 1) % K) * CPU_AVX_W + (size_t)((m->n - 1) / K)] = 0;
}

/* Some options in turn, as many as the first-level cache holds: while the last rows of one wait for each other, the
   next begins. */
CPU_AVX_SLOW int CPU_AVX_V(cpu_avx_p_explicit2)(const CPU_AVX_F(cpu_avx_p_march) * m, int first, int last,
                                                CPU_AVX_R *work)
{
    const int n = m->n, K = CPU_AVX_V(cpu_avx_p_section_rows)(n, 2);
    const size_t size = (size_t)K * CPU_AVX_W, all = 4 * size + CPU_AVX_W;
    const size_t share = CPU_AVX_F(cpu_avx_p_explicit_share)(n, 0) - 64,
                 room = share < CPU_AVX_P_TURN_BYTES ? share : (size_t)CPU_AVX_P_TURN_BYTES;
    const size_t fit = room / (all * sizeof *work);
    const int in_turn = fit < 1 ? 1 : fit < CPU_AVX_P_TURNS ? (int)fit : CPU_AVX_P_TURNS;
    for (int i = first; i < last; i += in_turn) {
        const int some = last - i < in_turn ? last - i : in_turn;
        for (int g = 0; g < some; g++) CPU_AVX_V(cpu_avx_p_two_steps_begin)(m, i + g, K, work + (size_t)g * all);
        for (int s = 1; s < m->steps; s += 2)
            for (int g = 0; g < some; g++) {
                CPU_AVX_R *a = work + (size_t)g * all;
                CPU_AVX_V(cpu_avx_p_two_steps)(K, a, size, a + 3 * size);
            }
        for (int g = 0; g < some; g++) {
            CPU_AVX_R *a = work + (size_t)g * all, *u = a + 3 * size;
            if (m->steps % 2) CPU_AVX_V(cpu_avx_p_single_step)(K, a, size, u);
            CPU_AVX_V(cpu_avx_p_from_sections)(n, K, u, CPU_AVX_W, m->u + (ptrdiff_t)(i + g) * n);
        }
    }
    return 0;
}

/* ---- composed steps ---------------------------------------------------------------------------------------------- */

/* sum[t] belongs to row q-H+t: column q of the band times u[q] goes in, as q moves on by one. In double precision row q
   gets u[q] itself too, which is at hand; in single precision the many small products would then be lost in it. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_column)(int H, const CPU_AVX_R *column, CPU_AVX_VEC u, CPU_AVX_VEC *sum)
{
    CPU_AVX_P_UNROLL
    for (int t = 0; t < 2 * H; t++)
        sum[t] = CPU_AVX_V(cpu_avx_fma)(CPU_AVX_V(cpu_avx_load)(column + t * CPU_AVX_W), u, sum[t + 1]);
    sum[2 * H] = CPU_AVX_V(cpu_avx_mul)(CPU_AVX_V(cpu_avx_load)(column + 2 * H * CPU_AVX_W), u);
    if (CPU_AVX_P_SIZE == 8) sum[H] = CPU_AVX_V(cpu_avx_add)(sum[H], u);
}
/* A row that is complete. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_swept)(CPU_AVX_R *u, CPU_AVX_VEC sum)
{
    CPU_AVX_V(cpu_avx_store)
    (u, CPU_AVX_P_SIZE == 8 ? sum : CPU_AVX_V(cpu_avx_add)(CPU_AVX_V(cpu_avx_load)(u), sum));
}

/* A sweep of composed steps in place, column after column of the band: 2H+1 rows are under way in registers, each value
   of u is loaded once for them. What a section adds to the rows of its neighbours crosses lanes: to those of the one
   below it is complete first and waits in halo, to those of the one above last. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_sweep)(int H, int K, const CPU_AVX_R *band, CPU_AVX_R *u, CPU_AVX_R *halo)
{
    const ptrdiff_t W = CPU_AVX_W, column = (2 * H + 1) * W;
    CPU_AVX_VEC sum[2 * CPU_AVX_P_FAST_REACH + 1];
    CPU_AVX_P_UNROLL
    for (int t = 0; t <= 2 * H; t++) sum[t] = CPU_AVX_V(cpu_avx_set)(0);
    for (int q = 0; q < H; q++) {
        CPU_AVX_V(cpu_avx_p_column)(H, band + q * column, CPU_AVX_V(cpu_avx_load)(u + q * W), sum);
        CPU_AVX_V(cpu_avx_store)(halo + q * W, CPU_AVX_V(cpu_avx_p_above)(sum[0]));
    }
    for (int q = H; q < K; q++) {
        CPU_AVX_V(cpu_avx_p_column)(H, band + q * column, CPU_AVX_V(cpu_avx_load)(u + q * W), sum);
        CPU_AVX_V(cpu_avx_p_swept)(u + (q - H) * W, sum[0]);
    }
    CPU_AVX_P_UNROLL
    for (int t = 0; t < H; t++) {
        CPU_AVX_VEC crossed = CPU_AVX_V(cpu_avx_load)(halo + t * W);
        CPU_AVX_V(cpu_avx_p_swept)(u + (K - H + t) * W, CPU_AVX_V(cpu_avx_add)(sum[t + 1], crossed));
    }
    CPU_AVX_P_UNROLL
    for (int t = 0; t < H; t++) {
        CPU_AVX_VEC crossed = CPU_AVX_V(cpu_avx_p_below)(sum[H + t + 1]);
        CPU_AVX_V(cpu_avx_store)(u + t * W, CPU_AVX_V(cpu_avx_add)(CPU_AVX_V(cpu_avx_load)(u + t * W), crossed));
    }
}

/* The same for any H, the sums in memory: row r of a section at sum + (H + r) W. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_any_sweep)(int H, int K, const CPU_AVX_R *band, CPU_AVX_R *u, CPU_AVX_R *sum)
{
    const ptrdiff_t W = CPU_AVX_W, rows = K + 2 * H;
    memset(sum, 0, (size_t)(rows * W) * sizeof *sum);
    for (int q = 0; q < K; q++)
        for (int t = 0; t <= 2 * H; t++, band += W) {
            CPU_AVX_VEC old = CPU_AVX_V(cpu_avx_load)(sum + (q + t) * W), uq = CPU_AVX_V(cpu_avx_load)(u + q * W);
            CPU_AVX_V(cpu_avx_store)
            (sum + (q + t) * W, CPU_AVX_V(cpu_avx_fma)(CPU_AVX_V(cpu_avx_load)(band), uq, old));
        }
    for (int q = 0; q < K; q++) {
        CPU_AVX_VEC all = CPU_AVX_V(cpu_avx_load)(sum + (H + q) * W), crossed;
        if (q < H) {
            crossed = CPU_AVX_V(cpu_avx_p_below)(CPU_AVX_V(cpu_avx_load)(sum + (H + K + q) * W));
            all = CPU_AVX_V(cpu_avx_add)(all, crossed);
        }
        if (q >= K - H) {
            crossed = CPU_AVX_V(cpu_avx_p_above)(CPU_AVX_V(cpu_avx_load)(sum + (H + q - K) * W));
            all = CPU_AVX_V(cpu_avx_add)(all, crossed);
        }
        CPU_AVX_V(cpu_avx_store)(u + q * W, CPU_AVX_V(cpu_avx_add)(CPU_AVX_V(cpu_avx_load)(u + q * W), all));
    }
}

/* H is a literal where registers matter. */
#define CPU_AVX_P_SWEEPS(H)                                                                                            \
    case H:                                                                                                            \
        for (int s = 0; s < sweeps; s++) CPU_AVX_V(cpu_avx_p_sweep)(H, K, band, u, halo);                              \
        break
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_sweeps)(int H, int K, int sweeps, const CPU_AVX_R *band, CPU_AVX_R *u,
                                              CPU_AVX_R *halo)
{
    switch (H) {
#if CPU_AVX_P_BYTES > 0
        CPU_AVX_P_SWEEPS(1);
        CPU_AVX_P_SWEEPS(2);
        CPU_AVX_P_SWEEPS(3);
        CPU_AVX_P_SWEEPS(4);
        CPU_AVX_P_SWEEPS(5);
        CPU_AVX_P_SWEEPS(6);
        CPU_AVX_P_SWEEPS(7);
        CPU_AVX_P_SWEEPS(8);
        CPU_AVX_P_SWEEPS(12);
        CPU_AVX_P_SWEEPS(16);
#endif
    default:
        for (int s = 0; s < sweeps; s++) CPU_AVX_V(cpu_avx_p_any_sweep)(H, K, band, u, halo);
    }
}
#undef CPU_AVX_P_SWEEPS

/* The band in columns: what u[i] gives to rows i-reach .. i+reach, section by section. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_columns)(int n, int K, int H, int reach, const CPU_AVX_R *from, CPU_AVX_R *to)
{
    const ptrdiff_t wide = 2 * reach + 1;
    memset(to, 0, (size_t)(wide * K) * CPU_AVX_W * sizeof *to);
    for (int i = 0; i < n; i++) {
        CPU_AVX_R *column = to + i % K * wide * CPU_AVX_W + i / K;
        for (int row = i > H ? i - H : 0; row - H <= i && row < n; row++)
            column[(row - i + reach) * CPU_AVX_W] = from[row * (ptrdiff_t)(2 * H + 1) + H + i - row];
    }
}

CPU_AVX_SLOW int CPU_AVX_V(cpu_avx_p_explicit4)(const CPU_AVX_F(cpu_avx_p_march) * m, int first, int last,
                                                CPU_AVX_R *work)
{
    int n = m->n, H = m->H, reach = cpu_avx_p_reach(H), K = CPU_AVX_V(cpu_avx_p_section_rows)(n, reach);
    size_t size = (size_t)K * CPU_AVX_W;
    CPU_AVX_R *band = work, *u = band + (2 * (size_t)reach + 1) * size, *halo = u + size;
    for (int i = first; i < last; i++) {
        CPU_AVX_R *own = m->u + (ptrdiff_t)i * n;
        CPU_AVX_V(cpu_avx_p_columns)(n, K, H, reach, m->a + (ptrdiff_t)i * n * (2 * H + 1), band);
        CPU_AVX_V(cpu_avx_p_to_sections)(n, K, own, u, CPU_AVX_W);
        CPU_AVX_V(cpu_avx_p_sweeps)(reach, K, m->steps, band, u, halo);
        CPU_AVX_V(cpu_avx_p_from_sections)(n, K, u, CPU_AVX_W, own);
    }
    return 0;
}

/* ---- lanes are options: a vector holds a row of W of them -------------------------------------------------------- */

/* A row of up to W options is 5 vectors side by side: a, b, c, u and one to work with. One stream of memory: five would
   meet in the same sets of the cache where n is a power of two. 0 for what is not to be read. */
enum { CPU_AVX_V(cpu_avx_p_lanes_row) = 5 * CPU_AVX_W };
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_load_options)(const CPU_AVX_F(cpu_avx_p_march) * m, int at, int options,
                                                    CPU_AVX_R *row, ptrdiff_t step)
{
    const ptrdiff_t skip = (ptrdiff_t)at * m->n, W = CPU_AVX_W;
    CPU_AVX_V(cpu_avx_p_to_columns)(m->n, options, m->n, m->a + skip, row, step);
    CPU_AVX_V(cpu_avx_p_to_columns)(m->n, options, m->n, m->b + skip, row + W, step);
    CPU_AVX_V(cpu_avx_p_to_columns)(m->n, options, m->n, m->c + skip, row + 2 * W, step);
    CPU_AVX_V(cpu_avx_p_to_columns)(m->n, options, m->n, m->u + skip, row + 3 * W, step);
    CPU_AVX_V(cpu_avx_store)(row, CPU_AVX_V(cpu_avx_set)(0));
    CPU_AVX_V(cpu_avx_store)(row + (m->n - 1) * step + 2 * W, CPU_AVX_V(cpu_avx_set)(0));
}

/* explicit3: a step of W options from the vectors at now to those at next, 3W and 4W or the other way round. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_explicit3_step)(int n, int now, int next, CPU_AVX_R *work)
{
    enum { W = CPU_AVX_W, ROW = CPU_AVX_V(cpu_avx_p_lanes_row) };
    for (CPU_AVX_R *row = work; row < work + (ptrdiff_t)n * ROW; row += ROW) {
        const CPU_AVX_R *u = row + now;
        for (int l = 0; l < W; l++) {
            CPU_AVX_R right = CPU_AVX_V(cpu_avx_p_madd)(row[2 * W + l], u[ROW + l], u[l]);
            CPU_AVX_R both = CPU_AVX_V(cpu_avx_p_madd)(row[l], u[l - ROW], right);
            row[next + l] = CPU_AVX_V(cpu_avx_p_madd)(row[W + l], u[l], both);
        }
    }
}

CPU_AVX_SLOW int CPU_AVX_V(cpu_avx_p_explicit3)(const CPU_AVX_F(cpu_avx_p_march) * m, int first, int last,
                                                CPU_AVX_R *work)
{
    enum { W = CPU_AVX_W, ROW = CPU_AVX_V(cpu_avx_p_lanes_row) };
    const ptrdiff_t size = (ptrdiff_t)m->n * ROW;
    CPU_AVX_R *rows = work + ROW; /* a row of zeros below, and one above */
    memset(work, 0, ROW * sizeof *work);
    memset(rows + size, 0, ROW * sizeof *work);
    for (int i = first; i < last; i += W) {
        int options = last - i < W ? last - i : W;
        CPU_AVX_V(cpu_avx_p_load_options)(m, i, options, rows, ROW);
        for (int s = 1; s < m->steps; s += 2) {
            CPU_AVX_V(cpu_avx_p_explicit3_step)(m->n, 3 * W, 4 * W, rows);
            CPU_AVX_V(cpu_avx_p_explicit3_step)(m->n, 4 * W, 3 * W, rows);
        }
        if (m->steps % 2) CPU_AVX_V(cpu_avx_p_explicit3_step)(m->n, 3 * W, 4 * W, rows);
        CPU_AVX_V(cpu_avx_p_from_columns)
        (m->n, options, m->n, rows + (m->steps % 2 ? 4 : 3) * W, ROW, m->u + (ptrdiff_t)i * m->n);
    }
    return 0;
}

/* implicit1: a step of W options by the Thomas algorithm. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_implicit1_step)(int n, CPU_AVX_R *CPU_AVX_P_RESTRICT work,
                                                      CPU_AVX_R *CPU_AVX_P_RESTRICT bad)
{
    enum { W = CPU_AVX_W, ROW = CPU_AVX_V(cpu_avx_p_lanes_row) };
    CPU_AVX_R y[W] = {0}, q[W] = {0}, *row = work;
    for (int j = 0; j < n; j++, row += ROW)
        for (int l = 0; l < W; l++) {
            CPU_AVX_R r = 1 / CPU_AVX_V(cpu_avx_p_madd)(-row[l], q[l], row[W + l]);
            bad[l] = CPU_AVX_V(cpu_avx_p_bad_reciprocal)(r) ? 1 : bad[l];
            q[l] = r * row[2 * W + l];
            y[l] = r * CPU_AVX_V(cpu_avx_p_madd)(-row[l], y[l], row[3 * W + l]);
            row[4 * W + l] = q[l];
            row[3 * W + l] = y[l];
        }
    for (int j = n - 2; j >= 0; j--) {
        row = work + (ptrdiff_t)j * ROW;
        for (int l = 0; l < W; l++) {
            y[l] = CPU_AVX_V(cpu_avx_p_madd)(-row[4 * W + l], y[l], row[3 * W + l]);
            row[3 * W + l] = y[l];
        }
    }
}

CPU_AVX_SLOW int CPU_AVX_V(cpu_avx_p_implicit1)(const CPU_AVX_F(cpu_avx_p_march) * m, int first, int last,
                                                CPU_AVX_R *work)
{
    enum { W = CPU_AVX_W, ROW = CPU_AVX_V(cpu_avx_p_lanes_row) };
    int status = 0;
    for (int i = first; i < last; i += W) {
        int options = last - i < W ? last - i : W;
        CPU_AVX_R bad[W] = {0}; /* of the type of the values, for the compiler's sake */
        CPU_AVX_V(cpu_avx_p_load_options)(m, i, options, work, ROW);
        for (int s = 0; s < m->steps; s++) CPU_AVX_V(cpu_avx_p_implicit1_step)(m->n, work, bad);
        CPU_AVX_V(cpu_avx_p_from_columns)(m->n, options, m->n, work + 3 * W, ROW, m->u + (ptrdiff_t)i * m->n);
        for (int l = 0; l < options && !status; l++)
            if (bad[l] > 0) status = cpu_avx_p_failed(i + l);
    }
    return status;
}

/* implicit2: a step of groups times W options, groups a literal; rows of the groups take turns in work. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_implicit2_step)(int groups, int n, CPU_AVX_R *work, CPU_AVX_VEC *sound)
{
    enum { W = CPU_AVX_W, ROW = CPU_AVX_V(cpu_avx_p_lanes_row) };
    CPU_AVX_VEC y[CPU_AVX_P_GROUPS], q[CPU_AVX_P_GROUPS];
    CPU_AVX_R *row = work;
    CPU_AVX_P_UNROLL
    for (int g = 0; g < groups; g++) y[g] = q[g] = CPU_AVX_V(cpu_avx_set)(0);
    for (int j = 0; j < n; j++, row += groups * ROW) {
        CPU_AVX_P_UNROLL
        for (int g = 0; g < groups; g++) {
            CPU_AVX_R *at = row + g * ROW;
            CPU_AVX_VEC a = CPU_AVX_V(cpu_avx_load)(at), b = CPU_AVX_V(cpu_avx_load)(at + W);
            CPU_AVX_VEC c = CPU_AVX_V(cpu_avx_load)(at + 2 * W), d = CPU_AVX_V(cpu_avx_load)(at + 3 * W);
            CPU_AVX_V(cpu_avx_p_eliminate)(a, b, c, d, &q[g], &y[g], &sound[g]);
            CPU_AVX_V(cpu_avx_store)(at + 4 * W, q[g]);
            CPU_AVX_V(cpu_avx_store)(at + 3 * W, y[g]);
        }
    }
    for (int j = n - 2; j >= 0; j--) {
        row = work + (ptrdiff_t)j * groups * ROW;
        CPU_AVX_P_UNROLL
        for (int g = 0; g < groups; g++) {
            CPU_AVX_R *at = row + g * ROW;
            CPU_AVX_VEC above = CPU_AVX_V(cpu_avx_load)(at + 4 * W);
            y[g] = CPU_AVX_V(cpu_avx_fnma)(above, y[g], CPU_AVX_V(cpu_avx_load)(at + 3 * W));
            CPU_AVX_V(cpu_avx_store)(at + 3 * W, y[g]);
        }
    }
}

/* Marches a literal count of vectors of options at once, so that one's chain of reciprocals hides the other's. */
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_p_implicit2_together)(int groups, const CPU_AVX_F(cpu_avx_p_march) * m, int first,
                                                           int last, CPU_AVX_R *work)
{
    enum { W = CPU_AVX_W, ROW = CPU_AVX_V(cpu_avx_p_lanes_row) };
    CPU_AVX_VEC sound[CPU_AVX_P_GROUPS];
    int status = 0;
    for (int g = 0, i = first; g < groups; g++, i += W) {
        sound[g] = CPU_AVX_V(cpu_avx_set)(0);
        CPU_AVX_V(cpu_avx_p_load_options)(m, i, last - i < W ? last - i : W, work + g * ROW, groups * ROW);
    }
    for (int s = 0; s < m->steps; s++) CPU_AVX_V(cpu_avx_p_implicit2_step)(groups, m->n, work, sound);
    for (int g = 0, i = first; g < groups; g++, i += W) {
        int options = last - i < W ? last - i : W, bad = CPU_AVX_V(cpu_avx_worst)(sound[g]);
        CPU_AVX_V(cpu_avx_p_from_columns)
        (m->n, options, m->n, work + g * ROW + 3 * W, groups * ROW, m->u + (ptrdiff_t)i * m->n);
        if (bad < options && !status) status = cpu_avx_p_failed(i + bad);
    }
    return status;
}

CPU_AVX_SLOW int CPU_AVX_V(cpu_avx_p_implicit2)(const CPU_AVX_F(cpu_avx_p_march) * m, int first, int last,
                                                CPU_AVX_R *work)
{
    int status = 0, i = first, bad;
    for (; last - i > CPU_AVX_W; i += 2 * CPU_AVX_W) {
        bad =
            CPU_AVX_V(cpu_avx_p_implicit2_together)(2, m, i, last - i < 2 * CPU_AVX_W ? last : i + 2 * CPU_AVX_W, work);
        if (!status) status = bad;
    }
    bad = i < last ? CPU_AVX_V(cpu_avx_p_implicit2_together)(1, m, i, last, work) : 0;
    return status ? status : bad;
}

/* ---- one matrix for all steps, lanes are sections ---------------------------------------------------------------- */

/* A row of sections is 6 vectors side by side: u; r, l and q of cpu_avx_factor; p, what the row takes from the last y
   of the section below; w, what it gives to the first x of its own. */
enum {
    CPU_AVX_V(cpu_avx_p_at_r) = CPU_AVX_W,
    CPU_AVX_V(cpu_avx_p_at_l) = 2 * CPU_AVX_W,
    CPU_AVX_V(cpu_avx_p_at_w) = 3 * CPU_AVX_W,
    CPU_AVX_V(cpu_avx_p_at_p) = 4 * CPU_AVX_W,
    CPU_AVX_V(cpu_avx_p_at_q) = 5 * CPU_AVX_W,
    CPU_AVX_V(cpu_avx_p_sections_row) = 6 * CPU_AVX_W
};

/* What crosses lanes, by scans over them: factors of the steps to the lane 1, 2, 4, 8 away, and how many of the steps
   matter; turn is what the first x of a section takes from the last y of the section below. */
typedef struct {
    CPU_AVX_VEC carry[4], back[4], turn;
    int forward, backward;
} CPU_AVX_V(cpu_avx_p_links);

/* Moves lanes by 2^step, zeros coming in. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_far)(CPU_AVX_VEC v, int step, int backward)
{
    CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0);
#if CPU_AVX_W < 16
    step = step < 3 ? step : 0; /* a shift that does not exist is not asked for */
#endif
#if CPU_AVX_W < 8
    step = step < 2 ? step : 0;
#endif
#if CPU_AVX_W < 4
    step = 0;
#endif
    return backward ? CPU_AVX_V(cpu_avx_down)(v, zero, 1 << step) : CPU_AVX_V(cpu_avx_up)(zero, v, 1 << step);
}
/* v[l] += factor[l] v[l -+ 1] as a recurrence from lane to lane. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_scan)(CPU_AVX_VEC v, const CPU_AVX_VEC *factor, int steps, int backward)
{
    if (steps > 0) v = CPU_AVX_V(cpu_avx_fma)(factor[0], CPU_AVX_V(cpu_avx_p_far)(v, 0, backward), v);
    if (steps > 1) v = CPU_AVX_V(cpu_avx_fma)(factor[1], CPU_AVX_V(cpu_avx_p_far)(v, 1, backward), v);
    if (steps > 2) v = CPU_AVX_V(cpu_avx_fma)(factor[2], CPU_AVX_V(cpu_avx_p_far)(v, 2, backward), v);
    if (steps > 3) v = CPU_AVX_V(cpu_avx_fma)(factor[3], CPU_AVX_V(cpu_avx_p_far)(v, 3, backward), v);
    return v;
}
/* The factors of a scan; returns after how many steps none of them matters any more to rounding. */
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_p_scan_factors)(CPU_AVX_VEC v, CPU_AVX_VEC *factor, int backward)
{
    const CPU_AVX_R roundoff = CPU_AVX_P_SIZE == 4 ? (CPU_AVX_R)0x1p-24 : (CPU_AVX_R)0x1p-53;
    CPU_AVX_R lanes[CPU_AVX_W];
    int steps = 0;
    CPU_AVX_P_UNROLL
    for (int step = 0; step < 4; step++) {
        int matters = 0;
        factor[step] = v;
        CPU_AVX_V(cpu_avx_store)(lanes, v);
        for (int l = 0; l < CPU_AVX_W; l++) matters |= !(lanes[l] <= roundoff && lanes[l] >= -roundoff);
        if (1 << step < CPU_AVX_W && matters) steps = step + 1;
        if (1 << step < CPU_AVX_W) v = CPU_AVX_V(cpu_avx_mul)(v, CPU_AVX_V(cpu_avx_p_far)(v, step, backward));
    }
    return steps;
}

/* Rows of sections, step elements apart, and their links, of an option that cpu_avx_factor has left in f. */
CPU_AVX_SLOW CPU_AVX_V(cpu_avx_p_links)
    CPU_AVX_V(cpu_avx_p_factor_sections)(int n, int K, const CPU_AVX_R *f, CPU_AVX_R *row, ptrdiff_t step)
{
    CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0), p = CPU_AVX_V(cpu_avx_set)(1), w = p;
    CPU_AVX_V(cpu_avx_p_links) links;
    CPU_AVX_V(cpu_avx_p_to_sections)(n, K, f, row + CPU_AVX_V(cpu_avx_p_at_l), step);
    CPU_AVX_V(cpu_avx_p_to_sections)(n, K, f + n, row + CPU_AVX_V(cpu_avx_p_at_r), step);
    CPU_AVX_V(cpu_avx_p_to_sections)(n, K, f + 2 * (ptrdiff_t)n, row + CPU_AVX_V(cpu_avx_p_at_q), step);
    links.turn = zero;
    for (int j = 0; j < K; j++, row += step) {
        p = CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_V(cpu_avx_load)(row + CPU_AVX_V(cpu_avx_p_at_l)), p, zero);
        links.turn = CPU_AVX_V(cpu_avx_fma)(w, p, links.turn);
        CPU_AVX_V(cpu_avx_store)(row + CPU_AVX_V(cpu_avx_p_at_p), p);
        CPU_AVX_V(cpu_avx_store)(row + CPU_AVX_V(cpu_avx_p_at_w), w);
        w = CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_V(cpu_avx_load)(row + CPU_AVX_V(cpu_avx_p_at_q)), w, zero);
    }
    links.forward = CPU_AVX_V(cpu_avx_p_scan_factors)(p, links.carry, 0);
    links.backward = CPU_AVX_V(cpu_avx_p_scan_factors)(w, links.back, 1);
    return links;
}

/* A step of a literal count of options, whose rows take turns in work. Forward each section is eliminated as if nothing
   came from below, and its first x summed up as if nothing came from above; two scans find what does come; backward
   both go in. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_implicit3_step)(int options, int K, int forward, int backward,
                                                        const CPU_AVX_V(cpu_avx_p_links) * links, CPU_AVX_R *work)
{
    enum { R = CPU_AVX_V(cpu_avx_p_at_r), L = CPU_AVX_V(cpu_avx_p_at_l), WEIGHT = CPU_AVX_V(cpu_avx_p_at_w) };
    enum { P = CPU_AVX_V(cpu_avx_p_at_p), Q = CPU_AVX_V(cpu_avx_p_at_q), ROW = CPU_AVX_V(cpu_avx_p_sections_row) };
    CPU_AVX_VEC y[CPU_AVX_P_GROUPS], x[CPU_AVX_P_GROUPS];
    CPU_AVX_R *row = work;
    CPU_AVX_P_UNROLL
    for (int o = 0; o < options; o++) y[o] = x[o] = CPU_AVX_V(cpu_avx_set)(0);
    for (int j = 0; j < K; j++, row += options * ROW) {
        CPU_AVX_P_UNROLL
        for (int o = 0; o < options; o++) {
            CPU_AVX_R *at = row + o * ROW;
            CPU_AVX_VEC d = CPU_AVX_V(cpu_avx_mul)(CPU_AVX_V(cpu_avx_load)(at + R), CPU_AVX_V(cpu_avx_load)(at));
            y[o] = CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_V(cpu_avx_load)(at + L), y[o], d);
            x[o] = CPU_AVX_V(cpu_avx_fma)(CPU_AVX_V(cpu_avx_load)(at + WEIGHT), y[o], x[o]);
            CPU_AVX_V(cpu_avx_store)(at, y[o]);
        }
    }
    CPU_AVX_P_UNROLL
    for (int o = 0; o < options; o++) {
        y[o] = CPU_AVX_V(cpu_avx_p_below)(CPU_AVX_V(cpu_avx_p_scan)(y[o], links[o].carry, forward, 0));
        x[o] = CPU_AVX_V(cpu_avx_fma)(links[o].turn, y[o], x[o]);
        x[o] = CPU_AVX_V(cpu_avx_p_above)(CPU_AVX_V(cpu_avx_p_scan)(x[o], links[o].back, backward, 1));
    }
    for (int j = K - 1; j >= 0; j--) {
        row = work + (ptrdiff_t)j * options * ROW;
        CPU_AVX_P_UNROLL
        for (int o = 0; o < options; o++) {
            CPU_AVX_R *at = row + o * ROW;
            CPU_AVX_VEC d = CPU_AVX_V(cpu_avx_fma)(CPU_AVX_V(cpu_avx_load)(at + P), y[o], CPU_AVX_V(cpu_avx_load)(at));
            x[o] = CPU_AVX_V(cpu_avx_fnma)(CPU_AVX_V(cpu_avx_load)(at + Q), x[o], d);
            CPU_AVX_V(cpu_avx_store)(at, x[o]);
        }
    }
}

/* Marches a literal count of options at once, so that one's chains hide the other's. */
CPU_AVX_INLINE int CPU_AVX_V(cpu_avx_p_implicit3_together)(int options, const CPU_AVX_F(cpu_avx_p_march) * m, int first,
                                                           CPU_AVX_R *work)
{
    enum { ROW = CPU_AVX_V(cpu_avx_p_sections_row) };
    const int n = m->n, K = CPU_AVX_V(cpu_avx_p_section_rows)(n, 1);
    CPU_AVX_V(cpu_avx_p_links) links[CPU_AVX_P_GROUPS];
    CPU_AVX_R *f = work + (ptrdiff_t)K * options * ROW;
    int forward = 0, backward = 0, status = 0;
    for (int o = 0; o < options; o++) {
        ptrdiff_t skip = ((ptrdiff_t)first + o) * n;
        int bad = CPU_AVX_F(cpu_avx_factor)(n, m->a + skip, m->b + skip, m->c + skip, f);
        for (ptrdiff_t j = 0; bad && j < 3 * (ptrdiff_t)n; j++) f[j] = 0;
        if (bad && !status) status = cpu_avx_p_failed(first + o);
        links[o] = CPU_AVX_V(cpu_avx_p_factor_sections)(n, K, f, work + o * ROW, options * ROW);
        CPU_AVX_V(cpu_avx_p_to_sections)(n, K, m->u + skip, work + o * ROW, options * ROW);
        forward = cpu_avx_p_most(forward, links[o].forward);
        backward = cpu_avx_p_most(backward, links[o].backward);
    }
    for (int s = 0; s < m->steps; s++) CPU_AVX_V(cpu_avx_p_implicit3_step)(options, K, forward, backward, links, work);
    for (int o = 0; o < options; o++) {
        CPU_AVX_R *u = m->u + ((ptrdiff_t)first + o) * n;
        CPU_AVX_V(cpu_avx_p_from_sections)(n, K, work + o * ROW, options * ROW, u);
    }
    return status;
}

CPU_AVX_SLOW int CPU_AVX_V(cpu_avx_p_implicit3)(const CPU_AVX_F(cpu_avx_p_march) * m, int first, int last,
                                                CPU_AVX_R *work)
{
    int status = 0, i = first, bad;
    for (; i < last - 1; i += 2) {
        bad = CPU_AVX_V(cpu_avx_p_implicit3_together)(2, m, i, work);
        if (!status) status = bad;
    }
    bad = i < last ? CPU_AVX_V(cpu_avx_p_implicit3_together)(1, m, i, work) : 0;
    return status ? status : bad;
}

/* ---- three factors: rows of the grid ----------------------------------------------------------------------------- */

/* The operator as it is written, at one point of the row, its neighbours in x at distances east and west. */
CPU_AVX_INLINE CPU_AVX_R CPU_AVX_V(cpu_avx_p_grid_point)(int general, const CPU_AVX_F(cpu_avx_p_grid_x) * x,
                                                         const CPU_AVX_F(cpu_avx_p_grid_row) * row, ptrdiff_t i,
                                                         int east, int west)
{
    const CPU_AVX_R *here = row->here[1], *north = row->here[2], *south = row->here[0];
    const CPU_AVX_R *above = row->above[1], *below = row->below[1];
    const CPU_AVX_R u = here[i], de = here[i + east] - u, dw = u - here[i + west], bend = de - dw;
    const CPU_AVX_R du = above[i] - u, dd = u - below[i];
    CPU_AVX_R cross = row->xy * ((north[i + east] - north[i]) - (south[i] - south[i + west]) - bend) +
                      row->xz * ((above[i + east] - above[i]) - (below[i] - below[i + west]) - bend);
    CPU_AVX_R sum = row->up * (north[i] - u) - row->down * (u - south[i]) + row->upward * du - row->downward * dd +
                    row->yz * ((row->above[2][i] - north[i]) - (south[i] - row->below[0][i])) + x->up[i] * de -
                    x->down[i] * dw;
    if (general) {
        cross += row->minus_xy * ((south[i + east] - south[i]) - (north[i] - north[i + west]) - bend) +
                 row->minus_xz * ((below[i + east] - below[i]) - (above[i] - above[i + west]) - bend);
        sum += row->minus_yz * ((row->above[0][i] - south[i]) - (north[i] - row->below[2][i]));
    }
    return row->same * u + (sum + x->weight[i] * cross);
}

/* A row by the plain loop. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_grid_loop)(int general, const CPU_AVX_F(cpu_avx_p_grid_x) * x,
                                                   const CPU_AVX_F(cpu_avx_p_grid_row) * row, int nx)
{
    const CPU_AVX_F(cpu_avx_p_grid_x) axis = *x;
    const CPU_AVX_F(cpu_avx_p_grid_row) r = *row;
    CPU_AVX_R *CPU_AVX_P_RESTRICT out = r.out;
    out[0] = CPU_AVX_V(cpu_avx_p_grid_point)(general, &axis, &r, 0, 1, 0);
    for (int i = 1; i < nx - 1; i++) out[i] = CPU_AVX_V(cpu_avx_p_grid_point)(general, &axis, &r, i, 1, -1);
    out[nx - 1] = CPU_AVX_V(cpu_avx_p_grid_point)(general, &axis, &r, nx - 1, 0, -1);
}

/* Plane k of v from u by plain loops. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_plain)(const CPU_AVX_F(cpu_avx_grid) * g,
                                                  const CPU_AVX_F(cpu_avx_p_grid_x) * x, int k, const CPU_AVX_R *u,
                                                  CPU_AVX_R *v)
{
    const CPU_AVX_F(cpu_avx_p_grid_slab) s = CPU_AVX_F(cpu_avx_p_grid_slab_of)(g, u, k);
    const int general = CPU_AVX_F(cpu_avx_p_grid_general)(g);
    CPU_AVX_F(cpu_avx_p_grid_row) row;
    for (int j = 0; j < g->ny; j++) {
        CPU_AVX_F(cpu_avx_p_grid_row_of)(g, &s, j, k, &row);
        row.out = v + k * CPU_AVX_F(cpu_avx_p_grid_plane_step)(g) + j * (ptrdiff_t)g->pitch;
        if (general)
            CPU_AVX_V(cpu_avx_p_grid_loop)(1, x, &row, g->nx);
        else
            CPU_AVX_V(cpu_avx_p_grid_loop)(0, x, &row, g->nx);
    }
}

#if CPU_AVX_P_BYTES > 0
/* What a row carries from one vector to the next: the differences in x, the two sums of which x takes differences, and
   what is done of the result. */
typedef struct {
    CPU_AVX_VEC east, upper, lower, sum;
} CPU_AVX_V(cpu_avx_p_grid_carry);

/* The vector at p, n of it within the row. */
CPU_AVX_INLINE CPU_AVX_VEC CPU_AVX_V(cpu_avx_p_grid_at)(const CPU_AVX_R *p, int last, int n)
{
    return last ? CPU_AVX_V(cpu_avx_load_part)(p, n) : CPU_AVX_V(cpu_avx_load)(p);
}

/* The vector at i is complete when the upper sum of the one after it is there. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_grid_finish)(const CPU_AVX_F(cpu_avx_p_grid_x) * x,
                                                     const CPU_AVX_F(cpu_avx_p_grid_row) * row, ptrdiff_t i, int last,
                                                     int n, int stream, const CPU_AVX_V(cpu_avx_p_grid_carry) * carry,
                                                     CPU_AVX_VEC upper)
{
    const CPU_AVX_VEC weight = CPU_AVX_V(cpu_avx_load)(x->weight + i);
    const CPU_AVX_VEC shifted = CPU_AVX_V(cpu_avx_down)(carry->upper, upper, 1);
    const CPU_AVX_VEC sum = CPU_AVX_V(cpu_avx_fma)(weight, shifted, carry->sum);
    if (last && n < CPU_AVX_W)
        CPU_AVX_V(cpu_avx_store_part)(row->out + i, n, sum);
    else if (stream)
        CPU_AVX_V(cpu_avx_stream)(row->out + i, sum);
    else
        CPU_AVX_V(cpu_avx_store)(row->out + i, sum);
}

/* One vector of a row. With the differences dn, ds, du, dd to the neighbours in y and z, the cross differences with x
   are differences in x of two sums of them,
       weight (upper[i + 1] - upper[i] + lower[i] - lower[i - 1]),
   so that beside de only these need lanes beyond the vector, and no neighbour in two directions is read in x. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_grid_vector)(int general, const CPU_AVX_F(cpu_avx_p_grid_x) * x,
                                                     const CPU_AVX_F(cpu_avx_p_grid_row) * row, ptrdiff_t i, int first,
                                                     int last, int n, int stream,
                                                     CPU_AVX_V(cpu_avx_p_grid_carry) * carry)
{
#define CPU_AVX_P_AT(p) CPU_AVX_V(cpu_avx_p_grid_at)((p) + i, last, n)
#define CPU_AVX_P_SPREAD(v) CPU_AVX_V(cpu_avx_set)(v)
#define CPU_AVX_P_SUB CPU_AVX_V(cpu_avx_sub)
#define CPU_AVX_P_MUL CPU_AVX_V(cpu_avx_mul)
#define CPU_AVX_P_FMA CPU_AVX_V(cpu_avx_fma)
#define CPU_AVX_P_FNMA CPU_AVX_V(cpu_avx_fnma)
    const CPU_AVX_VEC u = CPU_AVX_P_AT(row->here[1]), north = CPU_AVX_P_AT(row->here[2]);
    const CPU_AVX_VEC south = CPU_AVX_P_AT(row->here[0]);
    const CPU_AVX_VEC next = CPU_AVX_V(cpu_avx_p_grid_at)(row->here[1] + i + 1, last, n - 1);
    const CPU_AVX_VEC de = CPU_AVX_P_SUB(next, u), dn = CPU_AVX_P_SUB(north, u), ds = CPU_AVX_P_SUB(u, south);
    const CPU_AVX_VEC du = CPU_AVX_P_SUB(CPU_AVX_P_AT(row->above[1]), u);
    const CPU_AVX_VEC dd = CPU_AVX_P_SUB(u, CPU_AVX_P_AT(row->below[1]));
    const CPU_AVX_VEC up_north = CPU_AVX_P_SUB(CPU_AVX_P_AT(row->above[2]), north);
    const CPU_AVX_VEC down_south = CPU_AVX_P_SUB(south, CPU_AVX_P_AT(row->below[0]));
    const CPU_AVX_VEC xy = CPU_AVX_P_SPREAD(row->xy), xz = CPU_AVX_P_SPREAD(row->xz);
    CPU_AVX_VEC upper = CPU_AVX_P_FMA(xy, dn, CPU_AVX_P_MUL(xz, du));
    CPU_AVX_VEC lower = CPU_AVX_P_FMA(xy, ds, CPU_AVX_P_MUL(xz, dd));
    CPU_AVX_VEC in_y = CPU_AVX_P_MUL(CPU_AVX_P_SPREAD(row->up), dn);
    CPU_AVX_VEC in_z = CPU_AVX_P_MUL(CPU_AVX_P_SPREAD(row->upward), du);
    CPU_AVX_VEC in_x = CPU_AVX_P_MUL(CPU_AVX_V(cpu_avx_load)(x->up + i), de);
    in_y = CPU_AVX_P_FNMA(CPU_AVX_P_SPREAD(row->down), ds, in_y);
    in_z = CPU_AVX_P_FNMA(CPU_AVX_P_SPREAD(row->downward), dd, in_z);
    in_z = CPU_AVX_P_FMA(CPU_AVX_P_SPREAD(row->yz), CPU_AVX_P_SUB(up_north, down_south), in_z);
    if (general) {
        const CPU_AVX_VEC minus_xy = CPU_AVX_P_SPREAD(row->minus_xy), minus_xz = CPU_AVX_P_SPREAD(row->minus_xz);
        const CPU_AVX_VEC up_south = CPU_AVX_P_SUB(CPU_AVX_P_AT(row->above[0]), south);
        const CPU_AVX_VEC down_north = CPU_AVX_P_SUB(north, CPU_AVX_P_AT(row->below[2]));
        upper = CPU_AVX_P_FNMA(minus_xy, ds, CPU_AVX_P_FNMA(minus_xz, dd, upper));
        lower = CPU_AVX_P_FNMA(minus_xy, dn, CPU_AVX_P_FNMA(minus_xz, du, lower));
        in_y = CPU_AVX_P_FMA(CPU_AVX_P_SPREAD(row->minus_yz), CPU_AVX_P_SUB(up_south, down_north), in_y);
    }
    const CPU_AVX_VEC dw = CPU_AVX_V(cpu_avx_up)(carry->east, de, 1);
    const CPU_AVX_VEC inner = CPU_AVX_P_SUB(CPU_AVX_P_SUB(lower, upper), CPU_AVX_V(cpu_avx_up)(carry->lower, lower, 1));
    in_x = CPU_AVX_P_FNMA(CPU_AVX_V(cpu_avx_load)(x->down + i), dw, in_x);
    in_x = CPU_AVX_P_FMA(CPU_AVX_V(cpu_avx_load)(x->weight + i), inner, in_x);
    const CPU_AVX_VEC sum = CPU_AVX_V(cpu_avx_add)(in_x, CPU_AVX_V(cpu_avx_add)(in_y, in_z));
    if (!first) CPU_AVX_V(cpu_avx_p_grid_finish)(x, row, i - CPU_AVX_W, 0, CPU_AVX_W, stream, carry, upper);
    CPU_AVX_P_PREFETCH(row->ahead + i);
    carry->east = de;
    carry->upper = upper;
    carry->lower = lower;
    carry->sum = CPU_AVX_P_FMA(CPU_AVX_P_SPREAD(row->same), u, sum);
    if (last) CPU_AVX_V(cpu_avx_p_grid_finish)(x, row, i, 1, n, stream, carry, CPU_AVX_P_SPREAD(0));
#undef CPU_AVX_P_AT
#undef CPU_AVX_P_SPREAD
#undef CPU_AVX_P_SUB
#undef CPU_AVX_P_MUL
#undef CPU_AVX_P_FMA
#undef CPU_AVX_P_FNMA
}

#endif

/* A row from end to end; the first and the last vector know of the ends. Plain C gains nothing by it. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_grid_vectors)(int general, const CPU_AVX_F(cpu_avx_p_grid_x) * x,
                                                      const CPU_AVX_F(cpu_avx_p_grid_row) * row, int nx, int stream)
{
#if CPU_AVX_P_BYTES == 0
    (void)stream;
    CPU_AVX_V(cpu_avx_p_grid_loop)(general, x, row, nx);
#else
    const CPU_AVX_F(cpu_avx_p_grid_x) axis = *x;
    const CPU_AVX_F(cpu_avx_p_grid_row) r = *row;
    const CPU_AVX_VEC zero = CPU_AVX_V(cpu_avx_set)(0);
    CPU_AVX_V(cpu_avx_p_grid_carry) carry = {zero, zero, zero, zero};
    ptrdiff_t i = 0;
    if (nx > CPU_AVX_W) {
        CPU_AVX_V(cpu_avx_p_grid_vector)(general, &axis, &r, 0, 1, 0, CPU_AVX_W, stream, &carry);
        for (i = CPU_AVX_W; i < nx - CPU_AVX_W; i += CPU_AVX_W)
            CPU_AVX_V(cpu_avx_p_grid_vector)(general, &axis, &r, i, 0, 0, CPU_AVX_W, stream, &carry);
    }
    CPU_AVX_V(cpu_avx_p_grid_vector)(general, &axis, &r, i, i == 0, 1, nx - (int)i, stream, &carry);
#endif
}

/* Rows j0 .. j1-1 of plane k from what the slab has; row j0 goes to out. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_plane)(const CPU_AVX_F(cpu_avx_grid) * g,
                                                  const CPU_AVX_F(cpu_avx_p_grid_x) * x, int k, int j0, int j1,
                                                  const CPU_AVX_F(cpu_avx_p_grid_slab) * slab, CPU_AVX_R *out,
                                                  ptrdiff_t out_pitch, int stream)
{
    const int general = CPU_AVX_F(cpu_avx_p_grid_general)(g);
    CPU_AVX_F(cpu_avx_p_grid_row) row;
    for (int j = j0; j < j1; j++) {
        CPU_AVX_F(cpu_avx_p_grid_row_of)(g, slab, j, k, &row);
        row.out = out + (j - j0) * out_pitch;
        if (general)
            CPU_AVX_V(cpu_avx_p_grid_vectors)(1, x, &row, g->nx, stream);
        else
            CPU_AVX_V(cpu_avx_p_grid_vectors)(0, x, &row, g->nx, stream);
    }
}

/* Two steps from u to v for the rows and planes of the tile. Of the first step, which one more row and plane on each
   side are made of, three planes are kept in the ring; the second is a plane behind. One step alone needs no ring. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_march)(const CPU_AVX_F(cpu_avx_grid) * g,
                                                  const CPU_AVX_F(cpu_avx_p_grid_x) * x,
                                                  const CPU_AVX_F(cpu_avx_p_grid_tile) * t, int steps,
                                                  const CPU_AVX_R *u, CPU_AVX_R *v, CPU_AVX_R *ring, int stream)
{
    const ptrdiff_t pitch = (ptrdiff_t)g->pitch, plane = CPU_AVX_F(cpu_avx_p_grid_plane_step)(g);
    CPU_AVX_R *out = v + t->j0 * pitch;
    CPU_AVX_F(cpu_avx_p_grid_slab) given, made;
    made.from = t->j0 > 0 ? t->j0 - 1 : 0;
    made.to = t->j1 < g->ny ? t->j1 + 1 : g->ny;
    made.pitch = CPU_AVX_F(cpu_avx_p_grid_work_pitch)(g);
    const ptrdiff_t slot = made.pitch * (made.to - made.from);
    for (int k = steps == 2 && t->k0 > 0 ? t->k0 - 1 : t->k0; k < t->k1 + steps - 1; k++) {
        const int now = k - 1;
        if (k < g->nz) given = CPU_AVX_F(cpu_avx_p_grid_slab_of)(g, u, k);
        if (steps == 1) {
            CPU_AVX_V(cpu_avx_p_grid_plane)(g, x, k, t->j0, t->j1, &given, out + k * plane, pitch, stream);
            continue;
        }
        if (k < g->nz)
            CPU_AVX_V(cpu_avx_p_grid_plane)(g, x, k, made.from, made.to, &given, ring + k % 3 * slot, made.pitch, 0);
        if (now < t->k0) continue;
        made.plane[0] = ring + (now > 0 ? now - 1 : now) % 3 * slot;
        made.ahead = made.plane[1] = ring + now % 3 * slot;
        made.plane[2] = ring + (now < g->nz - 1 ? now + 1 : now) % 3 * slot;
        CPU_AVX_V(cpu_avx_p_grid_plane)(g, x, now, t->j0, t->j1, &made, out + now * plane, pitch, stream);
    }
    cpu_avx_fence();
}

/* Lines of cpu_avx_factor's matrix by the plain loop, count of them side by side, in place. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_grid_solve)(int n, const CPU_AVX_R *f, CPU_AVX_R *x, ptrdiff_t step, int count)
{
    const CPU_AVX_R *l = f, *r = f + n, *q = f + 2 * (ptrdiff_t)n;
    for (int i = 0; i < count; i++) x[i] *= r[0];
    for (int j = 1; j < n; j++) {
        const CPU_AVX_R *below = x + (j - 1) * step;
        CPU_AVX_R *CPU_AVX_P_RESTRICT row = x + j * step;
        for (int i = 0; i < count; i++) row[i] = r[j] * row[i] - l[j] * below[i];
    }
    for (int j = n - 2; j >= 0; j--) {
        const CPU_AVX_R *above = x + (j + 1) * step;
        CPU_AVX_R *CPU_AVX_P_RESTRICT row = x + j * step;
        for (int i = 0; i < count; i++) row[i] -= q[j] * above[i];
    }
}

/* The x lines of plane k one after another, then its y lines side by side. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_plain_x)(const CPU_AVX_F(cpu_avx_grid) * g, const CPU_AVX_R *f, CPU_AVX_R *v)
{
    for (int j = 0; j < g->ny; j++) CPU_AVX_V(cpu_avx_p_grid_solve)(g->nx, f, v + j * (ptrdiff_t)g->pitch, 1, 1);
}
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_plain_y)(const CPU_AVX_F(cpu_avx_grid) * g, const CPU_AVX_R *f, CPU_AVX_R *v)
{
    CPU_AVX_V(cpu_avx_p_grid_solve)(g->ny, f, v, (ptrdiff_t)g->pitch, g->nx);
}
/* The z lines of a row, and u += v. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_plain_z)(const CPU_AVX_F(cpu_avx_grid) * g, const CPU_AVX_R *f, CPU_AVX_R *v,
                                                    CPU_AVX_R *u)
{
    const ptrdiff_t plane = CPU_AVX_F(cpu_avx_p_grid_plane_step)(g);
    CPU_AVX_V(cpu_avx_p_grid_solve)(g->nz, f, v, plane, g->nx);
    for (int k = 0; k < g->nz; k++)
        for (int i = 0; i < g->nx; i++) u[k * plane + i] += v[k * plane + i];
}

/* count lines side by side, in place, as many at a time as there are vectors in flight. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_grid_lines)(int n, const CPU_AVX_R *f, CPU_AVX_R *x, ptrdiff_t step, int count)
{
    int i = 0;
    for (; i + 4 * CPU_AVX_W <= count; i += 4 * CPU_AVX_W) CPU_AVX_V(cpu_avx_lines_solve)(n, f, x + i, step, 4);
    for (; i + CPU_AVX_W <= count; i += CPU_AVX_W) CPU_AVX_V(cpu_avx_lines_solve)(n, f, x + i, step, 1);
    if (i < count) CPU_AVX_V(cpu_avx_lines_solve_part)(n, f, x + i, step, count - i);
}

/* A row to where it may be stored past the caches. */
CPU_AVX_INLINE void CPU_AVX_V(cpu_avx_p_grid_move)(const CPU_AVX_R *from, CPU_AVX_R *to, int n, int stream)
{
    int i = 0;
    for (; i + CPU_AVX_W <= n; i += CPU_AVX_W) {
        const CPU_AVX_VEC v = CPU_AVX_V(cpu_avx_load)(from + i);
        if (stream)
            CPU_AVX_V(cpu_avx_stream)(to + i, v);
        else
            CPU_AVX_V(cpu_avx_store)(to + i, v);
    }
    if (i < n) CPU_AVX_V(cpu_avx_store_part)(to + i, n - i, CPU_AVX_V(cpu_avx_load_part)(from + i, n - i));
}

/* Plane k of the right-hand side, solved in x and y while it is in the second-level cache, then stored in v. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_upper)(const CPU_AVX_F(cpu_avx_grid) * g,
                                                  const CPU_AVX_F(cpu_avx_p_grid_x) * x, int k, const CPU_AVX_R *fx,
                                                  const CPU_AVX_R *fy, const CPU_AVX_R *u, CPU_AVX_R *v,
                                                  CPU_AVX_R *work, int stream)
{
    const CPU_AVX_F(cpu_avx_p_grid_slab) s = CPU_AVX_F(cpu_avx_p_grid_slab_of)(g, u, k);
    const ptrdiff_t pitch = CPU_AVX_F(cpu_avx_p_grid_work_pitch)(g);
    CPU_AVX_R *made = work + pitch * CPU_AVX_W, *out = v + k * CPU_AVX_F(cpu_avx_p_grid_plane_step)(g);
    for (int j = 0; j < g->ny; j += CPU_AVX_W) {
        const int rows = g->ny - j < CPU_AVX_W ? g->ny - j : CPU_AVX_W;
        CPU_AVX_V(cpu_avx_p_grid_plane)(g, x, k, j, j + rows, &s, made + j * pitch, pitch, 0);
        CPU_AVX_V(cpu_avx_rows_solve)(g->nx, fx, made + j * pitch, pitch, rows, work);
    }
    CPU_AVX_V(cpu_avx_p_grid_lines)(g->ny, fy, made, pitch, g->nx);
    for (int j = 0; j < g->ny; j++)
        CPU_AVX_V(cpu_avx_p_grid_move)(made + j * pitch, out + j * (ptrdiff_t)g->pitch, g->nx, stream);
    cpu_avx_fence();
}

/* n lines in z from v, solved in work, and added to u. Each row of the arrays lies in pages of its own, where the
   processor's own prefetching does not see it coming. */
CPU_AVX_SLOW void CPU_AVX_V(cpu_avx_p_grid_lower)(const CPU_AVX_F(cpu_avx_grid) * g, const CPU_AVX_R *fz,
                                                  const CPU_AVX_R *v, CPU_AVX_R *u, int n, CPU_AVX_R *work)
{
    enum { ahead = 4, line = 64 / CPU_AVX_P_SIZE };
    const ptrdiff_t plane = CPU_AVX_F(cpu_avx_p_grid_plane_step)(g), pitch = CPU_AVX_F(cpu_avx_p_grid_work_pitch)(g);
    for (int k = 0; k < g->nz; k++) {
        const ptrdiff_t next = (k + ahead < g->nz ? k + ahead : k) * plane;
        for (int i = 0; i < n; i += line) CPU_AVX_P_PREFETCH(v + next + i);
        CPU_AVX_V(cpu_avx_p_grid_move)(v + k * plane, work + k * pitch, n, 0);
    }
    CPU_AVX_V(cpu_avx_p_grid_lines)(g->nz, fz, work, pitch, n);
    for (int k = 0; k < g->nz; k++) {
        const ptrdiff_t next = (k + ahead < g->nz ? k + ahead : k) * plane;
        const CPU_AVX_R *from = work + k * pitch;
        CPU_AVX_R *to = u + k * plane;
        int i = 0;
        for (int at = 0; at < n; at += line) CPU_AVX_P_PREFETCH(u + next + at);
        for (; i + CPU_AVX_W <= n; i += CPU_AVX_W) CPU_AVX_V(cpu_avx_store)
        (to + i, CPU_AVX_V(cpu_avx_add)(CPU_AVX_V(cpu_avx_load)(to + i), CPU_AVX_V(cpu_avx_load)(from + i)));
        for (; i < n; i++) to[i] += from[i];
    }
}

#undef CPU_AVX_V
#undef CPU_AVX_W
#undef CPU_AVX_I
#undef CPU_AVX_P_EITHER
#undef CPU_AVX_P_MOVE
#undef CPU_AVX_P_ALL
#undef CPU_AVX_P_PREFIX
#undef CPU_AVX_P_SUFFIX
#undef CPU_AVX_P_BLOCK
#undef CPU_AVX_P_UNROLL_BOTH
#undef CPU_AVX_P_EACH
#undef CPU_AVX_VEC
#undef CPU_AVX_INLINE
#undef CPU_AVX_SLOW
#undef CPU_AVX_P_HERE
#define CPU_AVX_P_SET_MADE
#undef CPU_AVX_P_SET
#undef CPU_AVX_P_BYTES
#undef CPU_AVX_P_HAS_FMA
#undef CPU_AVX_P_CROSSES
#undef CPU_AVX_P_MASKS
#undef CPU_AVX_P_RCP_BITS
#endif /* CPU_AVX_P_SET */

#ifdef CPU_AVX_P_SET_MADE /* back to the pass that asked for the set */
#undef CPU_AVX_P_SET_MADE
#else /* once for each precision: the sets, then array scope */

/* The sets, and what the text above asks of each: bytes of a vector (0: an array of four lanes, and loops); has it
   multiply-add, moves across the two halves of a vector, masks; how many bits of a reciprocal it approximates (0: it
   divides). */
#define CPU_AVX_P_SET plain
#define CPU_AVX_P_BYTES 0
#define CPU_AVX_P_HAS_FMA 0
#define CPU_AVX_P_CROSSES 0
#define CPU_AVX_P_MASKS 0
#define CPU_AVX_P_RCP_BITS 0
#include CPU_AVX_HEADER
#if CPU_AVX_X86
#define CPU_AVX_P_SET avx
#define CPU_AVX_P_BYTES 32
#define CPU_AVX_P_HAS_FMA 0
#define CPU_AVX_P_CROSSES 0
#define CPU_AVX_P_MASKS 0
#define CPU_AVX_P_RCP_BITS 12
#include CPU_AVX_HEADER
#define CPU_AVX_P_SET avx2
#define CPU_AVX_P_BYTES 32
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_P_CROSSES 1
#define CPU_AVX_P_MASKS 0
#define CPU_AVX_P_RCP_BITS 12
#include CPU_AVX_HEADER
#define CPU_AVX_P_SET avx512
#define CPU_AVX_P_BYTES 64
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_P_CROSSES 1
#define CPU_AVX_P_MASKS 1
#define CPU_AVX_P_RCP_BITS 14
#include CPU_AVX_HEADER
#elif CPU_AVX_ARM
#define CPU_AVX_P_SET neon
#define CPU_AVX_P_BYTES 16
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_P_CROSSES 1
#define CPU_AVX_P_MASKS 0
#define CPU_AVX_P_RCP_BITS 0
#include CPU_AVX_HEADER
#endif

/* ---- array scope: tridiagonal systems ---------------------------------------------------------------------------- */

/* Elements of a thread's store: without vectors one for each row and system in flight; else a slot of two for each row
   and system of a tile (contiguous systems: for each row, rounded up to whole lines of the cache), and three rows
   more. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_p_store_len)(const cpu_avx_lines *lines, int threads)
{
    const size_t n = (size_t)lines->n;
    if (cpu_avx_p_in_numbers(lines, threads, CPU_AVX_P_SIZE))
        return lines->systems * lines->groups > threads ? 2 * n : n;
    size_t rows = (n + 15) / 16 * 16, width = (size_t)cpu_avx_p_width(lines->n, CPU_AVX_P_SIZE);
    return (2 * rows + 3) * width;
}
/* Thread i's part of work, each with this many elements. */
CPU_AVX_API CPU_AVX_R *CPU_AVX_F(cpu_avx_p_share)(void *work, size_t len, int i)
{
    return (CPU_AVX_R *)cpu_avx_p_align((char *)work + (size_t)i * (len * sizeof(CPU_AVX_R) + 64));
}
/* No more threads work than there are systems. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_p_work_bytes)(const cpu_avx_lines *lines, size_t len, int threads)
{
    const long long systems = lines->systems * lines->groups;
    return (size_t)(systems < threads ? systems : threads) * (len * sizeof(CPU_AVX_R) + 64);
}

/* Of the store of cpu_avx_hybrid, whatever the vector: 6W elements a row of the sections, rounded up to lines of the
   cache, a copy of the four arrays, and x before it is refined. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_p_across_len)(long long n)
{
    const size_t most = 64 / CPU_AVX_P_SIZE;
    return 6 * ((size_t)n + most * 16) + 10 * ((size_t)n + most);
}

/* Bytes of work for cpu_avx_thomas, cpu_avx_solve and cpu_avx_hybrid (also refined) on these lines; 0 for lines that
   they do not take, and for threads < 1. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_thomas_bytes)(const cpu_avx_lines *lines, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || !all.n || threads < 1) return 0;
    return CPU_AVX_F(cpu_avx_p_work_bytes)(&all, CPU_AVX_F(cpu_avx_p_store_len)(&all, threads), threads);
}
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_solve_bytes)(const cpu_avx_lines *lines, int threads)
{
    return CPU_AVX_F(cpu_avx_thomas_bytes)(lines, threads);
}
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_hybrid_bytes)(const cpu_avx_lines *lines, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || !all.n || threads < 1) return 0;
    return CPU_AVX_F(cpu_avx_p_work_bytes)(&all, CPU_AVX_F(cpu_avx_p_across_len)(all.n), threads);
}

/* Each thread its part of the plan's tiles by the function named; a macro, so that who calls one compiles no other. */
#define CPU_AVX_P_SOLVE_TILES(stem, length)                                                                            \
    const size_t len = length;                                                                                         \
    long long bad = LLONG_MAX;                                                                                         \
    if (threads > plan.tiles) threads = (int)plan.tiles;                                                               \
    if (threads == 1) { /* opening a region takes as long as a hundred rows */                                         \
        CPU_AVX_P_PICK(isa, bad =, stem, (&plan, batch, CPU_AVX_F(cpu_avx_p_share)(work, len, 0), 0, plan.tiles));     \
        return bad < LLONG_MAX ? cpu_avx_p_failed(bad) : CPU_AVX_OK;                                                   \
    }                                                                                                                  \
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1) reduction(min : bad))                      \
    for (int i = 0; i < threads; i++) {                                                                                \
        CPU_AVX_R *store = CPU_AVX_F(cpu_avx_p_share)(work, len, i);                                                   \
        long long from = cpu_avx_p_part(plan.tiles, threads, i), to = cpu_avx_p_part(plan.tiles, threads, i + 1);      \
        long long first;                                                                                               \
        CPU_AVX_P_PICK(isa, first =, stem, (&plan, batch, store, from, to));                                           \
        if (first < bad) bad = first;                                                                                  \
    }                                                                                                                  \
    return bad < LLONG_MAX ? cpu_avx_p_failed(bad) : CPU_AVX_OK

CPU_AVX_API int CPU_AVX_F(cpu_avx_p_solve_lines)(int isa, const cpu_avx_lines *lines,
                                                 const CPU_AVX_F(cpu_avx_p_batch) * batch, void *work, int threads)
{
    const cpu_avx_p_plan plan = CPU_AVX_F(cpu_avx_p_plan_for)(isa, lines, batch, threads);
    CPU_AVX_P_SOLVE_TILES(cpu_avx_p_tiles, CPU_AVX_F(cpu_avx_p_store_len)(lines, threads));
}
CPU_AVX_API int CPU_AVX_F(cpu_avx_p_solve_across)(int isa, const cpu_avx_lines *lines,
                                                  const CPU_AVX_F(cpu_avx_p_batch) * batch, int refined, void *work,
                                                  int threads)
{
    const cpu_avx_p_plan plan = CPU_AVX_F(cpu_avx_p_plan_across)(isa, lines, batch, refined);
    CPU_AVX_P_SOLVE_TILES(cpu_avx_p_across_tiles, CPU_AVX_F(cpu_avx_p_across_len)(lines->n));
}
#undef CPU_AVX_P_SOLVE_TILES

/* Solves   a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j] by the Thomas algorithm, for every system of the lines, each
            with its own matrix
   Needs    work of cpu_avx_thomas_bytes(lines, threads) bytes; no pivoting is done: safe for diagonally dominant
            matrices; a[0] and c[n-1] may be anything, but must be there; x may be d exactly, and overlaps nothing else
   Returns  0, an error, or 1 + the first system that met a bad pivot, whose x is then unspecified
   Cost     reads a, b, c, d and writes x once; 5 FMA, 2 mul and a reciprocal an element. Fast where stride or step is
            1, most so where all rows of x begin on lines of the cache; other steps are gathered. Up to six systems a
            thread, and contiguous ones of 128 KB or more, go without vectors, two at a time from both ends, with a
            division for the reciprocal: so the number of threads may change how x is rounded */
CPU_AVX_API int CPU_AVX_F(cpu_avx_thomas)(int isa, const cpu_avx_lines *lines, const CPU_AVX_R *a, const CPU_AVX_R *b,
                                          const CPU_AVX_R *c, const CPU_AVX_R *d, CPU_AVX_R *x, void *work, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (!cpu_avx_has(isa)) return CPU_AVX_BAD_ISA;
    if (!all.n || !all.systems) return CPU_AVX_OK;
    if (!a || !b || !c || !d || !x || !work) return CPU_AVX_BAD_ARGUMENT;
    CPU_AVX_F(cpu_avx_p_batch) batch = {a, b, c, d, 0, x};
    return CPU_AVX_F(cpu_avx_p_solve_lines)(isa, &all, &batch, work, threads);
}

/* Solves   the same where one matrix, taken apart by cpu_avx_factor, is that of all systems
   Needs    work of cpu_avx_solve_bytes(lines, threads) bytes; x may be d exactly, and overlaps nothing else
   Returns  0 or an error
   Cost     reads d and writes x once */
CPU_AVX_API int CPU_AVX_F(cpu_avx_solve)(int isa, const cpu_avx_lines *lines, const CPU_AVX_R *f, const CPU_AVX_R *d,
                                         CPU_AVX_R *x, void *work, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (!cpu_avx_has(isa)) return CPU_AVX_BAD_ISA;
    if (!all.n || !all.systems) return CPU_AVX_OK;
    if (!f || !d || !x || !work) return CPU_AVX_BAD_ARGUMENT;
    CPU_AVX_F(cpu_avx_p_batch) batch = {0, 0, 0, d, f, x};
    return CPU_AVX_F(cpu_avx_p_solve_lines)(isa, &all, &batch, work, threads);
}

/* The body of cpu_avx_hybrid, and of cpu_avx_hybrid_refined. */
CPU_AVX_API int CPU_AVX_F(cpu_avx_p_hybrid_of)(int isa, const cpu_avx_lines *lines, const CPU_AVX_R *a,
                                               const CPU_AVX_R *b, const CPU_AVX_R *c, const CPU_AVX_R *d,
                                               CPU_AVX_R *x, int refined, void *work, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (!cpu_avx_has(isa)) return CPU_AVX_BAD_ISA;
    if (!all.n || !all.systems) return CPU_AVX_OK;
    if (!a || !b || !c || !d || !x || !work) return CPU_AVX_BAD_ARGUMENT;
    const CPU_AVX_F(cpu_avx_p_batch) batch = {a, b, c, d, 0, x};
    return CPU_AVX_F(cpu_avx_p_solve_across)(isa, &all, &batch, refined, work, threads);
}

/* Solves   every system of the lines on its own across the lanes of a vector: lane l reduces rows l*K .. l*K+K-1, K
            being n/W rounded up (n/2W from 2 W^2 rows on, unless n is a multiple of W but not of 2W), and parallel
            cyclic reduction finds the last unknown of each lane; its steps are left out once they change nothing to
            rounding
   Needs    work of cpu_avx_hybrid_bytes(lines, threads) bytes; else as cpu_avx_thomas, but it eliminates in another
            order: a matrix that is not dominant can pass one and fail the other
   Returns  as cpu_avx_thomas
   Cost     reads a, b, c, d and writes x once; 10 FMA, 3 mul and a reciprocal an element. For systems one after another
            (step 1) whose n is a multiple of W^2 and which come from memory: it is read in the order in which it lies,
            which with AVX-512 makes this faster than cpu_avx_thomas; other n are slower, the shorter the more. And for
            a few contiguous systems of hundreds of rows. Where n is no multiple of W, or step not 1, they are copied
   Error    x as accurate as the condition of the matrix allows, but the residual, which cpu_avx_thomas keeps within a
            few roundoffs, grows as dominance weakens: the largest |Ax - d| over the largest |A||x| + |d| stays below
            8 + 1 / (K^2.5 (dominance - 1)) roundoffs, dominance being the least |b| / (|a| + |c|) of a row (measured,
            no proof: docs/cpu_avx.md). And an eighth of a roundoff of the system's largest unknown for what is left
            out: unknowns so much smaller than others far from them may come out as 0 */
CPU_AVX_API int CPU_AVX_F(cpu_avx_hybrid)(int isa, const cpu_avx_lines *lines, const CPU_AVX_R *a, const CPU_AVX_R *b,
                                          const CPU_AVX_R *c, const CPU_AVX_R *d, CPU_AVX_R *x, void *work, int threads)
{
    return CPU_AVX_F(cpu_avx_p_hybrid_of)(isa, lines, a, b, c, d, x, 0, work, threads);
}

/* Solves   the same, else as cpu_avx_hybrid, and then A e = d - A x for what x lacks: one step of iterative refinement,
            in the same precision
   Cost     twice the operations of cpu_avx_hybrid and 3 FMA an element; systems are always copied
   Error    the residual is at most 5 roundoffs (measured) as long as K^2.5 (dominance - 1) exceeds 4.9e-4 in single and
            2.1e-8 in double precision. Only the residual gets smaller: the error of x stays that of any solver, the
            condition times a roundoff */
CPU_AVX_API int CPU_AVX_F(cpu_avx_hybrid_refined)(int isa, const cpu_avx_lines *lines, const CPU_AVX_R *a,
                                                  const CPU_AVX_R *b, const CPU_AVX_R *c, const CPU_AVX_R *d,
                                                  CPU_AVX_R *x, void *work, int threads)
{
    return CPU_AVX_F(cpu_avx_p_hybrid_of)(isa, lines, a, b, c, d, x, 1, work, threads);
}

/* ---- array scope: one factor ------------------------------------------------------------------------------------- */

/* Solves   bytes of work for cpu_avx_explicit1 to 3 (H = 0) and 4 */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_explicit_bytes)(int n, int H, int threads)
{
    return threads > 0 ? (size_t)threads * CPU_AVX_F(cpu_avx_p_explicit_share)(n, H) : 0;
}
/* Solves   bytes of work for cpu_avx_implicit1 to 3 */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_implicit_bytes)(int n, int threads)
{
    return threads > 0 ? (size_t)threads * CPU_AVX_F(cpu_avx_p_implicit_share)(n) : 0;
}

/* The body of a rung: options in parts of whole units to threads. */
#define CPU_AVX_P_MARCH(stem, unit, bytes)                                                                             \
    long long least = LLONG_MAX;                                                                                       \
    int status = CPU_AVX_F(cpu_avx_p_refused)(isa, options, threads, &m, work);                                        \
    if (status || !options || !m.n || !m.steps) return status;                                                         \
    const int units = options / (unit) + (options % (unit) != 0);                                                      \
    if (threads > units) threads = units;                                                                              \
    const size_t part = bytes;                                                                                         \
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) reduction(min : least))                                        \
    for (int t = 0; t < threads; t++) {                                                                                \
        CPU_AVX_R *mine = (CPU_AVX_R *)cpu_avx_p_align((char *)work + (size_t)t * part);                               \
        long long from = cpu_avx_p_part(units, threads, t) * (unit);                                                   \
        long long to = cpu_avx_p_part(units, threads, t + 1) * (unit);                                                 \
        int bad = 0;                                                                                                   \
        CPU_AVX_P_PICK_MARCH(isa, bad =, stem, (&m, (int)from, (int)(to < options ? to : options), mine));             \
        if (bad > 0 && bad < least) least = bad;                                                                       \
    }                                                                                                                  \
    return least < LLONG_MAX ? (int)least : CPU_AVX_OK

/* Solves   steps explicit steps of each option of a batch, u[j] += a[j] u[j-1] + b[j] u[j] + c[j] u[j+1]; row j of
            option i lies at [i*n + j] of each array. The plain loop over a grid, which the compiler makes vectors of
   Needs    options, n, steps >= 0, options and n below 2^31 - 64; a[0] and c[n-1] of an option may be
            anything; work of cpu_avx_explicit_bytes(n, 0, threads) bytes; arrays of any alignment that do not overlap
   Leaves   the values after the last step in u
   Returns  CPU_AVX_OK, CPU_AVX_BAD_ARGUMENT or CPU_AVX_BAD_ISA
   Cost     3 FMA, 6 loads and a store for each row and step
   Error    some three roundings of a row's value a step */
CPU_AVX_API int CPU_AVX_F(cpu_avx_explicit1)(int isa, int options, int n, int steps, const CPU_AVX_R *a,
                                             const CPU_AVX_R *b, const CPU_AVX_R *c, CPU_AVX_R *u, void *work,
                                             int threads)
{
    CPU_AVX_F(cpu_avx_p_march) m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_MARCH(cpu_avx_p_explicit1, 1, CPU_AVX_F(cpu_avx_p_explicit_share)(n, 0));
}
/* The same, else as cpu_avx_explicit1: lanes are sections of the grid, so that neighbours are in the vectors before and
   after and only the ends of a section cross lanes, and two steps are taken in one sweep, of some options in turn.
   Cost     6 FMA, 4 loads and a store for each row and two steps; 4 shuffles for two steps; once, a transpose */
CPU_AVX_API int CPU_AVX_F(cpu_avx_explicit2)(int isa, int options, int n, int steps, const CPU_AVX_R *a,
                                             const CPU_AVX_R *b, const CPU_AVX_R *c, CPU_AVX_R *u, void *work,
                                             int threads)
{
    CPU_AVX_F(cpu_avx_p_march) m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_MARCH(cpu_avx_p_explicit2, 1, CPU_AVX_F(cpu_avx_p_explicit_share)(n, 0));
}
/* The same, else as cpu_avx_explicit1: lanes are options, so that nothing crosses lanes and the compiler can make
   vectors of the loop over the options alone; but W options at once do not fit the nearest cache.
   Cost     3 FMA, 6 loads and a store for each row and step; once, a transpose */
CPU_AVX_API int CPU_AVX_F(cpu_avx_explicit3)(int isa, int options, int n, int steps, const CPU_AVX_R *a,
                                             const CPU_AVX_R *b, const CPU_AVX_R *c, CPU_AVX_R *u, void *work,
                                             int threads)
{
    CPU_AVX_F(cpu_avx_p_march) m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_MARCH(cpu_avx_p_explicit3, CPU_AVX_F(cpu_avx_width)(isa), CPU_AVX_F(cpu_avx_p_explicit_share)(n, 0));
}
/* Solves   sweeps composed steps, u[j] += sum of band[k] u[j-H+k], k = 0 .. 2H: many steps of explicit2 for the few
            operations of one, since a stencil of some width holds a power of a narrow one to rounding. The band of row
            j of option i begins at [(i*n + j)*(2H+1)] (bs1d.h, bs1d_lane_compose, makes such bands)
   Needs    1 <= H <= 32, in registers up to 16 (9 to 12 cost as 12, 13 to 16 as 16); what would multiply a row outside
            the grid is not read; work of cpu_avx_explicit_bytes(n, H, threads) bytes; else as cpu_avx_explicit1
   Leaves, Returns as cpu_avx_explicit1
   Cost     2H+1 FMA, 2H+2 loads (in single precision 2H+3) and a store for each row and sweep; 2H shuffles a sweep
   Error    a rounding of u a sweep (in double precision H+2): in single precision the products are summed before they
            meet u, in which the small ones would be lost */
CPU_AVX_API int CPU_AVX_F(cpu_avx_explicit4)(int isa, int options, int n, int H, int sweeps, const CPU_AVX_R *band,
                                             CPU_AVX_R *u, void *work, int threads)
{
    CPU_AVX_F(cpu_avx_p_march) m = {n, sweeps, H, band, band, band, u};
    if (H < 1 || H > CPU_AVX_P_REACH) return CPU_AVX_BAD_ARGUMENT;
    CPU_AVX_P_MARCH(cpu_avx_p_explicit4, 1, CPU_AVX_F(cpu_avx_p_explicit_share)(n, H));
}
/* Solves   steps implicit steps of each option: M u' = u, rows of M in a, b, c; row j of option i lies at [i*n + j].
            The Thomas algorithm over W options at once, of which the compiler makes vectors; the matrix is eliminated
            anew in each step, as if it had changed
   Needs    work of cpu_avx_implicit_bytes(n, threads) bytes; M dominant, or close: there is no pivoting; else as
            cpu_avx_explicit1
   Leaves   the values after the last step in u; those of an option that has met a bad pivot are not specified, the
            others are what they should be
   Returns  CPU_AVX_OK, CPU_AVX_BAD_ARGUMENT, CPU_AVX_BAD_ISA, or 1 + the first option with a bad pivot
   Cost     3 FMA, 2 mul and a division for each row and step, 6 loads, 3 stores
   Error    that of Gaussian elimination without pivoting, a dozen roundoffs a step in the residual */
CPU_AVX_API int CPU_AVX_F(cpu_avx_implicit1)(int isa, int options, int n, int steps, const CPU_AVX_R *a,
                                             const CPU_AVX_R *b, const CPU_AVX_R *c, CPU_AVX_R *u, void *work,
                                             int threads)
{
    CPU_AVX_F(cpu_avx_p_march) m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_MARCH(cpu_avx_p_implicit1, CPU_AVX_F(cpu_avx_width)(isa), CPU_AVX_F(cpu_avx_p_implicit_share)(n));
}
/* The same, else as cpu_avx_implicit1: written in intrinsics, with the fast reciprocal for the division and twice W
   options at once, so that the chain of reciprocals of one half hides that of the other.
   Cost     5 FMA, 2 mul and a reciprocal for each row and step, 6 loads, 3 stores */
CPU_AVX_API int CPU_AVX_F(cpu_avx_implicit2)(int isa, int options, int n, int steps, const CPU_AVX_R *a,
                                             const CPU_AVX_R *b, const CPU_AVX_R *c, CPU_AVX_R *u, void *work,
                                             int threads)
{
    CPU_AVX_F(cpu_avx_p_march) m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_MARCH(cpu_avx_p_implicit2, CPU_AVX_F(cpu_avx_width)(isa), CPU_AVX_F(cpu_avx_p_implicit_share)(n));
}
/* The same, else as cpu_avx_implicit1: the matrix does not change and is factored once, and lanes are sections of a
   grid, so that two options at once stay in the nearest cache; scans over the lanes join the sections, of whose steps
   those are left out that no longer change anything to rounding.
   Cost     4 FMA, 1 mul, 7 loads and 2 stores for each row and step, no division; 2s + 1 FMA and 2s + 2 shuffles a
            step, s <= log2 W
   Error    as cpu_avx_implicit1, and of the order of a roundoff of the largest value a step for what is left out */
CPU_AVX_API int CPU_AVX_F(cpu_avx_implicit3)(int isa, int options, int n, int steps, const CPU_AVX_R *a,
                                             const CPU_AVX_R *b, const CPU_AVX_R *c, CPU_AVX_R *u, void *work,
                                             int threads)
{
    CPU_AVX_F(cpu_avx_p_march) m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_MARCH(cpu_avx_p_implicit3, 1, CPU_AVX_F(cpu_avx_p_implicit_share)(n));
}
#undef CPU_AVX_P_MARCH

/* ---- array scope: three factors ---------------------------------------------------------------------------------- */

/* Into how many blocks of rows and sections of planes an explicit sweep is cut, and the rows of a block at most. */
typedef struct {
    int blocks, sections, rows;
} CPU_AVX_F(cpu_avx_p_grid_cut);

/* Blocks of which six planes, three of each step, stay in the cache, as many as there are threads or a multiple;
   sections where blocks would be too flat. */
CPU_AVX_API CPU_AVX_F(cpu_avx_p_grid_cut)
    CPU_AVX_F(cpu_avx_p_grid_cut_of)(const CPU_AVX_F(cpu_avx_grid) * g, int threads)
{
    CPU_AVX_F(cpu_avx_p_grid_cut) cut;
    const long long flat = 16, most = CPU_AVX_GRID_CACHE / (6 * (long long)sizeof(CPU_AVX_R) * g->nx);
    const long long blocks = (g->ny - 1) / (most > flat ? most : flat) + 1, rounds = (blocks - 1) / threads + 1;
    cut.blocks = (int)(g->ny / flat >= rounds * threads ? rounds * threads : blocks);
    cut.sections = 1;
    while (cut.blocks * cut.sections % threads && cut.sections < 8 && flat * cut.sections < g->nz) cut.sections++;
    cut.rows = (g->ny - 1) / cut.blocks + 1;
    return cut;
}

/* What each thread has for itself in work, in elements: three planes of an explicit block with a row on each side; a
   whole plane, and W rows; or the z lines of a row. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_p_grid_own)(const CPU_AVX_F(cpu_avx_grid) * g, int threads)
{
    const size_t ring = 3 * ((size_t)CPU_AVX_F(cpu_avx_p_grid_cut_of)(g, threads).rows + 2);
    const size_t plane = (size_t)g->ny + 64 / CPU_AVX_P_SIZE, lines = (size_t)g->nz;
    const size_t most = ring > plane ? ring : plane;
    return (size_t)CPU_AVX_F(cpu_avx_p_grid_work_pitch)(g) * (most > lines ? most : lines);
}

CPU_AVX_API int CPU_AVX_F(cpu_avx_p_grid_fine)(const CPU_AVX_F(cpu_avx_grid) * g)
{
    if (!g || g->nx < 4 || g->ny < 4 || g->nz < 4 || g->pitch < g->nx) return 0;
    for (int axis = 0; axis < 3; axis++)
        if (!g->down[axis] || !g->up[axis] || !g->weight[axis]) return 0;
    return 1;
}

/* Bytes of work for the functions below; 0 for a grid that they do not take, or threads < 1. */
CPU_AVX_API size_t CPU_AVX_F(cpu_avx_grid_bytes)(const CPU_AVX_F(cpu_avx_grid) * g, int threads)
{
    if (!CPU_AVX_F(cpu_avx_p_grid_fine)(g) || threads < 1) return 0;
    return 64 + sizeof(CPU_AVX_R) * (3 * (size_t)CPU_AVX_F(cpu_avx_p_grid_work_pitch)(g) +
                                     (size_t)threads * CPU_AVX_F(cpu_avx_p_grid_own)(g, threads));
}

/* The numbers of x, at the start of work, and after them what threads have for themselves. */
CPU_AVX_API CPU_AVX_F(cpu_avx_p_grid_x)
    CPU_AVX_F(cpu_avx_p_grid_prepare)(const CPU_AVX_F(cpu_avx_grid) * g, void *work, CPU_AVX_R **own)
{
    const ptrdiff_t n = CPU_AVX_F(cpu_avx_p_grid_work_pitch)(g);
    CPU_AVX_R *up = (CPU_AVX_R *)cpu_avx_p_align(work), *down = up + n, *weight = down + n;
    CPU_AVX_F(cpu_avx_p_grid_x) x;
    for (ptrdiff_t i = 0; i < n; i++) {
        up[i] = i < g->nx ? g->up[0][i] : 0;
        down[i] = i < g->nx ? g->down[0][i] : 0;
        weight[i] = i < g->nx ? g->weight[0][i] : 0;
    }
    x.up = up;
    x.down = down;
    x.weight = weight;
    *own = weight + n;
    return x;
}

/* May rows of the array be stored past the caches? If they are whole lines, and too many to stay there. */
CPU_AVX_API int CPU_AVX_F(cpu_avx_p_grid_streams)(const CPU_AVX_F(cpu_avx_grid) * g, const CPU_AVX_R *out)
{
    const size_t pitch = (size_t)g->pitch * sizeof *out;
    return pitch % 64 == 0 && (uintptr_t)out % 64 == 0 && (double)pitch * g->ny * g->nz >= CPU_AVX_STREAM_BYTES;
}

/* One sweep of one or two steps from u to v. */
CPU_AVX_API void CPU_AVX_F(cpu_avx_p_grid_sweep)(int isa, const CPU_AVX_F(cpu_avx_grid) * g,
                                                 const CPU_AVX_F(cpu_avx_p_grid_x) * x, int steps, const CPU_AVX_R *u,
                                                 CPU_AVX_R *v, CPU_AVX_R *own, int threads)
{
    const CPU_AVX_F(cpu_avx_p_grid_cut) cut = CPU_AVX_F(cpu_avx_p_grid_cut_of)(g, threads);
    const size_t length = CPU_AVX_F(cpu_avx_p_grid_own)(g, threads);
    const int stream = CPU_AVX_F(cpu_avx_p_grid_streams)(g, v);
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))
    for (int thread = 0; thread < threads; thread++)
        for (int task = thread; task < cut.blocks * cut.sections; task += threads) {
            const int block = task / cut.sections, section = task % cut.sections;
            CPU_AVX_F(cpu_avx_p_grid_tile) t;
            t.j0 = (int)cpu_avx_p_part(g->ny, cut.blocks, block);
            t.j1 = (int)cpu_avx_p_part(g->ny, cut.blocks, block + 1);
            t.k0 = (int)cpu_avx_p_part(g->nz, cut.sections, section);
            t.k1 = (int)cpu_avx_p_part(g->nz, cut.sections, section + 1);
            CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_march,
                                 (g, x, &t, steps, u, v, own + (size_t)thread * length, stream));
        }
}

/* The points of u from v. */
CPU_AVX_API void CPU_AVX_F(cpu_avx_p_grid_copy)(const CPU_AVX_F(cpu_avx_grid) * g, const CPU_AVX_R *v, CPU_AVX_R *u,
                                                int threads)
{
    const long long rows = (long long)g->ny * g->nz;
    (void)threads;
    CPU_AVX_P_OMP(omp parallel for num_threads(threads))
    for (long long row = 0; row < rows; row++)
        memcpy(u + row * g->pitch, v + row * g->pitch, (size_t)g->nx * sizeof *u);
}

CPU_AVX_API int CPU_AVX_F(cpu_avx_p_grid_status)(int isa, const CPU_AVX_F(cpu_avx_grid) * g, int steps,
                                                 const CPU_AVX_R *u, const CPU_AVX_R *v, const void *work, int threads)
{
    if (!CPU_AVX_F(cpu_avx_p_grid_fine)(g) || steps < 0 || !u || !v || !work || threads < 1)
        return CPU_AVX_BAD_ARGUMENT;
    return cpu_avx_has(isa) ? CPU_AVX_OK : CPU_AVX_BAD_ISA;
}

/* Solves   steps explicit steps, u <- u + L u, same in g being 1 - discount: every neighbour read where it lies, the
            loop over x left to the compiler
   Needs    v of u's size, work of cpu_avx_grid_bytes
   Leaves   the result in u; v is work
   Cost     42 operations a point and step (13 points; 66 if 19) and 13 loads (19), the arrays once each way */
CPU_AVX_API int CPU_AVX_F(cpu_avx_grid_explicit1)(int isa, const CPU_AVX_F(cpu_avx_grid) * g, int steps, CPU_AVX_R *u,
                                                  CPU_AVX_R *v, void *work, int threads)
{
    const int status = CPU_AVX_F(cpu_avx_p_grid_status)(isa, g, steps, u, v, work, threads);
    if (status) return status;
    CPU_AVX_R *own, *from = u, *to = v;
    const CPU_AVX_F(cpu_avx_p_grid_x) x = CPU_AVX_F(cpu_avx_p_grid_prepare)(g, work, &own);
    for (int step = 0; step < steps; step++) {
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_plain, (g, &x, k, from, to));
        CPU_AVX_R *swap = from;
        from = to;
        to = swap;
    }
    if (from != u) CPU_AVX_F(cpu_avx_p_grid_copy)(g, v, u, threads);
    return CPU_AVX_OK;
}

/* Solves   the same; two steps a sweep in blocks of rows that stay in the second-level cache, cross differences with x
            from sums that are shared, so that a vector loads 8 of its neighbours (10) instead of 13 (19)
   Cost     14 multiply-adds or multiplications, 12 additions (19, 15) and 3 moves between lanes a vector and step, some
            rows of each block twice; the arrays once each way for two steps */
CPU_AVX_API int CPU_AVX_F(cpu_avx_grid_explicit2)(int isa, const CPU_AVX_F(cpu_avx_grid) * g, int steps, CPU_AVX_R *u,
                                                  CPU_AVX_R *v, void *work, int threads)
{
    const int status = CPU_AVX_F(cpu_avx_p_grid_status)(isa, g, steps, u, v, work, threads);
    if (status) return status;
    CPU_AVX_R *own, *from = u, *to = v;
    const CPU_AVX_F(cpu_avx_p_grid_x) x = CPU_AVX_F(cpu_avx_p_grid_prepare)(g, work, &own);
    const int spare = (4 - steps % 4) % 4; /* single steps, so that the number of sweeps is even and ends in u */
    const int single = spare < steps ? spare : steps;
    for (int done = 0; done < steps;) {
        const int now = done < single ? 1 : 2;
        CPU_AVX_F(cpu_avx_p_grid_sweep)(isa, g, &x, now, from, to, own, threads);
        CPU_AVX_R *swap = from;
        from = to;
        to = swap;
        done += now;
    }
    if (from != u) CPU_AVX_F(cpu_avx_p_grid_copy)(g, v, u, threads);
    return CPU_AVX_OK;
}

/* Solves   steps implicit steps, A_x A_y A_z (u' - u) = L u, same in g being -discount: the right-hand side, x lines
            one after another, y and z lines side by side, each a sweep of its own by plain loops
   Needs    fx, fy, fz: cpu_avx_factor of the three matrices; v of u's size, work of cpu_avx_grid_bytes
   Leaves   the result in u; in v the last u' - u
   Cost     explicit1, and 5 operations a point and axis; 9 passes over an array */
CPU_AVX_API int CPU_AVX_F(cpu_avx_grid_implicit1)(int isa, const CPU_AVX_F(cpu_avx_grid) * g, int steps,
                                                  const CPU_AVX_R *fx, const CPU_AVX_R *fy, const CPU_AVX_R *fz,
                                                  CPU_AVX_R *u, CPU_AVX_R *v, void *work, int threads)
{
    const int status = CPU_AVX_F(cpu_avx_p_grid_status)(isa, g, steps, u, v, work, threads);
    if (!fx || !fy || !fz) return CPU_AVX_BAD_ARGUMENT;
    if (status) return status;
    CPU_AVX_R *own;
    const CPU_AVX_F(cpu_avx_p_grid_x) x = CPU_AVX_F(cpu_avx_p_grid_prepare)(g, work, &own);
    const ptrdiff_t plane = CPU_AVX_F(cpu_avx_p_grid_plane_step)(g);
    for (int step = 0; step < steps; step++) {
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_plain, (g, &x, k, u, v));
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_plain_x, (g, fx, v + k * plane));
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_plain_y, (g, fy, v + k * plane));
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int j = 0; j < g->ny; j++)
            CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_plain_z, (g, fz, v + j * g->pitch, u + j * g->pitch));
    }
    return CPU_AVX_OK;
}

/* Solves   the same; right-hand side, x (by transposed tiles) and y of a plane while it is in the second-level cache,
            then z and the update of u in blocks of lines that stay there
   Leaves   the result in u; v is work
   Cost     as explicit2 a step, and 5 operations a point and axis; 5 passes over an array */
CPU_AVX_API int CPU_AVX_F(cpu_avx_grid_implicit2)(int isa, const CPU_AVX_F(cpu_avx_grid) * g, int steps,
                                                  const CPU_AVX_R *fx, const CPU_AVX_R *fy, const CPU_AVX_R *fz,
                                                  CPU_AVX_R *u, CPU_AVX_R *v, void *work, int threads)
{
    const int status = CPU_AVX_F(cpu_avx_p_grid_status)(isa, g, steps, u, v, work, threads);
    if (!fx || !fy || !fz) return CPU_AVX_BAD_ARGUMENT;
    if (status) return status;
    CPU_AVX_R *own;
    const CPU_AVX_F(cpu_avx_p_grid_x) x = CPU_AVX_F(cpu_avx_p_grid_prepare)(g, work, &own);
    const size_t length = CPU_AVX_F(cpu_avx_p_grid_own)(g, threads);
    const int stream = CPU_AVX_F(cpu_avx_p_grid_streams)(g, v);
    for (int step = 0; step < steps; step++) {
        CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))
        for (int thread = 0; thread < threads; thread++) {
            const int end = (int)cpu_avx_p_part(g->nz, threads, thread + 1);
            for (int k = (int)cpu_avx_p_part(g->nz, threads, thread); k < end; k++)
                CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_upper,
                                     (g, &x, k, fx, fy, u, v, own + (size_t)thread * length, stream));
        }
        CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))
        for (int thread = 0; thread < threads; thread++) {
            const int end = (int)cpu_avx_p_part(g->ny, threads, thread + 1);
            for (int j = (int)cpu_avx_p_part(g->ny, threads, thread); j < end; j++)
                CPU_AVX_P_PICK_MARCH(isa, , cpu_avx_p_grid_lower,
                                     (g, fz, v + j * g->pitch, u + j * g->pitch, g->nx, own + (size_t)thread * length));
        }
    }
    return CPU_AVX_OK;
}

#undef CPU_AVX_R
#undef CPU_AVX_F
#undef CPU_AVX_P_BITS
#undef CPU_AVX_P_INFINITY
#endif /* CPU_AVX_P_SET_MADE */
#endif /* CPU_AVX_P_REAL */
