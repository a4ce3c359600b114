/* implicit3.h - a room of bs3d.h: implicit3, with one sweep per step, and a last one that finishes u. Sweeps have rows
   along x and y alternately, and go upward and downward alternately. one_sweep.h has the sweep and its formulas; this
   room has the start, the kernel and the launch.
   MIT licence, see LICENSE. */

/* Returns the product of a matrix row (a, b, c) and u at a point, whose neighbours on the axis are `step` elements
   away. */
TB_D tb_real bs3d_p_times(tb_real a, tb_real b, tb_real c, const tb_real *u, long long step)
{
    tb_real sum = b * *u;
    if (a != 0) sum += a * u[-step];
    if (c != 0) sum += c * u[step];
    return sum;
}

/* Computes from u what the first sweep reads: with p = A_own u, it stores w[k] = p[k] + q[k] p[k+1] + s[k] p[before] in
   w, and the first and the last p of each partition in interfaces. Here planes are numbered against the direction of
   the sweep, and p[before] belongs to the plane before the partition. A block takes 32 x 32 points of a plane, and
   transposes them if rows are along y. */
template <int unused>
__launch_bounds__(256)
TRID_KERNEL void bs3d_p_implicit3_start(bs3d_p_plan plan, bs3d_p_heading heading, const tb_real *__restrict__ tables,
                                        const tb_real *__restrict__ u, tb_real *__restrict__ w,
                                        tb_real *__restrict__ interfaces)
{
    __shared__ tb_real made[32][33], solved[32][33];
    const int x = (int)threadIdx.x, k = (int)blockIdx.z, nz = plan.model.points[2], against = -heading.direction;
    const int corner_x = 32 * (int)blockIdx.x, corner_y = 32 * (int)blockIdx.y;
    const long long step = heading.own == 0 ? 1 : plan.pitch;
    int partition = 0, from, to;
    bs3d_p_partition(nz, plan.partitions, partition, &from, &to);
    while (k >= to) bs3d_p_partition(nz, plan.partitions, ++partition, &from, &to);
    const tb_real *factors = tables + BS3D_P_Z_FACTORS + (against < 0 ? BS3D_P_Z_SIZE : 0) + 8 * k;
    const int before = against > 0 ? from - 1 : to, next = k + against;
    for (int y = (int)threadIdx.y; y < 32; y += 8) {
        int i = corner_x + x, j = corner_y + y;
        tb_real a = 0, b = 0, c = 0, p = 0, sum = 0;
        if (i < plan.model.points[0] && j < plan.model.points[1]) {
            const tb_real *at = u + i + (long long)plan.pitch * j + plan.plane * k;
            bs3d_p_matrix_row(&plan, heading.own, heading.own == 0 ? i : j, &a, &b, &c);
            if ((heading.own == 0 ? i : j) == 0) a = 0;
            p = bs3d_p_times(a, b, c, at, step);
            sum = p;
            if (next >= 0 && next < nz) sum += factors[2] * bs3d_p_times(a, b, c, at + plan.plane * against, step);
            if (before >= 0 && before < nz)
                sum += factors[3] * bs3d_p_times(a, b, c, at + plan.plane * (before - k), step);
        }
        made[y][x] = sum;
        solved[y][x] = p;
    }
    __syncthreads();
    for (int n = (int)threadIdx.y; n < 32; n += 8) {
        int along = (heading.own == 0 ? corner_x : corner_y) + x, across = (heading.own == 0 ? corner_y : corner_x) + n;
        if (along >= heading.pitch || across >= heading.lines) continue;
        int row = heading.own == 0 ? n : x, column = heading.own == 0 ? x : n;
        long long at = along + (long long)heading.pitch * across;
        w[at + heading.plane * k] = made[row][column];
        if (k == (against > 0 ? from : to - 1)) interfaces[at + heading.plane * partition] = solved[row][column];
        if (k == (against > 0 ? to - 1 : from))
            interfaces[at + heading.plane * (plan.partitions + partition)] = solved[row][column];
    }
}

