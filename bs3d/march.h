/* march.h - a room of bs3d.h: the memory, tables, start and end of a march on the device; the table of shapes.
   MIT licence, see LICENSE. */

enum { BS3D_P_V = 16 / sizeof(tb_real) }; /* elements of a 16-byte vector */

/* The table of shapes, chosen by measurement (docs/bs3d_notes.md): the rows of each kind of block, and how many blocks
   of that kind should fit on a multiprocessor. If rows have two halves, implicit2 halves up_blocks. A lane's patch in
   planes.h and implicit2.h has columns x rows points. one_sweep_rows is a multiple of BS3D_P_V. */
struct bs3d_p_shape {
    static constexpr int columns = 4, rows = 2, points = columns * rows;
    static constexpr int tile_rows = 12, tile_blocks = TB_BYTES == 4 ? 2 : 1;          /* bs3d_p_sweep */
    static constexpr int up_rows = TB_BYTES == 4 ? 4 : 2, up_blocks = 2;               /* implicit2 upward */
    static constexpr int one_sweep_rows = TB_BYTES == 4 ? 8 : 6, one_sweep_blocks = 1; /* implicit3 */
};

/* Returns how many elements of shared memory transpose_load and transpose_store need. */
TB_HD constexpr int bs3d_p_transpose_len(int k)
{
    return TB_BYTES == 4 ? TRANSPOSE_LEN_F32(k) : TRANSPOSE_LEN_F64(k);
}

/* Returns how many elements of shared memory the solves of trid/interleaved.h need. */
TB_HD constexpr int bs3d_p_solve_len(int systems, int parts)
{
    return TB_BYTES == 4 ? TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F32(systems, parts)
                         : TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F64(systems, parts);
}

/* Returns the bytes of shared memory that a block needs in a sweep over nz planes in *partitions partitions. These
   bytes hold `elements` elements, and BS3D_P_PLANE_WEIGHTS for each plane of a partition and for `more` - 1 further
   planes. Raises *partitions, up to `most`, until the device's shared memory suffices. Returns 0 if it never does. */
TB_HOST size_t bs3d_p_fit(int elements, int nz, int more, int most, int *partitions)
{
    const size_t limit = (size_t)trid_device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    for (;; ++*partitions) {
        const int planes = (nz - 1) / *partitions + more;
        const size_t bytes = (size_t)(elements + BS3D_P_PLANE_WEIGHTS * planes) * sizeof(tb_real);
        if (bytes <= limit) return bytes;
        if (*partitions >= most) return 0;
    }
}

/* ---- memory of a march ------------------------------------------------------------------------------------------- */

/* A march over a grid, or over a slab of its planes, and the parts of its memory. */
typedef struct {
    bs3d_problem problem;
    bs3d_p_plan plan; /* for the planes of the job */
    bs3d_pairs pairs;
    int form, shift; /* shift: the grid's plane with which the job begins */
    tb_real *u, *v, *tables, *interfaces, *rest;
    cudaStream_t stream;
    int status; /* once it is not BS3D_OK, nothing more is launched */
} bs3d_p_job;

/* Returns how many elements a plane takes at most: its rows may run along x or along y. */
TB_HOST size_t bs3d_p_most_of_plane(const int *points)
{
    size_t rows = (size_t)bs3d_pitch(points[0]) * (size_t)points[1];
    size_t columns = (size_t)bs3d_pitch(points[1]) * (size_t)points[0];
    return rows > columns ? rows : columns;
}

/* Returns the bytes of device memory that a march needs; 0 for a null pointer or points outside 4 .. 1024. The march
   leaves the values at time 0 at the start of this memory. */
TB_HOST size_t bs3d_work_bytes(const bs3d_problem *o)
{
    if (!o || !bs3d_p_sized(o, 1)) return 0;
    size_t plane = bs3d_p_most_of_plane(o->points), planes = 2 * (size_t)o->points[2] + 4 * BS3D_P_PARTITIONS;
    return (planes * plane + BS3D_P_TABLES) * sizeof(tb_real) + sizeof(bs3d_result);
}

