/* avx_256.h - a room of cpu_avx.h: code that AVX and AVX2 share, for vectors of 32 bytes. Their files include it.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_256_valid CPU_AVX_OF_SET(cpu_avx_p_256_valid)
#define cpu_avx_p_256_down CPU_AVX_OF_SET(cpu_avx_p_256_down)
#define cpu_avx_p_256_exchange_blocks CPU_AVX_OF_SET(cpu_avx_p_256_exchange_blocks)

#else /* of a precision */

#define CPU_AVX_P_LANES (32 / CPU_AVX_SIZE)
#define CPU_AVX_P_RCP_BITS 12
#define CPU_AVX_P_PREFIX _mm256_
#define CPU_AVX_P_MOVE(operation, ...) CPU_AVX_I(operation)(__VA_ARGS__)

#if CPU_AVX_SIZE == 4
#define CPU_AVX_P_PERMUTE_HALVES _mm256_permute2f128_ps
#define CPU_AVX_P_SHIFT_HALVES(low, high, s) CPU_AVX_OP_SHIFT_HALVES(low, high, s)
#else
#define CPU_AVX_P_PERMUTE_HALVES _mm256_permute2f128_pd
#define CPU_AVX_P_SHIFT_HALVES(low, high, s) _mm256_shuffle_pd(low, high, 5) /* s is 1 */
#endif

#define CPU_AVX_OP_LOAD_PART(p, n) CPU_AVX_I(maskload)(p, cpu_avx_p_256_valid(n))
#define CPU_AVX_OP_STORE_PART(p, n, v) CPU_AVX_I(maskstore)(p, cpu_avx_p_256_valid(n), v)
#define CPU_AVX_OP_SELECT(x, y, a, b) CPU_AVX_I(blendv)(b, a, CPU_AVX_I(cmp)(x, y, _CMP_LT_OQ))
#define CPU_AVX_OP_DOWN(a, b, s) cpu_avx_p_256_down(a, b, s)
#define CPU_AVX_OP_RCP(a) _mm256_rcp_ps(a)
#define CPU_AVX_OP_EXCHANGE_BLOCKS(v) cpu_avx_p_256_exchange_blocks(v)

#include "x86.h"

/* Returns a vector of integers with all bits set in the first n lanes. */
CPU_AVX_INLINE __m256i cpu_avx_p_256_valid(int n)
{
    static const int bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(bits + 8 - n * (CPU_AVX_SIZE / 4)));
}

/* Does the work of cpu_avx_down. A shift by half a vector gives `middle`: a's upper half, then b's lower half. A
   smaller shift takes lanes from the same halves of a and middle, a larger one from those of middle and b. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_256_down(cpu_avx_vec a, cpu_avx_vec b, int s)
{
    enum { half = CPU_AVX_P_LANES / 2 };
    cpu_avx_vec middle = CPU_AVX_P_PERMUTE_HALVES(a, b, 0x21);
    if (s == half) return middle;
    return s < half ? CPU_AVX_P_SHIFT_HALVES(a, middle, s) : CPU_AVX_P_SHIFT_HALVES(middle, b, s - half);
}

/* Exchanges the upper block of v[0] and the lower block of v[b], where b is the elements of a block. */
CPU_AVX_INLINE void cpu_avx_p_256_exchange_blocks(cpu_avx_vec *v)
{
    cpu_avx_vec a = v[0], b = v[CPU_AVX_P_BLOCK];
    v[0] = CPU_AVX_P_PERMUTE_HALVES(a, b, 0x20);
    v[CPU_AVX_P_BLOCK] = CPU_AVX_P_PERMUTE_HALVES(a, b, 0x31);
}

#endif /* CPU_AVX_PASS */
