/* host.h - a room of adi2d.h, read once a model and precision: marches on the host, lines
   interleaved so that the compiler vectorises across them.
   MIT licence, see LICENSE. */

#define adi2d_p_host FD_OF(p_2d_host)
#define adi2d_p_host_lay_out FD_OF(p_2d_host_lay_out)
#define adi2d_p_host_apply FD_OF(p_2d_host_apply)
#define adi2d_p_host_line FD_OF(p_2d_host_line)
#define adi2d_p_host_row FD_OF(p_2d_host_row)
#define adi2d_p_host_matrix FD_OF(p_2d_host_matrix)
#define adi2d_p_host_eliminate FD_OF(p_2d_host_eliminate)
#define adi2d_p_host_substitute FD_OF(p_2d_host_substitute)
#define adi2d_p_host_lines FD_OF(p_2d_host_lines)
#define adi2d_p_host_solve FD_OF(p_2d_host_solve)
#define adi2d_p_host_x FD_OF(p_2d_host_x)
#define adi2d_p_host_y FD_OF(p_2d_host_y)
#define adi2d_p_host_y_rest FD_OF(p_2d_host_y_rest)
#define adi2d_p_host_along_x FD_OF(p_2d_host_along_x)
#define adi2d_p_host_along_y FD_OF(p_2d_host_along_y)
#define adi2d_p_host_given FD_OF(p_2d_host_given)
#define adi2d_p_host_stages FD_OF(p_2d_host_stages)
#define adi2d_p_host_product FD_OF(p_2d_host_product)
#define adi2d_p_host_exercise FD_OF(p_2d_host_exercise)
#define adi2d_p_host_record FD_OF(p_2d_host_record)
#define adi2d_p_host_shift FD_OF(p_2d_host_shift)
#define adi2d_p_host_date FD_OF(p_2d_host_date)
#define adi2d_p_host_lost FD_OF(p_2d_host_lost)
#define adi2d_p_host_march FD_OF(p_2d_host_march)
#define adi2d_p_host_problem FD_OF(p_2d_host_problem)
#define adi2d_host_bytes FD_OF(host_bytes)
#define adi2d_p_host_check FD_OF(p_2d_host_check)
#define adi2d_host_problems FD_OF(host_problems)
#define adi2d_host FD_OF(host)

/* What a worker has in memory besides the tables. Grids have a halo of one point, which is 0 and never changes, so that
   all points take derivatives alike: point (i, j) is at (j + 1) pitch + i + 1. */
typedef struct {
    fd_p_tables t;
    adi2d_p_step_data *step_data;
    const fd_batch *batch;
    int which, n[2], pitch;
    tb_real *u, *z, *d, *g, *e;     /* values, a first stage's, differences, what a second stage begins with, what the
                                     terms along y change from a step's start to its end */
    tb_real *multiplier;            /* exercise's multiplier */
    tb_real *tile, *solved, *upper; /* interleaved lines, their solutions, their matrices */
    tb_real *f[4];                  /* F_0, F_1 and F_2 of a line, and F_1 at the step's end */
    tb_real *spread[4];             /* the cells along x, number by number */
    tb_real *given[2][2][2];        /* at the step's start and end, of each axis and side: what a face is given */
} adi2d_p_host;

/* Assigns memory to the tables and arrays of a worker; with null, only counts. Returns the bytes used. */
TB_HOST size_t adi2d_p_host_lay_out(const fd_batch *batch, unsigned char *memory, adi2d_p_host *host)
{
    adi2d_p_host h;
    size_t used = adi2d_p_lay_out(batch, memory, &h.t, &h.step_data);
    size_t longest = (size_t)fd_p_padded(batch->points[batch->points[1] > batch->points[0]]);
    size_t grid = (size_t)(batch->points[0] + 2) * (size_t)(batch->points[1] + 2), line = longest * FD_P_LANES;
    tb_real **grids[6], **lines[3];
    grids[0] = &h.u, grids[1] = &h.z, grids[2] = &h.d, grids[3] = &h.g, grids[4] = &h.e, grids[5] = &h.multiplier;
    lines[0] = &h.tile, lines[1] = &h.solved, lines[2] = &h.upper;
    for (int k = 0; k < 6; k++) {
        *grids[k] = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round(grid * sizeof(tb_real));
    }
    for (int k = 0; k < 3; k++) {
        *lines[k] = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round(line * sizeof(tb_real));
    }
    for (int k = 0; k < 16; k++) {
        tb_real **to = k < 4 ? &h.f[k] : k < 8 ? &h.spread[k - 4] : &h.given[k / 4 % 2][k / 2 % 2][k % 2];
        *to = (tb_real *)fd_p_at(memory, used);
        used += fd_p_round(longest * sizeof(tb_real));
    }
    if (host) *host = h;
    return used;
}

