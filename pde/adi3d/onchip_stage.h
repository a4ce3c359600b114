/* onchip_stage.h - a room of adi3d.h, read once a model and precision: a time step in the shared memory of a cluster.
   MIT licence, see LICENSE. */

#define adi3d_p_chip ADI3D_OF(p_chip)
#define adi3d_p_chip_value ADI3D_OF(p_chip_value)
#define adi3d_p_chip_lay_out ADI3D_OF(p_chip_lay_out)
#define adi3d_p_chip_faces ADI3D_OF(p_chip_faces)
#define adi3d_p_chip_change ADI3D_OF(p_chip_change)
#define adi3d_p_chip_five ADI3D_OF(p_chip_five)
#define adi3d_p_chip_right ADI3D_OF(p_chip_right)
#define adi3d_p_chip_at ADI3D_OF(p_chip_at)
#define adi3d_p_chip_fetch_right ADI3D_OF(p_chip_fetch_right)
#define adi3d_p_chip_changes ADI3D_OF(p_chip_changes)
#define adi3d_p_chip_row ADI3D_OF(p_chip_row)
#define adi3d_p_chip_face_row ADI3D_OF(p_chip_face_row)
#define adi3d_p_chip_each ADI3D_OF(p_chip_each)
#define adi3d_p_chip_lines ADI3D_OF(p_chip_lines)
#define adi3d_p_chip_fetch_step ADI3D_OF(p_chip_fetch_step)
#define adi3d_p_chip_exercise ADI3D_OF(p_chip_exercise)
#define adi3d_p_chip_step ADI3D_OF(p_chip_step)

/* A problem is in the shared memory of a block, or of the blocks of a cluster, each of which has some planes of equal
   z: two arrays, values and differences. A first stage's values replace its differences. The differences of a second
   stage replace the values, where it is about the first stage's, and else those, once no right-hand side needs them any
   more. What a second stage needs of F(u) is computed in the first, from the same neighbours, and waits in device
   memory, which the second-level cache holds.

   A line has two lanes, 16 apart: one eliminates from its first point on, the other from its last; they exchange a row
   in the middle and substitute back. So each begins with a boundary row, and has half of the line's eliminated rows in
   registers. Lines along z are in several blocks' memories: a block solves its share of them through the others'
   (trid_cluster_load).

   A row has an odd pitch: lanes at neighbouring rows have no bank conflicts, as those at neighbouring points of a row.
   docs/adi3d.md counts. */

/* What happens rarely stays out of the march, as a call of its own. */
#ifdef __CUDACC__
#define ADI3D_P_RARE static __device__ __noinline__
#else
#define ADI3D_P_RARE TB_D
#endif

/* What a block knows of its problem, in its shared memory. An array is given by where it begins in the dynamic shared
   memory, in bytes from `memory`, so that the compiler sees that it is there; point (i, j, first + k) is at
   i + pitch j + plane k. */
typedef struct {
    adi3d_p_tables t; /* cells and numbers in shared memory */
    adi3d_problem problem;
    const adi3d_model_parameters *parameters;
    unsigned char *memory;
    tb_real *final, *extra, *of;    /* as adi3d_p_ready; extra null without a multiplier */
    int rank, size;                 /* of the cluster */
    int each, first, planes, share; /* planes of each block; this one's; lines along z of each block */
    int pitch, plane;
    int adds;               /* whether any face contributes to F */
    int given;              /* the plan's, and what changes at dates raise it to in the block's planes */
    int u, z;               /* the values; and the differences from them, later a first stage's values */
    int cell[3], number[3]; /* of the axes: number q of point i at [q n + i] */
    int places, step;       /* where each plane begins, of the first array; the step */
} adi3d_p_chip;

