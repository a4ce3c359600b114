/* explicit.h - a room of bs3d.h: explicit1 to explicit4.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

#define bs3d_explicit1_f32 tb_f32::bs3d_explicit1
#define bs3d_explicit1_f64 tb_f64::bs3d_explicit1
#define bs3d_explicit2_f32 tb_f32::bs3d_explicit2
#define bs3d_explicit2_f64 tb_f64::bs3d_explicit2
#define bs3d_explicit3_f32 tb_f32::bs3d_explicit3
#define bs3d_explicit3_f64 tb_f64::bs3d_explicit3
#define bs3d_explicit4_f32 tb_f32::bs3d_explicit4
#define bs3d_explicit4_f64 tb_f64::bs3d_explicit4

/* Finds how far the neighbours of point (i, j) in a plane are, 0 where there is none. */
TB_D void bs3d_p_neighbours(const bs3d_p_plan *plan, int i, int j, long long *east, long long *west, long long *north,
                            long long *south)
{
    *east = i < plan->model.points[0] - 1;
    *west = -(i > 0);
    *north = j < plan->model.points[1] - 1 ? plan->pitch : 0;
    *south = j > 0 ? -(long long)plan->pitch : 0;
}

#define TB_BODY "../bs3d/explicit.h"
#include "../trid/twice.h"

#else /* TB_BODY: C++ over tb_real */

/* ---- what the rungs share ---------------------------------------------------------------------------------------- */

/* Marches by explicit steps: `doubles` sweeps by two, which make two steps each, the rest by one. */
template <int unused>
static int bs3d_p_explicit(const bs3d_problem *o, const bs3d_p_job *job, int doubles, const bs3d_p_launch *two,
                           const bs3d_p_launch *one, bs3d_result *result, cudaStream_t stream)
{
    int sweeps = o->steps - doubles;
    tb_real *from = sweeps % 2 ? job->v : job->u, *to = sweeps % 2 ? job->u : job->v;
    int status = bs3d_p_start<unused>(o, job, from, to, stream);
    for (int s = 0; s < sweeps && !status; s++) {
        const bs3d_p_launch *l = s < doubles ? two : one;
        bs3d_p_launch_soon(l->early, 1, &status, l->sweep, l->grid, l->block, l->bytes, stream, job->pairs, l->plan,
                           job->tables, from, to, job->interfaces);
        bs3d_p_may_exercise<unused>(&status, o, job, to, stream);
        tb_real *swap = from;
        from = to;
        to = swap;
    }
    return bs3d_p_finish<unused>(status, o, job, result, stream);
}

/* Marches by a kernel with a thread for each column, of which there is one for each form. */
template <int unused>
static int bs3d_p_march_columns(bs3d_p_sweep_kernel positive, bs3d_p_sweep_kernel general, const bs3d_problem *problem,
                                void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    bs3d_p_launch one;
    const int status = bs3d_p_open_job(problem, 0, work, &job), *n = job.plan.model.points;
    if (status) return status;
    one.sweep = job.form ? general : positive;
    one.plan = job.plan;
    one.bytes = 0;
    one.early = 0;
    one.block = dim3(32, 8);
    one.grid = dim3((unsigned)(n[0] - 1) / 32 + 1, (unsigned)(n[1] - 1) / 8 + 1);
    one.plan.partitions = bs3d_p_best_partitions(n[2], (long long)one.grid.x * one.grid.y,
                                                 4 * bs3d_p_attribute(cudaDevAttrMultiProcessorCount), 2);
    one.grid.z = (unsigned)one.plan.partitions;
    return bs3d_p_explicit<unused>(problem, &job, 0, &one, &one, result, stream);
}

/* ---- explicit1: a thread a column, every neighbour through the cache --------------------------------------------- */

template <int form>
__launch_bounds__(256)
TRID_KERNEL void bs3d_p_explicit1(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                  const tb_real *__restrict__ u, tb_real *__restrict__ v,
                                  tb_real *__restrict__ interfaces)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int nz = plan.model.points[2], from, to;
    long long east, west, north, south, at;
    (void)interfaces;
    if (i >= plan.model.points[0] || j >= plan.model.points[1]) return;
    bs3d_p_partition(nz, plan.partitions, (int)blockIdx.z, &from, &to);
    bs3d_row x = bs3d_p_row(tables, 0, i), y = bs3d_p_row(tables, 1, j);
    bs3d_p_neighbours(&plan, i, j, &east, &west, &north, &south);
    at = i + (long long)plan.pitch * j + plan.plane * from;
    for (int k = from; k < to; k++, at += plan.plane)
        v[at] = bs3d_lane_stencil(form, &pairs, x, y, bs3d_p_row(tables, 2, k), u + at, east, west, north, south,
                                  k < nz - 1 ? plan.plane : 0, k > 0 ? -plan.plane : 0);
}

