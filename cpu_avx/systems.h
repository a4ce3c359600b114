/* systems.h - a room of cpu_avx.h: cpu_avx_factor, and how batches are cut into tiles and given to threads.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

/* Systems are solved tile by tile. Only a tile of CPU_AVX_P_TWO_SYSTEMS may span two groups. */
typedef struct {
    cpu_avx_lines lines;
    long long tiles, per_group; /* tiles in all, and in a group */
    long long width;            /* systems or partitions in a tile */
    int kind;                   /* the contents of a tile, see below */
    long long n, pitch;         /* elements in a system or partition; from the start of one to that of the next */
    int per_lane;               /* CPU_AVX_P_CUT: how many interleaved systems lie together in a lane; otherwise 1 */
    int stream;                 /* x is stored past the caches */
    int apart;                  /* interleaved: d is kept in the store, not in x */
    int fetched;                /* interleaved: from memory, so rows are prefetched, and a wide tile is
                                   substituted back while the next one is eliminated;
                                   contiguous: x is prefetched with the other arrays */
} cpu_avx_p_plan;
enum {
    CPU_AVX_P_INTERLEAVED, /* systems that are interleaved, or neither interleaved nor contiguous */
    CPU_AVX_P_CUT_ROWS,    /* long interleaved systems, a group for each partition; separators are solved already */
    CPU_AVX_P_CONTIGUOUS,  /* 2*lanes contiguous systems, to be transposed */
    CPU_AVX_P_CUT,         /* 2*lanes partitions of long contiguous systems, or of a few interleaved ones */
    CPU_AVX_P_TWO_SYSTEMS, /* 2*lanes partitions: `lanes` of one system and `lanes` of another */
    CPU_AVX_P_ONE_SYSTEM,  /* 2*lanes partitions of the same system */
    CPU_AVX_P_SCALAR       /* one system; see scalar.h */
};

/* A tile. Element j of its first system lies at offset + j step. */
typedef struct {
    long long first;  /* index of its first system, or of its first partition (CPU_AVX_P_CUT); with CPU_AVX_P_CUT_ROWS
                         within the group */
    ptrdiff_t offset; /* of element 0 */
    ptrdiff_t side;   /* from the systems of its first vector to those of its second */
    ptrdiff_t next;   /* interleaved: offset of the tile after it */
    int valid;        /* systems or partitions; 0: no tile */
} cpu_avx_p_tile;

/* Returns a plan of interleaved systems with no tiles yet: enough for solving a tile that the caller makes. */
CPU_AVX_API cpu_avx_p_plan cpu_avx_p_plan_of(long long n, long long step)
{
    const cpu_avx_p_plan plan = {{n, step, 0, 1, 1, 0}, 0, 1, 0, CPU_AVX_P_INTERLEAVED, n, 1, 1, 0, 0, 0};
    return plan;
}

/* Returns where system s begins; systems are counted over all groups. */
CPU_AVX_API ptrdiff_t cpu_avx_p_system_at(const cpu_avx_lines *lines, long long s)
{
    if (lines->groups == 1) return (ptrdiff_t)(s * lines->stride); /* avoids two divisions */
    return (ptrdiff_t)(s / lines->systems * lines->jump + s % lines->systems * lines->stride);
}

/* Returns tile t; an empty one unless from <= t < to. */
CPU_AVX_API cpu_avx_p_tile cpu_avx_p_tile_at(const cpu_avx_p_plan *plan, long long t, long long from, long long to)
{
    cpu_avx_p_tile tile = {0, 0, 0, 0, 0};
    if (t < from || t >= to) return tile;
    const cpu_avx_lines *lines = &plan->lines;
    const long long half = plan->width / 2;
    if (plan->kind >= CPU_AVX_P_TWO_SYSTEMS) {
        const int two = plan->kind == CPU_AVX_P_TWO_SYSTEMS;
        tile.first = t * (1 + two);
        tile.offset = cpu_avx_p_system_at(lines, tile.first);
        tile.valid = (int)plan->width;
        if (!two)
            tile.side = (ptrdiff_t)(half * plan->pitch);
        else if (tile.first + 1 < lines->systems * lines->groups) /* else both vectors hold the last system */
            tile.side = cpu_avx_p_system_at(lines, tile.first + 1) - tile.offset;
        return tile;
    }
    long long group = t / plan->per_group, system = t % plan->per_group * plan->width, left = lines->systems - system;
    tile.first = plan->kind == CPU_AVX_P_CUT_ROWS ? system : group * lines->systems + system;
    tile.offset = (ptrdiff_t)(group * lines->jump + system * lines->stride);
    tile.side = (ptrdiff_t)(half * plan->pitch);
    tile.valid = (int)(left < plan->width ? left : plan->width);
    return tile;
}

