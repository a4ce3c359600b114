/* slabs.h - a room of bs3d.h: explicit4 and implicit2 on slabs: on the planes of one GPU of several.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

#define bs3d_slab_march_f32 tb_f32::bs3d_slab_march
#define bs3d_slab_march_f64 tb_f64::bs3d_slab_march
#define bs3d_slab_partitions_f32 tb_f32::bs3d_slab_partitions
#define bs3d_slab_partitions_f64 tb_f64::bs3d_slab_partitions
#define bs3d_slab_bytes_f32 tb_f32::bs3d_slab_bytes
#define bs3d_slab_bytes_f64 tb_f64::bs3d_slab_bytes
#define bs3d_slab_open_f32 tb_f32::bs3d_slab_open
#define bs3d_slab_open_f64 tb_f64::bs3d_slab_open
#define bs3d_slab_explicit_f32 tb_f32::bs3d_slab_explicit
#define bs3d_slab_explicit_f64 tb_f64::bs3d_slab_explicit
#define bs3d_slab_up_f32 tb_f32::bs3d_slab_up
#define bs3d_slab_up_f64 tb_f64::bs3d_slab_up
#define bs3d_slab_down_f32 tb_f32::bs3d_slab_down
#define bs3d_slab_down_f64 tb_f64::bs3d_slab_down
#define bs3d_slab_exercise_f32 tb_f32::bs3d_slab_exercise
#define bs3d_slab_exercise_f64 tb_f64::bs3d_slab_exercise
#define bs3d_slab_values_f32 tb_f32::bs3d_slab_values
#define bs3d_slab_values_f64 tb_f64::bs3d_slab_values
#define bs3d_slab_messages_f32 tb_f32::bs3d_slab_messages
#define bs3d_slab_messages_f64 tb_f64::bs3d_slab_messages

/* Finds the planes of a part of an explicit sweep, of which the outer ones are as many as the neighbours have copies
   of; `extra`: with so many copies on each side, or as many as there are. Returns 0 if there are none. */
TB_HOST int bs3d_p_slab_part(const bs3d_slab *cut, int part, int extra, bs3d_p_span *span)
{
    const int low = cut->below ? cut->halo : 0, high = cut->above ? cut->halo : 0;
    const int whole = cut->planes < low + high + 4; /* too few planes to be parted */
    const bs3d_p_span none = {0, 0, 0, 0, 1, 0, 0, 0, cut->below + cut->planes + cut->above};
    *span = none;
    if (part == BS3D_ALL || (part == BS3D_OUTER && whole)) {
        int down = extra < cut->below ? extra : cut->below, up = extra < cut->above ? extra : cut->above;
        span->from = cut->below - down;
        span->planes = cut->planes + down + up;
    } else if (part == BS3D_INNER && !whole) {
        span->from = cut->below + low;
        span->planes = cut->planes - low - high;
    } else if (part == BS3D_OUTER) {
        span->from = low ? cut->below : cut->below + cut->planes - high;
        span->planes = low + high;
        span->partitions = (low > 0) + (high > 0);
        span->apart = cut->planes - low - high;
    }
    return span->planes;
}

#define TB_BODY "../bs3d/slabs.h"
#include "../trid/twice.h"

#else /* TB_BODY: C++ over tb_real */

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Sweeps as explicit3, explicit4 or bs3d_p_implicit2_forward, over a span of planes. */
template <int form, int steps, int forward>
__launch_bounds__(bs3d_p_tile_threads(steps), bs3d_p_shape::tile_blocks)
TRID_KERNEL void bs3d_p_slab_sweep(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                   const tb_real *__restrict__ u, tb_real *__restrict__ v,
                                   tb_real *__restrict__ interfaces, bs3d_p_span span)
{
    TRID_DYNAMIC_SHARED(memory);
    bs3d_p_sweep_planes<form, steps, forward>(&pairs, &plan, tables, u, v, interfaces, memory, &span);
}

