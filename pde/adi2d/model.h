/* model.h - a room of adi2d.h, read once a model: what the model says of final values, faces and dates.
   MIT licence, see LICENSE. */

#define adi2d_p_final ADI2D_MODEL_OF(p_final)
#define adi2d_p_face ADI2D_MODEL_OF(p_face)
#define adi2d_p_change ADI2D_MODEL_OF(p_change)

#ifdef ADI2D_Y_INDEPENDENT
#define ADI2D_P_INDEPENDENT 1
#else
#define ADI2D_P_INDEPENDENT 0
#endif

/* Returns the final value at point (i, j). */
TB_HD double adi2d_p_final(const adi2d_problem *problem, const adi2d_model_parameters *parameters,
                           const double *const *x, const int *points, int i, int j)
{
    int index[2] = {i, j};
    return fd_final_as(problem->finals, problem->kinks, problem->kink, 2, x, points, index, adi2d_model_payoff,
                       parameters);
}

/* Returns the value or slope given at a face. */
TB_HD double adi2d_p_face(const adi2d_model_parameters *parameters, int axis, int side, double other, double t)
{
#ifdef ADI2D_FACE
    return adi2d_model_face(parameters, axis, side, other, t);
#else
    (void)parameters, (void)axis, (void)side, (void)other, (void)t;
    return 0;
#endif
}

/* Returns what a value becomes at a date. */
TB_HD double adi2d_p_change(const adi2d_model_parameters *parameters, int date, double x, double y, double value)
{
#ifdef ADI2D_CHANGE
    return adi2d_model_change(parameters, date, x, y, value);
#else
    (void)parameters, (void)date, (void)x, (void)y;
    return value;
#endif
}
