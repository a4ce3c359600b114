/* transpose.h - data movement between global memory and registers, coalesced and free of bank conflicts.

   MIT licence, see LICENSE. Copy this one file; it includes nothing of the kit.

   A warp reads 32 structs of five floats, contiguous in memory, so that lane l gets all of struct l
   (examples/structs.cu):

       __global__ void lengths(int count, const float *structs, float *length)
       {
           __shared__ float buffer[TRANSPOSE_LEN_F32(5)];
           int first = 32 * (int)blockIdx.x, lane = (int)threadIdx.x;
           float s[5];
           transpose_load_f32(5, 32, 5 * (count - first), structs + 5 * (size_t)first, 0.0f, s, buffer);
           if (first + lane < count)
               length[first + lane] = sqrtf(s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + s[3] * s[3] + s[4] * s[4]);
       }

   Blocked layout: lane l of a group of W lanes holds elements l*K .. l*K+K-1 of the group's row of n elements, element
   l*K+j in u[j]. K is the size of a struct, the rows of a system in a lane, or the like. Each name exists with _f32
   for 4-byte and _f64 for 8-byte elements; but for increment they only move bits, so other types of these sizes may be
   passed through a cast pointer.

     transpose_load, _store, _increment             through shared memory: any K, any alignment, every access coalesced
       transpose_fetch, _put, _add                    their half in global memory, in the order of the accesses
       transpose_turn, _unturn                        their half in shared memory: to blocked layout, and back
     transpose_load_shfl, _store_shfl, _increment_shfl      K a power of two: log2 min(K,W) exchanges, no shared memory
       transpose_fetch_shfl, _put_shfl, _add_shfl, _turn_shfl (its own inverse)
     transpose_load_vec, _store_vec, _increment_vec         16-byte accesses straight into the blocked layout
     transpose_index        the map behind transpose_turn
     TRANSPOSE_LEN_F32(K), TRANSPOSE_LEN_F64(K)             elements of shared memory for a warp

   Which is best (docs/transpose.md has the figures):
     One array: _load and _store. Several arrays: _fetch them all, then _turn one after another, so that all loads are
     under way at once. _vec is as fast where a lane's K elements are 16 bytes, and for loads up to 32 bytes; beyond,
     the pieces of a line no longer meet in the cache. _shfl where shared memory is short.

   What they share:
     Lanes    all 32 of the warp, converged; W = 2, 4, 8, 16 or 32 lanes a row, and each group has its own row:
              pointer and n are the same for its lanes
     Sizes    K and W are literals: loops unroll and u stays in registers. n is any number, of which K*W count: loads
              give fill beyond it, stores leave what lies beyond alone; n <= 0 touches nothing, and the pointer may be
              null
     Shared   a warp's own array; these functions may follow one another on it; __syncwarp() before another use

   Options, defined before the header is included:
     TRANSPOSE_HEADER   the name by which this file includes itself, if you rename it. Default: "transpose.h". */

#ifndef TRANSPOSE_P_REAL /* first pass: what does not depend on the precision */
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

/* Short macros of a user ("#define K 8", or the I of complex.h) must not reach the parameters of the same names. */
#ifndef __CUDACC_RTC__ /* which does not know the pragma */
#pragma push_macro("B")
#undef B
#pragma push_macro("I")
#undef I
#pragma push_macro("K")
#undef K
#pragma push_macro("V")
#undef V
#pragma push_macro("W")
#undef W
#endif

#define TRANSPOSE_VERSION 102 /* 100 * major + minor */

#ifndef TRANSPOSE_HEADER
#define TRANSPOSE_HEADER "transpose.h"
#endif

#if defined __CUDACC__ || defined __CUDACC_RTC__
#define TRANSPOSE_DEVICE_SCOPES 1
#define TRANSPOSE_HD static __host__ __device__ __forceinline__
#define TRANSPOSE_D static __device__ __forceinline__
#else
#ifdef SIMT_EMULATOR
#define TRANSPOSE_DEVICE_SCOPES 1
#else
#define TRANSPOSE_DEVICE_SCOPES 0
#endif
#ifdef __GNUC__
#define TRANSPOSE_HD static inline __attribute__((unused))
#else
#define TRANSPOSE_HD static inline
#endif
#define TRANSPOSE_D TRANSPOSE_HD
#endif

