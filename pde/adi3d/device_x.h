/* device_x.h - a room of adi3d.h, read once a model and precision: right-hand sides and solves along x on a GPU.
   MIT licence, see LICENSE. */

#define adi3d_p_device_solve_row ADI3D_OF(p_device_solve_row)
#define adi3d_p_device_finish_x ADI3D_OF(p_device_finish_x)
#define adi3d_p_device_any_x ADI3D_OF(p_device_any_x)
#define adi3d_p_group_len ADI3D_OF(p_group_len)
#define adi3d_p_warp_len ADI3D_OF(p_warp_len)
#define adi3d_p_plane_len ADI3D_OF(p_plane_len)
#define adi3d_p_device_lane_of ADI3D_OF(p_device_lane_of)
#define adi3d_p_device_row_of ADI3D_OF(p_device_row_of)
#define adi3d_p_device_face_of ADI3D_OF(p_device_face_of)
#define adi3d_p_device_faces_of ADI3D_OF(p_device_faces_of)
#define adi3d_p_along_x ADI3D_OF(p_along_x)
#define adi3d_p_device_along_x ADI3D_OF(p_device_along_x)
#define adi3d_p_device_steady_x ADI3D_OF(p_device_steady_x)
#define adi3d_p_device_launch_x ADI3D_OF(p_device_launch_x)
#define adi3d_p_device_x_of ADI3D_OF(p_device_x_of)
#define adi3d_p_device_x ADI3D_OF(p_device_x)

/* Solves a line of n rows by `warps` successive warps of the block, `rows` rows a lane.
   Lanes    all threads of the block
   Shared   6 elements a warp; the barrier must have been passed since they were last used */
template <int rows, int warps>
TB_D void adi3d_p_device_solve_row(int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d, tb_real *shared)
{
    if (warps == 1) {
        trid_warp_hybrid(rows, 32, n, a, b, c, d);
        return;
    }
    const int warp = trid_block_thread() / 32, part = warp % warps, first = rows * (32 * part + trid_warp_lane());
    trid_block_hybrid_part(rows, n, 32 * rows * warps, first, warps, part, a, b, c, d, shared + 6 * (warp - part), 6,
                           1);
}

/* Solves along x row (j, k), whose right-hand sides are in d[] of the lane's points from `first` on, and writes it to
   h.d. n is 0 where there is no such row; made is adi3d_p_device_make_faces'. */
template <int rows, int warps>
TB_D void adi3d_p_device_finish_x(const adi3d_p_device &h, const adi3d_p_step &step, int s, int n, int first, int j,
                                  int k, tb_real *d, tb_real *shared, tb_real *made)
{
    enum { wide = 16 / sizeof(tb_real) };
    tb_real a[rows], b[rows], c[rows];
    const int at = adi3d_p_device_at(h, 0, j, k);
    if (n > 0)
        adi3d_p_device_make_faces<0, rows>(
            h, step, first, 0, j, k, (s && step.data.about ? h.z : h.u) + at, 1,
            [&](int m) { return adi3d_p_device_right(h, step, s, m, j, k); }, made);
    tb_real number[3][adi3d_p_most];
    adi3d_p_device_numbers<0>(h, 0, j, k, number);
    adi3d_p_device_rows<0, rows>(step, number, adi3d_p_device_own<0>(h, first), a, b, c);
    if (n > 0) adi3d_p_device_put_faces<0, rows>(h, first, made, a, b, c, d);
    adi3d_p_device_solve_row<rows, warps>(n, a, b, c, d, shared);
    /* Rows are padded to 128 bytes: a vector that begins in one ends in it. */
    TB_UNROLL
    for (int r = 0; r < rows; r += wide)
        if (first + r < n) *(transpose_vector *)(h.d + at + first + r) = transpose_pack(d + r);
}

/* Computes right-hand sides and solves along x, from device memory, in any step. A line has `warps` warps, a block
   `lines` lines of a plane. */