/* Lays out a block's dynamic shared memory. Returns bytes. */
TB_HD int adi3d_p_chip_lay_out(const int *n, int size, adi3d_p_chip *chip)
{
    size_t used = 0;
    chip->size = size, chip->each = (n[2] + size - 1) / size, chip->share = (n[0] * n[1] + size - 1) / size;
    chip->pitch = n[0] | 1, chip->plane = chip->pitch * n[1];
    const size_t array = ((size_t)(chip->each * chip->plane) * sizeof(tb_real) + 15) / 16 * 16;
    chip->u = (int)used, used += array;
    chip->z = (int)used, used += array;
    for (int d = 0; d < 3; d++) {
        chip->cell[d] = (int)used, used += (size_t)n[d] * sizeof(fd_cell);
        chip->number[d] = (int)used;
        used += ((size_t)(n[d] * adi3d_p_numbers(d)) * sizeof(tb_real) + 15) / 16 * 16;
    }
    chip->places = (int)used, used += ((size_t)n[2] * sizeof(trid_cluster_place) + 15) / 16 * 16;
    chip->step = (int)used, used += (sizeof(adi3d_p_step) + 15) / 16 * 16;
    return (int)used;
}

/* Returns the value of an array at a point, which may be in another block. */
TB_D tb_real adi3d_p_chip_value(const adi3d_p_chip &h, int array, int i, int j, int k)
{
    const int owner = k / h.each, at = i + h.pitch * j + h.plane * (k - owner * h.each);
    return trid_cluster_load(trid_cluster_map(h.memory + array, owner) + at * (int)sizeof(tb_real));
}

/* Returns what the faces contribute to F of an array at point (i, j, k), at a step's start (0) or end (1). */
ADI3D_P_RARE tb_real adi3d_p_chip_faces(const adi3d_p_chip &h, int array, int end, int i, int j, int k)
{
    const adi3d_p_step &step = *(const adi3d_p_step *)(h.memory + h.step);
    const double when = end ? step.to : step.from;
    return adi3d_p_device_face<0, adi3d_p_chip_value>(h, array, i, j, k, step.time[end], when) +
           adi3d_p_device_face<1, adi3d_p_chip_value>(h, array, i, j, k, step.time[end], when) +
           adi3d_p_device_face<2, adi3d_p_chip_value>(h, array, i, j, k, step.time[end], when);
}

/* Returns what a step whose coefficients change adds to the solve along an axis. */
template <int axis>
ADI3D_P_RARE tb_real adi3d_p_chip_change(const adi3d_p_chip &h, int i, int j, int k)
{
    return adi3d_p_device_change<axis, adi3d_p_chip_value>(h, *(const adi3d_p_step *)(h.memory + h.step), i, j, k);
}

/* Loads five values of plane k, which may be another block's: one at `at` of its plane, and its neighbours before and
   after it along y, and along x, to which `to` leads. */
TB_D void adi3d_p_chip_five(const adi3d_p_chip &h, unsigned char *memory, int array, int k, int at, const int *to,
                            tb_real *five)
{
    const int row = (int)sizeof(tb_real), offset[5] = {to[0], to[1], 0, to[2], to[3]};
    const trid_cluster_place v = ((const trid_cluster_place *)(memory + h.places))[k] + array + at * row;
    TB_UNROLL
    for (int m = 0; m < 5; m++) five[m] = trid_cluster_load(v + offset[m] * row);
}

/* Computes the right-hand side of a first or a second stage at the block's points: of a second one that is not about
   the first one's values to `of`, else to where its differences are. A thread takes columns along z, and reads of each
   plane the five points around its own once, and its four neighbours across. */
