/* cut.h - a room of cpu_avx.h: long systems, each cut into partitions that are solved as a batch.
   MIT licence, see LICENSE.

   The last row of a partition is a separator. Its unknown is found first, from the rows around it. These are eliminated
   towards it, from so far away that all rows beyond are lost in rounding; this requires couplings that decay, as they
   do in dominant matrices. The rows between two separators are then a system of their own with known neighbours. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

/* rows: those of a partition, including its separator; count: the partitions of a system. The system's remaining rows
   are its tail. per_lane is 1 for contiguous systems: a lane holds a partition of one of them. Two to six
   interleaved systems lie together in each lane, and per_lane is their number. If there are more, each lane holds a
   system of its own, and per_lane is 0. */
typedef struct {
    long long rows, count;
    int per_lane; /* systems in a lane, see above */
} cpu_avx_p_cut;

enum {
    CPU_AVX_P_CUT_LEAST = 64,  /* the least rows of a partition */
    CPU_AVX_P_CUT_MANY = 256,  /* the least if the systems fill a tile, or if each system's partitions fill several */
    CPU_AVX_P_CUT_MOST = 2048, /* the most rows of a partition; twice this for all systems of a lane together */
    CPU_AVX_P_CUT_LONG = 8192, /* interleaved systems are cut only if they have more rows */
    CPU_AVX_P_CUT_BYTES = 512, /* interleaved systems are cut only if row j of them all has at most this many bytes */
    CPU_AVX_P_NEAR_ROWS = 64,  /* the rows on each side of a separator in the first attempt, if no trial precedes it */
    CPU_AVX_P_NEAR_LEAST = 16, /* the rows of the first trial; each further trial takes twice as many */
    CPU_AVX_P_NEAR_TRIED = 8,  /* if there are more vectors of partitions, rows are tried on the first vector */
    CPU_AVX_P_FARTHER = 8,     /* each further attempt takes this many times as many rows */
    CPU_AVX_P_NOISE = 32       /* the most roundoffs that may add up on one side of a separator */
};

/* Returns how more than CPU_AVX_P_FEW_SYSTEMS interleaved systems are cut: into partitions whose c and d fit the
   second-level cache, at least four for each thread if they then have CPU_AVX_P_CUT_MANY rows. Returns 0 partitions if
   systems are few or short, if rows are long, or if one thread solves systems that are in cache. */
CPU_AVX_API cpu_avx_p_cut cpu_avx_p_cut_rows_of(const cpu_avx_lines *lines, int threads, int size)
{
    cpu_avx_p_cut cut = {0, 0, 0};
    if (lines->n <= CPU_AVX_P_CUT_LONG || lines->systems <= CPU_AVX_P_FEW_SYSTEMS ||
        lines->systems > CPU_AVX_P_CUT_BYTES / size)
        return cut;
    const long long row = lines->systems * size, fit = CPU_AVX_P_STORE_BYTES / 2 / row, longest = CPU_AVX_P_CUT_MOST;
    const long long least = (lines->n - 1) / (fit < longest ? fit : longest) + 1;
    const long long many = lines->n / CPU_AVX_P_CUT_MANY, wanted = 4LL * threads < many ? 4LL * threads : many;
    if (threads == 1 && lines->n * row < CPU_AVX_P_FAR_BYTES) return cut;
    cut.count = least > wanted ? least : wanted;
    cut.rows = lines->n / cut.count;
    return cut;
}

/* Returns how systems with elements of this size are cut. Contiguous systems are cut into partitions that fill whole
   tiles in any set; if they are long enough, each thread gets a tile or more. A few interleaved systems without gaps
   are cut as one contiguous system, and more of them by cpu_avx_p_cut_rows_of. Returns 0 partitions if the systems form
   several groups, must be gathered or are too short; if contiguous systems have less than CPU_AVX_P_LONG_BYTES each and
   fill tiles for more than half of the threads; or if one thread solves four interleaved systems. */
