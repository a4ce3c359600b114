/* suggest.h - a room of bs1d.h: checks of an option, and the choice of method parameters for a tolerance.
   MIT licence, see LICENSE. */

#if TB_HOST_SCOPE

#ifndef TB_BODY

#ifndef __cplusplus
#define bs1d_check TB_OF(bs1d_check)
#define bs1d_fewest_steps TB_OF(bs1d_fewest_steps)
#define bs1d_p_spacing_error TB_OF(bs1d_p_spacing_error)
#define bs1d_suggest TB_OF(bs1d_suggest)
#else
#define bs1d_check_f32 tb_f32::bs1d_check
#define bs1d_check_f64 tb_f64::bs1d_check
#define bs1d_fewest_steps_f32 tb_f32::bs1d_fewest_steps
#define bs1d_fewest_steps_f64 tb_f64::bs1d_fewest_steps
#define bs1d_suggest_f32 tb_f32::bs1d_suggest
#define bs1d_suggest_f64 tb_f64::bs1d_suggest
#endif

#define TB_BODY "../bs1d/suggest.h"
#include "../trid/twice.h"

#else /* TB_BODY: C over tb_real */

/* Checks whether the implicit rungs, or the explicit ones, accept this option on a grid of `points` points.
   Needs    option on the host
   Returns  BS1D_OK; the negative status that its result would have; BS1D_BAD_ARGUMENT: a null pointer; BS1D_BAD_SIZE
            also for points outside 4 .. 1024 (launches accept no fewer than 64); BS1D_OSCILLATES: the rungs accept the
            option, but it has no BS1D_UPWIND, and volatility^2 j < |rate - dividend|, where j = strike / spacing */
TB_HOST int bs1d_check(const bs1d_option *option, int points, int is_implicit)
{
    bs1d_model m;
    if (!option) return BS1D_BAD_ARGUMENT;
    if (points < 4 || points > 1024) return BS1D_BAD_SIZE;
    int status = bs1d_p_model(*option, points, &m);
    if (status) return status;
    if (!is_implicit && !bs1d_p_stable(m)) return BS1D_UNSTABLE;
    double size = bs1d_p_plan_of((int)option->flags, (int)option->steps).size;
    for (int j = 0; is_implicit && j < points; j++)
        if (!bs1d_lane_dominant(m, size, j)) return BS1D_NOT_DOMINANT;
    double strike = (double)option->strike / ((double)option->top / (points - 1));
    return !m.upwind && m.variance * strike < fabs(m.drift) ? BS1D_OSCILLATES : BS1D_OK;
}

/* Returns the fewest steps with which the explicit rungs are stable on a grid of `points` points.
   Needs    option on the host; its steps do not matter
   Returns  1 .. 2^28, or 0 if there is no such number or the option is bad in another way (see bs1d_check) */
TB_HOST bs1d_int bs1d_fewest_steps(const bs1d_option *option, int points)
{
    bs1d_model m;
    if (!option || points < 4 || points > 1024) return 0;
    bs1d_option o = *option;
    bs1d_int low = 0, high = BS1D_P_MOST_STEPS; /* low is unstable, high is stable */
    o.steps = high;
    if (bs1d_p_model(o, points, &m) || !bs1d_p_stable(m)) return 0;
    while (high - low > 1) {
        o.steps = low + (high - low) / 2;
        int status = bs1d_p_model(o, points, &m);
        if (status || !bs1d_p_stable(m))
            low = o.steps;
        else
            high = o.steps;
    }
    return high;
}

/* Returns |e| / ds^2, where e is the leading error of a European price on points that are ds apart, at exp(moved) times
   the spot. The differences add ds^2 (volatility^2 S^2 V_SSSS / 24 + (rate - dividend) S V_SSS / 6) to the equation;
   the averaged payoff adds ds^2 V_SS / 24 at maturity. With x = log S the term of the differences is exp(-2x) times a
   polynomial in d/dx, and that polynomial commutes with the equation. So the averaged payoff contributes a normal
   density, and the differences contribute an integral over time. */
TB_HOST double bs1d_p_spacing_error(const bs1d_option *o, double moved)
{
    const int times = 16;
    const double s2 = (double)o->volatility * (double)o->volatility, t = (double)o->maturity, v = s2 * t;
    const double strike = (double)o->strike, drift = (double)o->rate - (double)o->dividend, beta = 4 * drift - 3 * s2;
    const double x = log((double)o->spot / strike) + moved, here = x + (drift - s2 / 2) * t;
    double sum = exp(-here * here / (2 * v));
    for (int k = 0; k <= times; k++) { /* Simpson's rule, from today to maturity */
        const double after = t * k / times, z = here - 2 * s2 * after;
        const double weight = (k % 2 ? 4 : k % times ? 2 : 1) * t / (3 * times);
        const double term = s2 * (z * z / v - 1) / v - (beta - 2 * s2) * z / v - 2 * beta;
        sum += weight * term * exp((3 * s2 - 2 * drift) * after - 2 * x - z * z / (2 * v));
    }
    return fabs(sum) * exp(-(double)o->rate * t) / (24 * strike * sqrt(2 * 3.14159265358979323846 * v));
}

