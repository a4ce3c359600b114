/* watch_shared.h - the watch on each byte of shared memory. */
#ifndef SIMT_WATCH_SHARED_H
#define SIMT_WATCH_SHARED_H

#include "faults.h"
#include "startup.h"

/* A __syncthreads between two accesses orders them: their epochs then differ. Within a warp a chain of __syncwarp
   orders them. For this each lane has a clock, which a __syncwarp advances. For each other lane it remembers the clock
   up to which it is ordered after that lane (a vector clock).

   A cell holds what is known of a word or a byte of shared memory. The readers are those since the last write, in one
   epoch. A cell keeps every reading lane of one warp, and one reader of all other warps. That is enough, because the
   next writer is in another warp than at least one of them.

   Nearly all accesses are of whole words of four bytes, so each word has a cell. A word that is accessed in part is
   watched byte by byte from then on, by further cells. Cells are small, because caches decide how fast the watch is;
   the clocks of readers are stored elsewhere. */
struct simt_cell {
    uint32_t write_epoch, write_clock;
    uint32_t read_epoch, read_lanes;
    int16_t writer, read_warp, other_reader;
    bool write_was_atomic, is_split; /* is_split: whether the bytes of this word have cells */
    uint16_t box; /* if the writer is SIMT_SENT: the box of its message, full for the write_clock-th time */
    uint32_t copy_epoch; /* when an asynchronous copy to here began; 0 if none is under way */
};
typedef uint32_t simt_read_clock[SIMT_LANES]; /* of the lanes of read_warp */

/* What is known of a word of four bytes of global memory: its last write; of the readers since then, the first in this
   launch; and, in one epoch, the first and the last reader. The watch may miss a race that three readers of one warp
   hide, but reports no false one. Nothing orders the blocks of a launch. What happened in earlier launches does not
   count. */
struct simt_word_cell {
    uint32_t write_epoch, write_clock;
    uint32_t first_read; /* an epoch */
    uint32_t read_epoch, read_clock[2];
    uint32_t write_block, read_block; /* the writer's, the first reader's */
    int16_t writer, reader[2];
    bool write_was_atomic, reads_were_atomic, other_block_read;
};

struct simt_watch_state {
    uint32_t last_epoch;   /* the newest of any block */
    uint32_t epoch;        /* of the running block; every __syncthreads and every block begins a new one */
    uint32_t block_epoch;  /* in which this block began */
    uint32_t block;        /* its number */
    uint32_t launch_epoch; /* in which this launch began */
    uint32_t settled_epoch; /* in which the last launch that did not begin early began: all may read older writes */
    uint32_t launch;       /* its number */
    size_t static_bytes;   /* of the arrays that this launch has accessed */
    uint16_t *array_at;    /* for each byte of shared memory: 1 + the number of its array, 0 if it is in none */
    simt_cell *cells;      /* of the running block: one for each word, then one for each byte */
    simt_read_clock *read_clocks; /* the clocks of the lanes that read these cells */
    simt_word_cell *words;
    uint32_t (*clock)[SIMT_LANES][SIMT_LANES]; /* of the running block: [warp][lane][other lane] */
};
SIMT_STATE simt_watch_state simt_watch;

/* The part of simt_watch_state that each block has for itself. */
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

/* Save and restore a block's part of the watch when another block runs. */
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
    simt_watch.block = simt_watch.last_epoch; /* any unique number will do */
}

/* Orders each lane of the mask after all that any of them is ordered after, and advances its clock. */
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

/* Returns whether the running thread is ordered after what `thread` did at this clock of its own, in this epoch. */
SIMT_OWN bool simt_is_after(int thread, uint32_t clock)
{
    if (thread == simt.current)
        return true;
    int warp = thread / SIMT_LANES;
    return warp == simt.current / SIMT_LANES &&
           simt_watch.clock[warp][simt_lane_id()][thread % SIMT_LANES] >= clock;
}

/* Where a byte lies, as text. */
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

/* Returns a reader of this cell after which the running thread, about to write, is not ordered; -1 if there is none. */
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

/* Returns whether the running thread has waited for the box whose message wrote this cell. */
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

/* A stretch of a block's shared memory whose cells are still to be visited. */
struct simt_stretch {
    simt_watch_block_state *block;
    size_t offset, end;
};

/* Gives each byte of a word a cell of its own, with what is known of the word. */
SIMT_OWN void simt_split_word(simt_watch_block_state *block, size_t word)
{
    block->cells[word].is_split = true;
    for (size_t cell = simt_word_count() + 4 * word, i = 0; i < 4; i++) {
        block->cells[cell + i] = block->cells[word];
        memcpy(block->read_clocks[cell + i], block->read_clocks[word], sizeof(simt_read_clock));
    }
}

/* Returns the next cell, that of a whole word if the word lies in the stretch and is not split; null at the end. */
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

/* Returns whether an access to static shared memory begins or ends in the padding between arrays; false if the program
   has no symbols, by which arrays are found. */
SIMT_OWN bool simt_is_between_arrays(size_t offset, size_t bytes)
{
    return !simt_arrays.empty() && (simt_watch.array_at[offset] == 0 || simt_watch.array_at[offset + bytes - 1] == 0);
}

/* Counts the static arrays that a launch accesses, as far as the watch sees them. Neither their size nor its sum with
   the launch's dynamic bytes may exceed what a kernel may have. */
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

/* Notes that an asynchronous copy to this place begins, or has arrived. */
SIMT_OWN void simt_watch_copy(const void *to, size_t bytes, bool begins)
{
    size_t offset = (uintptr_t)to - (uintptr_t)simt.shared;
    simt_stretch stretch = {simt_this_block().watch, offset, offset + bytes};
    while (simt_cell *cell = simt_next_cell(stretch))
        cell->copy_epoch = begins ? simt_watch.epoch : 0;
}

/* Notes that a message of 16 bytes is on its way to this place of a block, or has arrived with this box. */
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