#ifdef __CUDA_ARCH__ /* a bare pragma would be a warning in the host compiler's pass */
#define TRANSPOSE_UNROLL _Pragma("unroll")
#else
#define TRANSPOSE_UNROLL
#endif

/* The map (i,j) -> k for an array of width I and height 32 that is filled along rows, in order of t = i + j*I, and read
   along columns, or the other way round. With I = P*F, P a power of two and F odd, k = t would put the rows that are
   B / P apart into one bank, B being the words that shared memory serves at once: 32 of four bytes, and 16 of eight,
   for which a warp's access is served in two halves of 16 lanes. So one word of padding comes after every F*max(P,B)
   words: after B / P rows, or after each row where P >= B. (With B = 32 an odd I is never padded: the 32 rows end
   where the first padding would come.) */
#define TRANSPOSE_P_POWER(I) ((I) & -(I))
#define TRANSPOSE_P_PERIOD(I, B)                                                                                       \
    ((I) / TRANSPOSE_P_POWER(I) * (TRANSPOSE_P_POWER(I) > (B) ? TRANSPOSE_P_POWER(I) : (B)))
#define TRANSPOSE_P_LEN(I, B) (32 * (I) + (32 * (I)-1) / TRANSPOSE_P_PERIOD(I, B))

/* Elements of shared memory for 32 lanes of I elements. */
#define TRANSPOSE_LEN_F32(I) TRANSPOSE_P_LEN(I, 32)
#define TRANSPOSE_LEN_F64(I) TRANSPOSE_P_LEN(I, 16)

#if TRANSPOSE_DEVICE_SCOPES
#define TRANSPOSE_P_FULL 0xffffffffu

TRANSPOSE_D int transpose_p_lane(void)
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
#endif

#if TRANSPOSE_DEVICE_SCOPES
/* Between a 16-byte vector and elements in registers. */
TRANSPOSE_D void transpose_p_unpack_f32(float4 v, float *u)
{
    u[0] = v.x;
    u[1] = v.y;
    u[2] = v.z;
    u[3] = v.w;
}
TRANSPOSE_D float4 transpose_p_pack_f32(const float *u)
{
    return make_float4(u[0], u[1], u[2], u[3]);
}
TRANSPOSE_D void transpose_p_unpack_f64(double2 v, double *u)
{
    u[0] = v.x;
    u[1] = v.y;
}
TRANSPOSE_D double2 transpose_p_pack_f64(const double *u)
{
    return make_double2(u[0], u[1]);
}

/* A vector in global memory whose cache line is not needed again. */
#if defined __clang__ && defined __CUDA__ && !defined __NVCC__ /* as CUDA's compiler, clang lacks the functions */
TRANSPOSE_D float4 transpose_p_stream_in_f32(const float4 *from)
{
    float4 v;
    asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v;
}
TRANSPOSE_D void transpose_p_stream_out_f32(float4 *to, float4 v)
{
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}
TRANSPOSE_D double2 transpose_p_stream_in_f64(const double2 *from)
{
    double2 v;
    asm volatile("ld.global.cs.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(from));
    return v;
}
TRANSPOSE_D void transpose_p_stream_out_f64(double2 *to, double2 v)
{
    asm volatile("st.global.cs.v2.f64 [%0], {%1, %2};" : : "l"(to), "d"(v.x), "d"(v.y) : "memory");
}
#else
TRANSPOSE_D float4 transpose_p_stream_in_f32(const float4 *from)
{
    return __ldcs(from);
}
TRANSPOSE_D void transpose_p_stream_out_f32(float4 *to, float4 v)
{
    __stcs(to, v);
}
TRANSPOSE_D double2 transpose_p_stream_in_f64(const double2 *from)
{
    return __ldcs(from);
}
TRANSPOSE_D void transpose_p_stream_out_f64(double2 *to, double2 v)
{
    __stcs(to, v);
}
#endif
#endif

#if TRANSPOSE_DEVICE_SCOPES
/* A place in shared memory for asynchronous copies: its address there, worked out once, or else a pointer to bytes. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
typedef unsigned transpose_p_place;
TRANSPOSE_D transpose_p_place transpose_p_place_of(void *p)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(p);
    asm volatile("" : "+r"(address)); /* without it the compiler works it out again for each copy */
    return address;
}
#else
typedef unsigned char *transpose_p_place;
TRANSPOSE_D transpose_p_place transpose_p_place_of(void *p)
{
    return (unsigned char *)p;
}
#endif

