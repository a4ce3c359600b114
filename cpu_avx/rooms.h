/* rooms.h - a room of cpu_avx.h: includes, in order, the rooms that are read in every pass.
   MIT licence, see LICENSE. */

#include "vector.h"
#include "systems.h"
#include "interleaved.h"
#include "partitions.h"
#include "contiguous.h"
#include "scalar.h"
#include "cut.h"
#include "thomas.h"
#include "hybrid.h"
#include "one_factor.h"
#include "explicit.h"
#include "implicit.h"
#include "grid.h"
#include "grid_explicit.h"
#include "grid_implicit.h"
