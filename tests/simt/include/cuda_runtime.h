/* cuda_runtime.h - for programs that include CUDA's header of this name: the emulator, included before, replaces it.
   MIT licence, see LICENSE. */
#ifndef SIMT_EMULATOR
#error "compile by tests/simt/run, or by g++ -include tests/simt/simt.h"
#endif
