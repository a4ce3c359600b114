/* scalar.h - a room of cpu_avx.h: few or very long systems, solved without the set's vectors, one or two at a time.
   Systems with matrices of their own are eliminated from both ends, up to four at a time if they share cache lines.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_eliminate_one CPU_AVX_OF_SET(cpu_avx_p_eliminate_one)
#define cpu_avx_p_solve_from_ends CPU_AVX_OF_SET(cpu_avx_p_solve_from_ends)
#define cpu_avx_p_few_lanes CPU_AVX_OF_SET(cpu_avx_p_few_lanes)
#define cpu_avx_p_few CPU_AVX_OF_SET(cpu_avx_p_few)
#define cpu_avx_p_few_bits CPU_AVX_OF_SET(cpu_avx_p_few_bits)
#define cpu_avx_p_few_load CPU_AVX_OF_SET(cpu_avx_p_few_load)
#define cpu_avx_p_few_store CPU_AVX_OF_SET(cpu_avx_p_few_store)
#define cpu_avx_p_few_eliminate CPU_AVX_OF_SET(cpu_avx_p_few_eliminate)
#define cpu_avx_p_few_from_ends CPU_AVX_OF_SET(cpu_avx_p_few_from_ends)
#define cpu_avx_p_solve_factored CPU_AVX_OF_SET(cpu_avx_p_solve_factored)
#define cpu_avx_p_scalar_tiles CPU_AVX_OF_SET(cpu_avx_p_scalar_tiles)
#define cpu_avx_p_scalar_factored CPU_AVX_OF_SET(cpu_avx_p_scalar_factored)

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

/* Solves one or two systems (`systems`, a literal): eliminates each from both ends, and substitutes back from the row
   in the middle. Each row waits for the reciprocal of the row before, so two recurrences per system take half the time
   of one. The first system begins at element `at`; systems are `apart` elements apart. d of each row is stored in x.
   The store keeps c of the rows before the middle and a of the rows after it. */
