/* cpu_cases.h - what the tests of cpu_avx.h share: each instruction set forced, arrays between guard words.
   MIT licence, see LICENSE.

       for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) ...      each one that this processor has
       guarded g = guard(n * sizeof(float), 4);                            at 4 bytes from a line of the cache
       float *x = (float *)g.at;
       ... unguard(&g, "x of %s", cpu_avx_name(isa));                      checks the guard words, frees

   C11. One translation unit a test program, as check.h. */
#ifndef CPU_CASES_H
#define CPU_CASES_H

#include "check.h"
#include "cpu_avx.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Counts what cannot run here; to be called once in a test program. */
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

/* Bytes at some distance from a cache line, between two stretches of a pattern: a store beyond the end is seen even
   where the sanitizer does not look, as in masked stores. */
enum { GUARD_BYTES = 1024 };
typedef struct {
    void *at;
    unsigned char *all;
    size_t before, bytes;
} guarded;

CHECK_UNUSED static guarded guard(size_t bytes, size_t offset)
{
    guarded g;
    g.bytes = bytes;
    g.all = (unsigned char *)malloc(bytes + 2 * GUARD_BYTES + 64 + offset);
    if (!g.all) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    g.before = GUARD_BYTES + (64 - (uintptr_t)(g.all + GUARD_BYTES) % 64) % 64 + offset;
    g.at = g.all + g.before;
    memset(g.all, 0xa5, g.before);
    memset(g.at, 0xff, bytes); /* NaN: what is read before it is written shows */
    memset(g.all + g.before + bytes, 0xa5, GUARD_BYTES);
    return g;
}

CHECK_PRINTF(2, 3)
static void unguard(guarded *g, const char *format, ...)
{
    int intact = 1;
    char text[256];
    va_list args;
    for (size_t i = 0; i < g->before; i++) intact &= g->all[i] == 0xa5;
    for (size_t i = 0; i < GUARD_BYTES; i++) intact &= g->all[g->before + g->bytes + i] == 0xa5;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    CHECK(intact, "%s: written beyond its ends", text);
    free(g->all);
    g->all = 0;
}

#endif