/* Sweeps as bs3d_p_implicit2_up, over a span of planes. */
template <int form, int halves>
__launch_bounds__(bs3d_p_up_threads(halves), bs3d_p_shape::up_blocks / halves)
TRID_KERNEL void bs3d_p_slab_up(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                const tb_real *__restrict__ u, tb_real *__restrict__ v,
                                tb_real *__restrict__ interfaces, bs3d_p_span span)
{
    TRID_DYNAMIC_SHARED(memory);
    bs3d_p_upward_rows<form, halves>(&pairs, &plan, tables, u, v, interfaces, memory, &span);
}

/* Makes u the payoff, or (later) raises it to the payoff; its first plane is plane `shift` of the grid. A block for
   each row. */
template <int unused>
TRID_KERNEL void bs3d_p_slab_payoff(bs3d_problem o, bs3d_p_plan plan, int shift, int later, tb_real *u)
{
    double ds[3];
    int j = (int)blockIdx.x, k = (int)blockIdx.y;
    for (int axis = 0; axis < 3; axis++) ds[axis] = bs3d_p_spacing(&o, axis);
    u += (long long)plan.pitch * j + plan.plane * k;
    for (int i = trid_block_thread(); i < o.points[0]; i += trid_block_threads()) {
        tb_real payoff =
            (tb_real)bs3d_lane_payoff(o.payoff, o.flags, o.strike, i * ds[0], j * ds[1], (k + shift) * ds[2]);
        if (!later || u[i] < payoff) u[i] = payoff;
    }
}

/* Finds the values around the spot that lie in the slab's own planes; zeros for the others. By one warp. */
template <int unused>
TRID_KERNEL void bs3d_p_slab_around(bs3d_problem o, bs3d_p_plan plan, bs3d_slab cut, const tb_real *u, tb_real *values)
{
    for (int n = (int)threadIdx.x; n < 64; n += 32) {
        int k = bs3d_p_first(&o, 2) + n / 16, valid = k >= cut.first && k < cut.first + cut.planes;
        long long at = bs3d_p_around(&o, n, plan.pitch, plan.plane) - plan.plane * (cut.first - cut.below);
        values[n] = valid ? u[at] : 0;
    }
}

/* Factors the slab's partitions; and the reduced system of cut.reduced partitions, as BS3D_P_REDUCED has it. The halo
   plane below is the last that the downward sweep comes to: there is nothing to solve for, it is the unknown before. */
template <int unused>
TRID_KERNEL void bs3d_p_slab_factor(bs3d_model model, bs3d_slab cut, tb_real *tables, tb_real *links)
{
    __shared__ double link[4 * BS3D_P_MOST_REDUCED];
    int e = (int)threadIdx.x, n = cut.slab * cut.partitions - cut.own + e; /* of all partitions of the grid */
    tb_real *rows = tables + BS3D_P_Z_FACTORS;
    if (e < cut.reduced) {
        int slab = n / cut.partitions, stores = slab == cut.slab, from, to;
        bs3d_p_slab_partition(model.points[2], cut.slabs, slab, cut.partitions, n % cut.partitions, &from, &to);
        bs3d_p_factor_planes(&model, from, to, 0, stores, rows - 8 * (cut.first - cut.below), link + 4 * e);
    }
    __syncthreads();
    if (e > 0) return;
    if (cut.below) {
        rows[1] = rows[2] = 0;
        rows[3] = -1;
    }
    bs3d_p_factor_reduced(cut.reduced, link, links);
}

/* Solves the reduced systems (bs3d_p_solve_reduced, upward), for the last unknowns of the slab's partitions and of the
   partition before them; if there is a slab above, its first unknown comes in place of that of the last one. */
