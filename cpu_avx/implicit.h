/* implicit.h - a room of cpu_avx.h: implicit time steps of options on one asset, three rungs.
   MIT licence, see LICENSE.

   Each rung has a function of vector scope that marches options `first` .. `last` - 1 of a batch. The argument `work`
   points to the thread's share of the caller's work, which begins on a cache line. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_implicit1_options CPU_AVX_OF_SET(cpu_avx_p_implicit1_options)
#define cpu_avx_p_implicit1_step CPU_AVX_OF_SET(cpu_avx_p_implicit1_step)
#define cpu_avx_p_implicit1 CPU_AVX_OF_SET(cpu_avx_p_implicit1)
#define cpu_avx_p_implicit2_step CPU_AVX_OF_SET(cpu_avx_p_implicit2_step)
#define cpu_avx_p_implicit2_together CPU_AVX_OF_SET(cpu_avx_p_implicit2_together)
#define cpu_avx_p_implicit2 CPU_AVX_OF_SET(cpu_avx_p_implicit2)
#define cpu_avx_p_far CPU_AVX_OF_SET(cpu_avx_p_far)
#define cpu_avx_p_scan CPU_AVX_OF_SET(cpu_avx_p_scan)
#define cpu_avx_p_scan_factors CPU_AVX_OF_SET(cpu_avx_p_scan_factors)
#define cpu_avx_p_factor_partitions CPU_AVX_OF_SET(cpu_avx_p_factor_partitions)
#define cpu_avx_p_implicit3_step CPU_AVX_OF_SET(cpu_avx_p_implicit3_step)
#define cpu_avx_p_implicit3_together CPU_AVX_OF_SET(cpu_avx_p_implicit3_together)
#define cpu_avx_p_implicit3 CPU_AVX_OF_SET(cpu_avx_p_implicit3)
#define cpu_avx_p_links CPU_AVX_OF_SET(cpu_avx_p_links)
#define cpu_avx_p_part_row CPU_AVX_OF_SET(cpu_avx_p_part_row)
#define cpu_avx_p_row_vectors CPU_AVX_OF_SET(cpu_avx_p_row_vectors)
#define cpu_avx_implicit1 CPU_AVX_OF(cpu_avx_implicit1)
#define cpu_avx_implicit2 CPU_AVX_OF(cpu_avx_implicit2)
#define cpu_avx_implicit3 CPU_AVX_OF(cpu_avx_implicit3)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* The number of options that implicit1 marches at once: at least four, so that they share the wait for divisions. */
enum { cpu_avx_p_implicit1_options = cpu_avx_lanes < 4 ? 4 : cpu_avx_lanes };

/* implicit1: takes a step of cpu_avx_p_implicit1_options options by the Thomas algorithm. */
CPU_AVX_CALL void cpu_avx_p_implicit1_step(int n, cpu_avx_real *CPU_AVX_P_RESTRICT work,
                                           cpu_avx_real *CPU_AVX_P_RESTRICT bad)
{
    enum { lanes = cpu_avx_lanes, options = cpu_avx_p_implicit1_options, row_len = 5 * options };
    cpu_avx_real y[options] = {0}, q[options] = {0};
    for (cpu_avx_real *row = work; row < work + (ptrdiff_t)n * row_len; row += row_len)
        for (int o = 0; o < options; o++) {
            cpu_avx_real *at = row + o / lanes * 5 * lanes + o % lanes;
            cpu_avx_real r = 1 / cpu_avx_p_madd(-at[0], q[o], at[lanes]);
            bad[o] = cpu_avx_p_bad_reciprocal(r) ? 1 : bad[o];
            at[4 * lanes] = q[o] = r * at[2 * lanes];
            at[3 * lanes] = y[o] = r * cpu_avx_p_madd(-at[0], y[o], at[3 * lanes]);
        }
    for (ptrdiff_t j = n - 2; j >= 0; j--) {
        CPU_AVX_P_KEEP_LOOP
        for (int o = 0; o < options; o++) {
            cpu_avx_real *at = work + j * row_len + o / lanes * 5 * lanes + o % lanes;
            at[3 * lanes] = y[o] = cpu_avx_p_madd(-at[4 * lanes], y[o], at[3 * lanes]);
        }
    }
}

