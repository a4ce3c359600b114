/* trid.h - tridiagonal solvers that live in registers, for CUDA kernels and for plain C.

   MIT licence, see LICENSE. Copy this one file; it includes nothing of the kit.

   One warp solves one system of up to 256 rows, lane l holding rows 8l .. 8l+7 (examples/drop_in_plain.cu):

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

   Each name exists with _f32 (float) and _f64 (double); in C++ all but trid_status_string and trid_warp_uniform can
   also be called without the suffix (sizes take a number of the type first: trid_block_hybrid_bytes(0.0f)). K is rows
   a lane, W lanes a system (2, 4, 8, 16, 32), and w = log2 W. Cost is per lane in FMA + multiplications + reciprocals +
   shuffles; a shuffle of a double counts two, and the reciprocal of a row that is reduced takes two FMA more in single
   precision.

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
       trid_lane_residual    d - A x of K rows, and how large it is               3K FMA
       trid_larger           the larger of two magnitudes; NaN beats all
       trid_lane_pivoted_reduce    with pivoting: K rows to two             (23K-37) FMA or mul + (2K-3) rcp
       trid_lane_pivoted_combine   two groups of sections to one            54 FMA or mul + 4 rcp
       trid_lane_pivoted_root      the ends of the whole system             1 FMA + 2 mul + 2 rcp
       trid_lane_pivoted_split     two unknowns where groups were joined    7 FMA
       trid_lane_pivoted_expand    the K rows from the unknowns around      (3K-6) FMA
       trid_lane_lu          L and U of K rows, from the row above                K FMA + 2K mul + K rcp
       trid_lane_ends_open, trid_lane_ends_row, trid_lane_ends_join, trid_lane_ends_close
                             a section of any length to its ends, row by row      a row: 4 FMA + 5 mul + 1 rcp
       trid_lane_ends_factor the matrix's part of that, once                      2n FMA + 6n mul + 2n rcp
       trid_lane_chain_reduce, trid_lane_chain_expand    a linear recurrence in sections   (2K-1) FMA + (K-1) mul
     warp (all 32 lanes call; groups of W lanes solve a system each)
       trid_warp_pcr1        one row a lane                                       4w FMA + 5w mul + w rcp + 6w shfl
       trid_warp_pcr2        two rows a lane                                      pcr1 + 6 FMA + 5 mul + 1 rcp + 4 shfl
       trid_warp_pcr1_shared, trid_warp_pcr2_shared                               exchanging through shared memory
       trid_warp_hybrid      K rows a lane                (6K-6+4w) FMA + (5K+1+5w) mul + (K+1+w) rcp + (4+6w) shfl
       trid_warp_reduce, trid_warp_expand                                         its two ends; the PCR is the caller's
       trid_warp_factor      the matrix's part of the hybrid, once; finds how many PCR steps matter
       trid_warp_solve       what is left for each d      (4K-4+2s) FMA + (K+1) mul + (2+2s) shfl, s steps <= w
       trid_warp_residual    d - A x, and how large it is                         3K FMA + 2 shfl
       trid_warp_hybrid_refined  with a step of refinement                        factor + 2 solves + residual
       trid_warp_solve_refined   the same for each d                              2 solves + residual
       trid_warp_pivoted     any nonsingular matrix      (26K-40+61w) FMA or mul + (2K-1+4w) rcp + (20w+2) shfl
       trid_warp_lu          L and U without pivoting, for many d     (9K+9w) FMA or mul + (K+1) rcp + (4w+4) shfl
       trid_warp_lu_solve, trid_warp_lu_solve_transposed   (4K-2+2w) FMA + (3K-2+2w) mul + (4w+4) shfl
       trid_warp_lu_keep     what these two do for the matrix each time, once; finds how many steps of the scan matter
       trid_warp_lu_solve_kept   what is left for each d      (4K-2+2s) FMA + K mul + (2+2s) shfl, s steps <= w
       trid_warp_chain_down, trid_warp_chain_up   a linear recurrence (2K-1+w) FMA + (K-1+w) mul + (2w+2) shfl
       trid_warp_uniform     tells the compiler that a number is the warp's own
     block
       trid_block_hybrid     one system across up to 32 warps                     hybrid + 1 barrier
       trid_block_residual   d - A x, and how large it is                         3K FMA + 1 barrier
       trid_block_hybrid_refined  with a step of refinement                       2 hybrids + residual: 3 barriers
       trid_block_pivoted    the same for any nonsingular matrix                  pivoted, more levels + 1 barrier
       trid_block_lines      lines side by side, cut into sections                reduce + expand + PCR + 2 barriers
       trid_block_lines_unchecked                             the same without a status, for dominant matrices
       trid_block_lines_factor                                the matrix's part of the lines, once; 4 barriers
       trid_block_lines_solve                                 what is left for each d: as trid_warp_solve, 2 barriers
       trid_block_lines_solve_stored                          the same, factors in memory
       trid_block_lu, trid_block_lu_solve, trid_block_lu_solve_transposed      trid_warp_lu across up to 32 warps
       trid_block_lines_lu, trid_block_lines_lu_solve, trid_block_lines_lu_solve_transposed    the same for lines
     cluster (blocks of one launch by trid_launch_cluster, whose shared memories reach each other)
       trid_cluster_rank, trid_cluster_size, trid_cluster_sync
       trid_cluster_map, trid_cluster_load, trid_cluster_store   each other's shared memory
       trid_cluster_open, trid_cluster_expect, trid_cluster_send, trid_cluster_await   what blocks tell each other
     host (C11; also the reference implementation)
       trid_host_thomas, trid_host_pcr, trid_host_hybrid, trid_host_hybrid_refined, trid_host_pivoted,
       trid_host_residual, trid_host_dominance, trid_host_lu, trid_host_lu_solve, trid_host_lu_solve_transposed,
       trid_host_reduce_ends, trid_host_expand_ends, trid_host_factor_ends, trid_host_weigh_ends
     sizes and messages
       trid_block_hybrid_bytes, trid_block_hybrid_refined_bytes, trid_block_pivoted_bytes, trid_block_lines_bytes,
       trid_block_lines_solve_bytes, trid_block_lu_bytes, trid_block_lines_lu_bytes, trid_host_hybrid_len,
       trid_host_hybrid_refined_len, trid_host_pivoted_len,
       trid_status_string
     launches
       trid_launch           a kernel that is a template over its sizes; returns the error of this launch alone
       trid_allow_shared     as much dynamic shared memory for a kernel as the device has
       trid_launch_cluster   the same in clusters of blocks
       trid_clusters         how many clusters of a kernel run at the same time; 0: there are none

   What they share:
     Stability  The functions called pivoted solve any nonsingular system as stably as LAPACK's gtsv (docs/pivoted.md).
                The others do not pivot: where the matrix is diagonally dominant, |b| > |a| + |c| in every row, no pivot
                is bad and x is as good as its condition allows. The residual is then a few unit roundoffs for the
                Thomas algorithm (trid_lane_thomas, _factor, trid_host_thomas). PCR, the hybrid and the factors, which
                eliminate each row by another sequence, leave more as dominance fades. Where couplings differ from row
                to row, residuals of random systems follow
                    4 + 1 / (2 K^2.5 (dominance - 1))  unit roundoffs,
                a fit and not a bound: few exceed it, none seen by more than 3.5 times, and never much more than the
                condition. With the same coefficients in every row, such as -1 2 -1, the residual is at most 40, for
                K >= 8 a few, even at dominance 1 (docs/hybrid.md). The refined functions leave a few again.
                trid_host_dominance tells the dominance. A matrix that is not dominant can pass one order of elimination
                and fail another.
     Status     TRID_OK = 0: solved. TRID_BAD_ARGUMENT = -1. 1 + row: that row met a bad pivot: it or its reciprocal is
                zero or not finite (tested by bits, so -ffast-math does not matter); x is then unspecified. Every row
                named exists. On the device each lane returns what it saw itself; the smallest positive status of a
                system's lanes is the row where the failure began (examples/block_system.cu finds it). The functions
                called pivoted return 1: in their order of elimination no row is the one at fault. Ignored, the test
                costs nothing, but in trid_block_lines.
                Not reported: a pivot that is tiny but not zero, as in a matrix that is singular but for rounding (where
                one may as well round to zero). x can then be anything, pivoted or not; trid_host_residual and the
                residual functions of the device tell how well it solves the system, trid_host_dominance whether to fear
                for it. NaN and inf in d alone are not a failure: they travel through their own system, and no further.
                Nor is overflow on the way to x: it shows in x.
     Sizes      K and W are literals: every function is inlined, loops unroll, arrays stay in registers, up to K = 32 in
                single and 16 in double precision (refined: 20 and 10 in a warp, 24 and 12 in a block; pivoted: 32 and
                12, and more than 32 are a bad argument). n is any number of rows up to K*W (K*blockDim in a block): the
                rest is filled up with identity rows inside and comes back as 0. A literal n == K*W costs nothing.
                n <= 0 is an empty system (for lane and host scope n < 0 is a bad argument).
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
#pragma push_macro("P")
#undef P
#pragma push_macro("T")
#undef T
#pragma push_macro("G")
#undef G
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

#define TRID_VERSION 103 /* 100 * major + minor */

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

#ifdef __CUDA_ARCH__ /* a loop that must not be unrolled: its body is long */
#define TRID_P_LOOP _Pragma("unroll 1")
#else
#define TRID_P_LOOP
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

/* The values of a status that are not 1 + a row. */
enum { TRID_OK = 0, TRID_BAD_ARGUMENT = -1 };

/* Flags of sections of longer lines: does the section begin its lines, and does it end them? */
enum { TRID_ENDS_FIRST = 128, TRID_ENDS_LAST = 256 };

/* What a status says. */
TRID_HD const char *trid_status_string(int status)
{
    return status == TRID_OK ? "solved"
           : status > 0      ? "the pivot of row status - 1 or its reciprocal is zero or not finite; pivoted: any row's"
                             : "bad argument: n < 0, n larger than the lanes hold, or rows_per_lane out of range";
}

/* Elements of the caller's arrays. */
#define TRID_WARP_FACTOR_LEN(K) (5 * (K) + 12)  /* trid_warp_factor: f, of each lane */
#define TRID_LANE_ENDS_LEN 7                    /* trid_lane_ends_open: e */
#define TRID_WARP_LU_KEEP_LEN 10                /* trid_warp_lu_keep: keep, of each lane */
#define TRID_LINES_FACTOR_LEN(K) (5 * (K) + 12) /* trid_block_lines_factor: f, of each thread */
#define TRID_WARP_PCR_SHARED_LEN 96             /* trid_warp_pcr1_shared, pcr2_shared: for each warp */
#define TRID_BLOCK_HYBRID_LEN 192               /* trid_block_hybrid: for the block */
#define TRID_BLOCK_RESIDUAL_LEN 64              /* trid_block_residual: for the block */
#define TRID_BLOCK_HYBRID_REFINED_LEN (2 * TRID_BLOCK_HYBRID_LEN + TRID_BLOCK_RESIDUAL_LEN)
#define TRID_BLOCK_PIVOTED_LEN 288                                /* trid_block_pivoted: for the block */
#define TRID_BLOCK_LINES_LEN_F32(L, S) TRID_P_LINES_LEN(L, S, 32) /* trid_block_lines: for the block */
#define TRID_BLOCK_LINES_LEN_F64(L, S) TRID_P_LINES_LEN(L, S, 16)
#define TRID_BLOCK_LINES_SOLVE_LEN_F32(L, S) TRID_P_LINES_SOLVE_LEN(L, S, 32) /* trid_block_lines_factor and _solve */
#define TRID_BLOCK_LINES_SOLVE_LEN_F64(L, S) TRID_P_LINES_SOLVE_LEN(L, S, 16)

#define TRID_BLOCK_LU_LEN 196                                           /* trid_block_lu: for the block */
#define TRID_BLOCK_LINES_LU_LEN_F32(L, S) TRID_P_LINES_LU_LEN(L, S, 32) /* trid_block_lines_lu: for the block */
#define TRID_BLOCK_LINES_LU_LEN_F64(L, S) TRID_P_LINES_LU_LEN(L, S, 16)

#define TRID_P_MOST_SIDES 4
#define TRID_P_MOST_ROWS 32 /* a lane: the local arrays that no caller hands in are as long, and used as far as K */

/* Where the factors keep things in f. First, of the section that the thread holds, five arrays of K, */
#define TRID_P_RECIPROCAL(K, j) (j)        /* of row j's pivot */
#define TRID_P_ABOVE(K, j) ((K) + (j))     /* how many times the row above is taken off row j */
#define TRID_P_BELOW(K, j) (2 * (K) + (j)) /* the row below */
#define TRID_P_LEFT(K, j) (3 * (K) + (j))  /* what couples the reduced row j to the previous section's last unknown */
#define TRID_P_LAST(K, j) (4 * (K) + (j))  /* to its own section's last; the last row to the next section's first */
/* then, of the section whose reduced row it solves (in a warp the same one, in lines another): */
#define TRID_P_LINK(K) (5 * (K))                  /* what the last row takes from the next section's first */
#define TRID_P_SCALE(K) (5 * (K) + 1)             /* what turns the right-hand side that is left into x */
#define TRID_P_STEP(K, p) (5 * (K) + 2 + 2 * (p)) /* couplings up and down of PCR step p < 5 */

/* Step i of the order in which the K rows of a section are eliminated: rows 0 .. K-2 from both ends to the middle and
   back again, two chains of half the length for the same operations, then row K-1. A row is divided by its pivot when
   it is visited first (scale); it loses x[j-1] by the row above (down), x[j+1] by the row below (up), or both. */
typedef struct {
    int row, scale, down, up;
} trid_p_visit;

TRID_HD int trid_p_visits(int K)
{
    return K > 1 ? 2 * K - 2 : 1;
}

TRID_HD trid_p_visit trid_p_visit_of(int K, int i)
{
    int mid = (K - 1) / 2, back = i - (K - 1);
    trid_p_visit v;
    if (i < mid) /* down to the middle */
        v.row = i, v.scale = 1, v.down = i > 0, v.up = 0;
    else if (i < K - 2) /* up to the middle */
        v.row = K - 2 - (i - mid), v.scale = 1, v.down = 0, v.up = i > mid;
    else if (i == K - 2)
        v.row = mid, v.scale = 1, v.down = mid > 0, v.up = mid < K - 2;
    else if (back < mid && K > 1)
        v.row = mid - 1 - back, v.scale = 0, v.down = 0, v.up = 1;
    else if (back < K - 2)
        v.row = back + 1, v.scale = 0, v.down = 1, v.up = 0;
    else
        v.row = K - 1, v.scale = 1, v.down = K > 1, v.up = 0;
    return v;
}

/* Where line i's section j keeps a reduced row, for L lines of S sections (powers of two, L * S a multiple of 32).
   A warp's access is served U words at a time: 32 of four bytes, 16 of eight. Filling in order of t = i + L j and
   reading in order of j + S i both touch U different banks: after each row of max(L, U) words come max(U/S, 1) words
   of padding, so that the U/S lines that are read together tile the banks. */
#define TRID_P_LINES_GAP(S, U) ((S) < (U) ? (U) / (S) : 1)
#define TRID_P_LINES_ROW(L, U) ((L) > (U) ? (L) : (U))
#define TRID_P_LINES_SLOT(L, S, U, t) ((t) + (t) / TRID_P_LINES_ROW(L, U) * TRID_P_LINES_GAP(S, U))
#define TRID_P_LINES_LEN(L, S, U) (6 * TRID_P_LINES_SLOT(L, S, U, (L) * (S)))
#define TRID_P_LINES_SOLVE_LEN(L, S, U) (3 * TRID_P_LINES_SLOT(L, S, U, (L) * (S)))
#define TRID_P_LINES_LU_LEN(L, S, U) (5 * TRID_P_LINES_SLOT(L, S, U, (L) * (S)))

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

/* The same number, which the compiler does not know to be the same. */
TRID_D int trid_p_again(int n)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(n));
#endif
    return n;
}

TRID_D int trid_p_thread(void)
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

TRID_D int trid_p_threads(void)
{
    return (int)(blockDim.x * blockDim.y * blockDim.z);
}

/* log2 of a power of two, and the slot of TRID_P_LINES_SLOT by shifts: for sizes that the compiler does not know. */
TRID_D int trid_p_log2(int n)
{
    return 31 - __clz(n);
}

TRID_D int trid_p_lines_slot(int L, int S, int U, int t)
{
    return t + (t >> trid_p_log2(TRID_P_LINES_ROW(L, U))) * (S < U ? U >> trid_p_log2(S) : 1);
}

/* ---- clusters: blocks that send each other rows ------------------------------------------------------------------ */

/* From compute capability 9.0 on (CUDA 12.1) a launch by trid_launch_cluster puts its blocks into clusters, which run
   at the same time. A block sends into another one's shared memory what that one waits for in a box,
   8 bytes of shared memory; no barrier of all blocks is needed, and no fence:

       __shared__ unsigned long long box[2];          two threads, once     trid_cluster_open(&box[thread]);
       __shared__ __align__(16) float from[2][16][4]; all threads, once     trid_cluster_sync();
       time i = 0, 1, ..:                             one thread            trid_cluster_expect(&box[i % 2], 16 * size);
       for (q = 0 .. size - 1)                        one thread            trid_cluster_send_f32(from[i % 2][rank], q,
                                                                                                  &box[i % 2], ..);
                                                      who reads             trid_cluster_await(&box[i % 2], i / 2 % 2);

   Before that all of these compile, as a cluster of one block that sends nothing. */
#if (defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201) ||    \
    (defined SIMT_EMULATOR && !defined __CUDACC__)
#define TRID_P_CLUSTERS 1
#else
#define TRID_P_CLUSTERS 0
#endif
#if TRID_P_CLUSTERS && defined __CUDA_ARCH__
#define TRID_P_CLUSTER_PTX 1
#else
#define TRID_P_CLUSTER_PTX 0
#endif

/* Solves   this block's number in its cluster, and how many blocks that has */
TRID_D int trid_cluster_rank(void)
{
#if TRID_P_CLUSTER_PTX
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return (int)rank;
#elif TRID_P_CLUSTERS
    return simt_cluster_rank();
#else
    return 0;
#endif
}
TRID_D int trid_cluster_size(void)
{
#if TRID_P_CLUSTER_PTX
    unsigned size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return (int)size;
#elif TRID_P_CLUSTERS
    return simt_cluster_size();
#else
    return 1;
#endif
}

/* Solves   a barrier of all threads of the cluster: what they wrote before it is there for all after it
   Lanes    all threads of all its blocks, warps converged
   Cost     a fence of the whole device: once a kernel, not once a system */
TRID_D void trid_cluster_sync(void)
{
#if TRID_P_CLUSTER_PTX
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#elif TRID_P_CLUSTERS
    simt_cluster_sync();
#else
    __syncthreads();
#endif
}

/* A place in the shared memory of a block of the cluster: 32 bits on a GPU. */
#ifdef __CUDA_ARCH__
typedef unsigned trid_cluster_place;
#else
typedef unsigned char *trid_cluster_place;
#endif

/* Solves   where block `rank` of the cluster has what this block has at `place` in its shared memory; other places
            there are so many bytes further
   Needs    a trid_cluster_sync after the kernel's begin and before its end, between which that block is there, and
            between a write and a read of it by another block. Neighbouring lanes should take neighbouring words.
   Cost     1 operation */
TRID_D trid_cluster_place trid_cluster_map(void *place, int rank)
{
#if TRID_P_CLUSTER_PTX
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"((unsigned)__cvta_generic_to_shared(place)), "r"(rank));
    return there;
#elif defined __CUDA_ARCH__
    (void)rank;
    return (unsigned)__cvta_generic_to_shared(place);
#elif TRID_P_CLUSTERS
    return (unsigned char *)simt_cluster_map(place, rank);
#else
    (void)rank;
    return (unsigned char *)place;
#endif
}

/* Solves   the number there
   Lanes    any */
TRID_D float trid_cluster_load_f32(trid_cluster_place place)
{
    float x;
#if TRID_P_CLUSTER_PTX
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(place) : "memory");
#elif defined __CUDA_ARCH__
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(place) : "memory");
#else
    x = *(float *)place;
#endif
    return x;
}
TRID_D double trid_cluster_load_f64(trid_cluster_place place)
{
    double x;
#if TRID_P_CLUSTER_PTX
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(x) : "r"(place) : "memory");
#elif defined __CUDA_ARCH__
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(place) : "memory");
#else
    x = *(double *)place;
#endif
    return x;
}

/* Solves   puts a number there
   Lanes    any */
TRID_D void trid_cluster_store_f32(trid_cluster_place place, float x)
{
#if TRID_P_CLUSTER_PTX
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(place), "f"(x) : "memory");
#elif defined __CUDA_ARCH__
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(place), "f"(x) : "memory");
#else
    *(float *)place = x;
#endif
}
TRID_D void trid_cluster_store_f64(trid_cluster_place place, double x)
{
#if TRID_P_CLUSTER_PTX
    asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(place), "d"(x) : "memory");
#elif defined __CUDA_ARCH__
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(place), "d"(x) : "memory");
#else
    *(double *)place = x;
#endif
}

/* Solves   makes *box, in shared memory, a box of the block
   Lanes    one thread of each block, once, before a trid_cluster_sync that comes before the first send */
TRID_D void trid_cluster_open(unsigned long long *box)
{
#if TRID_P_CLUSTER_PTX
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(box))
                 : "memory");
#elif TRID_P_CLUSTERS
    simt_cluster_open(box);
#else
    *box = 0;
#endif
}

/* Solves   the next time that the box is full will be after this many bytes, from whichever block, those included that
            have come before this call
   Needs    16 to 2^20 - 16 bytes; the time before is over: the thread has awaited it
   Lanes    one thread of the block */
TRID_D void trid_cluster_expect(unsigned long long *box, int bytes)
{
#if TRID_P_CLUSTER_PTX
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(box)),
        "r"(bytes)
        : "memory");
#elif TRID_P_CLUSTERS
    simt_cluster_expect(box, bytes);
#else
    (void)box, (void)bytes;
#endif
}

/* Solves   sends 16 bytes to block `rank`, also to the own one: to where `to` is in that block's shared memory, for its
            box that is where `box` is
   Needs    to aligned to 16 bytes; that block's threads have read what was there, and its box has been full as often as
            this one expects: two boxes and two places in turn see to that, where each block waits for all
   Lanes    any; it does not wait */
