/* systems.h - a room of cpu_avx.h: batches of systems anywhere in memory, each with its own matrix or all with one.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

/* Systems are solved tile by tile: some of one group, side by side. While one tile is substituted back, from its last
   row to its first, the next is eliminated, from its first row to its last, so that memory is read and written all the
   time; a row of the one takes the place in the store that a row of the other has just left. */
typedef struct {
    cpu_avx_lines lines;
    long long tiles, per_group; /* how many in all and in a group */
    long long width;            /* systems in a tile */
    int kind;                   /* what a tile is made of, one of the following */
    long long n, pitch;         /* of its rows: elements, and from one to the next */
    int stream;                 /* x past the caches */
    int copied;                 /* sections: the systems, before and after */
    int refined;                /* sections: by a second solve, of the residual */
} cpu_avx_p_plan;
enum {
    CPU_AVX_P_INTERLEAVED, /* lines side by side */
    CPU_AVX_P_CONTIGUOUS,  /* 2W rows to be transposed, each a system */
    CPU_AVX_P_TWO_SYSTEMS, /* each a section of a system, W of them one system, and W another */
    CPU_AVX_P_ONE_SYSTEM,  /* each a section of the same system */
    CPU_AVX_P_SCALAR       /* a system, solved without vectors */
};

/* Tile t: element j of its first system at offset + j*step. */
typedef struct {
    long long first;  /* index of its first system */
    ptrdiff_t offset; /* of element 0 */
    ptrdiff_t side;   /* from its first W rows to the others */
    int lanes;        /* lines or rows; 0: no tile */
} cpu_avx_p_tile;

/* Where system s of all begins. */
CPU_AVX_API ptrdiff_t cpu_avx_p_system_at(const cpu_avx_lines *lines, long long s)
{
    if (lines->groups == 1) return (ptrdiff_t)(s * lines->stride); /* two divisions are as slow as some rows */
    return (ptrdiff_t)(s / lines->systems * lines->jump + s % lines->systems * lines->stride);
}

CPU_AVX_API cpu_avx_p_tile cpu_avx_p_tile_at(const cpu_avx_p_plan *plan, long long t, long long from, long long to)
{
    cpu_avx_p_tile tile = {0, 0, 0, 0};
    if (t < from || t >= to) return tile;
    const cpu_avx_lines *lines = &plan->lines;
    const long long half = plan->width / 2; /* of 2W rows */
    if (plan->kind >= CPU_AVX_P_TWO_SYSTEMS) {
        const int two = plan->kind == CPU_AVX_P_TWO_SYSTEMS;
        tile.first = t * (1 + two);
        tile.offset = cpu_avx_p_system_at(lines, tile.first);
        tile.lanes = (int)plan->width;
        if (!two)
            tile.side = (ptrdiff_t)(half * plan->pitch);
        else if (tile.first + 1 < lines->systems * lines->groups) /* else both are the last one */
            tile.side = cpu_avx_p_system_at(lines, tile.first + 1) - tile.offset;
        return tile;
    }
    long long group = t / plan->per_group, system = t % plan->per_group * plan->width, left = lines->systems - system;
    tile.first = group * lines->systems + system;
    tile.offset = (ptrdiff_t)(group * lines->jump + system * lines->stride);
    tile.side = (ptrdiff_t)(half * plan->pitch);
    tile.lanes = (int)(left < plan->width ? left : plan->width);
    return tile;
}

/* Bytes of a row of a tile, at most: wide, as each row may lie on another page; and of its store: those of the
   second-level cache. What is to be read of all arrays is fetched so many bytes ahead, in the order in which it is
   read. */
enum { CPU_AVX_P_ROW_BYTES = 2048, CPU_AVX_P_STORE_BYTES = 1 << 20, CPU_AVX_P_PREFETCH_BYTES = 6144 };

/* Are numbers faster than vectors? So few systems a thread leave most lanes of a tile idle; and what a tile keeps of
   contiguous systems of so many bytes is more than the second-level cache. */
enum { CPU_AVX_P_FEW_SYSTEMS = 6, CPU_AVX_P_LONG_BYTES = 1 << 17 };

