/* ranks.h - a room of bs3d.h: a march over several GPUs, a slab on each, from its plan to its result: which stream does
   what, when messages leave, and when they must have arrived. MIT licence, see LICENSE. */

/* This process's part of a march over several GPUs, as bs3d_ranks_plan fills it in. */
typedef struct {
    const bs3d_ranks *ranks;
    bs3d_slab_march *slab; /* one for each rank of this process */
    bs3d_problem problem;
    bs3d_ranks_options options; /* the caller's; a halo of 0 is replaced by the default */
    int most;                   /* explicit: the most steps of a sweep, 1 or 2 */
    int step;                   /* the number of steps enqueued so far */
    int exchanges;              /* the number of calls to bs3d_ranks_send */
    int valid;                  /* explicit: how many planes of each halo are at the same time step as the values */
    int early;                  /* explicit: whether the last step ended with a sweep over whole slabs; if so, the next
                                   sweep may begin early (bs3d_ranks_step says what the caller may enqueue meanwhile) */
} bs3d_ranks_march;

/* Returns an error of bs3d_p_ranks_sum; BS3D_BAD_SIZE if another process has failed or not all slabs have the same
   number of partitions; or BS3D_OK. Replaces *singles by its sum over all processes. */
TB_HOST int bs3d_p_ranks_agree(int status, const bs3d_ranks *w, const bs3d_slab_march *slabs, int *singles)
{
    double sums[3] = {0, 0, (double)*singles}; /* a process that has failed adds nothing to the first two */
    for (int i = 0; !status && i < w->count; i++) {
        const double number = 1 + slabs[i].cut.partitions;
        sums[0] += number;
        sums[1] += number * number;
    }
    status = bs3d_p_ranks_sum(status, w, sums, 3);
    *singles = (int)sums[2];
    /* The square of the mean is the mean of the squares only if all numbers are equal. */
    return status || w->ranks * sums[1] == sums[0] * sums[0] ? status : BS3D_BAD_SIZE;
}

/* Plans a march: cuts the grid into a slab for each rank.
   Needs    the same *o and *options in all processes; slabs: one for each rank of this process. *ranks and slabs must
            stay in place until the march ends. Every slab needs at least 4 planes; explicit: at least `halo`;
            implicit: at least 4 * `partitions`
   Lanes    called on the host by each process, like all functions of the march. If they succeed, all but
            bs3d_ranks_bytes leave the device of the process's last rank as the current one, unless the exchange then
            sets another. This function (unless `ranks` is null) and bs3d_ranks_result take part in exchange.sum even
            after an error, since the other processes wait for it. If another function fails, the program must end
            the other processes, which wait for this one's messages
   Leaves   *march, ready for bs3d_ranks_bytes and bs3d_ranks_open
   Returns  BS3D_OK; as bs3d_slab_cut; BS3D_LAUNCH_FAILED; or the error of exchange.sum. BS3D_BAD_ARGUMENT also means
            a null pointer, a `count` outside 1 .. `ranks`, several ranks but no exchange.message, or ranks of other
            processes but no exchange.sum; BS3D_BAD_SIZE also means an error of another process, a GPU with too
            little shared memory for an implicit march, or GPUs that need different numbers of partitions (then set
            options->partitions) */
template <int unused = 0>
static int bs3d_ranks_plan(const bs3d_ranks *ranks, const bs3d_problem *o, const bs3d_ranks_options *options,
                           bs3d_slab_march *slabs, bs3d_ranks_march *march)
{
    int singles = 0; /* ranks whose devices cannot take two explicit steps at a time; if there are any, no rank does */
    if (!ranks || !o || !options || !slabs || !march || !ranks->local || ranks->count < 1 ||
        ranks->count > ranks->ranks || (ranks->count < ranks->ranks && !ranks->exchange.sum) ||
        (ranks->ranks > 1 && !ranks->exchange.message))
        return bs3d_p_ranks_agree(BS3D_BAD_ARGUMENT, ranks, slabs, &singles);
    const int implicit = options->implicit, least = o->points[2] / ranks->ranks;
    int status = bs3d_slab_check(o, implicit, ranks->ranks);
    march->ranks = ranks;
    march->slab = slabs;
    march->problem = *o;
    march->options = *options;
    if (!march->options.halo) march->options.halo = least < 8 ? least : 8;
    march->step = march->exchanges = march->valid = march->early = 0;
    bs3d_p_each_rank(&status, ranks, [&](int i, const bs3d_rank *r) {
        int partitions = options->partitions;
        if (!implicit) singles += !bs3d_p_slab_doubles<unused>(o);
        if (implicit && !partitions) partitions = bs3d_slab_partitions<unused>(o, ranks->ranks);
        return bs3d_slab_cut(o, implicit, TB_BYTES == 8, ranks->ranks, r->rank, march->options.halo, partitions,
                             &slabs[i].cut);
    });
    status = bs3d_p_ranks_agree(status, ranks, slabs, &singles);
    march->most = singles ? 1 : 2;
    return status;
}