template <int rows, int warps, int lines>
TRID_KERNEL void __launch_bounds__(32 * warps * lines) adi3d_p_device_any_x(
    const __grid_constant__ adi3d_p_device h, const __grid_constant__ adi3d_p_step step, int s)
{
    __shared__ tb_real shared[6 * warps * lines], made[16 * lines];
    const int warp = trid_block_thread() / 32, first = rows * (32 * (warp % warps) + trid_warp_lane());
    const int row = lines * (int)blockIdx.x + warp / warps, valid = row < h.t.n[1], j = valid ? row : 0,
              k = (int)blockIdx.y;
    const int n = valid ? h.t.n[0] : 0;
    tb_real d[rows];
    TB_UNROLL
    for (int r = 0; r < rows; r++) d[r] = first + r < n ? adi3d_p_device_right(h, step, s, first + r, j, k) : 0;
    adi3d_p_device_finish_x<rows, warps>(h, step, s, n, first, j, k, d, shared, made + warp / warps * 16);
}

/* Stores a line of 32 rows warps points in shared memory, as the lanes of `warps` warps read it, 16 bytes (`wide`
   points) at a time, without bank conflicts: of each warp's points the first `wide` of all its lanes, then the next. A
   gap of 8 wide / (rows / wide) follows each group, so that a copy of successive vectors meets different banks, too. */
TB_HD constexpr int adi3d_p_group_len(int rows)
{
    return 32 * ADI3D_P_VECTORED + 8 * ADI3D_P_VECTORED * ADI3D_P_VECTORED / rows;
}
TB_HD constexpr int adi3d_p_warp_len(int rows)
{
    return rows / ADI3D_P_VECTORED * adi3d_p_group_len(rows);
}

/* Returns the elements of a plane: `lines` lines and one on each side. */
TB_HD constexpr int adi3d_p_plane_len(int rows, int warps, int lines)
{
    return (lines + 2) * warps * adi3d_p_warp_len(rows);
}

/* Copies the values of a lane from shared memory. */
template <int rows>
TB_D void adi3d_p_device_lane_of(const tb_real *part, int lane, tb_real *v)
{
    TB_UNROLL
    for (int r = 0; r < rows; r += ADI3D_P_VECTORED)
        transpose_unpack(*(const transpose_vector *)(part + r / ADI3D_P_VECTORED * adi3d_p_group_len(rows) +
                                                     ADI3D_P_VECTORED * lane),
                         v + r);
}

/* Copies the values of a lane and one on each side of them, which at the ends of a row are whatever is finite. */
template <int rows, int warps>
TB_D void adi3d_p_device_row_of(const tb_real *part, int of_row, int lane, tb_real *v)
{
    adi3d_p_device_lane_of<rows>(part, lane, v + 1);
    v[0] = __shfl_up_sync(TB_FULL_WARP, v[rows], 1), v[rows + 1] = __shfl_down_sync(TB_FULL_WARP, v[1], 1);
    if (warps > 1 && lane == 0 && of_row > 0) v[0] = part[32 * ADI3D_P_VECTORED - adi3d_p_group_len(rows) - 1];
    if (warps > 1 && lane == 31 && of_row < warps - 1) v[rows + 1] = part[adi3d_p_warp_len(rows)];
}

/* Returns what the faces of an axis contribute to the base of a stage at a point. */
template <int kind, int axis>
TB_D tb_real adi3d_p_device_face_of(const adi3d_p_device &h, const adi3d_p_step &step, int i, int j, int k)
{
    const tb_real *base = step.data.base[kind ? 1 : 0];
    tb_real sum = base[1] * adi3d_p_device_face<axis, adi3d_p_device_value>(h, h.u, i, j, k, step.time[0], step.from);
    if (kind) sum += base[3] * adi3d_p_device_face<axis, adi3d_p_device_value>(h, h.z, i, j, k, step.time[1], step.to);
    return sum;
}

