/* explicit.h - a room of cpu_avx.h: explicit time steps of options on one asset, four rungs.
   MIT licence, see LICENSE.

   The function of a set takes options first .. last-1 of a batch and has a thread's share of the work, aligned to 64
   bytes. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

/* How many options explicit2 takes in turn at most, and their bytes: well within the first-level cache. */
enum { CPU_AVX_P_TURNS = 8, CPU_AVX_P_TURN_BYTES = 24 * 1024 };

#define cpu_avx_p_explicit1_step CPU_AVX_OF_SET(cpu_avx_p_explicit1_step)
#define cpu_avx_p_explicit1 CPU_AVX_OF_SET(cpu_avx_p_explicit1)
#define cpu_avx_p_stencil_at CPU_AVX_OF_SET(cpu_avx_p_stencil_at)
#define cpu_avx_p_stencil_step CPU_AVX_OF_SET(cpu_avx_p_stencil_step)
#define cpu_avx_p_single_step CPU_AVX_OF_SET(cpu_avx_p_single_step)
#define cpu_avx_p_two_rows_step CPU_AVX_OF_SET(cpu_avx_p_two_rows_step)
#define cpu_avx_p_two_steps CPU_AVX_OF_SET(cpu_avx_p_two_steps)
#define cpu_avx_p_two_steps_begin CPU_AVX_OF_SET(cpu_avx_p_two_steps_begin)
#define cpu_avx_p_explicit2 CPU_AVX_OF_SET(cpu_avx_p_explicit2)
#define cpu_avx_p_band_column CPU_AVX_OF_SET(cpu_avx_p_band_column)
#define cpu_avx_p_swept CPU_AVX_OF_SET(cpu_avx_p_swept)
#define cpu_avx_p_sweep CPU_AVX_OF_SET(cpu_avx_p_sweep)
#define cpu_avx_p_any_sweep CPU_AVX_OF_SET(cpu_avx_p_any_sweep)
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

/* explicit1: makes a step by the loop over the rows as one would write it; those at the ends, which lack a
   neighbour, apart. */
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

CPU_AVX_CALL int cpu_avx_p_explicit1(const cpu_avx_p_options *m, int first, int last, cpu_avx_real *work)
{
    for (int i = first; i < last; i++) {
        ptrdiff_t at = (ptrdiff_t)i * m->n;
        cpu_avx_real *u = m->u + at;
        for (int s = 0; s < m->steps; s++) {
            const cpu_avx_real *now = s % 2 ? work : u;
            cpu_avx_p_explicit1_step(m->n, m->a + at, m->b + at, m->c + at, now, s % 2 ? u : work);
        }
        if (m->steps % 2) memcpy(u, work, (size_t)m->n * sizeof *u);
    }
    return 0;
}

/* A row of the matrix. */
typedef struct {
    cpu_avx_vec a, b, c;
} cpu_avx_p_stencil;

CPU_AVX_INLINE cpu_avx_p_stencil cpu_avx_p_stencil_at(const cpu_avx_real *a, size_t size, int j)
{
    cpu_avx_p_stencil row;
    row.a = cpu_avx_load(a + j * cpu_avx_lanes);
    row.b = cpu_avx_load(a + size + j * cpu_avx_lanes);
    row.c = cpu_avx_load(a + 2 * size + j * cpu_avx_lanes);
    return row;
}