/* Marches by explicit1.
   Needs    work: bs3d_work_bytes of device memory, aligned to 16 bytes; result: null, or host memory, page-locked if
            the copy shall not wait
   Leaves   the final values at the start of work; *result when the stream has been synchronised
   Returns  BS3D_OK, or why nothing was done: as bs3d_check, BS3D_BAD_ARGUMENT, BS3D_LAUNCH_FAILED. What failed in
            calls before does not count, and cudaGetLastError still returns it
   Lanes    called on the host, like any function: it is a template so that a program compiles only what it calls;
            asynchronous in stream, sets up its tables by itself
   Error    docs/bs3d.md: that of the rounding, against bs3d_host_explicit and bs3d_host_implicit */
template <int unused = 0>
static int bs3d_explicit1(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    return bs3d_p_march_columns<unused>(bs3d_p_explicit1<BS3D_POSITIVE>, bs3d_p_explicit1<BS3D_GENERAL>, problem, work,
                                        result, stream);
}

/* ---- explicit2: what a plane adds to the next two is carried in registers: 7 or 9 loads a point, not 13 or 19 ---- */

template <int form>
__launch_bounds__(256)
TRID_KERNEL void bs3d_p_explicit2(bs3d_pairs pairs, bs3d_p_plan plan, const tb_real *__restrict__ tables,
                                  const tb_real *__restrict__ u, tb_real *__restrict__ v,
                                  tb_real *__restrict__ interfaces)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int nz = plan.model.points[2], from, to;
    long long east, west, north, south;
    bs3d_row z[3];
    (void)interfaces;
    if (i >= plan.model.points[0] || j >= plan.model.points[1]) return;
    bs3d_p_partition(nz, plan.partitions, (int)blockIdx.z, &from, &to);
    bs3d_row x = bs3d_p_row(tables, 0, i), y = bs3d_p_row(tables, 1, j);
    bs3d_p_neighbours(&plan, i, j, &east, &west, &north, &south);
    tb_real now = 0, next = 0, out;
    for (int k = from > 0 ? from - 1 : 0; k <= to; k++) {
        const tb_real *p = u + i + (long long)plan.pitch * j + plan.plane * (k < nz ? k : nz - 1);
        tb_real patch[9] = {p[south + west], p[south], 0, p[west], *p, p[east], 0, p[north], p[north + east]};
        if (form == BS3D_GENERAL) patch[2] = p[south + east], patch[6] = p[north + west];
        bs3d_p_rows(tables, k, z);
        bs3d_lane_plane(form, 1, 1, &pairs, &x, &y, z, patch, &now, &next, &out);
        if (k > from) v[i + (long long)plan.pitch * j + plan.plane * (k - 1)] = out;
    }
}

/* Marches by explicit2; otherwise as bs3d_explicit1. */
template <int unused = 0>
static int bs3d_explicit2(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    return bs3d_p_march_columns<unused>(bs3d_p_explicit2<BS3D_POSITIVE>, bs3d_p_explicit2<BS3D_GENERAL>, problem, work,
                                        result, stream);
}

/* ---- explicit3: planes through shared memory (planes.h) ---------------------------------------------------------- */

/* Makes the launch of explicit3's sweep, which is the right-hand side of implicit1 too. */
template <int unused>
static int bs3d_p_launch_one_step(const bs3d_p_job *job, bs3d_p_launch *l)
{
    l->sweep = job->form ? bs3d_p_sweep<BS3D_GENERAL, 1, 0> : bs3d_p_sweep<BS3D_POSITIVE, 1, 0>;
    return bs3d_p_launch_tiles(&job->plan, 1, l->sweep, l);
}

/* Marches by explicit3; otherwise as bs3d_explicit1. */
template <int unused = 0>
static int bs3d_explicit3(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    bs3d_p_launch one;
    int status = bs3d_p_open_job(problem, 0, work, &job);
    if (!status) status = bs3d_p_launch_one_step<unused>(&job, &one);
    if (status) return status;
    return bs3d_p_explicit<unused>(problem, &job, 0, &one, &one, result, stream);
}

/* ---- explicit4: two time steps a sweep --------------------------------------------------------------------------- */

/* Marches by explicit4; otherwise as bs3d_explicit1. */
template <int unused = 0>
static int bs3d_explicit4(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    bs3d_p_launch one, two;
    int status = bs3d_p_open_job(problem, 0, work, &job);
    if (!status) status = bs3d_p_launch_one_step<unused>(&job, &one);
    if (status) return status;
    /* Two steps a sweep, unless the option may be exercised between them, or shared memory is too small. */
    int doubles = problem->flags & BS3D_AMERICAN ? 0 : problem->steps / 2;
    two.sweep = job.form ? bs3d_p_sweep<BS3D_GENERAL, 2, 0> : bs3d_p_sweep<BS3D_POSITIVE, 2, 0>;
    if (doubles && bs3d_p_launch_tiles(&job.plan, 2, two.sweep, &two)) doubles = 0;
    return bs3d_p_explicit<unused>(problem, &job, doubles, &two, &one, result, stream);
}

#endif /* TB_BODY */
