/* line.h - a room of fd.h: cells, rows and boundary rows of a line, and a step's formulas at a point.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Boundary conditions at a face, the first or last point of a line. */
enum {
    FD_LINEAR,     /* the second normal derivative is zero */
    FD_VALUE,      /* the value is given. The row has no coupling; the caller writes 1 on the matrix's diagonal. On the
                      right-hand side it writes the value or, in a solve for the difference y' - w of fd_stage, the
                      value less w */
    FD_SLOPE,      /* the derivative in the direction of the axis is given; fd_lane_source returns its term */
    FD_DEGENERATE, /* the PDE itself holds. Diffusion and mixed terms must vanish at the face, and the drift must not
                      point out of the axis. The first derivative is a one-sided difference of second order;
                      fd_lane_face_three eliminates its third point from the matrix */
    FD_P_FACES
};

/* Aligns a struct to 16 bytes, so that in single precision a thread reads it in one access. */
#if defined __CUDACC__ || defined __CUDACC_RTC__
#define FD_P_ALIGN __align__(16)
#elif defined __GNUC__
#define FD_P_ALIGN __attribute__((aligned(16)))
#else
#define FD_P_ALIGN
#endif

/* How the drift of an inner point is discretised. */
enum {
    FD_CENTRAL, /* of second order; couplings may be negative where |drift| spacing > 2 diffusion, a cell Peclet number
                   above 2 */
    FD_UPWIND,  /* raises negative couplings to 0 by adding diffusion, and is of first order where it does */
    FD_FITTED   /* exponential: exact where drift u' + diffusion u'' = 0 between the neighbours; of first order where
                   FD_UPWIND adds diffusion */
};

/* ---- the body, read once for each precision ---------------------------------------------------------------------- */

#ifndef __cplusplus
#define fd_cell TB_OF(fd_cell)
#define fd_row TB_OF(fd_row)
#define fd_step_data TB_OF(fd_step_data)
#define fd_cell_at TB_OF(fd_cell_at)
#define fd_cells TB_OF(fd_cells)
#define fd_lane_first TB_OF(fd_lane_first)
#define fd_lane_second TB_OF(fd_lane_second)
#define fd_lane_mixed TB_OF(fd_lane_mixed)
#define fd_p_expm1 TB_OF(fd_p_expm1)
#define fd_p_phi TB_OF(fd_p_phi)
#define fd_p_psi TB_OF(fd_p_psi)
#define fd_p_fitted TB_OF(fd_p_fitted)
#define fd_lane_row TB_OF(fd_lane_row)
#define fd_lane_apply TB_OF(fd_lane_apply)
#define fd_lane_source TB_OF(fd_lane_source)
#define fd_lane_matrix TB_OF(fd_lane_matrix)
#define fd_step_data_of TB_OF(fd_step_data_of)
#define fd_p_same TB_OF(fd_p_same)
#define fd_p_same_size TB_OF(fd_p_same_size)
#define fd_p_differ TB_OF(fd_p_differ)
#define fd_p_nan TB_OF(fd_p_nan)
#define fd_p_raised TB_OF(fd_p_raised)
#define fd_lane_exercise TB_OF(fd_lane_exercise)
#define fd_lane_at_date TB_OF(fd_lane_at_date)
#define fd_lane_lag TB_OF(fd_lane_lag)
#define fd_lane_matrix_at TB_OF(fd_lane_matrix_at)
#define fd_lane_face_three TB_OF(fd_lane_face_three)
#define fd_lane_value TB_OF(fd_lane_value)
#else
#define fd_cell_f32 tb_f32::fd_cell
#define fd_cell_f64 tb_f64::fd_cell
#define fd_row_f32 tb_f32::fd_row
#define fd_row_f64 tb_f64::fd_row
#define fd_step_data_f32 tb_f32::fd_step_data
#define fd_step_data_f64 tb_f64::fd_step_data
#define fd_cell_at_f32 tb_f32::fd_cell_at
#define fd_cell_at_f64 tb_f64::fd_cell_at
#define fd_cells_f32 tb_f32::fd_cells
#define fd_cells_f64 tb_f64::fd_cells
#define fd_lane_first_f32 tb_f32::fd_lane_first
#define fd_lane_first_f64 tb_f64::fd_lane_first
#define fd_lane_second_f32 tb_f32::fd_lane_second
#define fd_lane_second_f64 tb_f64::fd_lane_second
#define fd_lane_mixed_f32 tb_f32::fd_lane_mixed
#define fd_lane_mixed_f64 tb_f64::fd_lane_mixed
#define fd_lane_row_f32 tb_f32::fd_lane_row
#define fd_lane_row_f64 tb_f64::fd_lane_row
#define fd_lane_apply_f32 tb_f32::fd_lane_apply
#define fd_lane_apply_f64 tb_f64::fd_lane_apply
#define fd_lane_source_f32 tb_f32::fd_lane_source
#define fd_lane_source_f64 tb_f64::fd_lane_source
#define fd_lane_matrix_f32 tb_f32::fd_lane_matrix
#define fd_lane_matrix_f64 tb_f64::fd_lane_matrix
#define fd_step_data_of_f32 tb_f32::fd_step_data_of
#define fd_step_data_of_f64 tb_f64::fd_step_data_of
#define fd_p_nan_f64 tb_f64::fd_p_nan
#define fd_lane_exercise_f32 tb_f32::fd_lane_exercise
#define fd_lane_exercise_f64 tb_f64::fd_lane_exercise
#define fd_lane_at_date_f32 tb_f32::fd_lane_at_date
#define fd_lane_at_date_f64 tb_f64::fd_lane_at_date
#define fd_lane_lag_f32 tb_f32::fd_lane_lag
#define fd_lane_lag_f64 tb_f64::fd_lane_lag
#define fd_lane_matrix_at_f32 tb_f32::fd_lane_matrix_at
#define fd_lane_matrix_at_f64 tb_f64::fd_lane_matrix_at
#define fd_lane_face_three_f32 tb_f32::fd_lane_face_three
#define fd_lane_face_three_f64 tb_f64::fd_lane_face_three
#define fd_lane_value_f32 tb_f32::fd_lane_value
#define fd_lane_value_f64 tb_f64::fd_lane_value
#endif

