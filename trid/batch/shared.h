/* shared.h - a room of trid/batch.h: one matrix for all systems.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Whether each thread keeps the factors of its rows in registers. It does if it has 16 rows of a longer system and
   registers suffice. Otherwise the block keeps the factors of its partitions in shared memory. */
template <class tb_real, class shape>
static constexpr bool trid_p_batch_in_registers =
    shape::k == 16 && shape::parts > 1 && shape::threads <= trid_p_batch_threads_for<tb_real, shape::k>;

/* Solves interleaved systems with one matrix. Each block factors it once: a thread has the same rows in every tile. */
template <class tb_real, class shape, class rows_type>
TB_D void trid_p_batch_shared_tiles(const trid_p_batch_plan &plan, const rows_type &rows, const tb_real *d, tb_real *x)
{
    typedef trid_p_batch_rows<rows_type> of;
    constexpr int k = shape::k, systems = shape::systems, parts = shape::parts;
    constexpr int span = TRID_P_BATCH_SPAN(tb_real, systems, parts), vector = 16 / sizeof(tb_real), reduced_len = 13;
    constexpr int own_len =
        5 * k + vector; /* the gap avoids bank conflicts where a warp reads 16 bytes from each of several partitions */
    constexpr bool in_registers = trid_p_batch_in_registers<tb_real, shape>;
    __shared__ tb_real shared[3 * span], reduced[parts * reduced_len], known[of::are_known ? 2 * systems : 1];
    __shared__ trid_p_batch_word<tb_real> kept[in_registers ? 1 : parts * own_len / vector];
    __shared__ int worst;
    TRID_DYNAMIC_SHARED(dynamic);
    const int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems, first = k * part;
    const int n = plan.n;
    const trid_p_batch_arrays<tb_real> none = trid_p_batch_arrays<tb_real>();
    constexpr int burst = in_registers && shape::vectorised ? shape::burst : k;
    const trid_p_batch_pipeline<tb_real, shape, 1, burst> pipeline = {plan, none, d, (tb_real *)dynamic, first, 0};
    tb_real f[TRID_INTERLEAVED_FACTOR_LEN(k)], *factors = kept[0].v;
    int steps;
    trid_p_batch_equations<tb_real, k> u;
    tb_real end[2];
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, systems, line, first);
    trid_p_batch_next_known(k, systems, rows, first, 0, p, known, end);
    trid_p_batch_prefetch(pipeline, blockIdx.x, p);
    trid_p_batch_ask_before(pipeline, p, x);
    if (thread == 0) worst = TRID_P_BATCH_NO_ROW; /* others use it after the barriers of the factoring */
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        u.a[j] = u.c[j] = 0;
        u.b[j] = 1;
        if (first + j < n) trid_p_batch_rows_of(rows)(0, first + j, &u.a[j], &u.b[j], &u.c[j]);
    }
    trid_p_batch_put_known_rows(rows, first, n - first, &u);
    int bad =
        trid_p_batch_row(trid_block_interleaved_factor(k, systems, parts, n, u.a, u.b, u.c, f, &steps, shared), n);
    if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst, bad);
    TB_UNROLL
    for (int e = 0; e < 5 * k; e++)
        if (line == 0 && !in_registers) factors[part * own_len + e] = f[e];
    TB_UNROLL
    for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(k) - 5 * k; e++)
        if (thread < parts) reduced[thread * reduced_len + e] = f[5 * k + e];
    __syncthreads();
    TB_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        const trid_p_batch_place here = p;
        p = trid_p_batch_place_of(plan, index + gridDim.x, systems, line, first); /* no system beyond the last tile */
        trid_p_batch_arrive<0, 1>(pipeline, rows, here, index + gridDim.x, p, known, end, &u);
        trid_p_batch_put_known_values(rows, first, here.valid, end, &u);
        trid_block_interleaved_solve_stored(k, systems, parts, k * parts, steps,
                                            in_registers ? f : factors + part * own_len,
                                            reduced + thread % parts * reduced_len, 1, u.d, shared);
        trid_p_batch_finish(pipeline, here, p, x, u.d);
        if (part == 0 && here.in_batch && trid_p_batch_reports(plan)) trid_p_batch_tell(plan, here.system, worst);
    }
}
template <class tb_real, class shape, class rows_type>
struct trid_p_batch_tiles<trid_p_batch_how::shared, tb_real, shape, rows_type> {
    static constexpr trid_p_batch_needs needs(int flags, int)
    {
        constexpr int span = TRID_P_BATCH_SPAN(tb_real, shape::systems, shape::parts), real = (int)sizeof(tb_real);
        constexpr int known = trid_p_batch_rows<rows_type>::are_known * 2 * shape::systems;
        constexpr int elements = 3 * span + (5 * shape::k + 17) * shape::parts + known;
        const int bytes = (flags & TRID_BATCH_ADD ? 2 : 1) * shape::k * shape::threads * real;
        constexpr int resident = trid_p_batch_in_registers<tb_real, shape>
                                     ? trid_p_batch_resident<tb_real, shape::k, shape::threads>
                                     : (real == 4 ? 1024 : 768) / shape::threads;
        /* 1536: 1 KiB for CUDA itself, and room for `worst` and alignment */
        return {bytes, elements * real + 1536, resident, 1};
    }
    static constexpr auto solve = trid_p_batch_shared_tiles<tb_real, shape, rows_type>;
};

