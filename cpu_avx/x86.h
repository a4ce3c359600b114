/* x86.h - a room of cpu_avx.h: code that AVX, AVX2 and AVX-512 share. Their files include it.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_x86_transpose_blocks CPU_AVX_OF_SET(cpu_avx_p_x86_transpose_blocks)

#else /* of a precision */

typedef cpu_avx_real cpu_avx_vec __attribute__((vector_size(sizeof(cpu_avx_real) * CPU_AVX_P_LANES)));

/* An intrinsic of the set and precision: CPU_AVX_I(add) is _mm256_add_ps. */
#if CPU_AVX_SIZE == 4
#define CPU_AVX_I(operation) CPU_AVX_P_JOIN(CPU_AVX_P_PREFIX, operation, _ps)
#else
#define CPU_AVX_I(operation) CPU_AVX_P_JOIN(CPU_AVX_P_PREFIX, operation, _pd)
#endif
#define CPU_AVX_P_REGISTER "+v" /* in assembly: a vector that is read and written */

#define CPU_AVX_OP_SET(x) CPU_AVX_I(set1)(x)
#define CPU_AVX_OP_STREAM(p, v) CPU_AVX_I(stream)(p, v)
#define CPU_AVX_OP_MIN(a, b) CPU_AVX_P_MOVE(min, a, b)
#define CPU_AVX_OP_MAX(a, b) CPU_AVX_P_MOVE(max, a, b)
#define CPU_AVX_OP_SQRT(a) CPU_AVX_P_MOVE(sqrt, a)
#define CPU_AVX_OP_TRANSPOSE_BLOCKS(v) cpu_avx_p_x86_transpose_blocks(v)

/* Takes as many vectors as a block of 16 bytes has elements, and transposes each of their blocks. */
CPU_AVX_INLINE void cpu_avx_p_x86_transpose_blocks(cpu_avx_vec *v)
{
#if CPU_AVX_SIZE == 8
    cpu_avx_vec low = CPU_AVX_P_MOVE(unpacklo, v[0], v[1]), high = CPU_AVX_P_MOVE(unpackhi, v[0], v[1]);
    v[0] = low, v[1] = high;
#else
    cpu_avx_vec a = CPU_AVX_P_MOVE(unpacklo, v[0], v[1]), b = CPU_AVX_P_MOVE(unpacklo, v[2], v[3]);
    cpu_avx_vec c = CPU_AVX_P_MOVE(unpackhi, v[0], v[1]), d = CPU_AVX_P_MOVE(unpackhi, v[2], v[3]);
    v[0] = CPU_AVX_P_MOVE(shuffle, a, b, 0x44), v[1] = CPU_AVX_P_MOVE(shuffle, a, b, 0xee);
    v[2] = CPU_AVX_P_MOVE(shuffle, c, d, 0x44), v[3] = CPU_AVX_P_MOVE(shuffle, c, d, 0xee);
#endif
}

#endif /* CPU_AVX_PASS */
