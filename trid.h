/* trid.h - tridiagonal solvers that work in registers, for CUDA kernels and for plain C.

   MIT licence, see LICENSE. Copy this one file; it includes nothing of the kit.

   One warp solves one system of up to 256 rows; lane l holds rows 8l .. 8l+7 (examples/drop_in_plain.cu):

       __global__ void solve(int n, const float *a, const float *b, const float *c, const float *d, float *x)
       {
           float ra[8], rb[8], rc[8], rd[8];
           int first = 8 * (int)threadIdx.x;
           size_t at = (size_t)n * blockIdx.x + first;
           for (int j = 0; j < 8; j++)
               if (first + j < n) ra[j] = a[at + j], rb[j] = b[at + j], rc[j] = c[at + j], rd[j] = d[at + j];
           trid_warp_hybrid(8, 32, n, ra, rb, rc, rd);
           for (int j = 0; j < 8; j++)
               if (first + j < n) x[at + j] = rd[j];
       }

   A system is a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j = 0 .. n-1; a[0] and c[n-1] are not read.

   Where to begin:
     one system a thread                              trid_lane_thomas
     one system across lanes, a warp, a block         trid_warp_hybrid, trid_block_hybrid
     the same matrix for many right-hand sides        trid_lane_factor and _solve, trid_warp_factor and _solve
     a matrix that is only just dominant              the functions named refined
     a matrix that is not diagonally dominant         trid/pivoted.h
     on the host                                      trid_host_thomas
     transposed systems, linear recurrences           trid/lu.h: LU factors by scans
     interleaved systems across a block               trid/interleaved.h
     arrays of systems in device memory               trid/batch.h
     systems cut across GPUs or machines              trid/slabs.h

   In C the names that depend on the precision end in _f32 (float) or _f64 (double). In C++ they are overloaded. The
   overloads under "numbers", "lane" and "host" below also have names with the suffix, except trid_fnma and
   trid_lane_pad. trid_roundoff and trid_smallest have no parameter to choose an overload by: call them with the suffix.
   `lanes` is the number of lanes that share a system (2, 4, 8, 16 or 32), k is the number of rows that a lane holds,
   and w = log2 lanes. The list gives the cost for each lane, for k >= 2, in FMA + multiplications + reciprocals +
   shuffles. A shuffle of a double takes two instructions. In single precision each of the k reciprocals of
   trid_lane_reduce takes two more FMA.

     numbers
       trid_rcp              fast reciprocal                                      1 rcp (f64: and 3 FMA)
       trid_rcp_refined      fast reciprocal without the hardware's bias          f32: 2 FMA more
       trid_bad_pivot        tests whether a pivot is bad, given its reciprocal
       trid_finite           tests the bits for infinity and NaN
       trid_larger           the larger of two magnitudes; NaN exceeds all
       trid_abs, trid_fnma   |x|; x - a y, rounded once on the device
       trid_roundoff, trid_smallest              the unit roundoff; the least normal number
     lane (host and device: one thread, no communication)
       trid_lane_thomas      one system in a strided array                        3n FMA + 2n mul + n rcp
       trid_lane_factor      the matrix's part of Thomas, once                    n FMA + 2n mul + n rcp
       trid_lane_solve       then for each right-hand side                        2n FMA + n mul
       trid_lane_pad         pads with identity rows from row n on, and zeroes the couplings out of the system
       trid_lane_reduce      reduces a partition to its first and last row        (4k-6) FMA + (5k-3) mul + k rcp
       trid_lane_link        links a last row to the next partition's first       2 FMA + 4 mul + 1 rcp
       trid_lane_expand      all k unknowns from the interface unknowns           (2k-2) FMA
       trid_lane_pcr_step    one step of parallel cyclic reduction on one row     4 FMA + 5 mul + 1 rcp
       trid_lane_residual    d - A x of k rows, and how large it is               3k FMA
       trid_lane_status      the status that a lane returns for its rows
     warp (all 32 lanes call them; each group of `lanes` lanes solves a system)
       trid_warp_lane, trid_warp_rank                     this thread's lane; its number in its group
       trid_warp_pcr1        one row a lane                                       4w FMA + 5w mul + w rcp + 6w shfl
       trid_warp_pcr2        two rows a lane                                      pcr1 + 6 FMA + 5 mul + 1 rcp + 4 shfl
       trid_warp_pcr, trid_warp_pcr_open                  PCR over the first lanes of a group; PCR with both ends open
       trid_warp_hybrid      k rows a lane                (6k-6+4w) FMA + (5k+1+5w) mul + (k+1+w) rcp + (4+6w) shfl
       trid_warp_reduce, trid_warp_expand                 its first and last phase; the caller does the PCR in between
       trid_warp_factor      the matrix's part of the hybrid, once; finds how many PCR steps matter
       trid_warp_solve       then for each right-hand side      (4k-4+2s) FMA + (k+1) mul + (2+2s) shfl, s steps <= w
       trid_warp_residual    d - A x, and how large it is                         3k FMA + 2 shfl
       trid_warp_hybrid_refined  the hybrid with a step of refinement             factor + 2 solves + residual
       trid_warp_solve_refined   the same for each right-hand side                2 solves + residual
       trid_warp_status      a system's status from those of its lanes            w shfl
       trid_warp_uniform     tells the compiler that a number is the same in all lanes
     block (all threads call them)
       trid_block_thread, trid_block_threads              this thread's number in its block; how many threads it has
       trid_block_hybrid     one system across up to 32 warps                     hybrid + PCR over warps + 1 barrier
       trid_block_hybrid_part                                  the same across some warps of a block
       trid_block_residual   d - A x, and how large it is                         3k FMA + 2 shfl + 1 barrier
       trid_block_hybrid_refined  the hybrid with a step of refinement            2 hybrids + residual: 3 barriers
     host (C11; also the reference implementation)
       trid_host_thomas, trid_host_pcr, trid_host_hybrid, trid_host_hybrid_refined, trid_host_residual,
       trid_host_dominance
     sizes and messages
       trid_host_hybrid_len, trid_host_hybrid_refined_len, trid_status_string

   Common contract:
     Stability  No function of this header pivots. The dominance of a matrix is the least |b| / (|a| + |c|) of its rows;
                trid_host_dominance returns it. If it exceeds 1 by more than a few unit roundoffs, no pivot is bad
                (unless coefficients are close to the type's limits), and x is as accurate as the condition of the
                matrix allows. How well x solves the system depends on the order of elimination. The measure is the
                residual: the largest |A x - d|, divided by the largest |A| |x| + |d|. The Thomas algorithm
                (trid_lane_thomas, trid_lane_factor and _solve, trid_host_thomas) leaves a residual of a few unit
                roundoffs. The residual of PCR and of the hybrid, factored or not, grows as dominance approaches 1. For
                random systems whose couplings differ from row to row it follows
                    4 + 1 / (2 k^2.5 (dominance - 1))  unit roundoffs.
                This is a fit, not a bound. Few systems exceed it, and in our tests none by more than a factor of 3.5.
                Counted in unit roundoffs, no residual is much larger than the condition of the matrix. If all rows have
                the same coefficients, such as -1 2 -1, the residual is at most 40 unit roundoffs in our tests, and only
                a few for k >= 8, even at dominance 1 (docs/hybrid.md). The refined functions bring the residual back to
                a few roundoffs unless the dominance is too close to 1 (trid_warp_solve_refined says how close). They do
                not repair the error of x. A matrix that is not diagonally dominant can pass one order of elimination
                and fail another.
     Status     TRID_OK = 0: solved. TRID_BAD_ARGUMENT = -1. 1 + row: that row met a bad pivot, or a coupling that is
                not finite; x is unspecified. A pivot is bad if it or its reciprocal is zero or not finite. The
                functions test this on the bits, so -ffast-math does not matter. The row is one of the system's own,
                never padding. On the device each lane returns what it saw itself. The smallest positive status of a
                system's lanes names the row where the failure began. trid_warp_status returns it for a warp;
                examples/block_system.cu finds it for a block. trid_warp_pivoted, trid_block_pivoted and
                trid_host_pivoted return 1 for any bad pivot, because in their order of elimination no single row is at
                fault. In warp and block scope a status that the caller ignores costs nothing, except in
                trid_block_interleaved and trid_block_interleaved_factor.
     Unreported A pivot that is tiny but not bad is not reported. A matrix that is singular to within rounding has such
                a pivot, unless the pivot happens to round to zero. x can then be anything, with pivoting or without.
                The residual functions show how well x solves the system. NaN and inf in d alone are not failures: they
                spread through their own system and no further. Overflow of x is no failure either; it shows in x.
     Sizes      k and lanes are literals: functions are inlined, and loops unroll. Arrays stay in registers up to k = 32
                in single and 16 in double precision (refined: 20 and 10 in a warp; pivoted: 32 and 12; in a block: see
                "block scope"). The refined functions for warps and blocks need k <= 32; with pivoting k > 32 is a bad
                argument. n is any number of rows up to k*lanes (in a block, k*threads). If a warp or block function
                takes n, it pads with identity rows from n on, where x is 0. A literal n == k*lanes makes this free.
                n <= 0 is an empty system, except where a function says that it returns -1 for n < 0.
     Lanes      In warp scope all 32 lanes of the warp call the function, converged; groups without a system pass n = 0.
     Memory     The caller provides it. Nothing is allocated or printed, and no state is retained.

   Options, defined before the header is included:
     TRID_EXACT_RCP   makes trid_rcp on the device round as IEEE 754 requires. Without it the last digits differ from
                      the host's, and more pivots count as bad: in single precision those with absolute values above
                      1/FLT_MIN = 8.5e37 or below FLT_MIN; in double precision those below DBL_MIN, and some above
                      2^1022.

   The algorithms begin at the heading "lane" below, after qualifiers, lengths, layouts and lists of names. */

#ifndef TB_BODY
#ifndef TRID_H
#define TRID_H

#define TRID_VERSION 200 /* 100 * major + minor */

/* ---- qualifiers: the same lines in trid.h and transpose.h -------------------------------------------------------- */

#ifndef TB_QUALIFIERS
#define TB_QUALIFIERS

