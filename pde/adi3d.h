/* adi3d.h - three-factor PDEs of your own on grids, marched by alternating directions, on a GPU and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h, transpose.h and the folder trid beside it.

   The equation is, with V_2 the derivative of V along y and so on,
       V_t + drift_1 V_1 + drift_2 V_2 + drift_3 V_3 + volatility_1^2 V_11 + volatility_2^2 V_22 + volatility_3^2 V_33
           + beta_12 volatility_1 volatility_2 V_12 + beta_13 volatility_1 volatility_3 V_13
           + beta_23 volatility_2 volatility_3 V_23 = kill V,
   marched backwards from the final values by the ADI schemes of pde/fd.h. (The squares have no half: a price of
   volatility s has volatility s x / sqrt(2), and beta twice the correlation. Pairs of axes have bs3d.h's order: 12, 13,
   23.) What stands in it is the user's: a model is one C file that includes this header twice, before and after its
   functions (MODEL stands for its name):

       #include "pde/adi3d.h"
       typedef struct { .. } MODEL_parameters;
       enum {
           MODEL_numbers_of_x, MODEL_numbers_of_y, MODEL_numbers_of_z, MODEL_numbers_of_t,   how many the next four give
           MODEL_mixed,                      which beta are not 0: the sum of 1 for beta_12, 2 for beta_13 and 4 for
                                             beta_23; no time is spent on the others
           MODEL_changes,                    0: nothing depends on t
           MODEL_fitting                     how drifts are taken: FD_CENTRAL, FD_UPWIND or FD_FITTED
       };
       ADI3D_HD void MODEL_of_x(const MODEL_parameters *p, double x, double *number) { .. }
       ADI3D_HD void MODEL_of_y(const MODEL_parameters *p, double y, double *number) { .. }
       ADI3D_HD void MODEL_of_z(const MODEL_parameters *p, double z, double *number) { .. }
       ADI3D_HD void MODEL_of_t(const MODEL_parameters *p, double t, double *number) { .. }
       ADI3D_TERMS(MODEL, terms->drift[0] = x[0]; terms->volatility[0] = x[1] * z[0]; ..)
       ADI3D_HD double MODEL_payoff(const double *at, const void *p) { .. }
       #define ADI3D_MODEL MODEL
       #include "pde/adi3d.h"

   The first four are called once a point of an axis, or once a step, in double precision, on the host: there belongs
   whatever is dear. ADI3D_TERMS makes of its text two functions, one a precision: real is the type, x, y, z and t are
   the numbers, rounded once, terms is what the equation has there, all 0 before (adi3d_terms). They are called for each
   point and step, in registers. ADI3D_HD is the only word that CUDA needs.
   What else a model may have is announced by a macro, defined before the second #include:
       ADI3D_FACE     double MODEL_face(p, axis, side, at, t): the value or slope given at a point of a face that is
                      FD_VALUE or FD_SLOPE, side 0 or 1; without it they are 0. With mixed terms slopes that change
                      along their face cost an order in space: the mixed derivative is taken as 0 there
       ADI3D_CHANGE   double MODEL_change(p, date, at, value): what becomes of a value at a date (FD_CHANGE_VALUES):
                      a barrier that is watched, a coupon, a right
       ADI3D_ALONE    the axes, a sum of 1, 2 and 4, along which drift, volatility and kill depend on that axis' numbers
                      and on t alone: all lines along it have one matrix, which a GPU takes apart once a sweep instead
                      of once a line
   Declarations are checked at all points, in the first and the last step, before the march; points whose value is given
   are left out. FD_TOO_FEW_NUMBERS, FD_MIXED_UNDECLARED, FD_CHANGES_UNDECLARED (terms differ between the step's start
   and its end), FD_NOT_ALONE (ADI3D_ALONE) say which does not hold, and where; FD_ILL_POSED, where halves of the betas
   are no correlations: one above 1, or their matrix not positive semidefinite.

   A model has, in both precisions (_f32 and _f64):
       MODEL_host_bytes         memory that the host's workers need together
       MODEL_host_worker        one worker's part, for threads of any kind that can wait for each other
       MODEL_host               all of it: by workers that are OpenMP's threads where the program is compiled with it
       MODEL_device_bytes       device memory that the next needs
       MODEL_device             the same on a GPU (nvcc; tests/simt without one)
       MODEL_bytes, MODEL_solve that of the two which the compiler has, the GPU's before the host's
     batches of problems (adi3d_batch), grids of up to 48 points an axis on a GPU's chip
       MODEL_onchip_blocks      the blocks that a problem takes: do grids of this size fit on the current device?
       MODEL_onchip_bytes       device memory that the next needs
       MODEL_onchip             all steps of a problem in one kernel, its grid in the shared memory of a block, or of
                                the blocks of a cluster
       MODEL_host_batch_bytes, MODEL_host_batch    the same of the host's workers, one problem each, grids of any size
   and all models share
       adi3d_check              what is wrong with a problem, as far as its own numbers tell
       adi3d_batch_check        is a batch one?
       adi3d_allocate, _free    memory for MODEL_solve
       fd_status_string         what a status says

   What they share:
     Status   fd_status: FD_OK or what is wrong and where; what the functions return is its `what`. A problem that is
              refused or fails, and a call that is refused, has NaN in its results, and its status.
     Matrices Not pivoted. Rows of a face that would not be dominant leave couplings of the wrong sign to the old values
              (fd_lane_lag). Inner rows that are not, where a drift beats its diffusion and is taken centrally, are
              solved as they are: status.weak counts them.
     Growth   status.growth says how much the largest value has grown; beyond FD_MOST_GROWTH a march has failed
              (FD_GREW). Drifts that beat the diffusion along several axes want the theta and the steps of
              fd_scheme_theta_drift.
     Grid     Point (i, j, k) is at i + nx (j + ny k).
     Memory   The caller's; adi3d_allocate alone allocates. Nothing is printed or kept. All pointers of a problem are
              the host's, but for those of MODEL_onchip's, which are the device's.

   Options, defined before the header is included:
     ADI3D_HEADER   the name by which this file includes itself, if you rename it. Default: "adi3d.h". */

#ifndef ADI3D_P_REAL
#ifndef ADI3D_H
#define ADI3D_H

#include "fd.h"
#include "../trid/interleaved.h"
#include "../trid/launch.h"
#include "../transpose.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#if TB_HOST_SCOPE
#include <stdlib.h>
#endif

#define ADI3D_VERSION 100 /* 100 * major + minor */

#ifndef ADI3D_HEADER
#define ADI3D_HEADER "adi3d.h"
#endif

#define ADI3D_HD TB_HD
#define ADI3D_P_JOIN2(a, b) a##_##b
#define ADI3D_P_JOIN(a, b) ADI3D_P_JOIN2(a, b)
#define ADI3D_P_JOIN3(a, b, c) a##_##b##c
#define ADI3D_P_JOIN_OF(a, b, c) ADI3D_P_JOIN3(a, b, c)

/* What the equation has at a point. */
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

enum {
    ADI3D_P_MOST_LANES = 128, /* the host's lines side by side, in single precision */
    ADI3D_P_ROWS = 16         /* rows that are turned at a time: they stay in the nearest cache */
};

#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define ADI3D_P_SHUFFLES 1
#endif
#endif
#ifndef ADI3D_P_SHUFFLES
#define ADI3D_P_SHUFFLES 0
#endif

/* A problem. */
typedef struct {
    fd_axis axis[3];         /* along x, y and z */
    const double *points[3]; /* null: the points are made from axis; else these are, axis.points of them */
    int face[3][2]; /* FD_LINEAR .., of each axis at its first and its last point. Where faces meet, a value that
                                is given at one along x comes before one along y, and that before one along z */
    fd_times times; /* its theta is the scheme's, 0: fd_scheme_theta's; kinds other than FD_THETA are steps of Douglas'
                                scheme with theta 0 and 1, and FD_UNSTABLE where those of 0 are too long */
    const fd_date *at_date; /* what happens at each of times.date; null: nothing */
    int scheme;             /* FD_DOUGLAS .. */
    int coefficients;       /* FD_BOTH_ENDS .. */
    int finals;             /* FD_AT_POINTS .. */
    int kinks;              /* of FD_TOLD: 0 .. 4 */
    double kink[4];         /* increasing */
    int exercise;           /* FD_EUROPEAN .. */
    double spot[3];         /* where value and derivatives are asked for */
    int watched;            /* look for what is not finite in and after each step, not only at the end: a pass more */
    void (*progress)(int step, int steps, void *context); /* null, or called after each step, by one thread: so many
                                                             are done. On a GPU it may not have come so far yet. */
    void *context;
} adi3d_problem;

typedef struct {
    double value, dx, dy, dz, dxx, dyy, dzz, dxy, dxz, dyz;
} adi3d_values;

/* Where the results go: pointers into host memory. */
typedef struct {
    fd_status status;
    adi3d_values *values; /* of 1 + times.dates: at time 0, and at dates with FD_RECORD; the others stay as they were */
    void *grid;           /* null; or a number of the precision for each point: the values at time 0 */
    double *coordinates[3]; /* null; or as many numbers as the axis has points: where the grid's are along it */
} adi3d_result;

/* Solves   is this a problem, as far as it can be told before points and steps are made?
   Returns  FD_OK; FD_BAD_ARGUMENT (null); FD_BAD_SIZE (fewer than 4 or more than ADI3D_MOST points); FD_BAD_FACE, of
            an axis; FD_BAD_TIMES, detail fd_schedule's status; or as fd_plan_check */
TB_HD fd_status adi3d_check(const adi3d_problem *problem)
{
    if (!problem) return fd_status_of(FD_BAD_ARGUMENT, 0, -1, -1, -1, -1, -1);
    for (int d = 0; d < 3; d++) {
        if (problem->axis[d].points < 4 || problem->axis[d].points > ADI3D_MOST)
            return fd_status_of(FD_BAD_SIZE, 0, d, -1, -1, -1, -1);
        for (int side = 0; side < 2; side++)
            if (problem->face[d][side] < 0 || problem->face[d][side] >= FD_P_FACES)
                return fd_status_of(FD_BAD_FACE, 0, d, -1, -1, -1, -1);
    }
    const fd_plan plan = {&problem->times, problem->at_date, problem->scheme, problem->coefficients,
                          problem->finals, problem->kinks,   problem->kink,   problem->exercise};
    int steps, wrong = fd_schedule_part(&problem->times, 0, 0, NULL, &steps);
    if (wrong) return fd_status_of(FD_BAD_TIMES, wrong, -1, -1, -1, -1, -1);
    return fd_plan_check(&plan);
}

/* A batch of problems of one model, each on a grid of its own, and where they and their results are: pointers, and
   those in the problems, are to where the solver runs, the device's memory for MODEL_onchip. Of a problem, progress is
   not called; and one that fails is marched a second time, watched, so that its status always says in which step. */
typedef struct {
    int problems;  /* 0 and more */
    int points[3]; /* no axis of any problem has more */
    int steps;     /* no problem takes more, the halves of a Rannacher start counted (fd_schedule) */
    int dates;     /* no problem has more */
    const adi3d_problem *problem;
    fd_status *status;    /* of each */
    adi3d_values *values; /* of each 1 + dates, as a result's */
    void *grid; /* null; or of each points[0] points[1] points[2] numbers of the precision: the values at time 0, point
                   (i, j, k) at i + points[0] (j + points[1] k); what is not one of the problem's is without meaning */
    double
        *coordinates[3]; /* null; or of each as many numbers as points has for the axis: where the grid's are along it;
                               NaN beyond the last */
} adi3d_batch;

/* The part of adi3d_batch_check that says how much memory a batch needs: its pointers may still be null. */
TB_HD int adi3d_p_sizes(const adi3d_batch *batch)
{
    if (!batch) return FD_BAD_ARGUMENT;
    int sized = batch->problems >= 0 && batch->steps >= 1 && batch->steps <= FD_P_MOST && batch->dates >= 0 &&
                batch->dates <= FD_P_MOST;
    for (int d = 0; d < 3; d++) sized &= batch->points[d] >= 4 && batch->points[d] <= ADI3D_MOST;
    return sized ? FD_OK : FD_BAD_SIZE;
}

/* Solves   is this a batch?
   Returns  FD_OK, FD_BAD_ARGUMENT for a null pointer, or FD_BAD_SIZE: a count out of range */
TB_HD int adi3d_batch_check(const adi3d_batch *batch)
{
    const int wrong = adi3d_p_sizes(batch);
    if (wrong) return wrong;
    return batch->problems > 0 && (!batch->problem || !batch->status || !batch->values) ? FD_BAD_ARGUMENT : FD_OK;
}

/* What adi3d_check says of one of its problems, and whether the batch has room for it. */
TB_HD fd_status adi3d_p_check_in(const adi3d_batch *batch, const adi3d_problem *problem)
{
    int steps;
    fd_status status = adi3d_check(problem);
    for (int d = 0; d < 3 && !status.what; d++)
        if (problem->axis[d].points > batch->points[d])
            status = fd_status_of(FD_TOO_MANY_POINTS, problem->axis[d].points, d, -1, -1, -1, -1);
    if (!status.what && problem->times.dates > batch->dates)
        status = fd_status_of(FD_TOO_MANY_DATES, problem->times.dates, -1, -1, -1, -1, -1);
    if (!status.what && !fd_schedule_part(&problem->times, 0, 0, NULL, &steps) && steps > batch->steps)
        status = fd_status_of(FD_TOO_MANY_STEPS, steps, -1, -1, -1, -1, -1);
    return status;
}

/* What is found out about a problem of a batch before its march on chip. */
typedef struct {
    fd_status status, made[3]; /* made: of each axis */
    fd_weights at[3];
    int steps, weak;
    int given;      /* the largest magnitude that the march is given: fd_p_larger */
    int bad, lost;  /* the first step whose numbers, and the first point whose final value, are not finite; FD_P_NONE */
    int untrue[2];  /* the first point at which something that the model declares is not true, in the first and the last
                      step */
    int too_fast;   /* the least of fd_p_too_fast, in both */
    double longest; /* explicit step */
} adi3d_p_plan;

/* The longest explicit step of a march, whose steps are made some at a time; 0: there is none. */
TB_HD double adi3d_p_longest_step(const fd_times *times)
{
    enum { ADI3D_P_SOME_STEPS = 64 };
    fd_step some[ADI3D_P_SOME_STEPS];
    double longest = 0;
    int steps = 1;
    for (int k = 0; k < steps && times->kind == FD_EXPLICIT; k += ADI3D_P_SOME_STEPS) {
        if (fd_schedule_part(times, k, ADI3D_P_SOME_STEPS, some, &steps)) return 0;
        longest =
            fd_p_max(longest, fd_p_longest(steps - k < ADI3D_P_SOME_STEPS ? steps - k : ADI3D_P_SOME_STEPS, some));
    }
    return longest;
}

/* Points of the grid. */
TB_HD size_t adi3d_p_points(const adi3d_problem *problem)
{
    return (size_t)problem->axis[0].points * (size_t)problem->axis[1].points * (size_t)problem->axis[2].points;
}

/* Numbers of an axis in its tables: those of all lines side by side. */
TB_HD int adi3d_p_padded(int points)
{
    return (points + ADI3D_P_MOST_LANES - 1) / ADI3D_P_MOST_LANES * ADI3D_P_MOST_LANES;
}

/* Rounded up, of the longest axis, and no less than the host's lines side by side. */
TB_HD int adi3d_p_longest(const adi3d_problem *problem)
{
    int longest = 0;
    for (int d = 0; d < 3; d++)
        if (problem->axis[d].points > longest) longest = problem->axis[d].points;
    return adi3d_p_padded(longest);
}

/* Does anything given at a face change from the start of a step to its end, as a slope may? */
TB_HD int adi3d_p_slopes(const adi3d_problem *problem)
{
    int slopes = 0;
    for (int f = 0; f < 6; f++) slopes |= problem->face[f / 2][f % 2] == FD_SLOPE;
    return slopes;
}

/* Is point i of an axis on a face whose value is given? */
TB_HD int adi3d_p_given(const adi3d_problem *problem, int axis, int i)
{
    const int last = i == problem->axis[axis].points - 1;
    return (i == 0 || last) && problem->face[axis][last] == FD_VALUE;
}

/* What happens at a date; null: nothing. */
TB_HD const fd_date *adi3d_p_event(const adi3d_problem *problem, int date)
{
    return date >= 0 && problem->at_date && problem->at_date[date].what ? &problem->at_date[date] : NULL;
}

/* Is the array of the final values needed after the march has begun? */
TB_HD int adi3d_p_finals(const adi3d_problem *problem)
{
    int needed = problem->exercise != FD_EUROPEAN;
    for (int date = 0; date < problem->times.dates && problem->at_date; date++)
        needed |= problem->at_date[date].what & FD_EXERCISE;
    return needed;
}

#if TB_HOST_SCOPE
#ifdef _OPENMP
/* OpenMP's threads wait for each other. */
TB_HOST void adi3d_p_barrier(void *context)
{
    (void)context;
#pragma omp barrier
}
#endif

/* Solves   memory for MODEL_solve: the GPU's, where the program is compiled for one
   Returns  a pointer for adi3d_free; or null if there is not so much, which MODEL_solve answers with FD_NO_ROOM */
TB_HOST void *adi3d_allocate(size_t bytes)
{
#if TB_LAUNCHES
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
#else
    return malloc(bytes);
#endif
}
/* Solves   its release */
TB_HOST void adi3d_free(void *memory)
{
#if TB_LAUNCHES
    cudaFree(memory);
#else
    free(memory);
#endif
}

/* The threads that OpenMP would take. */
TB_HOST int adi3d_p_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
#endif

#if TB_LAUNCHES
/* An attribute of the current device; 0 if it does not say. */
TB_HOST int adi3d_p_attribute(enum cudaDeviceAttr attribute)
{
    int device, value;
    return cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess
               ? value
               : 0;
}

/* Into how many sections a march of so many planes is cut, where `blocks` blocks march side by side and `slots` run at
   the same time, if a section takes as much as `more` planes more than it has: what takes the least time. */
TB_HOST int adi3d_p_sections(int planes, int blocks, int slots, int more)
{
    int best = 1, most = planes / 4 > 1 ? planes / 4 : 1;
    long long least = 0;
    for (int s = 1; s <= most && slots > 0; s++) {
        long long time = (((long long)blocks * s - 1) / slots + 1) * ((planes - 1) / s + 1 + more);
        if (s == 1 || time < least) least = time, best = s;
    }
    return best;
}
#endif

#endif /* ADI3D_H */
#endif

#ifdef ADI3D_MODEL
#ifndef ADI3D_P_REAL /* a model: what does not depend on the precision, then the body below, once a precision */

/* Macros of a user's must not reach the parameters and constants of the same names. */
#ifndef __CUDACC_RTC__ /* which does not know the pragma */
#pragma push_macro("ALONG_X")
#undef ALONG_X
#pragma push_macro("ALONG_Y")
#undef ALONG_Y
#pragma push_macro("ARRAYS")
#undef ARRAYS
#pragma push_macro("AXIS")
#undef AXIS
#pragma push_macro("BESIDE")
#undef BESIDE
#pragma push_macro("BLOCKS")
#undef BLOCKS
#pragma push_macro("CHANGES")
#undef CHANGES
#pragma push_macro("FEW")
#undef FEW
#pragma push_macro("FEWER")
#undef FEWER
#pragma push_macro("H")
#undef H
#pragma push_macro("K")
#undef K
#pragma push_macro("KIND")
#undef KIND
#pragma push_macro("L")
#undef L
#pragma push_macro("MORE")
#undef MORE
#pragma push_macro("MOST")
#undef MOST
#pragma push_macro("NUMBERS")
#undef NUMBERS
#pragma push_macro("OF_LANE")
#undef OF_LANE
#pragma push_macro("OF_ROW")
#undef OF_ROW
#pragma push_macro("P")
#undef P
#pragma push_macro("PASSES")
#undef PASSES
#pragma push_macro("PLANE")
#undef PLANE
#pragma push_macro("Q")
#undef Q
#pragma push_macro("ROWS")
#undef ROWS
#pragma push_macro("S")
#undef S
#pragma push_macro("SECOND")
#undef SECOND
#pragma push_macro("SLICE")
#undef SLICE
#pragma push_macro("SLOT")
#undef SLOT
#pragma push_macro("SOME")
#undef SOME
#pragma push_macro("TABLES")
#undef TABLES
#pragma push_macro("THREADS")
#undef THREADS
#pragma push_macro("V")
#undef V
#pragma push_macro("VECTORS")
#undef VECTORS
#endif

#define ADI3D_M(stem) ADI3D_P_JOIN(ADI3D_MODEL, stem)

/* What is given at a face. */
TB_HD double ADI3D_M(p_face)(const ADI3D_M(parameters) * parameters, int axis, int side, const double *at, double t)
{
#ifdef ADI3D_FACE
    return ADI3D_M(face)(parameters, axis, side, at, t);
#else
    (void)parameters, (void)axis, (void)side, (void)at, (void)t;
    return 0;
#endif
}

TB_HD double ADI3D_M(p_change)(const ADI3D_M(parameters) * parameters, int date, const double *at, double value)
{
#ifdef ADI3D_CHANGE
    return ADI3D_M(change)(parameters, date, at, value);
#else
    (void)parameters, (void)date, (void)at;
    return value;
#endif
}

/* The times of its march. */
TB_HD fd_times ADI3D_M(p_times)(const adi3d_problem *problem)
{
    return fd_times_of(&problem->times, problem->scheme, 3, (int)ADI3D_M(mixed) != 0);
}

/* How many numbers a point of an axis has; axis 3 is time. */
TB_HD int ADI3D_M(p_numbers)(int axis)
{
    return axis == 0   ? (int)ADI3D_M(numbers_of_x)
           : axis == 1 ? (int)ADI3D_M(numbers_of_y)
           : axis == 2 ? (int)ADI3D_M(numbers_of_z)
                       : (int)ADI3D_M(numbers_of_t);
}

/* They are, in double precision. */
TB_HD void ADI3D_M(p_numbers_at)(const ADI3D_M(parameters) * parameters, int axis, double at, double *number)
{
    if (axis == 0) ADI3D_M(of_x)(parameters, at, number);
    if (axis == 1) ADI3D_M(of_y)(parameters, at, number);
    if (axis == 2) ADI3D_M(of_z)(parameters, at, number);
    if (axis == 3) ADI3D_M(of_t)(parameters, at, number);
}

enum {
#ifdef ADI3D_ALONE
    ADI3D_M(p_alone) = ADI3D_ALONE,
#else
    ADI3D_M(p_alone) = 0,
#endif
    ADI3D_M(p_most) = 1 + (int)ADI3D_M(numbers_of_x) + (int)ADI3D_M(numbers_of_y) + (int)ADI3D_M(numbers_of_z) +
                      (int)ADI3D_M(numbers_of_t), /* of any axis or of time, and one */
    ADI3D_M(p_room) = (int)ADI3D_M(p_most) + FD_P_ROOM
};

#define ADI3D_P_REAL float
#define ADI3D_P_SUFFIX _f32
#define ADI3D_P_VECTOR float4 /* 16 bytes */
#define ADI3D_P_LINES_LEN TRID_BLOCK_INTERLEAVED_LEN_F32
/* Lines along y and z of up to 128, 256, 512 and 1024 points: points a thread, sections, lines of a block. */
#define ADI3D_P_SHAPE_128 16, 8, 64
#define ADI3D_P_SHAPE_256 16, 16, 32
#define ADI3D_P_SHAPE_512 16, 32, 16
#define ADI3D_P_SHAPE_1024 32, 32, 8
#include ADI3D_HEADER
#undef ADI3D_P_REAL
#undef ADI3D_P_SUFFIX
#undef ADI3D_P_VECTOR
#undef ADI3D_P_LINES_LEN
#undef ADI3D_P_SHAPE_128
#undef ADI3D_P_SHAPE_256
#undef ADI3D_P_SHAPE_512
#undef ADI3D_P_SHAPE_1024
#define ADI3D_P_REAL double
#define ADI3D_P_SUFFIX _f64
#define ADI3D_P_VECTOR double2
#define ADI3D_P_LINES_LEN TRID_BLOCK_INTERLEAVED_LEN_F64
#define ADI3D_P_SHAPE_128 16, 8, 32
#define ADI3D_P_SHAPE_256 16, 16, 16
#define ADI3D_P_SHAPE_512 16, 32, 8
#define ADI3D_P_SHAPE_1024 32, 32, 4
#include ADI3D_HEADER
#undef ADI3D_P_REAL
#undef ADI3D_P_SUFFIX
#undef ADI3D_P_VECTOR
#undef ADI3D_P_LINES_LEN
#undef ADI3D_P_SHAPE_128
#undef ADI3D_P_SHAPE_256
#undef ADI3D_P_SHAPE_512
#undef ADI3D_P_SHAPE_1024

#ifndef __CUDACC_RTC__
#pragma pop_macro("ALONG_X")
#pragma pop_macro("ALONG_Y")
#pragma pop_macro("ARRAYS")
#pragma pop_macro("AXIS")
#pragma pop_macro("BESIDE")
#pragma pop_macro("BLOCKS")
#pragma pop_macro("CHANGES")
#pragma pop_macro("FEW")
#pragma pop_macro("FEWER")
#pragma pop_macro("H")
#pragma pop_macro("K")
#pragma pop_macro("KIND")
#pragma pop_macro("L")
#pragma pop_macro("MORE")
#pragma pop_macro("MOST")
#pragma pop_macro("NUMBERS")
#pragma pop_macro("OF_LANE")
#pragma pop_macro("OF_ROW")
#pragma pop_macro("P")
#pragma pop_macro("PASSES")
#pragma pop_macro("PLANE")
#pragma pop_macro("Q")
#pragma pop_macro("ROWS")
#pragma pop_macro("S")
#pragma pop_macro("SECOND")
#pragma pop_macro("SLICE")
#pragma pop_macro("SLOT")
#pragma pop_macro("SOME")
#pragma pop_macro("TABLES")
#pragma pop_macro("THREADS")
#pragma pop_macro("V")
#pragma pop_macro("VECTORS")
#endif

#undef ADI3D_M
#undef ADI3D_MODEL
#undef ADI3D_FACE
#undef ADI3D_ALONE
#undef ADI3D_CHANGE

#else /* the body, of a model in the precision at hand */

#define ADI3D_R ADI3D_P_REAL
#define ADI3D_P_LANES ((int)(512 / sizeof(ADI3D_R))) /* the host's lines side by side */
#define ADI3D_F(stem) ADI3D_P_JOIN_OF(ADI3D_MODEL, stem, ADI3D_P_SUFFIX)
#define ADI3D_G(stem) ADI3D_P_JOIN_G(stem, ADI3D_P_SUFFIX)
#define ADI3D_P_JOIN_G(a, b) ADI3D_P_JOIN_G2(a, b)
#define ADI3D_P_JOIN_G2(a, b) a##b

/* ---- a problem made ready: what host and device share ------------------------------------------------------------ */

/* The tables of the axes. Those of one lie in one piece (p_axis_bytes), so that they are made in the host's memory and
   copied from there to a device's, to the same places in a piece of its own. Numbers beyond the last point, up to
   padded, are those of the last. */
typedef struct {
    int n[3], padded[3];
    double *x[3]; /* coordinates */
    ADI3D_G(fd_cell) * cell[3];
    ADI3D_R *far_of[3]; /* fd_cells' */
    ADI3D_R *number[3]; /* number q of point i at [q * padded + i] */
    fd_weights at[3];   /* of the spot */
} ADI3D_F(p_tables);

/* A step: how it goes, and the numbers of its start (0) and end (1). Small, and passed by value. */
typedef struct {
    ADI3D_G(fd_pace) pace;
    ADI3D_R time[2][ADI3D_M(numbers_of_t) + 1];
    double from, to;
    int changes; /* does anything along the axes, coefficients or given slopes, differ from its start to its end? */
} ADI3D_F(p_step);

/* Hands out the memory of an axis' tables; with null, only counts. */
TB_HD size_t ADI3D_F(p_axis_lay_out)(int axis, int points, unsigned char *memory, ADI3D_F(p_tables) * tables)
{
    const size_t n = (size_t)points, padded = (size_t)adi3d_p_padded(points);
    size_t used = 0, place[4];
    place[0] = used, used += fd_p_round(n * sizeof(double));
    place[1] = used, used += fd_p_round(n * sizeof(ADI3D_G(fd_cell)));
    place[2] = used, used += fd_p_round(2 * sizeof(ADI3D_R));
    place[3] = used, used += fd_p_round(padded * (size_t)ADI3D_M(p_numbers)(axis) * sizeof(ADI3D_R));
    if (memory) {
        tables->n[axis] = points, tables->padded[axis] = (int)padded;
        tables->x[axis] = (double *)(memory + place[0]);
        tables->cell[axis] = (ADI3D_G(fd_cell) *)(memory + place[1]);
        tables->far_of[axis] = (ADI3D_R *)(memory + place[2]);
        tables->number[axis] = (ADI3D_R *)(memory + place[3]);
    }
    return used;
}

/* Bytes of an axis' tables. */
TB_HD size_t ADI3D_F(p_axis_bytes)(int axis, int points)
{
    return ADI3D_F(p_axis_lay_out)(axis, points, NULL, NULL);
}

/* Fills the tables of an axis, which have been laid out. Returns what is FD_OK, FD_BAD_AXIS, FD_BAD_SPOT, FD_MODEL_NAN
   or FD_TOO_FEW_NUMBERS, of the axis. */
TB_HD fd_status ADI3D_F(p_axis)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, int axis,
                                ADI3D_F(p_tables) * t)
{
    const int n = t->n[axis], padded = t->padded[axis], numbers = ADI3D_M(p_numbers)(axis);
    double *x = t->x[axis], number[ADI3D_M(p_room)];
    int wrong = problem->points[axis] ? FD_OK : fd_axis_points(&problem->axis[axis], x);
    for (int i = 0; i < n && problem->points[axis]; i++) x[i] = problem->points[axis][i];
    if (!wrong) wrong = ADI3D_G(fd_cells)(n, x, problem->face[axis], t->cell[axis], t->far_of[axis]);
    if (wrong) return fd_status_of(FD_BAD_AXIS, wrong, axis, -1, -1, -1, -1);
    if (fd_interpolate(n, x, problem->spot[axis], &t->at[axis]))
        return fd_status_of(FD_BAD_SPOT, 0, axis, -1, -1, -1, -1);
    fd_p_blank(numbers, number);
    for (int i = 0; i < padded; i++) {
        const int last = i < n ? i : n - 1;
        ADI3D_M(p_numbers_at)(parameters, axis, x[last], number);
        for (int q = 0; q < numbers; q++) {
            t->number[axis][q * padded + i] = (ADI3D_R)number[q];
            if (!ADI3D_G(trid_finite)((ADI3D_R)number[q]))
                return fd_status_of(FD_MODEL_NAN, 0, axis, axis == 0 ? last : -1, axis == 1 ? last : -1,
                                    axis == 2 ? last : -1, -1);
        }
    }
    const int beyond = fd_p_written_beyond(numbers, number);
    return fd_status_of(beyond ? FD_TOO_FEW_NUMBERS : FD_OK, 0, beyond ? axis : -1, -1, -1, -1, -1);
}

