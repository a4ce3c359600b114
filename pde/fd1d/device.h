/* device.h - a room of fd1d.h, read once a model and precision: the march in the registers of a warp or a block, its
   kernels, shapes and launches.
   MIT licence, see LICENSE.

   A group of `lanes` lanes has a problem, k points in each lane: point k l + i is element i of lane l. It is a warp, or
   a block of several. */

#define fd1d_p_group FD_OF(p_1d_group)
#define fd1d_p_sync FD_OF(p_1d_sync)
#define fd1d_p_least FD_OF(p_1d_least)
#define fd1d_p_around FD_OF(p_1d_around)
#define fd1d_p_apply FD_OF(p_1d_apply)
#define fd1d_p_given FD_OF(p_1d_given)
#define fd1d_p_first_right FD_OF(p_1d_first_right)
#define fd1d_p_rows FD_OF(p_1d_rows)
#define fd1d_p_reduced FD_OF(p_1d_reduced)
#define fd1d_p_solve FD_OF(p_1d_solve)
#define fd1d_p_steps FD_OF(p_1d_steps)
#define fd1d_p_two_stages FD_OF(p_1d_two_stages)
#define fd1d_p_keep FD_OF(p_1d_keep)
#define fd1d_p_date FD_OF(p_1d_date)
#define fd1d_p_lost FD_OF(p_1d_lost)
#define fd1d_p_terms_lost FD_OF(p_1d_terms_lost)
#define fd1d_p_twice FD_OF(p_1d_twice)
#define fd1d_p_advance FD_OF(p_1d_advance)
#define fd1d_p_march FD_OF(p_1d_march)
#define fd1d_p_solve_problem FD_OF(p_1d_solve_problem)
#define fd1d_p_launch FD_OF(p_1d_launch)
#define fd1d_p_tables_of FD_OF(p_1d_tables_of)
#define fd1d_p_prepare_kernel FD_OF(p_1d_prepare_kernel)
#define fd1d_p_kernel FD_OF(p_1d_kernel)
#define fd1d_p_run_shape FD_OF(p_1d_run_shape)
#define fd1d_p_refuse FD_OF(p_1d_refuse)
#define fd1d_device_bytes FD_OF(device_bytes)
#define fd1d_device FD_OF(device)

/* A function that is called, not inlined: what happens rarely would cost the march registers. */
#if defined __CUDACC__ || defined __CUDACC_RTC__
#define FD1D_P_RARE static __device__ __noinline__
#else
#define FD1D_P_RARE TB_D
#endif

/* What a group knows of its problem. */
typedef struct {
    fd1d_tables h;
    const fd_batch *batch;
    int which, n, rank, given; /* rank: of the lane; given: the largest magnitude that the march is given */
    tb_real *shared;           /* of a block: TRID_BLOCK_HYBRID_LEN for the solver, then 3 for each warp */
    int *least;                /* a word of it */
} fd1d_p_group;

TB_D void fd1d_p_sync(int lanes)
{
    if (lanes > 32)
        __syncthreads();
    else
        __syncwarp(TB_FULL_WARP);
}

/* Returns the least n of the group's lanes. */
TB_D int fd1d_p_least(int lanes, int n, int *least)
{
    if (lanes > 32) return fd_p_chip_least(1, n, least);
    TB_UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const int other = __shfl_xor_sync(TB_FULL_WARP, n, distance);
        n = other < n ? other : n;
    }
    return n;
}

/* Copies v to x[2 .. k+1], two values of the lane before to x[0], x[1], and one of the lane after to x[k+2]. */
TB_D void fd1d_p_around(int k, int lanes, const fd1d_p_group *g, const tb_real *v, tb_real *x)
{
    TB_UNROLL
    for (int i = 0; i < k; i++) x[i + 2] = v[i];
    x[0] = __shfl_up_sync(TB_FULL_WARP, v[k - 2], 1);
    x[1] = __shfl_up_sync(TB_FULL_WARP, v[k - 1], 1);
    x[k + 2] = __shfl_down_sync(TB_FULL_WARP, v[0], 1);
    if (lanes > 32) {
        const int warp = g->rank / 32, lane = g->rank % 32;
        tb_real *end = g->shared + TRID_BLOCK_HYBRID_LEN;
        if (lane == 31) end[3 * warp] = v[k - 2], end[3 * warp + 1] = v[k - 1];
        if (lane == 0) end[3 * warp + 2] = v[0];
        __syncthreads();
        if (lane == 0 && warp > 0) x[0] = end[3 * warp - 3], x[1] = end[3 * warp - 2];
        if (lane == 31 && warp < lanes / 32 - 1) x[k + 2] = end[3 * warp + 5];
        __syncthreads();
    }
}

