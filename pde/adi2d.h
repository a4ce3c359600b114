/* adi2d.h - batches of two-factor PDEs of your own, solved on chip by GPUs, and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h and the folder trid beside it.

   The equation is V_t + drift_x V_x + drift_y V_y + diffusion_x V_xx + diffusion_y V_yy + mixed V_xy + source = kill V.
   It is marched backwards from the values at maturity by the ADI schemes of pde/fd.h. A model writes what stands in it,
   as for one factor (pde/common/model.h): one file of C, for both precisions, for the host and for kernels.
   examples/heston_model.h is one, which adi2d_host.c solves on a CPU and adi2d_heston.cu on a GPU:

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

   The header is included twice, at global scope: before the model for its words, and after it with FD_MODEL set, which
   makes of it, in both precisions (_f32 and _f64):
     host (common/host.h)
       MODEL_host_bytes         memory that so many workers need together
       MODEL_host               solves a batch by so many workers: OpenMP's threads where the program is compiled with
                                it. Workers who outnumber the problems share each of them, if its grid is large
       MODEL_host_problems      solves some of the problems, by the calling thread: for threads of any kind
       MODEL_host_worker        one worker's part in problems that all share: for threads of any kind that can wait for
                                each other
       MODEL_suggest            how many points and steps a tolerance takes (common/suggest.h)
       MODEL_suggest_bytes      memory that it needs
     GPU (nvcc; tests/simt without one); batch, parameters and memory are the device's (adi2d/onchip.h)
       MODEL_onchip_bytes       device memory that the next needs
       MODEL_onchip             all steps of a problem in one kernel, its grid in the shared memory of a block, or of
                                the blocks of a cluster; grids that fit in none are solved as by MODEL_coalesced
     the ladder's lower rungs (adi2d/rungs.h)
       MODEL_rung_bytes         device memory of the next two
       MODEL_naive              grids in device memory, two kernels a stage, a thread a line: the plain version
       MODEL_coalesced          the same, with the grid twice, once in each order: all accesses are coalesced
   and all models share
       adi2d_check              checks a batch
       adi2d_status_string      what a status says

   The cost of a step on chip depends on its kind (batch.kind). In arrays of shared memory, and in passes that read and
   write all points, it takes: one array and two solves where no differences need to be formed (ADI2D_PRODUCTS); two
   arrays, the differences and two solves for Douglas' scheme; three arrays and all of that twice for the others.
   A march of products whose model declares FD_MODEL_INDEPENDENT and FD_MODEL_STEADY along y (or has no numbers of t)
   factors the matrix along y once, for all columns and all steps of the same length.

   The rooms are listed in pde/common/rooms.h. To add a version, write a room as rungs.h is, and include it there.

   What they share, and what a status says, is in pde/common/problem.h. */

#ifndef ADI2D_H
#define ADI2D_H

#include "common/model.h"
#include "common/problem.h"
#include "common/chip.h"
#include "common/workers.h"
#include "../trid/interleaved.h"
#include "../trid/launch.h"

#define ADI2D_VERSION 200 /* 100 * major + minor */

enum {
    ADI2D_P_RUNG_THREADS = 64,
    ADI2D_P_RUNG_SET_UP_THREADS = 256,
    ADI2D_P_RUNG_BACK = 8 /* rows that a line's thread has under way at the same time on the way back */
};

/* Kinds of batches: what is known of the steps of all problems. The less they do, the less of the chip a problem takes.
   */
enum {
    ADI2D_TWO_STAGES, /* nothing */
    ADI2D_ONE_STAGE,  /* Douglas' scheme */
    ADI2D_PRODUCTS    /* Douglas' scheme with theta 1/2, without a Rannacher start (times.halves 0), a mixed term, a
                         source, or exercise between dates; faces FD_LINEAR, the same coefficients throughout a step
                         (FD_MIDDLE, FD_NEW_END), all rows diagonally dominant. No differences are formed, and
                         memory holds one array (docs/adi2d.md) */
};

/* What may be wrong with a problem besides what fd_status says, or, ADI2D_BAD_KIND, with a batch. */
enum {
    ADI2D_NO_PRODUCT = -60, /* the batch says that all steps are products, and one is not: see ADI2D_PRODUCTS */
    ADI2D_TWO_STAGED = -61, /* the batch says that all steps have one stage, and one has two */
    ADI2D_BAD_KIND = FD_P_BAD_KIND /* batch.kind is unknown */
};

/* Returns the text of a status. */
TB_HD const char *adi2d_status_string(int what)
{
    return what == ADI2D_NO_PRODUCT   ? "a step is no product of factors, although batch.kind says so"
           : what == ADI2D_TWO_STAGED ? "a step has two stages, although batch.kind says one"
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

#ifdef FD_MODEL /* a model: the rooms, once a precision */
#define FD_FACTORS 2
#define TB_BODY "../pde/common/rooms.h"
#include "../trid/twice.h"
#include "common/end.h"
#endif /* FD_MODEL */