template <int second>
TB_D void adi3d_p_chip_right(const adi3d_p_chip &h, unsigned char *memory)
{
    const adi3d_p_step &step = *(const adi3d_p_step *)(memory + h.step);
    const int n0 = h.t.n[0], n1 = h.t.n[1], n2 = h.t.n[2], pitch = h.pitch, plane = h.plane, first = h.first;
    const int planes = h.planes, adds = h.adds, about = step.data.about, twice = step.data.stages > 1;
    const int changes = step.changes, source = second ? h.z : h.u;
    const tb_real *base = step.data.base[second], mixed = base[second ? 2 : 0], own = base[second ? 3 : 1];
    const tb_real mixed_again = step.data.base[1][0], own_again = step.data.base[1][1], dt = step.data.dt;
    const tb_real *v = (const tb_real *)(memory + source), *extra = h.extra;
    const tb_real *number = (const tb_real *)(memory + h.number[2]);
    const fd_cell *cells = (const fd_cell *)(memory + h.cell[2]);
    tb_real *d = (tb_real *)(memory + (second ? h.u : h.z)), *of = h.of, now[adi3d_p_most];
    TB_UNROLL
    for (int q = 0; q < adi3d_p_numbers(3); q++) now[q] = step.time[second][q];
    TB_LOOP
    for (int e = trid_block_thread(); e < n0 * n1 && planes > 0; e += trid_block_threads()) {
        const int i = e % n0, j = e / n0, at = i + pitch * j;
        const int at_face = adds && (i == 0 || i == n0 - 1 || j == 0 || j == n1 - 1);
        const int to[4] = {j > 0 ? -pitch : 0, i > 0 ? -1 : 0, i < n0 - 1 ? 1 : 0, j < n1 - 1 ? pitch : 0};
        const tb_real *of_row[3] = {v + at + to[0], v + at, v + at + to[3]};
        fd_cell cell[3];
        tb_real x[adi3d_p_most], y[adi3d_p_most], z[adi3d_p_most], low[5], here[5], high[5];
        cell[0] = ((const fd_cell *)(memory + h.cell[0]))[i];
        cell[1] = ((const fd_cell *)(memory + h.cell[1]))[j];
        TB_UNROLL
        for (int q = 0; q < adi3d_p_numbers(0); q++) x[q] = ((const tb_real *)(memory + h.number[0]))[q * n0 + i];
        TB_UNROLL
        for (int q = 0; q < adi3d_p_numbers(1); q++) y[q] = ((const tb_real *)(memory + h.number[1]))[q * n1 + j];
        adi3d_p_chip_five(h, memory, source, first > 0 ? first - 1 : 0, at, to, low);
        adi3d_p_chip_five(h, memory, source, first, at, to, here);
        TB_LOOP
        for (int local = 0, index = e + n0 * n1 * first; local < planes; local++, index += n0 * n1) {
            const int k = first + local;
            tb_real begun = second ? of[index] : 0;
            if (local < planes - 1) {
                high[0] = of_row[0][plane], high[1] = of_row[1][plane + to[1]], high[2] = of_row[1][plane];
                high[3] = of_row[1][plane + to[2]], high[4] = of_row[2][plane];
            } else
                adi3d_p_chip_five(h, memory, source, k < n2 - 1 ? k + 1 : k, at, to, high);
            const tb_real around[27] = {0,       low[0],  0,       low[1],           low[2],  low[3],
                                        0,       low[4],  0,       of_row[0][to[1]], here[0], of_row[0][to[2]],
                                        here[1], here[2], here[3], of_row[2][to[1]], here[4], of_row[2][to[2]],
                                        0,       high[0], 0,       high[1],          high[2], high[3],
                                        0,       high[4], 0};
            cell[2] = cells[k];
            TB_UNROLL
            for (int q = 0; q < adi3d_p_numbers(2); q++) z[q] = number[q * n2 + k];
            const adi3d_terms terms = adi3d_p_terms(x, y, z, now);
            tb_real right = adi3d_p_apply(cell, &terms, mixed, own, around);
            if (!second && twice) begun = adi3d_p_apply(cell, &terms, mixed_again, own_again, around);
            if (at_face || (adds && (k == 0 || k == n2 - 1))) {
                const tb_real faces = adi3d_p_chip_faces(h, source, second, i, j, k);
                right += own * faces, begun += second ? 0 : own_again * faces;
            }
            tb_real *put = d + at + plane * local;
            if (second && about)
                *put = right + begun + (*put - here[2]);
            else if (second)
                of[index] = right + begun;
            else {
                if (extra) right += dt * extra[index], begun += dt * extra[index];
                if (changes) {
                    const tb_real more = adi3d_p_chip_change<0>(h, i, j, k);
                    right += more, begun += about ? 0 : more;
                }
                *put = right;
                if (twice) of[index] = begun;
            }
            TB_UNROLL
            for (int m = 0; m < 5; m++) low[m] = here[m], here[m] = high[m];
            TB_UNROLL
            for (int m = 0; m < 3; m++) of_row[m] += plane;
        }
    }
}

/* Returns the element in an array of the block's point number `at`, counted along rows; in grids without gaps it is at
   + n_0 n_1 first. */
TB_D int adi3d_p_chip_at(const adi3d_p_chip &h, int at)
{
    return at % h.t.n[0] + at / h.t.n[0] * h.pitch; /* planes follow each other as rows do */
}