/* Computes F(v) at the start (end 0) or the end (1) of a step. */
TB_D void fd1d_p_apply(int k, int lanes, const fd1d_p_group *g, int at, int end, const tb_real *v, tb_real *f)
{
    const fd1d_face *face = g->h.step[at].face;
    const tb_real *time = fd_p_time_of(&g->h.t, at, end);
    const int first = k * g->rank;
    tb_real x[TRID_MOST_ROWS + 3];
    fd1d_p_around(k, lanes, g, v, x);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const fd1d_row none = {0, 0, 0, 0};
        const fd1d_row row = fd_p_numbers(3) > 0  ? fd1d_p_row_at(&g->h.t, g->n, first + i, time)
                             : first + i < g->n ? g->h.row[first + i]
                                                : none;
        f[i] = fd1d_p_right(row, x[i + 1], x[i + 2], x[i + 3]);
        if (first + i == g->n - 1) f[i] += face[1].third[end] * (x[i] - x[i + 1]) + face[1].add[end];
    }
    if (first == 0) f[0] += face[0].third[end] * (x[4] - x[3]) + face[0].add[end];
}

/* Sets the right-hand sides of faces whose values are given; w is what the solution is the difference from. */
TB_D void fd1d_p_given(int k, const fd1d_p_group *g, const fd1d_step *step, const tb_real *w, tb_real *right)
{
    TB_UNROLL
    for (int i = 0; i < k; i++)
        for (int side = 0; side < 2; side++)
            if (step->face[side].is_given && k * g->rank + i == (side ? g->n - 1 : 0))
                right[i] = step->face[side].given - w[i];
}

/* Computes the right-hand side of a step's first stage, and in g->h.rest what a second one begins with. */
TB_D void fd1d_p_first_right(int k, int lanes, const fd1d_p_group *g, int at, const tb_real *u, tb_real *right)
{
    const fd1d_step *step = &g->h.step[at];
    const int american = g->h.t.problem->exercise == FD_AMERICAN, again = step->of.stages > 1;
    fd1d_p_apply(k, lanes, g, at, 0, u, right);
    tb_real more[TRID_MOST_ROWS];
    TB_UNROLL
    for (int i = 0; i < k; i++) more[i] = 0;
    if (step->changes) {
        fd1d_p_apply(k, lanes, g, at, 1, u, more);
        TB_UNROLL
        for (int i = 0; i < k; i++) more[i] = step->of.size * (more[i] - right[i]);
    }
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const int point = k * g->rank + i, inside = point < g->n;
        const tb_real extra = american && inside ? step->of.dt * g->h.multiplier[point] : 0;
        const tb_real from = step->of.about ? u[i] : more[i];
        if (again && inside) g->h.rest[point] = step->of.base[1][1] * right[i] + from + extra;
        right[i] = step->of.base[0][1] * right[i] + more[i] + extra;
    }
    fd1d_p_given(k, g, step, u, right);
}

/* Computes the group's rows of the matrix of a step. */
TB_D void fd1d_p_rows(int k, const fd1d_p_group *g, int at, tb_real *a, tb_real *b, tb_real *c)
{
    const fd1d_step *step = &g->h.step[at];
    const tb_real *time = fd_p_time_of(&g->h.t, at, 1);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const fd1d_row none = {0, 0, 0, 0};
        const int point = k * g->rank + i;
        const fd1d_row row = fd_p_numbers(3) > 0 ? fd1d_p_row_at(&g->h.t, g->n, point, time)
                             : point < g->n    ? g->h.row[point]
                                               : none;
        fd1d_p_matrix(row, step->of.size, &a[i], &b[i], &c[i]);
        if (point == 0) a[i] = 0, b[i] = step->face[0].middle, c[i] = step->face[0].near_by;
        if (point == g->n - 1) a[i] = step->face[1].near_by, b[i] = step->face[1].middle, c[i] = 0;
    }
}