/* Adds what the faces of all axes contribute to the base of a stage, to out[] of a lane's points. */
template <int kind, int rows>
TB_D void adi3d_p_device_faces_of(const adi3d_p_device &h, const adi3d_p_step &step, int first, int j, int k,
                                  tb_real *out)
{
    const int *n = h.t.n;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int i = side ? n[0] - 1 : 0;
        if (!adi3d_p_adds(&h.problem, 0, side) || i < first || i >= first + rows) continue;
        const tb_real sum = adi3d_p_device_face_of<kind, 0>(h, step, i, j, k);
        TB_UNROLL
        for (int r = 0; r < rows; r++) out[r] += first + r == i ? sum : 0;
    }
    if (j > 0 && j < n[1] - 1 && k > 0 && k < n[2] - 1) return;
    TB_LOOP
    for (int m = 0; m < rows; m++) {
        if (first + m >= n[0]) continue;
        const tb_real sum = adi3d_p_device_face_of<kind, 1>(h, step, first + m, j, k) +
                            adi3d_p_device_face_of<kind, 2>(h, step, first + m, j, k);
        TB_UNROLL
        for (int r = 0; r < rows; r++) out[r] += r == m ? sum : 0;
    }
}

/* The factors of the differences along x at a point, in 16 bytes of single precision: the row of A, and the weights of
   the first derivative. */
typedef struct FD_P_ALIGN {
    tb_real below, above, down, up;
} adi3d_p_along_x;

/* Returns the factors of the differences along x at a point. */
TB_D adi3d_p_along_x adi3d_p_device_along_x(fd_cell cell, adi3d_terms terms, tb_real own)
{
    const fd_row row = adi3d_p_row(0, cell, terms);
    const adi3d_p_along_x x = {own * row.below, own * row.above, cell.below * (1 - cell.w), cell.above * cell.w};
    return x;
}

/* Computes right-hand sides and solves along x in a step in which nothing changes (step.changes). A block has `lines`
   lines of a plane, `warps` warps each, and marches along z with planes in shared memory, the next one prefetched. kind
   0 is a first stage, or the only one. In a second stage F is linear in u and z, so that derivatives are taken once, of
   a sum: u + z in the place of u, and in that of z their difference (kind 1, about z), or what F_1 + F_2 + F_3 are
   applied to (kind 2). */