/* Returns the bytes of device memory that local[i] needs in a planned march. */
TB_HOST size_t bs3d_ranks_bytes(const bs3d_ranks_march *march, int i)
{
    return bs3d_slab_bytes(&march->problem, &march->slab[i].cut);
}

/* Opens a planned march, or opens it again, ready for its first step.
   Needs    work[i]: bs3d_ranks_bytes of memory on local[i]'s device, aligned to 16 bytes
   Returns  BS3D_OK; BS3D_BAD_ARGUMENT; BS3D_LAUNCH_FAILED: a launch failed, or a device needs more partitions than
            planned */
template <int unused = 0>
static int bs3d_ranks_open(bs3d_ranks_march *march, void *const *work)
{
    if (!march || !work) return BS3D_BAD_ARGUMENT;
    int status = BS3D_OK;
    bs3d_p_each_rank(&status, march->ranks, [&](int i, const bs3d_rank *r) {
        const bs3d_slab cut = march->slab[i].cut;
        return bs3d_slab_open<unused>(&march->problem, &cut, work[i], march->slab + i, r->march);
    });
    march->step = march->exchanges = march->early = 0;
    march->valid = march->options.halo;
    return status;
}

/* Sends the ranks' messages once the work that is now in their march streams is done. bs3d_ranks_step calls it. To time
   messages, call it and then bs3d_ranks_arrive between two steps: this sends as many bytes as a step with messages, and
   changes no result.
   Returns  BS3D_OK, BS3D_LAUNCH_FAILED, or the error of a function of the exchange */
TB_HOST int bs3d_ranks_send(bs3d_ranks_march *march)
{
    const bs3d_ranks *w = march->ranks;
    const bs3d_exchange *by = &w->exchange;
    int status = BS3D_OK;
    march->exchanges++;
    bs3d_p_each_rank(&status, w, [](int, const bs3d_rank *r) { return bs3d_p_rank_order(r, r->march, r->transfer); });
    if (!status && by->begin) status = by->begin(by->context);
    for (int i = 0; i < w->count; i++)
        for (int peer = 0; peer < w->ranks; peer++) {
            bs3d_message messages[2];
            const int count = bs3d_slab_messages(march->slab + i, peer, messages);
            for (int n = 0; n < count && !status; n++)
                status = by->message(by->context, w->local + i, peer, n, messages + n);
        }
    if (!status && by->end) status = by->end(by->context);
    return status;
}

/* Makes the march streams wait for the messages of bs3d_ranks_send. Returns a status as bs3d_ranks_send does. */
TB_HOST int bs3d_ranks_arrive(bs3d_ranks_march *march)
{
    const bs3d_ranks *w = march->ranks;
    int status = w->exchange.arrive ? w->exchange.arrive(w->exchange.context) : BS3D_OK;
    bs3d_p_each_rank(&status, w, [](int, const bs3d_rank *r) { return bs3d_p_rank_order(r, r->transfer, r->march); });
    return status;
}

/* Returns how many of the `left` remaining steps the next explicit sweep takes. */
TB_HOST int bs3d_p_ranks_sweep_steps(const bs3d_ranks_march *m, int left)
{
    if ((m->problem.flags & BS3D_AMERICAN) || m->most < 2 || m->options.halo < 2 || left < 2) return left > 0;
    return 2;
}

/* Enqueues a sweep: calls sweep(i, part, stream) for each rank i of this process. If `sends` is set, also sends what
   other ranks need: with options.in_turn after the whole sweep, else after the outer part, while the inner one runs. */
template <class call>
static int bs3d_p_ranks_sweep(bs3d_ranks_march *m, int sends, const call &sweep)
{
    const bs3d_ranks *w = m->ranks;
    const int parts = sends && !m->options.in_turn;
    int status = BS3D_OK;
    bs3d_p_each_rank(&status, w, [&](int i, const bs3d_rank *r) {
        const int beside = !m->options.implicit || m->slab[i].fused; /* otherwise the inner part follows */
        int failed = parts && beside ? bs3d_p_rank_order(r, r->march, r->inner) : BS3D_OK;
        if (!failed) failed = sweep(i, parts ? BS3D_OUTER : BS3D_ALL, r->march);
        return failed || !parts || beside ? failed : bs3d_p_rank_order(r, r->march, r->inner);
    });
    if (sends && !status) status = bs3d_ranks_send(m);
    if (parts)
        bs3d_p_each_rank(&status, w, [&](int i, const bs3d_rank *r) {
            const int failed = sweep(i, BS3D_INNER, r->inner);
            return failed ? failed : bs3d_p_rank_order(r, r->inner, r->march);
        });
    if (sends && !status) status = bs3d_ranks_arrive(m);
    return status;
}

