/* onchip_ready.h - a room of adi3d.h, read once a model and precision: makes a batch's problems ready for marches on
   chip.
   MIT licence, see LICENSE. */

#define adi3d_p_ready ADI3D_OF(p_ready)
#define adi3d_p_batch ADI3D_OF(p_batch)
#define adi3d_p_ready_lay_out ADI3D_OF(p_ready_lay_out)
#define adi3d_p_ready_of ADI3D_OF(p_ready_of)
#define adi3d_p_ready_threads ADI3D_OF(p_ready_threads)
#define adi3d_p_ready_axes ADI3D_OF(p_ready_axes)
#define adi3d_p_ready_finals ADI3D_OF(p_ready_finals)
#define adi3d_p_ready_checks ADI3D_OF(p_ready_checks)
#define adi3d_p_ready_kernel ADI3D_OF(p_ready_kernel)

/* A problem made ready, in device memory, and what its march needs there. */
typedef struct {
    adi3d_p_tables t;
    adi3d_p_plan *plan;
    fd_step *step;
    adi3d_p_step *data;          /* of each step */
    tb_real *final, *extra, *of; /* grids without gaps: final values, exercise's multiplier, the base of a second
                                    stage */
} adi3d_p_ready;

/* What the kernels of a launch know. */
typedef struct {
    adi3d_batch batch;
    const adi3d_model_parameters *parameters;
    unsigned char *memory;
    size_t bytes; /* of a problem */
} adi3d_p_batch;

/* Lays out a problem's device memory, which has room for the batch's largest; if memory is null, only counts. */
TB_HD size_t adi3d_p_ready_lay_out(const adi3d_batch *batch, const int *points, unsigned char *memory,
                                   adi3d_p_ready *ready)
{
    adi3d_p_ready r;
    size_t used = 0, grid = sizeof(tb_real);
    memset(&r, 0, sizeof r);
    for (int d = 0; d < 3; d++) {
        adi3d_p_axis_lay_out(d, points[d], (unsigned char *)fd_p_at(memory, used), &r.t);
        used += adi3d_p_axis_bytes(d, batch->points[d]), grid *= (size_t)batch->points[d];
    }
    r.plan = (adi3d_p_plan *)fd_p_at(memory, used), used += fd_p_round(sizeof *r.plan);
    r.step = (fd_step *)fd_p_at(memory, used), used += fd_p_round((size_t)batch->steps * sizeof *r.step);
    r.data = (adi3d_p_step *)fd_p_at(memory, used), used += fd_p_round((size_t)batch->steps * sizeof *r.data);
    tb_real **const grids[3] = {&r.final, &r.extra, &r.of};
    for (int g = 0; g < 3; g++) *grids[g] = (tb_real *)fd_p_at(memory, used), used += fd_p_round(grid);
    if (ready) *ready = r;
    return used;
}

/* Returns problem `which` of a launch, as it is in device memory. */
TB_D adi3d_p_ready adi3d_p_ready_of(const adi3d_p_batch &launch, int which)
{
    adi3d_p_ready ready;
    int points[3];
    for (int d = 0; d < 3; d++) {
        const int own = launch.batch.problem[which].axis[d].points, most = launch.batch.points[d];
        points[d] = own < 4 || own > most ? most : own; /* one that is refused may have any number */
    }
    adi3d_p_ready_lay_out(&launch.batch, points, launch.memory + (size_t)which * launch.bytes, &ready);
    return ready;
}

enum { adi3d_p_ready_threads = 256 };

/* Makes the axes and the time steps of a problem that adi3d_p_check_in has passed. */
TB_D void adi3d_p_ready_axes(const adi3d_p_batch &launch, int which, const adi3d_p_ready &r)
{
    const int thread = trid_block_thread(), axis = thread / 32;
    const adi3d_problem *problem = &launch.batch.problem[which];
    adi3d_p_plan *plan = r.plan;
    if (thread % 32 == 0 && axis < 3) {
        adi3d_p_tables t = r.t;
        plan->made[axis] = adi3d_p_axis(problem, &launch.parameters[which], axis, &t);
        plan->at[axis] = t.at[axis];
    }
    if (thread == 96) {
        const fd_times times = adi3d_p_times(problem);
        plan->longest =
            fd_schedule(&times, launch.batch.steps, r.step, &plan->steps) ? 0 : fd_p_longest(plan->steps, r.step);
    }
    __syncthreads();
    if (thread == 0)
        for (int d = 0; d < 3 && !plan->status.what; d++) plan->status = plan->made[d];
}

