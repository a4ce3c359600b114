/* explicit.h - a room of cpu_avx.h: explicit time steps of options on one asset, four rungs.
   MIT licence, see LICENSE.

   Each rung has a function of vector scope that marches options `first` .. `last` - 1 of a batch. Its argument `work`
   points to the thread's share of the caller's work, which begins on a cache line. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

/* The most options between which explicit2 alternates, and the most bytes that they may take in the first-level
   cache. */
enum { CPU_AVX_P_TURNS = 8, CPU_AVX_P_TURN_BYTES = 24 * 1024 };

#define cpu_avx_p_explicit1_step CPU_AVX_OF_SET(cpu_avx_p_explicit1_step)
#define cpu_avx_p_explicit1_steps CPU_AVX_OF_SET(cpu_avx_p_explicit1_steps)
#define cpu_avx_p_explicit1 CPU_AVX_OF_SET(cpu_avx_p_explicit1)
#define cpu_avx_p_stencil_at CPU_AVX_OF_SET(cpu_avx_p_stencil_at)
#define cpu_avx_p_stencil_step CPU_AVX_OF_SET(cpu_avx_p_stencil_step)
#define cpu_avx_p_two_rows_step CPU_AVX_OF_SET(cpu_avx_p_two_rows_step)
#define cpu_avx_p_two_steps CPU_AVX_OF_SET(cpu_avx_p_two_steps)
#define cpu_avx_p_two_steps_begin CPU_AVX_OF_SET(cpu_avx_p_two_steps_begin)
#define cpu_avx_p_explicit2 CPU_AVX_OF_SET(cpu_avx_p_explicit2)
#define cpu_avx_p_band_column CPU_AVX_OF_SET(cpu_avx_p_band_column)
#define cpu_avx_p_sweep CPU_AVX_OF_SET(cpu_avx_p_sweep)
#define cpu_avx_p_sweeps CPU_AVX_OF_SET(cpu_avx_p_sweeps)
#define cpu_avx_p_band_columns CPU_AVX_OF_SET(cpu_avx_p_band_columns)
#define cpu_avx_p_explicit4 CPU_AVX_OF_SET(cpu_avx_p_explicit4)
#define cpu_avx_p_explicit3_step CPU_AVX_OF_SET(cpu_avx_p_explicit3_step)
#define cpu_avx_p_explicit3 CPU_AVX_OF_SET(cpu_avx_p_explicit3)
#define cpu_avx_p_stencil CPU_AVX_OF_SET(cpu_avx_p_stencil)
#define cpu_avx_p_two_rows CPU_AVX_OF_SET(cpu_avx_p_two_rows)
#define cpu_avx_explicit1 CPU_AVX_OF(cpu_avx_explicit1)
#define cpu_avx_explicit2 CPU_AVX_OF(cpu_avx_explicit2)
#define cpu_avx_explicit3 CPU_AVX_OF(cpu_avx_explicit3)
#define cpu_avx_explicit4 CPU_AVX_OF(cpu_avx_explicit4)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* explicit1: takes a step with the plain loop over the rows. The first and the last row, which lack a neighbour, are
   computed outside the loop. */
CPU_AVX_CALL void cpu_avx_p_explicit1_step(int n, const cpu_avx_real *CPU_AVX_P_RESTRICT a,
                                           const cpu_avx_real *CPU_AVX_P_RESTRICT b,
                                           const cpu_avx_real *CPU_AVX_P_RESTRICT c,
                                           const cpu_avx_real *CPU_AVX_P_RESTRICT u,
                                           cpu_avx_real *CPU_AVX_P_RESTRICT next)
{
    next[0] = cpu_avx_p_madd(b[0], u[0], u[0]);
    if (n == 1) return;
    next[0] = cpu_avx_p_madd(c[0], u[1], next[0]);
    for (int j = 1; j < n - 1; j++) {
        cpu_avx_real right = cpu_avx_p_madd(c[j], u[j + 1], u[j]);
        next[j] = cpu_avx_p_madd(a[j], u[j - 1], cpu_avx_p_madd(b[j], u[j], right));
    }
    next[n - 1] = cpu_avx_p_madd(b[n - 1], u[n - 1], u[n - 1]);
    next[n - 1] = cpu_avx_p_madd(a[n - 1], u[n - 2], next[n - 1]);
}

