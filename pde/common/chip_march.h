/* chip_march.h - a room of adi2d.h and adi3d.h, read once for each model and precision: the march on chip, from step to
   step, and the work after each step.
   MIT licence, see LICENSE. */

/* Computes the indices of the block's point number `at`. Returns the point's position in an array. */
TB_D int fd_p_chip_index(const fd_p_chip &h, int at, int *index)
{
    const int i = at % h.n[0], own = at / h.n[0], row = h.row_first + own;
    index[0] = i, index[1] = FD_FACTORS > 2 ? row % h.n[1] : row, index[2] = FD_FACTORS > 2 ? row / h.n[1] : -1;
    return fd_p_chip_slot(i) + own * h.pitch;
}

/* Returns the address of the value at the block's point number `at`. */
TB_D tb_real *fd_p_chip_point(const fd_p_chip &h, unsigned char *memory, int at)
{
    return (tb_real *)(memory + h.u) + fd_p_chip_at(h, at);
}

/* Returns the sum of the terms that faces add to F(v) at point (i, j, k), at the step's start (end 0) or end (1). v
   stands for the values in `array`. */
FD_P_CALLED_D tb_real fd_p_chip_faces(const fd_p_chip &h, int array, int end, int i, int j, int k)
{
    const int index[3] = {i, j, k};
    return fd_p_faces_add(h, fd_p_chip_step(h, h.memory), end, array, index);
}

/* Copies step k from device memory to shared memory. */
TB_D void fd_p_chip_fetch_step(const fd_p_chip &h, unsigned char *memory, int k)
{
    const int words = (int)(sizeof(fd_p_step) / sizeof(int));
    for (int q = trid_block_thread(); q < words; q += trid_block_threads())
        ((int *)(memory + h.step))[q] = ((const int *)&h.t.step[k])[q];
    __syncthreads();
}

/* Applies early exercise to the block's values after a step. */
FD_P_CALLED_D void fd_p_chip_exercise(const fd_p_chip &h, unsigned char *memory)
{
    const fd_p_step &step = fd_p_chip_step(h, memory);
    const int kind = h.t.problem->exercise, first = h.n[0] * h.row_first;
    for (int at = trid_block_thread(); at < h.n[0] * h.rows; at += trid_block_threads()) {
        int index[3];
        tb_real *u = (tb_real *)(memory + h.u) + fd_p_chip_index(h, at, index);
        tb_real more = h.extra ? h.extra[first + at] : 0;
        *u = fd_lane_exercise(kind, step.data.dt, fd_p_pays(&h.t, index, step.to, h.t.final[first + at]), *u, &more);
        if (h.extra) h.extra[first + at] = more;
    }
}

/* Writes the results at `time`, 0 for today or 1 + a date. Each block writes its part of the batch's grid; the last
   block also writes the NaN after the problem's last row. The first block writes the values at spots. */
FD_P_CALLED_D void fd_p_chip_record(const fd_p_chip &h, unsigned char *memory, int time)
{
    enum { last_axis = FD_FACTORS - 1, points = FD_FACTORS > 2 ? 64 : 16 };
    const fd_batch *batch = &h.batch;
    const size_t result = (size_t)h.which * (size_t)(1 + batch->dates) + (size_t)time;
    const int threads = trid_block_threads();
    const long long stride[3] = {1, 4, 16};
    for (int s = trid_block_thread(); s < batch->spots && h.rank == 0; s += threads) {
        const fd_weights *of = h.t.around + FD_FACTORS * s;
        tb_real around[points];
        for (int m = 0; m < points; m++) {
            const int j = of[1].first + m / 4 % 4, k = FD_FACTORS > 2 ? of[last_axis].first + m / 16 : 0;
            around[m] = fd_p_chip_value(h, memory, h.u, of[0].first + m % 4, j + h.n[1] * k);
        }
        batch->values[result * (size_t)batch->spots + (size_t)s] = fd_p_values_of(of, around, stride);
    }
    if (!batch->grid) return;
    tb_real *grid = (tb_real *)batch->grid + result * (size_t)fd_p_count(batch->points);
    /* Each point of the last axis has `slice` rows in the problem's grid and `room` rows in the batch's. */
    const int slice = FD_FACTORS > 2 ? h.n[1] : 1, room = FD_FACTORS > 2 ? batch->points[1] : 1, row = batch->points[0];
    const int first = h.row_first / slice, end = first + h.rows / slice;
    const int last = h.rank == h.size - 1, to = last ? batch->points[last_axis] : end;
    for (int e = row * room * first + trid_block_thread(); e < row * room * to; e += threads) {
        const int i = e % row, j = e / row % room, k = e / row / room;
        const int own = i + h.n[0] * (j + slice * (k - first)), is_there = i < h.n[0] && j < slice && k < end;
        grid[e] = is_there ? *fd_p_chip_point(h, memory, own) : fd_p_nan();
    }
}

/* Applies the events at a date, except FD_RECORD, to the block's rows. The new values wait in device memory until no
   block reads the old ones. */