#define TB_BODY "../pde/fd/line.h"
#include "../../trid/twice.h"

#else /* TB_BODY: C over tb_real */

/* The cell of a point with spacings l below and r above: below = 1/l, above = 1/r, h = 2 / (l + r), w = l / (l + r). At
   a face, the coefficient of the missing spacing is 0, and the boundary condition sets h and w. */
typedef struct FD_P_ALIGN {
    tb_real below, above, h, w;
} fd_cell;

/* A row of A without kill: below (u[j-1] - u[j]) + above (u[j+1] - u[j]). */
typedef struct {
    tb_real below, above;
} fd_row;

/* Computes cell j of a line, for threads that take one each.
   Needs    a grid (fd_grid_check), 0 <= j < points, known kinds of faces
   Leaves   *cell; for the first and the last point also their entry of far_of (fd_cells)
   Returns  FD_OK, or 1 + j if points are so close that the cell's numbers are not finite in this precision
   Cost     4 divisions; at a face 3, or 5 if its kind is FD_DEGENERATE */
TB_HD int fd_cell_at(int points, const double *x, const int *face, int j, fd_cell *cell, tb_real *far_of)
{
    int first = j == 0, last = j == points - 1, at_face = first || last, kind = face[last];
    double l = first ? 0 : x[j] - x[j - 1], r = last ? 0 : x[j + 1] - x[j];
    double below = first ? 0 : 1 / l, above = last ? 0 : 1 / r;
    double h = 2 / (l + r), w = l / (l + r), third = 0; /* w: 0 at the first point, 1 at the last */
    if (at_face && kind != FD_SLOPE) h = 0;
    if (at_face && kind == FD_LINEAR) w = 1 - w;
    if (at_face && kind == FD_DEGENERATE) {
        double near_by = l + r, beyond = first ? x[2] - x[1] : x[j - 1] - x[j - 2];
        double share = near_by / (near_by + beyond);
        w = first ? 1 + share : -share;
        third = (first ? -1 : 1) * share / beyond;
    }
    if (at_face) far_of[last] = (tb_real)third;
    cell->below = (tb_real)below, cell->above = (tb_real)above, cell->h = (tb_real)h, cell->w = (tb_real)w;
    return trid_finite_f64((double)(cell->below + cell->above) + (double)cell->h) ? FD_OK : 1 + j;
}

