/* grid_implicit.h - a room of cpu_avx.h: implicit time steps on a grid of three factors, two rungs.
   MIT licence, see LICENSE. */

#if CPU_AVX_PASS == CPU_AVX_PASS_ONCE

#define cpu_avx_p_grid_solve CPU_AVX_OF_SET(cpu_avx_p_grid_solve)
#define cpu_avx_p_grid_plain_x CPU_AVX_OF_SET(cpu_avx_p_grid_plain_x)
#define cpu_avx_p_grid_plain_y CPU_AVX_OF_SET(cpu_avx_p_grid_plain_y)
#define cpu_avx_p_grid_plain_z CPU_AVX_OF_SET(cpu_avx_p_grid_plain_z)
#define cpu_avx_p_grid_lines CPU_AVX_OF_SET(cpu_avx_p_grid_lines)
#define cpu_avx_p_grid_move CPU_AVX_OF_SET(cpu_avx_p_grid_move)
#define cpu_avx_p_grid_xy CPU_AVX_OF_SET(cpu_avx_p_grid_xy)
#define cpu_avx_p_grid_z CPU_AVX_OF_SET(cpu_avx_p_grid_z)
#define cpu_avx_grid_implicit1 CPU_AVX_OF(cpu_avx_grid_implicit1)
#define cpu_avx_grid_implicit2 CPU_AVX_OF(cpu_avx_grid_implicit2)

#elif CPU_AVX_PASS == CPU_AVX_PASS_SET /* of a set and a precision */

/* Solves `count` interleaved systems in place with plain loops. f holds the factors of their matrix, from
   cpu_avx_factor. */
CPU_AVX_INLINE void cpu_avx_p_grid_solve(int n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step, int count)
{
    const cpu_avx_real *l = f, *r = f + n, *q = f + 2 * (ptrdiff_t)n;
    for (int i = 0; i < count; i++) x[i] *= r[0];
    for (int j = 1; j < n; j++) {
        const cpu_avx_real *below = x + (j - 1) * step;
        cpu_avx_real *CPU_AVX_P_RESTRICT row = x + j * step;
        for (int i = 0; i < count; i++) row[i] = r[j] * row[i] - l[j] * below[i];
    }
    for (int j = n - 2; j >= 0; j--) {
        const cpu_avx_real *above = x + (j + 1) * step;
        cpu_avx_real *CPU_AVX_P_RESTRICT row = x + j * step;
        for (int i = 0; i < count; i++) row[i] -= q[j] * above[i];
    }
}

/* Solves the x lines of the plane v, one by one. */
CPU_AVX_CALL void cpu_avx_p_grid_plain_x(const cpu_avx_grid *g, const cpu_avx_real *f, cpu_avx_real *v)
{
    for (int j = 0; j < g->ny; j++) cpu_avx_p_grid_solve(g->nx, f, v + j * (ptrdiff_t)g->pitch, 1, 1);
}

/* Solves the y lines of the plane v. */
CPU_AVX_CALL void cpu_avx_p_grid_plain_y(const cpu_avx_grid *g, const cpu_avx_real *f, cpu_avx_real *v)
{
    cpu_avx_p_grid_solve(g->ny, f, v, (ptrdiff_t)g->pitch, g->nx);
}

/* Solves the z lines of a row and adds the solutions to u. */
CPU_AVX_CALL void cpu_avx_p_grid_plain_z(const cpu_avx_grid *g, const cpu_avx_real *f, cpu_avx_real *v, cpu_avx_real *u)
{
    const ptrdiff_t plane = cpu_avx_p_grid_plane_step(g);
    cpu_avx_p_grid_solve(g->nz, f, v, plane, g->nx);
    for (int k = 0; k < g->nz; k++)
        for (int i = 0; i < g->nx; i++) u[k * plane + i] += v[k * plane + i];
}

/* Solves `count` interleaved systems in place: four vectors of them at a time, then one, and finally the rest. */
CPU_AVX_INLINE void cpu_avx_p_grid_lines(int n, const cpu_avx_real *f, cpu_avx_real *x, ptrdiff_t step, int count)
{
    int i = 0;
    for (; i + 4 * cpu_avx_lanes <= count; i += 4 * cpu_avx_lanes) cpu_avx_interleaved_solve(n, f, x + i, step, 4);
    for (; i + cpu_avx_lanes <= count; i += cpu_avx_lanes) cpu_avx_interleaved_solve(n, f, x + i, step, 1);
    if (i < count) cpu_avx_interleaved_solve_part(n, f, x + i, step, count - i);
}