CPU_AVX_INLINE void cpu_avx_p_solve_from_ends(const cpu_avx_lines *lines, ptrdiff_t at, ptrdiff_t apart,
                                              const cpu_avx_p_batch *batch, int systems, cpu_avx_real *store, int *bad)
{
    const cpu_avx_real *a = batch->a + at, *b = batch->b + at, *c = batch->c + at, *d = batch->d + at;
    cpu_avx_real *x = batch->x + at, down_c[2] = {0}, down_d[2] = {0}, up_a[2] = {0}, up_d[2] = {0};
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step, middle = n / 2;
    for (ptrdiff_t j = 0; j < middle; j++) {
        const ptrdiff_t k = n - 1 - j; /* if n is even, the last k is the middle row */
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

/* A short vector: one number from each of a few systems that share cache lines. */
enum { cpu_avx_p_few_lanes = cpu_avx_lanes < 4 ? cpu_avx_lanes : 4 };
typedef cpu_avx_real cpu_avx_p_few __attribute__((vector_size(CPU_AVX_SIZE * cpu_avx_p_few_lanes)));
typedef cpu_avx_p_bits cpu_avx_p_few_bits __attribute__((vector_size(CPU_AVX_SIZE * cpu_avx_p_few_lanes)));

/* Loads one number of each system; the systems are `apart` elements apart. */
CPU_AVX_INLINE cpu_avx_p_few cpu_avx_p_few_load(const cpu_avx_real *p, ptrdiff_t apart)
{
    cpu_avx_p_few v = {0};
    if (apart == 1)
        memcpy(&v, p, sizeof v);
    else
        for (int s = 0; s < cpu_avx_p_few_lanes; s++) v[s] = p[s * apart];
    return v;
}

/* Stores one number of each system. */
CPU_AVX_INLINE void cpu_avx_p_few_store(cpu_avx_real *p, ptrdiff_t apart, cpu_avx_p_few v)
{
    if (apart == 1)
        memcpy(p, &v, sizeof v);
    else
        for (int s = 0; s < cpu_avx_p_few_lanes; s++) p[s * apart] = v[s];
}

/* Does in each lane what cpu_avx_p_eliminate_one does. A lane of *bad is not 0 after a bad pivot. */
CPU_AVX_INLINE void cpu_avx_p_few_eliminate(cpu_avx_p_few a, cpu_avx_p_few b, cpu_avx_p_few cj, cpu_avx_p_few dj,
                                            cpu_avx_p_few *c, cpu_avx_p_few *d, cpu_avx_p_few_bits *bad)
{
    const cpu_avx_p_few r = 1 / (b - a * *c);
    *bad |= (cpu_avx_p_few_bits)(((cpu_avx_p_few_bits)r << 1) - 1 >= CPU_AVX_P_INFINITY - 1);
    *c = cj * r;
    *d = (dj - a * *d) * r;
}

/* Solves a system for each lane of a short vector, as cpu_avx_p_solve_from_ends solves one or two. */
CPU_AVX_INLINE void cpu_avx_p_few_from_ends(const cpu_avx_lines *lines, ptrdiff_t at, ptrdiff_t apart,
                                            const cpu_avx_p_batch *batch, cpu_avx_real *store, int *bad)
{
    enum { lanes = cpu_avx_p_few_lanes };
    const cpu_avx_p_few zero = {0};
    const cpu_avx_real *a = batch->a + at, *b = batch->b + at, *c = batch->c + at, *d = batch->d + at;
    cpu_avx_real *x = batch->x + at;
    cpu_avx_p_few down_c = zero, down_d = zero, up_a = zero, up_d = zero;
    cpu_avx_p_few_bits down_bad = {0}, up_bad = {0};
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step, middle = n / 2, i = middle * step;
#define CPU_AVX_P_AT(array, row) cpu_avx_p_few_load((array) + (row), apart)
    for (ptrdiff_t j = 0; j < middle; j++) {
        const ptrdiff_t k = n - 1 - j, top = j * step, bottom = k * step;
        cpu_avx_p_few_eliminate(j > 0 ? CPU_AVX_P_AT(a, top) : zero, CPU_AVX_P_AT(b, top), CPU_AVX_P_AT(c, top),
                                CPU_AVX_P_AT(d, top), &down_c, &down_d, &down_bad);
        cpu_avx_p_few_store(store + j * lanes, 1, down_c);
        cpu_avx_p_few_store(x + top, apart, down_d);
        if (k == middle) break;
        cpu_avx_p_few_eliminate(j > 0 ? CPU_AVX_P_AT(c, bottom) : zero, CPU_AVX_P_AT(b, bottom),
                                CPU_AVX_P_AT(a, bottom), CPU_AVX_P_AT(d, bottom), &up_a, &up_d, &up_bad);
        cpu_avx_p_few_store(store + k * lanes, 1, up_a);
        cpu_avx_p_few_store(x + bottom, apart, up_d);
    }
    const cpu_avx_p_few above = middle > 0 ? CPU_AVX_P_AT(a, i) : zero;
    const cpu_avx_p_few below = middle < n - 1 ? CPU_AVX_P_AT(c, i) : zero;
    cpu_avx_p_few_eliminate(below, CPU_AVX_P_AT(b, i) - above * down_c, zero, CPU_AVX_P_AT(d, i) - above * down_d,
                            &up_a, &up_d, &up_bad);
    cpu_avx_p_few_store(x + i, apart, down_d = up_d);
    for (ptrdiff_t j = middle - 1; j >= 0; j--) {
        const ptrdiff_t k = n - 1 - j, top = j * step, bottom = k * step;
        down_d = CPU_AVX_P_AT(x, top) - cpu_avx_p_few_load(store + j * lanes, 1) * down_d;
        cpu_avx_p_few_store(x + top, apart, down_d);
        if (k == middle) continue;
        up_d = CPU_AVX_P_AT(x, bottom) - cpu_avx_p_few_load(store + k * lanes, 1) * up_d;
        cpu_avx_p_few_store(x + bottom, apart, up_d);
    }
#undef CPU_AVX_P_AT
    for (int s = 0; s < lanes; s++) bad[s] = (down_bad[s] | up_bad[s]) != 0;
}

/* Solves one or two systems (`systems`, a literal) with the matrix whose factors cpu_avx_factor left in f. */
CPU_AVX_INLINE void cpu_avx_p_solve_factored(const cpu_avx_lines *lines, ptrdiff_t at, ptrdiff_t apart,
                                             const cpu_avx_p_batch *batch, int systems)
{
    const ptrdiff_t n = (ptrdiff_t)lines->n, step = (ptrdiff_t)lines->step;
    const cpu_avx_real *l = batch->f, *r = l + n, *q = r + n, *d = batch->d + at;
    cpu_avx_real *x = batch->x + at, y[2] = {0};
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

/* Solves systems `from` .. `to` - 1, two at a time. Those that share cache lines are solved a short vector at a time as
   long as they fill one, so that a cache line is read once for all of the vector's systems. Returns the first system
   with a bad pivot, or LLONG_MAX. */
CPU_AVX_CALL long long cpu_avx_p_scalar_tiles(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch,
                                              cpu_avx_real *store, long long from, long long to)
{
    const cpu_avx_lines *lines = &plan->lines;
    const int mixed = cpu_avx_p_mixed(lines, CPU_AVX_SIZE);
    long long first = LLONG_MAX, some;
    for (long long s = from; s < to; s += some) {
        const int few = mixed && to - s >= cpu_avx_p_few_lanes;
        some = few ? cpu_avx_p_few_lanes : to - s >= 2 ? 2 : 1;
        const ptrdiff_t at = cpu_avx_p_system_at(lines, s);
        const ptrdiff_t apart = some > 1 ? cpu_avx_p_system_at(lines, s + 1) - at : 0;
        int bad[4] = {0, 0, 0, 0};
        if (few)
            cpu_avx_p_few_from_ends(lines, at, apart, batch, store, bad);
        else if (some == 2)
            cpu_avx_p_solve_from_ends(lines, at, apart, batch, 2, store, bad);
        else
            cpu_avx_p_solve_from_ends(lines, at, 0, batch, 1, store, bad);
        for (int k = 3; k >= 0; k--)
            if (bad[k] && s + k < first) first = s + k;
    }
    return first;
}

/* Solves systems `from` .. `to` - 1, which share one matrix, two at a time. */
CPU_AVX_CALL void cpu_avx_p_scalar_factored(const cpu_avx_p_plan *plan, const cpu_avx_p_batch *batch, long long from,
                                            long long to)
{
    const cpu_avx_lines *lines = &plan->lines;
    for (long long s = from; s < to; s += 2) {
        const ptrdiff_t at = cpu_avx_p_system_at(lines, s);
        if (to - s >= 2)
            cpu_avx_p_solve_factored(lines, at, cpu_avx_p_system_at(lines, s + 1) - at, batch, 2);
        else
            cpu_avx_p_solve_factored(lines, at, 0, batch, 1);
    }
}

#endif /* CPU_AVX_PASS */
