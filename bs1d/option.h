/* option.h - a room of bs1d.h: an option's model, start values and rows, and the result from its values.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

enum { BS1D_P_MOST_STEPS = 1 << 28 };

#ifndef __cplusplus
#define bs1d_p_batch TB_OF(bs1d_p_batch)
#define bs1d_p_nan TB_OF(bs1d_p_nan)
#define bs1d_p_max TB_OF(bs1d_p_max)
#define bs1d_p_model TB_OF(bs1d_p_model)
#define bs1d_p_fail TB_OF(bs1d_p_fail)
#define bs1d_p_first TB_OF(bs1d_p_first)
#define bs1d_p_exercised TB_OF(bs1d_p_exercised)
#define bs1d_p_greeks TB_OF(bs1d_p_greeks)
#define bs1d_p_start TB_OF(bs1d_p_start)
#define bs1d_p_floor TB_OF(bs1d_p_floor)
#define bs1d_p_rows TB_OF(bs1d_p_rows)
#define bs1d_p_implicit_rows TB_OF(bs1d_p_implicit_rows)
#endif

#define TB_BODY "../bs1d/option.h"
#include "../trid/twice.h"

#else /* TB_BODY: C over tb_real */

/* A batch of options: the arguments of a launch and of the reference. Kernels take the five fields as separate
   arguments, because passing the struct made explicit2 up to 4 % slower. */
typedef struct {
    int options, points;
    const bs1d_option *option;
    bs1d_result *result;
    tb_real *grid;
} bs1d_p_batch;

/* Returns NaN. */
TB_HD tb_real bs1d_p_nan(void)
{
    unsigned long long bits = 0x7ff8000000000000ull;
    double x;
#ifdef __CUDA_ARCH__
    x = __longlong_as_double((long long)bits);
#else
    memcpy(&x, &bits, sizeof x);
#endif
    return (tb_real)x;
}

/* Returns the larger of x and y, or NaN if x is NaN. */
TB_HD tb_real bs1d_p_max(tb_real x, tb_real y)
{
    return x < y ? y : x;
}

/* Computes an option's model.
   Returns  the option's status after the checks that all rungs make; callers check stability or dominance, and
            BS1D_GIVEN */
TB_HD int bs1d_p_model(bs1d_option o, int points, bs1d_model *m)
{
    double dt = (double)o.maturity / (double)o.steps, sum;
    m->variance = 0.5 * (double)o.volatility * (double)o.volatility * dt;
    m->drift = 0.5 * ((double)o.rate - (double)o.dividend) * dt;
    m->discount = (double)o.rate * dt;
    m->points = points;
    m->upwind = (o.flags & BS1D_UPWIND) != 0;
    if (o.steps < 1 || o.steps > BS1D_P_MOST_STEPS) return BS1D_BAD_SIZE;
    /* A sum is finite only if all its terms are. */
    sum = fabs((double)o.spot) + fabs((double)o.strike) + fabs((double)o.rate) + fabs((double)o.dividend) +
          fabs((double)o.top) + fabs((double)o.maturity) + fabs(m->variance) * points * points +
          fabs(m->drift) * points + fabs(m->discount);
    if (!trid_finite((tb_real)sum) || !(dt > 0) || !((double)o.top / points > 0) || !(o.strike > 0) ||
        !(o.volatility > 0) || !(o.maturity > 0) || !(o.top > 0) || (o.flags & ~(bs1d_int)BS1D_P_ALL_FLAGS))
        return BS1D_BAD_NUMBER;
    return o.spot >= 0 && o.spot <= o.top ? BS1D_OK : BS1D_BAD_SPOT;
}

/* Writes the result of an option that failed. */
TB_HD void bs1d_p_fail(int status, bs1d_result *result)
{
    result->price = result->delta = result->gamma = result->theta = bs1d_p_nan();
    result->status = status;
}

/* Returns the first of the four points around the spot, all of them on the grid. */
TB_HD int bs1d_p_first(bs1d_option o, int points)
{
    int first = (int)((double)o.spot / ((double)o.top / (points - 1))) - 1;
    return first < 0 ? 0 : first > points - 4 ? points - 4 : first;
}

/* Returns whether u, the value at point j, equals the payoff of early exercise there. */
TB_HD int bs1d_p_exercised(int points, bs1d_option o, int j, tb_real u)
{
    double ds = (double)o.top / (points - 1);
    return u == (tb_real)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, j);
}