/* Copies a row. If `stream` is set, whole vectors bypass the caches. */
CPU_AVX_INLINE void cpu_avx_p_grid_move(const cpu_avx_real *from, cpu_avx_real *to, int n, int stream)
{
    int i = 0;
    for (; i + cpu_avx_lanes <= n; i += cpu_avx_lanes) {
        const cpu_avx_vec v = cpu_avx_load(from + i);
        if (stream)
            cpu_avx_stream(to + i, v);
        else
            cpu_avx_store(to + i, v);
    }
    if (i < n) cpu_avx_store_part(to + i, n - i, cpu_avx_load_part(from + i, n - i));
}

/* Computes plane k of the right-hand side, solves its x and y lines in the second-level cache, and stores the solutions
   in v. */
CPU_AVX_CALL void cpu_avx_p_grid_xy(const cpu_avx_grid *g, const cpu_avx_p_grid_x *x, int k, const cpu_avx_real *fx,
                                    const cpu_avx_real *fy, const cpu_avx_real *u, cpu_avx_real *v, cpu_avx_real *work)
{
    const int stream = cpu_avx_p_grid_streams(g, v);
    const ptrdiff_t pitch = cpu_avx_p_grid_work_pitch(g);
    cpu_avx_real *made = work + pitch * cpu_avx_lanes, *out = v + k * cpu_avx_p_grid_plane_step(g);
    cpu_avx_p_grid_slab s = cpu_avx_p_grid_slab_of(g, u, k, made, pitch, 0);
    for (int j = 0; j < g->ny; j += cpu_avx_lanes, s.out += cpu_avx_lanes * pitch) {
        const int rows = g->ny - j < cpu_avx_lanes ? g->ny - j : cpu_avx_lanes;
        cpu_avx_p_grid_plane(g, x, k, j, j + rows, &s);
        cpu_avx_contiguous_solve(g->nx, fx, s.out, pitch, rows, work);
    }
    cpu_avx_p_grid_lines(g->ny, fy, made, pitch, g->nx);
    for (int j = 0; j < g->ny; j++) cpu_avx_p_grid_move(made + j * pitch, out + j * (ptrdiff_t)g->pitch, g->nx, stream);
    cpu_avx_fence();
}

/* Copies n lines of v along z to `work`, solves them there, and adds the solutions to u. Prefetches rows: in large
   grids each lies on a different page, and the processor's own prefetching fails. */
CPU_AVX_CALL void cpu_avx_p_grid_z(const cpu_avx_grid *g, const cpu_avx_real *fz, const cpu_avx_real *v,
                                   cpu_avx_real *u, int n, cpu_avx_real *work)
{
    enum { ahead = 4, cache_line = 64 / CPU_AVX_SIZE };
    const ptrdiff_t plane = cpu_avx_p_grid_plane_step(g), pitch = cpu_avx_p_grid_work_pitch(g);
    for (int k = 0; k < g->nz; k++) {
        const ptrdiff_t next = (k + ahead < g->nz ? k + ahead : k) * plane;
        for (int i = 0; i < n; i += cache_line) CPU_AVX_P_PREFETCH(v + next + i);
        cpu_avx_p_grid_move(v + k * plane, work + k * pitch, n, 0);
    }
    cpu_avx_p_grid_lines(g->nz, fz, work, pitch, n);
    for (int k = 0; k < g->nz; k++) {
        const ptrdiff_t next = (k + ahead < g->nz ? k + ahead : k) * plane;
        const cpu_avx_real *from = work + k * pitch;
        cpu_avx_real *to = u + k * plane;
        int i = 0;
        for (int at = 0; at < n; at += cache_line) CPU_AVX_P_PREFETCH(u + next + at);
        for (; i + cpu_avx_lanes <= n; i += cpu_avx_lanes)
            cpu_avx_store(to + i, cpu_avx_load(to + i) + cpu_avx_load(from + i));
        for (; i < n; i++) to[i] += from[i];
    }
}

#elif CPU_AVX_PASS == CPU_AVX_PASS_ARRAY /* of a precision: array scope, which chooses a set */