CPU_AVX_CALL int cpu_avx_p_implicit1(const cpu_avx_p_options *m, int first, int last, void *work)
{
    enum { lanes = cpu_avx_lanes, options = cpu_avx_p_implicit1_options, vectors = options / CPU_AVX_P_LANES };
    cpu_avx_vec *rows = (cpu_avx_vec *)work;
    int status = 0;
    for (int i = first; i < last; i += options) {
        cpu_avx_real bad[options] = {0}; /* floating-point, so that the loop over options vectorises */
        for (int g = 0; g < vectors; g++)
            cpu_avx_p_load_options(m, i + g * lanes, cpu_avx_p_clip(last - i - g * lanes), rows + g * 5, vectors * 5);
        for (int s = 0; s < m->steps; s++) cpu_avx_p_implicit1_step(m->n, (cpu_avx_real *)work, bad);
        for (int g = 0; g < vectors; g++)
            cpu_avx_p_from_columns(m->n, cpu_avx_p_clip(last - i - g * lanes), m->n, rows + g * 5 + 3, vectors * 5,
                                   m->u + (ptrdiff_t)(i + g * lanes) * m->n);
        for (int o = 0; o < options && i + o < last && !status; o++)
            if (bad[o] > 0) status = cpu_avx_p_failed(i + o);
    }
    return status;
}

/* implicit2: takes a step of groups*lanes options (groups is a literal); rows of the groups alternate. */
CPU_AVX_INLINE void cpu_avx_p_implicit2_step(int groups, int n, cpu_avx_vec *rows, cpu_avx_vec *sound)
{
    cpu_avx_vec y[CPU_AVX_P_GROUPS], q[CPU_AVX_P_GROUPS], *row = rows;
    CPU_AVX_P_UNROLL
    for (int g = 0; g < groups; g++) y[g] = q[g] = cpu_avx_set(0);
    for (int j = 0; j < n; j++) {
        CPU_AVX_P_UNROLL
        for (int g = 0; g < groups; g++, row += 5) {
            cpu_avx_p_eliminate(row[0], row[1], row[2], row[3], &q[g], &y[g], &sound[g]);
            row[4] = q[g];
            row[3] = y[g];
        }
    }
    for (int j = n - 2; j >= 0; j--) {
        row = rows + (ptrdiff_t)j * groups * 5;
        CPU_AVX_P_UNROLL
        for (int g = 0; g < groups; g++, row += 5) row[3] = y[g] = cpu_avx_fnma(row[4], y[g], row[3]);
    }
}

/* Marches `groups` (a literal) vectors of options together, so that one vector works while the recurrence of the other
   waits. */
CPU_AVX_INLINE int cpu_avx_p_implicit2_together(int groups, const cpu_avx_p_options *m, int first, int last,
                                                cpu_avx_vec *rows)
{
    enum { lanes = cpu_avx_lanes };
    cpu_avx_vec sound[CPU_AVX_P_GROUPS];
    int status = 0;
    for (int g = 0, i = first; g < groups; g++, i += lanes) {
        sound[g] = cpu_avx_set(0);
        cpu_avx_p_load_options(m, i, last - i < lanes ? last - i : lanes, rows + g * 5, groups * 5);
    }
    for (int s = 0; s < m->steps; s++) cpu_avx_p_implicit2_step(groups, m->n, rows, sound);
    for (int g = 0, i = first; g < groups; g++, i += lanes) {
        int options = last - i < lanes ? last - i : lanes, bad = cpu_avx_worst(sound[g]);
        cpu_avx_p_from_columns(m->n, options, m->n, rows + g * 5 + 3, groups * 5, m->u + (ptrdiff_t)i * m->n);
        if (bad < options && !status) status = cpu_avx_p_failed(i + bad);
    }
    return status;
}

CPU_AVX_CALL int cpu_avx_p_implicit2(const cpu_avx_p_options *m, int first, int last, void *work)
{
    int status = 0;
    for (int i = first, some; i < last; i += some) {
        some = last - i < 2 * cpu_avx_lanes ? last - i : 2 * cpu_avx_lanes;
        const int bad = some > cpu_avx_lanes ? cpu_avx_p_implicit2_together(2, m, i, i + some, (cpu_avx_vec *)work)
                                             : cpu_avx_p_implicit2_together(1, m, i, i + some, (cpu_avx_vec *)work);
        if (!status) status = bad;
    }
    return status;
}

/* A row of partitions: u; r, l and q of cpu_avx_factor; w, the weight of this row's y in the first x of its own
   partition; p, the weight of the previous partition's last y in this row's y. */
typedef struct {
    cpu_avx_vec u, r, l, w, p, q;
} cpu_avx_p_part_row;
enum { cpu_avx_p_row_vectors = 6 };

/* The numbers of the scans across lanes: the factors of the steps over 1, 2, 4 and 8 lanes, forward and backward, and
   how many of these steps matter. link is the weight of the previous partition's last y in the first x. */
typedef struct {
    cpu_avx_vec carry[4], back[4], link;
    int forward, backward;
} cpu_avx_p_links;

