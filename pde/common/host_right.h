/* host_right.h - a room of adi2d.h and adi3d.h, read once for each model and precision: the data of a worker on
   the host, and right-hand sides.
   MIT licence, see LICENSE. */

#define fd_p_host FD_OF(p_host)
#define fd_p_host_lay_out FD_OF(p_host_lay_out)
#define fd_p_host_shape FD_OF(p_host_shape)
#define fd_p_host_meet FD_OF(p_host_meet)
#define fd_p_host_least FD_OF(p_host_least)
#define fd_p_host_share FD_OF(p_host_share)
#define fd_p_host_take FD_OF(p_host_take)
#define fd_p_host_cell FD_OF(p_host_cell)
#define fd_p_host_row FD_OF(p_host_row)
#define fd_p_host_fetch FD_OF(p_host_fetch)
#define fd_p_host_whole FD_OF(p_host_whole)
#define fd_p_host_fetch_to_write FD_OF(p_host_fetch_to_write)
#define fd_p_host_slopes FD_OF(p_host_slopes)
#define fd_p_host_take_row FD_OF(p_host_take_row)
#define fd_p_host_own FD_OF(p_host_own)
#define fd_p_host_mixed FD_OF(p_host_mixed)
#define fd_p_host_slopes_of FD_OF(p_host_slopes_of)
#define fd_p_host_apply FD_OF(p_host_apply)
#define fd_p_host_degenerate FD_OF(p_host_degenerate)
#define fd_p_host_faces FD_OF(p_host_faces)
#define fd_p_host_change FD_OF(p_host_change)
#define fd_p_host_right FD_OF(p_host_right)

/* The number of lines that the host interleaves. */
#define FD_P_HOST_LANES (FD_FACTORS > 2 ? (int)(512 / sizeof(tb_real)) : (int)FD_P_LANES)

/* The engine of two and three factors. A grid of two factors is treated as a single plane of three, except that its
   last axis is y and that all work along z is omitted. With three factors a worker takes a share of the planes in the
   sweep along x and y, and a share of the rows of all planes in the sweep along z. With two factors it takes a share of
   the groups of rows in the sweep along x, and of the groups of columns in the sweep along y. Workers wait for each
   other after each sweep. Lines are solved FD_P_HOST_LANES at a time, interleaved, so that the compiler vectorises:
   along x from a transposed tile, along y and z in place. With three factors a plane's right-hand sides are computed,
   and its lines solved along x and then along y, while the plane is in the cache. */

/* The data of a worker. Grids have rows of `pitch` elements and planes of `plane` elements. Elements without a point,
   also those before and after the grid, are zero, so that neighbours along x are read without tests. */
typedef struct {
    fd_p_tables t;
    const fd_batch *batch;
    int which, n[3], worker, workers;
    void (*meet)(void *context);
    void *context;
    int *slot;                 /* each worker's index (fd_p_host_least) */
    fd_p_findings *findings;   /* each worker's findings, while all visit the problem's points */
    size_t pitch, plane, wide; /* wide: elements between rows in the arrays `rows` and `slopes` */
    tb_real *spread;           /* the cells along x, number by number, pitch apart, and fd_p_first's two weights */
    tb_real *u, *z, *d;        /* values, a first stage's values, right-hand sides and differences */
    tb_real *extra;            /* the exercise multiplier, or null */
    tb_real *zeros;            /* one for each line that is solved at once */
    tb_real *rows, *slopes;    /* the worker's: right-hand sides; slopes (fd_p_host_slopes_of) */
    tb_real *transposed, *tile, *upper; /* tiles: right-hand sides, solutions and their matrices */
} fd_p_host;

/* Sets the distances between a grid's rows and planes, for these points. */
TB_HOST void fd_p_host_shape(const int *n, fd_p_host *h)
{
    const size_t line = 128 / sizeof(tb_real);
    for (int d = 0; d < 3; d++) h->n[d] = d < FD_FACTORS ? n[d] : 1;
    h->pitch = ((size_t)n[0] + line - 1) / line * line;
    /* Planes are an odd number of cache lines apart, so that neighbours along z do not share a set of a cache. */
    h->plane = h->pitch * (size_t)n[1] + line / 2;
    /* So are the rows of `rows` and `slopes`. */
    h->wide = h->pitch + line / 2;
}

