/* hybrid.h - a room of cpu_avx.h: each system across the lanes of a vector, also with a step of refinement.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_hybrid_plan CPU_AVX_OF(cpu_avx_p_hybrid_plan)
#define cpu_avx_p_fill_up CPU_AVX_OF_SET(cpu_avx_p_fill_up)
#define cpu_avx_p_residual CPU_AVX_OF_SET(cpu_avx_p_residual)
#define cpu_avx_p_copied_tiles CPU_AVX_OF_SET(cpu_avx_p_copied_tiles)
#define cpu_avx_p_hybrid_tiles CPU_AVX_OF_SET(cpu_avx_p_hybrid_tiles)
#define cpu_avx_p_hybrid_len CPU_AVX_OF(cpu_avx_p_hybrid_len)
#define cpu_avx_hybrid_bytes CPU_AVX_OF(cpu_avx_hybrid_bytes)
#define cpu_avx_p_hybrid_by_tiles CPU_AVX_OF(cpu_avx_p_hybrid_by_tiles)
#define cpu_avx_hybrid CPU_AVX_OF(cpu_avx_hybrid)
#define cpu_avx_hybrid_refined CPU_AVX_OF(cpu_avx_hybrid_refined)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Copies n elements, step apart, and pads them to `length`. */
CPU_AVX_CALL void cpu_avx_p_fill_up(const cpu_avx_real *p, long long n, ptrdiff_t step, long long length,
                                    cpu_avx_real filling, cpu_avx_real *to)
{
    if (step == 1)
        memcpy(to, p, (size_t)n * sizeof *to);
    else
        for (long long j = 0; j < n; j++) to[j] = p[j * step];
    for (long long j = n; j < length; j++) to[j] = filling;
}

/* Subtracts A x from d; A is a, b, c. */
CPU_AVX_CALL void cpu_avx_p_residual(long long n, const cpu_avx_real *CPU_AVX_P_RESTRICT a,
                                     const cpu_avx_real *CPU_AVX_P_RESTRICT b, const cpu_avx_real *CPU_AVX_P_RESTRICT c,
                                     const cpu_avx_real *CPU_AVX_P_RESTRICT x, cpu_avx_real *CPU_AVX_P_RESTRICT d)
{
    for (long long j = 0; j < n; j++) d[j] = cpu_avx_p_madd(-b[j], x[j], d[j]);
    for (long long j = 1; j < n; j++) d[j] = cpu_avx_p_madd(-a[j], x[j - 1], d[j]);
    for (long long j = 0; j < n - 1; j++) d[j] = cpu_avx_p_madd(-c[j], x[j + 1], d[j]);
}

/* Solves tiles of systems that do not lie as partitions must, or are to be refined, in copies at the end of the
   store. */
