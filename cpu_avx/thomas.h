/* thomas.h - a room of cpu_avx.h: cpu_avx_thomas and cpu_avx_solve, which choose how a batch is solved.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_thomas_tiles CPU_AVX_OF_SET(cpu_avx_p_thomas_tiles)
#define cpu_avx_p_factored_tiles CPU_AVX_OF_SET(cpu_avx_p_factored_tiles)
#define cpu_avx_p_cut_store_len CPU_AVX_OF(cpu_avx_p_cut_store_len)
#define cpu_avx_p_group_by_group CPU_AVX_OF(cpu_avx_p_group_by_group)
#define cpu_avx_thomas_bytes CPU_AVX_OF(cpu_avx_thomas_bytes)
#define cpu_avx_solve_bytes CPU_AVX_OF(cpu_avx_solve_bytes)
#define cpu_avx_p_run_tiles CPU_AVX_OF(cpu_avx_p_run_tiles)
#define cpu_avx_p_thomas_cut CPU_AVX_OF(cpu_avx_p_thomas_cut)
#define cpu_avx_p_thomas_batch CPU_AVX_OF(cpu_avx_p_thomas_batch)
#define cpu_avx_thomas CPU_AVX_OF(cpu_avx_thomas)
#define cpu_avx_solve CPU_AVX_OF(cpu_avx_solve)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Solves tiles `from` .. `to` - 1 as planned. Returns the first system with a bad pivot, or LLONG_MAX; with
   CPU_AVX_P_CUT and one system per lane, the first partition. */
CPU_AVX_CALL long long cpu_avx_p_thomas_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                              cpu_avx_real *store, long long from, long long to)
{
    if (plan->kind == CPU_AVX_P_SCALAR) return cpu_avx_p_scalar_tiles(plan, batch, store, from, to);
    if (plan->per_lane > 1) return cpu_avx_p_several_tiles(plan, batch, store, from, to);
    if (plan->kind == CPU_AVX_P_CONTIGUOUS || plan->kind == CPU_AVX_P_CUT)
        return cpu_avx_p_contiguous_tiles(plan, batch, store, from, to);
    return cpu_avx_p_interleaved_tiles(plan, batch, store, from, to);
}

/* Solves tiles `from` .. `to` - 1 of systems that share one matrix. Returns LLONG_MAX. A function of its own, so that a
   program compiles only what it calls. */
