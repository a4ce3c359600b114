/* fd.h - the set-up of a finite-difference pricer, and the formulas of its time steps.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h and the folder trid beside it.

   Coordinates, difference weights, boundaries, final values, time steps, ADI schemes and interpolation, on plain arrays
   and small structs, for the host and for kernels. The set-up for a call option, with points crowded around its strike
   (examples/fd_call.c):

       fd_axis axis = {0, 8 * STRIKE, POINTS, 1, {STRIKE}, {STRIKE / 5}, {FD_MIDWAY}};
       fd_times times = {MATURITY, STEPS, FD_EQUAL, 1, FD_THETA, 0.5, 4, 0, NULL, NULL};
       int face[2] = {FD_LINEAR, FD_LINEAR}, count, status = fd_axis_points(&axis, s);
       if (!status) status = fd_cells_f64(POINTS, s, face, cell, far);
       if (!status) status = fd_schedule(&times, MOST_STEPS, step, &count);

   The equation is V_t + sum of drift_i V_i + diffusion_i V_ii + mixed_ij V_ij = kill V. A march takes all time steps,
   from the final values at maturity backwards to time 0. A is the left-hand side without V_t, minus kill V.

   A line consists of the points x[0] < ... < x[n-1] along one axis, where u has its values. At each point, p is the
   slope of u above the point, and m the slope below it (differences over spacings). The point's cell holds the
   reciprocals of both spacings, and two weights, h and w:
       first derivative  m + w (p - m),   second  h (p - m),
       A u without kill  drift m + flow (p - m),  flow = h diffusion + w drift.
   Values are subtracted before they are multiplied: rounding errors are then relative to differences, not to values. A
   face is the first or last point of a line; its boundary condition sets h and w of its cell. Upwinding raises flow to
   at least the larger of drift and 0. A coupling is an off-diagonal coefficient of A, the weight of a neighbour.
   docs/fd.md derives these formulas and explains how kernels use them.

   The functions under "set-up in each precision" and "in each step" exist with _f32 and _f64, and in C++ also without a
   suffix, as overloads. All others work in double precision: set-up is rare, and its results are then rounded only
   once, to the precision of the march.

     coordinates (fd/axis.h)
       fd_axis_points       points: uniform, or crowded around up to three places, which can be on a node or midway
       fd_axis_map, fd_map_point    the same point by point, for threads that take one each
       fd_grid_check        checks a grid of the user's own
     final values (fd/average.h)
       fd_average_told      average of a function of one variable over a cell, with given kinks and jumps: exact for
                            pieces that are polynomials up to degree 7
       fd_average           average over a cell in one to three dimensions; finds kinks and jumps itself
       fd_final_value       at a grid point: the average over its cell if a kink or jump is found there, else the value
     values at a point (fd/axis.h)
       fd_interpolate       weights of four points for the value and two derivatives of a cubic
     time (fd/time.h)
       fd_schedule          time steps of any kind, equal or graded, with a Rannacher start; they hit dates exactly
       fd_schedule_part     some of these steps
       fd_no_interval, fd_next_interval, fd_step_in   intervals between dates, and their steps, one at a time
     schemes (fd/time.h)
       fd_scheme_of         the numbers of Douglas, Craig-Sneyd, Modified Craig-Sneyd, Hundsdorfer-Verwer
       fd_scheme_theta      the theta of each, for two or three factors
       fd_scheme_theta_drift    the theta where drifts exceed diffusion, and whether steps are short enough
       fd_times_of          times with the scheme's own theta filled in
     a march (fd/march.h)
       fd_final_as          the final value at a point, in one of four ways
       fd_plan_check        checks a problem's choices for its march
       fd_coefficient_time  the time at which a step's coefficients are taken
       fd_shifted           the place from which a shift takes the value at a point
     set-up in each precision (fd/line.h)
       fd_cells             the cells of a line and its faces, for the functions below
       fd_cell_at           one cell, for threads that take one each
       fd_step_data_of      step data: the numbers of a time step
     in each step, a point (fd/line.h)
       fd_lane_first, fd_lane_second    derivatives along a line       2 sub + 1 mul + 2 FMA; 2 sub + 2 mul + 1 FMA
       fd_lane_mixed        the mixed derivative from nine values               8 sub + 4 mul + 8 FMA
       fd_lane_row          couplings of a point, central, upwind or fitted     3 mul + 1 FMA + 1 sub if central
       fd_lane_apply        the row applied to three values                     2 sub + 1 mul + 1 FMA
       fd_lane_source       the term of a given slope                           2 mul + 2 FMA
       fd_lane_matrix       the row of 1 - size A, and whether it is dominant   2 mul + 2 add + 1 FMA
       fd_lane_matrix_at    the same; at faces it omits couplings that prevent dominance
       fd_lane_exercise     a value after a step, with early exercise   1 div + 1 add + 1 sub + 1 FMA, 2 comparisons
       fd_lane_at_date      a value after the events of a date, with early exercise                 2 comparisons
       fd_lane_lag          the row without couplings of the wrong sign    2 selections
       fd_lane_face_three   eliminates a face's third point with its neighbour's row
       fd_lane_value        a value or derivative from four values or a tensor of them
     statuses
       fd_status_string, fd_status_of    the text of a status; an fd_status

   Common contract:
     Status   FD_OK = 0, a negative number that names the fault, or 1 + the index of the wrong point or date. A function
              that returns a status may refuse its arguments; unless its comment says otherwise, its results are then
              unspecified.
     Numbers  Checks recognise NaN and infinities by their bits, even with -ffast-math. In steps a value that is NaN
              stays NaN. With -ffast-math, FD_UPWIND and FD_FITTED may lose a NaN among the terms.
     Memory   The caller provides it. The functions allocate nothing, print nothing and keep no state.
     Device   All functions run on the host and on the device, each call in one thread. */