CPU_AVX_CALL long long cpu_avx_p_copied_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                              cpu_avx_real *store, long long from, long long to)
{
    enum { cache_line = CPU_AVX_P_CACHE_LINE, lanes = cpu_avx_lanes };
    const ptrdiff_t step = (ptrdiff_t)plan->lines.step;
    const long long n = plan->lines.n, length = (plan->kind == CPU_AVX_P_ONE_SYSTEM ? 2 * lanes : lanes) * plan->n;
    const int systems = plan->kind == CPU_AVX_P_ONE_SYSTEM ? 1 : 2;
    cpu_avx_real *a = store + (plan->n + cache_line - 1) / cache_line * cache_line * cpu_avx_p_slot(1),
                 *b = a + systems * length;
    cpu_avx_real *c = b + systems * length, *d = c + systems * length, *y = d + systems * length;
    const cpu_avx_p_batch copies = {a, b, c, d, 0, d, 0}, unrefined = {a, b, c, d, 0, y, 0};
    const cpu_avx_lines lines = {length, 1, systems, length, 1, 0};
    cpu_avx_p_plan copied = *plan;
    long long bad = LLONG_MAX;
    copied.lines = lines;
    copied.tiles = 1;
    for (long long t = from; t < to; t++) {
        const cpu_avx_p_tile tile = cpu_avx_p_tile_at(plan, t, from, to);
        for (int g = 0; g < systems; g++) {
            const ptrdiff_t at = tile.offset + g * tile.side;
            cpu_avx_p_fill_up(batch->a + at, n, step, length, 0, a + g * length);
            cpu_avx_p_fill_up(batch->b + at, n, step, length, 1, b + g * length);
            cpu_avx_p_fill_up(batch->c + at, n, step, length, 0, c + g * length);
            cpu_avx_p_fill_up(batch->d + at, n, step, length, 0, d + g * length);
            c[g * length + n - 1] = 0;
        }
        const long long first = cpu_avx_p_partitions_tiles(&copied, plan->refined ? &unrefined : &copies, store, 0, 1);
        if (bad == LLONG_MAX && first < LLONG_MAX) bad = tile.first + first;
        if (plan->refined) {
            for (ptrdiff_t at = 0; at < systems * length; at += (ptrdiff_t)length)
                cpu_avx_p_residual(n, a + at, b + at, c + at, y + at, d + at);
            cpu_avx_p_partitions_tiles(&copied, &copies, store, 0, 1);
            for (long long i = 0; i < systems * length; i++) d[i] += y[i];
        }
        for (int g = 0; g < systems; g++) {
            cpu_avx_real *x = batch->x + tile.offset + g * tile.side;
            if (step == 1)
                memcpy(x, d + g * length, (size_t)n * sizeof *x);
            else
                for (long long j = 0; j < n; j++) x[j * step] = d[g * length + j];
        }
    }
    return bad;
}

/* Solves tiles from .. to-1. Returns the first system with a bad pivot, or LLONG_MAX. */
CPU_AVX_CALL long long cpu_avx_p_hybrid_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                              cpu_avx_real *store, long long from, long long to)
{
    if (plan->copied) return cpu_avx_p_copied_tiles(plan, batch, store, from, to);
    return cpu_avx_p_partitions_tiles(plan, batch, store, from, to);
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Returns how a batch is cut into tiles across lanes: two systems at once; or a long one alone, whose tile leaves
   the first-level cache room, unless only two at once are full tiles. What is not k contiguous rows in each lane is
   to be copied. */
CPU_AVX_API cpu_avx_p_plan cpu_avx_p_hybrid_plan(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch,
                                                 int refined)
{
    cpu_avx_p_plan plan;
    const long long n = lines->n, lanes = cpu_avx_width(isa), systems = lines->systems * lines->groups;
    const int whole = n % (lanes * lanes) == 0, even = n % (2 * lanes * (whole ? lanes : 1)) == 0;
    const int halves = n / lanes >= 2 * lanes && (even || n % lanes != 0);
    plan.lines = *lines;
    plan.kind = halves ? CPU_AVX_P_ONE_SYSTEM : CPU_AVX_P_TWO_SYSTEMS;
    plan.n = plan.pitch = (n - 1) / (halves ? 2 * lanes : lanes) + 1;
    plan.width = 2 * lanes;
    plan.tiles = plan.per_group = halves ? systems : (systems - 1) / 2 + 1;
    plan.refined = refined;
    plan.apart = plan.fetched = 0;
    plan.copied = refined || lines->step != 1 || n % (halves ? 2 * lanes : lanes) != 0;
    plan.stream = !plan.copied && batch->x != batch->d &&
                  cpu_avx_p_streams(lines, batch, plan.pitch | lines->stride | lines->jump);
    return plan;
}

/* Returns the elements of a thread's store, whatever the vector: 6 lanes for each row of the partitions, rounded up
   to cache lines, a copy of the four arrays, and x before it is refined. */
CPU_AVX_API size_t cpu_avx_p_hybrid_len(long long n)
{
    const size_t most = 64 / CPU_AVX_SIZE;
    return 6 * ((size_t)n + most * 16) + 10 * ((size_t)n + most);
}

/* Returns the bytes of work for cpu_avx_hybrid and cpu_avx_hybrid_refined on these lines; 0 for lines that they do
   not take, and for threads < 1. */
CPU_AVX_API size_t cpu_avx_hybrid_bytes(const cpu_avx_lines *lines, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || !all.n || threads < 1) return 0;
    return cpu_avx_p_work_bytes(&all, cpu_avx_p_hybrid_len(all.n), threads);
}

