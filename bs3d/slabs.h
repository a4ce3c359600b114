/* slabs.h - a room of bs3d.h: explicit4 and implicit2 on the slab of one of several GPUs.
   MIT licence, see LICENSE. */

/* Solves the reduced systems as bs3d_p_solve_reduced does after an upward elimination. Leaves the last unknowns of the
   slab's partitions and of the partition before them. If there is a slab above, its first unknown takes the place of
   the last partition's last unknown: the downward sweep begins with the copied plane above. */
template <int most>
__launch_bounds__(128)
TRID_KERNEL void bs3d_p_slab_solve_reduced(bs3d_slab cut, long long plane, const tb_real *__restrict__ tables,
                                           tb_real *interfaces)
{
    const tb_real *link = tables + BS3D_P_Z_FACTORS + BS3D_P_REDUCED;
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= plane) return;
    tb_real *lasts = interfaces + at + plane * cut.reduced, first[most], x[most];
    const int top = cut.own + cut.partitions - 1;
    bs3d_p_solve_partitions<most, 0>(cut.reduced, plane, link, interfaces + at, lasts, first, x);
    TB_UNROLL
    for (int s = 0; s < most; s++) {
        if (s < cut.own - 1 || s > top) continue;
        if (s + 1 < most && s == top && cut.above) x[s] = bs3d_p_first_unknown(s + 1, link, first, x);
        lasts[plane * s] = x[s];
    }
}

/* A march on a slab, as bs3d_slab_open fills it in. */
typedef struct {
    bs3d_slab cut;
    bs3d_p_job job;  /* job.u: the values, on all planes including halos */
    tb_real *values; /* the 64 values around the spot (bs3d_slab_values) */
    int implicit;
    int fused; /* implicit: whether the upward sweep solves x as well */
    bs3d_p_launch<bs3d_p_span> up;
    bs3d_p_down_launch down;
} bs3d_slab_march;

/* Returns the job of a slab, ready to launch in `stream`. */
TB_HOST bs3d_p_job *bs3d_p_slab_job(bs3d_slab_march *march, cudaStream_t stream)
{
    march->job.stream = stream;
    march->job.status = BS3D_OK;
    return &march->job;
}

/* Returns the number of partitions in each slab of an implicit march on `slabs` slabs, on devices like the current one;
   0 if the problem is refused, a slab has fewer than 4 planes, or the device has too little shared memory. */
template <int unused = 0>
static int bs3d_slab_partitions(const bs3d_problem *o, int slabs)
{
    if (bs3d_slab_check(o, 1, slabs)) return 0;
    const int least = o->points[2] / slabs, planes = (o->points[2] - 1) / slabs + 1 + 2 * (slabs > 1);
    bs3d_p_job job;
    bs3d_p_launch<bs3d_p_span> up;
    int fused, partitions = bs3d_p_down_partitions(o->points, planes);
    if (partitions > least / 4) partitions = least / 4;
    if (partitions < 1) return 0;
    bs3d_p_make_job(&job, o, 1, planes, 0, 0, 0, 0);
    job.plan.partitions = partitions;
    return bs3d_p_upward(&job.plan, job.form, &fused, &up) ? 0 : up.plan.partitions;
}

/* Returns whether the current device has enough shared memory for explicit sweeps of two steps. */
template <int unused>
static int bs3d_p_slab_doubles(const bs3d_problem *o)
{
    bs3d_p_job job;
    bs3d_p_launch<bs3d_p_span> two;
    bs3d_p_make_job(&job, o, 0, o->points[2], 0, 0, 0, 0);
    return bs3d_p_launch_tiles<2, 0>(&job.plan, job.form, &two) == BS3D_OK;
}

/* Returns the bytes of device memory that a slab's march needs; 0 for a null pointer. */
TB_HOST size_t bs3d_slab_bytes(const bs3d_problem *o, const bs3d_slab *cut)
{
    if (!o || !cut) return 0;
    size_t plane = (size_t)bs3d_pitch(o->points[0]) * (size_t)o->points[1];
    size_t planes = 2 * (size_t)(cut->below + cut->planes + cut->above) + 2 * (size_t)cut->reduced;
    return (planes * plane + BS3D_P_TABLES + 64) * sizeof(tb_real);
}

/* Opens a march on a slab, ready for its first step: computes tables and factors, and sets the values to the payoff.
   Needs    cut: from bs3d_slab_cut; work: bs3d_slab_bytes of the current device's memory, aligned to 16 bytes
   Lanes    called on the host with the slab's device as the current one, like all functions of a march
   Leaves   *march; the values in march->job.u, in rows of bs3d_pitch elements, from the slab's lowest copied plane on
   Returns  BS3D_OK; BS3D_BAD_ARGUMENT; BS3D_LAUNCH_FAILED: a launch failed, or this device has too little shared
            memory for a partition of the cut */
