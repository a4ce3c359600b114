/* partitions.h - a room of cpu_avx.h: how partitions of contiguous systems are joined by a reduced system, which PCR
   solves across lanes.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_slot CPU_AVX_OF_SET(cpu_avx_p_slot)
#define cpu_avx_p_fill_in CPU_AVX_OF_SET(cpu_avx_p_fill_in)
#define cpu_avx_p_before CPU_AVX_OF_SET(cpu_avx_p_before)
#define cpu_avx_p_after CPU_AVX_OF_SET(cpu_avx_p_after)
#define cpu_avx_p_pcr_step CPU_AVX_OF_SET(cpu_avx_p_pcr_step)
#define cpu_avx_p_partitions_join CPU_AVX_OF_SET(cpu_avx_p_partitions_join)
#define cpu_avx_p_chain CPU_AVX_OF_SET(cpu_avx_p_chain)
#define cpu_avx_p_fill CPU_AVX_OF_SET(cpu_avx_p_fill)
#define cpu_avx_p_side CPU_AVX_OF_SET(cpu_avx_p_side)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* The number of squares of lanes x lanes elements that share a cache line of each row. */
enum { cpu_avx_p_side = cpu_avx_lanes < CPU_AVX_P_CACHE_LINE ? CPU_AVX_P_CACHE_LINE / cpu_avx_lanes : 1 };

/* The recurrences of two vectors of systems or partitions, both in flight. For each column of each vector the store
   holds d and c, and f if a reduced system joins the partitions. */
typedef struct {
    cpu_avx_vec c[2], d[2], sound[2];
} cpu_avx_p_chain;

/* Additional recurrences of partitions that a reduced system joins. X is the unknown before a partition. The
   partition's current row is x[j] + c x[j+1] + f X = d. The partition's first unknown is
   first_d - first_f X + first_c x[j+1]; in the last row j, x[j] takes the place of x[j+1]. */
typedef struct {
    cpu_avx_vec f[2], first_c[2], first_d[2], first_f[2];
} cpu_avx_p_fill;

/* Returns how many elements of the store a column takes: more if `partitions` is set, because f is stored then. */
CPU_AVX_INLINE ptrdiff_t cpu_avx_p_slot(int partitions)
{
    return (partitions ? 6 : 4) * cpu_avx_lanes;
}

/* Finds how the current row and the first unknown of vector g depend on the unknown before the partition. Stores f in
   the slot. */
CPU_AVX_INLINE void cpu_avx_p_fill_in(cpu_avx_p_fill *fill, int g, int last, cpu_avx_vec a, cpu_avx_vec r,
                                      cpu_avx_vec c, cpu_avx_vec d, cpu_avx_real *slot)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    const cpu_avx_vec f = cpu_avx_fnma(a, fill->f[g], zero) * r;
    cpu_avx_store(slot, f);
    fill->f[g] = f;
    if (last) return;
    fill->first_d[g] = cpu_avx_fma(fill->first_c[g], d, fill->first_d[g]);
    fill->first_f[g] = cpu_avx_fma(fill->first_c[g], f, fill->first_f[g]);
    fill->first_c[g] = cpu_avx_fnma(fill->first_c[g], c, zero);
}

/* Returns lane l-s of vector g in lane l, and 0 where that lies before the system's first lane. v holds the vectors of
   two systems or, if `halves`, of the two halves of one system. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_before(int halves, const cpu_avx_vec *v, int g, int s)
{
    const cpu_avx_vec beyond = halves && g ? v[0] : cpu_avx_set(0);
    return s < cpu_avx_lanes ? cpu_avx_up(beyond, v[g], s < cpu_avx_lanes ? s : 1) : beyond;
}

/* Returns lane l+s of vector g in the same way. */
CPU_AVX_INLINE cpu_avx_vec cpu_avx_p_after(int halves, const cpu_avx_vec *v, int g, int s)
{
    const cpu_avx_vec beyond = halves && !g ? v[1] : cpu_avx_set(0);
    return s < cpu_avx_lanes ? cpu_avx_down(v[g], beyond, s < cpu_avx_lanes ? s : 1) : beyond;
}

/* Takes one step of PCR over the lanes: from a x[l-s] + x[l] + c x[l+s] = d to the same equation with 2s in place of s.
   If a and c are so small that their products are lost in rounding, returns 1 with x in d; otherwise 0. */
