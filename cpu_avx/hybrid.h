/* hybrid.h - a room of cpu_avx.h: cpu_avx_hybrid, which spreads each system across the lanes of a vector.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_hybrid_plan CPU_AVX_OF(cpu_avx_p_hybrid_plan)
#define cpu_avx_p_hybrid_len CPU_AVX_OF(cpu_avx_p_hybrid_len)
#define cpu_avx_hybrid_bytes CPU_AVX_OF(cpu_avx_hybrid_bytes)
#define cpu_avx_hybrid CPU_AVX_OF(cpu_avx_hybrid)

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Returns how a batch is cut into tiles across lanes: two systems per tile. A long system makes a tile of its two
   halves instead, which leaves room in the first-level cache. It is not halved if lanes would then hold unequal numbers
   of rows, or if whole systems consist of complete squares of lanes x lanes elements and halves would not. Returns a
   plan with no tiles if lanes would not hold equally many contiguous rows. */
CPU_AVX_API cpu_avx_p_plan cpu_avx_p_hybrid_plan(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch)
{
    cpu_avx_p_plan plan = cpu_avx_p_plan_of(lines->n, lines->step);
    const long long n = lines->n, lanes = cpu_avx_width(isa), systems = lines->systems * lines->groups;
    const int whole = n % (lanes * lanes) == 0, even = n % (2 * lanes * (whole ? lanes : 1)) == 0;
    const int halves = n / lanes >= 2 * lanes && even;
    plan.lines = *lines;
    plan.kind = halves ? CPU_AVX_P_ONE_SYSTEM : CPU_AVX_P_TWO_SYSTEMS;
    plan.n = plan.pitch = n / (halves ? 2 * lanes : lanes);
    plan.width = 2 * lanes;
    if (lines->step == 1 && n % lanes == 0) plan.tiles = halves ? systems : (systems - 1) / 2 + 1;
    plan.stream = batch->x != batch->d && cpu_avx_p_streams(lines, batch, plan.pitch | lines->stride | lines->jump);
    return plan;
}

/* Returns the number of elements of a thread's store for any set: 6 vectors for each row of a partition,
   with the number of rows rounded up to whole cache lines. */
CPU_AVX_API size_t cpu_avx_p_hybrid_len(long long n)
{
    return 6 * ((size_t)n + 16 * CPU_AVX_P_CACHE_LINE);
}

/* Returns how many bytes of work cpu_avx_hybrid needs for these lines; 0 for invalid lines, an empty batch, or
   threads < 1. */
CPU_AVX_API size_t cpu_avx_hybrid_bytes(const cpu_avx_lines *lines, int threads)
{
    const size_t thomas = cpu_avx_thomas_bytes(lines, threads);
    cpu_avx_lines all;
    if (!thomas || !cpu_avx_p_lines_of(lines, &all)) return 0;
    const size_t across = cpu_avx_p_work_bytes(&all, cpu_avx_p_hybrid_len(all.n), threads);
    return across > thomas ? across : thomas;
}

/* If systems are contiguous (step 1) and n is a multiple of lanes, solves each system across the lanes of a vector;
   otherwise does what cpu_avx_thomas does. Lane l reduces rows l k .. l k + k - 1, where k = n / lanes. From
   2*lanes^2 rows on, k = n / (2*lanes) in two cases: n is a multiple of 2*lanes^2, or n is a multiple of 2*lanes but
   not of lanes^2. PCR then finds the last unknown of each lane, without the steps that change less than rounding does.
   Needs    work of cpu_avx_hybrid_bytes(lines, threads) bytes; otherwise as cpu_avx_thomas. But cpu_avx_hybrid
            eliminates in another order, so a matrix that is not dominant may be solved by one function and not by the
            other
   Returns  as cpu_avx_thomas
   Cost     reads a, b, c, d and writes x once, each in the order of memory; 10 FMA, 3 mul and a reciprocal per
            element. If n is a multiple of lanes^2, faster than cpu_avx_thomas: in cache from about 1024 rows on (512 in
            double precision); on some processors also if data come from memory (docs/cpu_avx.md). Often faster, too,
            for one to four systems of about 1000 rows in double precision. Otherwise mostly slower, most of all for
            short systems and for those of a million rows
   Error    x as accurate as the condition of the matrix allows. The residual, which cpu_avx_thomas keeps within a few
            roundoffs unless it cuts systems, grows as dominance weakens: the largest |Ax - d|, divided by the largest
            |A||x| + |d|, is below 8 + 1 / (k^2.5 (dominance - 1)) roundoffs, where dominance is the least
            |b| / (|a| + |c|) of the rows. If k is 2048 or more, the residual may exceed this by
            0.05 / sqrt(dominance - 1) roundoffs. (Both are measured, not proved: docs/cpu_avx.md.) The omitted steps
            add at most an eighth of a roundoff of the system's largest unknown, so unknowns that are far from it and
            much smaller may come out as 0 */
CPU_AVX_API int cpu_avx_hybrid(int isa, const cpu_avx_lines *lines, const cpu_avx_real *a, const cpu_avx_real *b,
                               const cpu_avx_real *c, const cpu_avx_real *d, cpu_avx_real *x, void *work, int threads)
{
    const cpu_avx_p_batch arrays = {a, b, c, d, 0, x, 0}, *batch = &arrays;
    cpu_avx_lines all;
    const int status = cpu_avx_p_batch_status(isa, lines, batch, work, threads, &all);
    if (status || !all.systems) return status;
    const cpu_avx_p_plan plan = cpu_avx_p_hybrid_plan(isa, &all, batch);
    if (!plan.tiles) return cpu_avx_p_thomas_batch(isa, lines, batch, work, threads);
    CPU_AVX_P_SOLVE_TILES(cpu_avx_p_partitions_tiles, cpu_avx_p_hybrid_len(all.n));
}
#undef CPU_AVX_P_SOLVE_TILES

#endif /* CPU_AVX_PASS */
