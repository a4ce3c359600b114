/* neon.h - a room of cpu_avx.h: NEON of 64-bit Arm, vectors of 16 bytes with multiply-add.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_TARGET_neon
#undef CPU_AVX_BUILT_FOR
#define CPU_AVX_BUILT_FOR CPU_AVX_NEON

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_neon)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_neon
#define CPU_AVX_P_LANES (16 / CPU_AVX_SIZE)
#define CPU_AVX_P_HAS_FMA 1
#define CPU_AVX_P_RCP_BITS 0    /* the approximation has only 8 bits */
#define CPU_AVX_P_REGISTER "+w" /* in assembly: a vector that is read and written */

/* An intrinsic of the precision: CPU_AVX_I(add) is vaddq_f32. */
#if CPU_AVX_SIZE == 4
typedef float32x4_t cpu_avx_vec;
#define CPU_AVX_I(operation) v##operation##q_f32
#else
typedef float64x2_t cpu_avx_vec;
#define CPU_AVX_I(operation) v##operation##q_f64
#endif

#define CPU_AVX_OP_FMA(a, b, c) CPU_AVX_I(fma)(c, a, b)
#define CPU_AVX_OP_FNMA(a, b, c) CPU_AVX_I(fms)(c, a, b)
#define CPU_AVX_OP_MIN(a, b) cpu_avx_select(a, b, a, b)
#define CPU_AVX_OP_MAX(a, b) cpu_avx_select(b, a, a, b)
#define CPU_AVX_OP_SQRT(a) CPU_AVX_I(sqrt)(a)
#define CPU_AVX_OP_SELECT(x, y, a, b) CPU_AVX_I(bsl)(CPU_AVX_I(clt)(x, y), a, b)

#include "set.h"

#endif /* CPU_AVX_PASS */
