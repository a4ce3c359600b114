/* cuda_check.h - how the examples report a CUDA error: they print it and exit with 1, or with 3 if there is no GPU
   that CUDA can use. MIT licence, see LICENSE. */
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#if defined __CUDACC__ || defined SIMT_EMULATOR /* without CUDA some examples compile as C */
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
