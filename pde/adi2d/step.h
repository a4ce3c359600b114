/* step.h - a room of adi2d.h, read once a model and precision: what host and device share: time steps as numbers and
   which are products of factors, the preparation of a problem.
   MIT licence, see LICENSE. */

#define adi2d_p_independent FD_OF(p_2d_independent)
#define adi2d_p_step FD_OF(p_2d_step)
#define adi2d_p_may_be_product FD_OF(p_2d_may_be_product)
#define adi2d_p_make_step FD_OF(p_2d_make_step)
#define adi2d_p_continues FD_OF(p_2d_continues)
#define adi2d_p_prepare FD_OF(p_2d_prepare)

/* All lines along y share one matrix throughout a march of steps of one length. */
enum { adi2d_p_independent = (int)fd_p_steady >> 1 & FD_MODEL_INDEPENDENT >> 1 & 1 };

/* A step, and how it is made. */
typedef struct {
    fd_p_step of;
    int product;     /* as a product of factors (adi2d_p_may_be_product) */
    int open, close; /* of a product: the step before, or after, is none, or something happens in between */
} adi2d_p_step;

/* Returns whether a step can be made as a product of factors, if its rows are diagonally dominant. With theta 1/2 and
   neither mixed term nor source, Douglas' scheme is
       (1 - dt A_1 / 2) (1 - dt A_2 / 2) u' = (1 + dt A_1 / 2) (1 + dt A_2 / 2) u,
   and (1 + M) / (1 - M) = 2 / (1 - M) - 1. So, from z = (1 + dt A_2 / 2) u,
       s = z / (1 - dt A_1 / 2),  y = 2 s - z,  u' = y / (1 - dt A_2 / 2),  z' = 2 u' - y = (1 + dt A_2 / 2) u'
   is a step that forms no differences, and z' is what the next one begins with if its length and A_2 are the same. */
TB_HD int adi2d_p_may_be_product(const fd_p_tables *t, const fd_step *step, int time_independent)
{
    const fd_problem *problem = t->problem;
    for (int f = 0; f < 4; f++)
        if (problem->face[f / 2][f % 2] != FD_LINEAR) return 0;
    return !FD_MODEL_MIXED && !t->found->sources && time_independent && problem->exercise == FD_EUROPEAN &&
           problem->scheme == FD_DOUGLAS && step->kind == FD_THETA && step->theta > 0.5 - 1e-15 &&
           step->theta < 0.5 + 1e-15;
}

/* Makes step k, and finds out whether it is one that the batch excludes. open and close follow in a later phase. */
TB_HD void adi2d_p_make_step(const fd_batch *batch, const fd_p_tables *t, int k, adi2d_p_step *step)
{
    fd_p_findings *found = t->found;
    const fd_step made = fd_p_step_at(t, k);
    step->of = fd_p_step_of(t->problem, t->parameters, &made);
    const fd_step_data *data = &step->of.data;
    step->product = !found->not_dominant && adi2d_p_may_be_product(t, &made, data->time_independent);
    if ((batch->kind == ADI2D_PRODUCTS && !step->product) || (batch->kind == ADI2D_ONE_STAGE && data->stages > 1))
        fd_p_least(&found->fault[FD_P_AT_KIND], k);
}

/* Returns whether the next step, of a march of products, begins with what step k leaves. */
TB_HD int adi2d_p_continues(const fd_p_tables *t, const adi2d_p_step *step, int k)
{
    if (k < 0 || k + 1 >= t->found->steps || !step[k].product || !step[k + 1].product) return 0;
    const double one = step[k].of.from - step[k].of.to, other = step[k + 1].of.from - step[k + 1].of.to;
    if (step[k].of.data.date >= 0) return 0;
    if (fabs(one - other) > 1e-11 * one) return 0;
    return ((int)fd_p_steady & 2) || fd_p_same(fd_p_numbers(3), fd_p_time_of(t, k, 0), fd_p_time_of(t, k + 1, 0));
}

/* Prepares a problem, as fd_p_prepare does, in phases of its own after that's. */
TB_HD void adi2d_p_prepare(const fd_batch *batch, const fd_p_tables *t, adi2d_p_step *step, int phase, int thread,
                           int threads)
{
    if (phase < FD_P_PHASES) fd_p_prepare(batch, t, phase, thread, threads);
    if (phase < FD_P_PHASES || t->found->status.what) return;
    if (phase == FD_P_PHASES)
        for (int k = thread; k < t->found->steps; k += threads) adi2d_p_make_step(batch, t, k, &step[k]);
    if (phase == FD_P_PHASES + 1)
        for (int k = thread; k < t->found->steps; k += threads) {
            step[k].open = !adi2d_p_continues(t, step, k - 1);
            step[k].close = !adi2d_p_continues(t, step, k);
        }
    if (phase == FD_P_PHASES + 2 && thread == 0) fd_p_sum_up(batch, t);
}