template <int kind, int rows, int warps, int lines, int resident>
TRID_KERNEL void __launch_bounds__(32 * warps * lines, resident) adi3d_p_device_steady_x(
    const __grid_constant__ adi3d_p_device h, const __grid_constant__ adi3d_p_step step)
{
    enum {
        wide = ADI3D_P_VECTORED,
        threads = 32 * warps * lines,
        of_row = 32 * rows * warps / wide,
        passes = ((lines + 2) * of_row + threads - 1) / threads
    };
    enum {
        plane_len = adi3d_p_plane_len(rows, warps, lines),
        slot_len = (kind ? 2 : 1) * plane_len,
        slots = ADI3D_P_SLOTS,
        number_count = adi3d_model_numbers_of_x,
        line_len = warps * adi3d_p_warp_len(rows),
        /* Whether lines are solved by factors: adi3d_p_along_x is then tabled instead of the cells, which rows need. */
        alone = adi3d_p_independent(0) && warps == 1,
        factor_len = alone ? TRID_WARP_FACTOR_LEN(rows) : 0
    };
    TRID_DYNAMIC_SHARED(memory);
    tb_real *cells = (tb_real *)memory, *numbers = cells + 4 * 32 * rows * warps,
            *factors = numbers + number_count * 32 * rows * warps;
    tb_real *shared = factors + 32 * factor_len;
    const int thread = trid_block_thread(), lane = trid_warp_lane(), warp = thread / 32, part = warp % warps,
              row = warp / warps;
    tb_real *face = shared + 8 * warps * lines + 16 * row, *ring = shared + 24 * warps * lines; /* of the row's ends */
    const trid_copy_place to_ring = trid_copy_place_of(ring);
    const int *n = h.t.n;
    const int first = rows * (32 * part + lane), j0 = lines * (int)blockIdx.x, valid = j0 + row < n[1];
    const int j = valid ? j0 + row : n[1] - 1;
    const int from = n[2] * (int)blockIdx.y / (int)gridDim.y, to = n[2] * ((int)blockIdx.y + 1) / (int)gridDim.y;
    const tb_real *base = step.data.base[kind ? 1 : 0], size = step.data.size, dt = step.data.dt;
    const tb_real mixed = base[0], own = kind == 2 ? 1 : base[1];
    const tb_real *mine = ring + (row + 1) * warps * adi3d_p_warp_len(rows) + part * adi3d_p_warp_len(rows);
    const int adds = adi3d_p_adds(&h.problem, 0, 0) + adi3d_p_adds(&h.problem, 0, 1) + adi3d_p_adds(&h.problem, 1, 0) +
                     adi3d_p_adds(&h.problem, 1, 1) + adi3d_p_adds(&h.problem, 2, 0) + adi3d_p_adds(&h.problem, 2, 1);
    /* Vector q of those that the thread copies: its line of the plane, its place within the line, and in shared memory.
       A pass of the block is some whole lines or a part of one. */
    auto row_of = [&](int q) { return thread / of_row + q * threads / of_row; };
    auto vector_of = [&](int q) { return thread % of_row + q * threads % of_row; };
    auto put = [&](int q) {
        const int v = vector_of(q), in_part = v % (32 * rows / wide);
        return (row_of(q) * warps + v / (32 * rows / wide)) * adi3d_p_warp_len(rows) +
               in_part % (rows / wide) * adi3d_p_group_len(rows) + wide * (in_part / (rows / wide));
    };
    auto is_there = [&](int q) { return row_of(q) < lines + 2 && wide * vector_of(q) < h.pitch; };
    auto fetch = [&](int k, int slot) {
        const int plane = h.plane * (k < 0 ? 0 : k < n[2] ? k : n[2] - 1);
        TB_UNROLL
        for (int q = 0; q < passes; q++) {
            const int y = j0 - 1 + row_of(q), line = y < 0 ? 0 : y < n[1] ? y : n[1] - 1;
            const int at = plane + h.pitch * line + wide * vector_of(q);
            if (!is_there(q) || k > to) continue;
            trid_copy_async(to_ring, (int)sizeof(tb_real) * (slot * slot_len + put(q)), h.u + at);
            if (kind) trid_copy_async(to_ring, (int)sizeof(tb_real) * (slot * slot_len + plane_len + put(q)), h.z + at);
        }
        trid_copy_commit();
    };
    /* Replaces what the thread has copied, u and z, by the two sums. */
    auto combine = [&](int slot) {
        TB_UNROLL
        for (int q = 0; q < passes; q++) {
            transpose_vector *u = (transpose_vector *)(ring + slot * slot_len + put(q)), *z = u + plane_len / wide;
            tb_real a[wide], b[wide];
            if (!is_there(q)) continue;
            transpose_unpack(*u, a), transpose_unpack(*z, b);
            TB_UNROLL
            for (int e = 0; e < wide; e++) {
                const tb_real one = a[e], two = b[e];
                a[e] = one + two, b[e] = kind == 1 ? one - two : base[1] * one + base[3] * two;
            }
            *u = transpose_pack(a), *z = transpose_pack(b);
        }
    };
    for (int e = thread; e < slots * slot_len; e += threads) ring[e] = 0;
    if (alone) adi3d_p_device_fetch_factors<rows, 32>(h.factors[0], factors);
    const int pcr_steps = alone ? h.pcr_steps[0] : 0;
    /* Point rows l + r of lane l of part p: [p][r][l]. */
    for (int e = thread; e < 32 * rows * warps; e += threads) {
        const int i = e / (32 * rows) * 32 * rows + e % 32 * rows + e / 32 % rows, last = i < n[0] ? i : n[0] - 1;
        if (alone)
            ((adi3d_p_along_x *)cells)[e] =
                adi3d_p_device_along_x(h.t.cell[0][last], adi3d_p_terms_at(&h.t, last, 0, 0, step.time[1]), own);
        else
            ((fd_cell *)cells)[e] = h.t.cell[0][last];
        TB_UNROLL
        for (int q = 0; q < number_count; q++)
            numbers[q * 32 * rows * warps + e] = h.t.number[0][q * h.t.padded[0] + last];
    }
    __syncthreads();
    fetch(from - 1, 0);
    const fd_cell cell_y = h.t.cell[1][j];
    const tb_real down_y = cell_y.below * (1 - cell_y.w), up_y = cell_y.above * cell_y.w;
    tb_real number_y[adi3d_p_most], number_k[adi3d_p_most], number_p[adi3d_p_most], now[adi3d_p_most];
    adi3d_p_take(&h.t, 1, j, number_y);
    TB_UNROLL
    for (int q = 0; q < adi3d_p_numbers(3); q++) now[q] = step.time[1][q];
    const fd_cell *cell_x = (const fd_cell *)cells + 32 * rows * part + lane;
    const tb_real *number_x = numbers + 32 * rows * part + lane;
    enum { mixed_y = ((int)adi3d_model_mixed & 4) != 0, mixed_x = ((int)adi3d_model_mixed & 3) != 0 };
    /* Of the plane before: its slopes, and the part of its right-hand sides that it and the one before it determine. */
    tb_real along_y[rows], along_x[rows], half[rows];
    TB_UNROLL
    for (int r = 0; r < rows; r++) along_y[r] = along_x[r] = half[r] = 0;
    TB_LOOP
    for (int p = from - 1, slot = 0; p <= to; p++, slot = slot < slots - 1 ? slot + 1 : 0) {
        const tb_real *here = mine + slot * slot_len, *low = mine + (slot > 0 ? slot - 1 : slots - 1) * slot_len;
        const int k = p - 1, kz = k < 0 ? 0 : k, pz = p < 0 ? 0 : p < n[2] ? p : n[2] - 1;
        /* Completes plane k, which lacks only what it needs of plane p, and begins p. These loads overlap the wait. */
        const fd_cell cell_k = h.t.cell[2][kz], cell_p = h.t.cell[2][pz];
        adi3d_p_take(&h.t, 2, kz, number_k), adi3d_p_take(&h.t, 2, pz, number_p);
        TRID_COPY_AWAIT(0);
        if (kind) combine(slot);
        __syncthreads();
        fetch(p + 1, slot < slots - 1 ? slot + 1 : 0);
        const int at = adi3d_p_device_at(h, first, j, kz);
        if (k >= from) {
            /* Rare contributions come before the code that needs many registers. */
            TB_UNROLL
            for (int r = 0; r < rows && h.extra; r++) half[r] += first + r < n[0] ? dt * h.extra[at + r] : 0;
            if (adds) adi3d_p_device_faces_of<kind, rows>(h, step, first, j, k, half);
            adi3d_p_device_make_faces<0, rows>(
                h, step, first, 0, j, k, (kind == 1 ? h.z : h.u) + at - first, 1,
                [&](int m) { return adi3d_p_device_right(h, step, kind > 0, m, j, k); }, face);
        }
        tb_real v[rows + 2], south[rows + 2], north[rows + 2], before[rows], a[rows], b[rows], c[rows], d[rows];
        adi3d_p_device_row_of<rows, warps>(here, part, lane, v);
        adi3d_p_device_row_of<rows, warps>(here - line_len, part, lane, south);
        adi3d_p_device_row_of<rows, warps>(here + line_len, part, lane, north);
        const tb_real up_k = mixed * (cell_k.above * cell_k.w), down_p = mixed * (cell_p.below * (1 - cell_p.w));
        TB_UNROLL
        for (int r = 0; r < rows; r++) {
            tb_real number[adi3d_p_most];
            TB_UNROLL
            for (int q = 0; q < number_count; q++) number[q] = number_x[(q * rows * warps + r) * 32];
            const adi3d_terms at_k = adi3d_p_terms(number, number_y, number_k, now);
            const adi3d_terms at_p = adi3d_p_terms(number, number_y, number_p, now);
            const adi3d_p_along_x x =
                alone ? ((const adi3d_p_along_x *)cell_x)[32 * r] : adi3d_p_device_along_x(cell_x[32 * r], at_p, own);
            const tb_real *s = at_k.volatility, *t = at_p.volatility;
            tb_real right = half[r], next = 0;
            if (r % wide == 0)
                transpose_unpack(*(const transpose_vector *)(low + r / wide * adi3d_p_group_len(rows) + wide * lane),
                                 before + r);
            if (kind < 2) {
                const tb_real more = v[r + 1] - before[r];
                /* Differences as in adi3d_p_first, so that the compiler computes most of them once. */
                const fd_row row_y = adi3d_p_row(1, cell_y, at_p);
                const fd_row row_p = adi3d_p_row(2, cell_p, at_p);
                right += own * adi3d_p_row(2, cell_k, at_k).above * more;
                next = x.above * (v[r + 2] - v[r + 1]) - x.below * (v[r + 1] - v[r]) +
                       own * row_y.above * (north[r + 1] - v[r + 1]) - own * row_y.below * (v[r + 1] - south[r + 1]) -
                       own * row_p.below * more - own * at_p.kill * v[r + 1];
            }
            if (mixed_y) {
                const tb_real slope = adi3d_p_first(down_y, up_y, south[r + 1], v[r + 1], north[r + 1]);
                const tb_real more = slope - along_y[r];
                right += up_k * at_k.beta[2] * s[2] * s[1] * more;
                next += down_p * at_p.beta[2] * t[2] * t[1] * more;
                along_y[r] = slope;
            }
            if (mixed_x) {
                const tb_real slope = adi3d_p_first(x.down, x.up, v[r], v[r + 1], v[r + 2]);
                if ((int)adi3d_model_mixed & 2) {
                    const tb_real more = slope - along_x[r];
                    right += up_k * at_k.beta[1] * s[2] * (s[0] * more);
                    next += down_p * at_p.beta[1] * t[2] * (t[0] * more);
                }
                if ((int)adi3d_model_mixed & 1)
                    next +=
                        mixed * at_p.beta[0] * t[1] * t[0] *
                        adi3d_p_first(down_y, up_y, adi3d_p_first(x.down, x.up, south[r], south[r + 1], south[r + 2]),
                                      slope, adi3d_p_first(x.down, x.up, north[r], north[r + 1], north[r + 2]));
                along_x[r] = slope;
            }
            d[r] = right, half[r] = next;
            if (!alone) fd_lane_matrix(adi3d_p_row(0, cell_x[32 * r], at_k), size, at_k.kill / 3, &a[r], &b[r], &c[r]);
        }
        if (kind == 2) {
            adi3d_p_device_row_of<rows, warps>(here + plane_len, part, lane, v);
            adi3d_p_device_lane_of<rows>(here + plane_len - line_len, lane, south);
            adi3d_p_device_lane_of<rows>(here + plane_len + line_len, lane, north);
            adi3d_p_device_lane_of<rows>(low + plane_len, lane, before);
            TB_UNROLL
            for (int r = 0; r < rows; r++) {
                tb_real number[adi3d_p_most];
                TB_UNROLL
                for (int q = 0; q < number_count; q++) number[q] = number_x[(q * rows * warps + r) * 32];
                const adi3d_terms at_k = adi3d_p_terms(number, number_y, number_k, now);
                const adi3d_terms at_p = adi3d_p_terms(number, number_y, number_p, now);
                const tb_real more = v[r + 1] - before[r];
                d[r] += adi3d_p_row(2, cell_k, at_k).above * more;
                const adi3d_p_along_x x = alone ? ((const adi3d_p_along_x *)cell_x)[32 * r]
                                                 : adi3d_p_device_along_x(cell_x[32 * r], at_p, own);
                half[r] += x.above * (v[r + 2] - v[r + 1]) - x.below * (v[r + 1] - v[r]) +
                           fd_lane_apply(adi3d_p_row(1, cell_y, at_p), south[r], v[r + 1], north[r]) -
                           adi3d_p_row(2, cell_p, at_p).below * more - at_p.kill * v[r + 1];
            }
        }
        if (k < from) continue;
        if (kind == 1) {
            adi3d_p_device_lane_of<rows>(low + plane_len, lane, before);
            TB_UNROLL
            for (int r = 0; r < rows; r++) d[r] += before[r];
        }
        if (alone) {
            tb_real *const none = 0;
            adi3d_p_device_put_faces<0, rows>(h, first, face, none, none, none, d);
            tb_real f[TRID_WARP_FACTOR_LEN(rows)];
            adi3d_p_device_take_factors<32>(factors, lane, 0, factor_len, f);
            trid_warp_solve(rows, 32, n[0], pcr_steps, f, d);
        } else {
            adi3d_p_device_put_faces<0, rows>(h, first, face, a, b, c, d);
            adi3d_p_device_solve_row<rows, warps>(valid ? n[0] : 0, a, b, c, d, shared);
        }
        /* Rows are padded to 128 bytes: a vector that begins in one ends in it. */
        TB_UNROLL
        for (int r = 0; r < rows; r += wide)
            if (valid && first + r < n[0])
                *(transpose_vector *)(h.d + adi3d_p_device_at(h, first + r, j, k)) = transpose_pack(d + r);
    }
}