/* Copies a right-hand side, with the third points of faces eliminated. */
TB_D void fd1d_p_reduced(int k, int lanes, const fd1d_p_group *g, const fd1d_step *step, const tb_real *right,
                         tb_real *y)
{
    TB_UNROLL
    for (int i = 0; i < k; i++) y[i] = right[i];
    if (step->face[0].times < 0 && g->rank == 0) y[0] -= step->face[0].times * right[1];
    if (step->face[1].times < 0) {
        tb_real x[TRID_MOST_ROWS + 3];
        fd1d_p_around(k, lanes, g, right, x);
        TB_UNROLL
        for (int i = 0; i < k; i++)
            if (k * g->rank + i == g->n - 1) y[i] -= step->face[1].times * x[i + 1];
    }
}

/* Solves (1 - size A) y = right: by the factors of the matrix, or (f null) by the matrix itself. */
TB_D void fd1d_p_solve(int k, int lanes, const fd1d_p_group *g, int at, int pcr_steps, const tb_real *f,
                       const tb_real *right, tb_real *y)
{
    fd1d_p_reduced(k, lanes, g, &g->h.step[at], right, y);
    if (f) {
        trid_warp_solve(k, lanes, k * lanes, pcr_steps, f, y);
        return;
    }
    tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS];
    fd1d_p_rows(k, g, at, a, b, c);
    if (lanes > 32) {
        __syncthreads(); /* the solve before has been read */
        trid_block_hybrid(k, k * lanes, a, b, c, y, g->shared);
    } else {
        trid_warp_hybrid(k, lanes, k * lanes, a, b, c, y);
    }
}

/* Makes a run of steps, which differ in nothing, from the right-hand side of the first. */
TB_D void fd1d_p_steps(int k, int lanes, const fd1d_p_group *g, int at, int run, int pcr_steps, const tb_real *f,
                       tb_real *right, tb_real *u)
{
    const tb_real inverse = g->h.step[at].inverse;
    for (int s = 0; s < run; s++) {
        tb_real y[TRID_MOST_ROWS];
        fd1d_p_solve(k, lanes, g, at, pcr_steps, f, right, y);
        TB_UNROLL
        for (int i = 0; i < k; i++) {
            u[i] += y[i];
            right[i] += (y[i] - right[i]) * inverse;
        }
    }
}

/* Makes a step of two stages. */
TB_D void fd1d_p_two_stages(int k, int lanes, const fd1d_p_group *g, int at, tb_real *u)
{
    const fd1d_step *step = &g->h.step[at];
    tb_real right[TRID_MOST_ROWS], y[TRID_MOST_ROWS], z[TRID_MOST_ROWS];
    fd1d_p_first_right(k, lanes, g, at, u, right);
    fd1d_p_solve(k, lanes, g, at, 0, (const tb_real *)0, right, y);
    TB_UNROLL
    for (int i = 0; i < k; i++) z[i] = u[i] + y[i];
    fd1d_p_apply(k, lanes, g, at, 1, z, right);
    TB_UNROLL
    for (int i = 0; i < k; i++) {
        const int point = k * g->rank + i;
        right[i] *= step->of.base[1][3];
        if (point < g->n) right[i] += g->h.rest[point] - (step->of.about ? z[i] : 0);
        if (step->of.about) u[i] = z[i]; /* what the solution is the difference from */
    }
    fd1d_p_given(k, g, step, u, right);
    fd1d_p_solve(k, lanes, g, at, 0, (const tb_real *)0, right, y);
    TB_UNROLL
    for (int i = 0; i < k; i++) u[i] += y[i];
}

/* Copies the values to memory, where all lanes of the group see them. */
TB_D void fd1d_p_keep(int k, int lanes, const fd1d_p_group *g, const tb_real *u)
{
    fd1d_p_sync(lanes); /* what was kept before has been read */
    TB_UNROLL
    for (int i = 0; i < k; i++)
        if (k * g->rank + i < g->n) g->h.value[k * g->rank + i] = u[i];
    fd1d_p_sync(lanes);
}

/* Applies the events at the date of a step's end to the values that were kept. */
FD1D_P_RARE void fd1d_p_date(int lanes, fd1d_p_group *g, int at)
{
    const int date = g->h.step[at].of.date;
    const fd_date *event = fd_p_event(g->h.t.problem, date);
    fd1d_p_shift(&g->h, event, g->rank, lanes);
    fd1d_p_sync(lanes);
    g->given = fd1d_p_happen(&g->h, event, at, g->rank, lanes, g->given);
    fd1d_p_sync(lanes);
    if (event->what & FD_RECORD) fd1d_p_record(g->batch, &g->h, g->which, 1 + date, g->rank, lanes);
}

