/* periodic.h - a room of trid/batch.h: periodic systems that no block holds.
   MIT licence, see LICENSE. */

/* The n-1 rows before the last one are solved for each right-hand side and for the last column, and put together.
   plan.lines says how x lies, `other` how the column lies and, with ADD, what is to be added. */
template <class tb_real>
struct trid_p_batch_periodic {
    trid_p_batch_plan plan;
    trid_p_batch_arrays<tb_real> rows;
    trid_p_batch_more<tb_real> more;
    trid_lines other;
    tb_real *column, *known; /* of each system the last unknown */
    const int *status;       /* of the other rows; or null */
};
/* Makes the last column of each system a right-hand side. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_periodic_column(trid_p_batch_periodic<tb_real> ring)
{
    long long system = blockIdx.x * 256ll + threadIdx.x, group = system / ring.plan.lines.systems;
    if (group >= ring.plan.lines.groups) return;
    system -= group * ring.plan.lines.systems;
    long long from = group * ring.rows.jump + system * ring.rows.stride;
    tb_real *z = ring.column + (group * ring.other.jump + system * ring.other.stride);
    z[0] = -ring.more.top[from];
    z[(ring.plan.n - 2) * ring.other.step] = -ring.rows.c[from + (ring.plan.n - 2) * ring.rows.step];
}
/* Solves for the last unknown of each system; y solves the other rows without it. */
/* Returns element i, in about the order of memory. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_periodic_last(trid_p_batch_periodic<tb_real> ring, int tells, const tb_real *d,
                                            trid_lines lines, const tb_real *y)
{
    const long long index = blockIdx.x * 256ll + threadIdx.x, group = index / ring.plan.lines.systems;
    if (group >= ring.plan.lines.groups) return;
    const long long n = ring.plan.n, system = index - group * ring.plan.lines.systems;
    const long long from = group * ring.rows.jump + system * ring.rows.stride;
    const tb_real *z = ring.column + (group * ring.other.jump + system * ring.other.stride);
    const tb_real low = ring.rows.a[from + (n - 1) * ring.rows.step],
                  mid = ring.rows.b[from + (n - 1) * ring.rows.step];
    const tb_real bottom = ring.more.bottom[from];
    tb_real last = trid_rcp_refined(mid + low * z[(n - 2) * ring.other.step] + bottom * z[0]);
    y += group * lines.jump + system * lines.stride;
    tb_real right = d[group * ring.plan.lines.jump + system * ring.plan.lines.stride + (n - 1) * ring.plan.lines.step];
    ring.known[index] = last * (right - low * y[(n - 2) * lines.step] - bottom * y[0]);
    if (tells) {
        int bad = ring.status[index] ? ring.status[index] : trid_bad_pivot(last) ? (int)n : TRID_P_BATCH_NO_ROW;
        trid_p_batch_tell(ring.plan, index, bad, 0, (tb_real)0, (tb_real)0);
    }
}

/* An element of an array: row j of system s of group g. */
struct trid_p_batch_element {
    long long j, s, g;
};
TB_D trid_p_batch_element trid_p_batch_element_of(const trid_lines &lines, long long i)
{
    const int across = (lines.step < 0 ? -lines.step : lines.step) > (lines.stride < 0 ? -lines.stride : lines.stride);
    const long long within = across ? lines.systems : lines.n, beyond = across ? lines.n : lines.systems;
    const long long rest = i / within, g = rest / beyond, inner_index = i - rest * within,
                    outer_index = rest - g * beyond;
    trid_p_batch_element e = {across ? outer_index : inner_index, across ? inner_index : outer_index, g};
    return e;
}
TB_D long long trid_p_batch_element_at(const trid_lines &lines, const trid_p_batch_element &e)
{
    return e.j * lines.step + e.s * lines.stride + e.g * lines.jump;
}
/* Puts x together: y + known * column. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_periodic_close(trid_p_batch_periodic<tb_real> ring, trid_lines lines, const tb_real *y,
                                             tb_real *x)
{
    const trid_lines &to = ring.plan.lines;
    const long long all = to.n * to.systems * to.groups, advance = (long long)gridDim.x * 256;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < all; i += advance) {
        const trid_p_batch_element e = trid_p_batch_element_of(to, i);
        const long long at = trid_p_batch_element_at(to, e);
        tb_real known = ring.known[e.g * to.systems + e.s], v = known;
        if (e.j < to.n - 1)
            v = y[trid_p_batch_element_at(lines, e)] + known * ring.column[trid_p_batch_element_at(ring.other, e)];
        x[at] = ring.plan.flags & TRID_BATCH_ADD ? x[at] + v : v;
    }
}

/* Copies from array to array. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_duplicate(trid_lines lines, const tb_real *from, trid_lines place, tb_real *to)
{
    const long long all = lines.n * lines.systems * lines.groups, advance = (long long)gridDim.x * 256;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < all; i += advance) {
        const trid_p_batch_element e = trid_p_batch_element_of(lines, i);
        to[trid_p_batch_element_at(place, e)] = from[trid_p_batch_element_at(lines, e)];
    }
}

/* Returns blocks of 256 threads for so many elements, several a thread where these are many. */
static inline dim3 trid_p_batch_grid(long long elements)
{
    long long blocks = (elements + 255) / 256;
    return dim3((unsigned)(blocks < 65536 ? blocks : 65536));
}