template <int most>
__launch_bounds__(128)
TRID_KERNEL void bs3d_p_slab_solve_reduced(bs3d_slab cut, long long plane, const tb_real *__restrict__ links,
                                           tb_real *interfaces)
{
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= plane) return;
    tb_real *lasts = interfaces + plane * cut.reduced, first[most], x[most];
    interfaces += at;
    lasts += at;
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        first[s] = s < cut.reduced ? interfaces[plane * s] : 0;
        x[s] = s < cut.reduced ? lasts[plane * s] : 0;
    }
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        if (s >= cut.reduced) continue;
        if (s + 1 < most) x[s] -= links[8 * s] * first[s + 1];
        if (s > 0) x[s] -= links[8 * s + 1] * x[s - 1];
        x[s] *= links[8 * s + 2];
    }
    TB_UNROLL
    for (int s = most - 2; s >= 0; s--)
        if (s < cut.reduced) x[s] -= links[8 * s + 3] * x[s + 1];
    const int top = cut.own + cut.partitions - 1;
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        if (s < cut.own - 1 || s > top) continue;
        if (s + 1 < most && s == top && cut.above)
            x[s] = first[s + 1] - links[8 * (s + 1) + 4] * x[s] - links[8 * (s + 1) + 5] * x[s + 1];
        lasts[plane * s] = x[s];
    }
}

/* ---- the launches ------------------------------------------------------------------------------------------------ */

/* A march on a slab, as bs3d_slab_open makes it. */
typedef struct {
    bs3d_slab cut;
    bs3d_problem problem;
    bs3d_p_job job; /* job.u: the values; its plan is of all planes, halos too */
    tb_real *links, *values;
    int total, implicit;
    int fused;        /* implicit: whether the upward sweep solves x too */
    bs3d_p_launch up; /* implicit: how its sweeps are launched */
    bs3d_p_down_kernel down;
    size_t down_bytes;
} bs3d_slab_march;

/* Makes the launch of the upward sweep of a slab's partitions, as bs3d_p_upward. */
template <int unused>
static int bs3d_p_slab_upward(const bs3d_p_plan *plan, int form, int *fused, bs3d_p_launch *up)
{
    const int nx = plan->model.points[0];
    *fused = 0;
    if (nx <= 256) {
        up->slab_sweep = form ? bs3d_p_slab_up<BS3D_GENERAL, 1> : bs3d_p_slab_up<BS3D_POSITIVE, 1>;
        *fused = !bs3d_p_launch_rows(plan, 1, up->slab_sweep, up);
    } else if (nx <= 512) {
        up->slab_sweep = form ? bs3d_p_slab_up<BS3D_GENERAL, 2> : bs3d_p_slab_up<BS3D_POSITIVE, 2>;
        *fused = !bs3d_p_launch_rows(plan, 2, up->slab_sweep, up);
    }
    if (*fused) return BS3D_OK;
    up->slab_sweep = form ? bs3d_p_slab_sweep<BS3D_GENERAL, 1, 1> : bs3d_p_slab_sweep<BS3D_POSITIVE, 1, 1>;
    return bs3d_p_launch_tiles(plan, 1, up->slab_sweep, up);
}

/* Makes the plan of a slab's kernels, for `planes` planes in `partitions` partitions. */
TB_HOST bs3d_p_plan bs3d_p_slab_plan(const bs3d_problem *o, int planes, int partitions)
{
    bs3d_p_plan plan;
    plan.model = bs3d_model_of(o);
    plan.model.points[2] = planes;
    plan.pitch = bs3d_pitch(o->points[0]);
    plan.plane = (long long)plan.pitch * o->points[1];
    plan.partitions = partitions;
    plan.tile = plan.prefetch = 0;
    return plan;
}

/* Returns into how many partitions an implicit march on so many slabs cuts each, on devices like the current one; 0 if
   there is something wrong with the problem, or the device has too little shared memory. */
