/* adi3d.h - PDEs of your own in three factors, solved on grids by alternating directions, on a GPU and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h, transpose.h and the folder trid beside it.

   The equation is, with V_1 the derivative of V along x and so on,
       V_t + drift_1 V_1 + drift_2 V_2 + drift_3 V_3 + diffusion_1 V_11 + diffusion_2 V_22 + diffusion_3 V_33
           + mixed_12 V_12 + mixed_13 V_13 + mixed_23 V_23 + source = kill V.
   The ADI schemes of pde/fd.h march it backwards from the values at maturity. A model supplies the terms of the
   equation, as for one and two factors (pde/common/model.h). It is one file of C, for both precisions, for the host and
   for kernels. To make a model of three factors from one of two, add the third factor's terms:

       #include "pde/adi3d.h"
       typedef struct { .. } MODEL_parameters;
       FD_NUMBERS(MODEL, x, half_square)
       FD_NUMBERS(MODEL, y, drift)
       FD_NUMBERS(MODEL, z, drift)
       FD_NO_NUMBERS(MODEL, t)
       FD_HD void MODEL_of_x(const MODEL_parameters *p, double at, MODEL_x_f64 *x) { x->half_square = at * at / 2; }
       FD_HD void MODEL_of_y(const MODEL_parameters *p, double at, MODEL_y_f64 *y) { .. }
       FD_HD void MODEL_of_z(const MODEL_parameters *p, double at, MODEL_z_f64 *z) { .. }
       FD_TERMS(3, MODEL, terms->diffusion[0] = x->half_square * y->at; terms->drift[2] = z->drift; ..)
       enum { MODEL_fitting = FD_CENTRAL };
       FD_HD double MODEL_payoff(const MODEL_parameters *p, const double *at) { .. }
       #define FD_MODEL_MIXED (1 + 2 + 4)
       #define FD_MODEL MODEL
       #include "pde/adi3d.h"

   Include the header twice, at global scope: before the model, for the words in which a model is written, and after it,
   with FD_MODEL defined. The second time it defines, in both precisions (_f32 and _f64):
     host (common/host.h)
       MODEL_host_bytes         bytes of memory for all workers together
       MODEL_host               solves a batch with several workers: OpenMP's threads if the program is compiled with
                                OpenMP. If workers outnumber the problems, they share each problem
       MODEL_host_problems      solves some of the problems in the calling thread: for threads of any kind
       MODEL_host_worker        does one worker's part of problems that all workers share: for threads of any kind that
                                can wait for each other
       MODEL_suggest            finds the points and steps for a tolerance (common/suggest.h)
       MODEL_suggest_bytes      bytes of memory for MODEL_suggest
     GPU (nvcc; without a GPU, tests/simt): large grids, in device memory (adi3d/device_march.h). The batch's arrays,
     parameters and results are in host memory
       MODEL_device_bytes       bytes of device memory for MODEL_device
       MODEL_device             solves the problems one after another
     GPU: many grids of up to 48 points an axis (adi3d/onchip.h). The batch's arrays, parameters and results are in
     device memory
       MODEL_onchip_blocks      returns how many blocks a problem takes; 0 if grids of this size do not fit the current
                                device
       MODEL_onchip_bytes       bytes of device memory for MODEL_onchip
       MODEL_onchip             takes all steps of a problem in one kernel, with its grid in the shared memory of a
                                block or of the blocks of a cluster
     host or GPU (adi3d/solve.h)
       MODEL_bytes, MODEL_solve as MODEL_device_bytes and MODEL_device if the program is compiled for a GPU; otherwise
                                as MODEL_host_bytes and MODEL_host
   All models share
       adi3d_check              checks a batch
       adi3d_allocate, adi3d_free   memory for MODEL_solve
       fd_status_string         returns the text of a status

   pde/common/problem.h documents what the solvers share; in addition:
     Matrices Along an axis that the model declares independent (FD_MODEL_INDEPENDENT), all lines share one matrix, and
              MODEL_device solves with factors. It factors again when theta dt changes by more than rounding, when the
              numbers of t or the number of stages change, and when coefficients begin or cease to change within a
              step. Along x it uses factors only for up to 256 points and in steps within which nothing changes.

   pde/common/rooms.h lists the rooms. */

#ifndef ADI3D_H
#define ADI3D_H

#include "common/model.h"
#include "common/problem.h"
#include "common/chip.h"
#include "common/workers.h"
#include "../trid/interleaved.h"
#include "../trid/launch.h"
#include "../transpose.h"

#if TB_HOST_SCOPE
#include <stdlib.h>
#endif

#define ADI3D_VERSION 200 /* 100 * major + minor */

enum {
    ADI3D_MOST = FD_P_MOST_POINTS, /* the most points of an axis */
    ADI3D_MOST_ON_CHIP = 48, /* the most points of an axis on chip */
    ADI3D_P_PARTITIONS = 16  /* the most partitions into which sweeps cut a line along z */
};

/* Checks a batch.
   Returns  as fd_batch_check */
TB_HD int adi3d_check(const fd_batch *batch)
{
    return fd_batch_check(3, batch);
}

#if TB_HOST_SCOPE
/* Allocates memory for MODEL_solve: on the GPU if the program is compiled for one.
   Returns  a pointer for adi3d_free, or null on failure */
TB_HOST void *adi3d_allocate(size_t bytes)
{
#if TB_LAUNCHES
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
#else
    return malloc(bytes);
#endif
}
/* Frees memory that adi3d_allocate returned. */
TB_HOST void adi3d_free(void *memory)
{
#if TB_LAUNCHES
    cudaFree(memory);
#else
    free(memory);
#endif
}

/* Returns how many threads OpenMP would use. */
TB_HOST int adi3d_p_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
#endif

#endif /* ADI3D_H */

#ifdef FD_MODEL /* a model: the rooms, once for each precision */
#define FD_FACTORS 3
#define TB_BODY "../pde/common/rooms.h"
#include "../trid/twice.h"
#include "common/end.h"
#endif /* FD_MODEL */