template <int unused = 0>
static int bs3d_slab_open(const bs3d_problem *o, const bs3d_slab *cut, void *work, bs3d_slab_march *march,
                          cudaStream_t stream)
{
    if (!o || !cut || !march || !work || (size_t)work % 16) return BS3D_BAD_ARGUMENT;
    bs3d_p_job *job = &march->job;
    const int total = cut->below + cut->planes + cut->above;
    const size_t plane = (size_t)bs3d_pitch(o->points[0]) * (size_t)o->points[1];
    march->cut = *cut;
    march->implicit = cut->partitions > 0;
    bs3d_p_make_job(job, o, march->implicit, total, plane, 2 * cut->reduced, work, stream);
    job->shift = cut->first - cut->below;
    march->values = job->rest;
    if (march->implicit) {
        job->plan.partitions = cut->partitions;
        const int failed = bs3d_p_upward(&job->plan, job->form, &march->fused, &march->up);
        if (failed || march->up.plan.partitions != cut->partitions) return BS3D_LAUNCH_FAILED;
        job->status = bs3d_p_downward<1>(&job->plan, &march->down);
    }
    bs3d_p_zero(job, job->u, (size_t)(job->rest - job->u));
    bs3d_p_start<unused>(job, job->u, job->v);
    if (march->implicit) {
        bs3d_p_launch_factor<unused>(job, march->fused);
        bs3d_p_launch_next(job, bs3d_p_factor_z<unused>, 1, BS3D_P_MOST_REDUCED, bs3d_model_of(o), *cut, job->tables);
    }
    return job->status;
}

/* Takes one or two time steps of an explicit march. Call it with BS3D_ALL for the whole slab and `extra` copied planes
   on each side; or call it with BS3D_OUTER for the planes that neighbours copy, and then with BS3D_INNER for the rest.
   The outer and the inner part may run at the same time.
   Needs    before BS3D_ALL or BS3D_OUTER: `extra + steps` copied planes on each side, at the same time step as the
            values. With `early`, the sweep may begin before the preceding kernel in the stream has ended, and then
            waits for it. If that kernel was launched early too, it must wait likewise, as sweeps do (bs3d_p_grid_wait).
            Other work between the two, such as a copy, an event or a wait for one, ends before the sweep begins, which
            costs only the overlap
   Leaves   the values in march->job.u, which BS3D_ALL and BS3D_OUTER exchange with job.v; copied planes beyond
            `extra` are invalid
   Returns  BS3D_OK; BS3D_LAUNCH_FAILED, also if the device has too little shared memory for two steps */
template <int unused = 0>
static int bs3d_slab_explicit(bs3d_slab_march *march, int steps, int part, int extra, int early, cudaStream_t stream)
{
    bs3d_p_job *job = bs3d_p_slab_job(march, stream);
    bs3d_p_launch<bs3d_p_span> l;
    bs3d_p_span span;
    if (part != BS3D_INNER) {
        tb_real *swap = job->u;
        job->u = job->v;
        job->v = swap;
    }
    if (!bs3d_p_slab_part(&march->cut, part, extra, &span)) return BS3D_OK;
    bs3d_p_plan plan = job->plan;
    plan.model.points[2] = span.planes;
    plan.partitions = span.partitions;
    job->status = steps == 1 ? bs3d_p_launch_tiles<1, 0>(&plan, job->form, &l)
                             : bs3d_p_launch_tiles<2, 0>(&plan, job->form, &l);
    span.partitions = l.plan.partitions;
    l.plan.model.points[2] = job->plan.model.points[2];
    l.early = early && l.early;
    bs3d_p_launch_sweep(job, &l, job->v, job->u, job->interfaces, span);
    return job->status;
}