template <int unused = 0>
static int bs3d_slab_partitions(const bs3d_problem *o, int slabs)
{
    if (bs3d_slab_check(o, 1, slabs)) return 0;
    const int lines = bs3d_p_lines(bs3d_p_per_lane(o->points[1])), least = o->points[2] / slabs;
    const int planes = (o->points[2] - 1) / slabs + 1 + 2 * (slabs > 1), columns = (o->points[0] - 1) / lines + 1;
    int fused,
        partitions = bs3d_p_best_partitions(planes, columns, bs3d_p_attribute(cudaDevAttrMultiProcessorCount), 2);
    if (partitions > BS3D_P_PARTITIONS) partitions = BS3D_P_PARTITIONS;
    if (partitions > least / 4) partitions = least / 4;
    if (partitions < 1) return 0;
    bs3d_p_plan plan = (bs3d_p_slab_plan)(o, planes, partitions);
    bs3d_p_launch up;
    if (bs3d_p_slab_upward<unused>(&plan, bs3d_p_form(&plan.model), &fused, &up)) return 0;
    return up.plan.partitions;
}

/* Returns the bytes of device memory that a slab's march works in; 0 for a null pointer. */
TB_HOST size_t bs3d_slab_bytes(const bs3d_problem *o, const bs3d_slab *cut)
{
    if (!o || !cut) return 0;
    size_t plane = (size_t)bs3d_pitch(o->points[0]) * (size_t)o->points[1];
    size_t planes = 2 * (size_t)(cut->below + cut->planes + cut->above) + 2 * (size_t)cut->reduced;
    return (planes * plane + BS3D_P_TABLES + 8 * BS3D_P_MOST_REDUCED + 64) * sizeof(tb_real);
}

/* Divides a slab's memory. */
TB_HOST void bs3d_p_slab_divide(bs3d_slab_march *m, void *work)
{
    bs3d_p_job *job = &m->job;
    const size_t plane = (size_t)job->plan.plane, cells = plane * (size_t)m->total;
    job->u = (tb_real *)work;
    job->v = job->u + cells;
    job->interfaces = job->v + cells;
    job->tables = job->interfaces + 2 * (size_t)m->cut.reduced * plane;
    m->links = job->tables + BS3D_P_TABLES;
    m->values = m->links + 8 * BS3D_P_MOST_REDUCED;
}

/* Opens a march on a slab, up to its first step: tables, factors, and the payoff as its values.
   Needs    cut: bs3d_slab_cut's; work: bs3d_slab_bytes of the current device's memory, aligned to 16 bytes
   Leaves   *march; the values in march->job.u, as in bs3d_work_bytes' memory, from the lowest plane on that the slab
            has a copy of
   Returns  BS3D_OK; BS3D_BAD_ARGUMENT; BS3D_LAUNCH_FAILED, also if this device cannot have these partitions
   Lanes    called on the host, the slab's device being the current one, as for all functions of a march */