/* Makes step k ready. Returns what is FD_OK, or FD_MODEL_NAN or FD_TOO_FEW_NUMBERS in step k. */
TB_HD fd_status ADI3D_F(p_step_of)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                                   const fd_step *step, int k, ADI3D_F(p_step) * s)
{
    double number[ADI3D_M(p_room)];
    fd_p_blank(ADI3D_M(p_numbers)(3), number);
    ADI3D_G(fd_pace_of)(problem->scheme, step, &s->pace);
    s->from = step->from, s->to = step->to;
    for (int end = 0; end < 2; end++) {
        /* One time is one call: of two the compiler might round one otherwise. */
        if (end == 0 || problem->coefficients == FD_BOTH_ENDS)
            ADI3D_M(p_numbers_at)(parameters, 3, fd_coefficient_time(problem->coefficients, step, end), number);
        s->time[end][ADI3D_M(numbers_of_t)] = 0;
        for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) {
            s->time[end][q] = (ADI3D_R)number[q];
            if (!ADI3D_G(trid_finite)(s->time[end][q])) return fd_status_of(FD_MODEL_NAN, 0, -1, -1, -1, -1, k);
        }
    }
    if (fd_p_written_beyond(ADI3D_M(p_numbers)(3), number))
        return fd_status_of(FD_TOO_FEW_NUMBERS, 0, -1, -1, -1, -1, k);
    s->pace.still = ADI3D_M(changes) == 0 || ADI3D_G(fd_p_same)(ADI3D_M(p_numbers)(3), &s->time[0][0], &s->time[1][0]);
    s->changes = !s->pace.still || adi3d_p_slopes(problem);
    return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
}

/* The final value at point (i, j, k). */
TB_HD double ADI3D_F(p_final)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                              const ADI3D_F(p_tables) * t, int i, int j, int k)
{
    const double *x[3] = {t->x[0], t->x[1], t->x[2]};
    const int index[3] = {i, j, k};
    return fd_final_as(problem->finals, problem->kinks, problem->kink, 3, x, t->n, index, ADI3D_M(payoff), parameters);
}

/* The numbers of point i of an axis, from its table. */
TB_HD void ADI3D_F(p_take)(const ADI3D_F(p_tables) * t, int axis, int i, ADI3D_R *number)
{
    TB_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(axis); q++) number[q] = t->number[axis][q * t->padded[axis] + i];
}

/* The terms from the numbers of a point and a time. */
TB_HD ADI3D_G(adi3d_terms) ADI3D_F(p_terms)(const ADI3D_R *x, const ADI3D_R *y, const ADI3D_R *z, const ADI3D_R *time)
{
    ADI3D_G(adi3d_terms) terms = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0};
    ADI3D_F(terms)(x, y, z, time, &terms);
    return terms;
}

/* The same at point (i, j, k), by the tables: where speed does not matter. */
TB_HD ADI3D_G(adi3d_terms) ADI3D_F(p_terms_at)(const ADI3D_F(p_tables) * t, int i, int j, int k, const ADI3D_R *time)
{
    ADI3D_R x[ADI3D_M(p_most)], y[ADI3D_M(p_most)], z[ADI3D_M(p_most)];
    ADI3D_F(p_take)(t, 0, i, x), ADI3D_F(p_take)(t, 1, j, y), ADI3D_F(p_take)(t, 2, k, z);
    return ADI3D_F(p_terms)(x, y, z, time);
}

/* Are they finite? */
TB_HD int ADI3D_F(p_finite)(ADI3D_G(adi3d_terms) terms)
{
    /* Shares: a sum of finite numbers must be finite. */
    double sum = (double)terms.kill / 16;
    for (int d = 0; d < 3; d++)
        sum += (double)terms.drift[d] / 16 + (double)terms.volatility[d] / 16 + (double)terms.beta[d] / 16;
    return trid_finite_f64(sum);
}

/* The row of A along an axis, without kill. */
TB_HD ADI3D_G(fd_row) ADI3D_F(p_row)(int axis, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms)
{
    return ADI3D_G(fd_lane_row)(cell, ADI3D_M(fitting), terms.drift[axis],
                                terms.volatility[axis] * terms.volatility[axis]);
}

/* The row of 1 - size A along an axis, which has a third of the kill; of a face without the couplings that would keep
   it from being dominant. Returns whether it was, without that. */
TB_HD int ADI3D_F(p_matrix)(int axis, int at_face, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms, ADI3D_R size,
                            ADI3D_R *a, ADI3D_R *b, ADI3D_R *c)
{
    return ADI3D_G(fd_lane_matrix_at)(ADI3D_F(p_row)(axis, cell, terms), at_face, size, terms.kill / 3, a, b, c);
}

/* A u along an axis from the three values there, with its third of the kill: without what its faces add. */
TB_HD ADI3D_R ADI3D_F(p_along)(int axis, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms, ADI3D_R low, ADI3D_R here,
                               ADI3D_R high)
{
    return ADI3D_G(fd_lane_apply)(ADI3D_F(p_row)(axis, cell, terms), low, here, high) - terms.kill / 3 * here;
}

/* The first derivative (fd_lane_first) with what multiplies the two differences: they are made once a cell. */
TB_HD ADI3D_R ADI3D_F(p_first)(ADI3D_R down, ADI3D_R up, ADI3D_R low, ADI3D_R here, ADI3D_R high)
{
    return down * (here - low) + up * (high - here);
}

/* A sum of the mixed derivatives xy, xz, yz at a point as F_0 has it. */
TB_HD ADI3D_R ADI3D_F(p_mix)(const ADI3D_G(adi3d_terms) * terms, const ADI3D_R *cross)
{
    const ADI3D_R *s = terms->volatility;
    ADI3D_R sum = 0;
    if ((int)ADI3D_M(mixed) & 1) sum += terms->beta[0] * s[0] * s[1] * cross[0];
    if ((int)ADI3D_M(mixed) & 2) sum += terms->beta[1] * s[0] * s[2] * cross[1];
    if ((int)ADI3D_M(mixed) & 4) sum += terms->beta[2] * s[1] * s[2] * cross[2];
    return sum;
}

/* F_1 + F_2 + F_3 at a point, from its cells, its terms, the value there and those before and after it along the axes.
   Without what faces add. */
TB_HD ADI3D_R ADI3D_F(p_own)(const ADI3D_G(fd_cell) * cell, const ADI3D_G(adi3d_terms) * terms, ADI3D_R here,
                             const ADI3D_R *low, const ADI3D_R *high)
{
    const ADI3D_G(fd_row) x = ADI3D_F(p_row)(0, cell[0], *terms), y = ADI3D_F(p_row)(1, cell[1], *terms);
    const ADI3D_G(fd_row) z = ADI3D_F(p_row)(2, cell[2], *terms);
    return ADI3D_G(fd_lane_apply)(x, low[0], here, high[0]) + ADI3D_G(fd_lane_apply)(y, low[1], here, high[1]) +
           ADI3D_G(fd_lane_apply)(z, low[2], here, high[2]) - terms->kill * here;
}

/* mixed F_0 + own (F_1 + F_2 + F_3) at a point, from its cells, its terms and the values around it, (i, j, k) of
   -1 .. 1 at v[13 + i + 3 j + 9 k]; the eight corners are not read. Without what faces add. 19 points; some 50
   operations for the mixed terms and 25 for the others. */
TB_HD ADI3D_R ADI3D_F(p_apply)(const ADI3D_G(fd_cell) * cell, const ADI3D_G(adi3d_terms) * terms, ADI3D_R mixed,
                               ADI3D_R own, const ADI3D_R *v)
{
    const ADI3D_R before[3] = {v[12], v[10], v[4]}, after[3] = {v[14], v[16], v[22]};
    const ADI3D_R sum = own * ADI3D_F(p_own)(cell, terms, v[13], before, after);
    ADI3D_R down[3], up[3], cross[3] = {0, 0, 0};
    if (ADI3D_M(mixed) == 0) return sum;
    TB_UNROLL
    for (int d = 0; d < 3; d++) down[d] = cell[d].below * (1 - cell[d].w), up[d] = cell[d].above * cell[d].w;
    /* Slopes along x and y in the middle of each plane and row, and how they change. */
    if ((int)ADI3D_M(mixed) & 4) {
        ADI3D_R low = ADI3D_F(p_first)(down[1], up[1], v[1], v[4], v[7]);
        ADI3D_R here = ADI3D_F(p_first)(down[1], up[1], v[10], v[13], v[16]);
        ADI3D_R high = ADI3D_F(p_first)(down[1], up[1], v[19], v[22], v[25]);
        cross[2] = ADI3D_F(p_first)(down[2], up[2], low, here, high);
    }
    ADI3D_R here = ADI3D_F(p_first)(down[0], up[0], v[12], v[13], v[14]);
    if ((int)ADI3D_M(mixed) & 2) {
        ADI3D_R low = ADI3D_F(p_first)(down[0], up[0], v[3], v[4], v[5]);
        ADI3D_R high = ADI3D_F(p_first)(down[0], up[0], v[21], v[22], v[23]);
        cross[1] = ADI3D_F(p_first)(down[2], up[2], low, here, high);
    }
    if ((int)ADI3D_M(mixed) & 1) {
        ADI3D_R low = ADI3D_F(p_first)(down[0], up[0], v[9], v[10], v[11]);
        ADI3D_R high = ADI3D_F(p_first)(down[0], up[0], v[15], v[16], v[17]);
        cross[0] = ADI3D_F(p_first)(down[1], up[1], low, here, high);
    }
    return sum + mixed * ADI3D_F(p_mix)(terms, cross);
}

/* Do the faces of an axis add to F? */
TB_HD int ADI3D_F(p_adds)(const adi3d_problem *problem, int axis, int side)
{
    const int kind = problem->face[axis][side];
    return kind == FD_SLOPE || kind == FD_DEGENERATE;
}

/* What a face adds to F along its axis at point (i, j, k) of it: a slope that is given at time t, or its third point,
   from the values next to the face and one further in; `time` are the numbers of the coefficients' time. */
TB_HD ADI3D_R ADI3D_F(p_at_face)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                                 const ADI3D_F(p_tables) * t, int axis, int side, int i, int j, int k,
                                 const ADI3D_R *time, double when, ADI3D_R next, ADI3D_R third)
{
    const int kind = problem->face[axis][side];
    if (kind != FD_SLOPE && kind != FD_DEGENERATE) return 0;
    const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms_at)(t, i, j, k, time);
    if (kind == FD_DEGENERATE) return terms.drift[axis] * t->far_of[axis][side] * (third - next);
    const double at[3] = {t->x[0][i], t->x[1][j], t->x[2][k]};
    const ADI3D_R slope = (ADI3D_R)ADI3D_M(p_face)(parameters, axis, side, at, when);
    return ADI3D_G(fd_lane_source)(t->cell[axis][side ? t->n[axis] - 1 : 0], terms.drift[axis],
                                   terms.volatility[axis] * terms.volatility[axis], slope);
}

/* The matrix row of a face and its right-hand side, at a point of it with these terms; `beside` are those of its
   neighbour on the line, whose right-hand side is near_by; w is what the solution is the difference from, `when` the
   step's end. row: a, b, c; at the first face a, at the last c is without meaning. */
TB_HD void ADI3D_F(p_face_row)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                               const ADI3D_F(p_tables) * t, int axis, int side, const double *at, double when,
                               ADI3D_R size, ADI3D_G(adi3d_terms) terms, ADI3D_G(adi3d_terms) beside, ADI3D_R near_by,
                               ADI3D_R w, ADI3D_R *row, ADI3D_R *right)
{
    const int kind = problem->face[axis][side], last = t->n[axis] - 1;
    if (kind == FD_VALUE) {
        row[0] = row[2] = 0, row[1] = 1;
        *right = (ADI3D_R)ADI3D_M(p_face)(parameters, axis, side, at, when) - w;
        return;
    }
    ADI3D_F(p_matrix)(axis, 1, t->cell[axis][side ? last : 0], terms, size, &row[0], &row[1], &row[2]);
    if (kind == FD_DEGENERATE) {
        ADI3D_R next[3];
        ADI3D_F(p_matrix)(axis, 0, t->cell[axis][side ? last - 1 : 1], beside, size, &next[0], &next[1], &next[2]);
        const ADI3D_R third = size * terms.drift[axis] * t->far_of[axis][side];
        *right -= near_by * ADI3D_G(fd_lane_face_three)(third, &row[1], &row[side ? 0 : 2], next[side ? 2 : 0], next[1],
                                                        next[side ? 0 : 2]);
    }
}

/* Is the row along an axis with these terms not dominant? One without couplings of the wrong sign is, whatever rounding
   says. */
TB_HD int ADI3D_F(p_weak_along)(int axis, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms, ADI3D_R size)
{
    ADI3D_R a, b, c;
    const int dominant = ADI3D_F(p_matrix)(axis, 0, cell, terms, size, &a, &b, &c);
    return !dominant & !((a <= 0) & (c <= 0) & (1 + size * terms.kill / 3 > 0));
}

/* How many of the three rows of a point are not dominant in a step. At a face whose value is given the cell makes no
   couplings, so that none is found there. */
TB_HD int ADI3D_F(p_weak)(const ADI3D_F(p_tables) * t, int i, int j, int k, const ADI3D_F(p_step) * step)
{
    const int index[3] = {i, j, k};
    const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms_at)(t, i, j, k, step->time[1]);
    int weak = 0;
    for (int d = 0; d < 3; d++) weak += ADI3D_F(p_weak_along)(d, t->cell[d][index[d]], terms, step->pace.size);
    return weak;
}

/* The terms at point (i, j, k) and a time, where numbers that are not declared are 1, but 2 those of the axes, and of
   time (bit 3), whose bits are in twos. */
TB_HD ADI3D_G(adi3d_terms)
    ADI3D_F(p_terms_beyond)(const ADI3D_F(p_tables) * t, int i, int j, int k, const ADI3D_R *time, int twos)
{
    const int index[3] = {i, j, k};
    ADI3D_R number[4][ADI3D_M(p_room)];
    for (int d = 0; d < 4; d++) {
        const int declared = ADI3D_M(p_numbers)(d);
        for (int q = 0; q < FD_P_ROOM; q++) number[d][declared + q] = (ADI3D_R)(1 + (twos >> d & 1));
        for (int q = 0; q < declared; q++) number[d][q] = d < 3 ? t->number[d][q * t->padded[d] + index[d]] : time[q];
    }
    return ADI3D_F(p_terms)(number[0], number[1], number[2], number[3]);
}

/* Of what the terms read more numbers than are declared: FD_P_FEW's bits. */
TB_HD int ADI3D_F(p_few)(const ADI3D_F(p_tables) * t, int i, int j, int k, const ADI3D_R *time)
{
    enum { numbers = sizeof(ADI3D_G(adi3d_terms)) / sizeof(ADI3D_R), all = 15 };
    ADI3D_R ones[numbers], twos[numbers];
    int few = 0;
    ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms_beyond)(t, i, j, k, time, 0);
    memcpy(ones, &terms, sizeof ones);
    for (int which = all; which > 0; which = which == all ? 8 : which / 2) {
        terms = ADI3D_F(p_terms_beyond)(t, i, j, k, time, which);
        memcpy(twos, &terms, sizeof twos);
        const int same = ADI3D_G(fd_p_same)(numbers, ones, twos);
        if (which == all && same) return 0;
        if (which != all && !same) few |= FD_P_FEW * which;
    }
    return few;
}

/* Does what is along an axis, or the kill, differ? */
TB_HD int ADI3D_F(p_differs)(int axis, ADI3D_G(adi3d_terms) one, ADI3D_G(adi3d_terms) other)
{
    return ADI3D_G(fd_p_differ)(one.drift[axis], other.drift[axis]) |
           ADI3D_G(fd_p_differ)(one.volatility[axis], other.volatility[axis]) |
           ADI3D_G(fd_p_differ)(one.kill, other.kill);
}

/* What of the model's declarations is not true in a step at a point with these numbers, and is the problem ill-posed
   there: a sum of pde/fd.h's. first: the numbers of the axes' first points; changes: do those of time? */
TB_HD int ADI3D_F(p_untrue)(const ADI3D_R *x, const ADI3D_R *y, const ADI3D_R *z, ADI3D_R (*first)[ADI3D_M(p_room)],
                            const ADI3D_R *start, const ADI3D_R *end, int changes)
{
    const ADI3D_G(adi3d_terms) here = ADI3D_F(p_terms)(x, y, z, end);
    int untrue = 0, differs = 0, there[3];
    ADI3D_R rho[3];
    for (int d = 0; d < 3; d++) there[d] = (here.volatility[d] < 0) | (here.volatility[d] > 0);
    for (int p = 0; p < 3; p++) {
        rho[p] = there[p == 2] & there[1 + (p > 0)] ? here.beta[p] / 2 : 0; /* 12, 13, 23 */
        if (!((int)ADI3D_M(mixed) >> p & 1)) untrue |= ((rho[p] < 0) | (rho[p] > 0)) * (FD_P_MIXED << p);
    }
    untrue |= ADI3D_G(fd_p_ill_correlated)(rho) * FD_P_ILL_POSED;
    if (ADI3D_M(changes) == 0 && changes) {
        const ADI3D_G(adi3d_terms) before = ADI3D_F(p_terms)(x, y, z, start);
        for (int d = 0; d < 3; d++)
            differs |= ADI3D_F(p_differs)(d, here, before) | ADI3D_G(fd_p_differ)(here.beta[d], before.beta[d]);
        untrue |= differs * FD_P_CHANGES;
    }
    for (int d = 0; d < 3; d++) {
        if (!((int)ADI3D_M(p_alone) >> d & 1)) continue;
        const ADI3D_G(adi3d_terms) line =
            ADI3D_F(p_terms)(d == 0 ? x : first[0], d == 1 ? y : first[1], d == 2 ? z : first[2], end);
        untrue |= ADI3D_F(p_differs)(d, here, line) * (FD_P_NOT_ALONE << d);
    }
    return untrue;
}

/* The same at point (i, j, k), and of one point of each row whether its terms read more numbers than are declared.
   Nothing else is asked of points whose values are given. */
TB_HD int ADI3D_F(p_untrue_at)(const adi3d_problem *problem, const ADI3D_F(p_tables) * t, int i, int j, int k,
                               const ADI3D_F(p_step) * step)
{
    const int index[3] = {i, j, k};
    ADI3D_R number[3][ADI3D_M(p_room)], first[3][ADI3D_M(p_room)];
    ADI3D_R start[ADI3D_M(p_room)], end[ADI3D_M(p_room)];
    const int few = i == (j + k) % t->n[0] ? ADI3D_F(p_few)(t, i, j, k, step->time[1]) : 0;
    const int changes = !ADI3D_G(fd_p_same)(ADI3D_M(p_numbers)(3), &step->time[0][0], &step->time[1][0]);
    for (int d = 0; d < 3; d++) {
        if (adi3d_p_given(problem, d, index[d])) return few;
        ADI3D_F(p_take)(t, d, index[d], number[d]), ADI3D_F(p_take)(t, d, 0, first[d]);
    }
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) start[q] = step->time[0][q], end[q] = step->time[1][q];
    return few | ADI3D_F(p_untrue)(number[0], number[1], number[2], first, start, end, changes);
}

/* Is a point too fast for explicit steps, the longest of which is so long? As fd_p_too_fast. With more than one mixed
   term the fastest wave is faster than those along the axes, by 9/8 at most. */
TB_HD int ADI3D_F(p_too_fast)(const adi3d_problem *problem, const ADI3D_F(p_tables) * t, double longest, int i, int j,
                              int k, const ADI3D_F(p_step) * step)
{
    const int index[3] = {i, j, k}, mixed = ADI3D_M(mixed);
    fd_p_rate rate = {0, 0};
    if (!(longest > 0)) return 0;
    const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms_at)(t, i, j, k, step->time[1]);
    for (int d = 0; d < 3; d++) {
        const int at_face = index[d] == 0 || index[d] == t->n[d] - 1;
        ADI3D_G(fd_p_rate_add)
        (ADI3D_F(p_row)(d, t->cell[d][index[d]], terms), at_face, mixed, 1.5 * problem->times.maturity, &rate);
    }
    if (mixed & (mixed - 1)) rate.couplings *= 1.125;
    return fd_p_too_fast(longest, rate, (double)terms.kill);
}

/* Value and derivatives at the spot, from the 4 x 4 x 4 values around it, those along x side by side, then those along
   y: the first is at (at[0].first, at[1].first, at[2].first). */
TB_HD adi3d_values ADI3D_F(p_values)(const fd_weights *at, const ADI3D_R *around)
{
    /* Which derivative along each axis. */
    const int order[10][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                              {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    const long long stride[3] = {1, 4, 16};
    double sum[10];
    for (int m = 0; m < 10; m++) {
        const double *weight[3];
        for (int d = 0; d < 3; d++)
            weight[d] = order[m][d] == 0 ? at[d].value : order[m][d] == 1 ? at[d].slope : at[d].curvature;
        sum[m] = ADI3D_G(fd_lane_value)(3, weight, around, stride);
    }
    adi3d_values values = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7], sum[8], sum[9]};
    return values;
}

/* The larger of `most` and the magnitude of what point (i, j, k) is given: its final value, and on a face the value
   given at time 0, or the slope times the length of the axis. */
TB_HD int ADI3D_F(p_given)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                           const ADI3D_F(p_tables) * t, int i, int j, int k, ADI3D_R value, int most)
{
    const int index[3] = {i, j, k};
    const double at[3] = {t->x[0][i], t->x[1][j], t->x[2][k]};
    for (int d = 0; d < 3; d++) {
        const int last = index[d] == t->n[d] - 1, kind = problem->face[d][last];
        if ((index[d] > 0 && !last) || (kind != FD_VALUE && kind != FD_SLOPE)) continue;
        const double length = kind == FD_SLOPE ? t->x[d][t->n[d] - 1] - t->x[d][0] : 1;
        most = fd_p_larger(most, length * ADI3D_M(p_face)(parameters, d, last, at, 0));
    }
    return fd_p_larger(most, (double)value);
}

/* Tells where the points are, by so many threads: room[d] numbers of axis d, NaN beyond the last point. */
TB_HD void ADI3D_F(p_tell)(const ADI3D_F(p_tables) * t, const int *room, double *const *coordinates, int thread,
                           int threads)
{
    for (int d = 0; d < 3; d++)
        for (int i = thread; i < room[d] && coordinates[d]; i += threads)
            coordinates[d][i] = i < t->n[d] ? t->x[d][i] : (double)ADI3D_G(fd_p_nan)();
}

/* NaN wherever results would be, for a problem that has none; but for grid and coordinates, if it has no size that one
   can have. */
TB_HD void ADI3D_F(p_no_results)(const adi3d_problem *problem, const adi3d_result *result)
{
    const ADI3D_R nan = ADI3D_G(fd_p_nan)();
    const double n = (double)nan;
    const adi3d_values none = {n, n, n, n, n, n, n, n, n, n};
    const int dates = problem->times.dates > 0 && problem->times.dates <= FD_P_MOST ? problem->times.dates : 0;
    int sized = 1;
    for (int d = 0; d < 3; d++) sized &= problem->axis[d].points >= 4 && problem->axis[d].points <= ADI3D_MOST;
    for (int date = 0; date <= dates && result->values; date++) result->values[date] = none;
    for (size_t at = 0; at < adi3d_p_points(problem) && result->grid && sized; at++)
        ((ADI3D_R *)result->grid)[at] = nan;
    for (int d = 0; d < 3 && sized; d++)
        for (int i = 0; i < problem->axis[d].points && result->coordinates[d]; i++) result->coordinates[d][i] = n;
}