CPU_AVX_CALL long long cpu_avx_p_factored_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                                cpu_avx_real *store, long long from, long long to)
{
    if (plan->kind == CPU_AVX_P_SCALAR)
        cpu_avx_p_scalar_factored(plan, batch, from, to);
    else if (plan->kind == CPU_AVX_P_CONTIGUOUS)
        cpu_avx_p_contiguous_factored(plan, batch, store, from, to);
    else
        cpu_avx_p_interleaved_factored(plan, batch, store, from, to);
    return LLONG_MAX;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Returns the number of elements of a thread's store for the partitions of cut systems. */
CPU_AVX_API size_t cpu_avx_p_cut_store_len(const cpu_avx_lines *lines, cpu_avx_p_cut cut)
{
    const long long line = 64 / CPU_AVX_SIZE;
    if (!cut.per_lane) return (size_t)(2 * cut.rows * ((lines->systems + line - 1) / line * line));
    return (size_t)((cut.rows * cut.per_lane + 14) / 16 * 16 * (2 * 128 / CPU_AVX_SIZE));
}

/* Returns how many bytes of work cpu_avx_solve needs for these lines; 0 for invalid lines, an empty batch, or
   threads < 1. For interleaved systems (step not 1, stride 1, one group) of up to 8192 rows, more rows, systems or
   threads never need less, so work for the largest of several calls serves all of them. */
CPU_AVX_API size_t cpu_avx_solve_bytes(const cpu_avx_lines *lines, int threads)
{
    cpu_avx_lines all;
    if (!cpu_avx_p_lines_of(lines, &all) || !all.n || threads < 1) return 0;
    threads = cpu_avx_p_threads_of(&all, threads, CPU_AVX_SIZE);
    return cpu_avx_p_work_bytes(&all, cpu_avx_p_store_len(&all, threads), threads);
}

/* Returns whether cpu_avx_thomas solves a batch group by group, and sets *one to the lines of a group. It does if a
   group can be cut and occupies all threads. A row of up to six interleaved systems must also take at most 16 bytes, or
   24 if the systems are so long that a tile's store would otherwise come from memory. Seven or more must be so long. */
CPU_AVX_API int cpu_avx_p_group_by_group(const cpu_avx_lines *all, int threads, cpu_avx_lines *one)
{
    *one = *all;
    one->groups = 1;
    const cpu_avx_p_cut cut = cpu_avx_p_cut_of(one, threads, CPU_AVX_SIZE);
    const int row = cut.per_lane * CPU_AVX_SIZE;                  /* 0 for seven or more interleaved systems */
    const int is_long = 2 * 128 * all->n > CPU_AVX_P_APART_BYTES; /* c and d of the narrowest tile */
    const int pays = row ? row <= (is_long ? 24 : 16) : is_long;
    return all->groups > 1 && cut.count && pays && cpu_avx_p_worth(one, threads) == threads;
}

/* Returns how many bytes of work cpu_avx_thomas needs. All else is as in cpu_avx_solve_bytes, the promise for
   interleaved systems included. */
CPU_AVX_API size_t cpu_avx_thomas_bytes(const cpu_avx_lines *lines, int threads)
{
    const size_t whole = cpu_avx_solve_bytes(lines, threads);
    cpu_avx_lines all, one;
    if (!whole || !cpu_avx_p_lines_of(lines, &all)) return 0;
    if (cpu_avx_p_group_by_group(&all, threads, &one)) return cpu_avx_thomas_bytes(&one, threads);
    const cpu_avx_p_cut cut = cpu_avx_p_cut_of(&all, threads, CPU_AVX_SIZE);
    const size_t bytes = 64 + cpu_avx_p_separators_len(&all, cut) * sizeof(cpu_avx_real) +
                         (size_t)threads * (cpu_avx_p_cut_store_len(&all, cut) * sizeof(cpu_avx_real) + 64);
    return cut.count && bytes > whole ? bytes : whole;
}

/* Solves the tiles of a plan with at most `threads` threads. Returns the status. */
CPU_AVX_API int cpu_avx_p_run_tiles(int isa, cpu_avx_p_plan plan, const cpu_avx_p_batch *batch, void *work,
                                    size_t length, int threads)
{
    CPU_AVX_P_SOLVE_TILES(cpu_avx_p_thomas_tiles, length);
}

/* Solves cut systems after cpu_avx_p_find_separators has reduced their partitions. Returns the status. */
CPU_AVX_API int cpu_avx_p_thomas_cut(int isa, const cpu_avx_lines *lines, cpu_avx_p_cut cut,
                                     const cpu_avx_p_batch *given, cpu_avx_real *work, int threads)
{
    const int each = cut.per_lane;
    const cpu_avx_lines of_lanes = {(cut.rows - 1) * each, 1, cut.count, cut.rows * each, each > 1 ? 1 : lines->systems,
                                    lines->stride};
    const cpu_avx_lines of_rows = {cut.rows - 1, lines->step, lines->systems, 1, cut.count, cut.rows * lines->step};
    cpu_avx_p_batch batch = *given;
    long long bad;
    batch.known = cpu_avx_p_separators_of(lines, cut, work, 0).x;
    CPU_AVX_P_PICK(isa, bad =, cpu_avx_p_all_separators, (lines, cut, &batch, work));
    /* For more threads than partitions the plan might be the one for few systems, whose tiles are single systems. */
    const int of_plan = threads < cut.count ? threads : (int)cut.count;
    cpu_avx_p_plan plan = each ? cpu_avx_p_contiguous_plan(isa, CPU_AVX_P_CUT, &of_lanes, &batch)
                               : cpu_avx_p_thomas_plan(isa, &of_rows, &batch, of_plan);
    if (each)
        plan.per_lane = each;
    else
        plan.kind = CPU_AVX_P_CUT_ROWS;
    const int status = cpu_avx_p_run_tiles(isa, plan, &batch, work + cpu_avx_p_separators_len(lines, cut),
                                           cpu_avx_p_cut_store_len(lines, cut), threads);
    const long long system = each == 1 ? (status - 1) / cut.count : status - 1;
    if (status && system < bad) bad = system;
    return bad < LLONG_MAX ? cpu_avx_p_failed(bad) : CPU_AVX_OK;
}

/* The body of cpu_avx_thomas, and of cpu_avx_hybrid where that does the same. */
CPU_AVX_API int cpu_avx_p_thomas_batch(int isa, const cpu_avx_lines *lines, const cpu_avx_p_batch *batch, void *work,
                                       int threads)
{
    cpu_avx_lines all, one;
    const int status = cpu_avx_p_batch_status(isa, lines, batch, work, threads, &all);
    if (status || !all.systems) return status;
    if (cpu_avx_p_group_by_group(&all, threads, &one)) {
        int first = CPU_AVX_OK;
        for (long long g = 0; g < all.groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)(g * all.jump);
            const cpu_avx_p_batch group = {
                batch->a + at, batch->b + at, batch->c + at, batch->d + at, 0, batch->x + at, 0};
            const int bad = cpu_avx_p_thomas_batch(isa, &one, &group, work, threads);
            if (bad && !first) first = cpu_avx_p_failed(g * all.systems + bad - 1);
        }
        return first;
    }
    const cpu_avx_p_cut cut = cpu_avx_p_cut_of(&all, threads, CPU_AVX_SIZE);
    if (cut.count) {
        cpu_avx_real *own = (cpu_avx_real *)cpu_avx_p_align(work);
        const cpu_avx_p_separators of = cpu_avx_p_separators_of(&all, cut, own, 0);
        if (cpu_avx_p_find_separators(isa, &all, cut, batch, &of, threads))
            return cpu_avx_p_thomas_cut(isa, &all, cut, batch, own, threads);
    }
    threads = cpu_avx_p_threads_of(&all, threads, CPU_AVX_SIZE);
    return cpu_avx_p_run_tiles(isa, cpu_avx_p_thomas_plan(isa, &all, batch, threads), batch, work,
                               cpu_avx_p_store_len(&all, threads), threads);
}

