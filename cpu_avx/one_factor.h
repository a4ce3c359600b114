/* one_factor.h - a room of cpu_avx.h: what the time steps of options on one asset share.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

enum {
    CPU_AVX_P_REACH = 32,      /* largest H of composed steps; */
    CPU_AVX_P_FAST_REACH = 16, /* the largest whose sums are kept in registers */
    CPU_AVX_P_GROUPS = 2       /* chains of eliminations side by side */
};

CPU_AVX_API int cpu_avx_p_larger(int a, int b)
{
    return a > b ? a : b;
}

/* The H of a sweep that does what one of H does: those that are made for registers, the others as they are. */
CPU_AVX_API int cpu_avx_p_padded_reach(int H)
{
    return H <= 8 ? H : H <= 12 ? 12 : H <= 16 ? 16 : H;
}

#define cpu_avx_p_partitions_len CPU_AVX_OF(cpu_avx_p_partitions_len)
#define cpu_avx_p_explicit_share CPU_AVX_OF(cpu_avx_p_explicit_share)
#define cpu_avx_p_implicit_share CPU_AVX_OF(cpu_avx_p_implicit_share)
#define cpu_avx_p_marched_status CPU_AVX_OF(cpu_avx_p_marched_status)
#define cpu_avx_p_marched CPU_AVX_OF(cpu_avx_p_marched)
#define cpu_avx_p_partition_rows CPU_AVX_OF_SET(cpu_avx_p_partition_rows)
#define cpu_avx_p_to_partitions CPU_AVX_OF_SET(cpu_avx_p_to_partitions)
#define cpu_avx_p_from_partitions CPU_AVX_OF_SET(cpu_avx_p_from_partitions)
#define cpu_avx_p_below CPU_AVX_OF_SET(cpu_avx_p_below)
#define cpu_avx_p_above CPU_AVX_OF_SET(cpu_avx_p_above)
#define cpu_avx_p_load_options CPU_AVX_OF_SET(cpu_avx_p_load_options)
#define cpu_avx_p_lanes_row CPU_AVX_OF_SET(cpu_avx_p_lanes_row)
#define cpu_avx_explicit_bytes CPU_AVX_OF(cpu_avx_explicit_bytes)
#define cpu_avx_implicit_bytes CPU_AVX_OF(cpu_avx_implicit_bytes)

#elif CPU_AVX_PASS == CPU_AVX_PASS_TYPES /* of a precision: what its sets share */

/* A batch that marches: the arguments of an array function. H is 0 but for composed steps, whose bands are in a. */
typedef struct {
    int n, steps, H;
    const cpu_avx_real *a, *b, *c;
    cpu_avx_real *u;
} cpu_avx_p_marched;

/* Elements that hold n rows as sections of at least so many each, whatever the vector. */
CPU_AVX_API size_t cpu_avx_p_partitions_len(size_t n, size_t least)
{
    return n + (least + 1) * (64 / CPU_AVX_SIZE);
}

/* Bytes of a thread's work. */
CPU_AVX_API size_t cpu_avx_p_explicit_share(int n, int H)
{
    const size_t W = 64 / CPU_AVX_SIZE, rows = n > 0 ? (size_t)n : 0;
    if (H > 0) { /* band, values, and sums of K + 2H rows */
        size_t reach = (size_t)cpu_avx_p_padded_reach(H), sections = cpu_avx_p_partitions_len(rows, reach);
        return ((2 * reach + 3) * sections + 2 * reach * W) * sizeof(cpu_avx_real) + 64;
    }
    return 5 * (rows + 2) * W * sizeof(cpu_avx_real) +
           64; /* a row of W options is 5 vectors; enough for explicit2 too */
}
CPU_AVX_API size_t cpu_avx_p_implicit_share(int n)
{
    const size_t W = 64 / CPU_AVX_SIZE, rows = n > 0 ? (size_t)n : 0;
    size_t sections = 12 * cpu_avx_p_partitions_len(rows, 1) + 3 * rows, lanes = CPU_AVX_P_GROUPS * 5 * rows * W;
    return (lanes > sections ? lanes : sections) * sizeof(cpu_avx_real) + 64;
}