/* Sixteen bytes from global to shared memory, offset bytes from a place, asynchronously where that exists (compute
   capability 8.0 on). Copies are committed in groups; TRANSPOSE_P_AWAIT(n) returns when all but the last n groups of
   the thread are there. */
TRANSPOSE_D void transpose_p_copy(transpose_p_place to, int offset, const void *from)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (unsigned)offset), "l"(from) : "memory");
#elif defined SIMT_EMULATOR
    simt_copy_async(to + offset, from, 16);
#else
    *(float4 *)(to + offset) = *(const float4 *)from;
#endif
}
TRANSPOSE_D void transpose_p_commit(void)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined SIMT_EMULATOR
    simt_copy_commit();
#endif
}
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
#define TRANSPOSE_P_AWAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#elif defined SIMT_EMULATOR
#define TRANSPOSE_P_AWAIT(n) simt_copy_await(n)
#else
#define TRANSPOSE_P_AWAIT(n) ((void)0)
#endif

/* condition ? yes : no as one instruction: left to itself the compiler may branch, and repeat the shuffle that follows
   on both ways (seen with nvcc 13.0: the shuffled load three times slower). */
TRANSPOSE_D float transpose_p_select_f32(int condition, float yes, float no)
{
#ifdef __CUDA_ARCH__
    asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; selp.f32 %0, %2, %3, p; }"
        : "=f"(no)
        : "r"(condition), "f"(yes), "f"(no));
    return no;
#else
    return condition ? yes : no;
#endif
}
TRANSPOSE_D double transpose_p_select_f64(int condition, double yes, double no)
{
#ifdef __CUDA_ARCH__
    asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; selp.f64 %0, %2, %3, p; }"
        : "=d"(no)
        : "r"(condition), "d"(yes), "d"(no));
    return no;
#else
    return condition ? yes : no;
#endif
}
#endif

/* The body below, once a precision. */
#define TRANSPOSE_P_REAL float
#define TRANSPOSE_P_VECTOR float4
#define TRANSPOSE_P_NAME(stem) stem##_f32
#define TRANSPOSE_P_BANKS 32
#include TRANSPOSE_HEADER
#undef TRANSPOSE_P_REAL
#undef TRANSPOSE_P_VECTOR
#undef TRANSPOSE_P_NAME
#undef TRANSPOSE_P_BANKS

#define TRANSPOSE_P_REAL double
#define TRANSPOSE_P_VECTOR double2
#define TRANSPOSE_P_NAME(stem) stem##_f64
#define TRANSPOSE_P_BANKS 16
#include TRANSPOSE_HEADER
#undef TRANSPOSE_P_REAL
#undef TRANSPOSE_P_VECTOR
#undef TRANSPOSE_P_NAME
#undef TRANSPOSE_P_BANKS

#ifndef __CUDACC_RTC__
#pragma pop_macro("B")
#pragma pop_macro("I")
#pragma pop_macro("K")
#pragma pop_macro("V")
#pragma pop_macro("W")
#endif

#endif /* TRANSPOSE_H */
#else  /* TRANSPOSE_P_REAL: the body, in the precision at hand */

#define TRANSPOSE_R TRANSPOSE_P_REAL
#define TRANSPOSE_F(stem) TRANSPOSE_P_NAME(stem)

/* Solves   where element (i,j), column i < I of row j < 32, is kept so that 32 lanes filling in order of i + j*I and 32
            lanes reading rows j of one column i meet no bank twice
   Cost     a division by a constant; the functions below do without it */
