/* implicit1.h - a room of bs3d.h: implicit1, with four kernels per step, and a fifth for American options. Each solve
   computes its matrix anew.
   MIT licence, see LICENSE. */

/* Solves the x systems in v, one warp per system. */
template <int per_lane, int plain>
__launch_bounds__(32 * bs3d_p_x_warps(per_lane))
TRID_KERNEL void bs3d_p_implicit1_x(bs3d_p_plan plan, tb_real *__restrict__ v)
{
    __shared__ tb_real shared[bs3d_p_x_warps(per_lane) * bs3d_p_transpose_len(per_lane)];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, nx = plan.model.points[0];
    long long line = (long long)blockIdx.x * (blockDim.x / 32) + warp;
    int n = line < (long long)plan.model.points[1] * plan.model.points[2] ? nx : 0;
    tb_real a[32], b[32], c[32], d[32], *row = v + plan.pitch * line,
                                        *mine = shared + warp * bs3d_p_transpose_len(per_lane);
    transpose_load(per_lane, 32, n, row, 0, d, mine);
    TB_UNROLL
    for (int r = 0; r < per_lane; r++) bs3d_p_matrix_row<plain>(&plan, 0, per_lane * lane + r, a + r, b + r, c + r);
    trid_warp_hybrid(per_lane, 32, n, a, b, c, d);
    transpose_store(per_lane, 32, n, d, row, mine);
}

/* Solves the y systems (axis 1) or z systems (axis 2) in v. A block solves 8 interleaved systems, in 32 partitions
   each. Along y the solution replaces v; along z it is added to u instead. If registers allow, the solve along z loads
   u early, together with v: loading u after the solve would mean a second wait for memory. */
template <int plain>
TB_D void bs3d_p_implicit1_along(int per_lane, int axis, const bs3d_p_plan *plan, tb_real *v, tb_real *u,
                                 tb_real *shared)
{
    const int lines = 8, early = axis == 2 && per_lane * sizeof(tb_real) <= 64;
    int thread = (int)threadIdx.x, x = lines * (int)blockIdx.x + thread % lines, first = per_lane * (thread / lines);
    int n = x < plan->model.points[0] ? plan->model.points[axis] : 0;
    long long step = axis == 1 ? plan->pitch : plan->plane, other = axis == 1 ? plan->plane : plan->pitch;
    tb_real a[32], b[32], c[32], d[32], old[32];
    v += x + other * blockIdx.y + step * first;
    u += x + other * blockIdx.y + step * first;
    TB_UNROLL
    for (int r = 0; r < per_lane; r++) {
        d[r] = first + r < n ? v[step * r] : 0;
        old[r] = early && first + r < n ? u[step * r] : 0;
        bs3d_p_matrix_row<plain>(plan, axis, first + r, a + r, b + r, c + r);
    }
    trid_block_interleaved_unchecked(per_lane, lines, 32, n, a, b, c, d, shared);
    TB_UNROLL
    for (int r = 0; r < per_lane; r++) {
        if (first + r >= n) continue;
        if (axis == 1)
            v[step * r] = d[r];
        else
            u[step * r] = (early ? old[r] : u[step * r]) + d[r];
    }
}

template <int per_lane, int plain>
__launch_bounds__(32 * 8)
TRID_KERNEL void bs3d_p_implicit1_lines(bs3d_p_plan plan, int axis, tb_real *__restrict__ v, tb_real *__restrict__ u)
{
    __shared__ tb_real
        shared[TB_BYTES == 4 ? TRID_BLOCK_INTERLEAVED_LEN_F32(8, 32) : TRID_BLOCK_INTERLEAVED_LEN_F64(8, 32)];
    if (axis == 1)
        bs3d_p_implicit1_along<plain>(per_lane, 1, &plan, v, u, shared);
    else
        bs3d_p_implicit1_along<plain>(per_lane, 2, &plan, v, u, shared);
}

/* Marches with implicit1. All else is as in bs3d_explicit1. */
template <int unused = 0>
static int bs3d_implicit1(const bs3d_problem *problem, void *work, bs3d_result *result, cudaStream_t stream)
{
    bs3d_p_job job;
    bs3d_p_launch<> right;
    int status = bs3d_p_open_job(&job, problem, 1, work, stream);
    if (!status) status = bs3d_p_launch_tiles<1, 0>(&job.plan, job.form, &right);
    if (status) return status;
    right.early = 0;
    const int *n = problem->points, plain = bs3d_p_plain(&job.plan.model);
    const int warps = bs3d_p_x_warps(bs3d_p_per_lane(n[0]));
    unsigned columns = (unsigned)(n[0] - 1) / 8 + 1, blocks = (unsigned)((n[1] * n[2] - 1) / warps + 1);
    const dim3 y_blocks(columns, (unsigned)n[2]), z_blocks(columns, (unsigned)n[1]);
    const auto x =
        plain ? bs3d_p_of_length(n[0], bs3d_p_implicit1_x<8, 1>, bs3d_p_implicit1_x<16, 1>, bs3d_p_implicit1_x<32, 1>)
              : bs3d_p_of_length(n[0], bs3d_p_implicit1_x<8, 0>, bs3d_p_implicit1_x<16, 0>, bs3d_p_implicit1_x<32, 0>);
    const auto lines_of = [plain](int points) {
        return plain ? bs3d_p_of_length(points, bs3d_p_implicit1_lines<8, 1>, bs3d_p_implicit1_lines<16, 1>,
                                        bs3d_p_implicit1_lines<32, 1>)
                     : bs3d_p_of_length(points, bs3d_p_implicit1_lines<8, 0>, bs3d_p_implicit1_lines<16, 0>,
                                        bs3d_p_implicit1_lines<32, 0>);
    };
    bs3d_p_start<unused>(&job, job.u, job.v);
    for (int s = 0; s < problem->steps && !job.status; s++) {
        bs3d_p_launch_sweep(&job, &right, job.u, job.v, job.interfaces);
        bs3d_p_launch_next(&job, x, blocks, (unsigned)(32 * warps), job.plan, job.v);
        bs3d_p_launch_next(&job, lines_of(n[1]), y_blocks, 256, job.plan, 1, job.v, job.u);
        bs3d_p_launch_next(&job, lines_of(n[2]), z_blocks, 256, job.plan, 2, job.v, job.u);
        bs3d_p_may_exercise<unused>(&job, job.u);
    }
    return bs3d_p_finish<unused>(&job, result);
}
