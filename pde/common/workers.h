/* workers.h - a room of adi2d.h and adi3d.h: constants and the barrier of the host's engine, and compiler-dependent
   macros.
   MIT licence, see LICENSE. */
#ifndef FD_COMMON_WORKERS_H
#define FD_COMMON_WORKERS_H

#include "../fd.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#if TB_HOST_SCOPE

enum {
    FD_P_ROWS = 16,            /* rows of a grid whose right-hand sides the host computes and transposes at a time: few,
                                  so that they stay in a cache */
    FD_P_WORTH_SHARING = 32768 /* the fewest points per worker at which workers share a grid of two factors: with fewer,
                                  waiting would cost more than sharing saves */
};

/* Marks a function that the compiler must not copy, since two inlined copies might round differently. */
#ifdef __clang__
#define FD_P_ONE_COPY static __attribute__((noinline, unused))
#else
#define FD_P_ONE_COPY static __attribute__((noinline, noclone, unused))
#endif

/* The kinds of a matrix's rows: of inner points, of the first and of the last point. FD_P_ROW_THIRD is added to the
   last two for an FD_DEGENERATE face, whose row has a third unknown. FD_P_ROW_WHOLE is added to them in a product of
   factors, which omits no couplings: it has no old values on which an omitted coupling could act. */
enum { FD_P_ROW_INNER, FD_P_ROW_FIRST, FD_P_ROW_LAST, FD_P_ROW_THIRD = 4, FD_P_ROW_WHOLE = 8 };

#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define FD_P_SHUFFLES 1
#endif
#endif
#ifndef FD_P_SHUFFLES
#define FD_P_SHUFFLES 0
#endif

#ifdef _OPENMP
/* Waits for all threads of the OpenMP team. */
TB_HOST void fd_p_barrier(void *context)
{
    (void)context;
#pragma omp barrier
}
#endif

#endif

#endif /* FD_COMMON_WORKERS_H */
