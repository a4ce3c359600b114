/* lane.h - a room of bs3d.h: the operator L at a point and for a patch of points, and the Greeks, for one thread.
   MIT licence, see LICENSE. */

/* A row of an axis, shared by all points with the same index on it: the weights of the differences to the two
   neighbours on the axis, and the index as a factor of cross differences. */
typedef struct {
    tb_real down, up, weight;
} bs3d_row;

/* The weights that all points share: those of the cross differences, and the weight of the point's own value in the sum
   (1 - discount for u + L u, -discount for L u). */
typedef struct {
    tb_real plus[3], minus[3], same;
} bs3d_pairs;

/* Returns row i of an axis; zeros outside the grid.
   Cost     about 10 double operations */
TB_HD bs3d_row bs3d_lane_row(const bs3d_model *m, int axis, int i)
{
    bs3d_row r = {0, 0, 0};
    if (i < 0 || i >= m->points[axis]) return r;
    double down, centre, up;
    bs3d_lane_axis(m, axis, i, &down, &centre, &up);
    r.down = (tb_real)down;
    r.up = (tb_real)up;
    r.weight = (tb_real)(i < m->points[axis] - 1 ? i : 0); /* the last point has no cross differences */
    return r;
}

/* Returns the weights that all points share, for u + L u if identity is 1, for L u if it is 0. */
TB_HD bs3d_pairs bs3d_lane_pairs(const bs3d_model *m, int identity)
{
    bs3d_pairs pairs;
    for (int p = 0; p < 3; p++) {
        pairs.plus[p] = (tb_real)m->plus[p];
        pairs.minus[p] = (tb_real)m->minus[p];
    }
    pairs.same = (tb_real)(identity - m->discount);
    return pairs;
}

/* Returns the combination (a - b) - (c - d) of the values at the four corners of a cell. */
TB_HD tb_real bs3d_p_cell(tb_real a, tb_real b, tb_real c, tb_real d)
{
    return (a - b) - (c - d);
}

/* Returns L u, or u + L u, at one point with the plain formula, which reads every neighbour from memory.
   Needs    form BS3D_POSITIVE or BS3D_GENERAL; u: the address of the point; east, west, north, south, up, down: the
            distances to the neighbours, 0 where there is none
   Cost     form BS3D_POSITIVE: 13 loads and 37 operations (FMA, mul, add); BS3D_GENERAL: 19 loads and 58 operations */
TB_HD tb_real bs3d_lane_stencil(int form, const bs3d_pairs *pairs, bs3d_row x, bs3d_row y, bs3d_row z, const tb_real *u,
                                long long east, long long west, long long north, long long south, long long up,
                                long long down)
{
    const tb_real *above = u + up, *below = u + down;
    tb_real xy = x.weight * y.weight, xz = x.weight * z.weight, yz = y.weight * z.weight;
    tb_real sum = pairs->same * *u + x.up * (u[east] - *u) + x.down * (u[west] - *u) + y.up * (u[north] - *u) +
                  y.down * (u[south] - *u) + z.up * (*above - *u) + z.down * (*below - *u);
    sum += pairs->plus[0] * xy *
           (bs3d_p_cell(u[north + east], u[east], u[north], *u) + bs3d_p_cell(u[south + west], u[west], u[south], *u));
    sum += pairs->plus[1] * xz *
           (bs3d_p_cell(above[east], u[east], *above, *u) + bs3d_p_cell(below[west], u[west], *below, *u));
    sum += pairs->plus[2] * yz *
           (bs3d_p_cell(above[north], u[north], *above, *u) + bs3d_p_cell(below[south], u[south], *below, *u));
    if (form == BS3D_GENERAL) {
        sum +=
            pairs->minus[0] * xy *
            (bs3d_p_cell(u[north + west], u[west], u[north], *u) + bs3d_p_cell(u[south + east], u[east], u[south], *u));
        sum += pairs->minus[1] * xz *
               (bs3d_p_cell(above[west], u[west], *above, *u) + bs3d_p_cell(below[east], u[east], *below, *u));
        sum += pairs->minus[2] * yz *
               (bs3d_p_cell(above[south], u[south], *above, *u) + bs3d_p_cell(below[north], u[north], *below, *u));
    }
    return sum;
}

