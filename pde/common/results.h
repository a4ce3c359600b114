/* results.h - a room of the solvers in pde/, read once for each model and precision: writes grids, coordinates and the
   values at spots, and NaN in place of missing results; checks a call's arguments.
   MIT licence, see LICENSE. */

#define fd_p_fill_nan FD_OF(p_fill_nan)
#define fd_p_coordinates FD_OF(p_coordinates)
#define fd_p_values_of FD_OF(p_values_of)
#define fd_p_values_at FD_OF(p_values_at)
#define fd_p_record FD_OF(p_record)
#define fd_p_end FD_OF(p_end)
#define fd_p_host_call FD_OF(p_host_call)
#define fd_p_host_refuse FD_OF(p_host_refuse)

/* Copies the points of problem `which` to the batch's coordinates, with NaN after the last; if t is null, only NaN. */
TB_HD void fd_p_coordinates(const fd_batch *batch, const fd_p_tables *t, int which, int thread, int threads)
{
    for (int d = 0; d < FD_FACTORS; d++)
        for (int i = thread; i < batch->points[d] && batch->coordinates[d]; i += threads)
            batch->coordinates[d][(size_t)which * (size_t)batch->points[d] + (size_t)i] =
                t && i < t->found->points[d] ? t->x[d][i] : fd_p_nan_f64();
}

/* Fills this thread's share of the values, grids and coordinates of problem `which` with NaN. */
TB_HD void fd_p_fill_nan(const fd_batch *batch, int which, int thread, int threads)
{
    const double nan = fd_p_nan_f64();
    const fd_values none = {nan, {nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}};
    const size_t times = (size_t)(1 + batch->dates), values = times * (size_t)batch->spots;
    const size_t grids = times * (size_t)fd_p_count(batch->points);
    for (size_t at = (size_t)thread; at < values && batch->values; at += (size_t)threads)
        batch->values[(size_t)which * values + at] = none;
    for (size_t at = (size_t)thread; at < grids && batch->grid; at += (size_t)threads)
        ((tb_real *)batch->grid)[(size_t)which * grids + at] = (tb_real)nan;
    fd_p_coordinates(batch, NULL, which, thread, threads);
}

/* Returns the value and its derivatives at a spot, from the values at the points around the spot. The first of these
   values is *u; neighbours along axis d are stride[d] apart. */
FD_P_CALLED fd_values fd_p_values_of(const fd_weights *at, const tb_real *u, const long long *stride)
{
    fd_values of = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const double *weight[3];
    for (int d = 0; d < FD_FACTORS; d++) weight[d] = at[d].value;
    of.value = fd_lane_value(FD_FACTORS, weight, u, stride);
    TB_LOOP
    for (int d = 0; d < FD_FACTORS; d++) {
        weight[d] = at[d].curvature;
        of.second[d] = fd_lane_value(FD_FACTORS, weight, u, stride);
        weight[d] = at[d].slope;
        of.first[d] = fd_lane_value(FD_FACTORS, weight, u, stride);
        TB_LOOP
        for (int e = d + 1; e < FD_FACTORS; e++) {
            weight[e] = at[e].slope;
            of.mixed[d + e - 1] = fd_lane_value(FD_FACTORS, weight, u, stride);
            weight[e] = at[e].value;
        }
        weight[d] = at[d].value;
    }
    return of;
}

/* Returns the value and its derivatives at a spot, from the values of the whole grid. */
FD_P_CALLED fd_values fd_p_values_at(const fd_p_tables *t, int spot, const tb_real *u, const long long *stride)
{
    const fd_weights *at = t->around + spot * FD_FACTORS;
    for (int d = 0; d < FD_FACTORS; d++) u += at[d].first * stride[d];
    return fd_p_values_of(at, u, stride);
}

/* Writes the results of problem `which` at `time`, 0 for today or 1 + date: values at spots, and the grid. Neighbours
   along axis d are stride[d] apart in u (1 along x). Threads share the spots and the points. */
TB_HD void fd_p_record(const fd_batch *batch, const fd_p_tables *t, int which, int time, const tb_real *u,
                       const long long *stride, int thread, int threads)
{
    const size_t at = (size_t)which * (size_t)(1 + batch->dates) + (size_t)time;
    const int all = fd_p_count(batch->points), row = batch->points[0], lines = all / row;
    const int lanes = FD_FACTORS == 1 ? threads : fd_p_lanes(lines, threads);
    for (int s = thread; s < batch->spots; s += threads)
        batch->values[at * (size_t)batch->spots + (size_t)s] = fd_p_values_at(t, s, u, stride);
    for (int line = thread / lanes; line < lines && batch->grid; line += threads / lanes) {
        tb_real *to = (tb_real *)batch->grid + at * (size_t)all + (size_t)line * (size_t)row;
        const tb_real *from = u;
        int index[3], points = t->found->points[0];
        fd_p_index(batch->points, line * row, index);
        for (int d = 1; d < FD_FACTORS; d++) {
            from += index[d] * stride[d];
            if (index[d] >= t->found->points[d]) points = 0;
        }
        for (int i = thread % lanes; i < row; i += lanes) to[i] = i < points ? from[i] : fd_p_nan();
    }
}