template <int unused = 0>
static int bs3d_slab_open(const bs3d_problem *o, const bs3d_slab *cut, void *work, bs3d_slab_march *march,
                          cudaStream_t stream)
{
    if (!o || !cut || !march || !work || (size_t)work % 16) return BS3D_BAD_ARGUMENT;
    bs3d_slab_march *m = march;
    bs3d_p_job *job = &m->job;
    const bs3d_model model = bs3d_model_of(o);
    int status = BS3D_OK;
    m->cut = *cut;
    m->problem = *o;
    m->implicit = cut->partitions > 0;
    m->total = cut->below + cut->planes + cut->above;
    job->plan = (bs3d_p_slab_plan)(o, m->total, cut->partitions);
    job->pairs = (bs3d_lane_pairs)(&model, !m->implicit);
    job->form = bs3d_p_form(&model);
    bs3d_p_slab_divide(m, work);
    if (m->implicit) {
        status = bs3d_p_slab_upward<unused>(&job->plan, job->form, &m->fused, &m->up);
        if (status || m->up.plan.partitions != cut->partitions) return BS3D_LAUNCH_FAILED;
        m->down_bytes = bs3d_p_down_bytes(job);
        m->down = bs3d_p_down_of<1>(o->points[1]);
        if (trid_allow_shared(m->down) != cudaSuccess) return BS3D_LAUNCH_FAILED;
    }
    if (cudaMemsetAsync(work, 0, (size_t)(job->tables - job->u) * sizeof *job->u, stream) != cudaSuccess)
        return BS3D_LAUNCH_FAILED;
    const int rows = m->total + 2 * BS3D_P_MARGIN, shift = cut->first - cut->below;
    bs3d_p_launch_next(&status, bs3d_p_set_up<unused>, 3, 256, 0, stream, model, shift,
                       m->implicit && rows > BS3D_P_ROW_TABLE ? (int)BS3D_P_ROW_TABLE : rows, job->tables);
    bs3d_p_launch_next(&status, bs3d_p_slab_payoff<unused>, dim3((unsigned)o->points[1], (unsigned)m->total), 128, 0,
                       stream, *o, job->plan, shift, 0, job->u);
    for (int axis = 0; axis < 2 && m->implicit; axis++)
        bs3d_p_launch_factor<unused>(&status, job, axis, o->points[axis], axis == 0 && m->fused, stream);
    if (m->implicit)
        bs3d_p_launch_next(&status, bs3d_p_slab_factor<unused>, 1, BS3D_P_MOST_REDUCED, 0, stream, model, *cut,
                           job->tables, m->links);
    return status;
}

/* Takes one or two time steps of an explicit march on a part of the slab: BS3D_ALL, and makes `extra` copies on each
   side as well; or BS3D_OUTER, what neighbours have copies of, and then BS3D_INNER, the rest, which may run at the same
   time.
   Needs    before BS3D_ALL or BS3D_OUTER: extra + steps copies on each side that are of the time of the values. early:
            nothing was enqueued in the stream since BS3D_ALL of the sweep before
   Leaves   march->job.u (with BS3D_ALL and BS3D_OUTER another array than before): the values; copies beyond extra are
            worthless
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int bs3d_slab_explicit(bs3d_slab_march *march, int steps, int part, int extra, int early, cudaStream_t stream)
{
    bs3d_p_job *job = &march->job;
    bs3d_p_launch l;
    bs3d_p_span span;
    if (part != BS3D_INNER) {
        tb_real *swap = job->u;
        job->u = job->v;
        job->v = swap;
    }
    if (!bs3d_p_slab_part(&march->cut, part, extra, &span)) return BS3D_OK;
    const bs3d_p_plan plan = (bs3d_p_slab_plan)(&march->problem, span.planes, span.partitions);
    if (steps == 1)
        l.slab_sweep = job->form ? bs3d_p_slab_sweep<BS3D_GENERAL, 1, 0> : bs3d_p_slab_sweep<BS3D_POSITIVE, 1, 0>;
    else
        l.slab_sweep = job->form ? bs3d_p_slab_sweep<BS3D_GENERAL, 2, 0> : bs3d_p_slab_sweep<BS3D_POSITIVE, 2, 0>;
    int status = bs3d_p_launch_tiles(&plan, steps, l.slab_sweep, &l);
    if (status) return status;
    span.partitions = l.plan.partitions;
    l.plan.model.points[2] = march->total;
    return trid_launch_with(early && l.early, 1, l.slab_sweep, l.grid, l.block, l.bytes, stream, job->pairs, l.plan,
                            job->tables, job->v, job->u, job->interfaces, span) == cudaSuccess
               ? BS3D_OK
               : BS3D_LAUNCH_FAILED;
}

/* Solves x by itself: the lines of `planes` planes of v, and of both interface planes of `partitions` partitions. */
template <int unused>
static void bs3d_p_slab_x(int *status, const bs3d_slab_march *march, int planes, int partitions, cudaStream_t stream)
{
    bs3d_p_plan plan = march->job.plan;
    plan.model.points[2] = planes;
    plan.partitions = partitions;
    bs3d_p_launch_x<unused>(status, &march->job, &plan, plan.model.points[1] * (planes + 2 * partitions), stream);
}

