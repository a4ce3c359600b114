/* device.h - a room of adi3d.h, read once for each model and precision: the data of kernels, and the factors of
   independent axes.
   MIT licence, see LICENSE. */

/* Grids in device memory have rows of `pitch` elements; elements beyond the points are finite. Only the final values,
   and a grid that adi3d_p_device_copy packs for the caller, have no gaps. A stage is three kernels: right-hand sides
   and solves along x, which leave differences in d; solves along y, in place; solves along z, which end the stage. Or
   it is two sweeps, with a small kernel between them (device_planes.h). One or several warps solve a line along x, with
   `rows` points in each lane; lines along y and z are interleaved in a block (trid/interleaved.h). */

/* Returns whether the terms along an axis are declared independent of the other axes. */
TB_HD constexpr int adi3d_p_independent(int axis)
{
    return FD_MODEL_INDEPENDENT >> axis & 1;
}

enum {
    /* Whether y and z are declared such that solves along them commute (device_planes.h). */
    adi3d_p_fusible = adi3d_p_independent(1) && adi3d_p_independent(2),
    adi3d_p_vectored = 16 / TB_BYTES /* elements of a vector */
};

/* The findings of a march, in device memory. */
typedef struct {
    unsigned long long lost; /* the least 2^32 * when + point among all calls to adi3d_p_device_note(.., when, ..) */
    int largest;             /* the largest magnitude at time 0, as fd_p_larger stores it */
    int pcr_steps[3];        /* how many PCR steps the solves with factors take along each axis */
} adi3d_p_found;

/* The numbers of a plane for the sweeps of device_planes.h. The upward sweep uses l, h, r and `end`, which is 1 + the
   partition's number for a partition's last plane and 0 for others; the downward sweep uses r, q and s. */
typedef struct FD_P_ALIGN {
    tb_real l, h, end, r, q, s, unused[2];
} adi3d_p_plane;

/* The factored row of a partition in the system of the last unknowns. */
typedef struct FD_P_ALIGN {
    tb_real in, out, pivot, above;
} adi3d_p_link;

/* The data of a march's kernels. All pointers are to device memory, except those in `problem`, which no kernel follows:
   kernels follow those of *t.problem, a copy in device memory. */
struct adi3d_p_device : fd_p_grid {
    fd_problem problem;
    adi3d_p_found *march;
    fd_values *values;      /* for each time, one for each spot, in the order of `values` of fd_batch */
    tb_real *factors[3];    /* for the independent axes, otherwise null: adi3d_p_device_factor */
    int fresh;              /* whether the stage must compute factors, since those in memory do not fit it */
    adi3d_p_plane *planes;  /* for solves along z within the sweeps: each plane's factors */
    adi3d_p_link *links;    /* likewise: the factored system of the partitions' last unknowns */
    tb_real *ends;          /* likewise, in planes: right-hand sides of the partitions' first rows, then those of
                               their last rows; the last unknowns replace the latter */
    int partitions;         /* the number of partitions; 0: the stage is not taken in sweeps */
    int elements;           /* of a grid */
    int processors, shared; /* the device's multiprocessors; the most shared memory of a block */
};

/* A problem's own arrays in device memory. */
typedef struct {
    fd_problem *problem;
    fd_model_parameters *parameters;
    double *points[3], *date, *spot;
    int *kink;
    fd_date *at_date;
} adi3d_p_copies;

