/* adi2d.h - batches of two-factor PDEs of your own, solved on chip by GPUs, and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h and the folder trid beside it.

   The equation is V_t + drift_x V_x + drift_y V_y + diffusion_x V_xx + diffusion_y V_yy + mixed V_xy = kill V. It is
   marched backwards from the final values by the ADI schemes of pde/fd.h. You write what stands in it: a model is one C
   file that includes this header twice at global scope, before and after its functions (MODEL stands for its name;
   examples/heston_model.h is one, which adi2d_host.c solves on a CPU and adi2d_heston.cu on a GPU):

       #include "pde/adi2d.h"
       typedef struct { .. } MODEL_parameters;             of one problem; all that the functions below need
       enum {
           MODEL_numbers_of_x, MODEL_numbers_of_y, MODEL_numbers_of_t,    how many the next three compute, 0 and more
           MODEL_mixed,                                    0: there is no mixed term, and no time is spent on it
           MODEL_y_changes,                                0: drift_y, diffusion_y and kill do not depend on t
           MODEL_fitting                                   how drifts are taken: FD_CENTRAL, FD_UPWIND or FD_FITTED
       };
       ADI2D_HD void MODEL_of_x(const MODEL_parameters *p, double x, double *number) { .. }
       ADI2D_HD void MODEL_of_y(const MODEL_parameters *p, double y, double *number) { .. }
       ADI2D_HD void MODEL_of_t(const MODEL_parameters *p, double t, double *number) { .. }
       ADI2D_TERMS(MODEL, terms->diffusion[0] = x[0] * y[0] * t[0]; ..)
       ADI2D_HD double MODEL_payoff(const double *at, const void *p) { .. }
       #define ADI2D_MODEL MODEL
       #include "pde/adi2d.h"

   The first three functions are called once a point of an axis, or once a step, in double precision: put there what is
   expensive. ADI2D_TERMS makes two functions of its text, one a precision: real is the type; x, y and t are the
   numbers, rounded once; terms is what the equation has at a point, all 0 before (adi2d_terms). They are called for
   each point and step. ADI2D_HD is the only word that CUDA needs.
   Define a macro before the second #include to announce what else a model has:
       ADI2D_FACE     double MODEL_face(p, axis, side, other, t): the value or slope given at a face that is FD_VALUE or
                      FD_SLOPE, side 0 or 1, at the other coordinate. Without it they are 0. With a mixed term, slopes
                      that change along their face cost an order in space: the mixed derivative is taken as 0 there
       ADI2D_CHANGE   double MODEL_change(p, date, x, y, value): what a value becomes at a date (FD_CHANGE_VALUES):
                      a barrier that is observed (midway between two points: FD_MIDWAY), a coupon, a right
       ADI2D_Y_INDEPENDENT  drift_y, diffusion_y and kill depend on y alone, neither on x nor on t: a march of products
                      then factors the matrix along y once, for all columns and all steps of the same length
   Declarations are checked at all points, in the first, the last and another step of each row, except at points whose
   value is given. FD_TOO_FEW_NUMBERS, FD_MIXED_UNDECLARED, FD_CHANGES_UNDECLARED (MODEL_y_changes) and
   FD_NOT_INDEPENDENT (ADI2D_Y_INDEPENDENT) say which one is false, and where; FD_ILL_POSED, that a diffusion is
   negative, or mixed^2 > 4 diffusion_x diffusion_y; FD_OUTWARD, that a drift points far out of a FD_DEGENERATE face.

   A model has, in both precisions (_f32 and _f64):
     host (adi2d/host.h)
       MODEL_host_bytes         memory of one of the host's workers
       MODEL_host_problems      some of the problems, by the calling thread: for threads of any kind
       MODEL_host               all of them, by workers: OpenMP's threads where the program is compiled with it
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

   The cost of a step on chip depends on its kind (adi2d_batch.kind). In arrays of shared memory, and in passes that
   read and write all points, it takes: one array and two solves where no differences need to be formed
   (ADI2D_PRODUCTS); two arrays, the differences and two solves for Douglas' scheme; three arrays and all of that twice
   for the others.

   The rooms, in the order in which they build on each other:
     adi2d/plan.h       what is found out about a problem before its march: read once
     adi2d/terms.h      the equation's terms at a point, step data: read once a precision
     adi2d/model.h      what the model says of final values, faces and dates: read once a model
     and, read once a model and precision,
     adi2d/problem.h    problems are prepared: tables, checks of what the model declares, the kernel that does it
     adi2d/host.h       the host
     adi2d/rungs.h      the naive and the coalesced version
     adi2d/chip.h       a grid in the shared memory of a cluster: where things are
     adi2d/stages.h     the stages of a scheme on chip
     adi2d/products.h   steps that are products of factors, on chip
     adi2d/onchip.h     what happens between steps, the march on chip, its kernel, shapes and launch
   A room names its functions adi2d_NAME, and a list of names makes each MODEL_NAME_f32 or MODEL_NAME_f64 (ADI2D_OF).
   To add a version, write a room as rungs.h is, with its list of names, and include it below.

   What they share:
     Status   Of the batch: an int, FD_OK or what is wrong with it. Of each problem: an fd_status. A problem that is
              refused or fails has NaN in its results, and does not affect the others. A call that is refused leaves
              NaN and a status in all of them.
     Matrices Not pivoted. Boundary rows that would not be dominant leave couplings of the wrong sign to the old values
              (fd_lane_lag). Inner rows that are not, where a drift exceeds its diffusion and is taken centrally, are
              solved as they are: status.not_dominant counts them.
     Growth   status.growth says how much the largest value has grown; beyond FD_MOST_GROWTH a march has failed
              (FD_GREW). A theta below fd_scheme_theta's, or drifts that need fd_scheme_theta_drift's, may leave finite
              nonsense below that bound.
     Memory   The caller's. Nothing is allocated or printed, and no state is retained. */

