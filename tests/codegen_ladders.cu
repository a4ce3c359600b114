/* codegen_ladders.cu - every kernel of bs1d.h, bs3d.h and trid/batch.h, as the launch functions use them;
   tests/codegen.sh compiles them and checks the result.
   MIT licence, see LICENSE.

   Taking the address of a launch function compiles it and its kernels. With CODEGEN_F64 defined they have double
   precision, otherwise single. */
#include "bs3d.h"
#include "trid/batch.h"

#ifdef CODEGEN_F64
#define IN(stem) (const void *)stem##_f64<>
#else
#define IN(stem) (const void *)stem##_f32<>
#endif

extern const void *const launches[];
const void *const launches[] = {
    IN(bs1d_explicit1), IN(bs1d_explicit2), IN(bs1d_explicit3), IN(bs1d_implicit1), IN(bs1d_implicit2),
    IN(bs1d_implicit3), IN(bs1d_implicit4), IN(bs3d_explicit1), IN(bs3d_explicit2), IN(bs3d_explicit3),
    IN(bs3d_explicit4), IN(bs3d_implicit1), IN(bs3d_implicit2), IN(bs3d_implicit3), IN(trid_batch_solve),
    IN(trid_batch_shared), IN(trid_batch_checked), IN(trid_batch_pivoted), IN(trid_batch_factor),
    IN(trid_batch_several),
};
