/* scratch.h - a room of trid/batch.h: how much memory long systems need.
   MIT licence, see LICENSE. */

/* The most rows of a system that every device solves on chip; `bytes` is the size of an element. */
#ifndef TRID_P_BATCH_ON_CHIP
#define TRID_P_BATCH_ON_CHIP(bytes, checked) ((checked) ? 8192 / (bytes) : 16384 / (bytes))
#define TRID_P_BATCH_ON_CHIP_INTERLEAVED 1024
#define TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, contiguous) ((contiguous) ? 16384 / (bytes) : 1024)
#endif

/* Returns this number for systems of this layout. `checked` is 1 with residuals, 2 with pivoting, else 0. */
TB_HOST long long trid_p_batch_on_chip(trid_lines joined, int bytes, int checked)
{
    return checked == 2                           ? TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, joined.step == 1)
           : trid_p_lines_are_interleaved(joined) ? TRID_P_BATCH_ON_CHIP_INTERLEAVED
                                                  : TRID_P_BATCH_ON_CHIP(bytes, checked);
}

/* The same number for several right-hand sides and for factors. Longer systems are eliminated again for each right-hand
   side. */
#ifndef TRID_P_BATCH_ON_CHIP_LU
#define TRID_P_BATCH_ON_CHIP_LU 1024
#endif

/* How longer systems are cut into chunks: rows a thread, without and with pivoting; how many interleaved systems a
   block takes; threads a chunk. */
#ifndef TRID_P_BATCH_CHUNK_ROWS
#define TRID_P_BATCH_CHUNK_ROWS 16
#define TRID_P_BATCH_CHUNK_ROWS_PIVOTED(bytes) (128 / (bytes))
#define TRID_P_BATCH_CHUNK_SYSTEMS(bytes) (128 / (bytes))
#endif
#define TRID_P_BATCH_CHUNK_PARTS(interleaved) ((interleaved) ? 8 : 32)

/* Scratch of one level, as offsets in bytes. For each system: at 0, two numbers of 4 bytes for the residual; at
   `worst`, two row numbers; at `below`, the status of its reduced system. Then: at `reduced`, a, b, c, d of the reduced
   systems; at `before`, the first x, for refinement. `rows` are those of a chunk, `left` those of a reduced system. */
typedef struct {
    long long rows, chunks, left, worst, below, reduced, before, end;
} trid_p_batch_level_layout;
TB_HOST trid_p_batch_level_layout trid_p_batch_level_layout_of(long long n, long long systems, int bytes,
                                                               int interleaved, int periodic, int refined)
{
    trid_p_batch_level_layout layout;
    layout.rows = TRID_P_BATCH_CHUNK_PARTS(interleaved) * TRID_P_BATCH_CHUNK_ROWS;
    layout.chunks = (n + layout.rows - 1) / layout.rows;
    layout.left = periodic ? n / layout.rows * 2 + n % layout.rows : 2 * layout.chunks;
    layout.worst = 8 * systems;
    layout.below = layout.worst + 8 * systems;
    layout.reduced = (layout.below + 4 * systems + 15) / 16 * 16;
    layout.before = layout.reduced + 4 * layout.left * systems * bytes;
    layout.end = (layout.before + (refined ? n * systems * bytes : 0) + 15) / 16 * 16;
    return layout;
}

/* Long contiguous systems whose rows are read once: how many pieces of 16 bytes a thread takes of each array (odd,
   against bank conflicts); the most threads of a block (a power of 2); the blocks per multiprocessor; how many links of
   a system a lane takes when a warp solves them; after how many looks a block stops waiting for others. */
#ifndef TRID_P_BATCH_PARTITION_WORDS
#define TRID_P_BATCH_PARTITION_WORDS 7
#define TRID_P_BATCH_PARTITION_THREADS 128
#define TRID_P_BATCH_PARTITION_RESIDENT 2
#define TRID_P_BATCH_LINKS 4
#define TRID_P_BATCH_PATIENCE 1000
#endif

/* How these systems are cut, and their scratch, as offsets in bytes: 16 bytes of the launch; for each partition `left`
   (4 bytes), `z` (a number) and `ends` (six numbers); for each system `worst`, two row numbers. If a system has more
   links than a warp can solve, `links` follow: a, b, c, d of systems of `count` rows, and then the scratch of these. A
   block takes a partition. Blocks have fewer warps if this reduces the rows of a system, padding included, to less than
   7/8. The first partition may begin up to a cache line (128 bytes) before its system. */