/* Computes F_0, F_1 and F_2 of v along the line of row j, with the numbers of a time, without what faces add. */
FD_P_FLAT void adi2d_p_host_apply(const adi2d_p_host *h, const tb_real *v, int j, const tb_real *time,
                                  tb_real *FD_P_RESTRICT f0, tb_real *FD_P_RESTRICT f1, tb_real *FD_P_RESTRICT f2)
{
    const tb_real *FD_P_RESTRICT below = v + (size_t)j * (size_t)h->pitch + 1;
    const tb_real *FD_P_RESTRICT here = below + h->pitch, *FD_P_RESTRICT above = here + h->pitch;
    const tb_real *FD_P_RESTRICT s0 = h->spread[0], *FD_P_RESTRICT s1 = h->spread[1];
    const tb_real *FD_P_RESTRICT s2 = h->spread[2], *FD_P_RESTRICT s3 = h->spread[3];
    const tb_real *FD_P_RESTRICT numbers = h->t.number[0];
    const fd_cell cell_y = h->t.cell[1][j];
    const size_t room = (size_t)h->t.room[0];
    const int n = h->n[0];
    fd_numbers own[2], now;
    fd_p_take(&h->t, 1, j, &own[1]);
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = time[q];
    for (int i = 0; i < n; i++) {
        fd_cell cell;
        for (int q = 0; q < fd_p_numbers(0); q++) own[0].number[q] = numbers[(size_t)q * room + (size_t)i];
        cell.below = s0[i], cell.above = s1[i], cell.h = s2[i], cell.w = s3[i];
        const fd_terms terms = fd_p_terms(h->t.parameters, own, now.number);
        f0[i] = 0;
        if (FD_MODEL_MIXED) {
            tb_real nine[9] = {below[i - 1], below[i],     below[i + 1], here[i - 1], here[i],
                               here[i + 1],  above[i - 1], above[i],     above[i + 1]};
            f0[i] = terms.mixed[0] * fd_lane_mixed(cell, cell_y, nine);
        }
        f1[i] = fd_p_along_axis(0, cell, terms, here[i - 1], here[i], here[i + 1]);
        f2[i] = fd_p_along_axis(1, cell_y, terms, below[i], here[i], above[i]);
    }
}

/* Computes F_0, F_1 and F_2 of v along the line of row j, with what faces add, at the start (e = 0) or the end (1) of
   step k. */
TB_HOST void adi2d_p_host_line(const adi2d_p_host *h, const tb_real *v, int j, int k, int e, tb_real *f0, tb_real *f1,
                               tb_real *f2)
{
    const tb_real *time = fd_p_time_of(&h->t, k, e);
    adi2d_p_host_apply(h, v, j, time, f0, f1, f2);
    const tb_real *here = v + (size_t)(j + 1) * (size_t)h->pitch + 1;
    for (int side = 0; side < 2; side++) {
        const int last = side ? h->n[0] - 1 : 0, in = side ? -1 : 1, up = in * h->pitch;
        const fd_p_edge x = {0, side, h->t.problem->face[0][side], {last, j, 0}, time, 0};
        fd_p_edge y = {1, side, h->t.problem->face[1][side], {0, j, 0}, time, 0};
        if (fd_p_adds(x.kind))
            f1[last] += fd_p_edge_adds(&h->t, &x, h->given[e][0][side][j], here[last + in], here[last + 2 * in]);
        if (j != (side ? h->n[1] - 1 : 0) || !fd_p_adds(y.kind)) continue;
        for (int i = 0; i < h->n[0]; i++) {
            y.index[0] = i;
            f2[i] += fd_p_edge_adds(&h->t, &y, h->given[e][1][side][i], here[i + up], here[i + 2 * up]);
        }
    }
}

/* A row of the matrices of lines along an axis. */
typedef struct {
    const fd_model_parameters *parameters;
    int axis;
    fd_cell cell;
    const fd_numbers *own, *now; /* the numbers of the row's point along the axis, and of the time */
    size_t room;                 /* from one number of the other axis to the next */
    tb_real size;
} adi2d_p_host_row;

/* Computes a, b and c of the row, in the line whose numbers of the other axis begin at `number`, and the drift there.
   */