CPU_AVX_API int cpu_avx_p_goes_scalar(const cpu_avx_lines *lines, int threads, int size)
{
    return lines->systems * lines->groups <= (long long)CPU_AVX_P_FEW_SYSTEMS * threads ||
           (lines->step == 1 && lines->n >= CPU_AVX_P_LONG_BYTES / size);
}

/* Systems side by side in a tile, where they lie so: what the second-level cache holds of them. */
CPU_AVX_API long long cpu_avx_p_width(long long n, int size)
{
    long long bytes = CPU_AVX_P_ROW_BYTES;
    while (bytes > 128 && 2 * n * bytes > CPU_AVX_P_STORE_BYTES) bytes /= 2;
    return bytes / size;
}

/* Copies a caller's lines, with one group where groups was left 0. Returns 0 for lines that cannot be. */
CPU_AVX_API int cpu_avx_p_lines_of(const cpu_avx_lines *given, cpu_avx_lines *lines)
{
    if (!given || given->n < 0 || given->systems < 0 || given->groups < 0) return 0;
    *lines = *given;
    if (!lines->groups) lines->groups = 1;
    if (!lines->n || !lines->systems) return 1;
    /* A step that was left 0 puts all rows in one place. */
    return (lines->n == 1 || lines->step) && (lines->systems == 1 || lines->stride) &&
           (lines->groups == 1 || lines->jump);
}

/* The same systems in as few groups as possible. */
CPU_AVX_API cpu_avx_lines cpu_avx_p_join_groups(cpu_avx_lines lines)
{
    if (lines.systems == 1) {
        lines.systems = lines.groups;
        lines.stride = lines.jump;
        lines.groups = 1;
    } else if (lines.groups > 1 && lines.jump == lines.systems * lines.stride) {
        lines.systems *= lines.groups;
        lines.groups = 1;
    }
    return lines;
}

#define cpu_avx_factor CPU_AVX_OF(cpu_avx_factor)
#define cpu_avx_p_streams CPU_AVX_OF(cpu_avx_p_streams)
#define cpu_avx_p_thomas_plan CPU_AVX_OF(cpu_avx_p_thomas_plan)
#define cpu_avx_p_batch CPU_AVX_OF(cpu_avx_p_batch)
#define cpu_avx_p_store_len CPU_AVX_OF(cpu_avx_p_store_len)
#define cpu_avx_p_share CPU_AVX_OF(cpu_avx_p_share)
#define cpu_avx_p_work_bytes CPU_AVX_OF(cpu_avx_p_work_bytes)
#define cpu_avx_thomas_bytes CPU_AVX_OF(cpu_avx_thomas_bytes)
#define cpu_avx_solve_bytes CPU_AVX_OF(cpu_avx_solve_bytes)
#define cpu_avx_p_thomas_by_tiles CPU_AVX_OF(cpu_avx_p_thomas_by_tiles)
#define cpu_avx_thomas CPU_AVX_OF(cpu_avx_thomas)
#define cpu_avx_solve CPU_AVX_OF(cpu_avx_solve)

#elif CPU_AVX_PASS == CPU_AVX_PASS_TYPES /* of a precision: what its sets share */

/* Solves   the part of the Thomas algorithm that depends on the matrix alone: a[j] x[j-1] + b[j] x[j] + c[j] x[j+1]
   Needs    f of CPU_AVX_FACTOR_LEN(n) elements; a[0] and c[n-1] are not read
   Leaves   in f three arrays of n, l, r and q, for y[j] = r[j] d[j] - l[j] y[j-1], x[j] = y[j] - q[j] x[j+1]
   Returns  0, CPU_AVX_BAD_ARGUMENT, or 1 + the first row with a bad pivot (INT_MAX if it is larger)
   Cost     n divisions, 2n mul, n FMA; plain C, no thread */
