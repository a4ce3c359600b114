/* chip.h - a room of adi2d.h, read once for each model and precision: a grid in the shared memory of a cluster: its
   layout, and access for threads.
   MIT licence, see LICENSE. */

/* A problem's grid lies in the shared memory of a cluster of blocks: block r holds rows r each .. (r + 1) each - 1 of
   y, where each is a multiple of per_lane. Along x a line is a row: `width` lanes share it, a lane holds per_lane
   neighbouring points, and a block solves its own rows. Along y neighbouring threads take neighbouring columns: `parts`
   threads share a column, and each holds per_lane points of it. A block solves its share of the columns, and reaches
   other blocks' rows through their shared memory. */
#define ADI2D_P_PIECE (16 / TB_BYTES) /* elements of a piece */

/* Whether all lines along y share one matrix throughout a march of steps of one length. */
enum { adi2d_p_independent = (int)fd_p_steady >> 1 & FD_MODEL_INDEPENDENT >> 1 & 1 };

/* 16 bytes of a row. */
typedef struct FD_P_ALIGN {
    tb_real v[ADI2D_P_PIECE];
} adi2d_p_pieces;

/* A block's data about its problem, in shared memory: the array of values, other arrays, and the axes'
   arrays. */
struct adi2d_p_chip : fd_p_chip {
    int width, parts, share; /* share: columns of each block */
    int z, g;                /* arrays of the block: differences or a first stage's values; the start of a second
                                stage's right-hand side */
    int cell[2];   /* cell i of an axis at [i + i / per_lane]; beyond the last they are 0, which gives identity rows */
    int number[2]; /* number q of x at [q pitch + swizzle(i)], of y at [q per_lane parts + j] */
    int exchange;  /* for the solve along y */
    int factors;   /* for the matrix along y: each partition's, then each reduced row's; the number of PCR steps */
    int bytes;     /* in total */
};

/* Assigns a block's shared memory. */
TB_HD void adi2d_p_chip_lay_out(int per_lane, const fd_p_launch *launch, int threads, adi2d_p_chip *chip)
{
    const int halo = launch->arrays > 1 ? 2 : 0; /* rows of other blocks */
    size_t used = 0, array = fd_p_round((size_t)(launch->each + halo) * (size_t)launch->pitch * sizeof(tb_real));
    int *const arrays[3] = {&chip->u, &chip->z, &chip->g}, lines = threads / launch->parts;
    for (int k = 0; k < 3; k++) *arrays[k] = (int)(array * (size_t)(k < launch->arrays ? k : launch->arrays - 1));
    used += array * (size_t)launch->arrays;
    for (int d = 0; d < 2; d++) {
        int points = per_lane * (d ? launch->parts : launch->width), numbers = fd_p_numbers(d);
        chip->cell[d] = (int)used;
        used += fd_p_round((size_t)(points + points / per_lane) * sizeof(fd_cell));
        chip->number[d] = (int)used;
        used += fd_p_round((size_t)(d ? points : launch->pitch) * (size_t)numbers * sizeof(tb_real));
    }
    chip->exchange = (int)used;
    used +=
        fd_p_round((size_t)TRID_INTERLEAVED_LEN(lines, launch->parts, 128 / (int)sizeof(tb_real)) * sizeof(tb_real));
    chip->factors = (int)used;
    if (adi2d_p_independent && launch->arrays == 1)
        used += fd_p_round((size_t)(launch->parts * (5 * per_lane + 12) + 2) * sizeof(tb_real));
    chip->step = (int)used;
    used += fd_p_round(sizeof(fd_p_step));
    chip->bytes = (int)used;
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

/* Returns piece c of the per_lane points from `first` on in a row. */
TB_D adi2d_p_pieces *adi2d_p_piece_of(tb_real *row, int first, int c)
{
    return (adi2d_p_pieces *)(row + (fd_p_swizzle(first) ^ (c * ADI2D_P_PIECE)));
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

/* Returns the numbers of the step's start (end 0) or end (1). */
TB_D const tb_real *adi2d_p_chip_time(const adi2d_p_chip *h, unsigned char *memory, int end)
{
    return fd_p_chip_step(*h, memory).time[end];
}

/* Writes the boundary row at (i, j), row k of its thread: makes it dominant, gives it the face's value, or eliminates
   the third unknown. near_by is the right-hand side of its neighbour; the solution is the difference from w. */
TB_D void adi2d_p_chip_face(int per_lane, const adi2d_p_chip *h, unsigned char *memory, int axis, int side, int i,
                            int j, int k, tb_real near_by, tb_real w, tb_real *a, tb_real *b, tb_real *c, tb_real *d)
{
    const fd_p_step &step = fd_p_chip_step(*h, memory);
    const fd_p_edge edge = {axis, side, h->t.problem->face[axis][side], {i, j, 0}, step.time[1], step.to};
    tb_real row[3], value = 0;
    TB_UNROLL
    for (int m = 0; m < per_lane; m++)
        if (m == k) value = d[m];
    fd_p_edge_row(&h->t, &edge, step.data.size, near_by, w, row, &value);
    TB_UNROLL
    for (int m = 0; m < per_lane; m++)
        if (m == k) a[m] = row[0], b[m] = row[1], c[m] = row[2], d[m] = value;
}

/* Returns the term that a face adds to F along its axis at (i, j), with v in `array`. */
FD_P_CALLED_D tb_real adi2d_p_chip_source(const adi2d_p_chip *h, unsigned char *memory, int array, int axis, int side,
                                          int i, int j, const tb_real *now, double t)
{
    const int in = side ? -1 : 1;
    const fd_p_edge edge = {axis, side, h->t.problem->face[axis][side], {i, j, 0}, now, t};
    tb_real next = 0, third = 0;
    if (edge.kind == FD_DEGENERATE) {
        next = fd_p_chip_value(*h, memory, array, axis ? i : i + in, axis ? j + in : j);
        third = fd_p_chip_value(*h, memory, array, axis ? i : i + 2 * in, axis ? j + 2 * in : j);
    }
    return fd_p_edge_adds(&h->t, &edge, fd_p_edge_given(&h->t, &edge), next, third);
}

/* Loads the halo, the adjacent rows of other blocks, into the two rows of `array` that follow the block's own. */
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