FD_P_INLINE void adi2d_p_host_matrix(adi2d_p_host_row at, int at_face, const tb_real *number, tb_real *drift,
                                     tb_real *row)
{
    fd_numbers own[2];
    for (int q = 0; q < fd_p_numbers(at.axis); q++) own[at.axis].number[q] = at.own->number[q];
    for (int q = 0; q < fd_p_numbers(1 - at.axis); q++) own[1 - at.axis].number[q] = number[(size_t)q * at.room];
    const fd_terms terms = fd_p_terms(at.parameters, own, at.now->number);
    fd_p_matrix(at.axis, at_face, at.cell, terms, at.size, &row[0], &row[1], &row[2]);
    *drift = terms.drift[at.axis];
}

/* Eliminates a row of interleaved lines by the row before, as Thomas. */
FD_P_INLINE void adi2d_p_host_eliminate(int lines, adi2d_p_host_row at, const tb_real *FD_P_RESTRICT number,
                                        const tb_real *FD_P_RESTRICT right, const tb_real *FD_P_RESTRICT_ROW before,
                                        const tb_real *FD_P_RESTRICT_ROW upper_before, tb_real *FD_P_RESTRICT_ROW left,
                                        tb_real *FD_P_RESTRICT_ROW upper)
{
    for (int b = 0; b < lines; b++) {
        tb_real drift, row[3];
        adi2d_p_host_matrix(at, 0, number + b, &drift, row);
        tb_real pivot = 1 / (row[1] - row[0] * upper_before[b]);
        upper[b] = row[2] * pivot;
        left[b] = (right[b] - row[0] * before[b]) * pivot;
    }
}

/* Substitutes the solution of the row after into a row of interleaved lines. */
FD_P_INLINE void adi2d_p_host_substitute(int lines, const tb_real *FD_P_RESTRICT_ROW upper,
                                         const tb_real *FD_P_RESTRICT_ROW after, tb_real *FD_P_RESTRICT_ROW left)
{
    for (int b = 0; b < lines; b++) left[b] -= upper[b] * after[b];
}

/* A solve of (1 - size A) y = d along interleaved lines of an axis: row k of line b at [k row + b]. */
typedef struct {
    const tb_real *now; /* numbers of the time */
    tb_real size;
    const tb_real *from; /* right-hand sides */
    tb_real *to;         /* solutions; may be from */
    size_t row;
    const tb_real *w;     /* what y is the difference from, at faces whose value is given: of row k and line b at */
    size_t w_row, w_line; /* [k w_row + b w_line] */
} adi2d_p_host_lines;

/* Solves along `lines` interleaved lines of an axis, from line `first` on. */
FD_P_INLINE void adi2d_p_host_solve(const adi2d_p_host *h, int axis, int lines, int first, const adi2d_p_host_lines *s)
{
    const int n = h->n[axis];
    const size_t row_of = s->row;
    const tb_real *number = h->t.number[1 - axis] + first, *from = s->from;
    tb_real *to = s->to, *upper = h->upper, drift, row[3];
    fd_numbers own, next_own, now;
    adi2d_p_host_row here = {h->t.parameters, axis, {0, 0, 0, 0}, &own, &now, (size_t)h->t.room[1 - axis], s->size};
    for (int q = 0; q < fd_p_numbers(3); q++) now.number[q] = s->now[q];
    for (int k = 0; k < n; k++) {
        const size_t at = (size_t)k * row_of, before = (size_t)(k - (k > 0)) * row_of;
        const tb_real *upper_before = upper + (size_t)(k - (k > 0)) * (size_t)lines;
        tb_real *upper_here = upper + (size_t)k * (size_t)lines;
        here.cell = h->t.cell[axis][k];
        fd_p_take(&h->t, axis, k, &own);
        if (k > 0 && k < n - 1) {
            adi2d_p_host_eliminate(lines, here, number, from + at, to + before, upper_before, to + at, upper_here);
            continue;
        }
        const int side = k > 0, kind = h->t.problem->face[axis][side], near_by = side ? n - 2 : 1;
        adi2d_p_host_row beside = here;
        beside.cell = h->t.cell[axis][near_by], beside.own = &next_own;
        fd_p_take(&h->t, axis, near_by, &next_own);
        for (int b = 0; b < lines; b++) {
            adi2d_p_host_matrix(here, 1, number + b, &drift, row);
            tb_real value = from[at + (size_t)b];
            if (kind == FD_VALUE) {
                row[0] = row[2] = 0, row[1] = 1;
                value = h->given[1][axis][side][first + b] - s->w[(size_t)k * s->w_row + (size_t)b * s->w_line];
            }
            if (kind == FD_DEGENERATE) {
                tb_real next[3], unused;
                adi2d_p_host_matrix(beside, 0, number + b, &unused, next);
                tb_real third = s->size * drift * h->t.far_of[axis][side];
                value -= fd_lane_face_three(third, &row[1], &row[side ? 0 : 2], next[side ? 2 : 0], next[1],
                                            next[side ? 0 : 2]) *
                         from[(size_t)near_by * row_of + (size_t)b];
            }
            tb_real a = side ? row[0] : 0, pivot = 1 / (row[1] - (side ? a * upper_before[b] : 0));
            upper_here[b] = side ? 0 : row[2] * pivot;
            to[at + (size_t)b] = (value - (side ? a * to[before + (size_t)b] : 0)) * pivot;
        }
    }
    for (int k = n - 2; k >= 0; k--)
        adi2d_p_host_substitute(lines, upper + (size_t)k * (size_t)lines, to + (size_t)(k + 1) * row_of,
                                to + (size_t)k * row_of);
}

