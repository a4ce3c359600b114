/* adi2d.h - solves batches of two-factor PDEs of your own, on GPUs (on chip where the grids fit) and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h, transpose.h and the folder trid beside it.

   The equation is V_t + drift_x V_x + drift_y V_y + diffusion_x V_xx + diffusion_y V_yy + mixed V_xy + source = kill V.
   The ADI schemes of pde/fd.h march it backwards from the values at maturity. A model supplies the terms of the
   equation, as for one factor (pde/common/model.h). It is one file of C, for both precisions, for the host and for
   kernels. (examples/heston_model.h is one; examples/adi2d_host.c solves it on a CPU, examples/adi2d_heston.cu on a
   GPU.) A model has this form:

       #include "pde/adi2d.h"
       typedef struct { .. } MODEL_parameters;
       FD_NUMBERS(MODEL, x, half_square)
       FD_NUMBERS(MODEL, y, drift)
       FD_NO_NUMBERS(MODEL, t)
       FD_HD void MODEL_of_x(const MODEL_parameters *p, double at, MODEL_x_f64 *x) { x->half_square = at * at / 2; }
       FD_HD void MODEL_of_y(const MODEL_parameters *p, double at, MODEL_y_f64 *y) { .. }
       FD_TERMS(2, MODEL, terms->diffusion[0] = x->half_square * y->at; terms->drift[1] = y->drift; ..)
       enum { MODEL_fitting = FD_CENTRAL };
       FD_HD double MODEL_payoff(const MODEL_parameters *p, const double *at) { .. }
       #define FD_MODEL_MIXED 1
       #define FD_MODEL MODEL
       #include "pde/adi2d.h"

   Include the header twice, at global scope: before the model, for the words in which a model is written, and after it,
   with FD_MODEL defined. The second time it defines, in both precisions (_f32 and _f64):
     host (common/host.h)
       MODEL_host_bytes         bytes of memory for all workers together
       MODEL_host               solves a batch with several workers: OpenMP's threads if the program is compiled with
                                OpenMP. If workers outnumber the problems, they share each large grid
       MODEL_host_problems      solves some of the problems in the calling thread: for threads of any kind
       MODEL_host_worker        does one worker's part of problems that all workers share: for threads of any kind that
                                can wait for each other
       MODEL_suggest            finds the points and steps for a tolerance (common/suggest.h)
       MODEL_suggest_bytes      bytes of memory for MODEL_suggest
     GPU (nvcc; without a GPU, tests/simt); parameters, memory and the batch's arrays lie in device memory
     (adi2d/onchip.h)
       MODEL_onchip_bytes       bytes of device memory for MODEL_onchip
       MODEL_onchip             takes all steps of a problem in one kernel, with the problem's grid in the shared memory
                                of a block or of the blocks of a cluster; if no cluster holds the grids, solves the
                                batch as MODEL_coalesced does
     the ladder's lower rungs (adi2d/rungs.h)
       MODEL_rung_bytes         bytes of device memory for each of the next two functions
       MODEL_naive              the plain version: grids in device memory, two kernels per stage, a thread per line
       MODEL_coalesced          the same with two copies of the grid, one in each order, so that all solves have
                                coalesced accesses
   All models share
       adi2d_check              checks a batch
       adi2d_status_string      returns the text of a status

   The cost of a step on chip depends on batch.kind. With ADI2D_PRODUCTS a step is two solves, one along each axis; it
   forms differences only if it cannot begin with the result of the previous step. A problem has one array in shared
   memory. With ADI2D_ONE_STAGE (Douglas' scheme) each step also forms differences at all points, and a problem has two
   arrays. With ADI2D_TWO_STAGES a problem has three arrays, and a step of two stages does all this twice.

   With ADI2D_PRODUCTS, MODEL_onchip factors one matrix along y for all columns if the model declares
   FD_MODEL_INDEPENDENT along y and either declares FD_MODEL_STEADY along y or has no numbers of t. It does so in the
   first step, and where theta dt changes by more than rounding.

   pde/common/rooms.h lists the rooms. To add a version, write a room like rungs.h, and include it there.

   pde/common/problem.h documents what the solvers share; pde/fd.h lists the statuses. */

#ifndef ADI2D_H
#define ADI2D_H

#include "common/model.h"
#include "common/problem.h"
#include "common/chip.h"
#include "common/workers.h"
#include "../trid/interleaved.h"
#include "../trid/launch.h"
#include "../transpose.h"

#define ADI2D_VERSION 200 /* 100 * major + minor */

enum {
    ADI2D_P_RUNG_THREADS = 64,
    ADI2D_P_RUNG_SET_UP_THREADS = 256,
    ADI2D_P_RUNG_BACK = 8 /* rows that a line's thread has in flight during back substitution */
};

/* Kinds of batches: what the caller promises about the steps of all problems. The simpler the steps, the less shared
   memory a problem takes. */
enum {
    ADI2D_TWO_STAGES, /* nothing: any scheme */
    ADI2D_ONE_STAGE,  /* each has one stage, as in Douglas' scheme */
    ADI2D_PRODUCTS    /* Douglas' scheme with theta 1/2 and without a Rannacher start (times.halves is 0); no mixed
                         term, no source, no exercise between dates; FD_LINEAR at all faces; the same coefficients
                         throughout a step (FD_MIDDLE, FD_NEW_END, or no numbers of t); all rows diagonally dominant.
                         Each point is checked for a source in three time steps (common/problem.h). Its rows are
                         checked for dominance with the coefficients of the first step and with those of the last: each
                         time with the step's own length and, if a step in between is longer than both, also with the
                         length of the longest. If the model has numbers of t, each step is also checked for a source
                         and for dominance at five points. A row without dominance that these checks miss is solved as
                         it is; a source that they miss makes the values wrong */
};

/* Statuses of a problem in addition to those of fd_status; ADI2D_BAD_KIND is a batch's. */
enum {
    ADI2D_NO_PRODUCT = -60, /* batch.kind says that all steps are products, but one is not: see ADI2D_PRODUCTS */
    ADI2D_TWO_STAGED = -61, /* batch.kind says that all steps have one stage, but one has two */
    ADI2D_BAD_KIND = FD_P_BAD_KIND /* batch.kind is unknown */
};

/* Returns the text of a status. */
TB_HD const char *adi2d_status_string(int what)
{
    return what == ADI2D_NO_PRODUCT   ? "a step is not a product of factors, although batch.kind is ADI2D_PRODUCTS"
           : what == ADI2D_TWO_STAGED ? "a step has two stages, although batch.kind is ADI2D_ONE_STAGE"
           : what == ADI2D_BAD_KIND   ? "unknown batch.kind"
                                      : fd_status_string(what);
}

/* Checks a batch.
   Returns  as fd_batch_check */
TB_HD int adi2d_check(const fd_batch *batch)
{
    return fd_batch_check(2, batch);
}

#endif /* ADI2D_H */

#ifdef FD_MODEL /* a model: the rooms, once for each precision */
#define FD_FACTORS 2
#define TB_BODY "../pde/common/rooms.h"
#include "../trid/twice.h"
#include "common/end.h"
#endif /* FD_MODEL */
