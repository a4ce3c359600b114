/* long.h - a room of trid/batch.h: long systems: chunks, and the reduced systems that they leave.
   MIT licence, see LICENSE. */

/* A system is cut into chunks of m rows, which the 32 lanes of a warp hold, or the partitions of a block, k rows each.
   Of each chunk the first unknown f and the last one z are kept and the others eliminated. The two rows that are left,

       a l + b f + c z = d      l: z of the chunk before          row 2i of the reduced system, i being the chunk
       a f +   z + c g = d      g: f of the next one              row 2i + 1

   are those of a tridiagonal system of 2 n / m rows, in scratch. The same launch solves it, by chunks again where it is
   still too long. Each chunk then is a system by itself, whose first and last rows say what f and z are. So a, b, c, d
   are read twice, and x is written once. Beyond the system's end are identity rows, one of which z may be.

   A row that failed is where it shows: among the rows of a chunk; or in the reduced system, whose row 2i is the chunk's
   first and 2i + 1 its last; else when the chunk is solved, which is asked last. */
template <class tb_real>
struct trid_p_batch_levels {
    trid_p_batch_plan plan;
    unsigned chunks;             /* of a system */
    tb_real *reduced[4];         /* a, b, c, d of the reduced systems; then d is x of it */
    long long row, system;       /* what lies between two rows of it, and between two systems */
    int *worst;                  /* of each system the least row that failed in a chunk, before and after; or null */
    const int *below;            /* of each system the status of its reduced system */
    unsigned long long *largest; /* checked: of each system the bits of the largest error and size */
    tb_real *keep;               /* refined: where the first x goes .. */
    const tb_real *before;       /* .. and where it is, after that */
};

enum { TRID_P_BATCH_NO_ROW_BYTE = 0x7f }; /* as bytes of a row in worst, which make one beyond all others */

/* Notes a bad row of a chunk, met before or after the reduced system is solved. */
TB_D void trid_p_batch_failed(int *worst, long long system, int after, int bad)
{
    if (worst && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[2 * system + after], bad);
}

/* Stores the two rows that a chunk leaves; top was its first row. a, c, d are what trid_lane_reduce left in this
   thread, except in the last row, which couples to f (a) and z (c; in the chunk's last row to g). */
template <class tb_real>
TB_D void trid_p_batch_store_reduced(int k, const trid_p_batch_levels<tb_real> &levels, long long at, int is_first,
                                     int is_last, const tb_real *top, const tb_real *a, const tb_real *c,
                                     const tb_real *d)
{
    if (is_first) { /* row 1 in f and z, put into row 0 */
        levels.reduced[0][at] = top[0];
        levels.reduced[1][at] = top[1] - top[2] * (a[1] - c[1] * a[k - 1]);
        levels.reduced[2][at] = top[2] * (c[1] * c[k - 1]);
        levels.reduced[3][at] = top[3] - top[2] * (d[1] - c[1] * d[k - 1]);
    }
    if (is_last) {
        at += levels.row;
        levels.reduced[0][at] = a[k - 1];
        levels.reduced[1][at] = 1;
        levels.reduced[2][at] = c[k - 1];
        levels.reduced[3][at] = d[k - 1];
    }
}

/* Sets the first row of a chunk aside, and lets f stand for l: x[0] = l. */
template <class tb_real>
TB_D void trid_p_batch_set_aside(int first, tb_real *a, tb_real *b, tb_real *c, tb_real *d, tb_real *top)
{
    top[0] = first > 0 ? a[0] : (tb_real)0;
    top[1] = b[0];
    top[2] = c[0];
    top[3] = d[0];
    a[0] = -1;
    b[0] = 1;
    c[0] = d[0] = 0;
}

/* A warp's chunk of a system. */
struct trid_p_batch_chunk {
    trid_p_batch_tile tile;
    long long system, at; /* its index; where the chunk begins in d and x */
    int chunk, total;     /* rows */
};
/* Returns the chunk of warp `index`. */
TB_D trid_p_batch_chunk trid_p_batch_chunk_of(int k, const trid_p_batch_plan &plan, unsigned chunks, unsigned index)
{
    unsigned system = index / chunks, group = plan.lines.groups == 1 ? 0 : system / plan.per_group;
    trid_p_batch_chunk p = {{group, system - group * plan.per_group, 1}, system, 0, 0, 0};
    p.chunk = (int)(index - system * chunks);
    p.at = group * plan.lines.jump + p.tile.first * plan.lines.stride + 32 * k * p.chunk * plan.lines.step;
    p.total = plan.n - 32 * k * p.chunk;
    if (p.total > 32 * k) p.total = 32 * k;
    return p;
}

