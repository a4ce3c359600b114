/* grid_explicit.h - a room of cpu_avx.h: explicit time steps on a grid of three factors, two rungs.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_grid_two_steps CPU_AVX_OF_SET(cpu_avx_p_grid_two_steps)
#define cpu_avx_p_grid_sweep CPU_AVX_OF(cpu_avx_p_grid_sweep)
#define cpu_avx_grid_explicit1 CPU_AVX_OF(cpu_avx_grid_explicit1)
#define cpu_avx_grid_explicit2 CPU_AVX_OF(cpu_avx_grid_explicit2)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Takes one or two steps from u to v for the rows and planes of the tile. The first of two steps covers one more row
   and plane on each side where the grid has them, and keeps its last three planes in `ring`. The second step follows
   a plane behind. */
CPU_AVX_CALL void cpu_avx_p_grid_two_steps(const cpu_avx_grid *g, const cpu_avx_p_grid_x *x,
                                           const cpu_avx_p_grid_tile *t, int steps, const cpu_avx_real *u,
                                           cpu_avx_real *v, cpu_avx_real *ring)
{
    const int stream = cpu_avx_p_grid_streams(g, v);
    const ptrdiff_t pitch = (ptrdiff_t)g->pitch, plane = cpu_avx_p_grid_plane_step(g);
    const ptrdiff_t ring_pitch = cpu_avx_p_grid_work_pitch(g);
    const int from = t->j0 > 0 ? t->j0 - 1 : 0, to = t->j1 < g->ny ? t->j1 + 1 : g->ny;
    const ptrdiff_t slot = ring_pitch * (to - from);
    cpu_avx_real *out = v + t->j0 * pitch;
    for (int k = steps == 2 && t->k0 > 0 ? t->k0 - 1 : t->k0; k < t->k1 + steps - 1; k++) {
        if (steps == 1) {
            const cpu_avx_p_grid_slab given = cpu_avx_p_grid_slab_of(g, u, k, out + k * plane, pitch, stream);
            cpu_avx_p_grid_plane(g, x, k, t->j0, t->j1, &given);
            continue;
        }
        if (k < g->nz) {
            const cpu_avx_p_grid_slab given = cpu_avx_p_grid_slab_of(g, u, k, ring + k % 3 * slot, ring_pitch, 0);
            cpu_avx_p_grid_plane(g, x, k, from, to, &given);
        }
        const int now = k - 1;
        if (now < t->k0) continue;
        const cpu_avx_real *below = ring + (now > 0 ? now - 1 : now) % 3 * slot, *here = ring + now % 3 * slot;
        const cpu_avx_real *above = ring + (now < g->nz - 1 ? now + 1 : now) % 3 * slot;
        const cpu_avx_p_grid_slab made = {
            {below, here, above}, here, out + now * plane, ring_pitch, pitch, from, to, stream};
        cpu_avx_p_grid_plane(g, x, now, t->j0, t->j1, &made);
    }
    cpu_avx_fence();
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Takes one or two steps from u to v, in one sweep. */
CPU_AVX_API void cpu_avx_p_grid_sweep(int isa, const cpu_avx_grid *g, const cpu_avx_p_grid_x *x, int steps,
                                      const cpu_avx_real *u, cpu_avx_real *v, cpu_avx_real *own, int threads)
{
    const cpu_avx_p_grid_cut cut = cpu_avx_p_grid_cut_of(g, threads);
    const size_t length = cpu_avx_p_grid_own(g, threads);
    CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))
    for (int thread = 0; thread < threads; thread++)
        for (int task = thread; task < cut.blocks * cut.layers; task += threads) {
            const int block = task / cut.layers, layer = task % cut.layers;
            cpu_avx_p_grid_tile t;
            t.j0 = (int)cpu_avx_p_part(g->ny, cut.blocks, block);
            t.j1 = (int)cpu_avx_p_part(g->ny, cut.blocks, block + 1);
            t.k0 = (int)cpu_avx_p_part(g->nz, cut.layers, layer);
            t.k1 = (int)cpu_avx_p_part(g->nz, cut.layers, layer + 1);
            CPU_AVX_P_PICK_FLUSHING(isa, , cpu_avx_p_grid_two_steps,
                                    (g, x, &t, steps, u, v, own + (size_t)thread * length));
        }
}

/* Takes `steps` explicit steps, u <- u + L u. Loads every neighbour; the compiler vectorises the loop over x.
   Needs    1 - discount in g->same; v of the size of u; work of cpu_avx_grid_bytes(g, threads) bytes
   Leaves   the result in u; v is clobbered
   Returns  CPU_AVX_OK, CPU_AVX_BAD_ARGUMENT or CPU_AVX_BAD_ISA
   Cost     38 operations and 13 loads of u per point and step (55 and 19 if L has 19 points); a step reads one array
            and writes the other, each once */
CPU_AVX_API int cpu_avx_grid_explicit1(int isa, const cpu_avx_grid *g, int steps, cpu_avx_real *u, cpu_avx_real *v,
                                       void *work, int threads)
{
    const int status = cpu_avx_p_grid_status(isa, g, steps, u, v, work, threads);
    if (status) return status;
    cpu_avx_real *own;
    const cpu_avx_p_grid_x x = cpu_avx_p_grid_prepare(g, work, &own);
    for (int step = 0; step < steps; step++) {
        cpu_avx_real *from = step % 2 ? v : u, *to = step % 2 ? u : v;
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_FLUSHING(isa, , cpu_avx_p_grid_plain, (g, &x, k, from, to));
    }
    if (steps % 2) cpu_avx_p_grid_copy(g, v, u, threads);
    return CPU_AVX_OK;
}

/* Takes the same steps, two per sweep, in blocks of rows that stay in the second-level cache. Up to three steps of a
   call take a sweep each, so that the number of sweeps is even and the last one writes u. If a call takes only one
   step, its result is copied to u. Cross differences with x come from shared sums, so that a vector takes 8 loads of u,
   not 13 (10, not 19, if L has 19 points).
   Needs, Leaves, Returns as cpu_avx_grid_explicit1
   Cost     14 multiply-adds or multiplications, 12 additions (19 and 15 if L has 19 points) and 3 moves between lanes
            per vector and step. In the first of two steps, the rows next to a border between blocks are computed
            twice, as are the planes next to a border between layers. Two steps read one array and write the other,
            each once */
CPU_AVX_API int cpu_avx_grid_explicit2(int isa, const cpu_avx_grid *g, int steps, cpu_avx_real *u, cpu_avx_real *v,
                                       void *work, int threads)
{
    const int status = cpu_avx_p_grid_status(isa, g, steps, u, v, work, threads);
    if (status) return status;
    cpu_avx_real *own;
    const cpu_avx_p_grid_x x = cpu_avx_p_grid_prepare(g, work, &own);
    const int spare = (4 - steps % 4) % 4; /* single steps make the number of sweeps even: the last one writes u */
    const int single = spare < steps ? spare : steps;
    for (int done = 0, sweep = 0, now; done < steps; done += now, sweep++) {
        now = done < single ? 1 : 2;
        cpu_avx_p_grid_sweep(isa, g, &x, now, sweep % 2 ? v : u, sweep % 2 ? u : v, own, threads);
    }
    if (steps == 1) /* else the number of sweeps is even */
        cpu_avx_p_grid_copy(g, v, u, threads);
    return CPU_AVX_OK;
}

#endif /* CPU_AVX_PASS */