/* Launches the marching kernel along x; returns 0 where it needs more shared memory than the device has. As many warps
   as have registers run, in several blocks where lines have one warp: some compute while others wait. */
template <int kind, int warps>
static inline int adi3d_p_device_launch_x(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                          const adi3d_p_step &step)
{
    enum {
        rows = 8,
        more = sizeof(tb_real) == 4 && kind < 2 && warps < 4,
        lines = warps == 1 ? 4 : (more ? 12 : 8) / warps,
        resident = warps > 1                           ? 1
                   : sizeof(tb_real) == 8 || kind == 2 ? 2
                   : kind == 1                         ? 3
                                                       : 4,
        factor_len = adi3d_p_independent(0) && warps == 1 ? 32 * TRID_WARP_FACTOR_LEN(rows) : 0,
        tables = 32 * rows * warps * (4 + (int)adi3d_model_numbers_of_x) + factor_len + 24 * warps * lines
    };
    const size_t bytes =
        sizeof(tb_real) * (tables + ADI3D_P_SLOTS * (kind ? 2 : 1) * adi3d_p_plane_len(rows, warps, lines));
    const int blocks = (h.t.n[1] + lines - 1) / lines, most = h.shared / ((int)bytes + 1024);
    const int pieces = adi3d_p_pieces(h.t.n[2], blocks, (most < resident ? most : resident) * h.processors, 3);
    if (bytes > (size_t)h.shared) return 0;
    if (factor_len > 0 && kind == 0 && h.fresh)
        adi3d_p_launch(error, stream, adi3d_p_device_factor<0, rows, 32>, dim3(1), dim3(32), 0, h, step);
    adi3d_p_launch(error, stream, adi3d_p_device_steady_x<kind, rows, warps, lines, resident>,
                   dim3((unsigned)blocks, (unsigned)pieces), dim3(32 * warps * lines), bytes, h, step);
    return 1;
}