/* NaN wherever problem `which` of a batch would have results, by so many threads. */
TB_HD void ADI3D_F(p_nothing)(const adi3d_batch *batch, int which, int thread, int threads)
{
    const ADI3D_R nan = ADI3D_G(fd_p_nan)();
    const double n = (double)nan;
    const adi3d_values none = {n, n, n, n, n, n, n, n, n, n};
    const int all = batch->points[0] * batch->points[1] * batch->points[2];
    adi3d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    for (int date = thread; date <= batch->dates; date += threads) values[date] = none;
    for (int at = thread; at < all && batch->grid; at += threads)
        ((ADI3D_R *)batch->grid)[(size_t)which * (size_t)all + (size_t)at] = nan;
    for (int d = 0; d < 3; d++)
        for (int i = thread; i < batch->points[d] && batch->coordinates[d]; i += threads)
            batch->coordinates[d][(size_t)which * (size_t)batch->points[d] + (size_t)i] = n;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

/* A worker has a share of the planes in the sweep along x and y, of the rows of all planes in the one along z, and
   waits for the others in between. Lines are solved ADI3D_P_LANES at a time, side by side, which the compiler makes
   vectors of: along x from a tile that has been turned, along y and z from where they lie. A plane's right-hand side,
   its lines along x and those along y follow each other while it is in the cache. */
#if TB_HOST_SCOPE

/* What the workers tell each other. */
typedef struct {
    fd_status status;
    fd_weights at[3];
} ADI3D_F(p_shared);

/* What a worker knows. Grids have rows of pitch elements and planes of `plane`, zeros where there are no points, and
   more of these before the first and after the last, so that neighbours are read without asking where. */
typedef struct {
    ADI3D_F(p_tables) t;
    const adi3d_problem *problem;
    const ADI3D_M(parameters) * parameters;
    ADI3D_F(p_shared) * shared;
    int worker, workers;
    void (*meet)(void *context);
    void *context;
    int *slot;                      /* of each worker: a point, or a count */
    size_t pitch, plane, wide;      /* wide: elements between the rows of rows and slopes */
    ADI3D_R *spread;                /* the cells along x, number by number, pitch apart, and p_first's two weights */
    ADI3D_R *u, *z, *d;             /* values, a first stage's, differences */
    ADI3D_R *final, *extra;         /* final values, exercise's multiplier; null where there is none */
    ADI3D_R *zeros;                 /* of so many lines as are solved at once */
    ADI3D_R *rows, *slopes;         /* of the worker: right-hand sides, slopes of three rows along z and one y */
    ADI3D_R *turned, *tile, *upper; /* tiles: right-hand sides, solutions and their matrices */
} ADI3D_F(p_host);

TB_HOST size_t ADI3D_F(p_host_lay_out)(const adi3d_problem *problem, int worker, int workers, unsigned char *memory,
                                       ADI3D_F(p_host) * host)
{
    const int *const n[3] = {&problem->axis[0].points, &problem->axis[1].points, &problem->axis[2].points};
    const size_t line = 128 / sizeof(ADI3D_R), longest = (size_t)adi3d_p_longest(problem);
    /* An odd number of cache lines between planes: neighbours along z do not share a set of a cache. */
    const size_t pitch = ((size_t)*n[0] + line - 1) / line * line, plane = pitch * (size_t)*n[1] + line / 2;
    const size_t grid = fd_p_round((plane * (size_t)*n[2] + 2 * line) * sizeof(ADI3D_R));
    /* Nor do the tiles, or the rows of the first, share sets with each other. */
    const size_t wide = pitch + line / 2, tile = fd_p_round(longest * ADI3D_P_LANES * sizeof(ADI3D_R)) + 5 * 64;
    const size_t rows = fd_p_round(ADI3D_P_ROWS * wide * sizeof(ADI3D_R));
    const size_t slopes = fd_p_round((8 * wide + line / 2) * sizeof(ADI3D_R));
    ADI3D_F(p_host) h;
    size_t used = 0;
    memset(&h, 0, sizeof h);
    h.problem = problem, h.worker = worker, h.workers = workers, h.pitch = pitch, h.plane = plane, h.wide = wide;
    h.shared = (ADI3D_F(p_shared) *)fd_p_at(memory, used), used += fd_p_round(sizeof(ADI3D_F(p_shared)));
    h.slot = (int *)fd_p_at(memory, used), used += fd_p_round((size_t)workers * sizeof(int));
    for (int d = 0; d < 3; d++) used += ADI3D_F(p_axis_lay_out)(d, *n[d], (unsigned char *)fd_p_at(memory, used), &h.t);
    h.spread = (ADI3D_R *)fd_p_at(memory, used), used += fd_p_round(6 * pitch * sizeof(ADI3D_R));
    h.zeros = (ADI3D_R *)fd_p_at(memory, used), used += fd_p_round(ADI3D_P_LANES * sizeof(ADI3D_R));
    ADI3D_R **grids[5] = {&h.u, &h.d, &h.z, &h.final, &h.extra};
    const int needed[5] = {1, 1, problem->scheme != FD_DOUGLAS, adi3d_p_finals(problem),
                           problem->exercise == FD_AMERICAN};
    for (int g = 0; g < 5; g++) {
        if (!needed[g]) continue;
        *grids[g] = (ADI3D_R *)fd_p_at(memory, used + line * sizeof(ADI3D_R)), used += grid;
    }
    ADI3D_R **tiles[3] = {&h.turned, &h.tile, &h.upper};
    const size_t own = rows + slopes + 3 * tile;
    used += own * (size_t)worker;
    h.rows = (ADI3D_R *)fd_p_at(memory, used), used += rows;
    h.slopes = (ADI3D_R *)fd_p_at(memory, used + line / 2 * sizeof(ADI3D_R)), used += slopes;
    for (int g = 0; g < 3; g++) *tiles[g] = (ADI3D_R *)fd_p_at(memory, used), used += tile;
    used += own * (size_t)(workers - 1 - worker);
    if (host) *host = h;
    return used;
}

/* All workers wait for each other. */
TB_HOST void ADI3D_F(p_meet)(const ADI3D_F(p_host) * h)
{
    if (h->workers > 1) h->meet(h->context);
}

/* The least of what the workers found, or the sum of what they counted. */
TB_HOST int ADI3D_F(p_together)(const ADI3D_F(p_host) * h, int mine, int sums)
{
    int all = sums ? 0 : mine;
    h->slot[h->worker] = mine;
    ADI3D_F(p_meet)(h);
    for (int w = 0; w < h->workers; w++) {
        if (sums) all += h->slot[w];
        if (!sums && h->slot[w] < all) all = h->slot[w];
    }
    ADI3D_F(p_meet)(h);
    return all;
}

/* Where a worker's share of `count` begins; the next one's begins where it ends. */
TB_HOST int ADI3D_F(p_share)(const ADI3D_F(p_host) * h, int count, int worker)
{
    return (int)((long long)count * worker / h->workers);
}

/* Point number `at` of the grid as a status has it. */
TB_HOST fd_status ADI3D_F(p_lost)(const ADI3D_F(p_host) * h, int what, int at, int step)
{
    const int *n = h->t.n;
    return fd_status_of(what, 0, -1, at % n[0], at / n[0] % n[1], at / n[0] / n[1], step);
}

/* The numbers of point i of the axis that lies along vectors, in a table of that axis that begins there. */
FD_P_INLINE void ADI3D_F(p_host_take)(int axis, const ADI3D_R *FD_P_RESTRICT table, size_t padded, size_t i,
                                      ADI3D_R *number)
{
    for (int q = 0; q < ADI3D_M(p_numbers)(axis); q++) number[q] = table[(size_t)q * padded + i];
}

/* The cell of point i along x. */
FD_P_INLINE ADI3D_G(fd_cell) ADI3D_F(p_host_cell)(const ADI3D_R *FD_P_RESTRICT spread, size_t pitch, size_t i)
{
    const ADI3D_G(fd_cell) cell = {spread[i], spread[pitch + i], spread[2 * pitch + i], spread[3 * pitch + i]};
    return cell;
}

/* Row (j, k) of a grid, which at the faces stands for the one beyond, too. */
TB_HOST const ADI3D_R *ADI3D_F(p_host_row)(const ADI3D_F(p_host) * h, const ADI3D_R *v, int j, int k)
{
    const int *n = h->t.n;
    j = j < 0 ? 0 : j < n[1] ? j : n[1] - 1;
    k = k < 0 ? 0 : k < n[2] ? k : n[2] - 1;
    return v + (size_t)k * h->plane + (size_t)j * h->pitch;
}

/* So many numbers will be wanted soon. */
TB_HOST void ADI3D_F(p_host_fetch)(int count, const ADI3D_R *from)
{
    const int line = 64 / (int)sizeof(ADI3D_R);
    for (int i = 0; i < count; i += line) __builtin_prefetch(from + i);
}

/* How many elements of n loops along x may take, whole vectors: rows are padded. */
TB_HOST int ADI3D_F(p_host_whole)(int n)
{
    const int vector = 64 / (int)sizeof(ADI3D_R);
    return (n + vector - 1) & -vector;
}

/* So many numbers will be written soon. */
TB_HOST void ADI3D_F(p_host_fetch_to_write)(int count, const ADI3D_R *to)
{
    const int line = 64 / (int)sizeof(ADI3D_R);
    for (int i = 0; i < count; i += line) __builtin_prefetch(to + i, 1);
}

/* Slopes along z of a row, from it and the rows before and after it in that direction. */
FD_P_FLAT void ADI3D_F(p_host_slopes)(int whole, ADI3D_G(fd_cell) cell, const ADI3D_R *FD_P_RESTRICT low,
                                      const ADI3D_R *FD_P_RESTRICT here, const ADI3D_R *FD_P_RESTRICT high,
                                      ADI3D_R *FD_P_RESTRICT out)
{
    const ADI3D_R down = cell.below * (1 - cell.w), up = cell.above * cell.w;
    for (int i = 0; i < whole; i++) out[i] = ADI3D_F(p_first)(down, up, low[i], here[i], high[i]);
}

/* The numbers of row (j, k) and of a time, as the loops along x take them. */
FD_P_INLINE void ADI3D_F(p_host_take_row)(const ADI3D_F(p_host) * h, int j, int k, const ADI3D_R *time, ADI3D_R *y,
                                          ADI3D_R *z, ADI3D_R *now)
{
    ADI3D_F(p_take)(&h->t, 1, j, y), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = time[q];
}

/* out = own (F_1 + F_2 + F_3)(v) along row (j, k), or this in addition, and the slopes along y: from the row, the same
   from a point before and a point after, and the rows beside it. (Of three elements of a row clang makes a recurrence,
   which it does not vectorise.) */
#define ADI3D_P_OWN(name, more)                                                                                        \
    FD_P_FLAT void name(                                                                                               \
        const ADI3D_F(p_host) * h, int whole, int j, int k, const ADI3D_R *time, ADI3D_R own,                          \
        const ADI3D_R *FD_P_RESTRICT spread, const ADI3D_R *FD_P_RESTRICT numbers, const ADI3D_R *FD_P_RESTRICT here,  \
        const ADI3D_R *FD_P_RESTRICT low_x, const ADI3D_R *FD_P_RESTRICT high_x, const ADI3D_R *FD_P_RESTRICT low_y,   \
        const ADI3D_R *FD_P_RESTRICT high_y, const ADI3D_R *FD_P_RESTRICT low_z, const ADI3D_R *FD_P_RESTRICT high_z,  \
        ADI3D_R *FD_P_RESTRICT slopes, ADI3D_R *FD_P_RESTRICT out)                                                     \
    {                                                                                                                  \
        const ADI3D_G(fd_cell) cell_y = h->t.cell[1][j], cell_z = h->t.cell[2][k];                                     \
        const ADI3D_R down = cell_y.below * (1 - cell_y.w), up = cell_y.above * cell_y.w;                              \
        const size_t padded = (size_t)h->t.padded[0], pitch = h->pitch;                                                \
        ADI3D_R y[ADI3D_M(p_most)], z[ADI3D_M(p_most)], now[ADI3D_M(p_most)];                                          \
        ADI3D_F(p_host_take_row)(h, j, k, time, y, z, now);                                                            \
        for (int i = 0; i < whole; i++) {                                                                              \
            const ADI3D_G(fd_cell) cell[3] = {ADI3D_F(p_host_cell)(spread, pitch, (size_t)i), cell_y, cell_z};         \
            const ADI3D_R low[3] = {low_x[i], low_y[i], low_z[i]}, high[3] = {high_x[i], high_y[i], high_z[i]};        \
            ADI3D_R x[ADI3D_M(p_most)];                                                                                \
            ADI3D_F(p_host_take)(0, numbers, padded, (size_t)i, x);                                                    \
            const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(x, y, z, now);                                         \
            const ADI3D_R sum = own * ADI3D_F(p_own)(cell, &terms, here[i], low, high);                                \
            out[i] = more ? out[i] + sum : sum;                                                                        \
            if ((int)ADI3D_M(mixed) & 1) slopes[i] = ADI3D_F(p_first)(down, up, low_y[i], here[i], high_y[i]);         \
        }                                                                                                              \
    }
ADI3D_P_OWN(ADI3D_F(p_host_own), 0)
ADI3D_P_OWN(ADI3D_F(p_host_own_more), 1)
#undef ADI3D_P_OWN

/* out += mixed F_0 along row (j, k), from its slopes along y (dy) and z, those of a point before and after, and the
   slopes along z of the rows beside it. */
FD_P_FLAT void ADI3D_F(p_host_mixed)(const ADI3D_F(p_host) * h, int whole, int j, int k, const ADI3D_R *time,
                                     ADI3D_R mixed, const ADI3D_R *FD_P_RESTRICT down, const ADI3D_R *FD_P_RESTRICT up,
                                     const ADI3D_R *FD_P_RESTRICT numbers, const ADI3D_R *FD_P_RESTRICT dy,
                                     const ADI3D_R *FD_P_RESTRICT low_dy, const ADI3D_R *FD_P_RESTRICT high_dy,
                                     const ADI3D_R *FD_P_RESTRICT dz, const ADI3D_R *FD_P_RESTRICT low_dz,
                                     const ADI3D_R *FD_P_RESTRICT high_dz, const ADI3D_R *FD_P_RESTRICT low,
                                     const ADI3D_R *FD_P_RESTRICT high, ADI3D_R *FD_P_RESTRICT out)
{
    const ADI3D_G(fd_cell) cell = h->t.cell[1][j];
    const ADI3D_R down_y = cell.below * (1 - cell.w), up_y = cell.above * cell.w;
    const size_t padded = (size_t)h->t.padded[0];
    ADI3D_R y[ADI3D_M(p_most)], z[ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    ADI3D_F(p_host_take_row)(h, j, k, time, y, z, now);
    for (int i = 0; i < whole; i++) {
        ADI3D_R x[ADI3D_M(p_most)], cross[3] = {0, 0, 0};
        if ((int)ADI3D_M(mixed) & 4) cross[2] = ADI3D_F(p_first)(down_y, up_y, low[i], dz[i], high[i]);
        if ((int)ADI3D_M(mixed) & 2) cross[1] = ADI3D_F(p_first)(down[i], up[i], low_dz[i], dz[i], high_dz[i]);
        if ((int)ADI3D_M(mixed) & 1) cross[0] = ADI3D_F(p_first)(down[i], up[i], low_dy[i], dy[i], high_dy[i]);
        ADI3D_F(p_host_take)(0, numbers, padded, (size_t)i, x);
        const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(x, y, z, now);
        out[i] += mixed * ADI3D_F(p_mix)(&terms, cross);
    }
}

/* Where slopes of the values, or of a first stage's, are kept: along z of row j, and of the rows before and after it,
   and along y of one. */
TB_HOST ADI3D_R *ADI3D_F(p_host_slopes_of)(const ADI3D_F(p_host) * h, int more, int row)
{
    return h->slopes + (size_t)(4 * more + row) * h->wide;
}

/* out = (more ? out : 0) + mixed F_0(v) + own (F_1 + F_2 + F_3)(v) along row (j, k), without what the faces add. Rows
   follow each other from the one that is `first`. Mixed derivatives are differences of slopes, of which those along z
   are there for the row and the one before. */
TB_HOST void ADI3D_F(p_host_apply)(const ADI3D_F(p_host) * h, int more, const ADI3D_R *v, int first, int j, int k,
                                   const ADI3D_R *time, ADI3D_R mixed, ADI3D_R own, ADI3D_R *out)
{
    const int last = h->t.n[1] - 1, low = j > 0 ? j - 1 : 0, high = j < last ? j + 1 : last;
    const int whole = ADI3D_F(p_host_whole)(h->t.n[0]), by_z = ((int)ADI3D_M(mixed) & 6) != 0;
    const ADI3D_R *here = ADI3D_F(p_host_row)(h, v, j, k), *weights = h->spread + 4 * h->pitch;
    ADI3D_R *dz = ADI3D_F(p_host_slopes_of)(h, more, j % 3), *dy = ADI3D_F(p_host_slopes_of)(h, more, 3);
    /* What is new to the nearest cache, a plane at a time. */
    ADI3D_F(p_host_fetch)(whole, ADI3D_F(p_host_row)(h, v, j + 4, k + 1));
    for (int row = by_z ? first ? low : j + 1 : high + 1; row <= high; row++) ADI3D_F(p_host_slopes)
    (whole, h->t.cell[2][k], ADI3D_F(p_host_row)(h, v, row, k - 1), ADI3D_F(p_host_row)(h, v, row, k),
     ADI3D_F(p_host_row)(h, v, row, k + 1), ADI3D_F(p_host_slopes_of)(h, more, row % 3));
    ADI3D_F(p_host_fetch)(whole, ADI3D_F(p_host_row)(h, v, j + 3, k));
    (more ? ADI3D_F(p_host_own_more)
          : ADI3D_F(p_host_own))(h, whole, j, k, time, own, h->spread, h->t.number[0], here, here - 1, here + 1,
                                 ADI3D_F(p_host_row)(h, v, j - 1, k), ADI3D_F(p_host_row)(h, v, j + 1, k),
                                 ADI3D_F(p_host_row)(h, v, j, k - 1), ADI3D_F(p_host_row)(h, v, j, k + 1), dy, out);
    ADI3D_F(p_host_fetch)(whole, ADI3D_F(p_host_row)(h, v, j + 3, k - 1));
    if (ADI3D_M(mixed) != 0) ADI3D_F(p_host_mixed)
    (h, whole, j, k, time, mixed, weights, weights + h->pitch, h->t.number[0], dy, dy - 1, dy + 1, dz, dz - 1, dz + 1,
     ADI3D_F(p_host_slopes_of)(h, more, low % 3), ADI3D_F(p_host_slopes_of)(h, more, high % 3), out);
}

/* out += scale times what the faces of an axis add to F(v) along row (j, k); slopes are given at time `when`. */
TB_HOST void ADI3D_F(p_host_faces)(const ADI3D_F(p_host) * h, int axis, const ADI3D_R *v, int j, int k,
                                   const ADI3D_R *time, double when, ADI3D_R scale, ADI3D_R *out)
{
    const int *n = h->t.n, index = axis == 1 ? j : k;
    const ptrdiff_t stride[3] = {1, (ptrdiff_t)h->pitch, (ptrdiff_t)h->plane};
    const ADI3D_R *here = ADI3D_F(p_host_row)(h, v, j, k);
    for (int side = 0; side < 2; side++) {
        const ptrdiff_t in = side ? -stride[axis] : stride[axis];
        const int last = n[axis] - 1, from = axis == 0 && side ? last : 0, to = axis == 0 && !side ? 1 : n[0];
        if (!ADI3D_F(p_adds)(h->problem, axis, side) || (axis > 0 && index != (side ? last : 0))) continue;
        for (int i = from; i < to; i++)
            out[i] += scale * ADI3D_F(p_at_face)(h->problem, h->parameters, &h->t, axis, side, i, j, k, time, when,
                                                 here[i + in], here[i + 2 * in]);
    }
}

/* out += size (F_axis(v) at the step's end - F_axis(v) at its start) along row (j, k), but at faces whose value is
   given along x: what a step whose coefficients change adds to the solve along an axis. */
FD_P_INLINE void ADI3D_F(p_host_change_to)(const ADI3D_F(p_host) * h, int axis, const ADI3D_R *v, int j, int k,
                                           const ADI3D_F(p_step) * step, ADI3D_R *FD_P_RESTRICT out)
{
    const ADI3D_R *FD_P_RESTRICT here = ADI3D_F(p_host_row)(h, v, j, k), *FD_P_RESTRICT low, *FD_P_RESTRICT high;
    low = axis ? ADI3D_F(p_host_row)(h, v, j - (axis == 1), k - (axis == 2)) : here - 1;
    high = axis ? ADI3D_F(p_host_row)(h, v, j + (axis == 1), k + (axis == 2)) : here + 1;
    const int n = h->t.n[0], kept[2] = {h->problem->face[0][0] == FD_VALUE, h->problem->face[0][1] == FD_VALUE};
    const ADI3D_R first = out[0], last = out[n - 1], size = step->pace.size;
    const ADI3D_R *FD_P_RESTRICT spread = h->spread;
    const size_t pitch = h->pitch;
    ADI3D_R y[ADI3D_M(p_most)], z[ADI3D_M(p_most)];
    ADI3D_F(p_take)(&h->t, 1, j, y), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int i = 0; i < n; i++) {
        const ADI3D_G(fd_cell) cell = ADI3D_F(p_host_cell)(spread, pitch, (size_t)i);
        const ADI3D_G(fd_cell) own = axis == 0 ? cell : h->t.cell[axis][axis == 1 ? j : k];
        ADI3D_R x[ADI3D_M(p_most)];
        ADI3D_F(p_host_take)(0, h->t.number[0], (size_t)h->t.padded[0], (size_t)i, x);
        out[i] +=
            size * (ADI3D_F(p_along)(axis, own, ADI3D_F(p_terms)(x, y, z, step->time[1]), low[i], here[i], high[i]) -
                    ADI3D_F(p_along)(axis, own, ADI3D_F(p_terms)(x, y, z, step->time[0]), low[i], here[i], high[i]));
    }
    ADI3D_F(p_host_faces)(h, axis, v, j, k, step->time[1], step->to, size, out);
    ADI3D_F(p_host_faces)(h, axis, v, j, k, step->time[0], step->from, -size, out);
    if (kept[0]) out[0] = first;
    if (kept[1]) out[n - 1] = last;
}
TB_HOST void ADI3D_F(p_host_change)(const ADI3D_F(p_host) * h, int axis, const ADI3D_R *v, int j, int k,
                                    const ADI3D_F(p_step) * step, ADI3D_R *out)
{
    if (axis == 0) ADI3D_F(p_host_change_to)(h, 0, v, j, k, step, out);
    if (axis == 1) ADI3D_F(p_host_change_to)(h, 1, v, j, k, step, out);
    if (axis == 2) ADI3D_F(p_host_change_to)(h, 2, v, j, k, step, out);
}

/* The right-hand side of stage s along row (j, k), as it is for the solve along x; rows as in p_host_apply_to. */
TB_HOST void ADI3D_F(p_host_right)(const ADI3D_F(p_host) * h, int s, int first, int j, int k,
                                   const ADI3D_F(p_step) * step, ADI3D_R *FD_P_RESTRICT out)
{
    const ADI3D_R *base = step->pace.base[s], dt = step->pace.dt;
    const ADI3D_R *FD_P_RESTRICT u = ADI3D_F(p_host_row)(h, h->u, j, k);
    const int n = h->t.n[0], about = s && step->pace.about;
    ADI3D_F(p_host_apply)(h, 0, h->u, first, j, k, step->time[0], base[0], base[1], out);
    for (int d = 0; d < 3; d++) ADI3D_F(p_host_faces)(h, d, h->u, j, k, step->time[0], step->from, base[1], out);
    if (s) {
        ADI3D_F(p_host_apply)(h, 1, h->z, first, j, k, step->time[1], base[2], base[3], out);
        for (int d = 0; d < 3; d++) ADI3D_F(p_host_faces)(h, d, h->z, j, k, step->time[1], step->to, base[3], out);
    }
    if (about) {
        const ADI3D_R *FD_P_RESTRICT z = ADI3D_F(p_host_row)(h, h->z, j, k);
        for (int i = 0; i < n; i++) out[i] += u[i] - z[i];
    }
    if (h->extra) {
        const ADI3D_R *FD_P_RESTRICT extra = ADI3D_F(p_host_row)(h, h->extra, j, k);
        for (int i = 0; i < n; i++) out[i] += dt * extra[i];
    }
    if (step->changes && !about) ADI3D_F(p_host_change)(h, 0, h->u, j, k, step, out);
}

/* A row of Thomas's elimination within lines side by side along an axis, the first of which goes through (i, j, k): the
   point's index along the axis is that of the row. `right` is what stands on the right; before and upper_before are the
   row before's solution and its upper diagonal, taken apart. */
FD_P_INLINE void ADI3D_F(p_host_eliminate)(const ADI3D_F(p_host) * h, int axis, int at_face, int first, int lines,
                                           int i, int j, int k, const ADI3D_F(p_step) * step,
                                           const ADI3D_R *FD_P_RESTRICT right, const ADI3D_R *FD_P_RESTRICT_ROW before,
                                           const ADI3D_R *FD_P_RESTRICT_ROW upper_before,
                                           ADI3D_R *FD_P_RESTRICT_ROW left, ADI3D_R *FD_P_RESTRICT_ROW upper)
{
    const int vary = axis == 0 ? 1 : 0;
    const ADI3D_G(fd_cell) cell = h->t.cell[axis][axis == 0 ? i : axis == 1 ? j : k];
    const ADI3D_R *FD_P_RESTRICT numbers = h->t.number[vary] + (vary ? j : i), size = step->pace.size;
    const size_t padded = (size_t)h->t.padded[vary];
    ADI3D_R own[ADI3D_M(p_most)], z[ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    ADI3D_F(p_take)(&h->t, axis == 0 ? 0 : 1, axis == 0 ? i : j, own), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step->time[1][q];
    for (int b = 0; b < lines; b++) {
        ADI3D_R number[ADI3D_M(p_most)], below, middle, above;
        ADI3D_F(p_host_take)(vary, numbers, padded, (size_t)b, number);
        const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(vary ? own : number, vary ? number : own, z, now);
        ADI3D_F(p_matrix)(axis, at_face, cell, terms, size, &below, &middle, &above);
        if (first) {
            const ADI3D_R pivot = 1 / middle;
            upper[b] = above * pivot, left[b] = right[b] * pivot;
        } else {
            const ADI3D_R pivot = 1 / (middle - below * upper_before[b]);
            upper[b] = above * pivot, left[b] = (right[b] - below * before[b]) * pivot;
        }
    }
}

/* The same of a face whose value is given, or which has a third unknown: line by line. near_by is the right-hand side
   of the neighbour, w what the solution is the difference from, w_line apart. */
TB_HOST void ADI3D_F(p_host_at_face)(const ADI3D_F(p_host) * h, int axis, int side, int lines, int i, int j, int k,
                                     const ADI3D_F(p_step) * step, const ADI3D_R *right, const ADI3D_R *near_by,
                                     const ADI3D_R *w, size_t w_line, const ADI3D_R *before,
                                     const ADI3D_R *upper_before, ADI3D_R *left, ADI3D_R *upper)
{
    const int in = side ? -1 : 1;
    for (int b = 0; b < lines; b++) {
        const int bi = axis ? i + b : i, bj = axis ? j : j + b;
        if (bj >= h->t.n[1]) { /* a lane without a line */
            upper[b] = left[b] = 0;
            continue;
        }
        const double at[3] = {h->t.x[0][bi], h->t.x[1][bj], h->t.x[2][k]};
        ADI3D_R row[3], value = right[b];
        ADI3D_F(p_face_row)
        (h->problem, h->parameters, &h->t, axis, side, at, step->to, step->pace.size,
         ADI3D_F(p_terms_at)(&h->t, bi, bj, k, step->time[1]),
         ADI3D_F(p_terms_at)(&h->t, bi + (axis == 0 ? in : 0), bj + (axis == 1 ? in : 0), k + (axis == 2 ? in : 0),
                             step->time[1]),
         near_by[b], w[(size_t)b * w_line], row, &value);
        const ADI3D_R below = side ? row[0] : 0, pivot = 1 / (row[1] - (side ? below * upper_before[b] : 0));
        upper[b] = side ? 0 : row[2] * pivot;
        left[b] = (value - (side ? below * before[b] : 0)) * pivot;
    }
}

/* Elimination of all rows of `lines` lines along an axis, from right-hand sides whose rows are from_row apart into tile
   and upper; w, of which the solutions are the differences, has rows w_row apart and lines w_line. */
FD_P_INLINE void ADI3D_F(p_host_forward)(const ADI3D_F(p_host) * h, int axis, int lines, int i, int j, int k,
                                         const ADI3D_F(p_step) * step, const ADI3D_R *from, size_t from_row,
                                         const ADI3D_R *w, size_t w_row, size_t w_line)
{
    const int n = h->t.n[axis];
    for (int m = 0; m < n; m++) {
        const int side = m > 0, at_face = m == 0 || m == n - 1, kind = h->problem->face[axis][side];
        const int mi = axis == 0 ? m : i, mj = axis == 1 ? m : j, mk = axis == 2 ? m : k;
        const ADI3D_R *right = from + (size_t)m * from_row;
        ADI3D_R *left = h->tile + (size_t)m * ADI3D_P_LANES, *upper = h->upper + (size_t)m * ADI3D_P_LANES;
        const ADI3D_R *before = left - (side ? ADI3D_P_LANES : 0), *upper_before = upper - (side ? ADI3D_P_LANES : 0);
        if (axis == 2) ADI3D_F(p_host_fetch)(lines, from + (size_t)(m + 6 < n ? m + 6 : n - 1) * from_row);
        if (!at_face)
            ADI3D_F(p_host_eliminate)(h, axis, 0, 0, lines, mi, mj, mk, step, right, before, upper_before, left, upper);
        else if (kind == FD_VALUE || kind == FD_DEGENERATE)
            ADI3D_F(p_host_at_face)
        (h, axis, side, lines, mi, mj, mk, step, right, side ? right - from_row : right + from_row,
         w + (size_t)m * w_row, w_line, before, upper_before, left, upper);
        else if (side)
            ADI3D_F(p_host_eliminate)(h, axis, 1, 0, lines, mi, mj, mk, step, right, before, upper_before, left, upper);
        else ADI3D_F(p_host_eliminate)(h, axis, 1, 1, lines, mi, mj, mk, step, right, before, upper_before, left,
                                       upper);
    }
}

/* The same for so many lines as are taken at once, and for what is left of an axis. */
#define ADI3D_P_FORWARD(name, axis, lines)                                                                             \
    FD_P_FLAT void name(const ADI3D_F(p_host) * h, int count, int i, int j, int k, const ADI3D_F(p_step) * step,       \
                        const ADI3D_R *from, size_t from_row, const ADI3D_R *w, size_t w_row, size_t w_line)           \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        ADI3D_F(p_host_forward)(h, axis, lines, i, j, k, step, from, from_row, w, w_row, w_line);                      \
    }
ADI3D_P_FORWARD(ADI3D_F(p_host_forward_x), 0, ADI3D_P_LANES)
ADI3D_P_FORWARD(ADI3D_F(p_host_forward_y), 1, ADI3D_P_LANES)
ADI3D_P_FORWARD(ADI3D_F(p_host_forward_z), 2, ADI3D_P_LANES)
ADI3D_P_FORWARD(ADI3D_F(p_host_rest_y), 1, count)
ADI3D_P_FORWARD(ADI3D_F(p_host_rest_z), 2, count)
#undef ADI3D_P_FORWARD

/* A row of back substitution in the tile, left -= upper after, which also makes to = w + left, or to = left. */
FD_P_INLINE void ADI3D_F(p_host_substitute)(int lines, int sum, const ADI3D_R *FD_P_RESTRICT_ROW upper,
                                            const ADI3D_R *FD_P_RESTRICT_ROW after, ADI3D_R *FD_P_RESTRICT_ROW left,
                                            const ADI3D_R *w, ADI3D_R *to)
{
    FD_P_APART
    for (int b = 0; b < lines; b++) {
        const ADI3D_R solution = left[b] - upper[b] * after[b];
        left[b] = solution;
        to[b] = sum ? w[b] + solution : solution;
    }
}

/* An 8 x 8 corner of rows x columns numbers turned, in registers where it is whole and the compiler can: in three
   rounds lane l of vector v changes places with lane l ^ bit of vector v ^ bit. */
FD_P_INLINE void ADI3D_F(p_host_turn_eight)(int rows, int columns, const ADI3D_R *FD_P_RESTRICT from, size_t from_row,
                                            ADI3D_R *FD_P_RESTRICT to, size_t to_row)
{
#if ADI3D_P_SHUFFLES
    if (rows >= 8 && columns >= 8) {
        typedef ADI3D_R ADI3D_F(p_eight) __attribute__((vector_size(8 * sizeof(ADI3D_R))));
        ADI3D_F(p_eight) v[8], w[8];
        for (int q = 0; q < 8; q++) memcpy(&v[q], from + (size_t)q * from_row, sizeof v[q]);
        for (int q = 0; q < 8; q += 2) {
            w[q] = __builtin_shufflevector(v[q], v[q + 1], 0, 8, 2, 10, 4, 12, 6, 14);
            w[q + 1] = __builtin_shufflevector(v[q], v[q + 1], 1, 9, 3, 11, 5, 13, 7, 15);
        }
        for (int e = 0; e < 4; e++) {
            const int q = e + (e & 2); /* 0, 1, 4, 5 */
            v[q] = __builtin_shufflevector(w[q], w[q + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            v[q + 2] = __builtin_shufflevector(w[q], w[q + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
        for (int q = 0; q < 4; q++) {
            w[q] = __builtin_shufflevector(v[q], v[q + 4], 0, 1, 2, 3, 8, 9, 10, 11);
            w[q + 4] = __builtin_shufflevector(v[q], v[q + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        }
        for (int q = 0; q < 8; q++) memcpy(to + (size_t)q * to_row, &w[q], sizeof w[q]);
        return;
    }
#endif
    for (int m = 0; m < 8 && m < columns; m++)
        for (int q = 0; q < 8 && q < rows; q++)
            to[(size_t)m * to_row + (size_t)q] = from[(size_t)q * from_row + (size_t)m];
}

/* Rows become columns: out[c * out_row + r] = in[r * in_row + c]. Square by square of whole lines of the cache, so that
   each is read and written once. */
FD_P_FLAT void ADI3D_F(p_host_turn)(int rows, int columns, const ADI3D_R *FD_P_RESTRICT in, size_t in_row,
                                    ADI3D_R *FD_P_RESTRICT out, size_t out_row)
{
    const int line = 64 / (int)sizeof(ADI3D_R);
    for (int column = 0; column < columns; column += line)
        for (int r = 0; r < rows; r += 8)
            for (int c = column; c < column + line && c < columns; c += 8) ADI3D_F(p_host_turn_eight)
    (rows - r, columns - c, in + (size_t)r * in_row + (size_t)c, in_row, out + (size_t)c * out_row + (size_t)r,
     out_row);
}

/* Back substitution of lines along x, in the tile. */
FD_P_FLAT void ADI3D_F(p_host_back_x)(const ADI3D_F(p_host) * h)
{
    for (int i = h->t.n[0] - 2; i >= 0; i--) {
        const ADI3D_R *FD_P_RESTRICT upper = h->upper + (size_t)i * ADI3D_P_LANES;
        ADI3D_R *FD_P_RESTRICT left = h->tile + (size_t)i * ADI3D_P_LANES;
        for (int b = 0; b < ADI3D_P_LANES; b++) left[b] -= upper[b] * left[b + ADI3D_P_LANES];
    }
}

/* Right-hand sides and solves along x of rows j .. j + lines - 1 of plane k, into d. */
TB_HOST void ADI3D_F(p_host_x)(const ADI3D_F(p_host) * h, int s, int lines, int j, int k, const ADI3D_F(p_step) * step)
{
    const int n = h->t.n[0];
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)j * pitch;
    const ADI3D_R *w = (s && step->pace.about ? h->z : h->u) + at;
    for (int b = 0; b < lines; b += ADI3D_P_ROWS) {
        const int rows = lines - b < ADI3D_P_ROWS ? lines - b : ADI3D_P_ROWS;
        for (int r = 0; r < rows; r++) {
            ADI3D_F(p_host_fetch_to_write)(n, h->d + at + (size_t)(b + r) * pitch);
            ADI3D_F(p_host_right)(h, s, b + r == 0, j + b + r, k, step, h->rows + (size_t)r * h->wide);
        }
        ADI3D_F(p_host_turn)(rows, n, h->rows, h->wide, h->turned + b, ADI3D_P_LANES);
    }
    ADI3D_F(p_host_forward_x)(h, ADI3D_P_LANES, 0, j, k, step, h->turned, ADI3D_P_LANES, w, 1, pitch);
    ADI3D_F(p_host_back_x)(h);
    ADI3D_F(p_host_turn)(n, lines, h->tile, ADI3D_P_LANES, h->d + at, pitch);
    for (int b = 0; b < lines && step->changes && !(s && step->pace.about); b++)
        ADI3D_F(p_host_change)(h, 1, h->u, j + b, k, step, h->d + at + (size_t)b * pitch);
}

/* Which of the lanes from column i on lie on faces of x whose values have been given: the first (1), the last (2). */
TB_HOST int ADI3D_F(p_host_kept)(const ADI3D_F(p_host) * h, int lines, int i)
{
    return (i == 0 && adi3d_p_given(h->problem, 0, 0)) +
           2 * (i + lines == h->t.n[0] && adi3d_p_given(h->problem, 0, h->t.n[0] - 1));
}

/* What exercise makes of a row's values, which begin at `at` in the grids. */
TB_HOST void ADI3D_F(p_host_exercise)(const ADI3D_F(p_host) * h, int lines, int exercise, ADI3D_R dt, size_t at,
                                      ADI3D_R *FD_P_RESTRICT u)
{
    const ADI3D_R *FD_P_RESTRICT final = h->final + at;
    ADI3D_R none = 0;
    if (exercise == FD_AMERICAN) {
        ADI3D_R *FD_P_RESTRICT extra = h->extra + at;
        for (int b = 0; b < lines; b++) u[b] = ADI3D_G(fd_lane_exercise)(FD_AMERICAN, dt, final[b], u[b], &extra[b]);
    } else {
        for (int b = 0; b < lines; b++) u[b] = ADI3D_G(fd_lane_exercise)(FD_PROJECTED, dt, final[b], u[b], &none);
    }
}

/* Back substitution of lines along y, into d, but for lanes with given values. */
FD_P_INLINE void ADI3D_F(p_host_back_y_to)(const ADI3D_F(p_host) * h, int lines, int kept, ADI3D_R *d)
{
    const int n = h->t.n[1];
    for (int j = n - 1; j >= 0; j--) {
        ADI3D_R *row = d + (size_t)j * h->pitch, *left = h->tile + (size_t)j * ADI3D_P_LANES;
        const ADI3D_R first = row[0], last = row[lines - 1];
        if (j == n - 1) /* its upper is 0 */
            ADI3D_F(p_host_substitute)(lines, 0, h->upper + (size_t)j * ADI3D_P_LANES, h->zeros, left, row, row);
        else
            ADI3D_F(p_host_substitute)
        (lines, 0, h->upper + (size_t)j * ADI3D_P_LANES, left + ADI3D_P_LANES, left, row, row);
        if (kept & 1) row[0] = first;
        if (kept & 2) row[lines - 1] = last;
    }
}

/* Back substitution of lines along z, from right-hand sides d, and to = w + solution; in lanes with given values the
   solution is d. With exercise, which needs `final` and perhaps extra, in a step's last stage. */
FD_P_INLINE void ADI3D_F(p_host_back_z_to)(const ADI3D_F(p_host) * h, int lines, int kept, int exercise, ADI3D_R dt,
                                           size_t at, const ADI3D_R *w_of, ADI3D_R *to_of)
{
    const int n = h->t.n[2];
    for (int k = n - 1; k >= 0; k--) {
        const size_t row = at + (size_t)k * h->plane, next = at + (size_t)(k > 6 ? k - 6 : 0) * h->plane;
        const ADI3D_R *w = w_of + row, *d = h->d + row;
        ADI3D_R *to = to_of + row, *left = h->tile + (size_t)k * ADI3D_P_LANES;
        const ADI3D_R first = w[0] + d[0], last = w[lines - 1] + d[lines - 1];
        ADI3D_F(p_host_fetch)(lines, w_of + next);
        if (to_of != w_of) ADI3D_F(p_host_fetch)(lines, to_of + next);
        ADI3D_F(p_host_substitute)
        (lines, 1, h->upper + (size_t)k * ADI3D_P_LANES, k == n - 1 ? h->zeros : left + ADI3D_P_LANES, left, w, to);
        if (kept & 1) to[0] = first;
        if (kept & 2) to[lines - 1] = last;
        if (exercise != FD_EUROPEAN) ADI3D_F(p_host_exercise)(h, lines, exercise, dt, row, to);
    }
}

/* The same for so many lines as are taken at once, and for what is left of an axis. */
#define ADI3D_P_BACK(name, lines)                                                                                      \
    FD_P_FLAT void ADI3D_F(p_host_back_y##name)(const ADI3D_F(p_host) * h, int count, int kept, ADI3D_R *d)            \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        ADI3D_F(p_host_back_y_to)(h, lines, kept, d);                                                                  \
    }                                                                                                                  \
    FD_P_FLAT void ADI3D_F(p_host_back_z##name)(const ADI3D_F(p_host) * h, int count, int kept, int exercise,          \
                                                ADI3D_R dt, size_t at, const ADI3D_R *w, ADI3D_R *to)                  \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        ADI3D_F(p_host_back_z_to)(h, lines, kept, exercise, dt, at, w, to);                                            \
    }
#ifdef __clang__ /* which warns where a sanitizer keeps it from vectorising */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
ADI3D_P_BACK(_all, ADI3D_P_LANES)
ADI3D_P_BACK(_rest, count)
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#undef ADI3D_P_BACK

/* Solves along y of columns i .. of plane k, in d. */
TB_HOST void ADI3D_F(p_host_y)(const ADI3D_F(p_host) * h, int s, int lines, int i, int k, const ADI3D_F(p_step) * step)
{
    const int kept = ADI3D_F(p_host_kept)(h, lines, i), all = lines == ADI3D_P_LANES;
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)i;
    const ADI3D_R *w = (s && step->pace.about ? h->z : h->u) + at;
    (all ? ADI3D_F(p_host_forward_y) : ADI3D_F(p_host_rest_y))(h, lines, i, 0, k, step, h->d + at, pitch, w, pitch, 1);
    (all ? ADI3D_F(p_host_back_y_all) : ADI3D_F(p_host_back_y_rest))(h, lines, kept, h->d + at);
}

/* Solves along z of columns i .. of the planes' rows j, from d, and what a stage ends with. */
TB_HOST void ADI3D_F(p_host_z)(const ADI3D_F(p_host) * h, int s, int lines, int i, int j, const ADI3D_F(p_step) * step)
{
    const int last = s == step->pace.stages - 1, exercise = last ? h->problem->exercise : FD_EUROPEAN;
    const int given = adi3d_p_given(h->problem, 1, j);
    const int kept = ADI3D_F(p_host_kept)(h, lines, i), all = lines == ADI3D_P_LANES;
    const size_t plane = h->plane, at = (size_t)j * h->pitch + (size_t)i;
    const ADI3D_R *w = s && step->pace.about ? h->z : h->u, dt = step->pace.dt;
    ADI3D_R *to = last ? h->u : h->z;
    for (int k = 0; k < h->t.n[2] && given; k++) {
        const size_t row = at + (size_t)k * plane;
        for (int b = 0; b < lines; b++) to[row + (size_t)b] = w[row + (size_t)b] + h->d[row + (size_t)b];
        if (exercise != FD_EUROPEAN) ADI3D_F(p_host_exercise)(h, lines, exercise, dt, row, to + row);
    }
    if (given) return;
    (all ? ADI3D_F(p_host_forward_z) : ADI3D_F(p_host_rest_z))(h, lines, i, j, 0, step, h->d + at, plane, w + at, plane,
                                                               1);
    (all ? ADI3D_F(p_host_back_z_all) : ADI3D_F(p_host_back_z_rest))(h, lines, kept, exercise, dt, at, w, to);
}

/* A worker's part of a step. */
TB_HOST void ADI3D_F(p_host_step)(const ADI3D_F(p_host) * h, const ADI3D_F(p_step) * step)
{
    const int *n = h->t.n, w = h->worker;
    for (int s = 0; s < step->pace.stages; s++) {
        for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1); k++) {
            for (int j = 0; j < n[1]; j += ADI3D_P_LANES)
                ADI3D_F(p_host_x)(h, s, n[1] - j < ADI3D_P_LANES ? n[1] - j : ADI3D_P_LANES, j, k, step);
            for (int i = 0; i < n[0]; i += ADI3D_P_LANES)
                ADI3D_F(p_host_y)(h, s, n[0] - i < ADI3D_P_LANES ? n[0] - i : ADI3D_P_LANES, i, k, step);
        }
        ADI3D_F(p_meet)(h);
        for (int j = ADI3D_F(p_share)(h, n[1], w); j < ADI3D_F(p_share)(h, n[1], w + 1); j++) {
            const int given = adi3d_p_given(h->problem, 1, j);
            for (int k = 0; k < n[2] && step->changes && !given && !(s && step->pace.about); k++)
                ADI3D_F(p_host_change)(h, 2, h->u, j, k, step, h->d + (size_t)k * h->plane + (size_t)j * h->pitch);
            for (int i = 0; i < n[0]; i += ADI3D_P_LANES)
                ADI3D_F(p_host_z)(h, s, n[0] - i < ADI3D_P_LANES ? n[0] - i : ADI3D_P_LANES, i, j, step);
        }
        ADI3D_F(p_meet)(h);
    }
}

/* The same of all points of row (j, k). */
FD_P_FLAT int ADI3D_F(p_host_weak)(const ADI3D_F(p_host) * h, int j, int k, const ADI3D_F(p_step) * step)
{
    const ADI3D_R *FD_P_RESTRICT numbers = h->t.number[0], *FD_P_RESTRICT spread = h->spread, size = step->pace.size;
    const ADI3D_G(fd_cell) cell_y = h->t.cell[1][j], cell_z = h->t.cell[2][k];
    const int n = h->t.n[0];
    const size_t padded = (size_t)h->t.padded[0], pitch = h->pitch;
    ADI3D_R y[ADI3D_M(p_most)], z[ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    int weak = 0;
    ADI3D_F(p_take)(&h->t, 1, j, y), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step->time[1][q];
    for (int i = 0; i < n; i++) {
        const ADI3D_G(fd_cell) cell = ADI3D_F(p_host_cell)(spread, pitch, (size_t)i);
        ADI3D_R x[ADI3D_M(p_most)];
        ADI3D_F(p_host_take)(0, numbers, padded, (size_t)i, x);
        const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(x, y, z, now);
        weak += ADI3D_F(p_weak_along)(0, cell, terms, size) + ADI3D_F(p_weak_along)(1, cell_y, terms, size) +
                ADI3D_F(p_weak_along)(2, cell_z, terms, size);
    }
    return weak;
}

/* The same of all points of row (j, k). */
FD_P_FLAT int ADI3D_F(p_host_untrue)(const ADI3D_F(p_host) * h, int j, int k, const ADI3D_F(p_step) * step)
{
    const ADI3D_R *FD_P_RESTRICT numbers = h->t.number[0];
    const int from = adi3d_p_given(h->problem, 0, 0), to = h->t.n[0] - adi3d_p_given(h->problem, 0, h->t.n[0] - 1);
    const size_t padded = (size_t)h->t.padded[0];
    ADI3D_R y[ADI3D_M(p_room)], z[ADI3D_M(p_room)], first[3][ADI3D_M(p_room)];
    ADI3D_R start[ADI3D_M(p_room)], end[ADI3D_M(p_room)];
    const int changes = !ADI3D_G(fd_p_same)(ADI3D_M(p_numbers)(3), &step->time[0][0], &step->time[1][0]);
    int untrue = ADI3D_F(p_few)(&h->t, (j + k) % h->t.n[0], j, k, step->time[1]);
    if (adi3d_p_given(h->problem, 1, j) || adi3d_p_given(h->problem, 2, k)) return untrue;
    ADI3D_F(p_take)(&h->t, 1, j, y), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int d = 0; d < 3; d++) ADI3D_F(p_take)(&h->t, d, 0, first[d]);
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) start[q] = step->time[0][q], end[q] = step->time[1][q];
    for (int i = from; i < to; i++) {
        ADI3D_R x[ADI3D_M(p_room)];
        ADI3D_F(p_host_take)(0, numbers, padded, (size_t)i, x);
        untrue |= ADI3D_F(p_untrue)(x, y, z, first, start, end, changes);
    }
    return untrue;
}

/* What happens at a date, to a worker's rows; a change may add to the largest magnitude given. */
TB_HOST void ADI3D_F(p_host_date)(const ADI3D_F(p_host) * h, int date, const fd_date *event, int *given)
{
    const int *n = h->t.n, w = h->worker;
    const double *x = h->t.x[0];
    ADI3D_R none = 0;
    for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1]; j++) {
            const size_t row = (size_t)k * h->plane + (size_t)j * h->pitch;
            ADI3D_R *u = h->u + row;
            if (event->what & FD_SHIFT) {
                memcpy(h->rows, u, (size_t)n[0] * sizeof(ADI3D_R));
                for (int i = 0; i < n[0]; i++) {
                    fd_weights from;
                    double sum = 0;
                    if (fd_interpolate(n[0], x, fd_shifted(event, x[i], x[0], x[n[0] - 1]), &from)) continue;
                    for (int m = 0; m < 4; m++) sum += from.value[m] * (double)h->rows[from.first + m];
                    u[i] = (ADI3D_R)sum;
                }
            }
            for (int i = 0; i < n[0]; i++) {
                const double at[3] = {x[i], h->t.x[1][j], h->t.x[2][k]};
                if (event->what & FD_CHANGE_VALUES) {
                    const double before = (double)u[i];
                    u[i] = (ADI3D_R)ADI3D_M(p_change)(h->parameters, date, at, before);
                    *given = fd_p_larger(*given, fd_p_added(before, (double)u[i]));
                }
                u[i] = ADI3D_G(fd_lane_at_date)(event->what, h->problem->exercise,
                                                h->final ? h->final[row + (size_t)i] : 0, u[i],
                                                h->extra ? &h->extra[row + (size_t)i] : &none);
            }
        }
}