/* Takes `steps` implicit steps, A_x A_y A_z (u' - u) = L u. Plain loops make one sweep each for the right-hand side,
   contiguous x lines, interleaved y lines and interleaved z lines.
   Needs    -discount in g->same; in fx, fy, fz the factors of A_x, A_y and A_z from cpu_avx_factor; v of the size of u;
            work of cpu_avx_grid_bytes(g, threads) bytes
   Leaves   the result in u; in v the last u' - u
   Returns  as cpu_avx_grid_explicit1
   Cost     a step costs as much as one of cpu_avx_grid_explicit1, plus 5 operations per point and axis; 10 passes over
            an array */
CPU_AVX_API int cpu_avx_grid_implicit1(int isa, const cpu_avx_grid *g, int steps, const cpu_avx_real *fx,
                                       const cpu_avx_real *fy, const cpu_avx_real *fz, cpu_avx_real *u, cpu_avx_real *v,
                                       void *work, int threads)
{
    const int status = cpu_avx_p_grid_status(isa, g, steps, u, v, work, threads);
    if (!fx || !fy || !fz) return CPU_AVX_BAD_ARGUMENT;
    if (status) return status;
    cpu_avx_real *own;
    const cpu_avx_p_grid_x x = cpu_avx_p_grid_prepare(g, work, &own);
    const ptrdiff_t plane = cpu_avx_p_grid_plane_step(g);
    for (int step = 0; step < steps; step++) {
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_FLUSHING(isa, , cpu_avx_p_grid_plain, (g, &x, k, u, v));
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_FLUSHING(isa, , cpu_avx_p_grid_plain_x, (g, fx, v + k * plane));
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int k = 0; k < g->nz; k++) CPU_AVX_P_PICK_FLUSHING(isa, , cpu_avx_p_grid_plain_y, (g, fy, v + k * plane));
        CPU_AVX_P_OMP(omp parallel for num_threads(threads))
        for (int j = 0; j < g->ny; j++)
            CPU_AVX_P_PICK_FLUSHING(isa, , cpu_avx_p_grid_plain_z, (g, fz, v + j * g->pitch, u + j * g->pitch));
    }
    return CPU_AVX_OK;
}

/* Takes the same steps in two sweeps each. The first computes the right-hand side of a plane and solves its x lines (by
   transposed tiles) and y lines, all in the second-level cache. The second solves the z lines of a row of the grid,
   which also stay in that cache, and adds the solutions to u.
   Needs, Returns as cpu_avx_grid_implicit1
   Leaves   the result in u; v is clobbered
   Cost     a step costs as much as one of cpu_avx_grid_explicit2, plus 5 operations per point and axis; 5 passes over
            an array */
CPU_AVX_API int cpu_avx_grid_implicit2(int isa, const cpu_avx_grid *g, int steps, const cpu_avx_real *fx,
                                       const cpu_avx_real *fy, const cpu_avx_real *fz, cpu_avx_real *u, cpu_avx_real *v,
                                       void *work, int threads)
{
    const int status = cpu_avx_p_grid_status(isa, g, steps, u, v, work, threads);
    if (!fx || !fy || !fz) return CPU_AVX_BAD_ARGUMENT;
    if (status) return status;
    cpu_avx_real *own;
    const cpu_avx_p_grid_x x = cpu_avx_p_grid_prepare(g, work, &own);
    const size_t length = cpu_avx_p_grid_own(g, threads);
    for (int step = 0; step < steps; step++) {
        CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))
        for (int thread = 0; thread < threads; thread++) {
            const int end = (int)cpu_avx_p_part(g->nz, threads, thread + 1);
            for (int k = (int)cpu_avx_p_part(g->nz, threads, thread); k < end; k++)
                CPU_AVX_P_PICK_FLUSHING(isa, , cpu_avx_p_grid_xy,
                                        (g, &x, k, fx, fy, u, v, own + (size_t)thread * length));
        }
        CPU_AVX_P_OMP(omp parallel for num_threads(threads) schedule(static, 1))
        for (int thread = 0; thread < threads; thread++) {
            const int end = (int)cpu_avx_p_part(g->ny, threads, thread + 1);
            for (int j = (int)cpu_avx_p_part(g->ny, threads, thread); j < end; j++)
                CPU_AVX_P_PICK_FLUSHING(
                    isa, , cpu_avx_p_grid_z,
                    (g, fz, v + j * g->pitch, u + j * g->pitch, g->nx, own + (size_t)thread * length));
        }
    }
    return CPU_AVX_OK;
}

#endif /* CPU_AVX_PASS */
