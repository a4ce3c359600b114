/* explicit.h - a room of bs3d.h: explicit1 to explicit4.
   MIT licence, see LICENSE. */

/* ---- shared by the rungs ----------------------------------------------------------------------------------------- */

/* Marches in explicit steps. The first `doubles` sweeps take two steps each, with launch `two`; the others take one
   step, with launch `one`. */
template <int unused>
static int bs3d_p_explicit(bs3d_p_job *job, int doubles, const bs3d_p_launch<> *two, const bs3d_p_launch<> *one,
                           bs3d_result *result)
{
    int sweeps = job->problem.steps - doubles;
    tb_real *from = sweeps % 2 ? job->v : job->u, *to = sweeps % 2 ? job->u : job->v;
    bs3d_p_start<unused>(job, from, to);
    for (int s = 0; s < sweeps && !job->status; s++) {
        bs3d_p_launch_sweep(job, s < doubles ? two : one, from, to, job->interfaces);
        bs3d_p_may_exercise<unused>(job, to);
        tb_real *swap = from;
        from = to;
        to = swap;
    }
    return bs3d_p_finish<unused>(job, result);
}

/* ---- a thread a column ------------------------------------------------------------------------------------------- */

/* A thread's column, if `valid` is set: the position of its point in a plane, its planes `from` .. `to` - 1, the
   distances to the neighbours in a plane, 0 where there is none, and the rows of the first two axes at the point. */
typedef struct {
    int valid, from, to;
    long long at, east, west, north, south;
    bs3d_row x, y;
} bs3d_p_column;

TB_D bs3d_p_column bs3d_p_column_of(const bs3d_p_plan *plan, const tb_real *tables)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    bs3d_p_column c;
    c.valid = i < plan->model.points[0] && j < plan->model.points[1];
    bs3d_p_partition(plan->model.points[2], plan->partitions, (int)blockIdx.z, &c.from, &c.to);
    c.at = i + (long long)plan->pitch * j;
    c.east = i < plan->model.points[0] - 1;
    c.west = -(i > 0);
    c.north = j < plan->model.points[1] - 1 ? plan->pitch : 0;
    c.south = j > 0 ? -(long long)plan->pitch : 0;
    c.x = bs3d_p_row(tables, 0, i);
    c.y = bs3d_p_row(tables, 1, j);
    return c;
}

/* Marches with the kernel for the problem's form of cross differences. Either kernel has a thread for each column of
   each partition of the third axis. */
template <int unused>
static int bs3d_p_march_columns(bs3d_p_sweep_kernel<> positive, bs3d_p_sweep_kernel<> general, const bs3d_problem *o,
                                void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    const int status = bs3d_p_open_job(&job, o, 0, work, stream), *n = job.plan.model.points;
    if (status) return status;
    const dim3 block(32, 8), tiles((unsigned)(n[0] - 1) / 32 + 1, (unsigned)(n[1] - 1) / 8 + 1);
    job.plan.partitions = bs3d_p_best_partitions(n[2], (long long)tiles.x * tiles.y, 4, 2, n[2]);
    const dim3 grid(tiles.x, tiles.y, (unsigned)job.plan.partitions);
    const bs3d_p_launch<> one = {job.form ? general : positive, job.plan, grid, block, 0, 0};
    return bs3d_p_explicit<unused>(&job, 0, &one, &one, result);
}

/* ---- explicit1: every neighbour through the cache ---------------------------------------------------------------- */

template <int form>
__launch_bounds__(256)
TRID_KERNEL void bs3d_p_explicit1(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                  const tb_real *__restrict__ u, tb_real *__restrict__ v,
                                  tb_real *__restrict__ interfaces)
{
    const bs3d_p_column c = bs3d_p_column_of(&plan, tables);
    const int nz = plan.model.points[2];
    (void)interfaces;
    if (!c.valid) return;
    long long at = c.at + plan.plane * c.from;
    for (int k = c.from; k < c.to; k++, at += plan.plane)
        v[at] = bs3d_lane_stencil(form, &pairs, c.x, c.y, bs3d_p_row(tables, 2, k), u + at, c.east, c.west, c.north,
                                  c.south, k < nz - 1 ? plan.plane : 0, k > 0 ? -plan.plane : 0);
}