/* Copies the right-hand sides that a second stage has left in `of`, to the differences' place. */
TB_D void adi3d_p_chip_fetch_right(const adi3d_p_chip &h, unsigned char *memory)
{
    const int plane = h.t.n[0] * h.t.n[1];
    tb_real *d = (tb_real *)(memory + h.z);
    for (int e = trid_block_thread(); e < plane;
         e += trid_block_threads()) /* each point by the thread that computed it */
        for (int local = 0; local < h.planes; local++)
            d[adi3d_p_chip_at(h, e) + h.plane * local] = h.of[e + plane * (h.first + local)];
}

/* Adds what a step whose coefficients change adds to the right-hand sides of the lines along an axis. */
template <int axis>
ADI3D_P_RARE void adi3d_p_chip_changes(const adi3d_p_chip &h, unsigned char *memory)
{
    const int n0 = h.t.n[0], n1 = h.t.n[1];
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes; at += trid_block_threads()) {
        const int i = at % n0, j = at / n0 % n1, k = at / n0 / n1;
        if (axis == 2 && adi3d_p_given(&h.problem, 1, j)) continue;
        ((tb_real *)(memory + h.z))[adi3d_p_chip_at(h, at)] += adi3d_p_chip_change<axis>(h, i, j, h.first + k);
    }
}

/* A boundary row, and its right-hand side. */
typedef struct {
    tb_real a, b, c, d;
} adi3d_p_chip_row;

/* Returns the boundary row of a face whose value is given or which has a third unknown, at point (i, j, k) of it. The
   line's differences are in one array, what they are the difference from in the other. */
template <int axis>
ADI3D_P_RARE adi3d_p_chip_row adi3d_p_chip_face_row(const adi3d_p_chip &h, int side, int i, int j, int k,
                                                    int differences, int w)
{
    const adi3d_p_step &step = *(const adi3d_p_step *)(h.memory + h.step);
    const int in = side ? -1 : 1, x = axis == 0 ? in : 0, y = axis == 1 ? in : 0, z = axis == 2 ? in : 0;
    const double at[3] = {h.t.x[0][i], h.t.x[1][j], h.t.x[2][k]};
    tb_real row[3], right = adi3d_p_chip_value(h, differences, i, j, k);
    adi3d_p_face_row(
        &h.problem, h.parameters, &h.t, axis, side, at, step.to, step.data.size,
        adi3d_p_terms_at(&h.t, i, j, k, step.time[1]), adi3d_p_terms_at(&h.t, i + x, j + y, k + z, step.time[1]),
        adi3d_p_chip_value(h, differences, i + x, j + y, k + z), adi3d_p_chip_value(h, w, i, j, k), row, &right);
    const adi3d_p_chip_row made = {row[0], row[1], row[2], right};
    return made;
}

/* Calls row(q) for the rows q < count of a lane's `half`, four at a time without a test in between, so that their
   instructions mix. */
template <int half, class row_type>
TB_D void adi3d_p_chip_each(int count, int up, row_type row)
{
    TB_UNROLL
    for (int p = 0; p < half; p += 4) {
        const int q = up ? p : half - 4 - p;
        if (q + 4 <= count) {
            TB_UNROLL
            for (int m = 0; m < 4; m++) row(up ? q + m : q + 3 - m);
        } else if (q < count) {
            TB_UNROLL
            for (int m = 0; m < 3; m++)
                if ((up ? q + m : q + 2 - m) < count) row(up ? q + m : q + 2 - m);
        }
    }
}

/* Solves along an axis in stage s, lines of up to 2 half points, in the differences' place; along z also adds what they
   are the differences from. */
