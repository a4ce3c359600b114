/* codegen.cu - every device function of trid.h and transpose.h in a kernel of its own for every size that it supports;
   tests/codegen.sh compiles them and checks the result.
   MIT licence, see LICENSE.

   The kernels read and write global memory, so that the compiler can leave nothing out; they are not meant to run.
   Names are FUNCTION_PRECISION_K_W. With CODEGEN_F64 defined the kernels have double precision, otherwise single. */
#include "transpose.h"
#include "trid.h"
#include "trid/interleaved.h"
#include "trid/pivoted.h"
#include "trid/lu.h"

enum { BLOCK = 256 }; /* threads, which leaves 255 registers to each */

#ifdef CODEGEN_F64
typedef double real;
#define IN(stem) stem##_f64
#define LEN(K) TRANSPOSE_LEN_F64(K)
#define LINES_LEN(L, S) TRID_BLOCK_INTERLEAVED_LEN_F64(L, S)
#define LINES_SOLVE_LEN(L, S) TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F64(L, S)
#define LINES_LU_LEN(L, S) TRID_BLOCK_INTERLEAVED_LU_LEN_F64(L, S)
#define EVERY_K(M, W) UP_TO_16(M, W)
#define EVERY_POWER(M, W) M(1, W) M(2, W) M(4, W) M(8, W) M(16, W)
#define REFINED_K(M, W) UP_TO_8(M, W) M(10, W)
#else
typedef float real;
#define IN(stem) stem##_f32
#define LEN(K) TRANSPOSE_LEN_F32(K)
#define LINES_LEN(L, S) TRID_BLOCK_INTERLEAVED_LEN_F32(L, S)
#define LINES_SOLVE_LEN(L, S) TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F32(L, S)
#define LINES_LU_LEN(L, S) TRID_BLOCK_INTERLEAVED_LU_LEN_F32(L, S)
#define EVERY_K(M, W) UP_TO_16(M, W) UP_TO_32(M, W)
#define EVERY_POWER(M, W) M(1, W) M(2, W) M(4, W) M(8, W) M(16, W) M(32, W)
#define REFINED_K(M, W) UP_TO_8(M, W) M(10, W) M(12, W) M(16, W) M(20, W)
#endif

#define UP_TO_8(M, W) M(1, W) M(2, W) M(3, W) M(4, W) M(5, W) M(6, W) M(7, W) M(8, W)
#define UP_TO_16(M, W)                                                                                                 \
    UP_TO_8(M, W)                                                                                                      \
    M(9, W) M(10, W) M(11, W) M(12, W) M(13, W) M(14, W) M(15, W) M(16, W)
#define UP_TO_32(M, W)                                                                                                 \
    M(17, W)                                                                                                           \
    M(18, W) M(19, W) M(20, W) M(21, W) M(22, W) M(23, W) M(24, W) M(25, W) M(26, W) M(27, W) M(28, W) M(29, W)        \
        M(30, W) M(31, W) M(32, W)
#define EVERY_W(M, K) M(K, 2) M(K, 4) M(K, 8) M(K, 16) M(K, 32)
#define FEWER_LANES(M, K) M(K, 2) M(K, 4) M(K, 8) M(K, 16)

struct arrays {
    const real *a, *b, *c, *d;
    real *x;
    int *status;
    int n, repetitions;
};

#define NAMED(name, precision, K, W) NAMED_(name, precision, K, W)
#define NAMED_(name, precision, K, W) name##precision##_K##K##_W##W
#define KERNEL(name, K, W) extern "C" __global__ void __launch_bounds__(BLOCK) NAMED(name, IN(), K, W)(arrays g)
/* For kernels in which the compiler would otherwise put some bytes into local memory to fit two blocks on a
   multiprocessor. */
#define KERNEL_ALONE(name, K, W)                                                                                       \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1) NAMED(name, IN(), K, W)(arrays g)

/* Element j of the thread, coalesced. */
__device__ __forceinline__ size_t element(int K, int j)
{
    return ((size_t)blockIdx.x * K + j) * BLOCK + threadIdx.x;
}

__device__ __forceinline__ void get(int K, const real *from, real *u)
{
#pragma unroll
    for (int j = 0; j < K; j++) u[j] = from[element(K, j)];
}

__device__ __forceinline__ void put(int K, const real *u, real *to)
{
#pragma unroll
    for (int j = 0; j < K; j++) to[element(K, j)] = u[j];
}

