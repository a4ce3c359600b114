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

#define cpu_avx_p_avx2_shift_halves CPU_AVX_OF_SET(cpu_avx_p_avx2_shift_halves)

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_avx2)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_avx2
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_OP_FMA(a, b, c) CPU_AVX_I(fmadd)(a, b, c)
#define CPU_AVX_OP_FNMA(a, b, c) CPU_AVX_I(fnmadd)(a, b, c)
#define CPU_AVX_OP_SHIFT_HALVES(low, high, s) cpu_avx_p_avx2_shift_halves(low, high, s)

#if CPU_AVX_SIZE == 4
/* Returns in each half of the vector the lanes from s on of low's half, then those below s of high's, 0 < s < 4. */
CPU_AVX_INLINE __m256 cpu_avx_p_avx2_shift_halves(__m256 low, __m256 high, int s)
{
    __m256i x = _mm256_castps_si256(low), y = _mm256_castps_si256(high);
    return _mm256_castsi256_ps(s == 1   ? _mm256_alignr_epi8(y, x, 4)
                               : s == 2 ? _mm256_alignr_epi8(y, x, 8)
                                        : _mm256_alignr_epi8(y, x, 12));
}
#endif

#include "avx_256.h"
#include "set.h"

#endif /* CPU_AVX_PASS */