/* Fetches the x with which a step of refinement begins, in the lane's rows, and around them. */
template <class tb_real>
TB_D void trid_p_batch_before(int k, const trid_p_batch_levels<tb_real> &levels, const trid_p_batch_chunk &p, int valid,
                              tb_real *x, tb_real *left, tb_real *right, tb_real *shared)
{
    const tb_real *from = levels.before + (p.system * levels.plan.n + 32 * k * p.chunk);
    int lane = trid_warp_lane(), slot[TRID_MOST_ROWS];
    trid_p_batch_fetch<TRID_P_BATCH_CONTIGUOUS>(k, levels.plan, 0, p.total, 0, from, 1, 0, x);
    trid_p_batch_transpose<TRID_P_BATCH_CONTIGUOUS, 1>(k, valid, (tb_real)0, slot, x, shared);
    *left = __shfl_up_sync(TB_FULL_WARP, x[k - 1], 1);
    *right = __shfl_down_sync(TB_FULL_WARP, x[0], 1);
    if (lane == 0) *left = p.chunk > 0 ? from[-1] : (tb_real)0;
    if (lane == 31) *right = valid > k ? from[32 * k] : (tb_real)0;
}

/* Blocks a multiprocessor, as TRID_P_BATCH_RESIDENT: with k = 16 that many do without local memory. */
#ifndef TRID_P_BATCH_CHUNKS_RESIDENT
#define TRID_P_BATCH_CHUNKS_RESIDENT(tb_real, path, checked)                                                           \
    ((checked) ? 1 : (path) == TRID_P_BATCH_STRIDED ? 4 : sizeof(tb_real) == 4 ? 5 : 6)
#endif

/* Reduces a chunk a warp; systems lie as for trid_p_batch_warps. With checked and levels.before, the right-hand side is
   the residual of that x. */
