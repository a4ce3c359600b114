/* problem.h - a room of the solvers in pde/: the user's input and output for one, two and three factors (fd_problem,
   fd_batch, fd_values, fd_suggestion), and the checks before anything is computed.
   MIT licence, see LICENSE.

   Common contract of fd1d.h, adi2d.h and adi3d.h:
     Problem  docs/zero.md says what 0 means in each field. Where faces meet, a value given along x takes precedence
              over one along y, and a value given along y over one along z.
     Status   A call returns an int, FD_OK or an error of the call. Each problem has an fd_status. A problem that is
              refused or fails has NaN in its results, and does not affect the others. A call that is refused leaves
              its error in the status of each problem (with the axis if batch.points is out of range) and NaN in all
              results, unless their sizes are wrong (fd_p_results_sized). Statuses in device memory become
              FD_BAD_ARGUMENT instead, without an axis, whatever the error.
     Checks   Before the march, the model's numbers are checked at all points and in all steps (FD_MODEL_NAN), and final
              values at all points (FD_FINAL_NAN). The terms are checked at all points whose value is not given, in the
              first step, the last step and a step chosen for each line (with one factor, for each point):
              FD_MODEL_NAN; FD_ILL_POSED (a diffusion is negative, or mixed terms are too large for the diffusions:
              mixed^2 > 4 diffusion_i diffusion_j for a pair of axes or, with several pairs, a matrix of correlations
              that is not positive semidefinite); FD_OUTWARD (a drift points out of an FD_DEGENERATE face and would
              cross more than a cell by maturity); FD_NOT_DEGENERATE (a diffusion at an FD_DEGENERATE face exceeds a
              hundredth of that at the next point); and, for broken promises of the model, FD_MIXED_UNDECLARED,
              FD_CHANGES_UNDECLARED and FD_NOT_INDEPENDENT.
     Matrices They are solved without pivoting. At a face, couplings of the wrong sign that would prevent dominance act
              on the old values (fd_lane_lag). Inner rows that lack dominance, as where a drift exceeds its diffusion
              and is discretised centrally, are solved unchanged. status.not_dominant counts rows of both kinds in the
              first and the last step.
     Growth   status.growth is the factor by which the largest magnitude grew. If it exceeds FD_MOST_GROWTH, the march
              has failed (FD_GREW). Below that bound, results may still be finite nonsense if theta is below that of
              fd_scheme_theta or, where drifts exceed diffusion, if theta or the steps are not as fd_scheme_theta_drift
              asks.
     Memory   The caller provides it. Only adi3d_allocate allocates; nothing is printed, and no state is retained. */

#ifndef FD_COMMON_PROBLEM_H
#define FD_COMMON_PROBLEM_H

#include "../fd.h"

/* Marks a function that kernels do not inline. If inlined, rare code would take registers from a march, and set-up
   would spend its time fetching instructions. */
#if defined __CUDACC__ || defined __CUDACC_RTC__
#define FD_P_CALLED static __host__ __device__ __noinline__
#define FD_P_CALLED_D static __device__ __noinline__
#else
#define FD_P_CALLED TB_HD
#define FD_P_CALLED_D TB_D
#endif

/* A problem. It has as many axes as its model has factors; further axes are not read. Pointers are to memory that the
   called function reads: host memory for functions that run on the host and for MODEL_device and MODEL_solve of three
   factors, device memory for all others. */
typedef struct {
    fd_axis axis[3];         /* along x, y and z */
    const double *points[3]; /* the points, axis.points of them; null: they are computed from axis */
    int face[3][2];          /* FD_LINEAR .., at the first and the last point of each axis */
    fd_times times;          /* times.theta is the scheme's; 0: fd_scheme_theta. FD_EXPLICIT and FD_BACKWARD_EULER steps
                                are Douglas' with theta 0 and 1. Explicit steps that are too long are refused
                                (FD_UNSTABLE), and so are 2^30 / n steps or more if the model has n numbers of t
                                (FD_BAD_TIMES) */
    const fd_date *at_date;  /* the events at each of the times.dates dates; null: none. Not read if times.dates is 0 */
    int scheme;              /* FD_DOUGLAS .. */
    int coefficients;        /* FD_BOTH_ENDS .. */
    int finals;              /* FD_AT_POINTS .. */
    int kinks;               /* for FD_TOLD: 0 .. 4 */
    double kink[4];          /* increasing */
    int exercise;            /* FD_EUROPEAN .. */
    const double *spot;      /* batch.spots points at which values are computed, each with all its coordinates */
    void (*progress)(int step, int steps, void *context); /* null, or called after each step with the number of steps
                                                             done: by all marches of two and three factors on the host,
                                                             and by MODEL_device of three. One thread makes all calls
                                                             for a problem; threads with other problems may call at the
                                                             same time. A GPU may lag up to 31 steps behind the calls */
    void *context;           /* the argument of progress */
} fd_problem;

/* The value at a spot, its first and second derivatives along each axis, and its mixed derivatives for the pairs of
   axes 12, 13 and 23. */