enum {
    CPU_AVX_P_ROW_BYTES = 4096,      /* the largest row of a tile; half of it if the store holds d. Rows are long, as
                                        each may lie on a page of its own */
    CPU_AVX_P_STORE_BYTES = 1 << 20, /* the largest store of a tile that holds d as well, to fit the second-level cache;
                                        with rows of 128 bytes it may be larger */
    CPU_AVX_P_ALONE_BYTES = 1 << 25, /* the largest store of a tile if d lies in x, with the same exception */
    CPU_AVX_P_APART_BYTES = 1 << 24, /* interleaved: the bound on a store with d that exceeds CPU_AVX_P_STORE_BYTES. A
                                        larger one would come from memory, so d lies in x instead and is read again */
    CPU_AVX_P_SMALL_TILE = 1 << 17,  /* interleaved, with distinct matrices, in cache: a tile of whole rows is divided
                                        into tiles that are solved in registers only if it has at most this many bytes
                                        of each array */
    CPU_AVX_P_FAR_BYTES = 1 << 20,   /* an array of this size or more counts as one in memory, not in cache. The size is
                                        twice this in double precision if the matrices are distinct and each tile holds
                                        only parts of rows */
    CPU_AVX_P_AHEAD_BYTES = 1536,    /* interleaved: the distance of prefetching in each array. With one matrix, a, b
                                        and c are not prefetched, and the distance is four times this */
    CPU_AVX_P_BIG_TILE = 1 << 16,    /* a contiguous tile of distinct matrices with this many bytes of each array fills
                                        the second-level cache: the next strips are prefetched, not the whole next
                                        tile; strip i is cache line i of each system */
    CPU_AVX_P_STRIPS_AHEAD = 3,      /* the distance of this prefetching, in strips */
    CPU_AVX_P_FEW_SYSTEMS = 6,       /* so few systems per thread would leave many lanes of a tile idle */
    CPU_AVX_P_LONG_BYTES = 1 << 17   /* a contiguous system of this size would make a tile whose store exceeds the
                                        second-level cache */
};

/* Returns whether the systems form one group, are not contiguous, and lie so close together that neighbours share cache
   lines: threads that solved neighbours would write to the same lines. */
CPU_AVX_API int cpu_avx_p_mixed(const cpu_avx_lines *lines, int size)
{
    return lines->groups == 1 && lines->step != 1 && lines->stride < 64 / size && -lines->stride < 64 / size;
}

/* Returns whether a batch that is not cut is solved faster without vectors. */
CPU_AVX_API int cpu_avx_p_goes_scalar(const cpu_avx_lines *lines, int threads, int size)
{
    const long long few = cpu_avx_p_mixed(lines, size) ? CPU_AVX_P_FEW_SYSTEMS : CPU_AVX_P_FEW_SYSTEMS * threads;
    return lines->systems * lines->groups <= few || (lines->step == 1 && lines->n >= CPU_AVX_P_LONG_BYTES / size);
}

/* Returns how many threads may solve these systems: one if they are few and share cache lines, otherwise all. */
CPU_AVX_API int cpu_avx_p_threads_of(const cpu_avx_lines *lines, int threads, int size)
{
    return cpu_avx_p_mixed(lines, size) && cpu_avx_p_goes_scalar(lines, threads, size) ? 1 : threads;
}

/* Returns how many interleaved systems a tile holds before it is divided: mostly fewer if d, too, is kept in the store
   (`apart`). */