/* Solve along as many lines as each direction takes at a time, and along the remaining lines of y, with literals that
   let the compiler vectorise. */
FD_P_FLAT void adi2d_p_host_x(const adi2d_p_host *h, int first, const adi2d_p_host_lines *s)
{
    adi2d_p_host_solve(h, 0, FD_P_LANES, first, s);
}
FD_P_FLAT void adi2d_p_host_y(const adi2d_p_host *h, int first, const adi2d_p_host_lines *s)
{
    adi2d_p_host_solve(h, 1, FD_P_LANES, first, s);
}
FD_P_FLAT void adi2d_p_host_y_rest(const adi2d_p_host *h, int count, int first, const adi2d_p_host_lines *s)
{
    adi2d_p_host_solve(h, 1, count, first, s);
}

/* Solves along all lines of x: `to` becomes the solution, or, for a product, 2 solution - d. w as above, or null. */
TB_HOST void adi2d_p_host_along_x(const adi2d_p_host *h, const tb_real *now, tb_real size, int product, tb_real *d,
                                  const tb_real *w, tb_real *to)
{
    enum { lanes = FD_P_LANES };
    const int n = h->n[0];
    const size_t pitch = (size_t)h->pitch;
    tb_real *tile = h->tile, *solved = h->solved;
    for (int j = 0; j < h->n[1]; j += lanes) {
        const int lines = h->n[1] - j < lanes ? h->n[1] - j : lanes;
        const size_t at = (size_t)(j + 1) * pitch + 1;
        for (int i = 0; i < n; i++)
            for (int b = 0; b < lanes; b++) tile[i * lanes + b] = b < lines ? d[at + (size_t)b * pitch + (size_t)i] : 0;
        const adi2d_p_host_lines solve = {now, size, tile, solved, lanes, w ? w + at : w, 1, pitch};
        adi2d_p_host_x(h, j, &solve);
        for (int b = 0; b < lines; b++) {
            const tb_real *old = d + at + (size_t)b * pitch;
            tb_real *new_of = to + at + (size_t)b * pitch;
            if (product)
                for (int i = 0; i < n; i++) new_of[i] = 2 * solved[i * lanes + b] - old[i];
            else
                for (int i = 0; i < n; i++) new_of[i] = solved[i * lanes + b];
        }
    }
}

/* Solves along all lines of y, from d into to. */
TB_HOST void adi2d_p_host_along_y(const adi2d_p_host *h, const tb_real *now, tb_real size, const tb_real *d,
                                  const tb_real *w, tb_real *to)
{
    enum { lanes = FD_P_LANES };
    const int n = h->n[1];
    const size_t pitch = (size_t)h->pitch;
    tb_real *kept = h->tile; /* lines along a face whose value is given, which the solve along x has set */
    for (int side = 0; side < 2; side++)
        if (h->t.problem->face[0][side] == FD_VALUE)
            for (int j = 0; j < n; j++) kept[side * n + j] = d[(size_t)(j + 1) * pitch + (size_t)(side ? h->n[0] : 1)];
    for (int i = 0; i < h->n[0]; i += lanes) {
        const int lines = h->n[0] - i < lanes ? h->n[0] - i : lanes;
        const size_t at = pitch + 1 + (size_t)i;
        const adi2d_p_host_lines solve = {now, size, d + at, to + at, pitch, w ? w + at : w, pitch, 1};
        if (lines < lanes)
            adi2d_p_host_y_rest(h, lines, i, &solve);
        else
            adi2d_p_host_y(h, i, &solve);
    }
    for (int side = 0; side < 2; side++)
        if (h->t.problem->face[0][side] == FD_VALUE)
            for (int j = 0; j < n; j++) to[(size_t)(j + 1) * pitch + (size_t)(side ? h->n[0] : 1)] = kept[side * n + j];
}