/* The body of cpu_avx_hybrid and cpu_avx_hybrid_refined. */
CPU_AVX_API int cpu_avx_p_hybrid_by_tiles(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch,
                                          int refined, void *work, int threads)
{
    cpu_avx_lines all;
    const int status = cpu_avx_p_batch_status(isa, lines, batch, work, threads, &all);
    if (status || !all.systems) return status;
    const cpu_avx_p_plan plan = cpu_avx_p_hybrid_plan(isa, &all, batch, refined);
    CPU_AVX_P_SOLVE_TILES(cpu_avx_p_hybrid_tiles, cpu_avx_p_hybrid_len(all.n));
}
#undef CPU_AVX_P_SOLVE_TILES

/* Solves every system of the lines on its own across the lanes of a vector. Lane l reduces rows l k .. l k + k - 1,
   with k = n / lanes rounded up (n / (2*lanes) from 2*lanes^2 rows on, unless n is a multiple of lanes but not of
   2*lanes), and PCR finds the last unknown of each lane; its steps are left out once they change nothing to rounding.
   Needs    work of cpu_avx_hybrid_bytes(lines, threads) bytes; else as cpu_avx_thomas, but it eliminates in another
            order: a matrix that is not dominant can pass one and fail the other
   Returns  as cpu_avx_thomas
   Cost     reads a, b, c, d and writes x once; 10 FMA, 3 mul and a reciprocal an element. For contiguous systems (step
            1) whose n is a multiple of lanes^2 and which come from memory: it is read in the order in which it lies,
            which with AVX-512 makes this faster than cpu_avx_thomas; other n are slower, the shorter the more. And for
            a few contiguous systems of hundreds of rows. Where n is no multiple of lanes, or step not 1, they are
            copied
   Error    x as accurate as the condition of the matrix allows, but the residual, which cpu_avx_thomas keeps within
            a few roundoffs, grows as dominance weakens: the largest |Ax - d| over the largest |A||x| + |d| stays
            below 8 + 1 / (k^2.5 (dominance - 1)) roundoffs, dominance being the least |b| / (|a| + |c|) of a row
            (measured, no proof: docs/cpu_avx.md). And an eighth of a roundoff of the system's largest unknown for
            what is left out: unknowns so much smaller than others far from them may come out as 0 */
CPU_AVX_API int cpu_avx_hybrid(int isa, const cpu_avx_lines *lines, const cpu_avx_real *a, const cpu_avx_real *b,
                               const cpu_avx_real *c, const cpu_avx_real *d, cpu_avx_real *x, void *work, int threads)
{
    const cpu_avx_p_batch batch = {a, b, c, d, 0, x, 0};
    return cpu_avx_p_hybrid_by_tiles(isa, lines, &batch, 0, work, threads);
}

/* Solves the same, and then A e = d - A x for what x lacks: one step of refinement, in the same precision.
   Needs, Returns as cpu_avx_hybrid
   Cost     twice the operations of cpu_avx_hybrid and 3 FMA an element; systems are always copied
   Error    the residual is at most 5 roundoffs (measured) as long as k^2.5 (dominance - 1) exceeds 4.9e-4 in single
            and 2.1e-8 in double precision. Only the residual gets smaller: the error of x stays that of any solver,
            the condition times a roundoff */
CPU_AVX_API int cpu_avx_hybrid_refined(int isa, const cpu_avx_lines *lines, const cpu_avx_real *a,
                                       const cpu_avx_real *b, const cpu_avx_real *c, const cpu_avx_real *d,
                                       cpu_avx_real *x, void *work, int threads)
{
    const cpu_avx_p_batch batch = {a, b, c, d, 0, x, 0};
    return cpu_avx_p_hybrid_by_tiles(isa, lines, &batch, 1, work, threads);
}

#endif /* CPU_AVX_PASS */
