/* fd1d_case_model.h - the model of the tests of pde/fd1d.h. tests/fd1d_cases.h includes it several times, each time
   with other choices: CASE_MODEL is the model's name, and CASE_FITTING says how drifts are discretised. If
   CASE_WITH_TIME is defined, the model depends on time; CASE_WITH_FACES, CASE_WITH_CHANGES and CASE_WITH_EXERCISES add
   these functions. MIT licence, see LICENSE. */
#define CASE_NAME(stem) TB_JOIN(CASE_MODEL, _##stem)
#define CASE_NUMBERS(model, ...) FD_NUMBERS(model, __VA_ARGS__) /* expands CASE_MODEL to the name first */
#define CASE_NO_NUMBERS(model, axis) FD_NO_NUMBERS(model, axis)

typedef case_parameters CASE_NAME(parameters);

enum { CASE_NAME(fitting) = CASE_FITTING };

CASE_NUMBERS(CASE_MODEL, x, drift, diffusion, kill, source, bad)
FD_HD void CASE_NAME(of_x)(const case_parameters *p, double at, CASE_NAME(x_f64) * x)
{
    const double share = case_share(p, at);
    const int bad = case_there(at, p->bad_at);
    x->drift = p->drift + p->pull * (0.5 - share);
    x->diffusion = p->diffusion * case_vanishing(p, share) * (1 + p->ripple * cos(5 * share + p->phase));
    x->kill = p->kill * (1 + share / 2);
    x->source = bad && p->bad == CASE_BAD_X ? sqrt(-1.0) : p->source * cos(2 * share + p->phase);
    x->bad = bad && (p->bad == CASE_BAD_TERMS || p->bad == CASE_BAD_ONCE);
}

#ifdef CASE_WITH_TIME
#define CASE_OF_TIME(number) t->number
CASE_NUMBERS(CASE_MODEL, t, swing, growth, bad)
FD_HD void CASE_NAME(of_t)(const case_parameters *p, double at, CASE_NAME(t_f64) * t)
{
    const int there = fabs(at - p->bad_time) < 1e-9;
    t->swing = p->bad == CASE_NEGATIVE && there ? -1 : 1 + p->change * sin(3 * at);
    t->growth = p->bad == CASE_BAD_T && at < p->bad_time ? sqrt(-1.0) : 1 + p->change * at;
    t->bad = p->bad == CASE_BAD_ONCE ? there : at < p->bad_time;
}
#else
#define CASE_OF_TIME(number) 1
CASE_NO_NUMBERS(CASE_MODEL, t)
#endif

FD_TERMS(1, CASE_MODEL, terms->drift[0] = x->drift * CASE_OF_TIME(swing);
         terms->diffusion[0] = x->diffusion * CASE_OF_TIME(swing);
         terms->kill = x->kill * CASE_OF_TIME(growth) / (1 - x->bad * CASE_OF_TIME(bad));
         terms->source = x->source * CASE_OF_TIME(growth);)

FD_HD double CASE_NAME(payoff)(const case_parameters *p, const double *at)
{
    return case_payoff(p, at[0]);
}
#ifdef CASE_WITH_FACES
FD_HD double CASE_NAME(face)(const case_parameters *p, int axis, int side, const double *at, double t)
{
    return case_face(p, axis, side, at[0], t);
}
#define FD_MODEL_FACE
#endif
#ifdef CASE_WITH_CHANGES
FD_HD double CASE_NAME(change)(const case_parameters *p, int date, const double *at, double value)
{
    return case_change(p, date, at[0], value);
}
#define FD_MODEL_CHANGE
#endif
#ifdef CASE_WITH_EXERCISES
FD_HD double CASE_NAME(exercise)(const case_parameters *p, const double *at, double t)
{
    return case_exercise(p, at[0], t);
}
#define FD_MODEL_EXERCISE
#endif
#define FD_MODEL CASE_MODEL
#include "../pde/fd1d.h"

#undef CASE_NAME
#undef CASE_NUMBERS
#undef CASE_NO_NUMBERS
#undef CASE_OF_TIME
#undef CASE_MODEL
#undef CASE_FITTING
#undef CASE_WITH_TIME
#undef CASE_WITH_FACES
#undef CASE_WITH_CHANGES
#undef CASE_WITH_EXERCISES
