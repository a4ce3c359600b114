/* model.h - a room of bs3d.h: the model of a problem, its payoff, and its checks.
   MIT licence, see LICENSE. */

/* The axes of pair p. */
#define BS3D_P_FIRST(p) ((p) < 2 ? 0 : 1)
#define BS3D_P_SECOND(p) ((p) > 0 ? 2 : 1)

/* The form of the cross differences: with the corners (+,+) and (-,-) only, which is cheaper, or with all four. */
enum {
    BS3D_POSITIVE,
    BS3D_GENERAL,
    BS3D_P_MIRRORED /* BS3D_POSITIVE in a sweep down the third axis: pairs with that axis use (+,-) and (-,+) */
};

/* Returns the model of a problem whose numbers have been checked. The cross difference of axes m and n has the weight
   t i_m i_n, with t = correlation volatility_m volatility_n dt / 2. It uses seven points along one diagonal if that is
   stable for all pairs, and otherwise the four corners. The correlation's sign selects the diagonal. */
TB_HD bs3d_model bs3d_model_of(const bs3d_problem *o)
{
    const double *rho = o->correlation, dt = o->maturity / o->steps;
    double seven = 1 - rho[0] * rho[0] - rho[1] * rho[1] - rho[2] * rho[2] - 2 * fabs(rho[0] * rho[1] * rho[2]);
    bs3d_model m;
    for (int axis = 0; axis < 3; axis++) {
        m.variance[axis] = 0.5 * o->volatility[axis] * o->volatility[axis] * dt;
        m.drift[axis] = 0.5 * (o->rate - o->dividend[axis]) * dt;
        m.points[axis] = o->points[axis];
    }
    for (int p = 0; p < 3; p++) {
        double t = 0.5 * rho[p] * o->volatility[BS3D_P_FIRST(p)] * o->volatility[BS3D_P_SECOND(p)] * dt;
        m.plus[p] = seven < 0 ? 0.5 * t : t > 0 ? t : 0;
        m.minus[p] = seven < 0 ? -0.5 * t : t < 0 ? -t : 0;
    }
    m.discount = o->rate * dt;
    m.upwind = (o->flags & BS3D_UPWIND) != 0;
    return m;
}

/* Returns the part of the model along an axis as a model of bs1d.h. The matrix A of that model is L_axis, and
   bs1d_lane_matrix with size 1 computes the rows of A_axis. The first axis takes the discount. */
TB_HD bs1d_model bs3d_axis_of(const bs3d_model *m, int axis)
{
    bs1d_model line;
    line.variance = m->variance[axis];
    line.drift = m->drift[axis];
    line.discount = axis == 0 ? m->discount : 0;
    line.points = m->points[axis];
    line.upwind = m->upwind;
    return line;
}

/* Returns the form of a model. */
TB_HD int bs3d_p_form(const bs3d_model *m)
{
    return m->minus[0] != 0 || m->minus[1] != 0 || m->minus[2] != 0 ? BS3D_GENERAL : BS3D_POSITIVE;
}

/* Computes row i of the part of L along an axis, without the discount. *down and *up are the weights of the neighbours.
   The last point has no second difference.
   Cost     about 6 double operations */
TB_HD void bs3d_lane_axis(const bs3d_model *m, int axis, int i, double *down, double *centre, double *up)
{
    bs1d_model line = bs3d_axis_of(m, axis);
    line.discount = 0;
    bs1d_lane_row(line, i, down, centre, up);
}

/* Returns the payoff at point (s1, s2, s3). Of the flags, only BS3D_PUT matters.
   Needs    a payoff from BS3D_ASSET to BS3D_ARITHMETIC */
