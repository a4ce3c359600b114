/* adi3d.h - PDEs of your own in three factors, solved on grids by alternating directions, on a GPU and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h, transpose.h and the folder trid beside it.

   The equation is, with V_1 the derivative of V along x and so on,
       V_t + drift_1 V_1 + drift_2 V_2 + drift_3 V_3 + diffusion_1 V_11 + diffusion_2 V_22 + diffusion_3 V_33
           + mixed_12 V_12 + mixed_13 V_13 + mixed_23 V_23 + source = kill V.
   The ADI schemes of pde/fd.h march it backwards from the values at maturity. A model writes what stands in it, as for
   one and two factors (pde/common/model.h): one file of C, for both precisions, for the host and for kernels. Two
   factors become three by the terms of the third:

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

   The header is included twice, at global scope: before the model for its words, and after it with FD_MODEL set, which
   makes of it, in both precisions (_f32 and _f64):
     host (common/host.h)
       MODEL_host_bytes         memory that so many workers need together
       MODEL_host               solves a batch by so many workers: OpenMP's threads where the program is compiled with
                                it. Workers who outnumber the problems share each of them
       MODEL_host_problems      solves some of the problems, by the calling thread: for threads of any kind
       MODEL_host_worker        one worker's part in problems that all share: for threads of any kind that can wait for
                                each other
       MODEL_suggest            how many points and steps a tolerance takes (common/suggest.h)
       MODEL_suggest_bytes      memory that it needs
     GPU (nvcc; tests/simt without one): large grids, in device memory (adi3d/device_march.h). Batch, problems,
     parameters and results are the host's
       MODEL_device_bytes       device memory that the next needs
       MODEL_device             solves the problems one after another
     GPU: many grids of up to 48 points an axis (adi3d/onchip.h). Batch, parameters and memory are the device's
       MODEL_onchip_blocks      the blocks that a problem takes; 0 if grids of this size do not fit the current device
       MODEL_onchip_bytes       device memory that the next needs
       MODEL_onchip             all steps of a problem in one kernel, its grid in the shared memory of a block, or of
                                the blocks of a cluster
     either (adi3d/solve.h)
       MODEL_bytes, MODEL_solve MODEL_device's where the program is compiled for a GPU, else MODEL_host's
   and all models share
       adi3d_check              checks a batch
       adi3d_allocate, adi3d_free   memory for MODEL_solve
       fd_status_string         what a status says

   What they share:
     Problem  fd_problem, fd_batch, fd_values (pde/common/problem.h): 0 in a field is its first choice, or none. Where
              faces meet, a value given along x comes before one along y, and that before one along z.
     Status   Of the call: an int, FD_OK or what is wrong with it. Of each problem: an fd_status. A problem that is
              refused or fails has NaN in its results, and does not affect the others. A call that is refused leaves
              its status in all of them, and NaN where the batch says how many results there are.
     Checks   Numbers, final values and terms are checked at all points before the march, terms in the first step, the
              last one and one of each line's own: FD_MODEL_NAN, FD_FINAL_NAN; FD_ILL_POSED (a diffusion is negative,
              or the mixed terms are too large for the diffusions); FD_OUTWARD (a drift points far out of a face that
              is FD_DEGENERATE); what the model promises (FD_MIXED_UNDECLARED, FD_CHANGES_UNDECLARED,
              FD_NOT_INDEPENDENT). Points whose value is given are not checked.
     Matrices Not pivoted. At a face, couplings of the wrong sign that would keep a row from being dominant act on the
              old values (fd_lane_lag). Inner rows that are not dominant, where a drift exceeds its diffusion and is
              taken centrally, are solved as they are; status.not_dominant counts them. Along an axis that the model
              declares independent (FD_MODEL_INDEPENDENT) all lines share one matrix, which a GPU factors once.
     Growth   status.growth says how much the largest value has grown. Beyond FD_MOST_GROWTH a march has failed
              (FD_GREW). Drifts that exceed the diffusion along several axes need the theta and the steps of
              fd_scheme_theta_drift.
     Memory   The caller's; adi3d_allocate alone allocates. Nothing is printed, and no state is retained.

   The rooms, in the order in which they build on each other:
     common/model.h      how a model is written: read once
     common/problem.h    problems, batches, results: read once
     common/workers.h    what the host's workers need of the compiler: read once
     adi3d/problem.h     what needs no model: checks, memory, how a device is used. Read once
     and, read once a model and precision,
     common/terms.h      what the model says, as the solver calls it
     common/prepare.h    tables of axes and steps, final values, checks
     common/results.h    values at spots, NaN where there is none
     common/rows.h       rows, what faces add, what happens to a value between steps
     common/step.h       a time step as numbers, F at a point. To add a kind of term, begin here, with p_own and p_mix
     adi3d/step.h        F at a point with its mixed derivatives, for kernels
     common/host_right.h what a worker on the host knows; right-hand sides
     common/host_lines.h solves along lines and a time step on the host
     common/host.h       marches on the host
     common/suggest.h    how many points and steps a tolerance takes
     adi3d/device.h      what kernels know; what they compute at a point; rows of their lines
     adi3d/device_planes.h  solves along z within the sweeps
     adi3d/device_x.h    right-hand sides and lines along x: kernels and launches
     adi3d/device_yz.h   lines along y and z: kernel, shapes, launches. To add a shape, begin here, with p_device_yz
     adi3d/device_march.h   preparation and marches in device memory
     adi3d/onchip_stage.h   a stage on chip: right-hand sides and lines
     adi3d/onchip.h      preparation and marches on chip
     adi3d/solve.h       the GPU or the host
     common/end.h        forgets the model's macros
   A room names its functions fd_NAME or adi3d_NAME, and a list of names makes each MODEL_NAME_f32 or MODEL_NAME_f64
   (FD_OF). */

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
    ADI3D_MOST = FD_P_MOST_POINTS, /* points of an axis */
    ADI3D_MOST_ON_CHIP = 48, /* of one on chip */
    ADI3D_P_SLOTS = 3,       /* planes in shared memory: the one before, the current one, the next */
    ADI3D_P_PARTITIONS = 16  /* most partitions of the lines along z that are solved within sweeps */
};

#include "adi3d/problem.h"

#endif /* ADI3D_H */

#ifdef FD_MODEL /* a model: the rooms, each once a precision */
#define FD_FACTORS 3
#define TB_BODY "../pde/common/terms.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/common/prepare.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/common/results.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/common/rows.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/common/step.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/step.h"
#include "../trid/twice.h"
#if TB_HOST_SCOPE
#define TB_BODY "../pde/common/host_right.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/common/host_lines.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/common/host.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/common/suggest.h"
#include "../trid/twice.h"
#endif
#if TB_LAUNCHES
#define TB_BODY "../pde/adi3d/device.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/device_planes.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/device_x.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/device_yz.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/device_march.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/onchip_stage.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/onchip.h"
#include "../trid/twice.h"
#endif
#if TB_HOST_SCOPE
#define TB_BODY "../pde/adi3d/solve.h"
#include "../trid/twice.h"
#endif
#include "common/end.h"
#endif /* FD_MODEL */