/* Returns the row's value after a step. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_stencil_step(cpu_avx_p_stencil row, cpu_avx_vec below, cpu_avx_vec here,
                                                  cpu_avx_vec above)
{
    cpu_avx_vec sum = cpu_avx_fma(row.b, here, here);
    return cpu_avx_fma(row.c, above, cpu_avx_fma(row.a, below, sum));
}

/* Makes one step on partitions in place; u has a row more than k. */
CPU_AVX_INLINE void cpu_avx_p_single_step(int k, const cpu_avx_real *a, size_t size, cpu_avx_real *u)
{
    cpu_avx_vec below = cpu_avx_p_below(cpu_avx_load(u + (k - 1) * cpu_avx_lanes));
    cpu_avx_vec here = cpu_avx_load(u);
    cpu_avx_store(u + (ptrdiff_t)k * cpu_avx_lanes, cpu_avx_p_above(here));
    for (int j = 0; j < k; j++) {
        cpu_avx_vec above = cpu_avx_load(u + (j + 1) * cpu_avx_lanes);
        cpu_avx_p_stencil row = cpu_avx_p_stencil_at(a, size, j);
        cpu_avx_store(u + j * cpu_avx_lanes, cpu_avx_p_stencil_step(row, below, here, above));
        below = here, here = above;
    }
}

/* What two steps in one sweep have under way after row j of the first: of u rows j and j+1, of the values between
   the steps rows j-1 and j, and row j of the matrix. */
typedef struct {
    cpu_avx_vec here, above, mid_below, mid;
    cpu_avx_p_stencil row;
} cpu_avx_p_two_rows;

/* Makes row j of the first step and row j-1 of the second. */
CPU_AVX_INLINE void cpu_avx_p_two_rows_step(int j, const cpu_avx_real *a, size_t size, cpu_avx_real *u,
                                            cpu_avx_p_two_rows *now)
{
    cpu_avx_p_stencil next = cpu_avx_p_stencil_at(a, size, j);
    cpu_avx_vec below = now->here, here = now->above, above = cpu_avx_load(u + (j + 1) * cpu_avx_lanes);
    cpu_avx_vec mid_above = cpu_avx_p_stencil_step(next, below, here, above);
    cpu_avx_store(u + (j - 1) * cpu_avx_lanes, cpu_avx_p_stencil_step(now->row, now->mid_below, now->mid, mid_above));
    now->here = here, now->above = above;
    now->mid_below = now->mid, now->mid = mid_above;
    now->row = next;
}

/* explicit2: makes two steps in one sweep, the second a row behind the first: a row of the matrix is loaded once for
   both, and the values between the steps are never stored. The second step's rows at the ends of the partitions want
   the first step's at the other ends, and come last. Some rows at a time, or what is under way moves from register
   to register. */
CPU_AVX_CALL void cpu_avx_p_two_steps(int k, const cpu_avx_real *a, size_t size, cpu_avx_real *u)
{
    enum { unrolled = 3 };
    const cpu_avx_p_stencil first = cpu_avx_p_stencil_at(a, size, 0);
    cpu_avx_p_two_rows now;
    cpu_avx_vec below = cpu_avx_p_below(cpu_avx_load(u + (k - 1) * cpu_avx_lanes));
    cpu_avx_vec bottom = cpu_avx_load(u);
    cpu_avx_store(u + (ptrdiff_t)k * cpu_avx_lanes, cpu_avx_p_above(bottom));
    now.here = cpu_avx_load(u + cpu_avx_lanes), now.above = cpu_avx_load(u + 2 * cpu_avx_lanes);
    now.row = cpu_avx_p_stencil_at(a, size, 1);
    const cpu_avx_vec first_mid = cpu_avx_p_stencil_step(first, below, bottom, now.here);
    const cpu_avx_vec second_mid = cpu_avx_p_stencil_step(now.row, bottom, now.here, now.above);
    now.mid_below = first_mid, now.mid = second_mid;
    int j = 2;
    for (; j + unrolled <= k; j += unrolled) {
        CPU_AVX_P_UNROLL
        for (int i = 0; i < unrolled; i++) cpu_avx_p_two_rows_step(j + i, a, size, u, &now);
    }
    for (; j < k; j++) cpu_avx_p_two_rows_step(j, a, size, u, &now);
    cpu_avx_vec from_above = cpu_avx_p_above(first_mid), from_below = cpu_avx_p_below(now.mid);
    cpu_avx_store(u, cpu_avx_p_stencil_step(first, from_below, first_mid, second_mid));
    cpu_avx_store(u + (k - 1) * cpu_avx_lanes, cpu_avx_p_stencil_step(now.row, now.mid_below, now.mid, from_above));
}