/* Computes price and Greeks from the values u of the four points around the spot. */
TB_HD void bs1d_p_greeks(int points, bs1d_option o, const tb_real *u, bs1d_result *result)
{
    double ds = (double)o.top / (points - 1), x = (double)o.spot / ds, spread = (double)o.volatility * (double)o.spot;
    double weight[3][4], value = 0, first = 0, second = 0, theta;
    int from = bs1d_p_first(o, points), cell = (int)x < points - 1 ? (int)x : points - 2, q = cell - from;
    bs1d_lane_cubic(x - from, weight[0], weight[1], weight[2]);
    for (int i = 0; i < 4; i++) {
        value += weight[0][i] * (double)u[i];
        first += weight[1][i] * (double)u[i];
        second += weight[2][i] * (double)u[i];
    }
    first /= ds;
    second = second / ds / ds;
    theta = (double)o.rate * value - ((double)o.rate - (double)o.dividend) * (double)o.spot * first -
            0.5 * (spread * (spread * second));
    if ((o.flags & BS1D_AMERICAN) && (x >= cell + 1 || bs1d_p_exercised(points, o, cell, u[q])) &&
        (x <= cell || bs1d_p_exercised(points, o, cell + 1, u[q + 1])))
        theta = 0;
    result->price = (tb_real)value;
    result->delta = (tb_real)first;
    result->gamma = (tb_real)second;
    result->theta = (tb_real)theta;
    result->status = BS1D_OK;
    if (!trid_finite(result->price) || !trid_finite(result->delta) || !trid_finite(result->gamma) ||
        !trid_finite(result->theta))
        bs1d_p_fail(BS1D_NOT_FINITE, result);
}

/* Computes rows `first` .. `first + k - 1` of the values at maturity: the payoff, or the values given in the grid. */
TB_HD void bs1d_p_start(int k, int group, int first, bs1d_p_batch batch, bs1d_option o, tb_real *u)
{
    double ds = (double)o.top / (batch.points - 1);
    const size_t row = (size_t)group * (size_t)batch.points;
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        int j = first + i;
        u[i] = 0;
        if (j < batch.points)
            u[i] = o.flags & BS1D_GIVEN
                       ? batch.grid[row + (size_t)j]
                       : (tb_real)bs1d_lane_payoff((int)o.flags, (double)o.strike, ds, batch.points, j);
    }
}

/* Computes the least value of an American option at rows `first` .. `first + k - 1`; for other options, a number below
   all values. */
TB_HD void bs1d_p_floor(int k, int first, int points, bs1d_option o, tb_real *floor)
{
    const tb_real lowest = (tb_real)(TB_BYTES == 4 ? -3e38 : -1e308);
    double ds = (double)o.top / (points - 1);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        floor[i] = (o.flags & BS1D_AMERICAN) ? 0 : lowest;
        if ((o.flags & BS1D_AMERICAN) && first + i < points)
            floor[i] =
                (tb_real)bs1d_lane_payoff((int)o.flags & ~BS1D_AVERAGED, (double)o.strike, ds, points, first + i);
    }
}

/* Computes rows `first` .. `first + k - 1` of A, which is zero from row `points` on. */
TB_HD void bs1d_p_rows(int k, bs1d_model model, int first, tb_real *a, tb_real *b, tb_real *c)
{
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        double ra, rb, rc;
        bs1d_lane_row(model, first + i, &ra, &rb, &rc);
        a[i] = (tb_real)ra;
        b[i] = (tb_real)rb;
        c[i] = (tb_real)rc;
    }
}

/* Computes the same rows of I - size A.
   Returns  whether they are strictly diagonally dominant */
TB_HD int bs1d_p_implicit_rows(int k, bs1d_model m, double size, int first, tb_real *a, tb_real *b, tb_real *c)
{
    int dominant = 1;
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        double ra, rb, rc;
        bs1d_lane_matrix(m, size, first + i, &ra, &rb, &rc);
        dominant &= fabs(rb) > fabs(ra) + fabs(rc);
        a[i] = (tb_real)ra;
        b[i] = (tb_real)rb;
        c[i] = (tb_real)rc;
    }
    return dominant;
}

#endif /* TB_BODY */
