/* adi3d.h - PDEs of your own in three factors, solved on grids by alternating directions, on a GPU and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h, transpose.h and the folder trid beside it.

   The equation is, with V_2 the derivative of V along y and so on,
       V_t + drift_1 V_1 + drift_2 V_2 + drift_3 V_3 + volatility_1^2 V_11 + volatility_2^2 V_22 + volatility_3^2 V_33
           + beta_12 volatility_1 volatility_2 V_12 + beta_13 volatility_1 volatility_3 V_13
           + beta_23 volatility_2 volatility_3 V_23 = kill V.
   The ADI schemes of pde/fd.h march it backwards from the final values. The squares have no factor 1/2: a price of
   volatility s has volatility s x / sqrt(2), and beta is twice the correlation. Pairs of axes have bs3d.h's order: 12,
   13, 23. The user supplies the coefficients as a model: a C file that includes this header twice, before and after its
   functions. MODEL stands for its name:

       #include "pde/adi3d.h"
       typedef struct { .. } MODEL_parameters;
       enum {
           MODEL_numbers_of_x, MODEL_numbers_of_y, MODEL_numbers_of_z, MODEL_numbers_of_t,   how many the next four give
           MODEL_mixed,                      which beta are not 0: the sum of 1 for beta_12, 2 for beta_13 and 4 for
                                             beta_23; the others cost no time
           MODEL_changes,                    0: nothing depends on t
           MODEL_fitting                     how drifts are discretised: FD_CENTRAL, FD_UPWIND or FD_FITTED
       };
       ADI3D_HD void MODEL_of_x(const MODEL_parameters *p, double x, double *number) { .. }
       ADI3D_HD void MODEL_of_y(const MODEL_parameters *p, double y, double *number) { .. }
       ADI3D_HD void MODEL_of_z(const MODEL_parameters *p, double z, double *number) { .. }
       ADI3D_HD void MODEL_of_t(const MODEL_parameters *p, double t, double *number) { .. }
       ADI3D_TERMS(MODEL, terms->drift[0] = x[0]; terms->volatility[0] = x[1] * z[0]; ..)
       ADI3D_HD double MODEL_payoff(const double *at, const void *p) { .. }
       #define ADI3D_MODEL MODEL
       #include "pde/adi3d.h"

   The first four are called once for each point of an axis, or once a step, in double precision, on the host: whatever
   is expensive belongs there. ADI3D_TERMS makes two functions of its text, one for each precision. In it real is the
   type; x, y, z and t are the numbers, rounded once; terms are the coefficients (adi3d_terms), all 0 before. They are
   called for each point and step, in registers. ADI3D_HD is the only word that CUDA needs.
   A model announces what else it has by macros, defined before the second #include:
       ADI3D_FACE     double MODEL_face(p, axis, side, at, t): the value or slope given at a point of a face that is
                      FD_VALUE or FD_SLOPE, side 0 or 1; without it they are 0. With mixed terms, slopes that change
                      along their face cost an order in space: the mixed derivative is taken as 0 there
       ADI3D_CHANGE   double MODEL_change(p, date, at, value): what a value becomes at a date (FD_CHANGE_VALUES): a
                      barrier that is observed, a coupon, a right
       ADI3D_INDEPENDENT   the axes, a sum of 1, 2 and 4, along which drift, volatility and kill are independent of the
                      other axes: they depend on that axis' numbers and on t alone. All lines along such an axis share
                      one matrix, and a GPU factors it once a sweep instead of once a line
   Before the march, declarations are checked (adi3d_p_untrue) in the first and the last step at all points except those
   whose value is given. FD_TOO_FEW_NUMBERS, FD_MIXED_UNDECLARED, FD_CHANGES_UNDECLARED (terms differ between the step's
   start and its end) and FD_NOT_INDEPENDENT (ADI3D_INDEPENDENT) say which does not hold, and where. FD_ILL_POSED says
   that the halves of the betas are no correlations: one exceeds 1, or their matrix is not positive semidefinite;
   FD_OUTWARD, that the drift points out of a face of FD_DEGENERATE, by more than the end cell until maturity.

   A model has, in both precisions (_f32 and _f64):
       MODEL_host_bytes         memory that the host's workers need together
       MODEL_host_worker        one worker's part, for threads of any kind that can wait for each other
       MODEL_host               all of it, by OpenMP's threads where the program is compiled with OpenMP
       MODEL_device_bytes       device memory that the next one needs
       MODEL_device             the same on a GPU (nvcc; or tests/simt without one)
       MODEL_bytes, MODEL_solve those of the GPU where the program is compiled for one, else the host's
     batches of problems (adi3d_batch), on chip for grids of up to 48 points an axis
       MODEL_onchip_blocks      the blocks that a problem takes; 0 if grids of this size do not fit the current device
       MODEL_onchip_bytes       device memory that the next one needs
       MODEL_onchip             all steps of a problem in one kernel; the grid is in the shared memory of a block, or of
                                the blocks of a cluster
       MODEL_host_batch_bytes, MODEL_host_batch    the same by the host's workers, one problem each, grids of any size
   and all models share
       adi3d_check              checks a problem, as far as its own numbers tell
       adi3d_batch_check        checks a batch
       adi3d_allocate, adi3d_free   memory for MODEL_solve
       fd_status_string         what a status means

   What they share:
     Status   fd_status: FD_OK or what is wrong and where; the functions return its `what`. A problem that is refused or
              fails, and a call that is refused, leave NaN in the results, and their status.
     Matrices No pivoting. At a face, couplings of the wrong sign that would keep a row from being diagonally dominant
              act on the old values (fd_lane_lag). Inner rows that are not dominant, where a drift exceeds its diffusion
              and is discretised centrally, are solved as they are; status.not_dominant counts them.
     Growth   status.growth says how much the largest value has grown. Beyond FD_MOST_GROWTH a march has failed
              (FD_GREW). Drifts that exceed the diffusion along several axes need the theta and the steps of
              fd_scheme_theta_drift.
     Grid     Point (i, j, k) is at i + nx (j + ny k).
     Memory   The caller's; adi3d_allocate alone allocates. Nothing is printed, and no state is retained. All pointers
              of a problem are to the host's memory, except MODEL_onchip's, which are to the device's.

   Rooms, each in the folder adi3d:
     problem.h       checks of problems and batches, memory: what needs no model. Read once
     and for each model, once in each precision:
     model.h         tables of the axes, time steps, terms and rows, checks of declarations, results. To add a kind of
                     term, begin here, with p_own and p_mix
     host_right.h    what a worker on the host knows; right-hand sides
     host_lines.h    solves along lines and a time step on the host
     host.h          host_bytes, host_worker, host, host_batch_bytes, host_batch
     device.h        what kernels know; what they compute at a point; rows of their lines
     device_x.h      right-hand sides and lines along x: kernels and launches
     device_yz.h     lines along y and z: kernel, shapes, launches. To add a shape, begin here, with p_device_yz
     device_march.h  device_bytes, device
     onchip_ready.h  the kernel that makes a batch's problems ready
     onchip_stage.h  a stage on chip: right-hand sides and lines
     onchip.h        onchip_blocks, onchip_bytes, onchip
     solve.h         bytes, solve
   Rooms are written in plain names. While a model is read, lists at their heads make adi3d_host the model's
   MODEL_host_f32, and adi3d_model_of_x its MODEL_of_x; a search for adi3d_host( finds the definition. */

