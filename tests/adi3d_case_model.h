/* adi3d_case_model.h - the model of the tests of pde/adi3d.h. tests/adi3d_cases.h includes it several times, each time
   with other choices: CASE_MODEL is the model's name, CASE_FITTING says how drifts are discretised, FD_MODEL_MIXED
   which mixed terms it has, CASE_CHANGES whether anything depends on t. MIT licence, see LICENSE. */
#define CASE_NAME(stem) TB_JOIN(CASE_MODEL, _##stem)
#define CASE_NUMBERS(model, axis, ...) FD_NUMBERS(model, axis, __VA_ARGS__) /* expands CASE_MODEL to the name first */
#define CASE_TERMS(model, ...) FD_TERMS(3, model, __VA_ARGS__)

typedef case_parameters CASE_NAME(parameters);

/* Along an axis: drift, volatility, share, and 1 where the model may fail. */
CASE_NUMBERS(CASE_MODEL, x, of[4])
CASE_NUMBERS(CASE_MODEL, y, of[4])
CASE_NUMBERS(CASE_MODEL, z, of[4])
CASE_NUMBERS(CASE_MODEL, t, slow, steady, bad)

FD_HD void CASE_NAME(of_x)(const case_parameters *p, double at, CASE_NAME(x_f64) *x)
{
    case_numbers_along(p, 0, at, x->of);
}
FD_HD void CASE_NAME(of_y)(const case_parameters *p, double at, CASE_NAME(y_f64) *y)
{
    case_numbers_along(p, 1, at, y->of);
}
FD_HD void CASE_NAME(of_z)(const case_parameters *p, double at, CASE_NAME(z_f64) *z)
{
    case_numbers_along(p, 2, at, z->of);
}
FD_HD void CASE_NAME(of_t)(const case_parameters *p, double at, CASE_NAME(t_f64) *t)
{
    t->slow = 1 + (CASE_CHANGES ? p->change * sin(3 * case_time(p, at)) : 0);
    t->steady = 1 + (CASE_CHANGES ? p->change * case_time(p, at) : 0);
    t->bad = at < p->bad_at[3] ? (p->bad == CASE_BAD_TERMS) + 0.5 * (p->bad == CASE_BAD_ALONE) : 0;
    if (p->bad == CASE_BAD_T && at < p->bad_at[3]) t->steady = sqrt(-1.0);
    if (p->bad == CASE_LIE_MIXED) t->bad = -1;
    if (p->bad == CASE_LIE_CHANGES) t->slow = 1 + at;
}
CASE_TERMS(CASE_MODEL, CHECK_COUNTED; const real s[3] = {x->of[1] * (1 + (real)0.3 * y->of[2]) * t->slow,
                                          y->of[1] * (1 + (real)0.2 * z->of[2]) * t->steady,
                                          z->of[1] * (1 + (real)0.1 * x->of[2]) * t->slow};
           terms->drift[0] = x->of[0] * t->slow; terms->drift[1] = y->of[0] * t->steady;
           terms->drift[2] = z->of[0] * t->slow;
           for (int d = 0; d < 3; d++) {
               const int negative = p->bad == CASE_NEGATIVE_X + d || p->bad == CASE_NEGATIVE;
               terms->diffusion[d] = (negative ? -s[d] : s[d]) * s[d];
           }
           if (FD_MODEL_MIXED & 1 || t->bad < 0)
               terms->mixed[0] = (real)CASE_BETA_12 * (1 - (real)0.5 * z->of[2]) * s[0] * s[1];
           if (FD_MODEL_MIXED & 2 || t->bad < 0) terms->mixed[1] = (real)CASE_BETA_13 * t->steady * s[0] * s[2];
           if (FD_MODEL_MIXED & 4 || t->bad < 0) terms->mixed[2] = (real)CASE_BETA_23 * t->slow * s[1] * s[2];
           terms->kill = (real)CASE_KILL * (1 + (real)0.5 * x->of[2] * y->of[2] * z->of[2]) * t->steady /
                         (1 - x->of[3] * y->of[3] * z->of[3] * t->bad);
           terms->source = (real)p->source * (1 + x->of[2] * z->of[2]) * t->steady;)
enum { CASE_NAME(fitting) = CASE_FITTING };

FD_HD double CASE_NAME(payoff)(const case_parameters *p, const double *at)
{
    return case_payoff(p, at);
}
FD_HD double CASE_NAME(face)(const case_parameters *p, int axis, int side, const double *at, double t)
{
    return case_face(p, axis, side, at, t);
}
FD_HD double CASE_NAME(change)(const case_parameters *p, int date, const double *at, double value)
{
    return case_change(p, date, at, value);
}
#ifdef FD_MODEL_EXERCISE
FD_HD double CASE_NAME(exercise)(const case_parameters *p, const double *at, double t)
{
    return case_exercise(p, at, t);
}
#endif
#define FD_MODEL_FACE
#define FD_MODEL_CHANGE
#define FD_MODEL CASE_MODEL
#include "../pde/adi3d.h"

#undef CASE_NAME
#undef CASE_NUMBERS
#undef CASE_TERMS
#undef CASE_MODEL
#undef CASE_FITTING
#undef CASE_CHANGES
