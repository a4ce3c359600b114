/* transpose.h - data movement between global memory and registers, coalesced and free of bank conflicts.

   MIT licence, see LICENSE. Copy this one file; it includes nothing of the kit.

   A warp reads 32 contiguous structs of five floats so that lane l gets all of struct l (examples/structs.cu):

       __global__ void lengths(int count, const float *structs, float *length)
       {
           __shared__ float buffer[TRANSPOSE_LEN_F32(5)];
           int first = 32 * (int)blockIdx.x, lane = (int)threadIdx.x;
           float s[5];
           transpose_load(5, 32, 5 * (count - first), structs + 5 * (size_t)first, 0.0f, s, buffer);
           if (first + lane < count)
               length[first + lane] = sqrtf(s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + s[3] * s[3] + s[4] * s[4]);
       }

   A group of w lanes holds a row of n elements, k in each lane. In the blocked layout lane l holds elements l*k ..
   l*k+k-1, with element l*k+j in u[j]. In the striped layout, in which accesses coalesce, lane l of the warp holds
   elements l, 32+l, 64+l, .. of the warp's 32*k. If the row consists of structs, k is the number of elements in a
   struct.
   The device functions are overloaded for float and double, elements of 4 and 8 bytes. All except the increments only
   move bits, so through cast pointers they also move other types of these sizes.

     global memory to the blocked layout, and back
       transpose_load, _store, _increment                 through shared memory: any k, any alignment, all coalesced
       transpose_load_shfl, _store_shfl, _increment_shfl  by shuffles: k a power of two, no shared memory
       transpose_load_vec, _store_vec, _increment_vec     by 16-byte accesses straight into the blocked layout
     their halves
       transpose_load_striped, _store_striped, _increment_striped     between global memory and the striped layout
       transpose_to_blocked, transpose_to_striped                     between the layouts, through shared memory
       transpose_load_striped_shfl, _store_striped_shfl, _increment_striped_shfl     in an order for shuffles
       transpose_exchange_shfl                             between that order and the blocked layout, by shuffles
     16-byte vectors, float4 or double2
       transpose_pack, transpose_unpack                   between a vector and elements in registers
     host and device
       transpose_index, transpose_row_slot, transpose_column_slot     the map behind transpose_to_blocked
       TRANSPOSE_LEN_F32(k), TRANSPOSE_LEN_F64(k)         elements of shared memory for a warp

   Which is best (docs/transpose.md has the figures):
     For one array use transpose_load and _store. _vec is as fast if a lane's k elements take 16 bytes; up to 32
     bytes, or 64 in rows aligned to 16 bytes, only _load_vec is. For several arrays, load all of them striped,
     so that all loads are in flight at once, and then transpose them one by one. Use _shfl where shared memory is
     scarce.

   Common contract:
     Lanes    All 32 lanes of the warp call the function, converged. w = 2, 4, 8, 16 or 32 lanes share a row. Each group
              has its own row: its lanes pass the same pointer and n.
     Sizes    k and w are literals: loops unroll and u stays in registers. n may be any number, but a group accesses
              only the first k*w elements of its row. Loads return `fill` from n on, and stores touch nothing from n on.
              With n <= 0 no global memory is touched, and the pointer may be null.
     Shared   Each warp passes an array of its own. It may serve call after call; call __syncwarp() before any other
              use. */

#ifndef TB_BODY
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

#define TRANSPOSE_VERSION 200 /* 100 * major + minor */

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

/* ---- the map ----------------------------------------------------------------------------------------------------- */

/* An array of 32 rows of `width` words is written along its rows, in the order t = i + j*width, and read along its
   columns, or vice versa. The map sends (i,j) to a slot. Shared memory serves `banks` words at once: 32 of four bytes,
   or 16 of eight. (An access to words of eight bytes is served in two halves of 16 lanes.) Let width = p*f, with p a
   power of two and f odd. With slot = t, rows that are banks/p apart would begin in the same bank. So one word of
   padding follows every f*max(p, banks) words, which are banks/p rows, or one row if p >= banks. (With 32 banks an odd
   width is never padded, because the 32 rows end where the first word of padding would follow.) */