/* Returns the group's first point whose value is not finite, and in *largest the largest magnitude of this lane's. */
TB_D int fd1d_p_lost(int k, int lanes, const fd1d_p_group *g, const tb_real *u, int *largest)
{
    int lost = FD_P_NONE;
    *largest = 0;
    TB_UNROLL
    for (int i = k - 1; i >= 0; i--) {
        if (!trid_finite(u[i])) lost = k * g->rank + i;
        *largest = fd_p_larger(*largest, (double)u[i]);
    }
    return fd1d_p_least(lanes, lost, g->least);
}

/* Returns the first point at which the terms are not finite at the start or the end of a step. */
FD1D_P_RARE int fd1d_p_terms_lost(int lanes, const fd1d_p_group *g, int at)
{
    int lost = FD_P_NONE;
    for (int i = g->rank; i < g->n && lost == FD_P_NONE; i += lanes)
        for (int end = 0; end < 2; end++)
            if (!fd_p_terms_finite(fd_p_terms_at(&g->h.t, &i, fd_p_time_of(&g->h.t, at, end)))) lost = i;
    return fd1d_p_least(lanes, lost, g->least);
}

/* The same, called: it would cost the march registers. */
template <int k, int lanes>
FD1D_P_RARE void fd1d_p_twice(const fd1d_p_group *g, int at, tb_real *u)
{
    fd1d_p_two_stages(k, lanes, g, at, u);
}

/* Makes steps from `at` on: a run of them, or one. Returns how many. */
template <int k, int lanes>
TB_D int fd1d_p_advance(const fd1d_p_group *g, int at, int watched, int *pcr_steps, tb_real *f, tb_real *u)
{
    const fd1d_step *step = &g->h.step[at];
    const int run = watched ? 1 : step->run;
    if (step->of.stages > 1) {
        tb_real v[k]; /* u stays in registers */
        TB_UNROLL
        for (int i = 0; i < k; i++) v[i] = u[i];
        fd1d_p_twice<k, lanes>(g, at, v);
        TB_UNROLL
        for (int i = 0; i < k; i++) u[i] = v[i];
        return 1;
    }
    tb_real right[k];
    fd1d_p_first_right(k, lanes, g, at, u, right);
    if (lanes > 32) {
        fd1d_p_steps(k, lanes, g, at, run, 0, (const tb_real *)0, right, u);
        return run;
    }
    if (step->factors) {
        tb_real a[k], b[k], c[k];
        fd1d_p_rows(k, g, at, a, b, c);
        trid_warp_factor(k, lanes, k * lanes, a, b, c, f, pcr_steps);
    }
    /* Short time steps need no PCR steps, and without them the loop has no branches. */
    const int needed = trid_warp_uniform(*pcr_steps);
    if (needed == 0)
        fd1d_p_steps(k, lanes, g, at, run, 0, f, right, u);
    else
        fd1d_p_steps(k, lanes, g, at, run, needed, f, right, u);
    return run;
}

/* Marches a problem, from its final values to u at time 0. The first march checks nothing on its way. Where it fails, a
   second one, `watched`, looks in each step for the first number that is not finite, the model's before the values.
   Returns  FD_OK, or what went wrong */
template <int k, int lanes>
TB_D fd_status fd1d_p_march(fd1d_p_group *g, int watched, tb_real *u)
{
    const fd_p_tables *t = &g->h.t;
    const int steps = t->found->steps, early = t->problem->exercise != FD_EUROPEAN;
    tb_real f[TRID_WARP_FACTOR_LEN(k)];
    int pcr_steps = 5, largest;
    for (int i = 0; i < k; i++) {
        const int point = k * g->rank + i;
        u[i] = point < g->n ? t->final[point] : 0;
        if (point < g->n) g->h.multiplier[point] = 0;
    }
    TB_LOOP
    for (int at = 0; at < steps;) {
        if (watched) {
            const int lost = fd1d_p_terms_lost(lanes, g, at);
            if (lost != FD_P_NONE) return fd_status_of(FD_MODEL_NAN, 0, -1, lost, -1, -1, at);
        }
        at += fd1d_p_advance<k, lanes>(g, at, watched, &pcr_steps, f, u);
        TB_UNROLL
        for (int i = 0; i < k; i++)
            if (early && k * g->rank + i < g->n) u[i] = fd1d_p_exercised(&g->h, at - 1, k * g->rank + i, u[i]);
        if (fd_p_event(t->problem, g->h.step[at - 1].of.date)) {
            fd1d_p_keep(k, lanes, g, u);
            fd1d_p_date(lanes, g, at - 1);
            TB_UNROLL
            for (int i = 0; i < k; i++) u[i] = k * g->rank + i < g->n ? g->h.value[k * g->rank + i] : 0;
        }
        if (watched) {
            const int lost = fd1d_p_lost(k, lanes, g, u, &largest);
            if (lost != FD_P_NONE) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost, -1, -1, at - 1);
        }
    }
    const int lost = fd1d_p_lost(k, lanes, g, u, &largest);
    if (lost != FD_P_NONE) return fd_status_of(FD_NOT_SOLVED, 0, -1, lost, -1, -1, steps - 1);
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    const int given = -fd1d_p_least(lanes, -g->given, g->least);
    fd_p_grown(&status, given, -fd1d_p_least(lanes, -largest, g->least));
    return status;
}

