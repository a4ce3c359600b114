/* scratch.h - a room of trid/batch.h: how much memory long systems need.
   MIT licence, see LICENSE. */

/* The most rows of a system that are solved on chip, elements having so many bytes. */
#ifndef TRID_P_BATCH_ON_CHIP
#define TRID_P_BATCH_ON_CHIP(bytes, checked) ((checked) ? 8192 / (bytes) : 16384 / (bytes))
#define TRID_P_BATCH_ON_CHIP_INTERLEAVED 1024
#define TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, contiguous) ((contiguous) ? 16384 / (bytes) : 1024)
#endif

/* The same for several right-hand sides and factors. */
#ifndef TRID_P_BATCH_ON_CHIP_LU
#define TRID_P_BATCH_ON_CHIP_LU 1024
#endif

/* How longer systems are cut into chunks: rows a lane of a warp; and of interleaved systems, how many a block has, in
   how many partitions of how many rows. */
#ifndef TRID_P_BATCH_CHUNK_ROWS
#define TRID_P_BATCH_CHUNK_ROWS(bytes, checked) 16
#define TRID_P_BATCH_CHUNK_ROWS_PIVOTED(bytes) (128 / (bytes))
#define TRID_P_BATCH_CHUNK_ROWS_INTERLEAVED(bytes) 16
#define TRID_P_BATCH_CHUNK_PARTS 8
#define TRID_P_BATCH_CHUNK_SYSTEMS(bytes) (128 / (bytes))
#endif
#define TRID_P_BATCH_CHUNK(bytes, checked, interleaved)                                                                \
    ((interleaved) ? TRID_P_BATCH_CHUNK_PARTS * TRID_P_BATCH_CHUNK_ROWS_INTERLEAVED(bytes)                             \
                   : 32 * TRID_P_BATCH_CHUNK_ROWS(bytes, checked))

/* Scratch of one level, as offsets in bytes. Of each system: largest, two numbers of 8 bytes, for the residual; worst,
   two rows; below, the status of its reduced system. Then a, b, c, d of the reduced systems, and for refinement the
   first x. */
typedef struct {
    long long chunks, largest, worst, below, reduced, before, end;
} trid_p_batch_level_layout;
TRID_BATCH_API trid_p_batch_level_layout trid_p_batch_level_layout_of(long long n, long long systems, int rows,
                                                                      int bytes, int refined)
{
    trid_p_batch_level_layout layout;
    layout.chunks = (n + rows - 1) / rows;
    layout.largest = 0;
    layout.worst = layout.largest + 16 * systems;
    layout.below = layout.worst + 8 * systems;
    layout.reduced = (layout.below + 4 * systems + 15) / 16 * 16;
    layout.before = layout.reduced + 8 * layout.chunks * systems * bytes;
    layout.end = (layout.before + (refined ? n * systems * bytes : 0) + 15) / 16 * 16;
    return layout;
}

/* The same for pivoting: the borders of the chunks, then of groups of 32 chunks, of 32 of these groups, ..; behind each
   level's borders the four unknowns around each. */
typedef struct {
    int levels;
    long long count[8], border[8], outer[8], worst, end; /* of groups in a system */
} trid_p_batch_pivoted_layout;
TRID_BATCH_API trid_p_batch_pivoted_layout trid_p_batch_pivoted_layout_of(long long n, long long systems, int bytes)
{
    const long long rows = 32 * TRID_P_BATCH_CHUNK_ROWS_PIVOTED(bytes);
    trid_p_batch_pivoted_layout layout;
    long long at = 0;
    layout.levels = 0;
    for (long long count = (n + rows - 1) / rows;; count = (count + 31) / 32) {
        layout.count[layout.levels] = count;
        layout.border[layout.levels] = at;
        layout.outer[layout.levels] = at + 9 * count * systems * bytes;
        at += 13 * count * systems * bytes;
        layout.levels++;
        if (count <= 32) break;
    }
    layout.worst = (at + 15) / 16 * 16;
    layout.end = layout.worst + 8 * systems;
    return layout;
}

