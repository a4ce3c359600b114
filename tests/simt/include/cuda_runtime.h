/* cuda_runtime.h - for programs that include CUDA's: the emulator has come before them, and has what there is.
   MIT licence, see LICENSE. */
#ifndef SIMT_EMULATOR
#error "compile by tests/simt/run, or by g++ -include tests/simt/simt.h"
#endif