/* The values at the spot. */
TB_HOST adi3d_values ADI3D_F(p_host_values)(const ADI3D_F(p_host) * h)
{
    const fd_weights *at = h->shared->at;
    ADI3D_R around[64];
    for (int m = 0; m < 64; m++)
        around[m] = ADI3D_F(p_host_row)(h, h->u, at[1].first + m / 4 % 4, at[2].first + m / 16)[at[0].first + m % 4];
    return ADI3D_F(p_values)(at, around);
}

/* The first point whose value is not finite; with a step, whose terms are not, at its start or end. In *largest the
   worker's largest magnitude. */
TB_HOST int ADI3D_F(p_host_lost)(const ADI3D_F(p_host) * h, const ADI3D_F(p_step) * step, int *largest)
{
    const int *n = h->t.n, w = h->worker;
    int lost = FD_P_NONE;
    *largest = 0;
    for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1) && lost == FD_P_NONE; k++)
        for (int j = 0; j < n[1]; j++) {
            const ADI3D_R *u = ADI3D_F(p_host_row)(h, h->u, j, k);
            for (int i = 0; i < n[0]; i++) {
                int good = step ? ADI3D_F(p_finite)(ADI3D_F(p_terms_at)(&h->t, i, j, k, step->time[0])) &&
                                      ADI3D_F(p_finite)(ADI3D_F(p_terms_at)(&h->t, i, j, k, step->time[1]))
                                : ADI3D_G(trid_finite)(u[i]);
                if (!good) fd_p_least(&lost, i + n[0] * (j + n[1] * k));
                *largest = fd_p_larger(*largest, (double)u[i]);
            }
        }
    return ADI3D_F(p_together)(h, lost, 0);
}

/* The first point of a step at which something is not true, FD_P_NONE if there is none: the same for all workers. */
TB_HOST int ADI3D_F(p_host_first_untrue)(const ADI3D_F(p_host) * h, const ADI3D_F(p_step) * step)
{
    const int *n = h->t.n, w = h->worker;
    int lost = FD_P_NONE;
    for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1] && lost == FD_P_NONE; j++) {
            if (!ADI3D_F(p_host_untrue)(h, j, k, step)) continue;
            for (int i = n[0] - 1; i >= 0; i--)
                if (ADI3D_F(p_untrue_at)(h->problem, &h->t, i, j, k, step)) lost = i + n[0] * (j + n[1] * k);
        }
    return ADI3D_F(p_together)(h, lost, 0);
}

/* The least of fd_p_too_fast over all points, in a step: the same for all workers. */
TB_HOST int ADI3D_F(p_host_too_fast)(const ADI3D_F(p_host) * h, double longest, const ADI3D_F(p_step) * step)
{
    const int *n = h->t.n, w = h->worker;
    int least = 0;
    for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                fd_p_least(&least, ADI3D_F(p_too_fast)(h->problem, &h->t, longest, i, j, k, step));
    return ADI3D_F(p_together)(h, least, 0);
}

/* Looks at all points in the first and in the last step. Returns what is FD_OK, or what of the model's declarations is
   not true, or FD_UNSTABLE; weak counts the worker's rows that are not dominant. A step without numbers is the
   march's to refuse. */
TB_HOST fd_status ADI3D_F(p_host_look)(const ADI3D_F(p_host) * h, int steps)
{
    const int *n = h->t.n, w = h->worker;
    const fd_times times = ADI3D_M(p_times)(h->problem);
    const double longest = adi3d_p_longest_step(&times);
    int weak = 0, too_fast = 0;
    for (int end = 0; end < 2; end++) {
        const int number = end ? steps - 1 : 0;
        fd_step one = {0, 0, 0, FD_THETA, -1}; /* written below; compilers may not see it */
        ADI3D_F(p_step) step;
        fd_schedule_part(&times, number, 1, &one, &steps);
        if (ADI3D_F(p_step_of)(h->problem, h->parameters, &one, number, &step).what) continue;
        const int lost = ADI3D_F(p_host_first_untrue)(h, &step);
        if (lost != FD_P_NONE) {
            const int i = lost % n[0], j = lost / n[0] % n[1], k = lost / n[0] / n[1];
            return fd_p_untrue(ADI3D_F(p_untrue_at)(h->problem, &h->t, i, j, k, &step), i, j, k, number);
        }
        for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1); k++)
            for (int j = 0; j < n[1]; j++) weak += ADI3D_F(p_host_weak)(h, j, k, &step);
        if (longest > 0) {
            const int least = ADI3D_F(p_host_too_fast)(h, longest, &step);
            if (least < too_fast) too_fast = least;
        }
    }
    if (too_fast < 0) return fd_status_of(FD_UNSTABLE, fd_p_enough(&times, too_fast), -1, -1, -1, -1, -1);
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    status.weak = weak;
    return status;
}

/* Sets a worker's planes to the final values, and what surrounds them to 0. In *given the largest magnitude that its
   points are given. */
TB_HOST fd_status ADI3D_F(p_host_begin)(const ADI3D_F(p_host) * h, int *given)
{
    const int *n = h->t.n, w = h->worker;
    const size_t line = 128 / sizeof(ADI3D_R);
    ADI3D_R *const grid[5] = {h->u, h->d, h->z, h->extra, h->final};
    int lost = FD_P_NONE;
    for (int g = 0; g < 5; g++) {
        if (!grid[g]) continue;
        if (w == 0) memset(grid[g] - line, 0, line * sizeof(ADI3D_R));
        for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1); k++)
            memset(grid[g] + (size_t)k * h->plane, 0, (h->plane + (k == n[2] - 1 ? line : 0)) * sizeof(ADI3D_R));
    }
    for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1); k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                const size_t at = (size_t)k * h->plane + (size_t)j * h->pitch + (size_t)i;
                h->u[at] = (ADI3D_R)ADI3D_F(p_final)(h->problem, h->parameters, &h->t, i, j, k);
                if (h->final) h->final[at] = h->u[at];
                if (!ADI3D_G(trid_finite)(h->u[at])) fd_p_least(&lost, i + n[0] * (j + n[1] * k));
                *given = ADI3D_F(p_given)(h->problem, h->parameters, &h->t, i, j, k, h->u[at], *given);
            }
    memset(h->turned, 0, (size_t)adi3d_p_longest(h->problem) * ADI3D_P_LANES * sizeof(ADI3D_R));
    memset(h->slopes - line / 2, 0, (8 * h->wide + line / 2) * sizeof(ADI3D_R));
    lost = ADI3D_F(p_together)(h, lost, 0);
    return lost == FD_P_NONE ? fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1) : ADI3D_F(p_lost)(h, FD_FINAL_NAN, lost, -1);
}

/* A worker's part of a march. Returns its status, the same for all. */
TB_HOST fd_status ADI3D_F(p_host_march)(const ADI3D_F(p_host) * h, adi3d_result *result)
{
    enum { ADI3D_P_SOME = 32 }; /* steps made at a time */
    const adi3d_problem *problem = h->problem;
    fd_step some[ADI3D_P_SOME];
    ADI3D_F(p_step) step;
    int steps = 0, given = 0, largest, lost;
    fd_status status = ADI3D_F(p_host_begin)(h, &given);
    const fd_times times = ADI3D_M(p_times)(problem);
    fd_schedule_part(&times, 0, 0, NULL, &steps);
    if (!status.what) status = ADI3D_F(p_host_look)(h, steps);
    const int weak = status.weak;
    for (int k = 0; k < steps && !status.what; k++) {
        if (k % ADI3D_P_SOME == 0) fd_schedule_part(&times, k, ADI3D_P_SOME, some, &steps);
        status = ADI3D_F(p_step_of)(problem, h->parameters, &some[k % ADI3D_P_SOME], k, &step);
        if (status.what) break;
        if (problem->watched && (lost = ADI3D_F(p_host_lost)(h, &step, &largest)) != FD_P_NONE)
            return ADI3D_F(p_lost)(h, FD_MODEL_NAN, lost, k);
        ADI3D_F(p_host_step)(h, &step);
        const fd_date *event = adi3d_p_event(problem, step.pace.date);
        if (event && event->what != FD_RECORD) {
            ADI3D_F(p_host_date)(h, step.pace.date, event, &given);
            ADI3D_F(p_meet)(h);
        }
        if (event && (event->what & FD_RECORD) && h->worker == 0)
            result->values[1 + step.pace.date] = ADI3D_F(p_host_values)(h);
        if (problem->watched && (lost = ADI3D_F(p_host_lost)(h, NULL, &largest)) != FD_P_NONE)
            return ADI3D_F(p_lost)(h, FD_NOT_SOLVED, lost, k);
        if (problem->progress && h->worker == 0) problem->progress(k + 1, steps, problem->context);
    }
    if (status.what) return status;
    lost = ADI3D_F(p_host_lost)(h, NULL, &largest);
    given = -ADI3D_F(p_together)(h, -given, 0), largest = -ADI3D_F(p_together)(h, -largest, 0);
    if (lost == FD_P_NONE)
        fd_p_grown(&status, given, largest);
    else
        status = ADI3D_F(p_lost)(h, FD_NOT_SOLVED, lost, steps - 1);
    status.weak = ADI3D_F(p_together)(h, weak, 1);
    return status;
}

/* Solves   how much memory the host's workers need together
   Returns  bytes, 0 for a problem that is none (adi3d_check) or no workers */
TB_HOST size_t ADI3D_F(host_bytes)(const adi3d_problem *problem, int workers)
{
    if (workers < 1 || adi3d_check(problem).what) return 0;
    return ADI3D_F(p_host_lay_out)(problem, 0, workers, NULL, NULL);
}

/* Solves   one of the workers' part in a problem
   Needs    all workers 0 .. workers - 1 in this function at the same time, each in a thread of its own, with the same
            arguments but for worker; meet(context), which returns when all have called it (null for one worker); memory
            of host_bytes, aligned as malloc does
   Leaves   the result, when all have returned: also of a call that is refused, unless result is null
   Returns  result->status.what: FD_BAD_ARGUMENT for a null pointer; FD_NO_ROOM: less memory than host_bytes, or none;
            FD_BAD_SIZE: a worker that there cannot be
   Cost     a stage reads the values, writes and reads the differences, and reads and writes the values: five passes
            over memory; a second stage one more */
TB_HOST int ADI3D_F(host_worker)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, int worker,
                                 int workers, void *memory, size_t bytes, void (*meet)(void *context), void *context,
                                 adi3d_result *result)
{
    if (!result) return FD_BAD_ARGUMENT;
    fd_status status = adi3d_check(problem);
    if (!status.what && (!result->values || !parameters || (workers > 1 && !meet))) status.what = FD_BAD_ARGUMENT;
    if (!status.what && (workers < 1 || worker < 0 || worker >= workers)) status.what = FD_BAD_SIZE;
    if (!status.what && (!memory || bytes < ADI3D_F(host_bytes)(problem, workers))) status.what = FD_NO_ROOM;
    if (!status.what) {
        ADI3D_F(p_host) host, *h = &host;
        ADI3D_F(p_host_lay_out)(problem, worker, workers, (unsigned char *)memory, h);
        h->parameters = parameters, h->meet = meet, h->context = context;
        if (worker == 0) {
            for (int d = 0; d < 3 && !status.what; d++) status = ADI3D_F(p_axis)(problem, parameters, d, &h->t);
            memset(h->spread, 0, 6 * h->pitch * sizeof(ADI3D_R));
            for (int i = 0; i < h->t.n[0] && !status.what; i++) {
                const ADI3D_G(fd_cell) cell = h->t.cell[0][i];
                const ADI3D_R number[6] = {cell.below,         cell.above, cell.h, cell.w, cell.below * (1 - cell.w),
                                           cell.above * cell.w};
                for (int q = 0; q < 6; q++) h->spread[(size_t)q * h->pitch + (size_t)i] = number[q];
            }
            memset(h->zeros, 0, ADI3D_P_LANES * sizeof(ADI3D_R));
            memcpy(h->shared->at, h->t.at, sizeof h->t.at);
            h->shared->status = status;
        }
        ADI3D_F(p_meet)(h);
        status = h->shared->status;
        if (!status.what) status = ADI3D_F(p_host_march)(h, result);
        if (!status.what && worker == 0) {
            result->values[0] = ADI3D_F(p_host_values)(h);
            ADI3D_F(p_tell)(&h->t, h->t.n, result->coordinates, 0, 1);
        }
        const int *n = h->t.n;
        for (int k = ADI3D_F(p_share)(h, n[2], worker); k < ADI3D_F(p_share)(h, n[2], worker + 1); k++)
            for (int j = 0; j < n[1] && result->grid && !status.what; j++)
                memcpy((ADI3D_R *)result->grid + (size_t)n[0] * ((size_t)j + (size_t)n[1] * (size_t)k),
                       ADI3D_F(p_host_row)(h, h->u, j, k), (size_t)n[0] * sizeof(ADI3D_R));
    }
    if (worker <= 0 || worker >= workers) {
        result->status = status;
        if (status.what && problem) ADI3D_F(p_no_results)(problem, result);
    }
    return status.what;
}

/* Solves   a problem by `workers` threads of OpenMP, where the program is compiled with it, else by the calling one
   Needs    memory of host_bytes, aligned as malloc does
   Leaves   the result
   Returns  as host_worker */
TB_HOST int ADI3D_F(host)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, int workers,
                          void *memory, size_t bytes, adi3d_result *result)
{
    int what = FD_OK;
#ifdef _OPENMP
    if (workers < 1) return ADI3D_F(host_worker)(problem, parameters, 0, 0, memory, bytes, NULL, NULL, result);
#pragma omp parallel num_threads(workers)
    {
        int mine = ADI3D_F(host_worker)(problem, parameters, omp_get_thread_num(), omp_get_num_threads(), memory, bytes,
                                        adi3d_p_barrier, NULL, result);
        if (omp_get_thread_num() == 0) what = mine;
    }
#else
    what = ADI3D_F(host_worker)(problem, parameters, 0, workers < 1 ? 0 : 1, memory, bytes, NULL, NULL, result);
#endif
    return what;
}

/* A problem of a batch for which a host's worker needs most memory. */
TB_HOST adi3d_problem ADI3D_F(p_host_largest)(const adi3d_batch *batch)
{
    adi3d_problem problem;
    memset(&problem, 0, sizeof problem);
    for (int d = 0; d < 3; d++) problem.axis[d].points = batch->points[d];
    problem.scheme = FD_HUNDSDORFER_VERWER, problem.exercise = FD_AMERICAN;
    return problem;
}

/* A problem's grid, which lies together, to where those of the batch's largest problems have theirs: from the last row
   on, so that none is written over before it is read. */
TB_HOST void ADI3D_F(p_host_spread)(const adi3d_batch *batch, const adi3d_problem *problem, ADI3D_R *grid)
{
    const size_t n0 = (size_t)problem->axis[0].points, n1 = (size_t)problem->axis[1].points;
    const size_t m0 = (size_t)batch->points[0], m1 = (size_t)batch->points[1];
    for (int k = problem->axis[2].points - 1; k >= 0; k--)
        for (int j = problem->axis[1].points - 1; j >= 0; j--)
            memmove(grid + m0 * ((size_t)j + m1 * (size_t)k), grid + n0 * ((size_t)j + n1 * (size_t)k),
                    n0 * sizeof(ADI3D_R));
}

/* Problem `which` of a batch, by the calling thread. */
TB_HOST void ADI3D_F(p_host_batched)(const adi3d_batch *batch, const ADI3D_M(parameters) * parameters, int which,
                                     void *memory, size_t bytes)
{
    const size_t all = (size_t)batch->points[0] * (size_t)batch->points[1] * (size_t)batch->points[2];
    adi3d_problem problem = batch->problem[which];
    adi3d_result result;
    result.values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    result.grid = batch->grid ? (ADI3D_R *)batch->grid + (size_t)which * all : NULL;
    for (int d = 0; d < 3; d++) {
        double *const to = batch->coordinates[d], nan = (double)ADI3D_G(fd_p_nan)();
        result.coordinates[d] = to ? to + (size_t)which * (size_t)batch->points[d] : NULL;
        for (int i = 0; i < batch->points[d] && to; i++) result.coordinates[d][i] = nan;
    }
    result.status = adi3d_p_check_in(batch, &problem);
    problem.progress = NULL;
    const int refused = result.status.what;
    for (int watched = 0; watched < 2 && !refused; watched++) {
        problem.watched = watched;
        if (!ADI3D_F(host_worker)(&problem, &parameters[which], 0, 1, memory, bytes, NULL, NULL, &result)) break;
    }
    batch->status[which] = result.status;
    if (result.status.what)
        ADI3D_F(p_nothing)(batch, which, 0, 1);
    else if (batch->grid)
        ADI3D_F(p_host_spread)(batch, &problem, (ADI3D_R *)result.grid);
}

/* Solves   how much memory MODEL_host_batch needs for so many workers
   Returns  bytes, for which its pointers may still be null; 0 for a batch that is none (adi3d_batch_check), or no
            workers */
TB_HOST size_t ADI3D_F(host_batch_bytes)(const adi3d_batch *batch, int workers)
{
    if (workers < 1 || adi3d_p_sizes(batch)) return 0;
    const adi3d_problem largest = ADI3D_F(p_host_largest)(batch);
    return (size_t)workers * ADI3D_F(p_host_lay_out)(&largest, 0, 1, NULL, NULL);
}

/* Solves   the problems of a batch, each by one worker: `workers` threads of OpenMP, where the program is compiled with
            it, else the calling one
   Needs    parameters of each problem; memory of host_batch_bytes, aligned as malloc does; pointers to the host's
            memory
   Leaves   status, values, grids and coordinates; NaN for a problem that has none; where the call is refused its status
            in each, and NaN
   Returns  FD_OK; as adi3d_batch_check; FD_BAD_SIZE for workers < 1; or FD_NO_ROOM: less memory, or none */
TB_HOST int ADI3D_F(host_batch)(const adi3d_batch *batch, const ADI3D_M(parameters) * parameters, int workers,
                                void *memory, size_t bytes)
{
    int wrong = adi3d_batch_check(batch);
    if (!wrong && workers < 1) wrong = FD_BAD_SIZE;
    if (!wrong && batch->problems > 0 && !parameters) wrong = FD_BAD_ARGUMENT;
    if (!wrong && batch->problems > 0 && (!memory || bytes < ADI3D_F(host_batch_bytes)(batch, workers)))
        wrong = FD_NO_ROOM;
    for (int which = 0; wrong && batch && which < batch->problems; which++) {
        if (batch->status) batch->status[which] = fd_status_of(wrong, 0, -1, -1, -1, -1, -1);
        if (batch->values && !adi3d_p_sizes(batch)) ADI3D_F(p_nothing)(batch, which, 0, 1);
    }
    if (wrong) return wrong;
    const size_t each = ADI3D_F(host_batch_bytes)(batch, 1);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
    for (int which = 0; which < batch->problems; which++) ADI3D_F(p_host_batched)
    (batch, parameters, which, (unsigned char *)memory + each * (size_t)omp_get_thread_num(), each);
#else
    for (int which = 0; which < batch->problems; which++)
        ADI3D_F(p_host_batched)(batch, parameters, which, memory, each);
#endif
    return FD_OK;
}

#endif /* TB_HOST_SCOPE */

/* ---- the device -------------------------------------------------------------------------------------------------- */

/* Grids in device memory have rows of pitch elements; what a row has beyond its points is finite. A stage is three
   kernels (docs/adi3d.md has the passes over memory): right-hand side and lines along x, which leave differences in d;
   lines along y, in place; lines along z, and what a stage ends with. Lines along x are a warp's or several warps', K
   points a lane; lines along y and z lie side by side in a block (trid_block_interleaved). */
#if TB_LAUNCHES

