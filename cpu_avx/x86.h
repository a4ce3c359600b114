/* x86.h - a room of cpu_avx.h: code that AVX, AVX2 and AVX-512 share. avx_256.h and avx512.h include it.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS != CPU_AVX_PASS_ONCE /* of a precision */

typedef cpu_avx_real cpu_avx_vec __attribute__((vector_size(sizeof(cpu_avx_real) * CPU_AVX_P_LANES)));

/* An intrinsic of the set and precision: in AVX, CPU_AVX_I(add) is _mm256_add_ps. */
#if CPU_AVX_SIZE == 4
#define CPU_AVX_I(operation) CPU_AVX_P_JOIN(CPU_AVX_P_PREFIX, operation, _ps)
#else
#define CPU_AVX_I(operation) CPU_AVX_P_JOIN(CPU_AVX_P_PREFIX, operation, _pd)
#endif
#define CPU_AVX_P_REGISTER "+v" /* in assembly: a vector that is read and written */

#define CPU_AVX_OP_STREAM(p, v) CPU_AVX_I(stream)(p, v)
#define CPU_AVX_OP_MIN(a, b) CPU_AVX_P_MOVE(min, a, b)
#define CPU_AVX_OP_MAX(a, b) CPU_AVX_P_MOVE(max, a, b)
#define CPU_AVX_OP_SQRT(a) CPU_AVX_P_MOVE(sqrt, a)

#endif /* CPU_AVX_PASS */
