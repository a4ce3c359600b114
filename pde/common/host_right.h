/* host_right.h - a room of adi2d.h and adi3d.h, read once for each model and precision: the data of a worker on
   the host, and right-hand sides.
   MIT licence, see LICENSE. */

#define fd_p_host FD_OF(p_host)
#define fd_p_host_lay_out FD_OF(p_host_lay_out)
#define fd_p_host_shape FD_OF(p_host_shape)
#define fd_p_host_meet FD_OF(p_host_meet)
#define fd_p_host_least FD_OF(p_host_least)
#define fd_p_host_share FD_OF(p_host_share)
#define fd_p_host_at FD_OF(p_host_at)
#define fd_p_host_model FD_OF(p_host_model)
#define fd_p_host_model_of FD_OF(p_host_model_of)
#define fd_p_host_terms FD_OF(p_host_terms)
#define fd_p_host_along FD_OF(p_host_along)
#define fd_p_host_along_y FD_OF(p_host_along_y)
#define fd_p_host_cell FD_OF(p_host_cell)
#define fd_p_host_row FD_OF(p_host_row)
#define fd_p_host_fetch FD_OF(p_host_fetch)
#define fd_p_host_whole FD_OF(p_host_whole)
#define fd_p_host_fetch_to_write FD_OF(p_host_fetch_to_write)
#define fd_p_host_slopes FD_OF(p_host_slopes)
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

/* How the host marches two and three factors. A grid of two factors is treated as a grid of three with a single plane,
   except that its last axis is y and that all work along z is omitted. With three factors a worker takes a share of the
   planes in the sweep along x and y, and a share of the rows of all planes in the sweep along z. With two factors it
   takes a share of the groups of rows in the sweep along x, and of the groups of columns in the sweep along y. Workers
   wait for each other after each sweep. Lines are solved FD_P_HOST_LANES at a time, interleaved, so that the compiler
   vectorises: along x from a transposed tile, along y and z from the grid itself. With three factors a plane's
   right-hand sides are computed, and its lines solved along x and then along y, while the plane is in the cache. */

/* The data of a worker. Grids have rows of `pitch` elements and planes of `plane` elements. Elements without a point,
   including those before and after the grid, are zero, so that neighbours along x are read without tests. */
typedef struct {
    fd_p_tables t;
    const fd_batch *batch;
    int which, n[3], worker, workers, watched; /* watched: whether each step is checked (fd_p_host_march) */
    void (*meet)(void *context);
    void *context;
    int *slot;                 /* each worker's index (fd_p_host_least) */
    fd_p_findings *findings;   /* each worker's findings, while the workers visit the problem's points */
    size_t pitch, plane, wide; /* wide: the distance between rows in the arrays `rows` and `slopes` */
    tb_real *spread;           /* for x, six arrays, pitch apart: the cells' numbers, `down` and `up` of fd_p_first */
    tb_real *u, *z, *d;        /* values; a first stage's values; right-hand sides and differences */
    tb_real *extra;            /* the exercise multiplier, or null */
    tb_real *rows, *slopes;    /* the worker's own: right-hand sides; slopes (fd_p_host_slopes_of) */
    tb_real *transposed, *tile, *upper; /* tiles: right-hand sides, solutions, eliminated rows' couplings */
} fd_p_host;