__device__ __forceinline__ void put_status(int status, int *to)
{
    to[element(1, 0)] = status;
}

#define GET_ROWS(K)                                                                                                    \
    real a[K], b[K], c[K], d[K];                                                                                       \
    get(K, g.a, a), get(K, g.b, b), get(K, g.c, c), get(K, g.d, d);

/* ---- trid.h ------------------------------------------------------------------------------------------------------ */

#define LANE(K, W)                                                                                                     \
    KERNEL(lane_factor_solve, K, W)                                                                                    \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_lane_factor(K, a, b, c, a, b, c, 1), g.status);                                                \
        trid_lane_solve(K, a, b, c, d, d, 1);                                                                          \
        put(K, d, g.x);                                                                                                \
    }
#define WARP_HYBRID(K, W)                                                                                              \
    KERNEL(warp_hybrid, K, W)                                                                                          \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_warp_hybrid(K, W, g.n, a, b, c, d), g.status);                                                 \
        put(K, d, g.x);                                                                                                \
    }
/* The caller makes the PCR of the reduced rows. */
#define WARP_REDUCE(K, W)                                                                                              \
    KERNEL_ALONE(warp_reduce_expand, K, W)                                                                             \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        int status = trid_warp_reduce(K, W, g.n, a, b, c, d);                                                          \
        real x = d[K - 1];                                                                                             \
        int bad = trid_warp_pcr1(W, a[K - 1], c[K - 1], &x);                                                           \
        trid_warp_expand(K, W, a, c, d, x);                                                                            \
        put_status(status | bad, g.status);                                                                            \
        put(K, d, g.x);                                                                                                \
    }
/* One matrix and many right-hand sides: the use for which factors must stay in registers. */
#define WARP_FACTOR(K, W)                                                                                              \
    KERNEL(warp_factor_solve, K, W)                                                                                    \
    {                                                                                                                  \
        real f[TRID_WARP_FACTOR_LEN(K)], d[K];                                                                         \
        {                                                                                                              \
            real a[K], b[K], c[K];                                                                                     \
            get(K, g.a, a), get(K, g.b, b), get(K, g.c, c);                                                            \
            put_status(trid_warp_factor(K, W, g.n, a, b, c, f, (int *)0), g.status);                                   \
        }                                                                                                              \
        get(K, g.d, d);                                                                                                \
        for (int i = 0; i < g.repetitions; i++) trid_warp_solve(K, W, K * W, 5, f, d);                                 \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(warp_factor_solve_early, K, W)                                                                              \
    {                                                                                                                  \
        real f[TRID_WARP_FACTOR_LEN(K)], d[K];                                                                         \
        int steps;                                                                                                     \
        {                                                                                                              \
            real a[K], b[K], c[K];                                                                                     \
            get(K, g.a, a), get(K, g.b, b), get(K, g.c, c);                                                            \
            put_status(trid_warp_factor(K, W, g.n, a, b, c, f, &steps), g.status);                                     \
        }                                                                                                              \
        get(K, g.d, d);                                                                                                \
        for (int i = 0; i < g.repetitions; i++) trid_warp_solve(K, W, g.n, steps, f, d);                               \
        put(K, d, g.x);                                                                                                \
    }
#define WARP_REFINED(K, W)                                                                                             \
    KERNEL(warp_hybrid_refined, K, W)                                                                                  \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_warp_hybrid_refined(K, W, g.n, a, b, c, d), g.status);                                         \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(warp_solve_refined, K, W)                                                                                   \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        real f[TRID_WARP_FACTOR_LEN(K)];                                                                               \
        int steps;                                                                                                     \
        put_status(trid_warp_factor(K, W, g.n, a, b, c, f, &steps), g.status);                                         \
        for (int i = 0; i < g.repetitions; i++) trid_warp_solve_refined(K, W, g.n, steps, a, b, c, f, d);              \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(warp_residual, K, W)                                                                                        \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        real x[K], error, size;                                                                                        \
        get(K, g.x, x);                                                                                                \
        trid_warp_residual(K, W, g.n, a, b, c, d, x, d, &error, &size);                                                \
        put(K, d, g.x);                                                                                                \
        g.x[0] = error / size;                                                                                         \
    }