/* TB_DEVICE_SCOPES: whether there are warps. TB_HD: host and device; TB_D: device only; TB_HOST: host only. */
#if defined __CUDACC__ || defined SIMT_EMULATOR
#define TB_DEVICE_SCOPES 1
#else
#define TB_DEVICE_SCOPES 0
#endif
#ifdef __GNUC__
#define TB_HOST static inline __attribute__((unused))
#else
#define TB_HOST static inline
#endif
#if defined __CUDA_ARCH__
#define TB_HD static __host__ __device__ __forceinline__
#define TB_D static __device__ __forceinline__
#elif defined __CUDACC__ /* the host's pass: __forceinline__ would keep loops from being vectorised */
#define TB_HD __host__ __device__ TB_HOST
#define TB_D __device__ TB_HOST
#else
#define TB_HD TB_HOST
#define TB_D TB_HOST
#endif

#ifdef __CUDA_ARCH__ /* a bare pragma would cause a warning in the host's pass */
#define TB_UNROLL _Pragma("unroll")
#define TB_LOOP _Pragma("unroll 1") /* a loop that must not be unrolled: its body is long */
#else
#define TB_UNROLL
#define TB_LOOP
#endif

#define TB_FULL_WARP 0xffffffffu /* all lanes of a warp, for the shuffles */

#endif /* TB_QUALIFIERS */

/* The body (from the heading "lane" on) is C over tb_real, in plain names. tb_real has TB_BYTES bytes. C reads the body
   twice and appends the precision's suffix to the names in a list; outside the body the suffix is empty, so a plain
   name stands for itself. C++ reads it in two inline namespaces: plain names are overloads; a second list adds suffixed
   names. */
#define TB_JOIN_EXPANDED(name, suffix) name##suffix
#define TB_JOIN(name, suffix) TB_JOIN_EXPANDED(name, suffix)
#define TB_OF(name) TB_JOIN(name, TB_SUFFIX)
#define TB_SUFFIX

#ifdef __CUDACC_RTC__
#define TB_HOST_SCOPE 0
#else
#define TB_HOST_SCOPE 1
#include <math.h>
#include <stddef.h>
#include <string.h>
#endif

/* The values of a status, except 1 + row. */
enum { TRID_OK = 0, TRID_BAD_ARGUMENT = -1 };

/* Returns the text of a status. */
TB_HD const char *trid_status_string(int status)
{
    return status == TRID_OK ? "solved"
           : status > 0      ? "row status - 1 met a pivot without reciprocal; if pivoted, the matrix is singular"
                             : "bad argument: n < 0 (lane, host), n beyond the rows of the lanes, or bad rows_per_lane";
}

/* Lengths of the caller's arrays, in elements. */
#define TRID_WARP_FACTOR_LEN(k) (5 * (k) + 12) /* f of trid_warp_factor, for each lane */
enum {
    TRID_BLOCK_HYBRID_LEN = 192,  /* trid_block_hybrid, for the block */
    TRID_BLOCK_RESIDUAL_LEN = 64, /* trid_block_residual, for the block */
    TRID_BLOCK_HYBRID_REFINED_LEN = 2 * TRID_BLOCK_HYBRID_LEN + TRID_BLOCK_RESIDUAL_LEN,
    TRID_MOST_ROWS = 32 /* the most rows a lane may hold in functions with local arrays of rows: the length of these */
};

/* The layout of the factors f. First come five arrays of k numbers each, array i from f[i k] on, for the partition that
   the thread holds. */
enum {
    TRID_P_RECIPROCAL, /* the reciprocals of the pivots */
    TRID_P_ABOVE,      /* each row subtracts this number times the row above */
    TRID_P_BELOW,      /* and this number times the row below */
    TRID_P_LEFT,       /* each row's coupling to the last unknown of the previous partition */
    TRID_P_LAST,       /* its coupling to the partition's own last unknown; in the last row, to the next partition's
                          first */
    TRID_P_REDUCED     /* how many arrays there are */
};

/* From f[5 k] on come the numbers of the reduced row that the thread solves. In a warp that is the row of the thread's
   own partition; with interleaved systems it may be the row of another. */
enum {
    TRID_P_LINK,  /* the last row subtracts this number times the next partition's first row */
    TRID_P_SCALE, /* x is this number times the result of the PCR steps */
    TRID_P_STEP   /* from here on the couplings up and down, in PCR steps 0, 1, .. 4 */
};

/* One visit to a row during elimination. Rows 0 .. k-2 of a partition are visited from both ends to the middle, then
   from there back to the ends; row k-1 comes last. Elimination from both ends gives two recurrences of half the length,
   for the same number of operations. The first visit to a row divides it by its pivot (scale). A visit may eliminate
   x[j-1] with the row above (down) and x[j+1] with the row below (up). */
typedef struct {
    int row, scale, down, up;
} trid_p_visit;

/* Returns how many visits a partition of k rows takes. */
TB_HD int trid_p_visits(int k)
{
    return k > 1 ? 2 * k - 2 : 1;
}

/* Returns visit i of a partition of k rows. */
TB_HD trid_p_visit trid_p_visit_of(int k, int i)
{
    int mid = (k - 1) / 2, back = i - (k - 1);
    trid_p_visit v;
    if (i < mid) /* down to the middle */
        v.row = i, v.scale = 1, v.down = i > 0, v.up = 0;
    else if (i < k - 2) /* up to the middle */
        v.row = k - 2 - (i - mid), v.scale = 1, v.down = 0, v.up = i > mid;
    else if (i == k - 2) /* the middle, from both sides */
        v.row = mid, v.scale = 1, v.down = mid > 0, v.up = mid < k - 2;
    else if (back < mid && k > 1) /* back to row 0 */
        v.row = mid - 1 - back, v.scale = 0, v.down = 0, v.up = 1;
    else if (back < k - 2) /* back to row k-2 */
        v.row = back + 1, v.scale = 0, v.down = 1, v.up = 0;
    else /* the last row */
        v.row = k - 1, v.scale = 1, v.down = k > 1, v.up = 0;
    return v;
}

#if TB_DEVICE_SCOPES

/* Returns this thread's lane. */
TB_D int trid_warp_lane(void)
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

/* Returns this lane's number in its group of `lanes` lanes, a power of two. */
TB_D int trid_warp_rank(int lanes)
{
    return trid_warp_lane() & (lanes - 1);
}

/* Returns n, and tells the compiler that it is the same in all lanes. Otherwise, in a loop that runs n times, the
   compiler guards every shuffle against lanes that have left the loop.
   Lanes    all 32 of the warp, with the same n
   Cost     one warp reduction from compute capability 8.0 on; none below */
TB_D int trid_warp_uniform(int n)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(TB_FULL_WARP, n);
#else
    return n;
#endif
}

/* Returns a system's status from those of its lanes: the smallest positive status, which names the row where a failure
   began.
   Lanes    all 32 of the warp; each group of `lanes` lanes holds a system
   Returns  the same in all lanes of the group: 0, TRID_BAD_ARGUMENT, or 1 + the row
   Cost     w shuffles and comparisons */
TB_D int trid_warp_status(int lanes, int status)
{
    unsigned row = (unsigned)status - 1; /* the largest unsigned number if the lane saw no failure */
    TB_UNROLL
    for (int s = lanes / 2; s > 0; s /= 2) {
        unsigned other = __shfl_xor_sync(TB_FULL_WARP, row, s);
        row = other < row ? other : row;
    }
    return (int)(row + 1);
}

/* Returns n, and hides from the compiler that it has not changed. */
TB_D int trid_p_again(int n)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(n));
#endif
    return n;
}

/* Returns this thread's number in its block, counted along x, then y, then z. */
TB_D int trid_block_thread(void)
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/* Returns the number of threads in the block. */
TB_D int trid_block_threads(void)
{
    return (int)(blockDim.x * blockDim.y * blockDim.z);
}

#endif

#if TB_HOST_SCOPE
/* Returns how many elements of work trid_host_hybrid needs: 4*n, and 6 per partition; never more than 10*n. */
TB_HOST size_t trid_host_hybrid_len(int n, int rows_per_lane)
{
    if (n <= 0 || rows_per_lane < 1) return 0;
    return 4 * (size_t)n + 6 * (((size_t)n - 1) / (size_t)rows_per_lane + 1);
}

/* Returns the same for trid_host_hybrid_refined: 2*n more. */
TB_HOST size_t trid_host_hybrid_refined_len(int n, int rows_per_lane)
{
    size_t hybrid = trid_host_hybrid_len(n, rows_per_lane);
    return hybrid > 0 ? hybrid + 2 * (size_t)n : 0;
}

/* Return whether x is NaN, and whether it is infinite; both test its bits. */
TB_HOST int trid_p_nan(double x)
{
    unsigned long long u;
    memcpy(&u, &x, sizeof u);
    return u << 1 > 0xffe0000000000000u;
}
TB_HOST int trid_p_infinite(double x)
{
    unsigned long long u;
    memcpy(&u, &x, sizeof u);
    return u << 1 == 0xffe0000000000000u;
}
#endif

/* For the body's real type: how many elements shared memory serves at once, and the upper bits of infinity, with the
   sign shifted out to the left. */
#define TRID_BANKS (TB_BYTES == 4 ? 32 : 16)
#define TRID_P_INFINITE (TB_BYTES == 4 ? 0xff000000u : 0xffe00000u)

/* Returns the status of the lane that holds rows `first` .. `first + k - 1` of n, where all lanes together hold `full`
   rows. If a failure may have begun in another lane, the status names the system's last row. The smallest positive
   status of all lanes therefore names the row where the failure began.
   Needs    status: what trid_lane_reduce returned for these rows; bad: the bitwise OR of the verdicts (trid_p_verdict)
            of the later steps, which work on the last of these rows
   Returns  0; TRID_BAD_ARGUMENT for n > full; or 1 + a row of the system */
TB_HD int trid_lane_status(int first, int k, int n, int full, int status, int bad)
{
    int row = status ? first + status : bad & 1 ? first + k : bad ? full : 0;
    int rows = n > 0 ? n : 0;
    return n > full ? TRID_BAD_ARGUMENT : row > rows ? rows : row;
}

/* The suffixed names of functions that are the same in both precisions. */
#define trid_host_hybrid_len_f32 trid_host_hybrid_len
#define trid_host_hybrid_len_f64 trid_host_hybrid_len
#define trid_host_hybrid_refined_len_f32 trid_host_hybrid_refined_len
#define trid_host_hybrid_refined_len_f64 trid_host_hybrid_refined_len