/* Ends problem `which`: writes its status and its results at time 0, as fd_p_record does, or NaN. */
TB_HD void fd_p_end(const fd_batch *batch, const fd_p_tables *t, int which, fd_status status, const tb_real *u,
                    const long long *stride, int thread, int threads)
{
    status.not_dominant = t->found->not_dominant;
    if (status.what)
        fd_p_fill_nan(batch, which, thread, threads);
    else
        fd_p_record(batch, t, which, 0, u, stride, thread, threads);
    if (thread == 0) batch->status[which] = status; /* written first, it would take registers from fd1d.h's march */
}

#if TB_HOST_SCOPE

/* Checks a call that has `workers` workers and `problems` problems, and needs `need` bytes of memory. Returns its
   status. */
TB_HOST int fd_p_host_call(const fd_batch *batch, const fd_model_parameters *parameters, int problems, int workers,
                           const void *memory, size_t bytes, size_t need)
{
    const int wrong = fd_batch_check(FD_FACTORS, batch);
    if (wrong || workers < 1) return wrong ? wrong : FD_BAD_SIZE;
    if (problems > 0 && (!parameters || !memory || fd_p_misaligned(memory))) return FD_BAD_ARGUMENT;
    return problems > 0 && bytes < need ? FD_NO_ROOM : FD_OK;
}

/* Fills the results of problems `from` .. `to` - 1 of a call that is refused: their statuses and, if the sizes of the
   results are valid, NaN elsewhere. Returns the status. */
TB_HOST int fd_p_host_refuse(const fd_batch *batch, int from, int to, int wrong)
{
    fd_status status = fd_p_status(wrong, 0);
    if (wrong == FD_BAD_SIZE) status.axis = fd_p_axis_refused(FD_FACTORS, batch);
    for (int which = from; which < to && batch->status; which++) batch->status[which] = status;
    for (int which = from; which < to && fd_p_results_sized(FD_FACTORS, batch); which++)
        fd_p_fill_nan(batch, which, 0, 1);
    return wrong;
}

#endif

#if TB_LAUNCHES

/* Fills the results of a call that is refused or, if their sizes are not valid, only the statuses. Sets all bits, which
   makes a status FD_BAD_ARGUMENT and all other results NaN. */
template <int unused = 0>
static void fd_p_refuse(const fd_batch *batch, cudaStream_t stream)
{
    if (!batch || batch->problems < 1) return;
    const int sized = fd_p_results_sized(FD_FACTORS, batch);
    const size_t problems = (size_t)batch->problems, times = (size_t)(1 + batch->dates);
    const size_t all = sized ? (size_t)fd_p_count(batch->points) : 0;
    void *at[3 + FD_FACTORS] = {batch->status, batch->values, batch->grid};
    size_t bytes[3 + FD_FACTORS] = {sizeof(fd_status), times * (size_t)batch->spots * sizeof(fd_values),
                                    times * all * sizeof(tb_real)};
    for (int d = 0; d < FD_FACTORS; d++)
        at[3 + d] = batch->coordinates[d], bytes[3 + d] = (size_t)batch->points[d] * sizeof(double);
    for (int q = 0; q < (sized ? 3 + FD_FACTORS : 1); q++)
        if (at[q] && cudaMemsetAsync(at[q], 255, problems * bytes[q], stream) != cudaSuccess)
            cudaGetLastError(); /* the pointer is not to device memory: hide this error from later calls */
}

/* Returns the status of a GPU call that needs `need` bytes of device memory: FD_OK; a status of fd_batch_check;
   FD_BAD_ARGUMENT for a null pointer or misaligned memory; FD_NO_ROOM for fewer bytes. If the call is refused, fills
   its results (fd_p_refuse). */
template <int unused = 0>
static int fd_p_device_call(const fd_batch *batch, const fd_model_parameters *parameters, const void *memory,
                            size_t bytes, size_t need, cudaStream_t stream)
{
    int wrong = fd_batch_check(FD_FACTORS, batch);
    if (!wrong && batch->problems > 0) {
        if (!parameters || !memory || (size_t)memory % 128 != 0)
            wrong = FD_BAD_ARGUMENT;
        else if (bytes < need)
            wrong = FD_NO_ROOM;
    }
    if (wrong) fd_p_refuse(batch, stream);
    return wrong;
}

#endif
