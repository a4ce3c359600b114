/* neon.h - a room of cpu_avx.h: NEON of 64-bit Arm, vectors of 16 bytes with multiply-add.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_TARGET_neon
#undef CPU_AVX_BUILT_FOR
#define CPU_AVX_BUILT_FOR CPU_AVX_NEON

#define cpu_avx_p_neon_down CPU_AVX_OF_SET(cpu_avx_p_neon_down)
#define cpu_avx_p_neon_transpose_blocks CPU_AVX_OF_SET(cpu_avx_p_neon_transpose_blocks)

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_neon)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_neon
#define CPU_AVX_P_LANES (16 / CPU_AVX_SIZE)
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_P_RCP_BITS 0    /* the approximation has 8 bits and would need two corrections */
#define CPU_AVX_P_REGISTER "+w" /* in assembly: a vector that is read and written */

/* An intrinsic of the precision: CPU_AVX_I(add) is vaddq_f32. */
#if CPU_AVX_SIZE == 4
typedef float32x4_t cpu_avx_vec;
#define CPU_AVX_I(operation) v##operation##q_f32
#define CPU_AVX_OP_SET(x) vdupq_n_f32(x)
#else
typedef float64x2_t cpu_avx_vec;
#define CPU_AVX_I(operation) v##operation##q_f64
#define CPU_AVX_OP_SET(x) vdupq_n_f64(x)
#endif

#define CPU_AVX_OP_FMA(a, b, c) CPU_AVX_I(fma)(c, a, b)
#define CPU_AVX_OP_FNMA(a, b, c) CPU_AVX_I(fms)(c, a, b)
#define CPU_AVX_OP_MIN(a, b) cpu_avx_select(a, b, a, b)
#define CPU_AVX_OP_MAX(a, b) cpu_avx_select(b, a, a, b)
#define CPU_AVX_OP_SQRT(a) CPU_AVX_I(sqrt)(a)
#define CPU_AVX_OP_SELECT(x, y, a, b) CPU_AVX_I(bsl)(CPU_AVX_I(clt)(x, y), a, b)
#define CPU_AVX_OP_DOWN(a, b, s) cpu_avx_p_neon_down(a, b, s)
#define CPU_AVX_OP_TRANSPOSE_BLOCKS(v) cpu_avx_p_neon_transpose_blocks(v)

/* Does the work of cpu_avx_down. The instruction needs a literal, even without optimisation. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_neon_down(cpu_avx_vec a, cpu_avx_vec b, int s)
{
    switch (s) {
    case 1:
        return CPU_AVX_I(ext)(a, b, 1);
#if CPU_AVX_SIZE == 4
    case 2:
        return CPU_AVX_I(ext)(a, b, 2);
    case 3:
        return CPU_AVX_I(ext)(a, b, 3);
#endif
    }
    return a;
}

/* Transposes `lanes` vectors: a NEON vector is one block of 16 bytes. */
CPU_AVX_INLINE void cpu_avx_p_neon_transpose_blocks(cpu_avx_vec *v)
{
#if CPU_AVX_SIZE == 8
    cpu_avx_vec low = CPU_AVX_I(zip1)(v[0], v[1]), high = CPU_AVX_I(zip2)(v[0], v[1]);
    v[0] = low, v[1] = high;
#else
    cpu_avx_vec a = CPU_AVX_I(zip1)(v[0], v[2]), b = CPU_AVX_I(zip1)(v[1], v[3]);
    cpu_avx_vec c = CPU_AVX_I(zip2)(v[0], v[2]), d = CPU_AVX_I(zip2)(v[1], v[3]);
    v[0] = CPU_AVX_I(zip1)(a, b), v[1] = CPU_AVX_I(zip2)(a, b);
    v[2] = CPU_AVX_I(zip1)(c, d), v[3] = CPU_AVX_I(zip2)(c, d);
#endif
}

#include "set.h"

#endif /* CPU_AVX_PASS */