/* Copies option i to partitions: a, b, c and u, size elements each, and a row more of u. */
CPU_AVX_CALL void cpu_avx_p_two_steps_begin(const cpu_avx_p_options *m, int i, int k, cpu_avx_real *partitions)
{
    const size_t size = (size_t)k * cpu_avx_lanes;
    const cpu_avx_real *const from[4] = {m->a, m->b, m->c, m->u};
    for (size_t array = 0; array < 4; array++)
        cpu_avx_p_to_partitions(m->n, k, from[array] + (ptrdiff_t)i * m->n, partitions + array * size, cpu_avx_lanes);
    partitions[0] = partitions[2 * size + (size_t)((m->n - 1) % k) * cpu_avx_lanes + (size_t)((m->n - 1) / k)] = 0;
}

/* Takes some options in turn, as many as the first-level cache holds: while the last rows of one wait for each
   other, the next begins. */
CPU_AVX_CALL int cpu_avx_p_explicit2(const cpu_avx_p_options *m, int first, int last, cpu_avx_real *work)
{
    const int n = m->n, k = cpu_avx_p_partition_rows(n, 2);
    const size_t size = (size_t)k * cpu_avx_lanes, all = 4 * size + cpu_avx_lanes;
    const size_t share = cpu_avx_p_explicit_share(n, 0) - 64,
                 room = share < CPU_AVX_P_TURN_BYTES ? share : (size_t)CPU_AVX_P_TURN_BYTES;
    const size_t fit = room / (all * sizeof *work);
    const int in_turn = fit < 1 ? 1 : fit < CPU_AVX_P_TURNS ? (int)fit : CPU_AVX_P_TURNS;
    for (int i = first; i < last; i += in_turn) {
        const int some = last - i < in_turn ? last - i : in_turn;
        for (int g = 0; g < some; g++) cpu_avx_p_two_steps_begin(m, i + g, k, work + (size_t)g * all);
        for (int s = 1; s < m->steps; s += 2)
            for (int g = 0; g < some; g++) {
                cpu_avx_real *a = work + (size_t)g * all;
                cpu_avx_p_two_steps(k, a, size, a + 3 * size);
            }
        for (int g = 0; g < some; g++) {
            cpu_avx_real *a = work + (size_t)g * all, *u = a + 3 * size;
            if (m->steps % 2) cpu_avx_p_single_step(k, a, size, u);
            cpu_avx_p_from_partitions(n, k, u, cpu_avx_lanes, m->u + (ptrdiff_t)(i + g) * n);
        }
    }
    return 0;
}

/* explicit3: makes a step of `lanes` options from the vectors at now to those at next, the fourth and the fifth or
   the other way round. */
CPU_AVX_INLINE void cpu_avx_p_explicit3_step(int n, int now, int next, cpu_avx_real *work)
{
    enum { lanes = cpu_avx_lanes, row_len = cpu_avx_p_lanes_row };
    for (cpu_avx_real *row = work; row < work + (ptrdiff_t)n * row_len; row += row_len) {
        const cpu_avx_real *u = row + now;
        for (int l = 0; l < lanes; l++) {
            cpu_avx_real right = cpu_avx_p_madd(row[2 * lanes + l], u[row_len + l], u[l]);
            cpu_avx_real both = cpu_avx_p_madd(row[l], u[l - row_len], right);
            row[next + l] = cpu_avx_p_madd(row[lanes + l], u[l], both);
        }
    }
}

