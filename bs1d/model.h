/* model.h - a room of bs1d.h: the PDE on its grid, payoffs, interpolation, the steps from maturity to 0, all in double
   precision. MIT licence, see LICENSE. */

/* Computes row j of A; zeros for a row outside the grid.
   Cost     about 6 double operations */
TB_HD void bs1d_lane_row(bs1d_model m, int j, double *a, double *b, double *c)
{
    double lambda = m.variance * j * j, gamma = m.drift * j;
    int last = j == m.points - 1, inside = j >= 0 && j < m.points;
    if (m.upwind && lambda < fabs(gamma)) lambda = fabs(gamma);
    *a = !inside ? 0 : last ? -2 * gamma : lambda - gamma;
    *b = !inside ? 0 : last ? 2 * gamma - m.discount : -2 * lambda - m.discount;
    *c = !inside || last ? 0 : lambda + gamma;
}

/* Computes row j of I - size A as the implicit rungs solve it. The last row omits its drift if 2 gamma size is too
   large for diagonal dominance (above about 1/2). The omitted drift then belongs on the right-hand side, at the old
   values, unless that side is formed from A itself.
   Returns  the omitted factor of u[points-1] - u[points-2]; 0 for the other rows, and if the last row omits nothing
   Cost     about 12 double operations */
TB_HD double bs1d_lane_matrix(bs1d_model m, double size, int j, double *a, double *b, double *c)
{
    double ra, rb, rc;
    bs1d_lane_row(m, j, &ra, &rb, &rc);
    *a = -size * ra;
    *b = 1 - size * rb;
    *c = -size * rc;
    if (j != m.points - 1 || fabs(*b) > fabs(*a)) return 0;
    double left_out = *a;
    *a = 0;
    *b = 1 + size * m.discount;
    return left_out;
}

/* Returns whether row j of bs1d_lane_matrix is strictly diagonally dominant. The implicit rungs do not pivot: they
   refuse an option if a row is not (BS1D_NOT_DOMINANT).
   Cost     about 15 double operations */
TB_HD int bs1d_lane_dominant(bs1d_model m, double size, int j)
{
    double a, b, c;
    bs1d_lane_matrix(m, size, j, &a, &b, &c);
    return fabs(b) > fabs(a) + fabs(c);
}

/* Returns whether the explicit rungs accept the model (BS1D_UNSTABLE). */
TB_HD int bs1d_p_stable(bs1d_model m)
{
    double last = m.points - 1, lambda = m.variance * last * last, gamma = fabs(m.drift) * last;
    if (m.upwind) return 2 * (lambda > gamma ? lambda : gamma) + m.discount <= 1;
    return 2 * lambda + m.discount <= 1 && 2 * m.drift * m.drift <= m.variance;
}

/* Returns the payoff at point j of a grid with spacing ds or, with BS1D_AVERAGED, its average over the cell,
   except at the first and last point.
   Cost     a few double operations */
TB_HD double bs1d_lane_payoff(int flags, double strike, double ds, int points, int j)
{
    /* One rounding on every machine, so that values can be compared with the payoff for equality. */
    double inside = (flags & BS1D_PUT ? -1 : 1) * fma((double)j, ds, -strike), half = ds / 2;
    if ((flags & BS1D_AVERAGED) && j > 0 && j < points - 1 && inside > -half && inside < half)
        return (inside + half) * ((inside + half) / (2 * ds));
    return inside < 0 ? 0 : inside; /* NaN stays NaN */
}

/* Computes the weights of four-point Lagrange interpolation, four each for the value, the first and the second
   derivative, at distance x from the first point. The unit of length is the spacing.
   Cost     about 50 double operations */
TB_HD void bs1d_lane_cubic(double x, double *value, double *first, double *second)
{
    double p = x, q = x - 1, r = x - 2, s = x - 3;
    value[0] = -q * r * s / 6;
    value[1] = p * r * s / 2;
    value[2] = -p * q * s / 2;
    value[3] = p * q * r / 6;
    first[0] = -(q * r + q * s + r * s) / 6;
    first[1] = (p * r + p * s + r * s) / 2;
    first[2] = -(p * q + p * s + q * s) / 2;
    first[3] = (p * q + p * r + q * r) / 6;
    second[0] = -(q + r + s) / 3;
    second[1] = p + r + s;
    second[2] = -(p + q + s);
    second[3] = (p + q + r) / 3;
}

/* The steps from maturity to 0. */
typedef struct {
    int implicit; /* backward Euler steps of `size` */
    int crank;    /* Crank-Nicolson steps after them */
    double size;  /* of a backward Euler step, in units of dt; all steps have the matrix I - size A */
} bs1d_p_plan;

/* Returns the steps of an option with these flags; Crank-Nicolson begins with a Rannacher start. */
TB_HD bs1d_p_plan bs1d_p_plan_of(int flags, int steps)
{
    bs1d_p_plan plan = {steps, 0, 1};
    if (flags & BS1D_CRANK_NICOLSON) {
        int start = steps < 2 ? steps : 2;
        plan.implicit = 2 * start;
        plan.crank = steps - start;
        plan.size = 0.5;
    }
    return plan;
}
