/* entries.h - a room of trid/batch.h: the list of launches that take no function object, each in both precisions, and
   trid_device_query.

   In CUDA C++, launches take bounds as template arguments: trid_batch_solve_f32<137>. For C, for C++ without a
   CUDA compiler, and for shared libraries they are functions with C linkage: one CUDA file, with
   TRID_BATCH_IMPLEMENTATION, defines them, and the files in C or C++ that call them declare them.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

#ifdef SIMT_EMULATOR
#define TRID_P_BATCH_STREAM cudaStream_t
#else
struct CUstream_st; /* cudaStream_t points to one */
#define TRID_P_BATCH_STREAM struct CUstream_st *
#endif
#if !defined __cplusplus
#define TRID_P_BATCH_LINKED int
#elif TB_LAUNCHES && !defined TRID_BATCH_IMPLEMENTATION
#define TRID_P_BATCH_LINKED                                                                                            \
    template <int... bounds>                                                                                           \
    static int
#define TRID_P_BATCH_GIVEN <bounds...>
#else
#define TRID_P_BATCH_LINKED extern "C" int
#define TRID_P_BATCH_GIVEN
#endif
#if TB_LAUNCHES
#define TRID_P_BATCH_CALLS(name, arguments)                                                                            \
    {                                                                                                                  \
        return name TRID_P_BATCH_GIVEN arguments;                                                                      \
    }
#else
#define TRID_P_BATCH_CALLS(name, arguments) ;
#endif
#define TRID_P_BATCH_ENTRY(name, parameters, arguments)                                                                \
    TRID_P_BATCH_LINKED TB_OF(name) parameters TRID_P_BATCH_CALLS(name, arguments)

#ifdef __cplusplus
extern "C++" {
#endif
/* Asks the CUDA runtime what launches need to know about the current device.
   Leaves   the answers in *device. They hold while the same device is current, for launches in the same source file
            (with C linkage: for all launches); launches in other source files ignore them
   Returns  TRID_BATCH_OK or TRID_BATCH_LAUNCH_FAILED
   Cost     a few calls to the CUDA runtime for each cluster size, 1 to 16 blocks */
TRID_P_BATCH_LINKED trid_device_query(trid_device *device) TRID_P_BATCH_CALLS(trid_p_batch_query, (device))
#ifdef __cplusplus
}
#endif

#define TB_BODY "batch/entries.h"
#include "../twice.h"
#undef TRID_P_BATCH_STREAM
#undef TRID_P_BATCH_LINKED
#undef TRID_P_BATCH_GIVEN
#undef TRID_P_BATCH_CALLS
#undef TRID_P_BATCH_ENTRY

#else /* TB_BODY: over tb_real */

/* clang-format off */
#define TRID_P_BATCH_MATRIX const tb_real *a, const tb_real *b, const tb_real *c
#define TRID_P_BATCH_LAST const trid_batch_options *options, TRID_P_BATCH_STREAM stream
#define TRID_P_BATCH_SOLVES(name)                                                                                      \
    TRID_P_BATCH_ENTRY(name, (trid_lines lines, TRID_P_BATCH_MATRIX, const tb_real *d, tb_real *x, TRID_P_BATCH_LAST), \
                       (lines, a, b, c, d, x, options, stream))

TRID_P_BATCH_SOLVES(trid_batch_solve)
TRID_P_BATCH_SOLVES(trid_batch_shared)
TRID_P_BATCH_SOLVES(trid_batch_pivoted)
TRID_P_BATCH_SOLVES(trid_batch_checked)
TRID_P_BATCH_SOLVES(trid_batch_refined)
TRID_P_BATCH_ENTRY(trid_batch_several,
                   (trid_lines lines, long long sides, long long pitch, TRID_P_BATCH_MATRIX, const tb_real *d,
                    tb_real *x, TRID_P_BATCH_LAST),
                   (lines, sides, pitch, a, b, c, d, x, options, stream))
TRID_P_BATCH_ENTRY(trid_batch_factor,
                   (trid_lines lines, TRID_P_BATCH_MATRIX, tb_real *r, tb_real *u, TRID_P_BATCH_LAST),
                   (lines, a, b, c, r, u, options, stream))
TRID_P_BATCH_ENTRY(trid_batch_interface_reduce,
                   (trid_lines lines, TRID_P_BATCH_MATRIX, const tb_real *d, long long share, tb_real *interface_a,
                    tb_real *interface_c, tb_real *interface_d, TRID_P_BATCH_LAST),
                   (lines, a, b, c, d, share, interface_a, interface_c, interface_d, options, stream))
TRID_P_BATCH_ENTRY(trid_batch_interface_expand,
                   (trid_lines lines, TRID_P_BATCH_MATRIX, const tb_real *d, long long share, const tb_real *ends,
                    tb_real *x, TRID_P_BATCH_LAST),
                   (lines, a, b, c, d, share, ends, x, options, stream))
TRID_P_BATCH_ENTRY(trid_batch_interface_factor,
                   (trid_lines lines, TRID_P_BATCH_MATRIX, tb_real *u, tb_real *v, long long share,
                    tb_real *interface_a, tb_real *interface_c, int *reach, TRID_P_BATCH_LAST),
                   (lines, a, b, c, u, v, share, interface_a, interface_c, reach, options, stream))
TRID_P_BATCH_ENTRY(trid_batch_interface_weigh,
                   (trid_lines lines, const tb_real *u, const tb_real *v, const tb_real *d, long long first,
                    long long last, long long share, tb_real *interface_d, TRID_P_BATCH_LAST),
                   (lines, u, v, d, first, last, share, interface_d, options, stream))

#undef TRID_P_BATCH_MATRIX
#undef TRID_P_BATCH_LAST
#undef TRID_P_BATCH_SOLVES
/* clang-format on */
#endif /* TB_BODY */