/* Makes step data, final values and the coordinates that the user wants. */
TB_D void adi3d_p_ready_finals(const adi3d_p_batch &launch, int which, const adi3d_p_ready &r)
{
    const int thread = trid_block_thread(), threads = trid_block_threads();
    const int n0 = r.t.n[0], n1 = r.t.n[1], all = n0 * n1 * r.t.n[2];
    const adi3d_problem *problem = &launch.batch.problem[which];
    const adi3d_model_parameters *parameters = &launch.parameters[which];
    double *coordinates[3];
    for (int d = 0; d < 3; d++) {
        double *to = launch.batch.coordinates[d];
        coordinates[d] = to ? to + (size_t)which * (size_t)launch.batch.points[d] : NULL;
    }
    adi3d_p_coordinates(&r.t, launch.batch.points, coordinates, thread, threads);
    for (int k = thread; k < r.plan->steps; k += threads)
        if (adi3d_p_step_of(problem, parameters, &r.step[k], k, &r.data[k]).what) fd_p_least(&r.plan->bad, k);
    int given = 0;
    for (int at = thread; at < all; at += threads) {
        const int i = at % n0, j = at / n0 % n1, k = at / n0 / n1;
        r.final[at] = (tb_real)adi3d_p_final(problem, parameters, &r.t, i, j, k);
        given = adi3d_p_largest_given(problem, parameters, &r.t, i, j, k, r.final[at], given);
        if (!trid_finite(r.final[at])) fd_p_least(&r.plan->lost, at);
    }
    fd_p_most(&r.plan->given, given);
}

/* Checks all points in the first and the last step. */
TB_D void adi3d_p_ready_checks(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                               const adi3d_p_ready &r)
{
    const int thread = trid_block_thread(), n0 = r.t.n[0], n1 = r.t.n[1], all = n0 * n1 * r.t.n[2];
    adi3d_p_plan *plan = r.plan;
    const int last = plan->steps - 1;
    int not_dominant = 0;
    for (int at = thread; at < all; at += trid_block_threads())
        for (int end = 0; end < 2; end++) {
            const int i = at % n0, j = at / n0 % n1, k = at / n0 / n1, step = end ? last : 0;
            if (step >= plan->bad) continue;
            not_dominant += adi3d_p_not_dominant(&r.t, i, j, k, &r.data[step]);
            if (adi3d_p_untrue_at(problem, &r.t, i, j, k, &r.data[step])) fd_p_least(&plan->untrue[end], at);
            const int too_fast = adi3d_p_too_fast(problem, &r.t, plan->longest, i, j, k, &r.data[step]);
            if (too_fast) fd_p_least(&plan->too_fast, too_fast);
        }
    if (not_dominant > 0) fd_p_add(&plan->not_dominant, not_dominant);
    __syncthreads();
    if (thread == 0 && plan->bad != FD_P_NONE) { /* the march finds what is not finite, in its turn */
        const fd_status status =
            adi3d_p_step_of(problem, parameters, &r.step[plan->bad], plan->bad, &r.data[plan->bad]);
        if (status.what == FD_TOO_FEW_NUMBERS) plan->status = status;
    }
    for (int end = 0; end < 2 && thread == 0 && !plan->status.what; end++) {
        const int at = plan->untrue[end], i = at % n0, j = at / n0 % n1, k = at / n0 / n1, step = end ? last : 0;
        if (at != FD_P_NONE)
            plan->status = fd_p_untrue(adi3d_p_untrue_at(problem, &r.t, i, j, k, &r.data[step]), i, j, k, step);
    }
    if (thread == 0 && !plan->status.what && plan->too_fast < 0)
        plan->status = fd_status_of(FD_UNSTABLE, fd_p_enough(&problem->times, plan->too_fast), -1, -1, -1, -1, -1);
}

/* Makes problems ready, a block each: axes, steps and final values, by the functions that the other engines use. */
template <int unused>
TRID_KERNEL void __launch_bounds__(adi3d_p_ready_threads) adi3d_p_ready_kernel(
    const __grid_constant__ adi3d_p_batch launch)
{
    const int which = (int)blockIdx.x, thread = trid_block_thread();
    const adi3d_problem *problem = &launch.batch.problem[which];
    const adi3d_p_ready r = adi3d_p_ready_of(launch, which);
    const int n0 = r.t.n[0], n1 = r.t.n[1];
    adi3d_p_plan *plan = r.plan;
    if (thread == 0) {
        plan->status = adi3d_p_check_in(&launch.batch, problem);
        plan->not_dominant = plan->given = plan->too_fast = 0,
        plan->bad = plan->lost = plan->untrue[0] = plan->untrue[1] = FD_P_NONE;
    }
    __syncthreads();
    if (plan->status.what) return;
    adi3d_p_ready_axes(launch, which, r);
    __syncthreads();
    if (plan->status.what) return;
    adi3d_p_ready_finals(launch, which, r);
    __syncthreads();
    const int lost = plan->lost;
    if (lost == FD_P_NONE)
        adi3d_p_ready_checks(problem, &launch.parameters[which], r);
    else if (thread == 0)
        plan->status = fd_status_of(FD_FINAL_NAN, 0, -1, lost % n0, lost / n0 % n1, lost / n0 / n1, -1);
}
