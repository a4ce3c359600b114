/* one_factor.h - a room of cpu_avx.h: code that explicit and implicit time steps of options on one asset share.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

enum {
    CPU_AVX_P_REACH = 32, /* largest reach of composed steps */
    CPU_AVX_P_GROUPS = 2  /* recurrences in flight */
};

/* Returns the larger of a and b. */
CPU_AVX_API int cpu_avx_p_larger(int a, int b)
{
    return a > b ? a : b;
}

/* Returns the reach of the compiled sweep that serves composed steps of this reach. */
CPU_AVX_API int cpu_avx_p_padded_reach(int reach)
{
    return reach <= 8 ? reach : (reach + 3) / 4 * 4;
}

#define cpu_avx_p_partitions_len CPU_AVX_OF(cpu_avx_p_partitions_len)
#define cpu_avx_p_explicit_share CPU_AVX_OF(cpu_avx_p_explicit_share)
#define cpu_avx_p_implicit_share CPU_AVX_OF(cpu_avx_p_implicit_share)
#define cpu_avx_p_options_status CPU_AVX_OF(cpu_avx_p_options_status)
#define cpu_avx_p_options CPU_AVX_OF(cpu_avx_p_options)
#define cpu_avx_p_partition_rows CPU_AVX_OF_SET(cpu_avx_p_partition_rows)
#define cpu_avx_p_to_partitions CPU_AVX_OF_SET(cpu_avx_p_to_partitions)
#define cpu_avx_p_from_partitions CPU_AVX_OF_SET(cpu_avx_p_from_partitions)
#define cpu_avx_p_below CPU_AVX_OF_SET(cpu_avx_p_below)
#define cpu_avx_p_above CPU_AVX_OF_SET(cpu_avx_p_above)
#define cpu_avx_p_load_options CPU_AVX_OF_SET(cpu_avx_p_load_options)
#define cpu_avx_explicit_bytes CPU_AVX_OF(cpu_avx_explicit_bytes)
#define cpu_avx_implicit_bytes CPU_AVX_OF(cpu_avx_implicit_bytes)

#elif CPU_AVX_PASS == CPU_AVX_PASS_TYPES /* of a precision, shared by its sets */

/* A batch of options and its time steps: the arguments of an array function. reach is 0 except for composed steps,
   whose bands are in the array a. */
typedef struct {
    int n, steps, reach;
    const cpu_avx_real *a, *b, *c;
    cpu_avx_real *u;
} cpu_avx_p_options;

/* Returns the number of elements that hold n rows in partitions of at least `least` rows, for any set. */
CPU_AVX_API size_t cpu_avx_p_partitions_len(size_t n, size_t least)
{
    return n + (least + 1) * (64 / CPU_AVX_SIZE);
}

/* Return the number of bytes of a thread's work. */
CPU_AVX_API size_t cpu_avx_p_explicit_share(int n, int reach)
{
    const size_t lanes = 64 / CPU_AVX_SIZE, rows = n > 0 ? (size_t)n : 0;
    if (reach > 0) { /* band, values, and contributions to other partitions */
        size_t padded = (size_t)cpu_avx_p_padded_reach(reach), partitions = cpu_avx_p_partitions_len(rows, padded);
        return ((2 * padded + 2) * partitions + padded * lanes) * sizeof(cpu_avx_real) + 64;
    }
    /* enough for explicit2, and for explicit3, whose rows are 5 vectors each */
    return 5 * (rows + 2) * lanes * sizeof(cpu_avx_real) + 64;
}
CPU_AVX_API size_t cpu_avx_p_implicit_share(int n)
{
    const size_t lanes = 64 / CPU_AVX_SIZE, rows = n > 0 ? (size_t)n : 0;
    size_t partitions = 12 * cpu_avx_p_partitions_len(rows, 1) + 3 * rows,
           vectors = CPU_AVX_P_GROUPS * 5 * rows * lanes;
    return (vectors > partitions ? vectors : partitions) * sizeof(cpu_avx_real) + 64;
}