/* Takes an implicit step, upward: right-hand side, x lines and forward elimination in z of BS3D_ALL; or of BS3D_OUTER,
   what neighbours wait for, and then BS3D_INNER, the rest, which may run at the same time if march->fused is not 0; if
   it is 0, with nx > 512, it is what has to follow.
   Needs    the values, and the copies of the neighbours' planes beside them
   Leaves   after BS3D_OUTER what bs3d_slab_messages names is ready to be sent
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int bs3d_slab_up(bs3d_slab_march *march, int part, cudaStream_t stream)
{
    const bs3d_slab *cut = &march->cut;
    const bs3d_p_job *job = &march->job;
    const bs3d_p_launch *up = &march->up;
    const int outer = cut->reach ? cut->reach : cut->partitions, low = cut->below ? outer : 0,
              high = cut->above ? outer : 0;
    const int whole = !march->fused || cut->partitions <= low + high; /* partitions are not parted */
    int status = BS3D_OK, partitions = cut->partitions;
    bs3d_p_span span = {0, march->total, cut->partitions,         0, cut->partitions, 0,
                        0, cut->below,   cut->below + cut->planes};
    if (part == BS3D_OUTER && !whole) {
        partitions = low + high;
        span.jump = low;
        span.over = cut->partitions - low - high;
    } else if (part == BS3D_INNER) {
        partitions = whole ? 0 : cut->partitions - low - high;
        span.first = low;
    }
    if (partitions) {
        bs3d_p_plan plan = up->plan;
        dim3 grid = up->grid;
        plan.partitions = cut->reduced; /* from the first rows to the last ones */
        (march->fused ? grid.y : grid.z) = (unsigned)partitions;
        bs3d_p_launch_next(&status, up->slab_sweep, grid, up->block, up->bytes, stream, job->pairs, plan, job->tables,
                           job->u, job->v, job->interfaces + plan.plane * cut->own, span);
    }
    if (!march->fused && part != BS3D_INNER) bs3d_p_slab_x<unused>(&status, march, 0, cut->reduced, stream);
    if (!march->fused && part != BS3D_OUTER) bs3d_p_slab_x<unused>(&status, march, march->total, 0, stream);
    return status;
}

/* Takes an implicit step, downward: the reduced systems, back substitution in z, y lines, and the update, also of the
   neighbours' planes that the slab has a copy of.
   Needs    bs3d_slab_up of all of it, and what the other slabs have sent
   Leaves   the values and the copies
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int bs3d_slab_down(bs3d_slab_march *march, cudaStream_t stream)
{
    const bs3d_slab *cut = &march->cut;
    const bs3d_p_job *job = &march->job;
    const int *n = march->problem.points, lines = bs3d_p_lines(bs3d_p_per_lane(n[1]));
    const long long plane = job->plan.plane;
    int status = BS3D_OK;
    bs3d_p_launch_next(&status,
                       cut->reduced <= 8    ? bs3d_p_slab_solve_reduced<8>
                       : cut->reduced <= 16 ? bs3d_p_slab_solve_reduced<16>
                                            : bs3d_p_slab_solve_reduced<BS3D_P_MOST_REDUCED>,
                       (unsigned)((plane - 1) / 128 + 1), 128, 0, stream, *cut, plane, march->links, job->interfaces);
    bs3d_p_launch_next(&status, march->down, dim3((unsigned)((n[0] - 1) / lines + 1), (unsigned)cut->partitions),
                       (unsigned)(32 * lines), march->down_bytes, stream, job->plan, job->tables, job->v, job->u,
                       job->interfaces + plane * (cut->reduced + cut->own - cut->partitions));
    return status;
}

/* Raises values and copies to the payoff after a step with BS3D_AMERICAN; does nothing otherwise. Returns BS3D_OK or
   BS3D_LAUNCH_FAILED. */