CPU_AVX_API cpu_avx_p_cut cpu_avx_p_cut_of(const cpu_avx_lines *lines, int threads, int size)
{
    const int few = lines->systems <= CPU_AVX_P_FEW_SYSTEMS && lines->step == lines->systems && lines->stride == 1 &&
                    (lines->step == 1 || lines->n > CPU_AVX_P_CUT_LONG);
    const int fill_tiles = lines->systems >= 128 / size && 2 * ((lines->systems - 1) / (128 / size) + 1) > threads;
    cpu_avx_p_cut cut = {0, 0, few ? (int)lines->systems : 1};
    if (lines->groups != 1 || !lines->systems) return cut;
    if (!few && lines->step > 1 && lines->stride == 1) return cpu_avx_p_cut_rows_of(lines, threads, size);
    if (!few && lines->step != 1) return cut;
    if (fill_tiles && lines->n < CPU_AVX_P_LONG_BYTES / size) return cut;
    if (threads == 1 && cut.per_lane == 4) return cut; /* uncut, four mostly take less time */
    const long long tile = 128 / size, line = 64 / size / (cut.per_lane & -cut.per_lane); /* rows in whole lines */
    const long long most = CPU_AVX_P_CUT_MOST * (cut.per_lane > 1 ? 2 : 1);
    const long long tiles = (lines->n * cut.per_lane - 1) / (most * tile) + 1;
    const long long wanted = (threads - 1) / (lines->systems / cut.per_lane) + 1;
    const long long many = lines->n / (CPU_AVX_P_CUT_MANY * tile), more = wanted < many ? wanted : many;
    const long long count = tile * (tiles > more ? tiles : more), rows = lines->n / count;
    if (rows < (lines->systems < tile ? CPU_AVX_P_CUT_LEAST : CPU_AVX_P_CUT_MANY)) return cut;
    cut.rows = rows < 32 * line ? rows : rows / line * line; /* whole cache lines, if that leaves a short tail */
    cut.count = count;
    return cut;
}

#define cpu_avx_p_separators CPU_AVX_OF(cpu_avx_p_separators)
#define cpu_avx_p_separators_len CPU_AVX_OF(cpu_avx_p_separators_len)
#define cpu_avx_p_separators_of CPU_AVX_OF(cpu_avx_p_separators_of)
#define cpu_avx_p_ends CPU_AVX_OF_SET(cpu_avx_p_ends)
#define cpu_avx_p_store_ends CPU_AVX_OF_SET(cpu_avx_p_store_ends)
#define cpu_avx_p_near_rows CPU_AVX_OF_SET(cpu_avx_p_near_rows)
#define cpu_avx_p_towards_ends CPU_AVX_OF_SET(cpu_avx_p_towards_ends)
#define cpu_avx_p_reduce CPU_AVX_OF_SET(cpu_avx_p_reduce)
#define cpu_avx_p_solve_separators CPU_AVX_OF_SET(cpu_avx_p_solve_separators)
#define cpu_avx_p_all_separators CPU_AVX_OF_SET(cpu_avx_p_all_separators)
#define cpu_avx_p_find_separators CPU_AVX_OF(cpu_avx_p_find_separators)

#elif CPU_AVX_PASS == CPU_AVX_PASS_TYPES /* of a precision, shared by its sets */

/* The arrays with which separators are found. c and d are those of an equation x[end] + c x[separator] = d. With index
   0, `end` is the row before a partition's separator. With index 1 it is the partition's first row, and the separator
   is that of the partition before. x holds the separators' unknowns, with a 0 before those of each system. tail holds c
   of each row of a tail. */
typedef struct {
    cpu_avx_real *c[2], *d[2], *x, *tail;
    ptrdiff_t next; /* from a partition to the next one of the same system */
} cpu_avx_p_separators;

/* Returns the number of elements of all these arrays. */
CPU_AVX_API size_t cpu_avx_p_separators_len(const cpu_avx_lines *lines, cpu_avx_p_cut cut)
{
    return (size_t)(lines->systems * (5 * cut.count + 1) + lines->n - cut.rows * cut.count);
}

