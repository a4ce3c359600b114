/* watch_shared.h - the watch on each byte of shared memory. */
#ifndef SIMT_WATCH_SHARED_H
#define SIMT_WATCH_SHARED_H

#include "faults.h"
#include "startup.h"

/* Two accesses are ordered if a __syncthreads lies between them, which is to say if their epochs differ, or, within a
   warp, by a chain of __syncwarp. For the latter each lane has a clock, which a __syncwarp advances, and remembers of
   each other lane up to which clock it is ordered after it (a vector clock).

   Of every byte of shared memory this much is known. The readers are those since the last write, in one epoch. The
   lanes of one warp are kept one by one; of the readers in other warps one is enough, as whoever writes next is in
   another warp than at least one of the two.

   Nearly all accesses are of whole words of four bytes, which have a cell each. A word that is accessed in part is
   watched byte by byte from then on, by further cells. Cells are small, since caches decide how fast the watch is: the
   clocks of readers stand elsewhere. */
struct simt_cell {
    uint32_t write_epoch, write_clock;
    uint32_t read_epoch, read_lanes;
    int16_t writer, read_warp, other_reader;
    bool write_was_atomic, is_split; /* the latter of a word */
    uint16_t box; /* that the last write came with, for the write_clock-th time, if the writer is SIMT_SENT */
    uint32_t copy_epoch; /* when an asynchronous copy to here was begun, 0 if there is none under way */
};
typedef uint32_t simt_read_clock[SIMT_LANES]; /* of the lanes of read_warp */

/* Of every word of four bytes of global memory: its last write, and of the readers since then the first of this launch
   and, in one epoch, the first and the last. That may miss a race that three readers of one warp hide, and finds no
   false one. Other blocks of the launch are ordered by nothing; what happened in earlier launches does not count. */
struct simt_word_cell {
    uint32_t write_epoch, write_clock;
    uint32_t first_read; /* an epoch */
    uint32_t read_epoch, read_clock[2];
    uint32_t write_block, read_block; /* the writer's, the first reader's */
    int16_t writer, reader[2];
    bool write_was_atomic, reads_were_atomic, other_block_read;
};

struct simt_watch_state {
    uint32_t last_epoch;   /* of any block */
    uint32_t epoch;        /* of the running block; a new one with every __syncthreads, and with every block */
    uint32_t block_epoch;  /* that in which this block began */
    uint32_t block;        /* its number */
    uint32_t launch_epoch; /* and this launch */
    uint32_t settled_epoch; /* and the last launch that did not begin early: what was written before is there for all */
    uint32_t launch;       /* its number */
    size_t static_bytes;   /* of the arrays that it has touched */
    uint16_t *array_at;    /* at this byte of shared memory: 1 + its number, 0 if there is none */
    simt_cell *cells;      /* of the running block: one for each word, then one for each byte */
    simt_read_clock *read_clocks; /* and their lanes' clocks */
    simt_word_cell *words;
    uint32_t (*clock)[SIMT_LANES][SIMT_LANES]; /* of it too: [warp][who knows][of whom] */
};
SIMT_STATE simt_watch_state simt_watch;

/* What of it is a block's own. */
struct simt_watch_block_state {
    uint32_t epoch, block_epoch, block;
    simt_cell *cells;
    simt_read_clock *read_clocks;
    uint32_t clock[SIMT_MAX_WARPS][SIMT_LANES][SIMT_LANES];
};

SIMT_OWN void simt_watch_start(void)
{
    simt_watch.words = (simt_word_cell *)simt_reserve(SIMT_ARENA_BYTES / 4 * sizeof(simt_word_cell), "simt: watch");
    simt_watch.array_at = (uint16_t *)simt_reserve(simt.shared_range * sizeof(uint16_t), "simt: watch");
    for (size_t i = 0; i < simt_arrays.size(); i++)
        for (size_t byte = 0; byte < simt_arrays[i].bytes; byte++)
            if (simt.shared + simt_arrays[i].offset != simt_dynamic_shared)
                simt_watch.array_at[simt_arrays[i].offset + byte] = (uint16_t)(i + 1);
}

SIMT_OWN size_t simt_word_count(void) { return (simt.shared_range + 3) / 4; }

SIMT_OWN simt_watch_block_state *simt_watch_new_block(void)
{
    simt_watch_block_state *block = new simt_watch_block_state();
    size_t count = simt_word_count() + simt.shared_range;
    block->cells = (simt_cell *)simt_reserve(count * sizeof(simt_cell), "simt: watch");
    block->read_clocks = (simt_read_clock *)simt_reserve(count * sizeof(simt_read_clock), "simt: watch");
    for (auto &warp : block->clock)
        for (int lane = 0; lane < SIMT_LANES; lane++)
            warp[lane][lane] = 1;
    return block;
}

/* The running block is another one. */
SIMT_OWN void simt_watch_leave(simt_watch_block_state *block)
{
    block->epoch = simt_watch.epoch;
    block->block_epoch = simt_watch.block_epoch;
    block->block = simt_watch.block;
}
SIMT_OWN void simt_watch_enter(simt_watch_block_state *block)
{
    simt_watch.epoch = block->epoch;
    simt_watch.block_epoch = block->block_epoch;
    simt_watch.block = block->block;
    simt_watch.cells = block->cells;
    simt_watch.read_clocks = block->read_clocks;
    simt_watch.clock = block->clock;
}