/* Takes `steps` steps of option i; work has n elements. */
CPU_AVX_CALL void cpu_avx_p_explicit1_steps(const cpu_avx_p_options *m, int i, int steps, cpu_avx_real *work)
{
    const ptrdiff_t at = (ptrdiff_t)i * m->n;
    cpu_avx_real *u = m->u + at;
    for (int s = 0; s < steps; s++)
        cpu_avx_p_explicit1_step(m->n, m->a + at, m->b + at, m->c + at, s % 2 ? work : u, s % 2 ? u : work);
    if (steps % 2) memcpy(u, work, (size_t)m->n * sizeof *u);
}

CPU_AVX_CALL int cpu_avx_p_explicit1(const cpu_avx_p_options *m, int first, int last, void *work)
{
    for (int i = first; i < last; i++) cpu_avx_p_explicit1_steps(m, i, m->steps, (cpu_avx_real *)work);
    return 0;
}

/* A row of the matrix. */
typedef struct {
    cpu_avx_vec a, b, c;
} cpu_avx_p_stencil;

/* Returns row j of the matrix. Its three arrays, of k rows each, lie one after another from `a` on. */
CPU_AVX_INLINE cpu_avx_p_stencil cpu_avx_p_stencil_at(const cpu_avx_vec *a, ptrdiff_t k, int j)
{
    const cpu_avx_p_stencil row = {a[j], a[k + j], a[2 * k + j]};
    return row;
}

/* Returns the row's value after a step. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_stencil_step(cpu_avx_p_stencil row, cpu_avx_vec below, cpu_avx_vec here,
                                                  cpu_avx_vec above)
{
    return cpu_avx_fma(row.c, above, cpu_avx_fma(row.a, below, cpu_avx_fma(row.b, here, here)));
}

/* The values that two steps in one sweep carry after row j of the first step: rows j and j+1 of u, rows j-1 and j of
   the values between the steps, and row j of the matrix. */
typedef struct {
    cpu_avx_vec here, above, mid_below, mid;
    cpu_avx_p_stencil row;
} cpu_avx_p_two_rows;

/* Computes row j of the first step and row j-1 of the second. */
CPU_AVX_INLINE void cpu_avx_p_two_rows_step(int j, const cpu_avx_vec *a, ptrdiff_t k, cpu_avx_vec *u,
                                            cpu_avx_p_two_rows *now)
{
    const cpu_avx_p_stencil next = cpu_avx_p_stencil_at(a, k, j);
    const cpu_avx_vec above = u[j + 1], mid_above = cpu_avx_p_stencil_step(next, now->here, now->above, above);
    u[j - 1] = cpu_avx_p_stencil_step(now->row, now->mid_below, now->mid, mid_above);
    now->here = now->above, now->above = above;
    now->mid_below = now->mid, now->mid = mid_above;
    now->row = next;
}

/* explicit2: takes two steps in one sweep, the second a row behind the first. A row of the matrix is loaded once for
   both, and the values between the steps are never stored. In the second step, the first and last rows of each
   partition need values of the first step from the neighbouring partitions, so these two rows come last. The loop is
   unrolled because values would otherwise move from register to register. */
CPU_AVX_CALL void cpu_avx_p_two_steps(int k, const cpu_avx_vec *a, cpu_avx_vec *u)
{
    enum { unrolled = 3 };
    const cpu_avx_p_stencil first = cpu_avx_p_stencil_at(a, k, 0), second = cpu_avx_p_stencil_at(a, k, 1);
    const cpu_avx_vec bottom = u[0], first_mid = cpu_avx_p_stencil_step(first, cpu_avx_p_below(u[k - 1]), bottom, u[1]);
    u[k] = cpu_avx_p_above(bottom);
    const cpu_avx_vec second_mid = cpu_avx_p_stencil_step(second, bottom, u[1], u[2]);
    cpu_avx_p_two_rows now = {u[1], u[2], first_mid, second_mid, second};
    int j = 2;
    for (; j + unrolled <= k; j += unrolled) {
        CPU_AVX_P_UNROLL
        for (int i = 0; i < unrolled; i++) cpu_avx_p_two_rows_step(j + i, a, k, u, &now);
    }
    for (; j < k; j++) cpu_avx_p_two_rows_step(j, a, k, u, &now);
    u[0] = cpu_avx_p_stencil_step(first, cpu_avx_p_below(now.mid), first_mid, second_mid);
    u[k - 1] = cpu_avx_p_stencil_step(now.row, now.mid_below, now.mid, cpu_avx_p_above(first_mid));
}

/* Takes one step with explicit1 if the number of steps is odd. Then copies option i to partitions: k vectors each of a,
   b, c and u, followed by space for one more vector of u. */
