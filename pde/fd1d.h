/* fd1d.h - batches of one-factor PDEs of your own: a warp or a block per problem on GPUs, vectors across problems on
   CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h and the folder trid beside it.

   The equation is V_t + drift V_x + diffusion V_xx + source = kill V. The schemes of pde/fd.h march it backwards from
   the values at maturity, on any grid of 4 to 1024 points. A model supplies its terms (pde/common/model.h): one file of
   C, for both precisions, for the host and for kernels. A call in the CEV model:

       #include "pde/fd1d.h"
       typedef struct { double rate, sigma, beta, strike; } cev_parameters;
       FD_NO_NUMBERS(cev, x)
       FD_NO_NUMBERS(cev, t)
       FD_TERMS(1, cev, const double volatility = p->sigma * pow((double)x->at, p->beta);
                terms->drift[0] = (real)p->rate * x->at; terms->diffusion[0] = (real)(volatility * volatility / 2);
                terms->kill = (real)p->rate;)
       enum { cev_fitting = FD_CENTRAL };
       FD_HD double cev_payoff(const cev_parameters *p, const double *at)
       {
           const double gain = at[0] - p->strike;
           return gain < 0 ? 0 : gain;
       }
       #define FD_MODEL cev
       #include "pde/fd1d.h"

   Include the header twice, at global scope: before the model, for the words in which a model is written, and after it,
   with FD_MODEL defined. The second time it defines, in both precisions (_f32 and _f64):
     host (fd1d/host.h)
       MODEL_host_bytes     bytes of memory for all workers together
       MODEL_host           solves a batch with a number of workers, which are OpenMP's threads if the program is
                            compiled with OpenMP
       MODEL_suggest        finds the points and steps for a tolerance (common/suggest.h); MODEL_suggest_bytes: its
                            bytes of memory
     GPU (fd1d/device.h; nvcc, or tests/simt without a GPU); parameters, memory and the batch's arrays lie in device
     memory
       MODEL_device_bytes   bytes of device memory that suffice for full speed
       MODEL_device         solves a batch: a warp per problem if batch.points[0] is at most 256, otherwise a block. If
                            the model has no numbers of t, a warp takes up to 1024 points (512 in double precision) with
                            European exercise, and 512 (256) with early exercise
   All models share
       fd_batch_check       checks a batch
       fd_status_string     returns the text of a status

   Common contract: that of pde/common/problem.h, and
     Schemes  There is no mixed term, so Douglas' scheme and Craig-Sneyd are the theta method. The other two schemes
              solve twice per step, except Modified Craig-Sneyd with theta 1/2, which is the theta method too.
     Cost     If the model has no numbers of t and a step has one solve, a warp factors the matrix once for each segment
              (equal steps without events between them), or in each step if the model has FD_MODEL_FACE. With European
              exercise it also takes these steps in increments: a solve and three operations a point. Crank-Nicolson
              steps need fewer: two in single precision, unless a face is FD_DEGENERATE. Double precision has digits to
              spare: it needs one operation and no increments, unless there are sources or a face is FD_SLOPE or
              FD_DEGENERATE. Increments are recomputed every 64 steps (512 in double precision) and in each segment; in
              each step if the model has FD_MODEL_FACE, if couplings at a face are omitted, or if steps are explicit.

   pde/common/rooms.h lists the rooms. */

#ifndef FD1D_H
#define FD1D_H

#include "common/model.h"
#include "common/problem.h"
#include "common/chip.h"
#include "../trid/launch.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#define FD1D_VERSION 200 /* 100 * major + minor */

enum {
    FD1D_MOST = FD_P_MOST_POINTS, /* points of the axis */
    FD1D_P_THREADS = 128
};

#endif /* FD1D_H */

#ifdef FD_MODEL /* a model: the rooms, once for each precision */
#define FD_FACTORS 1
#define TB_BODY "../pde/common/rooms.h"
#include "../trid/twice.h"
#include "common/end.h"
#endif /* FD_MODEL */