CPU_AVX_API int cpu_avx_factor(long long n, const cpu_avx_real *a, const cpu_avx_real *b, const cpu_avx_real *c,
                               cpu_avx_real *f)
{
    if (n < 0 || (n > 0 && (!a || !b || !c || !f))) return CPU_AVX_BAD_ARGUMENT;
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

/* The arrays of a batch; without a matrix for each system, f holds the one for all. */
typedef struct {
    const cpu_avx_real *a, *b, *c, *d, *f;
    cpu_avx_real *x;
} cpu_avx_p_batch;

/* Is x stored past the caches? If its rows, so many elements apart, lie alike within lines of the cache, and it is more
   than they hold. */
CPU_AVX_API int cpu_avx_p_streams(const cpu_avx_lines *lines, const cpu_avx_p_batch *batch, long long apart)
{
    return (uintptr_t)batch->x % 64 == 0 && apart % (64 / CPU_AVX_SIZE) == 0 &&
           (double)lines->n * (double)lines->systems * (double)lines->groups * CPU_AVX_SIZE >= CPU_AVX_STREAM_BYTES;
}

CPU_AVX_API cpu_avx_p_plan cpu_avx_p_thomas_plan(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch,
                                                 int threads)
{
    cpu_avx_p_plan plan;
    long long W = cpu_avx_width(isa), line = 64 / CPU_AVX_SIZE;
    plan.lines = cpu_avx_p_join_groups(*lines);
    if (cpu_avx_p_goes_scalar(lines, threads, CPU_AVX_SIZE)) {
        const long long systems = plan.lines.systems * plan.lines.groups;
        const cpu_avx_p_plan single = {plan.lines, systems, systems, 1, CPU_AVX_P_SCALAR, lines->n, 0, 0, 0, 0};
        return single;
    }
    plan.kind = plan.lines.step == 1 && plan.lines.stride != 1 ? CPU_AVX_P_CONTIGUOUS : CPU_AVX_P_INTERLEAVED;
    plan.n = lines->n;
    plan.pitch = plan.lines.stride;
    plan.copied = plan.refined = 0;
    const int rows = plan.kind == CPU_AVX_P_CONTIGUOUS;
    plan.width = rows ? 2 * W : plan.lines.stride != 1 ? W : cpu_avx_p_width(lines->n, CPU_AVX_SIZE);
    for (;;) { /* narrower, where there would be too few tiles for the threads */
        plan.per_group = (plan.lines.systems - 1) / plan.width + 1;
        plan.tiles = plan.per_group * plan.lines.groups;
        if (rows || plan.width <= line || plan.tiles >= 4LL * threads) break;
        plan.width /= 2;
    }
    const long long apart =
        (rows ? plan.lines.stride : plan.lines.step) | (plan.lines.groups > 1 ? plan.lines.jump : 0);
    /* In place, what lies together is still in the cache when it is written, a tile after it was read; rows far apart,
       which share few places there, are not. */
    plan.stream =
        (batch->x != batch->d || (!rows && plan.lines.step > plan.width)) && cpu_avx_p_streams(lines, batch, apart);
    return plan;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Elements of a thread's store: without vectors one for each row and system in flight; else a slot of two for each row
   and system of a tile (contiguous systems: for each row, rounded up to whole lines of the cache), and three rows
   more. */
CPU_AVX_API size_t cpu_avx_p_store_len(const cpu_avx_lines *lines, int threads)
{
    const size_t n = (size_t)lines->n;
    if (cpu_avx_p_goes_scalar(lines, threads, CPU_AVX_SIZE))
        return lines->systems * lines->groups > threads ? 2 * n : n;
    size_t rows = (n + 15) / 16 * 16, width = (size_t)cpu_avx_p_width(lines->n, CPU_AVX_SIZE);
    return (2 * rows + 3) * width;
}
/* Thread i's part of work, each with this many elements. */
CPU_AVX_API cpu_avx_real *cpu_avx_p_share(void *work, size_t len, int i)
{
    return (cpu_avx_real *)cpu_avx_p_align((char *)work + (size_t)i * (len * sizeof(cpu_avx_real) + 64));
}
/* No more threads work than there are systems. */
CPU_AVX_API size_t cpu_avx_p_work_bytes(const cpu_avx_lines *lines, size_t len, int threads)
{
    const long long systems = lines->systems * lines->groups;
    return (size_t)(systems < threads ? systems : threads) * (len * sizeof(cpu_avx_real) + 64);
}

/* Bytes of work for cpu_avx_thomas, cpu_avx_solve and cpu_avx_hybrid (also refined) on these lines; 0 for lines that
   they do not take, and for threads < 1. */
CPU_AVX_API size_t cpu_avx_thomas_bytes(const cpu_avx_lines *lines, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || !all.n || threads < 1) return 0;
    return cpu_avx_p_work_bytes(&all, cpu_avx_p_store_len(&all, threads), threads);
}
CPU_AVX_API size_t cpu_avx_solve_bytes(const cpu_avx_lines *lines, int threads)
{
    return cpu_avx_thomas_bytes(lines, threads);
}

/* Each thread its part of the plan's tiles by the function named; a macro, so that who calls one compiles no other. */
#define CPU_AVX_P_SOLVE_TILES(stem, length)                                                                            \
    const size_t len = length;                                                                                         \
    long long bad = LLONG_MAX;                                                                                         \
    if (threads > plan.tiles) threads = (int)plan.tiles;                                                               \
    if (threads == 1) { /* opening a region takes as long as a hundred rows */                                         \
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

CPU_AVX_API int cpu_avx_p_thomas_by_tiles(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch, void *work,
                                          int threads)
{
    const cpu_avx_p_plan plan = cpu_avx_p_thomas_plan(isa, lines, batch, threads);
    CPU_AVX_P_SOLVE_TILES(cpu_avx_p_thomas_tiles, cpu_avx_p_store_len(lines, threads));
}

/* Solves   a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j] by the Thomas algorithm, for every system of the lines, each
            with its own matrix
   Needs    work of cpu_avx_thomas_bytes(lines, threads) bytes; no pivoting is done: safe for diagonally dominant
            matrices; a[0] and c[n-1] may be anything, but must be there; x may be d exactly, and overlaps nothing else
   Returns  0, an error, or 1 + the first system that met a bad pivot, whose x is then unspecified
   Cost     reads a, b, c, d and writes x once; 5 FMA, 2 mul and a reciprocal an element. Fast where stride or step is
            1, most so where all rows of x begin on lines of the cache; other steps are gathered. Up to six systems a
            thread, and contiguous ones of 128 KB or more, go without vectors, two at a time from both ends, with a
            division for the reciprocal: so the number of threads may change how x is rounded */
CPU_AVX_API int cpu_avx_thomas(int isa, const cpu_avx_lines *lines, const cpu_avx_real *a, const cpu_avx_real *b,
                               const cpu_avx_real *c, const cpu_avx_real *d, cpu_avx_real *x, void *work, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (!cpu_avx_has(isa)) return CPU_AVX_BAD_ISA;
    if (!all.n || !all.systems) return CPU_AVX_OK;
    if (!a || !b || !c || !d || !x || !work) return CPU_AVX_BAD_ARGUMENT;
    cpu_avx_p_batch batch = {a, b, c, d, 0, x};
    return cpu_avx_p_thomas_by_tiles(isa, &all, &batch, work, threads);
}

/* Solves   the same where one matrix, taken apart by cpu_avx_factor, is that of all systems
   Needs    work of cpu_avx_solve_bytes(lines, threads) bytes; x may be d exactly, and overlaps nothing else
   Returns  0 or an error
   Cost     reads d and writes x once */
CPU_AVX_API int cpu_avx_solve(int isa, const cpu_avx_lines *lines, const cpu_avx_real *f, const cpu_avx_real *d,
                              cpu_avx_real *x, void *work, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || threads < 1) return CPU_AVX_BAD_ARGUMENT;
    if (!cpu_avx_has(isa)) return CPU_AVX_BAD_ISA;
    if (!all.n || !all.systems) return CPU_AVX_OK;
    if (!f || !d || !x || !work) return CPU_AVX_BAD_ARGUMENT;
    cpu_avx_p_batch batch = {0, 0, 0, d, f, x};
    return cpu_avx_p_thomas_by_tiles(isa, &all, &batch, work, threads);
}

#endif /* CPU_AVX_PASS */