#ifndef ADI3D_H
#define ADI3D_H

#include "fd.h"
#include "common/chip.h"
#include "../trid/interleaved.h"
#include "../trid/launch.h"
#include "../transpose.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#if TB_HOST_SCOPE
#include <stdlib.h>
#endif

#define ADI3D_VERSION 200 /* 100 * major + minor */

#define ADI3D_HD TB_HD

enum { ADI3D_P_SLOTS = 3 }; /* planes in shared memory: the one before, the current one, the next */

/* The coefficients of the equation at a point. */
typedef struct {
    float drift[3], volatility[3], beta[3], kill; /* beta: of the pairs 12, 13, 23 */
} adi3d_terms_f32;
typedef struct {
    double drift[3], volatility[3], beta[3], kill;
} adi3d_terms_f64;

#define ADI3D_TERMS(model, ...)                                                                                        \
    ADI3D_HD void model##_terms_f32(const float *x, const float *y, const float *z, const float *t,                    \
                                    adi3d_terms_f32 *terms)                                                            \
    {                                                                                                                  \
        typedef float real;                                                                                            \
        (void)x, (void)y, (void)z, (void)t, (void)sizeof(real);                                                        \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    ADI3D_HD void model##_terms_f64(const double *x, const double *y, const double *z, const double *t,                \
                                    adi3d_terms_f64 *terms)                                                            \
    {                                                                                                                  \
        typedef double real;                                                                                           \
        (void)x, (void)y, (void)z, (void)t, (void)sizeof(real);                                                        \
        __VA_ARGS__                                                                                                    \
    }

enum { ADI3D_MOST = 1024, ADI3D_MOST_ON_CHIP = 48 }; /* points of an axis */

