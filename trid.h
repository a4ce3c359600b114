/* trid.h - tridiagonal solvers that live in registers, for CUDA kernels and for plain C.

   MIT licence, see LICENSE. Copy this one file; it includes nothing of the kit.

   One warp solves one system of up to 256 rows, lane l holding rows 8l .. 8l+7 (examples/drop_in.cu):

       __global__ void solve(int n, const float *a, const float *b, const float *c, const float *d, float *x)
       {
           float ra[8], rb[8], rc[8], rd[8];
           int first = 8 * (int)threadIdx.x;
           size_t at = (size_t)n * blockIdx.x + first;
           for (int j = 0; j < 8; j++)
               if (first + j < n) ra[j] = a[at + j], rb[j] = b[at + j], rc[j] = c[at + j], rd[j] = d[at + j];
           trid_warp_hybrid_f32(8, 32, n, ra, rb, rc, rd);
           for (int j = 0; j < 8; j++)
               if (first + j < n) x[at + j] = rd[j];
       }

   A system is a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j = 0 .. n-1; a[0] and c[n-1] are not read.

   Each name exists with _f32 (float) and _f64 (double). In C++ the device functions of warp and block scope (but for
   the _shared ones) can also be called without the suffix. K is rows a lane, W lanes a system (2, 4, 8, 16, 32), and
   w = log2 W. Cost is per lane in FMA + multiplications + reciprocals + shuffles; a shuffle of a double counts two, and
   the reciprocal of a row that is reduced takes two FMA more in single precision.

     lane (host and device: one thread, no communication)
       trid_rcp              the fast reciprocal                                  1 rcp (f64: and 3 FMA)
       trid_finite           neither infinite nor NaN, by its bits
       trid_lane_thomas      one system in a strided array                        3n FMA + 2n mul + n rcp
       trid_lane_factor      Thomas, the half that depends on the matrix only     n FMA + 2n mul + n rcp
       trid_lane_solve       Thomas, the half that is left for each d             2n FMA + n mul
       trid_lane_reduce      K rows to two: first and last of a section           (4K-6) FMA + (5K-3) mul + K rcp
       trid_lane_link        last row meets the next section's first              2 FMA + 4 mul + 1 rcp
       trid_lane_expand      the K rows from the last unknowns                    (2K-2) FMA
       trid_lane_pcr_step    one step of parallel cyclic reduction on one row     4 FMA + 5 mul + 1 rcp
     warp (all 32 lanes call; groups of W lanes solve a system each)
       trid_warp_pcr1        one row a lane                                       4w FMA + 5w mul + w rcp + 6w shfl
       trid_warp_pcr2        two rows a lane                                      pcr1 + 6 FMA + 5 mul + 1 rcp + 4 shfl
       trid_warp_pcr1_shared, trid_warp_pcr2_shared                               exchanging through shared memory
       trid_warp_hybrid      K rows a lane                (6K-6+4w) FMA + (5K+1+5w) mul + (K+1+w) rcp + (4+6w) shfl
       trid_warp_reduce, trid_warp_expand                                         its two ends; the PCR is the caller's
       trid_warp_factor      the matrix's part of the hybrid, once; finds how many PCR steps matter
       trid_warp_solve       what is left for each d      (4K-4+2s) FMA + (K+1) mul + (2+2s) shfl, s steps <= w
     block
       trid_block_hybrid     one system across up to 32 warps                     hybrid + 1 barrier
       trid_block_lines      lines side by side, cut into sections                reduce + expand + PCR + 2 barriers
       trid_block_lines_factor                                the matrix's part of the lines, once; 4 barriers
       trid_block_lines_solve                                 what is left for each d: as trid_warp_solve, 2 barriers
       trid_block_lines_solve_stored                          the same, factors in memory
     host (C11; also the reference implementation)
       trid_host_thomas, trid_host_pcr, trid_host_hybrid, trid_host_residual, trid_host_dominance
     sizes and messages
       trid_block_hybrid_bytes, trid_block_lines_bytes, trid_block_lines_solve_bytes, trid_host_hybrid_len,
       trid_status_string

   What they share:
     Stability  No pivoting. Safe for diagonally dominant matrices, |b| > |a| + |c| in every row, and close to it;
                trid_host_dominance tells. The hybrid eliminates in another order than Thomas, so a matrix that is
                not dominant can pass one and fail the other.
     Status     0: solved. -1: a bad argument. 1 + row: that row met a bad pivot: it or its reciprocal is zero or
                not finite (tested by bits, so -ffast-math does not matter); x is then unspecified. On the device
                each lane returns what it saw itself (vote to learn it everywhere); ignored, the test costs nothing.
                NaN and inf in d alone are not a failure: they travel through their own system, and no further. Nor is
                overflow on the way to x: it shows in x.
     Sizes      K and W are literals: every function is inlined, loops unroll, arrays stay in registers. n is any
                number of rows up to K*W (K*blockDim in a block): the rest is filled up with identity rows inside
                and comes back as 0. A literal n == K*W costs nothing. n <= 0 is an empty system
                (for lane and host scope n < 0 is a bad argument).
     Lanes      Warp scope: all 32 lanes of the warp, converged; groups without a system pass n = 0.
     Memory     The caller's. Nothing is allocated, printed or kept.

   Options, defined before the header is included:
     TRID_EXACT_RCP   affects trid_rcp on the device. Issue: the fast reciprocal is not IEEE-rounded and fails at
                      the ends of the range. Default: off. Symptoms when off: last-place differences from the host;
                      a pivot over 1/FLT_MIN = 8.5e37 or under FLT_MIN in absolute value counts as bad.
     TRID_HEADER      the name by which this file includes itself, if you rename it. Default: "trid.h". */

#ifndef TRID_P_REAL /* first pass: what does not depend on the precision */
#ifndef TRID_H
#define TRID_H

/* Short macros of a user ("#define K 8", or the I of complex.h) must not reach the parameters of the same names. */
#ifndef __CUDACC_RTC__ /* which does not know the pragma */
#pragma push_macro("K")
#undef K
#pragma push_macro("L")
#undef L
#pragma push_macro("R")
#undef R
#pragma push_macro("S")
#undef S
#pragma push_macro("U")
#undef U
#pragma push_macro("W")
#undef W
#endif

#define TRID_VERSION 100 /* 100 * major + minor */

#ifndef TRID_HEADER
#define TRID_HEADER "trid.h"
#endif

/* TRID_DEVICE_SCOPES: is there a warp here? TRID_HD: host and device, TRID_D: device only. */
#if defined __CUDACC__ || defined __CUDACC_RTC__
#define TRID_DEVICE_SCOPES 1
#define TRID_HD static __host__ __device__ __forceinline__
#define TRID_D static __device__ __forceinline__
#else
#ifdef SIMT_EMULATOR
#define TRID_DEVICE_SCOPES 1
#else
#define TRID_DEVICE_SCOPES 0
#endif
#ifdef __GNUC__
#define TRID_HD static inline __attribute__((unused))
#else
#define TRID_HD static inline
#endif
#define TRID_D TRID_HD
#endif

#ifdef __CUDA_ARCH__ /* a bare pragma would be a warning in the host compiler's pass */
#define TRID_UNROLL _Pragma("unroll")
#else
#define TRID_UNROLL
#endif

#ifndef __CUDACC_RTC__
#define TRID_HOST_SCOPE 1
#include <math.h>
#include <stddef.h>
#include <string.h>
#else
#define TRID_HOST_SCOPE 0
#endif

#ifdef __GNUC__
#define TRID_HOST static inline __attribute__((unused))
#else
#define TRID_HOST static inline
#endif

/* What a status says. */
TRID_HD const char *trid_status_string(int status)
{
    return status == 0  ? "solved"
           : status > 0 ? "the pivot of row status - 1 or its reciprocal is zero or not finite"
                        : "bad argument: n < 0, n larger than the lanes hold, or rows_per_lane < 1";
}

/* Elements of the caller's arrays. */
#define TRID_WARP_FACTOR_LEN(K) (5 * (K) + 12)  /* trid_warp_factor: f */
#define TRID_LINES_FACTOR_LEN(K) (5 * (K) + 12) /* trid_block_lines_factor: f */
#define TRID_WARP_PCR_SHARED_LEN 96             /* trid_warp_pcr1_shared, pcr2_shared: for each warp */
#define TRID_BLOCK_HYBRID_LEN 192               /* trid_block_hybrid */
#define TRID_BLOCK_LINES_LEN_F32(L, S) TRID_P_LINES_LEN(L, S, 32)
#define TRID_BLOCK_LINES_LEN_F64(L, S) TRID_P_LINES_LEN(L, S, 16)
#define TRID_BLOCK_LINES_SOLVE_LEN_F32(L, S) TRID_P_LINES_SOLVE_LEN(L, S, 32) /* trid_block_lines_factor and _solve */
#define TRID_BLOCK_LINES_SOLVE_LEN_F64(L, S) TRID_P_LINES_SOLVE_LEN(L, S, 16)