TRANSPOSE_HD int TRANSPOSE_F(transpose_index)(int I, int i, int j)
{
    int t = i + j * I;
    return t + t / TRANSPOSE_P_PERIOD(I, TRANSPOSE_P_BANKS);
}

/* The same for t = 32*r + lane, a warp's r-th access along the rows. Halves of 16 lanes never straddle the padding: the
   quotient is that of the half, which only the literal r and one bit of the lane decide. */
TRANSPOSE_HD int TRANSPOSE_F(transpose_p_row_slot)(int I, int r, int lane)
{
    int halves = TRANSPOSE_P_PERIOD(I, TRANSPOSE_P_BANKS) / 16, half = 2 * r;
    int straddled = (half + 1) % halves == 0 ? lane >> 4 : 0;
    return 32 * r + lane + half / halves + straddled;
}

/* The same for i = 0, j = lane; column i follows i words later, since the padding never falls within a row. */
TRANSPOSE_HD int TRANSPOSE_F(transpose_p_column_slot)(int I, int lane)
{
    return lane * I + lane / (TRANSPOSE_P_PERIOD(I, TRANSPOSE_P_BANKS) / I);
}

#if TRANSPOSE_DEVICE_SCOPES

/* ---- through shared memory --------------------------------------------------------------------------------------- */

/* A warp's r-th access along the rows of its groups: this lane's is element *t of *row, which has *n elements. To be
   called for r = 0 .. K-1 in order; what belongs to the group is fetched from its first lane when a group begins. */
TRANSPOSE_D void TRANSPOSE_F(transpose_p_access)(int K, int W, int r, const TRANSPOSE_R *mine, int n_mine,
                                                 TRANSPOSE_R **row, int *n, int *t)
{
    int e = 32 * r + transpose_p_lane(), even = K * W % 32 == 0; /* even: an access stays within one group */
    int group = W == 32 ? 0 : (even ? 32 * r : e) / (K * W);
    *t = e - group * K * W;
    if (W == 32) {
        *row = (TRANSPOSE_R *)mine;
        *n = n_mine;
    } else if (!even || 32 * r % (K * W) == 0) {
        *row = (TRANSPOSE_R *)__shfl_sync(TRANSPOSE_P_FULL, (unsigned long long)mine, group * W);
        *n = __shfl_sync(TRANSPOSE_P_FULL, n_mine, group * W);
    }
}

/* Solves   u[r] = the element of this lane's r-th access along the rows of src, fill from n on: for W = 32 element
            32*r + lane
   Needs    any K >= 1; no alignment beyond the element's
   Lanes    all 32 of the warp
   Leaves   u for transpose_turn
   Shared   none
   Cost     K coalesced loads; with W < 32 three shuffles a row */
TRANSPOSE_D void TRANSPOSE_F(transpose_fetch)(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill,
                                              TRANSPOSE_R *u)
{
    TRANSPOSE_R *row = 0;
    int t, length = 0;
    TRANSPOSE_UNROLL
    for (int r = 0; r < K; r++) {
        TRANSPOSE_F(transpose_p_access)(K, W, r, src, n, &row, &length, &t);
        u[r] = t < length ? row[t] : fill;
    }
}

/* Solves   from the order of the accesses, u[r] of lane l being element 32*r + l of the warp's 32*K, to blocked layout,
            u[j] of lane l being element l*K + j
   Lanes    all 32 of the warp
   Shared   TRANSPOSE_LEN_F32(K) or _F64(K) elements for the warp; no bank conflicts
   Cost     K stores, K loads, 2 __syncwarp */
TRANSPOSE_D void TRANSPOSE_F(transpose_turn)(int K, TRANSPOSE_R *u, TRANSPOSE_R *shared)
{
    int lane = transpose_p_lane(), column = TRANSPOSE_F(transpose_p_column_slot)(K, lane);
    __syncwarp(TRANSPOSE_P_FULL); /* whatever was there has been read */
    TRANSPOSE_UNROLL
    for (int r = 0; r < K; r++) shared[TRANSPOSE_F(transpose_p_row_slot)(K, r, lane)] = u[r];
    __syncwarp(TRANSPOSE_P_FULL);
    TRANSPOSE_UNROLL
    for (int j = 0; j < K; j++) u[j] = shared[column + j];
}