/* ---- loads and stores that kernels share ------------------------------------------------------------------------- */

/* Loads points of a row, which fill every `apart`-th vector in memory. bs3d_p_store stores them. */
template <int apart = 1>
TB_D void bs3d_p_load(int points, const tb_real *from, tb_real *u)
{
    TB_UNROLL
    for (int v = 0; v < points / BS3D_P_V; v++)
        transpose_unpack(((const transpose_vector *)from)[v * apart], u + v * BS3D_P_V);
}

template <int apart = 1>
TB_D void bs3d_p_store(int points, const tb_real *u, tb_real *to)
{
    TB_UNROLL
    for (int v = 0; v < points / BS3D_P_V; v++)
        ((transpose_vector *)to)[v * apart] = transpose_pack(u + v * BS3D_P_V);
}

/* Returns row i of an axis from its table, which begins with rows -BS3D_P_MARGIN .. -1. */
TB_D bs3d_row bs3d_p_row(const tb_real *tables, int axis, int i)
{
    const tb_real *r = tables + 4 * (BS3D_P_ROW_TABLE * axis + BS3D_P_MARGIN + i);
    return {r[0], r[1], r[2]};
}

/* Loads rows k-1, k, k+1 of the third axis. */
TB_D void bs3d_p_rows(const tb_real *tables, int k, bs3d_row *z)
{
    TB_UNROLL
    for (int n = 0; n < 3; n++) z[n] = bs3d_p_row(tables, 2, k - 1 + n);
}

/* Loads rows i .. i+count-1 of an axis; zeros beyond the grid. */
TB_D void bs3d_p_axis_rows(const bs3d_p_plan *plan, const tb_real *tables, int axis, int i, int count, bs3d_row *rows)
{
    bs3d_row none = {0, 0, 0};
    TB_UNROLL
    for (int n = 0; n < count; n++)
        rows[n] = i + n >= 0 && i + n < plan->model.points[axis] ? bs3d_p_row(tables, axis, i + n) : none;
}

/* ---- start and end of a march ------------------------------------------------------------------------------------ */

/* Computes the tables of rows, one block per axis. The table of the third axis begins with row shift - BS3D_P_MARGIN of
   the grid and holds `count` rows. */
template <int unused>
TRID_KERNEL void bs3d_p_set_up(bs3d_model model, int shift, int count, tb_real *tables)
{
    int axis = (int)blockIdx.x, rows = axis < 2 ? (int)BS3D_P_ROW_TABLE : count;
    for (int i = trid_block_thread(); i < rows; i += trid_block_threads()) {
        bs3d_row r = bs3d_lane_row(&model, axis, i - BS3D_P_MARGIN + (axis < 2 ? 0 : shift));
        tb_real *to = tables + 4 * (BS3D_P_ROW_TABLE * axis + i);
        to[0] = r.down;
        to[1] = r.up;
        to[2] = r.weight;
        to[3] = 0;
    }
}

/* Sets u to the payoff, unless that is BS3D_GIVEN, and sets u and v to 0 beyond the end of each row. With `later` it
   only sets u to the larger of u and the payoff. The first plane in memory is plane `shift` of the grid. Each block
   takes a row. */
template <int later>
TRID_KERNEL void bs3d_p_payoff(bs3d_problem o, bs3d_p_plan plan, int shift, tb_real *u, tb_real *v)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    u += (long long)plan.pitch * j + plan.plane * k;
    v += (long long)plan.pitch * j + plan.plane * k;
    for (int i = trid_block_thread(); i < (later ? o.points[0] : plan.pitch); i += trid_block_threads()) {
        if (!later && i >= o.points[0]) {
            u[i] = v[i] = 0;
        } else if (later || o.payoff != BS3D_GIVEN) {
            tb_real payoff = (tb_real)bs3d_p_payoff_at(&o, i, j, k + shift);
            if (!later || u[i] < payoff) u[i] = payoff;
        }
    }
}