/* Solves for every right-hand side. */
template <int only, class tb_real>
static int trid_p_batch_launch_periodic(const trid_p_batch_plan &plan, const trid_p_batch_arrays<tb_real> &rows,
                                        const trid_p_batch_more<tb_real> &more, const tb_real *d, tb_real *x,
                                        cudaStream_t stream)
{
    if (!plan.scratch) return TRID_BATCH_BAD_SCRATCH;
    const trid_p_batch_report none = {0, 0, 0, 0};
    const long long systems = plan.lines.systems * plan.lines.groups;
    const int add = plan.flags & TRID_BATCH_ADD, interleaved = trid_p_batch_is_interleaved(plan);
    const trid_p_batch_periodic_layout layout = trid_p_batch_periodic_layout_of(plan.n, systems, sizeof(tb_real), add);
    char *scratch = (char *)plan.scratch;
    const dim3 grid((unsigned)((systems + 255) / 256)), block(256);
    if (systems > 0x7fffffffll) return TRID_BATCH_BAD_SIZE;
    trid_p_batch_periodic<tb_real> ring = {
        plan, rows, more, plan.lines, (tb_real *)(scratch + layout.column), (tb_real *)(scratch + layout.known), 0};
    ring.other.step = interleaved ? systems : 1;
    ring.other.stride = interleaved ? 1 : plan.n;
    ring.other.jump = ring.other.stride * plan.lines.systems;
    trid_p_batch_plan core = plan;
    core.lines.n = core.n = plan.n - 1;
    core.flags = 0;
    core.report = none;
    core.scratch = scratch + layout.end;
    trid_p_batch_plan column = core;
    column.lines = ring.other;
    column.lines.n = core.n;
    if (trid_p_batch_reports(plan)) ring.status = column.report.status = (int *)(scratch + layout.status);
    if (cudaMemsetAsync(ring.column, 0, (size_t)(plan.n * systems) * sizeof(tb_real), stream) != cudaSuccess ||
        trid_launch(trid_p_batch_periodic_column<tb_real>, grid, block, 0, stream, ring) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    int status = trid_p_batch_launch_levels<tb_real, 0, TRID_P_BATCH_ON_CHIP_INTERLEAVED, only>(
        column, rows, (const tb_real *)ring.column, ring.column, stream);
    if (status) return status;
    for (long long side = 0; side < more.sides; side++, d += more.pitch, x += more.pitch) {
        tb_real *y = add ? (tb_real *)(scratch + layout.added) : x;
        const trid_lines lines = add ? ring.other : plan.lines;
        if (add) { /* the levels take right-hand side and x that lie alike */
            if (trid_launch(trid_p_batch_duplicate<tb_real>, trid_p_batch_grid(plan.n * systems), block, 0, stream,
                            plan.lines, d, ring.other, y) != cudaSuccess)
                return TRID_BATCH_LAUNCH_FAILED;
            core.lines = column.lines;
        }
        status = trid_p_batch_launch_levels<tb_real, 0, TRID_P_BATCH_ON_CHIP_INTERLEAVED, only>(
            core, rows, add ? (const tb_real *)y : d, y, stream);
        if (status) return status;
        int tells = side == 0 && trid_p_batch_reports(plan);
        if (trid_launch(trid_p_batch_periodic_last<tb_real>, grid, block, 0, stream, ring, tells, d, lines,
                        (const tb_real *)y) != cudaSuccess ||
            trid_launch(trid_p_batch_periodic_close<tb_real>, trid_p_batch_grid(plan.n * systems), block, 0, stream,
                        ring, lines, (const tb_real *)y, x) != cudaSuccess)
            return TRID_BATCH_LAUNCH_FAILED;
    }
    return TRID_BATCH_OK;
}