/* Solves   the inverse of transpose_turn; Lanes, Shared, Cost as there */
TRANSPOSE_D void TRANSPOSE_F(transpose_unturn)(int K, TRANSPOSE_R *u, TRANSPOSE_R *shared)
{
    int lane = transpose_p_lane(), column = TRANSPOSE_F(transpose_p_column_slot)(K, lane);
    __syncwarp(TRANSPOSE_P_FULL);
    TRANSPOSE_UNROLL
    for (int j = 0; j < K; j++) shared[column + j] = u[j];
    __syncwarp(TRANSPOSE_P_FULL);
    TRANSPOSE_UNROLL
    for (int r = 0; r < K; r++) u[r] = shared[TRANSPOSE_F(transpose_p_row_slot)(K, r, lane)];
}

/* Solves   the inverse of transpose_fetch: writes u to the elements of dst below n; Needs, Lanes, Cost as there */
TRANSPOSE_D void TRANSPOSE_F(transpose_put)(int K, int W, int n, const TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_R *row = 0;
    int t, length = 0;
    TRANSPOSE_UNROLL
    for (int r = 0; r < K; r++) {
        TRANSPOSE_F(transpose_p_access)(K, W, r, dst, n, &row, &length, &t);
        if (t < length) row[t] = u[r];
    }
}

/* Solves   adds u to the elements of dst below n, not atomically; else as transpose_put
   Leaves   the sums in u */
TRANSPOSE_D void TRANSPOSE_F(transpose_add)(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_R *row = 0;
    int t, length = 0;
    TRANSPOSE_UNROLL
    for (int r = 0; r < K; r++) { /* all loads before the first store */
        TRANSPOSE_F(transpose_p_access)(K, W, r, dst, n, &row, &length, &t);
        if (t < length) u[r] += row[t];
    }
    TRANSPOSE_F(transpose_put)(K, W, n, u, dst);
}

/* Solves   u[j] = element l*K + j of src for lane l of the group, fill from n on: transpose_fetch and transpose_turn */
TRANSPOSE_D void TRANSPOSE_F(transpose_load)(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill,
                                             TRANSPOSE_R *u, TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_fetch)(K, W, n, src, fill, u);
    TRANSPOSE_F(transpose_turn)(K, u, shared);
}

/* Solves   element l*K + j of dst = u[j] of lane l of the group, below n: transpose_unturn and transpose_put
   Leaves   u clobbered */
TRANSPOSE_D void TRANSPOSE_F(transpose_store)(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst,
                                              TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_unturn)(K, u, shared);
    TRANSPOSE_F(transpose_put)(K, W, n, u, dst);
}

/* Solves   element l*K + j of dst += u[j], not atomically: transpose_unturn and transpose_add
   Leaves   u clobbered */
TRANSPOSE_D void TRANSPOSE_F(transpose_increment)(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst,
                                                  TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_unturn)(K, u, shared);
    TRANSPOSE_F(transpose_add)(K, W, n, u, dst);
}

/* ---- by shuffles ------------------------------------------------------------------------------------------------- */

/* The access along the rows that the shuffles start from: lane p of the group takes element e(p) of W neighbours, and
   row i goes to register r(i), so that exchanging the lowest m = log2 min(K,W) bits of the register's number with the
   highest m bits of the lane's gives the blocked layout. */
TRANSPOSE_D int TRANSPOSE_F(transpose_p_shfl_element)(int K, int W)
{
    int p = transpose_p_lane() & (W - 1), rest = W > K ? W / K : 1;
    return p / rest + p % rest * (W / rest);
}

TRANSPOSE_HD int TRANSPOSE_F(transpose_p_shfl_register)(int K, int W, int i)
{
    int low = K > W ? K / W : 1; /* rows whose numbers differ only in bits that stay in the register's number */
    return i / low + i % low * (K / low);
}

