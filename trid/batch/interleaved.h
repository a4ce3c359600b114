/* interleaved.h - a room of trid/batch.h: interleaved systems: the kernel, its shapes, with clusters and without.
   MIT licence, see LICENSE. */

/* Returns the next tile to be solved from index on: with repair only tiles of which a system has a status other than
   0. */
TB_D unsigned trid_p_batch_wanted_tile(const trid_p_batch_plan &plan, unsigned index, unsigned tile_step, int systems)
{
    TRID_P_BATCH_LOOP
    for (; plan.repair && index < plan.tiles; index += tile_step) {
        trid_p_batch_tile tile = trid_p_batch_tile_of(plan, index, systems);
        const int *status = plan.report.status + (tile.group * plan.lines.systems + tile.first);
        int wanted = 0;
        TRID_P_BATCH_LOOP
        for (int line = trid_warp_lane(); line < tile.count; line += 32) wanted |= status[line] != 0;
        if (__any_sync(TB_FULL_WARP, wanted)) break;
    }
    return index;
}

/* Clusters, where there are any, serve n = 129 .. 512 (with pivoting 257 .. 512) in place of these numbers of
   partitions. */
#define TRID_P_BATCH_BY_CLUSTERS(parts, pivoted, cluster)                                                              \
    (!(cluster) && ((parts) == 32 || (!(pivoted) && (parts) == 16)))

/* Solves interleaved systems of n <= k*parts rows. A block takes one tile after another. Rows are asked for `burst` at
   a time, each time as soon as the same rows of the tile before are in registers. With cluster, each block of a cluster
   has k*parts rows. */
template <class tb_real, int k, int systems, int parts, int burst, int ahead, int pipelined, int pivoted, int cluster,
          class rows_type>
