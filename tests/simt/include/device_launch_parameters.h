/* device_launch_parameters.h - see cuda_runtime.h beside it. */
#include "cuda_runtime.h"