template <class tb_real, int k, int path, int checked, class rows_type>
TRID_P_BATCH_BOUNDS(32 * TRID_P_BATCH_WARPS(tb_real, checked), TRID_P_BATCH_CHUNKS_RESIDENT(tb_real, path, checked))
TRID_KERNEL void trid_p_batch_chunks_reduce(trid_p_batch_levels<tb_real> levels, rows_type rows, const tb_real *d)
{
    const int len = TRID_P_BATCH_LEN(tb_real, k);
    const int warps = TRID_P_BATCH_WARPS(tb_real, checked);
    __shared__ tb_real buffer[warps][len + 32];
    const trid_p_batch_plan &plan = levels.plan;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, slot[k];
    unsigned index = blockIdx.x * warps + (unsigned)warp;
    if (index >= plan.tiles) return;
    trid_p_batch_chunk p = trid_p_batch_chunk_of(k, plan, levels.chunks, index);
    int first = k * (32 * p.chunk + lane), valid = plan.n - first;
    tb_real ra[k], rb[k], rc[k], rd[k], top[4] = {0, 0, 0, 0}, known[2], *shared = buffer[warp];
    trid_p_batch_ask_known(k, rows, p.system, first, valid, known);
    trid_p_batch_warp_matrix<path>(k, plan, p.tile, p.total, p.chunk, valid, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<path>(k, plan, 0, p.total, 0, d + p.at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_transpose_matrix<path, 1>(k, trid_p_batch_rows_of(rows), valid, slot, ra, rb, rc, shared, 0);
    trid_p_batch_transpose<path, 1>(k, valid, (tb_real)0, slot, rd, shared);
    trid_p_batch_put_known(k, rows, first, valid, known, ra, rb, rc, rd);
    if (checked && levels.before) {
        tb_real rx[k], left, right, error = 0, size = 0;
        trid_p_batch_before(k, levels, p, valid, rx, &left, &right, shared);
        trid_p_batch_defect(k, first, plan.n, valid, ra, rb, rc, rd, rx, left, right, rd, &error, &size);
    }
    if (valid <= k) rc[k - 1] = 0; /* nothing is below */
    if (lane == 0) trid_p_batch_set_aside(first, ra, rb, rc, rd, top);
    int status = trid_lane_reduce(k, ra, rb, rc, rd);
    tb_real first_a = __shfl_down_sync(TB_FULL_WARP, ra[0], 1), first_c = __shfl_down_sync(TB_FULL_WARP, rc[0], 1);
    tb_real first_d = __shfl_down_sync(TB_FULL_WARP, rd[0], 1);
    if (lane == 31) first_a = 0, first_c = -1, first_d = 0; /* stays coupled to g */
    int bad = trid_lane_link(&ra[k - 1], &rc[k - 1], &rd[k - 1], first_a, first_c, first_d);
    bad |= trid_warp_pcr_open(32, &ra[k - 1], &rc[k - 1], &rd[k - 1]);
    trid_p_batch_store_reduced(k, levels, p.system * levels.system + 2 * p.chunk * levels.row, lane == 0, lane == 31,
                               top, ra, rc, rd);
    /* What may have begun elsewhere counts as the chunk's last row. */
    int row = status ? first + status : bad & 1 ? first + k : bad ? 32 * k * (p.chunk + 1) : 0;
    trid_p_batch_failed(levels.worst, p.system, 0, trid_p_batch_row(row, plan.n));
}

/* Solves for a chunk's unknowns, f and z being known. */
template <class tb_real, int k, int path, int checked, class rows_type>
TRID_P_BATCH_BOUNDS(32 * TRID_P_BATCH_WARPS(tb_real, checked), TRID_P_BATCH_CHUNKS_RESIDENT(tb_real, path, checked))
TRID_KERNEL
    void trid_p_batch_chunks_expand(trid_p_batch_levels<tb_real> levels, rows_type rows, const tb_real *d, tb_real *x)
{
    const int banks = TRID_P_BATCH_BANKS(tb_real), len = TRID_P_BATCH_LEN(tb_real, k);
    const int warps = TRID_P_BATCH_WARPS(tb_real, checked), own_len = checked ? len + 32 : 0;
    __shared__ tb_real buffer[warps][(checked ? 5 : 1) * (len + 32)];
    const trid_p_batch_plan &plan = levels.plan;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, slot[k];
    unsigned index = blockIdx.x * warps + (unsigned)warp;
    if (index >= plan.tiles) return;
    trid_p_batch_chunk p = trid_p_batch_chunk_of(k, plan, levels.chunks, index);
    int first = k * (32 * p.chunk + lane), valid = plan.n - first;
    const tb_real *known = levels.reduced[3] + (p.system * levels.system + 2 * p.chunk * levels.row);
    tb_real ra[k], rb[k], rc[k], rd[k], end = lane == 0 ? known[0] : lane == 31 ? known[levels.row] : (tb_real)0;
    tb_real *shared = buffer[warp], left, right, of_system[2];
    trid_p_batch_ask_known(k, rows, p.system, first, valid, of_system);
    trid_p_batch_warp_matrix<path>(k, plan, p.tile, p.total, p.chunk, valid, trid_p_batch_rows_of(rows), ra, rb, rc);
    trid_p_batch_fetch<path>(k, plan, 0, p.total, 0, d + p.at, plan.lines.step, plan.lines.stride, rd);
    trid_p_batch_transpose_matrix<path, 1>(k, trid_p_batch_rows_of(rows), valid, slot, ra, rb, rc, shared, own_len);
    trid_p_batch_transpose<path, 1>(k, valid, (tb_real)0, slot, rd, shared + 3 * own_len);
    trid_p_batch_put_known(k, rows, first, valid, of_system, ra, rb, rc, rd);
    if (checked && levels.before) {
        tb_real rx[k], error = 0, size = 0;
        trid_p_batch_before(k, levels, p, valid, rx, &left, &right, shared + 4 * own_len);
        trid_p_batch_defect(k, first, plan.n, valid, ra, rb, rc, rd, rx, left, right, rd, &error, &size);
    }
    if (lane == 0) trid_p_batch_know(0, end, ra, rb, rc, rd);
    if (lane == 31) trid_p_batch_know(k - 1, end, ra, rb, rc, rd);
    int row = trid_warp_hybrid(k, 32, 32 * k, ra, rb, rc, rd);
    if (row) row += 32 * k * p.chunk;
    trid_p_batch_failed(levels.worst, p.system, 1, trid_p_batch_row(row, plan.n));
    trid_p_batch_plan to = plan;
    tb_real *at = x + p.at;
    if (checked) {
        if (levels.before) {
            const tb_real *was = shared + 4 * own_len + trid_p_batch_column(k, banks);
            TB_UNROLL
            for (int j = 0; j < k; j++)
                if (j < valid) rd[j] += was[j];
        } else {
            left = right = 0;
        }
        tb_real around = __shfl_up_sync(TB_FULL_WARP, rd[k - 1], 1);
        if (lane > 0)
            left = around;
        else if (p.chunk > 0)
            left += known[-levels.row];
        around = __shfl_down_sync(TB_FULL_WARP, rd[0], 1);
        if (lane < 31)
            right = around;
        else if (valid > k)
            right += known[2 * levels.row];
        if (levels.keep) { /* only the first x */
            at = levels.keep + (p.system * plan.n + 32 * k * p.chunk);
            to.lines.step = 1;
            to.flags = 0;
        } else if (levels.largest) {
            const tb_real *kept = shared + 3 * own_len + trid_p_batch_column(k, banks);
            tb_real kd[k], rest[k], error = 0, size = 0;
            trid_p_batch_again(k, own_len, trid_p_batch_rows_of(rows), p.system, first, valid, shared, ra, rb, rc);
            TB_UNROLL
            for (int j = 0; j < k; j++) kd[j] = j < valid ? kept[j] : (tb_real)0;
            trid_p_batch_defect(k, first, plan.n, valid, ra, rb, rc, kd, rd, left, right, rest, &error, &size);
            for (int m = 1; m < 32; m *= 2) {
                error = trid_p_batch_larger(error, (tb_real)__shfl_xor_sync(TB_FULL_WARP, error, m));
                size = trid_p_batch_larger(size, (tb_real)__shfl_xor_sync(TB_FULL_WARP, size, m));
            }
            if (lane == 0) {
                atomicMax(&levels.largest[2 * p.system], trid_p_batch_bits(error));
                atomicMax(&levels.largest[2 * p.system + 1], trid_p_batch_bits(size));
            }
        }
    }
    trid_p_batch_store<path, 1>(k, to, p.total, valid, slot, rd, at, shared);
}

/* Interleaved systems: a chunk is `parts` partitions of k rows, of `systems` systems. Fetches the x with which a step
   of refinement begins. */
template <class tb_real>
TB_D void trid_p_batch_interleaved_before(int k, const trid_p_batch_levels<tb_real> &levels,
                                          const trid_p_batch_place &p, int first, tb_real *x, tb_real *left,
                                          tb_real *right)
{
    long long pitch = levels.plan.lines.systems * levels.plan.lines.groups;
    const tb_real *from = levels.before + (first * pitch + p.system);
    trid_p_batch_gather(k, 0, p.valid, from, pitch, x);
    *left = first > 0 && p.valid > 0 ? from[-pitch] : (tb_real)0;
    *right = p.valid > k ? from[k * pitch] : (tb_real)0;
}
/* Reduces a chunk of interleaved systems a block. */
template <class tb_real, int k, int systems, int parts, int checked, class rows_type>
TRID_P_BATCH_BOUNDS(systems *parts, trid_p_batch_resident<tb_real, k, systems * parts>)
TRID_KERNEL void trid_p_batch_interleaved_reduce(trid_p_batch_levels<tb_real> levels, rows_type rows, const tb_real *d)
{
    enum { span = TRID_P_BATCH_SPAN(tb_real, systems, parts) };
    __shared__ tb_real shared[6 * span];
    __shared__ int worst[systems];
    const trid_p_batch_plan &plan = levels.plan;
    int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems,
        chunk = (int)(blockIdx.x / plan.tiles);
    int begin = k * parts * chunk, first = begin + k * part;
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x % plan.tiles, systems, line, first);
    tb_real a[k], b[k], c[k], r[k], top[4] = {0, 0, 0, 0}, known[2], unused;
    trid_p_batch_ask_known(k, rows, p.system, first, p.valid, known);
    trid_p_batch_own_rows(k, plan, p, first, trid_p_batch_rows_of(rows), a, b, c);
    trid_p_batch_gather(k, 0, p.valid, d + p.at, plan.lines.step, r);
    trid_p_batch_put_known(k, rows, first, p.valid, known, a, b, c, r);
    if (checked && levels.before) {
        tb_real x[k], left, right, error = 0, size = 0;
        trid_p_batch_interleaved_before(k, levels, p, first, x, &left, &right);
        trid_p_batch_defect(k, first, plan.n, p.valid, a, b, c, r, x, left, right, r, &error, &size);
    }
    if (p.valid <= 1) c[0] = 0;
    if (part == 0) {
        worst[line] = TRID_P_BATCH_NO_ROW;
        trid_p_batch_set_aside(first, a, b, c, r, top);
    }
    const trid_p_batch_post<tb_real> post = {shared, worst};
    const int bad =
        trid_p_batch_sweep<tb_real, k, systems, parts, 1>(plan.n - begin, p.valid, a, b, c, r, post, &unused);
    if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
    __syncthreads();
    if (!p.in_batch) return;
    trid_p_batch_store_reduced(k, levels, p.system * levels.system + 2 * chunk * levels.row, part == 0,
                               part == parts - 1, top, a, c, r);
    if (part == 0 && worst[line] != TRID_P_BATCH_NO_ROW)
        trid_p_batch_failed(levels.worst, p.system, 0, trid_p_batch_row(begin + worst[line], plan.n));
}
/* Solves for the unknowns of a chunk of interleaved systems. */
template <class tb_real, int k, int systems, int parts, int checked, class rows_type>
TRID_P_BATCH_BOUNDS(systems *parts, checked ? 1 : trid_p_batch_resident<tb_real, k, systems * parts>)
TRID_KERNEL void trid_p_batch_interleaved_expand(trid_p_batch_levels<tb_real> levels, rows_type rows, const tb_real *d,
                                                 tb_real *x)
{
    enum { banks = TRID_P_BATCH_BANKS(tb_real), span = TRID_P_BATCH_SPAN(tb_real, systems, parts) };
    __shared__ tb_real shared[6 * span];
    __shared__ int worst[systems];
    const trid_p_batch_plan &plan = levels.plan;
    int thread = (int)threadIdx.x, line = thread % systems, part = thread / systems,
        chunk = (int)(blockIdx.x / plan.tiles);
    int begin = k * parts * chunk, first = begin + k * part;
    long long step = plan.lines.step;
    trid_p_batch_place p = trid_p_batch_place_of(plan, blockIdx.x % plan.tiles, systems, line, first);
    const tb_real *known = levels.reduced[3] + (p.system * levels.system + 2 * chunk * levels.row);
    tb_real a[k], b[k], c[k], r[k], of_system[2], left, before_left = 0, before_right = 0;
    trid_p_batch_ask_known(k, rows, p.system, first, p.valid, of_system);
    trid_p_batch_own_rows(k, plan, p, first, trid_p_batch_rows_of(rows), a, b, c);
    trid_p_batch_gather(k, 0, p.valid, d + p.at, step, r);
    trid_p_batch_put_known(k, rows, first, p.valid, of_system, a, b, c, r);
    if (checked && levels.before) {
        tb_real was[k], error = 0, size = 0;
        trid_p_batch_interleaved_before(k, levels, p, first, was, &before_left, &before_right);
        trid_p_batch_defect(k, first, plan.n, p.valid, a, b, c, r, was, before_left, before_right, r, &error, &size);
    }
    if (part == 0) {
        worst[line] = TRID_P_BATCH_NO_ROW;
        trid_p_batch_know(0, p.in_batch ? known[0] : (tb_real)0, a, b, c, r);
    }
    if (part == parts - 1) trid_p_batch_know(k - 1, p.in_batch ? known[levels.row] : (tb_real)0, a, b, c, r);
    const trid_p_batch_post<tb_real> post = {shared, worst};
    const int bad = trid_p_batch_sweep<tb_real, k, systems, parts>(plan.n - begin, p.valid, a, b, c, r, post, &left);
    if (bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[line], bad);
    tb_real *to = x + p.at;
    int add = plan.flags & TRID_BATCH_ADD;
    if (checked) {
        tb_real right = 0;
        if (part == 0 && p.in_batch && chunk > 0) left = known[-levels.row];
        shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread)] = r[0];
        __syncthreads();
        if (part < parts - 1)
            right = shared[TRID_INTERLEAVED_SLOT(systems, parts, banks, thread + systems)];
        else if (p.valid > k)
            right = known[2 * levels.row];
        if (levels.before) {
            trid_p_batch_interleaved_before(k, levels, p, first, a, &before_left, &before_right);
            left += before_left;
            right += before_right;
            TB_UNROLL
            for (int j = 0; j < k; j++) r[j] += a[j];
        }
        if (levels.keep) {
            step = plan.lines.systems * plan.lines.groups;
            to = levels.keep + (first * step + p.system);
            add = 0;
        } else if (levels.largest) {
            tb_real kd[k], rest[k], error = 0, size = 0;
            trid_p_batch_own_rows(k, plan, p, first, trid_p_batch_rows_of(rows), a, b, c);
            trid_p_batch_gather(k, 0, p.valid, d + p.at, step, kd);
            trid_p_batch_defect(k, first, plan.n, p.valid, a, b, c, kd, r, left, right, rest, &error, &size);
            if (p.valid > 0) {
                atomicMax(&levels.largest[2 * p.system], trid_p_batch_bits(error));
                atomicMax(&levels.largest[2 * p.system + 1], trid_p_batch_bits(size));
            }
        }
    }
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        if (j < p.valid) *to = add ? *to + r[j] : r[j];
        to += step;
    }
    __syncthreads();
    if (part == 0 && p.in_batch && worst[line] != TRID_P_BATCH_NO_ROW)
        trid_p_batch_failed(levels.worst, p.system, 1, trid_p_batch_row(begin + worst[line], plan.n));
}