/* Where the factors keep things in f. First, of the section that the thread holds, five arrays of K: reciprocals of the
   pivots, multipliers of the row above, multipliers of the row below, couplings to the previous section's and to the
   own last unknown. Then, of the section whose reduced row it solves (in a warp the same one, in lines another): */
#define TRID_P_LINK(K) (5 * (K))                  /* what the last row takes from the next section's first */
#define TRID_P_SCALE(K) (5 * (K) + 1)             /* what turns the right-hand side that is left into x */
#define TRID_P_STEP(K, p) (5 * (K) + 2 + 2 * (p)) /* couplings up and down of PCR step p < 5 */

/* Where line i's section j keeps a reduced row, for L lines of S sections (powers of two, L * S a multiple of 32).
   A warp's access is served U words at a time: 32 of four bytes, 16 of eight. Filling in order of t = i + L j and
   reading in order of j + S i both touch U different banks: after each row of max(L, U) words come max(U/S, 1) words
   of padding, so that the U/S lines that are read together tile the banks. */
#define TRID_P_LINES_GAP(S, U) ((S) < (U) ? (U) / (S) : 1)
#define TRID_P_LINES_ROW(L, U) ((L) > (U) ? (L) : (U))
#define TRID_P_LINES_SLOT(L, S, U, t) ((t) + (t) / TRID_P_LINES_ROW(L, U) * TRID_P_LINES_GAP(S, U))
#define TRID_P_LINES_LEN(L, S, U) (6 * TRID_P_LINES_SLOT(L, S, U, (L) * (S)))
#define TRID_P_LINES_SOLVE_LEN(L, S, U) (3 * TRID_P_LINES_SLOT(L, S, U, (L) * (S)))

#if TRID_DEVICE_SCOPES
#define TRID_P_FULL 0xffffffffu

TRID_D int trid_p_lane(void)
{
#if defined __CUDA_ARCH__
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return (int)lane;
#elif defined SIMT_EMULATOR
    return (int)simt_lane_id();
#else
    return 0; /* the host pass of nvcc compiles this and never calls it */
#endif
}

/* Solves   n, the same number in all lanes as before, but now known to the compiler to be: without that it guards every
            shuffle of a loop that runs n times against lanes that have left it
   Lanes    all 32 of the warp, with the same n
   Cost     1 warp reduction, from compute capability 8.0 on; before, nothing */
TRID_D int trid_warp_uniform(int n)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(TRID_P_FULL, n);
#else
    return n;
#endif
}

TRID_D int trid_p_thread(void)
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

TRID_D int trid_p_threads(void)
{
    return (int)(blockDim.x * blockDim.y * blockDim.z);
}
#endif

/* ---- launches: kernels that are compiled only where they are called ---------------------------------------------- */

/* TRID_LAUNCHES: are there launches here? They are C++: kernels are templates over their sizes (TRID_KERNEL after the
   template's head), launch functions templates with a default argument. Neither costs a program anything that does not
   call it, and both are called like any function. TRID_DYNAMIC_SHARED(name) declares, in a kernel, the launch's dynamic
   shared memory as unsigned char *name. */
#if TRID_DEVICE_SCOPES && !defined __CUDACC_RTC__
#define TRID_LAUNCHES 1
#ifdef __CUDACC__
#define TRID_KERNEL static __global__
#define TRID_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#else
#define TRID_KERNEL static __global__ __attribute__((unused))
#define TRID_DYNAMIC_SHARED(name) SIMT_DYNAMIC_SHARED(name)
#endif

extern "C++" {
template <class T>
struct trid_p_same {
    typedef T type;
};

/* Solves   launches kernel(arguments...), which are converted to the kernel's own types
   Returns  the error of this launch alone: what failed before, and what cudaGetLastError would return of it, stays as it
            was */
template <class... P>
static inline cudaError_t trid_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t bytes, cudaStream_t stream,
                                      typename trid_p_same<P>::type... arguments)
{
#ifdef __CUDACC__
    void *pointers[] = {(void *)&arguments...};
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, bytes, stream);
#else
    return SIMT_LAUNCH(kernel, grid, block, bytes, stream)(arguments...);
#endif
}
}
#else
#define TRID_LAUNCHES 0
#endif

/* Solves   is x neither infinite nor NaN? By its bits, so that -ffast-math does not matter. */
TRID_HD int trid_finite_f32(float x)
{
    unsigned u;
#ifdef __CUDA_ARCH__
    u = __float_as_uint(x);
#else
    memcpy(&u, &x, sizeof u);
#endif
    return u << 1 < 0xff000000u;
}
TRID_HD int trid_finite_f64(double x)
{
    unsigned long long u;
#ifdef __CUDA_ARCH__
    u = (unsigned long long)__double_as_longlong(x);
#else
    memcpy(&u, &x, sizeof u);
#endif
    return u << 1 < 0xffe0000000000000u;
}

#if TRID_HOST_SCOPE
TRID_HOST int trid_p_nan(double x)
{
    unsigned long long u;
    memcpy(&u, &x, sizeof u);
    return (u << 1) > 0xffe0000000000000u;
}
#endif

/* Solves   1/x
   Error    see docs/reciprocal.md: on the device at most 1 ulp; 0 and subnormals give inf of their sign, inf gives 0,
            NaN gives NaN, |x| > 1/FLT_MIN gives 0 of its sign. On the host, or with TRID_EXACT_RCP: IEEE 1/x.
   Cost     1 reciprocal of the special-function unit */
TRID_HD float trid_rcp_f32(float x)
{
#if !defined __CUDA_ARCH__
    return 1.0f / x;
#elif defined TRID_EXACT_RCP
    return __frcp_rn(x);
#else
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

/* Solves   1/x: with e the error of an approximation y, 1/x = y (1 + e + e^2 + ...); e is about 2^-20, so e^2 is the
            last term that a double can see
   Error    see docs/reciprocal.md: on the device at most 1 ulp; 0, inf, NaN and subnormals give NaN, |x| >= 2^1022
            gives 0. On the host, or with TRID_EXACT_RCP: IEEE 1/x.
   Cost     1 reciprocal, 3 FMA */
TRID_HD double trid_rcp_f64(double x)
{
#if !defined __CUDA_ARCH__
    return 1.0 / x;
#elif defined TRID_EXACT_RCP
    return __drcp_rn(x);
#else
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    double e = fma(-x, y, 1.0);
    e = fma(e, e, e);
    return fma(e, y, y);
#endif
}

/* The body below, once a precision. */
#define TRID_P_REAL float
#define TRID_P_NAME(stem) stem##_f32
#define TRID_P_BANKS 32                        /* words of this size that shared memory serves at once */
#define TRID_P_ROUNDOFF 5.9604644775390625e-8f /* 2^-24 */
#include TRID_HEADER
#undef TRID_P_REAL
#undef TRID_P_NAME
#undef TRID_P_BANKS
#undef TRID_P_ROUNDOFF

#define TRID_P_REAL double
#define TRID_P_NAME(stem) stem##_f64
#define TRID_P_BANKS 16
#define TRID_P_ROUNDOFF 1.1102230246251565404e-16 /* 2^-53 */
#include TRID_HEADER
#undef TRID_P_REAL
#undef TRID_P_NAME
#undef TRID_P_BANKS
#undef TRID_P_ROUNDOFF

#ifndef __CUDACC_RTC__
#pragma pop_macro("K")
#pragma pop_macro("L")
#pragma pop_macro("R")
#pragma pop_macro("S")
#pragma pop_macro("U")
#pragma pop_macro("W")
#endif

#endif /* TRID_H */
#else  /* TRID_P_REAL: the body, in the precision at hand */

#define TRID_R TRID_P_REAL
#define TRID_F(stem) TRID_P_NAME(stem)

/* ---- lane scope: one thread, host and device --------------------------------------------------------------------- */

TRID_HD int TRID_F(trid_p_bad)(TRID_R pivot, TRID_R reciprocal)
{
    return !(TRID_F(trid_finite)(pivot) && TRID_F(trid_finite)(reciprocal) && pivot != 0 && reciprocal != 0);
}

/* The reciprocal with the special-function unit's bias taken off in single precision, by one Newton step: where a
   matrix works on one right-hand side after another, an error that is always the same adds up. */
TRID_HD TRID_R TRID_F(trid_p_rcp_fine)(TRID_R x)
{
    TRID_R r = TRID_F(trid_rcp)(x);
#if defined __CUDA_ARCH__ && !defined TRID_EXACT_RCP
    if (sizeof(TRID_R) == 4) r += r * (1 - x * r);
#endif
    return r;
}

/* Solves   a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], element j of each array at [j * stride]
   Needs    n elements in each array, work included; x may alias d; a[0] and c[n-1] are not read
   Leaves   x; work holds the eliminated c
   Returns  0, -1 for n < 0, or 1 + the first row with a bad pivot: the rows from there on are not touched
   Cost     3n FMA + 2n mul + n rcp */
TRID_HD int TRID_F(trid_lane_thomas)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                     TRID_R *x, TRID_R *work, long long stride)
{
    if (n < 0) return -1;
    TRID_R above_c = 0, above_d = 0;
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        TRID_R aj = j > 0 ? a[i] : 0;
        TRID_R pivot = b[i] - aj * above_c;
        TRID_R r = TRID_F(trid_rcp)(pivot);
        if (TRID_F(trid_p_bad)(pivot, r)) return 1 + j;
        work[i] = above_c = j < n - 1 ? r * c[i] : 0;
        x[i] = above_d = r * (d[i] - aj * above_d);
    }
    for (int j = n - 2; j >= 0; j--) x[j * stride] -= work[j * stride] * x[(j + 1) * stride];
    return 0;
}