/* Returns v moved by 2^step lanes, with zeros in the free lanes. Results of moves by `lanes` or more are never used. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_far(cpu_avx_vec v, int step, int backward)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    const int by = 1 << step < cpu_avx_lanes ? 1 << step : 1;
    return backward ? cpu_avx_down(v, zero, by) : cpu_avx_up(zero, v, by);
}

/* Solves the linear recurrence from lane to lane, v[l] += factor[l] v[l -+ 1], with a scan. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_scan(cpu_avx_vec v, const cpu_avx_vec *factor, int steps, int backward)
{
    if (steps > 0) v = cpu_avx_fma(factor[0], cpu_avx_p_far(v, 0, backward), v);
    if (steps > 1) v = cpu_avx_fma(factor[1], cpu_avx_p_far(v, 1, backward), v);
    if (steps > 2) v = cpu_avx_fma(factor[2], cpu_avx_p_far(v, 2, backward), v);
    if (steps > 3) v = cpu_avx_fma(factor[3], cpu_avx_p_far(v, 3, backward), v);
    return v;
}

/* Computes the factors of a scan. Returns how many steps it needs: further ones change less than rounding does. */
CPU_AVX_INLINE int cpu_avx_p_scan_factors(cpu_avx_vec v, cpu_avx_vec *factor, int backward)
{
    const cpu_avx_real roundoff = 8 * CPU_AVX_P_LOST;
    int steps = 0;
    CPU_AVX_P_UNROLL
    for (int step = 0; step < 4; step++) {
        int matters = 0;
        factor[step] = v;
        for (int l = 0; l < cpu_avx_lanes; l++) matters |= !(v[l] <= roundoff && v[l] >= -roundoff);
        if (1 << step < cpu_avx_lanes && matters) steps = step + 1;
        if (1 << step < cpu_avx_lanes) v = v * cpu_avx_p_far(v, step, backward);
    }
    return steps;
}

/* Copies an option and its factors (in f) to rows of partitions, which begin at *row and are `step` rows apart. Returns
   their links. */
CPU_AVX_CALL cpu_avx_p_links cpu_avx_p_factor_partitions(int n, int k, const cpu_avx_real *u, const cpu_avx_real *f,
                                                         cpu_avx_p_part_row *row, int step)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    const ptrdiff_t vectors = (ptrdiff_t)step * cpu_avx_p_row_vectors;
    cpu_avx_vec p = cpu_avx_set(1), w = p;
    cpu_avx_p_links links;
    cpu_avx_p_to_partitions(n, k, u, &row->u, vectors);
    cpu_avx_p_to_partitions(n, k, f, &row->l, vectors);
    cpu_avx_p_to_partitions(n, k, f + n, &row->r, vectors);
    cpu_avx_p_to_partitions(n, k, f + 2 * (ptrdiff_t)n, &row->q, vectors);
    links.link = zero;
    for (int j = 0; j < k; j++, row += step) {
        row->p = p = cpu_avx_fnma(row->l, p, zero);
        row->w = w;
        links.link = cpu_avx_fma(w, p, links.link);
        w = cpu_avx_fnma(row->q, w, zero);
    }
    links.forward = cpu_avx_p_scan_factors(p, links.carry, 0);
    links.backward = cpu_avx_p_scan_factors(w, links.back, 1);
    return links;
}

/* implicit3: takes a step of `options` (a literal) options, whose rows alternate. The forward sweep eliminates each
   partition as if the previous one's last y were 0, and sums its first x as if the next one's first x were 0. Two scans
   find these two numbers, and the backward sweep adds their contributions. */
CPU_AVX_INLINE void cpu_avx_p_implicit3_step(int options, int k, int forward, int backward,
                                             const cpu_avx_p_links *links, cpu_avx_p_part_row *rows)
{
    cpu_avx_vec y[CPU_AVX_P_GROUPS], x[CPU_AVX_P_GROUPS];
    cpu_avx_p_part_row *row = rows;
    CPU_AVX_P_UNROLL
    for (int o = 0; o < options; o++) y[o] = x[o] = cpu_avx_set(0);
    for (int j = 0; j < k; j++) {
        CPU_AVX_P_UNROLL
        for (int o = 0; o < options; o++, row++) {
            y[o] = cpu_avx_fnma(row->l, y[o], row->r * row->u);
            x[o] = cpu_avx_fma(row->w, y[o], x[o]);
            row->u = y[o];
        }
    }
    CPU_AVX_P_UNROLL
    for (int o = 0; o < options; o++) {
        y[o] = cpu_avx_p_below(cpu_avx_p_scan(y[o], links[o].carry, forward, 0));
        x[o] = cpu_avx_fma(links[o].link, y[o], x[o]);
        x[o] = cpu_avx_p_above(cpu_avx_p_scan(x[o], links[o].back, backward, 1));
    }
    for (int j = k - 1; j >= 0; j--) {
        row = rows + (ptrdiff_t)j * options;
        CPU_AVX_P_UNROLL
        for (int o = 0; o < options; o++, row++)
            row->u = x[o] = cpu_avx_fnma(row->q, x[o], cpu_avx_fma(row->p, y[o], row->u));
    }
}