FD_P_CALLED_D void fd_p_chip_date(fd_p_chip &h, unsigned char *memory)
{
    const fd_p_step &step = fd_p_chip_step(h, memory);
    const fd_date *event = fd_p_event(h.t.problem, step.data.date);
    const int first = h.n[0] * h.row_first, threads = trid_block_threads();
    int added = 0;
    for (int at = trid_block_thread(); at < h.n[0] * h.rows; at += threads) {
        int index[3];
        fd_weights from;
        tb_real value = *fd_p_chip_point(h, memory, at), four[4], none = 0;
        fd_p_index(h.n, first + at, index);
        const int axis = fd_p_shift_of(&h.t, event, index, &from);
        for (int m = 0; m < 4 && axis >= 0; m++) {
            const int i = axis == 0 ? from.first + m : index[0], j = axis == 1 ? from.first + m : index[1];
            const int k = axis == 2 ? from.first + m : index[2], row = FD_FACTORS > 2 ? j + h.n[1] * k : j;
            four[m] = fd_p_chip_value(h, memory, h.u, i, row);
        }
        if (axis >= 0) value = fd_p_interpolated(&from, value, four);
        h.of[first + at] = fd_p_changed(&h.t, step.data.date, step.to, index, value, h.t.final[first + at],
                                        h.extra ? &h.extra[first + at] : &none, &added);
    }
    if (added) fd_p_most(&h.given, added);
    fd_p_chip_sync(h.size);
    for (int at = trid_block_thread(); at < h.n[0] * h.rows; at += threads)
        *fd_p_chip_point(h, memory, at) = h.of[first + at];
}

/* Returns the first point of the grid whose value is not finite, or FD_P_NONE. With `terms`, returns instead the first
   point whose terms are not finite at the step's start or end. Leaves the largest magnitude of the thread's values in
   *largest. */
FD_P_CALLED_D int fd_p_chip_lost(const fd_p_chip &h, unsigned char *memory, int terms, int *least, int *largest)
{
    const fd_p_step &step = fd_p_chip_step(h, memory);
    const int first = h.n[0] * h.row_first;
    int lost = FD_P_NONE, most = 0;
    for (int at = trid_block_thread(); at < h.n[0] * h.rows && lost == FD_P_NONE; at += trid_block_threads()) {
        int index[3];
        const tb_real value = ((const tb_real *)(memory + h.u))[fd_p_chip_index(h, at, index)];
        int good = terms ? 1 : trid_finite(value);
        for (int end = 0; end < 2 && terms; end++)
            good &= fd_p_terms_finite(fd_p_terms_here(&h.t, index, step.time[end]));
        if (!good) lost = first + at;
        most = fd_p_larger(most, (double)value);
    }
    *largest = most;
    return fd_p_chip_least(h.size, lost, least);
}

/* Returns the status of a march that has ended, from the largest magnitudes of all threads. */
FD_P_CALLED_D fd_status fd_p_chip_ended(const fd_p_chip &h, int largest, int *least)
{
    fd_status status = fd_p_status(FD_OK, 0);
    const int given = -fd_p_chip_least(h.size, -h.given, least);
    fd_p_grown(&status, given, -fd_p_chip_least(h.size, -largest, least));
    return status;
}

/* Marches the problem. make() takes a step, after which the whole cluster can read the new values. If `watched` is set,
   checks before each step that its terms are finite, and after it that the values are; otherwise checks only the values
   at the end. Returns the status. */
template <class make_type>
TB_D fd_status fd_p_chip_march(fd_p_chip &h, unsigned char *memory, int watched, int *least, make_type make)
{
    const int first = h.n[0] * h.row_first, steps = h.t.found->steps;
    int lost = FD_P_NONE, largest = 0;
    if (trid_block_thread() == 0) h.given = h.t.found->given;
    for (int at = trid_block_thread(); at < h.n[0] * h.rows; at += trid_block_threads()) {
        *fd_p_chip_point(h, memory, at) = h.t.final[first + at];
        if (h.extra) h.extra[first + at] = 0;
    }
    fd_p_chip_sync(h.size);
    TB_LOOP
    for (int k = 0; k < steps; k++) {
        fd_p_chip_fetch_step(h, memory, k);
        if (watched && (lost = fd_p_chip_lost(h, memory, 1, least, &largest)) != FD_P_NONE)
            return fd_p_status_at(FD_MODEL_NAN, h.n, lost, k);
        const int date = fd_p_chip_step(h, memory).data.date; /* read before another thread can fetch the next step */
        const fd_date *event = fd_p_event(h.t.problem, date);
        make();
        if (h.t.problem->exercise != FD_EUROPEAN) {
            fd_p_chip_exercise(h, memory);
            fd_p_chip_sync(h.size);
        }
        if (event && event->what != FD_RECORD) {
            fd_p_chip_date(h, memory);
            fd_p_chip_sync(h.size);
        }
        if (event && (event->what & FD_RECORD)) {
            fd_p_chip_record(h, memory, 1 + date);
            fd_p_chip_sync(h.size);
        }
        if ((watched || k == steps - 1) && (lost = fd_p_chip_lost(h, memory, 0, least, &largest)) != FD_P_NONE)
            return fd_p_status_at(FD_NOT_SOLVED, h.n, lost, k);
    }
    return fd_p_chip_ended(h, largest, least);
}

/* Solves a prepared problem with march(watched), and writes its results. A march that ends in a number that is not
   finite is repeated with `watched` set, so that its status names the step. */
template <class march_type>
TB_D void fd_p_chip_problem(const fd_p_chip &h, unsigned char *memory, march_type march)
{
    fd_status status = h.t.found->status;
    TB_LOOP
    for (int watched = 0; watched < 2 && !h.t.found->status.what; watched++) {
        status = march(watched);
        if (!status.what || status.what == FD_GREW) break;
        fd_p_chip_sync(h.size);
    }
    status.not_dominant = h.t.found->not_dominant;
    if (!status.what)
        fd_p_chip_record(h, memory, 0);
    else if (h.rank == 0)
        fd_p_fill_nan(&h.batch, h.which, trid_block_thread(), trid_block_threads());
    if (h.rank == 0 && trid_block_thread() == 0) h.batch.status[h.which] = status;
    fd_p_chip_sync(h.size); /* no block may end while another reads its memory */
}