TRID_D void trid_cluster_send_f32(float *to, int rank, unsigned long long *box, float v0, float v1, float v2, float v3)
{
#if TRID_P_CLUSTER_PTX
    asm volatile("{\n\t"
                 ".reg .u32 to, box;\n\t"
                 "mapa.shared::cluster.u32 to, %0, %2;\n\t"
                 "mapa.shared::cluster.u32 box, %1, %2;\n\t"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [to], {%3, %4, %5, %6}, [box];\n\t"
                 "}" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "r"((unsigned)__cvta_generic_to_shared(box)), "r"(rank), "f"(v0), "f"(v1), "f"(v2), "f"(v3)
                 : "memory");
#elif TRID_P_CLUSTERS
    float v[4] = {v0, v1, v2, v3};
    simt_cluster_send(to, rank, box, v);
#else
    (void)rank, (void)box;
    to[0] = v0, to[1] = v1, to[2] = v2, to[3] = v3;
#endif
}
TRID_D void trid_cluster_send_f64(double *to, int rank, unsigned long long *box, double v0, double v1)
{
#if TRID_P_CLUSTER_PTX
    asm volatile("{\n\t"
                 ".reg .u32 to, box;\n\t"
                 "mapa.shared::cluster.u32 to, %0, %2;\n\t"
                 "mapa.shared::cluster.u32 box, %1, %2;\n\t"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [to], {%3, %4}, [box];\n\t"
                 "}" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "r"((unsigned)__cvta_generic_to_shared(box)), "r"(rank), "d"(v0), "d"(v1)
                 : "memory");
#elif TRID_P_CLUSTERS
    double v[2] = {v0, v1};
    simt_cluster_send(to, rank, box, v);
#else
    (void)rank, (void)box;
    to[0] = v0, to[1] = v1;
#endif
}

/* Solves   waits until the box has been full: for the 1st, 3rd .. time if odd is 0, for the 2nd, 4th .. if it is 1
   Leaves   what was sent there for the calling thread to read
   Lanes    any threads of the block that has the box */
TRID_D void trid_cluster_await(unsigned long long *box, int odd)
{
#if TRID_P_CLUSTER_PTX
    unsigned full;
    do {
        asm volatile("{\n\t"
                     ".reg .pred full;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 full, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, full;\n\t"
                     "}"
                     : "=r"(full)
                     : "r"((unsigned)__cvta_generic_to_shared(box)), "r"(odd)
                     : "memory");
    } while (!full);
#elif TRID_P_CLUSTERS
    simt_cluster_await(box, odd);
#else
    (void)box, (void)odd;
#endif
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

extern "C++" { /* the header may be included inside extern "C" */
template <class T>
struct trid_p_same {
    typedef T type;
};

/* Solves   launches kernel(arguments...), which are converted to the kernel's own types
   Returns  the error of this launch alone: what failed before, and what cudaGetLastError would return of it, stays as
            it was */
template <class... P>
static inline cudaError_t trid_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t bytes, cudaStream_t stream,
                                      typename trid_p_same<P>::type... arguments)
{
#ifdef __CUDACC__
    void *pointers[] = {(void *)&arguments..., NULL}; /* no array has no elements */
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, bytes, stream);
#else
    return SIMT_LAUNCH(kernel, grid, block, bytes, stream)(arguments...);
#endif
}

/* Solves   allows a kernel as much dynamic shared memory as the current device has beside the kernel's own. That is the
            same for all launches: host threads that need different amounts do not take them from each other.
   Returns  cudaSuccess, or the runtime's error
   Cost     three calls of the runtime, four for the first time */
template <class... P>
static inline cudaError_t trid_allow_shared(void (*kernel)(P...))
{
    int device, most = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
#ifdef __CUDACC__
    cudaFuncAttributes compiled;
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&compiled, (const void *)kernel);
    if (error == cudaSuccess) most -= (int)compiled.sharedSizeBytes;
    if (error != cudaSuccess || compiled.maxDynamicSharedSizeBytes >= most) return error;
    return cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
#else
    return error != cudaSuccess ? error
                                : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
#endif
}

/* As trid_launch, the blocks in clusters of `size` along x; an early kernel may begin when all blocks of the one before
   it on the stream have begun (from compute capability 9.0 on), and has to wait itself for what that one writes. */
template <class... P>
static inline cudaError_t trid_p_launch_as(int early, int size, void (*kernel)(P...), dim3 grid, dim3 block,
                                           size_t bytes, cudaStream_t stream,
                                           typename trid_p_same<P>::type... arguments)
{
#if !defined __CUDACC__
    return simt_launch(kernel, grid, dim3((unsigned)size), block, bytes, stream, early != 0)(arguments...);
#elif CUDART_VERSION >= 11080
    void *pointers[] = {(void *)&arguments..., NULL};
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = attributes;
    if (early) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (size > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs].val.clusterDim.y = attributes[config.numAttrs].val.clusterDim.z = 1;
        attributes[config.numAttrs++].val.clusterDim.x = (unsigned)size;
    }
    return cudaLaunchKernelExC(&config, (const void *)kernel, pointers);
#else
    return size > 1 ? cudaErrorNotSupported : trid_launch(kernel, grid, block, bytes, stream, arguments...);
#endif
}

/* Solves   the same with the blocks in clusters of `size` along x, of which the grid has a whole number
   Needs    trid_clusters(kernel, size, block, bytes) > 0 */
template <class... P>
static inline cudaError_t trid_launch_cluster(void (*kernel)(P...), dim3 grid, int size, dim3 block, size_t bytes,
                                              cudaStream_t stream, typename trid_p_same<P>::type... arguments)
{
    return trid_p_launch_as(0, size, kernel, grid, block, bytes, stream, arguments...);
}

/* Solves   how many clusters of so many blocks of the kernel the current device runs at the same time; 0 if it has none
            (before compute capability 9.0), if the kernel was compiled for devices that have none, or if one does not
            fit
   Needs    bytes of dynamic shared memory that the kernel may have (trid_allow_shared)
   Cost     some calls of the CUDA runtime; sizes above 8 are allowed to the kernel, which then stay so */
template <class... P>
static inline int trid_clusters(void (*kernel)(P...), int size, dim3 block, size_t bytes)
{
    int device, major;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess || major < 9)
        return 0;
#if !defined __CUDACC__
    return simt_clusters(kernel, size, block, bytes);
#elif CUDART_VERSION >= 12010
    int clusters = 0;
    cudaFuncAttributes compiled;
    if (cudaFuncGetAttributes(&compiled, (const void *)kernel) != cudaSuccess || compiled.ptxVersion < 90 ||
        (size > 8 &&
         cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess))
        return 0;
    cudaLaunchAttribute attribute[1];
    cudaLaunchConfig_t config = {};
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = (unsigned)size;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)size);
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.attrs = attribute;
    config.numAttrs = 1;
    return cudaOccupancyMaxActiveClusters(&clusters, (const void *)kernel, &config) == cudaSuccess ? clusters : 0;
#else
    (void)kernel, (void)size, (void)block, (void)bytes;
    return 0;
#endif
}
}
#else
#define TRID_LAUNCHES 0
#endif

/* The bits that tell 0, infinities and NaN without the sign: all of a float, of a double the upper half. */
TRID_HD unsigned trid_p_bits_f32(float x)
{
    unsigned u;
#ifdef __CUDA_ARCH__
    u = __float_as_uint(x);
#else
    memcpy(&u, &x, sizeof u);
#endif
    return u << 1;
}
TRID_HD unsigned trid_p_bits_f64(double x)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__double2hiint(x) << 1;
#else
    unsigned long long u;
    memcpy(&u, &x, sizeof u);
    return (unsigned)(u >> 32) << 1;
#endif
}

/* Solves   is x neither infinite nor NaN? By its bits, so that -ffast-math does not matter. */
TRID_HD int trid_finite_f32(float x)
{
    return trid_p_bits_f32(x) < 0xff000000u;
}
TRID_HD int trid_finite_f64(double x)
{
    return trid_p_bits_f64(x) < 0xffe00000u;
}

/* The sign of x in the sign bit, the rest being anything; and the power of two by which x comes to lie in [1, 2), in
   absolute value (0, inf or NaN where there is none such: the product is then no number or 0). */
TRID_HD int trid_p_sign_f32(float x)
{
#ifdef __CUDA_ARCH__
    return __float_as_int(x);
#else
    int u;
    memcpy(&u, &x, sizeof u);
    return u;
#endif
}
TRID_HD int trid_p_sign_f64(double x)
{
#ifdef __CUDA_ARCH__
    return __double2hiint(x);
#else
    long long u;
    memcpy(&u, &x, sizeof u);
    return (int)(u >> 32);
#endif
}
TRID_HD float trid_p_power_f32(float x)
{
    int u = 0x7f000000 - (trid_p_sign_f32(x) & 0x7f800000);
#ifdef __CUDA_ARCH__
    return __int_as_float(u);
#else
    float y;
    memcpy(&y, &u, sizeof y);
    return y;
#endif
}
TRID_HD double trid_p_power_f64(double x)
{
    int u = 0x7fe00000 - (trid_p_sign_f64(x) & 0x7ff00000);
#ifdef __CUDA_ARCH__
    return __hiloint2double(u, 0);
#else
    unsigned long long v = (unsigned long long)(unsigned)u << 32;
    double y;
    memcpy(&y, &v, sizeof y);
    return y;
#endif
}

/* Is r, the reciprocal of a pivot, zero, infinite or NaN? It is if and only if it or the pivot is: a pivot of 0 has
   the reciprocal inf or NaN, one of inf has 0 or NaN. (The lower half of a double does not matter: the reciprocal of a
   finite number is 0 or at least 2^-1024.) */
TRID_HD int trid_p_bad_f32(float r)
{
    return trid_p_bits_f32(r) - 1 >= 0xff000000u - 1;
}
TRID_HD int trid_p_bad_f64(double r)
{
    return trid_p_bits_f64(r) - 1 >= 0xffe00000u - 1;
}

/* Solves   |x| or |y|, whichever is larger; NaN is larger than anything, so that the largest of many hides none */
TRID_HD float trid_larger_f32(float x, float y)
{
    return trid_p_bits_f32(x) >= trid_p_bits_f32(y) ? fabsf(x) : fabsf(y);
}
TRID_HD double trid_larger_f64(double x, double y)
{
    unsigned long long u, v;
#ifdef __CUDA_ARCH__
    u = (unsigned long long)__double_as_longlong(x);
    v = (unsigned long long)__double_as_longlong(y);
#else
    memcpy(&u, &x, sizeof u);
    memcpy(&v, &y, sizeof v);
#endif
    return u << 1 >= v << 1 ? fabs(x) : fabs(y);
}

/* What the holder of rows first .. first+K-1 of n returns, lanes holding full: status is what trid_lane_reduce said of
   them, bad what the steps after it said of the last (trid_p_verdict). A failure that may have begun elsewhere goes to
   the system's last row, so that the smallest status of all holders is where it did begin. */
TRID_HD int trid_p_status(int first, int K, int n, int full, int status, int bad)
{
    int row = status ? first + status : bad & 1 ? first + K : bad ? full : 0;
    int rows = n > 0 ? n : 0;
    return n > full ? TRID_BAD_ARGUMENT : row > rows ? rows : row;
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
#if defined SIMT_RECIPROCAL && !defined TRID_EXACT_RCP /* the emulator's stand-in for the unit */
    return SIMT_RECIPROCAL(x);
#elif !defined __CUDA_ARCH__
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
   Error    see docs/reciprocal.md: on the device at most 1 ulp; 0, inf, NaN and subnormals give NaN, |x| > 2^1022
            gives 0 or a subnormal. On the host, or with TRID_EXACT_RCP: IEEE 1/x.
   Cost     1 reciprocal, 3 FMA */
TRID_HD double trid_rcp_f64(double x)
{
#if defined SIMT_RECIPROCAL && !defined TRID_EXACT_RCP
    return SIMT_RECIPROCAL(x);
#elif !defined __CUDA_ARCH__
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
#define TRID_P_ABS(x) fabsf(x)
#define TRID_P_BANKS 32                        /* words of this size that shared memory serves at once */
#define TRID_P_ROUNDOFF 5.9604644775390625e-8f /* 2^-24 */
#define TRID_P_SMALLEST 1.17549435e-38f        /* the least normal number */
#include TRID_HEADER
#undef TRID_P_REAL
#undef TRID_P_NAME
#undef TRID_P_ABS
#undef TRID_P_BANKS
#undef TRID_P_ROUNDOFF
#undef TRID_P_SMALLEST

#define TRID_P_REAL double
#define TRID_P_NAME(stem) stem##_f64
#define TRID_P_ABS(x) fabs(x)
#define TRID_P_BANKS 16
#define TRID_P_ROUNDOFF 1.1102230246251565404e-16 /* 2^-53 */
#define TRID_P_SMALLEST 2.2250738585072014e-308
#include TRID_HEADER
#undef TRID_P_REAL
#undef TRID_P_NAME
#undef TRID_P_ABS
#undef TRID_P_BANKS
#undef TRID_P_ROUNDOFF
#undef TRID_P_SMALLEST

#ifndef __CUDACC_RTC__
#pragma pop_macro("K")
#pragma pop_macro("P")
#pragma pop_macro("T")
#pragma pop_macro("G")
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

/* What a step says of its pivot, whose reciprocal is r: 0, 1 if it is finite and has no reciprocal, 2 if it is not
   finite. After the first elimination the latter may be what a failure elsewhere left; or-ed over the steps, bit 0
   tells a failure that began here. */
TRID_HD int TRID_F(trid_p_verdict)(TRID_R pivot, TRID_R r)
{
    return !TRID_F(trid_p_bad)(r) ? 0 : TRID_F(trid_finite)(pivot) ? 1 : 2;
}

/* The reciprocal with the special-function unit's bias taken off in single precision, by one Newton step: where a
   matrix works on one right-hand side after another, an error that is always the same adds up. */
TRID_HD TRID_R TRID_F(trid_p_rcp_fine)(TRID_R x)
{
    TRID_R r = TRID_F(trid_rcp)(x);
#if (defined __CUDA_ARCH__ || defined SIMT_RECIPROCAL) && !defined TRID_EXACT_RCP
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
    if (n < 0) return TRID_BAD_ARGUMENT;
    TRID_R above_c = 0, above_d = 0;
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        TRID_R aj = j > 0 ? a[i] : 0;
        TRID_R pivot = b[i] - aj * above_c;
        TRID_R r = TRID_F(trid_rcp)(pivot);
        if (TRID_F(trid_p_bad)(r)) return 1 + j;
        work[i] = above_c = j < n - 1 ? r * c[i] : 0;
        x[i] = above_d = r * (d[i] - aj * above_d);
    }
    for (int j = n - 2; j >= 0; j--) x[j * stride] -= work[j * stride] * x[(j + 1) * stride];
    return 0;
}

/* Solves   the part of Thomas that depends on the matrix alone
   Needs    as trid_lane_thomas; l may alias a, r may alias b, q may alias c
   Leaves   l[j] = a[j] / pivot[j], r[j] = 1 / pivot[j], q[j] = c[j] / pivot[j]; l[0] and q[n-1] are not written. A row
            is divided by its own pivot only, so that the scale of its neighbours does not matter.
   Returns  0, -1 for n < 0, or 1 + the first row with a bad pivot
   Cost     n FMA + 2n mul + n rcp */
TRID_HD int TRID_F(trid_lane_factor)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *l, TRID_R *r,
                                     TRID_R *q, long long stride)
{
    if (n < 0) return TRID_BAD_ARGUMENT;
    TRID_R above = 0;
    TRID_UNROLL
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        TRID_R pivot = b[i];
        if (j > 0) pivot -= a[i] * above;
        TRID_R rj = TRID_F(trid_rcp)(pivot);
        if (TRID_F(trid_p_bad)(rj)) return 1 + j;
        if (j > 0) l[i] = a[i] * rj;
        r[i] = rj;
        if (j < n - 1) q[i] = above = c[i] * rj;
    }
    return 0;
}

/* x - a y. Where x is a product too the compiler, left to itself, fuses that one, and the chain through y is longer by
   a multiplication. */
TRID_HD TRID_R TRID_F(trid_p_less)(TRID_R x, TRID_R a, TRID_R y)
{
#ifdef __CUDA_ARCH__
    return fma(-a, y, x);
#else
    return x - a * y;
#endif
}

/* Solves   the system whose matrix trid_lane_factor took apart
   Needs    l, r, q from there, same n and stride; x may alias d
   Cost     2n FMA + n mul, no reciprocal; the longest chain is one FMA a row in each direction */
TRID_HD void TRID_F(trid_lane_solve)(int n, const TRID_R *l, const TRID_R *r, const TRID_R *q, const TRID_R *d,
                                     TRID_R *x, long long stride)
{
    TRID_R y = 0;
    TRID_UNROLL
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        TRID_R scaled = r[i] * d[i]; /* off the chain */
        x[i] = y = j > 0 ? TRID_F(trid_p_less)(scaled, l[i], y) : scaled;
    }
    TRID_UNROLL
    for (int j = n - 2; j >= 0; j--) {
        long long i = j * stride;
        x[i] = y = x[i] - q[i] * y;
    }
}

/* A visit to a row of a section (trid_p_visit): the matrix's part of it. m takes what the row is multiplied by, and how
   many times the rows above and below are taken off it. */
TRID_HD int TRID_F(trid_p_visit_matrix)(trid_p_visit v, TRID_R *a, const TRID_R *b, TRID_R *c, TRID_R *m)
{
    int j = v.row, bad = 0;
    m[0] = 1, m[1] = a[j], m[2] = c[j];
    if (v.scale) {
        TRID_R pivot = b[j];
        if (v.down) pivot -= a[j] * c[j - 1];
        if (v.up) pivot -= c[j] * a[j + 1];
        m[0] = TRID_F(trid_p_rcp_fine)(pivot);
        m[1] *= m[0];
        m[2] *= m[0];
        bad = TRID_F(trid_p_bad)(m[0]);
    }
    a[j] = v.down ? -m[1] * a[j - 1] : m[1];
    c[j] = v.up ? -m[2] * c[j + 1] : m[2];
    /* On the way back the neighbour has its final two couplings, of which one comes on top of the row's own. */
    if (v.down && !v.scale) c[j] -= m[1] * c[j - 1];
    if (v.up && !v.scale) a[j] -= m[2] * a[j + 1];
    return bad ? 1 + j : 0;
}

/* The right-hand side's part of the same visit. chained, a literal: with trid_p_less. */
TRID_HD void TRID_F(trid_p_visit_right)(trid_p_visit v, int chained, TRID_R scale, TRID_R above, TRID_R below,
                                        TRID_R *d)
{
    TRID_R right = v.scale ? scale * d[v.row] : d[v.row];
    if (v.down) right = chained ? TRID_F(trid_p_less)(right, above, d[v.row - 1]) : right - above * d[v.row - 1];
    if (v.up) right = chained ? TRID_F(trid_p_less)(right, below, d[v.row + 1]) : right - below * d[v.row + 1];
    d[v.row] = right;
}

/* What both trid_lane_reduce and the factors do: the former with d, the latter with keep, which takes what
   trid_p_reduce_right needs (the first three arrays of f). */
TRID_HD int TRID_F(trid_p_reduce)(int K, TRID_R *a, const TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *keep)
{
    int status = 0;
    TRID_UNROLL
    for (int i = 0; i < trid_p_visits(K); i++) {
        trid_p_visit v = trid_p_visit_of(K, i);
        TRID_R m[3];
        int bad = TRID_F(trid_p_visit_matrix)(v, a, b, c, m);
        if (!status) status = bad;
        if (d) TRID_F(trid_p_visit_right)(v, 0, m[0], m[1], m[2], d);
        if (keep) {
            if (v.scale) keep[TRID_P_RECIPROCAL(K, v.row)] = m[0];
            if (v.down) keep[TRID_P_ABOVE(K, v.row)] = m[1];
            if (v.up) keep[TRID_P_BELOW(K, v.row)] = m[2];
        }
    }
    /* A coupling that is not finite met no pivot of these rows, but makes those of other sections so. */
    if (!status && !TRID_F(trid_finite)(c[K - 1])) status = K;
    if (!status && !TRID_F(trid_finite)(a[K - 1])) status = 1;
    return status;
}

/* The same for a right-hand side alone, with what trid_p_reduce kept, element e of it at keep[e stride]. In double
   precision chained is 3 % faster, in single up to 12 % slower (bs1d_implicit3 and 4; docs/bs1d.md). */