#define TRANSPOSE_P_POWER(width) ((width) & -(width))
#define TRANSPOSE_P_PERIOD(width, banks)                                                                               \
    ((width) / TRANSPOSE_P_POWER(width) * (TRANSPOSE_P_POWER(width) > (banks) ? TRANSPOSE_P_POWER(width) : (banks)))
#define TRANSPOSE_P_LEN(width, banks) (32 * (width) + (32 * (width)-1) / TRANSPOSE_P_PERIOD(width, banks))

/* Elements of shared memory for 32 lanes of k elements. */
#define TRANSPOSE_LEN_F32(k) TRANSPOSE_P_LEN(k, 32)
#define TRANSPOSE_LEN_F64(k) TRANSPOSE_P_LEN(k, 16)

/* Returns the slot of element (i,j), in column i < width of row j < 32. No bank conflicts arise when lane l
   accesses the word with i + j*width = 32*r + l, or word i of row l.
   Needs    banks: 32 for 4-byte elements, 16 for 8-byte ones
   Cost     a division by a constant, which the next two functions avoid */
TB_HD int transpose_index(int banks, int width, int i, int j)
{
    int t = i + j * width;
    return t + t / TRANSPOSE_P_PERIOD(width, banks);
}

/* Returns the slot of t = 32*r + lane, a warp's r-th access along the rows. Padding never falls within a half of 16
   lanes. So all lanes of a half share the quotient of transpose_index, which depends only on the literal r and one bit
   of the lane's number. */
TB_HD int transpose_row_slot(int banks, int width, int r, int lane)
{
    int halves = TRANSPOSE_P_PERIOD(width, banks) / 16, half = 2 * r;
    int straddled = (half + 1) % halves == 0 ? lane >> 4 : 0;
    return 32 * r + lane + half / halves + straddled;
}

/* Returns the slot of i = 0, j = lane. Column i follows i words later, because padding never falls within a row. */
TB_HD int transpose_column_slot(int banks, int width, int lane)
{
    return lane * width + lane / (TRANSPOSE_P_PERIOD(width, banks) / width);
}

/* How many of the body's elements shared memory serves at once. */
#define TRANSPOSE_BANKS (TB_BYTES == 4 ? 32 : 16)

/* ---- warps ------------------------------------------------------------------------------------------------------- */

#if TB_DEVICE_SCOPES
TB_D int transpose_p_lane(void)
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

/* ---- the body, once for each precision: overloads ---------------------------------------------------------------- */

#define TB_BODY "transpose.h"
extern "C++" {
inline namespace tb_f32
{
#define tb_real float
#define TB_BYTES 4
#include TB_BODY
#undef tb_real
#undef TB_BYTES
}
inline namespace tb_f64
{
#define tb_real double
#define TB_BYTES 8
#include TB_BODY
#undef tb_real
#undef TB_BYTES
}
}
#undef TB_BODY

#endif /* TB_DEVICE_SCOPES */

#endif /* TRANSPOSE_H */
#else /* TB_BODY: over tb_real */

#if TB_BYTES == 4
typedef float4 transpose_vector;
#else
typedef double2 transpose_vector;
#endif

/* ---- vectors of 16 bytes ----------------------------------------------------------------------------------------- */

/* Copies a vector to elements in registers. */
TB_D void transpose_unpack(transpose_vector v, tb_real *u)
{
    memcpy(u, &v, sizeof v);
}

/* Returns elements in registers as a vector. */
TB_D transpose_vector transpose_pack(const tb_real *u)
{
    transpose_vector v;
    memcpy(&v, u, sizeof v);
    return v;
}

