/* avx2.h - a room of cpu_avx.h: AVX2, vectors of 32 bytes with multiply-add.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_TARGET_avx2 __attribute__((target("avx2,fma")))
#if defined __AVX2__ && defined __FMA__
#undef CPU_AVX_BUILT_FOR
#define CPU_AVX_BUILT_FOR CPU_AVX_AVX2
#endif

CPU_AVX_API int cpu_avx_p_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_avx2)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_avx2
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_OP_FMA(a, b, c) CPU_AVX_I(fmadd)(a, b, c)
#define CPU_AVX_OP_FNMA(a, b, c) CPU_AVX_I(fnmadd)(a, b, c)

#include "avx_256.h"
#include "set.h"

#endif /* CPU_AVX_PASS */
