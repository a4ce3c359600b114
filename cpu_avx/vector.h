/* vector.h - a room of cpu_avx.h: a vector of numbers, and the functions of vector scope on lanes.
   MIT licence, see LICENSE.

   A vector is a type of the compiler's own: v[l] is its lane l, and + - * / work on all lanes. Where an operation needs
   instructions of the set, the set's file or one that it includes defines CPU_AVX_OP_name. plain.h defines in C those
   for which this file has no code. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define CPU_AVX_P_INFINITY ((cpu_avx_p_bits)(CPU_AVX_SIZE == 4 ? 0xff000000u : 0xffe0000000000000u))
#define CPU_AVX_P_LOST (1 / (cpu_avx_real)(1LL << (CPU_AVX_SIZE == 4 ? 27 : 56))) /* an eighth of a unit roundoff */
#define CPU_AVX_P_CACHE_LINE (64 / CPU_AVX_SIZE)                                  /* elements of a cache line */
#define CPU_AVX_P_BLOCK (16 / CPU_AVX_SIZE) /* elements in 16 bytes: shuffles within such a block are cheapest */

#define cpu_avx_p_bits CPU_AVX_OF(cpu_avx_p_bits)
#define cpu_avx_p_magnitude CPU_AVX_OF(cpu_avx_p_magnitude)
#define cpu_avx_p_finite CPU_AVX_OF(cpu_avx_p_finite)
#define cpu_avx_p_bad_pivot CPU_AVX_OF(cpu_avx_p_bad_pivot)
#define cpu_avx_width CPU_AVX_OF(cpu_avx_width)
#define cpu_avx_vec CPU_AVX_OF_SET(cpu_avx_vec)
#define cpu_avx_lanes CPU_AVX_OF_SET(cpu_avx_lanes)
#define cpu_avx_set CPU_AVX_OF_SET(cpu_avx_set)
#define cpu_avx_load CPU_AVX_OF_SET(cpu_avx_load)
#define cpu_avx_load_part CPU_AVX_OF_SET(cpu_avx_load_part)
#define cpu_avx_store CPU_AVX_OF_SET(cpu_avx_store)
#define cpu_avx_store_part CPU_AVX_OF_SET(cpu_avx_store_part)
#define cpu_avx_stream CPU_AVX_OF_SET(cpu_avx_stream)
#define cpu_avx_fma CPU_AVX_OF_SET(cpu_avx_fma)
#define cpu_avx_fnma CPU_AVX_OF_SET(cpu_avx_fnma)
#define cpu_avx_min CPU_AVX_OF_SET(cpu_avx_min)
#define cpu_avx_max CPU_AVX_OF_SET(cpu_avx_max)
#define cpu_avx_sqrt CPU_AVX_OF_SET(cpu_avx_sqrt)
#define cpu_avx_select CPU_AVX_OF_SET(cpu_avx_select)
#define cpu_avx_down CPU_AVX_OF_SET(cpu_avx_down)
#define cpu_avx_up CPU_AVX_OF_SET(cpu_avx_up)
#define cpu_avx_rotate_up CPU_AVX_OF_SET(cpu_avx_rotate_up)
#define cpu_avx_rotate_down CPU_AVX_OF_SET(cpu_avx_rotate_down)
#define cpu_avx_sum CPU_AVX_OF_SET(cpu_avx_sum)
#define cpu_avx_rcp CPU_AVX_OF_SET(cpu_avx_rcp)
#define cpu_avx_check CPU_AVX_OF_SET(cpu_avx_check)
#define cpu_avx_worst CPU_AVX_OF_SET(cpu_avx_worst)
#define cpu_avx_transpose CPU_AVX_OF_SET(cpu_avx_transpose)
#define cpu_avx_p_picks CPU_AVX_OF_SET(cpu_avx_p_picks)
#define cpu_avx_p_lane_numbers CPU_AVX_OF_SET(cpu_avx_p_lane_numbers)
#define cpu_avx_p_pick CPU_AVX_OF_SET(cpu_avx_p_pick)
#define cpu_avx_p_transpose_round CPU_AVX_OF_SET(cpu_avx_p_transpose_round)
#define cpu_avx_load_tile CPU_AVX_OF_SET(cpu_avx_load_tile)
#define cpu_avx_store_tile CPU_AVX_OF_SET(cpu_avx_store_tile)
#define cpu_avx_p_clip CPU_AVX_OF_SET(cpu_avx_p_clip)
#define cpu_avx_p_to_columns CPU_AVX_OF_SET(cpu_avx_p_to_columns)
#define cpu_avx_p_from_columns CPU_AVX_OF_SET(cpu_avx_p_from_columns)
#define cpu_avx_p_madd CPU_AVX_OF_SET(cpu_avx_p_madd)
#define cpu_avx_p_bad_reciprocal CPU_AVX_OF_SET(cpu_avx_p_bad_reciprocal)

