/* vector_functions.h - see cuda_runtime.h beside it. */
#include "cuda_runtime.h"