TRID_HD void TRID_F(trid_p_reduce_right)(int K, const TRID_R *keep, int stride, TRID_R *d)
{
    TRID_UNROLL
    for (int i = 0; i < trid_p_visits(K); i++) {
        trid_p_visit v = trid_p_visit_of(K, i);
        TRID_F(trid_p_visit_right)
        (v, sizeof(TRID_R) == 8, v.scale ? keep[TRID_P_RECIPROCAL(K, v.row) * stride] : 1,
         v.down ? keep[TRID_P_ABOVE(K, v.row) * stride] : 0, v.up ? keep[TRID_P_BELOW(K, v.row) * stride] : 0, d);
    }
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
   Returns  0, or 1 + a row (within the section) that met a bad pivot, or whose coupling out of it is not finite
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
   Returns  0; 1 for a pivot without reciprocal; 2 for one that is not finite, which may be what a failure in the next
            section left
   Cost     2 FMA + 4 mul + 1 rcp */
TRID_HD int TRID_F(trid_lane_link)(TRID_R *a, TRID_R *c, TRID_R *d, TRID_R first_a, TRID_R first_c, TRID_R first_d)
{
    TRID_R pivot = 1 - *c * first_a;
    TRID_R r = TRID_F(trid_rcp)(pivot);
    *d = r * (*d - *c * first_d);
    *a = r * *a;
    *c = -(r * *c) * first_c;
    return TRID_F(trid_p_verdict)(pivot, r);
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
   Returns  0; 1 for a pivot without reciprocal; 2 for one that is not finite, which may be what a failure in another
            row left
   Cost     4 FMA + 5 mul + 1 rcp */
TRID_HD int TRID_F(trid_lane_pcr_step)(TRID_R *a, TRID_R *c, TRID_R *d, TRID_R up_a, TRID_R up_c, TRID_R up_d,
                                       TRID_R down_a, TRID_R down_c, TRID_R down_d)
{
    TRID_R pivot = 1 - *a * up_c - *c * down_a;
    TRID_R r = TRID_F(trid_rcp)(pivot);
    *d = r * (*d - *a * up_d - *c * down_d);
    *a = -(r * *a) * up_a;
    *c = -(r * *c) * down_c;
    return TRID_F(trid_p_verdict)(pivot, r);
}

/* Solves   how far x is from solving K rows, first .. first+K-1 of a system of n:
                r[j] = d[j] - a[j] x[j-1] - b[j] x[j] - c[j] x[j+1],    left = x[-1], right = x[K]
   Needs    a[0] of row 0 and c of row n-1 are not read, nor are rows from n on; r may alias d
   Leaves   r, 0 in rows from n on; *error the largest |r| of the rows, *size the largest |A| |x| + |d|, 0 if no row
            exists (either may be null): the largest error of all rows over the largest size is the residual
            in the sense of trid_host_residual, in working precision
   Cost     3K FMA; error and size together about 8K operations more */
TRID_HD void TRID_F(trid_lane_residual)(int K, int first, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                        const TRID_R *d, const TRID_R *x, TRID_R left, TRID_R right, TRID_R *r,
                                        TRID_R *error, TRID_R *size)
{
    TRID_R largest = 0, magnitude = 0;
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        TRID_R above = j > 0 ? x[j - 1] : left, below = j < K - 1 ? x[j + 1] : right;
        int exists = first + j < n;
        int has_above = j > 0 || first > 0;
        int has_below = first + j + 1 < n;
        TRID_R rest = d[j] - b[j] * x[j];
        if (has_above) rest -= a[j] * above;
        if (has_below) rest -= c[j] * below;
        if (size && exists) {
            TRID_R sum = TRID_P_ABS(d[j]) + TRID_P_ABS(b[j] * x[j]);
            if (has_above) sum += TRID_P_ABS(a[j] * above);
            if (has_below) sum += TRID_P_ABS(c[j] * below);
            magnitude = TRID_F(trid_larger)(magnitude, sum);
        }
        r[j] = exists ? rest : 0;
        if (error) largest = TRID_F(trid_larger)(largest, r[j]);
    }
    if (error) *error = largest;
    if (size) *size = magnitude;
}

/* ---- sections of any length, to their ends ----------------------------------------------------------------------- */

/* What is left of rows 0 .. j of a section, f = x[0] its first unknown and z = x[j] the last so far, in e of
   TRID_LANE_ENDS_LEN elements:
       e[0] l + e[1] f + e[2] z = e[3]        the first row
       e[4] f +      z + e[5] g = e[6]        the last; g: the next unknown */

/* Solves   the first two rows of a section; the others follow one by one (trid_lane_ends_row), whatever their number:
            each array is read once, and e is all that is kept
   Returns  0, or 1 for a bad pivot
   Cost     3 mul + 1 rcp */
TRID_HD int TRID_F(trid_lane_ends_open)(TRID_R *e, TRID_R first_a, TRID_R first_b, TRID_R first_c, TRID_R first_d,
                                        TRID_R a, TRID_R b, TRID_R c, TRID_R d)
{
    TRID_R r = TRID_F(trid_p_rcp_fine)(b);
    e[0] = first_a, e[1] = first_b, e[2] = first_c, e[3] = first_d;
    e[4] = r * a, e[5] = r * c, e[6] = r * d;
    return TRID_F(trid_p_bad)(r);
}

/* Solves   the next row: the first row gives up what was the last unknown, and couples to the new one
   Returns  0, or 1 for a bad pivot
   Cost     4 FMA + 5 mul + 1 rcp */
TRID_HD int TRID_F(trid_lane_ends_row)(TRID_R *e, TRID_R a, TRID_R b, TRID_R c, TRID_R d)
{
    TRID_R r = TRID_F(trid_p_rcp_fine)(b - a * e[5]);
    e[1] -= e[2] * e[4];
    e[3] -= e[2] * e[6];
    e[2] *= -e[5];
    e[6] = r * (d - a * e[6]);
    e[4] = -(r * a) * e[4];
    e[5] = r * c;
    return TRID_F(trid_p_bad)(r);
}

/* Solves   a section and the one below it as one: e becomes theirs
   Returns  0, or 1 for a bad pivot
   Cost     two rows' */
TRID_HD int TRID_F(trid_lane_ends_join)(TRID_R *e, const TRID_R *below)
{
    int bad = TRID_F(trid_lane_ends_row)(e, below[0], below[1], below[2], below[3]);
    return TRID_F(trid_lane_ends_row)(e, below[4], 1, below[5], below[6]) || bad;
}

/* Solves   the two rows that are left, with unit diagonal, as rows of a tridiagonal system of two unknowns a section:
                a[0] l + f + c[0] z = d[0]        l: the z of the section above
                a[1] f + z + c[1] g = d[1]        g: the f of the section below
   Returns  0; 1 for a bad pivot of the first row; 2 for a coupling that is not finite
   Cost     3 mul + 1 rcp */
TRID_HD int TRID_F(trid_lane_ends_close)(const TRID_R *e, TRID_R *a, TRID_R *c, TRID_R *d)
{
    TRID_R r = TRID_F(trid_p_rcp_fine)(e[1]);
    a[0] = r * e[0], c[0] = r * e[2], d[0] = r * e[3];
    a[1] = e[4], c[1] = e[5], d[1] = e[6];
    int finite = TRID_F(trid_finite)(a[0]) && TRID_F(trid_finite)(c[0]) && TRID_F(trid_finite)(a[1]) &&
                 TRID_F(trid_finite)(c[1]);
    return TRID_F(trid_p_bad)(r) ? 1 : finite ? 0 : 2;
}

/* Solves   what depends on the matrix alone: d[0] and d[1] of a section's ends (trid_lane_ends_close) are the products
            of d with u and with v, rows of inverses: u of rows 0 .. n-2, v of rows 1 .. n-1
   Needs    n >= 2; element j of each array at [j * stride]; u and v arrays of their own. flags: TRID_ENDS_FIRST: a[0]
            is not read and counts as 0, TRID_ENDS_LAST: c[n-1] likewise
   Leaves   u, v; a and c of the two rows. reach[0]: on how many rows from the top f depends, and reach[1]: on how many
            from the bottom z does: what couples f to the next one, or z to the one before, is then no larger than the
            unit roundoff. n if there are none such: the section's ends feel each other. A NaN is never below it.
   Returns  0, or 1 + the first row found with a bad pivot
   Cost     2n FMA + 6n mul + 2n rcp
   Error    each weight to some roundoffs of itself for each row up to it, where the matrix is an M-matrix. Rows beyond
            reach change f and z by the order of the unit roundoff times the largest element of x. The sum of all |u| is
            no more than the largest row sum of the inverse's: where the matrix is dominant as stable as elimination */
TRID_HD int TRID_F(trid_lane_ends_factor)(int n, int flags, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                          TRID_R *u, TRID_R *v, long long stride, TRID_R *ends_a, TRID_R *ends_c,
                                          int *reach)
{
    if (n < 2) return TRID_BAD_ARGUMENT;
    const long long end = (n - 1) * stride;
    int bad = 0;
    TRID_R r = 0;
    for (int j = 1; j < n; j++) { /* downward from row 1, and upward from row n-2: the reciprocals of the pivots */
        const long long i = j * stride;
        TRID_R pivot = b[i];
        if (j > 1) pivot -= a[i] * (c[i - stride] * r);
        v[i] = r = TRID_F(trid_p_rcp_fine)(pivot);
        if (!bad && TRID_F(trid_p_bad)(r)) bad = 1 + j;
    }
    for (int j = n - 2; j >= 0; j--) {
        const long long i = j * stride;
        TRID_R pivot = b[i];
        if (j < n - 2) pivot -= c[i] * (a[i + stride] * r);
        u[i] = r = TRID_F(trid_p_rcp_fine)(pivot);
        if (!bad && TRID_F(trid_p_bad)(r)) bad = 1 + j;
    }
    /* A weight times its row's coupling is what couples to the next row, by whose pivot that is divided: however the
       rows are scaled. */
    reach[0] = reach[1] = 1;
    for (int j = n - 1; j > 0; j--) {
        const long long i = j * stride;
        const TRID_R coupling = v[i] * a[i];
        if (!(TRID_P_ABS(coupling) <= (TRID_R)TRID_P_ROUNDOFF)) reach[1] = n + 1 - j;
        if (j > 1) v[i - stride] *= -coupling;
        ends_a[1] = coupling;
    }
    for (int j = 0; j < n - 1; j++) {
        const long long i = j * stride;
        const TRID_R coupling = u[i] * c[i];
        if (!(TRID_P_ABS(coupling) <= (TRID_R)TRID_P_ROUNDOFF)) reach[0] = j + 2;
        if (j < n - 2) u[i + stride] *= -coupling;
        ends_c[0] = coupling;
    }
    v[0] = u[end] = 0;
    ends_a[0] = flags & TRID_ENDS_FIRST ? (TRID_R)0 : u[0] * a[0];
    ends_c[1] = flags & TRID_ENDS_LAST ? (TRID_R)0 : v[end] * c[end];
    for (int k = 0; k < 2 && !bad; k++)
        if (!TRID_F(trid_finite)(ends_a[k]) || !TRID_F(trid_finite)(ends_c[k])) bad = n;
    return bad;
}

/* ---- lane scope, with pivoting: docs/pivoted.md derives what follows --------------------------------------------- */

/* Two rows meet at an unknown, which has the coefficient u in the first and v in the second: *f and *g are such that
   f * first + g * second has lost it, the row with the larger coefficient being multiplied by at most 1 and the other
   by -1. Where neither has a coefficient there is nothing to lose, but a NaN. Returns whether the second has the
   larger. */
TRID_HD int TRID_F(trid_p_meet)(TRID_R u, TRID_R v, TRID_R *f, TRID_R *g)
{
    int second = TRID_P_ABS(v) > TRID_P_ABS(u);
    TRID_R high = second ? v : u, r = TRID_P_ABS(high) < TRID_P_SMALLEST ? 0 : TRID_F(trid_rcp)(high);
    TRID_R multiplier = (second ? u : v) * r;
    *f = second ? -1 : multiplier;
    *g = second ? multiplier : -1;
    return second;
}

/* The same where the row with the larger coefficient is kept, to find the unknown by it: *rf and *rg are such that
   rf * first + rg * second is that row, divided by the coefficient. *bad: is there no such row? */
TRID_HD int TRID_F(trid_p_pivot)(TRID_R u, TRID_R v, TRID_R *f, TRID_R *g, TRID_R *rf, TRID_R *rg, int *bad)
{
    int second = TRID_P_ABS(v) > TRID_P_ABS(u);
    TRID_R r = TRID_F(trid_rcp)(second ? v : u), multiplier = (second ? u : v) * r;
    *f = second ? -1 : multiplier;
    *g = second ? multiplier : -1;
    *rf = second ? 0 : r;
    *rg = second ? r : 0;
    *bad = !TRID_F(trid_finite)(r) || r == 0;
    return second;
}

/* What a group of sections shows to its neighbour, from its two rows of five: four coefficients, right-hand side. */
TRID_HD void TRID_F(trid_p_face)(const TRID_R *u, const TRID_R *v, TRID_R *face)
{
    TRID_R f, g;
    int second = TRID_F(trid_p_meet)(u[0], v[0], &f, &g);
    TRID_UNROLL
    for (int k = 0; k < 5; k++) face[k] = second ? v[k] : u[k];
    TRID_UNROLL
    for (int k = 1; k < 5; k++) face[4 + k] = f * u[k] + g * v[k];
}

/* Solves   K rows to two, for any nonsingular matrix: x[1] .. x[K-2] occur in no other row, and are eliminated with
            pivoting. Rows as in trid_lane_reduce, with l = x[-1] above the section and y = x[K] below it. The section
            will be joined to a neighbour, across which p and q lie, while u and v are the unknowns at its other end:
                                                                            p        q     u        v
                below = 1: that above it; the two are eliminated as         l        x[0]  x[K-1]   y
                below = 0: that below it, or none                           x[K-1]   y     l        x[0]
            What is left is the section's face:
                face[0] p + face[1] q + face[2] u + face[3] v = face[4]
                            face[5] q + face[6] u + face[7] v = face[8]
   Needs    2 <= K <= 33 (a literal, where the arrays must stay in registers); a[0] of the system's first section and
            c[K-1] of its last are 0
   Leaves   face; in a, b, c, d and in the bits 1 .. K-2 of *flags what trid_lane_pivoted_expand needs
   Returns  0, or 1 + a row (within the section) for whose unknown there was no pivot
   Cost     (23K-37) FMA or mul + (2K-3) rcp, (3K-4) comparisons, about 15K selections
   Error    every row operation is between two rows, and multiplies none by more than 1 */
TRID_HD int TRID_F(trid_lane_pivoted_reduce)(int K, int below, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *face,
                                             unsigned *flags)
{
    /* Two rows go down the section, coupled to l, x[0] and x[j], and the second to x[j+1]. */
    int status = 0;
    TRID_R first_l = a[0], first_0 = b[0], first_j = c[0], first_d = d[0];
    TRID_R second_l = 0, second_0 = a[1], second_j = b[1], second_next = c[1], second_d = d[1];
    *flags = 0;
    TRID_UNROLL
    for (int j = 1; j < K - 1; j++) {
        TRID_R f, g, rf, rg;
        int bad, larger = TRID_F(trid_p_meet)(first_j, second_j, &f, &g);
        TRID_R high_l = larger ? second_l : first_l, high_0 = larger ? second_0 : first_0;
        TRID_R high_j = larger ? second_j : first_j, high_next = larger ? second_next : 0;
        TRID_R high_d = larger ? second_d : first_d;
        first_l = f * first_l + g * second_l;
        first_0 = f * first_0 + g * second_0;
        first_j = g * second_next;
        first_d = f * first_d + g * second_d;
        /* The larger of the two meets row j+1: one is kept to find x[j] on the way back, the other goes on. */
        int own = TRID_F(trid_p_pivot)(high_j, a[j + 1], &f, &g, &rf, &rg, &bad);
        second_l = f * high_l;
        second_0 = f * high_0;
        second_j = f * high_next + g * b[j + 1];
        second_next = g * c[j + 1];
        second_d = f * high_d + g * d[j + 1];
        /* Only one that came down couples to l and x[0], only the matrix's own to x[j+2]: two numbers hold three. */
        a[j] = rf * high_l + rg * c[j + 1];
        b[j] = rf * high_0;
        c[j] = rf * high_next + rg * b[j + 1];
        d[j] = rf * high_d + rg * d[j + 1];
        *flags |= (unsigned)own << j;
        if (bad) status = 1 + j;
    }
    TRID_R u[5] = {below ? first_l : first_j, below ? first_0 : 0, below ? first_j : first_l, below ? 0 : first_0,
                   first_d};
    TRID_R v[5] = {below ? second_l : second_j, below ? second_0 : second_next, below ? second_j : second_l,
                   below ? second_next : second_0, second_d};
    TRID_F(trid_p_face)(u, v, face);
    return status;
}

/* Solves   two neighbouring groups of sections to one group: the unknowns that lie across, the last of the upper one
            and the first of the lower one, are eliminated with pivoting
   Needs    the faces of the two, as trid_lane_pivoted_reduce or _combine leave them. The joined group will be joined in
            its turn, or is the whole: first is the upper of the two if that will be above it (below = 1), else the
            lower.
   Leaves   face, that of the joined group: its p and q are u and v of the first, its u and v those of the second; it
            may be in place of either. kept[0 .. 8] and *side for trid_lane_pivoted_split.
   Returns  0, or 1 if there was no pivot
   Cost     54 FMA or mul + 4 rcp, 6 comparisons, 33 selections */
TRID_HD int TRID_F(trid_lane_pivoted_combine)(const TRID_R *first, const TRID_R *second, TRID_R *face, TRID_R *kept,
                                              int *side)
{
    TRID_R f, g, rf, rg, both[6], high[6], u[5], v[5];
    int bad_last, bad_first;
    *side = TRID_F(trid_p_pivot)(first[0], second[0], &f, &g, &rf, &rg, &bad_last);
    TRID_UNROLL
    for (int k = 0; k < 4; k++) kept[k] = rf * first[k + 1] + rg * second[k + 1];
    both[0] = f * first[1] + g * second[1];
    both[1] = f * first[2];
    both[2] = f * first[3];
    both[3] = g * second[2];
    both[4] = g * second[3];
    both[5] = f * first[4] + g * second[4];

    int larger = TRID_F(trid_p_meet)(first[5], second[5], &f, &g);
    u[0] = f * first[6];
    u[1] = f * first[7];
    u[2] = g * second[6];
    u[3] = g * second[7];
    u[4] = f * first[8] + g * second[8];
    high[0] = larger ? second[5] : first[5];
    high[1] = larger ? 0 : first[6];
    high[2] = larger ? 0 : first[7];
    high[3] = larger ? second[6] : 0;
    high[4] = larger ? second[7] : 0;
    high[5] = larger ? second[8] : first[8];

    TRID_F(trid_p_pivot)(high[0], both[0], &f, &g, &rf, &rg, &bad_first);
    TRID_UNROLL
    for (int k = 0; k < 5; k++) {
        v[k] = f * high[k + 1] + g * both[k + 1];
        kept[4 + k] = rf * high[k + 1] + rg * both[k + 1];
    }
    TRID_F(trid_p_face)(u, v, face);
    return bad_last | bad_first;
}

/* Solves   the first and the last unknown of the whole system from the face that all its sections together have, with
            below = 0. In outer they and the zeros beyond them stand as trid_lane_pivoted_split expects them.
   Returns  0, or 1 if there was no pivot for the first, 2 if there was none for the last
   Cost     1 FMA + 2 mul + 2 rcp */
TRID_HD int TRID_F(trid_lane_pivoted_root)(const TRID_R *face, TRID_R *outer)
{
    TRID_R first = TRID_F(trid_rcp)(face[7]), last = TRID_F(trid_rcp)(face[0]);
    int bad_first = !TRID_F(trid_finite)(first) || first == 0, bad_last = !TRID_F(trid_finite)(last) || last == 0;
    outer[3] = first * face[8];
    outer[0] = last * (face[4] - face[3] * outer[3]);
    outer[1] = outer[2] = 0;
    return bad_first ? 1 : bad_last ? 2 : 0;
}

/* Solves   the two unknowns that trid_lane_pivoted_combine eliminated, p, q, u, v of the joined group being known and
            standing in outer in this order
   Leaves   *last and *first, which are p and q of both groups that were joined; as their u and v, that which was first
            has p and q of the joined group, the second its u and v
   Cost     7 FMA */
TRID_HD void TRID_F(trid_lane_pivoted_split)(const TRID_R *kept, int side, const TRID_R *outer, TRID_R *last,
                                             TRID_R *first)
{
    *first = kept[8] - kept[4] * outer[0] - kept[5] * outer[1] - kept[6] * outer[2] - kept[7] * outer[3];
    *last =
        kept[3] - kept[0] * *first - kept[1] * (side ? outer[2] : outer[0]) - kept[2] * (side ? outer[3] : outer[1]);
}

/* Solves   the rows that trid_lane_pivoted_reduce left, p, q, u, v being known and standing in outer in this order
   Leaves   x in d
   Cost     (3K-6) FMA */
TRID_HD void TRID_F(trid_lane_pivoted_expand)(int K, int below, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                              TRID_R *d, unsigned flags, const TRID_R *outer)
{
    TRID_R left = below ? outer[0] : outer[2], first = below ? outer[1] : outer[3];
    TRID_R next = below ? outer[2] : outer[0], after = below ? outer[3] : outer[1];
    d[0] = first;
    d[K - 1] = next;
    TRID_UNROLL
    for (int j = K - 2; j > 0; j--) {
        TRID_R x = d[j] - b[j] * first - a[j] * (flags >> j & 1 ? after : left) - c[j] * next;
        after = next;
        next = d[j] = x;
    }
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
            if (first + j + 1 >= n) c[j] = 0;
        }
    }
}

/* ---- lane scope, LU and chains in sections: docs/lu.md derives what follows -------------------------------------- */

/* What a section of K rows does to u = c / pivot of the row above it. With v = |u| and w = 1 - v, for a matrix that is
   dominant by rows, (w, v) goes to map (w, v) but for a factor, and map has no negative element: products of such maps
   know each of their elements to some roundoffs, and w too. before has in its sign bit that of b c of the row above.
   Leaves map, the columns (map[0], map[1]) and (map[2], map[3]). Returns whether the rows are dominant. */
TRID_HD int TRID_F(trid_p_lu_reduce)(int K, int before, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *map)
{
    TRID_R w1 = 1, v1 = 0, w2 = 0, v2 = 1;
    int dominant = 1;
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        TRID_R scale = TRID_F(trid_p_power)(b[j]);
        TRID_R up = TRID_P_ABS(a[j]) * scale, down = TRID_P_ABS(c[j]) * scale, size = TRID_P_ABS(b[j]) * scale;
        TRID_R excess = size - up - down;
        dominant &= excess >= -8 * TRID_P_ROUNDOFF; /* as b may be rounded */
        if (excess < 0) excess = 0;
        int apart = (TRID_F(trid_p_sign)(a[j]) ^ TRID_F(trid_p_sign)(b[j]) ^ before) < 0;
        TRID_R from_w = excess + up, from_v = apart ? from_w + up : excess;
        TRID_R next1 = from_w * w1 + from_v * v1, next2 = from_w * w2 + from_v * v2;
        v1 = down * (w1 + v1), w1 = next1;
        v2 = down * (w2 + v2), w2 = next2;
        before = TRID_F(trid_p_sign)(b[j]) ^ TRID_F(trid_p_sign)(c[j]);
    }
    map[0] = w1, map[1] = v1, map[2] = w2, map[3] = v2;
    return dominant;
}

/* The factors of K such rows from w = 1 - |u| of the row above them: every sum is one of what is not negative, so that
   these pivots and those that maps tell of differ by roundoffs of their own size, and not of b's. Elsewhere as
   trid_lane_lu. */