extern "C++" {

#define ADI3D_P_ALONE(axis) (((int)ADI3D_M(p_alone) >> (axis)) & 1)
#define ADI3D_P_VECTORED (16 / (int)sizeof(ADI3D_R))

/* What the kernels of a march are told: all pointers are to device memory, but for those in problem, which no kernel
   follows. */
typedef struct {
    ADI3D_F(p_tables) t;
    adi3d_problem problem;
    const ADI3D_M(parameters) * parameters;
    ADI3D_R *u, *z, *d;       /* values, a first stage's, differences */
    ADI3D_R *final, *extra;   /* final values, exercise's multiplier; null where there is none */
    unsigned long long *lost; /* when (p_device_note), times 2^32, and at which point something was not finite first */
    unsigned long long *untrue; /* of the first or the last step, the first point, and what is not true there */
    int *weak;                  /* rows that are not dominant */
    adi3d_values *values;       /* as a result's */
    ADI3D_R *factors[3];        /* of the axes that are alone, else null: p_device_factor */
    int *turns;                 /* how many steps of PCR their solves take */
    int *given, *largest;       /* magnitudes (fd_p_larger): the largest given, and the largest at time 0 */
    int fresh;                  /* are those of the last step not this one's? */
    int pitch, plane, elements; /* from row to row, from plane to plane, all */
    int processors, shared;     /* of the device: how many, and the shared memory of one */
    int *too_fast;              /* the least of fd_p_too_fast */
    double longest;             /* explicit step */
} ADI3D_F(p_device);

/* Hands out device memory; with null, only counts. */
TB_HOST size_t ADI3D_F(p_device_lay_out)(const adi3d_problem *problem, unsigned char *memory,
                                         ADI3D_F(p_device) * device)
{
    ADI3D_F(p_device) h;
    size_t used = 0;
    const int line = 128 / (int)sizeof(ADI3D_R);
    memset(&h, 0, sizeof h);
    h.problem = *problem;
    h.pitch = (problem->axis[0].points + line - 1) / line * line, h.plane = h.pitch * problem->axis[1].points;
    h.elements = h.plane * problem->axis[2].points;
    const size_t grid = fd_p_round((size_t)h.elements * sizeof(ADI3D_R));
    ADI3D_R **const grids[5] = {&h.u, &h.d, &h.z, &h.final, &h.extra};
    const int needed[5] = {1, 1, problem->scheme != FD_DOUGLAS, adi3d_p_finals(problem),
                           problem->exercise == FD_AMERICAN};
    for (int g = 0; g < 5; g++) {
        if (!needed[g]) continue;
        *grids[g] = (ADI3D_R *)fd_p_at(memory, used), used += grid;
    }
    for (int d = 0; d < 3; d++)
        used += ADI3D_F(p_axis_lay_out)(d, problem->axis[d].points, (unsigned char *)fd_p_at(memory, used), &h.t);
    h.parameters = (const ADI3D_M(parameters) *)fd_p_at(memory, used), used += fd_p_round(sizeof *h.parameters);
    h.values = (adi3d_values *)fd_p_at(memory, used);
    used += fd_p_round((size_t)(1 + problem->times.dates) * sizeof *h.values);
    h.lost = (unsigned long long *)fd_p_at(memory, used), h.untrue = (unsigned long long *)fd_p_at(memory, used + 8);
    h.weak = (int *)fd_p_at(memory, used + 16), h.given = (int *)fd_p_at(memory, used + 20);
    h.largest = (int *)fd_p_at(memory, used + 24), h.too_fast = (int *)fd_p_at(memory, used + 28);
    h.turns = (int *)fd_p_at(memory, used + 32);
    used += fd_p_round(48);
    for (int d = 0; d < 3; d++)
        if (ADI3D_P_ALONE(d)) {
            h.factors[d] = (ADI3D_R *)fd_p_at(memory, used);
            used += fd_p_round(32 * TRID_WARP_FACTOR_LEN(32) * sizeof(ADI3D_R));
        }
    if (device) *device = h;
    return used;
}

/* ---- what is done point by point --------------------------------------------------------------------------------- */

/* Element of point (i, j, k). */
TB_D int ADI3D_F(p_device_at)(const ADI3D_F(p_device) & h, int i, int j, int k)
{
    return i + h.pitch * j + h.plane * k;
}

/* The value of v there. */
TB_D ADI3D_R ADI3D_F(p_device_value)(const ADI3D_F(p_device) & h, const ADI3D_R *v, int i, int j, int k)
{
    return v[ADI3D_F(p_device_at)(h, i, j, k)];
}

/* What the faces of an axis add to F(v) at point (i, j, k). A grid is whatever has problem, parameters, tables, u, and
   values (p_device_value). */
template <int AXIS, class Grid, class Values>
TB_D ADI3D_R ADI3D_F(p_device_face)(const Grid &h, Values v, int i, int j, int k, const ADI3D_R *time, double when)
{
    const int index = AXIS == 0 ? i : AXIS == 1 ? j : k;
    ADI3D_R sum = 0;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int in = side ? -1 : 1, x = AXIS == 0 ? in : 0, y = AXIS == 1 ? in : 0, z = AXIS == 2 ? in : 0;
        if (index == (side ? h.t.n[AXIS] - 1 : 0) && ADI3D_F(p_adds)(&h.problem, AXIS, side))
            sum += ADI3D_F(p_at_face)(&h.problem, h.parameters, &h.t, AXIS, side, i, j, k, time, when,
                                      ADI3D_F(p_device_value)(h, v, i + x, j + y, k + z),
                                      ADI3D_F(p_device_value)(h, v, i + 2 * x, j + 2 * y, k + 2 * z));
    }
    return sum;
}

/* mixed F_0(v) + own (F_1 + F_2 + F_3)(v) at point (i, j, k), faces and all, from device memory. */
TB_D ADI3D_R ADI3D_F(p_device_apply)(const ADI3D_F(p_device) & h, const ADI3D_R *v, int i, int j, int k,
                                     const ADI3D_R *time, double when, ADI3D_R mixed, ADI3D_R own)
{
    const int at = ADI3D_F(p_device_at)(h, i, j, k);
    const int x[3] = {i > 0 ? -1 : 0, 0, i < h.t.n[0] - 1 ? 1 : 0};
    const int y[3] = {j > 0 ? -h.pitch : 0, 0, j < h.t.n[1] - 1 ? h.pitch : 0};
    const int z[3] = {k > 0 ? -h.plane : 0, 0, k < h.t.n[2] - 1 ? h.plane : 0};
    const ADI3D_G(fd_cell) cell[3] = {h.t.cell[0][i], h.t.cell[1][j], h.t.cell[2][k]};
    const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms_at)(&h.t, i, j, k, time);
    ADI3D_R around[27];
    TB_UNROLL
    for (int m = 0; m < 27; m++) {
        const int corner = m % 3 != 1 && m / 3 % 3 != 1 && m / 9 != 1;
        around[m] = corner ? 0 : v[at + x[m % 3] + y[m / 3 % 3] + z[m / 9]];
    }
    return ADI3D_F(p_apply)(cell, &terms, mixed, own, around) +
           own * (ADI3D_F(p_device_face) < 0 > (h, v, i, j, k, time, when) + ADI3D_F(p_device_face) < 1 >
                  (h, v, i, j, k, time, when) + ADI3D_F(p_device_face) < 2 > (h, v, i, j, k, time, when));
}

/* size (F_axis(u) at the step's end - F_axis(u) at its start) at point (i, j, k), 0 at faces whose value is given along
   x: what a step whose coefficients change adds to the solve along an axis. */
template <int AXIS, class Grid>
TB_D ADI3D_R ADI3D_F(p_device_change)(const Grid &h, const ADI3D_F(p_step) & step, int i, int j, int k)
{
    if (adi3d_p_given(&h.problem, 0, i)) return 0;
    const int index = AXIS == 0 ? i : AXIS == 1 ? j : k, down = index > 0, up = index < h.t.n[AXIS] - 1;
    const int x = AXIS == 0, y = AXIS == 1, z = AXIS == 2;
    const ADI3D_R low = ADI3D_F(p_device_value)(h, h.u, i - x * down, j - y * down, k - z * down);
    const ADI3D_R here = ADI3D_F(p_device_value)(h, h.u, i, j, k);
    const ADI3D_R high = ADI3D_F(p_device_value)(h, h.u, i + x * up, j + y * up, k + z * up);
    const ADI3D_G(fd_cell) cell = h.t.cell[AXIS][index];
    const ADI3D_G(adi3d_terms) start = ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[0]);
    const ADI3D_G(adi3d_terms) end = ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[1]);
    return step.pace.size * (ADI3D_F(p_along)(AXIS, cell, end, low, here, high) -
                                 ADI3D_F(p_along)(AXIS, cell, start, low, here, high) + ADI3D_F(p_device_face) <
                             AXIS > (h, h.u, i, j, k, step.time[1], step.to) - ADI3D_F(p_device_face) < AXIS >
                             (h, h.u, i, j, k, step.time[0], step.from));
}

/* The right-hand side of stage s at point (i, j, k), as it is for the solve along x. */
TB_D ADI3D_R ADI3D_F(p_device_right)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int s, int i, int j,
                                     int k)
{
    const int at = ADI3D_F(p_device_at)(h, i, j, k), about = s && step.pace.about;
    ADI3D_R right = ADI3D_F(p_device_apply)(h, h.u, i, j, k, step.time[0], step.from, step.pace.base[s ? 1 : 0][0],
                                            step.pace.base[s ? 1 : 0][1]);
    if (s)
        right +=
            ADI3D_F(p_device_apply)(h, h.z, i, j, k, step.time[1], step.to, step.pace.base[1][2], step.pace.base[1][3]);
    if (about) right += h.u[at] - h.z[at];
    if (h.extra) right += step.pace.dt * h.extra[at];
    if (step.changes && !about) right += ADI3D_F(p_device_change)<0>(h, step, i, j, k);
    return right;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* The numbers of the line along an axis through point (i, j, k): those of the two other axes. */
template <int AXIS>
TB_D void ADI3D_F(p_device_numbers)(const ADI3D_F(p_device) & h, int i, int j, int k,
                                    ADI3D_R (*number)[ADI3D_M(p_most)])
{
    if (AXIS != 0) ADI3D_F(p_take)(&h.t, 0, i, number[0]);
    if (AXIS != 1) ADI3D_F(p_take)(&h.t, 1, j, number[1]);
    if (AXIS != 2) ADI3D_F(p_take)(&h.t, 2, k, number[2]);
}

/* K rows of the matrix along an axis, of the line with these numbers, as rows within; own(r, number) gives row r's cell
   and numbers of the axis. */
template <int AXIS, int K, class Own>
TB_D void ADI3D_F(p_device_rows)(const ADI3D_F(p_step) & step, ADI3D_R (*number)[ADI3D_M(p_most)], Own own, ADI3D_R *a,
                                 ADI3D_R *b, ADI3D_R *c)
{
    ADI3D_R now[ADI3D_M(p_most)];
    TB_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step.time[1][q];
    TB_UNROLL
    for (int r = 0; r < K; r++) {
        const ADI3D_G(fd_cell) cell = own(r, number[AXIS]);
        const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(number[0], number[1], number[2], now);
        ADI3D_F(p_matrix)(AXIS, 0, cell, terms, step.pace.size, &a[r], &b[r], &c[r]);
    }
}

/* The matrix row a, b, c of a face along an axis at point (i, j, k) of it, and in row[3] what takes the place of the
   right-hand side, where the face's value is given, or else is added to it for each unit of the neighbour's. w: what
   the solution is the difference from. */
template <int AXIS>
TB_D void ADI3D_F(p_device_face_row)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int side, int i, int j,
                                     int k, ADI3D_R w, ADI3D_R *row)
{
    const int in = side ? -1 : 1;
    const double at[3] = {h.t.x[0][i], h.t.x[1][j], h.t.x[2][k]};
    row[3] = 0;
    ADI3D_F(p_face_row)
    (&h.problem, h.parameters, &h.t, AXIS, side, at, step.to, step.pace.size,
     ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[1]),
     ADI3D_F(p_terms_at)(&h.t, i + (AXIS == 0 ? in : 0), j + (AXIS == 1 ? in : 0), k + (AXIS == 2 ? in : 0),
                         step.time[1]),
     1, w, row, &row[3]);
}

/* The rows of the faces of a line along an axis that are among a lane's K from `first` on, into `kept`, 16 elements of
   shared memory a line: of each side the row, and the neighbour's right-hand side, where another lane has it
   (right_of(m)). It is made before what needs many registers is begun. w is of the line's first point, its points
   stride apart. */
template <int AXIS, int K, class RightOf>
TB_D void ADI3D_F(p_device_make_faces)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int first, int i,
                                       int j, int k, const ADI3D_R *w, int stride, RightOf right_of, ADI3D_R *kept)
{
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int m = side ? h.t.n[AXIS] - 1 : 0, in = side ? m - 1 : 1, kind = h.problem.face[AXIS][side];
        ADI3D_R row[4];
        if (m < first || m >= first + K || (kind != FD_VALUE && kind != FD_DEGENERATE)) continue;
        ADI3D_F(p_device_face_row)<AXIS>(h, step, side, AXIS == 0 ? m : i, AXIS == 1 ? m : j, AXIS == 2 ? m : k,
                                         w[m * stride], row);
        TB_UNROLL
        for (int e = 0; e < 4; e++) kept[8 * side + e] = row[e];
        kept[8 * side + 4] = kind == FD_DEGENERATE && in < first ? right_of(in) : 0;
    }
}

/* Row r as a face's: as it was made; or, where nothing need be, without couplings that would keep it from being
   dominant (fd_lane_lag). Without a the right-hand side alone, without d the matrix. */
TB_D void ADI3D_F(p_device_put_face)(int kind, const ADI3D_R *row, ADI3D_R near_by, int r, ADI3D_R *a, ADI3D_R *b,
                                     ADI3D_R *c, ADI3D_R *d)
{
    if (kind == FD_VALUE || kind == FD_DEGENERATE) {
        if (a) a[r] = row[0], b[r] = row[1], c[r] = row[2];
        if (d) d[r] = kind == FD_VALUE ? row[3] : d[r] + row[3] * near_by;
    } else if (a && !(b[r] > (a[r] < 0 ? -a[r] : a[r]) + (c[r] < 0 ? -c[r] : c[r]))) {
        const ADI3D_R below = a[r] > 0 ? a[r] : 0, above = c[r] > 0 ? c[r] : 0;
        a[r] -= below, b[r] += below + above, c[r] -= above;
    }
}

/* Puts them where they belong; the lane that has made them calls. */
template <int AXIS, int K>
TB_D void ADI3D_F(p_device_put_faces)(const ADI3D_F(p_device) & h, int first, const ADI3D_R *kept, ADI3D_R *a,
                                      ADI3D_R *b, ADI3D_R *c, ADI3D_R *d)
{
    const int last = h.t.n[AXIS] - 1, kind = h.problem.face[AXIS][1];
    auto near_by = [&](int r) {
        return !d ? 0 : r > 0 ? d[r > 0 ? r - 1 : 0] : kind == FD_DEGENERATE && first == last ? kept[12] : 0;
    };
    if (first == 0) ADI3D_F(p_device_put_face)(h.problem.face[AXIS][0], kept, d ? d[1] : 0, 0, a, b, c, d);
    if (last == first + K - 1) { /* the lanes' rows end with the line: one test instead of K */
        ADI3D_F(p_device_put_face)(kind, kept + 8, near_by(K - 1), K - 1, a, b, c, d);
        return;
    }
    if (last < first || last >= first + K) return;
    TB_UNROLL
    for (int r = 0; r < K - 1; r++)
        if (first + r == last) ADI3D_F(p_device_put_face)(kind, kept + 8, near_by(r), r, a, b, c, d);
}

/* Cells and numbers of the points of an axis from `first` on, for p_device_rows; beyond the last those of the last. */
template <int AXIS>
TB_D auto ADI3D_F(p_device_own)(const ADI3D_F(p_device) & h, int first)
{
    return [&h, first](int r, ADI3D_R *number) {
        const int m = first + r < h.t.n[AXIS] ? first + r : h.t.n[AXIS] - 1;
        ADI3D_F(p_take)(&h.t, AXIS, m, number);
        return h.t.cell[AXIS][m];
    };
}

/* The matrix of an axis that is alone, taken apart once for all its lines: K rows a section, S sections, which are
   lanes or threads of the kernels that solve by it. They read the factors 16 bytes at a time, each its own: of all
   sections the first 16 bytes, then of all the next. A warp. */
template <int AXIS, int K, int S>
TRID_KERNEL void __launch_bounds__(32)
    ADI3D_F(p_device_factor)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step)
{
    enum { V = ADI3D_P_VECTORED };
    __shared__ ADI3D_R kept[32][16];
    const int lane = trid_warp_lane(), section = lane % S, first = K * section;
    ADI3D_R a[K], b[K], c[K], f[TRID_WARP_FACTOR_LEN(K)], number[3][ADI3D_M(p_most)], *const none = 0;
    int turns;
    ADI3D_F(p_device_numbers)<AXIS>(h, 0, 0, 0, number);
    ADI3D_F(p_device_rows)<AXIS, K>(step, number, ADI3D_F(p_device_own) < AXIS > (h, first), a, b, c);
    ADI3D_F(p_device_make_faces)<AXIS, K>(
        h, step, first, 0, 0, 0, h.u, 0, [](int) { return (ADI3D_R)0; }, kept[lane]);
    ADI3D_F(p_device_put_faces)<AXIS, K>(h, first, kept[lane], a, b, c, none);
    ADI3D_G(trid_warp_factor)(K, S, h.t.n[AXIS], a, b, c, f, &turns);
    if (lane == 0) h.turns[AXIS] = turns;
    TB_UNROLL
    for (int e = 0; e < TRID_WARP_FACTOR_LEN(K); e += V)
        if (lane < S) *(ADI3D_P_VECTOR *)(h.factors[AXIS] + S * e + V * section) = transpose_pack(f + e);
}

/* All of the block's threads bring them into shared memory, */
template <int K, int S>
TB_D void ADI3D_F(p_device_fetch_factors)(const ADI3D_R *from, ADI3D_R *factors)
{
    for (int e = ADI3D_P_VECTORED * trid_block_thread(); e < S * TRID_WARP_FACTOR_LEN(K);
         e += ADI3D_P_VECTORED * trid_block_threads())
        *(ADI3D_P_VECTOR *)(factors + e) = *(const ADI3D_P_VECTOR *)(from + e);
}

/* and one takes from there elements from .. to - 1 of f of a section: whole vectors, 16 bytes. */
template <int S>
TB_D void ADI3D_F(p_device_take_factors)(const ADI3D_R *factors, int section, int from, int to, ADI3D_R *f)
{
    TB_UNROLL
    for (int e = from; e < to; e += ADI3D_P_VECTORED)
        transpose_unpack(*(const ADI3D_P_VECTOR *)(factors + S * e + ADI3D_P_VECTORED * section), f + e);
}

/* One line of n rows by Q warps of the block that follow each other, K rows a lane; shared: 6 elements a warp, of which
   the barrier must have been passed since they were last used. All threads call. */
template <int K, int Q>
TB_D void ADI3D_F(p_device_solve_row)(int n, ADI3D_R *a, ADI3D_R *b, ADI3D_R *c, ADI3D_R *d, ADI3D_R *shared)
{
    if (Q == 1) {
        ADI3D_G(trid_warp_hybrid)(K, 32, n, a, b, c, d);
        return;
    }
    const int warp = trid_block_thread() / 32, part = warp % Q, first = K * (32 * part + trid_warp_lane());
    ADI3D_G(trid_block_hybrid_part)
    (K, n, 32 * K * Q, first, Q, part, a, b, c, d, shared + 6 * (warp - part), 6, 1);
}

/* The solve along x of row (j, k) and its writing to d, right-hand sides in d[] of the lane's points from `first` on;
   there is no such row where n is 0. kept: of p_device_make_faces. */
template <int K, int Q>
TB_D void ADI3D_F(p_device_finish_x)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int s, int n, int first,
                                     int j, int k, ADI3D_R *d, ADI3D_R *shared, ADI3D_R *kept)
{
    enum { V = 16 / sizeof(ADI3D_R) };
    ADI3D_R a[K], b[K], c[K];
    const int at = ADI3D_F(p_device_at)(h, 0, j, k);
    if (n > 0)
        ADI3D_F(p_device_make_faces)<0, K>(
            h, step, first, 0, j, k, (s && step.pace.about ? h.z : h.u) + at, 1,
            [&](int m) { return ADI3D_F(p_device_right)(h, step, s, m, j, k); }, kept);
    ADI3D_R number[3][ADI3D_M(p_most)];
    ADI3D_F(p_device_numbers)<0>(h, 0, j, k, number);
    ADI3D_F(p_device_rows)<0, K>(step, number, ADI3D_F(p_device_own) < 0 > (h, first), a, b, c);
    if (n > 0) ADI3D_F(p_device_put_faces)<0, K>(h, first, kept, a, b, c, d);
    ADI3D_F(p_device_solve_row)<K, Q>(n, a, b, c, d, shared);
    /* Rows are padded to 128 bytes: a vector that begins within one ends within it. */
    TB_UNROLL
    for (int r = 0; r < K; r += V)
        if (first + r < n) *(ADI3D_P_VECTOR *)(h.d + at + first + r) = transpose_pack(d + r);
}

/* Right-hand side and lines along x, from device memory: any step. A row has Q warps, a block ROWS rows of a plane. */
template <int K, int Q, int ROWS>
TRID_KERNEL void __launch_bounds__(32 * Q * ROWS)
    ADI3D_F(p_device_any_x)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step,
                            int s)
{
    __shared__ ADI3D_R shared[6 * Q * ROWS], kept[16 * ROWS];
    const int warp = trid_block_thread() / 32, first = K * (32 * (warp % Q) + trid_warp_lane());
    const int row = ROWS * (int)blockIdx.x + warp / Q, there = row < h.t.n[1], j = there ? row : 0, k = (int)blockIdx.y;
    const int n = there ? h.t.n[0] : 0;
    ADI3D_R d[K];
    TB_UNROLL
    for (int r = 0; r < K; r++) d[r] = first + r < n ? ADI3D_F(p_device_right)(h, step, s, first + r, j, k) : 0;
    ADI3D_F(p_device_finish_x)<K, Q>(h, step, s, n, first, j, k, d, shared, kept + warp / Q * 16);
}

/* A row of 32 K Q points in shared memory, as the lanes of Q warps read it, V points of 16 bytes at a time, without
   bank conflicts: of each warp's points the first V of all its lanes, then the next V, a gap of 8 V / (K / V) after
   each, so that what one copies, vectors that follow each other, also goes to different banks. */
#define ADI3D_P_GROUP(K) (32 * ADI3D_P_VECTORED + 8 * ADI3D_P_VECTORED * ADI3D_P_VECTORED / (K))
#define ADI3D_P_PART(K) ((K) / ADI3D_P_VECTORED * ADI3D_P_GROUP(K))
#define ADI3D_P_SLOTS 3 /* of planes: the one before, the one at hand, the next */
#define ADI3D_P_PLANE(K, Q, ROWS) (((ROWS) + 2) * (Q)*ADI3D_P_PART(K))    /* ROWS rows and one on each side */
#define ADI3D_P_ALONG_X(K, Q, numbers) (32 * (K) * (Q) * (4 + (numbers))) /* cells and numbers of the points of a row */

/* K values of a lane; with those on each side around them, which at a row's ends are whatever is finite. */
template <int K>
TB_D void ADI3D_F(p_device_values_of)(const ADI3D_R *part, int lane, ADI3D_R *v)
{
    TB_UNROLL
    for (int r = 0; r < K; r += ADI3D_P_VECTORED)
        transpose_unpack(
            *(const ADI3D_P_VECTOR *)(part + r / ADI3D_P_VECTORED * ADI3D_P_GROUP(K) + ADI3D_P_VECTORED * lane), v + r);
}
template <int K, int Q>
TB_D void ADI3D_F(p_device_row_of)(const ADI3D_R *part, int of_row, int lane, ADI3D_R *v)
{
    ADI3D_F(p_device_values_of)<K>(part, lane, v + 1);
    v[0] = __shfl_up_sync(TB_FULL_WARP, v[K], 1), v[K + 1] = __shfl_down_sync(TB_FULL_WARP, v[1], 1);
    if (Q > 1 && lane == 0 && of_row > 0) v[0] = part[32 * ADI3D_P_VECTORED - ADI3D_P_GROUP(K) - 1];
    if (Q > 1 && lane == 31 && of_row < Q - 1) v[K + 1] = part[ADI3D_P_PART(K)];
}

/* What the faces of the axes add to out[] of a lane's points, where they add to u and z in the base of a stage. */
template <int KIND, int AXIS>
TB_D ADI3D_R ADI3D_F(p_device_face_of)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int i, int j, int k)
{
    const ADI3D_R *base = step.pace.base[KIND ? 1 : 0];
    ADI3D_R sum = base[1] * ADI3D_F(p_device_face)<AXIS>(h, h.u, i, j, k, step.time[0], step.from);
    if (KIND) sum += base[3] * ADI3D_F(p_device_face)<AXIS>(h, h.z, i, j, k, step.time[1], step.to);
    return sum;
}
template <int KIND, int K>
TB_D void ADI3D_F(p_device_faces_of)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int first, int j, int k,
                                     ADI3D_R *out)
{
    const int *n = h.t.n;
    TB_UNROLL
    for (int side = 0; side < 2; side++) {
        const int i = side ? n[0] - 1 : 0;
        if (!ADI3D_F(p_adds)(&h.problem, 0, side) || i < first || i >= first + K) continue;
        const ADI3D_R sum = ADI3D_F(p_device_face_of)<KIND, 0>(h, step, i, j, k);
        TB_UNROLL
        for (int r = 0; r < K; r++) out[r] += first + r == i ? sum : 0;
    }
    if (j > 0 && j < n[1] - 1 && k > 0 && k < n[2] - 1) return;
    TB_LOOP
    for (int m = 0; m < K; m++) {
        if (first + m >= n[0]) continue;
        const ADI3D_R sum = ADI3D_F(p_device_face_of)<KIND, 1>(h, step, first + m, j, k) +
                            ADI3D_F(p_device_face_of)<KIND, 2>(h, step, first + m, j, k);
        TB_UNROLL
        for (int r = 0; r < K; r++) out[r] += r == m ? sum : 0;
    }
}

/* What the differences along x are made of at a point, in 16 bytes of single precision: the row of A, and the weights
   of the first derivative. */
typedef struct FD_P_ALIGN {
    ADI3D_R below, above, down, up;
} ADI3D_F(p_along_x);

TB_D ADI3D_F(p_along_x) ADI3D_F(p_device_along_x)(ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms, ADI3D_R own)
{
    const ADI3D_G(fd_row) row = ADI3D_F(p_row)(0, cell, terms);
    const ADI3D_F(p_along_x) x = {own * row.below, own * row.above, cell.below * (1 - cell.w), cell.above * cell.w};
    return x;
}

/* Right-hand side and lines along x of a step in which nothing changes (step.changes). A block has ROWS rows of a
   plane, Q warps each, and marches along z, planes in shared memory and the next on its way. KIND 0: a first stage, or
   the only one. In a second one F is linear in u and z, of which sums have the derivatives once: with their sum in the
   place of u, in that of z their difference (KIND 1, about z), or what F_1 + F_2 + F_3 are taken of (2). */