/* Marches a problem that is prepared, and writes its results. */
template <int k, int lanes>
TB_D void fd1d_p_solve_problem(fd1d_p_group *g)
{
    const fd_p_findings *found = g->h.t.found;
    fd_status status = found->status;
    tb_real u[k];
    TB_LOOP
    for (int watched = 0; watched < 2 && !found->status.what; watched++) {
        status = fd1d_p_march<k, lanes>(g, watched, u);
        if (!status.what) break;
    }
    status.not_dominant = found->not_dominant;
    if (status.what) {
        fd_p_fill_nan(g->batch, g->which, g->rank, lanes);
    } else {
        fd1d_p_keep(k, lanes, g, u);
        fd1d_p_record(g->batch, &g->h, g->which, 0, g->rank, lanes);
    }
    if (g->rank == 0) g->batch->status[g->which] = status;
}

/* What a launch is told: problems first .. first + problems - 1 of a batch, and memory with room for them. */
typedef struct {
    fd_batch batch;
    const fd_model_parameters *parameters;
    unsigned char *memory;
    size_t bytes; /* of a problem */
    int first, problems;
} fd1d_p_launch;

/* Returns where the tables of the launch's problem `which` are. */
TB_HD fd1d_tables fd1d_p_tables_of(const fd1d_p_launch *launch, int which)
{
    fd1d_tables h;
    fd1d_p_lay_out(&launch->batch, launch->memory + (size_t)which * launch->bytes, &h);
    h.t.problem = &launch->batch.problem[launch->first + which];
    h.t.parameters = &launch->parameters[launch->first + which];
    return h;
}

/* Prepares the problems, one a block. */
template <int threads>
__launch_bounds__(threads) TRID_KERNEL void fd1d_p_prepare_kernel(fd1d_p_launch launch)
{
    const int which = (int)blockIdx.x;
    const fd1d_tables h = fd1d_p_tables_of(&launch, which);
    TB_LOOP
    for (int phase = 0; phase < FD1D_P_PHASES; phase++) {
        fd1d_p_prepare(&launch.batch, &h, launch.first + which, phase, trid_block_thread(), threads);
        __syncthreads();
    }
}

/* Marches them, one a group of lanes. */
template <int k, int lanes>
__launch_bounds__(lanes > FD1D_P_THREADS ? lanes : FD1D_P_THREADS) TRID_KERNEL void fd1d_p_kernel(fd1d_p_launch launch)
{
    __shared__ tb_real shared[lanes > 32 ? TRID_BLOCK_HYBRID_LEN + 3 * lanes / 32 : 1];
    __shared__ int least;
    const int thread = trid_block_thread(), which = lanes > 32 ? (int)blockIdx.x
                                                               : ((int)blockIdx.x * FD1D_P_THREADS + thread) / lanes;
    if (which >= launch.problems) return;
    fd1d_p_group g;
    g.h = fd1d_p_tables_of(&launch, which);
    g.batch = &launch.batch, g.which = launch.first + which, g.n = g.h.t.found->points[0], g.rank = thread % lanes;
    g.given = g.h.t.found->given, g.shared = shared, g.least = &least;
    fd1d_p_solve_problem<k, lanes>(&g);
}

/* Prepares and marches the problems of a launch. */
template <int k, int lanes>
static cudaError_t fd1d_p_run_shape(const fd1d_p_launch *launch, cudaStream_t stream)
{
    const unsigned problems = (unsigned)launch->problems, each = lanes > 32 ? 1 : FD1D_P_THREADS / lanes;
    const cudaError_t error = trid_launch(fd1d_p_prepare_kernel<FD1D_P_THREADS>, problems, FD1D_P_THREADS, 0, stream,
                                          *launch);
    if (error != cudaSuccess) return error;
    return trid_launch(fd1d_p_kernel<k, lanes>, (problems + each - 1) / each, lanes > 32 ? lanes : FD1D_P_THREADS, 0,
                       stream, *launch);
}