/* Exchanges bit b of the register's number with the lane's bit of weight distance. */
TRANSPOSE_D void TRANSPOSE_F(transpose_p_exchange)(int K, int W, int b, int distance, TRANSPOSE_R *u)
{
    int upper = transpose_p_lane() & distance;
    TRANSPOSE_UNROLL
    for (int r = 0; r < K; r++) {
        if (r & b) continue;
        TRANSPOSE_R low = u[r], high = u[r | b];
        TRANSPOSE_R got =
            __shfl_xor_sync(TRANSPOSE_P_FULL, TRANSPOSE_F(transpose_p_select)(upper, low, high), distance, W);
        u[r] = TRANSPOSE_F(transpose_p_select)(upper, got, low);
        u[r | b] = TRANSPOSE_F(transpose_p_select)(upper, high, got);
    }
}

/* Solves   u[r] = an element of each of the K accesses along the row of src, in the order that transpose_turn_shfl
            needs, fill from n on
   Needs    K a power of two
   Lanes    all 32 of the warp
   Shared   none
   Cost     K loads of W neighbours */
TRANSPOSE_D void TRANSPOSE_F(transpose_fetch_shfl)(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill,
                                                   TRANSPOSE_R *u)
{
    int e = TRANSPOSE_F(transpose_p_shfl_element)(K, W);
    TRANSPOSE_UNROLL
    for (int i = 0; i < K; i++)
        u[TRANSPOSE_F(transpose_p_shfl_register)(K, W, i)] = i * W + e < n ? src[i * W + e] : fill;
}

/* Solves   from the order of transpose_fetch_shfl to blocked layout, and from blocked layout back to it: the exchanges
            are their own inverses, and commute
   Needs    K a power of two
   Lanes    all 32 of the warp
   Shared   none
   Cost     K/2 * log2 min(K,W) shuffles (a double counts two), three selections with each */
TRANSPOSE_D void TRANSPOSE_F(transpose_turn_shfl)(int K, int W, TRANSPOSE_R *u)
{
    int least = K < W ? K : W;
    TRANSPOSE_UNROLL
    for (int b = 1; b < least; b *= 2) TRANSPOSE_F(transpose_p_exchange)(K, W, b, W / least * b, u);
}

/* Solves   the inverse of transpose_fetch_shfl, for the elements below n; Needs, Lanes, Cost as there */
TRANSPOSE_D void TRANSPOSE_F(transpose_put_shfl)(int K, int W, int n, const TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    int e = TRANSPOSE_F(transpose_p_shfl_element)(K, W);
    TRANSPOSE_UNROLL
    for (int i = 0; i < K; i++)
        if (i * W + e < n) dst[i * W + e] = u[TRANSPOSE_F(transpose_p_shfl_register)(K, W, i)];
}

/* Solves   adds u to the elements of dst below n, not atomically; else as transpose_put_shfl
   Leaves   the sums in u */
TRANSPOSE_D void TRANSPOSE_F(transpose_add_shfl)(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    int e = TRANSPOSE_F(transpose_p_shfl_element)(K, W);
    TRANSPOSE_UNROLL
    for (int i = 0; i < K; i++)
        if (i * W + e < n) u[TRANSPOSE_F(transpose_p_shfl_register)(K, W, i)] += dst[i * W + e];
    TRANSPOSE_F(transpose_put_shfl)(K, W, n, u, dst);
}

/* Solves   as transpose_load, by shuffles: transpose_fetch_shfl and transpose_turn_shfl */
TRANSPOSE_D void TRANSPOSE_F(transpose_load_shfl)(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill,
                                                  TRANSPOSE_R *u)
{
    TRANSPOSE_F(transpose_fetch_shfl)(K, W, n, src, fill, u);
    TRANSPOSE_F(transpose_turn_shfl)(K, W, u);
}

/* Solves   as transpose_store, by shuffles: transpose_turn_shfl and transpose_put_shfl */
TRANSPOSE_D void TRANSPOSE_F(transpose_store_shfl)(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_turn_shfl)(K, W, u);
    TRANSPOSE_F(transpose_put_shfl)(K, W, n, u, dst);
}