/* Computes L u (or u + L u) for a patch of `columns` x `rows` points, plane by plane. u holds the patch on plane k with
   one more point on each side, point (c, p) at u[(p + 1) (columns + 2) + c + 1]. The function adds the contributions of
   plane k: to plane k-1, which it completes in `out`; to plane k itself, in `now`; and to plane k+1, in `next`.
   Needs    literals for columns (at most 8), rows and form; x: the rows of the first axis at the patch's columns; y:
            those of the second axis at the patch's rows; z: those of the third axis at k-1, k, k+1; `now` and `next` 0
            before the first plane. Points beyond the grid may hold any finite numbers. The corners (-1, rows) and
            (columns, -1) are read only in form BS3D_GENERAL
   Leaves   `out`, `now`, `next`, point (c, p) at p * columns + c
   Cost     with 4 x 2 points about 25 operations (FMA, mul, add) a point, in form BS3D_GENERAL 35; with 8 x 8 points
            22 and 32 */
TB_HD void bs3d_lane_plane(int form, int columns, int rows, const bs3d_pairs *pairs, const bs3d_row *x,
                           const bs3d_row *y, const bs3d_row *z, const tb_real *u, tb_real *now, tb_real *next,
                           tb_real *out)
{
    const int width = columns + 2, first = width + 1;
    tb_real centre = pairs->same - (z[1].up + z[1].down);
    tb_real south[10] = {0}, north[10] = {0}; /* differences across a row's lower and upper edge */
    TB_UNROLL
    for (int c = 0; c < width; c++)
        if (form == BS3D_GENERAL || c < width - 1) south[c] = u[width + c] - u[c];
    TB_UNROLL
    for (int p = 0; p < rows; p++) {
        const tb_real *row = u + first + p * width;
        TB_UNROLL
        for (int c = 0; c < width; c++)
            if (form == BS3D_GENERAL || c > 0 || p < rows - 1) north[c] = row[width + c - 1] - row[c - 1];
        TB_UNROLL
        for (int c = 0; c < columns; c++) {
            tb_real east = row[c + 1] - row[c], west = row[c] - row[c - 1], plus = pairs->plus[0] * x[c].weight;
            tb_real x_plus = pairs->plus[1] * x[c].weight, y_plus = pairs->plus[2] * y[p].weight;
            tb_real above = x_plus * east + y_plus * north[c + 1], below = x_plus * west + y_plus * south[c + 1];
            tb_real flat = next[p * columns + c] + centre * row[c] + x[c].up * east - x[c].down * west +
                           y[p].up * north[c + 1] - y[p].down * south[c + 1] +
                           plus * y[p].weight * ((north[c + 2] - north[c + 1]) + (south[c + 1] - south[c]));
            if (form == BS3D_GENERAL) {
                tb_real minus = pairs->minus[0] * x[c].weight;
                tb_real x_minus = pairs->minus[1] * x[c].weight, y_minus = pairs->minus[2] * y[p].weight;
                above -= x_minus * west + y_minus * south[c + 1];
                below -= x_minus * east + y_minus * north[c + 1];
                flat -= minus * y[p].weight * ((north[c + 1] - north[c]) + (south[c + 2] - south[c + 1]));
            }
            if (form == BS3D_P_MIRRORED) {
                tb_real swap = above;
                above = -below;
                below = -swap;
            }
            out[p * columns + c] = now[p * columns + c] + z[0].up * row[c] + z[0].weight * above;
            now[p * columns + c] = flat - z[1].weight * (above - below);
            next[p * columns + c] = z[2].down * row[c] - z[2].weight * below;
        }
        TB_UNROLL
        for (int c = 0; c < width; c++) south[c] = north[c];
    }
}

/* Returns whether, at all corners of the spot's cell, the payoff is positive and the value equals it to within the
   rounding of strike and payoff. (The payoff may be much larger than the strike.) v: the 4x4x4 values around the
   spot. */