#define BLOCK_HYBRID(K, W)                                                                                             \
    KERNEL(block_hybrid, K, W)                                                                                         \
    {                                                                                                                  \
        __shared__ real shared[TRID_BLOCK_HYBRID_LEN];                                                                 \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_block_hybrid(K, g.n, a, b, c, d, shared), g.status);                                           \
        put(K, d, g.x);                                                                                                \
    }
/* These ask for one block a multiprocessor: for two, ptxas spills a word with two rows in double precision. */
#define BLOCK_REFINED(K, W)                                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1) NAMED(block_hybrid_refined, IN(), K, W)(arrays g)           \
    {                                                                                                                  \
        __shared__ real shared[TRID_BLOCK_HYBRID_REFINED_LEN];                                                         \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_block_hybrid_refined(K, g.n, a, b, c, d, shared), g.status);                                   \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(block_residual, K, W)                                                                                       \
    {                                                                                                                  \
        __shared__ real shared[TRID_BLOCK_RESIDUAL_LEN];                                                               \
        GET_ROWS(K)                                                                                                    \
        real x[K], error, size;                                                                                        \
        get(K, g.x, x);                                                                                                \
        trid_block_residual(K, g.n, a, b, c, d, x, d, &error, &size, shared);                                          \
        put(K, d, g.x);                                                                                                \
        g.x[0] = error / size;                                                                                         \
    }
/* Here W is the number of sections of a line. */
#define BLOCK_LINES(K, W)                                                                                              \
    KERNEL(block_lines, K, W)                                                                                          \
    {                                                                                                                  \
        __shared__ real shared[LINES_LEN(BLOCK / W, W)];                                                               \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_block_interleaved(K, BLOCK / W, W, g.n, a, b, c, d, shared), g.status);                        \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(block_lines_unchecked, K, W)                                                                                \
    {                                                                                                                  \
        __shared__ real shared[LINES_LEN(BLOCK / W, W)];                                                               \
        GET_ROWS(K)                                                                                                    \
        trid_block_interleaved_unchecked(K, BLOCK / W, W, g.n, a, b, c, d, shared);                                    \
        put(K, d, g.x);                                                                                                \
    }