/* Takes the upward half of an implicit step: right-hand side, x systems and forward elimination in z. Call it with
   BS3D_ALL; or with BS3D_OUTER, for the partitions that neighbours wait for, and then with BS3D_INNER, for the rest.
   The outer and the inner part may run at the same time if march->fused is set; otherwise the inner part must follow
   the outer one in the stream.
   Needs    the values, and the copies of the neighbours' planes beside them
   Leaves   after BS3D_ALL or BS3D_OUTER, the messages that bs3d_slab_messages lists, ready to send
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int bs3d_slab_up(bs3d_slab_march *march, int part, cudaStream_t stream)
{
    const bs3d_slab *cut = &march->cut;
    bs3d_p_job *job = bs3d_p_slab_job(march, stream);
    bs3d_p_launch<bs3d_p_span> up = march->up;
    const int total = job->plan.model.points[2];
    const int outer = cut->reach ? cut->reach : cut->partitions, low = cut->below ? outer : 0,
              high = cut->above ? outer : 0;
    const int whole = !march->fused || cut->partitions <= low + high; /* BS3D_OUTER takes all partitions */
    int partitions = cut->partitions;
    bs3d_p_span span = {0, total, cut->partitions, 0, cut->partitions, 0, 0, cut->below, cut->below + cut->planes};
    if (part == BS3D_OUTER && !whole) {
        partitions = low + high;
        span.jump = low;
        span.over = cut->partitions - low - high;
    } else if (part == BS3D_INNER) {
        partitions = whole ? 0 : cut->partitions - low - high;
        span.first = low;
    }
    if (partitions) {
        up.plan.partitions = cut->reduced; /* the distance from first rows to last rows */
        (march->fused ? up.grid.y : up.grid.z) = (unsigned)partitions;
        bs3d_p_launch_sweep(job, &up, job->u, job->v, job->interfaces + job->plan.plane * cut->own, span);
    }
    if (!march->fused)
        bs3d_p_launch_x<unused>(job, part != BS3D_OUTER ? total : 0, part != BS3D_INNER ? cut->reduced : 0);
    return job->status;
}

/* Takes the downward half of an implicit step: the reduced systems, back substitution in z, y systems, and the update,
   which includes the copies of the neighbours' planes.
   Needs    bs3d_slab_up of all parts of the slab, and the other slabs' messages
   Leaves   the values and the copies
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED */
template <int unused = 0>
static int bs3d_slab_down(bs3d_slab_march *march, cudaStream_t stream)
{
    const bs3d_slab *cut = &march->cut;
    bs3d_p_job *job = bs3d_p_slab_job(march, stream);
    const long long plane = job->plan.plane;
    bs3d_p_launch_next(job,
                       cut->reduced <= 8    ? bs3d_p_slab_solve_reduced<8>
                       : cut->reduced <= 16 ? bs3d_p_slab_solve_reduced<16>
                                            : bs3d_p_slab_solve_reduced<BS3D_P_MOST_REDUCED>,
                       (unsigned)((plane - 1) / 128 + 1), 128, *cut, plane, job->tables, job->interfaces);
    const int lasts = cut->reduced + cut->own; /* the sweep looks for the last rows `partitions` planes further on */
    bs3d_p_launch_down(job, &march->down, job->interfaces + plane * (lasts - cut->partitions));
    return job->status;
}

/* After a step of an American option (BS3D_AMERICAN), sets each value and each copy to the larger of itself and the
   payoff; for other options does nothing. Returns BS3D_OK or BS3D_LAUNCH_FAILED. */
template <int unused = 0>
static int bs3d_slab_exercise(bs3d_slab_march *march, cudaStream_t stream)
{
    bs3d_p_job *job = bs3d_p_slab_job(march, stream);
    bs3d_p_may_exercise<unused>(job, job->u);
    return job->status;
}

/* Writes the 64 values around the spot (bs3d_lane_greeks) to march->values, in device memory. Those outside the slab's
   own planes are 0, so the sum over the slabs gives all of them. Returns BS3D_OK or BS3D_LAUNCH_FAILED. */
template <int unused = 0>
static int bs3d_slab_values(bs3d_slab_march *march, cudaStream_t stream)
{
    bs3d_p_job *job = bs3d_p_slab_job(march, stream);
    const int first = march->cut.first;
    bs3d_p_launch_next(job, bs3d_p_at_spot<unused>, 1, 32, job->problem, job->plan, job->shift, first,
                       first + march->cut.planes, job->u, march->values, (bs3d_result *)0);
    return job->status;
}

/* Lists the messages between a slab and slab `peer`. In an explicit march they are the planes of the halo, to be sent
   after BS3D_ALL or BS3D_OUTER; in an implicit march, interfaces of partitions, to be sent before bs3d_slab_down.
   Returns  the number of messages, 0 to 2. Their order, and the bytes of each, are the same in both directions */
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
        const size_t other = (size_t)peer * partitions;
        messages[0] = bs3d_message{firsts + plane * own, firsts + plane * other, bytes * partitions};
        messages[1] = bs3d_message{lasts + plane * own, lasts + plane * other, bytes * partitions};
        return 2;
    }
    /* Each of the `reach` partitions next to the other slab sends the row on that slab's side. All of them except the
       farthest also send the other row. */
    if (!up) {
        tb_real *swap = firsts;
        firsts = lasts;
        lasts = swap;
    }
    const size_t sent = up ? own + partitions - reach : own, received = up ? own + partitions : own - reach;
    messages[0] = bs3d_message{lasts + plane * sent, firsts + plane * received, bytes * reach};
    messages[1] = bs3d_message{firsts + plane * (sent + up), lasts + plane * (received + !up), bytes * (reach - 1)};
    return reach > 1 ? 2 : 1;
}