TB_HD int bs3d_p_exercised(const bs3d_problem *o, const tb_real *v)
{
    const double rounding = sizeof(tb_real) == 4 ? 1e-6 : 1e-14;
    for (int n = 0; n < 8; n++) {
        int corner[3], at = 0;
        for (int axis = 2; axis >= 0; axis--) {
            int first = bs3d_p_first(o, axis), low = (int)(o->spot[axis] / bs3d_p_spacing(o, axis)) - first;
            low = (low < 2 ? low : 2) + (n >> axis & 1);
            corner[axis] = first + low;
            at = 4 * at + low;
        }
        double payoff = bs3d_p_payoff_at(o, corner[0], corner[1], corner[2]);
        if (!(payoff > 0 && (double)v[at] - payoff <= rounding * (o->strike + payoff / 10))) return 0;
    }
    return 1;
}

/* Returns price and derivatives at the spot by four-point cubics along each axis. v: the 4x4x4 values around the spot,
   value (a, b, c) at v[a + 4 b + 16 c]. Theta follows from the derivatives by the PDE; it is 0 where an American option
   is exercised.
   Cost     about 700 operations in double precision */
TB_HD bs3d_result bs3d_lane_greeks(const bs3d_problem *o, const tb_real *v)
{
    /* The orders of the ten derivatives along the axes: the value, deltas, gammas, cross gammas. */
    const int order[10][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                              {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    double weight[3][3][4], ds[3], sum[10] = {0};
    for (int axis = 0; axis < 3; axis++) {
        ds[axis] = bs3d_p_spacing(o, axis);
        bs1d_lane_cubic(o->spot[axis] / ds[axis] - bs3d_p_first(o, axis), weight[axis][0], weight[axis][1],
                        weight[axis][2]);
    }
    for (int z = 0; z < 4; z++) {
        for (int y = 0; y < 4; y++) {
            double line[3] = {0, 0, 0}; /* value and derivatives along x */
            for (int x = 0; x < 4; x++)
                for (int d = 0; d < 3; d++) line[d] += weight[0][d][x] * (double)v[x + 4 * y + 16 * z];
            TB_UNROLL
            for (int n = 0; n < 10; n++)
                sum[n] += weight[2][order[n][2]][z] * weight[1][order[n][1]][y] * line[order[n][0]];
        }
    }
    bs3d_result r;
    r.price = sum[0];
    for (int axis = 0; axis < 3; axis++) {
        r.delta[axis] = sum[1 + axis] / ds[axis];
        r.gamma[axis] = sum[4 + axis] / (ds[axis] * ds[axis]);
        r.cross[axis] = sum[7 + axis] / (ds[BS3D_P_FIRST(axis)] * ds[BS3D_P_SECOND(axis)]);
    }
    r.theta = o->rate * r.price;
    for (int axis = 0; axis < 3; axis++) {
        double scale = o->volatility[axis] * o->spot[axis];
        r.theta -= (o->rate - o->dividend[axis]) * o->spot[axis] * r.delta[axis] + 0.5 * scale * scale * r.gamma[axis];
    }
    for (int p = 0; p < 3; p++) {
        int m = BS3D_P_FIRST(p), n = BS3D_P_SECOND(p);
        r.theta -= o->correlation[p] * o->volatility[m] * o->spot[m] * o->volatility[n] * o->spot[n] * r.cross[p];
    }
    r.status = trid_finite_f64(r.theta) ? BS3D_OK : BS3D_NOT_FINITE; /* theta is finite only if all numbers are */
    if ((o->flags & BS3D_AMERICAN) && o->payoff != BS3D_GIVEN && bs3d_p_exercised(o, v)) r.theta = 0;
    return r;
}

/* Returns the distance between rows of the grid, in elements: value (i, j, k) is at [i + pitch (j + ny k)]. It is a
   multiple of 128 bytes. */
TB_HD int bs3d_pitch(int nx)
{
    const int line = 128 / (int)sizeof(tb_real);
    return (nx + line - 1) / line * line;
}
/* Returns the number of elements of a grid. */
TB_HD size_t bs3d_p_cells(const int *points)
{
    return (size_t)bs3d_pitch(points[0]) * (size_t)points[1] * (size_t)points[2];
}