/* Lays out the workers' memory for any problem of a batch, as one worker sees it; if memory is null, only counts.
   Returns the bytes. */
TB_HOST size_t fd_p_host_lay_out(const fd_batch *batch, int worker, int workers, unsigned char *memory, fd_p_host *host)
{
    const fd_p_needs all = {1, 1, 1}; /* two factors: grids are small, a long batch is slow to read */
    const fd_p_needs needs = FD_FACTORS > 2 ? fd_p_needs_of(batch) : all;
    fd_p_host h;
    memset(&h, 0, sizeof h);
    fd_p_host_shape(batch->points, &h);
    h.batch = batch, h.worker = worker, h.workers = workers;
    const int longer = h.n[1] > h.n[0] ? h.n[1] : h.n[0], most = h.n[2] > longer ? h.n[2] : longer;
    const size_t line = 128 / sizeof(tb_real), longest = (size_t)fd_p_padded_to(FD_P_MOST_LANES, most);
    const size_t grid = fd_p_round((h.plane * (size_t)h.n[2] + 2 * line) * sizeof(tb_real));
    const size_t tile = fd_p_round(longest * FD_P_HOST_LANES * sizeof(tb_real)) + 5 * 64; /* as planes: odd lines */
    const size_t rows = fd_p_round(FD_P_ROWS * h.wide * sizeof(tb_real));
    const size_t slopes = fd_p_round((8 * h.wide + line / 2) * sizeof(tb_real));
    size_t used = fd_p_lay_out_tables(batch, memory, &h.t);
    h.t.step = (fd_p_step *)fd_p_next(memory, &used, (size_t)batch->steps * sizeof(fd_p_step));
    h.slot = (int *)fd_p_next(memory, &used, (size_t)workers * sizeof(int));
    h.findings = (fd_p_findings *)fd_p_next(memory, &used, (size_t)workers * sizeof *h.findings);
    h.spread = (tb_real *)fd_p_next(memory, &used, 6 * h.pitch * sizeof(tb_real));
    h.zeros = (tb_real *)fd_p_next(memory, &used, FD_P_HOST_LANES * sizeof(tb_real));
    tb_real **grids[5] = {&h.u, &h.d, &h.z, &h.t.final, &h.extra};
    const int needed[5] = {1, 1, needs.stage, needs.final, needs.multiplier};
    for (int g = 0; g < 5; g++) {
        if (!needed[g]) continue;
        *grids[g] = (tb_real *)fd_p_at(memory, used + line * sizeof(tb_real)), used += grid;
    }
    if (!needs.final) h.t.final = h.d; /* the first step overwrites it */
    tb_real **tiles[3] = {&h.transposed, &h.tile, &h.upper};
    const size_t own = rows + slopes + 3 * tile;
    used += own * (size_t)worker;
    h.rows = (tb_real *)fd_p_next(memory, &used, rows);
    h.slopes = (tb_real *)fd_p_at(memory, used + line / 2 * sizeof(tb_real)), used += slopes;
    for (int g = 0; g < 3; g++) *tiles[g] = (tb_real *)fd_p_at(memory, used), used += tile;
    used += own * (size_t)(workers - 1 - worker);
    if (host) *host = h;
    return used;
}

/* Waits for all workers. */
TB_HOST void fd_p_host_meet(const fd_p_host *h)
{
    if (h->workers > 1) h->meet(h->context);
}

/* Returns the least index that any worker found. */
TB_HOST int fd_p_host_least(const fd_p_host *h, int mine)
{
    int least = mine;
    h->slot[h->worker] = mine;
    fd_p_host_meet(h);
    for (int w = 0; w < h->workers; w++)
        if (h->slot[w] < least) least = h->slot[w];
    fd_p_host_meet(h);
    return least;
}

/* Returns the start of a worker's share of `count`, which is the end of the previous worker's. */
TB_HOST int fd_p_host_share(const fd_p_host *h, int count, int worker)
{
    return (int)((long long)count * worker / h->workers);
}