CPU_AVX_CALL int cpu_avx_p_explicit3(const cpu_avx_p_options *m, int first, int last, cpu_avx_real *work)
{
    enum { lanes = cpu_avx_lanes, row_len = cpu_avx_p_lanes_row };
    const ptrdiff_t size = (ptrdiff_t)m->n * row_len;
    cpu_avx_real *rows = work + row_len; /* a row of zeros below, and one above */
    memset(work, 0, row_len * sizeof *work);
    memset(rows + size, 0, row_len * sizeof *work);
    for (int i = first; i < last; i += lanes) {
        int options = last - i < lanes ? last - i : lanes;
        cpu_avx_p_load_options(m, i, options, rows, row_len);
        for (int s = 1; s < m->steps; s += 2) {
            cpu_avx_p_explicit3_step(m->n, 3 * lanes, 4 * lanes, rows);
            cpu_avx_p_explicit3_step(m->n, 4 * lanes, 3 * lanes, rows);
        }
        if (m->steps % 2) cpu_avx_p_explicit3_step(m->n, 3 * lanes, 4 * lanes, rows);
        cpu_avx_p_from_columns(m->n, options, m->n, rows + (m->steps % 2 ? 4 : 3) * lanes, row_len,
                               m->u + (ptrdiff_t)i * m->n);
    }
    return 0;
}

/* Adds column q of the band times u[q]; sum[t] belongs to row q - reach + t, and moves on by one. In double
   precision row q gets u[q] itself too, which is at hand; in single precision the many small products would then be
   lost in it. */
CPU_AVX_INLINE void cpu_avx_p_band_column(int reach, const cpu_avx_real *column, cpu_avx_vec u, cpu_avx_vec *sum)
{
    CPU_AVX_P_UNROLL
    for (int t = 0; t < 2 * reach; t++) sum[t] = cpu_avx_fma(cpu_avx_load(column + t * cpu_avx_lanes), u, sum[t + 1]);
    sum[2 * reach] = cpu_avx_load(column + 2 * reach * cpu_avx_lanes) * u;
    if (CPU_AVX_SIZE == 8) sum[reach] = sum[reach] + u;
}

/* Stores a row that is complete. */
CPU_AVX_INLINE void cpu_avx_p_swept(cpu_avx_real *u, cpu_avx_vec sum)
{
    cpu_avx_store(u, CPU_AVX_SIZE == 8 ? sum : cpu_avx_load(u) + sum);
}

/* Makes a sweep of composed steps in place, column after column of the band: 2*reach+1 rows are under way in
   registers, each value of u is loaded once for them. What a partition adds to the rows of its neighbours crosses
   lanes: to those of the one below it is complete first and waits in halo, to those of the one above last. */
CPU_AVX_INLINE void cpu_avx_p_sweep(int reach, int k, const cpu_avx_real *band, cpu_avx_real *u, cpu_avx_real *halo)
{
    const ptrdiff_t lanes = cpu_avx_lanes, column = (2 * reach + 1) * lanes;
    cpu_avx_vec sum[2 * CPU_AVX_P_FAST_REACH + 1];
    CPU_AVX_P_UNROLL
    for (int t = 0; t <= 2 * reach; t++) sum[t] = cpu_avx_set(0);
    for (int q = 0; q < reach; q++) {
        cpu_avx_p_band_column(reach, band + q * column, cpu_avx_load(u + q * lanes), sum);
        cpu_avx_store(halo + q * lanes, cpu_avx_p_above(sum[0]));
    }
    for (int q = reach; q < k; q++) {
        cpu_avx_p_band_column(reach, band + q * column, cpu_avx_load(u + q * lanes), sum);
        cpu_avx_p_swept(u + (q - reach) * lanes, sum[0]);
    }
    CPU_AVX_P_UNROLL
    for (int t = 0; t < reach; t++) {
        cpu_avx_vec crossed = cpu_avx_load(halo + t * lanes);
        cpu_avx_p_swept(u + (k - reach + t) * lanes, sum[t + 1] + crossed);
    }
    CPU_AVX_P_UNROLL
    for (int t = 0; t < reach; t++) {
        cpu_avx_vec crossed = cpu_avx_p_below(sum[reach + t + 1]);
        cpu_avx_store(u + t * lanes, cpu_avx_load(u + t * lanes) + crossed);
    }
}