/* Solves   the part of Thomas that depends on the matrix alone
   Needs    as trid_lane_thomas; l may alias a, r may alias b, q may alias c
   Leaves   l[j] = a[j] / pivot[j-1], r[j] = 1 / pivot[j], q[j] = c[j] / pivot[j+1]; l[0] and q[n-1] are not written
   Returns  0, -1 for n < 0, or 1 + the first row with a bad pivot
   Cost     n FMA + 2n mul + n rcp */
TRID_HD int TRID_F(trid_lane_factor)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *l, TRID_R *r,
                                     TRID_R *q, long long stride)
{
    if (n < 0) return -1;
    TRID_R above_r = 0, above_c = 0;
    TRID_UNROLL
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        TRID_R pivot = b[i];
        if (j > 0) {
            TRID_R lj = a[i] * above_r;
            pivot -= lj * above_c;
            l[i] = lj;
        }
        TRID_R rj = TRID_F(trid_rcp)(pivot);
        if (TRID_F(trid_p_bad)(pivot, rj)) return 1 + j;
        r[i] = rj;
        if (j > 0) q[i - stride] = above_c * rj;
        above_r = rj;
        if (j < n - 1) above_c = c[i];
    }
    return 0;
}

/* Solves   the system whose matrix trid_lane_factor took apart
   Needs    l, r, q from there, same n and stride; x may alias d
   Cost     2n FMA + n mul, no reciprocal; the longest chain is one FMA a row in each direction, because the unknown
            that runs backward is pivot[j] x[j] */
TRID_HD void TRID_F(trid_lane_solve)(int n, const TRID_R *l, const TRID_R *r, const TRID_R *q, const TRID_R *d,
                                     TRID_R *x, long long stride)
{
    TRID_R y = 0;
    TRID_UNROLL
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        y = j > 0 ? d[i] - l[i] * y : d[i];
        x[i] = y;
    }
    TRID_UNROLL
    for (int j = n - 1; j >= 0; j--) {
        long long i = j * stride;
        if (j < n - 1) y = x[i] - q[i] * y;
        x[i] = r[i] * y;
    }
}

/* Row j of a section loses x[j-1] (down) and x[j+1] (up) by the rows that have lost theirs already, and is divided by
   its pivot. keep, if not null, takes the reciprocal and the multipliers; d may be null. */
TRID_HD int TRID_F(trid_p_eliminate)(int K, int j, int down, int up, TRID_R *a, const TRID_R *b, TRID_R *c, TRID_R *d,
                                     TRID_R *keep)
{
    TRID_R pivot = b[j];
    if (down) pivot -= a[j] * c[j - 1];
    if (up) pivot -= c[j] * a[j + 1];
    TRID_R r = TRID_F(trid_p_rcp_fine)(pivot), ra = r * a[j], rc = r * c[j];
    if (d) {
        TRID_R rd = r * d[j];
        if (down) rd -= ra * d[j - 1];
        if (up) rd -= rc * d[j + 1];
        d[j] = rd;
    }
    a[j] = down ? -ra * a[j - 1] : ra;
    c[j] = up ? -rc * c[j + 1] : rc;
    if (keep) {
        keep[j] = r;
        if (down) keep[K + j] = ra;
        if (up) keep[2 * K + j] = rc;
    }
    return TRID_F(trid_p_bad)(pivot, r) ? 1 + j : 0;
}

/* The elimination behind trid_lane_reduce and trid_warp_factor: rows 0 .. K-2 from both ends to the middle and back
   again, two chains of half the length for the same operations, then row K-1. keep, if not null, takes what a later
   right-hand side needs: reciprocals in keep[j]; multipliers of x[j-1] in keep[K+j], of x[j+1] in keep[2K+j]. */
TRID_HD int TRID_F(trid_p_reduce)(int K, TRID_R *a, const TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *keep)
{
    int mid = K > 1 ? (K - 1) / 2 : -1, status = 0, bad; /* K = 1 has no inner rows */
    TRID_UNROLL
    for (int j = 0; j < mid; j++) {
        bad = TRID_F(trid_p_eliminate)(K, j, j > 0, 0, a, b, c, d, keep);
        if (!status) status = bad;
    }
    TRID_UNROLL
    for (int j = K - 2; j > mid; j--) {
        bad = TRID_F(trid_p_eliminate)(K, j, 0, j < K - 2, a, b, c, d, keep);
        if (!status) status = bad;
    }
    if (mid >= 0) {
        bad = TRID_F(trid_p_eliminate)(K, mid, mid > 0, mid < K - 2, a, b, c, d, keep);
        if (!status) status = bad;
    }
    TRID_UNROLL
    for (int j = mid - 1; j >= 0; j--) {
        TRID_R rc = c[j];
        a[j] -= rc * a[j + 1];
        c[j] = -rc * c[j + 1];
        if (d) d[j] -= rc * d[j + 1];
        if (keep) keep[2 * K + j] = rc;
    }
    TRID_UNROLL
    for (int j = mid + 1; j < K - 1; j++) {
        TRID_R ra = a[j];
        c[j] -= ra * c[j - 1];
        a[j] = -ra * a[j - 1];
        if (d) d[j] -= ra * d[j - 1];
        if (keep) keep[K + j] = ra;
    }
    bad = TRID_F(trid_p_eliminate)(K, K - 1, K > 1, 0, a, b, c, d, keep);
    return status ? status : bad;
}

/* The same for a right-hand side alone, with what trid_p_reduce kept, element e of it at keep[e stride]. */
TRID_HD void TRID_F(trid_p_reduce_again)(int K, const TRID_R *keep, int stride, TRID_R *d)
{
    const TRID_R *above = keep + K * stride, *below = keep + 2 * K * stride;
    int mid = K > 1 ? (K - 1) / 2 : -1;
    TRID_UNROLL
    for (int j = 0; j < mid; j++) {
        d[j] *= keep[j * stride];
        if (j > 0) d[j] -= above[j * stride] * d[j - 1];
    }
    TRID_UNROLL
    for (int j = K - 2; j > mid; j--) {
        d[j] *= keep[j * stride];
        if (j < K - 2) d[j] -= below[j * stride] * d[j + 1];
    }
    if (mid >= 0) {
        TRID_R rd = keep[mid * stride] * d[mid];
        if (mid > 0) rd -= above[mid * stride] * d[mid - 1];
        if (mid < K - 2) rd -= below[mid * stride] * d[mid + 1];
        d[mid] = rd;
    }
    TRID_UNROLL
    for (int j = mid - 1; j >= 0; j--) d[j] -= below[j * stride] * d[j + 1];
    TRID_UNROLL
    for (int j = mid + 1; j < K - 1; j++) d[j] -= above[j * stride] * d[j - 1];
    d[K - 1] *= keep[(K - 1) * stride];
    if (K > 1) d[K - 1] -= above[(K - 1) * stride] * d[K - 2];
}

/* Solves   K rows to two. Before, a section of a longer system, l = x[-1] above it and y = x[K] below:
                a[0]   b[0]   c[0]                        l      d[0]
                       a[1]   b[1]   c[1]                 x[0]   d[1]
                              ...                         ...  = ...
                              a[K-1]  b[K-1]  c[K-1]      y      d[K-1]
            after, with new a, c, d:
                a[j] l + x[j] + c[j] x[K-1] = d[j]        j = 0 .. K-2
                a[K-1] l + x[K-1] + c[K-1] y = d[K-1]
            What the neighbours need are the first and the last row; trid_lane_link joins them to one row a section.
   Needs    K >= 1 (a literal, where the arrays must stay in registers); a[0] of the system's first section and c[K-1]
            of its last are 0
   Leaves   a, c, d as above; b as it was
   Returns  0, or 1 + a row (within the section) that met a bad pivot
   Cost     (4K-6) FMA + (5K-3) mul + K rcp */
TRID_HD int TRID_F(trid_lane_reduce)(int K, TRID_R *a, const TRID_R *b, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_p_reduce)(K, a, b, c, d, (TRID_R *)0);
}

