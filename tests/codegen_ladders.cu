/* codegen_ladders.cu - every kernel of bs1d.h, bs3d.h and trid/batch.h, as the launch functions use them;
   tests/codegen.sh compiles them and looks at what came out.
   MIT licence, see LICENSE.

   Whoever takes a launch function's address has it compiled, and its kernels. nvcc defines CODEGEN_F64 for those in
   double precision, else they are those in single. */
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