/* Reports on each system, a thread for each; chunks are of `rows` rows. */
template <class tb_real, int checked>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_told(trid_p_batch_plan plan, int rows, const int *worst, const int *below,
                                   const unsigned long long *largest)
{
    long long system = 256ll * blockIdx.x + threadIdx.x;
    if (system >= plan.lines.systems * plan.lines.groups) return;
    if (plan.repair && plan.report.status[system] == 0) return;
    int row = worst[2 * system], left = below ? below[system] : 0;
    /* A chunk that failed spoils its two rows of the reduced system, and none above. */
    if (left > 0 && (left - 1) / 2 < (row - 1) / rows)
        row = trid_p_batch_row((left - 1) / 2 * rows + (left % 2 ? 1 : rows), plan.n);
    if (row > plan.n) row = worst[2 * system + 1];
    tb_real error = checked ? trid_p_batch_number<tb_real>((unsigned)largest[2 * system]) : (tb_real)0;
    tb_real size = checked ? trid_p_batch_number<tb_real>((unsigned)largest[2 * system + 1]) : (tb_real)0;
    trid_p_batch_tell(plan, system, row > plan.n ? (int)TRID_P_BATCH_NO_ROW : row, checked, error, size);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* a mask as in TRID_BATCH_ONLY_SHORT: the rows of reduced systems follow one another */
enum { TRID_P_BATCH_ONLY_CONTIGUOUS_ROWS = 8 };

/* Solves reduced systems that a block or a cluster holds: rows in scratch, in place. */
template <int only, class tb_real>
static int trid_p_batch_launch_reduced(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &rows,
                                       tb_real *d, cudaStream_t stream)
{
    const tb_real *right = d;
    if constexpr (!(only & TRID_BATCH_ONLY_INTERLEAVED))
        if (!trid_p_batch_is_interleaved(plan))
            return trid_p_batch_launch_block<tb_real, 0, TRID_P_BATCH_CONTIGUOUS>(plan, rows, right, d, stream);
    int status = TRID_BATCH_BAD_SIZE;
    if constexpr (!(only & TRID_BATCH_ONLY_CONTIGUOUS))
        status = trid_p_batch_launch_interleaved<trid_p_batch_how::reduced>(plan, rows, right, d, stream);
    return status;
}

/* Launches one phase for contiguous systems. */
template <class tb_real, int checked, int path, class rows_type>
static cudaError_t trid_p_batch_launch_chunks(const trid_p_batch_levels<tb_real> &levels, int expand,
                                              const rows_type &rows, const tb_real *d, tb_real *x, cudaStream_t stream)
{
    enum { k = TRID_P_BATCH_CHUNK_ROWS((int)sizeof(tb_real), checked), warps = TRID_P_BATCH_WARPS(tb_real, checked) };
    dim3 grid((levels.plan.tiles + warps - 1) / warps), block(32 * warps);
    return expand ? trid_launch(trid_p_batch_chunks_expand<tb_real, k, path, checked, rows_type>, grid, block, 0,
                                stream, levels, rows, d, x)
                  : trid_launch(trid_p_batch_chunks_reduce<tb_real, k, path, checked, rows_type>, grid, block, 0,
                                stream, levels, rows, d);
}
/* Launches one phase, reduce or expand, for either layout. */
template <class tb_real, int checked, int only, class rows_type>
static cudaError_t trid_p_batch_launch_phase(const trid_p_batch_levels<tb_real> &levels, int expand,
                                             const rows_type &rows, const tb_real *d, tb_real *x, cudaStream_t stream)
{
    enum {
        k = TRID_P_BATCH_CHUNK_ROWS_INTERLEAVED((int)sizeof(tb_real)),
        systems = TRID_P_BATCH_CHUNK_SYSTEMS((int)sizeof(tb_real)),
        parts = TRID_P_BATCH_CHUNK_PARTS
    };
    const trid_p_batch_plan &plan = levels.plan;
    cudaError_t error = cudaErrorInvalidConfiguration;
    if (trid_p_batch_is_interleaved(plan)) {
        if constexpr (!(only & TRID_BATCH_ONLY_CONTIGUOUS)) {
            dim3 grid(plan.tiles * levels.chunks), block(systems * parts);
            error = expand
                        ? trid_launch(trid_p_batch_interleaved_expand<tb_real, k, systems, parts, checked, rows_type>,
                                      grid, block, 0, stream, levels, rows, d, x)
                        : trid_launch(trid_p_batch_interleaved_reduce<tb_real, k, systems, parts, checked, rows_type>,
                                      grid, block, 0, stream, levels, rows, d);
        }
    } else if constexpr (!(only & TRID_BATCH_ONLY_INTERLEAVED)) {
        if constexpr (!(only & TRID_P_BATCH_ONLY_CONTIGUOUS_ROWS))
            if (!trid_p_batch_is_contiguous(plan, trid_p_batch_rows_of(rows)))
                return trid_p_batch_launch_chunks<tb_real, checked, TRID_P_BATCH_STRIDED>(levels, expand, rows, d, x,
                                                                                          stream);
        error =
            trid_p_batch_launch_chunks<tb_real, checked, TRID_P_BATCH_CONTIGUOUS>(levels, expand, rows, d, x, stream);
    }
    return error;
}

/* Returns the plan of the reduced systems, which lie in scratch, and what the chunks know of them in *levels. */
template <class tb_real>
static trid_p_batch_plan trid_p_batch_reduced_plan(const trid_p_batch_plan &plan,
                                                   const trid_p_batch_level_layout &layout,
                                                   trid_p_batch_levels<tb_real> *levels)
{
    const int interleaved = trid_p_batch_is_interleaved(plan), reports = trid_p_batch_reports(plan);
    const long long systems = plan.lines.systems * plan.lines.groups, n = 2 * layout.chunks;
    const trid_batch_report none = {0, 0, 0, 0};
    char *scratch = (char *)plan.scratch;
    trid_p_batch_plan reduced = plan;
    reduced.lines = interleaved ? trid_lines_interleaved(n, systems) : trid_lines_contiguous(n, systems);
    reduced.n = (int)n;
    reduced.flags = reduced.repair = 0;
    reduced.scratch = scratch + layout.end;
    reduced.report = none;
    if (reports) reduced.report.status = (int *)(scratch + layout.below);
    levels->plan = plan;
    if (!interleaved) levels->plan.tiles *= (unsigned)layout.chunks;
    levels->chunks = (unsigned)layout.chunks;
    for (int k = 0; k < 4; k++) levels->reduced[k] = (tb_real *)(scratch + layout.reduced) + k * n * systems;
    levels->row = reduced.lines.step;
    levels->system = reduced.lines.stride;
    levels->worst = reports ? (int *)(scratch + layout.worst) : (int *)0;
    levels->below = reduced.report.status;
    levels->largest = 0;
    return reduced;
}

/* Solves long systems, in clusters of blocks where these hold them, else by chunks, and the reduced systems that these
   leave in the same way. least: no system has fewer rows; only: what is compiled. */
template <class tb_real, int checked, int least, int only, class rows_type>
static int trid_p_batch_launch_levels(trid_p_batch_plan plan, const rows_type &rows, const tb_real *d, tb_real *x,
                                      cudaStream_t stream)
{
    const int interleaved = trid_p_batch_is_interleaved(plan), reports = trid_p_batch_reports(plan);
    if constexpr (!checked && !(only & TRID_BATCH_ONLY_CONTIGUOUS)) {
        int status = TRID_P_BATCH_NOT_LAUNCHED;
        if (interleaved) /* clusters hold more than a block, where there are any */
            status = trid_p_batch_launch_interleaved<trid_p_batch_how::beyond, least>(plan, rows, d, x, stream);
        if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
    }
    if (trid_p_batch_lacks(plan)) return TRID_BATCH_BAD_ARGUMENT;
    const int refined = checked && (plan.flags & TRID_BATCH_REFINED);
    const int rows_a_chunk = TRID_P_BATCH_CHUNK((int)sizeof(tb_real), checked, interleaved);
    const long long systems = plan.lines.systems * plan.lines.groups;
    const trid_p_batch_level_layout layout =
        trid_p_batch_level_layout_of(plan.n, systems, rows_a_chunk, (int)sizeof(tb_real), refined);
    char *scratch = (char *)plan.scratch;
    dim3 grid;
    if (trid_p_batch_count(&plan, interleaved ? TRID_P_BATCH_CHUNK_SYSTEMS((int)sizeof(tb_real)) : 1, 1, &grid) !=
            cudaSuccess ||
        plan.tiles > 0x7fffffffll / layout.chunks)
        return TRID_BATCH_BAD_SIZE;
    trid_p_batch_levels<tb_real> levels;
    const trid_p_batch_plan reduced = trid_p_batch_reduced_plan(plan, layout, &levels);
    const trid_p_batch_arrays<tb_real> left = {levels.reduced[0],  levels.reduced[1],    levels.reduced[2],
                                               reduced.lines.step, reduced.lines.stride, reduced.lines.jump};
    tb_real *before = (tb_real *)(scratch + layout.before), *right = levels.reduced[3];
    if (reports && (cudaMemsetAsync(scratch + layout.largest, 0, (size_t)(16 * systems), stream) != cudaSuccess ||
                    cudaMemsetAsync(scratch + layout.worst, TRID_P_BATCH_NO_ROW_BYTE, (size_t)(8 * systems), stream) !=
                        cudaSuccess))
        return TRID_BATCH_LAUNCH_FAILED;
    for (int pass = 0; pass <= refined; pass++) {
        levels.before = pass > 0 ? before : (tb_real *)0;
        levels.keep = pass < refined ? before : (tb_real *)0;
        if (reports && checked && pass == refined) levels.largest = (unsigned long long *)(scratch + layout.largest);
        if (trid_p_batch_launch_phase<tb_real, checked, only>(levels, 0, rows, d, x, stream) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
        int status = TRID_BATCH_OK;
        if (trid_p_batch_is_long(reduced.lines, sizeof(tb_real), 0))
            status = trid_p_batch_launch_levels<tb_real, 0, TRID_P_BATCH_ON_CHIP_INTERLEAVED + 1,
                                                only | TRID_P_BATCH_ONLY_CONTIGUOUS_ROWS>(
                reduced, left, (const tb_real *)right, right, stream);
        else
            status = trid_p_batch_launch_reduced<only>(reduced, left, right, stream);
        if (status) return status;
        if (trid_p_batch_launch_phase<tb_real, checked, only>(levels, 1, rows, d, x, stream) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
    }
    if (!reports) return TRID_BATCH_OK;
    return trid_p_batch_launched(trid_launch(trid_p_batch_told<tb_real, checked>,
                                             dim3((unsigned)((systems + 255) / 256)), dim3(256), 0, stream, levels.plan,
                                             rows_a_chunk, levels.worst, levels.below, levels.largest));
}