/* Copies the values around the spot to `values`, and stores the price and derivatives in *result; either may be null.
   Values outside the planes `from` .. `to` - 1 of the grid become 0. The first plane in u is plane `shift`. One warp
   runs it. */
template <int unused>
TRID_KERNEL void bs3d_p_at_spot(bs3d_problem o, bs3d_p_plan plan, int shift, int from, int to, const tb_real *u,
                                tb_real *values, bs3d_result *result)
{
    __shared__ tb_real value[64];
    for (int n = (int)threadIdx.x; n < 64; n += 32) {
        int k = bs3d_p_first(&o, 2) + n / 16;
        value[n] = k >= from && k < to ? u[bs3d_p_around(&o, n, plan.pitch, plan.plane) - plan.plane * shift] : 0;
        if (values) values[n] = value[n];
    }
    __syncthreads();
    if (result && threadIdx.x == 0) *result = bs3d_lane_greeks(&o, value);
}

/* Fills in a job over the first `planes` planes of a grid. Divides its memory into u and v, of `planes` planes each,
   the tables, and `interfaces` planes for the interfaces of partitions. Each plane has room for `plane` elements. */
TB_HOST void bs3d_p_make_job(bs3d_p_job *job, const bs3d_problem *o, int implicit, int planes, size_t plane,
                             int interfaces, void *work, cudaStream_t stream)
{
    job->problem = *o;
    job->plan.model = bs3d_model_of(o);
    job->pairs = bs3d_lane_pairs(&job->plan.model, !implicit);
    job->form = bs3d_p_form(&job->plan.model);
    job->shift = 0;
    job->plan.model.points[2] = planes;
    job->plan.pitch = bs3d_pitch(o->points[0]);
    job->plan.plane = (long long)job->plan.pitch * o->points[1];
    job->plan.partitions = job->plan.tile = job->plan.prefetch = 0;
    job->u = (tb_real *)work;
    job->v = job->u + plane * (size_t)planes;
    job->tables = job->v + plane * (size_t)planes;
    job->interfaces = job->tables + BS3D_P_TABLES;
    job->rest = job->interfaces + plane * (size_t)interfaces;
    job->stream = stream;
    job->status = BS3D_OK;
}

/* Checks a problem and its memory, and fills in the job of its march. Returns BS3D_OK, or the status that rejects
   them. */
TB_HOST int bs3d_p_open_job(bs3d_p_job *job, const bs3d_problem *o, int implicit, void *work, cudaStream_t stream)
{
    int status = bs3d_check(o, implicit);
    if (!status && (!work || (size_t)work % 16)) status = BS3D_BAD_ARGUMENT;
    if (!status)
        bs3d_p_make_job(job, o, implicit, o->points[2], bs3d_p_most_of_plane(o->points), 4 * BS3D_P_PARTITIONS, work,
                        stream);
    return status;
}

/* Notes a failure of the runtime in the job's status. */
TB_HOST void bs3d_p_note(bs3d_p_job *job, cudaError_t error)
{
    if (error != cudaSuccess) job->status = BS3D_LAUNCH_FAILED;
}

/* Launches a kernel in the job's stream, in clusters of `cluster` blocks, unless the job has failed. If `early` is set,
   the kernel may begin before the preceding one has ended. */
template <class... parameters>
static inline void bs3d_p_launch_soon(bs3d_p_job *job, int early, int cluster, void (*kernel)(parameters...), dim3 grid,
                               dim3 block, size_t bytes, typename trid_same<parameters>::type... arguments)
{
    if (job->status) return;
    bs3d_p_note(job, trid_launch_with(early, cluster, kernel, grid, block, bytes, job->stream, arguments...));
}

/* Launches a kernel that needs no dynamic shared memory, after the preceding kernel has ended. */
template <class... parameters>
static inline void bs3d_p_launch_next(bs3d_p_job *job, void (*kernel)(parameters...), dim3 grid, dim3 block,
                               typename trid_same<parameters>::type... arguments)
{
    bs3d_p_launch_soon(job, 0, 1, kernel, grid, block, 0, arguments...);
}