/* Solves   as transpose_increment, by shuffles: transpose_turn_shfl and transpose_add_shfl */
TRANSPOSE_D void TRANSPOSE_F(transpose_increment_shfl)(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_turn_shfl)(K, W, u);
    TRANSPOSE_F(transpose_add_shfl)(K, W, n, u, dst);
}

/* ---- 16-byte accesses -------------------------------------------------------------------------------------------- */

/* May elements j .. j+V-1 of the lane move as one 16-byte vector? */
TRANSPOSE_D int TRANSPOSE_F(transpose_p_whole)(int K, int n, int first, int j, const TRANSPOSE_R *row)
{
    const int V = 16 / (int)sizeof(TRANSPOSE_R);
    return K % V == 0 && ((size_t)row & 15) == 0 && first + j + V <= n;
}

/* Solves   as transpose_load, each lane reading its own elements, 16 bytes at a time
   Needs    any K; fast where K is a multiple of 16 bytes and the row starts on a multiple of 16 bytes: else, and at the
            row's end, element by element
   Shared   none
   Cost     K/4 (K/2 for 8-byte elements) loads; stream, a literal: 1 marks the lines as not needed again */
TRANSPOSE_D void TRANSPOSE_F(transpose_load_vec)(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill,
                                                 TRANSPOSE_R *u, int stream)
{
    const int V = 16 / (int)sizeof(TRANSPOSE_R);
    int first = K * (transpose_p_lane() & (W - 1));
    TRANSPOSE_UNROLL
    for (int j = 0; j < K; j += V) {
        if (TRANSPOSE_F(transpose_p_whole)(K, n, first, j, src)) {
            const TRANSPOSE_P_VECTOR *from = (const TRANSPOSE_P_VECTOR *)(src + first + j);
            TRANSPOSE_F(transpose_p_unpack)(stream ? TRANSPOSE_F(transpose_p_stream_in)(from) : *from, u + j);
        } else {
            TRANSPOSE_UNROLL
            for (int i = j; i < j + V && i < K; i++) u[i] = first + i < n ? src[first + i] : fill;
        }
    }
}

/* Solves   as transpose_store, each lane writing its own elements; u keeps its values
   Needs, Shared, Cost as transpose_load_vec */
TRANSPOSE_D void TRANSPOSE_F(transpose_store_vec)(int K, int W, int n, const TRANSPOSE_R *u, TRANSPOSE_R *dst,
                                                  int stream)
{
    const int V = 16 / (int)sizeof(TRANSPOSE_R);
    int first = K * (transpose_p_lane() & (W - 1));
    TRANSPOSE_UNROLL
    for (int j = 0; j < K; j += V) {
        if (TRANSPOSE_F(transpose_p_whole)(K, n, first, j, dst)) {
            TRANSPOSE_P_VECTOR *to = (TRANSPOSE_P_VECTOR *)(dst + first + j);
            TRANSPOSE_P_VECTOR value = TRANSPOSE_F(transpose_p_pack)(u + j);
            if (stream)
                TRANSPOSE_F(transpose_p_stream_out)(to, value);
            else
                *to = value;
        } else {
            TRANSPOSE_UNROLL
            for (int i = j; i < j + V && i < K; i++)
                if (first + i < n) dst[first + i] = u[i];
        }
    }
}

/* Solves   as transpose_increment, each lane its own elements; leaves the sums in u
   Needs, Shared, Cost as transpose_load_vec, for the loads and for the stores */