/* Copies the numbers of point i of an axis from its table, in loops that are vectorised along the axis. */
FD_P_INLINE void fd_p_host_take(int axis, const tb_real *FD_P_RESTRICT table, size_t room, size_t i, fd_numbers *own)
{
    for (int q = 0; q < fd_p_numbers(axis); q++) own->number[q] = table[(size_t)q * room + i];
}

/* Returns the cell of point i along x. */
FD_P_INLINE fd_cell fd_p_host_cell(const tb_real *FD_P_RESTRICT spread, size_t pitch, size_t i)
{
    const fd_cell cell = {spread[i], spread[pitch + i], spread[2 * pitch + i], spread[3 * pitch + i]};
    return cell;
}

/* Returns row (j, k) of a grid; beyond a face, the face's own row. */
TB_HOST const tb_real *fd_p_host_row(const fd_p_host *h, const tb_real *v, int j, int k)
{
    const int *n = h->n;
    j = j < 0 ? 0 : j < n[1] ? j : n[1] - 1;
    k = k < 0 ? 0 : k < n[2] ? k : n[2] - 1;
    return v + (size_t)k * h->plane + (size_t)j * h->pitch;
}

/* Prefetch `count` numbers to read, and memory for `count` numbers to write. */
TB_HOST void fd_p_host_fetch(int count, const tb_real *from)
{
    const int line = 64 / (int)sizeof(tb_real);
    for (int i = 0; i < count; i += line) __builtin_prefetch(from + i);
}
TB_HOST void fd_p_host_fetch_to_write(int count, const tb_real *to)
{
    const int line = 64 / (int)sizeof(tb_real);
    for (int i = 0; i < count; i += line) __builtin_prefetch(to + i, 1);
}

/* Returns n rounded up to whole vectors, over which a loop along x may run because rows are padded. */
TB_HOST int fd_p_host_whole(int n)
{
    const int vector = 64 / (int)sizeof(tb_real);
    return (n + vector - 1) & -vector;
}

/* Computes the slopes of a row along z, from the row and its neighbours along z. */
FD_P_FLAT void fd_p_host_slopes(int whole, fd_cell cell, const tb_real *FD_P_RESTRICT low,
                                const tb_real *FD_P_RESTRICT here, const tb_real *FD_P_RESTRICT high,
                                tb_real *FD_P_RESTRICT out)
{
    const tb_real down = cell.below * (1 - cell.w), up = cell.above * cell.w;
    for (int i = 0; i < whole; i++) out[i] = fd_p_first(down, up, low[i], here[i], high[i]);
}

/* Copies the numbers of row (j, k) and of a time, for the loops along x. */
FD_P_INLINE void fd_p_host_take_row(const fd_p_host *h, int j, int k, const tb_real *time, fd_numbers *own,
                                    fd_numbers *now)
{
    fd_p_take(&h->t, 1, j, &own[1]);
    if (FD_FACTORS > 2) fd_p_take(&h->t, 2, k, &own[2]);
    for (int q = 0; q < fd_p_numbers(3); q++) now->number[q] = time[q];
}

/* Adds scale (F_1 + F_2 (+ F_3))(v) to out along row (j, k), and computes the slopes along y. Reads the row, the row
   shifted by a point in each direction, and the rows next to it. The shifted rows have pointers of their own, because
   clang would treat three elements of one row as a recurrence, and not vectorise. All rows are parameters, because gcc
   heeds restrict on parameters but not on variables; with variables a stage takes 1.4 times as long. */