CPU_AVX_API long long cpu_avx_p_width(long long n, int apart, int size)
{
    long long bytes = apart ? CPU_AVX_P_ROW_BYTES / 2 : CPU_AVX_P_ROW_BYTES;
    while (bytes > 128 && (1 + apart) * n * bytes > (apart ? CPU_AVX_P_STORE_BYTES : CPU_AVX_P_ALONE_BYTES)) bytes /= 2;
    return bytes / size;
}

/* Returns how many of the threads a batch is worth: opening a parallel region takes as long as solving many rows. */
CPU_AVX_API int cpu_avx_p_worth(const cpu_avx_lines *lines, int threads)
{
    const long long worth = lines->n * lines->systems * lines->groups / CPU_AVX_THREAD_ROWS + 1;
    return worth < threads ? (int)worth : threads;
}

/* Returns whether two elements that differ in two of their three indices (row, system, group) coincide. One of these
   indices takes m values, whose elements are p apart; the other takes n values, whose elements are q apart. A distance
   is 0 only if its index takes a single value. */
CPU_AVX_API int cpu_avx_p_coincide(long long p, long long m, long long q, long long n)
{
    const double size_p = fabs((double)p), size_q = fabs((double)q);
    if (m < 2 || n < 2 || size_p >= size_q * (double)n || size_q >= size_p * (double)m) return 0;
    long long a = p, b = q;
    while (b) { /* a becomes the greatest common divisor, or minus that */
        const long long rest = a % b;
        a = b, b = rest;
    }
    return fabs((double)(q / a)) < (double)m && fabs((double)(p / a)) < (double)n;
}

/* Copies a caller's lines. Joins groups into one if they have one system each, or follow one another at the systems'
   stride; groups = 0 means one. Returns 0 for invalid lines. */
CPU_AVX_API int cpu_avx_p_lines_of(const cpu_avx_lines *given, cpu_avx_lines *lines)
{
    if (!given || given->n < 0 || given->systems < 0 || given->groups < 0) return 0;
    *lines = *given;
    if (!lines->groups) lines->groups = 1;
    if (!lines->n || !lines->systems) return 1;
    /* a distance of 0 would put rows, systems or groups in the same elements */
    if ((lines->n > 1 && !lines->step) || (lines->systems > 1 && !lines->stride) || (lines->groups > 1 && !lines->jump))
        return 0;
    if (cpu_avx_p_coincide(lines->step, lines->n, lines->stride, lines->systems) ||
        cpu_avx_p_coincide(lines->step, lines->n, lines->jump, lines->groups) ||
        cpu_avx_p_coincide(lines->stride, lines->systems, lines->jump, lines->groups))
        return 0;
    if (lines->systems == 1) {
        lines->systems = lines->groups;
        lines->stride = lines->jump;
        lines->groups = 1;
    } else if (lines->groups > 1 && lines->jump == lines->systems * lines->stride) {
        lines->systems *= lines->groups;
        lines->groups = 1;
    }
    return 1;
}

#define cpu_avx_factor CPU_AVX_OF(cpu_avx_factor)
#define cpu_avx_p_array_bytes CPU_AVX_OF(cpu_avx_p_array_bytes)
#define cpu_avx_p_streams CPU_AVX_OF(cpu_avx_p_streams)
#define cpu_avx_p_contiguous_plan CPU_AVX_OF(cpu_avx_p_contiguous_plan)
#define cpu_avx_p_thomas_plan CPU_AVX_OF(cpu_avx_p_thomas_plan)
#define cpu_avx_p_batch CPU_AVX_OF(cpu_avx_p_batch)
#define cpu_avx_p_store_len CPU_AVX_OF(cpu_avx_p_store_len)
#define cpu_avx_p_share CPU_AVX_OF(cpu_avx_p_share)
#define cpu_avx_p_work_bytes CPU_AVX_OF(cpu_avx_p_work_bytes)
#define cpu_avx_p_batch_status CPU_AVX_OF(cpu_avx_p_batch_status)