TB_HD double bs3d_lane_payoff(int payoff, int flags, double strike, double s1, double s2, double s3)
{
    double high = s1 > s2 ? s1 : s2, low = s1 < s2 ? s1 : s2, inside;
    high = high > s3 ? high : s3;
    low = low < s3 ? low : s3;
    inside = (payoff == BS3D_ASSET        ? s1
              : payoff == BS3D_GEOMETRIC  ? cbrt(s1 * s2 * s3)
              : payoff == BS3D_MAXIMUM    ? high
              : payoff == BS3D_ARITHMETIC ? (s1 + s2 + s3) / 3
                                          : low) -
             strike;
    if (flags & BS3D_PUT) inside = -inside;
    return inside < 0 ? 0 : inside; /* NaN stays NaN */
}

/* Returns the spacing of an axis. */
TB_HD double bs3d_p_spacing(const bs3d_problem *o, int axis)
{
    return o->top[axis] / (o->points[axis] - 1);
}

/* Returns the payoff at point (i, j, k) of the grid. */
TB_HD double bs3d_p_payoff_at(const bs3d_problem *o, int i, int j, int k)
{
    return bs3d_lane_payoff(o->payoff, o->flags, o->strike, i * bs3d_p_spacing(o, 0), j * bs3d_p_spacing(o, 1),
                            k * bs3d_p_spacing(o, 2));
}

/* Returns the first of the four points around the spot on an axis, all of them on the grid. */
TB_HD int bs3d_p_first(const bs3d_problem *o, int axis)
{
    int first = (int)(o->spot[axis] / bs3d_p_spacing(o, axis)) - 1;
    if (first > o->points[axis] - 4) first = o->points[axis] - 4;
    return first < 0 ? 0 : first;
}

/* Returns the offset of the n-th of the 64 points around the spot; pitch and plane are the distances between rows and
   between planes. */
TB_HD long long bs3d_p_around(const bs3d_problem *o, int n, long long pitch, long long plane)
{
    return bs3d_p_first(o, 0) + n % 4 + pitch * (bs3d_p_first(o, 1) + n / 4 % 4) +
           plane * (bs3d_p_first(o, 2) + n / 16);
}

/* ---- checks of a problem ----------------------------------------------------------------------------------------- */

#if TB_HOST_SCOPE
/* Returns the coefficient of i^2 in lambda (bs3d_model) at the last point. */
TB_HOST double bs3d_p_variance(const bs3d_model *m, int axis)
{
    double upwind = fabs(m->drift[axis]) / (m->points[axis] - 1);
    return m->upwind && m->variance[axis] < upwind ? upwind : m->variance[axis];
}

/* A Fourier mode and the weights at the far corner of the grid. With e = 1 - cos and s = sin of the phase along each
   axis, a time step damps the mode by
       discount + sum over axes (2 lambda e) - sum over pairs (even e e') + sum over pairs (odd s s'),
   where even and odd are twice the sum and twice the difference of the weights of the two diagonals. */
typedef struct {
    double discount, lambda[3], even[3], odd[3], e[3], s[3];
} bs3d_p_mode;

/* Moves one phase to where the damping is largest, and returns that damping. As a function of this phase the damping is
   rest + a e + b s; its maximum is rest + a + sqrt(a^2 + b^2). */
TB_HOST double bs3d_p_best_phase(bs3d_p_mode *mode, int axis)
{
    double a = 2 * mode->lambda[axis], b = 0, rest = mode->discount, most;
    for (int p = 0; p < 3; p++) {
        int m = BS3D_P_FIRST(p), n = BS3D_P_SECOND(p);
        if (m == axis || n == axis) {
            int other = m + n - axis;
            a -= mode->even[p] * mode->e[other];
            b += mode->odd[p] * mode->s[other];
        } else {
            rest += 2 * (mode->lambda[m] * mode->e[m] + mode->lambda[n] * mode->e[n]) -
                    mode->even[p] * mode->e[m] * mode->e[n] + mode->odd[p] * mode->s[m] * mode->s[n];
        }
    }
    most = sqrt(a * a + b * b);
    mode->e[axis] = most > 0 ? 1 + a / most : 0;
    mode->s[axis] = most > 0 ? b / most : 0;
    return rest + a + most;
}