/* Solves   the last rows of the sections as a tridiagonal system of their own: eliminates x[K], the first unknown of
            the next section, from *a x[-1] + x[K-1] + *c x[K] = *d by that section's first row (first_a, first_c,
            first_d); then *a, *c couple to the last unknowns of the previous and of the next section
   Needs    K >= 2 (with one row a section the rows are linked already); zeros for the first row where no section
            follows
   Returns  0, or 1 for a bad pivot
   Cost     2 FMA + 4 mul + 1 rcp */
TRID_HD int TRID_F(trid_lane_link)(TRID_R *a, TRID_R *c, TRID_R *d, TRID_R first_a, TRID_R first_c, TRID_R first_d)
{
    TRID_R pivot = 1 - *c * first_a;
    TRID_R r = TRID_F(trid_rcp)(pivot);
    *d = r * (*d - *c * first_d);
    *a = r * *a;
    *c = -(r * *c) * first_c;
    return TRID_F(trid_p_bad)(pivot, r);
}

/* The rows that trid_lane_reduce left, the couplings of row j at a[j stride] and c[j stride]. */
TRID_HD void TRID_F(trid_p_expand)(int K, const TRID_R *a, const TRID_R *c, int stride, TRID_R *d, TRID_R left,
                                   TRID_R last)
{
    TRID_UNROLL
    for (int j = 0; j < K - 1; j++) d[j] = d[j] - a[j * stride] * left - c[j * stride] * last;
    d[K - 1] = last;
}

/* Solves   the rows that trid_lane_reduce left, left = x[-1] and last = x[K-1] being known
   Leaves   x in d
   Cost     (2K-2) FMA */
TRID_HD void TRID_F(trid_lane_expand)(int K, const TRID_R *a, const TRID_R *c, TRID_R *d, TRID_R left, TRID_R last)
{
    TRID_F(trid_p_expand)(K, a, c, 1, d, left, last);
}

/* Solves   one step of parallel cyclic reduction: from *a x[j-s] + x[j] + *c x[j+s] = *d and the rows j-s (up) and
            j+s (down), likewise with unit diagonal, the row that couples to x[j-2s] and x[j+2s].
            An end stays open, coupled to what lies beyond, with the alias row up = (-1, 0, 0) or down = (0, -1, 0).
   Needs    zeros for a row that does not exist
   Returns  0, or 1 for a bad pivot
   Cost     4 FMA + 5 mul + 1 rcp */
TRID_HD int TRID_F(trid_lane_pcr_step)(TRID_R *a, TRID_R *c, TRID_R *d, TRID_R up_a, TRID_R up_c, TRID_R up_d,
                                       TRID_R down_a, TRID_R down_c, TRID_R down_d)
{
    TRID_R pivot = 1 - *a * up_c - *c * down_a;
    TRID_R r = TRID_F(trid_rcp)(pivot);
    *d = r * (*d - *a * up_d - *c * down_d);
    *a = -(r * *a) * up_a;
    *c = -(r * *c) * down_c;
    return TRID_F(trid_p_bad)(pivot, r);
}

/* Identity rows from n on, zeros in the corners: the section's rows are first .. first+K-1 of n, lanes hold full. */
TRID_HD void TRID_F(trid_p_pad)(int K, int first, int n, int full, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    if (first == 0) a[0] = 0;
    if (n >= full) {
        if (first == full - K) c[K - 1] = 0;
    } else {
        TRID_UNROLL
        for (int j = 0; j < K; j++) {
            if (first + j >= n) {
                a[j] = 0;
                b[j] = 1;
                if (d) d[j] = 0;
            }
            if (first + j >= n - 1) c[j] = 0;
        }
    }
}

#if TRID_DEVICE_SCOPES
/* ---- warp scope: all 32 lanes call, groups of W lanes solve a system each ---------------------------------------- */

/* The rows of the lanes s above and s below, by shuffle, or through shared memory where it is not null. Beyond the
   group a lane gets its own row: its coupling there is zero. */
TRID_D void TRID_F(trid_p_neighbours)(int W, int s, TRID_R a, TRID_R c, TRID_R d, TRID_R *up, TRID_R *down,
                                      TRID_R *shared)
{
    if (!shared) {
        up[0] = __shfl_up_sync(TRID_P_FULL, a, s, W);
        up[1] = __shfl_up_sync(TRID_P_FULL, c, s, W);
        up[2] = __shfl_up_sync(TRID_P_FULL, d, s, W);
        down[0] = __shfl_down_sync(TRID_P_FULL, a, s, W);
        down[1] = __shfl_down_sync(TRID_P_FULL, c, s, W);
        down[2] = __shfl_down_sync(TRID_P_FULL, d, s, W);
        return;
    }
    int lane = trid_p_lane(), rank = lane & (W - 1);
    int above = rank >= s ? lane - s : lane, below = rank + s < W ? lane + s : lane;
    __syncwarp(TRID_P_FULL); /* the step before has been read */
    shared[lane] = a;
    shared[32 + lane] = c;
    shared[64 + lane] = d;
    __syncwarp(TRID_P_FULL);
    TRID_UNROLL
    for (int k = 0; k < 3; k++) {
        up[k] = shared[32 * k + above];
        down[k] = shared[32 * k + below];
    }
}

/* PCR over the first count lanes of each group of W, the lanes beyond holding identity rows. */
TRID_D int TRID_F(trid_p_pcr)(int W, int count, TRID_R a, TRID_R c, TRID_R *d, TRID_R *shared)
{
    int status = 0;
    TRID_UNROLL
    for (int s = 1; s < W; s *= 2) {
        if (s >= count) break;
        TRID_R up[3], down[3];
        TRID_F(trid_p_neighbours)(W, s, a, c, *d, up, down, shared);
        status |= TRID_F(trid_lane_pcr_step)(&a, &c, d, up[0], up[1], up[2], down[0], down[1], down[2]);
    }
    return status ? 1 + (trid_p_lane() & (W - 1)) : 0;
}

/* Corner couplings to zero: lane 0 has no row above, lane W-1 none below. */
TRID_D void TRID_F(trid_p_corners)(int W, TRID_R *a, TRID_R *c)
{
    int rank = trid_p_lane() & (W - 1);
    if (rank == 0) *a = 0;
    if (rank == W - 1) *c = 0;
}

/* Solves   a x[l-1] + x + c x[l+1] = *d, row l in lane l of the group, unit diagonal
   Needs    a of lane 0 and c of lane W-1 of a group are not read
   Lanes    all 32 of the warp
   Leaves   x in *d
   Returns  0, or 1 + the row if this lane met a bad pivot
   Cost     4w FMA + 5w mul + w rcp + 6w shuffles */
TRID_D int TRID_F(trid_warp_pcr1)(int W, TRID_R a, TRID_R c, TRID_R *d)
{
    TRID_F(trid_p_corners)(W, &a, &c);
    return TRID_F(trid_p_pcr)(W, W, a, c, d, (TRID_R *)0);
}

/* The same, exchanging through shared memory.
   Shared   TRID_WARP_PCR_SHARED_LEN elements for each warp, no bank conflicts; __syncwarp() before another use of it
   Cost     as trid_warp_pcr1 with 3w stores, 6w loads and 2w __syncwarp in place of the shuffles */
TRID_D int TRID_F(trid_warp_pcr1_shared)(int W, TRID_R a, TRID_R c, TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_p_corners)(W, &a, &c);
    return TRID_F(trid_p_pcr)(W, W, a, c, d, shared);
}

TRID_D int TRID_F(trid_p_pcr2)(int W, TRID_R *a, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    TRID_R up[3], down[3];
    TRID_F(trid_p_corners)(W, &a[0], &c[1]);
    /* The odd rows lose their even neighbours: the own one above, the next lane's below. */
    TRID_F(trid_p_neighbours)(W, 1, a[0], c[0], d[0], up, down, shared);
    int status = TRID_F(trid_lane_pcr_step)(&a[1], &c[1], &d[1], a[0], c[0], d[0], down[0], down[1], down[2]);
    status |= TRID_F(trid_p_pcr)(W, W, a[1], c[1], &d[1], shared);
    TRID_R left = __shfl_up_sync(TRID_P_FULL, d[1], 1, W);
    d[0] = d[0] - a[0] * left - c[0] * d[1];
    return status ? 2 + 2 * (trid_p_lane() & (W - 1)) : 0;
}

/* Solves   a[i] x[2l+i-1] + x[2l+i] + c[i] x[2l+i+1] = d[i], rows 2l and 2l+1 in lane l of the group, unit diagonal:
            one reduction, then PCR on the odd rows
   Needs    a[0] of lane 0 and c[1] of lane W-1 of a group are not read
   Lanes    all 32 of the warp
   Leaves   x in d; a and c clobbered
   Returns  0, or 1 + a row of this lane that met a bad pivot
   Cost     (4w+6) FMA + (5w+5) mul + (w+1) rcp + (6w+4) shuffles */