/* Marches `options` (a literal) options together, so that one works while the recurrence of the other waits. */
CPU_AVX_INLINE int cpu_avx_p_implicit3_together(int options, const cpu_avx_p_options *m, int first, void *work)
{
    const int n = m->n, k = cpu_avx_p_partition_rows(n, 1);
    cpu_avx_p_part_row *rows = (cpu_avx_p_part_row *)work;
    cpu_avx_real *f = (cpu_avx_real *)(rows + (ptrdiff_t)k * options);
    cpu_avx_p_links links[CPU_AVX_P_GROUPS];
    int forward = 0, backward = 0, status = 0;
    for (int o = 0; o < options; o++) {
        ptrdiff_t skip = ((ptrdiff_t)first + o) * n;
        int bad = cpu_avx_factor(n, m->a + skip, m->b + skip, m->c + skip, f);
        for (ptrdiff_t j = 0; bad && j < 3 * (ptrdiff_t)n; j++) f[j] = 0;
        if (bad && !status) status = cpu_avx_p_failed(first + o);
        links[o] = cpu_avx_p_factor_partitions(n, k, m->u + skip, f, rows + o, options);
        forward = cpu_avx_p_larger(forward, links[o].forward);
        backward = cpu_avx_p_larger(backward, links[o].backward);
    }
    for (int s = 0; s < m->steps; s++) cpu_avx_p_implicit3_step(options, k, forward, backward, links, rows);
    for (int o = 0; o < options; o++) {
        cpu_avx_real *u = m->u + ((ptrdiff_t)first + o) * n;
        cpu_avx_p_from_partitions(n, k, &rows[o].u, (ptrdiff_t)options * cpu_avx_p_row_vectors, u);
    }
    return status;
}

CPU_AVX_CALL int cpu_avx_p_implicit3(const cpu_avx_p_options *m, int first, int last, void *work)
{
    int status = 0;
    for (int i = first; i < last; i += 2) {
        const int bad =
            i < last - 1 ? cpu_avx_p_implicit3_together(2, m, i, work) : cpu_avx_p_implicit3_together(1, m, i, work);
        if (!status) status = bad;
    }
    return status;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Takes `steps` implicit steps of each option, M u' = u with the rows of M in a, b, c. The compiler vectorises the
   Thomas algorithm over several options. Row j of option i lies at [i*n + j]. Each step eliminates the matrix anew, as
   if it had changed.
   Needs    work of cpu_avx_implicit_bytes(n, threads) bytes; M diagonally dominant, or nearly so, as there is no
            pivoting; otherwise as cpu_avx_explicit1
   Leaves   the values after the last step in u; those of an option with a bad pivot are unspecified, all others correct
   Returns  CPU_AVX_OK, CPU_AVX_BAD_ARGUMENT, CPU_AVX_BAD_ISA, or 1 + the index of the first option with a bad pivot
   Cost     3 FMA, 2 mul and a division for each row and step, 6 loads, 3 stores
   Error    that of Gaussian elimination without pivoting: a dozen roundoffs per step in the residual */
CPU_AVX_API int cpu_avx_implicit1(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_implicit1, cpu_avx_width(isa), cpu_avx_p_implicit_share(n));
}

/* Takes the same steps on vectors, with cpu_avx_rcp, which is faster than a division in single precision. 2*lanes
   options march at once, so that one half works while the recurrence of the other waits.
   Needs, Leaves, Returns, Error as cpu_avx_implicit1
   Cost     5 FMA, 2 mul and a reciprocal for each row and step, 6 loads, 3 stores */
CPU_AVX_API int cpu_avx_implicit2(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_implicit2, cpu_avx_width(isa), cpu_avx_p_implicit_share(n));
}

/* Takes the same steps with a time-independent matrix, which is factored once. Lanes are partitions of a grid, and
   an option takes six numbers a row: two options at once stay in 32 KiB of first-level cache up to 682 rows (in double
   precision 341). Scans over the lanes join the partitions, without the scan steps that change less than rounding
   does.
   Needs, Leaves, Returns as cpu_avx_implicit1
   Cost     4 FMA, 1 mul, 7 loads and 2 stores for each row and step, no division; s + 1 FMA and s + 2 shuffles per
            time step, where s <= 2 log2 lanes is the number of scan steps, forward and backward together
   Error    as cpu_avx_implicit1; the omitted scan steps add about a roundoff of the largest value in each time step */
CPU_AVX_API int cpu_avx_implicit3(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_implicit3, 1, cpu_avx_p_implicit_share(n));
}
#undef CPU_AVX_P_OVER_OPTIONS

#endif /* CPU_AVX_PASS */