/* Solves a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j] by the Thomas algorithm, for every system of the lines, each with
   its own matrix.
   Needs    work of cpu_avx_thomas_bytes(lines, threads) bytes; matrices that need no pivoting, such as diagonally
            dominant ones; a[0] and c[n-1] readable, with any contents; x may be d, but must not overlap another array
            (if the pointer x equals a, b or c, the call is refused; other overlaps are not looked for)
   Returns  0, an error, or 1 + the index of the first system with a bad pivot; x of each such system is unspecified
   Cost     reads a, b, c, d and writes x once; 5 FMA, 2 mul and a reciprocal per element. Without vectors, and for
            interleaved x that is not stored past the caches, x also holds d between elimination and substitution, so it
            is written twice, and a very long tile's x is read from memory again; rows shorter than their vectors are an
            exception. Fast if stride or step is 1, fastest if all rows of x begin on cache lines; other layouts are
            gathered. Long systems are cut into partitions, which threads share (rows near a separator are read more
            than once). In one group these are cut (figures for double precision in parentheses):
              contiguous, at least 2048 (1024) rows        fewer than 32 (16) systems
              contiguous, at least 8192 (4096) rows        at most 32 (16) systems for every two threads
              contiguous, at least 32,768 (16,384) rows    any number of systems (128 KB per array and system)
              interleaved, more than 8192 rows             2 to 6 systems, no gaps between rows; not 4 on one thread
              interleaved, more than 8192 rows             7 or more systems, rows of at most 512 bytes, and either
                                                           several threads or at least 1 MB per array
            Several groups are solved one after another if one alone would be cut and has at least 1024 rows for each
            thread but one (CPU_AVX_THREAD_ROWS). Up to six interleaved systems must also take at most 16 bytes a row,
            or 24 if they have more than 65,536 rows. Seven or more must have more than 65,536 rows. A batch that is not
            cut is solved from both ends if it has at most six systems per thread (six in all, if they share cache
            lines), or if its systems are contiguous and each takes 128 KB or more per array. One or two systems are
            then solved at a time (or a vector of up to four if they share cache lines), with a division instead of
            cpu_avx_rcp
   Error    a few roundoffs in the residual; a dozen or so if barely dominant systems are cut. A system is cut only if
            the couplings between its separators are lost in rounding; unknowns that are much smaller than others far
            away may then come out as 0. The number of threads may change the rounding of x */
CPU_AVX_API int cpu_avx_thomas(int isa, const cpu_avx_lines *lines, const cpu_avx_real *a, const cpu_avx_real *b,
                               const cpu_avx_real *c, const cpu_avx_real *d, cpu_avx_real *x, void *work, int threads)
{
    const cpu_avx_p_batch batch = {a, b, c, d, 0, x, 0};
    return cpu_avx_p_thomas_batch(isa, lines, &batch, work, threads);
}

/* Solves every system of the lines, all with the matrix whose factors cpu_avx_factor left in f.
   Needs    work of cpu_avx_solve_bytes(lines, threads) bytes; x may be d, but must not overlap another array
            (if the pointer x equals f, the call is refused)
   Returns  0 or an error
   Cost     reads d and writes x once (x as often as cpu_avx_thomas does in a batch that is not cut); 2 FMA and 1 mul
            per element. Systems are not cut. Those that cpu_avx_thomas would solve from both ends, if it did not cut
            them, are solved without vectors, one or two at a time */
CPU_AVX_API int cpu_avx_solve(int isa, const cpu_avx_lines *lines, const cpu_avx_real *f, const cpu_avx_real *d,
                              cpu_avx_real *x, void *work, int threads)
{
    const cpu_avx_p_batch arrays = {0, 0, 0, d, f, x, 0}, *batch = &arrays;
    cpu_avx_lines all;
    const int status = cpu_avx_p_batch_status(isa, lines, batch, work, threads, &all);
    if (status || !all.systems) return status;
    threads = cpu_avx_p_threads_of(&all, threads, CPU_AVX_SIZE);
    const cpu_avx_p_plan plan = cpu_avx_p_thomas_plan(isa, &all, batch, threads);
    CPU_AVX_P_SOLVE_TILES(cpu_avx_p_factored_tiles, cpu_avx_p_store_len(&all, threads));
}

#endif /* CPU_AVX_PASS */