#define BLOCK_LINES_FACTOR(K, W)                                                                                       \
    KERNEL(block_lines_factor_solve, K, W)                                                                             \
    {                                                                                                                  \
        __shared__ real shared[LINES_SOLVE_LEN(BLOCK / W, W)];                                                         \
        real f[TRID_INTERLEAVED_FACTOR_LEN(K)], d[K];                                                                  \
        {                                                                                                              \
            real a[K], b[K], c[K];                                                                                     \
            get(K, g.a, a), get(K, g.b, b), get(K, g.c, c);                                                            \
            put_status(trid_block_interleaved_factor(K, BLOCK / W, W, g.n, a, b, c, f, (int *)0, shared),              \
                       g.status);                                                                                      \
        }                                                                                                              \
        get(K, g.d, d);                                                                                                \
        for (int i = 0; i < g.repetitions; i++)                                                                        \
            trid_block_interleaved_solve(K, BLOCK / W, W, K * W, 5, f, d, shared);                                     \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(block_lines_factor_solve_early, K, W)                                                                       \
    {                                                                                                                  \
        __shared__ real shared[LINES_SOLVE_LEN(BLOCK / W, W)];                                                         \
        real f[TRID_INTERLEAVED_FACTOR_LEN(K)], d[K];                                                                  \
        int steps;                                                                                                     \
        {                                                                                                              \
            real a[K], b[K], c[K];                                                                                     \
            get(K, g.a, a), get(K, g.b, b), get(K, g.c, c);                                                            \
            put_status(trid_block_interleaved_factor(K, BLOCK / W, W, g.n, a, b, c, f, &steps, shared), g.status);     \
        }                                                                                                              \
        get(K, g.d, d);                                                                                                \
        for (int i = 0; i < g.repetitions; i++)                                                                        \
            trid_block_interleaved_solve(K, BLOCK / W, W, g.n, steps, f, d, shared);                                   \
        put(K, d, g.x);                                                                                                \
    }

#define BLOCK_LINES_STORED(K, W)                                                                                       \
    KERNEL(block_lines_solve_stored, K, W)                                                                             \
    {                                                                                                                  \
        __shared__ real shared[LINES_SOLVE_LEN(BLOCK / W, W)];                                                         \
        real d[K];                                                                                                     \
        get(K, g.d, d);                                                                                                \
        for (int i = 0; i < g.repetitions; i++)                                                                        \
            trid_block_interleaved_solve_stored(K, BLOCK / W, W, K * W, 5, g.a, g.b, 32, d, shared);                   \
        put(K, d, g.x);                                                                                                \
    }

#define WARP_LU(K, W)                                                                                                  \
    KERNEL(warp_lu, K, W)                                                                                              \
    {                                                                                                                  \
        real a[K], b[K], c[K];                                                                                         \
        get(K, g.a, a), get(K, g.b, b), get(K, g.c, c);                                                                \
        put_status(trid_warp_lu(K, W, g.n, a, b, c), g.status);                                                        \
        put(K, a, g.x), put(K, b, g.x + g.repetitions), put(K, c, g.x + 2 * (size_t)g.repetitions);                    \
    }                                                                                                                  \
    KERNEL(warp_lu_solve, K, W)                                                                                        \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        trid_warp_lu_solve(K, W, 0, g.n, a, b, c, d);                                                                  \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(warp_lu_kept, K, W)                                                                                         \
    {                                                                                                                  \
        real keep[TRID_WARP_LU_PRECOMPUTED_LEN];                                                                       \
        int steps;                                                                                                     \
        GET_ROWS(K)                                                                                                    \
        trid_warp_lu_precompute(K, W, a, c, keep, &steps);                                                             \
        trid_warp_lu_solve_precomputed(K, W, 1, steps, a, b, c, keep, 1, d);                                           \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL(warp_lu_transposed, K, W)                                                                                   \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        trid_warp_lu_solve(K, W, 1, g.n, a, b, c, d);                                                                  \
        put(K, d, g.x);                                                                                                \
    }
/* These ask for one block a multiprocessor, as BLOCK_REFINED. */
#define BLOCK_LU(K, W)                                                                                                 \
    KERNEL(block_lu, K, W)                                                                                             \
    {                                                                                                                  \
        __shared__ real shared[TRID_BLOCK_LU_LEN];                                                                     \
        real a[K], b[K], c[K];                                                                                         \
        get(K, g.a, a), get(K, g.b, b), get(K, g.c, c);                                                                \
        put_status(trid_block_lu(K, g.n, a, b, c, shared), g.status);                                                  \
        put(K, a, g.x), put(K, b, g.x + g.repetitions), put(K, c, g.x + 2 * (size_t)g.repetitions);                    \
    }                                                                                                                  \
    KERNEL(block_lu_solve, K, W)                                                                                       \
    {                                                                                                                  \
        __shared__ real shared[TRID_BLOCK_LU_LEN];                                                                     \
        GET_ROWS(K)                                                                                                    \
        trid_block_lu_solve(K, 0, g.n, a, b, c, d, shared);                                                            \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1) NAMED(block_lu_transposed, IN(), K, W)(arrays g)            \
    {                                                                                                                  \
        __shared__ real shared[TRID_BLOCK_LU_LEN];                                                                     \
        GET_ROWS(K)                                                                                                    \
        trid_block_lu_solve(K, 1, g.n, a, b, c, d, shared);                                                            \
        put(K, d, g.x);                                                                                                \
    }
#define BLOCK_LINES_LU(K, W)                                                                                           \
    KERNEL_ALONE(block_lines_lu, K, W)                                                                                 \
    {                                                                                                                  \
        __shared__ real shared[LINES_LU_LEN(BLOCK / W, W)];                                                            \
        real a[K], b[K], c[K];                                                                                         \
        get(K, g.a, a), get(K, g.b, b), get(K, g.c, c);                                                                \
        put_status(trid_block_interleaved_lu(K, BLOCK / W, W, g.n, a, b, c, shared), g.status);                        \
        put(K, a, g.x), put(K, b, g.x + g.repetitions), put(K, c, g.x + 2 * (size_t)g.repetitions);                    \
    }                                                                                                                  \
    KERNEL_ALONE(block_lines_lu_solve, K, W)                                                                           \
    {                                                                                                                  \
        __shared__ real shared[LINES_LU_LEN(BLOCK / W, W)];                                                            \
        GET_ROWS(K)                                                                                                    \
        trid_block_interleaved_lu_solve(K, BLOCK / W, W, 0, g.n, a, b, c, d, shared);                                  \
        put(K, d, g.x);                                                                                                \
    }                                                                                                                  \
    KERNEL_ALONE(block_lines_lu_transposed, K, W)                                                                      \
    {                                                                                                                  \
        __shared__ real shared[LINES_LU_LEN(BLOCK / W, W)];                                                            \
        GET_ROWS(K)                                                                                                    \
        trid_block_interleaved_lu_solve(K, BLOCK / W, W, 1, g.n, a, b, c, d, shared);                                  \
        put(K, d, g.x);                                                                                                \
    }
#define WARP_CHAIN(K, W)                                                                                               \
    KERNEL(warp_chains, K, W)                                                                                          \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        trid_warp_recurrence_solve(K, W, 0, g.n, a, d);                                                                \
        trid_warp_recurrence_solve(K, W, 1, g.n, c, d);                                                                \
        put(K, d, g.x);                                                                                                \
    }