#ifndef FD_H
#define FD_H

#include "../trid.h"

#define FD_VERSION 200 /* 100 * major + minor */

/* The values of a status that are not 1 + an index. */
enum {
    FD_OK = 0,
    FD_BAD_ARGUMENT = -1, /* a null pointer, misaligned memory, or what the function's comment names */
    FD_BAD_SIZE = -2,     /* points outside 4 .. 1024 (two factors: 4 .. 32768; this header alone: 4 .. 2^28); another
                             count out of range (places, halves, dates, workers, all steps together, a size of the
                             batch); or dates or steps too close together */
    FD_BAD_NUMBER = -3,   /* NaN, infinite or out of range, such as a maturity that is not positive */
    FD_NO_ROOM = -5,      /* too little room for the steps, too little memory, or, with three factors, grids too large
                             for MODEL_onchip */
    FD_OUTSIDE = -6,      /* a point outside the grid */
    /* For a problem (fd_status): */
    FD_BAD_AXIS = -7,         /* detail is fd_axis_map's status, or 1 + the index of a bad point */
    FD_BAD_TIMES = -8,        /* detail is fd_schedule's status */
    FD_BAD_SPOT = -9,         /* a spot is outside the grid, along `axis`; detail is its number, from 0 */
    FD_MODEL_NAN = -10,       /* not finite: the model's numbers of an axis (axis, and i, j or k) or of a step (step),
                                 or its terms at a point in a step */
    FD_FINAL_NAN = -11,       /* the payoff at a point is not finite */
    FD_NOT_SOLVED = -12,      /* the value at a point is not finite after a step, or after the events at its date */
    FD_LAUNCH_FAILED = -13,   /* CUDA refused a copy or a launch; in a status, detail is the cudaError_t */
    FD_NOT_INDEPENDENT = -14, /* at a point in a step, terms along an axis depend on the other axes, contrary to the
                                 declaration */
    FD_MIXED_UNDECLARED = -16,   /* at a point, a mixed term is not 0; detail: the value missing from FD_MODEL_MIXED */
    FD_CHANGES_UNDECLARED = -17, /* at a point, terms that the model declares time-independent change */
    FD_ILL_POSED = -18,          /* at a point, a negative diffusion, or a mixed term too large for the diffusions */
    FD_GREW = -19,               /* values grew too much (growth) or may do so (fd_scheme_theta_drift): take more steps,
                                    a larger theta or upwinding */
    FD_UNSTABLE = -20,           /* an explicit march needs shorter steps; detail is how many suffice */
    FD_OUTWARD = -21,            /* at a point of an FD_DEGENERATE face, the drift points out of the axis, and would
                                    cross more than a cell by maturity */
    FD_NOT_DEGENERATE = -22,     /* at a point of an FD_DEGENERATE face, the diffusion along the axis exceeds a
                                    hundredth of that at the next point */
    /* For an axis: */
    FD_PLACE_OUTSIDE = -30,   /* a place is not within the axis */
    FD_PLACE_ORDER = -31,     /* a place is not above the one before it */
    FD_PLACE_AT_END = -32,    /* a place at an end of the axis cannot lie midway between two points */
    FD_PLACES_SHARE = -33,    /* two aligned places would share a point; take more points, or move the places apart */
    FD_PLACE_SQUEEZED = -34,  /* alignment would squeeze points to less than about a quarter of their distance; take
                                 more points */
    FD_BAD_ALIGNMENT = -35,   /* align is unknown */
    FD_BAD_FACE = -36,        /* a face is unknown; in a march, a face of `axis` */
    FD_TOO_MANY_POINTS = -37, /* batch.points has no room for the axis; detail is how many points it has */
    /* For steps, and for MODEL_suggest: */
    FD_BAD_STEPS = -38,      /* steps not in 1 .. 2^28 */
    FD_BAD_GRADING = -39,    /* grading is unknown */
    FD_BAD_KIND = -40,       /* kind is unknown */
    FD_BAD_THETA = -41,      /* theta not in 0 .. 1 */
    FD_TOO_MANY_STEPS = -42, /* batch.steps has no room for the march; detail is how many steps it takes */
    FD_TOO_MANY_DATES = -43, /* batch.dates has no room for the problem's dates; detail is how many there are */
    FD_BAD_TOLERANCE = -50,  /* the tolerance needs more points or steps than the solver takes */
    /* For a march's choices: */
    FD_BAD_SCHEME = -44,       /* scheme is unknown */
    FD_BAD_COEFFICIENTS = -45, /* coefficients is unknown */
    FD_BAD_FINALS = -46,       /* finals is unknown */
    FD_BAD_KINKS = -47,        /* kinks not in 0 .. 4, or kink[detail - 1] is not finite or not above the one before */
    FD_BAD_EXERCISE = -48,     /* exercise is unknown */
    FD_BAD_EVENT = -49         /* in at_date[detail - 1]: `what` is unknown; values are shifted along several axes, or
                                  along one that the model lacks; cash or proportion is not finite, or not 0 although
                                  nothing is shifted; proportion exceeds 1; values should change, but the model has
                                  no function for that */
};