TRID_HD int TRID_F(trid_p_lu_rows)(int K, int before, TRID_R w, TRID_R *a, TRID_R *b, TRID_R *c)
{
    int status = 0;
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        TRID_R up = TRID_P_ABS(a[j]), down = TRID_P_ABS(c[j]), excess = TRID_P_ABS(b[j]) - up - down;
        if (excess < 0) excess = 0;
        int apart = (TRID_F(trid_p_sign)(a[j]) ^ TRID_F(trid_p_sign)(b[j]) ^ before) < 0;
        before = TRID_F(trid_p_sign)(b[j]) ^ TRID_F(trid_p_sign)(c[j]);
        TRID_R rest = excess + up * (apart ? 2 - w : w), r = TRID_F(trid_p_rcp_fine)(rest + down);
        if (TRID_F(trid_p_bad)(r) && !status) status = 1 + j;
        w = rest * r;
        b[j] = r = b[j] < 0 ? -r : r;
        a[j] *= r;
        c[j] *= r;
    }
    return status;
}

/* map scaled, so that products of maps stay in range. Returns whether it can be. */
TRID_HD int TRID_F(trid_p_lu_scale)(TRID_R *map)
{
    TRID_R sum = map[0] + map[1], scale = TRID_F(trid_p_power)(sum);
    TRID_UNROLL
    for (int k = 0; k < 4; k++) map[k] *= scale;
    return sum >= TRID_P_SMALLEST / TRID_P_ROUNDOFF;
}

/* map = map * first: the section's after that of the one above it. */
TRID_HD int TRID_F(trid_p_lu_join)(TRID_R *map, const TRID_R *first)
{
    TRID_R m0 = map[0], m1 = map[1], m2 = map[2], m3 = map[3];
    map[0] = m0 * first[0] + m2 * first[1];
    map[1] = m1 * first[0] + m3 * first[1];
    map[2] = m0 * first[2] + m2 * first[3];
    map[3] = m1 * first[2] + m3 * first[3];
    return TRID_F(trid_p_lu_scale)(map);
}

/* Solves   the LU factors of K rows, u being c / pivot of the row above them: as trid_lane_factor
   Needs    K literal. a of the first row of all must be 0.
   Leaves   l = a / pivot in a, r = 1 / pivot in b, u = c / pivot in c
   Returns  0, or 1 + the first row with a bad pivot
   Cost     K FMA + 2K mul + K rcp */
TRID_HD int TRID_F(trid_lane_lu)(int K, TRID_R u, TRID_R *a, TRID_R *b, TRID_R *c)
{
    int status = 0;
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        TRID_R r = TRID_F(trid_p_rcp_fine)(b[j] - a[j] * u);
        if (TRID_F(trid_p_bad)(r) && !status) status = 1 + j;
        a[j] *= r;
        b[j] = r;
        c[j] = u = c[j] * r;
    }
    return status;
}

/* A chain's coefficients: row j has m[j], or with shift that of the row from which the chain comes; the first row of
   the section edge. */
TRID_HD TRID_R TRID_F(trid_p_chain_link)(int K, int up, int shift, const TRID_R *m, TRID_R edge, int j)
{
    return j == (up ? K - 1 : 0) ? edge : m[up ? j + shift : j - shift];
}
TRID_HD TRID_R TRID_F(trid_p_chain_product)(int K, int up, int shift, const TRID_R *m, TRID_R edge)
{
    TRID_R p = -edge;
    TRID_UNROLL
    for (int i = 1; i < K; i++) p *= -TRID_F(trid_p_chain_link)(K, up, shift, m, edge, up ? K - 1 - i : i);
    return p;
}
TRID_HD TRID_R TRID_F(trid_p_chain_sum)(int K, int up, int shift, const TRID_R *m, TRID_R edge, const TRID_R *d)
{
    TRID_R q = d[up ? K - 1 : 0];
    TRID_UNROLL
    for (int i = 1; i < K; i++) {
        int j = up ? K - 1 - i : i;
        q = TRID_F(trid_p_less)(d[j], TRID_F(trid_p_chain_link)(K, up, shift, m, edge, j), q);
    }
    return q;
}
TRID_HD void TRID_F(trid_p_chain_expand)(int K, int up, int shift, const TRID_R *m, TRID_R edge, TRID_R from, TRID_R *d)
{
    TRID_UNROLL
    for (int i = 0; i < K; i++) {
        int j = up ? K - 1 - i : i;
        d[j] = from = TRID_F(trid_p_less)(d[j], TRID_F(trid_p_chain_link)(K, up, shift, m, edge, j), from);
    }
}

/* Solves   what a section of K rows of a chain, x[j] + m[j] x[j-1] = d[j] (up: x[j] + m[j] x[j+1] = d[j]), makes of the
            unknown x that it comes from: p x + q is its last unknown
   Needs    K and up literals; m[0] (up: m[K-1]) belongs to the unknown that the section comes from
   Leaves   p and q
   Cost     (K-1) FMA + (K-1) mul */
TRID_HD void TRID_F(trid_lane_chain_reduce)(int K, int up, const TRID_R *m, const TRID_R *d, TRID_R *p, TRID_R *q)
{
    *p = TRID_F(trid_p_chain_product)(K, up, 0, m, m[up ? K - 1 : 0]);
    *q = TRID_F(trid_p_chain_sum)(K, up, 0, m, m[up ? K - 1 : 0], d);
}

/* Solves   the K rows, the unknown being known that the section comes from
   Needs    as trid_lane_chain_reduce
   Leaves   x in d
   Cost     K FMA, one after another */
TRID_HD void TRID_F(trid_lane_chain_expand)(int K, int up, const TRID_R *m, TRID_R from, TRID_R *d)
{
    TRID_F(trid_p_chain_expand)(K, up, 0, m, m[up ? K - 1 : 0], from, d);
}

/* Bytes of shared memory, for launches. */
TRID_HD size_t TRID_F(trid_block_hybrid_bytes)(void)
{
    return TRID_BLOCK_HYBRID_LEN * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_hybrid_refined_bytes)(void)
{
    return TRID_BLOCK_HYBRID_REFINED_LEN * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_pivoted_bytes)(void)
{
    return TRID_BLOCK_PIVOTED_LEN * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_lines_bytes)(int L, int S)
{
    return (size_t)TRID_P_LINES_LEN(L, S, TRID_P_BANKS) * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_lines_solve_bytes)(int L, int S)
{
    return (size_t)TRID_P_LINES_SOLVE_LEN(L, S, TRID_P_BANKS) * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_lu_bytes)(void)
{
    return TRID_BLOCK_LU_LEN * sizeof(TRID_R);
}
TRID_HD size_t TRID_F(trid_block_lines_lu_bytes)(int L, int S)
{
    return (size_t)TRID_P_LINES_LU_LEN(L, S, TRID_P_BANKS) * sizeof(TRID_R);
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

/* PCR over the first count lanes of each group of W, the lanes beyond holding identity rows. Returns what the steps
   said, or-ed. */
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
    return status;
}

/* Corner couplings to zero: lane 0 has no row above, lane W-1 none below. */
TRID_D void TRID_F(trid_p_corners)(int W, TRID_R *a, TRID_R *c)
{
    int rank = trid_p_lane() & (W - 1);
    if (rank == 0) *a = 0;
    if (rank == W - 1) *c = 0;
}

/* Solves   a x[l-1] + x + c x[l+1] = *d, row l in lane l of the group, unit diagonal
   Needs    a of lane 0 and c of lane W-1 of a group are not read; a lane that has no row holds a = c = 0 and any *d
   Lanes    all 32 of the warp
   Leaves   x in *d
   Returns  0, or 1 + the row if this lane met a pivot without reciprocal; W if it met one that is not finite, which
            NaN or inf among any lane's couplings makes of its neighbours' too
   Cost     4w FMA + 5w mul + w rcp + 6w shuffles
   Error    as trid_warp_hybrid with K = 1 */
TRID_D int TRID_F(trid_warp_pcr1)(int W, TRID_R a, TRID_R c, TRID_R *d)
{
    TRID_F(trid_p_corners)(W, &a, &c);
    int bad = TRID_F(trid_p_pcr)(W, W, a, c, d, (TRID_R *)0);
    return trid_p_status(trid_p_lane() & (W - 1), 1, W, W, 0, bad);
}

/* The same, exchanging through shared memory.
   Shared   TRID_WARP_PCR_SHARED_LEN elements for each warp, no bank conflicts; __syncwarp() before another use of it
   Cost     as trid_warp_pcr1 with 3w stores, 6w loads and 2w __syncwarp in place of the shuffles */
TRID_D int TRID_F(trid_warp_pcr1_shared)(int W, TRID_R a, TRID_R c, TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_p_corners)(W, &a, &c);
    int bad = TRID_F(trid_p_pcr)(W, W, a, c, d, shared);
    return trid_p_status(trid_p_lane() & (W - 1), 1, W, W, 0, bad);
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
    return trid_p_status(2 * (trid_p_lane() & (W - 1)), 2, 2 * W, 2 * W, 0, status);
}

/* Solves   a[i] x[2l+i-1] + x[2l+i] + c[i] x[2l+i+1] = d[i], rows 2l and 2l+1 in lane l of the group, unit diagonal:
            one reduction, then PCR on the odd rows
   Needs    a[0] of lane 0 and c[1] of lane W-1 of a group are not read; a row that does not exist has a = c = 0 and any
            d
   Lanes    all 32 of the warp
   Leaves   x in d; a and c clobbered
   Returns  as trid_warp_pcr1, of this lane's second row, or 2W
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
   Returns  as trid_warp_hybrid, of what it has met so far
   Cost     (4K-4) FMA + (5K+1) mul + (K+1) rcp + 3 shuffles */
TRID_D int TRID_F(trid_warp_reduce)(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    int first = K * (trid_p_lane() & (W - 1));
    TRID_F(trid_p_pad)(K, first, n, K * W, a, b, c, d);
    int status = TRID_F(trid_lane_reduce)(K, a, b, c, d), bad = 0;
    if (K > 1) {
        TRID_R first_a = __shfl_down_sync(TRID_P_FULL, a[0], 1, W);
        TRID_R first_c = __shfl_down_sync(TRID_P_FULL, c[0], 1, W);
        TRID_R first_d = __shfl_down_sync(TRID_P_FULL, d[0], 1, W);
        bad = TRID_F(trid_lane_link)(&a[K - 1], &c[K - 1], &d[K - 1], first_a, first_c, first_d);
    }
    return trid_p_status(first, K, n, K * W, status, bad);
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
   Returns  0; -1 if n > K*W; or 1 + a row that exists: one of this lane's that met a bad pivot, or the system's last if
            the failure may have begun in another lane. The smallest positive one of the group is where it began.
   Cost     (6K-6+4w) FMA + (5K+1+5w) mul + (K+1+w) rcp + (4+6w) shuffles
   Error    the residual follows 4 + 1 / (2 K^2.5 (dominance - 1)) unit roundoffs, dominance being the least of
            |b| / (|a| + |c|): see Stability above. NaN and inf stay in their own system. */
TRID_D int TRID_F(trid_warp_hybrid)(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    int status = TRID_F(trid_warp_reduce)(K, W, n, a, b, c, d);
    TRID_R x = d[K - 1];
    int bad = TRID_F(trid_p_pcr)(W, W, a[K - 1], c[K - 1], &x, (TRID_R *)0);
    TRID_F(trid_warp_expand)(K, W, a, c, d, x);
    return status ? status : trid_p_status(K * (trid_p_lane() & (W - 1)), K, n, K * W, 0, bad);
}

/* The section's part of a factor: its rows are first .. first+K-1 of n, lanes hold full. Leaves the first five arrays
   of f, the last two of which are the couplings of the reduced rows. */
TRID_D int TRID_F(trid_p_factor_section)(int K, int first, int n, int full, const TRID_R *a, const TRID_R *b,
                                         const TRID_R *c, TRID_R *f)
{
    /* The reciprocals take the diagonal's place one by one. */
    TRID_R *diagonal = f + TRID_P_RECIPROCAL(K, 0), *left = f + TRID_P_LEFT(K, 0), *last = f + TRID_P_LAST(K, 0);
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        diagonal[j] = b[j];
        left[j] = a[j];
        last[j] = c[j];
    }
    TRID_F(trid_p_pad)(K, first, n, full, left, diagonal, last, (TRID_R *)0);
    return TRID_F(trid_p_reduce)(K, left, diagonal, last, (TRID_R *)0, f);
}

/* The reduced system's part: a section's last row, whose c is in f at TRID_P_LINK already, meets the next section's
   first (K > 1), then PCR over groups of W lanes. Leaves the rest of f, and in *steps, if not null, how many steps
   matter in this warp. Returns what the steps said, or-ed.
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
        int negligible = TRID_P_ABS(last_a) <= TRID_P_ROUNDOFF && TRID_P_ABS(last_c) <= TRID_P_ROUNDOFF;
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
    TRID_F(trid_p_reduce_right)(K, f, stride, d);
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
   Returns  as trid_warp_hybrid
   Cost     about that of one trid_warp_hybrid, and a vote a step
   Error    the steps left out change x by the order of the unit roundoff times the largest element of x */
TRID_D int TRID_F(trid_warp_factor)(int K, int W, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *f,
                                    int *steps)
{
    int first = K * (trid_p_lane() & (W - 1));
    int status = TRID_F(trid_p_factor_section)(K, first, n, K * W, a, b, c, f);
    f[TRID_P_LINK(K)] = f[TRID_P_LAST(K, K - 1)];
    TRID_R first_a = K > 1 ? __shfl_down_sync(TRID_P_FULL, f[TRID_P_LEFT(K, 0)], 1, W) : 0;
    TRID_R first_c = K > 1 ? __shfl_down_sync(TRID_P_FULL, f[TRID_P_LAST(K, 0)], 1, W) : 0;
    int bad = TRID_F(trid_p_factor_reduced)(K, W, f[TRID_P_LEFT(K, K - 1)], first_a, first_c, f, steps);
    return trid_p_status(first, K, n, K * W, status, bad);
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
    TRID_F(trid_warp_expand)(K, W, f + TRID_P_LEFT(K, 0), f + TRID_P_LAST(K, 0), d, x);
}

/* Solves   how far x is from solving a system whose rows, and x, lie as in trid_warp_hybrid: r = d - A x, and the
            lane's own largest error and size (trid_lane_residual)
   Needs    K, W literals; r may alias d; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all 32 of the warp
   Leaves   r, 0 in rows from n on; *error and *size, either of which may be null
   Cost     that of trid_lane_residual + 2 shuffles */
TRID_D void TRID_F(trid_warp_residual)(int K, int W, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                       const TRID_R *d, const TRID_R *x, TRID_R *r, TRID_R *error, TRID_R *size)
{
    TRID_R left = __shfl_up_sync(TRID_P_FULL, x[K - 1], 1, W), right = __shfl_down_sync(TRID_P_FULL, x[0], 1, W);
    TRID_F(trid_lane_residual)(K, K * (trid_p_lane() & (W - 1)), n, a, b, c, d, x, left, right, r, error, size);
}

/* Solves   as trid_warp_solve, and once more for the residual that is left: one step of iterative refinement, in
            working precision with the same factors
   Needs    as trid_warp_solve; a, b, c the matrix that trid_warp_factor took apart. n here is the system's own.
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     two of trid_warp_solve, one of trid_warp_residual and K additions
   Error    the residual is that of the Thomas algorithm, a few unit roundoffs, as long as K^2.5 (dominance - 1) exceeds
            the root of the unit roundoff: 2.4e-4 in single, 1.1e-8 in double precision. The error of x is not
            repaired: it stays of the order of condition times roundoff and can grow fourfold (docs/hybrid.md). */
TRID_D void TRID_F(trid_warp_solve_refined)(int K, int W, int n, int steps, const TRID_R *a, const TRID_R *b,
                                            const TRID_R *c, const TRID_R *f, TRID_R *d)
{
    TRID_R x[TRID_P_MOST_ROWS];
    TRID_UNROLL
    for (int j = 0; j < K; j++) x[j] = d[j];
    TRID_F(trid_warp_solve)(K, W, n, steps, f, x);
    TRID_F(trid_warp_residual)(K, W, n, a, b, c, d, x, d, (TRID_R *)0, (TRID_R *)0);
    TRID_F(trid_warp_solve)(K, W, K * W, steps, f, d); /* the residual is 0 from n on */
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] += x[j];
}

/* Solves   as trid_warp_hybrid, with one step of refinement, for matrices that are only just dominant
   Needs    as trid_warp_hybrid
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on; a, b, c as they were
   Returns  as trid_warp_hybrid
   Cost     trid_warp_factor and trid_warp_solve_refined; 10K + 12 numbers live in registers at once
   Error    as trid_warp_solve_refined */
TRID_D int TRID_F(trid_warp_hybrid_refined)(int K, int W, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                            TRID_R *d)
{
    TRID_R f[TRID_WARP_FACTOR_LEN(TRID_P_MOST_ROWS)];
    int status = TRID_F(trid_warp_factor)(K, W, n, a, b, c, f, (int *)0), steps = 0;
    TRID_UNROLL
    for (int s = 1; s < W; s *= 2) steps++;
    TRID_F(trid_warp_solve_refined)(K, W, n, steps, a, b, c, f, d);
    return status;
}

/* ---- warp scope, LU and chains ----------------------------------------------------------------------------------- */

/* Where a chain has a product of coefficients over this, sections are taken in turns, one after another: what is small
   in such a chain may be the difference of what is large. */
#define TRID_P_CHAIN_GROWTH 32

/* What a chain keeps of its matrix in each lane: its first link, what it multiplies by at each of five steps, and the
   product up to its own last row. */
#define TRID_P_CHAIN_EDGE 6
#define TRID_P_CHAIN_LEN 7

TRID_D TRID_R TRID_F(trid_p_chain_shuffle)(int W, int up, TRID_R x, int s)
{
    return up ? __shfl_down_sync(TRID_P_FULL, x, s, W) : __shfl_up_sync(TRID_P_FULL, x, s, W);
}

/* The matrix's part of a chain across W lanes; `first` says which lanes come from nowhere. Returns whether the chain
   grows anywhere in the warp. */
TRID_D int TRID_F(trid_p_chain_open)(int K, int W, int up, int shift, const TRID_R *m, int first, TRID_R outside,
                                     TRID_R *keep)
{
    int end = up ? K - 1 : 0, rank = trid_p_lane() & (W - 1), grown = 0;
    TRID_R edge = shift ? TRID_F(trid_p_chain_shuffle)(W, up, m[up ? 0 : K - 1], 1) : m[end];
    if (shift && rank == (up ? W - 1 : 0)) edge = outside;
    if (first) edge = 0;
    TRID_R p = TRID_F(trid_p_chain_product)(K, up, shift, m, edge);
    keep[TRID_P_CHAIN_EDGE] = edge;
    TRID_UNROLL
    for (int i = 0; i < 5; i++) {
        keep[i] = p;
        if (1 << i < W) {
            grown |= !(TRID_P_ABS(p) <= TRID_P_CHAIN_GROWTH);
            TRID_R before = TRID_F(trid_p_chain_shuffle)(W, up, p, 1 << i);
            if (up ? rank + (1 << i) < W : rank >= 1 << i) p *= before;
        }
    }
    keep[5] = p;
    return __any_sync(TRID_P_FULL, grown);
}

/* The last unknown of the lane, all of its group's before it included, with nothing before the group. */
TRID_D TRID_R TRID_F(trid_p_chain_scan)(int K, int W, int up, int shift, const TRID_R *m, const TRID_R *keep,
                                        const TRID_R *d)
{
    TRID_R q = TRID_F(trid_p_chain_sum)(K, up, shift, m, keep[TRID_P_CHAIN_EDGE], d);
    int rank = trid_p_lane() & (W - 1);
    TRID_UNROLL
    for (int i = 0; i < 5; i++)
        if (1 << i < W) {
            TRID_R before = TRID_F(trid_p_chain_shuffle)(W, up, q, 1 << i);
            if (up ? rank + (1 << i) < W : rank >= 1 << i) q += keep[i] * before;
        }
    return q;
}

/* The rows, from the unknown that each lane comes from; in turns, only the group's first lane knows it. */
TRID_D void TRID_F(trid_p_chain_close)(int K, int W, int up, int shift, const TRID_R *m, const TRID_R *keep, int turns,
                                       TRID_R from, TRID_R *d)
{
    int rank = trid_p_lane() & (W - 1), turn = up ? W - 1 - rank : rank;
    TRID_R last = 0;
    TRID_P_LOOP
    for (int s = 0; s < (turns ? W : 1); s++) {
        TRID_R before = TRID_F(trid_p_chain_shuffle)(W, up, last, 1);
        if (turns && turn > 0) from = before;
        if (!turns || turn == s) {
            TRID_F(trid_p_chain_expand)(K, up, shift, m, keep[TRID_P_CHAIN_EDGE], from, d);
            last = d[up ? 0 : K - 1];
        }
    }
}

TRID_D void TRID_F(trid_p_warp_chain)(int K, int W, int up, int shift, const TRID_R *m, const TRID_R *keep, int turns,
                                      TRID_R *d)
{
    TRID_R from = 0;
    if (!turns) from = TRID_F(trid_p_chain_shuffle)(W, up, TRID_F(trid_p_chain_scan)(K, W, up, shift, m, keep, d), 1);
    if ((trid_p_lane() & (W - 1)) == (up ? W - 1 : 0)) from = 0;
    TRID_F(trid_p_chain_close)(K, W, up, shift, m, keep, turns, from, d);
}

/* The group's lane that no chain comes from. */
TRID_D int TRID_F(trid_p_chain_first)(int W, int up)
{
    return (trid_p_lane() & (W - 1)) == (up ? W - 1 : 0);
}

TRID_D void TRID_F(trid_p_chain)(int K, int W, int up, int n, const TRID_R *m, TRID_R *d)
{
    TRID_R own[TRID_P_MOST_ROWS], keep[TRID_P_CHAIN_LEN];
    int first = K * (trid_p_lane() & (W - 1));
    TRID_UNROLL
    for (int j = 0; j < K; j++) {
        int there = n >= K * W || first + j < n, linked = up ? first + j + 1 < n : j > 0 || first > 0;
        own[j] = there && linked ? m[j] : (TRID_R)0;
        if (!there) d[j] = 0;
    }
    int turns = TRID_F(trid_p_chain_open)(K, W, up, 0, own, TRID_F(trid_p_chain_first)(W, up), 0, keep);
    TRID_F(trid_p_warp_chain)(K, W, up, 0, own, keep, turns, d);
}