SIMT_OWN void simt_watch_barrier(void) { simt_watch.epoch = ++simt_watch.last_epoch; }

SIMT_OWN void simt_watch_launch(void)
{
    if (!simt_watch.words)
        simt_watch_start();
    simt_watch.launch_epoch = simt_watch.last_epoch + 1;
    if (!simt.is_early)
        simt_watch.settled_epoch = simt_watch.launch_epoch;
    simt_watch.launch++;
    simt_watch.static_bytes = 0;
}

SIMT_OWN void simt_watch_block(void)
{
    simt_watch.block_epoch = simt_watch.epoch = ++simt_watch.last_epoch;
    simt_watch.block = simt_watch.last_epoch; /* as good a number as any */
}

/* Each lane of the mask now comes after all that any of them came after, and begins a new stretch of its own. */
SIMT_OWN void simt_watch_syncwarp(int warp, unsigned mask)
{
    auto &clock = simt_watch.clock[warp];
    uint32_t joined[SIMT_LANES] = {};
    for (int lane = 0; lane < SIMT_LANES; lane++)
        for (int of = 0; (mask >> lane & 1) && of < SIMT_LANES; of++)
            joined[of] = clock[lane][of] > joined[of] ? clock[lane][of] : joined[of];
    for (int lane = 0; lane < SIMT_LANES; lane++) {
        if (mask >> lane & 1) {
            memcpy(clock[lane], joined, sizeof joined);
            clock[lane][lane]++;
        }
    }
}

/* Does the running thread come after what thread did at that clock of its, in this epoch? */
SIMT_OWN bool simt_is_after(int thread, uint32_t clock)
{
    if (thread == simt.current)
        return true;
    int warp = thread / SIMT_LANES;
    return warp == simt.current / SIMT_LANES &&
           simt_watch.clock[warp][simt_lane_id()][thread % SIMT_LANES] >= clock;
}

/* Where a byte lies, for people. */
struct simt_place {
    char text[64];
};

SIMT_OWN simt_place simt_place_of(size_t offset)
{
    simt_place place;
    size_t dynamic = (size_t)(simt_dynamic_shared - simt.shared);
    bool is_dynamic = offset >= dynamic && offset < dynamic + SIMT_MAX_SHARED;
    snprintf(place.text, sizeof place.text, "byte %zu of %s shared memory", is_dynamic ? offset - dynamic : offset,
             is_dynamic ? "dynamic" : "static");
    return place;
}

SIMT_OWN void simt_race(size_t offset, const char *earlier, int thread, int kind)
{
    uint3 a = simt.threads[thread].index, b = threadIdx;
    simt_fault(simt.current, "race on shared memory, %s: %s by thread (%u,%u,%u), %s by thread (%u,%u,%u)",
               simt_place_of(offset).text, earlier, a.x, a.y, a.z, kind & SIMT_WRITE ? "write" : "read", b.x, b.y, b.z);
}

SIMT_OWN void simt_note_read(simt_cell &cell)
{
    int warp = simt.current / SIMT_LANES, lane = simt.current % SIMT_LANES;
    if (cell.read_epoch != simt_watch.epoch) {
        cell.read_epoch = simt_watch.epoch;
        cell.read_warp = (int16_t)warp;
        cell.read_lanes = 0;
        cell.other_reader = -1;
    }
    if (cell.read_warp == warp) {
        cell.read_lanes |= 1u << lane;
        simt_watch.read_clocks[&cell - simt_watch.cells][lane] = simt_watch.clock[warp][lane][lane];
    } else {
        cell.other_reader = (int16_t)simt.current;
    }
}

SIMT_OWN void simt_note_write(simt_cell &cell, int kind)
{
    int warp = simt.current / SIMT_LANES, lane = simt.current % SIMT_LANES;
    cell.write_epoch = simt_watch.epoch;
    cell.write_clock = simt_watch.clock[warp][lane][lane];
    cell.writer = (int16_t)simt.current;
    cell.write_was_atomic = kind & SIMT_ATOMIC;
    cell.read_epoch = 0;
}

/* A reader of this cell that the running thread, about to write, does not come after; -1 if there is none. */
SIMT_OWN int simt_unordered_reader(const simt_cell &cell)
{
    if (cell.read_epoch != simt_watch.epoch)
        return -1;
    for (unsigned lanes = cell.read_lanes; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes), thread = cell.read_warp * SIMT_LANES + lane;
        if (!simt_is_after(thread, simt_watch.read_clocks[&cell - simt_watch.cells][lane]))
            return thread;
    }
    return cell.other_reader;
}

/* What came with a box is there for those who have waited for it. */
SIMT_OWN bool simt_has_awaited(const simt_cell &cell)
{
    const std::vector<uint32_t> &awaited = simt.threads[simt.current].awaited;
    return cell.box < awaited.size() && awaited[cell.box] >= cell.write_clock;
}