/* The same for long periodic systems: the solution for the last column; with ADD what is to be added; of each system
   its last unknown, and the status of the rows before. The scratch of the levels follows. */
typedef struct {
    long long column, added, known, status, end;
} trid_p_batch_periodic_layout;
TRID_BATCH_API trid_p_batch_periodic_layout trid_p_batch_periodic_layout_of(long long n, long long systems, int bytes,
                                                                            int add)
{
    trid_p_batch_periodic_layout layout;
    layout.column = 0;
    layout.added = n * systems * bytes;
    layout.known = layout.added + (add ? n * systems * bytes : 0);
    layout.status = layout.known + systems * bytes;
    layout.end = (layout.status + 4 * systems + 15) / 16 * 16;
    return layout;
}

/* Returns the bytes of all levels of systems of n rows, up to on_chip of which need none. */
TRID_BATCH_API long long trid_p_batch_levels_end(long long n, long long systems, int bytes, int interleaved,
                                                 int checked, int refined, long long on_chip)
{
    long long total = 0;
    while (n > on_chip) {
        trid_p_batch_level_layout layout = trid_p_batch_level_layout_of(
            n, systems, TRID_P_BATCH_CHUNK(bytes, checked, interleaved), bytes, checked && refined);
        total += layout.end;
        n = 2 * layout.chunks;
        checked = 0; /* reduced systems are solved without residuals */
        on_chip = interleaved ? TRID_P_BATCH_ON_CHIP_INTERLEAVED : TRID_P_BATCH_ON_CHIP(bytes, 0);
    }
    return total;
}

/* Returns how many bytes of scratch any launch may need on systems that lie so, with these flags, elements having
   `bytes` bytes. Scratch is device memory of the caller, aligned to 16 bytes, that no array of the call shares. What it
   holds before does not matter; when the launch is done it may be used again.
   Returns  0 where n <= 1024: scratch may be null then, and also for interleaved systems of up to 8192 rows where there
            are clusters of blocks, except for trid_batch_checked; TRID_BATCH_BAD_SIZE for lines that launches refuse so
   Cost     about 28 bytes a system, and 0.03 of an array (interleaved: 0.07); with TRID_BATCH_REFINED one array more,
            with TRID_BATCH_PERIODIC too, and with TRID_BATCH_ADD on top of that another */
TRID_BATCH_API long long trid_batch_scratch(trid_lines lines, int flags, int bytes)
{
    lines = trid_p_lines_of(lines);
    if (!trid_p_lines_valid(lines) || lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
    if (trid_p_lines_empty(lines)) return 0;
    trid_lines joined = trid_p_lines_join(lines);
    const int interleaved = trid_p_lines_are_interleaved(joined), refined = (flags & TRID_BATCH_REFINED) != 0;
    long long systems = lines.systems * lines.groups, most = 0, several;
    if (lines.n > TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, lines.step == 1))
        most = trid_p_batch_pivoted_layout_of(lines.n, systems, bytes).end;
    for (int checked = 0; checked < 2; checked++) {
        long long on_chip = interleaved ? TRID_P_BATCH_ON_CHIP_INTERLEAVED : TRID_P_BATCH_ON_CHIP(bytes, checked);
        long long all = trid_p_batch_levels_end(lines.n, systems, bytes, interleaved, checked, refined, on_chip);
        if (all > most) most = all;
    }
    several = trid_p_batch_levels_end(lines.n, systems, bytes, interleaved, 0, 0, TRID_P_BATCH_ON_CHIP_LU);
    if ((flags & TRID_BATCH_PERIODIC) && lines.n > TRID_P_BATCH_ON_CHIP_LU)
        several += trid_p_batch_periodic_layout_of(lines.n, systems, bytes, flags & TRID_BATCH_ADD).end;
    return several > most ? several : most;
}