/* Enqueues an explicit sweep. *steps receives how many steps it takes. */
template <int unused>
static int bs3d_p_ranks_explicit(bs3d_ranks_march *m, int *steps)
{
    const bs3d_ranks *w = m->ranks;
    const int left = m->problem.steps - m->step, now = bs3d_p_ranks_sweep_steps(m, left), extra = m->valid - now;
    const int sends = w->ranks > 1 && extra < bs3d_p_ranks_sweep_steps(m, left - now);
    const int status = bs3d_p_ranks_sweep(m, sends, [=](int i, int part, cudaStream_t stream) {
        return bs3d_slab_explicit<unused>(m->slab + i, now, part, sends ? 0 : extra, m->early && part == BS3D_ALL,
                                          stream);
    });
    m->valid = sends || w->ranks == 1 ? m->options.halo : extra;
    m->early = !sends && !(m->problem.flags & BS3D_AMERICAN);
    *steps = now;
    return status;
}

/* Enqueues an implicit step: the upward sweep, then the downward sweep, which waits for the other ranks' messages. */
template <int unused>
static int bs3d_p_ranks_implicit(bs3d_ranks_march *m)
{
    int status = bs3d_p_ranks_sweep(m, m->ranks->ranks > 1, [=](int i, int part, cudaStream_t stream) {
        return bs3d_slab_up<unused>(m->slab + i, part, stream);
    });
    bs3d_p_each_rank(&status, m->ranks,
                     [=](int i, const bs3d_rank *r) { return bs3d_slab_down<unused>(m->slab + i, r->march); });
    return status;
}

/* Enqueues the next time step of an open march on all ranks of this process, or the next two steps of an explicit march
   if one sweep takes both.
   Needs    that after the previous step the caller has enqueued nothing but this: in the march streams, work that only
            reads the values, without kernels that begin early (trid_launch_with); in the other streams, records of
            events and what bs3d_ranks_send and bs3d_ranks_arrive enqueue
   Lanes    does not wait for the GPU, unless the exchange does
   Leaves   march->step; the values in march->slab[i].job.u, in bs3d_slab_open's layout, once local[i]'s march stream
            has done the step
   Returns  BS3D_OK; BS3D_BAD_ARGUMENT if all steps have been taken; otherwise as bs3d_ranks_send */
template <int unused = 0>
static int bs3d_ranks_step(bs3d_ranks_march *march)
{
    if (march->step >= march->problem.steps) return BS3D_BAD_ARGUMENT;
    int steps = 1;
    int status =
        march->options.implicit ? bs3d_p_ranks_implicit<unused>(march) : bs3d_p_ranks_explicit<unused>(march, &steps);
    bs3d_p_each_rank(&status, march->ranks,
                     [=](int i, const bs3d_rank *r) { return bs3d_slab_exercise<unused>(march->slab + i, r->march); });
    march->step += steps;
    return status;
}

/* Computes the result at the spot in each process, from the values around the spot that the ranks hold.
   Lanes    waits for the march streams, and in exchange.sum for the other processes
   Returns  BS3D_LAUNCH_FAILED if any process has failed; the error of exchange.sum; or result->status */
template <int unused = 0>
static int bs3d_ranks_result(bs3d_ranks_march *march, bs3d_result *result)
{
    const bs3d_ranks *w = march->ranks;
    tb_real values[64];
    double sums[65] = {0}; /* the 64 values, and the number of processes that have failed */
    int status = BS3D_OK;
    bs3d_p_each_rank(&status, w, [&](int i, const bs3d_rank *r) {
        const int failed = bs3d_slab_values<unused>(march->slab + i, r->march);
        if (failed) return failed;
        if (cudaMemcpyAsync(values, march->slab[i].values, sizeof values, cudaMemcpyDeviceToHost, r->march) !=
                cudaSuccess ||
            cudaStreamSynchronize(r->march) != cudaSuccess)
            return (int)BS3D_LAUNCH_FAILED;
        for (int n = 0; n < 64; n++) sums[n] += (double)values[n];
        return (int)BS3D_OK;
    });
    sums[64] = status != BS3D_OK;
    status = bs3d_p_ranks_sum(status, w, sums, 65);
    if (status) return status;
    if (sums[64] > 0) return BS3D_LAUNCH_FAILED;
    for (int n = 0; n < 64; n++) values[n] = (tb_real)sums[n];
    *result = bs3d_lane_greeks(&march->problem, values);
    return result->status;
}