CPU_AVX_API int cpu_avx_p_marched_status(int isa, int options, int threads, const cpu_avx_p_marched *m,
                                         const void *work)
{
    if (options < 0 || m->n < 0 || m->steps < 0 || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (options > INT_MAX - 64 || m->n > INT_MAX - 64) return CPU_AVX_BAD_ARGUMENT;
    if (options > 0 && m->n > 0 && (!m->a || !m->b || !m->c || !m->u || !work)) return CPU_AVX_BAD_ARGUMENT;
    return cpu_avx_has(isa) ? CPU_AVX_OK : CPU_AVX_BAD_ISA;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

CPU_AVX_API int cpu_avx_p_partition_rows(int n, int least)
{
    return cpu_avx_p_larger(n / cpu_avx_lanes + (n % cpu_avx_lanes != 0), least);
}

/* Rows of the grid to their lanes, zeros in rows from n on; vectors are step elements apart. */
CPU_AVX_CALL void cpu_avx_p_to_partitions(int n, int K, const cpu_avx_real *from, cpu_avx_real *to, ptrdiff_t step)
{
    const int full = n / K, rest = n % K; /* sections that are full, rows of the one that follows */
    cpu_avx_p_to_columns(K, full, K, from, to, step);
    for (int j = 0; j < rest; j++) to[j * step + full] = from[full * K + j];
}
CPU_AVX_CALL void cpu_avx_p_from_partitions(int n, int K, const cpu_avx_real *from, ptrdiff_t step, cpu_avx_real *to)
{
    const int full = n / K, rest = n % K;
    cpu_avx_p_from_columns(K, full, K, from, step, to);
    for (int j = 0; j < rest; j++) to[full * K + j] = from[j * step + full];
}

/* The neighbours of the first and of the last row of a section: the last row of the section below, the first of the one
   above, where there is one. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_below(cpu_avx_vec last)
{
    return cpu_avx_up(cpu_avx_set(0), last, 1);
}
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_above(cpu_avx_vec first)
{
    return cpu_avx_down(first, cpu_avx_set(0), 1);
}

/* A row of up to W options is 5 vectors side by side: a, b, c, u and one to work with. One stream of memory: five would
   meet in the same sets of the cache where n is a power of two. 0 for what is not to be read. */
enum { cpu_avx_p_lanes_row = 5 * cpu_avx_lanes };

CPU_AVX_CALL void cpu_avx_p_load_options(const cpu_avx_p_marched *m, int at, int options, cpu_avx_real *row,
                                         ptrdiff_t step)
{
    const ptrdiff_t skip = (ptrdiff_t)at * m->n, W = cpu_avx_lanes;
    cpu_avx_p_to_columns(m->n, options, m->n, m->a + skip, row, step);
    cpu_avx_p_to_columns(m->n, options, m->n, m->b + skip, row + W, step);
    cpu_avx_p_to_columns(m->n, options, m->n, m->c + skip, row + 2 * W, step);
    cpu_avx_p_to_columns(m->n, options, m->n, m->u + skip, row + 3 * W, step);
    cpu_avx_store(row, cpu_avx_set(0));
    cpu_avx_store(row + (m->n - 1) * step + 2 * W, cpu_avx_set(0));
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Solves   bytes of work for cpu_avx_explicit1 to 3 (H = 0) and 4 */
CPU_AVX_API size_t cpu_avx_explicit_bytes(int n, int H, int threads)
{
    return threads > 0 ? (size_t)threads * cpu_avx_p_explicit_share(n, H) : 0;
}
/* Solves   bytes of work for cpu_avx_implicit1 to 3 */
CPU_AVX_API size_t cpu_avx_implicit_bytes(int n, int threads)
{
    return threads > 0 ? (size_t)threads * cpu_avx_p_implicit_share(n) : 0;
}

/* The body of a rung: options in parts of whole units to threads. */
#define CPU_AVX_P_OVER_OPTIONS(stem, unit, bytes)                                                                      \
    long long least = LLONG_MAX;                                                                                       \
    int status = cpu_avx_p_marched_status(isa, options, threads, &m, work);                                            \
    if (status || !options || !m.n || !m.steps) return status;                                                         \
    const int units = options / (unit) + (options % (unit) != 0);                                                      \
    if (threads > units) threads = units;                                                                              \
    const size_t part = bytes;                                                                                         \
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) reduction(min : least))                                        \
    for (int t = 0; t < threads; t++) {                                                                                \
        cpu_avx_real *mine = (cpu_avx_real *)cpu_avx_p_align((char *)work + (size_t)t * part);                         \
        long long from = cpu_avx_p_part(units, threads, t) * (unit);                                                   \
        long long to = cpu_avx_p_part(units, threads, t + 1) * (unit);                                                 \
        int bad = 0;                                                                                                   \
        CPU_AVX_P_PICK_FLUSHING(isa, bad =, stem, (&m, (int)from, (int)(to < options ? to : options), mine));          \
        if (bad > 0 && bad < least) least = bad;                                                                       \
    }                                                                                                                  \
    return least < LLONG_MAX ? (int)least : CPU_AVX_OK

#endif /* CPU_AVX_PASS */
