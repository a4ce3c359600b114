/* terms.h - a room of the solvers in pde/, read once for each model and precision: the model, as the solvers call it.
   FD_MODEL is the model's name, FD_FACTORS the number of its factors.
   MIT licence, see LICENSE. */

#define fd_model_parameters FD_MODEL_OF(parameters)
#define fd_model_x FD_OF(x)
#define fd_model_t FD_OF(t)
#define fd_model_x_f64 FD_MODEL_OF(x_f64)
#define fd_model_t_f64 FD_MODEL_OF(t_f64)
#define fd_model_of_x FD_MODEL_OF(of_x)
#define fd_model_of_t FD_MODEL_OF(of_t)
/* The names of an axis that the model lacks stand for those of x, so that code for such an axis compiles; it is never
   reached. A previous model may have defined these names. */
#undef fd_model_y
#undef fd_model_y_f64
#undef fd_model_of_y
#undef fd_model_z
#undef fd_model_z_f64
#undef fd_model_of_z
#if FD_FACTORS > 1
#define fd_model_y FD_OF(y)
#define fd_model_y_f64 FD_MODEL_OF(y_f64)
#define fd_model_of_y FD_MODEL_OF(of_y)
#else
#define fd_model_y fd_model_x
#define fd_model_y_f64 fd_model_x_f64
#define fd_model_of_y fd_model_of_x
#endif
#if FD_FACTORS > 2
#define fd_model_z FD_OF(z)
#define fd_model_z_f64 FD_MODEL_OF(z_f64)
#define fd_model_of_z FD_MODEL_OF(of_z)
#else
#define fd_model_z fd_model_x
#define fd_model_z_f64 fd_model_x_f64
#define fd_model_of_z fd_model_of_x
#endif
#define fd_model_terms FD_OF(terms)
#define fd_model_fitting FD_MODEL_OF(fitting)
#define fd_model_payoff FD_MODEL_OF(payoff)
#define fd_model_face FD_MODEL_OF(face)
#define fd_model_change FD_MODEL_OF(change)
#define fd_model_exercise FD_MODEL_OF(exercise)

#define fd_terms TB_OF(fd_terms)
#define fd_p_numbers_x FD_OF(p_numbers_x)
#define fd_p_numbers_y FD_OF(p_numbers_y)
#define fd_p_numbers_z FD_OF(p_numbers_z)
#define fd_p_numbers_t FD_OF(p_numbers_t)
#define fd_p_most_numbers FD_OF(p_most_numbers)
#define fd_p_steady FD_OF(p_steady)
#define fd_p_numbers FD_OF(p_numbers)
#define fd_numbers FD_OF(p_point_numbers)
#define fd_p_numbers_at FD_OF(p_numbers_at)
#define fd_p_numbers_of_step FD_OF(p_numbers_of_step)
#define fd_p_terms FD_OF(p_terms)
#define fd_p_terms_finite FD_OF(p_terms_finite)
#define fd_p_row FD_OF(p_row)
#define fd_p_face FD_OF(p_face)
#define fd_p_no_change FD_OF(p_no_change)
#define fd_p_change FD_OF(p_change)
#define fd_p_payoff FD_OF(p_payoff)
#define fd_p_final FD_OF(p_final)
#define fd_p_exercise FD_OF(p_exercise)

#ifndef FD_MODEL_MIXED
#define FD_MODEL_MIXED 0
#endif
#ifndef FD_MODEL_STEADY
#define FD_MODEL_STEADY 0
#endif
#ifndef FD_MODEL_INDEPENDENT
#define FD_MODEL_INDEPENDENT 0
#endif

enum {
    fd_p_numbers_x = (int)(sizeof(fd_model_x) / sizeof(tb_real)),
    fd_p_numbers_y = (int)(sizeof(fd_model_y) / sizeof(tb_real)),
    fd_p_numbers_z = (int)(sizeof(fd_model_z) / sizeof(tb_real)),
    fd_p_numbers_t = (int)(sizeof(fd_model_t) / sizeof(tb_real)),
    fd_p_most_numbers = (int)fd_p_numbers_x + (int)fd_p_numbers_y + (int)fd_p_numbers_z + (int)fd_p_numbers_t,
    fd_p_steady = (int)fd_p_numbers_t == 0 ? 7 : FD_MODEL_STEADY /* a sum, like FD_MODEL_STEADY */
};

/* The numbers of a point of an axis, or of a time, by index and by name. */
typedef union {
    tb_real number[fd_p_most_numbers];
    fd_model_x x;
    fd_model_y y;
    fd_model_z z;
    fd_model_t t;
} fd_numbers;

/* Returns how many numbers a point of an axis has or, with axis 3, a time. */
TB_HD int fd_p_numbers(int axis)
{
    return axis == 0   ? (int)fd_p_numbers_x
           : axis == 1 ? (int)fd_p_numbers_y
           : axis == 2 ? (int)fd_p_numbers_z
                       : (int)fd_p_numbers_t;
}

/* Computes the numbers of a point of an axis, or of a time (axis 3). A point's first number is its coordinate; others
   that the model does not set are NaN. */