template <int axis, int half>
TB_D void adi3d_p_chip_lines(const adi3d_p_chip &h, unsigned char *memory, int s)
{
    const adi3d_p_step &step = *(const adi3d_p_step *)(memory + h.step);
    const int n0 = h.t.n[0], n1 = h.t.n[1], n = h.t.n[axis], pitch = h.pitch, plane = h.plane;
    const int thread = trid_block_thread(), side = thread / 16 & 1, last = s == step.data.stages - 1;
    const int about = s && step.data.about, differences = about ? h.u : h.z, w = about ? h.z : h.u;
    const int result = axis < 2 ? differences : last ? h.u : h.z, remote = axis == 2 && h.size > 1;
    const int kind = h.problem.face[axis][side], count = (n + 1 - side) / 2;
    const int from = side ? n - 1 : 0, in = side ? -1 : 1,
              given_x[2] = {adi3d_p_given(&h.problem, 0, 0), adi3d_p_given(&h.problem, 0, n0 - 1)};
    const int begin = axis == 2 ? h.rank * h.share : 0, most = n0 * n1 - begin, first_plane = h.first;
    const int lines = axis == 0 ? n1 * h.planes : axis == 1 ? n0 * h.planes : most > h.share ? h.share : most;
    const int stride = in * (axis == 0 ? 1 : axis == 1 ? pitch : plane);
    const tb_real size = step.data.size;
    const fd_cell *cells = (const fd_cell *)(memory + h.cell[axis]) + from;
    const tb_real *numbers = (const tb_real *)(memory + h.number[axis]) + from;
    const trid_cluster_place *places = (const trid_cluster_place *)(memory + h.places) + from;
    tb_real now[adi3d_p_most];
    TB_UNROLL
    for (int q = 0; q < adi3d_p_numbers(3); q++) now[q] = step.time[1][q];
    TB_LOOP
    for (int base = thread / 32 * 16; base < lines; base += trid_block_threads() / 2) {
        const int valid = base + thread % 16 < lines, line = begin + (valid ? base + thread % 16 : lines - 1);
        const int i = axis == 0 ? 0 : line % n0, j = axis == 0 ? line % n1 : axis == 1 ? 0 : line / n0;
        const int k = axis == 0 ? line / n1 : axis == 1 ? line / n0 : 0; /* of the block's planes */
        const int at = i + pitch * j + plane * k, offset = at * (int)sizeof(tb_real);
        const int fixed = (axis > 0 && ((i == 0 && given_x[0]) || (i == n0 - 1 && given_x[1]))) ||
                          (axis == 2 && adi3d_p_given(&h.problem, 1, j));
        const int faces = valid && !fixed && (kind == FD_VALUE || kind == FD_DEGENERATE);
        tb_real number[3][adi3d_p_most], upper[half], y[half], above = 0, before = 0;
        adi3d_p_chip_row face = {0, 0, 0, 0};
        if (faces)
            face = adi3d_p_chip_face_row<axis>(h, side, axis == 0 ? from : i, axis == 1 ? from : j,
                                               axis == 2 ? from : first_plane + k, differences, w);
        TB_UNROLL
        for (int d = 0; d < 3; d++) {
            const int index = d == 0 ? i : d == 1 ? j : first_plane + k;
            if (d == axis) continue;
            TB_UNROLL
            for (int q = 0; q < adi3d_p_numbers(d); q++)
                number[d][q] = ((const tb_real *)(memory + h.number[d]))[q * h.t.n[d] + index];
        }
        /* Loads an array's numbers of the lane's half of the line. Without a line, others may be storing. */
        tb_real *const near_by = (tb_real *)memory + at + (in * from) * stride;
        auto take = [&](int array, tb_real *v) {
            const tb_real *own = near_by + array / (int)sizeof(tb_real);
            if (!valid)
                adi3d_p_chip_each<half>(count, 1, [&](int q) { v[q] = 0; });
            else if (remote)
                adi3d_p_chip_each<half>(count, 1,
                                        [&](int q) { v[q] = trid_cluster_load(places[in * q] + array + offset); });
            else
                adi3d_p_chip_each<half>(count, 1, [&](int q) { v[q] = own[q * stride]; });
        };
        take(differences, y);
        if (faces) y[0] = face.d;
        adi3d_p_chip_each<half>(count, 1, [&](int q) {
            tb_real a, b, c;
            TB_UNROLL
            for (int e = 0; e < adi3d_p_numbers(axis); e++) number[axis][e] = numbers[e * n + in * q];
            const adi3d_terms terms = adi3d_p_terms(number[0], number[1], number[2], now);
            adi3d_p_matrix(axis, q == 0, cells[in * q], terms, size, &a, &b, &c);
            if (q == 0 && faces) a = face.a, b = face.b, c = face.c;
            /* The couplings to the row before, and to the next. */
            const tb_real to_last = side ? c : a, to_next = side ? a : c;
            const tb_real pivot = trid_rcp(q == 0 ? b : b - to_last * above);
            upper[q] = above = to_next * pivot;
            y[q] = before = (q == 0 ? y[q] : y[q] - to_last * before) * pivot;
        });
        /* The two last rows, each in the other's unknown. */
        const tb_real other_above = __shfl_xor_sync(TB_FULL_WARP, above, 16);
        const tb_real other = __shfl_xor_sync(TB_FULL_WARP, before, 16);
        tb_real next = (other - other_above * before) * trid_rcp(1 - above * other_above);
        adi3d_p_chip_each<half>(count, 0, [&](int q) { y[q] = next = y[q] - upper[q] * next; });
        if (axis == 2) {
            if (fixed) take(differences, y);
            take(w, upper);
            adi3d_p_chip_each<half>(count, 1, [&](int q) { y[q] += upper[q]; });
        }
        tb_real *to = near_by + result / (int)sizeof(tb_real);
        if (!valid || (axis < 2 && fixed)) continue; /* lines with given values keep them */
        if (remote)
            adi3d_p_chip_each<half>(count, 1,
                                    [&](int q) { trid_cluster_store(places[in * q] + result + offset, y[q]); });
        else
            adi3d_p_chip_each<half>(count, 1, [&](int q) { to[q * stride] = y[q]; });
    }
}

