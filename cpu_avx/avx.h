/* avx.h - a room of cpu_avx.h: AVX, vectors of 32 bytes without multiply-add and without moves across their halves.
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

#define cpu_avx_p_avx_shift_halves CPU_AVX_OF_SET(cpu_avx_p_avx_shift_halves)
#include "x86.h"
#include "avx_256.h"

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_avx)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_avx
#define CPU_AVX_P_HAS_FMA 0
#define CPU_AVX_OP_SHIFT_HALVES(low, high, s) cpu_avx_p_avx_shift_halves(low, high, s)

#if CPU_AVX_SIZE == 4
/* Returns in each half of the vector the lanes from s on of low's half, then those below s of high's, 0 < s < 4. */
CPU_AVX_INLINE __m256 cpu_avx_p_avx_shift_halves(__m256 low, __m256 high, int s)
{
    if (s == 2) return _mm256_shuffle_ps(low, high, _MM_SHUFFLE(1, 0, 3, 2));
    __m256 ends = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(0, 0, 3, 3)); /* low's last and high's first, twice each */
    return s == 1 ? _mm256_shuffle_ps(low, ends, _MM_SHUFFLE(2, 0, 2, 1))
                  : _mm256_shuffle_ps(ends, high, _MM_SHUFFLE(2, 1, 2, 0));
}
#endif

#include "avx_256.h"
#include "set.h"

#endif /* CPU_AVX_PASS */