/* Solves   a linear recurrence: x[j] + m[j] x[j-1] = d[j], j = 0 .. n-1, the rows lying as in trid_warp_hybrid
   Needs    K >= 1, W literals; n <= K*W; m of row 0 is not read, nor are rows from n on
   Lanes    all 32 of the warp; groups may have different n
   Leaves   x in d, 0 in rows from n on; m as it was
   Cost     (2K-1+w) FMA + (K-1+w) mul + (2w+2) shuffles and two votes. Where a product of coefficients over sections
            exceeds 32, lanes take turns: W times K FMA.
   Error    each row is solved to some roundoffs of the largest of its terms and of x nearby */
TRID_D void TRID_F(trid_warp_chain_down)(int K, int W, int n, const TRID_R *m, TRID_R *d)
{
    TRID_F(trid_p_chain)(K, W, 0, n, m, d);
}

/* Solves   the same upwards: x[j] + m[j] x[j+1] = d[j]
   Needs    as trid_warp_chain_down, but m of row n-1 is not read
   Lanes    all 32 of the warp; groups may have different n
   Leaves   as trid_warp_chain_down
   Cost     as trid_warp_chain_down
   Error    as trid_warp_chain_down */
TRID_D void TRID_F(trid_warp_chain_up)(int K, int W, int n, const TRID_R *m, TRID_R *d)
{
    TRID_F(trid_p_chain)(K, W, 1, n, m, d);
}

/* Maps of the lanes of a group to those of all rows from its first one on. Returns whether they could be scaled. */
TRID_D int TRID_F(trid_p_lu_scan)(int W, TRID_R *map)
{
    int good = TRID_F(trid_p_lu_scale)(map), rank = trid_p_lane() & (W - 1);
    TRID_UNROLL
    for (int i = 0; i < 5; i++)
        if (1 << i < W) {
            TRID_R above[4];
            TRID_UNROLL
            for (int k = 0; k < 4; k++) above[k] = __shfl_up_sync(TRID_P_FULL, map[k], 1 << i, W);
            if (rank >= 1 << i) good &= TRID_F(trid_p_lu_join)(map, above);
        }
    return good;
}

/* The rows, lane after lane. u belongs to the row above the group's first lane. */
TRID_D int TRID_F(trid_p_lu_turns)(int K, int W, TRID_R u, TRID_R *a, TRID_R *b, TRID_R *c)
{
    int rank = trid_p_lane() & (W - 1), status = 0;
    TRID_R last = 0;
    TRID_P_LOOP
    for (int s = 0; s < W; s++) {
        TRID_R above = __shfl_up_sync(TRID_P_FULL, last, 1, W);
        if (rank == s) {
            status = TRID_F(trid_lane_lu)(K, s > 0 ? above : u, a, b, c);
            last = c[K - 1];
        }
    }
    return status;
}

/* Solves   the LU factors of a tridiagonal matrix without pivoting, A = P (I + L) (I + U) with the pivots in P: those
            of Thomas, by a scan over the lanes. The rows lie as in trid_warp_hybrid.
   Needs    K >= 1, W literals; n <= K*W; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all 32 of the warp; groups may have different n
   Leaves   l = a / pivot in a, r = 1 / pivot in b, u = c / pivot in c, for trid_warp_lu_solve and _solve_transposed;
            from n on those of identity rows
   Returns  as trid_warp_hybrid
   Cost     (9K+9w) FMA or mul + 7K other operations + (K+1) rcp + (4w+4) shuffles where the matrix is dominant by rows;
            elsewhere lanes take turns, W times K FMA + 2K mul + K rcp
   Error    the factors' product differs from A by some unit roundoffs of each row where the matrix is dominant
            (docs/lu.md), whatever the dominance; in turns they are those of trid_lane_factor */
TRID_D int TRID_F(trid_warp_lu)(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c)
{
    int rank = trid_p_lane() & (W - 1);
    TRID_R map[4];
    TRID_F(trid_p_pad)(K, K * rank, n, K * W, a, b, c, (TRID_R *)0);
    int before = __shfl_up_sync(TRID_P_FULL, TRID_F(trid_p_sign)(b[K - 1]) ^ TRID_F(trid_p_sign)(c[K - 1]), 1, W);
    int good = TRID_F(trid_p_lu_reduce)(K, before, a, b, c, map);
    good &= TRID_F(trid_p_lu_scan)(W, map);
    TRID_R w = __shfl_up_sync(TRID_P_FULL, map[0], 1, W), v = __shfl_up_sync(TRID_P_FULL, map[1], 1, W);
    if (rank == 0) w = 1, v = 0;
    int status = __all_sync(TRID_P_FULL, good)
                     ? TRID_F(trid_p_lu_rows)(K, before, w * TRID_F(trid_p_rcp_fine)(w + v), a, b, c)
                     : TRID_F(trid_p_lu_turns)(K, W, 0, a, b, c);
    return trid_p_status(K * rank, K, n, K * W, status, 0);
}

/* Solves   A x = d, A being what trid_warp_lu took apart
   Needs    K, W, n, l, r, u as there; rows from n on are read as 0
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     (4K-2+2w) FMA + (3K-2+2w) mul + (4w+4) shuffles, or in turns, as trid_warp_chain_down
   Error    that of the Thomas algorithm: the residual is some unit roundoffs (docs/lu.md) */
TRID_D void TRID_F(trid_warp_lu_solve)(int K, int W, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u,
                                       TRID_R *d)
{
    int first = K * (trid_p_lane() & (W - 1));
    TRID_R keep[TRID_P_CHAIN_LEN];
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] = n >= K * W || first + j < n ? d[j] * r[j] : (TRID_R)0;
    int turns = TRID_F(trid_p_chain_open)(K, W, 0, 0, l, TRID_F(trid_p_chain_first)(W, 0), 0, keep);
    TRID_F(trid_p_warp_chain)(K, W, 0, 0, l, keep, turns, d);
    turns = TRID_F(trid_p_chain_open)(K, W, 1, 0, u, TRID_F(trid_p_chain_first)(W, 1), 0, keep);
    TRID_F(trid_p_warp_chain)(K, W, 1, 0, u, keep, turns, d);
}

/* Solves   A^T x = d with the factors of A: what adjoint differentiation needs
   Needs    as trid_warp_lu_solve
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     as trid_warp_lu_solve, and 2 shuffles
   Error    as trid_warp_lu_solve */
TRID_D void TRID_F(trid_warp_lu_solve_transposed)(int K, int W, int n, const TRID_R *l, const TRID_R *r,
                                                  const TRID_R *u, TRID_R *d)
{
    int first = K * (trid_p_lane() & (W - 1));
    TRID_R keep[TRID_P_CHAIN_LEN];
    TRID_UNROLL
    for (int j = 0; j < K; j++)
        if (n < K * W && first + j >= n) d[j] = 0;
    int turns = TRID_F(trid_p_chain_open)(K, W, 0, 1, u, TRID_F(trid_p_chain_first)(W, 0), 0, keep);
    TRID_F(trid_p_warp_chain)(K, W, 0, 1, u, keep, turns, d);
    turns = TRID_F(trid_p_chain_open)(K, W, 1, 1, l, TRID_F(trid_p_chain_first)(W, 1), 0, keep);
    TRID_F(trid_p_warp_chain)(K, W, 1, 1, l, keep, turns, d);
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] *= r[j];
}

/* Solves   what trid_warp_lu_solve does for the matrix alone, once, for many right-hand sides. What a section hands on
            of what came to it shrinks from one step of the scan over the lanes to the next if the matrix is dominant by
            rows; *steps tells after how many of the w steps nothing in the warp exceeds the unit roundoff.
   Needs    K >= 1, W literals; l, u as trid_warp_lu left them; keep of TRID_WARP_LU_KEEP_LEN elements
   Lanes    all 32 of the warp: *steps is the largest of its groups
   Leaves   keep and *steps for trid_warp_lu_solve_kept; 0 in l and u where a group's first and last row have none
   Returns  0, or 1 if lanes would have to take turns: then only trid_warp_lu_solve will do
   Cost     (2K-2+2w) mul + 2w shuffles and w+2 votes
   Error    the steps left out change x by the order of the unit roundoff times the largest element of x */
TRID_D int TRID_F(trid_warp_lu_keep)(int K, int W, TRID_R *l, TRID_R *u, TRID_R *keep, int *steps)
{
    int rank = trid_p_lane() & (W - 1), turns = 0;
    *steps = 0;
    TRID_UNROLL
    for (int up = 0; up < 2; up++) {
        TRID_R chain[TRID_P_CHAIN_LEN], *m = up ? u : l;
        int first = TRID_F(trid_p_chain_first)(W, up);
        turns |= TRID_F(trid_p_chain_open)(K, W, up, 0, m, first, 0, chain);
        if (first) m[up ? K - 1 : 0] = 0;
        TRID_UNROLL
        for (int i = 0; i < 5; i++) {
            int reaches = 1 << i < W && (up ? rank + (1 << i) < W : rank >= 1 << i);
            keep[5 * up + i] = reaches ? chain[i] : (TRID_R)0;
            int matters = __any_sync(TRID_P_FULL, !(TRID_P_ABS(keep[5 * up + i]) <= TRID_P_ROUNDOFF));
            if (matters && *steps < i + 1) *steps = i + 1;
        }
    }
    return turns;
}

/* A chain by what trid_warp_lu_keep kept. */
TRID_D void TRID_F(trid_p_kept_chain)(int K, int W, int up, int sides, int steps, const TRID_R *m, const TRID_R *keep,
                                      int stride, TRID_R *d)
{
    TRID_R q[TRID_P_MOST_SIDES], edge = m[up ? K - 1 : 0];
    int p = 0;
    TRID_UNROLL
    for (int side = 0; side < sides; side++) q[side] = TRID_F(trid_p_chain_sum)(K, up, 0, m, edge, d + K * side);
    TRID_UNROLL
    for (int s = 1; s < W; s *= 2) {
        if (p >= steps) break;
        TRID_R factor = keep[p * stride];
        TRID_UNROLL
        for (int side = 0; side < sides; side++) q[side] += factor * TRID_F(trid_p_chain_shuffle)(W, up, q[side], s);
        p++;
    }
    TRID_UNROLL
    for (int side = 0; side < sides; side++) TRID_F(trid_p_chain_expand)
    (K, up, 0, m, edge, TRID_F(trid_p_chain_shuffle)(W, up, q[side], 1), d + K * side);
}

/* Solves   A x = d for sides right-hand sides at once, A being what trid_warp_lu and trid_warp_lu_keep took apart; row
            j of side s is d[j + K s]
   Needs    K, W and sides literals, sides from 1 to 4; l, r, u and steps as there; element e of keep at keep[e stride];
            0 in rows from n on
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     per side (4K-2+2s) FMA + K mul + (2+2s) shuffles for s steps
   Error    as trid_warp_lu_solve, and what the steps left out change (trid_warp_lu_keep) */
TRID_D void TRID_F(trid_warp_lu_solve_kept)(int K, int W, int sides, int steps, const TRID_R *l, const TRID_R *r,
                                            const TRID_R *u, const TRID_R *keep, int stride, TRID_R *d)
{
    TRID_UNROLL
    for (int e = 0; e < K * sides; e++) d[e] *= r[e % K];
    TRID_F(trid_p_kept_chain)(K, W, 0, sides, steps, l, keep, stride, d);
    TRID_F(trid_p_kept_chain)(K, W, 1, sides, steps, u, keep + 5 * stride, stride, d);
}

/* ---- warp scope, with pivoting ----------------------------------------------------------------------------------- */

/* Up the tree: groups of lanes, of from, 2 from, 4 from, .. up to count <= W (powers of two), are joined two by two.
   What meets between the lanes l and l+1 is joined by lane l, which then holds the face of what it joined, and what it
   needs on the way down. position: the lane's among all of the system. Returns 1 if this lane found no pivot. */
TRID_D int TRID_F(trid_p_pivoted_up)(int from, int W, int count, int position, TRID_R *face, TRID_R *kept, int *side)
{
    int rank = position & (W - 1), bad = 0;
    *side = 0;
    TRID_UNROLL
    for (int k = 0; k < 9; k++) kept[k] = 0;
    TRID_UNROLL
    for (int s = from; s < W; s *= 2) {
        if (s >= count) break;
        TRID_R second[9];
        int upper = rank - s / 2, lower = rank + (s + 1) / 2, below = (position & 2 * s) != 0;
        TRID_UNROLL
        for (int k = 0; k < 9; k++) {
            second[k] = __shfl_sync(TRID_P_FULL, face[k], below ? lower : upper, W);
            face[k] = __shfl_sync(TRID_P_FULL, face[k], below ? upper : lower, W);
        }
        if ((rank & (2 * s - 1)) == s - 1) bad |= TRID_F(trid_lane_pivoted_combine)(face, second, face, kept, side);
    }
    return bad;
}

/* Down the tree: outer, that of the whole in every lane, becomes that of each lane. */
TRID_D void TRID_F(trid_p_pivoted_down)(int from, int W, int count, int position, const TRID_R *kept, int side,
                                        TRID_R *outer)
{
    TRID_UNROLL
    for (int s = W / 2; s >= from; s /= 2) {
        if (s >= count) continue;
        TRID_R last, first;
        int joined = (position & (W - 1) & -2 * s) + s - 1;
        int was_first = ((position & 2 * s) != 0) != ((position & s) != 0);
        TRID_F(trid_lane_pivoted_split)(kept, side, outer, &last, &first);
        outer[2] = was_first ? outer[0] : outer[2];
        outer[3] = was_first ? outer[1] : outer[3];
        outer[0] = __shfl_sync(TRID_P_FULL, last, joined, W);
        outer[1] = __shfl_sync(TRID_P_FULL, first, joined, W);
    }
}

/* The sections at the foot of the tree: a lane's K rows, or, where that is one, those of a pair of lanes, which the
   even one takes. */
TRID_D int TRID_F(trid_p_pivoted_reduce)(int K, int W, int position, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d,
                                         TRID_R *face, unsigned *flags)
{
    if (K > 1) return TRID_F(trid_lane_pivoted_reduce)(K, position & 1, a, b, c, d, face, flags);
    TRID_R a2[2] = {a[0], __shfl_down_sync(TRID_P_FULL, a[0], 1, W)};
    TRID_R b2[2] = {b[0], __shfl_down_sync(TRID_P_FULL, b[0], 1, W)};
    TRID_R c2[2] = {c[0], __shfl_down_sync(TRID_P_FULL, c[0], 1, W)};
    TRID_R d2[2] = {d[0], __shfl_down_sync(TRID_P_FULL, d[0], 1, W)};
    return TRID_F(trid_lane_pivoted_reduce)(2, position >> 1 & 1, a2, b2, c2, d2, face, flags);
}

TRID_D void TRID_F(trid_p_pivoted_expand)(int K, int position, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                          TRID_R *d, unsigned flags, const TRID_R *outer)
{
    if (K > 1) {
        TRID_F(trid_lane_pivoted_expand)(K, position & 1, a, b, c, d, flags, outer);
    } else {
        TRID_R pair[2];
        TRID_F(trid_lane_pivoted_expand)(2, position >> 1 & 1, a, b, c, pair, flags, outer);
        d[0] = position & 1 ? pair[1] : pair[0];
    }
}

/* The unknowns at the ends of the whole, by the lane that joined it, of groups of W lanes that hold count sections. */
TRID_D int TRID_F(trid_p_pivoted_root)(int W, int count, const TRID_R *face, TRID_R *outer)
{
    int root = count > 1 ? count / 2 - 1 : 0, bad = TRID_F(trid_lane_pivoted_root)(face, outer);
    outer[0] = __shfl_sync(TRID_P_FULL, outer[0], root, W);
    outer[3] = __shfl_sync(TRID_P_FULL, outer[3], root, W);
    return (trid_p_lane() & (W - 1)) == root ? bad : 0;
}

/* Solves   any nonsingular system of n <= K*W rows, where trid_warp_hybrid solves dominant ones; the rows lie as there
   Needs    1 <= K <= 32 and W literals; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all 32 of the warp; groups may have different n
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  0; -1 if n > K*W or K > 32; 1 if this lane found no pivot for an unknown, since what its column had left
            was zero, not finite, or without a finite reciprocal: the matrix is singular, or not finite
   Cost     (26K-40+61w) FMA or mul + (2K-1+4w) rcp + (20w+2) shuffles, (3K-4+6w) comparisons, about 15K + 37w
            selections: docs/pivoted.md has what becomes of it in instructions
   Error    that of Gaussian elimination with pairwise pivoting in the order of nested dissection; docs/pivoted.md has
            it beside LAPACK's. A matrix that is singular to working precision may come back with status 0, as there.
            Numbers below the least normal one count as zeros. NaN and inf stay in their own system. */
TRID_D int TRID_F(trid_warp_pivoted)(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    if (K > TRID_P_MOST_ROWS) return TRID_BAD_ARGUMENT;
    int rank = trid_p_lane() & (W - 1), side;
    unsigned flags;
    TRID_R face[9], kept[9], outer[4];
    TRID_F(trid_p_pad)(K, K * rank, n, K * W, a, b, c, d);
    int bad = TRID_F(trid_p_pivoted_reduce)(K, W, rank, a, b, c, d, face, &flags);
    bad |= TRID_F(trid_p_pivoted_up)(K > 1 ? 1 : 2, W, W, rank, face, kept, &side);
    bad |= TRID_F(trid_p_pivoted_root)(W, W, face, outer);
    TRID_F(trid_p_pivoted_down)(K > 1 ? 1 : 2, W, W, rank, kept, side, outer);
    TRID_F(trid_p_pivoted_expand)(K, rank, a, b, c, d, flags, outer);
    return n > K * W ? TRID_BAD_ARGUMENT : bad ? 1 : 0;
}

/* ---- block scope: all threads of the block call; shared memory and barriers -------------------------------------

   Thread t of a block of any shape is the one with t = x + X (y + Y z), (x, y, z) its threadIdx and X, Y the first two
   of blockDim: warps are made in this order.

   Rows live in registers, of which a thread has 65536 / threads and 255 at most. Without __launch_bounds__(threads) a
   large block may not start. As much fits without spills (ptxas of CUDA 13.0 for sm_90, K rows and little else in the
   kernel; see also the bound of K above):
                                       256 threads   512 threads   1024 threads
       trid_block_hybrid          f32      K = 32        K = 28         K = 11
                                  f64          16            13              5
       trid_block_hybrid_refined  f32          29            14              4
                                  f64          14             6              2
       trid_block_pivoted         f32          28            11              3
                                  f64          11             4              - */

/* PCR over lanes 0..W-2 of each group with both ends open, towards the previous group and towards lane W-1; then lane
   W-1 loses lane W-2. After it every row couples to the last unknown of the previous group (*a) and, by *c, lanes
   0..W-2 to the unknown of lane W-1, lane W-1 to the first unknown of the next group: what trid_lane_reduce does with
   the rows of a lane, done with the lanes of a group. */
TRID_D int TRID_F(trid_p_group_reduce_open)(int W, TRID_R *a, TRID_R *c, TRID_R *d)
{
    int lane = trid_p_lane() & (W - 1), bad = 0;
    TRID_R up[3], down[3];
    TRID_UNROLL
    for (int s = 1; s < W; s *= 2) {
        TRID_F(trid_p_neighbours)(W, s, *a, *c, *d, up, down, (TRID_R *)0);
        lane = trid_p_again(lane); /* or lane W-1 gets a branch of its own, with slow shuffles in both */
        if (lane < s || lane == W - 1) up[0] = -1, up[1] = 0, up[2] = 0;
        if (lane + s >= W - 1) down[0] = 0, down[1] = -1, down[2] = 0;
        bad |= TRID_F(trid_lane_pcr_step)(a, c, d, up[0], up[1], up[2], down[0], down[1], down[2]);
    }
    TRID_F(trid_p_neighbours)(W, 1, *a, *c, *d, up, down, (TRID_R *)0);
    lane = trid_p_again(lane);
    if (lane == W - 1) bad |= TRID_F(trid_lane_pcr_step)(a, c, d, up[0], up[1], up[2], 0, -1, 0);
    return bad;
}

/* trid_block_hybrid for `warps` warps of a block that follow each other, of which this one is number `part` and has the
   thread's rows from `first` of `rows`; number e of warp w, one of six, is kept at shared[w by_warp + e by_number]. All
   threads of the block call. */
TRID_D int TRID_F(trid_p_warps_hybrid)(int K, int n, int rows, int first, int warps, int part, TRID_R *a, TRID_R *b,
                                       TRID_R *c, TRID_R *d, TRID_R *shared, int by_warp, int by_number)
{
    int lane = trid_p_thread() & 31;
    TRID_F(trid_p_pad)(K, first, n, rows, a, b, c, d);
    int status = TRID_F(trid_lane_reduce)(K, a, b, c, d), bad = 0;

    TRID_R row_a = a[K - 1], row_c = c[K - 1], row_d = d[K - 1];
    if (K > 1) {
        TRID_R first_a = __shfl_down_sync(TRID_P_FULL, a[0], 1);
        TRID_R first_c = __shfl_down_sync(TRID_P_FULL, c[0], 1);
        TRID_R first_d = __shfl_down_sync(TRID_P_FULL, d[0], 1);
        if (lane == 31) first_a = 0, first_c = -1, first_d = 0; /* stays coupled to the next warp's first unknown */
        bad |= TRID_F(trid_lane_link)(&row_a, &row_c, &row_d, first_a, first_c, first_d);
    }
    bad |= TRID_F(trid_p_group_reduce_open)(32, &row_a, &row_c, &row_d);

    /* Each warp's first row in terms of the last unknowns, and its last row. */
    TRID_R *mine = shared + part * by_warp;
    if (lane == 0) {
        mine[0] = K > 1 ? a[0] - c[0] * row_a : row_a;
        mine[by_number] = K > 1 ? -c[0] * row_c : row_c;
        mine[2 * by_number] = K > 1 ? d[0] - c[0] * row_d : row_d;
    }
    if (lane == 31) mine[3 * by_number] = row_a, mine[4 * by_number] = row_c, mine[5 * by_number] = row_d;
    __syncthreads();

    int there = lane < warps, next = lane + 1 < warps;
    const TRID_R *of = shared + lane * by_warp, *after = of + by_warp;
    TRID_R warp_a = there ? of[3 * by_number] : 0, warp_c = there ? of[4 * by_number] : 0;
    TRID_R x = there ? of[5 * by_number] : 0;
    int warp_bad = TRID_F(trid_lane_link)(&warp_a, &warp_c, &x, next ? after[0] : 0, next ? after[by_number] : 0,
                                          next ? after[2 * by_number] : 0);
    warp_bad |= TRID_F(trid_p_pcr)(32, warps, warp_a, warp_c, &x, (TRID_R *)0);
    TRID_R before = __shfl_sync(TRID_P_FULL, x, part > 0 ? part - 1 : 0), last = __shfl_sync(TRID_P_FULL, x, part);

    row_d = lane == 31 ? last : row_d - row_a * before - row_c * last;
    TRID_R left = __shfl_up_sync(TRID_P_FULL, row_d, 1);
    TRID_F(trid_lane_expand)(K, a, c, d, lane == 0 ? before : left, row_d);
    status = trid_p_status(first, K, n, rows, status, bad);
    return status ? status : trid_p_status(32 * K * lane, 32 * K, n, rows, 0, warp_bad);
}

