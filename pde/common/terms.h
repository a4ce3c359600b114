/* terms.h - a room of the solvers in pde/, read once a model and precision: what the model says, as the solvers
   call it. FD_MODEL is the model's name, FD_FACTORS how many it has.
   MIT licence, see LICENSE. */

#define fd_model_parameters FD_MODEL_OF(parameters)
#define fd_model_x FD_OF(x)
#define fd_model_t FD_OF(t)
#define fd_model_x_f64 FD_MODEL_OF(x_f64)
#define fd_model_t_f64 FD_MODEL_OF(t_f64)
#define fd_model_of_x FD_MODEL_OF(of_x)
#define fd_model_of_t FD_MODEL_OF(of_t)
#define fd_model_terms FD_OF(terms)
#define fd_model_fitting FD_MODEL_OF(fitting)
#define fd_model_payoff FD_MODEL_OF(payoff)
#define fd_model_face FD_MODEL_OF(face)
#define fd_model_change FD_MODEL_OF(change)
#define fd_model_exercise FD_MODEL_OF(exercise)

#define fd_terms TB_OF(fd_terms)
#define fd_p_numbers_x FD_OF(p_numbers_x)
#define fd_p_numbers_t FD_OF(p_numbers_t)
#define fd_p_most_numbers FD_OF(p_most_numbers)
#define fd_p_numbers FD_OF(p_numbers)
#define fd_p_numbers_at FD_OF(p_numbers_at)
#define fd_p_terms FD_OF(p_terms)
#define fd_p_terms_finite FD_OF(p_terms_finite)
#define fd_p_row FD_OF(p_row)
#define fd_p_face FD_OF(p_face)
#define fd_p_no_change FD_OF(p_no_change)
#define fd_p_change FD_OF(p_change)
#define fd_p_payoff FD_OF(p_payoff)
#define fd_p_final FD_OF(p_final)
#define fd_p_exercise FD_OF(p_exercise)

enum {
    fd_p_numbers_x = (int)(sizeof(fd_model_x) / sizeof(tb_real)),
    fd_p_numbers_t = (int)(sizeof(fd_model_t) / sizeof(tb_real)),
    fd_p_most_numbers = (int)fd_p_numbers_x + (int)fd_p_numbers_t + 1
};

/* Returns how many numbers a point of an axis has; axis 3 is time. */
TB_HD int fd_p_numbers(int axis)
{
    return axis == 3 ? (int)fd_p_numbers_t : (int)fd_p_numbers_x;
}

/* Works out the numbers of a point of an axis, or of a time (axis 3). Those that the model leaves out are NaN. */
TB_HD void fd_p_numbers_at(const fd_model_parameters *parameters, int axis, double at, double *number)
{
    const int numbers = fd_p_numbers(axis);
    for (int q = 0; q < numbers; q++) number[q] = fd_p_nan_f64();
    if (axis == 3) {
        fd_model_t_f64 t;
        memcpy(&t, number, (size_t)numbers * sizeof(double));
        fd_model_of_t(parameters, at, &t);
        memcpy(number, &t, (size_t)numbers * sizeof(double));
    } else {
        fd_model_x_f64 x;
        memcpy(&x, number, (size_t)numbers * sizeof(double));
        x.at = at;
        fd_model_of_x(parameters, at, &x);
        memcpy(number, &x, (size_t)numbers * sizeof(double));
    }
}

/* Returns the terms at a point: number[d] has the numbers of its coordinate along axis d, and time those of the time
   (of which there is always room for one). */
TB_HD fd_terms fd_p_terms(const fd_model_parameters *parameters, const tb_real (*number)[fd_p_most_numbers],
                          const tb_real *time)
{
    fd_terms terms = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0};
    fd_model_x x;
    fd_model_t t;
    memcpy(&x, number[0], sizeof x);
    memcpy(&t, time, sizeof t);
    fd_model_terms(parameters, &x, &t, &terms);
    return terms;
}

/* Returns whether all terms are finite. */
TB_HD int fd_p_terms_finite(fd_terms terms)
{
    /* A sixteenth of each, so that a sum of finite numbers is finite. */
    double sum = (double)terms.kill / 16 + (double)terms.source / 16;
    for (int d = 0; d < 3; d++)
        sum += (double)terms.drift[d] / 16 + (double)terms.diffusion[d] / 16 + (double)terms.mixed[d] / 16;
    return trid_finite_f64(sum);
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

/* Returns the first date at which values are to change although the model has no function for that, or -1. */
TB_HD int fd_p_no_change(const fd_problem *problem)
{
#ifndef FD_MODEL_CHANGE
    for (int date = 0; date < problem->times.dates && problem->at_date; date++)
        if (problem->at_date[date].what & FD_CHANGE_VALUES) return date;
#endif
    (void)problem;
    return -1;
}

/* Returns what a value becomes at a date. */
TB_HD double fd_p_change(const fd_model_parameters *parameters, int date, const double *at, double value)
{
#ifdef FD_MODEL_CHANGE
    return fd_model_change(parameters, date, at, value);
#else
    (void)parameters, (void)date, (void)at;
    return value;
#endif
}

/* The payoff as fd_final_as calls it. */
TB_HD double fd_p_payoff(const double *at, const void *parameters)
{
    return fd_model_payoff((const fd_model_parameters *)parameters, at);
}

/* Returns the final value at the point with these indices. */
FD_P_CALLED double fd_p_final(const fd_problem *problem, const fd_model_parameters *parameters, const double *const *x,
                              const int *points, const int *index)
{
    return fd_final_as(problem->finals, problem->kinks, problem->kink, FD_FACTORS, x, points, index, fd_p_payoff,
                       parameters);
}

/* Returns what exercise pays at a point at time t, where the final value there is `final`. */
TB_HD tb_real fd_p_exercise(const fd_model_parameters *parameters, const double *at, double t, tb_real final)
{
#ifdef FD_MODEL_EXERCISE
    /* What is NaN becomes infinite: a comparison with the value would lose it. */
    const tb_real pays = (tb_real)fd_model_exercise(parameters, at, t);
    (void) final;
    return trid_finite(pays) || pays < 0 ? pays : (tb_real)HUGE_VAL;
#else
    (void)parameters, (void)at, (void)t;
    return final;
#endif
}