#elif CPU_AVX_PASS == CPU_AVX_PASS_TYPES /* of a precision, shared by its sets */

/* Factors a matrix: does the part of the Thomas algorithm for a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j] that does
   not depend on d.
   Needs    f of CPU_AVX_FACTOR_LEN(n) elements; a[0] and c[n-1] are not read
   Leaves   in f three arrays of n elements, l, r and q. A solve is then y[j] = r[j] d[j] - l[j] y[j-1] from the first
            row on, and x[j] = y[j] - q[j] x[j+1] from the last row back
   Returns  0, CPU_AVX_BAD_ARGUMENT, or 1 + the index of the first row with a bad pivot (INT_MAX if an int cannot
            hold it)
   Cost     n divisions, 2n mul, n multiply-subtracts; plain C, one thread */
CPU_AVX_API int cpu_avx_factor(long long n, const cpu_avx_real *a, const cpu_avx_real *b, const cpu_avx_real *c,
                               cpu_avx_real *f)
{
    if (n == 0) return CPU_AVX_OK;
    if (n < 0 || !a || !b || !c || !f) return CPU_AVX_BAD_ARGUMENT;
    cpu_avx_real *l = f, *r = f + n, *q = f + 2 * n;
    for (long long j = 0; j < n; j++) {
        cpu_avx_real pivot = j > 0 ? b[j] - a[j] * q[j - 1] : b[j];
        r[j] = 1 / pivot;
        l[j] = j > 0 ? a[j] * r[j] : 0;
        q[j] = j < n - 1 ? c[j] * r[j] : 0;
        if (cpu_avx_p_bad_pivot(pivot, r[j])) return cpu_avx_p_failed(j);
    }
    return CPU_AVX_OK;
}

/* The arrays of a batch. If all systems share a matrix, f holds its factors. With CPU_AVX_P_CUT, `known` holds the
   separators' unknowns, with a 0 before those of each system. */
typedef struct {
    const cpu_avx_real *a, *b, *c, *d, *f;
    cpu_avx_real *x;
    const cpu_avx_real *known;
} cpu_avx_p_batch;

/* Returns the number of bytes of an array, as a double because an integer might not hold it. */
CPU_AVX_API double cpu_avx_p_array_bytes(const cpu_avx_lines *lines)
{
    return (double)lines->n * (double)lines->systems * (double)lines->groups * CPU_AVX_SIZE;
}

/* Returns whether x may be stored past the caches: it must have at least CPU_AVX_STREAM_BYTES, and x and its rows must
   begin on cache lines. `apart` is the distance between rows, or several distances combined by |. */
