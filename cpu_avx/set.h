/* set.h - a room of cpu_avx.h: reads the rooms for the set whose file includes it, then undefines the set's macros.
   MIT licence, see LICENSE. */

enum { cpu_avx_lanes = CPU_AVX_P_LANES };

#include "rooms.h"

#undef CPU_AVX_SET_SUFFIX
#define CPU_AVX_SET_SUFFIX
#undef CPU_AVX_I
#undef CPU_AVX_P_HERE
#undef CPU_AVX_P_LANES
#undef CPU_AVX_P_HAS_FMA
#undef CPU_AVX_P_RCP_BITS
#undef CPU_AVX_P_REGISTER
#undef CPU_AVX_P_PREFIX
#undef CPU_AVX_P_MOVE
#undef CPU_AVX_OP_LOAD_PART
#undef CPU_AVX_OP_STORE_PART
#undef CPU_AVX_OP_STREAM
#undef CPU_AVX_OP_FMA
#undef CPU_AVX_OP_FNMA
#undef CPU_AVX_OP_MIN
#undef CPU_AVX_OP_MAX
#undef CPU_AVX_OP_SQRT
#undef CPU_AVX_OP_DOWN
#undef CPU_AVX_OP_SELECT
#undef CPU_AVX_OP_RCP