/* Sets the numbers of points, and the distances between rows and between planes. */
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
    const fd_p_needs all = {1, 1, 1}; /* for two factors: grids are small, and reading a long batch takes time */
    const fd_p_needs needs = FD_FACTORS > 2 ? fd_p_needs_of(batch) : all;
    fd_p_host h;
    memset(&h, 0, sizeof h);
    fd_p_host_shape(batch->points, &h);
    h.batch = batch, h.worker = worker, h.workers = workers;
    const int longer = h.n[1] > h.n[0] ? h.n[1] : h.n[0], most = h.n[2] > longer ? h.n[2] : longer;
    const size_t line = 128 / sizeof(tb_real), longest = (size_t)fd_p_padded_to(FD_P_MOST_LANES, most);
    const size_t grid = fd_p_round((h.plane * (size_t)h.n[2] + 2 * line) * sizeof(tb_real));
    /* Tiles, like planes, are an odd number of cache lines apart. */
    const size_t tile = fd_p_round(longest * FD_P_HOST_LANES * sizeof(tb_real)) + 5 * 64;
    const size_t rows = fd_p_round(FD_P_ROWS * h.wide * sizeof(tb_real));
    const size_t slopes = fd_p_round((8 * h.wide + line / 2) * sizeof(tb_real));
    size_t used = fd_p_lay_out(batch, 0, memory, &h.t);
    h.t.step = (fd_p_step *)fd_p_next(memory, &used, (size_t)batch->steps * sizeof(fd_p_step));
    h.slot = (int *)fd_p_next(memory, &used, (size_t)workers * sizeof(int));
    h.findings = (fd_p_findings *)fd_p_next(memory, &used, (size_t)workers * sizeof *h.findings);
    h.spread = (tb_real *)fd_p_next(memory, &used, 6 * h.pitch * sizeof(tb_real));
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

/* The model at consecutive points along axis `vary`, at one time; for loops that compilers vectorise. */
typedef struct {
    const fd_model_parameters *parameters;
    const tb_real *numbers; /* along `vary`: number q of point b at [q room + b] */
    size_t room;
    fd_numbers own[3], now;
} fd_p_host_model;

/* Returns the model for consecutive points, the first of which has these indices. `vary` is a literal. */
FD_P_INLINE fd_p_host_model fd_p_host_model_of(const fd_p_host *h, int vary, const int *index, const tb_real *time)
{
    fd_p_host_model model;
    model.parameters = h->t.parameters, model.room = (size_t)h->t.room[vary];
    model.numbers = h->t.number[vary] + index[vary];
    for (int d = 0; d < FD_FACTORS; d++)
        if (d != vary) fd_p_take(&h->t, d, index[d], &model.own[d]);
    for (int q = 0; q < fd_p_numbers(3); q++) model.now.number[q] = time[q];
    return model;
}

/* Returns the terms at the model's point b, counted from 0. */
FD_P_INLINE fd_terms fd_p_host_terms(fd_p_host_model *model, int vary, int b)
{
    for (int q = 0; q < fd_p_numbers(vary); q++)
        model->own[vary].number[q] = model->numbers[(size_t)q * model->room + (size_t)b];
    return fd_p_terms(model->parameters, model->own, model->now.number);
}