SIMT_OWN void simt_watch_cell(simt_cell &cell, size_t offset, int kind)
{
    if (cell.copy_epoch >= simt_watch.block_epoch)
        simt_fault(simt.current, "%s of shared memory with a copy under way, %s",
                   kind & SIMT_WRITE ? "write" : "read", simt_place_of(offset).text);
    if ((kind & SIMT_READ) && cell.write_epoch < simt_watch.block_epoch)
        simt_fault(simt.current, "shared memory read before it was written, %s", simt_place_of(offset).text);
    if (cell.writer == SIMT_SENT && cell.write_epoch >= simt_watch.block_epoch) {
        if (!simt_has_awaited(cell))
            simt_fault(simt.current, "%s of what another block sent without waiting for it, %s",
                       kind & SIMT_WRITE ? "write" : "read", simt_place_of(offset).text);
    } else if (cell.write_epoch == simt_watch.epoch && !(cell.write_was_atomic && (kind & SIMT_ATOMIC)) &&
               !simt_is_after(cell.writer, cell.write_clock))
        simt_race(offset, "write", cell.writer, kind);
    if (!(kind & SIMT_WRITE)) {
        simt_note_read(cell);
        return;
    }
    int reader = simt_unordered_reader(cell);
    if (reader >= 0)
        simt_race(offset, "read", reader, kind);
    simt_note_write(cell, kind);
}

/* The cells of a stretch of a block's shared memory, one after another: bytes from offset on. */
struct simt_stretch {
    simt_watch_block_state *block;
    size_t offset, end;
};

/* What is known of a word is known of each of its bytes. */
SIMT_OWN void simt_split_word(simt_watch_block_state *block, size_t word)
{
    block->cells[word].is_split = true;
    for (size_t cell = simt_word_count() + 4 * word, i = 0; i < 4; i++) {
        block->cells[cell + i] = block->cells[word];
        memcpy(block->read_clocks[cell + i], block->read_clocks[word], sizeof(simt_read_clock));
    }
}

/* The next cell, which is of a word where all of that is in the stretch; null at the end. */
SIMT_OWN simt_cell *simt_next_cell(simt_stretch &stretch)
{
    size_t word = stretch.offset / 4;
    if (stretch.offset >= stretch.end)
        return nullptr;
    if (!stretch.block->cells[word].is_split) {
        if (stretch.offset % 4 == 0 && stretch.end - stretch.offset >= 4) {
            stretch.offset += 4;
            return &stretch.block->cells[word];
        }
        simt_split_word(stretch.block, word);
    }
    return &stretch.block->cells[simt_word_count() + stretch.offset++];
}

SIMT_OWN void simt_watch_shared(size_t offset, size_t bytes, int kind)
{
    simt_stretch stretch = {simt_this_block().watch, offset, offset + bytes};
    for (size_t at = offset; simt_cell *cell = simt_next_cell(stretch); at = stretch.offset)
        simt_watch_cell(*cell, at, kind);
}

/* The arrays that a kernel uses are those that it touches, as far as can be seen; they, and they with the launch's own
   bytes, must not be more than there are. */
SIMT_OWN void simt_watch_arrays(size_t offset)
{
    uint16_t number = simt_watch.array_at[offset];
    if (number == 0 || simt_arrays[number - 1u].launch == simt_watch.launch)
        return;
    simt_arrays[number - 1u].launch = simt_watch.launch;
    simt_watch.static_bytes += simt_arrays[number - 1u].bytes;
    if (simt_watch.static_bytes > SIMT_DEFAULT_SHARED)
        simt_fault(simt.current, "%zu bytes of static shared memory in one kernel", simt_watch.static_bytes);
    if (simt_watch.static_bytes + simt.shared_bytes > simt.shared_limit)
        simt_fault(simt.current, "%zu bytes of static shared memory with %zu of dynamic, more than %zu together",
                   simt_watch.static_bytes, simt.shared_bytes, simt.shared_limit);
}

/* An asynchronous copy to there begins, or has arrived. */
SIMT_OWN void simt_watch_copy(const void *to, size_t bytes, bool begins)
{
    size_t offset = (uintptr_t)to - (uintptr_t)simt.shared;
    simt_stretch stretch = {simt_this_block().watch, offset, offset + bytes};
    while (simt_cell *cell = simt_next_cell(stretch))
        cell->copy_epoch = begins ? simt_watch.epoch : 0;
}

/* 16 bytes are on their way to that place of a block of the cluster, or have come with this box. */
SIMT_OWN void simt_watch_message(simt_watch_block_state *block, size_t offset, bool begins, size_t box, uint32_t full)
{
    simt_stretch stretch = {block, offset, offset + 16};
    while (simt_cell *cell = simt_next_cell(stretch)) {
        cell->copy_epoch = begins ? simt_watch.last_epoch : 0;
        cell->writer = SIMT_SENT;
        cell->write_epoch = simt_watch.last_epoch;
        cell->write_clock = full;
        cell->box = (uint16_t)box;
        cell->write_was_atomic = false;
        cell->read_epoch = 0;
    }
}

#endif
