/* watch_global.h - the watch on each word of global memory. */
#ifndef SIMT_WATCH_GLOBAL_H
#define SIMT_WATCH_GLOBAL_H

#include "global_memory.h"
#include "watch_shared.h"

SIMT_OWN void simt_global_race(const char *earlier, int thread, int kind)
{
    uint3 a = simt.threads[thread < 0 ? 0 : thread].index;
    char who[64];
    if (thread < 0)
        snprintf(who, sizeof who, "another block");
    else
        snprintf(who, sizeof who, "thread (%u,%u,%u)", a.x, a.y, a.z);
    simt_fault(simt.current, "race on global memory: %s by %s, %s by thread (%u,%u,%u)", earlier, who,
               kind & SIMT_WRITE ? "write" : "read", threadIdx.x, threadIdx.y, threadIdx.z);
}

/* Returns the reader's number, for later writers: that of its block, or of its cluster, whose blocks may be ordered by
   messages that the watch does not follow. */
SIMT_OWN uint32_t simt_watch_reader(void)
{
    uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    return simt.cluster_size > 1 ? block / (uint32_t)simt.cluster_size : simt_watch.block;
}

SIMT_OWN void simt_note_word_read(simt_word_cell &cell, uint32_t clock, bool is_atomic)
{
    if (cell.first_read < simt_watch.launch_epoch)
        cell.first_read = simt_watch.epoch, cell.reads_were_atomic = true, cell.other_block_read = false,
        cell.read_block = simt_watch_reader();
    cell.other_block_read |= cell.read_block != simt_watch_reader();
    if (cell.read_epoch != simt_watch.epoch)
        cell.read_epoch = simt_watch.epoch, cell.reader[0] = (int16_t)simt.current, cell.read_clock[0] = clock;
    cell.reader[1] = (int16_t)simt.current, cell.read_clock[1] = clock;
    cell.reads_were_atomic &= is_atomic;
}

SIMT_OWN void simt_watch_word(simt_word_cell &cell, int kind)
{
    bool is_atomic = kind & SIMT_ATOMIC;
    uint32_t clock = simt_watch.clock[simt.current / SIMT_LANES][simt_lane_id()][simt_lane_id()];
    if (cell.write_epoch >= simt_watch.launch_epoch && !(cell.write_was_atomic && is_atomic)) {
        if (cell.write_block != simt_watch.block)
            simt_global_race("write", -1, kind);
        if (cell.write_epoch == simt_watch.epoch && !simt_is_after(cell.writer, cell.write_clock))
            simt_global_race("write", cell.writer, kind);
    }
    if (!(kind & SIMT_WRITE)) {
        simt_note_word_read(cell, clock, is_atomic);
        return;
    }
    if (cell.first_read >= simt_watch.launch_epoch && !(cell.reads_were_atomic && is_atomic)) {
        if (cell.read_block != simt_watch_reader() || cell.other_block_read)
            simt_global_race("read", -1, kind);
        for (int i = 0; i < 2 && cell.read_epoch == simt_watch.epoch; i++)
            if (!simt_is_after(cell.reader[i], cell.read_clock[i]))
                simt_global_race("read", cell.reader[i], kind);
    }
    cell.write_epoch = simt_watch.epoch;
    cell.write_block = simt_watch.block;
    cell.write_clock = clock;
    cell.writer = (int16_t)simt.current;
    cell.write_was_atomic = is_atomic;
    cell.first_read = cell.read_epoch = 0;
}

/* Watches whole words only, because the bytes of one word may well belong to different threads. */
SIMT_OWN void simt_watch_global(size_t offset, size_t bytes, int kind)
{
    size_t first = offset / SIMT_PAGE, last = (offset + bytes - 1) / SIMT_PAGE;
    if (offset % SIMT_PAGE >= simt_global.bytes_in_page[first] ||
        (offset + bytes - 1) % SIMT_PAGE >= simt_global.bytes_in_page[last])
        simt_fault(simt.current, "%s of global memory that cudaMalloc has not given",
                   kind & SIMT_WRITE ? "write" : "read");
    for (size_t word = offset / 4; word < (offset + bytes) / 4; word++) {
        if (simt.is_early && !simt.threads[simt.current].has_waited &&
            (kind & SIMT_WRITE || simt_watch.words[word].write_epoch >= simt_watch.settled_epoch))
            simt_fault(simt.current, "%s of global memory before simt_grid_wait in a launch that began early",
                       kind & SIMT_WRITE ? "write" : "read");
        simt_watch_word(simt_watch.words[word], kind);
    }
}

#endif