/* Solves   one system of n <= K*threads rows, row K*t + j in a[j], b[j], c[j], d[j] of thread t: sections within the
            lanes, lanes within the warps, and the two rows a warp that are left solved by every warp for itself
   Needs    K >= 1 literal; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  as trid_warp_hybrid: -1 if n > K*threads; the smallest positive status of the threads is where it began
   Shared   TRID_BLOCK_HYBRID_LEN elements, no bank conflicts; one barrier inside; __syncthreads() before another use
            of them (two arrays in turn save it)
   Cost     trid_warp_hybrid with W = 32, and (4w+11) FMA + (5w+9) mul + (w+2) rcp + (6w+8) shuffles, w = log2 of the
            warps */
TRID_D int TRID_F(trid_block_hybrid)(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    int thread = trid_p_thread(), threads = trid_p_threads();
    return TRID_F(trid_p_warps_hybrid)(K, n, K * threads, K * thread, threads / 32, thread / 32, a, b, c, d, shared, 1,
                                       32);
}

/* Solves   how far x is from solving a system whose rows, and x, lie as in trid_block_hybrid: r = d - A x, and the
            thread's own largest error and size (trid_lane_residual)
   Needs    K >= 1 literal; r may alias d; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   r, 0 in rows from n on; *error and *size, either of which may be null
   Shared   TRID_BLOCK_RESIDUAL_LEN elements, no bank conflicts; one barrier inside; __syncthreads() before another use
   Cost     that of trid_lane_residual + 2 shuffles, 2 stores and 2 loads a warp */
TRID_D void TRID_F(trid_block_residual)(int K, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                        const TRID_R *d, const TRID_R *x, TRID_R *r, TRID_R *error, TRID_R *size,
                                        TRID_R *shared)
{
    int thread = trid_p_thread(), warps = trid_p_threads() / 32, lane = thread & 31, warp = thread / 32;
    if (lane == 0) shared[warp] = x[0];
    if (lane == 31) shared[32 + warp] = x[K - 1];
    TRID_R left = __shfl_up_sync(TRID_P_FULL, x[K - 1], 1), right = __shfl_down_sync(TRID_P_FULL, x[0], 1);
    __syncthreads();
    if (lane == 0 && warp > 0) left = shared[32 + warp - 1];
    if (lane == 31 && warp + 1 < warps) right = shared[warp + 1];
    TRID_F(trid_lane_residual)(K, K * thread, n, a, b, c, d, x, left, right, r, error, size);
}

/* Solves   as trid_block_hybrid, with one step of refinement, for matrices that are only just dominant
   Needs    as trid_block_hybrid
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   x in d, 0 in rows from n on; a, b, c as they were
   Returns  as trid_block_hybrid
   Shared   TRID_BLOCK_HYBRID_REFINED_LEN elements, no bank conflicts; three barriers inside; none needed before another
            call uses them again, __syncthreads() before another use
   Cost     two of trid_block_hybrid, on copies of the rows, and one of trid_block_residual; 8K numbers live in
            registers at once
   Error    as trid_warp_solve_refined */
TRID_D int TRID_F(trid_block_hybrid_refined)(int K, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *d,
                                             TRID_R *shared)
{
    TRID_R ta[TRID_P_MOST_ROWS], tb[TRID_P_MOST_ROWS], tc[TRID_P_MOST_ROWS], x[TRID_P_MOST_ROWS];
    TRID_UNROLL
    for (int j = 0; j < K; j++) ta[j] = a[j], tb[j] = b[j], tc[j] = c[j], x[j] = d[j];
    int status = TRID_F(trid_block_hybrid)(K, n, ta, tb, tc, x, shared);
    TRID_F(trid_block_residual)
    (K, n, a, b, c, d, x, d, (TRID_R *)0, (TRID_R *)0, shared + 2 * TRID_BLOCK_HYBRID_LEN);
    TRID_UNROLL
    for (int j = 0; j < K; j++) ta[j] = a[j], tb[j] = b[j], tc[j] = c[j];
    TRID_F(trid_block_hybrid)(K, n, ta, tb, tc, d, shared + TRID_BLOCK_HYBRID_LEN);
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] += x[j];
    return status;
}

/* Solves   any nonsingular system of n <= K*threads rows, where trid_block_hybrid solves dominant ones; the rows lie as
            there. The tree of trid_warp_pivoted goes on over the warps, each of which climbs that part for itself.
   Needs    1 <= K <= 32 literal; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  as trid_warp_pivoted: -1 if n > K*threads or K > 32
   Shared   TRID_BLOCK_PIVOTED_LEN elements, no bank conflicts; one barrier inside; __syncthreads() before another use
            of them (two arrays in turn save it)
   Cost     trid_warp_pivoted with W = 32, and its cost again for each level of the tree over the warps
   Error    as trid_warp_pivoted */
TRID_D int TRID_F(trid_block_pivoted)(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    if (K > TRID_P_MOST_ROWS) return TRID_BAD_ARGUMENT;
    int thread = trid_p_thread(), threads = trid_p_threads(), warps = threads / 32, count = 1;
    int lane = thread & 31, warp = thread / 32, side, warp_side;
    unsigned flags;
    TRID_R face[9], kept[9], warp_kept[9], outer[4];
    while (count < warps) count *= 2;
    TRID_F(trid_p_pad)(K, K * thread, n, K * threads, a, b, c, d);
    int bad = TRID_F(trid_p_pivoted_reduce)(K, 32, thread, a, b, c, d, face, &flags);
    bad |= TRID_F(trid_p_pivoted_up)(K > 1 ? 1 : 2, 32, 32, thread, face, kept, &side);
    TRID_UNROLL
    for (int k = 0; k < 9; k++)
        if (lane == 15) shared[32 * k + warp] = face[k];
    __syncthreads();

    /* Where there is no warp: two unknowns that are zero, facing up or down. */
    TRID_UNROLL
    for (int k = 0; k < 9; k++)
        face[k] = lane < warps ? shared[32 * k + lane] : k == (lane & 1) || k == 7 - (lane & 1) ? (TRID_R)1 : (TRID_R)0;
    bad |= TRID_F(trid_p_pivoted_up)(1, 32, count, lane, face, warp_kept, &warp_side);
    bad |= TRID_F(trid_p_pivoted_root)(32, count, face, outer);
    TRID_F(trid_p_pivoted_down)(1, 32, count, lane, warp_kept, warp_side, outer);
    TRID_UNROLL
    for (int k = 0; k < 4; k++) outer[k] = __shfl_sync(TRID_P_FULL, outer[k], warp);
    TRID_F(trid_p_pivoted_down)(K > 1 ? 1 : 2, 32, 32, thread, kept, side, outer);
    TRID_F(trid_p_pivoted_expand)(K, thread, a, b, c, d, flags, outer);
    return n > K * threads ? TRID_BAD_ARGUMENT : bad ? 1 : 0;
}

/* The body of trid_block_lines and of trid_block_lines_unchecked, which does not report. */
TRID_D int TRID_F(trid_p_block_lines)(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d,
                                      TRID_R *shared, int report)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread >> trid_p_log2(L);
    int part = trid_p_lines_slot(L, S, U, L * S); /* elements of one of the six arrays */
    TRID_F(trid_p_pad)(K, K * section, n, K * S, a, b, c, d);
    int status = TRID_F(trid_lane_reduce)(K, a, b, c, d);

    TRID_R *first = shared, *last = shared + 3 * part;
    int held = trid_p_lines_slot(L, S, U, thread);
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
    int rank = thread & (S - 1), own = (thread >> trid_p_log2(S)) + L * rank;
    int solved = trid_p_lines_slot(L, S, U, own), below = trid_p_lines_slot(L, S, U, own + L);
    TRID_R row_a = last[solved], row_c = last[part + solved], row_d = last[2 * part + solved];
    int bad = 0;
    if (K > 1) {
        int next = rank + 1 < S;
        bad = TRID_F(trid_lane_link)(&row_a, &row_c, &row_d, next ? first[below] : 0, next ? first[part + below] : 0,
                                     next ? first[2 * part + below] : 0);
    }
    bad |= TRID_F(trid_p_pcr)(S, S, row_a, row_c, &row_d, (TRID_R *)0);
    last[2 * part + solved] = row_d; /* nobody else has read this one, nor the next */
    if (report) last[solved] = bad & 1 ? (TRID_R)1 : bad ? (TRID_R)2 : (TRID_R)0;
    __syncthreads();

    TRID_R left = section > 0 ? last[2 * part + trid_p_lines_slot(L, S, U, thread - L)] : 0;
    TRID_F(trid_lane_expand)(K, a, c, d, left, last[2 * part + held]);
    return trid_p_status(K * section, K, n, K * S, status, report ? (int)last[held] : 0);
}

/* Solves   L systems that lie side by side, as the strided directions of a grid need: thread t holds rows
            K*(t / L) .. K*(t / L) + K-1 of line t % L, so that loads of neighbouring lines coalesce:
                threads 0 .. L-1      lines 0 .. L-1, rows 0 .. K-1
                threads L .. 2L-1     lines 0 .. L-1, rows K .. 2K-1   ...   S sections
            The reduced rows change hands through shared memory, groups of S lanes solve a line each, and come back.
   Needs    K >= 1 a literal; L and S powers of two, S <= 32, L*S the threads of the block, a multiple of 32 (literals,
            or the same numbers in all threads: two dozen operations more); a of row 0 and c of row n-1 are not read,
            nor are rows from n on; n <= K*S, which lines may choose apart
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  as trid_warp_hybrid, of the thread's own line: -1 if n > K*S; the smallest positive status of the line's
            threads is where it began
   Shared   TRID_BLOCK_LINES_LEN_F32 or _F64 (L, S) elements (above 48 KiB a launch needs
            cudaFuncSetAttribute); no bank conflicts in storing the rows, in loading a
            section's own and in storing the unknowns; up to one extra cycle for each half of a warp where a thread
            reads another section's (tests/test_banks.c counts); two barriers inside; __syncthreads() before another use
   Cost     trid_warp_hybrid with W = S, its link and expansion through 8 stores and 9 loads, the last of each for the
            status */
TRID_D int TRID_F(trid_block_lines)(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d,
                                    TRID_R *shared)
{
    return TRID_F(trid_p_block_lines)(K, L, S, n, a, b, c, d, shared, 1);
}

/* Solves   as trid_block_lines, for matrices that are known to be dominant
   Needs    as trid_block_lines
   Lanes    all threads of the block
   Leaves   as trid_block_lines
   Shared   as trid_block_lines
   Cost     a tenth less, about: a failure that is found in another thread's hands takes instructions to come home, also
            where nobody asks for it */
TRID_D void TRID_F(trid_block_lines_unchecked)(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d,
                                               TRID_R *shared)
{
    TRID_F(trid_p_block_lines)(K, L, S, n, a, b, c, d, shared, 0);
}

/* The reduced rows change hands: the thread that holds a section gives one word of its first and of its last row,
   through the first two of the three arrays, and gets those of the section that it solves (*last) and of the next one
   (*first, if K > 1). A line's last section gets its own first, to which it does not couple. */
TRID_D void TRID_F(trid_p_lines_exchange)(int K, int L, int S, TRID_R *first, TRID_R *last, TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), rank = thread & (S - 1), own = (thread >> trid_p_log2(S)) + L * rank,
        next = rank + 1 < S ? own + L : own;
    int part = trid_p_lines_slot(L, S, U, L * S), held = trid_p_lines_slot(L, S, U, thread);
    if (K > 1) shared[held] = *first;
    shared[part + held] = *last;
    __syncthreads();
    if (K > 1) *first = shared[trid_p_lines_slot(L, S, U, next)];
    *last = shared[part + trid_p_lines_slot(L, S, U, own)];
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
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread >> trid_p_log2(L),
        solved = (thread >> trid_p_log2(S)) + L * (thread & (S - 1));
    TRID_R *said = shared + 2 * trid_p_lines_slot(L, S, U, L * S);
    int status = TRID_F(trid_p_factor_section)(K, K * section, n, K * S, a, b, c, f);
    TRID_R first_a = f[TRID_P_LEFT(K, 0)], last_a = f[TRID_P_LEFT(K, K - 1)], first_c = f[TRID_P_LAST(K, 0)];
    f[TRID_P_LINK(K)] = f[TRID_P_LAST(K, K - 1)];
    TRID_F(trid_p_lines_exchange)(K, L, S, &first_a, &last_a, shared);
    __syncthreads();
    TRID_F(trid_p_lines_exchange)(K, L, S, &first_c, &f[TRID_P_LINK(K)], shared);
    int bad = TRID_F(trid_p_factor_reduced)(K, S, last_a, first_a, first_c, f, steps);
    said[trid_p_lines_slot(L, S, U, solved)] = (TRID_R)bad;
    __syncthreads(); /* also because the next call fills the first two arrays */
    bad = (int)said[trid_p_lines_slot(L, S, U, thread)];
    return trid_p_status(K * section, K, n, K * S, status, bad);
}

/* Solves   as trid_block_lines_solve, with the factors in memory, where lines that share a matrix may share them, and
            where they need no registers: element e < 5 K of the f of the section that the thread holds is at
            f[e stride], element 5 K + e of the f of the row that it solves at reduced[e stride]
   Needs    as trid_block_lines_solve */
TRID_D void TRID_F(trid_block_lines_solve_stored)(int K, int L, int S, int n, int steps, const TRID_R *f,
                                                  const TRID_R *reduced, int stride, TRID_R *d, TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread >> trid_p_log2(L),
        solved = (thread >> trid_p_log2(S)) + L * (thread & (S - 1));
    TRID_R *unknowns = shared + 2 * trid_p_lines_slot(L, S, U, L * S);
    TRID_F(trid_p_solve_section)(K, K * section, n, K * S, f, stride, d);
    TRID_R first = d[0], last = d[K - 1];
    TRID_F(trid_p_lines_exchange)(K, L, S, &first, &last, shared);
    unknowns[trid_p_lines_slot(L, S, U, solved)] =
        TRID_F(trid_p_solve_reduced)(K, S, steps, reduced, stride, last, first);
    __syncthreads();
    int above = section > 0 ? thread - L : thread; /* the first section couples to nothing above */
    TRID_R left = unknowns[trid_p_lines_slot(L, S, U, above)], x = unknowns[trid_p_lines_slot(L, S, U, thread)];
    TRID_F(trid_p_expand)(K, f + TRID_P_LEFT(K, 0) * stride, f + TRID_P_LAST(K, 0) * stride, stride, d, left, x);
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

/* ---- block scope, LU and chains ---------------------------------------------------------------------------------- */

/* Where a chain across warps keeps things in shared memory: each warp's product and sum, a link, and what goes from
   warp to warp in turns. */
#define TRID_P_BLOCK_CHAIN_LEN 98

/* trid_p_chain_open across the warps of a block; two barriers inside. */
TRID_D int TRID_F(trid_p_block_chain_open)(int K, int up, int shift, const TRID_R *m, TRID_R *keep, TRID_R *shared)
{
    int thread = trid_p_thread(), warp = thread / 32, lane = thread & 31, last = trid_p_threads() - 1;
    int exit = lane == (up ? 0 : 31), first = thread == (up ? last : 0);
    TRID_R outside = 0;
    if (shift) {
        if (exit) shared[64 + warp] = m[up ? 0 : K - 1];
        __syncthreads();
        if (lane == (up ? 31 : 0) && !first) outside = shared[up ? 65 + warp : 63 + warp];
    }
    int grown = TRID_F(trid_p_chain_open)(K, 32, up, shift, m, first, outside, keep);
    if (exit) shared[warp] = keep[5];
    return __syncthreads_or(grown || !(TRID_P_ABS(keep[5]) <= TRID_P_CHAIN_GROWTH));
}

/* trid_p_warp_chain across the warps of a block; one barrier inside, or one a warp in turns. */
TRID_D void TRID_F(trid_p_block_chain)(int K, int up, int shift, const TRID_R *m, const TRID_R *keep, int turns,
                                       TRID_R *d, TRID_R *shared)
{
    int thread = trid_p_thread(), warp = thread / 32, lane = thread & 31, warps = trid_p_threads() / 32;
    int exit = lane == (up ? 0 : 31), entry = lane == (up ? 31 : 0);
    if (!turns) {
        TRID_R q = TRID_F(trid_p_chain_scan)(K, 32, up, shift, m, keep, d), before = 0;
        if (exit) shared[32 + warp] = q;
        __syncthreads();
        TRID_P_LOOP
        for (int i = up ? warps - 1 : 0; i != warp; i += up ? -1 : 1) before = shared[32 + i] + shared[i] * before;
        TRID_R above = TRID_F(trid_p_chain_shuffle)(32, up, q, 1);
        TRID_R times = TRID_F(trid_p_chain_shuffle)(32, up, keep[5], 1);
        TRID_F(trid_p_chain_close)(K, 32, up, shift, m, keep, 0, entry ? before : above + times * before, d);
        return;
    }
    TRID_P_LOOP
    for (int s = 0; s < warps; s++) {
        if ((up ? warps - 1 - warp : warp) == s) {
            TRID_F(trid_p_chain_close)(K, 32, up, shift, m, keep, 1, s > 0 ? shared[96 + (s & 1)] : (TRID_R)0, d);
            if (exit) shared[97 - (s & 1)] = d[up ? 0 : K - 1];
        }
        __syncthreads();
    }
}

/* Solves   the LU factors of one matrix of n <= K*threads rows, as trid_warp_lu, the rows lying as in trid_block_hybrid
   Needs    K >= 1 literal; a[0] of row 0 and c of row n-1 are not read, nor are rows from n on
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   as trid_warp_lu
   Returns  as trid_warp_lu: -1 if n > K*threads; the smallest positive status of the threads is where it began
   Shared   TRID_BLOCK_LU_LEN elements, no bank conflicts; two barriers inside (in turns one a warp more);
            __syncthreads() before another use of them
   Cost     trid_warp_lu with W = 32, and up to 8 operations a warp
   Error    as trid_warp_lu */
TRID_D int TRID_F(trid_block_lu)(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *shared)
{
    int thread = trid_p_thread(), threads = trid_p_threads(), warp = thread / 32, lane = thread & 31, status = 0;
    TRID_R map[4], above[4], w = 1, v = 0;
    TRID_F(trid_p_pad)(K, K * thread, n, K * threads, a, b, c, (TRID_R *)0);
    int sign = TRID_F(trid_p_sign)(b[K - 1]) ^ TRID_F(trid_p_sign)(c[K - 1]);
    int before = __shfl_up_sync(TRID_P_FULL, sign, 1);
    if (lane == 31) shared[128 + warp] = (TRID_R)(sign < 0 ? -1 : 1);
    __syncthreads();
    if (lane == 0) before = warp > 0 && shared[127 + warp] < 0 ? -1 : 0;
    int good = TRID_F(trid_p_lu_reduce)(K, before, a, b, c, map);
    good &= TRID_F(trid_p_lu_scan)(32, map);
    TRID_UNROLL
    for (int k = 0; k < 4; k++)
        if (lane == 31) shared[32 * k + warp] = map[k];
    good = __syncthreads_and(good);
    TRID_P_LOOP
    for (int i = 0; i < warp; i++) {
        TRID_R next = shared[i] * w + shared[64 + i] * v;
        v = shared[32 + i] * w + shared[96 + i] * v;
        TRID_R scale = TRID_F(trid_p_power)(next + v);
        w = next * scale, v *= scale;
    }
    TRID_UNROLL
    for (int k = 0; k < 4; k++) above[k] = __shfl_up_sync(TRID_P_FULL, map[k], 1);
    if (lane > 0) {
        TRID_R next = above[0] * w + above[2] * v;
        v = above[1] * w + above[3] * v;
        w = next;
    }
    if (good) {
        status = TRID_F(trid_p_lu_rows)(K, before, w * TRID_F(trid_p_rcp_fine)(w + v), a, b, c);
    } else {
        TRID_P_LOOP
        for (int s = 0; s < threads / 32; s++) {
            if (warp == s) {
                status = TRID_F(trid_p_lu_turns)(K, 32, s > 0 ? shared[160 + (s & 1)] : (TRID_R)0, a, b, c);
                if (lane == 31) shared[161 - (s & 1)] = c[K - 1];
            }
            __syncthreads();
        }
    }
    return trid_p_status(K * thread, K, n, K * threads, status, 0);
}

/* Solves   A x = d, A being what trid_block_lu took apart
   Needs    K, n, l, r, u as there; rows from n on are read as 0
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_lu; four barriers inside (in turns one a warp more); __syncthreads() before another use
   Cost     trid_warp_lu_solve with W = 32, and up to 2 FMA a warp
   Error    as trid_warp_lu_solve */
TRID_D void TRID_F(trid_block_lu_solve)(int K, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u, TRID_R *d,
                                        TRID_R *shared)
{
    int first = K * trid_p_thread(), full = K * trid_p_threads();
    TRID_R keep[TRID_P_CHAIN_LEN];
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] = n >= full || first + j < n ? d[j] * r[j] : (TRID_R)0;
    int turns = TRID_F(trid_p_block_chain_open)(K, 0, 0, l, keep, shared);
    TRID_F(trid_p_block_chain)(K, 0, 0, l, keep, turns, d, shared);
    turns = TRID_F(trid_p_block_chain_open)(K, 1, 0, u, keep, shared + TRID_P_BLOCK_CHAIN_LEN);
    TRID_F(trid_p_block_chain)(K, 1, 0, u, keep, turns, d, shared + TRID_P_BLOCK_CHAIN_LEN);
}

