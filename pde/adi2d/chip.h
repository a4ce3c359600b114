/* chip.h - a room of adi2d.h, read once for each model and precision: the layout of a grid in the shared memory of a
   cluster, and access to it.
   MIT licence, see LICENSE. */

/* A problem's grid lies in the shared memory of a cluster of blocks: block r holds rows r * each .. (r + 1) * each - 1,
   counted along y, where `each` is a multiple of per_lane. Along x a line is a row: `width` lanes share it, a lane
   holds per_lane neighbouring points, and a block solves its own rows. Along y neighbouring threads take neighbouring
   columns: `parts` threads share a column, and each holds per_lane points of it. A block solves its share of the
   columns, and reaches other blocks' rows through their shared memory. */
enum {
    adi2d_p_piece = 16 / TB_BYTES, /* elements of a piece of 16 bytes */
    /* Whether all lines along y share one matrix throughout a march of steps of one length. */
    adi2d_p_independent = (int)fd_p_steady >> 1 & FD_MODEL_INDEPENDENT >> 1 & 1
};

/* A block's data about its problem, in shared memory. Arrays are offsets, as in fd_p_chip. */
struct adi2d_p_chip : fd_p_chip {
    int width, parts, share; /* share: how many columns each block solves */
    int z, g;                /* arrays of the block. z: differences, then a first stage's values. g: first the part of
                                a second stage's right-hand side that the first stage computes, later the second
                                stage's differences. If steps have one stage, g is z; if they are products of factors,
                                u, z and g are one array */
    int cell[2];   /* cell i of an axis at [i + i / per_lane]; cells beyond the last are 0: rows without couplings */
    int number[2]; /* number q of x at [q * pitch + swizzle(i)], of y at [q * per_lane * parts + j] */
    int exchange;  /* scratch for solves along y */
    int factors;   /* of the matrix along y: each partition's, each reduced row's, and the number of PCR steps */
    int bytes;     /* in total */
};

/* Assigns a block's shared memory. */
TB_HD void adi2d_p_chip_lay_out(int per_lane, const fd_p_launch *launch, int threads, adi2d_p_chip *chip)
{
    const int halo = launch->arrays > 1 ? 2 : 0; /* rows of other blocks */
    const int lines = threads / launch->parts, stored = adi2d_p_independent && launch->arrays == 1;
    int used = 0;
    auto next = [&](int count, size_t size) {
        const int at = used;
        used += (int)fd_p_round((size_t)count * size);
        return at;
    };
    chip->u = next((launch->each + halo) * launch->pitch, sizeof(tb_real));
    chip->z = launch->arrays > 1 ? next((launch->each + halo) * launch->pitch, sizeof(tb_real)) : chip->u;
    chip->g = launch->arrays > 2 ? next((launch->each + halo) * launch->pitch, sizeof(tb_real)) : chip->z;
    for (int d = 0; d < 2; d++) {
        const int points = per_lane * (d ? launch->parts : launch->width);
        chip->cell[d] = next(points + points / per_lane, sizeof(fd_cell));
        chip->number[d] = next((d ? points : launch->pitch) * fd_p_numbers(d), sizeof(tb_real));
    }
    chip->exchange = next(TRID_INTERLEAVED_LEN(lines, launch->parts, 128 / (int)sizeof(tb_real)), sizeof(tb_real));
    chip->factors = next(stored ? launch->parts * (5 * per_lane + 12) + 2 : 0, sizeof(tb_real));
    chip->step = next(1, sizeof(fd_p_step));
    chip->bytes = used;
}

/* Returns an array of the block. */
TB_D tb_real *adi2d_p_array(unsigned char *memory, int array)
{
    return (tb_real *)(memory + array);
}

/* Returns a cell of an axis. */
TB_D fd_cell adi2d_p_cell_of(const adi2d_p_chip *h, unsigned char *memory, int axis, int index)
{
    return ((const fd_cell *)(memory + h->cell[axis]))[index];
}

/* Returns piece c of the per_lane points of a row from `first` on. */
TB_D transpose_vector *adi2d_p_piece_of(tb_real *row, int first, int c)
{
    return (transpose_vector *)(row + (fd_p_swizzle(first) ^ (c * adi2d_p_piece)));
}

/* Load the numbers of x at column i, and of y at row j. */
TB_D void adi2d_p_numbers_of_x(const adi2d_p_chip *h, unsigned char *memory, int i, fd_numbers *own)
{
    const tb_real *from = adi2d_p_array(memory, h->number[0]) + fd_p_swizzle(i);
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(0); q++) own->number[q] = from[q * h->pitch];
}
TB_D void adi2d_p_numbers_of_y(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int j, fd_numbers *own)
{
    const tb_real *from = adi2d_p_array(memory, h->number[1]) + j;
    TB_UNROLL
    for (int q = 0; q < fd_p_numbers(1); q++) own->number[q] = from[q * per_lane * h->parts];
}

/* The rows of a system that a thread holds. */
typedef struct {
    tb_real a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
} adi2d_p_rows;

/* Replaces row k of this thread by the boundary row that fd_p_edge_row computes. near_by is the right-hand side of the
   neighbouring row; solutions are differences from w. */
TB_D void adi2d_p_chip_face(int per_lane, const adi2d_p_chip *h, unsigned char *memory, const fd_p_edge &edge, int k,
                            tb_real near_by, tb_real w, adi2d_p_rows *r)
{
    tb_real row[3], value = 0;
    TB_UNROLL
    for (int m = 0; m < per_lane; m++)
        if (m == k) value = r->d[m];
    fd_p_edge_row(&h->t, &edge, fd_p_chip_step(*h, memory).data.size, near_by, w, row, &value);
    TB_UNROLL
    for (int m = 0; m < per_lane; m++)
        if (m == k) r->a[m] = row[0], r->b[m] = row[1], r->c[m] = row[2], r->d[m] = value;
}

/* Returns the change, from the step's start to its end, of the term that the faces of an axis add to F(u) at (i, j). */
template <int axis>
FD_P_CALLED_D tb_real adi2d_p_chip_face_change(const adi2d_p_chip &h, int i, int j)
{
    const int index[3] = {i, j, 0};
    return fd_p_face_change<axis>(h, fd_p_chip_step(h, h.memory), index);
}

/* Loads the halo, the adjacent rows of other blocks, into the last two rows of `array`. */
TB_D void adi2d_p_chip_halo(const adi2d_p_chip *h, unsigned char *memory, int array)
{
    if (h->size == 1) return;
    tb_real *halo = adi2d_p_array(memory, array) + h->rows_each * h->pitch;
    for (int at = trid_block_thread(); at < 2 * h->n[0] && h->rows > 0; at += trid_block_threads()) {
        const int after = at >= h->n[0], i = at - after * h->n[0],
                  j = after ? h->row_first + h->rows : h->row_first - 1;
        if (j >= 0 && j < h->n[1]) halo[after * h->pitch + fd_p_swizzle(i)] = fd_p_chip_value(*h, memory, array, i, j);
    }
    __syncthreads();
}