template <int KIND, int K, int Q, int ROWS, int BLOCKS>
TRID_KERNEL void __launch_bounds__(32 * Q * ROWS, BLOCKS)
    ADI3D_F(p_device_still_x)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step)
{
    enum {
        V = ADI3D_P_VECTORED,
        THREADS = 32 * Q * ROWS,
        OF_ROW = 32 * K * Q / V,
        PASSES = ((ROWS + 2) * OF_ROW + THREADS - 1) / THREADS
    };
    enum {
        PLANE = ADI3D_P_PLANE(K, Q, ROWS),
        SLOT = (KIND ? 2 : 1) * PLANE,
        SLOTS = ADI3D_P_SLOTS,
        NUMBERS = ADI3D_M(numbers_of_x),
        BESIDE = Q * ADI3D_P_PART(K),
        TABLED = ADI3D_P_ALONE(0), /* is there a table of p_device_along_x, in the place of the cells? */
        ALONE = TABLED && Q == 1,
        FACTORS = ALONE ? TRID_WARP_FACTOR_LEN(K) : 0
    };
    TRID_DYNAMIC_SHARED(memory);
    ADI3D_R *cells = (ADI3D_R *)memory, *numbers = cells + 4 * 32 * K * Q, *factors = numbers + NUMBERS * 32 * K * Q;
    ADI3D_R *shared = factors + 32 * FACTORS;
    const int thread = trid_block_thread(), lane = trid_warp_lane(), warp = thread / 32, part = warp % Q,
              row = warp / Q;
    ADI3D_R *face = shared + 8 * Q * ROWS + 16 * row, *ring = shared + 24 * Q * ROWS; /* of the row's ends */
    const trid_copy_place to_ring = trid_copy_place_of(ring);
    const int *n = h.t.n;
    const int first = K * (32 * part + lane), j0 = ROWS * (int)blockIdx.x, alive = j0 + row < n[1];
    const int j = alive ? j0 + row : n[1] - 1;
    const int from = n[2] * (int)blockIdx.y / (int)gridDim.y, to = n[2] * ((int)blockIdx.y + 1) / (int)gridDim.y;
    const ADI3D_R *base = step.pace.base[KIND ? 1 : 0], size = step.pace.size, dt = step.pace.dt;
    const ADI3D_R mixed = base[0], own = KIND == 2 ? 1 : base[1];
    const ADI3D_R *mine = ring + (row + 1) * Q * ADI3D_P_PART(K) + part * ADI3D_P_PART(K);
    const int adds = ADI3D_F(p_adds)(&h.problem, 0, 0) + ADI3D_F(p_adds)(&h.problem, 0, 1) +
                     ADI3D_F(p_adds)(&h.problem, 1, 0) + ADI3D_F(p_adds)(&h.problem, 1, 1) +
                     ADI3D_F(p_adds)(&h.problem, 2, 0) + ADI3D_F(p_adds)(&h.problem, 2, 1);
    /* Vector q of those that the thread copies: its row of the plane's, its place within the row, and in shared memory.
       A pass of the block is some whole rows or a part of one. */
    auto row_of = [&](int q) { return thread / OF_ROW + q * THREADS / OF_ROW; };
    auto vector_of = [&](int q) { return thread % OF_ROW + q * THREADS % OF_ROW; };
    auto put = [&](int q) {
        const int v = vector_of(q), in_part = v % (32 * K / V);
        return (row_of(q) * Q + v / (32 * K / V)) * ADI3D_P_PART(K) + in_part % (K / V) * ADI3D_P_GROUP(K) +
               V * (in_part / (K / V));
    };
    auto is_there = [&](int q) { return row_of(q) < ROWS + 2 && V * vector_of(q) < h.pitch; };
    auto fetch = [&](int k, int slot) {
        const int plane = h.plane * (k < 0 ? 0 : k < n[2] ? k : n[2] - 1);
        TB_UNROLL
        for (int q = 0; q < PASSES; q++) {
            const int y = j0 - 1 + row_of(q), line = y < 0 ? 0 : y < n[1] ? y : n[1] - 1;
            const int at = plane + h.pitch * line + V * vector_of(q);
            if (!is_there(q) || k > to) continue;
            trid_copy_async(to_ring, (int)sizeof(ADI3D_R) * (slot * SLOT + put(q)), h.u + at);
            if (KIND) trid_copy_async(to_ring, (int)sizeof(ADI3D_R) * (slot * SLOT + PLANE + put(q)), h.z + at);
        }
        trid_copy_commit();
    };
    /* What the thread has copied becomes what is marched over. */
    auto combine = [&](int slot) {
        TB_UNROLL
        for (int q = 0; q < PASSES; q++) {
            ADI3D_P_VECTOR *u = (ADI3D_P_VECTOR *)(ring + slot * SLOT + put(q)), *z = u + PLANE / V;
            ADI3D_R a[V], b[V];
            if (!is_there(q)) continue;
            transpose_unpack(*u, a), transpose_unpack(*z, b);
            TB_UNROLL
            for (int e = 0; e < V; e++) {
                const ADI3D_R one = a[e], two = b[e];
                a[e] = one + two, b[e] = KIND == 1 ? one - two : base[1] * one + base[3] * two;
            }
            *u = transpose_pack(a), *z = transpose_pack(b);
        }
    };
    for (int e = thread; e < SLOTS * SLOT; e += THREADS) ring[e] = 0;
    if (ALONE) ADI3D_F(p_device_fetch_factors)<K, 32>(h.factors[0], factors);
    const int turns = ALONE ? h.turns[0] : 0;
    /* Point K l + r of lane l of part p: [p][r][l]. */
    for (int e = thread; e < 32 * K * Q; e += THREADS) {
        const int i = e / (32 * K) * 32 * K + e % 32 * K + e / 32 % K, last = i < n[0] ? i : n[0] - 1;
        if (TABLED)
            ((ADI3D_F(p_along_x) *)cells)[e] =
                ADI3D_F(p_device_along_x)(h.t.cell[0][last], ADI3D_F(p_terms_at)(&h.t, last, 0, 0, step.time[1]), own);
        else
            ((ADI3D_G(fd_cell) *)cells)[e] = h.t.cell[0][last];
        TB_UNROLL
        for (int q = 0; q < NUMBERS; q++) numbers[q * 32 * K * Q + e] = h.t.number[0][q * h.t.padded[0] + last];
    }
    __syncthreads();
    fetch(from - 1, 0);
    const ADI3D_G(fd_cell) cell_y = h.t.cell[1][j];
    const ADI3D_R down_y = cell_y.below * (1 - cell_y.w), up_y = cell_y.above * cell_y.w;
    ADI3D_R number_y[ADI3D_M(p_most)], number_k[ADI3D_M(p_most)], number_p[ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    ADI3D_F(p_take)(&h.t, 1, j, number_y);
    TB_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step.time[1][q];
    const ADI3D_G(fd_cell) *cell_x = (const ADI3D_G(fd_cell) *)cells + 32 * K * part + lane;
    const ADI3D_R *number_x = numbers + 32 * K * part + lane;
    enum { ALONG_Y = ((int)ADI3D_M(mixed) & 4) != 0, ALONG_X = ((int)ADI3D_M(mixed) & 3) != 0 };
    /* Of the plane before: its slopes, and what of its right-hand sides it has itself and the one before it. */
    ADI3D_R along_y[K], along_x[K], half[K];
    TB_UNROLL
    for (int r = 0; r < K; r++) along_y[r] = along_x[r] = half[r] = 0;
    TB_LOOP
    for (int p = from - 1, slot = 0; p <= to; p++, slot = slot < SLOTS - 1 ? slot + 1 : 0) {
        const ADI3D_R *here = mine + slot * SLOT, *low = mine + (slot > 0 ? slot - 1 : SLOTS - 1) * SLOT;
        const int k = p - 1, kz = k < 0 ? 0 : k, pz = p < 0 ? 0 : p < n[2] ? p : n[2] - 1;
        /* Of plane k what it needs of plane p, which is the last, and of plane p all but what it needs of the next.
           They come while the block waits. */
        const ADI3D_G(fd_cell) cell_k = h.t.cell[2][kz], cell_p = h.t.cell[2][pz];
        ADI3D_F(p_take)(&h.t, 2, kz, number_k), ADI3D_F(p_take)(&h.t, 2, pz, number_p);
        TRID_COPY_AWAIT(0);
        if (KIND) combine(slot);
        __syncthreads();
        fetch(p + 1, slot < SLOTS - 1 ? slot + 1 : 0);
        const int at = ADI3D_F(p_device_at)(h, first, j, kz);
        if (k >= from) {
            /* What few points have, before the many registers that all need. */
            TB_UNROLL
            for (int r = 0; r < K && h.extra; r++) half[r] += first + r < n[0] ? dt * h.extra[at + r] : 0;
            if (adds) ADI3D_F(p_device_faces_of)<KIND, K>(h, step, first, j, k, half);
            ADI3D_F(p_device_make_faces)<0, K>(
                h, step, first, 0, j, k, (KIND == 1 ? h.z : h.u) + at - first, 1,
                [&](int m) { return ADI3D_F(p_device_right)(h, step, KIND > 0, m, j, k); }, face);
        }
        ADI3D_R v[K + 2], south[K + 2], north[K + 2], before[K], a[K], b[K], c[K], d[K];
        ADI3D_F(p_device_row_of)<K, Q>(here, part, lane, v);
        ADI3D_F(p_device_row_of)<K, Q>(here - BESIDE, part, lane, south);
        ADI3D_F(p_device_row_of)<K, Q>(here + BESIDE, part, lane, north);
        const ADI3D_R up_k = mixed * (cell_k.above * cell_k.w), down_p = mixed * (cell_p.below * (1 - cell_p.w));
        TB_UNROLL
        for (int r = 0; r < K; r++) {
            ADI3D_R number[ADI3D_M(p_most)];
            TB_UNROLL
            for (int q = 0; q < NUMBERS; q++) number[q] = number_x[(q * K * Q + r) * 32];
            const ADI3D_G(adi3d_terms) at_k = ADI3D_F(p_terms)(number, number_y, number_k, now);
            const ADI3D_G(adi3d_terms) at_p = ADI3D_F(p_terms)(number, number_y, number_p, now);
            const ADI3D_F(p_along_x) x = TABLED ? ((const ADI3D_F(p_along_x) *)cell_x)[32 * r]
                                                : ADI3D_F(p_device_along_x)(cell_x[32 * r], at_p, own);
            const ADI3D_R *s = at_k.volatility, *t = at_p.volatility;
            ADI3D_R right = half[r], next = 0;
            if (r % V == 0)
                transpose_unpack(*(const ADI3D_P_VECTOR *)(low + r / V * ADI3D_P_GROUP(K) + V * lane), before + r);
            if (KIND < 2) {
                const ADI3D_R more = v[r + 1] - before[r];
                /* Differences as p_first has them: most of them are made once. */
                const ADI3D_G(fd_row) row_y = ADI3D_F(p_row)(1, cell_y, at_p);
                const ADI3D_G(fd_row) row_p = ADI3D_F(p_row)(2, cell_p, at_p);
                right += own * ADI3D_F(p_row)(2, cell_k, at_k).above * more;
                next = x.above * (v[r + 2] - v[r + 1]) - x.below * (v[r + 1] - v[r]) +
                       own * row_y.above * (north[r + 1] - v[r + 1]) - own * row_y.below * (v[r + 1] - south[r + 1]) -
                       own * row_p.below * more - own * at_p.kill * v[r + 1];
            }
            if (ALONG_Y) {
                const ADI3D_R slope = ADI3D_F(p_first)(down_y, up_y, south[r + 1], v[r + 1], north[r + 1]);
                const ADI3D_R more = slope - along_y[r];
                right += up_k * at_k.beta[2] * s[2] * s[1] * more;
                next += down_p * at_p.beta[2] * t[2] * t[1] * more;
                along_y[r] = slope;
            }
            if (ALONG_X) {
                const ADI3D_R slope = ADI3D_F(p_first)(x.down, x.up, v[r], v[r + 1], v[r + 2]);
                if ((int)ADI3D_M(mixed) & 2) {
                    const ADI3D_R more = slope - along_x[r];
                    right += up_k * at_k.beta[1] * s[2] * (s[0] * more);
                    next += down_p * at_p.beta[1] * t[2] * (t[0] * more);
                }
                if ((int)ADI3D_M(mixed) & 1)
                    next += mixed * at_p.beta[0] * t[1] * t[0] *
                            ADI3D_F(p_first)(
                                down_y, up_y, ADI3D_F(p_first)(x.down, x.up, south[r], south[r + 1], south[r + 2]),
                                slope, ADI3D_F(p_first)(x.down, x.up, north[r], north[r + 1], north[r + 2]));
                along_x[r] = slope;
            }
            d[r] = right, half[r] = next;
            if (!ALONE) ADI3D_G(fd_lane_matrix)
            (ADI3D_F(p_row)(0, cell_x[32 * r], at_k), size, at_k.kill / 3, &a[r], &b[r], &c[r]);
        }
        if (KIND == 2) {
            ADI3D_F(p_device_row_of)<K, Q>(here + PLANE, part, lane, v);
            ADI3D_F(p_device_values_of)<K>(here + PLANE - BESIDE, lane, south);
            ADI3D_F(p_device_values_of)<K>(here + PLANE + BESIDE, lane, north);
            ADI3D_F(p_device_values_of)<K>(low + PLANE, lane, before);
            TB_UNROLL
            for (int r = 0; r < K; r++) {
                ADI3D_R number[ADI3D_M(p_most)];
                TB_UNROLL
                for (int q = 0; q < NUMBERS; q++) number[q] = number_x[(q * K * Q + r) * 32];
                const ADI3D_G(adi3d_terms) at_k = ADI3D_F(p_terms)(number, number_y, number_k, now);
                const ADI3D_G(adi3d_terms) at_p = ADI3D_F(p_terms)(number, number_y, number_p, now);
                const ADI3D_R more = v[r + 1] - before[r];
                d[r] += ADI3D_F(p_row)(2, cell_k, at_k).above * more;
                const ADI3D_F(p_along_x) x = TABLED ? ((const ADI3D_F(p_along_x) *)cell_x)[32 * r]
                                                    : ADI3D_F(p_device_along_x)(cell_x[32 * r], at_p, own);
                half[r] += x.above * (v[r + 2] - v[r + 1]) - x.below * (v[r + 1] - v[r]) +
                           ADI3D_G(fd_lane_apply)(ADI3D_F(p_row)(1, cell_y, at_p), south[r], v[r + 1], north[r]) -
                           ADI3D_F(p_row)(2, cell_p, at_p).below * more - at_p.kill * v[r + 1];
            }
        }
        if (k < from) continue;
        if (KIND == 1) {
            ADI3D_F(p_device_values_of)<K>(low + PLANE, lane, before);
            TB_UNROLL
            for (int r = 0; r < K; r++) d[r] += before[r];
        }
        if (ALONE) {
            ADI3D_R *const none = 0;
            ADI3D_F(p_device_put_faces)<0, K>(h, first, face, none, none, none, d);
            ADI3D_R f[TRID_WARP_FACTOR_LEN(K)];
            ADI3D_F(p_device_take_factors)<32>(factors, lane, 0, FACTORS, f);
            ADI3D_G(trid_warp_solve)(K, 32, n[0], turns, f, d);
        } else {
            ADI3D_F(p_device_put_faces)<0, K>(h, first, face, a, b, c, d);
            ADI3D_F(p_device_solve_row)<K, Q>(alive ? n[0] : 0, a, b, c, d, shared);
        }
        /* Rows are padded to 128 bytes: a vector that begins within one ends within it. */
        TB_UNROLL
        for (int r = 0; r < K; r += V)
            if (alive && first + r < n[0])
                *(ADI3D_P_VECTOR *)(h.d + ADI3D_F(p_device_at)(h, first + r, j, k)) = transpose_pack(d + r);
    }
}

/* Elements of shared memory for L columns of S sections of K rows: row r begins at (r + r / K) L, so that the rows that
   a warp's sections read together lie in different banks; and for faces and the solver. */
#define ADI3D_P_SLICE(K, S, L) ((S) * ((K) + 1) * (L))
#define ADI3D_P_SOLVER(S, L) (16 * (L) + (ADI3D_P_LINES_LEN(L, S) + 3) / 4 * 4)

/* Lines along y or z, L side by side in x, of S sections of K rows each; along z also what a stage ends with. A block
   marches along the third axis through the lines of its columns, of which those of the next depth - 1 are on their way;
   beside: along z w is staged with them, else read when it is due. CHANGES: does F along the axis differ from the
   step's start to its end? */
template <int AXIS, int CHANGES, int K, int S, int L>
TRID_KERNEL void __launch_bounds__(S *L)
    ADI3D_F(p_device_lines)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step,
                            int s, int depth, int beside)
{
    enum { V = 16 / sizeof(ADI3D_R), VECTORS = L / V, SLICE = ADI3D_P_SLICE(K, S, L) };
    enum { ALONE = ADI3D_P_ALONE(AXIS), FACTORS = TRID_INTERLEAVED_FACTOR_LEN(K) };
    TRID_DYNAMIC_SHARED(memory);
    ADI3D_R *faces = (ADI3D_R *)memory + trid_block_thread() % L * 16, *shared = (ADI3D_R *)memory + 16 * L;
    ADI3D_R *ring = (ADI3D_R *)memory + ADI3D_P_SOLVER(S, L);
    const int thread = trid_block_thread(), first = K * (thread / L), mine = L * (int)blockIdx.x + thread % L;
    const int there = mine < h.t.n[0], n = there ? h.t.n[AXIS] : 0, i = there ? mine : h.t.n[0] - 1;
    const int stride = AXIS == 1 ? h.pitch : h.plane, march = AXIS == 1 ? h.plane : h.pitch, count = h.t.n[3 - AXIS];
    const int from = count * (int)blockIdx.y / (int)gridDim.y, to = count * ((int)blockIdx.y + 1) / (int)gridDim.y;
    const int about = s && step.pace.about, last = s == step.pace.stages - 1;
    const int exercise = AXIS == 2 && last ? h.problem.exercise : FD_EUROPEAN;
    const int kept_x =
        (i == 0 && h.problem.face[0][0] == FD_VALUE) || (i == h.t.n[0] - 1 && h.problem.face[0][1] == FD_VALUE);
    const int place = first / K * (K + 1) * L + thread % L, slot_of = (AXIS == 2 && beside ? 2 : 1) * SLICE;
    const ADI3D_R *w = about ? h.z : h.u;
    ADI3D_R *result = AXIS == 1 ? h.d : last ? h.u : h.z;
    const trid_copy_place to_ring = trid_copy_place_of(ring);
    auto fetch = [&](int m, int slot) {
        const int column = V * (thread % VECTORS), own = L * (int)blockIdx.x + column;
        TB_UNROLL
        for (int q = 0; q < K / V; q++) {
            const int r = thread / VECTORS + q * S * V, at = own + r * stride + m * march;
            const int put = (int)sizeof(ADI3D_R) * (slot * slot_of + (r + r / K) * L + column);
            if (m >= to || own >= h.pitch || r >= h.t.n[AXIS]) continue;
            trid_copy_async(to_ring, put, h.d + at);
            if (AXIS == 2 && beside) trid_copy_async(to_ring, put + (int)sizeof(ADI3D_R) * SLICE, w + at);
        }
        trid_copy_commit();
    };
    /* The factors of the axis' matrix; or its cells and numbers, up to a last row that nobody has. */
    ADI3D_R *factors = ring + depth * slot_of;
    ADI3D_G(fd_cell) *cells = (ADI3D_G(fd_cell) *)factors;
    ADI3D_R *numbers = (ADI3D_R *)(cells + K * S);
    auto own = [&](int r, ADI3D_R *number) {
        TB_UNROLL
        for (int q = 0; q < ADI3D_M(p_numbers)(AXIS); q++) number[q] = numbers[q * K * S + first + r];
        return cells[first + r];
    };
    if (ALONE) ADI3D_F(p_device_fetch_factors)<K, S>(h.factors[AXIS], factors);
    const int turns = ALONE ? h.turns[AXIS] : 0;
    for (int e = thread; e < K * S && !ALONE; e += S * L) {
        const int m = e < h.t.n[AXIS] ? e : h.t.n[AXIS] - 1;
        cells[e] = h.t.cell[AXIS][m];
        TB_UNROLL
        for (int q = 0; q < ADI3D_M(p_numbers)(AXIS); q++)
            numbers[q * K * S + e] = h.t.number[AXIS][q * h.t.padded[AXIS] + m];
    }
    for (int e = thread; e < depth * slot_of; e += S * L) ring[e] = 0;
    __syncthreads();
    for (int m = 0; m < depth - 1; m++) fetch(from + m, m);
    ADI3D_R number[3][ADI3D_M(p_most)];
    TB_LOOP
    for (int m = from, slot = 0; m < to; m++) {
        const int j = AXIS == 1 ? 0 : m, k = AXIS == 2 ? 0 : m, line = i + m * march;
        if (!ALONE) ADI3D_F(p_device_numbers)<AXIS>(h, i, j, k, number); /* which come while the block waits */
        /* Lines on faces whose values have been given stay as they are. */
        const int kept = kept_x || (AXIS == 2 && ((j == 0 && h.problem.face[1][0] == FD_VALUE) ||
                                                  (j == h.t.n[1] - 1 && h.problem.face[1][1] == FD_VALUE)));
        const ADI3D_R *here = ring + slot * slot_of + place;
        auto change = [&](int r) {
            return CHANGES && !kept ? ADI3D_F(p_device_change)<AXIS>(h, step, i, AXIS == 1 ? r : j, AXIS == 2 ? r : k)
                                    : 0;
        };
        ADI3D_R a[K], b[K], c[K], d[K];
        if (there && !kept)
            ADI3D_F(p_device_make_faces)<AXIS, K>(
                h, step, first, i, j, k, w + line, stride, [&](int r) { return h.d[line + r * stride] + change(r); },
                faces);
        if (depth == 1) __syncthreads(), fetch(m, 0);
        if (depth > 2)
            TRID_COPY_AWAIT(1);
        else
            TRID_COPY_AWAIT(0);
        __syncthreads();
        if (depth > 1) fetch(m + depth - 1, slot > 0 ? slot - 1 : depth - 1);
        TB_UNROLL
        for (int r = 0; r < K; r++) d[r] = here[r * L] + (CHANGES && first + r < n ? change(first + r) : 0);
        if (ALONE) {
            ADI3D_R *const none = 0;
            if (there && !kept) ADI3D_F(p_device_put_faces)<AXIS, K>(h, first, faces, none, none, none, d);
            ADI3D_R f[FACTORS];
            ADI3D_F(p_device_take_factors)<S>(factors, thread / L, 0, 5 * K, f);
            ADI3D_F(p_device_take_factors)<S>(factors, thread % S, 5 * K, FACTORS, f);
            ADI3D_G(trid_block_interleaved_solve)
            (K, L, S, K * S, turns, f, d, shared); /* rows from n on are 0 in the ring */
            TB_UNROLL
            for (int r = 0; r < K && kept; r++) d[r] = here[r * L];
        } else {
            ADI3D_F(p_device_rows)<AXIS, K>(step, number, own, a, b, c);
            if (kept) {
                TB_UNROLL
                for (int r = 0; r < K; r++) a[r] = c[r] = 0, b[r] = 1;
            } else if (there)
                ADI3D_F(p_device_put_faces)<AXIS, K>(h, first, faces, a, b, c, d);
            ADI3D_G(trid_block_interleaved_unchecked)(K, L, S, n, a, b, c, d, shared);
        }
        TB_UNROLL
        for (int r = 0; r < K && AXIS == 2; r++)
            d[r] += beside ? here[SLICE + r * L] : first + r < n ? w[line + (first + r) * stride] : 0;
        TB_UNROLL
        for (int r = 0; r < K && exercise != FD_EUROPEAN; r++) {
            const int at = line + (first + r) * stride;
            ADI3D_R unused = 0;
            if (first + r < n)
                d[r] = ADI3D_G(fd_lane_exercise)(exercise, step.pace.dt, h.final[at], d[r],
                                                 exercise == FD_AMERICAN ? &h.extra[at] : &unused);
        }
        TB_UNROLL
        for (int r = 0; r < K; r++)
            if (first + r < n) result[line + (first + r) * stride] = d[r];
        if (++slot == depth) slot = 0;
    }
}

/* ---- what happens rarely ----------------------------------------------------------------------------------------- */

/* What is not finite at point (i, j, k), at a time of the march: 0 the final values, 1 + 2 step the terms of a step,
   2 + 2 step the values after it. */
TB_D void ADI3D_F(p_device_note)(const ADI3D_F(p_device) & h, int when, int i, int j, int k)
{
    atomicMin(h.lost, (unsigned long long)when << 32 | (unsigned long long)(i + h.t.n[0] * (j + h.t.n[1] * k)));
}

/* The largest magnitude of a block's threads, into that of all blocks. */
TB_D void ADI3D_F(p_device_most)(int *kept, int mine)
{
    __shared__ int most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    fd_p_most(&most, mine);
    __syncthreads();
    if (threadIdx.x == 0) fd_p_most(kept, most);
}

enum { ADI3D_F(p_device_threads) = 128 }; /* of the kernels from here on: a block a row */

/* The final values. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_begin)(const __grid_constant__ ADI3D_F(p_device) h)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    int given = 0;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        const int at = ADI3D_F(p_device_at)(h, i, j, k);
        const ADI3D_R value = (ADI3D_R)ADI3D_F(p_final)(&h.problem, h.parameters, &h.t, i, j, k);
        h.u[at] = value;
        if (h.final) h.final[at] = value;
        if (!ADI3D_G(trid_finite)(value)) ADI3D_F(p_device_note)(h, 0, i, j, k);
        given = ADI3D_F(p_given)(&h.problem, h.parameters, &h.t, i, j, k, value, given);
    }
    ADI3D_F(p_device_most)(h.given, given);
}

/* The first point whose terms (when is odd) or whose value is not finite; the largest value in the last step. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_look)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step,
                           int when, int last)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    int largest = 0;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        int good = 1;
        for (int end = 0; end < 2 && when % 2; end++)
            good &= ADI3D_F(p_finite)(ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[end]));
        const ADI3D_R value = h.u[ADI3D_F(p_device_at)(h, i, j, k)];
        if (when % 2 == 0) good = ADI3D_G(trid_finite)(value);
        if (!good) ADI3D_F(p_device_note)(h, when, i, j, k);
        largest = fd_p_larger(largest, (double)value);
    }
    if (last) ADI3D_F(p_device_most)(h.largest, largest);
}

/* How many rows are not dominant in the first or in the last step (end), and where something is not true. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_count)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step,
                            int end)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    int weak = 0;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        weak += ADI3D_F(p_weak)(&h.t, i, j, k, &step);
        const unsigned long long untrue = (unsigned)ADI3D_F(p_untrue_at)(&h.problem, &h.t, i, j, k, &step);
        const unsigned long long at = (unsigned)(i + h.t.n[0] * (j + h.t.n[1] * k));
        if (untrue) atomicMin(h.untrue, (unsigned long long)end << 62 | at << 32 | untrue);
        const int too_fast = ADI3D_F(p_too_fast)(&h.problem, &h.t, h.longest, i, j, k, &step);
        if (too_fast) atomicMin(h.too_fast, too_fast);
    }
    if (weak > 0) atomicAdd(h.weak, weak);
}

/* What point (i, j, k), which is element `at` of final values and multiplier, has after what happens at a date, from a
   row of old values; a change may add to the largest magnitude given. */
template <class Grid>
TB_D ADI3D_R ADI3D_F(p_device_event)(const Grid &h, int date, const fd_date *event, const ADI3D_R *row, int at, int i,
                                     int j, int k, int *given)
{
    const int n = h.t.n[0];
    const double *x = h.t.x[0], place[3] = {x[i], h.t.x[1][j], h.t.x[2][k]};
    ADI3D_R value = row[i], none = 0;
    fd_weights from;
    if ((event->what & FD_SHIFT) && !fd_interpolate(n, x, fd_shifted(event, x[i], x[0], x[n - 1]), &from)) {
        double sum = 0;
        for (int m = 0; m < 4; m++) sum += from.value[m] * (double)row[from.first + m];
        value = (ADI3D_R)sum;
    }
    if (event->what & FD_CHANGE_VALUES) {
        const double before = (double)value;
        value = (ADI3D_R)ADI3D_M(p_change)(h.parameters, date, place, before);
        *given = fd_p_larger(*given, fd_p_added(before, (double)value));
    }
    return ADI3D_G(fd_lane_at_date)(event->what, h.problem.exercise, h.final ? h.final[at] : 0, value,
                                    h.extra ? &h.extra[at] : &none);
}

/* What happens at a date. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_date)(const __grid_constant__ ADI3D_F(p_device) h, int date, const __grid_constant__ fd_date event)
{
    __shared__ ADI3D_R row[ADI3D_MOST];
    const int j = (int)blockIdx.x, k = (int)blockIdx.y, n = h.t.n[0], first = ADI3D_F(p_device_at)(h, 0, j, k);
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) row[i] = h.u[first + i];
    __syncthreads();
    int given = 0;
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        h.u[first + i] = ADI3D_F(p_device_event)(h, date, &event, row, first + i, i, j, k, &given);
    ADI3D_F(p_device_most)(h.given, given);
}

/* Value and derivatives at the spot, to values[which]; a block of 64. */
template <int Unused>
TRID_KERNEL void ADI3D_F(p_device_values)(const __grid_constant__ ADI3D_F(p_device) h, int which)
{
    __shared__ ADI3D_R around[64];
    const int m = (int)threadIdx.x;
    around[m] =
        h.u[ADI3D_F(p_device_at)(h, h.t.at[0].first + m % 4, h.t.at[1].first + m / 4 % 4, h.t.at[2].first + m / 16)];
    __syncthreads();
    if (m == 0) h.values[which] = ADI3D_F(p_values)(h.t.at, around);
}

/* The grid as a result has it, in d. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_pack)(const __grid_constant__ ADI3D_F(p_device) h)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y, n = h.t.n[0];
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        h.d[i + n * (j + h.t.n[1] * k)] = h.u[ADI3D_F(p_device_at)(h, i, j, k)];
}

/* ---- a march ----------------------------------------------------------------------------------------------------- */

/* The next launch of a chain, on the stream; after one that failed nothing is launched. */
template <class... P>
static inline void ADI3D_F(p_launch)(cudaError_t *error, cudaStream_t stream, void (*kernel)(P...), dim3 grid,
                                     dim3 block, size_t bytes, typename trid_same<P>::type... arguments)
{
    if (*error == cudaSuccess && bytes > 48 * 1024) *error = trid_allow_shared(kernel);
    if (*error == cudaSuccess) *error = trid_launch(kernel, grid, block, bytes, stream, arguments...);
}

/* The solves along y or z, L lines a block; returns 0 where they need more shared memory than there is. */
template <int AXIS, int CHANGES, int K, int S, int L>
static inline int ADI3D_F(p_device_side_by_side)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                                 const ADI3D_F(p_step) & step, int s)
{
    void (*kernel)(ADI3D_F(p_device), ADI3D_F(p_step), int, int, int) = ADI3D_F(p_device_lines)<AXIS, CHANGES, K, S, L>;
    const int tables =
        ADI3D_P_ALONE(AXIS) ? S * TRID_INTERLEAVED_FACTOR_LEN(K) : K * S * (4 + ADI3D_M(p_numbers)(AXIS));
    const size_t slice = sizeof(ADI3D_R) * ADI3D_P_SLICE(K, S, L);
    const size_t solver = sizeof(ADI3D_R) * (size_t)(ADI3D_P_SOLVER(S, L) + tables);
    /* As much on its way as there is room for, w at last. */
    const int room = h.shared - 1024 - (int)solver, slices = room > 0 ? room / (int)slice : 0;
    const int beside = AXIS == 2 && slices > 3, depth = slices >> beside > 3 ? 3 : slices >> beside;
    const int columns = (h.t.n[0] + L - 1) / L;
    const int sections = adi3d_p_sections(h.t.n[3 - AXIS], columns, h.processors, 1);
    if (depth < 1) return 0;
    if (ADI3D_P_ALONE(AXIS) && h.fresh && s == 0)
        ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_factor) < AXIS, K, S >, dim3(1), dim3(32), 0, h, step);
    ADI3D_F(p_launch)
    (error, stream, kernel, dim3((unsigned)columns, (unsigned)sections), dim3(S * L),
     solver + (size_t)(depth << beside) * slice, h, step, s, depth, beside);
    return 1;
}

/* Those whose lines are as long as the axis. Where there is no room for them the narrowest are the last resort. */
template <int AXIS, int CHANGES>
static inline void ADI3D_F(p_device_along)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                           const ADI3D_F(p_step) & step, int s)
{
    const int n = h.t.n[AXIS];
    int done = 0;
    if (n <= 128)
        done = ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_128>(error, stream, h, step, s);
    else if (n <= 256)
        done = ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_256>(error, stream, h, step, s);
    else if (n <= 512)
        done = ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_512>(error, stream, h, step, s);
    if (!done) done = ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_1024>(error, stream, h, step, s);
    if (!done && *error == cudaSuccess) *error = cudaErrorInvalidConfiguration;
}

/* Right-hand side and solves along x by the march, of rows of Q warps; returns 0 where it needs more shared memory than
   there is. As many warps as have registers, in several blocks where rows have one: these compute while others wait. */
template <int KIND, int Q>
static inline int ADI3D_F(p_device_march_x)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                            const ADI3D_F(p_step) & step)
{
    enum {
        K = 8,
        MORE = sizeof(ADI3D_R) == 4 && KIND < 2 && Q < 4,
        ROWS = Q == 1 ? 4 : (MORE ? 12 : 8) / Q,
        BLOCKS = Q > 1                               ? 1
                 : sizeof(ADI3D_R) == 8 || KIND == 2 ? 2
                 : KIND == 1                         ? 3
                                                     : 4,
        FACTORS = ADI3D_P_ALONE(0) && Q == 1 ? 32 * TRID_WARP_FACTOR_LEN(K) : 0,
        TABLES = 32 * K * Q * (4 + (int)ADI3D_M(numbers_of_x)) + FACTORS + 24 * Q * ROWS
    };
    const size_t bytes = sizeof(ADI3D_R) * (TABLES + ADI3D_P_SLOTS * (KIND ? 2 : 1) * ADI3D_P_PLANE(K, Q, ROWS));
    const int blocks = (h.t.n[1] + ROWS - 1) / ROWS, most = h.shared / ((int)bytes + 1024);
    const int sections = adi3d_p_sections(h.t.n[2], blocks, (most < BLOCKS ? most : BLOCKS) * h.processors, 3);
    if (bytes > (size_t)h.shared) return 0;
    if (FACTORS > 0 && KIND == 0 && h.fresh)
        ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_factor) < 0, K, 32 >, dim3(1), dim3(32), 0, h, step);
    ADI3D_F(p_launch)
    (error, stream, ADI3D_F(p_device_still_x) < KIND, K, Q, ROWS, BLOCKS >, dim3((unsigned)blocks, (unsigned)sections),
     dim3(32 * Q * ROWS), bytes, h, step);
    return 1;
}

/* The same, by the march if the step has no changes, else point by point. */
template <int Q>
static inline void ADI3D_F(p_device_rows_of)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                             const ADI3D_F(p_step) & step, int s)
{
    enum { ROWS = 8 / Q };
    const dim3 blocks((unsigned)((h.t.n[1] + ROWS - 1) / ROWS), (unsigned)h.t.n[2]);
    const int done = step.changes      ? 0
                     : s == 0          ? ADI3D_F(p_device_march_x)<0, Q>(error, stream, h, step)
                     : step.pace.about ? ADI3D_F(p_device_march_x)<1, Q>(error, stream, h, step)
                                       : ADI3D_F(p_device_march_x)<2, Q>(error, stream, h, step);
    if (!done)
        ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_any_x) < 8, Q, ROWS >, blocks, dim3(256), 0, h, step, s);
}

/* Those of rows as long as the axis. */
template <int Unused>
static inline void ADI3D_F(p_device_x)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                       const ADI3D_F(p_step) & step, int s)
{
    h.t.n[0] <= 256   ? ADI3D_F(p_device_rows_of)<1>(error, stream, h, step, s)
    : h.t.n[0] <= 512 ? ADI3D_F(p_device_rows_of)<2>(error, stream, h, step, s)
                      : ADI3D_F(p_device_rows_of)<4>(error, stream, h, step, s);
}

/* A step, and what happens at its end. */
template <int Unused>
static inline void ADI3D_F(p_device_step)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                          const ADI3D_F(p_step) & step)
{
    const dim3 rows((unsigned)h.t.n[1], (unsigned)h.t.n[2]), threads(ADI3D_F(p_device_threads));
    const int date = step.pace.date;
    for (int s = 0; s < step.pace.stages; s++) {
        ADI3D_F(p_device_x)<Unused>(error, stream, h, step, s);
        if (step.changes && !(s && step.pace.about)) {
            ADI3D_F(p_device_along)<1, 1>(error, stream, h, step, s);
            ADI3D_F(p_device_along)<2, 1>(error, stream, h, step, s);
        } else {
            ADI3D_F(p_device_along)<1, 0>(error, stream, h, step, s);
            ADI3D_F(p_device_along)<2, 0>(error, stream, h, step, s);
        }
    }
    const fd_date *event = adi3d_p_event(&h.problem, date);
    if (event && event->what != FD_RECORD)
        ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_date) < Unused >, rows, threads, 0, h, date, *event);
    if (event && (event->what & FD_RECORD))
        ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_values) < Unused >, dim3(1), dim3(64), 0, h, 1 + date);
}

/* The tables, made here an axis at a time, and the parameters, to the device. Copies from memory that is not locked
   have left it when the call returns. */
