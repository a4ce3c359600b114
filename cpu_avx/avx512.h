/* avx512.h - a room of cpu_avx.h: AVX-512 F, DQ, VL and BW, vectors of 64 bytes with multiply-add and masks.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_TARGET_avx512 __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")))
#if defined __AVX512F__ && defined __AVX512DQ__ && defined __AVX512VL__ && defined __AVX512BW__
#undef CPU_AVX_BUILT_FOR
#define CPU_AVX_BUILT_FOR CPU_AVX_AVX512
#endif

CPU_AVX_API int cpu_avx_p_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma");
}

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_avx512)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_avx512
#define CPU_AVX_P_LANES (64 / CPU_AVX_SIZE)
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_P_RCP_BITS 14
#define CPU_AVX_P_PREFIX _mm512_
/* Uses the masked form with all lanes: g++ 12 warns about operands that the plain form leaves undefined. */
#define CPU_AVX_P_MOVE(operation, ...) CPU_AVX_I(maskz_##operation)(CPU_AVX_P_ALL, __VA_ARGS__)

#if CPU_AVX_SIZE == 4
#define CPU_AVX_P_MASK(n) ((__mmask16)((1u << n) - 1))
#define CPU_AVX_P_ALL ((__mmask16)-1)
#define CPU_AVX_P_LESS(x, y) _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ)
#else
#define CPU_AVX_P_MASK(n) ((__mmask8)((1u << n) - 1))
#define CPU_AVX_P_ALL ((__mmask8)-1)
#define CPU_AVX_P_LESS(x, y) _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ)
#endif

#define CPU_AVX_OP_LOAD_PART(p, n) CPU_AVX_I(maskz_loadu)(CPU_AVX_P_MASK(n), p)
#define CPU_AVX_OP_STORE_PART(p, n, v) CPU_AVX_I(mask_storeu)(p, CPU_AVX_P_MASK(n), v)
#define CPU_AVX_OP_FMA(a, b, c) CPU_AVX_I(fmadd)(a, b, c)
#define CPU_AVX_OP_FNMA(a, b, c) CPU_AVX_I(fnmadd)(a, b, c)
#define CPU_AVX_OP_SELECT(x, y, a, b) CPU_AVX_I(mask_blend)(CPU_AVX_P_LESS(x, y), b, a)
#define CPU_AVX_OP_RCP(a) CPU_AVX_P_MOVE(rcp14, a)

#include "x86.h"

#if CPU_AVX_SIZE == 8
/* Returns cpu_avx_down(a, b, s) by valignq, which gcc 12 does not make from a shuffle. Each s has a case of its own,
   since the instruction takes a literal, and without optimisation an argument is not one. In single precision the
   shuffle, vpermt2ps, is faster. */
CPU_AVX_INLINE __m512d cpu_avx_p_512_down(__m512d a, __m512d b, int s)
{
    const __m512i low = (__m512i)a, high = (__m512i)b;
#define CPU_AVX_P_DOWN_BY(n) (__m512d) _mm512_maskz_alignr_epi64(CPU_AVX_P_ALL, high, low, n)
    switch (s) {
    case 1:
        return CPU_AVX_P_DOWN_BY(1);
    case 2:
        return CPU_AVX_P_DOWN_BY(2);
    case 3:
        return CPU_AVX_P_DOWN_BY(3);
    case 4:
        return CPU_AVX_P_DOWN_BY(4);
    case 5:
        return CPU_AVX_P_DOWN_BY(5);
    case 6:
        return CPU_AVX_P_DOWN_BY(6);
    default:
        return CPU_AVX_P_DOWN_BY(7);
    }
#undef CPU_AVX_P_DOWN_BY
}
#define CPU_AVX_OP_DOWN(a, b, s) cpu_avx_p_512_down(a, b, s)
#endif

#include "set.h"
#undef CPU_AVX_P_MASK
#undef CPU_AVX_P_ALL
#undef CPU_AVX_P_LESS

#endif /* CPU_AVX_PASS */