/* Computes the cells of a line, faces included.
   Needs    `points` coordinates in x, and room for as many cells; face[0] for the first point, face[1] for the last
   Leaves   cell; far_of[0], far_of[1]: at an FD_DEGENERATE face, A u is its row plus drift far_of (u2 - u1), where u1
            is the value at the face's neighbour and u2 the value at the point beyond it; 0 at other faces
   Returns  FD_OK; as fd_grid_check; FD_BAD_ARGUMENT for a null pointer; FD_BAD_FACE; or as fd_cell_at
   Cost     that of fd_cell_at for each point */
TB_HD int fd_cells(int points, const double *x, const int *face, fd_cell *cell, tb_real *far_of)
{
    int status = fd_grid_check(points, x);
    if (status) return status;
    if (!face || !cell || !far_of) return FD_BAD_ARGUMENT;
    for (int side = 0; side < 2; side++)
        if (face[side] < 0 || face[side] >= FD_P_FACES) return FD_BAD_FACE;
    for (int j = 0; j < points && !status; j++) status = fd_cell_at(points, x, face, j, &cell[j], far_of);
    return status;
}

/* Returns the first derivative at a point, from the values below, at and above it.
   Needs    any finite number for a missing value (below the first point, above the last)
   Cost     2 subtractions, 1 multiplication, 2 FMA
   Error    of second order on smooth grids, exact for quadratics; at an FD_LINEAR face exact for straight lines. At an
            FD_DEGENERATE face the result lacks the term far_of (u2 - u1) of fd_cells. At FD_VALUE and FD_SLOPE faces
            the result is 0 */
TB_HD tb_real fd_lane_first(fd_cell cell, tb_real below, tb_real here, tb_real above)
{
    tb_real p = (above - here) * cell.above, m = (here - below) * cell.below;
    return m + cell.w * (p - m);
}

/* Returns the second derivative at a point, from the values below, at and above it.
   Cost     2 subtractions, 2 multiplications, 1 FMA
   Error    exact for quadratics; of second order on smooth grids, of first order on others. Besides the effect of
            errors in the values, there is a rounding error of about 2 h times the unit roundoff times the slope. At an
            FD_SLOPE face the result is the part that does not depend on the given slope; at other faces it is 0 */
TB_HD tb_real fd_lane_second(fd_cell cell, tb_real below, tb_real here, tb_real above)
{
    tb_real p = (above - here) * cell.above, m = (here - below) * cell.below;
    return cell.h * (p - m);
}

/* Returns the mixed derivative at a point where two lines cross, from nine values u[i + 3 k]: i along x, k along y.
   Cost     4 calls to fd_lane_first
   Error    exact for products of quadratics; of second order on smooth grids. At faces as fd_lane_first */
TB_HD tb_real fd_lane_mixed(fd_cell x, fd_cell y, const tb_real *u)
{
    return fd_lane_first(y, fd_lane_first(x, u[0], u[1], u[2]), fd_lane_first(x, u[3], u[4], u[5]),
                         fd_lane_first(x, u[6], u[7], u[8]));
}

/* Returns e^z - 1. */
TB_HD tb_real fd_p_expm1(tb_real z)
{
#if TB_BYTES == 4
    return expm1f(z);
#else
    return expm1(z);
#endif
}

/* Return (e^z - 1) / z and (e^z - 1 - z) / z^2, for z <= 40. */
TB_HD tb_real fd_p_phi(tb_real z)
{
    return z > (tb_real)1e-30 || z < (tb_real)-1e-30 ? fd_p_expm1(z) / z : 1;
}

TB_HD tb_real fd_p_psi(tb_real z)
{
    if (z > (tb_real)0.5 || z < (tb_real)-0.5) return (fd_p_expm1(z) - z) / z / z;
    tb_real sum = 1;
    for (int k = 15; k > 2; k--) sum = 1 + z / (tb_real)k * sum;
    return sum / 2;
}

/* Returns flow = h diffusion' + w drift, with the diffusion' that makes the row exact for exp(-z x), z = drift /
   diffusion (exponential fitting, after Il'in, Scharfetter and Gummel). With spacings l and r, flow is
   diffusion phi(z l) / (l psi(z l) + r psi(-z r)),  in which nothing cancels. Where z l or -z r exceeds 40, it is drift
   or 0. */