typedef struct {
    int warps, rows; /* of a partition */
    long long count, left, z, ends, worst, links, end;
} trid_p_batch_partitions_layout;
TB_HOST trid_p_batch_partitions_layout trid_p_batch_partitions_layout_of(long long n, long long systems, int bytes)
{
    trid_p_batch_partitions_layout layout;
    long long padded = 0;
    for (int warps = TRID_P_BATCH_PARTITION_THREADS / 32; warps > 0; warps /= 2) {
        const int rows = 512 / bytes * TRID_P_BATCH_PARTITION_WORDS * warps;
        const long long count = (n + 128 / bytes - 1 + rows - 1) / rows;
        if (padded > 0 && 8 * count * rows >= 7 * padded) continue;
        layout.warps = warps, layout.rows = rows, layout.count = count, padded = count * rows;
    }
    const long long all = layout.count * systems;
    layout.left = 16;
    layout.z = (layout.left + 4 * all + 15) / 16 * 16;
    layout.ends = layout.z + all * bytes;
    layout.worst = layout.ends + 6 * all * bytes;
    layout.links = (layout.worst + 8 * systems + 15) / 16 * 16;
    layout.end = layout.links + (layout.count > 32 * TRID_P_BATCH_LINKS ? 4 * all * bytes : 0);
    return layout;
}

/* Returns the bytes of this scratch, including that of the links. */
TB_HOST long long trid_p_batch_partitions_end(long long n, long long systems, int bytes)
{
    const trid_p_batch_partitions_layout layout = trid_p_batch_partitions_layout_of(n, systems, bytes);
    return layout.end + (layout.end > layout.links ? trid_p_batch_partitions_end(layout.count, systems, bytes) : 0);
}

/* The scratch of long systems with pivoting, level by level: the borders of the chunks, then those of their parents,
   which join 32 borders each, and so on. A level's borders are followed by the four unknowns around each. */
typedef struct {
    int levels;
    long long count[8], border[8], outer[8], worst, end; /* count: borders of a system on each level */
} trid_p_batch_pivoted_layout;
TB_HOST trid_p_batch_pivoted_layout trid_p_batch_pivoted_layout_of(long long n, long long systems, int bytes)
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

/* Returns the bytes of all levels of systems that are solved in chunks. Systems of up to on_chip rows need none, nor do
   reduced systems that fit on chip. */
TB_HOST long long trid_p_batch_levels_end(trid_lines joined, int bytes, int periodic, int refined, long long on_chip)
{
    const long long above = periodic ? TRID_P_BATCH_ON_CHIP_LU : trid_p_batch_on_chip(joined, bytes, 0);
    const int interleaved = trid_p_lines_are_interleaved(joined);
    long long total = 0, n = joined.n;
    for (; n > on_chip; on_chip = above, refined = 0) { /* reduced systems are solved without residuals */
        const trid_p_batch_level_layout layout =
            trid_p_batch_level_layout_of(n, joined.systems * joined.groups, bytes, interleaved, periodic, refined);
        total += layout.end, n = layout.left;
    }
    return total;
}

/* Returns how many bytes of scratch any launch may need for systems of this layout with these flags. An element takes
   `bytes` bytes. Scratch is device memory of the caller, aligned to 16 bytes, that overlaps no array of the call. Its
   contents before the launch do not matter. Later work on the same stream may use it again.
   Returns  0 for n <= 1024: scratch may then be null. It may also be null for interleaved systems of up to 8192 rows on
            devices with clusters of blocks and 227 KiB of shared memory a block (compute capability 9.0 to 11.x),
            except for trid_batch_checked, trid_batch_refined and periodic systems. TRID_BATCH_BAD_SIZE for negative
            sizes, for n above 2^30, and for elements or offsets beyond 2^56
   Cost     20 bytes a system and 0.04 of an array (interleaved: 0.08) at most; with TRID_BATCH_REFINED one array more,
            with TRID_BATCH_PERIODIC four numbers for each row after the last whole chunk of 512 (interleaved: 128)
            rows */
TB_HOST long long trid_batch_scratch(trid_lines lines, int flags, int bytes)
{
    lines = trid_p_lines_of(lines);
    if (!trid_p_lines_valid(lines, 1, 0)) return TRID_BATCH_BAD_SIZE;
    if (trid_p_lines_empty(lines)) return 0;
    if (lines.n > TRID_BATCH_MAX_N) return TRID_BATCH_BAD_SIZE;
    const trid_lines joined = trid_p_lines_join(lines);
    const long long n = lines.n, systems = lines.systems * lines.groups, several = TRID_P_BATCH_ON_CHIP_LU;
    const long long checked = trid_p_batch_on_chip(joined, bytes, 1); /* at most as many as without residuals */
    const int refined = (flags & TRID_BATCH_REFINED) && n > checked;
    long long most = 0, need[4] = {0};
    need[0] = trid_p_batch_levels_end(joined, bytes, 0, refined, several < checked ? several : checked);
    if (flags & TRID_BATCH_PERIODIC) need[1] = trid_p_batch_levels_end(joined, bytes, 1, 0, several);
    if (n > trid_p_batch_on_chip(joined, bytes, 2)) need[2] = trid_p_batch_pivoted_layout_of(n, systems, bytes).end;
    if (n > trid_p_batch_on_chip(joined, bytes, 0) && joined.step == 1)
        need[3] = trid_p_batch_partitions_end(n, systems, bytes);
    for (int k = 0; k < 4; k++)
        if (need[k] > most) most = need[k];
    return most;
}