#ifndef TB_BODY
#ifndef ADI2D_H
#define ADI2D_H

#include "fd.h"
#include "common/chip.h"
#include "../trid/interleaved.h"
#include "../trid/launch.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#define ADI2D_VERSION 200 /* 100 * major + minor */

#define ADI2D_HD TB_HD

enum {
    ADI2D_P_PHASES = 11, /* of adi2d_p_prepare */
    ADI2D_P_RUNG_THREADS = 64,
    ADI2D_P_RUNG_SET_UP_THREADS = 256,
    ADI2D_P_RUNG_BACK = 8 /* rows that a line's thread has under way at the same time on the way back */
};

/* Names of a model: ADI2D_MODEL_OF(stem) is MODEL_stem; ADI2D_OF(stem) is MODEL_stem with the suffix of the precision
   that is being read. The lists of names in the rooms use them. */
#define ADI2D_MODEL_OF(stem) TB_JOIN(ADI2D_MODEL, _##stem)
#define ADI2D_OF(stem) TB_OF(ADI2D_MODEL_OF(stem))

/* What the user writes of a model. */
#define adi2d_model_parameters ADI2D_MODEL_OF(parameters)
#define adi2d_model_mixed ADI2D_MODEL_OF(mixed)
#define adi2d_model_y_changes ADI2D_MODEL_OF(y_changes)
#define adi2d_model_fitting ADI2D_MODEL_OF(fitting)
#define adi2d_model_of_x ADI2D_MODEL_OF(of_x)
#define adi2d_model_of_y ADI2D_MODEL_OF(of_y)
#define adi2d_model_of_t ADI2D_MODEL_OF(of_t)
#define adi2d_model_terms ADI2D_OF(terms)
#define adi2d_model_payoff ADI2D_MODEL_OF(payoff)
#define adi2d_model_face ADI2D_MODEL_OF(face)
#define adi2d_model_change ADI2D_MODEL_OF(change)
/* How many numbers it has, as integers: a model's enumerators may be of different types. */
#define ADI2D_P_OF_X ((int)ADI2D_MODEL_OF(numbers_of_x))
#define ADI2D_P_OF_Y ((int)ADI2D_MODEL_OF(numbers_of_y))
#define ADI2D_P_OF_T ((int)ADI2D_MODEL_OF(numbers_of_t))