#ifndef __cplusplus
#define trid_abs TB_OF(trid_abs)
#define trid_roundoff TB_OF(trid_roundoff)
#define trid_smallest TB_OF(trid_smallest)
#define trid_p_bits TB_OF(trid_p_bits)
#define trid_p_upper TB_OF(trid_p_upper)
#define trid_finite TB_OF(trid_finite)
#define trid_bad_pivot TB_OF(trid_bad_pivot)
#define trid_larger TB_OF(trid_larger)
#define trid_rcp TB_OF(trid_rcp)
#define trid_p_verdict TB_OF(trid_p_verdict)
#define trid_rcp_refined TB_OF(trid_rcp_refined)
#define trid_lane_thomas TB_OF(trid_lane_thomas)
#define trid_lane_factor TB_OF(trid_lane_factor)
#define trid_fnma TB_OF(trid_fnma)
#define trid_lane_solve TB_OF(trid_lane_solve)
#define trid_p_visit_matrix TB_OF(trid_p_visit_matrix)
#define trid_p_visit_right TB_OF(trid_p_visit_right)
#define trid_p_reduce TB_OF(trid_p_reduce)
#define trid_p_reduce_right TB_OF(trid_p_reduce_right)
#define trid_lane_reduce TB_OF(trid_lane_reduce)
#define trid_lane_link TB_OF(trid_lane_link)
#define trid_p_expand TB_OF(trid_p_expand)
#define trid_lane_expand TB_OF(trid_lane_expand)
#define trid_lane_pcr_step TB_OF(trid_lane_pcr_step)
#define trid_lane_residual TB_OF(trid_lane_residual)
#define trid_lane_pad TB_OF(trid_lane_pad)
#define trid_host_thomas TB_OF(trid_host_thomas)
#define trid_p_host_pcr TB_OF(trid_p_host_pcr)
#define trid_host_pcr TB_OF(trid_host_pcr)
#define trid_host_hybrid TB_OF(trid_host_hybrid)
#define trid_host_hybrid_refined TB_OF(trid_host_hybrid_refined)
#define trid_host_residual TB_OF(trid_host_residual)
#define trid_host_dominance TB_OF(trid_host_dominance)
#else
#define trid_abs_f32 tb_f32::trid_abs
#define trid_abs_f64 tb_f64::trid_abs
#define trid_roundoff_f32 tb_f32::trid_roundoff
#define trid_roundoff_f64 tb_f64::trid_roundoff
#define trid_smallest_f32 tb_f32::trid_smallest
#define trid_smallest_f64 tb_f64::trid_smallest
#define trid_finite_f32 tb_f32::trid_finite
#define trid_finite_f64 tb_f64::trid_finite
#define trid_larger_f32 tb_f32::trid_larger
#define trid_larger_f64 tb_f64::trid_larger
#define trid_rcp_f32 tb_f32::trid_rcp
#define trid_rcp_f64 tb_f64::trid_rcp
#define trid_lane_thomas_f32 tb_f32::trid_lane_thomas
#define trid_lane_thomas_f64 tb_f64::trid_lane_thomas
#define trid_lane_factor_f32 tb_f32::trid_lane_factor
#define trid_lane_factor_f64 tb_f64::trid_lane_factor
#define trid_lane_solve_f32 tb_f32::trid_lane_solve
#define trid_lane_solve_f64 tb_f64::trid_lane_solve
#define trid_lane_reduce_f32 tb_f32::trid_lane_reduce
#define trid_lane_reduce_f64 tb_f64::trid_lane_reduce
#define trid_lane_link_f32 tb_f32::trid_lane_link
#define trid_lane_link_f64 tb_f64::trid_lane_link
#define trid_lane_expand_f32 tb_f32::trid_lane_expand
#define trid_lane_expand_f64 tb_f64::trid_lane_expand
#define trid_lane_pcr_step_f32 tb_f32::trid_lane_pcr_step
#define trid_lane_pcr_step_f64 tb_f64::trid_lane_pcr_step
#define trid_lane_residual_f32 tb_f32::trid_lane_residual
#define trid_lane_residual_f64 tb_f64::trid_lane_residual
#define trid_host_thomas_f32 tb_f32::trid_host_thomas
#define trid_host_thomas_f64 tb_f64::trid_host_thomas
#define trid_host_pcr_f32 tb_f32::trid_host_pcr
#define trid_host_pcr_f64 tb_f64::trid_host_pcr
#define trid_host_hybrid_f32 tb_f32::trid_host_hybrid
#define trid_host_hybrid_f64 tb_f64::trid_host_hybrid
#define trid_host_hybrid_refined_f32 tb_f32::trid_host_hybrid_refined
#define trid_host_hybrid_refined_f64 tb_f64::trid_host_hybrid_refined
#define trid_host_residual_f32 tb_f32::trid_host_residual
#define trid_host_residual_f64 tb_f64::trid_host_residual
#define trid_host_dominance_f32 tb_f32::trid_host_dominance
#define trid_host_dominance_f64 tb_f64::trid_host_dominance
#define trid_bad_pivot_f32 tb_f32::trid_bad_pivot
#define trid_bad_pivot_f64 tb_f64::trid_bad_pivot
#define trid_rcp_refined_f32 tb_f32::trid_rcp_refined
#define trid_rcp_refined_f64 tb_f64::trid_rcp_refined
#endif

#define TB_BODY "trid.h"
#ifdef __cplusplus
extern "C++" {
inline namespace tb_f32
{
#endif
#undef TB_SUFFIX
#define TB_SUFFIX _f32
#define tb_real float
#define TB_BYTES 4
#include TB_BODY
#undef tb_real
#undef TB_BYTES
#ifdef __cplusplus
}
inline namespace tb_f64
{
#endif
#undef TB_SUFFIX
#define TB_SUFFIX _f64
#define tb_real double
#define TB_BYTES 8
#include TB_BODY
#undef tb_real
#undef TB_BYTES
#undef TB_SUFFIX
#define TB_SUFFIX
#ifdef __cplusplus
}
}
#endif
#undef TB_BODY

#endif /* TRID_H */
#else /* TB_BODY: C over tb_real */

/* ---- lane: one thread, host and device --------------------------------------------------------------------------- */

/* The bits of a number. */
#if TB_BYTES == 4
typedef unsigned trid_p_bits;
#else
typedef unsigned long long trid_p_bits;
#endif

/* Returns |x|. */
TB_HD tb_real trid_abs(tb_real x)
{
#if TB_BYTES == 4
    return fabsf(x);
#else
    return fabs(x);
#endif
}

/* Returns the unit roundoff, 2^-24 or 2^-53. */
TB_HD tb_real trid_roundoff(void)
{
    return (tb_real)(TB_BYTES == 4 ? 5.9604644775390625e-8 : 1.1102230246251565404e-16);
}

/* Returns the least normal number. */
TB_HD tb_real trid_smallest(void)
{
    return (tb_real)(TB_BYTES == 4 ? 1.17549435e-38 : 2.2250738585072014e-308);
}

/* Returns the bits that hold the sign and the exponent: all of a float, the upper half of a double. */
TB_HD unsigned trid_p_upper(tb_real x)
{
#if TB_BYTES == 8 && defined __CUDA_ARCH__
    return (unsigned)__double2hiint(x); /* the code below would shift all 64 bits */
#else
    trid_p_bits u;
    memcpy(&u, &x, sizeof u);
    return (unsigned)(u >> (8 * sizeof u - 32));
#endif
}

/* Returns whether x is finite; tests its bits, so that -ffast-math does not matter. */
TB_HD int trid_finite(tb_real x)
{
    return trid_p_upper(x) << 1 < TRID_P_INFINITE;
}

/* Returns whether r, the reciprocal of a pivot, is zero, infinite or NaN. This also tests the pivot: a pivot of 0 has
   the reciprocal inf or NaN, and a pivot of inf has 0 or NaN. (The lower half of a double does not matter, because the
   reciprocal of a finite number is 0 or at least 2^-1024 in absolute value.) */
TB_HD int trid_bad_pivot(tb_real r)
{
    return (trid_p_upper(r) << 1) - 1 >= TRID_P_INFINITE - 1;
}

/* Returns |x| or |y|, whichever is larger. NaN exceeds every number, so the largest of many numbers hides no NaN. */
TB_HD tb_real trid_larger(tb_real x, tb_real y)
{
    trid_p_bits u, v;
    memcpy(&u, &x, sizeof u);
    memcpy(&v, &y, sizeof v);
    return u << 1 >= v << 1 ? trid_abs(x) : trid_abs(y);
}

/* Returns 1/x. In double precision 1/x = y (1 + e + e^2 + ...), where y is an approximation of 1/x and e = 1 - x y.
   Since e is about 2^-20, e^2 is the last term that matters.
   Error    at most 1 ulp on the device (docs/reciprocal.md). In single precision 0 and subnormals give inf of the same
            sign, inf gives 0, NaN gives NaN, |x| > 1/FLT_MIN gives 0 of the same sign. In double precision 0, inf, NaN
            and subnormals give NaN; |x| > 2^1022 gives 0 or a subnormal. On the host, or with TRID_EXACT_RCP, the
            result is the quotient 1/x of IEEE 754.
   Cost     1 reciprocal of the special-function unit; in double precision 3 FMA more */
TB_HD tb_real trid_rcp(tb_real x)
{
#if defined SIMT_RECIPROCAL && !defined TRID_EXACT_RCP /* the emulator's stand-in for the unit */
    return SIMT_RECIPROCAL(x);
#elif !defined __CUDA_ARCH__
    return 1 / x;
#elif defined TRID_EXACT_RCP
    return TB_BYTES == 4 ? (tb_real)__frcp_rn((float)x) : (tb_real)__drcp_rn(x);
#elif TB_BYTES == 4
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    double e = fma(-x, y, 1.0);
    e = fma(e, e, e);
    return fma(e, y, y);
#endif
}

/* Returns the verdict of a step on its pivot, whose reciprocal is r: 0 if it is good, 1 if it is finite but has no
   reciprocal, 2 if it is not finite. After the first elimination a 2 may stem from a failure elsewhere. Callers combine
   the verdicts of all steps by bitwise OR; bit 0 then means that a failure began here. */
TB_HD int trid_p_verdict(tb_real pivot, tb_real r)
{
    return !trid_bad_pivot(r) ? 0 : trid_finite(pivot) ? 1 : 2;
}

/* Returns 1/x without the bias of the special-function unit: in single precision one Newton step removes it. The bias
   is a constant error, which would accumulate where one matrix serves many right-hand sides in sequence. */