TB_HD void fd_p_numbers_at(const fd_model_parameters *parameters, int axis, double at, double *number)
{
    union {
        double number[fd_p_most_numbers];
        fd_model_x_f64 x;
        fd_model_y_f64 y;
        fd_model_z_f64 z;
        fd_model_t_f64 t;
    } own;
    for (int q = 0; q < fd_p_numbers(axis); q++) own.number[q] = axis < 3 && q == 0 ? at : fd_p_nan_f64();
    if (axis == 0) fd_model_of_x(parameters, at, &own.x);
    if (axis == 1) fd_model_of_y(parameters, at, &own.y);
    if (axis == 2) fd_model_of_z(parameters, at, &own.z);
    if (axis == 3) fd_model_of_t(parameters, at, &own.t);
    for (int q = 0; q < fd_p_numbers(axis); q++) number[q] = own.number[q];
}

/* Computes the model's numbers of the times at which a step takes its coefficients: time[0 ..] receives those for the
   step's start, and time[apart ..] those for its end. Without FD_BOTH_ENDS, both are the numbers of one time. */
TB_HD void fd_p_numbers_of_step(const fd_problem *problem, const fd_model_parameters *parameters, const fd_step *step,
                                int apart, tb_real *time)
{
    double number[fd_p_most_numbers] = {0};
    for (int end = 0; end < 2; end++) {
        /* One call if both ends have one time, because the compiler might round two calls differently. */
        if (end == 0 || problem->coefficients == FD_BOTH_ENDS)
            fd_p_numbers_at(parameters, 3, fd_coefficient_time(problem->coefficients, step, end), number);
        for (int q = 0; q < fd_p_numbers(3); q++) time[end * apart + q] = (tb_real)number[q];
    }
}

/* Returns the terms at a point. own[d] holds the numbers of its coordinate along axis d, and `time` those of the time.
   The source is -0 unless the model sets it: compilers may omit the addition of -0. */
TB_HD fd_terms fd_p_terms(const fd_model_parameters *parameters, const fd_numbers *own, const tb_real *time)
{
    fd_terms terms = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, -(tb_real)0};
    const fd_model_t *t = (const fd_model_t *)time;
#if FD_FACTORS == 1
    fd_model_terms(parameters, &own[0].x, t, &terms);
#elif FD_FACTORS == 2
    fd_model_terms(parameters, &own[0].x, &own[1].y, t, &terms);
#else
    fd_model_terms(parameters, &own[0].x, &own[1].y, &own[2].z, t, &terms);
#endif
    return terms;
}

/* Returns whether all terms are finite. */
TB_HD int fd_p_terms_finite(fd_terms terms)
{
    int finite = trid_finite(terms.kill) & trid_finite(terms.source);
    for (int d = 0; d < 3; d++)
        finite &= trid_finite(terms.drift[d]) & trid_finite(terms.diffusion[d]) & trid_finite(terms.mixed[d]);
    return finite;
}

/* Returns the row of A along an axis, without kill. */
TB_HD fd_row fd_p_row(int axis, fd_cell cell, fd_terms terms)
{
    return fd_lane_row(cell, fd_model_fitting, terms.drift[axis], terms.diffusion[axis]);
}

/* Returns the value or slope given at a point of a face. */
TB_HD double fd_p_face(const fd_model_parameters *parameters, int axis, int side, const double *at, double t)
{
#ifdef FD_MODEL_FACE
    return fd_model_face(parameters, axis, side, at, t);
#else
    (void)parameters, (void)axis, (void)side, (void)at, (void)t;
    return 0;
#endif
}

/* Returns the first date at which values should change although the model has no function that changes them, or -1. */
TB_HD int fd_p_no_change(const fd_problem *problem)
{
#ifndef FD_MODEL_CHANGE
    for (int date = 0; date < problem->times.dates && problem->at_date; date++)
        if (problem->at_date[date].what & FD_CHANGE_VALUES) return date;
#endif
    (void)problem;
    return -1;
}

/* Returns a value after the change that the model makes at a date. */
TB_HD double fd_p_change(const fd_model_parameters *parameters, int date, const double *at, double value)
{
#ifdef FD_MODEL_CHANGE
    return fd_model_change(parameters, date, at, value);
#else
    (void)parameters, (void)date, (void)at;
    return value;
#endif
}

/* Returns the payoff at a point, with the arguments that fd_final_as passes. */
TB_HD double fd_p_payoff(const double *at, const void *parameters)
{
    return fd_model_payoff((const fd_model_parameters *)parameters, at);
}

/* Returns the final value at the point with these indices. */
FD_P_CALLED double fd_p_final(const fd_problem *problem, const fd_model_parameters *parameters, const double *const *x,
                              const int *points, const int *index)
{
    const fd_plan plan = fd_p_plan(problem);
    return fd_final_as(&plan, FD_FACTORS, x, points, index, fd_p_payoff, parameters);
}

/* Returns the payoff of exercise at a point at time t; `final` is the final value there. */
TB_HD tb_real fd_p_exercise(const fd_model_parameters *parameters, const double *at, double t, tb_real final)
{
#ifdef FD_MODEL_EXERCISE
    /* NaN becomes infinite, because a comparison with the value would drop it. */
    const tb_real pays = (tb_real)fd_model_exercise(parameters, at, t);
    (void) final;
    return trid_finite(pays) || pays < 0 ? pays : (tb_real)HUGE_VAL;
#else
    (void)parameters, (void)at, (void)t;
    return final;
#endif
}