template <int Unused>
static inline fd_status ADI3D_F(p_device_tables)(cudaError_t *error, cudaStream_t stream, const adi3d_problem *problem,
                                                 const ADI3D_M(parameters) * parameters, ADI3D_F(p_device) * h,
                                                 const adi3d_result *result)
{
    enum { MOST = 1024 * (sizeof(double) + sizeof(ADI3D_G(fd_cell)) + ADI3D_M(p_most) * sizeof(ADI3D_R)) + 1024 };
    FD_P_ALIGN unsigned char made[MOST];
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    ADI3D_F(p_tables) t;
    for (int d = 0; d < 3 && !status.what; d++) {
        const size_t bytes = ADI3D_F(p_axis_lay_out)(d, problem->axis[d].points, made, &t);
        status = ADI3D_F(p_axis)(problem, parameters, d, &t);
        h->t.at[d] = t.at[d];
        if (result->coordinates[d]) memcpy(result->coordinates[d], t.x[d], (size_t)t.n[d] * sizeof(double));
        if (*error == cudaSuccess)
            *error = cudaMemcpyAsync((void *)h->t.x[d], made, bytes, cudaMemcpyHostToDevice, stream);
    }
    if (*error == cudaSuccess)
        *error = cudaMemcpyAsync((void *)h->parameters, parameters, sizeof *parameters, cudaMemcpyHostToDevice, stream);
    return status;
}

/* All of a march but for its results, in order on the stream. */
template <int Unused>
static inline fd_status ADI3D_F(p_device_march)(cudaError_t *error, cudaStream_t stream, const adi3d_problem *problem,
                                                const ADI3D_M(parameters) * parameters, ADI3D_F(p_device) & h)
{
    enum { SOME = 32 }; /* steps made at a time; and after so many, who wants to know of progress is waited for */
    const dim3 rows((unsigned)h.t.n[1], (unsigned)h.t.n[2]), threads(ADI3D_F(p_device_threads));
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    fd_step some[SOME];
    ADI3D_F(p_step) step, before = {}; /* before the first step there is none: not a number of it counts */
    int steps = 0;
    ADI3D_R *const grid[4] = {h.u, h.d, h.z, h.extra};
    const fd_times times = ADI3D_M(p_times)(problem);
    fd_schedule_part(&times, 0, 0, NULL, &steps);
    h.longest = adi3d_p_longest_step(&times);
    for (int g = 0; g < 4; g++)
        if (grid[g] && *error == cudaSuccess)
            *error = cudaMemsetAsync(grid[g], 0, (size_t)h.elements * sizeof(ADI3D_R), stream);
    if (*error == cudaSuccess) *error = cudaMemsetAsync(h.lost, 255, sizeof *h.lost + sizeof *h.untrue, stream);
    if (*error == cudaSuccess)
        *error = cudaMemsetAsync(h.weak, 0, 4 * sizeof *h.weak, stream); /* given, largest, too_fast too */
    ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_begin) < Unused >, rows, threads, 0, h);
    for (int end = 0; end < 2; end++) { /* a step without numbers is for the loop below to refuse */
        const int k = end ? steps - 1 : 0;
        fd_schedule_part(&times, k, 1, some, &steps);
        if (!ADI3D_F(p_step_of)(problem, parameters, some, k, &step).what)
            ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_count) < Unused >, rows, threads, 0, h, step, end);
    }
    for (int k = 0; k < steps && *error == cudaSuccess; k++) {
        if (k % SOME == 0) fd_schedule_part(&times, k, SOME, some, &steps);
        status = ADI3D_F(p_step_of)(problem, parameters, &some[k % SOME], k, &step);
        if (status.what) break;
        h.fresh = k == 0 || step.pace.size != before.pace.size ||
                  !ADI3D_G(fd_p_same)(ADI3D_M(p_numbers)(3), &before.time[1][0], &step.time[1][0]);
        before = step;
        if (problem->watched) ADI3D_F(p_launch)
        (error, stream, ADI3D_F(p_device_look) < Unused >, rows, threads, 0, h, step, 1 + 2 * k, 0);
        ADI3D_F(p_device_step)<Unused>(error, stream, h, step);
        if (problem->watched || k == steps - 1) ADI3D_F(p_launch)
        (error, stream, ADI3D_F(p_device_look) < Unused >, rows, threads, 0, h, step, 2 + 2 * k, k == steps - 1);
        if (!problem->progress) continue;
        if (k % SOME == SOME - 1 && *error == cudaSuccess) *error = cudaStreamSynchronize(stream);
        problem->progress(k + 1, steps, problem->context);
    }
    ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_values) < Unused >, dim3(1), dim3(64), 0, h, 0);
    return status;
}

/* What a march that has been launched came to, and its results. Waits. */
template <int Unused>
static inline fd_status ADI3D_F(p_device_results)(cudaError_t *error, cudaStream_t stream, const adi3d_problem *problem,
                                                  fd_status status, const ADI3D_F(p_device) & h,
                                                  const adi3d_result *result)
{
    unsigned long long found[2] = {~0ull, ~0ull};
    int counted[4] = {0, 0, 0, 0}; /* weak rows, magnitudes given and left, too_fast */
    if (*error == cudaSuccess) *error = cudaMemcpyAsync(found, h.lost, sizeof found, cudaMemcpyDeviceToHost, stream);
    if (*error == cudaSuccess)
        *error = cudaMemcpyAsync(counted, h.weak, sizeof counted, cudaMemcpyDeviceToHost, stream);
    if (*error == cudaSuccess) *error = cudaStreamSynchronize(stream);
    const unsigned long long lost = found[0], untrue = found[1];
    const int too_fast = counted[3];
    /* Only final values are looked at before what the model declares. */
    if (*error == cudaSuccess && untrue != ~0ull && lost >> 32 > 0) {
        const int at = (int)(untrue >> 32 & 0x3fffffff), *n = h.t.n;
        int steps = 1;
        fd_schedule_part(&problem->times, 0, 0, NULL, &steps);
        status = fd_p_untrue((int)(untrue & 0xffffffffu), at % n[0], at / n[0] % n[1], at / n[0] / n[1],
                             untrue >> 62 ? steps - 1 : 0);
    } else if (*error == cudaSuccess && too_fast < 0 && lost >> 32 > 0) {
        const fd_times times = ADI3D_M(p_times)(problem);
        status = fd_status_of(FD_UNSTABLE, fd_p_enough(&times, too_fast), -1, -1, -1, -1, -1);
    } else if (*error == cudaSuccess && lost != ~0ull) {
        const int when = (int)(lost >> 32), at = (int)(lost & 0xffffffffu), *n = h.t.n;
        const int what = when == 0 ? FD_FINAL_NAN : when % 2 ? FD_MODEL_NAN : FD_NOT_SOLVED;
        /* A step that could not be made comes after all that was looked at. */
        status = fd_status_of(what, 0, -1, at % n[0], at / n[0] % n[1], at / n[0] / n[1], (when + 1) / 2 - 1);
    }
    if (status.what || *error != cudaSuccess) return status;
    status.weak = counted[0];
    fd_p_grown(&status, counted[1], counted[2]);
    if (status.what) return status;
    for (int date = -1; date < problem->times.dates && *error == cudaSuccess; date++) {
        const fd_date *event = adi3d_p_event(problem, date);
        if (date < 0 || (event && (event->what & FD_RECORD)))
            *error = cudaMemcpyAsync(&result->values[1 + date], &h.values[1 + date], sizeof *h.values,
                                     cudaMemcpyDeviceToHost, stream);
    }
    if (result->grid) {
        const dim3 rows((unsigned)h.t.n[1], (unsigned)h.t.n[2]), threads(ADI3D_F(p_device_threads));
        ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_pack) < Unused >, rows, threads, 0, h);
        if (*error == cudaSuccess)
            *error = cudaMemcpyAsync(result->grid, h.d, adi3d_p_points(problem) * sizeof(ADI3D_R),
                                     cudaMemcpyDeviceToHost, stream);
    }
    if (*error == cudaSuccess) *error = cudaStreamSynchronize(stream);
    return status;
}

/* Solves   how much device memory MODEL_device needs
   Returns  bytes, 0 for a problem that is none (adi3d_check) */
template <int Unused = 0>
static inline size_t ADI3D_F(device_bytes)(const adi3d_problem *problem)
{
    return adi3d_check(problem).what ? 0 : ADI3D_F(p_device_lay_out)(problem, NULL, NULL);
}

/* Solves   a problem on the current device
   Needs    pointers to the host's memory in problem, parameters and result; device memory of device_bytes, aligned as
            cudaMalloc does. Parameters are copied as they stand: pointers in them, if the payoff, faces and changes
            follow them, are to device memory, or to memory that both have
   Leaves   the result, also of a call that is refused: the call waits for the stream at its end. What is called on the
            host (numbers of axes and steps) is called before. With progress the call also waits every 32 steps: what is
            told is so far ahead at most.
   Returns  result->status.what: as host_worker, or FD_LAUNCH_FAILED, detail the cudaError_t
   Cost     three launches a stage. A step of Douglas' scheme reads and writes an array of the grid 7 times, one of two
            stages 15 times; American exercise 4 times more a stage (docs/adi3d.md). Some 100 KiB of stack */
template <int Unused = 0>
static inline int ADI3D_F(device)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                                  cudaStream_t stream, void *memory, size_t bytes, adi3d_result *result)
{
    if (!result) return FD_BAD_ARGUMENT;
    fd_status status = adi3d_check(problem);
    const size_t needed = ADI3D_F(device_bytes)<Unused>(problem);
    if (!status.what && (!result->values || !parameters)) status.what = FD_BAD_ARGUMENT;
    if (!status.what && (!memory || bytes < needed)) status.what = FD_NO_ROOM;
    if (!status.what) {
        ADI3D_F(p_device) h;
        cudaError_t error = cudaSuccess;
        ADI3D_F(p_device_lay_out)(problem, (unsigned char *)memory, &h);
        h.processors = adi3d_p_attribute(cudaDevAttrMultiProcessorCount);
        h.shared = adi3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
        status = ADI3D_F(p_device_tables)<Unused>(&error, stream, problem, parameters, &h, result);
        if (!status.what) {
            status = ADI3D_F(p_device_march)<Unused>(&error, stream, problem, parameters, h);
            status = ADI3D_F(p_device_results)<Unused>(&error, stream, problem, status, h, result);
        }
        if (error != cudaSuccess) status = fd_status_of(FD_LAUNCH_FAILED, (int)error, -1, -1, -1, -1, -1);
    }
    result->status = status;
    if (status.what && problem) ADI3D_F(p_no_results)(problem, result);
    return status.what;
}

/* ---- batches of small grids, on chip ----------------------------------------------------------------------------- */

/* A problem lies in the shared memory of a block, or of the blocks of a cluster, each of which has some planes of equal
   z: two arrays, values and differences. A first stage's values take the place of its differences; those of a second
   stage the place of the values, where it is about the first stage's, else of these, once nobody needs them for a
   right-hand side any more. What a second stage needs of F(u) is made in the first, of the same neighbours, and waits
   in device memory, which the second-level cache holds.

   A line is two lanes', 16 apart: one eliminates from its first point on, the other from its last, they exchange a row
   in the middle and go back. So each has the first row of its own, the face's, to begin with, and half of the line's
   eliminated rows in registers. Lines along z lie in several blocks' memories: a block solves its share of them through
   the others' (trid_cluster_load).

   A row has an odd pitch: lanes at neighbouring rows meet no bank twice, as those at neighbouring points of a row.
   docs/adi3d.md counts. */

/* What happens seldom stays out of the march: a call of its own. */
#ifdef __CUDACC__
#define ADI3D_P_RARE static __device__ __noinline__
#else
#define ADI3D_P_RARE TB_D
#endif
#define ADI3D_P_FAR(stem) ADI3D_P_JOIN_OF(trid_cluster, stem, ADI3D_P_SUFFIX)

/* A problem made ready, in device memory, and what its march needs there. */
typedef struct {
    ADI3D_F(p_tables) t;
    adi3d_p_plan *plan;
    fd_step *step;
    ADI3D_F(p_step) * pace;      /* of each step */
    ADI3D_R *final, *extra, *of; /* as grids without gaps: final values, exercise's multiplier, what a second stage
                                    begins with */
} ADI3D_F(p_ready);

/* What a launch is. */
typedef struct {
    adi3d_batch batch;
    const ADI3D_M(parameters) * parameters;
    unsigned char *memory;
    size_t bytes; /* of a problem */
} ADI3D_F(p_batch);

/* Hands out a problem's device memory, which has room for the batch's largest; with null, only counts. */
TB_HD size_t ADI3D_F(p_ready_lay_out)(const adi3d_batch *batch, const int *points, unsigned char *memory,
                                      ADI3D_F(p_ready) * ready)
{
    ADI3D_F(p_ready) r;
    size_t used = 0, grid = sizeof(ADI3D_R);
    memset(&r, 0, sizeof r);
    for (int d = 0; d < 3; d++) {
        ADI3D_F(p_axis_lay_out)(d, points[d], (unsigned char *)fd_p_at(memory, used), &r.t);
        used += ADI3D_F(p_axis_bytes)(d, batch->points[d]), grid *= (size_t)batch->points[d];
    }
    r.plan = (adi3d_p_plan *)fd_p_at(memory, used), used += fd_p_round(sizeof *r.plan);
    r.step = (fd_step *)fd_p_at(memory, used), used += fd_p_round((size_t)batch->steps * sizeof *r.step);
    r.pace = (ADI3D_F(p_step) *)fd_p_at(memory, used), used += fd_p_round((size_t)batch->steps * sizeof *r.pace);
    ADI3D_R **const grids[3] = {&r.final, &r.extra, &r.of};
    for (int g = 0; g < 3; g++) *grids[g] = (ADI3D_R *)fd_p_at(memory, used), used += fd_p_round(grid);
    if (ready) *ready = r;
    return used;
}

/* Problem `which` of a launch, as it lies in device memory. */
TB_D ADI3D_F(p_ready) ADI3D_F(p_ready_of)(const ADI3D_F(p_batch) & launch, int which)
{
    ADI3D_F(p_ready) ready;
    int points[3];
    for (int d = 0; d < 3; d++) {
        const int own = launch.batch.problem[which].axis[d].points, most = launch.batch.points[d];
        points[d] = own < 4 || own > most ? most : own; /* one that is refused may have any */
    }
    ADI3D_F(p_ready_lay_out)
    (&launch.batch, points, launch.memory + (size_t)which * launch.bytes, &ready);
    return ready;
}

enum { ADI3D_F(p_ready_threads) = 256 };

/* Makes problems ready, a block each: axes, steps and final values, by the functions that the other engines have. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_ready_threads))
    ADI3D_F(p_ready_kernel)(const __grid_constant__ ADI3D_F(p_batch) launch)
{
    const int which = (int)blockIdx.x, thread = trid_block_thread(), threads = trid_block_threads(), axis = thread / 32;
    const adi3d_problem *problem = &launch.batch.problem[which];
    const ADI3D_M(parameters) *parameters = &launch.parameters[which];
    const ADI3D_F(p_ready) r = ADI3D_F(p_ready_of)(launch, which);
    const int n0 = r.t.n[0], n1 = r.t.n[1], all = n0 * n1 * r.t.n[2];
    adi3d_p_plan *plan = r.plan;
    if (thread == 0) {
        plan->status = adi3d_p_check_in(&launch.batch, problem);
        plan->weak = plan->given = plan->too_fast = 0,
        plan->bad = plan->lost = plan->untrue[0] = plan->untrue[1] = FD_P_NONE;
    }
    __syncthreads();
    if (plan->status.what) return;
    if (thread % 32 == 0 && axis < 3) {
        ADI3D_F(p_tables) t = r.t;
        plan->made[axis] = ADI3D_F(p_axis)(problem, parameters, axis, &t);
        plan->at[axis] = t.at[axis];
    }
    if (thread == 96) {
        const fd_times times = ADI3D_M(p_times)(problem);
        plan->longest =
            fd_schedule(&times, launch.batch.steps, r.step, &plan->steps) ? 0 : fd_p_longest(plan->steps, r.step);
    }
    __syncthreads();
    if (thread == 0)
        for (int d = 0; d < 3 && !plan->status.what; d++) plan->status = plan->made[d];
    __syncthreads();
    if (plan->status.what) return;
    double *told[3];
    for (int d = 0; d < 3; d++) {
        double *to = launch.batch.coordinates[d];
        told[d] = to ? to + (size_t)which * (size_t)launch.batch.points[d] : NULL;
    }
    ADI3D_F(p_tell)(&r.t, launch.batch.points, told, thread, threads);
    for (int k = thread; k < plan->steps; k += threads)
        if (ADI3D_F(p_step_of)(problem, parameters, &r.step[k], k, &r.pace[k]).what) fd_p_least(&plan->bad, k);
    int given = 0;
    for (int at = thread; at < all; at += threads) {
        const int i = at % n0, j = at / n0 % n1, k = at / n0 / n1;
        r.final[at] = (ADI3D_R)ADI3D_F(p_final)(problem, parameters, &r.t, i, j, k);
        given = ADI3D_F(p_given)(problem, parameters, &r.t, i, j, k, r.final[at], given);
        if (!ADI3D_G(trid_finite)(r.final[at])) fd_p_least(&plan->lost, at);
    }
    fd_p_most(&plan->given, given);
    __syncthreads();
    const int lost = plan->lost, last = plan->steps - 1;
    if (lost != FD_P_NONE) {
        if (thread == 0)
            plan->status = fd_status_of(FD_FINAL_NAN, 0, -1, lost % n0, lost / n0 % n1, lost / n0 / n1, -1);
        return;
    }
    int weak = 0;
    for (int at = thread; at < all; at += threads)
        for (int end = 0; end < 2; end++) {
            const int i = at % n0, j = at / n0 % n1, k = at / n0 / n1, step = end ? last : 0;
            if (step >= plan->bad) continue;
            weak += ADI3D_F(p_weak)(&r.t, i, j, k, &r.pace[step]);
            if (ADI3D_F(p_untrue_at)(problem, &r.t, i, j, k, &r.pace[step])) fd_p_least(&plan->untrue[end], at);
            const int too_fast = ADI3D_F(p_too_fast)(problem, &r.t, plan->longest, i, j, k, &r.pace[step]);
            if (too_fast) fd_p_least(&plan->too_fast, too_fast);
        }
    if (weak > 0) fd_p_add(&plan->weak, weak);
    __syncthreads();
    if (thread == 0 && plan->bad != FD_P_NONE) { /* what is not finite is the march's to find, in its turn */
        const fd_status status =
            ADI3D_F(p_step_of)(problem, parameters, &r.step[plan->bad], plan->bad, &r.pace[plan->bad]);
        if (status.what == FD_TOO_FEW_NUMBERS) plan->status = status;
    }
    for (int end = 0; end < 2 && thread == 0 && !plan->status.what; end++) {
        const int at = plan->untrue[end], i = at % n0, j = at / n0 % n1, k = at / n0 / n1, step = end ? last : 0;
        if (at != FD_P_NONE)
            plan->status = fd_p_untrue(ADI3D_F(p_untrue_at)(problem, &r.t, i, j, k, &r.pace[step]), i, j, k, step);
    }
    if (thread == 0 && !plan->status.what && plan->too_fast < 0)
        plan->status = fd_status_of(FD_UNSTABLE, fd_p_enough(&problem->times, plan->too_fast), -1, -1, -1, -1, -1);
}

/* What a block knows of its problem, in its shared memory. Arrays are told by where they begin in its dynamic shared
   memory, bytes from `memory`, so that the compiler sees that they lie there; point (i, j, first + k) at
   i + pitch j + plane k. */
typedef struct {
    ADI3D_F(p_tables) t; /* cells and numbers in shared memory */
    adi3d_problem problem;
    const ADI3D_M(parameters) * parameters;
    unsigned char *memory;
    ADI3D_R *final, *extra, *of;    /* as p_ready; extra null where there is no multiplier */
    int rank, size;                 /* of the cluster */
    int each, first, planes, share; /* planes of each block; this one's; lines along z of each block */
    int pitch, plane;
    int adds;               /* does any face add to F? */
    int given;              /* the plan's, and what changes at dates add in the block's planes */
    int u, z;               /* the values; and the differences from them, later a first stage's values */
    int cell[3], number[3]; /* of the axes: number q of point i at [q n + i] */
    int places, step;       /* where each plane begins, of the first array; the step */
} ADI3D_F(p_chip);

/* Hands out a block's dynamic shared memory. Returns bytes. */
TB_HD int ADI3D_F(p_chip_lay_out)(const int *n, int size, ADI3D_F(p_chip) * chip)
{
    size_t used = 0;
    chip->size = size, chip->each = (n[2] + size - 1) / size, chip->share = (n[0] * n[1] + size - 1) / size;
    chip->pitch = n[0] | 1, chip->plane = chip->pitch * n[1];
    const size_t array = ((size_t)(chip->each * chip->plane) * sizeof(ADI3D_R) + 15) / 16 * 16;
    chip->u = (int)used, used += array;
    chip->z = (int)used, used += array;
    for (int d = 0; d < 3; d++) {
        chip->cell[d] = (int)used, used += (size_t)n[d] * sizeof(ADI3D_G(fd_cell));
        chip->number[d] = (int)used;
        used += ((size_t)(n[d] * ADI3D_M(p_numbers)(d)) * sizeof(ADI3D_R) + 15) / 16 * 16;
    }
    chip->places = (int)used, used += ((size_t)n[2] * sizeof(trid_cluster_place) + 15) / 16 * 16;
    chip->step = (int)used, used += (sizeof(ADI3D_F(p_step)) + 15) / 16 * 16;
    return (int)used;
}

/* All threads of the cluster wait for each other. */
TB_D void ADI3D_F(p_chip_meet)(const ADI3D_F(p_chip) & h)
{
    if (h.size > 1)
        trid_cluster_sync();
    else
        __syncthreads();
}

/* The value of an array at a point, wherever that is: what p_device_face and others ask of a grid. */
TB_D ADI3D_R ADI3D_F(p_device_value)(const ADI3D_F(p_chip) & h, int array, int i, int j, int k)
{
    const int owner = k / h.each, at = i + h.pitch * j + h.plane * (k - owner * h.each);
    return ADI3D_P_FAR(load)(trid_cluster_map(h.memory + array, owner) + at * (int)sizeof(ADI3D_R));
}

/* What the faces add to F of an array at point (i, j, k), at a step's start (0) or end (1). */
ADI3D_P_RARE ADI3D_R ADI3D_F(p_chip_faces)(const ADI3D_F(p_chip) & h, int array, int end, int i, int j, int k)
{
    const ADI3D_F(p_step) &step = *(const ADI3D_F(p_step) *)(h.memory + h.step);
    const double when = end ? step.to : step.from;
    return ADI3D_F(p_device_face)<0>(h, array, i, j, k, step.time[end], when) +
           ADI3D_F(p_device_face)<1>(h, array, i, j, k, step.time[end], when) +
           ADI3D_F(p_device_face)<2>(h, array, i, j, k, step.time[end], when);
}

/* What a step whose coefficients change adds to the solve along an axis. */
template <int AXIS>
ADI3D_P_RARE ADI3D_R ADI3D_F(p_chip_change)(const ADI3D_F(p_chip) & h, int i, int j, int k)
{
    return ADI3D_F(p_device_change)<AXIS>(h, *(const ADI3D_F(p_step) *)(h.memory + h.step), i, j, k);
}

/* Five values of plane k, which may be another block's, around one at `at` of its plane; `to` leads to its neighbours
   before and after it along y, and along x. */
TB_D void ADI3D_F(p_chip_five)(const ADI3D_F(p_chip) & h, unsigned char *memory, int array, int k, int at,
                               const int *to, ADI3D_R *five)
{
    const int row = (int)sizeof(ADI3D_R), there[5] = {to[0], to[1], 0, to[2], to[3]};
    const trid_cluster_place v = ((const trid_cluster_place *)(memory + h.places))[k] + array + at * row;
    TB_UNROLL
    for (int m = 0; m < 5; m++) five[m] = ADI3D_P_FAR(load)(v + there[m] * row);
}

/* The right-hand side of a first or a second stage at the block's points: of a second one that is not about the first
   one's values to `of`, else to where its differences are. A thread takes columns along z, and reads of each plane
   the five points around its own once, and its four neighbours across. */
template <int SECOND>
TB_D void ADI3D_F(p_chip_right)(const ADI3D_F(p_chip) & h, unsigned char *memory)
{
    const ADI3D_F(p_step) &step = *(const ADI3D_F(p_step) *)(memory + h.step);
    const int n0 = h.t.n[0], n1 = h.t.n[1], n2 = h.t.n[2], pitch = h.pitch, plane = h.plane, first = h.first;
    const int planes = h.planes, adds = h.adds, about = step.pace.about, twice = step.pace.stages > 1;
    const int changes = step.changes, source = SECOND ? h.z : h.u;
    const ADI3D_R *base = step.pace.base[SECOND], mixed = base[SECOND ? 2 : 0], own = base[SECOND ? 3 : 1];
    const ADI3D_R mixed_again = step.pace.base[1][0], own_again = step.pace.base[1][1], dt = step.pace.dt;
    const ADI3D_R *v = (const ADI3D_R *)(memory + source), *extra = h.extra;
    const ADI3D_R *number = (const ADI3D_R *)(memory + h.number[2]);
    const ADI3D_G(fd_cell) *cells = (const ADI3D_G(fd_cell) *)(memory + h.cell[2]);
    ADI3D_R *d = (ADI3D_R *)(memory + (SECOND ? h.u : h.z)), *of = h.of, now[ADI3D_M(p_most)];
    TB_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step.time[SECOND][q];
    TB_LOOP
    for (int e = trid_block_thread(); e < n0 * n1 && planes > 0; e += trid_block_threads()) {
        const int i = e % n0, j = e / n0, at = i + pitch * j;
        const int at_face = adds && (i == 0 || i == n0 - 1 || j == 0 || j == n1 - 1);
        const int to[4] = {j > 0 ? -pitch : 0, i > 0 ? -1 : 0, i < n0 - 1 ? 1 : 0, j < n1 - 1 ? pitch : 0};
        const ADI3D_R *of_row[3] = {v + at + to[0], v + at, v + at + to[3]};
        ADI3D_G(fd_cell) cell[3];
        ADI3D_R x[ADI3D_M(p_most)], y[ADI3D_M(p_most)], z[ADI3D_M(p_most)], low[5], here[5], high[5];
        cell[0] = ((const ADI3D_G(fd_cell) *)(memory + h.cell[0]))[i];
        cell[1] = ((const ADI3D_G(fd_cell) *)(memory + h.cell[1]))[j];
        TB_UNROLL
        for (int q = 0; q < ADI3D_M(p_numbers)(0); q++) x[q] = ((const ADI3D_R *)(memory + h.number[0]))[q * n0 + i];
        TB_UNROLL
        for (int q = 0; q < ADI3D_M(p_numbers)(1); q++) y[q] = ((const ADI3D_R *)(memory + h.number[1]))[q * n1 + j];
        ADI3D_F(p_chip_five)(h, memory, source, first > 0 ? first - 1 : 0, at, to, low);
        ADI3D_F(p_chip_five)(h, memory, source, first, at, to, here);
        TB_LOOP
        for (int local = 0, index = e + n0 * n1 * first; local < planes; local++, index += n0 * n1) {
            const int k = first + local;
            ADI3D_R begun = SECOND ? of[index] : 0;
            if (local < planes - 1) {
                high[0] = of_row[0][plane], high[1] = of_row[1][plane + to[1]], high[2] = of_row[1][plane];
                high[3] = of_row[1][plane + to[2]], high[4] = of_row[2][plane];
            } else
                ADI3D_F(p_chip_five)(h, memory, source, k < n2 - 1 ? k + 1 : k, at, to, high);
            const ADI3D_R around[27] = {0,       low[0],  0,       low[1],           low[2],  low[3],
                                        0,       low[4],  0,       of_row[0][to[1]], here[0], of_row[0][to[2]],
                                        here[1], here[2], here[3], of_row[2][to[1]], here[4], of_row[2][to[2]],
                                        0,       high[0], 0,       high[1],          high[2], high[3],
                                        0,       high[4], 0};
            cell[2] = cells[k];
            TB_UNROLL
            for (int q = 0; q < ADI3D_M(p_numbers)(2); q++) z[q] = number[q * n2 + k];
            const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(x, y, z, now);
            ADI3D_R right = ADI3D_F(p_apply)(cell, &terms, mixed, own, around);
            if (!SECOND && twice) begun = ADI3D_F(p_apply)(cell, &terms, mixed_again, own_again, around);
            if (at_face || (adds && (k == 0 || k == n2 - 1))) {
                const ADI3D_R faces = ADI3D_F(p_chip_faces)(h, source, SECOND, i, j, k);
                right += own * faces, begun += SECOND ? 0 : own_again * faces;
            }
            ADI3D_R *put = d + at + plane * local;
            if (SECOND && about)
                *put = right + begun + (*put - here[2]);
            else if (SECOND)
                of[index] = right + begun;
            else {
                if (extra) right += dt * extra[index], begun += dt * extra[index];
                if (changes) {
                    const ADI3D_R more = ADI3D_F(p_chip_change)<0>(h, i, j, k);
                    right += more, begun += about ? 0 : more;
                }
                *put = right;
                if (twice) of[index] = begun;
            }
            TB_UNROLL
            for (int m = 0; m < 5; m++) low[m] = here[m], here[m] = high[m];
            TB_UNROLL
            for (int m = 0; m < 3; m++) of_row[m] += plane;
        }
    }
}

/* Point `at` of the block's, counted along rows: its element in an array; in grids without gaps it is at + n_0 n_1
   first. */
TB_D int ADI3D_F(p_chip_at)(const ADI3D_F(p_chip) & h, int at)
{
    return at % h.t.n[0] + at / h.t.n[0] * h.pitch; /* planes follow each other as rows do */
}

/* The right-hand sides that a second stage has left in `of`, to the differences' place. */
TB_D void ADI3D_F(p_chip_fetch)(const ADI3D_F(p_chip) & h, unsigned char *memory)
{
    const int plane = h.t.n[0] * h.t.n[1];
    ADI3D_R *d = (ADI3D_R *)(memory + h.z);
    for (int e = trid_block_thread(); e < plane;
         e += trid_block_threads()) /* each point by the thread that has made it */
        for (int local = 0; local < h.planes; local++)
            d[ADI3D_F(p_chip_at)(h, e) + h.plane * local] = h.of[e + plane * (h.first + local)];
}

/* What a step whose coefficients change adds to the right-hand sides of the lines along an axis. */
template <int AXIS>
ADI3D_P_RARE void ADI3D_F(p_chip_changes)(const ADI3D_F(p_chip) & h, unsigned char *memory)
{
    const int n0 = h.t.n[0], n1 = h.t.n[1];
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes; at += trid_block_threads()) {
        const int i = at % n0, j = at / n0 % n1, k = at / n0 / n1;
        if (AXIS == 2 && adi3d_p_given(&h.problem, 1, j)) continue;
        ((ADI3D_R *)(memory + h.z))[ADI3D_F(p_chip_at)(h, at)] += ADI3D_F(p_chip_change)<AXIS>(h, i, j, h.first + k);
    }
}

/* A row of a line's end: a, b, c, and its right-hand side. */
typedef struct {
    ADI3D_R a, b, c, d;
} ADI3D_F(p_chip_row);

/* That of a face whose value is given or which has a third unknown, at point (i, j, k) of it; the line's differences
   are in one array, what they are the difference from in the other. */