/* Computes what the faces are given at the start and the end of a step. */
TB_HOST void adi2d_p_host_given(const adi2d_p_host *h, const adi2d_p_step_data *step)
{
    for (int f = 0; f < 4; f++) {
        const int axis = f / 2, side = f % 2;
        fd_p_edge edge = {axis, side, h->t.problem->face[axis][side], {0, 0, 0}, NULL, 0};
        edge.index[axis] = side ? h->n[axis] - 1 : 0;
        for (int i = 0; i < h->n[1 - axis] && (edge.kind == FD_VALUE || edge.kind == FD_SLOPE); i++) {
            edge.index[1 - axis] = i;
            edge.when = step->from, h->given[0][axis][side][i] = fd_p_edge_given(&h->t, &edge);
            edge.when = step->to, h->given[1][axis][side][i] = fd_p_edge_given(&h->t, &edge);
        }
    }
}

/* Makes a step by the stages of its scheme, from u to u. */
TB_HOST void adi2d_p_host_stages(adi2d_p_host *h, int k)
{
    const adi2d_p_step_data *data = &h->step_data[k];
    const tb_real *now = fd_p_time_of(&h->t, k, 1), *base = data->of.base[0], *again = data->of.base[1];
    const tb_real size = data->of.size, dt = data->of.dt;
    const size_t pitch = (size_t)h->pitch;
    const int n = h->n[0], about = data->of.about, american = h->t.problem->exercise == FD_AMERICAN;
    int changes = !data->of.time_independent;
    tb_real *f0 = h->f[0], *f1 = h->f[1], *f2 = h->f[2], *later = h->f[3], *rest = h->tile;
    for (int f = 0; f < 4; f++)
        if (h->t.problem->face[f / 2][f % 2] == FD_SLOPE) changes = 1;
    for (int j = 0; j < h->n[1]; j++) {
        const size_t at = (size_t)(j + 1) * pitch + 1;
        tb_real *d = h->d + at, *g = h->g + at, *e = h->e + at;
        const tb_real *multiplier = h->multiplier + at;
        adi2d_p_host_line(h, h->u, j, k, 0, f0, f1, f2);
        for (int i = 0; i < n; i++) {
            d[i] = base[0] * f0[i] + base[1] * (f1[i] + f2[i]);
            g[i] = again[0] * f0[i] + again[1] * (f1[i] + f2[i]);
        }
        if (changes) {
            adi2d_p_host_line(h, h->u, j, k, 1, f0, later, rest);
            for (int i = 0; i < n; i++) {
                tb_real more = size * (later[i] - f1[i]);
                d[i] += more, e[i] = size * (rest[i] - f2[i]);
                if (!about) g[i] += more;
            }
            for (int side = 0; side < 2; side++) /* nothing else acts where the value is given */
                if (h->t.problem->face[0][side] == FD_VALUE) e[side ? n - 1 : 0] = 0;
        }
        if (american)
            for (int i = 0; i < n; i++) d[i] += dt * multiplier[i], g[i] += dt * multiplier[i];
    }
    const size_t all = pitch * (size_t)(h->n[1] + 2);
    tb_real *u = h->u, *z = h->z, *d = h->d, *g = h->g, *e = h->e;
    for (int s = 0; s < data->of.stages; s++) {
        tb_real *y = s ? g : d, *w = s && about ? z : u;
        if (s > 0)
            for (int j = 0; j < h->n[1]; j++) {
                const size_t at = (size_t)(j + 1) * pitch + 1;
                adi2d_p_host_line(h, z, j, k, 1, f0, f1, f2);
                for (int i = 0; i < n; i++) {
                    g[at + (size_t)i] += again[2] * f0[i] + again[3] * (f1[i] + f2[i]);
                    if (about) g[at + (size_t)i] += u[at + (size_t)i] - z[at + (size_t)i];
                }
            }
        adi2d_p_host_along_x(h, now, size, 0, y, w, y);
        if (changes && !(s && about))
            for (size_t i = 0; i < all; i++) y[i] += e[i];
        tb_real *change = s ? d : z, *result = s == data->of.stages - 1 ? u : z;
        adi2d_p_host_along_y(h, now, size, y, w, change);
        for (size_t i = 0; i < all; i++) result[i] = w[i] + change[i];
    }
}