TB_HD tb_real trid_rcp_refined(tb_real x)
{
    tb_real r = trid_rcp(x);
#if (defined __CUDA_ARCH__ || defined SIMT_RECIPROCAL) && !defined TRID_EXACT_RCP
    if (sizeof(tb_real) == 4) r += r * (1 - x * r);
#endif
    return r;
}

/* Solves a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j] by the Thomas algorithm; element j of each array is at
   [j * stride].
   Needs    n elements in each array, including work; a[0] and c[n-1] are not read; x may alias d
   Leaves   x, and in work the c of the eliminated rows
   Returns  0; -1 for n < 0; or 1 + the first row with a bad pivot: from that row on x and work are not written
   Cost     3n FMA + 2n mul + n rcp */
TB_HD int trid_lane_thomas(int n, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d, tb_real *x,
                           tb_real *work, long long stride)
{
    if (n < 0) return TRID_BAD_ARGUMENT;
    tb_real above_c = 0, above_d = 0;
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        tb_real aj = j > 0 ? a[i] : 0;
        tb_real pivot = b[i] - aj * above_c;
        tb_real r = trid_rcp(pivot);
        if (trid_bad_pivot(r)) return 1 + j;
        work[i] = above_c = j < n - 1 ? r * c[i] : 0;
        x[i] = above_d = r * (d[i] - aj * above_d);
    }
    for (int j = n - 2; j >= 0; j--) x[j * stride] -= work[j * stride] * x[(j + 1) * stride];
    return 0;
}

/* Factors a matrix for trid_lane_solve: computes what the Thomas algorithm needs of the matrix alone.
   Needs    as trid_lane_thomas; l may alias a, r may alias b, q may alias c
   Leaves   l[j] = a[j] / pivot[j], r[j] = 1 / pivot[j], q[j] = c[j] / pivot[j]; l[0] and q[n-1] are not written. Each
            row is divided only by its own pivot, so the scale of its neighbours does not matter.
   Returns  0; -1 for n < 0; or 1 + the first row with a bad pivot
   Cost     n FMA + 2n mul + n rcp */
TB_HD int trid_lane_factor(int n, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *l, tb_real *r,
                           tb_real *q, long long stride)
{
    if (n < 0) return TRID_BAD_ARGUMENT;
    tb_real above = 0;
    TB_UNROLL
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        tb_real pivot = b[i];
        if (j > 0) pivot -= a[i] * above;
        tb_real rj = trid_rcp(pivot);
        if (trid_bad_pivot(rj)) return 1 + j;
        if (j > 0) l[i] = a[i] * rj;
        r[i] = rj;
        if (j < n - 1) q[i] = above = c[i] * rj;
    }
    return 0;
}

/* Returns x - a y, rounded once on the device. If x is itself a product, the compiler would otherwise fuse that
   product, and lengthen the recurrence through y by a multiplication. */
TB_HD tb_real trid_fnma(tb_real x, tb_real a, tb_real y)
{
#ifdef __CUDA_ARCH__
    return fma(-a, y, x);
#else
    return x - a * y;
#endif
}

/* Solves the system that trid_lane_factor factored, for one right-hand side.
   Needs    l, r, q from trid_lane_factor, the same n and stride; x may alias d
   Cost     2n FMA + n mul, no reciprocal; the recurrence takes one FMA a row in each direction */
TB_HD void trid_lane_solve(int n, const tb_real *l, const tb_real *r, const tb_real *q, const tb_real *d, tb_real *x,
                           long long stride)
{
    tb_real y = 0;
    TB_UNROLL
    for (int j = 0; j < n; j++) {
        long long i = j * stride;
        tb_real scaled = r[i] * d[i]; /* outside the recurrence */
        x[i] = y = j > 0 ? trid_fnma(scaled, l[i], y) : scaled;
    }
    TB_UNROLL
    for (int j = n - 2; j >= 0; j--) {
        long long i = j * stride;
        x[i] = y = x[i] - q[i] * y;
    }
}

/* Applies a visit (trid_p_visit) to the matrix. Leaves three factors in m: m[0] scales the row; then m[1] times
   the row above (if v.down) and m[2] times the row below (if v.up) are subtracted from it. Returns 0, or 1 + the row if
   its pivot is bad. */
TB_HD int trid_p_visit_matrix(trid_p_visit v, tb_real *a, const tb_real *b, tb_real *c, tb_real *m)
{
    int j = v.row, bad = 0;
    m[0] = 1, m[1] = a[j], m[2] = c[j];
    if (v.scale) {
        tb_real pivot = b[j];
        if (v.down) pivot -= a[j] * c[j - 1];
        if (v.up) pivot -= c[j] * a[j + 1];
        m[0] = trid_rcp_refined(pivot);
        m[1] *= m[0];
        m[2] *= m[0];
        bad = trid_bad_pivot(m[0]);
    }
    a[j] = v.down ? -m[1] * a[j - 1] : m[1];
    c[j] = v.up ? -m[2] * c[j + 1] : m[2];
    /* On the way back the neighbour already has its final couplings; one of them adds to the row's own. */
    if (v.down && !v.scale) c[j] -= m[1] * c[j - 1];
    if (v.up && !v.scale) a[j] -= m[2] * a[j + 1];
    return bad ? 1 + j : 0;
}

/* Applies a visit to the right-hand side, with trid_fnma if the literal `chained` is not 0. */
TB_HD void trid_p_visit_right(trid_p_visit v, int chained, tb_real scale, tb_real above, tb_real below, tb_real *d)
{
    tb_real right = v.scale ? scale * d[v.row] : d[v.row];
    if (v.down) right = chained ? trid_fnma(right, above, d[v.row - 1]) : right - above * d[v.row - 1];
    if (v.up) right = chained ? trid_fnma(right, below, d[v.row + 1]) : right - below * d[v.row + 1];
    d[v.row] = right;
}

/* Reduces a partition. A solve passes d. A factorisation passes `keep`, which receives the numbers that
   trid_p_reduce_right needs: the first three arrays of f. Only the first `rows` rows need exist, because identity rows
   that would pad the partition have no couplings, and their right-hand sides are zero. */
TB_HD int trid_p_reduce(int k, int rows, tb_real *a, const tb_real *b, tb_real *c, tb_real *d, tb_real *keep)
{
    int status = 0;
    TB_UNROLL
    for (int i = 0; i < trid_p_visits(k); i++) {
        trid_p_visit v = trid_p_visit_of(k, i);
        tb_real m[3];
        if (rows < k && v.row >= rows) continue;
        if (rows < k && v.row == rows - 1) v.up = 0;
        int bad = trid_p_visit_matrix(v, a, b, c, m);
        if (!status) status = bad;
        if (d) trid_p_visit_right(v, 0, m[0], m[1], m[2], d);
        if (keep) {
            if (v.scale) keep[TRID_P_RECIPROCAL * k + v.row] = m[0];
            if (v.down) keep[TRID_P_ABOVE * k + v.row] = m[1];
            if (v.up) keep[TRID_P_BELOW * k + v.row] = m[2];
        }
    }
    /* An infinite or NaN coupling out of the partition enters no pivot here, but ruins pivots of other partitions. */
    if (!status && !trid_finite(c[rows - 1])) status = rows;
    if (!status && !trid_finite(a[rows - 1])) status = 1;
    return status;
}

/* Reduces only a right-hand side, with the numbers that trid_p_reduce stored: element e is at keep[e stride]. Chained
   visits are 3 % faster in double precision, and up to 12 % slower in single (bs1d_implicit3 and 4; docs/bs1d.md). */
TB_HD void trid_p_reduce_right(int k, const tb_real *keep, int stride, tb_real *d)
{
    TB_UNROLL
    for (int i = 0; i < trid_p_visits(k); i++) {
        trid_p_visit v = trid_p_visit_of(k, i);
        trid_p_visit_right(v, sizeof(tb_real) == 8, v.scale ? keep[(TRID_P_RECIPROCAL * k + v.row) * stride] : 1,
                           v.down ? keep[(TRID_P_ABOVE * k + v.row) * stride] : 0,
                           v.up ? keep[(TRID_P_BELOW * k + v.row) * stride] : 0, d);
    }
}

/* Reduces k rows, a partition of a longer system, to two. Before, with l = x[-1] above the rows and y = x[k] below:
                a[0]   b[0]   c[0]                        l      d[0]
                       a[1]   b[1]   c[1]                 x[0]   d[1]
                              ...                         ...  = ...
                              a[k-1]  b[k-1]  c[k-1]      y      d[k-1]
   After, with new a, c, d:
                a[j] l + x[j] + c[j] x[k-1] = d[j]        j = 0 .. k-2
                a[k-1] l + x[k-1] + c[k-1] y = d[k-1]
   The neighbours need only the first and the last row. trid_lane_link combines each last row with the next partition's
   first, which leaves one row per partition.
   Needs    k >= 1 (a literal if the arrays must stay in registers); a[0] = 0 in the system's first partition,
            c[k-1] = 0 in its last
   Leaves   a, c, d as above; b as it was
   Returns  0, or 1 + a row of the partition that met a bad pivot, or whose coupling out of the partition is not finite
   Cost     (4k-6) FMA + (5k-3) mul + k rcp */
TB_HD int trid_lane_reduce(int k, tb_real *a, const tb_real *b, tb_real *c, tb_real *d)
{
    return trid_p_reduce(k, k, a, b, c, d, (tb_real *)0);
}

/* Eliminates x[k], the next partition's first unknown, from a partition's last row
                *a x[-1] + x[k-1] + *c x[k] = *d
   with the next partition's first row (first_a, first_c, first_d). Then *a and *c couple x[k-1] to the last unknowns of
   the previous and of the next partition, and the last rows of all partitions form a tridiagonal system of their own.
   Needs    partitions of two rows or more (those of one row are linked already); zeros for the first row if no
            partition follows
   Returns  0; 1 for a pivot without reciprocal; 2 for one that is not finite, perhaps from a failure in the next
            partition
   Cost     2 FMA + 4 mul + 1 rcp */
TB_HD int trid_lane_link(tb_real *a, tb_real *c, tb_real *d, tb_real first_a, tb_real first_c, tb_real first_d)
{
    tb_real pivot = 1 - *c * first_a;
    tb_real r = trid_rcp(pivot);
    *d = r * (*d - *c * first_d);
    *a = r * *a;
    *c = -(r * *c) * first_c;
    return trid_p_verdict(pivot, r);
}