#elif CPU_AVX_PASS == CPU_AVX_PASS_TYPES /* of a precision, shared by its sets */

#if CPU_AVX_SIZE == 4
typedef uint32_t cpu_avx_p_bits;
#else
typedef uint64_t cpu_avx_p_bits;
#endif

/* Returns the bits of x, shifted left by one so that the sign is gone; for an infinity, CPU_AVX_P_INFINITY. Tests of
   bits survive -ffast-math. */
CPU_AVX_P_INLINE cpu_avx_p_bits cpu_avx_p_magnitude(cpu_avx_real x)
{
    cpu_avx_p_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1;
}

CPU_AVX_API int cpu_avx_p_finite(cpu_avx_real x)
{
    return cpu_avx_p_magnitude(x) < CPU_AVX_P_INFINITY;
}

CPU_AVX_API int cpu_avx_p_bad_pivot(cpu_avx_real pivot, cpu_avx_real reciprocal)
{
    return pivot == 0 || reciprocal == 0 || !cpu_avx_p_finite(pivot) || !cpu_avx_p_finite(reciprocal);
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* A vector of lane numbers. */
typedef cpu_avx_p_bits cpu_avx_p_picks __attribute__((vector_size(CPU_AVX_SIZE * CPU_AVX_P_LANES)));

/* Returns the vector with v[l] = x. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_set(cpu_avx_real x)
{
    const cpu_avx_vec zero = {0};
    return x - zero; /* keeps -0 */
}

/* Returns the vector with v[l] = p[l]; p may have any alignment. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_load(const cpu_avx_real *p)
{
    cpu_avx_vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Returns the vector with v[l] = p[l] for l < n, else 0. Does not read p[n] or beyond.
   Needs    0 <= n <= lanes */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_load_part(const cpu_avx_real *p, int n)
{
#ifdef CPU_AVX_OP_LOAD_PART
    return CPU_AVX_OP_LOAD_PART(p, n);
#else
    cpu_avx_vec v = cpu_avx_set(0);
    CPU_AVX_P_UNROLL
    for (int l = 0; l < cpu_avx_lanes; l++) /* a loop that ends at n would become a call to memcpy */
        if (l < n) v[l] = p[l];
    return v;
#endif
}

/* Stores p[l] = v[l]; p may have any alignment. */
CPU_AVX_INLINE void cpu_avx_store(cpu_avx_real *p, cpu_avx_vec v)
{
    memcpy(p, &v, sizeof v);
}

/* Stores p[l] = v[l] for l < n. */
CPU_AVX_INLINE void cpu_avx_store_part(cpu_avx_real *p, int n, cpu_avx_vec v)
{
#ifdef CPU_AVX_OP_STORE_PART
    CPU_AVX_OP_STORE_PART(p, n, v);
#else
    CPU_AVX_P_UNROLL
    for (int l = 0; l < cpu_avx_lanes; l++)
        if (l < n) p[l] = v[l];
#endif
}

/* Stores p[l] = v[l] past the caches; in NEON and plain C through them.
   Needs    p aligned to the size of a vector; cpu_avx_fence before another thread reads the numbers */
CPU_AVX_INLINE void cpu_avx_stream(cpu_avx_real *p, cpu_avx_vec v)
{
#ifdef CPU_AVX_OP_STREAM
    CPU_AVX_OP_STREAM(p, v);
#else
    cpu_avx_store(p, v);
#endif
}

/* Returns a[l] b[l] + c[l].
   Error    rounded once in AVX2, AVX-512 and NEON; elsewhere twice, unless the compiler fuses the operations */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_fma(cpu_avx_vec a, cpu_avx_vec b, cpu_avx_vec c)
{
#if CPU_AVX_P_HAS_FMA
    return CPU_AVX_OP_FMA(a, b, c);
#else
    return a * b + c;
#endif
}

