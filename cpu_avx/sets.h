/* sets.h - a room of cpu_avx.h: lists of the instruction sets.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

/* The instruction sets. Functions of vector scope exist for each set of this kind of processor, with _plain, _avx,
   _avx2, _avx512 or _neon before the precision in their names. Functions of array scope that use vectors take a set as
   their first argument. Among the sets of one kind of processor, a larger number means a better set. */
enum {
    CPU_AVX_PLAIN,  /* 16 bytes in plain C, for any processor */
    CPU_AVX_AVX,    /* 32 bytes, no multiply-add, no move of single lanes across the two halves */
    CPU_AVX_AVX2,   /* 32 bytes, with multiply-add */
    CPU_AVX_AVX512, /* 64 bytes: AVX-512 F, DQ, VL and BW */
    CPU_AVX_NEON,   /* 16 bytes, with multiply-add: 64-bit Arm */
    CPU_AVX_ISAS
};

/* The kind of processor whose vector sets are compiled: CPU_AVX_X86, CPU_AVX_ARM, or neither. The sets of x86 are
   compiled by function attribute, whatever the compiler's flags; every 64-bit Arm has NEON. In CUDA files the sets of
   x86 are compiled only if CPU_AVX_UNDER_NVCC is defined. nvcc never compiles NEON: nvcc 13.0 does not understand gcc
   12's arm_neon.h. */
#if defined CPU_AVX_ONLY_PLAIN || (defined __CUDACC__ && !defined CPU_AVX_UNDER_NVCC)
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

#endif /* CPU_AVX_PASS */

/* The files of the sets, in the order of their numbers. CPU_AVX_BUILT_FOR ends up as the number of the last set that
   the compiler's flags enable for all code. If an array function is called with this literal, an optimising compiler
   compiles the function for that set only. Exceptions are gcc's -O1, and -fopenmp: a parallel region hides the
   literal. */
#include "plain.h"
#if CPU_AVX_X86
#include "avx.h"
#include "avx2.h"
#include "avx512.h"
#elif CPU_AVX_ARM
#include "neon.h"
#endif

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

/* Returns whether the instruction set is compiled, and this processor and its operating system run it; 0 for an unknown
   number. */
CPU_AVX_API int cpu_avx_has(int isa)
{
#if CPU_AVX_X86
    if (isa == CPU_AVX_AVX512) return cpu_avx_p_has_avx512();
    if (isa == CPU_AVX_AVX2) return cpu_avx_p_has_avx2();
    if (isa == CPU_AVX_AVX) return cpu_avx_p_has_avx();
#elif CPU_AVX_ARM
    if (isa == CPU_AVX_NEON) return 1;
#endif
    return isa == CPU_AVX_PLAIN;
}

/* Returns the best instruction set for which cpu_avx_has returns 1: the one with the largest number. */
CPU_AVX_API int cpu_avx_best(void)
{
    int isa = CPU_AVX_ISAS - 1;
    while (!cpu_avx_has(isa)) isa--;
    return isa;
}

/* Returns the set's name: plain, avx, avx2, avx512, neon; or unknown. */
CPU_AVX_API const char *cpu_avx_name(int isa)
{
    static const char *const name[CPU_AVX_ISAS] = {"plain", "avx", "avx2", "avx512", "neon"};
    return isa >= 0 && isa < CPU_AVX_ISAS ? name[isa] : "unknown";
}

/* Calls the function with this stem for the instruction set isa, or for plain C if isa is not a set of this kind of
   processor. `result` stands before the call: `variable =`, `return`, or nothing. */
#define CPU_AVX_PICK(isa, result, stem, precision, arguments)                                                          \
    do {                                                                                                               \
        CPU_AVX_P_VECTORS(isa, result, stem, precision, arguments)                                                     \
        result CPU_AVX_P_NAME(stem, plain, precision) arguments;                                                       \
    } while (0)
#define CPU_AVX_P_IF(condition, result, stem, set, precision, arguments)                                               \
    if (condition)                                                                                                     \
        result CPU_AVX_P_NAME(stem, set, precision) arguments;                                                         \
    else
#if CPU_AVX_X86
#define CPU_AVX_P_VECTORS(isa, result, stem, precision, arguments)                                                     \
    CPU_AVX_P_IF((isa) == CPU_AVX_AVX512, result, stem, avx512, precision, arguments)                                  \
    CPU_AVX_P_IF((isa) == CPU_AVX_AVX2, result, stem, avx2, precision, arguments)                                      \
    CPU_AVX_P_IF((isa) == CPU_AVX_AVX, result, stem, avx, precision, arguments)
#elif CPU_AVX_ARM
#define CPU_AVX_P_VECTORS(isa, result, stem, precision, arguments)                                                     \
    CPU_AVX_P_IF((isa) == CPU_AVX_NEON, result, stem, neon, precision, arguments)
#else
#define CPU_AVX_P_VECTORS(isa, result, stem, precision, arguments) (void)(isa);
#endif

#endif /* CPU_AVX_PASS */