/* The same for any reach, the sums in memory: row r of a partition at sum + (reach + r) lanes. */
CPU_AVX_CALL void cpu_avx_p_any_sweep(int reach, int k, const cpu_avx_real *band, cpu_avx_real *u, cpu_avx_real *sum)
{
    const ptrdiff_t lanes = cpu_avx_lanes, rows = k + 2 * reach;
    memset(sum, 0, (size_t)(rows * lanes) * sizeof *sum);
    for (int q = 0; q < k; q++)
        for (int t = 0; t <= 2 * reach; t++, band += lanes) {
            cpu_avx_vec old = cpu_avx_load(sum + (q + t) * lanes), uq = cpu_avx_load(u + q * lanes);
            cpu_avx_store(sum + (q + t) * lanes, cpu_avx_fma(cpu_avx_load(band), uq, old));
        }
    for (int q = 0; q < k; q++) {
        cpu_avx_vec all = cpu_avx_load(sum + (reach + q) * lanes), crossed;
        if (q < reach) {
            crossed = cpu_avx_p_below(cpu_avx_load(sum + (reach + k + q) * lanes));
            all = all + crossed;
        }
        if (q >= k - reach) {
            crossed = cpu_avx_p_above(cpu_avx_load(sum + (reach + q - k) * lanes));
            all = all + crossed;
        }
        cpu_avx_store(u + q * lanes, cpu_avx_load(u + q * lanes) + all);
    }
}

/* reach is a literal where registers matter. */
#define CPU_AVX_P_SWEEPS(literal)                                                                                      \
    case literal:                                                                                                      \
        for (int s = 0; s < sweeps; s++) cpu_avx_p_sweep(literal, k, band, u, halo);                                   \
        break

/* Makes so many sweeps. */
CPU_AVX_CALL void cpu_avx_p_sweeps(int reach, int k, int sweeps, const cpu_avx_real *band, cpu_avx_real *u,
                                   cpu_avx_real *halo)
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
    default:
        for (int s = 0; s < sweeps; s++) cpu_avx_p_any_sweep(reach, k, band, u, halo);
    }
}
#undef CPU_AVX_P_SWEEPS

/* Copies the band to columns: what u[i] gives to rows i-padded .. i+padded, partition by partition. */
CPU_AVX_CALL void cpu_avx_p_band_columns(int n, int k, int reach, int padded, const cpu_avx_real *from,
                                         cpu_avx_real *to)
{
    const ptrdiff_t wide = 2 * padded + 1;
    memset(to, 0, (size_t)(wide * k) * cpu_avx_lanes * sizeof *to);
    for (int i = 0; i < n; i++) {
        cpu_avx_real *column = to + i % k * wide * cpu_avx_lanes + i / k;
        for (int row = i > reach ? i - reach : 0; row - reach <= i && row < n; row++)
            column[(row - i + padded) * cpu_avx_lanes] = from[row * (ptrdiff_t)(2 * reach + 1) + reach + i - row];
    }
}