/* Returns c[l] - a[l] b[l], rounded as cpu_avx_fma. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_fnma(cpu_avx_vec a, cpu_avx_vec b, cpu_avx_vec c)
{
#if CPU_AVX_P_HAS_FMA
    return CPU_AVX_OP_FNMA(a, b, c);
#else
    return c - a * b;
#endif
}

/* Returns x[l] < y[l] ? a[l] : b[l]. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_select(cpu_avx_vec x, cpu_avx_vec y, cpu_avx_vec a, cpu_avx_vec b)
{
    return CPU_AVX_OP_SELECT(x, y, a, b);
}

/* Returns a[l] < b[l] ? a[l] : b[l]. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_min(cpu_avx_vec a, cpu_avx_vec b)
{
    return CPU_AVX_OP_MIN(a, b);
}

/* Returns a[l] > b[l] ? a[l] : b[l]. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_max(cpu_avx_vec a, cpu_avx_vec b)
{
    return CPU_AVX_OP_MAX(a, b);
}

/* Returns the square root of a[l], correctly rounded. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_sqrt(cpu_avx_vec a)
{
    return CPU_AVX_OP_SQRT(a);
}

/* Returns the vector with l in lane l. */
CPU_AVX_INLINE cpu_avx_p_picks cpu_avx_p_lane_numbers(void)
{
    cpu_avx_p_picks lane = {0};
    CPU_AVX_P_UNROLL
    for (int l = 0; l < cpu_avx_lanes; l++) lane[l] = (cpu_avx_p_bits)l;
    return lane;
}

/* Takes a and b as one vector of 2*lanes lanes, and returns its lane from[l] in lane l. This is a shuffle if the
   optimiser knows `from`. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_pick(cpu_avx_vec a, cpu_avx_vec b, cpu_avx_p_picks from)
{
#ifdef __clang__
    cpu_avx_vec v = a;
    CPU_AVX_P_UNROLL
    for (int l = 0; l < cpu_avx_lanes; l++) v[l] = from[l] < cpu_avx_lanes ? a[from[l]] : b[from[l] - cpu_avx_lanes];
    return v;
#else
    return __builtin_shuffle(a, b, from);
#endif
}

/* Returns the neighbours s lanes above, where b follows a: l < lanes - s ? a[l + s] : b[l - lanes + s].
   Needs    s a literal, 0 < s < lanes */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_down(cpu_avx_vec a, cpu_avx_vec b, int s)
{
#ifdef CPU_AVX_OP_DOWN
    return CPU_AVX_OP_DOWN(a, b, s);
#else
    const cpu_avx_p_bits lanes = cpu_avx_lanes, half = lanes / 2, by = (cpu_avx_p_bits)s;
    const cpu_avx_p_picks lane = cpu_avx_p_lane_numbers();
    if (sizeof a != 32 || by == half) return cpu_avx_p_pick(a, b, lane + by);
    /* In vectors of 32 bytes, only a shift by half a vector moves lanes between the halves in one shuffle. Other shifts
       begin with it, and then move lanes within the halves. */
    const cpu_avx_vec middle = cpu_avx_p_pick(a, b, lane + half);
    const cpu_avx_p_picks at = lane % half + by % half, from = lane / half * half + at % half + at / half * lanes;
    return by < half ? cpu_avx_p_pick(a, middle, from) : cpu_avx_p_pick(middle, b, from);
#endif
}

/* Returns the neighbours s lanes below, where a precedes b: l >= s ? b[l - s] : a[lanes - s + l].
   Needs    as cpu_avx_down */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_up(cpu_avx_vec a, cpu_avx_vec b, int s)
{
    return cpu_avx_down(a, b, cpu_avx_lanes - s);
}

/* Returns v[(l - 1) mod lanes]. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_rotate_up(cpu_avx_vec v)
{
    return cpu_avx_up(v, v, 1);
}

/* Returns v[(l + 1) mod lanes]. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_rotate_down(cpu_avx_vec v)
{
    return cpu_avx_down(v, v, 1);
}

/* Returns the sum of all v[l].
   Cost     log2 lanes calls of cpu_avx_down, and as many additions */
CPU_AVX_INLINE cpu_avx_real cpu_avx_sum(cpu_avx_vec v)
{
    CPU_AVX_P_UNROLL
    for (int s = cpu_avx_lanes / 2; s > 0; s /= 2) v = v + cpu_avx_down(v, v, s);
    return v[0];
}