/* Makes a step as a product of factors; z stays in h->z from one such step to the next, u is in h->u after the last. */
TB_HOST void adi2d_p_host_product(adi2d_p_host *h, int k)
{
    const adi2d_p_step_data *data = &h->step_data[k];
    const tb_real *now = fd_p_time_of(&h->t, k, 1), size = data->of.size;
    const size_t pitch = (size_t)h->pitch;
    const int n = h->n[0];
    if (data->open)
        for (int j = 0; j < h->n[1]; j++) {
            const size_t at = (size_t)(j + 1) * pitch + 1;
            tb_real *f2 = h->f[2];
            adi2d_p_host_line(h, h->u, j, k, 1, h->f[0], h->f[1], f2);
            for (int i = 0; i < n; i++) h->z[at + (size_t)i] = h->u[at + (size_t)i] + size * f2[i];
        }
    adi2d_p_host_along_x(h, now, size, 1, h->z, NULL, h->d);
    adi2d_p_host_along_y(h, now, size, h->d, NULL, h->u);
    if (!data->close)
        for (int j = 0; j < h->n[1]; j++) {
            const size_t at = (size_t)(j + 1) * pitch + 1;
            tb_real *FD_P_RESTRICT z = h->z + at;
            const tb_real *FD_P_RESTRICT u = h->u + at, *FD_P_RESTRICT d = h->d + at;
            for (int i = 0; i < n; i++) z[i] = 2 * u[i] - d[i];
        }
}

/* Applies early exercise after a step. */
TB_HOST void adi2d_p_host_exercise(adi2d_p_host *h, const adi2d_p_step_data *data, int kind)
{
    for (int j = 0; j < h->n[1]; j++) {
        const size_t at = (size_t)(j + 1) * (size_t)h->pitch + 1;
        const tb_real *final = h->t.final + (size_t)j * (size_t)h->n[0];
        tb_real *u = h->u + at, *multiplier = h->multiplier + at;
        for (int i = 0; i < h->n[0]; i++) {
            const int index[2] = {i, j};
            const tb_real pays = fd_p_pays(&h->t, index, data->to, final[i]);
            u[i] = fd_lane_exercise(kind, data->of.dt, pays, u[i], &multiplier[i]);
        }
    }
}

/* Writes the results of a time, 0 or 1 + a date. */
TB_HOST void adi2d_p_host_record(const adi2d_p_host *h, int time)
{
    const fd_batch *batch = h->batch;
    const size_t at = (size_t)h->which * (size_t)(1 + batch->dates) + (size_t)time, row = (size_t)batch->points[0];
    const long long stride[2] = {1, h->pitch};
    const tb_real *u = h->u + h->pitch + 1;
    tb_real *grid = (tb_real *)batch->grid;
    for (int s = 0; s < batch->spots; s++)
        batch->values[at * (size_t)batch->spots + (size_t)s] = fd_p_values_at(&h->t, s, u, stride);
    if (!grid) return;
    grid += at * row * (size_t)batch->points[1];
    for (int j = 0; j < batch->points[1]; j++)
        for (int i = 0; i < batch->points[0]; i++)
            grid[(size_t)j * row + (size_t)i] = i < h->n[0] && j < h->n[1] ? u[j * h->pitch + i] : fd_p_nan();
}

/* Shifts the values at a date along x, from h->u to h->d and back. */
TB_HOST void adi2d_p_host_shift(adi2d_p_host *h, const fd_date *event)
{
    const size_t pitch = (size_t)h->pitch;
    const double *x = h->t.x[0];
    for (int i = 0; i < h->n[0]; i++) {
        fd_weights from;
        if (fd_interpolate(h->n[0], x, fd_shifted(event, x[i], x[0], x[h->n[0] - 1]), &from)) continue;
        for (int j = 0; j < h->n[1]; j++) {
            const size_t at = (size_t)(j + 1) * pitch + 1;
            double sum = 0;
            for (int m = 0; m < 4; m++) sum += from.value[m] * (double)h->u[at + (size_t)(from.first + m)];
            h->d[at + (size_t)i] = (tb_real)sum;
        }
    }
    for (int j = 0; j < h->n[1]; j++)
        memcpy(h->u + (size_t)(j + 1) * pitch + 1, h->d + (size_t)(j + 1) * pitch + 1,
               (size_t)h->n[0] * sizeof(tb_real));
}

