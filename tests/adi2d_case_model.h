/* adi2d_case_model.h - the model of the tests of pde/adi2d.h. tests/adi2d_cases.h includes it several times, each time
   with other choices: CASE_MODEL is the model's name, CASE_FITTING says how drifts are discretised, and 0 or 1 in the
   following says whether the model has a mixed term (CASE_MIXED), a source (CASE_SOURCE), an exercise value of its own
   (CASE_EXERCISE), and terms along y that depend on y alone (CASE_INDEPENDENT).
   MIT licence, see LICENSE. */
#define CASE_NAME(stem) TB_JOIN(CASE_MODEL, _##stem)
#define CASE_NUMBERS(model, ...) FD_NUMBERS(model, __VA_ARGS__) /* expands CASE_MODEL to the name first */

typedef case_parameters CASE_NAME(parameters);

enum { CASE_NAME(fitting) = CASE_FITTING };

CASE_NUMBERS(CASE_MODEL, x, drift, diffusion, share, mixed, bad)
FD_HD void CASE_NAME(of_x)(const case_parameters *p, double at, CASE_NAME(x_f64) * x)
{
    const case_numbers n = case_numbers_along(p, 0, at);
    x->drift = n.drift, x->diffusion = n.diffusion, x->share = n.share, x->mixed = n.mixed, x->bad = n.bad;
}

CASE_NUMBERS(CASE_MODEL, y, drift, diffusion, share, mixed, bad)
FD_HD void CASE_NAME(of_y)(const case_parameters *p, double at, CASE_NAME(y_f64) * y)
{
    const case_numbers n = case_numbers_along(p, 1, at);
    y->drift = n.drift, y->diffusion = n.diffusion, y->share = n.share, y->mixed = n.mixed, y->bad = n.bad;
}

CASE_NUMBERS(CASE_MODEL, t, swing, growth, bad)
FD_HD void CASE_NAME(of_t)(const case_parameters *p, double at, CASE_NAME(t_f64) * t)
{
    const int there = fabs(at - p->bad_at[2]) < 1e-9;
    t->swing = 1 + p->change * sin(3 * at);
    t->growth = p->bad == CASE_BAD_T && at < p->bad_at[2] ? sqrt(-1.0) : 1 + p->change * at;
    t->bad = p->bad == CASE_BAD_TERMS && at < p->bad_at[2];
    if (p->bad == CASE_BAD_ONCE || p->bad == CASE_LIE_ONCE) t->bad = there;
    if (p->bad == CASE_LIE_MIXED) t->bad = -1;
    if (p->bad == CASE_LIE_CHANGES) t->bad = at;
}

FD_TERMS(2, CASE_MODEL, CHECK_COUNTED; terms->drift[0] = x->drift * t->swing;
         terms->drift[1] = y->drift * (CASE_INDEPENDENT ? 1 + (p->bad == CASE_LIE_DRIFT) * x->bad : t->growth);
         terms->diffusion[0] = x->diffusion * (1 + (real)0.3 * y->share) * t->swing;
         terms->diffusion[1] =
             y->diffusion * (CASE_INDEPENDENT ? 1 + t->bad + (p->bad == CASE_LIE_ALONE) * x->bad
                                              : (1 + (real)0.2 * x->share) * t->growth);
         if (CASE_MIXED || t->bad < 0) terms->mixed[0] = x->mixed * y->mixed * t->swing;
         if (CASE_SOURCE) terms->source = (real)p->source * (x->share - 2 * y->share + (real)0.5) * t->growth;
         terms->kill = (real)CASE_KILL * (1 + (real)0.5 * (CASE_INDEPENDENT ? 1 : x->share) * y->share) *
                       (CASE_INDEPENDENT ? 1 + (p->bad == CASE_LIE_KILL) * x->bad
                                         : t->growth / (1 - x->bad * y->bad * t->bad));)

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
#define FD_MODEL_FACE
#define FD_MODEL_CHANGE
#if CASE_EXERCISE
FD_HD double CASE_NAME(exercise)(const case_parameters *p, const double *at, double t)
{
    return case_exercise(p, at, t);
}
#define FD_MODEL_EXERCISE
#endif
#if CASE_MIXED
#define FD_MODEL_MIXED 1
#endif
#if CASE_INDEPENDENT
#define FD_MODEL_STEADY 2
#define FD_MODEL_INDEPENDENT 2
#endif
#define FD_MODEL CASE_MODEL
#include "../pde/adi2d.h"

#undef CASE_NAME
#undef CASE_NUMBERS
#undef CASE_MODEL
#undef CASE_FITTING
#undef CASE_MIXED
#undef CASE_SOURCE
#undef CASE_EXERCISE
#undef CASE_INDEPENDENT