/* Returns the reciprocal 1 / v[l].
   Error    f32 in AVX, AVX2 and AVX-512: the processor's approximation to 12 or 14 bits and one correction; at most
            1.61, 0.51 and 0.6 ulp. Measured on Zen 4 over all significands: at most 1.55, 0.50 and 0.53 ulp. The mean
            of the signed errors is at most 0.003 ulp, so results do not drift over many time steps. 0, subnormals whose
            reciprocal overflows, infinities and NaN give NaN. In AVX and AVX2 any subnormal gives NaN, and numbers from
            about 2^126 on give 0; cpu_avx_check sees both. In f64, NEON, plain C and with CPU_AVX_EXACT_RCP: a
            division, within 0.5 ulp. In f64 an approximation with two Newton steps is 1.7 times as fast alone, but
            takes 1.4 times as long in an elimination */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_rcp(cpu_avx_vec v)
{
#if CPU_AVX_P_RCP_BITS == 0 || defined CPU_AVX_EXACT_RCP || CPU_AVX_SIZE == 8
    return cpu_avx_set(1) / v;
#else
    const cpu_avx_vec y = CPU_AVX_OP_RCP(v);
    cpu_avx_vec error = cpu_avx_fnma(v, y, cpu_avx_set(1));
#if CPU_AVX_P_RCP_BITS < 14 /* 12 bits: the square of the error matters, and always has the same sign */
    error = cpu_avx_fma(error, error, error);
#endif
    return cpu_avx_fma(y, error, y);
#endif
}

/* Returns `sound` with a mark in each lane whose pivot or reciprocal is 0, infinite or NaN. The caller starts with 0,
   and passes the result on from row to row.
   Cost     2 FMA (in AVX 2 products and 2 sums): 1 - pivot * reciprocal is a few ulp for a sound pivot, and 1, infinite
            or NaN for a bad one. A sum of squares keeps these values. A test of whether the product is finite would
            miss a reciprocal that underflowed to 0. Plain C tests both numbers in each lane instead */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_check(cpu_avx_vec sound, cpu_avx_vec pivot, cpu_avx_vec reciprocal)
{
#ifndef CPU_AVX_P_REGISTER
    for (int l = 0; l < cpu_avx_lanes; l++)
        if (cpu_avx_p_bad_pivot(pivot[l], reciprocal[l])) sound[l] = 1;
    return sound;
#else
    __asm__("" : CPU_AVX_P_REGISTER(reciprocal)); /* hides from -ffast-math that the product is 1 */
    cpu_avx_vec error = cpu_avx_fnma(pivot, reciprocal, cpu_avx_set(1));
    return cpu_avx_fma(error, error, sound);
#endif
}

/* Returns the first lane that cpu_avx_check marked, or `lanes`. */
CPU_AVX_INLINE int cpu_avx_worst(cpu_avx_vec sound)
{
    int l = 0;
    while (l < cpu_avx_lanes && cpu_avx_p_finite(sound[l]) && sound[l] < (cpu_avx_real)0.5) l++;
    return l;
}

/* Makes a round of a transpose: puts the even items of two vectors into one vector and the odd ones into another. An
   item consists of `item` lanes, and the two vectors are `item` apart. The round takes place within each block of
   `whole` lanes and `whole` vectors. `item` and `whole` are literals. */
CPU_AVX_INLINE void cpu_avx_p_transpose_round(cpu_avx_vec *v, cpu_avx_p_bits item, cpu_avx_p_bits whole)
{
    const cpu_avx_p_bits lanes = cpu_avx_lanes;
    const cpu_avx_p_picks lane = cpu_avx_p_lane_numbers(), at = lane % whole / item * (2 * item);
    const cpu_avx_p_picks even = lane / whole * whole + at % whole + at / whole * lanes + lane % item;
    cpu_avx_vec was[cpu_avx_lanes];
    CPU_AVX_P_UNROLL
    for (int i = 0; i < cpu_avx_lanes; i++) was[i] = v[i];
    CPU_AVX_P_UNROLL
    for (int i = 0; i < cpu_avx_lanes; i++) {
        const cpu_avx_p_bits k = (cpu_avx_p_bits)i, to = k % whole / item * (2 * item);
        const cpu_avx_p_bits from = k / whole * whole + to % whole + k % item;
        v[i] = cpu_avx_p_pick(was[from], was[from + item], to < whole ? even : even + item);
    }
}

/* Transposes `lanes` vectors: exchanges v[i][l] and v[l][i]. Items are first the lanes of each block of 16 bytes, then
   whole blocks, so that each shuffle is a single instruction.
   Cost     lanes log2 lanes shuffles */
CPU_AVX_INLINE void cpu_avx_transpose(cpu_avx_vec *v)
{
    CPU_AVX_P_UNROLL
    for (int round = 1; round < CPU_AVX_P_BLOCK; round *= 2) cpu_avx_p_transpose_round(v, 1, CPU_AVX_P_BLOCK);
    CPU_AVX_P_UNROLL
    for (int round = CPU_AVX_P_BLOCK; round < cpu_avx_lanes; round *= 2)
        cpu_avx_p_transpose_round(v, CPU_AVX_P_BLOCK, cpu_avx_lanes);
}

