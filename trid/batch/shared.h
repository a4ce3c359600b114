/* shared.h - a room of trid/batch.h: one matrix for all systems.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Solves interleaved systems with one matrix, which a block factors once. That leaves few operations and few registers
   for each tile, so that a multiprocessor has several blocks, of which one solves while the others wait. */
#define TRID_P_BATCH_SHARED_INTERLEAVED_RESIDENT(tb_real, threads) ((sizeof(tb_real) == 4 ? 1024 : 768) / (threads))
template <class tb_real, int k, int systems, int parts, int ahead, int pipelined, class rows_type>
TRID_P_BATCH_BOUNDS(systems *parts, TRID_P_BATCH_SHARED_INTERLEAVED_RESIDENT(tb_real, systems *parts))
TRID_KERNEL void trid_p_batch_shared_interleaved(trid_p_batch_plan plan, rows_type from, const tb_real *d, tb_real *x)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts), vector = 16 / sizeof(tb_real), reduced_len = 13 };
    enum { own_len = 5 * k + vector }; /* no bank conflicts, four partitions a warp or fewer reading 16 bytes each */
    enum { known_ends = trid_p_batch_rows<rows_type>::are_known };
    __shared__ tb_real shared[3 * span], reduced[parts * reduced_len], known[known_ends ? 2 * systems : 1];
    __shared__ trid_p_batch_word<tb_real> kept[parts * own_len / vector];
    __shared__ int worst;
    TRID_DYNAMIC_SHARED(dynamic);
    int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems, n = plan.n, first = k * part,
        steps;
    const int add = plan.flags & TRID_BATCH_ADD;
    const trid_p_batch_arrays<tb_real> none = trid_p_batch_arrays<tb_real>();
    long long step = plan.lines.step;
    tb_real *stage = (tb_real *)dynamic, *before = stage + k * systems * parts, *factors = kept[0].v, end[2];
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x, systems, line, first);
    trid_p_batch_next_known(k, systems, from, first, 0, p, &known[known_ends ? line : 0], end);
    trid_p_batch_route<tb_real> route =
        trid_p_batch_route_of<tb_real, k, systems, 1, pipelined>(plan, none, blockIdx.x, p, first, d);
    trid_p_batch_ask<tb_real, k, systems, parts, k, ahead, 1, pipelined>(plan, 0, 0, &route, stage);
    trid_p_batch_ask_before<tb_real, k, systems, parts, ahead>(plan, p, x, before);
    if (thread == 0) worst = TRID_P_BATCH_NO_ROW; /* before the barriers inside */
    {
        tb_real a[k], b[k], c[k], f[TRID_INTERLEAVED_FACTOR_LEN(k)];
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            a[j] = c[j] = 0;
            b[j] = 1;
            if (first + j < n) trid_p_batch_rows_of(from)(0, first + j, &a[j], &b[j], &c[j]);
        }
        trid_p_batch_put_known_rows(k, from, first, n - first, a, b, c);
        int bad = trid_p_batch_row(trid_block_interleaved_factor(k, systems, parts, n, a, b, c, f, &steps, shared), n);
        if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst, bad);
        TB_UNROLL
        for (int e = 0; e < 5 * k; e++)
            if (line == 0) factors[part * own_len + e] = f[e];
        TB_UNROLL
        for (int e = 0; e < TRID_INTERLEAVED_FACTOR_LEN(k) - 5 * k; e++)
            if (thread < parts) reduced[thread * reduced_len + e] = f[5 * k + e];
    }
    __syncthreads();
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        tb_real r[k];
        const trid_p_batch_place here = p;
        p = trid_p_batch_place_of(plan, index + gridDim.x, systems, line,
                                  first); /* without systems beyond the last tile */
        route = trid_p_batch_route_of<tb_real, k, systems, 1, pipelined>(plan, none, index + gridDim.x, p, first, d);
        TRID_COPY_AWAIT(1);
        __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
        TB_UNROLL
        for (int j = 0; j < k; j++) r[j] = j < here.valid ? stage[j * systems * parts + thread] : (tb_real)0;
        trid_p_batch_next_known(k, systems, from, first, here.valid, p, &known[known_ends ? line : 0], end);
        trid_p_batch_put_known_values(k, from, first, here.valid, end, r);
        __syncwarp(TB_FULL_WARP); /* and has been read by them */
        trid_p_batch_ask<tb_real, k, systems, parts, k, ahead, 1, pipelined>(plan, 0, 0, &route, stage);
        trid_block_interleaved_solve_stored(k, systems, parts, k * parts, steps, factors + part * own_len,
                                            reduced + thread % parts * reduced_len, 1, r, shared);
        tb_real *to = x + here.at;
        if (add) TRID_COPY_AWAIT(1);
        TB_UNROLL
        for (int j = 0; j < k && add; j++)
            if (j < here.valid) r[j] += before[j * systems * parts + thread];
        trid_p_batch_ask_before<tb_real, k, systems, parts, ahead>(plan, p, x, before);
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            if (j < here.valid) *to = r[j];
            to += step;
        }
        if (part == 0 && here.in_batch && trid_p_batch_reports(plan))
            trid_p_batch_tell(plan, here.system, worst, 0, (tb_real)0, (tb_real)0);
    }
}