template <int form, int pair>
__launch_bounds__(bs3d_p_spread_row::threads, bs3d_p_shape::one_sweep_blocks)
TRID_KERNEL void bs3d_p_implicit3(bs3d_pairs pairs, bs3d_p_plan plan, bs3d_p_heading heading,
                                  const tb_real *__restrict__ tables, const tb_real *__restrict__ w,
                                  tb_real *__restrict__ made, const tb_real *interfaces, tb_real *new_interfaces)
{
    TRID_DYNAMIC_SHARED(memory);
    if (!pair || TRID_CLUSTERS) /* code for devices without clusters has no pairs */
        bs3d_p_one_sweep<form, pair>(&pairs, &plan, &heading, tables, w, made, interfaces, new_interfaces,
                                     bs3d_p_in_register(memory));
}

/* The type of a sweep's kernel, and the launches of the sweeps with rows along one axis. Index 0 is the upward sweep,
   index 1 the downward one. */
typedef void (*bs3d_p_implicit3_kernel)(bs3d_pairs, bs3d_p_plan, bs3d_p_heading, const tb_real *, const tb_real *,
                                        tb_real *, const tb_real *, tb_real *);
typedef struct {
    bs3d_p_implicit3_kernel sweep[2];
    bs3d_pairs pairs[2];
    bs3d_p_heading heading;
    unsigned blocks;
    size_t bytes; /* of shared memory */
    int cluster;  /* blocks that share rows: 1 or 2 */
} bs3d_p_axis_launch;

template <int pair>
static bs3d_p_implicit3_kernel bs3d_p_implicit3_of(int form, int down)
{
    return form   ? bs3d_p_implicit3<BS3D_GENERAL, pair>
           : down ? bs3d_p_implicit3<BS3D_P_MIRRORED, pair>
                  : bs3d_p_implicit3<BS3D_POSITIVE, pair>;
}

/* Plans the launches with rows along axis `own`; leaves direction, finish and bytes to the caller. */
template <int unused>
static void bs3d_p_axis_launch_of(const bs3d_p_job *job, int own, bs3d_p_axis_launch *l)
{
    const int points = job->plan.model.points[own], lines = job->plan.model.points[!own], form = job->form;
    const int pitch = bs3d_pitch(points), to_pitch = bs3d_pitch(lines);
    const bs3d_p_heading heading = {
        own, points, lines, 0, 0, pitch, to_pitch, (long long)pitch * lines, (long long)to_pitch * points};
    l->heading = heading;
    l->cluster = points <= 256 ? 1 : 2;
    l->blocks = (unsigned)(l->cluster * ((lines - 1) / bs3d_p_spread_row::rows + 1));
    for (int down = 0; down < 2; down++) {
        l->sweep[down] = points <= 256 ? bs3d_p_implicit3_of<0>(form, down) : bs3d_p_implicit3_of<1>(form, down);
        l->pairs[down] = job->pairs;
        for (int p = 1; p < 3; p++) { /* the rows' axis with the third axis, and the other axis with the third */
            int pair = own ? 3 - p : p, swap = down && form == BS3D_GENERAL;
            l->pairs[down].plus[p] = swap ? job->pairs.minus[pair] : job->pairs.plus[pair];
            l->pairs[down].minus[p] = swap ? job->pairs.plus[pair] : job->pairs.minus[pair];
        }
    }
}

/* Plans implicit3's launches: l[0] with rows along x, l[1] with rows along y. Chooses the partitions, and allows the
   sweeps their shared memory.
   Returns BS3D_OK, BS3D_LAUNCH_FAILED, or 1 if implicit3 does not serve the problem or the device cannot run these
   sweeps or their clusters. */