FD_P_FLAT void fd_p_host_own(const fd_p_host *h, int whole, int j, int k, const tb_real *time, tb_real scale,
                             const tb_real *FD_P_RESTRICT spread, const tb_real *FD_P_RESTRICT numbers,
                             const tb_real *FD_P_RESTRICT here, const tb_real *FD_P_RESTRICT low_x,
                             const tb_real *FD_P_RESTRICT high_x, const tb_real *FD_P_RESTRICT low_y,
                             const tb_real *FD_P_RESTRICT high_y, const tb_real *FD_P_RESTRICT low_z,
                             const tb_real *FD_P_RESTRICT high_z, tb_real *FD_P_RESTRICT slopes,
                             tb_real *FD_P_RESTRICT out)
{
    const fd_cell cell_y = h->t.cell[1][j], cell_z = h->t.cell[FD_FACTORS - 1][FD_FACTORS > 2 ? k : j];
    const tb_real down = cell_y.below * (1 - cell_y.w), up = cell_y.above * cell_y.w;
    const size_t room = (size_t)h->t.room[0], pitch = h->pitch;
    fd_numbers own[3], now;
    fd_p_host_take_row(h, j, k, time, own, &now);
    for (int i = 0; i < whole; i++) {
        const fd_cell cell[3] = {fd_p_host_cell(spread, pitch, (size_t)i), cell_y, cell_z};
        const tb_real low[3] = {low_x[i], low_y[i], low_z[i]}, high[3] = {high_x[i], high_y[i], high_z[i]};
        fd_p_host_take(0, numbers, room, (size_t)i, &own[0]);
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
        out[i] += scale * fd_p_own(cell, &terms, here[i], low, high);
        if (FD_MODEL_MIXED & 1) slopes[i] = fd_p_first(down, up, low_y[i], here[i], high_y[i]);
    }
}

/* Adds mixed F_0 to out along row (j, k), from the row's slopes along y (dy) and z (dz), the same slopes at the points
   before (low_) and after (high_), and the slopes along z of the rows next to it (low and high). */
FD_P_FLAT void fd_p_host_mixed(const fd_p_host *h, int whole, int j, int k, const tb_real *time, tb_real mixed,
                               const tb_real *FD_P_RESTRICT down, const tb_real *FD_P_RESTRICT up,
                               const tb_real *FD_P_RESTRICT numbers, const tb_real *FD_P_RESTRICT dy,
                               const tb_real *FD_P_RESTRICT low_dy, const tb_real *FD_P_RESTRICT high_dy,
                               const tb_real *FD_P_RESTRICT dz, const tb_real *FD_P_RESTRICT low_dz,
                               const tb_real *FD_P_RESTRICT high_dz, const tb_real *FD_P_RESTRICT low,
                               const tb_real *FD_P_RESTRICT high, tb_real *FD_P_RESTRICT out)
{
    const fd_cell cell = h->t.cell[1][j];
    const tb_real down_y = cell.below * (1 - cell.w), up_y = cell.above * cell.w;
    const size_t room = (size_t)h->t.room[0];
    fd_numbers own[3], now;
    fd_p_host_take_row(h, j, k, time, own, &now);
    for (int i = 0; i < whole; i++) {
        tb_real cross[3] = {0, 0, 0};
        if (FD_MODEL_MIXED & 4) cross[2] = fd_p_first(down_y, up_y, low[i], dz[i], high[i]);
        if (FD_MODEL_MIXED & 2) cross[1] = fd_p_first(down[i], up[i], low_dz[i], dz[i], high_dz[i]);
        if (FD_MODEL_MIXED & 1) cross[0] = fd_p_first(down[i], up[i], low_dy[i], dy[i], high_dy[i]);
        fd_p_host_take(0, numbers, room, (size_t)i, &own[0]);
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
        out[i] += mixed * fd_p_mix(&terms, cross);
    }
}

/* Returns the memory for a row of slopes of the values, or (if more) of a first stage's values: row = j % 3 for the
   slopes along z of row j, row = 3 for slopes along y. */
TB_HOST tb_real *fd_p_host_slopes_of(const fd_p_host *h, int more, int row)
{
    return h->slopes + (size_t)(4 * more + row) * h->wide;
}

/* Adds mixed F_0(v) + own (F_1 + F_2 (+ F_3))(v) to out along row (j, k), without the faces' terms. v holds the values
   or a first stage's values (more). Call it for consecutive rows, the first with `first` set. Slopes along z, whose
   differences are mixed derivatives, are then computed once a row: each later call computes those of row j + 1. */
