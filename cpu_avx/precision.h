/* precision.h - a room of cpu_avx.h: reads the rooms for one precision, and for each set within it.
   MIT licence, see LICENSE. */

#undef CPU_AVX_PASS
#define CPU_AVX_PASS CPU_AVX_PASS_TYPES
#include "rooms.h"

#undef CPU_AVX_PASS
#define CPU_AVX_PASS CPU_AVX_PASS_SET
#include "sets.h"

#undef CPU_AVX_PASS
#define CPU_AVX_PASS CPU_AVX_PASS_ARRAY
#include "rooms.h"
