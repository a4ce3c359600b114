/* checked.h - a room of trid/batch.h: systems with their residuals.
   MIT licence, see LICENSE. */

/* Asks for one half of a tile. The rows of a tile must last until its residual is known, and the next ones arrive
   meanwhile. So shared memory holds three halves of k/2 rows: the two of the tile that is being solved, and the first
   of the next. As soon as the residual of a half is known, its place is given to the half after the next. */
template <class tb_real, int k, int systems, int parts, int ahead, int pipelined>
TB_D void trid_p_batch_ask_half(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &from, unsigned index,
                                int line, int first, const tb_real *d, int half, tb_real *stage)
{
    trid_p_batch_place own = trid_p_batch_place_of(plan, index, systems, line, first + k / 2 * half);
    trid_p_batch_route<tb_real> route =
        trid_p_batch_route_of<tb_real, k, systems, 4, pipelined>(plan, from, index, own, first + k / 2 * half, d);
    route.part = half; /* the second has no row 0 */
    trid_p_batch_ask<tb_real, k / 2, systems, parts, k / 2, ahead, 4, pipelined>(plan, from.step, 0, &route, stage);
}
/* Reads row j of the thread's; 0 beyond the system and where its ends couple to nothing. From its half in shared
   memory, or, where nothing is pipelined, from arrays, in which its first row is where `at` and d say. */
template <class tb_real, int k, int systems, int parts, int pipelined>
TB_D void trid_p_batch_row_of(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &at, int valid,
                              int first, const tb_real *d, const tb_real *own, int j, tb_real *a, tb_real *b,
                              tb_real *c, tb_real *r)
{
    *a = *b = *c = *r = 0;
    if (j >= valid) return;
    if (pipelined) {
        own += j % (k / 2) * systems * parts;
        if (j > 0 || first > 0) *a = *own;
        *b = own[k / 2 * systems * parts];
        if (j < valid - 1) *c = own[2 * (k / 2) * systems * parts];
        *r = own[3 * (k / 2) * systems * parts];
    } else {
        int row = trid_p_batch_again_as(j); /* or the places of all rows would be kept */
        if (j > 0 || first > 0) *a = at.a[row * at.step];
        *b = at.b[row * at.step];
        if (j < valid - 1) *c = at.c[row * at.step];
        *r = d[row * plan.lines.step];
    }
}
/* Returns the first unknown below the thread's, by way of shared memory. */
template <class tb_real, int systems, int parts>
TB_D tb_real trid_p_batch_below(tb_real x, tb_real *shared)
{
    enum { banks = TRID_P_BATCH_BANKS(tb_real) };
    int thread = (int)threadIdx.x;
    if (parts == 1) return 0;
    shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread)] = x;
    __syncthreads();
    return thread / systems < parts - 1 ? shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread + systems)]
                                        : (tb_real)0;
}