/* Defines the model's terms in both precisions. */
#define ADI2D_TERMS(model, ...)                                                                                        \
    ADI2D_HD void model##_terms_f32(const float *x, const float *y, const float *t, adi2d_terms_f32 *terms)            \
    {                                                                                                                  \
        typedef float real;                                                                                            \
        (void)x, (void)y, (void)t, (void)sizeof(real);                                                                 \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    ADI2D_HD void model##_terms_f64(const double *x, const double *y, const double *t, adi2d_terms_f64 *terms)         \
    {                                                                                                                  \
        typedef double real;                                                                                           \
        (void)x, (void)y, (void)t, (void)sizeof(real);                                                                 \
        __VA_ARGS__                                                                                                    \
    }

/* A problem of a batch. Its pointers lead to memory where the solver runs, for a GPU the device's. */
typedef struct {
    fd_axis axis[2];         /* along x and along y */
    const double *points[2]; /* the points, axis.points of them; null: they are made from axis */
    int face[2][2];          /* FD_LINEAR .., at the first and the last point of each axis */
    fd_times times;          /* its theta is the scheme's, 0: fd_scheme_theta's. Steps of a kind other than FD_THETA are
                                Douglas' with theta 0 or 1; FD_UNSTABLE if those of theta 0 are too long */
    const fd_date *at_date;  /* what happens at each of times.date */
    int scheme;              /* FD_DOUGLAS .. */
    int coefficients;        /* FD_BOTH_ENDS .. */
    int finals;              /* FD_AT_POINTS .. */
    int kinks;               /* of FD_TOLD: 0 .. 4 */
    double kink[4];          /* increasing */
    int exercise;            /* FD_EUROPEAN .. */
    double spot[2];          /* where value and derivatives are wanted */
} adi2d_problem;

/* The value and its derivatives at the spot. */
typedef struct {
    double value, dx, dy, dxx, dxy, dyy;
} adi2d_values;

/* Kinds of batches: what is known of the steps of all problems. The less they do, the less of the chip a problem takes.
   */
enum {
    ADI2D_TWO_STAGES, /* nothing */
    ADI2D_ONE_STAGE,  /* Douglas' scheme */
    ADI2D_PRODUCTS    /* Douglas' scheme with theta 1/2, without a Rannacher start (times.halves 0), a mixed term, or
                         exercise between dates; faces FD_LINEAR, the same coefficients throughout a step
                         (FD_MIDDLE, FD_NEW_END), all rows diagonally dominant. No differences are formed, and
                         memory holds one array (docs/adi2d.md) */
};

/* What may be wrong with a problem besides what fd_status says, or, ADI2D_BAD_KIND, with a batch. */
enum {
    ADI2D_NO_PRODUCT = -60, /* the batch says that all steps are products, and one is not: see ADI2D_PRODUCTS */
    ADI2D_TWO_STAGED = -61, /* the batch says that all steps have one stage, and one has two */
    ADI2D_BAD_KIND = -62    /* batch.kind is unknown */
};

/* Returns the text of a status. */
TB_HD const char *adi2d_status_string(int what)
{
    return what == ADI2D_NO_PRODUCT   ? "a step is no product of factors, although batch.kind says so"
           : what == ADI2D_TWO_STAGED ? "a step has two stages, although batch.kind says one"
           : what == ADI2D_BAD_KIND   ? "unknown batch.kind"
                                      : fd_status_string(what);
}

/* A batch: what its problems have in common, and where they and their results are. */
typedef struct {
    int problems;  /* 0 and more */
    int points[2]; /* no axis of any problem has more */
    int steps;     /* no problem takes more, halves of a Rannacher start counted: times.steps + times.halves suffice,
                      where dates add none (fd_schedule) */
    int dates;     /* no problem has more */
    const adi2d_problem *problem;
    fd_status *status;      /* of each */
    adi2d_values *values;   /* of each 1 + dates: at time 0, and at its dates with FD_RECORD; others are not written */
    void *grid;             /* null; or of each points[0] * points[1] numbers of the precision: the values at time 0,
                             point (i, j) at i + points[0] * j */
    int kind;               /* ADI2D_TWO_STAGES .. */
    double *coordinates[2]; /* null; or of each points[0], or points[1], numbers: where the grid's points are along x,
                               and along y; NaN beyond the last */
} adi2d_batch;

/* Checks what the memory of a batch depends on: its pointers may still be null. */
TB_HD int adi2d_p_sizes(const adi2d_batch *batch)
{
    if (!batch) return FD_BAD_ARGUMENT;
    if (batch->kind < ADI2D_TWO_STAGES || batch->kind > ADI2D_PRODUCTS) return ADI2D_BAD_KIND;
    if (batch->problems < 0 || batch->points[0] < 4 || batch->points[1] < 4 || batch->steps < 1 || batch->dates < 0 ||
        batch->points[0] > 32768 || batch->points[1] > 32768 || batch->steps > FD_P_MOST || batch->dates > FD_P_MOST)
        return FD_BAD_SIZE;
    return FD_OK;
}

/* Checks a batch.
   Returns  FD_OK, FD_BAD_ARGUMENT for a null pointer, ADI2D_BAD_KIND, or FD_BAD_SIZE for a count out of range */
TB_HD int adi2d_check(const adi2d_batch *batch)
{
    int wrong = adi2d_p_sizes(batch);
    if (wrong) return wrong;
    if (batch->problems > 0 && (!batch->problem || !batch->status || !batch->values)) return FD_BAD_ARGUMENT;
    return FD_OK;
}

#include "adi2d/plan.h"
#define TB_BODY "../pde/adi2d/terms.h"
#include "../trid/twice.h"

#endif /* ADI2D_H */

#ifdef ADI2D_MODEL
#include "adi2d/model.h"

#define TB_BODY "../pde/adi2d.h"
#include "../trid/twice.h"

#undef ADI2D_MODEL
#undef ADI2D_FACE
#undef ADI2D_CHANGE
#undef ADI2D_Y_INDEPENDENT
#undef ADI2D_P_INDEPENDENT
#endif /* ADI2D_MODEL */

#else /* TB_BODY: a model in one precision */
#include "adi2d/problem.h"
#include "adi2d/host.h"
#include "adi2d/rungs.h"
#include "adi2d/chip.h"
#include "adi2d/stages.h"
#include "adi2d/products.h"
#include "adi2d/onchip.h"
#endif /* TB_BODY */
