/* avx_256.h - a room of cpu_avx.h: code for vectors of 32 bytes, which the files of AVX and AVX2 include.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_256_valid CPU_AVX_OF_SET(cpu_avx_p_256_valid)

#else /* of a precision */

#define CPU_AVX_P_LANES (32 / CPU_AVX_SIZE)
#define CPU_AVX_P_RCP_BITS 12
#define CPU_AVX_P_PREFIX _mm256_
#define CPU_AVX_P_MOVE(operation, ...) CPU_AVX_I(operation)(__VA_ARGS__)

#define CPU_AVX_OP_LOAD_PART(p, n) CPU_AVX_I(maskload)(p, cpu_avx_p_256_valid(n))
#define CPU_AVX_OP_STORE_PART(p, n, v) CPU_AVX_I(maskstore)(p, cpu_avx_p_256_valid(n), v)
#define CPU_AVX_OP_SELECT(x, y, a, b) CPU_AVX_I(blendv)(b, a, CPU_AVX_I(cmp)(x, y, _CMP_LT_OQ))
#define CPU_AVX_OP_RCP(a) _mm256_rcp_ps(a)

#include "x86.h"

/* Returns a vector of integers with all bits set in the first n lanes. */
CPU_AVX_INLINE __m256i cpu_avx_p_256_valid(int n)
{
    static const int bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(bits + 8 - n * (CPU_AVX_SIZE / 4)));
}

#endif /* CPU_AVX_PASS */