template <int AXIS>
ADI3D_P_RARE ADI3D_F(p_chip_row)
    ADI3D_F(p_chip_face_row)(const ADI3D_F(p_chip) & h, int side, int i, int j, int k, int differences, int w)
{
    const ADI3D_F(p_step) &step = *(const ADI3D_F(p_step) *)(h.memory + h.step);
    const int in = side ? -1 : 1, x = AXIS == 0 ? in : 0, y = AXIS == 1 ? in : 0, z = AXIS == 2 ? in : 0;
    const double at[3] = {h.t.x[0][i], h.t.x[1][j], h.t.x[2][k]};
    ADI3D_R row[3], right = ADI3D_F(p_device_value)(h, differences, i, j, k);
    ADI3D_F(p_face_row)
    (&h.problem, h.parameters, &h.t, AXIS, side, at, step.to, step.pace.size,
     ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[1]), ADI3D_F(p_terms_at)(&h.t, i + x, j + y, k + z, step.time[1]),
     ADI3D_F(p_device_value)(h, differences, i + x, j + y, k + z), ADI3D_F(p_device_value)(h, w, i, j, k), row, &right);
    const ADI3D_F(p_chip_row) made = {row[0], row[1], row[2], right};
    return made;
}

/* Calls row(q) for the rows q < count of a lane's H, four at a time without a question in between: so that their
   instructions mix. */
template <int H, class Row>
TB_D void ADI3D_F(p_chip_each)(int count, int up, Row row)
{
    TB_UNROLL
    for (int p = 0; p < H; p += 4) {
        const int q = up ? p : H - 4 - p;
        if (q + 4 <= count) {
            TB_UNROLL
            for (int m = 0; m < 4; m++) row(up ? q + m : q + 3 - m);
        } else if (q < count) {
            TB_UNROLL
            for (int m = 0; m < 3; m++)
                if ((up ? q + m : q + 2 - m) < count) row(up ? q + m : q + 2 - m);
        }
    }
}

/* The solves along an axis of stage s, of lines of up to 2 H points, in the differences' place; along z also their sum
   with what they are the differences from. */
template <int AXIS, int H>
TB_D void ADI3D_F(p_chip_lines)(const ADI3D_F(p_chip) & h, unsigned char *memory, int s)
{
    const ADI3D_F(p_step) &step = *(const ADI3D_F(p_step) *)(memory + h.step);
    const int n0 = h.t.n[0], n1 = h.t.n[1], n = h.t.n[AXIS], pitch = h.pitch, plane = h.plane;
    const int thread = trid_block_thread(), side = thread / 16 & 1, last = s == step.pace.stages - 1;
    const int about = s && step.pace.about, differences = about ? h.u : h.z, w = about ? h.z : h.u;
    const int result = AXIS < 2 ? differences : last ? h.u : h.z, remote = AXIS == 2 && h.size > 1;
    const int kind = h.problem.face[AXIS][side], count = (n + 1 - side) / 2;
    const int from = side ? n - 1 : 0, in = side ? -1 : 1,
              given[2] = {adi3d_p_given(&h.problem, 0, 0), adi3d_p_given(&h.problem, 0, n0 - 1)};
    const int begin = AXIS == 2 ? h.rank * h.share : 0, most = n0 * n1 - begin, first_plane = h.first;
    const int lines = AXIS == 0 ? n1 * h.planes : AXIS == 1 ? n0 * h.planes : most > h.share ? h.share : most;
    const int stride = in * (AXIS == 0 ? 1 : AXIS == 1 ? pitch : plane);
    const ADI3D_R size = step.pace.size;
    const ADI3D_G(fd_cell) *cells = (const ADI3D_G(fd_cell) *)(memory + h.cell[AXIS]) + from;
    const ADI3D_R *numbers = (const ADI3D_R *)(memory + h.number[AXIS]) + from;
    const trid_cluster_place *places = (const trid_cluster_place *)(memory + h.places) + from;
    ADI3D_R now[ADI3D_M(p_most)];
    TB_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step.time[1][q];
    TB_LOOP
    for (int base = thread / 32 * 16; base < lines; base += trid_block_threads() / 2) {
        const int alive = base + thread % 16 < lines, line = begin + (alive ? base + thread % 16 : lines - 1);
        const int i = AXIS == 0 ? 0 : line % n0, j = AXIS == 0 ? line % n1 : AXIS == 1 ? 0 : line / n0;
        const int k = AXIS == 0 ? line / n1 : AXIS == 1 ? line / n0 : 0; /* of the block's planes */
        const int at = i + pitch * j + plane * k, there = at * (int)sizeof(ADI3D_R);
        const int kept = (AXIS > 0 && ((i == 0 && given[0]) || (i == n0 - 1 && given[1]))) ||
                         (AXIS == 2 && adi3d_p_given(&h.problem, 1, j));
        const int faces = alive && !kept && (kind == FD_VALUE || kind == FD_DEGENERATE);
        ADI3D_R number[3][ADI3D_M(p_most)], upper[H], y[H], above = 0, before = 0;
        ADI3D_F(p_chip_row) face = {0, 0, 0, 0};
        if (faces)
            face = ADI3D_F(p_chip_face_row)<AXIS>(h, side, AXIS == 0 ? from : i, AXIS == 1 ? from : j,
                                                  AXIS == 2 ? from : first_plane + k, differences, w);
        TB_UNROLL
        for (int d = 0; d < 3; d++) {
            const int index = d == 0 ? i : d == 1 ? j : first_plane + k;
            if (d == AXIS) continue;
            TB_UNROLL
            for (int q = 0; q < ADI3D_M(p_numbers)(d); q++)
                number[d][q] = ((const ADI3D_R *)(memory + h.number[d]))[q * h.t.n[d] + index];
        }
        /* An array's numbers of the lane's half of the line; others' lines may be about to change. */
        ADI3D_R *const near_by = (ADI3D_R *)memory + at + (in * from) * stride;
        auto take = [&](int array, ADI3D_R *v) {
            const ADI3D_R *own = near_by + array / (int)sizeof(ADI3D_R);
            if (!alive)
                ADI3D_F(p_chip_each)<H>(count, 1, [&](int q) { v[q] = 0; });
            else if (remote)
                ADI3D_F(p_chip_each)<H>(count, 1,
                                        [&](int q) { v[q] = ADI3D_P_FAR(load)(places[in * q] + array + there); });
            else
                ADI3D_F(p_chip_each)<H>(count, 1, [&](int q) { v[q] = own[q * stride]; });
        };
        take(differences, y);
        if (faces) y[0] = face.d;
        ADI3D_F(p_chip_each)<H>(count, 1, [&](int q) {
            ADI3D_R a, b, c;
            TB_UNROLL
            for (int e = 0; e < ADI3D_M(p_numbers)(AXIS); e++) number[AXIS][e] = numbers[e * n + in * q];
            const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(number[0], number[1], number[2], now);
            ADI3D_F(p_matrix)(AXIS, q == 0, cells[in * q], terms, size, &a, &b, &c);
            if (q == 0 && faces) a = face.a, b = face.b, c = face.c;
            /* What couples to the row before, and to the next. */
            const ADI3D_R to_last = side ? c : a, to_next = side ? a : c;
            const ADI3D_R pivot = ADI3D_G(trid_rcp)(q == 0 ? b : b - to_last * above);
            upper[q] = above = to_next * pivot;
            y[q] = before = (q == 0 ? y[q] : y[q] - to_last * before) * pivot;
        });
        /* The two last rows: above and before, of each other's unknowns. */
        const ADI3D_R other_above = __shfl_xor_sync(TB_FULL_WARP, above, 16);
        const ADI3D_R other = __shfl_xor_sync(TB_FULL_WARP, before, 16);
        ADI3D_R next = (other - other_above * before) * ADI3D_G(trid_rcp)(1 - above * other_above);
        ADI3D_F(p_chip_each)<H>(count, 0, [&](int q) { y[q] = next = y[q] - upper[q] * next; });
        if (AXIS == 2) {
            if (kept) take(differences, y);
            take(w, upper);
            ADI3D_F(p_chip_each)<H>(count, 1, [&](int q) { y[q] += upper[q]; });
        }
        ADI3D_R *to = near_by + result / (int)sizeof(ADI3D_R);
        if (!alive || (AXIS < 2 && kept)) continue; /* lines with given values stay */
        if (remote)
            ADI3D_F(p_chip_each)<H>(count, 1, [&](int q) {
                ADI3D_P_FAR(store)(places[in * q] + result + there, y[q]);
            });
        else
            ADI3D_F(p_chip_each)<H>(count, 1, [&](int q) { to[q * stride] = y[q]; });
    }
}

/* Step k's pace, from device memory. */
TB_D void ADI3D_F(p_chip_pace)(const ADI3D_F(p_chip) & h, unsigned char *memory, const ADI3D_F(p_step) * pace)
{
    const int words = (int)(sizeof *pace / sizeof(int));
    for (int q = trid_block_thread(); q < words; q += trid_block_threads())
        ((int *)(memory + h.step))[q] = ((const int *)pace)[q];
    __syncthreads();
}

/* What exercise makes of the block's values after a step. */
ADI3D_P_RARE void ADI3D_F(p_chip_exercise)(const ADI3D_F(p_chip) & h, unsigned char *memory)
{
    const ADI3D_R dt = ((const ADI3D_F(p_step) *)(memory + h.step))->pace.dt;
    const int plane = h.t.n[0] * h.t.n[1];
    for (int at = trid_block_thread(); at < plane * h.planes; at += trid_block_threads()) {
        ADI3D_R *u = (ADI3D_R *)(memory + h.u) + ADI3D_F(p_chip_at)(h, at), more = 0;
        ADI3D_R *extra = h.extra ? h.extra + plane * h.first + at : &more;
        *u = ADI3D_G(fd_lane_exercise)(h.problem.exercise, dt, h.final[plane * h.first + at], *u, extra);
    }
}

/* A step. What it leaves is there for all of the cluster. */
template <int H>
TB_D void ADI3D_F(p_chip_step)(const ADI3D_F(p_chip) & h, unsigned char *memory)
{
    const ADI3D_F(p_step) &step = *(const ADI3D_F(p_step) *)(memory + h.step);
    const int stages = step.pace.stages; /* the next step's may be written before all have left this one */
    TB_LOOP
    for (int s = 0; s < stages; s++) {
        const int about = s && step.pace.about, changes = step.changes && !about;
        if (s)
            ADI3D_F(p_chip_right)<1>(h, memory);
        else
            ADI3D_F(p_chip_right)<0>(h, memory);
        if (s && !about) {
            ADI3D_F(p_chip_meet)(h); /* nobody needs the first stage's values any more */
            ADI3D_F(p_chip_fetch)(h, memory);
        }
        __syncthreads();
        ADI3D_F(p_chip_lines)<0, H>(h, memory, s);
        __syncthreads();
        if (changes) {
            ADI3D_F(p_chip_changes)<1>(h, memory);
            __syncthreads();
        }
        ADI3D_F(p_chip_lines)<1, H>(h, memory, s);
        if (changes) {
            __syncthreads();
            ADI3D_F(p_chip_changes)<2>(h, memory);
        }
        ADI3D_F(p_chip_meet)(h);
        ADI3D_F(p_chip_lines)<2, H>(h, memory, s);
        ADI3D_F(p_chip_meet)(h);
    }
    if (h.problem.exercise == FD_EUROPEAN) return;
    ADI3D_F(p_chip_exercise)(h, memory);
    ADI3D_F(p_chip_meet)(h);
}

/* Value and derivatives at the spot, by one thread of the cluster. */
ADI3D_P_RARE void ADI3D_F(p_chip_values)(const ADI3D_F(p_chip) & h, adi3d_values *values)
{
    const fd_weights *at = h.t.at;
    if (h.rank > 0 || trid_block_thread() > 0) return;
    ADI3D_R around[64];
    for (int m = 0; m < 64; m++)
        around[m] = ADI3D_F(p_device_value)(h, h.u, at[0].first + m % 4, at[1].first + m / 4 % 4, at[2].first + m / 16);
    *values = ADI3D_F(p_values)(at, around);
}

/* What happens at a date, to the block's rows, a warp a row, which it reads before it writes any of it. */
ADI3D_P_RARE void ADI3D_F(p_chip_date)(ADI3D_F(p_chip) & h, unsigned char *memory, int date)
{
    enum { OF_LANE = (ADI3D_MOST_ON_CHIP + 31) / 32 };
    int added = 0;
    const fd_date event = h.problem.at_date[date];
    const int n0 = h.t.n[0], n1 = h.t.n[1], lane = trid_block_thread() % 32;
    for (int r = trid_block_thread() / 32; r < n1 * h.planes; r += trid_block_threads() / 32) {
        ADI3D_R *row = (ADI3D_R *)(memory + h.u) + h.pitch * r, kept[OF_LANE];
        const int at = n0 * (r + n1 * h.first);
        for (int m = 0, i = lane; m < OF_LANE; m++, i += 32)
            kept[m] =
                i < n0 ? ADI3D_F(p_device_event)(h, date, &event, row, at + i, i, r % n1, h.first + r / n1, &added) : 0;
        __syncwarp();
        for (int m = 0, i = lane; m < OF_LANE && i < n0; m++, i += 32) row[i] = kept[m];
    }
    if (added) fd_p_most(&h.given, added);
}

/* The least index, over all threads of the cluster; `least` is a word of shared memory. */
TB_D int ADI3D_F(p_chip_least)(const ADI3D_F(p_chip) & h, int index, int *least)
{
    if (trid_block_thread() == 0) *least = FD_P_NONE;
    __syncthreads();
    if (index != FD_P_NONE) fd_p_least(least, index);
    ADI3D_F(p_chip_meet)(h);
    for (int r = 0; r < h.size; r++) {
        const float bits = trid_cluster_load_f32(trid_cluster_map(least, r));
        int other;
        memcpy(&other, &bits, sizeof other);
        index = other < index ? other : index;
    }
    ADI3D_F(p_chip_meet)(h);
    return index;
}

/* The first point of the grid whose value is not finite; with terms, whose terms are not, at the step's start or
   end. In *largest the largest magnitude of this thread's. */
ADI3D_P_RARE int ADI3D_F(p_chip_lost)(const ADI3D_F(p_chip) & h, unsigned char *memory, int terms, int *least,
                                      int *largest)
{
    const ADI3D_F(p_step) &step = *(const ADI3D_F(p_step) *)(memory + h.step);
    const int n0 = h.t.n[0], n1 = h.t.n[1], first = n0 * n1 * h.first;
    int lost = FD_P_NONE, most = 0;
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes && lost == FD_P_NONE; at += trid_block_threads()) {
        const ADI3D_R value = ((const ADI3D_R *)(memory + h.u))[ADI3D_F(p_chip_at)(h, at)];
        int good = 1;
        for (int end = 0; end < 2 && terms; end++)
            good &= ADI3D_F(p_finite)(
                ADI3D_F(p_terms_at)(&h.t, at % n0, at / n0 % n1, h.first + at / n0 / n1, step.time[end]));
        if (!terms) good = ADI3D_G(trid_finite)(value);
        if (!good) lost = first + at;
        most = fd_p_larger(most, (double)value);
    }
    *largest = most;
    return ADI3D_F(p_chip_least)(h, lost, least);
}

/* The status of a march that ended, by the magnitudes of all threads. */
ADI3D_P_RARE fd_status ADI3D_F(p_chip_ended)(const ADI3D_F(p_chip) & h, int weak, int largest, int *least)
{
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    const int given = -ADI3D_F(p_chip_least)(h, -h.given, least);
    fd_p_grown(&status, given, -ADI3D_F(p_chip_least)(h, -largest, least));
    status.weak = weak;
    return status;
}

/* Marches the problem. `watched`: looks for what is not finite before and after each step, not only at the end. */
template <int H>
TB_D fd_status ADI3D_F(p_chip_march)(ADI3D_F(p_chip) & h, unsigned char *memory, const ADI3D_F(p_ready) & ready,
                                     int watched, int *least, adi3d_values *values)
{
    const int n0 = h.t.n[0], n1 = h.t.n[1], first = n0 * n1 * h.first, steps = ready.plan->steps;
    int lost = FD_P_NONE, what = FD_NOT_SOLVED, largest = 0, k;
    for (int at = trid_block_thread(); at < n0 * n1 * h.planes; at += trid_block_threads()) {
        ((ADI3D_R *)(memory + h.u))[ADI3D_F(p_chip_at)(h, at)] = h.final[first + at];
        if (h.extra) h.extra[first + at] = 0;
    }
    ADI3D_F(p_chip_meet)(h);
    TB_LOOP
    for (k = 0; k < steps; k++) {
        if (k == ready.plan->bad) return fd_status_of(FD_MODEL_NAN, 0, -1, -1, -1, -1, k);
        ADI3D_F(p_chip_pace)(h, memory, &ready.pace[k]);
        if (watched && (lost = ADI3D_F(p_chip_lost)(h, memory, 1, least, &largest)) != FD_P_NONE) {
            what = FD_MODEL_NAN;
            break;
        }
        const int date = ((const ADI3D_F(p_step) *)(memory + h.step))->pace.date;
        const fd_date *event = adi3d_p_event(&h.problem, date);
        ADI3D_F(p_chip_step)<H>(h, memory);
        if (event) {
            if (event->what != FD_RECORD) {
                ADI3D_F(p_chip_date)(h, memory, date);
                ADI3D_F(p_chip_meet)(h);
            }
            if (event->what & FD_RECORD) {
                ADI3D_F(p_chip_values)(h, &values[1 + date]);
                ADI3D_F(p_chip_meet)(h);
            }
        }
        if ((watched || k == steps - 1) && (lost = ADI3D_F(p_chip_lost)(h, memory, 0, least, &largest)) != FD_P_NONE)
            break;
    }
    if (lost == FD_P_NONE) return ADI3D_F(p_chip_ended)(h, ready.plan->weak, largest, least);
    return fd_status_of(what, 0, -1, lost % n0, lost / n0 % n1, lost / n0 / n1, k);
}

/* What a block knows, and its tables. */
TB_D void ADI3D_F(p_chip_begin)(const ADI3D_F(p_batch) & launch, const ADI3D_F(p_ready) & ready, int which,
                                unsigned char *memory, ADI3D_F(p_chip) & h)
{
    const int thread = trid_block_thread(), threads = trid_block_threads();
    if (thread == 0) {
        h.t = ready.t;
        h.problem = launch.batch.problem[which], h.parameters = &launch.parameters[which], h.memory = memory;
        ADI3D_F(p_chip_lay_out)(h.t.n, trid_cluster_size(), &h);
        h.rank = trid_cluster_rank(), h.first = h.rank * h.each, h.given = ready.plan->given;
        h.planes = h.t.n[2] - h.first < h.each ? h.t.n[2] - h.first : h.each;
        if (h.planes < 0) h.planes = 0;
        h.final = ready.final, h.of = ready.of, h.extra = h.problem.exercise == FD_AMERICAN ? ready.extra : NULL;
        h.adds = 0;
        for (int d = 0; d < 3; d++) {
            h.adds |= ADI3D_F(p_adds)(&h.problem, d, 0) | ADI3D_F(p_adds)(&h.problem, d, 1);
            h.t.at[d] = ready.plan->at[d], h.t.padded[d] = h.t.n[d];
            h.t.cell[d] = (ADI3D_G(fd_cell) *)(memory + h.cell[d]), h.t.number[d] = (ADI3D_R *)(memory + h.number[d]);
        }
    }
    __syncthreads();
    for (int d = 0; d < 3; d++)
        for (int i = thread; i < h.t.n[d]; i += threads) {
            h.t.cell[d][i] = ready.t.cell[d][i];
            for (int q = 0; q < ADI3D_M(p_numbers)(d); q++)
                h.t.number[d][q * h.t.n[d] + i] = ready.t.number[d][q * ready.t.padded[d] + i];
        }
    for (int k = thread; k < h.t.n[2]; k += threads)
        ((trid_cluster_place *)(memory + h.places))[k] =
            trid_cluster_map(memory, k / h.each) + k % h.each * h.plane * (int)sizeof(ADI3D_R);
    __syncthreads();
}

/* A block's part in its problem: all steps. */
template <int H, int THREADS>
TRID_KERNEL void __launch_bounds__(THREADS) ADI3D_F(p_chip_kernel)(const __grid_constant__ ADI3D_F(p_batch) launch)
{
    TRID_DYNAMIC_SHARED(memory);
    __shared__ ADI3D_F(p_chip) h;
    __shared__ int least;
    const adi3d_batch *batch = &launch.batch;
    const int which = (int)blockIdx.x / trid_cluster_size(), thread = trid_block_thread(),
              threads = trid_block_threads();
    const ADI3D_F(p_ready) ready = ADI3D_F(p_ready_of)(launch, which);
    const int n0 = ready.t.n[0], n1 = ready.t.n[1], rank = trid_cluster_rank();
    adi3d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    fd_status status = ready.plan->status;
    if (trid_cluster_size() > 1) trid_cluster_sync(); /* all are there */
    if (!status.what) {
        ADI3D_F(p_chip_begin)(launch, ready, which, memory, h);
        TB_LOOP
        for (int watched = 0; watched < 2; watched++) {
            status = ADI3D_F(p_chip_march)<H>(h, memory, ready, watched, &least, values);
            if (!status.what) break;
            ADI3D_F(p_chip_meet)(h);
        }
    }
    if (status.what) {
        if (rank == 0) ADI3D_F(p_nothing)(batch, which, thread, threads);
    } else {
        const size_t m0 = (size_t)batch->points[0], m1 = (size_t)batch->points[1];
        ADI3D_R *grid = (ADI3D_R *)batch->grid;
        if (grid) grid += (size_t)which * m0 * m1 * (size_t)batch->points[2];
        ADI3D_F(p_chip_values)(h, &values[0]);
        for (int at = thread; at < n0 * n1 * h.planes && grid; at += threads)
            grid[(size_t)(at % n0) + m0 * ((size_t)(at / n0 % n1) + m1 * (size_t)(h.first + at / n0 / n1))] =
                ((const ADI3D_R *)(memory + h.u))[ADI3D_F(p_chip_at)(h, at)];
    }
    if (rank == 0 && thread == 0) batch->status[which] = status;
    if (trid_cluster_size() > 1) trid_cluster_sync(); /* no block ends while another reads what it has */
}

/* A kernel, and how it is launched: bytes of shared memory, 0 if there is none for a batch. */
typedef struct {
    void (*kernel)(ADI3D_F(p_batch));
    int size, threads, bytes;
} ADI3D_F(p_chosen);

/* How a batch is to be launched: by the smallest cluster whose blocks hold it; by larger ones as long as all problems
   run at once and its blocks have four planes; or by one of the size asked for. What a problem gives does not depend on
   it, to the bit. */
template <int H, int THREADS>
static inline ADI3D_F(p_chosen) ADI3D_F(p_choose)(const adi3d_batch *batch, int asked)
{
    ADI3D_F(p_chosen) best = {ADI3D_F(p_chip_kernel) < H, THREADS >, 1, THREADS, 0};
    const int most = adi3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int processors = adi3d_p_attribute(cudaDevAttrMultiProcessorCount), *n = batch->points;
    if (trid_allow_shared(best.kernel) != cudaSuccess) return best;
    for (int size = 1; size <= 16; size *= 2) {
        ADI3D_F(p_chip) chip;
        const int bytes = ADI3D_F(p_chip_lay_out)(n, size, &chip);
        if (bytes + (int)sizeof chip + 64 > most || (asked && size != asked)) continue;
        if (best.bytes > 0 && (size > 8 || (long long)size * batch->problems > processors || n[2] < 4 * size)) break;
        /* As many lanes as lines need in as few rounds as there may be; fewer where several blocks share a
           processor. */
        const int row = n[1] > n[0] ? n[1] : n[0], lines = row * chip.each > chip.share ? row * chip.each : chip.share;
        const int lanes = (2 * lines + 31) / 32 * 32;
        int beside = most / (bytes + 2048);
        beside = beside > THREADS / 128 ? THREADS / 128 : beside;
        beside = beside < 1 ? 1 : beside;
        const int limit = THREADS / beside, rounds = (lanes + limit - 1) / limit;
        const int threads = ((lanes + rounds - 1) / rounds + 31) / 32 * 32;
        if (size > 1 && trid_clusters(best.kernel, size, dim3((unsigned)threads), (size_t)bytes) < 1) break;
        best.size = size, best.threads = threads, best.bytes = bytes;
    }
    return best;
}

/* The one that serves a batch. */
template <int Unused>
static inline ADI3D_F(p_chosen) ADI3D_F(p_chosen_for)(const adi3d_batch *batch)
{
    /* As many threads as have registers for half a line of pivots and differences. */
    enum {
        MOST = ADI3D_MOST_ON_CHIP,
        FEW = sizeof(ADI3D_R) == 4 ? 512 : 256,
        FEWER = sizeof(ADI3D_R) == 4 ? 384 : 256
    };
    const ADI3D_F(p_chosen) none = {NULL, 0, 0, 0};
    int longest = 0;
    for (int d = 0; d < 3; d++) longest = batch->points[d] > longest ? batch->points[d] : longest;
    if (longest <= 32) return ADI3D_F(p_choose)<16, FEW>(batch, 0);
    if (longest <= MOST) return ADI3D_F(p_choose)<MOST / 2, FEWER>(batch, 0);
    return none;
}

/* Makes the problems ready, and marches them. */
template <int Unused>
static inline cudaError_t ADI3D_F(p_onchip)(const ADI3D_F(p_batch) & launch, ADI3D_F(p_chosen) chosen,
                                            cudaStream_t stream)
{
    const unsigned problems = (unsigned)launch.batch.problems;
    const cudaError_t error = trid_launch(ADI3D_F(p_ready_kernel) < Unused >, dim3(problems),
                                          dim3(ADI3D_F(p_ready_threads)), 0, stream, launch);
    if (error != cudaSuccess) return error;
    const dim3 blocks(problems * (unsigned)chosen.size), threads((unsigned)chosen.threads);
    return chosen.size > 1
               ? trid_launch_cluster(chosen.kernel, blocks, chosen.size, threads, (size_t)chosen.bytes, stream, launch)
               : trid_launch(chosen.kernel, blocks, threads, (size_t)chosen.bytes, stream, launch);
}

/* What a call that is refused leaves, if the batch says where and how much: all bits set, which is FD_BAD_ARGUMENT as a
   status, and NaN elsewhere. Returns what is wrong. */
template <int Unused>
static inline fd_status ADI3D_F(p_refuse)(const adi3d_batch *batch, int wrong, cudaStream_t stream)
{
    const fd_status status = fd_status_of(wrong, 0, -1, -1, -1, -1, -1);
    if (adi3d_p_sizes(batch) || batch->problems == 0) return status;
    size_t bytes[6] = {sizeof(fd_status), (size_t)(1 + batch->dates) * sizeof(adi3d_values), sizeof(ADI3D_R)};
    void *const at[6] = {batch->status,         batch->values,         batch->grid,
                         batch->coordinates[0], batch->coordinates[1], batch->coordinates[2]};
    for (int d = 0; d < 3; d++)
        bytes[2] *= (size_t)batch->points[d], bytes[3 + d] = (size_t)batch->points[d] * sizeof(double);
    for (int k = 0; k < 6; k++)
        if (at[k] && cudaMemsetAsync(at[k], 255, (size_t)batch->problems * bytes[k], stream) != cudaSuccess)
            cudaGetLastError(); /* of a pointer that is not the device's: no later call shall find it */
    return status;
}

/* Solves   do the problems of a batch fit on the current device's chip?
   Returns  how many blocks each takes, 1, 2, 4, 8 or 16; 0: none, or no batch (adi3d_batch_check but for pointers) */
template <int Unused = 0>
static inline int ADI3D_F(onchip_blocks)(const adi3d_batch *batch)
{
    if (adi3d_p_sizes(batch)) return 0;
    const ADI3D_F(p_chosen) chosen = ADI3D_F(p_chosen_for)<Unused>(batch);
    return chosen.bytes > 0 ? chosen.size : 0;
}

/* Solves   how much device memory MODEL_onchip needs
   Returns  bytes, for which its pointers may still be null; 0 for a batch that is none */
template <int Unused = 0>
static inline size_t ADI3D_F(onchip_bytes)(const adi3d_batch *batch)
{
    return adi3d_p_sizes(batch) ? 0
                                : (size_t)batch->problems * ADI3D_F(p_ready_lay_out)(batch, batch->points, NULL, NULL);
}

/* Solves   the problems of a batch, each by the block or the cluster of blocks that holds its grid, all steps in one
            kernel
   Needs    a batch whose pointers, and those in its problems, are to the device's memory, as are parameters (of each
            problem) and memory (of onchip_bytes, aligned to 128)
   Leaves   status, values, grids and coordinates, once the stream has come so far; NaN for a problem that has none;
            where the call is refused FD_BAD_ARGUMENT in each, and NaN
   Returns  what is FD_OK; as adi3d_batch_check; FD_NO_ROOM: grids that no cluster of the current device holds
            (MODEL_onchip_blocks), less memory, or none; or FD_LAUNCH_FAILED, detail the cudaError_t
   Cost     two launches, no transfer; two arrays of shared memory a problem, three of device memory, which a march of
            one stage does not touch without exercise */
template <int Unused = 0>
static inline fd_status ADI3D_F(onchip)(const adi3d_batch *batch, const ADI3D_M(parameters) * parameters,
                                        cudaStream_t stream, void *memory, size_t bytes)
{
    int wrong = adi3d_batch_check(batch);
    if (!wrong && batch->problems == 0) return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    if (!wrong && !parameters) wrong = FD_BAD_ARGUMENT;
    if (!wrong && (!memory || bytes<ADI3D_F(onchip_bytes) < Unused>(batch))) wrong = FD_NO_ROOM;
    if (wrong) return ADI3D_F(p_refuse)<Unused>(batch, wrong, stream);
    const ADI3D_F(p_chosen) chosen = ADI3D_F(p_chosen_for)<Unused>(batch);
    if (chosen.bytes == 0) return ADI3D_F(p_refuse)<Unused>(batch, FD_NO_ROOM, stream);
    ADI3D_F(p_batch) launch;
    launch.batch = *batch, launch.parameters = parameters, launch.memory = (unsigned char *)memory;
    launch.bytes = ADI3D_F(p_ready_lay_out)(batch, batch->points, NULL, NULL);
    const cudaError_t error = ADI3D_F(p_onchip)<Unused>(launch, chosen, stream);
    return fd_status_of(error == cudaSuccess ? FD_OK : FD_LAUNCH_FAILED, (int)error, -1, -1, -1, -1, -1);
}
#undef ADI3D_P_RARE
#undef ADI3D_P_FAR
}
#endif /* TB_LAUNCHES */

/* ---- the one of the two that the compiler has -------------------------------------------------------------------- */

#if TB_LAUNCHES
extern "C++" {
/* Solves   memory that the next needs
   Returns  bytes, 0 for a problem that is none (adi3d_check) */
template <int Unused = 0>
static inline size_t ADI3D_F(bytes)(const adi3d_problem *problem)
{
    return ADI3D_F(device_bytes)<Unused>(problem);
}

/* Solves   a problem: on the current GPU, where the program was compiled for one; else by all threads of the host
   Needs    memory of so many bytes from adi3d_allocate
   Leaves   the result, in the host's memory
   Returns  as MODEL_device, or as MODEL_host */
template <int Unused = 0>
static inline int ADI3D_F(solve)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, void *memory,
                                 size_t bytes, adi3d_result *result)
{
    return ADI3D_F(device)<Unused>(problem, parameters, 0, memory, bytes, result);
}
}
#elif TB_HOST_SCOPE
TB_HOST size_t ADI3D_F(bytes)(const adi3d_problem *problem)
{
    return ADI3D_F(host_bytes)(problem, adi3d_p_threads());
}
TB_HOST int ADI3D_F(solve)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, void *memory,
                           size_t bytes, adi3d_result *result)
{
    return ADI3D_F(host)(problem, parameters, adi3d_p_threads(), memory, bytes, result);
}
#endif

#undef ADI3D_R
#undef ADI3D_P_LANES
#undef ADI3D_F
#undef ADI3D_G
#undef ADI3D_P_JOIN_G
#undef ADI3D_P_JOIN_G2
#endif /* ADI3D_P_REAL */
#endif /* ADI3D_MODEL */