CPU_AVX_INLINE int cpu_avx_p_pcr_step(int halves, cpu_avx_vec *a, cpu_avx_vec *c, cpu_avx_vec *d, int s,
                                      cpu_avx_vec *sound)
{
    const cpu_avx_vec zero = cpu_avx_set(0);
    cpu_avx_vec squares = zero, up_a[2], up_c[2], up_d[2], down_a[2], down_c[2], down_d[2];
    for (int g = 0; g < 2; g++) {
        squares = cpu_avx_fma(a[g], a[g], cpu_avx_fma(c[g], c[g], squares));
        up_d[g] = cpu_avx_p_before(halves, d, g, s), down_d[g] = cpu_avx_p_after(halves, d, g, s);
    }
    const int weak = cpu_avx_sum(squares) < CPU_AVX_P_LOST;
    for (int g = 0; g < 2; g++) d[g] = cpu_avx_fnma(c[g], down_d[g], cpu_avx_fnma(a[g], up_d[g], d[g]));
    if (weak) return 1;
    for (int g = 0; g < 2; g++) {
        up_a[g] = cpu_avx_p_before(halves, a, g, s), down_a[g] = cpu_avx_p_after(halves, a, g, s);
        up_c[g] = cpu_avx_p_before(halves, c, g, s), down_c[g] = cpu_avx_p_after(halves, c, g, s);
    }
    for (int g = 0; g < 2; g++) {
        cpu_avx_vec pivot = cpu_avx_fnma(a[g], up_c[g], cpu_avx_set(1));
        pivot = cpu_avx_fnma(c[g], down_a[g], pivot);
        const cpu_avx_vec r = cpu_avx_rcp(pivot);
        sound[g] = cpu_avx_check(sound[g], pivot, r);
        d[g] = r * d[g];
        a[g] = cpu_avx_fnma(r * a[g], up_a[g], zero);
        c[g] = cpu_avx_fnma(r * c[g], down_c[g], zero);
    }
    return 0;
}

/* Solves the reduced system. Eliminates the next partition's first unknown from the last row of each partition, so that
   only the last unknowns of the partitions remain. Stores each in the last column's slot, as a row whose d is that
   unknown and whose c and f are 0.
   Leaves   *left: X, the last unknown of the partition before */
CPU_AVX_CALL void cpu_avx_p_partitions_join(int halves, cpu_avx_p_chain *now, cpu_avx_p_fill *fill, cpu_avx_real *slot,
                                            cpu_avx_vec *left)
{
    enum { lanes = cpu_avx_lanes };
    cpu_avx_vec a[2], c[2], d[2];
    for (int g = 0; g < 2; g++) {
        const cpu_avx_vec next_c = cpu_avx_p_after(halves, fill->first_c, g, 1);
        const cpu_avx_vec next_d = cpu_avx_p_after(halves, fill->first_d, g, 1);
        const cpu_avx_vec next_f = cpu_avx_p_after(halves, fill->first_f, g, 1);
        const cpu_avx_vec pivot = cpu_avx_fnma(now->c[g], next_f, cpu_avx_set(1));
        const cpu_avx_vec r = cpu_avx_rcp(pivot);
        now->sound[g] = cpu_avx_check(now->sound[g], pivot, r);
        a[g] = r * fill->f[g];
        c[g] = r * now->c[g] * next_c;
        d[g] = r * cpu_avx_fnma(now->c[g], next_d, now->d[g]);
    }
    int known = cpu_avx_p_pcr_step(halves, a, c, d, 1, now->sound);
    if (lanes > 2 && !known) known = cpu_avx_p_pcr_step(halves, a, c, d, 2, now->sound);
    if (lanes > 4 && !known) known = cpu_avx_p_pcr_step(halves, a, c, d, 4, now->sound);
    if (lanes > 8 && !known) known = cpu_avx_p_pcr_step(halves, a, c, d, 8, now->sound);
    if (halves && !known) cpu_avx_p_pcr_step(1, a, c, d, lanes, now->sound);
    for (int g = 0; g < 2; g++) {
        left[g] = cpu_avx_p_before(halves, d, g, 1);
        cpu_avx_store(slot + g * lanes, d[g]);
        cpu_avx_store(slot + (2 + g) * lanes, cpu_avx_set(0));
        cpu_avx_store(slot + (4 + g) * lanes, cpu_avx_set(0));
    }
}

#endif /* CPU_AVX_PASS */