/* Applies the events at the date that ends a step, and notes how much a change adds. */
TB_HOST void adi2d_p_host_date(adi2d_p_host *h, const adi2d_p_step_data *data)
{
    const int date = data->of.date, what = h->t.problem->at_date[date].what;
    if (what & FD_SHIFT) adi2d_p_host_shift(h, &h->t.problem->at_date[date]);
    for (int j = 0; j < h->n[1]; j++)
        for (int i = 0; i < h->n[0]; i++) {
            const size_t at = (size_t)(j + 1) * (size_t)h->pitch + (size_t)i + 1;
            const int index[2] = {i, j};
            h->u[at] = fd_p_changed(&h->t, date, data->to, index, h->u[at],
                                    h->t.final[(size_t)j * (size_t)h->n[0] + (size_t)i], &h->multiplier[at],
                                    &h->t.found->given);
        }
    if (what & FD_RECORD) adi2d_p_host_record(h, 1 + date);
}

/* Returns the first point that is not finite, i + n[0] * j; or -1, and in *largest the largest magnitude. */
TB_HOST int adi2d_p_host_lost(const adi2d_p_host *h, int *largest)
{
    *largest = 0;
    for (int j = 0; j < h->n[1]; j++)
        for (int i = 0; i < h->n[0]; i++) {
            const tb_real value = h->u[(size_t)(j + 1) * (size_t)h->pitch + (size_t)i + 1];
            if (!trid_finite(value)) return i + h->n[0] * j;
            *largest = fd_p_larger(*largest, (double)value);
        }
    return -1;
}

/* Marches a prepared problem. The first march checks nothing on its way. Where it fails, a second one, `watched`, looks
   in each step for the first number that is not finite, the model's before the values. */
TB_HOST fd_status adi2d_p_host_march(adi2d_p_host *h, int watched)
{
    const fd_p_findings *found = h->t.found;
    int largest;
    const size_t grid = (size_t)h->pitch * (size_t)(h->n[1] + 2) * sizeof(tb_real);
    tb_real *all[6] = {h->u, h->z, h->d, h->g, h->e, h->multiplier};
    for (int k = 0; k < 6; k++) memset(all[k], 0, grid);
    for (int j = 0; j < h->n[1]; j++)
        memcpy(h->u + (size_t)(j + 1) * (size_t)h->pitch + 1, h->t.final + (size_t)j * (size_t)h->n[0],
               (size_t)h->n[0] * sizeof(tb_real));
    for (int k = 0; k < found->steps; k++) {
        const adi2d_p_step_data *data = &h->step_data[k];
        for (size_t at = 0; watched && at < (size_t)h->n[0] * (size_t)h->n[1] * 2; at++) {
            const int i = (int)(at / 2 % (size_t)h->n[0]), j = (int)(at / 2 / (size_t)h->n[0]), index[2] = {i, j};
            const tb_real *time = fd_p_time_of(&h->t, k, (int)(at % 2));
            if (!fd_p_terms_finite(fd_p_terms_here(&h->t, index, time)))
                return fd_status_of(FD_MODEL_NAN, 0, -1, i, j, -1, k);
        }
        if (data->product) {
            adi2d_p_host_product(h, k);
        } else {
            adi2d_p_host_given(h, &h->step_data[k]);
            adi2d_p_host_stages(h, k);
        }
        if (h->t.problem->exercise != FD_EUROPEAN) adi2d_p_host_exercise(h, data, h->t.problem->exercise);
        if (fd_p_event(h->t.problem, data->of.date)) adi2d_p_host_date(h, data);
        int lost = watched ? adi2d_p_host_lost(h, &largest) : -1;
        if (lost >= 0) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost % h->n[0], lost / h->n[0], -1, k);
    }
    int lost = adi2d_p_host_lost(h, &largest);
    if (lost >= 0) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost % h->n[0], lost / h->n[0], -1, found->steps - 1);
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    fd_p_grown(&status, found->given, largest);
    return status;
}