#define PCR(K, W)                                                                                                      \
    KERNEL(warp_pcr1, 1, W)                                                                                            \
    {                                                                                                                  \
        real d = g.d[element(1, 0)];                                                                                   \
        put_status(trid_warp_pcr1(W, g.a[element(1, 0)], g.c[element(1, 0)], &d), g.status);                           \
        g.x[element(1, 0)] = d;                                                                                        \
    }                                                                                                                  \
    KERNEL(warp_pcr2, 2, W)                                                                                            \
    {                                                                                                                  \
        real a[2], c[2], d[2];                                                                                         \
        get(2, g.a, a), get(2, g.c, c), get(2, g.d, d);                                                                \
        put_status(trid_warp_pcr2(W, a, c, d), g.status);                                                              \
        put(2, d, g.x);                                                                                                \
    }

KERNEL(rcp, 1, 1)
{
    g.x[element(1, 0)] = trid_rcp(g.d[element(1, 0)]);
}

KERNEL(lane_thomas, 1, 1)
{
    size_t i = element(1, 0);
    real *work = g.x + (size_t)BLOCK * g.n;
    put_status(trid_lane_thomas(g.n, g.a + i, g.b + i, g.c + i, g.d + i, g.x + i, work + i, BLOCK), g.status);
}

KERNEL(warp_status, 1, 32)
{
    put_status(trid_warp_status(32, g.status[element(1, 0)]), g.status);
}

EVERY_K(LANE, 1)
EVERY_W(PCR, 1)
EVERY_K(WARP_HYBRID, 32)
FEWER_LANES(WARP_HYBRID, 8)
EVERY_K(WARP_REDUCE, 32)
FEWER_LANES(WARP_REDUCE, 8)
EVERY_K(WARP_FACTOR, 32)
FEWER_LANES(WARP_FACTOR, 8)
EVERY_K(BLOCK_HYBRID, 32)
REFINED_K(WARP_REFINED, 32)
FEWER_LANES(WARP_REFINED, 8)
REFINED_K(BLOCK_REFINED, 32)
EVERY_K(BLOCK_LINES, 8)
BLOCK_LINES(8, 1)
BLOCK_LINES(8, 2) BLOCK_LINES(8, 4) BLOCK_LINES(8, 16) BLOCK_LINES(8, 32) EVERY_K(BLOCK_LINES_FACTOR, 8)
    BLOCK_LINES_FACTOR(8, 1) BLOCK_LINES_FACTOR(8, 2) BLOCK_LINES_FACTOR(8, 4) BLOCK_LINES_FACTOR(8, 16)
        BLOCK_LINES_FACTOR(8, 32) EVERY_K(BLOCK_LINES_STORED, 8) EVERY_POWER(WARP_LU, 32) FEWER_LANES(WARP_LU, 8)
            EVERY_POWER(WARP_CHAIN, 32) EVERY_POWER(BLOCK_LU, 32) EVERY_POWER(BLOCK_LINES_LU, 8) BLOCK_LINES_LU(8, 1)
                BLOCK_LINES_LU(8, 4) BLOCK_LINES_LU(8, 64)

/* ---- transpose.h ------------------------------------------------------------------------------------------------- */