/* A problem. */
typedef struct {
    fd_axis axis[3];         /* along x, y and z */
    const double *points[3]; /* null: the points are made from axis; else these are the points, axis.points of them */
    int face[3][2];          /* FD_LINEAR .., of each axis at its first and its last point. Where faces meet, a value
                                given along x comes before one along y, and that before one along z */
    fd_times times;          /* its theta is the scheme's; 0: fd_scheme_theta's. Kinds other than FD_THETA are steps of
                                Douglas' scheme with theta 0 and 1; FD_UNSTABLE where those of 0 are too long */
    const fd_date *at_date;  /* the event at each of times.date; null: none */
    int scheme;              /* FD_DOUGLAS .. */
    int coefficients;        /* FD_BOTH_ENDS .. */
    int finals;              /* FD_AT_POINTS .. */
    int kinks;               /* of FD_TOLD: 0 .. 4 */
    double kink[4];          /* increasing */
    int exercise;            /* FD_EUROPEAN .. */
    double spot[3];          /* where value and derivatives are wanted */
    int watched;             /* look for what is not finite in and after each step, not only at the end: a pass more */
    void (*progress)(int step, int steps, void *context); /* null, or called by one thread after each step: so many are
                                                             done. A GPU may not have come so far yet. */
    void *context;
} adi3d_problem;

typedef struct {
    double value, dx, dy, dz, dxx, dyy, dzz, dxy, dxz, dyz;
} adi3d_values;

/* Where the results go: pointers to host memory. */
typedef struct {
    fd_status status;
    adi3d_values *values;   /* 1 + times.dates of them: at time 0, and at dates with FD_RECORD; the others stay */
    void *grid;             /* null; or a number of the precision for each point: the values at time 0 */
    double *coordinates[3]; /* null; or as many numbers as the axis has points: the grid's coordinates */
} adi3d_result;

/* A batch of problems of one model, each on a grid of its own, and where they and their results are. Pointers, and
   those in the problems, are to where the solver runs: the device's memory for MODEL_onchip. A problem's progress is
   not called. A problem that fails is marched a second time, watched, so that its status always names the step. */
typedef struct {
    int problems;  /* 0 and more */
    int points[3]; /* no axis of any problem has more */
    int steps;     /* no problem takes more, with the halves of a Rannacher start (fd_schedule) */
    int dates;     /* no problem has more */
    const adi3d_problem *problem;
    fd_status *status;      /* of each */
    adi3d_values *values;   /* of each 1 + dates, as a result's */
    void *grid;             /* null; or of each points[0] points[1] points[2] numbers of the precision: the values at
                               time 0, point (i, j, k) at i + points[0] (j + points[1] k); others have no meaning */
    double *coordinates[3]; /* null; or of each as many numbers as points has for the axis: the grid's coordinates, NaN
                               beyond the last */
} adi3d_batch;

#include "adi3d/problem.h"

/* While a model is read, adi3d_STEM is MODEL_STEM_f32 or _f64, and adi3d_model_STEM the user's MODEL_STEM. Outside,
   these names are themselves. */
#define ADI3D_P_JOIN2(a, b) a##_##b
#define ADI3D_P_JOIN(a, b) ADI3D_P_JOIN2(a, b)
#define ADI3D_OF(stem) adi3d_##stem
#define ADI3D_MODEL_OF(stem) adi3d_model_##stem

#endif /* ADI3D_H */

#ifdef ADI3D_MODEL /* a model: the rooms, each once a precision */
#undef ADI3D_OF
#undef ADI3D_MODEL_OF
#define ADI3D_OF(stem) TB_OF(ADI3D_P_JOIN(ADI3D_MODEL, stem))
#define ADI3D_MODEL_OF(stem) ADI3D_P_JOIN(ADI3D_MODEL, stem)

#define TB_BODY "../pde/adi3d/model.h"
#include "../trid/twice.h"
#if TB_HOST_SCOPE
#define TB_BODY "../pde/adi3d/host_right.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/host_lines.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/host.h"
#include "../trid/twice.h"
#endif
#if TB_LAUNCHES
#define TB_BODY "../pde/adi3d/device.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/device_x.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/device_yz.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/device_march.h"
#include "../trid/twice.h"
#define TB_BODY "../pde/adi3d/onchip_ready.h"
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

#undef ADI3D_OF
#undef ADI3D_MODEL_OF
#define ADI3D_OF(stem) adi3d_##stem
#define ADI3D_MODEL_OF(stem) adi3d_model_##stem
#undef ADI3D_MODEL
#undef ADI3D_FACE
#undef ADI3D_INDEPENDENT
#undef ADI3D_CHANGE
#endif /* ADI3D_MODEL */