/* Returns the text of a status. */
TB_HD const char *fd_status_string(int status)
{
    return status == FD_OK              ? "done"
           : status > 0                 ? "point, date or row status - 1 is not finite, out of order, or too late"
           : status == FD_BAD_ARGUMENT  ? "bad argument: a null pointer, or memory off its alignment"
           : status == FD_BAD_SIZE      ? "a count out of range: points not 4 .. 1024 (two factors: 32768; see axis), "
                                          "places not 0 .. 3, halves, dates, workers, or a size of the batch; or "
                                          "dates or steps too close together"
           : status == FD_BAD_NUMBER    ? "a number is NaN or infinite, out of order, or not positive"
           : status == FD_NO_ROOM       ? "too little room for the steps, or too little memory"
           : status == FD_OUTSIDE       ? "the point is outside the grid"
           : status == FD_BAD_AXIS      ? "an axis is wrong: axis says which, fd_status_string(detail) why"
           : status == FD_BAD_TIMES     ? "the time steps are wrong: fd_status_string(detail) says why"
           : status == FD_BAD_SPOT      ? "a spot is outside the grid: see axis"
           : status == FD_MODEL_NAN     ? "the model returned a number that is not finite: see axis, i, j, k, step"
           : status == FD_FINAL_NAN     ? "the payoff returned a number that is not finite: see i, j, k"
           : status == FD_NOT_SOLVED    ? "a value is not finite after a step: see i, j, k, step"
           : status == FD_LAUNCH_FAILED ? "CUDA refused a copy or a launch: detail is the cudaError_t"
           : status == FD_NOT_INDEPENDENT
               ? "terms along an axis depend on another, although the model declares them independent: see axis"
           : status == FD_MIXED_UNDECLARED   ? "a mixed term is not 0, although FD_MODEL_MIXED lacks it: see detail"
           : status == FD_CHANGES_UNDECLARED ? "terms change in time, although declared time-independent"
           : status == FD_ILL_POSED          ? "a negative diffusion, or a mixed term too large for the diffusions"
           : status == FD_GREW               ? "the march grew: take more steps, a larger theta, or upwinding"
           : status == FD_UNSTABLE           ? "an explicit march needs more steps: detail says how many"
           : status == FD_OUTWARD            ? "the drift points out of the axis at an FD_DEGENERATE face: see axis"
           : status == FD_NOT_DEGENERATE     ? "the diffusion is not 0 at an FD_DEGENERATE face: see axis"
           : status == FD_PLACE_OUTSIDE      ? "a place is outside the axis"
           : status == FD_PLACE_ORDER        ? "a place is not above the one before it"
           : status == FD_PLACE_AT_END       ? "a place at an end of the axis cannot lie midway between two points"
           : status == FD_PLACES_SHARE       ? "two aligned places share a point: take more points, or part the places"
           : status == FD_PLACE_SQUEEZED     ? "alignment would squeeze the points around a place: take more points"
           : status == FD_BAD_ALIGNMENT      ? "unknown alignment of a place"
           : status == FD_BAD_FACE           ? "unknown kind of face: see axis"
           : status == FD_TOO_MANY_POINTS    ? "an axis has more points than batch.points: see axis and detail"
           : status == FD_BAD_STEPS          ? "steps must be 1 .. 2^28"
           : status == FD_BAD_GRADING        ? "unknown grading of the steps"
           : status == FD_BAD_KIND           ? "unknown kind of steps"
           : status == FD_BAD_THETA          ? "theta must be 0 .. 1"
           : status == FD_TOO_MANY_STEPS     ? "the march takes more steps than batch.steps: detail says how many"
           : status == FD_TOO_MANY_DATES     ? "there are more dates than batch.dates: detail says how many"
           : status == FD_BAD_TOLERANCE      ? "the tolerance needs more points or steps than the solver takes"
           : status == FD_BAD_SCHEME         ? "unknown scheme"
           : status == FD_BAD_COEFFICIENTS   ? "unknown choice of coefficients"
           : status == FD_BAD_FINALS         ? "unknown choice of final values"
           : status == FD_BAD_KINKS          ? "kinks must be 0 .. 4, finite and increasing"
           : status == FD_BAD_EXERCISE       ? "unknown exercise"
           : status == FD_BAD_EVENT          ? "the event at date detail - 1 is unknown, wrong or not in the model"
                                             : "unknown status";
}

