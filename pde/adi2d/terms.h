/* terms.h - a room of adi2d.h, read once a precision: the equation's terms at a point, step data.
   MIT licence, see LICENSE. */

#ifndef __cplusplus
#define adi2d_terms TB_OF(adi2d_terms)
#define adi2d_p_step_data TB_OF(adi2d_p_step_data)
#define adi2d_p_y_differs TB_OF(adi2d_p_y_differs)
#define adi2d_p_finite TB_OF(adi2d_p_finite)
#define adi2d_p_matrix TB_OF(adi2d_p_matrix)
#define adi2d_p_values TB_OF(adi2d_p_values)
#else
#define adi2d_terms_f32 tb_f32::adi2d_terms
#define adi2d_terms_f64 tb_f64::adi2d_terms
#endif

/* The equation's coefficients at a point. */
typedef struct {
    tb_real drift[2], diffusion[2], mixed, kill;
} adi2d_terms;

/* Step data, and how the step is made. */
typedef struct {
    fd_step_data of;
    int product;     /* as a product of factors (adi2d_p_product) */
    int open, close; /* of a product: the step before, or after, is none, or something happens in between */
} adi2d_p_step_data;

/* Returns whether the terms along y, or kill, differ. */
TB_HD int adi2d_p_y_differs(adi2d_terms one, adi2d_terms other)
{
    return fd_p_differ(one.drift[1], other.drift[1]) | fd_p_differ(one.diffusion[1], other.diffusion[1]) |
           fd_p_differ(one.kill, other.kill);
}

/* Returns whether all terms are finite. */
TB_HD int adi2d_p_finite(adi2d_terms terms)
{
    /* Eighths, so that the sum of finite numbers is finite. */
    double sum = 0.125 * (double)terms.drift[0] + 0.125 * (double)terms.drift[1] + 0.125 * (double)terms.mixed;
    sum += 0.125 * (double)terms.diffusion[0] + 0.125 * (double)terms.diffusion[1] + 0.125 * (double)terms.kill;
    return trid_finite_f64(sum);
}

/* Computes a row of 1 - size A along an axis, which has half of kill, as fd_lane_matrix_at. */
TB_HD int adi2d_p_matrix(fd_row row, int at_face, tb_real size, tb_real kill, tb_real *a, tb_real *b, tb_real *c)
{
    return fd_lane_matrix_at(row, at_face, size, kill / 2, a, b, c);
}

/* Returns value and derivatives at the spot, from the four by four values around it, point (i, j) at i + 4 j. */
TB_HD adi2d_values adi2d_p_values(const adi2d_p_plan *plan, const tb_real *around)
{
    const fd_weights *x = &plan->at[0], *y = &plan->at[1];
    const double *const weight[6][2] = {{x->value, y->value},     {x->slope, y->value}, {x->value, y->slope},
                                        {x->curvature, y->value}, {x->slope, y->slope}, {x->value, y->curvature}};
    const long long stride[2] = {1, 4};
    double sum[6];
    for (int k = 0; k < 6; k++) sum[k] = fd_lane_value(2, weight[k], around, stride);
    adi2d_values values = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]};
    return values;
}
