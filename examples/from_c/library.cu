/* library.cu - the launches of trid/batch.h for programs in C.
   MIT licence, see LICENSE. */
#define TRID_BATCH_IMPLEMENTATION
#include "trid/batch.h"
