/* scalar.h - a room of cpu_avx.h: few short systems, solved without vectors.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_eliminate_one CPU_AVX_OF_SET(cpu_avx_p_eliminate_one)
#define cpu_avx_p_solve_from_ends CPU_AVX_OF_SET(cpu_avx_p_solve_from_ends)
#define cpu_avx_p_solve_factored CPU_AVX_OF_SET(cpu_avx_p_solve_factored)
#define cpu_avx_p_scalar_tiles CPU_AVX_OF_SET(cpu_avx_p_scalar_tiles)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Eliminates a row of one system: turns *c and *d of the row before into those of this row, x[j] + c x[j+1] = d. For
   elimination upwards, from the last row, the caller exchanges a and c. */
CPU_AVX_INLINE void cpu_avx_p_eliminate_one(cpu_avx_real a, cpu_avx_real b, cpu_avx_real cj, cpu_avx_real dj,
                                            cpu_avx_real *c, cpu_avx_real *d, int *bad)
{
    const cpu_avx_real r = 1 / cpu_avx_p_madd(-a, *c, b);
    *bad |= cpu_avx_p_bad_reciprocal(r);
    *c = cj * r;
    *d = cpu_avx_p_madd(-a, *d, dj) * r;
}

/* Solves up to four systems (`systems`, a literal): eliminates each from both ends, and substitutes back from the row
   in the middle. Each row waits for the reciprocal of the row before, so two recurrences a system take half the time of
   one. The first system begins at element `at`; systems are `apart` elements apart. d of each row is stored in x. The
   store keeps c of the rows before the middle and a of the rows after it. */
CPU_AVX_INLINE void cpu_avx_p_solve_from_ends(const cpu_avx_lines *lines, ptrdiff_t at, ptrdiff_t apart,
                                              const cpu_avx_p_batch *batch, int systems, cpu_avx_real *store, int *bad)
{
    const cpu_avx_real *a = batch->a + at, *b = batch->b + at, *c = batch->c + at, *d = batch->d + at;
    cpu_avx_real *x = batch->x + at, down_c[4] = {0}, down_d[4] = {0}, up_a[4] = {0}, up_d[4] = {0};
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step, middle = n / 2;
    for (ptrdiff_t j = 0; j < middle; j++) {
        const ptrdiff_t k = n - 1 - j; /* for even n the last row k is the middle */
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t top = j * step + s * apart;
            cpu_avx_p_eliminate_one(j > 0 ? a[top] : 0, b[top], c[top], d[top], &down_c[s], &down_d[s], &bad[s]);
            store[j * systems + s] = down_c[s];
            x[top] = down_d[s];
        }
        if (k == middle) break;
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t bottom = k * step + s * apart;
            cpu_avx_p_eliminate_one(j > 0 ? c[bottom] : 0, b[bottom], a[bottom], d[bottom], &up_a[s], &up_d[s],
                                    &bad[s]);
            store[k * systems + s] = up_a[s];
            x[bottom] = up_d[s];
        }
    }
    CPU_AVX_P_UNROLL
    for (int s = 0; s < systems; s++) {
        const ptrdiff_t i = middle * step + s * apart;
        const cpu_avx_real above = middle > 0 ? a[i] : 0, below = middle < n - 1 ? c[i] : 0;
        const cpu_avx_real pivot = cpu_avx_p_madd(-above, down_c[s], b[i]);
        const cpu_avx_real y = cpu_avx_p_madd(-above, down_d[s], d[i]);
        cpu_avx_p_eliminate_one(below, pivot, 0, y, &up_a[s], &up_d[s], &bad[s]);
        x[i] = down_d[s] = up_d[s];
    }
    for (ptrdiff_t j = middle - 1; j >= 0; j--) {
        const ptrdiff_t k = n - 1 - j;
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t top = j * step + s * apart, bottom = k * step + s * apart;
            x[top] = down_d[s] = cpu_avx_p_madd(-store[j * systems + s], down_d[s], x[top]);
            if (k == middle) continue;
            x[bottom] = up_d[s] = cpu_avx_p_madd(-store[k * systems + s], up_d[s], x[bottom]);
        }
    }
}

/* Solves `systems` systems, a literal, with the matrix that cpu_avx_factor left in f: eliminates, substitutes back. */
CPU_AVX_INLINE void cpu_avx_p_solve_factored(const cpu_avx_lines *lines, ptrdiff_t at, ptrdiff_t apart,
                                             const cpu_avx_p_batch *batch, int systems)
{
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step;
    const cpu_avx_real *l = batch->f, *r = l + n, *q = r + n, *d = batch->d + at;
    cpu_avx_real *x = batch->x + at, y[4] = {0};
    for (ptrdiff_t j = 0; j < n; j++) {
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t i = j * step + s * apart;
            x[i] = y[s] = cpu_avx_p_madd(-l[j], y[s], r[j] * d[i]);
        }
    }
    for (ptrdiff_t j = n - 2; j >= 0; j--) { /* y is already x[n-1] */
        CPU_AVX_P_UNROLL
        for (int s = 0; s < systems; s++) {
            const ptrdiff_t i = j * step + s * apart;
            x[i] = y[s] = cpu_avx_p_madd(-q[j], y[s], x[i]);
        }
    }
}

/* Solves systems from .. to-1, two at a time. Takes four at a time if they share cache lines, so that each line is read
   once. Returns the first system with a bad pivot, or LLONG_MAX. */
CPU_AVX_CALL long long cpu_avx_p_scalar_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                              cpu_avx_real *store, long long from, long long to)
{
    const cpu_avx_lines *lines = &plan->lines;
    const int mixed = !batch->f && cpu_avx_p_mixed(lines, CPU_AVX_SIZE);
    long long first = LLONG_MAX, some;
    for (long long s = from; s < to; s += some) {
        some = to - s >= 4 && mixed ? 4 : to - s >= 2 ? 2 : 1;
        const ptrdiff_t at = cpu_avx_p_system_at(lines, s);
        const ptrdiff_t apart = some > 1 ? cpu_avx_p_system_at(lines, s + 1) - at : 0;
        int bad[4] = {0, 0, 0, 0};
        if (batch->f && some == 2)
            cpu_avx_p_solve_factored(lines, at, apart, batch, 2);
        else if (batch->f)
            cpu_avx_p_solve_factored(lines, at, 0, batch, 1);
        else if (some == 4)
            cpu_avx_p_solve_from_ends(lines, at, apart, batch, 4, store, bad);
        else if (some == 2)
            cpu_avx_p_solve_from_ends(lines, at, apart, batch, 2, store, bad);
        else
            cpu_avx_p_solve_from_ends(lines, at, 0, batch, 1, store, bad);
        for (int k = 3; k >= 0; k--)
            if (bad[k] && s + k < first) first = s + k;
    }
    return first;
}

#endif /* CPU_AVX_PASS */