TRID_D int TRID_F(trid_warp_pcr2)(int W, TRID_R *a, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_p_pcr2)(W, a, c, d, (TRID_R *)0);
}

/* The same, exchanging through shared memory; Shared as trid_warp_pcr1_shared. */
TRID_D int TRID_F(trid_warp_pcr2_shared)(int W, TRID_R *a, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_p_pcr2)(W, a, c, d, shared);
}

/* Solves   the first phase of the hybrid: K rows a lane to one. Row K*l + j of the system is a[j], b[j], c[j], d[j] of
            lane l; after it, the unknowns x[K-1] of the lanes form a tridiagonal system with unit diagonal and rows
            a[K-1], c[K-1], d[K-1], which the caller solves (trid_warp_pcr1, say), and trid_warp_expand does the rest
   Needs    K >= 1, W literals; n <= K*W rows, the others are made identity rows
   Lanes    all 32 of the warp
   Leaves   a, c, d as trid_warp_expand needs them; b clobbered
   Returns  0; -1 if n > K*W; or 1 + a row of this lane that met a bad pivot
   Cost     (4K-4) FMA + (5K+1) mul + (K+1) rcp + 3 shuffles */
TRID_D int TRID_F(trid_warp_reduce)(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    int first = K * (trid_p_lane() & (W - 1));
    TRID_F(trid_p_pad)(K, first, n, K * W, a, b, c, d);
    int status = TRID_F(trid_lane_reduce)(K, a, b, c, d);
    if (K > 1) {
        TRID_R first_a = __shfl_down_sync(TRID_P_FULL, a[0], 1, W);
        TRID_R first_c = __shfl_down_sync(TRID_P_FULL, c[0], 1, W);
        TRID_R first_d = __shfl_down_sync(TRID_P_FULL, d[0], 1, W);
        int bad = TRID_F(trid_lane_link)(&a[K - 1], &c[K - 1], &d[K - 1], first_a, first_c, first_d);
        if (!status && bad) status = K;
    }
    return n > K * W ? -1 : status ? first + status : 0;
}

/* Solves   the last phase of the hybrid: every row from x = x[K-1] of each lane
   Needs    a, c, d as trid_warp_reduce left them
   Lanes    all 32 of the warp
   Leaves   x in d
   Cost     (2K-2) FMA + 1 shuffle */
TRID_D void TRID_F(trid_warp_expand)(int K, int W, const TRID_R *a, const TRID_R *c, TRID_R *d, TRID_R x)
{
    TRID_R left = __shfl_up_sync(TRID_P_FULL, x, 1, W);
    TRID_F(trid_lane_expand)(K, a, c, d, left, x);
}

/* Solves   a system of n <= K*W rows, row K*l + j in a[j], b[j], c[j], d[j] of lane l of its group:
                lane 0               lane 1                     lane W-1
                rows 0 .. K-1        rows K .. 2K-1     ...     rows (W-1)K .. WK-1
   Needs    K >= 1 and W literals; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all 32 of the warp; groups may have different n
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  0; -1 if n > K*W; or 1 + a row of this lane that met a bad pivot
   Cost     (6K-6+4w) FMA + (5K+1+5w) mul + (K+1+w) rcp + (4+6w) shuffles
   Error    that of Gaussian elimination without pivoting: the residual stays within a dozen unit roundoffs for dominant
            matrices; NaN and inf stay in their own system */
TRID_D int TRID_F(trid_warp_hybrid)(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    int status = TRID_F(trid_warp_reduce)(K, W, n, a, b, c, d);
    TRID_R x = d[K - 1];
    int bad = TRID_F(trid_p_pcr)(W, W, a[K - 1], c[K - 1], &x, (TRID_R *)0);
    TRID_F(trid_warp_expand)(K, W, a, c, d, x);
    return status || !bad ? status : K * bad;
}

/* The section's part of a factor: its rows are first .. first+K-1 of n, lanes hold full. Leaves the first five arrays
   of f, among them, in f[3K+j] and f[4K+j], the couplings a and c of the reduced rows. */
TRID_D int TRID_F(trid_p_factor_section)(int K, int first, int n, int full, const TRID_R *a, const TRID_R *b,
                                         const TRID_R *c, TRID_R *f)
{
    TRID_R *diagonal = f, *fa = f + 3 * K, *fc = f + 4 * K; /* the reciprocals take the diagonal's place one by one */
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        diagonal[j] = b[j];
        fa[j] = a[j];
        fc[j] = c[j];
    }
    TRID_F(trid_p_pad)(K, first, n, full, fa, diagonal, fc, (TRID_R *)0);
    return TRID_F(trid_p_reduce)(K, fa, diagonal, fc, (TRID_R *)0, f);
}

/* The reduced system's part: a section's last row, whose c is in f at TRID_P_LINK already, meets the next section's
   first (K > 1), then PCR over groups of W lanes. Leaves the rest of f, and in *steps, if not null, how many steps
   matter in this warp.
   The right-hand side is kept as d / scale, which saves a multiplication a step: with unit diagonal,
   d' = r (d - a d_up - c d_down) becomes e' = e - (a s_up / s) e_up - (c s_down / s) e_down and s' = r s. */
TRID_D int TRID_F(trid_p_factor_reduced)(int K, int W, TRID_R last_a, TRID_R first_a, TRID_R first_c, TRID_R *f,
                                         int *steps)
{
    TRID_R last_c = f[TRID_P_LINK(K)], unused = 0, scale = 1, inverse = 1;
    int bad = 0;
    if (K > 1) {
        inverse = 1 - last_c * first_a;
        scale = TRID_F(trid_p_rcp_fine)(inverse);
        bad = TRID_F(trid_lane_link)(&last_a, &last_c, &unused, first_a, first_c, 0);
    }
    TRID_UNROLL
    for (int p = 0; p < 5; p++) f[TRID_P_STEP(K, p)] = f[TRID_P_STEP(K, p) + 1] = 0;
    int p = 0;
    TRID_UNROLL
    for (int s = 1; s < W; s *= 2) {
        int negligible = fabs(last_a) <= TRID_P_ROUNDOFF && fabs(last_c) <= TRID_P_ROUNDOFF;
        if (steps && !__any_sync(TRID_P_FULL, !negligible)) break;
        TRID_R up[3], down[3];
        TRID_F(trid_p_neighbours)(W, s, last_a, last_c, scale, up, down, (TRID_R *)0);
        f[TRID_P_STEP(K, p)] = last_a * inverse * up[2];
        f[TRID_P_STEP(K, p) + 1] = last_c * inverse * down[2];
        TRID_R pivot = 1 - last_a * up[1] - last_c * down[0];
        bad |= TRID_F(trid_lane_pcr_step)(&last_a, &last_c, &unused, up[0], up[1], 0, down[0], down[1], 0);
        scale *= TRID_F(trid_p_rcp_fine)(pivot);
        inverse *= pivot;
        p++;
    }
    f[TRID_P_SCALE(K)] = scale;
    if (steps) *steps = p;
    return bad;
}

/* The two parts again for a right-hand side, by what the factor kept: the section's, with 0 in rows from n on, ... */
TRID_D void TRID_F(trid_p_solve_section)(int K, int first, int n, int full, const TRID_R *f, int stride, TRID_R *d)
{
    if (n < full) {
        TRID_UNROLL
        for (int j = 0; j < K; j++) d[j] = first + j < n ? d[j] : 0;
    }
    TRID_F(trid_p_reduce_again)(K, f, stride, d);
}

/* ... and the reduced system's: the unknown of the reduced row with last on the right, first of the next section's;
   reduced is what f has from 5 K on. */
TRID_D TRID_R TRID_F(trid_p_solve_reduced)(int K, int W, int steps, const TRID_R *reduced, int stride, TRID_R last,
                                           TRID_R first)
{
    TRID_R e = last;
    if (K > 1) e -= reduced[TRID_P_LINK(0) * stride] * first;
    int p = 0;
    TRID_UNROLL
    for (int s = 1; s < W; s *= 2) {
        if (p >= steps) break;
        TRID_R up = __shfl_up_sync(TRID_P_FULL, e, s, W), down = __shfl_down_sync(TRID_P_FULL, e, s, W);
        e = e - reduced[TRID_P_STEP(0, p) * stride] * up - reduced[(TRID_P_STEP(0, p) + 1) * stride] * down;
        p++;
    }
    return reduced[TRID_P_SCALE(0) * stride] * e;
}

