/* global_memory.h - the device's memory, from which cudaMalloc allocates. */
#ifndef SIMT_GLOBAL_MEMORY_H
#define SIMT_GLOBAL_MEMORY_H

#include "machine.h"

#if SIMT_WATCHED

/* All of global memory is one range of addresses, by which the watch recognises it. Allocations take whole pages, from
   the bottom up, with one free page after each; when all have been freed, they begin at the bottom again. */
struct simt_piece {
    void *memory;
    size_t pages;
};
struct simt_arena {
    unsigned char *bottom;
    size_t used;
    uint16_t *bytes_in_page; /* how many bytes of each page are allocated */
    std::vector<simt_piece> pieces;
};
SIMT_STATE simt_arena simt_global;
enum : size_t { SIMT_ARENA_BYTES = (size_t)1 << 36, SIMT_PAGE = 4096 };

SIMT_OWN void *simt_reserve(size_t bytes, const char *what)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror(what);
        exit(SIMT_EXIT_STATUS);
    }
    return memory; /* only pages that are used take memory */
}

SIMT_OWN void *simt_take_global(size_t bytes)
{
    size_t pages = (bytes + SIMT_PAGE - 1) / SIMT_PAGE, first = simt_global.used / SIMT_PAGE;
    if (!simt_global.bottom) {
        simt_global.bottom = (unsigned char *)simt_reserve(SIMT_ARENA_BYTES, "simt: global memory");
        simt_global.bytes_in_page =
            (uint16_t *)simt_reserve(SIMT_ARENA_BYTES / SIMT_PAGE * sizeof(uint16_t), "simt: global memory");
    }
    if ((pages + 1) * SIMT_PAGE > SIMT_ARENA_BYTES - simt_global.used)
        return nullptr;
    void *memory = simt_global.bottom + simt_global.used;
    simt_global.used += (pages + 1) * SIMT_PAGE;
    simt_global.pieces.push_back(simt_piece{memory, pages});
    for (size_t page = 0; page < pages; page++)
        simt_global.bytes_in_page[first + page] =
            (uint16_t)(page + 1 < pages ? SIMT_PAGE : bytes - page * SIMT_PAGE);
    return memory;
}

SIMT_OWN void simt_give_global(void *memory)
{
    size_t number = 0;
    while (number < simt_global.pieces.size() && simt_global.pieces[number].memory != memory)
        number++;
    if (number == simt_global.pieces.size()) {
        free(memory); /* from cudaMallocHost */
        return;
    }
    size_t pages = simt_global.pieces[number].pages;
    size_t first = (size_t)((unsigned char *)memory - simt_global.bottom) / SIMT_PAGE;
    memset(simt_global.bytes_in_page + first, 0, pages * sizeof(uint16_t));
    madvise(memory, pages * SIMT_PAGE, MADV_DONTNEED);
    simt_global.pieces[number] = simt_global.pieces.back();
    simt_global.pieces.pop_back();
    if (simt_global.pieces.empty())
        simt_global.used = 0;
}

#else

/* Allocates exactly the size requested, so that the address sanitizer sees the first byte beyond it. */
SIMT_OWN void *simt_take_global(size_t bytes)
{
    void *memory = nullptr;
    return posix_memalign(&memory, 256, bytes) == 0 ? memory : nullptr;
}
SIMT_OWN void simt_give_global(void *memory) { free(memory); }

#endif

#endif