TB_HOST void fd_p_host_apply(const fd_p_host *h, int more, const tb_real *v, int first, int j, int k,
                             const tb_real *time, tb_real mixed, tb_real own, tb_real *out)
{
    const int last = h->n[1] - 1, low = j > 0 ? j - 1 : 0, high = j < last ? j + 1 : last;
    const int whole = fd_p_host_whole(h->n[0]), by_z = (FD_MODEL_MIXED & 6) != 0;
    const tb_real *here = fd_p_host_row(h, v, j, k), *weights = h->spread + 4 * h->pitch;
    tb_real *dz = fd_p_host_slopes_of(h, more, j % 3), *dy = fd_p_host_slopes_of(h, more, 3);
    /* Before each loop, a later row of one of the three planes is prefetched. */
    if (FD_FACTORS > 2) fd_p_host_fetch(whole, fd_p_host_row(h, v, j + 4, k + 1));
    for (int row = first ? low : j + 1; row <= high && by_z; row++)
        fd_p_host_slopes(whole, h->t.cell[FD_FACTORS - 1][k], fd_p_host_row(h, v, row, k - 1),
                         fd_p_host_row(h, v, row, k), fd_p_host_row(h, v, row, k + 1),
                         fd_p_host_slopes_of(h, more, row % 3));
    fd_p_host_fetch(whole, fd_p_host_row(h, v, j + 3, k));
    fd_p_host_own(h, whole, j, k, time, own, h->spread, h->t.number[0], here, here - 1, here + 1,
                  fd_p_host_row(h, v, j - 1, k), fd_p_host_row(h, v, j + 1, k), fd_p_host_row(h, v, j, k - 1),
                  fd_p_host_row(h, v, j, k + 1), dy, out);
    if (FD_FACTORS > 2) fd_p_host_fetch(whole, fd_p_host_row(h, v, j + 3, k - 1));
    if (FD_MODEL_MIXED)
        fd_p_host_mixed(h, whole, j, k, time, mixed, weights, weights + h->pitch, h->t.number[0], dy, dy - 1, dy + 1,
                        dz, dz - 1, dz + 1, fd_p_host_slopes_of(h, more, low % 3),
                        fd_p_host_slopes_of(h, more, high % 3), out);
}

/* Adds to out `scale` times the term in F(v) of an FD_DEGENERATE face of y or z, on which row (j, k) lies. `next` and
   `third` are the next two rows inwards. */
FD_P_FLAT void fd_p_host_degenerate(const fd_p_host *h, int axis, int side, int j, int k, const tb_real *time,
                                    tb_real scale, const tb_real *FD_P_RESTRICT next,
                                    const tb_real *FD_P_RESTRICT third, tb_real *FD_P_RESTRICT out)
{
    const tb_real *FD_P_RESTRICT numbers = h->t.number[0];
    const tb_real far_of = h->t.far_of[axis][side];
    const size_t room = (size_t)h->t.room[0];
    const int n = h->n[0];
    fd_numbers own[3], now;
    fd_p_host_take_row(h, j, k, time, own, &now);
    for (int i = 0; i < n; i++) {
        fd_p_host_take(0, numbers, room, (size_t)i, &own[0]);
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
        const tb_real drift = FD_FACTORS > 2 && axis == 2 ? terms.drift[2] : terms.drift[1];
        out[i] += scale * (drift * far_of * (third[i] - next[i]));
    }
}

/* Adds to out `scale` times the terms of an axis's faces in F(v) along row (j, k). Given slopes are those at `when`. */
TB_HOST void fd_p_host_faces(const fd_p_host *h, int axis, const tb_real *v, int j, int k, const tb_real *time,
                             double when, tb_real scale, tb_real *out)
{
    const int n = h->n[0], index = axis == 1 ? j : k, end = h->n[axis] - 1;
    const ptrdiff_t stride[3] = {1, (ptrdiff_t)h->pitch, (ptrdiff_t)h->plane};
    for (int side = 0; side < 2; side++) {
        const int kind = h->t.problem->face[axis][side], from = axis == 0 && side ? end : 0;
        const int to = axis == 0 ? from + 1 : n;
        if (!fd_p_adds(kind) || (axis > 0 && index != (side ? end : 0))) continue;
        const ptrdiff_t in = side ? -stride[axis] : stride[axis];
        const tb_real *here = fd_p_host_row(h, v, j, k);
        if (axis > 0 && kind == FD_DEGENERATE) {
            fd_p_host_degenerate(h, axis, side, j, k, time, scale, here + in, here + 2 * in, out);
            continue;
        }
        fd_p_edge edge = {axis, side, kind, {0, j, k}, time, when};
        for (edge.index[0] = from; edge.index[0] < to; edge.index[0]++) {
            const int i = edge.index[0];
            const tb_real given = fd_p_edge_given(&h->t, &edge);
            out[i] += scale * fd_p_edge_adds(&h->t, &edge, given, here[i + in], here[i + 2 * in]);
        }
    }
}

