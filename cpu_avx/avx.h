/* avx.h - a room of cpu_avx.h: AVX, vectors of 32 bytes. It lacks multiply-add, and moves of single lanes from one half
   of a vector to the other.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_TARGET_avx __attribute__((target("avx")))
#ifdef __AVX__
#undef CPU_AVX_BUILT_FOR
#define CPU_AVX_BUILT_FOR CPU_AVX_AVX
#endif

CPU_AVX_API int cpu_avx_p_has_avx(void)
{
    return __builtin_cpu_supports("avx") != 0;
}

#include "avx_256.h"

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_avx)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_avx
#define CPU_AVX_P_HAS_FMA 0

#include "avx_256.h"
#include "set.h"

#endif /* CPU_AVX_PASS */
