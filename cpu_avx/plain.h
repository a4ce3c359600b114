/* plain.h - a room of cpu_avx.h: plain C, vectors of 16 bytes that the compiler maps to any processor.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_TARGET_plain
#define CPU_AVX_BUILT_FOR CPU_AVX_PLAIN

#define cpu_avx_p_plain_select CPU_AVX_OF_SET(cpu_avx_p_plain_select)
#define cpu_avx_p_plain_sqrt CPU_AVX_OF_SET(cpu_avx_p_plain_sqrt)

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_plain)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_plain
#define CPU_AVX_P_LANES (16 / CPU_AVX_SIZE)
#define CPU_AVX_P_HAS_FMA 0
#define CPU_AVX_P_RCP_BITS 0

typedef cpu_avx_real cpu_avx_vec __attribute__((vector_size(16)));

#define CPU_AVX_OP_MIN(a, b) cpu_avx_select(a, b, a, b)
#define CPU_AVX_OP_MAX(a, b) cpu_avx_select(b, a, a, b)
#define CPU_AVX_OP_SQRT(a) cpu_avx_p_plain_sqrt(a)
#define CPU_AVX_OP_SELECT(x, y, a, b) cpu_avx_p_plain_select(x, y, a, b)

CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_plain_select(cpu_avx_vec x, cpu_avx_vec y, cpu_avx_vec a, cpu_avx_vec b)
{
    for (int l = 0; l < CPU_AVX_P_LANES; l++) b[l] = x[l] < y[l] ? a[l] : b[l];
    return b;
}

CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_plain_sqrt(cpu_avx_vec v)
{
    for (int l = 0; l < CPU_AVX_P_LANES; l++) v[l] = (cpu_avx_real)sqrt(v[l]);
    return v;
}

#include "set.h"

#endif /* CPU_AVX_PASS */