/* Loads a tile of an array whose rows are pitch elements apart, so that each column becomes a vector:
   v[i][l] = p[l pitch + i] for l < rows, i < columns, else 0. Reads nothing else.
   Needs    rows, columns <= lanes */
CPU_AVX_INLINE void cpu_avx_load_tile(const cpu_avx_real *p, ptrdiff_t pitch, int rows, int columns, cpu_avx_vec *v)
{
    if (rows == cpu_avx_lanes && columns == cpu_avx_lanes) {
        CPU_AVX_P_UNROLL
        for (int l = 0; l < cpu_avx_lanes; l++) v[l] = cpu_avx_load(p + l * pitch);
    } else {
        for (int l = 0; l < cpu_avx_lanes; l++)
            v[l] = l < rows ? cpu_avx_load_part(p + l * pitch, columns) : cpu_avx_set(0);
    }
    cpu_avx_transpose(v);
}

/* Stores a tile in the order of cpu_avx_load_tile: p[l pitch + i] = v[i][l] for l < rows, i < columns.
   Needs    as cpu_avx_load_tile
   Leaves   v clobbered */
CPU_AVX_INLINE void cpu_avx_store_tile(cpu_avx_real *p, ptrdiff_t pitch, int rows, int columns, cpu_avx_vec *v)
{
    cpu_avx_transpose(v);
    if (rows == cpu_avx_lanes && columns == cpu_avx_lanes) {
        CPU_AVX_P_UNROLL
        for (int l = 0; l < cpu_avx_lanes; l++) cpu_avx_store(p + l * pitch, v[l]);
    } else {
        for (int l = 0; l < rows; l++) cpu_avx_store_part(p + l * pitch, columns, v[l]);
    }
}

/* Returns n clipped to 0 .. lanes. */
CPU_AVX_INLINE int cpu_avx_p_clip(long long n)
{
    return n < 0 ? 0 : n < cpu_avx_lanes ? (int)n : cpu_avx_lanes;
}

/* Copies each column of an array, whose rows are pitch elements apart, to a vector: column j to `to[j step]`. Lanes
   beyond the rows become 0. */
CPU_AVX_CALL void cpu_avx_p_to_columns(long long pitch, int rows, long long columns, const cpu_avx_real *from,
                                       cpu_avx_vec *to, ptrdiff_t step)
{
    cpu_avx_vec tile[cpu_avx_lanes];
    for (long long j = 0; j < columns; j += cpu_avx_lanes) {
        int some = cpu_avx_p_clip(columns - j);
        cpu_avx_load_tile(from + j, (ptrdiff_t)pitch, rows, some, tile);
        CPU_AVX_P_UNROLL
        for (int i = 0; i < cpu_avx_lanes; i++)
            if (i < some) to[(j + i) * step] = tile[i];
    }
}

/* Copies vectors back to the columns. */
CPU_AVX_CALL void cpu_avx_p_from_columns(long long pitch, int rows, long long columns, const cpu_avx_vec *from,
                                         ptrdiff_t step, cpu_avx_real *to)
{
    cpu_avx_vec tile[cpu_avx_lanes];
    for (long long j = 0; j < columns; j += cpu_avx_lanes) {
        int some = cpu_avx_p_clip(columns - j);
        for (int i = 0; i < cpu_avx_lanes; i++) tile[i] = i < some ? from[(j + i) * step] : cpu_avx_set(0);
        cpu_avx_store_tile(to + j, (ptrdiff_t)pitch, rows, some, tile);
    }
}

/* Returns a b + c, fused if the set has multiply-add. A plain a * b + c would not always be fused: with -std=c11 gcc
   fuses nothing. */
CPU_AVX_INLINE cpu_avx_real cpu_avx_p_madd(cpu_avx_real a, cpu_avx_real b, cpu_avx_real c)
{
#if !CPU_AVX_P_HAS_FMA
    return a * b + c;
#elif CPU_AVX_SIZE == 4
    return __builtin_fmaf(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

/* Returns whether this reciprocal of a pivot is 0, infinite or NaN. */
CPU_AVX_INLINE int cpu_avx_p_bad_reciprocal(cpu_avx_real r)
{
    return cpu_avx_p_magnitude(r) - 1 >= CPU_AVX_P_INFINITY - 1;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Returns the number of lanes of an instruction set, which must be one of this kind of processor. */
CPU_AVX_API int cpu_avx_width(int isa)
{
    CPU_AVX_P_PICK(isa, return, cpu_avx_lanes, );
}

#endif /* CPU_AVX_PASS */