TRID_P_BATCH_BOUNDS(systems *parts, TRID_P_BATCH_INTERLEAVED_RESIDENT(tb_real, k, systems *parts))
TRID_KERNEL void trid_p_batch_interleaved(trid_p_batch_plan plan, rows_type rows, const tb_real *d, tb_real *x)
{
    enum {
        span = TRID_P_BATCH_SPAN(tb_real, systems, parts),
        arrays = trid_p_batch_rows<rows_type>::are_arrays ? 4 : 1
    };
    __shared__ tb_real shared[parts > 1 || cluster ? (pivoted ? 9 : 6) * span : 1],
        known[trid_p_batch_rows<rows_type>::are_known ? 2 * systems : 1];
    __shared__ int worst[systems];
    __shared__ unsigned long long mbarrier[cluster ? 2 : 1];
    TRID_DYNAMIC_SHARED(dynamic);
    /* is not launched there */
    if ((cluster && !TRID_CLUSTERS) || (pipelined && !TRID_P_BATCH_HAS_COPIES)) return;
    if (TRID_P_BATCH_IS_EMPTY(parts, pipelined, TRID_P_BATCH_BY_CLUSTERS(parts, pivoted, cluster))) return;
    int block = cluster ? trid_cluster_rank() : 0, blocks = cluster ? trid_cluster_size() : 1;
    int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems, n = plan.n;
    int first = cluster ? k * (parts * block + part) : k * part;
    int reports = trid_p_batch_reports(plan);
    long long step = plan.lines.step;
    tb_real *stage = (tb_real *)dynamic, *before = stage + (pipelined ? arrays * k * systems * parts : 0);
    tb_real *mailbox = before + (pipelined && plan.flags & TRID_BATCH_ADD ? k * systems * parts : 0);
    unsigned tile_step = cluster ? gridDim.x / (unsigned)blocks : gridDim.x, phase = 0;
    unsigned begin = cluster ? blockIdx.x / (unsigned)blocks : blockIdx.x;
    if (cluster) {
        if (thread < 2) trid_mbarrier_init(&mbarrier[cluster ? thread : 0]);
        trid_cluster_sync();
    }
    if (pivoted) begin = trid_p_batch_wanted_tile(plan, begin, tile_step, systems);
    if (pipelined && arrays > 1) trid_p_batch_unasked<tb_real, k, systems, parts>(n, first, stage);
    /* In the first round the first tile is asked for, and there is none to solve. */
    trid_p_batch_place p = trid_p_batch_place_of(plan, pipelined ? plan.tiles : begin, systems, line, first);
    int round = pipelined ? 0 : 1;
    unsigned index = begin, next = pipelined ? begin : begin + tile_step;
    TRID_P_BATCH_LOOP
    for (; index < plan.tiles; index = next, next += tile_step) {
        tb_real a[k], b[k], c[k], r[k], end[2] = {0, 0}, left;
        int bad, valid = p.valid;
        const trid_p_batch_place here = p;
        if (!pipelined) trid_p_batch_ask_known(k, rows, here.system, first, valid, end);
        if (pivoted && round > 0) next = trid_p_batch_wanted_tile(plan, next, tile_step, systems);
        p = trid_p_batch_place_of(plan, next, systems, line, first); /* without systems beyond the last tile */
        if (pipelined) {
            const tb_real *own = stage + thread;
            trid_p_batch_route<tb_real> route = trid_p_batch_route_of<tb_real, k, systems, arrays, pipelined>(
                plan, trid_p_batch_arrays_of<tb_real>(rows), next, p, first, d);
            route.part = block;
            TB_UNROLL
            for (int from = 0; from < k; from += burst) {
                TRID_COPY_AWAIT(k / burst); /* the last of them is x as it was */
                __syncwarp(TB_FULL_WARP);   /* what other lanes have asked for is there too */
                TB_UNROLL
                for (int j = from; j < from + burst; j++) {
                    a[j] = c[j] = r[j] = 0;
                    b[j] = 1;
                    if (j < valid)
                        trid_p_batch_arrived(k, systems * parts, j, trid_p_batch_rows_of(rows), here.system, first, own,
                                             &a[j], &b[j], &c[j], &r[j]);
                }
                if (from == 0)
                    trid_p_batch_next_known(k, systems, rows, first, valid, p,
                                            &known[trid_p_batch_rows<rows_type>::are_known ? line : 0], end);
                __syncwarp(TB_FULL_WARP); /* and has been read by them */
                trid_p_batch_ask<tb_real, k, systems, parts, burst, ahead, arrays, pipelined>(
                    plan, trid_p_batch_arrays_of<tb_real>(rows).step, from, &route, stage);
            }
            if (round++ == 0) {
                trid_p_batch_ask_before<tb_real, k, systems, parts, ahead>(plan, p, x, before);
                continue;
            }
        } else {
            trid_p_batch_own_rows(k, plan, here, first, trid_p_batch_rows_of(rows), a, b, c);
            trid_p_batch_gather(k, 0, valid, d + here.at, step, r);
        }
        trid_p_batch_put_known(k, rows, first, valid, end, a, b, c, r);
        if (index != begin) __syncthreads(); /* what is shared has been read */
        if (reports) {
            if (part == 0) worst[line] = TRID_P_BATCH_NO_ROW;
            __syncthreads();
        }
        const trid_p_batch_post<tb_real> post = {mailbox, mbarrier, block, blocks, (int)phase++};
        if (pivoted) {
            trid_p_batch_sweep_pivoted<tb_real, k, systems, parts, cluster>(valid, a, b, c, r, shared,
                                                                            reports ? worst : (int *)0, post);
        } else if (cluster) {
            trid_p_batch_sweep_cluster<tb_real, k, systems, cluster ? parts : 2>(
                n, valid, a, b, c, r, shared, reports ? worst : (int *)0, post, &left);
        } else {
            trid_p_batch_sweep<tb_real, k, systems, parts>(n, valid, a, b, c, r, shared, reports ? worst : (int *)0,
                                                           &bad, &left);
            if (reports && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
        }
        tb_real *to = x + here.at;
        if (plan.flags & TRID_BATCH_ADD) {
            if (pipelined) TRID_COPY_AWAIT(k / burst);
            TB_UNROLL
            for (int j = 0; j < k; j++) {
                if (j < valid) r[j] += pipelined ? before[j * systems * parts + thread] : *to;
                to += step;
            }
            to = x + here.at;
        }
        if (pipelined) trid_p_batch_ask_before<tb_real, k, systems, parts, ahead>(plan, p, x, before);
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            if (j < valid) *to = r[j];
            to += step;
        }
        if (reports) {
            __syncthreads();
            if (part == 0 && block == 0 && here.in_batch)
                trid_p_batch_tell(plan, here.system, worst[line], 0, (tb_real)0, (tb_real)0);
        }
    }
}