/* The outcome of a march. */
typedef struct {
    int what, detail;        /* FD_OK, or an error */
    int axis, i, j, k, step; /* the position; -1 if it does not apply; step 0 is the first, from maturity */
    int not_dominant;        /* rows that are not diagonally dominant, in the first and the last step together; wrong
                                above 2^31 - 1 */
    float growth; /* the largest magnitude at time 0 over the largest that the march was given: among final values,
                     boundary values at time 0, slopes at time 0 times the length of the axis, and the amounts by
                     which FD_CHANGE_VALUES raised a magnitude. 0 if all of these are 0, or if the march did not end */
} fd_status;

/* A march whose growth exceeds this bound has the status FD_GREW. The values of a stable march grow by little more than
   exp(-kill maturity), which is still below the bound for a rate of -18 % over 50 years. In an unstable march some wave
   grows in each step. Growth to the bound costs single precision four of its seven digits. */
enum { FD_MOST_GROWTH = 10000 };

/* Returns a status with not_dominant and growth 0. */
TB_HD fd_status fd_status_of(int what, int detail, int axis, int i, int j, int k, int step)
{
    fd_status status;
    status.what = what, status.detail = detail, status.axis = axis, status.i = i, status.j = j, status.k = k;
    status.step = step, status.not_dominant = 0, status.growth = 0;
    return status;
}

/* Returns a status without a point, with not_dominant and growth 0. */
TB_HD fd_status fd_p_status(int what, int detail)
{
    return fd_status_of(what, detail, -1, -1, -1, -1, -1);
}

enum { FD_P_MOST = 1 << 28 }; /* the most points of an axis, steps of a march, halves, or dates */

TB_HD double fd_p_max(double x, double y)
{
    return x > y ? x : y;
}

#include "fd/axis.h"
#include "fd/average.h"
#include "fd/time.h"
#include "fd/march.h"
#include "fd/line.h"

#endif /* FD_H */