/* Fills in the parameters of the method: top, steps, the flags BS1D_AVERAGED, BS1D_CRANK_NICOLSON and BS1D_INCREMENT,
   and the number of points. With them bs1d_implicit4 prices the option to a tolerance (absolute, in the currency of the
   spot). More points, with the same top, serve as well: a batch takes the largest number that any of its options needs.
   Needs    option on the host, with spot, strike, rate, dividend, volatility, maturity and the flags of the contract
            (BS1D_PUT, BS1D_AMERICAN) set
   Returns  BS1D_OK: the price is within the tolerance for options in the range tested: strike half to twice the spot,
            volatility 0.05 to 1, maturity 0.02 to 4 years, rate -0.02 to 0.12, dividend up to 0.1, tolerance 1e-5 to
            1e-3 of the strike. Outside this range, a high tolerance or a drift that is large compared with the
            volatility can give an error above the tolerance.
            BS1D_BAD_TOLERANCE: the tolerance needs over 1024 points, over 10^6 steps or more precision; the values
            filled in come as near as these limits allow. BS1D_BAD_ARGUMENT: a null pointer. BS1D_BAD_NUMBER: as
            bs1d_check, or a tolerance that is not positive or not finite. BS1D_BAD_SPOT: a negative spot
   Error    docs/bs1d.md, "How to choose" */
TB_HOST int bs1d_suggest(double tolerance, bs1d_option *option, int *points)
{
    if (!option || !points) return BS1D_BAD_ARGUMENT;
    double strike = (double)option->strike, spot = (double)option->spot, years = (double)option->maturity;
    double variance = (double)option->volatility * (double)option->volatility, spread = sqrt(variance * years);
    double drift = fabs((double)option->rate - (double)option->dividend), steps, count;
    bs1d_model m;
    bs1d_option o = *option;
    o.top = (tb_real)2 * o.strike + (tb_real)2 * o.spot;
    o.steps = 1;
    o.flags |= BS1D_AVERAGED | BS1D_CRANK_NICOLSON | BS1D_INCREMENT;
    int status = bs1d_p_model(o, 1024, &m);
    if (status) return status;
    if (!(tolerance > 0) || !trid_finite_f64(tolerance)) return BS1D_BAD_NUMBER;

    /* An error made at the top counts only if it travels back to the strike; the way there and back is as improbable as
       a move of twice the distance. The scale stays finite, however small the tolerance. */
    double scale = fmin(fmax(strike / tolerance, 2), 1e300), high = spot > strike ? spot : strike;
    double top = high * exp(0.5 * spread * sqrt(2 * log(scale)) + 0.5 * drift * years);
    /* The spacing gets a third of the tolerance for its leading error. We take the largest of three values around the
       spot, because the error changes sign. The spacing also resolves the kink and avoids oscillation at the strike. */
    double worst = 0;
    for (int k = -1; k <= 1; k++) worst = fmax(worst, bs1d_p_spacing_error(option, 0.5 * k * spread));
    double ds = sqrt(tolerance / (3 * worst));
    if (ds > 0.4 * strike * spread) ds = 0.4 * strike * spread;
    if (ds * drift > variance * strike) ds = variance * strike / drift;
    count = ceil(top / ds) + 1;
    /* The steps get a quarter of the tolerance. We take their error as 0.2 (1 + far_off + far_off^2) strike spread /
       steps^2, or six times that with early exercise. The drift moves the kink by far_off spreads. */
    double far_off = drift * years / spread;
    double of_steps = (o.flags & BS1D_AMERICAN ? 1.2 : 0.2) * (1 + far_off + far_off * far_off);
    steps = ceil(sqrt(4 * of_steps * strike * spread / tolerance));
    /* With fewer than far_off^2 / 8 steps, rows below the strike would not be diagonally dominant. */
    steps = fmax(steps, 8 + far_off * far_off / 8 + fabs((double)option->rate) * years / 2);
    o.top = (tb_real)top;
    o.steps = (bs1d_int)(steps < 1e6 ? steps : 1e6);
    *points = count < 64 ? 64 : count < 1024 ? (int)count : 1024;
    *option = o;
    status = bs1d_p_model(o, 1024, &m);
    if (status) return status;
    return count > 1024 || steps > 1e6 || tolerance < 16 * (double)trid_roundoff() * top ? BS1D_BAD_TOLERANCE : BS1D_OK;
}

#endif /* TB_BODY */

#endif /* TB_HOST_SCOPE */
