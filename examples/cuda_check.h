/* cuda_check.h - what the examples do where CUDA reports an error: they say what is wrong and exit with 1, with 3 where
   there is no GPU that CUDA can use. MIT licence, see LICENSE. */
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#if defined __CUDACC__ || defined SIMT_EMULATOR /* some examples are C without it */
#include <stdio.h>
#include <stdlib.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    int none = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    fprintf(stderr, "%s: %s\n", none ? "no GPU that CUDA can use" : "CUDA", cudaGetErrorString(error));
    exit(none ? 3 : 1);
}
#endif

#endif