TRANSPOSE_D void TRANSPOSE_F(transpose_increment_vec)(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst, int stream)
{
    const int V = 16 / (int)sizeof(TRANSPOSE_R);
    int first = K * (transpose_p_lane() & (W - 1));
    TRANSPOSE_UNROLL
    for (int j = 0; j < K; j += V) {
        if (TRANSPOSE_F(transpose_p_whole)(K, n, first, j, dst)) {
            const TRANSPOSE_P_VECTOR *from = (const TRANSPOSE_P_VECTOR *)(dst + first + j);
            TRANSPOSE_R old[16 / sizeof(TRANSPOSE_R)];
            TRANSPOSE_F(transpose_p_unpack)(stream ? TRANSPOSE_F(transpose_p_stream_in)(from) : *from, old);
            TRANSPOSE_UNROLL
            for (int i = 0; i < V; i++) u[j + i] += old[i];
        } else {
            TRANSPOSE_UNROLL
            for (int i = j; i < j + V && i < K; i++)
                if (first + i < n) u[i] += dst[first + i];
        }
    }
    TRANSPOSE_F(transpose_store_vec)(K, W, n, u, dst, stream);
}

#ifdef __cplusplus /* the same without the suffix, for templates */
extern "C++" {
TRANSPOSE_D void transpose_load(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill, TRANSPOSE_R *u,
                                TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_load)(K, W, n, src, fill, u, shared);
}
TRANSPOSE_D void transpose_fetch(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill, TRANSPOSE_R *u)
{
    TRANSPOSE_F(transpose_fetch)(K, W, n, src, fill, u);
}
TRANSPOSE_D void transpose_turn(int K, TRANSPOSE_R *u, TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_turn)(K, u, shared);
}
TRANSPOSE_D void transpose_unturn(int K, TRANSPOSE_R *u, TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_unturn)(K, u, shared);
}
TRANSPOSE_D void transpose_put(int K, int W, int n, const TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_put)(K, W, n, u, dst);
}
TRANSPOSE_D void transpose_add(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_add)(K, W, n, u, dst);
}
TRANSPOSE_D void transpose_store(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst, TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_store)(K, W, n, u, dst, shared);
}
TRANSPOSE_D void transpose_increment(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst, TRANSPOSE_R *shared)
{
    TRANSPOSE_F(transpose_increment)(K, W, n, u, dst, shared);
}
TRANSPOSE_D void transpose_load_shfl(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill, TRANSPOSE_R *u)
{
    TRANSPOSE_F(transpose_load_shfl)(K, W, n, src, fill, u);
}
TRANSPOSE_D void transpose_fetch_shfl(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill, TRANSPOSE_R *u)
{
    TRANSPOSE_F(transpose_fetch_shfl)(K, W, n, src, fill, u);
}
TRANSPOSE_D void transpose_turn_shfl(int K, int W, TRANSPOSE_R *u)
{
    TRANSPOSE_F(transpose_turn_shfl)(K, W, u);
}
TRANSPOSE_D void transpose_put_shfl(int K, int W, int n, const TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_put_shfl)(K, W, n, u, dst);
}
TRANSPOSE_D void transpose_add_shfl(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_add_shfl)(K, W, n, u, dst);
}
TRANSPOSE_D void transpose_store_shfl(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_store_shfl)(K, W, n, u, dst);
}
TRANSPOSE_D void transpose_increment_shfl(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst)
{
    TRANSPOSE_F(transpose_increment_shfl)(K, W, n, u, dst);
}
TRANSPOSE_D void transpose_load_vec(int K, int W, int n, const TRANSPOSE_R *src, TRANSPOSE_R fill, TRANSPOSE_R *u,
                                    int stream)
{
    TRANSPOSE_F(transpose_load_vec)(K, W, n, src, fill, u, stream);
}
TRANSPOSE_D void transpose_store_vec(int K, int W, int n, const TRANSPOSE_R *u, TRANSPOSE_R *dst, int stream)
{
    TRANSPOSE_F(transpose_store_vec)(K, W, n, u, dst, stream);
}
TRANSPOSE_D void transpose_increment_vec(int K, int W, int n, TRANSPOSE_R *u, TRANSPOSE_R *dst, int stream)
{
    TRANSPOSE_F(transpose_increment_vec)(K, W, n, u, dst, stream);
}
}
#endif
#endif /* TRANSPOSE_DEVICE_SCOPES */

#undef TRANSPOSE_R
#undef TRANSPOSE_F
#endif /* TRANSPOSE_P_REAL */
