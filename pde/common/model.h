/* model.h - a room of the solvers in pde/: how to write an equation.
   MIT licence, see LICENSE.

   The equation is
       V_t + sum of drift_i V_i + diffusion_i V_ii + mixed_ij V_ij + source = kill V.
   A model is C, written once for both precisions, for the host and for kernels. MODEL stands for its name:

       typedef struct { .. } MODEL_parameters;
           holds the data of one problem for the functions below
       FD_NUMBERS(MODEL, x, half_square, slope)
       FD_HD void MODEL_of_x(const MODEL_parameters *p, double at, MODEL_x_f64 *x) { x->half_square = at * at / 2; .. }
           names the numbers of a point of the axis x, and computes them in double precision. They are computed before
           the march, so expensive work belongs here. Likewise for y and z, and for t, whose numbers are computed for
           the times of each step
       FD_NO_NUMBERS(MODEL, t)
           says that time needs no numbers; likewise for an axis. Without numbers of t the terms do not depend on time
       FD_TERMS(1, MODEL, terms->drift[0] = (real)p->rate * x->at; terms->diffusion[0] = x->half_square; ..)
           gives the number of factors, 1 to 3, and sets the terms of the equation at a point (fd_terms), which are 0
           initially. p points to the parameters. x->at is the coordinate and x->half_square a number of x;
           likewise for y and z. t->NAME is a number of the time, and `real` is float or double. The statements become
           two functions, one for each precision. They are called for each point and, unless their results are stored,
           in each step
       enum { MODEL_fitting = FD_CENTRAL };
           says how drifts are discretised: FD_CENTRAL, FD_UPWIND or FD_FITTED
       FD_HD double MODEL_payoff(const MODEL_parameters *p, const double *at) { .. }
           returns the value at maturity, at the point at[0] (at[1], at[2])

   Macros declare the other parts of a model; define them before the second #include of the solver's header, for which
   FD_MODEL is defined. A function whose macro is not defined does not compile (common/end.h).
       FD_MODEL_FACE      FD_HD double MODEL_face(const MODEL_parameters *p, int axis, int side, const double *at,
                          double t) returns the value or slope at a point of an FD_VALUE or FD_SLOPE face at time t;
                          side is 0 for the first point of the axis, 1 for the last. Without it values and slopes are 0
       FD_MODEL_CHANGE    FD_HD double MODEL_change(const MODEL_parameters *p, int date, const double *at, double value)
                          returns what `value` becomes at a date with FD_CHANGE_VALUES, through an observed barrier (put
                          it midway between two points: FD_MIDWAY), a coupon or a right of the issuer
       FD_MODEL_EXERCISE  FD_HD double MODEL_exercise(const MODEL_parameters *p, const double *at, double t) returns
                          the payoff of exercise at time t. Without it, exercise pays the final value
       FD_MODEL_MIXED     declares the mixed terms that are not 0: a sum of 1 for the pair 12, 2 for 13 and 4 for 23;
                          without it no mixed terms are computed
   Two more macros are promises. Each is a sum of 1, 2 and 4 for the axes x, y and z:
       FD_MODEL_STEADY       drift and diffusion along these axes, and kill, do not depend on time, although other terms
                             may. With two factors it saves time along y, if steps are products of factors
       FD_MODEL_INDEPENDENT  drift and diffusion along such an axis, and kill, depend only on the axis's own numbers and
                             on time: all lines along the axis share one matrix. It saves time on a GPU. With two
                             factors it does so along y: in MODEL_onchip, if batch.kind is ADI2D_PRODUCTS and the model
                             has FD_MODEL_STEADY along y or no numbers of t; in MODEL_naive and MODEL_coalesced, in
                             double precision. With three factors it does so in MODEL_device (adi3d.h)
   FD_MODEL_MIXED and these promises are checked before the march (FD_MIXED_UNDECLARED, FD_CHANGES_UNDECLARED,
   FD_NOT_INDEPENDENT). At a face whose slope is given, the mixed derivative is taken as 0. With mixed terms, a slope
   that varies along the face therefore costs an order in space. */