CPU_AVX_API int cpu_avx_p_streams(const cpu_avx_lines *lines, const cpu_avx_p_batch *batch, long long apart)
{
    return (uintptr_t)batch->x % 64 == 0 && apart % (64 / CPU_AVX_SIZE) == 0 &&
           cpu_avx_p_array_bytes(lines) >= CPU_AVX_STREAM_BYTES;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Returns how a batch of contiguous systems is cut into tiles of this kind. */
CPU_AVX_API cpu_avx_p_plan cpu_avx_p_contiguous_plan(int isa, int kind, const cpu_avx_lines *lines,
                                                     const cpu_avx_p_batch *batch)
{
    const long long width = 2 * cpu_avx_width(isa), per_group = (lines->systems - 1) / width + 1;
    const long long apart = lines->stride | (lines->groups > 1 ? lines->jump : 0);
    const int stream = batch->x != batch->d && cpu_avx_p_streams(lines, batch, apart);
    const int x_too = batch->x != batch->d && !stream && cpu_avx_p_array_bytes(lines) >= (double)CPU_AVX_P_FAR_BYTES;
    const cpu_avx_p_plan plan = {
        *lines, per_group * lines->groups, per_group, width, kind, lines->n, lines->stride, 1, stream, 0, x_too};
    return plan;
}

/* Returns how cpu_avx_thomas and cpu_avx_solve cut a batch into tiles. */
CPU_AVX_API cpu_avx_p_plan cpu_avx_p_thomas_plan(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch,
                                                 int threads)
{
    cpu_avx_p_plan plan = cpu_avx_p_plan_of(lines->n, lines->step);
    const long long lanes = cpu_avx_width(isa), systems = lines->systems * lines->groups, size = CPU_AVX_SIZE;
    plan.lines = *lines;
    if (cpu_avx_p_goes_scalar(lines, threads, CPU_AVX_SIZE)) {
        plan.kind = CPU_AVX_P_SCALAR;
        plan.tiles = systems;
        return plan;
    }
    if (lines->step == 1 && lines->stride != 1)
        return cpu_avx_p_contiguous_plan(isa, CPU_AVX_P_CONTIGUOUS, lines, batch);
    /* In place, x overwrites the d that elimination read. Rows far apart compete for a few sets of the cache and have
       been evicted, so x is stored past the caches. Rows close together are still in the cache. */
    const long long least = 128 / size, narrow = cpu_avx_p_width(lines->n, 1, CPU_AVX_SIZE);
    const long long kept = (batch->f ? 1 : 2) * lines->n * size; /* a system's bytes in a store that holds d */
    const int halved = lines->systems > narrow && lines->systems * size <= 256; /* `narrow` would halve the rows */
    plan.stream = lines->stride == 1 && (batch->x != batch->d || lines->step > narrow) && !halved &&
                  kept * narrow <= CPU_AVX_P_APART_BYTES &&
                  (lines->systems < narrow ? lines->systems : narrow) * size >= 128 &&
                  cpu_avx_p_streams(lines, batch, lines->step | (lines->groups > 1 ? lines->jump : 0));
    plan.width = lines->stride != 1 ? lanes : cpu_avx_p_width(lines->n, plan.stream, CPU_AVX_SIZE);
    if (threads > 1) /* tiles become narrower, down to `least`, until there are four for each thread */
        while (plan.width > least && ((lines->systems - 1) / plan.width + 1) * lines->groups < 4LL * threads)
            plan.width /= 2;
    /* Systems in cache are solved in registers, in tiles of up to four vectors, if they share one matrix, if tiles are
       parts of rows, or if tiles are small and rows short. With distinct matrices these tiles are about equally
       wide. With one matrix it is faster if as many as possible have four vectors. */
    const long long row = lines->systems < plan.width ? lines->systems : plan.width, vectors = (row - 1) / lanes + 1;
    const int is_small = vectors <= 8 && lines->n * row * size <= CPU_AVX_P_SMALL_TILE;
    const int parts = lines->stride == 1 && row < lines->systems;
    const long long far_bytes = CPU_AVX_P_FAR_BYTES * (parts && !batch->f ? size / 4 : 1);
    plan.fetched = cpu_avx_p_array_bytes(lines) >= (double)far_bytes;
    if (lines->stride == 1 && !plan.fetched && (batch->f || parts || is_small))
        plan.width = (batch->f ? 4 : (vectors - 1) / ((vectors - 1) / 4 + 1) + 1) * lanes;
    /* If the last vector of a row extends into the next row, d is kept in the store, too. If it lay in x, a masked
       load of d would wait for the masked store of the next row's x. */
    const long long padded = vectors * lanes, step = lines->step < 0 ? -lines->step : lines->step;
    const int reaches = row == lines->systems && padded > step && vectors <= (plan.fetched ? 2 : 4) &&
                        kept * padded <= CPU_AVX_P_APART_BYTES;
    plan.apart = plan.stream || lines->stride != 1 || reaches;
    plan.per_group = (lines->systems - 1) / plan.width + 1;
    plan.tiles = plan.per_group * lines->groups;
    return plan;
}

/* Returns the number of elements of a thread's store, enough for any set. Without vectors, each row of each system in
   flight takes one element. In a tile of contiguous systems each row of each system takes two, and the number of rows
   is rounded up to whole cache lines. In a tile of interleaved systems each row of each system takes one or two, and
   there are two more rows. In a tile of systems that are neither contiguous nor interleaved each row of each
   system takes two, with one element to spare for each system. */
CPU_AVX_API size_t cpu_avx_p_store_len(const cpu_avx_lines *lines, int threads)
{
    const size_t n = (size_t)lines->n;
    if (cpu_avx_p_goes_scalar(lines, threads, CPU_AVX_SIZE)) {
        if (cpu_avx_p_mixed(lines, CPU_AVX_SIZE)) return lines->systems < 4 ? (size_t)lines->systems * n : 4 * n;
        /* A thread solves two systems at a time if there are more systems than threads at work. */
        return lines->systems * lines->groups > cpu_avx_p_worth(lines, threads) ? 2 * n : n;
    }
    const size_t line = 64 / CPU_AVX_SIZE, apart = (2 * n + 2) * (size_t)cpu_avx_p_width(lines->n, 1, CPU_AVX_SIZE);
    const size_t in_x = (n + 2) * (size_t)cpu_avx_p_width(lines->n, 0, CPU_AVX_SIZE);
    if (lines->stride != 1) return lines->step == 1 ? 4 * line * (n + line) : line * (2 * n + 1);
    return apart > in_x ? apart : in_x;
}

/* Returns thread i's part of work. Each part has len elements. */
CPU_AVX_API cpu_avx_real *cpu_avx_p_share(void *work, size_t len, int i)
{
    return (cpu_avx_real *)cpu_avx_p_align((char *)work + (size_t)i * (len * sizeof(cpu_avx_real) + 64));
}

/* Returns the number of bytes of work if each thread has len elements. At most as many threads take part as there are
   systems. */
CPU_AVX_API size_t cpu_avx_p_work_bytes(const cpu_avx_lines *lines, size_t len, int threads)
{
    const long long systems = lines->systems * lines->groups;
    return (size_t)(systems < threads ? systems : threads) * (len * sizeof(cpu_avx_real) + 64);
}

/* Lets each thread solve its part of the plan's tiles with the named function. A macro, so that a program compiles only
   the functions that it calls. */
#define CPU_AVX_P_SOLVE_TILES(stem, length)                                                                            \
    const size_t len = length;                                                                                         \
    long long bad = LLONG_MAX;                                                                                         \
    if (threads > plan.tiles) threads = (int)plan.tiles;                                                               \
    threads = cpu_avx_p_worth(&plan.lines, threads);                                                                   \
    if (threads == 1) { /* saves opening a parallel region */                                                          \
        CPU_AVX_P_PICK(isa, bad =, stem, (&plan, batch, cpu_avx_p_share(work, len, 0), 0, plan.tiles));                \
        return bad < LLONG_MAX ? cpu_avx_p_failed(bad) : CPU_AVX_OK;                                                   \
    }                                                                                                                  \
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1) reduction(min : bad))                      \
    for (int i = 0; i < threads; i++) {                                                                                \
        cpu_avx_real *store = cpu_avx_p_share(work, len, i);                                                           \
        long long from = cpu_avx_p_part(plan.tiles, threads, i), to = cpu_avx_p_part(plan.tiles, threads, i + 1);      \
        long long first;                                                                                               \
        CPU_AVX_P_PICK(isa, first =, stem, (&plan, batch, store, from, to));                                           \
        if (first < bad) bad = first;                                                                                  \
    }                                                                                                                  \
    return bad < LLONG_MAX ? cpu_avx_p_failed(bad) : CPU_AVX_OK

/* Checks the arguments of a batch. Leaves its lines in *all, with 0 systems if there is nothing to do. */
CPU_AVX_API int cpu_avx_p_batch_status(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch,
                                       const void *work, int threads, cpu_avx_lines *all)
{
    if (!cpu_avx_p_lines_of(lines, all) || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (!cpu_avx_has(isa)) return CPU_AVX_BAD_ISA;
    if (!all->n) all->systems = 0;
    const int there = (batch->f || (batch->a && batch->b && batch->c)) && batch->d && batch->x && work;
    const int apart = batch->x != batch->a && batch->x != batch->b && batch->x != batch->c && batch->x != batch->f;
    return (there && apart) || !all->systems ? CPU_AVX_OK : CPU_AVX_BAD_ARGUMENT;
}

#endif /* CPU_AVX_PASS */