typedef struct {
    double value, first[3], second[3], mixed[3];
} fd_values;

/* A batch: the data that its problems share, the problems, and their results. */
typedef struct {
    int problems;  /* 0 or more */
    int points[3]; /* the most points of any problem, for as many axes as the model has factors */
    int steps;     /* the most steps of any problem: times.steps + (1 + times.dates) * times.halves suffice, unless
                      dates are closer together than steps; fd_schedule counts the steps */
    int dates;     /* the most dates of any problem */
    int spots;     /* the spots of each problem, 0 or more */
    const fd_problem *problem;
    fd_status *status;      /* of each problem */
    fd_values *values;      /* for each problem, (1 + dates) x spots of them: at time 0, then at each date; those of
                               dates without FD_RECORD are not written, except as NaN if the problem fails. May be
                               null if there are no spots */
    void *grid;             /* null; or, for each problem, 1 + dates grids at the same times, of points[0] x points[1] x
                               points[2] numbers in the precision of the call: point (i, j, k) at
                               i + points[0] (j + points[1] k); NaN beyond the last point of an axis */
    double *coordinates[3]; /* for each axis d: null; or, for each problem, the coordinates of points[d] points; NaN
                               beyond the last */
    int kind;               /* for two factors: a promise about all steps (ADI2D_TWO_STAGES ..) */
} fd_batch;

/* The points and steps for a tolerance (MODEL_suggest), and the results of the trials. */
typedef struct {
    int points[3], steps;     /* for axis.points and times.steps */
    double value;             /* at the spot, extrapolated from the trials. Its own error is not estimated, and may
                                 exceed the tolerance; for a value within it, solve with the points and steps above */
    double in_space, in_time; /* the errors of the coarsest trial, as estimated */
    double order;             /* the order of the error in time, 1 .. 2 */
    fd_status status;         /* the status of the first trial that failed, or of the last trial */
} fd_suggestion;

/* For two factors: how many values are valid for batch.kind, and the status of any other value (ADI2D_BAD_KIND). Then
   the most points of an axis for one and three factors (FD1D_MOST, ADI3D_MOST), and for two. */
enum { FD_P_KINDS = 3, FD_P_BAD_KIND = -62, FD_P_MOST_POINTS = 1024, FD_P_MOST_OF_TWO = 32768 };

/* Returns the most points of an axis. */
TB_HD int fd_p_most_points(int factors)
{
    return factors == 2 ? FD_P_MOST_OF_TWO : FD_P_MOST_POINTS;
}

/* Returns the first axis with too few or too many points; -1: none. */
TB_HD int fd_p_axis_refused(int factors, const fd_batch *batch)
{
    for (int d = 0; d < factors; d++)
        if (batch->points[d] < 4 || batch->points[d] > fd_p_most_points(factors)) return d;
    return -1;
}

/* Returns whether the sizes of a batch's results are valid, whatever else is wrong with the batch. */
TB_HD int fd_p_results_sized(int factors, const fd_batch *batch)
{
    double all = 1; /* points of a grid, which must fit an int */
    int sized = batch && batch->problems >= 0 && batch->dates >= 0 && batch->dates <= FD_P_MOST && batch->spots >= 0;
    for (int d = 0; d < factors && sized; d++) {
        sized = batch->points[d] >= 4 && batch->points[d] <= FD_P_MOST_OF_TWO;
        all *= batch->points[d];
    }
    return sized && all < 2147483648.0;
}

/* Checks the sizes on which the memory of a batch depends; its pointers may still be null. */
TB_HD int fd_p_sizes(int factors, const fd_batch *batch)
{
    if (!batch) return FD_BAD_ARGUMENT;
    if (factors == 2 && (batch->kind < 0 || batch->kind >= FD_P_KINDS)) return FD_P_BAD_KIND;
    if (fd_p_axis_refused(factors, batch) >= 0) return FD_BAD_SIZE;
    return fd_p_results_sized(factors, batch) && batch->steps >= 1 && batch->steps <= FD_P_MOST ? FD_OK : FD_BAD_SIZE;
}

/* Checks a batch.
   Returns  FD_OK, FD_BAD_ARGUMENT for a null pointer, FD_BAD_SIZE for a count out of range (the points of a grid must
            be fewer than 2^31), or for two factors ADI2D_BAD_KIND */
TB_HD int fd_batch_check(int factors, const fd_batch *batch)
{
    const int wrong = fd_p_sizes(factors, batch);
    if (wrong || batch->problems == 0) return wrong;
    return !batch->problem || !batch->status || (batch->spots > 0 && !batch->values) ? FD_BAD_ARGUMENT : FD_OK;
}

/* Returns a problem's choices for its march. */
TB_HD fd_plan fd_p_plan(const fd_problem *problem)
{
    const fd_plan plan = {&problem->times, problem->at_date, problem->scheme, problem->coefficients,
                          problem->finals, problem->kinks,   problem->kink,   problem->exercise};
    return plan;
}

