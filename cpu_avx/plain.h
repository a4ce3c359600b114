/* plain.h - a room of cpu_avx.h: plain C, where a vector is an array of four lanes and an operation a loop over them.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_TARGET_plain
#define CPU_AVX_BUILT_FOR CPU_AVX_PLAIN

#else /* of a precision */

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX CPU_AVX_OF(_plain)
#define CPU_AVX_P_HERE CPU_AVX_TARGET_plain
#define CPU_AVX_P_BYTES 0
#define CPU_AVX_P_LANES 4
#define CPU_AVX_P_HAS_FMA 0
#define CPU_AVX_P_RCP_BITS 0

typedef struct {
    cpu_avx_real lane[CPU_AVX_P_LANES];
} cpu_avx_vec;

#define CPU_AVX_P_EACH(statement)                                                                                      \
    for (int l = 0; l < CPU_AVX_P_LANES; l++) statement
#define CPU_AVX_OP_SET(v, x) CPU_AVX_P_EACH(v.lane[l] = x)
#define CPU_AVX_OP_LOAD(v, p) CPU_AVX_P_EACH(v.lane[l] = p[l])
#define CPU_AVX_OP_LOAD_PART(v, p, n) CPU_AVX_P_EACH(v.lane[l] = l < n ? p[l] : 0)
#define CPU_AVX_OP_STORE(p, v) CPU_AVX_P_EACH(p[l] = v.lane[l])
#define CPU_AVX_OP_STORE_PART(p, n, v)                                                                                 \
    for (int l = 0; l < n; l++) p[l] = v.lane[l]
#define CPU_AVX_OP_STREAM(p, v) CPU_AVX_OP_STORE(p, v)
#define CPU_AVX_OP_ADD(v, a, b) CPU_AVX_P_EACH(v.lane[l] = a.lane[l] + b.lane[l])
#define CPU_AVX_OP_SUB(v, a, b) CPU_AVX_P_EACH(v.lane[l] = a.lane[l] - b.lane[l])
#define CPU_AVX_OP_MUL(v, a, b) CPU_AVX_P_EACH(v.lane[l] = a.lane[l] * b.lane[l])
#define CPU_AVX_OP_DIV(v, a, b) CPU_AVX_P_EACH(v.lane[l] = a.lane[l] / b.lane[l])
#define CPU_AVX_OP_FMA(v, a, b, c) CPU_AVX_P_EACH(v.lane[l] = a.lane[l] * b.lane[l] + c.lane[l])
#define CPU_AVX_OP_FNMA(v, a, b, c) CPU_AVX_P_EACH(v.lane[l] = c.lane[l] - a.lane[l] * b.lane[l])
#define CPU_AVX_OP_MIN(v, a, b) CPU_AVX_P_EACH(v.lane[l] = a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l])
#define CPU_AVX_OP_MAX(v, a, b) CPU_AVX_P_EACH(v.lane[l] = a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l])
#define CPU_AVX_OP_SQRT(v, a) CPU_AVX_P_EACH(v.lane[l] = (cpu_avx_real)sqrt(a.lane[l]))
#define CPU_AVX_OP_SELECT(v, x, y, a, b) CPU_AVX_P_EACH(v.lane[l] = x.lane[l] < y.lane[l] ? a.lane[l] : b.lane[l])
#define CPU_AVX_OP_DOWN(v, a, b, s)                                                                                    \
    CPU_AVX_P_EACH(v.lane[l] = (l < CPU_AVX_P_LANES - s ? a : b).lane[(l + s) & (CPU_AVX_P_LANES - 1)])

#include "set.h"
#undef CPU_AVX_P_EACH

#endif /* CPU_AVX_PASS */