/* Load and store a vector of global memory whose cache line is not needed again. The hint needs nvcc: clang provides no
   function for it when it compiles CUDA. */
TB_D transpose_vector transpose_p_stream_in(const transpose_vector *from)
{
#if defined __clang__ && defined __CUDA__ && !defined __NVCC__
    return *from;
#else
    return __ldcs(from);
#endif
}
TB_D void transpose_p_stream_out(transpose_vector *to, transpose_vector v)
{
#if defined __clang__ && defined __CUDA__ && !defined __NVCC__
    *to = v;
#else
    __stcs(to, v);
#endif
}

/* Returns condition ? yes : no by a selection. With ?: the compiler may branch, and put a copy of the next shuffle
   into each branch (with nvcc 13.0 a solve with shuffled loads then took three times as long). */
TB_D tb_real transpose_p_select(int condition, tb_real yes, tb_real no)
{
#ifndef __CUDA_ARCH__
    return condition ? yes : no;
#else
#if TB_BYTES == 4
    asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; selp.f32 %0, %2, %3, p; }"
        : "=f"(no)
        : "r"(condition), "f"(yes), "f"(no));
#else
    asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; selp.f64 %0, %2, %3, p; }"
        : "=d"(no)
        : "r"(condition), "d"(yes), "d"(no));
#endif
    return no;
#endif
}

/* ---- through shared memory --------------------------------------------------------------------------------------- */

/* Finds a warp's r-th access along the rows of its groups: this lane accesses element *t of *row, which has *n
   elements. Callers step r from 0 to k-1, since *row and *n are set only where the group may change. The first lane of
   each group supplies the group's row and length. */
TB_D void transpose_p_access(int k, int w, int r, const tb_real *mine, int n_mine, tb_real **row, int *n, int *t)
{
    int e = 32 * r + transpose_p_lane(), even = k * w % 32 == 0; /* even: an access stays within one group */
    int group = w == 32 ? 0 : (even ? 32 * r : e) / (k * w);
    *t = e - group * k * w;
    if (w == 32) {
        *row = (tb_real *)mine;
        *n = n_mine;
    } else if (!even || 32 * r % (k * w) == 0) {
        *row = (tb_real *)__shfl_sync(TB_FULL_WARP, (unsigned long long)mine, group * w);
        *n = __shfl_sync(TB_FULL_WARP, n_mine, group * w);
    }
}

/* Loads this lane's element of the r-th access along the rows of src into u[r], or `fill` from n on. If w is 32, that
   element is number 32*r + lane.
   Needs    any k >= 1; no alignment beyond the element's
   Lanes    all 32 of the warp
   Leaves   u in the striped layout, for transpose_to_blocked
   Shared   none
   Cost     k coalesced loads; if w < 32, three shuffles for each row, or for each load if k*w is no multiple of 32 */
TB_D void transpose_load_striped(int k, int w, int n, const tb_real *src, tb_real fill, tb_real *u)
{
    tb_real *row = 0;
    int t, length = 0;
    TB_UNROLL
    for (int r = 0; r < k; r++) {
        transpose_p_access(k, w, r, src, n, &row, &length, &t);
        u[r] = t < length ? row[t] : fill;
    }
}

/* Transposes from the striped layout, where u[r] of lane l is element 32*r + l of the warp's 32*k, to the blocked
   layout, where u[j] of lane l is element l*k + j.
   Lanes    all 32 of the warp
   Shared   TRANSPOSE_LEN_F32(k) or _F64(k) elements for the warp; no bank conflicts
   Cost     k stores, k loads, 2 __syncwarp */
TB_D void transpose_to_blocked(int k, tb_real *u, tb_real *shared)
{
    int lane = transpose_p_lane(), column = transpose_column_slot(TRANSPOSE_BANKS, k, lane);
    __syncwarp(TB_FULL_WARP); /* earlier contents have been read */
    TB_UNROLL
    for (int r = 0; r < k; r++) shared[transpose_row_slot(TRANSPOSE_BANKS, k, r, lane)] = u[r];
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < k; j++) u[j] = shared[column + j];
}