#define WARP_FIRST(K, W) ((size_t)((blockIdx.x * BLOCK + threadIdx.x) / W) * g.n)
#define TRANSPOSE_SHARED(K, W)                                                                                         \
    KERNEL(transpose_shared, K, W)                                                                                     \
    {                                                                                                                  \
        __shared__ real shared[BLOCK / 32][LEN(K)];                                                                    \
        real u[K], *buffer = shared[threadIdx.x / 32];                                                                 \
        transpose_load(K, W, g.n, g.a + WARP_FIRST(K, W), (real)0, u, buffer);                                         \
        put(K, u, g.x);                                                                                                \
        transpose_increment(K, W, g.n, u, g.x + WARP_FIRST(K, W), buffer);                                             \
        get(K, g.b, u);                                                                                                \
        transpose_store(K, W, g.n, u, g.x + WARP_FIRST(K, W), buffer);                                                 \
    }
#define TRANSPOSE_SHFL(K, W)                                                                                           \
    KERNEL(transpose_shfl, K, W)                                                                                       \
    {                                                                                                                  \
        real u[K];                                                                                                     \
        transpose_load_shfl(K, W, g.n, g.a + WARP_FIRST(K, W), (real)0, u);                                            \
        put(K, u, g.x);                                                                                                \
        transpose_increment_shfl(K, W, g.n, u, g.x + WARP_FIRST(K, W));                                                \
        get(K, g.b, u);                                                                                                \
        transpose_store_shfl(K, W, g.n, u, g.x + WARP_FIRST(K, W));                                                    \
    }
#define TRANSPOSE_VEC(K, W)                                                                                            \
    KERNEL(transpose_vec, K, W)                                                                                        \
    {                                                                                                                  \
        real u[K];                                                                                                     \
        transpose_load_vec(K, W, g.n, g.a + WARP_FIRST(K, W), (real)0, u, 1);                                          \
        put(K, u, g.x);                                                                                                \
        transpose_increment_vec(K, W, g.n, u, g.x + WARP_FIRST(K, W), 1);                                              \
        get(K, g.b, u);                                                                                                \
        transpose_store_vec(K, W, g.n, u, g.x + WARP_FIRST(K, W), 0);                                                  \
    }

                    EVERY_K(TRANSPOSE_SHARED, 32) FEWER_LANES(TRANSPOSE_SHARED, 5) FEWER_LANES(TRANSPOSE_SHARED, 8)
                        EVERY_POWER(TRANSPOSE_SHFL, 32) EVERY_POWER(TRANSPOSE_SHFL, 8) EVERY_POWER(TRANSPOSE_SHFL, 2)
                            EVERY_K(TRANSPOSE_VEC, 32) FEWER_LANES(TRANSPOSE_VEC, 8)

/* ---- trid.h, with pivoting --------------------------------------------------------------------------------------- */

/* With few rows these ask for one block a multiprocessor; to fit two, the compiler spills some words of six rows. */
#define PIVOTED_KERNEL(name, K, W)                                                                                     \
    extern "C" __global__ void __launch_bounds__(BLOCK, (K) <= 8) NAMED(name, IN(), K, W)(arrays g)
#define WARP_PIVOTED(K, W)                                                                                             \
    PIVOTED_KERNEL(warp_pivoted, K, W)                                                                                 \
    {                                                                                                                  \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_warp_pivoted(K, W, g.n, a, b, c, d), g.status);                                                \
        put(K, d, g.x);                                                                                                \
    }
#define BLOCK_PIVOTED(K, W)                                                                                            \
    PIVOTED_KERNEL(block_pivoted, K, W)                                                                                \
    {                                                                                                                  \
        __shared__ real shared[TRID_BLOCK_PIVOTED_LEN];                                                                \
        GET_ROWS(K)                                                                                                    \
        put_status(trid_block_pivoted(K, g.n, a, b, c, d, shared), g.status);                                          \
        put(K, d, g.x);                                                                                                \
    }
#define SOME_K(M, W) M(1, W) M(2, W) M(3, W) M(4, W) M(5, W) M(6, W) M(8, W) M(12, W)

                                SOME_K(WARP_PIVOTED, 32) FEWER_LANES(WARP_PIVOTED, 8) BLOCK_PIVOTED(1, 32)
                                    BLOCK_PIVOTED(2, 32) BLOCK_PIVOTED(4, 32) BLOCK_PIVOTED(8, 32)
#ifndef CODEGEN_F64 /* 255 registers hold 12 rows a lane in double precision, and 32 in single */
                                        WARP_PIVOTED(16, 32) WARP_PIVOTED(24, 32) WARP_PIVOTED(32, 32)
                                            FEWER_LANES(WARP_PIVOTED, 16) BLOCK_PIVOTED(16, 32)
#endif