template <int unused>
static int bs3d_p_one_sweep_fits(bs3d_p_job *job, bs3d_p_axis_launch *l)
{
    const bs3d_problem *o = &job->problem;
    if (o->points[0] > 512 || o->points[1] > 512 || (o->flags & BS3D_AMERICAN)) return 1;
    bs3d_p_axis_launch_of<unused>(job, 0, l);
    bs3d_p_axis_launch_of<unused>(job, 1, l + 1);
    const unsigned blocks = l[0].blocks < l[1].blocks ? l[1].blocks : l[0].blocks;
    int partitions = bs3d_p_best_partitions(o->points[2], blocks, bs3d_p_shape::one_sweep_blocks, 3, BS3D_P_PARTITIONS);
    l[0].bytes = l[1].bytes =
        (bs3d_p_fit)(bs3d_p_one_sweep_elements(), o->points[2], 4, BS3D_P_PARTITIONS, &partitions);
    job->plan.partitions = partitions;
    for (int n = 0; n < 4; n++) {
        const bs3d_p_axis_launch *own = l + n / 2;
        if (!own->bytes) return 1;
        if (trid_allow_shared(own->sweep[n % 2]) != cudaSuccess) return BS3D_LAUNCH_FAILED;
        if (own->cluster > 1 &&
            !trid_clusters(own->sweep[n % 2], own->cluster, bs3d_p_spread_row::threads, own->bytes))
            return 1;
    }
    return BS3D_OK;
}

/* Marches with implicit3 or, where that is not possible (bs3d.h), with implicit2. All else is as in bs3d_explicit1. */
template <int unused = 0>
static int bs3d_implicit3(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    bs3d_p_axis_launch launches[2];
    int status = bs3d_p_open_job(&job, problem, 1, work, stream);
    if (status) return status;
    status = bs3d_p_one_sweep_fits<unused>(&job, launches);
    if (status > 0) return bs3d_implicit2<unused>(problem, work, result, stream);
    if (status) return status;
    const int early = trid_compiled_for(launches->sweep[0]) >= 90;
    /* The last sweep has rows along y, and so writes u with rows along x. */
    const int *points = problem->points, steps = problem->steps, partitions = job.plan.partitions;
    const size_t interfaces = 2 * BS3D_P_PARTITIONS * bs3d_p_most_of_plane(points);
    tb_real *from = steps % 2 ? job.v : job.u, *to = steps % 2 ? job.u : job.v;
    bs3d_p_start<unused>(&job, from, to);
    bs3d_p_zero(&job, job.interfaces, 2 * interfaces);
    bs3d_p_launch_next(&job, bs3d_p_factor_rows<8>, 2, 64, job.plan, job.tables);
    bs3d_p_launch_factor_z<unused>(&job, 2);
    bs3d_p_heading first = launches[steps % 2 == 0].heading;
    first.direction = 1;
    const dim3 tiles((unsigned)(points[0] - 1) / 32 + 1, (unsigned)(points[1] - 1) / 32 + 1, (unsigned)points[2]);
    bs3d_p_launch_next(&job, bs3d_p_implicit3_start<unused>, tiles, dim3(32, 8), job.plan, first, job.tables, from, to,
                       job.interfaces);
    for (int s = 0; s <= steps && !job.status; s++) {
        const bs3d_p_axis_launch *l = launches + ((steps - s) % 2 == 0);
        tb_real *swap = from, *old_interfaces = job.interfaces + s % 2 * interfaces,
                *new_interfaces = job.interfaces + (s + 1) % 2 * interfaces;
        bs3d_p_heading heading = l->heading;
        from = to;
        to = swap;
        heading.direction = s % 2 ? -1 : 1;
        heading.finish = s == steps;
        bs3d_p_launch_soon(&job, s > 0 && early, l->cluster, l->sweep[s % 2], dim3(l->blocks, (unsigned)partitions),
                           bs3d_p_spread_row::threads, l->bytes, l->pairs[s % 2], job.plan, heading, job.tables, from,
                           to, old_interfaces, new_interfaces);
        if (partitions > 1 && !heading.finish)
            bs3d_p_launch_soon(&job, early, 1, bs3d_p_solve_reduced<1>, (unsigned)((heading.to_plane - 1) / 128 + 1),
                               128, 0, partitions, heading.to_plane, s % 2, job.tables, new_interfaces);
    }
    return bs3d_p_finish<unused>(&job, result);
}