CPU_AVX_CALL void cpu_avx_p_two_steps_begin(const cpu_avx_p_options *m, int i, int k, cpu_avx_vec *partitions)
{
    const cpu_avx_real *const from[4] = {m->a, m->b, m->c, m->u};
    if (m->steps % 2) cpu_avx_p_explicit1_steps(m, i, 1, (cpu_avx_real *)partitions);
    for (int array = 0; array < 4; array++)
        cpu_avx_p_to_partitions(m->n, k, from[array] + (ptrdiff_t)i * m->n, partitions + (ptrdiff_t)array * k, 1);
    partitions[0][0] = 0;
    partitions[2 * (ptrdiff_t)k + (m->n - 1) % k][(m->n - 1) / k] = 0;
}

/* Alternates between options: while the last rows of one wait for each other, the next begins. As many alternate as fit
   into CPU_AVX_P_TURN_BYTES and into the work, but at least one and at most CPU_AVX_P_TURNS. */
CPU_AVX_CALL int cpu_avx_p_explicit2(const cpu_avx_p_options *m, int first, int last, void *work)
{
    const int k = cpu_avx_p_partition_rows(m->n, 2);
    const ptrdiff_t all = 4 * (ptrdiff_t)k + 1;
    const size_t share = cpu_avx_p_explicit_share(m->n, 0) - 64,
                 fit = (share < CPU_AVX_P_TURN_BYTES ? share : (size_t)CPU_AVX_P_TURN_BYTES) /
                       ((size_t)all * sizeof(cpu_avx_vec));
    const int in_turn = fit < 1 ? 1 : fit < CPU_AVX_P_TURNS ? (int)fit : CPU_AVX_P_TURNS;
    cpu_avx_vec *a = (cpu_avx_vec *)work;
    for (int i = first; i < last; i += in_turn) {
        const int some = last - i < in_turn ? last - i : in_turn;
        for (int g = 0; g < some; g++) cpu_avx_p_two_steps_begin(m, i + g, k, a + g * all);
        for (int s = 1; s < m->steps; s += 2)
            for (int g = 0; g < some; g++) cpu_avx_p_two_steps(k, a + g * all, a + g * all + 3 * k);
        for (int g = 0; g < some; g++)
            cpu_avx_p_from_partitions(m->n, k, a + g * all + 3 * k, 1, m->u + (ptrdiff_t)(i + g) * m->n);
    }
    return 0;
}

/* explicit3: takes a step of `lanes` options. Reads the values at `now` in each row and stores the new ones at `next`:
   these are the row's fourth and fifth vectors, or vice versa. */
CPU_AVX_INLINE void cpu_avx_p_explicit3_step(int n, int now, int next, cpu_avx_real *work)
{
    enum { lanes = cpu_avx_lanes, row_len = 5 * lanes };
    for (cpu_avx_real *row = work; row < work + (ptrdiff_t)n * row_len; row += row_len) {
        const cpu_avx_real *u = row + now;
        for (int l = 0; l < lanes; l++) {
            cpu_avx_real right = cpu_avx_p_madd(row[2 * lanes + l], u[row_len + l], u[l]);
            cpu_avx_real both = cpu_avx_p_madd(row[l], u[l - row_len], right);
            row[next + l] = cpu_avx_p_madd(row[lanes + l], u[l], both);
        }
    }
}

CPU_AVX_CALL int cpu_avx_p_explicit3(const cpu_avx_p_options *m, int first, int last, void *work)
{
    enum { lanes = cpu_avx_lanes };
    cpu_avx_vec *below = (cpu_avx_vec *)work, *rows = below + 5; /* a row of zeros below and one above */
    memset(below, 0, 5 * sizeof *below);
    memset(rows + 5 * (ptrdiff_t)m->n, 0, 5 * sizeof *below);
    for (int i = first; i < last; i += lanes) {
        int options = last - i < lanes ? last - i : lanes;
        cpu_avx_p_load_options(m, i, options, rows, 5);
        for (int s = 1; s < m->steps; s += 2) {
            cpu_avx_p_explicit3_step(m->n, 3 * lanes, 4 * lanes, (cpu_avx_real *)rows);
            cpu_avx_p_explicit3_step(m->n, 4 * lanes, 3 * lanes, (cpu_avx_real *)rows);
        }
        if (m->steps % 2) cpu_avx_p_explicit3_step(m->n, 3 * lanes, 4 * lanes, (cpu_avx_real *)rows);
        cpu_avx_p_from_columns(m->n, options, m->n, rows + (m->steps % 2 ? 4 : 3), 5, m->u + (ptrdiff_t)i * m->n);
    }
    return 0;
}

/* Adds the products of column q of the band and u[q] to the sums, and moves each sum down by one, so that sum[t] then
   belongs to row q - reach + t. In double precision the function also adds u[q] itself, to the sum of row q. In single
   precision the caller adds a row's sum to u instead, because the many small products would be lost if they were added
   to u one by one. */