/* Marches with explicit1.
   Needs    work: bs3d_work_bytes of device memory, aligned to 16 bytes; result: null, or host memory, page-locked if
            the call should not wait
   Leaves   the values at time 0 at the start of work; *result, once the stream has been synchronised
   Returns  BS3D_OK; the status of bs3d_check; BS3D_BAD_ARGUMENT; BS3D_LAUNCH_FAILED. Failures of earlier calls do not
            count (Status in bs3d.h)
   Lanes    called on the host like any function (it is a template so that a program compiles only what it calls);
            asynchronous in stream
   Error    rounding errors against bs3d_host_explicit, or bs3d_host_implicit for implicit kernels; for the
            discretisation error see docs/bs3d.md */
template <int unused = 0>
static int bs3d_explicit1(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    return bs3d_p_march_columns<unused>(bs3d_p_explicit1<BS3D_POSITIVE>, bs3d_p_explicit1<BS3D_GENERAL>, problem, work,
                                        result, stream);
}

/* ---- explicit2: registers carry the unfinished sums of two planes: 7 or 9 loads a point, not 13 or 19 ------------ */

template <int form>
__launch_bounds__(256)
TRID_KERNEL void bs3d_p_explicit2(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                  const tb_real *__restrict__ u, tb_real *__restrict__ v,
                                  tb_real *__restrict__ interfaces)
{
    const bs3d_p_column c = bs3d_p_column_of(&plan, tables);
    const int nz = plan.model.points[2];
    bs3d_row z[3];
    (void)interfaces;
    if (!c.valid) return;
    tb_real now = 0, next = 0, out;
    for (int k = c.from > 0 ? c.from - 1 : 0; k <= c.to; k++) {
        const tb_real *p = u + c.at + plan.plane * (k < nz ? k : nz - 1);
        tb_real patch[9] = {p[c.south + c.west], p[c.south], 0,          p[c.west],          *p,
                            p[c.east],           0,          p[c.north], p[c.north + c.east]};
        if (form == BS3D_GENERAL) patch[2] = p[c.south + c.east], patch[6] = p[c.north + c.west];
        bs3d_p_rows(tables, k, z);
        bs3d_lane_plane(form, 1, 1, &pairs, &c.x, &c.y, z, patch, &now, &next, &out);
        if (k > c.from) v[c.at + plan.plane * (k - 1)] = out;
    }
}

/* Marches with explicit2. All else is as in bs3d_explicit1. */
template <int unused = 0>
static int bs3d_explicit2(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    return bs3d_p_march_columns<unused>(bs3d_p_explicit2<BS3D_POSITIVE>, bs3d_p_explicit2<BS3D_GENERAL>, problem, work,
                                        result, stream);
}

/* ---- explicit3: planes through shared memory; explicit4: two time steps a sweep (planes.h) ----------------------- */

/* Marches with explicit3 (most = 1) or with explicit4 (most = 2). A sweep of explicit4 takes one step if only one is
   left, if the option is American, or if shared memory is too small for two; otherwise it takes two. */
template <int most>
static int bs3d_p_march_tiles(const bs3d_problem *o, void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    bs3d_p_launch<> one, two;
    int status = bs3d_p_open_job(&job, o, 0, work, stream);
    if (!status) status = bs3d_p_launch_tiles<1, 0>(&job.plan, job.form, &one);
    if (status) return status;
    int doubles = most < 2 || (o->flags & BS3D_AMERICAN) ? 0 : o->steps / 2;
    if (doubles && bs3d_p_launch_tiles<most, 0>(&job.plan, job.form, &two)) doubles = 0;
    return bs3d_p_explicit<0>(&job, doubles, &two, &one, result);
}

/* Marches with explicit3. All else is as in bs3d_explicit1. */
template <int unused = 0>
static int bs3d_explicit3(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    return (bs3d_p_march_tiles<1>)(problem, work, result, stream);
}

/* Marches with explicit4. All else is as in bs3d_explicit1. */
template <int unused = 0>
static int bs3d_explicit4(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    return (bs3d_p_march_tiles<2>)(problem, work, result, stream);
}