/* Checks the arguments of an array function. */
CPU_AVX_API int cpu_avx_p_options_status(int isa, int options, int threads, const cpu_avx_p_options *m,
                                         const void *work)
{
    if (options < 0 || m->n < 0 || m->steps < 0 || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (options > INT_MAX - 64 || m->n > INT_MAX - 64) return CPU_AVX_BAD_ARGUMENT;
    if (options > 0 && m->n > 0 && (!m->a || !m->b || !m->c || !m->u || !work)) return CPU_AVX_BAD_ARGUMENT;
    return cpu_avx_has(isa) ? CPU_AVX_OK : CPU_AVX_BAD_ISA;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Returns k, the number of rows of a partition (`least` or more), if each lane holds a partition of the grid. Lane l
   holds the k rows from row l k on; row j of all partitions is a vector. */
CPU_AVX_API int cpu_avx_p_partition_rows(int n, int least)
{
    return cpu_avx_p_larger(n / cpu_avx_lanes + (n % cpu_avx_lanes != 0), least);
}

/* Copies rows of the grid to their lanes; rows from n on become 0. Rows of a partition are `step` vectors apart. */
CPU_AVX_CALL void cpu_avx_p_to_partitions(int n, int k, const cpu_avx_real *from, cpu_avx_vec *to, ptrdiff_t step)
{
    const int full = n / k, rest = n % k; /* full partitions; rows of the next one */
    cpu_avx_p_to_columns(k, full, k, from, to, step);
    for (int j = 0; j < rest; j++) to[j * step][full] = from[full * k + j];
}

/* Copies the rows back. */
CPU_AVX_CALL void cpu_avx_p_from_partitions(int n, int k, const cpu_avx_vec *from, ptrdiff_t step, cpu_avx_real *to)
{
    const int full = n / k, rest = n % k;
    cpu_avx_p_from_columns(k, full, k, from, step, to);
    for (int j = 0; j < rest; j++) to[full * k + j] = from[j * step][full];
}

/* Returns the neighbour of each partition's first row: the previous partition's last row, or 0 if there is none. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_below(cpu_avx_vec last)
{
    return cpu_avx_up(cpu_avx_set(0), last, 1);
}

/* Returns the neighbour of each partition's last row: the next partition's first row, or 0 if there is none. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_above(cpu_avx_vec first)
{
    return cpu_avx_down(first, cpu_avx_set(0), 1);
}

/* Loads the rows of up to `lanes` options from option `at` on, with 0 for unused coefficients and b = 1 in unused
   lanes. A row is 5 vectors: a, b, c, u and one for work; rows are `step` vectors apart. Five separate arrays would
   compete for the same sets of the cache if n were a power of two. */
CPU_AVX_CALL void cpu_avx_p_load_options(const cpu_avx_p_options *m, int at, int options, cpu_avx_vec *row,
                                         ptrdiff_t step)
{
    const cpu_avx_real *const from[4] = {m->a, m->b, m->c, m->u};
    for (int array = 0; array < 4; array++)
        cpu_avx_p_to_columns(m->n, options, m->n, from[array] + (ptrdiff_t)at * m->n, row + array, step);
    for (int j = 0; j < m->n && options < cpu_avx_lanes; j++) row[j * step + 1] += cpu_avx_p_beyond(options);
    row[0] = row[(m->n - 1) * step + 2] = cpu_avx_set(0);
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Returns how many bytes of work cpu_avx_explicit1 to 3 need (reach 0), and cpu_avx_explicit4 (with its reach). */
CPU_AVX_API size_t cpu_avx_explicit_bytes(int n, int reach, int threads)
{
    return threads > 0 ? (size_t)threads * cpu_avx_p_explicit_share(n, reach) : 0;
}

/* Returns how many bytes of work cpu_avx_implicit1 to 3 need. */
CPU_AVX_API size_t cpu_avx_implicit_bytes(int n, int threads)
{
    return threads > 0 ? (size_t)threads * cpu_avx_p_implicit_share(n) : 0;
}

/* The body of a rung: gives each thread a part of the options, in multiples of `unit`. */
#define CPU_AVX_P_OVER_OPTIONS(stem, unit, bytes)                                                                      \
    long long least = LLONG_MAX;                                                                                       \
    int status = cpu_avx_p_options_status(isa, options, threads, &m, work);                                            \
    if (status || !options || !m.n || !m.steps) return status;                                                         \
    const int units = options / (unit) + (options % (unit) != 0);                                                      \
    if (threads > units) threads = units;                                                                              \
    const size_t part = bytes;                                                                                         \
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) reduction(min : least))                                        \
    for (int t = 0; t < threads; t++) {                                                                                \
        void *mine = cpu_avx_p_align((char *)work + (size_t)t * part);                                                 \
        long long from = cpu_avx_p_part(units, threads, t) * (unit);                                                   \
        long long to = cpu_avx_p_part(units, threads, t + 1) * (unit);                                                 \
        int bad = 0;                                                                                                   \
        CPU_AVX_P_PICK_FLUSHING(isa, bad =, stem, (&m, (int)from, (int)(to < options ? to : options), mine));          \
        if (bad > 0 && bad < least) least = bad;                                                                       \
    }                                                                                                                  \
    return least < LLONG_MAX ? (int)least : CPU_AVX_OK

#endif /* CPU_AVX_PASS */