/* Does what trid_lane_expand does, with the couplings of row j at a[j stride] and c[j stride]. */
TB_HD void trid_p_expand(int k, const tb_real *a, const tb_real *c, int stride, tb_real *d, tb_real left, tb_real last)
{
    TB_UNROLL
    for (int j = 0; j < k - 1; j++) d[j] = d[j] - a[j * stride] * left - c[j * stride] * last;
    d[k - 1] = last;
}

/* Computes the k unknowns of a partition from left = x[-1] and last = x[k-1].
   Needs    a, c, d as trid_lane_reduce left them
   Leaves   x in d
   Cost     (2k-2) FMA */
TB_HD void trid_lane_expand(int k, const tb_real *a, const tb_real *c, tb_real *d, tb_real left, tb_real last)
{
    trid_p_expand(k, a, c, 1, d, left, last);
}

/* Does one step of parallel cyclic reduction on one row. From *a x[j-s] + x[j] + *c x[j+s] = *d and the rows j-s (up)
   and j+s (down), which also have unit diagonals, it forms the row that couples x[j] to x[j-2s] and x[j+2s]. A
   substitute row, up = (-1, 0, 0) or down = (0, -1, 0), leaves the upper or the lower end open: row j stays coupled to
   the unknown beyond that end.
   Needs    zeros for a row that does not exist
   Returns  0; 1 for a pivot without reciprocal; 2 for one that is not finite, perhaps from a failure in another row
   Cost     4 FMA + 5 mul + 1 rcp */
TB_HD int trid_lane_pcr_step(tb_real *a, tb_real *c, tb_real *d, tb_real up_a, tb_real up_c, tb_real up_d,
                             tb_real down_a, tb_real down_c, tb_real down_d)
{
    tb_real pivot = 1 - *a * up_c - *c * down_a;
    tb_real r = trid_rcp(pivot);
    *d = r * (*d - *a * up_d - *c * down_d);
    *a = -(r * *a) * up_a;
    *c = -(r * *c) * down_c;
    return trid_p_verdict(pivot, r);
}

/* Computes the residual of rows `first` .. `first + k - 1` of a system of n, and how large it is:
                r[j] = d[j] - a[j] x[j-1] - b[j] x[j] - c[j] x[j+1],    left = x[-1], right = x[k]
   Needs    arrays of k elements; the a of row 0, the c of row n-1 and the rows from n on do not count; r may alias d
   Leaves   r, 0 in rows from n on; *error, the largest |r| of the rows, and *size, the largest |A| |x| + |d|, both 0 if
            no row exists (either pointer may be null). The largest error of all lanes, divided by the largest size, is
            the residual that trid_host_residual returns, in working precision. If the size is 0 or overflows, the
            quotient says nothing.
   Cost     3k FMA; error and size together about 8k operations more */
TB_HD void trid_lane_residual(int k, int first, int n, const tb_real *a, const tb_real *b, const tb_real *c,
                              const tb_real *d, const tb_real *x, tb_real left, tb_real right, tb_real *r,
                              tb_real *error, tb_real *size)
{
    tb_real largest = 0, magnitude = 0;
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        tb_real above = j > 0 ? x[j - 1] : left, below = j < k - 1 ? x[j + 1] : right;
        int exists = first + j < n;
        int has_above = j > 0 || first > 0;
        int has_below = first + j + 1 < n;
        tb_real rest = d[j] - b[j] * x[j];
        if (has_above) rest -= a[j] * above;
        if (has_below) rest -= c[j] * below;
        if (size && exists) {
            tb_real sum = trid_abs(d[j]) + trid_abs(b[j] * x[j]);
            if (has_above) sum += trid_abs(a[j] * above);
            if (has_below) sum += trid_abs(c[j] * below);
            magnitude = trid_larger(magnitude, sum);
        }
        r[j] = exists ? rest : 0;
        if (error) largest = trid_larger(largest, r[j]);
    }
    if (error) *error = largest;
    if (size) *size = magnitude;
}

/* Pads rows `first` .. `first + k - 1` of a system of n with identity rows from n on, and zeroes the couplings out of
   the system. All lanes together hold `full` rows.
   Needs    arrays of k elements; d may be null */
TB_HD void trid_lane_pad(int k, int first, int n, int full, tb_real *a, tb_real *b, tb_real *c, tb_real *d)
{
    if (first == 0) a[0] = 0;
    if (n >= full) {
        if (first == full - k) c[k - 1] = 0;
    } else {
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            if (first + j >= n) {
                a[j] = 0;
                b[j] = 1;
                if (d) d[j] = 0;
            }
            if (first + j + 1 >= n) c[j] = 0;
        }
    }
}

/* ---- warp and block ---------------------------------------------------------------------------------------------- */

#if TB_DEVICE_SCOPES

/* Fetches the rows of the lanes s above and s below. In place of a lane outside the group, the calling lane gets its
   own row: the coupling to a lane outside is 0, but 0 times a NaN of another system would be NaN. */
TB_D void trid_p_neighbours(int lanes, int s, tb_real a, tb_real c, tb_real d, tb_real *up, tb_real *down)
{
    up[0] = __shfl_up_sync(TB_FULL_WARP, a, s, lanes);
    up[1] = __shfl_up_sync(TB_FULL_WARP, c, s, lanes);
    up[2] = __shfl_up_sync(TB_FULL_WARP, d, s, lanes);
    down[0] = __shfl_down_sync(TB_FULL_WARP, a, s, lanes);
    down[1] = __shfl_down_sync(TB_FULL_WARP, c, s, lanes);
    down[2] = __shfl_down_sync(TB_FULL_WARP, d, s, lanes);
}

/* Solves by PCR over the first `count` lanes of each group, with one row a lane as in trid_warp_pcr1.
   Needs    `count`: the same in all lanes; the couplings out of the first `count` lanes are 0; the lanes beyond hold
            identity rows and a finite *d
   Lanes    all 32 of the warp
   Leaves   x in *d
   Returns  the bitwise OR of the verdicts (trid_p_verdict) of the lane's steps */
TB_D int trid_warp_pcr(int lanes, int count, tb_real a, tb_real c, tb_real *d)
{
    int status = 0;
    TB_UNROLL
    for (int s = 1; s < lanes; s *= 2) {
        if (s >= count) break;
        tb_real up[3], down[3];
        trid_p_neighbours(lanes, s, a, c, *d, up, down);
        status |= trid_lane_pcr_step(&a, &c, d, up[0], up[1], up[2], down[0], down[1], down[2]);
    }
    return status;
}

/* Zeroes the couplings out of the system: lane 0 has no row above, lane lanes-1 none below. */
TB_D void trid_p_corners(int lanes, tb_real *a, tb_real *c)
{
    int rank = trid_warp_rank(lanes);
    if (rank == 0) *a = 0;
    if (rank == lanes - 1) *c = 0;
}

/* Solves a x[l-1] + x[l] + c x[l+1] = *d by PCR. Lane l of a group holds row l: the numbers a, c and *d.
   Needs    a = c = 0 and a finite *d in each lane without a row; c = 0 in the last row if such lanes follow. The `a` of
            a group's lane 0 and the `c` of its last lane do not count.
   Lanes    all 32 of the warp
   Leaves   x in *d
   Returns  0; 1 + the row if this lane met a pivot without reciprocal; `lanes` if it met one that is not finite (NaN or
            inf among a lane's couplings spreads to its neighbours' pivots)
   Cost     4w FMA + 5w mul + w rcp + 6w shuffles
   Error    as trid_warp_hybrid with k = 1 */
TB_D int trid_warp_pcr1(int lanes, tb_real a, tb_real c, tb_real *d)
{
    trid_p_corners(lanes, &a, &c);
    int bad = trid_warp_pcr(lanes, lanes, a, c, d);
    return trid_lane_status(trid_warp_rank(lanes), 1, lanes, lanes, 0, bad);
}

/* Solves a[i] x[2l+i-1] + x[2l+i] + c[i] x[2l+i+1] = d[i], i = 0 and 1, by one reduction and PCR on the odd rows. Lane
   l of a group holds rows 2l and 2l+1.
   Needs    a[i] = c[i] = 0 and a finite d[i] for each row that does not exist; c = 0 in the last row if such rows
            follow. The a[0] of a group's lane 0 and the c[1] of its last lane do not count.
   Lanes    all 32 of the warp
   Leaves   x in d; a and c clobbered
   Returns  as trid_warp_pcr1: 0, 1 + this lane's second row, or 2*lanes
   Cost     (4w+6) FMA + (5w+5) mul + (w+1) rcp + (6w+4) shuffles */
TB_D int trid_warp_pcr2(int lanes, tb_real *a, tb_real *c, tb_real *d)
{
    tb_real up[3], down[3];
    trid_p_corners(lanes, &a[0], &c[1]);
    /* The odd rows eliminate their even neighbours: their own lane's above, the next lane's below. */
    trid_p_neighbours(lanes, 1, a[0], c[0], d[0], up, down);
    int status = trid_lane_pcr_step(&a[1], &c[1], &d[1], a[0], c[0], d[0], down[0], down[1], down[2]);
    status |= trid_warp_pcr(lanes, lanes, a[1], c[1], &d[1]);
    tb_real left = __shfl_up_sync(TB_FULL_WARP, d[1], 1, lanes);
    d[0] = d[0] - a[0] * left - c[0] * d[1];
    return trid_lane_status(2 * trid_warp_rank(lanes), 2, 2 * lanes, 2 * lanes, 0, status);
}

/* Reduces the k rows of each lane to one: the first phase of the hybrid. Row k*l + j of the system is a[j], b[j], c[j],
   d[j] of lane l. Afterwards the last rows of the lanes form a tridiagonal system with unit diagonal, in the unknowns
   x[k-1]: a[k-1], c[k-1], d[k-1]. The caller solves it, with trid_warp_pcr1 for example, and trid_warp_expand does the
   rest.
   Needs    k >= 1 and lanes as literals; n <= k*lanes
   Lanes    all 32 of the warp
   Leaves   a, c, d as trid_warp_expand needs them; b clobbered
   Returns  as trid_warp_hybrid, for the failures met so far
   Cost     (4k-4) FMA + (5k+1) mul + (k+1) rcp + 3 shuffles */