/* Fills the results of a call that is refused, if the batch says where and how many: with bits that are all set, which
   is FD_BAD_ARGUMENT as a status, and NaN elsewhere. */
template <int unused = 0>
static void fd1d_p_refuse(const fd_batch *batch, cudaStream_t stream)
{
    if (fd_p_sizes(FD_FACTORS, batch)) return;
    const size_t problems = (size_t)batch->problems, times = (size_t)(1 + batch->dates), n = (size_t)batch->points[0];
    void *const at[4] = {batch->status, batch->values, batch->grid, batch->coordinates[0]};
    const size_t bytes[4] = {sizeof(fd_status), times * (size_t)batch->spots * sizeof(fd_values),
                             times * n * sizeof(tb_real), n * sizeof(double)};
    for (int q = 0; q < 4; q++)
        if (at[q] && cudaMemsetAsync(at[q], 255, problems * bytes[q], stream) != cudaSuccess)
            cudaGetLastError(); /* the pointer is not the device's: no later call is to see the error */
}

/* Returns how many bytes of device memory suffice for full speed: for all problems of the batch, or for as many as keep
   a device busy. 0 if fd_batch_check refuses the batch, whose pointers may still be null. */
template <int unused = 0>
static size_t fd1d_device_bytes(const fd_batch *batch)
{
    enum { busy = 16384 };
    if (fd_p_sizes(FD_FACTORS, batch) || batch->points[0] > FD1D_MOST) return 0;
    return fd1d_p_lay_out(batch, NULL, NULL) * (size_t)(batch->problems < busy ? batch->problems : busy);
}

/* Solves the problems of a batch, as many at a time as memory has room for.
   Needs    pointers of the batch and of its problems, parameters (of each problem) and memory, aligned to 128, in device
            memory; at least the bytes of one problem, MODEL_device_bytes for full speed
   Leaves   status and values, the grid's values and coordinates, when the stream has executed the launches
   Returns  FD_OK; as fd_batch_check, FD_BAD_SIZE for more than FD1D_MOST points, FD_BAD_ARGUMENT for a null pointer and
            FD_NO_ROOM for too little memory, with FD_BAD_ARGUMENT and NaN in the results; FD_LAUNCH_FAILED
   Cost     two launches, no transfer; a step of a run: that of trid_warp_solve, and three operations a point */
template <int unused = 0>
static int fd1d_device(const fd_batch *batch, const fd_model_parameters *parameters, void *memory, size_t bytes,
                       cudaStream_t stream)
{
    int wrong = fd_batch_check(FD_FACTORS, batch);
    if (!wrong && batch->points[0] > FD1D_MOST) wrong = FD_BAD_SIZE;
    if (!wrong && batch->problems == 0) return FD_OK;
    if (!wrong && (!parameters || !memory || (size_t)memory % 128 != 0)) wrong = FD_BAD_ARGUMENT;
    const size_t each = wrong ? 1 : fd1d_p_lay_out(batch, NULL, NULL);
    if (!wrong && bytes < each) wrong = FD_NO_ROOM;
    if (wrong) {
        fd1d_p_refuse(batch, stream);
        return wrong;
    }
    fd1d_p_launch launch = {*batch, parameters, (unsigned char *)memory, each, 0, 0};
    const size_t room = bytes / each;
    for (; launch.first < batch->problems; launch.first += launch.problems) {
        const int left = batch->problems - launch.first, n = batch->points[0];
        launch.problems = (size_t)left < room ? left : (int)room;
        /* Rows a lane that leave the march its registers. */
        constexpr int most = TB_BYTES == 4 ? 16 : 8;
        const cudaError_t error = n <= 4 * 32      ? fd1d_p_run_shape<4, 32>(&launch, stream)
                                  : n <= 8 * 32    ? fd1d_p_run_shape<8, 32>(&launch, stream)
                                  : n <= 512       ? fd1d_p_run_shape<most, 512 / most>(&launch, stream)
                                                   : fd1d_p_run_shape<most, 1024 / most>(&launch, stream);
        if (error != cudaSuccess) return FD_LAUNCH_FAILED;
    }
    return FD_OK;
}