template <class tb_real, int k, int systems, int parts, int burst, int ahead, int pivoted, int cluster, class rows_type>
struct trid_p_batch_interleaved_kernel {
    typedef void (*type)(trid_p_batch_plan, rows_type, const tb_real *, tb_real *);
    enum { arrays = trid_p_batch_rows<rows_type>::are_arrays ? 4 : 1 };
    static type of(int pipelined)
    {
        return pipelined == TRID_P_BATCH_VECTORISED
                   ? (type)trid_p_batch_interleaved<tb_real, k, systems, parts, burst, ahead, TRID_P_BATCH_VECTORISED,
                                                    pivoted, cluster, rows_type>
                   : (type)trid_p_batch_interleaved<tb_real, k, systems, parts, burst, ahead, TRID_P_BATCH_SCALAR,
                                                    pivoted, cluster, rows_type>;
    }
    /* Shared memory of what is on its way. */
    static int bytes(int flags)
    {
        return (arrays + (flags & TRID_BATCH_ADD ? 1 : 0)) * k * systems * parts * (int)sizeof(tb_real);
    }
};

template <int pivoted, class tb_real, int k, int systems, int parts, int burst, int ahead, class rows_type>
static int trid_p_batch_launch_interleaved_of(const trid_p_batch_plan &plan, rows_type rows, const tb_real *d,
                                              tb_real *x, cudaStream_t stream, int *launched)
{
    typedef trid_p_batch_interleaved_kernel<tb_real, k, systems, parts, burst, ahead, pivoted, 0, rows_type> kernel;
    /* besides what is on its way: the rows that change hands, at most */
    enum {
        resident = TRID_P_BATCH_INTERLEAVED_RESIDENT(tb_real, k, systems * parts),
        fixed = (pivoted ? 21 : 16) * 1024
    };
    static_assert(!TRID_P_BATCH_ALWAYS_PIPELINED(90) || pivoted ||
                      resident * ((kernel::arrays + 1) * k * systems * parts * (int)sizeof(tb_real) + fixed) <=
                          TRID_P_BATCH_SHARED_BYTES,
                  "every tile must have room");
    const trid_p_batch_pipelined with = {systems,
                                         systems * parts,
                                         kernel::bytes(plan.flags),
                                         fixed,
                                         resident,
                                         resident,
                                         8,
                                         TRID_P_BATCH_BY_CLUSTERS(parts, pivoted, 0)};
    return trid_p_batch_launch_pipelined(kernel::of(trid_p_batch_pipelining(plan.lines, trid_p_batch_rows_of(rows), d)),
                                         with, plan, stream, launched, rows, d, x);
}

/* Launches the kernel that is not pipelined: the first of these shapes, all with k = 16, that holds n rows. */
template <class tb_real, class rows_type>
static int trid_p_batch_launch_unpipelined(const trid_p_batch_plan &plan, rows_type rows, const tb_real *d, tb_real *x,
                                           cudaStream_t stream)
{
    constexpr int fold = sizeof(tb_real) == 4 ? 2 : 1;
    typedef trid_p_batch_shape<16, 4 * fold, 64> most;
    const auto kernel_of = [](auto shape) {
        typedef decltype(shape) of;
        return trid_p_batch_interleaved<tb_real, of::k, of::systems, of::parts, of::k, 0, TRID_P_BATCH_UNPIPELINED, 0,
                                        0, rows_type>;
    };
    return trid_p_batch_choose<trid_p_batch_shape<16, 128, 1>, trid_p_batch_shape<16, 32 * fold, 4>,
                               trid_p_batch_shape<16, 16 * fold, 16>, most>(
        trid_p_batch_unpipelined_n(kernel_of(most()), plan.n), [&](auto shape) {
            return trid_p_batch_launch_unpipelined_of(kernel_of(shape), shape, plan, 0, stream, rows, d, x);
        });
}

/* Launches clusters of `blocks` blocks: n <= k*parts*blocks. Where the device has none of them, or no room for one,
   *launched stays as it was. */