TB_D int trid_warp_reduce(int k, int lanes, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d)
{
    int first = k * trid_warp_rank(lanes);
    trid_lane_pad(k, first, n, k * lanes, a, b, c, d);
    int status = trid_lane_reduce(k, a, b, c, d), bad = 0;
    if (k > 1) {
        tb_real first_a = __shfl_down_sync(TB_FULL_WARP, a[0], 1, lanes);
        tb_real first_c = __shfl_down_sync(TB_FULL_WARP, c[0], 1, lanes);
        tb_real first_d = __shfl_down_sync(TB_FULL_WARP, d[0], 1, lanes);
        bad = trid_lane_link(&a[k - 1], &c[k - 1], &d[k - 1], first_a, first_c, first_d);
    }
    return trid_lane_status(first, k, n, k * lanes, status, bad);
}

/* Computes all unknowns from x = x[k-1] of each lane: the last phase of the hybrid.
   Needs    a, c, d as trid_warp_reduce left them
   Lanes    all 32 of the warp
   Leaves   x in d
   Cost     (2k-2) FMA + 1 shuffle */
TB_D void trid_warp_expand(int k, int lanes, const tb_real *a, const tb_real *c, tb_real *d, tb_real x)
{
    tb_real left = __shfl_up_sync(TB_FULL_WARP, x, 1, lanes);
    trid_lane_expand(k, a, c, d, left, x);
}

/* Solves a system of n <= k*lanes rows by the hybrid, with row k*l + j in a[j], b[j], c[j], d[j] of lane l of its
   group:
                lane 0               lane 1                     lane lanes-1
                rows 0 .. k-1        rows k .. 2k-1     ...     rows (lanes-1)*k .. lanes*k-1
   Needs    k >= 1 and lanes as literals; the a of row 0, the c of row n-1 and the rows from n on are not read
   Lanes    all 32 of the warp; groups may have different n
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  0; -1 if n > k*lanes; or 1 + a row of the system: a row of this lane that met a bad pivot or, if the failure
            may have begun in another lane, the system's last row. trid_warp_status combines the lanes' results into the
            system's status.
   Cost     (6k-6+4w) FMA + (5k+1+5w) mul + (k+1+w) rcp + (4+6w) shuffles
   Error    the residual follows 4 + 1 / (2 k^2.5 (dominance - 1)) unit roundoffs: see Stability above. NaN and
            inf stay in their own system. */
TB_D int trid_warp_hybrid(int k, int lanes, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d)
{
    int status = trid_warp_reduce(k, lanes, n, a, b, c, d);
    tb_real x = d[k - 1];
    int bad = trid_warp_pcr(lanes, lanes, a[k - 1], c[k - 1], &x);
    trid_warp_expand(k, lanes, a, c, d, x);
    return status ? status : trid_lane_status(k * trid_warp_rank(lanes), k, n, k * lanes, 0, bad);
}

/* Factors a partition, rows `first` .. `first + k - 1` of n, where all lanes together hold `full` rows. Leaves the five
   arrays of f, of which the last two hold the couplings that the rows have afterwards. */
TB_D int trid_p_factor_partition(int k, int first, int n, int full, const tb_real *a, const tb_real *b,
                                 const tb_real *c, tb_real *f)
{
    /* The reciprocals replace the diagonal one by one. */
    tb_real *diagonal = f + TRID_P_RECIPROCAL * k, *left = f + TRID_P_LEFT * k, *last = f + TRID_P_LAST * k;
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        diagonal[j] = b[j];
        left[j] = a[j];
        last[j] = c[j];
    }
    trid_lane_pad(k, first, n, full, left, diagonal, last, (tb_real *)0);
    return trid_p_reduce(k, k, left, diagonal, last, (tb_real *)0, f);
}

/* Factors the reduced system. If k > 1, it first links the last row of each partition (c is already at TRID_P_LINK) to
   the next partition's first. Then it runs PCR over groups of `lanes` lanes. Leaves the rest of f and, unless steps is
   null, in *steps the number of PCR steps that matter in this warp. Returns the bitwise OR of the verdicts.
   PCR works on e = d / s, where s is the scale; this saves one multiplication per step. With a unit diagonal,
   d' = r (d - a d_up - c d_down)  becomes  e' = e - (a s_up / s) e_up - (c s_down / s) e_down,  with  s' = r s. */
TB_D int trid_p_factor_reduced(int k, int lanes, tb_real last_a, tb_real first_a, tb_real first_c, tb_real *f,
                               int *steps)
{
    tb_real *reduced = f + TRID_P_REDUCED * k, last_c = reduced[TRID_P_LINK], unused = 0, scale = 1, inverse = 1;
    int bad = 0;
    if (k > 1) {
        inverse = 1 - last_c * first_a;
        scale = trid_rcp_refined(inverse);
        bad = trid_lane_link(&last_a, &last_c, &unused, first_a, first_c, 0);
    }
    TB_UNROLL
    for (int e = 0; e < 10; e++) reduced[TRID_P_STEP + e] = 0;
    int p = 0;
    TB_UNROLL
    for (int s = 1; s < lanes; s *= 2) {
        int negligible = trid_abs(last_a) <= trid_roundoff() && trid_abs(last_c) <= trid_roundoff();
        if (steps && !__any_sync(TB_FULL_WARP, !negligible)) break;
        tb_real up[3], down[3];
        trid_p_neighbours(lanes, s, last_a, last_c, scale, up, down);
        reduced[TRID_P_STEP + 2 * p] = last_a * inverse * up[2];
        reduced[TRID_P_STEP + 2 * p + 1] = last_c * inverse * down[2];
        tb_real pivot = 1 - last_a * up[1] - last_c * down[0];
        bad |= trid_lane_pcr_step(&last_a, &last_c, &unused, up[0], up[1], 0, down[0], down[1], 0);
        scale *= trid_rcp_refined(pivot);
        inverse *= pivot;
        p++;
    }
    reduced[TRID_P_SCALE] = scale;
    if (steps) *steps = p;
    return bad;
}

/* Reduces a partition's right-hand side with the stored factors. In rows from n on it counts as 0. */
TB_D void trid_p_solve_partition(int k, int first, int n, int full, const tb_real *f, int stride, tb_real *d)
{
    if (n < full) {
        TB_UNROLL
        for (int j = 0; j < k; j++) d[j] = first + j < n ? d[j] : 0;
    }
    trid_p_reduce_right(k, f, stride, d);
}

/* Solves the reduced system with the stored factors. Returns the unknown of the reduced row whose right-hand side is
   `last`; `first` is the right-hand side of the next partition's first row. `reduced` holds the numbers of f from 5 k
   on. */
TB_D tb_real trid_p_solve_reduced(int k, int lanes, int steps, const tb_real *reduced, int stride, tb_real last,
                                  tb_real first)
{
    tb_real e = last;
    if (k > 1) e -= reduced[TRID_P_LINK * stride] * first;
    int p = 0;
    TB_UNROLL
    for (int s = 1; s < lanes; s *= 2) {
        if (p >= steps) break;
        tb_real up = __shfl_up_sync(TB_FULL_WARP, e, s, lanes), down = __shfl_down_sync(TB_FULL_WARP, e, s, lanes);
        e = e - reduced[(TRID_P_STEP + 2 * p) * stride] * up - reduced[(TRID_P_STEP + 2 * p + 1) * stride] * down;
        p++;
    }
    return reduced[TRID_P_SCALE * stride] * e;
}

/* Computes everything in the hybrid that depends on the matrix alone, once for many right-hand sides. The rows are laid
   out as in trid_warp_hybrid. If the dominance exceeds 1, the largest |a| + |c| of the reduced system is below 1, and
   each PCR step brings it down to its square or less. *steps receives the number of steps, at most w, after which no
   coupling in the warp exceeds the unit roundoff (with a NaN, all w). If steps is null, all w steps are stored.
   Needs    k >= 1 and lanes as literals; n <= k*lanes; f of TRID_WARP_FACTOR_LEN(k) elements
   Lanes    all 32 of the warp: *steps serves all of its groups
   Leaves   f and *steps for trid_warp_solve; a, b, c as they were
   Returns  as trid_warp_hybrid
   Cost     about that of one trid_warp_hybrid, and one vote of the warp per step
   Error    the steps left out change x by about the unit roundoff times the largest element of x */
TB_D int trid_warp_factor(int k, int lanes, int n, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *f,
                          int *steps)
{
    int first = k * trid_warp_rank(lanes);
    int status = trid_p_factor_partition(k, first, n, k * lanes, a, b, c, f);
    const tb_real *left = f + TRID_P_LEFT * k, *last = f + TRID_P_LAST * k;
    f[TRID_P_REDUCED * k + TRID_P_LINK] = last[k - 1];
    tb_real first_a = k > 1 ? __shfl_down_sync(TB_FULL_WARP, left[0], 1, lanes) : 0;
    tb_real first_c = k > 1 ? __shfl_down_sync(TB_FULL_WARP, last[0], 1, lanes) : 0;
    int bad = trid_p_factor_reduced(k, lanes, left[k - 1], first_a, first_c, f, steps);
    return trid_lane_status(first, k, n, k * lanes, status, bad);
}

/* Solves the system that trid_warp_factor factored, for one right-hand side.
   Needs    k, lanes, n and f as in trid_warp_factor, and the number of steps that it left in *steps (if steps was
            null: log2 lanes, best as a literal). Rows from n on are read as 0; if d is already 0 there, n = k*lanes
            saves the test.
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     (4k-4+2s) FMA + (k+1) mul + (2+2s) shuffles for s steps, no reciprocal
   Error    as trid_warp_hybrid, plus that of the steps left out (trid_warp_factor) */
TB_D void trid_warp_solve(int k, int lanes, int n, int steps, const tb_real *f, tb_real *d)
{
    trid_p_solve_partition(k, k * trid_warp_rank(lanes), n, k * lanes, f, 1, d);
    tb_real first = k > 1 ? __shfl_down_sync(TB_FULL_WARP, d[0], 1, lanes) : 0;
    tb_real x = trid_p_solve_reduced(k, lanes, steps, f + TRID_P_REDUCED * k, 1, d[k - 1], first);
    trid_warp_expand(k, lanes, f + TRID_P_LEFT * k, f + TRID_P_LAST * k, d, x);
}

/* Computes the residual r = d - A x of a system whose rows and x are laid out as in trid_warp_hybrid, and the lane's
   own largest error and size (trid_lane_residual).
   Needs    k and lanes as literals; the a of row 0, the c of row n-1 and the rows from n on do not count; r may alias d
   Lanes    all 32 of the warp
   Leaves   r, 0 in rows from n on; *error and *size, either of which may be null
   Cost     that of trid_lane_residual + 2 shuffles */