/* Sets `count` elements to 0, unless the job has failed. */
TB_HOST void bs3d_p_zero(bs3d_p_job *job, tb_real *to, size_t count)
{
    if (!job->status) bs3d_p_note(job, cudaMemsetAsync(to, 0, count * sizeof *to, job->stream));
}

/* Launches bs3d_p_payoff for all rows of the job. */
template <int later>
static void bs3d_p_launch_payoff(bs3d_p_job *job, tb_real *u, tb_real *v)
{
    const dim3 rows((unsigned)job->problem.points[1], (unsigned)job->plan.model.points[2]);
    bs3d_p_launch_next(job, bs3d_p_payoff<later>, rows, 128, job->problem, job->plan, job->shift, u, v);
}

/* Computes the tables, and sets `from` to the payoff or to the given values; `from` and `to` are u and v in either
   order. Both become 0 beyond the end of each row. */
template <int unused>
static void bs3d_p_start(bs3d_p_job *job, tb_real *from, tb_real *to)
{
    const bs3d_problem *o = &job->problem;
    const size_t bytes = bs3d_p_cells(o->points) * sizeof *from;
    if (o->payoff == BS3D_GIVEN && from != job->u && !job->status)
        bs3d_p_note(job, cudaMemcpyAsync(from, job->u, bytes, cudaMemcpyDeviceToDevice, job->stream));
    bs3d_p_launch_next(job, bs3d_p_set_up<unused>, 3, 256, bs3d_model_of(o), job->shift,
                       job->plan.model.points[2] + 2 * BS3D_P_MARGIN, job->tables);
    bs3d_p_launch_payoff<0>(job, from, to);
}

/* After a step, sets u to the larger of u and the payoff if the option is American. */
template <int unused>
static void bs3d_p_may_exercise(bs3d_p_job *job, tb_real *u)
{
    if (job->problem.flags & BS3D_AMERICAN) bs3d_p_launch_payoff<1>(job, u, u);
}

/* Computes the result at the spot and copies it to the host, except for the padding behind its last member, which the
   device never writes. Returns the job's status. */
template <int unused>
static int bs3d_p_finish(bs3d_p_job *job, bs3d_result *result)
{
    const size_t bytes = offsetof(bs3d_result, status) + sizeof result->status;
    bs3d_p_launch_next(job, bs3d_p_at_spot<unused>, 1, 32, job->problem, job->plan, 0, 0, job->problem.points[2],
                       job->u, (tb_real *)0, (bs3d_result *)job->rest);
    if (!job->status && result)
        bs3d_p_note(job, cudaMemcpyAsync(result, job->rest, bytes, cudaMemcpyDeviceToHost, job->stream));
    return job->status;
}

/* A kernel that sweeps over all planes, or a span of them, and computes v from u. The weights in `pairs` determine
   whether v is L u or u + L u. */
template <class... spans>
using bs3d_p_sweep_kernel = void (*)(bs3d_pairs, bs3d_p_plan, const tb_real *, const tb_real *, tb_real *, tb_real *,
                                     spans...);

/* The launch of such a kernel. */
template <class... spans>
struct bs3d_p_launch {
    bs3d_p_sweep_kernel<spans...> sweep;
    bs3d_p_plan plan;
    dim3 grid, block;
    size_t bytes;
    int early; /* whether it may begin before the preceding kernel has ended */
};

/* Launches the sweep. */
template <class... spans>
static void bs3d_p_launch_sweep(bs3d_p_job *job, const bs3d_p_launch<spans...> *l, const tb_real *from, tb_real *to,
                                tb_real *interfaces, spans... span)
{
    bs3d_p_launch_soon(job, l->early, 1, l->sweep, l->grid, l->block, l->bytes, job->pairs, l->plan, job->tables, from,
                       to, interfaces, span...);
}