/* Solves as trid_p_batch_interleaved does, for arrays, and computes the residual of each system. */
template <class tb_real, int k, int systems, int parts, int ahead, int pipelined>
TRID_P_BATCH_BOUNDS(systems *parts, TRID_P_BATCH_INTERLEAVED_RESIDENT(tb_real, k, systems *parts))
TRID_KERNEL void trid_p_batch_checked_interleaved(trid_p_batch_plan plan, trid_p_batch_arrays<tb_real> from,
                                                  const tb_real *d, tb_real *x)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts), half_k = k / 2, half_len = 4 * half_k * systems * parts };
    __shared__ tb_real shared[parts > 1 ? 6 * span : 1];
    __shared__ int worst[systems];
    __shared__ unsigned largest[2 * systems];
    TRID_DYNAMIC_SHARED(dynamic);
    if ((pipelined && !TRID_P_BATCH_HAS_COPIES) || TRID_P_BATCH_IS_EMPTY(parts, pipelined, 0))
        return; /* is not launched there */
    int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems, n = plan.n, first = k * part;
    int reports = trid_p_batch_reports(plan), turn = 0;
    const int refined = (plan.flags & TRID_BATCH_REFINED) != 0;
    long long step = plan.lines.step;
    tb_real *stage = (tb_real *)dynamic;
    if (pipelined) {
        TRID_P_BATCH_LOOP
        for (int i = 0; i < 3; i++)
            trid_p_batch_ask_half<tb_real, k, systems, parts, ahead, pipelined>(
                plan, from, blockIdx.x + i / 2 * gridDim.x, line, first, d, i % 2, stage + i * half_len);
    }
    TRID_P_BATCH_LOOP
    for (unsigned index = blockIdx.x; index < plan.tiles; index += gridDim.x) {
        tb_real a[k], b[k], c[k], r[k], solved[k], left = 0;
        tb_real *halves[2] = {stage + turn * half_len, stage + (turn == 2 ? 0 : turn + 1) * half_len};
        int bad, valid = trid_p_batch_place_of(plan, index, systems, line, first).valid;
        trid_p_batch_worst most;
        TRID_P_BATCH_LOOP
        for (int pass = 0; pass <= refined; pass++) {
            tb_real more, right;
            trid_p_batch_arrays<tb_real> at = from; /* from its own first row on */
            const tb_real *right_hand = d;
            if (!pipelined && valid > 0) {
                trid_p_batch_place here = trid_p_batch_place_again(plan, index, systems, line, first);
                long long matrix = trid_p_batch_matrix_at(plan, from, here, first);
                at.a += matrix, at.b += matrix, at.c += matrix;
                right_hand += here.at;
            }
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                if (pipelined && half == 0) TRID_COPY_AWAIT(2);
                if (pipelined && half == 1) TRID_COPY_AWAIT(1);
                __syncwarp(TB_FULL_WARP); /* what other lanes have asked for is there too */
                TB_UNROLL
                for (int i = 0; i < half_k; i++) {
                    int j = half_k * half + i;
                    tb_real now = 0;
                    trid_p_batch_row_of<tb_real, k, systems, parts, pipelined>(
                        plan, at, valid, first, right_hand, halves[half] + thread, j, &a[j], &b[j], &c[j], &now);
                    if (pass == 0) r[j] = now, solved[j] = 0;
                }
            }
            if (index != blockIdx.x || pass) __syncthreads(); /* what is shared has been read */
            if (reports && pass == 0) {
                if (part == 0) {
                    worst[line] = TRID_P_BATCH_NO_ROW;
                    largest[line] = largest[systems + line] = 0;
                }
                __syncthreads();
            }
            trid_p_batch_sweep<tb_real, k, systems, parts>(n, valid, a, b, c, r, shared,
                                                           reports && pass == 0 ? worst : (int *)0, &bad, &more);
            if (reports && pass == 0 && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
            left += more;
            TB_UNROLL
            for (int j = 0; j < k; j++) solved[j] += r[j];
            right = trid_p_batch_below<tb_real, systems, parts>(solved[0], shared);
            most.error = most.size = 0;
            TB_UNROLL
            for (int half = 0; half < 2; half++) {
                TB_UNROLL
                for (int i = 0; i < half_k; i++) {
                    int j = half_k * half + i;
                    tb_real ka, kb, kc, kd, up = j > 0 ? solved[j > 0 ? j - 1 : 0] : left;
                    tb_real down = j < k - 1 ? solved[j < k - 1 ? j + 1 : 0] : right;
                    trid_p_batch_row_of<tb_real, k, systems, parts, pipelined>(
                        plan, at, valid, first, right_hand, halves[half] + thread, j, &ka, &kb, &kc, &kd);
                    if (j == 0 && first == 0) up = 0; /* 0 times what is no number would be none */
                    if (j >= valid - 1) down = 0;
                    r[j] = trid_p_batch_residual_row(ka, kb, kc, kd, solved[j], up, down, &most);
                }
                if (pipelined && pass == refined) {
                    __syncwarp(TB_FULL_WARP); /* other lanes have read theirs */
                    trid_p_batch_ask_half<tb_real, k, systems, parts, ahead, pipelined>(
                        plan, from, index + (half + 1) * gridDim.x, line, first, d, 1 - half, halves[half]);
                }
            }
        }
        turn = turn == 0 ? 2 : turn - 1;
        const trid_p_batch_place here = trid_p_batch_place_again(plan, index, systems, line, first);
        if (reports && valid > 0) {
            atomicMax(&largest[line], most.error);
            atomicMax(&largest[systems + line], most.size);
        }
        tb_real *to = x + here.at;
        if (plan.flags & TRID_BATCH_ADD) {
            TB_UNROLL
            for (int j = 0; j < k; j++) {
                if (j < valid) solved[j] += *to;
                to += step;
            }
            to = x + here.at;
        }
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            if (j < valid) *to = solved[j];
            to += step;
        }
        if (reports) {
            __syncthreads();
            if (part == 0 && here.in_batch)
                trid_p_batch_tell(plan, here.system, worst[line], 1, trid_p_batch_number<tb_real>(largest[line]),
                                  trid_p_batch_number<tb_real>(largest[systems + line]));
        }
    }
}