/* Solves   everything in the hybrid that depends on the matrix alone, for one matrix and many right-hand sides.
            The rows lie as in trid_warp_hybrid. The couplings of the reduced system shrink at least quadratically
            from one PCR step to the next if the matrix is dominant; *steps tells after how many of the w steps none
            in the warp exceeds the unit roundoff (a NaN never does less than all). With steps null all w are kept.
   Needs    K >= 1, W literals; n <= K*W; f of TRID_WARP_FACTOR_LEN(K) elements, in registers
   Lanes    all 32 of the warp: *steps is the largest of its groups
   Leaves   f and *steps for trid_warp_solve; a, b, c as they were
   Returns  0; -1 if n > K*W; or 1 + a row of this lane that met a bad pivot
   Cost     about that of one trid_warp_hybrid, and a vote a step
   Error    the steps left out change x by the order of the unit roundoff times the largest element of x */
TRID_D int TRID_F(trid_warp_factor)(int K, int W, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *f,
                                    int *steps)
{
    int first = K * (trid_p_lane() & (W - 1));
    int status = TRID_F(trid_p_factor_section)(K, first, n, K * W, a, b, c, f);
    f[TRID_P_LINK(K)] = f[5 * K - 1];
    TRID_R first_a = K > 1 ? __shfl_down_sync(TRID_P_FULL, f[3 * K], 1, W) : 0;
    TRID_R first_c = K > 1 ? __shfl_down_sync(TRID_P_FULL, f[4 * K], 1, W) : 0;
    int bad = TRID_F(trid_p_factor_reduced)(K, W, f[4 * K - 1], first_a, first_c, f, steps);
    return n > K * W ? -1 : status ? first + status : bad ? first + K : 0;
}

/* Solves   the system whose matrix trid_warp_factor took apart, for another d
   Needs    K, W, n and f as there; steps as it gave them, or log2 W (the literal is cheapest where it gave none).
            Rows from n on are read as 0; if they are 0 already, n = K*W saves the test.
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     (4K-4+2s) FMA + (K+1) mul + (2+2s) shuffles for s steps, no reciprocal
   Error    as trid_warp_hybrid, and what the steps left out change (trid_warp_factor) */
TRID_D void TRID_F(trid_warp_solve)(int K, int W, int n, int steps, const TRID_R *f, TRID_R *d)
{
    TRID_F(trid_p_solve_section)(K, K * (trid_p_lane() & (W - 1)), n, K * W, f, 1, d);
    TRID_R first = K > 1 ? __shfl_down_sync(TRID_P_FULL, d[0], 1, W) : 0;
    TRID_R x = TRID_F(trid_p_solve_reduced)(K, W, steps, f + 5 * K, 1, d[K - 1], first);
    TRID_F(trid_warp_expand)(K, W, f + 3 * K, f + 4 * K, d, x);
}

/* ---- block scope: all threads of the block call; shared memory and barriers ------------------------------------- */

/* PCR over lanes 0..30 of the warp with both ends open, towards the previous warp and towards lane 31; then lane 31
   loses lane 30. After it every row couples to the last unknown of the previous warp (*a) and, by *c, lanes 0..30 to
   the unknown of lane 31, lane 31 to the first unknown of the next warp: what trid_lane_reduce does with the rows of
   a lane, done with the lanes of a warp. */
TRID_D int TRID_F(trid_p_warp_reduce_open)(TRID_R *a, TRID_R *c, TRID_R *d)
{
    int lane = trid_p_lane(), bad = 0;
    TRID_R up[3], down[3];
    TRID_UNROLL
    for (int s = 1; s < 32; s *= 2) {
        TRID_F(trid_p_neighbours)(32, s, *a, *c, *d, up, down, (TRID_R *)0);
        if (lane < s || lane == 31) up[0] = -1, up[1] = 0, up[2] = 0;
        if (lane + s >= 31) down[0] = 0, down[1] = -1, down[2] = 0;
        bad |= TRID_F(trid_lane_pcr_step)(a, c, d, up[0], up[1], up[2], down[0], down[1], down[2]);
    }
    TRID_F(trid_p_neighbours)(32, 1, *a, *c, *d, up, down, (TRID_R *)0);
    if (lane == 31) bad |= TRID_F(trid_lane_pcr_step)(a, c, d, up[0], up[1], up[2], 0, -1, 0);
    return bad;
}

/* Solves   one system of n <= K*threads rows, row K*t + j in a[j], b[j], c[j], d[j] of thread t: sections within the
            lanes, lanes within the warps, and the two rows a warp that are left solved by every warp for itself
   Needs    K >= 1 literal; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  0; -1 if n > K*threads; or 1 + a row that met a bad pivot, as this thread saw it
   Shared   TRID_BLOCK_HYBRID_LEN elements, no bank conflicts; one barrier inside; __syncthreads() before another use
            of them (two arrays in turn save it)
   Cost     trid_warp_hybrid with W = 32, and (4w+11) FMA + (5w+9) mul + (w+2) rcp + (6w+8) shuffles, w = log2 of the
            warps */
TRID_D int TRID_F(trid_block_hybrid)(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    int thread = trid_p_thread(), threads = trid_p_threads(), warps = threads / 32;
    int lane = thread & 31, warp = thread / 32, first = K * thread;
    TRID_F(trid_p_pad)(K, first, n, K * threads, a, b, c, d);
    int status = TRID_F(trid_lane_reduce)(K, a, b, c, d), bad = 0;

    TRID_R row_a = a[K - 1], row_c = c[K - 1], row_d = d[K - 1];
    if (K > 1) {
        TRID_R first_a = __shfl_down_sync(TRID_P_FULL, a[0], 1);
        TRID_R first_c = __shfl_down_sync(TRID_P_FULL, c[0], 1);
        TRID_R first_d = __shfl_down_sync(TRID_P_FULL, d[0], 1);
        if (lane == 31) first_a = 0, first_c = -1, first_d = 0; /* stays coupled to the next warp's first unknown */
        bad |= TRID_F(trid_lane_link)(&row_a, &row_c, &row_d, first_a, first_c, first_d);
    }
    bad |= TRID_F(trid_p_warp_reduce_open)(&row_a, &row_c, &row_d);

    /* Each warp's first row in terms of the last unknowns, and its last row. */
    if (lane == 0) {
        shared[warp] = K > 1 ? a[0] - c[0] * row_a : row_a;
        shared[32 + warp] = K > 1 ? -c[0] * row_c : row_c;
        shared[64 + warp] = K > 1 ? d[0] - c[0] * row_d : row_d;
    }
    if (lane == 31) {
        shared[96 + warp] = row_a;
        shared[128 + warp] = row_c;
        shared[160 + warp] = row_d;
    }
    __syncthreads();

    int mine = lane < warps, next = lane + 1 < warps;
    TRID_R warp_a = mine ? shared[96 + lane] : 0, warp_c = mine ? shared[128 + lane] : 0;
    TRID_R x = mine ? shared[160 + lane] : 0;
    int warp_bad = TRID_F(trid_lane_link)(&warp_a, &warp_c, &x, next ? shared[lane + 1] : 0,
                                          next ? shared[33 + lane] : 0, next ? shared[65 + lane] : 0);
    warp_bad |= TRID_F(trid_p_pcr)(32, warps, warp_a, warp_c, &x, (TRID_R *)0) != 0;
    TRID_R before = __shfl_sync(TRID_P_FULL, x, warp > 0 ? warp - 1 : 0), last = __shfl_sync(TRID_P_FULL, x, warp);

    row_d = lane == 31 ? last : row_d - row_a * before - row_c * last;
    TRID_R left = __shfl_up_sync(TRID_P_FULL, row_d, 1);
    TRID_F(trid_lane_expand)(K, a, c, d, lane == 0 ? before : left, row_d);
    return n > K * threads ? -1 : status ? first + status : bad ? first + K : warp_bad ? 32 * K * (lane + 1) : 0;
}

/* Solves   L systems that lie side by side, as the strided directions of a grid need: thread t holds rows
            K*(t / L) .. K*(t / L) + K-1 of line t % L, so that loads of neighbouring lines coalesce:
                threads 0 .. L-1      lines 0 .. L-1, rows 0 .. K-1
                threads L .. 2L-1     lines 0 .. L-1, rows K .. 2K-1   ...   S sections
            The reduced rows change hands through shared memory, groups of S lanes solve a line each, and come back.
   Needs    K >= 1, L and S literals; L and S powers of two, S <= 32, L*S the threads of the block, a multiple of 32;
            a of row 0 and c of row n-1 are not read, nor are rows from n on; n <= K*S, which lines may choose apart
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  0; -1 if n > K*S; or 1 + a row that met a bad pivot, of this thread's line or, if that had none, of the line
            that it solved: a vote of the block tells whether any line failed
   Shared   TRID_BLOCK_LINES_LEN_F32 or _F64 (L, S) elements (above 48 KiB a launch needs
            cudaFuncSetAttribute); no bank conflicts in storing the rows, in loading a
            section's own and in storing the unknowns; up to one extra cycle for each half of a warp where a thread
            reads another section's (tests/test_banks.c counts); two barriers inside; __syncthreads() before another use
   Cost     trid_warp_hybrid with W = S, its link and expansion through 7 stores and 8 loads */