TB_HD tb_real fd_p_fitted(fd_cell cell, tb_real drift, tb_real diffusion)
{
    const tb_real low = diffusion * cell.below, high = diffusion * cell.above; /* may be rounded to 0 */
    if (drift > 40 * low) return drift;
    if (-drift > 40 * high || !(low > 0 && high > 0)) return diffusion >= 0 && drift < 0 ? 0 : diffusion + drift;
    tb_real l = drift / low, r = -drift / high;
    return diffusion * fd_p_phi(l) / (fd_p_psi(l) / cell.below + fd_p_psi(r) / cell.above);
}

/* Returns the row of A at a point, from the PDE's drift and diffusion there.
   Needs    diffusion >= 0; fitting FD_CENTRAL, FD_UPWIND or FD_FITTED, a literal for speed. At faces it has no effect.
            At an FD_LINEAR or FD_DEGENERATE face the drift should point inwards; otherwise see fd_lane_lag
   Returns  the row. At an inner point it is exact for straight lines: row.above / cell.above - row.below / cell.below =
            drift. With FD_UPWIND and FD_FITTED no coupling of an inner point is negative, for any drift and diffusion
   Cost     1 FMA, 3 multiplications, 1 subtraction; FD_UPWIND adds two selections; FD_FITTED adds up to three
            exponentials and dozens of divisions, so it pays to tabulate rows that do not change
   Error    of second order; FD_UPWIND and FD_FITTED of first order where |drift| spacing > 2 diffusion. NaN in, NaN
            out */
TB_HD fd_row fd_lane_row(fd_cell cell, int fitting, tb_real drift, tb_real diffusion)
{
    tb_real flow = cell.h * diffusion + cell.w * drift;
    if (fitting != FD_CENTRAL && cell.below > 0 && cell.above > 0) {
        if (fitting == FD_FITTED) flow = fd_p_fitted(cell, drift, diffusion);
        if (flow < drift) flow = drift;
        if (flow < 0) flow = 0;
    }
    fd_row row;
    row.above = cell.above * flow;
    row.below = cell.below * (flow - drift);
    return row;
}

/* Returns A u at a point, from the values below, at and above it. The result does not include kill, the slope given at
   a face, or the term of a third point.
   Needs    as fd_lane_first
   Cost     2 subtractions, 1 multiplication, 1 FMA */
TB_HD tb_real fd_lane_apply(fd_row row, tb_real below, tb_real here, tb_real above)
{
    return row.below * (below - here) + row.above * (above - here);
}

/* Returns the term that the given slope of an FD_SLOPE face adds to A u there.
   Needs    the face's cell
   Cost     2 multiplications, 2 FMA */
TB_HD tb_real fd_lane_source(fd_cell cell, tb_real drift, tb_real diffusion, tb_real slope)
{
    return (drift + (2 * cell.w - 1) * cell.h * diffusion) * slope;
}

/* Computes a row of 1 - size A, where A includes kill; size is theta dt of an implicit step.
   Leaves   *a, *b and *c, for the tridiagonal solvers
   Returns  whether the row is diagonally dominant, b > |a| + |c|. Except for rounding, it is dominant if no coupling is
            negative and 1 + size kill > 0
   Cost     2 multiplications, 2 additions, 1 FMA, and the comparison if it is used */
TB_HD int fd_lane_matrix(fd_row row, tb_real size, tb_real kill, tb_real *a, tb_real *b, tb_real *c)
{
    *a = -size * row.below;
    *c = -size * row.above;
    *b = 1 + size * (row.below + row.above + kill);
    return *b > (*a < 0 ? -*a : *a) + (*c < 0 ? -*c : *c);
}

/* Step data: the numbers of a time step. */
typedef struct {
    tb_real dt, size; /* size: theta dt */
    tb_real
        base[2][4]; /* dt times the weights of F_0(u), (F_1 + F_2 + ..)(u), F_0(z), (F_1 + F_2 + ..)(z) in each stage */
    int stages, about;
    int time_independent; /* whether the coefficients are the same at the step's start and end; set by the caller, who
                             evaluates them */
    int date;             /* the index of the date at the step's end, or -1 */
} fd_step_data;