/* Copies the data of a step from device memory. */
TB_D void adi3d_p_chip_fetch_step(const adi3d_p_chip &h, unsigned char *memory, const adi3d_p_step *data)
{
    const int words = (int)(sizeof *data / sizeof(int));
    for (int q = trid_block_thread(); q < words; q += trid_block_threads())
        ((int *)(memory + h.step))[q] = ((const int *)data)[q];
    __syncthreads();
}

/* Applies early exercise to the block's values after a step. */
ADI3D_P_RARE void adi3d_p_chip_exercise(const adi3d_p_chip &h, unsigned char *memory)
{
    const tb_real dt = ((const adi3d_p_step *)(memory + h.step))->data.dt;
    const int plane = h.t.n[0] * h.t.n[1];
    for (int at = trid_block_thread(); at < plane * h.planes; at += trid_block_threads()) {
        tb_real *u = (tb_real *)(memory + h.u) + adi3d_p_chip_at(h, at), more = 0;
        tb_real *extra = h.extra ? h.extra + plane * h.first + at : &more;
        *u = fd_lane_exercise(h.problem.exercise, dt, h.final[plane * h.first + at], *u, extra);
    }
}

/* Does a step. What it leaves can be read by all of the cluster. */
template <int half>
TB_D void adi3d_p_chip_step(const adi3d_p_chip &h, unsigned char *memory)
{
    const adi3d_p_step &step = *(const adi3d_p_step *)(memory + h.step);
    const int stages = step.data.stages; /* the next step's data may come before all have left this one */
    TB_LOOP
    for (int s = 0; s < stages; s++) {
        const int about = s && step.data.about, changes = step.changes && !about;
        if (s)
            adi3d_p_chip_right<1>(h, memory);
        else
            adi3d_p_chip_right<0>(h, memory);
        if (s && !about) {
            fd_p_chip_sync(h.size); /* nobody needs the first stage's values any more */
            adi3d_p_chip_fetch_right(h, memory);
        }
        __syncthreads();
        adi3d_p_chip_lines<0, half>(h, memory, s);
        __syncthreads();
        if (changes) {
            adi3d_p_chip_changes<1>(h, memory);
            __syncthreads();
        }
        adi3d_p_chip_lines<1, half>(h, memory, s);
        if (changes) {
            __syncthreads();
            adi3d_p_chip_changes<2>(h, memory);
        }
        fd_p_chip_sync(h.size);
        adi3d_p_chip_lines<2, half>(h, memory, s);
        fd_p_chip_sync(h.size);
    }
    if (h.problem.exercise == FD_EUROPEAN) return;
    adi3d_p_chip_exercise(h, memory);
    fd_p_chip_sync(h.size);
}