template <int pivoted, class tb_real, int k, int systems, int parts, int burst, int ahead, class rows_type>
static int trid_p_batch_launch_cluster_of(trid_p_batch_plan plan, int blocks, rows_type rows, const tb_real *d,
                                          tb_real *x, cudaStream_t stream, int *launched)
{
    typedef trid_p_batch_interleaved_kernel<tb_real, k, systems, parts, burst, ahead, pivoted, 1, rows_type> kernel;
    trid_p_batch_device device;
    int pipelined = trid_p_batch_pipelining(plan.lines, trid_p_batch_rows_of(rows), d);
    int bytes =
        kernel::bytes(plan.flags) + 2 * TRID_P_BATCH_MAILBOX(pivoted ? 12 : 8, systems, blocks) * (int)sizeof(tb_real);
    dim3 grid;
    typename kernel::type of = kernel::of(pipelined);
    if (trid_p_batch_device_of(of, &device)) return TRID_BATCH_LAUNCH_FAILED;
    /* besides what is on its way: the rows that change hands, at most */
    if (device.major < 9 || bytes + (pivoted ? 21 : 16) * 1024 > device.most) return TRID_BATCH_OK;
    if (trid_p_batch_count(&plan, systems, 1, &grid) != cudaSuccess) return TRID_BATCH_BAD_SIZE;
    if (trid_allow_shared(of) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    unsigned clusters = (unsigned)trid_clusters(of, blocks, dim3(systems * parts), (size_t)bytes);
    if (clusters == 0) return TRID_BATCH_OK;
    *launched = 1;
    grid.x = (plan.tiles < clusters ? plan.tiles : clusters) * (unsigned)blocks;
    return trid_p_batch_launched(
        trid_launch_cluster(of, grid, blocks, dim3(systems * parts), (size_t)bytes, stream, plan, rows, d, x));
}

#ifndef TRID_P_BATCH_ON_CHIP_CLUSTER
#define TRID_P_BATCH_ON_CHIP_CLUSTER 8192 /* the most rows */
#endif
/* Launches clusters of the shape that n wants, for n from least on; checked solves have none. */
template <int checked, int pivoted, int least, class tb_real, class rows_type>
static int trid_p_batch_launch_clusters(const trid_p_batch_plan &plan, rows_type rows, const tb_real *d, tb_real *x,
                                        cudaStream_t stream, int *launched)
{
    int status = TRID_BATCH_OK;
    if constexpr (!checked) {
        constexpr int is_double = sizeof(tb_real) == 8, fold = is_double ? 1 : 2; /* the same bytes a row of a tile */
        const int n = plan.n;
        if (n <= (pivoted ? 256 : 128) || n > TRID_P_BATCH_ON_CHIP_CLUSTER) return TRID_BATCH_OK;
        /* Blocks of 8 partitions, whose tiles have rows of 256 bytes, are faster up to 256 rows; in double precision up
           to 512, and from 897 to 1024. */
        if constexpr (!pivoted && least <= (is_double ? 1024 : 256))
            if (is_double ? n <= 512 || (n > 896 && n <= 1024) : n <= 256)
                return trid_p_batch_launch_cluster_of<0, tb_real, 16, 32 * fold, 8, 2, 128>(plan, (n + 127) / 128, rows,
                                                                                            d, x, stream, launched);
        if (n <= (is_double ? 4096 : 2048))
            status = trid_p_batch_launch_cluster_of<pivoted, tb_real, 16, 16 * fold, 16, 4, 128>(
                plan, (n + 255) / 256, rows, d, x, stream, launched);
        if (*launched || status) return status;
        /* Fewer blocks have less to tell each other: 16 of a pivoted solve that adds to x do not fit. */
        status = trid_p_batch_launch_cluster_of<pivoted, tb_real, 16, 8 * fold, 32, 4, 128>(plan, (n + 511) / 512, rows,
                                                                                            d, x, stream, launched);
    }
    return status;
}

template <class tb_real, class rows_type>
static int trid_p_batch_launch_interleaved(const trid_p_batch_plan &plan, rows_type rows, const tb_real *d, tb_real *x,
                                           cudaStream_t stream)
{
    constexpr int fold = sizeof(tb_real) == 4 ? 2 : 1;
    int launched = 0, status = trid_p_batch_launch_clusters<0, 0, 1>(plan, rows, d, x, stream, &launched);
    if (launched || status) return status;
    status =
        trid_p_batch_choose<trid_p_batch_shape<4, 128, 1, 4, 0>, trid_p_batch_shape<8, 128, 1, 4, 0>,
                            trid_p_batch_shape<16, 128, 1, 4, 0>, trid_p_batch_shape<8, 32 * fold, 4, 4, 0>,
                            trid_p_batch_shape<16, 32 * fold, 4, 4, 128>, trid_p_batch_shape<16, 32 * fold, 8, 4, 128>,
                            trid_p_batch_shape<16, 16 * fold, 16, 2, 256>, trid_p_batch_shape<16, 8 * fold, 32, 4, 128>,
                            trid_p_batch_shape<16, 4 * fold, 64, 4, 128>>(plan.n, [&](auto shape) {
            typedef decltype(shape) of;
            return trid_p_batch_launch_interleaved_of<0, tb_real, of::k, of::systems, of::parts, of::burst, of::ahead>(
                plan, rows, d, x, stream, &launched);
        });
    return launched || status ? status : trid_p_batch_launch_unpipelined(plan, rows, d, x, stream);
}