/* Computes the step data of a time step for a scheme. Steps of a kind other than FD_THETA use Douglas.
   Leaves   *data, with time_independent 0. If the scheme is refused, stages, size and all of base are 0
   Returns  FD_OK, FD_BAD_SCHEME or FD_BAD_THETA */
TB_HD int fd_step_data_of(int which, const fd_step *step, fd_step_data *data)
{
    double dt = step->from - step->to;
    fd_scheme scheme = {0, {{{0, 0}, {0, 0}, 0, 0}, {{0, 0}, {0, 0}, 0, 0}}};
    int status = fd_scheme_of(step->kind == FD_THETA ? which : FD_DOUGLAS, step->theta, &scheme);
    data->dt = (tb_real)dt, data->size = (tb_real)(scheme.stage[0].theta * dt);
    data->stages = scheme.stages, data->about = scheme.stage[1].about, data->time_independent = 0,
    data->date = step->date;
    for (int s = 0; s < 2; s++) {
        data->base[s][0] = (tb_real)(dt * scheme.stage[s].mixed[0]);
        data->base[s][1] = (tb_real)(dt * scheme.stage[s].own[0]);
        data->base[s][2] = (tb_real)(dt * scheme.stage[s].mixed[1]);
        data->base[s][3] = (tb_real)(dt * scheme.stage[s].own[1]);
    }
    return status;
}

/* Returns whether two lists of `count` numbers are equal; NaN counts as equal to any number. */
TB_HD int fd_p_same(int count, const tb_real *one, const tb_real *other)
{
    for (int q = 0; q < count; q++)
        if (one[q] < other[q] || one[q] > other[q]) return 0;
    return 1;
}

/* Returns whether the sizes, theta dt, of two steps are equal up to the rounding of the times at which the steps begin
   and end. One matrix then serves both. */
TB_HD int fd_p_same_size(tb_real one, tb_real other)
{
    const tb_real share = sizeof(tb_real) == 4 ? (tb_real)2e-7 : (tb_real)1e-11;
    return trid_abs(one - other) <= share * one;
}

/* Returns whether two numbers differ by more than the rounding of one expression computed in two ways. */
TB_HD int fd_p_differ(tb_real one, tb_real other)
{
    const tb_real share = sizeof(tb_real) == 4 ? (tb_real)4e-6 : (tb_real)1e-9;
    const tb_real apart = one > other ? one - other : other - one;
    return apart > share * ((one < 0 ? -one : one) + (other < 0 ? -other : other));
}

/* Returns NaN, for results of a problem that failed and for numbers that do not exist. */
TB_HD tb_real fd_p_nan(void)
{
    unsigned long long bits = 0x7ff8000000000000u;
    double nan;
    memcpy(&nan, &bits, sizeof nan);
    return (tb_real)nan;
}

/* Returns the larger of a value and `final`, the payoff of exercise. A value that is NaN stays NaN. */
TB_HD tb_real fd_p_raised(tb_real final, tb_real value)
{
#if __FINITE_MATH_ONLY__ && !defined __CUDA_ARCH__ /* with -ffast-math the comparison might drop the NaN */
    if (!trid_finite(value)) return value;
#endif
    return final > value ? final : value;
}

/* Returns a value after a time step, with early exercise.
   Needs    kind FD_AMERICAN or FD_PROJECTED; final: the payoff of exercise, not NaN, which comparisons would ignore;
            for FD_AMERICAN, the multiplier of the previous step in *extra. The step's right-hand side must include dt
            times this multiplier
   Leaves   for FD_AMERICAN, the new multiplier in *extra
   Cost     FD_AMERICAN 1 division, 1 addition, 1 subtraction, 1 FMA, 2 comparisons; FD_PROJECTED 1 comparison */
TB_HD tb_real fd_lane_exercise(int kind, tb_real dt, tb_real final, tb_real value, tb_real *extra)
{
    if (kind == FD_AMERICAN) {
        tb_real more = *extra + (final - value) / dt;
        value -= dt * *extra;
        *extra = more > 0 ? more : 0;
    }
    return fd_p_raised(final, value);
}