/* Checks a problem's sizes and choices, before anything is computed from them. */
TB_HD fd_status fd_p_check(int factors, const fd_batch *batch, const fd_problem *problem)
{
    for (int d = 0; d < factors; d++) {
        const int points = problem->axis[d].points;
        if (points < 4) return fd_status_of(FD_BAD_SIZE, 0, d, -1, -1, -1, -1);
        if (points > batch->points[d]) return fd_status_of(FD_TOO_MANY_POINTS, points, d, -1, -1, -1, -1);
        for (int side = 0; side < 2; side++)
            if (problem->face[d][side] < 0 || problem->face[d][side] >= FD_P_FACES)
                return fd_status_of(FD_BAD_FACE, 0, d, -1, -1, -1, -1);
    }
    if (problem->times.dates > batch->dates) return fd_p_status(FD_TOO_MANY_DATES, problem->times.dates);
    if (batch->spots > 0 && !problem->spot) return fd_p_status(FD_BAD_ARGUMENT, 0);
    for (int date = 0; date < problem->times.dates && problem->at_date; date++)
        if (fd_p_shift_axis(&problem->at_date[date]) >= factors) return fd_p_status(FD_BAD_EVENT, 1 + date);
    const fd_plan plan = fd_p_plan(problem);
    return fd_plan_check(&plan);
}

/* The faults of a problem. For each, the least index at which it was found is kept; the status reports the first fault
   in this order (fd_p_fault). */
enum {
    FD_P_AT_POINTS,    /* three, one for each axis: a point, or fd_axis_map's status minus 1 */
    FD_P_AT_TIMES = 3, /* an error in the description of the steps, or too many steps: a status */
    FD_P_AT_NUMBERS,   /* three, one for each axis: a point */
    FD_P_AT_SPOT = 7,
    FD_P_AT_TIME,
    FD_P_AT_FINAL,
    FD_P_AT_TERMS, /* the terms at the point are not finite, or wrong (fd_p_untrue), in a step that is checked */
    FD_P_AT_FAST,  /* fd_p_too_fast's number */
    FD_P_AT_STEP,  /* a step that is too short; with one factor, the first step of its segment */
    FD_P_AT_KIND,  /* a step that batch.kind excludes */
    FD_P_FAULTS
};

enum { FD_P_PHASES = 7 }; /* the phases of fd_p_prepare that all solvers share */

/* Findings about a problem before its march. */
typedef struct {
    int points[3], steps, segments, not_dominant; /* segments: their number, for one factor */
    fd_status status;
    int given;              /* the largest magnitude that the march is given, as fd_p_larger stores it */
    int longest;            /* the length of the longest explicit step, stored likewise; 0: there is none */
    int greatest;           /* for two factors: the largest theta dt of any step, stored likewise */
    int too_long;           /* how many rows are not diagonally dominant with that theta dt; they are not counted if the
                               first or the last step has it */
    int sources;            /* not 0 if a source has been found */
    int fault[FD_P_FAULTS]; /* least indices; FD_P_NONE if there is no fault */
    fd_map map[3];
    fd_times times; /* the problem's, with the scheme's theta in place of 0 */
} fd_p_findings;

/* Returns whether a face of this kind adds a term to F. */
TB_HD int fd_p_adds(int kind)
{
    return kind == FD_SLOPE || kind == FD_DEGENERATE;
}

/* Returns the events at a date, or null. */
TB_HD const fd_date *fd_p_event(const fd_problem *problem, int date)
{
    return date >= 0 && problem->at_date && problem->at_date[date].what ? &problem->at_date[date] : (const fd_date *)0;
}

/* Returns whether point i of an axis is on a face whose value is given. `face` holds the kinds of all faces, and n the
   numbers of points. */
TB_HD int fd_p_at_given(const int (*face)[2], const int *n, int axis, int i)
{
    /* No index is computed, because kernels may have the kinds in registers. */
    return (i == 0 && face[axis][0] == FD_VALUE) || (i == n[axis] - 1 && face[axis][1] == FD_VALUE);
}

/* Whether a march needs these grids in addition to those of values and differences: a first stage's values, final
   values kept for the whole march, the multiplier of early exercise. */
typedef struct {
    int stage, final, multiplier;
} fd_p_needs;

/* Returns which grids the problems of a batch need; all grids if the batch's pointer to its problems is null. */
TB_HD fd_p_needs fd_p_needs_of(const fd_batch *batch)
{
    fd_p_needs needs = {!batch->problem, !batch->problem, !batch->problem};
    for (int which = 0; which < batch->problems && batch->problem; which++) {
        const fd_problem *problem = &batch->problem[which];
        needs.stage |= problem->scheme != FD_DOUGLAS, needs.multiplier |= problem->exercise == FD_AMERICAN;
        needs.final |= problem->exercise != FD_EUROPEAN;
        for (int date = 0; date < problem->times.dates && date < batch->dates && problem->at_date; date++)
            needs.final |= (problem->at_date[date].what & FD_EXERCISE) != 0;
    }
    return needs;
}

#endif /* FD_COMMON_PROBLEM_H */