TB_D void trid_warp_residual(int k, int lanes, int n, const tb_real *a, const tb_real *b, const tb_real *c,
                             const tb_real *d, const tb_real *x, tb_real *r, tb_real *error, tb_real *size)
{
    tb_real left = __shfl_up_sync(TB_FULL_WARP, x[k - 1], 1, lanes),
            right = __shfl_down_sync(TB_FULL_WARP, x[0], 1, lanes);
    trid_lane_residual(k, k * trid_warp_rank(lanes), n, a, b, c, d, x, left, right, r, error, size);
}

/* Solves as trid_warp_solve does, then solves for the residual: one step of iterative refinement, in working precision,
   with the same factors.
   Needs    as trid_warp_solve, but k <= 32 and the system's own n; a, b, c: the rows of the factored matrix
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on
   Cost     two of trid_warp_solve, one of trid_warp_residual and k additions
   Error    the residual is a few unit roundoffs, like that of the Thomas algorithm, if k^2.5 (dominance - 1) exceeds
            the square root of the unit roundoff: 2.4e-4 in single, 1.1e-8 in double precision (just above this limit,
            17 unit roundoffs have occurred in single precision). The error of x is of the order of the condition times
            the unit roundoff, with refinement and without; refinement can increase it (docs/hybrid.md). */
TB_D void trid_warp_solve_refined(int k, int lanes, int n, int steps, const tb_real *a, const tb_real *b,
                                  const tb_real *c, const tb_real *f, tb_real *d)
{
    tb_real x[TRID_MOST_ROWS];
    TB_UNROLL
    for (int j = 0; j < k; j++) x[j] = d[j];
    trid_warp_solve(k, lanes, n, steps, f, x);
    trid_warp_residual(k, lanes, n, a, b, c, d, x, d, (tb_real *)0, (tb_real *)0);
    trid_warp_solve(k, lanes, k * lanes, steps, f, d); /* the residual is 0 from n on */
    TB_UNROLL
    for (int j = 0; j < k; j++) d[j] += x[j];
}

/* Solves as trid_warp_hybrid does, with one step of refinement, for matrices that are only just dominant.
   Needs    as trid_warp_hybrid, but k <= 32
   Lanes    all 32 of the warp
   Leaves   x in d, 0 in rows from n on; a, b, c as they were
   Returns  as trid_warp_hybrid
   Cost     trid_warp_factor and trid_warp_solve_refined; 10k + 12 numbers live in registers at once
   Error    as trid_warp_solve_refined */
TB_D int trid_warp_hybrid_refined(int k, int lanes, int n, const tb_real *a, const tb_real *b, const tb_real *c,
                                  tb_real *d)
{
    tb_real f[TRID_WARP_FACTOR_LEN(TRID_MOST_ROWS)];
    int status = trid_warp_factor(k, lanes, n, a, b, c, f, (int *)0), steps = 0;
    TB_UNROLL
    for (int s = 1; s < lanes; s *= 2) steps++;
    trid_warp_solve_refined(k, lanes, n, steps, a, b, c, f, d);
    return status;
}

/* ---- block scope: shared memory and barriers ---------------------------------------------------------------------

   In a block of any shape, thread t is the one with t = x + X (y + Y z), where (x, y, z) is its threadIdx and X, Y are
   the first two of blockDim. Warps are formed in this order.

   Rows live in registers. A thread gets at most 65536 / (threads of the block) registers, and never more than 255.
   Without __launch_bounds__(threads) a large block may fail to launch. The table gives a k, not always the largest,
   that needs no spills in kernels that only load, solve and store k rows a thread (ptxas of CUDA 13.0 for sm_90). If
   they test each row against n, some spill a few words.
                                       256 threads   512 threads   1024 threads
       trid_block_hybrid          f32      k = 32        k = 28         k = 11
                                  f64          16            13              5
       trid_block_hybrid_refined  f32          29            14              4
                                  f64          14             6              1
       trid_block_pivoted         f32          28            11              2
                                  f64          11             3              - */

/* Reduces the lanes of a group as trid_lane_reduce reduces the rows of a lane. PCR runs over lanes 0..lanes-2 with both
   ends open, towards the previous group and towards lane lanes-1; then lane lanes-1 eliminates the unknown of lane
   lanes-2. Afterwards *a couples every row to the last unknown of the previous group. *c couples lanes 0..lanes-2 to
   the unknown of lane lanes-1, and lane lanes-1 to the first unknown of the next group.
   Returns the bitwise OR of the verdicts. */
TB_D int trid_warp_pcr_open(int lanes, tb_real *a, tb_real *c, tb_real *d)
{
    int lane = trid_warp_rank(lanes), bad = 0;
    tb_real up[3], down[3];
    TB_UNROLL
    for (int s = 1; s < lanes; s *= 2) {
        trid_p_neighbours(lanes, s, *a, *c, *d, up, down);
        lane = trid_p_again(lane); /* otherwise lane lanes-1 gets its own branch, and both branches shuffle: slow */
        if (lane < s || lane == lanes - 1) up[0] = -1, up[1] = 0, up[2] = 0;
        if (lane + s >= lanes - 1) down[0] = 0, down[1] = -1, down[2] = 0;
        bad |= trid_lane_pcr_step(a, c, d, up[0], up[1], up[2], down[0], down[1], down[2]);
    }
    trid_p_neighbours(lanes, 1, *a, *c, *d, up, down);
    lane = trid_p_again(lane);
    if (lane == lanes - 1) bad |= trid_lane_pcr_step(a, c, d, up[0], up[1], up[2], 0, -1, 0);
    return bad;
}

/* Solves as trid_block_hybrid does, across `warps` consecutive warps of a block; the calling thread's warp is number
   `part` of these. The warps hold `rows` rows; this thread's rows begin at `first`. Warp p stores six numbers, number e
   at shared[p * by_warp + e * by_number]. All threads of the block call it. */
TB_D int trid_block_hybrid_part(int k, int n, int rows, int first, int warps, int part, tb_real *a, tb_real *b,
                                tb_real *c, tb_real *d, tb_real *shared, int by_warp, int by_number)
{
    int lane = trid_block_thread() & 31;
    trid_lane_pad(k, first, n, rows, a, b, c, d);
    int status = trid_lane_reduce(k, a, b, c, d), bad = 0;

    tb_real row_a = a[k - 1], row_c = c[k - 1], row_d = d[k - 1];
    if (k > 1) {
        tb_real first_a = __shfl_down_sync(TB_FULL_WARP, a[0], 1);
        tb_real first_c = __shfl_down_sync(TB_FULL_WARP, c[0], 1);
        tb_real first_d = __shfl_down_sync(TB_FULL_WARP, d[0], 1);
        if (lane == 31) first_a = 0, first_c = -1, first_d = 0; /* stays coupled to the next warp's first unknown */
        bad |= trid_lane_link(&row_a, &row_c, &row_d, first_a, first_c, first_d);
    }
    bad |= trid_warp_pcr_open(32, &row_a, &row_c, &row_d);

    /* Each warp stores its last row, and its first in terms of the last unknowns of this warp and of the one before. */
    tb_real *mine = shared + part * by_warp;
    if (lane == 0) {
        mine[0] = k > 1 ? a[0] - c[0] * row_a : row_a;
        mine[by_number] = k > 1 ? -c[0] * row_c : row_c;
        mine[2 * by_number] = k > 1 ? d[0] - c[0] * row_d : row_d;
    }
    if (lane == 31) mine[3 * by_number] = row_a, mine[4 * by_number] = row_c, mine[5 * by_number] = row_d;
    __syncthreads();

    int there = lane < warps, next = lane + 1 < warps;
    const tb_real *of = shared + lane * by_warp, *after = of + by_warp;
    tb_real warp_a = there ? of[3 * by_number] : 0, warp_c = there ? of[4 * by_number] : 0;
    tb_real x = there ? of[5 * by_number] : 0;
    int warp_bad = trid_lane_link(&warp_a, &warp_c, &x, next ? after[0] : 0, next ? after[by_number] : 0,
                                  next ? after[2 * by_number] : 0);
    warp_bad |= trid_warp_pcr(32, warps, warp_a, warp_c, &x);
    tb_real before = __shfl_sync(TB_FULL_WARP, x, part > 0 ? part - 1 : 0), last = __shfl_sync(TB_FULL_WARP, x, part);

    row_d = lane == 31 ? last : row_d - row_a * before - row_c * last;
    tb_real left = __shfl_up_sync(TB_FULL_WARP, row_d, 1);
    trid_lane_expand(k, a, c, d, lane == 0 ? before : left, row_d);
    status = trid_lane_status(first, k, n, rows, status, bad);
    return status ? status : trid_lane_status(32 * k * lane, 32 * k, n, rows, 0, warp_bad);
}

/* Solves one system of n <= k*threads rows, with row k*t + j in a[j], b[j], c[j], d[j] of thread t. Each lane reduces
   its partition, and each warp reduces its lanes to two rows. Every warp then solves the whole reduced system.
   Needs    k >= 1 as a literal; the a of row 0, the c of row n-1 and the rows from n on are not read
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  as trid_warp_hybrid: -1 if n > k*threads; the smallest positive status of the threads names the row where
            the failure began
   Shared   TRID_BLOCK_HYBRID_LEN elements, no bank conflicts; one barrier inside; call __syncthreads() before another
            use (alternating between two arrays saves this barrier)
   Cost     that of trid_warp_hybrid with lanes = 32, and (4w+10) FMA + (5w+10) mul + (w+2) rcp + (6w+5) shuffles, where
            w = log2 of the number of warps, rounded up */
TB_D int trid_block_hybrid(int k, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d, tb_real *shared)
{
    int thread = trid_block_thread(), threads = trid_block_threads();
    return trid_block_hybrid_part(k, n, k * threads, k * thread, threads / 32, thread / 32, a, b, c, d, shared, 1, 32);
}

/* Computes the residual r = d - A x of a system whose rows and x are laid out as in trid_block_hybrid, and the thread's
   own largest error and size (trid_lane_residual).
   Needs    k >= 1 as a literal; the a of row 0, the c of row n-1 and the rows from n on do not count; r may alias d
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   r, 0 in rows from n on; *error and *size, either of which may be null
   Shared   TRID_BLOCK_RESIDUAL_LEN elements, no bank conflicts; one barrier inside; call __syncthreads() before another
            use
   Cost     that of trid_lane_residual + 2 shuffles, 2 stores and 2 loads a warp */