CPU_AVX_INLINE void cpu_avx_p_band_column(int reach, const cpu_avx_vec *column, cpu_avx_vec u, cpu_avx_vec *sum)
{
    CPU_AVX_P_UNROLL
    for (int t = 0; t < 2 * reach; t++) sum[t] = cpu_avx_fma(column[t], u, sum[t + 1]);
    sum[2 * reach] = column[2 * reach] * u;
    if (CPU_AVX_SIZE == 8) sum[reach] = sum[reach] + u;
}

/* Takes a composed step in place, in one sweep, column after column of the band: 2*reach+1 rows are in flight, and one
   load of a value of u serves them all. A partition's contributions to its neighbours' rows cross lanes. Those to the
   previous partition are complete first and wait in `halo`; those to the next partition are complete last. */
CPU_AVX_INLINE void cpu_avx_p_sweep(int reach, ptrdiff_t k, const cpu_avx_vec *band, cpu_avx_vec *u, cpu_avx_vec *halo)
{
    const ptrdiff_t column = 2 * reach + 1;
    cpu_avx_vec sum[2 * CPU_AVX_P_REACH + 1];
    CPU_AVX_P_UNROLL
    for (int t = 0; t <= 2 * reach; t++) sum[t] = cpu_avx_set(0);
    for (int q = 0; q < reach; q++) {
        cpu_avx_p_band_column(reach, band + q * column, u[q], sum);
        halo[q] = cpu_avx_p_above(sum[0]);
    }
    for (ptrdiff_t q = reach; q < k; q++) {
        cpu_avx_p_band_column(reach, band + q * column, u[q], sum);
        u[q - reach] = CPU_AVX_SIZE == 8 ? sum[0] : u[q - reach] + sum[0];
    }
    CPU_AVX_P_UNROLL
    for (int t = 0; t < reach; t++) {
        const cpu_avx_vec all = sum[t + 1] + halo[t];
        u[k - reach + t] = CPU_AVX_SIZE == 8 ? all : u[k - reach + t] + all;
    }
    CPU_AVX_P_UNROLL
    for (int t = 0; t < reach; t++) u[t] = u[t] + cpu_avx_p_below(sum[reach + t + 1]);
}

/* A switch case makes all sweeps with a literal reach, so that as many sums as possible stay in registers (a reach of
   32 has 65 sums). */
#define CPU_AVX_P_SWEEPS(literal)                                                                                      \
    case literal:                                                                                                      \
        for (int s = 0; s < sweeps; s++) cpu_avx_p_sweep(literal, k, band, u, halo);                                   \
        break

/* Makes `sweeps` sweeps. */
CPU_AVX_CALL void cpu_avx_p_sweeps(int reach, int k, int sweeps, const cpu_avx_vec *band, cpu_avx_vec *u,
                                   cpu_avx_vec *halo)
{
    switch (reach) {
        CPU_AVX_P_SWEEPS(1);
        CPU_AVX_P_SWEEPS(2);
        CPU_AVX_P_SWEEPS(3);
        CPU_AVX_P_SWEEPS(4);
        CPU_AVX_P_SWEEPS(5);
        CPU_AVX_P_SWEEPS(6);
        CPU_AVX_P_SWEEPS(7);
        CPU_AVX_P_SWEEPS(8);
        CPU_AVX_P_SWEEPS(12);
        CPU_AVX_P_SWEEPS(16);
        CPU_AVX_P_SWEEPS(20);
        CPU_AVX_P_SWEEPS(24);
        CPU_AVX_P_SWEEPS(28);
        CPU_AVX_P_SWEEPS(32);
    }
}
#undef CPU_AVX_P_SWEEPS

/* Copies the band of option i to columns, with lanes as partitions: column q holds what u[q] contributes to rows
   q-padded to q+padded. */
CPU_AVX_CALL void cpu_avx_p_band_columns(const cpu_avx_p_options *m, int i, int k, int padded, cpu_avx_vec *to)
{
    const int n = m->n, reach = m->reach;
    const cpu_avx_real *from = m->a + (ptrdiff_t)i * n * (2 * reach + 1);
    memset(to, 0, (2 * (size_t)padded + 1) * (size_t)k * sizeof *to);
    for (int lane = 0, q = 0; q < n; lane++)
        for (int j = 0; j < k && q < n; j++, q++) {
            cpu_avx_real *column = (cpu_avx_real *)(to + j * (ptrdiff_t)(2 * padded + 1) + padded) + lane;
            const int first = q > reach ? q - reach : 0, last = n - 1 - q < reach ? n - 1 : q + reach;
            for (int row = first; row <= last; row++)
                column[(row - q) * cpu_avx_lanes] = from[row * (ptrdiff_t)(2 * reach + 1) + reach + q - row];
        }
}

