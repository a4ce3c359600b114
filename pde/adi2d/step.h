/* step.h - a room of adi2d.h, read once for each model and precision: which time steps are products of factors.
   MIT licence, see LICENSE. */

#define adi2d_p_may_be_product FD_OF(p_2d_may_be_product)
#define adi2d_p_terms_allow FD_OF(p_2d_terms_allow)
#define adi2d_p_sets_source FD_OF(p_2d_sets_source)
#define adi2d_p_find_products FD_OF(p_2d_find_products)
#define adi2d_p_continues FD_OF(p_2d_continues)
#define adi2d_p_join_products FD_OF(p_2d_join_products)

/* Returns whether a step may be a product of factors. It is one only if its rows are also diagonally dominant, and
   adi2d_p_terms_allow finds no source. With theta 1/2 and neither mixed term nor source, Douglas' scheme is
       (1 - dt A_1 / 2) (1 - dt A_2 / 2) u' = (1 + dt A_1 / 2) (1 + dt A_2 / 2) u,
   and (1 + M) / (1 - M) = 2 / (1 - M) - 1. So, with z = (1 + dt A_2 / 2) u, the equations
       s = z / (1 - dt A_1 / 2),  y = 2 s - z,  u' = y / (1 - dt A_2 / 2),  z' = 2 u' - y = (1 + dt A_2 / 2) u'
   take a step that forms no differences. The next step begins with z' if adi2d_p_continues says so. */
TB_HD int adi2d_p_may_be_product(const fd_p_tables *t, const fd_step *step, int time_independent)
{
    const fd_problem *problem = t->problem;
    for (int f = 0; f < 4; f++)
        if (problem->face[f / 2][f % 2] != FD_LINEAR) return 0;
    return !FD_MODEL_MIXED && !t->found->sources && time_independent && problem->exercise == FD_EUROPEAN &&
           problem->scheme == FD_DOUGLAS && step->kind == FD_THETA && step->theta > 0.5 - 1e-15 &&
           step->theta < 0.5 + 1e-15;
}

/* Returns whether the terms of step k allow a product: whether there is no source and all rows are dominant at the
   corners and in the middle of the grid. fd_p_check_terms visits all points, but few steps. If the model has no numbers
   of t, the terms are the same in all steps, and this function checks nothing. */
TB_HD int adi2d_p_terms_allow(const fd_p_tables *t, int k)
{
    const int *n = t->found->points;
    for (int m = 0; m < 5 && fd_p_numbers(3) > 0; m++) {
        const int middle = m == 4;
        const int index[3] = {middle ? n[0] / 2 : m % 2 * (n[0] - 1), middle ? n[1] / 2 : m / 2 * (n[1] - 1), 0};
        const fd_terms terms = fd_p_terms_at(t, index, fd_p_time_of(t, k, 1));
        if (terms.source < 0 || terms.source > 0 || fd_p_not_dominant(t, index, terms, t->step[k].data.size)) return 0;
    }
    return 1;
}

/* Returns whether the model has numbers of t and sets a source, even one that is 0 now and may change later. To find
   out, this function passes the model a source of 1, in the first step at the middle of the grid: a model that sets a
   source replaces it. If the model sets 1 there, fd_p_check_terms, which visits that point in that step, finds the
   source. */
TB_HD int adi2d_p_sets_source(const fd_p_tables *t)
{
    fd_numbers own[2];
    fd_terms terms = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 1};
    for (int d = 0; d < 2; d++) fd_p_take(t, d, t->found->points[d] / 2, &own[d]);
    fd_model_terms(t->parameters, &own[0].x, &own[1].y, (const fd_model_t *)fd_p_time_of(t, 0, 1), &terms);
    return fd_p_numbers(3) > 0 && (terms.source < 1 || terms.source > 1);
}

/* Finds the steps that are products, and those that batch->kind excludes. If the model sets a source, no step is a
   product unless batch->kind promises products, because no check visits every point in every step. */
TB_HD void adi2d_p_find_products(const fd_batch *batch, const fd_p_tables *t, int thread, int threads)
{
    fd_p_findings *found = t->found;
    const int none = batch->kind != ADI2D_PRODUCTS && adi2d_p_sets_source(t);
    for (int k = thread; k < found->steps; k += threads) {
        const fd_step made = fd_p_step_at(t, k);
        fd_p_step *step = &t->step[k];
        step->product = !none && !found->not_dominant && !found->too_long &&
                        adi2d_p_may_be_product(t, &made, step->data.time_independent) && adi2d_p_terms_allow(t, k);
        if ((batch->kind == ADI2D_PRODUCTS && !step->product) ||
            (batch->kind == ADI2D_ONE_STAGE && step->data.stages > 1))
            fd_p_least(&found->fault[FD_P_AT_KIND], k);
    }
}

/* Returns whether the step after step k is a product that begins with the z' of step k: both are products of one length
   with the same A_2, and no date lies between them. */
TB_HD int adi2d_p_continues(const fd_p_tables *t, int k)
{
    const fd_p_step *step = t->step;
    if (k < 0 || k + 1 >= t->found->steps || !step[k].product || !step[k + 1].product) return 0;
    if (step[k].data.date >= 0 || !fd_p_same_size(step[k].data.size, step[k + 1].data.size)) return 0;
    return ((int)fd_p_steady & 2) || fd_p_same(fd_p_numbers(3), fd_p_time_of(t, k, 0), fd_p_time_of(t, k + 1, 0));
}

/* For each step k, sets `open` unless step k begins with the z' of step k - 1, and `close` unless step k + 1 begins
   with the z' of step k; clears them otherwise. */
TB_HD void adi2d_p_join_products(const fd_p_tables *t, int thread, int threads)
{
    for (int k = thread; k < t->found->steps; k += threads) {
        t->step[k].open = !adi2d_p_continues(t, k - 1);
        t->step[k].close = !adi2d_p_continues(t, k);
    }
}