TB_D void trid_block_residual(int k, int n, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                              const tb_real *x, tb_real *r, tb_real *error, tb_real *size, tb_real *shared)
{
    int thread = trid_block_thread(), warps = trid_block_threads() / 32, lane = thread & 31, warp = thread / 32;
    if (lane == 0) shared[warp] = x[0];
    if (lane == 31) shared[32 + warp] = x[k - 1];
    tb_real left = __shfl_up_sync(TB_FULL_WARP, x[k - 1], 1), right = __shfl_down_sync(TB_FULL_WARP, x[0], 1);
    __syncthreads();
    if (lane == 0 && warp > 0) left = shared[32 + warp - 1];
    if (lane == 31 && warp + 1 < warps) right = shared[warp + 1];
    trid_lane_residual(k, k * thread, n, a, b, c, d, x, left, right, r, error, size);
}

/* Solves as trid_block_hybrid does, with one step of refinement, for matrices that are only just dominant.
   Needs    as trid_block_hybrid, but k <= 32
   Lanes    all threads of the block, a multiple of 32 up to 1024
   Leaves   x in d, 0 in rows from n on; a, b, c as they were
   Returns  as trid_block_hybrid
   Shared   TRID_BLOCK_HYBRID_REFINED_LEN elements, no bank conflicts; three barriers inside; another call of this
            function needs no barrier first; call __syncthreads() before any other use
   Cost     two of trid_block_hybrid, on copies of the rows, and one of trid_block_residual; 8k numbers live in
            registers at once
   Error    as trid_warp_solve_refined */
TB_D int trid_block_hybrid_refined(int k, int n, const tb_real *a, const tb_real *b, const tb_real *c, tb_real *d,
                                   tb_real *shared)
{
    tb_real ta[TRID_MOST_ROWS], tb[TRID_MOST_ROWS], tc[TRID_MOST_ROWS], x[TRID_MOST_ROWS];
    TB_UNROLL
    for (int j = 0; j < k; j++) ta[j] = a[j], tb[j] = b[j], tc[j] = c[j], x[j] = d[j];
    int status = trid_block_hybrid(k, n, ta, tb, tc, x, shared);
    trid_block_residual(k, n, a, b, c, d, x, d, (tb_real *)0, (tb_real *)0, shared + 2 * TRID_BLOCK_HYBRID_LEN);
    TB_UNROLL
    for (int j = 0; j < k; j++) ta[j] = a[j], tb[j] = b[j], tc[j] = c[j];
    trid_block_hybrid(k, n, ta, tb, tc, d, shared + TRID_BLOCK_HYBRID_LEN);
    TB_UNROLL
    for (int j = 0; j < k; j++) d[j] += x[j];
    return status;
}

#endif /* TB_DEVICE_SCOPES */

/* ---- host: plain C over arrays ----------------------------------------------------------------------------------- */

#if TB_HOST_SCOPE

/* Solves a system by the Thomas algorithm.
   Needs    work of n elements; a[0] and c[n-1] are not read; x may alias d; pointers may be null for n = 0
   Returns  0; -1 for n < 0; or 1 + the first row with a bad pivot */
TB_HOST int trid_host_thomas(int n, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d, tb_real *x,
                             tb_real *work)
{
    return trid_lane_thomas(n, a, b, c, d, x, work, 1);
}

/* Solves m rows with unit diagonal by PCR. work holds a, c, d in this order. Of the 6*m elements of work, each step
   reads one half and writes the other. Returns 0 or 1 + a bad row; *x points to the solution. */
TB_HOST int trid_p_host_pcr(size_t m, tb_real *work, const tb_real **x)
{
    tb_real *from = work, *to = work + 3 * m;
    for (size_t s = 1; s < m; s *= 2) {
        for (size_t j = 0; j < m; j++) {
            const tb_real *up = j >= s ? from + (j - s) : 0, *down = j + s < m ? from + (j + s) : 0;
            tb_real a = from[j], c = from[m + j], d = from[2 * m + j];
            if (trid_lane_pcr_step(&a, &c, &d, up ? up[0] : 0, up ? up[m] : 0, up ? up[2 * m] : 0, down ? down[0] : 0,
                                   down ? down[m] : 0, down ? down[2 * m] : 0))
                return (int)j + 1;
            to[j] = a;
            to[m + j] = c;
            to[2 * m + j] = d;
        }
        tb_real *swap = from;
        from = to;
        to = swap;
    }
    *x = from + 2 * m;
    return 0;
}

/* Solves a system by parallel cyclic reduction.
   Needs    work of 6*n elements; otherwise as trid_host_thomas
   Returns  0; -1 for n < 0; or 1 + a row that met a bad pivot */
TB_HOST int trid_host_pcr(int n, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d, tb_real *x,
                          tb_real *work)
{
    if (n <= 0) return n < 0 ? TRID_BAD_ARGUMENT : TRID_OK;
    size_t m = (size_t)n;
    for (size_t j = 0; j < m; j++) {
        tb_real r = trid_rcp(b[j]);
        if (trid_bad_pivot(r)) return (int)j + 1;
        work[j] = j > 0 ? r * a[j] : 0;
        work[m + j] = j < m - 1 ? r * c[j] : 0;
        work[2 * m + j] = r * d[j];
    }
    const tb_real *solution;
    int status = trid_p_host_pcr(m, work, &solution);
    if (status) return status;
    memcpy(x, solution, m * sizeof *x);
    return 0;
}

/* Solves a system by the hybrid, as trid_warp_hybrid does: it reduces partitions of rows_per_lane rows, finds their
   last unknowns by PCR, and expands the rows. Any number of partitions is allowed; a shorter last one is padded
   internally.
   Needs    work of trid_host_hybrid_len(n, rows_per_lane) elements; otherwise as trid_host_thomas
   Returns  0; -1 for n < 0, for rows_per_lane < 1, and for n > 2^29 with rows_per_lane > 2^30; or 1 + a row that met a
            bad pivot */
TB_HOST int trid_host_hybrid(int n, int rows_per_lane, const tb_real *a, const tb_real *b, const tb_real *c,
                             const tb_real *d, tb_real *x, tb_real *work)
{
    if (n < 0 || rows_per_lane < 1) return TRID_BAD_ARGUMENT;
    if (n > 1 << 29 && rows_per_lane > 1 << 30) return TRID_BAD_ARGUMENT; /* the visits would overflow an int */
    if (n == 0) return 0;
    size_t rows = (size_t)n, k = (size_t)rows_per_lane;
    if (k > 2 * rows) k = 2 * rows; /* more padding changes nothing */
    size_t partitions = (rows - 1) / k + 1;
    tb_real *wa = work, *wb = wa + rows, *wc = wb + rows, *wd = wc + rows, *reduced = wd + rows;
    for (size_t j = 0; j < rows; j++) {
        wa[j] = j > 0 ? a[j] : 0;
        wb[j] = b[j];
        wc[j] = j < rows - 1 ? c[j] : 0;
        wd[j] = d[j];
    }
    for (size_t first = 0; first < rows; first += k) {
        int length = (int)(rows - first < k ? rows - first : k);
        int status = trid_p_reduce((int)k, length, wa + first, wb + first, wc + first, wd + first, (tb_real *)0);
        if (status) return (int)first + status;
    }
    for (size_t i = 0; i < partitions; i++) {
        size_t next = (i + 1) * k, last = next - 1;
        int exists = next <= rows; /* otherwise the partition ends with an identity row */
        tb_real row_a = exists ? wa[last] : 0, row_c = exists ? wc[last] : 0, row_d = exists ? wd[last] : 0;
        if (k > 1 && next < rows)
            if (trid_lane_link(&row_a, &row_c, &row_d, wa[next], wc[next], wd[next])) return (int)next;
        reduced[i] = row_a;
        reduced[partitions + i] = row_c;
        reduced[2 * partitions + i] = row_d;
    }
    const tb_real *solution = reduced;
    int status = trid_p_host_pcr(partitions, reduced, &solution);
    if (status) {
        size_t next = (size_t)status * k;
        return (int)(next < rows ? next : rows);
    }
    for (size_t i = 0, j = 0; i < partitions; i++) {
        tb_real left = i > 0 ? solution[i - 1] : 0, last = solution[i];
        for (; j < rows && j < (i + 1) * k - 1; j++) x[j] = wd[j] - wa[j] * left - wc[j] * last;
        if (j < rows) x[j++] = last;
    }
    return 0;
}

/* Solves a system by the hybrid with one step of refinement, as trid_warp_hybrid_refined does.
   Needs    work of trid_host_hybrid_refined_len(n, rows_per_lane) elements; otherwise as trid_host_hybrid
   Returns  as trid_host_hybrid
   Error    as trid_warp_solve_refined */
TB_HOST int trid_host_hybrid_refined(int n, int rows_per_lane, const tb_real *a, const tb_real *b, const tb_real *c,
                                     const tb_real *d, tb_real *x, tb_real *work)
{
    tb_real *first = work, *rest = work + (n > 0 ? n : 0), *hybrid = rest + (n > 0 ? n : 0);
    int status = trid_host_hybrid(n, rows_per_lane, a, b, c, d, first, hybrid);
    if (status || n == 0) return status;
    trid_lane_residual(n, 0, n, a, b, c, d, first, 0, 0, rest, (tb_real *)0, (tb_real *)0);
    status = trid_host_hybrid(n, rows_per_lane, a, b, c, rest, rest, hybrid);
    for (int j = 0; j < n; j++) x[j] = first[j] + rest[j];
    return status;
}

/* Returns the residual of x: the largest |A x - d|, divided by the largest |A| |x| + |d|.
   It is 0 for n = 0 and for a system of zeros, NaN if any number that counts is NaN, and inf or NaN on overflow. */
TB_HOST double trid_host_residual(int n, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                                  const tb_real *x)
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
    return trid_p_infinite(size) ? size : size > 0 ? error / size : 0;
}

/* Returns the dominance of a matrix: the least |b| / (|a| + |c|) of its rows ("Stability" above says what it means).
   It is +inf for n = 0 and for a diagonal matrix without zeros on its diagonal, 0 if a row is zero, and NaN if any
   number that counts is NaN or if b and a coupling of one row are infinite. */
TB_HOST double trid_host_dominance(int n, const tb_real *a, const tb_real *b, const tb_real *c)
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

#endif /* TB_HOST_SCOPE */

#endif /* TB_BODY */