/* Transposes from the blocked layout to the striped one.
   Lanes, Shared, Cost as transpose_to_blocked */
TB_D void transpose_to_striped(int k, tb_real *u, tb_real *shared)
{
    int lane = transpose_p_lane(), column = transpose_column_slot(TRANSPOSE_BANKS, k, lane);
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int j = 0; j < k; j++) shared[column + j] = u[j];
    __syncwarp(TB_FULL_WARP);
    TB_UNROLL
    for (int r = 0; r < k; r++) u[r] = shared[transpose_row_slot(TRANSPOSE_BANKS, k, r, lane)];
}

/* Stores u to the elements of dst below n, in the order of transpose_load_striped.
   Needs, Lanes as transpose_load_striped
   Cost     that of transpose_load_striped, with stores in place of loads */
TB_D void transpose_store_striped(int k, int w, int n, const tb_real *u, tb_real *dst)
{
    tb_real *row = 0;
    int t, length = 0;
    TB_UNROLL
    for (int r = 0; r < k; r++) {
        transpose_p_access(k, w, r, dst, n, &row, &length, &t);
        if (t < length) row[t] = u[r];
    }
}

/* Adds u to the elements of dst below n, not atomically, in the order of transpose_load_striped.
   Needs, Lanes as transpose_load_striped
   Leaves   the sums in u
   Cost     those of transpose_load_striped and transpose_store_striped */
TB_D void transpose_increment_striped(int k, int w, int n, tb_real *u, tb_real *dst)
{
    tb_real *row = 0;
    int t, length = 0;
    TB_UNROLL
    for (int r = 0; r < k; r++) { /* all loads before the first store */
        transpose_p_access(k, w, r, dst, n, &row, &length, &t);
        if (t < length) u[r] += row[t];
    }
    transpose_store_striped(k, w, n, u, dst);
}

/* Loads element l*k + j of src into u[j] of the group's lane l, or `fill` from n on: transpose_load_striped, then
   transpose_to_blocked. */
TB_D void transpose_load(int k, int w, int n, const tb_real *src, tb_real fill, tb_real *u, tb_real *shared)
{
    transpose_load_striped(k, w, n, src, fill, u);
    transpose_to_blocked(k, u, shared);
}

/* Stores u[j] of the group's lane l to element l*k + j of dst, below n: transpose_to_striped, then
   transpose_store_striped.
   Leaves   u clobbered */
TB_D void transpose_store(int k, int w, int n, tb_real *u, tb_real *dst, tb_real *shared)
{
    transpose_to_striped(k, u, shared);
    transpose_store_striped(k, w, n, u, dst);
}

/* Adds u[j] of the group's lane l to element l*k + j of dst, below n, not atomically: transpose_to_striped, then
   transpose_increment_striped.
   Leaves   u clobbered */
TB_D void transpose_increment(int k, int w, int n, tb_real *u, tb_real *dst, tb_real *shared)
{
    transpose_to_striped(k, u, shared);
    transpose_increment_striped(k, w, n, u, dst);
}

/* ---- by shuffles ------------------------------------------------------------------------------------------------- */

/* Define the order from which the shuffles start. In each access along the row, lane p of the group takes element e(p)
   of w neighbours. The i-th access fills register r(i). The blocked layout then follows by exchanging the lowest
   m = log2 min(k,w) bits of the register's number with the highest m bits of the lane's number. */
TB_D int transpose_p_shfl_element(int k, int w)
{
    int p = transpose_p_lane() & (w - 1), rest = w > k ? w / k : 1;
    return p / rest + p % rest * (w / rest);
}

TB_HD int transpose_p_shfl_register(int k, int w, int i)
{
    int low = k > w ? k / w : 1; /* the bits of i below the weight `low` are not exchanged */
    return i / low + i % low * (k / low);
}