/* Maximises the damping along one axis after another, in at most `times` rounds. */
TB_HOST double bs3d_p_climb(bs3d_p_mode *mode, int times)
{
    double before = -1, most = 0;
    for (int n = 0; n < times && most > before * (1 + 1e-12); n++) {
        before = most;
        for (int axis = 0; axis < 3; axis++) most = bs3d_p_best_phase(mode, axis);
    }
    return most;
}

/* Returns the largest damping on the grid; a march by u += L u is stable only if it is at most 2. The damping is convex
   in each index, so it is largest at a corner of the grid. The far corner stands for all corners, since a mode without
   phase along an axis is damped as if the index on that axis were 0. The search improves all modes of a lattice a
   little, then the best one until the damping hardly grows. */
TB_HOST double bs3d_p_damping(const bs3d_model *m)
{
    const int lattice = 12;
    double most = 0;
    bs3d_p_mode mode, best;
    mode.discount = m->discount;
    for (int axis = 0; axis < 3; axis++) {
        double i = m->points[axis] - 1;
        mode.lambda[axis] = bs3d_p_variance(m, axis) * i * i;
        mode.e[axis] = mode.s[axis] = 0;
    }
    for (int p = 0; p < 3; p++) {
        double both = 2.0 * (m->points[BS3D_P_FIRST(p)] - 1) * (m->points[BS3D_P_SECOND(p)] - 1);
        mode.even[p] = both * (m->plus[p] + m->minus[p]);
        mode.odd[p] = both * (m->plus[p] - m->minus[p]);
    }
    best = mode;
    for (int y = 0; y <= lattice / 2; y++) /* opposite phases are damped alike */
        for (int z = 0; z < lattice; z++) {
            const double turn = 2 * 3.14159265358979323846 / lattice;
            mode.e[1] = 1 - cos(turn * y);
            mode.s[1] = sin(turn * y);
            mode.e[2] = 1 - cos(turn * z);
            mode.s[2] = sin(turn * z);
            double damping = bs3d_p_climb(&mode, 3);
            if (damping > most) {
                most = damping;
                best = mode;
            }
        }
    return bs3d_p_climb(&best, 200);
}

/* Returns 2 g R^-1 g, which compares drift with diffusion; a march by u += L u needs it to be at most 1. R is the
   correlation matrix, and g the vector of the drifts in units of the volatilities. (On one axis the number is
   2 gamma^2 / lambda; see bs3d_model.) With upwinding, volatilities and correlations are those at the last point,
   where the additional diffusion is least relative to the drift. */
TB_HOST double bs3d_p_drift(const bs3d_model *m)
{
    double variance[3], g[3], r[3], det = 1, sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        variance[axis] = bs3d_p_variance(m, axis);
        g[axis] = m->drift[axis] / sqrt(variance[axis]);
    }
    for (int p = 0; p < 3; p++) {
        r[p] = (m->plus[p] - m->minus[p]) / sqrt(variance[BS3D_P_FIRST(p)] * variance[BS3D_P_SECOND(p)]);
        det -= r[p] * r[p];
    }
    det += 2 * r[0] * r[1] * r[2];
    for (int axis = 0; axis < 3; axis++) {
        double other = r[2 - axis]; /* the correlation of the two other axes */
        sum += g[axis] * g[axis] * (1 - other * other);
    }
    for (int p = 0; p < 3; p++)
        sum += 2 * g[BS3D_P_FIRST(p)] * g[BS3D_P_SECOND(p)] * (r[(p + 1) % 3] * r[(p + 2) % 3] - r[p]);
    return 2 * sum / det;
}

