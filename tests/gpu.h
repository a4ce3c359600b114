/* gpu.h - macros for the few things that a test or an example must write differently for a GPU and for tests/simt.
   MIT licence, see LICENSE.

       GPU_LAUNCH(kernel, grid, block, bytes, stream)(a, b);     kernel<<<grid, block, bytes, stream>>>(a, b)
       GPU_DYNAMIC_SHARED(name);                                 in a kernel: unsigned char *name or name[]
       GPU_OK(cudaMalloc(&p, n));                                prints and exits unless cudaSuccess */
#ifndef GPU_H
#define GPU_H

#include <stdio.h>
#include <stdlib.h>

#ifdef SIMT_EMULATOR
#define GPU_LAUNCH(kernel, grid, block, bytes, stream) SIMT_LAUNCH(kernel, grid, block, bytes, stream)
#define GPU_DYNAMIC_SHARED(name) SIMT_DYNAMIC_SHARED(name)
#else
#define GPU_LAUNCH(kernel, grid, block, bytes, stream) kernel<<<grid, block, bytes, stream>>>
#define GPU_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

/* A kernel is static, so that a kernel that a file does not launch is not an external symbol. */
#define GPU_KERNEL static __global__

#define GPU_OK(call)                                                                            \
    do {                                                                                        \
        cudaError_t gpu_error = (call);                                                         \
        if (gpu_error != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(gpu_error)); \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

#endif
