/* watch.h - in the watched build every access of the program to memory comes here. */
#ifndef SIMT_WATCH_H
#define SIMT_WATCH_H

#include "global_memory.h"

enum { SIMT_READ = 1, SIMT_WRITE = 2, SIMT_ATOMIC = 4, SIMT_ALIGNED = 8 /* must be aligned to its size */ };
enum { SIMT_SENT = -1 }; /* as a writer: another block */

#if SIMT_WATCHED

#include "watch_global.h"

/* Notes a write to another block's shared memory (simt_cluster_map), so that this block may read what was written. */
SIMT_OWN void simt_watch_mapped(const volatile void *address, size_t bytes)
{
    for (int rank = 0; rank < simt.cluster_size; rank++) {
        size_t offset = (uintptr_t)address - (uintptr_t)simt.blocks[rank]->image;
        if (rank == simt.rank || offset >= simt.shared_range)
            continue;
        simt_stretch stretch = {simt.blocks[rank]->watch, offset, offset + bytes};
        while (simt_cell *cell = simt_next_cell(stretch))
            cell->write_epoch = stretch.block->block_epoch, cell->writer = 0;
    }
}

/* Watches an access of a kernel that is not to a stack. */
SIMT_OWN void simt_watch_memory(const volatile void *address, size_t bytes, int kind)
{
    size_t offset = (uintptr_t)address - (uintptr_t)simt.shared;
    size_t global = (uintptr_t)address - (uintptr_t)simt_global.bottom;
    bool is_global = global < SIMT_ARENA_BYTES && simt_global.bottom, is_shared = offset < simt.shared_range;
    if ((kind & SIMT_ALIGNED) && (is_global || is_shared) && (uintptr_t)address % bytes)
        simt_fault(simt.current, "misaligned address: %s of %zu bytes of %s memory, %zu beyond a multiple of as many",
                   kind & SIMT_WRITE ? "write" : "read", bytes, is_shared ? "shared" : "global",
                   (size_t)((uintptr_t)address % bytes));
    if (is_global)
        simt_watch_global(global, bytes, kind);
    if (!is_shared) {
        if (simt.cluster_size > 1 && (kind & SIMT_WRITE))
            simt_watch_mapped(address, bytes);
        return;
    }
    size_t in_dynamic = (uintptr_t)address - (uintptr_t)simt_dynamic_shared;
    if (in_dynamic < SIMT_MAX_SHARED && in_dynamic + bytes > simt.shared_bytes)
        simt_fault(simt.current, "access to %s, of which the launch asked for %zu", simt_place_of(offset).text,
                   simt.shared_bytes);
    if (in_dynamic >= SIMT_MAX_SHARED && simt_is_between_arrays(offset, bytes))
        simt_fault(simt.current, "access to %s, which is in no array", simt_place_of(offset).text);
    simt_watch_arrays(offset);
    simt_watch_shared(offset, bytes, kind);
}

/* Watches an access of the program. Nearly all accesses of a kernel are to its threads' stacks. */
SIMT_OWN __attribute__((always_inline)) void simt_watch_access(const volatile void *address, size_t bytes, int kind)
{
    if (simt.current >= 0 && (uintptr_t)address - (uintptr_t)simt.stacks >= SIMT_ALL_STACKS)
        simt_watch_memory(address, bytes, kind);
}

#else

SIMT_OWN simt_watch_block_state *simt_watch_new_block(void) { return nullptr; }
SIMT_OWN void simt_watch_leave(simt_watch_block_state *) {}
SIMT_OWN void simt_watch_enter(simt_watch_block_state *) {}
SIMT_OWN void simt_watch_message(simt_watch_block_state *, size_t, bool, size_t, uint32_t) {}
SIMT_OWN void simt_watch_barrier(void) {}
SIMT_OWN void simt_watch_launch(void) {}
SIMT_OWN void simt_watch_block(void) {}
SIMT_OWN void simt_watch_copy(const void *, size_t, bool) {}
SIMT_OWN void simt_watch_syncwarp(int, unsigned) {}
SIMT_OWN void simt_watch_access(const volatile void *, size_t, int) {}

#endif

#endif
