/* cpu_cases.h - what the tests of cpu_avx.h share: each instruction set forced, arrays between guard words and at pages
   that nobody may touch.
   MIT licence, see LICENSE.

       for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) ...      each one that this processor has
           if (cpu_left_out(isa)) continue;                                in the short run one of them
       guarded g = guard(n * sizeof(float), 4);                            begins 4 bytes into a cache line
       float *x = (float *)g.at;
       ... unguard(&g, "x of %s", cpu_avx_name(isa));                      checks the guard words, frees

   C11, after #define _DEFAULT_SOURCE. One translation unit a test program, as check.h. */
#ifndef CPU_CASES_H
#define CPU_CASES_H

#include "check.h"
#include "cpu_avx.h"
#include "random.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The exceptions that no call with finite data and good pivots may raise, whatever its unused lanes hold. */
enum { CPU_RAISED_BY_BAD = FE_INVALID | FE_DIVBYZERO };

/* CPU_ISA=name in the environment leaves the others out: Valgrind does not know AVX-512. */
static int cpu_next(int isa)
{
    const char *only = getenv("CPU_ISA");
    for (isa++; isa < CPU_AVX_ISAS; isa++)
        if (cpu_avx_has(isa) && (!only || !strcmp(only, cpu_avx_name(isa)))) return isa;
    return -1;
}
static int cpu_first(void)
{
    return cpu_next(-1);
}

/* Returns whether a set leaves this case out: in the short run one set, chosen at random when the first set asks, tries
   the case; otherwise each set does. */
CHECK_UNUSED static int cpu_left_out(int isa)
{
    static case_random dice = {20251123};
    static int chosen, told;
    if (!check_short()) return 0;
    if (!told++) check_skip(1, "each case of many by all instruction sets but one: SHORT_TESTS is set");
    if (isa == cpu_first()) {
        int sets = 0;
        for (int other = cpu_first(); other >= 0; other = cpu_next(other))
            if (case_below(&dice, ++sets) == 0) chosen = other;
    }
    return isa != chosen;
}

/* Counts the sets that cannot run here as skipped. A test program calls it once. */
CHECK_UNUSED static void cpu_skips(void)
{
    const char *only = getenv("CPU_ISA");
    for (int isa = 0; isa < CPU_AVX_ISAS; isa++) {
        if (!cpu_avx_has(isa))
            check_skip(1, "%s: this processor or compiler does not have it", cpu_avx_name(isa));
        else if (only && strcmp(only, cpu_avx_name(isa)))
            check_skip(1, "%s: CPU_ISA asks for %s alone", cpu_avx_name(isa), only);
    }
}

/* An array at some distance from the beginning of a cache line, between two pages that nobody may touch. Reads beyond
   its ends are noticed as well as writes, those of intrinsics too: the array's last cache line is the last before a
   page. Every other array that begins with a cache line follows a page directly instead. What lies between the array
   and the pages holds a pattern. */
typedef struct {
    void *at;
    unsigned char *all; /* all that may be touched */
    size_t bytes, size; /* of the array; of `all` */
} guarded;

enum { GUARD_KEPT = 16 };
static unsigned char *guard_kept[GUARD_KEPT]; /* freed memory, kept for later arrays */
static size_t guard_kept_size[GUARD_KEPT];

static unsigned char *guard_room(size_t size, size_t page)
{
    for (int i = 0; i < GUARD_KEPT; i++)
        if (guard_kept[i] && guard_kept_size[i] == size) {
            unsigned char *room = guard_kept[i];
            guard_kept[i] = NULL;
            return room;
        }
    unsigned char *all = (unsigned char *)mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, size, PROT_READ | PROT_WRITE)) {
        perror("mmap");
        exit(EXIT_FAILURE);
    }
    return all + page;
}

CHECK_UNUSED static guarded guard(size_t bytes, size_t offset)
{
    static int turn;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), lines = (bytes + offset % 64 + 63) / 64 * 64;
    guarded g;
    g.bytes = bytes;
    g.size = lines ? (lines + page - 1) / page * page : page;
    g.all = guard_room(g.size, page);
    g.at = g.all + (offset % 64 == 0 && turn++ % 2 ? 0 : g.size - lines + offset % 64);
    memset(g.all, 0xa5, g.size);
    memset(g.at, 0xff, bytes); /* NaN, so that reading before writing shows */
    return g;
}

CHECK_PRINTF(2, 3)
static void unguard(guarded *g, const char *format, ...)
{
    static int place;
    const unsigned char *from = (unsigned char *)g->at, *to = from + g->bytes;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int intact = 1;
    char text[256];
    va_list args;
    for (const unsigned char *p = g->all; p < from; p++) intact &= *p == 0xa5;
    for (const unsigned char *p = to; p < g->all + g->size; p++) intact &= *p == 0xa5;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    CHECK(intact, "%s: written beyond its ends", text);
    place = (place + 1) % GUARD_KEPT;
    if (guard_kept[place]) munmap(guard_kept[place] - page, guard_kept_size[place] + 2 * page);
    guard_kept[place] = g->all, guard_kept_size[place] = g->size;
    g->all = 0;
}

#endif