CPU_AVX_CALL int cpu_avx_p_explicit4(const cpu_avx_p_options *m, int first, int last, void *work)
{
    const int n = m->n, padded = cpu_avx_p_padded_reach(m->reach), k = cpu_avx_p_partition_rows(n, padded);
    cpu_avx_vec *band = (cpu_avx_vec *)work, *u = band + (2 * (ptrdiff_t)padded + 1) * k, *halo = u + k;
    for (int i = first; i < last; i++) {
        cpu_avx_p_band_columns(m, i, k, padded, band);
        cpu_avx_p_to_partitions(n, k, m->u + (ptrdiff_t)i * n, u, 1);
        cpu_avx_p_sweeps(padded, k, m->steps, band, u, halo);
        cpu_avx_p_from_partitions(n, k, u, 1, m->u + (ptrdiff_t)i * n);
    }
    return 0;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Takes `steps` explicit steps of each option of a batch, u[j] += a[j] u[j-1] + b[j] u[j] + c[j] u[j+1], with the plain
   loop over a grid, which the compiler vectorises. Row j of option i lies at [i*n + j] of each array.
   Needs    options, n, steps >= 0; options and n below 2^31 - 64; a[0] and c[n-1] of an option may be anything; work of
            cpu_avx_explicit_bytes(n, 0, threads) bytes; arrays that do not overlap
   Leaves   the values after the last step in u
   Returns  CPU_AVX_OK, CPU_AVX_BAD_ARGUMENT or CPU_AVX_BAD_ISA
   Cost     3 FMA, 6 loads and a store for each row and step
   Error    about three roundings of each row's value in each step */
CPU_AVX_API int cpu_avx_explicit1(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit1, 1, cpu_avx_p_explicit_share(n, 0));
}

/* Takes the same steps with lanes as partitions of the grid, so that only the ends of partitions cross lanes. A sweep
   takes two steps, and sweeps of several options alternate.
   Needs, Leaves, Returns, Error as cpu_avx_explicit1
   Cost     for every two steps, 6 FMA, 4 loads and a store per row, and 4 shuffles; each array is transposed once, and
            u back again */
CPU_AVX_API int cpu_avx_explicit2(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit2, 1, cpu_avx_p_explicit_share(n, 0));
}

/* Takes the same steps with lanes as options, so that nothing crosses lanes and the compiler vectorises the loop over
   options. But `lanes` options at a time take 5 vectors per row: with AVX-512 they exceed 32 KiB of first-level
   cache from 103 rows on.
   Needs, Leaves, Returns, Error as cpu_avx_explicit1
   Cost     3 FMA, 6 loads and a store for each row and step; each array is transposed once, and u back again */
CPU_AVX_API int cpu_avx_explicit3(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit3, cpu_avx_width(isa), cpu_avx_p_explicit_share(n, 0));
}

/* Takes `sweeps` composed steps, u[j] += sum of band[i] u[j-reach+i], i = 0 .. 2*reach. Each replaces many steps of
   explicit2: a high power of a narrow stencil is, to within rounding, a stencil of moderate width. The band of row j of
   option i begins at [(i*n + j)*(2*reach+1)] (bs1d_lane_compose of bs1d.h makes such bands). Elements of a band that
   would multiply points outside the grid are not read.
   Needs    1 <= reach <= 32; work of cpu_avx_explicit_bytes(n, reach, threads) bytes; otherwise as cpu_avx_explicit1
   Leaves, Returns as cpu_avx_explicit1
   Cost     2*reach FMA, a product, a sum, 2*reach+2 loads (in single precision 2*reach+3) and a store for each row and
            sweep; 2*reach shuffles a sweep. A reach above 8 is rounded up to a multiple of 4
   Error    in single precision, where the products are summed before they are added to u, one rounding of u per sweep,
            two in the first rows of a partition; in double precision at most reach+2 roundings */
CPU_AVX_API int cpu_avx_explicit4(int isa, int options, int n, int reach, int sweeps, const cpu_avx_real *band,
                                  cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, sweeps, reach, band, band, band, u};
    if (reach < 1 || reach > CPU_AVX_P_REACH) return CPU_AVX_BAD_ARGUMENT;
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit4, 1, cpu_avx_p_explicit_share(n, reach));
}

#endif /* CPU_AVX_PASS */