/* Returns a value after a date, with early exercise, from the value after the date's shift and change.
   Needs    what: the events at the date (fd_date); kind FD_EUROPEAN, FD_AMERICAN or FD_PROJECTED; final: the payoff of
            exercise, not NaN; for FD_AMERICAN, the multiplier of the step that ends at the date in *extra
   Leaves   for FD_AMERICAN, the multiplier for the next step in *extra: 0 where the value exceeds the payoff; elsewhere
            unchanged, since in the exercise region it depends only on the payoffs
   Cost     2 comparisons */
TB_HD tb_real fd_lane_at_date(int what, int kind, tb_real final, tb_real value, tb_real *extra)
{
    if (kind == FD_EUROPEAN && !(what & FD_EXERCISE)) return value;
    if (kind == FD_AMERICAN && value > final) *extra = 0;
    return fd_p_raised(final, value);
}

/* Returns the row without its negative couplings. Use it only for rows that fd_lane_matrix reports as not diagonally
   dominant, chiefly at faces whose drift points outwards.
   Needs    a solve for the difference y' - w (fd_stage), so that the omitted couplings act on w
   Cost     2 selections
   Error    theta dt times the omitted couplings times y' - w in each step: of first order in time */
TB_HD fd_row fd_lane_lag(fd_row row)
{
    if (row.below < 0) row.below = 0;
    if (row.above < 0) row.above = 0;
    return row;
}

/* Computes a row of 1 - size A as fd_lane_matrix does; at a face it omits couplings that would prevent dominance.
   Returns  whether the row was dominant with all couplings */
TB_HD int fd_lane_matrix_at(fd_row row, int at_face, tb_real size, tb_real kill, tb_real *a, tb_real *b, tb_real *c)
{
    int dominant = fd_lane_matrix(row, size, kill, a, b, c);
    if (at_face && !dominant) fd_lane_matrix(fd_lane_lag(row), size, kill, a, b, c);
    return dominant;
}

/* Eliminates the third unknown from the matrix row of an FD_DEGENERATE face, with the neighbour's row.
   Needs    third = size drift far_of. Of the face's row, *b and *near_by as fd_lane_matrix left them: *near_by is c at
            the first point, a at the last. Of the neighbour's row: `toward` is the coefficient of the face's unknown (a
            next to the first point, c next to the last), `middle` is b, `away` the remaining coefficient
   Leaves   *b and *near_by of the new row
   Returns  m <= 0: subtract m times the neighbour's right-hand side from the face's. If m would be positive or `away`
            is 0, or if the new row would not be dominant, nothing changes and m is 0. The matrix then lacks the third
            point, with the needs and the error of fd_lane_lag
   Cost     1 division, 2 FMA, 1 addition; the caller's subtraction is one more FMA */
TB_HD tb_real fd_lane_face_three(tb_real third, tb_real *b, tb_real *near_by, tb_real toward, tb_real middle,
                                 tb_real away)
{
    /* The face's row is b u0 + (near_by + third) u1 - third u2. */
    tb_real m = away < 0 || away > 0 ? -third / away : 0;
    tb_real diagonal = *b - m * toward, next = *near_by + third - m * middle;
    if (!(m <= 0 && diagonal > (next < 0 ? -next : next))) return 0;
    if (m < 0) *b = diagonal, *near_by = next;
    return m;
}

/* Returns a value or a derivative at a place: the grid's values times the tensor product of the axes' weights.
   Needs    dims 1 .. 3; weight[d], four weights (value, slope or curvature of fd_weights); stride[d], the distance in
            elements between neighbours along axis d; u, the address of the first of the 4^dims values: the grid's
            address plus, for each axis d, `first` of its fd_weights times stride[d]
   Cost     about 4^dims FMA in double precision */
TB_HD double fd_lane_value(int dims, const double *const *weight, const tb_real *u, const long long *stride)
{
    double sum = 0;
    for (int k = 0; k < (dims > 2 ? 4 : 1); k++)
        for (int j = 0; j < (dims > 1 ? 4 : 1); j++) {
            const tb_real *line = u + (dims > 2 ? k * stride[2] : 0) + (dims > 1 ? j * stride[1] : 0);
            double part = 0;
            for (int i = 0; i < 4; i++) part += weight[0][i] * (double)line[i * stride[0]];
            sum += (dims > 2 ? weight[2][k] : 1) * (dims > 1 ? weight[1][j] : 1) * part;
        }
    return sum;
}

#endif /* TB_BODY */