/* Solves   A^T x = d with the factors of A
   Needs    as trid_block_lu_solve
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_lu_solve; six barriers inside
   Cost     as trid_block_lu_solve
   Error    as trid_block_lu_solve */
TRID_D void TRID_F(trid_block_lu_solve_transposed)(int K, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u,
                                                   TRID_R *d, TRID_R *shared)
{
    int first = K * trid_p_thread(), full = K * trid_p_threads();
    TRID_R keep[TRID_P_CHAIN_LEN];
    TRID_UNROLL
    for (int j = 0; j < K; j++)
        if (n < full && first + j >= n) d[j] = 0;
    int turns = TRID_F(trid_p_block_chain_open)(K, 0, 1, u, keep, shared);
    TRID_F(trid_p_block_chain)(K, 0, 1, u, keep, turns, d, shared);
    turns = TRID_F(trid_p_block_chain_open)(K, 1, 1, l, keep, shared + TRID_P_BLOCK_CHAIN_LEN);
    TRID_F(trid_p_block_chain)(K, 1, 1, l, keep, turns, d, shared + TRID_P_BLOCK_CHAIN_LEN);
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] *= r[j];
}

/* Lines side by side: the thread's own section is thread / L of line thread % L; S <= 32 of a line's sections, or pairs
   of them, are scanned by as many lanes, and thread t < L*G has sections R*(t % G) .. R*(t % G) + R-1 of line t / G. */
#define TRID_P_LINES_SECOND 7 /* in keep: a pair's second product; the first is where a warp's last product is */
#define TRID_P_LINES_CHAIN_LEN 8

TRID_D int TRID_F(trid_p_lines_chain_open)(int K, int L, int S, int up, int shift, const TRID_R *m, TRID_R *keep,
                                           TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread / L, held = TRID_P_LINES_SLOT(L, S, U, thread);
    int first = section == (up ? S - 1 : 0), G = S < 32 ? S : 32, R = S / G, grown = 0;
    TRID_R edge = m[up ? K - 1 : 0], one[1];
    if (shift) {
        shared[held] = m[up ? 0 : K - 1];
        __syncthreads();
        if (!first) edge = shared[TRID_P_LINES_SLOT(L, S, U, up ? thread + L : thread - L)];
        __syncthreads();
    }
    if (first) edge = 0;
    shared[held] = TRID_F(trid_p_chain_product)(K, up, shift, m, edge);
    __syncthreads();
    if (thread < L * G) {
        int rank = thread % G, line = thread / G;
        TRID_R low = shared[TRID_P_LINES_SLOT(L, S, U, line + L * R * rank)];
        TRID_R high = R > 1 ? shared[TRID_P_LINES_SLOT(L, S, U, line + L * (R * rank + R - 1))] : (TRID_R)1;
        grown = !(TRID_P_ABS(low) <= TRID_P_CHAIN_GROWTH) || !(TRID_P_ABS(high) <= TRID_P_CHAIN_GROWTH);
        one[0] = -low * high;
        grown |= TRID_F(trid_p_chain_open)(1, G, up, 0, one, 0, 0, keep);
        keep[5] = low, keep[TRID_P_LINES_SECOND] = high;
    }
    keep[TRID_P_CHAIN_EDGE] = edge;
    return __syncthreads_or(grown);
}

TRID_D void TRID_F(trid_p_lines_chain)(int K, int L, int S, int up, int shift, const TRID_R *m, const TRID_R *keep,
                                       int turns, TRID_R *d, TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread / L, held = TRID_P_LINES_SLOT(L, S, U, thread);
    int turn = up ? S - 1 - section : section, G = S < 32 ? S : 32, R = S / G;
    TRID_R edge = keep[TRID_P_CHAIN_EDGE], *come = shared + TRID_P_LINES_SLOT(L, S, U, L * S);
    if (!turns) {
        shared[held] = TRID_F(trid_p_chain_sum)(K, up, shift, m, edge, d);
        __syncthreads();
        if (thread < L * G) {
            int rank = thread % G, line = thread / G;
            int low = TRID_P_LINES_SLOT(L, S, U, line + L * R * rank);
            int high = TRID_P_LINES_SLOT(L, S, U, line + L * (R * rank + R - 1));
            TRID_R q = shared[up ? high : low], own = q;
            if (R > 1) q = shared[up ? low : high] + keep[up ? 5 : TRID_P_LINES_SECOND] * q;
            TRID_UNROLL
            for (int i = 0; i < 5; i++)
                if (1 << i < G) {
                    TRID_R before = TRID_F(trid_p_chain_shuffle)(G, up, q, 1 << i);
                    if (up ? rank + (1 << i) < G : rank >= 1 << i) q += keep[i] * before;
                }
            TRID_R from = TRID_F(trid_p_chain_shuffle)(G, up, q, 1);
            if (rank == (up ? G - 1 : 0)) from = 0;
            come[up ? high : low] = from;
            if (R > 1) come[up ? low : high] = own + keep[up ? TRID_P_LINES_SECOND : 5] * from;
        }
        __syncthreads();
        TRID_F(trid_p_chain_expand)(K, up, shift, m, edge, come[held], d);
        return;
    }
    TRID_P_LOOP
    for (int s = 0; s < S; s++) {
        __syncthreads();
        if (turn == s) {
            TRID_R from = s > 0 ? come[TRID_P_LINES_SLOT(L, S, U, up ? thread + L : thread - L)] : (TRID_R)0;
            TRID_F(trid_p_chain_expand)(K, up, shift, m, edge, from, d);
            come[held] = d[up ? 0 : K - 1];
        }
    }
    __syncthreads();
}

/* Solves   the LU factors of L matrices whose rows lie side by side as in trid_block_lines, each as trid_warp_lu
   Needs    as trid_block_lines, but S <= 64
   Lanes    all threads of the block
   Leaves   as trid_warp_lu
   Returns  as trid_block_lines, of the thread's own line
   Shared   TRID_BLOCK_LINES_LU_LEN_F32 or _F64 (L, S) elements; conflicts as trid_block_lines; three barriers inside
            (in turns S more); __syncthreads() before another use
   Cost     trid_warp_lu with W = S, its links through 6 stores and 7 loads
   Error    as trid_warp_lu */
TRID_D int TRID_F(trid_block_lines_lu)(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *shared)
{
    enum { U = TRID_P_BANKS };
    int thread = trid_p_thread(), section = thread / L, held = TRID_P_LINES_SLOT(L, S, U, thread);
    int part = TRID_P_LINES_SLOT(L, S, U, L * S), above = TRID_P_LINES_SLOT(L, S, U, thread - L);
    int G = S < 32 ? S : 32, R = S / G, status = 0;
    TRID_R map[4], *signs = shared + 4 * part;
    TRID_F(trid_p_pad)(K, K * section, n, K * S, a, b, c, (TRID_R *)0);
    signs[held] = (TRID_R)((TRID_F(trid_p_sign)(b[K - 1]) ^ TRID_F(trid_p_sign)(c[K - 1])) < 0 ? -1 : 1);
    __syncthreads();
    int before = section > 0 && signs[above] < 0 ? -1 : 0;
    int good = TRID_F(trid_p_lu_reduce)(K, before, a, b, c, map);
    good &= TRID_F(trid_p_lu_scale)(map);
    TRID_UNROLL
    for (int k = 0; k < 4; k++) shared[k * part + held] = map[k];
    __syncthreads();
    if (thread < L * G) {
        int rank = thread % G, line = thread / G;
        int low = TRID_P_LINES_SLOT(L, S, U, line + L * R * rank);
        int high = TRID_P_LINES_SLOT(L, S, U, line + L * (R * rank + R - 1));
        TRID_R first[4], all[4];
        TRID_UNROLL
        for (int k = 0; k < 4; k++) first[k] = shared[k * part + low], all[k] = shared[k * part + high];
        if (R > 1) good &= TRID_F(trid_p_lu_join)(all, first);
        good &= TRID_F(trid_p_lu_scan)(G, all);
        TRID_R w = __shfl_up_sync(TRID_P_FULL, all[0], 1, G), v = __shfl_up_sync(TRID_P_FULL, all[1], 1, G);
        if (rank == 0) w = 1, v = 0;
        shared[low] = w * TRID_F(trid_p_rcp_fine)(w + v);
        if (R > 1) {
            TRID_R next = first[0] * w + first[2] * v;
            v = first[1] * w + first[3] * v;
            shared[high] = next * TRID_F(trid_p_rcp_fine)(next + v);
        }
    }
    if (__syncthreads_and(good)) {
        status = TRID_F(trid_p_lu_rows)(K, before, shared[held], a, b, c);
    } else {
        TRID_P_LOOP
        for (int s = 0; s < S; s++) {
            if (section == s) {
                status = TRID_F(trid_lane_lu)(K, s > 0 ? shared[above] : (TRID_R)0, a, b, c);
                shared[held] = c[K - 1];
            }
            __syncthreads();
        }
    }
    return trid_p_status(K * section, K, n, K * S, status, 0);
}

/* Solves   the lines whose matrices trid_block_lines_lu took apart
   Needs    K, L, S, n, l, r, u as there; rows from n on are read as 0
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_lines_lu; eight barriers inside (in turns S more); none before this function's next call
   Cost     trid_warp_lu_solve with W = S, its links through 6 stores and 6 loads
   Error    as trid_warp_lu_solve */
TRID_D void TRID_F(trid_block_lines_lu_solve)(int K, int L, int S, int n, const TRID_R *l, const TRID_R *r,
                                              const TRID_R *u, TRID_R *d, TRID_R *shared)
{
    int first = K * (trid_p_thread() / L);
    TRID_R keep[TRID_P_LINES_CHAIN_LEN];
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] = n >= K * S || first + j < n ? d[j] * r[j] : (TRID_R)0;
    int turns = TRID_F(trid_p_lines_chain_open)(K, L, S, 0, 0, l, keep, shared);
    TRID_F(trid_p_lines_chain)(K, L, S, 0, 0, l, keep, turns, d, shared);
    turns = TRID_F(trid_p_lines_chain_open)(K, L, S, 1, 0, u, keep, shared);
    TRID_F(trid_p_lines_chain)(K, L, S, 1, 0, u, keep, turns, d, shared);
}

/* Solves   the lines of the transposed matrices, with the same factors
   Needs    as trid_block_lines_lu_solve
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_lines_lu_solve; twelve barriers inside
   Cost     as trid_block_lines_lu_solve
   Error    as trid_block_lines_lu_solve */
