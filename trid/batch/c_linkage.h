/* c_linkage.h - a room of trid/batch.h: the launches as functions with C linkage, for programs in C and for shared
   libraries. The one file with TRID_BATCH_IMPLEMENTATION defines them, all others declare them.
   MIT licence, see LICENSE. */

#ifndef TB_BODY

#ifdef SIMT_EMULATOR
#define TRID_P_BATCH_STREAM cudaStream_t
#else
struct CUstream_st; /* a stream is a cudaStream_t */
#define TRID_P_BATCH_STREAM struct CUstream_st *
#endif
#ifdef __cplusplus
#define TRID_P_BATCH_LINKED extern "C" int
#else
#define TRID_P_BATCH_LINKED int
#endif
#if TB_LAUNCHES
#define TRID_P_BATCH_CALLS(call)                                                                                       \
    {                                                                                                                  \
        return call;                                                                                                   \
    }
#else
#define TRID_P_BATCH_CALLS(call) ;
#endif

#define TB_BODY "batch/c_linkage.h"
#include "../twice.h"
#undef TRID_P_BATCH_STREAM
#undef TRID_P_BATCH_LINKED
#undef TRID_P_BATCH_CALLS

#else /* TB_BODY: over tb_real; the names are trid_batch_solve_f32, .. */
/* clang-format off */

TRID_P_BATCH_LINKED TB_OF(trid_batch_solve)(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                            const tb_real *d, tb_real *x, const trid_batch_options *options,
                                            TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_solve<0>(lines, a, b, c, d, x, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_shared)(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                             const tb_real *d, tb_real *x, const trid_batch_options *options,
                                             TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_shared<0>(lines, a, b, c, d, x, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_pivoted)(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                              const tb_real *d, tb_real *x, const trid_batch_options *options,
                                              TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_pivoted<0>(lines, a, b, c, d, x, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_checked)(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                              const tb_real *d, tb_real *x, const trid_batch_options *options,
                                              TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_checked<0>(lines, a, b, c, d, x, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_refined)(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                              const tb_real *d, tb_real *x, const trid_batch_options *options,
                                              TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_refined<0>(lines, a, b, c, d, x, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_several)(trid_lines lines, long long sides, long long pitch, const tb_real *a,
                                              const tb_real *b, const tb_real *c, const tb_real *d, tb_real *x,
                                              const trid_batch_options *options, TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_several<0>(lines, sides, pitch, a, b, c, d, x, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_factor)(trid_lines lines, const tb_real *a, const tb_real *b, const tb_real *c,
                                             tb_real *r, tb_real *u, const trid_batch_options *options,
                                             TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_factor<0>(lines, a, b, c, r, u, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_interface_reduce)(trid_lines lines, const tb_real *a, const tb_real *b,
                                                       const tb_real *c, const tb_real *d, long long share,
                                                       tb_real *interface_a, tb_real *interface_c, tb_real *interface_d,
                                                       const trid_batch_options *options, TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_interface_reduce<0>(lines, a, b, c, d, share, interface_a, interface_c, interface_d,
                                                  options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_interface_expand)(trid_lines lines, const tb_real *a, const tb_real *b,
                                                       const tb_real *c, const tb_real *d, long long share,
                                                       const tb_real *ends, tb_real *x,
                                                       const trid_batch_options *options, TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_interface_expand<0>(lines, a, b, c, d, share, ends, x, options, stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_interface_factor)(trid_lines lines, const tb_real *a, const tb_real *b,
                                                       const tb_real *c, tb_real *u, tb_real *v, long long share,
                                                       tb_real *interface_a, tb_real *interface_c, int *reach,
                                                       const trid_batch_options *options, TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_interface_factor<0>(lines, a, b, c, u, v, share, interface_a, interface_c, reach, options,
                                                  stream))

TRID_P_BATCH_LINKED TB_OF(trid_batch_interface_weigh)(trid_lines lines, const tb_real *u, const tb_real *v,
                                                      const tb_real *d, long long first, long long last,
                                                      long long share, tb_real *interface_d,
                                                      const trid_batch_options *options, TRID_P_BATCH_STREAM stream)
TRID_P_BATCH_CALLS(trid_batch_interface_weigh<0>(lines, u, v, d, first, last, share, interface_d, options, stream))

/* clang-format on */
#endif /* TB_BODY */