/* Returns whether all rows of the three matrices are diagonally dominant. */
TB_HOST int bs3d_p_dominant(const bs3d_model *m)
{
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < m->points[axis]; i++)
            if (!bs1d_lane_dominant(bs3d_axis_of(m, axis), 1, i)) return 0;
    return 1;
}

/* Returns whether every last row keeps its drift (bs1d_lane_matrix) and there is no upwinding. */
TB_HOST int bs3d_p_plain(const bs3d_model *m)
{
    for (int axis = 0; axis < 3; axis++) {
        double a, b, c;
        if (m->upwind || bs1d_lane_matrix(bs3d_axis_of(m, axis), 1, m->points[axis] - 1, &a, &b, &c) != 0) return 0;
    }
    return 1;
}

/* Returns whether the numbers of points are within bounds if the third axis is cut into `slabs` slabs. */
TB_HOST int bs3d_p_sized(const bs3d_problem *o, int slabs)
{
    if (slabs < 1 || slabs > BS3D_P_SLABS) return 0;
    for (int axis = 0; axis < 3; axis++)
        if (o->points[axis] < 4 || o->points[axis] > (axis < 2 ? 1024 : 1024 * slabs)) return 0;
    return 1;
}

/* Checks a problem for explicit or implicit steps on `slabs` slabs. Returns a status. */
TB_HOST int bs3d_slab_check(const bs3d_problem *o, int implicit, int slabs)
{
    if (!o || o->payoff < BS3D_ASSET || o->payoff > BS3D_GIVEN) return BS3D_BAD_ARGUMENT;
    if (o->payoff == BS3D_GIVEN && (o->flags & BS3D_AMERICAN)) return BS3D_BAD_ARGUMENT;
    if (o->steps < 1 || !bs3d_p_sized(o, slabs)) return BS3D_BAD_SIZE;
    /* A sum is finite only if all its terms are. */
    double sum = fabs(o->strike) + fabs(o->rate) + fabs(o->maturity);
    int positive = o->strike > 0 && o->maturity > 0 && o->maturity / o->steps > 0, inside = 1;
    const double *rho = o->correlation;
    for (int axis = 0; axis < 3; axis++) {
        sum += fabs(o->spot[axis]) + fabs(o->top[axis]) + fabs(o->volatility[axis]) + fabs(o->dividend[axis]) +
               fabs(rho[axis]);
        positive = positive && o->top[axis] > 0 && o->volatility[axis] > 0;
        inside = inside && o->spot[axis] >= 0 && o->spot[axis] <= o->top[axis];
    }
    if (!trid_finite_f64(sum) || !positive || (o->flags & ~BS3D_P_ALL_FLAGS)) return BS3D_BAD_NUMBER;
    if (!inside) return BS3D_BAD_SPOT;
    if (!(fabs(rho[0]) < 1 && fabs(rho[1]) < 1 && fabs(rho[2]) < 1) ||
        !(1 - rho[0] * rho[0] - rho[1] * rho[1] - rho[2] * rho[2] + 2 * rho[0] * rho[1] * rho[2] > 0))
        return BS3D_BAD_CORRELATION;
    bs3d_model m = bs3d_model_of(o);
    for (int axis = 0; axis < 3; axis++) {
        double n = m.points[axis], most = (m.variance[axis] * n + fabs(m.drift[axis])) * n + fabs(m.discount);
        if (!trid_finite_f32((float)most) || !(m.variance[axis] > 0)) return BS3D_BAD_NUMBER;
    }
    if (implicit) return bs3d_p_dominant(&m) ? BS3D_OK : BS3D_NOT_DOMINANT;
    return bs3d_p_drift(&m) <= 1 && bs3d_p_damping(&m) <= 2 ? BS3D_OK : BS3D_UNSTABLE;
}

/* Checks a problem for explicit or implicit steps. Returns a status. */
TB_HOST int bs3d_check(const bs3d_problem *o, int implicit)
{
    return bs3d_slab_check(o, implicit, 1);
}
#endif