/* Exchanges the bit of weight b of the register's number with the bit of weight `distance` of the lane's number. */
TB_D void transpose_p_exchange(int k, int w, int b, int distance, tb_real *u)
{
    int upper = transpose_p_lane() & distance;
    TB_UNROLL
    for (int r = 0; r < k; r++) {
        if (r & b) continue;
        tb_real low = u[r], high = u[r | b];
        tb_real got = __shfl_xor_sync(TB_FULL_WARP, transpose_p_select(upper, low, high), distance, w);
        u[r] = transpose_p_select(upper, got, low);
        u[r | b] = transpose_p_select(upper, high, got);
    }
}

/* Loads k elements of src into u, one in each access along the row, in the order that transpose_exchange_shfl needs;
   `fill` from n on.
   Needs    k a power of two
   Lanes    all 32 of the warp
   Shared   none
   Cost     k loads of w neighbours */
TB_D void transpose_load_striped_shfl(int k, int w, int n, const tb_real *src, tb_real fill, tb_real *u)
{
    int e = transpose_p_shfl_element(k, w);
    TB_UNROLL
    for (int i = 0; i < k; i++) u[transpose_p_shfl_register(k, w, i)] = i * w + e < n ? src[i * w + e] : fill;
}

/* Transposes from the order of transpose_load_striped_shfl to the blocked layout, or back: the exchanges commute, and
   each is its own inverse.
   Needs    k a power of two
   Lanes    all 32 of the warp
   Shared   none
   Cost     k/2 * log2 min(k,w) shuffles (a double counts as two), with three selections each */
TB_D void transpose_exchange_shfl(int k, int w, tb_real *u)
{
    int least = k < w ? k : w;
    TB_UNROLL
    for (int b = 1; b < least; b *= 2) transpose_p_exchange(k, w, b, w / least * b, u);
}

/* Stores u to the elements of dst below n, in the order of transpose_load_striped_shfl.
   Needs, Lanes as transpose_load_striped_shfl
   Cost     k stores to w neighbours */
TB_D void transpose_store_striped_shfl(int k, int w, int n, const tb_real *u, tb_real *dst)
{
    int e = transpose_p_shfl_element(k, w);
    TB_UNROLL
    for (int i = 0; i < k; i++)
        if (i * w + e < n) dst[i * w + e] = u[transpose_p_shfl_register(k, w, i)];
}

/* Adds u to the elements of dst below n, not atomically, in the order of transpose_load_striped_shfl.
   Needs, Lanes as transpose_load_striped_shfl
   Leaves   the sums in u
   Cost     k loads of w neighbours, k stores */
TB_D void transpose_increment_striped_shfl(int k, int w, int n, tb_real *u, tb_real *dst)
{
    int e = transpose_p_shfl_element(k, w);
    TB_UNROLL
    for (int i = 0; i < k; i++)
        if (i * w + e < n) u[transpose_p_shfl_register(k, w, i)] += dst[i * w + e];
    transpose_store_striped_shfl(k, w, n, u, dst);
}

/* Loads as transpose_load does, by shuffles: transpose_load_striped_shfl, then transpose_exchange_shfl. */
TB_D void transpose_load_shfl(int k, int w, int n, const tb_real *src, tb_real fill, tb_real *u)
{
    transpose_load_striped_shfl(k, w, n, src, fill, u);
    transpose_exchange_shfl(k, w, u);
}

/* Stores as transpose_store does, by shuffles: transpose_exchange_shfl, then transpose_store_striped_shfl. */
TB_D void transpose_store_shfl(int k, int w, int n, tb_real *u, tb_real *dst)
{
    transpose_exchange_shfl(k, w, u);
    transpose_store_striped_shfl(k, w, n, u, dst);
}