CPU_AVX_CALL int cpu_avx_p_explicit4(const cpu_avx_p_options *m, int first, int last, cpu_avx_real *work)
{
    int n = m->n, reach = m->reach, padded = cpu_avx_p_padded_reach(reach), k = cpu_avx_p_partition_rows(n, padded);
    size_t size = (size_t)k * cpu_avx_lanes;
    cpu_avx_real *band = work, *u = band + (2 * (size_t)padded + 1) * size, *halo = u + size;
    for (int i = first; i < last; i++) {
        cpu_avx_real *own = m->u + (ptrdiff_t)i * n;
        cpu_avx_p_band_columns(n, k, reach, padded, m->a + (ptrdiff_t)i * n * (2 * reach + 1), band);
        cpu_avx_p_to_partitions(n, k, own, u, cpu_avx_lanes);
        cpu_avx_p_sweeps(padded, k, m->steps, band, u, halo);
        cpu_avx_p_from_partitions(n, k, u, cpu_avx_lanes, own);
    }
    return 0;
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Makes `steps` explicit steps of each option of a batch, u[j] += a[j] u[j-1] + b[j] u[j] + c[j] u[j+1]; row j of
   option i lies at [i*n + j] of each array. The plain loop over a grid, which the compiler vectorises.
   Needs    options, n, steps >= 0, options and n below 2^31 - 64; a[0] and c[n-1] of an option may be anything; work of
            cpu_avx_explicit_bytes(n, 0, threads) bytes; arrays of any alignment that do not overlap
   Leaves   the values after the last step in u
   Returns  CPU_AVX_OK, CPU_AVX_BAD_ARGUMENT or CPU_AVX_BAD_ISA
   Cost     3 FMA, 6 loads and a store for each row and step
   Error    some three roundings of a row's value a step */
CPU_AVX_API int cpu_avx_explicit1(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit1, 1, cpu_avx_p_explicit_share(n, 0));
}

/* Makes the same steps, with lanes as partitions of the grid, so that neighbours are in the vectors before and after
   and only the ends of a partition cross lanes, and with two steps in one sweep, of some options in turn.
   Needs, Leaves, Returns, Error as cpu_avx_explicit1
   Cost     6 FMA, 4 loads and a store for each row and two steps; 4 shuffles for two steps; once, a transpose */
CPU_AVX_API int cpu_avx_explicit2(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit2, 1, cpu_avx_p_explicit_share(n, 0));
}

/* Makes the same steps, with lanes as options, so that nothing crosses lanes and the compiler can vectorise the loop
   over the options alone; but `lanes` options at once do not fit the nearest cache.
   Needs, Leaves, Returns, Error as cpu_avx_explicit1
   Cost     3 FMA, 6 loads and a store for each row and step; once, a transpose */
CPU_AVX_API int cpu_avx_explicit3(int isa, int options, int n, int steps, const cpu_avx_real *a, const cpu_avx_real *b,
                                  const cpu_avx_real *c, cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, steps, 0, a, b, c, u};
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit3, cpu_avx_width(isa), cpu_avx_p_explicit_share(n, 0));
}

/* Makes `sweeps` composed steps, u[j] += sum of band[i] u[j-reach+i], i = 0 .. 2*reach: many steps of explicit2 for the
   few operations of one, since a stencil of some width holds a power of a narrow one to rounding. The band of row j of
   option i begins at [(i*n + j)*(2*reach+1)] (bs1d.h, bs1d_lane_compose, makes such bands).
   Needs    1 <= reach <= 32, in registers up to 16 (9 to 12 cost as 12, 13 to 16 as 16); what would multiply a row
            outside the grid is not read; work of cpu_avx_explicit_bytes(n, reach, threads) bytes; else as
            cpu_avx_explicit1
   Leaves, Returns as cpu_avx_explicit1
   Cost     2*reach+1 FMA, 2*reach+2 loads (in single precision 2*reach+3) and a store for each row and sweep; 2*reach
            shuffles a sweep
   Error    a rounding of u a sweep (in double precision reach+2): in single precision the products are summed before
            they meet u, in which the small ones would be lost */
CPU_AVX_API int cpu_avx_explicit4(int isa, int options, int n, int reach, int sweeps, const cpu_avx_real *band,
                                  cpu_avx_real *u, void *work, int threads)
{
    cpu_avx_p_options m = {n, sweeps, reach, band, band, band, u};
    if (reach < 1 || reach > CPU_AVX_P_REACH) return CPU_AVX_BAD_ARGUMENT;
    CPU_AVX_P_OVER_OPTIONS(cpu_avx_p_explicit4, 1, cpu_avx_p_explicit_share(n, reach));
}

#endif /* CPU_AVX_PASS */