TRID_D void TRID_F(trid_block_lines_lu_solve_transposed)(int K, int L, int S, int n, const TRID_R *l, const TRID_R *r,
                                                         const TRID_R *u, TRID_R *d, TRID_R *shared)
{
    int first = K * (trid_p_thread() / L);
    TRID_R keep[TRID_P_LINES_CHAIN_LEN];
    TRID_UNROLL
    for (int j = 0; j < K; j++)
        if (n < K * S && first + j >= n) d[j] = 0;
    int turns = TRID_F(trid_p_lines_chain_open)(K, L, S, 0, 1, u, keep, shared);
    TRID_F(trid_p_lines_chain)(K, L, S, 0, 1, u, keep, turns, d, shared);
    turns = TRID_F(trid_p_lines_chain_open)(K, L, S, 1, 1, l, keep, shared);
    TRID_F(trid_p_lines_chain)(K, L, S, 1, 1, l, keep, turns, d, shared);
    TRID_UNROLL
    for (int j = 0; j < K; j++) d[j] *= r[j];
}
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
    if (n <= 0) return n < 0 ? TRID_BAD_ARGUMENT : TRID_OK;
    size_t m = (size_t)n;
    for (size_t j = 0; j < m; j++) {
        TRID_R r = TRID_F(trid_rcp)(b[j]);
        if (TRID_F(trid_p_bad)(r)) return (int)j + 1;
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

/* trid_lane_reduce of a section of which only the first rows exist: it is padded to K with identity rows, which need no
   memory, since their couplings and right-hand sides are zero. */
TRID_HOST int TRID_F(trid_p_host_reduce)(int K, int rows, TRID_R *a, const TRID_R *b, TRID_R *c, TRID_R *d)
{
    int status = 0;
    for (int i = 0; i < trid_p_visits(K); i++) {
        trid_p_visit v = trid_p_visit_of(K, i);
        TRID_R m[3];
        if (v.row >= rows) continue;
        if (v.row == rows - 1) v.up = 0;
        int bad = TRID_F(trid_p_visit_matrix)(v, a, b, c, m);
        if (!status) status = bad;
        TRID_F(trid_p_visit_right)(v, 0, m[0], m[1], m[2], d);
    }
    if (!status && !TRID_F(trid_finite)(c[rows - 1])) status = rows;
    if (!status && !TRID_F(trid_finite)(a[rows - 1])) status = 1;
    return status;
}

/* Solves   by the hybrid, as trid_warp_hybrid does it: sections of rows_per_lane rows are reduced, their last unknowns
            found by PCR, the rows expanded. Any number of sections; a shorter last one is padded internally.
   Needs    work of trid_host_hybrid_len(n, rows_per_lane) elements; else as trid_host_thomas
   Returns  0, -1 for n < 0 or rows_per_lane < 1, or 1 + a row that met a bad pivot */
TRID_HOST int TRID_F(trid_host_hybrid)(int n, int rows_per_lane, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                       const TRID_R *d, TRID_R *x, TRID_R *work)
{
    if (n < 0 || rows_per_lane < 1) return TRID_BAD_ARGUMENT;
    if (n == 0) return 0;
    size_t rows = (size_t)n, K = (size_t)rows_per_lane;
    if (K > 2 * rows) K = 2 * rows; /* more padding than that changes nothing */
    size_t sections = (rows - 1) / K + 1;
    TRID_R *wa = work, *wb = wa + rows, *wc = wb + rows, *wd = wc + rows, *reduced = wd + rows;
    for (size_t j = 0; j < rows; j++) {
        wa[j] = j > 0 ? a[j] : 0;
        wb[j] = b[j];
        wc[j] = j < rows - 1 ? c[j] : 0;
        wd[j] = d[j];
    }
    for (size_t first = 0; first < rows; first += K) {
        int length = (int)(rows - first < K ? rows - first : K);
        int status = TRID_F(trid_p_host_reduce)((int)K, length, wa + first, wb + first, wc + first, wd + first);
        if (status) return (int)first + status;
    }
    for (size_t i = 0; i < sections; i++) {
        size_t next = (i + 1) * K, last = next - 1;
        int exists = next <= rows; /* else the section ends with an identity row */
        TRID_R row_a = exists ? wa[last] : 0, row_c = exists ? wc[last] : 0, row_d = exists ? wd[last] : 0;
        if (K > 1 && next < rows)
            if (TRID_F(trid_lane_link)(&row_a, &row_c, &row_d, wa[next], wc[next], wd[next])) return (int)next;
        reduced[i] = row_a;
        reduced[sections + i] = row_c;
        reduced[2 * sections + i] = row_d;
    }
    const TRID_R *solution = reduced;
    int status = TRID_F(trid_p_host_pcr)(sections, reduced, &solution);
    if (status) {
        size_t next = (size_t)status * K;
        return (int)(next < rows ? next : rows);
    }
    for (size_t i = 0, j = 0; i < sections; i++) {
        TRID_R left = i > 0 ? solution[i - 1] : 0, last = solution[i];
        for (; j < rows && j < (i + 1) * K - 1; j++) x[j] = wd[j] - wa[j] * left - wc[j] * last;
        if (j < rows) x[j++] = last;
    }
    return 0;
}

/* Elements of work for trid_host_hybrid_refined: 2*n more. */
TRID_HOST size_t TRID_F(trid_host_hybrid_refined_len)(int n, int rows_per_lane)
{
    if (n <= 0 || rows_per_lane < 1) return 0;
    return TRID_F(trid_host_hybrid_len)(n, rows_per_lane) + 2 * (size_t)n;
}

/* Solves   by the hybrid, with one step of refinement as trid_warp_hybrid_refined does it
   Needs    work of trid_host_hybrid_refined_len(n, rows_per_lane) elements; else as trid_host_hybrid
   Returns  as trid_host_hybrid
   Error    as trid_warp_solve_refined */
TRID_HOST int TRID_F(trid_host_hybrid_refined)(int n, int rows_per_lane, const TRID_R *a, const TRID_R *b,
                                               const TRID_R *c, const TRID_R *d, TRID_R *x, TRID_R *work)
{
    TRID_R *first = work, *rest = work + (n > 0 ? n : 0), *hybrid = rest + (n > 0 ? n : 0);
    int status = TRID_F(trid_host_hybrid)(n, rows_per_lane, a, b, c, d, first, hybrid);
    if (status || n == 0) return status;
    TRID_F(trid_lane_residual)(n, 0, n, a, b, c, d, first, 0, 0, rest, (TRID_R *)0, (TRID_R *)0);
    status = TRID_F(trid_host_hybrid)(n, rows_per_lane, a, b, c, rest, rest, hybrid);
    for (int j = 0; j < n; j++) x[j] = first[j] + rest[j];
    return status;
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

/* ---- host scope, LU ---------------------------------------------------------------------------------------------- */

/* Solves   the LU factors of a matrix without pivoting, one row after another: what trid_warp_lu finds by a scan
   Needs    l may be a, r may be b, u may be c; a[0] and c[n-1] are not read; n = 0 takes null pointers
   Leaves   l = a / pivot, r = 1 / pivot, u = c / pivot; l[0] = u[n-1] = 0
   Returns  0, -1 for n < 0, or 1 + the first row with a bad pivot */
TRID_HOST int TRID_F(trid_host_lu)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *l, TRID_R *r,
                                   TRID_R *u)
{
    int status = TRID_F(trid_lane_factor)(n, a, b, c, l, r, u, 1);
    if (status == 0 && n > 0) l[0] = u[n - 1] = 0;
    return status;
}

/* Solves   A x = d with the factors of A
   Needs    l, r, u as trid_host_lu left them; x may be d */
TRID_HOST void TRID_F(trid_host_lu_solve)(int n, const TRID_R *l, const TRID_R *r, const TRID_R *u, const TRID_R *d,
                                          TRID_R *x)
{
    TRID_F(trid_lane_solve)(n, l, r, u, d, x, 1);
}

/* Solves   A^T x = d with the factors of A
   Needs    as trid_host_lu_solve */
TRID_HOST void TRID_F(trid_host_lu_solve_transposed)(int n, const TRID_R *l, const TRID_R *r, const TRID_R *u,
                                                     const TRID_R *d, TRID_R *x)
{
    for (int j = 0; j < n; j++) x[j] = j > 0 ? d[j] - u[j - 1] * x[j - 1] : d[j];
    for (int j = n - 2; j >= 0; j--) x[j] -= l[j + 1] * x[j + 1];
    for (int j = 0; j < n; j++) x[j] *= r[j];
}

/* ---- host scope, with pivoting ----------------------------------------------------------------------------------- */

/* Elements of work for trid_host_pivoted: 4*n, and 20 a section. */
TRID_HOST size_t TRID_F(trid_host_pivoted_len)(int n, int rows_per_lane)
{
    if (n <= 0 || rows_per_lane < 1) return 0;
    return 4 * (size_t)n + 20 * (((size_t)n - 1) / (size_t)rows_per_lane + 1);
}

/* Solves   any nonsingular system, as trid_warp_pivoted does it: sections of rows_per_lane rows (of two, if that is
            one) are reduced, and joined two by two up a tree. Any number of sections; the last may be shorter, but has
            two rows at least, and takes a single one that would be left.
   Needs    rows_per_lane <= 32; work of trid_host_pivoted_len(n, rows_per_lane) elements; else as trid_host_thomas
   Returns  0, -1 for n < 0, rows_per_lane < 1 or > 32, or 1 if there was no pivot for an unknown: the matrix is
            singular, or not finite
   Error    as trid_warp_pivoted */
TRID_HOST int TRID_F(trid_host_pivoted)(int n, int rows_per_lane, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                        const TRID_R *d, TRID_R *x, TRID_R *work)
{
    if (n < 0 || rows_per_lane < 1 || rows_per_lane > TRID_P_MOST_ROWS) return TRID_BAD_ARGUMENT;
    if (n == 0) return 0;
    size_t count = (size_t)n, K = rows_per_lane > 1 ? (size_t)rows_per_lane : 2,
           sections = n > 1 ? (count - 2) / K + 1 : 0, s;
    if (n == 1) {
        TRID_R r = TRID_F(trid_rcp)(b[0]);
        if (TRID_F(trid_p_bad)(r)) return 1;
        x[0] = r * d[0];
        return 0;
    }
    TRID_R *wa = work, *wb = wa + count, *wc = wb + count, *wd = wc + count;
    TRID_R *faces = wd + count, *kept = faces + 9 * sections, *flags = kept + 10 * sections;
    for (size_t j = 0; j < count; j++) {
        wa[j] = j > 0 ? a[j] : 0;
        wb[j] = b[j];
        wc[j] = j < count - 1 ? c[j] : 0;
        wd[j] = d[j];
    }
    for (size_t i = 0, at = 0; i < sections; i++, at += K) {
        int length = (int)(i + 1 < sections ? K : count - at);
        unsigned own;
        if (TRID_F(trid_lane_pivoted_reduce)(length, i & 1, wa + at, wb + at, wc + at, wd + at, faces + 9 * i, &own))
            return 1;
        memcpy(&flags[i], &own, sizeof own);
    }
    /* A group's face stands where its first section's stood; a join is kept where the upper group's last section is. */
    for (s = 1; s < sections; s *= 2) {
        for (size_t i = 0; i < sections; i += 2 * s) {
            TRID_R *upper = faces + 9 * i, *lower = upper + 9 * s;
            int below = (i & 2 * s) != 0, side;
            if (i + s < sections) {
                TRID_R *join = kept + 10 * (i + s - 1);
                if (TRID_F(trid_lane_pivoted_combine)(below ? upper : lower, below ? lower : upper, upper, join, &side))
                    return 1;
                join[9] = (TRID_R)side;
            } else if (below) { /* nothing to join below it: it turns to what is above */
                TRID_R u[5] = {upper[2], upper[3], upper[0], upper[1], upper[4]};
                TRID_R v[5] = {upper[6], upper[7], 0, upper[5], upper[8]};
                TRID_F(trid_p_face)(u, v, upper);
            }
        }
    }
    TRID_R whole[4];
    if (TRID_F(trid_lane_pivoted_root)(faces, whole)) return 1;
    /* On the way down a group's four outer unknowns take the place of its face. */
    memcpy(faces, whole, sizeof whole);
    for (s /= 2; s > 0; s /= 2) {
        for (size_t i = 0; i < sections; i += 2 * s) {
            TRID_R *upper = faces + 9 * i, *lower = upper + 9 * s, outer[4];
            int below = (i & 2 * s) != 0;
            memcpy(outer, upper, sizeof outer);
            if (i + s < sections) {
                TRID_R *join = kept + 10 * (i + s - 1);
                TRID_F(trid_lane_pivoted_split)(join, join[9] != 0, outer, &upper[0], &upper[1]);
                memcpy(lower, upper, 2 * sizeof *upper);
                memcpy(below ? lower + 2 : upper + 2, outer + 2, 2 * sizeof *outer);
                memcpy(below ? upper + 2 : lower + 2, outer, 2 * sizeof *outer);
            } else if (below) {
                memcpy(upper, outer + 2, 2 * sizeof *outer);
                memcpy(upper + 2, outer, 2 * sizeof *outer);
            }
        }
    }
    for (size_t i = 0, at = 0; i < sections; i++, at += K) {
        int length = (int)(i + 1 < sections ? K : count - at);
        unsigned own;
        memcpy(&own, &flags[i], sizeof own);
        TRID_F(trid_lane_pivoted_expand)(length, i & 1, wa + at, wb + at, wc + at, wd + at, own, faces + 9 * i);
    }
    memcpy(x, wd, count * sizeof *x);
    return 0;
}
/* Solves   a section of a line to its ends, as trid_lane_ends_close leaves them: two elements each of ends_a, _c, _d
   Needs    n >= 2; flags: TRID_ENDS_FIRST: a[0] is not read and counts as 0, TRID_ENDS_LAST: c[n-1] likewise
   Returns  0, -1 for n < 2, or 1 + the first row with a bad pivot */
TRID_HOST int TRID_F(trid_host_reduce_ends)(int n, int flags, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                            const TRID_R *d, TRID_R *ends_a, TRID_R *ends_c, TRID_R *ends_d)
{
    if (n < 2) return TRID_BAD_ARGUMENT;
    TRID_R e[TRID_LANE_ENDS_LEN];
    int status = 0;
    for (int j = 1; j < n; j++) {
        const TRID_R below = j == n - 1 && (flags & TRID_ENDS_LAST) ? (TRID_R)0 : c[j];
        int bad = j == 1 ? TRID_F(trid_lane_ends_open)(e, flags & TRID_ENDS_FIRST ? (TRID_R)0 : a[0], b[0], c[0], d[0],
                                                       a[1], b[1], below, d[1])
                         : TRID_F(trid_lane_ends_row)(e, a[j], b[j], below, d[j]);
        if (!status && bad) status = 1 + j;
    }
    int bad = TRID_F(trid_lane_ends_close)(e, ends_a, ends_c, ends_d);
    return status ? status : bad == 1 ? 1 : bad ? n : 0;
}

/* Solves   the section, its first and last unknown being ends[0] and ends[1]
   Needs    n >= 2; work of n elements; x may alias d; of rows 0 and n-1 nothing is read
   Returns  0, -1 for n < 2, or 1 + the first row with a bad pivot */
TRID_HOST int TRID_F(trid_host_expand_ends)(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                            const TRID_R *ends, TRID_R *x, TRID_R *work)
{
    if (n < 2) return TRID_BAD_ARGUMENT;
    int status = 0;
    for (int j = 1; j < n - 1; j++) x[j] = d[j];
    if (n > 2) {
        x[1] -= a[1] * ends[0];
        x[n - 2] -= c[n - 2] * ends[1];
        status = TRID_F(trid_lane_thomas)(n - 2, a + 1, b + 1, c + 1, x + 1, x + 1, work, 1);
    }
    x[0] = ends[0], x[n - 1] = ends[1];
    return status ? status + 1 : 0;
}

/* Solves   what trid_host_reduce_ends does with the matrix alone, once: as trid_lane_ends_factor */
TRID_HOST int TRID_F(trid_host_factor_ends)(int n, int flags, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                            TRID_R *u, TRID_R *v, TRID_R *ends_a, TRID_R *ends_c, int *reach)
{
    return TRID_F(trid_lane_ends_factor)(n, flags, a, b, c, u, v, 1, ends_a, ends_c, reach);
}

/* Solves   what is left for each d: ends_d, by `first` rows from the top and `last` from the bottom (reach, or n)
   Needs    u and v of trid_host_factor_ends */
TRID_HOST void TRID_F(trid_host_weigh_ends)(int n, const TRID_R *u, const TRID_R *v, const TRID_R *d, int first,
                                            int last, TRID_R *ends_d)
{
    ends_d[0] = ends_d[1] = 0;
    for (int j = 0; j < n && j < first; j++) ends_d[0] += u[j] * d[j];
    for (int j = last < n ? n - last : 0; j < n; j++) ends_d[1] += v[j] * d[j];
}
#endif /* TRID_HOST_SCOPE */

#ifdef __cplusplus /* the same without the suffix, for templates; what has no number tells its type by a first one */
extern "C++" {
TRID_HD TRID_R trid_rcp(TRID_R x)
{
    return TRID_F(trid_rcp)(x);
}
TRID_HD int trid_finite(TRID_R x)
{
    return TRID_F(trid_finite)(x);
}
TRID_HD TRID_R trid_larger(TRID_R x, TRID_R y)
{
    return TRID_F(trid_larger)(x, y);
}
TRID_HD int trid_lane_thomas(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d, TRID_R *x,
                             TRID_R *work, long long stride)
{
    return TRID_F(trid_lane_thomas)(n, a, b, c, d, x, work, stride);
}
TRID_HD int trid_lane_factor(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *l, TRID_R *r, TRID_R *q,
                             long long stride)
{
    return TRID_F(trid_lane_factor)(n, a, b, c, l, r, q, stride);
}
TRID_HD void trid_lane_solve(int n, const TRID_R *l, const TRID_R *r, const TRID_R *q, const TRID_R *d, TRID_R *x,
                             long long stride)
{
    TRID_F(trid_lane_solve)(n, l, r, q, d, x, stride);
}
TRID_HD int trid_lane_reduce(int K, TRID_R *a, const TRID_R *b, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_lane_reduce)(K, a, b, c, d);
}
TRID_HD int trid_lane_link(TRID_R *a, TRID_R *c, TRID_R *d, TRID_R first_a, TRID_R first_c, TRID_R first_d)
{
    return TRID_F(trid_lane_link)(a, c, d, first_a, first_c, first_d);
}
TRID_HD void trid_lane_expand(int K, const TRID_R *a, const TRID_R *c, TRID_R *d, TRID_R left, TRID_R last)
{
    TRID_F(trid_lane_expand)(K, a, c, d, left, last);
}
TRID_HD int trid_lane_ends_open(TRID_R *e, TRID_R first_a, TRID_R first_b, TRID_R first_c, TRID_R first_d, TRID_R a,
                                TRID_R b, TRID_R c, TRID_R d)
{
    return TRID_F(trid_lane_ends_open)(e, first_a, first_b, first_c, first_d, a, b, c, d);
}
TRID_HD int trid_lane_ends_row(TRID_R *e, TRID_R a, TRID_R b, TRID_R c, TRID_R d)
{
    return TRID_F(trid_lane_ends_row)(e, a, b, c, d);
}
TRID_HD int trid_lane_ends_join(TRID_R *e, const TRID_R *below)
{
    return TRID_F(trid_lane_ends_join)(e, below);
}
TRID_HD int trid_lane_ends_close(const TRID_R *e, TRID_R *a, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_lane_ends_close)(e, a, c, d);
}
TRID_HD int trid_lane_ends_factor(int n, int flags, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *u,
                                  TRID_R *v, long long stride, TRID_R *ends_a, TRID_R *ends_c, int *reach)
{
    return TRID_F(trid_lane_ends_factor)(n, flags, a, b, c, u, v, stride, ends_a, ends_c, reach);
}
TRID_HD int trid_lane_pcr_step(TRID_R *a, TRID_R *c, TRID_R *d, TRID_R up_a, TRID_R up_c, TRID_R up_d, TRID_R down_a,
                               TRID_R down_c, TRID_R down_d)
{
    return TRID_F(trid_lane_pcr_step)(a, c, d, up_a, up_c, up_d, down_a, down_c, down_d);
}
TRID_HD void trid_lane_residual(int K, int first, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                const TRID_R *d, const TRID_R *x, TRID_R left, TRID_R right, TRID_R *r, TRID_R *error,
                                TRID_R *size)
{
    TRID_F(trid_lane_residual)(K, first, n, a, b, c, d, x, left, right, r, error, size);
}
TRID_HD int trid_lane_pivoted_reduce(int K, int below, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *face,
                                     unsigned *flags)
{
    return TRID_F(trid_lane_pivoted_reduce)(K, below, a, b, c, d, face, flags);
}
TRID_HD int trid_lane_pivoted_combine(const TRID_R *first, const TRID_R *second, TRID_R *face, TRID_R *kept, int *side)
{
    return TRID_F(trid_lane_pivoted_combine)(first, second, face, kept, side);
}
TRID_HD int trid_lane_pivoted_root(const TRID_R *face, TRID_R *outer)
{
    return TRID_F(trid_lane_pivoted_root)(face, outer);
}
TRID_HD void trid_lane_pivoted_split(const TRID_R *kept, int side, const TRID_R *outer, TRID_R *last, TRID_R *first)
{
    TRID_F(trid_lane_pivoted_split)(kept, side, outer, last, first);
}
TRID_HD void trid_lane_pivoted_expand(int K, int below, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *d,
                                      unsigned flags, const TRID_R *outer)
{
    TRID_F(trid_lane_pivoted_expand)(K, below, a, b, c, d, flags, outer);
}
TRID_HD int trid_lane_lu(int K, TRID_R above, TRID_R *a, TRID_R *b, TRID_R *c)
{
    return TRID_F(trid_lane_lu)(K, above, a, b, c);
}
TRID_HD void trid_lane_chain_reduce(int K, int up, const TRID_R *m, const TRID_R *d, TRID_R *p, TRID_R *q)
{
    TRID_F(trid_lane_chain_reduce)(K, up, m, d, p, q);
}
TRID_HD void trid_lane_chain_expand(int K, int up, const TRID_R *m, TRID_R from, TRID_R *d)
{
    TRID_F(trid_lane_chain_expand)(K, up, m, from, d);
}
TRID_HD size_t trid_block_lu_bytes(TRID_R)
{
    return TRID_F(trid_block_lu_bytes)();
}
TRID_HD size_t trid_block_lines_lu_bytes(TRID_R, int L, int S)
{
    return TRID_F(trid_block_lines_lu_bytes)(L, S);
}
TRID_HD size_t trid_block_hybrid_bytes(TRID_R)
{
    return TRID_F(trid_block_hybrid_bytes)();
}
TRID_HD size_t trid_block_hybrid_refined_bytes(TRID_R)
{
    return TRID_F(trid_block_hybrid_refined_bytes)();
}
TRID_HD size_t trid_block_pivoted_bytes(TRID_R)
{
    return TRID_F(trid_block_pivoted_bytes)();
}
TRID_HD size_t trid_block_lines_bytes(TRID_R, int L, int S)
{
    return TRID_F(trid_block_lines_bytes)(L, S);
}
TRID_HD size_t trid_block_lines_solve_bytes(TRID_R, int L, int S)
{
    return TRID_F(trid_block_lines_solve_bytes)(L, S);
}
}
#endif
#if TRID_DEVICE_SCOPES
#ifdef __cplusplus
extern "C++" {
TRID_D int trid_warp_pcr1(int W, TRID_R a, TRID_R c, TRID_R *d)
{
    return TRID_F(trid_warp_pcr1)(W, a, c, d);
}
TRID_D int trid_warp_pcr1_shared(int W, TRID_R a, TRID_R c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_warp_pcr1_shared)(W, a, c, d, shared);
}
TRID_D int trid_warp_pcr2(int W, TRID_R *a, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_warp_pcr2)(W, a, c, d);
}
TRID_D int trid_warp_pcr2_shared(int W, TRID_R *a, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_warp_pcr2_shared)(W, a, c, d, shared);
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
TRID_D int trid_warp_hybrid_refined(int K, int W, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_warp_hybrid_refined)(K, W, n, a, b, c, d);
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
TRID_D void trid_warp_solve_refined(int K, int W, int n, int steps, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                    const TRID_R *f, TRID_R *d)
{
    TRID_F(trid_warp_solve_refined)(K, W, n, steps, a, b, c, f, d);
}
TRID_D void trid_warp_residual(int K, int W, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                               const TRID_R *x, TRID_R *r, TRID_R *error, TRID_R *size)
{
    TRID_F(trid_warp_residual)(K, W, n, a, b, c, d, x, r, error, size);
}
TRID_D void trid_warp_chain_down(int K, int W, int n, const TRID_R *m, TRID_R *d)
{
    TRID_F(trid_warp_chain_down)(K, W, n, m, d);
}
TRID_D void trid_warp_chain_up(int K, int W, int n, const TRID_R *m, TRID_R *d)
{
    TRID_F(trid_warp_chain_up)(K, W, n, m, d);
}
TRID_D int trid_warp_lu(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c)
{
    return TRID_F(trid_warp_lu)(K, W, n, a, b, c);
}
TRID_D void trid_warp_lu_solve(int K, int W, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u, TRID_R *d)
{
    TRID_F(trid_warp_lu_solve)(K, W, n, l, r, u, d);
}
TRID_D int trid_warp_lu_keep(int K, int W, TRID_R *l, TRID_R *u, TRID_R *keep, int *steps)
{
    return TRID_F(trid_warp_lu_keep)(K, W, l, u, keep, steps);
}
TRID_D void trid_warp_lu_solve_kept(int K, int W, int sides, int steps, const TRID_R *l, const TRID_R *r,
                                    const TRID_R *u, const TRID_R *keep, int stride, TRID_R *d)
{
    TRID_F(trid_warp_lu_solve_kept)(K, W, sides, steps, l, r, u, keep, stride, d);
}
TRID_D void trid_warp_lu_solve_transposed(int K, int W, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u,
                                          TRID_R *d)
{
    TRID_F(trid_warp_lu_solve_transposed)(K, W, n, l, r, u, d);
}
TRID_D int trid_block_lu(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *shared)
{
    return TRID_F(trid_block_lu)(K, n, a, b, c, shared);
}
TRID_D void trid_block_lu_solve(int K, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u, TRID_R *d,
                                TRID_R *shared)
{
    TRID_F(trid_block_lu_solve)(K, n, l, r, u, d, shared);
}
TRID_D void trid_block_lu_solve_transposed(int K, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u, TRID_R *d,
                                           TRID_R *shared)
{
    TRID_F(trid_block_lu_solve_transposed)(K, n, l, r, u, d, shared);
}
TRID_D int trid_block_lines_lu(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *shared)
{
    return TRID_F(trid_block_lines_lu)(K, L, S, n, a, b, c, shared);
}
TRID_D void trid_block_lines_lu_solve(int K, int L, int S, int n, const TRID_R *l, const TRID_R *r, const TRID_R *u,
                                      TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_block_lines_lu_solve)(K, L, S, n, l, r, u, d, shared);
}
TRID_D void trid_block_lines_lu_solve_transposed(int K, int L, int S, int n, const TRID_R *l, const TRID_R *r,
                                                 const TRID_R *u, TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_block_lines_lu_solve_transposed)(K, L, S, n, l, r, u, d, shared);
}
TRID_D int trid_warp_pivoted(int K, int W, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d)
{
    return TRID_F(trid_warp_pivoted)(K, W, n, a, b, c, d);
}
TRID_D int trid_block_hybrid(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_block_hybrid)(K, n, a, b, c, d, shared);
}
TRID_D int trid_block_hybrid_refined(int K, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *d,
                                     TRID_R *shared)
{
    return TRID_F(trid_block_hybrid_refined)(K, n, a, b, c, d, shared);
}
TRID_D void trid_block_residual(int K, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                const TRID_R *x, TRID_R *r, TRID_R *error, TRID_R *size, TRID_R *shared)
{
    TRID_F(trid_block_residual)(K, n, a, b, c, d, x, r, error, size, shared);
}
TRID_D int trid_block_pivoted(int K, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_block_pivoted)(K, n, a, b, c, d, shared);
}
TRID_D int trid_block_lines(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d, TRID_R *shared)
{
    return TRID_F(trid_block_lines)(K, L, S, n, a, b, c, d, shared);
}
TRID_D void trid_block_lines_unchecked(int K, int L, int S, int n, TRID_R *a, TRID_R *b, TRID_R *c, TRID_R *d,
                                       TRID_R *shared)
{
    TRID_F(trid_block_lines_unchecked)(K, L, S, n, a, b, c, d, shared);
}
TRID_D int trid_block_lines_factor(int K, int L, int S, int n, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                   TRID_R *f, int *steps, TRID_R *shared)
{
    return TRID_F(trid_block_lines_factor)(K, L, S, n, a, b, c, f, steps, shared);
}
TRID_D void trid_block_lines_solve(int K, int L, int S, int n, int steps, const TRID_R *f, TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_block_lines_solve)(K, L, S, n, steps, f, d, shared);
}
TRID_D void trid_block_lines_solve_stored(int K, int L, int S, int n, int steps, const TRID_R *f, const TRID_R *reduced,
                                          int stride, TRID_R *d, TRID_R *shared)
{
    TRID_F(trid_block_lines_solve_stored)(K, L, S, n, steps, f, reduced, stride, d, shared);
}
}
#endif
#endif
#if TRID_HOST_SCOPE
#ifdef __cplusplus
extern "C++" {
TRID_HOST int trid_host_thomas(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d, TRID_R *x,
                               TRID_R *work)
{
    return TRID_F(trid_host_thomas)(n, a, b, c, d, x, work);
}
TRID_HOST int trid_host_pcr(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d, TRID_R *x,
                            TRID_R *work)
{
    return TRID_F(trid_host_pcr)(n, a, b, c, d, x, work);
}
TRID_HOST int trid_host_hybrid(int n, int rows_per_lane, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                               const TRID_R *d, TRID_R *x, TRID_R *work)
{
    return TRID_F(trid_host_hybrid)(n, rows_per_lane, a, b, c, d, x, work);
}
TRID_HOST int trid_host_hybrid_refined(int n, int rows_per_lane, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                       const TRID_R *d, TRID_R *x, TRID_R *work)
{
    return TRID_F(trid_host_hybrid_refined)(n, rows_per_lane, a, b, c, d, x, work);
}
TRID_HOST int trid_host_pivoted(int n, int rows_per_lane, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                const TRID_R *d, TRID_R *x, TRID_R *work)
{
    return TRID_F(trid_host_pivoted)(n, rows_per_lane, a, b, c, d, x, work);
}
TRID_HOST size_t trid_host_pivoted_len(TRID_R, int n, int rows_per_lane)
{
    return TRID_F(trid_host_pivoted_len)(n, rows_per_lane);
}
TRID_HOST size_t trid_host_hybrid_len(TRID_R, int n, int rows_per_lane)
{
    return TRID_F(trid_host_hybrid_len)(n, rows_per_lane);
}
TRID_HOST size_t trid_host_hybrid_refined_len(TRID_R, int n, int rows_per_lane)
{
    return TRID_F(trid_host_hybrid_refined_len)(n, rows_per_lane);
}
TRID_HOST int trid_host_reduce_ends(int n, int flags, const TRID_R *a, const TRID_R *b, const TRID_R *c,
                                    const TRID_R *d, TRID_R *ends_a, TRID_R *ends_c, TRID_R *ends_d)
{
    return TRID_F(trid_host_reduce_ends)(n, flags, a, b, c, d, ends_a, ends_c, ends_d);
}
TRID_HOST int trid_host_expand_ends(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                    const TRID_R *ends, TRID_R *x, TRID_R *work)
{
    return TRID_F(trid_host_expand_ends)(n, a, b, c, d, ends, x, work);
}
TRID_HOST int trid_host_factor_ends(int n, int flags, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *u,
                                    TRID_R *v, TRID_R *ends_a, TRID_R *ends_c, int *reach)
{
    return TRID_F(trid_host_factor_ends)(n, flags, a, b, c, u, v, ends_a, ends_c, reach);
}
TRID_HOST void trid_host_weigh_ends(int n, const TRID_R *u, const TRID_R *v, const TRID_R *d, int first, int last,
                                    TRID_R *ends_d)
{
    TRID_F(trid_host_weigh_ends)(n, u, v, d, first, last, ends_d);
}
TRID_HOST int trid_host_lu(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, TRID_R *l, TRID_R *r, TRID_R *u)
{
    return TRID_F(trid_host_lu)(n, a, b, c, l, r, u);
}
TRID_HOST void trid_host_lu_solve(int n, const TRID_R *l, const TRID_R *r, const TRID_R *u, const TRID_R *d, TRID_R *x)
{
    TRID_F(trid_host_lu_solve)(n, l, r, u, d, x);
}
TRID_HOST void trid_host_lu_solve_transposed(int n, const TRID_R *l, const TRID_R *r, const TRID_R *u, const TRID_R *d,
                                             TRID_R *x)
{
    TRID_F(trid_host_lu_solve_transposed)(n, l, r, u, d, x);
}
TRID_HOST double trid_host_residual(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c, const TRID_R *d,
                                    const TRID_R *x)
{
    return TRID_F(trid_host_residual)(n, a, b, c, d, x);
}
TRID_HOST double trid_host_dominance(int n, const TRID_R *a, const TRID_R *b, const TRID_R *c)
{
    return TRID_F(trid_host_dominance)(n, a, b, c);
}
}
#endif
#endif

#undef TRID_R
#undef TRID_F
#endif /* TRID_P_REAL */