/* Adds as transpose_increment does, by shuffles: transpose_exchange_shfl, then transpose_increment_striped_shfl. */
TB_D void transpose_increment_shfl(int k, int w, int n, tb_real *u, tb_real *dst)
{
    transpose_exchange_shfl(k, w, u);
    transpose_increment_striped_shfl(k, w, n, u, dst);
}

/* ---- 16-byte accesses -------------------------------------------------------------------------------------------- */

/* Returns whether elements j .. j+vector-1 of the lane can move as one 16-byte vector. */
TB_D int transpose_p_whole(int k, int n, int first, int j, const tb_real *row)
{
    const int vector = 16 / (int)sizeof(tb_real);
    return k % vector == 0 && ((size_t)row & 15) == 0 && first + j + vector <= n;
}

/* Loads into u or, if the literal `add` is not 0, adds to u. `fill` is used only without `add`. */
TB_D void transpose_p_load_vec(int k, int w, int n, const tb_real *src, int add, tb_real fill, tb_real *u, int stream)
{
    const int vector = 16 / (int)sizeof(tb_real);
    int first = k * (transpose_p_lane() & (w - 1));
    TB_UNROLL
    for (int j = 0; j < k; j += vector) {
        if (transpose_p_whole(k, n, first, j, src)) {
            const transpose_vector *from = (const transpose_vector *)(src + first + j);
            tb_real more[16 / sizeof(tb_real)];
            transpose_unpack(stream ? transpose_p_stream_in(from) : *from, add ? more : u + j);
            TB_UNROLL
            for (int i = 0; add && i < vector; i++) u[j + i] += more[i];
        } else {
            TB_UNROLL
            for (int i = j; i < j + vector && i < k; i++) {
                if (first + i < n)
                    u[i] = add ? u[i] + src[first + i] : src[first + i];
                else if (!add)
                    u[i] = fill;
            }
        }
    }
}

/* Loads as transpose_load does, but each lane reads its own elements, 16 bytes at a time. Pass 1 for `stream`, a
   literal, if the cache lines are not needed again.
   Needs    any k. If k elements do not take a multiple of 16 bytes, or the row is not aligned to 16 bytes, elements
            move one by one; so do those at the row's end if fewer than 16 bytes remain
   Shared   none
   Cost     k/4 loads, or k/2 of doubles; k if elements move one by one */
TB_D void transpose_load_vec(int k, int w, int n, const tb_real *src, tb_real fill, tb_real *u, int stream)
{
    transpose_p_load_vec(k, w, n, src, 0, fill, u, stream);
}

/* Stores as transpose_store does, but each lane writes its own elements, and u keeps its values.
   Needs, Shared, Cost as transpose_load_vec */
TB_D void transpose_store_vec(int k, int w, int n, const tb_real *u, tb_real *dst, int stream)
{
    const int vector = 16 / (int)sizeof(tb_real);
    int first = k * (transpose_p_lane() & (w - 1));
    TB_UNROLL
    for (int j = 0; j < k; j += vector) {
        if (transpose_p_whole(k, n, first, j, dst)) {
            transpose_vector *to = (transpose_vector *)(dst + first + j);
            transpose_vector value = transpose_pack(u + j);
            if (stream)
                transpose_p_stream_out(to, value);
            else
                *to = value;
        } else {
            TB_UNROLL
            for (int i = j; i < j + vector && i < k; i++)
                if (first + i < n) dst[first + i] = u[i];
        }
    }
}

/* Adds as transpose_increment does, but each lane updates its own elements.
   Leaves   the sums in u
   Needs, Shared, Cost as transpose_load_vec, for the loads and for the stores */
TB_D void transpose_increment_vec(int k, int w, int n, tb_real *u, tb_real *dst, int stream)
{
    transpose_p_load_vec(k, w, n, dst, 1, 0, u, stream);
    transpose_store_vec(k, w, n, u, dst, stream);
}

#endif /* TB_BODY */
