/* adi3d_case_model.h - the model of the tests of pde/adi3d.h, of which tests/adi3d_cases.h makes several: CASE_MODEL is
   its name, CASE_FITTING how drifts are taken, CASE_MIXED which beta it has, CASE_CHANGES whether anything depends on
   t. MIT licence, see LICENSE. */
#define CASE_NAME(stem) ADI3D_P_JOIN(CASE_MODEL, stem)
#define CASE_TERMS(model, ...) ADI3D_TERMS(model, __VA_ARGS__) /* the name, not CASE_MODEL */

typedef case_parameters CASE_NAME(parameters);

enum {
    CASE_NAME(numbers_of_x) = 4,
    CASE_NAME(numbers_of_y) = 4,
    CASE_NAME(numbers_of_z) = 4,
    CASE_NAME(numbers_of_t) = 3,
    CASE_NAME(mixed) = CASE_MIXED,
    CASE_NAME(changes) = CASE_CHANGES,
    CASE_NAME(fitting) = CASE_FITTING
};

ADI3D_HD void CASE_NAME(of_x)(const case_parameters *p, double x, double *number)
{
    case_numbers_along(p, 0, x, number);
}
ADI3D_HD void CASE_NAME(of_y)(const case_parameters *p, double y, double *number)
{
    case_numbers_along(p, 1, y, number);
}
ADI3D_HD void CASE_NAME(of_z)(const case_parameters *p, double z, double *number)
{
    case_numbers_along(p, 2, z, number);
}
ADI3D_HD void CASE_NAME(of_t)(const case_parameters *p, double t, double *number)
{
    number[0] = 1 + (CASE_CHANGES ? p->change * sin(3 * t) : 0);
    number[1] = 1 + (CASE_CHANGES ? p->change * t : 0);
    number[2] = t < p->bad_at[3] ? (p->bad == CASE_BAD_TERMS) + 0.5 * (p->bad == CASE_BAD_ALONE) : 0;
    if (p->bad == CASE_BAD_T && t < p->bad_at[3]) number[1] = sqrt(-1.0);
    if (p->bad == CASE_MORE_T) number[3] = t;
    if (p->bad == CASE_LIE_MIXED) number[2] = -1;
    if (p->bad == CASE_LIE_CHANGES) number[0] = 1 + t;
}
CASE_TERMS(CASE_MODEL, terms->drift[0] = x[0] * t[0]; terms->drift[1] = y[0] * t[1]; terms->drift[2] = z[0] * t[0];
           terms->volatility[0] = x[1] * (1 + (real)0.3 * y[2]) * t[0];
           terms->volatility[1] = y[1] * (1 + (real)0.2 * z[2]) * t[1];
           terms->volatility[2] = z[1] * (1 + (real)0.1 * x[2]) * t[0];
           if (CASE_MIXED & 1 || t[2] < 0) terms->beta[0] = (real)CASE_BETA_12 * (1 - (real)0.5 * z[2]);
           if (CASE_MIXED & 2 || t[2] < 0) terms->beta[1] = (real)CASE_BETA_13 * t[1];
           if (CASE_MIXED & 4 || t[2] < 0) terms->beta[2] = (real)CASE_BETA_23 * t[0];
           terms->kill = (real)CASE_KILL * (1 + (real)0.5 * x[2] * y[2] * z[2]) * t[1] /
                         (1 - x[3] * y[3] * z[3] * t[2]);)

ADI3D_HD double CASE_NAME(payoff)(const double *at, const void *p)
{
    return case_payoff((const case_parameters *)p, at);
}
ADI3D_HD double CASE_NAME(face)(const case_parameters *p, int axis, int side, const double *at, double t)
{
    return case_face(p, axis, side, at, t);
}
ADI3D_HD double CASE_NAME(change)(const case_parameters *p, int date, const double *at, double value)
{
    return case_change(p, date, at, value);
}
#define ADI3D_FACE
#define ADI3D_CHANGE
#define ADI3D_MODEL CASE_MODEL
#include "../pde/adi3d.h"

#undef CASE_NAME
#undef CASE_TERMS
#undef CASE_MODEL
#undef CASE_FITTING
#undef CASE_MIXED
#undef CASE_CHANGES