template <class tb_real, int k, int systems, int parts, int ahead, class rows_type>
static int trid_p_batch_launch_shared_interleaved_of(const trid_p_batch_plan &plan, const rows_type &rows,
                                                     const tb_real *d, tb_real *x, cudaStream_t stream, int *launched)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts) };
    enum { known_ends = trid_p_batch_rows<rows_type>::are_known * 2 * systems };
    enum {
        fixed = (3 * span + (5 * k + 17) * parts + known_ends) * (int)sizeof(tb_real) + 1536
    }; /* and what a block takes for itself */
    const int arrays = plan.flags & TRID_BATCH_ADD ? 2 : 1, bytes = arrays * k * systems * parts * (int)sizeof(tb_real);
    const trid_p_batch_pipelined with = {systems,
                                         systems * parts,
                                         bytes,
                                         fixed,
                                         TRID_P_BATCH_SHARED_INTERLEAVED_RESIDENT(tb_real, systems * parts),
                                         1,
                                         0,
                                         0};
    return trid_p_batch_launch_pipelined(
        trid_p_batch_pipelining_at<tb_real>(plan.lines, (size_t)d) == TRID_P_BATCH_VECTORISED
            ? trid_p_batch_shared_interleaved<tb_real, k, systems, parts, ahead, TRID_P_BATCH_VECTORISED, rows_type>
            : trid_p_batch_shared_interleaved<tb_real, k, systems, parts, ahead, TRID_P_BATCH_SCALAR, rows_type>,
        with, plan, stream, launched, rows, d, x);
}
template <class tb_real, class rows_type>
static int trid_p_batch_launch_shared_interleaved(const trid_p_batch_plan &plan, const rows_type &rows,
                                                  const tb_real *d, tb_real *x, cudaStream_t stream)
{
    constexpr int fold = sizeof(tb_real) == 4 ? 2 : 1;
    int launched = 0, status;
    if (plan.n > 512)
        status = trid_p_batch_launch_interleaved_of<0, tb_real, 16, 4 * fold, 64, 4, 128>(plan, rows, d, x, stream,
                                                                                          &launched);
    else
        status = trid_p_batch_choose<
            trid_p_batch_shape<4, 128, 1>, trid_p_batch_shape<8, 128, 1>, trid_p_batch_shape<16, 128, 1>,
            trid_p_batch_shape<8, 32 * fold, 4>, trid_p_batch_shape<8, 32 * fold, 8, 8, 128>,
            trid_p_batch_shape<8, 32 * fold, 16, 8, 128>, trid_p_batch_shape<8, 16 * fold, 32, 8, 256>,
            trid_p_batch_shape<16, 16 * fold, 32, 16, 128>>(plan.n, [&](auto shape) {
            typedef decltype(shape) of;
            return trid_p_batch_launch_shared_interleaved_of<tb_real, of::k, of::systems, of::parts, of::ahead>(
                plan, rows, d, x, stream, &launched);
        });
    return launched || status ? status : trid_p_batch_launch_unpipelined(plan, rows, d, x, stream);
}

#define TB_BODY "batch/shared.h"
#include "../twice.h"

#else /* TB_BODY: over tb_real */

/* Solves all systems with one matrix: a, b, c have n elements each, contiguous.
   Needs    as trid_batch_solve; flags: TRID_BATCH_ADD, TRID_BATCH_TRANSPOSED
   Returns  as trid_batch_solve
   Cost     two arrays moved (ADD: three)
   Error    as trid_warp_hybrid */
template <int only = 0>
static int trid_batch_shared(trid_lines lines, int flags, const tb_real *a, const tb_real *b, const tb_real *c,
                             const tb_real *d, tb_real *x, const trid_batch_report *report, void *scratch,
                             cudaStream_t stream)
{
    lines = trid_p_lines_of(lines);
    const int known = TRID_BATCH_ADD | TRID_BATCH_TRANSPOSED;
    int status = flags & ~known ? TRID_BATCH_BAD_FLAGS
                                : trid_p_batch_refuse(lines, flags | TRID_BATCH_SHARED, known | TRID_BATCH_SHARED, a, b,
                                                      c, d, (const tb_real *)x, 0);
    if (status) return status;
    trid_p_batch_plan plan;
    status = trid_p_batch_begin(lines, flags, report, scratch, stream, &plan);
    if (status || trid_p_lines_empty(lines)) return status;
    trid_p_batch_one_matrix<tb_real> rows = {a, b, c, plan.n};
    trid_p_batch_sides(plan, 1, &rows.a, rows.b, &rows.c);
    const trid_p_batch_arrays<tb_real> arrays = {rows.a, rows.b, rows.c, 1, 0, 0}; /* rows without a stride */
    const int is_long = trid_p_batch_is_long(plan.lines, sizeof(tb_real), 0);
    if (trid_p_batch_is_not_compiled<only>(plan, is_long)) return TRID_BATCH_BAD_SIZE;
    if constexpr (!(only & TRID_BATCH_ONLY_SHORT))
        if (is_long)
            return trid_p_batch_launch_levels<tb_real, 0, TRID_P_BATCH_ON_CHIP_INTERLEAVED + 1, only>(plan, arrays, d,
                                                                                                      x, stream);
    status = TRID_BATCH_BAD_SIZE;
    if (trid_p_batch_as_interleaved<only>(plan)) {
        if constexpr (!(only & TRID_BATCH_ONLY_CONTIGUOUS))
            status = trid_p_batch_launch_shared_interleaved(plan, rows, d, x, stream);
    } else if constexpr (!(only & TRID_BATCH_ONLY_INTERLEAVED)) {
        status = plan.n <= 512 ? trid_p_batch_launch_contiguous<TRID_P_BATCH_ONE_MATRIX>(plan, rows, d, x, stream)
                               : trid_p_batch_launch_contiguous<TRID_P_BATCH_HYBRID, 513>(plan, arrays, d, x, stream);
    }
    return status;
}

#endif /* TB_BODY */