/* Lays out device memory for any problem of a batch; if `memory` is null, only counts. Returns the bytes. */
TB_HOST size_t adi3d_p_device_lay_out(const fd_batch *batch, unsigned char *memory, adi3d_p_device *device,
                                      adi3d_p_copies *copies)
{
    const fd_p_needs needs = fd_p_needs_of(batch);
    const size_t times = (size_t)(1 + batch->dates), line = 128 / sizeof(tb_real);
    const size_t pitch = ((size_t)batch->points[0] + line - 1) / line * line;
    adi3d_p_device h;
    adi3d_p_copies c;
    memset(&h, 0, sizeof h), memset(&c, 0, sizeof c);
    size_t used = fd_p_lay_out(batch, 0, memory, &h.t);
    tb_real **const grids[5] = {&h.u, &h.d, &h.z, &h.t.final, &h.extra};
    const int needed[5] = {1, 1, needs.stage, needs.final, needs.multiplier};
    auto next = [&](auto **array, size_t count) {
        *array = (decltype(*array + 0))fd_p_next(memory, &used, count * sizeof **array);
    };
    for (int g = 0; g < 5; g++)
        if (needed[g]) next(grids[g], pitch * (size_t)batch->points[1] * (size_t)batch->points[2]);
    if (!needs.final) h.t.final = h.d; /* adi3d_p_device_start clears it after use */
    next(&h.march, 1), next(&h.values, times * (size_t)batch->spots);
    for (int d = 0; d < 3; d++)
        if (adi3d_p_independent(d)) next(&h.factors[d], 32 * TRID_WARP_FACTOR_LEN(32));
    if (adi3d_p_fusible) {
        next(&h.planes, (size_t)batch->points[2]), next(&h.links, ADI3D_P_PARTITIONS);
        next(&h.ends, 2 * ADI3D_P_PARTITIONS * pitch * (size_t)batch->points[1]);
    }
    next(&c.problem, 1), next(&c.parameters, 1);
    for (int d = 0; d < 3; d++) next(&c.points[d], (size_t)batch->points[d]);
    next(&c.date, times), next(&c.kink, times), next(&c.at_date, times), next(&c.spot, (size_t)batch->spots * 3);
    if (device) *device = h, *copies = c;
    return used;
}

/* Factors the matrix of an independent axis once for all its lines, in the partitions of `rows` rows that a lane or
   thread of the solving kernels holds. These kernels read a partition's factors 16 bytes at a time, so the first 16
   bytes of all partitions come first, then the next 16 bytes of all. One warp runs it. */
template <int axis, int rows, int parts>
TRID_KERNEL void __launch_bounds__(32)
    adi3d_p_device_factor(const __grid_constant__ adi3d_p_device h, const __grid_constant__ fd_p_step step)
{
    enum { wide = adi3d_p_vectored };
    __shared__ tb_real made[32][16];
    const int lane = trid_warp_lane(), part = lane % parts, first = rows * part, line[3] = {0, 0, 0};
    tb_real a[rows], b[rows], c[rows], f[TRID_WARP_FACTOR_LEN(rows)], *const none = 0;
    fd_numbers own[3];
    int pcr_steps;
    fd_p_line_numbers<axis>(h, line, own);
    fd_p_line_rows<axis, rows>(h, step, own, fd_p_line_own<axis>(h, first), a, b, c);
    fd_p_make_faces<axis, rows>(
        h, step, first, line, h.u, 0, [](int) { return (tb_real)0; }, made[lane]);
    fd_p_put_faces<axis, rows>(h, first, made[lane], a, b, c, none);
    trid_warp_factor(rows, parts, h.n[axis], a, b, c, f, &pcr_steps);
    if (lane == 0) h.march->pcr_steps[axis] = pcr_steps;
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(rows); e += wide)
        if (lane < parts) *(transpose_vector *)(h.factors[axis] + parts * e + wide * part) = transpose_pack(f + e);
}

/* Copies the factors into shared memory. All threads of the block call it. */
template <int rows, int parts>
TB_D void adi3d_p_device_fetch_factors(const tb_real *from, tb_real *factors)
{
    for (int e = adi3d_p_vectored * trid_block_thread(); e < parts * TRID_WARP_FACTOR_LEN(rows);
         e += adi3d_p_vectored * trid_block_threads())
        *(transpose_vector *)(factors + e) = *(const transpose_vector *)(from + e);
}

/* Copies elements `from` .. `to` - 1 of a partition's f, in whole vectors of 16 bytes, from shared memory or, for lines
   along x, from device memory. */
template <int parts>
TB_D void adi3d_p_device_take_factors(const tb_real *factors, int part, int from, int to, tb_real *f)
{
    TB_UNROLL
    for (int e = from; e < to; e += adi3d_p_vectored)
        transpose_unpack(*(const transpose_vector *)(factors + parts * e + adi3d_p_vectored * part), f + e);
}

/* A chain of launches, copies and waits on a stream: after a failure nothing more is done. */
typedef struct {
    cudaStream_t stream;
    cudaError_t error;
} adi3d_p_queue;

/* Launches a kernel. */
template <class... parameters>
static inline void adi3d_p_launch(adi3d_p_queue *on, void (*kernel)(parameters...), dim3 grid, dim3 block, size_t bytes,
                                  typename trid_same<parameters>::type... arguments)
{
    if (on->error == cudaSuccess && bytes > 48 * 1024) on->error = trid_allow_shared(kernel);
    if (on->error == cudaSuccess) on->error = trid_launch(kernel, grid, block, bytes, on->stream, arguments...);
}