template <int least, int most, class tb_real, class rows_type>
static int trid_p_batch_launch_shared_interleaved(const trid_p_batch_work<tb_real> &work, const rows_type &rows)
{
    const int status = trid_p_batch_launch_interleaved<trid_p_batch_how::shared, least, most>(work, rows);
    return status != TRID_P_BATCH_NOT_LAUNCHED
               ? status
               : trid_p_batch_launch_interleaved<trid_p_batch_how::shared_else, least, most>(work, rows);
}

#define TB_BODY "batch/shared.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves all systems with one matrix: a, b, c have n elements each, contiguous.
   Needs    as trid_batch_solve
   Returns  as trid_batch_solve
   Cost     two arrays moved (ADD: three), or three (ADD: four) where trid_batch_solve moves nine
   Error    as trid_batch_solve; in kernels for interleaved systems of up to 512 rows, as trid_warp_solve */
template <int most = TRID_BATCH_MAX_N, int least = 1, int only = 0>
static int trid_batch_shared(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c, const tb_real *d,
                             tb_real *x, const trid_batch_options *options, cudaStream_t stream)
{
    typedef trid_p_batch_bounds<most, least, only> bounds;
    trid_p_batch_call<tb_real> call = {lines, a, b, c, d, x, options, stream};
    const int status = trid_p_batch_accept(&call, TRID_BATCH_SOLVE_FLAGS, TRID_BATCH_SHARED);
    const trid_p_batch_work<tb_real> &work = call.work;
    if (status || call.empty) return status;
    const trid_p_batch_one_matrix<tb_real> one = {call.rows.a, call.rows.b, call.rows.c, work.plan.n};
    if (trid_p_batch_is_not_compiled<bounds>(work.plan)) return TRID_BATCH_BAD_SIZE;
    if constexpr (bounds::has_long)
        if (work.plan.n > trid_p_batch_on_chip(work.plan.lines, sizeof(tb_real), 0))
            return trid_p_batch_launch_levels<trid_p_batch_how::hybrid, bounds>(work, call.rows);
    if (trid_p_batch_as_interleaved<bounds>(work.plan)) {
        if constexpr (bounds::interleaved) return trid_p_batch_launch_shared_interleaved<least, most>(work, one);
    } else if constexpr (bounds::contiguous) {
        return work.plan.n < 513 ? trid_p_batch_launch_contiguous<trid_p_batch_how::shared, least, most>(work, one)
                                 : trid_p_batch_launch_contiguous<trid_p_batch_how::hybrid, 513, most>(work, call.rows);
    }
    return TRID_BATCH_BAD_SIZE;
}

#endif /* TB_BODY */
