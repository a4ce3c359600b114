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

#define cpu_avx_p_avx512_down CPU_AVX_OF_SET(cpu_avx_p_avx512_down)
#define cpu_avx_p_avx512_exchange_blocks CPU_AVX_OF_SET(cpu_avx_p_avx512_exchange_blocks)

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
#define CPU_AVX_P_SHUFFLE_BLOCKS _mm512_maskz_shuffle_f32x4
#else
#define CPU_AVX_P_MASK(n) ((__mmask8)((1u << n) - 1))
#define CPU_AVX_P_ALL ((__mmask8)-1)
#define CPU_AVX_P_LESS(x, y) _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ)
#define CPU_AVX_P_SHUFFLE_BLOCKS _mm512_maskz_shuffle_f64x2
#endif

#define CPU_AVX_OP_LOAD_PART(p, n) CPU_AVX_I(maskz_loadu)(CPU_AVX_P_MASK(n), p)
#define CPU_AVX_OP_STORE_PART(p, n, v) CPU_AVX_I(mask_storeu)(p, CPU_AVX_P_MASK(n), v)
#define CPU_AVX_OP_FMA(a, b, c) CPU_AVX_I(fmadd)(a, b, c)
#define CPU_AVX_OP_FNMA(a, b, c) CPU_AVX_I(fnmadd)(a, b, c)
#define CPU_AVX_OP_SELECT(x, y, a, b) CPU_AVX_I(mask_blend)(CPU_AVX_P_LESS(x, y), b, a)
#define CPU_AVX_OP_DOWN(a, b, s) cpu_avx_p_avx512_down(a, b, s)
#define CPU_AVX_OP_RCP(a) CPU_AVX_P_MOVE(rcp14, a)
#define CPU_AVX_OP_EXCHANGE_BLOCKS(v) cpu_avx_p_avx512_exchange_blocks(v)

#include "x86.h"

/* Does the work of cpu_avx_down. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_avx512_down(cpu_avx_vec a, cpu_avx_vec b, int s)
{
#if CPU_AVX_SIZE == 4
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutex2var_ps(a, _mm512_add_epi32(lane, _mm512_set1_epi32(s)), b);
#else
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutex2var_pd(a, _mm512_add_epi64(lane, _mm512_set1_epi64(s)), b);
#endif
}

/* Exchanges block q of vector g and block g of vector q. Vector g is v[g b], where b is the elements of a block. */
CPU_AVX_INLINE void cpu_avx_p_avx512_exchange_blocks(cpu_avx_vec *v)
{
    enum { block = CPU_AVX_P_BLOCK };
    cpu_avx_vec a = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, v[0], v[block], 0x44);
    cpu_avx_vec b = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, v[2 * block], v[3 * block], 0x44);
    cpu_avx_vec c = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, v[0], v[block], 0xee);
    cpu_avx_vec d = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, v[2 * block], v[3 * block], 0xee);
    v[0] = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, a, b, 0x88);
    v[block] = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, a, b, 0xdd);
    v[2 * block] = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, c, d, 0x88);
    v[3 * block] = CPU_AVX_P_SHUFFLE_BLOCKS(CPU_AVX_P_ALL, c, d, 0xdd);
}

#include "set.h"
#undef CPU_AVX_P_MASK
#undef CPU_AVX_P_ALL
#undef CPU_AVX_P_LESS
#undef CPU_AVX_P_SHUFFLE_BLOCKS

#endif /* CPU_AVX_PASS */
