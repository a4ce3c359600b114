/* adi2d_case_model.h - the model of the tests of pde/adi2d.h, of which tests/adi2d_cases.h makes several: CASE_MODEL is
   its name, CASE_FITTING how drifts are taken, CASE_MIXED whether it has a mixed term, CASE_INDEPENDENT whether what is
   along y depends on y alone.
   MIT licence, see LICENSE. */
#define CASE_NAME(stem) TB_JOIN(CASE_MODEL, _##stem)
#define CASE_TERMS(model, ...) ADI2D_TERMS(model, __VA_ARGS__) /* the name, not CASE_MODEL */

typedef case_parameters CASE_NAME(parameters);

enum {
    CASE_NAME(numbers_of_x) = 5,
    CASE_NAME(numbers_of_y) = 5,
    CASE_NAME(numbers_of_t) = 3,
    CASE_NAME(mixed) = CASE_MIXED,
    CASE_NAME(y_changes) = !CASE_INDEPENDENT,
    CASE_NAME(fitting) = CASE_FITTING
};

ADI2D_HD void CASE_NAME(of_x)(const case_parameters *p, double x, double *number)
{
    case_numbers_along(p, 0, x, number);
}
ADI2D_HD void CASE_NAME(of_y)(const case_parameters *p, double y, double *number)
{
    case_numbers_along(p, 1, y, number);
}
ADI2D_HD void CASE_NAME(of_t)(const case_parameters *p, double t, double *number)
{
    number[0] = 1 + p->change * sin(3 * t);
    number[1] = 1 + p->change * t;
    number[2] = p->bad == CASE_BAD_TERMS && t < p->bad_at[2] ? 1 : 0;
    if (p->bad == CASE_BAD_T && t < p->bad_at[2]) number[1] = sqrt(-1.0);
    if (p->bad == CASE_MORE_T) number[3] = t;
    if (p->bad == CASE_LIE_MIXED) number[2] = -1;
    if (p->bad == CASE_LIE_CHANGES) number[2] = t;
    if (p->bad == CASE_LIE_ONCE) number[2] = fabs(t - p->bad_at[2]) < 1e-9;
}
CASE_TERMS(CASE_MODEL, terms->drift[0] = x[0] * t[0]; terms->drift[1] = y[0] * (CASE_INDEPENDENT ? 1 : t[1]);
           terms->diffusion[0] = x[1] * (1 + (real)0.3 * y[2]) * t[0];
           terms->diffusion[1] = y[1] * (CASE_INDEPENDENT ? 1 + t[2] + x[4] : (1 + (real)0.2 * x[2]) * t[1]);
           if (CASE_MIXED || t[2] < 0) terms->mixed = x[3] * y[3] * t[0];
           terms->kill = (real)CASE_KILL * (1 + (real)0.5 * (CASE_INDEPENDENT ? 1 : x[2]) * y[2]) *
                         (CASE_INDEPENDENT ? 1 : t[1] / (1 - x[4] * y[4] * t[2]));)

ADI2D_HD double CASE_NAME(payoff)(const double *at, const void *p)
{
    return case_payoff((const case_parameters *)p, at[0], at[1]);
}
ADI2D_HD double CASE_NAME(face)(const case_parameters *p, int axis, int side, double other, double t)
{
    return case_face(p, axis, side, other, t);
}
ADI2D_HD double CASE_NAME(change)(const case_parameters *p, int date, double x, double y, double value)
{
    return case_change(p, date, x, y, value);
}
#define ADI2D_FACE
#define ADI2D_CHANGE
#if CASE_INDEPENDENT
#define ADI2D_Y_INDEPENDENT
#endif
#define ADI2D_MODEL CASE_MODEL
#include "../pde/adi2d.h"

#undef CASE_NAME
#undef CASE_TERMS
#undef CASE_MODEL
#undef CASE_FITTING
#undef CASE_MIXED
#undef CASE_INDEPENDENT