/* Returns the arrays of system s. */
CPU_AVX_API cpu_avx_p_separators cpu_avx_p_separators_of(const cpu_avx_lines *lines, cpu_avx_p_cut cut,
                                                         cpu_avx_real *work, long long s)
{
    const ptrdiff_t all = (ptrdiff_t)(lines->systems * cut.count), systems = (ptrdiff_t)lines->systems;
    const int contiguous = cut.per_lane == 1;
    const ptrdiff_t at = (ptrdiff_t)(contiguous ? s * cut.count : s);
    cpu_avx_p_separators of;
    of.next = contiguous ? 1 : systems;
    for (int side = 0; side < 2; side++) {
        of.c[side] = work + 2 * side * all + at;
        of.d[side] = of.c[side] + all;
    }
    of.x = work + 4 * all + at + (contiguous ? (ptrdiff_t)s : 0);
    of.tail = work + 5 * all + systems;
    return of;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Loads `columns` vectors, from p on. If cut.per_lane is not 0, each lane holds rows of its own partition, in
   which cut.per_lane systems alternate. If it is 0, each vector is a row of `valid` systems. */
CPU_AVX_INLINE void cpu_avx_p_near_rows(const cpu_avx_real *p, const cpu_avx_lines *lines, cpu_avx_p_cut cut, int valid,
                                        int columns, cpu_avx_vec *row)
{
    if (cut.per_lane)
        cpu_avx_load_tile(p, (ptrdiff_t)cut.rows * cut.per_lane, cpu_avx_lanes, columns, row);
    else
        for (int k = 0; k < columns; k++) row[k] = cpu_avx_p_gather(p + k * (ptrdiff_t)lines->step, 1, valid);
}

/* The recurrences towards both ends of a partition: c and d of the row eliminated last; f, the factor by which
   elimination multiplies a number from the rows beyond; noise, the sum of such factors of the eliminated rows. */
typedef struct {
    cpu_avx_vec c[2], d[2], f[2], noise[2];
} cpu_avx_p_ends;

/* Stores c and d of both ends for system s of each of `valid` lanes. Returns whether in any of these lanes further rows
   matter or too many roundoffs add up. */
CPU_AVX_CALL int cpu_avx_p_store_ends(const cpu_avx_p_ends *ends, int s, int systems, int valid,
                                      cpu_avx_real *const *c_of, cpu_avx_real *const *d_of)
{
    int coupled = 0;
    for (int side = 0; side < 2; side++) {
        const int at = side ? systems - 1 - s : s; /* from below, the last system comes first */
        cpu_avx_p_scatter(c_of[side] + at, systems, valid, 0, ends->c[side]);
        cpu_avx_p_scatter(d_of[side] + at, systems, valid, 0, ends->d[side]);
        for (int l = 0; l < valid; l++)
            coupled |= !cpu_avx_p_finite(ends->noise[side][l]) || ends->f[side][l] > CPU_AVX_P_LOST ||
                       ends->noise[side][l] > (cpu_avx_real)CPU_AVX_P_NOISE;
    }
    return coupled;
}

/* Eliminates rows of `valid` partitions, one per lane, towards the separators: the `rows` rows before a partition's
   separator downwards, and its first `rows` rows upwards. Stores c and d of both ends, and returns what
   cpu_avx_p_store_ends does. If a lane holds several systems, neighbouring columns belong to different ones. With
   cut.per_lane, the next rows are prefetched, since few loads are in flight while rows wait for each other. */
CPU_AVX_CALL int cpu_avx_p_towards_ends(const cpu_avx_lines *lines, const cpu_avx_p_batch *batch, ptrdiff_t at,
                                        cpu_avx_p_cut cut, int valid, long long rows, cpu_avx_real *const *c_of,
                                        cpu_avx_real *const *d_of)
{
    enum { lanes = cpu_avx_lanes };
    const int systems = cut.per_lane ? cut.per_lane : 1;
    const long long all = rows * systems, step = cut.per_lane ? 1 : lines->step;
    const cpu_avx_vec beyond_valid = cpu_avx_p_beyond(valid), zero = cpu_avx_set(0), one = cpu_avx_set(1);
    const cpu_avx_vec least = cpu_avx_set((cpu_avx_real)1e-30);
    const cpu_avx_p_ends none = {{zero, zero}, {zero, zero}, {one, one}, {zero, zero}};
    cpu_avx_vec a[2][lanes], b[2][lanes], c[2][lanes], d[2][lanes], sound = zero;
    cpu_avx_p_ends ends[CPU_AVX_P_FEW_SYSTEMS];
    for (int s = 0; s < systems; s++) ends[s] = none;
    for (long long j = 0; j < all; j += lanes) {
        const int columns = cpu_avx_p_clip(all - j);
        for (int side = 0; side < 2; side++) {
            const long long row = side ? all - j - columns : (cut.rows - 1) * systems - all + j;
            const ptrdiff_t from = at + (ptrdiff_t)(row * step), soon = from + (side ? -lanes : lanes);
            for (int l = 0; l < lanes && cut.per_lane && j + lanes < all; l++)
                cpu_avx_p_prefetch(batch, soon + l * (ptrdiff_t)cut.rows * systems, 0, 1, 0);
            cpu_avx_p_near_rows((side ? batch->c : batch->a) + from, lines, cut, valid, columns, a[side]);
            cpu_avx_p_near_rows(batch->b + from, lines, cut, valid, columns, b[side]);
            cpu_avx_p_near_rows((side ? batch->a : batch->c) + from, lines, cut, valid, columns, c[side]);
            cpu_avx_p_near_rows(batch->d + from, lines, cut, valid, columns, d[side]);
        }
        for (int first = 0; first < systems; first++) {
            cpu_avx_p_ends *of = &ends[systems > 1 ? (j + first) % systems : 0], now = *of;
            for (int i = first; i < columns; i += systems)
                for (int side = 0; side < 2; side++) {
                    const int k = side ? columns - 1 - i : i;
                    const cpu_avx_vec r = cpu_avx_p_eliminate(a[side][k], b[side][k] + beyond_valid, c[side][k],
                                                              d[side][k], &now.c[side], &now.d[side], &sound);
                    const cpu_avx_vec factor = a[side][k] * r, size = cpu_avx_max(factor, zero - factor);
                    now.f[side] = cpu_avx_max(size * now.f[side], least); /* subnormal numbers would be slow */
                    now.noise[side] = cpu_avx_fma(size, now.noise[side], size);
                }
            *of = now;
        }
    }
    int coupled = 0;
    for (int s = 0; s < systems; s++) coupled |= cpu_avx_p_store_ends(&ends[s], s, systems, valid, c_of, d_of);
    return coupled;
}

/* Reduces vectors `from` .. `to` - 1 of partitions with cpu_avx_p_towards_ends, until that returns 1 for a vector.
   Returns whether it did. A vector holds neighbouring partitions or, if cut.per_lane is 0, the same partition
   of several systems. */
CPU_AVX_CALL int cpu_avx_p_reduce(const cpu_avx_lines *lines, cpu_avx_p_cut cut, const cpu_avx_p_batch *batch,
                                  long long rows, const cpu_avx_p_separators *all, long long from, long long to)
{
    int coupled = 0;
    const long long across = (lines->systems - 1) / cpu_avx_lanes + 1; /* vectors of a row */
    for (long long v = from; v < to && !coupled; v++) {
        const long long s = cut.per_lane ? v * cpu_avx_lanes / cut.count : v % across * cpu_avx_lanes;
        const long long p = cut.per_lane ? v * cpu_avx_lanes % cut.count : v / across;
        const ptrdiff_t at = cpu_avx_p_system_at(lines, s) + (ptrdiff_t)(p * cut.rows * lines->step);
        const ptrdiff_t to_c = (ptrdiff_t)(cut.per_lane ? v * cpu_avx_lanes * cut.per_lane : p * lines->systems + s);
        const int valid = cut.per_lane ? cpu_avx_lanes : cpu_avx_p_clip(lines->systems - s);
        cpu_avx_real *const c[2] = {all->c[0] + to_c, all->c[1] + to_c};
        cpu_avx_real *const d[2] = {all->d[0] + to_c, all->d[1] + to_c};
        coupled = cpu_avx_p_towards_ends(lines, batch, at, cut, valid, rows, c, d);
    }
    return coupled;
}

/* Finds the unknowns of system s at its separators and in its tail. First it eliminates the tail upwards,
   x[i] + c x[i - 1] = d, with c in of.tail; last it substitutes the tail. Returns whether a pivot was bad. */
CPU_AVX_INLINE int cpu_avx_p_solve_separators(const cpu_avx_lines *lines, cpu_avx_p_cut cut,
                                              const cpu_avx_p_batch *batch, cpu_avx_real *work, long long s)
{
    const cpu_avx_p_separators of = cpu_avx_p_separators_of(lines, cut, work, s);
    const ptrdiff_t at = cpu_avx_p_system_at(lines, s), n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step;
    const ptrdiff_t count = (ptrdiff_t)cut.count, rows = (ptrdiff_t)cut.rows, tail = count * rows;
    cpu_avx_real c = 0, d = 0, *x = batch->x;
    int bad = 0;
    for (ptrdiff_t j = n - 1; j >= tail; j--) {
        const ptrdiff_t i = at + j * step;
        cpu_avx_p_eliminate_one(j < n - 1 ? batch->c[i] : 0, batch->b[i], batch->a[i], batch->d[i], &c, &d, &bad);
        of.tail[j - tail] = c, x[i] = d;
    }
    of.x[0] = 0;
    for (ptrdiff_t p = 0; p < count; p++) {
        const ptrdiff_t j = (p + 1) * rows - 1, i = at + j * step, here = p * of.next, after = here + of.next;
        const int last = p == count - 1;
        const cpu_avx_real above = j < n - 1 ? batch->c[i] : 0;
        const cpu_avx_real pivot = cpu_avx_p_madd(-above, last ? c : of.c[1][after], batch->b[i]);
        const cpu_avx_real y = cpu_avx_p_madd(-above, last ? d : of.d[1][after], batch->d[i]);
        cpu_avx_p_eliminate_one(batch->a[i], pivot, 0, y, &of.c[0][here], &of.d[0][here], &bad);
        of.x[after] = x[i] = of.d[0][here];
    }
    for (ptrdiff_t j = tail; j < n; j++) {
        const ptrdiff_t i = at + j * step;
        x[i] = cpu_avx_p_madd(-of.tail[j - tail], x[i - step], x[i]);
    }
    return bad;
}

/* Does the same for all systems. Returns the first with a bad pivot, or LLONG_MAX. */
CPU_AVX_CALL long long cpu_avx_p_all_separators(const cpu_avx_lines *lines, cpu_avx_p_cut cut,
                                                const cpu_avx_p_batch *batch, cpu_avx_real *work)
{
    long long first = LLONG_MAX;
    for (long long s = lines->systems - 1; s >= 0; s--)
        if (cpu_avx_p_solve_separators(lines, cut, batch, work, s)) first = s;
    return first;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Reduces the rows around all separators, more rows in each attempt, until they suffice or reach half a partition. If
   there are many vectors of partitions, the first attempt takes as many rows as trials on the first vector find
   sufficient. Returns whether the rows of the last attempt suffice. */
CPU_AVX_API int cpu_avx_p_find_separators(int isa, const cpu_avx_lines *lines, cpu_avx_p_cut cut,
                                          const cpu_avx_p_batch *batch, const cpu_avx_p_separators *all, int threads)
{
    const long long lanes = cpu_avx_width(isa), most = cut.rows / 2, partitions = lines->systems * cut.count;
    const long long tiles = (partitions - 1) / (128 / CPU_AVX_SIZE) + 1;
    const long long vectors =
        cut.per_lane ? partitions / cut.per_lane / lanes : ((lines->systems - 1) / lanes + 1) * cut.count;
    const int tried = vectors > CPU_AVX_P_NEAR_TRIED;
    long long rows = tried ? CPU_AVX_P_NEAR_LEAST : CPU_AVX_P_NEAR_ROWS;
    if (threads > tiles) threads = (int)tiles;
    for (int coupled = tried; coupled && rows < most; rows *= 1 + coupled)
        CPU_AVX_P_PICK(isa, coupled =, cpu_avx_p_reduce, (lines, cut, batch, rows, all, 0, 1));
    for (;; rows *= CPU_AVX_P_FARTHER) {
        int coupled = 0;
        if (rows > most) rows = most;
        CPU_AVX_P_OMP(omp parallel for num_threads(threads) if (threads > 1) reduction(| : coupled))
        for (int i = 0; i < threads; i++) {
            const long long from = cpu_avx_p_part(vectors, threads, i), to = cpu_avx_p_part(vectors, threads, i + 1);
            CPU_AVX_P_PICK(isa, coupled |=, cpu_avx_p_reduce, (lines, cut, batch, rows, all, from, to));
        }
        if (!coupled || rows == most) return !coupled;
    }
}

#endif /* CPU_AVX_PASS */