/* Launches right-hand sides and solves along x: by the marching kernel if the step has no changes, else point by point.
   */
template <int warps>
static inline void adi3d_p_device_x_of(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                       const adi3d_p_step &step, int s)
{
    enum { lines = 8 / warps };
    const dim3 blocks((unsigned)((h.t.n[1] + lines - 1) / lines), (unsigned)h.t.n[2]);
    const int done = step.changes      ? 0
                     : s == 0          ? adi3d_p_device_launch_x<0, warps>(error, stream, h, step)
                     : step.data.about ? adi3d_p_device_launch_x<1, warps>(error, stream, h, step)
                                       : adi3d_p_device_launch_x<2, warps>(error, stream, h, step);
    if (!done) adi3d_p_launch(error, stream, adi3d_p_device_any_x<8, warps, lines>, blocks, dim3(256), 0, h, step, s);
}

/* Chooses the warps of a line by its length. */
template <int unused>
static inline void adi3d_p_device_x(cudaError_t *error, cudaStream_t stream, const adi3d_p_device &h,
                                    const adi3d_p_step &step, int s)
{
    h.t.n[0] <= 256   ? adi3d_p_device_x_of<1>(error, stream, h, step, s)
    : h.t.n[0] <= 512 ? adi3d_p_device_x_of<2>(error, stream, h, step, s)
                      : adi3d_p_device_x_of<4>(error, stream, h, step, s);
}