TRID_D int TRID_F(trid_block_lines)(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d,
                                    TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread / L;
    int part = TRID_P_LINES_SLOT(L, S, U, L * S); /* elements of one of the six arrays */
    TRID_F(trid_p_pad)(K, K * section, n, K * S, a, b, c, d);
    int status = TRID_F(trid_lane_reduce)(K, a, b, c, d);
    if (status) status += K * section;

    TRID_R *first = shared, *last = shared + 3 * part;
    int held = TRID_P_LINES_SLOT(L, S, U, thread);
    if (K > 1) {
        first[held] = a[0];
        first[part + held] = c[0];
        first[2 * part + held] = d[0];
    }
    last[held] = a[K - 1];
    last[part + held] = c[K - 1];
    last[2 * part + held] = d[K - 1];
    __syncthreads();

    /* Now this thread has section rank of line thread / S, at index own of the filling order. */
    int rank = thread % S, own = thread / S + L * rank;
    int solved = TRID_P_LINES_SLOT(L, S, U, own), below = TRID_P_LINES_SLOT(L, S, U, own + L);
    TRID_R row_a = last[solved], row_c = last[part + solved], row_d = last[2 * part + solved];
    int bad = 0;
    if (K > 1) {
        int next = rank + 1 < S;
        bad = TRID_F(trid_lane_link)(&row_a, &row_c, &row_d, next ? first[below] : 0, next ? first[part + below] : 0,
                                     next ? first[2 * part + below] : 0);
    }
    bad |= TRID_F(trid_p_pcr)(S, S, row_a, row_c, &row_d, (TRID_R *)0) != 0;
    last[2 * part + solved] = row_d; /* nobody else has read this one */
    __syncthreads();

    TRID_R left = section > 0 ? last[2 * part + TRID_P_LINES_SLOT(L, S, U, thread - L)] : 0;
    TRID_F(trid_lane_expand)(K, a, c, d, left, last[2 * part + held]);
    return n > K * S ? -1 : status ? status : bad ? K * (rank + 1) : 0;
}

/* The reduced rows change hands: the thread that holds a section gives one word of its first and of its last row,
   through the first two of the three arrays, and gets those of the section that it solves (*last) and of the next one
   (*first, if K > 1). A line's last section gets its own first, to which it does not couple. */
TRID_D void TRID_F(trid_p_lines_exchange)(int K, int L, int S, TRID_R *first, TRID_R *last, TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), rank = thread % S, own = thread / S + L * rank, next = rank + 1 < S ? own + L : own;
    int part = TRID_P_LINES_SLOT(L, S, U, L * S), held = TRID_P_LINES_SLOT(L, S, U, thread);
    if (K > 1) shared[held] = *first;
    shared[part + held] = *last;
    __syncthreads();
    if (K > 1) *first = shared[TRID_P_LINES_SLOT(L, S, U, next)];
    *last = shared[part + TRID_P_LINES_SLOT(L, S, U, own)];
}

/* Solves   everything in trid_block_lines that depends on the matrices alone, for many right-hand sides. The rows lie
            as there; lines may share a matrix or have each its own, since every thread keeps what it needs: of the
            section that it holds and of the reduced row that it solves, which may be another line's. *steps tells how
            many of the log2 S PCR steps matter to the lines that this warp solves, as in trid_warp_factor; warps may
            differ. With steps null all are kept.
   Needs    K, L, S, n, a, b, c as trid_block_lines; f of TRID_LINES_FACTOR_LEN(K) elements, in registers
   Lanes    all threads of the block
   Leaves   f and *steps for trid_block_lines_solve; a, b, c as they were
   Returns  as trid_block_lines
   Shared   TRID_BLOCK_LINES_SOLVE_LEN_F32 or _F64 (L, S) elements; conflicts as trid_block_lines; four barriers inside;
            none needed before trid_block_lines_solve or _factor use them again; __syncthreads() before another use
   Cost     about that of one trid_block_lines, and a vote a step
   Error    as trid_warp_factor */
TRID_D int TRID_F(trid_block_lines_factor)(int K, int L, int S, int n, const TRID_R *a, const TRID_R *b,
                                           const TRID_R *c, TRID_R *f, int *steps, TRID_R *shared)
{
    int thread = trid_p_thread(), section = thread / L, rank = thread % S;
    int status = TRID_F(trid_p_factor_section)(K, K * section, n, K * S, a, b, c, f);
    TRID_R first_a = f[3 * K], last_a = f[4 * K - 1], first_c = f[4 * K];
    f[TRID_P_LINK(K)] = f[5 * K - 1];
    TRID_F(trid_p_lines_exchange)(K, L, S, &first_a, &last_a, shared);
    __syncthreads();
    TRID_F(trid_p_lines_exchange)(K, L, S, &first_c, &f[TRID_P_LINK(K)], shared);
    __syncthreads(); /* the next call fills the same two arrays */
    int bad = TRID_F(trid_p_factor_reduced)(K, S, last_a, first_a, first_c, f, steps);
    return n > K * S ? -1 : status ? K * section + status : bad ? K * (rank + 1) : 0;
}

/* Solves   as trid_block_lines_solve, with the factors in memory, where lines that share a matrix may share them, and
            where they need no registers: element e < 5 K of the f of the section that the thread holds is at
            f[e stride], element 5 K + e of the f of the row that it solves at reduced[e stride]
   Needs    as trid_block_lines_solve */
TRID_D void TRID_F(trid_block_lines_solve_stored)(int K, int L, int S, int n, int steps, const TRID_R *f,
                                                  const TRID_R *reduced, int stride, TRID_R *d, TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread / L, solved = thread / S + L * (thread % S);
    TRID_R *unknowns = shared + 2 * TRID_P_LINES_SLOT(L, S, U, L * S);
    TRID_F(trid_p_solve_section)(K, K * section, n, K * S, f, stride, d);
    TRID_R first = d[0], last = d[K - 1];
    TRID_F(trid_p_lines_exchange)(K, L, S, &first, &last, shared);
    unknowns[TRID_P_LINES_SLOT(L, S, U, solved)] =
        TRID_F(trid_p_solve_reduced)(K, S, steps, reduced, stride, last, first);
    __syncthreads();
    int above = section > 0 ? thread - L : thread; /* the first section couples to nothing above */
    TRID_R left = unknowns[TRID_P_LINES_SLOT(L, S, U, above)], x = unknowns[TRID_P_LINES_SLOT(L, S, U, thread)];
    TRID_F(trid_p_expand)(K, f + 3 * K * stride, f + 4 * K * stride, stride, d, left, x);
}

/* Solves   the lines whose matrices trid_block_lines_factor took apart, for another d
   Needs    K, L, S, n and f as there; steps as it gave them to this thread, or log2 S. Rows from n on are read as 0; if
            they are 0 already, n = K*S saves the test.
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_lines_factor, but two barriers inside: the unknowns come back through an array of their own,
            so that the next call may fill the others while they are still read
   Cost     trid_warp_solve with W = S, its link and expansion through 3 stores and 4 loads
   Error    as trid_warp_solve */
TRID_D void TRID_F(trid_block_lines_solve)(int K, int L, int S, int n, int steps, const TRID_R *f, TRID_R *d,
                                           TRID_R *shared)
{
    TRID_F(trid_block_lines_solve_stored)(K, L, S, n, steps, f, f + 5 * K, 1, d, shared);
}

/* Bytes of shared memory, for launches. */
TRID_HD size_t TRID_F(trid_block_hybrid_bytes)(void)
{
    return TRID_BLOCK_HYBRID_LEN * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_lines_bytes)(int L, int S)
{
    return (size_t)TRID_P_LINES_LEN(L, S, TRID_P_BANKS) * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_lines_solve_bytes)(int L, int S)
{
    return (size_t)TRID_P_LINES_SOLVE_LEN(L, S, TRID_P_BANKS) * sizeof(TRID_R);
}