#ifndef FD_COMMON_MODEL_H
#define FD_COMMON_MODEL_H

#include "../fd.h"

#define FD_HD TB_HD

/* Names of a model: FD_MODEL_OF(stem) is MODEL_stem; FD_OF(stem) is MODEL_stem with the suffix of the precision for
   which the room is being read. */
#define FD_MODEL_OF(stem) TB_JOIN(FD_MODEL, _##stem)
#define FD_OF(stem) TB_OF(FD_MODEL_OF(stem))

/* The terms of the equation at a point: drift and diffusion along each axis, mixed for the pairs 12, 13, 23. */
typedef struct {
    float drift[3], diffusion[3], mixed[3], kill, source;
} fd_terms_f32;
typedef struct {
    double drift[3], diffusion[3], mixed[3], kill, source;
} fd_terms_f64;

/* The numbers of a point of an axis begin with its coordinate; time has none. */
#define FD_P_FIRST_x at,
#define FD_P_FIRST_y at,
#define FD_P_FIRST_z at,
#define FD_P_FIRST_t
#define FD_NUMBERS(model, axis, ...)                                                                                   \
    typedef struct {                                                                                                   \
        float FD_P_FIRST_##axis __VA_ARGS__;                                                                           \
    } model##_##axis##_f32;                                                                                            \
    typedef struct {                                                                                                   \
        double FD_P_FIRST_##axis __VA_ARGS__;                                                                          \
    } model##_##axis##_f64;

/* C has no empty structs. The struct of a time without numbers holds a byte, which does not count as a number. */
#define FD_P_ONLY_x(type) type at;
#define FD_P_ONLY_y(type) type at;
#define FD_P_ONLY_z(type) type at;
#define FD_P_ONLY_t(type) char none;
#define FD_NO_NUMBERS(model, axis)                                                                                     \
    typedef struct {                                                                                                   \
        FD_P_ONLY_##axis(float)                                                                                        \
    } model##_##axis##_f32;                                                                                            \
    typedef struct {                                                                                                   \
        FD_P_ONLY_##axis(double)                                                                                       \
    } model##_##axis##_f64;                                                                                            \
    FD_HD void model##_of_##axis(const model##_parameters *p, double at, model##_##axis##_f64 *number)                 \
    {                                                                                                                  \
        (void)p, (void)at, (void)number;                                                                               \
    }

#define FD_TERMS(factors, model, ...)                                                                                  \
    FD_P_TERMS(factors, float, _f32, model, __VA_ARGS__)                                                               \
    FD_P_TERMS(factors, double, _f64, model, __VA_ARGS__)
#define FD_P_TERMS(factors, type, suffix, model, ...)                                                                  \
    FD_HD void model##_terms##suffix(const model##_parameters *p, FD_P_AXES_##factors(model, suffix),                  \
                                     const model##_t##suffix *t, fd_terms##suffix *terms)                              \
    {                                                                                                                  \
        typedef type real;                                                                                             \
        (void)p, FD_P_UNUSED_##factors, (void)t, (void)sizeof(real);                                                   \
        __VA_ARGS__                                                                                                    \
    }
#define FD_P_AXES_1(model, suffix) const model##_x##suffix *x
#define FD_P_AXES_2(model, suffix) FD_P_AXES_1(model, suffix), const model##_y##suffix *y
#define FD_P_AXES_3(model, suffix) FD_P_AXES_2(model, suffix), const model##_z##suffix *z
#define FD_P_UNUSED_1 (void)x
#define FD_P_UNUSED_2 FD_P_UNUSED_1, (void)y
#define FD_P_UNUSED_3 FD_P_UNUSED_2, (void)z

#endif /* FD_COMMON_MODEL_H */