template <class tb_real, int k, int systems, int parts, int ahead>
static int trid_p_batch_launch_checked_interleaved_of(const trid_p_batch_plan &plan,
                                                      const trid_p_batch_arrays<tb_real> &rows, const tb_real *d,
                                                      tb_real *x, cudaStream_t stream, int *launched)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts) };
    enum {
        resident = TRID_P_BATCH_INTERLEAVED_RESIDENT(tb_real, k, systems * parts),
        bytes = 6 * k * systems * parts * (int)sizeof(tb_real),
        /* 1536: what a block takes for itself */
        fixed = (parts > 1 ? 6 * (int)span * (int)sizeof(tb_real) : 0) + 12 * systems + 1536
    };
    static_assert(!TRID_P_BATCH_ALWAYS_PIPELINED(90) || resident * (bytes + fixed) <= TRID_P_BATCH_SHARED_BYTES,
                  "every tile must have room");
    const trid_p_batch_pipelined with = {systems, systems * parts, bytes, fixed, resident, resident, 8, 0};
    return trid_p_batch_launch_pipelined(
        trid_p_batch_pipelining(plan.lines, rows, d) == TRID_P_BATCH_VECTORISED
            ? trid_p_batch_checked_interleaved<tb_real, k, systems, parts, ahead, TRID_P_BATCH_VECTORISED>
            : trid_p_batch_checked_interleaved<tb_real, k, systems, parts, ahead, TRID_P_BATCH_SCALAR>,
        with, plan, stream, launched, rows, d, x);
}
template <class tb_real>
static int trid_p_batch_launch_checked_interleaved(const trid_p_batch_plan &plan,
                                                   const trid_p_batch_arrays<tb_real> &rows, const tb_real *d,
                                                   tb_real *x, cudaStream_t stream)
{
    constexpr int fold = sizeof(tb_real) == 4 ? 2 : 1;
    typedef trid_p_batch_shape<16, 4 * fold, 64, 16, 128> most;
    int launched = 0;
    const int status = trid_p_batch_choose<
        trid_p_batch_shape<4, 128, 1>, trid_p_batch_shape<16, 128, 1>, trid_p_batch_shape<8, 32 * fold, 4>,
        trid_p_batch_shape<16, 32 * fold, 4, 16, 128>, trid_p_batch_shape<16, 32 * fold, 8, 16, 128>,
        trid_p_batch_shape<16, 16 * fold, 16, 16, 256>, trid_p_batch_shape<16, 8 * fold, 32, 16, 128>, most>(
        plan.n, [&](auto shape) {
            typedef decltype(shape) of;
            return trid_p_batch_launch_checked_interleaved_of<tb_real, of::k, of::systems, of::parts, of::ahead>(
                plan, rows, d, x, stream, &launched);
        });
    if (launched || status) return status;
    const auto kernel_of = [](auto shape) {
        typedef decltype(shape) of;
        return trid_p_batch_checked_interleaved<tb_real, of::k, of::systems, of::parts, 0, TRID_P_BATCH_UNPIPELINED>;
    };
    return trid_p_batch_choose<trid_p_batch_shape<16, 128, 1>, trid_p_batch_shape<16, 32 * fold, 4>,
                               trid_p_batch_shape<16, 16 * fold, 16>, most>(
        trid_p_batch_unpipelined_n(kernel_of(most()), plan.n), [&](auto shape) {
            return trid_p_batch_launch_unpipelined_of(kernel_of(shape), shape, plan, 0, stream, rows, d, x);
        });
}