#ifdef __cplusplus /* the same without the suffix, for templates */
TRID_D int trid_warp_pcr1(int W, TRID_R a, TRID_R c, TRID_R *d)
{
    return TRID_F(trid_warp_pcr1)(W, a, c, d);
}
TRID_D int trid_warp_pcr2(int W, TRID_R *a, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_warp_pcr2)(W, a, c, d);
}
TRID_D int trid_warp_reduce(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_warp_reduce)(K, W, n, a, b, c, d);
}
TRID_D void trid_warp_expand(int K, int W, const TRID_R *a, const TRID_R *c, TRID_R *d, TRID_R x)
{
    TRID_F(trid_warp_expand)(K, W, a, c, d, x);
}
TRID_D int trid_warp_hybrid(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_warp_hybrid)(K, W, n, a, b, c, d);
}
TRID_D int trid_warp_factor(int K, int W, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *f,
                            int *steps)
{
    return TRID_F(trid_warp_factor)(K, W, n, a, b, c, f, steps);
}
TRID_D void trid_warp_solve(int K, int W, int n, int steps, const TRID_R *f, TRID_R *d)
{
    TRID_F(trid_warp_solve)(K, W, n, steps, f, d);
}
TRID_D int trid_block_hybrid(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_block_hybrid)(K, n, a, b, c, d, shared);
}
TRID_D int trid_block_lines(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_block_lines)(K, L, S, n, a, b, c, d, shared);
}
TRID_D int trid_block_lines_factor(int K, int L, int S, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                   TRID_R *f, int *steps, TRID_R *shared)
{
    return TRID_F(trid_block_lines_factor)(K, L, S, n, a, b, c, f, steps, shared);
}
TRID_D void trid_block_lines_solve_stored(int K, int L, int S, int n, int steps, const TRID_R *f, const TRID_R *reduced,
                                          int stride, TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_block_lines_solve_stored)(K, L, S, n, steps, f, reduced, stride, d, shared);
}
TRID_D void trid_block_lines_solve(int K, int L, int S, int n, int steps, const TRID_R *f, TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_block_lines_solve)(K, L, S, n, steps, f, d, shared);
}
#endif
#endif /* TRID_DEVICE_SCOPES */

#if TRID_HOST_SCOPE
/* ---- host scope: plain C over arrays ----------------------------------------------------------------------------- */

/* Solves   by the Thomas algorithm
   Needs    work of n elements; x may alias d; a[0] and c[n-1] are not read; n = 0 takes null pointers
   Returns  0, -1 for n < 0, or 1 + the first row with a bad pivot */
TRID_HOST int TRID_F(trid_host_thomas)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                       TRID_R *x, TRID_R *work)
{
    return TRID_F(trid_lane_thomas)(n, a, b, c, d, x, work, 1);
}

/* PCR on m rows with unit diagonal: a, c, d one after another in work, each step going from one half of the 6*m
   elements to the other. Returns 0 or 1 + a bad row; *x points to the solution. */
TRID_HOST int TRID_F(trid_p_host_pcr)(size_t m, TRID_R *work, const TRID_R **x)
{
    TRID_R *from = work, *to = work + 3 * m;
    for (size_t s = 1; s < m; s *= 2) {
        for (size_t j = 0; j < m; j++) {
            const TRID_R *up = j >= s ? from + (j - s) : 0, *down = j + s < m ? from + (j + s) : 0;
            TRID_R a = from[j], c = from[m + j], d = from[2 * m + j];
            if (TRID_F(trid_lane_pcr_step)(&a, &c, &d, up ? up[0] : 0, up ? up[m] : 0, up ? up[2 * m] : 0,
                                           down ? down[0] : 0, down ? down[m] : 0, down ? down[2 * m] : 0))
                return (int)j + 1;
            to[j] = a;
            to[m + j] = c;
            to[2 * m + j] = d;
        }
        TRID_R *swap = from;
        from = to;
        to = swap;
    }
    *x = from + 2 * m;
    return 0;
}

/* Solves   by parallel cyclic reduction
   Needs    work of 8*n elements; else as trid_host_thomas
   Returns  0, -1 for n < 0, or 1 + a row that met a bad pivot */
TRID_HOST int TRID_F(trid_host_pcr)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                    TRID_R *x, TRID_R *work)
{
    if (n <= 0) return n < 0 ? -1 : 0;
    size_t m = (size_t)n;
    for (size_t j = 0; j < m; j++) {
        TRID_R r = TRID_F(trid_rcp)(b[j]);
        if (TRID_F(trid_p_bad)(b[j], r)) return (int)j + 1;
        work[j] = j > 0 ? r * a[j] : 0;
        work[m + j] = j < m - 1 ? r * c[j] : 0;
        work[2 * m + j] = r * d[j];
    }
    const TRID_R *solution;
    int status = TRID_F(trid_p_host_pcr)(m, work, &solution);
    if (status) return status;
    memcpy(x, solution, m * sizeof *x);
    return 0;
}

/* Elements of work for trid_host_hybrid: 4*n, and 6 a section; never more than 10*n. */
TRID_HOST size_t TRID_F(trid_host_hybrid_len)(int n, int rows_per_lane)
{
    if (n <= 0 || rows_per_lane < 1) return 0;
    return 4 * (size_t)n + 6 * (((size_t)n - 1) / (size_t)rows_per_lane + 1);
}

/* Solves   by the hybrid, as trid_warp_hybrid does it: sections of rows_per_lane rows are reduced, their last unknowns
            found by PCR, the rows expanded. Any number of sections; the last may be shorter.
   Needs    work of trid_host_hybrid_len(n, rows_per_lane) elements; else as trid_host_thomas
   Returns  0, -1 for n < 0 or rows_per_lane < 1, or 1 + a row that met a bad pivot */
TRID_HOST int TRID_F(trid_host_hybrid)(int n, int rows_per_lane, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                       const TRID_R *d, TRID_R *x, TRID_R *work)
{
    if (n < 0 || rows_per_lane < 1) return -1;
    if (n == 0) return 0;
    size_t rows = (size_t)n, K = (size_t)rows_per_lane, sections = (rows - 1) / K + 1;
    TRID_R *wa = work, *wb = wa + rows, *wc = wb + rows, *wd = wc + rows, *reduced = wd + rows;
    for (size_t j = 0; j < rows; j++) {
        wa[j] = j > 0 ? a[j] : 0;
        wb[j] = b[j];
        wc[j] = j < rows - 1 ? c[j] : 0;
        wd[j] = d[j];
    }
    for (size_t i = 0, first = 0; i < sections; i++, first += K) {
        int length = (int)(rows - first < K ? rows - first : K);
        int status = TRID_F(trid_lane_reduce)(length, wa + first, wb + first, wc + first, wd + first);
        if (status) return (int)first + status;
    }
    for (size_t i = 0; i < sections; i++) {
        size_t next = (i + 1) * K, last = (next < rows ? next : rows) - 1;
        TRID_R row_a = wa[last], row_c = wc[last], row_d = wd[last];
        if (K > 1 && next < rows) {
            /* A last section of one row has no second unknown: its first row is its last, and couples up only. */
            if (TRID_F(trid_lane_link)(&row_a, &row_c, &row_d, wa[next], wc[next], wd[next])) return (int)last + 1;
        }
        reduced[i] = row_a;
        reduced[sections + i] = row_c;
        reduced[2 * sections + i] = row_d;
    }
    const TRID_R *solution;
    int status = TRID_F(trid_p_host_pcr)(sections, reduced, &solution);
    if (status) {
        size_t next = (size_t)status * K;
        return (int)(next < rows ? next : rows);
    }
    for (size_t i = 0, first = 0; i < sections; i++, first += K) {
        int length = (int)(rows - first < K ? rows - first : K);
        TRID_F(trid_lane_expand)(length, wa + first, wc + first, wd + first, i > 0 ? solution[i - 1] : 0, solution[i]);
    }
    memcpy(x, wd, rows * sizeof *x);
    return 0;
}

/* Solves   how well x solves the system: the largest |A x - d| over the largest |A| |x| + |d|; 0 for n = 0 and for a
            system of zeros, NaN if any number that counts is NaN, inf on overflow */
TRID_HOST double TRID_F(trid_host_residual)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                            const TRID_R *x)
{
    double error = 0, size = 0;
    for (int j = 0; j < n; j++) {
        double left = j > 0 ? (double)a[j] * (double)x[j - 1] : 0, mid = (double)b[j] * (double)x[j];
        double right = j < n - 1 ? (double)c[j] * (double)x[j + 1] : 0;
        double e = fabs(left + mid + right - (double)d[j]);
        double z = fabs(left) + fabs(mid) + fabs(right) + fabs((double)d[j]);
        if (trid_p_nan(e) || trid_p_nan(z)) return e + z;
        if (e > error) error = e;
        if (z > size) size = z;
    }
    return !trid_finite_f64(size) ? size : size > 0 ? error / size : 0;
}

/* Solves   the least |b| / (|a| + |c|) of the rows: above 1 every solver here is safe. +inf for n = 0 and for a
            diagonal matrix, 0 if a row is zero, NaN if any number that counts is NaN */
TRID_HOST double TRID_F(trid_host_dominance)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c)
{
    double least = HUGE_VAL;
    for (int j = 0; j < n; j++) {
        double off = (j > 0 ? fabs((double)a[j]) : 0) + (j < n - 1 ? fabs((double)c[j]) : 0);
        double mid = fabs((double)b[j]);
        if (trid_p_nan(off) || trid_p_nan(mid)) return off + mid;
        double ratio = off > 0 ? mid / off : mid > 0 ? HUGE_VAL : 0;
        if (trid_p_nan(ratio)) return ratio; /* inf / inf */
        if (ratio < least) least = ratio;
    }
    return least;
}
#endif /* TRID_HOST_SCOPE */

#undef TRID_R
#undef TRID_F
#endif /* TRID_P_REAL */