/* Prepares and marches one problem. */
TB_HOST void adi2d_p_host_problem(const fd_batch *batch, const fd_model_parameters *parameters, int which,
                                  void *memory)
{
    adi2d_p_host h;
    adi2d_p_host_lay_out(batch, (unsigned char *)memory, &h);
    h.batch = batch, h.which = which;
    h.t.problem = &batch->problem[which], h.t.parameters = &parameters[which];
    for (int phase = 0; phase < ADI2D_P_PHASES; phase++)
        adi2d_p_prepare(batch, &h.t, h.step_data, which, phase, 0, 1);
    const fd_p_findings *found = h.t.found;
    fd_status status = found->status;
    h.n[0] = found->points[0], h.n[1] = found->points[1], h.pitch = h.n[0] + 2;
    if (!status.what) {
        for (int i = 0; i < h.n[0]; i++) {
            const fd_cell cell = h.t.cell[0][i];
            h.spread[0][i] = cell.below, h.spread[1][i] = cell.above, h.spread[2][i] = cell.h, h.spread[3][i] = cell.w;
        }
        status = adi2d_p_host_march(&h, 0);
        if (status.what) status = adi2d_p_host_march(&h, 1);
        status.not_dominant = found->not_dominant;
    }
    batch->status[which] = status;
    if (status.what)
        fd_p_fill_nan(batch, which, 0, 1);
    else
        adi2d_p_host_record(&h, 0);
}

/* Returns how many bytes of memory so many of the host's workers need; 0 for none, or if adi2d_check refuses the batch,
   whose pointers may still be null. */
TB_HOST size_t adi2d_host_bytes(const fd_batch *batch, int workers)
{
    return workers < 1 || adi2d_p_sizes(batch) ? 0 : (size_t)workers * adi2d_p_host_lay_out(batch, NULL, NULL);
}

/* Checks a call of so many workers that is to solve so many problems. */
TB_HOST int adi2d_p_host_check(const fd_batch *batch, const fd_model_parameters *parameters, int problems, int workers,
                               const void *memory, size_t bytes)
{
    const int wrong = adi2d_check(batch);
    if (wrong || workers < 1) return wrong ? wrong : FD_BAD_SIZE;
    if (problems < 1) return FD_OK;
    if (!parameters || !memory || fd_p_misaligned(memory)) return FD_BAD_ARGUMENT;
    return bytes < adi2d_host_bytes(batch, workers) ? FD_NO_ROOM : FD_OK;
}

/* Solves problems from .. to - 1 of the batch, in the calling thread.
   Needs    parameters of each problem of the batch; memory of MODEL_host_bytes for one worker, the thread's own,
            aligned as by malloc;
            0 <= from, to <= batch->problems
   Leaves   status and values, the grid's values and coordinates; if the call is refused, its status in each of these
            problems, and NaN
   Returns  FD_OK, or as adi2d_check; FD_BAD_ARGUMENT for a null pointer or memory off alignment; FD_NO_ROOM if memory
            is less than MODEL_host_bytes; FD_BAD_SIZE for a range outside the batch, which touches no problem
   Cost     for a step of Douglas' scheme, two solves of three to four loops each, vectorised across lines */
TB_HOST int adi2d_host_problems(const fd_batch *batch, const fd_model_parameters *parameters, int from, int to,
                                void *memory, size_t bytes)
{
    if (!batch) return FD_BAD_ARGUMENT;
    if (from < 0 || to > batch->problems) return FD_BAD_SIZE;
    const int wrong = adi2d_p_host_check(batch, parameters, to - from, 1, memory, bytes);
    if (wrong) return fd_p_host_refuse(batch, from, to, wrong);
    for (int which = from; which < to; which++) adi2d_p_host_problem(batch, parameters, which, memory);
    return FD_OK;
}

/* Solves all problems of the batch: by `workers` threads of OpenMP where the program is compiled with it, else one
   after the other.
   Needs    memory of MODEL_host_bytes, aligned as by malloc
   Leaves   as MODEL_host_problems: a problem may have failed although the call has not
   Returns  as MODEL_host_problems; FD_BAD_SIZE for workers < 1 */
TB_HOST int adi2d_host(const fd_batch *batch, const fd_model_parameters *parameters, int workers, void *memory,
                       size_t bytes)
{
    if (!batch) return FD_BAD_ARGUMENT;
    const int problems = batch->problems;
    const int wrong = adi2d_p_host_check(batch, parameters, problems, workers, memory, bytes);
    if (wrong) return fd_p_host_refuse(batch, 0, problems, wrong);
#ifdef _OPENMP
    const size_t each = adi2d_host_bytes(batch, 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
    for (int which = 0; which < problems; which++)
        adi2d_p_host_problem(batch, parameters, which, (unsigned char *)memory + each * (size_t)omp_get_thread_num());
#else
    for (int which = 0; which < problems; which++) adi2d_p_host_problem(batch, parameters, which, memory);
#endif
    return FD_OK;
}
