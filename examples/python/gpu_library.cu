/* gpu_library.cu - the launches of trid/batch.h, and the functions that torch_tridiagonal.py calls, as a shared
   library. MIT licence, see LICENSE.

   In the kit's folder (a minute or two, since all kernels are compiled):

       nvcc -O3 -arch=native -Xcompiler -fPIC -shared -I. -o libtriband.so examples/python/gpu_library.cu */
#define TRID_BATCH_IMPLEMENTATION
#include "trid/batch.h"

extern "C" {
long long batch_scratch(trid_lines lines, int flags, int bytes)
{
    return trid_batch_scratch(lines, flags, bytes);
}

const char *batch_status_string(int status)
{
    return trid_batch_status_string(status);
}
}