/* Adds to out along row (j, k), except at faces of x with given values, size times the change of F_axis(u) when the
   coefficients of the step's end replace those of its start: part of the axis's right-hand side if these differ. */
FD_P_INLINE void fd_p_host_change(const fd_p_host *h, int axis, int j, int k, const fd_p_step *step,
                                  tb_real *FD_P_RESTRICT out)
{
    const tb_real *FD_P_RESTRICT here = fd_p_host_row(h, h->u, j, k), *FD_P_RESTRICT low, *FD_P_RESTRICT high;
    low = axis ? fd_p_host_row(h, h->u, j - (axis == 1), k - (axis == 2)) : here - 1;
    high = axis ? fd_p_host_row(h, h->u, j + (axis == 1), k + (axis == 2)) : here + 1;
    const int n = h->n[0], fixed[2] = {h->t.problem->face[0][0] == FD_VALUE, h->t.problem->face[0][1] == FD_VALUE};
    const tb_real first = out[0], last = out[n - 1], size = step->data.size;
    const tb_real *FD_P_RESTRICT spread = h->spread;
    const size_t pitch = h->pitch;
    fd_numbers own[3], now;
    fd_p_host_take_row(h, j, k, step->time[0], own, &now);
    for (int i = 0; i < n; i++) {
        const fd_cell cell = fd_p_host_cell(spread, pitch, (size_t)i);
        const fd_cell along = axis == 0 ? cell : h->t.cell[axis][axis == 1 ? j : k];
        fd_p_host_take(0, h->t.number[0], (size_t)h->t.room[0], (size_t)i, &own[0]);
        const fd_terms start = fd_p_terms(h->t.parameters, own, now.number);
        const fd_terms end = fd_p_terms(h->t.parameters, own, step->time[1]);
        out[i] += size * (fd_p_along_axis(axis, along, end, low[i], here[i], high[i]) -
                          fd_p_along_axis(axis, along, start, low[i], here[i], high[i]));
    }
    fd_p_host_faces(h, axis, h->u, j, k, step->time[1], step->to, size, out);
    fd_p_host_faces(h, axis, h->u, j, k, step->time[0], step->from, -size, out);
    if (fixed[0]) out[0] = first;
    if (fixed[1]) out[n - 1] = last;
}

/* Computes the right-hand side of stage s along row (j, k), for the solve along x; rows as in fd_p_host_apply. */
TB_HOST void fd_p_host_right(const fd_p_host *h, int s, int first, int j, int k, const fd_p_step *step,
                             tb_real *FD_P_RESTRICT out)
{
    const tb_real *base = step->data.base[s], dt = step->data.dt;
    const tb_real *FD_P_RESTRICT u = fd_p_host_row(h, h->u, j, k);
    const int n = h->n[0], about = s && step->data.about;
    memset(out, 0, (size_t)fd_p_host_whole(n) * sizeof(tb_real));
    fd_p_host_apply(h, 0, h->u, first, j, k, step->time[0], base[0], base[1], out);
    for (int d = 0; d < FD_FACTORS; d++) fd_p_host_faces(h, d, h->u, j, k, step->time[0], step->from, base[1], out);
    if (s) {
        fd_p_host_apply(h, 1, h->z, first, j, k, step->time[1], base[2], base[3], out);
        for (int d = 0; d < FD_FACTORS; d++) fd_p_host_faces(h, d, h->z, j, k, step->time[1], step->to, base[3], out);
    }
    if (about) {
        const tb_real *FD_P_RESTRICT z = fd_p_host_row(h, h->z, j, k);
        for (int i = 0; i < n; i++) out[i] += u[i] - z[i];
    }
    if (h->extra) {
        const tb_real *FD_P_RESTRICT extra = fd_p_host_row(h, h->extra, j, k);
        for (int i = 0; i < n; i++) out[i] += dt * extra[i];
    }
    if (step->changes && !about) fd_p_host_change(h, 0, j, k, step, out);
}