/* Returns the cell of point i along x. */
FD_P_INLINE fd_cell fd_p_host_cell(const tb_real *spread, size_t pitch, int i)
{
    const size_t at = (size_t)i;
    const fd_cell cell = {spread[at], spread[pitch + at], spread[2 * pitch + at], spread[3 * pitch + at]};
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

/* Prefetch `count` numbers, to read or to overwrite them. */
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

/* A row of a stage of a step. */
typedef struct {
    const fd_p_step *step;
    int s, j, k;
} fd_p_host_at;

/* Rows that a loop along x reads: a row, the row shifted by a point in each direction (low[0] and high[0]), and its
   neighbours along y and z. The shifted rows have pointers of their own, because clang would treat three elements of
   one row as a recurrence, and not vectorise. */
typedef struct {
    const tb_real *here, *low[3], *high[3];
} fd_p_host_along;

/* Returns a row with its two neighbours along y; in place of those along z it has the row itself. */
TB_HOST fd_p_host_along fd_p_host_along_y(const tb_real *low, const tb_real *here, const tb_real *high)
{
    const fd_p_host_along of = {here, {here - 1, low, here}, {here + 1, high, here}};
    return of;
}

/* Computes the slopes along z at the points of a row, from the row and its neighbours along z. */
FD_P_FLAT void fd_p_host_slopes(int whole, fd_cell cell, const tb_real *low, const tb_real *here, const tb_real *high,
                                tb_real *FD_P_RESTRICT out)
{
    const tb_real down = cell.below * (1 - cell.w), up = cell.above * cell.w;
    for (int i = 0; i < whole; i++) out[i] = fd_p_first(down, up, low[i], here[i], high[i]);
}

/* Adds `scale` * (F_1 + F_2 (+ F_3))(v), without the faces' terms, to `out` along a row. If there is a mixed term of x
   and y, also computes v's slopes along y. The rows that are written are restrict parameters, because gcc heeds
   restrict on parameters but not on variables. */
FD_P_FLAT void fd_p_host_own(const fd_p_host *h, const fd_p_host_at *at, const tb_real *time, tb_real scale,
                             const fd_p_host_along *v, tb_real *FD_P_RESTRICT slopes, tb_real *FD_P_RESTRICT out)
{
    const fd_p_host_along of = *v;
    const int index[3] = {0, at->j, at->k}, whole = fd_p_host_whole(h->n[0]);
    const fd_cell cell_y = h->t.cell[1][at->j], cell_z = h->t.cell[FD_FACTORS - 1][index[FD_FACTORS - 1]];
    const tb_real down = cell_y.below * (1 - cell_y.w), up = cell_y.above * cell_y.w, *spread = h->spread;
    const size_t pitch = h->pitch;
    fd_p_host_model model = fd_p_host_model_of(h, 0, index, time);
    for (int i = 0; i < whole; i++) {
        const fd_cell cell[3] = {fd_p_host_cell(spread, pitch, i), cell_y, cell_z};
        const tb_real low[3] = {of.low[0][i], of.low[1][i], of.low[2][i]};
        const tb_real high[3] = {of.high[0][i], of.high[1][i], of.high[2][i]};
        const fd_terms terms = fd_p_host_terms(&model, 0, i);
        out[i] += scale * fd_p_own(cell, &terms, of.here[i], low, high);
        if (FD_MODEL_MIXED & 1) slopes[i] = fd_p_first(down, up, low[1], of.here[i], high[1]);
    }
}

/* Adds `mixed` * F_0 to `out` along a row, from the row's slopes along y (dy) and along z (dz). dz also holds the
   slopes along z of the row's neighbours along y. */
FD_P_FLAT void fd_p_host_mixed(const fd_p_host *h, const fd_p_host_at *at, const tb_real *time, tb_real mixed,
                               const fd_p_host_along *dy, const fd_p_host_along *dz, tb_real *FD_P_RESTRICT out)
{
    const fd_p_host_along of_y = *dy, of_z = *dz;
    const int index[3] = {0, at->j, at->k}, whole = fd_p_host_whole(h->n[0]);
    const fd_cell cell = h->t.cell[1][at->j];
    const tb_real down_y = cell.below * (1 - cell.w), up_y = cell.above * cell.w;
    const tb_real *down = h->spread + 4 * h->pitch, *up = down + h->pitch;
    fd_p_host_model model = fd_p_host_model_of(h, 0, index, time);
    for (int i = 0; i < whole; i++) {
        tb_real cross[3] = {0, 0, 0};
        if (FD_MODEL_MIXED & 4) cross[2] = fd_p_first(down_y, up_y, of_z.low[1][i], of_z.here[i], of_z.high[1][i]);
        if (FD_MODEL_MIXED & 2) cross[1] = fd_p_first(down[i], up[i], of_z.low[0][i], of_z.here[i], of_z.high[0][i]);
        if (FD_MODEL_MIXED & 1) cross[0] = fd_p_first(down[i], up[i], of_y.low[0][i], of_y.here[i], of_y.high[0][i]);
        const fd_terms terms = fd_p_host_terms(&model, 0, i);
        out[i] += mixed * fd_p_mix(&terms, cross);
    }
}

/* Returns the memory for a row of slopes of the values or, if `more` is set, of a first stage's values: row = j % 3 for
   the slopes along z of row j, row = 3 for slopes along y. */
TB_HOST tb_real *fd_p_host_slopes_of(const fd_p_host *h, int more, int row)
{
    return h->slopes + (size_t)(4 * more + row) * h->wide;
}

/* Adds to `out`, along a row, `scale` times the term that an FD_DEGENERATE face of y or z adds to F(v). `next` and
   `third` are the next two rows inwards. */
FD_P_FLAT void fd_p_host_degenerate(const fd_p_host *h, const fd_p_edge *e, tb_real scale, const tb_real *next,
                                    const tb_real *third, tb_real *FD_P_RESTRICT out)
{
    const tb_real far_of = h->t.far_of[e->axis][e->side];
    const int n = h->n[0], along_z = FD_FACTORS > 2 && e->axis == 2;
    fd_p_host_model model = fd_p_host_model_of(h, 0, e->index, e->time);
    for (int i = 0; i < n; i++) {
        const fd_terms terms = fd_p_host_terms(&model, 0, i);
        out[i] += scale * ((along_z ? terms.drift[2] : terms.drift[1]) * far_of * (third[i] - next[i]));
    }
}

/* Adds to `out`, along a row, `scale` times the terms that an axis's faces add to F(v) at the start (end 0) or the end
   (1) of a step. */
TB_HOST void fd_p_host_faces(const fd_p_host *h, int axis, const tb_real *v, const fd_p_host_at *at, int end,
                             tb_real scale, tb_real *out)
{
    const ptrdiff_t stride[3] = {1, (ptrdiff_t)h->pitch, (ptrdiff_t)h->plane};
    for (int side = 0; side < 2; side++) {
        const int kind = h->t.problem->face[axis][side], face = side ? h->n[axis] - 1 : 0;
        if (!fd_p_adds(kind) || (axis > 0 && (axis == 1 ? at->j : at->k) != face)) continue;
        const int from = axis > 0 ? 0 : face, to = axis > 0 ? h->n[0] : face + 1;
        fd_p_edge edge = {
            axis, side, kind, {from, at->j, at->k}, at->step->time[end], end ? at->step->to : at->step->from};
        const ptrdiff_t in = side ? -stride[axis] : stride[axis];
        const tb_real *next = fd_p_host_row(h, v, at->j, at->k) + in, *third = next + in;
        if (axis > 0 && kind == FD_DEGENERATE) {
            fd_p_host_degenerate(h, &edge, scale, next, third, out);
            continue;
        }
        for (int i = from; i < to; i++, edge.index[0]++)
            out[i] += scale * fd_p_edge_adds(&h->t, &edge, fd_p_edge_given(&h->t, &edge), next[i], third[i]);
    }
}

/* Adds f F_0(v) + g (F_1 + F_2 (+ F_3))(v) to `out` along a row, where f and g are v's two numbers in base[s] of the
   step data. v holds the values at the step's start or, if `more` is set, a first stage's values, for which F has the
   coefficients at the step's end. Call this function for consecutive rows, the first with `first` set. Each later call
   then computes only row j + 1 of the slopes along z, whose differences are mixed derivatives. */
TB_HOST void fd_p_host_apply(const fd_p_host *h, const fd_p_host_at *at, int more, int first, tb_real *out)
{
    const tb_real *v = more ? h->z : h->u, *time = at->step->time[more], *base = at->step->data.base[at->s] + 2 * more;
    const int j = at->j, k = at->k, low = j > 0 ? j - 1 : 0, high = j < h->n[1] - 1 ? j + 1 : j;
    const int whole = fd_p_host_whole(h->n[0]), by_z = (FD_MODEL_MIXED & 6) != 0;
    tb_real *dz = fd_p_host_slopes_of(h, more, j % 3), *dy = fd_p_host_slopes_of(h, more, 3);
    /* Before each loop, a later row is prefetched: first of plane k + 1, then of k, then of k - 1. */
    if (FD_FACTORS > 2) fd_p_host_fetch(whole, fd_p_host_row(h, v, j + 4, k + 1));
    for (int row = first ? low : j + 1; row <= high && by_z; row++)
        fd_p_host_slopes(whole, h->t.cell[FD_FACTORS - 1][k], fd_p_host_row(h, v, row, k - 1),
                         fd_p_host_row(h, v, row, k), fd_p_host_row(h, v, row, k + 1),
                         fd_p_host_slopes_of(h, more, row % 3));
    fd_p_host_fetch(whole, fd_p_host_row(h, v, j + 3, k));
    fd_p_host_along rows =
        fd_p_host_along_y(fd_p_host_row(h, v, j - 1, k), fd_p_host_row(h, v, j, k), fd_p_host_row(h, v, j + 1, k));
    rows.low[2] = fd_p_host_row(h, v, j, k - 1), rows.high[2] = fd_p_host_row(h, v, j, k + 1);
    fd_p_host_own(h, at, time, base[1], &rows, dy, out);
    if (FD_FACTORS > 2) fd_p_host_fetch(whole, fd_p_host_row(h, v, j + 3, k - 1));
    if (FD_MODEL_MIXED) {
        const fd_p_host_along of_y = fd_p_host_along_y(dy, dy, dy);
        const fd_p_host_along of_z =
            fd_p_host_along_y(fd_p_host_slopes_of(h, more, low % 3), dz, fd_p_host_slopes_of(h, more, high % 3));
        fd_p_host_mixed(h, at, time, base[0], &of_y, &of_z, out);
    }
    for (int d = 0; d < FD_FACTORS; d++) fd_p_host_faces(h, d, v, at, more, base[1], out);
}

/* Adds to `out`, along a row, size times the change of F_axis(u) from the step's start to its end. This part of the
   axis's right-hand side is 0 without step->changes, in a second stage with step->data.about, and at faces of x whose
   value is given. */
FD_P_INLINE void fd_p_host_change(const fd_p_host *h, int axis, const fd_p_host_at *at, tb_real *FD_P_RESTRICT out)
{
    const fd_p_step *step = at->step;
    if (!step->changes || (at->s && step->data.about)) return;
    const int j = at->j, k = at->k, index[3] = {0, j, k}, n = h->n[0];
    const int fixed[2] = {h->t.problem->face[0][0] == FD_VALUE, h->t.problem->face[0][1] == FD_VALUE};
    const tb_real *here = fd_p_host_row(h, h->u, j, k), *spread = h->spread;
    const tb_real *low = axis ? fd_p_host_row(h, h->u, j - (axis == 1), k - (axis == 2)) : here - 1;
    const tb_real *high = axis ? fd_p_host_row(h, h->u, j + (axis == 1), k + (axis == 2)) : here + 1;
    const tb_real first = out[0], last = out[n - 1], size = step->data.size;
    const size_t pitch = h->pitch;
    fd_p_host_model start = fd_p_host_model_of(h, 0, index, step->time[0]);
    fd_p_host_model end = fd_p_host_model_of(h, 0, index, step->time[1]);
    for (int i = 0; i < n; i++) {
        const fd_cell cell = axis == 0 ? fd_p_host_cell(spread, pitch, i) : h->t.cell[axis][index[axis]];
        out[i] += size * (fd_p_along_axis(axis, cell, fd_p_host_terms(&end, 0, i), low[i], here[i], high[i]) -
                          fd_p_along_axis(axis, cell, fd_p_host_terms(&start, 0, i), low[i], here[i], high[i]));
    }
    fd_p_host_faces(h, axis, h->u, at, 1, size, out);
    fd_p_host_faces(h, axis, h->u, at, 0, -size, out);
    if (fixed[0]) out[0] = first;
    if (fixed[1]) out[n - 1] = last;
}

/* Computes a row of a stage's right-hand side, for the solve along x. Call this function, too, for consecutive
   rows, the first with `first` set. */
TB_HOST void fd_p_host_right(const fd_p_host *h, const fd_p_host_at *at, int first, tb_real *FD_P_RESTRICT out)
{
    const tb_real dt = at->step->data.dt;
    const int n = h->n[0];
    memset(out, 0, (size_t)fd_p_host_whole(n) * sizeof(tb_real));
    for (int more = 0; more <= at->s; more++) fd_p_host_apply(h, at, more, first, out);
    if (at->s && at->step->data.about) {
        const tb_real *u = fd_p_host_row(h, h->u, at->j, at->k), *z = fd_p_host_row(h, h->z, at->j, at->k);
        for (int i = 0; i < n; i++) out[i] += u[i] - z[i];
    }
    if (h->extra) {
        const tb_real *extra = fd_p_host_row(h, h->extra, at->j, at->k);
        for (int i = 0; i < n; i++) out[i] += dt * extra[i];
    }
    fd_p_host_change(h, 0, at, out);
}