template <int unused = 0>
static int bs3d_slab_exercise(bs3d_slab_march *march, cudaStream_t stream)
{
    const bs3d_problem *o = &march->problem;
    int status = BS3D_OK;
    if (o->flags & BS3D_AMERICAN)
        bs3d_p_launch_next(&status, bs3d_p_slab_payoff<unused>, dim3((unsigned)o->points[1], (unsigned)march->total),
                           128, 0, stream, *o, march->job.plan, march->cut.first - march->cut.below, 1, march->job.u);
    return status;
}

/* Finds the 64 values around the spot (bs3d_lane_greeks), as far as they lie in the slab's own planes, and zeros, in
   march->values, device memory: their sum over the slabs is all of them. Returns BS3D_OK or BS3D_LAUNCH_FAILED. */
template <int unused = 0>
static int bs3d_slab_values(bs3d_slab_march *march, cudaStream_t stream)
{
    int status = BS3D_OK;
    bs3d_p_launch_next(&status, bs3d_p_slab_around<unused>, 1, 32, 0, stream, march->problem, march->job.plan,
                       march->cut, march->job.u, march->values);
    return status;
}

/* Names what a slab and another one, peer, send each other: in an explicit march as many planes as there are copies,
   after BS3D_ALL or BS3D_OUTER; in an implicit one interfaces of partitions, before bs3d_slab_down.
   Returns  how many messages, of as many bytes each way: 0 to 2, in the same order on both sides */
TB_HOST int bs3d_slab_messages(const bs3d_slab_march *march, int peer, bs3d_message *messages)
{
    const bs3d_slab *cut = &march->cut;
    const size_t plane = (size_t)march->job.plan.plane, bytes = plane * sizeof(tb_real);
    const int up = peer == cut->slab + 1, beside = up || peer == cut->slab - 1;
    if (peer == cut->slab || peer < 0 || peer >= cut->slabs || (!beside && (!march->implicit || cut->reach))) return 0;
    if (!march->implicit) {
        tb_real *border = march->job.u + plane * (size_t)(cut->below + (up ? cut->planes : 0));
        const size_t halo = plane * (size_t)cut->halo;
        messages->send = up ? border - halo : border;
        messages->receive = up ? border : border - halo;
        messages->bytes = bytes * (size_t)cut->halo;
        return 1;
    }
    tb_real *firsts = march->job.interfaces, *lasts = firsts + plane * (size_t)cut->reduced;
    const size_t own = (size_t)cut->own, partitions = (size_t)cut->partitions, reach = (size_t)cut->reach;
    if (!reach) {
        size_t other = (size_t)peer * partitions;
        messages[0].send = firsts + plane * own;
        messages[0].receive = firsts + plane * other;
        messages[1].send = lasts + plane * own;
        messages[1].receive = lasts + plane * other;
        messages[0].bytes = messages[1].bytes = bytes * partitions;
        return 2;
    }
    /* Of the partitions beside the border their rows that face it, and of all but the farthest the other rows too. */
    if (up) {
        messages[0].send = lasts + plane * (own + partitions - reach);
        messages[0].receive = firsts + plane * (own + partitions);
        messages[1].send = firsts + plane * (own + partitions - reach + 1);
        messages[1].receive = lasts + plane * (own + partitions);
    } else {
        messages[0].send = firsts + plane * own;
        messages[0].receive = lasts + plane * (own - reach);
        messages[1].send = lasts + plane * own;
        messages[1].receive = firsts + plane * (own - reach + 1);
    }
    messages[0].bytes = bytes * reach;
    messages[1].bytes = bytes * (reach - 1);
    return reach > 1 ? 2 : 1;
}

#endif /* TB_BODY */
